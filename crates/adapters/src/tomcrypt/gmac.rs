//! GMAC: GCM whose message is all associated data.

use super::Request;
use super::aead::TAG;
use super::api::{Index, outcome};
use super::gcm::{self, Functions};
use crate::aligned::Aligned;
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_ulong, c_void};

struct State {
    message: Aligned,
    stream: Aligned,
    f: Functions,
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = Functions::of(&request.library.object)?;
    let memory = || gcm::memory(request, &f, cipher);
    let state = State { message: memory()?, stream: memory()?, f };
    let call = c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_done";
    Ok(Table::new(state, raw::IN_PLACE, call).parts().raw())
}

impl State {
    /// # Safety
    /// `tag` covers 16 bytes.
    #[inline]
    unsafe fn end(&self, context: *mut c_void, tag: *mut u8) -> c_int {
        let mut len = TAG as c_ulong;
        // SAFETY: the caller's promise.
        unsafe { (self.f.gcm_done)(context, tag, &raw mut len) }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            (self.f.gcm_reset)(context),
            (self.f.gcm_add_iv)(context, m.nonce, 12),
            (self.f.gcm_add_aad)(context, m.input, m.len as c_ulong),
            self.end(context, m.tag),
        )
    }

    fn start(&mut self, nonce) {
        let context = self.stream.context();
        calls!((self.f.gcm_reset)(context), (self.f.gcm_add_iv)(context, nonce, 12))
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.f.gcm_add_aad)(self.stream.context(), input, len as c_ulong))
    }

    fn finish(&mut self, tag) {
        calls!(self.end(self.stream.context(), tag))
    }
}
