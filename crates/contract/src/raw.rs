//! `include/ciphermark.h` in Rust, field for field.

use std::ffi::{c_char, c_void};

/// Version of the interface (`CIPHERMARK_ABI`).
pub const ABI: u32 = 4;
/// The oldest version of the interface whose objects still load. Versions 3 and 4 added to the end of
/// `cm_session`, which an older object leaves as it was given: nothing.
pub const OLDEST_ABI: u32 = 2;
/// Name of the one exported symbol.
pub const SYMBOL: &str = "ciphermark_adapter";

/// Done.
pub const OK: i32 = 0;
/// The tag is wrong.
pub const REJECTED: i32 = 1;
/// The library does not have this.
pub const UNSUPPORTED: i32 = 2;
/// The library reported an error.
pub const FAILED: i32 = 3;

/// Output may be the input.
pub const IN_PLACE: u32 = 1;
/// Each update of a data-unit mode raises the tweak by one.
pub const NEXT_UNIT: u32 = 2;
/// The library's interface copies every message.
pub const COPIES: u32 = 4;
/// The library's interface allocates memory for every message.
pub const ALLOCATES: u32 = 8;

/// `cm_request`
#[repr(C)]
#[derive(Debug)]
pub struct Request {
    /// NUL-terminated name.
    pub algorithm: *const c_char,
    /// `cm_direction`: 0 encrypt, 1 decrypt, 2 digest, 3 copy.
    pub direction: u32,
    /// Key.
    pub key: *const u8,
    /// Bytes of key.
    pub key_len: usize,
    /// Bytes of nonce in every message of the session.
    pub nonce_len: usize,
    /// Bytes of tag in every message of the session.
    pub tag_len: usize,
}

/// `cm_message`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Nonce, IV, initial counter block or tweak.
    pub nonce: *const u8,
    /// Associated data.
    pub aad: *const u8,
    /// Bytes of associated data.
    pub aad_len: usize,
    /// Message.
    pub input: *const u8,
    /// Bytes of message.
    pub len: usize,
    /// Result, `len` bytes.
    pub output: *mut u8,
    /// Tag or digest: written by encryption and digests, read by decryption.
    pub tag: *mut u8,
}

/// One whole message.
pub type MessageFn = unsafe extern "C" fn(state: *mut c_void, message: *const Message) -> i32;
/// Sets the nonce of a stream.
pub type StartFn = unsafe extern "C" fn(state: *mut c_void, nonce: *const u8) -> i32;
/// Continues a stream.
pub type UpdateFn =
    unsafe extern "C" fn(state: *mut c_void, input: *const u8, output: *mut u8, len: usize) -> i32;
/// Ends a digest's or MAC's stream with its tag.
pub type FinishFn = unsafe extern "C" fn(state: *mut c_void, tag: *mut u8) -> i32;
/// Sets a new key of the length that was opened.
pub type RekeyFn = unsafe extern "C" fn(state: *mut c_void, key: *const u8) -> i32;
/// Completes every message that was handed over.
pub type DrainFn = unsafe extern "C" fn(state: *mut c_void) -> i32;
/// Frees the state.
pub type CloseFn = unsafe extern "C" fn(state: *mut c_void);

/// `cm_session`
#[repr(C)]
#[derive(Debug)]
pub struct Session {
    /// The adapter's own.
    pub state: *mut c_void,
    /// [`IN_PLACE`], [`NEXT_UNIT`], [`COPIES`], [`ALLOCATES`].
    pub flags: u32,
    /// Model `message`.
    pub message: Option<MessageFn>,
    /// Model `stream`: set the nonce.
    pub start: Option<StartFn>,
    /// Model `stream`: continue.
    pub update: Option<UpdateFn>,
    /// Digests and MACs: end the stream with its tag.
    pub finish: Option<FinishFn>,
    /// The library's functions that `message` calls, NUL-terminated; may be null.
    pub call: *const c_char,
    /// Free the state.
    pub close: Option<CloseFn>,
    /// Model `rekey`: a new key for the messages that follow. Since version 3.
    pub rekey: Option<RekeyFn>,
    /// The library's functions that `rekey` calls, NUL-terminated; may be null. Since version 3.
    pub rekey_call: *const c_char,
    /// With it, `message` may return before its output is written; this completes what was handed
    /// over. Since version 4.
    pub drain: Option<DrainFn>,
    /// With `drain`: the most messages in work at once. Since version 4.
    pub in_flight: u32,
}

/// The most messages that may be in work at once (`CM_MOST_IN_FLIGHT`).
pub const MOST_IN_FLIGHT: u32 = 16;

impl Session {
    /// A session that offers nothing yet.
    pub const fn empty() -> Self {
        Self {
            state: std::ptr::null_mut(),
            flags: 0,
            message: None,
            start: None,
            update: None,
            finish: None,
            call: std::ptr::null(),
            close: None,
            rekey: None,
            rekey_call: std::ptr::null(),
            drain: None,
            in_flight: 0,
        }
    }

    /// Calls `message` and, where sessions have `drain`, completes it: the outcome is the message's.
    ///
    /// # Safety
    /// The rules of `include/ciphermark.h` hold for the table and the message, and no other message is
    /// in work.
    ///
    /// # Panics
    /// When `message` is not offered.
    pub unsafe fn complete(&self, message: &Message) -> i32 {
        let call = self.message.expect("the model `message` is offered");
        // SAFETY: the caller's promise.
        let code = unsafe { call(self.state, &raw const *message) };
        let Some(drain) = self.drain else { return code };
        // Also after an error: the message's memory is the caller's again when this returns.
        // SAFETY: the session's own state.
        let late = unsafe { drain(self.state) };
        if code == OK { late } else { code }
    }
}

/// `cm_adapter`
#[repr(C)]
#[derive(Debug)]
pub struct Adapter {
    /// [`ABI`].
    pub abi: u32,
    /// Library name.
    pub library: *const c_char,
    /// Library version.
    pub version: *const c_char,
    /// How it was built; may be null.
    pub build: *const c_char,
    /// Opens an algorithm.
    pub open: Option<OpenFn>,
}

/// Name of the symbol that objects export which bring algorithms.
pub const ALGORITHMS_SYMBOL: &str = "ciphermark_algorithms_1";

/// `cm_vector`
#[repr(C)]
#[derive(Debug)]
pub struct Vector {
    /// Key.
    pub key: *const c_void,
    /// Nonce.
    pub nonce: *const c_void,
    /// Associated data.
    pub aad: *const c_void,
    /// Bytes of associated data.
    pub aad_len: usize,
    /// Message.
    pub input: *const c_void,
    /// Bytes of message.
    pub len: usize,
    /// Ciphertext, as long as the message; null for digests and MACs.
    pub output: *const c_void,
    /// Tag or digest.
    pub tag: *const c_void,
}

/// `cm_algorithm`
#[repr(C)]
#[derive(Debug)]
pub struct Algorithm {
    /// NUL-terminated name.
    pub name: *const c_char,
    /// NUL-terminated name of its family.
    pub family: *const c_char,
    /// `cm_kind`: 0 cipher, 1 AEAD, 2 digest, 3 MAC.
    pub kind: u32,
    /// Bytes of key.
    pub key_len: usize,
    /// Bytes of nonce.
    pub nonce_len: usize,
    /// Bytes of tag or digest.
    pub tag_len: usize,
    /// Messages are whole multiples of this; 0 and 1: any number of bytes.
    pub size_multiple: usize,
    /// The shortest message.
    pub size_least: usize,
    /// Its own vectors.
    pub vectors: *const Vector,
    /// How many.
    pub vector_count: usize,
}

/// Says which algorithms an object brings.
pub type AlgorithmsFn = unsafe extern "C" fn(count: *mut usize) -> *const Algorithm;

/// Opens an algorithm.
pub type OpenFn = unsafe extern "C" fn(
    request: *const Request,
    session: *mut Session,
    why: *mut c_char,
    why_len: usize,
) -> i32;

/// The exported symbol's type.
pub type EntryFn = unsafe extern "C" fn() -> *const Adapter;

// SAFETY: an `Adapter` is immutable data and functions; the strings are static.
unsafe impl Sync for Adapter {}

/// Number of a direction in [`Request::direction`].
pub fn direction_number(direction: base::model::Direction) -> u32 {
    match direction {
        base::model::Direction::Encrypt => 0,
        base::model::Direction::Decrypt => 1,
        base::model::Direction::Digest => 2,
        base::model::Direction::Copy => 3,
        base::model::Direction::Generate => 4,
        // Parts of handshakes and records: no adapter is asked for them, and none knows the number.
        base::model::Direction::Server
        | base::model::Direction::Client
        | base::model::Direction::Send
        | base::model::Direction::Receive
        | base::model::Direction::Whole
        | base::model::Direction::Call => u32::MAX,
    }
}
