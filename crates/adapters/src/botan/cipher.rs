//! Modes without a tag.

use super::api::{Api, Code, FINAL, Object};
use super::{Request, SET_KEY, outcome};
use crate::family::{calls, operations};
use base::model::Mode;
use contract::{OpenError, Table, raw};

/// An opened cipher.
struct State {
    api: Api,
    cipher: Object,
    key_len: usize,
    nonce_len: usize,
}

impl State {
    /// # Safety
    /// The nonce has the algorithm's length.
    #[inline]
    unsafe fn begin(&self, nonce: *const u8) -> Code {
        // SAFETY: the caller's.
        unsafe { (self.api.botan_cipher_start)(self.cipher.handle, nonce, self.nonce_len) }
    }

    /// The whole input in one call. A call that ends a message is the only one that takes every
    /// length, and modes without a tag go on from where it ended until the next nonce.
    ///
    /// # Safety
    /// Input and output cover `len` bytes.
    #[inline]
    unsafe fn crypt(&self, input: *const u8, output: *mut u8, len: usize) -> i32 {
        // CBC decryption takes no bytes for a broken message: with padding it would be one.
        if len == 0 {
            return raw::OK;
        }
        let (mut written, mut consumed) = (0, 0);
        // SAFETY: the caller's; the two results are ours.
        let code = unsafe {
            (self.api.botan_cipher_update)(
                self.cipher.handle,
                FINAL,
                output,
                len,
                &raw mut written,
                input,
                len,
                &raw mut consumed,
            )
        };
        match code {
            0 if (written, consumed) == (len, len) => raw::OK,
            0 => raw::FAILED,
            code => outcome(code),
        }
    }
}

/// Opens a mode without a tag.
pub(super) fn open(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let cipher = request.cipher(name)?;
    let nonce_len = request.algorithm.nonce_len;
    let key_len = request.key.len();
    let state = State { api: *request.api(), cipher, key_len, nonce_len };
    let (flags, call) =
        (raw::IN_PLACE | request.forced(), c"botan_cipher_start, botan_cipher_update");
    Ok(if request.algorithm.mode == Mode::Xts {
        let state = Units { state, tweak: [0; 16] };
        Table::new(state, flags, call).streams().rekeys(SET_KEY).raw()
    } else {
        Table::new(state, flags, call).streams().rekeys(SET_KEY).raw()
    })
}

operations! { impl for State;
    fn message(&mut self, m) {
        calls!(self.begin(m.nonce));
        self.crypt(m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        calls!((self.api.botan_cipher_reset)(self.cipher.handle), self.begin(nonce))
    }

    fn update(&mut self, input, output, len) {
        self.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        calls!((self.api.botan_cipher_set_key)(self.cipher.handle, key, self.key_len))
    }
}

/// Each update of XTS is a data unit of its own, which begins with its tweak.
struct Units {
    state: State,
    tweak: [u8; 16],
}

operations! { impl for Units;
    fn message(&mut self, m) {
        calls!(self.state.begin(m.nonce));
        self.state.crypt(m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; 16]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        calls!(self.state.begin(self.tweak.as_ptr()));
        self.state.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        self.state.rekey(key)
    }
}
