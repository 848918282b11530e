//! What calls do beside their answers. To memory: a call writes every byte of its output and nothing else,
//! leaves what it only reads (input, nonce, associated data, and the tag of a decryption) the same, and does
//! so wherever the buffers lie. Many of one session: the same bytes every time, also in a session opened
//! anew, whatever came before, under a new key, in a stream of updates, and in thousands of calls, of which a
//! fault may bite in one.

use crate::context::{
    Context, Repeated, Setup, Stop, Trace, Verdict, difference, refuse, succeeded,
};
use crate::inputs::{self, Example, FILL, Forger, Inputs, Place, Placement};
use crate::reference::Reference;
use base::model::{AAD_LEN, Direction, Kind};
use contract::{Outcome, Session};
use std::time::Duration;

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
        // Random bytes meet a fill by chance; four more leave one byte in 2^64.
        let fills = if context.algorithm.kind == Kind::Random { 2 } else { 1 };
        for fill in FILLS.repeat(fills) {
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
    // What needs memory has larger sizes only.
    let least = Some(8192).filter(|_| !rule.allows(257) && rule.allows(8192));
    let sizes = UNALIGNED_SIZES.into_iter().filter(|n| rule.allows(*n)).chain(least);
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

/// How often each call is made.
const SESSIONS: usize = 3;

pub(crate) fn determinism(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("determinism");
    let mut count = 0;
    for &direction in context.directions() {
        for len in inputs::few_sizes(context.algorithm) {
            let example = inputs.example(&reference, len, AAD_LEN);
            let mut first: Option<Trace> = None;
            for _ in 0..SESSIONS {
                let mut session = context.open(direction, &key)?;
                let trace = Trace::of(context, &mut session, &example)?;
                let Some(first) = &first else {
                    first = Some(trace);
                    continue;
                };
                if let Some(what) = trace.difference(first, "the first call") {
                    return refuse(format!(
                        "the same {direction} of {len} bytes in a new session: {what}"
                    ));
                }
                count += 1;
            }
        }
    }
    Ok(count)
}

// A message does not depend on the one before, in the same session or in another that is open
// at the same time: after A and B, A gives A's bytes again; also when B was rejected.

pub(crate) fn independence(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("independence");
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in inputs::few_sizes(context.algorithm) {
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
fn between(context: &Context<'_>, inputs: &mut Inputs, reference: &Reference<'_>) -> Vec<Example> {
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
    let reference = context.reference(&key);
    let other = inputs.example(&reference, len, AAD_LEN);
    let mut session = context.open(direction, &key)?;
    Trace::of(context, &mut session, &other)
}

// A new key in a session is as good as a new session: what follows is what the reference gives under
// that key, and nothing of the old key or of the message before is left. Sessions that take no new
// key are opened anew for each, which `key-matters` and `independence` are for.

pub(crate) fn rekeyed(context: &mut Context<'_>) -> Verdict {
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
    let reference = context.reference(key);
    let mut count = 0;
    for len in inputs::few_sizes(context.algorithm) {
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
    let reference = context.reference(&keys[1]);
    let example = inputs.example(&reference, 64, AAD_LEN);
    context.forge(session, &example);
    rekey(session, &keys[0])?;
    message(context, session, inputs, &keys[0])
}

// The model `stream`: updates of many sizes, in place, continue as the reference does; a new
// nonce starts anew. Digests and MACs in parts have the tag of the whole.

/// Bytes of the updates of one stream: one block, wide strides, their rests, and back again.
const UPDATES: [usize; 14] = [16, 32, 16, 64, 48, 256, 272, 1024, 128, 4096, 16, 512, 4080, 96];
/// Bytes of each update of a stream of equal ones, as the timing loop makes them.
const EQUAL: [usize; 5] = [16, 64, 256, 1024, 4096];
const REPEATS: usize = 5;
/// Bytes of a message that a digest takes in parts, and of the parts: single bytes, less than a
/// block, around the blocks of 64, 128 and 136 bytes, more than half, all.
const MESSAGE: usize = 1000;
const PARTS: [usize; 9] = [1, 7, 16, 63, 64, 129, 136, 600, 1000];

pub(crate) fn stream(context: &mut Context<'_>) -> Verdict {
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
fn in_parts(session: &mut Session, inputs: &mut Inputs, reference: &Reference<'_>) -> Verdict {
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
    reference: &Reference<'_>,
    updates: &[usize],
) -> Verdict {
    let direction = session.direction();
    let nonce = inputs.bytes(session.algorithm().nonce_len);
    let Some(mut stream) = reference.stream(direction, &nonce, session.next_unit()) else {
        return Ok(0);
    };
    done(session.start(&nonce), || format!("{direction} stream: start"))?;
    let sizes = reference.stream_sizes();
    let mut whole = [Vec::new(), Vec::new()];
    for (number, len) in updates.iter().filter(|len| sizes.allows(**len)).enumerate() {
        let place = || format!("{direction} stream: update {number} of {len} bytes");
        let mut want = inputs.bytes(*len);
        let mut got = want.clone();
        whole[0].extend_from_slice(&got);
        stream.update(&mut want);
        done(session.update_in_place(&mut got), place)?;
        if let Some(what) = difference(&got, &want, "the output", "the reference") {
            return refuse(format!("{}: {what}", place()));
        }
        whole[1].extend_from_slice(&got);
    }
    if reference.algorithm().is_brought() {
        is_one_message(direction, reference, &nonce, &whole)?;
    }
    Ok(updates.len() as u64)
}

/// Where only the library itself says what updates are, they are one message's: before and after all of them.
fn is_one_message(
    direction: Direction,
    reference: &Reference<'_>,
    nonce: &[u8],
    [before, after]: &[Vec<u8>; 2],
) -> Result<(), Stop> {
    let (plain, cipher) =
        if direction == Direction::Decrypt { (after, before) } else { (before, after) };
    let mut tag = vec![0; reference.algorithm().tag_len];
    let mut one = vec![0; plain.len()];
    reference.encrypt(nonce, &[], plain, &mut one, &mut tag);
    match difference(cipher, &one, "the ciphertext", "the same as one message") {
        Some(what) => refuse(format!("{direction} stream: {what}")),
        None => Ok(()),
    }
}

fn done(outcome: Outcome, place: impl Fn() -> String) -> Result<(), Stop> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Rejected => refuse(format!("{} rejected its input", place())),
        Outcome::Error(code) => refuse(format!("{} returned error code {code}", place())),
    }
}

// Thousands of calls of one session, each compared whole: a fault that bites once in some thousand calls is met
// by no check that calls a few times, and a program calls millions of times.
//
// Messages are small and drawn, and so are their order, their places and, in authenticated decryption, which
// calls are forgeries. Every message comes again some sixteen times within a set and never after it.

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

pub(crate) fn repeated_calls(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup_of(context.drawn("repeated-calls"));
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
    reference: &Reference<'_>,
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
                forged(context, session, inputs, &mut forger, example, calls)?;
                forgeries += 1;
            } else {
                right(context, session, inputs, example, calls)?;
            }
        }
    }
    Ok(Repeated { direction, calls, forgeries, cut_short: calls < wanted })
}

/// Messages with the reference's answers, their sizes drawn.
fn examples(inputs: &mut Inputs, reference: &Reference<'_>) -> Vec<Example> {
    let longest = inputs::longest_short_size(reference.algorithm());
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
    inputs: &mut Inputs,
    forger: &mut Forger,
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
