//! The same bytes with the output over the input, where the session offers that.

use crate::context::{Context, succeeded};
use crate::desk::{Place, Placement};
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use crate::sizes;
use model::AAD_LEN;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    // Nothing is computed into the output, so that over the input it must still be the input.
    let leaves_input = !context.algorithm.writes_output();
    let mut inputs = context.inputs("in-place");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        if !session.in_place() {
            continue;
        }
        for len in sizes::sweep(context.algorithm).chain(sizes::few(context.algorithm)) {
            let mut example = inputs.example(&reference, len, AAD_LEN);
            if leaves_input {
                example.ciphertext.clone_from(&example.plaintext);
                example.writes_output = true;
            }
            let placement = Placement::all(Place::Offset(len % 16));
            let call = example.call(direction);
            let outcome = context.desk.call_in_place(&mut session, call, placement);
            succeeded(outcome, direction, len, format_args!(" in place"))?;
            count += context.compare(direction, &example, format_args!(" in place"))?;
            if let Some(place) = context.desk.stray(direction) {
                return refuse(format!("{direction} of {len} bytes in place wrote {place}"));
            }
        }
    }
    Ok(count)
}
