//! `ciphermark tls handshake`: the matrix of every stack, sampled in turn.

mod assemble;
mod schedule;
mod stacks;

pub use stacks::{StackFile, stacks};

use crate::quiet;
use crate::schedule::Progress;
use crate::survey::{measuring_cpu, rough_rate, step_aside};
use assemble::{Run, assemble};
use probe::Clock;
use schedule::{Schedule, Start};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tls::{Case, Document, Plan, Temperature};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct HandshakeRequest {
    /// The cases.
    pub cases: Vec<Case>,
    /// What lies between two steps.
    pub temperatures: Vec<Temperature>,
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
    let (started, timer) = (jiff::Timestamp::now().to_string(), Instant::now());
    let cpu = measuring_cpu();
    let mut host = host::facts(cpu);
    host.cpu.cpus_allowed = probe::allowed_cpus().len() as u32;
    step_aside(cpu);
    let clock = Clock::calibrate();
    let start = Start { cpu, ticks_per_ns: rough_rate(&clock), quiet: quiet::watch(&clock, cpu) };
    let begin = clock.anchor();
    let sampled = Schedule::new(request, stacks, start).run(stop, progress);
    // A run of nothing but unsupported cases takes no time to speak of.
    std::thread::sleep(Duration::from_millis(2));
    let ticks_per_second = begin.ticks_per_second(clock.anchor());
    host.clock.source = clock.source().to_owned();
    host.clock.reason = clock.reason().map(ToOwned::to_owned);
    host.clock.step_ticks = clock.step_ticks();
    host.clock.overhead_ticks = clock.overhead_ticks();
    host.clock.ticks_per_second = ticks_per_second;
    let plan = Plan {
        precision: request.precision,
        budget_seconds: request.time.as_secs_f64(),
        seed: request.seed,
        cpu,
    };
    let run = Run { started, seconds: timer.elapsed().as_secs_f64(), host, plan };
    assemble(run, request, stacks, sampled, ticks_per_second / 1e9)
}
