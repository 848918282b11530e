//! Walks through memory: every byte of a buffer loaded, stored or copied once.

use std::arch::asm;

/// A walk over `bytes` from `from`, or to `to`, or both. `bytes` is a positive multiple of
/// [`STRIDE`]; both pointers are aligned to it.
pub(crate) type Walk = unsafe fn(bytes: usize, from: *const u8, to: *mut u8);

/// Bytes of one turn of a walk: eight lines, so that the loop's own instructions do not count. SVE's registers may be
/// up to a quarter of it.
pub(crate) const STRIDE: usize = 512;

/// A loop with X1 where it reads, X2 where it writes, and X9 for what it goes on by.
macro_rules! looped {
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
                looped!(bytes, from, to, "mov x9, #512", ".irp r,0,1,2,3,4,5,6,7", $($line),+, ".endr")
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
    copy_128: "ldr q0, [x1, #64 * \\r]", "ldr q1, [x1, #64 * \\r + 16]", "ldr q2, [x1, #64 * \\r + 32]",
        "ldr q3, [x1, #64 * \\r + 48]", "str q0, [x2, #64 * \\r]", "str q1, [x2, #64 * \\r + 16]",
        "str q2, [x2, #64 * \\r + 32]", "str q3, [x2, #64 * \\r + 48]";
    copy_256: "ldp q0, q1, [x1, #64 * \\r]", "ldp q2, q3, [x1, #64 * \\r + 32]",
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
            unsafe { looped!(bytes, from, to, "rdvl x9, #4", ".irp r,0,1,2,3", $($line),+, ".endr") }
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
    let Some(block) = crate::limits::aarch64::zeroed_bytes() else { return };
    for at in (0..bytes).step_by(block) {
        // SAFETY: the block lies within the caller's buffer, both of which are aligned to it.
        unsafe { asm!("dc zva, {}", in(reg) to.add(at), options(nostack)) };
    }
}
