//! x86-64: what is measured, as a catalogue: each instruction with the CPU features that it needs; the blocks
//! of instructions, in loops, that throughputs and latencies are read from; and walks through memory: every
//! byte of a buffer loaded, stored or copied once.

use crate::limits::{Needs, Reads, Subject};
use Needs::{
    Aes, Avx2, Avx512, Bmi2, Clmul, Gfni, Gfni512, Ifma, Sha, Sha512, Sse2, Sse42, Ssse3, Vaes,
    Vaes512, Vclmul, Vclmul512,
};
use std::arch::asm;

/// One line of the catalogue.
type Line = (&'static str, u32, Needs, Option<Kernel>, Option<Kernel>);

/// Name, width, what it needs, throughput, latency.
const INSTRUCTIONS: &[Line] = &[
    ("aesenc", 128, Aes, Some(aesenc_128), Some(aesenc_latency)),
    ("aesenc", 256, Vaes, Some(aesenc_256), Some(aesenc_256_latency)),
    ("aesenc", 512, Vaes512, Some(aesenc_512), Some(aesenc_512_latency)),
    ("aesdec", 128, Aes, Some(aesdec_128), Some(aesdec_latency)),
    ("aesdec", 256, Vaes, Some(aesdec_256), None),
    ("aesdec", 512, Vaes512, Some(aesdec_512), None),
    ("aesenclast", 128, Aes, Some(aesenclast_128), Some(aesenclast_latency)),
    ("aesenclast", 256, Vaes, Some(aesenclast_256), None),
    ("aesenclast", 512, Vaes512, Some(aesenclast_512), None),
    ("aesenc-key", 128, Vaes, Some(aesenc_128), Some(aesenc_key_latency)),
    ("pclmulqdq", 128, Clmul, Some(clmul_128), Some(clmul_latency)),
    ("pclmulqdq", 256, Vclmul, Some(clmul_256), Some(clmul_256_latency)),
    ("pclmulqdq", 512, Vclmul512, Some(clmul_512), Some(clmul_512_latency)),
    ("pxor", 128, Sse2, Some(pxor_128), Some(pxor_latency)),
    ("pxor", 256, Avx2, Some(pxor_256), None),
    ("pxor", 512, Avx512, Some(pxor_512), Some(pxor_512_latency)),
    ("pternlogd", 128, Avx512, Some(ternlog_128), None),
    ("pternlogd", 256, Avx512, Some(ternlog_256), None),
    ("pternlogd", 512, Avx512, Some(ternlog_512), Some(ternlog_latency)),
    ("pshufb", 128, Ssse3, Some(pshufb_128), Some(pshufb_latency)),
    ("pshufb", 256, Avx2, Some(pshufb_256), None),
    ("pshufb", 512, Avx512, Some(pshufb_512), None),
    ("paddd", 128, Sse2, Some(paddd_128), Some(paddd_latency)),
    ("paddd", 256, Avx2, Some(paddd_256), None),
    ("paddd", 512, Avx512, Some(paddd_512), None),
    ("paddq", 128, Sse2, Some(paddq_128), Some(paddq_latency)),
    ("paddq", 256, Avx2, Some(paddq_256), None),
    ("paddq", 512, Avx512, Some(paddq_512), None),
    ("prold", 128, Avx512, Some(prold_128), Some(prold_latency)),
    ("prold", 256, Avx512, Some(prold_256), None),
    ("prold", 512, Avx512, Some(prold_512), None),
    ("pmuludq", 128, Sse2, Some(pmuludq_128), Some(pmuludq_latency)),
    ("pmuludq", 256, Avx2, Some(pmuludq_256), None),
    ("pmuludq", 512, Avx512, Some(pmuludq_512), None),
    ("pmadd52luq", 256, Ifma, Some(madd52_256), Some(madd52_latency)),
    ("pmadd52luq", 512, Ifma, Some(madd52_512), None),
    ("gf2p8affineinvqb", 128, Gfni, Some(gf2p8affineinv_128), Some(gf2p8affineinv_latency)),
    ("gf2p8affineinvqb", 256, Gfni512, Some(gf2p8affineinv_256), None),
    ("gf2p8affineinvqb", 512, Gfni512, Some(gf2p8affineinv_512), None),
    ("sha256rnds2", 128, Sha, Some(sha256rnds2), Some(sha256rnds2_latency)),
    ("sha256msg1", 128, Sha, Some(sha256msg1), Some(sha256msg1_latency)),
    ("sha256msg2", 128, Sha, Some(sha256msg2), Some(sha256msg2_latency)),
    ("sha512rnds2", 256, Sha512, Some(sha512rnds2), Some(sha512rnds2_latency)),
    ("add", 64, Sse2, Some(add_64), Some(add_latency)),
    ("adc", 64, Sse2, None, Some(adc_latency)),
    ("imul", 64, Sse2, Some(imul_64), Some(imul_latency)),
    ("mulx", 64, Bmi2, Some(mulx_64), Some(mulx_latency)),
    ("crc32", 64, Sse42, Some(crc32_64), Some(crc32_latency)),
    ("load", 64, Sse2, Some(load_64), Some(load_latency)),
    ("load", 128, Sse2, Some(load_128), None),
    ("load", 256, Avx2, Some(load_256), None),
    ("load", 512, Avx512, Some(load_512), None),
    ("store", 64, Sse2, Some(store_64), None),
    ("store", 128, Sse2, Some(store_128), None),
    ("store", 256, Avx2, Some(store_256), None),
    ("store", 512, Avx512, Some(store_512), None),
    ("load+store", 128, Sse2, Some(copy_128), None),
    ("load+store", 256, Avx2, Some(copy_256), None),
    ("load+store", 512, Avx512, Some(copy_512), None),
];

/// Two names, their widths, what they need, the kernel.
type PairLine = (&'static str, &'static str, (u32, u32), Needs, Kernel);

const PAIRS: &[PairLine] = &[
    ("aesenc", "pclmulqdq", (128, 128), Clmul, aes_clmul_128),
    ("aesenc", "pclmulqdq", (256, 256), Vclmul, aes_clmul_256),
    ("aesenc", "pclmulqdq", (512, 512), Vclmul512, aes_clmul_512),
    ("aesenc", "pclmulqdq", (256, 512), Vclmul512, aes256_clmul_512),
    ("aesenc", "pclmulqdq", (512, 256), Vclmul512, aes512_clmul_256),
    ("aesenc", "pxor", (128, 128), Aes, aes_pxor_128),
    ("aesenc", "pxor", (256, 256), Vaes, aes_pxor_256),
    ("aesenc", "pxor", (512, 512), Vaes512, aes_pxor_512),
    ("pclmulqdq", "pxor", (128, 128), Clmul, clmul_pxor_128),
    ("pclmulqdq", "pxor", (256, 256), Vclmul, clmul_pxor_256),
    ("pclmulqdq", "pxor", (512, 512), Vclmul512, clmul_pxor_512),
    ("aesenc", "gf2p8affineinvqb", (256, 256), Gfni512, aes_gfni_256),
    ("aesenc", "gf2p8affineinvqb", (512, 512), Gfni512, aes_gfni_512),
    ("aesenc", "aesenc", (256, 512), Vaes512, aes256_aes_512),
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

/// Everything that this CPU has.
pub(crate) fn subjects(has: &dyn Fn(Needs) -> bool) -> Vec<Subject> {
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
        [("aesenc", 128, Aes, vector_window), ("imul", 64, Sse2, scalar_window)];
    for (name, width_bits, needs, kernel) in windows {
        if has(needs) {
            let reads = Reads::Window { steps: WINDOW_STEPS };
            subjects.push(Subject { name, width_bits, reads, kernel, per_round: 1.0 });
        }
    }
    subjects
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

/// Steps of the chain between two beginnings in [`vector_window`] and [`scalar_window`]: several
/// times what today's schedulers hold (64 to 200), so that a chain never overlaps with the next
/// but one.
pub(crate) const WINDOW_STEPS: f64 = 600.0;

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

/// Independent instructions on twelve vector registers `\r`.
macro_rules! vector {
    ($($(#[$doc:meta])* $name:ident $end:literal: $($line:literal),+;)+) => {$(
        $(#[$doc])*
        pub(crate) unsafe fn $name(rounds: u64, at: *mut u8) {
            // SAFETY: clobbers are declared, memory is the caller's scratch; that the CPU has the
            // instruction is the caller's promise.
            unsafe {
                looped!(rounds, at, $end,
                    ".rept 8", ".irp r,0,1,2,3,4,5,6,7,8,9,10,11", $($line),+, ".endr", ".endr")
            }
        }
    )+};
}

/// Independent instructions on general registers `\r`.
macro_rules! scalar {
    ($($name:ident: $($line:literal),+;)+) => {$(
        pub(crate) unsafe fn $name(rounds: u64, at: *mut u8) {
            // SAFETY: as above.
            unsafe {
                looped!(rounds, at, "",
                    ".rept 12", ".irp r,rcx,r9,r10,r11,r12,r13,r14,r15", $($line),+, ".endr", ".endr")
            }
        }
    )+};
}

/// Ninety-six times the same, which depends on itself.
macro_rules! chain {
    ($($name:ident $end:literal: $($line:literal),+;)+) => {$(
        pub(crate) unsafe fn $name(rounds: u64, at: *mut u8) {
            // SAFETY: as above.
            unsafe { looped!(rounds, at, $end, ".rept 96", $($line),+, ".endr") }
        }
    )+};
}

vector! {
    aesenc_128 "": "aesenc xmm\\r, xmm15";
    aesenc_256 "vzeroupper": "vaesenc ymm\\r, ymm14, ymm15";
    aesenc_512 "vzeroupper": "vaesenc zmm\\r, zmm14, zmm15";
    aesdec_128 "": "aesdec xmm\\r, xmm15";
    aesdec_256 "vzeroupper": "vaesdec ymm\\r, ymm14, ymm15";
    aesdec_512 "vzeroupper": "vaesdec zmm\\r, zmm14, zmm15";
    aesenclast_128 "": "aesenclast xmm\\r, xmm15";
    aesenclast_256 "vzeroupper": "vaesenclast ymm\\r, ymm14, ymm15";
    aesenclast_512 "vzeroupper": "vaesenclast zmm\\r, zmm14, zmm15";
    clmul_128 "": "pclmulqdq xmm\\r, xmm15, 0";
    clmul_256 "vzeroupper": "vpclmulqdq ymm\\r, ymm14, ymm15, 0";
    clmul_512 "vzeroupper": "vpclmulqdq zmm\\r, zmm14, zmm15, 0";
    pxor_128 "": "pxor xmm\\r, xmm15";
    pxor_256 "vzeroupper": "vpxor ymm\\r, ymm14, ymm15";
    pxor_512 "vzeroupper": "vpxorq zmm\\r, zmm14, zmm15";
    ternlog_128 "vzeroupper": "vpternlogd xmm\\r, xmm14, xmm15, 0x96";
    ternlog_256 "vzeroupper": "vpternlogd ymm\\r, ymm14, ymm15, 0x96";
    ternlog_512 "vzeroupper": "vpternlogd zmm\\r, zmm14, zmm15, 0x96";
    pshufb_128 "": "pshufb xmm\\r, xmm15";
    pshufb_256 "vzeroupper": "vpshufb ymm\\r, ymm14, ymm15";
    pshufb_512 "vzeroupper": "vpshufb zmm\\r, zmm14, zmm15";
    paddd_128 "": "paddd xmm\\r, xmm15";
    paddd_256 "vzeroupper": "vpaddd ymm\\r, ymm14, ymm15";
    paddd_512 "vzeroupper": "vpaddd zmm\\r, zmm14, zmm15";
    paddq_128 "": "paddq xmm\\r, xmm15";
    paddq_256 "vzeroupper": "vpaddq ymm\\r, ymm14, ymm15";
    paddq_512 "vzeroupper": "vpaddq zmm\\r, zmm14, zmm15";
    prold_128 "vzeroupper": "vprold xmm\\r, xmm14, 7";
    prold_256 "vzeroupper": "vprold ymm\\r, ymm14, 7";
    prold_512 "vzeroupper": "vprold zmm\\r, zmm14, 7";
    pmuludq_128 "": "pmuludq xmm\\r, xmm15";
    pmuludq_256 "vzeroupper": "vpmuludq ymm\\r, ymm14, ymm15";
    pmuludq_512 "vzeroupper": "vpmuludq zmm\\r, zmm14, zmm15";
    madd52_256 "vzeroupper": "vpmadd52luq ymm\\r, ymm14, ymm15";
    madd52_512 "vzeroupper": "vpmadd52luq zmm\\r, zmm14, zmm15";
    gf2p8affineinv_128 "": "gf2p8affineinvqb xmm\\r, xmm15, 0";
    gf2p8affineinv_256 "vzeroupper": "vgf2p8affineinvqb ymm\\r, ymm14, ymm15, 0";
    gf2p8affineinv_512 "vzeroupper": "vgf2p8affineinvqb zmm\\r, zmm14, zmm15, 0";
    sha256msg1 "": "sha256msg1 xmm\\r, xmm15";
    sha256msg2 "": "sha256msg2 xmm\\r, xmm15";
    sha512rnds2 "vzeroupper": "vsha512rnds2 ymm\\r, ymm14, xmm15";

    // Pairs: the second is 256 or 512 bits wide where its name says so.
    aes_clmul_128 "": "aesenc xmm\\r, xmm15", "movdqa xmm12, xmm14", "pclmulqdq xmm12, xmm15, 0";
    aes_clmul_256 "vzeroupper": "vaesenc ymm\\r, ymm14, ymm15", "vpclmulqdq ymm12, ymm14, ymm15, 0";
    aes_clmul_512 "vzeroupper": "vaesenc zmm\\r, zmm14, zmm15", "vpclmulqdq zmm12, zmm14, zmm15, 0";
    aes256_clmul_512 "vzeroupper": "vaesenc ymm\\r, ymm14, ymm15", "vpclmulqdq zmm12, zmm14, zmm15, 0";
    aes512_clmul_256 "vzeroupper": "vaesenc zmm\\r, zmm14, zmm15", "vpclmulqdq ymm12, ymm14, ymm15, 0";
    aes_pxor_128 "": "aesenc xmm\\r, xmm15", "movdqa xmm12, xmm14", "pxor xmm12, xmm15";
    aes_pxor_256 "vzeroupper": "vaesenc ymm\\r, ymm14, ymm15", "vpxor ymm12, ymm14, ymm15";
    aes_pxor_512 "vzeroupper": "vaesenc zmm\\r, zmm14, zmm15", "vpxorq zmm12, zmm14, zmm15";
    clmul_pxor_128 "": "pclmulqdq xmm\\r, xmm15, 0", "movdqa xmm12, xmm14", "pxor xmm12, xmm15";
    clmul_pxor_256 "vzeroupper": "vpclmulqdq ymm\\r, ymm14, ymm15, 0", "vpxor ymm12, ymm14, ymm15";
    clmul_pxor_512 "vzeroupper": "vpclmulqdq zmm\\r, zmm14, zmm15, 0", "vpxorq zmm12, zmm14, zmm15";
    aes_gfni_256 "vzeroupper": "vaesenc ymm\\r, ymm14, ymm15",
        "vgf2p8affineinvqb ymm12, ymm14, ymm15, 0";
    aes_gfni_512 "vzeroupper": "vaesenc zmm\\r, zmm14, zmm15",
        "vgf2p8affineinvqb zmm12, zmm14, zmm15, 0";
    aes256_aes_512 "vzeroupper": "vaesenc ymm\\r, ymm14, ymm15", "vaesenc zmm12, zmm14, zmm15";

    // Loads and stores in the first-level cache.
    load_128 "": "movups xmm\\r, [rdi + 16 * \\r]";
    load_256 "vzeroupper": "vmovups ymm\\r, [rdi + 32 * \\r]";
    load_512 "vzeroupper": "vmovups zmm\\r, [rdi + 64 * \\r]";
    store_128 "": "movups [rdi + 16 * \\r], xmm\\r";
    store_256 "vzeroupper": "vmovups [rdi + 32 * \\r], ymm\\r";
    store_512 "vzeroupper": "vmovups [rdi + 64 * \\r], zmm\\r";
    copy_128 "": "movups xmm\\r, [rdi + 16 * \\r]", "movups [rdi + 2048 + 16 * \\r], xmm\\r";
    copy_256 "vzeroupper": "vmovups ymm\\r, [rdi + 32 * \\r]", "vmovups [rdi + 2048 + 32 * \\r], ymm\\r";
    copy_512 "vzeroupper": "vmovups zmm\\r, [rdi + 64 * \\r]", "vmovups [rdi + 2048 + 64 * \\r], zmm\\r";
}

/// The implicit third operand is register 0, so the twelve registers are others.
pub(crate) unsafe fn sha256rnds2(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe {
        looped!(
            rounds,
            at,
            "",
            ".rept 8",
            ".irp r,1,2,3,4,5,6,7,8,9,10,11,12",
            "sha256rnds2 xmm\\r, xmm15",
            ".endr",
            ".endr"
        )
    }
}

scalar! {
    add_64: "add \\r, rsi";
    imul_64: "imul \\r, rsi, 3";
    mulx_64: "mulx rax, \\r, rsi";
    crc32_64: "xor \\r, \\r", "crc32 \\r, rsi";
    load_64: "mov \\r, [rdi + 64]";
    store_64: "mov [rdi + 64], \\r";
}

chain! {
    aesenc_latency "": "aesenc xmm0, xmm15";
    aesenc_256_latency "vzeroupper": "vaesenc ymm0, ymm0, ymm15";
    aesenc_512_latency "vzeroupper": "vaesenc zmm0, zmm0, zmm15";
    aesdec_latency "": "aesdec xmm0, xmm15";
    aesenclast_latency "": "aesenclast xmm0, xmm15";
    aesenc_key_latency "vzeroupper": "vaesenc xmm0, xmm15, xmm0";
    clmul_latency "": "pclmulqdq xmm0, xmm15, 0";
    clmul_256_latency "vzeroupper": "vpclmulqdq ymm0, ymm0, ymm15, 0";
    clmul_512_latency "vzeroupper": "vpclmulqdq zmm0, zmm0, zmm15, 0";
    pxor_latency "": "pxor xmm0, xmm15";
    pxor_512_latency "vzeroupper": "vpxorq zmm0, zmm0, zmm15";
    ternlog_latency "vzeroupper": "vpternlogd zmm0, zmm14, zmm15, 0x96";
    pshufb_latency "": "pshufb xmm0, xmm15";
    paddd_latency "": "paddd xmm0, xmm15";
    paddq_latency "": "paddq xmm0, xmm15";
    prold_latency "vzeroupper": "vprold xmm0, xmm0, 7";
    pmuludq_latency "": "pmuludq xmm0, xmm15";
    madd52_latency "vzeroupper": "vpmadd52luq ymm0, ymm0, ymm15";
    gf2p8affineinv_latency "": "gf2p8affineinvqb xmm0, xmm15, 0";
    sha256msg1_latency "": "sha256msg1 xmm0, xmm15";
    sha256msg2_latency "": "sha256msg2 xmm0, xmm15";
    add_latency "": "add rax, rsi";
    imul_latency "": "imul rax, rsi";
    mulx_latency "": "mulx rax, rdx, rsi";
    adc_latency "": "adc rax, rsi";
    crc32_latency "": "crc32 rax, rsi";
}

/// As SHA-256 uses it: the result of one is the second operand of the next and the first of the next
/// but one.
pub(crate) unsafe fn sha256rnds2_latency(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe {
        looped!(
            rounds,
            at,
            "",
            ".rept 48",
            "sha256rnds2 xmm1, xmm2",
            "sha256rnds2 xmm2, xmm1",
            ".endr"
        )
    }
}

pub(crate) unsafe fn sha512rnds2_latency(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe {
        looped!(
            rounds,
            at,
            "vzeroupper",
            ".rept 48",
            "vsha512rnds2 ymm1, ymm2, xmm15",
            "vsha512rnds2 ymm2, ymm1, xmm15",
            ".endr"
        )
    }
}

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

/// A chain of AES rounds that begins anew after [`WINDOW_STEPS`]: how much of two chains overlaps.
pub(crate) unsafe fn vector_window(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe {
        looped!(rounds, at, "", "movdqa xmm0, xmm14", ".rept 600", "aesenc xmm0, xmm15", ".endr")
    }
}

/// The same of multiplications.
pub(crate) unsafe fn scalar_window(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe { looped!(rounds, at, "", "mov eax, 3", ".rept 600", "imul rax, rax", ".endr") }
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
