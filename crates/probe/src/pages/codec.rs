//! One scheme in one library: pages in, ciphertext and what is stored beside it out, and back.

use super::mac::{Maker, checksum, checksum_by, done, key_bytes};
use crate::clock::Clock;
use base::model::{Algorithm, Direction, Mode};
use contract::{Library, Message, OpenError, Session};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use record::at_rest::scheme::{
    Field, KeyScope, MacPart, NonceRule, Position, Recipe, Sum, write_fields,
};
use subtle::ConstantTimeEq as _;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// Longest nonce there is: AEGIS-256's.
const LONGEST_NONCE: usize = 32;
/// Room for a place in any form.
const LONGEST_PLACE: usize = 64;

/// Where random nonces come from.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// The kernel, a call for each.
    System,
    /// A seed and the page's place: the same in every library.
    Fixed(u64),
}

/// Why a page did not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The tag or the sum does not fit.
    Noticed,
    /// The library returned an error.
    Failed(i32),
}

/// A session in one direction and the file whose key is set.
struct Side {
    session: Option<Session>,
    direction: Direction,
    file: Option<(u32, u32, u32, u8)>,
}

/// One scheme in one library.
pub struct Codec {
    library: &'static dyn Library,
    recipe: Recipe,
    algorithm: Option<&'static Algorithm>,
    page_size: usize,
    /// Bytes of the nonce that are stored: looking the algorithm up is no page's cost.
    stored: usize,
    sealing: Side,
    opening: Side,
    mac: Option<Maker>,
    key: Vec<u8>,
    mac_key: Vec<u8>,
    mask: u64,
}

type Place = ([u8; LONGEST_PLACE], usize);

impl Codec {
    /// Opens the library's part.
    pub fn open(
        library: &'static dyn Library,
        recipe: &Recipe,
        page_size: usize,
        seed: u64,
    ) -> Result<Self, OpenError> {
        let algorithm = match &recipe.cipher {
            Some(name) => {
                Some(Algorithm::find(name).map_err(|e| OpenError::Failed(e.to_string()))?)
            }
            None => None,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(xxh3_64_with_seed(recipe.scheme.as_bytes(), 1));
        let mut bytes = |len: usize| {
            let mut bytes = vec![0; len];
            rng.fill_bytes(&mut bytes);
            bytes
        };
        let (key, mac_key) =
            (bytes(algorithm.map_or(0, |a| a.key_len)), bytes(recipe.sum.map_or(0, key_bytes)));
        let mask = seed ^ 0x5eed;
        let side = |direction| Side { session: None, direction, file: None };
        let mac = match recipe.sum {
            Some(sum) if sum.is_mac() => Some(
                Maker::open(library, sum, &mac_key)
                    .ok_or_else(|| OpenError::Failed(format!("{} cannot be made", sum.name())))?,
            ),
            _ => None,
        };
        let (recipe, stored) = (recipe.clone(), recipe.stored_nonce_bytes());
        let (sealing, opening) = (side(Direction::Encrypt), side(Direction::Decrypt));
        let mut codec = Self {
            library,
            recipe,
            algorithm,
            page_size,
            stored,
            sealing,
            opening,
            mac,
            key,
            mac_key,
            mask,
        };
        codec.reset()?;
        Ok(codec)
    }

    /// The store's own key in both directions.
    pub fn reset(&mut self) -> Result<(), OpenError> {
        let Some(algorithm) = self.algorithm else { return Ok(()) };
        for side in [&mut self.sealing, &mut self.opening] {
            side.session = None;
            let session = self.library.open(algorithm, side.direction, &self.key)?;
            if !session.has_message() {
                return Err(OpenError::Unsupported(
                    "the library does not offer whole messages".into(),
                ));
            }
            (side.session, side.file) = (Some(session), None);
        }
        if let (Some(sum), Some(_)) = (self.recipe.sum, &self.mac) {
            self.mac = Maker::open(self.library, sum, &self.mac_key);
        }
        Ok(())
    }

    /// Bytes that are stored beside a page.
    pub fn metadata_bytes(&self) -> usize {
        self.recipe.metadata_bytes()
    }

    /// Whose code makes the sum.
    pub fn sum_by(&self) -> Option<&'static str> {
        let sum = self.recipe.sum?;
        Some(self.mac.as_ref().map_or_else(|| checksum_by(sum), Maker::by))
    }

    /// Sets a key of this page's own, as a store with a key for each page would; MAC included.
    fn rekey(&mut self, direction: Direction, at: &Position) -> Result<(), i32> {
        let mut word = [0; 32];
        word.copy_from_slice(&at.to_bytes());
        let change = xxh3_64_with_seed(&word, self.mask);
        let key = changed(&self.key, change);
        self.set_key(direction, &key)?;
        if let (Some(sum), Some(mac)) = (self.recipe.sum, self.mac.take()) {
            self.mac = mac.rekeyed(self.library, sum, &changed(&self.mac_key, change));
        }
        Ok(())
    }

    /// Encrypts a page within the clock, with a key of its own where asked for: the ticks.
    ///
    /// # Errors
    /// As [`Codec::seal`].
    pub fn seal_timed(
        &mut self,
        clock: &Clock,
        own_key: bool,
        (at, plain): (&Position, &[u8]),
        out: &mut [u8],
        beside: &mut [u8],
    ) -> Result<u64, i32> {
        let (ticks, result) = clock.time(|| {
            if own_key {
                self.rekey(Direction::Encrypt, at)?;
            }
            self.seal(at, plain, out, beside, Draw::System)
        });
        result.map(|()| ticks)
    }

    /// Decrypts a page within the clock, with a key of its own where asked for: the ticks.
    ///
    /// # Errors
    /// As [`Codec::unseal`].
    pub fn unseal_timed(
        &mut self,
        clock: &Clock,
        own_key: bool,
        at: &Position,
        (cipher, beside): (&[u8], &[u8]),
        out: &mut [u8],
    ) -> Result<u64, Refusal> {
        let (ticks, result) = clock.time(|| {
            if own_key {
                self.rekey(Direction::Decrypt, at).map_err(Refusal::Failed)?;
            }
            self.unseal(at, cipher, beside, out)
        });
        result.map(|()| ticks)
    }

    fn set_key(&mut self, direction: Direction, key: &[u8]) -> Result<(), i32> {
        let Some(algorithm) = self.algorithm else { return Ok(()) };
        let side = match direction {
            Direction::Decrypt => &mut self.opening,
            _ => &mut self.sealing,
        };
        match &mut side.session {
            Some(session) if session.has_rekey() => done(session.rekey(key)),
            // What an application does with a library that has no call for it.
            session => {
                *session = None;
                let opened = self.library.open(algorithm, direction, key);
                *session = Some(opened.map_err(|_| contract::raw::FAILED)?);
                Ok(())
            }
        }
    }

    /// The key of the page's file, where files have keys of their own.
    #[inline]
    fn use_key_of(&mut self, direction: Direction, at: &Position) -> Result<(), i32> {
        if self.recipe.key == KeyScope::Store {
            return Ok(());
        }
        let (space, database, relation, mut fork) = at.file();
        if self.recipe.zero_passes {
            // pg_tde's keys are relations'.
            fork = 0;
        }
        let file = Some((space, database, relation, fork));
        let side = if direction == Direction::Decrypt { &self.opening } else { &self.sealing };
        if side.file == file {
            return Ok(());
        }
        let of_file = Position { space, database, relation, fork, ..Position::default() };
        let key = changed(&self.key, xxh3_64_with_seed(&of_file.to_bytes(), self.mask));
        self.set_key(direction, &key)?;
        let side =
            if direction == Direction::Decrypt { &mut self.opening } else { &mut self.sealing };
        side.file = file;
        Ok(())
    }

    /// Encrypts a page. `beside` has [`Codec::metadata_bytes`].
    pub fn seal(
        &mut self,
        at: &Position,
        plain: &[u8],
        out: &mut [u8],
        beside: &mut [u8],
        draw: Draw,
    ) -> Result<(), i32> {
        let Some(algorithm) = self.algorithm else {
            out.copy_from_slice(plain);
            return Ok(());
        };
        self.use_key_of(Direction::Encrypt, at)?;
        let (stored, rest) = beside.split_at_mut(self.stored);
        let (tag, sum) = rest.split_at_mut(algorithm.tag_len);
        match &self.recipe.nonce {
            NonceRule::Random => self.draw(at, draw, stored)?,
            NonceRule::Lsn(fields) => write_fields(fields, at, self.page_size, stored),
            _ => {}
        }
        let nonce = self.nonce(at, stored);
        let nonce = &nonce[..algorithm.nonce_len];
        let place = self.place(at);
        let place = &place.0[..place.1];
        if let Some(kind @ (Sum::Xxh3 | Sum::Crc32c)) = self.recipe.sum {
            checksum(kind, place, plain, sum);
        }
        let aad = if algorithm.takes_aad() { place } else { &[] };
        let session = self.sealing.session.as_mut().ok_or(contract::raw::FAILED)?;
        done(session.message(Message { nonce, aad, input: plain, output: &mut *out, tag }))?;
        if self.recipe.sum.is_some_and(Sum::is_mac) {
            self.authenticate(at, nonce, out, sum)?;
        }
        Ok(())
    }

    /// Decrypts a page, if what is stored beside it fits.
    pub fn unseal(
        &mut self,
        at: &Position,
        cipher: &[u8],
        beside: &[u8],
        out: &mut [u8],
    ) -> Result<(), Refusal> {
        let Some(algorithm) = self.algorithm else {
            out.copy_from_slice(cipher);
            return Ok(());
        };
        if self.recipe.zero_passes && cipher[..32].iter().all(|b| *b == 0) {
            out.copy_from_slice(cipher);
            return Ok(());
        }
        self.use_key_of(Direction::Decrypt, at).map_err(Refusal::Failed)?;
        let (stored, rest) = beside.split_at(self.stored);
        let (tag, sum) = rest.split_at(algorithm.tag_len);
        let nonce = self.nonce(at, stored);
        let nonce = &nonce[..algorithm.nonce_len];
        if self.recipe.sum.is_some_and(Sum::is_mac) {
            let mut own = [0; 64];
            let own = &mut own[..sum.len()];
            self.authenticate(at, nonce, cipher, own).map_err(Refusal::Failed)?;
            if !bool::from(own.ct_eq(sum)) {
                let zero = |bytes: &[u8]| bytes.iter().all(|b| *b == 0);
                if self.recipe.zero_page_passes && zero(cipher) && zero(beside) {
                    out.fill(0);
                    return Ok(());
                }
                return Err(Refusal::Noticed);
            }
        }
        let place = self.place(at);
        let place = &place.0[..place.1];
        let aad = if algorithm.takes_aad() { place } else { &[] };
        // Sessions take a tag that they could write to.
        let mut given = [0; 64];
        let given = &mut given[..algorithm.tag_len];
        given.copy_from_slice(tag);
        let session =
            self.opening.session.as_mut().ok_or(Refusal::Failed(contract::raw::FAILED))?;
        let message = Message { nonce, aad, input: cipher, output: &mut *out, tag: given };
        match done(session.message(message)) {
            Ok(()) => {}
            Err(contract::raw::REJECTED) => return Err(Refusal::Noticed),
            Err(code) => return Err(Refusal::Failed(code)),
        }
        if let Some(kind @ (Sum::Xxh3 | Sum::Crc32c)) = self.recipe.sum {
            let mut own = [0; 8];
            let own = &mut own[..sum.len()];
            checksum(kind, place, out, own);
            if own != sum {
                return Err(Refusal::Noticed);
            }
        }
        Ok(())
    }

    /// What anyone can work out anew: the checksum of a plaintext at a place, written where it is
    /// stored.
    pub fn forge_checksum(&self, at: &Position, plain: &[u8], beside: &mut [u8]) {
        if let Some(kind @ (Sum::Xxh3 | Sum::Crc32c)) = self.recipe.sum {
            let place = self.place(at);
            let from = beside.len() - kind.bytes();
            checksum(kind, &place.0[..place.1], plain, &mut beside[from..]);
        }
    }

    fn authenticate(
        &mut self,
        at: &Position,
        nonce: &[u8],
        cipher: &[u8],
        tag: &mut [u8],
    ) -> Result<(), i32> {
        let mut room = [0; LONGEST_PLACE];
        let mut place: &[u8] = &[];
        for part in &self.recipe.mac {
            if let MacPart::Place(fields) = part {
                let len = fields.iter().map(|f| f.bytes()).sum::<usize>();
                write_fields(fields, at, self.page_size, &mut room[..len]);
                place = &room[..len];
            }
        }
        let mut parts: [&[u8]; 3] = [&[]; 3];
        for (to, part) in parts.iter_mut().zip(&self.recipe.mac) {
            *to = match part {
                MacPart::Nonce => nonce,
                MacPart::Place(_) => place,
                MacPart::Ciphertext => cipher,
            };
        }
        let count = self.recipe.mac.len().min(3);
        let mac = self.mac.as_mut().ok_or(contract::raw::FAILED)?;
        mac.tag(&parts[..count], tag)
    }

    /// Draws a nonce into what is stored of it.
    #[inline]
    fn draw(&self, at: &Position, draw: Draw, stored: &mut [u8]) -> Result<(), i32> {
        match draw {
            Draw::System => {
                // Up to 256 bytes come whole, and never late once the system has started
                // (getrandom(2)).
                let flags = rustix::rand::GetRandomFlags::empty();
                let got = rustix::rand::getrandom(&mut *stored, flags);
                if got != Ok(stored.len()) {
                    return Err(contract::raw::FAILED);
                }
            }
            Draw::Fixed(seed) => {
                let place = at.to_bytes();
                for (i, to) in stored.chunks_mut(16).enumerate() {
                    let word = xxh3_128_with_seed(&place, seed ^ i as u64).to_le_bytes();
                    to.copy_from_slice(&word[..to.len()]);
                }
            }
        }
        if self.algorithm.is_some_and(|a| a.mode == Mode::Ctr)
            && let Some(counter) = stored.get_mut(14..)
        {
            counter.fill(0);
        }
        Ok(())
    }

    /// The nonce that a page at this place is read with.
    #[inline]
    fn nonce(&self, at: &Position, stored: &[u8]) -> [u8; LONGEST_NONCE] {
        let mut nonce = [0; LONGEST_NONCE];
        match &self.recipe.nonce {
            NonceRule::None => {}
            NonceRule::Random | NonceRule::Lsn(_) => nonce[..stored.len()].copy_from_slice(stored),
            NonceRule::Place(fields) => write_fields(fields, at, self.page_size, &mut nonce),
            NonceRule::MaskedPlace(fields) => {
                write_fields(fields, at, self.page_size, &mut nonce);
                let file = Position { block: 0, version: 0, fork: 0, ..*at };
                let mask = xxh3_128_with_seed(&file.to_bytes(), self.mask).to_le_bytes();
                nonce.iter_mut().zip(mask).for_each(|(n, m)| *n ^= m);
            }
        }
        nonce
    }

    /// The place that is bound.
    #[inline]
    fn place(&self, at: &Position) -> Place {
        let mut room = [0; LONGEST_PLACE];
        let len = self.recipe.bound.iter().copied().map(Field::bytes).sum();
        write_fields(&self.recipe.bound, at, self.page_size, &mut room[..len]);
        (room, len)
    }
}

/// A key with its first eight bytes changed: another key, made in no time.
fn changed(key: &[u8], by: u64) -> Vec<u8> {
    let mut key = key.to_vec();
    key.iter_mut().zip(by.to_le_bytes()).for_each(|(k, b)| *k ^= b);
    key
}
