//! ChaCha20 with a nonce of twelve bytes. No stream: the library drops what is left of a key stream's
//! block of 64 bytes at the end of each call, so that only the last may end within one.

use super::{Request, plenty};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::operations;
use contract::{Table, functions, raw};
use std::ffi::c_void;

functions! {
    /// chacha.h. `nettle_chacha_crypt32`, for the 32-bit counter that goes with twelve bytes of nonce,
    /// came with Nettle 3.7.
    struct Functions {
        nettle_chacha_set_key: fn(*mut c_void, In);
        nettle_chacha_set_nonce96: fn(*mut c_void, In);
        nettle_chacha_crypt32: fn(*mut c_void, usize, Out, In);
    }
}

struct State {
    context: Aligned,
    f: Functions,
}

/// Opens ChaCha20.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    let f = Functions::of(&request.library.object).ok()?;
    let mut context = plenty();
    // SAFETY: `struct chacha_ctx` has 64 bytes; the key has 32.
    unsafe { (f.nettle_chacha_set_key)(context.as_mut_ptr(), request.key.as_ptr()) };
    let call = c"nettle_chacha_set_nonce96, nettle_chacha_crypt32";
    let table = Table::new(State { context, f }, raw::IN_PLACE, call);
    Some(table.rekeys(c"nettle_chacha_set_key").raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        (self.f.nettle_chacha_set_nonce96)(self.context.as_mut_ptr(), m.nonce);
        (self.f.nettle_chacha_crypt32)(self.context.as_mut_ptr(), m.len, m.output, m.input);
        raw::OK
    }

    fn rekey(&mut self, key) {
        (self.f.nettle_chacha_set_key)(self.context.as_mut_ptr(), key);
        raw::OK
    }
}
