//! What the facts mean: processor, clock, memory, noise, libraries, and what their workers give up. And of
//! instructions: which there are, how they can be seen and hidden, what CPUs of this kind have and this
//! machine does not show, and what only the hardware of aarch64 settles. Pure.

use crate::doctor::{Finding, Live, Machine, siblings};
use record::{Circumstance, Confinement, Cpu, Host, Library};
use std::collections::BTreeMap;

/// Memory below which runs with many workers may meet the end of it: the survey of all libraries
/// stays below 500 MB.
const LEAST_MEMORY: u64 = 500 << 20;

/// A rate that moves by more between two half seconds is no clock: crystals drift by less than one
/// part in a million over seconds, and a reading is good to a few.
const MOST_DRIFT_PPM: f64 = 100.0;

/// `VENDOR-FAMILY-MODEL` of the CPUs on which `make accuracy` ran, separated by slashes.
const MEASURED_KINDS: &str = env!("KINDS");

pub fn examine(machine: &Machine, live: &Live) -> Vec<Finding> {
    let mut findings = vec![processor(&machine.host.cpu), accuracy(&machine.host.cpu)];
    findings.extend(virtual_machine(machine));
    findings.extend(cpu_limit(machine));
    findings.extend(frequency(&machine.host.cpu));
    findings.push(isolated(&machine.host.cpu));
    findings.push(memory(machine));
    findings.push(huge_pages(machine));
    findings.extend(circumstances(&machine.host.circumstances));
    findings.push(clock(live));
    findings.push(drift(live));
    findings.push(core_clock(live));
    findings.extend(examine_noise(machine, live));
    findings.extend(examine_instructions(machine));
    findings.extend(libraries(&machine.libraries));
    findings.extend(examine_confinement(&machine.libraries));
    findings.extend(examine_hardware(machine, live));
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
    if MEASURED_KINDS.split('/').any(|known| known == kind) {
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

/// What is stopped for it looks as if other programs had the CPU.
fn cpu_limit(machine: &Machine) -> Option<Finding> {
    let limit = machine.cpu_limit?;
    let found = format!("this container may use {limit:.2} CPUs of time");
    Some(Finding::ok("machine", "CPU limit", found).note(
        "the kernel stops all of it when that is used up, and such samples do not count, so a run takes longer: lift the \
         limit (docker: --cpus; Kubernetes: limits.cpu)",
    ))
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

// What disturbs the measuring CPU. Pure.

/// Part of the time that interruptions may take: an idle machine's timer takes a tenth of that.
const MOST_INTERRUPTED: f64 = 0.01;
const FAR_TOO_MUCH: f64 = 0.5;
/// Stolen time worth knowing of, and that which makes figures in time mean little.
const STOLEN: (f64, f64) = (0.002, 0.1);
/// Part of the probes that may meet a busy sibling before it is worth knowing.
const CONTENDED: f64 = 0.05;
/// What a neighbour on the same core leaves of the probe at most; one on another core leaves all.
const SHARED: f64 = 0.85;

pub(crate) fn examine_noise(machine: &Machine, live: &Live) -> Vec<Finding> {
    vec![
        interruptions(live),
        competitors(machine, live),
        stolen(live),
        contention(live),
        sibling(machine, live),
    ]
}

fn interruptions(live: &Live) -> Finding {
    let seconds = live.spun_seconds.max(1e-9);
    let share = live.gap_seconds / seconds;
    let found = format!(
        "{:.0} a second, {:.2} % of the time, the longest {:.0} µs",
        live.gaps as f64 / seconds,
        share * 100.0,
        live.longest_gap_us
    );
    Finding::ok("noise", "interruptions", found).note_if(
        share > MOST_INTERRUPTED,
        "samples that meet one do not count, so a run takes longer: stop what else runs, or choose \
         a quieter CPU with taskset -c",
    )
}

fn competitors(machine: &Machine, live: &Live) -> Finding {
    let load = machine.host.load_average.unwrap_or(0.0);
    let found = format!(
        "switched out {} times in {:.1} s, load average {load:.2}",
        live.preempted, live.spun_seconds
    );
    let lost = live.gap_seconds / live.spun_seconds.max(1e-9);
    let finding = Finding::ok("noise", "other programs", found);
    if lost > FAR_TOO_MUCH {
        finding.note(
            "other programs have this CPU most of the time: clean samples are still right, but raise \
             --budget, or stop them",
        )
    } else {
        finding.note_if(
            live.preempted > 20,
            "other programs run on this CPU: stop them, or raise --budget",
        )
    }
}

fn stolen(live: &Live) -> Finding {
    let Some(seconds) = live.stolen_seconds else {
        return Finding::ok("noise", "stolen time", "not counted by this kernel");
    };
    let share = seconds / live.spun_seconds.max(1e-9);
    let finding =
        Finding::ok("noise", "stolen time", format!("{:.1} % of the time", share * 100.0));
    if share > STOLEN.1 {
        finding.problem(
            "the hypervisor runs something else on this CPU: figures in time mean little until it has \
             room; use another machine or another hour",
        )
    } else {
        finding.note_if(share > STOLEN.0, "blocks of samples in which it happens do not count")
    }
}

fn contention(live: &Live) -> Finding {
    let Some(quiet) = live.quiet_probe else {
        return Finding::ok("noise", "contention", "unknown").note(
            "there is no throughput probe for this architecture yet: a busy sibling goes unseen",
        );
    };
    let found = format!(
        "{:.0} % of throughput probes below the quiet {quiet:.2} instructions per cycle",
        live.contended * 100.0
    );
    let finding = Finding::ok("noise", "contention", found);
    let advice = "somebody is busy on the core's other hardware thread; such samples do not count, so \
                  a run takes longer: raise --budget, or measure at another hour";
    if live.contended > FAR_TOO_MUCH {
        finding.problem(format!("{advice}; what is still contended at the end is marked '>'"))
    } else {
        finding.note_if(live.contended > CONTENDED, advice)
    }
}

fn sibling(machine: &Machine, live: &Live) -> Finding {
    let cpu = &machine.host.cpu;
    let sharing: Vec<String> =
        live.neighbours.iter().filter(|n| n.left < SHARED).map(|n| n.cpu.to_string()).collect();
    let said = cpu.thread_siblings.as_deref().unwrap_or("unknown");
    let (own, tried, list) = (live.cpu, live.neighbours.len(), sharing.join(", "));
    let is_untried = |other: &u32| live.neighbours.iter().all(|n| n.cpu != *other);
    let untried = siblings(own, cpu.thread_siblings.as_deref()).into_iter().filter(is_untried);
    let untried: Vec<String> = untried.map(|other| other.to_string()).collect();
    let mut found = match (tried, sharing.is_empty()) {
        (0, _) => "no other CPU could be tried".to_owned(),
        (_, true) => format!("keeping {tried} other CPUs busy took nothing from CPU {own}"),
        (_, false) => format!("CPU {list} takes execution slots from CPU {own}"),
    };
    if !untried.is_empty() && tried > 0 {
        found += &format!(", CPU {} was not tried", untried.join(", "));
    }
    let found = Finding::ok("noise", "shared core", format!("{found} (the system says: {said})"));
    let busy = [sharing, untried].concat().join(", ");
    if busy.is_empty() {
        return found.note_if(tried == 0, "a CPU that shares the core goes unseen");
    }
    found.note(format!("keep CPU {busy} free while measuring, as with isolcpus or taskset"))
}

// What the workers of this machine's libraries give up.

/// One finding for what every worker gives up, one for each thing that is missing, and one for the libraries
/// that tried what they may not.
pub(crate) fn examine_confinement(libraries: &[Library]) -> Vec<Finding> {
    let confined: Vec<(&str, &Confinement)> = libraries
        .iter()
        .filter_map(|l| l.confinement.as_ref().map(|c| (l.name.as_str(), c)))
        .collect();
    let Some((_, first)) = confined.first() else { return Vec::new() };
    let mut findings: Vec<Finding> = first
        .in_force
        .iter()
        .map(|r| Finding::ok("confinement", &r.name, r.detail.as_str()))
        .collect();
    let mut missing: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (_, confinement) in &confined {
        for restriction in &confinement.missing {
            *missing.entry((&restriction.name, &restriction.detail)).or_insert(0) += 1;
        }
    }
    findings.extend(missing.into_iter().map(|((name, why), count)| {
        let found = format!("missing with {count} of {} libraries: {why}", confined.len());
        Finding::ok("confinement", name, found).note(without(name))
    }));
    findings.extend(older(first));
    if let Some(why) = &first.switched_off {
        findings.push(
            Finding::ok("confinement", "switched off", why.as_str())
                .note("for a library that needs more; unset it to have libraries confined again"),
        );
    }
    findings.extend(denied(&confined));
    findings
}

/// What a library can do without a restriction (docs/TRUST.md, "Least power").
fn without(name: &str) -> &'static str {
    match name {
        "seccomp" => "a library can do what you can do: measure none that you do not trust",
        "landlock" => {
            "a library can read what you can read; it has no network, but its texts go into records"
        }
        _ => "a library that you were handed can do more in a worker than it needs; records say so",
    }
}

/// That Landlock is there, and is older than some of its rules.
fn older(first: &Confinement) -> Vec<Finding> {
    const LATER: [(&str, &str, &str, &str); 2] = [
        (
            "TCP",
            "no TCP",
            "this kernel's Landlock has no rules for it (Linux 6.7)",
            "`tls calibrate` refuses a library that you name: nothing would hold it to its servers",
        ),
        (
            "signals",
            "no signals",
            "this kernel's Landlock has no rules for them (Linux 6.12): seccomp alone forbids those to others",
            "a program that a language's runtime starts can signal no process, not itself either",
        ),
    ];
    let Some(landlock) = first.in_force.iter().find(|r| r.name == "landlock") else {
        return Vec::new();
    };
    let missing = LATER.iter().filter(|(_, has, ..)| !landlock.detail.contains(has));
    missing.map(|(name, _, why, note)| Finding::ok("confinement", name, *why).note(*note)).collect()
}

fn denied(confined: &[(&str, &Confinement)]) -> Option<Finding> {
    let tried = confined.iter().filter(|(_, c)| !c.denied.is_empty());
    let tried: Vec<String> =
        tried.map(|(name, c)| format!("{name} ({})", c.denied.join(", "))).collect();
    (!tried.is_empty()).then(|| {
        Finding::ok("confinement", "tried", tried.join("; ")).note(
            "while they were loaded these libraries called what a worker may not; the calls failed",
        )
    })
}

/// Names for people, and the kernel's flag.
#[cfg(target_arch = "aarch64")]
const EXTENSIONS: [(&str, &str); 8] = [
    ("AES", "aes"),
    ("PMULL", "pmull"),
    ("SHA-1", "sha1"),
    ("SHA-256", "sha2"),
    ("SHA-512", "sha512"),
    ("SHA-3", "sha3"),
    ("SVE", "sve"),
    ("SVE2", "sve2"),
];
#[cfg(not(target_arch = "aarch64"))]
const EXTENSIONS: [(&str, &str); 8] = [
    ("AES", "aes"),
    ("VAES", "vaes"),
    ("PCLMUL", "pclmulqdq"),
    ("VPCLMUL", "vpclmulqdq"),
    ("GFNI", "gfni"),
    ("SHA", "sha_ni"),
    ("AVX2", "avx2"),
    ("AVX-512", "avx512f"),
];

pub(crate) fn examine_instructions(machine: &Machine) -> Vec<Finding> {
    let mut findings = vec![extensions(machine)];
    findings.extend(tiers(machine));
    findings.push(counters(machine));
    findings
}

fn extensions(machine: &Machine) -> Finding {
    let features = &machine.host.cpu.features;
    let has = |flag: &str| features.iter().any(|f| f == flag);
    let names = |wanted: bool| {
        let chosen = EXTENSIONS.iter().filter(|(_, flag)| has(flag) == wanted);
        chosen.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    let (there, missing) = (names(true), names(false));
    let found = match (there.is_empty(), missing.is_empty()) {
        (_, true) => there,
        (true, _) => format!("none of {missing}"),
        _ => format!("{there}; not {missing}"),
    };
    let finding = Finding::ok("instructions", "extensions", found);
    if let Some(hidden) = hidden(&machine.host) {
        return finding.note(hidden);
    }
    let hidden = cfg!(target_arch = "x86_64") && !has("aes");
    finding.note_if(
        hidden,
        "nearly every CPU since 2013 has AES instructions: a virtual machine's CPU model may hide \
         them (QEMU: -cpu host)",
    )
}

fn tiers(machine: &Machine) -> Vec<Finding> {
    let finding = |(name, how): &(String, Result<String, String>)| match how {
        Ok(how) => Finding::ok("instructions", &format!("tier {name}"), how.clone()),
        Err(why) => Finding::ok(
            "instructions",
            &format!("tier {name}"),
            "cannot be applied to every library",
        )
        .note(why.clone()),
    };
    machine.tiers.iter().map(finding).collect()
}

fn counters(machine: &Machine) -> Finding {
    let found = |text: &str| Finding::ok("instructions", "performance counters", text);
    match (machine.counters.device, machine.counters.paranoid) {
        (false, _) => found("none: no device for the core's counters")
            .note("not needed: cycles come from a chain of instructions of known latency"),
        (true, Some(level)) if level > 2 => {
            found(&format!("forbidden: perf_event_paranoid is {level}"))
                .note("sudo sysctl kernel.perf_event_paranoid=2")
        }
        (true, _) => found("available"),
    }
}

/// What is asked for, by the kernel's flag; its name, and what a library pays without it. Times are those of OpenSSL
/// 3.5 on a Zen 5 at the tiers that hide it (docs/METHOD.md, Machines).
const COSTS: [(&str, &str, &str); 5] = [
    ("aes", "AES", "AES takes 10 to 35 times as long"),
    ("pclmulqdq", "PCLMULQDQ", "AES-GCM takes 8 to 25 times as long"),
    ("avx2", "AVX2", "ChaCha20 takes twice as long"),
    ("vaes", "VAES", "AES-GCM takes up to twice as long"),
    ("sha_ni", "SHA", "SHA-256 takes 3 times as long"),
];

const SANDY_BRIDGE: &[&str] = &["aes", "pclmulqdq"];
const HASWELL: &[&str] = &["aes", "pclmulqdq", "avx2"];
const ICE_LAKE: &[&str] = &["aes", "pclmulqdq", "avx2", "vaes", "sha_ni"];
const ZEN: &[&str] = &["aes", "pclmulqdq", "avx2", "sha_ni"];

/// Vendor, family and models, and what these CPUs have; by the kernel's `asm/intel-family.h` and AMD's revision guides.
/// Some of Intel's cheapest models of before 2018 had no AES or no AVX2, so absence is likely and not certain to be
/// somebody's choice.
const KINDS_OF_CPU: &[(&str, u32, &[u32], &[&str])] = &[
    ("GenuineIntel", 6, &[0x2a, 0x2d, 0x3a, 0x3e], SANDY_BRIDGE),
    // Haswell, Broadwell, Skylake, Kaby Lake, Comet Lake, and their servers.
    (
        "GenuineIntel",
        6,
        &[0x3c, 0x3d, 0x3f, 0x45, 0x46, 0x47, 0x4e, 0x4f, 0x55, 0x56, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6],
        HASWELL,
    ),
    // Ice Lake, Tiger Lake, Rocket Lake, Alder Lake to Arrow Lake; Ice Lake's servers to Granite Rapids'.
    (
        "GenuineIntel",
        6,
        &[
            0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0x8f, 0x97, 0x9a, 0xa7, 0xaa, 0xac, 0xad, 0xae,
            0xb5, 0xb7, 0xba, 0xbd, 0xbf, 0xc5, 0xc6, 0xcf,
        ],
        ICE_LAKE,
    ),
    // Zen and Zen 2, of Hygon too; Zen 3 and Zen 4; Zen 5.
    ("AuthenticAMD", 0x17, &[], ZEN),
    ("HygonGenuine", 0x18, &[], ZEN),
    ("AuthenticAMD", 0x19, &[], ICE_LAKE),
    ("AuthenticAMD", 0x1a, &[], ICE_LAKE),
];

/// A sentence on what the machine hides though CPUs of its kind have it; `None` where it shows all that is known.
pub(crate) fn hidden(host: &Host) -> Option<String> {
    let cpu: &Cpu = &host.cpu;
    let (.., has) = KINDS_OF_CPU.iter().find(|(vendor, family, models, _)| {
        *vendor == cpu.vendor
            && *family == cpu.family
            && (models.is_empty() || models.contains(&cpu.model))
    })?;
    let shown = |flag: &str| cpu.features.iter().any(|f| f == flag);
    let gone = COSTS.iter().filter(|(flag, ..)| has.contains(flag) && !shown(flag));
    let (names, costs): (Vec<&str>, Vec<&str>) = gone.map(|(_, name, cost)| (*name, *cost)).unzip();
    let who = match &host.hypervisor {
        Some(_) => "the hypervisor's CPU model hides it (QEMU: -cpu host)",
        None => "the firmware or the kernel switched it off",
    };
    (!names.is_empty()).then(|| {
        format!(
            "CPUs of this family and model have {} most likely, and {who}. Without: {}",
            names.join(", "),
            costs.join("; ")
        )
    })
}

// What no emulator could show of aarch64, and only the hardware settles: each with what was found here, or the command
// that finds it. Pure.

/// How far the chain's clock may be above what the driver says: its figures are rounded.
const ABOVE: f64 = 1.03;

/// Nothing where samples are not timed by the counter of aarch64.
pub(crate) fn examine_hardware(machine: &Machine, live: &Live) -> Vec<Finding> {
    if live.source != "cntvct" {
        return Vec::new();
    }
    let asked = |name: &str, open: &str, command: &str| {
        Finding::ok("hardware", name, open)
            .note(format!("developed under emulation; please report: {command}"))
    };
    vec![
        additions(machine, live),
        asked("repeats", "whether two runs agree", "make repeat"),
        asked("agrees with openssl speed", "whether both time the same", "make agree"),
        asked(
            "cost of a step",
            "how long counting instructions takes",
            "time ciphermark explain -l openssl -a aes-128-gcm",
        ),
        asked(
            "limits",
            "whether instructions take what their makers publish (docs/LIMITS.md)",
            "ciphermark list limits",
        ),
        asked(
            "record",
            "what this core does",
            "make bench && make add-record NAME=your-machine, in a clone",
        ),
    ]
}

/// Cycles rest on an addition that takes one.
fn additions(machine: &Machine, live: &Live) -> Finding {
    let finding = |found: String| Finding::ok("hardware", "an addition is a cycle", found);
    match (live.core_ghz, machine.host.cpu.frequency_range_khz) {
        (None, _) => finding("the second chain contradicts it".to_owned())
            .problem("figures are in time alone; please report `ciphermark doctor --json`"),
        (Some(ghz), Some((_, most))) if ghz > ABOVE * most as f64 / 1e6 => {
            finding(format!("{ghz:.2} GHz by the chain, {:.2} at most by the driver", most as f64 / 1e6))
                .problem("this core does two additions of a chain in a cycle; please report `ciphermark doctor --json`")
        }
        (Some(ghz), Some((_, most))) => {
            finding(format!("{ghz:.2} GHz by the chain, {:.2} at most by the driver", most as f64 / 1e6))
        }
        (Some(ghz), None) => finding(format!("{ghz:.2} GHz by the chain, the driver says nothing"))
            .note("compare with what the maker says, or as root: perf stat -e cycles:u,task-clock ciphermark list algorithms"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::doctor::{Neighbour, Verdict};
    use record::Restriction;

    // Made-up machines, good and bad.

    fn live() -> Live {
        Live {
            cpu: 1,
            source: "tsc".into(),
            step_ns: 10.0,
            overhead_ns: 29.0,
            ticks_per_second: 2.6e9,
            drift_ppm: 0.4,
            core_ghz: Some(3.7),
            multiplication_cycles: 3.0,
            spun_seconds: 1.0,
            gaps: 250,
            gap_seconds: 0.001,
            longest_gap_us: 12.0,
            stolen_seconds: Some(0.0),
            quiet_probe: Some(6.0),
            contended: 0.01,
            neighbours: vec![Neighbour { cpu: 0, left: 1.0 }],
            ..Live::default()
        }
    }

    fn machine() -> Machine {
        let mut machine = Machine { available_bytes: Some(4 << 30), ..Machine::default() };
        machine.host.cpu.cpus_allowed = 2;
        machine.host.cpu.features = vec!["aes".into(), "vaes".into()];
        machine.libraries = vec![library("openssl", None)];
        machine
    }

    pub(crate) fn library(name: &str, error: Option<&str>) -> Library {
        Library {
            name: name.into(),
            path: format!("/opt/{name}.so"),
            error: error.map(ToOwned::to_owned),
            ..Library::default()
        }
    }

    fn verdict(machine: &Machine, live: &Live, name: &str) -> Verdict {
        let findings = examine(machine, live);
        let found = findings.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(found.mend.is_some(), found.verdict != Verdict::Ok, "{found:?}");
        found.verdict
    }

    #[test]
    fn a_quiet_machine_has_no_problem() {
        let findings = examine(&machine(), &live());
        let problems: Vec<_> = findings.iter().filter(|f| f.verdict == Verdict::Problem).collect();
        assert!(problems.is_empty(), "{problems:?}");
        for name in ["interruptions", "other programs", "stolen time", "contention", "shared core"]
        {
            assert_eq!(verdict(&machine(), &live(), name), Verdict::Ok, "{name}");
        }
    }

    #[test]
    fn a_sibling_that_was_not_tried_is_not_said_to_take_nothing() {
        let mut listed = machine();
        listed.host.cpu.thread_siblings = Some("1,9".into());
        let found = sibling(&listed, &live());
        assert_eq!(found.verdict, Verdict::Note);
        assert!(found.found.contains("CPU 9 was not tried"), "{found:?}");
        assert!(found.mend.unwrap().contains("keep CPU 9 free"));
        let tried = Live { neighbours: vec![Neighbour { cpu: 9, left: 1.0 }], ..live() };
        assert_eq!(sibling(&listed, &tried).verdict, Verdict::Ok);
        let none = Live { neighbours: Vec::new(), ..live() };
        let found = sibling(&machine(), &none);
        assert_eq!(found.verdict, Verdict::Note);
        assert!(found.found.contains("no other CPU could be tried"), "{found:?}");
    }

    #[test]
    fn what_bears_on_measuring_is_a_problem_or_a_note() {
        use Verdict::{Note, Problem};
        let mut slow = machine();
        slow.host.cpu.governor = Some("powersave".into());
        slow.host.cpu.boost = Some(true);
        let mut broken = machine();
        broken.libraries.push(library("mine", Some("is no shared object")));
        let empty = Machine { libraries: Vec::new(), ..machine() };
        let poor = Machine { available_bytes: Some(100 << 20), ..machine() };
        let mut masked = machine();
        masked.host.circumstances = vec![record::Circumstance {
            name: "OPENSSL_ia32cap".into(),
            value: Some("~0x2".into()),
            concerns: vec!["openssl".into()],
            effect: "hides CPU features".into(),
            sha256: None,
        }];
        let shared = vec![Neighbour { cpu: 0, left: 0.55 }];
        let busy = Live { gap_seconds: 0.6, preempted: 300, ..live() };
        for (name, expected, machine, live) in [
            ("drift", Problem, machine(), Live { drift_ppm: 500.0, ..live() }),
            ("stolen time", Problem, machine(), Live { stolen_seconds: Some(0.3), ..live() }),
            ("contention", Problem, machine(), Live { contended: 0.9, ..live() }),
            ("memory", Problem, poor, live()),
            ("CPU limit", Note, Machine { cpu_limit: Some(0.5), ..machine() }, live()),
            ("circumstances", Note, masked, live()),
            ("found", Problem, empty, live()),
            ("interruptions", Note, machine(), busy.clone()),
            ("other programs", Note, machine(), busy),
            ("shared core", Note, machine(), Live { neighbours: shared, ..live() }),
            ("governor", Note, slow.clone(), live()),
            ("turbo", Note, slow, live()),
            ("mine", Note, broken, live()),
        ] {
            assert_eq!(verdict(&machine, &live, name), expected, "{name}");
        }
    }

    #[test]
    fn a_kind_of_cpu_whose_accuracy_was_never_checked_is_told_what_checks_it() {
        let of = |vendor: &str, family, model| {
            let mut machine = machine();
            machine.host.cpu =
                Cpu { vendor: vendor.into(), family, model, ..machine.host.cpu.clone() };
            let findings = examine(&machine, &live());
            let found = findings.into_iter().find(|f| f.name == "accuracy").unwrap();
            (found.found, found.mend)
        };
        assert!(MEASURED_KINDS.split('/').count() >= 2, "{MEASURED_KINDS}");
        for kind in MEASURED_KINDS.split('/') {
            let parts: Vec<&str> = kind.split('-').collect();
            // What may come behind says under what circumstances.
            let [vendor, family, model, ..] = parts[..] else { panic!("{kind}") };
            let (found, mend) = of(vendor, family.parse().unwrap(), model.parse().unwrap());
            assert!(found.starts_with("checked on this kind") && mend.is_none(), "{kind}: {found}");
        }
        for (vendor, family, model) in [
            ("AuthenticAMD", 25, 9999),
            ("GenuineIntel", 25, 17),
            ("AuthenticAMD", 2, 17),
            ("", 0, 0),
        ] {
            let (found, mend) = of(vendor, family, model);
            assert_eq!(found, "never checked on this CPU", "{vendor} {family} {model}");
            assert!(mend.unwrap().starts_with("`make accuracy` takes half an hour"));
        }
    }

    #[test]
    fn counters_that_are_forbidden_are_told_apart_from_none() {
        let text = |device, paranoid| {
            let counters = host::Counters { device, paranoid };
            let machine = Machine { counters, ..machine() };
            let findings = examine(&machine, &live());
            findings.iter().find(|f| f.name == "performance counters").unwrap().found.clone()
        };
        assert!(text(false, Some(2)).starts_with("none"));
        assert_eq!(text(true, Some(4)), "forbidden: perf_event_paranoid is 4");
        assert_eq!(text(true, Some(1)), "available");
    }

    #[test]
    fn missing_extensions_are_named() {
        let findings = examine(&machine(), &live());
        let found = &findings.iter().find(|f| f.name == "extensions").unwrap().found;
        assert!(found.starts_with("AES, VAES; not PCLMUL"), "{found}");
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_guest_that_hides_what_its_kind_of_cpu_has_is_named_with_what_that_costs() {
        let mend = |vendor: &str, family, model, features: &[&str], hypervisor: Option<&str>| {
            let mut machine = machine();
            let cpu = &mut machine.host.cpu;
            (cpu.vendor, cpu.family, cpu.model) = (vendor.into(), family, model);
            cpu.features = features.iter().map(|f| (*f).to_owned()).collect();
            machine.host.hypervisor = hypervisor.map(str::to_owned);
            let findings = examine(&machine, &live());
            findings.into_iter().find(|f| f.name == "extensions").unwrap().mend
        };
        let all = ["aes", "pclmulqdq", "avx2", "vaes", "sha_ni"];
        let kvm = Some("KVM");
        let haswell = mend("GenuineIntel", 6, 0x3c, &["aes", "avx2"], kvm).unwrap();
        assert!(haswell.contains("have PCLMULQDQ most likely"), "{haswell}");
        assert!(haswell.contains("AES-GCM takes 8 to 25 times as long"), "{haswell}");
        assert!(haswell.contains("-cpu host"), "{haswell}");
        let zen3 = mend("AuthenticAMD", 0x19, 1, &all[..3], None).unwrap();
        assert!(zen3.contains("have VAES, SHA most likely, and the firmware"), "{zen3}");
        assert_eq!(mend("AuthenticAMD", 0x1a, 2, &all, kvm), None);
        assert_eq!(mend("GenuineIntel", 6, 0x3c, &all[..3], kvm), None);
        assert_eq!(mend("GenuineIntel", 6, 0x17, &all[..1], kvm), None, "a kind that is not known");
    }

    #[test]
    fn a_core_clock_says_what_its_chain_takes_or_why_it_is_not_known() {
        let clock = |live: Live| {
            let findings = examine(&machine(), &live);
            let found = findings.into_iter().find(|f| f.name == "core clock").unwrap();
            format!("{} {}", found.found, found.mend.unwrap_or_default())
        };
        let small = clock(Live { multiplication_cycles: 5.0, ..live() });
        assert!(small.contains("each takes 5 cycles"), "{small}");
        let why = "a multiplication takes 3.50 times as long".to_owned();
        let unknown = clock(Live { core_ghz: None, cycles_reason: Some(why), ..live() });
        assert!(unknown.starts_with("unknown a multiplication takes 3.50 times"), "{unknown}");
        assert!(clock(Live { core_ghz: None, ..live() }).contains("no chain of known latency"));
    }

    fn confined_library(confinement: Option<Confinement>) -> Library {
        Library { confinement, ..library("openssl", None) }
    }

    fn restriction(name: &str) -> Restriction {
        Restriction { name: name.into(), detail: "so and so".into() }
    }

    #[test]
    fn each_kernel_is_told_what_it_lets_a_library_do() {
        let of = |in_force: Vec<Restriction>, missing: Vec<Restriction>| {
            let confinement = Confinement { in_force, missing, ..Confinement::default() };
            let found = examine_confinement(&[confined_library(Some(confinement))]);
            found.into_iter().map(|f| (f.name, f.mend.unwrap_or_default())).collect::<Vec<_>>()
        };
        let landlock =
            |detail: &str| Restriction { detail: detail.into(), ..restriction("landlock") };
        let whole = of(vec![landlock("files read-only, no TCP, no signals to others")], Vec::new());
        assert_eq!(whole.len(), 1, "{whole:?}");
        let names =
            |detail| of(vec![landlock(detail)], Vec::new()).into_iter().map(|(name, _)| name);
        assert!(names("files read-only, no TCP").eq(["landlock", "signals"]));
        let older = of(vec![landlock("files read-only")], Vec::new());
        assert!(older[1].0 == "TCP" && older[1].1.contains("`tls calibrate` refuses"), "{older:?}");
        let none = of(Vec::new(), vec![restriction("landlock"), restriction("seccomp")]);
        assert!(none[0].1.contains("can read what you can read"), "{none:?}");
        assert!(none[1].1.contains("can do what you can do"), "{none:?}");
    }

    #[test]
    fn what_is_given_up_is_told_and_what_is_missing_is_a_note() {
        assert_eq!(examine_confinement(&[confined_library(None)]), []);
        let confinement = Confinement {
            in_force: vec![restriction("seccomp")],
            missing: vec![restriction("landlock")],
            switched_off: Some("limits left out".into()),
            denied: vec!["socket".into()],
        };
        let findings =
            examine_confinement(&[confined_library(None), confined_library(Some(confinement))]);
        let told: Vec<(&str, Verdict)> =
            findings.iter().map(|f| (f.name.as_str(), f.verdict)).collect();
        let note = Verdict::Note;
        assert_eq!(
            told,
            [("seccomp", Verdict::Ok), ("landlock", note), ("switched off", note), ("tried", note)]
        );
        assert!(findings[1].found.contains("missing with 1 of 1"), "{findings:?}");
        assert!(findings[3].found.contains("openssl (socket)"), "{findings:?}");
    }

    fn of(ghz: Option<f64>, most_khz: Option<u64>) -> Vec<Finding> {
        let mut machine = Machine::default();
        machine.host.cpu.frequency_range_khz = most_khz.map(|most| (1_000_000, most));
        examine_hardware(
            &machine,
            &Live { source: "cntvct".into(), core_ghz: ghz, ..Live::default() },
        )
    }

    #[test]
    fn a_chain_that_is_faster_than_the_core_can_be_is_a_problem() {
        for (ghz, most, verdict) in [
            (Some(2.6), Some(2_600_000), Verdict::Ok),
            (Some(1.4), Some(2_600_000), Verdict::Ok),
            (Some(5.2), Some(2_600_000), Verdict::Problem),
            (None, Some(2_600_000), Verdict::Problem),
            (Some(2.6), None, Verdict::Note),
        ] {
            assert_eq!(of(ghz, most)[0].verdict, verdict, "{ghz:?} {most:?}");
        }
    }

    #[test]
    fn what_is_open_is_named_with_the_command_that_closes_it() {
        let found = of(Some(2.6), None);
        assert!(found.len() > 4 && found.iter().all(|f| f.mend.is_some()), "{found:?}");
        let on_x86_64 = examine_hardware(
            &Machine::default(),
            &Live { source: "tsc".into(), ..Live::default() },
        );
        assert!(on_x86_64.is_empty());
    }
}
