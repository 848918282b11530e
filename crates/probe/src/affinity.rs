//! Which CPUs the process may use.

use rustix::process::Pid;
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
    Ok(sched_setaffinity(None, &set_of(cpus))?)
}

/// Lets another process, which has one thread, run on this CPU only.
///
/// # Errors
/// The system's reason, when the CPU may not be used or the process is not this user's.
pub fn move_to(process: u32, cpu: u32) -> std::io::Result<()> {
    Ok(sched_setaffinity(Pid::from_raw(process.cast_signed()), &set_of(&[cpu]))?)
}

/// Lets another process, with all of its threads and those that they start, run on this CPU only.
///
/// # Errors
/// The system's reason, as for [`move_to`].
pub fn move_threads_to(process: u32, cpu: u32) -> std::io::Result<()> {
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let number = thread?.file_name().to_str().and_then(|name| name.parse().ok());
        // A thread may have ended since.
        let moved = number.map_or(Ok(()), |thread| move_to(thread, cpu));
        if number == Some(process) {
            moved?;
        }
    }
    Ok(())
}

fn set_of(cpus: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu as usize);
    }
    set
}

/// Asks the kernel to let no other program run on the core's other hardware threads while this
/// process runs (core scheduling, Linux 5.14). Needs no privileges.
///
/// # Errors
/// The system's reason: a kernel without it, or one that knows of no other hardware thread.
pub fn have_core_alone() -> std::io::Result<()> {
    // <linux/prctl.h>; the calling process, with all of its threads.
    const PR_SCHED_CORE: i32 = 62;
    const CREATE: libc::c_ulong = 1;
    const SELF: libc::c_ulong = 0;
    const THREAD_GROUP: libc::c_ulong = 1;
    const UNUSED: libc::c_ulong = 0;
    // SAFETY: takes numbers alone; makes a new cookie for this process.
    let outcome = unsafe { libc::prctl(PR_SCHED_CORE, CREATE, SELF, THREAD_GROUP, UNUSED) };
    if outcome == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there is another hardware thread to be kept free hangs on the machine; that nothing
    /// else breaks does not.
    #[test]
    fn a_core_of_its_own_is_given_or_refused_with_a_reason() {
        if let Err(why) = have_core_alone() {
            assert!(why.raw_os_error().is_some_and(|code| code > 0), "{why}");
        }
        assert!(!allowed_cpus().is_empty());
    }
}
