//! One module for each subcommand.

pub mod advise;
mod advise_measure;
mod advise_postgres;
mod advise_tls;
pub mod archive;
pub mod claims;
pub mod compare;
mod confirm;
pub mod doctor;
pub mod explain;
mod explain_record;
pub mod fleet;
pub mod generate;
pub mod import;
pub mod leaks;
pub mod list;
pub mod once;
pub mod pages;
pub mod pair;
mod pair_advice;
pub mod quietly;
pub mod rank;
pub mod report;
mod resume;
pub mod run;
pub mod show;
pub mod tls;
mod tried;
pub mod usage;
mod vectors;
pub mod verify;

use crate::error::{Exit, Failure};
use serde_json::{Value, json};

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
    ::engine::doctor::quietly::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure { exit: Exit::Program(NOT_EXECUTED), ..Failure::not_done(e) })
}
