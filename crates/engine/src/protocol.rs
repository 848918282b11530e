//! What scheduler and worker say to each other. `docs/PROTOCOL.md` is the long form.
//!
//! One JSON object a line, requests on the worker's standard input, replies on its standard
//! output. Each request is complete in itself: a restarted worker can answer any of them after its
//! `hello`. Both ends are the same executable, so the version only guards against a stray one.

use base::model::{Direction, Footprint, Model, RawSample, Settling};
pub use record::{Finding, Latencies};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

mod counting;
mod greeting;
mod leaks;
pub mod pages;

pub use counting::{ClassSteps, Costs, FunctionSteps, Metering, SetSteps, Stepping, Steps};
pub use greeting::{Hello, Offer, Ready};
pub use leaks::{Judged, Judging};

/// Raised when a message changes its meaning.
pub const VERSION: u32 = 3;

/// The exit code of a worker whose library closed the protocol's pipe: EX_IOERR of sysexits(3). It makes the
/// outcome independent of who notices first: the worker, or the scheduler, which kills it.
pub(crate) const PIPE_GONE: i32 = 74;

/// Why a case has no forgeries.
pub(crate) const NO_FORGERY: &str = "only decryption with a tag can meet a forgery";

/// From the scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// First message: load a library. Answer: [`Reply::Ready`] or [`Reply::Unusable`].
    Hello(Hello),
    /// Which algorithms, directions and models does the library offer? Answers: [`Reply::Checking`] with each
    /// algorithm's name before it is opened, then [`Reply::Offers`].
    Offers,
    /// The same, where opening these ended the process before.
    OffersWithout(Vec<String>),
    /// Run every check over one algorithm. Answers: [`Reply::Checking`] before each check, then
    /// [`Reply::Verified`] or [`Reply::Finding`].
    Verify {
        /// Name of the algorithm.
        algorithm: String,
        /// Sizes, messages and the order of calls that are drawn come from it.
        #[serde(default)]
        seed: u64,
        /// Sizes in bytes to check beside the fixed and the drawn ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sizes: Vec<usize>,
    },
    /// Hold the library to one published vector. Answer: [`Reply::Judged`].
    Vector {
        /// Name of the algorithm.
        algorithm: String,
        /// The vector.
        vector: verify::vector_file::Vector,
    },
    /// Visit cases, each in a process that is forked for it. Answer: [`Reply::Samples`].
    Sample {
        /// What to visit.
        visits: Vec<Visit>,
        /// What to wait for before samples.
        #[serde(default, skip_serializing_if = "is_default")]
        quiet: QuietCore,
    },
    /// One operation, untimed. Answer: [`Reply::Result`] or [`Reply::Finding`].
    Once(Once),
    /// Count what a message allocates and copies, in a process that has the meter preloaded.
    /// Answer: [`Reply::Metered`] or [`Reply::Finding`].
    Meter(Metering),
    /// Single-step one operation of a size and say what it executed. Answer: [`Reply::Stepped`] or
    /// [`Reply::Finding`].
    Step(Stepping),
    /// Judge what an algorithm's execution depends on, in forked processes. Answer: [`Reply::Leaks`] or
    /// [`Reply::Finding`].
    Leaks(Judging),
    /// A job with staged pages. Answer: [`Reply::Pages`], [`Reply::Samples`] or [`Reply::Finding`].
    Pages(Box<pages::Job>),
    /// First message in the place of `hello`: load a TLS stack. Answer: [`Reply::Ready`] or
    /// [`Reply::Unusable`].
    Stack(record::tls::StackHello),
    /// Visit cases of a TLS stack, all in this process. Answer: [`Reply::Samples`].
    Tls {
        /// What to visit.
        visits: Vec<record::tls::Visit>,
        /// What to wait for before visits.
        #[serde(default, skip_serializing_if = "is_default")]
        quiet: QuietCore,
    },
}

/// A core that nobody else uses, which samples wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuietCore {
    /// What the throughput probe gives there; 0 where that is not known.
    pub rate: f64,
    /// The longest wait.
    pub most_microseconds: u32,
}

impl QuietCore {
    pub(crate) fn longest_wait(self) -> Duration {
        Duration::from_micros(self.most_microseconds.into())
    }
}

/// Take samples of a case in a process of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Visit {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    /// Working set.
    #[serde(default, skip_serializing_if = "Footprint::is_hot")]
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_place: bool,
    /// Bytes of memory that the operations walk through, where they walk.
    #[serde(default, skip_serializing_if = "is_default")]
    pub walk_bytes: Option<usize>,
    /// CPUs of the threads that measure at once, the measuring CPU first; one thread where there is
    /// none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cpus: Vec<u32>,
    /// Single operations that are timed alone, after the sample.
    #[serde(default, skip_serializing_if = "is_default")]
    pub latency_ops: u32,
    /// Microseconds for which the case runs untimed before the first sample, at least.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settle_us: u32,
    /// Operations in the batch; null lets the worker find how many fill a sample.
    pub ops: Option<u32>,
    /// Samples to take, one after the other.
    pub samples: u32,
    /// Samples at most: beyond those above as many as it takes until enough were left alone and two of these agree.
    #[serde(default, skip_serializing_if = "is_default")]
    pub most: u32,
    /// Make every check of the timed loop behind the last of `samples`, and not only some of them by chance.
    #[serde(default, skip_serializing_if = "is_default")]
    pub every_check: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One operation by hand. Byte strings are in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Once {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// Key.
    pub key: String,
    /// Nonce.
    pub nonce: String,
    /// Associated data.
    pub aad: String,
    /// Message.
    pub input: String,
    /// Tag to check, for decryption.
    pub tag: String,
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The library is loaded.
    Ready(Box<Ready>),
    /// The library cannot be used.
    Unusable {
        /// Why.
        why: String,
    },
    /// What the library offers.
    Offers {
        /// One entry for each algorithm and direction that exists.
        offers: Vec<Offer>,
        /// Instruction sets for ciphers in the code that came with the library, by the names of
        /// the kernel's CPU flags; null where that cannot be told.
        instructions: Option<Vec<String>>,
        /// CPUID instructions answered so far; null where none can be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpuid_answered: Option<u64>,
        /// System calls that the library was denied when its algorithms were opened.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        denied: Vec<String>,
        /// The files whose code came into the process with the library, and a runtime's own, the C and C++
        /// run-time libraries left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        objects: Vec<PathBuf>,
    },
    /// This check begins now, or an algorithm is opened: what a crash that follows is named after.
    Checking {
        /// Name of the check.
        check: String,
    },
    /// Every check passed.
    Verified {
        /// The checks.
        checks: Vec<record::Check>,
        /// SHA-256 over all outputs, in hexadecimal: the same in every library.
        digest: String,
        /// What is no fault and a reader must know all the same, each in one line.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remarks: Vec<String>,
        /// What was tried beside the fixed inputs.
        #[serde(default)]
        tried: verify::Tried,
    },
    /// What became of a vector.
    Judged {
        /// Whether it was an invalid one, rightly rejected.
        rejected: bool,
        /// What the library did that it must not; null when it did right.
        wrong: Option<String>,
    },
    /// What came of each visit, in order. One answer for all: were the scheduler woken after each
    /// visit, its work would fall into the next one's sample, on a core that may be the sibling
    /// hardware thread.
    Samples {
        /// For each visit its samples, or those before a finding and the finding.
        results: Vec<Vec<VisitResult>>,
    },
    /// Output of [`Request::Once`].
    Result {
        /// Output, in hexadecimal.
        output: String,
        /// Tag, in hexadecimal.
        tag: String,
    },
    /// What each size of [`Request::Meter`] cost.
    Metered {
        /// One entry for each size.
        costs: Vec<Costs>,
    },
    /// What one operation executed.
    Stepped(Steps),
    /// What depends on a secret.
    Leaks(Box<Judged>),
    /// What came of a job with pages.
    Pages(Box<pages::Answer>),
    /// No number, and why.
    Finding(Finding),
}

/// What came of one sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VisitResult {
    /// How the case came to its speed, before the samples of its process.
    Settled(Settling),
    /// A sample whose output was right and whose calls all returned what they should.
    Sample(RawSample),
    /// The same of several threads, one after the other, or with single operations.
    Taken {
        /// One for each thread.
        samples: Vec<RawSample>,
        /// Single operations, where they were asked for.
        latency: Option<Latencies>,
        /// What was timed beside them: reading or writing of pages.
        #[serde(default, skip_serializing_if = "is_default")]
        other: Option<Other>,
    },
    /// Samples of a TLS stack, of both ends.
    Ends {
        /// Every handshake in them was the one that was asked for.
        samples: Vec<record::tls::HandshakeSample>,
        /// What goes with the subject: at its first visit in a process.
        facts: Option<Box<record::tls::Found>>,
    },
    /// No number, and why.
    Finding(Finding),
}

/// What was timed beside samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// Ticks in each sample.
    pub ticks: Vec<u64>,
    /// Single operations.
    pub latency: Latencies,
}

impl VisitResult {
    /// The sample, where one thread took it.
    #[must_use]
    pub fn sample(&self) -> Option<RawSample> {
        match self {
            Self::Sample(sample) => Some(*sample),
            Self::Taken { samples, .. } if samples.len() == 1 => samples.first().copied(),
            _ => None,
        }
    }

    /// Operations of the batch.
    #[must_use]
    pub fn ops(&self) -> Option<u32> {
        match self {
            Self::Sample(sample) => Some(sample.ops),
            Self::Taken { samples, .. } => samples.first().map(|s| s.ops),
            Self::Ends { samples, .. } => samples.first().map(|s| s.server.ops),
            Self::Settled(_) | Self::Finding(_) => None,
        }
    }

    /// The numbers of the processes that took the samples.
    pub(crate) fn processes(&self) -> Vec<u32> {
        match self {
            Self::Sample(sample) => vec![sample.process],
            Self::Taken { samples, .. } => samples.iter().map(|s| s.process).collect(),
            Self::Ends { samples, .. } => samples.iter().map(|s| s.server.process).collect(),
            Self::Settled(settling) => vec![settling.process],
            Self::Finding(_) => Vec::new(),
        }
    }
}

/// Why an algorithm could not be opened.
pub(crate) fn not_opened(error: contract::OpenError) -> Finding {
    match error {
        contract::OpenError::Unsupported(why) => Finding::unsupported(why),
        contract::OpenError::Failed(why) => Finding::failed(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/PROTOCOL.md` shows these very lines.
    #[test]
    fn messages_are_lines_that_a_person_can_type() {
        let visit = Visit {
            algorithm: "aes-128-gcm".into(),
            direction: Direction::Encrypt,
            model: Model::Message,
            size: 8192,
            footprint: Footprint::Hot,
            in_place: false,
            walk_bytes: None,
            cpus: Vec::new(),
            latency_ops: 0,
            settle_us: 0,
            ops: None,
            samples: 3,
            most: 0,
            every_check: false,
        };
        let line = serde_json::to_string(&Request::Sample {
            visits: vec![visit],
            quiet: QuietCore::default(),
        })
        .unwrap();
        assert_eq!(
            line,
            r#"{"sample":{"visits":[{"algorithm":"aes-128-gcm","direction":"encrypt","model":"message","size":8192,"ops":null,"samples":3}]}}"#
        );
        let line = serde_json::to_string(&Reply::Finding(Finding::refused("wrong tag"))).unwrap();
        assert_eq!(line, r#"{"finding":{"state":"refused","why":"wrong tag"}}"#);
        assert_eq!(serde_json::to_string(&Request::Offers).unwrap(), r#""offers""#);
    }
}
