//! The scheduler's end of the pipes to one worker: lines with deadlines.

use crate::decode;
use crate::protocol::{Reply, Request};
use crate::stop::Stop;
use crate::waiting::Deadline;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

/// Why a worker gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The process ended.
    #[error("{0}")]
    Died(String),
    /// The process was killed by SIGKILL, which no fault of a library's raises: by a person, or by a
    /// kernel without memory.
    #[error("{0}")]
    Killed(String),
    /// The deadline passed; what the process said last, if anything.
    #[error("no answer within {:.0?}: hung, so it was killed{}", .deadline,
        .words.as_ref().map(|w| format!("; last words: {w}")).unwrap_or_default())]
    Hung {
        /// How long was waited.
        deadline: Duration,
        /// The last line on its standard error.
        words: Option<String>,
    },
    /// The run is to end.
    #[error("interrupted")]
    Interrupted,
    /// The answer was no message of the protocol.
    #[error("answered out of protocol: {0}")]
    OutOfProtocol(String),
    /// The process could not be started.
    #[error("cannot start a worker process: {0}")]
    Start(String),
    /// The library cannot be used.
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

/// How a wait for a line ended.
pub(crate) enum LineEnd {
    Closed,
    TimedOut,
    /// The run is to end.
    Stopped,
    TooLong,
}

/// Longest line that is taken: `once` with a message of 16 MiB, in hexadecimal, with room. A
/// worker whose library writes to the protocol's pipe must not fill the scheduler's memory.
const MAX_LINE: usize = 40 << 20;

/// A worker that does not take a request within this time has hung: it reads whenever it has nothing
/// else to do.
const SEND_DEADLINE: Duration = Duration::from_secs(20);

/// Both pipes and what has been read ahead.
#[derive(Debug)]
pub(crate) struct Link {
    process: u32,
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
        Ok(Self { process, to, from, ahead: Vec::new(), token, searched: 0 })
    }

    /// What the worker's lines come from: to be waited for with those of others.
    pub(crate) fn pipe(&self) -> BorrowedFd<'_> {
        self.from.as_fd()
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
                    let to = PollFd::new(&self.to, PollFlags::OUT);
                    if deadline.is_over() || wait_for(to, &mut deadline).is_err() {
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

    /// Waits a little for more, and takes it.
    fn read_more(&mut self, deadline: &mut Deadline, stop: Option<&Stop>) -> Result<(), LineEnd> {
        let came = wait_for(PollFd::new(&self.from, PollFlags::IN), deadline)
            .map_err(|_| LineEnd::Closed)?;
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

/// Whether a pipe got ready in the deadline's next stretch.
fn wait_for(pipe: PollFd<'_>, deadline: &mut Deadline) -> rustix::io::Result<bool> {
    let ready = deadline.stretch(|time| {
        let timeout = time.try_into().expect("a stretch is short");
        poll(&mut [pipe], Some(&timeout))
    });
    match ready {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod frames;
