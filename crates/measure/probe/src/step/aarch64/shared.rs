//! What both processes see: the question and the counts.

use crate::step::{End, Trace, Visit};
use std::ptr::NonNull;

/// Places that a call may run through: four times what the largest known one does.
const ROOM: usize = 1 << 17;

/// In memory that both have mapped; only one of them writes at a time.
#[repr(C)]
struct Page {
    most_steps: u64,
    /// Of the error that kept the other process from attaching.
    error: i64,
    steps: u64,
    end: u64,
    len: u64,
    visits: [[u64; 3]; ROOM],
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

    pub(super) fn ask(&self, most_steps: u64) {
        // SAFETY: within the mapping; the other process waits.
        unsafe { (*self.page()).most_steps = most_steps };
    }

    pub(super) fn asked(&self) -> u64 {
        // SAFETY: within the mapping.
        unsafe { (*self.page()).most_steps }
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
        page.steps = trace.steps;
        page.end = match trace.end {
            End::Returned => 0,
            End::StepLimit => 1,
            End::TableFull => 2,
        };
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
        let end = match page.end {
            0 => End::Returned,
            1 => End::StepLimit,
            _ => End::TableFull,
        };
        Trace { visits: visits.map(visit).collect(), steps: page.steps, end }
    }

    /// How many places there is room for.
    pub(super) const fn room() -> usize {
        ROOM
    }
}
