//! The models of whole messages: each timed call is one, under a nonce of its own; in the model
//! `rekey` under a key of its own as well.

use crate::arch;
use crate::arena::{Arena, LINE, PLACES};
use crate::batch::Batch;
use crate::clock::Clock;
use crate::control::{Control, KEY_BYTES, Key, Keys, Walk};
use crate::ring::{RING, Ring, Slot};
use crate::stacks::Stacks;
use crate::walk::{Place, Places, WalkSize};
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
    /// Model `rekey`: one key for each message (decryption), or the key to count up from (else).
    /// Empty: the session's key stays.
    pub keys: &'a [Vec<u8>],
    /// Associated data of every message.
    pub aad: &'a [u8],
    /// What every call is to return.
    pub expected: i32,
    /// Whether the output is written over the input; there is a walk then.
    pub in_place: bool,
    /// The memory to walk through; `None`: the same few buffers again and again.
    pub walk: Option<WalkSize>,
}

impl MessageSet<'_> {
    /// How many messages there are.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.inputs.len() / self.size
    }
}

/// A stepped operation: its return code, and what it executed.
pub type Stepped = (i32, Trace);

/// Room for any tag or digest.
type Tag = [u8; 64];

/// A set of messages placed in memory, ready to run.
pub struct MessageBatch<'a> {
    session: &'a mut Session,
    descriptors: Box<Descriptors>,
    tags: Box<[Tag; RING]>,
    memory: Memory<'a>,
    stacks: &'a mut Stacks,
    control: Control,
    roll: u64,
    size: usize,
    count: usize,
    /// The descriptor that the next operation uses.
    at: usize,
}

/// Where the messages are.
enum Memory<'a> {
    /// The same few buffers: the output region.
    Ring(&'a mut [u8]),
    /// Other memory for each operation.
    Walk(Box<Places<'a>>),
}

/// The ring of descriptors with the key of each, as far from it as all others from theirs.
#[repr(C, align(2048))]
struct Descriptors {
    ring: Ring,
    keys: Keys,
}

/// From a descriptor to its key, in bytes.
const TO_KEY: usize = std::mem::offset_of!(Descriptors, keys);

impl<'a> MessageBatch<'a> {
    /// Places a set in the arena. `roll` picks the placement. Without a walk the sixteen
    /// descriptors' outputs lie evenly spread over a page from there on, so that every batch walks
    /// through sixteen relative placements of input and output and its time is their mean: where
    /// input and output lie alike modulo a page, loads can falsely depend on earlier stores and
    /// wait for them.
    ///
    /// Encryption under a nonce: message number `i` of this batch object uses the set's first
    /// nonce with its first eight bytes, a little-endian number, raised by `i`; where keys are set,
    /// likewise the first key.
    ///
    /// # Panics
    /// When the set does not fit the session's algorithm: the caller's mistake.
    pub fn place(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        roll: u64,
    ) -> Self {
        assert!(set.size > 0 && set.inputs.len().is_multiple_of(set.size), "whole messages");
        assert!(set.count() <= RING && RING.is_multiple_of(set.count()), "the ring holds the set");
        assert!(!set.in_place || (set.walk.is_some() && session.in_place()), "in place on a walk");
        assert!(set.keys.is_empty() || session.has_rekey(), "the session takes new keys");
        match set.walk {
            None => Self::in_a_ring(session, arena, set, roll),
            Some(size) => Self::on_a_walk(session, arena, set, (size, roll)),
        }
    }

    fn in_a_ring(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        roll: u64,
    ) -> Self {
        let (input, output, stacks) = arena.place(roll, (set.inputs.len(), set.size + SPREAD));
        input.copy_from_slice(set.inputs);
        let count = set.count();
        let slots = std::array::from_fn(|i| {
            let out = &mut output[output_at(i)..][..set.size];
            Slot::new(&input[(i % count) * set.size..][..set.size], out)
        });
        let control = Control { walk: Walk::NONE, ..control(session, set) };
        let memory = Memory::Ring(output);
        let (at, size) = (0, set.size);
        let (descriptors, tags) = (describe(slots), Box::new([[0; 64]; RING]));
        let mut batch =
            Self { session, descriptors, tags, memory, stacks, control, roll, size, count, at };
        batch.point(set, count);
        batch
    }

    fn on_a_walk(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        (walk, roll): (WalkSize, u64),
    ) -> Self {
        let (algorithm, direction) = (session.algorithm(), session.direction());
        let place = Place::of(algorithm, direction, set.size, set.in_place);
        let places = place.count(walk).expect("at least one place fits, which the caller asked");
        let evict = match walk {
            WalkSize::Within(_) => None,
            WalkSize::Cold { evict, .. } => Some(evict),
        };
        let (memory, stacks) = arena.walk();
        let (places, walk) =
            Places::new(memory, *set, (algorithm, direction), (places, evict), roll);
        // The loop fills in where each message lies.
        let slots = [Slot::new(&set.inputs[..set.size], &mut []); RING];
        let control = Control { walk, ..control(session, set) };
        let (at, size, count) = (0, set.size, places.messages());
        let memory = Memory::Walk(Box::new(places));
        let (descriptors, tags) = (describe(slots), Box::new([[0; 64]; RING]));
        let mut batch =
            Self { session, descriptors, tags, memory, stacks, control, roll, size, count, at };
        batch.point(set, count);
        batch
    }

    /// Gives every descriptor its nonce, key and tag, which have their final addresses now.
    fn point(&mut self, set: &MessageSet<'_>, count: usize) {
        let algorithm = self.session.algorithm();
        let decrypt = self.session.direction() == Direction::Decrypt;
        let fresh = self.control.fresh;
        let Descriptors { ring, keys } = &mut *self.descriptors;
        for (i, (slot, tag)) in ring.0.iter_mut().zip(self.tags.iter_mut()).enumerate() {
            let of_message =
                |list: &'_ [Vec<u8>]| if decrypt { i % count } else { 0 }.min(list.len());
            let nonce = &set.nonces[of_message(set.nonces)];
            assert_eq!(nonce.len(), algorithm.nonce_len, "nonce length");
            slot.nonce[..nonce.len()].copy_from_slice(nonce);
            if fresh && nonce.len() >= 8 {
                slot.raise_nonce(i as u64);
            }
            if !set.keys.is_empty() {
                let (key, of_set) = (&mut keys.0[i].0, &set.keys[of_message(set.keys)]);
                assert_eq!(of_set.len(), algorithm.key_len, "key length");
                key[..of_set.len()].copy_from_slice(of_set);
                if fresh {
                    Keys::raise(key, i as u64);
                }
            }
            if decrypt && algorithm.tag_len > 0 {
                tag[..algorithm.tag_len].copy_from_slice(&set.tags[i % count]);
            }
            slot.message.nonce = slot.nonce.as_ptr();
            slot.message.tag = tag.as_mut_ptr();
            slot.message.aad = set.aad.as_ptr();
            slot.message.aad_len = set.aad.len();
        }
    }

    /// Single-steps the next operation: the same call as in the loop, with the same descriptor.
    /// Returns the operation's return code with what it executed.
    ///
    /// # Errors
    /// When it cannot be stepped here.
    pub fn step(&mut self, stepper: &mut Stepper, most_steps: u64) -> Result<Stepped, Unavailable> {
        let table = self.session.raw();
        let call = table.message.expect("the model `message` is offered");
        let slot = &mut self.descriptors.ring.0[self.at];
        let arguments = [table.state as usize, &raw const slot.message as usize, 0, 0];
        let stepped = self.stacks.once(|| {
            // SAFETY: `Session::new`'s contract holds for the function and its two arguments; the
            // descriptor points at the placed set, whose lengths were checked.
            unsafe { stepper.call(call as *const (), arguments, most_steps) }
        });
        if self.control.fresh {
            slot.raise_nonce(RING as u64);
        }
        self.at = (self.at + 1) % RING;
        stepped
    }

    /// The descriptor that the last operation used.
    fn last(&self) -> usize {
        (self.at + RING - 1) % RING
    }

    /// Overwrites what earlier operations left, so that only the batch can have made it. On a walk
    /// [`Batch::prepare`] does so.
    pub fn poison(&mut self, byte: u8) {
        if let Memory::Ring(output) = &mut self.memory {
            output.fill(byte);
            if self.session.direction() != Direction::Decrypt {
                self.tags.iter_mut().for_each(|tag| tag.fill(byte));
            }
        }
    }

    /// The byte that [`Batch::prepare`] fills outputs with.
    #[must_use]
    pub fn poison_byte(&self) -> u8 {
        (self.roll >> 24) as u8
    }

    /// Runs so many operations, at most as many as there are descriptors, the last of them on a tag of which
    /// one bit is changed; the tag is right again afterwards. Not on a walk.
    pub fn run_to_a_forgery(&mut self, ops: u32) -> i32 {
        let last = (self.at + ops as usize - 1) % RING;
        let bit = self.roll as usize % (8 * self.session.algorithm().tag_len);
        self.tags[last][bit / 8] ^= 1 << (bit % 8);
        let codes = self.run(ops);
        self.tags[last][bit / 8] ^= 1 << (bit % 8);
        codes
    }

    /// The output that the last operation left.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        match &self.memory {
            Memory::Ring(output) => &output[output_at(self.last())..][..self.size],
            Memory::Walk(places) => places.output(self.control.walk.place as usize),
        }
    }

    /// The tag that the last operation left.
    #[must_use]
    pub fn last_tag(&self) -> &[u8] {
        match &self.memory {
            Memory::Ring(_) => &self.tags[self.last()][..self.session.algorithm().tag_len],
            Memory::Walk(places) => places.tag(self.control.walk.place as usize),
        }
    }

    /// The nonce of the last operation.
    #[must_use]
    pub fn last_nonce(&self) -> Vec<u8> {
        let mut slot = self.descriptors.ring.0[self.last()];
        let len = self.session.algorithm().nonce_len;
        if self.control.fresh && len >= 8 {
            slot.raise_nonce((RING as u64).wrapping_neg());
        }
        slot.nonce[..len].to_vec()
    }

    /// The key that was set before the last operation.
    #[must_use]
    pub fn last_key(&self) -> Vec<u8> {
        let mut key = self.descriptors.keys.0[self.last()];
        if self.control.fresh {
            Keys::raise(&mut key.0, (RING as u64).wrapping_neg());
        }
        key.0[..self.session.algorithm().key_len].to_vec()
    }

    /// Which of the set's messages the last operation worked on.
    #[must_use]
    pub fn last_message(&self) -> usize {
        self.last() % self.count
    }

    /// Whether the batch's data are to be in no cache.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        matches!(&self.memory, Memory::Walk(places) if places.is_cold())
    }

    /// Operations that walk through all of the memory once; `None` where they do not walk.
    #[must_use]
    pub fn round(&self) -> Option<u32> {
        match &self.memory {
            Memory::Ring(_) => None,
            Memory::Walk(places) => Some(places.round()),
        }
    }
}

/// What the loop is to do, but for the walk.
fn control(session: &Session, set: &MessageSet<'_>) -> Control {
    let (table, algorithm) = (session.raw(), session.algorithm());
    let decrypt = session.direction() == Direction::Decrypt;
    let rekey = if set.keys.is_empty() { None } else { table.rekey };
    Control {
        call: table.message.expect("whole messages are offered"),
        state: table.state,
        at: std::ptr::null_mut(),
        expected: set.expected,
        // With new keys a nonce that is too short to count may stay: no key has two messages.
        fresh: !decrypt && (algorithm.nonce_len >= 8 || rekey.is_some()),
        rekey,
        to_key: TO_KEY,
        walk: Walk::NONE,
    }
}

fn describe(slots: [Slot; RING]) -> Box<Descriptors> {
    Box::new(Descriptors { ring: Ring(slots), keys: Keys([Key([0; KEY_BYTES]); RING]) })
}

impl Batch for MessageBatch<'_> {
    fn prepare(&mut self, ops: u32) {
        let poison = self.poison_byte();
        if let Memory::Walk(places) = &mut self.memory {
            places.prepare(&self.control.walk, ops as usize, poison);
        }
    }

    fn most(&self) -> u32 {
        match &self.memory {
            // In place a message is overwritten, and can be taken once; what was used is in the
            // caches.
            Memory::Walk(places) if places.in_place() || places.is_cold() => places.round(),
            _ => u32::MAX,
        }
    }

    fn run(&mut self, ops: u32) -> i32 {
        self.loop_over(ops, |step, ops| step(ops))
    }

    fn run_alone(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32 {
        self.loop_over(ops, |step, ops| {
            (0..ops).fold(0, |codes, _| {
                let begin = clock.begin();
                let code = step(1);
                let end = clock.end();
                ticks.push(clock.net(begin, end));
                codes | code
            })
        })
    }
}

impl MessageBatch<'_> {
    /// Runs `part` on each of the stacks, which is given what runs operations.
    #[inline(always)]
    fn loop_over(
        &mut self,
        ops: u32,
        mut part: impl FnMut(&mut dyn FnMut(u32) -> i32, u32) -> i32,
    ) -> i32 {
        let Self { stacks, control, descriptors, at, roll, .. } = self;
        let first = (&raw mut **descriptors).cast::<Slot>();
        let simple = control.rekey.is_none() && !control.walk.is_walked();
        let (state, call, expected) = (control.state, control.call, control.expected);
        let plain = arch::message_loop(call as *const () as usize, control.fresh);
        let controlled = if simple { None } else { Some(arch::control_loop(control)) };
        let mut step = |ops: u32| {
            let from = *at;
            *at = (from + ops as usize) % RING;
            // SAFETY: `from` is below `RING`, the number of descriptors.
            let slot = unsafe { first.add(from) };
            match controlled {
                // SAFETY: `Session::new`'s contract holds for the table; the slots are a whole
                // ring, aligned to its size, and point at the placed set, whose lengths were
                // checked against the algorithm.
                None => unsafe { plain(call, state, slot.cast(), ops, expected) },
                Some(run) => {
                    control.at = slot.cast();
                    // SAFETY: as above; each descriptor's key lies `TO_KEY` behind it, and the walk's
                    // places are memory that the batch has borrowed.
                    unsafe { run(&raw mut *control, ops) }
                }
            }
        };
        stacks.spread(*roll, ops, |ops| part(&mut step, ops))
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
