//! The worker's records: one open connection for each suite and size.

use super::stack::{another, not_offered, number_less};
use probe::{Clock, around_parts};
use std::collections::HashMap;
use tls::{Found, HandshakeSample, NoNumber, Protection, RecordFacts, Visited};
use tls_stack::{Line, NoLine, Stack};

/// Nanoseconds that a sample should take at least.
const SAMPLE_NS: f64 = 100_000.0;
/// Nanoseconds of untimed batches before a visit's first sample.
const WARM_UP_NS: f64 = 100_000.0;

/// The connections that are open.
#[derive(Default)]
pub(super) struct Lines(HashMap<(Protection, u32), Result<Opened, NoNumber>>);

struct Opened {
    line: Line,
    /// Batches of a sample.
    batches: u32,
}

/// What samples of records are taken with.
pub(super) struct Timing<'a> {
    pub(super) stack: &'a dyn Stack,
    pub(super) clock: &'a Clock,
    pub(super) ticks_per_ns: f64,
    pub(super) process: u32,
}

impl Lines {
    /// Takes samples of records.
    pub(super) fn sampled(
        &mut self,
        timing: &Timing<'_>,
        protection: Protection,
        size: u32,
        samples: u32,
    ) -> Visited {
        match self.taken(timing, protection, size, samples) {
            Ok(visited) => visited,
            Err(finding) => Visited::Finding(finding),
        }
    }

    fn taken(
        &mut self,
        timing: &Timing<'_>,
        protection: Protection,
        size: u32,
        samples: u32,
    ) -> Result<Visited, NoNumber> {
        let mut facts = None;
        let slot = self.0.entry((protection, size)).or_insert_with(|| {
            let opened = timing.open(protection, size)?;
            facts = Some(Box::new(Found::Records(RecordFacts {
                negotiated: opened.line.negotiated().clone(),
                overhead_bytes: opened.line.overhead() as u32,
            })));
            Ok(opened)
        });
        let opened = slot.as_mut().map_err(|finding| finding.clone())?;
        timing.warm_up(opened)?;
        let samples = (0..samples).map(|_| timing.sample(opened)).collect::<Result<Vec<_>, _>>()?;
        Ok(Visited::Taken { samples, facts })
    }
}

impl Timing<'_> {
    fn open(&self, protection: Protection, size: u32) -> Result<Opened, NoNumber> {
        let line = Line::open(self.stack, protection, size as usize, self.clock);
        let mut line = line.map_err(at_first)?;
        // The first fills caches; the second says how long one takes.
        line.batch(self.clock).map_err(later)?;
        let batch = line.batch(self.clock).map_err(later)?;
        let ns = (batch.send + batch.receive) as f64 / self.ticks_per_ns;
        let batches = (SAMPLE_NS / ns.max(1.0)).ceil().clamp(1.0, 1000.0) as u32;
        Ok(Opened { line, batches })
    }

    fn warm_up(&self, opened: &mut Opened) -> Result<(), NoNumber> {
        let mut spent = 0.0;
        while spent < WARM_UP_NS * self.ticks_per_ns {
            let batch = opened.line.batch(self.clock).map_err(later)?;
            spent += (batch.send + batch.receive) as f64;
        }
        Ok(())
    }

    fn sample(&self, opened: &mut Opened) -> Result<HandshakeSample, NoNumber> {
        let Opened { line, batches } = opened;
        let (all, around) = around_parts(self.clock, self.process, || {
            (0..*batches).map(|_| line.batch(self.clock)).collect::<Result<Vec<_>, _>>()
        });
        let mut sample = HandshakeSample { server: around, ..HandshakeSample::default() };
        sample.server.ops = *batches * line.records();
        for batch in all.map_err(later)? {
            sample.server.ticks += batch.send;
            sample.client_ticks += batch.receive;
        }
        Ok(sample)
    }
}

/// At the first try, what a stack does not do.
fn at_first(no: NoLine) -> NoNumber {
    match no {
        NoLine::Trouble(trouble) => not_offered(trouble),
        NoLine::Mismatch(mismatch) => another(mismatch),
        NoLine::Wrong(why) => number_less(record::State::Refused, why),
    }
}

/// A connection that worked and does no longer.
fn later(no: NoLine) -> NoNumber {
    let state = match &no {
        NoLine::Trouble(_) => record::State::Failed,
        NoLine::Mismatch(_) | NoLine::Wrong(_) => record::State::Refused,
    };
    number_less(state, no.to_string())
}
