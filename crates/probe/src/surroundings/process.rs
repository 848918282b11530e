//! What belongs to the process: signals, descriptors, directory, limits, timers.

use crate::surroundings::signals::Signals;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::PathBuf;

/// One moment's state of a process: what only its own code changes. Priority, scheduling and the CPUs that may
/// be used are not among it, for other programs of the same user change them as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    signals: Signals,
    /// Device and inode of each open descriptor.
    descriptors: BTreeMap<i32, (u64, u64)>,
    directory: Option<PathBuf>,
    umask: Option<String>,
    limits: Vec<(u64, u64)>,
    /// Whether each interval timer runs.
    timers: [bool; 3],
    /// What `prctl` tells, with its meaning.
    modes: [i32; MODES.len()],
}

/// Settings that `prctl` writes into an `int`.
const MODES: [(i32, &str); 2] = [
    (libc::PR_GET_TSC, "whether the time-stamp counter may be read"),
    (libc::PR_GET_PDEATHSIG, "the signal on the death of the program that started it"),
];

impl Process {
    /// As it is now. Costs some hundred system calls.
    #[must_use]
    pub fn now() -> Self {
        Self {
            signals: Signals::now(),
            descriptors: descriptors(),
            directory: std::env::current_dir().ok(),
            umask: umask(),
            limits: (0..LIMITS).map(limit).collect(),
            timers: [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF].map(runs),
            modes: MODES.map(|(mode, _)| prctl(mode)),
        }
    }

    /// What is no longer as it was, in words. Descriptors that were opened since are none of it:
    /// libraries keep sources of random numbers open.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Vec<String> {
        let mut changes = self.signals.changes(&later.signals);
        for (fd, file) in &self.descriptors {
            match later.descriptors.get(fd) {
                None => changes.push(format!("descriptor {fd} was closed{}", role(*fd))),
                Some(now) if now != file => {
                    changes.push(format!("descriptor {fd} was made another file's{}", role(*fd)));
                }
                Some(_) => {}
            }
        }
        let mut note = |changed: bool, what: &str| {
            if changed {
                changes.push(format!("{what} was changed"));
            }
        };
        note(self.directory != later.directory, "the working directory");
        // What could not be read once says nothing.
        let masks = self.umask.as_ref().zip(later.umask.as_ref());
        note(masks.is_some_and(|(before, after)| before != after), "the file mode mask");
        note(self.limits != later.limits, "a resource limit");
        note(self.timers != later.timers, "an interval timer");
        for ((before, after), (_, what)) in self.modes.iter().zip(&later.modes).zip(MODES) {
            note(before != after, what);
        }
        changes
    }
}

/// Kinds of limits that Linux has.
const LIMITS: u32 = 16;

fn role(fd: i32) -> &'static str {
    match fd {
        0 => " (standard input)",
        1 => " (standard output)",
        2 => " (standard error)",
        _ => "",
    }
}

/// Descriptors that are looked at: a worker has a handful, and may not be able to list them.
const DESCRIPTORS: i32 = 64;

fn descriptors() -> BTreeMap<i32, (u64, u64)> {
    (0..DESCRIPTORS).filter_map(|fd| Some((fd, file(fd)?))).collect()
}

fn file(fd: i32) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: any number may be asked about; `status` is writable, and zeroes are a valid `stat`.
    let (done, status) = unsafe {
        let done = libc::fstat(fd, status.as_mut_ptr());
        (done, status.assume_init())
    };
    (done == 0).then_some((status.st_dev, status.st_ino))
}

/// The kernel's line: asking by `umask` would set it.
fn umask() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find(|line| line.starts_with("Umask:")).map(str::to_owned)
}

fn limit(kind: u32) -> (u64, u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is writable.
    unsafe { libc::getrlimit(kind as _, &raw mut limit) };
    (limit.rlim_cur, limit.rlim_max)
}

fn runs(which: libc::c_int) -> bool {
    let mut timer = MaybeUninit::<libc::itimerval>::zeroed();
    // SAFETY: `timer` is writable, and zeroes are a valid `itimerval`.
    let timer = unsafe {
        libc::getitimer(which, timer.as_mut_ptr());
        timer.assume_init()
    };
    timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0
}

fn prctl(mode: i32) -> i32 {
    let mut value = 0_i32;
    // SAFETY: the modes above write one `int`.
    unsafe { libc::prctl(mode, &raw mut value) };
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_in_words() {
        let before = Process::now();
        let mut after = before.clone();
        after.descriptors.remove(&0);
        after.umask = Some("Umask:\t0777".to_owned());
        after.timers[0] = !after.timers[0];
        after.modes[0] += 1;
        let words = [
            "descriptor 0 was closed (standard input)",
            "the file mode mask was changed",
            "an interval timer was changed",
            "whether the time-stamp counter may be read was changed",
        ];
        assert_eq!(before.changes(&after), words);
    }

    #[test]
    fn a_descriptor_that_is_opened_is_no_change_and_one_that_is_replaced_is() {
        let before = Process::now();
        let mut after = before.clone();
        after.descriptors.insert(900, (1, 2));
        assert_eq!(before.changes(&after), Vec::<String>::new());
        after.descriptors.insert(2, (1, 2));
        assert_eq!(
            before.changes(&after),
            ["descriptor 2 was made another file's (standard error)"]
        );
    }
}
