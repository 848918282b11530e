//! Digests and MACs: the crates `sha2`, `sha3`, `blake2`, `hmac`, `poly1305`, and `aes-gcm` for
//! GMAC.
use crate::ciphers::{Cipher128, Gcm};
use ::aead::AeadInOut;
use aes_gcm::AesGcm;
use cipher::consts::{U0, U12, U16};
use cipher::{Array, KeyInit};
use contract::export::{Buffer, Digest, Done, Mode as _, Refusal, StreamingDigest};
use hmac::digest::block_api::EagerHash;
use hmac::digest::{Digest as HashFunction, Output};
use hmac::{Hmac, Mac};
use poly1305::Poly1305;
use std::ffi::CStr;
use std::marker::PhantomData;

type NoNonce = Array<u8, U0>;

/// A hash function.
pub(crate) struct Hash<H>(PhantomData<H>);

impl<H> Hash<H> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<H: HashFunction + 'static> Digest for Hash<H> {
    type Nonce = NoNonce;
    type Tag = Output<H>;
    const CALL: &'static CStr = c"Digest::digest";

    fn digest(&mut self, _: &NoNonce, input: &[u8]) -> Done<Self::Tag> {
        Ok(H::digest(input))
    }
}

impl<H: HashFunction + 'static> StreamingDigest for Hash<H> {
    type Started = H;

    fn start(&self) -> H {
        H::new()
    }

    fn update(started: &mut H, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: H) -> Self::Tag {
        started.finalize()
    }
}

/// HMAC; the object has taken in both pads of the key and is copied for each message.
pub(crate) struct Keyed<H: EagerHash>(Hmac<H>);

impl<H: EagerHash> Keyed<H> {
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        KeyInit::new_from_slice(key).ok().map(Self)
    }
}

impl<H: EagerHash + 'static> Digest for Keyed<H> {
    type Nonce = NoNonce;
    type Tag = Output<Hmac<H>>;
    const CALL: &'static CStr = c"Hmac::clone, update, finalize";
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        Self::new(key)
    }

    fn digest(&mut self, _: &NoNonce, input: &[u8]) -> Done<Self::Tag> {
        let mut mac = self.0.clone();
        mac.update(input);
        Ok(mac.finalize().into_bytes())
    }
}

impl<H: EagerHash + 'static> StreamingDigest for Keyed<H> {
    type Started = Hmac<H>;

    fn start(&self) -> Hmac<H> {
        self.0.clone()
    }

    fn update(started: &mut Hmac<H>, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: Hmac<H>) -> Self::Tag {
        started.finalize().into_bytes()
    }
}

/// Poly1305, copied with its key for each message. The crate takes pieces of whole blocks only.
pub(crate) struct OneTime(pub(crate) Poly1305);

impl Digest for OneTime {
    type Nonce = NoNonce;
    type Tag = Array<u8, U16>;
    const CALL: &'static CStr = c"Poly1305::clone, compute_unpadded";
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        Poly1305::new_from_slice(key).ok().map(Self)
    }

    fn digest(&mut self, _: &NoNonce, input: &[u8]) -> Done<Self::Tag> {
        Ok(self.0.clone().compute_unpadded(input))
    }
}

/// GMAC: GCM of nothing, with the message as associated data.
pub(crate) struct Gmac<C: Cipher128>(pub(crate) Gcm<C>);

impl<C: Cipher128> Digest for Gmac<C> {
    type Nonce = Array<u8, U12>;
    type Tag = Array<u8, U16>;
    const CALL: &'static CStr = c"AesGcm::encrypt_inout_detached";
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        self.0.rekeyed(key).map(Self)
    }

    fn digest(&mut self, nonce: &Self::Nonce, input: &[u8]) -> Done<Self::Tag> {
        let nothing = Buffer::from(&mut [][..]);
        let gcm: &AesGcm<C, U12> = &self.0.0;
        gcm.encrypt_inout_detached(nonce, input, nothing).map_err(|_| Refusal::Failed)
    }
}
