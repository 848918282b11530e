//! x86-64: the loops inside the clock; the time-stamp counter, `imul` chains and independent ALU
//! instructions.
//!
//! In assembly, so that every build of ciphermark has the same loop at the same alignment; [`super::near`] says
//! why near.

use crate::arch::{Control, NONCE_AT, RING, RING_BYTES, SLOT_BYTES};
use contract::raw::Message;
use raw_cpuid::CpuId;
use std::arch::x86_64::{__rdtscp, _mm_lfence};
use std::arch::{asm, global_asm};
use std::mem::offset_of;
use std::ops::RangeInclusive;

// System V ABI AMD64 §3.2: arguments in rdi, rsi, rdx, rcx, r8; rbx, rbp, r12 to r15 are kept by
// the callee; the stack is aligned to 16 bytes at each call. Nothing here is relative to an address
// outside of the copied bytes.
global_asm!(
    ".pushsection .text",
    // Whichever part of this crate the compiler puts them into, the rest finds them, and nobody else does.
    ".irp name,loops_begin,loops_end,message_loop_fresh,message_loop_same,walk_loop_fresh,walk_loop_same,\
     rekey_loop_fresh,rekey_loop_same,rekey_walk_loop_fresh,rekey_walk_loop_same,update_loop",
    ".globl ciphermark_\\name",
    ".hidden ciphermark_\\name",
    ".endr",
    ".macro ciphermark_enter",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    ".endm",
    ".macro ciphermark_leave",
    "mov eax, ebp",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    ".endm",
    ".macro ciphermark_next_descriptor",
    "lea eax, [r14 + {slot}]",
    "and eax, {ring_bytes} - 1",
    "and r14, -{ring_bytes}",
    "or r14, rax",
    ".endm",
    ".p2align 6",
    "ciphermark_loops_begin:",
    // rdi: function, rsi: state, rdx: descriptor, ecx: operations, r8d: expected return code
    ".macro ciphermark_message_loop fresh",
    "ciphermark_enter",
    "mov r12, rdi",
    "mov r13, rsi",
    "mov r14, rdx",
    "mov ebx, ecx",
    "mov r15d, r8d",
    "xor ebp, ebp",
    "test ebx, ebx",
    "jz 3f",
    ".p2align 6",
    "2:",
    "mov rdi, r13",
    "mov rsi, r14",
    "call r12",
    "xor eax, r15d",
    "or ebp, eax",
    ".if \\fresh",
    "add qword ptr [r14 + {nonce_at}], {ring}",
    ".endif",
    "ciphermark_next_descriptor",
    "dec ebx",
    "jnz 2b",
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
    // rdi: `Control`, esi: operations. Walks through memory, sets a new key before each message, or
    // both.
    ".macro ciphermark_control_loop fresh, walk, rekey",
    "ciphermark_enter",
    "mov r15, rdi",
    "mov ebx, esi",
    "mov r12, [r15 + {call}]",
    "mov r13, [r15 + {state}]",
    "mov r14, [r15 + {at}]",
    "xor ebp, ebp",
    "test ebx, ebx",
    "jz 3f",
    ".p2align 6",
    "2:",
    ".if \\walk",
    // The place's number is a full-period congruential sequence.
    "mov rax, [r15 + {place}]",
    "imul rax, [r15 + {factor}]",
    "add rax, [r15 + {summand}]",
    "and rax, [r15 + {mask}]",
    "mov [r15 + {place}], rax",
    "mov rcx, rax",
    "imul rcx, [r15 + {input_stride}]",
    "add rcx, [r15 + {input}]",
    "mov [r14 + {message_input}], rcx",
    "mov rdx, rax",
    "imul rdx, [r15 + {output_stride}]",
    "add rdx, [r15 + {output}]",
    "mov [r14 + {message_output}], rdx",
    "imul rax, [r15 + {tag_stride}]",
    "add rax, [r15 + {tag}]",
    "mov [r14 + {message_tag}], rax",
    ".endif",
    ".if \\rekey",
    "mov rdi, r13",
    "mov rsi, r14",
    "add rsi, [r15 + {to_key}]",
    "call [r15 + {rekey}]",
    "or ebp, eax",
    ".endif",
    "mov rdi, r13",
    "mov rsi, r14",
    "call r12",
    "xor eax, [r15 + {expected}]",
    "or ebp, eax",
    ".if \\fresh",
    "add qword ptr [r14 + {nonce_at}], {ring}",
    ".if \\rekey",
    "mov rax, [r15 + {to_key}]",
    "add qword ptr [r14 + rax], {ring}",
    ".endif",
    ".endif",
    "ciphermark_next_descriptor",
    "dec ebx",
    "jnz 2b",
    "3:",
    "mov [r15 + {at}], r14",
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
    // rdi: function, rsi: state, rdx: buffer, rcx: length, r8d: operations
    "ciphermark_update_loop:",
    "ciphermark_enter",
    "mov r12, rdi",
    "mov r13, rsi",
    "mov r14, rdx",
    "mov r15, rcx",
    "mov ebx, r8d",
    "xor ebp, ebp",
    "test ebx, ebx",
    "jz 3f",
    ".p2align 6",
    "2:",
    "mov rdi, r13",
    "mov rsi, r14",
    "mov rdx, r14",
    "mov rcx, r15",
    "call r12",
    "or ebp, eax",
    "dec ebx",
    "jnz 2b",
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

pub(crate) const COUNTER: &str = "tsc";

/// Its steps are of 10 ns at most: nothing that is timed need be longer for them.
pub(crate) fn counter_per_ns() -> Option<f64> {
    None
}

/// Why the time-stamp counter cannot be used; `None` when it can.
///
/// Intel SDM vol. 3B §18.17.1, AMD APM vol. 2 §13.2.4: CPUID 8000_0007h EDX[8] says that it runs
/// at a constant rate in every power state.
pub(crate) fn counter_unusable() -> Option<String> {
    let cpu = CpuId::new();
    if !cpu.get_advanced_power_mgmt_info().is_some_and(|info| info.has_invariant_tsc()) {
        return Some("the time-stamp counter is not invariant (CPUID 8000_0007h)".to_owned());
    }
    let features = cpu.get_extended_processor_and_feature_identifiers();
    if !features.is_some_and(|features| features.has_rdtscp()) {
        return Some("the CPU has no RDTSCP".to_owned());
    }
    None
}

/// Time stamp before the timed region: nothing of the region starts before it is taken.
///
/// LFENCE before keeps earlier work out of the region, LFENCE after keeps the region's work behind
/// the reading (Intel SDM vol. 2B, RDTSCP; AMD APM vol. 3: LFENCE is dispatch-serialising).
#[inline(always)]
pub(crate) fn counter_begin() -> u64 {
    let mut aux = 0;
    // SAFETY: `counter_unusable` was asked when the clock was made; LFENCE is SSE2, which x86-64 has.
    unsafe {
        _mm_lfence();
        let t = __rdtscp(&raw mut aux);
        _mm_lfence();
        t
    }
}

/// Time stamp after the timed region: all of the region is done when it is taken.
#[inline(always)]
pub(crate) fn counter_end() -> u64 {
    counter_begin()
}

/// Multiplications in a round of the chain.
pub(crate) const CHAIN_LINKS: f64 = 100.0;

/// Latencies of `imul r64,r64` that cores are known to have: 3 on Intel's large cores and AMD's from Zen on,
/// 4 to 6 on AMD's before and on Intel's small ones (Agner Fog, Instruction tables; uops.info).
pub(crate) const LINK_CYCLES: RangeInclusive<i32> = 3..=6;
/// What nearly all cores take.
pub(crate) const USUAL_CYCLES: f64 = 3.0;
/// In words: what the chain is made of, and the simple chain.
pub(crate) const LINK_NAME: &str = "a multiplication";
pub(crate) const SIMPLE_NAME: &str = "a rotation or an exclusive or";

/// A chain of dependent multiplications. `imul r64,r64` has a latency of 3 cycles on Intel's cores from
/// Nehalem on and AMD's from Zen on (Agner Fog, Instruction tables; uops.info), 4 to 6 on others:
/// [`simple_chain`] tells. Chains of `add $imm`, `inc` and `lea` are folded at rename on Golden Cove and
/// later.
#[inline(always)]
pub(crate) fn latency_chain(rounds: u64) {
    // SAFETY: touches only its own two registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 100",
            "imul {x}, {x}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 3_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}

/// Cycles that a round of [`simple_chain`] takes.
pub(crate) const SIMPLE_ROUND_CYCLES: f64 = 100.0;

/// A chain of rotations and exclusive ors in turn, whose latency is one cycle on every x86-64 core: two
/// kinds, neither of which any core is known to fold at rename.
#[inline(always)]
pub(crate) fn simple_chain(rounds: u64) {
    // SAFETY: touches only its own three registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 50",
            "ror {x}, 7",
            "xor {x}, {c}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 3_u64 => _,
            c = in(reg) 5_u64,
            n = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}

/// How often the front end is filled: 9600 instructions.
const FILL_ROUNDS: u64 = 16;
const FILL_LEN: f64 = 600.0;
/// How often a pair of chains runs: 800 cycles on a quiet Zen 4, a third of the whole, so that chains that
/// take 1.4 times as long lower the reading by more than a tenth.
const WINDOW_ROUNDS: u64 = 8;
const WINDOW_LEN: f64 = 2.0 * (1.0 + 24.0 + 140.0);

/// Instructions that [`independent_block`] runs, the loops' own two per round left out.
pub(crate) const BLOCK_INSTRUCTIONS: f64 =
    FILL_ROUNDS as f64 * FILL_LEN + WINDOW_ROUNDS as f64 * WINDOW_LEN;

/// What a busy sibling hardware thread slows and no clock shows, in two parts.
///
/// The front end: a rotation, two zeroing idioms and three no-ops in six keep every current core at its dispatch width,
/// which a sibling shares. No more than one rotation: with two, which is all that Intel's cores have units for, Golden
/// Cove's ways of giving them to units take 3 to 22 % longer from one block to the next on a quiet core.
///
/// The reorder buffer: a core that runs two threads gives each half of it, however few instructions the
/// other executes. A chain of 24 multiplications waits 72 cycles and 140 zeroing idioms lie between it and
/// the next: the whole buffer of Zen 4 (320 entries) holds two such pieces, half of it none.
#[inline(always)]
pub(crate) fn independent_block() {
    // SAFETY: touches only its own registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 100",
            "ror {a}, 7",
            "xor {c:e}, {c:e}",
            "nop",
            "xor {c:e}, {c:e}",
            "nop",
            "nop",
            ".endr",
            "dec {n}",
            "jnz 2b",
            "3:",
            ".rept 2",
            "mov {a:e}, 3",
            ".rept 24",
            "imul {a}, {a}",
            ".endr",
            ".rept 140",
            "xor {c:e}, {c:e}",
            ".endr",
            ".endr",
            "dec {m}",
            "jnz 3b",
            a = inout(reg) 1_u64 => _,
            c = inout(reg) 3_u64 => _,
            n = inout(reg) FILL_ROUNDS => _,
            m = inout(reg) WINDOW_ROUNDS => _,
            options(nomem, nostack)
        );
    }
}

/// Code that was just written may be executed: processors of this architecture see to it.
///
/// # Safety
/// None is needed here; other architectures read the bytes.
pub(crate) unsafe fn written_code(_: *const u8, _: usize) {}
