//! The wire between both ends: two buffers in memory, and the BIOs that read and write them.
//!
//! A BIO of our own in the place of the library's memory BIO: the same few instructions in every stack,
//! and everything that went over the wire is still there afterwards.

use super::api::{Api, Crypto, Ptr};
use crate::bench::End;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long};

/// What one end has written, and how much of it the other has read.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) bytes: Vec<u8>,
    pub(super) read: usize,
}

/// What a BIO knows of its end.
#[derive(Debug)]
struct Pipe {
    incoming: *mut Buffer,
    outgoing: *mut Buffer,
}

/// Both directions. Boxed parts, so that nothing moves while BIOs point to it.
#[derive(Debug)]
pub(super) struct Wire {
    /// What the client and the server have written.
    buffers: [*mut Buffer; 2],
    pipes: [*mut Pipe; 2],
}

/// Bytes that either end writes in the longest handshake or in a batch of records, and more: nothing is
/// allocated inside the clock.
const CAPACITY: usize = 1 << 17;

impl Wire {
    pub(super) fn new() -> Self {
        let buffers = [0, 1].map(|_| {
            Box::into_raw(Box::new(Buffer { bytes: Vec::with_capacity(CAPACITY), read: 0 }))
        });
        let pipe = |outgoing: usize| {
            let (incoming, outgoing) = (buffers[1 - outgoing], buffers[outgoing]);
            Box::into_raw(Box::new(Pipe { incoming, outgoing }))
        };
        Self { buffers, pipes: [pipe(0), pipe(1)] }
    }

    /// A new BIO for an end; null when the library makes none.
    #[inline]
    pub(super) fn bio(&self, api: &'static Api, end: End) -> Ptr {
        CRYPTO.set(Some(&api.crypto));
        // SAFETY: the method is one of this library; the pipe lives as long as the wire, which outlives
        // the connection that the BIO goes to.
        unsafe {
            let bio = (api.crypto.BIO_new)(api.method);
            if !bio.is_null() {
                (api.crypto.BIO_set_data)(bio, self.pipes[end as usize].cast());
                (api.crypto.BIO_set_init)(bio, 1);
            }
            bio
        }
    }

    pub(super) fn written(&self, end: End) -> &Buffer {
        // SAFETY: made by `new`, freed by `drop`; no call of the library is under way while it is borrowed.
        unsafe { &*self.buffers[end as usize] }
    }

    pub(super) fn has_input(&self, end: End) -> bool {
        let other = if end == End::Client { End::Server } else { End::Client };
        let buffer = self.written(other);
        buffer.read < buffer.bytes.len()
    }

    /// Changes a bit in the middle of what an end has written.
    pub(super) fn spoil(&mut self, end: End) {
        // SAFETY: as in `written`, and the wire is borrowed for changing.
        let buffer = unsafe { &mut *self.buffers[end as usize] };
        let middle = buffer.bytes.len() / 2;
        if let Some(byte) = buffer.bytes.get_mut(middle) {
            *byte ^= 1;
        }
    }

    pub(super) fn clear(&mut self) {
        for buffer in self.buffers {
            // SAFETY: as in `written`.
            let buffer = unsafe { &mut *buffer };
            buffer.bytes.clear();
            buffer.read = 0;
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for (buffer, pipe) in self.buffers.into_iter().zip(self.pipes) {
            // SAFETY: both were boxed by `new`; the connections whose BIOs pointed here are freed.
            unsafe {
                drop(Box::from_raw(buffer));
                drop(Box::from_raw(pipe));
            }
        }
    }
}

thread_local! {
    /// The library whose BIO calls back on this thread: a callback is told nothing else.
    static CRYPTO: Cell<Option<&'static Crypto>> = const { Cell::new(None) };
}

/// `BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY`, and all flags about retries (openssl/bio.h).
const RETRY_READ: c_int = 0x01 | 0x08;
const ALL_RETRIES: c_int = 0x0f;
/// `BIO_CTRL_FLUSH`
const FLUSH: c_int = 11;

/// Makes the method of such BIOs.
pub(super) fn method(crypto: &Crypto) -> Result<Ptr, String> {
    /// `BIO_TYPE_SOURCE_SINK`, with a number that no BIO of the libraries has.
    const TYPE: c_int = 0x0400 | 0x7e;
    // SAFETY: the name is a C string that lives for ever; the callbacks have the types of the header.
    unsafe {
        let method = (crypto.BIO_meth_new)(TYPE, c"ciphermark".as_ptr());
        if method.is_null() {
            return Err("BIO_meth_new failed".to_owned());
        }
        (crypto.BIO_meth_set_write)(method, write);
        (crypto.BIO_meth_set_read)(method, read);
        (crypto.BIO_meth_set_ctrl)(method, control);
        Ok(method)
    }
}

unsafe extern "C" fn write(bio: Ptr, from: *const c_char, bytes: c_int) -> c_int {
    let Some(crypto) = CRYPTO.get() else { return -1 };
    let Ok(length) = usize::try_from(bytes) else { return -1 };
    // SAFETY: the library passes a BIO that `Wire::bio` made, and as many readable bytes as it says;
    // nothing else refers to the buffer during the call.
    unsafe {
        (crypto.BIO_clear_flags)(bio, ALL_RETRIES);
        let pipe = (crypto.BIO_get_data)(bio).cast::<Pipe>();
        let outgoing = &mut *(*pipe).outgoing;
        outgoing.bytes.extend_from_slice(std::slice::from_raw_parts(from.cast(), length));
    }
    bytes
}

unsafe extern "C" fn read(bio: Ptr, to: *mut c_char, bytes: c_int) -> c_int {
    let Some(crypto) = CRYPTO.get() else { return -1 };
    let Ok(wanted) = usize::try_from(bytes) else { return -1 };
    // SAFETY: as in `write`, with as many writable bytes as it says.
    unsafe {
        (crypto.BIO_clear_flags)(bio, ALL_RETRIES);
        let pipe = (crypto.BIO_get_data)(bio).cast::<Pipe>();
        let incoming = &mut *(*pipe).incoming;
        let there = &incoming.bytes[incoming.read..];
        let taken = there.len().min(wanted);
        if taken == 0 {
            (crypto.BIO_set_flags)(bio, RETRY_READ);
            return -1;
        }
        std::ptr::copy_nonoverlapping(there.as_ptr(), to.cast(), taken);
        incoming.read += taken;
        taken as c_int
    }
}

unsafe extern "C" fn control(_: Ptr, command: c_int, _: c_long, _: Ptr) -> c_long {
    c_long::from(command == FLUSH)
}
