//! The worker's primitives: one workbench for each operation, whose results are held to be right after
//! every timed batch.

use super::stack::{not_offered, number_less};
use probe::{Clock, around_parts};
use std::collections::HashMap;
use tls::{Found, HandshakeSample, NoNumber, Primitive, PrimitiveFacts, Visited};
use tls_stack::{Span, Stack, Trouble, Workbench};

/// Nanoseconds that either part of a sample should take at least: 10,000 steps of the coarsest clock.
const PART_NS: f64 = 100_000.0;
/// Operations of a part at most.
const MOST_OPS: u32 = 4096;
/// Nanoseconds of untimed operations before a visit's first sample.
const WARM_UP_NS: f64 = 200_000.0;

/// The workbenches that are open.
#[derive(Default)]
pub(super) struct Primitives(HashMap<Primitive, Result<Opened, NoNumber>>);

struct Opened {
    bench: Box<dyn Workbench>,
    /// Operations of each part of a sample.
    ops: u32,
    /// Parts before the first sample of a visit.
    warm_ups: u32,
}

/// What samples of primitives are taken with.
pub(super) struct Timing<'a> {
    pub(super) stack: &'a dyn Stack,
    pub(super) clock: &'a Clock,
    pub(super) ticks_per_ns: f64,
    pub(super) process: u32,
}

impl Primitives {
    /// Takes samples of a primitive.
    pub(super) fn sampled(
        &mut self,
        timing: &Timing<'_>,
        primitive: Primitive,
        samples: u32,
    ) -> Visited {
        match self.taken(timing, primitive, samples) {
            Ok(visited) => visited,
            Err(finding) => Visited::Finding(finding),
        }
    }

    fn taken(
        &mut self,
        timing: &Timing<'_>,
        primitive: Primitive,
        samples: u32,
    ) -> Result<Visited, NoNumber> {
        let mut facts = None;
        let slot = self.0.entry(primitive).or_insert_with(|| {
            let opened = timing.open(&primitive)?;
            let checks = opened.bench.checks();
            facts = Some(Box::new(Found::Primitive(PrimitiveFacts { checks })));
            Ok(opened)
        });
        let opened = slot.as_mut().map_err(|finding| finding.clone())?;
        for _ in 0..opened.warm_ups {
            timing.parts(opened)?;
        }
        opened.bench.prove().map_err(wrong)?;
        let samples = (0..samples).map(|_| timing.sample(opened)).collect::<Result<Vec<_>, _>>()?;
        Ok(Visited::Taken { samples, facts })
    }
}

impl Timing<'_> {
    fn open(&self, primitive: &Primitive) -> Result<Opened, NoNumber> {
        let mut bench = self.stack.primitive(primitive).map_err(not_offered)?;
        bench.examine().map_err(wrong)?;
        let mut opened = Opened { bench, ops: 1, warm_ups: 1 };
        // The first fills caches; the second says how long one takes.
        self.parts(&mut opened)
            .map_err(|first| NoNumber { state: record::State::Unsupported, why: first.why })?;
        let (whole, call) = self.parts(&mut opened)?;
        opened.bench.prove().map_err(wrong)?;
        let ns = |ticks: u64| (ticks as f64 / self.ticks_per_ns).max(1.0);
        opened.ops = (PART_NS / ns(whole.min(call))).ceil().clamp(1.0, f64::from(MOST_OPS)) as u32;
        let both = ns(whole + call) * f64::from(opened.ops);
        opened.warm_ups = (WARM_UP_NS / both).ceil().max(1.0) as u32;
        Ok(opened)
    }

    /// As many operations whole, and as many calls alone: the ticks of each.
    fn parts(&self, opened: &mut Opened) -> Result<(u64, u64), NoNumber> {
        let Opened { bench, ops, .. } = opened;
        let (whole, of_whole) = self.clock.part(|| bench.run(Span::Whole, *ops));
        let (call, of_call) = self.clock.part(|| bench.run(Span::Call, *ops));
        whole.and(call).map_err(|t: Trouble| number_less(record::State::Failed, t.to_string()))?;
        Ok((of_whole, of_call))
    }

    fn sample(&self, opened: &mut Opened) -> Result<HandshakeSample, NoNumber> {
        let (parts, around) = around_parts(self.clock, self.process, || self.parts(opened));
        let mut sample = HandshakeSample { server: around, ..HandshakeSample::default() };
        sample.server.ops = opened.ops;
        (sample.server.ticks, sample.client_ticks) = parts?;
        opened.bench.prove().map_err(wrong)?;
        Ok(sample)
    }
}

/// A result that is not what it must be.
fn wrong(why: String) -> NoNumber {
    number_less(record::State::Refused, why)
}
