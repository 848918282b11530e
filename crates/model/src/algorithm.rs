//! Algorithms: cipher, mode and key length under one name, with the lengths that the name fixes.

use std::fmt;

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
    /// A digest or checksum of the message; its output takes the place of the tag.
    Digest,
    /// Moving the message without a cipher: what no cipher can be faster than.
    Copy,
    /// No work at all: what the harness itself costs.
    Null,
}

/// The mode of operation (NIST SP 800-38 series, IEEE 1619, RFC 7253, RFC 8439).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Electronic codebook, NIST SP 800-38A §6.1.
    Ecb,
    /// Cipher block chaining, NIST SP 800-38A §6.2, without padding.
    Cbc,
    /// Cipher feedback with full-block segments, NIST SP 800-38A §6.3.
    Cfb,
    /// Output feedback, NIST SP 800-38A §6.4.
    Ofb,
    /// Counter mode with a 128-bit big-endian counter, NIST SP 800-38A §6.5.
    Ctr,
    /// XEX with tweak and ciphertext stealing, IEEE 1619, NIST SP 800-38E.
    Xts,
    /// Galois/counter mode, NIST SP 800-38D.
    Gcm,
    /// Counter with CBC-MAC, NIST SP 800-38C, RFC 3610.
    Ccm,
    /// Offset codebook, version 3, RFC 7253.
    Ocb,
    /// ChaCha20 with Poly1305, RFC 8439.
    Poly1305,
    /// Not a cipher: digests and baselines.
    None,
}

/// The primitive below the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceCipher {
    /// AES, FIPS 197.
    Aes,
    /// ChaCha20, RFC 8439.
    ChaCha20,
    /// XXH3, 64-bit output.
    Xxh3,
    /// None: `memcpy` and `null`.
    None,
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
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Algorithm {
    /// Lower case with dashes, OpenSSL's spelling where it has one.
    pub name: &'static str,
    /// Kind of work.
    pub kind: Kind,
    /// Primitive.
    pub cipher: ReferenceCipher,
    /// Mode of operation.
    pub mode: Mode,
    /// Length of the whole key (XTS: both keys).
    pub key_len: usize,
    /// Length of the nonce, IV, initial counter block or tweak.
    pub nonce_len: usize,
    /// Length of the tag or digest.
    pub tag_len: usize,
    /// Message lengths that are defined.
    pub sizes: SizeRule,
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
        ALL.iter().find(|a| a.name == name).ok_or_else(|| UnknownAlgorithm {
            name: name.to_owned(),
            nearest: crate::nearest(name, ALL.iter().map(|a| a.name)),
        })
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
            Kind::Aead => Integrity::Tamper,
            Kind::Digest => Integrity::Accident,
            Kind::Cipher | Kind::Copy | Kind::Null => Integrity::None,
        }
    }

    /// What a reader must be told wherever the algorithm is shown; `None` where there is nothing.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        match (self.kind, self.mode) {
            (Kind::Cipher, Mode::Ecb) => {
                Some("equal blocks stay equal: shows the plaintext's pattern; no integrity")
            }
            (Kind::Cipher, _) => Some("no integrity: tampering is not noticed"),
            (Kind::Digest, _) => Some("no encryption; finds accidental damage, not tampering"),
            (Kind::Copy, _) => Some("no encryption: a baseline"),
            (Kind::Null, _) => Some("no work at all: what the harness itself costs"),
            (Kind::Aead, _) => None,
        }
    }

    /// The warning in one word for narrow places: `ecb`, `no-integrity`, `no-encryption`.
    #[must_use]
    pub fn warning_label(&self) -> Option<&'static str> {
        match (self.kind, self.mode) {
            (Kind::Cipher, Mode::Ecb) => Some("ecb-leaks-patterns"),
            (Kind::Cipher, _) => Some("no-integrity"),
            (Kind::Digest | Kind::Copy | Kind::Null, _) => Some("no-encryption"),
            (Kind::Aead, _) => None,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A name that is no algorithm.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm '{name}'{}; `ciphermark list algorithms` shows all",
    nearest.as_ref().map(|n| format!(", did you mean '{n}'?")).unwrap_or_default())]
pub struct UnknownAlgorithm {
    /// What was asked for.
    pub name: String,
    /// The nearest name that exists.
    pub nearest: Option<String>,
}

const fn aes(name: &'static str, mode: Mode, key_len: usize) -> Algorithm {
    let (kind, nonce_len, tag_len, sizes) = match mode {
        Mode::Ecb => (Kind::Cipher, 0, 0, SizeRule::MultipleOf(16)),
        Mode::Cbc => (Kind::Cipher, 16, 0, SizeRule::MultipleOf(16)),
        Mode::Xts => (Kind::Cipher, 16, 0, SizeRule::AtLeast(16)),
        // RFC 5116 §5: 12-byte nonces and 16-byte tags for GCM and CCM; RFC 7253 for OCB.
        Mode::Gcm | Mode::Ocb => (Kind::Aead, 12, 16, SizeRule::Any),
        // A 12-byte nonce leaves CCM three bytes for the length (NIST SP 800-38C A.1).
        Mode::Ccm => (Kind::Aead, 12, 16, SizeRule::LessThan(1 << 24)),
        _ => (Kind::Cipher, 16, 0, SizeRule::Any),
    };
    Algorithm { name, kind, cipher: ReferenceCipher::Aes, mode, key_len, nonce_len, tag_len, sizes }
}

const fn other(
    name: &'static str,
    kind: Kind,
    cipher: ReferenceCipher,
    mode: Mode,
    lens: (usize, usize, usize),
) -> Algorithm {
    let (key_len, nonce_len, tag_len) = lens;
    Algorithm { name, kind, cipher, mode, key_len, nonce_len, tag_len, sizes: SizeRule::Any }
}

static ALL: &[Algorithm] = &[
    aes("aes-128-ecb", Mode::Ecb, 16),
    aes("aes-192-ecb", Mode::Ecb, 24),
    aes("aes-256-ecb", Mode::Ecb, 32),
    aes("aes-128-cbc", Mode::Cbc, 16),
    aes("aes-192-cbc", Mode::Cbc, 24),
    aes("aes-256-cbc", Mode::Cbc, 32),
    aes("aes-128-cfb", Mode::Cfb, 16),
    aes("aes-192-cfb", Mode::Cfb, 24),
    aes("aes-256-cfb", Mode::Cfb, 32),
    aes("aes-128-ofb", Mode::Ofb, 16),
    aes("aes-192-ofb", Mode::Ofb, 24),
    aes("aes-256-ofb", Mode::Ofb, 32),
    aes("aes-128-ctr", Mode::Ctr, 16),
    aes("aes-192-ctr", Mode::Ctr, 24),
    aes("aes-256-ctr", Mode::Ctr, 32),
    // IEEE 1619 defines XTS for two 128-bit or two 256-bit keys only.
    aes("aes-128-xts", Mode::Xts, 32),
    aes("aes-256-xts", Mode::Xts, 64),
    aes("aes-128-gcm", Mode::Gcm, 16),
    aes("aes-192-gcm", Mode::Gcm, 24),
    aes("aes-256-gcm", Mode::Gcm, 32),
    aes("aes-128-ccm", Mode::Ccm, 16),
    aes("aes-192-ccm", Mode::Ccm, 24),
    aes("aes-256-ccm", Mode::Ccm, 32),
    aes("aes-128-ocb", Mode::Ocb, 16),
    aes("aes-192-ocb", Mode::Ocb, 24),
    aes("aes-256-ocb", Mode::Ocb, 32),
    other("chacha20-poly1305", Kind::Aead, ReferenceCipher::ChaCha20, Mode::Poly1305, (32, 12, 16)),
    other("xxh3-64", Kind::Digest, ReferenceCipher::Xxh3, Mode::None, (0, 0, 8)),
    other("memcpy", Kind::Copy, ReferenceCipher::None, Mode::None, (0, 0, 0)),
    // A nonce, so that its price holds what the harness does to keep nonces fresh.
    other("null", Kind::Null, ReferenceCipher::None, Mode::None, (0, 16, 0)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_unique_and_found_again() {
        for a in ALL {
            assert_eq!(Algorithm::find(a.name).unwrap(), a);
            assert_eq!(ALL.iter().filter(|b| b.name == a.name).count(), 1);
        }
    }

    #[test]
    fn a_misspelt_name_gets_the_nearest_one() {
        let e = Algorithm::find("aes-128-gmc").unwrap_err();
        assert_eq!(e.nearest.as_deref(), Some("aes-128-gcm"));
        assert!(e.to_string().contains("did you mean 'aes-128-gcm'?"));
    }

    #[test]
    fn every_algorithm_but_authenticated_encryption_carries_a_warning() {
        for a in ALL {
            assert_eq!(a.warning().is_none(), a.kind == Kind::Aead, "{a}");
            assert_eq!(a.warning().is_none(), a.warning_label().is_none(), "{a}");
        }
    }

    #[test]
    fn xts_keys_are_two_aes_keys() {
        assert_eq!(Algorithm::find("aes-128-xts").unwrap().key_len, 32);
        assert_eq!(Algorithm::find("aes-256-xts").unwrap().key_len, 64);
    }
}
