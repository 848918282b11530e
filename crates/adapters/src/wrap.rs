//! AES key wrap (RFC 3394), and with padding (RFC 5649). What a library wraps is one piece, the integrity check and then the
//! key, eight bytes longer than the key. Here the check is a message's tag and lies apart, so the piece lies in a buffer of the
//! session's: wrapping copies tag and ciphertext out of it, unwrapping puts them together there. The copy is inside the clock
//! and declared (`copies`); whoever keeps wrapped keys in one piece does not pay it.

use crate::family::{In, Out, operations};
use contract::{Table, raw};
use std::ffi::CStr;
use std::ptr;

/// Bytes of the integrity check.
pub(crate) const CHECK: usize = 8;
/// What it is before the first step (RFC 3394 §2.2.3.1), for libraries that are told.
pub(crate) const INITIAL: [u8; CHECK] = [0xa6; CHECK];

/// A key that wraps others, in one direction. All functions return the interface's codes.
///
/// # Safety
/// Of each function: keys have the algorithm's length; of the plain key there are `len` bytes, of the wrapped one [`CHECK`]
/// more.
pub(crate) trait KeyWrap {
    unsafe fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32;
    /// May write over the wrapped key, and behind it over as many bytes as a check has.
    unsafe fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32;
    unsafe fn rekey(&mut self, key: In) -> i32;
}

struct Joined<W> {
    wrap: W,
    /// One wrapped key. Grows with the first message of a size, which is a warm-up's.
    joined: Vec<u8>,
}

/// A session; the calls of both directions, and what sets a key.
pub(crate) fn session<W: KeyWrap + 'static>(
    wrap: W,
    decrypts: bool,
    flags: u32,
    [wraps, unwraps]: [&'static CStr; 2],
    rekey: &'static CStr,
) -> raw::Session {
    let (state, call) =
        (Joined { wrap, joined: Vec::new() }, if decrypts { unwraps } else { wraps });
    let table = Table::new(state, raw::IN_PLACE | raw::COPIES | flags, call);
    table.decrypts(decrypts).rekeys(rekey).raw()
}

impl<W> Joined<W> {
    /// The buffer, with room for a key of so many bytes, and for what `EVP_DecryptUpdate` may write beside it: a block of
    /// eight bytes.
    #[inline(always)]
    fn room_for(&mut self, len: usize) -> *mut u8 {
        let room = len + 2 * CHECK;
        if self.joined.len() < room {
            self.joined.resize(room, 0);
        }
        self.joined.as_mut_ptr()
    }
}

operations! { impl[W: KeyWrap] for Joined<W>;
    fn message(&mut self, m) {
        let joined = self.room_for(m.len);
        let code = self.wrap.wrap(m.input, m.len, joined);
        if code == raw::OK {
            ptr::copy_nonoverlapping(joined, m.tag, CHECK);
            ptr::copy_nonoverlapping(joined.add(CHECK), m.output, m.len);
        }
        code
    }

    fn decrypt(&mut self, m) {
        let joined = self.room_for(m.len);
        ptr::copy_nonoverlapping(m.tag, joined, CHECK);
        ptr::copy_nonoverlapping(m.input, joined.add(CHECK), m.len);
        self.wrap.unwrap(joined, m.len, m.output)
    }

    fn rekey(&mut self, key) {
        self.wrap.rekey(key)
    }
}
