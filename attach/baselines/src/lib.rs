//! What a cipher is held against, as a library that ciphermark loads:
//! `libciphermark_baselines.so` with `memcpy`, `xxh3-64` and `null`.
//!
//! This crate holds `unsafe` code: it is one side of a C interface. `README.md` says what is
//! inside the clock.

use contract::raw;
use std::ffi::{CStr, c_char, c_void};
use std::{ptr, slice};

include!(concat!(env!("OUT_DIR"), "/built.rs"));

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a package version has no NUL"),
    };

static ADAPTER: raw::Adapter = raw::Adapter {
    abi: raw::ABI,
    library: c"baselines".as_ptr(),
    version: VERSION.as_ptr(),
    build: BUILD.as_ptr(),
    open: Some(open),
};

/// The library, for whoever has loaded this object.
// SAFETY: the name is the interface's own; nothing else defines it.
#[unsafe(no_mangle)]
pub extern "C" fn ciphermark_adapter() -> *const raw::Adapter {
    &raw const ADAPTER
}

/// `cm_direction` of digests and of copies.
const DIGEST: u32 = 2;
const COPY: u32 = 3;

/// None of the functions below allocates, indexes or unwraps: they cannot panic, and if one did,
/// `extern "C"` would end the process before the panic crossed the boundary.
unsafe extern "C" fn open(
    request: *const raw::Request,
    session: *mut raw::Session,
    why: *mut c_char,
    why_len: usize,
) -> i32 {
    // SAFETY: the interface gives a filled-in request with a NUL-terminated name.
    let (request, algorithm) = unsafe { (&*request, CStr::from_ptr((*request).algorithm)) };
    let message: raw::MessageFn = match (algorithm.to_bytes(), request.direction) {
        (b"memcpy", COPY) => copy,
        (b"null", COPY) => nothing,
        (b"xxh3-64", DIGEST) if request.tag_len == size_of::<u64>() => xxh3,
        _ => {
            let reason = c"the baselines are memcpy, xxh3-64 and null";
            // SAFETY: `why` is writable for `why_len` bytes.
            unsafe { explain(reason, why, why_len) };
            return raw::UNSUPPORTED;
        }
    };
    // Nothing is in place, because a copy onto itself is no work; and nothing is a stream, because
    // a stream is in place.
    let filled = raw::Session { message: Some(message), ..raw::Session::empty() };
    // SAFETY: `session` is writable.
    unsafe { session.write(filled) };
    raw::OK
}

/// Leaves a reason, cut to fit.
///
/// # Safety
/// `why` is writable for `why_len` bytes.
unsafe fn explain(reason: &CStr, why: *mut c_char, why_len: usize) {
    let len = reason.to_bytes().len().min(why_len.saturating_sub(1));
    // SAFETY: `len` is within both; there is room for the NUL whenever there is any room.
    unsafe {
        ptr::copy_nonoverlapping(reason.as_ptr(), why, len);
        if why_len > 0 {
            why.add(len).write(0);
        }
    }
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

/// XXH3 with 64 bits of output and no seed, in the canonical form: big-endian.
unsafe extern "C" fn xxh3(_state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: input covers `len` bytes, tag the eight bytes that `open` has seen to.
    unsafe {
        let m = &*message;
        let input = if m.len == 0 { &[] } else { slice::from_raw_parts(m.input, m.len) };
        let digest = xxhash_rust::xxh3::xxh3_64(input);
        m.tag.cast::<[u8; 8]>().write(digest.to_be_bytes());
    }
    raw::OK
}

/// Returns at once: what is left is the harness.
unsafe extern "C" fn nothing(_state: *mut c_void, _message: *const raw::Message) -> i32 {
    raw::OK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_to_the_room_there_is() {
        for (room, expected) in [(0, "......"), (1, "\0....."), (3, "ab\0..."), (6, "abcd\0.")] {
            let mut why = *b"......";
            // SAFETY: `room` is at most the array's length.
            unsafe { explain(c"abcd", why.as_mut_ptr().cast(), room) };
            assert_eq!(why, expected.as_bytes(), "{room} bytes");
        }
    }
}
