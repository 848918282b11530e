//! How a record looks as text: readable at the top, one line where it would otherwise explode.

use crate::Record;
use serde::Serialize as _;
use serde_json::ser::{CompactFormatter, Formatter};
use std::io;

/// Levels that are broken into lines: the record itself and the parts of each of its fields.
/// Everything below stands on one line, so a measurement with its raw samples is one line, which
/// tools that work by lines (diff, grep, a version control system) can handle.
const BROKEN_LEVELS: usize = 2;

/// The record as JSON, ending with a line break.
#[must_use]
pub fn to_json(record: &Record) -> String {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Shallow::default());
    record.serialize(&mut writer).expect("a record is plain data and always serialises");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// Indents the outer levels and writes the inner ones compactly.
#[derive(Default)]
struct Shallow {
    depth: usize,
    /// Whether something was written since the last opening bracket.
    filled: bool,
}

impl Shallow {
    fn open(&mut self) {
        self.depth += 1;
        self.filled = false;
    }

    fn close<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let broken = self.depth <= BROKEN_LEVELS && self.filled;
        self.depth -= 1;
        self.filled = true;
        if broken { self.line_break(writer) } else { Ok(()) }
    }

    fn separate<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.filled = true;
        if self.depth <= BROKEN_LEVELS { self.line_break(writer) } else { Ok(()) }
    }

    fn line_break<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Shallow {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open();
        CompactFormatter.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer)?;
        CompactFormatter.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open();
        CompactFormatter.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer)?;
        CompactFormatter.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let separator: &[u8] = if self.depth <= BROKEN_LEVELS { b": " } else { b":" };
        writer.write_all(separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_measurement_and_whatever_else_there_are_many_of_is_one_line() {
        let record = sample::record();
        let text = to_json(&record);
        let starting = |start: &str| text.lines().filter(|l| l.starts_with(start)).count();
        let with_library = record.measurements.len() + record.executed.len() + record.leaks.len();
        assert_eq!(starting("    {\"library\":"), with_library);
        assert_eq!(starting("    {\"name\":"), record.libraries.len());
    }

    #[test]
    fn the_top_level_reads_as_one_field_a_line() {
        let text = to_json(&sample::record());
        assert!(text.starts_with("{\n  \"format_version\": \"1.6\",\n  \"tool\": {\n"), "{text}");
        assert!(text.contains("\n  ],\n  \"measurements\": [\n    {"), "{text}");
        assert!(text.ends_with("\n  ]\n}\n"), "{text}");
    }

    #[test]
    fn the_layout_is_the_committed_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sample.json");
        let text = to_json(&sample::record());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            text == committed,
            "tests/sample.json is laid out otherwise; `BLESS=1 cargo test -p ciphermark-record --lib` writes it anew"
        );
    }

    #[test]
    fn raw_samples_take_few_bytes_each() {
        let mut record = sample::record();
        record.measurements.truncate(1);
        let bytes = |samples: u32| {
            let mut record = record.clone();
            record.measurements[0].raw = sample::samples(samples);
            to_json(&record).len()
        };
        // Unrounded readings take about twice as much, a pretty printer four times.
        let each = (bytes(1000) - bytes(0)) / 1000;
        assert!(each <= 55, "{each} bytes for one sample");
    }
}
