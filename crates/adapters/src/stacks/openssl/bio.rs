//! The BIOs that read and write the wire, in the place of the library's memory BIO.

use super::api::{Api, Crypto, Ptr};
use crate::stacks::bench::End;
use crate::stacks::wire::{Pipe, Wire};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long};

thread_local! {
    /// The library whose BIO calls back on this thread: a callback is told nothing else.
    static CRYPTO: Cell<Option<&'static Crypto>> = const { Cell::new(None) };
}

/// A new BIO for an end; null when the library makes none.
#[inline]
pub(super) fn bio(api: &'static Api, wire: &Wire, end: End) -> Ptr {
    CRYPTO.set(Some(&api.crypto));
    // SAFETY: the method is one of this library; the pipe lives as long as the wire, which outlives
    // the connection that the BIO goes to.
    unsafe {
        let bio = (api.crypto.BIO_new)(api.method);
        if !bio.is_null() {
            (api.crypto.BIO_set_data)(bio, wire.pipe(end).cast());
            (api.crypto.BIO_set_init)(bio, 1);
        }
        bio
    }
}

/// `BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY`, and all flags about retries (openssl/bio.h).
const RETRY_READ: c_int = 0x01 | 0x08;
const ALL_RETRIES: c_int = 0x0f;
/// `BIO_CTRL_FLUSH`
const FLUSH: c_int = 11;

/// Makes the method of such BIOs.
pub(super) fn method(crypto: &Crypto) -> Result<Ptr, String> {
    /// `BIO_TYPE_SOURCE_SINK`, with a number that no BIO of the libraries has.
    const TYPE: c_int = 0x0400 | 0x7e;
    // SAFETY: the name is a C string that lives for ever; the callbacks have the types of the header.
    unsafe {
        let method = (crypto.BIO_meth_new)(TYPE, c"ciphermark".as_ptr());
        if method.is_null() {
            return Err("BIO_meth_new failed".to_owned());
        }
        (crypto.BIO_meth_set_write)(method, write);
        (crypto.BIO_meth_set_read)(method, read);
        (crypto.BIO_meth_set_ctrl)(method, control);
        Ok(method)
    }
}

unsafe extern "C" fn write(bio: Ptr, from: *const c_char, bytes: c_int) -> c_int {
    let Some(crypto) = CRYPTO.get() else { return -1 };
    let Ok(length) = usize::try_from(bytes) else { return -1 };
    // SAFETY: the library passes a BIO that `bio` made, and as many readable bytes as it says;
    // nothing else refers to the buffer during the call.
    unsafe {
        (crypto.BIO_clear_flags)(bio, ALL_RETRIES);
        let pipe = (crypto.BIO_get_data)(bio).cast::<Pipe>();
        (*pipe).put(from.cast(), length);
    }
    bytes
}

unsafe extern "C" fn read(bio: Ptr, to: *mut c_char, bytes: c_int) -> c_int {
    let Some(crypto) = CRYPTO.get() else { return -1 };
    let Ok(wanted) = usize::try_from(bytes) else { return -1 };
    // SAFETY: as in `write`, with as many writable bytes as it says.
    unsafe {
        (crypto.BIO_clear_flags)(bio, ALL_RETRIES);
        let pipe = (crypto.BIO_get_data)(bio).cast::<Pipe>();
        let taken = (*pipe).take(to.cast(), wanted);
        if taken == 0 {
            (crypto.BIO_set_flags)(bio, RETRY_READ);
            return -1;
        }
        taken as c_int
    }
}

unsafe extern "C" fn control(_: Ptr, command: c_int, _: c_long, _: Ptr) -> c_long {
    c_long::from(command == FLUSH)
}
