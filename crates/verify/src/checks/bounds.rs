//! Nothing is written around output and tag, nor around anything else: known bytes on every side
//! are still there. Guard pages find longer strides out of bounds, these the short ones within
//! the mapping.

use crate::buffers::{Place, Placement};
use crate::context::Context;
use crate::finding::Verdict;
use crate::sizes;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let sizes = sizes::sweep(context.algorithm).chain(sizes::large(context.algorithm));
    context.every_example("bounds", sizes, |context, session, example| {
        let (direction, len) = (session.direction(), example.plaintext.len());
        let placement = Placement::all(Place::Offset(len % 16));
        let call = example.call(direction);
        if sizes::may_be_refused(context.algorithm, len, call.aad.len()) {
            // Whatever it says: what it wrote is what counts here.
            context.buffers.call(session, call, placement);
        } else {
            context.accepted(session, call, placement)?;
        }
        context.stayed_within(direction, len, format_args!("")).map(|()| 1)
    })
}
