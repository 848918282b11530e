//! Raw samples, one array a field: field names are written once, not once a sample.

use base::model::RawSample;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A case's raw samples, one array a field, in the order in which they were taken. All arrays
/// have the same length; entry `i` of each belongs to sample `i`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// Which worker process took it (counted within the library): one memory layout each.
    pub process: Vec<u32>,
    /// Which of the threads that measured at once took it (since 1.2); the samples of one visit stand
    /// one after the other. Absent where there is one thread only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thread: Vec<u32>,
    /// Operations in the timed batch.
    pub ops: Vec<u32>,
    /// Clock ticks of the batch, the clock's own overhead taken off.
    pub ticks: Vec<u64>,
    /// Core cycles per tick just before the batch, to 5 significant digits.
    pub clock_before: Vec<f64>,
    /// Core cycles per tick just after the batch, to 5 significant digits.
    pub clock_after: Vec<f64>,
    /// Independent instructions per core cycle just before the batch, to 4 significant digits.
    pub probe_before: Vec<f64>,
    /// Independent instructions per core cycle just after the batch, to 4 significant digits.
    pub probe_after: Vec<f64>,
    /// Context switches, wanted or not, from before the first probe to after the last.
    pub switches: Vec<u32>,
    /// Whether the thread ended on another CPU than it began on.
    pub migrated: Vec<bool>,
    /// Whether the sample counts; disturbed ones are kept and do not.
    pub clean: Vec<bool>,
    /// Of `switches`, those that the thread asked for by waiting; absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub voluntary: Vec<u32>,
    /// Page faults, from before the first probe to after the last; absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_faults: Vec<u32>,
    /// Of `page_faults`, those that waited for a disk; absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub major_faults: Vec<u32>,
    /// Whether the hypervisor took the CPU away during the block of samples; absent where it never
    /// did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stolen: Vec<bool>,
    /// The CPU that it was taken on; absent where that was CPU 0 for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu: Vec<u32>,
    /// Microseconds for which the process ran the case untimed before its first sample (since 1.6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled_us: Vec<u32>,
    /// Whether that was shorter than the case needs (since 1.6); absent where it never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<bool>,
    /// Microseconds for which the core was waited for to be quiet, since the sample before (since 1.6); absent where it
    /// never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_us: Vec<u32>,
}

/// The clock's readings scatter by some 0.1 %: digits past the fifth are noise.
const CLOCK_DIGITS: usize = 5;
/// The throughput probe is held against a threshold of 7 %: four digits are plenty.
const PROBE_DIGITS: usize = 4;

impl Samples {
    /// Adds one; readings are rounded to the digits that mean something. A reading that is no
    /// finite number is kept as 0, because JSON has no other number for it.
    pub fn push(&mut self, s: &RawSample, clean: bool) {
        self.process.push(s.process);
        self.ops.push(s.ops);
        self.ticks.push(s.ticks);
        self.clock_before.push(significant(s.clock_before, CLOCK_DIGITS));
        self.clock_after.push(significant(s.clock_after, CLOCK_DIGITS));
        self.probe_before.push(significant(s.probe_before, PROBE_DIGITS));
        self.probe_after.push(significant(s.probe_after, PROBE_DIGITS));
        self.switches.push(s.switches);
        self.migrated.push(s.migrated);
        self.clean.push(clean);
        let before = self.clean.len() - 1;
        push_rare(&mut self.thread, before, s.thread);
        push_rare(&mut self.voluntary, before, s.voluntary);
        push_rare(&mut self.page_faults, before, s.page_faults);
        push_rare(&mut self.major_faults, before, s.major_faults);
        push_rare(&mut self.stolen, before, s.stolen);
        push_rare(&mut self.cpu, before, s.cpu);
        push_rare(&mut self.settled_us, before, s.settled_us);
        push_rare(&mut self.unsettled, before, s.unsettled);
        push_rare(&mut self.waited_us, before, s.waited_us);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ticks.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ticks.is_empty()
    }

    /// Each sample with whether it counts, in the order in which they were taken.
    pub fn iter(&self) -> impl Iterator<Item = (RawSample, bool)> + '_ {
        (0..self.len()).map(|i| {
            let sample = RawSample {
                process: self.process[i],
                thread: rare(&self.thread, i),
                ops: self.ops[i],
                ticks: self.ticks[i],
                clock_before: self.clock_before[i],
                clock_after: self.clock_after[i],
                probe_before: self.probe_before[i],
                probe_after: self.probe_after[i],
                switches: self.switches[i],
                migrated: self.migrated[i],
                voluntary: rare(&self.voluntary, i),
                page_faults: rare(&self.page_faults, i),
                major_faults: rare(&self.major_faults, i),
                stolen: rare(&self.stolen, i),
                cpu: rare(&self.cpu, i),
                settled_us: rare(&self.settled_us, i),
                unsettled: rare(&self.unsettled, i),
                waited_us: rare(&self.waited_us, i),
            };
            (sample, self.clean[i])
        })
    }

    /// Whether every array has the same length.
    #[must_use]
    pub fn is_rectangular(&self) -> bool {
        let Self {
            process,
            thread,
            ops,
            ticks,
            clock_before,
            clock_after,
            probe_before,
            probe_after,
            switches,
            migrated,
            clean,
            voluntary,
            page_faults,
            major_faults,
            stolen,
            cpu,
            settled_us,
            unsettled,
            waited_us,
        } = self;
        macro_rules! lengths {
            ($($column:ident)*) => { [$($column.len()),*] };
        }
        let always = lengths!(process ops clock_before clock_after probe_before probe_after
            switches migrated clean);
        let rare = lengths!(thread voluntary page_faults major_faults stolen cpu settled_us unsettled
            waited_us);
        always.iter().all(|length| *length == ticks.len())
            && rare.iter().all(|length| *length == 0 || *length == ticks.len())
    }
}

/// Adds to a column that stays empty until the first value that says something: `before` values
/// that said nothing came earlier.
fn push_rare<T: Copy + Default + PartialEq>(column: &mut Vec<T>, before: usize, value: T) {
    if value != T::default() || !column.is_empty() {
        column.resize(before, T::default());
        column.push(value);
    }
}

fn rare<T: Copy + Default>(column: &[T], i: usize) -> T {
    column.get(i).copied().unwrap_or_default()
}

/// The value to so many significant digits, as the nearest number that is written with them.
fn significant(value: f64, digits: usize) -> f64 {
    if !value.is_finite() {
        return 0.0;
    }
    format!("{value:.*e}", digits - 1).parse().expect("a number that was just written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAMPLE: RawSample = RawSample {
        process: 2,
        thread: 0,
        ops: 10,
        ticks: 12_345,
        clock_before: 1.234_567_8,
        clock_after: 123_456.7,
        probe_before: 4.987_65,
        probe_after: 0.000_123_456,
        switches: 1,
        migrated: true,
        voluntary: 0,
        page_faults: 0,
        major_faults: 0,
        stolen: false,
        cpu: 0,
        settled_us: 0,
        unsettled: false,
        waited_us: 0,
    };

    #[test]
    fn columns_in_which_nothing_happened_are_left_out_and_come_back_as_nothing() {
        let mut samples = Samples::default();
        samples.push(&SAMPLE, true);
        assert!(!serde_json::to_string(&samples).unwrap().contains("stolen"));
        samples.push(&RawSample { stolen: true, page_faults: 2, ..SAMPLE }, false);
        samples.push(&SAMPLE, true);
        assert_eq!(samples.stolen, [false, true, false]);
        assert!(samples.is_rectangular());
        let faults: Vec<u32> = samples.iter().map(|(s, _)| s.page_faults).collect();
        assert_eq!(faults, [0, 2, 0]);
        samples.stolen.pop();
        assert!(!samples.is_rectangular());
    }

    #[test]
    fn readings_are_kept_to_the_digits_that_mean_something() {
        let mut samples = Samples::default();
        samples.push(&SAMPLE, true);
        assert_eq!(samples.clock_before, [1.2346]);
        assert_eq!(samples.clock_after, [123_460.0]);
        assert_eq!(samples.probe_before, [4.988]);
        assert_eq!(samples.probe_after, [0.000_123_5]);
        assert_eq!(serde_json::to_string(&samples.clock_before).unwrap(), "[1.2346]");
    }

    #[test]
    fn a_sample_comes_back_as_it_was_pushed() {
        let mut samples = Samples::default();
        let rounded = RawSample { clock_before: 1.5, clock_after: 1.25, ..SAMPLE };
        let rounded = RawSample { probe_before: 5.0, probe_after: 4.5, ..rounded };
        samples.push(&rounded, false);
        assert_eq!(samples.iter().collect::<Vec<_>>(), [(rounded, false)]);
    }

    #[test]
    fn a_reading_that_is_no_number_can_still_be_written_and_read() {
        let mut samples = Samples::default();
        samples.push(&RawSample { clock_before: f64::NAN, ..SAMPLE }, false);
        samples.push(&RawSample { probe_after: f64::INFINITY, ..SAMPLE }, false);
        let text = serde_json::to_string(&samples).unwrap();
        assert_eq!(serde_json::from_str::<Samples>(&text).unwrap(), samples);
    }

    #[test]
    fn arrays_of_different_length_are_noticed() {
        let mut samples = Samples::default();
        samples.push(&SAMPLE, true);
        assert!(samples.is_rectangular());
        samples.migrated.pop();
        assert!(!samples.is_rectangular());
    }

    proptest! {
        #[test]
        fn rounding_stays_within_half_a_unit_of_the_last_digit(value in 1e-6f64..1e9) {
            let rounded = significant(value, 5);
            prop_assert!((rounded / value - 1.0).abs() <= 0.5e-4);
        }
    }
}
