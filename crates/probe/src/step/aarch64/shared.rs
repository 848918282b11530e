//! What both processes see: the question and the counts. A process that the asking one has forked may ask in its place,
//! while that waits.

use crate::step::{End, Trace, Visit};
use std::ptr::NonNull;

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
    /// The number that it is told for its own.
    own_number: u64,
    /// Of the error that kept the other process from attaching.
    error: i64,
    steps: u64,
    end: u64,
    len: u64,
    visits: [[u64; 3]; ROOM],
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) most_steps: u64,
    pub(super) process: libc::pid_t,
    /// Where registers are written to, and the number that the process is told for its own; none where steps are counted.
    pub(super) tape: Option<(u64, u64)>,
}

/// The mapping, for as long as the process lives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared(NonNull<Page>);

// SAFETY: the memory is there for good; the pipes between both processes, and the lock around stepping, order all
// access.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub(super) fn new() -> std::io::Result<Self> {
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

    pub(super) fn ask(&self, asked: &Asked) {
        // SAFETY: within the mapping; the other process waits.
        let page = unsafe { &mut *self.page() };
        (page.most_steps, page.process) = (asked.most_steps, asked.process as u64);
        (page.tape, page.own_number) = asked.tape.unwrap_or((0, 0));
    }

    pub(super) fn asked(&self) -> Asked {
        // SAFETY: within the mapping, whose other user has written and waits.
        let page = unsafe { &*self.page() };
        Asked {
            most_steps: page.most_steps,
            process: page.process as libc::pid_t,
            tape: (page.tape != 0).then_some((page.tape, page.own_number)),
        }
    }

    pub(super) fn fail(&self, error: &std::io::Error) {
        // SAFETY: within the mapping.
        unsafe { (*self.page()).error = error.raw_os_error().unwrap_or(0).into() };
    }

    pub(super) fn failure(&self) -> std::io::Error {
        // SAFETY: within the mapping.
        std::io::Error::from_raw_os_error(unsafe { (*self.page()).error } as i32)
    }

    /// Leaves what was counted; as much of it as there is room for.
    pub(super) fn answer(&self, trace: &Trace) {
        // SAFETY: within the mapping, whose other reader is stopped.
        let page = unsafe { &mut *self.page() };
        for (place, visit) in page.visits.iter_mut().zip(&trace.visits) {
            *place = [visit.address, visit.count, visit.repeats];
        }
        page.len = trace.visits.len().min(ROOM) as u64;
        self.answer_recorded(trace.steps, trace.end);
    }

    /// Leaves how many steps were recorded.
    pub(super) fn answer_recorded(&self, steps: u64, end: End) {
        // SAFETY: within the mapping, whose other reader is stopped.
        let page = unsafe { &mut *self.page() };
        page.steps = steps;
        page.end = match end {
            End::Returned => 0,
            End::StepLimit => 1,
            End::TableFull => 2,
        };
    }

    /// How many steps were recorded, and how that ended.
    pub(super) fn recorded(&self) -> (u64, End) {
        // SAFETY: within the mapping, whose other user has written and waits.
        let page = unsafe { &*self.page() };
        let end = match page.end {
            0 => End::Returned,
            1 => End::StepLimit,
            _ => End::TableFull,
        };
        (page.steps, end)
    }

    pub(super) fn trace(&self) -> Trace {
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

    /// How many places there is room for.
    pub(super) const fn room() -> usize {
        ROOM
    }
}
