//! The same bytes wherever the buffers lie: every offset within 16 bytes, input and output
//! together and against each other.

use crate::buffers::{Place, Placement};
use crate::context::Context;
use crate::finding::Verdict;

/// Less than a block, blocks and rests, a wide stride, a page.
const SIZES: [usize; 8] = [1, 16, 17, 64, 100, 256, 257, 4096];

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let rule = context.algorithm.sizes;
    let sizes = SIZES.into_iter().filter(|n| rule.allows(*n));
    context.every_example("unaligned", sizes, |context, session, example| {
        let mut count = 0;
        for offset in 1..16 {
            let [at, against] = [offset, 16 - offset].map(Place::Offset);
            let note = format_args!(" at {offset} bytes past alignment");
            for placement in
                [Placement::all(at), Placement { input: at, output: against, rest: at }]
            {
                count += context.answer(session, example, placement, note)?;
            }
        }
        Ok(count)
    })
}
