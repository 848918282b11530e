//! The authors' BLAKE3 crate as a library that ciphermark loads: `libciphermark_blake3.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
use contract::export::{Digest, Done, OpenError, Opened, StreamingDigest, Wanted};
use std::ffi::CStr;

contract::adapter! { c"blake3", open }

fn open(wanted: &Wanted<'_>) -> Opened {
    match wanted.algorithm {
        "blake3" => wanted.streaming_digest(Blake3),
        "blake3-keyed" => wanted.streaming_digest(Keyed(wanted.key_of()?)),
        name => Err(OpenError::Unsupported(format!("the BLAKE3 crate has no {name}"))),
    }
}

/// BLAKE3 on one thread, with the 32 bytes of output that are its default.
struct Blake3;

impl Digest for Blake3 {
    type Nonce = [u8; 0];
    type Tag = [u8; blake3::OUT_LEN];
    const CALL: &'static CStr = c"blake3::hash";

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<Self::Tag> {
        Ok(*blake3::hash(input).as_bytes())
    }
}

impl StreamingDigest for Blake3 {
    type Started = blake3::Hasher;

    fn start(&self) -> blake3::Hasher {
        blake3::Hasher::new()
    }

    fn update(started: &mut blake3::Hasher, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: blake3::Hasher) -> Self::Tag {
        *started.finalize().as_bytes()
    }
}

/// BLAKE3 under a key, which takes the place of its first chaining value: there is nothing to expand.
struct Keyed([u8; blake3::KEY_LEN]);

impl Digest for Keyed {
    type Nonce = [u8; 0];
    type Tag = [u8; blake3::OUT_LEN];
    const CALL: &'static CStr = c"blake3::keyed_hash";
    const REKEY: Option<&'static CStr> = Some(c"none: the key is an argument of each message");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        key.try_into().ok().map(Self)
    }

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<Self::Tag> {
        Ok(*blake3::keyed_hash(&self.0, input).as_bytes())
    }
}

impl StreamingDigest for Keyed {
    type Started = blake3::Hasher;

    fn start(&self) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&self.0)
    }

    fn update(started: &mut blake3::Hasher, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: blake3::Hasher) -> Self::Tag {
        *started.finalize().as_bytes()
    }
}
