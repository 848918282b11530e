//! Every byte of the key changes what comes out: finds ignored halves of keys.

use crate::context::Context;
use crate::desk::Placement;
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use model::{AAD_LEN, Direction};

/// Four blocks: whatever part of the key a mode uses late is used by then.
const LEN: usize = 64;

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
        let before = context.desk.output().to_vec();
        for at in 0..key.len() {
            let mut changed = key.clone();
            changed[at] ^= 1 << (at % 8);
            let mut session = context.open(direction, &changed)?;
            context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
            if context.desk.output() == before {
                return refuse(format!(
                    "{direction} of {LEN} bytes gives the same output when byte {at} of the key is changed"
                ));
            }
            count += 1;
        }
    }
    Ok(count)
}
