//! What the scheduler asks a worker to do with staged pages, and what it answers.

use super::Finding;
use at_rest::scheme::Recipe;
use at_rest::{Keying, Medium, ProbeCounts};
use model::Direction;
use serde::{Deserialize, Serialize};

/// Bytes of a log before it begins anew in the same space, as a recycled segment of `PostgreSQL`'s
/// does: 16 MiB (`wal_segment_size`).
pub(crate) const LOG_BYTES: u64 = 16 << 20;

/// Files that the scheduler has open, by the numbers that it has them under. A worker opens them there
/// (`/proc/PID/fd`, proc_pid_fd(5)) before it gives up opening files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFiles {
    /// The scheduler's process.
    pub owner: u32,
    /// Staged pages, one after the other.
    pub plain: i32,
    /// Their places, [`at_rest::scheme::POSITION_BYTES`] each.
    pub places: i32,
    /// Where decrypted pages go.
    pub out: i32,
    /// A file on a disk for reads and writes of single pages; null where there is none.
    pub scratch: Option<i32>,
    /// A file on a disk that stands for a write-ahead log, its space taken beforehand.
    pub log: Option<i32>,
}

/// A job with pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// Take the staged pages into memory. Answer: [`Answer::Loaded`].
    Load {
        /// How many.
        pages: usize,
        /// Bytes in each.
        page_size: usize,
    },
    /// Encrypt every staged page under fixed nonces, and decrypt it again. Answer:
    /// [`Answer::Verified`] or a finding.
    Verify(VerifyJob),
    /// Change stored pages and see what is noticed. Answer: [`Answer::Probed`] or a finding.
    Probe(ProbeJob),
    /// Time single pages. Answer: [`Answer::Timed`] or a finding.
    Time(TimeJob),
}

/// Encrypt and decrypt every staged page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyJob {
    /// How.
    pub recipe: Recipe,
    /// Keys and nonces come from it.
    pub seed: u64,
    /// Every `.0`th page, from number `.1` on, is left decrypted in [`PageFiles::out`].
    pub copy: Option<(usize, usize)>,
}

/// Change stored pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeJob {
    /// How they are encrypted.
    pub recipe: Recipe,
    /// Keys, nonces and choices come from it.
    pub seed: u64,
    /// Probes of each kind.
    pub count: u32,
}

/// Time single pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeJob {
    /// Schemes; the first is `none`.
    pub recipes: Vec<Recipe>,
    /// Where pages come from and go to.
    pub media: Vec<Medium>,
    /// CPUs of the threads, each with sessions and buffers of its own.
    pub cpus: Vec<u32>,
    /// Keys, orders and choices come from it.
    pub seed: u64,
    /// Pages for each scheme and direction in memory; the other media take a part of it.
    pub pages: usize,
}

/// The worker's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The staged pages are in memory.
    Loaded,
    /// Every page came back as it was.
    Verified {
        /// XXH3-128 over all ciphertexts, nonces and tags, in hexadecimal.
        digest: String,
        /// Which code made the sum; null where the scheme has none.
        sum_by: Option<String>,
    },
    /// What was noticed.
    Probed {
        /// One entry for each kind.
        counts: Vec<ProbeCounts>,
    },
    /// What was timed.
    Timed {
        /// One entry for each scheme, medium, way with keys, direction and thread.
        cells: Vec<TimedCell>,
    },
}

/// Single pages of one cell in one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedCell {
    /// Index of the scheme.
    pub recipe: usize,
    /// Medium.
    pub medium: Medium,
    /// Way with keys.
    pub keying: Keying,
    /// Direction.
    pub direction: Direction,
    /// Nanoseconds of the scheme's own work, page by page.
    pub crypto_ns: Vec<u32>,
    /// Nanoseconds of reading or writing, page by page; empty in memory.
    pub io_ns: Vec<u32>,
    /// Whether another program ran in between.
    pub disturbed: bool,
    /// Independent instructions per core cycle, the lower of before and after; 0: unknown.
    pub throughput: f64,
    /// Why there is no number; null where there is one.
    pub finding: Option<Finding>,
}
