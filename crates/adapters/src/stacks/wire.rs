//! The wire between both ends: two buffers in memory.
//!
//! Buffers of our own in the place of a library's: the same few instructions in every stack, and
//! everything that went over the wire is still there afterwards.

use crate::stacks::bench::End;

/// What one end has written, and how much of it the other has read.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
    read: usize,
}

/// What an end's callbacks know: where its bytes come from and where they go.
#[derive(Debug)]
pub(crate) struct Pipe {
    incoming: *mut Buffer,
    outgoing: *mut Buffer,
}

impl Pipe {
    /// Appends what an end writes.
    ///
    /// # Safety
    /// The wire that the pipe is of is live, and nothing else refers to its buffers during the call; as
    /// many bytes as are told can be read.
    #[inline]
    pub(crate) unsafe fn put(&self, from: *const u8, bytes: usize) {
        // SAFETY: the caller vouches for both.
        unsafe {
            (*self.outgoing).bytes.extend_from_slice(std::slice::from_raw_parts(from, bytes));
        }
    }

    /// Takes at most so many bytes of what came for an end; how many there were.
    ///
    /// # Safety
    /// As [`Pipe::put`], with bytes that can be written.
    #[inline]
    pub(crate) unsafe fn take(&self, to: *mut u8, wanted: usize) -> usize {
        // SAFETY: the caller vouches for both.
        unsafe {
            let incoming = &mut *self.incoming;
            let there = &incoming.bytes[incoming.read..];
            let taken = there.len().min(wanted);
            std::ptr::copy_nonoverlapping(there.as_ptr(), to, taken);
            incoming.read += taken;
            taken
        }
    }
}

/// Both directions. Boxed parts, so that nothing moves while a stack points to it.
#[derive(Debug)]
pub struct Wire {
    /// What the client and the server have written.
    buffers: [*mut Buffer; 2],
    pipes: [*mut Pipe; 2],
}

/// Bytes that either end writes in the longest handshake or in a batch of records, and more: nothing is
/// allocated inside the clock.
const CAPACITY: usize = 1 << 17;

impl Wire {
    pub(crate) fn new() -> Self {
        let buffers = [0, 1].map(|_| {
            Box::into_raw(Box::new(Buffer { bytes: Vec::with_capacity(CAPACITY), read: 0 }))
        });
        let pipe = |outgoing: usize| {
            let (incoming, outgoing) = (buffers[1 - outgoing], buffers[outgoing]);
            Box::into_raw(Box::new(Pipe { incoming, outgoing }))
        };
        Self { buffers, pipes: [pipe(0), pipe(1)] }
    }

    /// What an end's callbacks are given; lives as long as the wire.
    pub(crate) fn pipe(&self, end: End) -> *mut Pipe {
        self.pipes[end as usize]
    }

    /// Every byte that an end has written.
    pub(crate) fn written(&self, end: End) -> &[u8] {
        &self.buffer(end).bytes
    }

    pub(crate) fn has_input(&self, end: End) -> bool {
        let buffer = self.buffer(end.other());
        buffer.read < buffer.bytes.len()
    }

    fn buffer(&self, end: End) -> &Buffer {
        // SAFETY: made by `new`, freed by `drop`; no call of the library is under way while it is borrowed.
        unsafe { &*self.buffers[end as usize] }
    }

    /// Changes a bit in the middle of what an end has written.
    pub(crate) fn spoil(&mut self, end: End) {
        // SAFETY: as in `buffer`, and the wire is borrowed for changing.
        let buffer = unsafe { &mut *self.buffers[end as usize] };
        let middle = buffer.bytes.len() / 2;
        if let Some(byte) = buffer.bytes.get_mut(middle) {
            *byte ^= 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        for buffer in self.buffers {
            // SAFETY: as in `buffer`.
            let buffer = unsafe { &mut *buffer };
            buffer.bytes.clear();
            buffer.read = 0;
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for (buffer, pipe) in self.buffers.into_iter().zip(self.pipes) {
            // SAFETY: both were boxed by `new`; the connections that pointed here are freed.
            unsafe {
                drop(Box::from_raw(buffer));
                drop(Box::from_raw(pipe));
            }
        }
    }
}
