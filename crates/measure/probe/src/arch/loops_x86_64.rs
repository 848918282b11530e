//! The loops inside the clock, in assembly and near the code that they call.
//!
//! In assembly, so that every build of ciphermark has the same loop at the same alignment. Near,
//! because a call and its return across more than four gigabytes, as from an executable into a
//! shared object, costs some cores three to four cycles more (seen on Zen 4: 9 cycles round trip
//! against 5 to 6), which is the caller's address and not the library's work. The loops are copied
//! into memory from the region that shared objects are mapped in, and used from there for functions
//! that lie there too.

use super::{ControlLoop, MessageLoop, UpdateLoop};
use crate::control::Control;
use crate::ring::{NONCE_AT, RING, RING_BYTES, SLOT_BYTES};
use contract::raw::Message;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use std::arch::global_asm;
use std::mem::offset_of;
use std::sync::OnceLock;

// System V ABI AMD64 §3.2: arguments in rdi, rsi, rdx, rcx, r8; rbx, rbp, r12 to r15 are kept by
// the callee; the stack is aligned to 16 bytes at each call. Nothing here is relative to an address
// outside of the copied bytes.
global_asm!(
    ".pushsection .text",
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

unsafe extern "C" {
    static ciphermark_loops_begin: u8;
    static ciphermark_loops_end: u8;
    fn ciphermark_message_loop_fresh();
    fn ciphermark_message_loop_same();
    fn ciphermark_walk_loop_fresh();
    fn ciphermark_walk_loop_same();
    fn ciphermark_rekey_loop_fresh();
    fn ciphermark_rekey_loop_same();
    fn ciphermark_rekey_walk_loop_fresh();
    fn ciphermark_rekey_walk_loop_same();
    fn ciphermark_update_loop();
}

/// The loop for messages whose function lies at `function`; `fresh` raises the nonces.
pub(crate) fn message_loop(function: usize, fresh: bool) -> MessageLoop {
    let original: unsafe extern "C" fn() =
        if fresh { ciphermark_message_loop_fresh } else { ciphermark_message_loop_same };
    let loop_at = nearest(function, original as *const () as usize);
    // SAFETY: the address is that of the loop above or of its copy, which is this type.
    unsafe { std::mem::transmute::<usize, MessageLoop>(loop_at) }
}

/// The loop for what `control` says.
pub(crate) fn control_loop(control: &Control) -> ControlLoop {
    let original: unsafe extern "C" fn() =
        match (control.rekey.is_some(), control.walk.is_walked(), control.fresh) {
            (false, _, true) => ciphermark_walk_loop_fresh,
            (false, _, false) => ciphermark_walk_loop_same,
            (true, false, true) => ciphermark_rekey_loop_fresh,
            (true, false, false) => ciphermark_rekey_loop_same,
            (true, true, true) => ciphermark_rekey_walk_loop_fresh,
            (true, true, false) => ciphermark_rekey_walk_loop_same,
        };
    let loop_at = nearest(control.call as *const () as usize, original as *const () as usize);
    // SAFETY: the address is that of the loop above or of its copy, which is this type.
    unsafe { std::mem::transmute::<usize, ControlLoop>(loop_at) }
}

/// The loop for updates whose function lies at `function`.
pub(crate) fn update_loop(function: usize) -> UpdateLoop {
    let loop_at = nearest(function, ciphermark_update_loop as *const () as usize);
    // SAFETY: the address is that of the loop above or of its copy, which is this type.
    unsafe { std::mem::transmute::<usize, UpdateLoop>(loop_at) }
}

/// Of the loop in the executable and its copy, the one that is nearer to the function.
fn nearest(function: usize, original: usize) -> usize {
    static COPY: OnceLock<Option<usize>> = OnceLock::new();
    let begin = (&raw const ciphermark_loops_begin).addr();
    let Some(copy) = COPY.get_or_init(copy_loops) else { return original };
    let copied = copy + (original - begin);
    if copied.abs_diff(function) < original.abs_diff(function) { copied } else { original }
}

/// Copies the loops into memory of their own, which stays for good; `None` where the system allows
/// no new executable memory, and the executable's own loops serve.
fn copy_loops() -> Option<usize> {
    let begin = &raw const ciphermark_loops_begin;
    let len = (&raw const ciphermark_loops_end).addr() - begin.addr();
    // SAFETY: a fresh private mapping at an address of the kernel's choice, filled with the bytes
    // between two labels of our own code and then made executable; nothing writes to it later.
    unsafe {
        let map = mmap_anonymous(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
        .ok()?;
        std::ptr::copy_nonoverlapping(begin, map.cast::<u8>(), len);
        mprotect(map, len, MprotectFlags::READ | MprotectFlags::EXEC).ok()?;
        Some(map.addr())
    }
}
