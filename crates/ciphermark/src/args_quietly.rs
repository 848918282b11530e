//! What is typed for `quietly`.

use crate::units::parse_duration;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark quietly`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark quietly openssl speed -seconds 5 -evp aes-128-gcm\n  \
    ciphermark quietly -o seen.json -- botan speed --msec=500 AES-128/CTR\n  \
    taskset -c 0 ciphermark quietly ./my-benchmark          on another CPU\n\n\
    The program is stopped (SIGSTOP) wherever somebody else is busy on the core's other hardware thread, and goes on for a slice when\n\
    nobody is. That serves programs that divide by their own CPU time, as `openssl speed` does without -elapsed; one that\n\
    reads the time of day counts the pauses as well. Its output is its own; what was seen goes to standard error.\n\n\
    The exit code is the program's own (128 and its number for a signal; 127 where it cannot be executed); 4 where no moment\n\
    was quiet.")]
pub struct QuietlyArgs {
    /// How long it runs between two looks at the core.
    #[arg(long, value_name = "TIME", default_value = "8ms", value_parser = parse_duration)]
    pub slice: Duration,
    /// Longest wait for a quiet moment; then the program is ended.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub wait: Duration,
    /// Write what was seen into this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Nothing on standard error.
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments.
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
}
