//! The record: one run's file. Types, JSON Schema, reading with clear errors, atomic writing.
//! `docs/FORMAT.md` is the long form.
#![forbid(unsafe_code)]

pub mod archive;
pub mod at_rest;
mod circumstances;
mod costs;
mod executed;
mod file;
mod finding;
mod format;
mod home;
mod host;
pub mod import;
mod journal;
mod json;
mod leaks;
mod measurement;
mod noise;
mod packed;
mod plausible;
mod process_costs;
mod read;
#[cfg(test)]
mod sample;
mod samples;
pub mod tls;
mod write;

pub use base::analysis::Estimate;
pub use circumstances::{Circumstance, differing_circumstances};
pub use costs::{Fit, KeySetup, Latencies, Latency, Rekeying, ThreadShare};
pub use executed::{
    ClassCount, Executed, ExecutedSize, FunctionCount, PmuCount, Share, UncountedSize,
};
pub use file::{RecordError, check_writable, save};
pub use finding::Finding;
pub use format::{
    AppliedTier, Call, Confinement, FORMAT_VERSION, Library, Limits, LoadedFile, Plan, Record,
    Restriction, Tool, WITHOUT_SAMPLES, schema,
};
pub use home::{expanded, shared, shown};
pub use host::{Cache, Clock, Cpu, Host, Kernel, Memory, Mitigation};
pub use journal::{
    Journal, JournalEntry, JournalFacts, JournalFinding, JournalHead, JournalSample, Kept,
};
pub use json::to_json;
pub use leaks::{Leak, LeakKind, LeakVerdict, Leaks, SteppedOperation};
pub use measurement::{
    Check, Evidence, Imported, LibraryId, Measurement, ProcessKind, Settled, State, Stopped, WITH,
};
pub use noise::{Disturbances, Noise, QuietCpu};
pub use packed::pack;
pub use plausible::{contradiction, impossible_latencies, impossible_sample};
pub use process_costs::ProcessCosts;
pub use read::{
    bytes, from_bytes, from_json, load, load_text, older_kind, printable, text, unmarked,
    value_from_json,
};
pub use samples::Samples;
pub use write::write_file;
