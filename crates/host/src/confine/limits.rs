//! Limits of resources: no core file, no file that grows without end, no more memory than the machine can
//! give, and the first to go when memory runs out.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A library that writes without end to the descriptors that it has must not fill the disk: standard error
/// is a file.
const FILE_BYTES: u64 = 64 << 20;

/// Descriptors. The most that a worker has are two for each algorithm that it samples.
const DESCRIPTORS: u64 = 1024;

/// The C library sets address space aside for each thread that allocates (two times 64 MiB) and for its
/// stack, which is not memory yet.
const ADDRESSES_PER_CPU: u64 = 256 << 20;

pub(crate) fn lower() -> Result<String, String> {
    let memory = half_of_memory();
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let mut failed = Vec::new();
    let mut limit = |name: &str, resource, most| {
        if let Err(e) = lower_to(resource, most) {
            failed.push(format!("{name}: {e}"));
        }
    };
    limit("core files", Resource::Core, 0);
    limit("size of files", Resource::Fsize, FILE_BYTES);
    limit("descriptors", Resource::Nofile, DESCRIPTORS);
    limit("memory", Resource::Data, memory);
    limit("address space", Resource::As, memory.saturating_add(cpus * ADDRESSES_PER_CPU));
    if let Err(e) = std::fs::write("/proc/self/oom_score_adj", "1000") {
        failed.push(format!("first to go when memory runs out: {e}"));
    }
    if !failed.is_empty() {
        return Err(failed.join("; "));
    }
    Ok(format!(
        "no core file, files to {} MiB, {DESCRIPTORS} descriptors, {} MiB of memory, first to go when memory runs out",
        FILE_BYTES >> 20,
        memory >> 20
    ))
}

/// Lowers both limits; one that is lower already stays.
fn lower_to(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |l| l.min(most)));
    setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) })
}

/// Half of the machine's memory: more than any case takes, and what a library that asks for all of it
/// leaves to everybody else.
fn half_of_memory() -> u64 {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).saturating_mul(u64::from(system.mem_unit)) / 2
}
