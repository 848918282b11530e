//! Algorithms: cipher, mode and key length under one name, with the lengths that the name fixes; the
//! directions that each kind has; and the one table that names and lengths come from.

use crate::model::{BUFFERS, MAX_REPEATED_SIZE};
use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

/// Bytes of associated data in the `message` model: what a database page's position (file and
/// block number) takes. TLS records carry 5 or 13, so 16 costs an authenticated mode one block
/// of authentication in every one of these uses.
pub const AAD_LEN: usize = 16;

/// What kind of work an algorithm is; decides which directions it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "records", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "records", serde(rename_all = "lowercase"))]
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
    /// A key derived from a passphrase or from another key. The passphrase is the key, the salt is in the nonce's place,
    /// and what comes out in the tag's.
    Derivation,
    /// Random bytes, as many as the message has, which nobody reads.
    Random,
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
    /// CBC whose IV is the nonce (a sector's number, little-endian) enciphered by AES-256 under SHA-256 of the key, as
    /// dm-crypt makes it (`essiv:sha256`).
    Essiv,
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
    /// HCTR2 over a whole message with a tweak of 32 bytes, as Linux has it (Crowley, Huckleberry, Biggers:
    /// Length-preserving encryption with HCTR2, IACR ePrint 2021/1441).
    Hctr2,
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
    /// Key wrap, RFC 3394, KW of NIST SP 800-38F §6.2. What comes out is eight bytes longer than the key; the first eight,
    /// the integrity check, are the tag.
    KeyWrap,
    /// Key wrap with padding, RFC 5649, KWP of NIST SP 800-38F §6.3, of keys that need none: the tag holds the length, too.
    KeyWrapPadded,
    /// The cipher's own key stream: ChaCha20 from block 0, RFC 8439 §2.4; RC4 from its key on.
    Stream,
    /// ChaCha20 with Poly1305, RFC 8439; with XChaCha20, draft-irtf-cfrg-xchacha-03.
    Poly1305,
    /// AEGIS, draft-irtf-cfrg-aegis-aead, with 256-bit tags.
    Aegis,
    /// Adiantum over a whole message with a tweak of 32 bytes, as Linux has it.
    Adiantum,
    /// HMAC, RFC 2104, FIPS 198-1.
    Hmac,
    /// GCM's authentication alone, NIST SP 800-38D §3: the message is the associated data.
    Gmac,
    /// Poly1305 alone under its one-time key, RFC 8439 §2.5.
    OneTimeMac,
    /// CMAC, NIST SP 800-38B, RFC 4493.
    Cmac,
    /// KMAC without customization, NIST SP 800-185 §4.
    Kmac,
    /// A digest's or hash function's own way of taking a key: BLAKE2 (RFC 7693 §2.9), BLAKE3, SipHash.
    Keyed,
    /// A polynomial over GF(2^128) alone: GHASH (NIST SP 800-38D §6.4), POLYVAL (RFC 8452 §3). Below a mode it is
    /// masked; alone it is no safe MAC.
    Universal,
    /// NaCl's secretbox: a stream cipher's first 32 bytes are the key of Poly1305 over the ciphertext; there are no
    /// associated data.
    SecretBox,
    /// PBKDF2 over HMAC, RFC 8018 §5.2; the size is the number of iterations.
    Pbkdf2,
    /// HKDF, RFC 5869, with 32 bytes of output; the message is the info.
    Hkdf,
    /// OpenPGP's iterated and salted S2K, RFC 9580 §3.7.1.3; the size is the number of octets that are hashed.
    S2k,
    /// A function that is to need memory: scrypt, Argon2; the size is bytes of memory.
    MemoryHard,
    /// bcrypt (Provos, Mazières 1999) over the passphrase and a NUL; the size is the number of rounds, 2 to the cost.
    Bcrypt,
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
    /// DES, FIPS 46-3.
    Des,
    /// Serpent (Anderson, Biham, Knudsen 1998), in the byte order of its AES submission's final version.
    Serpent,
    /// Twofish (Schneier et al. 1998).
    Twofish,
    /// SEED, RFC 4269.
    Seed,
    /// Kuznyechik, GOST R 34.12-2015, RFC 7801.
    Kuznyechik,
    /// Magma, GOST R 34.12-2015, RFC 8891.
    Magma,
    /// Blowfish (Schneier 1993).
    Blowfish,
    /// CAST-128, RFC 2144.
    Cast5,
    /// IDEA (Lai, Massey 1991).
    Idea,
    /// RC2 with as many effective bits as the key has, RFC 2268.
    Rc2,
    /// Ascon, NIST SP 800-232.
    Ascon,
    /// ChaCha with eight rounds.
    ChaCha8,
    /// ChaCha with twelve rounds.
    ChaCha12,
    /// Salsa20 (Bernstein 2005), 20 rounds.
    Salsa20,
    /// XSalsa20 (Bernstein 2008).
    XSalsa20,
    /// RC4 (Rivest 1987), as RFC 6229 has its key stream; without a nonce.
    Rc4,
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
    /// Adiantum: XChaCha, NH, Poly1305 and one block of AES-256 (Crowley, Biggers: Adiantum: length-preserving encryption
    /// for entry-level processors, IACR ToSC 2018).
    Adiantum {
        /// XChaCha's: 12 or 20.
        rounds: u8,
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
    /// Keccak-256 with the padding that it had before FIPS 202, as Ethereum has it (The Keccak SHA-3 submission, version 3).
    Keccak256,
    /// BLAKE2b with 64 bytes of output, RFC 7693.
    Blake2b,
    /// BLAKE3 with 32 bytes of output.
    Blake3,
    /// MD4, RFC 1320.
    Md4,
    /// MD5, RFC 1321.
    Md5,
    /// SHA-1, FIPS 180-4.
    Sha1,
    /// SHA-224, FIPS 180-4.
    Sha224,
    /// SHA-512/224, FIPS 180-4.
    Sha512_224,
    /// SHA-512/256, FIPS 180-4.
    Sha512_256,
    /// SHA3-224, FIPS 202.
    Sha3_224,
    /// SHAKE128, FIPS 202, with 32 bytes of output; below KMAC128.
    Shake128,
    /// SHAKE256, FIPS 202, with 64 bytes of output; below KMAC256.
    Shake256,
    /// TurboSHAKE128 with 32 bytes of output, domain separation 1f, RFC 9861.
    TurboShake128,
    /// TurboSHAKE256 with 64 bytes of output, domain separation 1f, RFC 9861.
    TurboShake256,
    /// KangarooTwelve: KT128 with 32 bytes of output, RFC 9861.
    Kt128,
    /// BLAKE2b with 32 bytes of output, RFC 7693.
    Blake2b256,
    /// BLAKE2s with 32 bytes of output, RFC 7693.
    Blake2s,
    /// SM3, GB/T 32905-2016, ISO/IEC 10118-3.
    Sm3,
    /// RIPEMD-160, ISO/IEC 10118-3.
    Ripemd160,
    /// Whirlpool, ISO/IEC 10118-3.
    Whirlpool,
    /// Streebog with 256 bits, GOST R 34.11-2012, RFC 6986.
    Streebog256,
    /// Streebog with 512 bits, GOST R 34.11-2012, RFC 6986.
    Streebog512,
    /// Ascon-Hash256, NIST SP 800-232.
    AsconHash256,
    /// SipHash-2-4 with 8 bytes of output (Aumasson, Bernstein 2012).
    SipHash24,
    /// SipHash-1-3 with 8 bytes of output.
    SipHash13,
    /// GHASH, NIST SP 800-38D §6.4; the message filled up with zeros to whole blocks.
    Ghash,
    /// POLYVAL, RFC 8452 §3; the message filled up with zeros to whole blocks.
    Polyval,
    /// Poly1305, RFC 8439 §2.5.
    Poly1305,
    /// scrypt with r = 8 and p = 1, RFC 7914.
    Scrypt,
    /// Argon2d with one lane, RFC 9106.
    Argon2d {
        /// Passes over the memory.
        passes: u8,
    },
    /// Argon2i with one lane, RFC 9106.
    Argon2i {
        /// Passes over the memory.
        passes: u8,
    },
    /// Argon2id with one lane, RFC 9106.
    Argon2id {
        /// Passes over the memory.
        passes: u8,
    },
    /// XXH3, 128-bit output.
    Xxh3_128,
    /// XXH64.
    Xxh64,
    /// XXH32.
    Xxh32,
    /// CRC-32 (ISO-HDLC: zlib, gzip, PNG), RFC 1952 §8.
    Crc32,
    /// Adler-32, RFC 1950 §8.2.
    Adler32,
    /// XXH3, 64-bit output.
    Xxh3,
    /// CRC-32C (Castagnoli), RFC 3720 §12.1.
    Crc32c,
    /// What an adapter brings with an algorithm that is not in the table: its family.
    Brought(&'static str),
    /// None: `memcpy` and `null`; random numbers, which each library makes in its own way.
    None,
}

impl Primitive {
    /// Bytes of a block; `None` for what has none.
    pub const fn block_len(self) -> Option<usize> {
        use Primitive as P;
        match self {
            P::Aes | P::Camellia | P::Aria | P::Sm4 => Some(16),
            P::Serpent | P::Twofish | P::Seed | P::Kuznyechik => Some(16),
            P::TripleDes | P::Des | P::Blowfish | P::Cast5 | P::Idea | P::Rc2 | P::Magma => Some(8),
            _ => None,
        }
    }

    /// Why nothing new should be protected with it; `None` where nobody says so. With its source.
    pub fn weakness(self) -> Option<&'static str> {
        use Primitive as P;
        match self {
            // Electronic Frontier Foundation: Cracking DES, 1998.
            P::Des => Some("weak: a key of 56 bits can be found by trying all"),
            // RFC 6150, RFC 6151; Leurent, Peyrin: SHA-1 is a Shambles, 2020.
            P::Md4 | P::Md5 => Some("weak: collisions are made in seconds"),
            P::Sha1 => Some("weak: collisions have been made"),
            // RFC 7465; AlFardan, Bernstein, Paterson, Poettering, Schuldt: On the Security of RC4 in TLS, 2013.
            P::Rc4 => Some("weak: its key stream is biased, which gives plaintexts away"),
            // Bhargavan, Leurent: On the Practical (In-)Security of 64-bit Block Ciphers, 2016.
            _ if self.block_len() == Some(8) => {
                Some("weak: blocks of 64 bits repeat after some gigabytes under one key")
            }
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
    /// Whole multiples of so many bytes, and at least so many.
    MultipleFrom(usize, usize),
    /// Fewer than so many bytes.
    LessThan(usize),
    /// From so much to so much.
    Between(usize, usize),
    /// A power of two, from so much to so much.
    PowerOfTwo(usize, usize),
    /// Whole KiB, at least so many bytes.
    WholeKib(usize),
}

impl SizeRule {
    /// Whether a message of `len` bytes is defined.
    pub fn allows(self, len: usize) -> bool {
        match self {
            Self::Any => true,
            Self::MultipleOf(n) => len.is_multiple_of(n),
            Self::AtLeast(n) => len >= n,
            Self::MultipleFrom(n, least) => len >= least && len.is_multiple_of(n),
            Self::LessThan(n) => len < n,
            Self::Between(least, most) => (least..=most).contains(&len),
            Self::PowerOfTwo(least, most) => (least..=most).contains(&len) && len.is_power_of_two(),
            Self::WholeKib(least) => len >= least && len.is_multiple_of(1024),
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
    /// Every algorithm, in the order in which lists show them: those of the table, then those that adapters and
    /// records have brought into this process.
    pub fn all() -> &'static [Self] {
        *KNOWN.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The algorithm of that name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownAlgorithm> {
        let mut all = Self::all().iter();
        all.find(|a| a.name == name).ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }

    /// The algorithm that people mean by another name: in other cases and with other dashes, by the names of OpenSSL's
    /// objects, of other libraries and of standards (`id-aes128-GCM`, `rijndael-256-cbc`, `des3`, `SHA-1`).
    pub fn meant_by(text: &str) -> Option<&'static Self> {
        let text = squeezed(text);
        // How dm-crypt is to number sectors is no part of the cipher.
        let text = text.trim_end_matches("plain64");
        let ending = OTHER_ENDINGS.iter().find_map(|(theirs, ours)| {
            let rest = text.strip_suffix(theirs)?;
            Some(rest.to_owned() + ours)
        });
        let text = ending.as_deref().unwrap_or(text);
        let other = OTHER_NAMES.iter().find_map(|(theirs, ours)| {
            let rest = text.strip_prefix(theirs)?;
            Some(squeezed(ours) + rest)
        });
        [Some(text.to_owned()), other]
            .into_iter()
            .flatten()
            .find_map(|text| Self::all().iter().find(|a| kept(a.name).eq(text.chars())))
    }

    /// The algorithm that OpenSSL's commands mean by a cipher's name without a mode (`aes256`, `bf`, `des`): CBC.
    pub fn meant_by_alias(text: &str) -> Option<&'static Self> {
        let cbc = (!text.contains('-')).then(|| format!("{text}-cbc"))?;
        Self::meant_by(&cbc).filter(|a| a.mode == Mode::Cbc)
    }

    /// What names of algorithms begin with that are meant by a name of all of them: `aes` by `rijndael`.
    pub fn beginning_meant_by(text: &str) -> Option<&'static str> {
        let text = squeezed(text);
        let other = OTHER_NAMES.iter().find(|(theirs, _)| *theirs == text);
        let meant = other.map_or_else(|| text.clone(), |(_, ours)| squeezed(ours));
        let beginnings =
            |a: &'static Self| a.name.match_indices('-').map(move |(dash, _)| &a.name[..dash]);
        Self::all().iter().flat_map(beginnings).find(|begin| kept(begin).eq(meant.chars()))
    }

    /// Whether an adapter has brought it: nothing here knows what it computes, so it is checked against the adapter's
    /// own vectors only.
    pub fn is_brought(&self) -> bool {
        matches!(self.cipher, Primitive::Brought(_))
    }

    /// What lists show it below.
    pub fn family(&self) -> &'static str {
        if let Primitive::Brought(family) = self.cipher {
            return family;
        }
        let holds =
            |group: &&Group| group.1.iter().flat_map(|row| row.iter()).any(|a| a.name == self.name);
        GROUPS.iter().find(holds).map_or("", |group| group.0)
    }

    /// Which sizes the algorithm takes, in words.
    pub fn size_reason(&self) -> String {
        if let Some(unit) = self.cost_unit() {
            return match self.sizes {
                SizeRule::PowerOfTwo(least, most) => {
                    format!("{self} takes powers of two, from {least} to {most} {unit}")
                }
                SizeRule::Between(least, most) => {
                    format!("{self} is measured with {least} to {most} {unit}")
                }
                SizeRule::WholeKib(n) => format!("{self} takes whole KiB, from {n} {unit} on"),
                _ => format!("{self} takes any number of {unit}"),
            };
        }
        match self.sizes {
            SizeRule::Between(least, most) if self.kind == Kind::Random => {
                format!("{self} is measured with {least} to {most} bytes")
            }
            SizeRule::Between(least, most) => {
                format!("{self} takes messages of {least} to {most} bytes")
            }
            SizeRule::Any | SizeRule::PowerOfTwo(..) | SizeRule::WholeKib(_) => {
                format!("{self} takes messages of any size")
            }
            SizeRule::MultipleOf(n) => {
                format!("{self} without padding takes whole blocks of {n} bytes")
            }
            SizeRule::AtLeast(n) => format!("{self} takes messages of at least {n} bytes"),
            SizeRule::MultipleFrom(n, least) => {
                format!("{self} takes whole multiples of {n} bytes, from {least} on")
            }
            SizeRule::LessThan(n) => format!("{self} takes messages of fewer than {n} bytes"),
        }
    }

    /// What the algorithm protects the message against.
    pub fn integrity(&self) -> Integrity {
        match self.kind {
            Kind::Aead | Kind::Mac => Integrity::Tamper,
            Kind::Checked | Kind::Digest => Integrity::Accident,
            Kind::Cipher | Kind::Derivation | Kind::Random | Kind::Copy | Kind::Null => {
                Integrity::None
            }
        }
    }

    /// Whether the message is turned into ciphertext and back.
    pub fn encrypts(&self) -> bool {
        matches!(self.kind, Kind::Cipher | Kind::Aead | Kind::Checked)
    }

    /// Whether it has a secret: a key.
    pub fn has_secret(&self) -> bool {
        (self.encrypts() || matches!(self.kind, Kind::Mac | Kind::Derivation)) && self.key_len > 0
    }

    /// What a size is of, where it is no number of bytes of a message but what a derivation is to cost.
    pub fn cost_unit(&self) -> Option<&'static str> {
        match self.mode {
            Mode::Pbkdf2 => Some("iterations"),
            Mode::MemoryHard => Some("bytes of memory"),
            Mode::Bcrypt => Some("rounds"),
            Mode::S2k => Some("octets"),
            _ => None,
        }
    }

    /// A size with its unit: `64 bytes`, `1000 iterations`.
    pub fn size_in_words(&self, size: usize) -> String {
        format!("{size} {}", self.cost_unit().unwrap_or("bytes"))
    }

    /// What an operation of a size is to cost, where a size is that.
    pub fn cost(&self, size: usize) -> Option<usize> {
        self.cost_unit().map(|_| size)
    }

    /// Bytes of a message's input in memory. That of a derivation whose size is a cost is looked at by nobody.
    pub fn input_len(&self, size: usize) -> usize {
        if self.cost_unit().is_some() { 16 } else { size }
    }

    /// Whether an operation on so much is a sample by itself ([`MAX_REPEATED_SIZE`]).
    pub fn is_large(&self, size: usize) -> bool {
        self.input_len(size) > MAX_REPEATED_SIZE
    }

    /// Bytes of memory that an operation needs at the most, with what makes and checks it ([`BUFFERS`]).
    pub fn memory_bytes(&self, size: usize) -> u64 {
        // The library's, and the reference's after it, which the heap may not give back.
        let own = if self.mode == Mode::MemoryHard { 2 * size } else { 0 };
        (BUFFERS * self.input_len(size) + own) as u64
    }

    /// Whether an operation reads a message: none does whose size is a cost, or how much is drawn.
    pub fn reads_input(&self) -> bool {
        self.cost_unit().is_none() && self.kind != Kind::Random
    }

    /// Whether associated data belong to a message.
    pub fn takes_aad(&self) -> bool {
        self.kind == Kind::Aead && self.mode != Mode::SecretBox && !self.wraps_keys()
    }

    /// Whether it is made to encrypt keys: deterministic, and slow for anything longer.
    pub fn wraps_keys(&self) -> bool {
        matches!(self.mode, Mode::KeyWrap | Mode::KeyWrapPadded)
    }

    /// Whether decryption holds a tag against the message, and so can reject it.
    pub fn rejects(&self) -> bool {
        matches!(self.kind, Kind::Aead | Kind::Checked)
    }

    /// Whether an operation writes output as long as the message, beside the tag.
    pub fn writes_output(&self) -> bool {
        !matches!(self.kind, Kind::Digest | Kind::Mac | Kind::Derivation | Kind::Null)
    }

    /// Whether it is a digest that is not made to be hard to meet on purpose.
    pub fn is_checksum(&self) -> bool {
        use Primitive as P;
        let sums = [P::Xxh3, P::Xxh3_128, P::Xxh64, P::Xxh32, P::Crc32c, P::Crc32, P::Adler32];
        self.kind == Kind::Digest && sums.contains(&self.cipher)
    }

    /// Whether nothing new should be protected with it.
    pub fn is_weak(&self) -> bool {
        self.weakness().is_some()
    }

    /// Why; `None` where nobody says so.
    fn weakness(&self) -> Option<&'static str> {
        let weakness = self.cipher.weakness()?;
        Some(match self.mode {
            // What it derives hangs on the cost of its key schedule, not on the cipher's blocks.
            Mode::Bcrypt => return None,
            Mode::Pbkdf2 | Mode::Hkdf | Mode::S2k => {
                "weak digest: its collisions do not matter here, but nothing new should use it"
            }
            // RFC 6151 §2.3; NIST SP 800-131A Rev. 2 §10 leaves HMAC-SHA-1 alone.
            Mode::Hmac => {
                "weak digest: HMAC withstands its collisions, but nothing new should use it"
            }
            _ => weakness,
        })
    }

    /// What a reader must be told wherever the algorithm is shown; `None` where there is nothing.
    pub fn warning(&self) -> Option<&'static str> {
        if let Some(weakness) = self.weakness() {
            return Some(weakness);
        }
        if self.is_brought() {
            return Some(match self.kind {
                Kind::Cipher => {
                    "no integrity: tampering is not noticed; checked against its own vectors only"
                }
                Kind::Digest => {
                    "no encryption: a digest, without a key; checked against its own vectors only"
                }
                Kind::Mac => {
                    "no encryption: authentication alone; checked against its own vectors only"
                }
                _ => "checked against its own vectors only",
            });
        }
        match (self.kind, self.mode) {
            (_, Mode::Universal) => {
                Some("no encryption: a polynomial alone, which is no MAC until it is masked")
            }
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
            (Kind::Derivation, Mode::Hkdf) => {
                Some("no encryption: derives from a key; too fast for a passphrase")
            }
            (Kind::Derivation, _) => Some("no encryption: derives a key from a passphrase"),
            (Kind::Random, _) if self.name == RANDOM_NONCE => {
                Some("no encryption: random bytes for nonces, not for keys")
            }
            (Kind::Random, _) => Some("no encryption: random bytes"),
            (Kind::Copy, _) => Some("no encryption: a baseline"),
            (Kind::Null, _) => Some("no work at all: what the harness itself costs"),
            (Kind::Aead, _) if self.wraps_keys() => {
                Some("made for keys: equal keys give equal output; no associated data")
            }
            (Kind::Aead, _) => None,
        }
    }

    /// The warning in one word for narrow places: `weak`, `ecb-leaks-patterns`, `no-integrity`,
    /// `accident-only`, `for-keys`, `no-encryption`; of an algorithm that an adapter brings `own-vectors-only`.
    pub fn warning_label(&self) -> Option<&'static str> {
        if self.is_weak() {
            return Some("weak");
        }
        if self.is_brought() {
            return Some("own-vectors-only");
        }
        match (self.kind, self.mode) {
            (Kind::Cipher, Mode::Ecb) => Some("ecb-leaks-patterns"),
            (Kind::Cipher, _) => Some("no-integrity"),
            (Kind::Checked, _) => Some("accident-only"),
            (Kind::Aead, _) if self.wraps_keys() => Some("for-keys"),
            (Kind::Aead, _) => None,
            _ => Some("no-encryption"),
        }
    }
}

/// A name without case and dashes.
fn squeezed(text: &str) -> String {
    kept(text).collect()
}

fn kept(text: &str) -> impl Iterator<Item = char> {
    let kept = text.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase())
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
    crate::model::suggestion(name, Algorithm::all().iter().map(|a| a.name))
}

/// What is done to the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "records", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "records", serde(rename_all = "lowercase"))]
pub enum Direction {
    /// Plaintext to ciphertext (and tag).
    #[default]
    Encrypt,
    /// Ciphertext (and valid tag) to plaintext.
    Decrypt,
    /// Message to digest.
    Digest,
    /// Message to its copy; also the harness's null operation.
    Copy,
    /// Random bytes out of nothing.
    Generate,
    /// The server's end of a TLS handshake.
    Server,
    /// The client's end of it.
    Client,
    /// Sending a TLS record.
    Send,
    /// Receiving it.
    Receive,
    /// An operation under a handshake with all that belongs to it.
    Whole,
    /// The library's one call of it alone.
    Call,
}

impl Direction {
    /// All.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The directions that a kind of algorithm has.
    pub fn of(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::Cipher | Kind::Aead | Kind::Checked => &[Self::Encrypt, Self::Decrypt],
            Kind::Digest | Kind::Mac | Kind::Derivation => &[Self::Digest],
            Kind::Random => &[Self::Generate],
            Kind::Copy | Kind::Null => &[Self::Copy],
        }
    }

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A block cipher's modes under one key length.
const fn block(
    name: &'static str,
    cipher: Primitive,
    mode: Mode,
    cipher_key_len: usize,
) -> Algorithm {
    let Some(block_len) = cipher.block_len() else { panic!("a block cipher") };
    let (kind, nonce_len, tag_len, sizes) = match mode {
        Mode::Ecb => (Kind::Cipher, 0, 0, SizeRule::MultipleOf(block_len)),
        Mode::Cbc | Mode::Essiv => (Kind::Cipher, block_len, 0, SizeRule::MultipleOf(block_len)),
        Mode::Xts => (Kind::Cipher, 16, 0, XTS_SIZES),
        // HCTR2 takes tweaks of any length; Linux has 32 bytes, so that a file's number fits beside a block's.
        Mode::Hctr2 => (Kind::Cipher, 32, 0, SizeRule::AtLeast(16)),
        // RFC 5116 §5: 12-byte nonces and 16-byte tags for GCM and CCM; RFC 7253 for OCB; RFC 8452
        // for GCM-SIV.
        Mode::Gcm | Mode::Ocb | Mode::GcmSiv => (Kind::Aead, 12, 16, SizeRule::Any),
        // A 12-byte nonce leaves CCM three bytes for the length (NIST SP 800-38C A.1).
        Mode::Ccm => (Kind::Aead, 12, 16, SizeRule::LessThan(1 << 24)),
        // Both take nonces of any length; a block is what their papers' vectors have.
        Mode::Eax | Mode::Siv => (Kind::Aead, 16, 16, SizeRule::Any),
        // SP 800-38F §5.3.1: two semiblocks of eight bytes at least.
        Mode::KeyWrap => (Kind::Aead, 0, 8, SizeRule::MultipleFrom(8, 16)),
        // Other lengths are padded to these, and what comes out is longer than the tag and the key.
        Mode::KeyWrapPadded => (Kind::Aead, 0, 8, SizeRule::MultipleFrom(8, 8)),
        Mode::Gmac => (Kind::Mac, 12, 16, SizeRule::Any),
        Mode::Cmac => (Kind::Mac, 0, block_len, SizeRule::Any),
        _ => (Kind::Cipher, block_len, 0, SizeRule::Any),
    };
    // XTS: data key and tweak key (IEEE 1619 §5.1). SIV: MAC key and CTR key (RFC 5297 §2.2).
    let keys = match mode {
        Mode::Xts | Mode::Siv => 2,
        _ => 1,
    };
    let key_len = cipher_key_len * keys;
    Algorithm { name, kind, cipher, mode, key_len, nonce_len, tag_len, sizes, composite: None }
}

/// What is no block cipher's mode; `lens` are key, nonce and tag.
const fn other(
    name: &'static str,
    kind: Kind,
    cipher: Primitive,
    mode: Mode,
    lens: (usize, usize, usize),
) -> Algorithm {
    let (key_len, nonce_len, tag_len) = lens;
    let (sizes, composite) = (SizeRule::Any, None);
    Algorithm { name, kind, cipher, mode, key_len, nonce_len, tag_len, sizes, composite }
}

const fn digest(name: &'static str, cipher: Primitive, tag_len: usize) -> Algorithm {
    other(name, Kind::Digest, cipher, Mode::None, (0, 0, tag_len))
}

/// HMAC under a key as long as the digest, the shortest that FIPS 198-1 and RFC 2104 §3 advise.
const fn hmac(name: &'static str, cipher: Primitive, digest_len: usize) -> Algorithm {
    mac(name, cipher, Mode::Hmac, digest_len, digest_len)
}

/// A MAC without a nonce.
const fn mac(
    name: &'static str,
    cipher: Primitive,
    mode: Mode,
    key_len: usize,
    tag_len: usize,
) -> Algorithm {
    other(name, Kind::Mac, cipher, mode, (key_len, 0, tag_len))
}

/// CCM with the shorter tag that RFC 6655 §4 has for TLS on small devices.
const fn ccm_8(name: &'static str, key_len: usize) -> Algorithm {
    let mut algorithm = block(name, Primitive::Aes, Mode::Ccm, key_len);
    algorithm.tag_len = 8;
    algorithm
}

const fn aegis(name: &'static str, cipher: Primitive) -> Algorithm {
    let len = match cipher {
        Primitive::Aegis256 { .. } => 32,
        _ => 16,
    };
    // The longer of the draft's two tags: the one that every implementation offers.
    other(name, Kind::Aead, cipher, Mode::Aegis, (len, len, 32))
}

const fn adiantum(name: &'static str, rounds: u8) -> Algorithm {
    let cipher = Primitive::Adiantum { rounds };
    let sizes = SizeRule::AtLeast(16);
    Algorithm { sizes, ..other(name, Kind::Cipher, cipher, Mode::Adiantum, (32, 32, 0)) }
}

/// An AES mode and a check; both key lengths.
const fn composite(
    name: &'static str,
    parts: Composite,
    cipher_key_len: usize,
    mac: bool,
) -> Algorithm {
    let (kind, mac_key_len, tag_len) =
        if mac { (Kind::Aead, 32, 32) } else { (Kind::Checked, 0, 8) };
    let bytes = parts.cipher.as_bytes();
    // The mode is the name's last three letters.
    let sizes = match bytes[bytes.len() - 3] {
        b'c' if bytes[bytes.len() - 2] == b'b' => SizeRule::MultipleOf(16),
        b'x' => XTS_SIZES,
        _ => SizeRule::Any,
    };
    Algorithm {
        name,
        kind,
        cipher: Primitive::Aes,
        mode: Mode::Composite,
        key_len: cipher_key_len + mac_key_len,
        nonce_len: 16,
        tag_len,
        sizes,
        composite: Some(parts),
    }
}

/// Rows of one mode under several lengths of key, or of one length in several modes: names made of the parts.
macro_rules! rows {
    ($cipher:ident $key_len:literal: $prefix:literal: $($mode:ident $suffix:literal),+) => {
        &[$(block(concat!($prefix, $suffix), Primitive::$cipher, Mode::$mode, $key_len)),+]
    };
    ($cipher:ident, $mode:ident, $suffix:literal: $($prefix:literal $key_len:literal),+) => {
        &[$(block(concat!($prefix, $suffix), Primitive::$cipher, Mode::$mode, $key_len)),+]
    };
}

/// The modes that are defined for any block cipher of 128 bits, for one cipher.
macro_rules! modes {
    ($cipher:ident: $($prefix:literal $key_len:literal),+; xts $($xts:literal $xts_len:literal),+) => {
        &[
            rows!($cipher, Ecb, "-ecb": $($prefix $key_len),+),
            rows!($cipher, Cbc, "-cbc": $($prefix $key_len),+),
            rows!($cipher, Cfb, "-cfb": $($prefix $key_len),+),
            rows!($cipher, Cfb8, "-cfb8": $($prefix $key_len),+),
            rows!($cipher, Cfb1, "-cfb1": $($prefix $key_len),+),
            rows!($cipher, Ofb, "-ofb": $($prefix $key_len),+),
            rows!($cipher, Ctr, "-ctr": $($prefix $key_len),+),
            rows!($cipher, Xts, "-xts": $($xts $xts_len),+),
            rows!($cipher, Gcm, "-gcm": $($prefix $key_len),+),
            rows!($cipher, Ccm, "-ccm": $($prefix $key_len),+),
            rows!($cipher, Ocb, "-ocb": $($prefix $key_len),+),
            rows!($cipher, Eax, "-eax": $($prefix $key_len),+),
            rows!($cipher, Siv, "-siv": $($prefix $key_len),+),
        ]
    };
}

/// A composite in two passes and in one.
macro_rules! composites {
    ($($cipher:literal $key_len:literal + $check:literal as $suffix:literal, mac $mac:literal);+ $(;)?) => {
        &[$(
            composite(
                concat!($cipher, "+", $suffix),
                Composite { cipher: $cipher, check: $check, passes: Passes::Two },
                $key_len,
                $mac,
            ),
            composite(
                concat!($cipher, "+", $suffix, "-onepass"),
                Composite { cipher: $cipher, check: $check, passes: Passes::One },
                $key_len,
                $mac,
            ),
        )+]
    };
}

// IEEE 1619 defines XTS for two 128-bit or two 256-bit keys only.
const AES: &[&[Algorithm]] =
    modes!(Aes: "aes-128" 16, "aes-192" 24, "aes-256" 32; xts "aes-128" 16, "aes-256" 32);
// RFC 8452 §4 has no 192-bit keys.
const AES_ALONE: &[&[Algorithm]] = &[
    rows!(Aes, GcmSiv, "-gcm-siv": "aes-128" 16, "aes-256" 32),
    rows!(Aes, Gmac, "-gmac": "aes-128" 16, "aes-192" 24, "aes-256" 32),
    rows!(Aes, KeyWrap, "-kw": "aes-128" 16, "aes-192" 24, "aes-256" 32),
    rows!(Aes, KeyWrapPadded, "-kwp": "aes-128" 16, "aes-192" 24, "aes-256" 32),
    rows!(Aes, Essiv, "-cbc-essiv": "aes-128" 16, "aes-256" 32),
    rows!(Aes, Hctr2, "-hctr2": "aes-128" 16, "aes-256" 32),
    &[ccm_8("aes-128-ccm8", 16), ccm_8("aes-256-ccm8", 32)],
];
const CAMELLIA: &[&[Algorithm]] = modes!(Camellia: "camellia-128" 16, "camellia-192" 24, "camellia-256" 32; xts "camellia-128" 16, "camellia-256" 32);
const ARIA: &[&[Algorithm]] =
    modes!(Aria: "aria-128" 16, "aria-192" 24, "aria-256" 32; xts "aria-128" 16, "aria-256" 32);
const SM4: &[&[Algorithm]] = modes!(Sm4: "sm4" 16; xts "sm4" 16);
/// The modes of disks, mail and archives, where the two finalists beside AES are met.
macro_rules! finalist {
    ($cipher:ident: $small:literal, $middle:literal, $large:literal) => {
        &[
            rows!($cipher, Ecb, "-ecb": $small 16, $middle 24, $large 32),
            rows!($cipher, Cbc, "-cbc": $small 16, $middle 24, $large 32),
            rows!($cipher, Cfb, "-cfb": $small 16, $middle 24, $large 32),
            rows!($cipher, Ofb, "-ofb": $small 16, $middle 24, $large 32),
            rows!($cipher, Ctr, "-ctr": $small 16, $middle 24, $large 32),
            rows!($cipher, Xts, "-xts": $small 16, $large 32),
            rows!($cipher, Gcm, "-gcm": $small 16, $large 32),
            rows!($cipher, Ocb, "-ocb": $small 16, $large 32),
            rows!($cipher, Eax, "-eax": $small 16, $large 32),
        ]
    };
}

/// A cipher with one key length, in the modes that old formats have.
macro_rules! old {
    ($cipher:ident $key_len:literal: $prefix:literal) => {
        rows!($cipher $key_len: $prefix: Ecb "-ecb", Cbc "-cbc", Cfb "-cfb", Ofb "-ofb", Ctr "-ctr")
    };
}

const SERPENT: &[&[Algorithm]] = finalist!(Serpent: "serpent-128", "serpent-192", "serpent-256");
const TWOFISH: &[&[Algorithm]] = finalist!(Twofish: "twofish-128", "twofish-192", "twofish-256");
const OLD: &[&[Algorithm]] = &[
    rows!(TripleDes 24: "des-ede3": Ecb "-ecb", Cbc "-cbc", Cfb "-cfb", Cfb8 "-cfb8", Cfb1 "-cfb1", Ofb "-ofb", Ctr "-ctr"),
    old!(Kuznyechik 32: "kuznyechik"),
    old!(Seed 16: "seed"),
    // pgcrypto's and OpenSSL's length of key; the cipher takes 4 to 56 bytes.
    old!(Blowfish 16: "bf"),
    old!(Cast5 16: "cast5"),
    old!(Idea 16: "idea"),
    old!(Rc2 16: "rc2"),
    old!(Des 8: "des"),
    rows!(Magma 32: "magma": Ecb "-ecb", Cbc "-cbc"),
];
const STREAMS: &[&[Algorithm]] = &[&[
    other("chacha20", Kind::Cipher, Primitive::ChaCha20, Mode::Stream, (32, 12, 0)),
    other("chacha20-poly1305", Kind::Aead, Primitive::ChaCha20, Mode::Poly1305, (32, 12, 16)),
    other("xchacha20-poly1305", Kind::Aead, Primitive::XChaCha20, Mode::Poly1305, (32, 24, 16)),
    other("xchacha20", Kind::Cipher, Primitive::XChaCha20, Mode::Stream, (32, 24, 0)),
    other("chacha8", Kind::Cipher, Primitive::ChaCha8, Mode::Stream, (32, 12, 0)),
    other("chacha12", Kind::Cipher, Primitive::ChaCha12, Mode::Stream, (32, 12, 0)),
    other("salsa20", Kind::Cipher, Primitive::Salsa20, Mode::Stream, (32, 8, 0)),
    // The length that peers measure; the cipher takes 5 to 256 bytes.
    other("rc4", Kind::Cipher, Primitive::Rc4, Mode::Stream, (16, 0, 0)),
    other("xsalsa20-poly1305", Kind::Aead, Primitive::XSalsa20, Mode::SecretBox, (32, 24, 16)),
    other("ascon-aead128", Kind::Aead, Primitive::Ascon, Mode::None, (16, 16, 16)),
    adiantum("adiantum", 12),
    adiantum("adiantum-xchacha20", 20),
    aegis("aegis-128l", Primitive::Aegis128 { lanes: 1 }),
    aegis("aegis-128x2", Primitive::Aegis128 { lanes: 2 }),
    aegis("aegis-128x4", Primitive::Aegis128 { lanes: 4 }),
    aegis("aegis-256", Primitive::Aegis256 { lanes: 1 }),
    aegis("aegis-256x2", Primitive::Aegis256 { lanes: 2 }),
    aegis("aegis-256x4", Primitive::Aegis256 { lanes: 4 }),
]];
const COMPOSITES: &[&[Algorithm]] = &[composites! {
    "aes-128-ctr" 16 + "xxh3-64" as "xxh3", mac false;
    "aes-256-ctr" 32 + "xxh3-64" as "xxh3", mac false;
    "aes-128-xts" 32 + "xxh3-64" as "xxh3", mac false;
    "aes-256-xts" 64 + "xxh3-64" as "xxh3", mac false;
    "aes-128-ctr" 16 + "hmac-sha256" as "hmac-sha256", mac true;
    "aes-256-ctr" 32 + "hmac-sha256" as "hmac-sha256", mac true;
    "aes-128-cbc" 16 + "hmac-sha256" as "hmac-sha256", mac true;
    "aes-256-cbc" 32 + "hmac-sha256" as "hmac-sha256", mac true;
}];
/// What others call what ends so, without dashes; a longer one before what it ends with.
const OTHER_ENDINGS: &[(&str, &str)] =
    &[("keywrappad", "kwp"), ("wrappad", "kwp"), ("keywrap", "kw"), ("wrap", "kw")];
/// What others call what begins so, without dashes; a longer one before what it begins with.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("idaes", "aes"),
    ("aescbcessivsha256", "aes-256-cbc-essiv"),
    ("aescbcessiv", "aes-256-cbc-essiv"),
    ("aes128cbcessivsha256", "aes-128-cbc-essiv"),
    ("aes256cbcessivsha256", "aes-256-cbc-essiv"),
    ("essivcbcaessha256", "aes-256-cbc-essiv"),
    ("aeshctr2", "aes-256-hctr2"),
    ("hctr2", "aes-256-hctr2"),
    ("xchacha12aesadiantum", "adiantum"),
    ("xchacha20aesadiantum", "adiantum-xchacha20"),
    ("adiantumxchacha12aes", "adiantum"),
    ("adiantumxchacha20aes", "adiantum-xchacha20"),
    ("adiantumxchacha12", "adiantum"),
    ("rfc3394", "aes-256-kw"),
    ("rfc5649", "aes-256-kwp"),
    ("rijndael", "aes"),
    ("des3", "des-ede3-cbc"),
    ("3des", "des-ede3"),
    ("tripledes", "des-ede3"),
    ("desede", "des-ede3"),
    ("blowfish", "bf"),
    ("castcbc", "cast5-cbc"),
    ("cast128", "cast5"),
    ("grasshopper", "kuznyechik"),
    ("chacha", "chacha20"),
    ("arcfour", "rc4"),
    ("arc4", "rc4"),
    ("secretbox", "xsalsa20-poly1305"),
    ("sha2", "sha"),
    ("ripemd160", "rmd160"),
    ("ripemd", "rmd160"),
    ("hmacripemd160", "hmac-rmd160"),
    ("sha3", "sha3-256"),
    ("keccak", "keccak-256"),
    ("blake2b", "blake2b512"),
    ("blake2s", "blake2s256"),
    ("xxh3", "xxh3-64"),
    ("xxhash", "xxh64"),
    ("k12", "kt128"),
    ("kangarootwelve", "kt128"),
    ("gost34112012", "streebog-"),
    ("stribog", "streebog-"),
    ("siphash", "siphash-2-4"),
    ("asconaead", "ascon-aead128"),
    ("asconhash", "ascon-hash256"),
    ("crc32iscsi", "crc32c"),
    ("cmac", "aes-128-cmac"),
    ("argon2id", "argon2id-t1"),
    ("argon2i", "argon2i-t3"),
    ("argon2d", "argon2d-t1"),
    ("argon2", "argon2id-t1"),
    ("pbkdf2hmac", "pbkdf2"),
    ("pbkdf2", "pbkdf2-sha256"),
    ("s2k", "s2k-sha256"),
    ("hkdf", "hkdf-sha256"),
    ("rand", "random"),
    ("rng", "random"),
    ("drbg", "random"),
    ("getrandom", "random"),
];

const DIGESTS: &[&[Algorithm]] = &[&[
    digest("md4", Primitive::Md4, 16),
    digest("md5", Primitive::Md5, 16),
    digest("sha1", Primitive::Sha1, 20),
    digest("sha224", Primitive::Sha224, 28),
    digest("sha256", Primitive::Sha256, 32),
    digest("sha384", Primitive::Sha384, 48),
    digest("sha512", Primitive::Sha512, 64),
    digest("sha512-224", Primitive::Sha512_224, 28),
    digest("sha512-256", Primitive::Sha512_256, 32),
    digest("sha3-224", Primitive::Sha3_224, 28),
    digest("sha3-256", Primitive::Sha3_256, 32),
    digest("sha3-384", Primitive::Sha3_384, 48),
    digest("sha3-512", Primitive::Sha3_512, 64),
    digest("keccak-256", Primitive::Keccak256, 32),
    digest("shake128", Primitive::Shake128, 32),
    digest("shake256", Primitive::Shake256, 64),
    digest("turboshake128", Primitive::TurboShake128, 32),
    digest("turboshake256", Primitive::TurboShake256, 64),
    digest("kt128", Primitive::Kt128, 32),
    digest("blake2b512", Primitive::Blake2b, 64),
    digest("blake2b256", Primitive::Blake2b256, 32),
    digest("blake2s256", Primitive::Blake2s, 32),
    digest("blake3", Primitive::Blake3, 32),
    digest("sm3", Primitive::Sm3, 32),
    digest("rmd160", Primitive::Ripemd160, 20),
    digest("whirlpool", Primitive::Whirlpool, 64),
    digest("streebog-256", Primitive::Streebog256, 32),
    digest("streebog-512", Primitive::Streebog512, 64),
    digest("ascon-hash256", Primitive::AsconHash256, 32),
]];
const MACS: &[&[Algorithm]] = &[&[
    hmac("hmac-md5", Primitive::Md5, 16),
    hmac("hmac-sha1", Primitive::Sha1, 20),
    hmac("hmac-sha224", Primitive::Sha224, 28),
    hmac("hmac-sha256", Primitive::Sha256, 32),
    hmac("hmac-sha384", Primitive::Sha384, 48),
    hmac("hmac-sha512", Primitive::Sha512, 64),
    hmac("hmac-sha512-256", Primitive::Sha512_256, 32),
    hmac("hmac-sha3-256", Primitive::Sha3_256, 32),
    hmac("hmac-sha3-512", Primitive::Sha3_512, 64),
    hmac("hmac-sm3", Primitive::Sm3, 32),
    hmac("hmac-rmd160", Primitive::Ripemd160, 20),
    // The lengths of NIST's examples for SP 800-185 §4.
    mac("kmac128", Primitive::Shake128, Mode::Kmac, 32, 32),
    mac("kmac256", Primitive::Shake256, Mode::Kmac, 32, 64),
    mac("aes-128-cmac", Primitive::Aes, Mode::Cmac, 16, 16),
    mac("aes-192-cmac", Primitive::Aes, Mode::Cmac, 24, 16),
    mac("aes-256-cmac", Primitive::Aes, Mode::Cmac, 32, 16),
    mac("camellia-128-cmac", Primitive::Camellia, Mode::Cmac, 16, 16),
    mac("camellia-256-cmac", Primitive::Camellia, Mode::Cmac, 32, 16),
    mac("sm4-cmac", Primitive::Sm4, Mode::Cmac, 16, 16),
    mac("des-ede3-cmac", Primitive::TripleDes, Mode::Cmac, 24, 8),
    mac("siphash-2-4", Primitive::SipHash24, Mode::Keyed, 16, 8),
    mac("siphash-1-3", Primitive::SipHash13, Mode::Keyed, 16, 8),
    mac("blake2b512-mac", Primitive::Blake2b, Mode::Keyed, 64, 64),
    mac("blake2s256-mac", Primitive::Blake2s, Mode::Keyed, 32, 32),
    mac("blake3-keyed", Primitive::Blake3, Mode::Keyed, 32, 32),
    mac("ghash", Primitive::Ghash, Mode::Universal, 16, 16),
    mac("polyval", Primitive::Polyval, Mode::Universal, 16, 16),
    mac("poly1305", Primitive::Poly1305, Mode::OneTimeMac, 32, 16),
]];
/// A passphrase and a salt of 16 bytes each give a key of 32.
const fn derivation(
    name: &'static str,
    cipher: Primitive,
    mode: Mode,
    sizes: SizeRule,
) -> Algorithm {
    Algorithm { sizes, ..other(name, Kind::Derivation, cipher, mode, (16, 16, 32)) }
}

/// A data unit has at most 2^20 blocks (NIST SP 800-38E §4).
const XTS_SIZES: SizeRule = SizeRule::Between(16, 16 << 20);
/// OpenSSL takes no longer info before 4.0; protocols have some dozens of bytes.
const HKDF_SIZES: SizeRule = SizeRule::LessThan(1025);
/// scrypt's N is two at least (RFC 7914 §2), which takes 2 KiB with r = 8.
const SCRYPT_SIZES: SizeRule = SizeRule::PowerOfTwo(2048, 1 << 31);
/// Twice what is advised for SHA-1: a size that is meant as memory is none.
const PBKDF2_SIZES: SizeRule = SizeRule::Between(1, 2_600_000);
/// RFC 9580 §3.7.1.3: the most octets that its byte says; salt and passphrase are hashed once at least.
const S2K_SIZES: SizeRule = SizeRule::Between(24, 65_011_712);
/// bcrypt's costs from 4 to 14.
const BCRYPT_SIZES: SizeRule = SizeRule::PowerOfTwo(16, 1 << 14);
/// Argon2 counts its memory in KiB, eight for a lane at least (RFC 9106 §3.1).
const ARGON2_SIZES: SizeRule = SizeRule::WholeKib(8192);

const DERIVATIONS: &[&[Algorithm]] = &[&[
    derivation("pbkdf2-sha1", Primitive::Sha1, Mode::Pbkdf2, PBKDF2_SIZES),
    derivation("pbkdf2-sha256", Primitive::Sha256, Mode::Pbkdf2, PBKDF2_SIZES),
    derivation("pbkdf2-sha512", Primitive::Sha512, Mode::Pbkdf2, PBKDF2_SIZES),
    derivation("scrypt", Primitive::Scrypt, Mode::MemoryHard, SCRYPT_SIZES),
    derivation("argon2id-t1", Primitive::Argon2id { passes: 1 }, Mode::MemoryHard, ARGON2_SIZES),
    derivation("argon2id-t2", Primitive::Argon2id { passes: 2 }, Mode::MemoryHard, ARGON2_SIZES),
    derivation("argon2id-t3", Primitive::Argon2id { passes: 3 }, Mode::MemoryHard, ARGON2_SIZES),
    // libsodium takes no fewer passes.
    derivation("argon2i-t3", Primitive::Argon2i { passes: 3 }, Mode::MemoryHard, ARGON2_SIZES),
    derivation("argon2d-t1", Primitive::Argon2d { passes: 1 }, Mode::MemoryHard, ARGON2_SIZES),
    // The 24 bytes of which the usual text form has 23; the lowest cost is 4.
    Algorithm {
        tag_len: 24,
        ..derivation("bcrypt", Primitive::Blowfish, Mode::Bcrypt, BCRYPT_SIZES)
    },
    // RFC 9580 §3.7.1.3 has salts of 8 bytes.
    Algorithm { nonce_len: 8, ..derivation("s2k-sha1", Primitive::Sha1, Mode::S2k, S2K_SIZES) },
    Algorithm { nonce_len: 8, ..derivation("s2k-sha256", Primitive::Sha256, Mode::S2k, S2K_SIZES) },
    Algorithm {
        key_len: 32,
        ..derivation("hkdf-sha256", Primitive::Sha256, Mode::Hkdf, HKDF_SIZES)
    },
    Algorithm {
        key_len: 32,
        ..derivation("hkdf-sha512", Primitive::Sha512, Mode::Hkdf, HKDF_SIZES)
    },
]];
/// The generator that a library has for nonces alone, where it has one beside that for keys.
pub const RANDOM_NONCE: &str = "random-nonce";
/// The generator that a library's manual names for keys.
pub const RANDOM: &str = "random";

/// The system draws no more in a call (getrandom(2)); nobody asks for that at once.
const RANDOM_SIZES: SizeRule = SizeRule::Between(1, 16 << 20);

const fn random(name: &'static str) -> Algorithm {
    let sizes = RANDOM_SIZES;
    Algorithm { sizes, ..other(name, Kind::Random, Primitive::None, Mode::None, (0, 0, 0)) }
}

const GENERATORS: &[&[Algorithm]] = &[&[random(RANDOM), random(RANDOM_NONCE)]];
const CHECKSUMS: &[&[Algorithm]] = &[&[
    digest("xxh3-64", Primitive::Xxh3, 8),
    digest("xxh3-128", Primitive::Xxh3_128, 16),
    digest("xxh64", Primitive::Xxh64, 8),
    digest("xxh32", Primitive::Xxh32, 4),
    digest("crc32c", Primitive::Crc32c, 4),
    digest("crc32", Primitive::Crc32, 4),
    digest("adler32", Primitive::Adler32, 4),
]];
const BASELINES: &[&[Algorithm]] = &[&[
    other("memcpy", Kind::Copy, Primitive::None, Mode::None, (0, 0, 0)),
    // A nonce, so that its price holds what the harness does to keep nonces fresh.
    other("null", Kind::Null, Primitive::None, Mode::None, (0, 16, 0)),
]];

/// What lists show them below, and the rows.
type Group = (&'static str, &'static [&'static [Algorithm]]);

const GROUPS: &[Group] = &[
    ("AES", AES),
    ("AES", AES_ALONE),
    ("Camellia", CAMELLIA),
    ("ARIA", ARIA),
    ("SM4", SM4),
    ("Serpent", SERPENT),
    ("Twofish", TWOFISH),
    ("older and national block ciphers", OLD),
    ("stream ciphers and what is built on them", STREAMS),
    ("AES with a checksum or a MAC", COMPOSITES),
    ("digests", DIGESTS),
    ("message authentication codes", MACS),
    ("key derivation", DERIVATIONS),
    ("random numbers", GENERATORS),
    ("checksums", CHECKSUMS),
    ("baselines", BASELINES),
];

/// Every algorithm of the table, in the order in which lists show them.
static ALL: [Algorithm; flattened::<0>().1] = flattened().0;

/// Those of the table, then those that were brought.
static KNOWN: RwLock<&'static [Algorithm]> = RwLock::new(&ALL);

/// All that are known, to be added to; and how many are the table's.
pub(super) fn known() -> (RwLockWriteGuard<'static, &'static [Algorithm]>, usize) {
    (KNOWN.write().unwrap_or_else(PoisonError::into_inner), ALL.len())
}

const fn flattened<const N: usize>() -> ([Algorithm; N], usize) {
    let mut all = [GROUPS[0].1[0][0]; N];
    let (mut n, mut g) = (0, 0);
    while g < GROUPS.len() {
        let mut r = 0;
        while r < GROUPS[g].1.len() {
            let mut i = 0;
            while i < GROUPS[g].1[r].len() {
                if n < N {
                    all[n] = GROUPS[g].1[r][i];
                }
                n += 1;
                i += 1;
            }
            r += 1;
        }
        g += 1;
    }
    (all, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_unique_and_found_again() {
        for a in &ALL {
            assert_eq!(Algorithm::find(a.name).unwrap(), a);
            assert_eq!(ALL.iter().filter(|b| b.name == a.name).count(), 1);
        }
    }

    #[test]
    fn a_misspelt_name_gets_the_nearest_one() {
        let e = Algorithm::find("aes-128-gmc").unwrap_err();
        assert!(e.to_string().contains("did you mean 'aes-128-gcm'?"), "{e}");
    }

    #[test]
    fn names_that_people_type_lead_to_the_algorithm() {
        let names = "id-aes128-GCM=aes-128-gcm rijndael-256-cbc=aes-256-cbc AES-256-CTR=aes-256-ctr des3=des-ede3-cbc \
        3des-ecb=des-ede3-ecb sha-1=sha1 SHA2-256=sha256 SHA512/256=sha512-256 sha3-256=sha3-256 ripemd-160=rmd160 \
        blowfish-cbc=bf-cbc chacha20poly1305=chacha20-poly1305 ChaCha=chacha20 secretbox=xsalsa20-poly1305 \
        gost34.11-2012-256=streebog-256 HMAC-SHA-1=hmac-sha1 blake2b=blake2b512 xxh3=xxh3-64 CAST-128-CBC=cast5-cbc \
        rand=random hctr2=aes-256-hctr2 aes-hctr2-plain64=aes-256-hctr2 \
        xchacha12,aes-adiantum-plain64=adiantum xchacha20,aes-adiantum=adiantum-xchacha20 \
        adiantum(xchacha12,aes)=adiantum aes-cbc-essiv:sha256=aes-256-cbc-essiv \
        aes-128-cbc-essiv:sha256=aes-128-cbc-essiv essiv(cbc(aes),sha256)=aes-256-cbc-essiv \
        RC4=rc4 arcfour=rc4 ARC4=rc4 aes128-wrap=aes-128-kw id-aes256-wrap=aes-256-kw AES-192-WRAP=aes-192-kw \
        aes-256-key-wrap=aes-256-kw rfc3394=aes-256-kw aes128-wrap-pad=aes-128-kwp id-aes256-wrap-pad=aes-256-kwp";
        for pair in names.split_whitespace() {
            let (theirs, ours) = pair.split_once('=').unwrap();
            assert_eq!(Algorithm::meant_by(theirs).map(|a| a.name), Some(ours), "{theirs}");
        }
        assert_eq!(Algorithm::meant_by("rot13"), None);
        // `openssl list -cipher-algorithms`
        let aliases = "aes128=aes-128-cbc AES256=aes-256-cbc camellia192=camellia-192-cbc aria128=aria-128-cbc bf=bf-cbc \
        blowfish=bf-cbc cast=cast5-cbc des=des-cbc rc2=rc2-cbc seed=seed-cbc sm4=sm4-cbc idea=idea-cbc";
        for pair in aliases.split_whitespace() {
            let (theirs, ours) = pair.split_once('=').unwrap();
            assert_eq!(Algorithm::meant_by_alias(theirs).map(|a| a.name), Some(ours), "{theirs}");
        }
        assert_eq!(Algorithm::meant_by_alias("aes-256"), None, "a block cipher to other programs");
        assert_eq!(Algorithm::meant_by_alias("hmac"), None);
        for (theirs, ours) in [
            ("rijndael", "aes"),
            ("3DES", "des-ede3"),
            ("aes-256", "aes-256"),
            ("Serpent", "serpent"),
        ] {
            assert_eq!(Algorithm::beginning_meant_by(theirs), Some(ours), "{theirs}");
        }
        assert_eq!(Algorithm::beginning_meant_by("rot13"), None);
        for a in &ALL {
            assert_eq!(Algorithm::meant_by(a.name), Some(a), "{a}");
            assert!(!a.family().is_empty(), "{a}");
        }
    }

    #[test]
    fn every_algorithm_but_authenticated_encryption_carries_a_warning() {
        for a in &ALL {
            let is_for_messages = a.kind == Kind::Aead && !a.wraps_keys();
            assert_eq!(a.warning().is_none(), is_for_messages && !a.is_weak(), "{a}");
            assert_eq!(a.warning().is_none(), a.warning_label().is_none(), "{a}");
        }
    }

    #[test]
    fn a_composite_has_its_parts_keys_and_the_checks_tag() {
        for a in &ALL {
            let Some(parts) = a.composite else { continue };
            let cipher = Algorithm::find(parts.cipher).unwrap();
            let check = Algorithm::find(parts.check).unwrap();
            assert_eq!(a.key_len, cipher.key_len + check.key_len, "{a}");
            assert_eq!((a.nonce_len, a.tag_len), (cipher.nonce_len, check.tag_len), "{a}");
            assert_eq!((a.cipher, a.sizes), (cipher.cipher, cipher.sizes), "{a}");
            assert_eq!(a.takes_aad(), check.kind == Kind::Mac, "{a}");
            assert!(a.name.starts_with(&format!("{cipher}+")), "{a}");
        }
    }

    #[test]
    fn the_table_has_what_published_comparisons_name() {
        let names = "aes-128-cfb1 aes-192-cfb8 aes-256-eax aes-256-siv aes-128-gcm-siv \
        camellia-256-cbc aria-128-gcm sm4-ctr des-ede3-cbc chacha20 xchacha20-poly1305 \
        aegis-128l aegis-256x4 sha3-512 blake2b512 hmac-sha256 aes-256-gmac crc32c \
        aes-256-ctr+xxh3 aes-128-xts+xxh3-onepass aes-256-cbc+hmac-sha256";
        for name in names.split(' ') {
            Algorithm::find(name).unwrap();
        }
    }

    #[test]
    fn xts_keys_are_two_aes_keys() {
        assert_eq!(Algorithm::find("aes-128-xts").unwrap().key_len, 32);
        assert_eq!(Algorithm::find("aes-256-xts").unwrap().key_len, 64);
    }
}
