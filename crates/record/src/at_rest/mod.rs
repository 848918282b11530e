//! The record of page stores encrypted page by page: its types, what is worked out of
//! samples, nonces and probes, and how it is shown. Pure: no I/O, no clock. `docs/PAGES.md` is the long
//! form.

mod cells;
mod convert;
mod format;
mod integrity;
mod nonces;
mod plausible;
mod read;
mod render;
pub mod scheme;
pub mod store;

pub use cells::{CellKey, CellSamples, Scale, cell, judged, set_over_none};
pub use convert::{from_record, into_record};
pub use format::{
    Cell, FORMAT_VERSION, KIND, Keying, Medium, NsRange, PageStore, PagesRecord, ProbeRow, Probed,
    ProfileFacts, SchemeFacts, Snapshot, Tails, Timing, Verified, scheme_facts,
};
pub use integrity::{ProbeCounts, judge};
pub use nonces::{NonceRow, NonceVerdict, Nonces, RepeatedNonce, Seen, nonces};
pub use read::{from_json, of, read, to_json};
pub use render::{markdown, table};

/// The committed record: two libraries, three schemes, one of them refused in one library.
#[cfg(test)]
pub(crate) fn sample() -> PagesRecord {
    from_json(include_str!("../../tests/at-rest.json"), "sample").expect("a test reads it")
}
