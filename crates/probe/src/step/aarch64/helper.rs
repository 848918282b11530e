//! The process that steps this one.

use super::shared::{Asked, Shared};
use super::tracee::Tracee;
use crate::step::{End, Trace};
use std::ffi::c_int;
use std::io::{Error, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

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
    /// Its number.
    process: u32,
    /// The thread that has said that this one may trace it.
    allowed_by: AtomicI32,
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
        // SAFETY: what the child calls after fork(2) allocates nothing but in the last process, which has one thread and
        // the C library's promise that its heap can be used.
        let child = unsafe {
            let child = libc::fork();
            if child == 0 {
                if libc::fork() == 0 {
                    drop((ask, answers));
                    serve(asked, answer, shared);
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
        let (process, allowed_by) = (u32::from_ne_bytes(number), AtomicI32::new(0));
        let helper = Self { ask, answers, shared, process, allowed_by };
        helper.allow();
        Ok(helper)
    }

    /// Says that the other process may trace this one, once in each thread that asks; that thread's number.
    fn allow(&self) -> libc::pid_t {
        // SAFETY: gets a number.
        let own = unsafe { libc::gettid() };
        if self.allowed_by.swap(own, Ordering::Relaxed) != own {
            // SAFETY: says who may trace this process. Without Yama the call fails, and nothing is forbidden.
            unsafe { libc::prctl(SET_PTRACER, libc::c_ulong::from(self.process), 0, 0, 0) };
        }
        own
    }

    /// Has the other process attach itself, to step the next call.
    pub(super) fn attach(&self, most_steps: u64) -> Result<(), String> {
        self.attach_for(&Asked { most_steps, process: self.allow(), tape: None })
    }

    /// The same, to write the registers before each step to a place of this process; which is told `own_number` for its
    /// own.
    pub(super) fn attach_recording(
        &self,
        most_steps: u64,
        to: u64,
        own_number: u32,
    ) -> Result<(), String> {
        let tape = Some((to, u64::from(own_number)));
        self.attach_for(&Asked { most_steps, process: self.allow(), tape })
    }

    fn attach_for(&self, asked: &Asked) -> Result<(), String> {
        self.shared.ask(asked);
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

    /// How many steps of the last call were recorded, and how that ended.
    pub(super) fn recorded(&self) -> (u64, End) {
        self.shared.recorded()
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
fn serve(mut asked: std::io::PipeReader, mut answer: std::io::PipeWriter, shared: Shared) -> ! {
    close_others(asked.as_raw_fd(), answer.as_raw_fd());
    let mut said = vec![THERE];
    said.extend(std::process::id().to_ne_bytes());
    let mut word = [0];
    let mut going = answer.write_all(&said).is_ok();
    while going && asked.read_exact(&mut word).is_ok() {
        match Tracee::attach(shared.asked().process) {
            // A process that ends in its midst is its parent's concern, which may ask for another.
            Ok(mut tracee) => {
                going = answer.write_all(&[ATTACHED]).is_ok();
                let _ = tracee.step(&shared);
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
