//! The model `stream`: updates of many sizes, in place, continue as the reference does; a new
//! nonce starts anew. Digests and MACs in parts have the tag of the whole.

use crate::context::{Context, Setup};
use crate::difference::difference;
use crate::finding::{Stop, Verdict, refuse};
use crate::inputs::Inputs;
use crate::reference::Reference;
use base::model::Direction;
use contract::{Outcome, Session};

/// Bytes of the updates of one stream: one block, wide strides, their rests, and back again.
const UPDATES: [usize; 14] = [16, 32, 16, 64, 48, 256, 272, 1024, 128, 4096, 16, 512, 4080, 96];
/// Bytes of each update of a stream of equal ones, as the timing loop makes them.
const EQUAL: [usize; 5] = [16, 64, 256, 1024, 4096];
/// Updates in it.
const REPEATS: usize = 5;
/// Bytes of a message that a digest takes in parts, and of the parts: single bytes, less than a
/// block, around the blocks of 64, 128 and 136 bytes, more than half, all.
const MESSAGE: usize = 1000;
const PARTS: [usize; 9] = [1, 7, 16, 63, 64, 129, 136, 600, 1000];

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("stream");
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        if direction == Direction::Digest {
            count += in_parts(&mut session, &mut inputs, &reference)?;
            continue;
        }
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

/// A message in parts has the tag of the whole, also after one that nobody finished: what
/// composites rely on.
fn in_parts(session: &mut Session, inputs: &mut Inputs, reference: &Reference) -> Verdict {
    if !session.has_parts() {
        return Ok(0);
    }
    let algorithm = session.algorithm();
    let mut count = 0;
    for part in PARTS {
        let place = || format!("digest in parts of {part} bytes");
        let (nonce, message) = (inputs.bytes(algorithm.nonce_len), inputs.bytes(MESSAGE));
        let mut want = vec![0; algorithm.tag_len];
        reference.encrypt(&nonce, &[], &message, &mut [], &mut want);
        done(session.start(&nonce), place)?;
        done(session.update_digest(&message[..part.min(MESSAGE)]), place)?;
        done(session.start(&nonce), place)?;
        for bytes in message.chunks(part) {
            done(session.update_digest(bytes), place)?;
        }
        let mut got = vec![0; algorithm.tag_len];
        done(session.finish(&mut got), place)?;
        if let Some(what) = difference(&got, &want, "the tag", "the reference") {
            return refuse(format!("{}: {what}", place()));
        }
        count += 1;
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
