//! AArch64: counting and recording by a second process, how that is set aside and asked, and what both
//! processes see.
//!
//! Stepping by a debugger of our own: a process that was set aside before this one gave up its power steps it
//! (ptrace(2), `PTRACE_SINGLESTEP`), because AArch64 lets no process step itself (`MDSCR_EL1` belongs to the kernel).

pub(crate) mod decode;
mod tracee;

use crate::step::{End, Step, Trace, Unavailable, Visit};
use std::arch::asm;
use std::ffi::c_int;
use std::io::{Error, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use tracee::Tracee;

/// `BRK` where a call begins, and where it has returned: numbers that nobody else uses.
const BEGIN: u32 = brk(0x5e01);
const STOP: u32 = brk(0x5e02);
/// Where a block that cannot be stepped ends.
const PAUSE: u32 = brk(0x5e03);

const fn brk(number: u32) -> u32 {
    0xd420_0000 | number << 5
}

/// The way to the process that steps this one.
#[derive(Debug)]
pub(crate) struct Stepping {
    helper: &'static Helper,
    /// The number that a forked process that records is told for its own.
    process: u32,
}

impl Stepping {
    /// Finds the process that [`prepare`] has set aside.
    pub(crate) fn counting() -> Result<Self, Unavailable> {
        let process = std::process::id();
        get_helper().map(|helper| Self { helper, process }).map_err(Unavailable)
    }

    pub(crate) fn recording() -> Result<Self, Unavailable> {
        Self::counting()
    }

    /// What the call returned, and what it executed. An error is one before the call.
    ///
    /// # Safety
    /// As [`super::Stepper::call`].
    pub(crate) unsafe fn count(
        &mut self,
        function: *const (),
        arguments: [usize; 4],
        most_steps: u64,
    ) -> Result<(i32, Trace), Unavailable> {
        self.helper.attach(most_steps).map_err(Unavailable)?;
        // SAFETY: the caller's contract for `function`. The other process is attached.
        let returned = unsafe { stepped_call(function, arguments) };
        Ok((returned, self.helper.trace()))
    }

    /// What the call returned, how many steps the other process has written, and how that ended.
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
        let attached = self.helper.attach_recording(most_steps, to as u64, self.process);
        attached.map_err(Unavailable)?;
        // SAFETY: the caller's contract for `function`. The other process is attached.
        let returned = unsafe { stepped_call(function, arguments) };
        let (steps, end) = self.helper.recorded();
        Ok((returned, steps, end))
    }
}

/// A call between two breakpoints, past both of which the other process moves this one.
///
/// # Safety
/// The other process is attached to this one; for the rest as [`super::Stepper::call`].
unsafe fn stepped_call(function: *const (), arguments: [usize; 4]) -> i32 {
    let [first, second, third, fourth] = arguments;
    let returned: u64;
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "brk #0x5e01",
            "blr x9",
            "brk #0x5e02",
            inlateout("x9") function => _,
            inlateout("x0") first => returned,
            inlateout("x1") second => _,
            inlateout("x2") third => _,
            inlateout("x3") fourth => _,
            clobber_abi("C"),
        );
    }
    returned as i32
}

// The process that steps this one.

/// Which process may trace this one, with Yama's restriction (`linux/prctl.h`: PR_SET_PTRACER).
const SET_PTRACER: c_int = 0x5961_6d61;

/// What the other process says: it is there, it is attached, it cannot attach.
const THERE: u8 = b't';
const ATTACHED: u8 = b'a';
const FAILED: u8 = b'f';

#[derive(Debug)]
struct Helper {
    ask: std::io::PipeWriter,
    answers: std::io::PipeReader,
    shared: Shared,
    process: u32,
    /// The thread that has said that this one may trace it.
    allowed_by: AtomicI32,
}

static HELPER: OnceLock<Result<Helper, String>> = OnceLock::new();

/// Sets a process aside that can step this one, once: before this one gives up the right to start processes. It ends
/// with this one.
pub fn prepare() {
    HELPER.get_or_init(|| {
        Helper::start().map_err(|e| format!("no process can be had that steps this one: {e}"))
    });
}

/// What [`prepare`] has set aside.
fn get_helper() -> Result<&'static Helper, String> {
    let missing = || "no process was set aside that steps this one".to_owned();
    HELPER.get().ok_or_else(missing)?.as_ref().map_err(Clone::clone)
}

impl Helper {
    /// The new process is no child of this one, whose children are looked at for what a library has started: the one that
    /// starts it ends at once, and for as long this process adopts no orphans.
    fn start() -> Result<Self, Error> {
        let shared = Shared::new()?;
        let (asked, ask) = std::io::pipe()?;
        let (mut answers, answer) = std::io::pipe()?;
        let adopts = Adopting::off()?;
        // SAFETY: what the child calls after fork(2) allocates nothing but in the last process, which has one thread and
        // the C library's promise that its heap can be used.
        let child = unsafe {
            let child = libc::fork();
            if child == 0 {
                if libc::fork() == 0 {
                    drop((ask, answers));
                    serve(asked, answer, shared);
                }
                libc::_exit(0);
            }
            child
        };
        if child < 0 {
            return Err(Error::last_os_error());
        }
        drop((asked, answer));
        let mut status = 0;
        // SAFETY: waits for the child.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        let mut said = [0; 5];
        answers.read_exact(&mut said)?;
        drop(adopts);
        let [THERE, number @ ..] = said else { return Err(std::io::ErrorKind::InvalidData.into()) };
        let (process, allowed_by) = (u32::from_ne_bytes(number), AtomicI32::new(0));
        let helper = Self { ask, answers, shared, process, allowed_by };
        helper.allow();
        Ok(helper)
    }

    /// Says that the other process may trace this one, once in each thread that asks; that thread's number.
    fn allow(&self) -> libc::pid_t {
        // SAFETY: gets a number.
        let own = unsafe { libc::gettid() };
        if self.allowed_by.swap(own, Ordering::Relaxed) != own {
            // SAFETY: says who may trace this process. Without Yama the call fails, and nothing is forbidden.
            unsafe { libc::prctl(SET_PTRACER, libc::c_ulong::from(self.process), 0, 0, 0) };
        }
        own
    }

    /// Has the other process attach itself, to step the next call.
    fn attach(&self, most_steps: u64) -> Result<(), String> {
        self.attach_for(&Asked { most_steps, process: self.allow(), tape: None })
    }

    /// The same, to write the registers before each step to a place of this process; which is told `own_number` for its
    /// own.
    fn attach_recording(&self, most_steps: u64, to: u64, own_number: u32) -> Result<(), String> {
        let tape = Some((to, u64::from(own_number)));
        self.attach_for(&Asked { most_steps, process: self.allow(), tape })
    }

    fn attach_for(&self, asked: &Asked) -> Result<(), String> {
        self.shared.ask(asked);
        let mut said = [0];
        let asked =
            (&self.ask).write_all(&said).and_then(|()| (&self.answers).read_exact(&mut said));
        match (asked, said) {
            (Ok(()), [ATTACHED]) => Ok(()),
            (Ok(()), _) => {
                Err(format!("the system lets no process step this one: {}", self.shared.failure()))
            }
            (Err(e), _) => Err(format!("the process that steps this one is gone: {e}")),
        }
    }

    /// How many steps of the last call were recorded, and how that ended.
    fn recorded(&self) -> (u64, End) {
        self.shared.recorded()
    }

    /// What was counted in the last call.
    fn trace(&self) -> Trace {
        self.shared.trace()
    }
}

/// As long as this is there, orphans of this process's children are not given to it.
struct Adopting {
    before: c_int,
}

impl Adopting {
    fn off() -> Result<Self, Error> {
        let mut before = 0;
        // SAFETY: asks for a flag of this process, and sets it.
        let done = unsafe {
            libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut before, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0
        };
        if done { Ok(Self { before }) } else { Err(Error::last_os_error()) }
    }
}

impl Drop for Adopting {
    fn drop(&mut self) {
        // SAFETY: sets a flag of this process back.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, self.before, 0, 0, 0) };
    }
}

/// Steps a call whenever it is asked to, until nobody can ask any more.
fn serve(mut asked: std::io::PipeReader, mut answer: std::io::PipeWriter, shared: Shared) -> ! {
    close_others(asked.as_raw_fd(), answer.as_raw_fd());
    let mut said = vec![THERE];
    said.extend(std::process::id().to_ne_bytes());
    let mut word = [0];
    let mut going = answer.write_all(&said).is_ok();
    while going && asked.read_exact(&mut word).is_ok() {
        match Tracee::attach(shared.asked().process) {
            // A process that ends in its midst is its parent's concern, which may ask for another.
            Ok(mut tracee) => {
                going = answer.write_all(&[ATTACHED]).is_ok();
                let _ = tracee.step(&shared);
            }
            Err(e) => {
                shared.fail(&e);
                going = answer.write_all(&[FAILED]).is_ok();
            }
        }
    }
    // SAFETY: ends this process, whose copies of what the other one has open are of no use.
    unsafe { libc::_exit(0) }
}

/// Closes all files but two: whoever waits for the other process's end waits for its pipes to be closed.
fn close_others(one: c_int, other: c_int) {
    let (low, high) = (one.min(other) as u32, one.max(other) as u32);
    for (from, to) in
        [(0, low.wrapping_sub(1)), (low + 1, high.wrapping_sub(1)), (high + 1, u32::MAX)]
    {
        if from <= to {
            // SAFETY: closes files of this process alone.
            unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
        }
    }
}

// What both processes see: the question and the counts. A process that the asking one has forked may ask in its place,
// while that waits.

/// Places that a call may run through: four times what the largest known one does.
const ROOM: usize = 1 << 17;

/// In memory that both have mapped; only one of them writes at a time.
#[repr(C)]
struct Page {
    most_steps: u64,
    /// Who is to be stepped.
    process: u64,
    /// Where its registers are to be written, step by step, in its own memory; 0 where steps are counted.
    tape: u64,
    own_number: u64,
    /// Of the error that kept the other process from attaching.
    error: i64,
    steps: u64,
    end: u64,
    len: u64,
    visits: [[u64; 3]; ROOM],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    most_steps: u64,
    process: libc::pid_t,
    /// Where registers are written to, and the number that the process is told for its own; none where steps are counted.
    tape: Option<(u64, u64)>,
}

/// The mapping, for as long as the process lives.
#[derive(Clone, Copy, Debug)]
struct Shared(NonNull<Page>);

// SAFETY: the memory is there for good; the pipes between both processes, and the lock around stepping, order all
// access.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> std::io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let memory =
            unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Page>(), access, kind, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Self(NonNull::new(memory.cast()).ok_or(std::io::ErrorKind::OutOfMemory)?))
    }

    fn page(&self) -> *mut Page {
        self.0.as_ptr()
    }

    fn ask(&self, asked: &Asked) {
        // SAFETY: within the mapping; the other process waits.
        let page = unsafe { &mut *self.page() };
        (page.most_steps, page.process) = (asked.most_steps, asked.process as u64);
        (page.tape, page.own_number) = asked.tape.unwrap_or((0, 0));
    }

    fn asked(&self) -> Asked {
        // SAFETY: within the mapping, whose other user has written and waits.
        let page = unsafe { &*self.page() };
        Asked {
            most_steps: page.most_steps,
            process: page.process as libc::pid_t,
            tape: (page.tape != 0).then_some((page.tape, page.own_number)),
        }
    }

    fn fail(&self, error: &std::io::Error) {
        // SAFETY: within the mapping.
        unsafe { (*self.page()).error = error.raw_os_error().unwrap_or(0).into() };
    }

    fn failure(&self) -> std::io::Error {
        // SAFETY: within the mapping.
        std::io::Error::from_raw_os_error(unsafe { (*self.page()).error } as i32)
    }

    /// Leaves what was counted; as much of it as there is room for.
    fn answer(&self, trace: &Trace) {
        // SAFETY: within the mapping, whose other reader is stopped.
        let page = unsafe { &mut *self.page() };
        for (place, visit) in page.visits.iter_mut().zip(&trace.visits) {
            *place = [visit.address, visit.count, visit.repeats];
        }
        page.len = trace.visits.len().min(ROOM) as u64;
        self.answer_recorded(trace.steps, trace.end);
    }

    /// Leaves how many steps were recorded.
    fn answer_recorded(&self, steps: u64, end: End) {
        // SAFETY: within the mapping, whose other reader is stopped.
        let page = unsafe { &mut *self.page() };
        page.steps = steps;
        page.end = match end {
            End::Returned => 0,
            End::StepLimit => 1,
            End::TableFull => 2,
        };
    }

    fn recorded(&self) -> (u64, End) {
        // SAFETY: within the mapping, whose other user has written and waits.
        let page = unsafe { &*self.page() };
        let end = match page.end {
            0 => End::Returned,
            1 => End::StepLimit,
            _ => End::TableFull,
        };
        (page.steps, end)
    }

    fn trace(&self) -> Trace {
        // SAFETY: within the mapping, whose other user has written and waits.
        let page = unsafe { &*self.page() };
        let visits = page.visits.iter().take(page.len as usize);
        let visit = |[address, count, repeats]: &[u64; 3]| Visit {
            address: *address,
            count: *count,
            repeats: *repeats,
        };
        let (steps, end) = self.recorded();
        Trace { visits: visits.map(visit).collect(), steps, end }
    }

    const fn room() -> usize {
        ROOM
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Recorder, Stepper, Tape};
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
        naked_asm!(
            "mov x1, x0",
            "mov w0, #0",
            "2: add w0, w0, #2",
            "subs x1, x1, #1",
            "b.ne 2b",
            "ret"
        )
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
        let mut tape = Tape::new(1000).unwrap();
        let mut recorder = Recorder::new().unwrap();
        for index in [7_u8, 200] {
            // SAFETY: the function reads one byte of each.
            let call = || unsafe { looks_up(&raw const index, table.as_ptr()) };
            assert_eq!(
                recorder.record(&mut tape, 1000, call),
                Ok((i32::from(index), End::Returned))
            );
        }
        let calls = tape.calls();
        assert_eq!(calls.len(), 2);
        let begin = looks_up as *const () as u64;
        for (call, index) in calls.iter().zip([7, 200]) {
            let steps = tape.steps(call.steps.clone());
            let at = steps.iter().position(|step| step.address() == begin + 4).unwrap();
            assert_eq!(
                (steps[at].register(2), steps[at].register(1)),
                (index, table.as_ptr() as u64)
            );
            assert_eq!(steps[at + 1].register(0), index);
            assert!(steps.iter().all(|step| step.stack() % 16 == 0));
        }
    }

    #[test]
    fn a_call_that_is_longer_than_its_tape_runs_on_unseen() {
        prepare();
        let mut tape = Tape::new(50).unwrap();
        let mut recorder = Recorder::new().unwrap();
        // SAFETY: the function takes a number.
        let done = recorder.record(&mut tape, 1000, || unsafe { counts(1000) });
        assert_eq!(done, Ok((2000, End::StepLimit)));
        assert_eq!(tape.calls()[0].steps, 0..50);
    }
}
