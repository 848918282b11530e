//! Timing, round by round: in each round every library once, in random order, in a process of its own.

use super::crew::{answer, hello};
use super::prove::Standings;
use super::run::{Events, PagesEvent, PagesPlan};
use super::stage::Stage;
use crate::attached::Attached;
use crate::process::Worker;
use crate::protocol::pages::{Answer, Job, TimeJob, TimedCell};
use crate::protocol::{Finding, Request};
use analysis::quiet_rate;
use at_rest::{CellKey, CellSamples, Visit};
use model::{Direction, Tier};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// One library's part of a round.
const DEADLINE: Duration = Duration::from_secs(300);

/// Rounds after which no more is learned.
const MOST_ROUNDS: u32 = 60;

/// All that was timed.
#[derive(Default)]
pub(super) struct Timed {
    pub(super) cells: BTreeMap<CellKey, CellSamples>,
    pub(super) rounds: u32,
    pub(super) seconds: f64,
    throughputs: Vec<f64>,
}

impl Timed {
    /// Independent instructions per core cycle of the quiet core.
    pub(super) fn quiet_throughput(&mut self) -> f64 {
        quiet_rate(&mut self.throughputs)
    }
}

/// Takes rounds until the time is over, at least two.
pub(super) fn time(
    plan: &PagesPlan,
    libraries: &[Attached],
    cpus: &[u32],
    (stage, page_size): (&Stage, usize),
    standings: &Standings,
    events: Events<'_>,
) -> Timed {
    let begun = Instant::now();
    let mut timed = Timed::default();
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    while timed.rounds < MOST_ROUNDS {
        let round = timed.rounds;
        let mut order: Vec<usize> = (0..libraries.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
        }
        for library in &order {
            if plan.stop.load(Ordering::Relaxed) {
                return timed;
            }
            let own: Vec<usize> = schemes(standings, *library);
            if own.iter().any(|s| plan.recipes[*s].cipher.is_some()) {
                let one =
                    One { plan, library: &libraries[*library], cpus, stage, page_size, round };
                one.take(*library, &own, rng.next_u64(), &mut timed);
            }
            let elapsed = begun.elapsed();
            events(PagesEvent::Timing { round, elapsed, budget: plan.budget });
        }
        timed.rounds += 1;
        timed.seconds = begun.elapsed().as_secs_f64();
        // Another round takes as long as those before did on average.
        let next = timed.seconds * (1.0 + 1.0 / f64::from(timed.rounds));
        if timed.rounds >= 2 && next > plan.budget.as_secs_f64() {
            break;
        }
    }
    timed
}

fn schemes(standings: &Standings, library: usize) -> Vec<usize> {
    let own = standings.iter().filter(|((l, _), s)| *l == library && s.outcome.is_ok());
    own.map(|((_, scheme), _)| *scheme).collect()
}

/// One library's part of a round.
struct One<'a> {
    plan: &'a PagesPlan,
    library: &'a Attached,
    cpus: &'a [u32],
    stage: &'a Stage,
    page_size: usize,
    round: u32,
}

impl One<'_> {
    fn take(&self, library: usize, own: &[usize], seed: u64, timed: &mut Timed) {
        let tier: Tier = self.plan.tier;
        let hello =
            hello(self.library, tier, self.cpus.first().copied(), self.round, self.stage.files());
        let mut worker = match Worker::start(hello) {
            Ok(worker) => worker,
            Err(e) => return self.fail(library, own, &Finding::failed(e.to_string()), timed),
        };
        let load = Job::Load { pages: self.stage.pages, page_size: self.page_size };
        if let Err(finding) = ask(&mut worker, load) {
            return self.fail(library, own, &finding, timed);
        }
        for threads in &self.plan.threads {
            let job = TimeJob {
                recipes: own.iter().map(|s| self.plan.recipes[*s].clone()).collect(),
                media: self.plan.media.clone(),
                cpus: self.cpus.iter().copied().take(*threads as usize).collect(),
                seed,
                pages: self.plan.pages_per_visit,
            };
            match ask(&mut worker, Job::Time(job)) {
                Ok(Answer::Timed { cells }) => {
                    for cell in cells {
                        self.keep(library, own, *threads, cell, timed);
                    }
                }
                Ok(_) => {}
                Err(finding) => {
                    self.fail(library, own, &finding, timed);
                    return;
                }
            }
        }
    }

    fn key(&self, library: usize, scheme: usize, threads: u32, cell: &TimedCell) -> CellKey {
        CellKey {
            library,
            scheme,
            medium: cell.medium,
            keying: cell.keying,
            decrypts: cell.direction == Direction::Decrypt,
            threads,
        }
    }

    fn keep(
        &self,
        library: usize,
        own: &[usize],
        threads: u32,
        cell: TimedCell,
        timed: &mut Timed,
    ) {
        let Some(scheme) = own.get(cell.recipe) else { return };
        let samples = timed.cells.entry(self.key(library, *scheme, threads, &cell)).or_default();
        if let Some(finding) = cell.finding {
            samples.finding.get_or_insert((finding.state, finding.why));
            return;
        }
        if cell.throughput > 0.0 {
            timed.throughputs.push(cell.throughput);
        }
        match samples.visits.last_mut().filter(|v| v.round == self.round) {
            // Another thread's part of the same visit.
            Some(visit) => {
                visit.crypto_ns.extend(cell.crypto_ns);
                visit.io_ns.extend(cell.io_ns);
                visit.disturbed |= cell.disturbed;
                visit.throughput = visit.throughput.min(cell.throughput);
            }
            None => samples.visits.push(Visit {
                round: self.round,
                crypto_ns: cell.crypto_ns,
                io_ns: cell.io_ns,
                disturbed: cell.disturbed,
                throughput: cell.throughput,
            }),
        }
    }

    /// The library's schemes get the finding where they have no number.
    fn fail(&self, library: usize, own: &[usize], finding: &Finding, timed: &mut Timed) {
        for (scheme, medium) in
            own.iter().flat_map(|s| self.plan.media.iter().map(move |m| (*s, *m)))
        {
            for decrypts in [false, true] {
                let key = CellKey {
                    library,
                    scheme,
                    medium,
                    keying: at_rest::Keying::Reused,
                    decrypts,
                    threads: self.plan.threads.first().copied().unwrap_or(1),
                };
                let samples = timed.cells.entry(key).or_default();
                samples.finding.get_or_insert((finding.state, finding.why.clone()));
            }
        }
    }
}

fn ask(worker: &mut Worker, job: Job) -> Result<Answer, Finding> {
    worker.send(&Request::Pages(Box::new(job)));
    answer(worker, DEADLINE).and_then(|answer| answer)
}
