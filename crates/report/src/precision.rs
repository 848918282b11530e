//! What a busy machine and a short run did to the numbers, and what would help.

use crate::digits::percent;
use crate::survey::is_rough;
use record::{Measurement, Record, State, Stopped};

/// From this share of clean samples on a quieter machine hardly helps.
const QUIET: f64 = 0.9;

/// From this share of the time on waiting is worth a word.
const WAITED: f64 = 0.05;

/// A run so many times as long has intervals that are narrower by enough to see.
const LONGER: f64 = 4.0;

/// How many numbers are short of the precision that was asked for, by how much, and what would help. None where no
/// precision was asked for, or nothing was measured.
pub(crate) fn line(record: &Record, selection: &[&Measurement]) -> Option<String> {
    let asked = record.plan.precision;
    let measured: Vec<&Measurement> = selection
        .iter()
        .copied()
        .filter(|m| m.state == State::Measured && m.mb_per_s.is_some())
        .collect();
    if asked <= 0.0 || measured.is_empty() {
        return None;
    }
    let all = measured.len();
    let rough: Vec<&Measurement> = measured.into_iter().filter(|m| is_rough(m)).collect();
    let shown = percent(asked);
    let shown = shown.trim_end_matches(".0");
    if rough.is_empty() {
        return Some(format!("all {all} numbers reached ±{shown} %"));
    }
    let is_narrow = |m: &&Measurement| m.precision.is_some_and(|precision| precision <= asked);
    let (few, wide): (Vec<&Measurement>, Vec<&Measurement>) =
        rough.iter().partition(|m| is_narrow(m));
    let mut parts = Vec::new();
    if !wide.is_empty() {
        let known = median(&wide).map(|m| format!(": half of them are known to ±{m} %"));
        let known = known.unwrap_or_default();
        parts.push(format!("{} of {all} numbers did not reach ±{shown} %{known}", wide.len()));
    }
    if let Some((least, most)) = processes(&few) {
        let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let few = few.len();
        parts.push(format!("{few} of {all} are within ±{shown} %, but by {range} processes only"));
    }
    let quiet = record.noise.as_ref().filter(|n| n.samples > 0);
    let quiet = quiet.map(|n| n.clean as f64 / n.samples as f64).filter(|share| *share < QUIET);
    parts.extend(quiet.map(|share| {
        let waited = waited(record).unwrap_or_default();
        format!("only {} % of samples were taken while the core was quiet{waited}", percent(share))
    }));
    Some(parts.join("; ") + ". " + &help(record, &rough, quiet.is_some()))
}

/// How much of the time went by until the core was quiet.
fn waited(record: &Record) -> Option<String> {
    let noise = record.noise.as_ref()?;
    let measured = record.measuring_seconds * noise.quiet.len().max(1) as f64;
    let share = noise.waited_seconds / measured.max(f64::MIN_POSITIVE);
    (share >= WAITED)
        .then(|| format!(", and waiting for that took {} % of the time", percent(share)))
}

/// The fewest and the most processes that these come from.
fn processes(of: &[&Measurement]) -> Option<(u32, u32)> {
    let counts = || of.iter().map(|m| m.processes);
    counts().min().zip(counts().max())
}

fn median(rough: &[&Measurement]) -> Option<String> {
    let mut known: Vec<f64> = rough.iter().filter_map(|m| m.precision).collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len().saturating_sub(1) / 2).map(|middle| percent(*middle))
}

fn help(record: &Record, rough: &[&Measurement], is_noisy: bool) -> String {
    let scattered = rough.iter().filter(|m| m.stopped == Some(Stopped::Scatter)).count();
    if scattered == rough.len() {
        return "Their processes differ by more, so a longer run does not help.".to_owned();
    }
    let seconds = LONGER * record.plan.budget_seconds.max(record.measuring_seconds);
    let step = if seconds < 60.0 { 10.0 } else { 60.0 };
    let quieter = if is_noisy { " or a quieter machine" } else { "" };
    format!("A longer run (--budget {:.0}s){quieter} helps.", (seconds / step).ceil() * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use record::Noise;

    /// Four cases, of which two are within 1 %.
    fn record(stopped: Stopped, clean: u64) -> Record {
        let mut record = sample::record();
        record.plan.precision = 0.01;
        record.plan.budget_seconds = 25.0;
        record.measuring_seconds = 24.0;
        record.noise = Some(Noise { samples: 100, clean, ..Noise::default() });
        record.measurements.retain(|m| m.state == State::Measured);
        record.measurements.truncate(4);
        for (m, precision) in record.measurements.iter_mut().zip([0.008, 0.009, 0.024, 0.031]) {
            m.reason = None;
            m.precision = Some(precision);
            m.stopped = Some(if precision < 0.01 { Stopped::Precision } else { stopped });
        }
        record
    }

    fn said(record: &Record) -> Option<String> {
        line(record, &record.measurements.iter().collect::<Vec<_>>())
    }

    #[test]
    fn numbers_short_of_the_precision_are_counted_with_what_they_have_and_what_would_help() {
        assert_eq!(
            said(&record(Stopped::Budget, 38)).unwrap(),
            "2 of 4 numbers did not reach ±1 %: half of them are known to ±2.4 %; only 38 % of samples were taken \
             while the core was quiet. A longer run (--budget 120s) or a quieter machine helps."
        );
        let mut waited = record(Stopped::Budget, 38);
        waited.noise.as_mut().unwrap().waited_seconds = 6.0;
        let waited = said(&waited).unwrap();
        assert!(
            waited.contains("the core was quiet, and waiting for that took 25 % of the time. "),
            "{waited}"
        );
        let quiet = said(&record(Stopped::Budget, 97)).unwrap();
        assert!(quiet.ends_with("±2.4 %. A longer run (--budget 120s) helps."), "{quiet}");
        let scattered = said(&record(Stopped::Scatter, 97)).unwrap();
        assert!(scattered.ends_with("so a longer run does not help."), "{scattered}");
        assert_eq!(said(&record(Stopped::Precision, 38)).unwrap(), "all 4 numbers reached ±1 %");
        let mut few = record(Stopped::Budget, 97);
        few.measurements
            .iter_mut()
            .zip(2..)
            .for_each(|(m, n)| (m.precision, m.processes) = (Some(0.004), n));
        let few = said(&few).unwrap();
        assert!(
            few.starts_with("2 of 4 are within ±1 %, but by 4 to 5 processes only. A"),
            "{few}"
        );
        let mut nothing_asked = record(Stopped::Budget, 38);
        nothing_asked.plan.precision = 0.0;
        assert_eq!(said(&nothing_asked), None);
    }
}
