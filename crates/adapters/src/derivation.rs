//! What key derivations of all families have in common: the passphrase is kept from `open` on, and each message is one
//! call of the library's function with everything that it is given.

use crate::family::{In, Out, Request, whole};
use contract::raw;
use std::ffi::CStr;

pub(crate) struct Derive<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) salt: In,
    pub(crate) salt_len: usize,
    /// HKDF's; `cost` bytes of it.
    pub(crate) info: In,
    /// Iterations, bytes of memory, octets; bytes of `info`.
    pub(crate) cost: usize,
    pub(crate) out: Out,
    pub(crate) out_len: usize,
}

impl Derive<'_> {
    /// A length as one of C's numbers: all are a few bytes.
    pub(crate) fn len<N: TryFrom<usize>>(of: usize) -> N {
        N::try_from(of).ok().expect("lengths are a few bytes")
    }

    /// The cost as one of C's numbers; `None` where it is beyond them.
    pub(crate) fn cost<N: TryFrom<usize>>(&self) -> Option<N> {
        self.cost.try_into().ok()
    }

    /// Memory in KiB, as Argon2 counts it, and as scrypt's N with r = 8.
    pub(crate) fn kib(&self) -> usize {
        self.cost / 1024
    }
}

/// A session whose messages are calls of `derive`, which gives the interface's code.
pub(crate) fn session<L, F>(
    request: &Request<'_, L>,
    call: &'static CStr,
    derive: F,
) -> raw::Session
where
    F: Fn(&Derive<'_>) -> i32 + 'static,
{
    let (salt_len, out_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let key = request.key.to_vec();
    whole(0, call, move |m| {
        derive(&Derive {
            key: &key,
            salt: m.nonce,
            salt_len,
            info: m.input,
            cost: m.len,
            out: m.tag,
            out_len,
        })
    })
}

/// The interface's code for a function that says 1 or 0.
pub(crate) fn done(is_done: bool) -> i32 {
    if is_done { raw::OK } else { raw::FAILED }
}
