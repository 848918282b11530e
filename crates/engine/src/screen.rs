//! A look at what could be measured, to see what need not be: one process of each library, one visit of each case, nothing
//! verified. What it sees is no figure of anything: it serves as a bound, with room for a busy machine.

use crate::assemble::{bounds, library_facts, plan_facts};
use crate::attached::Attached;
use crate::earlier::all_progress;
use crate::events::{Event, Progress};
use crate::placement::{machine, step_aside};
use crate::plan::{Budget, Request, Screened, cases};
use crate::quiet;
use crate::schedule::{Sampled, Schedule, Watch};
use crate::stop::Stop;
use crate::tiers::at_tiers;
use crate::worker_pool::{Source, Start};
use base::model::{Algorithm, RawSample};
use probe::Clock;
use record::{JournalEntry, Record};

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
    /// What they take at the least.
    pub screened: Screened,
    /// The same as a record without numbers: bounds, and why there is none.
    pub record: Record,
}

/// Looks at each case of a request of one size.
#[must_use]
pub fn screen(
    request: &Request,
    libraries: &[Attached],
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Look {
    let libraries = &*at_tiers(libraries, &request.tiers);
    let machine = machine();
    let planned = cases(request, libraries, &machine);
    let cpu = machine.measuring_cpu();
    step_aside(cpu);
    let clock = Clock::calibrate();
    let ticks_per_ns = clock.rough_ticks_per_ns();
    let start = Start {
        cpus: vec![cpu],
        seed: request.seed,
        ticks_per_ns: Some(ticks_per_ns),
        quiet: quiet::watch(&clock, cpu),
    };
    let source = |library: usize, tier| Source::Library(&libraries[library], tier);
    let budget = Budget { precision: f64::INFINITY, time: request.budget.time };
    let all = all_progress(&planned, &[]);
    let mut schedule = Schedule::new(&source, all, budget, &start);
    schedule.look(stop, &mut Told { events });
    let seen = schedule.sampled().all_progress.iter().filter_map(|progress| {
        let case = &planned[progress.index].case;
        let ticks = progress.samples.iter().map(RawSample::ticks_per_op).reduce(f64::min)?;
        let least_ns = ticks / ticks_per_ns / SEEMS_AT_MOST;
        let algorithm = Algorithm::find(&case.algorithm).ok()?.name;
        Some(((case.library, algorithm, case.direction), least_ns as u64))
    });
    let size = request.sizes.first().copied().unwrap_or(0);
    let screened = Screened { size, least_ns: seen.collect(), only: None };
    let record = record::shared(Record {
        format_version: record::FORMAT_VERSION.to_owned(),
        libraries: libraries.iter().map(|l| library_facts(l, request)).collect(),
        plan: plan_facts(request),
        measurements: bounds(&planned, libraries, &screened),
        ..Record::default()
    });
    Look { screened, record }
}
