//! What the types of a record cannot rule out, and what reads it relies on.

use crate::{Disturbances, Estimate, Latencies, Latency, Measurement, Noise, Record, State};
use base::model::RawSample;

/// The largest count: what a double holds exactly, and so few that sums of all counts of a record stay
/// far below 2^64.
const MOST: u64 = 1 << 53;

/// Bytes of an operation, measured here or elsewhere: `openssl speed` counts them in an `int`.
const SIZES: std::ops::RangeInclusive<usize> = 1..=i32::MAX as usize;

/// What contradicts itself or cannot be, on one line: what [`crate::from_json`] refuses.
///
/// # Errors
/// The first that is found.
pub fn contradiction(record: &Record) -> Result<(), String> {
    for (i, m) in record.measurements.iter().enumerate() {
        of_measurement(m).map_err(|why| format!("measurements[{i}]: {why}"))?;
    }
    record.noise.as_ref().map_or(Ok(()), of_noise).map_err(|why| format!("noise: {why}"))
}

fn of_measurement(m: &Measurement) -> Result<(), String> {
    if !m.raw.is_rectangular() {
        return Err("the arrays in `raw` differ in length".to_owned());
    }
    let has = |has: bool| if has { "has" } else { "lacks" };
    let (state, number, imported) = (m.state, m.ns_per_op.is_some(), m.imported.is_some());
    if state.has_number() != number {
        return Err(format!("the state is '{}' but it {} `ns_per_op`", state.name(), has(number)));
    }
    if (state == State::Imported) != imported {
        return Err(format!("the state is '{}' but it {} `imported`", state.name(), has(imported)));
    }
    if state == State::Imported && !m.checks.is_empty() {
        return Err("the state is 'imported' but it claims `checks`".to_owned());
    }
    estimate("ns_per_op", m.ns_per_op)?;
    estimate("cycles_per_op", m.cycles_per_op)?;
    rate("ns_per_byte", m.ns_per_byte)?;
    rate("mb_per_s", m.mb_per_s)?;
    rate("cycles_per_byte", m.cycles_per_byte)?;
    counts(m)
}

/// Nothing takes less than no time.
fn estimate(name: &str, estimate: Option<Estimate>) -> Result<(), String> {
    match estimate {
        Some(e) if e.median < 0.0 => Err(format!("`{name}` is below zero")),
        Some(e) if e.high > MOST_RATE || e.low < -MOST_RATE => {
            Err(format!("`{name}` is more than any run has"))
        }
        Some(e) if e.low > e.median || e.median > e.high => {
            Err(format!("the median of `{name}` is outside its interval"))
        }
        _ => Ok(()),
    }
}

/// Beyond any speed or slowness, and so small that what is computed from it stays finite.
const MOST_RATE: f64 = 1e18;

fn rate(name: &str, rate: Option<f64>) -> Result<(), String> {
    match rate {
        Some(rate) if !(0.0..=MOST_RATE).contains(&rate) => {
            Err(format!("`{name}` is {rate:e}, which no run has"))
        }
        _ => Ok(()),
    }
}

fn counts(m: &Measurement) -> Result<(), String> {
    // A handshake has no size.
    let has_none = m.size == 0 && !m.model.has_bytes();
    if !has_none && !SIZES.contains(&m.size) {
        return Err(format!("`size` is {}: an operation has 1 to {} bytes", m.size, SIZES.end()));
    }
    at_most("samples", m.samples)?;
    at_most("samples_disturbed", m.samples_disturbed)?;
    at_most("evidence.outputs_checked", m.evidence.outputs_checked)?;
    at_most("evidence.calls_succeeded", m.evidence.calls_succeeded)?;
    m.checks.iter().try_for_each(|check| at_most("checks", check.count))?;
    m.raw.ticks.iter().try_for_each(|ticks| at_most("raw.ticks", *ticks))?;
    m.latency_ns.as_ref().map_or(Ok(()), of_latency)?;
    of_disturbances(&m.disturbed)
}

fn of_latency(latency: &Latency) -> Result<(), String> {
    let Latency { operations, disturbed, ticks, .. } = latency;
    at_most("latency_ns.operations", *operations)?;
    at_most("latency_ns.disturbed", *disturbed)?;
    let both = ticks.iter().flat_map(|(length, operations)| [*length, *operations]);
    both.into_iter().try_for_each(|n| at_most("latency_ns.ticks", n))
}

fn of_noise(noise: &Noise) -> Result<(), String> {
    at_most("samples", noise.samples)?;
    at_most("clean", noise.clean)?;
    of_disturbances(&noise.disturbed)
}

fn of_disturbances(d: &Disturbances) -> Result<(), String> {
    let Disturbances { migrated, switched, paged_in, stolen, clock_moved, contended, unsettled } =
        *d;
    let all = [migrated, switched, paged_in, stolen, clock_moved, contended, unsettled];
    all.into_iter().chain([d.total()]).try_for_each(|n| at_most("disturbed", n))
}

fn at_most(what: &str, count: u64) -> Result<(), String> {
    if count <= MOST { Ok(()) } else { Err(format!("`{what}` is {count}, more than can be")) }
}

/// Why a sample cannot be one; `None` of one that can. Rates are of a core's clock over the clock's
/// ticks, and of instructions over cycles: nothing built or planned is a thousandth of the bound.
#[must_use]
pub fn impossible_sample(sample: &RawSample) -> Option<String> {
    const MOST_RATE: f64 = 1e6;
    let RawSample { process, ops, ticks, clock_before, clock_after, .. } = *sample;
    let rates = [clock_before, clock_after, sample.probe_before, sample.probe_after];
    if ops == 0 {
        return Some("a sample without an operation".to_owned());
    }
    if ticks > MOST || process == u32::MAX {
        return Some("a sample with a number that is too large".to_owned());
    }
    let possible = rates.iter().all(|rate| (0.0..=MOST_RATE).contains(rate));
    (!possible).then(|| "a sample with an impossible clock or probe reading".to_owned())
}

/// Why timings of single operations cannot be such; `None` of those that can.
#[must_use]
pub fn impossible_latencies(latencies: &Latencies) -> Option<String> {
    let both = latencies.ticks.iter().flat_map(|(ticks, operations)| [*ticks, *operations]);
    let too_large = both.chain([latencies.disturbed]).any(|n| n > MOST);
    too_large.then(|| "single operations with a number that is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn why(change: impl FnOnce(&mut Record)) -> String {
        let mut record = sample::record();
        change(&mut record);
        contradiction(&record).unwrap_err()
    }

    #[test]
    fn counts_that_no_sum_can_hold_and_times_below_zero_are_refused() {
        assert_eq!(contradiction(&sample::record()), Ok(()));
        let samples = why(|r| r.measurements[0].samples = u64::MAX);
        assert_eq!(samples, "measurements[0]: `samples` is 18446744073709551615, more than can be");
        let disturbed = why(|r| r.measurements[1].disturbed.stolen = u64::MAX / 2);
        assert!(disturbed.starts_with("measurements[1]: `disturbed` is"), "{disturbed}");
        let together = why(|r| {
            r.measurements[1].disturbed.stolen = MOST;
            r.measurements[1].disturbed.switched = 1;
        });
        assert!(together.starts_with("measurements[1]: `disturbed` is"), "{together}");
        let empty = why(|r| r.measurements[0].size = 0);
        assert_eq!(empty, "measurements[0]: `size` is 0: an operation has 1 to 2147483647 bytes");
        let below = why(|r| {
            let estimate = Estimate { median: -1.0, low: -2.0, high: 3.0 };
            r.measurements[0].ns_per_op = Some(estimate);
        });
        assert_eq!(below, "measurements[0]: `ns_per_op` is below zero");
        let rate = why(|r| r.measurements[0].mb_per_s = Some(-1e308));
        assert_eq!(rate, "measurements[0]: `mb_per_s` is -1e308, which no run has");
        let endless = why(|r| {
            let estimate = Estimate { median: 1.0, low: 1.0, high: 1e300 };
            r.measurements[0].cycles_per_op = Some(estimate);
        });
        assert_eq!(endless, "measurements[0]: `cycles_per_op` is more than any run has");
        let outside = why(|r| {
            let estimate = Estimate { median: 1.0, low: 2.0, high: 3.0 };
            r.measurements[0].ns_per_op = Some(estimate);
        });
        assert!(outside.contains("is outside its interval"), "{outside}");
    }

    #[test]
    fn samples_that_no_clock_gives_are_named() {
        let good = RawSample {
            ops: 1,
            ticks: 5,
            clock_before: 1.5,
            clock_after: 1.5,
            ..RawSample::default()
        };
        assert_eq!(impossible_sample(&good), None);
        for bad in [
            RawSample { ops: 0, ..good },
            RawSample { ticks: u64::MAX, ..good },
            RawSample { process: u32::MAX, ..good },
            RawSample { clock_after: -1.0, ..good },
            RawSample { probe_before: f64::NAN, ..good },
            RawSample { clock_before: 1e300, ..good },
        ] {
            assert!(impossible_sample(&bad).is_some(), "{bad:?}");
        }
        let latencies = |ticks| Latencies { ticks, disturbed: 0 };
        assert_eq!(impossible_latencies(&latencies(vec![(20, 1000)])), None);
        assert!(impossible_latencies(&latencies(vec![(20, u64::MAX)])).is_some());
    }
}
