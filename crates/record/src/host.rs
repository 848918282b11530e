//! The machine of a run: its facts, what decides which code runs on it, and how disturbed the run was.
//!
//! Host facts: what a reader must know of the machine to believe a number. Null means that the
//! machine does not say.

use base::model::{Disturbance, runtime_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Processor.
    pub cpu: Cpu,
    /// Clock that samples are timed with.
    pub clock: Clock,
    /// Operating system kernel.
    pub kernel: Kernel,
    /// Memory.
    pub memory: Memory,
    /// Name of the distribution.
    pub os: Option<String>,
    /// The C library that libraries call, by its own words and id (since 1.3); no part of a library's build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_library: Option<String>,
    /// Maker and model of the machine, physical or virtual, as its firmware gives them.
    pub machine: Option<String>,
    /// Hypervisor's name, when there is one.
    pub hypervisor: Option<String>,
    /// Whether core cycles can be counted by the performance counters from user space.
    pub pmu: bool,
    /// Load average over the last minute when the run began.
    pub load_average: Option<f64>,
    /// What is set that decides which code runs, beside the libraries and the CPU (since 1.6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub circumstances: Vec<Circumstance>,
}

impl Cpu {
    /// Which kind it is, as far as a processor tells: virtual machines give one name to CPUs of many years.
    pub fn kind(&self) -> String {
        let Self { name, family, model, stepping, .. } = self;
        format!("{name} family {family} model {model} stepping {stepping}")
    }
}

/// Processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Brand string.
    pub name: String,
    /// `GenuineIntel`, `AuthenticAMD`, …
    pub vendor: String,
    /// Family, extended.
    pub family: u32,
    /// Model, extended.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// CPUID features that bear on ciphers, in the kernel's spelling.
    pub features: Vec<String>,
    /// Caches as the measuring CPU sees them.
    pub caches: Vec<Cache>,
    /// Logical CPUs online.
    pub cpus_online: u32,
    /// CPUs that this process may use.
    pub cpus_allowed: u32,
    /// The CPU that measured.
    pub cpu_measuring: u32,
    /// Hardware threads of the measuring CPU's core, as the kernel sees them (a virtual machine's
    /// host may run other threads on the core unseen).
    pub thread_siblings: Option<String>,
    /// `on`, `off`, `notsupported`, …
    pub smt: Option<String>,
    /// Frequency driver.
    pub frequency_driver: Option<String>,
    /// Frequency governor.
    pub governor: Option<String>,
    /// Whether turbo or boost is on.
    pub boost: Option<bool>,
    /// Lowest and highest frequency in kHz that the driver offers.
    pub frequency_range_khz: Option<(u64, u64)>,
    /// CPUs kept free of other work by the kernel's command line.
    pub isolated: Option<String>,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1, 2, 3.
    pub level: u32,
    /// `Data`, `Instruction`, `Unified`.
    pub kind: String,
    /// Bytes.
    pub size_bytes: u64,
    /// Bytes in a line.
    pub line_bytes: u32,
    /// CPUs that share it.
    pub shared_by: String,
}

/// Clock that samples are timed with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// `tsc`, `cntvct` (aarch64) or `clock_monotonic_raw`.
    pub source: String,
    /// Why not the CPU's counter, when it is not.
    pub reason: Option<String>,
    /// Ticks in a second, measured over the run against `CLOCK_MONOTONIC_RAW`.
    pub ticks_per_second: f64,
    /// Smallest step seen, in ticks.
    pub step_ticks: u64,
    /// Ticks that an empty timed region takes; taken off every sample.
    pub overhead_ticks: u64,
    /// Core cycles that a link of the chain takes (x86-64: a multiplication, aarch64: an addition), by a second chain
    /// whose links take one (since 1.3); null where core cycles are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplication_cycles: Option<f64>,
    /// Why core cycles are not known, where the two chains contradict what is known of any core (since
    /// 1.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_reason: Option<String>,
    /// Median core clock over the clean samples, in GHz.
    pub core_ghz_median: Option<f64>,
    /// Its 5th and 95th percentile.
    pub core_ghz_range: Option<(f64, f64)>,
    /// Independent instructions per core cycle on the quiet core: what samples' probes are held
    /// against.
    pub quiet_probe: Option<f64>,
    /// Kernel's clock source.
    pub kernel_source: Option<String>,
}

/// Kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// `uname -r`.
    pub release: String,
    /// `uname -v`.
    pub version: String,
    /// State of each known CPU vulnerability.
    pub mitigations: Vec<Mitigation>,
    /// Parameters that started the kernel, as far as they bear on measuring (mitigations,
    /// isolated CPUs, clock source, …); the others may name disks and networks and are left out.
    pub command_line: Option<String>,
}

/// State of one CPU vulnerability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mitigation {
    /// `spectre_v2`, …
    pub name: String,
    /// The kernel's words.
    pub state: String,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Bytes in all.
    pub total_bytes: u64,
    /// Bytes in a page.
    pub page_bytes: u64,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_hugepages: Option<String>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
}

/// A variable of the environment or a file that decides which code a library or a runtime runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Circumstance {
    /// The variable's name, or the file's path.
    pub name: String,
    /// The variable's value; absent for a file, and for a variable that ciphermark does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// SHA-256, in hexadecimal, of the file, of the files that the value names, or of a value that is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What it concerns: families of libraries, runtimes, or `every library`.
    pub concerns: Vec<String>,
    /// What it does, as the end of a sentence: `hides CPU features`.
    pub effect: String,
}

/// Concerns that nobody has who measures no such runtime.
const RUNTIMES: [&str; 4] = ["go", "java", "node", "python"];

/// Digits of a hash that tell two contents apart for a reader.
const DIGITS: usize = 8;

impl Circumstance {
    /// `OPENSSL_ia32cap=~0x2 is set: it hides CPU features (openssl, boringssl)`.
    pub fn sentence(&self) -> String {
        let Self { name, value, concerns, effect, .. } = self;
        let what = match value {
            Some(value) => format!("{name}={value} is set"),
            None if name.starts_with('/') => format!("{name} exists"),
            None => format!("{name} is set"),
        };
        format!("{what}: it {effect} ({})", concerns.join(", "))
    }

    /// Whether it can bear on any of the libraries, which are given by their paths.
    pub fn bears_on(&self, libraries: &[&str]) -> bool {
        let runtimes: Vec<&str> =
            libraries.iter().filter_map(|path| runtime_name(Path::new(path))).collect();
        // A program of the user's may be in any language.
        let of = |concern: &str| runtimes.iter().any(|r| r.starts_with(concern) || r.contains('/'));
        self.concerns.iter().any(|concern| match &**concern {
            concern if RUNTIMES.contains(&concern) => of(concern),
            "every library" => true,
            "TLS" => false,
            _ => runtimes.len() < libraries.len(),
        })
    }

    fn shown(&self) -> String {
        let hash = self
            .sha256
            .as_ref()
            .map(|hash| format!("sha256:{}", hash.chars().take(DIGITS).collect::<String>()));
        let parts: Vec<String> = self.value.iter().cloned().chain(hash).collect();
        if parts.is_empty() { "set".to_owned() } else { parts.join(" ") }
    }
}

/// The circumstances that differ: the name, then what it was on each side, empty where nothing is recorded.
pub fn differing_circumstances(base: &[Circumstance], new: &[Circumstance]) -> Vec<[String; 3]> {
    let names: BTreeSet<&str> = base.iter().chain(new).map(|c| &*c.name).collect();
    let shown = |side: &[Circumstance], name: &str| {
        side.iter().find(|c| c.name == name).map(Circumstance::shown).unwrap_or_default()
    };
    let all = names.into_iter().map(|name| [name.to_owned(), shown(base, name), shown(new, name)]);
    all.filter(|[_, base, new]| base != new).collect()
}

/// What disturbed the samples of a run, and what was done against it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// Samples taken.
    pub samples: u64,
    /// Of these, the clean ones.
    pub clean: u64,
    /// The others, by the first reason that was found.
    pub disturbed: Disturbances,
    /// What the throughput probe gives on each measuring CPU when nothing else runs on its core.
    pub quiet: Vec<QuietCpu>,
    /// Seconds that the hypervisor took from the measuring CPUs during the run, in the kernel's
    /// steps of 10 ms; null where the kernel does not count them.
    pub stolen_seconds: Option<f64>,
    /// Seconds for which workers waited for their core to be quiet, of all CPUs together (since 1.6).
    #[serde(default, skip_serializing_if = "base::model::is_default")]
    pub waited_seconds: f64,
    /// What kept other programs off the core's other hardware threads: `core-scheduling`, where the
    /// kernel let nothing else run there while a worker ran, or `none`.
    pub shield: String,
}

/// Samples by the reason for which they do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Disturbances {
    /// Ended on another CPU.
    pub migrated: u64,
    /// Switched out against their will.
    pub switched: u64,
    /// A page had to be read from a disk.
    pub paged_in: u64,
    /// The hypervisor took the CPU away.
    pub stolen: u64,
    /// The core clock before and after differ.
    pub clock_moved: u64,
    /// A busy sibling hardware thread took execution slots.
    pub contended: u64,
    /// The process had not run the case for as long as it needs to reach its speed (since 1.6).
    #[serde(skip_serializing_if = "base::model::is_default")]
    pub unsettled: u64,
    /// The core was taken in between, as a faster sample of the process shows.
    #[serde(skip_serializing_if = "base::model::is_default")]
    pub interrupted: u64,
}

impl Disturbances {
    /// Adds samples that were disturbed for this reason.
    pub fn add(&mut self, why: Disturbance, samples: u64) {
        *self.of_mut(why) += samples;
    }

    /// How many were disturbed for this reason.
    pub fn of(&self, why: Disturbance) -> u64 {
        let mut copy = *self;
        *copy.of_mut(why)
    }

    pub fn is_none(&self) -> bool {
        self.total() == 0
    }

    pub fn total(&self) -> u64 {
        Disturbance::ALL.iter().fold(0, |all, why| all.saturating_add(self.of(*why)))
    }

    fn of_mut(&mut self, why: Disturbance) -> &mut u64 {
        match why {
            Disturbance::Migrated => &mut self.migrated,
            Disturbance::Switched => &mut self.switched,
            Disturbance::PagedIn => &mut self.paged_in,
            Disturbance::Stolen => &mut self.stolen,
            Disturbance::ClockMoved => &mut self.clock_moved,
            Disturbance::Contended => &mut self.contended,
            Disturbance::Unsettled => &mut self.unsettled,
            Disturbance::Interrupted => &mut self.interrupted,
        }
    }
}

/// A CPU's quiet rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietCpu {
    /// The CPU.
    pub cpu: u32,
    /// Independent instructions per core cycle on the quiet core.
    pub rate: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, value: &str, concern: &str) -> Circumstance {
        Circumstance {
            name: name.into(),
            value: Some(value.into()),
            concerns: vec![concern.into()],
            effect: "hides CPU features".into(),
            ..Circumstance::default()
        }
    }

    #[test]
    fn a_sentence_names_whom_it_concerns_and_what_it_does() {
        let mask = variable("OPENSSL_ia32cap", "~0x2", "openssl");
        let words = "OPENSSL_ia32cap=~0x2 is set: it hides CPU features (openssl)";
        assert_eq!(mask.sentence(), words);
        let file = Circumstance { name: "/etc/x".into(), value: None, ..mask };
        assert_eq!(file.sentence(), "/etc/x exists: it hides CPU features (openssl)");
    }

    #[test]
    fn what_concerns_a_runtime_is_of_no_use_beside_other_libraries() {
        let (go, c) = (variable("GODEBUG", "cpu.aes=off", "go"), variable("X", "1", "openssl"));
        let all = variable("LD_PRELOAD", "x.so", "every library");
        assert!(go.bears_on(&["/l.so", "runtime:go"]) && go.bears_on(&["runtime:/my/program"]));
        assert!(!go.bears_on(&["/l.so"]) && !go.bears_on(&["runtime:node"]));
        assert!(c.bears_on(&["/l.so"]) && !c.bears_on(&["runtime:go"]));
        assert!(all.bears_on(&["/l.so"]) && all.bears_on(&["runtime:go"]));
    }

    #[test]
    fn sides_differ_by_value_and_by_content() {
        let file = |hash: &str| Circumstance {
            name: "/etc/x".into(),
            sha256: Some(hash.into()),
            ..Circumstance::default()
        };
        let differing = |base: &[Circumstance], new: &[Circumstance]| {
            differing_circumstances(base, new).iter().map(|d| d.join("|")).collect::<Vec<_>>()
        };
        let mask = [variable("M", "1", "openssl")];
        assert!(differing(&mask, &mask).is_empty());
        assert_eq!(differing(&mask, &[]), ["M|1|"]);
        assert_eq!(differing(&mask, &[variable("M", "2", "openssl")]), ["M|1|2"]);
        let (one, other) = (file("0123456789"), file("9876543210"));
        assert_eq!(differing(&[one], &[other]), ["/etc/x|sha256:01234567|sha256:98765432"]);
    }

    #[test]
    fn every_reason_is_counted_apart() {
        let mut counts = Disturbances::default();
        for (i, why) in Disturbance::ALL.into_iter().enumerate() {
            counts.add(why, i as u64 + 1);
        }
        assert_eq!(counts.of(Disturbance::Contended), 6);
        assert_eq!(counts.total(), 36);
        let fields = serde_json::to_value(counts).unwrap();
        for why in Disturbance::ALL {
            assert_eq!(fields[why.name().replace('-', "_")], counts.of(why), "{}", why.name());
        }
    }
}
