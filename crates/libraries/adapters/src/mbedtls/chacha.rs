//! ChaCha20.

use super::context::Context;
use super::{Missing, Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{Table, raw};
use std::ffi::{c_int, c_void};

/// `mbedtls_chacha20_setkey`: context, key.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `mbedtls_chacha20_starts`: context, nonce, block counter.
type StartFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `mbedtls_chacha20_update`: context, length, input, output.
type UpdateFn = unsafe extern "C" fn(*mut c_void, usize, In, Out) -> c_int;

struct State {
    context: Context,
    set_key: SetKeyFn,
    start: StartFn,
    update: UpdateFn,
}

/// Opens ChaCha20.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, Missing> {
    let mut context = Context::new(request, "mbedtls_chacha20")?;
    // SAFETY: chacha20.h; the key has 32 bytes.
    let (code, set_key, start_fn, update_fn) = unsafe {
        let set_key: SetKeyFn = request.function("mbedtls_chacha20_setkey")?;
        (
            set_key(context.get(), request.key.as_ptr()),
            set_key,
            request.function::<StartFn>("mbedtls_chacha20_starts")?,
            request.function::<UpdateFn>("mbedtls_chacha20_update")?,
        )
    };
    done(c"mbedtls_chacha20_setkey", code)?;
    let state = State { context, set_key, start: start_fn, update: update_fn };
    Ok(Table::new(state, raw::IN_PLACE, c"mbedtls_chacha20_starts, mbedtls_chacha20_update")
        .streams()
        .rekeys(c"mbedtls_chacha20_setkey")
        .raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        let context = self.context.get();
        calls!((self.start)(context, m.nonce, 0), (self.update)(context, m.len, m.input, m.output),)
    }

    fn start(&mut self, nonce) {
        calls!((self.start)(self.context.get(), nonce, 0))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.update)(self.context.get(), len, input, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.context.get(), key))
    }
}
