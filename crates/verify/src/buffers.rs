//! Buffers: where messages are laid out before a library is called and looked at afterwards.
//! Every part of a message lies in its own guarded memory with known bytes around it.

use base::model::Direction;
use contract::{Message, Outcome, Session};
use probe::fault;
use probe::fault::GuardedBuffer;
use std::ops::Range;

/// What surrounds every part of a message.
const CANARY: u8 = 0xc9;
/// How many bytes of it on each side: the widest store of today's CPUs.
const MARGIN: usize = 64;
/// What output and tag hold before a call.
pub(crate) const FILL: u8 = 0xa5;

/// Where a part of a message lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many bytes past a 64-byte boundary.
    Offset(usize),
    /// Directly after a page that faults.
    Head,
    /// Directly before a page that faults.
    Tail,
}

/// Where the parts of a message lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    /// Input.
    pub(crate) input: Place,
    /// Output.
    pub(crate) output: Place,
    /// Nonce, associated data and tag.
    pub(crate) rest: Place,
}

impl Placement {
    /// Everything on 64-byte boundaries.
    pub(crate) const ALIGNED: Self = Self::all(Place::Offset(0));

    /// Everything in the same kind of place.
    pub(crate) const fn all(place: Place) -> Self {
        Self { input: place, output: place, rest: place }
    }
}

/// What a library is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) nonce: &'a [u8],
    pub(crate) aad: &'a [u8],
    pub(crate) input: &'a [u8],
    /// The tag to be checked; `None` where one is made.
    pub(crate) tag: Option<&'a [u8]>,
}

/// The parts of a message in memory.
pub(crate) struct Buffers {
    nonce: Area,
    aad: Area,
    input: Area,
    output: Area,
    tag: Area,
    /// What output and tag are filled with.
    pub(crate) fill: u8,
}

impl Buffers {
    /// Memory for messages of up to `len` bytes; it grows when there is need.
    pub(crate) fn new(len: usize) -> Self {
        let [nonce, aad, tag] = [0; 3].map(Area::new);
        Self { nonce, aad, input: Area::new(len), output: Area::new(len), tag, fill: FILL }
    }

    /// Lays the message out and calls the library.
    pub(crate) fn call(
        &mut self,
        session: &mut Session,
        call: Call<'_>,
        placement: Placement,
    ) -> Outcome {
        self.lay_out(session, call, placement);
        self.output.fill(placement.output, call.input.len(), self.fill);
        self.entering(session, self.input.bytes());
        let outcome = session.message(Message {
            nonce: self.nonce.bytes(),
            aad: self.aad.bytes(),
            input: self.input.bytes(),
            output: self.output.bytes_mut(),
            tag: self.tag.bytes_mut(),
        });
        fault::left();
        outcome
    }

    /// As [`Buffers::call`], with the output over the input.
    pub(crate) fn call_in_place(
        &mut self,
        session: &mut Session,
        call: Call<'_>,
        placement: Placement,
    ) -> Outcome {
        self.lay_out(session, call, placement);
        self.output.copy(placement.output, call.input);
        self.entering(session, &[]);
        let outcome = session.message_in_place(
            self.nonce.bytes(),
            self.aad.bytes(),
            self.output.bytes_mut(),
            self.tag.bytes_mut(),
        );
        fault::left();
        outcome
    }

    /// Where the parts lie, should the library crash.
    fn entering(&self, session: &Session, input: &[u8]) {
        let [nonce, aad] = [self.nonce.bytes(), self.aad.bytes()];
        let (output, tag) = (self.output.bytes(), self.tag.bytes());
        fault::entering(session.direction(), output.len(), [nonce, aad, input, output, tag]);
    }

    fn lay_out(&mut self, session: &Session, call: Call<'_>, placement: Placement) {
        self.nonce.copy(placement.rest, call.nonce);
        self.aad.copy(placement.rest, call.aad);
        self.input.copy(placement.input, call.input);
        match call.tag {
            Some(tag) => self.tag.copy(placement.rest, tag),
            None => self.tag.fill(placement.rest, session.algorithm().tag_len, self.fill),
        }
    }

    /// What the last call left in the output.
    pub(crate) fn output(&self) -> &[u8] {
        self.output.bytes()
    }

    /// What the last call left in the tag.
    pub(crate) fn tag(&self) -> &[u8] {
        self.tag.bytes()
    }

    /// All that the last call left, output and tag.
    pub(crate) fn result(&self) -> (Vec<u8>, Vec<u8>) {
        (self.output().to_vec(), self.tag().to_vec())
    }

    /// The parts that a library only reads, with what they held before the call.
    pub(crate) fn read_only<'a>(
        &'a self,
        call: Call<'a>,
    ) -> impl Iterator<Item = (&'static str, &'a [u8], &'a [u8])> {
        [
            ("input", self.input.bytes(), call.input),
            ("nonce", self.nonce.bytes(), call.nonce),
            ("associated data", self.aad.bytes(), call.aad),
        ]
        .into_iter()
        .chain(call.tag.map(|tag| ("tag", self.tag.bytes(), tag)))
    }

    /// The first byte around any part that the last call changed, in words.
    pub(crate) fn stray(&self, direction: Direction) -> Option<String> {
        let tag = if direction == Direction::Digest { "digest" } else { "tag" };
        [
            ("output", &self.output),
            (tag, &self.tag),
            ("input", &self.input),
            ("nonce", &self.nonce),
            ("associated data", &self.aad),
        ]
        .into_iter()
        .find_map(|(name, area)| area.stray().map(|where_| format!("{where_} the {name}")))
    }
}

/// One part of a message.
struct Area {
    memory: GuardedBuffer,
    at: Range<usize>,
}

impl Area {
    fn new(len: usize) -> Self {
        Self { memory: GuardedBuffer::new(Self::needed(len)), at: 0..0 }
    }

    /// Room for a margin, the offset within a line, the bytes, and a margin.
    fn needed(len: usize) -> usize {
        len + 3 * MARGIN
    }

    /// Takes the place and puts canaries around it.
    fn take(&mut self, place: Place, len: usize) -> &mut [u8] {
        if self.memory.capacity() < Self::needed(len) {
            self.memory = GuardedBuffer::new(Self::needed(len));
        }
        let capacity = self.memory.capacity();
        let start = match place {
            Place::Offset(n) => {
                assert!(n < MARGIN, "an offset within a line");
                MARGIN + n
            }
            Place::Head => 0,
            Place::Tail => capacity - len,
        };
        self.at = start..start + len;
        let [before, after] = self.margins();
        let memory = self.memory.as_mut_slice();
        memory[before].fill(CANARY);
        memory[after].fill(CANARY);
        self.bytes_mut()
    }

    /// The known bytes on both sides, as far as there is memory.
    fn margins(&self) -> [Range<usize>; 2] {
        let Range { start, end } = self.at;
        let capacity = self.memory.capacity();
        [start.saturating_sub(MARGIN)..start, end..(end + MARGIN).min(capacity)]
    }

    fn copy(&mut self, place: Place, bytes: &[u8]) {
        self.take(place, bytes.len()).copy_from_slice(bytes);
    }

    fn fill(&mut self, place: Place, len: usize, byte: u8) {
        self.take(place, len).fill(byte);
    }

    fn bytes(&self) -> &[u8] {
        &self.memory.as_slice()[self.at.clone()]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory.as_mut_slice()[self.at.clone()]
    }

    /// Where the first changed byte around the part is.
    fn stray(&self) -> Option<String> {
        let memory = self.memory.as_slice();
        let [before, after] = self.margins();
        // Thousands of calls are looked at: comparing whole margins is what costs little.
        let whole =
            |margin: &Range<usize>| memory[margin.clone()] == [CANARY; MARGIN][..margin.len()];
        if whole(&before) && whole(&after) {
            return None;
        }
        let changed = |byte: &u8| *byte != CANARY;
        let past = memory[after].iter().position(changed).map(|n| (n + 1, "after the end of"));
        let short = || {
            let nearest = memory[before].iter().rev().position(changed);
            nearest.map(|n| (n + 1, "before the beginning of"))
        };
        past.or_else(short).map(|(n, side)| format!("byte {n} {side}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_on_either_side_is_found_and_named() {
        let mut area = Area::new(100);
        for place in [Place::Offset(3), Place::Head, Place::Tail] {
            area.copy(place, &[7; 20]);
            assert_eq!(area.bytes(), [7; 20]);
            assert_eq!(area.stray(), None, "{place:?}");
        }
        area.copy(Place::Offset(3), &[7; 20]);
        let end = area.at.end;
        area.memory.as_mut_slice()[end] = 0;
        assert_eq!(area.stray().unwrap(), "byte 1 after the end of");
        area.copy(Place::Tail, &[7; 20]);
        let start = area.at.start;
        area.memory.as_mut_slice()[start - 2] = 0;
        assert_eq!(area.stray().unwrap(), "byte 2 before the beginning of");
    }

    #[test]
    fn places_are_aligned_as_asked_and_flush_with_the_guard_pages() {
        let mut area = Area::new(100);
        area.fill(Place::Offset(5), 10, 1);
        assert_eq!((area.bytes().as_ptr() as usize) % 64, 5);
        area.fill(Place::Head, 10, 1);
        assert_eq!(area.at.start, 0);
        area.fill(Place::Tail, 10, 1);
        assert_eq!(area.at.end, area.memory.capacity());
    }

    #[test]
    fn a_longer_part_gets_more_memory() {
        let mut area = Area::new(1);
        area.fill(Place::Offset(63), 100_000, 1);
        assert_eq!((area.bytes().len(), area.stray()), (100_000, None));
    }
}
