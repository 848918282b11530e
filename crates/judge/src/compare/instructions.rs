//! What is compared exactly: instructions of both sides, and what depends on secrets on both.
//!
//! Instructions of both sides: exact counts, so that any difference is one.

use crate::compare::comparison::Side;
use base::model::{Direction, Model, Tier};
use record::{Executed, Leak, LeakKind, LeakVerdict, Leaks, LibraryId, State};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What one operation executes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Counts {
    /// For each further byte.
    pub per_byte: f64,
    /// For a message, whatever its length.
    pub per_message: f64,
}

/// The reason where a record says nothing of a measured size: it is of an older version.
pub const NOT_COUNTED: &str = "not counted";

/// Instructions of one algorithm on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstructionRow {
    /// The base's library.
    pub base_library: LibraryId,
    /// The new side's library.
    pub new_library: LibraryId,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Tier; of two that are compared, the new one.
    pub tier: Tier,
    /// The base's counts per byte and per message, where there are any.
    pub base: Option<Counts>,
    /// The new side's.
    pub new: Option<Counts>,
    /// By which fraction the instructions for each byte grew; below zero where they fell.
    pub per_byte_growth: Option<f64>,
    /// By which fraction the instructions for each message grew.
    pub per_message_growth: Option<f64>,
    /// Whole operations of the sizes that both sides measured and counted.
    pub sizes: Vec<SizeCounts>,
    /// Sizes that both sides measured and one of them at least did not count.
    pub uncounted: Vec<Uncounted>,
}

/// Whole operations of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeCounts {
    /// Bytes of plaintext.
    pub size: usize,
    /// Instructions of the base.
    pub base: u64,
    /// Instructions of the new side.
    pub new: u64,
    /// By which fraction they grew.
    pub growth: f64,
}

/// A measured size without a count on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncounted {
    /// Bytes of plaintext.
    pub size: usize,
    /// Which side has no count, and why.
    pub reason: String,
}

impl InstructionRow {
    /// Whether all counts are what they were.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.base == self.new && self.sizes.iter().all(|s| s.base == s.new)
    }

    /// The size whose operation grew most.
    #[must_use]
    pub fn worst_size(&self) -> Option<&SizeCounts> {
        self.sizes.iter().max_by(|a, b| a.growth.total_cmp(&b.growth))
    }

    /// The largest growth of an operation of a measured size; `None` where none was counted.
    #[must_use]
    pub fn per_operation_growth(&self) -> Option<f64> {
        self.worst_size().map(|s| s.growth)
    }

    /// The largest growth of all: per byte, per message, at any measured size.
    #[must_use]
    pub fn largest_growth(&self) -> f64 {
        let all = [self.per_byte_growth, self.per_message_growth, self.per_operation_growth()];
        all.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The growth from one count to another. Lines through few sizes can have next to nothing, or less,
/// for each message; against less than one instruction every change would be a multitude.
fn growth(base: f64, new: f64, least: f64) -> f64 {
    (new - base) / base.max(least)
}

type Key<'a> = (&'a str, Direction, Model, Tier);

/// What a side counted of one algorithm, and the sizes that it measured.
struct OneSide<'a> {
    executed: &'a Executed,
    measured: BTreeSet<usize>,
}

/// One row for each algorithm, direction, model and tier that both sides counted.
pub(crate) fn instruction_rows(
    base: &Side<'_>,
    new: &Side<'_>,
    pairs: &[(LibraryId, LibraryId)],
    tiers_differ: bool,
) -> Vec<InstructionRow> {
    let (base, new) = (counted(base, tiers_differ), counted(new, tiers_differ));
    let mut rows = Vec::new();
    for (base_library, new_library) in pairs {
        let (Some(of_base), Some(of_new)) = (base.get(base_library), new.get(new_library)) else {
            continue;
        };
        for (key, new) in of_new {
            let row = of_base.get(key).map(|base| instruction_row(base, new));
            rows.extend(row.filter(|r| r.per_byte_growth.is_some() || !r.sizes.is_empty()));
        }
    }
    rows
}

fn instruction_row(base: &OneSide<'_>, new: &OneSide<'_>) -> InstructionRow {
    let (b, n) = (counts(base.executed), counts(new.executed));
    let both = b.zip(n);
    let (sizes, uncounted) = at_sizes(base, new);
    InstructionRow {
        base_library: base.executed.library.clone(),
        new_library: new.executed.library.clone(),
        algorithm: new.executed.algorithm.clone(),
        direction: new.executed.direction,
        model: new.executed.model,
        tier: new.executed.tier,
        base: b,
        new: n,
        per_byte_growth: both.map(|(b, n)| growth(b.per_byte, n.per_byte, 1e-3)),
        per_message_growth: both.map(|(b, n)| growth(b.per_message, n.per_message, 1.0)),
        sizes,
        uncounted,
    }
}

/// Sizes that both sides measured, with their counts or without.
fn at_sizes(base: &OneSide<'_>, new: &OneSide<'_>) -> (Vec<SizeCounts>, Vec<Uncounted>) {
    let (mut sizes, mut uncounted) = (Vec::new(), Vec::new());
    for size in base.measured.intersection(&new.measured).copied() {
        match (at_size(base.executed, size), at_size(new.executed, size)) {
            (Ok(base), Ok(new)) => {
                let growth = growth(base as f64, new as f64, 1.0);
                sizes.push(SizeCounts { size, base, new, growth });
            }
            (Err(b), Err(n)) if b == n => uncounted.push(Uncounted { size, reason: b }),
            (b, n) => {
                let of = |side: &str, count: Result<u64, String>| {
                    count.err().map(|why| format!("{side}: {why}"))
                };
                let both: Vec<String> = of("base", b).into_iter().chain(of("new", n)).collect();
                uncounted.push(Uncounted { size, reason: both.join("; ") });
            }
        }
    }
    (sizes, uncounted)
}

fn at_size(executed: &Executed, size: usize) -> Result<u64, String> {
    if let Some(counted) = executed.sizes.iter().find(|s| s.size == size) {
        return Ok(counted.instructions);
    }
    let why = executed.uncounted.iter().find(|u| u.size == size);
    Err(why.map_or_else(|| NOT_COUNTED.to_owned(), |u| u.reason.clone()))
}

fn counts(executed: &Executed) -> Option<Counts> {
    Some(Counts { per_byte: executed.per_byte?, per_message: executed.per_message? })
}

fn counted<'a>(
    side: &Side<'a>,
    tiers_differ: bool,
) -> BTreeMap<&'a LibraryId, BTreeMap<Key<'a>, OneSide<'a>>> {
    let mut selected: BTreeMap<(&LibraryId, Key<'_>), BTreeSet<usize>> = BTreeMap::new();
    for m in &side.rows {
        let key = (m.algorithm.as_str(), m.direction, m.model, m.tier);
        let sizes = selected.entry((&m.library, key)).or_default();
        sizes.extend((m.state == State::Measured).then_some(m.size));
    }
    let mut found: BTreeMap<&LibraryId, BTreeMap<Key<'_>, OneSide<'_>>> = BTreeMap::new();
    for e in &side.record.executed {
        let key = (e.algorithm.as_str(), e.direction, e.model, e.tier);
        if let Some(measured) = selected.remove(&(&e.library, key)) {
            let tier = if tiers_differ { Tier::Native } else { e.tier };
            let one = OneSide { executed: e, measured };
            found.entry(&e.library).or_default().insert((key.0, key.1, key.2, tier), one);
        }
    }
    found
}

/// The verdicts of both sides on one algorithm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeakRow {
    /// The base's library.
    pub base_library: LibraryId,
    /// The new side's library.
    pub new_library: LibraryId,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Tier; of two that are compared, the new one.
    pub tier: Tier,
    /// The base's verdict.
    pub base: LeakVerdict,
    /// The new side's verdict.
    pub new: LeakVerdict,
    /// Places that the base does not have, or had by taint only.
    pub appeared: Vec<Leak>,
    /// Places that the new side no longer has, or has by taint only.
    pub gone: Vec<Leak>,
}

impl LeakRow {
    /// Whether a place depends on the secret now that did not: traces differ there. What taint alone says may be a
    /// false alarm.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.appeared.iter().any(|f| f.compared)
    }

    /// Whether both sides say the same.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.base == self.new && self.appeared.is_empty() && self.gone.is_empty()
    }
}

/// One row for each algorithm and tier that both sides judged.
pub(crate) fn leak_rows(
    base: &Side<'_>,
    new: &Side<'_>,
    pairs: &[(LibraryId, LibraryId)],
    tiers_differ: bool,
) -> Vec<LeakRow> {
    let (base, new) = (judged(base, tiers_differ), judged(new, tiers_differ));
    let mut rows = Vec::new();
    for (base_library, new_library) in pairs {
        let (Some(of_base), Some(of_new)) = (base.get(base_library), new.get(new_library)) else {
            continue;
        };
        for (key, new) in of_new {
            rows.extend(of_base.get(key).map(|base| leak_row(base, new)));
        }
    }
    rows
}

fn leak_row(base: &Leaks, new: &Leaks) -> LeakRow {
    LeakRow {
        base_library: base.library.clone(),
        new_library: new.library.clone(),
        algorithm: new.algorithm.clone(),
        tier: new.tier,
        base: base.verdict,
        new: new.verdict,
        appeared: beyond(new, base),
        gone: beyond(base, new),
    }
}

/// A place in any build: addresses move, and files are called otherwise.
fn place(f: &Leak) -> (LeakKind, Option<&str>) {
    (f.kind, f.function.as_deref())
}

/// Places of one side that the other does not have as surely.
fn beyond(one: &Leaks, other: &Leaks) -> Vec<Leak> {
    let known = |f: &Leak| {
        other.findings.iter().any(|o| place(o) == place(f) && (o.compared || !f.compared))
    };
    one.findings.iter().filter(|f| !known(f)).cloned().collect()
}

type ByAlgorithm<'a> = BTreeMap<(&'a str, Tier), &'a Leaks>;

/// The verdicts on the side's rows; on all where nothing was measured.
fn judged<'a>(side: &Side<'a>, tiers_differ: bool) -> BTreeMap<&'a LibraryId, ByAlgorithm<'a>> {
    let mut found: BTreeMap<&LibraryId, ByAlgorithm<'_>> = BTreeMap::new();
    let is_row = |l: &Leaks| side.rows.iter().any(|m| l.is_of(&m.library, &m.algorithm, m.tier));
    let all = side.record.measurements.is_empty();
    for l in side.record.leaks.iter().filter(|l| all || is_row(l)) {
        let tier = if tiers_differ { Tier::Native } else { l.tier };
        found.entry(&l.library).or_default().insert((&l.algorithm, tier), l);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample::{case, library, record};
    use crate::compare::{Comparison, Condition, Matching, Settings, Side, compare};
    use record::{Leak, LeakKind, LeakVerdict, Leaks, Record};

    #[test]
    fn growth_against_next_to_nothing_is_no_multitude() {
        assert!((growth(2.0, 2.01, 1e-3) - 0.005).abs() < 1e-12);
        assert!((growth(-3.0, 2.0, 1.0) - 5.0).abs() < 1e-12);
        assert_eq!(growth(0.0, 0.0, 1.0), 0.0);
    }

    fn leak(function: &str, compared: bool) -> Leak {
        Leak {
            kind: LeakKind::Lookup,
            function: Some(function.to_owned()),
            object: "libmine.so".to_owned(),
            address: 0x1000,
            instruction: "mov eax,[rcx+rdx*4]".to_owned(),
            places: 1,
            bytes: Some(256),
            lines: Some(4),
            operations: vec!["encrypt".to_owned()],
            sizes: vec![16],
            compared,
            tainted: true,
        }
    }

    fn with(findings: Vec<Leak>) -> Record {
        let compared = findings.iter().map(|f| f.compared).max();
        let mut record = record("a", vec![case("aes-128-gcm", 16, &[1000.0, 1001.0])]);
        record.leaks = vec![Leaks {
            library: library("mine", "1", "build-id:00"),
            algorithm: "aes-128-gcm".to_owned(),
            tier: base::model::Tier::Native,
            verdict: match compared {
                Some(true) => LeakVerdict::Depends,
                Some(false) => LeakVerdict::MayDepend,
                None => LeakVerdict::SameTrace,
            },
            reason: None,
            secrets: 16,
            operations: Vec::new(),
            findings,
        }];
        record
    }

    fn compared(base: &Record, new: &Record) -> Comparison {
        let side = |record| Side {
            record,
            name: "r".to_owned(),
            rows: Vec::from_iter(&record.measurements),
        };
        let settings = Settings {
            tolerance: 0.005,
            matching: Matching::ByName,
            apart: crate::compare::Apart::Nothing,
        };
        compare(&side(base), &side(new), &settings)
    }

    fn fails(c: &Comparison) -> Option<String> {
        "leaks".parse::<Condition>().unwrap().find(c).map(|f| f.what)
    }

    #[test]
    fn a_new_place_fails_and_one_that_is_gone_does_not() {
        let (clean, leaky) = (with(Vec::new()), with(vec![leak("f", true)]));
        let c = compared(&clean, &leaky);
        assert_eq!(fails(&c).as_deref(), Some("newly depends on the secret: aes-128-gcm"));
        assert_eq!((c.leaks[0].appeared.len(), c.leaks[0].gone.len()), (1, 0));
        let c = compared(&leaky, &clean);
        assert_eq!((fails(&c), c.leaks[0].gone.len()), (None, 1));
        assert!(compared(&leaky, &leaky).leaks[0].is_equal());
    }

    #[test]
    fn the_same_function_at_another_address_is_no_news_and_another_function_is() {
        let base = with(vec![leak("f", true)]);
        let mut moved = leak("f", true);
        (moved.address, moved.bytes, moved.object) = (0x2000, Some(128), "libmine.so.2".to_owned());
        assert_eq!(fails(&compared(&base, &with(vec![moved]))), None);
        assert!(fails(&compared(&base, &with(vec![leak("f", true), leak("g", true)]))).is_some());
    }

    #[test]
    fn what_taint_alone_says_is_shown_and_fails_only_when_traces_differ() {
        let (none, tainted) = (with(Vec::new()), with(vec![leak("f", false)]));
        let c = compared(&none, &tainted);
        assert_eq!((fails(&c), c.leaks[0].appeared.len()), (None, 1));
        assert!(fails(&compared(&tainted, &with(vec![leak("f", true)]))).is_some());
    }

    #[test]
    fn records_of_verdicts_alone_are_compared_too() {
        let only = |record: Record| Record { measurements: Vec::new(), ..record };
        let c = compared(&only(with(Vec::new())), &only(with(vec![leak("f", true)])));
        assert!(fails(&c).is_some());
        assert!(compared(&with(Vec::new()), &only(with(Vec::new()))).leaks[0].is_equal());
    }

    #[test]
    fn what_only_one_side_judged_is_no_row() {
        let unjudged = Record { leaks: Vec::new(), ..with(Vec::new()) };
        assert!(compared(&unjudged, &with(vec![leak("f", true)])).leaks.is_empty());
    }
}
