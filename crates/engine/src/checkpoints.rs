//! Keeping a run while it goes on: the journal after each block of samples, the record as it stands
//! after passes. Neither is written while a sample is being taken: the workers wait for their next
//! block.

use crate::events::{Event, Progress};
use crate::schedule::{Sampled, Watch};
use record::{Journal, JournalEntry, Record};
use std::path::PathBuf;
use std::time::Instant;

/// The part of the run's time that writing records in between may take is one in so many.
const SNAPSHOT_SHARE: u32 = 50;

/// Keeps a run.
pub(crate) struct Checkpoints<'a> {
    journal: Option<Journal>,
    snapshots: Option<Snapshots<'a>>,
    /// Seconds of measuring in earlier parts of the run.
    seconds_before: f64,
    /// What else is to be done at the end of a pass.
    at_pass: &'a dyn Fn(),
    events: &'a (dyn Fn(Event<'_>) + Sync),
    /// Whether the user knows that the run is not kept.
    told: bool,
}

/// Where the record is written as it would be if the run were interrupted now.
pub(crate) struct Snapshots<'a> {
    path: PathBuf,
    record: &'a dyn Fn(Sampled<'_>) -> Record,
    /// Cases that had ended at the last one, and when the next may be made.
    ended: usize,
    next: Instant,
}

impl<'a> Snapshots<'a> {
    pub(crate) fn new(path: PathBuf, record: &'a dyn Fn(Sampled<'_>) -> Record) -> Self {
        Self { path, record, ended: 0, next: Instant::now() }
    }

    /// Writes one when a case has ended since the last time and it does not cost too much.
    fn write(&mut self, sampled: Sampled<'_>) -> Result<(), String> {
        let ended = sampled.all_progress.iter().filter(|t| t.end.is_some()).count();
        let begun = Instant::now();
        if ended <= self.ended || begun < self.next {
            return Ok(());
        }
        let saved = record::save(&(self.record)(sampled), &self.path);
        self.ended = ended;
        self.next = Instant::now() + begun.elapsed() * SNAPSHOT_SHARE;
        saved.map_err(|e| e.to_string())
    }
}

impl<'a> Checkpoints<'a> {
    pub(crate) fn new(
        journal: Option<Journal>,
        snapshots: Option<Snapshots<'a>>,
        seconds_before: f64,
        at_pass: &'a dyn Fn(),
        events: &'a (dyn Fn(Event<'_>) + Sync),
    ) -> Self {
        Self { journal, snapshots, seconds_before, at_pass, events, told: false }
    }

    /// The journal with all that there is.
    pub(crate) fn end(mut self, sampled: Sampled<'_>) -> Option<Journal> {
        self.settle(sampled);
        self.journal
    }

    fn settle(&mut self, sampled: Sampled<'_>) {
        let Some(journal) = &mut self.journal else { return };
        journal.append(&[JournalEntry::Seconds(self.seconds_before + sampled.time.as_secs_f64())]);
        journal.settle();
    }

    /// Tells the user when the run cannot be kept any more, and when it can again.
    fn tell(&mut self, trouble: Option<String>) {
        let told = std::mem::replace(&mut self.told, trouble.is_some());
        match trouble {
            Some(why) if !told => (self.events)(Event::Remark(&format!(
                "the run goes on, but cannot be kept for now: {why}"
            ))),
            None if told => (self.events)(Event::Remark("the run is kept again")),
            _ => {}
        }
    }

    fn journal_trouble(&self) -> Option<String> {
        self.journal.as_ref()?.trouble().map(|e| e.to_string())
    }
}

impl Watch for Checkpoints<'_> {
    fn block(&mut self, entries: Vec<JournalEntry>) {
        let Some(journal) = &mut self.journal else { return };
        journal.append(&entries);
        let trouble = self.journal_trouble();
        // Whether a snapshot can be written again shows at the end of a pass.
        if trouble.is_some() {
            self.tell(trouble);
        }
    }

    fn round(&mut self, progress: Progress) {
        (self.events)(Event::Sampling(progress));
    }

    fn pass(&mut self, sampled: Sampled<'_>) {
        (self.at_pass)();
        self.settle(sampled);
        let snapshot = self.snapshots.as_mut().and_then(|s| s.write(sampled).err());
        let trouble = self.journal_trouble().or(snapshot);
        self.tell(trouble);
    }
}
