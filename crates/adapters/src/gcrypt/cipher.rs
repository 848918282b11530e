//! A cipher's state, and one call of the library's for each step of a message.

use super::api::{BytesFn, CipherApi, CryptFn, CtlFn, Error, GetTagFn, ctl};
use super::handle::Opened;
use super::outcome::outcome;
use super::{messages, names};
use crate::family::{calls, operations};
use base::model::{Algorithm, Direction, Mode};
use contract::{Table, raw};
use std::ffi::c_void;
use std::ptr;

/// An opened algorithm in one direction.
///
/// Streams have a handle of their own: up to 1.10.1 at least, setiv in GCM forgets to drop the part
/// of a block that an unfinished message left in the authentication, so a message after a stream
/// under the same handle would get a wrong tag. Two handles cost nothing inside the clock.
pub(super) struct State {
    pub(super) message: Opened,
    pub(super) stream: Opened,
    crypt: CryptFn,
    set_nonce: BytesFn,
    authenticate: BytesFn,
    tag: TagFn,
    ctl: CtlFn,
    set_key: BytesFn,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
}

/// Encryption gets the tag, decryption checks it.
#[derive(Clone, Copy)]
enum TagFn {
    Get(GetTagFn),
    Check(BytesFn),
}

impl State {
    /// Takes over two handles that are opened for the algorithm.
    pub(super) fn new(
        api: &CipherApi,
        [message, stream]: [Opened; 2],
        algorithm: &Algorithm,
        direction: Direction,
    ) -> Self {
        let encrypts = direction == Direction::Encrypt;
        Self {
            message,
            stream,
            crypt: if encrypts { api.gcry_cipher_encrypt } else { api.gcry_cipher_decrypt },
            // In counter mode setiv is accepted, and sets something that the mode never reads.
            set_nonce: if algorithm.mode == Mode::Ctr {
                api.gcry_cipher_setctr
            } else {
                api.gcry_cipher_setiv
            },
            authenticate: api.gcry_cipher_authenticate,
            tag: if encrypts {
                TagFn::Get(api.gcry_cipher_gettag)
            } else {
                TagFn::Check(api.gcry_cipher_checktag)
            },
            ctl: api.gcry_cipher_ctl,
            set_key: api.gcry_cipher_setkey,
            key_len: algorithm.key_len,
            nonce_len: algorithm.nonce_len,
            tag_len: algorithm.tag_len,
        }
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(super) fn into_session(self, mode: Mode, direction: Direction) -> raw::Session {
        // Each call of the XTS functions is one data unit and raises the tweak by one.
        let next_unit = if mode == Mode::Xts { raw::NEXT_UNIT } else { 0 };
        // CCM has the lengths of a message in its first block; the SIVs go over it twice.
        let streams = !matches!(mode, Mode::Ccm | Mode::Siv | Mode::GcmSiv);
        let (flags, call) = (raw::IN_PLACE | next_unit, names::cipher_calls(mode, direction));
        let table = Table::new(self, flags, call).streams_if(streams).rekeys(c"gcry_cipher_setkey");
        messages::of(mode, table.raw())
    }

    /// # Safety
    /// `nonce` has the algorithm's length.
    #[inline]
    pub(super) unsafe fn set_nonce(&self, cipher: &Opened, nonce: *const u8) -> Error {
        // SAFETY: the caller's promise.
        unsafe { (self.set_nonce)(cipher.handle, nonce.cast(), self.nonce_len) }
    }

    /// # Safety
    /// `input` and `output` cover `len` bytes and are the same or do not overlap.
    #[inline]
    pub(super) unsafe fn crypt(
        &self,
        cipher: &Opened,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> Error {
        // In place is asked for by a null input, not by equal pointers.
        let (input, input_len) =
            if ptr::eq(input, output) { (ptr::null(), 0) } else { (input, len) };
        // SAFETY: the caller's promise.
        unsafe { (self.crypt)(cipher.handle, output.cast(), len, input.cast(), input_len) }
    }

    /// # Safety
    /// `m.aad` covers `m.aad_len` bytes.
    #[inline]
    pub(super) unsafe fn authenticate(&self, m: &raw::Message) -> Error {
        // SAFETY: the caller's promise.
        if m.aad_len == 0 { 0 } else { unsafe { self.authenticate_always(m) } }
    }

    /// # Safety
    /// As [`State::authenticate`].
    #[inline]
    pub(super) unsafe fn authenticate_always(&self, m: &raw::Message) -> Error {
        // SAFETY: the caller's promise.
        unsafe { (self.authenticate)(self.message.handle, m.aad.cast(), m.aad_len) }
    }

    /// The modes whose tag the ciphertext depends on: decryption is given the tag first, and
    /// rejects the message itself.
    ///
    /// # Safety
    /// The message keeps the interface's rules.
    #[inline]
    pub(super) unsafe fn crypt_synthetic(&self, m: &raw::Message) -> Error {
        let crypt = || {
            // SAFETY: the caller's promise.
            unsafe { self.crypt(&self.message, m.input, m.output, m.len) }
        };
        match self.tag {
            TagFn::Get(_) => match crypt() {
                // SAFETY: the caller's promise.
                0 => unsafe { self.tag(m.tag) },
                error => error,
            },
            TagFn::Check(_) => {
                let command = ctl::SET_DECRYPTION_TAG;
                // SAFETY: the command reads a tag of this length.
                match unsafe { self.ctl(&self.message, command, m.tag.cast(), self.tag_len) } {
                    0 => crypt(),
                    error => error,
                }
            }
        }
    }

    /// # Safety
    /// `tag` has the algorithm's length and is writable for encryption.
    #[inline]
    pub(super) unsafe fn tag(&self, tag: *mut u8) -> Error {
        // SAFETY: the caller's promise.
        unsafe {
            match self.tag {
                TagFn::Get(get) => get(self.message.handle, tag.cast(), self.tag_len),
                TagFn::Check(check) => check(self.message.handle, tag.cast(), self.tag_len),
            }
        }
    }

    /// # Safety
    /// `buffer` is what the command asks for.
    #[inline]
    pub(super) unsafe fn ctl(
        &self,
        cipher: &Opened,
        command: i32,
        buffer: *mut c_void,
        len: usize,
    ) -> Error {
        // SAFETY: the caller's promise.
        unsafe { (self.ctl)(cipher.handle, command, buffer, len) }
    }

    /// The lengths of a message of CCM.
    #[inline]
    pub(super) fn set_lengths(&self, m: &raw::Message) -> Error {
        let mut lengths = [m.len as u64, m.aad_len as u64, self.tag_len as u64];
        let (buffer, size) = (lengths.as_mut_ptr().cast(), size_of_val(&lengths));
        // SAFETY: the command reads three numbers.
        unsafe { self.ctl(&self.message, ctl::SET_CCM_LENGTHS, buffer, size) }
    }

    /// Back to the state after setkey.
    #[inline]
    pub(super) fn reset(&self, cipher: &Opened) -> Error {
        // SAFETY: the command takes no buffer.
        unsafe { self.ctl(cipher, ctl::RESET, ptr::null_mut(), 0) }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        calls!(
            self.set_nonce(&self.message, m.nonce),
            self.crypt(&self.message, m.input, m.output, m.len)
        )
    }

    fn start(&mut self, nonce) {
        calls!(self.set_nonce(&self.stream, nonce))
    }

    fn update(&mut self, input, output, len) {
        calls!(self.crypt(&self.stream, input, output, len))
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.message.handle, key.cast(), self.key_len))
    }
}
