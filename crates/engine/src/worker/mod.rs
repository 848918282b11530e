//! The worker: a process that holds one library and answers the scheduler.

mod bench;
mod material;
mod metering;
mod serve;
mod stepping;
mod subject;
mod tier;

pub use serve::serve;
