//! Functions whose instructions are known one by one.

use super::*;
use crate::step::{Recorded, Step};
use std::arch::naked_asm;

type Function = unsafe extern "C" fn(usize) -> i32;

/// What a function does, recorded, without the steps around it: from its first instruction on.
fn recorded(function: Function, argument: usize) -> (i32, Vec<Step>) {
    let (mut recorder, mut tape) = (Recorder::new().unwrap(), Tape::new(1 << 16).unwrap());
    // SAFETY: all functions below take a number.
    let call = || unsafe { function(argument) };
    let (returned, end) = recorder.record(&mut tape, 1 << 16, call).unwrap();
    assert_eq!(end, End::Returned);
    let steps = tape.steps(0..usize::MAX);
    let begin = steps.iter().position(|s| s.address() == function as *const () as u64).unwrap();
    let calls = tape.calls();
    (returned, steps[begin..calls[0].steps.end].to_vec())
}

/// `rdi` times three instructions, two before and one behind.
#[unsafe(naked)]
unsafe extern "C" fn counts(_count: usize) -> i32 {
    naked_asm!("mov ecx, edi", "xor eax, eax", "2: add eax, 2", "dec ecx", "jnz 2b", "ret")
}

#[test]
fn every_step_has_the_registers_before_it() {
    let (returned, steps) = recorded(counts, 5);
    assert_eq!(returned, 10);
    let begin = counts as *const () as u64;
    let adds: Vec<&Step> = steps.iter().filter(|s| s.address() == begin + 4).collect();
    let values: Vec<_> =
        adds.iter().map(|s| (s.register(0), s.register(1), s.register(7))).collect();
    assert_eq!(values, [(0, 5, 5), (2, 4, 5), (4, 3, 5), (6, 2, 5), (8, 1, 5)]);
    assert!(steps[0].stack() > steps[0].stack() - 8);
}

#[test]
fn as_many_steps_are_recorded_as_are_counted() {
    extern "C" fn by_recorder(function: *mut &mut dyn FnMut() -> i32) -> i32 {
        called(function)
    }
    let mut work = || (0..100).fold(0, |a, i| std::hint::black_box(a) + i);
    let mut tape = Tape::new(1 << 16).unwrap();
    Recorder::new().unwrap().record(&mut tape, 1 << 16, &mut work).unwrap();
    let mut function: &mut dyn FnMut() -> i32 = &mut work;
    let arguments = [(&raw mut function) as usize, 0, 0, 0];
    let mut stepper = crate::step::Stepper::new().unwrap();
    // SAFETY: the function takes this pointer.
    let stepped = unsafe { stepper.call(by_recorder as *const (), arguments, 1 << 16) };
    let counted = stepped.unwrap().1.steps as usize;
    let recorded = tape.calls()[0].steps.len();
    // The Stepper's begins in a function of this test, which calls or is the recorder's.
    assert!(recorded > 300 && counted.abs_diff(recorded) <= 8, "{recorded} {counted}");
}

#[test]
fn calls_follow_each_other_on_a_tape_and_end_where_it_ends() {
    let (mut recorder, mut tape) = (Recorder::new().unwrap(), Tape::new(100).unwrap());
    // SAFETY: takes a number.
    let mut call = |count| recorder.record(&mut tape, 70, || unsafe { counts(count) }).unwrap();
    assert_eq!(call(3), (6, End::Returned));
    assert_eq!(call(1000), (2000, End::StepLimit), "it runs on unseen");
    assert_eq!(call(1000).1, End::StepLimit);
    let calls = tape.calls();
    let ends: Vec<End> = calls.iter().map(|c| c.end).collect();
    assert_eq!(ends, [End::Returned, End::StepLimit, End::StepLimit]);
    assert_eq!(calls[1].steps.len(), 70);
    assert_eq!(calls[2].steps.end, 100, "no room for more");
    assert_eq!(calls[2].steps.start, calls[1].steps.end);
}

#[test]
fn what_a_child_records_its_parent_reads() {
    let (mut recorder, mut tape) = (Recorder::new().unwrap(), Tape::new(1000).unwrap());
    // What another test's thread holds would never be given back in the child.
    let alone = STEPPING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the child only records, with locks that no other thread holds, and ends.
    let child = unsafe { libc::fork() };
    drop(alone);
    if child == 0 {
        // SAFETY: takes a number.
        let right = recorder.record(&mut tape, 1000, || unsafe { counts(9) });
        let code = i32::from(!matches!(right, Ok((18, End::Returned))));
        // SAFETY: ends the process.
        unsafe { libc::_exit(code) };
    }
    let mut status = 1;
    // SAFETY: waits for the child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    let calls: Vec<Recorded> = tape.calls();
    assert!(calls.len() == 1 && calls[0].steps.len() > 27, "{calls:?}");
}

/// The time stamp counter, twice; what differs is returned.
#[unsafe(naked)]
unsafe extern "C" fn time(_unused: usize) -> i32 {
    naked_asm!("rdtsc", "mov r8, rax", "rdtscp", "sub rax, r8", "ret")
}

/// Random numbers of each width; whether all succeeded, and their sum.
#[unsafe(naked)]
unsafe extern "C" fn random(_unused: usize) -> i32 {
    naked_asm!(
        "push rbx",
        "rdrand r9",
        "setc bl",
        "rdseed eax",
        "setc bh",
        "add eax, r9d",
        "rdrand dx",
        "add ax, dx",
        "and bl, bh",
        "jnz 2f",
        "xor eax, eax",
        "2: pop rbx",
        "ret",
    )
}

/// getpid(2).
#[unsafe(naked)]
unsafe extern "C" fn process(_unused: usize) -> i32 {
    naked_asm!("mov eax, 39", "syscall", "ret")
}

/// getrandom(2) of eight bytes on the stack; the lower half.
#[unsafe(naked)]
unsafe extern "C" fn kernel_random(_unused: usize) -> i32 {
    naked_asm!(
        "push 0",
        "mov rdi, rsp",
        "mov esi, 8",
        "xor edx, edx",
        "mov eax, 318",
        "syscall",
        "pop rcx",
        "cmp eax, 8",
        "jne 2f",
        "mov eax, ecx",
        "2: ret",
    )
}

#[test]
fn a_random_number_at_the_end_of_memory_has_the_same_outcome_each_time() {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
    // `rdrand rax`, `ret`: nothing is mapped behind them, or `rdrand` reaches over the end of a page.
    const CODE: [u8; 5] = [0x48, 0x0f, 0xc7, 0xf0, 0xc3];
    const PAGE: usize = 4096;
    for begin in (PAGE - 4..PAGE).chain([2 * PAGE - CODE.len()]) {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: memory of three pages of its own, of which the last is taken away; the code is written before it is
        // made executable, and called as what it is.
        let call: Function = unsafe {
            let base =
                mmap_anonymous(std::ptr::null_mut(), 3 * PAGE, access, MapFlags::PRIVATE).unwrap();
            mprotect(base.add(2 * PAGE), PAGE, MprotectFlags::empty()).unwrap();
            let code = base.cast::<u8>().add(begin);
            std::ptr::copy_nonoverlapping(CODE.as_ptr(), code, CODE.len());
            mprotect(base, 2 * PAGE, MprotectFlags::READ | MprotectFlags::EXEC).unwrap();
            std::mem::transmute(code)
        };
        assert_eq!(recorded(call, 0).0, recorded(call, 0).0, "{begin}");
    }
}

#[test]
fn what_differs_by_itself_has_the_same_outcome_each_time() {
    for function in [time as Function, random, kernel_random] {
        let (first, second) = (recorded(function, 0), recorded(function, 0));
        assert_eq!(first.0, second.0);
        assert_ne!(first.0, 0);
        let addresses = |steps: &[Step]| steps.iter().map(Step::address).collect::<Vec<_>>();
        assert_eq!(addresses(&first.1), addresses(&second.1));
    }
    assert_eq!(recorded(time, 0).0, 1000, "time passes");
    assert_eq!(recorded(process, 0).0 as u32, std::process::id());
    assert_ne!(recorded(random, 0).0, recorded(kernel_random, 0).0);
}

/// Seconds by time(2) and clock_gettime(2), and microseconds by gettimeofday(2), in one number.
extern "C" fn clocks(_unused: usize) -> i32 {
    let (mut fine, mut coarse) = (std::mem::MaybeUninit::zeroed(), std::mem::MaybeUninit::zeroed());
    // SAFETY: the places are as large as they have to be.
    let (fine, coarse, seconds): (libc::timespec, libc::timeval, _) = unsafe {
        libc::clock_gettime(libc::CLOCK_REALTIME, fine.as_mut_ptr());
        libc::gettimeofday(coarse.as_mut_ptr(), std::ptr::null_mut());
        (fine.assume_init(), coarse.assume_init(), libc::time(std::ptr::null_mut()))
    };
    assert!(fine.tv_sec - seconds <= 1 && coarse.tv_sec - seconds <= 1 && seconds > 1 << 30);
    (seconds ^ fine.tv_nsec ^ coarse.tv_usec << 8) as i32
}

#[test]
fn the_clock_stands_still_between_recordings() {
    let mut recorder = Recorder::new().unwrap();
    let mut told = || {
        let mut tape = Tape::new(1 << 16).unwrap();
        recorder.record(&mut tape, 1 << 16, || clocks(0)).unwrap().0
    };
    let first = told();
    assert_ne!(clocks(0), clocks(0), "it goes on by itself");
    assert_eq!(told(), first);
}

#[test]
fn the_instruction_behind_one_with_a_fixed_outcome_is_recorded() {
    let addresses: Vec<u64> = recorded(process, 0).1.iter().map(Step::address).collect();
    let begin = process as *const () as u64;
    assert_eq!(addresses[..3], [begin, begin + 5, begin + 7]);
}
