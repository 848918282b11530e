//! AArch64: what is measured, as a catalogue: each instruction with the CPU features that it needs; the blocks
//! of instructions, in loops, that throughputs and latencies are read from; and walks through memory: every
//! byte of a buffer loaded, stored or copied once.

use crate::limits::{Line, PairLine};
use Needs::{Aes, Asimd, Crc, Sha2, Sha3, Sve, SveAes, Zva};
use std::arch::asm;

/// What an instruction or a walk needs of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Asimd,
    Aes,
    Sha2,
    Sha3,
    Crc,
    Sve,
    SveAes,
    Zva,
}

/// Bits of SVE's registers; none where there are none.
fn vector_bits() -> u32 {
    // SAFETY: there is SVE.
    if std::arch::is_aarch64_feature_detected!("sve") { unsafe { sve_bits() } } else { 0 }
}

/// Whether this CPU, and the system, have what an instruction needs.
pub(crate) fn has(needs: Needs) -> bool {
    use std::arch::is_aarch64_feature_detected as cpu;
    // Twelve of longer ones would not fit into the scratch, nor four into a stride.
    let wide = || (129..=STRIDE as u32 * 8 / 4).contains(&vector_bits());
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
        Zva => zeroed_bytes().is_some_and(|block| block <= STRIDE),
    }
}

// Blocks of one instruction, or of two in turn, in loops, as on x86-64.
//
// Instructions with operands of their own read registers that nothing writes. Those that change an operand work on
// 24 vector registers in turn: a latency of six cycles at four a cycle. General registers are read as constants.
// A round of AES is two instructions, one behind the other on the same register: cores that fuse them do it there.

/// A loop of `rounds` blocks. `at` points to [`SCRATCH`] writable bytes, aligned to a cache line.
pub(crate) type Kernel = unsafe fn(rounds: u64, at: *mut u8);

/// Bytes that kernels may touch: twelve lines to load, and twelve to store half of it further on.
pub(crate) const SCRATCH: usize = 4096;

/// Instructions in a block of independent ones; pairs: of each kind.
pub(crate) const BLOCK: f64 = 96.0;

/// Runs the lines with the clobbers of every kernel here: X1 is where loads go, X2 where stores go, half the scratch
/// further on. The assembler is told of extensions that not every build of this program is compiled for.
macro_rules! looped {
    ($rounds:expr, $at:expr, $($line:expr),+) => {
        asm!(
            ".arch_extension aes", ".arch_extension sha2", ".arch_extension sha3", ".arch_extension crc",
            ".arch_extension sve", ".arch_extension sve2-aes",
            "add x2, x1, #2048",
            "2:", $($line,)+ "subs x0, x0, #1", "b.ne 2b",
            inout("x0") $rounds => _, inout("x1") $at => _, out("x2") _,
            out("x6") _, out("x7") _, out("x8") _, out("x9") _, out("x10") _, out("x11") _,
            out("x12") _, out("x13") _, out("x14") _, out("x15") _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _,
            out("v15") _, out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _,
            out("v22") _, out("v23") _, out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _,
            out("v29") _, out("v30") _, out("v31") _,
            options(nostack),
        )
    };
}

/// The registers that independent instructions change, in turn.
macro_rules! in_turn {
    () => {
        ",0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
    };
}

/// A kernel of these lines.
macro_rules! kernel {
    ($($line:tt)+) => {{
        unsafe fn kernel(rounds: u64, at: *mut u8) {
            // SAFETY: clobbers are declared, memory is the caller's scratch; that the CPU has the instruction is the
            // caller's promise.
            unsafe { looped!(rounds, at, $($line)+) }
        }
        kernel
    }};
}

/// Blocks of independent instructions on vector registers `\r`. `\()` ends that name: in one block within another it
/// would be gone before it was needed.
macro_rules! vector {
    ($($line:literal),+) => {
        kernel!(concat!(".irp r", in_turn!(), in_turn!(), in_turn!(), in_turn!()), $($line),+, ".endr")
    };
}

/// The same on eight general registers.
macro_rules! scalar {
    ($($line:literal),+) => {
        kernel!(".rept 12", ".irp r,8,9,10,11,12,13,14,15", $($line),+, ".endr", ".endr")
    };
}

/// The same on twelve lines of memory, and twelve vector registers.
macro_rules! lines {
    ($($line:literal),+) => {
        kernel!(".rept 8", ".irp r,0,1,2,3,4,5,6,7,8,9,10,11", $($line),+, ".endr", ".endr")
    };
}

/// Ninety-six times the same, which depends on itself.
macro_rules! chain {
    ($($line:literal),+) => { kernel!(".rept 96", $($line),+, ".endr") };
}

/// What stands for the width of SVE's registers.
const WIDE: u32 = 0;

/// SVE's are read where its registers are longer than 128 bits:
/// elsewhere they do what the others do.
#[rustfmt::skip]
pub(crate) const INSTRUCTIONS: &[Line] = &[
    ("aese+aesmc", 128, Aes, Some(vector!("aese v\\r\\().16b, v31.16b", "aesmc v\\r\\().16b, v\\r\\().16b")),
        Some(chain!("aese v0.16b, v31.16b", "aesmc v0.16b, v0.16b"))),
    ("aesd+aesimc", 128, Aes, Some(vector!("aesd v\\r\\().16b, v31.16b", "aesimc v\\r\\().16b, v\\r\\().16b")),
        Some(chain!("aesd v0.16b, v31.16b", "aesimc v0.16b, v0.16b"))),
    ("aese", 128, Aes, Some(vector!("aese v\\r\\().16b, v31.16b")), Some(chain!("aese v0.16b, v31.16b"))),
    ("aese+aesmc-sve", WIDE, SveAes,
        Some(vector!("aese z\\r\\().b, z\\r\\().b, z31.b", "aesmc z\\r\\().b, z\\r\\().b")), None),
    ("pmull.1q", 128, Aes, Some(vector!("pmull v\\r\\().1q, v30.1d, v31.1d")),
        Some(chain!("pmull v0.1q, v0.1d, v31.1d"))),
    ("pmullb-sve", WIDE, SveAes, Some(vector!("pmullb z\\r\\().q, z30.d, z31.d")), None),
    ("eor.16b", 128, Asimd, Some(vector!("eor v\\r\\().16b, v30.16b, v31.16b")),
        Some(chain!("eor v0.16b, v0.16b, v31.16b"))),
    ("eor3.16b", 128, Sha3, Some(vector!("eor3 v\\r\\().16b, v29.16b, v30.16b, v31.16b")),
        Some(chain!("eor3 v0.16b, v0.16b, v30.16b, v31.16b"))),
    ("eor-sve", WIDE, Sve, Some(vector!("eor z\\r\\().d, z30.d, z31.d")), None),
    ("add.4s", 128, Asimd, Some(vector!("add v\\r\\().4s, v30.4s, v31.4s")), Some(chain!("add v0.4s, v0.4s, v31.4s"))),
    ("add.2d", 128, Asimd, Some(vector!("add v\\r\\().2d, v30.2d, v31.2d")), Some(chain!("add v0.2d, v0.2d, v31.2d"))),
    ("tbl.16b", 128, Asimd, Some(vector!("tbl v\\r\\().16b, {{v30.16b}}, v31.16b")),
        Some(chain!("tbl v0.16b, {{v31.16b}}, v0.16b"))),
    ("umull.2d", 128, Asimd, Some(vector!("umull v\\r\\().2d, v30.2s, v31.2s")),
        Some(chain!("umull v0.2d, v0.2s, v31.2s"))),
    ("sha256h", 128, Sha2, Some(vector!("sha256h q\\r, q30, v31.4s")), Some(chain!("sha256h q0, q30, v31.4s"))),
    ("sha256h2", 128, Sha2, Some(vector!("sha256h2 q\\r, q30, v31.4s")), Some(chain!("sha256h2 q0, q30, v31.4s"))),
    ("sha512h", 128, Sha3, Some(vector!("sha512h q\\r, q30, v31.2d")), Some(chain!("sha512h q0, q30, v31.2d"))),
    ("add", 64, Asimd, Some(scalar!("add x\\r, x6, x7")), Some(chain!("add x8, x8, x7"))),
    ("mul", 64, Asimd, Some(scalar!("mul x\\r, x6, x7")), Some(chain!("mul x8, x8, x7"))),
    ("mul+umulh", 64, Asimd, Some(scalar!("mul x\\r, x6, x7", "umulh x\\r, x6, x7")), Some(chain!("umulh x8, x8, x7"))),
    ("crc32cx", 64, Crc, Some(scalar!("crc32cx w\\r, w6, x7")), Some(chain!("crc32cx w8, w8, x7"))),
    ("load", 64, Asimd, Some(lines!("ldr x8, [x1, #64 * \\r]")), Some(load_latency)),
    ("load", 128, Asimd, Some(lines!("ldr q\\r, [x1, #64 * \\r]")), None),
    ("load", 256, Asimd, Some(lines!("ldp q\\r, q31, [x1, #64 * \\r]")), None),
    ("load-sve", WIDE, Sve, Some(lines!("ldr z\\r, [x1, #\\r, mul vl]")), None),
    ("store", 64, Asimd, Some(lines!("str x8, [x2, #64 * \\r]")), None),
    ("store", 128, Asimd, Some(lines!("str q\\r, [x2, #64 * \\r]")), None),
    ("store", 256, Asimd, Some(lines!("stp q\\r, q31, [x2, #64 * \\r]")), None),
    ("store-sve", WIDE, Sve, Some(lines!("str z\\r, [x2, #\\r, mul vl]")), None),
    ("load+store", 128, Asimd, Some(lines!("ldr q\\r, [x1, #64 * \\r]", "str q\\r, [x2, #64 * \\r]")), None),
    ("load+store", 256, Asimd, Some(lines!("ldp q\\r, q31, [x1, #64 * \\r]", "stp q\\r, q31, [x2, #64 * \\r]")), None),
    ("load+store-sve", WIDE, Sve, Some(lines!("ldr z\\r, [x1, #\\r, mul vl]", "str z\\r, [x2, #\\r, mul vl]")), None),
];

#[rustfmt::skip]
pub(crate) const PAIRS: &[PairLine] = &[
    ("aese+aesmc", "pmull.1q", (128, 128), Aes,
        vector!("aese v\\r\\().16b, v31.16b", "aesmc v\\r\\().16b, v\\r\\().16b", "pmull v24.1q, v30.1d, v31.1d")),
    ("aese+aesmc", "eor.16b", (128, 128), Aes,
        vector!("aese v\\r\\().16b, v31.16b", "aesmc v\\r\\().16b, v\\r\\().16b", "eor v24.16b, v30.16b, v31.16b")),
    ("pmull.1q", "eor.16b", (128, 128), Aes,
        vector!("pmull v\\r\\().1q, v30.1d, v31.1d", "eor v24.16b, v30.16b, v31.16b")),
];

/// Chains of AES rounds and of multiplications that begin anew after [`super::WINDOW_STEPS`]: how much of two chains
/// overlaps.
#[rustfmt::skip]
pub(crate) const WINDOWS: [(&str, u32, Needs, Kernel); 2] = [
    ("aese+aesmc", 128, Aes, kernel!(
        "mov v0.16b, v30.16b", ".rept 600", "aese v0.16b, v31.16b", "aesmc v0.16b, v0.16b", ".endr"
    )),
    ("mul", 64, Asimd, kernel!("mov x8, #3", ".rept 600", "mul x8, x8, x8", ".endr")),
];

/// Name, what it needs, the walk; reading, writing, copying.
pub(crate) const READS: &[(&str, Needs, Walk)] =
    &[("load-128", Asimd, read_128), ("load-256", Asimd, read_256), ("load-sve", Sve, read_sve)];
pub(crate) const WRITES: &[(&str, Needs, Walk)] = &[
    ("store-128", Asimd, write_128),
    ("store-256", Asimd, write_256),
    ("store-sve", Sve, write_sve),
    ("non-temporal-256", Asimd, write_past),
    ("dc-zva", Zva, write_zva),
];
pub(crate) const COPIES: &[(&str, Needs, Walk)] = &[
    ("load+store-128", Asimd, copy_all_128),
    ("load+store-256", Asimd, copy_all_256),
    ("load+store-sve", Sve, copy_sve),
    ("load+non-temporal-256", Asimd, copy_past),
];

pub(crate) fn width(bits: u32) -> u32 {
    if bits == WIDE { vector_bits() } else { bits }
}

/// Addresses that depend on what was loaded before, as on x86-64: a word that holds its own address.
pub(crate) unsafe fn load_latency(rounds: u64, at: *mut u8) {
    // SAFETY: as above; the word lies within the scratch, behind all that is stored, and is aligned.
    unsafe {
        let own = at.add(SCRATCH - 64);
        own.cast::<*mut u8>().write(own);
        looped!(rounds, own, ".rept 96", "ldr x1, [x1]", ".endr")
    }
}

/// Bits of SVE's registers.
///
/// # Safety
/// The CPU has SVE.
pub(crate) unsafe fn sve_bits() -> u32 {
    let bytes: u64;
    // SAFETY: the caller promises that there is the instruction, which reads a length.
    unsafe { asm!(".arch_extension sve", "rdvl {}, #1", out(reg) bytes, options(nomem, nostack)) };
    bytes as u32 * 8
}

/// Bytes that DC ZVA sets to zero; none where it is forbidden.
pub(crate) fn zeroed_bytes() -> Option<usize> {
    let id: u64;
    // SAFETY: Linux lets programs read DCZID_EL0.
    unsafe { asm!("mrs {}, dczid_el0", out(reg) id, options(nomem, nostack)) };
    (id & 16 == 0).then(|| 4 << (id & 15))
}

/// A walk over `bytes` from `from`, or to `to`, or both. `bytes` is a positive multiple of
/// [`STRIDE`]; both pointers are aligned to it.
pub(crate) type Walk = unsafe fn(bytes: usize, from: *const u8, to: *mut u8);

/// Bytes of one turn of a walk: eight lines, so that the loop's own instructions do not count. SVE's registers may be
/// up to a quarter of it.
pub(crate) const STRIDE: usize = 512;

/// A loop with X1 where it reads, X2 where it writes, and X9 for what it goes on by.
macro_rules! walked {
    ($bytes:expr, $from:expr, $to:expr, $by:literal, $($line:literal),+) => {
        asm!(
            ".arch_extension sve", $by,
            "2:", $($line,)+ "add x1, x1, x9", "add x2, x2, x9", "subs x0, x0, x9", "b.ne 2b",
            inout("x0") $bytes => _, inout("x1") $from => _, inout("x2") $to => _, out("x9") _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v30") _, out("v31") _,
            options(nostack),
        )
    };
}

macro_rules! walks {
    ($($name:ident: $($line:literal),+;)+) => {$(
        pub(crate) unsafe fn $name(bytes: usize, from: *const u8, to: *mut u8) {
            // SAFETY: the caller's buffers are as long as `bytes` and aligned; clobbers are declared.
            unsafe {
                walked!(bytes, from, to, "mov x9, #512", ".irp r,0,1,2,3,4,5,6,7", $($line),+, ".endr")
            }
        }
    )+};
}

walks! {
    read_128: "ldr q\\r, [x1, #64 * \\r]", "ldr q\\r, [x1, #64 * \\r + 16]",
        "ldr q\\r, [x1, #64 * \\r + 32]", "ldr q\\r, [x1, #64 * \\r + 48]";
    read_256: "ldp q\\r, q31, [x1, #64 * \\r]", "ldp q\\r, q31, [x1, #64 * \\r + 32]";
    write_128: "str q\\r, [x2, #64 * \\r]", "str q\\r, [x2, #64 * \\r + 16]",
        "str q\\r, [x2, #64 * \\r + 32]", "str q\\r, [x2, #64 * \\r + 48]";
    write_256: "stp q\\r, q31, [x2, #64 * \\r]", "stp q\\r, q31, [x2, #64 * \\r + 32]";
    write_past: "stnp q\\r, q31, [x2, #64 * \\r]", "stnp q\\r, q31, [x2, #64 * \\r + 32]";
    copy_all_128: "ldr q0, [x1, #64 * \\r]", "ldr q1, [x1, #64 * \\r + 16]", "ldr q2, [x1, #64 * \\r + 32]",
        "ldr q3, [x1, #64 * \\r + 48]", "str q0, [x2, #64 * \\r]", "str q1, [x2, #64 * \\r + 16]",
        "str q2, [x2, #64 * \\r + 32]", "str q3, [x2, #64 * \\r + 48]";
    copy_all_256: "ldp q0, q1, [x1, #64 * \\r]", "ldp q2, q3, [x1, #64 * \\r + 32]",
        "stp q0, q1, [x2, #64 * \\r]", "stp q2, q3, [x2, #64 * \\r + 32]";
    copy_past: "ldp q0, q1, [x1, #64 * \\r]", "ldp q2, q3, [x1, #64 * \\r + 32]",
        "stnp q0, q1, [x2, #64 * \\r]", "stnp q2, q3, [x2, #64 * \\r + 32]";
}

/// With SVE's registers, four at a time.
macro_rules! wide {
    ($($name:ident: $($line:literal),+;)+) => {$(
        pub(crate) unsafe fn $name(bytes: usize, from: *const u8, to: *mut u8) {
            // SAFETY: as above; that the CPU has SVE, and registers that are no longer than a quarter of the stride, is
            // the caller's promise.
            unsafe { walked!(bytes, from, to, "rdvl x9, #4", ".irp r,0,1,2,3", $($line),+, ".endr") }
        }
    )+};
}

wide! {
    read_sve: "ldr z\\r, [x1, #\\r, mul vl]";
    write_sve: "str z\\r, [x2, #\\r, mul vl]";
    copy_sve: "ldr z\\r, [x1, #\\r, mul vl]", "str z\\r, [x2, #\\r, mul vl]";
}

/// What `memset` may leave to the cache: blocks of zeroes.
pub(crate) unsafe fn write_zva(bytes: usize, _from: *const u8, to: *mut u8) {
    let Some(block) = zeroed_bytes() else { return };
    for at in (0..bytes).step_by(block) {
        // SAFETY: the block lies within the caller's buffer, both of which are aligned to it.
        unsafe { asm!("dc zva, {}", in(reg) to.add(at), options(nostack)) };
    }
}
