//! Authenticated modes that are begun, fed and ended with a tag: what GCM, EAX, OCB and
//! ChaCha20-Poly1305 have in common.

use super::Request;
use super::api::{NotEqualFn, OK, outcome};
use crate::aligned::Aligned;
use crate::bytes::Out;
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_int, c_ulong, c_void};

/// `gcm_done`, `eax_done`, `ocb3_done`, `hmac_done`, `poly1305_done`: state, tag, room for it and length.
pub(super) type DoneFn = unsafe extern "C" fn(*mut c_void, Out, *mut c_ulong) -> c_int;

/// Bytes of every tag here.
pub(super) const TAG: usize = 16;

/// What differs between the modes. Every function returns the library's error code.
///
/// # Safety
/// Of each function: `state` is a state of the mode, nonces have the algorithm's length, buffers
/// cover their lengths and are the same or do not overlap.
pub(super) trait AeadMode {
    /// What [`AeadMode::rekey`] calls.
    const REKEY: &'static CStr = c"none: the key is an argument of each message";

    /// The key that each message takes; none where the state has it.
    fn key(&mut self) -> &mut [u8];

    /// Sets a new key, which has the algorithm's length.
    #[inline]
    unsafe fn rekey(&mut self, _state: *mut c_void, key: *const u8) -> c_int {
        let own = self.key();
        // SAFETY: the trait's promises.
        unsafe { own.as_mut_ptr().copy_from_nonoverlapping(key, own.len()) };
        OK
    }

    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int;
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int;
    /// The part that no other follows.
    unsafe fn last(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the same promises.
        unsafe { self.part(state, i, o, len) }
    }
}

/// An opened authenticated mode. Streams have a state of their own.
pub(super) struct State<M> {
    mode: M,
    done: DoneFn,
    message: Aligned,
    stream: Aligned,
    /// Decryption: how tags are compared, because the library only ever makes them.
    not_equal: Option<NotEqualFn>,
}

impl<M: AeadMode> State<M> {
    /// The table of a mode whose tags `done` makes, with a state for messages and one for streams.
    pub(super) fn table(
        request: &Request<'_>,
        mode: M,
        done: DoneFn,
        [message, stream]: [Aligned; 2],
        (flags, call): (u32, &'static CStr),
    ) -> Result<raw::Session, OpenError> {
        let not_equal = request.decrypts().then(|| request.library.not_equal()).transpose()?;
        let state = Self { mode, done, message, stream, not_equal };
        Ok(Table::new(state, flags, call).streams().rekeys(M::REKEY).raw())
    }

    /// # Safety
    /// `tag` covers 16 bytes, writable for encryption.
    #[inline]
    unsafe fn end(&self, tag: *mut u8) -> i32 {
        let (mut own, mut len) = ([0; TAG], TAG as c_ulong);
        let state = self.message.context();
        // SAFETY: the caller's promise; both places have room for the tag.
        unsafe {
            let Some(not_equal) = self.not_equal else {
                return outcome((self.done)(state, tag, &raw mut len));
            };
            let error = (self.done)(state, own.as_mut_ptr(), &raw mut len);
            if error != OK {
                return outcome(error);
            }
            let differ = not_equal(own.as_ptr().cast(), tag.cast(), TAG) != 0;
            if differ { raw::REJECTED } else { raw::OK }
        }
    }
}

operations! { impl[M: AeadMode] for State<M>;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            self.mode.begin(context, m.nonce, (m.aad, m.aad_len)),
            self.mode.last(context, m.input, m.output, m.len),
        );
        self.end(m.tag)
    }

    fn start(&mut self, nonce) {
        outcome(self.mode.begin(self.stream.context(), nonce, (nonce, 0)))
    }

    fn update(&mut self, input, output, len) {
        outcome(self.mode.part(self.stream.context(), input, output, len))
    }

    fn rekey(&mut self, key) {
        let context = self.message.context();
        outcome(self.mode.rekey(context, key))
    }
}
