//! The functions of the table. What they are given is what [`crate`] says.
#![expect(clippy::missing_safety_doc, reason = "said once above")]

use crate::tls::rustls::Provider;
use crate::tls::rustls::config::{Configs, Wanted};
use crate::tls::rustls::pipe::Wire;
use crate::tls::rustls::session::Session;
use crate::tls::{Bytes, Pipe, Says, status};
use std::ffi::{c_char, c_void};

/// # Safety
/// The bytes are readable for as long as the reference is used.
unsafe fn bytes<'a>(bytes: Bytes) -> &'a [u8] {
    if bytes.length == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for it.
    unsafe { std::slice::from_raw_parts(bytes.first, bytes.length) }
}

/// # Safety
/// What [`open`] gave, not closed yet, and used by nothing else during the call.
unsafe fn session<'a>(session: *mut c_void) -> &'a mut Session {
    // SAFETY: the caller vouches for it.
    unsafe { &mut *session.cast::<Session>() }
}

/// Writes a C string, cut where there is no room.
///
/// # Safety
/// So many bytes are writable.
unsafe fn write_text(text: &str, into: *mut c_char, room: usize) {
    let Some(most) = room.checked_sub(1) else { return };
    let length = text.len().min(most);
    // SAFETY: no more than there is room for, and the zero behind it.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), into.cast(), length);
        *into.add(length) = 0;
    }
}

fn outcome(session: &mut Session, result: Result<(), String>) -> i32 {
    match result {
        Ok(()) => status::DONE,
        Err(words) => {
            session.words = words;
            status::FAILED
        }
    }
}

/// [`crate::tls::Table::open`]
pub unsafe extern "C" fn open<P: Provider>(
    wanted: *const crate::tls::Wanted,
    pipes: *const Pipe,
    into: *mut *mut c_void,
    words: *mut c_char,
    room: usize,
) -> i32 {
    // SAFETY: all of them are what the contract says, until this returns, and the pipes for longer.
    unsafe {
        let wanted = &*wanted;
        let safe = Wanted {
            of: wanted,
            name: std::str::from_utf8(bytes(wanted.name)).unwrap_or_default(),
            chain: bytes(wanted.chain),
            key: bytes(wanted.key),
            root: bytes(wanted.root),
        };
        match Configs::new::<P>(&safe) {
            Ok(configs) => {
                let pipes = [Wire(*pipes), Wire(*pipes.add(1))];
                let (client, server, words) = (None, None, String::new());
                let session = Session { configs, pipes, client, server, words };
                *into = Box::into_raw(Box::new(session)).cast();
                status::DONE
            }
            Err(why) => {
                write_text(&why, words, room);
                status::NOT_OFFERED
            }
        }
    }
}

/// [`crate::tls::Table::close`]
pub unsafe extern "C" fn close(of: *mut c_void) {
    // SAFETY: boxed by `open`, freed once.
    drop(unsafe { Box::from_raw(of.cast::<Session>()) });
}

/// [`crate::tls::Table::begin`]
pub unsafe extern "C" fn begin(of: *mut c_void, end: i32) -> i32 {
    // SAFETY: as the contract says.
    let session = unsafe { session(of) };
    let begun = session.begin(end);
    outcome(session, begun)
}

/// [`crate::tls::Table::step`]
pub unsafe extern "C" fn step(of: *mut c_void, end: i32) -> i32 {
    // SAFETY: as the contract says.
    let session = unsafe { session(of) };
    match session.step(end) {
        Ok(true) => status::DONE,
        Ok(false) => status::WAITS,
        Err(words) => outcome(session, Err(words)),
    }
}

/// [`crate::tls::Table::send`]
pub unsafe extern "C" fn send(of: *mut c_void, data: *const u8, length: usize, times: u32) -> i32 {
    // SAFETY: as the contract says.
    let (session, data) = unsafe { (session(of), std::slice::from_raw_parts(data, length)) };
    let sent = session.send(data, times);
    outcome(session, sent)
}

/// [`crate::tls::Table::receive`]
pub unsafe extern "C" fn receive(
    of: *mut c_void,
    into: *mut u8,
    length: usize,
    size: usize,
) -> i32 {
    // SAFETY: as the contract says.
    let (session, into) = unsafe { (session(of), std::slice::from_raw_parts_mut(into, length)) };
    let received = session.receive(into, size);
    outcome(session, received)
}

/// [`crate::tls::Table::says`]
pub unsafe extern "C" fn says(of: *mut c_void, end: i32, into: *mut Says) {
    // SAFETY: as the contract says.
    unsafe { *into = session(of).says(end).unwrap_or_default() };
}

/// [`crate::tls::Table::end`]
pub unsafe extern "C" fn end(of: *mut c_void, which: i32) {
    // SAFETY: as the contract says.
    unsafe { session(of) }.end(which);
}

/// [`crate::tls::Table::between`]: rustls keeps sessions in its configuration.
pub unsafe extern "C" fn between(_: *mut c_void) {}

/// [`crate::tls::Table::words`]
pub unsafe extern "C" fn words(of: *mut c_void, into: *mut c_char, room: usize) {
    // SAFETY: as the contract says.
    unsafe { write_text(&session(of).words, into, room) };
}
