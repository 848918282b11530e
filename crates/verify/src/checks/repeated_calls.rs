//! Thousands of calls of one session, each compared whole: a fault that bites once in some thousand calls is met
//! by no check that calls a few times, and a program calls millions of times.
//!
//! Messages are small and drawn, and so are their order, their places and, in authenticated decryption, which
//! calls are forgeries. Every message comes again some sixteen times within a set and never after it.

use crate::buffers::{FILL, Place, Placement};
use crate::context::{Context, Setup};
use crate::example::Example;
use crate::finding::{Stop, Verdict};
use crate::forger::Forger;
use crate::inputs::Inputs;
use crate::reference::Reference;
use crate::scope::Repeated;
use crate::sizes;
use base::model::{AAD_LEN, Direction};
use contract::Session;
use std::time::Duration;

/// Calls with right messages: a fault of one call in 5000 bites four times. As many forgeries come on top, so
/// that such a fault bites on either kind but for one time in 256.
const CALLS: u64 = 20_000;
/// CPU time of one direction after which it is enough: calls of more than 5 µs, or 2.5 µs with forgeries.
const TIME: Duration = Duration::from_millis(100);
/// Calls that are made at any speed.
const FEWEST: u64 = 512;
/// Calls from one look at the time to the next.
const AT_A_TIME: u64 = 64;
/// Messages of a set, and calls until another set is drawn.
const SET: usize = 64;
const CALLS_PER_SET: u64 = 1024;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = Setup::of(context.drawn("repeated-calls"));
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        let repeated = repeat(context, &mut session, &mut inputs, &reference);
        context.buffers.fill = FILL;
        let repeated = repeated?;
        count += repeated.calls;
        context.tried.repeated.push(repeated);
    }
    Ok(count)
}

fn repeat(
    context: &mut Context<'_>,
    session: &mut Session,
    inputs: &mut Inputs,
    reference: &Reference,
) -> Result<Repeated, Stop> {
    let direction = session.direction();
    let forges = context.algorithm.rejects() && direction == Direction::Decrypt;
    let wanted = if forges { 2 * CALLS } else { CALLS };
    let (begun, mut forger) = (context.spent(), Forger::default());
    let (mut calls, mut forgeries, mut set) = (0, 0, Vec::new());
    while calls < wanted && (calls < FEWEST || context.spent().saturating_sub(begun) < TIME) {
        if calls.is_multiple_of(CALLS_PER_SET) {
            set = examples(inputs, reference);
        }
        for _ in 0..AT_A_TIME {
            calls += 1;
            let example = &set[inputs.below(SET)];
            if forges && inputs.below(2) == 0 {
                forged(context, session, (inputs, &mut forger), example, calls)?;
                forgeries += 1;
            } else {
                right(context, session, inputs, example, calls)?;
            }
        }
    }
    Ok(Repeated { direction, calls, forgeries, cut_short: calls < wanted })
}

/// Messages with the reference's answers, their sizes drawn.
fn examples(inputs: &mut Inputs, reference: &Reference) -> Vec<Example> {
    let longest = sizes::short(reference.algorithm());
    (0..SET)
        .map(|_| {
            let (len, aad_len) = (inputs.size(1, longest), inputs.below(2 * AAD_LEN));
            inputs.example(reference, len, aad_len)
        })
        .collect()
}

/// A call that must leave the answer, over memory that holds something else.
fn right(
    context: &mut Context<'_>,
    session: &mut Session,
    inputs: &mut Inputs,
    example: &Example,
    number: u64,
) -> Result<(), Stop> {
    let direction = session.direction();
    let first = example.output(direction).and_then(<[u8]>::first);
    let taken = [first, example.tag.first()];
    // Drawn, so that no call can be told by what its output held; and not what is due.
    context.buffers.fill = inputs.byte();
    while taken.contains(&Some(&context.buffers.fill)) {
        context.buffers.fill = context.buffers.fill.wrapping_add(1);
    }
    let note = format_args!(" in call {number} of a session");
    let placement = Placement::all(Place::Offset(inputs.below(16)));
    context.answer(session, example, placement, note)?;
    context.stayed_within(direction, example.plaintext.len(), note)
}

/// A call that must reject its message.
fn forged(
    context: &mut Context<'_>,
    session: &mut Session,
    (inputs, forger): (&mut Inputs, &mut Forger),
    example: &Example,
    number: u64,
) -> Result<(), Stop> {
    let placement = Placement::all(Place::Offset(inputs.below(16)));
    let (call, change) = forger.forge(inputs, context.algorithm, example);
    let len = call.input.len();
    let what = format_args!("a message of {len} bytes {change} in call {number} of a session");
    context.rejected(session, call, placement, what)?;
    context.stayed_within(Direction::Decrypt, len, format_args!(" in call {number} of a session"))
}
