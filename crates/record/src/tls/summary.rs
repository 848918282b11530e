//! Samples of a case into its figures.

use crate::tls::document::{Bytes, Cost, First, Memory};
use crate::tls::message::Facts;
use crate::tls::sample::HandshakeSample;
use crate::{Disturbances, Samples};
use base::analysis::{median, summarise, summarise_sparse};
use base::model::{QuietRates, RawSample};

/// A case's figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The server's cost.
    pub server: Cost,
    /// The client's cost.
    pub client: Cost,
    /// Clean samples.
    pub samples: u64,
    /// Handshakes or records in them.
    pub handshakes: u64,
    /// Processes that count.
    pub processes: u64,
    /// Whether these are enough for the interval to have its confidence.
    pub complete: bool,
    /// Samples that do not count.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came: the stack is at least so fast.
    pub contended: bool,
}

impl Measured {
    /// The worse of both ends' precisions.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.server.precision().max(self.client.precision())
    }
}

/// Sums up samples: those that nothing disturbed; where few are such, one and more from each of many
/// processes; where even these are too few, the contended ones too. `None` where no way gives a figure.
#[must_use]
pub fn measured(
    samples: &[HandshakeSample],
    quiet: &QuietRates,
    ticks_per_ns: f64,
) -> Option<Measured> {
    let sparse = || summed_up(samples, quiet, ticks_per_ns, summarise_sparse);
    let contended = || {
        let found = summed_up(samples, &QuietRates::default(), ticks_per_ns, summarise)?;
        Some(Measured { contended: true, ..found })
    };
    match summed_up(samples, quiet, ticks_per_ns, summarise) {
        Some(found) if found.complete => Some(found),
        found => sparse().or(found).or_else(contended),
    }
}

fn summed_up(
    samples: &[HandshakeSample],
    quiet: &QuietRates,
    ticks_per_ns: f64,
    summarise: fn(&[RawSample], &QuietRates) -> Option<base::analysis::Summary>,
) -> Option<Measured> {
    let servers: Vec<RawSample> = samples.iter().map(HandshakeSample::server_sample).collect();
    let clients: Vec<RawSample> = samples.iter().map(HandshakeSample::client_sample).collect();
    let is_clean =
        |s: &&HandshakeSample| s.server_sample().disturbance(quiet.of(s.server.cpu)).is_none();
    let clean: Vec<&HandshakeSample> = samples.iter().filter(is_clean).collect();
    let of_server = summarise(&servers, quiet)?;
    let of_client = summarise(&clients, quiet)?;
    let handshakes: u64 = clean.iter().map(|s| u64::from(s.server.ops)).sum();
    let cost = |summary: &base::analysis::Summary,
                ticks: &dyn Fn(&HandshakeSample) -> (u64, u64)| {
        let ns = |ticks: f64| ticks / ticks_per_ns;
        let sum = |part: &dyn Fn(&HandshakeSample) -> u64| {
            clean.iter().map(|s| part(s)).sum::<u64>() as f64 / handshakes as f64
        };
        let each = |s: &&HandshakeSample| ticks(s).0 as f64 / f64::from(s.server.ops.max(1));
        Cost {
            median_ns: ns(summary.ticks_per_op.median),
            low_ns: ns(summary.ticks_per_op.low),
            high_ns: ns(summary.ticks_per_op.high),
            mean_ns: ns(sum(&|s| ticks(s).0)),
            max_ns: ns(clean.iter().map(each).fold(0.0, f64::max)),
            setup_ns: ns(sum(&|s| ticks(s).1)),
            cycles: summary.cycles_per_op,
        }
    };
    let mut disturbed = Disturbances::default();
    of_server.disturbed.iter().for_each(|(why, n)| disturbed.add(*why, *n as u64));
    Some(Measured {
        server: cost(&of_server, &|s| (s.server.ticks, s.server_setup_ticks)),
        client: cost(&of_client, &|s| (s.client_ticks, s.client_setup_ticks)),
        samples: clean.len() as u64,
        handshakes,
        processes: of_server.processes as u64,
        complete: of_server.is_complete(),
        disturbed,
        contended: false,
    })
}

/// Every sample of both ends, with whether it counts for what was measured.
#[must_use]
pub fn both_ends(
    samples: &[HandshakeSample],
    quiet: &QuietRates,
    found: Option<&Measured>,
) -> [Samples; 2] {
    let none = QuietRates::default();
    let quiet = if found.is_some_and(|f| f.contended) { &none } else { quiet };
    let mut both = [Samples::default(), Samples::default()];
    for sample in samples {
        let ends = [sample.server_sample(), sample.client_sample()];
        let counts = ends[0].disturbance(quiet.of(ends[0].cpu)).is_none();
        both.iter_mut().zip(ends).for_each(|(end, sample)| end.push(&sample, counts));
    }
    both
}

impl First {
    /// The median over processes; `None` of none.
    #[must_use]
    pub fn of(facts: &[Facts], ticks_per_ns: f64) -> Option<Self> {
        let middle = |ticks: &dyn Fn(&Facts) -> u64| {
            let mut all: Vec<f64> = facts.iter().map(|f| ticks(f) as f64 / ticks_per_ns).collect();
            median(&mut all)
        };
        Some(Self {
            server_ns: middle(&|f| f.first_server_ticks)?,
            client_ns: middle(&|f| f.first_client_ticks)?,
        })
    }
}

impl Bytes {
    /// The most that a process saw: an ECDSA signature is a byte or two shorter now and then.
    #[must_use]
    pub fn of(facts: &[Facts]) -> Option<Self> {
        let client = facts.iter().map(|f| f.client_bytes).max()?;
        let server = facts.iter().map(|f| f.server_bytes).max()?;
        Some(Self { client, server })
    }
}

impl Memory {
    /// The median over processes.
    #[must_use]
    pub fn of(facts: &[Facts]) -> Option<Self> {
        let middle = |bytes: &dyn Fn(&Facts) -> Option<i64>| {
            let mut all: Vec<f64> = facts.iter().filter_map(bytes).map(|b| b as f64).collect();
            median(&mut all).map(|b| b.round() as i64)
        };
        let memory =
            Self { server: middle(&|f| f.server_memory), client: middle(&|f| f.client_memory) };
        (memory.server.is_some() || memory.client.is_some()).then_some(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(process: u32, server: u64, client: u64) -> HandshakeSample {
        let raw = RawSample {
            process,
            ops: 2,
            ticks: server,
            clock_before: 1.0,
            clock_after: 1.0,
            probe_before: 5.0,
            probe_after: 5.0,
            ..RawSample::default()
        };
        HandshakeSample {
            server: raw,
            client_ticks: client,
            server_setup_ticks: 20,
            client_setup_ticks: 10,
        }
    }

    #[test]
    fn ends_are_told_apart_and_the_mean_is_over_all_handshakes() {
        let mut samples: Vec<_> = (0..6).flat_map(|p| vec![sample(p, 2000, 1000); 5]).collect();
        samples.push(sample(0, 8000, 1000));
        let found = measured(&samples, &QuietRates::of_one(0, 5.0), 2.0).unwrap();
        assert!(found.complete);
        assert!((found.server.median_ns - 500.0).abs() < 1e-9);
        assert!((found.client.median_ns - 250.0).abs() < 1e-9);
        // 30 samples of 500 ns and one of 2000.
        assert!((found.server.mean_ns - (30.0 * 500.0 + 2000.0) / 31.0).abs() < 1e-9);
        assert!((found.server.max_ns - 2000.0).abs() < 1e-9);
        assert!((found.server.setup_ns - 5.0).abs() < 1e-9);
        assert_eq!((found.samples, found.handshakes, found.processes), (31, 62, 6));
    }

    #[test]
    fn where_quiet_samples_are_too_few_the_contended_ones_count_and_it_is_said() {
        let mut samples: Vec<_> = (0..6).flat_map(|p| vec![sample(p, 2000, 1000); 5]).collect();
        samples.iter_mut().for_each(|s| s.server.probe_after = 1.0);
        let found = measured(&samples, &QuietRates::of_one(0, 5.0), 2.0).unwrap();
        assert!(found.contended && found.samples == 30, "{found:?}");
        samples.iter_mut().for_each(|s| s.server.probe_after = 5.0);
        assert!(!measured(&samples, &QuietRates::of_one(0, 5.0), 2.0).unwrap().contended);
    }

    #[test]
    fn disturbed_samples_count_for_neither_end() {
        let mut samples: Vec<_> = (0..6).flat_map(|p| vec![sample(p, 2000, 1000); 5]).collect();
        let mut busy = sample(0, 90_000, 90_000);
        busy.server.probe_after = 1.0;
        samples.push(busy);
        let found = measured(&samples, &QuietRates::of_one(0, 5.0), 2.0).unwrap();
        assert!((found.server.mean_ns - 500.0).abs() < 1e-9);
        assert_eq!((found.samples, found.disturbed.contended), (30, 1));
    }
}
