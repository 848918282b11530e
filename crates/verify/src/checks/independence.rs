//! A message does not depend on the one before, in the same session or in another that is open
//! at the same time: after A and B, A gives A's bytes again; also when B was rejected.

use crate::context::{Context, Setup};
use crate::example::Example;
use crate::finding::{Stop, Verdict, refuse};
use crate::inputs::Inputs;
use crate::reference::Reference;
use crate::sizes;
use crate::trace::Trace;
use base::model::{AAD_LEN, Direction};
use contract::Session;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("independence");
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in sizes::few(context.algorithm) {
            let first = inputs.example(&reference, len, AAD_LEN);
            let between = between(context, &mut inputs, &reference);
            let before = Trace::of(context, &mut session, &first)?;
            for other in &between {
                Trace::of(context, &mut session, other)?;
                again(context, &mut session, &first, &before, "another message")?;
                count += 1;
            }
            if context.algorithm.rejects() && direction == Direction::Decrypt {
                context.forge(&mut session, &between[0]);
                again(context, &mut session, &first, &before, "a forgery")?;
                count += 1;
            }
            other_session(context, &mut inputs, direction, len)?;
            again(context, &mut session, &first, &before, "another session's message")?;
            count += 1;
        }
    }
    Ok(count)
}

/// What comes in between: nothing at all where that is a message, a rest of a block where there
/// are rests, and several blocks without associated data.
fn between(context: &Context<'_>, inputs: &mut Inputs, reference: &Reference) -> Vec<Example> {
    let rule = context.algorithm.sizes;
    [(0, 1), (33, 5), (80, 0)]
        .into_iter()
        .filter(|(len, _)| rule.allows(*len))
        .map(|(len, aad_len)| inputs.example(reference, len, aad_len))
        .collect()
}

/// Makes the first call again, which must leave what it left before.
fn again(
    context: &mut Context<'_>,
    session: &mut Session,
    first: &Example,
    before: &Trace,
    between: &str,
) -> Result<(), Stop> {
    let (direction, len) = (session.direction(), first.plaintext.len());
    let after = Trace::of(context, session, first)?;
    match after.difference(before, "the first call") {
        Some(what) => {
            refuse(format!("{direction} of {len} bytes depends on {between} before it: {what}"))
        }
        None => Ok(()),
    }
}

/// A message under another key, in a second session.
fn other_session(
    context: &mut Context<'_>,
    inputs: &mut Inputs,
    direction: Direction,
    len: usize,
) -> Result<Trace, Stop> {
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let other = inputs.example(&reference, len, AAD_LEN);
    let mut session = context.open(direction, &key)?;
    Trace::of(context, &mut session, &other)
}
