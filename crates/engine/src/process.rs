//! One worker process: started, asked, watched, killed, and what it said last.

use crate::deadlines::patient;
use crate::decode;
use crate::last_words::{self, LAST_WORDS, LastWords, SIGKILL};
use crate::link::{LineEnd, Link, WorkerError};
use crate::protocol::{Hello, PIPE_GONE, Ready, Reply, Request};
use crate::stop::Stop;
use crate::waiting::Deadline;
use base::model::Tier;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::MemfdFlags;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Loading a library: dynamic linking, self-tests of a FIPS module, clock calibration.
const HELLO_DEADLINE: Duration = Duration::from_secs(20);

/// The name of the hidden subcommand that makes a process a worker.
pub const SUBCOMMAND: &str = "worker";

/// A worker with its library loaded.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    link: Link,
    stderr: File,
    ready: Ready,
    /// Its number among those of its library.
    process: u32,
    away: Duration,
}

/// What a worker is told first.
enum Greeting {
    /// Load a library.
    Library(Hello),
    /// Load a TLS stack.
    Stack(record::tls::StackHello),
}

impl Greeting {
    fn tier(&self) -> Tier {
        match self {
            Self::Library(hello) => hello.tier,
            Self::Stack(_) => Tier::Native,
        }
    }

    /// The process's number and the request, with what its replies are to begin with.
    fn with(self, token: String) -> (u32, Request) {
        let token = Some(token);
        match self {
            Self::Library(hello) => (hello.process, Request::Hello(Hello { token, ..hello })),
            Self::Stack(hello) => {
                (hello.process, Request::Stack(record::tls::StackHello { token, ..hello }))
            }
        }
    }
}

impl Worker {
    /// Starts a process and has it load a library.
    ///
    /// # Errors
    /// [`WorkerError`] when the process cannot be started or the library cannot be used.
    pub fn start(hello: Hello) -> Result<Self, WorkerError> {
        let mut worker = Self::launch(hello)?;
        worker.greet(None)?;
        Ok(worker)
    }

    /// As [`Worker::start`], with an object that stands before the C library's functions.
    ///
    /// # Errors
    /// As [`Worker::start`].
    pub fn start_preloaded(hello: Hello, object: &Path) -> Result<Self, WorkerError> {
        let mut worker = Self::launch_with(Greeting::Library(hello), Some(object))?;
        worker.greet(None)?;
        Ok(worker)
    }

    /// Starts a process and asks it to load a library, without waiting: several can so load side
    /// by side. [`Worker::greet`] must come next.
    ///
    /// Workers die with the thread that launched them (`PR_SET_PDEATHSIG` in the worker), so that
    /// must be one that outlives them.
    pub(crate) fn launch(hello: Hello) -> Result<Self, WorkerError> {
        Self::launch_with(Greeting::Library(hello), None)
    }

    /// As [`Worker::launch`], with a TLS stack.
    pub(crate) fn launch_stack(hello: record::tls::StackHello) -> Result<Self, WorkerError> {
        Self::launch_with(Greeting::Stack(hello), None)
    }

    fn launch_with(greeting: Greeting, preload: Option<&Path>) -> Result<Self, WorkerError> {
        let start = |e: std::io::Error| WorkerError::Start(e.to_string());
        let environment = host::tier::environment(greeting.tier());
        // In memory: a full disk is no reason not to hear what a library says.
        let stderr = rustix::fs::memfd_create("ciphermark:stderr", MemfdFlags::CLOEXEC);
        let stderr = File::from(stderr.map_err(|e| start(e.into()))?);
        let mut command = Command::new(std::env::current_exe().map_err(start)?);
        command.env_clear().envs(host::environment());
        if let Some(object) = preload {
            // Before the user's own.
            let mut list = object.as_os_str().to_owned();
            if let Some(own) = std::env::var_os("LD_PRELOAD").filter(|own| !own.is_empty()) {
                list.push(":");
                list.push(own);
            }
            command.env("LD_PRELOAD", list);
        }
        let mut child = command
            .arg(SUBCOMMAND)
            // Whose death ends it.
            .arg(std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr.try_clone().map_err(start)?)
            // What a panicking worker says last is a message, not a backtrace.
            .env("RUST_BACKTRACE", "0")
            // The C library's own functions follow the tier.
            .envs(environment)
            // An interrupt from the terminal is for the scheduler, which ends the run in order.
            .process_group(0)
            .spawn()
            .map_err(start)?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (to, from) = to.zip(from).expect("both pipes were asked for");
        let token = format!("{:032x}", rand::random::<u128>());
        let link = Link::new(child.id(), to, from, &token).map_err(start)?;
        let (process, first) = greeting.with(token);
        let (ready, away) = (Ready::default(), Duration::ZERO);
        let mut worker = Self { child, link, stderr, ready, process, away };
        worker.link.send(&first);
        Ok(worker)
    }

    /// Waits until the library is loaded, or until `stop` is set.
    pub(crate) fn greet(&mut self, stop: Option<&Stop>) -> Result<(), WorkerError> {
        let loading = |why| match why {
            WorkerError::Died(how) => WorkerError::Died(format!("while loading: {how}")),
            other => other,
        };
        match self.reply_or_stop(stop, HELLO_DEADLINE).map_err(loading)? {
            Reply::Ready(ready) => {
                self.ready = *ready;
                Ok(())
            }
            Reply::Unusable { why } => Err(WorkerError::Unusable(why)),
            other => Err(out_of_protocol(&other)),
        }
    }

    /// Who the library says it is, and the worker's clock.
    #[must_use]
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Has it, and what it forks from now on, run on this CPU.
    pub(crate) fn move_to(&self, cpu: u32) -> std::io::Result<()> {
        probe::move_to(self.child.id(), cpu)
    }

    /// Sends a request.
    pub fn send(&mut self, request: &Request) {
        self.link.send(request);
    }

    /// Waits for the next reply. After an error the process is dead.
    ///
    /// # Errors
    /// [`WorkerError`] when the process died, hung past the deadline (and was killed), or wrote
    /// what is no reply (and was killed).
    pub fn reply(&mut self, deadline: Duration) -> Result<Reply, WorkerError> {
        self.reply_or_stop(None, deadline)
    }

    /// As [`Worker::reply`], and given up when `stop` is set.
    pub(crate) fn reply_unless(
        &mut self,
        stop: &Stop,
        deadline: Duration,
    ) -> Result<Reply, WorkerError> {
        self.reply_or_stop(Some(stop), deadline)
    }

    fn reply_or_stop(
        &mut self,
        stop: Option<&Stop>,
        deadline: Duration,
    ) -> Result<Reply, WorkerError> {
        let most = patient(deadline);
        let mut deadline = Deadline::with(self.child.id(), most);
        let end = self.link.receive(&mut deadline, stop);
        self.away += deadline.away();
        self.judge(end, most)
    }

    /// How long this process, not the worker, was stopped while it waited, since this was last
    /// asked.
    pub(crate) fn take_away(&mut self) -> Duration {
        std::mem::take(&mut self.away)
    }

    /// Whether the worker, unlike this process, was stopped and continued since this was last asked.
    pub(crate) fn stood_still(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
        // Only asked whether it was continued: its death is told by its pipe.
        Pid::from_raw(self.child.id().cast_signed())
            .is_some_and(|pid| matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_))))
    }

    fn judge(
        &mut self,
        end: Result<Result<Reply, String>, LineEnd>,
        deadline: Duration,
    ) -> Result<Reply, WorkerError> {
        match end {
            Ok(Ok(reply)) if decode::is_of_process(&reply, self.process) => Ok(reply),
            Ok(Ok(_)) => {
                self.kill();
                Err(WorkerError::OutOfProtocol("samples of another process".into()))
            }
            Ok(Err(why)) => {
                self.kill();
                Err(WorkerError::OutOfProtocol(why))
            }
            Err(LineEnd::Stopped) => {
                self.kill();
                Err(WorkerError::Interrupted)
            }
            Err(LineEnd::TimedOut) => {
                self.kill();
                let words = self.last_words().and_then(|words| words.said);
                Err(WorkerError::Hung { deadline, words })
            }
            Err(LineEnd::TooLong) => {
                self.kill();
                Err(WorkerError::OutOfProtocol("a line without end".into()))
            }
            Err(LineEnd::Closed) => Err(self.obituary()),
        }
    }

    fn kill(&mut self) {
        // With all that its library has started: the worker is the first of a group of its own.
        if let Some(pid) = rustix::process::Pid::from_raw(self.child.id() as i32)
            && matches!(self.child.try_wait(), Ok(None))
        {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Bytes that it has written to standard error, and so to standard output, since it was started.
    pub(crate) fn printed(&self) -> u64 {
        self.stderr.metadata().map_or(0, |m| m.len())
    }

    /// The first line of what it has printed after so many bytes.
    pub(crate) fn first_words(&self, after: u64) -> Option<String> {
        // Read in place: the position is the process's as well, which writes on.
        let mut bytes = [0; LAST_WORDS as usize];
        let read = self.stderr.read_at(&mut bytes, after).ok()?;
        let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
        let line = text.lines().find(|line| !line.trim().is_empty())?;
        Some(line.chars().filter(|c| !c.is_control()).take(60).collect())
    }

    /// How the process ended and what it said last. A process that closed its pipe and lives on
    /// is killed.
    fn obituary(&mut self) -> WorkerError {
        // A process that dies closes its pipes before it is gone, and on a busy machine long before.
        for _ in 0..1000 {
            match self.child.try_wait() {
                Ok(Some(status)) if status.signal() == Some(SIGKILL) => {
                    return WorkerError::Killed(self.describe(status));
                }
                Ok(Some(status)) => return WorkerError::Died(self.describe(status)),
                _ => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        self.kill();
        WorkerError::Died("closed the protocol's pipe, so it was killed".into())
    }

    fn describe(&mut self, status: ExitStatus) -> String {
        let words = self.last_words();
        match status.code() {
            Some(PIPE_GONE) => last_words::joined("closed the protocol's pipe", words),
            code => last_words::ending(status.signal(), code, words),
        }
    }

    /// The last line on standard error, without control characters.
    fn last_words(&mut self) -> Option<LastWords> {
        let len = self.stderr.metadata().ok()?.len();
        self.stderr.seek(SeekFrom::Start(len.saturating_sub(LAST_WORDS))).ok()?;
        let mut bytes = Vec::new();
        (&mut self.stderr).take(LAST_WORDS).read_to_end(&mut bytes).ok()?;
        last_words::of(&bytes)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How long no worker may answer before one of them is waited for by itself, up to its deadline.
const ANY: Duration = Duration::from_secs(1);

/// Waits until one of several workers has something to say or is gone, or time is up: the place of the one to listen to;
/// and how long this process was stopped meanwhile.
pub(crate) fn first_to_say(workers: &[&Worker], stop: &Stop) -> (usize, Duration) {
    let mut deadline = Deadline::with(workers[0].child.id(), ANY);
    let mut pipes: Vec<PollFd<'_>> =
        workers.iter().map(|w| PollFd::from_borrowed_fd(w.link.pipe(), PollFlags::IN)).collect();
    while !deadline.is_over() && !stop.is_over() {
        let ready = deadline.stretch(|time| {
            let timeout = time.try_into().expect("a stretch is short");
            poll(&mut pipes, Some(&timeout))
        });
        let said = pipes.iter().position(|pipe| !pipe.revents().is_empty());
        if let (Ok(1..), Some(first)) = (ready, said) {
            return (first, deadline.away());
        }
    }
    (0, deadline.away())
}

/// The error for a reply that does not fit the request.
pub(crate) fn out_of_protocol(reply: &Reply) -> WorkerError {
    let text = format!("{reply:?}");
    WorkerError::OutOfProtocol(text.chars().take(80).collect())
}
