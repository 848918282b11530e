//! TLS over this machine's loopback: a client that resumes and counts, a minimal server, nginx, and the CPU
//! time that each server took. Client and minimal server are processes of their own, hidden subcommands of
//! this program: a process holds one library. No unsafe code: libssl is called through `adapters::stacks`.

mod calibration;
mod client;
mod cpu;
mod job;
mod minimal;
mod nginx;
mod process;
mod rounds;
mod validation;

pub use calibration::{Calibrating, calibrate, calibration_cells};
pub use cpu::{Cpu, Level, Tally, Usage, Visit, client_cpu};
pub use job::{
    Answer, ClientPlan, Ends, Job, Libraries, Listens, MinimalPlan, MinimalTls, STREAMS, Told,
};
pub use nginx::{Nginx, NginxFacts, Sessions, Site, SiteTls, find as find_nginx};
pub use process::{Client, Minimal, SUBCOMMAND, serve};
pub use rounds::{Cell, Course, Loopback, Setting, plain, rounds, secured};
pub use validation::{PARTS, Planned, part, validate};

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
