//! Whether a record's figures can be believed: each is calculated again from the record's own samples, and
//! the record is held against what its core can do, against its plan, and against other records. What this
//! cannot see is in docs/FLEET.md.

mod figures;
mod peers;

use base::analysis::median;
use base::model::{Algorithm, Direction, Model};
use jiff::{SignedDuration, Timestamp};
pub use peers::{Kin, Known, KnownCase, samples_digest};
use record::{Measurement, Plan, Record, State};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

record::named! {
    Code {
        /// A figure is not what its samples give.
        Recomputed = "recomputed",
        SamplesMissing = "samples-missing",
        /// Counts of samples, processes or calls are not those of the samples.
        Counts = "counts",
        /// A sample counts although it was disturbed, or does not although nothing disturbed it.
        Marks = "marks",
        /// A figure that follows from others does not.
        Derived = "derived",
        /// Cases or samples that the run had are missing.
        Truncated = "truncated",
        /// Faster than the record's own limits allow.
        ImpossibleSpeed = "impossible-speed",
        /// A time of day or a duration that cannot be.
        ImpossibleTime = "impossible-time",
        /// Instruction counts contradict each other, or those of another record of the same build.
        Instructions = "instructions",
        /// Another record has the same samples.
        Replayed = "replayed",
        /// Two cases have the same samples.
        Copied = "copied",
        /// Not the seed that the collector gave, or older than that.
        NotFresh = "not-fresh",
        /// The machine is not what it is called.
        Relabelled = "relabelled",
        /// Far from what other records of the same CPU and build say.
        UnlikePeers = "unlike-peers",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    pub code: Code,
    /// Which measurement of the record; `None` of the record as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<usize>,
    pub sentence: String,
}

/// What the collector knows beside the record. What is `None` is not checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// The time of day, RFC 3339: nothing was measured after it.
    pub now: Option<&'a str>,
    /// The machine type that the record is said to be of.
    pub machine_type: Option<&'a str>,
    /// What the collector gave for this one run.
    pub given: Option<Given<'a>>,
}

/// What makes a record fresh.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The seed of the run (`run --seed`), drawn at random.
    pub seed: u64,
    /// When it was given, RFC 3339: the run began later.
    pub at: Option<&'a str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Why the record is not to be believed; of each code the first few and a count.
    pub doubts: Vec<Doubt>,
    /// What could not be checked, because the record's format or the run does not have it: no doubt.
    pub unchecked: Vec<String>,
}

/// Judges a record. `peers` are records to hold it against: a few of the same CPU, a few of the same machine type.
pub fn judge(record: &Record, told: &Told<'_>, peers: &[Known]) -> Judgement {
    let mut findings = Findings::default();
    figures::check_estimates(record, &mut findings);
    figures::check_counts(record, &mut findings);
    figures::check_derived(record, &mut findings);
    figures::check_speeds(record, &mut findings);
    figures::check_instructions(record, &mut findings);
    check_whole(record, told, &mut findings);
    peers::check_peers(record, told, peers, &mut findings);
    findings.judgement()
}

/// The doubts of [`judge`].
pub fn doubts(record: &Record, told: &Told<'_>, peers: &[Known]) -> Vec<Doubt> {
    judge(record, told, peers).doubts
}

/// Most doubts of one code that are told one by one.
const MOST: usize = 5;

#[derive(Default)]
struct Findings {
    doubts: Vec<Doubt>,
    counts: BTreeMap<Code, usize>,
    unchecked: BTreeSet<String>,
}

impl Findings {
    fn doubt(&mut self, code: Code, sentence: String) {
        self.add(code, None, || sentence);
    }

    /// Of one case; `what` follows the case's name.
    fn of_case(&mut self, code: Code, at: usize, m: &Measurement, what: impl FnOnce() -> String) {
        self.add(code, Some(at), || format!("{}: {}", named(m), what()));
    }

    fn add(&mut self, code: Code, case: Option<usize>, sentence: impl FnOnce() -> String) {
        let count = self.counts.entry(code).or_insert(0);
        *count += 1;
        if *count <= MOST {
            // A record is a stranger's: its names may hold anything.
            let sentence = base::text::one_line(&sentence());
            self.doubts.push(Doubt { code, case, sentence });
        }
    }

    fn unchecked(&mut self, what: &str) {
        self.unchecked.insert(what.to_owned());
    }

    fn judgement(mut self) -> Judgement {
        for (code, count) in &self.counts {
            if *count > MOST {
                let sentence = format!("{code}: {} more", count - MOST);
                self.doubts.push(Doubt { code: *code, case: None, sentence });
            }
        }
        Judgement { doubts: self.doubts, unchecked: self.unchecked.into_iter().collect() }
    }
}

/// How sentences call a case.
fn named(m: &Measurement) -> String {
    let Measurement { library, algorithm, direction, model, size, tier, .. } = m;
    let at = if *size == 0 { String::new() } else { format!(" {size} B") };
    let setting = if m.setting.is_empty() { String::new() } else { format!(" {}", m.setting) };
    format!(
        "{} {} {algorithm} {direction} {model}{at}{setting} {tier}",
        library.name, library.version
    )
}

/// Whether two figures are one, but for rounding by this fraction.
fn is_close(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within * a.abs().max(b.abs())
}

/// Whether the record is of `pages`, whose samples are judged by the medium.
fn is_of_pages(record: &Record) -> bool {
    record.kind() == Some("pages")
}

// The record as a whole: times, freshness, and whether all of the run is there.

/// Clocks of machines that are not kept by NTP are off by minutes.
const CLOCKS: SignedDuration = SignedDuration::from_mins(5);
/// Samples on one CPU cannot take longer than the run, but for how exactly its length is known.
const OF_RUN: f64 = 1.02;

/// Which samples of contended cases count for it is not written down.
const OF_CLOCK: f64 = 0.02;

fn check_whole(record: &Record, told: &Told<'_>, findings: &mut Findings) {
    times(record, told, findings);
    clock(record, findings);
    fresh(record, told, findings);
    let figures = own(record).next().is_some();
    if figures {
        samples(record, findings);
    }
    match record.kind() {
        None if figures => cases(record, findings),
        None => {}
        Some("pages") => pages(record, findings),
        Some(_) => parts(record, findings),
    }
}

/// The cases of the run, without the rows that were imported beside them.
fn own(record: &Record) -> impl Iterator<Item = &Measurement> {
    record.measurements.iter().filter(|m| m.state != State::Imported)
}

fn times(record: &Record, told: &Told<'_>, findings: &mut Findings) {
    let Record { started, measuring_seconds, .. } = record;
    let mut impossible = |what: String| findings.doubt(Code::ImpossibleTime, what);
    let Ok(began) = started.parse::<Timestamp>() else {
        return impossible(format!("it began at '{started}', which is no time of day"));
    };
    let length = SignedDuration::try_from_secs_f64(*measuring_seconds);
    let Some(length) = length.ok().filter(|length| !length.is_negative()) else {
        return impossible(format!("it took {measuring_seconds} s: it ended before it began"));
    };
    let now = told.now.and_then(|now| now.parse::<Timestamp>().ok());
    let ended = began.saturating_add(length).unwrap_or(began);
    if let Some(now) = now.filter(|now| ended.duration_since(*now) > CLOCKS) {
        impossible(format!(
            "it began at {started} and took {measuring_seconds:.0} s, and it is {now} now"
        ));
    }
    let rate = record.host.clock.ticks_per_second;
    // Not as whole numbers: a stranger's may add up to more than those hold.
    let ticks = record.measurements.iter().flat_map(|m| &m.raw.ticks).map(|ticks| *ticks as f64);
    let sampled = ticks.sum::<f64>() / rate;
    let cpus: BTreeSet<u32> = record.measurements.iter().flat_map(cpus).collect();
    let most = measuring_seconds * cpus.len().max(1) as f64 * OF_RUN;
    // Older runs of pages do not say how long they took.
    if *measuring_seconds > 0.0 && (sampled > most || sampled.is_nan()) {
        let cpus = cpus.len();
        impossible(format!(
            "its samples take {sampled:.2} s, and it measured for {measuring_seconds:.2} s on {cpus} CPUs"
        ));
    }
}

/// The core's clock as the samples that count have it, against what the record says of it.
fn clock(record: &Record, findings: &mut Findings) {
    let Some(stated) = record.host.clock.core_ghz_median.filter(|_| record.kind().is_none()) else {
        return;
    };
    let quiet = record.measurements.iter().filter(|m| !m.contended && m.threads == 1);
    let clocks = quiet.flat_map(|m| m.raw.iter()).filter(|(s, counts)| *counts && s.clock() > 0.0);
    let ticks = record.host.clock.ticks_per_second;
    let mut ghz: Vec<f64> = clocks.map(|(s, _)| s.clock() * ticks / 1e9).collect();
    if let Some(found) = median(&mut ghz).filter(|found| !is_close(*found, stated, OF_CLOCK)) {
        findings.doubt(
            Code::Recomputed,
            format!("its core ran at {stated:.3} GHz, and its samples and ticks give {found:.3}"),
        );
    }
}

fn cpus(m: &Measurement) -> Vec<u32> {
    if m.raw.cpu.is_empty() { vec![0] } else { m.raw.cpu.clone() }
}

fn fresh(record: &Record, told: &Told<'_>, findings: &mut Findings) {
    let Some(given) = told.given else { return };
    let seed = record.plan.seed;
    if seed != given.seed {
        let what = format!("its seed is {seed}, and {} was given for this run", given.seed);
        return findings.doubt(Code::NotFresh, what);
    }
    let times =
        given.at.and_then(|at| Some((at.parse::<Timestamp>().ok()?, record.started.parse().ok()?)));
    if let Some((at, began)) =
        times.filter(|(at, began): &(_, Timestamp)| at.duration_since(*began) > CLOCKS)
    {
        findings
            .doubt(Code::NotFresh, format!("it began at {began}, and its seed was given at {at}"));
    }
}

/// Every sample of the run is in a case; only cases without a number may have lost theirs.
fn samples(record: &Record, findings: &mut Findings) {
    let Some(noise) = record.noise.as_ref().filter(|noise| noise.samples > 0) else {
        return findings.unchecked("whether samples are missing: the record does not count them");
    };
    // Both ends of a case of TLS have the same samples.
    let ends = if record.kind().is_some() { 2 } else { 1 };
    let all = record.measurements.iter().map(|m| m.raw.len() as u64).sum::<u64>() / ends;
    if all == 0 && record.kind().is_some() {
        return;
    }
    let may_lack =
        |m: &Measurement| matches!(m.state, State::Refused | State::Failed) && m.raw.is_empty();
    let lacks = all < noise.samples && !record.measurements.iter().any(may_lack);
    if all > noise.samples || lacks {
        let what = format!("the run took {} samples, and its cases have {all}", noise.samples);
        findings.doubt(Code::Truncated, what);
    }
}

/// A survey has every case of its plan in every library.
fn cases(record: &Record, findings: &mut Findings) {
    let mut found: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for m in own(record) {
        *found.entry((&m.library.path, &m.library.id, &m.algorithm)).or_default() += 1;
    }
    let mut libraries: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    record.libraries.iter().for_each(|l| *libraries.entry((&l.path, &l.id)).or_default() += 1);
    for ((path, id), times) in libraries {
        for algorithm in &record.plan.algorithms {
            let Some(planned) = planned(&record.plan, algorithm) else { continue };
            let has = found.get(&(path, id, algorithm.as_str())).copied().unwrap_or(0);
            if has != planned.saturating_mul(times) {
                let planned = planned.saturating_mul(times);
                findings.doubt(
                    Code::Truncated,
                    format!("{algorithm} in '{path}' has {has} cases, and the plan has {planned}"),
                );
            }
        }
    }
}

/// Cases of an algorithm in one library; `None` of what only some libraries list.
fn planned(plan: &Plan, algorithm: &str) -> Option<usize> {
    let algorithm = Algorithm::find(algorithm).ok().filter(|a| a.encrypts())?;
    let own = Direction::of(algorithm.kind);
    let directions = own.iter().filter(|d| plan.directions.contains(d)).count();
    let places = |model: &Model| if *model == Model::Stream { 1 } else { plan.in_place.len() };
    let kinds: usize = plan.models.iter().map(places).sum();
    let lists = [plan.tiers.len(), plan.threads.len(), plan.footprints.len(), plan.sizes.len()];
    Some(lists.into_iter().fold(directions.saturating_mul(kinds), usize::saturating_mul))
}

/// Of a run of TLS each case has two parts, and the plan names its algorithms.
fn parts(record: &Record, findings: &mut Findings) {
    let named: BTreeSet<&str> = own(record).map(|m| m.algorithm.as_str()).collect();
    let missing = record.plan.algorithms.iter().find(|name| !named.contains(name.as_str()));
    if let Some(name) = missing {
        findings.doubt(Code::Truncated, format!("{name} is in the plan, and no case has it"));
    }
    if !own(record).count().is_multiple_of(2) {
        findings.doubt(Code::Truncated, "a case has one of its two parts only".to_owned());
    }
}

/// A scheme of one library in a run over pages.
type Pair = (u64, String);

/// Every scheme that came back whole is timed in the same ways, where its library is timed: without a cipher it is not.
fn pages(record: &Record, findings: &mut Findings) {
    let of = |details: &serde_json::Value, scheme: &str| -> Option<Pair> {
        Some((details["library"].as_u64()?, scheme.to_owned()))
    };
    let mut ways: BTreeMap<Pair, BTreeSet<String>> = BTreeMap::new();
    for m in &record.measurements {
        let Some(details) = &m.details else { continue };
        let way = format!("{} {} of {} threads", m.direction, details["medium"], m.threads);
        if let Some(pair) = of(details, &m.algorithm) {
            ways.entry(pair).or_default().insert(way);
        }
    }
    let all: BTreeSet<String> = ways.values().flatten().cloned().collect();
    let verified = record.details.as_ref().and_then(|details| details["verified"].as_array());
    let whole = verified.into_iter().flatten().filter(|row| row["state"] == "measured");
    for (library, scheme) in whole.filter_map(|row| of(row, row["scheme"].as_str()?)) {
        let is_timed = ways.keys().any(|(timed, _)| *timed == library);
        let own = ways.get(&(library, scheme.clone()));
        let lacks = all.iter().find(|way| own.is_none_or(|own| !own.contains(*way)));
        if let Some(way) = lacks.filter(|_| is_timed) {
            let what =
                format!("{scheme} of library {library} has no case of {way}, and others have");
            findings.doubt(Code::Truncated, what);
        }
    }
}

// What a signature is over: which record, of which machine, for which survey.

/// Written beside a record by whoever collected it; `ssh-keygen -Y sign -n ciphermark-record` signs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// SHA-256 of the record's file, in hexadecimal.
    pub record_sha256: String,
    pub machine_type: String,
    pub survey: String,
    pub seed: u64,
    /// When, RFC 3339.
    pub given: String,
}

impl Manifest {
    /// As the file has it: JSON, one field a line, so that the same manifest is the same bytes.
    pub fn text(&self) -> String {
        record::pretty(self)
    }

    pub fn parse(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|e| base::text::one_line(&e.to_string()))
    }

    /// What a record is judged by that comes with it.
    pub fn told<'a>(&'a self, now: Option<&'a str>) -> Told<'a> {
        let given = Given { seed: self.seed, at: Some(&self.given) };
        Told { now, machine_type: Some(&self.machine_type), given: Some(given) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::trust::figures;
    use base::analysis::{Estimate, median};
    use base::model::Algorithm;
    use record::{Samples, State};
    use std::path::Path;

    const NOW: &str = "2026-12-01T00:00:00Z";

    fn published(name: &str) -> Record {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records").join(name);
        record::load(&path).unwrap()
    }

    fn ladder() -> Record {
        published("ladder-2026-11-23-gnr.json.gz")
    }

    /// Two algorithms of it, as a survey of its own. Each doubt costs a look at every sample of all.
    fn small() -> Record {
        let mut record = ladder();
        record.plan.algorithms.truncate(2);
        let kept = record.plan.algorithms.clone();
        record.measurements.retain(|m| kept.contains(&m.algorithm));
        record.executed.retain(|e| kept.contains(&e.algorithm));
        record.fits.retain(|f| kept.contains(&f.algorithm));
        if let Some(noise) = &mut record.noise {
            noise.samples = record.measurements.iter().map(|m| m.raw.len() as u64).sum();
        }
        record
    }

    fn told() -> Told<'static> {
        Told { now: Some(NOW), ..Told::default() }
    }

    fn codes(record: &Record, told: &Told<'_>, peers: &[Known]) -> BTreeSet<Code> {
        doubts(record, told, peers).into_iter().map(|doubt| doubt.code).collect()
    }

    fn measured(record: &Record) -> Vec<usize> {
        let all = record.measurements.iter().enumerate();
        all.filter(|(_, m)| m.state == State::Measured).map(|(at, _)| at).collect()
    }

    /// Every field of a case that a figure is in, by a factor.
    fn scale(m: &mut Measurement, by: f64) {
        let scaled = |e: Estimate| e.map(|x| x * by);
        m.ns_per_op = m.ns_per_op.map(scaled);
        m.cycles_per_op = m.cycles_per_op.map(scaled);
        m.ns_per_byte = m.ns_per_byte.map(|x| x * by);
        m.cycles_per_byte = m.cycles_per_byte.map(|x| x * by);
        m.mb_per_s = m.mb_per_s.map(|x| x / by);
        m.limit_fraction = m.limit_fraction.map(|x| x / by);
    }

    /// The same with samples: no figure of the case contradicts another.
    fn scale_samples(record: &mut Record, at: usize, by: f64) {
        let ns = 1e9 / record.host.clock.ticks_per_second;
        let estimator = figures::estimator(record);
        let m = &mut record.measurements[at];
        m.raw.ticks.iter_mut().for_each(|ticks| *ticks = (*ticks as f64 * by).round() as u64);
        let found = figures::summary(m, &figures::counted_samples(m, false), estimator).unwrap();
        let old = m.ns_per_op.unwrap().median;
        let ticks = found.ticks_per_op;
        scale(m, ticks.median * ns / old);
        m.ns_per_op = Some(ticks.map(|ticks| ticks * ns));
        m.cycles_per_op = found.cycles_per_op;
        let cycles = found.cycles_per_op.unwrap();
        m.cycles_per_byte = Some(cycles.median / m.size as f64);
        m.precision = Some(cycles.precision());
        m.limit_fraction = m.limit_cycles_per_op.map(|limit| limit / cycles.median);
    }

    /// What a forger changed, and what it must be found by.
    struct Forged {
        what: String,
        by: Code,
        record: Record,
        told: Told<'static>,
        peers: Vec<Known>,
    }

    /// Forges a record `times` times, each time at another measured case.
    fn forge(
        all: &mut Vec<Forged>,
        times: usize,
        what: &str,
        by: Code,
        change: impl Fn(&mut Record, usize),
    ) {
        let honest = small();
        let cases = measured(&honest);
        for i in 0..times {
            let at = cases[(i * 61 + 17 * all.len()) % cases.len()];
            let mut record = honest.clone();
            change(&mut record, at);
            let what = format!("{what}, {at}");
            all.push(Forged { what, by, record, told: told(), peers: Vec::new() });
        }
    }

    fn figures_forged(all: &mut Vec<Forged>) {
        for (times, by) in [(10, 0.9), (4, 1.1), (4, 0.9999)] {
            let what = format!("{by} times as long");
            forge(all, times, &what, Code::Recomputed, |r, at| {
                scale(&mut r.measurements[at], by);
            });
        }
        forge(all, 4, "a higher rate", Code::Derived, |r, at| {
            let m = &mut r.measurements[at];
            m.mb_per_s = m.mb_per_s.map(|rate| rate * 1.1);
        });
        forge(all, 4, "a narrow interval", Code::Recomputed, |r, at| {
            let m = &mut r.measurements[at];
            m.ns_per_op = m.ns_per_op.map(|e| Estimate { low: e.median, high: e.median, ..e });
        });
        forge(all, 10, "samples a tenth faster", Code::Recomputed, |r, at| {
            let raw = &mut r.measurements[at].raw;
            raw.ticks.iter_mut().for_each(|ticks| *ticks = *ticks * 9 / 10);
        });
        forge(all, 6, "the samples of another case", Code::Recomputed, |r, at| {
            let algorithm = r.measurements[at].algorithm.clone();
            let is_other = |m: &Measurement| m.state == State::Measured && m.algorithm != algorithm;
            let other = r.measurements.iter().position(is_other).unwrap();
            let raw = r.measurements[other].raw.clone();
            r.measurements[other].raw = std::mem::replace(&mut r.measurements[at].raw, raw);
        });
        forge(all, 4, "a copied case", Code::Copied, |r, at| {
            // Of another library: copied from the other direction it would be that case once more.
            let own = &r.measurements[at].library;
            let is_other = |i: &usize| r.measurements[*i].library != *own;
            let from = measured(r).into_iter().find(is_other).unwrap();
            let fast = r.measurements[from].clone();
            let m = &mut r.measurements[at];
            let (library, algorithm, size) = (m.library.clone(), m.algorithm.clone(), m.size);
            *m = Measurement { library, algorithm, size, ..fast };
        });
        forge(all, 4, "without its slow samples", Code::Marks, |r, at| {
            let raw = &mut r.measurements[at].raw;
            let mut costs: Vec<f64> = raw.iter().map(|(s, _)| s.ticks_per_op()).collect();
            let middle = median(&mut costs).unwrap();
            let slow: Vec<bool> = raw.iter().map(|(s, _)| s.ticks_per_op() > middle).collect();
            raw.clean.iter_mut().zip(slow).for_each(|(counts, slow)| *counts &= !slow);
        });
        forge(all, 2, "a quicker clock", Code::Recomputed, |r, _| {
            r.host.clock.ticks_per_second *= 1.1;
            r.measurements.iter_mut().for_each(|m| {
                let cycles = (m.cycles_per_op, m.cycles_per_byte, m.limit_fraction);
                scale(m, 1.0 / 1.1);
                (m.cycles_per_op, m.cycles_per_byte, m.limit_fraction) = cycles;
            });
        });
    }

    fn wholes_forged(all: &mut Vec<Forged>) {
        forge(all, 8, "without a case", Code::Truncated, |r, at| drop(r.measurements.remove(at)));
        forge(all, 4, "without an algorithm", Code::Truncated, |r, at| {
            let name = r.measurements[at].algorithm.clone();
            r.measurements.retain(|m| m.algorithm != name);
            r.plan.algorithms.retain(|a| *a != name);
        });
        forge(all, 6, "with half of its samples", Code::Truncated, |r, at| {
            let all = std::mem::take(&mut r.measurements[at].raw);
            let raw = &mut r.measurements[at].raw;
            all.iter().take(all.len() / 2).for_each(|(sample, clean)| raw.push(&sample, clean));
        });
        forge(all, 4, "a figure for what is not offered", Code::SamplesMissing, |r, at| {
            let good = r.measurements[at].clone();
            let m = r
                .measurements
                .iter_mut()
                .filter(|m| m.state == State::Unsupported)
                .nth(at % 7)
                .unwrap();
            let case = (m.library.clone(), m.algorithm.clone(), m.size);
            *m = Measurement {
                library: case.0,
                algorithm: case.1,
                size: case.2,
                raw: Samples::default(),
                ..good
            };
        });
        forge(all, 4, "fewer instructions", Code::Instructions, |r, at| {
            let counted: Vec<usize> =
                (0..r.executed.len()).filter(|i| r.executed[*i].source.is_some()).collect();
            let executed = &mut r.executed[counted[at % counted.len()]];
            executed.sizes.iter_mut().for_each(|s| s.instructions = s.instructions * 9 / 10);
        });
        forge(all, 3, "fewer instructions in a case", Code::Instructions, |r, at| {
            let m = &mut r.measurements[at];
            m.instructions_per_byte = m.instructions_per_byte.map(|n| n * 0.9).or(Some(1.0));
        });
        forge(all, 2, "in the future", Code::ImpossibleTime, |r, at| {
            r.started = format!("20{}-01-01T00:00:00Z", 27 + at % 50);
        });
        forge(all, 1, "before its beginning", Code::ImpossibleTime, |r, _| {
            r.measuring_seconds = -1.0
        });
        forge(all, 1, "in no time", Code::ImpossibleTime, |r, _| r.measuring_seconds = 0.1);
        forge(all, 1, "at no time", Code::ImpossibleTime, |r, _| {
            r.started = "yesterday".to_owned()
        });
        forge(all, 2, "on a CPU without AES", Code::Relabelled, |r, _| {
            r.host.cpu.features.retain(|f| f != "aes" && f != "vaes");
        });
        forge(all, 1, "on another maker's CPU", Code::Relabelled, |r, _| {
            r.host.cpu.name = "AMD EPYC 9R14".to_owned();
        });
        forge(all, 6, "faster than the core", Code::ImpossibleSpeed, |r, at| {
            let bound =
                |m: &Measurement| m.limit_basis == Some(base::analysis::bound::Basis::Proven);
            let bound: Vec<usize> =
                measured(r).into_iter().filter(|i| bound(&r.measurements[*i])).collect();
            let at = bound[at % bound.len()];
            let fraction = r.measurements[at].limit_fraction.unwrap();
            scale_samples(r, at, fraction / 1.1);
        });
    }

    fn others_forged(all: &mut Vec<Forged>) {
        let honest = Known::of("first.json", Some("c8i.large"), &small());
        let from = all.len();
        forge(all, 6, "replayed", Code::Replayed, |r, at| {
            r.started = format!("2026-11-2{}T10:00:00Z", 4 + at % 5)
        });
        forge(all, 4, "replayed in part", Code::Replayed, |r, at| {
            r.started = "2026-11-25T10:00:00Z".to_owned();
            r.measurements[at].raw.ticks[0] += 1;
        });
        forge(all, 4, "replayed from another CPU", Code::Replayed, |r, _| r.host.cpu.stepping += 1);
        // Every sample made up anew, so that it is no replay.
        let anew = |r: &mut Record, by: f64| {
            r.started = "2026-11-25T10:00:00Z".to_owned();
            measured(r).into_iter().for_each(|at| scale_samples(r, at, by));
            r.fits.clear();
        };
        forge(all, 2, "half the speed of its CPU", Code::UnlikePeers, |r, _| anew(r, 2.0));
        forge(all, 4, "one case of half the speed", Code::UnlikePeers, |r, at| {
            anew(r, 1.001);
            scale_samples(r, at, 2.0);
        });
        forge(all, 3, "other instructions than the same build's", Code::Instructions, |r, at| {
            anew(r, 1.001);
            let counted: Vec<usize> =
                (0..r.executed.len()).filter(|i| r.executed[*i].sizes.len() > 1).collect();
            // Consistently.
            let executed = &mut r.executed[counted[at % counted.len()]];
            executed.source = Some("pmu".to_owned());
            executed.sizes.iter_mut().for_each(|s| s.instructions = s.instructions * 8 / 10);
        });
        forge(all, 4, "under another machine's name", Code::Relabelled, |r, _| {
            anew(r, 1.001);
            r.host.cpu.model += 1;
        });
        for forged in &mut all[from..] {
            forged.told.machine_type = Some("c8i.large");
            forged.peers = vec![honest.clone()];
        }
        let from = all.len();
        forge(all, 4, "of another survey", Code::NotFresh, |_, _| ());
        for (i, forged) in all[from..].iter_mut().enumerate() {
            let seed = if i % 2 == 0 { 7 } else { forged.record.plan.seed };
            forged.told.given = Some(Given { seed, at: Some("2026-11-30T00:00:00Z") });
        }
    }

    #[test]
    #[ignore = "long: a hundred records of half a second each"]
    fn every_forgery_is_found_by_what_it_changed() {
        let mut all = Vec::new();
        figures_forged(&mut all);
        wholes_forged(&mut all);
        others_forged(&mut all);
        assert!(all.len() >= 100, "{}", all.len());
        let missed = |part: &[Forged]| -> Vec<String> {
            part.iter()
                .map(|f| (f, codes(&f.record, &f.told, &f.peers)))
                .filter(|(f, found)| !found.contains(&f.by))
                .map(|(f, found)| format!("{}: {} expected, {found:?} found", f.what, f.by))
                .collect()
        };
        // Each takes half a second.
        let (half, other) = all.split_at(all.len() / 2);
        let missed = std::thread::scope(|scope| {
            let other = scope.spawn(|| missed(other));
            [missed(half), other.join().unwrap()].concat()
        });
        assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), all.len());
    }

    /// Of one machine in one hour: what they have in common must agree.
    #[test]
    #[ignore = "long: every survey that is published, the largest of 50 MB"]
    fn every_published_survey_is_believed_alone_and_beside_the_others() {
        believed(&[
            "ladder-2026-11-23-gnr.json.gz",
            "published-2026-11-23-gnr.json.gz",
            "at-rest-2026-11-23-gnr.json.gz",
            "full-2026-11-23-gnr.json.gz",
            "leaks-2026-11-25-zen4.json.gz",
        ]);
    }

    #[test]
    fn a_published_survey_is_believed() {
        believed(&["ladder-2026-11-23-gnr.json.gz"]);
    }

    fn believed(names: &[&str]) {
        let mut peers = Vec::new();
        for name in names {
            let record = published(name);
            let told = Told { machine_type: Some("a type"), ..told() };
            // The last is of another machine.
            let told =
                if name.contains("zen4") { Told { machine_type: None, ..told } } else { told };
            let judgement = judge(&record, &told, &peers);
            assert_eq!(judgement.doubts, [], "{name}");
            peers.push(Known::of(name, told.machine_type, &record));
        }
    }

    #[test]
    fn a_run_under_other_circumstances_is_held_to_no_counts_and_speeds_of_the_same_build() {
        let honest = Known::of("first.json", None, &ladder());
        let mut masked = ladder();
        masked.started = "2026-11-25T10:00:00Z".to_owned();
        measured(&masked).into_iter().for_each(|at| scale_samples(&mut masked, at, 2.0));
        masked.fits.clear();
        let peers = std::slice::from_ref(&honest);
        assert!(codes(&masked, &told(), peers).contains(&Code::UnlikePeers));
        masked.host.circumstances.push(record::Circumstance {
            name: "OPENSSL_ia32cap".into(),
            value: Some("~0x2".into()),
            ..record::Circumstance::default()
        });
        assert!(!codes(&masked, &told(), peers).contains(&Code::UnlikePeers));
        let known = Known::of("masked.json", None, &masked);
        let counts = |known: &Known| known.instructions.keys().copied().collect::<BTreeSet<u64>>();
        assert!(!counts(&known).is_empty() && counts(&known).is_disjoint(&counts(&honest)));
    }

    #[test]
    fn the_same_run_again_is_no_replay_and_an_unfinished_one_is_none_either() {
        let whole = ladder();
        let known = Known::of("whole.json", None, &whole);
        assert_eq!(codes(&whole, &told(), std::slice::from_ref(&known)), BTreeSet::new());
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Known>(&text).unwrap(), known);
        assert!(text.len() < 200 * whole.measurements.len(), "{}", text.len());
    }

    #[test]
    fn one_run_is_of_one_type_of_machine() {
        let whole = ladder();
        let known = Known::of("whole.json", Some("c8i.large"), &whole);
        let of = |machine_type| {
            let told = Told { machine_type: Some(machine_type), ..told() };
            doubts(&whole, &told, std::slice::from_ref(&known))
        };
        assert_eq!(of("c8i.large"), []);
        let [doubt] = &of("c8i.xlarge")[..] else { panic!("{:?}", of("c8i.xlarge")) };
        assert_eq!(doubt.code, Code::Replayed);
        assert_eq!(doubt.sentence, "it has the samples of 'whole.json', which is of c8i.large");
    }

    #[test]
    fn what_a_format_does_not_have_is_unchecked_and_no_doubt() {
        let mut record = ladder();
        record.noise = None;
        record.limits = record::Limits::default();
        record.executed.clear();
        record.measurements.iter_mut().for_each(|m| {
            (m.instructions_per_byte, m.instructions_per_message) = (None, None);
        });
        let judgement = judge(&record, &told(), &[]);
        assert_eq!(judgement.doubts, []);
        assert_eq!(judgement.unchecked.len(), 4, "{:?}", judgement.unchecked);
    }

    /// With an imported row of a library and an algorithm that it has.
    fn beside(mut record: Record) -> Record {
        let of = &record.measurements[0];
        let row = Measurement::blank(of.library.clone(), &of.algorithm, State::Imported);
        record.measurements.push(row);
        record
    }

    #[test]
    fn an_imported_row_makes_no_honest_run_doubtful() {
        let path = "../../records/tls-handshake-2026-11-22-spr.json.gz";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let tls = record::read(&record::load_text(&path).unwrap(), "tls").unwrap();
        for honest in [ladder(), tls] {
            assert_eq!(doubts(&beside(honest), &told(), &[]), []);
        }
    }

    #[test]
    fn an_imported_row_hides_no_case_that_was_cut_out() {
        let mut cut = beside(ladder());
        let is_planned =
            |at: &usize| planned(&cut.plan, &cut.measurements[*at].algorithm).is_some();
        let at = measured(&cut).into_iter().find(is_planned).unwrap();
        let gone = cut.measurements.remove(at);
        cut.noise.as_mut().unwrap().samples -= gone.raw.len() as u64;
        assert!(codes(&cut, &told(), &[]).contains(&Code::Truncated));
    }

    #[test]
    fn many_doubts_of_one_kind_are_a_few_and_a_count() {
        let mut record = ladder();
        record.measurements.iter_mut().for_each(|m| scale(m, 0.9));
        let found = doubts(&record, &told(), &[]);
        let recomputed: Vec<&Doubt> = found.iter().filter(|d| d.code == Code::Recomputed).collect();
        assert_eq!(recomputed.len(), MOST + 1);
        assert!(recomputed[MOST].sentence.ends_with(" more"), "{recomputed:?}");
        assert!(recomputed[0].sentence.contains("and its samples give"), "{recomputed:?}");
        let name = &record.measurements[recomputed[0].case.unwrap()].algorithm;
        assert!(Algorithm::find(name).is_ok() && recomputed[0].sentence.contains(name.as_str()));
    }

    #[test]
    fn a_manifest_is_the_same_bytes_again_and_nothing_is_added_to_it() {
        let manifest = Manifest {
            record_sha256: "00ff".to_owned(),
            machine_type: "c8i.large".to_owned(),
            survey: "2026-12".to_owned(),
            seed: u64::MAX,
            given: NOW.to_owned(),
        };
        assert_eq!(Manifest::parse(&manifest.text()).unwrap(), manifest);
        let more = manifest.text().replace("\"seed\"", "\"trusted\": true, \"seed\"");
        assert!(Manifest::parse(&more).unwrap_err().contains("trusted"));
        let record = ladder();
        assert!(codes(&record, &manifest.told(None), &[]).contains(&Code::NotFresh));
    }

    /// What the reader lets through.
    #[test]
    #[ignore = "long: seconds"]
    fn a_record_of_extreme_numbers_is_doubted_and_ends_nothing() {
        let extreme: [fn(&mut Record); 8] = [
            |r| r.measurements.iter_mut().for_each(|m| m.raw.ticks.fill(1 << 53)),
            |r| r.measurements.iter_mut().for_each(|m| m.raw.ops.fill(0)),
            |r| r.measurements.iter_mut().for_each(|m| m.raw.clock_before.fill(0.0)),
            |r| r.measurements.iter_mut().for_each(|m| m.threads = u32::MAX),
            |r| r.measurements.iter_mut().for_each(|m| m.threads = 0),
            |r| r.host.clock.ticks_per_second = 0.0,
            |r| r.measuring_seconds = f64::MAX,
            |r| r.executed.iter_mut().for_each(|e| e.slope_sizes = vec![16, 16]),
        ];
        let known = Known::of("known", None, &ladder());
        for (i, change) in extreme.into_iter().enumerate() {
            let mut record = ladder();
            change(&mut record);
            assert_ne!(doubts(&record, &told(), std::slice::from_ref(&known)), [], "{i}");
        }
    }
}
