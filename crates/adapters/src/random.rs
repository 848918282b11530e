//! What generators of random bytes of all families have in common: each message is one call of the library's function.

use crate::family::{Out, whole};
use contract::raw;
use std::ffi::CStr;

/// A session whose messages are calls of `fill`, which is given where to write how many bytes and gives the interface's
/// code.
pub(crate) fn session<F>(call: &'static CStr, mut fill: F) -> raw::Session
where
    F: FnMut(Out, usize) -> i32 + 'static,
{
    whole(0, call, move |m| fill(m.output, m.len))
}

/// In pieces of so many bytes, where the library's function gives no more; the first code that is not 0 ends it.
#[inline]
pub(crate) fn in_pieces(
    out: Out,
    len: usize,
    most: usize,
    fill: impl Fn(Out, usize) -> i32,
) -> i32 {
    let mut done = 0;
    while done < len {
        let piece = most.min(len - done);
        match fill(out.wrapping_add(done), piece) {
            0 => done += piece,
            _ => return raw::FAILED,
        }
    }
    raw::OK
}
