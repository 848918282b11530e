//! Processes that a library started.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering};

/// The child that is this program's own: a runtime's process. 0: none.
static OWN: AtomicI32 = AtomicI32::new(0);

/// Leaves a child alone that a library did not start.
pub fn keep(child: u32) {
    OWN.store(child.cast_signed(), Ordering::Relaxed);
}

/// Has the kernel give orphans of this process's children to it instead of to the machine's first process:
/// none can slip away by being started twice.
///
/// # Errors
/// The system's reason.
pub fn adopt() -> std::io::Result<()> {
    // SAFETY: sets a flag of this process.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Whether this process has a child, alive or dead and not waited for.
#[must_use]
pub fn exist() -> bool {
    if OWN.load(Ordering::Relaxed) != 0 {
        return !children().is_empty();
    }
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is writable; no child's state is taken (`WNOWAIT`).
    unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), options | libc::__WALL) == 0 }
}

/// Kills every child and waits for it; how many there were. A child's children follow it to this process
/// (see [`adopt`]), so the last ones are found as well.
pub fn end() -> usize {
    let mut ended = 0;
    while exist() {
        let children = children();
        if children.is_empty() {
            // Nobody tells which they are. They end with the group of processes that they are in.
            return ended + 1;
        }
        let before = ended;
        for child in &children {
            // SAFETY: a child that nobody has waited for keeps its number.
            unsafe { libc::kill(*child, libc::SIGKILL) };
        }
        for child in children {
            // SAFETY: asks for no status.
            let waited = unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::__WALL) };
            ended += usize::from(waited > 0);
        }
        if ended == before {
            break;
        }
    }
    ended
}

/// Of all threads of this process, without its own.
fn children() -> Vec<i32> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists =
        threads.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    let own = OWN.load(Ordering::Relaxed);
    let words = lists.iter().flat_map(|l| l.split_whitespace());
    words.filter_map(|word| word.parse().ok()).filter(|child| *child != own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: &str = "CIPHERMARK_TEST_CHILD";

    /// In a process of its own: other tests have children too, and these must not be ended.
    #[test]
    #[ignore = "child: ends all of its process's children, for the test below"]
    fn alone() {
        if std::env::var_os(ALONE).is_none() {
            return;
        }
        assert!(!exist());
        let child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(exist());
        assert_eq!(end(), 1);
        assert!(!exist());
        drop(child);
    }

    #[test]
    fn a_child_is_seen_and_ended() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "surroundings::children::tests::alone"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
