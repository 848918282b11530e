//! The process that steps this one.

use super::shared::Shared;
use super::tracee::Tracee;
use crate::step::Trace;
use std::ffi::c_int;
use std::io::{Error, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::sync::OnceLock;

/// Which process may trace this one, with Yama's restriction (`linux/prctl.h`: PR_SET_PTRACER).
const SET_PTRACER: c_int = 0x5961_6d61;

/// What the other process says: it is there, it is attached, it cannot attach.
const THERE: u8 = b't';
const ATTACHED: u8 = b'a';
const FAILED: u8 = b'f';

/// The way to it.
#[derive(Debug)]
pub(super) struct Helper {
    ask: std::io::PipeWriter,
    answers: std::io::PipeReader,
    shared: Shared,
}

static HELPER: OnceLock<Result<Helper, String>> = OnceLock::new();

/// Sets a process aside that can step this one, once: before this one gives up the right to start processes. It ends
/// with this one.
pub fn prepare() {
    HELPER.get_or_init(|| {
        Helper::start().map_err(|e| format!("no process can be had that steps this one: {e}"))
    });
}

/// What [`prepare`] has set aside.
pub(super) fn get() -> Result<&'static Helper, String> {
    let missing = || "no process was set aside that steps this one".to_owned();
    HELPER.get().ok_or_else(missing)?.as_ref().map_err(Clone::clone)
}

impl Helper {
    /// The new process is no child of this one, whose children are looked at for what a library has started: the one that
    /// starts it ends at once, and for as long this process adopts no orphans.
    fn start() -> Result<Self, Error> {
        let shared = Shared::new()?;
        let (asked, ask) = std::io::pipe()?;
        let (mut answers, answer) = std::io::pipe()?;
        let adopts = Adopting::off()?;
        // SAFETY: getting a number; what the child calls after fork(2) allocates nothing but in the last process, which
        // has one thread and the C library's promise that its heap can be used.
        let child = unsafe {
            let traced = libc::getpid();
            let child = libc::fork();
            if child == 0 {
                if libc::fork() == 0 {
                    drop((ask, answers));
                    serve(asked, answer, shared, traced);
                }
                libc::_exit(0);
            }
            child
        };
        if child < 0 {
            return Err(Error::last_os_error());
        }
        drop((asked, answer));
        let mut status = 0;
        // SAFETY: waits for the child.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        let mut said = [0; 5];
        answers.read_exact(&mut said)?;
        drop(adopts);
        let [THERE, number @ ..] = said else { return Err(std::io::ErrorKind::InvalidData.into()) };
        // SAFETY: says who may trace this process. Without Yama the call fails, and nothing is forbidden.
        unsafe {
            libc::prctl(SET_PTRACER, libc::c_ulong::from(u32::from_ne_bytes(number)), 0, 0, 0)
        };
        Ok(Self { ask, answers, shared })
    }

    /// Has the other process attach itself, to step the next call.
    pub(super) fn attach(&self, most_steps: u64) -> Result<(), String> {
        self.shared.ask(most_steps);
        let mut said = [0];
        let asked =
            (&self.ask).write_all(&said).and_then(|()| (&self.answers).read_exact(&mut said));
        match (asked, said) {
            (Ok(()), [ATTACHED]) => Ok(()),
            (Ok(()), _) => {
                Err(format!("the system lets no process step this one: {}", self.shared.failure()))
            }
            (Err(e), _) => Err(format!("the process that steps this one is gone: {e}")),
        }
    }

    /// What was counted in the last call.
    pub(super) fn trace(&self) -> Trace {
        self.shared.trace()
    }
}

/// As long as this is there, orphans of this process's children are not given to it.
struct Adopting {
    before: c_int,
}

impl Adopting {
    fn off() -> Result<Self, Error> {
        let mut before = 0;
        // SAFETY: asks for a flag of this process, and sets it.
        let done = unsafe {
            libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut before, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0
        };
        if done { Ok(Self { before }) } else { Err(Error::last_os_error()) }
    }
}

impl Drop for Adopting {
    fn drop(&mut self) {
        // SAFETY: sets a flag of this process back.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, self.before, 0, 0, 0) };
    }
}

/// Steps a call whenever it is asked to, until nobody can ask any more.
fn serve(
    mut asked: std::io::PipeReader,
    mut answer: std::io::PipeWriter,
    shared: Shared,
    traced: libc::pid_t,
) -> ! {
    close_others(asked.as_raw_fd(), answer.as_raw_fd());
    let mut said = vec![THERE];
    said.extend(std::process::id().to_ne_bytes());
    let mut word = [0];
    let mut going = answer.write_all(&said).is_ok();
    while going && asked.read_exact(&mut word).is_ok() {
        match Tracee::attach(traced) {
            Ok(mut tracee) => {
                going = answer.write_all(&[ATTACHED]).is_ok() && tracee.step(&shared).is_ok();
            }
            Err(e) => {
                shared.fail(&e);
                going = answer.write_all(&[FAILED]).is_ok();
            }
        }
    }
    // SAFETY: ends this process, whose copies of what the other one has open are of no use.
    unsafe { libc::_exit(0) }
}

/// Closes all files but two: whoever waits for the other process's end waits for its pipes to be closed.
fn close_others(one: c_int, other: c_int) {
    let (low, high) = (one.min(other) as u32, one.max(other) as u32);
    for (from, to) in
        [(0, low.wrapping_sub(1)), (low + 1, high.wrapping_sub(1)), (high + 1, u32::MAX)]
    {
        if from <= to {
            // SAFETY: closes files of this process alone.
            unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
        }
    }
}
