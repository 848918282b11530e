//! What the scheduler asks a worker to do with staged pages, and what it answers.

use base::model::Direction;
use record::at_rest::scheme::Recipe;
use record::at_rest::{Keying, Medium, ProbeCounts};
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
    /// Their places, [`record::at_rest::scheme::POSITION_BYTES`] each.
    pub places: i32,
    /// Where decrypted pages go.
    pub out: i32,
    /// A file on a disk for reads and writes of single pages; null where there is none.
    pub scratch: Option<i32>,
    /// A file on a disk that stands for a write-ahead log, its space taken beforehand.
    pub log: Option<i32>,
    /// What is staged already, to be taken into memory before the library is loaded; null where `load` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staging>,
}

/// Staged pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staging {
    /// How many.
    pub pages: usize,
    /// Bytes in each.
    pub page_size: usize,
}

/// A job with pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// Take the staged pages into memory. Answer: [`Answer::Loaded`].
    Load(Staging),
    /// Encrypt every staged page under fixed nonces, and decrypt it again. Answer:
    /// [`Answer::Verified`] or a finding.
    Verify(VerifyJob),
    /// Change stored pages and see what is noticed. Answer: [`Answer::Probed`] or a finding.
    Probe(ProbeJob),
    /// Visit cells, all in this process. Answer: [`Reply::Samples`](super::Reply::Samples).
    Time {
        /// What to visit.
        visits: Vec<PageVisit>,
        /// What to wait for before visits.
        #[serde(default, skip_serializing_if = "crate::protocol::is_default")]
        quiet: super::QuietCore,
    },
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

/// Time single pages of a cell: two samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageVisit {
    /// The scheme.
    pub recipe: Recipe,
    /// Where pages come from and go to.
    pub medium: Medium,
    /// Way with keys.
    pub keying: Keying,
    /// Direction.
    pub direction: Direction,
    /// CPUs of the threads, each with sessions and buffers of its own; one stays where `hello` put it.
    pub cpus: Vec<u32>,
    /// Pages in memory, in both samples together; the other media take a part of it.
    pub pages: usize,
    /// Microseconds for which the scheme runs untimed before the first sample, at least.
    #[serde(default, skip_serializing_if = "crate::protocol::is_default")]
    pub settle_us: u32,
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
}
