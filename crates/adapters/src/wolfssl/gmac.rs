//! GMAC in one call under a key schedule that is made once.

use super::Request;
use super::api::{Context, done, lengths, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{c_int, c_void};

functions! {
    /// GMAC's, of aes.h.
    struct Functions {
        /// Context, key, length.
        wc_GmacSetKey: fn(*mut c_void, In, u32) -> c_int;
        /// Context, nonce, length, message, length, tag, length.
        wc_GmacUpdate: fn(*mut c_void, In, u32, In, u32, Out, u32) -> c_int;
    }
}

struct State {
    gmac: Context,
    f: Functions,
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // struct Gmac is a struct Aes in all versions, and is initialised as one.
    let (gmac, f) = (Context::aes(object)?, Functions::of(object)?);
    let (key, len) = (request.key.as_ptr(), request.key_len());
    // SAFETY: the key covers its length.
    done("wc_GmacSetKey", unsafe { (f.wc_GmacSetKey)(gmac.pointer(), key, len) })?;
    // wc_GmacUpdate makes the whole tag: there is nothing to stream with.
    Ok(Table::new(State { gmac, f }, raw::IN_PLACE, c"wc_GmacUpdate").raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!((self.f.wc_GmacUpdate)(self.gmac.pointer(), m.nonce, 12, m.input, len, m.tag, 16))
    }
}
