//! What becomes of signals in this process, and what its thread blocks.

use std::mem::MaybeUninit;

/// Signals that end or stop a process, or tell it that something is wrong: what a library that wants to
/// hide a fault would have to take over. All others are for programs to use among themselves, but for SIGSYS,
/// which a worker's own confinement keeps from it.
#[rustfmt::skip]
const WATCHED: [(i32, &str); 20] = [
    (libc::SIGHUP, "SIGHUP"), (libc::SIGINT, "SIGINT"), (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"), (libc::SIGTRAP, "SIGTRAP"), (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"), (libc::SIGFPE, "SIGFPE"), (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV"), (libc::SIGUSR2, "SIGUSR2"), (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"), (libc::SIGTERM, "SIGTERM"), (libc::SIGCHLD, "SIGCHLD"),
    (libc::SIGXCPU, "SIGXCPU"), (libc::SIGXFSZ, "SIGXFSZ"), (libc::SIGVTALRM, "SIGVTALRM"),
    (libc::SIGPROF, "SIGPROF"), (libc::SIGIO, "SIGIO"),
];

/// Actions and mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signals {
    /// Handler and flags of each watched signal.
    actions: [(usize, i32); WATCHED.len()],
    /// One bit for each blocked signal, the first for signal 1.
    blocked: u64,
    /// Beginning and size of the stack that handlers run on.
    stack: (usize, usize),
}

impl Signals {
    /// As they are now, for the calling thread.
    #[must_use]
    pub fn now() -> Self {
        Self {
            actions: WATCHED.map(|(signal, _)| action(signal)),
            blocked: blocked(),
            stack: stack(),
        }
    }

    /// What is no longer as it was, in words.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        let actions = self.actions.iter().zip(&later.actions).zip(WATCHED);
        for ((before, after), (_, name)) in actions {
            if before != after {
                changes.push(format!("the handling of {name} was changed"));
            }
        }
        if self.blocked != later.blocked {
            let names: Vec<&str> = WATCHED
                .iter()
                .filter(|(signal, _)| (self.blocked ^ later.blocked) >> (signal - 1) & 1 == 1)
                .map(|(_, name)| *name)
                .collect();
            let names = if names.len() > 4 { names.len().to_string() } else { names.join(", ") };
            changes.push(format!("the mask of blocked signals was changed ({names})"));
        }
        if self.stack != later.stack {
            changes.push("the stack that signals are handled on was changed".to_owned());
        }
        changes
    }
}

/// Handler and flags. Where nothing handles the signal its flags mean nothing: Crypto++ tries instructions
/// under a handler of its own and puts the default back by `signal`, which sets `SA_RESTART`.
fn action(signal: i32) -> (usize, i32) {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks only; zeroes are a valid `sigaction`, and `action` is writable.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    match action.sa_sigaction {
        unhandled @ (libc::SIG_DFL | libc::SIG_IGN) => (unhandled, 0),
        handler => (handler, action.sa_flags),
    }
}

fn blocked() -> u64 {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: asks only; zeroes are a valid set, and `set` is writable.
    let set = unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), set.as_mut_ptr());
        set.assume_init()
    };
    // SAFETY: an initialised set.
    let is_member = |signal: i32| unsafe { libc::sigismember(&raw const set, signal) } == 1;
    (1..=64).filter(|signal| is_member(*signal)).fold(0, |bits, signal| bits | 1 << (signal - 1))
}

fn stack() -> (usize, usize) {
    let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: asks only; zeroes are a valid `stack_t`, and `stack` is writable.
    let stack = unsafe {
        libc::sigaltstack(std::ptr::null(), stack.as_mut_ptr());
        stack.assume_init()
    };
    (stack.ss_sp as usize, stack.ss_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_that_is_put_back_by_another_function_is_no_change() {
        let changes = in_a_child(|| {
            // SAFETY: no handler is installed.
            unsafe {
                libc::signal(libc::SIGUSR2, libc::SIG_IGN);
                libc::signal(libc::SIGUSR2, libc::SIG_DFL);
            }
        });
        assert_eq!(changes, 0);
    }

    /// How many changes `act` makes, in a process without the threads of other tests, which install handlers too.
    fn in_a_child(act: impl FnOnce()) -> i32 {
        // SAFETY: the child has this thread only, and ends without returning.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let before = Signals::now();
                act();
                libc::_exit(before.changes(&Signals::now()).len() as i32);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            assert!(libc::WIFEXITED(status), "{status:#x}");
            libc::WEXITSTATUS(status)
        }
    }

    #[test]
    fn a_handler_that_is_installed_is_a_change() {
        // SAFETY: ignoring needs no handler.
        let ignored = in_a_child(|| unsafe {
            libc::signal(libc::SIGUSR2, libc::SIG_IGN);
        });
        assert_eq!(ignored, 1);
    }

    #[test]
    fn nothing_changes_by_itself_and_a_handler_or_mask_that_does_is_named() {
        assert_eq!(in_a_child(|| ()), 0);
        let before = Signals::now();
        let mut after = before.clone();
        after.actions[9].0 ^= 1;
        assert_eq!(before.changes(&after), ["the handling of SIGSEGV was changed"]);
        let mut after = before.clone();
        after.blocked ^= 1 << (libc::SIGALRM - 1);
        assert_eq!(before.changes(&after), ["the mask of blocked signals was changed (SIGALRM)"]);
    }
}
