//! The words of ciphermark as types: algorithm, direction, model, size, tier, case, sample, measurement.
//! Pure: no I/O, no clock, no unsafe code.

pub mod a64;
mod algorithm;
mod grammar;
#[cfg(feature = "records")]
mod sample;
#[cfg(feature = "records")]
mod tier;

pub use algorithm::{
    AAD_LEN, Algorithm, Composite, Direction, Integrity, Kind, Mode, Passes, Primitive, SizeRule,
    UnknownAlgorithm,
};
pub use grammar::{BadGlob, BadSizes, MAX_SIZE, NameGlob, nearest, parse_sizes};
#[cfg(feature = "records")]
pub use sample::Case;
#[cfg(feature = "records")]
pub use sample::Disturbance;
#[cfg(feature = "records")]
pub use sample::Footprint;
#[cfg(feature = "records")]
pub use sample::Model;
#[cfg(feature = "records")]
pub use sample::OtherEnd;
#[cfg(feature = "records")]
pub use sample::QUIET_PROBE_FRACTION;
#[cfg(feature = "records")]
pub use sample::RawSample;
#[cfg(feature = "records")]
pub use sample::Settling;
use std::collections::BTreeMap;
#[cfg(feature = "records")]
pub use tier::Feature;
#[cfg(feature = "records")]
pub use tier::Features;
#[cfg(feature = "records")]
pub use tier::Tier;

/// In the place of a path: the running Linux kernel's own ciphers, which no file stands for.
pub const KERNEL_PATH: &str = "af_alg:";

/// What the path of a language's runtime begins with, which is a program and no shared object: `runtime:go`.
pub const RUNTIME_PREFIX: &str = "runtime:";

/// Whether a library's path stands for code that runs in no process of ours: the kernel's, or a runtime's.
#[must_use]
pub fn runs_elsewhere(path: &std::path::Path) -> bool {
    path.as_os_str() == KERNEL_PATH || runtime_name(path).is_some()
}

/// What a runtime's path names: one of those that are known, or a program's path.
#[must_use]
pub fn runtime_name(path: &std::path::Path) -> Option<&str> {
    path.to_str()?.strip_prefix(RUNTIME_PREFIX)
}

// What the throughput probe gives on a core where nothing else runs.

/// The throughput probe's quiet rate on each CPU: independent instructions per core cycle. Cores of
/// one processor can differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuietRates(BTreeMap<u32, f64>);

impl QuietRates {
    /// The rate of one CPU.
    #[must_use]
    pub fn of_one(cpu: u32, rate: f64) -> Self {
        Self(BTreeMap::from([(cpu, rate)]))
    }

    /// Notes a CPU's rate.
    pub fn set(&mut self, cpu: u32, rate: f64) {
        self.0.insert(cpu, rate);
    }

    /// A CPU's rate; 0, below which no probe falls, where it is not known.
    #[must_use]
    pub fn of(&self, cpu: u32) -> f64 {
        self.0.get(&cpu).copied().unwrap_or(0.0)
    }

    /// Every CPU with its rate.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.0.iter().map(|(cpu, rate)| (*cpu, *rate))
    }
}
