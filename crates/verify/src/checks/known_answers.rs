//! Published vectors come out right, both ways.

use crate::buffers::{Call, Placement};
use crate::context::Context;
use crate::difference::difference;
use crate::finding::{Stop, Verdict, refuse};
use crate::vectors;
use base::model::{Algorithm, Direction};
use contract::Session;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let vectors = vectors::of(context.algorithm);
    let mut count = 0;
    for &direction in context.directions() {
        let mut opened: Option<(&[u8], Session)> = None;
        for vector in vectors.iter().filter(|v| !v.forged) {
            // Sets keep vectors under one key together.
            let mut session = match opened.take() {
                Some((key, session)) if key == vector.key => session,
                _ => context.open(direction, &vector.key)?,
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
            seal(context, &mut session, (3 * n + step, aad, input))?;
            sealed.extend_from_slice(context.buffers.output());
            sealed.extend_from_slice(context.buffers.tag());
        }
    }
    seal(context, &mut session, (385, &sealed, &[]))?;
    let expected = hex::decode(expected).expect("the constants above are hexadecimal");
    match difference(context.buffers.tag(), &expected, "the tag", "the vector") {
        Some(what) => refuse(format!("encrypt of RFC 7253's iterated test: {what}")),
        None => Ok(1),
    }
}

fn seal(
    context: &mut Context<'_>,
    session: &mut Session,
    (number, aad, input): (usize, &[u8], &[u8]),
) -> Result<(), Stop> {
    let Algorithm { nonce_len, .. } = *context.algorithm;
    let mut nonce = vec![0; nonce_len];
    nonce[nonce_len - 8..].copy_from_slice(&(number as u64).to_be_bytes());
    let call = Call { nonce: &nonce, aad, input, tag: None };
    context.done(session, call, Placement::ALIGNED, format_args!(" of RFC 7253's iterated test"))
}
