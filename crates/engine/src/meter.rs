//! What libraries allocate and copy for a message: counted in workers with the meter preloaded.

use crate::attached::Attached;
use crate::process::{Worker, out_of_protocol};
use crate::protocol::{Costs, Finding, Metering, Offer, Reply, Request};
use base::model::Tier;
use std::path::Path;
use std::time::Duration;

/// File name of the object that counts.
pub const METER: &str = "libciphermarkmeter.so";

/// A few dozen messages, with copies byte for byte.
const DEADLINE: Duration = Duration::from_secs(30);

/// One algorithm of one library in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Index of the library.
    pub library: usize,
    /// What it offers, with the functions that run inside the clock.
    pub offer: Offer,
    /// What one message of each size costs, or why that is not known.
    pub costs: Result<Vec<Costs>, Finding>,
}

/// Counts for everything that `wanted` lets through; `done` is called after each.
pub fn explain(
    libraries: &[Attached],
    wanted: &dyn Fn(&Offer) -> bool,
    sizes: &[usize],
    done: &dyn Fn(),
) -> Vec<Explained> {
    let meter = host::companion(METER);
    let mut explained = Vec::new();
    for (index, library) in libraries.iter().enumerate() {
        let mut worker = None;
        let offered = library.offers.iter().filter(|o| !o.models.is_empty() && wanted(o));
        for offer in offered {
            let costs = match &meter {
                Some(meter) => ask(&mut worker, library, offer, sizes, meter),
                None => Err(Finding::failed(format!(
                    "{METER} is neither beside the program nor in ../lib/ciphermark"
                ))),
            };
            explained.push(Explained { library: index, offer: offer.clone(), costs });
            done();
        }
    }
    explained
}

pub(crate) fn ask(
    slot: &mut Option<Worker>,
    library: &Attached,
    offer: &Offer,
    sizes: &[usize],
    meter: &Path,
) -> Result<Vec<Costs>, Finding> {
    let failed = |e: crate::WorkerError| Finding::failed(e.to_string());
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => Worker::start_preloaded(library.hello(Tier::Native, None, 0, 0), meter)
            .map_err(failed)?,
    };
    worker.send(&Request::Meter(Metering {
        algorithm: offer.algorithm.clone(),
        direction: offer.direction,
        sizes: sizes.to_vec(),
    }));
    let reply = worker.reply(DEADLINE).map_err(failed)?;
    *slot = Some(worker);
    match reply {
        Reply::Metered { costs } => Ok(costs),
        Reply::Finding(finding) => Err(finding),
        other => Err(failed(out_of_protocol(&other))),
    }
}
