//! ChaCha20 with a nonce of twelve bytes. No stream: the library drops what is left of a key stream's
//! block of 64 bytes at the end of each call, so that only the last may end within one.

use super::Request;
use super::api::{CryptFn, SetFn};
use super::plenty;
use crate::aligned::Aligned;
use crate::family::operations;
use contract::{Table, raw};

struct State {
    context: Aligned,
    set_key: SetFn,
    set_nonce: SetFn,
    crypt: CryptFn,
}

/// Opens ChaCha20. `chacha_crypt32`, for the 32-bit counter that goes with twelve bytes of nonce, came
/// with Nettle 3.7.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    // SAFETY: chacha.h.
    let (set_key, set_nonce, crypt) = unsafe {
        (
            request.function::<SetFn>("nettle_chacha_set_key")?,
            request.function::<SetFn>("nettle_chacha_set_nonce96")?,
            request.function::<CryptFn>("nettle_chacha_crypt32")?,
        )
    };
    let mut context = plenty();
    // SAFETY: `struct chacha_ctx` has 64 bytes; the key has 32.
    unsafe { set_key(context.as_mut_ptr(), request.key.as_ptr()) };
    Some(
        Table::new(
            State { context, set_key, set_nonce, crypt },
            raw::IN_PLACE,
            c"nettle_chacha_set_nonce96, nettle_chacha_crypt32",
        )
        .rekeys(c"nettle_chacha_set_key")
        .raw(),
    )
}

operations! { impl for State;
    fn message(&mut self, m) {
        (self.set_nonce)(self.context.as_mut_ptr(), m.nonce);
        (self.crypt)(self.context.as_mut_ptr(), m.len, m.output, m.input);
        raw::OK
    }

    fn rekey(&mut self, key) {
        (self.set_key)(self.context.as_mut_ptr(), key);
        raw::OK
    }
}
