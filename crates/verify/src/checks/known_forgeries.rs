//! Published forgeries are rejected.

use crate::buffers::Placement;
use crate::context::Context;
use crate::finding::Verdict;
use crate::sizes::may_be_refused;
use crate::vectors;
use base::model::Direction;
use contract::Outcome;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut count = 0;
    for vector in vectors::of(context.algorithm).iter().filter(|v| v.forged) {
        let mut session = context.open(Direction::Decrypt, &vector.key)?;
        let call = vector.example.call(Direction::Decrypt);
        let (name, len) = (&vector.name, call.input.len());
        if may_be_refused(context.algorithm, len, call.aad.len()) {
            // No answer is no acceptance, where the interface ends by its nature.
            let outcome = context.buffers.call(&mut session, call, Placement::ALIGNED);
            if matches!(outcome, Outcome::Error(_)) {
                continue;
            }
        }
        let what = format_args!("the forgery of {name} (size {len})");
        count += context.rejected(&mut session, call, Placement::ALIGNED, what)?;
    }
    Ok(count)
}
