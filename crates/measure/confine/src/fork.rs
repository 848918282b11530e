//! Forks of this program's own, in a process whose filter denies them to the library.
//!
//! By clone(2) itself, with a word that the filter knows and the library does not, in an argument that the kernel does
//! not look at. Not by fork(3): from glibc 2.41 on it blocks all signals first, and a call that the filter catches then
//! ends the process. What libraries have registered for forks (pthread_atfork(3)) does not run: with one thread no lock
//! is held, and no forked process gives its parent anything but a result.

use crate::calls::FORK_FLAGS;
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

/// Makes a call that the filter has caught once more where it is a signal to the calling process itself: a forked
/// process has another number than the filter knows.
///
/// Runs in a signal handler: no allocation, no lock.
#[cfg(target_arch = "x86_64")]
pub(crate) fn granted(context: &mut libc::ucontext_t) -> bool {
    let r = &context.uc_mcontext.gregs;
    let register = |name: libc::c_int| r[name as usize];
    let arguments = [register(libc::REG_RDI), register(libc::REG_RSI), register(libc::REG_RDX)];
    let Some(outcome) = once_more(register(libc::REG_RAX), arguments) else { return false };
    context.uc_mcontext.gregs[libc::REG_RAX as usize] = outcome;
    true
}

/// As above.
#[cfg(target_arch = "aarch64")]
pub(crate) fn granted(context: &mut libc::ucontext_t) -> bool {
    let r = context.uc_mcontext.regs.map(u64::cast_signed);
    let Some(outcome) = once_more(r[8], [r[0], r[1], r[2]]) else { return false };
    context.uc_mcontext.regs[0] = outcome.cast_unsigned();
    true
}

/// The outcome as the kernel gives it; `None` where the call stays denied.
fn once_more(call: i64, a: [i64; 3]) -> Option<i64> {
    // SAFETY: a system call without pointers.
    let own = unsafe { libc::syscall(libc::SYS_getpid) };
    if (call != libc::SYS_kill && call != libc::SYS_tgkill) || a[0] != own {
        return None;
    }
    let word = word().cast_signed();
    // SAFETY: a system call without pointers.
    let outcome = unsafe { libc::syscall(call, a[0], a[1], a[2], 0, 0, word) };
    // SAFETY: the C library's own, of this thread.
    Some(if outcome < 0 { -i64::from(unsafe { *libc::__errno_location() }) } else { outcome })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_signal_to_ourselves_stays_denied() {
        assert_eq!(once_more(libc::SYS_clone, [i64::from(FORK_FLAGS), 0, 0]), None);
        assert_eq!(once_more(libc::SYS_kill, [1, 0, 0]), None);
        assert_eq!(once_more(libc::SYS_execve, [0; 3]), None);
        let own = i64::from(std::process::id());
        assert_eq!(once_more(libc::SYS_kill, [own, 0, 0]), Some(0), "signal 0 asks only");
    }
}
