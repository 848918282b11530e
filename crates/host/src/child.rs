//! Programs of the system, run to their end: within a time, and with no more output than memory is there for.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// How often it is looked whether a program that has closed its output has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Runs a command with this on its standard input, and waits for its end.
///
/// # Errors
/// It cannot be started; it does not end within the time, or prints more than so many bytes: then it is killed.
pub fn output(
    command: &mut Command,
    input: &[u8],
    within: Duration,
    most_bytes: u64,
) -> io::Result<Output> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn()?;
    let done = finished(&mut child, input.to_vec(), Instant::now() + within, most_bytes);
    if done.is_err() {
        // One that is gone cannot be killed, and need not.
        let _ = child.kill().and_then(|()| child.wait());
    }
    done.map_err(|e| match e.kind() {
        io::ErrorKind::TimedOut => {
            let seconds = within.as_secs_f64();
            io::Error::new(e.kind(), format!("it did not end within {seconds} s"))
        }
        _ => e,
    })
}

fn finished(
    child: &mut Child,
    input: Vec<u8>,
    until: Instant,
    most_bytes: u64,
) -> io::Result<Output> {
    let (send, read) = channel();
    let taken = "the pipe was asked for";
    let (mut stdin, stdout, stderr) = (
        child.stdin.take().expect(taken),
        child.stdout.take().expect(taken),
        child.stderr.take().expect(taken),
    );
    // A program that does not read it is not wrong: what it says counts.
    std::thread::spawn(move || drop(stdin.write_all(&input)));
    listen(stdout, true, most_bytes, send.clone());
    listen(stderr, false, most_bytes, send);
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let left = until.saturating_duration_since(Instant::now());
        let (is_output, bytes) = read.recv_timeout(left).map_err(|_| io::ErrorKind::TimedOut)?;
        let bytes = bytes?;
        if bytes.len() as u64 > most_bytes {
            return Err(io::Error::other(format!("it printed more than {most_bytes} bytes")));
        }
        *(if is_output { &mut printed } else { &mut said }) = bytes;
    }
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Output { status, stdout: printed, stderr: said });
        }
        if Instant::now() >= until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(LOOK);
    }
}

type Heard = (bool, io::Result<Vec<u8>>);

fn listen(from: impl Read + Send + 'static, is_output: bool, most: u64, to: Sender<Heard>) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = from.take(most + 1).read_to_end(&mut bytes);
        // Nobody waits any more where the time is over.
        let _ = to.send((is_output, read.map(|_| bytes)));
    });
}

/// Whether a child ends within a time. Its number stays its own.
pub fn ends_within(child: &Child, within: Duration) -> bool {
    let until = Instant::now() + within;
    while matches!(ended(child), Ok(None)) {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}

/// Ends a child that leads a process group, and all that it has started there, also where it has ended itself: what it
/// started may live on. How it ended.
pub fn end_group(child: &mut Child) -> Option<ExitStatus> {
    // As long as nobody has waited for it, the group's number is nobody else's.
    if let (Ok(_), Some(group)) = (ended(child), Pid::from_raw(child.id().cast_signed())) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait().ok()
}

fn ended(child: &Child) -> rustix::io::Result<Option<rustix::process::WaitIdStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Pid::from_raw(child.id().cast_signed())
        .map_or(Ok(None), |pid| waitid(WaitId::Pid(pid), options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt as _;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str, within: Duration, most_bytes: u64) -> io::Result<Output> {
        output(Command::new("sh").args(["-c", script]), b"typed\n", within, most_bytes)
    }

    #[test]
    fn what_a_program_reads_and_says_is_its_own() {
        let done = shell("cat; echo wrong >&2; exit 3", LONG, 100).unwrap();
        assert_eq!((&*done.stdout, &*done.stderr), (&b"typed\n"[..], &b"wrong\n"[..]));
        assert_eq!(done.status.code(), Some(3));
    }

    #[test]
    fn one_that_does_not_end_is_ended_also_where_it_has_closed_its_output() {
        for script in ["sleep 600", "exec sleep 600 >&- 2>&-", "sleep 600 & exit 0"] {
            let why = shell(script, Duration::from_millis(300), 100).unwrap_err();
            assert_eq!(why.to_string(), "it did not end within 0.3 s", "{script}");
        }
    }

    #[test]
    fn one_that_prints_without_end_is_ended() {
        for script in ["cat /dev/zero", "cat /dev/zero >&2"] {
            let why = shell(script, LONG, 1 << 20).unwrap_err();
            assert_eq!(why.to_string(), "it printed more than 1048576 bytes", "{script}");
        }
    }

    #[test]
    fn what_a_child_has_started_ends_with_it_also_where_it_has_ended_before() {
        // What lives on holds the pipe.
        for (script, is_over) in [("sleep 600 & exit 3", true), ("sleep 600 & wait", false)] {
            let mut command = Command::new("sh");
            command.args(["-c", script]).process_group(0).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            assert!(!is_over || ends_within(&child, LONG));
            let status = end_group(&mut child).unwrap();
            assert_eq!(status.code(), is_over.then_some(3), "{script}");
            let mut said = Vec::new();
            child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
            assert!(ends_within(&child, LONG) && end_group(&mut child) == Some(status));
        }
    }
}
