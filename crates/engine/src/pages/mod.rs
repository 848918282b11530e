//! Page stores: staged to the workers part by part, proven, changed, timed; and the record of it.

mod copy;
mod prove;
mod run;
mod stage;
mod timing;
mod workers;

pub use run::{PagesError, PagesEvent, PagesPlan, run};
