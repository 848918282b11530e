//! What is said beside the numbers, a line each: what a busy machine and a short run did to them, what
//! libraries do not offer, how old their releases are, and what is no fault and to be known all the same.

use crate::labels::{self, Libraries, percent, versioned};
use crate::survey::is_rough;
use base::model::{Direction, Model, Tier};
use base::text::clean;
use record::{LibraryId, Measurement, Record, State, Stopped};
use std::collections::{BTreeMap, BTreeSet};

/// From this share of clean samples on a quieter machine hardly helps.
const QUIET: f64 = 0.9;

/// From this share of the time on waiting is worth a word.
const WAITED: f64 = 0.05;

/// A run so many times as long has intervals that are narrower by enough to see.
const LONGER: f64 = 4.0;

/// How many numbers are short of the precision that was asked for, by how much, and what would help. None where no
/// precision was asked for, or nothing was measured.
pub(crate) fn precision_line(record: &Record, selection: &[&Measurement]) -> Option<String> {
    let line = precision(record, selection)?;
    Some(match taken(record, selection) {
        Some(taken) => format!("{}. {taken}", line.trim_end_matches('.')),
        None => line,
    })
}

fn precision(record: &Record, selection: &[&Measurement]) -> Option<String> {
    let asked = record.plan.precision;
    let measured: Vec<&Measurement> = selection
        .iter()
        .copied()
        .filter(|m| m.state == State::Measured && m.mb_per_s.is_some())
        .collect();
    if asked <= 0.0 || measured.is_empty() {
        return None;
    }
    let all = measured.len();
    let rough: Vec<&Measurement> = measured.into_iter().filter(|m| is_rough(m)).collect();
    let shown = percent(asked);
    let shown = shown.trim_end_matches(".0");
    if rough.is_empty() {
        return Some(format!("all {all} numbers reached ±{shown} %"));
    }
    let is_narrow = |m: &&Measurement| m.precision.is_some_and(|precision| precision <= asked);
    let (few, wide): (Vec<&Measurement>, Vec<&Measurement>) =
        rough.iter().partition(|m| is_narrow(m));
    let mut parts = Vec::new();
    if !wide.is_empty() {
        let known = median(&wide).map(|m| format!(": half of them are known to ±{m} %"));
        let known = known.unwrap_or_default();
        parts.push(format!("{} of {all} numbers did not reach ±{shown} %{known}", wide.len()));
    }
    if let Some((least, most)) = processes(&few) {
        let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let few = few.len();
        parts.push(format!("{few} of {all} are within ±{shown} %, but by {range} processes only"));
    }
    let quiet = record.noise.as_ref().filter(|n| n.samples > 0);
    let quiet = quiet.map(|n| n.clean as f64 / n.samples as f64).filter(|share| *share < QUIET);
    parts.extend(quiet.map(|share| {
        let waited = waited(record).unwrap_or_default();
        format!("only {} % of samples were taken while the core was quiet{waited}", percent(share))
    }));
    Some(parts.join("; ") + ". " + &help(record, &rough, quiet.is_some()))
}

/// From this share of samples on the core is taken all the time, and so many nanoseconds seldom go by without.
const TAKEN: f64 = 0.1;
const TAKEN_NS: f64 = 25_000.0;

/// What a hypervisor that takes the core all the time did to long operations.
fn taken(record: &Record, selection: &[&Measurement]) -> Option<String> {
    let noise = record.noise.as_ref()?;
    let share = noise.disturbed.interrupted as f64 / noise.samples.max(1) as f64;
    let is_long = |m: &&Measurement| m.ns_per_op.is_some_and(|ns| ns.median > TAKEN_NS);
    let long = selection.iter().copied().filter(is_long).count();
    (share >= TAKEN && long > 0).then(|| {
        format!(
            "A hypervisor took the core all the time, for microseconds: numbers of operations above {:.0} µs ({long} here) \
             hold that, and are some per cent too high (`ciphermark doctor` says how many).",
            TAKEN_NS / 1e3
        )
    })
}

/// How much of the time went by until the core was quiet.
fn waited(record: &Record) -> Option<String> {
    let noise = record.noise.as_ref()?;
    let measured = record.measuring_seconds * noise.quiet.len().max(1) as f64;
    let share = noise.waited_seconds / measured.max(f64::MIN_POSITIVE);
    (share >= WAITED)
        .then(|| format!(", and waiting for that took {} % of the time", percent(share)))
}

/// The fewest and the most processes that these come from.
fn processes(of: &[&Measurement]) -> Option<(u32, u32)> {
    let counts = || of.iter().map(|m| m.processes);
    counts().min().zip(counts().max())
}

fn median(rough: &[&Measurement]) -> Option<String> {
    let mut known: Vec<f64> = rough.iter().filter_map(|m| m.precision).collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len().saturating_sub(1) / 2).map(|middle| percent(*middle))
}

fn help(record: &Record, rough: &[&Measurement], is_noisy: bool) -> String {
    let scattered = rough.iter().filter(|m| m.stopped == Some(Stopped::Scatter)).count();
    if scattered == rough.len() {
        return "Their processes differ by more, so a longer run does not help.".to_owned();
    }
    let seconds = LONGER * record.plan.budget_seconds.max(record.measuring_seconds);
    let step = if seconds < 60.0 { 10.0 } else { 60.0 };
    let quieter = if is_noisy { " or a quieter machine" } else { "" };
    format!("A longer run (--budget {:.0}s){quieter} helps.", (seconds / step).ceil() * step)
}

type Way = (Model, Direction, Tier);

/// `libgcrypt@1.10.1 does not offer: aes-128-xts, aes-256-gcm (stream)`, for each library that
/// lacks something of the selection.
pub(crate) fn not_offered(selection: &[&Measurement], libraries: &Libraries<'_>) -> Vec<String> {
    let mut asked: BTreeMap<&LibraryId, BTreeMap<&str, Ways>> = BTreeMap::new();
    for m in selection {
        let ways = asked.entry(&m.library).or_default().entry(&m.algorithm).or_default();
        let way = (m.model, m.direction, m.tier);
        ways.asked.insert(way);
        if m.state != State::Unsupported {
            ways.offered.insert(way);
        }
    }
    let line = |(id, algorithms)| Some(format!("{} {}", libraries.label(id), sum_up(&algorithms)?));
    asked.into_iter().filter_map(line).collect()
}

#[derive(Default)]
struct Ways {
    asked: BTreeSet<Way>,
    offered: BTreeSet<Way>,
}

/// What is said of one library; `None` when it offers everything.
fn sum_up(algorithms: &BTreeMap<&str, Ways>) -> Option<String> {
    let lacks: Vec<String> = algorithms.iter().filter_map(|(name, w)| w.lack(name)).collect();
    let offers: Vec<String> =
        algorithms.iter().filter(|(_, w)| !w.offered.is_empty()).map(|(n, _)| clean(n)).collect();
    if lacks.is_empty() {
        None
    } else if offers.is_empty() {
        Some("offers nothing of what was asked for".to_owned())
    } else if offers.len() < algorithms.len() - offers.len() {
        // The shorter list says as much.
        Some(format!("offers only: {}", offers.join(", ")))
    } else {
        Some(format!("does not offer: {}", lacks.join(", ")))
    }
}

impl Ways {
    /// The algorithm with the ways that are missing, or alone when all are.
    fn lack(&self, algorithm: &str) -> Option<String> {
        let missing: BTreeSet<Way> = self.asked.difference(&self.offered).copied().collect();
        if missing.is_empty() {
            return None;
        }
        if self.offered.is_empty() {
            return Some(clean(algorithm));
        }
        let models: BTreeSet<Model> = self.asked.iter().map(|w| w.0).collect();
        let whole = |model: Model| self.offered.iter().all(|way| way.0 != model);
        let mut words: Vec<String> =
            models.into_iter().filter(|m| whole(*m)).map(|m| m.to_string()).collect();
        for (model, direction, tier) in missing.into_iter().filter(|way| !whole(way.0)) {
            words.push(format!("{model} {direction} {tier}"));
        }
        Some(format!("{} ({})", clean(algorithm), words.join(", ")))
    }
}

// How old the shown releases are: a table of this year's and of old code says so.

/// Library, version or series, and when its feature release came out (year, month). Where later releases of a
/// series only mend faults, as in OpenSSL's, the date is that of the series: their speed is of that time.
/// Sources: the project's own announcement or change log (`NEWS`, `ChangeLog`, `CHANGES.md`, releases on GitHub).
#[rustfmt::skip]
const RELEASED: &[(&str, &str, (u16, u8))] = &[
    ("openssl", "1.1.1", (2018, 9)), ("openssl", "3.0", (2021, 9)), ("openssl", "3.1", (2023, 3)),
    ("openssl", "3.2", (2023, 11)), ("openssl", "3.3", (2024, 4)), ("openssl", "3.4", (2024, 10)),
    ("openssl", "3.5", (2025, 4)), ("openssl", "3.6", (2025, 10)), ("openssl", "4.0", (2026, 4)),
    ("libressl", "3.1", (2020, 4)),
    ("libgcrypt", "1.10", (2022, 2)), ("libgcrypt", "1.11", (2024, 6)),
    ("wolfssl", "5.5.4", (2022, 12)), ("wolfssl", "5.9.4", (2026, 9)),
    ("libsodium", "1.0.18", (2019, 5)), ("libsodium", "1.0.19", (2023, 9)), ("libsodium", "1.0.20", (2024, 5)),
    ("botan", "2.19", (2022, 1)), ("botan", "3.10", (2025, 11)), ("botan", "3.11", (2026, 3)),
    ("botan", "3.12", (2026, 5)), ("botan", "3.13", (2026, 8)),
    ("nettle", "3.8", (2022, 6)), ("nettle", "3.10", (2024, 6)),
    ("gnutls", "3.6", (2017, 8)), ("gnutls", "3.7", (2020, 12)), ("gnutls", "3.8", (2023, 2)),
    ("libtomcrypt", "1.18", (2017, 10)),
    ("mbedtls", "2.28", (2021, 12)), ("mbedtls", "3.6", (2024, 3)),
    ("cryptopp", "8.7", (2022, 8)), ("cryptopp", "8.9", (2023, 10)),
    ("xxhash", "0.8.1", (2021, 11)), ("xxhash", "0.8.2", (2023, 7)), ("xxhash", "0.8.3", (2024, 12)),
];

/// Libraries that are named; of more there is a number.
const NAMED_RELEASES: usize = 6;

/// Which of the libraries (name, version) are more than a year older than the newest of them. `None` when the known
/// ones span a year or less; of unknown ones nothing is said.
pub(crate) fn note_of_age<'a>(
    libraries: impl Iterator<Item = (&'a str, &'a str)>,
) -> Option<String> {
    let mut by_date: BTreeMap<(u16, u8), BTreeSet<String>> = BTreeMap::new();
    for (name, version) in libraries {
        if let Some(date) = released(name, version) {
            by_date.entry(date).or_default().insert(versioned(name, version));
        }
    }
    let (newest, _) = by_date.last_key_value()?;
    let newest = *newest;
    let months = |(year, month): (u16, u8)| u32::from(year) * 12 + u32::from(month);
    let old = by_date.iter().filter(|(date, _)| months(newest) - months(**date) > 12);
    let old: Vec<String> =
        old.flat_map(|(date, of)| of.iter().map(|l| format!("{l} {}", written(*date)))).collect();
    if old.is_empty() {
        return None;
    }
    let more = old.len().saturating_sub(NAMED_RELEASES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "releases of different years stand here: the newest are of {}, but {}{more} (when the feature release came \
         out, where known)",
        written(newest),
        old[..old.len().min(NAMED_RELEASES)].join(", ")
    ))
}

fn written((year, month): (u16, u8)) -> String {
    format!("{year}-{month:02}")
}

/// Builds of one release have names of their own: `wolfssl-noasm`, `botan-c`.
fn released(name: &str, version: &str) -> Option<(u16, u8)> {
    let is = |whole: &str, part: &str, joint| {
        whole.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(joint))
    };
    RELEASED.iter().find(|(n, v, _)| is(name, n, '-') && is(version, v, '.')).map(|(_, _, d)| *d)
}

/// Algorithms that are named for one remark; of more there is a number.
const NAMED_ALGORITHMS: usize = 3;

/// A line for each library and kind of remark. A remark begins with its kind, up to a colon; what is behind
/// that may differ from algorithm to algorithm.
pub(crate) fn remarks(selection: &[&Measurement]) -> Vec<String> {
    let mut kinds: BTreeMap<(String, String), BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for m in selection {
        for remark in m.remarks.iter().cloned().chain(of_kinds(m)) {
            let remark = clean(&remark);
            let (kind, detail) = remark.split_once(": ").unwrap_or((&remark, ""));
            let of_kind = kinds
                .entry((labels::versioned(&m.library.name, &m.library.version), kind.to_owned()))
                .or_default();
            of_kind.entry(&m.algorithm).or_default().insert(detail.to_owned());
        }
    }
    kinds
        .into_iter()
        .map(|((library, kind), algorithms)| line(&library, &kind, &algorithms))
        .collect()
}

fn of_kinds(m: &Measurement) -> Option<String> {
    let kinds = m.kinds_in_words()?;
    let (direction, size) = (m.direction, labels::size(m.size));
    Some(format!("has processes of two kinds: {direction} {size} {kinds}"))
}

fn line(library: &str, kind: &str, algorithms: &BTreeMap<&str, BTreeSet<String>>) -> String {
    let one = |(algorithm, details): (&&str, &BTreeSet<String>)| {
        let details: Vec<&str> =
            details.iter().map(String::as_str).filter(|d| !d.is_empty()).collect();
        match details[..] {
            [] => clean(algorithm),
            _ => format!("{}: {}", clean(algorithm), details.join(", ")),
        }
    };
    let mut named: Vec<String> = algorithms.iter().take(NAMED_ALGORITHMS).map(one).collect();
    if algorithms.len() > NAMED_ALGORITHMS {
        named.push(format!("and {} more algorithms", algorithms.len() - NAMED_ALGORITHMS));
    }
    format!("{library} {kind} ({})", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use Direction::{Decrypt, Encrypt};
    use Model::{Message, Stream};
    use State::{Failed, Measured, Unsupported};
    use base::analysis::Estimate;
    use base::text::fixtures::says;
    use record::Noise;

    /// Four cases, of which two are within 1 %.
    fn record(stopped: Stopped, clean: u64) -> Record {
        let mut record = sample::record();
        record.plan.precision = 0.01;
        record.plan.budget_seconds = 25.0;
        record.measuring_seconds = 24.0;
        record.noise = Some(Noise { samples: 100, clean, ..Noise::default() });
        record.measurements.retain(|m| m.state == State::Measured);
        record.measurements.truncate(4);
        for (m, precision) in record.measurements.iter_mut().zip([0.008, 0.009, 0.024, 0.031]) {
            m.reason = None;
            m.precision = Some(precision);
            m.stopped = Some(if precision < 0.01 { Stopped::Precision } else { stopped });
        }
        record
    }

    fn said(record: &Record) -> Option<String> {
        precision_line(record, &record.measurements.iter().collect::<Vec<_>>())
    }

    #[test]
    fn numbers_short_of_the_precision_are_counted_with_what_they_have_and_what_would_help() {
        assert_eq!(
            said(&record(Stopped::Budget, 38)).unwrap(),
            "2 of 4 numbers did not reach ±1 %: half of them are known to ±2.4 %; only 38 % of samples were taken \
             while the core was quiet. A longer run (--budget 120s) or a quieter machine helps."
        );
        let mut waited = record(Stopped::Budget, 38);
        waited.noise.as_mut().unwrap().waited_seconds = 6.0;
        let waited = said(&waited).unwrap();
        says(&waited, ["the core was quiet, and waiting for that took 25 % of the time. "]);
        let quiet = said(&record(Stopped::Budget, 97)).unwrap();
        assert!(quiet.ends_with("±2.4 %. A longer run (--budget 120s) helps."), "{quiet}");
        let scattered = said(&record(Stopped::Scatter, 97)).unwrap();
        assert!(scattered.ends_with("so a longer run does not help."), "{scattered}");
        assert_eq!(said(&record(Stopped::Precision, 38)).unwrap(), "all 4 numbers reached ±1 %");
        let mut taken = record(Stopped::Precision, 38);
        taken.noise.as_mut().unwrap().disturbed.interrupted = 30;
        taken.measurements.iter_mut().for_each(|m| m.ns_per_op = Some(Estimate::exactly(1e4)));
        assert_eq!(said(&taken).unwrap(), "all 4 numbers reached ±1 %");
        taken.measurements[0].ns_per_op = Some(Estimate::exactly(1e5));
        says(
            said(&taken).unwrap(),
            ["±1 %. A hypervisor took", "operations above 25 µs (1 here) hold"],
        );
        let mut few = record(Stopped::Budget, 97);
        few.measurements
            .iter_mut()
            .zip(2..)
            .for_each(|(m, n)| (m.precision, m.processes) = (Some(0.004), n));
        let few = said(&few).unwrap();
        assert!(
            few.starts_with("2 of 4 are within ±1 %, but by 4 to 5 processes only. A"),
            "{few}"
        );
        let mut nothing_asked = record(Stopped::Budget, 38);
        nothing_asked.plan.precision = 0.0;
        assert_eq!(said(&nothing_asked), None);
    }

    fn offers_of(cases: &[(&str, Model, Direction, State)]) -> Vec<String> {
        let measurements: Vec<Measurement> = cases
            .iter()
            .map(|(algorithm, model, direction, state)| {
                let mut m = sample::record().measurements.remove(0);
                m.algorithm = (*algorithm).to_owned();
                (m.model, m.direction, m.state) = (*model, *direction, *state);
                m
            })
            .collect();
        let selection: Vec<&Measurement> = measurements.iter().collect();
        not_offered(&selection, &Libraries::of(&selection))
    }

    #[test]
    fn only_what_is_missing_is_named() {
        let lines = offers_of(&[
            ("a", Message, Encrypt, Measured),
            ("b", Message, Encrypt, Failed),
            ("c", Message, Encrypt, Unsupported),
            ("c", Stream, Encrypt, Unsupported),
            ("d", Message, Encrypt, Measured),
            ("d", Stream, Encrypt, Unsupported),
            ("e", Message, Encrypt, Measured),
            ("e", Message, Decrypt, Unsupported),
        ]);
        assert_eq!(
            lines,
            ["openssl@3.0.22 does not offer: c, d (stream), e (message decrypt native)"]
        );
    }

    #[test]
    fn the_shorter_list_is_printed() {
        let few = offers_of(&[
            ("a", Message, Encrypt, Measured),
            ("b", Message, Encrypt, Unsupported),
            ("c", Message, Encrypt, Unsupported),
        ]);
        assert_eq!(few, ["openssl@3.0.22 offers only: a"]);
        let none = offers_of(&[("a", Message, Encrypt, Unsupported)]);
        assert_eq!(none, ["openssl@3.0.22 offers nothing of what was asked for"]);
        assert!(offers_of(&[("a", Message, Encrypt, Measured)]).is_empty());
    }

    #[test]
    fn releases_more_than_a_year_apart_are_said_the_oldest_first() {
        let said = note_of_age(
            [("libgcrypt", "1.10.1"), ("libressl", "3.1.0"), ("wolfssl-noasm", "5.9.4")]
                .into_iter(),
        );
        let said = said.unwrap();
        assert!(said.contains("the newest are of 2026-09"), "{said}");
        assert!(said.contains("but libressl@3.1.0 2020-04, libgcrypt@1.10.1 2022-02 ("), "{said}");
    }

    #[test]
    fn a_year_or_less_and_unknown_versions_say_nothing() {
        assert_eq!(note_of_age([("openssl", "4.0.3"), ("openssl", "3.6.1")].into_iter()), None);
        assert_eq!(note_of_age([("openssl", "4.0.3"), ("openssl", "3.55")].into_iter()), None);
        assert_eq!(note_of_age([("openssl", "4.0.3"), ("mine", "0.1")].into_iter()), None);
        assert_eq!(note_of_age(std::iter::empty()), None);
        assert!(note_of_age([("openssl", "4.0.3"), ("openssl", "3.5.5")].into_iter()).is_none());
        assert!(note_of_age([("openssl", "4.0.3"), ("openssl", "3.4.0")].into_iter()).is_some());
    }

    #[test]
    fn of_many_old_releases_some_are_named_and_the_others_counted() {
        let old = ["1.1.1", "3.0.1", "3.0.2", "3.1.0", "3.2.0", "3.3.0", "3.4.0"];
        let all = old.into_iter().chain(["4.0.3"]).map(|v| ("openssl", v));
        let said = note_of_age(all).unwrap();
        assert!(
            said.contains("openssl@3.3.0 2024-04 and 1 more") && !said.contains("3.4.0"),
            "{said}"
        );
    }

    #[test]
    fn every_date_is_one() {
        for (name, version, (year, month)) in RELEASED {
            assert!((2017..2100).contains(year) && (1..=12).contains(month), "{name} {version}");
        }
    }

    #[test]
    fn a_remark_names_library_and_algorithms_once() {
        let mut record = sample::record();
        assert!(remarks(&record.measurements.iter().collect::<Vec<_>>()).is_empty());
        let library = record.measurements[0].library.clone();
        let mut own: Vec<&mut Measurement> =
            record.measurements.iter_mut().filter(|m| m.library == library).collect();
        own.iter_mut()
            .for_each(|m| m.remarks = vec!["loses memory: 64 bytes a message".to_owned()]);
        let algorithm = own.iter().map(|m| m.algorithm.clone()).min().expect("it has cases");
        own[0].remarks.push("prints \u{1b}[2J".to_owned());
        let lines = remarks(&record.measurements.iter().collect::<Vec<_>>());
        assert_eq!(lines.len(), 2, "{lines:?}");
        let loses = format!("loses memory ({algorithm}: 64 bytes a message");
        assert!(lines.iter().any(|line| line.contains(&loses)), "{lines:?}");
        assert!(lines.iter().all(|line| !line.chars().any(char::is_control)), "{lines:?}");
    }
}
