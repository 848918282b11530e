//! What depends on secrets on both sides.

use crate::compare::comparison::Side;
use base::model::Tier;
use record::{Leak, LeakKind, LeakVerdict, Leaks, LibraryId};
use serde::Serialize;
use std::collections::BTreeMap;

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
pub(crate) fn rows(
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
            rows.extend(of_base.get(key).map(|base| row(base, new)));
        }
    }
    rows
}

fn row(base: &Leaks, new: &Leaks) -> LeakRow {
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
    use crate::compare::sample::{case, library, record};
    use crate::compare::{Comparison, Condition, Matching, Settings, Side, compare};
    use record::{Leak, LeakKind, LeakVerdict, Leaks, Record};

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
