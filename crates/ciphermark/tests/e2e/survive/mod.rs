//! Runs that survive: whatever is killed, full, gone or put to sleep in the middle of one, at most the
//! case in flight is lost, and `--resume` goes on. What a machine does not let a test do (mounts,
//! control groups) is left out with a word why.

mod disks;
mod kills;
mod machine;
mod records;

use crate::support::*;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Far more than ending takes, far less than a run without an end.
const SOON: Duration = Duration::from_secs(20);
/// For runs that end by themselves, on a busy machine.
const LATER: Duration = Duration::from_secs(120);
/// What most of these runs measure.
const CTR: [&str; 6] = ["-a", "aes-128-ctr", "-l", "openssl", "-s", "16,1K"];

fn journal_bytes(record: &Path) -> u64 {
    std::fs::metadata(journal(record)).map_or(0, |m| m.len())
}

/// Its first line says what is measured, each other one is a sample or a finding.
fn journal_lines(record: &Path) -> usize {
    let bytes = std::fs::read(journal(record)).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The rows of a record, all of which were measured.
fn measured(record: &Path) -> Vec<Value> {
    let rows = rows(&read(record), "measurements").clone();
    all_are(&rows, "measured");
    rows
}

/// Resumes a run for a moment; all of its rows are measured then.
fn resumed(record: &Path) -> Vec<Value> {
    measure(&["--resume", arg(record), "--budget", "1s"]).with_code(0);
    measured(record)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The program, with the environment of the tests.
fn command(arguments: &[&str]) -> Command {
    behind(&["env"], arguments)
}

/// The same behind another program that sets something up and becomes it.
fn behind(wrapper: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(program()).args(arguments);
    command.env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
    command
}

/// `run -o record` that ends by its budget, because its precision cannot be reached.
fn for_seconds<'a>(what: &[&'a str], seconds: &'a str, record: &'a Path) -> Vec<&'a str> {
    let rest = ["--precision", "0.0001%", "--budget", seconds, "-o", arg(record)];
    [&["run"], what, &rest].concat()
}

/// A worker of a run that is taking samples.
fn sampling_worker(running: &mut Background, record: &Path) -> u32 {
    let (before, id) = (journal_lines(record).max(1), running.id());
    running.wait_until("more is sampled", || journal_lines(record) > before + 10);
    let mut worker = None;
    // Between one pass and the next there is none for a moment.
    running.wait_until("a worker runs", || {
        worker = processes_below(id).first().map(|(pid, _)| *pid);
        worker.is_some()
    });
    worker.unwrap()
}

fn send(pid: u32, signal: Signal) {
    // It may have ended by itself in between.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}
