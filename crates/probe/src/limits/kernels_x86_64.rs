//! Blocks of one instruction, or of two in turn, in loops: what throughputs and latencies are read
//! from. In assembly, so that every build of ciphermark times the same instructions.
//!
//! Independent instructions are so in one of two ways: those with three operands read constant
//! registers only; those with two work on twelve registers in turn, which covers a latency of four
//! cycles at three a cycle. Of general registers there are eight, too few for three cycles at three a
//! cycle (Zen 5's multiplications and CRCs): what takes so long reads constants there, or what was
//! set to zero just before. Only registers 0 to 15 are used: the others would need a compiler that
//! knows AVX-512.

use std::arch::asm;

/// A loop of `rounds` blocks. `at` points to [`SCRATCH`] writable bytes, aligned to a cache line.
pub(super) type Kernel = unsafe fn(rounds: u64, at: *mut u8);

/// Bytes that kernels may touch: twelve lines to load, and twelve to store half a page further on, so
/// that no load's address ends like an earlier store's.
pub(super) const SCRATCH: usize = 4096;

/// Instructions in a block of independent ones; pairs: of each kind.
pub(super) const BLOCK: f64 = 96.0;

/// Steps of the chain between two beginnings in [`vector_window`] and [`scalar_window`]: several
/// times what today's schedulers hold (64 to 200), so that a chain never overlaps with the next
/// but one.
pub(super) const WINDOW_STEPS: f64 = 600.0;

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
        pub(super) unsafe fn $name(rounds: u64, at: *mut u8) {
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
        pub(super) unsafe fn $name(rounds: u64, at: *mut u8) {
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
        pub(super) unsafe fn $name(rounds: u64, at: *mut u8) {
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
pub(super) unsafe fn sha256rnds2(rounds: u64, at: *mut u8) {
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
pub(super) unsafe fn sha256rnds2_latency(rounds: u64, at: *mut u8) {
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

/// As [`sha256rnds2_latency`].
pub(super) unsafe fn sha512rnds2_latency(rounds: u64, at: *mut u8) {
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
pub(super) unsafe fn load_latency(rounds: u64, at: *mut u8) {
    // SAFETY: as above; the word lies within the scratch and is aligned.
    unsafe {
        let own = at.add(3072);
        own.cast::<*mut u8>().write(own);
        looped!(rounds, own, "", ".rept 96", "mov rdi, [rdi]", ".endr")
    }
}

/// A chain of AES rounds that begins anew after [`WINDOW_STEPS`]: how much of two chains overlaps.
pub(super) unsafe fn vector_window(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe {
        looped!(rounds, at, "", "movdqa xmm0, xmm14", ".rept 600", "aesenc xmm0, xmm15", ".endr")
    }
}

/// The same of multiplications.
pub(super) unsafe fn scalar_window(rounds: u64, at: *mut u8) {
    // SAFETY: as above.
    unsafe { looped!(rounds, at, "", "mov eax, 3", ".rept 600", "imul rax, rax", ".endr") }
}
