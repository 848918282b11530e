//! Every byte of the key changes what comes out: finds ignored halves of keys.

use crate::context::Context;
use crate::desk::Placement;
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use model::{AAD_LEN, Algorithm, Direction, Mode, Primitive};

/// Four blocks: whatever part of the key a mode uses late is used by then.
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
    let mut inputs = context.inputs("key-matters");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let example = inputs.example(&reference, LEN, AAD_LEN);
    let mut count = 0;
    for &direction in context.directions() {
        // Authenticated decryption under a changed key must be rejected: the check `tamper`.
        if context.algorithm.rejects() && direction == Direction::Decrypt {
            continue;
        }
        let mut session = context.open(direction, &key)?;
        let call = example.call(direction);
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
        let before = context.desk.result();
        for at in 0..key.len() {
            let mut changed = key.clone();
            changed[at] ^= 1 << key_bit(context.algorithm, at);
            let mut session = context.open(direction, &changed)?;
            context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
            if context.desk.result() == before {
                return refuse(format!(
                    "{direction} of {LEN} bytes gives the same output when byte {at} of the key is changed"
                ));
            }
            count += 1;
        }
    }
    Ok(count)
}
