//! What is measured and what was seen: cases (one row of a plan and of a record), models (exactly what is
//! inside the clock; `docs/MODELS.md` is the long form), and raw samples: what the worker saw, before any
//! judgement.

use crate::model::{Direction, Tier};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The working set that the operations walk through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Footprint {
    /// The same few buffers again and again.
    #[default]
    Hot,
    /// Buffers that fill the first-level cache.
    L1,
    /// Buffers that fill the second-level cache.
    L2,
    /// Buffers that fill the third-level cache.
    L3,
    /// Buffers that no cache holds.
    Memory,
}

impl Footprint {
    /// Every footprint, the smallest first.
    pub const ALL: &'static [Self] = &[Self::Hot, Self::L1, Self::L2, Self::L3, Self::Memory];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is the usual one.
    pub fn is_hot(&self) -> bool {
        *self == Self::Hot
    }
}

/// One row: what is measured, in which library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Case {
    /// Index of the library in the run's list of libraries.
    pub library: usize,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    /// Which CPU instructions the library may see.
    pub tier: Tier,
    /// Threads measuring at once.
    pub threads: u32,
    /// Working set.
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    #[serde(default)]
    pub in_place: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, direction, model, size, tier, .. } = self;
        write!(f, "{algorithm} {direction} {model} {size} B {tier}")
    }
}

/// What one timed operation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
#[derive(strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Key and IV set once, then repeated update calls, in place: what `openssl speed -evp` does with ciphers that make no tag.
    Stream,
    /// New nonce, associated data, whole message, tag; key schedule reused.
    #[default]
    Message,
    /// As `message`, with a new key for each message.
    Rekey,
    /// Decryption of a message whose tag is wrong, and its rejection.
    Forgery,
    /// As `message`, each after other work like a program's: system calls, data, branches.
    Between,
    /// As `rekey`, each after such work.
    #[serde(rename = "between-rekey")]
    #[strum(serialize = "between-rekey")]
    #[cfg_attr(feature = "clap", value(name = "between-rekey"))]
    BetweenRekey,
    /// A TLS handshake, each end apart: `tls handshake`.
    #[cfg_attr(feature = "clap", value(skip))]
    Handshake,
    /// A TLS record, sent or received: `tls records`.
    #[cfg_attr(feature = "clap", value(skip))]
    Records,
    /// An operation under a TLS handshake: `tls primitives`.
    #[cfg_attr(feature = "clap", value(skip))]
    Primitive,
    /// A stored page: `pages`.
    #[cfg_attr(feature = "clap", value(skip))]
    Page,
}

impl Model {
    /// Every model of a survey: what `run` measures.
    pub const ALL: &'static [Self] = &[
        Self::Stream,
        Self::Message,
        Self::Rekey,
        Self::Forgery,
        Self::Between,
        Self::BetweenRekey,
    ];

    /// Every model that a record can have: those of `tls` and `pages` too.
    pub const RECORDED: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Whether it is one of a survey: what `run` measures.
    pub fn is_of_survey(self) -> bool {
        Self::ALL.contains(&self)
    }

    /// Whether each message has a key of its own, set inside the clock.
    pub fn rekeys(self) -> bool {
        matches!(self, Self::Rekey | Self::BetweenRekey)
    }

    /// Whether each message is timed alone, after other work.
    pub fn is_between(self) -> bool {
        matches!(self, Self::Between | Self::BetweenRekey)
    }

    /// Whether an operation is made of bytes of data, so that it has megabytes a second.
    pub fn has_bytes(self) -> bool {
        !matches!(self, Self::Handshake | Self::Primitive)
    }

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Raised whenever what is inside the clock changes, so that figures of two definitions are
    /// never compared under one name.
    pub fn version(self) -> u32 {
        match self {
            Self::Stream | Self::Message | Self::Rekey | Self::Forgery => 1,
            Self::Between | Self::BetweenRekey => 1,
            Self::Handshake | Self::Records | Self::Primitive | Self::Page => 1,
        }
    }

    /// One sentence for lists.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Stream => {
                "key and IV set once, then repeated update calls in place (as `openssl speed -evp` without a tag)"
            }
            Self::Message => {
                "new nonce, 16 bytes of associated data, whole message, tag; key schedule reused"
            }
            Self::Rekey => "as `message`, with a new key for each message",
            Self::Forgery => "decryption of a message with a wrong tag, which must be rejected",
            Self::Between => {
                "as `message`, each timed alone after other work: system calls, data, branches (`run --workload`)"
            }
            Self::BetweenRekey => "as `between`, with a new key for each message",
            Self::Handshake => "a TLS handshake in memory, each end apart (`tls handshake`)",
            Self::Records => "a TLS record, sent or received in memory (`tls records`)",
            Self::Primitive => "an operation under a TLS handshake (`tls primitives`)",
            Self::Page => "a stored page, encrypted or decrypted (`pages`)",
        }
    }
}

/// One timed batch of operations of a case, as the worker saw it. Kept whole in the record:
/// everything derived from it is derived late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RawSample {
    /// Which worker process took it (counted within the library): one memory layout each.
    pub process: u32,
    /// Which of the threads that measured at once took it. The samples of one visit stand one
    /// after the other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub thread: u32,
    /// Operations in the batch.
    pub ops: u32,
    /// Clock ticks of the batch, the clock's own overhead taken off.
    pub ticks: u64,
    /// Core cycles per tick just before the batch, by a dependent chain of known latency.
    pub clock_before: f64,
    /// The same just after.
    pub clock_after: f64,
    /// Independent instructions retired per core cycle just before the batch: falls when a
    /// sibling hardware thread is busy.
    pub probe_before: f64,
    /// The same just after.
    pub probe_after: f64,
    /// Context switches, wanted or not, from before the first probe to after the last.
    pub switches: u32,
    /// Whether the thread ended on another CPU than it began on.
    pub migrated: bool,
    /// Of `switches`, those that the thread asked for by waiting: a library that sleeps in the
    /// kernel, not another program.
    #[serde(default, skip_serializing_if = "is_default")]
    pub voluntary: u32,
    /// Page faults, from before the first probe to after the last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub page_faults: u32,
    /// Of `page_faults`, those that had to wait for a disk.
    #[serde(default, skip_serializing_if = "is_default")]
    pub major_faults: u32,
    /// Whether the hypervisor ran something else on this CPU while the block of samples was taken
    /// to which this one belongs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stolen: bool,
    /// The CPU that it was taken on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cpu: u32,
    /// Microseconds for which the process ran the case untimed before its first sample.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settled_us: u32,
    /// Whether that was shorter than the case needs, as other processes have shown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unsettled: bool,
    /// Whether a faster one of its process shows that the core was taken in between, by what no kernel counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// Of operations that take longer than a program is left alone: `ticks` are of the process's CPU time then, and these
    /// are the ticks for which it did not run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub away_ticks: u64,
    /// Microseconds for which the core was waited for to be quiet, since the sample before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waited_us: u32,
}

/// How a case came to its speed in a new process, before the first sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// The worker process, as of [`RawSample::process`].
    pub process: u32,
    /// Nanoseconds of the first operation of all.
    pub first_ns: f64,
    /// Nanoseconds of an operation in each window: from [`Settling::FIRST_WINDOW_US`] times 2ⁱ to twice that. It is
    /// what a fifth of the stretches in it did not exceed, so that a neighbour who comes and goes does not show; 0 where
    /// no stretch ended in the window.
    pub ns_per_op: Vec<f64>,
    /// Microseconds that it ran.
    pub us: u32,
}

impl Settling {
    /// Where the first window begins; what comes before it is only waited for.
    pub const FIRST_WINDOW_US: u32 = 50;
    /// The longest time in which a process may settle.
    pub const LONGEST_US: u32 = Self::FIRST_WINDOW_US << 8;
    /// Two windows agree that differ by no more: each scatters by some tenths of a per cent.
    pub const AGREE: f64 = 0.01;

    /// Whether the last window is still faster than the one before it: a longer wait would change what follows.
    pub fn still_falls(&self) -> bool {
        let mut seen = self.ns_per_op.iter().rev().filter(|ns| **ns > 0.0);
        let (last, before) = (seen.next(), seen.next());
        last.zip(before).is_some_and(|(last, before)| *before > last * (1.0 + Self::AGREE))
    }

    /// Microseconds after which it was as fast as at the end: up to the end of the first window that shows it. What is
    /// slower later is a neighbour's doing. Whether that is sure beside: a busy core may have hidden windows before it.
    /// `None` where no window is known.
    pub fn needed_us(&self) -> Option<(u32, bool)> {
        let known = |ns: &&f64| **ns > 0.0;
        let end = self.ns_per_op.iter().rev().filter(known).take(3).copied().reduce(f64::min)?;
        let is_there = |ns: &f64| *ns > 0.0 && *ns <= end * (1.0 + Self::AGREE);
        let window = self.ns_per_op.iter().position(is_there)?;
        // In windows that are shorter than an operation no other could have ended.
        let has_room = |window: usize| f64::from(Self::FIRST_WINDOW_US << window) * 1e3 > 2.0 * end;
        let is_hidden = |before: usize| self.ns_per_op[before] <= 0.0 && has_room(before);
        Some((Self::FIRST_WINDOW_US << (window + 1).min(8), !(0..window).any(is_hidden)))
    }
}

/// What a sample has beside its own ticks where two ends take turns within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherEnd {
    /// The other end's ticks.
    pub ticks: u64,
    /// Of these, those that made and freed the connection.
    pub setup_ticks: u64,
    /// Of the sample's own ticks, likewise.
    pub own_setup_ticks: u64,
}

/// What there mostly is none of is left out of what is written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Why a sample does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Disturbance {
    /// The thread was switched out against its will.
    Switched,
    /// The thread moved to another CPU.
    Migrated,
    /// The hypervisor took the CPU away.
    Stolen,
    /// A page had to be read from a disk.
    PagedIn,
    /// The core clock before and after differ.
    ClockMoved,
    /// A busy sibling hardware thread took execution slots.
    Contended,
    /// The process had not run the case for as long as it needs to reach its speed.
    Unsettled,
    /// The core was taken for microseconds: another sample of the process was faster.
    Interrupted,
}

/// Samples of one process that differ by no more have the same speed.
pub const SAME_SPEED: f64 = 0.01;

/// Marks the samples of one process that were interrupted: what takes the core only ever adds to them, so the fastest that
/// nothing else disturbed tells. Samples of one process scatter by half a per cent where nothing does. A busy sibling thread
/// slows each by another part: beside one there is no fastest.
pub fn mark_interrupted(of_process: &mut [RawSample]) {
    for sample in &mut *of_process {
        sample.interrupted = false;
    }
    let left_alone = of_process.iter().filter(|sample| sample.disturbance(0.0).is_none());
    let quiet = left_alone.map(RawSample::probe).fold(0.0, f64::max);
    let left_alone = of_process.iter_mut().filter(|sample| sample.disturbance(quiet).is_none());
    let mut left_alone: Vec<&mut RawSample> = left_alone.collect();
    let fastest =
        left_alone.iter().map(|sample| sample.cost_within_process()).min_by(f64::total_cmp);
    for sample in &mut left_alone {
        sample.interrupted =
            fastest.is_some_and(|cost| sample.cost_within_process() > cost * (1.0 + SAME_SPEED));
    }
}

/// The part of the quiet rate that the throughput probe must reach: a busy sibling thread takes
/// 14 to 50 % of it, while its own spread on a quiet core is 1 to 5 %, so 7 % below parts them.
pub const QUIET_PROBE_FRACTION: f64 = 0.93;

/// How far the clock may move within a sample: the two readings scatter by up to 0.3 % each
/// where the time-stamp counter advances in steps of 10 ns, so 2 % is outside their noise.
const CLOCK_MOVED_FRACTION: f64 = 0.02;

/// The share of a sample's CPU time for which the thread may have been away: a scheduler's slice of another program is
/// some milliseconds, which is little beside tens of them.
const MOST_AWAY: f64 = 0.25;

impl Disturbance {
    /// Every reason, in the order in which they are looked at.
    pub const ALL: [Self; 8] = [
        Self::Migrated,
        Self::Switched,
        Self::PagedIn,
        Self::Stolen,
        Self::ClockMoved,
        Self::Contended,
        Self::Unsettled,
        Self::Interrupted,
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl RawSample {
    /// Core cycles per tick over the sample: the mean of both readings.
    pub fn clock(&self) -> f64 {
        f64::midpoint(self.clock_before, self.clock_after)
    }

    /// Ticks of one operation.
    pub fn ticks_per_op(&self) -> f64 {
        self.ticks as f64 / f64::from(self.ops.max(1))
    }

    /// Core cycles of one operation.
    pub fn cycles_per_op(&self) -> f64 {
        self.ticks_per_op() * self.clock()
    }

    /// What it took beside others of its process: ticks of an operation by the faster reading of the clock, for what falls
    /// into one of the two makes it slower.
    pub fn cost_within_process(&self) -> f64 {
        let clock = self.clock_before.max(self.clock_after);
        self.ticks_per_op() * if clock > 0.0 { clock } else { 1.0 }
    }

    /// Context switches that another program or the kernel forced.
    pub fn involuntary(&self) -> u32 {
        self.switches.saturating_sub(self.voluntary)
    }

    /// Whether its time is CPU time and nearly all of the time that went by: what ran in between has taken little from
    /// the caches.
    fn hardly_away(&self) -> bool {
        self.away_ticks > 0 && self.away_ticks as f64 <= self.ticks as f64 * MOST_AWAY
    }

    /// The lower of the two throughput probes.
    pub fn probe(&self) -> f64 {
        self.probe_before.min(self.probe_after)
    }

    /// Why the sample does not count; `None` when it is clean. `quiet_probe` is the throughput
    /// probe's rate on this core when nothing else runs on it.
    pub fn disturbance(&self, quiet_probe: f64) -> Option<Disturbance> {
        if self.migrated {
            Some(Disturbance::Migrated)
        } else if self.involuntary() > 0 && !self.hardly_away() {
            Some(Disturbance::Switched)
        } else if self.major_faults > 0 {
            Some(Disturbance::PagedIn)
        } else if self.stolen {
            Some(Disturbance::Stolen)
        } else if (self.clock_after / self.clock_before - 1.0).abs() > CLOCK_MOVED_FRACTION {
            Some(Disturbance::ClockMoved)
        } else if self.probe() < quiet_probe * QUIET_PROBE_FRACTION {
            Some(Disturbance::Contended)
        } else if self.unsettled {
            Some(Disturbance::Unsettled)
        } else if self.interrupted {
            Some(Disturbance::Interrupted)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean() -> RawSample {
        RawSample { ops: 100, settled_us: 100, ..crate::model::fixtures::sample(0, 1000, 1.4) }
    }

    #[test]
    fn what_is_slower_than_the_fastest_of_its_process_was_interrupted_unless_it_shows_otherwise() {
        let of = |ticks| RawSample { ticks, ..clean() };
        let slow_chain = RawSample { clock_before: 1.39, ..of(1000) };
        let switched = RawSample { switches: 1, ..of(500) };
        let mut samples = [of(1005), of(1080), switched, of(1000), slow_chain, of(1011)];
        mark_interrupted(&mut samples);
        let marked = samples.map(|sample| sample.interrupted);
        assert_eq!(marked, [false, true, false, false, false, true]);
    }

    #[test]
    fn beside_a_busy_sibling_thread_no_sample_is_held_to_the_fastest() {
        let of = |probe_before, ticks| RawSample { probe_before, ticks, ..clean() };
        let quiet = clean().probe_before;
        let mut samples =
            [of(quiet * 0.6, 1500), of(quiet * 0.8, 1200), of(quiet, 1000), of(quiet, 1050)];
        mark_interrupted(&mut samples);
        assert_eq!(samples.map(|sample| sample.interrupted), [false, false, false, true]);
    }

    #[test]
    fn a_clean_sample_counts() {
        assert_eq!(clean().disturbance(5.0), None);
        assert!((clean().cycles_per_op() - 14.0).abs() < 1e-9);
    }

    #[test]
    fn each_disturbance_is_named() {
        let is = |s: RawSample| s.disturbance(5.0);
        assert_eq!(is(RawSample { migrated: true, ..clean() }), Some(Disturbance::Migrated));
        assert_eq!(is(RawSample { switches: 1, ..clean() }), Some(Disturbance::Switched));
        assert_eq!(is(RawSample { switches: 1, away_ticks: 240, ..clean() }), None);
        let long = RawSample { switches: 1, away_ticks: 260, ..clean() };
        assert_eq!(is(long), Some(Disturbance::Switched));
        assert_eq!(is(RawSample { stolen: true, ..clean() }), Some(Disturbance::Stolen));
        assert_eq!(is(RawSample { major_faults: 1, ..clean() }), Some(Disturbance::PagedIn));
        assert_eq!(is(RawSample { clock_after: 1.5, ..clean() }), Some(Disturbance::ClockMoved));
        assert_eq!(is(RawSample { probe_after: 3.5, ..clean() }), Some(Disturbance::Contended));
        assert_eq!(is(RawSample { unsettled: true, ..clean() }), Some(Disturbance::Unsettled));
        assert_eq!(is(RawSample { interrupted: true, ..clean() }), Some(Disturbance::Interrupted));
    }

    /// A library that waits in the kernel for its answer, or takes fresh memory for each message,
    /// does so in an application too.
    #[test]
    fn what_the_library_itself_asks_for_is_no_disturbance() {
        let waited = RawSample { switches: 3, voluntary: 3, page_faults: 9, ..clean() };
        assert_eq!(waited.disturbance(5.0), None);
        let preempted = RawSample { switches: 4, ..waited };
        assert_eq!(preempted.disturbance(5.0), Some(Disturbance::Switched));
    }

    #[test]
    fn a_sample_of_an_earlier_version_counts_every_switch_as_forced() {
        let text = r#"{"process":0,"ops":1,"ticks":1,"clock_before":1.0,"clock_after":1.0,
            "probe_before":5.0,"probe_after":5.0,"switches":1,"migrated":false}"#;
        let sample: RawSample = serde_json::from_str(text).unwrap();
        assert_eq!(sample.disturbance(5.0), Some(Disturbance::Switched));
    }

    #[test]
    fn reasons_have_the_names_that_files_give_them() {
        for reason in Disturbance::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        }
    }

    fn settling(ns_per_op: &[f64]) -> Settling {
        Settling { ns_per_op: ns_per_op.to_vec(), ..Settling::default() }
    }

    #[test]
    fn what_a_process_needs_ends_with_the_first_window_that_is_as_fast_as_the_last() {
        let needed = |ns: &[f64]| settling(ns).needed_us();
        assert_eq!(needed(&[60.0, 60.2, 60.1, 60.0]), Some((100, true)), "from the first on");
        assert_eq!(needed(&[71.0, 71.0, 60.4, 60.0]), Some((400, true)));
        assert_eq!(needed(&[71.0, 60.0, 75.0, 60.0]), Some((200, true)), "a neighbour in between");
        assert_eq!(
            needed(&[60.0, 60.0, 60.0, 80.0]),
            Some((100, true)),
            "slower is not settled later"
        );
        assert_eq!(needed(&[60.0, 60.0, 60.0, 9000.0]), Some((100, true)), "a stall at the end");
        assert_eq!(needed(&[0.0, 0.0, 60.0, 60.0]), Some((400, false)), "hidden by a busy core");
        assert_eq!(
            needed(&[0.0, 7e4, 7e4, 7e4]),
            Some((200, true)),
            "no operation fits the first window"
        );
        assert_eq!(needed(&[]), None);
    }

    #[test]
    fn a_case_goes_on_settling_while_its_last_window_is_faster_than_the_one_before() {
        assert!(
            settling(&[90.0, 71.0, 60.0]).still_falls()
                && settling(&[71.0, 0.0, 60.0]).still_falls()
        );
        assert!(
            !settling(&[90.0, 60.0, 59.8]).still_falls() && !settling(&[60.0, 70.0]).still_falls()
        );
        assert!(!settling(&[60.0]).still_falls());
    }
}
