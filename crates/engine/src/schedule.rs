//! What runs when: interleaved rounds over all unfinished cases, in random order, across all
//! worker processes, until each case is precise enough or the time is up.

use crate::bank::{Bank, Start};
use crate::discover::Attached;
use crate::link::WorkerError;
use crate::plan::Budget;
use crate::process::out_of_protocol;
use crate::protocol::{Finding, Reply, Request, Visit, VisitResult};
use crate::quiet::Quiet;
use crate::setting::Setting;
use crate::stolen::Stolen;
use analysis::{MIN_PER_PROCESS, MIN_PROCESSES, of_visits, summarise};
use model::{Case, QuietRates, RawSample, Tier};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use record::{JournalSample, Latencies, Stopped};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Visits of one worker in a row. One would cost a wake-up of another process for every sample;
/// sixteen take one to two milliseconds, still short against the drift that interleaving spreads.
const BLOCK: usize = 16;

/// Clean samples of a case that a worker process gives before it is replaced, on average: those that
/// it needs at least, and two more because some cases get fewer than the average.
const GENERATION_SAMPLES: usize = MIN_PER_PROCESS + 2;

/// What is told of every block of samples, with each sample's case.
pub(crate) type Log<'a> = dyn FnMut(Vec<JournalSample>) + 'a;

/// A case on its way.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// Index of the case in the plan.
    pub(crate) index: usize,
    pub(crate) case: Case,
    /// Index of the processes that sample it: those of its library at its tier.
    bank: usize,
    pub(crate) samples: Vec<RawSample>,
    pub(crate) end: Option<End>,
    /// Single operations, of each visit that timed some.
    pub(crate) latencies: Vec<Latencies>,
    pub(crate) setting: Setting,
    ops: Option<u32>,
    visits: u32,
    /// Clean samples since the worker processes were started.
    clean: usize,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stopped(Stopped),
    Found(Finding),
}

impl Track {
    /// A case to sample, with what an earlier part of the run has of it.
    pub(crate) fn new(index: usize, case: Case, setting: Setting) -> Self {
        Self {
            index,
            case,
            bank: 0,
            samples: Vec::new(),
            end: None,
            latencies: Vec::new(),
            setting,
            ops: None,
            visits: 0,
            clean: 0,
        }
    }

    /// With what an earlier part of the run has of it. A visit of several threads that was cut off
    /// does not count.
    pub(crate) fn continued(mut self, earlier: Vec<JournalSample>) -> Self {
        let threads = self.case.threads.max(1) as usize;
        let whole = earlier.len() / threads * threads;
        for entry in earlier.into_iter().take(whole) {
            self.samples.push(entry.sample);
            self.latencies.extend(entry.latency);
        }
        self.ops = self.samples.first().map(|s| s.ops);
        self.visits = (whole / threads) as u32;
        self
    }

    /// One sample for each visit, whatever the number of threads.
    pub(crate) fn of_visits(&self, quiet: &QuietRates) -> Cow<'_, [RawSample]> {
        of_visits(&self.samples, self.case.threads, quiet)
    }

    fn bank_key(&self) -> (usize, Tier) {
        (self.case.library, self.case.tier)
    }

    pub(crate) fn visit(&self) -> Visit {
        Visit {
            algorithm: self.case.algorithm.clone(),
            direction: self.case.direction,
            model: self.case.model,
            size: self.case.size,
            footprint: self.case.footprint,
            in_place: self.case.in_place,
            walk_bytes: self.setting.walk_bytes,
            cpus: self.setting.cpus.clone(),
            latency_ops: self.setting.latency_ops,
            ops: self.ops,
        }
    }

    /// Every later batch has as many operations as this one.
    pub(crate) fn freeze(&mut self, sample: &RawSample) {
        self.ops = Some(sample.ops);
    }

    fn take(&mut self, samples: &[RawSample], latency: Option<Latencies>) {
        samples.iter().for_each(|sample| self.freeze(sample));
        self.visits += 1;
        self.samples.extend(samples);
        self.latencies.extend(latency);
    }

    /// Longest wait for a sample of this case. The slowest software known does some megabytes a
    /// second, and calibration, warm-up, reference and sample are some ten operations in each thread;
    /// memory to walk through is filled at some hundred megabytes a second where it is scattered.
    pub(crate) fn deadline(&self) -> Duration {
        let threads = u64::from(self.case.threads.max(1));
        let walked = self.setting.walk_bytes.unwrap_or(0) as u64;
        let (operations, filling) = (8 * self.case.size as u64 * threads, walked * threads / 20);
        Duration::from_secs(3) + Duration::from_micros(operations + filling)
    }
}

/// How far sampling is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Cases that have ended.
    pub ended: usize,
    /// Cases in all.
    pub cases: usize,
    /// The part of the work that is done, as far as it can be foreseen.
    pub fraction: f64,
    /// Time that is left, likewise.
    pub left: Duration,
}

/// What sampling gave.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) tracks: Vec<Track>,
    /// What the throughput probes say of each quiet core.
    pub(crate) quiet: QuietRates,
    /// Whether no other program could run on the core's other hardware threads.
    pub(crate) cores_alone: bool,
    /// Seconds that the hypervisor took; none where the kernel does not say.
    pub(crate) stolen_seconds: Option<f64>,
}

/// All cases with what samples them.
pub(crate) struct Schedule<'a> {
    banks: Vec<Bank<'a>>,
    tracks: Vec<Track>,
    budget: Budget,
    order: ChaCha8Rng,
    round: u32,
    quiet: Quiet,
    stolen: Stolen,
    cores_alone: bool,
    started: Instant,
}

impl<'a> Schedule<'a> {
    pub(crate) fn new(
        libraries: &'a [Attached],
        mut tracks: Vec<Track>,
        budget: Budget,
        start: &Start,
    ) -> Self {
        let mut keys: Vec<(usize, Tier)> = tracks.iter().map(Track::bank_key).collect();
        keys.sort_unstable();
        keys.dedup();
        for track in &mut tracks {
            track.bank = keys.binary_search(&track.bank_key()).expect("every track's key is there");
        }
        let bank = |(i, &(library, tier)): (usize, &(usize, Tier))| {
            Bank::new(&libraries[library], tier, start.clone(), next_process(&tracks, i))
        };
        let mut quiet = Quiet::new(&start.quiet);
        let stolen = Stolen::new(&measuring_cpus(start.cpu, &tracks));
        tracks.iter().flat_map(|t| &t.samples).for_each(|s| quiet.add(s.cpu, s.probe()));
        Self {
            banks: keys.iter().enumerate().map(bank).collect(),
            tracks,
            budget,
            order: ChaCha8Rng::seed_from_u64(start.seed),
            round: 0,
            quiet,
            stolen,
            cores_alone: true,
            started: Instant::now(),
        }
    }

    /// Samples until every case has ended. `stop` ends it early; `progress` is told after each
    /// round.
    pub(crate) fn run(
        mut self,
        stop: &AtomicBool,
        log: &mut Log<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Sampled {
        self.started = Instant::now();
        loop {
            let stopped = self.one_round(stop, log);
            self.judge();
            if let Some(why) = stopped {
                self.end_all(why);
            }
            progress(self.progress());
            let ended = self.tracks.iter().all(|t| t.end.is_some());
            if ended && (stopped.is_some() || !self.reopen()) {
                let stolen_seconds = self.stolen.seconds();
                let quiet = self.quiet.rates().clone();
                let cores_alone = self.cores_alone;
                return Sampled { tracks: self.tracks, quiet, cores_alone, stolen_seconds };
            }
        }
    }

    /// Goes on with cases that ended while the quiet rate was thought lower than it is: a run that
    /// begins on a busy core learns only later that its first samples were disturbed.
    fn reopen(&mut self) -> bool {
        let (quiet, precision) = (self.quiet.rates(), self.budget.precision);
        let mut reopened = false;
        for track in &mut self.tracks {
            let precise = track.end == Some(End::Stopped(Stopped::Precision));
            if precise && !is_precise(&track.of_visits(quiet), quiet, precision) {
                track.end = None;
                reopened = true;
            }
        }
        reopened
    }

    /// Visits every unfinished case once; says why when it was cut short.
    fn one_round(&mut self, stop: &AtomicBool, log: &mut Log<'_>) -> Option<Stopped> {
        self.renew_processes();
        for (bank, place, block) in self.blocks() {
            if stop.load(Ordering::Relaxed) {
                return Some(Stopped::Interrupted);
            }
            if self.started.elapsed() >= self.budget.time {
                return Some(Stopped::Budget);
            }
            log(self.visit_block(bank, place, &block));
        }
        self.round += 1;
        None
    }

    /// Replaces all worker processes when they have given enough clean samples of the cases that are
    /// left, so that a case which is not precise by then meets new memory layouts.
    fn renew_processes(&mut self) {
        let left = self.tracks.iter().filter(|t| t.end.is_none());
        let (cases, clean) = left.fold((0, 0), |(n, sum), t| (n + 1, sum + t.clean));
        if self.round > 0 && clean < cases * MIN_PROCESSES * GENERATION_SAMPLES {
            return;
        }
        self.tracks.iter_mut().for_each(|t| t.clean = 0);
        for (index, bank) in self.banks.iter_mut().enumerate() {
            let mut own = self.tracks.iter().filter(|t| t.bank == index);
            let wanted = own.any(|t| t.end.is_none());
            bank.renew(wanted);
            self.cores_alone &= !wanted || bank.cores_alone();
        }
    }

    /// This round's visits in random order, cut into blocks of one worker each, blocks shuffled.
    /// A case moves on to the next process of its bank every round.
    fn blocks(&mut self) -> Vec<(usize, usize, Vec<usize>)> {
        let mut queues = vec![vec![Vec::new(); MIN_PROCESSES]; self.banks.len()];
        for (i, track) in self.tracks.iter().enumerate().filter(|(_, t)| t.end.is_none()) {
            queues[track.bank][(self.round as usize + i) % MIN_PROCESSES].push(i);
        }
        let mut blocks = Vec::new();
        for (bank, places) in queues.into_iter().enumerate() {
            for (place, mut queue) in places.into_iter().enumerate() {
                queue.shuffle(&mut self.order);
                blocks.extend(queue.chunks(BLOCK).map(|b| (bank, place, b.to_vec())));
            }
        }
        blocks.shuffle(&mut self.order);
        blocks
    }

    /// Visits a block of one worker's cases; what came of it. When the worker is lost in a block of
    /// several, each visit is tried again alone: the one that is lost again is the one at fault.
    fn visit_block(&mut self, bank: usize, place: usize, block: &[usize]) -> Vec<JournalSample> {
        // What was stolen before, while processes were started, is no sample's loss.
        self.stolen.advanced();
        match self.ask(bank, place, block) {
            Ok(results) => {
                let stolen = self.stolen.advanced();
                let taken = block.iter().zip(results);
                taken.flat_map(|(i, result)| self.take(*i, result, stolen)).collect()
            }
            Err(error) => {
                self.banks[bank].drop_worker(place);
                if let [only] = block {
                    self.tracks[*only].end = Some(End::Found(Finding::failed(error.to_string())));
                    return Vec::new();
                }
                block.chunks(1).flat_map(|visit| self.visit_block(bank, place, visit)).collect()
            }
        }
    }

    fn ask(
        &mut self,
        bank: usize,
        place: usize,
        block: &[usize],
    ) -> Result<Vec<VisitResult>, WorkerError> {
        let worker = self.banks[bank].worker(place)?;
        let visits: Vec<Visit> = block.iter().map(|i| self.tracks[*i].visit()).collect();
        worker.send(&Request::Sample { visits });
        let deadline = block.iter().map(|i| self.tracks[*i].deadline()).sum();
        match worker.reply(deadline)? {
            Reply::Samples { results } if results.len() == block.len() => Ok(results),
            other => Err(out_of_protocol(&other)),
        }
    }

    fn take(&mut self, track: usize, result: VisitResult, stolen: bool) -> Vec<JournalSample> {
        let track = &mut self.tracks[track];
        let (mut samples, mut latency) = match result {
            VisitResult::Sample(sample) => (vec![sample], None),
            VisitResult::Taken { samples, latency } => (samples, latency),
            VisitResult::Finding(finding) => {
                track.end = Some(End::Found(finding));
                return Vec::new();
            }
        };
        if samples.len() != track.case.threads.max(1) as usize {
            let why = format!("{} samples of {} threads", samples.len(), track.case.threads);
            track.end = Some(End::Found(Finding::failed(why)));
            return Vec::new();
        }
        samples.iter_mut().for_each(|sample| sample.stolen = stolen);
        track.take(&samples, latency.clone());
        samples.iter().for_each(|s| self.quiet.add(s.cpu, s.probe()));
        let quiet = self.quiet.rates();
        let visit = &of_visits(&samples, track.case.threads, quiet)[0];
        track.clean += usize::from(visit.disturbance(quiet.of(visit.cpu)).is_none());
        let case = track.index;
        let entry = |sample| JournalSample { case, sample, latency: latency.take() };
        samples.into_iter().map(entry).collect()
    }

    /// Ends the cases that are precise enough: each is looked at when all processes have come
    /// round again.
    fn judge(&mut self) {
        let least = (MIN_PER_PROCESS * MIN_PROCESSES) as u32;
        let ripe = |t: &Track| t.visits >= least && t.visits.is_multiple_of(MIN_PROCESSES as u32);
        let quiet = self.quiet.rates();
        for track in self.tracks.iter_mut().filter(|t| t.end.is_none() && ripe(t)) {
            if is_precise(&track.of_visits(quiet), quiet, self.budget.precision) {
                track.end = Some(End::Stopped(Stopped::Precision));
            }
        }
    }

    fn end_all(&mut self, why: Stopped) {
        for track in self.tracks.iter_mut().filter(|t| t.end.is_none()) {
            track.end = Some(End::Stopped(why));
        }
    }

    fn progress(&self) -> Progress {
        let cases = self.tracks.len();
        let ended = self.tracks.iter().filter(|t| t.end.is_some()).count();
        let least = (MIN_PER_PROCESS * MIN_PROCESSES) as f64;
        // Before any case can end, the visits that all need; afterwards, the cases that ended.
        let visited = (f64::from(self.round) / least).min(1.0);
        let fraction = visited * (0.5 + 0.5 * ended as f64 / cases.max(1) as f64);
        let (elapsed, budget) = (self.started.elapsed(), self.budget.time);
        let foreseen = elapsed.mul_f64((1.0 - fraction) / fraction.max(0.01));
        Progress { ended, cases, fraction, left: foreseen.min(budget.saturating_sub(elapsed)) }
    }
}

/// Every CPU that measures.
fn measuring_cpus(cpu: Option<u32>, tracks: &[Track]) -> Vec<u32> {
    let of_threads = tracks.iter().flat_map(|t| t.setting.cpus.iter().copied());
    let mut cpus: Vec<u32> = cpu.into_iter().chain(of_threads).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn is_precise(samples: &[RawSample], quiet: &QuietRates, precision: f64) -> bool {
    summarise(samples, quiet).is_some_and(|s| s.is_complete() && s.precision() <= precision)
}

/// The first process number that no earlier sample of the bank has.
fn next_process(tracks: &[Track], bank: usize) -> u32 {
    let own = tracks.iter().filter(|t| t.bank == bank);
    own.flat_map(|t| &t.samples).map(|s| s.process + 1).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Direction, Footprint, Model};
    use std::collections::HashSet;

    fn track(library: usize, size: usize) -> Track {
        let case = Case {
            library,
            algorithm: "aes-128-ctr".into(),
            direction: Direction::Encrypt,
            model: Model::Message,
            size,
            tier: Tier::Native,
            threads: 1,
            footprint: Footprint::Hot,
            in_place: false,
        };
        Track::new(0, case, Setting::default())
    }

    fn attached() -> Attached {
        let facts = record::Library {
            name: "l".into(),
            version: "1".into(),
            path: String::new(),
            id: String::new(),
            build: Vec::new(),
            error: None,
            calls: Vec::new(),
            instructions: None,
            tiers: Vec::new(),
        };
        Attached {
            facts,
            given_name: None,
            bundled_name: None,
            offers: Vec::new(),
            ready: None,
            tiers: Vec::new(),
            copies: None,
        }
    }

    fn start(seed: u64) -> Start {
        Start { cpu: None, seed, ticks_per_ns: None, quiet: QuietRates::default() }
    }

    const BUDGET: Budget = Budget { precision: 0.01, time: Duration::from_secs(1) };

    #[test]
    fn a_round_visits_every_unfinished_case_once_and_each_in_all_processes_in_turn() {
        let libraries = [attached(), attached()];
        let mut tracks: Vec<Track> = (0..100).map(|i| track(i % 2, i + 1)).collect();
        tracks[7].end = Some(End::Stopped(Stopped::Precision));
        let mut schedule = Schedule::new(&libraries, tracks, BUDGET, &start(1));
        let mut places = HashSet::new();
        for _ in 0..MIN_PROCESSES {
            let blocks = schedule.blocks();
            let mut seen: Vec<usize> = blocks.iter().flat_map(|(_, _, b)| b.clone()).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..100).filter(|i| *i != 7).collect::<Vec<_>>());
            assert!(blocks.iter().all(|(l, _, b)| b.iter().all(|i| i % 2 == *l)));
            places.extend(blocks.iter().filter(|(_, _, b)| b.contains(&3)).map(|(_, p, _)| *p));
            schedule.round += 1;
        }
        assert_eq!(places.len(), MIN_PROCESSES);
    }

    #[test]
    fn no_worker_samples_cases_of_two_tiers() {
        let mut tracks: Vec<Track> = (0..8).map(|i| track(0, i + 1)).collect();
        tracks.iter_mut().skip(5).for_each(|t| t.case.tier = Tier::Noaes);
        let libraries = [attached()];
        let mut schedule = Schedule::new(&libraries, tracks, BUDGET, &start(1));
        assert_eq!(schedule.banks.len(), 2);
        for (bank, _, block) in schedule.blocks() {
            assert!(block.iter().all(|i| (*i >= 5) == (bank == 1)), "{bank} {block:?}");
        }
    }

    #[test]
    fn the_order_comes_from_the_seed() {
        let libraries = [attached()];
        let order = |seed| {
            let tracks = (0..50).map(|i| track(0, i + 1)).collect();
            Schedule::new(&libraries, tracks, BUDGET, &start(seed)).blocks()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
