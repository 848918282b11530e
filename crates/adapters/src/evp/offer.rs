//! Which of the library's interfaces an algorithm is taken from: `README.md` says why.

use super::aead::Aead;
use super::api::Api;
use super::context::Context;
use super::digest;
use super::identity::Product;
use super::joined::Joined;
use super::mac::{gmac, hmac::Hmac, poly1305::Poly1305, provided::EvpMac, signature::DigestSign};
use super::method::Method;
use super::{chacha, cipher, messages, siv, state};
use contract::raw;
use loader::SharedObject;
use model::{Algorithm, Direction, Kind, Mode, Primitive};

/// A session, or the library's error; `None` when the library does not have the algorithm.
pub(super) type Offer = Option<Result<raw::Session, String>>;

/// A loaded library, and what is asked of it. The key has the algorithm's length.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) object: &'a SharedObject,
    pub(super) api: &'a Api,
    pub(super) product: &'a Product,
    pub(super) algorithm: &'static Algorithm,
    pub(super) direction: Direction,
    pub(super) key: &'a [u8],
}

impl Asked<'_> {
    pub(super) fn offer(&self) -> Offer {
        if self.algorithm.mode == Mode::Composite {
            return None;
        }
        match self.algorithm.kind {
            Kind::Cipher => self.cipher().or_else(|| self.chacha()),
            Kind::Aead => self.aead().or_else(|| self.cipher()).or_else(|| self.joined()),
            Kind::Digest => self.digest(),
            Kind::Mac => self.mac(),
            Kind::Checked | Kind::Copy | Kind::Null => None,
        }
    }

    /// `EVP_CIPHER`
    fn cipher(&self) -> Offer {
        let cipher = cipher::find(self.object, self.api, self.algorithm)?;
        if self.algorithm.mode == Mode::Stream
            && cipher::iv_len(self.object, &cipher).is_some_and(|len| len != 16)
        {
            // LibreSSL before 3.1 had a nonce of 8 bytes, and no way to say where to count from.
            return None;
        }
        Some(self.context(&cipher).and_then(|context| match self.algorithm.mode {
            Mode::Siv => siv::session(self.api, context, self.algorithm, self.direction),
            _ => Ok(messages::session(self.api, context, self.algorithm, self.direction)),
        }))
    }

    fn context(&self, cipher: &Method) -> Result<Context, String> {
        Context::open(self.api, cipher, self.algorithm, self.direction, self.key)
    }

    /// `CRYPTO_chacha_20`
    fn chacha(&self) -> Offer {
        let key = (self.algorithm.mode == Mode::Stream).then(|| self.key.try_into().ok())??;
        chacha::session(self.object, key).map(Ok)
    }

    /// `EVP_AEAD` with the tag apart, and the `EVP_CIPHER` for streams.
    fn aead(&self) -> Offer {
        let aead = Aead::find(self.object, self.algorithm)?;
        let cipher = match self.algorithm.kind {
            Kind::Mac => cipher::find_gcm(self.object, self.api, self.algorithm),
            _ => cipher::find(self.object, self.api, self.algorithm),
        };
        let stream = cipher.map(|cipher| {
            let context = self.context(&cipher)?;
            Ok(state::State::new(self.api, context, self.algorithm, self.direction))
        });
        let session = stream.transpose().and_then(|stream| {
            aead.session(self.api.errors, self.algorithm, self.direction, self.key, stream)
        });
        session.transpose()
    }

    /// `EVP_AEAD` with the tag behind the ciphertext.
    fn joined(&self) -> Offer {
        let joined = Joined::find(self.object, self.algorithm)?;
        Some(joined.session(self.api.errors, self.algorithm, self.direction, self.key))
    }

    fn digest(&self) -> Offer {
        let Algorithm { name, tag_len, .. } = *self.algorithm;
        let md = digest::find(self.object, self.api.errors, name, tag_len)?;
        let functions = digest::Functions::load(self.object)?;
        Some(functions.session(self.api.errors, md, tag_len).map(|s| self.with_allocations(s)))
    }

    /// Digests, and HMAC by them, as [`Product::allocates_digests`] says.
    fn with_allocations(&self, mut session: raw::Session) -> raw::Session {
        let digests = matches!(self.algorithm.mode, Mode::None | Mode::Hmac);
        if digests && self.product.allocates_digests() {
            session.flags |= raw::ALLOCATES;
        }
        session
    }

    fn mac(&self) -> Offer {
        let errors = self.api.errors;
        if let Some(mac) = EvpMac::load(self.object) {
            let offer = mac.session(errors, self.algorithm, self.key);
            return offer.map(|session| session.map(|s| self.with_allocations(s)));
        }
        match self.algorithm.mode {
            Mode::Hmac => self.hmac(),
            Mode::Gmac => self.aead().or_else(|| self.gmac()),
            Mode::OneTimeMac => self.poly1305(),
            _ => None,
        }
    }

    /// `HMAC_CTX`
    fn hmac(&self) -> Offer {
        let Algorithm { name, tag_len, .. } = *self.algorithm;
        let digest = name.strip_prefix("hmac-")?;
        let md = digest::find(self.object, self.api.errors, digest, tag_len)?;
        let hmac = Hmac::load(self.object)?;
        Some(hmac.session(self.api.errors, md, tag_len, self.key))
    }

    /// GCM's `EVP_CIPHER`
    fn gmac(&self) -> Offer {
        let cipher = cipher::find_gcm(self.object, self.api, self.algorithm)?;
        let context = self.context(&cipher);
        Some(context.map(|context| gmac::session(self.api, context, self.algorithm)))
    }

    /// `CRYPTO_poly1305_*`, or `EVP_DigestSign*`
    fn poly1305(&self) -> Offer {
        debug_assert_eq!(self.algorithm.cipher, Primitive::Poly1305);
        if let Some(poly1305) = Poly1305::load(self.object) {
            return Some(Ok(poly1305.session(self.api.errors, self.key.try_into().ok()?)));
        }
        let sign = DigestSign::load(self.object)?;
        sign.poly1305(self.api.errors, self.key, self.algorithm.tag_len)
    }
}
