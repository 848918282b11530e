//! The journal: what a run that was cut short leaves behind, so that it can be gone on with.
//!
//! It stands beside the record that is to come, as `FILE.partial`: a [`JournalHead`], then a
//! [`JournalEntry`] a line, only ever added to. What was handed to the system outlives the process;
//! what was forced to the disk, about once a second, outlives the machine. A run holds a lock on it (flock,
//! which the kernel gives back however the run ends), so no two runs write the same record.

use crate::file::{directory_of, is_at, sync_directory};
use crate::format::{impossible_latencies, impossible_sample};
use crate::json::{printable, value_from_json};
use crate::{Circumstance, FORMAT_VERSION, Latencies, Library, Plan, RecordError, State};
use base::model::{OtherEnd, RawSample, Settling};
use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often what is written is forced to the disk, where that is quick: a power cut costs at most so
/// much measuring.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The part of the time that forcing may take is one in so many: slow disks are forced less often.
const SYNC_SHARE: u32 = 100;

/// How often writing is tried again where it failed: a disk that is full may have room later.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// Most bytes of a journal that are read: ten times what the longest run writes.
const MOST_BYTES: u64 = 4 << 30;

/// No line of a journal is longer; a file with holes has such.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// How often a journal that vanishes while it is opened is opened again.
const MOST_TRIES: usize = 100;

/// Most bytes that wait for a disk with room. What comes after them is not kept.
const MOST_WAITING: usize = 256 << 20;

/// A journal that this process alone writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Whether the file goes with this value as long as nothing was written: it was made by it.
    own: bool,
    /// Bytes of whole lines in the file.
    written: u64,
    /// Lines that are not in the file yet.
    waiting: Vec<u8>,
    trouble: Option<io::Error>,
    tried: Instant,
    /// When to force what is written to the disk.
    next_sync: Instant,
}

impl Journal {
    pub fn path_for(record: &Path) -> PathBuf {
        let mut path = record.as_os_str().to_owned();
        path.push(".partial");
        PathBuf::from(path)
    }

    /// Takes the place of a record that is to be written to `record`. Nothing of an earlier run may
    /// stand there. Given up without [`Journal::begin`], it leaves nothing behind.
    ///
    /// # Errors
    /// [`RecordError::Held`] by another run, [`RecordError::CutShort`] by an earlier one, or why
    /// there can be no file.
    pub fn claim(record: &Path) -> Result<Self, RecordError> {
        let path = Self::path_for(record);
        let file = locked(&path, record, true)?;
        let mut journal = Self::of(path, file);
        // A torn head is all that there is: more than a head is none.
        let bytes = journal.bytes(MOST_LINE_BYTES)?;
        if bytes.len() as u64 == MOST_LINE_BYTES || !is_torn_head(&bytes) {
            let (record, path) = (record.to_owned(), journal.path.clone());
            if bytes.starts_with(MAGIC) {
                return Err(RecordError::CutShort { record, path });
            }
            let why = "it is no journal, and stays as it is: name another record".to_owned();
            return Err(RecordError::Journal { path, why });
        }
        journal.own = true;
        journal.file.set_len(0).map_err(|e| journal.failed(e))?;
        Ok(journal)
    }

    /// Takes the journal of a run that was cut short, to go on with it.
    ///
    /// # Errors
    /// [`RecordError`], one line. A torn last line is no error.
    pub fn reopen(record: &Path) -> Result<(Self, Kept), RecordError> {
        let path = Self::path_for(record);
        let file = locked(&path, record, false)?;
        let mut journal = Self::of(path, file);
        let content = BufReader::new((&journal.file).take(MOST_BYTES));
        let (kept, sound) = read(content, &journal.path.display().to_string())?;
        journal.written = sound;
        Ok((journal, kept))
    }

    /// What a journal's content holds; `origin` names it in errors.
    pub fn read_from(content: &[u8], origin: &str) -> Result<Kept, RecordError> {
        read(content, origin).map(|(kept, _)| kept)
    }

    fn of(path: PathBuf, file: File) -> Self {
        let (tried, next_sync) = (Instant::now(), Instant::now() + SYNC_EVERY);
        Self {
            path,
            file,
            own: false,
            written: 0,
            waiting: Vec::new(),
            trouble: None,
            tried,
            next_sync,
        }
    }

    fn bytes(&self, most: u64) -> Result<Vec<u8>, RecordError> {
        let mut bytes = Vec::new();
        (&self.file)
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(|source| RecordError::Read { path: self.path.clone(), source })?;
        Ok(bytes)
    }

    fn failed(&self, source: io::Error) -> RecordError {
        RecordError::Write { path: self.path.clone(), source }
    }

    /// Writes the head, safe from power cuts when this returns. One that has a head already goes on
    /// under it, and what stands behind its last sound line is cut off.
    pub fn begin(&mut self, head: &JournalHead) -> Result<(), RecordError> {
        if self.written > 0 {
            return self.file.set_len(self.written).map_err(|e| self.failed(e));
        }
        let line = first_line(head);
        self.file
            .write_all_at(&line, 0)
            .and_then(|()| self.file.sync_all())
            .map_err(|e| self.failed(e))?;
        sync_directory(directory_of(&self.path));
        self.written = line.len() as u64;
        Ok(())
    }

    /// Adds entries and hands them to the system, so that they outlive this process. Where that
    /// fails they wait for the next time; [`Journal::trouble`] says why.
    pub fn append(&mut self, entries: &[JournalEntry]) {
        if self.waiting.len() < MOST_WAITING {
            entries.iter().for_each(|entry| self.waiting.extend(line(entry)));
        }
        if self.trouble.is_none() || self.tried.elapsed() >= RETRY_EVERY {
            self.write();
        }
    }

    /// As at the end of a part of the run: writes what waits, and puts the journal back where it has
    /// vanished.
    pub fn settle(&mut self) {
        let placed = if is_at(&self.file, &self.path) { Ok(()) } else { self.put_back() };
        match placed {
            Ok(()) => self.write(),
            Err(e) => self.trouble = Some(e),
        }
    }

    /// Why the journal lags behind the run, when it does.
    pub fn trouble(&self) -> Option<RecordError> {
        let copy = |e: &io::Error| match e.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(e.kind(), e.to_string()),
        };
        self.trouble.as_ref().map(|e| self.failed(copy(e)))
    }

    fn write(&mut self) {
        self.tried = Instant::now();
        let written = self.file.write_all_at(&self.waiting, self.written);
        match written {
            Ok(()) => {
                self.written += self.waiting.len() as u64;
                self.waiting.clear();
                self.trouble = self.sync().err();
            }
            Err(e) => {
                // The part of a line that found room would stand in the way of the next.
                let _ = self.file.set_len(self.written);
                self.trouble = Some(e);
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        if begun >= self.next_sync {
            self.file.sync_data()?;
            self.next_sync = Instant::now() + SYNC_EVERY.max(begun.elapsed() * SYNC_SHARE);
        }
        Ok(())
    }

    /// Writes the journal anew, from the file that has lost its name.
    fn put_back(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; usize::try_from(self.written).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut bytes, 0)?;
        let file = File::options().read(true).write(true).create_new(true).open(&self.path)?;
        // Nobody else can have it yet; where there are no locks none is needed.
        let _ = file.try_lock();
        file.write_all_at(&bytes, 0)?;
        file.sync_all()?;
        sync_directory(directory_of(&self.path));
        self.file = file;
        Ok(())
    }

    /// Removes the journal: the record is whole.
    pub fn remove(self) -> Result<(), RecordError> {
        if !is_at(&self.file, &self.path) {
            return Ok(());
        }
        std::fs::remove_file(&self.path).map_err(|e| self.failed(e))
    }
}

/// One that was never begun holds nothing.
impl Drop for Journal {
    fn drop(&mut self) {
        if self.own && self.written == 0 && is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Opens and locks a journal's file: a regular one, through no link, whoever made it.
fn locked(path: &Path, record: &Path, create: bool) -> Result<File, RecordError> {
    let unusable = |why: &str| RecordError::Journal { path: path.to_owned(), why: why.to_owned() };
    for _ in 0..MOST_TRIES {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = File::options();
        options.read(true).write(true).create(create).custom_flags(flags.bits().cast_signed());
        let file = options.open(path).map_err(|source| {
            if source.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
                return unusable("it is a symbolic link");
            }
            let path = if create { record } else { path }.to_owned();
            if create {
                RecordError::Write { path, source }
            } else {
                RecordError::Read { path, source }
            }
        })?;
        if !file.metadata().is_ok_and(|m| m.is_file()) {
            return Err(unusable("it is not a regular file"));
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(RecordError::Held { record: record.to_owned() });
            }
            // A file system without locks must do without.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Between opening and locking another run may have ended and removed it.
        if is_at(&file, path) {
            return Ok(file);
        }
    }
    Err(unusable("it is another file each time it is opened"))
}

// What a journal holds.

/// What a run must know to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalHead {
    pub format_version: String,
    /// What is measured: `survey`, or as in the record of a TLS run or of pages.
    pub kind: String,
    pub started: String,
    pub command: Vec<String>,
    /// Kind of the CPU: samples of two machines are never mixed.
    pub cpu: String,
    /// Its microcode, which may change what instructions cost.
    pub microcode: Option<String>,
    /// What libraries choose their code by, which a hypervisor may hide.
    #[serde(default)]
    pub features: Vec<String>,
    /// `uname -r`: another kernel has other mitigations, and applies tiers otherwise.
    #[serde(default)]
    pub kernel: String,
    /// As in the record: no part of a library's build.
    #[serde(default)]
    pub c_library: Option<String>,
    /// What tells this machine from others with the same CPU, as a hash; `None` where it has no
    /// such thing.
    pub machine: Option<String>,
    /// SHA-256 of the program that measures: its adapters are part of an operation.
    #[serde(default)]
    pub program: Option<String>,
    /// As in the record: they decide which code runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub circumstances: Vec<Circumstance>,
    pub plan: Plan,
    /// Number of cases that the plan had over these libraries.
    pub cases: usize,
    /// The libraries, each with the name that it was given on the command line, if any.
    pub libraries: Vec<(Option<String>, Library)>,
    /// Of a run over a page store its SHA-256 in hexadecimal, as in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JournalEntry {
    Sample(JournalSample),
    /// What a process found of a case before its first sample.
    Facts(JournalFacts),
    /// A case that ended without a number.
    Found(JournalFinding),
    /// Seconds of measuring since the run began, its earlier parts too.
    Seconds(f64),
}

impl JournalEntry {
    pub fn case(&self) -> Option<usize> {
        match self {
            Self::Sample(sample) => Some(sample.case),
            Self::Facts(facts) => Some(facts.case),
            Self::Found(finding) => Some(finding.case),
            Self::Seconds(_) => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalSample {
    pub case: usize,
    pub sample: RawSample,
    /// How its process came to its speed, with the first sample behind that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// Single operations of the same visit, where they were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latencies>,
    /// The other end's part, where there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherEnd>,
    /// Its single operations, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_latency: Option<Latencies>,
}

/// What a process found of a case before its first sample, in the words of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalFacts {
    pub case: usize,
    pub facts: serde_json::Value,
}

/// Why a case has no number. Kept, so that going on does not give a case another chance that a run
/// without a break would not have given it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalFinding {
    pub case: usize,
    /// `unsupported`, `refused` or `failed`.
    pub state: State,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    pub head: JournalHead,
    /// Its samples, in the order in which they were taken.
    pub samples: Vec<JournalSample>,
    pub facts: Vec<JournalFacts>,
    /// Its cases without a number.
    pub findings: Vec<JournalFinding>,
    pub seconds: f64,
    /// Whole lines that were left out, because they stand behind a damaged one. A line that is torn
    /// off at the end is no damage.
    pub left_out: usize,
}

impl Kept {
    fn add(&mut self, entry: JournalEntry) {
        match entry {
            JournalEntry::Sample(sample) => self.samples.push(sample),
            JournalEntry::Facts(facts) => self.facts.push(facts),
            JournalEntry::Found(finding) => self.findings.push(finding),
            JournalEntry::Seconds(seconds) => self.seconds = seconds,
        }
    }
}

// A journal's lines: the CRC-32 of a JSON text in eight hexadecimal digits, a space, the text.
//
// JSON alone does not show a digit that a disk changed, nor which lines of a file that a power cut
// left with holes were ever written.

/// What the first line begins with: no other file is taken for a journal and cut.
const MAGIC: &[u8] = b"ciphermark journal ";

const DIGITS: usize = 8;

fn first_line<T: Serialize>(head: &T) -> Vec<u8> {
    [MAGIC, &line(head)].concat()
}

fn line<T: Serialize>(value: &T) -> Vec<u8> {
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
fn is_torn_head(bytes: &[u8]) -> bool {
    let is_begun = bytes.strip_prefix(MAGIC).is_some_and(|rest| {
        !rest.contains(&b'\n') && rest.iter().take(DIGITS).all(u8::is_ascii_hexdigit)
    });
    MAGIC.starts_with(bytes) || is_begun
}

/// What a journal's bytes hold and how many of them are sound: lines count up to the first that is
/// damaged or torn, because what a run had at one moment is what it can go on from.
fn read(mut content: impl BufRead, origin: &str) -> Result<(Kept, u64), RecordError> {
    // What is not a whole line for its length is none.
    let mut lines = std::iter::from_fn(|| {
        let mut line = Vec::new();
        let read = content.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line);
        read.map(|bytes| (bytes > 0).then_some(line)).transpose()
    });
    let unread = |source| RecordError::Read { path: origin.into(), source };
    let first = lines.next().unwrap_or(Ok(Vec::new())).map_err(unread)?;
    let head = head(&first).map_err(|why| RecordError::Journal { path: origin.into(), why })?;
    if head.format_version != FORMAT_VERSION {
        let found = printable(&head.format_version);
        return Err(RecordError::Version { origin: origin.to_owned(), found });
    }
    let cases = head.cases;
    let mut kept = Kept { head, ..Kept::default() };
    let mut sound = first.len();
    for line in lines.by_ref() {
        let line = line.map_err(unread)?;
        let Some(entry) = entry(&line, cases) else { break };
        sound += line.len();
        kept.add(entry);
    }
    for line in lines {
        kept.left_out += usize::from(entry(&line.map_err(unread)?, cases).is_some());
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{State, sample};
    use base::model::RawSample;
    use base::text::fixtures::says;

    fn head() -> JournalHead {
        let record = sample::record();
        JournalHead {
            format_version: record.format_version,
            kind: "survey".into(),
            started: record.started,
            command: record.tool.command,
            cpu: "cpu".into(),
            plan: record.plan,
            cases: 3,
            libraries: record.libraries.into_iter().map(|l| (None, l)).collect(),
            ..JournalHead::default()
        }
    }

    fn sample(case: usize) -> JournalSample {
        let quiet = base::model::fixtures::sample(1, 3, 1.4);
        let sample = RawSample { clock_before: 1.4321, probe_after: 4.9, ..quiet };
        JournalSample { case, sample, ..JournalSample::default() }
    }

    fn entry(case: usize) -> JournalEntry {
        JournalEntry::Sample(sample(case))
    }

    /// A directory with the journal of a record that is not there yet.
    fn kept(entries: &[JournalEntry]) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join("r.json");
        let mut journal = Journal::claim(&record).unwrap();
        journal.begin(&head()).unwrap();
        journal.append(entries);
        assert!(journal.trouble().is_none());
        drop(journal);
        let bytes = std::fs::read(Journal::path_for(&record)).unwrap();
        (directory, record, bytes)
    }

    fn why(record: &Path) -> String {
        Journal::reopen(record).unwrap_err().to_string()
    }

    #[test]
    fn what_was_appended_is_read_again_and_added_to() {
        let finding = JournalFinding { case: 2, state: State::Refused, reason: "wrong".into() };
        let (_directory, record, _) =
            kept(&[entry(0), JournalEntry::Found(finding.clone()), JournalEntry::Seconds(1.5)]);
        let (mut journal, first) = Journal::reopen(&record).unwrap();
        assert_eq!((&first.head, &first.samples), (&head(), &vec![sample(0)]));
        assert_eq!((first.findings, first.seconds, first.left_out), (vec![finding], 1.5, 0));
        journal.begin(&head()).unwrap();
        journal.append(&[entry(1)]);
        drop(journal);
        let (journal, second) = Journal::reopen(&record).unwrap();
        assert_eq!(second.samples, [sample(0), sample(1)]);
        journal.remove().unwrap();
        assert!(!Journal::path_for(&record).exists());
    }

    #[test]
    fn whatever_is_cut_off_the_lines_before_it_count_and_can_be_added_to() {
        let (_directory, record, whole) = kept(&[entry(0), entry(1)]);
        let path = Journal::path_for(&record);
        let ends: Vec<usize> =
            (0..whole.len()).filter(|i| whole[*i] == b'\n').map(|i| i + 1).collect();
        for cut in ends[0]..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut journal, kept) = Journal::reopen(&record).unwrap();
            let lines = ends.iter().filter(|end| **end <= cut).count() - 1;
            assert_eq!((kept.samples.len(), kept.left_out), (lines, 0), "{cut}");
            assert_eq!(path.metadata().unwrap().len(), cut as u64, "looking changes nothing");
            journal.begin(&head()).unwrap();
            journal.append(&[entry(2)]);
            drop(journal);
            let (_, kept) = Journal::reopen(&record).unwrap();
            assert_eq!((kept.samples.len(), kept.samples.last()), (lines + 1, Some(&sample(2))));
        }
    }

    #[test]
    fn a_head_that_was_torn_off_kept_nothing_and_its_place_can_be_taken() {
        let (_directory, record, whole) = kept(&[]);
        let path = Journal::path_for(&record);
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(why(&record).ends_with("nothing was kept in it"), "{cut}: {}", why(&record));
            assert_eq!(std::fs::read(&path).unwrap(), &whole[..cut], "looking changes nothing");
            drop(Journal::claim(&record).unwrap());
            assert!(!path.exists(), "{cut}");
        }
    }

    #[test]
    fn a_changed_digit_ends_what_counts_and_the_rest_is_counted() {
        let (_directory, record, mut bytes) = kept(&[entry(0), entry(1), entry(2)]);
        let ends: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] == b'\n').collect();
        let digit = (ends[1]..).find(|i| bytes[*i..].starts_with(b"\"ticks\":3")).unwrap() + 8;
        bytes[digit] = b'4';
        std::fs::write(Journal::path_for(&record), &bytes).unwrap();
        let (_, kept) = Journal::reopen(&record).unwrap();
        assert_eq!((kept.samples.len(), kept.left_out), (1, 1));
    }

    #[test]
    fn zeroes_that_a_power_cut_left_are_cut_off() {
        let (_directory, record, mut bytes) = kept(&[entry(0)]);
        let whole = bytes.len();
        bytes.resize(whole + 4096, 0);
        std::fs::write(Journal::path_for(&record), &bytes).unwrap();
        let (mut journal, kept) = Journal::reopen(&record).unwrap();
        assert_eq!((kept.samples.len(), kept.left_out), (1, 0));
        journal.begin(&head()).unwrap();
        assert_eq!(Journal::path_for(&record).metadata().unwrap().len(), whole as u64);
    }

    #[test]
    fn an_entry_of_a_case_that_the_plan_does_not_have_does_not_count() {
        let (_directory, record, _) = kept(&[entry(7), entry(1)]);
        let (_, kept) = Journal::reopen(&record).unwrap();
        assert_eq!((kept.samples.len(), kept.left_out), (0, 1));
    }

    #[test]
    fn two_runs_cannot_have_one_record() {
        let (_directory, record, bytes) = kept(&[entry(0)]);
        says(Journal::claim(&record).unwrap_err().to_string(), ["was cut short", "--resume"]);
        assert_eq!(std::fs::read(Journal::path_for(&record)).unwrap(), bytes);
        let (journal, _) = Journal::reopen(&record).unwrap();
        for held in [why(&record), Journal::claim(&record).unwrap_err().to_string()] {
            says(&held, ["another run is writing"]);
        }
        drop(journal);
        Journal::reopen(&record).unwrap();
    }

    #[test]
    fn a_claim_that_is_given_up_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join("r.json");
        let claim = Journal::claim(&record).unwrap();
        assert!(Journal::claim(&record).is_err());
        drop(claim);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_strangers_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join("r.json");
        for text in ["a novel of mine\nin two parts\n", "cafebabe: without a line's end", "decade"]
        {
            std::fs::write(Journal::path_for(&record), text).unwrap();
            let refused = Journal::claim(&record).unwrap_err().to_string();
            says(&refused, ["it is no journal, and stays as it is"]);
            assert!(Journal::reopen(&record).is_err());
            assert_eq!(std::fs::read_to_string(Journal::path_for(&record)).unwrap(), text);
        }
        std::fs::write(Journal::path_for(&record), "a novel of mine\n").unwrap();
        assert!(why(&record).contains("line 1: it is no journal"), "{}", why(&record));
    }

    #[test]
    fn a_link_or_a_pipe_in_the_place_of_a_journal_is_neither_followed_nor_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let (record, victim) = (directory.path().join("r.json"), directory.path().join("victim"));
        let path = Journal::path_for(&record);
        let claimed = || Journal::claim(&record).unwrap_err().to_string();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        for why in [claimed(), why(&record)] {
            assert!(why.ends_with("r.json.partial': it is a symbolic link"), "{why}");
        }
        assert!(!victim.exists());
        std::fs::write(&victim, "").unwrap();
        assert!(claimed().ends_with("it is a symbolic link"), "{}", claimed());
        std::fs::remove_file(&path).unwrap();
        let (fifo, mode) =
            (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
        for why in [claimed(), why(&record)] {
            assert!(why.ends_with("it is not a regular file"), "{why}");
        }
    }

    #[test]
    fn a_journal_that_vanishes_is_put_back() {
        let (_directory, record, _) = kept(&[entry(0)]);
        let (mut journal, _) = Journal::reopen(&record).unwrap();
        std::fs::remove_file(Journal::path_for(&record)).unwrap();
        journal.append(&[entry(1)]);
        journal.settle();
        assert!(journal.trouble().is_none());
        assert!(why(&record).contains("another run"), "the new one is held too");
        drop(journal);
        assert_eq!(Journal::reopen(&record).unwrap().1.samples, [sample(0), sample(1)]);
    }

    #[test]
    fn a_directory_that_vanishes_is_trouble_until_it_is_back() {
        let (directory, record, _) = kept(&[entry(0)]);
        let (mut journal, _) = Journal::reopen(&record).unwrap();
        std::fs::remove_dir_all(directory.path()).unwrap();
        journal.append(&[entry(1)]);
        journal.settle();
        says(journal.trouble().unwrap().to_string(), ["r.json.partial", "No such file"]);
        std::fs::create_dir(directory.path()).unwrap();
        journal.settle();
        assert!(journal.trouble().is_none());
        drop(journal);
        assert_eq!(Journal::reopen(&record).unwrap().1.samples.len(), 2);
    }
}
