//! A whole run: plan, verify, sample, record.

use crate::assemble::{Checks, Proof, plan_facts};
use crate::attached::Attached;
use crate::checkpoints::{Checkpoints, Snapshots};
use crate::earlier::{self, Earlier};
use crate::events::Event;
use crate::evidence::{self, Evidence, Operation, Wanted};
use crate::leaks::of_plan;
use crate::limits::{self, Conditions};
use crate::memory::memory;
use crate::placement::{machine, step_aside};
use crate::plan::{Planned, Request, cases};
use crate::quiet;
use crate::recording::Recording;
use crate::schedule::{Sampled, Schedule};
use crate::side_by_side::side_by_side;
use crate::stop::Stop;
use crate::ticking::Ticking;
use crate::tiers::at_tiers;
use crate::verification::{Extra, Subject, Verdict, verify_all};
use crate::worker_pool::{Source, Start};
use base::model::{Algorithm, Tier};
use probe::Clock;
use record::{Executed, Journal, JournalEntry, JournalFinding, Kept, Record, RecordError};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// No library offers anything of what was asked for.
    #[error("nothing to measure: {0}")]
    Nothing(String),
    /// The earlier part of the run does not fit what was asked for now.
    #[error("cannot go on with this run: {0}")]
    Resume(String),
    /// The journal cannot be begun.
    #[error(transparent)]
    Journal(#[from] RecordError),
}

/// Where a run is kept while it goes on, and what an earlier part of it left.
#[derive(Debug, Default)]
pub struct Keeping {
    /// The journal, claimed or gone on with; none keeps none.
    pub journal: Option<Journal>,
    /// Where to write, from time to time, the record as it would be if the run were interrupted now.
    pub snapshots: Option<PathBuf>,
    /// What an earlier part of the run left.
    pub earlier: Option<Kept>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The record.
    pub record: Record,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The journal, to be removed when the record is safe; none if none was asked for.
    pub journal: Option<Journal>,
}

/// The share of what is left of a run's time that everything before sampling may take.
const PROOF: f64 = 0.6;

/// Verifies and measures everything that a request asks of the libraries.
///
/// # Errors
/// [`SurveyError`] when the plan has no case at all, when the earlier part of the run does not fit,
/// or when the journal cannot be begun.
pub fn survey(
    request: &Request,
    libraries: &[Attached],
    keeping: Keeping,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Outcome, SurveyError> {
    let libraries = &*at_tiers(libraries, &request.tiers);
    let machine = machine();
    let mut planned = cases(request, libraries, &machine);
    if planned.is_empty() {
        return Err(SurveyError::Nothing(
            "no library that was selected offers any of the algorithms in these directions; see `ciphermark list algorithms`"
                .to_owned(),
        ));
    }
    let cpu = machine.measuring_cpu();
    let plan = (plan_facts(request), planned.len());
    let named = libraries.iter().map(|l| (l.given_name.clone(), l.facts.clone())).collect();
    let head = earlier::head("survey", plan, named, &request.command, cpu);
    let Keeping { mut journal, snapshots, earlier } = keeping;
    let earlier = Earlier::of(earlier, &head).map_err(SurveyError::Resume)?;
    if let Some(journal) = &mut journal {
        journal.begin(&head)?;
    }
    earlier.tell(&mut planned);
    // Counted before the scheduler keeps itself off one of them.
    let cpus_allowed = probe::allowed_cpus().len() as u32;
    let known: Vec<bool> = planned.iter().map(|p| p.verdict.is_some()).collect();
    // Neither is timed, so both use every CPU.
    let extra = Extra { seed: request.seed, sizes: &request.sizes };
    // What has an end needs time for samples, too: what was not verified by then is left out.
    let proof = &stop.left().map_or_else(|| stop.clone(), |left| stop.within(left.mul_f64(PROOF)));
    let checks = verify(&mut planned, libraries, extra, proof, events);
    let memory = memory(&planned, libraries, proof);
    let executed = evidence(request, &mut planned, libraries, proof, events);
    let leaks =
        if request.evidence { of_plan(&planned, libraries, proof, events) } else { Vec::new() };
    keep_verdicts(&mut journal, &planned, &known, stop);
    step_aside(cpu);
    let clock = Clock::calibrate();
    let mut watched = quiet::watch(&clock, cpu);
    let cpus = side_by_side(&clock, cpu, &mut watched, (&planned, &machine));
    let conditions =
        Conditions { cpu, quiet_probe: watched.of(cpu), ticks_per_ns: clock.rough_ticks_per_ns() };
    let core = limits::measure(&clock, &conditions);
    let start = Start {
        cpus,
        seed: request.seed,
        ticks_per_ns: Some(conditions.ticks_per_ns),
        quiet: watched,
    };
    let source = |library: usize, tier| Source::Library(&libraries[library], tier);
    let mut schedule =
        Schedule::new(&source, earlier.all_progress(&planned), request.budget, &start);
    let ticking = RefCell::new(Ticking::new(&clock));
    let recording = Recording {
        request,
        libraries,
        planned: &planned,
        checks: &checks,
        memory: &memory,
        executed: &executed,
        leaks: &leaks,
        clock: &clock,
        ticking: &ticking,
        cpu,
        cpus_allowed,
        started: earlier.started.as_ref().unwrap_or(&head.started),
        seconds_before: earlier.seconds,
    };
    let record_now = |sampled: Sampled<'_>| recording.record(sampled, core.clone());
    let snapshots = snapshots.map(|path| Snapshots::new(path, &record_now));
    let look = || recording.look();
    let mut checkpoints = Checkpoints::new(journal, snapshots, earlier.seconds, &look, events);
    schedule.run(stop, &mut checkpoints);
    schedule.keep_quiet();
    let journal = checkpoints.end(schedule.sampled());
    let quiet_probe = schedule.sampled().quiet.of(cpu);
    let core = limits::again(&clock, &conditions, core.clone(), quiet_probe);
    let record = recording.record(schedule.sampled(), core);
    Ok(Outcome { record, interrupted: stop.is_interrupted(), journal })
}

/// Keeps what was found before sampling, so that going on does not give it another chance. What was
/// only left out was not found.
fn keep_verdicts(journal: &mut Option<Journal>, planned: &[Planned], known: &[bool], stop: &Stop) {
    let Some(journal) = journal.as_mut().filter(|_| !stop.is_interrupted()) else { return };
    let new = planned.iter().zip(known).enumerate().filter(|(_, (_, known))| !**known);
    let findings = new.filter_map(|(case, (plan, _))| {
        let finding = plan.verdict.as_ref().filter(|found| found.stopped.is_none())?;
        let (state, reason) = (finding.state, finding.why.clone());
        Some(JournalEntry::Found(JournalFinding { case, state, reason }))
    });
    journal.append(&findings.collect::<Vec<_>>());
}

/// Verifies what is to be measured; what fails is decided without measuring.
fn verify(
    planned: &mut [Planned],
    libraries: &[Attached],
    extra: Extra<'_>,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Checks {
    let subjects: BTreeSet<(usize, Tier, &str)> = planned
        .iter()
        .filter(|p| p.verdict.is_none())
        .map(|p| (p.case.library, p.case.tier, p.case.algorithm.as_str()))
        .collect();
    let subjects: Vec<Subject> = subjects
        .into_iter()
        .filter_map(|(library, tier, name)| Algorithm::find(name).ok().map(|a| (library, tier, a)))
        .collect();
    let (count, of) = (AtomicUsize::new(0), subjects.len());
    events(Event::Verifying { done: 0, of });
    let verdicts = verify_all(libraries, &subjects, extra, stop, &|| {
        events(Event::Verifying { done: count.fetch_add(1, Ordering::Relaxed) + 1, of });
    });
    let mut checks = Checks::new();
    for Verdict { library, tier, algorithm, outcome, remarks, .. } in verdicts {
        match outcome {
            Ok(passed) => {
                checks.insert((library, tier, algorithm), Proof { checks: passed, remarks });
            }
            Err(finding) => planned
                .iter_mut()
                .filter(|p| (p.case.library, p.case.tier) == (library, tier))
                .filter(|p| p.case.algorithm == algorithm)
                .filter(|p| p.verdict.is_none())
                .for_each(|p| p.verdict = Some(finding.clone())),
        }
    }
    checks
}

/// Instructions that may be stepped at measured sizes, over all cases: what a tenth of the run's time
/// is enough for, on two CPUs. Not hung on how many there are here nor how fast they are, so that the
/// same request counts the same sizes everywhere.
fn steps_allowed(budget: Duration) -> u64 {
    /// A step on a virtual machine.
    const STEP: Duration = Duration::from_micros(12);
    /// A few seconds at most: enough for a gate over few cases, however short its run.
    const LEAST: u64 = 200_000;
    let steps = 2.0 * 0.1 * budget.as_secs_f64() / STEP.as_secs_f64();
    LEAST.max(steps as u64)
}

/// Steps what is to be measured; what contradicts its tier is decided without measuring.
fn evidence(
    request: &Request,
    planned: &mut [Planned],
    libraries: &[Attached],
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Vec<Executed> {
    if !request.evidence {
        return Vec::new();
    }
    let open = planned.iter().filter(|p| p.verdict.is_none()).map(|p| Operation::of(&p.case));
    let subjects: BTreeSet<Operation> = open.collect();
    let subjects: Vec<Operation> = subjects.into_iter().collect();
    events(Event::Stepping { done: 0, of: subjects.len() });
    let mut sizes: BTreeMap<Operation, Vec<usize>> = BTreeMap::new();
    for p in planned.iter().filter(|p| p.verdict.is_none()) {
        sizes.entry(Operation::of(&p.case)).or_default().push(p.case.size);
    }
    let of = |subject: &Operation| sizes.get(subject).cloned().unwrap_or_default();
    let wanted = Wanted { of: &of, allowance: Some(steps_allowed(request.budget.time)) };
    let gathered = evidence::gather(libraries, &subjects, wanted, stop, &|done, of| {
        events(Event::Stepping { done, of });
    });
    let mut executed = Vec::with_capacity(gathered.len());
    for Evidence { subject, executed: counts, refused, .. } in gathered {
        if let Some(finding) = refused {
            let same = |p: &&mut Planned| Operation::of(&p.case) == subject && p.verdict.is_none();
            planned.iter_mut().filter(same).for_each(|p| p.verdict = Some(finding.clone()));
        }
        executed.push(counts);
    }
    executed
}
