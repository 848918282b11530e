//! Forks of this program's own, in a process whose filter denies them to the library.
//!
//! By clone(2) itself, with a word in an argument that the kernel does not look at. A library can find the word in its
//! own memory, which makes forks of it deliberate: what it forks is as confined, and is found and ended. Not by fork(3): from glibc 2.41 on it blocks all signals first, and a call that the filter catches then
//! ends the process. What libraries have registered for forks (pthread_atfork(3)) does not run: with one thread no lock
//! is held, and no forked process gives its parent anything but a result.

use crate::confine::calls::FORK_FLAGS;
use std::sync::OnceLock;

/// Which of the two processes this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forked {
    /// The new one.
    Child,
    /// The one that forked, and the new one's number.
    Parent(i32),
}

/// Forks. The process must have no other thread.
///
/// # Errors
/// The system's.
pub fn fork() -> std::io::Result<Forked> {
    let (flags, word, thread) = (libc::c_long::from(FORK_FLAGS as i32), word(), thread_number_at());
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
///
/// # Errors
/// The system's.
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
pub(crate) fn word() -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
}
