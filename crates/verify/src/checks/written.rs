//! Every byte of output and tag is written: a call that returns early, or skips a rest, reports
//! success and is the fastest of all.

use crate::context::Context;
use crate::desk::{FILL, OTHER_FILL, Placement};
use crate::finding::{Verdict, refuse};
use crate::reference::Reference;
use crate::sizes;
use model::{AAD_LEN, Direction};

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let verdict = both_fills(context);
    context.desk.fill = FILL;
    verdict
}

fn both_fills(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("written");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in sizes::few(context.algorithm) {
            let example = inputs.example(&reference, len, AAD_LEN);
            let mut results = [Vec::new(), Vec::new()];
            for (fill, result) in [FILL, OTHER_FILL].into_iter().zip(&mut results) {
                context.desk.fill = fill;
                let call = example.call(direction);
                context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
                if example.writes_output {
                    result.extend_from_slice(context.desk.output());
                }
                if direction != Direction::Decrypt {
                    result.extend_from_slice(context.desk.tag());
                }
            }
            let [first, second] = results;
            let untouched = |(a, b): (&u8, &u8)| *a == FILL && *b == OTHER_FILL;
            if let Some(at) = first.iter().zip(&second).position(untouched) {
                let output = if example.writes_output { len } else { 0 };
                let (part, at) = match at.checked_sub(output) {
                    None => ("output", at),
                    Some(at) if direction == Direction::Digest => ("digest", at),
                    Some(at) => ("tag", at),
                };
                return refuse(format!(
                    "{direction} of {len} bytes reported success and did not write byte {at} of the {part}"
                ));
            }
            count += first.len() as u64;
        }
    }
    Ok(count)
}
