//! The registers at each step of some calls, in memory that forked processes share.

use crate::step::End;
use std::ops::Range;
use std::ptr::NonNull;

/// The registers before one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Step(pub(crate) [u64; Self::WORDS]);

/// Where the registers are that an instruction numbers 0 to 15 (RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 …).
#[cfg(not(target_arch = "aarch64"))]
#[rustfmt::skip]
pub(crate) const PLACES: [usize; 16] = [13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7];
/// The same of X0 to X30 and the stack pointer.
#[cfg(target_arch = "aarch64")]
#[rustfmt::skip]
const PLACES: [usize; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
];

/// The number of the stack pointer.
const STACK: usize = if cfg!(target_arch = "aarch64") { 31 } else { 4 };

impl Step {
    /// As the kernel lays them out in a signal frame, and for a debugger on AArch64: the general registers, the
    /// instruction's address, the flags.
    pub(crate) const WORDS: usize = PLACES.len() + 2;

    /// The instruction's address.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.0[PLACES.len()]
    }

    /// The stack pointer.
    #[must_use]
    pub fn stack(&self) -> u64 {
        self.register(STACK)
    }

    /// A general register by the number that instructions give it.
    #[must_use]
    pub fn register(&self, number: usize) -> u64 {
        self.0[PLACES[number]]
    }

    /// Whether address and all general registers are the same; flags may differ.
    #[must_use]
    pub fn is_alike(&self, other: &Self) -> bool {
        self.0[..=PLACES.len()] == other.0[..=PLACES.len()]
    }
}

/// One recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its steps among those of the tape.
    pub steps: Range<usize>,
    /// How recording it ended.
    pub end: End,
}

/// Calls that a tape has room for.
const CALLS: usize = (HEADER_WORDS - 1) / 2;

/// The number of calls, then for each where its steps end and how; last the process's word.
const HEADER_WORDS: usize = 512;
const WORD: usize = HEADER_WORDS - 1;

/// Steps of calls, one after the other, in memory that is shared with forked processes: what a child
/// records, its parent reads. Memory that no step was written to is not taken.
#[derive(Debug)]
pub struct Tape {
    memory: NonNull<u64>,
    /// Steps that there is room for.
    room: usize,
}

impl Tape {
    /// Room for so many steps.
    ///
    /// # Errors
    /// The system's.
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

    /// The calls that were recorded, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Recorded> {
        let header = self.header();
        let count = (header[0] as usize).min(CALLS);
        let mut begin = 0;
        let call = |[end, how]: [u64; 2]| {
            let steps = begin..(end as usize).clamp(begin, self.room);
            begin = steps.end;
            Recorded { steps, end: if how == 0 { End::Returned } else { End::StepLimit } }
        };
        header[1..].as_chunks().0.iter().take(count).copied().map(call).collect()
    }

    /// Steps on the tape. Takes no memory, as [`Tape::calls`] does.
    #[must_use]
    pub fn step_count(&self) -> usize {
        self.used().1
    }

    /// A word for whoever reads the tape, from the process that recorded it; 0 where there is none.
    pub fn leave_word(&mut self, word: u64) {
        // SAFETY: as in `header`, and borrowed alone.
        let header: &mut [u64; HEADER_WORDS] = unsafe { self.memory.cast().as_mut() };
        header[WORD] = word;
    }

    /// What [`Tape::leave_word`] left.
    #[must_use]
    pub fn word(&self) -> u64 {
        self.header()[WORD]
    }

    /// Steps that were recorded.
    #[must_use]
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
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(crate) fn next(&mut self) -> (*mut Step, usize) {
        let (count, used) = self.used();
        let left = if count == CALLS { 0 } else { self.room - used };
        // SAFETY: within the mapping, at most at its end.
        (unsafe { self.memory.as_ptr().add(HEADER_WORDS).cast::<Step>().add(used) }, left)
    }

    /// Notes a call of so many steps.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(crate) fn add(&mut self, steps: usize, end: End) {
        let (count, used) = self.used();
        // SAFETY: as in `header`, and borrowed alone.
        let header: &mut [u64; HEADER_WORDS] = unsafe { self.memory.cast().as_mut() };
        if count < CALLS {
            header[1 + 2 * count] = (used + steps) as u64;
            header[2 + 2 * count] = u64::from(end != End::Returned);
            header[0] += 1;
        }
    }

    /// Calls and steps so far.
    fn used(&self) -> (usize, usize) {
        let header = self.header();
        let count = (header[0] as usize).min(CALLS);
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
