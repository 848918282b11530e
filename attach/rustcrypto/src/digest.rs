//! Digests and MACs: the crates of hash functions, `cshake` for SHAKE, `turboshake` and `k12`; `hmac`, `cmac`, `blake2`,
//! `poly1305`, `ghash`, `polyval`, and `aes-gcm` for GMAC.
use crate::ciphers::{Cipher128, Gcm};
use ::aead::AeadInOut;
use aes_gcm::AesGcm;
use cipher::array::ArraySize;
use cipher::consts::{U0, U12, U16};
use cipher::{Array, KeyInit};
use contract::export::{Buffer, Digest, Done, Mode, Refusal, StreamingDigest};
use hmac::Mac;
use hmac::digest::{Digest as HashFunction, ExtendableOutput, Output};
use poly1305::Poly1305;
use polyval::universal_hash::UniversalHash;
use std::ffi::CStr;
use std::marker::PhantomData;

type NoNonce = Array<u8, U0>;

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

/// A function of any length of output, of which `N` bytes are taken.
pub(crate) struct Xof<H, N>(PhantomData<(H, N)>);

impl<H, N> Xof<H, N> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<H: ExtendableOutput + Default + 'static, N: ArraySize> Digest for Xof<H, N> {
    type Nonce = NoNonce;
    type Tag = Array<u8, N>;
    const CALL: &'static CStr = c"ExtendableOutput::digest_xof";

    fn digest(&mut self, _: &NoNonce, input: &[u8]) -> Done<Self::Tag> {
        let mut tag = Array::default();
        H::digest_xof(input, &mut tag);
        Ok(tag)
    }
}

impl<H: ExtendableOutput + Default + 'static, N: ArraySize> StreamingDigest for Xof<H, N> {
    type Started = H;

    fn start(&self) -> H {
        H::default()
    }

    fn update(started: &mut H, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: H) -> Self::Tag {
        let mut tag = Array::default();
        started.finalize_xof_into(&mut tag);
        tag
    }
}

/// A MAC; the object has taken in the key and is copied for each message.
pub(crate) struct Keyed<M>(M);

impl<M: Mac + KeyInit> Keyed<M> {
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        KeyInit::new_from_slice(key).ok().map(Self)
    }
}

impl<M: Mac + KeyInit + Clone + 'static> Digest for Keyed<M> {
    type Nonce = NoNonce;
    type Tag = Output<M>;
    const CALL: &'static CStr = c"Clone::clone, Mac::update, finalize";
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

impl<M: Mac + KeyInit + Clone + 'static> StreamingDigest for Keyed<M> {
    type Started = M;

    fn start(&self) -> M {
        self.0.clone()
    }

    fn update(started: &mut M, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: M) -> Self::Tag {
        started.finalize().into_bytes()
    }
}

/// A polynomial alone, copied with its key for each message. The crates take whole blocks and fill the last one up.
pub(crate) struct Polynomial<U>(pub(crate) U);

impl<U> Digest for Polynomial<U>
where
    U: UniversalHash<BlockSize = U16> + KeyInit + Clone + 'static,
{
    type Nonce = NoNonce;
    type Tag = Array<u8, U16>;
    const CALL: &'static CStr = c"Clone::clone, UniversalHash::update_padded, finalize";
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        U::new_from_slice(key).ok().map(Self)
    }

    fn digest(&mut self, _: &NoNonce, input: &[u8]) -> Done<Self::Tag> {
        let mut polynomial = self.0.clone();
        polynomial.update_padded(input);
        Ok(polynomial.finalize())
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
    const REKEY: Option<&'static CStr> = <Gcm<C> as Mode>::REKEY;

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        self.0.rekeyed(key).map(Self)
    }

    fn digest(&mut self, nonce: &Self::Nonce, input: &[u8]) -> Done<Self::Tag> {
        let nothing = Buffer::from(&mut [][..]);
        let gcm: &AesGcm<C, U12> = &self.0.0;
        gcm.encrypt_inout_detached(nonce, input, nothing).map_err(|_| Refusal::Failed)
    }
}
