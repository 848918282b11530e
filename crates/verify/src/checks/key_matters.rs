//! Every byte of the key changes what comes out: finds ignored halves of keys.

use crate::context::Context;
use crate::desk::Placement;
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use contract::Outcome;
use model::{AAD_LEN, Direction, Kind};

/// Four blocks: whatever part of the key a mode uses late is used by then.
const LEN: usize = 64;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("key-matters");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let example = inputs.example(&reference, LEN, AAD_LEN);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        let call = example.call(direction);
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
        let before = context.desk.output().to_vec();
        for at in 0..key.len() {
            let mut changed = key.clone();
            changed[at] ^= 1 << (at % 8);
            let mut session = context.open(direction, &changed)?;
            let outcome = context.desk.call(&mut session, call, Placement::ALIGNED);
            let must_reject =
                context.algorithm.kind == Kind::Aead && direction == Direction::Decrypt;
            match outcome {
                Outcome::Rejected if must_reject => {}
                Outcome::Done if !must_reject && context.desk.output() != before => {}
                Outcome::Done => {
                    let what = if must_reject { "is accepted" } else { "gives the same output" };
                    return refuse(format!(
                        "{direction} of {LEN} bytes {what} when byte {at} of the key is changed"
                    ));
                }
                other => {
                    return refuse(format!(
                        "{direction} of {LEN} bytes under a key changed in byte {at}: {other:?}"
                    ));
                }
            }
            count += 1;
        }
    }
    Ok(count)
}
