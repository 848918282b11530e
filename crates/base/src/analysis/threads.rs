//! Samples of several threads at once, put together.

use crate::model::{QuietRates, RawSample};
use std::borrow::Cow;

/// One sample for each visit of `threads` threads, whose own stand one after the other; an incomplete
/// visit at the end is left out.
///
/// Rates add up, so its ticks are the harmonic mean of the threads': `threads` operations are done
/// in the time that it gives for one. It is clean only if all of them were: of the probes, the one counts
/// that lies lowest against its own CPU's quiet rate, as if it were the first CPU's.
#[must_use]
pub fn of_visits<'a>(
    samples: &'a [RawSample],
    threads: u32,
    quiet: &QuietRates,
) -> Cow<'a, [RawSample]> {
    if threads <= 1 {
        return Cow::Borrowed(samples);
    }
    samples.chunks_exact(threads as usize).map(|visit| together(visit, quiet)).collect()
}

fn together(visit: &[RawSample], quiet: &QuietRates) -> RawSample {
    let n = visit.len() as f64;
    let mean = |value: fn(&RawSample) -> f64| visit.iter().map(value).sum::<f64>() / n;
    let sum = |value: fn(&RawSample) -> u32| visit.iter().map(value).sum::<u32>();
    let any = |value: fn(&RawSample) -> bool| visit.iter().any(value);
    let first = quiet.of(visit[0].cpu);
    let least = |value: fn(&RawSample) -> f64| {
        let as_first = |s: &RawSample| match quiet.of(s.cpu) {
            own if own > 0.0 && first > 0.0 => value(s) / own * first,
            _ => value(s),
        };
        visit.iter().map(as_first).fold(f64::MAX, f64::min)
    };
    let inverse = mean(|s| 1.0 / (s.ticks.max(1) as f64));
    RawSample {
        ticks: (1.0 / inverse).round() as u64,
        clock_before: mean(|s| s.clock_before),
        clock_after: mean(|s| s.clock_after),
        probe_before: least(|s| s.probe_before),
        probe_after: least(|s| s.probe_after),
        switches: sum(|s| s.switches),
        voluntary: sum(|s| s.voluntary),
        page_faults: sum(|s| s.page_faults),
        major_faults: sum(|s| s.major_faults),
        migrated: any(|s| s.migrated),
        stolen: any(|s| s.stolen),
        ..visit[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(thread: u32, ticks: u64, switches: u32) -> RawSample {
        RawSample {
            process: 3,
            thread,
            ops: 10,
            ticks,
            clock_before: 1.0 + f64::from(thread),
            clock_after: 1.0 + f64::from(thread),
            probe_before: 5.0 - f64::from(thread),
            probe_after: 5.0,
            switches,
            ..RawSample::default()
        }
    }

    #[test]
    fn rates_add_up_and_one_disturbed_thread_disturbs_the_visit() {
        let samples =
            [sample(0, 1000, 0), sample(1, 3000, 0), sample(0, 1000, 0), sample(1, 1000, 1)];
        let visits = of_visits(&samples, 2, &QuietRates::default());
        assert_eq!(visits.len(), 2);
        // 10 operations in 1000 ticks and 10 in 3000 are as 20 in 1500: each thread's mean.
        assert_eq!((visits[0].ticks, visits[0].ops, visits[0].thread), (1500, 10, 0));
        assert_eq!((visits[0].clock_before, visits[0].probe_before), (1.5, 4.0));
        assert_eq!((visits[0].switches, visits[1].switches), (0, 1));
    }

    #[test]
    fn a_visit_that_was_cut_off_does_not_count() {
        let samples = [sample(0, 1000, 0), sample(1, 1000, 0), sample(0, 1000, 0)];
        assert_eq!(of_visits(&samples, 2, &QuietRates::default()).len(), 1);
        assert_eq!(of_visits(&samples, 1, &QuietRates::default()).len(), 3);
    }
}
