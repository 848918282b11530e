//! What the loops of `arch` are handed, laid out as their assembly reads it: the ring of descriptors, the
//! keys beside it, and the walk through memory.
//!
//! The ring of descriptors that a batch of messages walks round.

use contract::raw;
use contract::raw::{MessageFn, RekeyFn};
use std::ffi::c_void;

/// Descriptors in the ring. A nonce is raised right after its use, so it has rested for fifteen
/// operations when a library reads it again: were it written just before, the library's 16-byte
/// load behind our 8-byte store would wait for the store to reach the cache (a failed store
/// forward, a dozen cycles that no application pays). Sixteen descriptors are 2 KiB of cache.
pub(crate) const RING: usize = 16;

/// A descriptor: what one call gets, and its nonce.
#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) message: raw::Message,
    /// The first eight bytes are the counter, little-endian, that makes nonces fresh; 64 bytes
    /// hold any nonce.
    pub(crate) nonce: [u8; 64],
}

/// Bytes of a ring: a power of two, and what it is aligned to, so that the next descriptor is found
/// by masking.
pub(crate) const RING_BYTES: usize = RING * SLOT_BYTES;
/// Bytes of a descriptor.
pub(crate) const SLOT_BYTES: usize = size_of::<Slot>();
/// Where a descriptor's nonce begins.
pub(crate) const NONCE_AT: usize = std::mem::offset_of!(Slot, nonce);

#[repr(C, align(2048))]
pub(crate) struct Ring(pub(crate) [Slot; RING]);

const _: () = assert!(RING_BYTES == 2048 && align_of::<Ring>() == RING_BYTES);
// The loops take a descriptor for its message, and its counter for a number.
const _: () = assert!(std::mem::offset_of!(Slot, message) == 0 && NONCE_AT.is_multiple_of(8));

impl Slot {
    pub(crate) fn new(input: &[u8], output: &mut [u8]) -> Self {
        let message = raw::Message {
            nonce: std::ptr::null(),
            aad: std::ptr::null(),
            aad_len: 0,
            input: input.as_ptr(),
            len: input.len(),
            output: output.as_mut_ptr(),
            tag: std::ptr::null_mut(),
        };
        Self { message, nonce: [0; 64] }
    }

    fn counter(&mut self) -> &mut [u8; 8] {
        self.nonce.first_chunk_mut().expect("a nonce slot has 64 bytes")
    }

    #[inline(always)]
    pub(crate) fn raise_nonce(&mut self, by: u64) {
        let counter = self.counter();
        *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
    }
}

// What the loops do that need more than a function and a ring: walk through memory, set keys.

/// A walk through places of memory, in an order that no prefetcher foresees: place number `n + 1`
/// is `n * factor + summand` modulo the number of places, a power of two. Such a sequence visits
/// each place once before it comes back (T. E. Hull and A. R. Dobell, SIAM Review 4 (1962) 230-254:
/// the summand odd, the factor one more than a multiple of four), and modulo any smaller power of
/// two it goes round just so, which is how places and descriptors stay together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// The place that the last operation used.
    pub(crate) place: u64,
    pub(crate) factor: u64,
    pub(crate) summand: u64,
    /// Number of places, less one.
    pub(crate) mask: u64,
    /// Where the first place's input is.
    pub(crate) input: *mut u8,
    pub(crate) input_stride: usize,
    pub(crate) output: *mut u8,
    pub(crate) output_stride: usize,
    pub(crate) tag: *mut u8,
    pub(crate) tag_stride: usize,
}

/// The generator of W. H. Press et al., *Numerical Recipes*, 3rd ed., §7.1.
const FACTOR: u64 = 1_664_525;
const SUMMAND: u64 = 1_013_904_223;

impl Walk {
    /// No walk at all.
    pub(crate) const NONE: Self = Self {
        place: 0,
        factor: FACTOR,
        summand: SUMMAND,
        mask: 0,
        input: std::ptr::null_mut(),
        input_stride: 0,
        output: std::ptr::null_mut(),
        output_stride: 0,
        tag: std::ptr::null_mut(),
        tag_stride: 0,
    };

    /// Whether there is memory to walk through.
    pub(crate) fn is_walked(&self) -> bool {
        !self.input.is_null()
    }

    /// The place before `place`.
    pub(crate) fn before(&self, place: u64) -> u64 {
        place.wrapping_sub(self.summand).wrapping_mul(inverse(self.factor)) & self.mask
    }

    /// The place after `place`.
    pub(crate) fn after(&self, place: u64) -> u64 {
        place.wrapping_mul(self.factor).wrapping_add(self.summand) & self.mask
    }
}

/// What times an odd number is one, modulo 2^64: each of Newton's steps doubles the right bits, and three
/// are right to begin with.
const fn inverse(odd: u64) -> u64 {
    let (mut inverse, mut step) = (odd, 0);
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// What a loop does.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub(crate) call: MessageFn,
    pub(crate) state: *mut c_void,
    /// The descriptor that the next operation uses.
    pub(crate) at: *mut c_void,
    /// What each message is to return.
    pub(crate) expected: i32,
    /// Whether nonces, and keys where they are set, are raised after their use.
    pub(crate) fresh: bool,
    /// Sets a key before each message.
    pub(crate) rekey: Option<RekeyFn>,
    /// From a descriptor to its key, in bytes.
    pub(crate) to_key: usize,
    pub(crate) walk: Walk,
}

/// Bytes of a key's place: as far apart as descriptors are.
pub(crate) const KEY_BYTES: usize = size_of::<Key>();

/// Room for any key. The first eight bytes are a counter, little-endian, that makes keys fresh.
#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub(crate) struct Key(pub(crate) [u8; 128]);

/// The keys of a ring of descriptors: the key of each lies as far from it as all others from theirs.
#[repr(C, align(2048))]
pub(crate) struct Keys(pub(crate) [Key; RING]);

const _: () = assert!(size_of::<Keys>() == RING_BYTES && KEY_BYTES == SLOT_BYTES);

impl Keys {
    /// Raises the counter of a key.
    pub(crate) fn raise(key: &mut [u8], by: u64) {
        if let Some(counter) = key.first_chunk_mut::<8>() {
            *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_walk_visits_every_place_once_and_keeps_its_residues_in_step() {
        for places in [1_u64, 2, 8, 16, 64, 4096] {
            let walk = Walk { mask: places - 1, ..Walk::NONE };
            let mut at = 5 & walk.mask;
            let order: Vec<u64> = (0..places)
                .map(|_| {
                    at = walk.after(at);
                    at
                })
                .collect();
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len() as u64, places);
            let ring = places.min(16) as usize;
            assert!((0..order.len()).all(|i| order[i] % 16 == order[i % ring] % 16), "{places}");
        }
    }

    #[test]
    fn a_walk_can_be_gone_backwards() {
        for mask in [0, 1, 15, 4095, u64::MAX] {
            let walk = Walk { mask, ..Walk::NONE };
            for place in [0, 1, 7, 4094, u64::MAX - 5].map(|place| place & mask) {
                assert_eq!(walk.before(walk.after(place)), place);
            }
        }
    }

    #[test]
    fn a_walk_does_not_step_evenly() {
        let walk = Walk { mask: 4095, ..Walk::NONE };
        let places: Vec<u64> =
            std::iter::successors(Some(0), |p| Some(walk.after(*p))).take(100).collect();
        let steps: BTreeSet<u64> =
            places.windows(2).map(|w| w[1].wrapping_sub(w[0]) & 4095).collect();
        assert!(steps.len() > 90, "{} steps", steps.len());
    }
}
