//! Every byte of the key changes what comes out: finds ignored halves of keys.

use crate::buffers::Placement;
use crate::context::{Context, Setup};
use crate::example::Example;
use crate::finding::{Stop, Verdict, refuse};
use base::model::{AAD_LEN, Algorithm, Direction, Mode, Primitive};
use contract::Session;

/// Four blocks: whatever part of a key or nonce a mode uses late is used by then.
const LEN: usize = 64;

/// A bit of a byte of the key that changes the result: another one in each byte, so that all
/// positions occur.
pub(super) fn key_bit(algorithm: &Algorithm, byte: usize) -> usize {
    match (algorithm.cipher, algorithm.mode) {
        // The lowest is parity, and not used (NIST SP 800-67 §3.1).
        (Primitive::TripleDes, _) => 1 + byte % 7,
        // Clamping clears up to four bits at either end (RFC 8439 §2.5).
        (_, Mode::OneTimeMac) => 2 + byte % 2,
        _ => byte % 8,
    }
}

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let len = context.algorithm.key_len;
    every_byte(context, ("key", len), &|context, session, key, example, at| {
        let mut changed = key.to_vec();
        changed[at] ^= 1 << key_bit(context.algorithm, at);
        let mut session = context.open(session.direction(), &changed)?;
        let call = example.call(session.direction());
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))
    })
}

/// Makes a call with one byte changed.
type Change<'a> =
    &'a dyn Fn(&mut Context<'_>, &mut Session, &[u8], &Example, usize) -> Result<(), Stop>;

/// A change of every byte of a part changes what comes out.
pub(super) fn every_byte(
    context: &mut Context<'_>,
    (part, part_len): (&str, usize),
    change: Change<'_>,
) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup(&format!("{part}-matters"));
    let example = inputs.example(&reference, LEN, AAD_LEN);
    let mut count = 0;
    for &direction in context.directions() {
        // Authenticated decryption under a changed part must be rejected: the check `tamper`.
        if context.algorithm.rejects() && direction == Direction::Decrypt {
            continue;
        }
        let mut session = context.open(direction, &key)?;
        let call = example.call(direction);
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
        let before = context.buffers.result();
        for at in 0..part_len {
            change(context, &mut session, &key, &example, at)?;
            if context.buffers.result() == before {
                return refuse(format!(
                    "{direction} of {LEN} bytes gives the same output when byte {at} of the {part} is changed"
                ));
            }
            count += 1;
        }
    }
    Ok(count)
}
