//! What the facts mean. Pure.

use crate::doctor::finding::Finding;
use crate::doctor::live::Live;
use crate::doctor::machine::Machine;
use crate::doctor::{confinement, hardware, instructions, noise};
use record::{Circumstance, Cpu, Library};

/// Memory below which runs with many workers may meet the end of it: the survey of all libraries
/// stays below 500 MB.
const LEAST_MEMORY: u64 = 500 << 20;

/// A rate that moves by more between two half seconds is no clock: crystals drift by less than one
/// part in a million over seconds, and a reading is good to a few.
const MOST_DRIFT_PPM: f64 = 100.0;

/// `VENDOR-FAMILY-MODEL` of the CPUs on which `make accuracy` ran, separated by slashes.
const KINDS: &str = env!("KINDS");

/// Looks at everything, in the order in which it is shown.
#[must_use]
pub fn examine(machine: &Machine, live: &Live) -> Vec<Finding> {
    let mut findings = vec![processor(&machine.host.cpu), accuracy(&machine.host.cpu)];
    findings.extend(virtual_machine(machine));
    findings.extend(frequency(&machine.host.cpu));
    findings.push(isolated(&machine.host.cpu));
    findings.push(memory(machine));
    findings.push(huge_pages(machine));
    findings.extend(circumstances(&machine.host.circumstances));
    findings.push(clock(live));
    findings.push(drift(live));
    findings.push(core_clock(live));
    findings.extend(noise::examine(machine, live));
    findings.extend(instructions::examine(machine));
    findings.extend(libraries(&machine.libraries));
    findings.extend(confinement::examine(&machine.libraries));
    findings.extend(hardware::examine(machine, live));
    findings
}

fn processor(cpu: &Cpu) -> Finding {
    let found = format!(
        "{}, family {} model {} stepping {}, {} CPUs, measuring on CPU {}",
        cpu.name, cpu.family, cpu.model, cpu.stepping, cpu.cpus_allowed, cpu.cpu_measuring
    );
    Finding::ok("machine", "processor", found).note_if(
        cpu.cpus_allowed < 2,
        "with one CPU the scheduler works on the one that is measured on; give it a second one",
    )
}

fn accuracy(cpu: &Cpu) -> Finding {
    let kind = format!("{}-{}-{}", cpu.vendor, cpu.family, cpu.model);
    if KINDS.split('/').any(|known| known == kind) {
        return Finding::ok("machine", "accuracy", "checked on this kind of CPU: docs/ACCURACY.md");
    }
    Finding::ok("machine", "accuracy", "never checked on this CPU")
        .note("`make accuracy` takes half an hour, in a clone")
}

fn virtual_machine(machine: &Machine) -> Option<Finding> {
    let name = machine.host.hypervisor.as_ref()?;
    let found = format!("under {name}: what other guests do shows only in the noise below");
    Some(Finding::ok("machine", "virtual machine", found))
}

/// Governor and boost. Cycles do not depend on them; nanoseconds do.
fn frequency(cpu: &Cpu) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(governor) = &cpu.governor {
        let driver = cpu.frequency_driver.as_deref().unwrap_or("unknown driver");
        let found = format!("{governor} ({driver})");
        findings.push(Finding::ok("machine", "governor", found).note_if(
            governor != "performance",
            "figures in time move with the clock, cycles do not: \
             sudo cpupower frequency-set -g performance",
        ));
    }
    if let Some(boost) = cpu.boost {
        let found = if boost { "on" } else { "off" };
        findings.push(Finding::ok("machine", "turbo", found).note_if(
            boost,
            "figures in time are those of the boosted clock, which moves with load and heat; for a \
             fixed one: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, or \
             echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
        ));
    }
    if findings.is_empty() {
        let found =
            "the system does not say (no cpufreq); the clock is measured beside each sample";
        findings.push(Finding::ok("machine", "frequency", found));
    }
    findings
}

fn isolated(cpu: &Cpu) -> Finding {
    match cpu.isolated.as_deref().filter(|list| !list.is_empty()) {
        Some(list) => Finding::ok("machine", "isolated CPUs", list),
        None => {
            Finding::ok("machine", "isolated CPUs", "none; samples are short enough to do without")
        }
    }
}

fn memory(machine: &Machine) -> Finding {
    let mib = |bytes: u64| bytes >> 20;
    let total = mib(machine.host.memory.total_bytes);
    let Some(available) = machine.available_bytes else {
        return Finding::ok("machine", "memory", format!("{total} MiB"));
    };
    let finding =
        Finding::ok("machine", "memory", format!("{} MiB of {total} available", mib(available)));
    if available < LEAST_MEMORY {
        finding.problem(
            "a survey of all libraries needs up to 500 MB: close something, or choose libraries with -l",
        )
    } else {
        finding
    }
}

fn huge_pages(machine: &Machine) -> Finding {
    let mode = machine.host.memory.transparent_hugepages.as_deref().unwrap_or("unknown");
    Finding::ok("machine", "huge pages", format!("transparent: {mode}")).note_if(
        mode == "always",
        "large buffers may lie in huge pages or not, by luck: \
         echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    )
}

/// What decides which code runs: figures and verdicts are of that code.
fn circumstances(set: &[Circumstance]) -> Vec<Finding> {
    const NAME: &str = "circumstances";
    if set.is_empty() {
        let found = "nothing is set that decides which code libraries run";
        return vec![Finding::ok("machine", NAME, found)];
    }
    let finding = |c: &Circumstance| {
        let mend = match c.name.strip_prefix('/') {
            Some(_) => "figures and verdicts are of the code that this chooses".to_owned(),
            None => {
                format!("figures and verdicts are of the code that this chooses; unset {}", c.name)
            }
        };
        Finding::ok("machine", NAME, c.sentence()).note(mend)
    };
    set.iter().map(finding).collect()
}

fn clock(live: &Live) -> Finding {
    let found = format!(
        "{}, {:.3} GHz, steps of {:.1} ns, reading it costs {:.0} ns",
        live.source,
        live.ticks_per_second / 1e9,
        live.step_ns,
        live.overhead_ns
    );
    let finding = Finding::ok("clock", "source", found);
    match &live.reason {
        Some(why) => finding.note(format!("coarser than the time-stamp counter: {why}")),
        None => finding,
    }
}

fn drift(live: &Live) -> Finding {
    let found =
        format!("{:.1} ppm against CLOCK_MONOTONIC_RAW between two half seconds", live.drift_ppm);
    let finding = Finding::ok("clock", "drift", found);
    if live.drift_ppm > MOST_DRIFT_PPM {
        finding.problem(
            "the counter does not run at one rate, or the machine was halted in between: run the \
             doctor again; if it stays, nanoseconds are not to be believed here",
        )
    } else {
        finding
    }
}

fn core_clock(live: &Live) -> Finding {
    match live.core_ghz {
        Some(ghz) => Finding::ok(
            "clock",
            "core clock",
            format!(
                "{ghz:.2} GHz now, by a chain of {}; each takes {:.0} cycles, by a second chain",
                if live.source == "cntvct" { "additions" } else { "multiplications" },
                live.multiplication_cycles
            ),
        ),
        None => {
            let none = "there is no chain of known latency for this architecture yet";
            let why = live.cycles_reason.as_deref().unwrap_or(none);
            Finding::ok("clock", "core clock", "unknown")
                .note(format!("{why}; figures are in time alone"))
        }
    }
}

fn libraries(libraries: &[Library]) -> Vec<Finding> {
    let usable = libraries.iter().filter(|l| l.error.is_none()).count();
    let found =
        Finding::ok("libraries", "found", format!("{usable} of {} usable", libraries.len()));
    let mut findings = vec![if usable == 0 {
        found.problem("make libs, or apt install libssl3 libgcrypt20, or --library NAME=PATH")
    } else {
        found
    }];
    findings.extend(libraries.iter().filter_map(|library| {
        let error = library.error.as_ref()?;
        let named = error.contains(&library.path);
        let what = if named { error.clone() } else { format!("{}: {error}", library.path) };
        let mend = "not measured; `ciphermark list libraries` shows all";
        Some(Finding::ok("libraries", &library.name, what).note(mend))
    }));
    findings
}

#[cfg(test)]
#[path = "tests.rs"]
pub(crate) mod tests;
