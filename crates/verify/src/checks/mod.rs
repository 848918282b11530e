//! The checks, in the order in which they run, a function each. Here are those of whether answers are right:
//! published vectors come out right, both ways; the independent reference at every size of the sweep and
//! under nonces that make counters carry; the way back by decryption; and sizes that are drawn for one
//! verification alone. The other files hold those of one subject each.
//!
//! They run from the narrow to the broad: a fault is named by the first check that it trips, so
//! the checks that look for one thing only (a byte outside the output, a nonce that changes
//! nothing) come before those that any fault trips (known answers, the reference). Guard pages
//! come last: they end the process.

mod calls;
mod changes;
mod draws;

use crate::context::{Context, Stop, Verdict, difference, refuse, succeeded};
use crate::inputs::{Call, Example, Forger, Inputs, Place, Placement};
use crate::reference::Reference;
use crate::vectors::KnownVector;
use crate::{inputs, vectors};
use base::model::{AAD_LEN, Algorithm, Direction, Kind};
use contract::Session;
use std::borrow::Cow;
use std::time::Duration;

pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) applies: fn(&'static Algorithm) -> bool,
    pub(crate) run: fn(&mut Context<'_>) -> Verdict,
}

/// Every check, in the order in which they run.
pub(crate) const ALL: &[Definition] = &[
    Definition { name: "input-unchanged", applies: always, run: calls::input_unchanged },
    Definition { name: "bounds", applies: always, run: calls::bounds },
    Definition { name: "written", applies: writes, run: calls::written },
    Definition { name: "draws-differ", applies: is_random, run: draws::differ },
    Definition { name: "looks-random", applies: is_random, run: draws::look_random },
    Definition { name: "threads-differ", applies: is_random, run: draws::differ_in_threads },
    Definition { name: "determinism", applies: has_answers, run: calls::determinism },
    Definition { name: "independence", applies: has_answers, run: calls::independence },
    Definition { name: "nonce-matters", applies: has_nonce, run: changes::nonce_matters },
    Definition { name: "aad-matters", applies: Algorithm::takes_aad, run: changes::aad_matters },
    Definition { name: "key-matters", applies: has_key, run: changes::key_matters },
    Definition {
        name: "message-matters",
        applies: Algorithm::is_brought,
        run: changes::message_matters,
    },
    Definition { name: "known-answers", applies: is_published, run: known_answers },
    Definition { name: "tamper", applies: Algorithm::rejects, run: changes::tamper },
    Definition {
        name: "known-forgeries",
        applies: vectors::has_forgeries,
        run: changes::known_forgeries,
    },
    Definition { name: "reference", applies: has_reference, run: reference },
    Definition { name: "own-sessions", applies: Algorithm::is_brought, run: reference },
    Definition { name: "rekey", applies: has_key, run: calls::rekeyed },
    Definition { name: "round-trip", applies: Algorithm::encrypts, run: round_trip },
    Definition { name: "unaligned", applies: always, run: calls::unaligned },
    Definition { name: "in-place", applies: has_input, run: calls::in_place },
    Definition { name: "stream", applies: has_parts, run: calls::stream },
    Definition { name: "other-sizes", applies: always, run: other_sizes },
    Definition { name: "repeated-calls", applies: writes, run: calls::repeated_calls },
    Definition { name: "guard-pages", applies: always, run: calls::guard_pages },
];

/// Names of every check, in the order in which they run.
pub const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut n = 0;
    while n < ALL.len() {
        names[n] = ALL[n].name;
        n += 1;
    }
    names
};

fn always(_: &Algorithm) -> bool {
    true
}

/// What nobody here knows is compared with the library itself, under another name; what is drawn is neither right nor wrong.
fn has_reference(algorithm: &Algorithm) -> bool {
    !algorithm.is_brought() && !is_random(algorithm)
}

/// What derives a key reads none: its size is a cost. What draws random bytes has none to read.
fn has_input(algorithm: &Algorithm) -> bool {
    !matches!(algorithm.kind, Kind::Derivation | Kind::Random)
}

fn is_random(algorithm: &Algorithm) -> bool {
    algorithm.kind == Kind::Random
}

fn has_answers(algorithm: &Algorithm) -> bool {
    writes(algorithm) && !is_random(algorithm)
}

fn writes(algorithm: &Algorithm) -> bool {
    algorithm.kind != Kind::Null
}

fn has_nonce(algorithm: &Algorithm) -> bool {
    // The null operation has a nonce and does nothing with it.
    algorithm.nonce_len > 0 && algorithm.kind != Kind::Null
}

fn has_key(algorithm: &Algorithm) -> bool {
    algorithm.key_len > 0
}

fn has_parts(algorithm: &Algorithm) -> bool {
    algorithm.encrypts() || matches!(algorithm.kind, Kind::Digest | Kind::Mac)
}

fn is_published(algorithm: &Algorithm) -> bool {
    vectors::unpublished(algorithm).is_none()
}

pub(crate) fn known_answers(context: &mut Context<'_>) -> Verdict {
    let vectors = match context.algorithm.is_brought() {
        true => Cow::Owned(vectors::own(context.algorithm, context.own_vectors())),
        false => Cow::Borrowed(vectors::of(context.algorithm)),
    };
    let mut count = 0;
    for &direction in context.directions() {
        let mut opened: Option<(&[u8], Session)> = None;
        for vector in vectors.iter().filter(|v| !v.forged) {
            // Sets keep vectors under one key together.
            let mut session = match opened.take() {
                Some((key, session)) if key == vector.key && is_usual(vector) => session,
                _ if is_usual(vector) => context.open(direction, &vector.key)?,
                _ => match context.open_with_lengths(vector.algorithm, direction, &vector.key)? {
                    Some(session) => session,
                    None => continue,
                },
            };
            let note = format_args!(" of {}", vector.name);
            count +=
                context.answer_if_taken(&mut session, &vector.example, Placement::ALIGNED, note)?;
            opened = Some((&vector.key, session));
        }
    }
    match ITERATED.iter().find(|(name, _)| *name == context.algorithm.name) {
        Some((_, tag)) => Ok(count + iterate(context, tag)?),
        None => Ok(count),
    }
}

/// Whether a vector has the lengths that are measured.
fn is_usual(vector: &KnownVector) -> bool {
    let usual = Algorithm::find(vector.algorithm.name);
    usual.is_ok_and(|usual| usual == vector.algorithm)
}

/// RFC 7253 appendix A: the iterated test with tags of 16 bytes, whose result stands for 384 messages.
const ITERATED: [(&str, &str); 3] = [
    ("aes-128-ocb", "67e944d23256c5e0b6c61fa22fdf1ea2"),
    ("aes-192-ocb", "f673f2c3e7174aae7bae986ca9f29e17"),
    ("aes-256-ocb", "d90eb8e9c977c88b79dd793d7ffa161c"),
];

fn iterate(context: &mut Context<'_>, expected: &str) -> Verdict {
    // Zeros, then the tag's length in bits.
    let mut key = vec![0; context.algorithm.key_len];
    key[context.algorithm.key_len - 1] = 128;
    let mut session = context.open(Direction::Encrypt, &key)?;
    let zeros = [0; 128];
    let mut sealed = Vec::new();
    for n in 0..128 {
        let s = &zeros[..n];
        for (step, aad, input) in [(1, s, s), (2, &[][..], s), (3, s, &[][..])] {
            seal(context, &mut session, 3 * n + step, aad, input)?;
            sealed.extend_from_slice(context.buffers.output());
            sealed.extend_from_slice(context.buffers.tag());
        }
    }
    seal(context, &mut session, 385, &sealed, &[])?;
    let expected = hex::decode(expected).expect("the constants above are hexadecimal");
    match difference(context.buffers.tag(), &expected, "the tag", "the vector") {
        Some(what) => refuse(format!("encrypt of RFC 7253's iterated test: {what}")),
        None => Ok(1),
    }
}

fn seal(
    context: &mut Context<'_>,
    session: &mut Session,
    number: usize,
    aad: &[u8],
    input: &[u8],
) -> Result<(), Stop> {
    let Algorithm { nonce_len, .. } = *context.algorithm;
    let mut nonce = vec![0; nonce_len];
    nonce[nonce_len - 8..].copy_from_slice(&(number as u64).to_be_bytes());
    let call = Call { nonce: &nonce, aad, input, tag: None };
    context.done(session, call, Placement::ALIGNED, format_args!(" of RFC 7253's iterated test"))
}

// The same bytes as the independent reference at every size of the sweep and around every power
// of two, with associated data of several lengths, and under nonces that make counters carry.
// Everything that comes out is hashed into the digest that libraries are compared by.

/// How many sizes of the sweep share a key.
const SIZES_PER_KEY: usize = 32;
/// Lengths of associated data beside the usual one: none, less than a block, TLS 1.2's, several
/// blocks and a rest, around pages, and more than two bytes can say of CCM's length field.
const AAD_LENS: [usize; 10] = [0, 1, 13, 100, 256, 1025, 4096, 4097, 20_001, 65_300];
/// Message sizes that they are tried at.
const AAD_SIZES: [usize; 4] = [0, 1, 16, 65];
/// Sizes at which counters that start near their end carry: within one wide stride and after it.
const CARRY_SIZES: [usize; 3] = [64, 272, 4096];
/// A counter that so many whole blocks bring to its end, exactly, before a rest: code that leaves the carry to what
/// follows a wide stride has its fault there only.
const CARRY_BLOCKS: std::ops::RangeInclusive<u8> = 1..=64;

pub(crate) fn reference(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("reference");
    let mut count = 0;
    let sweep: Vec<usize> = inputs::sweep_sizes(context.algorithm).collect();
    let large: Vec<usize> = inputs::large_sizes(context.algorithm).collect();
    for group in sweep.chunks(SIZES_PER_KEY).chain(large.chunks(3)) {
        count += under_one_key(context, &mut inputs, |inputs, reference| {
            group.iter().map(|len| inputs.example(reference, *len, AAD_LEN)).collect()
        })?;
    }
    if context.algorithm.nonce_len > 0 {
        count += under_one_key(context, &mut inputs, carries)?;
    }
    if context.algorithm.takes_aad() {
        count += under_one_key(context, &mut inputs, aad_lengths)?;
    }
    Ok(count)
}

/// Compares a set of examples under a new key, in every direction.
fn under_one_key(
    context: &mut Context<'_>,
    inputs: &mut Inputs,
    examples: impl FnOnce(&mut Inputs, &Reference<'_>) -> Vec<Example>,
) -> Verdict {
    let key = inputs.key();
    let reference = context.reference(&key);
    let examples = examples(inputs, &reference);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for example in &examples {
            let aad_len = example.aad.len();
            let note = match aad_len {
                0 => String::new(),
                n => format!(" with {n} bytes of associated data"),
            };
            let note = format_args!("{note}");
            count += context.answer_if_taken(&mut session, example, Placement::ALIGNED, note)?;
            // The digest is of what every library answers.
            if !inputs::may_be_refused(context.algorithm, example.plaintext.len(), aad_len) {
                context.record();
            }
        }
    }
    Ok(count)
}

/// Nonces whose value as a counter ends soon: in the low 32, 64 and all bits.
fn carries(inputs: &mut Inputs, reference: &Reference<'_>) -> Vec<Example> {
    let algorithm = reference.algorithm();
    let nonce_len = algorithm.nonce_len;
    let mut examples = Vec::new();
    let near = [0xff, 0xfb].into_iter().flat_map(|last| CARRY_SIZES.map(|len| (last, len)));
    let exact = CARRY_BLOCKS.map(|blocks| {
        let whole = usize::from(blocks) * 16;
        let rest = [5, 16].into_iter().find(|rest| algorithm.sizes.allows(whole + rest));
        (0_u8.wrapping_sub(blocks), whole + rest.unwrap_or(0))
    });
    let starts: Vec<(u8, usize)> = near.chain(exact).collect();
    for ones in [4, 8, nonce_len].map(|ones| ones.min(nonce_len)) {
        for (last, len) in starts.iter().filter(|(_, len)| algorithm.sizes.allows(*len)) {
            let mut nonce = inputs.bytes(nonce_len);
            nonce[nonce_len - ones..].fill(0xff);
            nonce[nonce_len - 1] = *last;
            examples.push(inputs.example_under(reference, nonce, *len, AAD_LEN));
        }
    }
    examples
}

fn aad_lengths(inputs: &mut Inputs, reference: &Reference<'_>) -> Vec<Example> {
    let mut examples = Vec::new();
    for aad_len in AAD_LENS {
        let sizes = reference.algorithm().sizes;
        for len in AAD_SIZES.into_iter().filter(|len| sizes.allows(*len)) {
            examples.push(inputs.example(reference, len, aad_len));
        }
    }
    examples
}

// What the library encrypts, it decrypts to the message again.

pub(crate) fn round_trip(context: &mut Context<'_>) -> Verdict {
    let algorithm = context.algorithm;
    let mut inputs = context.inputs("round-trip");
    let key = inputs.key();
    let mut encrypt = context.open(Direction::Encrypt, &key)?;
    let mut decrypt = context.open(Direction::Decrypt, &key)?;
    let aad_len = if algorithm.takes_aad() { AAD_LEN } else { 0 };
    let mut count = 0;
    for len in inputs::sweep_sizes(algorithm).chain(inputs::few_sizes(algorithm)) {
        let (nonce, aad) = (inputs.bytes(algorithm.nonce_len), inputs.bytes(aad_len));
        let plaintext = inputs.bytes(len);
        let call = Call { nonce: &nonce, aad: &aad, input: &plaintext, tag: None };
        context.done(&mut encrypt, call, Placement::ALIGNED, format_args!(""))?;
        let (ciphertext, tag) = (context.buffers.output().to_vec(), context.buffers.tag().to_vec());
        let call = Call { input: &ciphertext, tag: Some(&tag), ..call };
        let note = format_args!(" of what it encrypted");
        context.done(&mut decrypt, call, Placement::ALIGNED, note)?;
        let output = context.buffers.output();
        if let Some(what) = difference(output, &plaintext, "the output", "the message") {
            return refuse(format!("encrypt and decrypt of {len} bytes: {what}"));
        }
        count += 1;
    }
    Ok(count)
}

// Sizes beside the fixed ones: those that were asked for, which a run's measured sizes are among, and some that
// are drawn for this verification alone. At each, in both directions: the answer, in place too, and a forgery.

const NAME: &str = "other-sizes";
/// CPU time after which no more sizes are drawn.
const TIME: Duration = Duration::from_millis(100);

pub(crate) fn other_sizes(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.drawn(NAME);
    let drawn = inputs::drawn_sizes(context.algorithm, &mut inputs);
    let key = inputs.key();
    let reference = context.reference(&key);
    let sessions: Result<Vec<Session>, Stop> =
        context.directions().iter().map(|direction| context.open(*direction, &key)).collect();
    let mut sessions = sessions?;
    let mut count = 0;
    for len in context.asked() {
        let held = one_size(context, &mut sessions, &mut inputs, &reference, len)?;
        let tried = &mut context.tried;
        (if held > 0 { &mut tried.asked } else { &mut tried.not_taken }).push(len);
        count += held;
    }
    let begun = context.spent();
    for len in drawn {
        if context.spent().saturating_sub(begun) >= TIME {
            break;
        }
        let held = one_size(context, &mut sessions, &mut inputs, &reference, len)?;
        let tried = &mut context.tried;
        (if held > 0 { &mut tried.drawn } else { &mut tried.not_taken }).push(len);
        count += held;
    }
    Ok(count)
}

/// Everything at one size; 0 where the interface does not take it.
fn one_size(
    context: &mut Context<'_>,
    sessions: &mut [Session],
    inputs: &mut Inputs,
    reference: &Reference<'_>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        for name in NAMES {
            assert_eq!(NAMES.iter().filter(|n| **n == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn authenticated_encryption_gets_every_check_and_null_the_ones_that_make_sense() {
        let names = |algorithm: &str| -> Vec<&str> {
            let algorithm = Algorithm::find(algorithm).unwrap();
            ALL.iter().filter(|c| (c.applies)(algorithm)).map(|c| c.name).collect()
        };
        let others =
            ["message-matters", "own-sessions", "draws-differ", "looks-random", "threads-differ"];
        let of_table: Vec<&str> = NAMES.into_iter().filter(|n| !others.contains(n)).collect();
        assert_eq!(names("aes-256-gcm"), of_table);
        let of_draws = ["input-unchanged", "bounds", "written"]
            .into_iter()
            .chain(others.split_at(2).1.iter().copied());
        let of_draws =
            of_draws.chain(["unaligned", "other-sizes", "repeated-calls", "guard-pages"]);
        assert_eq!(names("random"), of_draws.collect::<Vec<_>>());
        assert_eq!(
            names("null"),
            [
                "input-unchanged",
                "bounds",
                "reference",
                "unaligned",
                "in-place",
                "other-sizes",
                "guard-pages"
            ]
        );
        assert!(!names("aes-128-ecb").contains(&"nonce-matters"));
        assert!(!names("aes-128-ctr").contains(&"tamper"));
    }
}
