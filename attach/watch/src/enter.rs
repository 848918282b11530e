//! The way into a watched call and out of it: places that the loader binds a function to, and the code between them
//! and the function. An outermost call is timed; one that another watched call makes goes straight on.
//!
//! Each place is a few instructions that say which one it is and jump to `enter`. That keeps the arguments, reads the
//! clock, calls the function, reads the clock, and hands what it saw to [`after`](crate::calls::after). Nothing is made
//! at run time: no page is writable and executable.
//!
//! `frame` is the stack pointer of the outermost call in progress. A call that finds one above its own stack pointer
//! is nested. One that finds it at or below its own has outlived it (`longjmp`, a thread's cancellation).

use crate::calls::{after, before};
use crate::table::Function;
use std::arch::global_asm;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

/// How many functions of libraries can be replaced.
pub const SLOTS: usize = 1024;

/// What a place stands for. The assembly below knows the order.
#[repr(C, align(64))]
pub struct Slot {
    pub real: AtomicUsize,
    pub function: AtomicPtr<Function>,
    pub library: AtomicU64,
    /// Words of arguments on the stack, as the table says.
    pub on_stack: AtomicU64,
    /// Whether it is looked at before the call, too.
    pub early: AtomicU64,
}

pub static TABLE: [Slot; SLOTS] = [const {
    Slot {
        real: AtomicUsize::new(0),
        function: AtomicPtr::new(std::ptr::null_mut()),
        library: AtomicU64::new(0),
        on_stack: AtomicU64::new(0),
        early: AtomicU64::new(0),
    }
}; SLOTS];

/// What a thread keeps; `enter` knows the first word.
#[repr(C)]
pub struct Thread {
    pub frame: usize,
    /// Its rows, and the region that they are in: another one after a fork.
    pub area: usize,
    pub region: usize,
    /// What was read ahead of the call in progress; 0 where nothing was.
    pub far: u64,
}

pub const MOST_ARGUMENTS: usize = 14;

/// Words of the stack that every function gets again: an even number keeps the stack aligned.
const ON_STACK: usize = MOST_ARGUMENTS - IN_REGISTERS as usize;
const _: () = assert!(ON_STACK.is_multiple_of(2));

/// Arguments in registers.
#[cfg(target_arch = "x86_64")]
pub const IN_REGISTERS: u8 = 6;
#[cfg(target_arch = "aarch64")]
pub const IN_REGISTERS: u8 = 8;

unsafe extern "C" {
    static ciphermark_watch_places: u8;
}

pub fn place(index: usize) -> usize {
    &raw const ciphermark_watch_places as usize + index * PLACE_BYTES
}

#[cfg(target_arch = "x86_64")]
const PLACE_BYTES: usize = 16;
#[cfg(target_arch = "aarch64")]
const PLACE_BYTES: usize = 8;

global_asm!(
    ".pushsection .tbss,\"awT\",%nobits",
    ".balign 8",
    ".type ciphermark_watch_thread, %object",
    "ciphermark_watch_thread: .zero 32",
    ".size ciphermark_watch_thread, 32",
    ".popsection",
);

/// Where the places begin.
macro_rules! head {
    () => {
        ".text\n.balign 16\n.globl ciphermark_watch_places\n.hidden ciphermark_watch_places\n\
        ciphermark_watch_places:\n.rept {slots}"
    };
}

#[cfg(target_arch = "x86_64")]
global_asm!(
    head!(),
    ".balign 16",
    "endbr64",
    "leaq 0(%rip), %r11", // the address behind it: 11 bytes into the place
    "jmp ciphermark_watch_enter",
    ".endr",
    ".balign 16",
    "ciphermark_watch_enter:",
    ".cfi_startproc",
    "leaq ciphermark_watch_places+11(%rip), %r10",
    "subq %r10, %r11",
    "leaq {table}(%rip), %r10",
    "leaq (%r10,%r11,4), %r11", // 64 bytes a slot, 16 a place
    "movq ciphermark_watch_thread@gottpoff(%rip), %r10",
    "movq %fs:(%r10), %rax",
    "testq %rax, %rax",
    "jne 2f",
    "1:",
    "movq %rsp, %fs:(%r10)",
    "pushq %rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset %rbp, -16",
    "movq %rsp, %rbp",
    ".cfi_def_cfa_register %rbp",
    "pushq %rbx",
    "pushq %r12",
    "pushq %r13",
    "pushq %r14",
    ".cfi_offset %rbx, -24",
    ".cfi_offset %r12, -32",
    ".cfi_offset %r13, -40",
    ".cfi_offset %r14, -48",
    "movq %r11, %rbx",
    "subq $112, %rsp",
    "movq %rdi, (%rsp)",
    "movq %rsi, 8(%rsp)",
    "movq %rdx, 16(%rsp)",
    "movq %rcx, 24(%rsp)",
    "movq %r8, 32(%rsp)",
    "movq %r9, 40(%rsp)",
    "movq %rsp, %r12",
    // The stack's words are kept behind the others, and put again where the function looks for them: as many as any
    // function has, so that a line that says too few takes nothing from it. Beyond the return address's page, which may be
    // the stack's last, as many as the line says.
    "movl ${words}, %ecx",
    "leaq 8(%rbp), %rax",
    "andl $4095, %eax",
    "cmpl ${in_page}, %eax",
    "cmovaq 24(%rbx), %rcx",
    "subq ${bytes}, %rsp",
    "testq %rcx, %rcx",
    "je 3f",
    "5:",
    "movq 8(%rbp,%rcx,8), %rdx",
    "movq %rdx, 40(%r12,%rcx,8)",
    "movq %rdx, -8(%rsp,%rcx,8)",
    "decq %rcx",
    "jne 5b",
    "3:",
    "cmpq $0, 32(%rbx)",
    "jne 7f",
    "4:",
    "rdtsc",
    "shlq $32, %rdx",
    "orq %rdx, %rax",
    "movq %rax, %r13",
    "movq (%r12), %rdi",
    "movq 8(%r12), %rsi",
    "movq 16(%r12), %rdx",
    "movq 24(%r12), %rcx",
    "movq 32(%r12), %r8",
    "movq 40(%r12), %r9",
    "call *(%rbx)",
    "movq %rax, %r14",
    "rdtsc",
    "shlq $32, %rdx",
    "orq %rdx, %rax",
    "movq %rax, %r8",
    "subq %r13, %rax",
    "movq %rax, %rcx",
    "movq %rbx, %rdi",
    "movq %r12, %rsi",
    "movq %r14, %rdx",
    "movq %fs:0, %r9",
    "addq ciphermark_watch_thread@gottpoff(%rip), %r9",
    "movq %r12, %rsp",
    "call {after}",
    "movq ciphermark_watch_thread@gottpoff(%rip), %r10",
    "movq $0, %fs:(%r10)",
    "movq %r14, %rax",
    "leaq -32(%rbp), %rsp",
    "popq %r14",
    "popq %r13",
    "popq %r12",
    "popq %rbx",
    "popq %rbp",
    ".cfi_remember_state",
    ".cfi_def_cfa %rsp, 8",
    "ret",
    ".cfi_restore_state",
    "7:",
    "movq %rbx, %rdi",
    "movq %r12, %rsi",
    "movq %fs:0, %rdx",
    "addq ciphermark_watch_thread@gottpoff(%rip), %rdx",
    "call {before}",
    "jmp 4b",
    // Nested, or the one in progress was left without a return.
    "2:",
    ".cfi_def_cfa %rsp, 8",
    "cmpq %rax, %rsp",
    "jae 1b",
    "jmpq *(%r11)",
    ".cfi_endproc",
    slots = const SLOTS,
    words = const ON_STACK,
    bytes = const 8 * ON_STACK,
    in_page = const 4096 - 8 * (ON_STACK + 1),
    table = sym TABLE,
    after = sym after,
    before = sym before,
    options(att_syntax)
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    head!(),
    "adr x17, .",
    "b ciphermark_watch_enter",
    ".endr",
    "ciphermark_watch_enter:",
    ".cfi_startproc",
    "adrp x16, ciphermark_watch_places",
    "add x16, x16, :lo12:ciphermark_watch_places",
    "sub x17, x17, x16",
    "adrp x16, {table}",
    "add x16, x16, :lo12:{table}",
    "add x17, x16, x17, lsl #3", // 64 bytes a slot, 8 a place
    "mrs x16, tpidr_el0",
    "adrp x15, :gottprel:ciphermark_watch_thread",
    "ldr x15, [x15, :gottprel_lo12:ciphermark_watch_thread]",
    "add x16, x16, x15",
    "ldr x15, [x16]",
    "cbnz x15, 2f",
    "1:",
    "mov x15, sp",
    "str x15, [x16]",
    "stp x29, x30, [sp, #-64]!",
    "mov x29, sp",
    ".cfi_def_cfa x29, 64",
    ".cfi_offset x29, -64",
    ".cfi_offset x30, -56",
    "stp x19, x20, [sp, #16]",
    "stp x21, x22, [sp, #32]",
    "str x23, [sp, #48]",
    ".cfi_offset x19, -48",
    ".cfi_offset x20, -40",
    ".cfi_offset x21, -32",
    ".cfi_offset x22, -24",
    ".cfi_offset x23, -16",
    "mov x19, x17",
    "mov x23, x16",
    "sub sp, sp, #112",
    "mov x20, sp",
    "stp x0, x1, [x20]",
    "stp x2, x3, [x20, #16]",
    "stp x4, x5, [x20, #32]",
    "stp x6, x7, [x20, #48]",
    // As on x86-64.
    "mov x9, #{words}",
    "add x11, x29, #64",
    "sub x10, x11, #8",
    "and x10, x10, #4095",
    "cmp x10, #{in_page}",
    "ldr x12, [x19, #24]",
    "csel x9, x12, x9, hi",
    "add x12, x20, #64",
    "sub sp, sp, #{bytes}",
    "cbz x9, 3f",
    "5:",
    "sub x9, x9, #1",
    "ldr x14, [x11, x9, lsl #3]",
    "str x14, [x12, x9, lsl #3]",
    "str x14, [sp, x9, lsl #3]",
    "cbnz x9, 5b",
    "3:",
    "ldr x9, [x19, #32]",
    "cbnz x9, 7f",
    "4:",
    "ldp x0, x1, [x20]",
    "ldp x2, x3, [x20, #16]",
    "ldp x4, x5, [x20, #32]",
    "ldp x6, x7, [x20, #48]",
    "ldr x16, [x19]",
    "mrs x21, cntvct_el0",
    "blr x16",
    "mrs x4, cntvct_el0",
    "mov x22, x0",
    "mov sp, x20",
    "mov x0, x19",
    "mov x1, x20",
    "mov x2, x22",
    "sub x3, x4, x21",
    "mov x5, x23",
    "bl {after}",
    "str xzr, [x23]",
    "mov x0, x22",
    "mov sp, x29",
    "ldp x19, x20, [sp, #16]",
    "ldp x21, x22, [sp, #32]",
    "ldr x23, [sp, #48]",
    "ldp x29, x30, [sp], #64",
    ".cfi_remember_state",
    ".cfi_def_cfa sp, 0",
    "ret",
    ".cfi_restore_state",
    "7:",
    "mov x0, x19",
    "mov x1, x20",
    "mov x2, x23",
    "bl {before}",
    "b 4b",
    "2:",
    ".cfi_def_cfa sp, 0",
    "mov x9, sp",
    "cmp x9, x15",
    "b.hs 1b",
    "ldr x17, [x17]",
    "br x17",
    ".cfi_endproc",
    slots = const SLOTS,
    words = const ON_STACK,
    bytes = const 8 * ON_STACK,
    in_page = const 4096 - 8 * (ON_STACK + 1),
    table = sym TABLE,
    after = sym after,
    before = sym before,
);

/// The machine's tick, as `enter` reads it.
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has it.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads a counter that Linux lets every process read.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
}

/// How many ticks longer the first reading of a byte takes than the second.
///
/// # Safety
/// It can be read.
pub unsafe fn far_ticks(byte: *const u8) -> u64 {
    let read = || {
        let before = ticks_in_order();
        // SAFETY: the caller's.
        unsafe { byte.read_volatile() };
        ticks_in_order().saturating_sub(before)
    };
    let first = read();
    first.saturating_sub(read())
}

/// The tick, after all earlier readings and before all later ones.
fn ticks_in_order() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has it.
    unsafe {
        std::arch::x86_64::_mm_lfence();
        let now = ticks();
        std::arch::x86_64::_mm_lfence();
        now
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: barriers.
    unsafe {
        std::arch::asm!("dsb ishld", "isb", options(nostack));
        let now = ticks();
        std::arch::asm!("isb", options(nostack));
        now
    }
}
