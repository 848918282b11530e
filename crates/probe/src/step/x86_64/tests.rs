//! Functions whose instructions are known one by one, because they are written here.

use super::*;
use crate::step::{Class, Code, End, Profile, profile};
use std::arch::naked_asm;

/// Steps a function with these arguments.
fn step(function: *const (), arguments: [usize; 4], most_steps: u64) -> (i32, Trace) {
    let mut stepper = Stepper::new().unwrap();
    // SAFETY: all functions below take such arguments.
    unsafe { stepper.call(function, arguments, most_steps) }.unwrap()
}

fn counted(function: *const (), arguments: [usize; 4]) -> Profile {
    let (_, trace) = step(function, arguments, 1 << 20);
    assert_eq!(trace.end, End::Returned);
    profile(&trace, &Code::of_this_process(&|_| None))
}

/// `rdi` times five instructions, three of them AES rounds, and three around them.
#[unsafe(naked)]
unsafe extern "C" fn rounds(_count: usize) -> i32 {
    naked_asm!(
        "pxor xmm0, xmm0",
        "2: aesenc xmm0, xmm1",
        "aesenc xmm0, xmm1",
        "aesenclast xmm0, xmm1",
        "dec rdi",
        "jnz 2b",
        "mov eax, 7",
        "ret",
    )
}

#[test]
fn every_instruction_is_counted_once_in_its_class() {
    if !std::arch::is_x86_feature_detected!("aes") {
        return;
    }
    let (returned, trace) = step(rounds as *const (), [10, 0, 0, 0], 1000);
    assert_eq!((returned, trace.end, trace.steps), (7, End::Returned, 53));
    let profile = profile(&trace, &Code::of_this_process(&|_| None));
    assert_eq!((profile.instructions, profile.unknown), (53, 0));
    let class = |class, width| {
        let found = profile.classes.iter().find(|c| (c.class, c.width) == (class, width));
        found.map_or(0, |c| c.count)
    };
    assert_eq!(class(Class::AesRound, Some(128)), 30);
    assert_eq!(class(Class::VectorLogic, Some(128)), 1);
    assert_eq!(class(Class::Scalar, None) + class(Class::Load, None), 11);
    assert_eq!(class(Class::Branch, None), 11);
    assert_eq!(profile.memory_reads, 1, "the return address");
    let aes = profile.sets_elsewhere.iter().find(|s| s.set == "aes").unwrap();
    assert_eq!(aes.count, 30);
    assert!(aes.example.starts_with("aesenc at ciphermark+0x"), "{}", aes.example);
    let name = profile.functions[0].function.as_deref().unwrap();
    assert!(name.contains("rounds"), "{name}");
}

#[test]
fn counts_are_the_same_every_time() {
    let one = step(sum as *const (), [100, 0, 0, 0], 1 << 20);
    for _ in 0..3 {
        assert_eq!(step(sum as *const (), [100, 0, 0, 0], 1 << 20), one);
    }
}

extern "C" fn sum(count: usize) -> i32 {
    (0..count).fold(0, |a, i| std::hint::black_box(a) + (i as i32)) & 0xff
}

#[test]
fn at_the_step_limit_the_call_runs_on_unseen_and_ends_right() {
    let expected = sum(5000);
    let (returned, trace) = step(sum as *const (), [5000, 0, 0, 0], 200);
    assert_eq!((returned, trace.end, trace.steps), (expected, End::StepLimit, 200));
    // And the next call is stepped as if nothing had been.
    assert_eq!(step(sum as *const (), [1, 0, 0, 0], 1 << 20).1.end, End::Returned);
}

/// A copy by one repeated instruction.
#[unsafe(naked)]
unsafe extern "C" fn copy(_to: *mut u8, _from: *const u8, _unused: usize, _len: usize) -> i32 {
    naked_asm!("rep movsb", "xor eax, eax", "ret")
}

#[test]
fn a_repeated_instruction_counts_once_however_often_it_repeats() {
    let (from, mut to) = ([7_u8; 100], [0_u8; 100]);
    let arguments = [to.as_mut_ptr() as usize, from.as_ptr() as usize, 0, 100];
    let (_, trace) = step(copy as *const (), arguments, 1000);
    assert_eq!(to, from);
    assert_eq!(trace.steps, 102);
    assert_eq!(profile(&trace, &Code::of_this_process(&|_| None)).instructions, 3);
    assert_eq!(counted(copy as *const (), [arguments[0], arguments[1], 0, 0]).instructions, 3);
}

/// A system call (`getpid`) between instructions that are known.
#[unsafe(naked)]
unsafe extern "C" fn system_call() -> i32 {
    naked_asm!("mov eax, 39", "syscall", "xor ecx, ecx", "mov edx, ecx", "ret")
}

#[test]
fn the_instruction_behind_a_system_call_is_not_lost() {
    let (returned, _) = step(system_call as *const (), [0; 4], 100);
    assert_eq!(returned as u32, std::process::id());
    assert_eq!(counted(system_call as *const (), [0; 4]).instructions, 5);
}

/// Saves its flags with the trap flag in them, counts down, and restores them.
#[unsafe(naked)]
unsafe extern "C" fn flags(_count: usize) -> i32 {
    naked_asm!("pushfq", "2: dec rdi", "jnz 2b", "popfq", "nop", "nop", "xor eax, eax", "ret")
}

#[test]
fn flags_that_the_code_saves_and_restores_neither_stop_stepping_nor_begin_it_again() {
    assert_eq!(counted(flags as *const (), [10, 0, 0, 0]).instructions, 26);
    let (_, trace) = step(flags as *const (), [100, 0, 0, 0], 50);
    assert_eq!((trace.end, trace.steps), (End::StepLimit, 50));
}

/// Sets the overflow flag by adding `dl` to itself, and the others from `ah`; then jumps, on each condition.
macro_rules! jumps {
    ($($name:ident),*) => {
        $(#[unsafe(naked)]
        unsafe extern "C" fn $name(_flags: usize, _overflow: usize) -> i32 {
            naked_asm!(
                "mov eax, edi", "mov edx, esi", "add dl, dl", "sahf", "mov eax, 1", "mov ecx, 2",
                concat!(stringify!($name), " 3f"), "nop", "mov eax, ecx", "3: ret"
            )
        })*
        const JUMPS: &[(&str, unsafe extern "C" fn(usize, usize) -> i32)] =
            &[$((stringify!($name), $name)),*];
    };
}
jumps!(jo, jno, jb, jae, je, jne, jbe, ja, js, jns, jp, jnp, jl, jge, jle, jg);

#[test]
fn a_jump_goes_where_the_flags_send_it() {
    for (name, jump) in JUMPS {
        let mut seen = [false; 2];
        // Sign, zero, parity and carry, as SAHF has them.
        for flags in (0..256).filter(|flags| flags & !0b1100_0101 == 0) {
            for overflow in [0, 0x40] {
                // SAFETY: takes two numbers and touches no memory.
                let expected = unsafe { jump(flags << 8, overflow) };
                let (returned, trace) = step(*jump as *const (), [flags << 8, overflow, 0, 0], 99);
                assert_eq!(returned, expected, "{name} {flags:x} {overflow:x}");
                assert_eq!(trace.steps, if expected == 1 { 8 } else { 10 }, "{name}");
                seen[returned as usize - 1] = true;
            }
        }
        assert_eq!(seen, [true; 2], "{name}");
    }
}

/// Reads and writes memory that it finds relative to itself, and calls another function, in rows.
#[unsafe(naked)]
unsafe extern "C" fn relative(_count: usize) -> i32 {
    naked_asm!(
        "xor eax, eax",
        "2: add eax, [rip + {number}]",
        "add eax, 1",
        "movdqa xmm0, xmm0",
        "push rax",
        "sub rsp, 8",
        "call {inner}",
        "add rsp, 8",
        "pop rcx",
        "add eax, ecx",
        "dec rdi",
        "jnz 2b",
        "ret",
        number = sym NUMBER,
        inner = sym inner,
    )
}
static NUMBER: i32 = 1000;

/// Where it was called from, less where it is itself: the same wherever both are executed.
#[unsafe(naked)]
unsafe extern "C" fn inner() -> i32 {
    naked_asm!("mov rax, [rsp]", "lea rcx, [rip + {inner}]", "sub rax, rcx", "and eax, 0xffff", "ret", inner = sym inner)
}

#[test]
fn what_code_finds_relative_to_itself_it_finds_in_rows_too() {
    // SAFETY: takes a number.
    let expected = unsafe { relative(20) };
    let (returned, trace) = step(relative as *const (), [20, 0, 0, 0], 1 << 20);
    assert_eq!((returned, trace.end, trace.steps), (expected, End::Returned, 2 + 20 * (11 + 5)));
    for visit in &trace.visits {
        assert!([1, 20].contains(&visit.count), "{visit:?}");
    }
    // Where the steps end within a row, they end as if there were none.
    for most in [1, 2, 3, 7, 8, 40, 41, 42, 43] {
        let (returned, trace) = step(relative as *const (), [20, 0, 0, 0], most);
        assert_eq!((returned, trace.end, trace.steps), (expected, End::StepLimit, most));
        assert_eq!(trace.visits.iter().map(|v| v.count).sum::<u64>(), most);
    }
}

#[test]
fn counts_are_the_same_where_every_instruction_is_stepped() {
    for (function, count) in
        [(relative as *const (), 20), (sum as *const (), 999), (flags as *const (), 12)]
    {
        let mut each = Stepper::new().unwrap();
        each.log.sink = handler::Sink::Counts { table: Table::new(), rows: None };
        // SAFETY: both take a number.
        let stepped = unsafe { each.call(function, [count, 0, 0, 0], 1 << 20) }.unwrap();
        assert_eq!(step(function, [count, 0, 0, 0], 1 << 20), stepped);
    }
}

#[test]
fn the_handler_that_was_there_comes_back() {
    let current = || {
        // SAFETY: asks only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGTRAP, std::ptr::null(), &raw mut action);
            action.sa_sigaction
        }
    };
    let alone = || STEPPING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = {
        let _alone = alone();
        current()
    };
    step(sum as *const (), [3, 0, 0, 0], 100);
    let _alone = alone();
    assert_eq!(current(), before);
}
