//! One module for each subcommand.

pub mod advise;
mod advise_tls;
pub mod claims;
pub mod compare;
mod confirm;
pub mod doctor;
pub mod explain;
mod explain_record;
pub mod generate;
pub mod import;
mod job;
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

/// The hidden subcommand: serves one library over the pipes.
pub fn worker() -> Result<Exit, Failure> {
    engine::worker::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure::not_done(format!("worker: {e}")))
}

/// The other hidden subcommand: a client or a server on the loopback.
pub fn loopback() -> Result<Exit, Failure> {
    tls_server::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure::not_done(format!("loopback: {e}")))
}

/// What shells give where a program is not there or cannot be executed.
const NOT_EXECUTED: u8 = 127;

/// The third: becomes a program that runs on one CPU and ends with the one that asked for it.
pub fn kept() -> Result<Exit, Failure> {
    gate::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure { exit: Exit::Program(NOT_EXECUTED), ..Failure::not_done(e) })
}
