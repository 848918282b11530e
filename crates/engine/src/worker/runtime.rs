//! A runtime in the place of a library: its program is started, confined, and runs where and when the worker measures.

use super::untimed::{OUTSIDE, in_decoy};
use crate::protocol::{Finding, Hello};
use crate::runtimes;
use base::model::Tier;
use contract::Library;
use probe::MessageBatch;
use record::Confinement;
use rustix::process::{Pid, Signal, kill_process};

/// Starts the runtime that the greeting names.
pub(super) fn start(
    hello: &Hello,
    runtime: &str,
) -> Result<(Box<dyn Library>, Option<Confinement>), String> {
    if hello.tier != Tier::Native {
        return Err("a runtime chooses its instructions in a process of its own".to_owned());
    }
    // Runtimes ask at their start how many CPUs there are, and choose by it how to collect garbage.
    let mut cpus = probe::allowed_cpus();
    cpus.extend(hello.cpu);
    probe::pin_to(&cpus).map_err(|e| e.to_string())?;
    let program = runtimes::prepare(runtime)?;
    let mut facts = None;
    let name = hello.name.as_deref().unwrap_or(runtime);
    let library = adapters::runtime::attach(&program, name, &mut |command| {
        facts = Some(host::confine::runtime(command, program.writes.as_deref())?);
        Ok(())
    });
    let library = library.map_err(|e| e.to_string())?;
    if let Some(process) = library.process() {
        probe::surroundings::keep_child(process);
    }
    Ok((library, facts))
}

/// A runtime's process, if the library has one. It runs only while the worker is asked for something: what it does when it
/// has nothing to do, compiling and collecting garbage, would take time from other libraries' samples.
#[derive(Default)]
pub(super) struct Reins {
    process: Option<Pid>,
    /// Where its threads are; none where they may be anywhere.
    cpu: Option<u32>,
}

impl Reins {
    pub(super) fn of(library: &dyn Library) -> Self {
        let process = library.process().and_then(|process| i32::try_from(process).ok());
        Self { process: process.and_then(Pid::from_raw), cpu: None }
    }

    /// Has it run where the worker is, which the scheduler moves from CPU to CPU.
    pub(super) fn let_go(&mut self) -> Result<(), String> {
        let Some(process) = self.process else { return Ok(()) };
        if let [cpu] = probe::allowed_cpus()[..]
            && self.cpu != Some(cpu)
        {
            probe::move_threads_to(process.as_raw_nonzero().get().unsigned_abs(), cpu)
                .map_err(|e| format!("its process cannot be moved to CPU {cpu}: {e}"))?;
            self.cpu = Some(cpu);
        }
        self.tell(Signal::CONT)
    }

    pub(super) fn hold(&self) -> Result<(), String> {
        self.tell(Signal::STOP)
    }

    fn tell(&self, signal: Signal) -> Result<(), String> {
        let told = self.process.map_or(Ok(()), |process| kill_process(process, signal));
        told.map_err(|e| format!("its process takes no signal: {e}"))
    }
}

/// Times that all must say the same before it is believed: collecting garbage or compiling can fall into one of them. After
/// every second one the operations double: what is put off grows with them, what a busy machine costs does not.
const TIMES: u32 = 8;
/// Share of the claimed time that may be spent beside it, ...
const SHARE: f64 = 0.5;
/// ... and nanoseconds: waking up for a request, and outputs that come from another cache.
const LEAST_NS: f64 = 150_000.0;

/// Whether the process works when it says that it does: what a provider puts off until nobody looks at the clock is still
/// processor time of its process.
pub(super) fn works_inside_the_clock(
    batch: &mut MessageBatch<'_>,
    ops: u32,
) -> Result<(), Finding> {
    let mut last = (0, 0.0, 0.0);
    for time in 0..TIMES {
        let more = ops.saturating_mul(1 << (time / 2));
        let (claimed, aside) = batch.claimed_and_aside(more);
        if aside <= claimed * SHARE + LEAST_NS {
            return Ok(());
        }
        last = (more, claimed / 1e3, aside / 1e3);
    }
    let (ops, claimed, aside) = last;
    Err(in_decoy(
        Finding::refused(format!(
            "{OUTSIDE}: its process worked for {aside:.0} µs more than the {claimed:.0} µs that it said"
        )),
        ops,
    ))
}
