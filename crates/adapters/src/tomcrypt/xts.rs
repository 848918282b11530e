//! XTS: two key schedules; one call is one data unit.

use super::api::{Api, Index, calls, close, given};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::Direction;
use std::ffi::{c_int, c_ulong, c_void};

/// `xts_start`: cipher, data key, tweak key, length of each, rounds, state.
type StartFn =
    unsafe extern "C" fn(Index, *const u8, *const u8, c_ulong, c_int, *mut c_void) -> c_int;
/// `xts_encrypt`, `xts_decrypt`: input, length, output, tweak (which is changed), state.
type CryptFn = unsafe extern "C" fn(*const u8, c_ulong, *mut u8, *mut u8, *mut c_void) -> c_int;
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

pub(super) fn open(
    api: &Api,
    cipher: Index,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let xts = api.memory(c"symmetric_xts", 4 * 8520);
    let (data, tweak) = key.split_at(key.len() / 2);
    let encrypts = direction == Direction::Encrypt;
    // SAFETY: the types are those of tomcrypt_cipher.h; the keys cover their length.
    let (error, restart, crypt, done) = unsafe {
        let start = api.object.offered::<StartFn>("xts_start")?;
        let len = data.len() as c_ulong;
        (
            start(cipher, data.as_ptr(), tweak.as_ptr(), len, 0, xts.context()),
            start,
            api.object.offered(if encrypts { "xts_encrypt" } else { "xts_decrypt" })?,
            api.object.function("xts_done"),
        )
    };
    api.done("xts_start", error)?;
    let state = State { xts, restart, cipher, key_len: data.len(), crypt, done, tweak: [0; TWEAK] };
    Ok(raw::Session {
        state: given(state),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        finish: None,
        call: if encrypts { c"xts_encrypt".as_ptr() } else { c"xts_decrypt".as_ptr() },
        close: Some(close::<State>),
        rekey: Some(rekey),
        rekey_call: c"xts_start".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has both keys.
    unsafe {
        let state = &*state.cast::<State>();
        let (len, tweak) = (state.key_len as c_ulong, key.add(state.key_len));
        calls!((state.restart)(state.cipher, key, tweak, len, 0, state.xts.context()))
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

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let tweak = m.nonce.cast::<[u8; TWEAK]>().read_unaligned();
        calls!(state.unit(tweak, m.input, m.output, m.len))
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        state.tweak = nonce.cast::<[u8; TWEAK]>().read_unaligned();
    }
    raw::OK
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.unit(state.tweak, input, output, len))
    }
}
