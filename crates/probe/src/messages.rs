//! The models of whole messages: each timed call is one, under a nonce of its own; in the model
//! `rekey` under a key of its own as well.

use crate::arena::{Arena, LINE, PLACES};
use crate::batch::Batch;
use crate::control::{Control, KEY_BYTES, Key, Keys, Walk};
use crate::flight::Flight;
use crate::ring::{RING, Ring, Slot};
use crate::stacks::Stacks;
use crate::walk::{Place, Places, WalkSize};
use base::model::Direction;
use contract::Session;

mod left;
mod remote;
mod run;
mod stepping;

pub use left::Done;
use remote::Away;
pub use stepping::Stepped;

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
    /// None where each message is done when the library returns.
    flight: Option<Flight>,
    roll: u64,
    size: usize,
    count: usize,
    /// The descriptor that the next operation uses.
    at: usize,
    /// What a runtime's process is told and tells; of use where it runs the operations.
    away: Away,
}

/// Where the messages are.
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
                Self::in_a_ring(session, arena, set, roll, (at, set.size + SPREAD))
            }
            Some(size) => Self::on_a_walk(session, arena, set, (size, roll)),
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
        Self::in_a_ring(session, arena, set, roll, (at, outputs * each))
    }

    fn in_a_ring(
        session: &'a mut Session,
        arena: &'a mut Arena,
        set: &MessageSet<'a>,
        roll: u64,
        (places, len): ([usize; RING], usize),
    ) -> Self {
        let (input, output, stacks) = arena.place(roll, (set.inputs.len(), len));
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
            (count, roll),
        )
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
        let count = places.messages();
        let memory = (Memory::Walk(Box::new(places)), walk);
        Self::new(session, set, memory, stacks, slots, (count, roll))
    }

    /// `count` of the set's messages in this memory, in slots that point at it.
    fn new(
        session: &'a mut Session,
        set: &MessageSet<'a>,
        (memory, walk): (Memory<'a>, Walk),
        stacks: &'a mut Stacks,
        slots: [Slot; RING],
        (count, roll): (usize, u64),
    ) -> Self {
        let control = Control { walk, ..control(session, set) };
        let flight = Flight::of(session, counts(session, set));
        let keys = Keys([Key([0; KEY_BYTES]); RING]);
        let descriptors = Box::new(Descriptors { ring: Ring(slots), keys });
        let (tags, size, at) = (Box::new([[0; 64]; RING]), set.size, 0);
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
            count,
            at,
            away: Away::default(),
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
    #[must_use]
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

    /// Whether the batch's data are to be in no cache.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        matches!(&self.memory, Memory::Walk(places) if places.is_cold())
    }

    /// Operations that walk through all of the memory once; `None` where they do not walk.
    #[must_use]
    pub fn round(&self) -> Option<u32> {
        match &self.memory {
            Memory::Ring(..) => None,
            Memory::Walk(places) => Some(places.round()),
        }
    }
}

/// What the loop is to do, but for the walk.
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

#[cfg(test)]
mod tests;
