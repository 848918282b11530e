//! Two traces side by side around a place, for people who look a finding up.

use super::compare::compare;
use super::decoded::{Decodes, NAMES, text};
use super::found::Found;
use super::places::Places;
use super::{Recordings, judge::words};
use crate::step::{Recorded, Step};

/// Instructions before and after the place.
const BEFORE: usize = 12;
const AFTER: usize = 6;

/// The instructions of two traces around the first difference of a function, with the registers that differ.
pub(super) fn excerpt(
    recordings: &Recordings<'_>,
    calls: &[Recorded],
    function: &str,
    (places, decodes): (&mut Places<'_>, &mut Decodes<'_>),
) -> Vec<String> {
    let Some(first) = recordings.secrets.first() else { return Vec::new() };
    let secrets = recordings.secrets.iter().enumerate().skip(1);
    let secrets = secrets.map(|(number, tape)| (format!("keys 1 and {}", number + 1), first, tape));
    let forged = recordings.forgeries.first().into_iter().flat_map(|base| {
        let others = recordings.forgeries.iter().skip(1);
        others.map(move |tape| ("two wrong tags".to_owned(), base, tape))
    });
    for (which, base, tape) in secrets.chain(forged) {
        let is_key = std::ptr::eq(base, first);
        let from = if is_key { 0 } else { calls.len().saturating_sub(base.calls().len()) };
        for (number, (one, other)) in base.calls().into_iter().zip(tape.calls()).enumerate() {
            let stage = from + number;
            let (ours, theirs) = (base.steps(one.steps), tape.steps(other.steps));
            let Some(at) = first_in(function, (ours, theirs), places, decodes) else { continue };
            let head = format!("{}, {which}, step {at}:", words(&recordings.stages[stage]));
            let lines = (at.saturating_sub(BEFORE)..=at + AFTER)
                .filter_map(|i| Some(line(ours.get(i)?, theirs.get(i)?, i == at, places, decodes)));
            return std::iter::once(head).chain(lines).collect();
        }
    }
    vec![format!("no two traces differ in {function} first")]
}

/// The first step of the function at which two traces differ that have not parted before.
fn first_in(
    function: &str,
    (ours, theirs): (&[Step], &[Step]),
    places: &mut Places<'_>,
    decodes: &mut Decodes<'_>,
) -> Option<usize> {
    let mut found = Found::new();
    compare(0, (ours, theirs), decodes, &mut found);
    let mut firsts: Vec<usize> =
        found.values().filter(|place| !place.after).map(|place| place.first).collect();
    firsts.sort_unstable();
    firsts.into_iter().find(|at| {
        let name = places.function(ours, *at, decodes);
        name.is_some_and(|name| name.split(" and what it calls").next() == Some(function))
    })
}

fn line(
    ours: &Step,
    theirs: &Step,
    marked: bool,
    places: &mut Places<'_>,
    decodes: &mut Decodes<'_>,
) -> String {
    let mark = if marked { '>' } else { ' ' };
    let shown = |step: &Step, places: &mut Places<'_>, decodes: &mut Decodes<'_>| {
        let at = places.at(step.address());
        format!("{}+{:#x}  {}", at.object, at.address, text(step.address(), decodes))
    };
    let mut line = format!("{mark} {:<60}", shown(ours, places, decodes));
    if ours.address() != theirs.address() {
        return format!("{line} | {}", shown(theirs, places, decodes));
    }
    for (number, name) in NAMES.iter().enumerate() {
        let (x, y) = (ours.register(number), theirs.register(number));
        if x != y {
            line += &format!(" {name} {x:#x} | {y:#x}");
        }
    }
    line.trim_end().to_owned()
}
