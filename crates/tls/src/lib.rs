//! TLS in words, plans and figures: which handshakes and records there are to measure, what the bytes
//! on the wire say was negotiated, and what the samples come to. Pure: no I/O, no clock, no unsafe code.
#![forbid(unsafe_code)]

mod case;
mod check;
mod document;
mod matrix;
mod message;
mod records;
mod render;
mod render_records;
mod subject;
mod summary;
mod wire;
mod words;

pub use case::Case;
pub use check::{EndSays, Mismatch, Negotiated, negotiated};
pub use document::{
    Bytes, Cost, Document, FORMAT_VERSION, First, Handshake, Memory, Noise, Plan, RowState, SPAN,
    Stack,
};
pub use matrix::{Filter, UnknownName, matrix};
pub use message::{
    Answer, Ask, Facts, Found, HandshakeSample, NoNumber, RecordFacts, StackHello, Visit, Visited,
};
pub use records::{
    Bare, BareCost, FittedLine, RECORDS_SPAN, RecordLines, RecordRow, RecordsDocument, beside,
    record_lines,
};
pub use render::{Format, render};
pub use render_records::render_records;
pub use subject::{LARGEST_RECORD, Protection, Subject};
pub use summary::{Measured, measured};
pub use wire::{Seen, Unreadable, data_records, last_data_record, read_wire};
pub use words::{Certificate, Exchange, Group, Kind, Signature, Suite, Temperature, Version};
