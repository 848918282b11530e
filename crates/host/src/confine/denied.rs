//! What was denied: a signal handler notes the call's number and has the call fail with `EPERM`, so that the
//! library can go on without, and the reason can name it; and the names of system calls. The handler is
//! strict about async-signal safety: no allocation, no lock, nothing but loads and stores on its own statics
//! and one direct system call.

use crate::confine::seccomp;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers that are told apart; the highest in use is below 500.
const NUMBERS: usize = 512;

/// A bit for each call that was denied since it was last asked; the last bit stands for all numbers above.
static DENIED: [AtomicU64; NUMBERS / 64] = [const { AtomicU64::new(0) }; NUMBERS / 64];
/// The same, never cleared: each call is told once on standard error.
static TOLD: [AtomicU64; NUMBERS / 64] = [const { AtomicU64::new(0) }; NUMBERS / 64];

/// `si_code` of a call that a filter caught (`SYS_SECCOMP` of `asm-generic/siginfo.h`).
const SYS_SECCOMP: c_int = 1;

/// What no library does by accident: starting programs or processes, reaching into other processes. Whoever
/// does so while being loaded is not used at all.
#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    "execve", "execveat", "fork", "vfork", "clone", "kill", "tkill", "tgkill", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "pidfd_send_signal", "pidfd_getfd", "ptrace", "process_vm_readv",
    "process_vm_writev", "mount", "unshare", "setns", "bpf", "init_module", "finit_module",
    "kexec_load", "reboot",
];

/// System calls that were denied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denied(Vec<String>);

impl Denied {
    /// Their names, none twice.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Why a library that was denied this is not to be trusted with a number; `None` where nothing was denied.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| {
            format!("confinement: the library called {}, which a worker may not", self.0.join(", "))
        })
    }

    /// As [`Denied::reason`], where calls that a library may try and do without are no reason: opening a
    /// device to write, a socket to a service of the system's.
    #[must_use]
    pub fn hostile(&self) -> Option<String> {
        let hostile = self.0.iter().filter(|n| HOSTILE.contains(&n.as_str())).cloned();
        Self(hostile.collect()).reason()
    }
}

/// What was denied since this was last asked, in the order of the calls' numbers.
#[must_use]
pub fn take_denied() -> Denied {
    named(|word| word.swap(0, Ordering::Relaxed))
}

/// As [`take_denied`] with [`Denied::hostile`], and leaves it to be taken.
#[must_use]
pub fn hostile_so_far() -> Option<String> {
    named(|word| word.load(Ordering::Relaxed)).hostile()
}

fn named(bits_of: impl Fn(&AtomicU64) -> u64) -> Denied {
    let mut names = Vec::new();
    for (i, word) in DENIED.iter().enumerate() {
        let mut bits = bits_of(word);
        while bits != 0 {
            let number = i * 64 + bits.trailing_zeros() as usize;
            names.push(name_of_call(number as i64));
            bits &= bits - 1;
        }
    }
    Denied(names)
}

/// Sets the handler.
pub(crate) fn install() -> Result<(), String> {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_denied;
    // SAFETY: a `sigaction` of zeroes is a valid one, and one that sets a handler of the type that
    // SA_SIGINFO asks for is too.
    let outcome = unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut())
    };
    if outcome == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().to_string()) }
}

extern "C" fn on_denied(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands over both, valid and ours for the handler's duration.
    let (code, context) = unsafe { ((*info).si_code, &mut *context.cast::<libc::ucontext_t>()) };
    if code != SYS_SECCOMP {
        // Sent by somebody: no call waits for its outcome.
        return;
    }
    if seccomp::granted(context) {
        return;
    }
    let call = answer(context, -i64::from(libc::EPERM));
    let number = usize::try_from(call).unwrap_or(NUMBERS - 1).min(NUMBERS - 1);
    let (word, bit) = (number / 64, 1 << (number % 64));
    DENIED[word].fetch_or(bit, Ordering::Relaxed);
    if TOLD[word].fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        tell(call);
    }
}

/// Gives the call that was caught its outcome; which call it was.
#[cfg(target_arch = "x86_64")]
pub(crate) fn answer(context: &mut libc::ucontext_t, outcome: i64) -> i64 {
    // The kernel has put the number back where it was, and has stepped over the instruction.
    std::mem::replace(&mut context.uc_mcontext.gregs[libc::REG_RAX as usize], outcome)
}

/// Gives the call that was caught its outcome; which call it was.
#[cfg(target_arch = "aarch64")]
pub(crate) fn answer(context: &mut libc::ucontext_t, outcome: i64) -> i64 {
    context.uc_mcontext.regs[0] = outcome as u64;
    context.uc_mcontext.regs[8] as i64
}

/// Last words, for a process that does not survive the refusal.
fn tell(call: i64) {
    for part in [
        "the library called ",
        known_name(call).unwrap_or("an unusual system call"),
        ", which a worker may not\n",
    ] {
        // SAFETY: a direct call with a buffer of its length; what becomes of it does not matter.
        unsafe { libc::syscall(libc::SYS_write, 2, part.as_ptr(), part.len()) };
    }
}

// Names of system calls, for reasons that people read.
/// Each with its number, on this architecture.
macro_rules! names {
    ($list:ident: $($call:ident),* $(,)?) => {
        const $list: &[(i64, &str)] = &[$((libc::$call as i64, unprefixed(stringify!($call)))),*];
    };
}

/// Without `SYS_`.
const fn unprefixed(constant: &'static str) -> &'static str {
    constant.split_at(4).1
}

names! {
    EVERYWHERE:
    SYS_execve, SYS_execveat, SYS_clone, SYS_clone3, SYS_kill, SYS_tkill, SYS_tgkill,
    SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_getfd,
    SYS_pidfd_send_signal, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_process_madvise, SYS_kcmp, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen,
    SYS_accept, SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_recvfrom, SYS_recvmsg,
    SYS_setsockopt, SYS_getsockopt, SYS_openat, SYS_openat2, SYS_unlinkat, SYS_renameat,
    SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_symlinkat, SYS_truncate, SYS_fchmod, SYS_fchmodat,
    SYS_fchown, SYS_fchownat, SYS_mknodat, SYS_utimensat, SYS_setxattr, SYS_chdir, SYS_fchdir,
    SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_open_tree, SYS_move_mount, SYS_fsopen,
    SYS_fsmount, SYS_unshare, SYS_setns, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid,
    SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset, SYS_prctl, SYS_ioctl, SYS_fcntl,
    SYS_rt_sigaction, SYS_prlimit64, SYS_setrlimit, SYS_setpriority, SYS_sched_setscheduler,
    SYS_sched_setparam, SYS_sched_setattr, SYS_setsid, SYS_setpgid, SYS_personality,
    SYS_memfd_create, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_perf_event_open,
    SYS_bpf, SYS_seccomp, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_syslog,
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_sethostname, SYS_quotactl, SYS_shmget,
    SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open, SYS_inotify_init1, SYS_fanotify_init,
    SYS_splice, SYS_vmsplice, SYS_sendfile, SYS_mbind, SYS_move_pages, SYS_mlockall, SYS_acct,
    SYS_sync,
}

#[cfg(target_arch = "x86_64")]
names! {
    OLDER:
    SYS_fork, SYS_vfork, SYS_open, SYS_creat, SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir,
    SYS_link, SYS_symlink, SYS_chmod, SYS_chown, SYS_mknod, SYS_utime, SYS_iopl, SYS_ioperm,
    SYS_modify_ldt,
}
#[cfg(not(target_arch = "x86_64"))]
names! { OLDER: }

/// The name, or the number where the call is none that anybody meets.
pub(crate) fn name_of_call(call: i64) -> String {
    known_name(call).map_or_else(|| format!("system call {call}"), ToOwned::to_owned)
}

/// As [`name`], without memory: a signal handler asks.
pub(crate) fn known_name(call: i64) -> Option<&'static str> {
    all_names().find(|(number, _)| *number == call).map(|(_, name)| *name)
}

/// Every call with its name.
pub(crate) fn all_names() -> impl Iterator<Item = &'static (i64, &'static str)> {
    EVERYWHERE.iter().chain(OLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_library_does_by_accident_is_hostile() {
        let denied = |names: &[&str]| Denied(names.iter().map(|n| (*n).to_owned()).collect());
        assert_eq!(denied(&[]).reason(), None);
        assert_eq!(denied(&["socket", "openat"]).hostile(), None);
        let both = denied(&["socket", "execve"]);
        assert!(both.reason().unwrap().contains("the library called socket, execve"));
        assert!(both.hostile().unwrap().contains("called execve,"));
    }

    #[test]
    fn every_hostile_call_has_a_name_that_the_handler_knows() {
        for name in HOSTILE.iter().filter(|n| cfg!(target_arch = "x86_64") || !n.ends_with("fork"))
        {
            assert!(super::all_names().any(|(_, known)| known == name), "{name}");
        }
    }

    #[test]
    fn calls_go_by_their_names_and_no_name_stands_twice() {
        assert_eq!(name_of_call(libc::SYS_execve), "execve");
        assert_eq!(name_of_call(9999), "system call 9999");
        let mut numbers: Vec<i64> = all_names().map(|(n, _)| *n).collect();
        numbers.sort_unstable();
        let count = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
