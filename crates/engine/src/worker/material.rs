//! Keys, nonces and messages of a run, all from its seed: every worker of a run makes the same keys
//! and messages.

use crate::protocol::Visit;
use base::model::{AAD_LEN, Algorithm, Mode, Model};
use contract::raw;
use probe::MessageSet;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use verify::reference::Reference;

/// Key, first nonce and associated data of one algorithm.
pub(super) struct Material {
    pub(super) key: Vec<u8>,
    pub(super) nonce: Vec<u8>,
    pub(super) aad: Vec<u8>,
}

impl Material {
    pub(super) fn new(seed: u64, algorithm: &Algorithm) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // A stream of its own for each algorithm, found by its name.
        rng.set_stream(xxhash_rust::xxh3::xxh3_64(algorithm.name.as_bytes()));
        let mut bytes = |len: usize| {
            let mut bytes = vec![0; len];
            rng.fill_bytes(&mut bytes);
            bytes
        };
        let (key, mut nonce) = (bytes(algorithm.key_len), bytes(algorithm.nonce_len));
        let aad = bytes(if algorithm.takes_aad() { AAD_LEN } else { 0 });
        if algorithm.mode == Mode::Ctr
            && let Some(counter) = nonce.get_mut(12..)
        {
            // A block counter that begins at one behind a nonce of twelve bytes (RFC 3686 §4), where
            // blocks have sixteen. Where it begins matters: libraries take a slower path when its low
            // byte overflows.
            counter.copy_from_slice(&[0, 0, 0, 1]);
        }
        // The counter in the nonce's first eight bytes begins low, so that no run overflows it.
        if let Some(top) = nonce.get_mut(7) {
            *top &= 0x0f;
        }
        Self { key, nonce, aad }
    }

    /// The first nonce raised by `by` in its first eight bytes, little-endian; shorter nonces stay.
    pub(super) fn nonce_raised(&self, by: u64) -> Vec<u8> {
        let mut nonce = self.nonce.clone();
        if let Some(counter) = nonce.first_chunk_mut::<8>() {
            *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
        }
        nonce
    }

    /// The key raised by `by` in its first eight bytes, little-endian; shorter keys stay.
    pub(super) fn key_raised(&self, by: u64) -> Vec<u8> {
        let mut key = self.key.clone();
        if let Some(counter) = key.first_chunk_mut::<8>() {
            *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
        }
        key
    }

    /// Ciphertexts of the messages of `size` bytes that `plain` is made of: encrypted by the
    /// reference, not by the library that is measured; with `rekeyed` each under a key of its own.
    pub(super) fn encrypted(
        &self,
        reference: &Reference,
        size: usize,
        plain: &[u8],
        rekeyed: bool,
    ) -> Ciphertexts {
        self.encrypted_from(0, reference, (size, plain), rekeyed)
    }

    /// As [`Material::encrypted`], with nonces and keys raised by `first` before the first message.
    pub(super) fn encrypted_from(
        &self,
        first: u64,
        reference: &Reference,
        (size, plain): (usize, &[u8]),
        rekeyed: bool,
    ) -> Ciphertexts {
        let mut made = Ciphertexts { inputs: vec![0; plain.len()], ..Ciphertexts::default() };
        let outputs = made.inputs.chunks_exact_mut(size);
        for (i, (input, output)) in plain.chunks_exact(size).zip(outputs).enumerate() {
            let number = first + i as u64;
            let nonce = self.nonce_raised(number);
            let mut tag = vec![0; reference.algorithm().tag_len];
            if rekeyed {
                let key = self.key_raised(number);
                Reference::new(reference.algorithm(), &key)
                    .encrypt(&nonce, &self.aad, input, output, &mut tag);
                made.keys.push(key);
            } else {
                reference.encrypt(&nonce, &self.aad, input, output, &mut tag);
            }
            made.nonces.push(nonce);
            made.tags.push(tag);
        }
        made
    }
}

/// What a case of decryption works on.
#[derive(Debug, Default)]
pub(super) struct Ciphertexts {
    /// One after the other.
    pub(super) inputs: Vec<u8>,
    pub(super) nonces: Vec<Vec<u8>>,
    pub(super) tags: Vec<Vec<u8>>,
    /// Of the model `rekey`.
    pub(super) keys: Vec<Vec<u8>>,
}

impl Ciphertexts {
    /// The tags, each with one bit changed, another one in each.
    pub(super) fn forged_tags(&self) -> Vec<Vec<u8>> {
        let forged = self.tags.iter().enumerate().map(|(i, tag)| {
            let mut tag = tag.clone();
            let at = i * 5 % tag.len().max(1);
            if let Some(byte) = tag.get_mut(at) {
                *byte ^= 1 << (i % 8);
            }
            tag
        });
        forged.collect()
    }
}

/// What a batch of whole messages works on.
pub(super) struct Feed<'a> {
    size: usize,
    plain: &'a [u8],
    aad: &'a [u8],
    /// Of decryption.
    made: Option<&'a Ciphertexts>,
    /// Of forgeries.
    forged: Option<Vec<Vec<u8>>>,
    /// To count up from.
    nonce: [Vec<u8>; 1],
    key: Option<[Vec<u8>; 1]>,
}

impl<'a> Feed<'a> {
    /// For a visit; nonces and keys that count up begin `first` above the material's own.
    pub(super) fn new(
        material: &'a Material,
        visit: &Visit,
        (plain, made): (&'a [u8], Option<&'a Ciphertexts>),
        first: u64,
    ) -> Self {
        let forged = made.filter(|_| visit.model == Model::Forgery).map(Ciphertexts::forged_tags);
        let key = (visit.model == Model::Rekey).then(|| [material.key_raised(first)]);
        Self { forged, key, ..Self::of_messages(material, visit.size, (plain, made), first) }
    }

    /// For the model `message`.
    pub(super) fn of_messages(
        material: &'a Material,
        size: usize,
        (plain, made): (&'a [u8], Option<&'a Ciphertexts>),
        first: u64,
    ) -> Self {
        let nonce = [material.nonce_raised(first)];
        Self { size, plain, aad: &material.aad, made, forged: None, nonce, key: None }
    }

    /// With the right tags, whatever the model.
    pub(super) fn authentic(self) -> Self {
        Self { forged: None, ..self }
    }

    /// As the probe takes it: the same few buffers again and again.
    pub(super) fn set(&self) -> MessageSet<'_> {
        let key = self.key.as_ref().map_or([].as_slice(), |key| key);
        let (inputs, nonces, tags, keys) = match self.made {
            Some(made) => {
                let tags = self.forged.as_ref().unwrap_or(&made.tags);
                (&*made.inputs, &*made.nonces, &**tags, &*made.keys)
            }
            None => (self.plain, self.nonce.as_slice(), [].as_slice(), key),
        };
        MessageSet {
            size: self.size,
            inputs,
            nonces,
            tags,
            keys,
            aad: self.aad,
            expected: if self.forged.is_some() { raw::REJECTED } else { raw::OK },
            in_place: false,
            walk: None,
        }
    }
}

/// The run's plaintext: every message is cut from its beginning.
pub(super) struct Plaintext {
    rng: ChaCha8Rng,
    bytes: Vec<u8>,
}

impl Plaintext {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), bytes: Vec::new() }
    }

    /// Its first bytes.
    pub(super) fn first(&mut self, len: usize) -> &[u8] {
        let have = self.bytes.len();
        if have < len {
            self.bytes.resize(len, 0);
            self.rng.fill_bytes(&mut self.bytes[have..]);
        }
        &self.bytes[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_material_and_another_one_another() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let (a, b, c) = (Material::new(1, gcm), Material::new(1, gcm), Material::new(2, gcm));
        assert_eq!((&a.key, &a.nonce), (&b.key, &b.nonce));
        assert_ne!(a.key, c.key);
        assert_ne!(a.key, Material::new(1, Algorithm::find("aes-256-ocb").unwrap()).key);
    }

    #[test]
    fn every_algorithm_has_material_that_is_new_for_each_message() {
        for algorithm in Algorithm::all() {
            let m = Material::new(1, algorithm);
            assert_eq!((m.key.len(), m.nonce.len()), (algorithm.key_len, algorithm.nonce_len));
            let is_counted = algorithm.nonce_len >= 8;
            assert_eq!(m.nonce_raised(1) != m.nonce, is_counted, "{algorithm}");
        }
    }

    #[test]
    fn plaintext_grows_without_changing() {
        let (mut grown, mut whole) = (Plaintext::new(1), Plaintext::new(1));
        let short = grown.first(96).to_vec();
        assert_eq!(grown.first(320)[..96], short);
        assert_eq!(grown.first(320).len(), 320);
        assert_eq!(whole.first(320)[..96], short);
    }

    #[test]
    fn what_is_to_be_decrypted_is_what_was_encrypted() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let m = Material::new(1, gcm);
        let reference = Reference::new(gcm, &m.key);
        let plain: Vec<u8> = (0..=255).cycle().take(400).collect();
        let made = m.encrypted(&reference, 100, &plain, false);
        for i in 0..4 {
            let (mut out, input) = ([0; 100], &made.inputs[i * 100..][..100]);
            assert!(reference.decrypt(&made.nonces[i], &m.aad, input, &mut out, &made.tags[i]));
            assert_eq!(out, plain[i * 100..][..100]);
        }
        assert!(made.nonces[0] != made.nonces[1] && made.inputs[..100] != made.inputs[100..200]);
    }

    #[test]
    fn each_message_of_a_rekeyed_set_has_a_key_of_its_own() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let m = Material::new(1, gcm);
        let reference = Reference::new(gcm, &m.key);
        let made = m.encrypted(&reference, 16, &[7; 64], true);
        assert_eq!(made.keys[0], m.key);
        for i in 0..4 {
            let (mut out, input) = ([0; 16], &made.inputs[i * 16..][..16]);
            let own = Reference::new(gcm, &made.keys[i]);
            assert!(own.decrypt(&made.nonces[i], &m.aad, input, &mut out, &made.tags[i]));
            assert_eq!(
                reference.decrypt(&made.nonces[i], &m.aad, input, &mut out, &made.tags[i]),
                i == 0
            );
        }
    }

    #[test]
    fn a_forged_tag_differs_in_one_bit() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let m = Material::new(1, gcm);
        let made = m.encrypted(&Reference::new(gcm, &m.key), 16, &[7; 256], false);
        for (tag, forged) in made.tags.iter().zip(made.forged_tags()) {
            let bits: u32 = tag.iter().zip(&forged).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!(bits, 1);
        }
    }
}
