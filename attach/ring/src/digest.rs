//! SHA-2 and HMAC.
use contract::export::{Digest, Done, StreamingDigest};
use ring::{digest, hmac};
use std::ffi::CStr;

/// A hash function with `N` bytes of output.
pub(crate) struct Hash<const N: usize>(pub(crate) &'static digest::Algorithm);

impl<const N: usize> Digest for Hash<N> {
    type Nonce = [u8; 0];
    type Tag = [u8; N];
    const CALL: &'static CStr = c"digest::digest";

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; N]> {
        Ok(bytes(digest::digest(self.0, input).as_ref()))
    }
}

impl<const N: usize> StreamingDigest for Hash<N> {
    type Started = digest::Context;

    fn start(&self) -> digest::Context {
        digest::Context::new(self.0)
    }

    fn update(started: &mut digest::Context, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: digest::Context) -> [u8; N] {
        bytes(started.finish().as_ref())
    }
}

/// HMAC under its key, both of whose pads have been taken in.
pub(crate) struct Hmac<const N: usize>(hmac::Key);

impl<const N: usize> Hmac<N> {
    pub(crate) fn new(algorithm: hmac::Algorithm, key: &[u8]) -> Self {
        Self(hmac::Key::new(algorithm, key))
    }
}

impl<const N: usize> Digest for Hmac<N> {
    type Nonce = [u8; 0];
    type Tag = [u8; N];
    const CALL: &'static CStr = c"hmac::sign";
    const REKEY: Option<&'static CStr> = Some(c"hmac::Key::new");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        Some(Self::new(self.0.algorithm(), key))
    }

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; N]> {
        Ok(bytes(hmac::sign(&self.0, input).as_ref()))
    }
}

impl<const N: usize> StreamingDigest for Hmac<N> {
    type Started = hmac::Context;

    fn start(&self) -> hmac::Context {
        hmac::Context::with_key(&self.0)
    }

    fn update(started: &mut hmac::Context, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: hmac::Context) -> [u8; N] {
        bytes(started.sign().as_ref())
    }
}

/// ring's outputs are slices; opening chose the length with the algorithm.
fn bytes<const N: usize>(output: &[u8]) -> [u8; N] {
    output.try_into().expect("the algorithm has outputs of N bytes")
}
