//! TLS in words, plans and figures: which handshakes and records there are to measure, what the bytes
//! on the wire say was negotiated, and what the samples come to. Pure: no I/O, no clock, no unsafe code.
#![forbid(unsafe_code)]

mod case;
mod check;
mod document;
mod file;
#[doc(hidden)]
pub mod fixtures;
mod matrix;
mod message;
mod primitive;
mod primitives;
mod records;
mod render;
mod render_primitives;
mod render_records;
mod sample;
mod shared;
mod subject;
mod suite;
mod summary;
mod wire;
mod words;

pub use case::Case;
pub use check::{EndSays, Mismatch, Negotiated, negotiated};
pub use document::{
    Bytes, Cost, Document, FORMAT_VERSION, First, Handshake, Memory, Noise, Plan, SPAN, Stack,
};
pub use file::{TlsFile, TlsFileError, from_json, is_tls};
pub use matrix::{Filter, UnknownName, matrix, rows};
pub use message::{Facts, Found, PrimitiveFacts, RecordFacts, StackHello, Visit};
pub use primitive::{Operation, Primitive, Scheme};
pub use primitives::{PRIMITIVES_SPAN, PrimitiveRow, PrimitivesDocument};
pub use records::{
    Bare, BareCost, FittedLine, RECORDS_SPAN, RecordLines, RecordRow, RecordsDocument, beside,
    record_lines,
};
pub use render::render;
pub use render_primitives::render_primitives;
pub use render_records::render_records;
pub use sample::HandshakeSample;
pub use shared::Format;
pub use subject::{LARGEST_RECORD, Protection, Subject};
pub use suite::Suite;
pub use summary::{Measured, measured};
pub use wire::{Seen, Unreadable, data_records, last_data_record, read_wire};
pub use words::{Certificate, Exchange, Group, Kind, Signature, Temperature, Version};
