//! Measurements: one case's outcome, why there is no number where there is none, and what an operation costs
//! beyond its bytes: key set-up, latency, threads, the fitted line, and process by process. And the raw samples
//! that they were made of, one array a field: field names are written once, not once a sample.

use crate::{Disturbances, Record};
use base::analysis::{Estimate, costs_by_process, of_visits};
use base::model::{Direction, Footprint, Model, QuietRates, RawSample, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// What became of a case.
    #[derive(Default)]
    State {
        /// Measured, with every check passed.
        Measured = "measured",
        /// The library does not offer it or cannot be asked for it, or the algorithm does not define it.
        Unsupported = "unsupported",
        /// A check failed: there is a number, and it is not to be believed, so it is not kept.
        Refused = "refused",
        /// Crash, hang or error.
        #[default]
        Failed = "failed",
        /// A figure from elsewhere (since 1.2): nothing was measured or checked here, so it is never
        /// ranked or compared as if it had been.
        Imported = "imported",
    }
}

impl State {
    /// Whether cases in this state carry numbers: those that were measured and verified here, and
    /// those that came from elsewhere.
    pub fn has_number(self) -> bool {
        matches!(self, Self::Measured | Self::Imported)
    }

    /// Whether there is no number because the time was over, somebody ended the run, or others were shown to be
    /// faster: no fault of anything.
    pub fn is_left_out(self, stopped: Option<Stopped>) -> bool {
        let is_cut =
            |why| matches!(why, Stopped::Budget | Stopped::Interrupted | Stopped::Screened);
        self == Self::Failed && stopped.is_some_and(is_cut)
    }
}

/// Where an imported figure comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// What it was read from: the output of a program, or a publication with author, title, year
    /// and address.
    pub source: String,
    /// The machine that it was measured on, as far as the source says so.
    pub machine: Option<String>,
}

/// Why sampling of a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stopped {
    /// The interval is within the asked precision.
    Precision,
    /// As many processes as say anything differ by too much for it.
    Scatter,
    /// The time budget ran out first.
    Budget,
    /// The run was interrupted.
    Interrupted,
    /// Short of being measured, it was seen to cost too much to be chosen (since 1.6): `at_least_ns`.
    Screened,
}

/// How a case's processes came to their speed, before their first samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// Microseconds that the case runs untimed before it is as fast as it gets: samples of processes that ran it for
    /// less do not count.
    pub us: u32,
    /// Nanoseconds of the first operation of a process, the median over processes.
    pub first_ns: f64,
    /// Processes that ran it at least twice as long.
    pub processes_longer: u32,
    /// Whether these were found to cost less than the others, so that `us` was raised to what they had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raised: bool,
}

/// Processes of a case that cost about the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessKind {
    /// Core cycles of an operation, the median of these processes; nanoseconds where cycles are unknown.
    pub cost: f64,
    /// How many processes.
    pub processes: u32,
}

/// Which build was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct LibraryId {
    /// Name as in `--library`.
    pub name: String,
    /// Version as the loaded library itself reports it.
    pub version: String,
    /// Path of the shared object.
    pub path: String,
    /// `build-id:…` or `sha256:…`, with a plus sign and a hash behind it where other files are part of the build.
    pub id: String,
}

/// What stands in an id between the file's own and that of the other files which it maps.
pub const WITH: char = '+';

impl LibraryId {
    /// `openssl@3.0.22`
    pub fn label(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    pub fn own_file(&self) -> &str {
        self.id.split(WITH).next().unwrap_or_default()
    }
}

/// A check that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Name, as in `crates/verify/src/checks/README.md`: `known-answers`, `cross-library`, `round-trip`, …
    pub name: String,
    /// How many single comparisons it made.
    pub count: u64,
}

/// What proves a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Where ticks come from: `tsc`, `cntvct` (aarch64) or `clock_monotonic_raw`.
    pub clock: String,
    /// Where core cycles come from, a chain of dependent instructions beside each sample: `imul-chain`, on aarch64
    /// `add-chain`.
    pub cycles: String,
    /// Timed batches whose own output was compared with the independent reference.
    pub outputs_checked: u64,
    /// Timed operations whose return code was success: all of them.
    pub calls_succeeded: u64,
    /// Where the instruction counts come from: `single-step`, `pmu`; null where nothing was
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

impl Evidence {
    /// What the clock and, where there are any, the core cycles come from.
    pub fn of_clock(clock: &str, has_cycles: bool) -> Self {
        let cycles = match (has_cycles, clock) {
            (false, _) => "unknown",
            (true, "cntvct") => "add-chain",
            (true, _) => "imul-chain",
        };
        Self { clock: clock.to_owned(), cycles: cycles.to_owned(), ..Self::default() }
    }
}

/// One case's outcome. Numbers are null unless the state is `measured`, or `imported` and the source
/// gives them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Which build.
    pub library: LibraryId,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Version of the model's definition.
    pub model_version: u32,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    /// Which CPU instructions the library may see.
    pub tier: Tier,
    /// Threads measuring at once.
    pub threads: u32,
    /// Working set.
    pub footprint: Footprint,
    /// Whether the output is written over the input (since 1.2). The model `stream` always is.
    #[serde(default)]
    pub in_place: bool,
    /// What else tells the case from others (since 1.4): of a TLS handshake the temperature, of a page
    /// the medium and the way with keys. Absent where there is nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub setting: String,
    /// What became of it.
    pub state: State,
    /// Why, when not measured; and why the precision was not reached, when it was not.
    pub reason: Option<String>,
    /// What is no fault and a reader must know all the same (since 1.3): memory that is allocated or
    /// lost for each message, calls that take long every so often, what the library prints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Where the figure comes from, in the state `imported` (since 1.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// What a reader must be told wherever the algorithm is shown.
    pub warning: Option<String>,
    /// Nanoseconds per operation.
    pub ns_per_op: Option<Estimate>,
    /// Nanoseconds that one operation takes at the least, where it was not measured and a look at it says so (since 1.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_ns: Option<f64>,
    /// Core cycles per operation: the steadier unit, and the one that precision is asked of.
    pub cycles_per_op: Option<Estimate>,
    /// Nanoseconds per byte of plaintext.
    pub ns_per_byte: Option<f64>,
    /// Megabytes (10^6 bytes) of plaintext per second.
    pub mb_per_s: Option<f64>,
    /// Core cycles per byte of plaintext.
    pub cycles_per_byte: Option<f64>,
    /// Instructions that each further byte costs; null where not counted.
    pub instructions_per_byte: Option<f64>,
    /// Instructions that a message costs whatever its length; null where not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions_per_message: Option<f64>,
    /// The limit's cycles per operation divided by the measured ones: 1 is as fast as this core can.
    /// Null where no limit is known.
    pub limit_fraction: Option<f64>,
    /// Core cycles that one operation takes at least on this core.
    #[serde(default)]
    pub limit_cycles_per_op: Option<f64>,
    /// What the limit is bound by.
    #[serde(default)]
    pub limited_by: Option<base::analysis::bound::Bound>,
    /// Whom the limit binds (since 1.3): `proven` for every implementation or for this one by the
    /// instructions that it was seen to execute, else `known-methods`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_basis: Option<base::analysis::bound::Basis>,
    /// What each thread reached, where several measured at once (since 1.2). `mb_per_s` is then of
    /// all together, and the times per operation and byte are those of one thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_thread: Vec<ThreadShare>,
    /// What setting a new key costs, in the model `rekey` where the model `message` was measured as
    /// well (since 1.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_setup: Option<KeySetup>,
    /// Latency of single operations, where it was asked for (since 1.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Latency>,
    /// Half-width of the interval of `cycles_per_op`, as a fraction of the median.
    pub precision: Option<f64>,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
    /// Clean samples: the ones that count.
    pub samples: u64,
    /// Disturbed samples: kept, marked, not counted.
    pub samples_disturbed: u64,
    /// Worker processes that the clean samples come from.
    pub processes: u32,
    /// `samples_disturbed`, by reason.
    #[serde(default, skip_serializing_if = "Disturbances::is_none")]
    pub disturbed: Disturbances,
    /// How its processes came to their speed (since 1.6); absent where none was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    /// The two kinds in which its processes come (since 1.6), the cheaper first; absent where they are of one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<ProcessKind>,
    /// Whether contended samples count, because too few quiet ones came: the library is at least so
    /// fast.
    #[serde(default)]
    pub contended: bool,
    /// Checks that passed.
    pub checks: Vec<Check>,
    /// What proves the number.
    pub evidence: Evidence,
    /// What only a measurement of its kind has (since 1.4); absent in surveys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
    /// Every sample.
    pub raw: Samples,
    /// What the samples come to process by process, where an archive kept that in their place. Never in a file.
    #[serde(skip)]
    pub costs: Option<ProcessCosts>,
}

impl Measurement {
    /// In words, the two kinds in which its processes come.
    pub fn kinds_in_words(&self) -> Option<String> {
        let [cheap, dear] = self.kinds[..] else { return None };
        let unit = if self.cycles_per_op.is_some() { "cycles" } else { "ns" };
        let all = cheap.processes + dear.processes;
        let number =
            |cost: f64| if cost < 1000.0 { format!("{cost:.1}") } else { format!("{cost:.0}") };
        Some(format!(
            "{} {unit} in {} of {all} processes, {} in {}",
            number(cheap.cost),
            cheap.processes,
            number(dear.cost),
            dear.processes
        ))
    }

    /// As [`State::is_left_out`].
    pub fn is_left_out(&self) -> bool {
        self.state.is_left_out(self.stopped)
    }

    /// Whether there is no number because somebody ended the run before.
    pub fn is_cut_off(&self) -> bool {
        self.is_left_out() && self.stopped == Some(Stopped::Interrupted)
    }

    /// A case in the usual setting of which nothing is known yet; struct updates say what is.
    pub fn blank(library: LibraryId, algorithm: &str, state: State) -> Self {
        Self {
            library,
            algorithm: algorithm.to_owned(),
            model_version: Model::Message.version(),
            threads: 1,
            state,
            ..Self::default()
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `unsupported`, `refused` or `failed`.
    pub state: State,
    pub why: String,
    /// What ended the run before it was its turn; none where it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Nanoseconds that an operation takes at the least, where a look at it showed so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_ns: Option<u64>,
}

impl Finding {
    pub fn refused(why: impl Into<String>) -> Self {
        Self::of(State::Refused, why)
    }

    /// The library does not have it, or the algorithm does not define it.
    pub fn unsupported(why: impl Into<String>) -> Self {
        Self::of(State::Unsupported, why)
    }

    /// Crash, hang or error.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::of(State::Failed, why)
    }

    /// The run ended before it was done to it, as in "verified".
    pub fn left_out(stopped: Stopped, done: &str) -> Self {
        let why = match stopped {
            Stopped::Interrupted => format!("interrupted before it was {done}"),
            _ => format!("the budget was over before it was {done}"),
        };
        Self { stopped: Some(stopped), ..Self::failed(why) }
    }

    /// A look showed that it, or the same at a larger size, takes too long to be measured.
    pub fn screened(at_least_ns: Option<u64>) -> Self {
        let why = match at_least_ns {
            Some(ns) => {
                format!("not measured: a look at it showed that it takes {ns} ns at the least")
            }
            None => "not measured, after a look at all that was asked".to_owned(),
        };
        Self { stopped: Some(Stopped::Screened), at_least_ns, ..Self::failed(why) }
    }

    pub fn of(state: State, why: impl Into<String>) -> Self {
        Self { state, why: why.into(), stopped: None, at_least_ns: None }
    }
}

// What an operation of a case costs, process by process: all that verdicts are made of.

/// The costs of one operation, one for each worker process with enough valid samples, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessCosts {
    /// In core cycles; zeros where these are unknown.
    pub cycles: Vec<f64>,
    /// In nanoseconds.
    pub ns: Vec<f64>,
}

impl ProcessCosts {
    /// The costs of a measured case, as the estimates in the record are made of them; `None` in every other state.
    pub fn of(record: &Record, m: &Measurement) -> Option<Self> {
        Some(Self { cycles: m.cycles_by_process()?, ns: m.ns_by_process(record)? })
    }
}

impl Measurement {
    /// Core cycles of one operation, one a process: as an archive kept them, else from the raw samples.
    pub fn cycles_by_process(&self) -> Option<Vec<f64>> {
        match &self.costs {
            Some(kept) => Some(kept.cycles.clone()),
            None => self.by_process(RawSample::cycles_per_op),
        }
    }

    /// The same in nanoseconds; `record` is the one that the measurement is of.
    pub fn ns_by_process(&self, record: &Record) -> Option<Vec<f64>> {
        if let Some(kept) = &self.costs {
            return Some(kept.ns.clone());
        }
        let tick = 1e9 / record.host.clock.ticks_per_second;
        Some(self.by_process(RawSample::ticks_per_op)?.into_iter().map(|t| t * tick).collect())
    }

    /// A visit's samples all count or none does.
    fn by_process(&self, value: fn(&RawSample) -> f64) -> Option<Vec<f64>> {
        if self.state != State::Measured {
            return None;
        }
        let clean: Vec<RawSample> =
            self.raw.iter().filter(|(_, counts)| *counts).map(|(s, _)| s).collect();
        Some(costs_by_process(&of_visits(&clean, self.threads, &QuietRates::default()), value))
    }
}

/// How a library was given a new key in the model `rekey`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rekeying {
    /// Its context was used again.
    Reused,
    /// It has no such call, or its adapter does not make it: the algorithm was opened anew for each
    /// message and closed after it.
    Reopened,
}

/// What setting a new key costs: the model `rekey` less the model `message` at the same size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeySetup {
    /// Nanoseconds; within the noise of two measurements, so that it can be a little below zero.
    pub ns: f64,
    /// Core cycles.
    pub cycles: Option<f64>,
}

/// Latency of single operations, each timed alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Half of the operations took no longer, in nanoseconds.
    pub p50: f64,
    /// 99 in 100 took no longer; null below 100 operations.
    pub p99: Option<f64>,
    /// 999 in 1000 took no longer; null below 1000 operations.
    pub p99_9: Option<f64>,
    /// Operations that count.
    pub operations: u64,
    /// Operations that were timed while the thread was switched out or moved; they do not count.
    pub disturbed: u64,
    /// Step of the clock in nanoseconds: no figure is finer.
    pub resolution_ns: f64,
    /// How many operations took how many ticks, the clock's own cost taken off, ascending.
    pub ticks: Vec<(u64, u64)>,
}

/// What one of several threads reached while all of them ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadShare {
    /// CPU that it was pinned to.
    pub cpu: u32,
    /// Nanoseconds per operation in this thread.
    pub ns_per_op: f64,
    /// Core cycles per operation in this thread.
    pub cycles_per_op: Option<f64>,
    /// Megabytes (10^6 bytes) of plaintext per second in this thread.
    pub mb_per_s: Option<f64>,
}

/// The line time = a + b·size over the sizes of cases that differ in nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// Which build.
    pub library: LibraryId,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions the library may see.
    pub tier: Tier,
    /// Threads measuring at once.
    pub threads: u32,
    /// Working set.
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    pub in_place: bool,
    /// Sizes that the line was fitted to, ascending.
    pub sizes: Vec<usize>,
    /// a: nanoseconds per message, whatever its size.
    pub ns_per_message: f64,
    /// b: nanoseconds per byte.
    pub ns_per_byte: f64,
    /// a in core cycles.
    pub cycles_per_message: Option<f64>,
    /// b in core cycles.
    pub cycles_per_byte: Option<f64>,
    /// Largest distance of a measured time from the line, as a fraction of the time.
    pub residual: f64,
    /// a / b: the size in bytes at which half of the peak speed is reached; null where the line
    /// gives none.
    pub half_speed_bytes: Option<f64>,
    /// Whether the measured times lie on a line, within 10 %. Where they do not, the numbers of this
    /// entry describe no size well.
    pub linear: bool,
}

/// Single operations of one visit, each timed alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// How many operations took how many ticks, ascending.
    pub ticks: Vec<(u64, u64)>,
    /// Operations that were timed while the thread was switched out or moved.
    pub disturbed: u64,
}

/// A case's raw samples, one array a field, in the order in which they were taken. All arrays
/// have the same length; entry `i` of each belongs to sample `i`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// Which worker process took it (counted within the library): one memory layout each.
    pub process: Vec<u32>,
    /// Which of the threads that measured at once took it (since 1.2); the samples of one visit stand
    /// one after the other. Absent where there is one thread only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thread: Vec<u32>,
    /// Operations in the timed batch.
    pub ops: Vec<u32>,
    /// Clock ticks of the batch, the clock's own overhead taken off.
    pub ticks: Vec<u64>,
    /// Core cycles per tick just before the batch, to 5 significant digits.
    pub clock_before: Vec<f64>,
    /// Core cycles per tick just after the batch, to 5 significant digits.
    pub clock_after: Vec<f64>,
    /// Independent instructions per core cycle just before the batch, to 4 significant digits.
    pub probe_before: Vec<f64>,
    /// Independent instructions per core cycle just after the batch, to 4 significant digits.
    pub probe_after: Vec<f64>,
    /// Context switches, wanted or not, from before the first probe to after the last.
    pub switches: Vec<u32>,
    /// Whether the thread ended on another CPU than it began on.
    pub migrated: Vec<bool>,
    /// Whether the sample counts; disturbed ones are kept and do not.
    pub clean: Vec<bool>,
    /// Of `switches`, those that the thread asked for by waiting; absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub voluntary: Vec<u32>,
    /// Page faults, from before the first probe to after the last; absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_faults: Vec<u32>,
    /// Of `page_faults`, those that waited for a disk; absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub major_faults: Vec<u32>,
    /// Whether the hypervisor took the CPU away during the block of samples; absent where it never
    /// did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stolen: Vec<bool>,
    /// The CPU that it was taken on; absent where that was CPU 0 for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu: Vec<u32>,
    /// Microseconds for which the process ran the case untimed before its first sample (since 1.6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled_us: Vec<u32>,
    /// Whether that was shorter than the case needs (since 1.6); absent where it never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<bool>,
    /// Whether a faster one of its process shows that the core was taken in between; absent where it never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupted: Vec<bool>,
    /// Microseconds for which the core was waited for to be quiet, since the sample before (since 1.6); absent where it
    /// never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_us: Vec<u32>,
    /// Of operations whose `ticks` are of CPU time, ticks for which the process did not run (since 1.6); absent where
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub away_ticks: Vec<u64>,
}

/// The clock's readings scatter by some 0.1 %: digits past the fifth are noise.
const CLOCK_DIGITS: usize = 5;
/// The throughput probe is held against a threshold of 7 %: four digits are plenty.
const PROBE_DIGITS: usize = 4;

/// What goes through all columns, which are listed once: those that every sample fills, and those that stay empty until
/// one says something.
macro_rules! columns {
    (always: $($always:ident)*; rare: $($rare:ident)*) => {
        impl Samples {
            /// Adds one; readings are rounded to the digits that mean something. A reading that is no
            /// finite number is kept as 0, because JSON has no other number for it.
            pub fn push(&mut self, sample: &RawSample, clean: bool) {
                let sample = RawSample {
                    clock_before: significant(sample.clock_before, CLOCK_DIGITS),
                    clock_after: significant(sample.clock_after, CLOCK_DIGITS),
                    probe_before: significant(sample.probe_before, PROBE_DIGITS),
                    probe_after: significant(sample.probe_after, PROBE_DIGITS),
                    ..*sample
                };
                let before = self.clean.len();
                self.clean.push(clean);
                $(self.$always.push(sample.$always);)*
                $(push_rare(&mut self.$rare, before, sample.$rare);)*
            }

            /// Each sample with whether it counts, in the order in which they were taken.
            pub fn iter(&self) -> impl Iterator<Item = (RawSample, bool)> + '_ {
                (0..self.len()).map(|i| {
                    let sample = RawSample {
                        $($always: self.$always[i],)*
                        $($rare: rare(&self.$rare, i),)*
                    };
                    (sample, self.clean[i])
                })
            }

            /// Whether every array has the same length.
            pub fn is_rectangular(&self) -> bool {
                let Self { clean, $($always,)* $($rare,)* } = self;
                let (always, rare) = ([$($always.len()),*], [$($rare.len()),*]);
                always.iter().all(|length| *length == clean.len())
                    && rare.iter().all(|length| *length == 0 || *length == clean.len())
            }
        }
    };
}

columns! {
    always: process ops ticks clock_before clock_after probe_before probe_after switches migrated;
    rare: thread voluntary page_faults major_faults stolen cpu settled_us unsettled interrupted
        waited_us away_ticks
}

impl Samples {
    pub fn len(&self) -> usize {
        self.ticks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ticks.is_empty()
    }
}

/// Adds to a column that stays empty until the first value that says something: `before` values
/// that said nothing came earlier.
fn push_rare<T: Copy + Default + PartialEq>(column: &mut Vec<T>, before: usize, value: T) {
    if value != T::default() || !column.is_empty() {
        column.resize(before, T::default());
        column.push(value);
    }
}

fn rare<T: Copy + Default>(column: &[T], i: usize) -> T {
    column.get(i).copied().unwrap_or_default()
}

/// The value to so many significant digits, as the nearest number that is written with them.
fn significant(value: f64, digits: usize) -> f64 {
    if !value.is_finite() {
        return 0.0;
    }
    format!("{value:.*e}", digits - 1).parse().expect("a number that was just written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_clock_tells_which_chain_cycles_are_from() {
        let cycles = |clock, has_cycles| Evidence::of_clock(clock, has_cycles).cycles;
        assert_eq!(cycles("tsc", true), "imul-chain");
        assert_eq!(cycles("cntvct", true), "add-chain");
        assert_eq!(cycles("cntvct", false), "unknown");
    }

    fn sample() -> RawSample {
        RawSample {
            process: 2,
            ops: 10,
            ticks: 12_345,
            clock_before: 1.234_567_8,
            clock_after: 123_456.7,
            probe_before: 4.987_65,
            probe_after: 0.000_123_456,
            switches: 1,
            migrated: true,
            ..RawSample::default()
        }
    }

    #[test]
    fn columns_in_which_nothing_happened_are_left_out_and_come_back_as_nothing() {
        let mut samples = Samples::default();
        samples.push(&sample(), true);
        assert!(!serde_json::to_string(&samples).unwrap().contains("stolen"));
        samples.push(&RawSample { stolen: true, page_faults: 2, ..sample() }, false);
        samples.push(&sample(), true);
        assert_eq!(samples.stolen, [false, true, false]);
        assert!(samples.is_rectangular());
        let faults: Vec<u32> = samples.iter().map(|(s, _)| s.page_faults).collect();
        assert_eq!(faults, [0, 2, 0]);
        let mut short = samples.clone();
        short.migrated.pop();
        assert!(!short.is_rectangular());
        samples.stolen.pop();
        assert!(!samples.is_rectangular());
    }

    #[test]
    fn readings_are_kept_to_the_digits_that_mean_something() {
        let mut samples = Samples::default();
        samples.push(&sample(), true);
        assert_eq!(samples.clock_before, [1.2346]);
        assert_eq!(samples.clock_after, [123_460.0]);
        assert_eq!(samples.probe_before, [4.988]);
        assert_eq!(samples.probe_after, [0.000_123_5]);
        assert_eq!(serde_json::to_string(&samples.clock_before).unwrap(), "[1.2346]");
    }

    #[test]
    fn a_sample_comes_back_as_it_was_pushed() {
        let mut samples = Samples::default();
        let rounded = RawSample { clock_before: 1.5, clock_after: 1.25, ..sample() };
        let rounded = RawSample { probe_before: 5.0, probe_after: 4.5, ..rounded };
        samples.push(&rounded, false);
        assert_eq!(samples.iter().collect::<Vec<_>>(), [(rounded, false)]);
    }

    #[test]
    fn a_reading_that_is_no_number_can_still_be_written_and_read() {
        let mut samples = Samples::default();
        samples.push(&RawSample { clock_before: f64::NAN, ..sample() }, false);
        samples.push(&RawSample { probe_after: f64::INFINITY, ..sample() }, false);
        let text = serde_json::to_string(&samples).unwrap();
        assert_eq!(serde_json::from_str::<Samples>(&text).unwrap(), samples);
    }

    proptest! {
        #[test]
        fn rounding_stays_within_half_a_unit_of_the_last_digit(value in 1e-6f64..1e9) {
            let rounded = significant(value, 5);
            prop_assert!((rounded / value - 1.0).abs() <= 0.5e-4);
        }
    }
}
