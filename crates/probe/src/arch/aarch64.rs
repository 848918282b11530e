//! AArch64: the virtual counter, chains of additions and of exclusive ors and subtractions, independent ALU
//! instructions.

use std::arch::asm;
use std::ops::RangeInclusive;

/// The counter's name in records.
pub(crate) const COUNTER: &str = "cntvct";

/// A slower counter than this would ask for samples of a millisecond. All known ones run at 19.2 MHz and more.
const SLOWEST_HZ: u64 = 1_000_000;

/// Ticks of the counter in a second, as the firmware has set it down (CNTFRQ_EL0).
fn frequency_hz() -> u64 {
    let rate: u64;
    // SAFETY: Linux lets programs read CNTFRQ_EL0.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack)) };
    rate
}

/// Why the counter cannot be used; `None` when it can. The architecture has it count at a constant rate
/// (Arm ARM, D12.1: the system counter).
pub(crate) fn counter_unusable() -> Option<String> {
    let rate = frequency_hz();
    (rate < SLOWEST_HZ).then(|| format!("the counter runs at {rate} Hz (CNTFRQ_EL0)"))
}

/// Ticks of the counter in a nanosecond, for how long what is timed must be.
pub(crate) fn counter_per_ns() -> Option<f64> {
    Some(frequency_hz() as f64 / 1e9)
}

/// Time stamp before the timed region: what came before is done, what comes after has not begun. ISB waits for
/// everything before it; without it the counter may be read ahead of its turn (Arm ARM, D12.2.2).
#[inline(always)]
pub(crate) fn counter_begin() -> u64 {
    let t: u64;
    // SAFETY: Linux lets programs read CNTVCT_EL0.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) t, options(nostack)) };
    t
}

/// Time stamp after the timed region: all of the region is done when it is taken.
#[inline(always)]
pub(crate) fn counter_end() -> u64 {
    counter_begin()
}

/// Additions in a round of the chain.
pub(crate) const CHAIN_LINKS: f64 = 300.0;

/// Latencies of `ADD (register)` without a shift: one cycle on every core whose optimisation guide Arm has published,
/// from Cortex-A53 to Neoverse V2. `MUL` takes two to five, `ROR` one to three.
pub(crate) const LINK_CYCLES: RangeInclusive<i32> = 1..=1;
/// What nearly all cores take.
pub(crate) const USUAL_CYCLES: f64 = 1.0;
/// In words: what the chain is made of, and the simple chain.
pub(crate) const LINK_NAME: &str = "an addition";
pub(crate) const SIMPLE_NAME: &str = "an exclusive or or a subtraction";

/// A chain of dependent additions.
#[inline(always)]
pub(crate) fn latency_chain(rounds: u64) {
    // SAFETY: touches only its own registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 300",
            "add {x}, {x}, {y}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 3_u64 => _,
            y = in(reg) 5_u64,
            n = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}

/// Cycles that a round of [`simple_chain`] takes.
pub(crate) const SIMPLE_ROUND_CYCLES: f64 = 100.0;

/// A chain of exclusive ors and subtractions in turn, one cycle each: two kinds, neither of which any core is known
/// to fold at rename.
#[inline(always)]
pub(crate) fn simple_chain(rounds: u64) {
    // SAFETY: touches only its own registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 50",
            "eor {x}, {x}, {y}",
            "sub {x}, {x}, {z}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 3_u64 => _,
            y = in(reg) 5_u64,
            z = in(reg) 7_u64,
            n = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}

const BLOCK_ROUNDS: u64 = 16;

/// Instructions that [`independent_block`] runs, the loop's own two per round left out.
pub(crate) const BLOCK_INSTRUCTIONS: f64 = BLOCK_ROUNDS as f64 * 600.0;

/// What a busy sibling hardware thread slows and no clock shows: the front end. Few AArch64 cores have siblings
/// (ThunderX2, Neoverse E1); two rotations and four no-ops in six keep all others at their dispatch width.
#[inline(always)]
pub(crate) fn independent_block() {
    // SAFETY: touches only its own registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 100",
            "ror {a}, {a}, #7",
            "nop",
            "nop",
            "ror {b}, {b}, #9",
            "nop",
            "nop",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            a = inout(reg) 1_u64 => _,
            b = inout(reg) 2_u64 => _,
            n = inout(reg) BLOCK_ROUNDS => _,
            options(nomem, nostack)
        );
    }
}

/// Has the instruction cache see code that was just written (Arm ARM, B2.7.4: clean each line of data to the point of
/// unification, then invalidate the instructions; CTR_EL0 has the lengths of lines, and Linux allows all of it).
///
/// # Safety
/// The bytes are mapped and readable.
pub(crate) unsafe fn written_code(begin: *const u8, len: usize) {
    let ctr: u64;
    // SAFETY: Linux lets programs read CTR_EL0.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack)) };
    // Both are given as the binary logarithm of words of four bytes.
    let (data, code) = (4_usize << (ctr >> 16 & 15), 4_usize << (ctr & 15));
    let lines = |line: usize| ((begin.addr() & !(line - 1))..begin.addr() + len).step_by(line);
    for at in lines(data) {
        // SAFETY: the line is mapped, as the caller promises.
        unsafe { asm!("dc cvau, {}", in(reg) at, options(nostack)) };
    }
    // SAFETY: a barrier.
    unsafe { asm!("dsb ish", options(nostack)) };
    for at in lines(code) {
        // SAFETY: as above.
        unsafe { asm!("ic ivau, {}", in(reg) at, options(nostack)) };
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", "isb", options(nostack)) };
}
