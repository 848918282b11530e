//! Which of the library's interfaces an algorithm is taken from: `README.md` says why.

use super::aead::Aead;
use super::context::Context;
use super::digest;
use super::joined::Joined;
use super::mac::gmac::{self, Gmac};
use super::mac::{hmac::Hmac, poly1305::Poly1305, provided::EvpMac, signature::DigestSign};
use super::method::Method;
use super::state::State;
use super::{Evp, chacha, cipher, messages, siv};
use crate::family::Request;
use base::model::{Algorithm, Kind, Mode, Primitive};
use contract::raw;

/// A session, or the library's error; `None` when the library does not have the algorithm.
pub(super) type Offer = Option<Result<raw::Session, String>>;

impl Request<'_, Evp> {
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
        let cipher = cipher::find(&self.library.object, &self.library.api, self.algorithm)?;
        if self.algorithm.mode == Mode::Stream
            && cipher::iv_len(&self.library.object, &cipher).is_some_and(|len| len != 16)
        {
            // LibreSSL before 3.1 had a nonce of 8 bytes, and no way to say where to count from.
            return None;
        }
        Some(self.context(&cipher).and_then(|context| match self.algorithm.mode {
            Mode::Siv => siv::session(&self.library.api, context, self.algorithm, self.direction),
            _ => Ok(messages::session(&self.library.api, context, self.algorithm, self.direction)),
        }))
    }

    fn context(&self, cipher: &Method) -> Result<Context, String> {
        Context::open(&self.library.api, cipher, self.algorithm, self.direction, self.key)
    }

    /// `CRYPTO_chacha_20`
    fn chacha(&self) -> Offer {
        let key = (self.algorithm.mode == Mode::Stream).then(|| self.key.try_into().ok())??;
        chacha::session(&self.library.object, key).map(Ok)
    }

    /// `EVP_AEAD` with the tag apart, and the `EVP_CIPHER` for streams.
    fn aead(&self) -> Offer {
        let aead = Aead::find(&self.library.object, self.algorithm)?;
        let cipher = match self.algorithm.kind {
            Kind::Mac => cipher::find_gcm(&self.library.object, &self.library.api, self.algorithm),
            _ => cipher::find(&self.library.object, &self.library.api, self.algorithm),
        };
        let stream = cipher.map(|cipher| {
            let context = self.context(&cipher)?;
            Ok(State::new(&self.library.api, context, self.algorithm, self.direction))
        });
        let session = stream.transpose().and_then(|stream| match self.algorithm.kind {
            Kind::Mac => aead.session::<_, true>(self, stream.map(Gmac)),
            _ => aead.session::<_, false>(self, stream),
        });
        session.transpose()
    }

    /// `EVP_AEAD` with the tag behind the ciphertext.
    fn joined(&self) -> Offer {
        let joined = Joined::find(&self.library.object, self.algorithm)?;
        Some(joined.session(self.library.api.errors, self.algorithm, self.direction, self.key))
    }

    fn digest(&self) -> Offer {
        let Algorithm { name, tag_len, .. } = *self.algorithm;
        let md = digest::find(&self.library.object, self.library.api.errors, name, tag_len)?;
        let functions = digest::Functions::load(&self.library.object)?;
        Some(
            functions
                .session(self.library.api.errors, md, tag_len)
                .map(|s| self.with_allocations(s)),
        )
    }

    /// Digests, and HMAC by them, as [`Product::allocates_digests`] says.
    fn with_allocations(&self, mut session: raw::Session) -> raw::Session {
        let digests = matches!(self.algorithm.mode, Mode::None | Mode::Hmac);
        if digests & self.library.product.allocates_digests() {
            session.flags |= raw::ALLOCATES;
        }
        session
    }

    fn mac(&self) -> Offer {
        let errors = self.library.api.errors;
        if let Ok(mac) = EvpMac::of(&self.library.object) {
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
        let md = digest::find(&self.library.object, self.library.api.errors, digest, tag_len)?;
        let hmac = Hmac::load(&self.library.object)?;
        Some(hmac.session(self.library.api.errors, md, tag_len, self.key))
    }

    /// GCM's `EVP_CIPHER`
    fn gmac(&self) -> Offer {
        let cipher = cipher::find_gcm(&self.library.object, &self.library.api, self.algorithm)?;
        let context = self.context(&cipher);
        Some(context.map(|context| gmac::session(&self.library.api, context, self.algorithm)))
    }

    /// `CRYPTO_poly1305_*`, or `EVP_DigestSign*`
    fn poly1305(&self) -> Offer {
        debug_assert_eq!(self.algorithm.cipher, Primitive::Poly1305);
        if let Ok(poly1305) = Poly1305::of(&self.library.object) {
            return Some(Ok(poly1305.session(self.library.api.errors, self.key.try_into().ok()?)));
        }
        let sign = DigestSign::of(&self.library.object)?;
        sign.poly1305(self.library.api.errors, self.key, self.algorithm.tag_len)
    }
}
