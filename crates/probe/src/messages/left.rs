//! What a batch's operations left, and what was there before them.

use super::{APART_BYTES, Memory, MessageBatch, RING};
use crate::arena::LINE;
use crate::control::Keys;
use base::model::Direction;

/// Messages up to this size are poisoned whole where outputs lie apart; of larger ones only the edges.
pub(super) const POISONED_WHOLE: usize = APART_BYTES / 2;

/// What one of the last operations worked on, and what is left of what it wrote.
#[derive(Debug)]
pub struct Done<'b> {
    /// Which of the set's messages.
    pub message: usize,
    /// Its nonce.
    pub nonce: Vec<u8>,
    /// The key that was set before it; of use where keys are set.
    pub key: Vec<u8>,
    /// Its tag.
    pub tag: &'b [u8],
    /// The bytes of its output that no later operation wrote over.
    pub output: &'b [u8],
    /// Where in its output these begin, in bytes.
    pub from: usize,
}

impl MessageBatch<'_> {
    /// The descriptor that the operation used after which there were `back` more.
    fn slot(&self, back: usize) -> usize {
        (self.at + RING - 1 - back) % RING
    }

    /// Overwrites what earlier operations left, so that only the batch can have made it; of large outputs
    /// that lie apart only the edges. On a walk [`Batch::prepare`] does so.
    pub fn poison(&mut self, byte: u8) {
        let (size, whole) = (self.size, self.is_poisoned_whole());
        self.away.poison = Some(byte);
        if let Memory::Ring(output, places) = &mut self.memory {
            if whole {
                output.fill(byte);
            } else {
                for at in places {
                    output[*at..][..LINE].fill(byte);
                    output[*at + size - LINE..][..LINE].fill(byte);
                }
            }
            if self.session.direction() != Direction::Decrypt {
                self.tags.iter_mut().for_each(|tag| tag.fill(byte));
            }
        }
    }

    /// Whether [`MessageBatch::poison`] fills every byte of the outputs.
    #[must_use]
    pub fn is_poisoned_whole(&self) -> bool {
        // As soon as more than two outputs lie apart they are small, unless each message in flight has one.
        self.size <= POISONED_WHOLE || self.flight.is_none() && self.kept(u32::MAX) > 2
    }

    /// The byte that [`Batch::prepare`] fills outputs with.
    #[must_use]
    pub fn poison_byte(&self) -> u8 {
        (self.roll >> 24) as u8
    }

    /// Of how many operations something is left after `ops` of them.
    #[must_use]
    pub fn kept(&self, ops: u32) -> usize {
        let most = match &self.memory {
            Memory::Ring(_, places) => (1..RING).find(|i| places[*i] == places[0]).unwrap_or(RING),
            Memory::Walk(places) => RING.min(places.round() as usize),
        };
        most.min(ops as usize)
    }

    /// What is left of the operation after which there were `back` more, fewer than
    /// [`MessageBatch::kept`].
    #[must_use]
    pub fn done(&self, back: usize) -> Done<'_> {
        let slot = self.slot(back);
        let (output, from, tag) = match &self.memory {
            Memory::Ring(output, places) => {
                let visible = self.visible(back, places);
                let from = visible.start - places[slot];
                let tag = &self.tags[slot][..self.session.algorithm().tag_len];
                (&output[visible], from, tag)
            }
            Memory::Walk(places) => {
                let walk = &self.control.walk;
                let place = (0..back).fold(walk.place, |place, _| walk.before(place)) as usize;
                (places.output(place), 0, places.tag(place))
            }
        };
        let message = slot % self.count;
        Done { message, nonce: self.nonce_of(slot), key: self.key_of(slot), tag, output, from }
    }

    /// Where the output region still has what an operation wrote. All outputs are equally long, so what
    /// begins before it can have covered its beginning alone, and what begins behind it its end.
    fn visible(&self, back: usize, places: &[usize; RING]) -> std::ops::Range<usize> {
        let own = places[self.slot(back)];
        let (mut begin, mut end) = (own, own + self.size);
        for later in 0..back {
            let other = places[self.slot(later)];
            if other <= own {
                begin = begin.max(other + self.size);
            } else {
                end = end.min(other);
            }
        }
        begin.min(end)..end
    }

    /// The nonce that a descriptor was last used with.
    fn nonce_of(&self, slot: usize) -> Vec<u8> {
        let mut slot = self.descriptors.ring.0[slot];
        let len = self.session.algorithm().nonce_len;
        if self.counts() && len >= 8 {
            slot.raise_nonce((RING as u64).wrapping_neg());
        }
        slot.nonce[..len].to_vec()
    }

    /// The key that was last set before a descriptor was used.
    fn key_of(&self, slot: usize) -> Vec<u8> {
        let mut key = self.descriptors.keys.0[slot];
        if self.counts() {
            Keys::raise(&mut key.0, (RING as u64).wrapping_neg());
        }
        key.0[..self.session.algorithm().key_len].to_vec()
    }
}
