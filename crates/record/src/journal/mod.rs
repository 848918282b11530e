//! The journal: what a run that was cut short leaves behind, so that it can be gone on with.
//!
//! It stands beside the record that is to come, as `FILE.partial`: a [`JournalHead`], then a
//! [`JournalEntry`] a line, only ever added to. What was handed to the system outlives the process;
//! what was forced to the disk, about once a second, outlives the machine. A run holds a lock on it (flock,
//! which the kernel gives back however the run ends), so no two runs write the same record.

mod entry;
mod lines;

pub use entry::{JournalEntry, JournalFacts, JournalFinding, JournalHead, JournalSample, Kept};

use crate::RecordError;
use crate::write::{directory_of, is_at, sync_directory};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _};
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

/// How often a journal that vanishes while it is opened is opened again.
const MOST_TRIES: usize = 100;

/// More than any head has.
const MOST_HEAD_BYTES: u64 = 64 << 20;

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
    /// The journal's path for a record's.
    #[must_use]
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
        let bytes = journal.bytes(MOST_HEAD_BYTES)?;
        if bytes.len() as u64 == MOST_HEAD_BYTES || !lines::is_torn_head(&bytes) {
            let (record, path) = (record.to_owned(), journal.path.clone());
            if bytes.starts_with(lines::MAGIC) {
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
        let bytes = journal.bytes(MOST_BYTES)?;
        let (kept, sound) = lines::read(&bytes, &journal.path.display().to_string())?;
        journal.written = sound;
        Ok((journal, kept))
    }

    /// What a journal's content holds; `origin` names it in errors.
    ///
    /// # Errors
    /// As [`Journal::reopen`].
    pub fn read_from(content: &[u8], origin: &str) -> Result<Kept, RecordError> {
        lines::read(content, origin).map(|(kept, _)| kept)
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
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn begin(&mut self, head: &JournalHead) -> Result<(), RecordError> {
        if self.written > 0 {
            return self.file.set_len(self.written).map_err(|e| self.failed(e));
        }
        let line = lines::first_line(head);
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
            entries.iter().for_each(|entry| self.waiting.extend(lines::line(entry)));
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
    #[must_use]
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
    ///
    /// # Errors
    /// [`RecordError::Write`].
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

#[cfg(test)]
mod tests;
