//! CCM in one call with a key that is scheduled already.

use super::Request;
use super::aead::TAG;
use super::api::{ERROR, Index, OK, outcome};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::operations;
use base::model::Primitive;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// `rijndael_setup`, `camellia_setup`: key, length, rounds, state.
type SetupFn = unsafe extern "C" fn(In, c_int, c_int, *mut c_void) -> c_int;
functions! {
    /// CCM's, of tomcrypt_mac.h.
    struct Functions {
        /// Cipher, key, length, scheduled key, nonce, length, header, length, plaintext, length,
        /// ciphertext, tag, its length, direction (0 encrypts).
        ccm_memory: fn(
            Index, In, c_ulong, *mut c_void, In, c_ulong, In, c_ulong, Out, c_ulong, Out, Out,
            *mut c_ulong, c_int
        ) -> c_int;
    }
}

struct State {
    setup: SetupFn,
    key_len: c_int,
    cipher: Index,
    key: Aligned,
    f: Functions,
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let setup = match request.algorithm.cipher {
        Primitive::Camellia => "camellia_setup",
        _ => "rijndael_setup",
    };
    let (key, key_len) = (api.memory(c"symmetric_key", 4 * 4256), request.key_len());
    let f = Functions::of(&api.object)?;
    // SAFETY: the type is that of tomcrypt_cipher.h for both; the key covers its length.
    let (set_up, error) = unsafe {
        let set_up = api.object.exported::<SetupFn>(setup)?;
        (set_up, set_up(request.key.as_ptr(), key_len, 0, key.context()))
    };
    api.done(setup, error)?;
    let state = State { setup: set_up, key_len, cipher, key, f };
    let decrypts = request.decrypts();
    // Decryption goes through a buffer that the library allocates, and is copied out of it.
    let forced = if decrypts { raw::COPIES | raw::ALLOCATES } else { 0 };
    Ok(Table::new(state, raw::IN_PLACE | forced, c"ccm_memory")
        .decrypts(decrypts)
        .rekeys(c"rijndael_setup or camellia_setup")
        .raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        outcome(self.call(m, (m.input.cast_mut(), m.output), 0))
    }

    /// A wrong tag is `CRYPT_ERROR`: the library gives the truth value of its comparison back as the
    /// error code. Nothing else in `ccm_memory` has that code.
    fn decrypt(&mut self, m) {
        match self.call(m, (m.output, m.input.cast_mut()), 1) {
            OK => raw::OK,
            ERROR => raw::REJECTED,
            other => outcome(other),
        }
    }

    fn rekey(&mut self, key) {
        outcome((self.setup)(key, self.key_len, 0, self.key.context()))
    }
}

impl State {
    /// # Safety
    /// The message keeps the interface's rules; `plain` and `cipher` cover its length.
    #[inline]
    unsafe fn call(
        &self,
        m: &raw::Message,
        (plain, cipher): (*mut u8, *mut u8),
        direction: c_int,
    ) -> c_int {
        let (len, mut tag_len) = (m.len as c_ulong, TAG as c_ulong);
        // SAFETY: the caller's promise; without a key the scheduled one is used.
        unsafe {
            let (aad_len, key, no_key) = (m.aad_len as c_ulong, self.key.context(), ptr::null());
            let (seal, tag_len) = (self.f.ccm_memory, &raw mut tag_len);
            seal(
                self.cipher,
                no_key,
                0,
                key,
                m.nonce,
                12,
                m.aad,
                aad_len,
                plain,
                len,
                cipher,
                m.tag,
                tag_len,
                direction,
            )
        }
    }
}
