//! A new key in a session is as good as a new session: what follows is what the reference gives under
//! that key, and nothing of the old key or of the message before is left. Sessions that take no new
//! key are opened anew for each, which `key-matters` and `independence` are for.

use crate::buffers::Placement;
use crate::context::Context;
use crate::finding::{Stop, Verdict, refuse};
use crate::inputs::Inputs;
use crate::reference::Reference;
use crate::sizes;
use base::model::{AAD_LEN, Direction};
use contract::{Outcome, Session};

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("rekey");
    let keys = [inputs.key(), inputs.key(), inputs.key()];
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &keys[0])?;
        if !session.has_rekey() {
            continue;
        }
        count += message(context, &mut session, &mut inputs, &keys[0])?;
        // Forth and back, and the same key twice: what was kept of the first would show.
        for key in [1, 2, 2, 0, 1].map(|i| &keys[i]) {
            rekey(&mut session, key)?;
            count += message(context, &mut session, &mut inputs, key)?;
        }
        if context.algorithm.rejects() && direction == Direction::Decrypt {
            count += after_a_forgery(context, &mut session, &mut inputs, &keys)?;
        }
    }
    Ok(count)
}

fn rekey(session: &mut Session, key: &[u8]) -> Result<(), Stop> {
    match session.rekey(key) {
        Outcome::Done => Ok(()),
        other => refuse(format!("{}: setting a new key returned {other:?}", session.direction())),
    }
}

/// Messages of several sizes, each right under this key.
fn message(
    context: &mut Context<'_>,
    session: &mut Session,
    inputs: &mut Inputs,
    key: &[u8],
) -> Verdict {
    let reference = Reference::new(context.algorithm, key);
    let mut count = 0;
    for len in sizes::few(context.algorithm) {
        let example = inputs.example(&reference, len, AAD_LEN);
        let note = format_args!(" after a new key");
        count += context.answer(session, &example, Placement::ALIGNED, note)?;
    }
    Ok(count)
}

/// A rejection must not outlive the key either.
fn after_a_forgery(
    context: &mut Context<'_>,
    session: &mut Session,
    inputs: &mut Inputs,
    keys: &[Vec<u8>; 3],
) -> Verdict {
    let reference = Reference::new(context.algorithm, &keys[1]);
    let example = inputs.example(&reference, 64, AAD_LEN);
    context.forge(session, &example);
    rekey(session, &keys[0])?;
    message(context, session, inputs, &keys[0])
}
