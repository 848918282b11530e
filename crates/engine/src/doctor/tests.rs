//! Made-up machines, good and bad.

use super::*;
use crate::doctor::finding::Verdict;
use crate::doctor::live::Neighbour;

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
    for name in ["interruptions", "other programs", "stolen time", "contention", "shared core"] {
        assert_eq!(verdict(&machine(), &live(), name), Verdict::Ok, "{name}");
    }
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
        machine.host.cpu = Cpu { vendor: vendor.into(), family, model, ..machine.host.cpu.clone() };
        let findings = examine(&machine, &live());
        let found = findings.into_iter().find(|f| f.name == "accuracy").unwrap();
        (found.found, found.mend)
    };
    assert!(KINDS.split('/').count() >= 2, "{KINDS}");
    for kind in KINDS.split('/') {
        let parts: Vec<&str> = kind.split('-').collect();
        let [vendor, family, model] = parts[..] else { panic!("{kind}") };
        let (found, mend) = of(vendor, family.parse().unwrap(), model.parse().unwrap());
        assert!(found.starts_with("checked on this kind") && mend.is_none(), "{kind}: {found}");
    }
    for (vendor, family, model) in
        [("AuthenticAMD", 25, 9999), ("GenuineIntel", 25, 17), ("AuthenticAMD", 2, 17), ("", 0, 0)]
    {
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
