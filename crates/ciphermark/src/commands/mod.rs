//! One module for each command: its arguments, what it does, what it prints. Here is what belongs to no
//! single one: hidden commands, completions and manual pages, and what is said of a wrong command line.
//!
//! One module for each subcommand.

pub mod advise;
mod advise_server;
pub mod archive;
pub mod claims;
pub mod compare;
pub mod convert;
pub mod explain;
pub mod fleet;
pub mod leaks;
pub mod machine;
pub mod pages;
pub mod pair;
pub mod rank;
pub mod report;
pub mod run;
pub mod tls;
pub mod verify;

use crate::args::Cli;
use crate::error::{Exit, Failure};
use crate::screen;
use clap::CommandFactory as _;
use clap::error::ErrorKind;
use serde_json::{Value, json};
use std::path::Path;

/// Which build of a library a row of JSON is about.
fn identity(library: &engine::Attached) -> Value {
    let facts = &library.facts;
    let path = record::shown(&facts.path);
    json!({"name": facts.name, "version": facts.version, "path": path, "id": facts.id})
}

/// What was typed, for records: whatever its bytes, without passwords and without the server that `--from` names.
pub fn typed() -> Vec<String> {
    let is_server = |value: &str| value.contains("://") || value.contains('=');
    let (mut typed, mut is_value) = (Vec::new(), false);
    for argument in std::env::args_os() {
        let shown = base::text::masked(&argument.to_string_lossy());
        typed.push(match shown.strip_prefix("--from=") {
            Some(value) if is_server(value) => "--from=***".to_owned(),
            None if is_value && is_server(&shown) => "***".to_owned(),
            _ => shown,
        });
        is_value = argument == "--from";
    }
    typed
}

/// Refuses a connection string with a password: every user of the machine sees what was typed.
pub fn no_password(typed: &str, option: &str) -> Result<(), Failure> {
    if !base::text::has_password(typed) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{option} '{}' holds a password, which the process list shows to everybody: \
         put it into ~/.pgpass, or into the environment as PGPASSWORD",
        base::text::masked(typed)
    )))
}

/// Hidden: serves one library over pipes.
pub fn worker() -> Result<Exit, Failure> {
    engine::worker::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure::not_done(format!("worker: {e}")))
}

/// Hidden: a client or a server on the loopback.
pub fn loopback() -> Result<Exit, Failure> {
    crate::server::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure::not_done(format!("loopback: {e}")))
}

/// What shells return for a program that is missing or cannot be executed.
const NOT_EXECUTED: u8 = 127;

/// Hidden: becomes a program that runs on one CPU and ends with its parent.
pub fn kept() -> Result<Exit, Failure> {
    engine::doctor::quietly::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure { exit: Exit::Program(NOT_EXECUTED), ..Failure::not_done(e) })
}

/// Help and version are printed; anything else becomes one line that says what is wrong, what is
/// possible, and what helps.
pub fn explain_usage(error: &clap::Error) -> Result<Exit, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print().map_err(|e| Failure::output(&e))?;
            Ok(Exit::Done)
        }
        _ => Err(Failure::usage(usage_line(&error.render().to_string()))),
    }
}

/// The paragraphs of clap's message joined, without its usage and closing remark.
fn usage_line(text: &str) -> String {
    let words = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let paragraphs = text
        .split("\n\n")
        .filter(|p| !p.starts_with("Usage:") && !p.trim_start().starts_with("For more information"))
        .map(words)
        .filter(|p| !p.is_empty());
    let joined = paragraphs.collect::<Vec<_>>().join("; ");
    let joined = joined.strip_prefix("error: ").unwrap_or(&joined);
    format!("{joined}; see --help")
}
// Completions and manual pages, generated from the command line's own definition.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_several_paragraphs_becomes_one_line() {
        let text = "error: invalid value 'x' for '--tier <TIER>'\n  [possible values: native, noaes]\n\n  \
            tip: a similar value exists\n\nUsage: ciphermark run\n\nFor more information, try '--help'.\n";
        assert_eq!(
            usage_line(text),
            "invalid value 'x' for '--tier <TIER>' [possible values: native, noaes]; \
             tip: a similar value exists; see --help"
        );
    }
}
