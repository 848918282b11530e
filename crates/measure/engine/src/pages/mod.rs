//! Page stores: staged to the workers part by part, proven, changed, timed; and the record of it.

mod copy;
mod crew;
mod prove;
mod rounds;
mod run;
mod stage;

pub use run::{PagesError, PagesEvent, PagesPlan, run};
