//! What a cipher is held against, as a library that ciphermark loads:
//! `libciphermark_baselines.so` with `memcpy`, `null` and three checksums.
//!
//! This crate holds `unsafe` code: it is one side of a C interface. `README.md` says what is
//! inside the clock.
use contract::export::{
    Digest, Done, Generator, OpenError, Opened, Refusal, StreamingDigest, Wanted, raw,
};
use crc_fast::CrcAlgorithm::{Crc32Iscsi, Crc32IsoHdlc};
use std::ffi::{CStr, c_uint, c_void};
use std::io::ErrorKind::Interrupted;
use std::ptr;

contract::adapter! { c"baselines", open }

fn open(wanted: &Wanted<'_>) -> Opened {
    match wanted.algorithm {
        "memcpy" => wanted.copy(message_only(copy, c"memcpy")),
        "null" => wanted.copy(message_only(nothing, c"nothing")),
        "random" => wanted.generator(System),
        "xxh3-64" => wanted.streaming_digest(Xxh3),
        "crc32c" => wanted.streaming_digest(Crc32c),
        "crc32" => wanted.streaming_digest(Crc32),
        _ => Err(OpenError::Unsupported(
            "the baselines are memcpy, xxh3-64, crc32c, crc32, random and null".to_owned(),
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

/// The system's generator: one system call, or as many as it takes, for a signal ends one early.
struct System;

unsafe extern "C" {
    fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize;
}

impl Generator for System {
    const CALL: &'static CStr = c"getrandom";

    fn fill(&mut self, mut output: &mut [u8]) -> Done {
        while !output.is_empty() {
            // SAFETY: the output covers its length.
            let got = unsafe { getrandom(output.as_mut_ptr().cast(), output.len(), 0) };
            match usize::try_from(got) {
                Ok(got) => output = &mut output[got..],
                Err(_) if std::io::Error::last_os_error().kind() == Interrupted => {}
                Err(_) => return Err(Refusal::Failed),
            }
        }
        Ok(())
    }
}

// Checksums, which find accidents and not attackers; all are written big-endian.

/// XXH3 with 64 bits of output and no seed, in its canonical form: big-endian.
pub(crate) struct Xxh3;

impl Digest for Xxh3 {
    type Nonce = [u8; 0];
    type Tag = [u8; 8];
    const CALL: &'static CStr = c"xxhash_rust::xxh3::xxh3_64";

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; 8]> {
        Ok(xxhash_rust::xxh3::xxh3_64(input).to_be_bytes())
    }
}

impl StreamingDigest for Xxh3 {
    type Started = xxhash_rust::xxh3::Xxh3;

    fn start(&self) -> Self::Started {
        Self::Started::new()
    }

    fn update(started: &mut Self::Started, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: Self::Started) -> [u8; 8] {
        started.digest().to_be_bytes()
    }
}

macro_rules! crc {
    ($(#[$doc:meta])* $name:ident, $function:ident, $algorithm:ident, $call:literal) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Digest for $name {
            type Nonce = [u8; 0];
            type Tag = [u8; 4];
            const CALL: &'static CStr = $call;

            fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; 4]> {
                Ok(crc_fast::$function(input).to_be_bytes())
            }
        }

        impl StreamingDigest for $name {
            type Started = crc_fast::Digest;

            fn start(&self) -> crc_fast::Digest {
                crc_fast::Digest::new($algorithm)
            }

            fn update(started: &mut crc_fast::Digest, input: &[u8]) {
                started.update(input);
            }

            fn finish(started: crc_fast::Digest) -> [u8; 4] {
                // The crate gives every width in 64 bits.
                (started.finalize() as u32).to_be_bytes()
            }
        }
    };
}

crc!(
    /// CRC-32C (Castagnoli), RFC 3720 appendix B.4; catalogues call it CRC-32/ISCSI.
    Crc32c,
    crc32_iscsi,
    Crc32Iscsi,
    c"crc_fast::crc32_iscsi"
);
crc!(
    /// CRC-32 of zlib and PNG, RFC 1952 §8; catalogues call it CRC-32/ISO-HDLC.
    Crc32,
    crc32_iso_hdlc,
    Crc32IsoHdlc,
    c"crc_fast::crc32_iso_hdlc"
);
