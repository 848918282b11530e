//! A record as JSON: how it looks, and without the user's name in its paths where it is made to be shared.
//!
//! How a record looks as text: readable at the top, one line where it would otherwise explode.

use crate::Record;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::ser::{CompactFormatter, Formatter};
use std::io;
use std::path::{Path, PathBuf};

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

// Files below the home directory are `~/…` in what is made to be shared: the user's name is in their paths.

/// What was measured, with `~` in each text for the home directory. Everything else stays.
///
/// # Panics
/// Never with the types of a record: what they write is read again as the same.
#[must_use]
pub fn shared<T: Serialize + DeserializeOwned>(whole: T) -> T {
    let plain = "a record is plain data and comes back as it was";
    let json = serde_json::to_string(&whole).expect(plain);
    let shown = shown(&json);
    if shown == json { whole } else { serde_json::from_str(&shown).expect(plain) }
}

/// A text with `~` for the home directory.
#[must_use]
pub fn shown(text: &str) -> String {
    homes().iter().fold(text.to_owned(), |text, home| without(&text, home))
}

/// The file that a path of a record names on this machine.
#[must_use]
pub fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    (home.is_absolute() && home.parent().is_some()).then_some(home)
}

/// By its name, and by the one that it has where all links are followed, as libraries' paths are.
fn homes() -> Vec<String> {
    let Some(home) = home() else { return Vec::new() };
    let real = home.canonicalize().ok().filter(|real| *real != home && real.parent().is_some());
    let text = |path: &Path| path.to_str().map(|p| p.trim_end_matches('/').to_owned());
    [real.as_deref(), Some(&home)].into_iter().flatten().filter_map(text).collect()
}

/// Replaces a directory where it stands alone or begins a path, also behind an option's letters (`-I/home/me`).
fn without(text: &str, home: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.~+".contains(c);
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(home) {
        let (before, from) = rest.split_at(at);
        let after = &from[home.len()..];
        shown.push_str(before);
        let word = shown.rsplit(|c: char| !is_of_name(c)).next().unwrap_or_default();
        let ends = !after.starts_with(is_of_name);
        let begins = word.is_empty() || word.starts_with('-');
        shown.push_str(if begins && ends { "~" } else { home });
        rest = after;
    }
    shown + rest
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

    #[test]
    fn the_home_directory_is_a_tilde_wherever_a_path_begins_with_it_and_nowhere_else() {
        for (text, shown) in [
            ("/home/me", "~"),
            ("/home/me/lib/libx.so", "~/lib/libx.so"),
            ("mine=/home/me/libx.so:/home/me/b", "mine=~/libx.so:~/b"),
            ("cc -I/home/me/include '/home/me/a b.c'", "cc -I~/include '~/a b.c'"),
            ("[\"/home/me\",\"/home/me/x\"]", "[\"~\",\"~/x\"]"),
            ("/home/mel/libx.so", "/home/mel/libx.so"),
            ("/home/me.old/libx.so", "/home/me.old/libx.so"),
            ("/mnt/home/me/libx.so", "/mnt/home/me/libx.so"),
            ("/home/mé", "/home/mé"),
            ("", ""),
        ] {
            assert_eq!(without(text, "/home/me"), shown);
        }
    }

    #[test]
    fn a_path_of_a_record_is_below_the_home_directory_of_whoever_reads_it() {
        let home = home().expect("the tests run with a home directory");
        assert_eq!(expanded("~/lib/libx.so"), home.join("lib/libx.so"));
        assert_eq!(expanded(&shown(home.join("a").to_str().unwrap())), home.join("a"));
        for path in ["/usr/lib/libx.so", "~me/libx.so", "a/~/b", ""] {
            assert_eq!(expanded(path), Path::new(path));
        }
    }

    #[test]
    fn a_record_is_shared_without_the_home_directory_in_any_of_its_texts() {
        let home = home().unwrap().to_str().unwrap().to_owned();
        let mut record = crate::sample::record();
        record.tool.command = vec!["ciphermark".to_owned(), format!("x={home}/libx.so")];
        record.libraries[0].path = format!("{home}/libx.so");
        record.libraries[0].build = vec![format!("compiler: cc -I{home}/include")];
        let json = super::to_json(&shared(record.clone()));
        assert!(!json.contains(&home) && json.contains("\"~/libx.so\""), "{home}");
        record.tool.command.clear();
        record.libraries[0] = crate::sample::record().libraries.swap_remove(0);
        assert_eq!(shared(record.clone()), record);
    }
}
