//! AEGIS with 256-bit tags (draft-irtf-cfrg-aegis-aead-18): AEGIS-128L and -128X as one variant,
//! AEGIS-256 and -256X as another, each over 1, 2 or 4 lanes; one lane has no context and is the
//! cipher without an X.
//!
//! Written here over single AES rounds, because the crate `aegis` is a layer over libaegis, which is
//! one of the libraries to be checked. libaegis gives the draft's vectors and agrees with this.

use super::Implementation;
use aes::hazmat::{Block8, cipher_round_par};
use base::model::Direction;
use cipher::Array;
use std::marker::PhantomData;

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
pub(super) trait Variant: Send + Sync {
    /// Words of a lane's state.
    const WORDS: usize;
    /// Words that a lane takes up with one update.
    const RATE: usize;
    /// The state from which initialization starts, and the updates that it makes, repeated.
    fn load(key: &[u8], nonce: &[u8]) -> (Lane, Vec<Words>);
    /// Words that get the context before each update of the initialization.
    const CONTEXT: [usize; 2];
    /// The key stream.
    fn keystream(lane: &Lane) -> Words;
    /// The word that the lengths are added to.
    const LENGTHS: usize;
}

/// AEGIS-128L and AEGIS-128X, draft §2 and §5.
pub(super) struct Aegis128;

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
pub(super) struct Aegis256;

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
pub(super) struct Aegis<V, const LANES: usize> {
    key: Vec<u8>,
    variant: PhantomData<V>,
}

impl<V: Variant, const LANES: usize> Aegis<V, LANES> {
    pub(super) fn new(key: &[u8]) -> Self {
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
