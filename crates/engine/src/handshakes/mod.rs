//! `ciphermark tls handshake`, `tls records` and `tls primitives`: every stack, sampled in turn.

mod assemble;
mod own;
mod rows;
mod stacks;

pub use rows::Sampled as SampledRow;
pub use stacks::{SelectedStacks, select_stacks};

use crate::attached::StackFile;
use crate::case_progress::CaseProgress;
use crate::earlier;
use crate::events::Event;
use crate::kinds::{self, Tls};
use crate::plan::Budget;
use crate::sampling::{Sampled, Sampling, sample_all};
use crate::stop::Stop;
use crate::survey::{Keeping, SurveyError};
use crate::worker_pool::Source;
use base::model::QuietRates;
use record::tls::{Plan, Subject, Temperature};
use record::{Host, Journal, JournalHead, Noise, Record, Samples};
use std::time::Duration;

/// What is to be measured in each stack.
#[derive(Clone, Debug)]
pub struct TlsRequest {
    /// What, each with what lies between two steps: handshakes, records or primitives alone.
    pub rows: Vec<(Subject, Temperature)>,
    /// Half the width of the interval at which the sampling of a hot case ends, as a fraction.
    pub precision: f64,
    /// Most time of sampling.
    pub time: Duration,
    /// Seed of the order.
    pub seed: u64,
    /// The CPU to measure on: of a process that stepped aside before, it would be asked for in vain.
    pub cpu: u32,
    /// What was typed.
    pub command: Vec<String>,
}

/// Measures the rows in every stack; of records without the bare ciphers. Ends early when `stop` is set; what
/// there is counts.
///
/// # Errors
/// [`SurveyError`] when the earlier part of the run does not fit, or when the journal cannot be begun.
pub fn measure_tls<R: SampledRow>(
    request: &TlsRequest,
    stacks: &[StackFile],
    keeping: Keeping,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<TlsOutcome<R>, SurveyError> {
    let (run, journal) = sampled(R::KIND, request, stacks, keeping, stop, events)?;
    let interrupted = stop.is_interrupted();
    let (run, raw) = assemble::assemble(run, request, stacks);
    Ok(TlsOutcome { run, raw, interrupted, journal })
}

/// How a run ended.
#[derive(Debug)]
pub struct TlsOutcome<R> {
    /// The run.
    pub run: record::tls::Run<R>,
    /// Every sample of both parts of each row.
    pub raw: Vec<[Samples; 2]>,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The journal, to be removed when the record is safe; none if none was asked for.
    pub journal: Option<Journal>,
}

impl<R: record::tls::Row> TlsOutcome<R> {
    /// The run's record, with its samples.
    #[must_use]
    pub fn record(&self) -> Record {
        record::tls::into_record(&self.run, &self.raw)
    }
}

/// What came of the sampling, and what is known of the run as a whole.
struct Run {
    started: String,
    seconds: f64,
    host: Host,
    plan: Plan,
    ticks_per_ns: f64,
    all_progress: Vec<CaseProgress>,
    quiet: QuietRates,
    noise: Noise,
}

/// Samples everything.
fn sampled(
    kind: &'static str,
    wanted: &TlsRequest,
    stacks: &[StackFile],
    keeping: Keeping,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(Run, Option<Journal>), SurveyError> {
    let all_progress = all_progress(wanted, stacks.len());
    let of_stack = |stack: usize, _| Source::Stack(&stacks[stack]);
    let all = Sampling {
        head: head(kind, wanted, stacks, all_progress.len()),
        all_progress,
        source: &of_stack,
        budget: Budget { precision: wanted.precision, time: wanted.time },
        // Without an end every row gets a number.
        least_passes: if stop.left().is_none() { kinds::PROCESSES as u32 } else { 0 },
        cpu: wanted.cpu,
    };
    let (sampled, journal) = sample_all(all, keeping, stop, events)?;
    let Sampled { noise, started, seconds, host, ticks_per_ns, all_progress, quiet, .. } = sampled;
    let plan = Plan {
        precision: wanted.precision,
        budget_seconds: wanted.time.as_secs_f64(),
        seed: wanted.seed,
        cpu: wanted.cpu,
    };
    let run = Run { started, seconds, host, plan, ticks_per_ns, all_progress, quiet, noise };
    Ok((run, journal))
}

/// What the journal says at its head: the plan's lists are those of a survey, and empty; the rows come from the
/// command line again.
fn head(
    kind: &'static str,
    wanted: &TlsRequest,
    stacks: &[StackFile],
    cases: usize,
) -> JournalHead {
    let plan = record::Plan {
        precision: wanted.precision,
        budget_seconds: wanted.time.as_secs_f64(),
        seed: wanted.seed,
        ..record::Plan::default()
    };
    let library = |path: &str, id: &str, stack: &record::tls::Stack| record::Library {
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
    earlier::head(kind, (plan, cases), libraries, &wanted.command, wanted.cpu)
}

/// Every row in every stack.
fn all_progress(wanted: &TlsRequest, stacks: usize) -> Vec<CaseProgress> {
    let of_row = |(subject, temperature): &(Subject, Temperature)| {
        let (subject, temperature) = (*subject, *temperature);
        (0..stacks).map(move |stack| Tls { stack, subject, temperature })
    };
    let all = wanted.rows.iter().flat_map(of_row).enumerate();
    all.map(|(i, tls)| CaseProgress::new(i, kinds::Subject::Tls(tls))).collect()
}
