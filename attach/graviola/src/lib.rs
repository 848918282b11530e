//! Graviola as a library that ciphermark loads: `libciphermark_graviola.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
use contract::export::{
    Buffer, Digest, Done, Mode, OpenError, Opened, Refusal, StreamingDigest, Wanted, raw,
};
use graviola::aead::{AesGcm, ChaCha20Poly1305, XChaCha20Poly1305};
use graviola::hashing::hmac::Hmac;
use graviola::hashing::sha3::{Sha3_256Context, Sha3_512Context, Shake128, Shake256};
use graviola::hashing::{Hash as HashFunction, HashContext, HashOutput, Sha256, Sha384, Sha512};
use std::ffi::CStr;
use std::marker::PhantomData;

contract::adapter! { c"graviola", open }

fn open(wanted: &Wanted<'_>) -> Opened {
    // The types take any key and panic at a wrong length.
    match (wanted.algorithm, wanted.key.len()) {
        ("aes-128-gcm", 16) | ("aes-256-gcm", 32) => {
            runs_here()?;
            wanted.cipher(Gcm(AesGcm::new(wanted.key)))
        }
        ("aes-128-gcm" | "aes-256-gcm", _) => Err(wanted.no_such_key()),
        (_, _) => {
            runs_here()?;
            without_aes(wanted)
        }
    }
}

fn without_aes(wanted: &Wanted<'_>) -> Opened {
    let key = wanted.key;
    match wanted.algorithm {
        "chacha20-poly1305" => wanted.cipher(ChaCha(ChaCha20Poly1305::new(wanted.key_of()?))),
        "xchacha20-poly1305" => wanted.cipher(XChaCha(XChaCha20Poly1305::new(wanted.key_of()?))),
        "sha256" => wanted.streaming_digest(Hash::<Sha256, 32>::new()),
        "sha384" => wanted.streaming_digest(Hash::<Sha384, 48>::new()),
        "sha512" => wanted.streaming_digest(Hash::<Sha512, 64>::new()),
        "sha3-256" => wanted.streaming_digest(Sha3_256),
        "sha3-512" => wanted.streaming_digest(Sha3_512),
        "shake128" => wanted.digest(Xof128),
        "shake256" => wanted.digest(Xof256),
        "hmac-sha256" => wanted.streaming_digest(Keyed::<Sha256, 32>::new(key)),
        "hmac-sha384" => wanted.streaming_digest(Keyed::<Sha384, 48>::new(key)),
        "hmac-sha512" => wanted.streaming_digest(Keyed::<Sha512, 64>::new(key)),
        name => Err(OpenError::Unsupported(format!("Graviola has no {name}"))),
    }
}

/// Refuses a CPU that lacks what Graviola asserts at each entry (`verify_cpu_features` of its `low`
/// modules): it has no portable code, and a failed assertion ends the process, because its types assert
/// once more when they are dropped.
fn runs_here() -> Result<(), OpenError> {
    match needed().into_iter().find(|(_, there)| !there) {
        None => Ok(()),
        Some((feature, _)) => {
            Err(OpenError::Unsupported(format!("Graviola needs a CPU with {feature}")))
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn needed() -> impl IntoIterator<Item = (&'static str, bool)> {
    use std::arch::is_x86_feature_detected as has;
    [
        ("aes", has!("aes")),
        ("pclmulqdq", has!("pclmulqdq")),
        ("bmi1", has!("bmi1")),
        ("adx", has!("adx")),
        ("avx", has!("avx")),
        ("avx2", has!("avx2")),
    ]
}

#[cfg(target_arch = "aarch64")]
fn needed() -> impl IntoIterator<Item = (&'static str, bool)> {
    use std::arch::is_aarch64_feature_detected as has;
    [("neon", has!("neon")), ("aes", has!("aes")), ("pmull", has!("pmull")), ("sha2", has!("sha2"))]
}

// AES-GCM, ChaCha20-Poly1305 and XChaCha20-Poly1305.

/// An authenticated mode under its key. Graviola works in place only: out of place its users copy
/// the message first, which is therefore part of the call.
macro_rules! mode {
    ($(#[$doc:meta])* $name:ident, $type:ty, $nonce_len:literal, $encrypt:literal, $decrypt:literal, $new:literal) => {
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) $type);

        impl Mode for $name {
            type Nonce = [u8; $nonce_len];
            type Tag = [u8; 16];
            const FLAGS: u32 = raw::IN_PLACE | raw::COPIES;
            const CALLS: [&'static CStr; 2] = [$encrypt, $decrypt];
            const REKEY: Option<&'static CStr> = Some($new);

            fn rekeyed(&self, key: &[u8]) -> Option<Self> {
                // Keys have the length that was opened, which the type takes.
                key.try_into().ok().map(|key| Self(<$type>::new(key)))
            }

            fn encrypt(
                &mut self,
                nonce: &Self::Nonce,
                aad: &[u8],
                buffer: Buffer<'_>,
            ) -> Done<[u8; 16]> {
                let mut tag = [0; 16];
                self.0.encrypt(nonce, aad, buffer.into_out_with_copied_in(), &mut tag);
                Ok(tag)
            }

            fn decrypt(
                &mut self,
                nonce: &Self::Nonce,
                aad: &[u8],
                buffer: Buffer<'_>,
                tag: &[u8; 16],
            ) -> Done {
                let message = buffer.into_out_with_copied_in();
                self.0.decrypt(nonce, aad, message, tag).map_err(|_| Refusal::Tag)
            }
        }
    };
}

mode!(Gcm, AesGcm, 12, c"AesGcm::encrypt", c"AesGcm::decrypt", c"AesGcm::new");
mode!(
    ChaCha,
    ChaCha20Poly1305,
    12,
    c"ChaCha20Poly1305::encrypt",
    c"ChaCha20Poly1305::decrypt",
    c"ChaCha20Poly1305::new"
);
mode!(
    XChaCha,
    XChaCha20Poly1305,
    24,
    c"XChaCha20Poly1305::encrypt",
    c"XChaCha20Poly1305::decrypt",
    c"XChaCha20Poly1305::new"
);
// SHA-2, SHA-3 and HMAC.

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

sha3!(Sha3_256, Sha3_256Context, 32, c"Sha3_256Context::new, update, finish");
sha3!(Sha3_512, Sha3_512Context, 64, c"Sha3_512Context::new, update, finish");

/// SHAKE takes its whole input at once.
macro_rules! shake {
    ($(#[$doc:meta])* $name:ident, $type:ident, $len:literal, $call:literal) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Digest for $name {
            type Nonce = [u8; 0];
            type Tag = [u8; $len];
            const CALL: &'static CStr = $call;

            fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<Self::Tag> {
                let mut tag = [0; $len];
                $type::new(&[input]).read(&mut tag);
                Ok(tag)
            }
        }
    };
}

shake!(
    /// SHAKE128 with 32 bytes of output.
    Xof128,
    Shake128,
    32,
    c"Shake128::new, read"
);
shake!(
    /// SHAKE256 with 64 bytes of output.
    Xof256,
    Shake256,
    64,
    c"Shake256::new, read"
);
