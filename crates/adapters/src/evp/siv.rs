//! AES-SIV of OpenSSL 3 on. A context takes one message and then needs its key again; what keeps
//! the key schedule is a copy of a context that has it.

use super::api::{Api, Ctx, InitFn};
use super::calls;
use super::context::Context;
use super::messages::{some_pointer, whole};
use super::state::{FAILED_LEN, State};
use contract::raw;
use model::{Algorithm, Direction};
use std::ffi::{c_int, c_void};
use std::ptr;

struct Siv {
    /// Has the key and no message.
    keyed: Context,
    copy: unsafe extern "C" fn(Ctx, Ctx) -> c_int,
    message: State,
    nonce_len: usize,
    init: InitFn,
}

/// The table for the timing loop; `close` there frees both contexts.
///
/// # Errors
/// Which call failed, with the library's reason.
pub(super) fn session(
    api: &Api,
    keyed: Context,
    algorithm: &Algorithm,
    direction: Direction,
) -> Result<raw::Session, String> {
    let copy = api.copy.ok_or("it exports no `EVP_CIPHER_CTX_copy`")?;
    let message = State::new(api, Context::empty(api)?, algorithm, direction);
    let init = api.calls(direction).init;
    let state = Siv { keyed, copy, message, nonce_len: algorithm.nonce_len, init };
    let encrypts = direction == Direction::Encrypt;
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        // The copy of a context is allocated.
        flags: raw::IN_PLACE | raw::ALLOCATES,
        message: Some(if encrypts { encrypt } else { decrypt }),
        call: calls::cipher(algorithm.mode, direction).as_ptr(),
        // The tag, which encryption begins with, is made of the whole message: no `start`.
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: calls::init(direction).as_ptr(),
        ..raw::Session::empty()
    })
}

impl Siv {
    #[inline(always)]
    fn begin(&self) -> bool {
        // SAFETY: two contexts that are ours.
        unsafe { (self.copy)(self.message.ctx(), self.keyed.as_ptr()) > 0 }
    }

    /// The vector of RFC 5297 §3: associated data, even when there is none, and the nonce.
    ///
    /// # Safety
    /// As the contract of `message`.
    #[inline(always)]
    unsafe fn associate(&self, m: &raw::Message) -> bool {
        let aad = some_pointer(m.aad.cast_mut());
        // SAFETY: as the caller promises.
        unsafe {
            self.message.feed(aad, ptr::null_mut(), m.aad_len) >= 0
                && self.message.feed(m.nonce, ptr::null_mut(), self.nonce_len) >= 0
        }
    }
}

/// A new key for the context that is copied.
unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: the contract of `rekey`; null keeps the cipher.
    unsafe {
        let siv = &*state.cast::<Siv>();
        let keyed = siv.keyed.as_ptr();
        let code = (siv.init)(keyed, ptr::null(), ptr::null_mut(), key, ptr::null());
        siv.message.done(code > 0)
    }
}

/// Frees the state.
unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `session` made it of a box; the contract has `close` called once, last.
    drop(unsafe { Box::from_raw(state.cast::<Siv>()) });
}

/// A copy of the keyed context, the vector, the one update, final, tag.
unsafe extern "C" fn encrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`. An empty message needs its update: the tag is made there.
    unsafe {
        let (siv, m) = (&*state.cast::<Siv>(), &*message);
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        siv.message.done(
            siv.begin()
                && siv.associate(m)
                && whole(siv.message.feed(input, output, m.len), m.len)
                && siv.message.end(output, 0) == 0
                && siv.message.get_tag(m.tag),
        )
    }
}

/// A copy of the keyed context, expected tag, the vector, the one update, where the tag is
/// compared, and final.
unsafe extern "C" fn decrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`. An empty message needs its update: the tag is read there.
    unsafe {
        let (siv, m) = (&*state.cast::<Siv>(), &*message);
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        if !(siv.begin() && siv.message.set_tag(m.tag) && siv.associate(m)) {
            return siv.message.not_done(raw::FAILED);
        }
        match siv.message.feed(input, output, m.len) {
            FAILED_LEN => siv.message.not_done(raw::REJECTED),
            all => siv.message.done(whole(all, m.len) && siv.message.end(output, 0) == 0),
        }
    }
}
