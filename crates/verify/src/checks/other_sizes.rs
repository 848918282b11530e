//! Sizes beside the fixed ones: those that were asked for, which a run's measured sizes are among, and some that
//! are drawn for this verification alone. At each, in both directions: the answer, in place too, and a forgery.

use crate::buffers::{Place, Placement};
use crate::context::{Context, succeeded};
use crate::finding::{Stop, Verdict};
use crate::forger::Forger;
use crate::inputs::Inputs;
use crate::reference::Reference;
use crate::sizes;
use base::model::{AAD_LEN, Direction};
use contract::Session;
use std::time::Duration;

const NAME: &str = "other-sizes";
/// CPU time after which no more sizes are drawn.
const TIME: Duration = Duration::from_millis(100);

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.drawn(NAME);
    let drawn = sizes::drawn(context.algorithm, &mut inputs);
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let sessions: Result<Vec<Session>, Stop> =
        context.directions().iter().map(|direction| context.open(*direction, &key)).collect();
    let mut sessions = sessions?;
    let mut count = 0;
    for len in context.asked() {
        let held = one(context, &mut sessions, &mut inputs, &reference, len)?;
        let tried = &mut context.tried;
        (if held > 0 { &mut tried.asked } else { &mut tried.not_taken }).push(len);
        count += held;
    }
    let begun = context.spent();
    for len in drawn {
        if context.spent().saturating_sub(begun) >= TIME {
            break;
        }
        let held = one(context, &mut sessions, &mut inputs, &reference, len)?;
        let tried = &mut context.tried;
        (if held > 0 { &mut tried.drawn } else { &mut tried.not_taken }).push(len);
        count += held;
    }
    Ok(count)
}

/// Everything at one size; 0 where the interface does not take it.
fn one(
    context: &mut Context<'_>,
    sessions: &mut [Session],
    inputs: &mut Inputs,
    reference: &Reference,
    len: usize,
) -> Verdict {
    let example = inputs.example(reference, len, AAD_LEN);
    let mut count = 0;
    for session in sessions {
        let direction = session.direction();
        // Each direction has the deadline of a check: a long message may take seconds.
        context.announce(NAME);
        let placement = Placement::all(Place::Offset(inputs.below(16)));
        let held = context.answer_if_taken(session, &example, placement, format_args!(""))?;
        if held == 0 {
            continue;
        }
        count += held;
        if session.in_place() && context.algorithm.writes_output() {
            let call = example.call(direction);
            let outcome = context.buffers.call_in_place(session, call, placement);
            let note = format_args!(" in place");
            succeeded(outcome, direction, len, note)?;
            count += context.compare(direction, &example, note)?;
        }
        context.stayed_within(direction, len, format_args!(""))?;
        if context.algorithm.rejects() && direction == Direction::Decrypt {
            let mut forger = Forger::default();
            let (call, change) = forger.forge(inputs, context.algorithm, &example);
            let what = format_args!("a message of {len} bytes {change}");
            count += context.rejected(session, call, placement, what)?;
        }
    }
    Ok(count)
}
