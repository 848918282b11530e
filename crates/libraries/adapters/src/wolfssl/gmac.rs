//! GMAC in one call under a key schedule that is made once.

use super::Request;
use super::api::{Context, done, lengths, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_void};

/// `wc_GmacSetKey`: context, key, length.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_GmacUpdate`: context, nonce, length, message, length, tag, length.
type UpdateFn = unsafe extern "C" fn(*mut c_void, In, u32, In, u32, Out, u32) -> c_int;

struct State {
    gmac: Context,
    update: UpdateFn,
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // struct Gmac is a struct Aes in all versions, and is initialised as one.
    let gmac = Context::aes(object)?;
    let len = request.key_len();
    // SAFETY: the types are those of aes.h for the symbols named; the key covers its length.
    let (code, update) = unsafe {
        let set_key = object.offered::<SetKeyFn>("wc_GmacSetKey")?;
        (set_key(gmac.pointer(), request.key.as_ptr(), len), object.offered("wc_GmacUpdate")?)
    };
    done("wc_GmacSetKey", code)?;
    // wc_GmacUpdate makes the whole tag: there is nothing to stream with.
    Ok(Table::new(State { gmac, update }, raw::IN_PLACE, c"wc_GmacUpdate").raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!((self.update)(self.gmac.pointer(), m.nonce, 12, m.input, len, m.tag, 16))
    }
}
