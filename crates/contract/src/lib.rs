//! The adapter contract: what stands between the timing loop and a library, for built-in adapters and
//! attached shared objects alike: a session with checked lengths over the raw table of functions; the table
//! made out of a type in Rust; new keys where a library's context takes none (the algorithm is opened anew
//! for each); and batches of messages that run in another process, that of a language's runtime, whose timed
//! loop is written in the language and not here. The `raw` types are `include/ciphermark.h` in Rust.
//!
//! This crate holds `unsafe` code: it turns a table of C functions into [`Session`], whose methods
//! check every length, so that verification is written without `unsafe`.
#![warn(missing_docs)]

pub mod export;
pub mod loader;
pub mod raw;
pub mod tls;

use base::model::{Algorithm, Brought, Direction};
use std::ffi::{CStr, c_char, c_void};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Who the loaded library says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Name as in `--library`: `openssl`, `libgcrypt`.
    pub name: String,
    /// Version as the loaded library itself reports it.
    pub version: String,
    /// How it was built, one fact a line, as far as it says so.
    pub build: Vec<String>,
}

/// An algorithm that a library brings.
#[derive(Clone, Debug)]
pub struct Bringing {
    /// What it is.
    pub algorithm: Brought,
    /// What must come out of it, by the library's own word; the lengths are the algorithm's.
    pub vectors: Vec<OwnVector>,
}

/// A message and what must come out of it.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct OwnVector {
    pub key: Vec<u8>,
    pub nonce: Vec<u8>,
    pub aad: Vec<u8>,
    pub message: Vec<u8>,
    /// Empty for digests and MACs.
    pub ciphertext: Vec<u8>,
    /// Tag or digest.
    pub tag: Vec<u8>,
}

/// Why an algorithm could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The library does not have it.
    Unsupported(String),
    /// The library has it and reported an error.
    Failed(String),
}

/// A loaded library. Several threads may open sessions of it at once, each its own.
pub trait Library: Send + Sync {
    /// Who it says it is.
    fn identity(&self) -> &Identity;

    /// Whether sessions may be used in several threads at once, each its own: why not, where they
    /// may not.
    fn one_thread_only(&self) -> Option<&str> {
        None
    }

    /// The process that the library's code runs in, where it is not this one: a runtime's.
    fn process(&self) -> Option<u32> {
        None
    }

    /// The algorithms that it brings, which are not in our table.
    fn brings(&self) -> &[Bringing] {
        &[]
    }

    /// Opens an algorithm in one direction and does its key schedule.
    ///
    /// `key` has [`Algorithm::key_len`] bytes.
    ///
    /// # Errors
    /// [`OpenError::Unsupported`] when the library does not have it, [`OpenError::Failed`] when it
    /// does and reported an error.
    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError>;
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// The tag is wrong.
    Rejected,
    /// The library reported an error, or the adapter returned a code of its own.
    Error(i32),
}

impl From<i32> for Outcome {
    fn from(code: i32) -> Self {
        match code {
            raw::OK => Self::Done,
            raw::REJECTED => Self::Rejected,
            other => Self::Error(other),
        }
    }
}

/// One whole message. Lengths must fit the session's algorithm.
#[derive(Debug)]
pub struct Message<'a> {
    /// Nonce, IV, initial counter block or tweak.
    pub nonce: &'a [u8],
    /// Associated data; empty for modes without authentication.
    pub aad: &'a [u8],
    /// Message. Of a derivation whose size is a cost, and of what is drawn at random, it is the length alone that counts:
    /// nobody reads it.
    pub input: &'a [u8],
    /// Result, as long as the message (digests leave it alone).
    pub output: &'a mut [u8],
    /// Tag or digest: written by encryption and digests, read by decryption.
    pub tag: &'a mut [u8],
}

/// An opened algorithm in one direction, with its key schedule done.
#[derive(Debug)]
pub struct Session {
    raw: raw::Session,
    algorithm: &'static Algorithm,
    direction: Direction,
    remote: Option<Box<dyn Remote>>,
}

impl Session {
    /// Takes over a filled-in table.
    ///
    /// # Safety
    /// The functions must keep the rules of `include/ciphermark.h` for `algorithm` and
    /// `direction`, and `raw.state` must be theirs alone until `close`.
    pub unsafe fn new(
        raw: raw::Session,
        algorithm: &'static Algorithm,
        direction: Direction,
    ) -> Self {
        Self { raw, algorithm, direction, remote: None }
    }

    /// Has batches run in a runtime's process.
    pub fn with_remote(mut self, remote: Box<dyn Remote>) -> Self {
        self.remote = Some(remote);
        self
    }

    /// Where batches run in a runtime's process: the session there.
    pub fn remote(&mut self) -> Option<&mut (dyn Remote + 'static)> {
        self.remote.as_deref_mut()
    }

    /// Whether batches run in a runtime's process.
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// What was opened.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// In which direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The table itself, for the timing loop.
    pub fn raw(&self) -> &raw::Session {
        &self.raw
    }

    /// Whether the model `message` is offered.
    pub fn has_message(&self) -> bool {
        self.raw.message.is_some()
    }

    /// Whether the model `stream` is offered.
    pub fn has_stream(&self) -> bool {
        self.raw.start.is_some() && self.raw.update.is_some()
    }

    /// Whether a digest or MAC can be taken in parts.
    pub fn has_parts(&self) -> bool {
        self.has_stream() && self.raw.finish.is_some()
    }

    /// Whether output may be input.
    pub fn in_place(&self) -> bool {
        self.raw.flags & raw::IN_PLACE != 0 && self.algorithm.reads_input()
    }

    /// Whether each update of a data-unit mode raises the tweak by one.
    pub fn next_unit(&self) -> bool {
        self.raw.flags & raw::NEXT_UNIT != 0
    }

    /// Whether the library's interface copies every message.
    pub fn copies(&self) -> bool {
        self.raw.flags & raw::COPIES != 0
    }

    /// Whether the library's interface allocates memory for every message.
    pub fn allocates(&self) -> bool {
        self.raw.flags & raw::ALLOCATES != 0
    }

    /// Messages in work at once in the timed loop: one, unless the session has `drain`.
    pub fn in_flight(&self) -> u32 {
        if self.raw.drain.is_some() { self.raw.in_flight } else { 1 }
    }

    /// The library's functions that the model `message` calls, in order, as the adapter says.
    pub fn calls(&self) -> Option<String> {
        // SAFETY: `new`'s contract: null or a string that lives as long as the library.
        unsafe { text(self.raw.call) }
    }

    /// The library's functions that set a new key, as the adapter says.
    pub fn rekey_calls(&self) -> Option<String> {
        // SAFETY: `new`'s contract: null or a string that lives as long as the library.
        unsafe { text(self.raw.rekey_call) }
    }

    /// Whether the session takes a new key.
    pub fn has_rekey(&self) -> bool {
        self.raw.rekey.is_some()
    }

    /// Sets a new key for the messages that follow.
    ///
    /// # Panics
    /// When the key's length is wrong or the session takes no new key.
    pub fn rekey(&mut self, key: &[u8]) -> Outcome {
        assert_eq!(key.len(), self.algorithm.key_len, "key length");
        let f = self.raw.rekey.expect("the session takes a new key");
        // SAFETY: `new`'s contract; the key has the algorithm's length.
        unsafe { f(self.raw.state, key.as_ptr()) }.into()
    }

    /// One whole message, complete when this returns.
    ///
    /// # Panics
    /// When a length does not fit the algorithm, or `message` is not offered: a mistake of the
    /// caller, never of the library.
    pub fn message(&mut self, m: Message<'_>) -> Outcome {
        let digest = self.direction == Direction::Digest;
        assert!(digest || m.output.len() == m.input.len(), "output is as long as input");
        let (input, len, output) = (m.input.as_ptr(), m.input.len(), m.output.as_mut_ptr());
        // What a library has no business to read is not there.
        let input = if self.algorithm.reads_input() { input } else { std::ptr::null() };
        self.call(m.nonce, m.aad, (input, output, len), m.tag)
    }

    /// One whole message, output over input.
    ///
    /// # Panics
    /// As [`Session::message`], and when the session does not work in place.
    pub fn message_in_place(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        buffer: &mut [u8],
        tag: &mut [u8],
    ) -> Outcome {
        assert!(self.in_place(), "the session works in place");
        let (pointer, len) = (buffer.as_mut_ptr(), buffer.len());
        self.call(nonce, aad, (pointer.cast_const(), pointer, len), tag)
    }

    fn call(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        (input, output, len): (*const u8, *mut u8, usize),
        tag: &mut [u8],
    ) -> Outcome {
        assert_eq!(nonce.len(), self.algorithm.nonce_len, "nonce length");
        assert_eq!(tag.len(), self.algorithm.tag_len, "tag length");
        let message = raw::Message {
            nonce: nonce.as_ptr(),
            aad: aad.as_ptr(),
            aad_len: aad.len(),
            input,
            len,
            output,
            tag: tag.as_mut_ptr(),
        };
        // SAFETY: `new`'s contract; every pointer covers the length that the contract names; each
        // message is completed before the next.
        unsafe { self.raw.complete(&message) }.into()
    }

    /// Begins a stream under a nonce.
    ///
    /// # Panics
    /// When the nonce's length is wrong or `stream` is not offered.
    pub fn start(&mut self, nonce: &[u8]) -> Outcome {
        assert_eq!(nonce.len(), self.algorithm.nonce_len, "nonce length");
        let f = self.raw.start.expect("the model `stream` is offered");
        // SAFETY: `new`'s contract; the nonce has the algorithm's length.
        unsafe { f(self.raw.state, nonce.as_ptr()) }.into()
    }

    /// Takes a part of the message of a digest or MAC.
    ///
    /// # Panics
    /// When parts are not offered.
    pub fn update_digest(&mut self, part: &[u8]) -> Outcome {
        assert!(self.has_parts(), "the digest can be taken in parts");
        let f = self.raw.update.expect("parts are offered");
        // SAFETY: `new`'s contract; a digest has input and no output.
        unsafe { f(self.raw.state, part.as_ptr(), std::ptr::null_mut(), part.len()) }.into()
    }

    /// Ends the message of a digest or MAC that was taken in parts.
    ///
    /// # Panics
    /// When the tag's length is wrong or parts are not offered.
    pub fn finish(&mut self, tag: &mut [u8]) -> Outcome {
        assert_eq!(tag.len(), self.algorithm.tag_len, "tag length");
        let f = self.raw.finish.expect("parts are offered");
        // SAFETY: `new`'s contract; the tag has the algorithm's length.
        unsafe { f(self.raw.state, tag.as_mut_ptr()) }.into()
    }

    /// Continues the stream, output over input.
    ///
    /// # Panics
    /// When `stream` is not offered or the session does not work in place.
    pub fn update_in_place(&mut self, buffer: &mut [u8]) -> Outcome {
        assert!(self.in_place(), "the session works in place");
        let f = self.raw.update.expect("the model `stream` is offered");
        let pointer = buffer.as_mut_ptr();
        // SAFETY: `new`'s contract; input and output are the same buffer of `len` bytes.
        unsafe { f(self.raw.state, pointer.cast_const(), pointer, buffer.len()) }.into()
    }
}

// SAFETY: the rules of `include/ciphermark.h`, which `new` asks for: a session may be used by
// another thread than the one that opened it, by one at a time, which `&mut self` sees to.
unsafe impl Send for Session {}

/// A C string; `None` where there is none. What is not UTF-8 is replaced: a byte of a foreign character set in a
/// compiler's name is no reason to refuse a library.
///
/// # Safety
/// `pointer` is null or a NUL-terminated string.
pub unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, so NUL-terminated.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(close) = self.raw.close {
            // SAFETY: `new`'s contract; called once, the state is not used afterwards.
            unsafe { close(self.raw.state) }
        }
    }
}

/// A session's state and what can be done with it. [`Table`] makes C functions of it, one set for each type: between the
/// timing loop's call and the function here there is nothing.
///
/// # Safety
/// Callers keep the rules of `include/ciphermark.h` for the algorithm and the direction that the session is opened for.
#[expect(clippy::missing_safety_doc, reason = "the trait has it for all functions")]
pub trait Operations: Sized {
    /// One whole message.
    unsafe fn message(&mut self, m: &raw::Message) -> i32;

    /// One whole message in sessions that are made with [`Table::decrypts`].
    unsafe fn decrypt(&mut self, _m: &raw::Message) -> i32 {
        raw::FAILED
    }

    /// Begins a stream; where it has no nonce, there is nothing to begin.
    unsafe fn start(&mut self, _nonce: *const u8) -> i32 {
        raw::OK
    }

    /// Continues the stream.
    unsafe fn update(&mut self, _input: *const u8, _output: *mut u8, _len: usize) -> i32 {
        raw::FAILED
    }

    /// Ends the stream with its tag.
    unsafe fn finish(&mut self, _tag: *mut u8) -> i32 {
        raw::FAILED
    }

    /// Sets a new key.
    unsafe fn rekey(&mut self, _key: *const u8) -> i32 {
        raw::FAILED
    }
}

/// The C functions. Methods of a trait, because the compiler makes those beside the type's own functions and so puts
/// the two into one.
trait ForC: Operations {
    unsafe extern "C" fn c_message(state: *mut c_void, m: *const raw::Message) -> i32 {
        // SAFETY: the state of this type that `Table::new` gave away; the rest is the caller's.
        unsafe { (*state.cast::<Self>()).message(&*m) }
    }

    unsafe extern "C" fn c_decrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).decrypt(&*m) }
    }

    unsafe extern "C" fn c_start(state: *mut c_void, nonce: *const u8) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).start(nonce) }
    }

    unsafe extern "C" fn c_update(
        state: *mut c_void,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).update(input, output, len) }
    }

    unsafe extern "C" fn c_finish(state: *mut c_void, tag: *mut u8) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).finish(tag) }
    }

    unsafe extern "C" fn c_rekey(state: *mut c_void, key: *const u8) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).rekey(key) }
    }

    unsafe extern "C" fn c_close(state: *mut c_void) {
        // SAFETY: the box that `Table::new` gave away; this is the last call.
        drop(unsafe { Box::from_raw(state.cast::<Self>()) });
    }
}

impl<S: Operations> ForC for S {}

/// A table in the making. It offers whole messages, and what is added to that.
#[derive(Debug)]
pub struct Table<S> {
    raw: raw::Session,
    state: PhantomData<S>,
}

impl<S: Operations> Table<S> {
    /// A table that owns its state; `call` names the library's functions that a message calls.
    pub fn new(state: S, flags: u32, call: &'static CStr) -> Self {
        let raw = raw::Session {
            state: Box::into_raw(Box::new(state)).cast(),
            flags,
            message: Some(S::c_message),
            call: call.as_ptr(),
            close: Some(S::c_close),
            ..raw::Session::empty()
        };
        Self { raw, state: PhantomData }
    }

    /// Messages go through [`Operations::decrypt`] where `decrypts`.
    pub fn decrypts(mut self, decrypts: bool) -> Self {
        if decrypts {
            self.raw.message = Some(S::c_decrypt);
        }
        self
    }

    /// With streams.
    pub fn streams(self) -> Self {
        self.streams_if(true)
    }

    /// With streams where `streams`.
    pub fn streams_if(mut self, streams: bool) -> Self {
        self.raw.start = streams.then_some(S::c_start);
        self.raw.update = streams.then_some(S::c_update);
        self
    }

    /// Digests and MACs: with streams that end in a tag.
    pub fn parts(self) -> Self {
        self.parts_if(true)
    }

    /// As [`Table::parts`], where `parts`.
    pub fn parts_if(mut self, parts: bool) -> Self {
        self.raw.finish = parts.then_some(S::c_finish);
        self.streams_if(parts)
    }

    /// With new keys; `call` names the library's functions that set one.
    pub fn rekeys(mut self, call: &'static CStr) -> Self {
        self.raw.rekey = Some(S::c_rekey);
        self.raw.rekey_call = call.as_ptr();
        self
    }

    /// The table.
    pub fn raw(self) -> raw::Session {
        self.raw
    }
}

/// Why sessions with several messages in flight take no new keys.
pub const ONE_KEY: &str = "several messages in flight share one key";

/// What stands behind the session that [`reopening`] gives.
struct State {
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    direction: Direction,
    /// None after an opening that failed.
    session: Option<Session>,
}

/// Opens an algorithm so that it takes new keys: `rekey` closes it and opens it under the new key.
/// That is what an application does with a library that has no call for it.
///
/// # Errors
/// As [`Library::open`]; and [`OpenError::Unsupported`] of a session with several messages in flight,
/// which closing would have to wait for.
pub fn reopening(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    direction: Direction,
    key: &[u8],
) -> Result<Session, OpenError> {
    let session = library.open(algorithm, direction, key)?;
    if session.in_flight() > 1 {
        return Err(OpenError::Unsupported(ONE_KEY.to_owned()));
    }
    let raw::Session { flags, call, .. } = *session.raw();
    let offers = session.has_message();
    let state = State { library, algorithm, direction, session: Some(session) };
    let table = Table::new(state, flags, c"").rekeys(c"").raw();
    let message = table.message.filter(|_| offers);
    let table = raw::Session { message, call, rekey_call: std::ptr::null(), ..table };
    // SAFETY: the state's functions hand messages on to a session of this algorithm and direction.
    Ok(unsafe { Session::new(table, algorithm, direction) })
}

impl Operations for State {
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        let Some(session) = &self.session else { return raw::FAILED };
        let table = session.raw();
        let Some(call) = table.message else { return raw::FAILED };
        // SAFETY: the session's own function and state; the message is the caller's promise.
        unsafe { call(table.state, m) }
    }

    unsafe fn rekey(&mut self, key: *const u8) -> i32 {
        // SAFETY: the caller's key is as long as the algorithm's.
        let key = unsafe { std::slice::from_raw_parts(key, self.algorithm.key_len) };
        // Closed first: an application has one context at a time.
        self.session = None;
        match self.library.open(self.algorithm, self.direction, key) {
            Ok(session) => {
                self.session = Some(session);
                raw::OK
            }
            Err(_) => raw::FAILED,
        }
    }
}

/// The messages of a ring of sixteen descriptors, as long as no others are placed.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Bytes of a message.
    pub size: usize,
    /// The different messages, one after the other; descriptors take them in turn.
    pub inputs: &'a [u8],
    /// How many places for outputs descriptors share in turn.
    pub places: usize,
    /// Associated data of every message.
    pub aad: &'a [u8],
    /// Whether a nonce is raised by sixteen after its use.
    pub fresh: bool,
    /// What every call is to return.
    pub expected: i32,
}

/// One run of operations on the ring.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The first operation's descriptor.
    pub at: usize,
    /// How many operations.
    pub ops: u32,
    /// What to fill outputs and, but for decryption, tags with before.
    pub poison: Option<u8>,
    /// The nonces of all descriptors, one after the other.
    pub nonces: &'a [u8],
    /// Their tags, likewise; of use in decryption.
    pub tags: &'a [u8],
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    /// The bits of every return code, each exclusive-or the expected one.
    pub codes: i32,
    /// Nanoseconds by the language's clock.
    pub ns: f64,
    /// Nanoseconds of collecting garbage that the run's own garbage will cost, by what collecting took so far.
    pub collecting_ns: f64,
    /// Bytes that the run allocated, where the runtime tells.
    pub allocated: Option<f64>,
}

/// A session in a runtime's process.
pub trait Remote: Send + Debug {
    /// Places messages. Returns how many operations of the session's algorithm and direction the process has run
    /// before, of any size.
    fn place(&mut self, placed: &Placed<'_>) -> u64;

    /// Runs operations.
    fn run(&mut self, turn: &Turn<'_>) -> Ran;

    /// What was written last to each place: its output, unless it is a digest's, and its tag, unless it was decrypted.
    fn written(&mut self) -> Vec<u8>;

    /// Whether code is compiled while it runs, so that the first operations are slower.
    fn compiles(&self) -> bool;

    /// Processor time of the runtime's process so far, in nanoseconds.
    fn cpu_ns(&self) -> f64;
}
