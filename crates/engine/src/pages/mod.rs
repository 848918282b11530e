//! Page stores: staged to the workers part by part, proven, changed, timed; and the record of it.

mod copy;
mod crew;
mod job;
mod prove;
mod rounds;
mod run;
mod stage;

pub(crate) use job::LOG_BYTES;
pub use job::{Answer, Job, PageFiles, ProbeJob, TimeJob, TimedCell, VerifyJob};
pub use run::{PagesError, PagesEvent, PagesPlan, run};
