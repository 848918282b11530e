//! ChaCha20 alone: `crypto_stream_chacha20_ietf_xor`.

use super::api::{XorFn, outcome};
use super::{Request, absent};
use crate::family::{KEY_IN_EACH_MESSAGE, operations, symbol};
use base::model::{Mode, Primitive};
use contract::{OpenError, Table, raw};
use std::ffi::CStr;

const CALL: &CStr = c"crypto_stream_chacha20_ietf_xor";

struct State {
    xor: XorFn,
    key: [u8; 32],
}

/// Opens the cipher; encryption and decryption are the same.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let algorithm = request.algorithm;
    if (algorithm.cipher, algorithm.mode) != (Primitive::ChaCha20, Mode::Stream) {
        return Err(absent(algorithm));
    }
    let key = request.key.try_into().expect("ChaCha20 has keys of 32 bytes");
    // SAFETY: the type is that of crypto_stream_chacha20.h.
    let xor = unsafe { request.library.get(symbol(CALL))? };
    let table = Table::new(State { xor, key }, raw::IN_PLACE, CALL);
    Ok(table.rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        outcome((self.xor)(m.output, m.input, m.len as u64, m.nonce, self.key.as_ptr()))
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 32]>().read();
        raw::OK
    }
}
