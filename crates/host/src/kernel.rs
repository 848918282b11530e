//! The kernel, the distribution, the machine below and the counters.

use crate::tree::Tree;
use record::{Kernel, Mitigation};

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

pub(crate) fn kernel(tree: &Tree) -> Kernel {
    let state = |name: String| {
        let state = tree.text(&format!("{VULNERABILITIES}/{name}"))?;
        Some(Mitigation { name, state })
    };
    Kernel {
        release: tree.text("/proc/sys/kernel/osrelease").unwrap_or_default(),
        version: tree.text("/proc/sys/kernel/version").unwrap_or_default(),
        mitigations: tree.names(VULNERABILITIES).into_iter().filter_map(state).collect(),
        command_line: tree.text("/proc/cmdline").and_then(|line| bearing_on_measuring(&line)),
    }
}

/// Parameters of the kernel's command line that change how fast or how steadily code runs. Only
/// these are kept: records are published, and the others may name disks, networks and keys.
#[rustfmt::skip]
const PARAMETERS: &[&str] = &[
    "amd_pstate", "clearcpuid", "clocksource", "cpufreq.default_governor", "cpuidle.off",
    "default_hugepagesz", "hugepages", "hugepagesz", "idle", "intel_idle.max_cstate",
    "intel_pstate", "irqaffinity", "isolcpus", "l1tf", "maxcpus", "mds", "mitigations",
    "nmi_watchdog", "no_stf_barrier", "nohz", "nohz_full", "nopti", "nosmt", "nospectre_v1",
    "nospectre_v2", "nr_cpus", "numa_balancing", "preempt", "processor.max_cstate", "pti",
    "rcu_nocbs", "retbleed", "skew_tick", "spec_rstack_overflow", "spec_store_bypass_disable",
    "spectre_v2", "spectre_v2_user", "transparent_hugepage", "tsc", "tsx", "tsx_async_abort",
];

pub(crate) fn bearing_on_measuring(command_line: &str) -> Option<String> {
    let kept: Vec<&str> = command_line
        .split_whitespace()
        // What follows two dashes belongs to the first process, not to the kernel.
        .take_while(|word| *word != "--")
        .filter(|word| PARAMETERS.contains(&word.split('=').next().unwrap_or(word)))
        .collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

pub(crate) fn clock_source(tree: &Tree) -> Option<String> {
    tree.text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// The distribution's name for people (os-release(5)).
pub(crate) fn distribution(tree: &Tree) -> Option<String> {
    let text = tree.text("/etc/os-release").or_else(|| tree.text("/usr/lib/os-release"))?;
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// Maker and model, as the firmware gives them (SMBIOS type 1, or the device tree).
pub(crate) fn machine(tree: &Tree) -> Option<String> {
    let field = |name: &str| tree.text(&format!("/sys/devices/virtual/dmi/id/{name}"));
    let words: Vec<String> =
        [field("sys_vendor"), field("product_name")].into_iter().flatten().collect();
    if words.is_empty() {
        let model = tree.text("/proc/device-tree/model")?;
        return Some(model.trim_end_matches('\0').to_owned());
    }
    Some(words.join(" "))
}

pub(crate) fn load_average(tree: &Tree) -> Option<f64> {
    tree.text("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

/// Whether core cycles can be counted from user space: there is a device for the core's counters,
/// and the kernel lets everybody count their own code (`perf_event_paranoid` up to 2).
pub(crate) fn has_pmu(tree: &Tree) -> bool {
    let counters = counters(tree);
    counters.device && counters.paranoid.is_some_and(|level| level <= 2)
}

/// The core's performance counters, as far as the kernel has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Whether there is a device for the core's own.
    pub device: bool,
    /// `perf_event_paranoid`; above 2 nobody without privileges may count.
    pub paranoid: Option<i32>,
}

pub(crate) fn counters(tree: &Tree) -> Counters {
    let is_core =
        |name: &String| name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv8_");
    Counters {
        device: tree.names("/sys/bus/event_source/devices").iter().any(is_core),
        paranoid: tree.number("/proc/sys/kernel/perf_event_paranoid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_kernel_gives_its_release_and_every_vulnerability() {
        let (_kept, tree) = fixtures::tree(&[
            ("/proc/sys/kernel/osrelease", "6.1.0\n"),
            ("/proc/sys/kernel/version", "#1 SMP\n"),
            ("/sys/devices/system/cpu/vulnerabilities/srbds", "Not affected\n"),
            ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n"),
        ]);
        let kernel = kernel(&tree);
        assert_eq!((kernel.release.as_str(), kernel.version.as_str()), ("6.1.0", "#1 SMP"));
        let states: Vec<_> =
            kernel.mitigations.iter().map(|m| (m.name.as_str(), m.state.as_str())).collect();
        assert_eq!(states, [("meltdown", "Mitigation: PTI"), ("srbds", "Not affected")]);
    }

    #[test]
    fn the_command_line_keeps_what_bears_on_measuring_and_nothing_private() {
        let line = "root=UUID=1234 mitigations=off ip=10.0.0.1 isolcpus=1 quiet -- tsc=secret";
        assert_eq!(bearing_on_measuring(line).as_deref(), Some("mitigations=off isolcpus=1"));
        assert_eq!(bearing_on_measuring("root=/dev/sda quiet"), None);
    }

    #[test]
    fn parameters_are_sorted_so_that_they_are_found() {
        assert!(PARAMETERS.is_sorted());
    }

    #[test]
    fn the_distribution_is_named_with_or_without_quotes() {
        let named = |path: &str, text: &str| distribution(&fixtures::tree(&[(path, text)]).1);
        let quoted = "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        let (_kept, tree) = fixtures::tree(&[("/etc/os-release", quoted)]);
        assert_eq!(distribution(&tree).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        let (_kept, tree) = fixtures::tree(&[("/usr/lib/os-release", "PRETTY_NAME=Void\n")]);
        assert_eq!(distribution(&tree).as_deref(), Some("Void"));
        assert_eq!(named("/etc/os-release", "NAME=x\n"), None);
    }

    #[test]
    fn the_machine_is_named_by_its_firmware() {
        let (_kept, tree) = fixtures::tree(&[
            ("/sys/devices/virtual/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("/sys/devices/virtual/dmi/id/product_name", "m7i.large\n"),
        ]);
        assert_eq!(machine(&tree).as_deref(), Some("Amazon EC2 m7i.large"));
        let (_kept, tree) = fixtures::tree(&[("/proc/device-tree/model", "Raspberry Pi 5\0")]);
        assert_eq!(machine(&tree).as_deref(), Some("Raspberry Pi 5"));
    }

    #[test]
    fn counters_need_a_device_and_leave_to_use_it() {
        let device = ("/sys/bus/event_source/devices/cpu/type", "4");
        let allowed = |level| ("/proc/sys/kernel/perf_event_paranoid", level);
        let pmu = |files: &[(&str, &str)]| {
            let (_kept, tree) = fixtures::tree(files);
            has_pmu(&tree)
        };
        assert!(pmu(&[device, allowed("2\n")]));
        assert!(pmu(&[device, allowed("-1\n")]));
        assert!(!pmu(&[device, allowed("3\n")]));
        assert!(!pmu(&[allowed("2\n")]));
        assert!(!pmu(&[("/sys/bus/event_source/devices/software/type", "1"), allowed("0\n")]));
    }
}
