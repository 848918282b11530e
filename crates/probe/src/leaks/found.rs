//! Findings as the judges make them: places within stages.

use record::LeakKind;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a cache line.
pub(super) const LINE: u64 = 64;

/// A place within a stage, and what is found there. Tag comparisons are branches and lookups here.
pub(super) type Key = (usize, LeakKind, u64);

/// What is known of a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The step of the stage, in the first trace, at which it was found first.
    pub(super) first: usize,
    /// Of lookups: bytes that were touched, as stretches from and to.
    pub(super) touched: BTreeSet<(u64, u64)>,
    /// Whether traces had gone different ways before it, each time it was found.
    pub(super) after: bool,
}

/// All places.
pub(super) type Found = BTreeMap<Key, Place>;

/// Touched stretches that are kept of one place: a table of 4 KiB by single bytes.
const MOST_TOUCHED: usize = 4096;

/// Notes a finding.
pub(super) fn note(found: &mut Found, key: Key, first: usize, after: bool) -> &mut Place {
    let new = || Place { first, touched: BTreeSet::new(), after };
    let place = found.entry(key).or_insert_with(new);
    place.first = place.first.min(first);
    place.after &= after;
    place
}

impl Place {
    /// Notes that so many bytes from an address on were touched.
    pub(super) fn touch(&mut self, from: u64, bytes: usize) {
        if self.touched.len() < MOST_TOUCHED {
            self.touched.insert((from, from.saturating_add(bytes.max(1) as u64)));
        }
    }
}

/// Bytes from the lowest to the highest address of each table that was touched, and cache lines seen. Stretches
/// that lie closer than `NEAR` are of one table.
pub(super) fn extent<'a>(touched: impl Iterator<Item = &'a (u64, u64)>) -> (u64, u64) {
    /// The largest of the usual tables: 256 entries of 8 bytes.
    const NEAR: u64 = 2048;
    let mut all: Vec<(u64, u64)> = touched.copied().collect();
    all.sort_unstable();
    let line_numbers = all.iter().flat_map(|(from, to)| from / LINE..=(to - 1) / LINE);
    let lines = line_numbers.collect::<BTreeSet<_>>().len() as u64;
    let mut tables: Vec<(u64, u64)> = Vec::new();
    for (from, to) in all {
        match tables.last_mut() {
            Some(table) if from <= table.1.saturating_add(NEAR) => table.1 = table.1.max(to),
            _ => tables.push((from, to)),
        }
    }
    (tables.iter().map(|(from, to)| to - from).sum(), lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_is_that_of_each_table_and_lines_are_those_that_were_seen() {
        assert_eq!(extent([(0x1000, 0x1004), (0x10fc, 0x1100)].iter()), (256, 2));
        assert_eq!(extent([(0x1000, 0x1004), (0x9000, 0x9001)].iter()), (5, 2));
        assert_eq!(extent([(0x103e, 0x1042)].iter()), (4, 2), "over the end of a line");
    }
}
