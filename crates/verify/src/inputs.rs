//! Seeded inputs: the same for every library, so that what they compute can be compared.

use crate::example::Example;
use crate::reference::Reference;
use base::model::{Algorithm, SizeRule};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A stream of pseudo-random bytes, fixed by the algorithm and the name of the check.
pub(crate) struct Inputs {
    algorithm: &'static Algorithm,
    generator: ChaCha8Rng,
}

impl Inputs {
    /// The stream of one check.
    pub(crate) fn new(algorithm: &'static Algorithm, check: &str) -> Self {
        Self::seeded(
            algorithm,
            &[b"ciphermark inputs 1", algorithm.name.as_bytes(), check.as_bytes()],
        )
    }

    /// A stream that the seed fixes as well: what no library can have seen before.
    pub(crate) fn drawn(algorithm: &'static Algorithm, check: &str, seed: u64) -> Self {
        let (name, seed) = (algorithm.name.as_bytes(), seed.to_le_bytes());
        Self::seeded(algorithm, &[b"ciphermark drawn inputs 1", name, check.as_bytes(), &seed])
    }

    fn seeded(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Self {
        let seed = Sha256::digest(parts.join(&0));
        Self { algorithm, generator: ChaCha8Rng::from_seed(seed.into()) }
    }

    /// The algorithm that the inputs are for.
    pub(crate) fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// A number below `end`, which is at least 1. The bias of the remainder is below one in a million for the
    /// few thousands that checks choose from.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.generator.next_u32() as usize % end
    }

    /// A byte.
    pub(crate) fn byte(&mut self) -> u8 {
        self.generator.next_u32() as u8
    }

    /// A message size between the two bounds that the algorithm defines, each octave as likely as another.
    pub(crate) fn size(&mut self, from: usize, to: usize) -> usize {
        let share = f64::from(self.generator.next_u32()) / (f64::from(u32::MAX) + 1.0);
        let (low, high) = ((from as f64).log2(), ((to + 1) as f64).log2());
        let size = (low + share * (high - low)).exp2() as usize;
        match self.algorithm.sizes {
            SizeRule::MultipleOf(n) => size.next_multiple_of(n),
            SizeRule::AtLeast(n) => size.max(n),
            SizeRule::LessThan(n) => size.min(n - 1),
            SizeRule::Any => size,
        }
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.generator.fill_bytes(&mut bytes);
        bytes
    }

    /// A key.
    pub(crate) fn key(&mut self) -> Vec<u8> {
        self.bytes(self.algorithm.key_len)
    }

    /// A message of `len` bytes with the reference's answer. Only authenticated algorithms get
    /// associated data.
    pub(crate) fn example(&mut self, reference: &Reference, len: usize, aad_len: usize) -> Example {
        let nonce = self.bytes(self.algorithm.nonce_len);
        self.example_under(reference, nonce, len, aad_len)
    }

    /// As [`Inputs::example`], under a nonce of the caller's.
    pub(crate) fn example_under(
        &mut self,
        reference: &Reference,
        nonce: Vec<u8>,
        len: usize,
        aad_len: usize,
    ) -> Example {
        let aad = self.bytes(if self.algorithm.takes_aad() { aad_len } else { 0 });
        let plaintext = self.bytes(len);
        Example::solve(reference, nonce, aad, plaintext)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_fixed_by_algorithm_and_check() {
        let bytes =
            |algorithm, check| Inputs::new(Algorithm::find(algorithm).unwrap(), check).bytes(16);
        assert_eq!(bytes("aes-128-ctr", "reference"), bytes("aes-128-ctr", "reference"));
        assert_ne!(bytes("aes-128-ctr", "reference"), bytes("aes-192-ctr", "reference"));
        assert_ne!(bytes("aes-128-ctr", "reference"), bytes("aes-128-ctr", "stream"));
    }
}
