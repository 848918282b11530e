//! Side effects: registers, signals, descriptors, children, other threads' time.
//!
//! What a library must leave as it found it: the processor's modes and the process that it runs in.
//! A library that changes them may be right in every byte and still break the program that calls it, or
//! hide from the checks what it does.
//!
//! This crate holds `unsafe` code: it reads and restores registers around a call of a library's function,
//! and asks the kernel for what only C's interfaces tell.

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use base::model::Direction;
use contract::{Message, Outcome, Session, raw};
#[cfg(not(target_arch = "x86_64"))]
use elsewhere as registers;
pub use registers::Left;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
#[cfg(target_arch = "x86_64")]
use x86_64 as registers;

// One message with the registers watched.

/// One whole message, and what the call left in the registers.
pub fn call(session: &mut Session, m: Message<'_>) -> (Outcome, Left) {
    let algorithm = session.algorithm();
    let digest = session.direction() == Direction::Digest;
    assert!(digest || m.output.len() == m.input.len(), "output is as long as input");
    assert_eq!(m.nonce.len(), algorithm.nonce_len, "nonce length");
    assert_eq!(m.tag.len(), algorithm.tag_len, "tag length");
    let message = raw::Message {
        nonce: m.nonce.as_ptr(),
        aad: m.aad.as_ptr(),
        aad_len: m.aad.len(),
        input: m.input.as_ptr(),
        len: m.input.len(),
        output: m.output.as_mut_ptr(),
        tag: m.tag.as_mut_ptr(),
    };
    let table = session.raw();
    let function = table.message.expect("the model `message` is offered");
    if table.drain.is_none() {
        // SAFETY: `Session::new`'s contract; every pointer covers the length that the contract names.
        let (code, left) = unsafe { registers::call(function, table, &message) };
        return (code.into(), left);
    }
    // Much of the work is done while the message is drained: both calls are watched as one.
    let both =
        raw::Session { state: (&raw const *table).cast_mut().cast(), ..raw::Session::empty() };
    // SAFETY: as above; `complete` takes the table as its state.
    let (code, left) = unsafe { registers::call(complete, &both, &message) };
    (code.into(), left)
}

/// A message of the session whose table is the state, completed.
unsafe extern "C" fn complete(table: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: `call` passes a table and a message, which are only read, with the header's rules kept.
    unsafe { (*table.cast::<raw::Session>()).complete(&*message) }
}

// What belongs to the process: signals, descriptors, directory, limits, timers.

/// One moment's state of a process: what only its own code changes. Priority, scheduling and the CPUs that may
/// be used are not among it, for other programs of the same user change them as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    signals: Signals,
    descriptors: BTreeMap<i32, (u64, u64)>,
    directory: Option<PathBuf>,
    umask: Option<String>,
    limits: Vec<(u64, u64)>,
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

// What becomes of signals in this process, and what its thread blocks.

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
    actions: [(usize, i32); WATCHED.len()],
    blocked: u64,
    /// Beginning and size of the stack that handlers run on.
    stack: (usize, usize),
}

impl Signals {
    /// As they are now, for the calling thread.
    pub fn now() -> Self {
        Self {
            actions: WATCHED.map(|(signal, _)| action(signal)),
            blocked: blocked(),
            stack: signal_stack(),
        }
    }

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

fn signal_stack() -> (usize, usize) {
    let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: asks only; zeroes are a valid `stack_t`, and `stack` is writable.
    let stack = unsafe {
        libc::sigaltstack(std::ptr::null(), stack.as_mut_ptr());
        stack.assume_init()
    };
    (stack.ss_sp as usize, stack.ss_size)
}

// Processes that a library started.

/// The child that is this program's own: a runtime's process. 0: none.
static OWN_CHILD: AtomicI32 = AtomicI32::new(0);

/// Leaves a child alone that a library did not start.
pub fn keep_child(child: u32) {
    OWN_CHILD.store(child.cast_signed(), Ordering::Relaxed);
}

/// Has the kernel give orphans of this process's children to it instead of to the machine's first process:
/// none can slip away by being started twice.
pub fn adopt() -> std::io::Result<()> {
    // SAFETY: sets a flag of this process.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Whether this process has a child, alive or dead and not waited for.
pub fn children_exist() -> bool {
    if OWN_CHILD.load(Ordering::Relaxed) != 0 {
        return !children().is_empty();
    }
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is writable; no child's state is taken (`WNOWAIT`).
    unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), options | libc::__WALL) == 0 }
}

/// Kills every child and waits for it; how many there were. A child's children follow it to this process
/// (see [`adopt`]), so the last ones are found as well.
pub fn end_children() -> usize {
    let mut ended = 0;
    while children_exist() {
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
    let own = OWN_CHILD.load(Ordering::Relaxed);
    let words = lists.iter().flat_map(|l| l.split_whitespace());
    words.filter_map(|word| word.parse().ok()).filter(|child| *child != own).collect()
}

// CPU time that other threads of this process use.

/// CPU time of the process and of the calling thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OthersTime {
    process: Duration,
    thread: Duration,
}

impl OthersTime {
    /// Now. The kernel brings the time of threads that run on other CPUs up to date at its timer's ticks,
    /// some milliseconds apart.
    pub fn now() -> Self {
        // The process's first: what passes in between is then the thread's, and not another's.
        let process = time_on(libc::CLOCK_PROCESS_CPUTIME_ID);
        Self { process, thread: time_on(libc::CLOCK_THREAD_CPUTIME_ID) }
    }

    /// CPU time since `earlier`, of the calling thread and of all others.
    pub fn since(self, earlier: Self) -> (Duration, Duration) {
        let own = self.thread.saturating_sub(earlier.thread);
        let all = self.process.saturating_sub(earlier.process);
        (own, all.saturating_sub(own))
    }
}

fn time_on(which: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

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

    const ALONE: &str = "CIPHERMARK_TEST_CHILD";

    /// In a process of its own: other tests have children too, and these must not be ended.
    #[test]
    #[ignore = "child: ends all of its process's children, for the test below"]
    fn alone() {
        if std::env::var_os(ALONE).is_none() {
            return;
        }
        assert!(!children_exist());
        let child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(children_exist());
        assert_eq!(end_children(), 1);
        assert!(!children_exist());
        drop(child);
    }

    #[test]
    fn a_child_is_seen_and_ended() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "surroundings::tests::alone"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    fn the_time_of_another_thread_is_told_apart_from_the_callers() {
        let (begin, stop) = (OthersTime::now(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let until = Instant::now() + Duration::from_secs(20);
            while OthersTime::now().since(begin).1 < Duration::from_millis(50) {
                assert!(Instant::now() < until, "no other thread's time in twenty seconds");
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let (own, others) = OthersTime::now().since(begin);
        assert!(own < others, "{own:?} {others:?}");
    }
}
