//! The worker: a process that holds one library and answers the scheduler.

mod around;
mod bench;
mod company;
mod decoy;
mod heap;
mod inherited;
mod lane;
mod manners;
mod material;
mod metering;
mod novelty;
mod outputs;
mod pages;
mod power;
mod primitives;
mod records;
mod sampling;
mod serve;
mod stack;
mod stepping;
mod subject;
mod tier;

pub use serve::serve;
