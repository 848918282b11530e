//! The worker's primitives: one workbench for each operation, whose results are held to be right after
//! every timed batch.

use super::stack::{Taken, Timing, Visited, not_offered};
use crate::protocol::Finding;
use adapters::stacks::{Span, Trouble, Workbench};
use probe::around_parts;
use record::tls::{Found, HandshakeSample, Primitive, PrimitiveFacts};
use std::collections::HashMap;
use std::time::Duration;

/// Nanoseconds that either part of a sample should take at least: 10,000 steps of the coarsest clock.
const PART_NS: f64 = 100_000.0;
/// Operations of a part at most.
const MOST_OPS: u32 = 4096;
/// How long untimed operations go on before a visit's first sample, at least.
const WARM_UP: Duration = Duration::from_micros(200);

/// The workbenches that are open.
#[derive(Default)]
pub(super) struct Primitives(HashMap<Primitive, Result<Opened, Finding>>);

struct Opened {
    bench: Box<dyn Workbench>,
    /// Operations of each part of a sample.
    ops: u32,
}

impl Primitives {
    /// Takes samples of a primitive.
    pub(super) fn sampled(
        &mut self,
        timing: &Timing<'_>,
        primitive: Primitive,
        samples: u32,
    ) -> Taken {
        let mut facts = None;
        let slot = self.0.entry(primitive).or_insert_with(|| {
            let opened = Opened::open(timing, &primitive)?;
            let checks = opened.bench.checks();
            facts = Some(Found::Primitive(PrimitiveFacts { checks }));
            Ok(opened)
        });
        let opened = slot.as_mut().map_err(|finding| finding.clone())?;
        let mut both = || opened.parts(timing).map(|(whole, call)| whole + call);
        let settling = Some(timing.settle(WARM_UP, |parts| (0..parts).map(|_| both()).sum())?);
        opened.bench.prove().map_err(wrong)?;
        let samples = (0..samples).map(|_| opened.sample(timing)).collect::<Result<Vec<_>, _>>()?;
        Ok(Visited { settling, samples, facts })
    }
}

impl Opened {
    fn open(timing: &Timing<'_>, primitive: &Primitive) -> Result<Self, Finding> {
        let mut bench = timing.stack.primitive(primitive).map_err(not_offered)?;
        bench.examine().map_err(wrong)?;
        let mut opened = Self { bench, ops: 1 };
        // The first fills caches; the second says how long one takes.
        opened.parts(timing).map_err(|first| Finding::unsupported(first.why))?;
        let (whole, call) = opened.parts(timing)?;
        opened.bench.prove().map_err(wrong)?;
        let ns = |ticks: u64| (ticks as f64 / timing.ticks_per_ns).max(1.0);
        opened.ops = (PART_NS / ns(whole.min(call))).ceil().clamp(1.0, f64::from(MOST_OPS)) as u32;
        Ok(opened)
    }

    /// As many operations whole, and as many calls alone: the ticks of each.
    fn parts(&mut self, timing: &Timing<'_>) -> Result<(u64, u64), Finding> {
        let Self { bench, ops, .. } = self;
        let (whole, of_whole) = timing.clock.part(|| bench.run(Span::Whole, *ops));
        let (call, of_call) = timing.clock.part(|| bench.run(Span::Call, *ops));
        whole.and(call).map_err(|t: Trouble| Finding::failed(t.to_string()))?;
        Ok((of_whole, of_call))
    }

    fn sample(&mut self, timing: &Timing<'_>) -> Result<HandshakeSample, Finding> {
        let (parts, around) = around_parts(timing.clock, timing.process, || self.parts(timing));
        let mut sample = HandshakeSample { server: around, ..HandshakeSample::default() };
        sample.server.ops = self.ops;
        (sample.server.ticks, sample.client_ticks) = parts?;
        self.bench.prove().map_err(wrong)?;
        Ok(sample)
    }
}

/// A result that is not what it must be.
fn wrong(why: String) -> Finding {
    Finding::refused(why)
}
