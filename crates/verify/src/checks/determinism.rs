//! The same call in a session opened anew leaves the same bytes.

use crate::context::{Context, Setup};
use crate::finding::{Verdict, refuse};
use crate::sizes;
use crate::trace::Trace;
use base::model::AAD_LEN;

/// How often each call is made.
const TIMES: usize = 3;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("determinism");
    let mut count = 0;
    for &direction in context.directions() {
        for len in sizes::few(context.algorithm) {
            let example = inputs.example(&reference, len, AAD_LEN);
            let mut first: Option<Trace> = None;
            for _ in 0..TIMES {
                let mut session = context.open(direction, &key)?;
                let trace = Trace::of(context, &mut session, &example)?;
                let Some(first) = &first else {
                    first = Some(trace);
                    continue;
                };
                if let Some(what) = trace.difference(first, "the first call") {
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
