//! What is around a batch: calibration, warm-up, the sample, single operations; alone or in step
//! with other threads.

use super::bench::Part;
use crate::protocol::{Finding, Latencies, Visit};
use base::model::Settling;
use probe::{Batch, Clock, Pace, Taken, Together, Undisturbed, sample_together};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Single operations between two looks at whether the thread was left alone: a look is a system
/// call, which takes some of the branch predictors' memory with it.
const LOOK_EVERY: u32 = 16;

/// Longest that single operations of one visit may take: as much as a block of other visits. Below
/// that their number falls.
const LONGEST_ALONE_NS: f64 = 2e6;

/// What every visit is measured with.
pub(super) struct Around<'a> {
    pub(super) clock: &'a Clock,
    pub(super) ticks_per_ns: f64,
    pub(super) pace: Pace,
    pub(super) process: u32,
    /// Where nothing of the case has run in this process yet, what is to be said of how it settles.
    pub(super) settling: Option<&'a OnceLock<Settling>>,
    /// None where one thread measures alone.
    pub(super) meeting: Option<Meeting<'a>>,
}

/// One thread's place among those that measure together.
#[derive(Clone, Copy)]
pub(super) struct Meeting<'a> {
    pub(super) thread: usize,
    pub(super) together: &'a Together,
    /// Whether a thread cannot go on: then none does.
    pub(super) failed: &'a AtomicBool,
    /// Operations of each thread's batch, as the first one found it.
    pub(super) ops: &'a OnceLock<u32>,
}

impl Around<'_> {
    /// Goes on only if all threads do.
    ///
    /// # Errors
    /// The caller's own, or that another thread ended the visit.
    pub(super) fn gather<T>(&self, own: Result<T, Finding>) -> Result<T, Finding> {
        let Some(meeting) = &self.meeting else { return own };
        if own.is_err() {
            meeting.failed.store(true, Ordering::SeqCst);
        }
        meeting.together.meet();
        let go_on = !meeting.failed.load(Ordering::SeqCst);
        // Nobody may fail for another reason before all have looked.
        meeting.together.meet();
        match own {
            Ok(value) if go_on => Ok(value),
            Ok(_) => Err(Self::ended()),
            Err(finding) => Err(finding),
        }
    }

    /// What a thread finds that another one ended.
    pub(super) fn ended() -> Finding {
        Finding::failed("another thread ended the visit")
    }

    /// Takes the sample.
    pub(super) fn measure<B: Batch>(
        &self,
        batch: &mut B,
        visit: &Visit,
        ready: &dyn Fn(&mut B, u32, u32),
    ) -> (Taken, u32) {
        let least = Duration::from_micros(visit.settle_us.into());
        if let Some(settling) = self.settling {
            if self.meeting.is_none() {
                self.clock.wait_until_quiet();
            }
            let settled = batch.settle(self.clock, self.ticks_per_ns, least);
            // Of several threads the first that is done speaks for all.
            let _ = settling.set(Settling { process: self.process, ..settled });
        }
        let ops = self.ops(batch, visit.ops);
        let warm_up = self.warm_up_ops(ops);
        let taken = match &self.meeting {
            None => {
                // After a wait caches and predictors may be another tenant's.
                let waited = self.clock.wait_until_quiet();
                let begun = Instant::now();
                ready(batch, warm_up, ops);
                while waited && begun.elapsed() < least {
                    ready(batch, warm_up, ops);
                }
                batch.sample(self.clock, self.process, ops)
            }
            Some(meeting) => {
                let who = (self.process, meeting.thread);
                sample_together(self.clock, meeting.together, who, ops, batch, |batch| {
                    ready(batch, warm_up, ops);
                })
            }
        };
        (taken, ops)
    }

    fn ops<B: Batch>(&self, batch: &mut B, asked: Option<u32>) -> u32 {
        let mut find = || batch.calibrate(self.clock, self.ticks_per_ns, self.pace);
        match (&self.meeting, asked) {
            (_, Some(ops)) => ops,
            (None, None) => find(),
            (Some(meeting), None) => {
                if meeting.thread == 0 {
                    let _ = meeting.ops.set(find());
                }
                meeting.together.meet();
                *meeting.ops.get().expect("the first thread has found it")
            }
        }
    }

    /// Warm-up operations before a batch of `ops`.
    fn warm_up_ops(&self, ops: u32) -> u32 {
        ((f64::from(ops) * self.pace.warm_up_ns / self.pace.sample_ns).ceil() as u32).max(1)
    }

    /// Times single operations, each alone; the bits of their return codes beside.
    pub(super) fn alone<B: Batch>(
        &self,
        batch: &mut B,
        visit: &Visit,
        taken: &Taken,
    ) -> (Option<Latencies>, i32) {
        if visit.latency_ops == 0 || self.meeting.is_some() {
            return (None, 0);
        }
        let op_ns = taken.sample.ticks_per_op() / self.ticks_per_ns;
        let fit = (LONGEST_ALONE_NS / op_ns.max(1.0)) as u32;
        let wanted = visit.latency_ops.min(fit).max(LOOK_EVERY);
        let (mut counts, mut disturbed, mut codes) = (BTreeMap::new(), 0, 0);
        let mut ticks = Vec::with_capacity(LOOK_EVERY as usize);
        let mut left = wanted;
        while left > 0 {
            let now = left.min(LOOK_EVERY).min(batch.most());
            batch.prepare(now);
            ticks.clear();
            let quiet = Undisturbed::begin();
            codes |= batch.run_alone(self.clock, now, &mut ticks);
            if quiet.end().nothing() {
                ticks.iter().for_each(|t| *counts.entry(*t).or_insert(0) += 1);
            } else {
                disturbed += u64::from(now);
            }
            left -= now;
        }
        (Some(Latencies { ticks: counts.into_iter().collect(), disturbed }), codes)
    }
}

/// What a visit gives.
pub(super) fn part(taken: Taken, latency: Option<Latencies>) -> Part {
    Ok((taken.sample, latency))
}
