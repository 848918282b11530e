//! A message does not depend on the one before, in the same session or in another that is open
//! at the same time: after A and B, A gives A's bytes again; also when B was rejected.

use crate::context::Context;
use crate::desk::{Call, Placement};
use crate::difference::difference;
use crate::example::Example;
use crate::finding::{Stop, Verdict, refuse};
use crate::inputs::Inputs;
use crate::reference::Reference;
use crate::sizes;
use contract::Session;
use model::{AAD_LEN, Direction, Kind};

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("independence");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in sizes::few(context.algorithm) {
            let first = inputs.example(&reference, len, AAD_LEN);
            let between = between(context, &mut inputs, &reference);
            let before = results(context, &mut session, &first, "")?;
            for other in &between {
                results(context, &mut session, other, "")?;
                let after = results(context, &mut session, &first, "")?;
                same(&before, &after, direction, len, "another message")?;
                count += 1;
            }
            if context.algorithm.kind == Kind::Aead && direction == Direction::Decrypt {
                forgery(context, &mut session, &between[0]);
                let after = results(context, &mut session, &first, " after a forgery")?;
                same(&before, &after, direction, len, "a forgery")?;
                count += 1;
            }
            count += other_session(context, &mut inputs, (&mut session, &first, &before))?;
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

/// Output and tag of a call.
fn results(
    context: &mut Context<'_>,
    session: &mut Session,
    example: &Example,
    note: &str,
) -> Result<(Vec<u8>, Vec<u8>), Stop> {
    let call = example.call(session.direction());
    context.done(session, call, Placement::ALIGNED, format_args!("{note}"))?;
    Ok((context.desk.output().to_vec(), context.desk.tag().to_vec()))
}

/// Decrypts under a wrong tag. What comes of it is looked at by the check `tamper`.
fn forgery(context: &mut Context<'_>, session: &mut Session, example: &Example) {
    let mut tag = example.tag.clone();
    tag[0] ^= 1;
    let call = Call { tag: Some(&tag), ..example.call(Direction::Decrypt) };
    let _ = context.desk.call(session, call, Placement::ALIGNED);
}

/// A message under another key, in a session that is open at the same time.
fn other_session(
    context: &mut Context<'_>,
    inputs: &mut Inputs,
    (session, first, before): (&mut Session, &Example, &(Vec<u8>, Vec<u8>)),
) -> Verdict {
    let (direction, len) = (session.direction(), first.plaintext.len());
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let other = inputs.example(&reference, len, AAD_LEN);
    let mut other_session = context.open(direction, &key)?;
    results(context, &mut other_session, &other, " in a second session")?;
    let after = results(context, session, first, " while a second session is open")?;
    same(before, &after, direction, len, "another session's message")?;
    Ok(1)
}

fn same(
    before: &(Vec<u8>, Vec<u8>),
    after: &(Vec<u8>, Vec<u8>),
    direction: Direction,
    len: usize,
    between: &str,
) -> Result<(), Stop> {
    let changed = difference(&after.0, &before.0, "the output", "the first time it")
        .or_else(|| difference(&after.1, &before.1, "the tag", "the first time it"));
    match changed {
        Some(what) => {
            refuse(format!("{direction} of {len} bytes depends on {between} before it: {what}"))
        }
        None => Ok(()),
    }
}
