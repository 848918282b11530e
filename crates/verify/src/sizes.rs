//! The message sizes that checks go through, in bytes. Kernels work in strides of up to a few
//! hundred bytes and finish the rest by other code, so remainders matter more than large sizes.

use crate::inputs::Inputs;
use base::model::{Algorithm, Mode, Primitive};

/// The last size of the sweep: past the widest strides of today's kernels (16 blocks of 16 bytes).
const SWEEP_END: usize = 257;
/// The largest power of two that is checked from both sides.
const LARGEST: usize = 64 << 10;
/// Most bytes that any check puts into one message.
pub(crate) const MAX_LEN: usize = LARGEST + 1;

/// What is checked in every verification, in words.
pub const FIXED_SIZES: &str = "every size from 0 to 257 bytes, and 2^n - 1, 2^n and 2^n + 1 from 511 to 65537 (3DES and CFB8 to 4097, CFB1 to 1025), where the mode defines them";

/// Every size from nothing to past the widest stride.
pub(crate) fn sweep(algorithm: &Algorithm) -> impl Iterator<Item = usize> {
    let rule = algorithm.sizes;
    (0..=SWEEP_END).filter(move |n| rule.allows(*n))
}

/// The largest power of two for an algorithm. Those that libraries do a block, a byte or a bit at a
/// time, at some megabytes a second, have no kernels whose strides a larger one would reach.
fn largest(algorithm: &Algorithm) -> usize {
    match (algorithm.cipher, algorithm.mode) {
        (_, Mode::Cfb1) => 1 << 10,
        (Primitive::TripleDes, _) | (_, Mode::Cfb8) => 4 << 10,
        _ => LARGEST,
    }
}

/// The largest size that is drawn: past first and second-level caches.
const LARGEST_DRAWN: usize = 1 << 20;
/// Sizes that are drawn for each algorithm.
const DRAWN: usize = 6;

/// Sizes for one verification alone, between the sweep and 1 MiB, each octave as likely as another. Slow
/// algorithms end sooner, as for [`large`].
pub(crate) fn drawn(algorithm: &Algorithm, inputs: &mut Inputs) -> Vec<usize> {
    let end = LARGEST_DRAWN / (LARGEST / largest(algorithm));
    (0..DRAWN).map(|_| inputs.size(SWEEP_END + 1, end)).collect()
}

/// The longest of the messages that thousands of calls are made with.
pub(crate) fn short(algorithm: &Algorithm) -> usize {
    largest(algorithm) / 64
}

/// Around every power of two past the sweep.
pub(crate) fn large(algorithm: &Algorithm) -> impl Iterator<Item = usize> {
    let (rule, largest) = (algorithm.sizes, largest(algorithm));
    std::iter::successors(Some(512), |n| Some(n * 2))
        .take_while(move |n| *n <= largest)
        .flat_map(|n| [n - 1, n, n + 1])
        .filter(move |n| rule.allows(*n))
}

/// The longest message that every interface takes: IPsec-MB's jobs count bytes in 16 bits, and it
/// reports an error beyond.
const COMMON_LEN: usize = 65_534;
/// The longest associated data that every interface takes: IPsec-MB's CCM ends at 46 bytes, Botan's and
/// that of mbedTLS 2 at the last length that CCM writes in two bytes (NIST SP 800-38C A.2.2).
const COMMON_AAD_LEN: usize = 0xfeff;
const COMMON_CCM_AAD_LEN: usize = 46;

/// Whether an interface may report an error for a message so long, or with so much associated data,
/// where others give the answer. A wrong answer is one at any length.
#[must_use]
pub fn may_be_refused(algorithm: &Algorithm, len: usize, aad_len: usize) -> bool {
    let aad = if algorithm.mode == Mode::Ccm { COMMON_CCM_AAD_LEN } else { COMMON_AAD_LEN };
    len > COMMON_LEN || aad_len > aad
}

/// A few sizes that reach every part of a kernel: less than a block, blocks, wide strides, rests.
pub(crate) fn few(algorithm: &Algorithm) -> impl Iterator<Item = usize> {
    let rule = algorithm.sizes;
    [0, 1, 15, 16, 17, 31, 48, 64, 100, 128, 255, 256, 257, 512, 1000, 1024, 4096, 4097]
        .into_iter()
        .filter(move |n| rule.allows(*n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn algorithm(name: &str) -> &'static Algorithm {
        Algorithm::find(name).unwrap()
    }

    #[test]
    fn every_size_of_the_sweep_and_around_every_power_is_there() {
        let gcm = algorithm("aes-128-gcm");
        assert_eq!(sweep(gcm).collect::<Vec<_>>(), (0..=257).collect::<Vec<_>>());
        let large: Vec<_> = large(gcm).collect();
        assert_eq!(large[..3], [511, 512, 513]);
        assert_eq!(large[large.len() - 3..], [65535, 65536, 65537]);
        assert_eq!(large.len(), 8 * 3);
        assert_eq!(large.iter().max(), Some(&MAX_LEN));
    }

    #[test]
    fn sizes_that_an_algorithm_does_not_define_are_left_out() {
        assert!(sweep(algorithm("aes-128-cbc")).all(|n| n.is_multiple_of(16)));
        assert!(large(algorithm("aes-128-cbc")).all(|n| n.is_power_of_two()));
        assert_eq!(sweep(algorithm("aes-128-xts")).next(), Some(16));
        assert_eq!(few(algorithm("aes-128-xts")).next(), Some(16));
    }

    #[test]
    fn drawn_sizes_come_from_the_seed_lie_beyond_the_sweep_and_are_defined() {
        let draw = |algorithm, seed| drawn(algorithm, &mut Inputs::drawn(algorithm, "test", seed));
        for algorithm in Algorithm::all() {
            for seed in 0..20 {
                let sizes = draw(algorithm, seed);
                assert_eq!((sizes.len(), &sizes), (DRAWN, &draw(algorithm, seed)));
                let fits = |n: &usize| (SWEEP_END + 1..=LARGEST_DRAWN).contains(n);
                assert!(sizes.iter().all(fits), "{algorithm} {sizes:?}");
                assert!(sizes.iter().all(|n| algorithm.sizes.allows(*n)), "{algorithm} {sizes:?}");
            }
        }
        let gcm = algorithm("aes-128-gcm");
        assert_ne!(draw(gcm, 1), draw(gcm, 2));
        let all: Vec<usize> = (0..100).flat_map(|seed| draw(gcm, seed)).collect();
        for from in (9..20).map(|n| 1 << n) {
            let octave = all.iter().filter(|n| (from..2 * from).contains(*n)).count();
            assert!((20..90).contains(&octave), "{octave} of 600 from {from} on");
        }
    }
}
