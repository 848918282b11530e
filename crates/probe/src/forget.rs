//! What other code has taught the core.

use crate::clock::Clock;
use std::arch::asm;

/// Has the core forget which way branches went: by going through 16,384 of them, each at an address of its own, that nobody
/// can foresee. About 65 µs.
// Never inlined: the compiler takes the assembly for short, and aarch64's branches across it would not reach.
#[inline(never)]
pub fn forget_branches(clock: &Clock) {
    let state = clock.begin().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    // G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003), number 14. Eight of its bits decide.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the branches go to the next instruction but one; nothing is changed but two registers and flags.
    unsafe {
        asm!(
            ".macro way bit",
            "bt {s}, \\bit",
            "jc 2f",
            "nop",
            "2:",
            ".endm",
            ".rept 2048",
            "mov {t}, {s}",
            "shl {t}, 13",
            "xor {s}, {t}",
            "mov {t}, {s}",
            "shr {t}, 7",
            "xor {s}, {t}",
            "mov {t}, {s}",
            "shl {t}, 17",
            "xor {s}, {t}",
            ".irp bit, 0, 3, 6, 9, 12, 15, 18, 21",
            "way \\bit",
            ".endr",
            ".endr",
            ".purgem way",
            s = inout(reg) state => _,
            t = out(reg) _,
            options(nomem, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        asm!(
            ".macro way bit",
            "tbnz {s}, #\\bit, 2f",
            "nop",
            "2:",
            ".endm",
            ".rept 2048",
            "eor {s}, {s}, {s}, lsl #13",
            "eor {s}, {s}, {s}, lsr #7",
            "eor {s}, {s}, {s}, lsl #17",
            ".irp bit, 0, 3, 6, 9, 12, 15, 18, 21",
            "way \\bit",
            ".endr",
            ".endr",
            ".purgem way",
            s = inout(reg) state => _,
            options(nomem, nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::hint::black_box(state);
}
