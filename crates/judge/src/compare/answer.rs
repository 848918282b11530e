//! What a survey comes to, for somebody who reads one screen of it: for each question the best with what ties
//! with it, and where the system's own library stands.

use crate::compare::cost::{Cost, lies_above};
use crate::compare::{Case, Matching, Settings, Side, Tally, Unit, compare, family};
use base::analysis::{ALPHA, Ratio, surely_faster};
use base::model::{Algorithm, Direction, Footprint, Kind, Mode, Model, Tier};
use record::{LeakVerdict, LibraryId, Measurement, Record, State};
use std::collections::{BTreeMap, BTreeSet};

/// The size that rows are ranked at where it was measured: `PostgreSQL`'s page, and large enough that the cost per
/// message no longer decides.
pub const REFERENCE_SIZE: usize = 8192;
/// Most sizes: a small message, a middling one, the reference.
const SIZES: usize = 3;
/// Directories that a distribution's packages put libraries in.
pub(crate) const SYSTEM: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];

/// What a survey comes to. Messages in one thread, in hot buffers, at the native tier: what an application does.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// Bytes of a message, ascending, at most three; rows are ranked at the last.
    pub sizes: Vec<usize>,
    pub direction: Direction,
    /// The system's own OpenSSL, where it was measured.
    pub system: Option<&'a LibraryId>,
    /// A newer OpenSSL of the same record against it.
    pub newer: Option<Newer<'a>>,
    /// The questions, each with its families of algorithms, the fastest first.
    pub questions: Vec<(Asked, Vec<Family<'a>>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// Encryption that notices tampering.
    Authenticated,
    /// Encryption that keeps the length and notices nothing.
    KeepsLength,
    /// Digests and message authentication codes.
    Digest,
    /// What nothing new should be protected with, however fast it is.
    Weak,
}

/// Algorithms that differ in key length or lanes only.
#[derive(Clone, Debug)]
pub struct Family<'a> {
    /// Its algorithm with the longest key; of these the fastest.
    pub algorithm: &'a str,
    pub libraries: Vec<Row<'a>>,
    /// How many libraries beside the first one may be the fastest.
    pub ties: usize,
    pub system: Standing,
}

#[derive(Clone, Debug)]
pub struct Row<'a> {
    pub library: &'a LibraryId,
    /// In the order of [`Answer::sizes`]; none where there is no number.
    pub cells: Vec<Option<&'a Measurement>>,
}

/// How the system's library does against the fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// It was not measured, or not at this.
    Unknown,
    NotOffered,
    Refused,
    /// It is shown to be as fast as the fastest, to 5 %.
    Best,
    /// Nothing is surely faster (95 %), and it is not shown to be as fast.
    Undecided,
    /// The fastest takes so many times less, at this many MB/s of its own.
    Slower(f64, f64),
}

/// A library against the system's, over the usual cases that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Newer<'a> {
    pub library: &'a LibraryId,
    /// Geometric mean of its time over the system's.
    pub ratio: Ratio,
    /// Of how many cases: what only a busy core showed has none.
    pub ratios: usize,
    /// The verdicts of [`compare`] on the cases.
    pub tally: Tally,
}

impl<'a> Answer<'a> {
    /// None where nothing in the record answers any question.
    pub fn of(record: &'a Record) -> Option<Self> {
        let asked = |m: &Measurement| asked(&m.algorithm);
        let is_wanted = |m: &&Measurement| is_usual(m) && asked(m).is_some();
        let usual: Vec<&Measurement> = record.measurements.iter().filter(is_wanted).collect();
        let directions: BTreeSet<Direction> = usual.iter().map(|m| m.direction).collect();
        let direction = [Direction::Encrypt, Direction::Decrypt, Direction::Digest]
            .into_iter()
            .find(|d| directions.contains(d))?;
        let rows: Vec<&Measurement> = usual
            .into_iter()
            .filter(|m| m.direction == direction || m.direction == Direction::Digest)
            .collect();
        let sizes = sizes(&rows)?;
        let system = system(record);
        let mut of_asked: BTreeMap<Asked, BTreeMap<String, Vec<&Measurement>>> = BTreeMap::new();
        for m in rows.iter().copied() {
            if let Some(asked) = asked(m) {
                let families = of_asked.entry(asked).or_default();
                families.entry(family(&m.algorithm)).or_default().push(m);
            }
        }
        let families = |families: BTreeMap<String, Vec<&'a Measurement>>| {
            let all = families.into_values();
            let mut all: Vec<Family<'_>> =
                all.filter_map(|rows| Family::of(record, &rows, &sizes, system)).collect();
            all.sort_by(|a, b| b.speed().total_cmp(&a.speed()));
            all
        };
        let questions = of_asked.into_iter().map(|(asked, of)| (asked, families(of)));
        let questions: Vec<_> = questions.filter(|(_, found)| !found.is_empty()).collect();
        let newer = system.and_then(|system| newer(record, system));
        (!questions.is_empty()).then_some(Self { sizes, direction, system, newer, questions })
    }
}

fn is_usual(m: &Measurement) -> bool {
    m.model == Model::Message
        && (m.tier, m.threads, m.footprint) == (Tier::Native, 1, Footprint::Hot)
        && !m.in_place
}

/// A sum that is too short or too bare to protect anything answers no question, and nothing is advised that only its
/// own adapter knows.
fn asked(algorithm: &str) -> Option<Asked> {
    let algorithm = Algorithm::find(algorithm).ok()?;
    match algorithm.kind {
        _ if algorithm.is_brought() => None,
        _ if algorithm.is_weak() => Some(Asked::Weak),
        Kind::Mac if algorithm.mode == Mode::Universal || algorithm.tag_len < 16 => None,
        Kind::Aead if algorithm.wraps_keys() => None,
        Kind::Aead => Some(Asked::Authenticated),
        Kind::Cipher if algorithm.mode != Mode::Ecb => Some(Asked::KeepsLength),
        Kind::Digest | Kind::Mac if !algorithm.is_checksum() => Some(Asked::Digest),
        _ => None,
    }
}

/// The smallest size, the one in the middle on a logarithmic scale, and the one that is ranked at.
fn sizes(rows: &[&Measurement]) -> Option<Vec<usize>> {
    let all: BTreeSet<usize> = rows.iter().map(|m| m.size).collect();
    let (first, largest) = (*all.first()?, *all.last()?);
    let reference = if all.contains(&REFERENCE_SIZE) { REFERENCE_SIZE } else { largest };
    let middle = (first as f64 * reference as f64).sqrt();
    let distance = |size: &&usize| ((**size as f64 / middle).ln().abs() * 1e6) as u64;
    let between = all.iter().filter(|s| (first + 1..reference).contains(s)).min_by_key(distance);
    let mut sizes: Vec<usize> =
        [Some(&first), between, Some(&reference)].into_iter().flatten().copied().collect();
    sizes.dedup();
    sizes.truncate(SIZES);
    Some(sizes)
}

/// What depends on a secret is nobody's best, however fast it is.
pub(crate) fn leaks(record: &Record, m: &Measurement) -> bool {
    record.leaks_of(m).is_some_and(|l| l.verdict == LeakVerdict::Depends)
}

/// The OpenSSL that programs of this system find.
pub fn system(record: &Record) -> Option<&LibraryId> {
    record.measurements.iter().map(|m| &m.library).find(|library| is_system(library))
}

/// Whether programs of this system find this OpenSSL.
pub fn is_system(library: &LibraryId) -> bool {
    library.name == "openssl" && SYSTEM.iter().any(|d| library.path.starts_with(d))
}

impl<'a> Family<'a> {
    fn of(
        record: &Record,
        rows: &[&'a Measurement],
        sizes: &[usize],
        system: Option<&LibraryId>,
    ) -> Option<Self> {
        let reference = *sizes.last()?;
        let measured = rows.iter().filter(|m| m.state == State::Measured && m.size == reference);
        let measured = measured.filter(|m| m.mb_per_s.is_some() && !leaks(record, m));
        let key_len = |m: &Measurement| Algorithm::find(&m.algorithm).map_or(0, |a| a.key_len);
        let longest = measured.clone().map(|m| key_len(m)).max()?;
        let by_speed = |a: &&&Measurement, b: &&&Measurement| {
            a.mb_per_s.unwrap_or(0.0).total_cmp(&b.mb_per_s.unwrap_or(0.0))
        };
        let fastest = measured.clone().filter(|m| key_len(m) == longest).max_by(by_speed)?;
        let algorithm = fastest.algorithm.as_str();
        let mut own: Vec<&&Measurement> = measured.filter(|m| m.algorithm == algorithm).collect();
        own.sort_by(|a, b| by_speed(b, a));
        let cell = |library: &LibraryId, size: usize| {
            let of = |m: &&&Measurement| {
                (&m.library, m.algorithm.as_str(), m.size) == (library, algorithm, size)
            };
            rows.iter().find(of).copied().filter(|m| m.mb_per_s.is_some())
        };
        let row = |m: &&&'a Measurement| {
            let cells = sizes.iter().map(|size| cell(&m.library, *size)).collect();
            Row { library: &m.library, cells }
        };
        let libraries = own.iter().map(row).collect();
        let own: Vec<&Measurement> = own.iter().map(|m| **m).collect();
        let standing = system.map_or(Standing::Unknown, |system| {
            let at = |m: &&&Measurement| {
                (&m.library, m.algorithm.as_str(), m.size) == (system, algorithm, reference)
            };
            let found = rows.iter().find(at);
            found.map_or(Standing::Unknown, |m| standing(record, m, fastest, &own))
        });
        Some(Self { algorithm, libraries, ties: ties(record, &own), system: standing })
    }

    fn speed(&self) -> f64 {
        let of = |row: &Row<'_>| row.cells.last().copied().flatten().and_then(|m| m.mb_per_s);
        self.libraries.first().and_then(of).unwrap_or(0.0)
    }
}

/// How many of these, the fastest first, may be faster than the first one: of those that surely take longer none. What has
/// samples of too few processes does so if its interval lies above.
fn ties(record: &Record, all: &[&Measurement]) -> usize {
    let unit = common_unit(all);
    let costs: Vec<_> = all.iter().map(|m| (*m, Cost::of(record, m, unit))).collect();
    let [(first, own), others @ ..] = &costs[..] else { return 0 };
    let each = ALPHA / others.len().max(1) as f64;
    let takes_longer = |m: &Measurement, cost: &Option<Cost<'_>>| match (own, cost) {
        (Some(own), Some(cost)) => own.is_surely_below(cost, each),
        _ => {
            let both = m.ns_per_op.zip(first.ns_per_op);
            !m.contended && both.is_some_and(|(other, first)| lies_above(&other, &first))
        }
    };
    others.iter().filter(|(m, cost)| !takes_longer(m, cost)).count()
}

/// What takes less than so many times as long as the fastest at the most is as fast.
const AS_FAST: f64 = 1.05;

fn standing(
    record: &Record,
    system: &Measurement,
    fastest: &Measurement,
    all: &[&Measurement],
) -> Standing {
    let numbers = (system.ns_per_op, fastest.ns_per_op, system.mb_per_s);
    let (Some(own), Some(best), Some(speed)) = numbers else {
        return match system.state {
            State::Unsupported => Standing::NotOffered,
            State::Refused => Standing::Refused,
            _ => Standing::Unknown,
        };
    };
    let unit = common_unit(&[system, fastest]);
    let of = |m| Cost::of(record, m, unit);
    let costs = of(fastest).zip(of(system));
    let is_surely_slower = costs.is_some_and(|(fastest, own)| fastest.is_surely_below(&own, ALPHA));
    let factor = own.median / best.median;
    if is_surely_slower && factor > 1.0 {
        Standing::Slower(factor, speed)
    } else if system.library == fastest.library && all.len() == 1 || is_as_fast(system, all) {
        Standing::Best
    } else {
        Standing::Undecided
    }
}

/// Whether none of the others may take less than so many times as long: a busy core shows no least time.
fn is_as_fast(system: &Measurement, all: &[&Measurement]) -> bool {
    let takes_as_long = |other: &&Measurement| {
        let both = system.ns_per_op.zip(other.ns_per_op);
        !other.contended && both.is_some_and(|(own, other)| own.high < AS_FAST * other.low)
    };
    let mut others = all.iter().filter(|m| m.library != system.library);
    !system.contended && others.all(takes_as_long)
}

/// Of the other builds of OpenSSL the one with the highest version, compared as `compare` does.
fn newer<'a>(record: &'a Record, system: &LibraryId) -> Option<Newer<'a>> {
    let version = |id: &LibraryId| -> Vec<u64> {
        let parts = id.version.split(|c: char| !c.is_ascii_digit());
        parts.map_while(|part| part.parse().ok()).collect()
    };
    let others = record.measurements.iter().map(|m| &m.library);
    let others = others.filter(|id| id.name == "openssl" && version(id) > version(system));
    let library = others.max_by_key(|id| version(id))?;
    let side = |of: &LibraryId| Side {
        name: of.name.clone(),
        record,
        rows: record.measurements.iter().filter(|m| m.library == *of && is_usual(m)).collect(),
    };
    let comparison = compare(&side(system), &side(library), &Settings::of(Matching::Every));
    let all = comparison.overall.first()?;
    Some(Newer { library, ratio: all.ratio?, ratios: all.ratios, tally: comparison.tally })
}

/// Which cases are the fastest among those that differ in library and algorithm only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Best(BTreeMap<(LibraryId, Case), bool>);

impl Best {
    /// Of the measured rows of a record. A case is among the best when none is surely faster, as in
    /// [`crate::compare::rank`].
    pub fn of(record: &Record, rows: &[&Measurement]) -> Self {
        let mut tables: BTreeMap<Case, Vec<&Measurement>> = BTreeMap::new();
        let counts = |m: &&Measurement| m.state == State::Measured && !leaks(record, m);
        for m in rows.iter().copied().filter(counts) {
            // The harness's own cost takes part in no ranking.
            if m.mb_per_s.is_some() {
                let case = Case { algorithm: String::new(), ..Case::of(m) };
                tables.entry(case).or_default().push(m);
            }
        }
        let mut best = BTreeMap::new();
        for table in tables.into_values() {
            let unit = common_unit(&table);
            let costs = table.into_iter().filter_map(|m| Cost::of(record, m, unit));
            let mut costs: Vec<Cost<'_>> = costs.collect();
            if costs.len() < 2 {
                continue;
            }
            costs.sort_by(|a, b| a.group.cost().total_cmp(&b.group.cost()));
            let first = surely_faster(&costs, 0, ALPHA, Cost::is_surely_below);
            for place in &first {
                let m = costs[place.at].m;
                best.insert((m.library.clone(), Case::of(m)), first.len() > 1);
            }
        }
        Self(best)
    }

    /// Whether it is among the best: with others (`true`) or alone (`false`).
    pub fn tied(&self, m: &Measurement) -> Option<bool> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(m.library.clone(), Case::of(m))).copied()
    }
}

/// Cycles where all know them.
pub(crate) fn common_unit(rows: &[&Measurement]) -> Unit {
    let known = rows.iter().all(|m| m.cycles_per_op.is_some());
    if known { Unit::Cycles } else { Unit::Nanoseconds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{case, library, record, without_number};

    fn of(name: &str, version: &str, path: &str, algorithm: &str, cost: f64) -> Measurement {
        let mut m = case(algorithm, 8192, &[cost, cost * 1.001, cost * 0.999, cost, cost, cost]);
        (m.direction, m.model) = (Direction::Encrypt, Model::Message);
        let [name, version, path] = [name, version, path].map(str::to_owned);
        m.library = LibraryId { name, version, path, id: "build-id:00".to_owned() };
        m
    }

    fn openssl(algorithm: &str, cost: f64) -> Measurement {
        of("openssl", "3.0.19", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", algorithm, cost)
    }

    fn digest(algorithm: &str, ns: f64) -> Measurement {
        Measurement {
            direction: Direction::Digest,
            ..of("fast", "1", "/opt/fast.so", algorithm, ns)
        }
    }

    fn found<'a>(answer: &Answer<'a>) -> Vec<(Asked, Vec<&'a str>)> {
        let one = |(asked, families): &(Asked, Vec<Family<'a>>)| {
            (*asked, families.iter().map(|f| f.algorithm).collect())
        };
        answer.questions.iter().map(one).collect()
    }

    #[test]
    fn each_question_has_its_families_the_fastest_first_and_the_systems_standing() {
        let mut unsupported = openssl("aegis-256", 1.0);
        unsupported = without_number(unsupported, State::Unsupported, "no");
        let record = record(
            "a",
            vec![
                openssl("aes-256-gcm", 4000.0),
                openssl("aes-128-gcm", 3000.0),
                openssl("aes-256-xts", 2000.0),
                openssl("aes-256-ecb", 100.0),
                of("fast", "1", "/opt/fast.so", "aes-256-gcm", 2000.0),
                of("fast", "1", "/opt/fast.so", "aes-256-xts", 2000.5),
                of("fast", "1", "/opt/fast.so", "aegis-256", 1000.0),
                of("openssl", "4.0.3", "/opt/libcrypto.so", "aes-256-gcm", 2500.0),
                unsupported,
            ],
        );
        let answer = Answer::of(&record).unwrap();
        let found = found(&answer);
        let authenticated = (Asked::Authenticated, vec!["aegis-256", "aes-256-gcm"]);
        assert_eq!(found, [authenticated, (Asked::KeepsLength, vec!["aes-256-xts"])]);
        let families = &answer.questions[0].1;
        assert_eq!(families[0].system, Standing::NotOffered);
        let Standing::Slower(factor, _) = families[1].system else {
            panic!("{:?}", families[1].system)
        };
        assert!((factor - 2.0).abs() < 0.01, "{factor}");
        let names: Vec<&str> = families[1].libraries.iter().map(|r| &*r.library.name).collect();
        assert_eq!(names, ["fast", "openssl", "openssl"]);
        assert_eq!(answer.questions[1].1[0].system, Standing::Best);
        let newer = answer.newer.unwrap();
        assert_eq!((&*newer.library.version, newer.tally.faster), ("4.0.3", 1));
        assert!((newer.ratio.estimate - 0.625).abs() < 0.01, "{}", newer.ratio.estimate);
    }

    #[test]
    fn the_systems_library_is_as_fast_only_if_nothing_may_be_faster() {
        let fast = |cost| of("fast", "1", "/opt/fast.so", "aes-256-gcm", cost);
        let standing = |rows: Vec<Measurement>| {
            Answer::of(&record("a", rows)).unwrap().questions[0].1[0].system
        };
        let own = || openssl("aes-256-gcm", 4000.0);
        assert_eq!(standing(vec![own(), fast(4001.0)]), Standing::Best);
        assert_eq!(standing(vec![own()]), Standing::Best, "nothing else was measured");
        // What only a busy core showed may be faster by any factor, whichever of the two it is.
        for cost in [3999.0, 4001.0, 8000.0] {
            let bound = Measurement { contended: true, ..fast(cost) };
            assert_eq!(standing(vec![own(), bound]), Standing::Undecided, "{cost}");
        }
        // Nor is it the first by luck alone.
        let wide = [0.8, 0.9, 1.0, 1.1, 1.2, 1.3];
        let unsure = |mut m: Measurement, factor: f64| {
            let of_case = case("aes-256-gcm", 8192, &wide.map(|part| part * 4000.0 * factor));
            (m.raw, m.ns_per_op, m.cycles_per_op) =
                (of_case.raw, of_case.ns_per_op, of_case.cycles_per_op);
            m.ns_per_op = m.ns_per_op.map(|ns| record::Estimate {
                low: ns.median * 0.9,
                high: ns.median * 1.1,
                ..ns
            });
            m
        };
        let rows = vec![unsure(own(), 1.0), unsure(fast(4000.0), 1.02)];
        assert_eq!(standing(rows), Standing::Undecided);
    }

    #[test]
    fn the_first_of_a_family_says_how_many_others_may_be_the_first() {
        let fast = |name: &str, cost| of(name, "1", "/opt/a.so", "aes-256-gcm", cost);
        let few = |mut m: Measurement| {
            m.raw = case("aes-256-gcm", 8192, &[1000.0; 2]).raw;
            m
        };
        let ties =
            |rows: Vec<Measurement>| Answer::of(&record("a", rows)).unwrap().questions[0].1[0].ties;
        assert_eq!(ties(vec![fast("a", 1000.0), fast("b", 1000.2), fast("c", 1500.0)]), 1);
        let bound = Measurement { contended: true, ..fast("b", 2000.0) };
        assert_eq!(ties(vec![fast("a", 1000.0), bound]), 1, "it may be faster by any factor");
        let rows = vec![fast("a", 1000.0), few(fast("b", 1000.2)), few(fast("c", 1500.0))];
        assert_eq!(ties(rows), 1, "an interval of few processes is one, too");
        assert_eq!(ties(vec![fast("a", 1000.0)]), 0);
    }

    #[test]
    fn a_newer_release_is_held_against_the_systems_in_usual_cases_with_a_ratio_alone() {
        let newer = |cost| of("openssl", "4.0.3", "/opt/libcrypto.so", "aes-256-gcm", cost);
        let bound = |m| Measurement { contended: true, size: 64, ..m };
        let masked = |m| Measurement { tier: Tier::Noaes, ..m };
        let rows = vec![
            openssl("aes-256-gcm", 4000.0),
            newer(2000.0),
            bound(openssl("aes-256-gcm", 40.0)),
            bound(newer(41.0)),
            masked(openssl("aes-256-gcm", 40_000.0)),
            masked(newer(400_000.0)),
        ];
        let record = record("a", rows);
        let newer = Answer::of(&record).unwrap().newer.unwrap();
        assert!((newer.ratio.estimate - 0.5).abs() < 0.01, "{}", newer.ratio.estimate);
        assert_eq!((newer.ratios, newer.tally.cases()), (1, 2));
    }

    #[test]
    fn digests_and_macs_have_a_question_of_their_own_and_checksums_none() {
        let rows = ["sha256", "hmac-sha256", "xxh3-64"].map(|name| digest(name, 900.0));
        let answer = record("a", [&rows[..], &[openssl("aes-256-gcm", 4000.0)]].concat());
        let answer = Answer::of(&answer).unwrap();
        let (asked, families) = answer.questions.last().unwrap();
        let names: BTreeSet<&str> = families.iter().map(|f| f.algorithm).collect();
        assert_eq!((*asked, names), (Asked::Digest, BTreeSet::from(["hmac-sha256", "sha256"])));
    }

    #[test]
    fn what_is_weak_stands_apart_however_fast_it_is_and_short_sums_nowhere() {
        let rows = vec![
            openssl("aes-256-cbc", 4000.0),
            openssl("des-cbc", 1.0),
            digest("md5", 1.0),
            digest("sha256", 900.0),
            digest("siphash-2-4", 1.0),
            digest("ghash", 1.0),
        ];
        let record = record("a", rows);
        let answer = Answer::of(&record).unwrap();
        let found = found(&answer);
        let keeps_length = (Asked::KeepsLength, vec!["aes-256-cbc"]);
        let digests = (Asked::Digest, vec!["sha256"]);
        assert_eq!(found[..2], [keeps_length, digests]);
        let weak: BTreeSet<&str> = found[2].1.iter().copied().collect();
        assert_eq!((found[2].0, weak), (Asked::Weak, BTreeSet::from(["des-cbc", "md5"])));
    }

    #[test]
    fn three_sizes_at_most_stand_for_all() {
        let at = |size: usize| Measurement { size, ..openssl("aes-256-gcm", size as f64) };
        let all: Vec<Measurement> = [16, 64, 256, 1024, 8192, 65536].map(at).to_vec();
        let rows: Vec<&Measurement> = all.iter().collect();
        assert_eq!(sizes(&rows), Some(vec![16, 256, 8192]));
        assert_eq!(sizes(&rows[..1]), Some(vec![16]));
        assert_eq!(sizes(&rows[..2]), Some(vec![16, 64]));
        assert_eq!(sizes(&[]), None);
    }

    #[test]
    fn a_record_without_an_answer_has_none() {
        assert!(Answer::of(&record("a", vec![openssl("aes-256-ecb", 1.0)])).is_none());
        assert!(Answer::of(&record("a", Vec::new())).is_none());
    }

    #[test]
    fn the_best_of_each_size_stands_alone_or_ties() {
        let row = |name: &str, size: usize, cost: f64| {
            let mut m =
                case("aes-128-gcm", size, &[cost, cost * 1.004, cost * 0.996, cost, cost, cost]);
            m.library = library(name, "1", name);
            m
        };
        let record = record(
            "a",
            vec![
                row("a", 64, 100.0),
                row("b", 64, 100.1),
                row("a", 8192, 500.0),
                row("b", 8192, 900.0),
            ],
        );
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        let best = Best::of(&record, &rows);
        let tied: Vec<Option<bool>> = rows.iter().map(|m| best.tied(m)).collect();
        assert_eq!(tied, [Some(true), Some(true), Some(false), None]);
        assert_eq!(Best::default().tied(rows[0]), None);
        assert_eq!(Best::of(&record, &rows[2..3]).tied(rows[2]), None, "alone in its table");
    }
}
