//! What the machine says of itself. The processor: identity, features, caches, frequency; and which of the
//! kernel's CPU flags bear on ciphers or on timing. The kernel: of itself, the distribution, the machine
//! below and the counters; of memory; where a CPU's time went. And the files in which it says so, below a
//! root that tests can choose.

use base::model::ranges_of_list;
use record::{Cache, Cpu, Kernel, Memory, Mitigation};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CPUS: &str = "/sys/devices/system/cpu";

pub(crate) fn cpu(tree: &Tree, measuring_cpu: u32) -> Cpu {
    let listed = Listed::of(tree, measuring_cpu);
    let this = format!("{CPUS}/cpu{measuring_cpu}");
    let online = tree.text(&format!("{CPUS}/online"));
    Cpu {
        microcode: listed.get("microcode"),
        features: bearing_on_ciphers(&listed.flags()),
        caches: caches(tree, &this),
        cpus_online: online.and_then(|list| count_of_list(&list)).unwrap_or(0),
        cpus_allowed: allowed(tree),
        cpu_measuring: measuring_cpu,
        thread_siblings: tree.text(&format!("{this}/topology/thread_siblings_list")),
        smt: tree.text(&format!("{CPUS}/smt/control")),
        frequency_driver: tree.text(&format!("{this}/cpufreq/scaling_driver")),
        governor: tree.text(&format!("{this}/cpufreq/scaling_governor")),
        boost: boost(tree, &this),
        frequency_range_khz: tree
            .number(&format!("{this}/cpufreq/cpuinfo_min_freq"))
            .zip(tree.number(&format!("{this}/cpufreq/cpuinfo_max_freq"))),
        isolated: tree.text(&format!("{CPUS}/isolated")),
        ..identity(&listed)
    }
}

/// Name, vendor, family, model and stepping.
#[cfg(target_arch = "x86_64")]
fn identity(listed: &Listed) -> Cpu {
    let cpuid = raw_cpuid::CpuId::new();
    let brand = cpuid.get_processor_brand_string().map(|b| b.as_str().trim().to_owned());
    let version = cpuid.get_feature_info();
    let number = |read: fn(&raw_cpuid::FeatureInfo) -> u8| {
        version.as_ref().map_or(0, |v| u32::from(read(v)))
    };
    Cpu {
        name: brand.filter(|b| !b.is_empty()).or_else(|| listed.name()).unwrap_or_default(),
        vendor: cpuid.get_vendor_info().map(|v| v.as_str().to_owned()).unwrap_or_default(),
        family: number(raw_cpuid::FeatureInfo::family_id),
        model: number(raw_cpuid::FeatureInfo::model_id),
        stepping: number(raw_cpuid::FeatureInfo::stepping_id),
        ..Cpu::default()
    }
}

/// Name, vendor, family, model and stepping, as far as `/proc/cpuinfo` has them: the architecture's version, the part
/// number of MIDR_EL1, and its variant and revision, r3p1 as 0x31.
#[cfg(not(target_arch = "x86_64"))]
fn identity(listed: &Listed) -> Cpu {
    let model = listed.number("CPU part");
    let (vendor, name) = crate::midr::core(listed.number("CPU implementer"), model).unzip();
    let (listed_name, implementer) = (listed.name(), listed.get("CPU implementer"));
    Cpu {
        name: name.map(str::to_owned).or(listed_name).unwrap_or_default(),
        vendor: vendor.map(str::to_owned).or(implementer).unwrap_or_default(),
        family: listed.number("CPU architecture"),
        model,
        stepping: listed.number("CPU variant") << 4 | listed.number("CPU revision"),
        ..Cpu::default()
    }
}

/// The hypervisor's name, as it gives it to its guest.
pub(crate) fn hypervisor(tree: &Tree, measuring_cpu: u32) -> Option<String> {
    hypervisor_by_cpuid().or_else(|| tree.text("/sys/hypervisor/type")).or_else(|| {
        let flags = Listed::of(tree, measuring_cpu).flags();
        flags.split_whitespace().any(|f| f == "hypervisor").then(|| "unknown".to_owned())
    })
}

/// CPUID leaf 0x4000_0000 (by convention among hypervisors; no vendor's manual defines it).
#[cfg(target_arch = "x86_64")]
fn hypervisor_by_cpuid() -> Option<String> {
    use raw_cpuid::Hypervisor;
    let cpuid = raw_cpuid::CpuId::new();
    // Without the feature bit the leaf holds leftovers of another one.
    if !cpuid.get_feature_info()?.has_hypervisor() {
        return None;
    }
    match cpuid.get_hypervisor_info()?.identify() {
        Hypervisor::Unknown(b, c, d) => letters(&[b, c, d]),
        known => Some(format!("{known:?}")),
    }
}

/// The twelve letters of a signature in three registers, as far as they are letters.
#[cfg(target_arch = "x86_64")]
fn letters(registers: &[u32]) -> Option<String> {
    let bytes = registers.iter().flat_map(|r| r.to_le_bytes());
    let text: String = bytes.map(char::from).filter(|c| (' '..='~').contains(c)).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor_by_cpuid() -> Option<String> {
    None
}

/// One processor's fields in `/proc/cpuinfo`.
pub(crate) struct Listed(BTreeMap<String, String>);

impl Listed {
    fn of(tree: &Tree, cpu: u32) -> Self {
        Self::parse(&tree.text("/proc/cpuinfo").unwrap_or_default(), cpu)
    }

    pub(crate) fn parse(text: &str, cpu: u32) -> Self {
        let mut blocks = text.split("\n\n").map(fields);
        let number = cpu.to_string();
        let found = blocks.find(|b| b.get("processor") == Some(&number));
        Self(found.unwrap_or_default())
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn name(&self) -> Option<String> {
        let part = || {
            let (implementer, part) = (self.get("CPU implementer")?, self.get("CPU part")?);
            Some(format!("implementer {implementer} part {part}"))
        };
        self.get("model name").or_else(part)
    }

    fn flags(&self) -> String {
        self.get("flags").or_else(|| self.get("Features")).unwrap_or_default()
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn number(&self, name: &str) -> u32 {
        let text = self.get(name).unwrap_or_default();
        match text.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).unwrap_or(0),
            None => text.parse().unwrap_or(0),
        }
    }
}

fn fields(block: &str) -> BTreeMap<String, String> {
    let pairs = block.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

fn allowed(tree: &Tree) -> u32 {
    let status = fields(&tree.text("/proc/self/status").unwrap_or_default());
    status.get("Cpus_allowed_list").and_then(|list| count_of_list(list)).unwrap_or(0)
}

/// The drivers spell it in three ways: a system-wide switch, Intel's inverted one, one per CPU.
fn boost(tree: &Tree, this: &str) -> Option<bool> {
    let switch = |path: &str, on: u32| tree.number::<u32>(path).map(|value| value == on);
    switch(&format!("{CPUS}/cpufreq/boost"), 1)
        .or_else(|| switch(&format!("{CPUS}/intel_pstate/no_turbo"), 0))
        .or_else(|| switch(&format!("{this}/cpufreq/boost"), 1))
}

fn caches(tree: &Tree, this: &str) -> Vec<Cache> {
    let indices = tree.names(&format!("{this}/cache"));
    let mut caches: Vec<Cache> = indices
        .iter()
        .filter(|name| name.starts_with("index"))
        .filter_map(|name| cache(tree, &format!("{this}/cache/{name}")))
        .collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

fn cache(tree: &Tree, at: &str) -> Option<Cache> {
    Some(Cache {
        level: tree.number(&format!("{at}/level"))?,
        kind: tree.text(&format!("{at}/type"))?,
        size_bytes: size(&tree.text(&format!("{at}/size"))?)?,
        line_bytes: tree.number(&format!("{at}/coherency_line_size")).unwrap_or(0),
        shared_by: tree.text(&format!("{at}/shared_cpu_list")).unwrap_or_default(),
    })
}

/// `48K` in bytes.
pub(crate) fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let scale = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}
/// x86-64 and AArch64 in one list: the names do not clash where both have them.
#[rustfmt::skip]
const FLAG_NAMES: &[&str] = &[
    // Instructions that ciphers and digests are made of.
    "aes", "vaes", "pclmulqdq", "vpclmulqdq", "gfni", "sha_ni", "sha512", "sm3", "sm4", "aeskle",
    "sse2", "pni", "ssse3", "sse4_1", "sse4_2", "avx", "avx2", "avx_vnni", "fma", "xop", "adx",
    "abm", "bmi1", "bmi2", "movbe", "popcnt", "rdrand", "rdseed",
    // How fast memory is copied.
    "erms", "fsrm",
    // Clocks, and what hides instructions from a library.
    "rdtscp", "constant_tsc", "nonstop_tsc", "tsc_known_freq", "tsc_reliable", "hypervisor",
    "cpuid_fault",
    // AArch64.
    "asimd", "atomics", "cpuid", "pmull", "sha1", "sha2", "sha3", "sve", "sve2", "sveaes", "svepmull", "svesha3",
    "svesm4", "rng",
];

/// Families whose members keep growing.
const FLAG_FAMILIES: &[&str] = &["avx512", "avx10", "amx_"];

/// The flags that matter, in the kernel's spelling and order.
pub(crate) fn bearing_on_ciphers(flags: &str) -> Vec<String> {
    flags
        .split_whitespace()
        .filter(|f| {
            FLAG_NAMES.contains(f) || FLAG_FAMILIES.iter().any(|family| f.starts_with(family))
        })
        .map(str::to_owned)
        .collect()
}

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
    field(tree, "MemAvailable:").into_iter().chain(group_bytes(tree)).min()
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

// A container's limits: those of this process's control group and of all that it is in (cgroups(7)). Version 2 has one
// tree for all controllers, version 1 one for each.

/// Directories of these groups. A container may see its own at the root of the tree.
fn groups(tree: &Tree, controller: &str) -> Vec<String> {
    const ROOT: &str = "/sys/fs/cgroup";
    let lines = tree.text("/proc/self/cgroup").unwrap_or_default();
    let of_line = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let root = match controllers {
            "" => ROOT.to_owned(),
            names if names.split(',').any(|name| name == controller) => {
                format!("{ROOT}/{controller}")
            }
            _ => return None,
        };
        let own = Path::new(path).ancestors();
        let directories = own.map(|group| format!("{root}{}", group.display()));
        Some(directories.collect::<Vec<String>>())
    };
    lines.lines().filter_map(of_line).flatten().collect()
}

/// CPUs' worth of time that a container may use; `None` without a limit.
pub(crate) fn cpu_limit(tree: &Tree) -> Option<f64> {
    let limit = |group: &String| {
        let both = tree.text(&format!("{group}/cpu.max")).or_else(|| {
            let of = |name: &str| tree.text(&format!("{group}/cpu.cfs_{name}_us"));
            Some(format!("{} {}", of("quota")?, of("period")?))
        })?;
        let (quota, period) = both.split_once(' ')?;
        let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
        // Version 1 says -1 where there is no limit.
        (quota > 0.0 && period > 0.0).then(|| quota / period)
    };
    groups(tree, "cpu").iter().filter_map(limit).min_by(f64::total_cmp)
}

/// Bytes that a container may still take, with what the kernel can drop of its files.
fn group_bytes(tree: &Tree) -> Option<u64> {
    let left = |group: &String| {
        let number = |names: [&str; 2]| {
            names.iter().find_map(|name| tree.number::<u64>(&format!("{group}/memory.{name}")))
        };
        let (most, used) =
            (number(["max", "limit_in_bytes"])?, number(["current", "usage_in_bytes"])?);
        let facts = tree.text(&format!("{group}/memory.stat")).unwrap_or_default();
        let of = |name: &str| facts.lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
        let droppable: u64 =
            of("total_inactive_file ").or_else(|| of("inactive_file ")).unwrap_or(0);
        Some(most.saturating_sub(used.saturating_sub(droppable)))
    };
    groups(tree, "memory").iter().filter_map(left).min()
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
pub fn cpu_times(cpu: u32) -> Option<CpuTimes> {
    times_of(&Tree::at("/"), cpu)
}

/// Clock ticks in a second.
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

    const CPUINFO: &str = "processor\t: 0\nmodel name\t: Little\nmicrocode\t: 0x1\nflags\t\t: \n\n\
        processor\t: 1\nmodel name\t: Big\nmicrocode\t: 0x2\nflags\t\t: fpu aes hypervisor\n";

    #[test]
    fn the_measuring_cpu_and_no_other_is_described() {
        let (_kept, tree) = fixtures::tree(&[
            ("/proc/cpuinfo", CPUINFO),
            ("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t1,3-5\n"),
            ("/sys/devices/system/cpu/online", "0-7\n"),
            ("/sys/devices/system/cpu/isolated", "\n"),
            ("/sys/devices/system/cpu/smt/control", "on\n"),
            ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,5\n"),
            ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_min_freq", "800000\n"),
            ("/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "4800000\n"),
        ]);
        let cpu = cpu(&tree, 1);
        assert_eq!(cpu.microcode.as_deref(), Some("0x2"));
        assert_eq!(cpu.features, ["aes", "hypervisor"]);
        assert_eq!((cpu.cpus_online, cpu.cpus_allowed, cpu.cpu_measuring), (8, 4, 1));
        assert_eq!(cpu.thread_siblings.as_deref(), Some("1,5"));
        assert_eq!(cpu.smt.as_deref(), Some("on"));
        assert_eq!(cpu.governor.as_deref(), Some("performance"));
        assert_eq!(cpu.boost, Some(false));
        assert_eq!(cpu.frequency_range_khz, Some((800_000, 4_800_000)));
        assert_eq!((cpu.isolated, cpu.frequency_driver), (None, None));
    }

    #[test]
    fn caches_are_listed_from_the_core_outwards() {
        let at = |i: u32, file: &str| format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{file}");
        let files: Vec<(String, &str)> = [(0, "3", "Unified", "32M"), (1, "1", "Data", "48K")]
            .into_iter()
            .flat_map(|(i, level, kind, size)| {
                [
                    (at(i, "level"), level),
                    (at(i, "type"), kind),
                    (at(i, "size"), size),
                    (at(i, "coherency_line_size"), "64"),
                    (at(i, "shared_cpu_list"), "0-1"),
                ]
            })
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), *t)).collect();
        let (_kept, tree) = fixtures::tree(&files);
        let caches = cpu(&tree, 0).caches;
        assert_eq!(
            caches.iter().map(|c| (c.level, c.size_bytes)).collect::<Vec<_>>(),
            [(1, 48 << 10), (3, 32 << 20)]
        );
        assert_eq!((caches[0].kind.as_str(), caches[0].line_bytes), ("Data", 64));
    }

    #[test]
    fn cache_sizes_are_read_with_their_unit() {
        assert_eq!(size("48K"), Some(49_152));
        assert_eq!(size("2M"), Some(2 << 20));
        assert_eq!(size("512"), Some(512));
        assert_eq!(size("K"), None);
        assert_eq!(size("3X"), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn an_unknown_hypervisor_is_named_by_its_letters() {
        let register = |s: &[u8; 4]| u32::from_le_bytes(*s);
        let registers = [register(b"Test"), register(b"VMM "), register(b"\0\0\x1b[")];
        assert_eq!(letters(&registers).as_deref(), Some("TestVMM ["));
        assert_eq!(letters(&[0, 0, 0]), None);
    }

    #[test]
    fn only_flags_that_bear_on_ciphers_or_timing_are_kept() {
        let flags = "fpu aes syscall vpclmulqdq avx512_vbmi2 avx512f amx_int8 lahf_lm nonstop_tsc";
        assert_eq!(
            bearing_on_ciphers(flags),
            ["aes", "vpclmulqdq", "avx512_vbmi2", "avx512f", "amx_int8", "nonstop_tsc"]
        );
    }

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
    fn a_containers_limits_are_those_of_its_group_and_of_all_above() {
        let meminfo = ("/proc/meminfo", "MemTotal: 65536 kB\nMemAvailable: 60000 kB\n");
        let limits = |files: &[(&str, &str)]| {
            let (_kept, tree) = fixtures::tree(&[&[meminfo][..], files].concat());
            (cpu_limit(&tree), available_bytes(&tree))
        };
        assert_eq!(limits(&[]), (None, Some(60_000 << 10)));
        let second = [
            ("/proc/self/cgroup", "0::/pod/box\n"),
            ("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/pod/box/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/pod/box/memory.max", "4000000\n"),
            ("/sys/fs/cgroup/pod/box/memory.current", "3000000\n"),
            ("/sys/fs/cgroup/pod/box/memory.stat", "anon 1\ninactive_file 500000\n"),
        ];
        assert_eq!(limits(&second), (Some(1.5), Some(1_500_000)));
        let first = [
            ("/proc/self/cgroup", "4:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n0::/\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n"),
        ];
        assert_eq!(limits(&first), (Some(0.5), Some(60_000 << 10)));
        let none = [first[0], ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"), first[2]];
        assert_eq!(limits(&none).0, None);
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
