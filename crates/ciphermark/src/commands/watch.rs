//! `ciphermark watch`: what a program encrypts, and what that costs it.

use crate::commands::run::watch_signals;
use crate::{Exit, Failure, screen};
use base::text::flags::parse_duration;
use clap::Args;
use engine::watching::Sampling;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod command;
pub mod predicted;

/// `ciphermark watch`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark watch -- nginx -g 'daemon off;'                 every call, until it ends\n  \
    ciphermark watch --for 30s -o calls.json -- ./server       the answer after 30 s; the program runs on\n  \
    ciphermark watch -p 1234                                   until it ends, or Ctrl-C\n  \
    sudo ciphermark watch -p $(pgrep -o nginx) --for 30s       with its workers\n  \
    ciphermark watch -p 1234 --for 10s -o samples.json\n\n\
    A program that is started with `watch` is loaded with an object that counts and times its calls into crypto\n\
    libraries, of all its threads, children and plugins; it is sampled, too. Its input, output, exit code and\n\
    signals are its own; the answer goes to standard error. Kept are names, sizes and times: no keys, nonces,\n\
    data, arguments or environment (docs/WATCH.md).\n\n\
    A running process is sampled from outside, with all that it has started: 999 times in a second of its CPU\n\
    time the kernel says where it is. It runs on as before. What the code there computes is told by its\n\
    instructions, so that programs without symbols, Go, Node and wheels are seen, too. Neither keys nor\n\
    data are looked at. Others' processes can be sampled by root only.")]
pub struct WatchArgs {
    /// Watch this running process and all that it has started.
    #[arg(short, long, value_name = "PID", conflicts_with_all = ["program", "share"], value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    pub pid: Option<u32>,
    /// Watch for so long.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub time: Option<Duration>,
    /// Write what was seen as JSON, readable by you alone.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write and print nothing that is only this machine's: sizes as classes, files without directories, no samples.
    #[arg(long)]
    pub share: bool,
    /// The program to start and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub program: Vec<OsString>,
}

impl WatchArgs {
    /// Whether it starts nothing that would inherit a bound of memory.
    pub fn reads(&self) -> bool {
        self.pid.is_some()
    }
}

/// Watches and prints the answer.
pub fn watch(args: &WatchArgs) -> Result<Exit, Failure> {
    let Some(pid) = args.pid else { return command::command(args) };
    if let Some(path) = &args.output {
        claim(path)?;
    }
    let stop = watch_signals()?;
    let stop = args.time.map_or_else(|| stop.clone(), |time| stop.within(time));
    let sampling = Sampling::of_process(pid).map_err(Failure::not_done)?;
    let end = args
        .time
        .map_or_else(|| "it ends".to_owned(), |t| format!("{} s are over", t.as_secs_f64()));
    eprintln!("watching process {pid} until {end}; Ctrl-C ends it before");
    while !stop.is_over() && host::is_running(pid.into()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sampled = sampling.finish(&[]).map_err(Failure::not_done)?.without_home();
    if let Some(path) = &args.output {
        screen::write_document(path, &sampled)?;
    }
    if args.json {
        screen::print_json(&sampled)?;
    } else {
        screen::print(|options| report::sampled(&sampled, &format!("process {pid}"), options))?;
    }
    Ok(Exit::Done)
}

/// Creates the file for its owner alone, before anything is watched for it.
fn claim(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::File::options();
    // A pipe that nobody reads would be waited for.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = options.append(true).create(true).mode(0o600).custom_flags(flags).open(path);
    let why = |e| Failure::not_done(format!("cannot write '{}': {e}", path.display()));
    opened.map(drop).map_err(why)
}
