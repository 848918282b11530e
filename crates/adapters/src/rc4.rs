//! RC4, which has no nonce: a key stream begins where the key says, and each message moves it on. So each message of a
//! session sets the key again, inside the clock, as in a protocol that has a key for each message; a stream sets it once
//! and goes on.

use crate::family::{In, KEY_IN_EACH_MESSAGE, Out, operations};
use contract::{Table, raw};
use std::ffi::CStr;

const KEY: usize = 16;

/// A state of a library's. All functions return the interface's codes.
///
/// # Safety
/// Of each function: keys have [`KEY`] bytes; buffers cover their length and are the same or do not overlap.
pub(crate) trait Keyed {
    unsafe fn schedule(&mut self, key: In) -> i32;

    /// Goes on with the key stream.
    unsafe fn advance(&mut self, input: In, output: Out, len: usize) -> i32;

    /// All of a message, after the key.
    unsafe fn whole(&mut self, input: In, output: Out, len: usize) -> i32 {
        // SAFETY: the same promises.
        unsafe { self.advance(input, output, len) }
    }
}

struct Rc4<S> {
    key: [u8; KEY],
    message: S,
    /// A message in between must not touch it.
    stream: S,
}

/// A session over two states; `call` names what a message calls.
pub(crate) fn session<S: Keyed + 'static>(
    [message, stream]: [S; 2],
    key: &[u8],
    flags: u32,
    call: &'static CStr,
) -> raw::Session {
    let key = key.try_into().expect("the algorithm has keys of 16 bytes");
    let table = Table::new(Rc4 { key, message, stream }, raw::IN_PLACE | flags, call).streams();
    table.rekeys(KEY_IN_EACH_MESSAGE).raw()
}

operations! { impl[S: Keyed] for Rc4<S>;
    fn message(&mut self, m) {
        match self.message.schedule(self.key.as_ptr()) {
            raw::OK => self.message.whole(m.input, m.output, m.len),
            code => code,
        }
    }

    fn start(&mut self, _nonce) {
        self.stream.schedule(self.key.as_ptr())
    }

    fn update(&mut self, input, output, len) {
        self.stream.advance(input, output, len)
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; KEY]>().read();
        raw::OK
    }
}
