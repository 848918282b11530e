//! The record: one run's file. Types, JSON Schema, reading with clear errors, atomic writing.
//! `docs/FORMAT.md` is the long form.
#![forbid(unsafe_code)]

pub mod archive;
pub mod at_rest;
mod calls;
mod executed;
mod file;
pub mod fixtures;
mod format;
mod host;
pub mod import;
mod journal;
mod json;
mod measurement;
mod reading;
#[cfg(test)]
mod sample;
mod sampled;
pub mod tls;

pub use base::analysis::Estimate;
pub use calls::{
    CALLS_SCHEMA, CALLS_VERSION, CallCount, CallDirection, CallOperation, CalledLibrary, Calls,
    Missed, WatchedProcess,
};
pub use executed::{
    ClassCount, Executed, ExecutedSize, FunctionCount, Leak, LeakKind, LeakVerdict, Leaks,
    PmuCount, Share, SteppedOperation, UncountedSize,
};
pub use file::{
    RecordError, bytes, check_writable, from_bytes, from_json, load, load_text, older_kind,
    open_regular, pack, read_most, save, text, write_file,
};
pub use format::{
    AppliedTier, Call, Confinement, FORMAT_VERSION, Library, Limits, LoadedFile, Plan, PlannedCase,
    Record, Restriction, Tool, WITHOUT_SAMPLES, contradiction, expanded, impossible_latencies,
    impossible_sample, schema, shared, shown, to_json,
};
pub use host::{
    Cache, Circumstance, Clock, Cpu, Disturbances, Host, Kernel, Memory, Mitigation, Noise,
    QuietCpu, differing_circumstances,
};
pub use journal::{
    Journal, JournalEntry, JournalFacts, JournalFinding, JournalHead, JournalSample, Kept,
};
pub use json::{pretty, printable, unmarked, value_from_json};
pub use measurement::{
    Check, Evidence, Finding, Fit, Imported, KeySetup, Latencies, Latency, LibraryId, Measurement,
    ProcessCosts, ProcessKind, Rekeying, Samples, Settled, State, Stopped, ThreadShare, WITH,
};
pub use reading::{read, read_run};
pub use sampled::{Parts, Sampled, SampledFile, SampledFunction, SampledKind, SampledProgram};
