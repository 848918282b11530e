//! Walks through memory: every byte of a buffer loaded, stored or copied once.

use std::arch::asm;

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
    copy_128 "" "0,1,2,3,4,5,6,7": "movups xmm0, [rsi + 64 * \\r]", "movups xmm1, [rsi + 64 * \\r + 16]",
        "movups xmm2, [rsi + 64 * \\r + 32]", "movups xmm3, [rsi + 64 * \\r + 48]",
        "movups [rdi + 64 * \\r], xmm0", "movups [rdi + 64 * \\r + 16], xmm1",
        "movups [rdi + 64 * \\r + 32], xmm2", "movups [rdi + 64 * \\r + 48], xmm3";
    copy_256 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups ymm0, [rsi + 64 * \\r]", "vmovups ymm1, [rsi + 64 * \\r + 32]",
        "vmovups [rdi + 64 * \\r], ymm0", "vmovups [rdi + 64 * \\r + 32], ymm1";
    copy_512 "vzeroupper" "0,1,2,3,4,5,6,7": "vmovups zmm\\r, [rsi + 64 * \\r]", "vmovups [rdi + 64 * \\r], zmm\\r";
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
