//! What a cipher is held against, as a library that ciphermark loads:
//! `libciphermark_baselines.so` with `memcpy`, `null` and two checksums.
//!
//! This crate holds `unsafe` code: it is one side of a C interface. `README.md` says what is
//! inside the clock.
mod checksum;

use checksum::{Crc32c, Xxh3};
use contract::export::{OpenError, Opened, Wanted, raw};
use std::ffi::{CStr, c_void};
use std::ptr;

contract::adapter! { c"baselines", open }

fn open(wanted: &Wanted<'_>) -> Opened {
    match wanted.algorithm {
        "memcpy" => wanted.copy(message_only(copy, c"memcpy")),
        "null" => wanted.copy(message_only(nothing, c"nothing")),
        "xxh3-64" => wanted.streaming_digest(Xxh3),
        "crc32c" => wanted.streaming_digest(Crc32c),
        _ => Err(OpenError::Unsupported(
            "the baselines are memcpy, xxh3-64, crc32c and null".to_owned(),
        )),
    }
}

/// Never in place, because a copy onto itself is no work; and no stream, because a stream is in
/// place.
fn message_only(message: raw::MessageFn, call: &'static CStr) -> raw::Session {
    raw::Session { message: Some(message), call: call.as_ptr(), ..raw::Session::empty() }
}

/// The C library's memcpy, which is what this call becomes for a length that the compiler does not
/// know.
unsafe extern "C" fn copy(_state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: input and output cover `len` bytes and, without CM_IN_PLACE, do not overlap.
    unsafe {
        let m = &*message;
        ptr::copy_nonoverlapping(m.input, m.output, m.len);
    }
    raw::OK
}

/// Returns at once: what is left is the harness.
unsafe extern "C" fn nothing(_state: *mut c_void, _message: *const raw::Message) -> i32 {
    raw::OK
}
