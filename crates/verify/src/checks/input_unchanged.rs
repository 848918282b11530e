//! What a library only reads is the same afterwards: input, nonce, associated data, and the tag
//! of a decryption.

use crate::context::Context;
use crate::desk::Placement;
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use crate::sizes;
use model::AAD_LEN;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("input-unchanged");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in sizes::sweep(context.algorithm).chain(sizes::few(context.algorithm)) {
            let example = inputs.example(&reference, len, AAD_LEN);
            let call = example.call(direction);
            context.accepted(&mut session, call, Placement::ALIGNED)?;
            for (part, now, before) in context.desk.read_only(call) {
                if let Some(at) = now.iter().zip(before).position(|(n, b)| n != b) {
                    return refuse(format!(
                        "{direction} of {len} bytes changed byte {at} of the {part}, which is only to be read"
                    ));
                }
                count += 1;
            }
        }
    }
    Ok(count)
}
