//! A runtime in the place of a library: its program is started, confined, and then moved to where the worker measures.

use super::untimed::{OUTSIDE, in_decoy};
use crate::protocol::{Finding, Hello};
use crate::runtimes;
use contract::Library;
use model::Tier;
use probe::MessageBatch;
use record::Confinement;

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
        facts = Some(confine::runtime(command, program.writes.as_deref())?);
        Ok(())
    });
    let library = library.map_err(|e| e.to_string())?;
    if let Some(process) = library.process() {
        probe::surroundings::keep_child(process);
    }
    Ok((library, facts))
}

/// Moves the runtime's process, if the library has one, to the worker's CPU.
pub(super) fn follow(library: &dyn Library, cpu: Option<u32>) -> Result<(), String> {
    let (Some(process), Some(cpu)) = (library.process(), cpu) else { return Ok(()) };
    probe::move_threads_to(process, cpu)
        .map_err(|e| format!("its process cannot be moved to CPU {cpu}: {e}"))
}

/// Times that all must say the same before it is believed: collecting garbage or compiling can fall into one of them.
const TIMES: usize = 8;
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
    let mut last = (0.0, 0.0);
    for _ in 0..TIMES {
        last = batch.claimed_and_aside(ops);
        if last.1 <= last.0 * SHARE + LEAST_NS {
            return Ok(());
        }
    }
    let (claimed, aside) = (last.0 / 1e3, last.1 / 1e3);
    Err(in_decoy(
        Finding::refused(format!(
            "{OUTSIDE}: its process worked for {aside:.0} µs more than the {claimed:.0} µs that it said"
        )),
        ops,
    ))
}
