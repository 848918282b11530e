//! Host facts: what a reader must know of the machine to believe a number. Null means that the
//! machine does not say.

use crate::Circumstance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
