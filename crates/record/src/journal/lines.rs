//! A journal's lines: the CRC-32 of a JSON text in eight hexadecimal digits, a space, the text.
//!
//! JSON alone does not show a digit that a disk changed, nor which lines of a file that a power cut
//! left with holes were ever written.

use super::entry::{JournalEntry, JournalHead, Kept};
use crate::plausible::{impossible_latencies, impossible_sample};
use crate::read::{printable, value_from_json};
use crate::{FORMAT_VERSION, JournalSample, RecordError};
use base::model::RawSample;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the first line begins with: no other file is taken for a journal and cut.
pub(super) const MAGIC: &[u8] = b"ciphermark journal ";

/// Digits of the checksum.
const DIGITS: usize = 8;

pub(super) fn first_line<T: Serialize>(head: &T) -> Vec<u8> {
    [MAGIC, &line(head)].concat()
}

pub(super) fn line<T: Serialize>(value: &T) -> Vec<u8> {
    let json = serde_json::to_vec(value).expect("journal entries are plain data");
    let mut line = format!("{:08x} ", crc32fast::hash(&json)).into_bytes();
    line.extend(json);
    line.push(b'\n');
    line
}

/// Why a line, without its end, is none.
fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let (sum, json) = line.split_at_checked(DIGITS + 1).ok_or("it is too short")?;
    let sum = std::str::from_utf8(&sum[..DIGITS]).ok();
    let sum = sum.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    if sum != Some(crc32fast::hash(json)) {
        return Err("its checksum is wrong".to_owned());
    }
    value_from_json(json)
}

/// Whether this is what a run that was killed while it wrote its head leaves: nothing is lost with
/// it.
pub(super) fn is_torn_head(bytes: &[u8]) -> bool {
    let is_begun = bytes.strip_prefix(MAGIC).is_some_and(|rest| {
        !rest.contains(&b'\n') && rest.iter().take(DIGITS).all(u8::is_ascii_hexdigit)
    });
    MAGIC.starts_with(bytes) || is_begun
}

/// What a journal's bytes hold and how many of them are sound: lines count up to the first that is
/// damaged or torn, because what a run had at one moment is what it can go on from.
pub(super) fn read(bytes: &[u8], origin: &str) -> Result<(Kept, u64), RecordError> {
    let mut lines = bytes.split_inclusive(|b| *b == b'\n');
    let first = lines.next().unwrap_or_default();
    let head = head(first).map_err(|why| RecordError::Journal { path: origin.into(), why })?;
    if head.format_version != FORMAT_VERSION {
        let found = printable(&head.format_version);
        return Err(RecordError::Version { origin: origin.to_owned(), found });
    }
    let cases = head.cases;
    let mut kept = Kept::new(head);
    let mut sound = first.len();
    for line in lines.by_ref() {
        let Some(entry) = entry(line, cases) else { break };
        sound += line.len();
        kept.add(entry);
    }
    kept.left_out = lines.filter(|line| entry(line, cases).is_some()).count();
    Ok((kept, sound as u64))
}

fn head(line: &[u8]) -> Result<JournalHead, String> {
    let line = line.strip_suffix(b"\n").ok_or("nothing was kept in it")?;
    let line = line.strip_prefix(MAGIC).ok_or("line 1: it is no journal of a run")?;
    parse(line).map_err(|why| format!("line 1: {why}"))
}

fn entry(line: &[u8], cases: usize) -> Option<JournalEntry> {
    let entry: JournalEntry = parse(line.strip_suffix(b"\n")?).ok()?;
    let possible = match &entry {
        JournalEntry::Sample(sample) => is_possible(sample),
        JournalEntry::Facts(_) => true,
        JournalEntry::Found(finding) => !finding.state.has_number(),
        JournalEntry::Seconds(seconds) => *seconds >= 0.0,
    };
    (possible && entry.case().is_none_or(|case| case < cases)).then_some(entry)
}

/// Whether a run can have written this sample.
fn is_possible(entry: &JournalSample) -> bool {
    let JournalSample { sample, latency, other, other_latency, .. } = entry;
    let setups = other.is_none_or(|other| {
        other.setup_ticks <= other.ticks && other.own_setup_ticks <= sample.ticks
    });
    let of_other = other.map(|other| RawSample { ticks: other.ticks, ..*sample });
    setups
        && std::iter::once(sample).chain(&of_other).all(|s| impossible_sample(s).is_none())
        && latency.iter().chain(other_latency).all(|l| impossible_latencies(l).is_none())
}
