//! Independent implementations that libraries are held against: the RustCrypto crates, `blake3`,
//! `crc32c` and `xxhash-rust`; written here and held against crates or published vectors in turn are
//! XTS, ESSIV, HCTR2, Adiantum, RC4, key wrap, OCB's offsets, CFB with short segments, AEGIS and the composites. Here are references, what is put
//! together of two of them, and which implementation an algorithm has; digests, checksums and message
//! authentication codes, too.
//!
//! Fast enough to run between timed samples: key schedules are done once where the crates allow it,
//! blocks go through the ciphers many at a time, and the one indirect call is per message or update.

mod aead;
mod block;
mod derivation;
mod wide;

use self::aead::{Aegis, Aegis128, Aegis256, Siv};
use ::aead::AeadInOut;
use aes::{Aes128, Aes256};
use aes_gcm::AesGcm;
use base::model::{Algorithm, Composite, Direction, Kind, Mode, Primitive, SizeRule};
use block::{AnyCipher, BlockCipher, Cbc, Cfb, Ctr, Ecb, Ofb, Segments, Xts, choosing_key};
use chacha20::{ChaCha8, ChaCha12, ChaCha20, XChaCha12, XChaCha20};
use cipher::consts::{U8, U12, U16};
use cmac::Cmac;
use contract::{Library, Message, Outcome, raw};
use cshake::CShake;
use hmac::digest::{self, ExtendableOutput};
use hmac::{Hmac, KeyInit, Mac, SimpleHmac};
use polyval::universal_hash::UniversalHash;
use salsa20::Salsa20;
use sha2::Sha256;
use sha2::digest::Digest;
use siphasher::sip::{SipHasher13, SipHasher24};
use std::fmt;

/// The longest tag: SHA-512's.
const MAX_TAG_LEN: usize = 64;

/// One algorithm under one key.
pub struct Reference<'a> {
    algorithm: &'static Algorithm,
    work: Work<'a>,
}

enum Work<'a> {
    /// Of an algorithm that the library itself brings there is no other implementation: each message goes through a
    /// session that is opened for it alone.
    Own(&'a dyn Library, Vec<u8>),
    Cipher(Box<dyn Implementation>),
    Tag(Tagger),
    Derivation(derivation::Deriver),
    Copy,
    Nothing,
}

/// What a mode implements, in place. Lengths have been checked. A mode without a tag implements `stream`
/// alone: its message is a stream's first update.
trait Implementation: Send + Sync {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.first_update(Direction::Encrypt, nonce, buffer);
    }

    /// Whether the tag is right; modes without one say yes.
    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.first_update(Direction::Decrypt, nonce, buffer);
        true
    }

    /// What updates do before the message ends; `None` where they have no meaning.
    fn stream(&self, _direction: Direction, _nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        None
    }

    fn first_update(&self, direction: Direction, nonce: &[u8], buffer: &mut [u8]) {
        let mut update =
            self.stream(direction, nonce, false).expect("a mode without a tag has streams");
        update(buffer);
    }
}

/// Continues a stream over a buffer.
type Update<'a> = Box<dyn FnMut(&mut [u8]) + 'a>;

/// What repeated updates under one nonce must leave.
pub struct Stream<'a> {
    update: Update<'a>,
}

impl Stream<'_> {
    /// Continues the stream in place.
    ///
    /// # Panics
    /// When the length is not one of [`Reference::stream_sizes`].
    pub fn update(&mut self, buffer: &mut [u8]) {
        (self.update)(buffer);
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl<'a> Reference<'a> {
    /// What a library's answers are compared with: the independent implementation, or of an algorithm that it brings
    /// the library itself.
    pub fn of(library: &'a dyn Library, algorithm: &'static Algorithm, key: &[u8]) -> Self {
        if !algorithm.is_brought() {
            return Self::new(algorithm, key);
        }
        assert_eq!(key.len(), algorithm.key_len, "key length of {algorithm}");
        Self { algorithm, work: Work::Own(library, key.to_vec()) }
    }

    /// The same under another key.
    pub fn under(&self, key: &[u8]) -> Self {
        match self.work {
            Work::Own(library, _) => Self::of(library, self.algorithm, key),
            _ => Self::new(self.algorithm, key),
        }
    }

    /// Does the key schedule.
    ///
    /// # Panics
    /// When the key's length is not the algorithm's, or nothing here computes the algorithm because it was brought.
    pub fn new(algorithm: &'static Algorithm, key: &[u8]) -> Self {
        assert_eq!(key.len(), algorithm.key_len, "key length of {algorithm}");
        let work = match algorithm.kind {
            Kind::Digest | Kind::Mac => Work::Tag(tagger(algorithm, key)),
            Kind::Derivation => Work::Derivation(derivation::deriver(algorithm, key)),
            Kind::Copy => Work::Copy,
            // What is drawn has no right answer.
            Kind::Random | Kind::Null => Work::Nothing,
            Kind::Cipher | Kind::Aead | Kind::Checked => {
                Work::Cipher(implementation(algorithm, key))
            }
        };
        Self { algorithm, work }
    }

    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The forward direction: plaintext to ciphertext and tag; digests and MACs write only the tag
    /// (XXH3 and CRC-32C as big-endian numbers, XXH3's canonical form); a copy writes only the
    /// output; `null` writes nothing.
    ///
    /// # Panics
    /// When a length is not one that the algorithm has, which for CCM includes messages of 16 MiB
    /// or more: 12-byte nonces leave three bytes for the length (NIST SP 800-38C A.1).
    pub fn encrypt(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &mut [u8],
    ) {
        self.check(nonce, input, tag);
        match &self.work {
            Work::Cipher(cipher) => {
                output.copy_from_slice(input);
                cipher.encrypt(nonce, aad, output, tag);
            }
            Work::Tag(tagger) => tagger(nonce, input, tag),
            Work::Derivation(derive) => derive(nonce, input, tag),
            Work::Own(library, key) => {
                let direction = Direction::of(self.algorithm.kind)[0];
                own(*library, (self.algorithm, direction, key), [nonce, aad, input], output, tag);
            }
            Work::Copy => output.copy_from_slice(input),
            Work::Nothing => {}
        }
    }

    /// The backward direction; whether the tag is right. After a wrong tag the output is
    /// unspecified. Digests and MACs compare the tag with the input's; a copy copies.
    pub fn decrypt(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &[u8],
    ) -> bool {
        self.check(nonce, input, tag);
        match &self.work {
            Work::Cipher(cipher) => {
                output.copy_from_slice(input);
                cipher.decrypt(nonce, aad, output, tag)
            }
            Work::Own(library, key) if self.algorithm.encrypts() => {
                let (opened, parts) =
                    ((self.algorithm, Direction::Decrypt, &key[..]), [nonce, aad, input]);
                own(*library, opened, parts, output, &mut tag.to_vec()) == Outcome::Done
            }
            Work::Own(..) => {
                let mut made = vec![0; tag.len()];
                self.encrypt(nonce, aad, input, &mut [], &mut made);
                made == tag
            }
            Work::Tag(tagger) => {
                let mut made = [0; MAX_TAG_LEN];
                let made = &mut made[..tag.len()];
                tagger(nonce, input, made);
                made == tag
            }
            Work::Derivation(derive) => {
                let mut made = vec![0; tag.len()];
                derive(nonce, input, &mut made);
                made == tag
            }
            Work::Copy => {
                output.copy_from_slice(input);
                true
            }
            Work::Nothing => true,
        }
    }

    /// What a derivation whose size is a cost gives for it.
    pub fn derive(&self, salt: &[u8], cost: usize, derived: &mut [u8]) {
        // Memory that is not looked at is none.
        self.encrypt(salt, &[], &vec![0; cost], &mut [], derived);
    }

    /// The model `stream` under one nonce: ECB, CBC, CFB, OFB, CTR, ChaCha20 and RC4 continue from
    /// update to update; GCM, EAX and (X)ChaCha20-Poly1305 continue the key stream of their
    /// message, OCB its offsets, all without a tag; each update of XTS is one data unit, all under
    /// the nonce as tweak, or with `next_unit` under the nonce as a little-endian number raised by
    /// one after each. `None` where updates have no meaning without the message's length, the whole
    /// message or an end (CCM, SIV, GCM-SIV, key wrap, ESSIV, HCTR2, Adiantum, AEGIS, composites, digests, MACs), and for
    /// copies.
    ///
    /// # Panics
    /// When the nonce's length is not the algorithm's or the direction is not one of a cipher.
    pub fn stream(
        &self,
        direction: Direction,
        nonce: &[u8],
        next_unit: bool,
    ) -> Option<Stream<'_>> {
        if let Work::Own(library, key) = &self.work {
            return own_stream(*library, self.algorithm, direction, key, nonce);
        }
        let Work::Cipher(cipher) = &self.work else { return None };
        assert_eq!(nonce.len(), self.algorithm.nonce_len, "nonce length of {}", self.algorithm);
        assert!(
            matches!(direction, Direction::Encrypt | Direction::Decrypt),
            "a stream is encrypted or decrypted"
        );
        cipher.stream(direction, nonce, next_unit).map(|update| Stream { update })
    }

    /// The lengths that an update of a stream may have. OCB works in whole blocks until the
    /// message ends, so its streams do.
    pub fn stream_sizes(&self) -> SizeRule {
        match self.algorithm.mode {
            Mode::Ocb => SizeRule::MultipleOf(block::BLOCK_LEN),
            _ => self.algorithm.sizes,
        }
    }

    /// A composite's cipher over its message, without a tag.
    fn encrypt_in_place(&self, nonce: &[u8], buffer: &mut [u8]) {
        if let Work::Cipher(cipher) = &self.work {
            cipher.encrypt(nonce, &[], buffer, &mut []);
        }
    }

    fn decrypt_in_place(&self, nonce: &[u8], buffer: &mut [u8]) {
        if let Work::Cipher(cipher) = &self.work {
            cipher.decrypt(nonce, &[], buffer, &[]);
        }
    }

    fn check(&self, nonce: &[u8], input: &[u8], tag: &[u8]) {
        let Algorithm { nonce_len, tag_len, sizes, .. } = *self.algorithm;
        assert_eq!(nonce.len(), nonce_len, "nonce length of {}", self.algorithm);
        assert_eq!(tag.len(), tag_len, "tag length of {}", self.algorithm);
        assert!(sizes.allows(input.len()), "{} bytes of {}", input.len(), self.algorithm);
    }
}

/// A message in a session of its own; where that does not succeed, the bytes are not the library's either.
fn own(
    library: &dyn Library,
    (algorithm, direction, key): (&'static Algorithm, Direction, &[u8]),
    [nonce, aad, input]: [&[u8]; 3],
    output: &mut [u8],
    tag: &mut [u8],
) -> Outcome {
    let Ok(mut session) = library.open(algorithm, direction, key) else {
        return Outcome::Error(raw::FAILED);
    };
    if !session.has_message() {
        return Outcome::Error(raw::UNSUPPORTED);
    }
    session.message(Message { nonce, aad, input, output, tag })
}

/// The updates of a session of its own. What they have to do with messages, the check `stream` looks at.
fn own_stream<'a>(
    library: &'a dyn Library,
    algorithm: &'static Algorithm,
    direction: Direction,
    key: &[u8],
    nonce: &[u8],
) -> Option<Stream<'a>> {
    let mut session = library.open(algorithm, direction, key).ok()?;
    if !session.has_stream() || !session.in_place() || session.start(nonce) != Outcome::Done {
        return None;
    }
    // A failure shows in the bytes, which then are another's.
    let update = move |buffer: &mut [u8]| {
        session.update_in_place(buffer);
    };
    Some(Stream { update: Box::new(update) })
}

impl fmt::Debug for Reference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("algorithm", &self.algorithm.name).finish_non_exhaustive()
    }
}

// A cipher and what notices damage, put together of two references. One pass or two give the
// same bytes.

/// A composite's implementation; the key is the cipher's, then the MAC's.
fn composite(parts: Composite, key: &[u8]) -> Box<dyn Implementation> {
    let [cipher, check] = [parts.cipher, parts.check]
        .map(|name| Algorithm::find(name).expect("composites are made of algorithms"));
    let (cipher_key, check_key) = key.split_at(cipher.key_len);
    let cipher = Reference::new(cipher, cipher_key);
    if check.kind == Kind::Mac {
        assert_eq!(check.name, "hmac-sha256", "the one MAC that composites are made of");
        let keyed = <Hmac<Sha256> as KeyInit>::new_from_slice(check_key)
            .expect("HMAC takes keys of any length");
        Box::new(Authenticated { cipher, keyed })
    } else {
        Box::new(Checked { cipher, digest: Reference::new(check, check_key) })
    }
}

/// A digest of the plaintext beside the ciphertext.
struct Checked {
    cipher: Reference<'static>,
    digest: Reference<'static>,
}

impl Implementation for Checked {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        self.digest.encrypt(&[], &[], buffer, &mut [], tag);
        self.cipher.encrypt_in_place(nonce, buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        self.cipher.decrypt_in_place(nonce, buffer);
        self.digest.decrypt(&[], &[], buffer, &mut [], tag)
    }
}

/// Encrypt, then MAC, with what RFC 7518 §5.2.2.1 puts under the MAC.
struct Authenticated {
    cipher: Reference<'static>,
    keyed: Hmac<Sha256>,
}

impl Authenticated {
    fn tag(&self, nonce: &[u8], aad: &[u8], ciphertext: &[u8]) -> [u8; 32] {
        let aad_bits = (aad.len() as u64) * 8;
        self.keyed
            .clone()
            .chain_update(aad)
            .chain_update(nonce)
            .chain_update(ciphertext)
            .chain_update(aad_bits.to_be_bytes())
            .finalize()
            .into_bytes()
            .into()
    }
}

impl Implementation for Authenticated {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        self.cipher.encrypt_in_place(nonce, buffer);
        tag.copy_from_slice(&self.tag(nonce, aad, buffer));
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        if self.tag(nonce, aad, buffer) != *tag {
            return false;
        }
        self.cipher.decrypt_in_place(nonce, buffer);
        true
    }
}

/// What encrypts under the key.
fn implementation(algorithm: &Algorithm, key: &[u8]) -> Box<dyn Implementation> {
    if let Some(parts) = algorithm.composite {
        return composite(parts, key);
    }
    let mode = algorithm.mode;
    match (algorithm.cipher, key.len()) {
        (Primitive::Aes, 16) if mode == Mode::GcmSiv => Box::new(aead::gcm_siv::<Aes128>(key)),
        (Primitive::Aes, _) if mode == Mode::GcmSiv => Box::new(aead::gcm_siv::<Aes256>(key)),
        (cipher, _) if cipher.block_len() == Some(16) => block_128(algorithm, key),
        (cipher, _) if cipher.block_len() == Some(8) => {
            block(AnyCipher::<U8>::keyed(cipher, key), mode)
        }
        (Primitive::ChaCha8, _) => Box::new(aead::Keystream::<ChaCha8>::new(key, 0)),
        (Primitive::ChaCha12, _) => Box::new(aead::Keystream::<ChaCha12>::new(key, 0)),
        (Primitive::Salsa20, _) => Box::new(aead::Keystream::<Salsa20>::new(key, 0)),
        (Primitive::Rc4, _) => Box::new(aead::Rc4::new(key)),
        (Primitive::XSalsa20, _) => Box::new(aead::SecretBox::new(key)),
        (Primitive::Ascon, _) => Box::new(aead::ascon(key)),
        (Primitive::ChaCha20, _) if mode == Mode::Stream => {
            Box::new(aead::Keystream::<ChaCha20>::new(key, 0))
        }
        (Primitive::XChaCha20, _) if mode == Mode::Stream => {
            Box::new(aead::Keystream::<XChaCha20>::new(key, 0))
        }
        (Primitive::ChaCha20, _) => Box::new(aead::chacha20_poly1305(key)),
        (Primitive::XChaCha20, _) => Box::new(aead::xchacha20_poly1305(key)),
        (Primitive::Adiantum { rounds: 12 }, _) => Box::new(wide::Adiantum::<XChaCha12>::new(key)),
        (Primitive::Adiantum { .. }, _) => Box::new(wide::Adiantum::<XChaCha20>::new(key)),
        (Primitive::Aegis128 { lanes: 1 }, _) => Box::new(Aegis::<Aegis128, 1>::new(key)),
        (Primitive::Aegis128 { lanes: 2 }, _) => Box::new(Aegis::<Aegis128, 2>::new(key)),
        (Primitive::Aegis128 { .. }, _) => Box::new(Aegis::<Aegis128, 4>::new(key)),
        (Primitive::Aegis256 { lanes: 1 }, _) => Box::new(Aegis::<Aegis256, 1>::new(key)),
        (Primitive::Aegis256 { lanes: 2 }, _) => Box::new(Aegis::<Aegis256, 2>::new(key)),
        (Primitive::Aegis256 { .. }, _) => Box::new(Aegis::<Aegis256, 4>::new(key)),
        (other, _) => unreachable!("{other:?} does not encrypt"),
    }
}

/// The modes that ask for blocks of 128 bits, then the others.
fn block_128(algorithm: &Algorithm, key: &[u8]) -> Box<dyn Implementation> {
    let Algorithm { cipher, mode, tag_len, .. } = *algorithm;
    let (first, second) = key.split_at(key.len() / 2);
    if mode == Mode::Xts {
        let [data, tweak] = [first, second].map(|half| AnyCipher::keyed(cipher, half));
        return Box::new(Xts::new(data, tweak));
    }
    if mode == Mode::Essiv {
        return Box::new(block::Essiv::new(cipher, key));
    }
    if mode == Mode::Siv {
        let [mac, ctr] = [first, second].map(|half| choosing_key::<U16>(cipher, half));
        return Box::new(Siv::new(&mac, &ctr));
    }
    let key = choosing_key::<U16>(cipher, key);
    let cipher = AnyCipher::new(&key);
    match mode {
        Mode::Gcm => Box::new(aead::gcm(cipher)),
        Mode::Ccm => aead::ccm(cipher, tag_len),
        Mode::Ocb => Box::new(aead::ocb(cipher)),
        Mode::Eax => Box::new(aead::eax(cipher, &key)),
        Mode::Hctr2 => Box::new(wide::Hctr2::new(cipher)),
        Mode::KeyWrap => Box::new(aead::KeyWrap::new(cipher, false)),
        Mode::KeyWrapPadded => Box::new(aead::KeyWrap::new(cipher, true)),
        _ => block(cipher, mode),
    }
}

/// The modes of NIST SP 800-38A.
fn block<C: BlockCipher>(cipher: C, mode: Mode) -> Box<dyn Implementation> {
    match mode {
        Mode::Ecb => Box::new(Ecb(cipher)),
        Mode::Cbc => Box::new(Cbc(cipher)),
        Mode::Cfb => Box::new(Cfb(cipher)),
        Mode::Cfb8 => Box::new(Segments::<C, 8>(cipher)),
        Mode::Cfb1 => Box::new(Segments::<C, 1>(cipher)),
        Mode::Ofb => Box::new(Ofb(cipher)),
        Mode::Ctr => Box::new(Ctr(cipher)),
        _ => unreachable!("{mode:?} is not a mode over one key of any block cipher"),
    }
}

// Digests, checksums and message authentication codes over the crates: what writes a tag and
// nothing else.

/// Writes the tag of a message; lengths have been checked.
pub(crate) type Tagger = Box<dyn Fn(&[u8], &[u8], &mut [u8]) + Send + Sync>;

/// What computes an algorithm's tag from nonce and message.
pub(crate) fn tagger(algorithm: &Algorithm, key: &[u8]) -> Tagger {
    match (algorithm.mode, algorithm.cipher) {
        (Mode::Hmac, Primitive::Md5) => mac::<Hmac<md5::Md5>>(key),
        (Mode::Hmac, Primitive::Sha1) => mac::<Hmac<sha1::Sha1>>(key),
        (Mode::Hmac, Primitive::Sha224) => mac::<Hmac<sha2::Sha224>>(key),
        (Mode::Hmac, Primitive::Sha256) => mac::<Hmac<sha2::Sha256>>(key),
        (Mode::Hmac, Primitive::Sha384) => mac::<Hmac<sha2::Sha384>>(key),
        (Mode::Hmac, Primitive::Sha512) => mac::<Hmac<sha2::Sha512>>(key),
        (Mode::Hmac, Primitive::Sha512_256) => mac::<Hmac<sha2::Sha512_256>>(key),
        (Mode::Hmac, Primitive::Sha3_256) => mac::<SimpleHmac<sha3::Sha3_256>>(key),
        (Mode::Hmac, Primitive::Sha3_512) => mac::<SimpleHmac<sha3::Sha3_512>>(key),
        (Mode::Hmac, Primitive::Sm3) => mac::<Hmac<sm3::Sm3>>(key),
        (Mode::Hmac, Primitive::Ripemd160) => mac::<Hmac<ripemd::Ripemd160>>(key),
        (Mode::Kmac, Primitive::Shake128) => kmac::<168>(key),
        (Mode::Kmac, Primitive::Shake256) => kmac::<136>(key),
        (Mode::Cmac, Primitive::TripleDes) => {
            mac::<Cmac<AnyCipher<U8>>>(&choosing_key::<U8>(algorithm.cipher, key))
        }
        (Mode::Cmac, cipher) => mac::<Cmac<AnyCipher>>(&choosing_key::<U16>(cipher, key)),
        (Mode::Keyed, Primitive::Blake2b) => mac::<blake2::Blake2bMac512>(key),
        (Mode::Keyed, Primitive::Blake2s) => mac::<blake2::Blake2sMac256>(key),
        (Mode::Keyed, Primitive::Blake3) => {
            let key = key.try_into().expect("the key has 32 bytes");
            bytes(move |input| *blake3::keyed_hash(&key, input).as_bytes())
        }
        // Numbers, little-endian as the paper has them.
        (Mode::Keyed, Primitive::SipHash24) => {
            let keyed = SipHasher24::new_with_key(key.try_into().expect("the key has 16 bytes"));
            bytes(move |input| keyed.hash(input).to_le_bytes())
        }
        (Mode::Keyed, Primitive::SipHash13) => {
            let keyed = SipHasher13::new_with_key(key.try_into().expect("the key has 16 bytes"));
            bytes(move |input| keyed.hash(input).to_le_bytes())
        }
        (Mode::Universal, Primitive::Ghash) => universal::<ghash::GHash>(key),
        (Mode::Universal, Primitive::Polyval) => universal::<polyval::Polyval>(key),
        (Mode::Gmac, cipher) => gmac(cipher, key),
        (Mode::OneTimeMac, _) => poly1305(key),
        (_, primitive) => digest(primitive),
    }
}

fn digest(primitive: Primitive) -> Tagger {
    match primitive {
        Primitive::Md4 => hash::<md4::Md4>(),
        Primitive::Md5 => hash::<md5::Md5>(),
        Primitive::Sha1 => hash::<sha1::Sha1>(),
        Primitive::Sha224 => hash::<sha2::Sha224>(),
        Primitive::Sha512_224 => hash::<sha2::Sha512_224>(),
        Primitive::Sha512_256 => hash::<sha2::Sha512_256>(),
        Primitive::Sha3_224 => hash::<sha3::Sha3_224>(),
        Primitive::Shake128 => extendable::<CShake<168>>(),
        Primitive::Shake256 => extendable::<CShake<136>>(),
        Primitive::TurboShake128 => extendable::<turboshake::TurboShake128>(),
        Primitive::TurboShake256 => extendable::<turboshake::TurboShake256>(),
        Primitive::Kt128 => extendable::<k12::Kt128>(),
        Primitive::Blake2b256 => hash::<blake2::Blake2b256>(),
        Primitive::Blake2s => hash::<blake2::Blake2s256>(),
        Primitive::Sm3 => hash::<sm3::Sm3>(),
        Primitive::Ripemd160 => hash::<ripemd::Ripemd160>(),
        Primitive::Whirlpool => hash::<whirlpool::Whirlpool>(),
        Primitive::Streebog256 => hash::<streebog::Streebog256>(),
        Primitive::Streebog512 => hash::<streebog::Streebog512>(),
        Primitive::AsconHash256 => hash::<ascon_hash::AsconHash256>(),
        Primitive::Sha256 => hash::<sha2::Sha256>(),
        Primitive::Sha384 => hash::<sha2::Sha384>(),
        Primitive::Sha512 => hash::<sha2::Sha512>(),
        Primitive::Sha3_256 => hash::<sha3::Sha3_256>(),
        Primitive::Sha3_384 => hash::<sha3::Sha3_384>(),
        Primitive::Keccak256 => hash::<sha3::Keccak256>(),
        Primitive::Sha3_512 => hash::<sha3::Sha3_512>(),
        Primitive::Blake2b => hash::<blake2::Blake2b512>(),
        Primitive::Blake3 => bytes(|input| *blake3::hash(input).as_bytes()),
        // The canonical form: big-endian.
        Primitive::Xxh3 => bytes(|input| xxhash_rust::xxh3::xxh3_64(input).to_be_bytes()),
        Primitive::Xxh3_128 => bytes(|input| xxhash_rust::xxh3::xxh3_128(input).to_be_bytes()),
        Primitive::Xxh64 => bytes(|input| xxhash_rust::xxh64::xxh64(input, 0).to_be_bytes()),
        Primitive::Xxh32 => bytes(|input| xxhash_rust::xxh32::xxh32(input, 0).to_be_bytes()),
        Primitive::Crc32c => bytes(|input| crc32c::crc32c(input).to_be_bytes()),
        Primitive::Crc32 => bytes(|input| crc32fast::hash(input).to_be_bytes()),
        Primitive::Adler32 => bytes(|input| adler2::adler32_slice(input).to_be_bytes()),
        other => unreachable!("{other:?} is no digest"),
    }
}

/// A function of the message alone.
fn bytes<const N: usize>(of: impl Fn(&[u8]) -> [u8; N] + Send + Sync + 'static) -> Tagger {
    Box::new(move |_, input, tag| tag.copy_from_slice(&of(input)))
}

fn hash<D: Digest>() -> Tagger {
    Box::new(|_, input, tag| tag.copy_from_slice(&D::digest(input)))
}

/// As many bytes as the tag has, of a function without an end.
fn extendable<D: ExtendableOutput + digest::Update + Default>() -> Tagger {
    Box::new(|_, input, tag| {
        let mut hash = D::default();
        digest::Update::update(&mut hash, input);
        hash.finalize_xof_into(tag);
    })
}

/// Keyed once; each message goes on from a copy.
fn mac<M: Mac + KeyInit + Clone + Send + Sync + 'static>(key: &[u8]) -> Tagger {
    let keyed = <M as KeyInit>::new_from_slice(key).expect("the key has the algorithm's length");
    Box::new(move |_, input, tag| {
        let made = Mac::chain_update(keyed.clone(), input).finalize();
        tag.copy_from_slice(&made.into_bytes());
    })
}

/// KMAC over cSHAKE (NIST SP 800-185 §4.3): the key as a string, filled up to a block of `RATE` bytes; the message; the
/// output's bits.
fn kmac<const RATE: usize>(key: &[u8]) -> Tagger {
    let [high, low] = (key.len() as u16 * 8).to_be_bytes();
    let mut block = match high {
        0 => vec![1, RATE as u8, 1, low],
        _ => vec![1, RATE as u8, 2, high, low],
    };
    block.extend_from_slice(key);
    block.resize(RATE, 0);
    let mut keyed = CShake::<RATE>::new_with_function_name(b"KMAC", b"");
    digest::Update::update(&mut keyed, &block);
    Box::new(move |_, input, tag| {
        let mut mac = keyed.clone();
        digest::Update::update(&mut mac, input);
        let [high, low] = (tag.len() as u16 * 8).to_be_bytes();
        digest::Update::update(&mut mac, &[high, low, 2]);
        mac.finalize_xof_into(tag);
    })
}

/// A polynomial over whole blocks, the last filled up with zeros.
fn universal<U: UniversalHash + KeyInit + Clone + Send + Sync + 'static>(key: &[u8]) -> Tagger {
    let keyed = <U as KeyInit>::new_from_slice(key).expect("the key has 16 bytes");
    Box::new(move |_, input, tag| {
        let mut hash = keyed.clone();
        hash.update_padded(input);
        tag.copy_from_slice(&hash.finalize());
    })
}

/// GCM without a plaintext: the message is the associated data (NIST SP 800-38D §3).
fn gmac(cipher: Primitive, key: &[u8]) -> Tagger {
    let gcm = AesGcm::<AnyCipher, U12>::new(&choosing_key::<U16>(cipher, key));
    Box::new(move |nonce, input, tag| {
        let nonce = nonce.try_into().expect("the nonce has 12 bytes");
        let made = gcm
            .encrypt_inout_detached(nonce, input, (&mut [][..]).into())
            .expect("the message is not longer than GCM allows");
        tag.copy_from_slice(&made);
    })
}

/// A last block that is not whole gets a one bit behind it, as RFC 8439 §2.5 has it.
fn poly1305(key: &[u8]) -> Tagger {
    let keyed = poly1305::Poly1305::new_from_slice(key).expect("the one-time key has 32 bytes");
    Box::new(move |_, input, tag| {
        tag.copy_from_slice(&keyed.clone().compute_unpadded(input));
    })
}

#[cfg(test)]
mod tests {
    use super::Reference;
    use base::model::{Algorithm, Direction, Kind, Mode, Primitive, SizeRule};

    fn reference(name: &str, key: &str) -> Reference<'static> {
        Reference::new(Algorithm::find(name).unwrap(), &hex::decode(key).unwrap())
    }

    fn encrypt(
        reference: &Reference,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
    ) -> (Vec<u8>, Vec<u8>) {
        let mut output = vec![0; input.len()];
        let mut tag = vec![0; reference.algorithm().tag_len];
        reference.encrypt(nonce, aad, input, &mut output, &mut tag);
        (output, tag)
    }

    fn decrypt(
        reference: &Reference,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        tag: &[u8],
    ) -> Option<Vec<u8>> {
        let mut output = vec![0; input.len()];
        reference.decrypt(nonce, aad, input, &mut output, tag).then_some(output)
    }

    fn ciphers() -> impl Iterator<Item = Reference<'static>> {
        Algorithm::all().iter().filter(|a| a.encrypts()).map(|a| {
            let key: Vec<u8> = (0..a.key_len).map(|i| i as u8).collect();
            Reference::new(a, &key)
        })
    }

    fn nonce(reference: &Reference) -> Vec<u8> {
        (0..reference.algorithm().nonce_len).map(|i| 0xf0_u8.wrapping_add(i as u8)).collect()
    }

    fn message(reference: &Reference, direction: Direction, nonce: &[u8], input: &[u8]) -> Vec<u8> {
        if direction == Direction::Encrypt {
            return encrypt(reference, nonce, b"", input).0;
        }
        // A valid tag needs the plaintext, which a key stream makes from the ciphertext; all the
        // authenticated modes with a stream but OCB are key streams.
        let tag = match reference.algorithm().mode {
            Mode::Gcm | Mode::Eax | Mode::Poly1305 | Mode::SecretBox => {
                let plain = encrypt(reference, nonce, b"", input).0;
                encrypt(reference, nonce, b"", &plain).1
            }
            _ => Vec::new(),
        };
        decrypt(reference, nonce, b"", input, &tag).expect("the tag is right")
    }

    fn input(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 13) as u8).collect()
    }

    fn directions(reference: &Reference) -> &'static [Direction] {
        match reference.algorithm().mode {
            // Compared with the crate, both ways, where the offsets are.
            Mode::Ocb => &[Direction::Encrypt],
            _ => Direction::of(Kind::Cipher),
        }
    }

    /// Within a block and around its borders, around wide strides.
    const LENGTHS: [usize; 18] =
        [0, 1, 7, 8, 15, 16, 17, 24, 31, 32, 33, 48, 64, 77, 128, 240, 255, 256];

    #[test]
    fn the_first_update_is_the_message() {
        let mut streams = 0;
        for reference in ciphers() {
            let nonce = nonce(&reference);
            for &direction in directions(&reference) {
                for len in LENGTHS.into_iter().filter(|len| reference.stream_sizes().allows(*len)) {
                    let Some(mut stream) = reference.stream(direction, &nonce, false) else {
                        continue;
                    };
                    let mut buffer = input(len);
                    stream.update(&mut buffer);
                    let expected = message(&reference, direction, &nonce, &input(len));
                    assert_eq!(buffer, expected, "{len} bytes of {reference:?} {direction}");
                    streams += 1;
                }
            }
        }
        assert!(streams > 1000, "{streams}");
    }

    #[test]
    fn updates_continue_the_message() {
        for reference in ciphers().filter(|r| r.algorithm().mode != Mode::Xts) {
            let nonce = nonce(&reference);
            let lens: &[usize] = match reference.stream_sizes() {
                SizeRule::MultipleOf(8) => &[16, 0, 8, 48, 1024, 24],
                SizeRule::MultipleOf(_) => &[16, 0, 48, 1024, 16],
                // Partial, then over two block borders, then whole, while inside a segment.
                _ => &[32, 5, 30, 16, 0, 64, 3, 100],
            };
            let all = input(lens.iter().sum());
            for &direction in directions(&reference) {
                let Some(mut stream) = reference.stream(direction, &nonce, false) else { continue };
                let mut pieces = all.clone();
                let mut rest = pieces.as_mut_slice();
                for &len in lens {
                    let (piece, after) = rest.split_at_mut(len);
                    stream.update(piece);
                    rest = after;
                }
                let expected = message(&reference, direction, &nonce, &all);
                assert_eq!(pieces, expected, "{reference:?} {direction}");
            }
        }
    }

    #[test]
    fn each_update_of_xts_is_a_data_unit_of_its_own() {
        for reference in ciphers().filter(|r| r.algorithm().mode == Mode::Xts) {
            let mut nonce = nonce(&reference);
            // Raised by one, this carries into the second byte.
            nonce[0] = 0xff;
            let mut raised = nonce.clone();
            (raised[0], raised[1]) = (0, nonce[1] + 1);
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                for (next_unit, second) in [(false, &nonce), (true, &raised)] {
                    let mut stream = reference.stream(direction, &nonce, next_unit).unwrap();
                    for tweak in [&nonce, second] {
                        let mut buffer = input(77);
                        stream.update(&mut buffer);
                        assert_eq!(buffer, message(&reference, direction, tweak, &input(77)));
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_no_updates_has_no_stream() {
        for algorithm in Algorithm::all() {
            let reference = Reference::new(algorithm, &vec![1; algorithm.key_len]);
            let stream = reference.stream(Direction::Encrypt, &vec![2; algorithm.nonce_len], false);
            let needs_the_whole = matches!(
                algorithm.mode,
                Mode::Ccm
                    | Mode::Siv
                    | Mode::GcmSiv
                    | Mode::KeyWrap
                    | Mode::KeyWrapPadded
                    | Mode::Essiv
                    | Mode::Hctr2
                    | Mode::Adiantum
                    | Mode::Aegis
                    | Mode::Composite
            ) || algorithm.cipher == Primitive::Ascon;
            let without = needs_the_whole || !algorithm.encrypts();
            assert_eq!(stream.is_none(), without, "{algorithm}");
        }
    }

    #[test]
    fn a_copy_copies_and_null_leaves_everything_alone() {
        let (copy, null) = (reference("memcpy", ""), reference("null", ""));
        assert_eq!(encrypt(&copy, b"", b"", b"abc").0, b"abc");
        assert_eq!(decrypt(&copy, b"", b"", b"abc", b"").unwrap(), b"abc");
        let nonce = [9; 16];
        assert_eq!(encrypt(&null, &nonce, b"", b"abc").0, [0; 3]);
        assert_eq!(decrypt(&null, &nonce, b"", b"abc", b"").unwrap(), [0; 3]);
    }

    /// RFC 6229 §2, keys of 128 bits: the key stream at these places, 16 bytes each.
    #[test]
    fn rc4_is_right_as_far_as_its_vectors_go() {
        const PLACES: [usize; 18] = [
            0, 16, 240, 256, 496, 512, 752, 768, 1008, 1024, 1520, 1536, 2032, 2048, 3056, 3072,
            4080, 4096,
        ];
        let streams = [
            (
                "0102030405060708090a0b0c0d0e0f10",
                "9ac7cc9a609d1ef7b2932899cde41b975248c4959014126a6e8a84f11d1a9e1c065902e4b620f6cc36c8589f66432f2b \
                d39d566bc6bce3010768151549f3873fb6d1e6c4a5e4771cad79538df295fb11c68c1d5c559a974123df1dbc52a43b89 \
                c5ecf88de897fd57fed301701b82a259eccbe13de1fcc91c11a0b26c0bc8fa4de7a72574f8782ae26aabcf9ebcd66065 \
                bdf0324e6083dcc6d3cedd3ca8c53c16b40110c4190b5622a96116b0017ed297ffa0b514647ec04f6306b892ae661181 \
                d03d1bc03cd33d70dff9fa5d71963ebd8a44126411eaa78bd51e8d87a8879bf5fabeb76028ade2d0e48722e46c4615a3 \
                c05d88abd50357f935a63c59ee537623ff38265c1642c1abe8d3c2fe5e572bf8a36a4c301ae8ac13610ccbc12256cacc",
            ),
            (
                "ebb46227c6cc8b37641910833222772a",
                "720c94b63edf44e131d950ca211a5a30c366fdeacf9ca80436be7c358424d20bb3394a40aabf75cba42282ef25a0059f \
                4847d81da4942dbc249defc48c922b9f08128c469f275342adda202b2b58da95970dacef40ad98723bac5d6955b81761 \
                3cb89993b07b0ced93de13d2a11013acef2d676f1545c2c13dc680a02f4adbfeb60595514f24bc9fe522a6cad7393644 \
                b515a8c5011754f59003058bdb81514e3c70047e8cbc038e3b9820db601da4951175da6ee756de46a53e2b075660b770 \
                00a542bba02111cc2c65b38ebdba587e5865fdbb5b48064104e830b380f2aede34b21ad2ad44e999db2d7f0863f0d9b6 \
                84a9218fc36e8a5f2ccfbeae53a27d25a2221a11b833ccb498a59540f0545f4a5bbeb4787d59e5373fdbea6c6f75c29b",
            ),
        ];
        for (key, stream) in streams {
            let made = encrypt(&reference("rc4", key), b"", b"", &[0; 4112]).0;
            let made: Vec<u8> = PLACES.iter().flat_map(|at| made[*at..at + 16].to_vec()).collect();
            assert_eq!(hex::encode(made), stream.replace(' ', ""), "{key}");
        }
    }

    #[test]
    fn all_128_bits_of_the_ctr_counter_count() {
        let key = "2b7e151628aed2a6abf7158809cf4f3c";
        let (ctr, ecb) = (reference("aes-128-ctr", key), reference("aes-128-ecb", key));
        let made = encrypt(&ctr, &[0xff; 16], b"", &[0; 32]).0;
        assert_eq!(made[..16], encrypt(&ecb, b"", b"", &[0xff; 16]).0);
        assert_eq!(made[16..], encrypt(&ecb, b"", b"", &[0; 16]).0);
    }
}
