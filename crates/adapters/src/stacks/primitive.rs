//! What a library's primitives are called through, and where their results go.

use crate::stacks::bench::Trouble;
use crate::stacks::secret::Secret;

/// What lies inside the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From long-lived keys and what is on the wire to the result, as in a handshake.
    Whole,
    /// The library's one call alone, everything made before.
    Call,
}

/// One operation of one scheme, with everything that it needs. Errors are the library's words for the first call
/// that failed, and what is wrong with a result.
pub trait Workbench {
    /// Does the operation so many times. Inside the clock.
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble>;

    /// Before anything is timed: known answers, and that a changed bit is noticed.
    fn examine(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Holds what the last batch of each span left to what it must be, and forgets it.
    fn prove(&mut self) -> Result<(), String>;

    /// What [`Workbench::examine`] and [`Workbench::prove`] look at, in words.
    fn checks(&self) -> Vec<String>;
}

/// Private keys of one scheme, used one after the other.
pub trait PrivateKeys {
    /// Whether keys of ML-KEM are read as seeds only ([`crate::stacks::secrets`]).
    fn takes_seeds(&self) -> bool {
        false
    }

    /// Reads a key in the place of the one before, and makes all ready for its use.
    fn read(&mut self, secret: &Secret) -> Result<(), Trouble>;

    /// Uses the key once.
    fn call(&mut self) -> Result<(), Trouble>;

    /// What the last use left.
    fn result(&self) -> &[u8];

    /// Holds that to what it must be.
    fn prove(&self, secret: &Secret) -> Result<(), String>;

    /// Has the library draw random numbers, so that the next ones are others.
    fn stir(&mut self);
}

/// An operation that was made ready.
pub(crate) type Made = Result<Box<dyn Workbench>, Trouble>;

/// Keys, messages and peers that an operation takes in turn, so that a result that is kept from one time to
/// the next is found out.
pub(crate) const POOL: usize = 8;
/// Results of a batch that are kept: its last ones. A multiple of the pool, so that each slot is of one
/// member.
const SLOTS: usize = 8 * POOL;

/// Results of one span.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    width: usize,
}

impl Slots {
    fn new(width: usize) -> Self {
        Self { bytes: vec![0; width * SLOTS], lengths: vec![0; SLOTS], width }
    }

    #[inline]
    pub(crate) fn of(&mut self, turn: usize) -> (&mut [u8], &mut usize) {
        let at = turn % SLOTS;
        (&mut self.bytes[at * self.width..][..self.width], &mut self.lengths[at])
    }

    fn at(&self, turn: usize) -> &[u8] {
        let at = turn % SLOTS;
        &self.bytes[at * self.width..][..self.lengths[at].min(self.width)]
    }

    fn written(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let slots = self.bytes.chunks_exact(self.width).zip(&self.lengths).enumerate();
        let written = slots.filter(|(_, (_, length))| **length > 0);
        written.map(|(at, (slot, length))| (at % POOL, &slot[..(*length).min(slot.len())]))
    }

    fn clear(&mut self) {
        self.bytes.fill(0);
        self.lengths.fill(0);
    }
}

/// Results of both spans.
#[derive(Debug)]
pub(crate) struct Results(pub(crate) [Slots; 2]);

impl Results {
    /// With room for so many bytes each.
    pub(crate) fn new(width: usize) -> Self {
        Self([Slots::new(width), Slots::new(width)])
    }

    /// Where a turn's result goes: its place, with its length, which is to be set.
    #[inline]
    pub(crate) fn of(&mut self, span: Span, turn: usize) -> (&mut [u8], &mut usize) {
        self.0[span as usize].of(turn)
    }

    /// What a turn left.
    pub(crate) fn at(&self, span: Span, turn: usize) -> &[u8] {
        self.0[span as usize].at(turn)
    }

    /// What was written, each with the member of the pool that it is of.
    fn written(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.0.iter().flat_map(Slots::written)
    }

    /// Whether no two are the same, by a part of each.
    pub(crate) fn differ(&self, part: impl Fn(&[u8]) -> &[u8]) -> bool {
        let mut all: Vec<&[u8]> = self.written().map(|(_, result)| part(result)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        all.len() == count
    }

    /// Holds every result to what its member of the pool must give.
    pub(crate) fn are(
        &self,
        right: impl Fn(usize, &[u8]) -> bool,
        wrong: &str,
    ) -> Result<(), String> {
        let is_right = self.written().all(|(member, result)| right(member, result));
        if is_right { Ok(()) } else { Err(wrong.to_owned()) }
    }

    /// Forgets everything: what an earlier batch left must not pass for what comes next.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(Slots::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_results_are_kept_each_with_its_member_until_they_are_forgotten() {
        let mut slots = Slots::new(4);
        for turn in 0..SLOTS + 3 {
            let (place, length) = slots.of(turn);
            place[..2].fill(turn as u8);
            *length = 2;
        }
        let kept: Vec<(usize, &[u8])> = slots.written().collect();
        assert_eq!(kept.len(), SLOTS);
        assert_eq!(kept[0], (0, &[SLOTS as u8; 2][..]));
        assert!(kept.iter().all(|(member, bytes)| usize::from(bytes[0]) % POOL == *member));
        slots.clear();
        assert_eq!(slots.written().count(), 0);
    }
}
