//! Algorithms: cipher, mode and key length under one name, with the lengths that the name fixes.

mod table;

use std::fmt;
use table::ALL;

/// Bytes of associated data in the `message` model: what a database page's position (file and
/// block number) takes. TLS records carry 5 or 13, so 16 costs an authenticated mode one block
/// of authentication in every one of these uses.
pub const AAD_LEN: usize = 16;

/// What kind of work an algorithm is; decides which directions it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Encryption without authentication.
    Cipher,
    /// Authenticated encryption with associated data (RFC 5116).
    Aead,
    /// Encryption with a checksum of the plaintext in the tag's place; no associated data.
    Checked,
    /// A digest or checksum of the message, without a key; its output takes the place of the tag.
    Digest,
    /// A message authentication code: a digest under a key, some with a nonce.
    Mac,
    /// Moving the message without a cipher: what no cipher can be faster than.
    Copy,
    /// No work at all: what the harness itself costs.
    Null,
}

/// The mode of operation (NIST SP 800-38 series, IEEE 1619, RFCs as named).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Electronic codebook, NIST SP 800-38A §6.1.
    Ecb,
    /// Cipher block chaining, NIST SP 800-38A §6.2, without padding.
    Cbc,
    /// Cipher feedback with full-block segments, NIST SP 800-38A §6.3.
    Cfb,
    /// Cipher feedback with segments of eight bits, NIST SP 800-38A §6.3.
    Cfb8,
    /// Cipher feedback with segments of one bit, the most significant bit of a byte first,
    /// NIST SP 800-38A §6.3.
    Cfb1,
    /// Output feedback, NIST SP 800-38A §6.4.
    Ofb,
    /// Counter mode with a big-endian counter as wide as the block, NIST SP 800-38A §6.5.
    Ctr,
    /// XEX with tweak and ciphertext stealing, IEEE 1619, NIST SP 800-38E; the same field and byte
    /// order for every cipher.
    Xts,
    /// Galois/counter mode, NIST SP 800-38D.
    Gcm,
    /// Counter with CBC-MAC, NIST SP 800-38C, RFC 3610.
    Ccm,
    /// Offset codebook, version 3, RFC 7253.
    Ocb,
    /// Bellare, Rogaway, Wagner: The EAX mode of operation (FSE 2004).
    Eax,
    /// Synthetic IV, RFC 5297 §3: the vector is the associated data, the nonce, the plaintext.
    Siv,
    /// Nonce misuse-resistant GCM, RFC 8452.
    GcmSiv,
    /// The cipher's own key stream: ChaCha20 from block 0, RFC 8439 §2.4.
    Stream,
    /// ChaCha20 with Poly1305, RFC 8439; with XChaCha20, draft-irtf-cfrg-xchacha-03.
    Poly1305,
    /// AEGIS, draft-irtf-cfrg-aegis-aead, with 256-bit tags.
    Aegis,
    /// HMAC, RFC 2104, FIPS 198-1.
    Hmac,
    /// GCM's authentication alone, NIST SP 800-38D §3: the message is the associated data.
    Gmac,
    /// Poly1305 alone under its one-time key, RFC 8439 §2.5.
    OneTimeMac,
    /// A composite of two algorithms ([`Algorithm::composite`]).
    Composite,
    /// Not a cipher: digests and baselines.
    None,
}

/// The primitive below the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// AES, FIPS 197.
    Aes,
    /// Camellia, RFC 3713.
    Camellia,
    /// ARIA, RFC 5794.
    Aria,
    /// SM4, GB/T 32907-2016.
    Sm4,
    /// Triple DES with three keys, NIST SP 800-67.
    TripleDes,
    /// ChaCha20, RFC 8439.
    ChaCha20,
    /// XChaCha20, draft-irtf-cfrg-xchacha-03.
    XChaCha20,
    /// AEGIS-128L and, with more lanes, AEGIS-128X.
    Aegis128 {
        /// Degree of parallelism: 1, 2 or 4.
        lanes: u8,
    },
    /// AEGIS-256 and, with more lanes, AEGIS-256X.
    Aegis256 {
        /// Degree of parallelism: 1, 2 or 4.
        lanes: u8,
    },
    /// SHA-256, FIPS 180-4.
    Sha256,
    /// SHA-384, FIPS 180-4.
    Sha384,
    /// SHA-512, FIPS 180-4.
    Sha512,
    /// SHA3-256, FIPS 202.
    Sha3_256,
    /// SHA3-384, FIPS 202.
    Sha3_384,
    /// SHA3-512, FIPS 202.
    Sha3_512,
    /// BLAKE2b with 64 bytes of output, RFC 7693.
    Blake2b,
    /// BLAKE3 with 32 bytes of output.
    Blake3,
    /// Poly1305, RFC 8439 §2.5.
    Poly1305,
    /// XXH3, 64-bit output.
    Xxh3,
    /// CRC-32C (Castagnoli), RFC 3720 §12.1.
    Crc32c,
    /// None: `memcpy` and `null`.
    None,
}

impl Primitive {
    /// Bytes of a block; `None` for what has none.
    #[must_use]
    pub fn block_len(self) -> Option<usize> {
        match self {
            Self::Aes | Self::Camellia | Self::Aria | Self::Sm4 => Some(16),
            Self::TripleDes => Some(8),
            _ => None,
        }
    }
}

/// A composite: a cipher and what notices damage, as one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Composite {
    /// The cipher's name.
    pub cipher: &'static str,
    /// The digest's or MAC's name. A checksum is over the plaintext; a MAC is over associated
    /// data, nonce, ciphertext and the length of the associated data in bits as 64-bit big-endian
    /// number (RFC 7518 §5.2.2.1), untruncated.
    pub check: &'static str,
    /// How often the message is gone over.
    pub passes: Passes,
}

/// How often a composite goes over the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passes {
    /// Piece by piece, both parts on a piece while it is in the nearest cache.
    One,
    /// The whole message through one part, then through the other.
    Two,
}

/// What an attacker or an accident can do to the message unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integrity {
    /// Nothing is noticed.
    None,
    /// Accidental damage is noticed, tampering is not.
    Accident,
    /// Tampering is noticed.
    Tamper,
}

/// Which message lengths an algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeRule {
    /// Any number of bytes.
    Any,
    /// Whole multiples of so many bytes.
    MultipleOf(usize),
    /// At least so many bytes.
    AtLeast(usize),
    /// Fewer than so many bytes.
    LessThan(usize),
}

impl SizeRule {
    /// Whether a message of `len` bytes is defined.
    #[must_use]
    pub fn allows(self, len: usize) -> bool {
        match self {
            Self::Any => true,
            Self::MultipleOf(n) => len.is_multiple_of(n),
            Self::AtLeast(n) => len >= n,
            Self::LessThan(n) => len < n,
        }
    }
}

/// One algorithm: everything its name fixes. Lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Algorithm {
    /// Lower case with dashes, OpenSSL's spelling where it has one.
    pub name: &'static str,
    /// Kind of work.
    pub kind: Kind,
    /// Primitive; a composite's cipher's.
    pub cipher: Primitive,
    /// Mode of operation.
    pub mode: Mode,
    /// Length of the whole key (XTS and SIV: both keys; composites: cipher's key, then MAC's).
    pub key_len: usize,
    /// Length of the nonce, IV, initial counter block or tweak.
    pub nonce_len: usize,
    /// Length of the tag or digest.
    pub tag_len: usize,
    /// Message lengths that are defined.
    pub sizes: SizeRule,
    /// The parts of a composite.
    pub composite: Option<Composite>,
}

impl Algorithm {
    /// Every algorithm, in the order in which lists show them.
    #[must_use]
    pub fn all() -> &'static [Self] {
        ALL
    }

    /// The algorithm of that name.
    ///
    /// # Errors
    /// [`UnknownAlgorithm`] with the nearest right spelling.
    pub fn find(name: &str) -> Result<&'static Self, UnknownAlgorithm> {
        ALL.iter().find(|a| a.name == name).ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }

    /// Which sizes the algorithm takes, in words.
    #[must_use]
    pub fn size_reason(&self) -> String {
        match self.sizes {
            SizeRule::Any => format!("{self} takes messages of any size"),
            SizeRule::MultipleOf(n) => {
                format!("{self} without padding takes whole blocks of {n} bytes")
            }
            SizeRule::AtLeast(n) => format!("{self} takes messages of at least {n} bytes"),
            SizeRule::LessThan(n) => format!("{self} takes messages of fewer than {n} bytes"),
        }
    }

    /// What the algorithm protects the message against.
    #[must_use]
    pub fn integrity(&self) -> Integrity {
        match self.kind {
            Kind::Aead | Kind::Mac => Integrity::Tamper,
            Kind::Checked | Kind::Digest => Integrity::Accident,
            Kind::Cipher | Kind::Copy | Kind::Null => Integrity::None,
        }
    }

    /// Whether the message is turned into ciphertext and back.
    #[must_use]
    pub fn encrypts(&self) -> bool {
        matches!(self.kind, Kind::Cipher | Kind::Aead | Kind::Checked)
    }

    /// Whether it has a secret: a key.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        (self.encrypts() || self.kind == Kind::Mac) && self.key_len > 0
    }

    /// Whether associated data belong to a message.
    #[must_use]
    pub fn takes_aad(&self) -> bool {
        self.kind == Kind::Aead
    }

    /// Whether decryption holds a tag against the message, and so can reject it.
    #[must_use]
    pub fn rejects(&self) -> bool {
        matches!(self.kind, Kind::Aead | Kind::Checked)
    }

    /// Whether an operation writes output as long as the message, beside the tag.
    #[must_use]
    pub fn writes_output(&self) -> bool {
        !matches!(self.kind, Kind::Digest | Kind::Mac | Kind::Null)
    }

    /// Whether it is a digest that is not made to be hard to meet on purpose.
    #[must_use]
    pub fn is_checksum(&self) -> bool {
        self.kind == Kind::Digest && matches!(self.cipher, Primitive::Xxh3 | Primitive::Crc32c)
    }

    /// What a reader must be told wherever the algorithm is shown; `None` where there is nothing.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        match (self.kind, self.mode) {
            (Kind::Cipher, Mode::Ecb) => {
                Some("equal blocks stay equal: shows the plaintext's pattern; no integrity")
            }
            (Kind::Cipher, _) => Some("no integrity: tampering is not noticed"),
            (Kind::Checked, _) => Some("finds accidental damage only: tampering is not noticed"),
            (Kind::Digest, _) if self.is_checksum() => {
                Some("no encryption: a checksum, which finds accidental damage only")
            }
            (Kind::Digest, _) => Some("no encryption: a digest, without a key"),
            (Kind::Mac, _) => Some("no encryption: authentication alone"),
            (Kind::Copy, _) => Some("no encryption: a baseline"),
            (Kind::Null, _) => Some("no work at all: what the harness itself costs"),
            (Kind::Aead, _) => None,
        }
    }

    /// The warning in one word for narrow places: `ecb-leaks-patterns`, `no-integrity`,
    /// `accident-only`, `no-encryption`.
    #[must_use]
    pub fn warning_label(&self) -> Option<&'static str> {
        match (self.kind, self.mode) {
            (Kind::Cipher, Mode::Ecb) => Some("ecb-leaks-patterns"),
            (Kind::Cipher, _) => Some("no-integrity"),
            (Kind::Checked, _) => Some("accident-only"),
            (Kind::Digest | Kind::Mac | Kind::Copy | Kind::Null, _) => Some("no-encryption"),
            (Kind::Aead, _) => None,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A name that is no algorithm. The nearest right spelling is computed only when this is shown: some callers only ask
/// whether there is such an algorithm.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm '{0}'{hint}; `ciphermark list algorithms` shows all", hint = suggestion(.0))]
pub struct UnknownAlgorithm(pub String);

fn suggestion(name: &str) -> String {
    let nearest = crate::model::nearest(name, ALL.iter().map(|a| a.name));
    nearest.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
