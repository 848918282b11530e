//! What the kernel says: of itself, the distribution, the machine below and the counters; of memory; where a
//! CPU's time went. And the files in which it says so, below a root that tests can choose.

use record::{Kernel, Memory, Mitigation};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

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

pub(crate) fn memory(tree: &Tree) -> Memory {
    let huge_pages = tree.text("/sys/kernel/mm/transparent_hugepage/enabled");
    let nodes = tree.text("/sys/devices/system/node/online");
    Memory {
        total_bytes: total_bytes(tree).unwrap_or(0),
        page_bytes: rustix::param::page_size() as u64,
        transparent_hugepages: huge_pages.and_then(|text| chosen(&text)),
        numa_nodes: nodes.and_then(|list| count_of_list(&list)),
    }
}

/// `MemTotal:  16384 kB`, where the kernel's kB is 1024 bytes.
fn total_bytes(tree: &Tree) -> Option<u64> {
    field(tree, "MemTotal:")
}

pub(crate) fn available_bytes(tree: &Tree) -> Option<u64> {
    field(tree, "MemAvailable:")
}

fn field(tree: &Tree, name: &str) -> Option<u64> {
    let text = tree.text("/proc/meminfo")?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The word in brackets of `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

/// Time that a CPU has spent since the machine started, in the kernel's clock ticks
/// ([`ticks_per_second`]; 10 ms mostly). proc_stat(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Running something: user, nice, system, interrupts.
    pub busy: u64,
    /// Running nothing, or waiting for a disk.
    pub idle: u64,
    /// Ready to run while the hypervisor ran something else.
    pub stolen: u64,
}

/// One CPU's times; `None` where the kernel does not say.
#[must_use]
pub fn cpu_times(cpu: u32) -> Option<CpuTimes> {
    times_of(&Tree::at("/"), cpu)
}

/// Clock ticks in a second.
#[must_use]
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

fn times_of(tree: &Tree, cpu: u32) -> Option<CpuTimes> {
    let text = tree.text("/proc/stat")?;
    let name = format!("cpu{cpu}");
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
    let fields: Vec<u64> =
        line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, waiting, hard, soft, stolen, ..] = fields[..] else {
        return None;
    };
    Some(CpuTimes { busy: user + nice + system + hard + soft, idle: idle + waiting, stolen })
}

/// A file system tree: `/`, or a stand-in for it.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub(crate) fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file's text without the space around it; `None` when it cannot be read or is empty.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.place(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A file's text as a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// Names in a directory, sorted; empty when there is none.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        names_in(&self.place(path))
    }
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The ranges of numbers that a kernel list names: `0-3,8` has two. `None` when it is no list.
#[must_use]
pub fn ranges_of_list(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse().ok()?..=last.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    list.trim().split(',').map(range).collect()
}

/// How many numbers a kernel list names.
pub(crate) fn count_of_list(list: &str) -> Option<u32> {
    ranges_of_list(list)?.iter().try_fold(0_u32, |count, range| {
        count.checked_add((range.end() - range.start()).checked_add(1)?)
    })
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

    #[test]
    fn memory_is_given_in_bytes() {
        let (_kept, tree) = fixtures::tree(&[
            ("/proc/meminfo", "MemTotal:       16384 kB\nMemAvailable: 1 kB\n"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("/sys/devices/system/node/online", "0-1\n"),
        ]);
        let memory = memory(&tree);
        assert_eq!(memory.total_bytes, 16 << 20);
        assert_eq!(available_bytes(&tree), Some(1024));
        assert_eq!(memory.transparent_hugepages.as_deref(), Some("madvise"));
        assert_eq!(memory.numa_nodes, Some(2));
    }

    #[test]
    fn a_cpus_times_are_its_own() {
        let (_kept, tree) = fixtures::tree(&[(
            "/proc/stat",
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 1 2 3 40 5 6 7 8 0 0\ncpu11 0 0 0 0 0 0 0 0 0 0\nintr 5\n",
        )]);
        let times = times_of(&tree, 1).unwrap();
        assert_eq!(times, CpuTimes { busy: 19, idle: 45, stolen: 8 });
        assert_eq!(times_of(&tree, 11), Some(CpuTimes::default()));
        assert_eq!(times_of(&tree, 2), None);
    }

    #[test]
    fn a_kernel_that_counts_no_stolen_time_says_nothing() {
        let (_kept, tree) = fixtures::tree(&[("/proc/stat", "cpu0 1 2 3 4\n")]);
        assert_eq!(times_of(&tree, 0), None);
    }

    #[test]
    fn kernel_lists_are_counted() {
        assert_eq!(count_of_list("0"), Some(1));
        assert_eq!(count_of_list("0-3,8\n"), Some(5));
        assert_eq!(ranges_of_list("0-3,8\n"), Some(vec![0..=3, 8..=8]));
        for bad in ["", "3-0", "a-b", "0,,1", "0-4294967295", "0-4294967294,0"] {
            assert_eq!(count_of_list(bad), None, "{bad}");
        }
    }
}
