//! SHA-2, SHA-3 and HMAC.
use contract::export::{Digest, Done, StreamingDigest};
use graviola::hashing::hmac::Hmac;
use graviola::hashing::sha3::{Sha3_256Context, Sha3_512Context};
use graviola::hashing::{Hash as HashFunction, HashContext, HashOutput};
use std::ffi::CStr;
use std::marker::PhantomData;

/// SHA-2 with `N` bytes of output.
pub(crate) struct Hash<H, const N: usize>(PhantomData<H>);

impl<H, const N: usize> Hash<H, N> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<H: HashFunction + 'static, const N: usize> Digest for Hash<H, N> {
    type Nonce = [u8; 0];
    type Tag = [u8; N];
    const CALL: &'static CStr = c"Hash::hash";

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; N]> {
        Ok(bytes(&H::hash(input)))
    }
}

impl<H: HashFunction + 'static, const N: usize> StreamingDigest for Hash<H, N> {
    type Started = H::Context;

    fn start(&self) -> H::Context {
        H::new()
    }

    fn update(started: &mut H::Context, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: H::Context) -> [u8; N] {
        bytes(&started.finish())
    }
}

/// HMAC; the object has taken in both pads of the key and is copied for each message.
pub(crate) struct Keyed<H: HashFunction, const N: usize>(Hmac<H>);

impl<H: HashFunction, const N: usize> Keyed<H, N> {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(Hmac::new(key))
    }
}

impl<H: HashFunction + Clone + 'static, const N: usize> Digest for Keyed<H, N> {
    type Nonce = [u8; 0];
    type Tag = [u8; N];
    const CALL: &'static CStr = c"Hmac::clone, update, finish";
    const REKEY: Option<&'static CStr> = Some(c"Hmac::new");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        Some(Self::new(key))
    }

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; N]> {
        let mut mac = self.0.clone();
        mac.update(input);
        Ok(bytes(&mac.finish()))
    }
}

impl<H: HashFunction + Clone + 'static, const N: usize> StreamingDigest for Keyed<H, N> {
    type Started = Hmac<H>;

    fn start(&self) -> Hmac<H> {
        self.0.clone()
    }

    fn update(started: &mut Hmac<H>, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: Hmac<H>) -> [u8; N] {
        bytes(&started.finish())
    }
}

/// Graviola's outputs of SHA-2 are of one type; opening chose the length with the algorithm.
fn bytes<const N: usize>(output: &HashOutput) -> [u8; N] {
    output.as_ref().try_into().expect("the algorithm has outputs of N bytes")
}

macro_rules! sha3 {
    ($(#[$doc:meta])* $name:ident, $context:ident, $len:literal, $call:literal) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Digest for $name {
            type Nonce = [u8; 0];
            type Tag = [u8; $len];
            const CALL: &'static CStr = $call;

            fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<Self::Tag> {
                let mut hash = $context::new();
                hash.update(input);
                Ok(hash.finish())
            }
        }

        impl StreamingDigest for $name {
            type Started = $context;

            fn start(&self) -> $context {
                $context::new()
            }

            fn update(started: &mut $context, input: &[u8]) {
                started.update(input);
            }

            fn finish(started: $context) -> Self::Tag {
                started.finish()
            }
        }
    };
}

sha3!(
    /// SHA3-256.
    Sha3_256,
    Sha3_256Context,
    32,
    c"Sha3_256Context::new, update, finish"
);
sha3!(
    /// SHA3-512.
    Sha3_512,
    Sha3_512Context,
    64,
    c"Sha3_512Context::new, update, finish"
);
