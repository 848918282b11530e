//! What runs when. Cases are gone through in passes, each with a new process of every library; a pass visits all
//! unfinished cases in interleaved rounds, in random order. When all have had the passes that a look needs, those that
//! are not precise enough get more, until the time is up.

mod round;

use crate::case_progress::{CaseProgress, End, LAST};
use crate::events::Progress;
use crate::kinds::{Judged, PROCESSES, Pass, Track};
use crate::placement::{another_cpu, step_aside};
use crate::plan::Budget;
use crate::protocol::{Finding, VisitResult};
use crate::quiet::Quiet;
use crate::settling::{CaseSettling, unforeseen, usual_us};
use crate::stolen::Stolen;
use crate::stop::Stop;
use crate::worker_pool::{Source, Start, WorkerPool};
use base::analysis::{BETWEEN_RUNS, MIN_PER_PROCESS, of_visits};
use base::model::{OtherEnd, QuietRates, RawSample, Tier};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use record::tls::{Found, HandshakeSample};
use record::{JournalEntry, JournalFacts, JournalFinding, JournalSample, Stopped};
use round::Block;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Visits of one worker in a row, of two samples each. One sample at a time would wake another process for each;
/// sixteen take one to two milliseconds, still short against the drift that interleaving spreads.
const BLOCK: usize = 16 / MIN_PER_PROCESS;

/// Processes of a case that are sampled at most, unless a precision was asked for that no interval has: the medians of more differ by what a run shares
/// (where processes come in two kinds, by how many of each there are this minute), and their interval would not say so.
const MOST_PROCESSES: usize = 4 * PROCESSES;

/// Who is told what sampling does. No sample is being taken while it listens to rounds and passes.
pub(crate) trait Watch {
    /// What a block of visits gave. Another one is being sampled meanwhile where there is a CPU for that.
    fn block(&mut self, entries: Vec<JournalEntry>);
    /// A round is over.
    fn round(&mut self, progress: Progress);
    /// A pass is over, and this is what there is by now.
    fn pass(&mut self, sampled: Sampled<'_>);
}

/// What sampling gave so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampled<'s> {
    pub(crate) all_progress: &'s [CaseProgress],
    /// What the throughput probes say of each quiet core.
    pub(crate) quiet: &'s QuietRates,
    /// Whether no other program could run on the core's other hardware threads.
    pub(crate) cores_alone: bool,
    /// Seconds that the hypervisor took; none where the kernel does not say.
    pub(crate) stolen_seconds: Option<f64>,
    /// How long it took, without the time in which the run stood still.
    pub(crate) time: Duration,
}

/// All cases with what samples them.
pub(crate) struct Schedule<'a> {
    pools: Vec<WorkerPool<'a>>,
    all_progress: Vec<CaseProgress>,
    budget: Budget,
    order: ChaCha8Rng,
    /// The CPUs that measure, each a case of its own; none where workers stay where they are.
    cpus: Vec<u32>,
    quiet: Quiet,
    stolen: Stolen,
    /// Passes that are over, and those that are made however long they take.
    passes: u32,
    /// The last wave of cases whose turn it is.
    wave: u32,
    least_passes: u32,
    /// The last pass's time divided by its samples. Waiting half as long for a quiet core is cheaper than taking
    /// another sample.
    sample_time: Duration,
    cores_alone: bool,
    /// Whether this process has a CPU that is not the only one that measures.
    has_room: bool,
    started: Instant,
    /// Time in which this process was stopped.
    away: Duration,
}

impl<'a> Schedule<'a> {
    pub(crate) fn new(
        source: &dyn Fn(usize, Tier) -> Source<'a>,
        mut all_progress: Vec<CaseProgress>,
        budget: Budget,
        start: &Start,
    ) -> Self {
        let mut keys: Vec<(usize, Tier)> =
            all_progress.iter().map(|t| t.subject.pool_key()).collect();
        keys.sort_unstable();
        keys.dedup();
        for progress in &mut all_progress {
            progress.pool = keys
                .binary_search(&progress.subject.pool_key())
                .expect("every progress's key is there");
        }
        let (cases, cpus) = (all_progress.len(), start.cpus.len());
        let drawn = CaseSettling::drawn(cases, budget.time, cpus, &mut unforeseen());
        for (progress, drawn) in all_progress.iter_mut().zip(drawn) {
            progress.settling.take_draw(&drawn);
        }
        let pool = |(i, &(library, tier)): (usize, &(usize, Tier))| {
            WorkerPool::new(source(library, tier), start.clone(), next_process(&all_progress, i))
        };
        let mut quiet = Quiet::new(&start.quiet);
        let stolen = Stolen::new(&measuring_cpus(&start.cpus, &all_progress));
        all_progress.iter().flat_map(|t| &t.samples).for_each(|s| quiet.learn(s));
        Self {
            pools: keys.iter().enumerate().map(pool).collect(),
            all_progress,
            budget,
            order: ChaCha8Rng::seed_from_u64(start.seed),
            cpus: start.cpus.clone(),
            quiet,
            stolen,
            passes: 0,
            wave: LAST,
            least_passes: 0,
            sample_time: Duration::ZERO,
            cores_alone: true,
            has_room: probe::allowed_cpus().iter().any(|cpu| start.cpus.first() != Some(cpu)),
            started: Instant::now(),
            away: Duration::ZERO,
        }
    }

    /// Makes so many passes however long they take.
    pub(crate) fn at_least(self, passes: u32) -> Self {
        Self { least_passes: passes, ..self }
    }

    /// Visits each case once, for no longer than all cases settle, with one process of each library.
    pub(crate) fn look(&mut self, stop: &Stop, watch: &mut dyn Watch) {
        self.all_progress.iter_mut().for_each(|p| p.settling = CaseSettling::default());
        watch.round(self.progress());
        self.new_processes(stop);
        let blocks = self.blocks();
        self.round(blocks, stop, watch);
        self.pools.iter_mut().for_each(WorkerPool::end);
    }

    /// Samples until every case has ended. `stop` ends it early.
    pub(crate) fn run(&mut self, stop: &Stop, watch: &mut dyn Watch) {
        self.started = Instant::now();
        // What an earlier part of the run has ended needs no more.
        self.judge();
        // The first processes take seconds to start where there are many libraries.
        watch.round(self.progress());
        let mut stopped = None;
        while stopped.is_none() && (self.unfinished().next().is_some() || self.reopen()) {
            stopped = self.one_pass(stop, watch);
        }
        self.judge();
        self.end_all(stopped.unwrap_or(Stopped::Precision));
    }

    /// What there is by now.
    pub(crate) fn sampled(&self) -> Sampled<'_> {
        Sampled {
            all_progress: &self.all_progress,
            quiet: self.quiet.rates(),
            cores_alone: self.cores_alone,
            stolen_seconds: self.stolen.seconds(),
            time: self.elapsed(),
        }
    }

    /// Keeps for later runs what this one saw of its quiet cores.
    pub(crate) fn keep_quiet(&self) {
        self.cpus.iter().for_each(|cpu| self.quiet.keep(*cpu));
    }

    fn taken(&self) -> u32 {
        self.all_progress.iter().map(|progress| progress.taken).sum()
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.away)
    }

    /// Why no more is to be sampled.
    fn is_over(&self, stop: &Stop) -> Option<Stopped> {
        if let Some(why) = stop.why() {
            return Some(why);
        }
        let is_spent = self.elapsed() >= self.budget.time && self.passes >= self.least_passes;
        is_spent.then_some(Stopped::Budget)
    }

    /// Goes on with cases that ended while the quiet rate was thought lower than it is: a run that
    /// begins on a busy core learns only later that its first samples were disturbed.
    fn reopen(&mut self) -> bool {
        let (quiet, precision) = (self.quiet.rates(), self.budget.precision);
        let mut reopened = false;
        for progress in &mut self.all_progress {
            let precise = progress.end == Some(End::Stopped(Stopped::Precision));
            if precise && !progress.is_precise(quiet, precision) {
                progress.end = None;
                reopened = true;
            }
        }
        reopened
    }

    fn unfinished(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.all_progress.len()).filter(|i| self.all_progress[*i].end.is_none())
    }

    /// Those of them that this pass samples.
    fn in_turn(&self) -> impl Iterator<Item = usize> + '_ {
        self.unfinished().filter(|i| self.all_progress[*i].wave() <= self.wave)
    }

    /// Samples the unfinished cases with a new process of each library; says why when it was cut short.
    fn one_pass(&mut self, stop: &Stop, watch: &mut dyn Watch) -> Option<Stopped> {
        self.follow_cpu();
        self.wave = self.next_wave(stop);
        let (begun, taken_before) = (self.elapsed(), self.taken());
        self.new_processes(stop);
        self.all_progress.iter_mut().for_each(|progress| progress.pass = Pass::default());
        loop {
            let blocks = self.blocks();
            if blocks.is_empty() {
                break;
            }
            let stopped = self.round(blocks, stop, watch);
            if stopped.is_some() {
                return stopped;
            }
            watch.round(self.progress());
        }
        // The next pass has new ones, and who listens may need the memory that these hold.
        self.pools.iter_mut().for_each(WorkerPool::end);
        let taken = (self.taken() - taken_before).max(1);
        self.sample_time = (self.elapsed() - begun) * self.cpus.len().max(1) as u32 / taken;
        self.judge();
        self.passes += 1;
        watch.pass(self.sampled());
        None
    }

    /// Of a run that has an end, the first cases whose turn it is are those that most ask for, until there is a
    /// number for each or too few samples count. Then all have, and after them those that wait.
    fn next_wave(&self, stop: &Stop) -> u32 {
        let open = || self.all_progress.iter().filter(|t| t.end.is_none());
        let without = open().filter(|t| t.is_awaited()).map(CaseProgress::wave).min();
        let in_hurry = open().map(CaseProgress::wave).filter(|wave| *wave != LAST).max();
        without.filter(|_| stop.left().is_some()).or(in_hurry).unwrap_or(LAST)
    }

    /// Measures on another CPU where one of those so far was taken offline or away from this process: workers
    /// could not go there. Each sample says where it was taken. Whether it is another one.
    fn follow_cpu(&mut self) -> bool {
        let Some(cpu) = self.cpus.iter().find_map(|cpu| another_cpu(*cpu)) else { return false };
        self.cpus = vec![cpu];
        self.stolen.watch(cpu);
        step_aside(cpu);
        self.pools.iter_mut().for_each(|pool| pool.measure_on(cpu));
        true
    }

    /// Replaces the worker process of each library that is still sampled, and ends the others'. They start side by
    /// side.
    fn new_processes(&mut self, stop: &Stop) {
        let wanted: BTreeSet<usize> = self.in_turn().map(|i| self.all_progress[i].pool).collect();
        self.pools.iter_mut().for_each(WorkerPool::end);
        for pool in &wanted {
            self.pools[*pool].launch();
        }
        for pool in &wanted {
            self.pools[*pool].greet(stop);
            self.cores_alone &= self.pools[*pool].core_alone();
        }
    }

    /// A round: every case that this pass still wants samples of, in random order, cut into blocks of
    /// one worker each, blocks shuffled.
    fn blocks(&mut self) -> Vec<Block> {
        let mut queues: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for i in self.in_turn().filter(|i| self.all_progress[*i].is_wanted()) {
            queues.entry(self.all_progress[i].pool).or_default().push(i);
        }
        let mut blocks = Vec::new();
        for (pool, mut queue) in queues {
            queue.shuffle(&mut self.order);
            blocks.extend(
                queue.chunks(BLOCK).map(|all_progress| Block::of(pool, all_progress.to_vec())),
            );
        }
        blocks.shuffle(&mut self.order);
        blocks
    }

    /// Ends a case without a number.
    fn found(&mut self, progress: usize, finding: Finding) -> JournalEntry {
        let progress = &mut self.all_progress[progress];
        let (case, state, reason) = (progress.index, finding.state, finding.why.clone());
        progress.end = Some(End::Found(finding));
        JournalEntry::Found(JournalFinding { case, state, reason })
    }

    fn take(&mut self, index: usize, result: VisitResult, stolen: bool) -> Vec<JournalEntry> {
        let (mut samples, mut latency, mut other) = match result {
            VisitResult::Settled(settling) => {
                self.all_progress[index].settling.settled(settling);
                return Vec::new();
            }
            VisitResult::Sample(sample) => (vec![sample], None, None),
            VisitResult::Taken { samples, latency, other } => (samples, latency, other),
            VisitResult::Ends { samples, facts } => {
                let facts = facts.map(|found| self.take_facts(index, *found));
                let samples = samples.into_iter().map(|s| self.take_ends(index, s, stolen));
                return facts.into_iter().chain(samples.collect::<Vec<_>>()).collect();
            }
            VisitResult::Finding(finding) => return vec![self.found(index, finding)],
        };
        let progress = &mut self.all_progress[index];
        let threads = progress.subject.threads();
        if samples.len() != threads as usize {
            let why = format!("{} samples of {threads} threads", samples.len());
            return vec![self.found(index, Finding::failed(why))];
        }
        let settled_us = progress.settling.latest_us();
        for sample in &mut samples {
            *sample = RawSample { stolen, settled_us, unsettled: false, ..*sample };
        }
        let mut settling = progress.settling.not_kept();
        progress.take(&samples, latency.clone());
        progress.take_other(&samples, other.as_ref());
        samples.iter().for_each(|s| self.quiet.learn(s));
        let quiet = self.quiet.rates();
        let visit = &of_visits(&samples, threads, quiet)[0];
        if visit.disturbance(quiet.of(visit.cpu)).is_none() {
            progress.count_clean();
            if progress.settling.believe() {
                progress.mark_unsettled();
            }
        }
        let case = progress.index;
        let beside =
            |i: usize| Some(OtherEnd { ticks: other.as_ref()?.ticks[i], ..OtherEnd::default() });
        let beside: Vec<Option<OtherEnd>> = (0..samples.len()).map(beside).collect();
        let entry = |(sample, beside)| JournalSample {
            case,
            sample,
            settling: settling.take(),
            latency: latency.take(),
            other: beside,
            other_latency: other.take().map(|other| other.latency),
        };
        samples.into_iter().zip(beside).map(entry).map(JournalEntry::Sample).collect()
    }

    fn take_facts(&mut self, index: usize, found: Found) -> JournalEntry {
        let facts = serde_json::to_value(&found).expect("facts are plain data");
        let progress = &mut self.all_progress[index];
        progress.facts.push(found);
        JournalEntry::Facts(JournalFacts { case: progress.index, facts })
    }

    fn take_ends(&mut self, index: usize, both: HandshakeSample, stolen: bool) -> JournalEntry {
        let settled_us = self.all_progress[index].settling.latest_us();
        let server = RawSample { stolen, settled_us, unsettled: false, ..both.server };
        let both = HandshakeSample { server, ..both };
        self.quiet.learn(&server);
        let quiet = self.quiet.rates().of(server.cpu);
        let progress = &mut self.all_progress[index];
        let settling = progress.settling.not_kept();
        progress.take_ends(both);
        if both.server_sample().disturbance(quiet).is_none() {
            progress.count_clean();
            if progress.settling.believe() {
                progress.mark_unsettled();
            }
        }
        let (case, other) = (progress.index, Some(both.other()));
        JournalEntry::Sample(JournalSample {
            case,
            sample: server,
            settling,
            latency: None,
            other,
            other_latency: None,
        })
    }

    /// Ends the cases that are precise enough. Each look is a chance to stop where an interval happens to be
    /// narrow, so there are few: after twelve processes, twice as many and four times as many, the last. The pilot's
    /// look ends none.
    fn judge(&mut self) {
        self.settle_longer();
        let quiet = self.quiet.rates();
        for progress in self.all_progress.iter_mut().filter(|t| t.end.is_none() && t.is_due()) {
            let judged = progress.judged(quiet).filter(|j| j.processes >= progress.next_look);
            let Some(Judged { processes, precision, .. }) = judged else { continue };
            let asked = self.budget.precision;
            let is_precise = precision <= progress.subject.precision(asked);
            progress.waits = is_precise && processes < PROCESSES;
            if !is_precise {
                progress.settling.doubt();
            }
            progress.next_look = progress.next_look.max(PROCESSES);
            if processes < PROCESSES {
                continue;
            }
            if is_precise {
                progress.end = Some(End::Stopped(Stopped::Precision));
            } else if processes >= MOST_PROCESSES && asked >= BETWEEN_RUNS {
                progress.end = Some(End::Stopped(Stopped::Scatter));
            }
            while progress.next_look <= processes {
                progress.next_look *= 2;
            }
        }
    }

    /// Has cases settle longer that need it: as processes that did so have shown, of the case itself, or of others of its
    /// library, algorithm, direction and model.
    fn settle_longer(&mut self) {
        let quiet = self.quiet.rates();
        let mut raised = Vec::new();
        let has_no_finding = |t: &&mut CaseProgress| !matches!(t.end, Some(End::Found(_)));
        for progress in self.all_progress.iter_mut().filter(has_no_finding).filter(|t| t.is_due()) {
            if progress.settling.compare(&progress.samples, quiet) {
                progress.mark_unsettled();
                progress.look_again();
                raised.push(progress.subject.track());
            }
        }
        let mut found: BTreeMap<Track, u32> = BTreeMap::new();
        for progress in &self.all_progress {
            let needs = progress.settling.found_us().unwrap_or(0);
            let most = found.entry(progress.subject.track()).or_default();
            *most = needs.max(*most);
        }
        let all = self.all_progress.iter().filter_map(|t| t.settling.found_us());
        let usual = usual_us(&mut all.collect::<Vec<_>>()).unwrap_or(0);
        for progress in &mut self.all_progress {
            let track = progress.subject.track();
            if raised.contains(&track) {
                progress.settling.check();
            }
            let others = found.get(&track).copied().filter(|us| *us > 0).unwrap_or(usual);
            if progress.settling.take_over(others) {
                progress.mark_unsettled();
            }
        }
    }

    fn end_all(&mut self, why: Stopped) {
        let quiet = self.quiet.rates();
        for progress in &mut self.all_progress {
            let is_complete = progress.judged(quiet).is_some_and(|judged| judged.is_complete);
            if !is_complete && progress.samples.iter().any(|s| s.unsettled) {
                // Better a number that says so than none.
                progress.settling.settle_for_less();
                progress.mark_unsettled();
            }
        }
        for progress in self.all_progress.iter_mut().filter(|t| t.end.is_none()) {
            progress.end = Some(End::Stopped(why));
        }
    }

    fn progress(&self) -> Progress {
        let cases = self.all_progress.len();
        let ended = self.all_progress.iter().filter(|t| t.end.is_some()).count();
        let fraction =
            self.all_progress.iter().map(CaseProgress::fraction).sum::<f64>() / cases.max(1) as f64;
        let (elapsed, budget) = (self.elapsed(), self.budget.time);
        let most = budget.saturating_sub(elapsed);
        let foreseen = elapsed.mul_f64((1.0 - fraction) / fraction.max(0.01));
        let left = if fraction < 0.01 { most } else { foreseen.min(most) };
        Progress { ended, cases, fraction, left }
    }
}

/// Every CPU that measures.
fn measuring_cpus(own: &[u32], all_progress: &[CaseProgress]) -> Vec<u32> {
    let of_threads = all_progress.iter().flat_map(|t| t.subject.cpus().iter().copied());
    let mut cpus: Vec<u32> = own.iter().copied().chain(of_threads).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// The first process number that no earlier sample of the pool has.
fn next_process(all_progress: &[CaseProgress], pool: usize) -> u32 {
    let own = all_progress.iter().filter(|t| t.pool == pool);
    own.flat_map(|t| &t.samples).map(|s| s.process + 1).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
