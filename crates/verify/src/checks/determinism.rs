//! The same call in a session opened anew leaves the same bytes.

use crate::context::Context;
use crate::desk::Placement;
use crate::difference::difference;
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use crate::sizes;
use model::AAD_LEN;

/// How often each call is made.
const TIMES: usize = 3;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("determinism");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let mut count = 0;
    for &direction in context.directions() {
        for len in sizes::few(context.algorithm) {
            let example = inputs.example(&reference, len, AAD_LEN);
            let mut first: Option<(Vec<u8>, Vec<u8>)> = None;
            for _ in 0..TIMES {
                let mut session = context.open(direction, &key)?;
                let call = example.call(direction);
                context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
                let (output, tag) = (context.desk.output(), context.desk.tag());
                let Some((first_output, first_tag)) = &first else {
                    first = Some((output.to_vec(), tag.to_vec()));
                    continue;
                };
                let changed = difference(output, first_output, "the output", "the first call")
                    .or_else(|| difference(tag, first_tag, "the tag", "the first call"));
                if let Some(what) = changed {
                    return refuse(format!(
                        "the same {direction} of {len} bytes in a new session: {what}"
                    ));
                }
                count += 1;
            }
        }
    }
    Ok(count)
}
