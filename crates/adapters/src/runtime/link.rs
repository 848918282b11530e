//! The pipes to a runtime's process: requests and replies, each with its length before it.

use std::collections::BTreeSet;
use std::io::{BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Longest reply that is taken: sixteen outputs of the largest message, with room to spare.
const MOST_BYTES: usize = 512 << 20;

/// A runtime's process. It ends when its standard input does.
#[derive(Debug)]
pub(super) struct Link {
    name: String,
    process: u32,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    child: Child,
    /// Numbers of sessions that are open there.
    open: BTreeSet<u32>,
}

impl Link {
    pub(super) fn start(mut command: Command, name: &str) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|e| format!("'{program}' does not start: {e}"))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(requests), Some(replies)) = pipes else {
            return Err(format!("'{program}' has no pipes"));
        };
        let (process, replies) = (child.id(), BufReader::with_capacity(1 << 16, replies));
        let (name, open) = (name.to_owned(), BTreeSet::new());
        Ok(Self { name, process, requests, replies, child, open })
    }

    pub(super) fn process(&self) -> u32 {
        self.process
    }

    /// The least number that no open session has. The process of a visit ends without closing its own, and the next one
    /// gives the number away again: what was there before is then dropped.
    pub(super) fn take_number(&mut self) -> u32 {
        let number = (0..).find(|n| !self.open.contains(n)).unwrap_or_default();
        self.open.insert(number);
        number
    }

    pub(super) fn give_number_back(&mut self, number: u32) {
        self.open.remove(&number);
    }

    /// Status and content of the reply.
    pub(super) fn try_ask(&mut self, request: &[u8]) -> Result<(u8, Vec<u8>), String> {
        let ended =
            |e: std::io::Error| format!("{}'s process ended, or closed its pipes: {e}", self.name);
        let len = u32::try_from(request.len()).map_err(|e| e.to_string())?;
        let mut whole = Vec::with_capacity(4 + request.len());
        whole.extend_from_slice(&len.to_le_bytes());
        whole.extend_from_slice(request);
        self.requests.write_all(&whole).map_err(ended)?;
        let mut head = [0; 5];
        self.replies.read_exact(&mut head).map_err(ended)?;
        let [a, b, c, d, status] = head;
        let len = u32::from_le_bytes([a, b, c, d]) as usize;
        if len == 0 || len > MOST_BYTES {
            return Err(format!("{}'s process answered out of protocol", self.name));
        }
        let mut reply = vec![0; len - 1];
        self.replies.read_exact(&mut reply).map_err(ended)?;
        Ok((status, reply))
    }

    /// The same. Where there is no reply, this process ends with the reason as its last words, as it would if the library
    /// had been in it.
    pub(super) fn ask(&mut self, request: &[u8]) -> (u8, Vec<u8>) {
        match self.try_ask(request) {
            Ok(reply) => reply,
            Err(why) => {
                let ended = self.child.try_wait().ok().flatten();
                let status = ended.map(|status| format!(" ({status})")).unwrap_or_default();
                eprintln!("{why}{status}{}", last_words());
                std::process::exit(RUNTIME_ENDED);
            }
        }
    }
}

/// What the runtime printed last before it ended, without the lines of a trace: standard error is a file that both write.
fn last_words() -> String {
    let printed = std::fs::read("/proc/self/fd/2").unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let mut lines = printed.lines().rev().filter(|line| !line.trim().is_empty());
    lines.find(|l| !l.starts_with([' ', '\t'])).map(|l| format!(": {l}")).unwrap_or_default()
}

/// The exit code of a process whose runtime's has ended (`EX_UNAVAILABLE` of sysexits.h).
pub const RUNTIME_ENDED: i32 = 69;

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
