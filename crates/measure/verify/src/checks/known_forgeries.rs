//! Published forgeries are rejected.

use crate::buffers::Placement;
use crate::context::Context;
use crate::finding::{Verdict, refuse};
use crate::sizes::may_be_refused;
use crate::vectors;
use contract::Outcome;
use model::Direction;

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut count = 0;
    for vector in vectors::of(context.algorithm).iter().filter(|v| v.forged) {
        let mut session = context.open(Direction::Decrypt, &vector.key)?;
        let call = vector.example.call(Direction::Decrypt);
        let (name, len) = (&vector.name, call.input.len());
        match context.buffers.call(&mut session, call, Placement::ALIGNED) {
            Outcome::Rejected => count += 1,
            Outcome::Done => {
                return refuse(format!("decryption accepted the forgery of {name} (size {len})"));
            }
            // No answer is no acceptance, where the interface ends by its nature.
            Outcome::Error(_) if may_be_refused(context.algorithm, len, call.aad.len()) => {}
            Outcome::Error(code) => {
                return refuse(format!(
                    "decryption of the forgery of {name} (size {len}) returned error code {code} and must reject it"
                ));
            }
        }
    }
    Ok(count)
}
