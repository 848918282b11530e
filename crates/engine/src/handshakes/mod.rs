//! `ciphermark tls handshake`, `tls records` and `tls primitives`: every stack, sampled in turn.

mod assemble;
mod own;
mod primitives;
mod records;
mod stacks;

pub use primitives::{PrimitivesRequest, primitives};
pub use records::{RecordsRequest, records};
pub use stacks::{SelectedStacks, select_stacks};

use crate::assemble::core_clock;
use crate::attached::StackFile;
use crate::bank::{Source, Start};
use crate::events::Progress;
use crate::kinds::{self, Tls};
use crate::placement::{measuring_cpu, step_aside};
use crate::plan::Budget;
use crate::quiet;
use crate::schedule::{Sampled, Schedule, Watch};
use crate::track::Track;
use assemble::assemble;
use model::QuietRates;
use probe::Clock;
use record::{Host, JournalEntry};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tls::{Case, Document, Noise, Plan, Subject, Temperature};

/// Which handshakes are to be measured.
#[derive(Clone, Debug)]
pub struct HandshakeRequest {
    /// The cases, each with what lies between two steps.
    pub rows: Vec<(Case, Temperature)>,
    /// Half the width of the interval at which the sampling of a hot case ends, as a fraction.
    pub precision: f64,
    /// Most time of sampling.
    pub time: Duration,
    /// Seed of the order.
    pub seed: u64,
    /// What was typed.
    pub command: Vec<String>,
}

/// Measures the cases in every stack. Ends early when `stop` is set; what there is counts.
pub fn handshakes(
    request: &HandshakeRequest,
    stacks: &[StackFile],
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Document {
    let wanted = Wanted {
        rows: request.rows.iter().map(|(case, t)| (Subject::Handshake(*case), *t)).collect(),
        precision: request.precision,
        time: request.time,
        seed: request.seed,
        cpu: measuring_cpu(),
    };
    let run = sampled(&wanted, stacks, stop, progress);
    assemble(run, request, stacks)
}

/// What is to be sampled, and when that ends.
struct Wanted {
    rows: Vec<(Subject, Temperature)>,
    precision: f64,
    time: Duration,
    seed: u64,
    cpu: u32,
}

/// What came of the sampling, and what is known of the run as a whole.
struct Run {
    started: String,
    seconds: f64,
    host: Host,
    plan: Plan,
    ticks_per_ns: f64,
    tracks: Vec<Track>,
    quiet: QuietRates,
    noise: Noise,
}

/// Only the progress is of interest: there is no journal of TLS yet.
struct Tell<'p>(&'p mut dyn FnMut(Progress));

impl Watch for Tell<'_> {
    fn block(&mut self, _: Vec<JournalEntry>) {}

    fn round(&mut self, progress: Progress) {
        (self.0)(progress);
    }

    fn pass(&mut self, _: Sampled<'_>) {}
}

/// Samples everything.
fn sampled(
    wanted: &Wanted,
    stacks: &[StackFile],
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Run {
    let (started, timer) = (jiff::Timestamp::now().to_string(), Instant::now());
    let cpu = wanted.cpu;
    let mut host: Host = host::facts(cpu);
    host.cpu.cpus_allowed = probe::allowed_cpus().len() as u32;
    step_aside(cpu);
    let clock = Clock::calibrate();
    let start = Start {
        cpus: vec![cpu],
        seed: wanted.seed,
        ticks_per_ns: Some(clock.rough_ticks_per_ns()),
        quiet: quiet::watch(&clock, cpu),
    };
    let begin = clock.anchor();
    let budget = Budget { precision: wanted.precision, time: wanted.time };
    let source = |stack: usize, _| Source::Stack(&stacks[stack]);
    let mut schedule = Schedule::new(&source, tracks(wanted, stacks.len()), budget, &start);
    schedule.run(stop, &mut Tell(progress));
    schedule.keep_quiet();
    // A run of nothing but unsupported cases takes no time to speak of.
    std::thread::sleep(Duration::from_millis(2));
    let ticks_per_second = begin.ticks_per_second(clock.anchor());
    let sampled = schedule.sampled();
    host.clock.source = clock.source().to_owned();
    host.clock.reason = clock.reason().map(ToOwned::to_owned);
    host.clock.step_ticks = clock.step_ticks();
    host.clock.overhead_ticks = clock.overhead_ticks();
    host.clock.ticks_per_second = ticks_per_second;
    core_clock(&mut host, cpu, sampled.tracks.iter().flat_map(|t| &t.samples), sampled.quiet);
    Run {
        started,
        seconds: timer.elapsed().as_secs_f64(),
        host,
        plan: Plan {
            precision: wanted.precision,
            budget_seconds: wanted.time.as_secs_f64(),
            seed: wanted.seed,
            cpu,
        },
        ticks_per_ns: ticks_per_second / 1e9,
        tracks: sampled.tracks.to_vec(),
        quiet: sampled.quiet.clone(),
        noise: assemble::noise(&sampled),
    }
}

/// Every row in every stack.
fn tracks(wanted: &Wanted, stacks: usize) -> Vec<Track> {
    let of_row = |(subject, temperature): &(Subject, Temperature)| {
        let (subject, temperature) = (*subject, *temperature);
        (0..stacks).map(move |stack| Tls { stack, subject, temperature })
    };
    let all = wanted.rows.iter().flat_map(of_row).enumerate();
    all.map(|(i, tls)| Track::new(i, kinds::Subject::Tls(tls))).collect()
}
