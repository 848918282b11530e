//! What a call does to memory: it writes every byte of its output and nothing else, leaves its inputs alone,
//! and does so wherever the buffers lie.
//!
//! What a library only reads is the same afterwards: input, nonce, associated data, and the tag
//! of a decryption.

use crate::buffers::{FILL, Place, Placement};
use crate::context::{Context, Setup, succeeded};
use crate::finding::{Stop, Verdict, refuse};
use crate::inputs;
use crate::inputs::Example;
use base::model::{AAD_LEN, Direction};
use contract::Session;

pub(crate) fn input_unchanged(context: &mut Context<'_>) -> Verdict {
    let sizes = inputs::sweep_sizes(context.algorithm).chain(inputs::few_sizes(context.algorithm));
    context.every_example("input-unchanged", sizes, |context, session, example| {
        let (direction, len) = (session.direction(), example.plaintext.len());
        let call = example.call(direction);
        context.accepted(session, call, Placement::ALIGNED)?;
        let mut count = 0;
        for (part, now, before) in context.buffers.read_only(call) {
            if let Some(at) = now.iter().zip(before).position(|(n, b)| n != b) {
                return refuse(format!(
                    "{direction} of {len} bytes changed byte {at} of the {part}, which is only to be read"
                ));
            }
            count += 1;
        }
        Ok(count)
    })
}

// Nothing is written around output and tag, nor around anything else: known bytes on every side
// are still there. Guard pages find longer strides out of bounds, these the short ones within
// the mapping.

pub(crate) fn bounds(context: &mut Context<'_>) -> Verdict {
    let sizes =
        inputs::sweep_sizes(context.algorithm).chain(inputs::large_sizes(context.algorithm));
    context.every_example("bounds", sizes, |context, session, example| {
        let (direction, len) = (session.direction(), example.plaintext.len());
        let placement = Placement::all(Place::Offset(len % 16));
        let call = example.call(direction);
        if inputs::may_be_refused(context.algorithm, len, call.aad.len()) {
            // Whatever it says: what it wrote is what counts here.
            context.buffers.call(session, call, placement);
        } else {
            context.accepted(session, call, placement)?;
        }
        context.stayed_within(direction, len, format_args!("")).map(|()| 1)
    })
}

// Every byte of output and tag is written: a call that returns early, or skips a rest, reports
// success and is the fastest of all.

/// What the memory holds before each of four calls of the same message. A byte that is the fill
/// after all of them was not written: by chance that happens once in 2^32 bytes, and only to a
/// library whose results differ from call to call.
const FILLS: [u8; 4] = [FILL, 0x5a, 0x3c, 0xc3];

pub(crate) fn written(context: &mut Context<'_>) -> Verdict {
    let sizes = inputs::few_sizes(context.algorithm);
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

// The same bytes wherever the buffers lie: every offset within 16 bytes, input and output
// together and against each other.

/// Less than a block, blocks and rests, a wide stride, a page.
const UNALIGNED_SIZES: [usize; 8] = [1, 16, 17, 64, 100, 256, 257, 4096];

pub(crate) fn unaligned(context: &mut Context<'_>) -> Verdict {
    let rule = context.algorithm.sizes;
    let sizes = UNALIGNED_SIZES.into_iter().filter(|n| rule.allows(*n));
    context.every_example("unaligned", sizes, |context, session, example| {
        let mut count = 0;
        for offset in 1..16 {
            let [at, against] = [offset, 16 - offset].map(Place::Offset);
            let note = format_args!(" at {offset} bytes past alignment");
            for placement in
                [Placement::all(at), Placement { input: at, output: against, rest: at }]
            {
                count += context.answer(session, example, placement, note)?;
            }
        }
        Ok(count)
    })
}

// The same bytes with the output over the input, where the session offers that.

pub(crate) fn in_place(context: &mut Context<'_>) -> Verdict {
    let sizes = inputs::sweep_sizes(context.algorithm).chain(inputs::few_sizes(context.algorithm));
    context.every_example("in-place", sizes, |context, session, example| {
        if !session.in_place() {
            return Ok(0);
        }
        let (direction, len) = (session.direction(), example.plaintext.len());
        let placement = Placement::all(Place::Offset(len % 16));
        let call = example.call(direction);
        let outcome = context.buffers.call_in_place(session, call, placement);
        let note = format_args!(" in place");
        succeeded(outcome, direction, len, note)?;
        let count = context.compare(direction, &expected_in_place(example), note)?;
        context.stayed_within(direction, len, note).map(|()| count)
    })
}

/// Where nothing is computed into the output, it must still be the input.
fn expected_in_place(example: &Example) -> Example {
    let mut example = example.clone();
    if !example.writes_output {
        example.ciphertext.clone_from(&example.plaintext);
        example.writes_output = true;
    }
    example
}

// The right bytes with every buffer flush against a page that faults, once behind it and once
// before it: any access past an end kills the process, and the check's name is known by then.

pub(crate) fn guard_pages(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("guard-pages");
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in
            inputs::sweep_sizes(context.algorithm).chain(inputs::few_sizes(context.algorithm))
        {
            // Lengths of associated data up to 31 bytes, so that its rests touch the end as well.
            let example = inputs.example(&reference, len, len * 7 % (2 * AAD_LEN));
            for (place, name) in [(Place::Tail, "before"), (Place::Head, "after")] {
                let placement = Placement::all(place);
                let note = format_args!(" directly {name} a guard page");
                count += context.answer(&mut session, &example, placement, note)?;
                if session.in_place() {
                    let call = example.call(direction);
                    let outcome = context.buffers.call_in_place(&mut session, call, placement);
                    succeeded(outcome, direction, len, note)?;
                    count += 1;
                }
            }
        }
    }
    Ok(count)
}
