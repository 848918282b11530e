//! x86-64: counting a call's instructions, recording their registers, and the call itself.
//!
//! Stepping by the trap flag (Intel SDM volume 3B, section 18.3.1.4): while it is set, the CPU
//! traps after each instruction and the kernel delivers SIGTRAP.

pub(crate) mod decode;
mod handler;
mod rows;

use crate::step::{End, Step, Trace, Unavailable};
use handler::{Fixed, Handling, Log, Sink, Table};
use rows::Rows;
use std::arch::asm;
use std::sync::atomic::Ordering;

/// Bytes of the handler's stack: the signal frame with the widest registers known (AMX: 11 KiB,
/// `AT_MINSIGSTKSZ`), and room.
const STACK_BYTES: usize = 64 << 10;

/// Nothing has to be set aside: a process steps itself.
pub fn prepare() {}

/// Memory for stepping calls, used again for each.
#[derive(Debug)]
pub(crate) struct Stepping {
    log: Box<Log>,
    stack: Box<[u8]>,
}

impl Stepping {
    pub(crate) fn counting() -> Result<Self, Unavailable> {
        Ok(Self::with(Sink::Counts(Table::new()), Rows::new(false)))
    }

    pub(crate) fn recording() -> Result<Self, Unavailable> {
        let fixed = Fixed::of_this_process();
        Ok(Self::with(Sink::Tape { next: std::ptr::null_mut(), fixed }, Rows::new(true)))
    }

    fn with(sink: Sink, rows: Option<Rows>) -> Self {
        let stack = vec![0; STACK_BYTES].into_boxed_slice();
        let mut log = Box::new(Log::new(sink, rows));
        let begin = stack.as_ptr() as u64;
        log.stack = begin..begin + STACK_BYTES as u64;
        Self { log, stack }
    }

    /// What the call returned, and what it executed.
    ///
    /// # Safety
    /// As [`super::Stepper::call`].
    pub(crate) unsafe fn count(
        &mut self,
        function: *const (),
        arguments: [usize; 4],
        most_steps: u64,
    ) -> Result<(i32, Trace), Unavailable> {
        // SAFETY: the caller's.
        let returned = unsafe { self.step(function, arguments, most_steps) }?;
        let visits = self.log.visits();
        Ok((returned, Trace { visits, steps: self.log.steps, end: self.end()? }))
    }

    /// What the call returned, how many steps were written, and how that ended.
    ///
    /// # Safety
    /// As [`super::Stepper::call`]; there is room for so many steps.
    pub(crate) unsafe fn record(
        &mut self,
        function: *const (),
        arguments: [usize; 4],
        most_steps: u64,
        to: *mut Step,
    ) -> Result<(i32, u64, End), Unavailable> {
        if let Sink::Tape { next, .. } = &mut self.log.sink {
            *next = to;
        }
        // SAFETY: the caller's.
        let returned = unsafe { self.step(function, arguments, most_steps) }?;
        Ok((returned, self.log.steps, self.end()?))
    }

    /// # Safety
    /// As the above.
    unsafe fn step(
        &mut self,
        function: *const (),
        arguments: [usize; 4],
        most_steps: u64,
    ) -> Result<i32, Unavailable> {
        self.log.begin(most_steps);
        let handling = Handling::begin(&mut self.stack)?;
        // SAFETY: this function's contract; the handler is in place and finds the log, which
        // outlives the call and which nothing else touches meanwhile.
        let returned = unsafe { stepped_call(function, arguments, &raw mut *self.log) };
        drop(handling);
        Ok(returned)
    }

    fn end(&self) -> Result<End, Unavailable> {
        self.log.finished.ok_or_else(Unavailable::no_effect)
    }
}

// The call itself, with the trap flag set just before it.

/// Calls `function` with the trap flag set. The first trap comes after the `call`, so the first
/// address that is logged is the function's own; the log ends at the address behind the `call`.
///
/// # Safety
/// As [`super::Stepper::call`]; the handler must be in place and `log` valid until this returns.
#[inline(never)]
unsafe fn stepped_call(function: *const (), arguments: [usize; 4], log: *mut Log) -> i32 {
    handler::LOG.store(log, Ordering::SeqCst);
    let [first, second, third, fourth] = arguments;
    let returned: u64;
    // SAFETY: the caller's contract for `function`; the flags are changed in one bit, which the
    // handler takes away again before the instruction at label 2 executes or at the step limit. The
    // assembly may push, because `nostack` is not given, and the stack pointer is back at its
    // aligned place before the call.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "mov [r10], rax",
            "pushfq",
            "or dword ptr [rsp], 0x100",
            "popfq",
            "call r11",
            "2:",
            inlateout("r10") &raw mut (*log).stop => _,
            inlateout("r11") function => _,
            inlateout("rdi") first => _,
            inlateout("rsi") second => _,
            inlateout("rdx") third => _,
            inlateout("rcx") fourth => _,
            out("rax") returned,
            clobber_abi("C"),
        );
    }
    handler::LOG.store(std::ptr::null_mut(), Ordering::SeqCst);
    returned as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{
        Class, Code, Profile, Recorded, Recorder, Stepper, Tape, alone, called, profile,
    };
    use std::arch::naked_asm;

    // Functions whose instructions are known one by one, because they are written here.

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
            "pxor xmm0, xmm0; 2: aesenc xmm0, xmm1; aesenc xmm0, xmm1; aesenclast xmm0, xmm1",
            "dec rdi; jnz 2b; mov eax, 7; ret",
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
        let class = |class: Class, width| {
            let found =
                profile.classes.iter().find(|c| (&*c.class, c.width) == (class.name(), width));
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
                    let (returned, trace) =
                        step(*jump as *const (), [flags << 8, overflow, 0, 0], 99);
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
            "xor eax, eax; 2: add eax, [rip + {number}]; add eax, 1; movdqa xmm0, xmm0; push rax",
            "sub rsp, 8; call {inner}; add rsp, 8; pop rcx; add eax, ecx; dec rdi; jnz 2b; ret",
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
        assert_eq!(
            (returned, trace.end, trace.steps),
            (expected, End::Returned, 2 + 20 * (11 + 5))
        );
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
            each.0.log.rows = None;
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
        let before = {
            let _alone = alone();
            current()
        };
        step(sum as *const (), [3, 0, 0, 0], 100);
        let _alone = alone();
        assert_eq!(current(), before);
    }
    // Functions whose instructions are known one by one.

    type Function = unsafe extern "C" fn(usize) -> i32;

    /// What a function does, recorded, without the steps around it: from its first instruction on.
    fn recorded(function: Function, argument: usize) -> (i32, Vec<Step>) {
        recorded_by(&mut Recorder::new().unwrap(), function, argument)
    }

    fn recorded_by(
        recorder: &mut Recorder,
        function: Function,
        argument: usize,
    ) -> (i32, Vec<Step>) {
        let mut tape = Tape::new(1 << 16).unwrap();
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
    fn what_is_recorded_in_rows_is_what_each_instruction_has_alone() {
        extern "C" fn sums(count: usize) -> i32 {
            sum(count)
        }
        let functions: [Function; 9] =
            [counts, relative, sums, flags, time, random, kernel_random, process, clocks];
        let mut recorder = Recorder::new().unwrap();
        let rows = recorder.0.log.rows.take();
        assert!(rows.is_some());
        let alone = functions.map(|function| recorded_by(&mut recorder, function, 9));
        recorder.0.log.rows = rows;
        let in_rows = functions.map(|function| recorded_by(&mut recorder, function, 9));
        for (alone, rows) in alone.iter().zip(&in_rows) {
            assert_eq!(alone.0, rows.0);
            assert_eq!(alone.1.len(), rows.1.len());
            for (number, (x, y)) in alone.1.iter().zip(&rows.1).enumerate() {
                assert_eq!(x, y, "step {number}");
            }
        }
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
        let mut stepper = Stepper::new().unwrap();
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
        let alone = alone();
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
            "push rbx; rdrand r9; setc bl; rdseed eax; setc bh; add eax, r9d; rdrand dx",
            "add ax, dx; and bl, bh; jnz 2f; xor eax, eax; 2: pop rbx; ret",
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
            "push 0; mov rdi, rsp; mov esi, 8; xor edx, edx; mov eax, 318; syscall; pop rcx",
            "cmp eax, 8; jne 2f; mov eax, ecx; 2: ret",
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
                    mmap_anonymous(std::ptr::null_mut(), 3 * PAGE, access, MapFlags::PRIVATE)
                        .unwrap();
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
        let (mut fine, mut coarse) =
            (std::mem::MaybeUninit::zeroed(), std::mem::MaybeUninit::zeroed());
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

    static OURS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

    /// Every trap, breakpoints too, is told as `TRAP_BRKPT` (gVisor on KVM).
    extern "C" fn told_as_one(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the arguments are a signal handler's own, and so is the function that is called.
        unsafe {
            (*info).si_code = libc::TRAP_BRKPT;
            std::mem::transmute::<usize, Handler>(OURS.load(Ordering::SeqCst))(
                signal, info, context,
            );
        }
    }

    /// Every trap comes twice, the second time before the handler's first instruction.
    extern "C" fn twice(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        static WITHIN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
        // SAFETY: as above; the signal comes to this thread, before the call returns.
        unsafe {
            if !WITHIN.swap(true, Ordering::SeqCst) {
                let mut again: libc::siginfo_t = std::mem::zeroed();
                (again.si_signo, again.si_code) = (signal, libc::TRAP_BRKPT);
                let (process, thread) = (libc::getpid(), libc::gettid());
                libc::syscall(
                    libc::SYS_rt_tgsigqueueinfo,
                    process,
                    thread,
                    signal,
                    &raw const again,
                );
                WITHIN.store(false, Ordering::SeqCst);
            }
            std::mem::transmute::<usize, Handler>(OURS.load(Ordering::SeqCst))(
                signal, info, context,
            );
        }
    }

    /// The sum, with this handler before the recorder's, where there is one.
    fn under(handler: Handler, count: usize) -> i32 {
        // SAFETY: zeroes are valid values of the structure; only the handler is another.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGTRAP, std::ptr::null(), &raw mut action);
            if action.sa_flags & libc::SA_NODEFER != 0 {
                OURS.store(action.sa_sigaction, Ordering::SeqCst);
                action.sa_sigaction = handler as usize;
                libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut());
            }
        }
        sum(count)
    }

    #[test]
    fn breakpoints_told_as_traps_end_rows() {
        extern "C" fn work(count: usize) -> i32 {
            under(told_as_one, count)
        }
        assert_eq!(recorded(work, 99).0, sum(99));
    }

    #[test]
    fn a_trap_that_comes_twice_is_one_step() {
        extern "C" fn work(count: usize) -> i32 {
            under(twice, count)
        }
        assert_eq!(recorded(work, 99).0, sum(99));
    }

    /// Code that is other code the second time, mapped anew.
    #[test]
    fn code_mapped_anew_is_not_what_was_there() {
        extern "C" fn work(_: usize) -> i32 {
            // SAFETY: a page of its own; `mov eax, value` and `ret` are written before they are called.
            let code = |value: u8, at: *mut libc::c_void| unsafe {
                let kind = libc::MAP_PRIVATE
                    | libc::MAP_ANONYMOUS
                    | if at.is_null() { 0 } else { libc::MAP_FIXED };
                let at = libc::mmap(at, 4096, 3, kind, -1, 0);
                at.cast::<[u8; 8]>().write([0xb8, value, 0, 0, 0, 0x90, 0x90, 0xc3]);
                libc::mprotect(at, 4096, 5);
                (at, std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(at)())
            };
            let (at, first) = code(1, std::ptr::null_mut());
            10 * first + code(2, at).1
        }
        assert_eq!(recorded(work, 0).0, 12);
    }

    /// All signals blocked: a blocked trap ends the process.
    #[test]
    fn code_may_block_all_signals() {
        extern "C" fn work(count: usize) -> i32 {
            // SAFETY: zeroes are valid sets of signals; the thread's own set comes back.
            unsafe {
                let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
                libc::sigfillset(&raw mut all);
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
                let sum = sum(count);
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
                sum
            }
        }
        assert_eq!(recorded(work, 9).0, sum(9));
    }

    /// A thread begins with the trap flag of the one that made it.
    #[test]
    fn a_thread_made_within_is_not_recorded() {
        extern "C" fn work(count: usize) -> i32 {
            let other = std::thread::spawn(move || sum(count));
            sum(count) + other.join().unwrap()
        }
        assert_eq!(recorded(work, 200).0, 2 * sum(200));
    }
}
