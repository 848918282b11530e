//! Authenticated modes. Botan's messages are ciphertext and tag in one piece (SIV: tag and
//! ciphertext), so what lies apart is put together or taken apart in a buffer of the session's.

use super::api::{Api, Code, FINAL, Object};
use super::{Request, SET_KEY, outcome};
use crate::family::{calls, operations};
use base::model::Mode;
use contract::{OpenError, Table, raw};
use std::ffi::CStr;
use std::ptr;

/// An opened algorithm.
struct State {
    api: Api,
    message: Object,
    /// A message that is begun and not ended would be in the way of the next one.
    stream: Object,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
    /// Where the ciphertext begins in Botan's message.
    text_at: usize,
    /// Where the tag begins: here, or behind the ciphertext.
    tag_first: bool,
    /// EAX encryption of Botan 2 keeps its state and refuses new associated data: it is reset before
    /// each message.
    resets_before: bool,
    /// Its decryption keeps it after a wrong tag.
    resets_rejected: bool,
    /// One whole message of Botan's. Grows with the first message of a size, which is a warm-up's.
    joined: Vec<u8>,
}

const CALLS: &CStr = c"botan_cipher_set_associated_data, botan_cipher_start, botan_cipher_update";
const CALLS_WITH_RESET: &CStr =
    c"botan_cipher_reset, botan_cipher_set_associated_data, botan_cipher_start, botan_cipher_update";

/// Opens an authenticated mode.
pub(super) fn open(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let (message, stream) = (request.cipher(name)?, request.cipher(name)?);
    let mode = request.algorithm.mode;
    let streams = takes_pieces(request, &stream)?;
    let tag_first = mode == Mode::Siv;
    let encrypts = request.encrypts();
    let keeps = mode == Mode::Eax && request.library.major < 3;
    let (resets_before, resets_rejected) = (keeps && encrypts, keeps && !encrypts);
    let tag_len = request.algorithm.tag_len;
    let state = State {
        api: *request.api(),
        message,
        stream,
        key_len: request.key.len(),
        nonce_len: request.algorithm.nonce_len,
        tag_len,
        text_at: if tag_first { tag_len } else { 0 },
        tag_first,
        resets_before,
        resets_rejected,
        joined: Vec::new(),
    };
    let flags = raw::IN_PLACE | request.forced();
    let call = if resets_before { CALLS_WITH_RESET } else { CALLS };
    let table = Table::new(state, flags, call).decrypts(!encrypts).streams_if(streams);
    Ok(table.rekeys(SET_KEY).raw())
}

/// Whether a message may go in by pieces of any number of blocks, each of which comes out at once.
fn takes_pieces(request: &Request<'_>, stream: &Object) -> Result<bool, OpenError> {
    let mut granularity = 0;
    // SAFETY: the result is writable.
    let code = unsafe {
        (request.api().botan_cipher_get_update_granularity)(stream.handle, &raw mut granularity)
    };
    request.done("botan_cipher_get_update_granularity", code)?;
    let whole = matches!(request.algorithm.mode, Mode::Ccm | Mode::Siv | Mode::GcmSiv);
    // OCB has whole blocks in pieces by definition; the others must take single bytes.
    let most = if request.algorithm.mode == Mode::Ocb { 16 } else { 1 };
    Ok(!whole && granularity <= most)
}

impl State {
    /// # Safety
    /// Associated data and nonce cover their lengths.
    #[inline]
    unsafe fn begin(&self, cipher: &Object, aad: (*const u8, usize), nonce: *const u8) -> Code {
        // SAFETY: the caller's.
        unsafe {
            if self.resets_before {
                let code = (self.api.botan_cipher_reset)(cipher.handle);
                if code != 0 {
                    return code;
                }
            }
            // Also when there is none: Botan keeps that of the message before, and SIV counts it.
            let code = (self.api.botan_cipher_set_associated_data)(cipher.handle, aad.0, aad.1);
            if code != 0 {
                return code;
            }
            (self.api.botan_cipher_start)(cipher.handle, nonce, self.nonce_len)
        }
    }

    /// Input that must all be taken, and output that must all be filled.
    ///
    /// # Safety
    /// Both cover their lengths.
    #[inline]
    unsafe fn crypt(
        &self,
        cipher: &Object,
        flags: u32,
        input: (*const u8, usize),
        output: (*mut u8, usize),
    ) -> i32 {
        let (mut written, mut consumed) = (0, 0);
        // SAFETY: the caller's; the two results are ours.
        let code = unsafe {
            (self.api.botan_cipher_update)(
                cipher.handle,
                flags,
                output.0,
                output.1,
                &raw mut written,
                input.0,
                input.1,
                &raw mut consumed,
            )
        };
        match code {
            0 if (written, consumed) == (output.1, input.1) => raw::OK,
            0 => raw::FAILED,
            code => outcome(code),
        }
    }

    /// The buffer for a message of `len` bytes, and where the tag lies in it.
    #[inline]
    fn joined(&mut self, len: usize) -> (*mut u8, usize) {
        let whole = len + self.tag_len;
        if self.joined.len() < whole {
            self.joined.resize(whole, 0);
        }
        (self.joined.as_mut_ptr(), if self.tag_first { 0 } else { len })
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        // The buffer holds ciphertext and tag, and is nobody else's.
        calls!(self.begin(&self.message, (m.aad, m.aad_len), m.nonce));
        let (joined, tag_at) = self.joined(m.len);
        let whole = (joined, m.len + self.tag_len);
        let result = self.crypt(&self.message, FINAL, (m.input, m.len), whole);
        if result == raw::OK {
            ptr::copy_nonoverlapping(joined.add(self.text_at), m.output, m.len);
            ptr::copy_nonoverlapping(joined.add(tag_at), m.tag, self.tag_len);
        }
        result
    }

    fn decrypt(&mut self, m) {
        calls!(self.begin(&self.message, (m.aad, m.aad_len), m.nonce));
        let (joined, tag_at) = self.joined(m.len);
        ptr::copy_nonoverlapping(m.input, joined.add(self.text_at), m.len);
        ptr::copy_nonoverlapping(m.tag, joined.add(tag_at), self.tag_len);
        let whole = (joined.cast_const(), m.len + self.tag_len);
        let result = self.crypt(&self.message, FINAL, whole, (m.output, m.len));
        if result == raw::REJECTED && self.resets_rejected {
            (self.api.botan_cipher_reset)(self.message.handle);
        }
        result
    }

    fn start(&mut self, nonce) {
        // No associated data may be null.
        calls!(
            // Ends the stream before, without which a new one is an error.
            (self.api.botan_cipher_reset)(self.stream.handle),
            self.begin(&self.stream, (ptr::null(), 0), nonce),
        )
    }

    fn update(&mut self, input, output, len) {
        self.crypt(&self.stream, 0, (input, len), (output, len))
    }

    fn rekey(&mut self, key) {
        calls!((self.api.botan_cipher_set_key)(self.message.handle, key, self.key_len))
    }
}
