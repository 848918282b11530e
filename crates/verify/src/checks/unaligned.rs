//! The same bytes wherever the buffers lie: every offset within 16 bytes, input and output
//! together and against each other.

use crate::context::Context;
use crate::desk::{Place, Placement};
use crate::finding::Verdict;
use crate::reference::Reference;
use model::AAD_LEN;

/// Less than a block, blocks and rests, a wide stride, a page.
const SIZES: [usize; 8] = [1, 16, 17, 64, 100, 256, 257, 4096];

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("unaligned");
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let rule = context.algorithm.sizes;
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for len in SIZES.into_iter().filter(|n| rule.allows(*n)) {
            let example = inputs.example(&reference, len, AAD_LEN);
            for offset in 1..16 {
                let [at, against] = [offset, 16 - offset].map(Place::Offset);
                for placement in
                    [Placement::all(at), Placement { input: at, output: against, rest: at }]
                {
                    let note = format_args!(" at {offset} bytes past alignment");
                    count += context.answer(&mut session, &example, placement, note)?;
                }
            }
        }
    }
    Ok(count)
}
