//! Completions and manual pages, generated from the command line's own definition.

use crate::args::Cli;
use crate::error::{Exit, Failure};
use crate::screen;
use clap::CommandFactory as _;
use std::path::Path;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ciphermark", &mut script);
    print(&script)
}

/// Prints the manual page, or writes all pages into a directory.
pub fn man(directory: Option<&Path>) -> Result<Exit, Failure> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|e| Failure::output(&e))?;
        return print(&page);
    };
    if !directory.is_dir() {
        return Err(Failure::usage(format!("there is no directory '{}'", directory.display())));
    }
    clap_mangen::generate_to(Cli::command(), directory).map_err(|e| {
        Failure::not_done(format!("cannot write to '{}': {e}", directory.display()))
    })?;
    Ok(Exit::Done)
}

fn print(bytes: &[u8]) -> Result<Exit, Failure> {
    screen::print_bytes(bytes)?;
    Ok(Exit::Done)
}
