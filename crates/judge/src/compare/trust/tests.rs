//! Published records are believed; forged ones are not.

use super::*;
use base::analysis::{Estimate, median};
use base::model::Algorithm;
use record::{Samples, State};
use std::path::Path;

/// One that ended before this.
const NOW: &str = "2026-12-01T00:00:00Z";

fn published(name: &str) -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records").join(name);
    record::load(&path).unwrap()
}

fn ladder() -> Record {
    published("ladder-2026-11-23-gnr.json.gz")
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
    let scaled =
        |e: Estimate| Estimate { median: e.median * by, low: e.low * by, high: e.high * by };
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
    let found = figures::summary(m, &figures::counted(m, false), estimator).unwrap();
    let old = m.ns_per_op.unwrap().median;
    let ticks = found.ticks_per_op;
    scale(m, ticks.median * ns / old);
    m.ns_per_op =
        Some(Estimate { median: ticks.median * ns, low: ticks.low * ns, high: ticks.high * ns });
    m.cycles_per_op = found.cycles_per_op;
    let cycles = found.cycles_per_op.unwrap();
    m.cycles_per_byte = Some(cycles.median / m.size as f64);
    m.precision = Some(cycles.precision());
    m.limit_fraction = m.limit_cycles_per_op.map(|limit| limit / cycles.median);
}

fn kept(raw: &mut Samples, keep: usize) {
    raw.process.truncate(keep);
    raw.ops.truncate(keep);
    raw.ticks.truncate(keep);
    raw.clock_before.truncate(keep);
    raw.clock_after.truncate(keep);
    raw.probe_before.truncate(keep);
    raw.probe_after.truncate(keep);
    raw.switches.truncate(keep);
    raw.migrated.truncate(keep);
    raw.clean.truncate(keep);
    raw.voluntary.truncate(keep);
    raw.page_faults.truncate(keep);
    raw.major_faults.truncate(keep);
    raw.stolen.truncate(keep);
    raw.cpu.truncate(keep);
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
    (times, what, by): (usize, &str, Code),
    change: impl Fn(&mut Record, usize),
) {
    let honest = ladder();
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
    forge(all, (10, "a tenth faster", Code::Recomputed), |r, at| {
        scale(&mut r.measurements[at], 0.9)
    });
    forge(all, (4, "a tenth slower", Code::Recomputed), |r, at| {
        scale(&mut r.measurements[at], 1.1)
    });
    forge(all, (4, "a hundredth of a per cent faster", Code::Recomputed), |r, at| {
        scale(&mut r.measurements[at], 0.9999);
    });
    forge(all, (4, "a higher rate", Code::Derived), |r, at| {
        let m = &mut r.measurements[at];
        m.mb_per_s = m.mb_per_s.map(|rate| rate * 1.1);
    });
    forge(all, (4, "a narrow interval", Code::Recomputed), |r, at| {
        let m = &mut r.measurements[at];
        m.ns_per_op = m.ns_per_op.map(|e| Estimate { low: e.median, high: e.median, ..e });
    });
    forge(all, (10, "samples a tenth faster", Code::Recomputed), |r, at| {
        let raw = &mut r.measurements[at].raw;
        raw.ticks.iter_mut().for_each(|ticks| *ticks = *ticks * 9 / 10);
    });
    forge(all, (6, "the samples of another case", Code::Recomputed), |r, at| {
        let algorithm = r.measurements[at].algorithm.clone();
        let is_other = |m: &Measurement| m.state == State::Measured && m.algorithm != algorithm;
        let other = r.measurements.iter().position(is_other).unwrap();
        let raw = r.measurements[other].raw.clone();
        r.measurements[other].raw = std::mem::replace(&mut r.measurements[at].raw, raw);
    });
    forge(all, (4, "a copied case", Code::Copied), |r, at| {
        let fast = r.measurements[measured(r)[0]].clone();
        let fast =
            if r.measurements[at] == fast { r.measurements[measured(r)[1]].clone() } else { fast };
        let m = &mut r.measurements[at];
        let (library, algorithm, size) = (m.library.clone(), m.algorithm.clone(), m.size);
        *m = Measurement { library, algorithm, size, ..fast };
    });
    forge(all, (4, "without its slow samples", Code::Marks), |r, at| {
        let raw = &mut r.measurements[at].raw;
        let mut costs: Vec<f64> = raw.iter().map(|(s, _)| s.ticks_per_op()).collect();
        let middle = median(&mut costs).unwrap();
        let slow: Vec<bool> = raw.iter().map(|(s, _)| s.ticks_per_op() > middle).collect();
        raw.clean.iter_mut().zip(slow).for_each(|(counts, slow)| *counts &= !slow);
    });
    forge(all, (2, "a quicker clock", Code::Recomputed), |r, _| {
        r.host.clock.ticks_per_second *= 1.1;
        r.measurements.iter_mut().for_each(|m| {
            let cycles = (m.cycles_per_op, m.cycles_per_byte, m.limit_fraction);
            scale(m, 1.0 / 1.1);
            (m.cycles_per_op, m.cycles_per_byte, m.limit_fraction) = cycles;
        });
    });
}

fn wholes_forged(all: &mut Vec<Forged>) {
    forge(all, (8, "without a case", Code::Truncated), |r, at| drop(r.measurements.remove(at)));
    forge(all, (4, "without an algorithm", Code::Truncated), |r, at| {
        let name = r.measurements[at].algorithm.clone();
        r.measurements.retain(|m| m.algorithm != name);
        r.plan.algorithms.retain(|a| *a != name);
    });
    forge(all, (6, "with half of its samples", Code::Truncated), |r, at| {
        let raw = &mut r.measurements[at].raw;
        kept(raw, raw.len() / 2);
    });
    forge(all, (4, "a figure for what is not offered", Code::SamplesMissing), |r, at| {
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
    forge(all, (4, "fewer instructions", Code::Instructions), |r, at| {
        let counted: Vec<usize> =
            (0..r.executed.len()).filter(|i| r.executed[*i].source.is_some()).collect();
        let executed = &mut r.executed[counted[at % counted.len()]];
        executed.sizes.iter_mut().for_each(|s| s.instructions = s.instructions * 9 / 10);
    });
    forge(all, (3, "fewer instructions in a case", Code::Instructions), |r, at| {
        let m = &mut r.measurements[at];
        m.instructions_per_byte = m.instructions_per_byte.map(|n| n * 0.9).or(Some(1.0));
    });
    forge(all, (2, "in the future", Code::ImpossibleTime), |r, at| {
        r.started = format!("20{}-01-01T00:00:00Z", 27 + at % 50);
    });
    forge(all, (1, "before its beginning", Code::ImpossibleTime), |r, _| {
        r.measuring_seconds = -1.0
    });
    forge(all, (1, "in no time", Code::ImpossibleTime), |r, _| r.measuring_seconds = 0.1);
    forge(all, (1, "at no time", Code::ImpossibleTime), |r, _| r.started = "yesterday".to_owned());
    forge(all, (2, "on a CPU without AES", Code::Relabelled), |r, _| {
        r.host.cpu.features.retain(|f| f != "aes" && f != "vaes");
    });
    forge(all, (1, "on another maker's CPU", Code::Relabelled), |r, _| {
        r.host.cpu.name = "AMD EPYC 9R14".to_owned();
    });
    forge(all, (6, "faster than the core", Code::ImpossibleSpeed), |r, at| {
        let bound = |m: &Measurement| m.limit_basis == Some(base::analysis::bound::Basis::Proven);
        let bound: Vec<usize> =
            measured(r).into_iter().filter(|i| bound(&r.measurements[*i])).collect();
        let at = bound[at % bound.len()];
        let fraction = r.measurements[at].limit_fraction.unwrap();
        scale_samples(r, at, fraction / 1.1);
    });
}

fn others_forged(all: &mut Vec<Forged>) {
    let honest = Known::of("first.json", Some("c8i.large"), &ladder());
    let from = all.len();
    forge(all, (6, "replayed", Code::Replayed), |r, at| {
        r.started = format!("2026-11-2{}T10:00:00Z", 4 + at % 5)
    });
    forge(all, (4, "replayed in part", Code::Replayed), |r, at| {
        r.started = "2026-11-25T10:00:00Z".to_owned();
        r.measurements[at].raw.ticks[0] += 1;
    });
    forge(all, (4, "replayed from another CPU", Code::Replayed), |r, _| r.host.cpu.stepping += 1);
    // Every sample made up anew, so that it is no replay.
    let anew = |r: &mut Record, by: f64| {
        r.started = "2026-11-25T10:00:00Z".to_owned();
        measured(r).into_iter().for_each(|at| scale_samples(r, at, by));
        r.fits.clear();
    };
    forge(all, (2, "half the speed of its CPU", Code::UnlikePeers), |r, _| anew(r, 2.0));
    forge(all, (4, "one case of half the speed", Code::UnlikePeers), |r, at| {
        anew(r, 1.001);
        scale_samples(r, at, 2.0);
    });
    forge(all, (3, "other instructions than the same build's", Code::Instructions), |r, at| {
        anew(r, 1.001);
        let counted: Vec<usize> =
            (0..r.executed.len()).filter(|i| r.executed[*i].sizes.len() > 1).collect();
        // Consistently.
        let executed = &mut r.executed[counted[at % counted.len()]];
        executed.source = Some("pmu".to_owned());
        executed.sizes.iter_mut().for_each(|s| s.instructions = s.instructions * 8 / 10);
    });
    forge(all, (4, "under another machine's name", Code::Relabelled), |r, _| {
        anew(r, 1.001);
        r.host.cpu.model += 1;
    });
    for forged in &mut all[from..] {
        forged.told.machine_type = Some("c8i.large");
        forged.peers = vec![honest.clone()];
    }
    let from = all.len();
    forge(all, (4, "of another survey", Code::NotFresh), |_, _| ());
    for (i, forged) in all[from..].iter_mut().enumerate() {
        let seed = if i % 2 == 0 { 7 } else { forged.record.plan.seed };
        forged.told.given = Some(Given { seed, at: Some("2026-11-30T00:00:00Z") });
    }
}

#[test]
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
fn published_surveys_are_believed_alone_and_beside_each_other() {
    believed(&["ladder-2026-11-23-gnr.json.gz", "published-2026-11-23-gnr.json.gz"]);
}

#[test]
#[ignore = "long: every survey that is published, the largest of 50 MB"]
fn every_published_survey_is_believed() {
    believed(&[
        "ladder-2026-11-23-gnr.json.gz",
        "published-2026-11-23-gnr.json.gz",
        "at-rest-2026-11-23-gnr.json.gz",
        "full-2026-11-23-gnr.json.gz",
        "leaks-2026-11-25-zen4.json.gz",
    ]);
}

fn believed(names: &[&str]) {
    let mut peers = Vec::new();
    for name in names {
        let record = published(name);
        let told = Told { machine_type: Some("a type"), ..told() };
        // The last is of another machine.
        let told = if name.contains("zen4") { Told { machine_type: None, ..told } } else { told };
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
    let known = Known::of("known", None, &published("published-2026-11-23-gnr.json.gz"));
    for (i, change) in extreme.into_iter().enumerate() {
        let mut record = ladder();
        change(&mut record);
        assert_ne!(doubts(&record, &told(), std::slice::from_ref(&known)), [], "{i}");
    }
}
