//! A whole run: plan, verify, sample, record. With it what other runs share, sampling from a journal's head
//! and keeping a run while it goes on; and the look at cases that says which need not be measured.

use crate::cpus::{kind_of_core, machine, side_by_side, step_aside};
use crate::evidence::{Evidence, Operation, Wanted};
use crate::leaks::of_plan;
use crate::libraries::Attached;
use crate::limits::Conditions;
use crate::plan::{Budget, Counting, Machine, Planned, Request, Screened, at_tiers, cases};
use crate::pool::{Cache, Key, Source, Start};
use crate::progress::{CaseProgress, Earlier, Event, Progress, all_progress};
use crate::race::Race;
use crate::recording::{Checks, Proof, Recording, bounds, core_clock, library_facts, plan_facts};
use crate::schedule::{Sampled, Schedule, Watch};
use crate::time::{Stop, Ticking};
use crate::verification::{Extra, Subject, Verdict, memory, verify_all};
use crate::{evidence, limits, progress};
use base::model::{Algorithm, Direction, Disturbance, QuietRates, RawSample, Tier};
use probe::Clock;
use record::{
    Executed, Host, Journal, JournalEntry, JournalFinding, JournalHead, Kept, Record, RecordError,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    #[error("nothing to measure: {0}")]
    Nothing(String),
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

#[derive(Debug)]
pub struct Outcome {
    pub record: Record,
    pub interrupted: bool,
    /// The journal, to be removed when the record is safe; none if none was asked for.
    pub journal: Option<Journal>,
}

/// The share of what is left of a run's time that everything before sampling may take.
const PROOF: f64 = 0.6;

/// Verifies and measures everything that a request asks of the libraries.
pub fn survey(
    request: &Request,
    libraries: &[Attached],
    keeping: Keeping,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Outcome, SurveyError> {
    let libraries = &*at_tiers(request, libraries);
    let machine = machine();
    let mut planned = cases(request, libraries, &machine);
    if planned.is_empty() {
        return Err(SurveyError::Nothing(
            "no library that was selected offers any of the algorithms in these directions; see `ciphermark list algorithms`"
                .to_owned(),
        ));
    }
    let cpu = machine.measuring_cpu();
    let plan = plan_facts(request);
    let named = libraries.iter().map(|l| (l.given_name.clone(), l.facts.clone())).collect();
    let head = progress::journal_head("survey", plan, planned.len(), named, &request.command, cpu);
    let Keeping { mut journal, snapshots, earlier } = keeping;
    let earlier = Earlier::of(earlier, &head).map_err(SurveyError::Resume)?;
    if let Some(why) = earlier.not_possible_now(&planned) {
        return Err(SurveyError::Resume(why));
    }
    if let Some(journal) = &mut journal {
        journal.begin(&head)?;
    }
    earlier.tell(&mut planned);
    // Counted before the scheduler keeps itself off one of them.
    let cpus_allowed = probe::allowed_cpus().len() as u32;
    let known: Vec<bool> = planned.iter().map(|p| p.verdict.is_some()).collect();
    // Neither is timed, so both use every CPU.
    let (sizes, cases) = (&*request.sizes, &*request.cases);
    let extra = Extra { seed: request.seed, sizes, cases, before_a_run: true };
    // What has an end needs time for samples, too: what was not verified by then is left out.
    let proof = &stop.left().map_or_else(|| stop.clone(), |left| stop.within(left.mul_f64(PROOF)));
    let checks = verify(&mut planned, libraries, extra, proof, events);
    let memory = memory(&planned, libraries, proof);
    let executed = evidence(request, &mut planned, libraries, proof, events);
    let leaks = if request.counting == Counting::All {
        of_plan(&planned, libraries, proof, events)
    } else {
        Vec::new()
    };
    keep_verdicts(&mut journal, &planned, &known, stop);
    step_aside(cpu);
    let clock = Clock::calibrate();
    let mut start = Start::on(cpu, &clock, request.seed);
    start.cpus = side_by_side(&clock, cpu, &mut start.quiet, &planned, &machine);
    let conditions = Conditions {
        cpu,
        quiet_probe: start.quiet.of(cpu),
        ticks_per_ns: clock.rough_ticks_per_ns(),
    };
    let core = limits::of_core(&clock, &conditions, stop.left());
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
    // Whoever has a question does not wait longer than he said.
    let has_time = stop.left().is_none();
    let core = limits::again(&clock, &conditions, core.clone(), quiet_probe, has_time);
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
    for Verdict { library, tier, algorithm, outcome, remarks, earlier, .. } in verdicts {
        match outcome {
            Ok(passed) => {
                let proof = Proof { checks: passed, remarks, earlier };
                checks.insert((library, tier, algorithm), proof);
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
    const STEP: Duration = Duration::from_micros(12);
    /// A few seconds at most: enough for a gate over few cases, however short its run.
    const LEAST: u64 = 200_000;
    let steps = 2.0 * 0.1 * budget.as_secs_f64() / STEP.as_secs_f64();
    LEAST.max(steps as u64)
}

fn evidence(
    request: &Request,
    planned: &mut [Planned],
    libraries: &[Attached],
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Vec<Executed> {
    let is_counted = |p: &&Planned| p.verdict.is_none() && request.counting.takes(p.case.tier);
    let open = planned.iter().filter(is_counted).map(|p| Operation::of(&p.case));
    let subjects: BTreeSet<Operation> = open.collect();
    let subjects: Vec<Operation> = subjects.into_iter().collect();
    if subjects.is_empty() {
        return Vec::new();
    }
    events(Event::Stepping { done: 0, of: subjects.len() });
    let mut sizes: BTreeMap<Operation, Vec<usize>> = BTreeMap::new();
    for p in planned.iter().filter(is_counted) {
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

// Sampling of all cases from a journal's head to the state in which a run ended.

pub(crate) struct Sampling<'a> {
    pub(crate) head: JournalHead,
    pub(crate) all_progress: Vec<CaseProgress>,
    pub(crate) source: &'a dyn Fn(usize, Tier) -> Source<'a>,
    pub(crate) budget: Budget,
    /// Passes that are made however long they take.
    pub(crate) least_passes: u32,
    /// Which cases need not be measured to the end; none where all are.
    pub(crate) race: Option<Race>,
    pub(crate) cpu: u32,
}

pub(crate) struct SampledRun {
    pub(crate) started: String,
    /// With those of an earlier part.
    pub(crate) seconds: f64,
    pub(crate) host: Host,
    pub(crate) ticks_per_ns: f64,
    pub(crate) all_progress: Vec<CaseProgress>,
    pub(crate) quiet: QuietRates,
    pub(crate) noise: record::Noise,
}

#[derive(Debug)]
pub struct Ended<D> {
    pub document: D,
    pub interrupted: bool,
    /// The journal, to be removed when the document is safe; none if none was asked for.
    pub journal: Option<Journal>,
}

pub(crate) fn sample_all(
    wanted: Sampling<'_>,
    Keeping { mut journal, earlier, .. }: Keeping,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(SampledRun, Option<Journal>), SurveyError> {
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
    let start = Start::on(cpu, &clock, seed);
    let begin = clock.anchor();
    let all_progress = earlier.continued(wanted.all_progress);
    let mut schedule = Schedule::new(wanted.source, all_progress, wanted.budget, &start)
        .at_least(wanted.least_passes)
        .racing(wanted.race);
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
    let run = SampledRun {
        started: earlier.started.unwrap_or(head.started),
        seconds: earlier.seconds + timer.elapsed().as_secs_f64(),
        host,
        ticks_per_ns: ticks_per_second / 1e9,
        all_progress: sampled.all_progress.to_vec(),
        quiet: sampled.quiet.clone(),
        noise: crate::recording::noise(&sampled),
    };
    Ok((run, journal))
}

// Keeping a run while it goes on: the journal after each block of samples, the record as it stands
// after passes. Neither is written while a sample is being taken: the workers wait for their next
// block.

/// The part of the run's time that writing records in between may take is one in so many.
const SNAPSHOT_SHARE: u32 = 50;

pub(crate) struct Checkpoints<'a> {
    journal: Option<Journal>,
    snapshots: Option<Snapshots<'a>>,
    /// Seconds of measuring in earlier parts of the run.
    seconds_before: f64,
    /// What else is to be done at the end of a pass.
    at_pass: &'a dyn Fn(),
    events: &'a (dyn Fn(Event<'_>) + Sync),
    /// Whether the user knows that the run is not kept.
    told: bool,
}

/// Where the record is written as it would be if the run were interrupted now.
pub(crate) struct Snapshots<'a> {
    path: PathBuf,
    record: &'a dyn Fn(Sampled<'_>) -> Record,
    /// Cases that had ended at the last one, and when the next may be made.
    ended: usize,
    next: Instant,
}

impl<'a> Snapshots<'a> {
    pub(crate) fn new(path: PathBuf, record: &'a dyn Fn(Sampled<'_>) -> Record) -> Self {
        Self { path, record, ended: 0, next: Instant::now() }
    }

    /// Writes one when a case has ended since the last time and it does not cost too much.
    fn write(&mut self, sampled: Sampled<'_>) -> Result<(), String> {
        let ended = sampled.all_progress.iter().filter(|t| t.end.is_some()).count();
        let begun = Instant::now();
        if ended <= self.ended || begun < self.next {
            return Ok(());
        }
        let saved = record::save(&(self.record)(sampled), &self.path);
        self.ended = ended;
        self.next = Instant::now() + begun.elapsed() * SNAPSHOT_SHARE;
        saved.map_err(|e| e.to_string())
    }
}

impl<'a> Checkpoints<'a> {
    pub(crate) fn new(
        journal: Option<Journal>,
        snapshots: Option<Snapshots<'a>>,
        seconds_before: f64,
        at_pass: &'a dyn Fn(),
        events: &'a (dyn Fn(Event<'_>) + Sync),
    ) -> Self {
        Self { journal, snapshots, seconds_before, at_pass, events, told: false }
    }

    pub(crate) fn end(mut self, sampled: Sampled<'_>) -> Option<Journal> {
        self.settle(sampled);
        self.journal
    }

    fn settle(&mut self, sampled: Sampled<'_>) {
        let Some(journal) = &mut self.journal else { return };
        journal.append(&[JournalEntry::Seconds(self.seconds_before + sampled.time.as_secs_f64())]);
        journal.settle();
    }

    /// Tells the user when the run cannot be kept any more, and when it can again.
    fn tell(&mut self, trouble: Option<String>) {
        let told = std::mem::replace(&mut self.told, trouble.is_some());
        match trouble {
            Some(why) if !told => (self.events)(Event::Remark(&format!(
                "the run goes on, but cannot be kept for now: {why}"
            ))),
            None if told => (self.events)(Event::Remark("the run is kept again")),
            _ => {}
        }
    }

    fn journal_trouble(&self) -> Option<String> {
        self.journal.as_ref()?.trouble().map(|e| e.to_string())
    }
}

impl Watch for Checkpoints<'_> {
    fn block(&mut self, entries: Vec<JournalEntry>) {
        let Some(journal) = &mut self.journal else { return };
        journal.append(&entries);
        let trouble = self.journal_trouble();
        // Whether a snapshot can be written again shows at the end of a pass.
        if trouble.is_some() {
            self.tell(trouble);
        }
    }

    fn round(&mut self, progress: Progress) {
        (self.events)(Event::Sampling(progress));
    }

    fn pass(&mut self, sampled: Sampled<'_>) {
        (self.at_pass)();
        self.settle(sampled);
        let snapshot = self.snapshots.as_mut().and_then(|s| s.write(sampled).err());
        let trouble = self.journal_trouble().or(snapshot);
        self.tell(trouble);
    }
}

// A look at what could be measured, to see what need not be: one process of each library, one visit of each case, nothing
// verified. What it sees is no figure of anything: it serves as a bound, with room for a busy machine.

/// How many times as long a case may have seemed to take as it does: another program on the core's other thread, and
/// then some.
const SEEMS_AT_MOST: f64 = 2.0;

/// Says who is told how far it is.
struct Told<'a> {
    events: &'a (dyn Fn(Event<'_>) + Sync),
}

impl Watch for Told<'_> {
    fn block(&mut self, _: Vec<JournalEntry>) {}

    fn round(&mut self, progress: Progress) {
        (self.events)(Event::Screening(progress));
    }

    fn pass(&mut self, _: Sampled<'_>) {}
}

/// What a look at all cases showed.
#[derive(Debug)]
pub struct Look {
    pub screened: Screened,
    /// The same as a record without numbers: bounds, and why there is none.
    pub record: Record,
    /// Whether it was over before each case had its turn: what was not seen may be the cheapest.
    pub is_cut: bool,
}

/// What operations of a library took at the least, by algorithm and direction.
type Least = Vec<(String, Direction, u64)>;

/// What earlier looks saw. It only says what is worth measuring, so a look that was cut short counts, too.
struct Seen<'a> {
    cache: Cache,
    request: &'a Request,
    libraries: &'a [Attached],
    /// Whether it is written only.
    is_fresh: bool,
    /// Whose times they are.
    core: String,
}

impl Seen<'_> {
    /// Raised when what is kept changes its meaning.
    const VERSION: u32 = 1;

    fn key(&self, library: usize) -> Option<Key> {
        let Request { sizes, models, footprints, threads, in_place, .. } = self.request;
        let core = &self.core;
        let subject =
            format!("{sizes:?} {models:?} {footprints:?} {threads:?} {in_place:?} {core}");
        let tier = *self.request.tiers.first()?;
        self.cache.key(Self::VERSION, &self.libraries[library], tier, &[subject])
    }

    fn load(&self) -> Screened {
        let mut least_ns = BTreeMap::new();
        for library in (0..self.libraries.len()).filter(|_| !self.is_fresh) {
            let kept = self.key(library).and_then(|key| self.cache.load::<Least>(&key));
            for (algorithm, direction, ns) in kept.unwrap_or_default() {
                if let Ok(algorithm) = Algorithm::find(&algorithm) {
                    least_ns.insert((library, algorithm.name, direction), ns);
                }
            }
        }
        Screened { least_ns, ..Screened::default() }
    }

    fn store(&self, screened: &Screened) {
        for library in 0..self.libraries.len() {
            let own = screened.least_ns.iter().filter(|((of, ..), _)| *of == library);
            let own: Least = own.map(|((_, a, d), ns)| ((*a).to_owned(), *d, *ns)).collect();
            if let Some(key) = self.key(library).filter(|_| !own.is_empty()) {
                self.cache.store(&key, &own, std::iter::empty());
            }
        }
    }
}

/// What earlier looks do for this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// What they saw is not looked at again, and what this one sees is kept.
    Known,
    Renewed,
    /// All is looked at, and nothing kept.
    Ignored,
}

pub fn screen(
    request: &Request,
    libraries: &[Attached],
    looks: Looks,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Look {
    let libraries = &*at_tiers(request, libraries);
    let machine = machine();
    let planned = cases(request, libraries, &machine);
    let seen = (looks != Looks::Ignored).then(|| Seen {
        cache: Cache::open("looks"),
        request,
        libraries,
        is_fresh: looks == Looks::Renewed,
        core: kind_of_core(machine.measuring_cpu()),
    });
    let size = request.sizes.first().copied().unwrap_or(0);
    let known = seen.as_ref().map(Seen::load).unwrap_or_default();
    let mut screened = Screened { size, ..known };
    let is_open = |plan: &&Planned| {
        let algorithm = Algorithm::find(&plan.case.algorithm).map(|a| a.name);
        plan.verdict.is_none()
            && algorithm.is_ok_and(|algorithm| {
                let key = (plan.case.library, algorithm, plan.case.direction);
                !screened.least_ns.contains_key(&key)
            })
    };
    let open: Vec<Planned> = planned.iter().filter(is_open).cloned().collect();
    let is_cut = !open.is_empty() && {
        for (case, ns) in looked(request, libraries, &open, &machine, stop, events) {
            // The same in another kind of memory may take less.
            screened.least_ns.entry(case).and_modify(|least| *least = ns.min(*least)).or_insert(ns);
        }
        stop.is_over()
    };
    if let Some(seen) = seen.filter(|_| !open.is_empty()) {
        seen.store(&screened);
    }
    let record = record::shared(Record {
        format_version: record::FORMAT_VERSION.to_owned(),
        libraries: libraries.iter().map(|l| library_facts(l, request)).collect(),
        plan: plan_facts(request),
        measurements: bounds(&planned, libraries, &screened),
        ..Record::default()
    });
    Look { screened, record, is_cut }
}

/// Visits each case once: what it took at the least, where there was time for it.
fn looked(
    request: &Request,
    libraries: &[Attached],
    planned: &[Planned],
    machine: &Machine,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Vec<((usize, &'static str, Direction), u64)> {
    let cpu = machine.measuring_cpu();
    step_aside(cpu);
    let clock = Clock::calibrate();
    let ticks_per_ns = clock.rough_ticks_per_ns();
    let start = Start::on(cpu, &clock, request.seed);
    let source = |library: usize, tier| Source::Library(&libraries[library], tier);
    let budget = Budget { precision: f64::INFINITY, time: request.budget.time };
    let all = all_progress(planned, &[]);
    let mut schedule = Schedule::new(&source, all, budget, &start);
    schedule.look(stop, &mut Told { events });
    let seen = schedule.sampled().all_progress.iter().filter_map(|progress| {
        let case = &planned[progress.index].case;
        // Another program's slice within a sample has no bound.
        let is_its_own =
            |s: &&RawSample| s.disturbance(0.0).is_none_or(|why| why == Disturbance::ClockMoved);
        let samples = progress.samples.iter().filter(is_its_own);
        let ticks = samples.map(RawSample::ticks_per_op).reduce(f64::min)?;
        let least_ns = ticks / ticks_per_ns / SEEMS_AT_MOST;
        let algorithm = Algorithm::find(&case.algorithm).ok()?.name;
        Some(((case.library, algorithm, case.direction), least_ns as u64))
    });
    seen.collect()
}
