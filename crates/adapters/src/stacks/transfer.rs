//! Records over one open connection in memory: the server sends, the client receives, each timed apart.

use crate::stacks::bench::{Bench, End, Stack, Trouble};
use crate::stacks::connect::establish;
use probe::Clock;
use record::tls::{Mismatch, Negotiated, Protection, data_records};

/// Bytes of data in a batch at most: what is sent, the wire and what is received then stay in a core's own
/// caches. One record of the largest size always fits.
const BATCH_BYTES: usize = 1 << 16;
/// Records in a batch at most.
const MOST_RECORDS: usize = 32;
/// As many bytes of what is sent in a row are what is not to be seen on the wire.
const TELLING: usize = 16;

/// Ticks of one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The server's, sending.
    pub send: u64,
    /// The client's, receiving.
    pub receive: u64,
}

/// An open connection for records of one size.
pub struct Line {
    bench: Box<dyn Bench>,
    plain: Vec<u8>,
    into: Vec<u8>,
    negotiated: Negotiated,
    overhead: usize,
}

/// Why there is no such connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLine {
    /// In the stack's words.
    #[error("{0}")]
    Trouble(#[from] Trouble),
    /// Something else was negotiated.
    #[error("{0}")]
    Mismatch(#[from] Mismatch),
    /// What was sent or received is wrong.
    #[error("{0}")]
    Wrong(String),
}

impl Line {
    /// Opens a connection, and holds it to what was asked for. On another one before it, a record that is
    /// changed on the way must not be taken.
    ///
    /// # Errors
    /// [`NoLine`].
    pub fn open(
        stack: &dyn Stack,
        protection: Protection,
        size: usize,
        clock: &Clock,
    ) -> Result<Self, NoLine> {
        let mut spoilt = Self::connected(stack, protection, size, clock)?;
        spoilt.rejects_changes()?;
        let mut line = Self::connected(stack, protection, size, clock)?;
        line.overhead = line.one_overhead()?;
        Ok(line)
    }

    fn connected(
        stack: &dyn Stack,
        protection: Protection,
        size: usize,
        clock: &Clock,
    ) -> Result<Self, NoLine> {
        let case = protection.case();
        let mut bench = stack.open(&case)?;
        let negotiated = establish(&mut *bench, &case, clock)?.negotiated?;
        let records = (BATCH_BYTES / size.max(1)).clamp(1, MOST_RECORDS);
        Ok(Self {
            bench,
            plain: noise(size),
            into: vec![0; records * size],
            negotiated,
            overhead: 0,
        })
    }

    /// What the connection negotiated.
    #[must_use]
    pub fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    /// Bytes of a record on the wire beside its data.
    #[must_use]
    pub fn overhead(&self) -> usize {
        self.overhead
    }

    /// Records of a batch.
    #[must_use]
    pub fn records(&self) -> u32 {
        (self.into.len() / self.plain.len()) as u32
    }

    /// Sends a batch and receives it. What is on the wire and what came out is looked at outside the clock.
    ///
    /// # Errors
    /// [`NoLine::Wrong`] where the records are not as many, as long or as hidden as they must be, or where
    /// anything else comes out than was put in.
    pub fn batch(&mut self, clock: &Clock) -> Result<Batch, NoLine> {
        let records = self.records();
        self.bench.wire().clear();
        let (sent, send) = clock.part(|| self.bench.send(&self.plain, records));
        sent?;
        self.on_the_wire(records as usize)?;
        // What an earlier batch left must not pass for what comes now.
        self.into.fill(0);
        let size = self.plain.len();
        let (received, receive) = clock.part(|| self.bench.receive(&mut self.into, size));
        received?;
        if self.into.chunks_exact(size).any(|one| one != self.plain) {
            return Err(NoLine::Wrong("what was received is not what was sent".to_owned()));
        }
        Ok(Batch { send, receive })
    }

    fn on_the_wire(&mut self, records: usize) -> Result<(), NoLine> {
        let wire = self.bench.wire().written(End::Server);
        let lengths = data_records(wire).map_err(|e| NoLine::Wrong(e.to_string()))?;
        let size = self.plain.len();
        if lengths.len() != records {
            return Err(NoLine::Wrong(format!("{} records for {records} writes", lengths.len())));
        }
        if let Some(length) = lengths.iter().find(|l| **l < size) {
            return Err(NoLine::Wrong(format!("a record of {length} bytes holds no {size}")));
        }
        let telling = &self.plain[..size.min(TELLING)];
        if size >= TELLING && wire.windows(TELLING).any(|seen| seen == telling) {
            return Err(NoLine::Wrong("what was sent is on the wire in the clear".to_owned()));
        }
        Ok(())
    }

    fn one_overhead(&mut self) -> Result<usize, NoLine> {
        self.bench.wire().clear();
        self.bench.send(&self.plain, 1)?;
        self.on_the_wire(1)?;
        let length = self.bench.wire().written(End::Server).len();
        self.bench.receive(&mut self.into[..self.plain.len()], self.plain.len())?;
        Ok(length - self.plain.len())
    }

    fn rejects_changes(&mut self) -> Result<(), NoLine> {
        self.bench.wire().clear();
        self.bench.send(&self.plain, 1)?;
        self.bench.wire().spoil(End::Server);
        let size = self.plain.len();
        match self.bench.receive(&mut self.into[..size], size) {
            Err(_) => Ok(()),
            Ok(()) => Err(NoLine::Wrong(
                "a record that was changed on the way was taken all the same".to_owned(),
            )),
        }
    }
}

/// Bytes that do not repeat and cannot be compressed: G. Marsaglia, "Xorshift RNGs", Journal of Statistical
/// Software 8 (2003) 14, the 64-bit generator with shifts 13, 7, 17.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}
