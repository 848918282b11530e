//! What encryption would cost a PostgreSQL server that runs without it: pages and log from two snapshots
//! of its statistics, prices from a record. Pure: text and records in, text out.
mod predict;
mod render;
#[cfg(test)]
mod sample;
mod snapshot;
mod work;

pub use predict::{FORMAT_VERSION, KIND, PerTransaction, Prediction, Row, predict};
pub use render::render;
pub use snapshot::{BadSnapshot, QUERY, QUERY_IO, Snapshot};
pub use work::{LEAST_SECONDS, Work};
