//! Measurements as one flat table with typed columns: CSV and Parquet. Pure: plain data in, bytes
//! out.
//!
//! `docs/FORMAT.md` lists the columns.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "units are in Parquet alone"))]
mod columns;
mod csv;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod sample;

pub use csv::csv;
#[cfg(feature = "parquet")]
pub use parquet::{ParquetError, parquet};
