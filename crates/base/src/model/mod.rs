//! The words of ciphermark as types: algorithm, direction, model, size, tier, case, sample,
//! measurement. Pure: no I/O, no clock, no unsafe code.

pub mod a64;
mod algorithm;
#[cfg(feature = "records")]
mod case;
mod direction;
#[cfg(feature = "records")]
mod feature;
mod glob;
mod quiet;
#[cfg(feature = "records")]
mod sample;
mod size;
#[cfg(feature = "records")]
mod tier;
#[cfg(feature = "records")]
mod timing_model;

pub use algorithm::{
    AAD_LEN, Algorithm, Composite, Integrity, Kind, Mode, Passes, Primitive, SizeRule,
    UnknownAlgorithm,
};
#[cfg(feature = "records")]
pub use case::{Case, Footprint};
pub use direction::Direction;
#[cfg(feature = "records")]
pub use feature::{Feature, Features};
pub use glob::{BadGlob, NameGlob, nearest};
pub use quiet::QuietRates;
#[cfg(feature = "records")]
pub use sample::{Disturbance, OtherEnd, QUIET_PROBE_FRACTION, RawSample, Settling};
pub use size::{BadSizes, MAX_SIZE, parse_sizes};
#[cfg(feature = "records")]
pub use tier::Tier;
#[cfg(feature = "records")]
pub use timing_model::Model;

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
