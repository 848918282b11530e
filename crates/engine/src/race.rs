//! Cases that compete: an answer names the best few of several sources, and what surely is not among them is
//! sampled no more. One process shows what takes twice as long; more of them show less, and their intervals the rest.

use crate::progress::{CaseProgress, End};
use base::analysis::{MIN_PROCESSES, median, summarise};
use base::model::{QuietRates, RawSample};
use std::collections::BTreeSet;

/// Sources that an answer names.
const BEST: usize = 3;

/// How many times as long a case may have seemed to take as it does, in one process and in fewer than make an interval:
/// another program on the core's other thread, a layout that others do not have.
const IN_ONE: f64 = 2.0;
const IN_SOME: f64 = 1.5;

/// Rows that compete: an answer names the best few stacks, and the others need no number.
#[derive(Clone, Debug, Default)]
pub struct TlsRace {
    /// Rows that one table compares, as places in the request. By the first the best three stacks are named, by
    /// each other the best one.
    pub groups: Vec<Vec<usize>>,
    /// When each group has its turn, where there is no time for all: the lowest first.
    pub turns: Vec<u32>,
    /// Stacks that are named whatever they take, as places among the stacks.
    pub wanted: BTreeSet<usize>,
    /// Where rows are summed up with weights: the stacks that rule out what is surely slower in every row.
    pub rulers: Option<BTreeSet<usize>>,
}

/// Which cases of which sources are compared.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    pub(crate) rows: TlsRace,
    /// Sources: row `r` of source `s` is case `r · sources + s`.
    pub(crate) sources: usize,
    /// Whether both ends count, not only the first.
    pub(crate) counts_both: bool,
}

/// Between which bounds a case's cost lies, as far as its samples say.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    low: f64,
    high: f64,
}

impl Race {
    pub(crate) fn out(&self, all: &[CaseProgress], quiet: &QuietRates) -> Vec<usize> {
        let bounds: Vec<Option<Bounds>> = all.iter().map(|one| self.bounds(one, quiet)).collect();
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        for group in &self.rows.groups {
            for source in (0..self.sources).filter(|source| self.is_in(group, *source, &bounds)) {
                needed.extend(group.iter().map(|row| row * self.sources + source));
            }
        }
        let raced: BTreeSet<usize> = self.rows.groups.iter().flatten().copied().collect();
        let is_raced = |case: usize| raced.contains(&(case / self.sources));
        let open = (0..all.len()).filter(|case| all[*case].end.is_none());
        open.filter(|case| is_raced(*case) && !needed.contains(case)).collect()
    }

    /// Whether a source may be among those that a group's answer names.
    fn is_in(&self, group: &[usize], source: usize, bounds: &[Option<Bounds>]) -> bool {
        if self.rows.wanted.contains(&source) {
            return true;
        }
        if let Some(rulers) = &self.rows.rulers {
            return !rulers.iter().any(|ruler| self.is_faster(*ruler, source, group, bounds));
        }
        group.iter().enumerate().any(|(place, row)| {
            let of = |source: usize| bounds[row * self.sources + source];
            let mut highest: Vec<f64> =
                (0..self.sources).filter_map(of).map(|bounds| bounds.high).collect();
            highest.sort_unstable_by(f64::total_cmp);
            let named = if place == 0 { BEST } else { 1 };
            match (of(source), highest.get(named - 1)) {
                (Some(own), Some(last)) => own.low <= *last,
                // It has shown nothing yet, or there are too few to rule any out.
                (None, _) => place == 0 && self.is_open(bounds, row, source),
                (Some(_), None) => true,
            }
        })
    }

    /// Whether a source is surely faster than another in every row that the other has, and has every one of them.
    fn is_faster(
        &self,
        ruler: usize,
        other: usize,
        group: &[usize],
        bounds: &[Option<Bounds>],
    ) -> bool {
        let at = |source: usize, row: &usize| bounds[row * self.sources + source];
        let mut others = group.iter().filter(|row| at(other, row).is_some()).peekable();
        others.peek().is_some()
            && others.all(|row| {
                let (one, other) = (at(ruler, row), at(other, row));
                one.zip(other).is_some_and(|(one, other)| one.high < other.low)
            })
    }

    /// Whether nothing at all is known of a row yet, so that this source may still be the first to show something.
    fn is_open(&self, bounds: &[Option<Bounds>], row: &usize, source: usize) -> bool {
        let others = (0..self.sources).filter(|other| *other != source);
        others.filter(|other| bounds[row * self.sources + other].is_some()).count() < BEST
    }

    fn bounds(&self, one: &CaseProgress, quiet: &QuietRates) -> Option<Bounds> {
        if matches!(one.end, Some(End::Found(_))) {
            return None;
        }
        let samples: Vec<RawSample> = one
            .ends
            .0
            .iter()
            .map(|both| {
                let own = both.server_sample();
                let other = if self.counts_both { both.other.ticks } else { 0 };
                RawSample { ticks: own.ticks + other, ..own }
            })
            .collect();
        if let Some(found) = summarise(&samples, quiet).filter(|s| s.processes >= MIN_PROCESSES) {
            let cost = found.ticks_per_op;
            return Some(Bounds { low: cost.low, high: cost.high });
        }
        let least = |samples: &[RawSample]| {
            samples.iter().map(RawSample::ticks_per_op).reduce(f64::min).unwrap_or(f64::INFINITY)
        };
        let mut processes: Vec<f64> =
            samples.chunk_by(|a, b| a.process == b.process).map(least).collect();
        let seemed = median(&mut processes)?;
        let most = if processes.len() == 1 { IN_ONE } else { IN_SOME };
        Some(Bounds { low: seemed / most, high: seemed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{Subject, Tls};
    use crate::protocol::Finding;
    use base::model::fixtures;
    use record::tls::{HandshakeSample, Operation, Primitive, Scheme, Subject as Row, Temperature};

    /// A case of a source that cost so much in each of so many processes.
    fn case(index: usize, cost: u64, processes: u32) -> CaseProgress {
        let primitive =
            Primitive { scheme: Scheme::X25519, operation: Operation::Agree, size: None };
        let subject = Row::Primitive(primitive);
        let tls = Tls { stack: 0, subject, temperature: Temperature::Hot, turn: None };
        let mut progress = CaseProgress::new(index, Subject::Tls(tls));
        for process in 0..processes {
            for ticks in [cost, cost + 1] {
                let server = RawSample { ops: 1, ..fixtures::sample(process, ticks, 1.0) };
                progress.take_ends(HandshakeSample { server, ..HandshakeSample::default() });
            }
        }
        progress
    }

    fn out(costs: &[&[u64]], processes: u32, wanted: &[usize]) -> Vec<usize> {
        let sources = costs[0].len();
        let rows = TlsRace {
            groups: vec![(0..costs.len()).collect()],
            wanted: wanted.iter().copied().collect(),
            ..TlsRace::default()
        };
        let race = Race { rows, sources, counts_both: false };
        let all: Vec<CaseProgress> = costs
            .concat()
            .iter()
            .enumerate()
            .map(|(index, cost)| case(index, *cost, processes))
            .collect();
        race.out(&all, &QuietRates::of_one(0, 5.0))
    }

    #[test]
    fn one_process_rules_out_what_takes_more_than_twice_as_long_as_the_third() {
        let costs: [&[u64]; 1] = [&[1000, 1100, 1200, 2300, 2500]];
        assert_eq!(out(&costs, 1, &[]), [4]);
        assert_eq!(out(&costs, 1, &[4]), [0; 0], "yours is measured whatever it takes");
        assert_eq!(out(&costs, 2, &[]), [3, 4]);
    }

    #[test]
    fn enough_processes_rule_out_what_is_surely_behind_the_third() {
        let costs: [&[u64]; 1] = [&[1000, 1100, 1200, 1230, 1250]];
        assert_eq!(out(&costs, 12, &[]), [3, 4]);
    }

    #[test]
    fn what_is_best_in_another_column_stays_with_all_of_its_row() {
        let costs: [&[u64]; 2] = [&[1000, 1100, 1200, 9000], &[500, 500, 500, 100]];
        assert_eq!(out(&costs, 12, &[]), [0; 0]);
        let costs: [&[u64]; 2] = [&[1000, 1100, 1200, 9000], &[500, 500, 500, 600]];
        assert_eq!(out(&costs, 12, &[]), [3, 7]);
    }

    #[test]
    fn what_is_slower_in_every_row_is_out_whatever_the_weights_and_only_who_may_rules_it_out() {
        let race = |rulers: &[usize]| {
            let rulers = Some(rulers.iter().copied().collect());
            let rows = TlsRace { groups: vec![vec![0, 1]], rulers, ..TlsRace::default() };
            Race { rows, sources: 3, counts_both: false }
        };
        let costs = [100, 200, 300, 300, 200, 400];
        let all: Vec<CaseProgress> =
            costs.iter().enumerate().map(|(i, cost)| case(i, *cost, 12)).collect();
        let quiet = QuietRates::of_one(0, 5.0);
        assert_eq!(race(&[0, 1]).out(&all, &quiet), [2, 5], "neither of the others is out");
        assert_eq!(race(&[2]).out(&all, &quiet), [0; 0]);
    }

    #[test]
    fn what_is_not_offered_rules_nothing_out() {
        let rows = TlsRace { groups: vec![vec![0]], ..TlsRace::default() };
        let race = Race { rows, sources: 4, counts_both: false };
        let mut all: Vec<CaseProgress> =
            [1000, 1, 1, 9000].iter().enumerate().map(|(i, cost)| case(i, *cost, 12)).collect();
        for not_offered in [1, 2] {
            all[not_offered].end = Some(End::Found(Finding::unsupported("no".to_owned())));
        }
        assert_eq!(race.out(&all, &QuietRates::of_one(0, 5.0)), [0; 0], "two make no three");
    }
}
