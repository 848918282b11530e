//! What scheduler and worker say to each other: one JSON object a line, requests on the worker's standard
//! input, replies on its standard output. `PROTOCOL.md` of this crate is the long form. Each request is complete in
//! itself, so a restarted worker can answer any of them after its `hello`.

use base::model::{Algorithm, Brought, Direction, Footprint, Model, RawSample, Settling, Tier};
use probe::step::{ClassCount, FunctionCount, SetCount};
use record::at_rest::scheme::Recipe;
use record::at_rest::{Keying, Medium, ProbeCounts};
pub use record::{Finding, Latencies};
use record::{Leak, SteppedOperation};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

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
        algorithm: String,
        /// Sizes, messages and the order of calls that are drawn come from it.
        #[serde(default)]
        seed: u64,
        /// Sizes in bytes to check beside the fixed and the drawn ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sizes: Vec<usize>,
    },
    /// Hold the library to one published vector. Answer: [`Reply::Judged`].
    Vector { algorithm: String, vector: verify::vectors::Vector },
    /// Visit cases, each in a process that is forked for it. Answer: [`Reply::Samples`].
    Sample {
        visits: Vec<Visit>,
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
    Pages(Box<PageJob>),
    /// First message in the place of `hello`: load a TLS stack. Answer: [`Reply::Ready`] or
    /// [`Reply::Unusable`].
    Stack(Box<StackHello>),
    /// Visit cases of a TLS stack, all in this process. Answer: [`Reply::Samples`].
    Tls {
        visits: Vec<record::tls::Visit>,
        #[serde(default, skip_serializing_if = "is_default")]
        quiet: QuietCore,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StackHello {
    /// The shared object with the protocol (`libssl`).
    pub path: PathBuf,
    /// The one with the primitives (`libcrypto`), where that is another file.
    pub crypto: Option<PathBuf>,
    pub tier: Tier,
    /// What to load at another tier than `native`; null has the worker find out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<host::tier::Plan>,
    /// CPU to stay on; null leaves it to the kernel.
    pub cpu: Option<u32>,
    /// Number of this process among those of its stack; goes into every sample.
    pub process: u32,
    /// Ticks in a nanosecond, where the scheduler knows; null has the worker measure it.
    pub ticks_per_ns: Option<f64>,
    /// What each reply's line is to begin with, and a space; null: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A core that nobody else uses, which samples wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuietCore {
    /// What the throughput probe gives there; 0 where that is not known.
    pub rate: f64,
    pub most_microseconds: u32,
}

impl QuietCore {
    pub(crate) fn longest_wait(self) -> Duration {
        Duration::from_micros(self.most_microseconds.into())
    }
}

/// Take samples of a case in a process of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Visit {
    pub algorithm: String,
    pub direction: Direction,
    pub model: Model,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    #[serde(default, skip_serializing_if = "Footprint::is_hot")]
    pub footprint: Footprint,
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
    pub samples: u32,
    /// Samples at most: beyond those above as many as it takes until enough were left alone and two of these agree.
    #[serde(default, skip_serializing_if = "is_default")]
    pub most: u32,
    /// Make every check of the timed loop behind the last of `samples`, and not only some of them by chance.
    #[serde(default, skip_serializing_if = "is_default")]
    pub every_check: bool,
}

impl Visit {
    /// Whether one sample of a process differs from another by nothing but what disturbs it: neither memory nor other work
    /// has a part in it. A generator that seeds itself anew now and then is none.
    pub fn is_steady(&self) -> bool {
        let is_random = self.direction == Direction::Generate;
        self.footprint.is_hot() && !self.model.is_between() && self.cpus.len() <= 1 && !is_random
    }

    /// An operation on data in the nearest cache, for what is not timed.
    pub(crate) fn untimed(
        algorithm: &Algorithm,
        direction: Direction,
        model: Model,
        size: usize,
    ) -> Self {
        Self {
            algorithm: algorithm.name.to_owned(),
            direction,
            model,
            size,
            in_place: model == Model::Stream,
            samples: 1,
            ..Self::default()
        }
    }

    /// Bytes of a message's input in memory.
    pub(crate) fn input_len(&self) -> usize {
        Algorithm::find(&self.algorithm).map_or(self.size, |a| a.input_len(self.size))
    }

    /// What an operation is to cost, where that is no number of bytes.
    pub(crate) fn cost(&self) -> Option<usize> {
        Algorithm::find(&self.algorithm).ok()?.cost(self.size)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One operation by hand. Byte strings are in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Once {
    pub algorithm: String,
    pub direction: Direction,
    pub key: String,
    pub nonce: String,
    pub aad: String,
    pub input: String,
    /// Tag to check, for decryption.
    pub tag: String,
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    Ready(Box<Ready>),
    Unusable {
        why: String,
    },
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
        check: String,
    },
    Verified {
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
        costs: Vec<Costs>,
    },
    /// What one operation executed.
    Stepped(Steps),
    /// What depends on a secret.
    Leaks(Box<Judged>),
    Pages(Box<PageAnswer>),
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
    pub latency: Latencies,
}

impl VisitResult {
    /// The sample, where one thread took it.
    pub fn sample(&self) -> Option<RawSample> {
        match self {
            Self::Sample(sample) => Some(*sample),
            Self::Taken { samples, .. } if samples.len() == 1 => samples.first().copied(),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn sample_mut(&mut self) -> Option<&mut RawSample> {
        match self {
            Self::Sample(sample) => Some(sample),
            Self::Taken { samples, .. } if samples.len() == 1 => samples.first_mut(),
            _ => None,
        }
    }

    /// Operations of the batch.
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

pub(crate) fn known(name: &str) -> Result<&'static Algorithm, Finding> {
    Algorithm::find(name).map_err(|e| Finding::failed(e.to_string()))
}

/// Why an algorithm could not be opened.
pub(crate) fn not_opened(error: contract::OpenError) -> Finding {
    match error {
        contract::OpenError::Unsupported(why) => Finding::unsupported(why),
        contract::OpenError::Failed(why) => Finding::failed(why),
    }
}

// What scheduler and worker say of themselves and of the library.

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`].
    pub protocol: u32,
    pub path: PathBuf,
    /// Name to give the library instead of its own.
    pub name: Option<String>,
    /// Version that the library gave itself in an earlier process, which it must give again; null asks for
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub tier: Tier,
    /// CPU to stay on; null leaves it to the kernel.
    pub cpu: Option<u32>,
    /// Number of this process among those of its library; goes into every sample.
    pub process: u32,
    /// Seed of the run: keys, nonces and messages come from it.
    pub seed: u64,
    /// Ticks in a nanosecond, where the scheduler knows; null has the worker measure it.
    pub ticks_per_ns: Option<f64>,
    /// What each reply's line is to begin with, and a space: a library that writes to the protocol's pipe does
    /// not know it. Null: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What the scheduler has prepared for tiers other than `native`: the files to load; null has
    /// the worker prepare it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<host::tier::Plan>,
    /// Files for jobs with pages; null where there are to be none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageFiles>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    pub name: String,
    /// Version as the library itself reports it.
    pub version: String,
    /// How it was built, one fact a line.
    pub build: Vec<String>,
    pub clock: String,
    /// Why not the time-stamp counter.
    pub clock_reason: Option<String>,
    pub step_ticks: u64,
    pub overhead_ticks: u64,
    /// Core cycles that a multiplication of the chain takes, by a second chain; null where core cycles are
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplication_cycles: Option<f64>,
    /// Why core cycles are not known, where the architecture has a chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<record::AppliedTier>,
    /// Whether the kernel keeps other programs off the core's other hardware threads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub core_alone: bool,
    /// Why its sessions cannot be used in several threads at once; null where they can.
    #[serde(default, skip_serializing_if = "is_default")]
    pub one_thread_only: Option<String>,
    /// What the process gave up before it loaded the library and after.
    #[serde(default, skip_serializing_if = "is_default")]
    pub confinement: Option<record::Confinement>,
    /// Of a TLS stack: the files whose code came into the process with it. A library's come with its offers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub objects: Vec<PathBuf>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub brings: Vec<Brought>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub algorithm: String,
    pub direction: Direction,
    pub models: Vec<Model>,
    /// Why none or not all of them are.
    pub reason: Option<String>,
    /// Whether the library has it and reported an error on opening it.
    pub failed: bool,
    /// The library's functions that the model `message` calls, in order, as the adapter says.
    pub functions: Option<String>,
    pub copies: bool,
    /// Whether the library's interface allocates memory for every message.
    pub allocates: bool,
    /// How it is given a new key; null where there is none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rekeying: Option<record::Rekeying>,
    /// The library's functions that set a new key, as the adapter says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rekey_functions: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_place: bool,
    /// The most messages in work at once, where that is more than one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_flight: Option<u32>,
    /// SHA-256 of what an algorithm that the library brings makes of some fixed messages.
    #[serde(default, skip_serializing_if = "is_default")]
    pub answers: Option<String>,
}

// What operations allocate, copy and execute: asked for, and counted.

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metering {
    pub algorithm: String,
    pub direction: Direction,
    /// Bytes of plaintext; sizes that the algorithm does not take are left out.
    pub sizes: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stepping {
    pub algorithm: String,
    pub direction: Direction,
    pub model: Model,
    pub size: usize,
    /// Steps after which the operation is left to run on unseen.
    pub most_steps: u64,
}

/// What one operation executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    pub size: usize,
    /// Whether it was seen to its end within the steps that were allowed.
    pub complete: bool,
    /// Instructions. One with a repeat prefix is one, however often it repeats.
    pub instructions: u64,
    pub classes: Vec<ClassCount>,
    pub memory_reads: u64,
    pub memory_writes: u64,
    /// By instruction set, for code of the library and of what it brought along.
    pub sets: Vec<SetCount>,
    /// The same for the C library's and the adapter's own code, which no tier hides anything from.
    pub sets_elsewhere: Vec<SetCount>,
    pub functions: Vec<FunctionCount>,
    /// Files that the instructions are in.
    pub objects: Vec<PathBuf>,
    /// Instructions of one operation by the performance counter.
    pub pmu: Option<f64>,
    pub pmu_reason: Option<String>,
}

/// What one message of a size allocates and copies through the C library, on average.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    pub size: usize,
    pub allocations: f64,
    /// Bytes that they were asked for.
    pub allocated_bytes: f64,
    pub copied_bytes: f64,
    /// Pieces of memory that were not given back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lost: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub lost_bytes: f64,
    /// Of a runtime: which share of the time goes to collecting its garbage.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collecting: f64,
}

// What of an algorithm's execution depends on its secrets: asked for, and found.

/// Judge what an algorithm's execution depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judging {
    /// Name of the algorithm; of a private key, of its scheme.
    pub algorithm: String,
    /// Keys whose traces are compared, two at least; the first is stepped twice.
    pub secrets: u32,
    /// Bytes of plaintext; where there is none, sizes are chosen that meet every kind of loop.
    pub sizes: Vec<usize>,
    /// Steps that are recorded of one key, all operations together. Of private keys fewer are stepped than asked,
    /// where these are more than three times as many.
    pub most_steps: usize,
    /// Nothing more where a key's set-up and a first message under it depend on the key already, or where setting it up
    /// takes so many steps that there is hardly time for the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_one: bool,
    /// A function: both traces around its first difference are printed, not only where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// What depends on a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Why something was not judged.
    pub reason: Option<String>,
    /// Keys that were compared, where these are fewer than asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<u32>,
    /// Whether this is a key's set-up and a first message, and was enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_opening: bool,
    pub operations: Vec<SteppedOperation>,
    pub findings: Vec<Leak>,
    pub objects: Vec<PathBuf>,
    /// Lines of both traces, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
}

// What the scheduler asks a worker to do with staged pages, and what it answers.

/// Bytes of a log before it begins anew in the same space, as a recycled segment of `PostgreSQL`'s
/// does: 16 MiB (`wal_segment_size`).
pub(crate) const LOG_BYTES: u64 = 16 << 20;

/// Files that the scheduler has open, by the numbers that it has them under. A worker opens them there
/// (`/proc/PID/fd`, proc_pid_fd(5)) before it gives up opening files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFiles {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staging {
    pub pages: usize,
    pub page_size: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageJob {
    /// Take the staged pages into memory. Answer: [`Answer::Loaded`].
    Load(Staging),
    /// Encrypt every staged page under fixed nonces, and decrypt it again. Answer:
    /// [`Answer::Verified`] or a finding.
    Verify(VerifyJob),
    /// Change stored pages and see what is noticed. Answer: [`Answer::Probed`] or a finding.
    Probe(ProbeJob),
    /// Visit cells, all in this process. Answer: [`Reply::Samples`](super::Reply::Samples).
    Time {
        visits: Vec<PageVisit>,
        #[serde(default, skip_serializing_if = "crate::protocol::is_default")]
        quiet: QuietCore,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyJob {
    pub recipe: Recipe,
    /// Keys and nonces come from it.
    pub seed: u64,
    /// Every `.0`th page, from number `.1` on, is left decrypted in [`PageFiles::out`].
    pub copy: Option<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeJob {
    pub recipe: Recipe,
    /// Keys, nonces and choices come from it.
    pub seed: u64,
    pub count: u32,
}

/// Time single pages of a cell: two samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageVisit {
    pub recipe: Recipe,
    pub medium: Medium,
    pub keying: Keying,
    pub direction: Direction,
    /// CPUs of the threads, each with sessions and buffers of its own; one stays where `hello` put it.
    pub cpus: Vec<u32>,
    /// Pages in memory, in both samples together; the other media take a part of it.
    pub pages: usize,
    /// Microseconds for which the scheme runs untimed before the first sample, at least.
    #[serde(default, skip_serializing_if = "crate::protocol::is_default")]
    pub settle_us: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageAnswer {
    Loaded,
    /// Every page came back as it was.
    Verified {
        /// XXH3-128 over all ciphertexts, nonces and tags, in hexadecimal.
        digest: String,
        /// Which code made the sum; null where the scheme has none.
        sum_by: Option<String>,
    },
    Probed {
        counts: Vec<ProbeCounts>,
    },
}
