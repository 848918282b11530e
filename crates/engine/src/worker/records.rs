//! The worker's records: one open connection for each suite and size.

use super::stack::{Taken, Timing, Visited, another, not_offered};
use crate::protocol::Finding;
use adapters::stacks::{Line, NoLine};
use base::model::Settling;
use probe::around_parts;
use record::tls::{Found, HandshakeSample, Protection, RecordFacts};
use std::collections::HashMap;
use std::time::Duration;

/// Nanoseconds that a sample should take at least.
const SAMPLE_NS: f64 = 100_000.0;
/// How long untimed batches go on before a visit's first sample, at least.
const WARM_UP: Duration = Duration::from_micros(100);

/// The connections that are open.
#[derive(Default)]
pub(super) struct Lines(HashMap<(Protection, u32), Result<Opened, Finding>>);

struct Opened {
    line: Line,
    /// Batches of a sample.
    batches: u32,
}

impl Lines {
    /// Takes samples of records.
    pub(super) fn sampled(
        &mut self,
        timing: &Timing<'_>,
        protection: Protection,
        size: u32,
        samples: u32,
    ) -> Taken {
        let mut facts = None;
        let slot = self.0.entry((protection, size)).or_insert_with(|| {
            let opened = Opened::open(timing, protection, size)?;
            facts = Some(Found::Records(RecordFacts {
                negotiated: opened.line.negotiated().clone(),
                overhead_bytes: opened.line.overhead() as u32,
            }));
            Ok(opened)
        });
        let opened = slot.as_mut().map_err(|finding| finding.clone())?;
        let settling = Some(opened.warm_up(timing)?);
        let samples = (0..samples).map(|_| opened.sample(timing)).collect::<Result<Vec<_>, _>>()?;
        Ok(Visited { settling, samples, facts })
    }
}

impl Opened {
    fn open(timing: &Timing<'_>, protection: Protection, size: u32) -> Result<Self, Finding> {
        let line = Line::open(timing.stack, protection, size as usize, timing.clock);
        let mut line = line.map_err(at_first)?;
        // The first fills caches; the second says how long one takes.
        line.batch(timing.clock).map_err(later)?;
        let batch = line.batch(timing.clock).map_err(later)?;
        let ns = (batch.send + batch.receive) as f64 / timing.ticks_per_ns;
        let batches = (SAMPLE_NS / ns.max(1.0)).ceil().clamp(1.0, 1000.0) as u32;
        Ok(Self { line, batches })
    }

    fn warm_up(&mut self, timing: &Timing<'_>) -> Result<Settling, Finding> {
        let mut one = || {
            let batch = self.line.batch(timing.clock).map_err(later)?;
            Ok(batch.send + batch.receive)
        };
        timing.settle(WARM_UP, |batches| (0..batches).map(|_| one()).sum())
    }

    fn sample(&mut self, timing: &Timing<'_>) -> Result<HandshakeSample, Finding> {
        let Self { line, batches } = self;
        let (all, around) = around_parts(timing.clock, timing.process, || {
            (0..*batches).map(|_| line.batch(timing.clock)).collect::<Result<Vec<_>, _>>()
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
fn at_first(no: NoLine) -> Finding {
    match no {
        NoLine::Trouble(trouble) => not_offered(trouble),
        NoLine::Mismatch(mismatch) => another(mismatch),
        NoLine::Wrong(why) => Finding::refused(why),
    }
}

/// A connection that worked and does no longer.
fn later(no: NoLine) -> Finding {
    match &no {
        NoLine::Trouble(_) => Finding::failed(no.to_string()),
        NoLine::Mismatch(_) | NoLine::Wrong(_) => Finding::refused(no.to_string()),
    }
}
