//! Raw samples as bytes. `assets/js/samples.js` reads them.
//!
//! A case is: the number of samples; then, unless that is 0, one byte that is 1 where the values are
//! core cycles an operation and 0 where they are nanoseconds; the smallest value, a little-endian
//! 32-bit float; each sample's worker process; each sample's mark (0 counts, 1 does not for no reason
//! that can be told, 2 … the reasons in the order of [`Disturbance::ALL`]); each sample's value as
//! steps of [`STEP`] of the smallest above it. Whole numbers but the marks are LEB128.

use base::model::{Disturbance, RawSample};
use record::{Measurement, Record};

/// Cases whose samples are packed together: one chunk unpacks in a few milliseconds.
pub(crate) const CASES_IN_CHUNK: usize = 512;

/// The grain of a value, as a fraction of the case's smallest: finer than any clock.
const STEP: f64 = 1e-4;

/// Chunks of cases, in the order of the cases.
#[derive(Default)]
pub(crate) struct Chunks {
    done: Vec<Vec<u8>>,
    open: Vec<u8>,
    cases: usize,
}

impl Chunks {
    pub(crate) fn push(&mut self, m: &Measurement, record: &Record) {
        write_case(&mut self.open, m, record);
        self.cases += 1;
        if self.cases == CASES_IN_CHUNK {
            self.done.push(std::mem::take(&mut self.open));
            self.cases = 0;
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Vec<u8>> {
        if self.cases > 0 {
            self.done.push(self.open);
        }
        self.done
    }
}

fn write_case(out: &mut Vec<u8>, m: &Measurement, record: &Record) {
    let samples: Vec<(RawSample, bool)> = m.raw.iter().collect();
    write_number(out, samples.len() as u64);
    if samples.is_empty() {
        return;
    }
    let has_cycles = samples.iter().all(|(s, _)| s.clock() > 0.0);
    let value = |s: &RawSample| {
        if has_cycles {
            s.cycles_per_op()
        } else {
            s.ticks_per_op() / record.host.clock.ticks_per_second * 1e9
        }
    };
    let values: Vec<f64> = samples.iter().map(|(s, _)| value(s)).collect();
    let positive = values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
    // Four bytes are seven digits, which is more than the grain.
    #[expect(clippy::cast_possible_truncation)]
    let least = positive.fold(f64::INFINITY, f64::min).min(f64::from(f32::MAX)) as f32;
    out.push(has_cycles.into());
    out.extend(least.to_le_bytes());
    samples.iter().for_each(|(s, _)| write_number(out, s.process.into()));
    out.extend(samples.iter().map(|(s, clean)| mark(s, *clean, quiet_rate(record, s.cpu))));
    values.iter().for_each(|v| write_number(out, steps(*v, least.into())));
}

/// What the throughput probe gives on that CPU's quiet core.
fn quiet_rate(record: &Record, cpu: u32) -> f64 {
    let quiet = record.noise.as_ref().and_then(|n| n.quiet.iter().find(|q| q.cpu == cpu));
    quiet.map(|q| q.rate).or(record.host.clock.quiet_probe).unwrap_or(0.0)
}

fn mark(s: &RawSample, clean: bool, quiet: f64) -> u8 {
    if clean {
        return 0;
    }
    let why = s.disturbance(quiet);
    let place = why.and_then(|why| Disturbance::ALL.iter().position(|w| *w == why));
    place.map_or(1, |place| u8::try_from(place + 2).expect("seven reasons"))
}

fn steps(value: f64, least: f64) -> u64 {
    let steps = ((value / least - 1.0) / STEP).round();
    // A conversion that saturates: below the least is 0, and past 32 bits is no sample.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let steps = steps as u64;
    steps.min(u32::MAX.into())
}

/// LEB128, unsigned.
fn write_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let byte = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 {
            return out.push(byte);
        }
        out.push(byte | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        let written = |n| {
            let mut out = Vec::new();
            write_number(&mut out, n);
            out
        };
        assert_eq!(written(0), [0]);
        assert_eq!(written(127), [127]);
        assert_eq!(written(300), [0xac, 2]);
    }

    #[test]
    fn a_value_is_kept_to_the_grain() {
        assert_eq!(steps(100.0, 100.0), 0);
        assert_eq!(steps(101.0, 100.0), 100);
        assert_eq!(steps(0.0, 100.0), 0);
        assert_eq!(steps(f64::INFINITY, 100.0), u64::from(u32::MAX));
    }

    #[test]
    fn a_sample_that_does_not_count_says_why() {
        let quiet = RawSample {
            clock_before: 1.0,
            clock_after: 1.0,
            probe_before: 6.0,
            probe_after: 6.0,
            ..RawSample::default()
        };
        assert_eq!(mark(&quiet, true, 6.0), 0);
        assert_eq!(mark(&quiet, false, 6.0), 1);
        assert_eq!(mark(&RawSample { migrated: true, ..quiet }, false, 6.0), 2);
        assert_eq!(mark(&RawSample { probe_after: 3.0, ..quiet }, false, 6.0), 7);
    }
}
