//! How disturbed a run was, for its record.

use crate::schedule::Sampled;
use base::model::RawSample;
use record::{Disturbances, Noise, QuietCpu};

/// Counts every sample of the run by what the final quiet rates say of it.
pub(crate) fn noise(sampled: &Sampled<'_>) -> Noise {
    let samples = sampled.all_progress.iter().flat_map(|t| &t.samples);
    let quiet = sampled.quiet.iter().filter(|(_, rate)| *rate > 0.0);
    let mut noise = Noise {
        quiet: quiet.map(|(cpu, rate)| QuietCpu { cpu, rate }).collect(),
        stolen_seconds: sampled.stolen_seconds,
        shield: if sampled.cores_alone && samples.clone().next().is_some() {
            "core-scheduling"
        } else {
            "none"
        }
        .to_owned(),
        ..Noise::default()
    };
    for sample in samples {
        noise.waited_seconds += f64::from(sample.waited_us) / 1e6;
        count(&mut noise, sample, sampled.quiet.of(sample.cpu));
    }
    noise
}

fn count(noise: &mut Noise, sample: &RawSample, quiet: f64) {
    noise.samples += 1;
    match sample.disturbance(quiet) {
        None => noise.clean += 1,
        Some(why) => noise.disturbed.add(why, 1),
    }
}

/// Samples by the reason for which they do not count.
pub(crate) fn disturbances<'a>(
    samples: impl Iterator<Item = &'a RawSample>,
    quiet: &base::model::QuietRates,
) -> Disturbances {
    let mut noise = Noise::default();
    samples.for_each(|s| count(&mut noise, s, quiet.of(s.cpu)));
    noise.disturbed
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::QuietRates;

    #[test]
    fn each_sample_is_counted_once() {
        let clean = RawSample {
            clock_before: 1.0,
            clock_after: 1.0,
            probe_before: 6.0,
            probe_after: 6.0,
            cpu: 1,
            ..RawSample::default()
        };
        let busy = RawSample { probe_after: 4.0, ..clean };
        let both = RawSample { switches: 1, ..busy };
        let quiet = QuietRates::of_one(1, 6.0);
        let counts = disturbances([clean, busy, both].iter(), &quiet);
        assert_eq!((counts.contended, counts.switched, counts.total()), (1, 1, 2));
    }
}
