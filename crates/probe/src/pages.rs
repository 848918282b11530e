//! One scheme of a store in one library: pages in, ciphertext and what is stored beside it out, and back; and
//! the sums beside the ciphertext.
//!
//! What is done to a page within the clock.

use crate::clock::Clock;
use base::model::{Algorithm, Direction, Mode};
use contract::{Library, Message, OpenError, Outcome, Session};
use hmac::{Hmac, KeyInit as _, Mac as _};
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
    /// The library's own generator, or the system's, a call for each.
    Unforeseen,
    /// A seed and the page's place: the same in every library.
    Fixed(u64),
}

/// Why a page did not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The tag or the sum does not fit.
    Noticed,
    Failed(i32),
}

/// A session in one direction and the file whose key is set.
struct Side {
    session: Option<Session>,
    direction: Direction,
    file: Option<KeyedFile>,
}

/// As [`Position::file`].
type KeyedFile = (u32, u32, u32, u8);

/// Keys of one page alone.
struct PageKeys {
    cipher: Vec<u8>,
    mac: Vec<u8>,
}

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
    /// What nonces are drawn from, where the library has a generator of its own.
    generator: Option<Session>,
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
        let generator = recipe.generator.as_deref().map(|name| {
            let generator = Algorithm::find(name).map_err(|e| OpenError::Failed(e.to_string()))?;
            library.open(generator, Direction::Generate, &[])
        });
        let generator = generator.transpose()?;
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
            generator,
        };
        codec.reset()?;
        Ok(codec)
    }

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

    pub fn metadata_bytes(&self) -> usize {
        self.recipe.metadata_bytes()
    }

    pub fn sum_by(&self) -> Option<&'static str> {
        let sum = self.recipe.sum?;
        Some(self.mac.as_ref().map_or_else(|| checksum_by(sum), Maker::by))
    }

    /// The keys of this page alone: deriving them is no part of what is timed.
    fn keys_of(&self, at: &Position) -> PageKeys {
        let change = xxh3_64_with_seed(&at.to_bytes(), self.mask);
        PageKeys { cipher: changed(&self.key, change), mac: changed(&self.mac_key, change) }
    }

    /// Sets a key of this page's own, as a store with a key for each page would; MAC included.
    fn rekey(&mut self, direction: Direction, at: &Position, keys: &PageKeys) -> Result<(), i32> {
        self.set_key(direction, &keys.cipher)?;
        if self.recipe.key == KeyScope::File {
            // It stands in the place of the file's: that one is not set over it.
            let file = Some(self.keyed_file(at));
            self.side(direction).file = file;
        }
        if let (Some(sum), Some(mac)) = (self.recipe.sum, self.mac.take()) {
            self.mac = mac.rekeyed(self.library, sum, &keys.mac);
        }
        Ok(())
    }

    /// Encrypts a page within the clock, with a key of its own where asked for: the ticks.
    pub fn seal_timed(
        &mut self,
        clock: &Clock,
        own_key: bool,
        at: &Position,
        plain: &[u8],
        out: &mut [u8],
        beside: &mut [u8],
    ) -> Result<u64, i32> {
        let keys = own_key.then(|| self.keys_of(at));
        let (ticks, result) = clock.time(|| {
            if let Some(keys) = &keys {
                self.rekey(Direction::Encrypt, at, keys)?;
            }
            self.seal(at, plain, out, beside, Draw::Unforeseen)
        });
        result.map(|()| ticks)
    }

    /// Decrypts a page within the clock, with a key of its own where asked for: the ticks.
    pub fn unseal_timed(
        &mut self,
        clock: &Clock,
        own_key: bool,
        at: &Position,
        cipher: &[u8],
        beside: &[u8],
        out: &mut [u8],
    ) -> Result<u64, Refusal> {
        let keys = own_key.then(|| self.keys_of(at));
        let (ticks, result) = clock.time(|| {
            if let Some(keys) = &keys {
                self.rekey(Direction::Decrypt, at, keys).map_err(Refusal::Failed)?;
            }
            self.unseal(at, cipher, beside, out)
        });
        result.map(|()| ticks)
    }

    fn set_key(&mut self, direction: Direction, key: &[u8]) -> Result<(), i32> {
        let (Some(algorithm), library) = (self.algorithm, self.library) else { return Ok(()) };
        match &mut self.side(direction).session {
            Some(session) if session.has_rekey() => done(session.rekey(key)),
            // What an application does with a library that has no call for it.
            session => {
                *session = None;
                let opened = library.open(algorithm, direction, key);
                *session = Some(opened.map_err(|_| contract::raw::FAILED)?);
                Ok(())
            }
        }
    }

    fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Decrypt => &mut self.opening,
            _ => &mut self.sealing,
        }
    }

    /// The file that a page's key is of.
    fn keyed_file(&self, at: &Position) -> KeyedFile {
        let (space, database, relation, fork) = at.file();
        // pg_tde's keys are relations'.
        (space, database, relation, if self.recipe.zero_passes { 0 } else { fork })
    }

    /// The key of the page's file, where files have keys of their own.
    #[inline]
    fn use_key_of(&mut self, direction: Direction, at: &Position) -> Result<(), i32> {
        if self.recipe.key == KeyScope::Store {
            return Ok(());
        }
        let of_page = self.keyed_file(at);
        if self.side(direction).file == Some(of_page) {
            return Ok(());
        }
        let (space, database, relation, fork) = of_page;
        let of_file = Position { space, database, relation, fork, ..Position::default() };
        let key = changed(&self.key, xxh3_64_with_seed(&of_file.to_bytes(), self.mask));
        self.set_key(direction, &key)?;
        self.side(direction).file = Some(of_page);
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
        if self.recipe.nonce == NonceRule::Random {
            self.draw(at, draw, stored)?;
        } else if let NonceRule::Lsn(fields) = &self.recipe.nonce {
            write_fields(fields, at, self.page_size, stored);
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

    #[inline]
    fn draw(&mut self, at: &Position, draw: Draw, stored: &mut [u8]) -> Result<(), i32> {
        match (draw, &mut self.generator) {
            (Draw::Unforeseen, Some(generator)) => {
                // A length, which is all of the message that counts.
                let input = &[0; LONGEST_NONCE][..stored.len()];
                let (nonce, aad, output, tag) = (&[], &[], &mut *stored, &mut []);
                done(generator.message(Message { nonce, aad, input, output, tag }))?;
            }
            (Draw::Unforeseen, None) => {
                // Up to 256 bytes come whole, and never late once the system has started
                // (getrandom(2)).
                let flags = rustix::rand::GetRandomFlags::empty();
                let got = rustix::rand::getrandom(&mut *stored, flags);
                if got != Ok(stored.len()) {
                    return Err(contract::raw::FAILED);
                }
            }
            (Draw::Fixed(seed), _) => {
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

// Sums beside the ciphertext: MACs by the library itself where it takes a message in parts, else by
// code that is built in; checksums always by that. The record says which.

/// What makes a MAC.
enum Maker {
    Library(Session),
    Sha1(Hmac<sha1::Sha1>),
    Sha256(Hmac<sha2::Sha256>),
    Sha512(Hmac<sha2::Sha512>),
}

/// Bytes of a MAC's key: as long as its output (RFC 2104 §3).
fn key_bytes(sum: Sum) -> usize {
    if sum.is_mac() { sum.bytes() } else { 0 }
}

impl Maker {
    /// For a MAC; `None` for a checksum.
    fn open(library: &'static dyn Library, sum: Sum, key: &[u8]) -> Option<Self> {
        if !sum.is_mac() {
            return None;
        }
        let own = Algorithm::find(sum.name()).ok().and_then(|algorithm| {
            let session = library.open(algorithm, Direction::Digest, key).ok()?;
            session.has_parts().then_some(Self::Library(session))
        });
        own.or_else(|| Self::built_in(sum, key))
    }

    fn built_in(sum: Sum, key: &[u8]) -> Option<Self> {
        match sum {
            Sum::HmacSha1 => Hmac::new_from_slice(key).ok().map(Self::Sha1),
            Sum::HmacSha256 => Hmac::new_from_slice(key).ok().map(Self::Sha256),
            Sum::HmacSha512 => Hmac::new_from_slice(key).ok().map(Self::Sha512),
            Sum::Xxh3 | Sum::Crc32c => None,
        }
    }

    fn rekeyed(self, library: &'static dyn Library, sum: Sum, key: &[u8]) -> Option<Self> {
        match self {
            Self::Library(mut session) if session.has_rekey() => {
                (session.rekey(key) == Outcome::Done).then_some(Self::Library(session))
            }
            Self::Library(session) => {
                // Closed first: an application has one context at a time.
                drop(session);
                Self::open(library, sum, key)
            }
            _ => Self::built_in(sum, key),
        }
    }

    fn tag(&mut self, parts: &[&[u8]], tag: &mut [u8]) -> Result<(), i32> {
        match self {
            Self::Library(session) => {
                done(session.start(&[]))?;
                for part in parts {
                    done(session.update_digest(part))?;
                }
                return done(session.finish(tag));
            }
            Self::Sha1(mac) => {
                tag.copy_from_slice(&fed(mac.clone(), parts).finalize().into_bytes())
            }
            Self::Sha256(mac) => {
                tag.copy_from_slice(&fed(mac.clone(), parts).finalize().into_bytes());
            }
            Self::Sha512(mac) => {
                tag.copy_from_slice(&fed(mac.clone(), parts).finalize().into_bytes());
            }
        }
        Ok(())
    }

    /// Whose code it is.
    fn by(&self) -> &'static str {
        match self {
            Self::Library(_) => "the library",
            Self::Sha1(_) => "built in: hmac, sha1 (RustCrypto)",
            Self::Sha256(_) | Self::Sha512(_) => "built in: hmac, sha2 (RustCrypto)",
        }
    }
}

/// Whose code makes a checksum.
fn checksum_by(sum: Sum) -> &'static str {
    match sum {
        Sum::Crc32c => "built in: crc32c",
        _ => "built in: twox-hash",
    }
}

fn fed<M: hmac::Mac>(mut mac: M, parts: &[&[u8]]) -> M {
    parts.iter().for_each(|part| mac.update(part));
    mac
}

fn done(outcome: Outcome) -> Result<(), i32> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Rejected => Err(contract::raw::REJECTED),
        Outcome::Error(code) => Err(code),
    }
}

/// A checksum of the plaintext that knows the page's place, little-endian.
#[inline]
fn checksum(sum: Sum, place: &[u8], plain: &[u8], out: &mut [u8]) {
    use twox_hash::XxHash3_64;
    match sum {
        Sum::Crc32c => {
            let crc = crc32c::crc32c_append(crc32c::crc32c(place), plain);
            out.copy_from_slice(&crc.to_le_bytes());
        }
        _ => {
            let seed = XxHash3_64::oneshot(place);
            out.copy_from_slice(&XxHash3_64::oneshot_with_seed(seed, plain).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Identity, Operations, Table, raw};
    use record::at_rest::scheme::profile;
    use std::sync::atomic::{AtomicU32, Ordering};

    static KEYS_SET: AtomicU32 = AtomicU32::new(0);

    /// A cipher that adds its key's first byte.
    struct Adding(u8);

    impl Operations for Adding {
        unsafe fn message(&mut self, m: &raw::Message) -> i32 {
            for i in 0..m.len {
                // SAFETY: both have as many bytes (`include/ciphermark.h`).
                unsafe { *m.output.add(i) = (*m.input.add(i)).wrapping_add(self.0) };
            }
            raw::OK
        }

        unsafe fn rekey(&mut self, key: *const u8) -> i32 {
            KEYS_SET.fetch_add(1, Ordering::Relaxed);
            // SAFETY: keys have bytes.
            self.0 = unsafe { *key };
            raw::OK
        }
    }

    struct Adds(Identity);

    impl Library for Adds {
        fn identity(&self) -> &Identity {
            &self.0
        }

        fn open(
            &self,
            algorithm: &'static Algorithm,
            direction: Direction,
            key: &[u8],
        ) -> Result<Session, OpenError> {
            let raw = Table::new(Adding(key[0]), 0, c"").rekeys(c"").raw();
            // SAFETY: the functions keep to the message's length.
            Ok(unsafe { Session::new(raw, algorithm, direction) })
        }
    }

    #[test]
    fn a_page_with_a_key_of_its_own_has_one_key_set_whatever_file_it_is_of() {
        let library = Box::leak(Box::new(Adds(Identity::default())));
        let recipe = &profile("fscrypt").unwrap().recipes[0];
        let mut codec = Codec::open(library, recipe, 512, 1).unwrap();
        let clock = Clock::calibrate();
        let (plain, mut sealed) = ([7; 512], [0; 512]);
        let mut keys = std::collections::BTreeSet::new();
        for page in 0..8_u32 {
            let at = Position { relation: page % 2, block: page, ..Position::default() };
            codec.seal_timed(&clock, true, &at, &plain, &mut sealed, &mut []).unwrap();
            keys.insert(sealed[0]);
        }
        assert_eq!(KEYS_SET.load(Ordering::Relaxed), 8);
        assert!(keys.len() > 2, "they are the pages' keys, not the files': {keys:?}");
    }

    #[test]
    fn parts_give_the_mac_of_the_whole() {
        for sum in [Sum::HmacSha1, Sum::HmacSha256, Sum::HmacSha512] {
            let mut mac = Maker::built_in(sum, &vec![7; key_bytes(sum)]).unwrap();
            let (mut whole, mut parts) = (vec![0; sum.bytes()], vec![0; sum.bytes()]);
            mac.tag(&[b"page and place"], &mut whole).unwrap();
            mac.tag(&[b"page ", b"and", b" place"], &mut parts).unwrap();
            assert_eq!(whole, parts);
            assert_ne!(whole, vec![0; sum.bytes()]);
        }
    }

    /// RFC 2202, test case 1 with its key; RFC 4231, test case 1 likewise.
    #[test]
    fn built_in_macs_are_those_of_the_rfcs() {
        let mut tag = [0; 20];
        Maker::built_in(Sum::HmacSha1, &[0x0b; 20]).unwrap().tag(&[b"Hi There"], &mut tag).unwrap();
        assert_eq!(hex::encode(tag), "b617318655057264e28bc0b6fb378c8ef146be00");
        let mut tag = [0; 32];
        Maker::built_in(Sum::HmacSha256, &[0x0b; 20])
            .unwrap()
            .tag(&[b"Hi There"], &mut tag)
            .unwrap();
        assert_eq!(hex::encode(&tag[..8]), "b0344c61d8db3853");
    }

    #[test]
    fn checksums_know_place_and_content() {
        let of = |sum: Sum, place: &[u8], plain: &[u8]| {
            let mut out = vec![0; sum.bytes()];
            checksum(sum, place, plain, &mut out);
            out
        };
        for sum in [Sum::Xxh3, Sum::Crc32c] {
            assert_ne!(of(sum, b"a", b"x"), of(sum, b"b", b"x"));
            assert_ne!(of(sum, b"a", b"x"), of(sum, b"a", b"y"));
        }
    }
}
