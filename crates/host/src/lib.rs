//! Reads facts of the machine, finds the shared objects on it, and keeps in the user's caches what an
//! earlier run found of it. Measures nothing, loads nothing.

mod cache;
mod child;
mod circumstances;
pub mod confine;
mod elf;
#[cfg(test)]
mod fixtures;
mod identity;
#[doc(hidden)]
pub mod inputs;
mod libraries;
mod machine;
pub mod memory;
#[cfg(any(test, target_arch = "aarch64"))]
mod midr;
pub mod tier;
mod watched;

pub use cache::{Remembered, cache_directory, is_cache_entry};
pub use child::{end_group, ends_within, output};
pub use circumstances::{check_configuration, circumstances, configuration_files, environment};
pub use elf::{
    Dynamic, check_bytes, check_elf, dependencies, expanded, exports, imports, is_object,
    library_path, object_at,
};
pub use identity::{
    c_library, content_hash, file_id, id_now, id_of, id_with_provider, instructions_in, kernel_id,
    loaded_files, loaded_objects, loaded_objects_of, text_hash, whole_id,
};
pub use libraries::{
    Bundled, Family, Found, bundled, companion, find_libraries, find_stacks, is_stack,
};
use machine::Tree;
pub use machine::{Counters, CpuTimes, cpu_times, ticks_per_second};
use record::{Clock, Host};
pub use watched::{WATCH_VARIABLE, WatchFile, cpu_of_children, is_running, share, stat_field};

/// What the machine says of itself. `measuring_cpu` is the logical CPU that the samples are taken
/// on: caches, frequency and siblings are its own.
///
/// Of `clock` only the kernel's source is filled in; the other fields are measured by the run.
pub fn facts(measuring_cpu: u32) -> Host {
    let (circumstances, c_library) = (circumstances(), c_library());
    Host { circumstances, c_library, ..facts_of(&Tree::at("/"), measuring_cpu) }
}

/// The highest frequency that the driver offers for a CPU, in kHz; `None` where it does not say.
pub fn max_frequency_khz(cpu: u32) -> Option<u64> {
    Tree::at("/").number(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"))
}

/// The core's performance counters.
pub fn counters() -> Counters {
    machine::counters(&Tree::at("/"))
}

/// What tells this machine from others of its kind: a hash of the system's machine id, made for this
/// program alone, because the id itself is not to be given away (machine-id(5)). `None` where there
/// is none, as in many containers.
pub fn machine_hash() -> Option<String> {
    let id = Tree::at("/").text("/etc/machine-id")?;
    Some(text_hash(&format!("ciphermark {id}")))
}

/// Bytes of memory that this process and others can still have, within a container's limit; `None` where the kernel does not say.
pub fn available_bytes() -> Option<u64> {
    machine::available_bytes(&Tree::at("/"))
}

/// CPUs' worth of time that a container's limit leaves this process; `None` without one.
pub fn cpu_limit() -> Option<f64> {
    machine::cpu_limit(&Tree::at("/"))
}

/// Bytes of memory that a worker can take now: what its confinement leaves it, and no more than there is.
pub fn room_bytes() -> u64 {
    confine::half_of_memory().min(available_bytes().unwrap_or(u64::MAX))
}

fn facts_of(tree: &Tree, measuring_cpu: u32) -> Host {
    Host {
        cpu: machine::cpu(tree, measuring_cpu),
        clock: Clock { kernel_source: machine::clock_source(tree), ..Clock::default() },
        kernel: machine::kernel(tree),
        memory: machine::memory(tree),
        os: machine::distribution(tree),
        c_library: None,
        machine: machine::machine(tree),
        hypervisor: machine::hypervisor(tree, measuring_cpu),
        pmu: machine::has_pmu(tree),
        load_average: machine::load_average(tree),
        circumstances: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_says_what_every_linux_machine_says() {
        let host = facts(0);
        assert!(!host.cpu.name.is_empty());
        assert!(host.cpu.cpus_online >= 1 && host.cpu.cpus_allowed >= 1);
        assert!(!host.kernel.release.is_empty());
        assert!(host.memory.total_bytes > 1 << 20);
        assert!(host.memory.page_bytes.is_power_of_two());
        assert!(!host.cpu.features.is_empty());
        assert!(host.load_average.is_some());
    }

    #[test]
    fn a_machine_that_says_nothing_gives_nulls() {
        let directory = tempfile::tempdir().unwrap();
        let host = facts_of(&Tree::at(directory.path()), 0);
        assert_eq!((host.os, host.machine, host.load_average), (None, None, None));
        assert_eq!(host.clock, Clock::default());
        assert_eq!(host.kernel, record::Kernel::default());
        assert!(!host.pmu && host.cpu.caches.is_empty() && host.cpu.boost.is_none());
        assert_eq!(host.memory.total_bytes, 0);
    }
}
