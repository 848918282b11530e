//! `ciphermark tls handshake`, `tls records` and `tls primitives`: every stack, sampled in turn.

mod assemble;
mod own;
mod primitives;
mod records;
mod stacks;

pub use primitives::{PrimitivesRequest, primitives};
pub use records::{RecordsRequest, records};
pub use stacks::{SelectedStacks, select_stacks};

use crate::attached::StackFile;
use crate::bank::Source;
use crate::earlier;
use crate::events::Event;
use crate::kinds::{self, Tls};
use crate::placement::measuring_cpu;
use crate::plan::Budget;
use crate::sampling::{Ended, Sampled, Sampling, sample_all};
use crate::survey::{Keeping, SurveyError};
use crate::track::Track;
use assemble::assemble;
use model::QuietRates;
use record::{Host, JournalHead};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tls::{Case, Document, Noise, Plan, Subject, Temperature};

/// Which handshakes are to be measured.
#[derive(Clone, Debug)]
pub struct HandshakeRequest {
    /// The cases, each with what lies between two steps.
    pub rows: Vec<(Case, Temperature)>,
    /// Half the width of the interval at which the sampling of a hot case ends, as a fraction.
    pub precision: f64,
    /// Most time of sampling.
    pub time: Duration,
    /// Seed of the order.
    pub seed: u64,
    /// What was typed.
    pub command: Vec<String>,
}

/// Measures the cases in every stack. Ends early when `stop` is set; what there is counts.
///
/// # Errors
/// [`SurveyError`] when the earlier part of the run does not fit, or when the journal cannot be begun.
pub fn handshakes(
    request: &HandshakeRequest,
    stacks: &[StackFile],
    keeping: Keeping,
    stop: &AtomicBool,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Ended<Document>, SurveyError> {
    let wanted = Wanted {
        rows: request.rows.iter().map(|(case, t)| (Subject::Handshake(*case), *t)).collect(),
        precision: request.precision,
        time: request.time,
        seed: request.seed,
        cpu: measuring_cpu(),
        kind: "tls-handshakes",
        command: &request.command,
    };
    let (run, outcome) = sampled(&wanted, stacks, keeping, stop, events)?;
    Ok(outcome.with(assemble(run, request, stacks)))
}

/// What is to be sampled, and when that ends.
struct Wanted<'a> {
    /// The document's kind.
    kind: &'static str,
    command: &'a [String],
    rows: Vec<(Subject, Temperature)>,
    precision: f64,
    time: Duration,
    seed: u64,
    cpu: u32,
}

/// What came of the sampling, and what is known of the run as a whole.
struct Run {
    started: String,
    seconds: f64,
    host: Host,
    plan: Plan,
    ticks_per_ns: f64,
    tracks: Vec<Track>,
    quiet: QuietRates,
    noise: Noise,
}

/// Samples everything.
fn sampled(
    wanted: &Wanted<'_>,
    stacks: &[StackFile],
    keeping: Keeping,
    stop: &AtomicBool,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(Run, Ended<()>), SurveyError> {
    let tracks = tracks(wanted, stacks.len());
    let of_stack = |stack: usize, _| Source::Stack(&stacks[stack]);
    let all = Sampling {
        head: head(wanted, stacks, tracks.len()),
        tracks,
        source: &of_stack,
        budget: Budget { precision: wanted.precision, time: wanted.time },
        least_passes: 0,
        cpu: wanted.cpu,
    };
    let (sampled, journal) = sample_all(all, keeping, stop, events)?;
    let noise = assemble::noise(&sampled);
    let Sampled { started, seconds, host, ticks_per_ns, tracks, quiet, .. } = sampled;
    let plan = Plan {
        precision: wanted.precision,
        budget_seconds: wanted.time.as_secs_f64(),
        seed: wanted.seed,
        cpu: wanted.cpu,
    };
    let run = Run { started, seconds, host, plan, ticks_per_ns, tracks, quiet, noise };
    Ok((run, Ended { document: (), interrupted: stop.load(Ordering::Relaxed), journal }))
}

/// What the journal says at its head: the plan's lists are those of a survey, and empty; the rows come from the
/// command line again.
fn head(wanted: &Wanted<'_>, stacks: &[StackFile], cases: usize) -> JournalHead {
    let plan = record::Plan {
        precision: wanted.precision,
        budget_seconds: wanted.time.as_secs_f64(),
        seed: wanted.seed,
        ..record::Plan::default()
    };
    let library = |path: &str, id: &str, stack: &tls::Stack| record::Library {
        name: stack.name.clone(),
        version: stack.version.clone(),
        path: path.to_owned(),
        id: id.to_owned(),
        ..record::Library::default()
    };
    let files = |StackFile { facts, .. }: &StackFile| {
        let protocol = library(&facts.path, &facts.id, facts);
        [(None, protocol), (None, library(&facts.crypto_path, &facts.crypto_id, facts))]
    };
    let libraries = stacks.iter().flat_map(files).collect();
    earlier::head(wanted.kind, (plan, cases), libraries, wanted.command, wanted.cpu)
}

/// Every row in every stack.
fn tracks(wanted: &Wanted<'_>, stacks: usize) -> Vec<Track> {
    let of_row = |(subject, temperature): &(Subject, Temperature)| {
        let (subject, temperature) = (*subject, *temperature);
        (0..stacks).map(move |stack| Tls { stack, subject, temperature })
    };
    let all = wanted.rows.iter().flat_map(of_row).enumerate();
    all.map(|(i, tls)| Track::new(i, kinds::Subject::Tls(tls))).collect()
}
