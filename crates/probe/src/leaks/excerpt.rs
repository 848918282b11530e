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
    for (which, stage, ours, theirs) in of_keys(recordings).chain(of_tags(recordings, calls.len()))
    {
        let Some(at) = first_in(function, (ours, theirs), places, decodes) else { continue };
        let head = format!("{}, {which}, step {at}:", words(&recordings.stages[stage]));
        let lines = (at.saturating_sub(BEFORE)..=at + AFTER)
            .filter_map(|i| Some(line(ours.get(i)?, theirs.get(i)?, i == at, places, decodes)));
        return std::iter::once(head).chain(lines).collect();
    }
    vec![format!("no two traces differ in {function} first")]
}

/// Which two are compared, at which stage, and their steps.
type Pair<'a> = (String, usize, &'a [Step], &'a [Step]);

fn of_keys<'a>(recordings: &'a Recordings<'_>) -> impl Iterator<Item = Pair<'a>> {
    let secrets = recordings.secrets;
    (1..secrets.len()).flat_map(move |number| {
        let stages = secrets[number].calls().into_iter().enumerate();
        stages.filter_map(move |(stage, other)| {
            let base = recordings.base_of(number, stage)?;
            let one = secrets[base].calls().get(stage)?.clone();
            let which = format!("keys {} and {}", base + 1, number + 1);
            let theirs = secrets[number].steps(other.steps);
            Some((which, stage, secrets[base].steps(one.steps), theirs))
        })
    })
}

fn of_tags<'a>(recordings: &'a Recordings<'_>, seen: usize) -> impl Iterator<Item = Pair<'a>> {
    let (base, others) = match recordings.forgeries {
        [] => (None, &[][..]),
        [base, others @ ..] => (Some(base), others),
    };
    let pairs = base.into_iter().flat_map(move |base| others.iter().map(move |tape| (base, tape)));
    pairs.flat_map(move |(base, tape)| {
        let from = seen.saturating_sub(base.calls().len());
        let both = base.calls().into_iter().zip(tape.calls()).enumerate();
        both.map(move |(number, (one, other))| {
            let which = "two wrong tags".to_owned();
            (which, from + number, base.steps(one.steps), tape.steps(other.steps))
        })
    })
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
