//! TLS over real sockets of this machine's loopback: a client of our own that resumes and counts, a
//! minimal server with and without TLS, nginx with a configuration of ours, and the CPU time that each
//! server took for it. No unsafe code: libssl is called through `tls-stack`.
//!
//! Client and minimal server are processes of their own, hidden subcommands of the same executable: a
//! process holds one library, and a server's CPU time is that of its process.

mod calibrate;
mod cell;
mod client;
mod cpu;
mod door;
mod hidden;
mod job;
mod level;
mod mini;
mod nginx;
mod points;
mod process;
mod rounds;
mod tally;
mod validate;

pub use calibrate::{Calibrating, calibrate, calibration_cells};
pub use cell::{Cell, plain, secured};
pub use cpu::{Cpu, Usage, client_cpu};
pub use hidden::{SUBCOMMAND, serve};
pub use job::{
    Answer, ClientPlan, Ends, Job, Libraries, Listens, MinimalPlan, MinimalTls, STREAMS, Told,
};
pub use level::Level;
pub use nginx::{Nginx, NginxFacts, Sessions, Site, SiteTls, find as find_nginx};
pub use points::{PARTS, Planned, part};
pub use process::{Client, Minimal};
pub use rounds::{Course, Loopback, Setting, rounds};
pub use tally::{Tally, Visit};
pub use validate::validate;

/// What bodies of responses are filled with.
pub(crate) const FILLER: u8 = b'x';

/// Why something over the loopback did not come about, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

impl Trouble {
    pub(crate) fn of(what: &str, why: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }
}

impl From<engine::doctor::quietly::GateError> for Trouble {
    fn from(error: engine::doctor::quietly::GateError) -> Self {
        Self(error.0)
    }
}
