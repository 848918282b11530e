//! Follows the secret through one trace: what depends on it at all, whether or not the keys that were tried made a
//! difference. By bytes for moves and bitwise logic, by operands for everything else.

mod flow;
mod rules;
mod state;

use super::compare::compare;
use super::decoded::{Decoded, Decodes};
use super::found::{Found, note};
use super::{Operation, Recordings, Stage};
use crate::step::{End, Recorded, Step, Tape};
use iced_x86::Register;
use record::LeakKind;
use rules::{Rule, rule};
use state::State;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Why a clean comparison is no verdict: it is one here.
pub(super) const UNFOLLOWED: Option<&str> = None;

/// What taint found.
pub(super) struct Tainted {
    pub(super) found: Found,
    /// Stages in which it did not get to where it must, and why.
    pub(super) lost: Vec<(String, usize)>,
}

/// Follows the secret through the first trace.
pub(super) fn run(
    recordings: &Recordings<'_>,
    calls: &[Recorded],
    first: &Tape,
    decodes: &mut Decodes<'_>,
) -> Tainted {
    let steps = |stage: usize| first.steps(calls[stage].steps.clone());
    let public = recordings.stages.iter().flat_map(|stage| stage.outputs.clone()).collect();
    let (mut state, mut seen) = (State::new(public), HashMap::new());
    let mut tainted = Tainted { found: Found::new(), lost: Vec::new() };
    for (number, stage) in recordings.stages.iter().enumerate().take(calls.len()) {
        let is_new_key = stage.operation == Operation::KeySetUp;
        let steps_here = steps(number);
        state.begin(steps_here.first().map_or(0, Step::stack), is_new_key);
        if is_new_key || number == 0 {
            recordings.secret.iter().cloned().for_each(|range| state.secret(range));
        }
        let other = counterpart(recordings.stages, number, calls.len()).map(steps);
        let verdicts = other.map_or_else(BTreeSet::new, |o| parted(steps_here, o, decodes));
        let met = follow(
            &mut state,
            &mut seen,
            (number, steps_here),
            &verdicts,
            decodes,
            &mut tainted.found,
        );
        if calls[number].end == End::Returned {
            let why = lost(stage, &state, other.is_none() || met);
            tainted.lost.extend(why.map(|why| (format!("taint lost: {why}"), number)));
        }
    }
    tainted
}

/// Where decryption and rejection of one size go different ways: on the verdict over the tag, which is public.
fn parted(steps: &[Step], other: &[Step], decodes: &mut Decodes<'_>) -> BTreeSet<u64> {
    let mut found = Found::new();
    compare(0, (steps, other), decodes, &mut found);
    let branches = found.keys().filter(|(_, kind, _)| *kind == LeakKind::Branch);
    branches.map(|(.., address)| *address).collect()
}

/// The rejection of what is decrypted, and the other way round.
fn counterpart(stages: &[Stage], number: usize, seen: usize) -> Option<usize> {
    let wanted = match stages[number].operation {
        Operation::Decrypt => Operation::Reject,
        Operation::Reject => Operation::Decrypt,
        _ => return None,
    };
    let size = stages[number].size;
    stages[..seen].iter().position(|s| s.operation == wanted && s.size == size)
}

/// Instructions with their rules.
type Seen = HashMap<u64, Option<(Rc<Decoded>, Rule)>>;

/// Follows the secret through one stage. Returns whether it reached a verdict over a tag.
fn follow(
    state: &mut State,
    seen: &mut Seen,
    (stage, steps): (usize, &[Step]),
    verdicts: &BTreeSet<u64>,
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) -> bool {
    let mut met = false;
    for (at, step) in steps.iter().enumerate() {
        let address = step.address();
        let decode = || decodes.at(address).map(|d| (Rc::clone(&d), rule(&d.instruction)));
        let Some((decoded, rule)) = seen.entry(address).or_insert_with(decode).clone() else {
            continue;
        };
        let is_verdict = verdicts.contains(&address);
        let mut is_met = false;
        flow::execute(state, (&decoded, rule), step, decodes, |(kind, touched)| {
            if is_verdict && kind == LeakKind::Branch {
                is_met = true;
                return;
            }
            let place = note(found, (stage, kind, address), at, false);
            if let Some((from, bytes)) = touched {
                place.touch(from, bytes);
            }
        });
        if is_met {
            // What follows hangs on a verdict that everybody is told.
            state.forget_registers();
            met = true;
        }
    }
    // Code without a branch on it returns it.
    met || state.get(Register::EAX) != 0
}

/// Why a stage shows that the secret was lost on its way.
fn lost(stage: &Stage, state: &State, verdict_met: bool) -> Option<&'static str> {
    let all: usize = stage.outputs.iter().map(|o| (o.end - o.start) as usize).sum();
    let reached: usize = stage.outputs.iter().map(|o| state.reached(o)).sum();
    if reached < all {
        Some("it did not reach all of the output")
    } else if state.lost {
        Some("behind a scattered write")
    } else if !verdict_met && stage.operation == Operation::Reject {
        Some("it did not reach the verdict on the tag")
    } else {
        None
    }
}
