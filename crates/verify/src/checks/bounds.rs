//! Nothing is written around output and tag, nor around anything else: known bytes on every side
//! are still there. Guard pages find longer strides out of bounds, these the short ones within
//! the mapping.

use crate::context::Context;
use crate::desk::{Place, Placement};
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use crate::sizes;
use model::AAD_LEN;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("bounds");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in sizes::sweep(context.algorithm).chain(sizes::large(context.algorithm)) {
            let example = inputs.example(&reference, len, AAD_LEN);
            let placement = Placement::all(Place::Offset(len % 16));
            let call = example.call(direction);
            if sizes::may_be_refused(context.algorithm, len, call.aad.len()) {
                // Whatever it says: what it wrote is what counts here.
                context.desk.call(&mut session, call, placement);
            } else {
                context.accepted(&mut session, call, placement)?;
            }
            if let Some(place) = context.desk.stray(direction) {
                return refuse(format!("{direction} of {len} bytes wrote {place}"));
            }
            count += 1;
        }
    }
    Ok(count)
}
