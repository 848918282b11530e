//! What a machine is like to measure on: facts, read and measured live, and what each of them means.
//!
//! `live` measures for a second or two, `machine` reads; `examine` is pure.

mod confinement;
mod examine;
mod finding;
mod hardware;
mod hidden;
mod instructions;
mod live;
mod machine;
mod noise;
pub mod quietly;

pub use examine::examine;
pub use finding::{Finding, Verdict};
pub use live::{Live, Neighbour, watch};
pub use machine::{Machine, machine};
