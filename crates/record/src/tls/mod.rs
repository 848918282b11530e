//! TLS in words, plans and figures: which handshakes and records there are to measure, what the bytes
//! on the wire say was negotiated, and what the samples come to. Pure: no I/O, no clock, no unsafe code.

mod case;
mod check;
mod convert;
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
mod row;
mod sample;
mod shared;
mod subject;
mod suite;
mod summary;
mod wire;
mod words;

pub use case::Case;
pub use check::{EndSays, Mismatch, Negotiated, Unset, negotiated};
pub use convert::{from_record, into_record};
pub use document::{Bytes, Cost, Document, First, Handshake, Memory, Plan, Run, SPAN, Stack};
pub use file::{TlsFile, from_json, read};
pub use matrix::{Filter, UnknownName, matrix, rows};
pub use message::{Facts, Found, PrimitiveFacts, RecordFacts, StackHello, Visit};
pub use primitive::{Operation, Primitive, Scheme};
pub use primitives::{PRIMITIVES_SPAN, PrimitiveRow, PrimitivesDocument};
pub use records::{
    Bare, BareCost, FittedLine, RECORDS_SPAN, RecordLines, RecordRow, RecordsDocument, beside,
    record_lines,
};
pub use row::{Named, Row};
pub use sample::HandshakeSample;
pub use shared::{Format, Rendered, markdown, table};
pub use subject::{LARGEST_RECORD, Protection, Subject};
pub use suite::Suite;
pub use summary::{Measured, both_ends, measured};
pub use wire::{Seen, Unreadable, data_records, last_data_record, read_wire};
pub use words::{Certificate, Exchange, Group, Kind, Signature, Temperature, Version};
