//! The scheduler's end of the pipes to one worker: lines with deadlines.

use crate::decode;
use crate::protocol::{Reply, Request};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{ErrorKind, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// Why a worker gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The process ended.
    #[error("{0}")]
    Died(String),
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

/// How a wait for a line ended.
pub(crate) enum LineEnd {
    Closed,
    TimedOut,
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
    to: ChildStdin,
    from: ChildStdout,
    ahead: Vec<u8>,
    /// What every line of the worker's own begins with.
    token: Vec<u8>,
    /// How much of `ahead` has been searched for the end of a line.
    searched: usize,
}

impl Link {
    pub(crate) fn new(to: ChildStdin, from: ChildStdout, token: &str) -> std::io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&to)?;
        rustix::fs::fcntl_setfl(&to, flags | rustix::fs::OFlags::NONBLOCK)?;
        let token = format!("{token} ").into_bytes();
        Ok(Self { to, from, ahead: Vec::new(), token, searched: 0 })
    }

    /// Sends one request. A closed pipe, or a worker that does not read, shows at the next reply,
    /// with the reason.
    pub(crate) fn send(&mut self, request: &Request) {
        let mut line = serde_json::to_vec(request).expect("requests are plain data");
        line.push(b'\n');
        let end = Instant::now() + SEND_DEADLINE;
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match self.to.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let left = end.saturating_duration_since(Instant::now());
                    let Ok(timeout) = left.try_into() else { return };
                    let to = PollFd::new(&self.to, PollFlags::OUT);
                    if matches!(poll(&mut [to], Some(&timeout)), Ok(0)) {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// The next reply.
    pub(crate) fn receive(&mut self, deadline: Duration) -> Result<Result<Reply, String>, LineEnd> {
        let line = self.line(Instant::now() + deadline)?;
        let Some(line) = line.strip_prefix(&*self.token) else {
            let text = decode::excerpt(&line);
            return Ok(Err(format!("a line that is not the worker's: '{text}'")));
        };
        Ok(decode::reply(line))
    }

    fn line(&mut self, end: Instant) -> Result<Vec<u8>, LineEnd> {
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
            self.read_more(end)?;
        }
    }

    fn read_more(&mut self, end: Instant) -> Result<(), LineEnd> {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = left.try_into().map_err(|_| LineEnd::TimedOut)?;
        let ready = poll(&mut [PollFd::new(&self.from, PollFlags::IN)], Some(&timeout));
        match ready {
            Ok(0) => return Err(LineEnd::TimedOut),
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(_) => return Err(LineEnd::Closed),
            Ok(_) => {}
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
