//! Message authentication codes: `crypto_auth_hmac*` and `crypto_onetimeauth`, which is Poly1305.

use super::api::{AuthFn, AuthInitFn, FinalFn, Functions, KeyedInitFn, UpdateFn, outcome};
use super::{Request, absent};
use crate::aligned::Aligned;
use crate::family::operations;
use base::model::{Mode, Primitive};
use contract::{OpenError, Table, raw};
use std::ffi::CStr;
use std::ptr;

/// Opens a MAC.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (functions, algorithm, key) = (request.library, request.algorithm, request.key);
    match (algorithm.mode, algorithm.cipher) {
        (Mode::Hmac, Primitive::Sha256) => hmac(
            functions,
            "crypto_auth_hmacsha256",
            c"crypto_auth_hmacsha256_update, crypto_auth_hmacsha256_final",
            key,
        ),
        (Mode::Hmac, Primitive::Sha512) => hmac(
            functions,
            "crypto_auth_hmacsha512",
            c"crypto_auth_hmacsha512_update, crypto_auth_hmacsha512_final",
            key,
        ),
        (Mode::OneTimeMac, Primitive::Poly1305) => poly1305(functions, key),
        _ => Err(absent(algorithm)),
    }
}

struct Hmac {
    update: UpdateFn,
    finish: FinalFn,
    /// The state after both key pads: a plain structure, which each message starts as a copy of.
    keyed: Aligned,
    state: Aligned,
    state_len: usize,
}

fn hmac(
    functions: &Functions,
    prefix: &str,
    call: &'static CStr,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let state_len = functions.length(&format!("{prefix}_statebytes"))?;
    let mut keyed = Aligned::zeroed(state_len);
    // SAFETY: the types are those of crypto_auth_hmac*.h.
    let (init, update, finish) = unsafe {
        (
            functions.get::<KeyedInitFn>(&format!("{prefix}_init"))?,
            functions.get(&format!("{prefix}_update"))?,
            functions.get(&format!("{prefix}_final"))?,
        )
    };
    // SAFETY: the state has the size that the library asks for; `key` covers its length.
    if unsafe { init(keyed.as_mut_ptr(), key.as_ptr(), key.len()) } != 0 {
        return Err(OpenError::Failed(format!("{prefix}_init failed")));
    }
    let state = Aligned::zeroed(state_len);
    let state = Hmac { update, finish, keyed, state, state_len };
    Ok(Table::new(state, 0, call).parts().raw())
}

impl Hmac {
    #[inline]
    fn begin(&mut self) {
        let from = self.keyed.as_ptr::<u8>();
        // SAFETY: both have `state_len` bytes and are not the same memory.
        unsafe { ptr::copy_nonoverlapping(from, self.state.as_mut_ptr(), self.state_len) }
    }
}

operations! { impl for Hmac;
    fn message(&mut self, m) {
        self.begin();
        match (self.update)(self.state.as_mut_ptr(), m.input, m.len as u64) {
            0 => outcome((self.finish)(self.state.as_mut_ptr(), m.tag)),
            _ => raw::FAILED,
        }
    }

    fn start(&mut self, _nonce) {
        self.begin();
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.state.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.state.as_mut_ptr(), tag))
    }
}

struct Poly1305 {
    whole: AuthFn,
    init: AuthInitFn,
    update: UpdateFn,
    finish: FinalFn,
    key: Aligned,
    parts: Aligned,
}

/// A one-time key is used for one message: there is no schedule to be kept.
fn poly1305(functions: &Functions, key: &[u8]) -> Result<raw::Session, OpenError> {
    // SAFETY: the types are those of crypto_onetimeauth.h.
    let state = unsafe {
        Poly1305 {
            whole: functions.get("crypto_onetimeauth")?,
            init: functions.get("crypto_onetimeauth_init")?,
            update: functions.get("crypto_onetimeauth_update")?,
            finish: functions.get("crypto_onetimeauth_final")?,
            key: Aligned::copied(key),
            parts: Aligned::zeroed(functions.length("crypto_onetimeauth_statebytes")?),
        }
    };
    Ok(Table::new(state, 0, c"crypto_onetimeauth").parts().raw())
}

operations! { impl for Poly1305;
    fn message(&mut self, m) {
        outcome((self.whole)(m.tag, m.input, m.len as u64, self.key.as_ptr()))
    }

    fn start(&mut self, _nonce) {
        outcome((self.init)(self.parts.as_mut_ptr(), self.key.as_ptr()))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.parts.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.parts.as_mut_ptr(), tag))
    }
}
