//! Which instructions there are, and how they can be seen and hidden. Pure.

use crate::doctor::finding::Finding;
use crate::doctor::hidden;
use crate::doctor::machine::Machine;

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

pub(crate) fn examine(machine: &Machine) -> Vec<Finding> {
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
    if let Some(hidden) = hidden::hidden(&machine.host) {
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
