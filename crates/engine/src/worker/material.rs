//! Keys, nonces and messages of a run, all from its seed: every worker of a run makes the same.

use model::{AAD_LEN, Algorithm, Kind, Mode};
use probe::{MessageSet, messages_for};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use verify::reference::Reference;

/// Key, first nonce, associated data and plaintext of one algorithm.
pub(super) struct Material {
    pub(super) key: Vec<u8>,
    pub(super) nonce: Vec<u8>,
    pub(super) aad: Vec<u8>,
    plain: ChaCha8Rng,
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
        let aad = bytes(if algorithm.kind == Kind::Aead { AAD_LEN } else { 0 });
        if algorithm.mode == Mode::Ctr {
            // A block counter that begins at one behind a nonce of twelve bytes (RFC 3686 §4).
            // Where it begins matters: libraries take a slower path when its low byte overflows.
            nonce[12..].copy_from_slice(&[0, 0, 0, 1]);
        }
        // The counter in the nonce's first eight bytes begins low, so that no run overflows it.
        if let Some(top) = nonce.get_mut(7) {
            *top &= 0x0f;
        }
        Self { key, nonce, aad, plain: rng }
    }

    /// So many bytes of plaintext, the same for every call.
    pub(super) fn plaintext(&self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.plain.clone().fill_bytes(&mut bytes);
        bytes
    }

    /// The first nonce raised by `by` in its first eight bytes, little-endian; shorter nonces stay.
    pub(super) fn nonce_raised(&self, by: u64) -> Vec<u8> {
        let mut nonce = self.nonce.clone();
        if let Some(counter) = nonce.first_chunk_mut::<8>() {
            *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
        }
        nonce
    }

    /// The messages to encrypt (digest, copy), from the given nonce on.
    pub(super) fn plain_set(&self, size: usize, nonce: Vec<u8>) -> MessageSet {
        MessageSet {
            size,
            inputs: self.plaintext(size * messages_for(size)),
            nonces: vec![nonce],
            tags: Vec::new(),
            aad: self.aad.clone(),
        }
    }

    /// The messages to decrypt: the same plaintexts, encrypted by the reference, not by the
    /// library that is measured.
    pub(super) fn cipher_set(
        &self,
        reference: &Reference,
        algorithm: &Algorithm,
        size: usize,
    ) -> MessageSet {
        let plain = self.plaintext(size * messages_for(size));
        let mut set = MessageSet {
            size,
            inputs: vec![0; plain.len()],
            nonces: Vec::new(),
            tags: Vec::new(),
            aad: self.aad.clone(),
        };
        for (i, (input, output)) in
            plain.chunks_exact(size).zip(set.inputs.chunks_exact_mut(size)).enumerate()
        {
            let (nonce, mut tag) = (self.nonce_raised(i as u64), vec![0; algorithm.tag_len]);
            reference.encrypt(&nonce, &self.aad, input, output, &mut tag);
            set.nonces.push(nonce);
            set.tags.push(tag);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_material_and_another_one_another() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let (a, b, c) = (Material::new(1, gcm), Material::new(1, gcm), Material::new(2, gcm));
        assert_eq!((&a.key, &a.nonce, a.plaintext(100)), (&b.key, &b.nonce, b.plaintext(100)));
        assert_ne!(a.key, c.key);
        assert_ne!(a.key, Material::new(1, Algorithm::find("aes-256-ocb").unwrap()).key);
    }

    #[test]
    fn what_is_to_be_decrypted_is_what_was_encrypted() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let m = Material::new(1, gcm);
        let reference = Reference::new(gcm, &m.key);
        let set = m.cipher_set(&reference, gcm, 100);
        let plain = m.plaintext(set.inputs.len());
        for i in 0..set.inputs.len() / 100 {
            let mut out = vec![0; 100];
            let input = &set.inputs[i * 100..][..100];
            assert!(reference.decrypt(&set.nonces[i], &m.aad, input, &mut out, &set.tags[i]));
            assert_eq!(out, plain[i * 100..][..100]);
        }
    }
}
