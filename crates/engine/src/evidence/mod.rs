//! What operations execute, counted exactly: which sizes to step, what two sizes tell, whether it
//! fits the tier, and keeping it from run to run, because it is always the same.

mod counted;
mod gather;
mod sizes;
mod summary;
mod tier;

pub use gather::{Evidence, Exact, Operation, Wanted, gather};
pub(crate) use summary::tell;
