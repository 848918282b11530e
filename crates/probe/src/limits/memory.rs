//! Bandwidth: walks through buffers as large as a level of memory.

use super::buffer::Buffer;
use super::{Needs, Prober, Reading, STRIDE, Walk, catalogue};

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Loaded.
    Read,
    /// Stored.
    Write,
    /// Loaded from one place and stored to another.
    Copy,
}

/// Bytes between what is loaded and what is stored at the same time, beside multiples of a page: no
/// load's address ends like that of a store just before it, which cores take for the same.
const APART: usize = 2048;

/// Two stretches of memory that are walked through piece by piece.
#[derive(Debug)]
pub struct Stretch {
    buffer: Buffer,
    /// Bytes of each of the two stretches.
    half: usize,
    piece: usize,
    next: usize,
}

impl Stretch {
    /// Together `bytes`, walked through in pieces of `piece` bytes; one after the other, so that a
    /// piece is met again when all others have been.
    ///
    /// # Errors
    /// The system's reason, when the memory cannot be had.
    pub fn new(bytes: usize, piece: usize) -> std::io::Result<Self> {
        let round = |n: usize| (n / STRIDE).max(1) * STRIDE;
        let half = round(bytes / 2);
        let piece = round(piece.min(half));
        Ok(Self { buffer: Buffer::try_new(2 * half + APART)?, half, piece, next: 0 })
    }

    /// Bytes of the buffer that reading, writing or copying walks through.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.buffer.len() - APART) as u64
    }

    /// Source and destination of the next piece.
    pub(super) fn advance(&mut self) -> (*const u8, *mut u8) {
        if self.next + self.piece > self.half {
            self.next = 0;
        }
        let at = self.next;
        self.next += self.piece;
        // SAFETY: both pieces lie within the buffer: `at + piece <= half`, and the second half ends
        // `APART` bytes behind `2 * half`.
        unsafe {
            let base = self.buffer.start();
            (base.add(at), base.add(self.half + APART + at))
        }
    }
}

impl Prober<'_> {
    /// Names of the ways to move bytes that this CPU has.
    #[must_use]
    pub fn ways(&self, how: Move) -> Vec<&'static str> {
        walks(how).iter().filter(|(_, needs, _)| catalogue::has(*needs)).map(|w| w.0).collect()
    }

    /// One reading, per byte moved, of at least `bytes`. Reading and writing go through both
    /// stretches in turn.
    ///
    /// # Panics
    /// When [`Prober::ways`] does not have the way.
    #[must_use]
    pub fn walk(&mut self, stretch: &mut Stretch, how: Move, way: &str, bytes: usize) -> Reading {
        let mut ways = walks(how).iter().filter(|(_, needs, _)| catalogue::has(*needs));
        let walk = ways.find(|w| w.0 == way).expect("one of the ways that `ways` gave").2;
        let piece = stretch.piece;
        let pieces = bytes.div_ceil(piece).max(1);
        let mut odd = false;
        self.clock.reading((pieces * piece) as f64, || {
            for _ in 0..pieces {
                // A copy takes both halves; reading and writing take one and then the other.
                let (from, to) = if how == Move::Copy || !odd {
                    stretch.advance()
                } else {
                    let (from, to) = stretch.last();
                    (to.cast_const(), from.cast_mut())
                };
                odd = !odd;
                // SAFETY: both point to `piece` bytes of the stretch, aligned to a line; the CPU has
                // the instructions.
                unsafe { walk(piece, from, to) };
            }
        })
    }
}

impl Stretch {
    /// The piece that [`Self::advance`] gave last.
    fn last(&self) -> (*const u8, *mut u8) {
        let at = self.next - self.piece;
        // SAFETY: as in `advance`.
        unsafe {
            let base = self.buffer.start();
            (base.add(at), base.add(self.half + APART + at))
        }
    }
}

fn walks(how: Move) -> &'static [(&'static str, Needs, Walk)] {
    match how {
        Move::Read => catalogue::READS,
        Move::Write => catalogue::WRITES,
        Move::Copy => catalogue::COPIES,
    }
}
