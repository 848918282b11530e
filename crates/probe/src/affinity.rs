//! Which CPUs the process may use.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs that this process may use, ascending.
#[must_use]
pub fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|c| set.is_set(*c)).filter_map(|c| u32::try_from(c).ok()).collect()
}

/// Lets the calling thread run on these CPUs only.
///
/// # Errors
/// The system's reason, when none of the CPUs may be used.
pub fn pin_to(cpus: &[u32]) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}
