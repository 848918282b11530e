//! `ciphermark quietly`.

use base::text::units::parse_duration;
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
    Stops the program (SIGSTOP) while the core's sibling thread is busy, and lets it run for a slice at\n\
    a time while it is idle. This suits programs that divide by their own CPU time, as `openssl speed`\n\
    does without -elapsed; a program that reads the time of day counts the pauses as well. The program's\n\
    output is passed through; a summary goes to standard error.\n\n\
    The exit code is the program's own (128 plus the number of a signal; 127 if it cannot be executed),\n\
    or 4 if no moment was quiet.")]
pub struct QuietlyArgs {
    /// How long to let the program run between two looks at the core.
    #[arg(long, value_name = "TIME", default_value = "8ms", value_parser = parse_duration, allow_hyphen_values = true)]
    pub slice: Duration,
    /// End the program after waiting this long for a quiet moment.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub wait: Duration,
    /// Do not end the program then: run a slice, which the summary does not count as quiet, and wait again.
    #[arg(long)]
    pub anyway: bool,
    /// Write the summary to this file (JSON).
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
