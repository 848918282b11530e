//! ChaCha20.

use super::context::Context;
use super::{Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{c_int, c_void};

functions! {
    /// chacha20.h.
    struct Functions {
        mbedtls_chacha20_setkey: fn(*mut c_void, In) -> c_int;
        /// Context, nonce, block counter.
        mbedtls_chacha20_starts: fn(*mut c_void, In, u32) -> c_int;
        /// Context, length, input, output.
        mbedtls_chacha20_update: fn(*mut c_void, usize, In, Out) -> c_int;
    }
}

struct State {
    context: Context,
    f: Functions,
}

/// Opens ChaCha20.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let mut context = Context::new(request, "mbedtls_chacha20")?;
    let f = Functions::of(&request.library.object)?;
    // SAFETY: the key has 32 bytes.
    let code = unsafe { (f.mbedtls_chacha20_setkey)(context.get(), request.key.as_ptr()) };
    done("mbedtls_chacha20_setkey", code)?;
    let call = c"mbedtls_chacha20_starts, mbedtls_chacha20_update";
    let table = Table::new(State { context, f }, raw::IN_PLACE, call).streams();
    Ok(table.rekeys(c"mbedtls_chacha20_setkey").raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        let context = self.context.get();
        calls!(
            (self.f.mbedtls_chacha20_starts)(context, m.nonce, 0),
            (self.f.mbedtls_chacha20_update)(context, m.len, m.input, m.output),
        )
    }

    fn start(&mut self, nonce) {
        calls!((self.f.mbedtls_chacha20_starts)(self.context.get(), nonce, 0))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.f.mbedtls_chacha20_update)(self.context.get(), len, input, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_chacha20_setkey)(self.context.get(), key))
    }
}
