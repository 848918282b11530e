//! `ciphermark`: how fast every cipher really is in every crypto library on this machine, with a
//! proof beside each number. This crate is the command line: arguments in, text out, exit codes.
#![forbid(unsafe_code)]

mod args;
mod choose;
mod commands;
mod error;
mod progress;
mod screen;
mod suite;
mod units;

use args::{Cli, Command};
use clap::Parser as _;
use error::{Exit, Failure};
use std::process::ExitCode;

fn main() -> ExitCode {
    match dispatch(Cli::parse()) {
        Ok(exit) => exit.into(),
        // A reader that has seen enough (`| head`) is no failure.
        Err(Failure { broken_pipe: true, .. }) => Exit::Done.into(),
        Err(failure) => {
            anstream::eprintln!("ciphermark: {}", failure.message);
            failure.exit.into()
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    cli.color.write_global();
    match cli.command.unwrap_or_else(Command::bare) {
        Command::Run(args) => commands::run::run(&args),
        Command::List(args) => commands::list::list(&args),
        Command::Verify(args) => commands::verify::verify(&args),
        Command::Once(args) => commands::once::once(&args),
        Command::Show(args) => commands::show::show(&args),
        Command::Completions { shell } => commands::generate::completions(shell),
        Command::Man { directory } => commands::generate::man(directory.as_deref()),
        Command::Worker => commands::worker(),
    }
}
