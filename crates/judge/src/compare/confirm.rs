//! Verdicts of pairs of processes in the place of verdicts from a record's samples.

use crate::compare::comparison::Comparison;
use crate::compare::summary::{Tally, summaries};
use crate::compare::{Compared, Matching};
use base::analysis::{Ratio, Verdict};
use serde::Serialize;

/// What pairs of processes said of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByPairs {
    /// Their verdict; `undecided` leaves the case's own as it was.
    pub verdict: Verdict,
    /// The new cost over the base's by pairs; its interval is of the last look.
    pub ratio: Option<Ratio>,
    /// Pairs of processes.
    pub pairs: usize,
    /// Seconds that it took.
    pub seconds: f64,
    /// The verdict from the records' samples.
    pub verdict_before: Verdict,
    /// The ratio from the records' samples.
    pub ratio_before: Option<Ratio>,
}

impl ByPairs {
    /// Whether pairs decided the case.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.verdict != Verdict::Undecided
    }
}

/// What came of settling a comparison's candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Confirmation {
    /// Cases that were called faster or slower, or undecided with an estimate beyond the tolerance.
    pub candidates: usize,
    /// Of these, decided by pairs.
    pub settled: usize,
    /// Compared by pairs and undecided still.
    pub undecided: usize,
    /// Not compared by pairs, whatever the reason.
    pub left: usize,
    /// Why cases were left, each reason once, with how many cases.
    pub reasons: Vec<(String, usize)>,
    /// Seconds that were allowed.
    pub budget_seconds: f64,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Confirmation {
    /// Counts a case that is left.
    pub fn leave(&mut self, reason: &str) {
        self.left += 1;
        match self.reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => self.reasons.push((reason.to_owned(), 1)),
        }
    }
}

impl Comparison {
    /// Cases that pairs are worth it for, the one that matters most first: what would fail a gate before
    /// what would not, a large difference before a small one.
    #[must_use]
    pub fn candidates(&self) -> Vec<usize> {
        let mut found: Vec<(bool, bool, f64, usize)> = Vec::new();
        for (index, case) in self.cases.iter().enumerate().filter(|(_, c)| !c.identical) {
            let Some(ratio) = case.ratio else { continue };
            let size = ratio.estimate.ln();
            let decided = matches!(case.verdict, Verdict::Faster | Verdict::Slower);
            let suspicious =
                case.verdict == Verdict::Undecided && size.abs() > self.tolerance.ln_1p();
            if decided || suspicious {
                found.push((size < 0.0, !decided, -size.abs(), index));
            }
        }
        found.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        found.into_iter().map(|(.., index)| index).collect()
    }

    /// Puts what pairs said of a case beside its verdict, and in its place where they decided.
    pub fn settle(&mut self, index: usize, verdict: Verdict, told: Told) {
        let Some(case) = self.cases.get_mut(index) else { return };
        let by_pairs = ByPairs {
            verdict,
            ratio: told.ratio,
            pairs: told.pairs,
            seconds: told.seconds,
            verdict_before: case.verdict,
            ratio_before: case.ratio,
        };
        if by_pairs.is_settled() {
            case.verdict = verdict;
            case.ratio = told.ratio.or(case.ratio);
        }
        case.by_pairs = Some(by_pairs);
    }

    /// Sums up anew after cases were settled.
    pub fn sum_up(&mut self, matching: Matching, confirmation: Confirmation) {
        self.tally = Tally::of(&self.cases);
        (self.families, self.overall) = summaries(&self.cases, matching);
        self.confirmation = Some(confirmation);
    }
}

/// What a comparison by pairs measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The new cost over the base's.
    pub ratio: Option<Ratio>,
    /// Pairs of processes.
    pub pairs: usize,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Compared {
    /// Whether its verdict is that of pairs.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.by_pairs.as_ref().is_some_and(ByPairs::is_settled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample::{case, record};
    use crate::compare::{Settings, Side, compare};
    use record::Record;

    /// As many processes as it takes to be sure of one case among several.
    type Costs = [f64; 14];
    const STEADY: Costs = [
        1000.0, 1001.0, 1002.0, 999.0, 998.0, 1000.5, 1001.5, 999.5, 998.5, 1000.2, 1001.2, 999.2,
        1000.7, 999.7,
    ];
    const WIDE: Costs = [
        500.0, 2000.0, 800.0, 1700.0, 400.0, 2500.0, 600.0, 1900.0, 900.0, 1600.0, 450.0, 2400.0,
        1000.0, 1100.0,
    ];

    fn side(record: &Record) -> Side<'_> {
        Side { record, name: record.started.clone(), rows: record.measurements.iter().collect() }
    }

    /// Each algorithm with the factor by which it changed, and how its processes scatter.
    fn compared(cases: &[(&str, f64, Costs)]) -> Comparison {
        let of = |costs: &Costs, factor: f64| costs.map(|c| c * factor).to_vec();
        let base = cases.iter().map(|(a, _, costs)| case(a, 16, &of(costs, 1.0))).collect();
        let new = cases.iter().map(|(a, factor, costs)| case(a, 16, &of(costs, *factor))).collect();
        let (base, new) = (record("a", base), record("b", new));
        let settings = Settings {
            tolerance: 0.005,
            matching: Matching::ByName,
            apart: crate::compare::Apart::Nothing,
        };
        compare(&side(&base), &side(&new), &settings)
    }

    fn names(c: &Comparison) -> Vec<&str> {
        c.candidates().into_iter().map(|i| &*c.cases[i].case.algorithm).collect()
    }

    #[test]
    fn candidates_are_what_could_be_wrong_with_what_would_fail_a_gate_first() {
        let c = compared(&[
            ("aes-128-cbc", 1.1, STEADY),
            ("aes-128-ccm", 0.7, STEADY),
            ("aes-128-cfb", 1.3, STEADY),
            ("aes-128-ctr", 1.0001, STEADY),
            ("aes-128-gcm", 1.2, WIDE),
            ("aes-128-ofb", 1.001, WIDE),
            ("aes-128-xts", 0.8, WIDE),
        ]);
        let order = ["aes-128-cfb", "aes-128-cbc", "aes-128-gcm", "aes-128-ccm", "aes-128-xts"];
        assert_eq!(names(&c), order);
        let same = compared(&[("aes-128-cbc", 1.0, STEADY)]);
        assert!(same.cases[0].identical && same.candidates().is_empty());
    }

    #[test]
    fn a_settled_case_has_the_verdict_of_pairs_and_an_undecided_one_keeps_its_own() {
        let mut c = compared(&[("aes-128-cbc", 1.1, STEADY), ("aes-128-gcm", 1.2, STEADY)]);
        let before = c.cases[0].ratio;
        let by_pairs = Ratio { estimate: 1.0, low: 0.999, high: 1.001, level: 0.9995 };
        let told = Told { ratio: Some(by_pairs), pairs: 12, seconds: 1.0 };
        c.settle(0, Verdict::Same, told);
        c.settle(1, Verdict::Undecided, told);
        c.settle(7, Verdict::Faster, told);
        c.sum_up(Matching::ByName, Confirmation::default());
        let settled = &c.cases[0];
        assert!(settled.is_confirmed() && !c.cases[1].is_confirmed());
        assert_eq!((settled.verdict, settled.ratio), (Verdict::Same, Some(by_pairs)));
        let kept = settled.by_pairs.as_ref().unwrap();
        assert_eq!((kept.verdict_before, kept.ratio_before), (Verdict::Slower, before));
        assert_eq!(c.cases[1].verdict, Verdict::Slower);
        assert!((c.cases[1].ratio.unwrap().estimate - 1.2).abs() < 1e-9);
        assert_eq!((c.tally.same, c.tally.slower), (1, 1));
        assert_eq!((c.overall[0].tally.same, c.overall[0].tally.slower), (1, 1));
        let slower = "slower".parse::<crate::compare::Condition>().unwrap().find(&c).unwrap();
        assert_eq!(slower.what, "slower: 1 case");
    }

    #[test]
    fn reasons_for_cases_that_are_left_are_counted_each_once() {
        let mut confirmation = Confirmation::default();
        ["gone", "late", "gone"].iter().for_each(|reason| confirmation.leave(reason));
        assert_eq!(confirmation.left, 3);
        assert_eq!(confirmation.reasons, [("gone".to_owned(), 2), ("late".to_owned(), 1)]);
    }
}
