//! A recipe: everything that decides which bytes a page becomes.

use crate::at_rest::scheme::position::Field;
use base::model::{Algorithm, Mode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a page is encrypted, bound to its place and checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recipe {
    /// `none`, a cipher's name, or a cipher's and a sum's joined with a plus.
    pub scheme: String,
    /// The cipher's name; null for `none`.
    pub cipher: Option<String>,
    /// What is kept beside the ciphertext to notice changes, where the cipher has no tag.
    pub sum: Option<Sum>,
    /// Where the nonce, IV or tweak comes from.
    pub nonce: NonceRule,
    /// The page's place: associated data of an authenticated cipher, seed of a checksum.
    pub bound: Vec<Field>,
    /// What a MAC covers, in order.
    pub mac: Vec<MacPart>,
    /// How many pages share a key.
    pub key: KeyScope,
    /// Whether a page that begins with 32 zero bytes is taken for one that was never written, and is
    /// handed on undecrypted.
    pub zero_passes: bool,
    /// Whether a page that is zeros from end to end, with what is stored beside it, is taken for one
    /// that was never written and read as zeros, although its MAC does not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zero_page_passes: bool,
    /// Bytes that the format sets aside for each page's nonce and tag; 0: as many as they are.
    pub reserve: usize,
}

/// What is kept to notice changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
pub enum Sum {
    /// XXH3 over the plaintext, its seed the XXH3 of the place.
    #[serde(rename = "xxh3-64")]
    #[strum(serialize = "xxh3-64")]
    Xxh3,
    /// CRC-32C over the place and the plaintext.
    #[serde(rename = "crc32c")]
    #[strum(serialize = "crc32c")]
    Crc32c,
    /// HMAC-SHA-1 over what [`Recipe::mac`] names.
    #[serde(rename = "hmac-sha1")]
    #[strum(serialize = "hmac-sha1")]
    HmacSha1,
    /// HMAC-SHA-256 over what [`Recipe::mac`] names.
    #[serde(rename = "hmac-sha256")]
    #[strum(serialize = "hmac-sha256")]
    HmacSha256,
    /// HMAC-SHA-512 over what [`Recipe::mac`] names.
    #[serde(rename = "hmac-sha512")]
    #[strum(serialize = "hmac-sha512")]
    HmacSha512,
}

/// Where a nonce comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonceRule {
    /// There is none.
    None,
    /// Drawn for each write and stored beside the page. Of a counter block the last 16 bits are zero:
    /// they count the page's blocks.
    Random,
    /// Made of the page's version and place as they stand in the page itself, in clear: nothing more is
    /// stored.
    Lsn(Vec<Field>),
    /// Made of the page's place, nothing is stored.
    Place(Vec<Field>),
    /// Made of the page's place and masked with a secret value of its file, nothing is stored.
    MaskedPlace(Vec<Field>),
}

/// A part of what a MAC covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MacPart {
    /// The nonce.
    Nonce,
    /// The page's place.
    Place(Vec<Field>),
    /// The ciphertext.
    Ciphertext,
}

/// How many pages share a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyScope {
    /// All.
    Store,
    /// Those of a relation or file.
    File,
}

/// How a cipher takes changes of its ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemeClass {
    /// No encryption.
    Plain,
    /// A key stream: a bit of ciphertext is a bit of plaintext.
    Stream,
    /// Blocks on their own: 16 bytes of ciphertext are 16 bytes of plaintext.
    Blocks,
    /// Chained blocks: a change garbles its block and shows in the next.
    Chain,
    /// Authenticated.
    Authenticated,
}

/// Against whom a scheme protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Protection {
    /// Nobody.
    None,
    /// Accidents.
    Accident,
    /// Adversaries, but for putting an old page back.
    Adversary,
}

/// What a nonce that comes twice under one key gives away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnReuse {
    /// There is no nonce.
    Nothing,
    /// Which plaintexts, or which of their blocks, are equal.
    EqualitySeen,
    /// The two plaintexts' difference.
    PlaintextsLeak,
    /// That, and messages can be forged (NIST SP 800-38D §8, RFC 8439 §4, RFC 7253 §5).
    PlaintextsLeakAndForgery,
}

impl Sum {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Crc32c => 4,
            Self::Xxh3 => 8,
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha512 => 64,
        }
    }

    /// Whether it has a key.
    #[must_use]
    #[inline]
    pub fn is_mac(self) -> bool {
        !matches!(self, Self::Xxh3 | Self::Crc32c)
    }
}

impl Recipe {
    /// The cipher.
    #[must_use]
    pub fn algorithm(&self) -> Option<&'static Algorithm> {
        self.cipher.as_deref().and_then(|name| Algorithm::find(name).ok())
    }

    /// Bytes of the nonce, stored or not.
    #[must_use]
    pub fn nonce_bytes(&self) -> usize {
        self.algorithm().map_or(0, |a| a.nonce_len)
    }

    /// Bytes that are stored of the nonce, beside the page or in it.
    #[must_use]
    pub fn stored_nonce_bytes(&self) -> usize {
        match self.nonce {
            NonceRule::Random | NonceRule::Lsn(_) => self.nonce_bytes(),
            _ => 0,
        }
    }

    /// Bytes of the cipher's own tag.
    #[must_use]
    pub fn tag_bytes(&self) -> usize {
        self.algorithm().map_or(0, |a| a.tag_len)
    }

    /// Bytes of nonce, tag and sum together.
    #[must_use]
    pub fn metadata_bytes(&self) -> usize {
        self.stored_nonce_bytes() + self.tag_bytes() + self.sum.map_or(0, Sum::bytes)
    }

    /// Bytes that a page costs beside itself.
    #[must_use]
    pub fn extra_bytes(&self) -> usize {
        let in_page = match self.nonce {
            NonceRule::Lsn(_) => self.stored_nonce_bytes(),
            _ => 0,
        };
        self.reserve.max(self.metadata_bytes() - in_page)
    }

    /// How the cipher takes changes.
    #[must_use]
    pub fn class(&self) -> SchemeClass {
        match self.algorithm() {
            None => SchemeClass::Plain,
            Some(a) if a.rejects() => SchemeClass::Authenticated,
            Some(a) => match a.mode {
                Mode::Xts => SchemeClass::Blocks,
                Mode::Cbc => SchemeClass::Chain,
                _ => SchemeClass::Stream,
            },
        }
    }

    /// Against whom it protects.
    #[must_use]
    pub fn protection(&self) -> Protection {
        match (self.class(), self.sum) {
            (SchemeClass::Authenticated, _) => Protection::Adversary,
            (_, Some(sum)) if sum.is_mac() => Protection::Adversary,
            (_, Some(_)) => Protection::Accident,
            (_, None) => Protection::None,
        }
    }

    /// What a nonce that comes twice under one key gives away.
    #[must_use]
    pub fn on_reuse(&self) -> OnReuse {
        let Some(algorithm) = self.algorithm() else { return OnReuse::Nothing };
        match algorithm.mode {
            // CBC: equal beginnings show; XTS: equal blocks at one place.
            Mode::Xts | Mode::Cbc | Mode::GcmSiv | Mode::Siv => OnReuse::EqualitySeen,
            Mode::Gcm | Mode::Ocb | Mode::Poly1305 | Mode::Ccm | Mode::Eax | Mode::Aegis => {
                OnReuse::PlaintextsLeakAndForgery
            }
            _ => OnReuse::PlaintextsLeak,
        }
    }
}

/// Whether every list of fields fits where it goes: tweaks and nonces no longer than the cipher's.
#[must_use]
pub fn check_lengths(recipe: &Recipe) -> bool {
    let bytes = |fields: &[Field]| fields.iter().map(|f| f.bytes()).sum::<usize>();
    let nonce_fits = match &recipe.nonce {
        NonceRule::None => recipe.nonce_bytes() == 0,
        NonceRule::Random => recipe.nonce_bytes() > 0,
        NonceRule::Lsn(f) | NonceRule::Place(f) | NonceRule::MaskedPlace(f) => {
            bytes(f) <= recipe.nonce_bytes()
        }
    };
    nonce_fits && bytes(&recipe.bound) <= 64
}
