//! What a machine is like to measure on: facts that it says of itself, the noise of a CPU measured for a
//! second or two, and findings, which say what each of them means.

mod examine;
pub mod quietly;

use base::analysis::{median, quiet_rate};
pub use examine::examine;
use host::Remembered;
use probe::Clock;
use record::{Host, Library};
use serde::Serialize;
use std::time::Duration;

// What is said of one fact.

/// How a fact bears on measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// Worth knowing: it costs precision or time, or something cannot be measured here.
    Note,
    Problem,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it belongs to: `machine`, `clock`, `noise`, `instructions`, `libraries`,
    /// `confinement`, `hardware`.
    pub topic: &'static str,
    pub name: String,
    pub verdict: Verdict,
    pub found: String,
    /// What mends it, a command where there is one.
    pub mend: Option<String>,
}

impl Finding {
    pub(crate) fn ok(topic: &'static str, name: &str, found: impl Into<String>) -> Self {
        Self { topic, name: name.to_owned(), verdict: Verdict::Ok, found: found.into(), mend: None }
    }

    pub(crate) fn note(self, mend: impl Into<String>) -> Self {
        Self { verdict: Verdict::Note, mend: Some(mend.into()), ..self }
    }

    pub(crate) fn problem(self, mend: impl Into<String>) -> Self {
        Self { verdict: Verdict::Problem, mend: Some(mend.into()), ..self }
    }

    /// A note where `applies`, as it was otherwise.
    pub(crate) fn note_if(self, applies: bool, mend: &str) -> Self {
        if applies { self.note(mend) } else { self }
    }
}

/// Facts that are read and not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    pub host: Host,
    /// The core's performance counters.
    pub counters: host::Counters,
    pub available_bytes: Option<u64>,
    /// CPUs' worth of time that a container may use.
    pub cpu_limit: Option<f64>,
    /// Tiers and how each would be applied here, or why it cannot be.
    pub tiers: Vec<(String, Result<String, String>)>,
    pub libraries: Vec<Library>,
}

/// Reads what there is to read. Libraries and tiers are for the caller to fill in.
pub fn machine(measuring_cpu: u32) -> Machine {
    Machine {
        host: host::facts(measuring_cpu),
        counters: host::counters(),
        available_bytes: host::available_bytes(),
        cpu_limit: host::cpu_limit(),
        ..Machine::default()
    }
}

/// How long the CPU is watched for interruptions: a hundred ticks of a slow timer interrupt.
const SPIN: Duration = Duration::from_millis(1000);
/// How long the throughput probe is watched for a busy sibling thread: longer than most bursts of
/// another tenant, which last tens to hundreds of milliseconds.
const PROBE: Duration = Duration::from_millis(400);
/// How long each other CPU is kept busy to see whether it shares the core.
const NEIGHBOUR: Duration = Duration::from_millis(30);
/// Most other CPUs that are tried.
const MOST_NEIGHBOURS: usize = 8;
/// What a reading of the clock does not take by itself; shorter than any interrupt.
const GAP: Duration = Duration::from_micros(1);
/// The part of the quiet rate below which a probe met a busy sibling, as for samples.
const QUIET_FRACTION: f64 = base::model::QUIET_PROBE_FRACTION;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    pub cpu: u32,
    pub source: String,
    pub reason: Option<String>,
    pub step_ns: f64,
    pub overhead_ns: f64,
    /// Ticks in a second against `CLOCK_MONOTONIC_RAW`.
    pub ticks_per_second: f64,
    /// By how much that rate differed between the two halves of the watch, in parts per million.
    pub drift_ppm: f64,
    /// Core clock in GHz; none where it cannot be known.
    pub core_ghz: Option<f64>,
    /// Core cycles of a link of the chain that tells the clock, by a second chain.
    pub multiplication_cycles: f64,
    /// Why core cycles cannot be known, where the two chains contradict each other.
    pub cycles_reason: Option<String>,
    pub spun_seconds: f64,
    pub gaps: usize,
    pub gap_seconds: f64,
    pub longest_gap_us: f64,
    /// Times that another program took the CPU during the spin.
    pub preempted: u32,
    /// Seconds that the hypervisor took during the watch; none where it is not counted.
    pub stolen_seconds: Option<f64>,
    /// Independent instructions per core cycle on the quiet core, seen now or by an earlier run; none
    /// where unknown.
    pub quiet_probe: Option<f64>,
    /// The part of the probes that met a busy sibling.
    pub contended: f64,
    /// Other CPUs and what the probe gave while they were kept busy.
    pub neighbours: Vec<Neighbour>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub cpu: u32,
    /// The probe's median while it was kept busy, as a part of the quiet rate.
    pub left: f64,
}

/// Watches a CPU. The calling thread is moved there and back.
pub fn watch(cpu: u32) -> Live {
    let allowed = probe::allowed_cpus();
    let live = std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch_here(cpu, &allowed));
        watching.join().unwrap_or_default()
    });
    Live { cpu, ..live }
}

fn watch_here(cpu: u32, allowed: &[u32]) -> Live {
    // Where the system forbids it, what is measured is the CPU that the thread happens to be on.
    let _ = probe::pin_to(&[cpu]);
    let clock = Clock::calibrate();
    let stolen = || host::cpu_times(cpu).map(|times| times.stolen);
    let stolen_before = stolen();
    let rate = clock.rough_ticks_per_ns();
    let begin = clock.anchor();
    let first = clock.interruptions(rate, SPIN / 2, GAP);
    let middle = clock.anchor();
    let second = clock.interruptions(rate, SPIN / 2, GAP);
    let end = clock.anchor();
    let rate = begin.ticks_per_second(end);
    let halves = (begin.ticks_per_second(middle), middle.ticks_per_second(end));
    let mut probes = clock.probe_for(PROBE, Duration::from_micros(200));
    let remembered = Remembered::here(cpu).of(cpu);
    let quiet = quiet_rate(&mut probes).max(remembered);
    let contended = below(&probes, quiet * QUIET_FRACTION);
    let ns = 1e9 / rate;
    let gaps = || first.gaps_ns.iter().chain(&second.gaps_ns).copied();
    Live {
        cpu,
        source: clock.source().to_owned(),
        reason: clock.reason().map(ToOwned::to_owned),
        step_ns: clock.step_ticks() as f64 * ns,
        overhead_ns: clock.overhead_ticks() as f64 * ns,
        ticks_per_second: rate,
        drift_ppm: (halves.1 / halves.0 - 1.0).abs() * 1e6,
        core_ghz: core_ghz(&clock, rate),
        multiplication_cycles: clock.multiplication_cycles(),
        cycles_reason: clock.cycles_reason().map(ToOwned::to_owned),
        spun_seconds: first.seconds + second.seconds,
        gaps: gaps().count(),
        gap_seconds: gaps().sum::<f64>() / 1e9,
        longest_gap_us: gaps().fold(0.0, f64::max) / 1e3,
        preempted: first.preempted + second.preempted,
        stolen_seconds: stolen_before.zip(stolen()).map(|(before, after)| {
            after.saturating_sub(before) as f64 / host::ticks_per_second() as f64
        }),
        quiet_probe: (quiet > 0.0).then_some(quiet),
        contended,
        neighbours: neighbours(&clock, cpu, allowed, quiet),
    }
}

fn below(probes: &[f64], limit: f64) -> f64 {
    let low = probes.iter().filter(|p| **p < limit).count();
    low as f64 / probes.len().max(1) as f64
}

fn core_ghz(clock: &Clock, ticks_per_second: f64) -> Option<f64> {
    let mut readings: Vec<f64> = (0..101).map(|_| clock.core_cycles_per_tick()).collect();
    let ghz = median(&mut readings)? * ticks_per_second / 1e9;
    (ghz > 0.0).then_some(ghz)
}

/// Keeps other CPUs busy for a moment, one by one, and sees what that leaves of the probe. What the system
/// says of siblings is not believed, only tried first: in virtual machines it is often not true.
fn neighbours(clock: &Clock, cpu: u32, allowed: &[u32], quiet: f64) -> Vec<Neighbour> {
    if quiet <= 0.0 {
        return Vec::new();
    }
    let listed = siblings(cpu, host::facts(cpu).cpu.thread_siblings.as_deref());
    others(cpu, allowed, &listed)
        .into_iter()
        .filter_map(|other| {
            let mut probes = clock.beside(Some(other), NEIGHBOUR).rates;
            let left = median(&mut probes)? / quiet;
            Some(Neighbour { cpu: other, left })
        })
        .collect()
}

fn others(cpu: u32, allowed: &[u32], listed: &[u32]) -> Vec<u32> {
    let mut others: Vec<u32> = allowed.iter().copied().filter(|c| *c != cpu).collect();
    others.sort_by_key(|other| !listed.contains(other));
    others.truncate(MOST_NEIGHBOURS);
    others
}

/// The other CPUs of the core, as the system lists them.
pub(crate) fn siblings(cpu: u32, list: Option<&str>) -> Vec<u32> {
    /// More than any core has.
    const MOST: usize = 64;
    let ranges = list.and_then(base::model::ranges_of_list).unwrap_or_default();
    ranges.into_iter().flatten().filter(|other| *other != cpu).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_that_the_system_lists_as_a_sibling_is_tried_first() {
        let allowed: Vec<u32> = (0..64).collect();
        let listed = siblings(3, Some("3,35"));
        assert_eq!(listed, [35]);
        assert_eq!(others(3, &allowed, &listed), [35, 0, 1, 2, 4, 5, 6, 7]);
    }
}
