//! Sampling of all_progress from a journal's head to the state in which a run ended.

use crate::assemble::core_clock;
use crate::case_progress::CaseProgress;
use crate::checkpoints::Checkpoints;
use crate::earlier::Earlier;
use crate::events::Event;
use crate::placement::step_aside;
use crate::plan::Budget;
use crate::quiet;
use crate::schedule::Schedule;
use crate::stop::Stop;
use crate::survey::{Keeping, SurveyError};
use crate::worker_pool::{Source, Start};
use base::model::{QuietRates, Tier};
use probe::Clock;
use record::{Host, Journal, JournalHead};
use std::time::{Duration, Instant};

/// What is to be sampled, and when that ends.
pub(crate) struct Sampling<'a> {
    pub(crate) head: JournalHead,
    pub(crate) all_progress: Vec<CaseProgress>,
    pub(crate) source: &'a dyn Fn(usize, Tier) -> Source<'a>,
    pub(crate) budget: Budget,
    /// Passes that are made however long they take.
    pub(crate) least_passes: u32,
    pub(crate) cpu: u32,
}

/// What came of it, and what is known of the run as a whole.
pub(crate) struct Sampled {
    pub(crate) started: String,
    /// With those of an earlier part.
    pub(crate) seconds: f64,
    pub(crate) host: Host,
    pub(crate) ticks_per_ns: f64,
    pub(crate) all_progress: Vec<CaseProgress>,
    pub(crate) quiet: QuietRates,
    pub(crate) noise: record::Noise,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended<D> {
    /// The document.
    pub document: D,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The journal, to be removed when the document is safe; none if none was asked for.
    pub journal: Option<Journal>,
}

/// Samples everything; the journal beside, to be removed when what it holds is safe.
pub(crate) fn sample_all(
    wanted: Sampling<'_>,
    Keeping { mut journal, earlier, .. }: Keeping,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(Sampled, Option<Journal>), SurveyError> {
    let timer = Instant::now();
    let Sampling { head, cpu, .. } = wanted;
    let seed = head.plan.seed;
    let mut host: Host = host::facts(cpu);
    host.cpu.cpus_allowed = probe::allowed_cpus().len() as u32;
    let earlier = Earlier::of(earlier, &head).map_err(SurveyError::Resume)?;
    if let Some(journal) = &mut journal {
        journal.begin(&head)?;
    }
    step_aside(cpu);
    let clock = Clock::calibrate();
    let ticks_per_ns = Some(clock.rough_ticks_per_ns());
    let start = Start { cpus: vec![cpu], seed, ticks_per_ns, quiet: quiet::watch(&clock, cpu) };
    let begin = clock.anchor();
    let all_progress = earlier.continued(wanted.all_progress);
    let mut schedule = Schedule::new(wanted.source, all_progress, wanted.budget, &start)
        .at_least(wanted.least_passes);
    let mut checkpoints = Checkpoints::new(journal, None, earlier.seconds, &|| {}, events);
    schedule.run(stop, &mut checkpoints);
    schedule.keep_quiet();
    let journal = checkpoints.end(schedule.sampled());
    // A run of nothing but unsupported cases takes no time to speak of.
    std::thread::sleep(Duration::from_millis(2));
    let ticks_per_second = begin.ticks_per_second(clock.anchor());
    let sampled = schedule.sampled();
    host.clock.source = clock.source().to_owned();
    host.clock.reason = clock.reason().map(ToOwned::to_owned);
    host.clock.step_ticks = clock.step_ticks();
    host.clock.overhead_ticks = clock.overhead_ticks();
    host.clock.ticks_per_second = ticks_per_second;
    core_clock(&mut host, cpu, sampled.all_progress.iter().flat_map(|t| &t.samples), sampled.quiet);
    let run = Sampled {
        started: earlier.started.unwrap_or(head.started),
        seconds: earlier.seconds + timer.elapsed().as_secs_f64(),
        host,
        ticks_per_ns: ticks_per_second / 1e9,
        all_progress: sampled.all_progress.to_vec(),
        quiet: sampled.quiet.clone(),
        noise: crate::noise::noise(&sampled),
    };
    Ok((run, journal))
}
