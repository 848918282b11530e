//! What is measured: each instruction with the CPU features that it needs.

use super::Needs;
use super::kernels_x86_64::{self as k, BLOCK, Kernel, WINDOW_STEPS};
use super::walks_x86_64::{self as w, Walk};
use super::{Reads, Subject};
use Needs::{
    Aes, Avx2, Avx512, Bmi2, Clmul, Gfni, Gfni512, Ifma, Sha, Sha512, Sse2, Sse42, Ssse3, Vaes,
    Vaes512, Vclmul, Vclmul512,
};

/// One line of the catalogue.
type Line = (&'static str, u32, Needs, Option<Kernel>, Option<Kernel>);

/// Name, width, what it needs, throughput, latency.
const INSTRUCTIONS: &[Line] = &[
    ("aesenc", 128, Aes, Some(k::aesenc_128), Some(k::aesenc_latency)),
    ("aesenc", 256, Vaes, Some(k::aesenc_256), Some(k::aesenc_256_latency)),
    ("aesenc", 512, Vaes512, Some(k::aesenc_512), Some(k::aesenc_512_latency)),
    ("aesdec", 128, Aes, Some(k::aesdec_128), Some(k::aesdec_latency)),
    ("aesdec", 256, Vaes, Some(k::aesdec_256), None),
    ("aesdec", 512, Vaes512, Some(k::aesdec_512), None),
    ("aesenclast", 128, Aes, Some(k::aesenclast_128), Some(k::aesenclast_latency)),
    ("aesenclast", 256, Vaes, Some(k::aesenclast_256), None),
    ("aesenclast", 512, Vaes512, Some(k::aesenclast_512), None),
    ("aesenc-key", 128, Vaes, Some(k::aesenc_128), Some(k::aesenc_key_latency)),
    ("pclmulqdq", 128, Clmul, Some(k::clmul_128), Some(k::clmul_latency)),
    ("pclmulqdq", 256, Vclmul, Some(k::clmul_256), Some(k::clmul_256_latency)),
    ("pclmulqdq", 512, Vclmul512, Some(k::clmul_512), Some(k::clmul_512_latency)),
    ("pxor", 128, Sse2, Some(k::pxor_128), Some(k::pxor_latency)),
    ("pxor", 256, Avx2, Some(k::pxor_256), None),
    ("pxor", 512, Avx512, Some(k::pxor_512), Some(k::pxor_512_latency)),
    ("pternlogd", 128, Avx512, Some(k::ternlog_128), None),
    ("pternlogd", 256, Avx512, Some(k::ternlog_256), None),
    ("pternlogd", 512, Avx512, Some(k::ternlog_512), Some(k::ternlog_latency)),
    ("pshufb", 128, Ssse3, Some(k::pshufb_128), Some(k::pshufb_latency)),
    ("pshufb", 256, Avx2, Some(k::pshufb_256), None),
    ("pshufb", 512, Avx512, Some(k::pshufb_512), None),
    ("paddd", 128, Sse2, Some(k::paddd_128), Some(k::paddd_latency)),
    ("paddd", 256, Avx2, Some(k::paddd_256), None),
    ("paddd", 512, Avx512, Some(k::paddd_512), None),
    ("paddq", 128, Sse2, Some(k::paddq_128), Some(k::paddq_latency)),
    ("paddq", 256, Avx2, Some(k::paddq_256), None),
    ("paddq", 512, Avx512, Some(k::paddq_512), None),
    ("prold", 128, Avx512, Some(k::prold_128), Some(k::prold_latency)),
    ("prold", 256, Avx512, Some(k::prold_256), None),
    ("prold", 512, Avx512, Some(k::prold_512), None),
    ("pmuludq", 128, Sse2, Some(k::pmuludq_128), Some(k::pmuludq_latency)),
    ("pmuludq", 256, Avx2, Some(k::pmuludq_256), None),
    ("pmuludq", 512, Avx512, Some(k::pmuludq_512), None),
    ("pmadd52luq", 256, Ifma, Some(k::madd52_256), Some(k::madd52_latency)),
    ("pmadd52luq", 512, Ifma, Some(k::madd52_512), None),
    ("gf2p8affineinvqb", 128, Gfni, Some(k::gf2p8affineinv_128), Some(k::gf2p8affineinv_latency)),
    ("gf2p8affineinvqb", 256, Gfni512, Some(k::gf2p8affineinv_256), None),
    ("gf2p8affineinvqb", 512, Gfni512, Some(k::gf2p8affineinv_512), None),
    ("sha256rnds2", 128, Sha, Some(k::sha256rnds2), Some(k::sha256rnds2_latency)),
    ("sha256msg1", 128, Sha, Some(k::sha256msg1), Some(k::sha256msg1_latency)),
    ("sha256msg2", 128, Sha, Some(k::sha256msg2), Some(k::sha256msg2_latency)),
    ("sha512rnds2", 256, Sha512, Some(k::sha512rnds2), Some(k::sha512rnds2_latency)),
    ("add", 64, Sse2, Some(k::add_64), Some(k::add_latency)),
    ("adc", 64, Sse2, None, Some(k::adc_latency)),
    ("imul", 64, Sse2, Some(k::imul_64), Some(k::imul_latency)),
    ("mulx", 64, Bmi2, Some(k::mulx_64), Some(k::mulx_latency)),
    ("crc32", 64, Sse42, Some(k::crc32_64), Some(k::crc32_latency)),
    ("load", 64, Sse2, Some(k::load_64), Some(k::load_latency)),
    ("load", 128, Sse2, Some(k::load_128), None),
    ("load", 256, Avx2, Some(k::load_256), None),
    ("load", 512, Avx512, Some(k::load_512), None),
    ("store", 64, Sse2, Some(k::store_64), None),
    ("store", 128, Sse2, Some(k::store_128), None),
    ("store", 256, Avx2, Some(k::store_256), None),
    ("store", 512, Avx512, Some(k::store_512), None),
    ("load+store", 128, Sse2, Some(k::copy_128), None),
    ("load+store", 256, Avx2, Some(k::copy_256), None),
    ("load+store", 512, Avx512, Some(k::copy_512), None),
];

/// Two names, their widths, what they need, the kernel.
type PairLine = (&'static str, &'static str, (u32, u32), Needs, Kernel);

const PAIRS: &[PairLine] = &[
    ("aesenc", "pclmulqdq", (128, 128), Clmul, k::aes_clmul_128),
    ("aesenc", "pclmulqdq", (256, 256), Vclmul, k::aes_clmul_256),
    ("aesenc", "pclmulqdq", (512, 512), Vclmul512, k::aes_clmul_512),
    ("aesenc", "pclmulqdq", (256, 512), Vclmul512, k::aes256_clmul_512),
    ("aesenc", "pclmulqdq", (512, 256), Vclmul512, k::aes512_clmul_256),
    ("aesenc", "pxor", (128, 128), Aes, k::aes_pxor_128),
    ("aesenc", "pxor", (256, 256), Vaes, k::aes_pxor_256),
    ("aesenc", "pxor", (512, 512), Vaes512, k::aes_pxor_512),
    ("pclmulqdq", "pxor", (128, 128), Clmul, k::clmul_pxor_128),
    ("pclmulqdq", "pxor", (256, 256), Vclmul, k::clmul_pxor_256),
    ("pclmulqdq", "pxor", (512, 512), Vclmul512, k::clmul_pxor_512),
    ("aesenc", "gf2p8affineinvqb", (256, 256), Gfni512, k::aes_gfni_256),
    ("aesenc", "gf2p8affineinvqb", (512, 512), Gfni512, k::aes_gfni_512),
    ("aesenc", "aesenc", (256, 512), Vaes512, k::aes256_aes_512),
];

/// Name, what it needs, the walk; reading, writing, copying.
pub(super) const READS: &[(&str, Needs, Walk)] = &[
    ("load-128", Sse2, w::read_128),
    ("load-256", Avx2, w::read_256),
    ("load-512", Avx512, w::read_512),
];
pub(super) const WRITES: &[(&str, Needs, Walk)] = &[
    ("store-128", Sse2, w::write_128),
    ("store-256", Avx2, w::write_256),
    ("store-512", Avx512, w::write_512),
    ("non-temporal-128", Sse2, w::write_past_128),
    ("rep-stosb", Sse2, w::write_stosb),
];
pub(super) const COPIES: &[(&str, Needs, Walk)] = &[
    ("load+store-128", Sse2, w::copy_128),
    ("load+store-256", Avx2, w::copy_256),
    ("load+store-512", Avx512, w::copy_512),
    ("load+non-temporal-128", Sse2, w::copy_past_128),
    ("rep-movsb", Sse2, w::copy_movsb),
];

/// Everything that this CPU has.
pub(super) fn subjects(has: &dyn Fn(Needs) -> bool) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for (name, width_bits, needs, throughput, latency) in INSTRUCTIONS {
        let mut add = |reads, kernel: &Option<Kernel>, per_round| {
            let Some(kernel) = *kernel else { return };
            subjects.push(Subject { name, width_bits: *width_bits, reads, kernel, per_round });
        };
        if has(*needs) {
            add(Reads::Throughput, throughput, BLOCK);
            add(Reads::Latency, latency, BLOCK);
        }
    }
    for (first, second, (width, second_width), needs, kernel) in PAIRS {
        if has(*needs) {
            let reads = Reads::Pair { second, width_bits: *second_width };
            let (name, width_bits) = (*first, *width);
            subjects.push(Subject { name, width_bits, reads, kernel: *kernel, per_round: BLOCK });
        }
    }
    let windows: [(&str, u32, Needs, Kernel); 2] =
        [("aesenc", 128, Aes, k::vector_window), ("imul", 64, Sse2, k::scalar_window)];
    for (name, width_bits, needs, kernel) in windows {
        if has(needs) {
            let reads = Reads::Window { steps: WINDOW_STEPS };
            subjects.push(Subject { name, width_bits, reads, kernel, per_round: 1.0 });
        }
    }
    subjects
}

/// Whether this CPU, and the system's saving of registers, has what an instruction needs.
pub(super) fn has(needs: Needs) -> bool {
    use std::is_x86_feature_detected as cpu;
    let wide = || cpu!("avx512f") && cpu!("avx512vl") && cpu!("avx512bw") && cpu!("avx512dq");
    match needs {
        Sse2 => true,
        Ssse3 => cpu!("ssse3"),
        Sse42 => cpu!("sse4.2"),
        Bmi2 => cpu!("bmi2"),
        Avx2 => cpu!("avx2"),
        Avx512 => wide(),
        Ifma => wide() && cpu!("avx512ifma"),
        Aes => cpu!("aes"),
        Vaes => cpu!("vaes") && cpu!("avx2"),
        Vaes512 => cpu!("vaes") && wide(),
        Clmul => cpu!("pclmulqdq") && cpu!("aes"),
        Vclmul => cpu!("vpclmulqdq") && cpu!("vaes") && cpu!("avx2"),
        Vclmul512 => cpu!("vpclmulqdq") && cpu!("vaes") && wide(),
        Gfni => cpu!("gfni"),
        Gfni512 => cpu!("gfni") && cpu!("vaes") && wide(),
        Sha => cpu!("sha") && cpu!("ssse3"),
        Sha512 => cpu!("sha512") && cpu!("avx2"),
    }
}
