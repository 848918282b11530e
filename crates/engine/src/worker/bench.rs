//! Visits: one sample of a case in one thread or in several, with the output of each held against
//! the reference before it counts.

use super::around::{Around, Meeting};
use super::lane::Lane;
use super::side_effects::Pulse;
use crate::protocol::{Finding, Latencies, QuietCore, Visit, VisitResult};
use base::model::{RawSample, Settling};
use contract::Library;
use probe::{Clock, Pace, Together};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// Everything that a worker samples with.
pub(super) struct Bench {
    clock: Clock,
    ticks_per_ns: f64,
    process: u32,
    seed: u64,
    /// One for each thread that measures.
    lanes: Vec<Lane>,
    /// How the case that this process samples has settled; empty until its first sample.
    settling: OnceLock<Settling>,
    /// The process as it was before the first visit.
    pulse: Option<Pulse>,
}

/// What one thread's part in a visit gave.
pub(super) type Part = Result<(RawSample, Option<Latencies>), Finding>;

impl Bench {
    pub(super) fn new(process: u32, seed: u64, ticks_per_ns: Option<f64>) -> Self {
        let clock = Clock::calibrate();
        let ticks_per_ns = ticks_per_ns.unwrap_or_else(|| clock.rough_ticks_per_ns());
        Self {
            clock,
            ticks_per_ns,
            process,
            seed,
            lanes: Vec::new(),
            settling: OnceLock::new(),
            pulse: None,
        }
    }

    /// What runs next is to settle anew.
    pub(super) fn unsettle(&mut self) {
        self.settling = OnceLock::new();
    }

    /// Waits for a quiet core before samples from now on.
    pub(super) fn expect(&mut self, quiet: QuietCore) {
        self.clock.expect_quiet(quiet.rate, quiet.longest_wait());
    }

    /// How the case has settled that this process samples.
    pub(super) fn settling(&self) -> Option<&Settling> {
        self.settling.get()
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn ticks_per_ns(&self) -> f64 {
        self.ticks_per_ns
    }

    /// Takes one sample of a case in each of its threads and checks what their last operations left.
    pub(super) fn visit(&mut self, library: &'static dyn Library, visit: &Visit) -> VisitResult {
        match &visit.cpus[..] {
            [] | [_] => match self.watched(library, visit) {
                Ok((sample, None)) => VisitResult::Sample(sample),
                Ok((sample, latency)) => {
                    VisitResult::Taken { samples: vec![sample], latency, other: None }
                }
                Err(finding) => VisitResult::Finding(finding),
            },
            cpus => match self.together(library, visit, cpus) {
                Ok(samples) => VisitResult::Taken { samples, latency: None, other: None },
                Err(finding) => VisitResult::Finding(finding),
            },
        }
    }

    /// A visit of one thread, after which the process must be as before.
    fn watched(&mut self, library: &'static dyn Library, visit: &Visit) -> Part {
        let pulse = self.pulse.take().unwrap_or_else(Pulse::now);
        if self.settling.get().is_none() {
            // What other cases' processes have taught the core is no part of a program that has this one.
            probe::forget_branches(&self.clock);
        }
        let taken = self.alone(library, visit);
        let changed = pulse.changed();
        // What was changed is told once.
        self.pulse = changed.is_none().then_some(pulse);
        taken.and_then(|taken| changed.map_or(Ok(taken), Err))
    }

    fn alone(&mut self, library: &'static dyn Library, visit: &Visit) -> Part {
        self.lanes_for(1);
        let Self { clock, ticks_per_ns, process, lanes, settling, .. } = self;
        let around = Around {
            clock,
            ticks_per_ns: *ticks_per_ns,
            pace: match library.process() {
                None => Pace::default(),
                Some(_) => Pace::of_a_runtime(),
            },
            process: *process,
            settling: settling.get().is_none().then_some(settling),
            meeting: None,
        };
        lanes[0].visit(library, visit, &around)
    }

    fn lanes_for(&mut self, threads: usize) {
        while self.lanes.len() < threads {
            let thread = self.lanes.len() as u32;
            self.lanes.push(Lane::new(self.process, thread, self.seed));
        }
    }

    fn together(
        &mut self,
        library: &'static dyn Library,
        visit: &Visit,
        cpus: &[u32],
    ) -> Result<Vec<RawSample>, Finding> {
        if let Some(why) = library.one_thread_only() {
            return Err(Finding::unsupported(why));
        }
        self.lanes_for(cpus.len());
        let Self { clock, ticks_per_ns, process, lanes, settling, .. } = self;
        let settling = settling.get().is_none().then_some(&*settling);
        let (together, failed) = (Together::new(cpus.len()), AtomicBool::new(false));
        let ops = OnceLock::new();
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let threads: Vec<_> = lanes
                .iter_mut()
                .zip(cpus)
                .enumerate()
                .map(|(thread, (lane, cpu))| {
                    let meeting =
                        Meeting { thread, together: &together, failed: &failed, ops: &ops };
                    let around = Around {
                        clock,
                        ticks_per_ns: *ticks_per_ns,
                        pace: Pace::default(),
                        process: *process,
                        settling,
                        meeting: Some(meeting),
                    };
                    scope.spawn(move || {
                        let pinned = probe::pin_to(&[*cpu])
                            .map_err(|e| Finding::failed(format!("cannot stay on CPU {cpu}: {e}")));
                        around.gather(pinned)?;
                        lane.visit(library, visit, &around)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| Err(Finding::failed("a thread panicked"))))
                .collect()
        });
        // Their time is no other's.
        self.pulse = None;
        // The finding of the thread that has one of its own, and not the others' that it ended.
        let own = |part: &&Part| matches!(part, Err(finding) if *finding != Around::ended());
        if let Some(Err(finding)) = parts.iter().find(own) {
            return Err(finding.clone());
        }
        parts.into_iter().map(|part| part.map(|(sample, _)| sample)).collect()
    }
}
