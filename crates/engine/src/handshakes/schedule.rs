//! Which handshake, which size of record, or which primitive is sampled when.
//!
//! A pass has one process of each stack; each round of a pass visits every unfinished case of every
//! stack once, in random order, so that drift and noisy neighbours hit all alike. As many passes as an
//! interval needs processes come first; then those cases go on that are not precise enough.

use super::Wanted;
use super::stacks::StackFile;
use crate::link::WorkerError;
use crate::process::{Worker, out_of_protocol};
use crate::protocol::{Reply, Request};
use crate::quiet::Quiet;
use crate::schedule::Progress;
use crate::stolen::Stolen;
use analysis::MIN_PROCESSES;
use model::QuietRates;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use record::{State, Stopped};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tls::{
    Answer, Ask, Found, HandshakeSample, NoNumber, StackHello, Subject, Temperature, Visit,
    Visited, measured,
};

/// Clean samples of a process, and samples of a case's first visit in it: one more than make it count, for
/// a quiet rate that is learned later may take one away. What the interval wants is processes: their
/// layouts differ by more than the samples of one.
const CLEAN: u32 = 6;
/// Samples of a later visit, at least: it begins with handshakes that do not count.
const FEWEST: u32 = 3;
/// Samples of a case in one process after which no more are asked for: where fewer than a third of them are clean, more of the
/// same would not be either.
const MOST: u32 = 3 * CLEAN;
/// Visits that a worker is asked for at once: their work keeps the scheduler asleep, which would
/// disturb from the sibling hardware thread.
const BLOCK: usize = 8;
/// Longest wait for one visit: eight handshakes of 50 ms, on a machine with ten times as much to do.
const DEADLINE: Duration = Duration::from_secs(5);
/// What is not hot scatters more, and is held to this at the most.
const COLD_PRECISION: f64 = 0.05;

/// What every process starts with.
pub(super) struct Start {
    pub(super) cpu: u32,
    pub(super) ticks_per_ns: Option<f64>,
    pub(super) quiet: QuietRates,
}

/// A case or a size of one stack on its way.
pub(super) struct Track {
    pub(super) stack: usize,
    pub(super) subject: Subject,
    pub(super) temperature: Temperature,
    pub(super) samples: Vec<HandshakeSample>,
    pub(super) facts: Vec<Found>,
    pub(super) end: Option<End>,
    ops: Option<u32>,
    /// Samples in this pass.
    taken: u32,
    /// Of them, those that nothing disturbed.
    clean: u32,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Stopped(Stopped),
    Found(NoNumber),
}

/// What sampling gave.
pub(super) struct Sampled {
    pub(super) tracks: Vec<Track>,
    pub(super) quiet: QuietRates,
    pub(super) stolen_seconds: Option<f64>,
    pub(super) core_alone: bool,
}

pub(super) struct Schedule<'a> {
    request: &'a Wanted,
    stacks: &'a [StackFile],
    start: Start,
    tracks: Vec<Track>,
    quiet: Quiet,
    stolen: Stolen,
    order: ChaCha8Rng,
    begun: Instant,
    pass: usize,
    core_alone: bool,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(request: &'a Wanted, stacks: &'a [StackFile], start: Start) -> Self {
        let mut tracks = Vec::new();
        for (subject, temperature) in &request.rows {
            tracks.extend((0..stacks.len()).map(|s| Track::new(s, *subject, *temperature)));
        }
        Self {
            quiet: Quiet::new(&start.quiet),
            stolen: Stolen::new(&[start.cpu]),
            order: ChaCha8Rng::seed_from_u64(request.seed),
            begun: Instant::now(),
            pass: 0,
            core_alone: true,
            request,
            stacks,
            start,
            tracks,
        }
    }

    /// Samples until everything has ended.
    pub(super) fn run(mut self, stop: &AtomicBool, progress: &mut dyn FnMut(Progress)) -> Sampled {
        while self.tracks.iter().any(|t| t.end.is_none()) {
            self.one_pass(stop, progress);
            self.pass += 1;
            if stop.load(Ordering::Relaxed) {
                self.end_all(Stopped::Interrupted);
            } else if self.is_over() {
                self.end_all(Stopped::Budget);
            } else if self.pass >= MIN_PROCESSES {
                self.judge();
            }
        }
        self.quiet.keep(self.start.cpu);
        Sampled {
            quiet: self.quiet.rates().clone(),
            stolen_seconds: self.stolen.seconds(),
            core_alone: self.core_alone,
            tracks: self.tracks,
        }
    }

    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.request.time
    }

    fn one_pass(&mut self, stop: &AtomicBool, progress: &mut dyn FnMut(Progress)) {
        let mut workers = self.workers();
        self.tracks.iter_mut().for_each(|t| (t.taken, t.clean) = (0, 0));
        loop {
            let blocks = self.blocks();
            if blocks.is_empty() {
                return;
            }
            for (stack, block) in blocks {
                if stop.load(Ordering::Relaxed) || self.is_over() {
                    return;
                }
                self.visit(&mut workers, stack, &block);
                progress(self.progress());
            }
        }
    }

    /// A process of each stack that has something left to do; they start side by side.
    fn workers(&mut self) -> Vec<Option<Worker>> {
        let wanted = |stack: usize| self.tracks.iter().any(|t| t.stack == stack && t.end.is_none());
        let mut workers: Vec<Option<Worker>> = (0..self.stacks.len())
            .map(|s| wanted(s).then(|| Worker::launch_stack(self.hello(s)).ok()).flatten())
            .collect();
        for (stack, worker) in workers.iter_mut().enumerate() {
            if let Some(Err(error)) = worker.as_mut().map(|w| w.greet(None)) {
                *worker = None;
                self.lost(stack, &error);
            }
            self.core_alone &= worker.as_ref().is_none_or(|w| w.ready().core_alone);
        }
        workers
    }

    fn hello(&self, stack: usize) -> StackHello {
        let file = &self.stacks[stack];
        StackHello {
            path: file.path.clone(),
            crypto: file.crypto.clone(),
            cpu: Some(self.start.cpu),
            process: self.pass as u32,
            ticks_per_ns: self.start.ticks_per_ns,
            token: None,
        }
    }

    /// A stack that cannot be loaded has no numbers.
    fn lost(&mut self, stack: usize, error: &WorkerError) {
        let of_it = self.tracks.iter_mut().filter(|t| t.stack == stack && t.end.is_none());
        of_it.for_each(|t| t.end = Some(failed(error)));
    }

    /// The next round: every case that this pass wants samples of, once, in random order.
    fn blocks(&mut self) -> Vec<(usize, Vec<usize>)> {
        let mut open: Vec<usize> =
            (0..self.tracks.len()).filter(|i| self.tracks[*i].is_wanted()).collect();
        open.shuffle(&mut self.order);
        let mut blocks = Vec::new();
        for stack in 0..self.stacks.len() {
            let of_it: Vec<usize> =
                open.iter().copied().filter(|i| self.tracks[*i].stack == stack).collect();
            blocks.extend(of_it.chunks(BLOCK).map(|block| (stack, block.to_vec())));
        }
        blocks.shuffle(&mut self.order);
        blocks
    }

    /// Asks for a block; what kills the worker is looked for one case after the other.
    fn visit(&mut self, workers: &mut [Option<Worker>], stack: usize, block: &[usize]) {
        if workers[stack].is_none() {
            let started = Worker::launch_stack(self.hello(stack));
            match started.and_then(|mut w| w.greet(None).map(|()| w)) {
                Ok(worker) => workers[stack] = Some(worker),
                Err(error) => return self.lost(stack, &error),
            }
        }
        let worker = workers[stack].as_mut().expect("just started");
        let stolen = self.stolen.of(&[]);
        let visits = block.iter().map(|i| self.tracks[*i].visit()).collect();
        worker.send(&Request::Tls(Ask::Visits(visits)));
        let reply = worker.reply(DEADLINE * block.len() as u32);
        let error = match reply {
            Ok(Reply::Tls(Answer::Visited(all))) if all.len() == block.len() => {
                let stolen = self.stolen.of(&[]) > stolen;
                for (track, visited) in block.iter().zip(all) {
                    self.take(*track, visited, stolen);
                }
                return;
            }
            Ok(other) => out_of_protocol(&other),
            Err(error) => error,
        };
        workers[stack] = None;
        match block {
            [one] => self.tracks[*one].end = Some(failed(&error)),
            many => many.iter().for_each(|one| self.visit(workers, stack, &[*one])),
        }
    }

    fn take(&mut self, track: usize, visited: Visited, stolen: bool) {
        let track = &mut self.tracks[track];
        match visited {
            Visited::Taken { samples, facts } => {
                track.facts.extend(facts.map(|f| *f));
                for mut sample in samples {
                    sample.server.stolen = stolen;
                    track.ops = Some(sample.server.ops);
                    self.quiet.learn(&sample.server);
                    let rate = self.quiet.rates().of(sample.server.cpu);
                    track.taken += 1;
                    track.clean += u32::from(sample.server_sample().disturbance(rate).is_none());
                    track.samples.push(sample);
                }
            }
            Visited::Finding(finding) => track.end = Some(End::Found(finding)),
        }
    }

    /// Ends what is precise enough.
    fn judge(&mut self) {
        let rates = self.quiet.rates();
        for track in self.tracks.iter_mut().filter(|t| t.end.is_none()) {
            let wanted = track.precision(self.request.precision);
            let precise = |m: &tls::Measured| m.complete && !m.contended && m.precision() <= wanted;
            if measured(&track.samples, rates, 1.0).as_ref().is_some_and(precise) {
                track.end = Some(End::Stopped(Stopped::Precision));
            }
        }
    }

    fn end_all(&mut self, why: Stopped) {
        self.judge();
        let open = self.tracks.iter_mut().filter(|t| t.end.is_none());
        open.for_each(|t| t.end = Some(End::Stopped(why)));
    }

    fn progress(&self) -> Progress {
        let ended = self.tracks.iter().filter(|t| t.end.is_some()).count();
        let cases = self.tracks.len();
        let done_now = self.tracks.iter().filter(|t| !t.is_wanted()).count();
        let passes = self.pass as f64 + done_now as f64 / cases.max(1) as f64;
        let elapsed = self.begun.elapsed();
        let by_passes = passes / (self.pass + 1).max(MIN_PROCESSES) as f64;
        let by_time = elapsed.as_secs_f64() / self.request.time.as_secs_f64();
        let fraction = by_passes.max(by_time).min(1.0);
        let left = elapsed.mul_f64((1.0 - fraction) / fraction.max(0.001));
        let left = left.min(self.request.time.saturating_sub(elapsed));
        Progress { ended, cases, fraction, left }
    }
}

impl Track {
    fn new(stack: usize, subject: Subject, temperature: Temperature) -> Self {
        Self {
            stack,
            subject,
            temperature,
            samples: Vec::new(),
            facts: Vec::new(),
            end: None,
            ops: None,
            taken: 0,
            clean: 0,
        }
    }

    /// The precision that it is held to.
    pub(super) fn precision(&self, asked: f64) -> f64 {
        match self.temperature {
            Temperature::Hot => asked,
            Temperature::Idle | Temperature::Cold => asked.max(COLD_PRECISION),
        }
    }

    /// Whether the pass that goes on wants more of it.
    fn is_wanted(&self) -> bool {
        self.end.is_none() && self.clean < CLEAN && self.taken < MOST
    }

    fn visit(&self) -> Visit {
        Visit {
            subject: self.subject,
            temperature: self.temperature,
            samples: (CLEAN - self.clean).max(FEWEST),
            ops: self.ops,
        }
    }
}

fn failed(error: &WorkerError) -> End {
    End::Found(NoNumber { state: State::Failed, why: error.to_string() })
}
