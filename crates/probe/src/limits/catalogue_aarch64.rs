//! What is measured: each instruction with the CPU features that it needs.

use super::Needs;
use super::kernels_aarch64::{self as k, BLOCK, Kernel, WINDOW_STEPS};
use super::walks_aarch64::{self as w, STRIDE, Walk};
use super::{Reads, Subject};
use Needs::{Aes, Asimd, Crc, Sha2, Sha3, Sve, SveAes, Zva};

/// One line of the catalogue.
type Line = (&'static str, u32, Needs, Option<Kernel>, Option<Kernel>);

/// What stands for the width of SVE's registers.
const WIDE: u32 = 0;

/// Name, width, what it needs, throughput, latency. SVE's are read where its registers are longer than 128 bits:
/// elsewhere they do what the others do.
const INSTRUCTIONS: &[Line] = &[
    ("aese+aesmc", 128, Aes, Some(k::aese_aesmc), Some(k::aese_aesmc_latency)),
    ("aesd+aesimc", 128, Aes, Some(k::aesd_aesimc), Some(k::aesd_aesimc_latency)),
    ("aese", 128, Aes, Some(k::aese), Some(k::aese_latency)),
    ("aese+aesmc-sve", WIDE, SveAes, Some(k::sve_aese_aesmc), None),
    ("pmull.1q", 128, Aes, Some(k::pmull), Some(k::pmull_latency)),
    ("pmullb-sve", WIDE, SveAes, Some(k::sve_pmullb), None),
    ("eor.16b", 128, Asimd, Some(k::eor), Some(k::eor_latency)),
    ("eor3.16b", 128, Sha3, Some(k::eor3), Some(k::eor3_latency)),
    ("eor-sve", WIDE, Sve, Some(k::sve_eor), None),
    ("add.4s", 128, Asimd, Some(k::add_4s), Some(k::add_4s_latency)),
    ("add.2d", 128, Asimd, Some(k::add_2d), Some(k::add_2d_latency)),
    ("tbl.16b", 128, Asimd, Some(k::tbl), Some(k::tbl_latency)),
    ("umull.2d", 128, Asimd, Some(k::umull), Some(k::umull_latency)),
    ("sha256h", 128, Sha2, Some(k::sha256h), Some(k::sha256h_latency)),
    ("sha256h2", 128, Sha2, Some(k::sha256h2), Some(k::sha256h2_latency)),
    ("sha512h", 128, Sha3, Some(k::sha512h), Some(k::sha512h_latency)),
    ("add", 64, Asimd, Some(k::add_64), Some(k::add_latency)),
    ("mul", 64, Asimd, Some(k::mul_64), Some(k::mul_latency)),
    ("mul+umulh", 64, Asimd, Some(k::mul_umulh), Some(k::umulh_latency)),
    ("crc32cx", 64, Crc, Some(k::crc32cx), Some(k::crc32cx_latency)),
    ("load", 64, Asimd, Some(k::load_64), Some(k::load_latency)),
    ("load", 128, Asimd, Some(k::load_128), None),
    ("load", 256, Asimd, Some(k::load_256), None),
    ("load-sve", WIDE, Sve, Some(k::sve_load), None),
    ("store", 64, Asimd, Some(k::store_64), None),
    ("store", 128, Asimd, Some(k::store_128), None),
    ("store", 256, Asimd, Some(k::store_256), None),
    ("store-sve", WIDE, Sve, Some(k::sve_store), None),
    ("load+store", 128, Asimd, Some(k::copy_128), None),
    ("load+store", 256, Asimd, Some(k::copy_256), None),
    ("load+store-sve", WIDE, Sve, Some(k::sve_copy), None),
];

/// Two names, what they need, the kernel.
const PAIRS: &[(&str, &str, Needs, Kernel)] = &[
    ("aese+aesmc", "pmull.1q", Aes, k::aes_pmull),
    ("aese+aesmc", "eor.16b", Aes, k::aes_eor),
    ("pmull.1q", "eor.16b", Aes, k::pmull_eor),
];

/// Name, what it needs, the walk; reading, writing, copying.
pub(super) const READS: &[(&str, Needs, Walk)] = &[
    ("load-128", Asimd, w::read_128),
    ("load-256", Asimd, w::read_256),
    ("load-sve", Sve, w::read_sve),
];
pub(super) const WRITES: &[(&str, Needs, Walk)] = &[
    ("store-128", Asimd, w::write_128),
    ("store-256", Asimd, w::write_256),
    ("store-sve", Sve, w::write_sve),
    ("non-temporal-256", Asimd, w::write_past),
    ("dc-zva", Zva, w::write_zva),
];
pub(super) const COPIES: &[(&str, Needs, Walk)] = &[
    ("load+store-128", Asimd, w::copy_128),
    ("load+store-256", Asimd, w::copy_256),
    ("load+store-sve", Sve, w::copy_sve),
    ("load+non-temporal-256", Asimd, w::copy_past),
];

/// Everything that this CPU has.
pub(super) fn subjects(has: &dyn Fn(Needs) -> bool) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for (name, width_bits, needs, throughput, latency) in INSTRUCTIONS {
        if !has(*needs) {
            continue;
        }
        let width_bits = if *width_bits == WIDE { sve_bits() } else { *width_bits };
        let mut add = |reads, kernel: &Option<Kernel>| {
            let Some(kernel) = *kernel else { return };
            subjects.push(Subject { name, width_bits, reads, kernel, per_round: BLOCK });
        };
        add(Reads::Throughput, throughput);
        add(Reads::Latency, latency);
    }
    for (name, second, _, kernel) in PAIRS.iter().filter(|(.., needs, _)| has(*needs)) {
        let reads = Reads::Pair { second, width_bits: 128 };
        subjects.push(Subject { name, width_bits: 128, reads, kernel: *kernel, per_round: BLOCK });
    }
    let windows: [(&str, u32, Needs, Kernel); 2] =
        [("aese+aesmc", 128, Aes, k::vector_window), ("mul", 64, Asimd, k::scalar_window)];
    for (name, width_bits, needs, kernel) in windows {
        if has(needs) {
            let reads = Reads::Window { steps: WINDOW_STEPS };
            subjects.push(Subject { name, width_bits, reads, kernel, per_round: 1.0 });
        }
    }
    subjects
}

/// Bits of SVE's registers; none where there are none.
fn sve_bits() -> u32 {
    // SAFETY: there is SVE.
    if std::arch::is_aarch64_feature_detected!("sve") { unsafe { k::sve_bits() } } else { 0 }
}

/// Whether this CPU, and the system, have what an instruction needs.
pub(super) fn has(needs: Needs) -> bool {
    use std::arch::is_aarch64_feature_detected as cpu;
    // Twelve of longer ones would not fit into the scratch, nor four into a stride.
    let wide = || (129..=STRIDE as u32 * 8 / 4).contains(&sve_bits());
    match needs {
        Asimd => true,
        // Both AES and PMULL.
        Aes => cpu!("aes"),
        Sha2 => cpu!("sha2"),
        // Both SHA-3 and SHA-512.
        Sha3 => cpu!("sha3"),
        Crc => cpu!("crc"),
        Sve => wide(),
        SveAes => cpu!("sve2-aes") && wide(),
        Zva => k::zeroed_bytes().is_some_and(|block| block <= STRIDE),
    }
}
