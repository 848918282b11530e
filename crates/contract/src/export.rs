//! Puts Rust libraries behind the C functions of `include/ciphermark.h`. An attached object implements
//! [`Mode`], [`Streaming`], [`Digest`] or [`StreamingDigest`] in safe code; this turns them into a
//! [`raw::Session`], one set of functions per type and direction, so that between the timing loop and the
//! library's own call there is nothing but the call. It holds `unsafe` code: it is one side of a C interface.
//! What its `SAFETY` notes lean on: ciphermark calls a session's functions with the state that the session
//! carries, one at a time, until `close`; pointers cover the lengths that the header gives them, may be null
//! where that length is zero, and input and output are the same buffer or do not overlap.

pub use crate::{OpenError, raw};
use crate::{Operations, Table};
pub use ::cipher::inout::InOutBuf;
use base::model::Direction;
use cipher::Array;
use cipher::array::ArraySize;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

/// Input and output of a call: the same buffer, or two that do not overlap.
pub type Buffer<'a> = InOutBuf<'a, 'a, u8>;

/// Input and output, for a library that takes two slices; `None` where they are the same buffer.
pub fn apart<'a>(buffer: Buffer<'a>) -> Option<(&'a [u8], &'a mut [u8])> {
    let len = buffer.len();
    let (input, output) = buffer.into_raw();
    if std::ptr::eq(input, output) {
        return None;
    }
    // SAFETY: what a buffer is made of: as long as it says, valid while it is, and either the same or apart.
    Some(unsafe {
        (std::slice::from_raw_parts(input, len), std::slice::from_raw_parts_mut(output, len))
    })
}

/// What a call made, or why it did not succeed.
pub type Done<T = ()> = Result<T, Refusal>;

/// A call's outcome as the interface's code.
#[inline]
fn code(done: Done) -> i32 {
    done.map_or_else(|refusal| refusal as i32, |()| raw::OK)
}

/// Why a call did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Refusal {
    /// The tag is wrong.
    Tag = raw::REJECTED,
    /// The library does not take the message; its length, mostly.
    Failed = raw::FAILED,
}

/// Defines the one symbol that an attached object exports: `$open` turns a [`Wanted`] into [`Opened`], the
/// name is a C string. Version and facts of the build are those that the crate `built` wrote down.
#[macro_export]
macro_rules! adapter {
    ($library:expr, $open:path) => {
        include!(concat!(env!("OUT_DIR"), "/built.rs"));

        static ADAPTER: $crate::export::raw::Adapter = $crate::export::raw::Adapter {
            abi: $crate::export::raw::ABI,
            library: $library.as_ptr(),
            version: VERSION.as_ptr(),
            build: BUILD.as_ptr(),
            open: Some(open_for_c),
        };

        unsafe extern "C" fn open_for_c(
            request: *const $crate::export::raw::Request,
            session: *mut $crate::export::raw::Session,
            why: *mut std::ffi::c_char,
            why_len: usize,
        ) -> i32 {
            // SAFETY: handed on as it came from ciphermark.
            unsafe { $crate::export::open(request, session, why, why_len, $open) }
        }

        /// The library, for whoever has loaded this object.
        // SAFETY: the name is the interface's own; nothing else defines it.
        #[unsafe(no_mangle)]
        pub extern "C" fn ciphermark_adapter() -> *const $crate::export::raw::Adapter {
            &raw const ADAPTER
        }
    };
}

// Opening: the C struct read, the reason written.

/// What is to be opened.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// ciphermark's name of it.
    pub algorithm: &'a str,
    /// In which direction.
    pub direction: Direction,
    /// Key; empty for digests.
    pub key: &'a [u8],
    nonce_len: usize,
    tag_len: usize,
}

/// A session, or why there is none.
pub type Opened = Result<raw::Session, OpenError>;

impl Wanted<'_> {
    /// The key, if it has the length that the type says.
    pub fn key_of<const N: usize>(&self) -> Result<[u8; N], OpenError> {
        self.key.try_into().map_err(|_| self.no_such_key())
    }

    /// The library does not take a key of this length.
    pub fn no_such_key(&self) -> OpenError {
        let Self { algorithm, key, .. } = self;
        OpenError::Unsupported(format!("{algorithm} takes no key of {} bytes", key.len()))
    }

    /// A cipher for whole messages.
    ///
    /// # Errors
    /// When the direction or the lengths that are wanted are not the mode's.
    pub fn cipher<M: Mode>(&self, mode: M) -> Opened {
        self.check_lens(M::Nonce::LEN, M::Tag::LEN)?;
        Ok(cipher_table::<M, ()>(mode, self.key.len(), self.decrypts()?).raw())
    }

    /// A cipher for messages and streams.
    pub fn streaming_cipher<M: Streaming>(&self, mode: M) -> Opened {
        self.check_lens(M::Nonce::LEN, M::Tag::LEN)?;
        let key_len = self.key.len();
        Ok(if self.decrypts()? {
            cipher_table::<M, Decrypts<M::Decryptor>>(mode, key_len, true).streams().raw()
        } else {
            cipher_table::<M, Encrypts<M::Encryptor>>(mode, key_len, false).streams().raw()
        })
    }

    /// A digest or MAC for whole messages.
    pub fn digest<D: Digest>(&self, digest: D) -> Opened {
        self.check_digest::<D>()?;
        Ok(digest_table::<D, ()>(digest, self.key.len()).raw())
    }

    /// A digest or MAC for messages, whole and in pieces.
    pub fn streaming_digest<D: StreamingDigest>(&self, digest: D) -> Opened {
        self.check_digest::<D>()?;
        Ok(digest_table::<D, Started<D::Started>>(digest, self.key.len()).parts().raw())
    }

    /// A derivation, with whatever lengths of key, salt and output are wanted.
    pub fn derivation<D: Derivation>(&self, derivation: D) -> Opened {
        if self.direction != Direction::Digest {
            return Err(self.no_such_direction());
        }
        let (salt_len, derived_len) = (self.nonce_len, self.tag_len);
        let state = DerivationState { derivation, key: self.key.to_vec(), salt_len, derived_len };
        Ok(Table::new(state, 0, D::CALL).raw())
    }

    /// A generator of random bytes.
    pub fn generator<G: Generator>(&self, generator: G) -> Opened {
        match self.direction {
            Direction::Generate => Ok(Table::new(GeneratorState(generator), 0, G::CALL).raw()),
            _ => Err(self.no_such_direction()),
        }
    }

    /// What moves the message or does nothing with it; whoever fills the session in keeps the
    /// header's rules.
    pub fn copy(&self, session: raw::Session) -> Opened {
        match self.direction {
            Direction::Copy => Ok(session),
            _ => Err(self.no_such_direction()),
        }
    }

    fn decrypts(&self) -> Result<bool, OpenError> {
        match self.direction {
            Direction::Encrypt => Ok(false),
            Direction::Decrypt => Ok(true),
            _ => Err(self.no_such_direction()),
        }
    }

    fn check_digest<D: Digest>(&self) -> Result<(), OpenError> {
        match self.direction {
            Direction::Digest => self.check_lens(D::Nonce::LEN, D::Tag::LEN),
            _ => Err(self.no_such_direction()),
        }
    }

    fn no_such_direction(&self) -> OpenError {
        OpenError::Unsupported(format!("{} has no direction {}", self.algorithm, self.direction))
    }

    fn check_lens(&self, nonce_len: usize, tag_len: usize) -> Result<(), OpenError> {
        if (self.nonce_len, self.tag_len) == (nonce_len, tag_len) {
            return Ok(());
        }
        Err(OpenError::Unsupported(format!(
            "{} is attached with nonces of {nonce_len} and tags of {tag_len} bytes, not {} and {}",
            self.algorithm, self.nonce_len, self.tag_len,
        )))
    }
}

/// `cm_adapter.open` over a function in safe code.
///
/// # Safety
/// As `include/ciphermark.h` says: every pointer is valid for what it points to, that of `why` for
/// the length beside it.
pub unsafe fn open(
    request: *const raw::Request,
    session: *mut raw::Session,
    why: *mut c_char,
    why_len: usize,
    opened: fn(&Wanted<'_>) -> Opened,
) -> i32 {
    // SAFETY: the caller's.
    let wanted = unsafe { wanted(&*request) };
    let (code, reason) = match wanted.and_then(|wanted| opened(&wanted)) {
        Ok(opened) => {
            // SAFETY: the caller's; the old value, if it is one, is plain data.
            unsafe { session.write(opened) };
            return raw::OK;
        }
        Err(OpenError::Unsupported(reason)) => (raw::UNSUPPORTED, reason),
        Err(OpenError::Failed(reason)) => (raw::FAILED, reason),
    };
    // SAFETY: the caller's.
    unsafe { tell(&reason, why, why_len) };
    code
}

/// # Safety
/// The request's pointers are valid for their lengths.
unsafe fn wanted(request: &raw::Request) -> Result<Wanted<'_>, OpenError> {
    // SAFETY: the name is NUL-terminated.
    let algorithm = unsafe { CStr::from_ptr(request.algorithm) };
    let known = Direction::ALL.iter().filter(|d| raw::direction_number(**d) != u32::MAX);
    let direction =
        known.copied().find(|direction| raw::direction_number(*direction) == request.direction);
    Ok(Wanted {
        algorithm: algorithm
            .to_str()
            .map_err(|_| OpenError::Unsupported("the algorithm's name is not UTF-8".to_owned()))?,
        direction: direction.ok_or_else(|| {
            OpenError::Unsupported(format!("there is no direction {}", request.direction))
        })?,
        // SAFETY: the key covers its length.
        key: unsafe { slice(request.key, request.key_len) },
        nonce_len: request.nonce_len,
        tag_len: request.tag_len,
    })
}

/// Writes as much of the reason as there is room for, NUL-terminated.
///
/// # Safety
/// `why` is valid for `why_len` bytes.
unsafe fn tell(reason: &str, why: *mut c_char, why_len: usize) {
    let Some(room) = why_len.checked_sub(1) else { return };
    let len = reason.len().min(room);
    // SAFETY: the caller's; `len` bytes and the NUL fit.
    unsafe {
        std::ptr::copy_nonoverlapping(reason.as_ptr().cast(), why, len);
        why.add(len).write(0);
    }
}

// Ciphers and authenticated modes behind C functions.

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
struct CipherState<M, S> {
    mode: M,
    stream: Option<S>,
    key_len: usize,
}

fn cipher_table<M: Mode, S: Stream<M>>(
    mode: M,
    key_len: usize,
    decrypt: bool,
) -> Table<CipherState<M, S>> {
    let state = CipherState { mode, stream: None, key_len };
    let table = Table::new(state, M::FLAGS, M::CALLS[usize::from(decrypt)]).decrypts(decrypt);
    match M::REKEY {
        Some(call) => table.rekeys(call),
        None => table,
    }
}

impl<M: Mode, S: Stream<M>> Operations for CipherState<M, S> {
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

// Digests and MACs behind C functions.

/// A digest, or a MAC under its key. Each call is one whole message.
pub trait Digest: 'static {
    /// No bytes where there is none.
    type Nonce: Bytes;
    /// Digest or tag.
    type Tag: Bytes;
    /// What the session says of itself.
    const FLAGS: u32 = 0;
    /// The library's functions that `digest` calls.
    const CALL: &'static CStr;
    /// The library's functions that [`Digest::rekeyed`] calls; `None` where it is not there.
    const REKEY: Option<&'static CStr> = None;

    /// The same MAC under another key of the same length; `None` when the library does not take it.
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
    fn digest(&mut self, nonce: &Self::Nonce, input: &[u8]) -> Done<Self::Tag>;
}

/// A digest whose library can take a message in pieces.
pub trait StreamingDigest: Digest {
    /// A message that has begun.
    type Started: 'static;

    /// Begins a message.
    fn start(&self) -> Self::Started;
    /// Takes a piece of any length.
    fn update(started: &mut Self::Started, input: &[u8]);
    /// Ends the message.
    fn finish(started: Self::Started) -> Self::Tag;
}

/// How a digest takes pieces; `()` where it does not.
trait Pieces<D: Digest>: Sized {
    fn start(digest: &D) -> Option<Self>;
    fn update(&mut self, input: &[u8]);
    fn finish(self) -> Option<D::Tag>;
}

impl<D: Digest> Pieces<D> for () {
    fn start(_: &D) -> Option<Self> {
        None
    }

    fn update(&mut self, _: &[u8]) {}

    fn finish(self) -> Option<D::Tag> {
        None
    }
}

struct Started<S>(S);

impl<D: StreamingDigest> Pieces<D> for Started<D::Started> {
    fn start(digest: &D) -> Option<Self> {
        Some(Self(digest.start()))
    }

    fn update(&mut self, input: &[u8]) {
        D::update(&mut self.0, input);
    }

    fn finish(self) -> Option<D::Tag> {
        Some(D::finish(self.0))
    }
}

/// A digest with the message that was begun, if any.
struct DigestState<D, S> {
    digest: D,
    started: Option<S>,
    key_len: usize,
}

fn digest_table<D: Digest, S: Pieces<D>>(digest: D, key_len: usize) -> Table<DigestState<D, S>> {
    let table = Table::new(DigestState { digest, started: None, key_len }, D::FLAGS, D::CALL);
    match D::REKEY {
        Some(call) => table.rekeys(call),
        None => table,
    }
}

impl<D: Digest, S: Pieces<D>> Operations for DigestState<D, S> {
    #[inline(always)]
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        // SAFETY: the crate's note.
        let (nonce, input) = unsafe { (array(m.nonce), slice(m.input, m.len)) };
        // SAFETY: the crate's note.
        code(self.digest.digest(nonce, input).map(|tag| unsafe { write(&tag, m.tag) }))
    }

    unsafe fn start(&mut self, _nonce: *const u8) -> i32 {
        self.started = S::start(&self.digest);
        raw::OK
    }

    #[inline(always)]
    unsafe fn update(&mut self, input: *const u8, _output: *mut u8, len: usize) -> i32 {
        let Some(started) = &mut self.started else { return raw::FAILED };
        // SAFETY: the crate's note.
        started.update(unsafe { slice(input, len) });
        raw::OK
    }

    #[inline(always)]
    unsafe fn finish(&mut self, tag: *mut u8) -> i32 {
        let Some(made) = self.started.take().and_then(S::finish) else { return raw::FAILED };
        // SAFETY: the crate's note.
        unsafe { write(&made, tag) };
        raw::OK
    }

    #[inline(always)]
    unsafe fn rekey(&mut self, key: *const u8) -> i32 {
        // SAFETY: the crate's note; keys have the length that was opened.
        let Some(digest) = self.digest.rekeyed(unsafe { slice(key, self.key_len) }) else {
            return raw::FAILED;
        };
        self.digest = digest;
        raw::OK
    }
}

/// A key derivation. The key, a passphrase mostly, comes with each call, as it does to the library.
pub trait Derivation: 'static {
    /// The library's functions that `derive` calls, in order.
    const CALL: &'static CStr;
    /// Whether a message is the info of a derivation that has no cost.
    const READS_INFO: bool = false;

    /// Derives at a cost, by the algorithm's name: iterations, bytes of memory, rounds.
    ///
    /// # Errors
    /// When the library does not take what it is given.
    fn derive(&self, key: &[u8], salt: &[u8], cost: usize, derived: &mut [u8]) -> Done;

    /// Derives with an info, where [`Derivation::READS_INFO`].
    fn expand(&self, key: &[u8], salt: &[u8], info: &[u8], derived: &mut [u8]) -> Done {
        self.derive(key, salt, info.len(), derived)
    }
}

struct DerivationState<D> {
    derivation: D,
    key: Vec<u8>,
    salt_len: usize,
    derived_len: usize,
}

impl<D: Derivation> Operations for DerivationState<D> {
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        // SAFETY: the crate's note.
        let (salt, derived) = unsafe {
            let derived = match self.derived_len {
                0 => &mut [],
                len => std::slice::from_raw_parts_mut(m.tag, len),
            };
            (slice(m.nonce, self.salt_len), derived)
        };
        code(if D::READS_INFO {
            // SAFETY: the crate's note; of these the message is there.
            self.derivation.expand(&self.key, salt, unsafe { slice(m.input, m.len) }, derived)
        } else {
            self.derivation.derive(&self.key, salt, m.len, derived)
        })
    }
}

/// A generator of random bytes.
pub trait Generator: 'static {
    /// The library's functions that `fill` calls, in order.
    const CALL: &'static CStr;

    /// Fills the output.
    ///
    /// # Errors
    /// When the library has no random bytes.
    fn fill(&mut self, output: &mut [u8]) -> Done;
}

struct GeneratorState<G>(G);

impl<G: Generator> Operations for GeneratorState<G> {
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        if m.len == 0 {
            return raw::OK;
        }
        // SAFETY: the crate's note.
        code(self.0.fill(unsafe { std::slice::from_raw_parts_mut(m.output, m.len) }))
    }
}

// References out of the interface's pointers.

/// Bytes of a length that the type fixes: nonces and tags.
///
/// # Safety
/// The type consists of [`Bytes::LEN`] bytes of any value, without alignment.
pub unsafe trait Bytes: 'static {
    /// How many.
    const LEN: usize;
}

// SAFETY: an array of bytes.
unsafe impl<const N: usize> Bytes for [u8; N] {
    const LEN: usize = N;
}

// SAFETY: a transparent wrapper of an array of bytes.
unsafe impl<N: ArraySize> Bytes for Array<u8, N> {
    const LEN: usize = N::USIZE;
}

/// The bytes behind a pointer.
///
/// # Safety
/// As the crate's note says, for as long as the result is used.
pub(crate) unsafe fn array<'a, B: Bytes>(pointer: *const u8) -> &'a B {
    // SAFETY: the caller's; `Bytes` has no alignment.
    unsafe { &*pointer_or_dangling::<B>(pointer, B::LEN) }
}

/// The bytes behind a pointer.
///
/// # Safety
/// As for [`array`].
pub(crate) unsafe fn slice<'a>(pointer: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(pointer_or_dangling(pointer, len), len) }
}

/// The message's buffers.
///
/// # Safety
/// As for [`array`].
pub(crate) unsafe fn buffer<'a>(input: *const u8, output: *mut u8, len: usize) -> Buffer<'a> {
    if len == 0 {
        return Buffer::from(&mut [][..]);
    }
    // SAFETY: the caller's.
    unsafe { Buffer::from_raw(input, output, len) }
}

/// Writes the tag, if there is any.
///
/// # Safety
/// `to` covers the tag's length.
pub(crate) unsafe fn write<B: Bytes>(bytes: &B, to: *mut u8) {
    if B::LEN > 0 {
        // SAFETY: the caller's; both are as long as the type says.
        unsafe { std::ptr::copy_nonoverlapping((&raw const *bytes).cast(), to, B::LEN) };
    }
}

/// References need a pointer even to no bytes, C callers may pass null for them.
fn pointer_or_dangling<T>(pointer: *const u8, len: usize) -> *const T {
    if len == 0 { NonNull::dangling().as_ptr() } else { pointer.cast() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw;

    #[test]
    fn a_reason_is_cut_to_the_room_there_is() {
        for (room, expected) in [(0, "......"), (1, "\0....."), (3, "ab\0..."), (6, "abcd\0.")] {
            let mut why = *b"......";
            // SAFETY: `room` is at most the array's length.
            unsafe { tell("abcd", why.as_mut_ptr().cast(), room) };
            assert_eq!(why, expected.as_bytes(), "{room} bytes");
        }
    }

    /// Opens nothing and says what it was asked for.
    fn told(request: &raw::Request, opened: fn(&Wanted<'_>) -> Opened) -> (i32, String) {
        let mut session = raw::Session::empty();
        let mut why = [0_u8; 100];
        // SAFETY: every pointer covers the length beside it.
        let code = unsafe {
            open(&raw const *request, &raw mut session, why.as_mut_ptr().cast(), why.len(), opened)
        };
        (code, CStr::from_bytes_until_nul(&why).unwrap().to_str().unwrap().to_owned())
    }

    fn request(direction: u32) -> raw::Request {
        raw::Request {
            algorithm: c"memcpy".as_ptr(),
            direction,
            key: std::ptr::null(),
            key_len: 0,
            nonce_len: 0,
            tag_len: 0,
        }
    }

    #[test]
    fn what_is_wanted_is_read_and_the_reason_and_its_code_are_told() {
        let (code, why) = told(&request(2), |w| Err(OpenError::Failed(format!("{w:?}"))));
        assert_eq!(code, raw::FAILED);
        assert!(why.contains("\"memcpy\", direction: Digest, key: []"), "{why}");
    }

    #[test]
    fn a_direction_that_does_not_exist_or_does_not_fit_is_unsupported() {
        let copy: fn(&Wanted<'_>) -> Opened = |w| w.copy(raw::Session::empty());
        assert_eq!(told(&request(3), copy), (raw::OK, String::new()));
        assert_eq!(
            told(&request(0), copy),
            (raw::UNSUPPORTED, "memcpy has no direction encrypt".to_owned())
        );
        let nine = (raw::UNSUPPORTED, "there is no direction 9".to_owned());
        assert_eq!(told(&request(9), copy), nine);
    }
}
