//! Modes with a tag: GCM, CCM, EAX, OCB, GCM-SIV, SIV, ChaCha20-Poly1305, AEGIS; and their streams without
//! one.

use crate::reference::block::{AnyCipher, BLOCK_LEN, Block, whole_blocks, xex};
use crate::reference::{Implementation, Update};
use ::aead::{AeadInOut, KeyInit};
use aes::hazmat::{Block8, cipher_round_par};
use aes_gcm::AesGcm;
use aes_gcm_siv::AesGcmSiv;
use aes_siv::siv::CmacSiv;
use ascon_aead::AsconAead128;
use base::model::Direction;
use ccm::Ccm;
use chacha20::{ChaCha20, XChaCha20};
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use cipher::consts::{U8, U12, U16};
use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, InnerIvInit, Key, KeyIvInit, StreamCipher,
    StreamCipherSeek,
};
use cmac::digest::InnerInit;
use cmac::{Cmac, Mac};
use ctr::{Ctr32BE, Ctr128BE, CtrCore};
use eax::Eax;
use ocb3::Ocb3;
use poly1305::Poly1305;
use salsa20::XSalsa20;
use std::marker::PhantomData;

/// An authenticated mode and what its updates do before the message ends.
pub(crate) struct Aead<A, S> {
    aead: A,
    stream: S,
}

impl<A: AeadInOut + Send + Sync, S: Implementation> Implementation for Aead<A, S> {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        let nonce = nonce.try_into().expect("the nonce has the mode's length");
        let made = self
            .aead
            .encrypt_inout_detached(nonce, aad, buffer.into())
            .expect("the message is not longer than the mode allows");
        tag.copy_from_slice(&made);
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        let nonce = nonce.try_into().expect("the nonce has the mode's length");
        let tag = tag.try_into().expect("the tag has the mode's length");
        self.aead.decrypt_inout_detached(nonce, aad, buffer.into(), tag).is_ok()
    }

    fn stream(&self, direction: Direction, nonce: &[u8], next_unit: bool) -> Option<Update<'_>> {
        self.stream.stream(direction, nonce, next_unit)
    }
}

/// GCM, NIST SP 800-38D, 96-bit nonces.
pub(crate) fn gcm(cipher: AnyCipher) -> impl Implementation + use<> {
    Aead { aead: AesGcm::<AnyCipher, U12>::from(cipher.clone()), stream: GcmKeystream(cipher) }
}

/// CCM, NIST SP 800-38C, 96-bit nonces, tags of 128 or 64 bits.
pub(crate) fn ccm(cipher: AnyCipher, tag_len: usize) -> Box<dyn Implementation> {
    match tag_len {
        8 => Box::new(Aead { aead: Ccm::<AnyCipher, U8, U12>::from(cipher), stream: NoStream }),
        _ => Box::new(Aead { aead: Ccm::<AnyCipher, U16, U12>::from(cipher), stream: NoStream }),
    }
}

/// Ascon-AEAD128, NIST SP 800-232.
pub(crate) fn ascon(key: &[u8]) -> impl Implementation + use<> {
    let aead = AsconAead128::new_from_slice(key).expect("the key has 16 bytes");
    Aead { aead, stream: NoStream }
}

/// NaCl's secretbox (crypto_secretbox_xsalsa20poly1305): the key stream's first 32 bytes are Poly1305's key, the
/// message goes on from there, and the tag is of the ciphertext alone.
pub(crate) struct SecretBox(Vec<u8>);

impl SecretBox {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(key.to_vec())
    }

    /// The key stream behind Poly1305's key, and Poly1305 under it.
    fn begin(&self, nonce: &[u8]) -> (XSalsa20, Poly1305) {
        let mut keystream =
            XSalsa20::new_from_slices(&self.0, nonce).expect("the key has 32 bytes, the nonce 24");
        let mut mac_key = [0; 32];
        keystream.apply_keystream(&mut mac_key);
        (keystream, Poly1305::new(&mac_key.into()))
    }
}

impl Implementation for SecretBox {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        let (mut keystream, mac) = self.begin(nonce);
        keystream.apply_keystream(buffer);
        tag.copy_from_slice(&mac.compute_unpadded(buffer));
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        let (mut keystream, mac) = self.begin(nonce);
        if *tag != *mac.compute_unpadded(buffer) {
            return false;
        }
        keystream.apply_keystream(buffer);
        true
    }

    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream = self.begin(nonce).0;
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// RC4: what the key makes of its permutation, where each message and stream begins.
pub(crate) struct Rc4([u8; 256]);

impl Rc4 {
    pub(crate) fn new(key: &[u8]) -> Self {
        let mut state = std::array::from_fn(|i| i as u8);
        let mut j = 0_u8;
        for i in 0..state.len() {
            j = j.wrapping_add(state[i]).wrapping_add(key[i % key.len()]);
            state.swap(i, usize::from(j));
        }
        Self(state)
    }
}

impl Implementation for Rc4 {
    fn stream(&self, _direction: Direction, _nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let (mut state, mut i, mut j) = (self.0, 0_u8, 0_u8);
        Some(Box::new(move |buffer| {
            for byte in buffer {
                i = i.wrapping_add(1);
                let first = state[usize::from(i)];
                j = j.wrapping_add(first);
                let second = state[usize::from(j)];
                state.swap(usize::from(i), usize::from(j));
                *byte ^= state[usize::from(first.wrapping_add(second))];
            }
        }))
    }
}

/// Key wrap (NIST SP 800-38F §6.2, RFC 3394 §2.2): six passes over the key's halves of a block, each enciphered with the
/// integrity check, which changes with each and is the tag at the end. With padding (§6.3, RFC 5649 §4) the check says the
/// length, and a single half is one block.
pub(crate) struct KeyWrap {
    cipher: AnyCipher,
    padded: bool,
}

const SEMIBLOCK: usize = 8;
type Semiblock = [u8; SEMIBLOCK];

impl KeyWrap {
    pub(crate) fn new(cipher: AnyCipher, padded: bool) -> Self {
        Self { cipher, padded }
    }

    /// RFC 3394 §2.2.3.1, RFC 5649 §3.
    fn initial(&self, len: usize) -> Semiblock {
        if !self.padded {
            return [0xa6; SEMIBLOCK];
        }
        (0xa659_59a6_u64 << 32 | len as u64).to_be_bytes()
    }

    fn wrap(&self, initial: Semiblock, buffer: &mut [u8]) -> Semiblock {
        let (halves, _) = buffer.as_chunks_mut::<SEMIBLOCK>();
        if let ([half], true) = (&mut *halves, self.padded) {
            return self.forth(u64::from_be_bytes(initial), half).to_be_bytes();
        }
        let (mut check, mut step) = (u64::from_be_bytes(initial), 0);
        for _ in 0..PASSES {
            for half in &mut *halves {
                step += 1;
                check = self.forth(check, half) ^ step;
            }
        }
        check.to_be_bytes()
    }

    fn unwrap(&self, tag: &[u8], buffer: &mut [u8]) -> Semiblock {
        let (halves, _) = buffer.as_chunks_mut::<SEMIBLOCK>();
        let tag = tag.try_into().expect("the tag is a semiblock");
        if let ([half], true) = (&mut *halves, self.padded) {
            return self.back(u64::from_be_bytes(tag), half).to_be_bytes();
        }
        let (mut check, mut step) = (u64::from_be_bytes(tag), PASSES * halves.len() as u64);
        for _ in 0..PASSES {
            for half in halves.iter_mut().rev() {
                check = self.back(check ^ step, half);
                step -= 1;
            }
        }
        check.to_be_bytes()
    }

    /// Enciphers both halves of a block, of which the first is given back.
    fn forth(&self, check: u64, half: &mut Semiblock) -> u64 {
        let mut block = Block::from(joined(check, half));
        self.cipher.encrypt_block(&mut block);
        parted(&block, half)
    }

    fn back(&self, check: u64, half: &mut Semiblock) -> u64 {
        let mut block = Block::from(joined(check, half));
        self.cipher.decrypt_block(&mut block);
        parted(&block, half)
    }
}

const PASSES: u64 = 6;

fn joined(check: u64, half: &Semiblock) -> [u8; 2 * SEMIBLOCK] {
    let mut block = [0; 2 * SEMIBLOCK];
    block[..SEMIBLOCK].copy_from_slice(&check.to_be_bytes());
    block[SEMIBLOCK..].copy_from_slice(half);
    block
}

fn parted(block: &Block, half: &mut Semiblock) -> u64 {
    half.copy_from_slice(&block[SEMIBLOCK..]);
    u64::from_be_bytes(block[..SEMIBLOCK].try_into().expect("half a block"))
}

impl Implementation for KeyWrap {
    fn encrypt(&self, _nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        tag.copy_from_slice(&self.wrap(self.initial(buffer.len()), buffer));
    }

    fn decrypt(&self, _nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        self.unwrap(tag, buffer) == self.initial(buffer.len())
    }
}

/// OCB, RFC 7253, 96-bit nonces, 128-bit tags.
pub(crate) fn ocb(cipher: AnyCipher) -> impl Implementation + use<> {
    Aead { aead: Ocb3::<AnyCipher, U12>::from(cipher.clone()), stream: Offsets::new(cipher) }
}

/// EAX, nonces and tags of a block. The crate keeps the key and makes its schedule anew for each
/// message.
pub(crate) fn eax(cipher: AnyCipher, key: &[u8]) -> impl Implementation + use<> {
    let aead = Eax::<AnyCipher>::new_from_slice(key).expect("the key length chose the cipher");
    Aead { aead, stream: EaxKeystream(cipher) }
}

/// GCM-SIV, RFC 8452, which derives keys of the cipher's own length for each nonce.
pub(crate) fn gcm_siv<C>(key: &[u8]) -> impl Implementation + use<C>
where
    AesGcmSiv<C>: AeadInOut + KeyInit + Send + Sync,
{
    let aead = AesGcmSiv::<C>::new_from_slice(key).expect("the key length chose the cipher");
    Aead { aead, stream: NoStream }
}

/// ChaCha20-Poly1305, RFC 8439: block 0 makes the Poly1305 key, the message begins at block 1 (§2.8).
pub(crate) fn chacha20_poly1305(key: &[u8]) -> impl Implementation + use<> {
    let aead = ChaCha20Poly1305::new_from_slice(key).expect("the key has 32 bytes");
    Aead { aead, stream: Keystream::<ChaCha20>::new(key, 1) }
}

/// XChaCha20-Poly1305, draft-irtf-cfrg-xchacha-03.
pub(crate) fn xchacha20_poly1305(key: &[u8]) -> impl Implementation + use<> {
    let aead = XChaCha20Poly1305::new_from_slice(key).expect("the key has 32 bytes");
    Aead { aead, stream: Keystream::<XChaCha20>::new(key, 1) }
}

struct NoStream;

impl Implementation for NoStream {}

/// The counter of a GCM message begins at 2: 1 makes the tag (NIST SP 800-38D §7.1).
struct GcmKeystream(AnyCipher);

impl Implementation for GcmKeystream {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut first = Block::default();
        first[..12].copy_from_slice(nonce);
        first[15] = 2;
        let mut keystream = Ctr32BE::from_core(CtrCore::inner_iv_init(&self.0, &first));
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// The counter of an EAX message begins at the nonce's OMAC under the tweak 0, which is CMAC over
/// a zero block and the nonce.
struct EaxKeystream(AnyCipher);

impl Implementation for EaxKeystream {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut omac = Cmac::<AnyCipher>::inner_init(self.0.clone());
        omac.update(&[0; 16]);
        omac.update(nonce);
        let first = omac.finalize().into_bytes();
        let mut keystream = Ctr128BE::from_core(CtrCore::inner_iv_init(&self.0, &first));
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// The key stream of ChaCha or Salsa20 from one of its blocks on; alone it begins at block 0 (RFC 8439 §2.4).
pub(crate) struct Keystream<S> {
    key: Vec<u8>,
    first_block: u32,
    cipher: PhantomData<S>,
}

impl<S> Keystream<S> {
    pub(crate) fn new(key: &[u8], first_block: u32) -> Self {
        Self { key: key.to_vec(), first_block, cipher: PhantomData }
    }
}

impl<S> Implementation for Keystream<S>
where
    S: KeyIvInit + StreamCipher + StreamCipherSeek + Send + Sync + 'static,
{
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream =
            S::new_from_slices(&self.key, nonce).expect("key and nonce have the cipher's length");
        keystream.seek(64 * self.first_block);
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

impl Implementation for Offsets {
    fn stream(&self, direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        Some(Box::new(Offsets::stream(self, direction, nonce)))
    }
}

// OCB's offsets over whole blocks (RFC 7253 §4.1, §4.2): what updates leave before the message
// ends, which the crate `ocb3` has no call for. The tests hold it against that crate.

/// A block number's trailing zeros choose its L value; 64-bit block numbers have up to 63.
const L_COUNT: usize = 64;

/// An expanded key with its L values.
pub(crate) struct Offsets {
    cipher: AnyCipher,
    l: [u128; L_COUNT],
}

impl Offsets {
    pub(crate) fn new(cipher: AnyCipher) -> Self {
        let l_star = enciphered(&cipher, 0);
        let l_dollar = double(l_star);
        let mut previous = l_dollar;
        let l = std::array::from_fn(|_| {
            previous = double(previous);
            previous
        });
        Self { cipher, l }
    }

    /// Continues from update to update under one 96-bit nonce with 128-bit tags.
    pub(crate) fn stream(
        &self,
        direction: Direction,
        nonce: &[u8],
    ) -> impl FnMut(&mut [u8]) + use<'_> {
        let mut offset = self.initial_offset(nonce);
        let mut number: u64 = 0;
        move |buffer| {
            let next_offset = || {
                number += 1;
                offset ^= self.l[number.trailing_zeros() as usize];
                offset.to_be_bytes()
            };
            let blocks = whole_blocks::<AnyCipher>(buffer);
            match direction {
                Direction::Decrypt => xex(blocks, next_offset, |b| self.cipher.decrypt_blocks(b)),
                _ => xex(blocks, next_offset, |b| self.cipher.encrypt_blocks(b)),
            }
        }
    }

    /// `Offset_0` of RFC 7253 §4.2. The first seven bits of the nonce's block hold the tag length
    /// modulo 128, which is zero here.
    fn initial_offset(&self, nonce: &[u8]) -> u128 {
        let mut block = [0; BLOCK_LEN];
        block[4..].copy_from_slice(nonce);
        block[3] |= 1;
        let block = u128::from_be_bytes(block);
        let bottom = (block % 64) as u32;
        let k_top = enciphered(&self.cipher, block - u128::from(bottom));
        // Stretch = Ktop || (Ktop[1..64] xor Ktop[9..72]); what is wanted are 128 bits of it.
        let stretch_end = ((k_top >> 64) ^ (k_top >> 56)) as u64;
        (k_top << bottom) | ((u128::from(stretch_end) << bottom) >> 64)
    }
}

fn enciphered(cipher: &AnyCipher, value: u128) -> u128 {
    let mut block = Block::from(value.to_be_bytes());
    cipher.encrypt_block(&mut block);
    u128::from_be_bytes(block.0)
}

/// Doubling in GF(2¹²⁸), RFC 7253 §2.
fn double(value: u128) -> u128 {
    (value << 1) ^ ((value >> 127) * 0x87)
}

// SIV, RFC 5297, with a nonce: the vector has exactly two components before the plaintext, the
// associated data and the nonce (§3).

/// The key for CMAC, then the one for CTR. The crate's object changes with every message, so that
/// each gets its own: three key schedules a message.
pub(crate) struct Siv {
    key: Key<CmacSiv<AnyCipher>>,
}

impl Siv {
    pub(crate) fn new(mac: &Key<AnyCipher>, ctr: &Key<AnyCipher>) -> Self {
        let key = [&mac[..], &ctr[..]].concat();
        Self { key: key.as_slice().try_into().expect("two keys") }
    }

    fn message(&self) -> CmacSiv<AnyCipher> {
        CmacSiv::new(&self.key)
    }
}

impl Implementation for Siv {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        let made = self
            .message()
            .encrypt_inout_detached([aad, nonce], buffer.into())
            .expect("two components are not too many");
        tag.copy_from_slice(&made);
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        let tag = tag.try_into().expect("the tag is a block");
        self.message().decrypt_inout_detached([aad, nonce], buffer.into(), tag).is_ok()
    }

    // No stream: the key stream depends on the whole message.
}

// AEGIS with 256-bit tags (draft-irtf-cfrg-aegis-aead-18): AEGIS-128L and -128X as one variant,
// AEGIS-256 and -256X as another, each over 1, 2 or 4 lanes; one lane has no context and is the
// cipher without an X.
//
// Written here over single AES rounds, because the crate `aegis` is a layer over libaegis, which is
// one of the libraries to be checked. libaegis gives the draft's vectors and agrees with this.

/// Bytes of a word, which is an AES block.
const WORD_LEN: usize = 16;
/// Most words of a lane's state; AEGIS-256 leaves the last two alone.
const MAX_WORDS: usize = 8;
/// Most words that a lane takes up at once.
const MAX_RATE: usize = 2;

/// A word; its least significant byte is the first.
type Word = u128;
/// One lane's state.
type Lane = [Word; MAX_WORDS];
/// What one lane takes up or gives out at once.
type Words = [Word; MAX_RATE];

/// The Fibonacci sequence modulo 256, draft §1.1.
const C0: Word = Word::from_le_bytes([
    0x00, 0x01, 0x01, 0x02, 0x03, 0x05, 0x08, 0x0d, 0x15, 0x22, 0x37, 0x59, 0x90, 0xe9, 0x79, 0x62,
]);
const C1: Word = Word::from_le_bytes([
    0xdb, 0x3d, 0x18, 0x55, 0x6d, 0xc2, 0x2f, 0xf1, 0x20, 0x11, 0x31, 0x42, 0x73, 0xb5, 0x28, 0xdd,
]);

/// What the two families differ in.
pub(crate) trait Variant: Send + Sync {
    const WORDS: usize;
    const RATE: usize;
    /// The state from which initialization starts, and the updates that it makes, repeated.
    fn load(key: &[u8], nonce: &[u8]) -> (Lane, Vec<Words>);
    /// Words that get the context before each update of the initialization.
    const CONTEXT: [usize; 2];
    fn keystream(lane: &Lane) -> Words;
    /// The word that the lengths are added to.
    const LENGTHS: usize;
}

/// AEGIS-128L and AEGIS-128X, draft §2 and §5.
pub(crate) struct Aegis128;

impl Variant for Aegis128 {
    const WORDS: usize = 8;
    const RATE: usize = 2;
    const CONTEXT: [usize; 2] = [3, 7];
    const LENGTHS: usize = 2;

    fn load(key: &[u8], nonce: &[u8]) -> (Lane, Vec<Words>) {
        let (k, n) = (word(key), word(nonce));
        let lane = [k ^ n, C1, C0, C1, k ^ n, k ^ C0, k ^ C1, k ^ C0];
        (lane, vec![[n, k]; 10])
    }

    fn keystream(s: &Lane) -> Words {
        [s[6] ^ s[1] ^ (s[2] & s[3]), s[2] ^ s[5] ^ (s[6] & s[7])]
    }
}

/// AEGIS-256 and AEGIS-256X, draft §3 and §5.
pub(crate) struct Aegis256;

impl Variant for Aegis256 {
    const WORDS: usize = 6;
    const RATE: usize = 1;
    const CONTEXT: [usize; 2] = [3, 5];
    const LENGTHS: usize = 3;

    fn load(key: &[u8], nonce: &[u8]) -> (Lane, Vec<Words>) {
        let [(k0, k1), (n0, n1)] = [key, nonce].map(|b| (word(&b[..16]), word(&b[16..])));
        let lane = [k0 ^ n0, k1 ^ n1, C1, C0, k0 ^ C0, k1 ^ C1, 0, 0];
        (lane, [k0, k1, k0 ^ n0, k1 ^ n1].map(|m| [m, 0]).repeat(4))
    }

    fn keystream(s: &Lane) -> Words {
        [s[1] ^ s[4] ^ s[5] ^ (s[2] & s[3]), 0]
    }
}

/// One variant over so many lanes, under one key. There is no key schedule.
pub(crate) struct Aegis<V, const LANES: usize> {
    key: Vec<u8>,
    variant: PhantomData<V>,
}

impl<V: Variant, const LANES: usize> Aegis<V, LANES> {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self { key: key.to_vec(), variant: PhantomData }
    }

    fn crypt(
        &self,
        direction: Direction,
        nonce: &[u8],
        aad: &[u8],
        buffer: &mut [u8],
    ) -> [u8; 2 * WORD_LEN] {
        let mut state = State::<V, LANES>::new(&self.key, nonce);
        for chunk in aad.chunks(State::<V, LANES>::CHUNK) {
            state.absorb(chunk);
        }
        for chunk in buffer.chunks_mut(State::<V, LANES>::CHUNK) {
            state.crypt(direction, chunk);
        }
        state.tag(aad.len(), buffer.len())
    }
}

impl<V: Variant, const LANES: usize> Implementation for Aegis<V, LANES> {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        tag.copy_from_slice(&self.crypt(Direction::Encrypt, nonce, aad, buffer));
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        self.crypt(Direction::Decrypt, nonce, aad, buffer) == *tag
    }

    // No stream: libraries differ in when an update gives out the bytes of a chunk that it did not fill.
}

struct State<V, const LANES: usize> {
    lanes: [Lane; LANES],
    variant: PhantomData<V>,
}

impl<V: Variant, const LANES: usize> State<V, LANES> {
    /// Bytes that all lanes take up with one update.
    const CHUNK: usize = V::RATE * LANES * WORD_LEN;

    fn new(key: &[u8], nonce: &[u8]) -> Self {
        let (lane, updates) = V::load(key, nonce);
        let mut state = Self { lanes: [lane; LANES], variant: PhantomData };
        for words in updates {
            for (number, lane) in state.lanes.iter_mut().enumerate() {
                let context = number | ((LANES - 1) << 8);
                for word in V::CONTEXT {
                    lane[word] ^= context as Word;
                }
            }
            state.update([words; LANES]);
        }
        state
    }

    /// One AES round of each word under the next one, with the message in it.
    fn update(&mut self, message: [Words; LANES]) {
        for (lane, words) in self.lanes.iter_mut().zip(message) {
            let mut rounds: Block8 =
                Array::from_fn(|i| lane[(i + V::WORDS - 1) % V::WORDS].to_le_bytes().into());
            for (i, word) in words[..V::RATE].iter().enumerate() {
                lane[i * V::WORDS / V::RATE] ^= word;
            }
            let keys: Block8 = Array::from_fn(|i| lane[i].to_le_bytes().into());
            cipher_round_par(&mut rounds, &keys);
            for (word, block) in lane[..V::WORDS].iter_mut().zip(&rounds) {
                *word = Word::from_le_bytes(block.0);
            }
        }
    }

    fn absorb(&mut self, chunk: &[u8]) {
        self.update(split::<V, LANES>(chunk));
    }

    /// Encrypts or decrypts up to a chunk; the plaintext is taken up either way, filled with zeros.
    fn crypt(&mut self, direction: Direction, chunk: &mut [u8]) {
        let taken = split::<V, LANES>(chunk);
        let keystream = self.lanes.each_ref().map(V::keystream);
        for (at, bytes) in chunk.chunks_mut(WORD_LEN).enumerate() {
            let word = keystream[at % LANES][at / LANES].to_le_bytes();
            bytes.iter_mut().zip(word).for_each(|(b, k)| *b ^= k);
        }
        self.update(match direction {
            Direction::Decrypt => split::<V, LANES>(chunk),
            _ => taken,
        });
    }

    fn tag(mut self, aad_len: usize, len: usize) -> [u8; 2 * WORD_LEN] {
        let bits = |bytes: usize| (bytes as Word) * 8;
        let lengths = bits(aad_len) | (bits(len) << 64);
        let words = self.lanes.map(|lane| [lane[V::LENGTHS] ^ lengths; MAX_RATE]);
        for _ in 0..7 {
            self.update(words);
        }
        let mut tag = [0; 2 * WORD_LEN];
        for (number, half) in tag.chunks_mut(WORD_LEN).enumerate() {
            let of_lane = |lane: &Lane| {
                let words = &lane[number * V::WORDS / 2..][..V::WORDS / 2];
                words.iter().fold(0, |sum, word| sum ^ word)
            };
            let sum: Word = self.lanes.iter().map(of_lane).fold(0, |sum, word| sum ^ word);
            half.copy_from_slice(&sum.to_le_bytes());
        }
        tag
    }
}

/// A chunk's words by lane: first all lanes' first words, then their second ones. What the chunk
/// does not fill is zero.
fn split<V: Variant, const LANES: usize>(chunk: &[u8]) -> [Words; LANES] {
    let mut lanes = [[0; MAX_RATE]; LANES];
    for (at, bytes) in chunk.chunks(WORD_LEN).enumerate() {
        lanes[at % LANES][at / LANES] = word(bytes);
    }
    lanes
}

/// Up to 16 bytes as a word.
fn word(bytes: &[u8]) -> Word {
    let mut filled = [0; WORD_LEN];
    filled[..bytes.len()].copy_from_slice(bytes);
    Word::from_le_bytes(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::aead::{AeadCore, AeadInOut, KeyInit};
    use aes::{Aes128, Aes256};
    use base::model::Primitive;
    use cipher::consts::U12;
    use ocb3::Ocb3;

    /// RFC 5649 §6. What is measured needs no padding.
    #[test]
    fn keys_of_other_lengths_are_padded_with_zeros() {
        let bytes = |digits: &str| hex::decode(digits).unwrap();
        let key = bytes("5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8");
        let keyed = KeyWrap::new(AnyCipher::keyed(Primitive::Aes, &key), true);
        for (plain, wrapped) in [
            (
                "c37b7e6492584340bed12207808941155068f738",
                "138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a",
            ),
            ("466f7250617369", "afbeb0f07dfbf5419200f2ccb50bb24f"),
        ] {
            let (plain, wrapped) = (bytes(plain), bytes(wrapped));
            let initial = keyed.initial(plain.len());
            let mut padded = plain.clone();
            padded.resize(plain.len().next_multiple_of(SEMIBLOCK), 0);
            let mut buffer = padded.clone();
            let tag = keyed.wrap(initial, &mut buffer);
            assert_eq!([&tag[..], &buffer].concat(), wrapped);
            assert_eq!((keyed.unwrap(&tag, &mut buffer), buffer), (initial, padded));
        }
    }

    fn agrees_with_the_crate<C>(key: &[u8])
    where
        Ocb3<C, U12>: AeadInOut + AeadCore<NonceSize = U12> + KeyInit,
    {
        let theirs = Ocb3::<C, U12>::new_from_slice(key).unwrap();
        let ours = Offsets::new(AnyCipher::keyed(Primitive::Aes, key));
        // Nonces with every value of the bottom six bits, messages past two batches.
        for bottom in 0..64_u8 {
            let mut nonce = [0x5a; 12];
            nonce[11] = 0x80 | bottom;
            for blocks in [0, 1, 2, 3, 15, 64, 65, usize::from(bottom) + 100] {
                let plain: Vec<u8> = (0..blocks * 16).map(|i| (i * 5) as u8).collect();
                let mut expected = plain.clone();
                theirs
                    .encrypt_inout_detached(&nonce.into(), b"", expected.as_mut_slice().into())
                    .unwrap();
                let mut buffer = plain.clone();
                ours.stream(Direction::Encrypt, &nonce)(&mut buffer);
                assert_eq!(buffer, expected, "{blocks} blocks");
                ours.stream(Direction::Decrypt, &nonce)(&mut buffer);
                assert_eq!(buffer, plain, "{blocks} blocks");
            }
        }
    }

    #[test]
    fn every_offset_agrees_with_the_crate_ocb3() {
        let key: Vec<u8> = (7..39).collect();
        agrees_with_the_crate::<Aes128>(&key[..16]);
        agrees_with_the_crate::<Aes256>(&key);
    }

    #[test]
    fn updates_of_any_number_of_blocks_continue_one_message() {
        let ours = Offsets::new(AnyCipher::keyed(Primitive::Aes, &[3; 16]));
        let mut whole = vec![9; 16 * 200];
        ours.stream(Direction::Encrypt, &[1; 12])(&mut whole);
        let mut pieces = vec![9; 16 * 200];
        let mut stream = ours.stream(Direction::Encrypt, &[1; 12]);
        let (a, rest) = pieces.split_at_mut(16 * 3);
        let (b, c) = rest.split_at_mut(16 * 70);
        [a, b, c].into_iter().for_each(&mut stream);
        assert_eq!(pieces, whole);
    }
}
