//! Every byte of the associated data, and its length, changes the tag.

use crate::buffers::{Call, Placement};
use crate::context::{Context, Setup};
use crate::finding::{Verdict, refuse};
use base::model::{AAD_LEN, Direction};

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("aad-matters");
    let mut session = context.open(Direction::Encrypt, &key)?;
    let mut count = 0;
    for len in [0, 64] {
        let example = inputs.example(&reference, len, AAD_LEN);
        let call = example.call(Direction::Encrypt);
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
        let before = context.buffers.tag().to_vec();
        for (aad, what) in changes(&example.aad) {
            let call = Call { aad: &aad, ..call };
            context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
            if context.buffers.tag() == before {
                return refuse(format!("encrypt of {len} bytes gives the same tag when {what}"));
            }
            count += 1;
        }
    }
    Ok(count)
}

/// Changed associated data with what was changed.
fn changes(aad: &[u8]) -> Vec<(Vec<u8>, String)> {
    let mut changes = Vec::new();
    for at in 0..aad.len() {
        let mut changed = aad.to_vec();
        changed[at] ^= 1 << (at % 8);
        changes.push((changed, format!("byte {at} of the associated data is changed")));
    }
    let mut longer = aad.to_vec();
    longer.push(0);
    changes.push((longer, "a zero byte is appended to the associated data".to_owned()));
    let shorter = aad[..aad.len() - 1].to_vec();
    changes.push((shorter, "the last byte of the associated data is left off".to_owned()));
    changes.push((Vec::new(), "the associated data is left out".to_owned()));
    changes
}
