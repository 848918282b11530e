//! ChaCha20 by `CRYPTO_chacha_20`: BoringSSL and AWS-LC, which have no `EVP_CIPHER` of it. One
//! call takes key, nonce and counter; there is nothing to set up, and no stream.

use crate::bytes::{In, Out};
use crate::family::operations;
use contract::loader::SharedObject;
use contract::{Table, raw};

/// `CRYPTO_chacha_20(out, in, in_len, key, nonce, counter)`
type ChachaFn = unsafe extern "C" fn(Out, In, usize, In, In, u32);

struct State {
    chacha: ChachaFn,
    key: [u8; 32],
}

/// `None` when the library does not have it. LibreSSL's function of that name takes a nonce of 8
/// bytes; the other functions of its ChaCha tell it apart.
pub(super) fn session(object: &SharedObject, key: [u8; 32]) -> Option<raw::Session> {
    if object.has("ChaCha_set_key") {
        return None;
    }
    // SAFETY: the type is that of chacha.h.
    let chacha = unsafe { object.function("CRYPTO_chacha_20") }?;
    Some(Table::new(State { chacha, key }, raw::IN_PLACE, c"CRYPTO_chacha_20").raw())
}

operations! { impl for State;
    /// The whole message from block 0.
    fn message(&mut self, m) {
        (self.chacha)(m.output, m.input, m.len, self.key.as_ptr(), m.nonce, 0);
        raw::OK
    }
}
