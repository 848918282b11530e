//! Batches of messages that run in another process: that of a language's runtime, whose timed loop is written in the
//! language and not here.

use std::fmt::Debug;

/// The messages of a ring of sixteen descriptors, as long as no others are placed.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Bytes of a message.
    pub size: usize,
    /// The different messages, one after the other; descriptors take them in turn.
    pub inputs: &'a [u8],
    /// How many places for outputs descriptors share in turn.
    pub places: usize,
    /// Associated data of every message.
    pub aad: &'a [u8],
    /// Whether a nonce is raised by sixteen after its use.
    pub fresh: bool,
    /// What every call is to return.
    pub expected: i32,
}

/// One run of operations on the ring.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The first operation's descriptor.
    pub at: usize,
    /// How many operations.
    pub ops: u32,
    /// What to fill outputs and, but for decryption, tags with before.
    pub poison: Option<u8>,
    /// The nonces of all descriptors, one after the other.
    pub nonces: &'a [u8],
    /// Their tags, likewise; of use in decryption.
    pub tags: &'a [u8],
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    /// The bits of every return code, each exclusive-or the expected one.
    pub codes: i32,
    /// Nanoseconds by the language's clock.
    pub ns: f64,
    /// Nanoseconds of collecting garbage that the run's own garbage will cost, by what collecting took so far.
    pub collecting_ns: f64,
    /// Bytes that the run allocated, where the runtime tells.
    pub allocated: Option<f64>,
}

/// A session in a runtime's process.
pub trait Remote: Send + Debug {
    /// Places messages. Returns how many operations of the session's algorithm and direction the process has run
    /// before, of any size.
    fn place(&mut self, placed: &Placed<'_>) -> u64;

    /// Runs operations.
    fn run(&mut self, turn: &Turn<'_>) -> Ran;

    /// What was written last to each place: its output, unless it is a digest's, and its tag, unless it was decrypted.
    fn written(&mut self) -> Vec<u8>;

    /// Whether code is compiled while it runs, so that the first operations are slower.
    fn compiles(&self) -> bool;

    /// Processor time of the runtime's process so far, in nanoseconds.
    fn cpu_ns(&self) -> f64;
}
