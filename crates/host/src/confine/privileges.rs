//! Privileges and open descriptors.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

/// No program that the process could execute gets privileges that it has not, and an unprivileged process
/// may set filters (prctl(2), `PR_SET_NO_NEW_PRIVS`).
pub(crate) fn no_new() -> Result<String, String> {
    set_no_new_privs(true).map_err(|e| e.to_string())?;
    Ok("none by executing a program".to_owned())
}

/// Gives capabilities up for good: of this thread, and of those that it starts.
///
/// The superuser keeps one where the paths that can be read are limited by other means: to read what it
/// could read before, for the library may lie in another user's private directory, and its symbols are
/// read there later too.
pub(crate) fn drop_capabilities(paths_limited: bool) -> Result<String, String> {
    let had = capabilities(None).map_err(|e| e.to_string())?;
    let kept = if paths_limited { CapabilitySet::DAC_READ_SEARCH } else { CapabilitySet::empty() };
    let kept = kept & had.effective;
    if had.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..64 {
            // Numbers that this kernel does not know are refused; there is nothing to drop.
            let _ =
                remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number));
        }
    }
    // Kernels before 4.3 have none.
    let _ = clear_ambient_capability_set();
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(|e| e.to_string())?;
    let nothing_but = if kept.is_empty() { "none" } else { "none but to read the files below" };
    Ok(nothing_but.to_owned())
}

/// Closes every descriptor but the three standard ones and `kept`: the scheduler opens its own files so that
/// no worker inherits them, and whoever started the scheduler may not have.
///
/// Only for a process that has opened nothing else yet.
pub fn close_inherited(kept: BorrowedFd<'_>) {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let names = entries.flatten().map(|e| e.file_name());
    // All at once: the directory itself is open while it is read.
    let open: Vec<RawFd> = names.filter_map(|n| n.to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|d| *d > 2 && *d != kept.as_raw_fd()) {
        // SAFETY: the caller vouches that nobody in this process owns it. The directory's own is closed
        // already, which is an error that harms nothing.
        unsafe { libc::close(descriptor) };
    }
}
