//! The `message` model: each timed call is one whole message under a nonce of its own.

use crate::arch;
use crate::arena::{Arena, LINE, PLACES};
use crate::clock::Clock;
use crate::ring::{RING, Ring, Slot};
use crate::sample::{Pace, Taken, bracket, calibrate_ops};
use crate::stacks::Stacks;
use contract::Session;
use model::Direction;
use step::{Stepper, Trace, Unavailable};

/// The most different messages in a set: one for each descriptor.
pub const MAX_MESSAGES: usize = RING;

/// Bytes that the outputs of a ring are spread over.
const SPREAD: usize = LINE * PLACES;

/// Where in the output region a descriptor's output begins: 27 lines further each time, modulo a
/// page. Inputs lie one after the other, so what input and output are apart moves by 27 lines less
/// the message's own: of the steps that leave sixteen well spread distances for every message size
/// from 16 bytes to a page, the lowest-discrepancy one.
const fn output_at(slot: usize) -> usize {
    slot * 27 % PLACES * LINE
}

/// How many different messages of `size` bytes a batch walks through: as many as fit 16 KiB, so
/// that small messages stay in the first-level cache with their output; at least two, so that a
/// library which remembers its last answer gains nothing.
#[must_use]
pub fn messages_for(size: usize) -> usize {
    let fit = ((16 << 10) / size.max(1)).clamp(2, MAX_MESSAGES);
    // The ring holds a set evenly only when its count is a power of two.
    1 << fit.ilog2()
}

/// The messages of a case.
#[derive(Clone, Copy, Debug)]
pub struct MessageSet<'a> {
    /// Bytes in a message.
    pub size: usize,
    /// All inputs, one after the other.
    pub inputs: &'a [u8],
    /// One nonce for each message (decryption), or the nonce to count up from (else).
    pub nonces: &'a [Vec<u8>],
    /// One tag for each message (decryption), or empty.
    pub tags: &'a [Vec<u8>],
    /// Associated data of every message.
    pub aad: &'a [u8],
}

/// A stepped operation: its return code, and what it executed.
pub type Stepped = (i32, Trace);

/// Room for any tag or digest.
type Tag = [u8; 64];

/// A set of messages placed in memory, ready to run.
pub struct MessageBatch<'a> {
    session: &'a mut Session,
    ring: Box<Ring>,
    tags: Box<[Tag; RING]>,
    output: &'a mut [u8],
    stacks: &'a mut Stacks,
    roll: u64,
    size: usize,
    count: usize,
    fresh: bool,
    /// The descriptor that the next operation uses.
    at: usize,
}

impl<'a> MessageBatch<'a> {
    /// Places a set in the arena. `roll` picks the placement; the sixteen descriptors' outputs lie
    /// evenly spread over a page from there on, so that every batch walks through sixteen relative
    /// placements of input and output and its time is their mean: where input and output lie alike
    /// modulo a page, loads can falsely depend on earlier stores and wait for them.
    ///
    /// Encryption under a nonce: message number `i` of this batch object uses the set's first
    /// nonce with its first eight bytes, a little-endian number, raised by `i`.
    ///
    /// # Panics
    /// When the set does not fit the session's algorithm: the caller's mistake.
    pub fn place(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        roll: u64,
    ) -> Self {
        let algorithm = session.algorithm();
        assert!(set.size > 0 && set.inputs.len().is_multiple_of(set.size), "whole messages");
        let count = set.inputs.len() / set.size;
        assert!(count <= RING && RING.is_multiple_of(count), "the ring holds the set evenly");
        let decrypt = session.direction() == Direction::Decrypt;
        let fresh = !decrypt && algorithm.nonce_len >= 8;
        let (input, output, stacks) = arena.place(roll, (set.inputs.len(), set.size + SPREAD));
        input.copy_from_slice(set.inputs);
        let mut tags = Box::new([[0; 64]; RING]);
        let slots = std::array::from_fn(|i| {
            let out = &mut output[output_at(i)..][..set.size];
            let mut slot = Slot::new(&input[(i % count) * set.size..][..set.size], out);
            let nonce = if decrypt { &set.nonces[i % count] } else { &set.nonces[0] };
            assert_eq!(nonce.len(), algorithm.nonce_len, "nonce length");
            slot.nonce[..nonce.len()].copy_from_slice(nonce);
            if fresh {
                slot.raise_nonce(i as u64);
            }
            if decrypt && algorithm.tag_len > 0 {
                tags[i][..algorithm.tag_len].copy_from_slice(&set.tags[i % count]);
            }
            slot
        });
        let (ring, size) = (Box::new(Ring(slots)), set.size);
        let mut batch =
            Self { session, ring, tags, output, stacks, roll, size, count, fresh, at: 0 };
        batch.point(set.aad);
        batch
    }

    /// Points every descriptor at its own nonce and tag, which have their final addresses now.
    fn point(&mut self, aad: &[u8]) {
        for (slot, tag) in self.ring.0.iter_mut().zip(self.tags.iter_mut()) {
            slot.message.nonce = slot.nonce.as_ptr();
            slot.message.tag = tag.as_mut_ptr();
            slot.message.aad = aad.as_ptr();
            slot.message.aad_len = aad.len();
        }
    }

    /// How many operations fill a sample.
    pub fn calibrate(&mut self, clock: &Clock, ticks_per_ns: f64, pace: Pace) -> u32 {
        calibrate_ops(clock, ticks_per_ns, pace, |ops| {
            self.run(ops);
        })
    }

    /// Runs operations outside any clock; returns the bits of their return codes.
    pub fn run(&mut self, ops: u32) -> i32 {
        self.loop_over(ops)
    }

    /// Times one batch of `ops` operations.
    pub fn sample(&mut self, clock: &Clock, process: u32, ops: u32) -> Taken {
        bracket(clock, process, ops, || self.loop_over(ops))
    }

    #[inline(always)]
    fn loop_over(&mut self, ops: u32) -> i32 {
        let table = self.session.raw();
        let call = table.message.expect("the model `message` is offered");
        let run = arch::message_loop(call as *const () as usize, self.fresh);
        let (state, slots) = (table.state, self.ring.0.as_mut_ptr());
        let at = &mut self.at;
        self.stacks.spread(self.roll, ops, |ops| {
            let from = *at;
            *at = (from + ops as usize) % RING;
            // SAFETY: `Session::new`'s contract holds for the table; the slots are a whole ring,
            // aligned to its size, and point at the placed set, whose lengths were checked against
            // the algorithm; `from` is below `RING`.
            unsafe { run(call, state, slots.add(from).cast(), ops) }
        })
    }

    /// Single-steps the next operation: the same call as in the loop, with the same descriptor.
    /// Returns the operation's return code with what it executed.
    ///
    /// # Errors
    /// When it cannot be stepped here.
    pub fn step(&mut self, stepper: &mut Stepper, most_steps: u64) -> Result<Stepped, Unavailable> {
        let table = self.session.raw();
        let call = table.message.expect("the model `message` is offered");
        let slot = &mut self.ring.0[self.at];
        let arguments = [table.state as usize, &raw const slot.message as usize, 0, 0];
        let stepped = self.stacks.once(|| {
            // SAFETY: `Session::new`'s contract holds for the function and its two arguments; the
            // descriptor points at the placed set, whose lengths were checked.
            unsafe { stepper.call(call as *const (), arguments, most_steps) }
        });
        if self.fresh {
            slot.raise_nonce(RING as u64);
        }
        self.at = (self.at + 1) % RING;
        stepped
    }

    /// The descriptor that the last operation used.
    fn last(&self) -> usize {
        (self.at + RING - 1) % RING
    }

    /// Overwrites what earlier operations left, so that only the batch can have made it.
    pub fn poison(&mut self, byte: u8) {
        self.output.fill(byte);
        if self.session.direction() != Direction::Decrypt {
            self.tags.iter_mut().for_each(|tag| tag.fill(byte));
        }
    }

    /// The output that the last operation left.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        &self.output[output_at(self.last())..][..self.size]
    }

    /// The tag that the last operation left.
    #[must_use]
    pub fn last_tag(&self) -> &[u8] {
        &self.tags[self.last()][..self.session.algorithm().tag_len]
    }

    /// The nonce of the last operation.
    #[must_use]
    pub fn last_nonce(&self) -> Vec<u8> {
        let mut slot = self.ring.0[self.last()];
        if self.fresh {
            slot.raise_nonce((RING as u64).wrapping_neg());
        }
        slot.nonce[..self.session.algorithm().nonce_len].to_vec()
    }

    /// Which of the set's messages the last operation worked on.
    #[must_use]
    pub fn last_message(&self) -> usize {
        self.last() % self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_meets_sixteen_distances_of_input_and_output() {
        for size in [16, 64, 128, 256, 512, 1024, 4096, 8192] {
            let count = messages_for(size);
            let apart: std::collections::BTreeSet<usize> = (0..RING)
                .map(|i| {
                    (output_at(i) + SPREAD - (i % count * size / LINE * LINE) % SPREAD) % SPREAD
                })
                .collect();
            assert!(apart.len() >= RING - 2, "{size}: {} distances", apart.len());
        }
    }

    #[test]
    fn sets_fit_the_first_level_cache_and_the_ring() {
        for (size, count) in [(1, 16), (16, 16), (1024, 16), (3276, 4), (8192, 2), (16 << 20, 2)] {
            assert_eq!(messages_for(size), count, "{size}");
        }
    }
}
