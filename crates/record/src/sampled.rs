//! What samples of a program's CPU time tell of its cryptography: all of it, calls into a library or not, within the
//! error that their count gives. `docs/WATCH.md` says how.

use base::analysis::SampledShare;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A program's CPU time by samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sampled {
    /// From begin to end.
    pub seconds: f64,
    /// CPU time between two samples.
    pub interval_ns: u64,
    /// How many there are.
    pub samples: u64,
    /// Records that the kernel had no room for; their samples are in no share.
    pub lost: u64,
    /// How often the kernel paused sampling because it took too long.
    pub throttled: u64,
    /// Whether time in the kernel is among them.
    pub with_kernel: bool,
    /// Three parts that add up to 1.
    pub parts: Parts,
    /// By what the code computes, most first; what is not recognised is in none.
    pub kinds: Vec<SampledKind>,
    /// Most first.
    pub files: Vec<SampledFile>,
    /// Functions with cryptography, most first, up to 100.
    pub functions: Vec<SampledFunction>,
    /// Processes by their names, most first, up to 100.
    pub programs: Vec<SampledProgram>,
    /// What could not be seen into, a sentence each.
    pub unseen: Vec<String>,
}

/// Shares of the CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parts {
    /// In calls into libraries, timed one by one.
    pub by_calls: f64,
    /// In code that is cryptography, or of a library for it, and of which no call explains it.
    pub by_samples_only: SampledShare,
    /// The rest. Cryptography that nothing tells apart is in it.
    pub other: f64,
}

/// A kind of code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledKind {
    /// As people call it: `AES and GHASH in one loop`.
    pub kind: String,
    /// Whether it is cryptography for sure.
    pub is_crypto: bool,
    /// In it.
    pub samples: u64,
}

/// A file with code that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledFile {
    /// As the kernel names it; `[kernel]`, `[made while running]` and `[unknown]` are no files.
    pub path: PathBuf,
    /// Of its linker.
    pub build_id: Option<String>,
    /// What it says that its cryptography is.
    pub version: Option<String>,
    /// Whether programs call cryptography in it.
    pub is_library: bool,
    /// Whether its code could be looked at.
    pub is_readable: bool,
    /// Seconds that calls into it took, where they were timed.
    pub seconds_in_calls: Option<f64>,
    /// In it.
    pub samples: u64,
    /// Of these, in code that is recognised as cryptography.
    pub crypto_samples: u64,
}

/// A function in which cryptography was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledFunction {
    /// Of its file.
    pub path: PathBuf,
    /// Its name, or where it begins.
    pub function: String,
    /// What it computes.
    pub kind: String,
    /// In it.
    pub samples: u64,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledProgram {
    /// Its number.
    pub pid: u32,
    /// Its name, as `ps` has it.
    pub name: String,
    /// In it.
    pub samples: u64,
    /// Of these, in code that is recognised as cryptography.
    pub crypto_samples: u64,
}

impl Sampled {
    /// With `~` for the home directory, as records have it.
    #[must_use]
    pub fn without_home(mut self) -> Self {
        let files = self.files.iter_mut().map(|file| &mut file.path);
        let functions = self.functions.iter_mut().map(|function| &mut function.path);
        files.chain(functions).for_each(|path| *path = crate::calls::without_home(path));
        self
    }

    /// CPU time that the samples stand for.
    pub fn cpu_seconds(&self) -> f64 {
        self.samples as f64 * self.interval_ns as f64 / 1e9
    }

    /// What part of all samples so many are.
    pub fn share(&self, samples: u64) -> SampledShare {
        SampledShare::of(samples, self.samples)
    }

    /// Samples in code that is recognised as cryptography: a lower bound of its share.
    pub fn crypto_samples(&self) -> u64 {
        self.files.iter().map(|file| file.crypto_samples).sum()
    }
}
