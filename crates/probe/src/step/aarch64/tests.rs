//! Functions whose instructions are known one by one.

use super::*;
use crate::step::{End, Visit};
use std::arch::naked_asm;

fn stepped(function: *const (), arguments: [usize; 4], most: u64) -> (i32, Trace) {
    prepare();
    let mut stepper = Stepper::new().unwrap();
    // SAFETY: the tests pass functions of their own, and what they take.
    unsafe { stepper.call(function, arguments, most) }.unwrap()
}

/// `x0` times two instructions, two before and one behind.
#[unsafe(naked)]
unsafe extern "C" fn counts(_count: usize) -> i32 {
    naked_asm!("mov x1, x0", "mov w0, #0", "2: add w0, w0, #2", "subs x1, x1, #1", "b.ne 2b", "ret")
}

#[test]
fn every_instruction_is_counted_where_it_is() {
    let (returned, trace) = stepped(counts as *const (), [5, 0, 0, 0], 1000);
    assert_eq!((returned, trace.end, trace.steps), (10, End::Returned, 3 + 5 * 3));
    let begin = counts as *const () as u64;
    let visit = |i: u64, count| Visit { address: begin + 4 * i, count, repeats: 0 };
    let expected = [1, 1, 5, 5, 5, 1].into_iter().zip(0..).map(|(count, i)| visit(i, count));
    assert_eq!(trace.visits, expected.collect::<Vec<_>>());
}

#[test]
fn a_call_that_is_too_long_runs_on_unseen() {
    let (returned, trace) = stepped(counts as *const (), [1000, 0, 0, 0], 100);
    assert_eq!((returned, trace.end, trace.steps), (2000, End::StepLimit, 100));
}

/// Adds to the word at `x0` by an exclusive load and store, and returns what was there.
#[unsafe(naked)]
unsafe extern "C" fn adds(_place: *mut u32) -> i32 {
    naked_asm!(
        "2: ldxr w1, [x0]",
        "add w2, w1, #1",
        "stxr w3, w2, [x0]",
        "cbnz w3, 2b",
        "mov w0, w1",
        "ret"
    )
}

/// The same if it is zero; else -1.
#[unsafe(naked)]
unsafe extern "C" fn adds_to_zero(_place: *mut u32) -> i32 {
    naked_asm!(
        "2: ldaxr w1, [x0]",
        "cbnz w1, 3f",
        "add w2, w1, #1",
        "stlxr w3, w2, [x0]",
        "cbnz w3, 2b",
        "mov w0, w1",
        "ret",
        "3: mov w0, #-1",
        "ret"
    )
}

#[test]
fn exclusive_accesses_end_and_count_once() {
    let mut word = 7_u32;
    let place = (&raw mut word) as usize;
    let (returned, trace) = stepped(adds as *const (), [place, 0, 0, 0], 1000);
    assert_eq!((returned, trace.steps, trace.end), (7, 6, End::Returned));
    let (returned, trace) = stepped(adds_to_zero as *const (), [place, 0, 0, 0], 1000);
    assert_eq!((returned, trace.steps, trace.end), (-1, 4, End::Returned));
    word = 0;
    let (returned, trace) = stepped(adds_to_zero as *const (), [place, 0, 0, 0], 1000);
    assert_eq!((returned, trace.steps, word), (0, 7, 1));
}

/// A breakpoint that a handler steps over, and one instruction before and behind it.
#[unsafe(naked)]
unsafe extern "C" fn breaks(_unused: usize) -> i32 {
    naked_asm!("mov w0, #5", "brk #0x777", "ret")
}

#[test]
fn breakpoints_of_the_code_itself_go_to_its_handler() {
    extern "C" fn over(_: i32, _: *mut libc::siginfo_t, context: *mut std::ffi::c_void) {
        // SAFETY: the kernel hands over a whole context.
        unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.pc += 4 };
    }
    let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut std::ffi::c_void) = over;
    // SAFETY: a `sigaction` of zeroes with a handler of the type that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut());
    }
    let (returned, trace) = stepped(breaks as *const (), [0; 4], 10_000);
    assert_eq!((returned, trace.end), (5, End::Returned));
    let begin = breaks as *const () as u64;
    let of = |i: u64| {
        trace.visits.iter().find(|v| v.address == begin + 4 * i).map(|v| v.count + v.repeats)
    };
    assert_eq!((of(0), of(2)), (Some(1), Some(1)), "{:?}", trace.visits);
}

#[test]
fn memory_functions_of_the_c_library_are_stepped() {
    let (from, mut to) = ([7_u8; 1000], [0_u8; 1000]);
    let memcpy = libc::memcpy as *const ();
    let arguments = [to.as_mut_ptr() as usize, from.as_ptr() as usize, 1000, 0];
    let (_, trace) = stepped(memcpy, arguments, 10_000);
    assert!(trace.end == End::Returned && trace.steps > 20, "{trace:?}");
    assert_eq!(to, from);
}

/// Reads the byte at `x0`, and by it a table at `x1`.
#[unsafe(naked)]
unsafe extern "C" fn looks_up(_index: *const u8, _table: *const u8) -> i32 {
    naked_asm!("ldrb w2, [x0]", "ldrb w0, [x1, x2]", "ret")
}

#[test]
fn a_recorded_call_leaves_the_registers_before_each_step_on_its_tape() {
    prepare();
    let table: [u8; 256] = std::array::from_fn(|i| i as u8);
    let mut tape = crate::step::Tape::new(1000).unwrap();
    let mut recorder = Recorder::new().unwrap();
    for index in [7_u8, 200] {
        // SAFETY: the function reads one byte of each.
        let call = || unsafe { looks_up(&raw const index, table.as_ptr()) };
        assert_eq!(recorder.record(&mut tape, 1000, call), Ok((i32::from(index), End::Returned)));
    }
    let calls = tape.calls();
    assert_eq!(calls.len(), 2);
    let begin = looks_up as *const () as u64;
    for (call, index) in calls.iter().zip([7, 200]) {
        let steps = tape.steps(call.steps.clone());
        let at = steps.iter().position(|step| step.address() == begin + 4).unwrap();
        assert_eq!((steps[at].register(2), steps[at].register(1)), (index, table.as_ptr() as u64));
        assert_eq!(steps[at + 1].register(0), index);
        assert!(steps.iter().all(|step| step.stack() % 16 == 0));
    }
}

#[test]
fn a_call_that_is_longer_than_its_tape_runs_on_unseen() {
    prepare();
    let mut tape = crate::step::Tape::new(50).unwrap();
    let mut recorder = Recorder::new().unwrap();
    // SAFETY: the function takes a number.
    let done = recorder.record(&mut tape, 1000, || unsafe { counts(1000) });
    assert_eq!(done, Ok((2000, End::StepLimit)));
    assert_eq!(tape.calls()[0].steps, 0..50);
}
