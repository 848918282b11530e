//! The judge that compares, and findings as both judges make them: places within stages.
//!
//! Two traces of one stage side by side. After a branch goes two ways, the comparison goes on where both meet.

use crate::leaks::decoded::Decodes;
use crate::step::Step;
use record::LeakKind;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How far ahead it is looked for where two ways meet: most meet within a function, and code that does not meet
/// within the last is given up.
const WINDOWS: [usize; 3] = [256, 4096, 65_536];

/// Notes where two traces differ. Returns whether all of both was compared.
pub(crate) fn compare(
    stage: usize,
    (a, b): (&[Step], &[Step]),
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) -> bool {
    let (mut i, mut j, mut branched) = (0, 0, false);
    while i < a.len() && j < b.len() {
        let (x, y) = (&a[i], &b[j]);
        if x.address() != y.address() {
            note(found, (stage, LeakKind::Branch, before(a, i)), i.saturating_sub(1), branched);
            branched = true;
            let Some((further, other)) = meet(&a[i..], &b[j..]) else { return false };
            (i, j) = (i + further, j + other);
            continue;
        }
        if !x.is_alike(y) {
            lookups(stage, (i, x, y), branched, decodes, found);
            divisions(stage, (a, i, b, j), branched, decodes, found);
        }
        (i, j) = (i + 1, j + 1);
    }
    if i < a.len() || j < b.len() {
        note(found, (stage, LeakKind::Branch, before(a, i)), i.saturating_sub(1), branched);
    }
    true
}

/// The instruction that went two ways.
fn before(a: &[Step], i: usize) -> u64 {
    a.get(i.saturating_sub(1)).map_or(0, Step::address)
}

fn lookups(
    stage: usize,
    (at, x, y): (usize, &Step, &Step),
    branched: bool,
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) {
    for (p, q, bytes) in decodes.touched(x, y).into_iter().filter(|(p, q, _)| p != q) {
        let place = note(found, (stage, LeakKind::Lookup, x.address()), at, branched);
        place.touch(p, bytes);
        place.touch(q, bytes);
    }
}

/// Divisions with different operands. A divisor in memory shows in quotient or remainder, one step later.
fn divisions(
    stage: usize,
    (a, i, b, j): (&[Step], usize, &[Step], usize),
    branched: bool,
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) {
    let (x, y) = (&a[i], &b[j]);
    if decodes.divides_otherwise(x, y) {
        note(found, (stage, LeakKind::Division, x.address()), i, branched);
    }
    let previous = i.checked_sub(1).zip(j.checked_sub(1)).map(|(i, j)| (&a[i], &b[j]));
    if let Some((u, v)) = previous
        && u.address() == v.address()
        && decodes.divided_otherwise((u, v), (x, y))
    {
        note(found, (stage, LeakKind::Division, u.address()), i - 1, branched);
    }
}

/// How many steps each must go on until both are at the same instruction with the same stack: the nearest such.
fn meet(a: &[Step], b: &[Step]) -> Option<(usize, usize)> {
    WINDOWS.iter().find_map(|window| {
        let mut ahead = HashMap::new();
        for (k, step) in b.iter().take(*window).enumerate() {
            ahead.entry((step.address(), step.stack())).or_insert(k);
        }
        let steps = a.iter().take(*window).enumerate();
        let meeting = steps.filter_map(|(k, step)| {
            let other = *ahead.get(&(step.address(), step.stack()))?;
            Some((k.max(other), k, other))
        });
        meeting.min().map(|(_, further, other)| (further, other))
    })
}

/// Bytes of a cache line.
pub(crate) const LINE: u64 = 64;

/// A place within a stage, and what is found there. Tag comparisons are branches and lookups here.
pub(crate) type Key = (usize, LeakKind, u64);

/// What is known of a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The step of the stage, in the first trace, at which it was found first.
    pub(crate) first: usize,
    /// Of lookups: bytes that were touched, as stretches from and to.
    pub(crate) touched: BTreeSet<(u64, u64)>,
    /// Whether traces had gone different ways before it, each time it was found.
    pub(crate) after: bool,
}

/// All places.
pub(crate) type Found = BTreeMap<Key, Place>;

/// Touched stretches that are kept of one place: a table of 4 KiB by single bytes.
const MOST_TOUCHED: usize = 4096;

/// Notes a finding.
pub(crate) fn note(found: &mut Found, key: Key, first: usize, after: bool) -> &mut Place {
    let new = || Place { first, touched: BTreeSet::new(), after };
    let place = found.entry(key).or_insert_with(new);
    place.first = place.first.min(first);
    place.after &= after;
    place
}

impl Place {
    /// Notes that so many bytes from an address on were touched.
    pub(crate) fn touch(&mut self, from: u64, bytes: usize) {
        if self.touched.len() < MOST_TOUCHED {
            self.touched.insert((from, from.saturating_add(bytes.max(1) as u64)));
        }
    }
}

/// Bytes from the lowest to the highest address of each table that was touched, and cache lines seen. Stretches
/// that lie closer than `NEAR` are of one table.
pub(crate) fn extent<'a>(touched: impl Iterator<Item = &'a (u64, u64)>) -> (u64, u64) {
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
