//! XChaCha20-Poly1305 in parts: the one-shot functions want the tag behind the ciphertext.

use super::Request;
use super::api::{Context, MAC_WRONG_TAG, done, lengths, outcome, verdict};
use crate::bytes::{In, Out};
use crate::family::{KEY_IN_EACH_MESSAGE, calls, operations};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{c_int, c_void};

functions! {
    /// chacha20_poly1305.h.
    struct Functions {
        /// Context, associated data, length, nonce, length, key, length, whether to encrypt.
        wc_XChaCha20Poly1305_Init: fn(*mut c_void, In, u32, In, u32, In, u32, c_int) -> c_int;
        /// Context, associated data, length.
        wc_ChaCha20Poly1305_UpdateAad: fn(*mut c_void, In, u32) -> c_int;
        /// Context, input, output, length.
        wc_ChaCha20Poly1305_UpdateData: fn(*mut c_void, In, Out, u32) -> c_int;
        /// Context, tag.
        wc_ChaCha20Poly1305_Final: fn(*mut c_void, Out) -> c_int;
        /// The two tags.
        wc_ChaCha20Poly1305_CheckTag: fn(In, In) -> c_int;
    }
}

struct State {
    message: Context,
    stream: Context,
    key: [u8; 32],
    encrypts: bool,
    f: Functions,
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = Functions::of(&request.library.object)?;
    let encrypts = request.encrypts();
    let key = request.key.try_into().expect("XChaCha20 has keys of 32 bytes");
    let (message, stream) = (Context::zeroed(), Context::zeroed());
    let mut state = State { message, stream, key, encrypts, f };
    // The header of 5.5 names key and nonce the other way round than the code takes them. Both
    // check their lengths, so a build in which it were so would say it here.
    // SAFETY: the nonce has 24 bytes.
    let code = unsafe { state.begin_stream([0; 24].as_ptr()) };
    done("wc_XChaCha20Poly1305_Init", code)?;
    let call = if encrypts {
        c"wc_XChaCha20Poly1305_Init, wc_ChaCha20Poly1305_UpdateAad, wc_ChaCha20Poly1305_UpdateData, wc_ChaCha20Poly1305_Final"
    } else {
        c"wc_XChaCha20Poly1305_Init, wc_ChaCha20Poly1305_UpdateAad, wc_ChaCha20Poly1305_UpdateData, wc_ChaCha20Poly1305_Final, wc_ChaCha20Poly1305_CheckTag"
    };
    Ok(Table::new(state, raw::IN_PLACE, call).streams().rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        let context = self.message.pointer();
        calls!(
            self.begin(&self.message, m.nonce),
            (self.f.wc_ChaCha20Poly1305_UpdateAad)(context, m.aad, aad_len),
            (self.f.wc_ChaCha20Poly1305_UpdateData)(context, m.input, m.output, len),
        );
        self.end(m.tag)
    }

    fn start(&mut self, nonce) {
        calls!(self.begin_stream(nonce))
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len);
        calls!((self.f.wc_ChaCha20Poly1305_UpdateData)(self.stream.pointer(), input, output, len))
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 32]>().read();
        raw::OK
    }
}

impl State {
    /// The associated data is not given to the beginning, which forgets to note its length.
    ///
    /// # Safety
    /// `nonce` covers 24 bytes; the context is zeroed, as [`State::end`] leaves it: the beginning
    /// does not set the lengths back either.
    #[inline]
    unsafe fn begin(&self, context: &Context, nonce: *const u8) -> c_int {
        let (key, way) = (self.key.as_ptr(), c_int::from(self.encrypts));
        // SAFETY: the caller's promise. No associated data; older versions want a pointer anyway.
        unsafe {
            let init = self.f.wc_XChaCha20Poly1305_Init;
            init(context.pointer(), nonce, 0, nonce, 24, key, 32, way)
        }
    }

    /// Begins a stream, in a context of its own: one that was begun before has no cheaper end.
    ///
    /// # Safety
    /// `nonce` covers 24 bytes.
    unsafe fn begin_stream(&mut self, nonce: *const u8) -> c_int {
        self.stream = Context::zeroed();
        // SAFETY: the caller's promise.
        unsafe { self.begin(&self.stream, nonce) }
    }

    /// # Safety
    /// `tag` covers 16 bytes, writable for encryption.
    #[inline]
    unsafe fn end(&self, tag: *mut u8) -> i32 {
        let mut own = [0; 16];
        // SAFETY: the caller's promise.
        unsafe {
            if self.encrypts {
                return outcome((self.f.wc_ChaCha20Poly1305_Final)(self.message.pointer(), tag));
            }
            let code = (self.f.wc_ChaCha20Poly1305_Final)(self.message.pointer(), own.as_mut_ptr());
            if code != 0 {
                return outcome(code);
            }
            let code = (self.f.wc_ChaCha20Poly1305_CheckTag)(tag, own.as_ptr());
            verdict(code, MAC_WRONG_TAG)
        }
    }
}
