//! The archive: records of many machines and runs in one store. Figures lie in tables, of SQLite or PostgreSQL;
//! the records themselves beside them, compressed. `docs/ARCHIVE.md` is the long form.
//!
//! What is read back is a [`crate::Record`] without samples, with the costs of its processes in their place:
//! rankings and comparisons over a store are those of the records.

mod add;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod answer;
mod archive;
mod check;
mod counts;
mod database;
mod error;
mod figures;
mod keys;
mod load;
mod objects;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(test)]
mod sample;
mod schema;
mod select;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;

pub use add::{Added, Entry};
pub use archive::{Archive, Listed, Trust};
pub use check::Problem;
pub use error::ArchiveError;
pub use load::Chosen;
pub use select::{Selection, day, seconds};
