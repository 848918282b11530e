//! AES-SIV of OpenSSL 3 on. A context takes one message and then needs its key again; what keeps
//! the key schedule is a copy of a context that has it.

use super::api::{Api, Ctx, InitFn};
use super::calls;
use super::context::Context;
use super::messages::{some_pointer, whole};
use super::state::{FAILED_LEN, State};
use crate::family::operations;
use base::model::{Algorithm, Direction};
use contract::{Table, raw};
use std::ffi::c_int;
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
    let copy = api.f.EVP_CIPHER_CTX_copy.ok_or("it exports no `EVP_CIPHER_CTX_copy`")?;
    let message = State::new(api, Context::empty(api)?, algorithm, direction);
    let init = api.calls(direction).init;
    let state = Siv { keyed, copy, message, nonce_len: algorithm.nonce_len, init };
    // The copy of a context is allocated. The tag, which encryption begins with, is made of the whole
    // message: no `start`.
    let flags = raw::IN_PLACE | raw::ALLOCATES;
    let table = Table::new(state, flags, calls::cipher(algorithm.mode, direction));
    let table = table.decrypts(direction == Direction::Decrypt);
    Ok(table.rekeys(calls::init(direction)).raw())
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

operations! { impl for Siv;
    /// A copy of the keyed context, the vector, the one update, final, tag.
    fn message(&mut self, m) {
        // An empty message needs its update: the tag is made there.
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        self.message.done(
            self.begin()
                && self.associate(m)
                && whole(self.message.feed(input, output, m.len), m.len)
                && self.message.end(output, 0) == 0
                && self.message.get_tag(m.tag),
        )
    }

    /// A copy of the keyed context, expected tag, the vector, the one update, where the tag is
    /// compared, and final.
    fn decrypt(&mut self, m) {
        // An empty message needs its update: the tag is read there.
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        if !(self.begin() && self.message.set_tag(m.tag) && self.associate(m)) {
            return self.message.not_done(raw::FAILED);
        }
        match self.message.feed(input, output, m.len) {
            FAILED_LEN => self.message.not_done(raw::REJECTED),
            all => self.message.done(whole(all, m.len) && self.message.end(output, 0) == 0),
        }
    }

    /// A new key for the context that is copied.
    fn rekey(&mut self, key) {
        // Null keeps the cipher.
        let keyed = self.keyed.as_ptr();
        let code = (self.init)(keyed, ptr::null(), ptr::null_mut(), key, ptr::null());
        self.message.done(code > 0)
    }
}
