//! What a library only reads is the same afterwards: input, nonce, associated data, and the tag
//! of a decryption.

use crate::buffers::Placement;
use crate::context::Context;
use crate::finding::{Verdict, refuse};
use crate::sizes;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let sizes = sizes::sweep(context.algorithm).chain(sizes::few(context.algorithm));
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
