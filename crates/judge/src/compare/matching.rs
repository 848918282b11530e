//! Which library of one side belongs to which of the other.

use crate::compare::comparison::Side;
use record::LibraryId;
use std::collections::BTreeSet;

/// How libraries find each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The same build; else the same name and version; else the same name, where one build of that
    /// name is left on either side.
    ByName,
    /// Every library of the base with every one of the new side.
    Every,
}

/// Pairs of libraries, base first.
pub(crate) fn pairs(
    base: &Side<'_>,
    new: &Side<'_>,
    matching: Matching,
) -> Vec<(LibraryId, LibraryId)> {
    let (mut base, mut new) = (libraries(base), libraries(new));
    if matching == Matching::Every {
        let with_all =
            |b: &LibraryId| new.iter().map(|n| (b.clone(), n.clone())).collect::<Vec<_>>();
        return base.iter().flat_map(with_all).filter(|(b, n)| b != n).collect();
    }
    let mut pairs = Vec::new();
    let ways: [fn(&LibraryId, &LibraryId) -> bool; 4] = [
        |a, b| a == b,
        |a, b| (&a.name, &a.version, &a.id) == (&b.name, &b.version, &b.id),
        |a, b| (&a.name, &a.version) == (&b.name, &b.version),
        |a, b| a.name == b.name,
    ];
    for same in ways {
        take(&mut base, &mut new, same, &mut pairs);
    }
    pairs.sort();
    pairs
}

/// Those of the rows; where nothing was measured, those that were judged.
fn libraries(side: &Side<'_>) -> BTreeSet<LibraryId> {
    let judged = side.record.leaks.iter().filter(|_| side.record.measurements.is_empty());
    let rows = side.rows.iter().map(|m| &m.library);
    let all: BTreeSet<&LibraryId> = rows.chain(judged.map(|l| &l.library)).collect();
    all.into_iter().cloned().collect()
}

/// Takes out those that have exactly one partner.
fn take(
    base: &mut BTreeSet<LibraryId>,
    new: &mut BTreeSet<LibraryId>,
    same: fn(&LibraryId, &LibraryId) -> bool,
    pairs: &mut Vec<(LibraryId, LibraryId)>,
) {
    let only = |of: &LibraryId, others: &BTreeSet<LibraryId>| {
        let mut partners = others.iter().filter(|other| same(of, other));
        partners.next().filter(|_| partners.next().is_none()).cloned()
    };
    let found: Vec<(LibraryId, LibraryId)> = base
        .iter()
        .filter_map(|b| Some((b.clone(), only(b, new)?)))
        .filter(|(b, n)| only(n, base).as_ref() == Some(b))
        .collect();
    for (b, n) in found {
        base.remove(&b);
        new.remove(&n);
        pairs.push((b, n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample;
    use record::{Measurement, Record};

    fn matched(base: &[[&str; 3]], new: &[[&str; 3]], matching: Matching) -> Vec<String> {
        let rows = |ids: &[[&str; 3]]| -> Vec<Measurement> {
            let row = |[name, version, id]: &[&str; 3]| {
                let mut m = sample::case("x", 16, &[1.0; 6]);
                m.library = sample::library(name, version, id);
                m
            };
            ids.iter().map(row).collect()
        };
        let record = |rows| sample::record("r", rows);
        let (base, new) = (record(rows(base)), record(rows(new)));
        fn side(record: &Record) -> Side<'_> {
            Side { record, name: String::new(), rows: record.measurements.iter().collect() }
        }
        let label = |l: &LibraryId| format!("{}@{}#{}", l.name, l.version, l.id);
        let pairs = pairs(&side(&base), &side(&new), matching).into_iter();
        pairs.map(|(b, n)| format!("{} {}", label(&b), label(&n))).collect()
    }

    #[test]
    fn the_same_build_goes_first_then_the_version_then_the_name() {
        let base = [["o", "3.0", "a"], ["o", "3.5", "b"], ["g", "1", "c"], ["s", "1", "d"]];
        let new = [["o", "3.0", "a2"], ["o", "4.0", "e"], ["g", "1", "c"], ["t", "1", "d"]];
        assert_eq!(
            matched(&base, &new, Matching::ByName),
            ["g@1#c g@1#c", "o@3.0#a o@3.0#a2", "o@3.5#b o@4.0#e"]
        );
    }

    #[test]
    fn what_could_belong_to_two_belongs_to_none() {
        let base = [["o", "3.0", "a"]];
        let new = [["o", "3.5", "b"], ["o", "4.0", "c"]];
        assert!(matched(&base, &new, Matching::ByName).is_empty());
        assert_eq!(matched(&base, &new, Matching::Every).len(), 2);
        assert_eq!(matched(&new, &new, Matching::Every).len(), 2, "none with itself");
    }
}
