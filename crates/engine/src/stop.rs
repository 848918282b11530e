//! What ends a run before all is done.

use record::Stopped;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What ends a run before all is done: an interrupt, or the end of the time that the whole of it may take.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    interrupted: Arc<AtomicBool>,
    end: Option<Instant>,
}

impl Stop {
    /// Ends when the flag is set, as a signal handler does.
    #[must_use]
    pub fn on(interrupted: Arc<AtomicBool>) -> Self {
        Self { interrupted, end: None }
    }

    /// Ends after so long from now, too.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        let end = Instant::now() + time;
        let end = self.end.map_or(end, |own| own.min(end));
        Self { interrupted: Arc::clone(&self.interrupted), end: Some(end) }
    }

    /// Why no more is to be done; none while more is.
    #[must_use]
    pub fn why(&self) -> Option<Stopped> {
        let is_over = || self.end.is_some_and(|end| Instant::now() >= end);
        match self.is_interrupted() {
            true => Some(Stopped::Interrupted),
            false => is_over().then_some(Stopped::Budget),
        }
    }

    /// Whether no more is to be done.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.why().is_some()
    }

    /// Whether somebody wants it to end.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// What a signal handler sets.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.interrupted
    }

    /// Time that is left; none where it has no end.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_end_counts_and_an_interrupt_before_both() {
        let flag = Arc::new(AtomicBool::new(false));
        let (open, hour) = (Stop::on(Arc::clone(&flag)), Duration::from_secs(3600));
        assert_eq!((open.why(), open.left()), (None, None));
        assert_eq!(open.within(hour).why(), None);
        let over = open.within(hour).within(Duration::ZERO).within(hour);
        assert_eq!((over.why(), over.left()), (Some(Stopped::Budget), Some(Duration::ZERO)));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(over.why(), Some(Stopped::Interrupted));
        assert!(open.within(hour).is_over());
    }
}
