//! The record for people.

mod markdown;
mod rows;
mod table;

pub use markdown::markdown;
pub use table::table;
