//! `ciphermark`: how fast every cipher really is in every crypto library on this machine, with a
//! proof beside each number. This crate is the command line: arguments in, text out. How the program begins and
//! ends is here: exit codes, and failures that are one line.
#![forbid(unsafe_code)]

mod commands;
mod files;
mod fleet;
mod screen;
pub mod server;

use clap::Parser as _;
use commands::{Cli, Command};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[global_allocator]
static MEMORY: host::memory::Bounded = host::memory::Bounded;

/// The program: reads its arguments, answers, ends.
pub fn main() -> ExitCode {
    end_at_panics();
    match start() {
        Ok(exit) => exit.into(),
        // A reader that has seen enough (`| head`) is not a failure.
        Err(Failure { broken_pipe: true, .. }) => Exit::Done.into(),
        Err(failure) => {
            anstream::eprintln!("ciphermark: {}", base::text::one_line(&failure.message));
            failure.exit.into()
        }
    }
}

/// A panic ends the process with Rust's status, whichever thread it is in and whether the program is built to unwind
/// or to abort. Nothing runs that is registered for the end: a measured library may be in the middle of a call.
fn end_at_panics() {
    let tells = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tells(panic);
        signal_hook::low_level::exit(101);
    }));
}

fn start() -> Result<Exit, Failure> {
    // Hidden commands: clap does not know them, so neither help nor completions list them.
    let hidden: Option<fn() -> Result<Exit, Failure>> =
        match std::env::args_os().nth(1).unwrap_or_default().to_str() {
            Some(engine::SUBCOMMAND) => Some(commands::worker),
            Some(server::SUBCOMMAND) => Some(commands::loopback),
            Some(engine::doctor::quietly::SUBCOMMAND) => Some(commands::kept),
            _ => None,
        };
    if let Some(serve) = hidden {
        host::memory::unbind();
        return serve();
    }
    outlive_file_limits()?;
    match Cli::try_parse() {
        Ok(cli) => dispatch(cli).map(of_interrupted),
        Err(error) => commands::explain_usage(&error),
    }
}

/// Turns a file that grows past a limit (`ulimit -f`) into an error instead of the program's end. Caught,
/// not ignored: workers would inherit that.
fn outlive_file_limits() -> Result<(), Failure> {
    let caught = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, caught)
        .map(drop)
        .map_err(|e| Failure::not_done(format!("cannot watch for signals: {e}")))
}

/// What is shown of an interrupted command looks like all of it: scripts tell them apart by the exit code.
fn of_interrupted(exit: Exit) -> Exit {
    match exit {
        Exit::Done | Exit::SomeRefused if commands::run::was_interrupted() => Exit::Interrupted,
        other => other,
    }
}

fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    cli.color.write_global();
    let command = cli.command.unwrap_or_else(Command::bare);
    if command.reads() {
        host::memory::bind().map_err(Failure::usage)?;
    } else {
        host::check_configuration().map_err(Failure::usage)?;
    }
    command.carry_out()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    Found,
    /// The command line or an input file is wrong.
    Usage,
    /// Some cases were refused or failed; the record is whole.
    SomeRefused,
    NotDone,
    /// The user interrupted it: what was measured until then was shown and kept.
    Interrupted,
    /// The exit code of a program that ran for the user.
    Program(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Found => 1,
            Exit::Usage => 2,
            Exit::SomeRefused => 3,
            Exit::NotDone => 4,
            // As a shell has it of a program that SIGINT ended.
            Exit::Interrupted => 130,
            Exit::Program(code) => code,
        })
    }
}

#[derive(Debug)]
pub struct Failure {
    /// Names the input, what is wrong with it, and what helps.
    pub message: String,
    pub exit: Exit,
    /// The reader of standard output closed it.
    pub broken_pipe: bool,
}

impl Failure {
    /// The command line or a file that it names is wrong.
    pub fn usage(message: impl ToString) -> Self {
        Self { message: message.to_string(), exit: Exit::Usage, broken_pipe: false }
    }

    pub fn not_done(message: impl ToString) -> Self {
        Self { message: message.to_string(), exit: Exit::NotDone, broken_pipe: false }
    }

    /// Standard output could not be written.
    pub fn output(error: &std::io::Error) -> Self {
        Self {
            message: format!("cannot write to standard output: {error}"),
            exit: Exit::NotDone,
            broken_pipe: error.kind() == std::io::ErrorKind::BrokenPipe,
        }
    }
}
