//! ring as a library that ciphermark loads: `libciphermark_ring.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
use contract::export::{
    Buffer, Derivation, Digest, Done, Generator, Mode, OpenError, Opened, Refusal, StreamingDigest,
    Wanted, raw,
};
use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, Tag, UnboundKey,
};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512, SHA512_256};
use ring::hkdf::{HKDF_SHA256, HKDF_SHA512, KeyType, Salt};
use ring::hmac::{HMAC_SHA1_FOR_LEGACY_USE_ONLY, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512};
use ring::pbkdf2::{PBKDF2_HMAC_SHA1, PBKDF2_HMAC_SHA256, PBKDF2_HMAC_SHA512};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::{digest, hkdf, hmac, pbkdf2};
use std::ffi::CStr;
use std::num::NonZeroU32;

contract::adapter! { c"ring", open }

fn open(wanted: &Wanted<'_>) -> Opened {
    match wanted.algorithm {
        "aes-128-gcm" => wanted.cipher(aead(wanted, &AES_128_GCM)?),
        "aes-256-gcm" => wanted.cipher(aead(wanted, &AES_256_GCM)?),
        "chacha20-poly1305" => wanted.cipher(aead(wanted, &CHACHA20_POLY1305)?),
        "sha1" => wanted.streaming_digest(Hash::<20>(&SHA1_FOR_LEGACY_USE_ONLY)),
        "sha256" => wanted.streaming_digest(Hash::<32>(&SHA256)),
        "sha384" => wanted.streaming_digest(Hash::<48>(&SHA384)),
        "sha512" => wanted.streaming_digest(Hash::<64>(&SHA512)),
        "sha512-256" => wanted.streaming_digest(Hash::<32>(&SHA512_256)),
        "hmac-sha1" => {
            wanted.streaming_digest(Hmac::<20>::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, wanted.key))
        }
        "hmac-sha256" => wanted.streaming_digest(Hmac::<32>::new(HMAC_SHA256, wanted.key)),
        "hmac-sha384" => wanted.streaming_digest(Hmac::<48>::new(HMAC_SHA384, wanted.key)),
        "hmac-sha512" => wanted.streaming_digest(Hmac::<64>::new(HMAC_SHA512, wanted.key)),
        "pbkdf2-sha1" => wanted.derivation(Pbkdf2(PBKDF2_HMAC_SHA1)),
        "pbkdf2-sha256" => wanted.derivation(Pbkdf2(PBKDF2_HMAC_SHA256)),
        "pbkdf2-sha512" => wanted.derivation(Pbkdf2(PBKDF2_HMAC_SHA512)),
        "hkdf-sha256" => wanted.derivation(Hkdf(HKDF_SHA256)),
        "hkdf-sha512" => wanted.derivation(Hkdf(HKDF_SHA512)),
        "random" => wanted.generator(System(SystemRandom::new())),
        name => Err(OpenError::Unsupported(format!("ring has no {name}"))),
    }
}

fn aead(wanted: &Wanted<'_>, algorithm: &'static ring::aead::Algorithm) -> Result<Aead, OpenError> {
    let key = UnboundKey::new(algorithm, wanted.key).map_err(|_| wanted.no_such_key())?;
    Ok(Aead(LessSafeKey::new(key)))
}

// AES-GCM and ChaCha20-Poly1305.

/// An authenticated mode under its key. ring works in place only: out of place its users copy the
/// message first, which is therefore part of the call.
pub(crate) struct Aead(pub(crate) LessSafeKey);

impl Mode for Aead {
    type Nonce = [u8; 12];
    type Tag = [u8; 16];
    const FLAGS: u32 = raw::IN_PLACE | raw::COPIES;
    const CALLS: [&'static CStr; 2] =
        [c"LessSafeKey::seal_in_place_separate_tag", c"LessSafeKey::open_in_place_separate_tag"];
    const REKEY: Option<&'static CStr> = Some(c"UnboundKey::new, LessSafeKey::new");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        UnboundKey::new(self.0.algorithm(), key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    fn encrypt(&mut self, nonce: &[u8; 12], aad: &[u8], buffer: Buffer<'_>) -> Done<[u8; 16]> {
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let message = buffer.into_out_with_copied_in();
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce, Aad::from(aad), message)
            .map_err(|_| Refusal::Failed)?;
        tag.as_ref().try_into().map_err(|_| Refusal::Failed)
    }

    fn decrypt(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        buffer: Buffer<'_>,
        tag: &[u8; 16],
    ) -> Done {
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let message = buffer.into_out_with_copied_in();
        self.0
            .open_in_place_separate_tag(nonce, Aad::from(aad), Tag::from(*tag), message, 0..)
            .map_err(|_| Refusal::Tag)?;
        Ok(())
    }
}

/// The system's generator, which is ring's only one.
struct System(SystemRandom);

impl Generator for System {
    const CALL: &'static CStr = c"SystemRandom::fill";

    fn fill(&mut self, output: &mut [u8]) -> Done {
        self.0.fill(output).map_err(|_| Refusal::Failed)
    }
}

// Key derivation.

struct Pbkdf2(pbkdf2::Algorithm);

impl Derivation for Pbkdf2 {
    const CALL: &'static CStr = c"pbkdf2::derive";

    fn derive(&self, key: &[u8], salt: &[u8], cost: usize, derived: &mut [u8]) -> Done {
        let rounds = cost.try_into().ok().and_then(NonZeroU32::new).ok_or(Refusal::Failed)?;
        pbkdf2::derive(self.0, rounds, salt, key, derived);
        Ok(())
    }
}

struct Hkdf(hkdf::Algorithm);

/// How much is to come out.
struct Len(usize);

impl KeyType for Len {
    fn len(&self) -> usize {
        self.0
    }
}

impl Derivation for Hkdf {
    const CALL: &'static CStr = c"Salt::new, Salt::extract, Prk::expand, Okm::fill";
    const READS_INFO: bool = true;

    fn derive(&self, _: &[u8], _: &[u8], _: usize, _: &mut [u8]) -> Done {
        Err(Refusal::Failed)
    }

    fn expand(&self, key: &[u8], salt: &[u8], info: &[u8], derived: &mut [u8]) -> Done {
        let extracted = Salt::new(self.0, salt).extract(key);
        let (info, len) = ([info], Len(derived.len()));
        let expanded = extracted.expand(&info, len).map_err(|_| Refusal::Failed)?;
        expanded.fill(derived).map_err(|_| Refusal::Failed)
    }
}

// SHA-1, SHA-2 and HMAC.

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
