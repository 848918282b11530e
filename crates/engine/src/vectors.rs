//! Libraries held to a file of published vectors.

use crate::attached::Attached;
use crate::process::{Worker, out_of_protocol};
use crate::protocol::{Reply, Request};
use base::model::{Algorithm, Tier};
use std::time::Duration;
use verify::vector_file::Vector;

/// One small message.
const DEADLINE: Duration = Duration::from_secs(20);

/// What became of the vectors in one library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Valid ones that came out right.
    pub passed: usize,
    /// Invalid ones that were rejected.
    pub rejected: usize,
    /// Those of algorithms that the library does not offer.
    pub not_offered: usize,
    /// Number of each other one, its algorithm, and what the library did.
    pub wrong: Vec<(u64, &'static str, String)>,
}

/// Gives every vector to a library, in workers; `done` is called after each.
pub fn hold_to_vectors(
    library: &Attached,
    vectors: &[(&'static Algorithm, Vector)],
    done: &dyn Fn(),
) -> Outcomes {
    let mut worker = None;
    let mut outcomes = Outcomes::default();
    for (algorithm, vector) in vectors {
        let offers =
            library.offers.iter().any(|o| o.algorithm == algorithm.name && !o.models.is_empty());
        if !offers {
            outcomes.not_offered += 1;
        } else {
            match ask(&mut worker, library, algorithm, vector) {
                Ok(true) => outcomes.rejected += 1,
                Ok(false) => outcomes.passed += 1,
                Err(why) => outcomes.wrong.push((vector.id, algorithm.name, why)),
            }
        }
        done();
    }
    outcomes
}

/// Whether the vector was rightly rejected; false: rightly computed.
fn ask(
    slot: &mut Option<Worker>,
    library: &Attached,
    algorithm: &Algorithm,
    vector: &Vector,
) -> Result<bool, String> {
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => {
            Worker::start(library.hello(Tier::Native, None, 0, 0)).map_err(|e| e.to_string())?
        }
    };
    worker.send(&Request::Vector { algorithm: algorithm.name.to_owned(), vector: vector.clone() });
    let reply = worker.reply(DEADLINE).map_err(|e| e.to_string())?;
    *slot = Some(worker);
    match reply {
        Reply::Judged { rejected, wrong: None } => Ok(rejected),
        Reply::Judged { wrong: Some(why), .. } => Err(why),
        other => Err(out_of_protocol(&other).to_string()),
    }
}
