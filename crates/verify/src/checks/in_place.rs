//! The same bytes with the output over the input, where the session offers that.

use crate::buffers::{Place, Placement};
use crate::context::{Context, succeeded};
use crate::example::Example;
use crate::finding::Verdict;
use crate::sizes;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let sizes = sizes::sweep(context.algorithm).chain(sizes::few(context.algorithm));
    context.every_example("in-place", sizes, |context, session, example| {
        if !session.in_place() {
            return Ok(0);
        }
        let (direction, len) = (session.direction(), example.plaintext.len());
        let placement = Placement::all(Place::Offset(len % 16));
        let call = example.call(direction);
        let outcome = context.buffers.call_in_place(session, call, placement);
        let note = format_args!(" in place");
        succeeded(outcome, direction, len, note)?;
        let count = context.compare(direction, &expected(example), note)?;
        context.stayed_within(direction, len, note).map(|()| count)
    })
}

/// Where nothing is computed into the output, it must still be the input.
fn expected(example: &Example) -> Example {
    let mut example = example.clone();
    if !example.writes_output {
        example.ciphertext.clone_from(&example.plaintext);
        example.writes_output = true;
    }
    example
}
