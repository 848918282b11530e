//! `ciphermark tls handshake`, `tls records` and `tls primitives`: every stack, sampled in turn.

mod assemble;
mod own;
mod primitives;
mod records;
mod schedule;
mod stacks;

pub use primitives::{PrimitivesRequest, primitives};
pub use records::{RecordsRequest, records};
pub use stacks::{SelectedStacks, StackFile, select_stacks};

use crate::assemble::core_clock;
use crate::placement::{measuring_cpu, rough_rate, step_aside};
use crate::quiet;
use crate::schedule::Progress;
use assemble::{Run, assemble};
use probe::Clock;
use record::Host;
use schedule::{Sampled, Schedule, Start};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tls::{Case, Document, Plan, Subject, Temperature};

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
    let (run, sampled) = sampled(&wanted, stacks, stop, progress);
    assemble(run, request, stacks, sampled)
}

/// What is to be sampled, and when that ends.
struct Wanted {
    rows: Vec<(Subject, Temperature)>,
    precision: f64,
    time: Duration,
    seed: u64,
    cpu: u32,
}

/// Samples everything, and says what is known of the run as a whole.
fn sampled(
    wanted: &Wanted,
    stacks: &[StackFile],
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> (Run, Sampled) {
    let (started, timer) = (jiff::Timestamp::now().to_string(), Instant::now());
    let cpu = wanted.cpu;
    let mut host: Host = host::facts(cpu);
    host.cpu.cpus_allowed = probe::allowed_cpus().len() as u32;
    step_aside(cpu);
    let clock = Clock::calibrate();
    let start = Start { cpu, ticks_per_ns: rough_rate(&clock), quiet: quiet::watch(&clock, cpu) };
    let begin = clock.anchor();
    let sampled = Schedule::new(wanted, stacks, start).run(stop, progress);
    // A run of nothing but unsupported cases takes no time to speak of.
    std::thread::sleep(Duration::from_millis(2));
    let ticks_per_second = begin.ticks_per_second(clock.anchor());
    host.clock.source = clock.source().to_owned();
    host.clock.reason = clock.reason().map(ToOwned::to_owned);
    host.clock.step_ticks = clock.step_ticks();
    host.clock.overhead_ticks = clock.overhead_ticks();
    host.clock.ticks_per_second = ticks_per_second;
    let samples = sampled.tracks.iter().flat_map(|t| &t.samples).map(|s| &s.server);
    core_clock(&mut host, cpu, samples, &sampled.quiet);
    let plan = Plan {
        precision: wanted.precision,
        budget_seconds: wanted.time.as_secs_f64(),
        seed: wanted.seed,
        cpu,
    };
    let seconds = timer.elapsed().as_secs_f64();
    let ticks_per_ns = ticks_per_second / 1e9;
    (Run { started, seconds, host, plan, ticks_per_ns }, sampled)
}
