//! A batch: the messages of a case as descriptors with nonce, key and tag of their own, ready to be timed;
//! what its operations left behind; and one operation single-stepped.
//!
//! The models of whole messages: each timed call is one, under a nonce of its own; in the model
//! `rekey` under a key of its own as well.

pub(crate) mod arena;
pub(crate) mod between;
pub(crate) mod samples;
pub(crate) mod timed;

use crate::arch::{Control, KEY_BYTES, Key, Keys, RING, Ring, Slot, Walk};
use crate::step::{Stepper, Trace, Unavailable};
use arena::{Arena, LINE, PLACES, Place, Places, WalkSize};
use base::model::Direction;
use between::Work;
use contract::Session;
use samples::Away;
use timed::{Batch, Flight, Stacks};

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

/// Bytes that outputs of their own may take together: as much as a second-level cache gives back soon.
const APART_BYTES: usize = 64 << 10;

/// And of messages that are in work at once, each of which needs one: there are sixteen up to a megabyte each.
const IN_FLIGHT_BYTES: usize = 16 << 20;

/// How many outputs of `size` bytes lie apart in so many bytes: a power of two, two at least.
fn outputs_apart(size: usize, bytes: usize) -> usize {
    let fit = (bytes / size.next_multiple_of(LINE)).clamp(2, RING);
    1 << fit.ilog2()
}

/// How far apart the outputs of messages in flight begin: an odd number of lines, so that those of a page
/// each do not all share the same sets of a cache.
fn in_flight_stride(size: usize) -> usize {
    (size.div_ceil(LINE) | 1) * LINE
}

/// How many different messages of `size` bytes a batch walks through: as many as fit 16 KiB, so
/// that small messages stay in the first-level cache with their output; at least two, so that a
/// library which remembers its last answer gains nothing.
pub fn messages_for(size: usize) -> usize {
    let fit = ((16 << 10) / size.max(1)).clamp(2, MAX_MESSAGES);
    // The ring holds a set evenly only when its count is a power of two.
    1 << fit.ilog2()
}

#[derive(Clone, Copy, Debug)]
pub struct MessageSet<'a> {
    pub size: usize,
    /// What an operation is to cost, where that is not the message's length.
    pub cost: Option<usize>,
    /// All inputs, one after the other.
    pub inputs: &'a [u8],
    /// One nonce for each message (decryption), or the nonce to count up from (else).
    pub nonces: &'a [Vec<u8>],
    pub tags: &'a [Vec<u8>],
    /// Model `rekey`: one key for each message (decryption), or the key to count up from (else).
    /// Empty: the session's key stays.
    pub keys: &'a [Vec<u8>],
    pub aad: &'a [u8],
    pub expected: i32,
    /// Whether the output is written over the input; there is a walk then.
    pub in_place: bool,
    /// The memory to walk through; `None`: the same few buffers again and again.
    pub walk: Option<WalkSize>,
}

impl MessageSet<'_> {
    pub(crate) fn count(&self) -> usize {
        self.inputs.len() / self.size
    }
}

/// Room for any tag or digest.
type Tag = [u8; 64];

pub struct MessageBatch<'a> {
    session: &'a mut Session,
    descriptors: Box<Descriptors>,
    tags: Box<[Tag; RING]>,
    memory: Memory<'a>,
    stacks: &'a mut Stacks,
    control: Control,
    /// None where each message is done when the library returns.
    flight: Option<Flight>,
    roll: u64,
    size: usize,
    /// Whether its operations may take so long that CPU time is counted.
    is_long: bool,
    /// Whether one operation is a sample.
    is_large: bool,
    count: usize,
    at: usize,
    /// What a runtime's process is told and tells; of use where it runs the operations.
    away: Away,
    /// What is done before each operation, where they are timed alone between such.
    work: Option<&'a mut Work>,
}

enum Memory<'a> {
    /// The same few buffers: the output region, and where in it each descriptor's output begins.
    Ring(&'a mut [u8], [usize; RING]),
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
    /// wait for them. Messages that are in work at once have outputs that do not overlap.
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
            None if session.in_flight() > 1 || session.is_remote() => {
                Self::place_apart(session, arena, set, roll)
            }
            None => {
                let at = std::array::from_fn(output_at);
                Self::in_a_ring(session, arena, set, roll, at, set.size + SPREAD)
            }
            Some(size) => Self::on_a_walk(session, arena, set, size, roll),
        }
    }

    /// Places a set so that outputs do not overlap, which costs more cache than a timed batch may take.
    /// What of the last [`MessageBatch::kept`] operations was written can be looked at as a whole.
    ///
    /// # Panics
    /// When the set does not fit the session's algorithm, or has a walk: the caller's mistake.
    pub fn place_apart(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        roll: u64,
    ) -> Self {
        assert!(set.walk.is_none() && !set.inputs.is_empty(), "messages without a walk");
        assert!(set.keys.is_empty() || session.has_rekey(), "the session takes new keys");
        let (outputs, each) = if session.in_flight() > 1 {
            (outputs_apart(set.size, IN_FLIGHT_BYTES), in_flight_stride(set.size))
        } else {
            (outputs_apart(set.size, APART_BYTES), set.size.next_multiple_of(LINE))
        };
        let at = std::array::from_fn(|slot| slot % outputs * each);
        Self::in_a_ring(session, arena, set, roll, at, outputs * each)
    }

    fn in_a_ring(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        roll: u64,
        places: [usize; RING],
        len: usize,
    ) -> Self {
        let (input, output, stacks) = arena.place(roll, set.inputs.len(), len);
        input.copy_from_slice(set.inputs);
        let count = set.count();
        let slots = std::array::from_fn(|i| {
            let out = &mut output[places[i]..][..set.size];
            Slot::new(&input[(i % count) * set.size..][..set.size], out)
        });
        Self::new(
            session,
            set,
            (Memory::Ring(output, places), Walk::NONE),
            stacks,
            slots,
            count,
            roll,
        )
    }

    fn on_a_walk(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        walk: WalkSize,
        roll: u64,
    ) -> Self {
        let (algorithm, direction) = (session.algorithm(), session.direction());
        let place = Place::of(algorithm, direction, set.size, set.in_place);
        let places = place.count(walk).expect("at least one place fits, which the caller asked");
        let evict = match walk {
            WalkSize::Within(_) => None,
            WalkSize::Cold { evict, .. } => Some(evict),
        };
        let (memory, stacks) = arena.walk();
        let (places, walk) = Places::new(memory, *set, algorithm, direction, places, evict, roll);
        // The loop fills in where each message lies.
        let slots = [Slot::new(&set.inputs[..set.size], &mut []); RING];
        let count = places.messages();
        let memory = (Memory::Walk(Box::new(places)), walk);
        Self::new(session, set, memory, stacks, slots, count, roll)
    }

    /// `count` of the set's messages in this memory, in slots that point at it.
    fn new(
        session: &'a mut Session,
        set: &MessageSet<'a>,
        (memory, walk): (Memory<'a>, Walk),
        stacks: &'a mut Stacks,
        slots: [Slot; RING],
        count: usize,
        roll: u64,
    ) -> Self {
        let control = Control { walk, ..control(session, set) };
        let flight = Flight::of(session, counts(session, set));
        let keys = Keys([Key([0; KEY_BYTES]); RING]);
        let descriptors = Box::new(Descriptors { ring: Ring(slots), keys });
        let (tags, size, at) = (Box::new([[0; 64]; RING]), set.size, 0);
        let is_large = timed::is_large(session.algorithm(), size);
        let mut batch = Self {
            session,
            descriptors,
            tags,
            memory,
            stacks,
            control,
            flight,
            roll,
            size,
            is_long: set.cost.is_some() || is_large,
            is_large,
            count,
            at,
            away: Away::default(),
            work: None,
        };
        batch.point(set, count);
        batch.place_remotely(set);
        batch
    }

    /// Gives every descriptor its nonce, key and tag, which have their final addresses now.
    fn point(&mut self, set: &MessageSet<'_>, count: usize) {
        let algorithm = self.session.algorithm();
        let decrypt = self.session.direction() == Direction::Decrypt;
        let fresh = self.counts();
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
            if let Some(cost) = set.cost {
                slot.message.len = cost;
            }
        }
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

    /// Whether nonces, and keys where they are set, count up from message to message.
    pub fn counts(&self) -> bool {
        self.control.fresh || self.flight.is_some_and(|f| f.counts)
    }

    /// Gives each of the next sixteen operations a number of its own: what the first eight bytes of its
    /// nonce, and of its key where keys are set, are in little-endian order.
    pub fn renumber(&mut self, mut number: impl FnMut() -> u64) {
        let algorithm = self.session.algorithm();
        let Descriptors { ring, keys } = &mut *self.descriptors;
        for i in 0..RING {
            let (at, number) = ((self.at + i) % RING, number().to_le_bytes());
            if algorithm.nonce_len >= 8 {
                ring.0[at].nonce[..8].copy_from_slice(&number);
            }
            if self.control.rekey.is_some() {
                keys.0[at].0[..8].copy_from_slice(&number);
            }
        }
    }

    pub fn is_cold(&self) -> bool {
        matches!(&self.memory, Memory::Walk(places) if places.is_cold())
    }

    /// Operations that walk through all of the memory once; `None` where they do not walk.
    pub fn round(&self) -> Option<u32> {
        match &self.memory {
            Memory::Ring(..) => None,
            Memory::Walk(places) => Some(places.round()),
        }
    }
}

fn control(session: &Session, set: &MessageSet<'_>) -> Control {
    let table = session.raw();
    Control {
        call: table.message.expect("whole messages are offered"),
        state: table.state,
        at: std::ptr::null_mut(),
        expected: set.expected,
        // The nonce of a message in flight is not the loop's to write.
        fresh: counts(session, set) && table.drain.is_none(),
        rekey: if set.keys.is_empty() { None } else { table.rekey },
        to_key: TO_KEY,
        walk: Walk::NONE,
    }
}

/// Whether nonces, and keys where they are set, count up. With new keys a nonce that is too short to count
/// may stay: no key has two messages.
fn counts(session: &Session, set: &MessageSet<'_>) -> bool {
    let decrypt = session.direction() == Direction::Decrypt;
    !decrypt && (session.algorithm().nonce_len >= 8 || !set.keys.is_empty())
}

// What a batch's operations left, and what was there before them.

/// Messages up to this size are poisoned whole where outputs lie apart; of larger ones only the edges.
const POISONED_WHOLE: usize = APART_BYTES / 2;

/// What one of the last operations worked on, and what is left of what it wrote.
#[derive(Debug)]
pub struct Done<'b> {
    pub message: usize,
    pub nonce: Vec<u8>,
    /// The key that was set before it; of use where keys are set.
    pub key: Vec<u8>,
    pub tag: &'b [u8],
    /// The bytes of its output that no later operation wrote over.
    pub output: &'b [u8],
    pub from: usize,
}

impl MessageBatch<'_> {
    fn inputs<'s>(&self) -> [&'s [u8]; RING] {
        // SAFETY: each points at a message of the placed set, which lies in memory that the batch has borrowed; nothing
        // writes to it while operations run: outputs lie elsewhere, for this is not asked of what works in place.
        std::array::from_fn(|i| unsafe {
            std::slice::from_raw_parts(self.descriptors.ring.0[i].message.input, self.size)
        })
    }

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
    pub fn is_poisoned_whole(&self) -> bool {
        // As soon as more than two outputs lie apart they are small, unless each message in flight has one.
        self.size <= POISONED_WHOLE || self.flight.is_none() && self.kept(u32::MAX) > 2
    }

    pub fn poison_byte(&self) -> u8 {
        (self.roll >> 24) as u8
    }

    /// Of how many operations something is left after `ops` of them.
    pub fn kept(&self, ops: u32) -> usize {
        let most = match &self.memory {
            Memory::Ring(_, places) => (1..RING).find(|i| places[*i] == places[0]).unwrap_or(RING),
            Memory::Walk(places) => RING.min(places.round() as usize),
        };
        most.min(ops as usize)
    }

    /// What is left of the operation after which there were `back` more, fewer than
    /// [`MessageBatch::kept`].
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

/// A stepped operation: its return code, and what it executed.
pub type Stepped = (i32, Trace);

impl MessageBatch<'_> {
    /// Single-steps the next operation: the same call as in the loop, with the same descriptor.
    /// Returns the operation's return code with what it executed. Of messages in flight a round
    /// ([`Batch::together`]) with its end is stepped, since none of them is done alone.
    pub fn step(&mut self, stepper: &mut Stepper, most_steps: u64) -> Result<Stepped, Unavailable> {
        match self.flight {
            None => self.step_message(stepper, most_steps),
            Some(flight) => self.step_round(flight, stepper, most_steps),
        }
    }

    fn step_message(&mut self, stepper: &mut Stepper, most: u64) -> Result<Stepped, Unavailable> {
        let table = self.session.raw();
        let call = table.message.expect("the model `message` is offered");
        let slot = &mut self.descriptors.ring.0[self.at];
        let arguments = [table.state as usize, &raw const slot.message as usize, 0, 0];
        let stepped = self.stacks.once(|| {
            // SAFETY: `Session::new`'s contract holds for the function and its two arguments; the
            // descriptor points at the placed set, whose lengths were checked.
            unsafe { stepper.call(call as *const (), arguments, most) }
        });
        if self.control.fresh {
            slot.raise_nonce(RING as u64);
        }
        self.at = (self.at + 1) % RING;
        stepped
    }

    fn step_round(
        &mut self,
        flight: Flight,
        stepper: &mut Stepper,
        most: u64,
    ) -> Result<Stepped, Unavailable> {
        let (oldest, together) = (self.at, self.together() as usize);
        let mut round = self.step_message(stepper, most);
        for _ in 1..together {
            round = round.and_then(|so_far| {
                let left = most.saturating_sub(so_far.1.steps).max(1);
                Ok(joined(so_far, self.step_message(stepper, left)?))
            });
        }
        let (drain, state) = flight.call();
        let drained = round.and_then(|so_far| {
            let left = most.saturating_sub(so_far.1.steps).max(1);
            let arguments = [state as usize, 0, 0, 0];
            // SAFETY: `Session::new`'s contract holds for the function and its argument.
            let end =
                self.stacks.once(|| unsafe { stepper.call(drain as *const (), arguments, left) });
            Ok(joined(so_far, end?))
        });
        if drained.is_err() {
            // SAFETY: the session lives; what is in flight uses this batch's memory.
            unsafe { flight.drain() };
        }
        for i in (0..together).filter(|_| flight.counts) {
            self.descriptors.ring.0[(oldest + i) % RING].raise_nonce(RING as u64);
        }
        drained
    }
}

fn joined((code, trace): Stepped, (other_code, other): Stepped) -> Stepped {
    (code | other_code, trace.and(other))
}

#[cfg(test)]
mod tests {
    use super::{POISONED_WHOLE, *};

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

    /// Writes the lowest byte of the nonce over output and tag.
    unsafe extern "C" fn mark(_: *mut std::ffi::c_void, m: *const contract::raw::Message) -> i32 {
        // SAFETY: the batch's descriptors point at whole messages of an algorithm with 16-byte tags.
        unsafe {
            let m = &*m;
            std::ptr::write_bytes(m.output, *m.nonce, m.len);
            std::ptr::write_bytes(m.tag, *m.nonce, 16);
        }
        contract::raw::OK
    }

    /// Encryption that leaves marks in place of ciphertexts.
    fn marking() -> Session {
        let table =
            contract::raw::Session { message: Some(mark), ..contract::raw::Session::empty() };
        let gcm = base::model::Algorithm::find("aes-256-gcm").unwrap();
        // SAFETY: `mark` keeps the interface's rules, and needs no state.
        unsafe { Session::new(table, gcm, Direction::Encrypt) }
    }

    fn set<'a>(size: usize, inputs: &'a [u8], nonces: &'a [Vec<u8>]) -> MessageSet<'a> {
        let (tags, keys, aad) = ([].as_slice(), [].as_slice(), [].as_slice());
        let (expected, in_place, walk) = (contract::raw::OK, false, None);
        MessageSet { size, cost: None, inputs, nonces, tags, keys, aad, expected, in_place, walk }
    }

    /// Checks what is shown of the last operations; returns how many bytes of each.
    fn shown(batch: &mut MessageBatch<'_>) -> Vec<usize> {
        batch.poison(0xee);
        batch.prepare(37);
        assert_eq!(batch.run(37), 0);
        let left = (0..batch.kept(37)).map(|back| {
            let done = batch.done(back);
            assert_eq!(done.nonce[0], 36 - back as u8, "{back} before the last");
            let own = done.output.iter().chain(done.tag);
            assert!(own.clone().all(|b| *b == done.nonce[0]), "{back} before the last");
            assert!(done.from + done.output.len() <= batch.size && done.tag.len() == 16);
            done.output.len()
        });
        left.collect()
    }

    #[test]
    fn what_an_operation_left_is_shown_without_what_later_ones_wrote_over() {
        let (mut session, mut arena) = (marking(), Arena::new());
        let nonces = [vec![0; 12]];
        for size in [1, 16, 64, 192, 256, 700, 4096, 8192, 100_000] {
            let inputs = vec![0; size * messages_for(size)];
            let set = set(size, &inputs, &nonces);
            let mut ring = MessageBatch::place(&mut session, &mut arena, &set, 12345);
            let shown = shown(&mut ring);
            assert_eq!((shown.len(), shown[0]), (RING, size));
            assert_eq!(shown.iter().all(|len| *len == size), size <= 192, "{size}: {shown:?}");
            assert!(shown.iter().filter(|len| **len > 0).count() >= 4, "{size}: {shown:?}");
        }
    }

    #[test]
    fn outputs_that_lie_apart_are_shown_whole() {
        let (mut session, mut arena) = (marking(), Arena::new());
        let nonces = [vec![0; 12]];
        for (size, kept) in [(1, 16), (700, 16), (4096, 16), (8192, 8), (32768, 2), (1 << 20, 2)] {
            let inputs = vec![0; size * messages_for(size)];
            let set = set(size, &inputs, &nonces);
            let mut apart = MessageBatch::place_apart(&mut session, &mut arena, &set, 12345);
            assert_eq!(shown(&mut apart), vec![size; kept]);
            // Where too little is filled to say that nothing was written, nothing is said.
            assert_eq!(apart.is_poisoned_whole(), size <= POISONED_WHOLE);
            apart.poison(0x77);
            let output = apart.done(0).output;
            assert!((output[0], output[size - 1]) == (0x77, 0x77));
            assert_eq!(output.iter().all(|b| *b == 0x77), size <= POISONED_WHOLE);
        }
    }

    #[test]
    fn what_operations_of_a_walk_left_is_shown() {
        let (mut session, mut arena) = (marking(), Arena::new());
        let (nonces, inputs) = ([vec![0; 12]], vec![0; 64 * messages_for(64)]);
        for (bytes, kept) in [(24 << 10, 16), (1 << 10, 4)] {
            let walk = Some(WalkSize::Within(bytes));
            let set = MessageSet { walk, ..set(64, &inputs, &nonces) };
            let mut batch = MessageBatch::place(&mut session, &mut arena, &set, 12345);
            assert_eq!(shown(&mut batch), vec![64; kept]);
        }
    }

    #[test]
    fn operations_take_the_numbers_that_they_are_given() {
        let (mut session, mut arena) = (marking(), Arena::new());
        let (nonces, inputs) = ([vec![0; 12]], vec![0; 16 * messages_for(16)]);
        let set = set(16, &inputs, &nonces);
        let mut batch = MessageBatch::place(&mut session, &mut arena, &set, 0);
        batch.run(5);
        let mut next = 100;
        batch.renumber(|| {
            next += 7;
            next
        });
        batch.run(16);
        let last: Vec<u8> = (0..16).map(|back| batch.done(back).nonce[0]).collect();
        let given: Vec<u8> = (1..=16).rev().map(|i| 100 + 7 * i).collect();
        assert_eq!(last, given);
    }

    #[test]
    fn sets_fit_the_first_level_cache_and_the_ring() {
        for (size, count) in [(1, 16), (16, 16), (1024, 16), (3276, 4), (8192, 2), (16 << 20, 2)] {
            assert_eq!(messages_for(size), count, "{size}");
        }
    }
}
