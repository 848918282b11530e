//! XTS, which only the AES module has: a function for a whole data unit.
//!
//! Not in place: where the unit ends within a block, the function writes the bytes that are stolen over
//! the input before it reads it (every version tried; README.md). A stream is in place, so there is none.

use super::context::Context;
use super::{Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use base::model::Primitive;
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_uint, c_void};

/// `mbedtls_aes_xts_setkey_enc`: context, both keys, bits of both.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In, c_uint) -> c_int;
/// `mbedtls_aes_crypt_xts`: context, direction, length, tweak, input, output.
type XtsFn = unsafe extern "C" fn(*mut c_void, c_int, usize, In, In, Out) -> c_int;

struct State {
    context: Context,
    set_key: SetKeyFn,
    key_bits: c_uint,
    call: XtsFn,
    way: c_int,
}

/// Opens XTS.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    if request.algorithm.cipher != Primitive::Aes {
        return Err(request.none());
    }
    let mut context = Context::new(request, "mbedtls_aes_xts")?;
    let way = if request.decrypts() { "dec" } else { "enc" };
    // SAFETY: aes.h.
    let (set_key, call) = unsafe {
        let set_key: SetKeyFn = request.function(&format!("mbedtls_aes_xts_setkey_{way}"))?;
        (set_key, request.function::<XtsFn>("mbedtls_aes_crypt_xts")?)
    };
    // SAFETY: the keys have so many bits.
    let code = unsafe { set_key(context.get(), request.key.as_ptr(), request.key_bits()) };
    done("mbedtls_aes_xts_setkey", code)?;
    let state = State { context, set_key, key_bits: request.key_bits(), call, way: request.way() };
    Ok(Table::new(state, 0, c"mbedtls_aes_crypt_xts")
        .rekeys(c"mbedtls_aes_xts_setkey_enc or _dec")
        .raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        calls!((self.call)(self.context.get(), self.way, m.len, m.nonce, m.input, m.output))
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.context.get(), key, self.key_bits))
    }
}
