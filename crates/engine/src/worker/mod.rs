//! The worker: a process that holds one library and answers the scheduler.

mod around;
mod bench;
mod checking;
mod company;
mod heap;
mod inherited;
mod lane;
mod leaks;
mod material;
mod memoisation;
mod metering;
mod offers;
mod outputs;
mod pages;
mod power;
mod primitives;
mod records;
mod runtime;
mod sampling;
mod serve;
mod side_effects;
mod stack;
mod stepping;
mod subject;
mod tier;
mod untimed;

pub use serve::serve;
