//! The processor: identity, features, caches, frequency; and which of the kernel's CPU flags bear on ciphers
//! or on timing.

use crate::kernel::{Tree, count_of_list};
use record::{Cache, Cpu};
use std::collections::BTreeMap;

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
    #[cfg(target_arch = "aarch64")]
    let known = crate::midr::core(listed.number("CPU implementer"), model);
    #[cfg(not(target_arch = "aarch64"))]
    let known: Option<(&str, &str)> = None;
    let (vendor, name) = known.unzip();
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
}
