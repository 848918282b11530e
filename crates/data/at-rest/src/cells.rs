//! Visits into figures.

use crate::format::{Cell, Keying, Medium, NsRange, Tails};
use analysis::{median, median_rank, quantile};
use model::{Direction, QUIET_PROBE_FRACTION};
use record::State;

/// Fewest undisturbed rounds that stand for themselves.
const FEWEST_CLEAN: usize = 3;

/// Which cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// Index of the library.
    pub library: usize,
    /// Index of the scheme.
    pub scheme: usize,
    /// Medium.
    pub medium: Medium,
    /// Way with keys.
    pub keying: Keying,
    /// Whether pages are decrypted.
    pub decrypts: bool,
    /// Threads at once.
    pub threads: u32,
}

/// One round of a cell.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// Number of the round.
    pub round: u32,
    /// Nanoseconds of the scheme's own work, page by page, of all threads.
    pub crypto_ns: Vec<u32>,
    /// Nanoseconds of reading or writing.
    pub io_ns: Vec<u32>,
    /// Whether another program ran in between.
    pub disturbed: bool,
    /// Independent instructions per core cycle around it.
    pub throughput: f64,
}

/// All of a cell.
#[derive(Clone, Debug, Default)]
pub struct CellSamples {
    /// Its rounds.
    pub visits: Vec<Visit>,
    /// What it failed with, if it did.
    pub finding: Option<(State, String)>,
}

/// The figures of a cell.
#[must_use]
pub fn cell(
    key: &CellKey,
    scheme: &str,
    page_size: usize,
    samples: &CellSamples,
    quiet_throughput: f64,
) -> Cell {
    let empty = Cell {
        library: key.library,
        scheme: scheme.to_owned(),
        medium: key.medium,
        keying: key.keying,
        direction: if key.decrypts { Direction::Decrypt } else { Direction::Encrypt },
        threads: key.threads,
        state: State::Measured,
        reason: None,
        rounds: 0,
        disturbed_rounds: 0,
        pages: 0,
        crypto_ns: None,
        crypto_tails: None,
        io_ns: None,
        io_tails: None,
        over_none_ns: None,
        pages_per_s: None,
        core_seconds_per_gib: None,
    };
    if let Some((state, why)) = &samples.finding {
        return Cell { state: *state, reason: Some(why.clone()), ..empty };
    }
    let counted = counted(&samples.visits, key.medium, quiet_throughput);
    if counted.is_empty() {
        let reason = Some("no round was over before the time was".to_owned());
        return Cell { state: State::Failed, reason, ..empty };
    }
    let disturbed =
        samples.visits.iter().filter(|v| is_disturbed(v, key.medium, quiet_throughput)).count();
    let crypto: Vec<f64> = pooled(&counted, |v| &v.crypto_ns);
    let io: Vec<f64> = pooled(&counted, |v| &v.io_ns);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (crypto_mean, io_mean) = (mean(&crypto), mean(&io));
    let threads = f64::from(key.threads);
    let pages_in_gib = (1_u64 << 30) as f64 / page_size as f64;
    Cell {
        rounds: counted.len() as u32,
        disturbed_rounds: disturbed as u32,
        pages: crypto.len() as u64,
        crypto_ns: range(&counted, |v| &v.crypto_ns),
        io_ns: range(&counted, |v| &v.io_ns),
        pages_per_s: Some(threads * 1e9 / (crypto_mean + io_mean).max(1.0)),
        core_seconds_per_gib: Some(crypto_mean * pages_in_gib / 1e9),
        crypto_tails: tails(crypto),
        io_tails: tails(io),
        ..empty
    }
}

/// Work that waits for a disk is interrupted by design: only work in memory is held to quiet.
fn is_disturbed(visit: &Visit, medium: Medium, quiet: f64) -> bool {
    let contended = visit.throughput > 0.0 && visit.throughput < QUIET_PROBE_FRACTION * quiet;
    !medium.has_io() && (visit.disturbed || contended)
}

/// The rounds that count: the undisturbed ones, or all where they are too few.
fn counted(visits: &[Visit], medium: Medium, quiet: f64) -> Vec<&Visit> {
    let full: Vec<&Visit> = visits.iter().filter(|v| !v.crypto_ns.is_empty()).collect();
    let clean: Vec<&Visit> =
        full.iter().copied().filter(|v| !is_disturbed(v, medium, quiet)).collect();
    if clean.len() >= FEWEST_CLEAN { clean } else { full }
}

fn pooled(visits: &[&Visit], of: impl Fn(&Visit) -> &Vec<u32>) -> Vec<f64> {
    visits.iter().flat_map(|v| of(v).iter().map(|ns| f64::from(*ns))).collect()
}

fn medians(visits: &[&Visit], of: impl Fn(&Visit) -> &Vec<u32>) -> Vec<f64> {
    let one = |v: &&Visit| {
        let mut values: Vec<f64> = of(v).iter().map(|ns| f64::from(*ns)).collect();
        median(&mut values)
    };
    visits.iter().filter_map(one).collect()
}

fn range(visits: &[&Visit], of: impl Fn(&Visit) -> &Vec<u32>) -> Option<NsRange> {
    ns_range(medians(visits, of))
}

fn ns_range(mut values: Vec<f64>) -> Option<NsRange> {
    let median = median(&mut values)?;
    values.sort_unstable_by(f64::total_cmp);
    let rank = median_rank(values.len());
    let (low, high) = rank.map(|rank| (values[rank], values[values.len() - 1 - rank])).unzip();
    Some(NsRange { median, low, high })
}

fn tails(mut values: Vec<f64>) -> Option<Tails> {
    Some(Tails {
        p50: quantile(&mut values, 0.5)?,
        p99: quantile(&mut values, 0.99)?,
        p999: quantile(&mut values, 0.999)?,
        max: quantile(&mut values, 1.0)?,
    })
}

/// Sets what each cell costs over `none`, round by round.
pub fn set_over_none(cells: &mut [Cell], samples: &[(CellKey, CellSamples)], none: usize) {
    for (cell, (key, own)) in cells.iter_mut().zip(samples) {
        if key.scheme == none || cell.state != State::Measured {
            continue;
        }
        let base = CellKey { scheme: none, keying: Keying::Reused, ..key.clone() };
        let Some((_, base)) = samples.iter().find(|(k, _)| *k == base) else { continue };
        let median_of = |v: &Visit| medians(&[v], |v| &v.crypto_ns).first().copied();
        let differences = own.visits.iter().filter_map(|v| {
            let beside = base.visits.iter().find(|b| b.round == v.round)?;
            Some(median_of(v)? - median_of(beside)?)
        });
        cell.over_none_ns = ns_range(differences.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scheme: usize) -> CellKey {
        CellKey {
            library: 0,
            scheme,
            medium: Medium::Sequential,
            keying: Keying::Reused,
            decrypts: false,
            threads: 1,
        }
    }

    fn visits(ns: &[u32]) -> CellSamples {
        let visit = |(round, ns): (usize, &u32)| Visit {
            round: round as u32,
            crypto_ns: vec![*ns, *ns, ns + 30],
            throughput: 5.0,
            ..Visit::default()
        };
        CellSamples { visits: ns.iter().enumerate().map(visit).collect(), finding: None }
    }

    #[test]
    fn figures_of_a_cell_come_from_its_rounds() {
        let c = cell(&key(1), "aes-256-gcm", 8192, &visits(&[1000; 6]), 5.0);
        let ns = c.crypto_ns.unwrap();
        assert_eq!((ns.median, ns.low, ns.high), (1000.0, Some(1000.0), Some(1000.0)));
        let ends = |ns: &[u32]| {
            let range = cell(&key(1), "x", 8192, &visits(ns), 5.0).crypto_ns.unwrap();
            range.low.zip(range.high)
        };
        assert_eq!(ends(&[5, 1, 4, 2, 3]), None);
        assert_eq!(ends(&[5, 1, 4, 2, 3, 6]), Some((1.0, 6.0)));
        assert_eq!(ends(&[9, 5, 1, 4, 2, 3, 6, 8, 7]), Some((2.0, 8.0)));
        assert_eq!((c.rounds, c.pages, c.disturbed_rounds), (6, 18, 0));
        assert!((c.pages_per_s.unwrap() - 1e9 / 1010.0).abs() < 1.0);
        assert!((c.core_seconds_per_gib.unwrap() - 1010.0 * 131_072.0 / 1e9).abs() < 1e-9);
        assert_eq!(c.crypto_tails.unwrap().max, 1030.0);
        assert!(c.io_ns.is_none());
    }

    #[test]
    fn disturbed_rounds_count_only_where_there_are_too_few_others() {
        let mut samples = visits(&[1000, 1000, 1000, 9000]);
        samples.visits[3].disturbed = true;
        let c = cell(&key(1), "x", 8192, &samples, 5.0);
        assert_eq!((c.rounds, c.disturbed_rounds), (3, 1));
        samples.visits[2].throughput = 3.0;
        let c = cell(&key(1), "x", 8192, &samples, 5.0);
        assert_eq!((c.rounds, c.disturbed_rounds), (4, 2));
    }

    #[test]
    fn the_cost_over_none_is_taken_round_by_round() {
        let samples = vec![(key(0), visits(&[100, 300])), (key(1), visits(&[1100, 1300]))];
        let mut cells: Vec<Cell> =
            samples.iter().map(|(k, s)| cell(k, "x", 8192, s, 5.0)).collect();
        set_over_none(&mut cells, &samples, 0);
        assert_eq!(cells[1].over_none_ns.unwrap().median, 1000.0);
        assert!(cells[0].over_none_ns.is_none());
    }

    #[test]
    fn a_cell_without_a_round_says_so() {
        let c = cell(&key(1), "x", 8192, &CellSamples::default(), 5.0);
        assert_eq!(c.state, State::Failed);
        let refused =
            CellSamples { finding: Some((State::Refused, "no".into())), ..CellSamples::default() };
        assert_eq!(cell(&key(1), "x", 8192, &refused, 5.0).reason.as_deref(), Some("no"));
    }
}
