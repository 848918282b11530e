//! One worker process: started, asked through its pipes, waited for, killed; how it ended and what it said
//! last.

use crate::decode;
use crate::protocol::{Hello, PIPE_GONE, Ready, Reply, Request, StackHello};
use crate::time::{Deadline, Stop, patient};
use base::model::Tier;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
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
    process: u32,
    away: Duration,
}

enum Greeting {
    Library(Hello),
    Stack(StackHello),
}

impl Greeting {
    fn tier(&self) -> Tier {
        match self {
            Self::Library(hello) => hello.tier,
            Self::Stack(hello) => hello.tier,
        }
    }

    /// The process's number and the request, with what its replies are to begin with.
    fn with(self, token: String) -> (u32, Request) {
        let token = Some(token);
        match self {
            Self::Library(hello) => (hello.process, Request::Hello(Hello { token, ..hello })),
            Self::Stack(hello) => {
                (hello.process, Request::Stack(Box::new(StackHello { token, ..hello })))
            }
        }
    }
}

impl Worker {
    /// Starts a process and has it load a library.
    pub fn start(hello: Hello) -> Result<Self, WorkerError> {
        let mut worker = Self::launch(hello)?;
        worker.greet(None)?;
        Ok(worker)
    }

    /// As [`Worker::start`], with an object that stands before the C library's functions.
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

    pub(crate) fn launch_stack(hello: StackHello) -> Result<Self, WorkerError> {
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

    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    pub(crate) fn move_to(&self, cpu: u32) -> std::io::Result<()> {
        probe::move_to(self.child.id(), cpu)
    }

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
        use rustix::process::{WaitId, WaitIdOptions, waitid};
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
            // What it has forked may hold its pipe open.
            Err(LineEnd::TimedOut) if host::ends_within(&self.child, Duration::ZERO) => {
                Err(self.obituary())
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
        host::end_group(&mut self.child);
    }

    /// Bytes that it has written to standard error, and so to standard output, since it was started.
    pub(crate) fn printed(&self) -> u64 {
        self.stderr.metadata().map_or(0, |m| m.len())
    }

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
        let is_over = host::ends_within(&self.child, Duration::from_secs(2));
        match host::end_group(&mut self.child) {
            Some(status) if is_over && status.signal() == Some(SIGKILL) => {
                WorkerError::Killed(self.describe(status))
            }
            Some(status) if is_over => WorkerError::Died(self.describe(status)),
            _ => WorkerError::Died("closed the protocol's pipe, so it was killed".into()),
        }
    }

    fn describe(&mut self, status: ExitStatus) -> String {
        let words = self.last_words();
        match status.code() {
            Some(PIPE_GONE) => joined("closed the protocol's pipe", words),
            code => ending(status.signal(), code, words),
        }
    }

    fn last_words(&mut self) -> Option<LastWords> {
        let len = self.stderr.metadata().ok()?.len();
        self.stderr.seek(SeekFrom::Start(len.saturating_sub(LAST_WORDS))).ok()?;
        let mut bytes = Vec::new();
        (&mut self.stderr).take(LAST_WORDS).read_to_end(&mut bytes).ok()?;
        last_words_of(&bytes)
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
    let (mut sources, mut from) = (Vec::new(), Vec::new());
    for (place, worker) in workers.iter().enumerate() {
        for source in worker.link.sources() {
            sources.push(source);
            from.push(place);
        }
    }
    while !deadline.is_over() && !stop.is_over() {
        let ready = deadline.stretch(|time| {
            let timeout = time.try_into().expect("a stretch is short");
            poll(&mut sources, Some(&timeout))
        });
        let said = sources.iter().position(|source| !source.revents().is_empty());
        if let (Ok(1..), Some(first)) = (ready, said) {
            return (from[first], deadline.away());
        }
    }
    (0, deadline.away())
}

pub(crate) fn out_of_protocol(reply: &Reply) -> WorkerError {
    let text = format!("{reply:?}");
    WorkerError::OutOfProtocol(text.chars().take(80).collect())
}

// The scheduler's end of the pipes to one worker: lines with deadlines.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    #[error("{0}")]
    Died(String),
    /// The process was killed by SIGKILL, which no fault of a library's raises: by a person, or by a
    /// kernel without memory.
    #[error("{0}")]
    Killed(String),
    /// The deadline passed; what the process said last, if anything.
    #[error("no answer within {:.0?}: hung, so it was killed{}", .deadline,
        .words.as_ref().map(|w| format!("; last words: {w}")).unwrap_or_default())]
    Hung { deadline: Duration, words: Option<String> },
    #[error("interrupted")]
    Interrupted,
    #[error("answered out of protocol: {0}")]
    OutOfProtocol(String),
    #[error("cannot start a worker process: {0}")]
    Start(String),
    #[error("{0}")]
    Unusable(String),
}

/// Asks again, once, where the worker was killed from outside: that is no fault of what it was
/// asked.
pub(crate) fn once_more_if_killed<T>(
    mut ask: impl FnMut() -> Result<T, WorkerError>,
) -> Result<T, WorkerError> {
    match ask() {
        Err(WorkerError::Killed(_)) => ask(),
        answer => answer,
    }
}

pub(crate) enum LineEnd {
    Closed,
    TimedOut,
    Stopped,
    TooLong,
}

/// Longest line that is taken: `once` with a message of 16 MiB, in hexadecimal, with room. A
/// worker whose library writes to the protocol's pipe must not fill the scheduler's memory.
const MAX_LINE: usize = 40 << 20;

/// A worker that does not take a request within this time has hung: it reads whenever it has nothing
/// else to do.
const SEND_DEADLINE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Link {
    process: u32,
    /// Tells that the worker is dead, also where what it has forked holds its pipe open; none before Linux 5.3.
    end: Option<OwnedFd>,
    to: ChildStdin,
    from: ChildStdout,
    ahead: Vec<u8>,
    /// What every line of the worker's own begins with.
    token: Vec<u8>,
    /// How much of `ahead` has been searched for the end of a line.
    searched: usize,
}

impl Link {
    pub(crate) fn new(
        process: u32,
        to: ChildStdin,
        from: ChildStdout,
        token: &str,
    ) -> std::io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&to)?;
        rustix::fs::fcntl_setfl(&to, flags | rustix::fs::OFlags::NONBLOCK)?;
        let token = format!("{token} ").into_bytes();
        let pid = Pid::from_raw(process.cast_signed());
        let end = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Ok(Self { process, end, to, from, ahead: Vec::new(), token, searched: 0 })
    }

    fn sources(&self) -> impl Iterator<Item = PollFd<'_>> {
        let end = self.end.as_ref().map(OwnedFd::as_fd);
        let all: [Option<BorrowedFd<'_>>; 2] = [Some(self.from.as_fd()), end];
        all.into_iter().flatten().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
    }

    /// Sends one request. A closed pipe, or a worker that does not read, shows at the next reply,
    /// with the reason.
    pub(crate) fn send(&mut self, request: &Request) {
        let mut line = serde_json::to_vec(request).expect("requests are plain data");
        line.push(b'\n');
        let mut deadline = Deadline::with(self.process, SEND_DEADLINE);
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match self.to.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let mut to = [PollFd::new(&self.to, PollFlags::OUT)];
                    if deadline.is_over() || wait_for(&mut to, &mut deadline).is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// The next reply, waited for as long as the deadline lasts and nobody says `stop`.
    pub(crate) fn receive(
        &mut self,
        deadline: &mut Deadline,
        stop: Option<&Stop>,
    ) -> Result<Result<Reply, String>, LineEnd> {
        let line = self.line(deadline, stop)?;
        let Some(line) = line.strip_prefix(&*self.token) else {
            let text = decode::excerpt(&line);
            return Ok(Err(format!("a line that is not the worker's: '{text}'")));
        };
        Ok(decode::reply(line))
    }

    fn line(&mut self, deadline: &mut Deadline, stop: Option<&Stop>) -> Result<Vec<u8>, LineEnd> {
        loop {
            if let Some(at) = self.ahead[self.searched..].iter().position(|b| *b == b'\n') {
                let rest = self.ahead.split_off(self.searched + at + 1);
                self.searched = 0;
                return Ok(std::mem::replace(&mut self.ahead, rest));
            }
            self.searched = self.ahead.len();
            if self.searched > MAX_LINE {
                return Err(LineEnd::TooLong);
            }
            self.read_more(deadline, stop)?;
        }
    }

    fn read_more(&mut self, deadline: &mut Deadline, stop: Option<&Stop>) -> Result<(), LineEnd> {
        let mut sources: Vec<PollFd<'_>> = self.sources().collect();
        let came = wait_for(&mut sources, deadline).map_err(|_| LineEnd::Closed)?;
        // What a dead worker has said is taken first: it may have come after the pipe was looked at.
        if came && sources[0].revents().is_empty() {
            let mut own = [PollFd::new(&self.from, PollFlags::IN)];
            if !matches!(poll(&mut own, Some(&Timespec::default())), Ok(1..)) {
                return Err(LineEnd::Closed);
            }
        }
        if !came {
            return if stop.is_some_and(|stop| stop.is_over()) {
                Err(LineEnd::Stopped)
            } else if deadline.is_over() {
                Err(LineEnd::TimedOut)
            } else {
                Ok(())
            };
        }
        let mut chunk = [0; 1 << 16];
        match self.from.read(&mut chunk) {
            Ok(0) | Err(_) => Err(LineEnd::Closed),
            Ok(n) => {
                self.ahead.extend_from_slice(&chunk[..n]);
                Ok(())
            }
        }
    }
}

/// Whether one of these got ready in the deadline's next stretch.
fn wait_for(sources: &mut [PollFd<'_>], deadline: &mut Deadline) -> rustix::io::Result<bool> {
    let ready = deadline.stretch(|time| {
        let timeout = time.try_into().expect("a stretch is short");
        poll(sources, Some(&timeout))
    });
    match ready {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(e) => Err(e),
    }
}
/// Most of a dead process's last words that is looked at: a page of them says what is to be said.
pub(crate) const LAST_WORDS: u64 = 4096;

/// The signal that nothing but another process or the kernel sends.
pub(crate) const SIGKILL: i32 = 9;

/// How a process ended, with what it said last.
pub(crate) fn ending(signal: Option<i32>, code: Option<i32>, words: Option<LastWords>) -> String {
    let end = match (signal, code) {
        (Some(signal), _) => format!("crashed: {}", signal_name(signal)),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".into(),
    };
    joined(&end, words)
}

pub(crate) fn joined(end: &str, words: Option<LastWords>) -> String {
    let LastWords { place, said } = words.unwrap_or_default();
    let place = place.map(|place| format!(": {place}")).unwrap_or_default();
    let said = said.map(|said| format!("; last words: {said}")).unwrap_or_default();
    format!("{end}{place}{said}")
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastWords {
    /// Where it crashed, as [`probe::fault`] has it.
    place: Option<String>,
    /// The line that tells most of what it said last.
    pub(crate) said: Option<String>,
}

/// What Rust says where an exception comes through a function of C, and what that means.
const FOREIGN: &str = "Rust cannot catch foreign exceptions";
const THROWN: &str = "a C++ exception left the library: catch it in the adapter and print its text on standard error";

/// The lines of these last words that tell most, without control characters.
pub(crate) fn last_words_of(bytes: &[u8]) -> Option<LastWords> {
    let text = String::from_utf8_lossy(bytes);
    let of_line = |line: &str| line.chars().filter(|c| !c.is_control()).take(200).collect();
    let place = text.lines().filter_map(|line| line.strip_prefix(probe::fault::MARK)).next_back();
    // Of an abort outside of all calls nothing more is known.
    let place = place.filter(|place| !place.is_empty());
    let said = telling(&text).map(|line| if line.contains(FOREIGN) { THROWN } else { line });
    let words = LastWords { place: place.map(of_line), said: said.map(of_line) };
    (words != LastWords::default()).then_some(words)
}

/// The line that tells most of how a process ended: of a Rust panic its message, which has advice and
/// perhaps other panics behind it; else the last that is not advice, which Rust gives where it found no memory too.
fn telling(text: &str) -> Option<&str> {
    let is_said = |l: &&str| {
        let is_ours = l.starts_with("note: ") || l.starts_with(probe::fault::MARK);
        !l.trim().is_empty() && !is_ours
    };
    let mut lines = text.lines().filter(is_said);
    let panicked = |l: &&str| l.starts_with("thread '") && l.contains(" panicked at ");
    lines.clone().skip_while(|l| !panicked(l)).nth(1).or_else(|| lines.next_back())
}

fn signal_name(signal: i32) -> String {
    // The signals that a library's fault raises; any other is told by its number.
    let name = match signal {
        4 => "SIGILL, illegal instruction",
        5 => "SIGTRAP",
        6 => "SIGABRT, aborted itself",
        7 => "SIGBUS, bad memory access",
        8 => "SIGFPE, arithmetic fault",
        SIGKILL => "SIGKILL, killed from outside",
        11 => "SIGSEGV, bad memory access",
        15 => "SIGTERM",
        25 => "SIGXFSZ, wrote more than 64 MiB",
        31 => "SIGSYS, forbidden system call",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_panic_the_message_is_told_and_else_the_last_line() {
        let panic =
            "\nthread 'main' (7) panicked at src/lib.rs:1:2:\nno such thing\nnote: run with it\n";
        assert_eq!(telling(panic), Some("no such thing"));
        assert_eq!(telling("loading\nout of luck\n\n"), Some("out of luck"));
        let no_memory = "memory allocation of 64 bytes failed\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(telling(no_memory), Some("memory allocation of 64 bytes failed"));
        assert_eq!(telling("\n"), None);
    }

    #[test]
    fn replies_come_out_whole_and_in_order_wherever_they_are_cut() {
        let token = "00112233445566778899aabbccddeeff";
        let own = ["first", "zwölf"].map(|why| Reply::Unusable { why: why.to_owned() });
        let [first, last] = own.each_ref().map(|reply| serde_json::to_string(reply).unwrap());
        // Between them what a library writes: nothing, a text, a reply in its own name.
        let text = format!("{token} {first}\n\nlooking for {token}\n{last}\n{token} {last}\n");
        let cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut cat = cat.unwrap();
        let (to, from) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
        let mut raw = File::from(to.as_fd().try_clone_to_owned().unwrap());
        let mut link = Link::new(cat.id(), to, from, token).unwrap();
        for cut in 0..text.len() {
            let mut received = Vec::new();
            let (before, after) = text.as_bytes().split_at(cut);
            for piece in [before, after] {
                raw.write_all(piece).unwrap();
                // What is whole by now is read now, so that the next piece comes to an unfinished line.
                for _ in piece.iter().filter(|byte| **byte == b'\n') {
                    let mut deadline = Deadline::with(std::process::id(), Duration::from_secs(60));
                    let Ok(reply) = link.receive(&mut deadline, None) else { panic!("{cut}") };
                    received.push(reply);
                }
            }
            for (i, reply) in received.into_iter().enumerate() {
                match i {
                    0 | 4 => assert_eq!(reply.as_ref(), Ok(&own[i / 4]), "{cut}"),
                    _ => assert!(reply.unwrap_err().starts_with("a line that is not"), "{cut}"),
                }
            }
        }
        drop((raw, link));
        cat.wait().unwrap();
    }

    /// Before Linux 5.3 it is noticed at the deadline.
    #[test]
    fn a_dead_worker_is_noticed_at_once_though_what_it_forked_holds_its_pipe() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo said; sleep 600 & exit 3"]).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut link = Link::new(child.id(), to, from, "token").unwrap();
        let has_pidfd = link.end.is_some();
        let mut deadline =
            Deadline::with(child.id(), Duration::from_secs(if has_pidfd { 600 } else { 1 }));
        let first = link.receive(&mut deadline, None);
        assert!(
            matches!(first, Ok(Err(why)) if why.contains("said")),
            "what it has said comes first"
        );
        let ends_as_it_should = |end| match end {
            Err(LineEnd::Closed) => has_pidfd,
            Err(LineEnd::TimedOut) => !has_pidfd,
            _ => false,
        };
        assert!(ends_as_it_should(link.receive(&mut deadline, None)));
        let status = host::end_group(&mut child).unwrap();
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn where_a_process_crashed_stands_before_what_it_said() {
        let words = last_words_of(b"moon\n\nfault: read of byte 1\n");
        let told = ending(Some(6), None, words);
        assert_eq!(told, "crashed: SIGABRT, aborted itself: read of byte 1; last words: moon");
        assert_eq!(ending(None, Some(1), last_words_of(b"\n")), "exited with code 1");
        let thrown = b"fatal runtime error: Rust cannot catch foreign exceptions, aborting\n";
        let told = ending(Some(6), None, last_words_of(thrown));
        assert!(told.contains("last words: a C++ exception left the library"), "{told}");
    }
}
