//! What an operation needs at least, apart from any core. Counted in `ciphers`, `aead` and
//! `digests` from the algorithms' definitions.

use crate::analysis::bound::Bound;

/// What one operation needs at least. What depends on the key and the associated data alone is left
/// out: an implementation may keep it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// AES rounds: so many instructions over so many blocks side by side.
    pub(crate) aes: Vec<Vector>,
    /// Whether the rounds are those of decryption.
    pub(crate) inverse: bool,
    /// Updates of AEGIS.
    pub(crate) updates: Option<Updates>,
    /// Carry-less multiplications over so many blocks side by side.
    pub(crate) carryless: Vec<Vector>,
    /// Simple vector instructions (add, exclusive or, shuffle), each on a lane of 128 bits, beside
    /// AES rounds and multiplications.
    pub(crate) simple: f64,
    /// Work that vector and scalar units can divide among them.
    pub(crate) divisible: Vec<Divisible>,
    /// Instructions of which each needs the one before.
    pub(crate) chains: Vec<Chain>,
    /// Bytes loaded.
    pub(crate) loaded: f64,
    /// Bytes stored.
    pub(crate) stored: f64,
    /// Whether operations go on with one message, so that work for several may be done at once.
    pub(crate) stream: bool,
}

/// So many instructions one after the other on each of so many lanes of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vector {
    pub(crate) lanes: f64,
    pub(crate) each: f64,
}

/// Updates of AEGIS' state, each of `words` rounds on so many lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Updates {
    pub(crate) count: f64,
    pub(crate) words: f64,
    pub(crate) lanes: f64,
    /// Updates among them that decrypt: each needs what the two before gave.
    pub(crate) decrypting: f64,
    pub(crate) endless: bool,
}

/// Work in pieces, which vector and scalar units can share out: the least time is the work over the
/// sum of both rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Divisible {
    pub(crate) pieces: f64,
    /// How vector units can do it: the fastest of these.
    pub(crate) vector: &'static [Way],
    /// How scalar units can do it.
    pub(crate) scalar: Way,
    /// What it is bound by where this bounds.
    pub(crate) bound: Bound,
    /// As for [`Demand`].
    pub(crate) stream: bool,
}

/// One way to do a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Way {
    /// The fastest of these instructions.
    pub(crate) names: &'static [&'static str],
    /// Lanes of 128 bits that a piece takes; 1 for scalar registers.
    pub(crate) lanes: f64,
    /// Instructions on each lane.
    pub(crate) each: f64,
}

/// A chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chain {
    pub(crate) steps: f64,
    pub(crate) step: Step,
    /// Instructions in each step that wait for it: they fill the core's window.
    pub(crate) waiting: f64,
    /// Whether it goes on from one operation to the next, so that nothing of it overlaps.
    pub(crate) endless: bool,
}

/// One step of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// An AES round.
    AesRound,
    /// Two rounds of SHA-256.
    Sha256TwoRounds,
    /// Two rounds of SHA-512.
    Sha512TwoRounds,
    /// So many instructions of a cycle each.
    Cycles(f64),
}

/// Vector instructions that every simple operation is at least as slow as one of.
#[rustfmt::skip]
pub(crate) const SIMPLE: &[&str] = &[
    "pxor", "pternlogd", "paddd", "paddq", "pshufb",
    "eor.16b", "eor3.16b", "add.4s", "add.2d", "tbl.16b", "eor-sve",
];

impl Demand {
    /// Rounds of AES, each on a block.
    pub(crate) fn aes_rounds(&self) -> f64 {
        let updates = self.updates.map_or(0.0, |u| u.count * u.words * u.lanes);
        self.aes.iter().map(|v| v.lanes * v.each).sum::<f64>() + updates
    }

    /// Carry-less multiplications of 64 bits.
    pub(crate) fn products(&self) -> f64 {
        self.carryless.iter().map(|v| v.lanes * v.each).sum()
    }

    /// Both at once, as if they shared nothing.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.aes.extend(other.aes);
        self.inverse |= other.inverse;
        self.updates = self.updates.or(other.updates);
        self.carryless.extend(other.carryless);
        self.simple += other.simple;
        self.divisible.extend(other.divisible);
        self.chains.extend(other.chains);
        self.loaded = self.loaded.max(other.loaded);
        self.stored = self.stored.max(other.stored);
        self.stream |= other.stream;
        self
    }

    /// AES of so many blocks side by side.
    pub(crate) fn blocks(lanes: f64, rounds: f64) -> Self {
        Self { aes: vec![Vector { lanes, each: rounds }], ..Self::default() }
    }

    /// A chain of AES rounds, one waiting for each.
    pub(crate) fn serial(mut self, rounds: f64, endless: bool) -> Self {
        self.chains.push(Chain { steps: rounds, step: Step::AesRound, waiting: 1.0, endless });
        self
    }

    pub(crate) fn simple(mut self, lanes: f64) -> Self {
        self.simple += lanes;
        self
    }
}
