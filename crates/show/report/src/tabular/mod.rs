//! Measurements as one flat table with typed columns: CSV and Parquet. Pure: plain data in, bytes
//! out.
//!
//! `docs/FORMAT.md` lists the columns.
mod columns;
mod csv;
mod parquet;
#[cfg(test)]
mod sample;

pub use csv::csv;
pub use parquet::{ParquetError, parquet};
