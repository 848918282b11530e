//! XTS: two key schedules; one call is one data unit.

use super::Request;
use super::api::{Index, outcome};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_ulong, c_void};

/// `xts_start`: cipher, data key, tweak key, length of each, rounds, state.
type StartFn = unsafe extern "C" fn(Index, In, In, c_ulong, c_int, *mut c_void) -> c_int;
/// `xts_encrypt`, `xts_decrypt`: input, length, output, tweak (which is changed), state.
type CryptFn = unsafe extern "C" fn(In, c_ulong, Out, Out, *mut c_void) -> c_int;
/// `xts_done`: state.
type DoneFn = unsafe extern "C" fn(*mut c_void);

/// Bytes of a tweak.
const TWEAK: usize = 16;

struct State {
    xts: Aligned,
    restart: StartFn,
    cipher: Index,
    /// Of each of the two keys.
    key_len: usize,
    crypt: CryptFn,
    done: Option<DoneFn>,
    /// What `start` set; the library changes the copy that it is given.
    tweak: [u8; TWEAK],
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let xts = api.memory(c"symmetric_xts", 4 * 8520);
    let (data, tweak) = request.key.split_at(request.key.len() / 2);
    let encrypts = request.encrypts();
    // SAFETY: the types are those of tomcrypt_cipher.h; the keys cover their length.
    let (error, restart, crypt, done) = unsafe {
        let start = api.object.exported::<StartFn>("xts_start")?;
        let len = data.len() as c_ulong;
        (
            start(cipher, data.as_ptr(), tweak.as_ptr(), len, 0, xts.context()),
            start,
            api.object.exported(if encrypts { "xts_encrypt" } else { "xts_decrypt" })?,
            api.object.function("xts_done"),
        )
    };
    api.done("xts_start", error)?;
    let state = State { xts, restart, cipher, key_len: data.len(), crypt, done, tweak: [0; TWEAK] };
    let call = if encrypts { c"xts_encrypt" } else { c"xts_decrypt" };
    Ok(Table::new(state, raw::IN_PLACE, call).streams().rekeys(c"xts_start").raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        let tweak = m.nonce.cast::<[u8; TWEAK]>().read_unaligned();
        calls!(self.unit(tweak, m.input, m.output, m.len))
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; TWEAK]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        calls!(self.unit(self.tweak, input, output, len))
    }

    fn rekey(&mut self, key) {
        let (len, tweak) = (self.key_len as c_ulong, key.add(self.key_len));
        calls!((self.restart)(self.cipher, key, tweak, len, 0, self.xts.context()))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(done) = self.done {
            // SAFETY: a state that was started without error, ended once.
            unsafe { done(self.xts.context()) };
        }
    }
}

impl State {
    /// One data unit.
    ///
    /// # Safety
    /// `input` and `output` cover `len` bytes and are the same or do not overlap.
    #[inline]
    unsafe fn unit(
        &self,
        mut tweak: [u8; TWEAK],
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> c_int {
        // SAFETY: the caller's promise; the tweak is ours to change.
        unsafe {
            (self.crypt)(input, len as c_ulong, output, tweak.as_mut_ptr(), self.xts.context())
        }
    }
}
