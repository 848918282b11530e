//! Ciphers and authenticated modes behind C functions.

use crate::export::pointers::{array, buffer, slice, write};
use crate::export::{Buffer, Bytes, Done, Refusal, code, raw};
use crate::{Operations, Table};
use std::ffi::CStr;

/// A mode under a key whose schedule is done. Each call is one whole message.
pub trait Mode: 'static {
    /// IV, initial counter block, tweak or nonce.
    type Nonce: Bytes;
    /// No bytes for modes without authentication.
    type Tag: Bytes;
    /// What the session says of itself.
    const FLAGS: u32 = raw::IN_PLACE;
    /// The library's functions that `encrypt` and `decrypt` call.
    const CALLS: [&'static CStr; 2];
    /// The library's functions that [`Mode::rekeyed`] calls; `None` where it is not there.
    const REKEY: Option<&'static CStr> = None;

    /// The same mode under another key of the same length, as an application makes it for each key.
    /// `None` when the library does not take the key.
    fn rekeyed(&self, _key: &[u8]) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// One message.
    ///
    /// # Errors
    /// [`Refusal::Failed`] when the library does not take it.
    fn encrypt(&mut self, nonce: &Self::Nonce, aad: &[u8], buffer: Buffer<'_>) -> Done<Self::Tag>;

    /// One message.
    ///
    /// # Errors
    /// [`Refusal::Tag`] when the tag is wrong, [`Refusal::Failed`] when the library does not take
    /// the message.
    fn decrypt(
        &mut self,
        nonce: &Self::Nonce,
        aad: &[u8],
        buffer: Buffer<'_>,
        tag: &Self::Tag,
    ) -> Done;
}

/// A mode whose library can continue over several calls.
pub trait Streaming: Mode {
    /// An encryption that has begun.
    type Encryptor: Update;
    /// A decryption that has begun.
    type Decryptor: Update;

    /// Begins; outside the clock.
    fn start_encrypting(&self, nonce: &Self::Nonce) -> Self::Encryptor;
    /// Begins; outside the clock.
    fn start_decrypting(&self, nonce: &Self::Nonce) -> Self::Decryptor;
}

/// A stream that has been started.
pub trait Update: 'static {
    /// Continues it.
    ///
    /// # Errors
    /// [`Refusal::Failed`] when the library does not take a piece of this length.
    fn update(&mut self, buffer: Buffer<'_>) -> Done;
}

/// How a mode streams in one direction; `()` where it does not.
trait Stream<M: Mode>: Sized {
    fn start(mode: &M, nonce: &M::Nonce) -> Option<Self>;
    fn update(&mut self, buffer: Buffer<'_>) -> Done;
}

impl<M: Mode> Stream<M> for () {
    fn start(_: &M, _: &M::Nonce) -> Option<Self> {
        None
    }

    fn update(&mut self, _: Buffer<'_>) -> Done {
        Err(Refusal::Failed)
    }
}

struct Encrypts<E>(E);

impl<M: Streaming> Stream<M> for Encrypts<M::Encryptor> {
    fn start(mode: &M, nonce: &M::Nonce) -> Option<Self> {
        Some(Self(mode.start_encrypting(nonce)))
    }

    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.update(buffer)
    }
}

struct Decrypts<D>(D);

impl<M: Streaming> Stream<M> for Decrypts<M::Decryptor> {
    fn start(mode: &M, nonce: &M::Nonce) -> Option<Self> {
        Some(Self(mode.start_decrypting(nonce)))
    }

    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.update(buffer)
    }
}

/// A mode with the stream that was started over it, if any.
struct State<M, S> {
    mode: M,
    stream: Option<S>,
    key_len: usize,
}

/// Messages only.
pub(crate) fn messages<M: Mode>(mode: M, key_len: usize, decrypt: bool) -> raw::Session {
    table::<M, ()>(mode, key_len, decrypt).raw()
}

/// Messages and streams.
pub(crate) fn messages_and_streams<M: Streaming>(
    mode: M,
    key_len: usize,
    decrypt: bool,
) -> raw::Session {
    if decrypt {
        table::<M, Decrypts<M::Decryptor>>(mode, key_len, true).streams().raw()
    } else {
        table::<M, Encrypts<M::Encryptor>>(mode, key_len, false).streams().raw()
    }
}

fn table<M: Mode, S: Stream<M>>(mode: M, key_len: usize, decrypt: bool) -> Table<State<M, S>> {
    let state = State { mode, stream: None, key_len };
    let table = Table::new(state, M::FLAGS, M::CALLS[usize::from(decrypt)]).decrypts(decrypt);
    match M::REKEY {
        Some(call) => table.rekeys(call),
        None => table,
    }
}

impl<M: Mode, S: Stream<M>> Operations for State<M, S> {
    #[inline(always)]
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        // SAFETY: the crate's note.
        let (nonce, aad) = unsafe { (array(m.nonce), slice(m.aad, m.aad_len)) };
        // SAFETY: the crate's note.
        let sealed = self.mode.encrypt(nonce, aad, unsafe { buffer(m.input, m.output, m.len) });
        // SAFETY: the crate's note.
        code(sealed.map(|tag| unsafe { write(&tag, m.tag) }))
    }

    #[inline(always)]
    unsafe fn decrypt(&mut self, m: &raw::Message) -> i32 {
        // SAFETY: the crate's note.
        let (nonce, aad) = unsafe { (array(m.nonce), slice(m.aad, m.aad_len)) };
        // SAFETY: the crate's note.
        let (buffer, tag) = unsafe { (buffer(m.input, m.output, m.len), array(m.tag)) };
        code(self.mode.decrypt(nonce, aad, buffer, tag))
    }

    unsafe fn start(&mut self, nonce: *const u8) -> i32 {
        // SAFETY: the crate's note.
        self.stream = S::start(&self.mode, unsafe { array(nonce) });
        raw::OK
    }

    #[inline(always)]
    unsafe fn update(&mut self, input: *const u8, output: *mut u8, len: usize) -> i32 {
        let Some(stream) = &mut self.stream else { return raw::FAILED };
        // SAFETY: the crate's note.
        code(stream.update(unsafe { buffer(input, output, len) }))
    }

    #[inline(always)]
    unsafe fn rekey(&mut self, key: *const u8) -> i32 {
        // SAFETY: the crate's note; keys have the length that was opened.
        let Some(mode) = self.mode.rekeyed(unsafe { slice(key, self.key_len) }) else {
            return raw::FAILED;
        };
        self.mode = mode;
        raw::OK
    }
}
