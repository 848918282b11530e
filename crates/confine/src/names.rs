//! Names of system calls, for reasons that people read.

/// Each with its number, on this architecture.
macro_rules! names {
    ($($(#[$only:meta])? $call:ident $name:literal),* $(,)?) => {
        pub(crate) const NAMES: &[(i64, &str)] = &[$($(#[$only])? (libc::$call as i64, $name)),*];
    };
}

names! {
    SYS_execve "execve", SYS_execveat "execveat", SYS_clone "clone", SYS_clone3 "clone3",
    #[cfg(target_arch = "x86_64")] SYS_fork "fork",
    #[cfg(target_arch = "x86_64")] SYS_vfork "vfork",
    SYS_kill "kill", SYS_tkill "tkill", SYS_tgkill "tgkill", SYS_rt_sigqueueinfo "rt_sigqueueinfo",
    SYS_rt_tgsigqueueinfo "rt_tgsigqueueinfo", SYS_pidfd_open "pidfd_open",
    SYS_pidfd_getfd "pidfd_getfd", SYS_pidfd_send_signal "pidfd_send_signal",
    SYS_ptrace "ptrace", SYS_process_vm_readv "process_vm_readv",
    SYS_process_vm_writev "process_vm_writev", SYS_process_madvise "process_madvise",
    SYS_kcmp "kcmp", SYS_socket "socket", SYS_socketpair "socketpair", SYS_connect "connect",
    SYS_bind "bind", SYS_listen "listen", SYS_accept "accept", SYS_accept4 "accept4",
    SYS_sendto "sendto", SYS_sendmsg "sendmsg", SYS_sendmmsg "sendmmsg", SYS_recvfrom "recvfrom",
    SYS_recvmsg "recvmsg", SYS_setsockopt "setsockopt", SYS_getsockopt "getsockopt",
    SYS_openat "openat", SYS_openat2 "openat2",
    #[cfg(target_arch = "x86_64")] SYS_open "open",
    #[cfg(target_arch = "x86_64")] SYS_creat "creat",
    #[cfg(target_arch = "x86_64")] SYS_unlink "unlink",
    #[cfg(target_arch = "x86_64")] SYS_rename "rename",
    #[cfg(target_arch = "x86_64")] SYS_mkdir "mkdir",
    #[cfg(target_arch = "x86_64")] SYS_rmdir "rmdir",
    #[cfg(target_arch = "x86_64")] SYS_link "link",
    #[cfg(target_arch = "x86_64")] SYS_symlink "symlink",
    #[cfg(target_arch = "x86_64")] SYS_chmod "chmod",
    #[cfg(target_arch = "x86_64")] SYS_chown "chown",
    #[cfg(target_arch = "x86_64")] SYS_mknod "mknod",
    #[cfg(target_arch = "x86_64")] SYS_utime "utime",
    #[cfg(target_arch = "x86_64")] SYS_iopl "iopl",
    #[cfg(target_arch = "x86_64")] SYS_ioperm "ioperm",
    #[cfg(target_arch = "x86_64")] SYS_modify_ldt "modify_ldt",
    SYS_unlinkat "unlinkat", SYS_renameat "renameat", SYS_renameat2 "renameat2",
    SYS_mkdirat "mkdirat", SYS_linkat "linkat", SYS_symlinkat "symlinkat", SYS_truncate "truncate",
    SYS_fchmod "fchmod", SYS_fchmodat "fchmodat", SYS_fchown "fchown", SYS_fchownat "fchownat",
    SYS_mknodat "mknodat", SYS_utimensat "utimensat", SYS_setxattr "setxattr", SYS_chdir "chdir",
    SYS_fchdir "fchdir", SYS_chroot "chroot", SYS_pivot_root "pivot_root", SYS_mount "mount",
    SYS_umount2 "umount2", SYS_open_tree "open_tree", SYS_move_mount "move_mount",
    SYS_fsopen "fsopen", SYS_fsmount "fsmount", SYS_unshare "unshare", SYS_setns "setns",
    SYS_setuid "setuid", SYS_setgid "setgid", SYS_setreuid "setreuid", SYS_setregid "setregid",
    SYS_setresuid "setresuid", SYS_setresgid "setresgid", SYS_setgroups "setgroups",
    SYS_capset "capset", SYS_prctl "prctl", SYS_ioctl "ioctl", SYS_fcntl "fcntl",
    SYS_rt_sigaction "rt_sigaction", SYS_prlimit64 "prlimit64", SYS_setrlimit "setrlimit",
    SYS_setpriority "setpriority", SYS_sched_setscheduler "sched_setscheduler",
    SYS_sched_setparam "sched_setparam", SYS_sched_setattr "sched_setattr", SYS_setsid "setsid",
    SYS_setpgid "setpgid", SYS_personality "personality", SYS_memfd_create "memfd_create",
    SYS_userfaultfd "userfaultfd", SYS_io_uring_setup "io_uring_setup",
    SYS_io_uring_enter "io_uring_enter", SYS_perf_event_open "perf_event_open", SYS_bpf "bpf",
    SYS_seccomp "seccomp", SYS_keyctl "keyctl", SYS_add_key "add_key",
    SYS_request_key "request_key", SYS_init_module "init_module",
    SYS_finit_module "finit_module", SYS_delete_module "delete_module",
    SYS_kexec_load "kexec_load", SYS_reboot "reboot", SYS_swapon "swapon", SYS_syslog "syslog",
    SYS_settimeofday "settimeofday", SYS_clock_settime "clock_settime",
    SYS_adjtimex "adjtimex", SYS_sethostname "sethostname", SYS_quotactl "quotactl",
    SYS_shmget "shmget", SYS_shmat "shmat", SYS_msgget "msgget", SYS_semget "semget",
    SYS_mq_open "mq_open", SYS_inotify_init1 "inotify_init1", SYS_fanotify_init "fanotify_init",
    SYS_splice "splice", SYS_vmsplice "vmsplice", SYS_sendfile "sendfile", SYS_mbind "mbind",
    SYS_move_pages "move_pages", SYS_mlockall "mlockall", SYS_acct "acct", SYS_sync "sync",
}

/// The name, or the number where the call is none that anybody meets.
pub(crate) fn name(call: i64) -> String {
    known(call).map_or_else(|| format!("system call {call}"), ToOwned::to_owned)
}

/// As [`name`], without memory: a signal handler asks.
pub(crate) fn known(call: i64) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == call).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_go_by_their_names_and_no_name_stands_twice() {
        assert_eq!(name(libc::SYS_execve), "execve");
        assert_eq!(name(9999), "system call 9999");
        let mut numbers: Vec<i64> = NAMES.iter().map(|(n, _)| *n).collect();
        numbers.sort_unstable();
        let all = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }
}
