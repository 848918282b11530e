//! Single-stepping: what a trace and a tape of steps are, the classes of instructions, and forks that a
//! library must not notice.
//!
//! Exact instruction counts: one call of a function single-stepped in this very process, then
//! decoded.
//!
//! Stepping and decoding are apart. While the call runs, a signal handler writes the address of
//! each instruction into memory that was set aside before, and does nothing else; what the
//! addresses mean is found out afterwards.
//!
//! This module holds `unsafe` code: it turns on the CPU's trap flag, handles the signal, and calls
//! the function under test.

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod code;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
pub use arch::prepare;
#[doc(hidden)]
pub use code::function_in;
pub use code::{ClassCount, Code, FunctionCount, Profile, SetCount, profile};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub String);

impl Unavailable {
    #[cfg(target_arch = "x86_64")]
    fn no_effect() -> Self {
        Self("the trap flag has no effect in this process".to_owned())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Returned,
    /// The steps that were allowed were used up; the call ran on unseen.
    StepLimit,
    /// The call runs through more places than there is room for; it ran on unseen.
    TableFull,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub visits: Vec<Visit>,
    /// Steps that were taken: an instruction with a repeat prefix takes one for each repetition.
    pub steps: u64,
    pub end: End,
}

impl Trace {
    /// This call and another one, as if they were one.
    pub fn and(mut self, other: Self) -> Self {
        self.visits.extend(other.visits);
        self.visits.sort_unstable_by_key(|v| v.address);
        self.visits.dedup_by(|later, kept| {
            let same = later.address == kept.address;
            if same {
                kept.count += later.count;
                kept.repeats += later.repeats;
            }
            same
        });
        let end = if self.end == End::Returned { other.end } else { self.end };
        Self { visits: self.visits, steps: self.steps + other.steps, end }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    pub address: u64,
    pub count: u64,
    /// How often the instruction executed next was again this one: repetitions of an instruction
    /// with a repeat prefix, or a jump to itself.
    pub repeats: u64,
}

/// One call at a time in a process.
static STEPPING: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    STEPPING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Steps calls and counts what they execute.
#[derive(Debug)]
pub struct Stepper(arch::Stepping);

impl Stepper {
    /// Sets aside what stepping needs; on aarch64, finds what [`prepare`] has.
    pub fn new() -> Result<Self, Unavailable> {
        arch::Stepping::counting().map(Self)
    }

    /// Calls `function` with up to four arguments of the C calling convention, single-stepped from
    /// its first instruction to its return, and returns what it returned. After `most_steps` steps
    /// it runs on unseen.
    ///
    /// # Errors
    /// [`Unavailable`] when this process cannot be stepped, which x86-64 may show only after the function has run.
    ///
    /// # Safety
    /// `function` must be a C function of at most four integer or pointer arguments that returns an
    /// `int`, these must be arguments that it can be called with, and no panic may unwind out of it.
    pub unsafe fn call(
        &mut self,
        function: *const (),
        arguments: [usize; 4],
        most_steps: u64,
    ) -> Result<(i32, Trace), Unavailable> {
        let _alone = alone();
        // SAFETY: the caller's.
        unsafe { self.0.count(function, arguments, most_steps) }
    }
}

/// Steps calls and writes their registers to tapes.
///
/// What would differ from process to process by itself has a fixed outcome while a call is recorded: the time
/// stamp counter, the clock (on x86-64), the processor's and the kernel's random numbers, the process's number. On
/// aarch64 a loop of exclusive loads and stores is one step.
#[derive(Debug)]
pub struct Recorder(arch::Stepping);

impl Recorder {
    /// As [`Stepper::new`]. A forked process that records is told the number of the one that made it.
    pub fn new() -> Result<Self, Unavailable> {
        arch::Stepping::recording().map(Self)
    }

    /// Calls `function` and adds its steps to the tape; what it returned. Where the tape or `most_steps` ends,
    /// it runs on unseen.
    pub fn record(
        &mut self,
        tape: &mut Tape,
        most_steps: usize,
        mut function: impl FnMut() -> i32,
    ) -> Result<(i32, End), Unavailable> {
        let _alone = alone();
        let (to, room) = tape.next();
        let most = most_steps.min(room) as u64;
        let mut function: &mut dyn FnMut() -> i32 = &mut function;
        let arguments = [(&raw mut function) as usize, 0, 0, 0];
        // SAFETY: `called` takes the pointer, which outlives the call, and lets no panic out; the tape has the room.
        let recorded = unsafe { self.0.record(called as *const (), arguments, most, to) };
        let (returned, steps, end) = recorded?;
        tape.add(steps as usize, end);
        Ok((returned, end))
    }
}

/// A panic ends the process here: none may unwind through the stepped call.
extern "C" fn called(function: *mut &mut dyn FnMut() -> i32) -> i32 {
    // SAFETY: `record` passes a valid pointer.
    (unsafe { &mut *function })()
}

// Kinds of instructions.
/// What kind of instruction it is. Each instruction is of one kind; that it reads or writes memory
/// as well is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Class {
    /// A round of AES, on one block or several: `AESENC` and its kin; of aarch64's two halves `AESE` and `AESD`.
    AesRound,
    /// The other half of a round on aarch64, which the last one lacks: `AESMC`, `AESIMC`.
    AesMix,
    /// AES key schedules: `AESKEYGENASSIST`, `AESIMC`.
    AesKey,
    CarryLess,
    /// Galois field instructions: `GF2P8AFFINEQB` and its kin.
    Gfni,
    /// The SHA, SM3 and SM4 instructions.
    HashRound,
    /// Vector AND, OR, XOR, and three-way logic.
    VectorLogic,
    /// Moving bytes or larger parts about within vectors.
    Shuffle,
    /// Everything else that computes on vectors.
    VectorArithmetic,
    /// Vector register to vector register, or to and from a general register.
    VectorMove,
    /// Nothing but a load: memory to register.
    Load,
    /// Nothing but a store: register or constant to memory.
    Store,
    Branch,
    /// Computing on general registers, flags and mask registers.
    Scalar,
    /// String instructions: `MOVS`, `STOS`, with a repeat prefix or without.
    String,
    /// System calls, fences, prefetches, `NOP`, `VZEROUPPER` and what fits nowhere else.
    Other,
}

impl Class {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) class: Class,
    pub(crate) width: Option<u16>,
    pub(crate) reads_memory: bool,
    pub(crate) writes_memory: bool,
    /// It repeats under its own prefix.
    pub(crate) repeats: bool,
    pub(crate) sets: Vec<String>,
    pub(crate) mnemonic: String,
}

// The registers at each step of some calls, in memory that forked processes share.

/// The registers before one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Step(pub(crate) [u64; Self::WORDS]);

/// Where the registers are that an instruction numbers 0 to 15 (RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 …).
#[cfg(not(target_arch = "aarch64"))]
#[rustfmt::skip]
pub(crate) const REGISTER_PLACES: [usize; 16] = [13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7];
/// The same of X0 to X30 and the stack pointer.
#[cfg(target_arch = "aarch64")]
#[rustfmt::skip]
const REGISTER_PLACES: [usize; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
];

const STACK_POINTER: usize = if cfg!(target_arch = "aarch64") { 31 } else { 4 };

impl Step {
    /// As the kernel lays them out in a signal frame, and for a debugger on AArch64: the general registers, the
    /// instruction's address.
    pub(crate) const WORDS: usize = REGISTER_PLACES.len() + 1;

    pub fn address(&self) -> u64 {
        self.0[REGISTER_PLACES.len()]
    }

    pub fn stack(&self) -> u64 {
        self.register(STACK_POINTER)
    }

    /// A general register by the number that instructions give it.
    pub fn register(&self, number: usize) -> u64 {
        self.0[REGISTER_PLACES[number]]
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub steps: Range<usize>,
    pub end: End,
}

/// Calls that a tape has room for.
const MOST_CALLS: usize = (HEADER_WORDS - 1) / 2;

/// The number of calls, then for each where its steps end and how; last the process's word.
const HEADER_WORDS: usize = 512;
const PROCESS_WORD: usize = HEADER_WORDS - 1;

/// Steps of calls, one after the other, in memory that is shared with forked processes: what a child
/// records, its parent reads. Memory that no step was written to is not taken.
#[derive(Debug)]
pub struct Tape {
    memory: NonNull<u64>,
    room: usize,
}

impl Tape {
    pub fn new(room: usize) -> std::io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let len = Self::bytes(room);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), len, access, kind, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(std::io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, room })
    }

    fn bytes(room: usize) -> usize {
        (HEADER_WORDS + room * Step::WORDS) * size_of::<u64>()
    }

    fn header(&self) -> &[u64; HEADER_WORDS] {
        // SAFETY: the mapping begins with so many words; it is written to only through `&mut self`, or by a
        // child that has ended before its parent reads.
        unsafe { self.memory.cast().as_ref() }
    }

    pub fn calls(&self) -> Vec<Recorded> {
        let header = self.header();
        let count = (header[0] as usize).min(MOST_CALLS);
        let mut begin = 0;
        let call = |[end, how]: [u64; 2]| {
            let steps = begin..(end as usize).clamp(begin, self.room);
            begin = steps.end;
            Recorded { steps, end: if how == 0 { End::Returned } else { End::StepLimit } }
        };
        header[1..].as_chunks().0.iter().take(count).copied().map(call).collect()
    }

    /// Whether its first call was not seen to its end: nothing after it was recorded. Takes no memory.
    pub fn is_cut_at_first(&self) -> bool {
        let header = self.header();
        header[0] > 0 && header[2] != 0
    }

    /// Steps on the tape. Takes no memory, as [`Tape::calls`] does.
    pub fn step_count(&self) -> usize {
        self.used().1
    }

    /// A word for whoever reads the tape, from the process that recorded it; 0 where there is none.
    pub fn leave_word(&mut self, word: u64) {
        // SAFETY: as in `header`, and borrowed alone.
        let header: &mut [u64; HEADER_WORDS] = unsafe { self.memory.cast().as_mut() };
        header[PROCESS_WORD] = word;
    }

    /// What [`Tape::leave_word`] left.
    pub fn word(&self) -> u64 {
        self.header()[PROCESS_WORD]
    }

    pub fn steps(&self, of: Range<usize>) -> &[Step] {
        let end = of.end.min(self.room);
        // SAFETY: so many steps are in the mapping after the header; zeroes are valid ones; as for the header.
        let all = unsafe {
            let first = self.memory.as_ptr().add(HEADER_WORDS).cast::<Step>();
            std::slice::from_raw_parts(first, end)
        };
        &all[of.start.min(end)..]
    }

    /// Where the next call's steps go, and how many there is room for. Takes no memory: what a child records
    /// must not move what the library allocates.
    fn next(&mut self) -> (*mut Step, usize) {
        let (count, used) = self.used();
        let left = if count == MOST_CALLS { 0 } else { self.room - used };
        // SAFETY: within the mapping, at most at its end.
        (unsafe { self.memory.as_ptr().add(HEADER_WORDS).cast::<Step>().add(used) }, left)
    }

    /// Notes a call of so many steps.
    fn add(&mut self, steps: usize, end: End) {
        let (count, used) = self.used();
        // SAFETY: as in `header`, and borrowed alone.
        let header: &mut [u64; HEADER_WORDS] = unsafe { self.memory.cast().as_mut() };
        if count < MOST_CALLS {
            header[1 + 2 * count] = (used + steps) as u64;
            header[2 + 2 * count] = u64::from(end != End::Returned);
            header[0] += 1;
        }
    }

    /// Calls and steps so far.
    fn used(&self) -> (usize, usize) {
        let header = self.header();
        let count = (header[0] as usize).min(MOST_CALLS);
        let used = if count == 0 { 0 } else { header[2 * count - 1] as usize };
        (count, used.min(self.room))
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        // SAFETY: the mapping is this tape's own, and nothing borrows from it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), Self::bytes(self.room)) };
    }
}

/// What segment FS begins at in this thread, and in the process that it forks: the C library keeps a pointer to
/// itself there (ELF Handling For Thread-Local Storage, section 3.4.6).
pub fn thread_pointer() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let at: u64;
        // SAFETY: reads the thread's own control block, which every thread of the C library has.
        unsafe { std::arch::asm!("mov {}, fs:0", out(reg) at, options(nostack, readonly)) };
        at
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

// Forks that a library does not notice. One that draws random numbers may have a page cleared in forks (madvise(2),
// `MADV_WIPEONFORK`), finds it empty there and seeds itself anew: each process would go its own way.
/// Has the kernel keep what it would clear in forks of this process from now on.
pub fn hide_forks() {
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    for (from, bytes) in cleared(&smaps) {
        // SAFETY: the advice changes nothing in this process, whatever is mapped there.
        unsafe { libc::madvise(from as *mut _, bytes, libc::MADV_KEEPONFORK) };
    }
}

/// Where the mappings lie that forks find cleared, and their bytes.
fn cleared(smaps: &str) -> Vec<(usize, usize)> {
    let mut cleared = Vec::new();
    let mut last = None;
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if first == "VmFlags:" {
            cleared.extend(last.filter(|_| words.any(|flag| flag == "wf")));
        } else if let Some((from, to)) = first.split_once('-') {
            let number = |text: &str| usize::from_str_radix(text, 16).ok();
            last = number(from).zip(number(to)).map(|(from, to)| (from, to - from));
        }
    }
    cleared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_calls_as_one_add_what_each_address_was_visited() {
        let visit = |address, count| Visit { address, count, repeats: 1 };
        let trace = |visits: &[Visit], steps, end| Trace { visits: visits.to_vec(), steps, end };
        let one = trace(&[visit(1, 2), visit(5, 1)], 3, End::Returned);
        let other = trace(&[visit(1, 3), visit(4, 7)], 10, End::StepLimit);
        let both = one.clone().and(other.clone());
        let at_one = Visit { address: 1, count: 5, repeats: 2 };
        assert_eq!(both, trace(&[at_one, visit(4, 7), visit(5, 1)], 13, End::StepLimit));
        assert_eq!(other.and(one), both);
    }

    #[test]
    fn a_page_that_forks_would_find_empty_is_kept() {
        const BYTES: usize = 4096;
        let (access, kind) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, which nothing uses.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, kind, -1, 0) };
        // SAFETY: as above.
        let advised = unsafe { libc::madvise(page, BYTES, libc::MADV_WIPEONFORK) };
        assert_eq!(advised, 0);
        let is_cleared = || {
            let all = cleared(&std::fs::read_to_string("/proc/self/smaps").unwrap());
            all.contains(&(page as usize, BYTES))
        };
        assert!(is_cleared());
        hide_forks();
        assert!(!is_cleared());
        // SAFETY: mapped above.
        unsafe { libc::munmap(page, BYTES) };
    }
}
