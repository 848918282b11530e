//! What runs inside the clock.

use super::Aegis;
use super::api::Functions;
use crate::aligned::Aligned;
use crate::family::{KEY_IN_EACH_MESSAGE, Request, operations};
use contract::{Table, raw};
use std::ffi::CStr;
use std::ptr;

/// Bytes for an incremental state. The library exports no function that tells the size, and the
/// headers' largest, of AEGIS-128X4, has grown to 832: this is several times that.
const STATE_LEN: usize = 4096;

struct State {
    functions: Functions,
    key: Aligned,
    key_len: usize,
    tag_len: usize,
    stream: Aligned,
}

/// The table for the timing loop; `close` there frees the state. AEGIS has no key schedule: key
/// and nonce go into its state together.
pub(super) fn open(
    functions: Functions,
    request: &Request<'_, Aegis>,
    call: &'static CStr,
) -> raw::Session {
    let streams = functions.stream.is_some();
    let state = State {
        functions,
        key: Aligned::copied(request.key),
        key_len: request.key.len(),
        tag_len: request.algorithm.tag_len,
        stream: Aligned::zeroed(STATE_LEN),
    };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts());
    table.streams_if(streams).rekeys(KEY_IN_EACH_MESSAGE).raw()
}

operations! { impl for State;
    fn message(&mut self, m) {
        let (key, encrypt, tag_len) = (self.key.as_ptr(), self.functions.encrypt, self.tag_len);
        let result =
            encrypt(m.output, m.tag, tag_len, m.input, m.len, m.aad, m.aad_len, m.nonce, key);
        if result == 0 { raw::OK } else { raw::FAILED }
    }

    /// The only error of decryption under a tag length that the library knows is a wrong tag.
    fn decrypt(&mut self, m) {
        let (key, decrypt, tag_len) = (self.key.as_ptr(), self.functions.decrypt, self.tag_len);
        let result =
            decrypt(m.output, m.input, m.len, m.tag, tag_len, m.aad, m.aad_len, m.nonce, key);
        if result == 0 { raw::OK } else { raw::REJECTED }
    }

    fn start(&mut self, nonce) {
        // No associated data.
        let Some(stream) = self.functions.stream else { return raw::FAILED };
        (stream.init)(self.stream.as_mut_ptr(), ptr::null(), 0, nonce, self.key.as_ptr());
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        let Some(stream) = self.functions.stream else { return raw::FAILED };
        match (stream.update)(self.stream.as_mut_ptr(), output, input, len) {
            0 => raw::OK,
            _ => raw::FAILED,
        }
    }

    /// Each message takes its key as an argument.
    fn rekey(&mut self, key) {
        self.key.overwrite(key, self.key_len);
        raw::OK
    }
}
