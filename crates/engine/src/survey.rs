//! A whole run: plan, verify, sample, record.

use crate::assemble::{Checks, Proof, Rates, assemble, host_facts, library_facts, plan_facts};
use crate::bank::Start;
use crate::costs;
use crate::discover::Attached;
use crate::evidence::{self, Evidence, Operation};
use crate::limits::{self, Conditions};
use crate::memory::memory;
use crate::noise::noise;
use crate::plan::{Planned, Request, cases};
use crate::quiet;
use crate::schedule::{Progress, Sampled, Schedule};
use crate::setting::{Machine, placement};
use crate::tiers::at_tiers;
use crate::track::Track;
use crate::verification::{Subject, Verdict, verify_all};
use model::{Algorithm, Tier};
use probe::Clock;
use record::{Executed, Journal, JournalHead, JournalSample, Record, RecordError, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a run reports while it goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// So many pairs of library and algorithm of so many are verified.
    Verifying {
        /// Done.
        done: usize,
        /// In all.
        of: usize,
    },
    /// So many operations of so many are stepped.
    Stepping {
        /// Done.
        done: usize,
        /// In all.
        of: usize,
    },
    /// Sampling.
    Sampling(Progress),
}

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
    /// Path of the record to be written, whose journal stands beside it; none keeps no journal.
    pub record: Option<PathBuf>,
    /// Samples of an earlier part of the run, with their cases.
    pub earlier: Option<(JournalHead, Vec<JournalSample>)>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The record.
    pub record: Record,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The journal, to be removed when the record is safe; none was asked for, or it could not be
    /// written on.
    pub journal: Option<Journal>,
    /// Why the journal could not be written on.
    pub journal_error: Option<RecordError>,
}

/// Verifies and measures everything that a request asks of the libraries.
///
/// # Errors
/// [`SurveyError`] when the plan has no case at all, when the earlier part of the run does not fit,
/// or when the journal cannot be begun.
pub fn survey(
    request: &Request,
    libraries: &[Attached],
    keeping: Keeping,
    stop: &AtomicBool,
    events: &(dyn Fn(Event) + Sync),
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
    let head = journal_head(request, libraries, planned.len(), cpu);
    let (earlier, started) = earlier_part(keeping.earlier, &head)?;
    let mut journal = keeping
        .record
        .filter(|path| !is_device(path))
        .map(|path| Journal::create(&path, &head, &earlier))
        .transpose()?;
    // Counted before the scheduler keeps itself off one of them.
    let cpus_allowed = probe::allowed_cpus().len() as u32;
    // Neither is timed, so both use every CPU.
    let checks = verify(&mut planned, libraries, stop, events);
    let memory = memory(&planned, libraries, stop);
    let executed = evidence(request, &mut planned, libraries, stop, events);
    step_aside(cpu);
    let clock = Clock::calibrate();
    let watched = quiet::watch(&clock, cpu);
    let conditions = Conditions {
        cpu,
        quiet_probe: watched.of(cpu),
        ticks_per_ns: rough_rate(&clock).unwrap_or(1.0),
    };
    let core = limits::measure(&clock, &conditions);
    let start = Start {
        cpu: Some(cpu),
        seed: request.seed,
        ticks_per_ns: Some(conditions.ticks_per_ns),
        quiet: watched,
    };
    let schedule = Schedule::new(libraries, tracks(&planned, &earlier), request.budget, &start);
    let (begin, timer) = (clock.anchor(), Instant::now());
    let mut journal_error = None;
    let mut log = |taken: Vec<JournalSample>| {
        if let Err(e) = keep(&mut journal, &taken) {
            // Measuring goes on: the record may yet be written when the run ends.
            journal_error = Some(e);
            journal = None;
        }
    };
    let sampled = schedule.run(stop, &mut log, &mut |progress| events(Event::Sampling(progress)));
    let measuring_seconds = timer.elapsed().as_secs_f64();
    let noise = noise(&sampled);
    let Sampled { tracks, quiet, .. } = sampled;
    let quiet_probe = quiet.of(cpu);
    let rates = Rates::new(&clock, begin, quiet, request.budget.precision);
    let interrupted = stop.load(Ordering::Relaxed);
    let mut host = host_facts(cpu, libraries, &rates, &tracks);
    host.cpu.cpus_allowed = cpus_allowed;
    let core = limits::again(&clock, &conditions, core, quiet_probe);
    let mut measurements = assemble(planned, tracks, libraries, &checks, &memory, &rates);
    evidence::tell(&mut measurements, &executed);
    if let Ok(core) = &core {
        limits::hold(&mut measurements, core);
    }
    // Of what is left after the limits: a case that is refused for its speed has no part in others.
    costs::set_key_setup(&mut measurements);
    let record = Record {
        format_version: record::FORMAT_VERSION.to_owned(),
        tool: Tool {
            name: "ciphermark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: request.command.clone(),
        },
        started: started.unwrap_or(head.started),
        measuring_seconds,
        host,
        libraries: libraries.iter().map(|l| library_facts(l, request)).collect(),
        plan: plan_facts(request),
        noise: Some(noise),
        executed,
        limits: limits::limits(
            core,
            &request.algorithms,
            &request.directions,
            &request.models,
            &request.tiers,
        ),
        fits: costs::fits(&measurements),
        measurements,
    };
    Ok(Outcome { record, interrupted, journal, journal_error })
}

/// Ticks in a nanosecond, well enough for the length of batches.
pub(crate) fn rough_rate(clock: &Clock) -> Option<f64> {
    let begin = clock.anchor();
    std::thread::sleep(Duration::from_millis(2));
    Some(begin.ticks_per_second(clock.anchor()) / 1e9)
}

fn journal_head(request: &Request, libraries: &[Attached], cases: usize, cpu: u32) -> JournalHead {
    JournalHead {
        format_version: record::FORMAT_VERSION.to_owned(),
        started: jiff::Timestamp::now().to_string(),
        command: request.command.clone(),
        cpu: host::facts(cpu).cpu.name,
        plan: plan_facts(request),
        cases,
        libraries: libraries.iter().map(|l| (l.given_name.clone(), l.facts.clone())).collect(),
    }
}

/// The earlier samples and when the run began, after holding the earlier part against this one.
fn earlier_part(
    earlier: Option<(JournalHead, Vec<JournalSample>)>,
    now: &JournalHead,
) -> Result<(Vec<JournalSample>, Option<String>), SurveyError> {
    let Some((then, samples)) = earlier else { return Ok((Vec::new(), None)) };
    let differs = |what: String| Err(SurveyError::Resume(what));
    if then.cpu != now.cpu {
        return differs(format!("it ran on '{}', this is '{}'", then.cpu, now.cpu));
    }
    for ((_, a), (_, b)) in then.libraries.iter().zip(&now.libraries) {
        if (&a.path, &a.id) != (&b.path, &b.id) {
            return differs(format!("library '{}' is another build than it was", a.path));
        }
    }
    if (then.libraries.len(), then.cases) != (now.libraries.len(), now.cases) {
        return differs("the libraries offer other algorithms than they did".to_owned());
    }
    Ok((samples, Some(then.started)))
}

/// The cases to sample, with what there is of them.
pub(crate) fn tracks(planned: &[Planned], earlier: &[JournalSample]) -> Vec<Track> {
    let mut samples: BTreeMap<usize, Vec<JournalSample>> = BTreeMap::new();
    for entry in earlier {
        samples.entry(entry.case).or_default().push(entry.clone());
    }
    let open = planned.iter().enumerate().filter(|(_, p)| p.verdict.is_none());
    open.map(|(i, p)| {
        let track = Track::new(i, p.case.clone(), p.setting.clone());
        track.continued(samples.remove(&i).unwrap_or_default())
    })
    .collect()
}

/// A pipe or device (`-o /dev/stdout`) takes a record, but has no place beside it for a journal.
fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| !m.is_file())
}

fn keep(journal: &mut Option<Journal>, taken: &[JournalSample]) -> Result<(), RecordError> {
    journal.as_mut().map_or(Ok(()), |journal| journal.append(taken))
}

/// How many CPUs this process may use.
#[must_use]
pub fn usable_cpus() -> usize {
    probe::allowed_cpus().len()
}

/// The machine, as far as cases hang on it: before the scheduler steps aside, because it asks for the
/// CPUs that may be used.
#[must_use]
pub fn machine() -> Machine {
    let cpu = measuring_cpu();
    let siblings = |cpu| host::facts(cpu).cpu.thread_siblings;
    let cpus = placement(cpu, &probe::allowed_cpus(), &siblings);
    Machine::new(&host::facts(cpu), cpus)
}

/// The CPU to measure on: of those that may be used the one with the highest frequency, so that a
/// hybrid processor's efficiency cores are left alone, and of several the last, because CPU 0 takes
/// most interrupts.
#[must_use]
pub fn measuring_cpu() -> u32 {
    let cpus = probe::allowed_cpus();
    cpus.into_iter().max_by_key(|cpu| (host::max_frequency_khz(*cpu), *cpu)).unwrap_or(0)
}

/// Keeps the scheduler off the measuring CPU where there is another.
pub(crate) fn step_aside(cpu: u32) {
    let others: Vec<u32> = probe::allowed_cpus().into_iter().filter(|c| *c != cpu).collect();
    if !others.is_empty() {
        // Where the system forbids it the scheduler stays where it is; its work falls between
        // samples in any case.
        let _ = probe::pin_to(&others);
    }
}

/// Verifies what is to be measured; what fails is decided without measuring.
fn verify(
    planned: &mut [Planned],
    libraries: &[Attached],
    stop: &AtomicBool,
    events: &(dyn Fn(Event) + Sync),
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
    let verdicts = verify_all(libraries, &subjects, stop, &|| {
        events(Event::Verifying { done: count.fetch_add(1, Ordering::Relaxed) + 1, of });
    });
    let mut checks = Checks::new();
    for Verdict { library, tier, algorithm, outcome, remarks } in verdicts {
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

/// Steps what is to be measured; what contradicts its tier is decided without measuring.
fn evidence(
    request: &Request,
    planned: &mut [Planned],
    libraries: &[Attached],
    stop: &AtomicBool,
    events: &(dyn Fn(Event) + Sync),
) -> Vec<Executed> {
    if !request.evidence {
        return Vec::new();
    }
    let open = planned.iter().filter(|p| p.verdict.is_none()).map(|p| Operation::of(&p.case));
    let subjects: BTreeSet<Operation> = open.collect();
    let subjects: Vec<Operation> = subjects.into_iter().collect();
    let (count, of) = (AtomicUsize::new(0), subjects.len());
    events(Event::Stepping { done: 0, of });
    let gathered = evidence::gather(libraries, &subjects, &[], stop, &|| {
        events(Event::Stepping { done: count.fetch_add(1, Ordering::Relaxed) + 1, of });
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
