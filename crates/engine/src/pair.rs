//! Two libraries held against each other on one case, process by process and in turn, until a verdict.
//! `base::analysis::LOOKS` says when it is looked for.

use crate::cpus::{Quiet, Stolen, machine, measuring_cpu, step_aside};
use crate::evidence::{Operation, leave_their_tier};
use crate::kinds::{Message, Pass};
use crate::libraries::{Attached, at_tiers};
use crate::plan::{Request, cases};
use crate::pool::Start;
use crate::process::{Worker, WorkerError, out_of_protocol};
use crate::progress::CaseSettling;
use crate::protocol::{Finding, Hello, QuietCore, Reply, Request as Ask, Visit, VisitResult};
use crate::recording::disturbances;
use crate::time::Stop;
use crate::verification::{Extra, Subject, verify_all};
use base::analysis::{LOOKS, Look, Ratio, Verdict, last_look, median, ratio_of_pairs};
use base::model::RawSample;
use probe::Clock;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use record::Disturbances;
use std::time::{Duration, Instant};

/// Visits of one process in a row, as in a survey.
const BLOCK: u32 = 16;

/// Clean samples of a process that its median needs. Samples of one process scatter by some 0.3 %,
/// so the median of twenty is good to a tenth of a per cent, less than processes differ by.
const CLEAN: usize = 20;

/// Most pairs of processes at once: each holds a copy of its library.
const TOGETHER: usize = 12;

/// What a pair cannot be compared by.
const ONE_THREAD: &str = "pairs are compared with one thread, and without single operations";

#[derive(Debug, thiserror::Error)]
pub enum PairError {
    #[error("{library}: {}", finding.why)]
    Found { library: String, finding: Finding },
    /// What was asked for is not one case of two libraries.
    #[error("a pair is one case of two libraries, this is {0} cases")]
    Cases(usize),
    #[error("{library}: {error}")]
    Worker { library: String, error: WorkerError },
}

#[derive(Clone, Debug)]
pub struct PairOutcome {
    pub verdict: Verdict,
    /// Its cost over the first one's; none where too few pairs came in time.
    pub ratio: Option<Ratio>,
    /// Cost of one operation in each pair of processes, in `unit`.
    pub pairs: Vec<(f64, f64)>,
    /// `cycles`, or `ticks` where core cycles are not known.
    pub unit: &'static str,
    /// Whether the one that takes fewer cycles takes more time: which is faster depends on the core's clock, so there is
    /// no verdict.
    pub clock_decides: bool,
    pub seconds: f64,
    pub sampling_seconds: f64,
    pub samples: usize,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
}

#[derive(Debug)]
pub struct PairBench {
    libraries: Vec<Attached>,
    sides: [Side; 2],
    start: Start,
    margin: f64,
    budget: Duration,
    quiet: Quiet,
    stolen: Stolen,
    order: ChaCha8Rng,
    /// Number of the next process.
    next: u32,
}

#[derive(Debug)]
struct Side {
    message: Message,
    /// Operations of a batch, as the first one had them.
    ops: Option<u32>,
    visits: u32,
    settling: CaseSettling,
}

struct Process {
    side: usize,
    worker: Worker,
    samples: Vec<RawSample>,
}

impl PairBench {
    /// Verifies the one case that the request makes of each of the two libraries, and watches the
    /// core for its quiet rate.
    pub fn new(request: &Request, libraries: &[Attached], margin: f64) -> Result<Self, PairError> {
        let libraries = at_tiers(libraries, &request.tiers);
        let planned = cases(request, &libraries, &machine());
        let [base, new] = &planned[..] else { return Err(PairError::Cases(planned.len())) };
        for case in [base, new] {
            if let Some(finding) = &case.verdict {
                return Err(found(&libraries, case.case.library, finding.clone()));
            }
        }
        verify(request, &libraries)?;
        let operations = [base, new].map(|planned| Operation::of(&planned.case));
        let left = leave_their_tier(&libraries, &operations, &Stop::default());
        if let Some((one, finding)) = left.into_iter().next() {
            return Err(found(&libraries, one.library, finding));
        }
        let side = |planned: &crate::plan::Planned| Side {
            message: Message::new(planned.case.clone(), planned.setting.clone()),
            ops: None,
            visits: 0,
            settling: CaseSettling::default(),
        };
        let sides = [side(base), side(new)];
        let (cpu, clock) = (measuring_cpu(), Clock::calibrate());
        step_aside(cpu);
        let start = Start::on(cpu, &clock, request.seed);
        Ok(Self {
            libraries,
            sides,
            margin,
            budget: request.budget.time,
            quiet: Quiet::new(&start.quiet),
            stolen: Stolen::new(&[cpu]),
            order: ChaCha8Rng::seed_from_u64(request.seed),
            start,
            next: 0,
        })
    }

    /// Compares the two once, with processes of its own. Ends early when `stop` is set.
    pub fn trial(&mut self, stop: &Stop) -> Result<PairOutcome, PairError> {
        let begun = Instant::now();
        let mut taken = Taken::default();
        let (mut ratio, mut verdict, mut clock_decides) = (None, Verdict::Undecided, false);
        for look in LOOKS {
            self.take_until(look.pairs, begun, stop, &mut taken)?;
            let look = if taken.pairs.len() < look.pairs {
                last_look(taken.pairs.len())
            } else {
                Some(look)
            };
            let Some(Look { alpha, .. }) = look else { break };
            ratio = ratio_of_pairs(&taken.pairs, alpha);
            verdict = ratio.map_or(Verdict::Undecided, |r| r.verdict(self.margin));
            let both = ratio.zip(ratio_of_pairs(&taken.times, alpha));
            clock_decides = both.is_some_and(|(cycles, time)| opposite(cycles, time));
            if clock_decides {
                verdict = Verdict::Undecided;
            }
            if clock_decides || verdict != Verdict::Undecided || self.over(begun, stop) {
                break;
            }
        }
        Ok(PairOutcome {
            verdict,
            ratio,
            unit: if taken.samples.iter().all(|s| s.clock() > 0.0) { "cycles" } else { "ticks" },
            clock_decides,
            pairs: taken.pairs,
            seconds: begun.elapsed().as_secs_f64(),
            sampling_seconds: taken.sampling.as_secs_f64(),
            samples: taken.samples.len(),
            disturbed: disturbances(taken.samples.iter(), self.quiet.rates()),
        })
    }

    /// Takes pairs until there are so many, a few side by side, or the time is over.
    fn take_until(
        &mut self,
        pairs: usize,
        begun: Instant,
        stop: &Stop,
        taken: &mut Taken,
    ) -> Result<(), PairError> {
        while taken.pairs.len() < pairs && !self.over(begun, stop) {
            let lacking = (pairs - taken.pairs.len()).min(TOGETHER);
            self.take_pairs(lacking, begun, stop, taken)?;
        }
        Ok(())
    }

    fn over(&self, begun: Instant, stop: &Stop) -> bool {
        begun.elapsed() >= self.budget || stop.is_over()
    }

    /// Starts so many processes of each library side by side, samples all of them in turn, and adds
    /// the pairs that came about.
    fn take_pairs(
        &mut self,
        count: usize,
        begun: Instant,
        stop: &Stop,
        taken: &mut Taken,
    ) -> Result<(), PairError> {
        let mut processes = self.launch(count)?;
        let sampling = Instant::now();
        let mut open: Vec<usize> = (0..processes.len()).collect();
        while !open.is_empty() && !self.over(begun, stop) {
            // A new order each round, so that drift favours neither.
            open.shuffle(&mut self.order);
            for i in &open {
                self.visit(&mut processes[*i])?;
            }
            // Of all again: a quiet rate that has risen takes samples from processes that had enough.
            let lacks = |i: &usize| self.clean(&processes[*i]).count() < CLEAN;
            open = (0..processes.len()).filter(lacks).collect();
        }
        taken.sampling += sampling.elapsed();
        let side = |side| processes.iter().filter(move |p| p.side == side);
        let costs = side(0).map(|p| self.cost(p)).zip(side(1).map(|p| self.cost(p)));
        for (base, new) in costs.filter_map(|(base, new)| base.zip(new)) {
            taken.pairs.push((base.cost, new.cost));
            taken.times.push((base.ticks, new.ticks));
        }
        taken.samples.extend(processes.iter().flat_map(|p| &p.samples));
        Ok(())
    }

    fn launch(&mut self, count: usize) -> Result<Vec<Process>, PairError> {
        let mut processes = Vec::with_capacity(2 * count);
        // In turn, so that the two sides' processes start under the same conditions.
        for side in (0..count).flat_map(|_| [0, 1]) {
            let worker = Worker::launch(self.hello(side)).map_err(|e| self.lost(side, e))?;
            processes.push(Process { side, worker, samples: Vec::new() });
        }
        for process in &mut processes {
            process.worker.greet(None).map_err(|e| self.lost(process.side, e))?;
        }
        Ok(processes)
    }

    fn hello(&mut self, side: usize) -> Hello {
        let Start { seed, ticks_per_ns, .. } = self.start;
        let cpu = self.start.cpus.first().copied();
        let process = self.next;
        self.next += 1;
        let tier = self.sides[side].message.case.tier;
        let hello = self.libraries[side].hello(tier, cpu, process, seed);
        Hello { ticks_per_ns, ..hello }
    }

    /// One block of samples of a process.
    fn visit(&mut self, process: &mut Process) -> Result<(), PairError> {
        let side = process.side;
        let Side { message, ops, visits, settling } = &mut self.sides[side];
        let stolen = self.stolen.of(&[]);
        let visit = message.visit(Pass::default(), *visits, *ops);
        let settle_us = settling.ask_us(*visits);
        let visit = Visit { settle_us, samples: BLOCK, most: BLOCK, ..visit };
        *visits += 1;
        process.worker.send(&Ask::Sample { visits: vec![visit], quiet: QuietCore::default() });
        let reply = process.worker.reply(message.deadline() * BLOCK);
        let results = match reply {
            Ok(Reply::Samples { results }) => results,
            Ok(other) => return Err(self.lost(side, out_of_protocol(&other))),
            Err(error) => return Err(self.lost(side, error)),
        };
        let stolen = self.stolen.of(&[]) > stolen;
        for result in results.into_iter().flatten() {
            match result {
                VisitResult::Sample(sample) => {
                    let sample = RawSample { stolen, ..sample };
                    self.sides[side].ops.get_or_insert(sample.ops);
                    self.sides[side].message.is_sampled();
                    self.quiet.learn(&sample);
                    process.samples.push(sample);
                }
                VisitResult::Settled(settled) => {
                    self.sides[side].settling.settled(settled);
                    self.sides[side].settling.believe();
                }
                VisitResult::Taken { .. } | VisitResult::Ends { .. } => {
                    let finding = Finding::unsupported(ONE_THREAD);
                    return Err(found(&self.libraries, side, finding));
                }
                VisitResult::Finding(finding) => return Err(found(&self.libraries, side, finding)),
            }
        }
        Ok(())
    }

    fn clean<'p>(&'p self, process: &'p Process) -> impl Iterator<Item = &'p RawSample> {
        let rates = self.quiet.rates();
        process.samples.iter().filter(|s| s.disturbance(rates.of(s.cpu)).is_none())
    }

    /// A process's cost of one operation; `None` as long as it has too few clean samples.
    fn cost(&self, process: &Process) -> Option<Cost> {
        let cost =
            |s: &RawSample| if s.clock() > 0.0 { s.cycles_per_op() } else { s.ticks_per_op() };
        let mut costs: Vec<f64> = self.clean(process).map(cost).collect();
        if costs.len() < CLEAN {
            return None;
        }
        let mut ticks: Vec<f64> = self.clean(process).map(RawSample::ticks_per_op).collect();
        Some(Cost { cost: median(&mut costs)?, ticks: median(&mut ticks)? })
    }

    fn lost(&self, side: usize, error: WorkerError) -> PairError {
        PairError::Worker { library: self.libraries[side].label(), error }
    }
}

/// What one operation costs in a process: in the unit that is compared, and in time.
struct Cost {
    cost: f64,
    ticks: f64,
}

/// Whether the one that takes fewer cycles takes more time, by intervals that lie on either side of no difference.
fn opposite(cycles: Ratio, time: Ratio) -> bool {
    cycles.high < 1.0 && time.low > 1.0 || cycles.low > 1.0 && time.high < 1.0
}

/// What a comparison has so far.
#[derive(Default)]
struct Taken {
    pairs: Vec<(f64, f64)>,
    /// The same pairs, in ticks.
    times: Vec<(f64, f64)>,
    samples: Vec<RawSample>,
    sampling: Duration,
}

fn found(libraries: &[Attached], library: usize, finding: Finding) -> PairError {
    PairError::Found { library: libraries[library].label(), finding }
}

fn verify(request: &Request, libraries: &[Attached]) -> Result<(), PairError> {
    let kinds = || request.tiers.iter().zip(&request.algorithms);
    let subjects: Vec<Subject> = (0..libraries.len())
        .flat_map(|library| kinds().map(move |(tier, a)| (library, *tier, *a)))
        .collect();
    let sizes = &*request.sizes;
    let extra = Extra { seed: request.seed, sizes, cases: &[], before_a_run: true };
    let verdicts = verify_all(libraries, &subjects, extra, &Stop::default(), &|| {});
    for verdict in verdicts {
        if let Err(finding) = verdict.outcome {
            return Err(found(libraries, verdict.library, finding));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_cycles_and_more_time_are_opposite_only_by_intervals_that_both_exclude_equality() {
        let of = |low, high| Ratio { estimate: f64::midpoint(low, high), low, high, level: 0.999 };
        assert!(opposite(of(0.9, 0.95), of(1.02, 1.1)) && opposite(of(1.1, 1.2), of(0.8, 0.9)));
        for time in [of(0.9, 0.95), of(0.99, 1.02)] {
            assert!(!opposite(of(0.9, 0.95), time), "{time:?}");
        }
        assert!(!opposite(of(0.99, 1.01), of(1.02, 1.1)));
    }
}
