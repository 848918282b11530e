//! Names of system calls, for reasons that people read.

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
pub(crate) fn name(call: i64) -> String {
    known(call).map_or_else(|| format!("system call {call}"), ToOwned::to_owned)
}

/// As [`name`], without memory: a signal handler asks.
pub(crate) fn known(call: i64) -> Option<&'static str> {
    all().find(|(number, _)| *number == call).map(|(_, name)| *name)
}

/// Every call with its name.
pub(crate) fn all() -> impl Iterator<Item = &'static (i64, &'static str)> {
    EVERYWHERE.iter().chain(OLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_go_by_their_names_and_no_name_stands_twice() {
        assert_eq!(name(libc::SYS_execve), "execve");
        assert_eq!(name(9999), "system call 9999");
        let mut numbers: Vec<i64> = all().map(|(n, _)| *n).collect();
        numbers.sort_unstable();
        let count = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
