//! What runs when. Cases are gone through in passes, each with a new process of every library; a pass visits all
//! unfinished cases in interleaved rounds, in random order. A round gives blocks of visits to every measuring CPU at
//! once. When all have had the passes that a look needs, those that are not precise enough get more, until the time is up.

use crate::cpus::{Quiet, Stolen, another_cpu, step_aside};
use crate::kinds::{self, Judged, PROCESSES, Pass, Track};
use crate::plan::Budget;
use crate::pool::{Source, Start, WorkerPool};
use crate::process::{Worker, WorkerError, first_to_say, out_of_protocol};
use crate::progress::{CaseProgress, CaseSettling, End, LAST, Progress, unforeseen, usual_us};
use crate::protocol::{Finding, QuietCore, Reply, VisitResult};
use crate::race::Race;
use crate::time::{Stop, Suspend};
use base::analysis::{BETWEEN_RUNS, MIN_PER_PROCESS, of_visits};
use base::model::{OtherEnd, QuietRates, RawSample, Tier};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use record::tls::{Found, HandshakeSample};
use record::{JournalEntry, JournalFacts, JournalFinding, JournalSample, Stopped};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
    fn round(&mut self, progress: Progress);
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
    /// Which cases need not be measured to the end.
    race: Option<Race>,
    /// The last pass's time divided by its samples. Waiting half as long for a quiet core is cheaper than taking
    /// another sample.
    sample_time: Duration,
    cores_alone: bool,
    /// Whether this process has a CPU that is not the only one that measures.
    has_room: bool,
    started: Instant,
    /// The part of the work that an earlier part of the run has done.
    done_before: f64,
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
            race: None,
            sample_time: Duration::ZERO,
            cores_alone: true,
            has_room: probe::allowed_cpus().iter().any(|cpu| start.cpus.first() != Some(cpu)),
            started: Instant::now(),
            done_before: 0.0,
            away: Duration::ZERO,
        }
    }

    /// Makes so many passes however long they take.
    pub(crate) fn at_least(self, passes: u32) -> Self {
        Self { least_passes: passes, ..self }
    }

    pub(crate) fn racing(self, race: Option<Race>) -> Self {
        Self { race, ..self }
    }

    /// Visits each case once, for one rough sample, with one process of each library.
    pub(crate) fn look(&mut self, stop: &Stop, watch: &mut dyn Watch) {
        self.all_progress.iter_mut().for_each(|p| p.is_rough = true);
        watch.round(self.progress());
        self.new_processes(stop);
        let blocks = self.blocks();
        self.round(blocks, stop, watch);
        self.pools.iter_mut().for_each(WorkerPool::end);
    }

    /// Samples until every case has ended. `stop` ends it early.
    pub(crate) fn run(&mut self, stop: &Stop, watch: &mut dyn Watch) {
        self.begin();
        // The first processes take seconds to start where there are many libraries.
        watch.round(self.progress());
        let mut stopped = None;
        while stopped.is_none() && (self.unfinished().next().is_some() || self.reopen()) {
            stopped = self.one_pass(stop, watch);
        }
        self.judge();
        self.end_all(stopped.unwrap_or(Stopped::Precision));
    }

    fn begin(&mut self) {
        self.started = Instant::now();
        // What an earlier part of the run has ended needs no more.
        self.judge();
        self.done_before = self.progress().fraction;
    }

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
            // What the hypervisor takes in seconds is no other case's loss.
            let is_large = |i: &usize| self.all_progress[*i].subject.is_large();
            let (large, others): (Vec<usize>, Vec<usize>) = queue.into_iter().partition(is_large);
            let of_one = large.chunks(1);
            let cases = others.chunks(BLOCK).chain(of_one);
            blocks.extend(cases.map(|cases| Block::of(pool, cases.to_vec())));
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
        let (case, other) = (progress.index, Some(both.other));
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
        self.end_race();
    }

    fn end_race(&mut self) {
        let Some(race) = &self.race else { return };
        for out in race.out(&self.all_progress, self.quiet.rates()) {
            self.all_progress[out].end = Some(End::Stopped(Stopped::Screened));
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
        let most = self.budget.time.saturating_sub(self.elapsed());
        let left = time_left(self.elapsed(), fraction - self.done_before, 1.0 - fraction).min(most);
        Progress { ended, cases, fraction, left }
    }
}

/// What the rest of the work takes, where so much took so long: without end where it cannot be foreseen yet.
fn time_left(elapsed: Duration, done: f64, rest: f64) -> Duration {
    /// Less says nothing of the rest.
    const LEAST: f64 = 0.01;
    if done < LEAST { Duration::MAX } else { elapsed.mul_f64(rest / done) }
}

fn measuring_cpus(own: &[u32], all_progress: &[CaseProgress]) -> Vec<u32> {
    let of_threads = all_progress.iter().flat_map(|t| t.subject.cpus().iter().copied());
    let mut cpus: Vec<u32> = own.iter().copied().chain(of_threads).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn next_process(all_progress: &[CaseProgress], pool: usize) -> u32 {
    let own = all_progress.iter().filter(|t| t.pool == pool);
    own.flat_map(|t| &t.samples).map(|s| s.process + 1).max().unwrap_or(0)
}

// A round: blocks of visits, each of one worker, on every measuring CPU at once. Which CPU takes which block hangs on
// who is free, so a case's processes are spread over the CPUs by chance.

const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Visits of one worker's cases, in a row.
struct Block {
    pool: usize,
    cases: Vec<usize>,
    /// Whether it is asked for once more, because its worker was killed.
    again: bool,
}

struct Asked {
    block: Block,
    /// Where it measures; none where workers stay where they are.
    cpu: Option<u32>,
    /// CPUs whose lost time is its samples'; none for all of the run.
    looked_at: Vec<u32>,
    /// Longest wait for the reply, if it could be asked.
    deadline: Result<Duration, WorkerError>,
    before: Before,
}

/// What a block's samples may meet without seeing it, as it was when they were asked for.
struct Before {
    begun: Instant,
    stolen: u64,
    suspend: Suspend,
    /// Time in which this process was stopped.
    away: Duration,
}

type Answer = Result<(Vec<Vec<VisitResult>>, bool), WorkerError>;

impl Schedule<'_> {
    fn round(&mut self, blocks: Vec<Block>, stop: &Stop, watch: &mut dyn Watch) -> Option<Stopped> {
        let mut blocks = VecDeque::from(blocks);
        let mut asked: Vec<Asked> = Vec::new();
        loop {
            let over = self.is_over(stop);
            while over.is_none() && asked.len() < self.cpus.len().max(1) {
                let Some(next) = self.next(&mut blocks, &asked, stop) else { break };
                asked.push(next);
            }
            if asked.is_empty() {
                return over;
            }
            let first = asked.remove(self.first_to_answer(&asked, stop));
            let answer = self.hear(&first, stop);
            // The CPU need not wait for what follows, where that runs on another.
            if answer.is_ok() && self.has_room && self.is_over(stop).is_none() {
                asked.extend(self.next(&mut blocks, &asked, stop));
            }
            watch.block(self.take_block(first, answer, stop));
        }
    }

    /// Asks for the first block whose worker has nothing to do, on a CPU that has nothing to do.
    fn next(
        &mut self,
        blocks: &mut VecDeque<Block>,
        asked: &[Asked],
        stop: &Stop,
    ) -> Option<Asked> {
        let is_free = |b: &Block| asked.iter().all(|asked| asked.block.pool != b.pool);
        let block = blocks.remove(blocks.iter().position(is_free)?)?;
        let is_idle = |cpu: &u32| asked.iter().all(|asked| asked.cpu != Some(*cpu));
        let cpu = self.cpus.iter().copied().find(is_idle);
        Some(self.ask(block, cpu, stop))
    }

    /// Waits until one of those that were asked has answered, or does not: its place.
    fn first_to_answer(&mut self, asked: &[Asked], stop: &Stop) -> usize {
        if let Some(failed) = asked.iter().position(|asked| asked.deadline.is_err()) {
            return failed;
        }
        let workers: Vec<&Worker> =
            asked.iter().filter_map(|asked| self.pools[asked.block.pool].asked()).collect();
        if workers.len() < 2 {
            return 0;
        }
        let (first, away) = first_to_say(&workers, stop);
        self.away += away;
        first
    }

    fn ask(&mut self, block: Block, cpu: Option<u32>, stop: &Stop) -> Asked {
        // Before it is looked at what else happens: what is lost while processes are started is no sample's loss.
        let started = self.pools[block.pool].worker(stop).map(|_| ());
        // Several threads measure on CPUs of their own, and then nothing else does.
        let looked_at = if self.cpus.len() > 1 { cpu.into_iter().collect() } else { Vec::new() };
        let stolen = self.stolen.of(&looked_at);
        let begun = Instant::now();
        let before = Before { begun, stolen, suspend: Suspend::new(), away: self.away };
        let deadline = started.and_then(|()| self.send(&block, cpu, stop));
        Asked { block, cpu, looked_at, deadline, before }
    }

    fn send(
        &mut self,
        block: &Block,
        cpu: Option<u32>,
        stop: &Stop,
    ) -> Result<Duration, WorkerError> {
        let worker = self.pools[block.pool].worker(stop)?;
        if let Some(cpu) = cpu.filter(|_| self.cpus.len() > 1)
            && worker.move_to(cpu).is_err()
        {
            // It measures where it is, and the others with it from now on.
            self.cpus.truncate(1);
        }
        worker.stood_still();
        let (all_progress, pass) = (&mut self.all_progress, self.passes);
        let visits = block.cases.iter().map(|i| all_progress[*i].visit(pass)).collect();
        let on = cpu.or_else(|| self.cpus.first().copied());
        let rate = on.map_or(0.0, |cpu| self.quiet.rates().of(cpu));
        let most_microseconds = (self.sample_time / 2).min(LONGEST_WAIT).as_micros() as u32;
        worker.send(&kinds::request(visits, QuietCore { rate, most_microseconds }));
        Ok(block.cases.iter().map(|i| self.all_progress[*i].deadline()).sum())
    }

    fn is_large(&self, block: &Block) -> bool {
        block.cases.iter().any(|i| self.all_progress[*i].subject.is_large())
    }

    fn hear(&mut self, asked: &Asked, stop: &Stop) -> Answer {
        let answer = match &asked.deadline {
            Ok(deadline) => self.hear_within(asked, *deadline, stop),
            Err(error) => Err(error.clone()),
        };
        if answer.is_err() {
            self.pools[asked.block.pool].end();
        }
        answer
    }

    fn hear_within(&mut self, asked: &Asked, deadline: Duration, stop: &Stop) -> Answer {
        let worker = self.pools[asked.block.pool].worker(stop)?;
        let reply = worker.reply_unless(stop, deadline);
        let (away, stood_still) = (worker.take_away(), worker.stood_still());
        self.away += away;
        let Before { begun, stolen, suspend, away } = &asked.before;
        let lost = self.stolen.of(&asked.looked_at).saturating_sub(*stolen);
        let stolen = is_stolen(lost, begun.elapsed(), self.is_large(&asked.block));
        let taken = stolen || suspend.clone().advanced() || stood_still || self.away > *away;
        match reply? {
            Reply::Samples { results } if results.len() == asked.block.cases.len() => {
                Ok((results, taken))
            }
            other => Err(out_of_protocol(&other)),
        }
    }

    /// What came of a block. When the worker is lost in a block of several, each visit is tried again alone:
    /// the one that is lost again is the one at fault.
    fn take_block(&mut self, asked: Asked, answer: Answer, stop: &Stop) -> Vec<JournalEntry> {
        let Asked { block, cpu, .. } = asked;
        match answer {
            Ok((results, stolen)) => {
                let mut entries = Vec::new();
                for (i, results) in block.cases.iter().zip(results) {
                    for result in results {
                        entries.extend(self.take(*i, result, stolen));
                    }
                }
                entries
            }
            Err(WorkerError::Interrupted) => Vec::new(),
            // From outside: that is no fault of what it was asked.
            Err(WorkerError::Killed(_)) if !block.again => {
                self.visit(Block { again: true, ..block }, cpu, stop)
            }
            // Taken away between the pass's beginning and the worker's.
            Err(WorkerError::Unusable(_)) if self.follow_cpu() => {
                let cpu = self.cpus.first().copied();
                self.visit(block, cpu, stop)
            }
            Err(error) => {
                if let [only] = block.cases[..] {
                    return vec![self.found(only, Finding::failed(error.to_string()))];
                }
                let alone = |progress: &usize| Block::of(block.pool, vec![*progress]);
                let alone: Vec<Block> = block.cases.iter().map(alone).collect();
                alone.into_iter().flat_map(|block| self.visit(block, cpu, stop)).collect()
            }
        }
    }

    fn visit(&mut self, block: Block, cpu: Option<u32>, stop: &Stop) -> Vec<JournalEntry> {
        let asked = self.ask(block, cpu, stop);
        let answer = self.hear(&asked, stop);
        self.take_block(asked, answer, stop)
    }
}

/// The share of a large message's visit that may be lost: a step of the kernel's count, ten milliseconds, is lost in
/// most seconds of a shared machine, and of a visit's seconds its samples are a small part.
const MOST_STOLEN: f64 = 0.01;

/// Whether what was lost meanwhile, in the kernel's steps, may be the samples'.
fn is_stolen(lost: u64, time: Duration, is_large: bool) -> bool {
    let seconds = lost as f64 / host::ticks_per_second() as f64;
    lost > 0 && !(is_large && seconds <= time.as_secs_f64() * MOST_STOLEN)
}

impl Block {
    fn of(pool: usize, cases: Vec<usize>) -> Self {
        Self { pool, cases, again: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{Message, PILOT, Subject, Tls};
    use crate::libraries::Attached;
    use crate::plan::Setting;
    use base::model::Case;

    fn case_at(library: usize, size: usize, tier: Tier) -> CaseProgress {
        let algorithm = "aes-128-ctr".to_owned();
        let case = Case { library, algorithm, size, tier, threads: 1, ..Case::default() };
        CaseProgress::new(0, Subject::Message(Message::new(case, Setting::default())))
    }

    fn progress(library: usize, size: usize) -> CaseProgress {
        case_at(library, size, Tier::Native)
    }

    fn schedule(
        libraries: &[Attached],
        all_progress: Vec<CaseProgress>,
        seed: u64,
    ) -> Schedule<'_> {
        let source = |library: usize, tier| Source::Library(&libraries[library], tier);
        Schedule::new(&source, all_progress, BUDGET, &start(seed))
    }

    fn attached() -> Attached {
        let facts = record::Library {
            name: "l".into(),
            version: "1".into(),
            path: String::new(),
            id: String::new(),
            ..record::Library::default()
        };
        Attached { facts, ..Attached::default() }
    }

    fn start(seed: u64) -> Start {
        Start { cpus: Vec::new(), seed, ticks_per_ns: None, quiet: QuietRates::default() }
    }

    const BUDGET: Budget = Budget { precision: 0.01, time: Duration::from_secs(1) };

    #[test]
    fn every_later_batch_is_as_long_as_the_first_or_a_part_of_that() {
        let asked = |case: &mut CaseProgress| match case.visit(0) {
            kinds::Visit::Message(visit) => visit.ops,
            _ => unreachable!("the case has messages"),
        };
        let mut case = progress(0, 16);
        assert_eq!(asked(&mut case), None);
        for ops in [960, 320, 960] {
            case.take(&[RawSample { ops, ..RawSample::default() }], None);
            assert_eq!(asked(&mut case), Some(960));
        }
    }

    #[test]
    fn a_round_visits_every_case_once_that_the_pass_wants_samples_of() {
        let libraries = [attached(), attached()];
        let mut all_progress: Vec<CaseProgress> =
            (0..100).map(|i| progress(i % 2, i + 1)).collect();
        all_progress[7].end = Some(End::Stopped(Stopped::Precision));
        all_progress[8].pass.clean = MIN_PER_PROCESS;
        all_progress[9].pass.taken = 2 * MIN_PER_PROCESS as u32;
        let mut schedule = schedule(&libraries, all_progress, 1);
        let blocks = schedule.blocks();
        let mut seen: Vec<usize> = blocks.iter().flat_map(|b| b.cases.clone()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..100).filter(|i| ![7, 8, 9].contains(i)).collect::<Vec<_>>());
        assert!(blocks.iter().all(|b| b.cases.iter().all(|i| i % 2 == b.pool)));
        assert!(blocks.iter().all(|b| b.cases.len() <= BLOCK));
    }

    #[test]
    fn a_case_whose_operation_is_a_sample_has_a_block_of_its_own() {
        let libraries = [attached()];
        let sizes = [1 << 10, 16 << 20, 64 << 20, 256 << 20];
        let all_progress = sizes.iter().map(|size| progress(0, *size)).collect();
        let blocks = schedule(&libraries, all_progress, 1).blocks();
        let of = |case: usize| blocks.iter().find(|b| b.cases.contains(&case)).unwrap();
        assert_eq!([0, 1, 2, 3].map(|case| of(case).cases.len()), [2, 2, 1, 1]);
    }

    #[test]
    fn the_time_left_is_not_told_by_what_an_earlier_part_of_the_run_has_done() {
        let libraries = [attached()];
        let mut half_done = progress(0, 16);
        (0..PROCESSES).for_each(|_| half_done.count_clean());
        let mut schedule = schedule(&libraries, vec![half_done], 1);
        schedule.budget.time = Duration::from_secs(3600);
        schedule.begin();
        let Progress { fraction, left, .. } = schedule.progress();
        assert!(fraction > 0.4 && left > Duration::from_secs(3000), "{fraction} {left:?}");
        schedule.all_progress[0].end = Some(End::Stopped(Stopped::Precision));
        assert!(schedule.progress().left < Duration::from_secs(1), "all is done");
    }

    #[test]
    fn a_step_of_stolen_time_is_a_short_blocks_and_a_share_of_it_a_large_messages() {
        let (step, seconds) = (host::ticks_per_second(), Duration::from_secs(4));
        assert!(is_stolen(1, seconds, false) && !is_stolen(0, seconds, false));
        assert!(!is_stolen(1, seconds, true));
        assert!(is_stolen(step / 10, seconds, true), "a tenth of a second of four");
    }

    #[test]
    fn no_worker_samples_cases_of_two_tiers() {
        let tier = |i| if i < 5 { Tier::Native } else { Tier::Noaes };
        let all_progress: Vec<CaseProgress> = (0..8).map(|i| case_at(0, i + 1, tier(i))).collect();
        let libraries = [attached()];
        let mut schedule = schedule(&libraries, all_progress, 1);
        assert_eq!(schedule.pools.len(), 2);
        for Block { pool, cases, .. } in schedule.blocks() {
            assert!(cases.iter().all(|i| (*i >= 5) == (pool == 1)), "{pool} {cases:?}");
        }
    }

    #[test]
    fn the_order_comes_from_the_seed() {
        let libraries = [attached()];
        let order = |seed| {
            let all_progress = (0..50).map(|i| progress(0, i + 1)).collect();
            let blocks = schedule(&libraries, all_progress, seed).blocks();
            blocks.into_iter().map(|block| block.cases).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    /// Two clean samples of each process, of so many ticks.
    fn sampled(progress: CaseProgress, ticks: impl Fn(u32) -> u64, processes: u32) -> CaseProgress {
        let sample = |process| base::model::fixtures::sample(process, ticks(process), 1.0);
        let twice = |process| [sample(process), sample(process)];
        (0..processes).flat_map(twice).fold(progress, |mut progress, sample| {
            progress.take(&[sample], None);
            progress
        })
    }

    #[test]
    fn after_nine_processes_the_imprecise_go_first_and_after_twelve_the_precise_end() {
        let libraries = [attached()];
        let scattered = |process: u32| 10_000 + 500 * u64::from(process % 3);
        let after = |processes| {
            let precise = sampled(progress(0, 1), |_| 10_000, processes);
            let imprecise = sampled(progress(0, 2), scattered, processes);
            let mut schedule = schedule(&libraries, vec![precise, imprecise], 1);
            schedule.judge();
            schedule.wave = schedule.next_wave(&Stop::default());
            let has_ended = schedule.all_progress.iter().any(|t| t.end.is_some());
            (schedule.in_turn().collect::<Vec<_>>(), has_ended)
        };
        assert_eq!(after(8), (vec![0, 1], false));
        assert_eq!(after(9), (vec![1], false));
        assert_eq!(after(12), (vec![1], true));
    }

    #[test]
    fn a_sample_that_does_not_count_is_no_progress() {
        let libraries = [attached()];
        let disturbed = sampled(progress(0, 1), |_| 10_000, 12);
        let mut clean = disturbed.clone();
        (0..12).for_each(|_| clean.count_clean());
        let schedule = schedule(&libraries, vec![disturbed, clean], 1);
        assert!((schedule.progress().fraction - 0.5 * 0.9 * 0.5).abs() < 1e-9);
    }

    #[test]
    fn where_no_sample_counts_later_waves_have_their_turn_all_the_same() {
        let libraries = [attached()];
        let handshake = |exchange| {
            let case = record::tls::Case {
                version: record::tls::Version::Tls13,
                exchange,
                certificate: record::tls::Certificate::P256,
                kind: record::tls::Kind::Full,
                client_auth: false,
                suite: record::tls::Suite::Aes128Gcm,
            };
            let subject = record::tls::Subject::Handshake(case);
            let temperature = record::tls::Temperature::Hot;
            CaseProgress::new(0, Subject::Tls(Tls { stack: 0, subject, temperature, turn: None }))
        };
        let in_turn = |processes: u32| {
            let [usual, other] =
                [record::tls::Exchange::X25519, record::tls::Exchange::P256].map(handshake);
            let usual = sampled(usual, |_| 10_000, processes);
            let mut schedule = schedule(&libraries, vec![usual, other], 1);
            schedule.wave = schedule.next_wave(&Stop::default().within(Duration::from_secs(3600)));
            schedule.in_turn().count()
        };
        let enough = 2 * PILOT as u32;
        assert_eq!((in_turn(enough - 1), in_turn(enough)), (1, 2));
    }

    #[test]
    fn cases_that_wait_have_their_turn_when_nobody_else_is_left() {
        let libraries = [attached()];
        let both = [1, 2].map(|size| sampled(progress(0, size), |_| 10_000, 9));
        let mut schedule = schedule(&libraries, both.to_vec(), 1);
        schedule.judge();
        schedule.wave = schedule.next_wave(&Stop::default());
        assert!(schedule.all_progress.iter().all(|t| t.waits && t.end.is_none()));
        assert_eq!(schedule.in_turn().count(), 2);
    }

    #[test]
    fn a_case_that_longer_settling_made_cheaper_is_sampled_again_and_one_with_a_finding_is_not() {
        let libraries = [attached()];
        let is_longer = |process: u32| process % 2 == 1;
        let mut precise =
            sampled(progress(0, 1), |process| if is_longer(process) { 9_000 } else { 10_000 }, 14);
        for sample in &mut precise.samples {
            sample.settled_us = if is_longer(sample.process) { 400 } else { 100 };
        }
        precise.end = Some(End::Stopped(Stopped::Precision));
        let refused = End::Found(Finding::refused("a wrong byte"));
        let mut without = precise.clone();
        without.end = Some(refused.clone());
        let mut schedule = schedule(&libraries, vec![precise, without], 1);
        schedule.judge();
        let [precise, without] = &schedule.all_progress[..] else { panic!("two cases") };
        assert_eq!(precise.end, None);
        assert!(precise.settling.needed_us() > 100);
        let unsettled = precise.samples.iter().filter(|s| s.unsettled).map(|s| s.process);
        assert!(
            unsettled.clone().count() > 0 && unsettled.clone().all(|process| !is_longer(process))
        );
        assert_eq!(without.end, Some(refused));
    }
}
