//! The model `stream`: updates of many sizes, in place, continue as the reference does; a new
//! nonce starts anew.

use crate::context::Context;
use crate::difference::difference;
use crate::finding::{Stop, Verdict, refuse};
use crate::inputs::Inputs;
use crate::reference::Reference;
use contract::{Outcome, Session};

/// Bytes of the updates of one stream: one block, wide strides, their rests, and back again.
const UPDATES: [usize; 14] = [16, 32, 16, 64, 48, 256, 272, 1024, 128, 4096, 16, 512, 4080, 96];
/// Bytes of each update of a stream of equal ones, as the timing loop makes them.
const EQUAL: [usize; 5] = [16, 64, 256, 1024, 4096];
/// Updates in it.
const REPEATS: usize = 5;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("stream");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        // The model works in place; a session that cannot does not have it.
        if !session.has_stream() || !session.in_place() {
            continue;
        }
        let mut streams = vec![UPDATES.to_vec(), UPDATES.into_iter().rev().collect()];
        streams.extend(EQUAL.map(|len| vec![len; REPEATS]));
        for updates in &streams {
            count += one_stream(&mut session, &mut inputs, &reference, updates)?;
        }
    }
    Ok(count)
}

/// Compares a stream under a new nonce. Modes whose streams have no defined meaning compare
/// nothing.
fn one_stream(
    session: &mut Session,
    inputs: &mut Inputs,
    reference: &Reference,
    updates: &[usize],
) -> Verdict {
    let direction = session.direction();
    let nonce = inputs.bytes(session.algorithm().nonce_len);
    let Some(mut stream) = reference.stream(direction, &nonce, session.next_unit()) else {
        return Ok(0);
    };
    done(session.start(&nonce), || format!("{direction} stream: start"))?;
    for (number, len) in updates.iter().enumerate() {
        let place = || format!("{direction} stream: update {number} of {len} bytes");
        let mut want = inputs.bytes(*len);
        let mut got = want.clone();
        stream.update(&mut want);
        done(session.update_in_place(&mut got), place)?;
        if let Some(what) = difference(&got, &want, "the output", "the reference") {
            return refuse(format!("{}: {what}", place()));
        }
    }
    Ok(updates.len() as u64)
}

fn done(outcome: Outcome, place: impl Fn() -> String) -> Result<(), Stop> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Rejected => refuse(format!("{} rejected its input", place())),
        Outcome::Error(code) => refuse(format!("{} returned error code {code}", place())),
    }
}
