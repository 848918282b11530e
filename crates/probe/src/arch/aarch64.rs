//! AArch64: the loops inside the clock; the virtual counter, chains of additions and of exclusive ors and
//! subtractions, and independent ALU instructions.
//!
//! In assembly, so that every build of ciphermark has the same loop at the same alignment; [`super::near`] says
//! why near.

use crate::arch::{Control, NONCE_AT, RING, RING_BYTES, SLOT_BYTES};
use contract::raw::Message;
use std::arch::{asm, global_asm};
use std::mem::offset_of;
use std::ops::RangeInclusive;

// AAPCS64 §6: arguments in x0 to x7; x19 to x29 and the stack are kept by the callee; the stack is aligned to
// 16 bytes. Nothing here is relative to an address outside of the copied bytes.
// x19: function, x20: state, x21: descriptor, w22: operations left, w23: expected code, w24: codes so far,
// x25: `Control`.
global_asm!(
    ".pushsection .text",
    // Whichever part of this crate the compiler puts them into, the rest finds them, and nobody else does.
    ".irp name,loops_begin,loops_end,message_loop_fresh,message_loop_same,walk_loop_fresh,walk_loop_same,\
     rekey_loop_fresh,rekey_loop_same,rekey_walk_loop_fresh,rekey_walk_loop_same,update_loop",
    ".globl ciphermark_\\name",
    ".hidden ciphermark_\\name",
    ".endr",
    ".macro ciphermark_enter",
    "hint #34", // BTI c
    "stp x29, x30, [sp, #-80]!",
    "mov x29, sp",
    "stp x19, x20, [sp, #16]",
    "stp x21, x22, [sp, #32]",
    "stp x23, x24, [sp, #48]",
    "str x25, [sp, #64]",
    "mov w24, #0",
    ".endm",
    ".macro ciphermark_leave",
    "mov w0, w24",
    "ldr x25, [sp, #64]",
    "ldp x23, x24, [sp, #48]",
    "ldp x21, x22, [sp, #32]",
    "ldp x19, x20, [sp, #16]",
    "ldp x29, x30, [sp], #80",
    "ret",
    ".endm",
    ".macro ciphermark_next_descriptor",
    "add x9, x21, #{slot}",
    "and x9, x9, #({ring_bytes} - 1)",
    "and x21, x21, #-{ring_bytes}",
    "orr x21, x21, x9",
    ".endm",
    ".p2align 6",
    "ciphermark_loops_begin:",
    // x0: function, x1: state, x2: descriptor, w3: operations, w4: expected return code
    ".macro ciphermark_message_loop fresh",
    "ciphermark_enter",
    "mov x19, x0",
    "mov x20, x1",
    "mov x21, x2",
    "mov w22, w3",
    "mov w23, w4",
    "cbz w22, 3f",
    ".p2align 6",
    "2:",
    "mov x0, x20",
    "mov x1, x21",
    "blr x19",
    "eor w0, w0, w23",
    "orr w24, w24, w0",
    ".if \\fresh",
    "ldr x9, [x21, #{nonce_at}]",
    "add x9, x9, #{ring}",
    "str x9, [x21, #{nonce_at}]",
    ".endif",
    "ciphermark_next_descriptor",
    "subs w22, w22, #1",
    "b.ne 2b",
    "3:",
    "ciphermark_leave",
    ".endm",
    ".p2align 6",
    "ciphermark_message_loop_fresh:",
    "ciphermark_message_loop 1",
    ".p2align 6",
    "ciphermark_message_loop_same:",
    "ciphermark_message_loop 0",
    ".p2align 6",
    // x0: `Control`, w1: operations. Walks through memory, sets a new key before each message, or both.
    ".macro ciphermark_control_loop fresh, walk, rekey",
    "ciphermark_enter",
    "mov x25, x0",
    "mov w22, w1",
    "ldr x19, [x25, #{call}]",
    "ldr x20, [x25, #{state}]",
    "ldr x21, [x25, #{at}]",
    "cbz w22, 3f",
    ".p2align 6",
    "2:",
    ".if \\walk",
    // The place's number is a full-period congruential sequence.
    "ldr x9, [x25, #{place}]",
    "ldr x10, [x25, #{factor}]",
    "ldr x11, [x25, #{summand}]",
    "madd x9, x9, x10, x11",
    "ldr x10, [x25, #{mask}]",
    "and x9, x9, x10",
    "str x9, [x25, #{place}]",
    "ldr x10, [x25, #{input_stride}]",
    "ldr x11, [x25, #{input}]",
    "madd x10, x9, x10, x11",
    "str x10, [x21, #{message_input}]",
    "ldr x10, [x25, #{output_stride}]",
    "ldr x11, [x25, #{output}]",
    "madd x10, x9, x10, x11",
    "str x10, [x21, #{message_output}]",
    "ldr x10, [x25, #{tag_stride}]",
    "ldr x11, [x25, #{tag}]",
    "madd x10, x9, x10, x11",
    "str x10, [x21, #{message_tag}]",
    ".endif",
    ".if \\rekey",
    "ldr x9, [x25, #{to_key}]",
    "mov x0, x20",
    "add x1, x21, x9",
    "ldr x9, [x25, #{rekey}]",
    "blr x9",
    "orr w24, w24, w0",
    ".endif",
    "mov x0, x20",
    "mov x1, x21",
    "blr x19",
    "ldr w9, [x25, #{expected}]",
    "eor w0, w0, w9",
    "orr w24, w24, w0",
    ".if \\fresh",
    "ldr x9, [x21, #{nonce_at}]",
    "add x9, x9, #{ring}",
    "str x9, [x21, #{nonce_at}]",
    ".if \\rekey",
    "ldr x10, [x25, #{to_key}]",
    "ldr x9, [x21, x10]",
    "add x9, x9, #{ring}",
    "str x9, [x21, x10]",
    ".endif",
    ".endif",
    "ciphermark_next_descriptor",
    "subs w22, w22, #1",
    "b.ne 2b",
    "3:",
    "str x21, [x25, #{at}]",
    "ciphermark_leave",
    ".endm",
    ".p2align 6",
    "ciphermark_walk_loop_fresh:",
    "ciphermark_control_loop 1, 1, 0",
    ".p2align 6",
    "ciphermark_walk_loop_same:",
    "ciphermark_control_loop 0, 1, 0",
    ".p2align 6",
    "ciphermark_rekey_loop_fresh:",
    "ciphermark_control_loop 1, 0, 1",
    ".p2align 6",
    "ciphermark_rekey_loop_same:",
    "ciphermark_control_loop 0, 0, 1",
    ".p2align 6",
    "ciphermark_rekey_walk_loop_fresh:",
    "ciphermark_control_loop 1, 1, 1",
    ".p2align 6",
    "ciphermark_rekey_walk_loop_same:",
    "ciphermark_control_loop 0, 1, 1",
    ".p2align 6",
    // x0: function, x1: state, x2: buffer, x3: length, w4: operations
    "ciphermark_update_loop:",
    "ciphermark_enter",
    "mov x19, x0",
    "mov x20, x1",
    "mov x21, x2",
    "mov x25, x3",
    "mov w22, w4",
    "cbz w22, 3f",
    ".p2align 6",
    "2:",
    "mov x0, x20",
    "mov x1, x21",
    "mov x2, x21",
    "mov x3, x25",
    "blr x19",
    "orr w24, w24, w0",
    "subs w22, w22, #1",
    "b.ne 2b",
    "3:",
    "ciphermark_leave",
    "ciphermark_loops_end:",
    ".popsection",
    nonce_at = const NONCE_AT,
    ring = const RING,
    slot = const SLOT_BYTES,
    ring_bytes = const RING_BYTES,
    call = const offset_of!(Control, call),
    state = const offset_of!(Control, state),
    at = const offset_of!(Control, at),
    expected = const offset_of!(Control, expected),
    rekey = const offset_of!(Control, rekey),
    to_key = const offset_of!(Control, to_key),
    place = const offset_of!(Control, walk.place),
    factor = const offset_of!(Control, walk.factor),
    summand = const offset_of!(Control, walk.summand),
    mask = const offset_of!(Control, walk.mask),
    input = const offset_of!(Control, walk.input),
    input_stride = const offset_of!(Control, walk.input_stride),
    output = const offset_of!(Control, walk.output),
    output_stride = const offset_of!(Control, walk.output_stride),
    tag = const offset_of!(Control, walk.tag),
    tag_stride = const offset_of!(Control, walk.tag_stride),
    message_input = const offset_of!(Message, input),
    message_output = const offset_of!(Message, output),
    message_tag = const offset_of!(Message, tag),
);

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
