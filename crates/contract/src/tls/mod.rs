//! The interface of TLS stacks whose functions cannot be called by name: Rust's, C++'s, strangers' own. A
//! shared object exports one function, [`SYMBOL`], which takes nothing and returns a [`Table`] that lives for
//! ever. ciphermark loads the object in a process of its own, opens a session for each case ([`Table::open`])
//! and makes both ends' connections in it, one after the other, on one thread. Numbers are those of IANA's
//! registry "Transport Layer Security (TLS) Parameters". Both sides' calls of it are `unsafe`: [`rustls`]
//! holds such code.

#[cfg(feature = "rustls")]
pub mod rustls;

use std::ffi::{c_char, c_void};

/// The function that an object exports; another version of the interface has another name.
pub const SYMBOL: &str = "ciphermark_tls_1";

/// The function's type.
pub type Entry = unsafe extern "C" fn() -> *const Table;

/// What a call came to.
pub mod status {
    /// Done; of a handshake: it is over.
    pub const DONE: i32 = 0;
    /// The end waits for the other.
    pub const WAITS: i32 = 1;
    /// The stack does not offer what was asked for; [`super::Table::words`] tells it.
    pub const NOT_OFFERED: i32 = 2;
    /// Failed; [`super::Table::words`] tells it.
    pub const FAILED: i32 = 3;
}

/// The ends of a connection, as calls are told them.
pub mod end {
    /// Opens the connection.
    pub const CLIENT: i32 = 0;
    /// Answers.
    pub const SERVER: i32 = 1;
}

/// How a connection is resumed.
pub mod resumption {
    /// Not at all; nothing needs to be kept.
    pub const NONE: i32 = 0;
    /// From the server's cache, without tickets (RFC 5246 7.3).
    pub const ID: i32 = 1;
    /// From a ticket that the client kept (RFC 5077).
    pub const TICKET: i32 = 2;
    /// By a pre-shared key, with a new key exchange (RFC 8446 2.2).
    pub const PSK: i32 = 3;
}

/// Bytes that are somebody else's; of length 0 there are none.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// The first.
    pub first: *const u8,
    /// How many.
    pub length: usize,
}

/// What is to be negotiated. One of each: an end that offers more negotiates something else one day.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Version.
    pub version: u16,
    /// Suite.
    pub suite: u16,
    /// Group; 0 where there is none (RSA, a finite field of the server's own).
    pub group: u16,
    /// The group of the client's key share; another than `group` where a second hello is wanted.
    pub guess: u16,
    /// Scheme of signatures in handshakes; those in certificates may be of others.
    pub signature: u16,
    /// How connections but the first are resumed: [`resumption`].
    pub resumption: i32,
    /// Whether the client must prove itself, with the same certificate; 0 or 1.
    pub client_auth: i32,
    /// Name in the certificate, as the client asks for it; UTF-8.
    pub name: Bytes,
    /// Leaf and intermediate, in PEM.
    pub chain: Bytes,
    /// The leaf's key, in PEM.
    pub key: Bytes,
    /// The root that the other end trusts, in PEM.
    pub root: Bytes,
    /// Parameters of the server's finite field, in PEM, where the exchange has one in TLS 1.2.
    pub field: Bytes,
}

/// One end's side of the wire.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    /// What both functions are given.
    pub context: *mut c_void,
    /// Copies at most so many bytes of what has come; how many, 0 where nothing has.
    pub read: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> usize,
    /// Takes so many bytes, always all of them.
    pub write: unsafe extern "C" fn(*mut c_void, *const u8, usize),
}

/// What an end says of its connection; 0, or -1 of the last two, is what it does not tell.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Says {
    /// Version.
    pub version: u16,
    /// Suite.
    pub suite: u16,
    /// Group.
    pub group: u16,
    /// Scheme of the server's signature.
    pub signature: u16,
    /// Whether an earlier session was used.
    pub reused: i32,
    /// Whether the other end showed a certificate.
    pub peer_proved: i32,
}

/// The functions. `session` is what [`Table::open`] gave; an end is one of [`end`]; a result one of [`status`].
///
/// Those that are called inside the clock: `begin`, `step`, `send`, `receive`, `end`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name, as in `--library`; of lower case letters, digits and dashes.
    pub library: unsafe extern "C" fn() -> *const c_char,
    /// Version, as the stack itself reports it.
    pub version: unsafe extern "C" fn() -> *const c_char,
    /// How it was built, one fact a line.
    pub build: unsafe extern "C" fn() -> *const c_char,
    /// Loads keys and certificates for a case; the pipes are the client's and the server's, and outlive the
    /// session. Where it is not [`status::DONE`] there is no session, and a C string of at most the last
    /// number of bytes says why.
    pub open: unsafe extern "C" fn(
        *const Wanted,
        *const Pipe,
        *mut *mut c_void,
        *mut c_char,
        usize,
    ) -> i32,
    /// Frees a session.
    pub close: unsafe extern "C" fn(*mut c_void),
    /// Makes an end's connection.
    pub begin: unsafe extern "C" fn(*mut c_void, i32) -> i32,
    /// Carries an end's handshake on as far as what has come lets it.
    pub step: unsafe extern "C" fn(*mut c_void, i32) -> i32,
    /// Sends a record from the server, and again, so many times.
    pub send: unsafe extern "C" fn(*mut c_void, *const u8, usize, u32) -> i32,
    /// Has the client receive records of so many bytes each, until so many in all have come.
    pub receive: unsafe extern "C" fn(*mut c_void, *mut u8, usize, usize) -> i32,
    /// What an end says of its connection, whose handshake is over.
    pub says: unsafe extern "C" fn(*mut c_void, i32, *mut Says),
    /// Says goodbye, where the handshake is over, and frees an end's connection, if there is one.
    pub end: unsafe extern "C" fn(*mut c_void, i32),
    /// Makes ready for the next connection.
    pub between: unsafe extern "C" fn(*mut c_void),
    /// Writes why the last call of this session failed, as a C string of at most so many bytes.
    pub words: unsafe extern "C" fn(*mut c_void, *mut c_char, usize),
}
