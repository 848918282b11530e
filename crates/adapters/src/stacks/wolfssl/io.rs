//! The callbacks by which wolfSSL reads and writes the wire.

use super::api::Ptr;
use crate::stacks::wire::Pipe;
use std::ffi::{c_char, c_int};

/// `WOLFSSL_CBIO_ERR_GENERAL`, `WOLFSSL_CBIO_ERR_WANT_READ` (wolfssl/error-ssl.h).
const GENERAL: c_int = -1;
const WANT_READ: c_int = -2;

pub(super) unsafe extern "C" fn receive(_: Ptr, to: *mut c_char, bytes: c_int, pipe: Ptr) -> c_int {
    let Ok(wanted) = usize::try_from(bytes) else { return GENERAL };
    // SAFETY: the library passes the pipe that its connection was given, which outlives it, and as many
    // writable bytes as it says; nothing else refers to the buffers during the call.
    let taken = unsafe { (*pipe.cast::<Pipe>()).take(to.cast(), wanted) };
    if taken == 0 && wanted > 0 { WANT_READ } else { taken as c_int }
}

pub(super) unsafe extern "C" fn send(_: Ptr, from: *mut c_char, bytes: c_int, pipe: Ptr) -> c_int {
    let Ok(length) = usize::try_from(bytes) else { return GENERAL };
    // SAFETY: as in `receive`, with readable bytes.
    unsafe { (*pipe.cast::<Pipe>()).put(from.cast(), length) };
    bytes
}
