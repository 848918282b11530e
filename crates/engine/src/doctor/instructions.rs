//! Which instructions there are, how they can be seen and hidden, what CPUs of this kind have and this
//! machine does not show, and what only the hardware of aarch64 settles. Pure.

use crate::doctor::{Finding, Live, Machine};
use record::{Cpu, Host};

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
const KINDS: &[(&str, u32, &[u32], &[&str])] = &[
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
    let (.., has) = KINDS.iter().find(|(vendor, family, models, _)| {
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
mod tests {
    use super::*;
    use crate::doctor::Verdict;

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
