//! Every byte of the nonce changes what comes out.

use crate::context::Context;
use crate::desk::{Call, Placement};
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use model::{AAD_LEN, Direction};

/// Four blocks: enough for every byte of any mode's nonce to show.
const LEN: usize = 64;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("nonce-matters");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let example = inputs.example(&reference, LEN, AAD_LEN);
    let mut count = 0;
    for &direction in context.directions() {
        // Authenticated decryption under a changed nonce must be rejected: the check `tamper`.
        if context.algorithm.rejects() && direction == Direction::Decrypt {
            continue;
        }
        let mut session = context.open(direction, &key)?;
        let call = example.call(direction);
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
        let before = context.desk.result();
        for at in 0..context.algorithm.nonce_len {
            let mut nonce = example.nonce.clone();
            nonce[at] ^= 1 << (at % 8);
            let call = Call { nonce: &nonce, ..call };
            context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
            if context.desk.result() == before {
                return refuse(format!(
                    "{direction} of {LEN} bytes gives the same output when byte {at} of the nonce is changed"
                ));
            }
            count += 1;
        }
    }
    Ok(count)
}
