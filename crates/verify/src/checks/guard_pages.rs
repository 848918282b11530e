//! The right bytes with every buffer flush against a page that faults, once behind it and once
//! before it: any access past an end kills the process, and the check's name is known by then.

use crate::buffers::{Place, Placement};
use crate::context::{Context, Setup, succeeded};
use crate::finding::Verdict;
use crate::sizes;
use base::model::AAD_LEN;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("guard-pages");
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in sizes::sweep(context.algorithm).chain(sizes::few(context.algorithm)) {
            // Lengths of associated data up to 31 bytes, so that its rests touch the end as well.
            let example = inputs.example(&reference, len, len * 7 % (2 * AAD_LEN));
            for (place, name) in [(Place::Tail, "before"), (Place::Head, "after")] {
                let placement = Placement::all(place);
                let note = format_args!(" directly {name} a guard page");
                count += context.answer(&mut session, &example, placement, note)?;
                if session.in_place() {
                    let call = example.call(direction);
                    let outcome = context.buffers.call_in_place(&mut session, call, placement);
                    succeeded(outcome, direction, len, note)?;
                    count += 1;
                }
            }
        }
    }
    Ok(count)
}
