//! The journal: what a run that was cut short leaves behind, so that it can be gone on with.
//!
//! It stands beside the record that is to come, as `FILE.partial`: one JSON object a line, first a
//! [`JournalHead`], then a [`JournalSample`] for each sample as it arrives. A torn last line is
//! what a power cut leaves; everything before it counts.

use crate::plausible::{impossible_latencies, impossible_sample};
use crate::read::{explain, printable};
use crate::{FORMAT_VERSION, Latencies, Library, Plan, RecordError};
use model::RawSample;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often what is written is forced to the disk: a power cut costs at most so much measuring,
/// and the disk's work stays a rare event beside the samples.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Most bytes of a journal that are read: ten times what the longest run writes.
const MOST_BYTES: u64 = 4 << 30;

/// What a run must know to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalHead {
    /// As in the record.
    pub format_version: String,
    /// As in the record.
    pub started: String,
    /// As in the record.
    pub command: Vec<String>,
    /// Brand string of the CPU: samples of two machines are never mixed.
    pub cpu: String,
    /// As in the record.
    pub plan: Plan,
    /// Number of cases that the plan had over these libraries.
    pub cases: usize,
    /// The libraries, each with the name that it was given on the command line, if any.
    pub libraries: Vec<(Option<String>, Library)>,
}

/// One sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalSample {
    /// Index of the case in the plan.
    pub case: usize,
    /// The sample.
    pub sample: RawSample,
    /// Single operations of the same visit, where they were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latencies>,
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: BufWriter<File>,
    synced: Instant,
}

impl Journal {
    /// The journal's path for a record's.
    #[must_use]
    pub fn path_for(record: &Path) -> PathBuf {
        let mut path = record.as_os_str().to_owned();
        path.push(".partial");
        PathBuf::from(path)
    }

    /// Begins the journal of a record that is to be written to `record`, with the samples of an
    /// earlier part of the run; an older journal is replaced only when the new one is whole.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn create(
        record: &Path,
        head: &JournalHead,
        earlier: &[JournalSample],
    ) -> Result<Self, RecordError> {
        let path = Self::path_for(record);
        let error = |source| RecordError::Write { path: path.clone(), source };
        let directory = match path.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let mut text = line(head);
        earlier.iter().for_each(|s| text.extend(line(s)));
        let mut file = tempfile::NamedTempFile::new_in(directory).map_err(error)?;
        file.write_all(&text).map_err(error)?;
        file.as_file().sync_all().map_err(error)?;
        let file = file.persist(&path).map_err(|e| error(e.error))?;
        Ok(Self { path, file: BufWriter::new(file), synced: Instant::now() })
    }

    /// Adds samples and hands them to the system, so that they outlive this process.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn append(&mut self, samples: &[JournalSample]) -> Result<(), RecordError> {
        self.write(samples).map_err(|source| RecordError::Write { path: self.path.clone(), source })
    }

    fn write(&mut self, samples: &[JournalSample]) -> std::io::Result<()> {
        for sample in samples {
            self.file.write_all(&line(sample))?;
        }
        self.file.flush()?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.file.get_ref().sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Removes the journal: the record is whole.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn remove(self) -> Result<(), RecordError> {
        std::fs::remove_file(&self.path)
            .map_err(|source| RecordError::Write { path: self.path.clone(), source })
    }

    /// Reads the journal of a record.
    ///
    /// # Errors
    /// [`RecordError`], one line; a torn last line is no error.
    pub fn read(record: &Path) -> Result<(JournalHead, Vec<JournalSample>), RecordError> {
        let path = Self::path_for(record);
        let file =
            File::open(&path).map_err(|source| RecordError::Read { path: path.clone(), source })?;
        Self::read_from(BufReader::new(file.take(MOST_BYTES)), &path.display().to_string())
    }

    /// Reads a journal from its content; `origin` names it in errors.
    ///
    /// # Errors
    /// As [`Journal::read`].
    pub fn read_from(
        content: impl BufRead,
        origin: &str,
    ) -> Result<(JournalHead, Vec<JournalSample>), RecordError> {
        let malformed = |number: usize, why: String| RecordError::Malformed {
            origin: origin.to_owned(),
            why: format!("line {number}: {why}"),
        };
        let why = |e: &serde_json::Error| explain("", e);
        let mut lines = content.split(b'\n');
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        let head: JournalHead =
            serde_json::from_slice(&first).map_err(|e| malformed(1, why(&e)))?;
        if head.format_version != FORMAT_VERSION {
            let (origin, found) = (origin.to_owned(), printable(&head.format_version));
            return Err(RecordError::Version { origin, found });
        }
        let mut samples = Vec::new();
        let mut torn = None;
        for (number, bytes) in (2..).zip(lines.map_while(Result::ok)) {
            if let Some(torn) = torn.take() {
                return Err(malformed(number - 1, torn));
            }
            match serde_json::from_slice::<JournalSample>(&bytes) {
                Ok(entry) if entry.case >= head.cases => {
                    torn = Some(format!("there is no case {}", entry.case));
                }
                Ok(entry) => match impossible(&entry) {
                    None => samples.push(entry),
                    why => torn = why,
                },
                Err(e) => torn = Some(why(&e)),
            }
        }
        Ok((head, samples))
    }
}

/// Why an entry cannot have been written by a run.
fn impossible(entry: &JournalSample) -> Option<String> {
    let latency = entry.latency.as_ref();
    impossible_sample(&entry.sample).or_else(|| latency.and_then(impossible_latencies))
}

fn line<T: Serialize>(value: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("journal entries are plain data");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn head() -> JournalHead {
        let record = sample::record();
        JournalHead {
            format_version: record.format_version,
            started: record.started,
            command: record.tool.command,
            cpu: "cpu".into(),
            plan: record.plan,
            cases: 3,
            libraries: record.libraries.into_iter().map(|l| (None, l)).collect(),
        }
    }

    fn sample(case: usize) -> JournalSample {
        let sample = RawSample {
            process: 1,
            thread: 0,
            ops: 2,
            ticks: 3,
            clock_before: 1.4321,
            clock_after: 1.4,
            probe_before: 5.0,
            probe_after: 4.9,
            switches: 0,
            migrated: false,
            ..RawSample::default()
        };
        JournalSample { case, sample, latency: None }
    }

    #[test]
    fn what_was_appended_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join("r.json");
        let mut journal = Journal::create(&record, &head(), &[sample(0)]).unwrap();
        journal.append(&[sample(1), sample(2)]).unwrap();
        let (read, samples) = Journal::read(&record).unwrap();
        assert_eq!((read, samples), (head(), vec![sample(0), sample(1), sample(2)]));
        journal.remove().unwrap();
        assert!(!Journal::path_for(&record).exists());
    }

    #[test]
    fn a_torn_last_line_costs_that_line_only() {
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join("r.json");
        drop(Journal::create(&record, &head(), &[sample(0), sample(1)]).unwrap());
        let path = Journal::path_for(&record);
        let whole = std::fs::read(&path).unwrap();
        let head_len = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
        for cut in head_len..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (_, samples) = Journal::read(&record).unwrap();
            assert!(samples.len() <= 2 && samples.iter().enumerate().all(|(i, s)| s.case == i));
        }
    }

    #[test]
    fn damage_before_the_last_line_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let record = directory.path().join("r.json");
        drop(Journal::create(&record, &head(), &[sample(7), sample(1)]).unwrap());
        let text = Journal::read(&record).unwrap_err().to_string();
        assert!(text.contains("line 2: there is no case 7"), "{text}");
    }
}
