//! Two traces of one stage side by side. After a branch goes two ways, the comparison goes on where both meet.

use super::decoded::Decodes;
use super::found::{Found, note};
use crate::step::Step;
use record::LeakKind;
use std::collections::HashMap;

/// How far ahead it is looked for where two ways meet: most meet within a function, and code that does not meet
/// within the last is given up.
const WINDOWS: [usize; 3] = [256, 4096, 65_536];

/// Notes where two traces differ. Returns whether all of both was compared.
pub(super) fn compare(
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
