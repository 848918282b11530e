//! Runs the scheduler's own programs.

use crate::error::Failure;
use std::process::{Command, Output};
use std::time::Duration;

/// How long a scheduler's program may take: `srun` waits a minute for a node, and then brings a record.
const PATIENCE: Duration = Duration::from_secs(600);
/// Most bytes of what it prints: those of a record.
const MOST_BYTES: u64 = 1 << 30;

/// What a program did.
pub struct Done {
    /// Whether it succeeded.
    pub success: bool,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: String,
}

impl Done {
    /// What it printed, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { success: output.status.success(), stdout: output.stdout, stderr }
    }
}

/// Runs a program to its end, with this on its standard input.
pub fn call(program: &str, arguments: &[&str], input: &str) -> Result<Done, Failure> {
    let cannot = |e: std::io::Error| {
        Failure::not_done(match e.kind() {
            std::io::ErrorKind::NotFound => missing(program),
            _ => format!("cannot run {program}: {e}"),
        })
    };
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C");
    host::output(&mut command, input.as_bytes(), PATIENCE, MOST_BYTES)
        .map(Done::from)
        .map_err(cannot)
}

fn missing(program: &str) -> String {
    match program {
        "kubectl" => {
            "there is no kubectl here: install it, or run this where your cluster's is".to_owned()
        }
        _ => format!(
            "there is no {program} here: run this on a login node of the cluster, or install slurm-client"
        ),
    }
}
