//! The ring of descriptors that a batch of messages walks round.

use contract::raw;

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
