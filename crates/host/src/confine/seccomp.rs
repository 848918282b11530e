//! Which system calls a worker may make, and with which arguments; all others are denied, those that the
//! kernel will have tomorrow too. As filters, by seccomp (seccomp(2), Linux 3.17 and later). And forks of
//! this program's own, in a process whose filter denies them to the library: by clone(2) itself, with a word
//! in an argument that the kernel does not look at. A library can find the word in its own memory, which
//! makes forks of it deliberate: what it forks is as confined, and is found and ended. Not by fork(3): from
//! glibc 2.41 on it blocks all signals first, and a call that the filter catches then ends the process. What
//! libraries have registered for forks (pthread_atfork(3)) does not run: with one thread no lock is held, and
//! no forked process gives its parent anything but a result.
//! What was denied: a signal handler notes the call's number and has the call fail with `EPERM`, so that the
//! library can go on without, and the reason can name it; and the names of system calls. The handler is
//! strict about async-signal safety: no allocation, no lock, nothing but loads and stores on its own statics
//! and one direct system call.

use crate::confine::Sockets;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A call that is matched, in all or in some of its uses.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) call: i64,
    /// All must hold; several rules of one call are alternatives.
    pub(crate) conditions: Vec<Condition>,
}

/// What an argument must be. The kernel takes flags and numbers from the lower half of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    Masked {
        argument: u8,
        mask: u32,
        value: u32,
    },
    /// It is anything but the value.
    Not {
        argument: u8,
        value: u32,
    },
    /// It is a null pointer.
    Null {
        argument: u8,
    },
    /// It is the word that only this program knows.
    Word {
        argument: u8,
        value: u64,
    },
}

impl Condition {
    const fn is(argument: u8, value: u32) -> Self {
        Self::Masked { argument, mask: u32::MAX, value }
    }
}

/// What opens a file to write it, or makes one.
const WRITING: u32 = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u32;

/// A thread of this process, in none but its own namespaces.
const THREAD: u32 = libc::CLONE_THREAD as u32;
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_PTRACE) as u32;

/// Descriptors: their flags, copies of them, seals of memory. Not who gets their signals.
#[rustfmt::skip]
const OF_DESCRIPTORS: [i32; 8] = [
    libc::F_DUPFD, libc::F_DUPFD_CLOEXEC, libc::F_GETFD, libc::F_SETFD, libc::F_GETFL,
    libc::F_SETFL, libc::F_GET_SEALS, libc::F_ADD_SEALS,
];

/// Whether it is a terminal, what can be read, non-blocking and close-on-exec, how much randomness there is;
/// and the performance counter that was opened before (`linux/perf_event.h`: enable, disable, reset, number).
const OF_DEVICES: [u32; 9] =
    [0x5401, 0x541b, 0x5421, 0x5450, 0x5451, 0x8004_5200, 0x2400, 0x2401, 0x2403];

/// Names of threads and of memory, and questions (`linux/prctl.h`): PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME,
/// PR_GET_PDEATHSIG, PR_GET_TSC, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_NO_NEW_PRIVS,
/// PR_GET_NO_NEW_PRIVS, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE, PR_SVE_GET_VL, PR_GET_SPECULATION_CTRL,
/// PR_GET_TAGGED_ADDR_CTRL, PR_GET_AUXV, PR_SET_VMA.
const OF_PROCESSES: [u32; 18] =
    [2, 3, 15, 16, 21, 23, 25, 29, 30, 38, 39, 41, 42, 51, 52, 56, 0x4155_5856, 0x5356_4d41];

/// PR_SET_PDEATHSIG: a forked process asks to end with the worker.
const SET_DEATH_SIGNAL: u32 = 1;

/// What fork(3) passes to clone(2), and the argument that the kernel does not look at then.
pub(crate) const FORK_FLAGS: u32 =
    (libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD) as u32;
pub(crate) const FORK_WORD_AT: u8 = 2;

/// PR_SCHED_CORE, PR_SCHED_CORE_CREATE, for this process: a core of its own, which the worker asks for once the library is
/// there.
fn own_core() -> Rule {
    let conditions = vec![Condition::is(0, 62), Condition::is(1, 1), Condition::is(2, 0)];
    Rule { call: libc::SYS_prctl, conditions }
}

/// In any use: memory, time, threads and signals of this process, its own open descriptors, questions.
#[rustfmt::skip]
const ANY_USE: &[i64] = &[
    // its own memory
    libc::SYS_brk, libc::SYS_madvise, libc::SYS_mincore, libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_mmap,
    libc::SYS_mprotect, libc::SYS_mremap, libc::SYS_msync, libc::SYS_munlock, libc::SYS_munmap,
    libc::SYS_pkey_alloc, libc::SYS_pkey_free, libc::SYS_pkey_mprotect, libc::SYS_membarrier,
    libc::SYS_get_mempolicy,
    // open descriptors
    libc::SYS_close, libc::SYS_close_range, libc::SYS_dup, libc::SYS_dup3, libc::SYS_epoll_create1, libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait, libc::SYS_eventfd2, libc::SYS_fdatasync, libc::SYS_fstat, libc::SYS_fstatfs,
    libc::SYS_fsync, libc::SYS_ftruncate, libc::SYS_getdents64, libc::SYS_lseek, libc::SYS_pipe2, libc::SYS_ppoll,
    libc::SYS_pread64, libc::SYS_preadv, libc::SYS_preadv2, libc::SYS_pselect6, libc::SYS_pwrite64,
    libc::SYS_pwritev, libc::SYS_read, libc::SYS_readv, libc::SYS_write, libc::SYS_writev,
    // names of files: what is there, not what is in it
    libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_getcwd, libc::SYS_newfstatat, libc::SYS_readlinkat, libc::SYS_statfs, libc::SYS_statx,
    // threads of its own
    libc::SYS_exit, libc::SYS_exit_group, libc::SYS_futex, libc::SYS_get_robust_list, libc::SYS_gettid,
    libc::SYS_rseq, libc::SYS_sched_getaffinity, libc::SYS_sched_getparam, libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min, libc::SYS_sched_yield, libc::SYS_set_robust_list,
    libc::SYS_set_tid_address, libc::SYS_wait4, libc::SYS_waitid,
    // signals to itself
    libc::SYS_rt_sigpending, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait, libc::SYS_sigaltstack, libc::SYS_setitimer, libc::SYS_getitimer,
    libc::SYS_timer_create, libc::SYS_timer_delete, libc::SYS_timer_settime, libc::SYS_timer_gettime,
    libc::SYS_restart_syscall,
    // time and randomness
    libc::SYS_clock_getres, libc::SYS_clock_gettime, libc::SYS_clock_nanosleep, libc::SYS_getcpu,
    libc::SYS_getrandom, libc::SYS_getrusage, libc::SYS_gettimeofday, libc::SYS_nanosleep, libc::SYS_times,
    // who am I
    libc::SYS_capget, libc::SYS_getegid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getgroups,
    libc::SYS_getpgid, libc::SYS_getpid, libc::SYS_getppid, libc::SYS_getpriority, libc::SYS_getresgid, libc::SYS_getresuid,
    libc::SYS_getrlimit, libc::SYS_getsid, libc::SYS_getuid, libc::SYS_sysinfo, libc::SYS_uname,
    // giving up more
    libc::SYS_landlock_add_rule, libc::SYS_landlock_create_ruleset, libc::SYS_landlock_restrict_self,
    libc::SYS_seccomp,
];

/// The same by their older names.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLDER: &[i64] = &[
    libc::SYS_access, libc::SYS_alarm, libc::SYS_arch_prctl, libc::SYS_dup2, libc::SYS_epoll_create, libc::SYS_epoll_wait,
    libc::SYS_eventfd, libc::SYS_getpgrp, libc::SYS_lstat, libc::SYS_pause, libc::SYS_pipe, libc::SYS_poll,
    libc::SYS_readlink, libc::SYS_select, libc::SYS_stat, libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[];

/// What is allowed from before the library is loaded; `own` is this process's number, `word` what this
/// program passes where it forks. The word lies in the library's memory too: it opens nothing but forks, which are as
/// confined.
pub(crate) fn allowed_calls(own: u32, word: u64) -> Vec<Rule> {
    let any = |call: &i64| Rule { call: *call, conditions: Vec::new() };
    let mut rules: Vec<Rule> = ANY_USE.iter().chain(OLDER).map(any).collect();
    rules.extend(unknown_calls());
    rules.extend(some(libc::SYS_fcntl, 1, OF_DESCRIPTORS.map(|c| c as u32)));
    rules.extend(some(libc::SYS_ioctl, 1, OF_DEVICES));
    rules.extend(some(libc::SYS_prctl, 0, OF_PROCESSES));
    rules.push(own_core());
    // CPUs of this process alone: whoever may signal a process may move it, too.
    rules.extend(some(libc::SYS_sched_setaffinity, 0, [0, own]));
    // Signals to this process alone; abort(3) sends one.
    for call in
        [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo]
    {
        rules.extend(some(call, 0, [own]));
    }
    rules.push(Rule {
        call: libc::SYS_clone,
        conditions: vec![
            Condition::is(0, FORK_FLAGS),
            Condition::Word { argument: FORK_WORD_AT, value: word },
        ],
    });
    rules.push(Rule {
        call: libc::SYS_prctl,
        conditions: vec![
            Condition::is(0, SET_DEATH_SIGNAL),
            Condition::is(1, libc::SIGKILL as u32),
        ],
    });
    // Where no process can step itself, a forked one lets the process step it that was set aside for that
    // (PR_SET_PTRACER, which Yama asks for).
    #[cfg(target_arch = "aarch64")]
    rules.extend(some(libc::SYS_prctl, 0, [0x5961_6d61]));
    // Limits are asked for, and not set: `new_limit` is null.
    rules.push(Rule {
        call: libc::SYS_prlimit64,
        conditions: vec![Condition::Null { argument: 2 }],
    });
    // Every signal but the one that tells what was denied.
    let other = Condition::Not { argument: 0, value: libc::SIGSYS as u32 };
    rules.push(Rule { call: libc::SYS_rt_sigaction, conditions: vec![other] });
    let threads = Condition::Masked { argument: 0, mask: THREAD | NAMESPACES, value: THREAD };
    rules.push(Rule { call: libc::SYS_clone, conditions: vec![threads] });
    let reading = |argument| vec![Condition::Masked { argument, mask: WRITING, value: 0 }];
    rules.push(Rule { call: libc::SYS_openat, conditions: reading(2) });
    #[cfg(target_arch = "x86_64")]
    rules.push(Rule { call: libc::SYS_open, conditions: reading(1) });
    rules
}

/// What a process that serves or makes connections calls beside these. An address lies in memory, where no filter looks: Landlock
/// says which ports.
pub(crate) fn calls_of_sockets(sockets: Sockets<'_>) -> Vec<Rule> {
    if sockets == Sockets::None {
        return Vec::new();
    }
    let rule = |call, conditions| Rule { call, conditions };
    let mut rules = vec![rule(libc::SYS_shutdown, Vec::new())];
    // Over connections that are there: no address.
    for call in [libc::SYS_sendto, libc::SYS_recvfrom] {
        rules.push(rule(call, vec![Condition::Null { argument: 4 }]));
    }
    let options = [
        (libc::IPPROTO_TCP, libc::TCP_NODELAY),
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO),
        (libc::SOL_SOCKET, libc::SO_SNDTIMEO),
    ];
    rules.extend(options.map(|(level, option)| {
        rule(
            libc::SYS_setsockopt,
            vec![Condition::is(1, level as u32), Condition::is(2, option as u32)],
        )
    }));
    match sockets {
        Sockets::None => {}
        Sockets::Taken => rules.push(rule(libc::SYS_accept4, Vec::new())),
        Sockets::Made(_) => {
            let stream =
                Condition::Masked { argument: 1, mask: 0xf, value: libc::SOCK_STREAM as u32 };
            // TCP itself: Landlock holds neither MPTCP nor SCTP nor SMC to ports. Of the pairs, only such as nobody can
            // connect elsewhere.
            for (call, domain) in
                [(libc::SYS_socket, libc::AF_INET), (libc::SYS_socketpair, libc::AF_UNIX)]
            {
                let of = |argument, value: i32| Condition::is(argument, value as u32);
                rules.push(rule(call, vec![of(0, domain), stream, of(2, 0)]));
            }
            rules.push(rule(libc::SYS_connect, Vec::new()));
        }
    }
    rules
}

/// Calls whose arguments lie in memory, where no filter looks: the C library does without them where the
/// kernel does not know them.
pub(crate) fn unknown_calls() -> Vec<Rule> {
    let calls = [libc::SYS_clone3, libc::SYS_openat2];
    calls.map(|call| Rule { call, conditions: Vec::new() }).into()
}

/// CPUs, scheduling and limits of a process that is named; 0 is the one that calls. Signals by a descriptor (`F_SETOWN_EX`
/// and `F_SETSIG` of fcntl(2)), and files that are emptied by opening them to read: Landlock has no rule for that before Linux
/// 6.2. Every ioctl(2) that is not known to be harmless: some give a descriptor's signals away, have a terminal take bytes for
/// typed, or change a file that is open to be read. With `own`, signals to any process but that one.
pub(crate) fn calls_on_others(own: Option<u32>) -> Vec<Rule> {
    let unless = |value| vec![Condition::Not { argument: 0, value }];
    let calls = [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ];
    let mut rules = Vec::from(calls.map(|call| Rule { call, conditions: unless(0) }));
    // Who gets a descriptor's signals, and which.
    rules.extend(some(libc::SYS_fcntl, 1, [libc::F_SETOWN, 15, 10].map(|c| c as u32)));
    let unknown = OF_DEVICES.map(|value| Condition::Not { argument: 1, value });
    rules.push(Rule { call: libc::SYS_ioctl, conditions: unknown.into() });
    // Reading alone, and neither reading nor writing.
    let mask = (libc::O_ACCMODE | libc::O_TRUNC) as u32;
    for access in [libc::O_RDONLY, libc::O_ACCMODE] {
        let value = (access | libc::O_TRUNC) as u32;
        let emptying = |argument| vec![Condition::Masked { argument, mask, value }];
        rules.push(Rule { call: libc::SYS_openat, conditions: emptying(2) });
        #[cfg(target_arch = "x86_64")]
        rules.push(Rule { call: libc::SYS_open, conditions: emptying(1) });
    }
    rules.extend(own.map(|own| Rule { call: libc::SYS_tgkill, conditions: unless(own) }));
    rules
}

/// What is not needed any more once the library is loaded.
pub(crate) fn calls_only_for_loading() -> Vec<Rule> {
    vec![own_core()]
}

/// A call where one argument is one of these values.
fn some<const N: usize>(call: i64, argument: u8, values: [u32; N]) -> Vec<Rule> {
    let one = |value| Rule { call, conditions: vec![Condition::is(argument, value)] };
    values.map(one).into()
}

/// To all threads; and not as a request for mitigations of speculative execution, which kernels before 5.16
/// take any other filter for.
const FLAGS: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_TSYNC | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;

/// From now on only the calls that computing and loading need.
pub(crate) fn while_loading(sockets: Sockets<'_>) -> Result<String, String> {
    let mut allowed = allowed_calls(std::process::id(), fork_word());
    allowed.extend(calls_of_sockets(sockets));
    let count = allowed.len();
    // First those that are to be taken for unknown: the C library does without them then. The other filter
    // must allow them, for what it catches comes before an error number.
    let unknown =
        program(unknown_calls(), SeccompAction::Errno(libc::ENOSYS as u32), SeccompAction::Allow)?;
    let allowed = program(allowed, SeccompAction::Allow, SeccompAction::Trap)?;
    set_filter(&unknown)?;
    set_filter(&allowed)?;
    let which = match sockets {
        Sockets::None => "no sockets",
        Sockets::Taken => "no sockets but those it listens at",
        Sockets::Made(_) => "no sockets but TCP",
    };
    Ok(format!("{count} system calls: {which}, no programs, no other processes, no files to write"))
}

/// From now on also without those that only loading needs.
pub(crate) fn after_loading() -> Result<(), String> {
    set_filter(&program(calls_only_for_loading(), SeccompAction::Trap, SeccompAction::Allow)?)
}

/// A program that denies these calls and allows all others.
pub(crate) fn denying(rules: Vec<Rule>) -> Result<(BpfProgram, String), String> {
    let told =
        format!("{} system calls denied: no sockets, no reach into other processes", rules.len());
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    Ok((without_x32(program(rules, denied, SeccompAction::Allow)?), told))
}

/// Denies the second set of numbers that some x86-64 kernels have, under which a list of what is denied does not find a call.
fn without_x32(program: BpfProgram) -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let one = |code: u32, jt, k| sock_filter { code: code as u16, jt, jf: u8::from(jt == 0), k };
    let errno = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let first = [
        // The number is the first word of what a filter sees.
        sock_filter {
            code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
            jt: 0,
            jf: 0,
            k: 0,
        },
        one(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, X32),
        sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: errno },
    ];
    first.into_iter().chain(program).collect()
}

fn program(
    rules: Vec<Rule>,
    matched: SeccompAction,
    other: SeccompAction,
) -> Result<BpfProgram, String> {
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|e: BackendError| e.to_string())?;
    let mut by_call: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for Rule { call, conditions } in rules {
        let chain = by_call.entry(call).or_default();
        if !conditions.is_empty() {
            let conditions: Result<Vec<_>, _> = conditions.iter().map(condition).collect();
            let rule = conditions.and_then(SeccompRule::new).map_err(|e| e.to_string())?;
            chain.push(rule);
        }
    }
    let filter = SeccompFilter::new(by_call, other, matched, arch).map_err(|e| e.to_string())?;
    filter.try_into().map_err(|e: BackendError| e.to_string())
}

fn condition(c: &Condition) -> Result<SeccompCondition, BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    match *c {
        Condition::Masked { argument, mask, value } => {
            let operator = SeccompCmpOp::MaskedEq(u64::from(mask));
            SeccompCondition::new(argument, Dword, operator, u64::from(value))
        }
        Condition::Not { argument, value } => {
            SeccompCondition::new(argument, Dword, SeccompCmpOp::Ne, u64::from(value))
        }
        Condition::Word { argument, value } => {
            SeccompCondition::new(argument, Qword, SeccompCmpOp::Eq, value)
        }
        Condition::Null { argument } => SeccompCondition::new(argument, Qword, SeccompCmpOp::Eq, 0),
    }
}

pub(crate) fn set_filter(program: &[sock_filter]) -> Result<(), String> {
    #[repr(C)]
    struct Program {
        len: libc::c_ushort,
        filter: *const sock_filter,
    }
    let len = libc::c_ushort::try_from(program.len()).map_err(|e| e.to_string())?;
    let program = Program { len, filter: program.as_ptr() };
    // SAFETY: the kernel copies the program, whose length is its own.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::c_ulong::from(libc::SECCOMP_SET_MODE_FILTER),
            FLAGS,
            &raw const program,
        )
    };
    match outcome {
        0 => Ok(()),
        1.. => Err(format!("thread {outcome} has a filter of its own")),
        _ => Err(format!("this kernel takes no filter: {}", std::io::Error::last_os_error())),
    }
}

/// Which of the two processes this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forked {
    /// The new one.
    Child,
    /// The one that forked, and the new one's number.
    Parent(i32),
}

/// Forks. The process must have no other thread.
pub fn fork() -> std::io::Result<Forked> {
    let (flags, word, thread) =
        (libc::c_long::from(FORK_FLAGS as i32), fork_word(), thread_number_at());
    #[cfg(target_arch = "x86_64")]
    let (fourth, fifth) = (thread, 0_usize);
    #[cfg(not(target_arch = "x86_64"))]
    let (fourth, fifth) = (0_usize, thread);
    // SAFETY: the process has one thread, as the caller promises, so no lock is held by another one. Without a stack of
    // its own the new process goes on here, on a copy of this one; the C library's number of its thread is set there.
    let number = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, word, fourth, fifth) };
    match number {
        ..0 => Err(std::io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        number => Ok(Forked::Parent(number as i32)),
    }
}

/// Where the C library keeps the number of its only thread: the kernel was told when the thread began. 0 where it
/// does not say (Linux without checkpoints); a forked process then keeps its parent's.
fn thread_number_at() -> usize {
    const GET_TID_ADDRESS: libc::c_int = 40;
    static AT: OnceLock<usize> = OnceLock::new();
    *AT.get_or_init(|| {
        let mut at = 0_usize;
        // SAFETY: the kernel writes an address to where the pointer leads.
        let told = unsafe { libc::prctl(GET_TID_ADDRESS, &raw mut at) };
        if told == 0 { at } else { 0 }
    })
}

/// Has the calling process killed when the one that forked it dies.
pub fn end_with_parent() -> std::io::Result<()> {
    // SAFETY: a system call without pointers.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Ends the calling process at once: what the library has registered to run then is another process's.
pub fn leave(code: i32) -> ! {
    // SAFETY: nothing runs after it.
    unsafe { libc::_exit(code) }
}

/// What only this program knows. Called before the filter is there.
pub(crate) fn fork_word() -> u64 {
    static WORD: OnceLock<u64> = OnceLock::new();
    *WORD.get_or_init(|| {
        thread_number_at();
        let mut bytes = [0; 8];
        // SAFETY: a buffer with its length.
        let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        // Without randomness the address of a stack is what nobody foresees.
        if got == 8 { u64::from_ne_bytes(bytes) } else { (&raw const bytes) as u64 }
    })
}

/// Answers a call that the filter has caught where it is a signal to the calling process itself: a forked process has
/// another number than the filter knows. A timer sends the signal: no timer reaches another process.
///
/// Runs in a signal handler: no allocation, no lock.
#[cfg(target_arch = "x86_64")]
pub(crate) fn granted(context: &mut libc::ucontext_t) -> bool {
    let r = &context.uc_mcontext.gregs;
    let register = |name: libc::c_int| r[name as usize];
    let arguments = [register(libc::REG_RDI), register(libc::REG_RSI), register(libc::REG_RDX)];
    let Some(outcome) = to_itself(register(libc::REG_RAX), arguments) else { return false };
    context.uc_mcontext.gregs[libc::REG_RAX as usize] = outcome;
    true
}

/// As above.
#[cfg(target_arch = "aarch64")]
pub(crate) fn granted(context: &mut libc::ucontext_t) -> bool {
    let r = context.uc_mcontext.regs.map(u64::cast_signed);
    let Some(outcome) = to_itself(r[8], [r[0], r[1], r[2]]) else { return false };
    context.uc_mcontext.regs[0] = outcome.cast_unsigned();
    true
}

/// The outcome as the kernel gives it; `None` where the call stays denied.
fn to_itself(call: i64, a: [i64; 3]) -> Option<i64> {
    // SAFETY: a system call without pointers.
    let own = unsafe { libc::syscall(libc::SYS_getpid) };
    let (thread, signal) = match call {
        libc::SYS_kill if a[0] == own => (None, a[1]),
        libc::SYS_tgkill if a[0] == own => (Some(a[1] as libc::c_int), a[2]),
        _ => return None,
    };
    // Signal 0 asks only.
    Some(if signal == 0 { 0 } else { send(thread, signal as libc::c_int) })
}

/// Has a timer send a signal to this process, or to one of its threads, and waits until it is sent.
fn send(thread: Option<libc::c_int>, signal: libc::c_int) -> i64 {
    let mut timer: libc::c_int = 0;
    // SAFETY: zeroes are a valid `sigevent`, and a valid `itimerspec`: no time.
    let (mut event, mut at) =
        unsafe { (std::mem::zeroed::<libc::sigevent>(), std::mem::zeroed::<libc::itimerspec>()) };
    event.sigev_signo = signal;
    event.sigev_notify = libc::SIGEV_SIGNAL;
    if let Some(thread) = thread {
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = thread;
    }
    at.it_value.tv_nsec = 1;
    // SAFETY: system calls with pointers to this function's own values; the C library's number of the last error is of
    // this thread.
    unsafe {
        let created = libc::syscall(
            libc::SYS_timer_create,
            libc::CLOCK_MONOTONIC,
            &raw const event,
            &raw mut timer,
        );
        if created != 0 {
            return -i64::from(*libc::__errno_location());
        }
        libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const at, 0_usize);
        // No time is left once the signal was sent; the kernel hands it over when the call returns.
        while libc::syscall(libc::SYS_timer_gettime, timer, &raw mut at) == 0
            && (at.it_value.tv_sec, at.it_value.tv_nsec) != (0, 0)
        {
            libc::syscall(libc::SYS_sched_yield);
        }
        libc::syscall(libc::SYS_timer_delete, timer);
    }
    0
}

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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denied(Vec<String>);

impl Denied {
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Why a library that was denied this is not to be trusted with a number; `None` where nothing was denied.
    pub fn reason(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| {
            format!("confinement: the library called {}, which a worker may not", self.0.join(", "))
        })
    }

    /// As [`Denied::reason`], where calls that a library may try and do without are no reason: opening a
    /// device to write, a socket to a service of the system's.
    pub fn hostile(&self) -> Option<String> {
        let hostile = self.0.iter().filter(|n| HOSTILE.contains(&n.as_str())).cloned();
        Self(hostile.collect()).reason()
    }
}

/// What was denied since this was last asked, in the order of the calls' numbers.
pub fn take_denied() -> Denied {
    named(|word| word.swap(0, Ordering::Relaxed))
}

/// As [`take_denied`] with [`Denied::hostile`], and leaves it to be taken.
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

pub(crate) fn install_handler() -> Result<(), String> {
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
    if granted(context) {
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
    SYS_rt_sigaction, SYS_prlimit64, SYS_setrlimit, SYS_setpriority, SYS_sched_setscheduler, SYS_sched_setaffinity,
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
    OLDER_NAMES:
    SYS_fork, SYS_vfork, SYS_open, SYS_creat, SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir,
    SYS_link, SYS_symlink, SYS_chmod, SYS_chown, SYS_mknod, SYS_utime, SYS_iopl, SYS_ioperm,
    SYS_modify_ldt,
}
#[cfg(not(target_arch = "x86_64"))]
names! { OLDER_NAMES: }

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
    EVERYWHERE.iter().chain(OLDER_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn permits(call: i64, arguments: [u32; 3]) -> bool {
        let at = |argument: u8| arguments[usize::from(argument)];
        let holds = |c: &Condition| match *c {
            Condition::Masked { argument, mask, value } => at(argument) & mask == value,
            Condition::Not { argument, value } => at(argument) != value,
            Condition::Null { argument } => at(argument) == 0,
            Condition::Word { .. } => false,
        };
        allowed_calls(77, 1 << 40).iter().any(|r| r.call == call && r.conditions.iter().all(holds))
    }

    #[test]
    fn files_are_opened_to_read_and_not_to_write() {
        let open = |flags: i32| permits(libc::SYS_openat, [0, 0, flags as u32]);
        assert!(open(libc::O_RDONLY | libc::O_CLOEXEC) && open(libc::O_PATH | libc::O_DIRECTORY));
        for flags in [
            libc::O_WRONLY,
            libc::O_RDWR,
            libc::O_CREAT,
            libc::O_TRUNC,
            libc::O_TMPFILE | libc::O_RDWR,
        ] {
            assert!(!open(flags), "{flags:#o}");
        }
    }

    #[test]
    fn threads_may_be_started_and_processes_may_not_without_the_word() {
        let clone = |flags: i32| permits(libc::SYS_clone, [flags as u32, 0, 0]);
        assert!(clone(libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SETTLS));
        for flags in [
            libc::SIGCHLD,
            libc::CLONE_VM | libc::CLONE_VFORK,
            libc::CLONE_THREAD | libc::CLONE_NEWNET,
        ] {
            assert!(!clone(flags), "{flags:#x}");
        }
    }

    #[test]
    fn whoever_finds_the_word_can_fork_and_nothing_else() {
        let has_word =
            |rule: &Rule| rule.conditions.iter().any(|c| matches!(c, Condition::Word { .. }));
        let calls: Vec<i64> = allowed_calls(77, 1 << 40)
            .iter()
            .filter(|rule| has_word(rule))
            .map(|rule| rule.call)
            .collect();
        assert_eq!(calls, [libc::SYS_clone]);
    }

    #[test]
    fn signals_and_cpus_are_of_this_process_alone() {
        assert!(permits(libc::SYS_tgkill, [77, 78, 6]) && permits(libc::SYS_kill, [77, 6, 0]));
        for other in [1, 76, 0, u32::MAX] {
            assert!(!permits(libc::SYS_kill, [other, 9, 0]), "{other}");
        }
        assert!(!permits(libc::SYS_tkill, [77, 9, 0]));
        assert!(permits(libc::SYS_sched_setaffinity, [0, 8, 0]));
        assert!(!permits(libc::SYS_sched_setaffinity, [76, 8, 0]));
        assert!(permits(libc::SYS_prctl, [62, 1, 0]) && !permits(libc::SYS_prctl, [62, 1, 76]));
        assert!(permits(libc::SYS_rt_sigaction, [libc::SIGSEGV as u32, 0, 0]));
        assert!(!permits(libc::SYS_rt_sigaction, [libc::SIGSYS as u32, 0, 0]));
    }

    #[test]
    fn sockets_are_those_that_a_process_is_for() {
        let calls = |call, sockets, arguments: [i32; 3]| {
            calls_of_sockets(sockets).iter().filter(|rule| rule.call == call).any(|rule| {
                rule.conditions.iter().all(|condition| match *condition {
                    Condition::Masked { argument, mask, value } => {
                        arguments[usize::from(argument)] as u32 & mask == value
                    }
                    _ => false,
                })
            })
        };
        let socket = |sockets, domain, kind| calls(libc::SYS_socket, sockets, [domain, kind, 0]);
        assert!(calls_of_sockets(Sockets::None).is_empty());
        let made = Sockets::Made(&[443]);
        assert!(socket(made, libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC));
        assert!(!socket(Sockets::Taken, libc::AF_INET, libc::SOCK_STREAM));
        for (domain, kind) in [
            (libc::AF_INET, libc::SOCK_DGRAM),
            (libc::AF_INET, libc::SOCK_RAW),
            (libc::AF_UNIX, libc::SOCK_STREAM),
            (libc::AF_INET6, libc::SOCK_STREAM),
            (libc::AF_NETLINK, libc::SOCK_RAW),
        ] {
            assert!(!socket(made, domain, kind), "{domain} {kind}");
        }
        for protocol in [libc::IPPROTO_MPTCP, libc::IPPROTO_SCTP, 256] {
            let arguments = [libc::AF_INET, libc::SOCK_STREAM, protocol];
            assert!(!calls(libc::SYS_socket, made, arguments), "{protocol}");
        }
        let pair = |kind| calls(libc::SYS_socketpair, made, [libc::AF_UNIX, kind, 0]);
        assert!(
            pair(libc::SOCK_STREAM) && !pair(libc::SOCK_DGRAM),
            "a pair of those can be connected"
        );
        let calls: Vec<i64> =
            calls_of_sockets(Sockets::Taken).iter().map(|rule| rule.call).collect();
        for call in [libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_sendmsg] {
            assert!(!calls.contains(&call), "{call}");
        }
    }

    #[test]
    fn what_the_zoo_of_dangers_needs_is_not_on_the_list() {
        for call in [
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_execve,
            libc::SYS_ptrace,
            libc::SYS_mount,
            libc::SYS_bpf,
            libc::SYS_io_uring_setup,
            libc::SYS_perf_event_open,
            libc::SYS_setuid,
            libc::SYS_process_vm_writev,
            libc::SYS_unlinkat,
            libc::SYS_shmget,
            libc::SYS_keyctl,
        ] {
            assert!(!permits(call, [0, 0, 0]), "{call}");
        }
        assert!(!permits(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as u32, 0, 0]));
        assert!(!permits(libc::SYS_fcntl, [1, libc::F_SETOWN as u32, 0]));
        assert!(!permits(libc::SYS_prlimit64, [0, 7, 0x7fff_0000]));
    }

    static SEEN: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn see(_: libc::c_int) {
        SEEN.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn what_is_no_signal_to_ourselves_stays_denied() {
        assert_eq!(to_itself(libc::SYS_clone, [i64::from(FORK_FLAGS), 0, 0]), None);
        assert_eq!(to_itself(libc::SYS_kill, [1, 0, 0]), None);
        assert_eq!(to_itself(libc::SYS_tgkill, [1, 1, 9]), None);
        assert_eq!(to_itself(libc::SYS_execve, [0; 3]), None);
        let own = i64::from(std::process::id());
        assert_eq!(to_itself(libc::SYS_kill, [own, 0, 0]), Some(0), "signal 0 asks only");
    }

    #[test]
    fn a_signal_to_ourselves_has_come_when_the_call_returns() {
        let handler: extern "C" fn(libc::c_int) = see;
        // SAFETY: the handler adds to a number and nothing else.
        unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
        let own = i64::from(std::process::id());
        // SAFETY: a system call without pointers.
        let thread = unsafe { libc::syscall(libc::SYS_gettid) };
        for turn in 1..=100 {
            let signal = i64::from(libc::SIGUSR2);
            assert_eq!(to_itself(libc::SYS_tgkill, [own, thread, signal]), Some(0));
            assert_eq!(SEEN.load(Ordering::Relaxed), turn);
        }
        assert_eq!(to_itself(libc::SYS_kill, [own, 99, 0]), Some(-i64::from(libc::EINVAL)));
    }

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
