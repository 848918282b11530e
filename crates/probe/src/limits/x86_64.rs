//! x86-64: what is measured, as a catalogue: each instruction with the CPU features that it needs; the blocks
//! of instructions, in loops, that throughputs and latencies are read from; and walks through memory: every
//! byte of a buffer loaded, stored or copied once.

use crate::limits::{Line, PairLine};
use Needs::{
    Aes, Avx2, Avx512, Bmi2, Clmul, Gfni, Gfni512, Ifma, Sha, Sha512, Sse2, Sse42, Ssse3, Vaes,
    Vaes512, Vclmul, Vclmul512,
};
use std::arch::asm;

/// What an instruction or a walk needs of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Sse2,
    Ssse3,
    Sse42,
    Bmi2,
    Avx2,
    Avx512,
    Ifma,
    Aes,
    Vaes,
    Vaes512,
    Clmul,
    Vclmul,
    Vclmul512,
    Gfni,
    Gfni512,
    Sha,
    Sha512,
}

/// Whether this CPU, and the system's saving of registers, has what an instruction needs.
pub(crate) fn has(needs: Needs) -> bool {
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

// Blocks of one instruction, or of two in turn, in loops: what throughputs and latencies are read
// from. In assembly, so that every build of ciphermark times the same instructions.
//
// Independent instructions are so in one of two ways: those with three operands read constant
// registers only; those with two work on twelve registers in turn, which covers a latency of four
// cycles at three a cycle. Of general registers there are eight, too few for three cycles at three a
// cycle (Zen 5's multiplications and CRCs): what takes so long reads constants there, or what was
// set to zero just before. Only registers 0 to 15 are used: the others would need a compiler that
// knows AVX-512.

/// A loop of `rounds` blocks. `at` points to [`SCRATCH`] writable bytes, aligned to a cache line.
pub(crate) type Kernel = unsafe fn(rounds: u64, at: *mut u8);

/// Bytes that kernels may touch: twelve lines to load, and twelve to store half a page further on, so
/// that no load's address ends like an earlier store's.
pub(crate) const SCRATCH: usize = 4096;

/// Instructions in a block of independent ones; pairs: of each kind.
pub(crate) const BLOCK: f64 = 96.0;

/// Runs the lines with the clobbers of every kernel here. `$end` leaves the upper halves of the
/// vector registers clean, where they were used: code that follows would be slow otherwise.
macro_rules! looped {
    ($rounds:expr, $at:expr, $end:literal, $($line:literal),+) => {
        asm!(
            "2:", $($line,)+ "dec r8", "jnz 2b", $end,
            inout("r8") $rounds => _, inout("rdi") $at => _,
            out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _,
            out("r9") _, out("r10") _, out("r11") _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack),
        )
    };
}

/// A kernel of these lines.
macro_rules! kernel {
    ($end:literal, $($line:literal),+) => {{
        unsafe fn kernel(rounds: u64, at: *mut u8) {
            // SAFETY: clobbers are declared, memory is the caller's scratch; that the CPU has the
            // instruction is the caller's promise.
            unsafe { looped!(rounds, at, $end, $($line),+) }
        }
        kernel
    }};
}

/// Independent instructions on twelve vector registers `\r`; `wide` where upper halves are used.
macro_rules! vector {
    (wide $($line:literal),+) => { vector!(@"vzeroupper", $($line),+) };
    (@$end:literal, $($line:literal),+) => {
        kernel!($end, ".rept 8", ".irp r,0,1,2,3,4,5,6,7,8,9,10,11", $($line),+, ".endr", ".endr")
    };
    ($($line:literal),+) => { vector!(@"", $($line),+) };
}

/// Independent instructions on general registers `\r`.
macro_rules! scalar {
    ($($line:literal),+) => {
        kernel!(
            "", ".rept 12", ".irp r,rcx,r9,r10,r11,r12,r13,r14,r15", $($line),+, ".endr", ".endr"
        )
    };
}

/// Ninety-six times the same, which depends on itself.
macro_rules! chain {
    (wide $($line:literal),+) => { kernel!("vzeroupper", ".rept 96", $($line),+, ".endr") };
    ($($line:literal),+) => { kernel!("", ".rept 96", $($line),+, ".endr") };
}

/// Every instruction that is read.
#[rustfmt::skip]
pub(crate) const INSTRUCTIONS: &[Line] = &[
    ("aesenc", 128, Aes, Some(vector!("aesenc xmm\\r, xmm15")), Some(chain!("aesenc xmm0, xmm15"))),
    ("aesenc", 256, Vaes, Some(vector!(wide "vaesenc ymm\\r, ymm14, ymm15")),
        Some(chain!(wide "vaesenc ymm0, ymm0, ymm15"))),
    ("aesenc", 512, Vaes512, Some(vector!(wide "vaesenc zmm\\r, zmm14, zmm15")),
        Some(chain!(wide "vaesenc zmm0, zmm0, zmm15"))),
    ("aesdec", 128, Aes, Some(vector!("aesdec xmm\\r, xmm15")), Some(chain!("aesdec xmm0, xmm15"))),
    ("aesdec", 256, Vaes, Some(vector!(wide "vaesdec ymm\\r, ymm14, ymm15")), None),
    ("aesdec", 512, Vaes512, Some(vector!(wide "vaesdec zmm\\r, zmm14, zmm15")), None),
    ("aesenclast", 128, Aes, Some(vector!("aesenclast xmm\\r, xmm15")), Some(chain!("aesenclast xmm0, xmm15"))),
    ("aesenclast", 256, Vaes, Some(vector!(wide "vaesenclast ymm\\r, ymm14, ymm15")), None),
    ("aesenclast", 512, Vaes512, Some(vector!(wide "vaesenclast zmm\\r, zmm14, zmm15")), None),
    ("aesenc-key", 128, Vaes, Some(vector!("aesenc xmm\\r, xmm15")), Some(chain!(wide "vaesenc xmm0, xmm15, xmm0"))),
    ("pclmulqdq", 128, Clmul, Some(vector!("pclmulqdq xmm\\r, xmm15, 0")), Some(chain!("pclmulqdq xmm0, xmm15, 0"))),
    ("pclmulqdq", 256, Vclmul, Some(vector!(wide "vpclmulqdq ymm\\r, ymm14, ymm15, 0")),
        Some(chain!(wide "vpclmulqdq ymm0, ymm0, ymm15, 0"))),
    ("pclmulqdq", 512, Vclmul512, Some(vector!(wide "vpclmulqdq zmm\\r, zmm14, zmm15, 0")),
        Some(chain!(wide "vpclmulqdq zmm0, zmm0, zmm15, 0"))),
    ("pxor", 128, Sse2, Some(vector!("pxor xmm\\r, xmm15")), Some(chain!("pxor xmm0, xmm15"))),
    ("pxor", 256, Avx2, Some(vector!(wide "vpxor ymm\\r, ymm14, ymm15")), None),
    ("pxor", 512, Avx512, Some(vector!(wide "vpxorq zmm\\r, zmm14, zmm15")),
        Some(chain!(wide "vpxorq zmm0, zmm0, zmm15"))),
    ("pternlogd", 128, Avx512, Some(vector!(wide "vpternlogd xmm\\r, xmm14, xmm15, 0x96")), None),
    ("pternlogd", 256, Avx512, Some(vector!(wide "vpternlogd ymm\\r, ymm14, ymm15, 0x96")), None),
    ("pternlogd", 512, Avx512, Some(vector!(wide "vpternlogd zmm\\r, zmm14, zmm15, 0x96")),
        Some(chain!(wide "vpternlogd zmm0, zmm14, zmm15, 0x96"))),
    ("pshufb", 128, Ssse3, Some(vector!("pshufb xmm\\r, xmm15")), Some(chain!("pshufb xmm0, xmm15"))),
    ("pshufb", 256, Avx2, Some(vector!(wide "vpshufb ymm\\r, ymm14, ymm15")), None),
    ("pshufb", 512, Avx512, Some(vector!(wide "vpshufb zmm\\r, zmm14, zmm15")), None),
    ("paddd", 128, Sse2, Some(vector!("paddd xmm\\r, xmm15")), Some(chain!("paddd xmm0, xmm15"))),
    ("paddd", 256, Avx2, Some(vector!(wide "vpaddd ymm\\r, ymm14, ymm15")), None),
    ("paddd", 512, Avx512, Some(vector!(wide "vpaddd zmm\\r, zmm14, zmm15")), None),
    ("paddq", 128, Sse2, Some(vector!("paddq xmm\\r, xmm15")), Some(chain!("paddq xmm0, xmm15"))),
    ("paddq", 256, Avx2, Some(vector!(wide "vpaddq ymm\\r, ymm14, ymm15")), None),
    ("paddq", 512, Avx512, Some(vector!(wide "vpaddq zmm\\r, zmm14, zmm15")), None),
    ("prold", 128, Avx512, Some(vector!(wide "vprold xmm\\r, xmm14, 7")), Some(chain!(wide "vprold xmm0, xmm0, 7"))),
    ("prold", 256, Avx512, Some(vector!(wide "vprold ymm\\r, ymm14, 7")), None),
    ("prold", 512, Avx512, Some(vector!(wide "vprold zmm\\r, zmm14, 7")), None),
    ("pmuludq", 128, Sse2, Some(vector!("pmuludq xmm\\r, xmm15")), Some(chain!("pmuludq xmm0, xmm15"))),
    ("pmuludq", 256, Avx2, Some(vector!(wide "vpmuludq ymm\\r, ymm14, ymm15")), None),
    ("pmuludq", 512, Avx512, Some(vector!(wide "vpmuludq zmm\\r, zmm14, zmm15")), None),
    ("pmadd52luq", 256, Ifma, Some(vector!(wide "vpmadd52luq ymm\\r, ymm14, ymm15")),
        Some(chain!(wide "vpmadd52luq ymm0, ymm0, ymm15"))),
    ("pmadd52luq", 512, Ifma, Some(vector!(wide "vpmadd52luq zmm\\r, zmm14, zmm15")), None),
    ("gf2p8affineinvqb", 128, Gfni, Some(vector!("gf2p8affineinvqb xmm\\r, xmm15, 0")),
        Some(chain!("gf2p8affineinvqb xmm0, xmm15, 0"))),
    ("gf2p8affineinvqb", 256, Gfni512, Some(vector!(wide "vgf2p8affineinvqb ymm\\r, ymm14, ymm15, 0")), None),
    ("gf2p8affineinvqb", 512, Gfni512, Some(vector!(wide "vgf2p8affineinvqb zmm\\r, zmm14, zmm15, 0")), None),
    ("sha256rnds2", 128, Sha, Some(SHA256RNDS2), Some(SHA256RNDS2_LATENCY)),
    ("sha256msg1", 128, Sha, Some(vector!("sha256msg1 xmm\\r, xmm15")), Some(chain!("sha256msg1 xmm0, xmm15"))),
    ("sha256msg2", 128, Sha, Some(vector!("sha256msg2 xmm\\r, xmm15")), Some(chain!("sha256msg2 xmm0, xmm15"))),
    ("sha512rnds2", 256, Sha512, Some(vector!(wide "vsha512rnds2 ymm\\r, ymm14, xmm15")), Some(SHA512RNDS2_LATENCY)),
    ("add", 64, Sse2, Some(scalar!("add \\r, rsi")), Some(chain!("add rax, rsi"))),
    ("adc", 64, Sse2, None, Some(chain!("adc rax, rsi"))),
    ("imul", 64, Sse2, Some(scalar!("imul \\r, rsi, 3")), Some(chain!("imul rax, rsi"))),
    ("mulx", 64, Bmi2, Some(scalar!("mulx rax, \\r, rsi")), Some(chain!("mulx rax, rdx, rsi"))),
    ("crc32", 64, Sse42, Some(scalar!("xor \\r, \\r", "crc32 \\r, rsi")), Some(chain!("crc32 rax, rsi"))),
    ("load", 64, Sse2, Some(scalar!("mov \\r, [rdi + 64]")), Some(load_latency)),
    ("load", 128, Sse2, Some(vector!("movups xmm\\r, [rdi + 16 * \\r]")), None),
    ("load", 256, Avx2, Some(vector!(wide "vmovups ymm\\r, [rdi + 32 * \\r]")), None),
    ("load", 512, Avx512, Some(vector!(wide "vmovups zmm\\r, [rdi + 64 * \\r]")), None),
    ("store", 64, Sse2, Some(scalar!("mov [rdi + 64], \\r")), None),
    ("store", 128, Sse2, Some(vector!("movups [rdi + 16 * \\r], xmm\\r")), None),
    ("store", 256, Avx2, Some(vector!(wide "vmovups [rdi + 32 * \\r], ymm\\r")), None),
    ("store", 512, Avx512, Some(vector!(wide "vmovups [rdi + 64 * \\r], zmm\\r")), None),
    ("load+store", 128, Sse2,
        Some(vector!("movups xmm\\r, [rdi + 16 * \\r]", "movups [rdi + 2048 + 16 * \\r], xmm\\r")), None),
    ("load+store", 256, Avx2,
        Some(vector!(wide "vmovups ymm\\r, [rdi + 32 * \\r]", "vmovups [rdi + 2048 + 32 * \\r], ymm\\r")), None),
    ("load+store", 512, Avx512,
        Some(vector!(wide "vmovups zmm\\r, [rdi + 64 * \\r]", "vmovups [rdi + 2048 + 64 * \\r], zmm\\r")), None),
];

#[rustfmt::skip]
pub(crate) const PAIRS: &[PairLine] = &[
    ("aesenc", "pclmulqdq", (128, 128), Clmul,
        vector!("aesenc xmm\\r, xmm15", "movdqa xmm12, xmm14", "pclmulqdq xmm12, xmm15, 0")),
    ("aesenc", "pclmulqdq", (256, 256), Vclmul,
        vector!(wide "vaesenc ymm\\r, ymm14, ymm15", "vpclmulqdq ymm12, ymm14, ymm15, 0")),
    ("aesenc", "pclmulqdq", (512, 512), Vclmul512,
        vector!(wide "vaesenc zmm\\r, zmm14, zmm15", "vpclmulqdq zmm12, zmm14, zmm15, 0")),
    ("aesenc", "pclmulqdq", (256, 512), Vclmul512,
        vector!(wide "vaesenc ymm\\r, ymm14, ymm15", "vpclmulqdq zmm12, zmm14, zmm15, 0")),
    ("aesenc", "pclmulqdq", (512, 256), Vclmul512,
        vector!(wide "vaesenc zmm\\r, zmm14, zmm15", "vpclmulqdq ymm12, ymm14, ymm15, 0")),
    ("aesenc", "pxor", (128, 128), Aes, vector!("aesenc xmm\\r, xmm15", "movdqa xmm12, xmm14", "pxor xmm12, xmm15")),
    ("aesenc", "pxor", (256, 256), Vaes, vector!(wide "vaesenc ymm\\r, ymm14, ymm15", "vpxor ymm12, ymm14, ymm15")),
    ("aesenc", "pxor", (512, 512), Vaes512, vector!(wide "vaesenc zmm\\r, zmm14, zmm15", "vpxorq zmm12, zmm14, zmm15")),
    ("pclmulqdq", "pxor", (128, 128), Clmul,
        vector!("pclmulqdq xmm\\r, xmm15, 0", "movdqa xmm12, xmm14", "pxor xmm12, xmm15")),
    ("pclmulqdq", "pxor", (256, 256), Vclmul,
        vector!(wide "vpclmulqdq ymm\\r, ymm14, ymm15, 0", "vpxor ymm12, ymm14, ymm15")),
    ("pclmulqdq", "pxor", (512, 512), Vclmul512,
        vector!(wide "vpclmulqdq zmm\\r, zmm14, zmm15, 0", "vpxorq zmm12, zmm14, zmm15")),
    ("aesenc", "gf2p8affineinvqb", (256, 256), Gfni512,
        vector!(wide "vaesenc ymm\\r, ymm14, ymm15", "vgf2p8affineinvqb ymm12, ymm14, ymm15, 0")),
    ("aesenc", "gf2p8affineinvqb", (512, 512), Gfni512,
        vector!(wide "vaesenc zmm\\r, zmm14, zmm15", "vgf2p8affineinvqb zmm12, zmm14, zmm15, 0")),
    ("aesenc", "aesenc", (256, 512), Vaes512,
        vector!(wide "vaesenc ymm\\r, ymm14, ymm15", "vaesenc zmm12, zmm14, zmm15")),
];

/// Chains of AES rounds and of multiplications that begin anew after [`super::WINDOW_STEPS`]: how much of two chains
/// overlaps.
#[rustfmt::skip]
pub(crate) const WINDOWS: [(&str, u32, Needs, Kernel); 2] = [
    ("aesenc", 128, Aes, kernel!("", "movdqa xmm0, xmm14", ".rept 600", "aesenc xmm0, xmm15", ".endr")),
    ("imul", 64, Sse2, kernel!("", "mov eax, 3", ".rept 600", "imul rax, rax", ".endr")),
];

/// Name, what it needs, the walk; reading, writing, copying.
pub(crate) const READS: &[(&str, Needs, Walk)] =
    &[("load-128", Sse2, read_128), ("load-256", Avx2, read_256), ("load-512", Avx512, read_512)];
pub(crate) const WRITES: &[(&str, Needs, Walk)] = &[
    ("store-128", Sse2, write_128),
    ("store-256", Avx2, write_256),
    ("store-512", Avx512, write_512),
    ("non-temporal-128", Sse2, write_past_128),
    ("rep-stosb", Sse2, write_stosb),
];
pub(crate) const COPIES: &[(&str, Needs, Walk)] = &[
    ("load+store-128", Sse2, copy_all_128),
    ("load+store-256", Avx2, copy_all_256),
    ("load+store-512", Avx512, copy_all_512),
    ("load+non-temporal-128", Sse2, copy_past_128),
    ("rep-movsb", Sse2, copy_movsb),
];

/// The widths of the catalogue are those of the registers.
pub(crate) fn width(bits: u32) -> u32 {
    bits
}

/// The implicit third operand is register 0, so the twelve registers are others.
#[rustfmt::skip]
const SHA256RNDS2: Kernel = kernel!(
    "", ".rept 8", ".irp r,1,2,3,4,5,6,7,8,9,10,11,12", "sha256rnds2 xmm\\r, xmm15", ".endr", ".endr"
);
/// As SHA-256 uses it: the result of one is the second operand of the next and the first of the next
/// but one.
#[rustfmt::skip]
const SHA256RNDS2_LATENCY: Kernel = kernel!(
    "", ".rept 48", "sha256rnds2 xmm1, xmm2", "sha256rnds2 xmm2, xmm1", ".endr"
);
#[rustfmt::skip]
const SHA512RNDS2_LATENCY: Kernel = kernel!(
    "vzeroupper", ".rept 48", "vsha512rnds2 ymm1, ymm2, xmm15", "vsha512rnds2 ymm2, ymm1, xmm15", ".endr"
);

/// Addresses that depend on what was loaded before: a word that holds its own address, where no other
/// kernel stores. It is written before the loop, so that no load takes it from a store.
pub(crate) unsafe fn load_latency(rounds: u64, at: *mut u8) {
    // SAFETY: as above; the word lies within the scratch and is aligned.
    unsafe {
        let own = at.add(3072);
        own.cast::<*mut u8>().write(own);
        looped!(rounds, own, "", ".rept 96", "mov rdi, [rdi]", ".endr")
    }
}

/// A walk over `bytes` from `from`, or to `to`, or both. `bytes` is a positive multiple of
/// [`STRIDE`]; both pointers are aligned to it.
pub(crate) type Walk = unsafe fn(bytes: usize, from: *const u8, to: *mut u8);

/// Bytes of one turn of a walk: eight lines, so that the loop's own instructions do not count.
pub(crate) const STRIDE: usize = 512;

macro_rules! walks {
    ($($name:ident $end:literal $count:literal: $($line:literal),+;)+) => {$(
        pub(crate) unsafe fn $name(bytes: usize, from: *const u8, to: *mut u8) {
            // SAFETY: the caller's buffers are as long as `bytes` and aligned; clobbers are
            // declared; that the CPU has the instruction is the caller's promise.
            unsafe {
                asm!(
                    "2:",
                    concat!(".irp r,", $count), $($line,)+ ".endr",
                    "add rsi, 512", "add rdi, 512", "sub rcx, 512", "jnz 2b", $end,
                    inout("rcx") bytes => _, inout("rsi") from => _, inout("rdi") to => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    options(nostack),
                )
            }
        }
    )+};
}

walks! {
    read_128 "" "0,1,2,3,4,5,6,7": "movups xmm\\r, [rsi + 64 * \\r]", "movups xmm\\r, [rsi + 64 * \\r + 16]",
        "movups xmm\\r, [rsi + 64 * \\r + 32]", "movups xmm\\r, [rsi + 64 * \\r + 48]";
    read_256 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups ymm\\r, [rsi + 64 * \\r]",
        "vmovups ymm\\r, [rsi + 64 * \\r + 32]";
    read_512 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups zmm\\r, [rsi + 64 * \\r]";
    write_128 "" "0,1,2,3,4,5,6,7": "movups [rdi + 64 * \\r], xmm\\r", "movups [rdi + 64 * \\r + 16], xmm\\r",
        "movups [rdi + 64 * \\r + 32], xmm\\r", "movups [rdi + 64 * \\r + 48], xmm\\r";
    write_256 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups [rdi + 64 * \\r], ymm\\r",
        "vmovups [rdi + 64 * \\r + 32], ymm\\r";
    write_512 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups [rdi + 64 * \\r], zmm\\r";
    write_past_128 "sfence" "0,1,2,3,4,5,6,7": "movntps [rdi + 64 * \\r], xmm\\r", "movntps [rdi + 64 * \\r + 16], xmm\\r",
        "movntps [rdi + 64 * \\r + 32], xmm\\r", "movntps [rdi + 64 * \\r + 48], xmm\\r";
    copy_all_128 "" "0,1,2,3,4,5,6,7": "movups xmm0, [rsi + 64 * \\r]", "movups xmm1, [rsi + 64 * \\r + 16]",
        "movups xmm2, [rsi + 64 * \\r + 32]", "movups xmm3, [rsi + 64 * \\r + 48]",
        "movups [rdi + 64 * \\r], xmm0", "movups [rdi + 64 * \\r + 16], xmm1",
        "movups [rdi + 64 * \\r + 32], xmm2", "movups [rdi + 64 * \\r + 48], xmm3";
    copy_all_256 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups ymm0, [rsi + 64 * \\r]", "vmovups ymm1, [rsi + 64 * \\r + 32]",
        "vmovups [rdi + 64 * \\r], ymm0", "vmovups [rdi + 64 * \\r + 32], ymm1";
    copy_all_512 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups zmm\\r, [rsi + 64 * \\r]", "vmovups [rdi + 64 * \\r], zmm\\r";
    copy_past_128 "sfence" "0,1,2,3,4,5,6,7": "movups xmm0, [rsi + 64 * \\r]", "movups xmm1, [rsi + 64 * \\r + 16]",
        "movups xmm2, [rsi + 64 * \\r + 32]", "movups xmm3, [rsi + 64 * \\r + 48]",
        "movntps [rdi + 64 * \\r], xmm0", "movntps [rdi + 64 * \\r + 16], xmm1",
        "movntps [rdi + 64 * \\r + 32], xmm2", "movntps [rdi + 64 * \\r + 48], xmm3";
}

/// What `memcpy` may leave to the CPU's microcode.
pub(crate) unsafe fn copy_movsb(bytes: usize, from: *const u8, to: *mut u8) {
    // SAFETY: as above; the direction flag is clear by the calling convention.
    unsafe {
        asm!("rep movsb", inout("rcx") bytes => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags))
    }
}

/// The same for storing one byte everywhere.
pub(crate) unsafe fn write_stosb(bytes: usize, _from: *const u8, to: *mut u8) {
    // SAFETY: as above.
    unsafe {
        asm!("rep stosb", inout("rcx") bytes => _, in("al") 1_u8, inout("rdi") to => _,
            options(nostack, preserves_flags))
    }
}
