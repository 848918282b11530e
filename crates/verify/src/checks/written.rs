//! Every byte of output and tag is written: a call that returns early, or skips a rest, reports
//! success and is the fastest of all.

use crate::buffers::{FILL, Placement};
use crate::context::Context;
use crate::example::Example;
use crate::finding::{Stop, Verdict, refuse};
use crate::sizes;
use base::model::Direction;
use contract::Session;

/// What the memory holds before each of four calls of the same message. A byte that is the fill
/// after all of them was not written: by chance that happens once in 2^32 bytes, and only to a
/// library whose results differ from call to call.
const FILLS: [u8; 4] = [FILL, 0x5a, 0x3c, 0xc3];

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let sizes = sizes::few(context.algorithm);
    context.every_example("written", sizes, |context, session, example| {
        let (direction, len) = (session.direction(), example.plaintext.len());
        let mut written = Vec::new();
        for fill in FILLS {
            let results = results(context, session, example, fill)?;
            written.resize(results.len(), false);
            for (written, byte) in written.iter_mut().zip(results) {
                *written |= byte != fill;
            }
        }
        if let Some(at) = written.iter().position(|written| !written) {
            let (at, part) = part(at, if example.writes_output { len } else { 0 }, direction);
            return refuse(format!(
                "{direction} of {len} bytes reported success and did not write byte {at} of the {part}"
            ));
        }
        Ok(written.len() as u64)
    })
}

/// Everything that a call is to write, over memory filled with `fill`; nothing when it rejected
/// the message.
fn results(
    context: &mut Context<'_>,
    session: &mut Session,
    example: &Example,
    fill: u8,
) -> Result<Vec<u8>, Stop> {
    let direction = session.direction();
    context.buffers.fill = fill;
    let accepted = context.accepted(session, example.call(direction), Placement::ALIGNED);
    context.buffers.fill = FILL;
    let mut results = Vec::new();
    if accepted? && example.writes_output {
        results.extend_from_slice(context.buffers.output());
    }
    if direction != Direction::Decrypt {
        results.extend_from_slice(context.buffers.tag());
    }
    Ok(results)
}

/// Which part a byte of the results belongs to, and where in it.
fn part(at: usize, output_len: usize, direction: Direction) -> (usize, &'static str) {
    match at.checked_sub(output_len) {
        None => (at, "output"),
        Some(at) if direction == Direction::Digest => (at, "digest"),
        Some(at) => (at, "tag"),
    }
}
