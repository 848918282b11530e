//! Costs as weighted sums of measured figures.
//!
//! A price is never a number alone: it is a sum of points with weights. So a figure that stands in two terms
//! counts once in the sum's interval, and what two configurations have in common cancels when they are compared.

use crate::load::calibration::Calibration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure with the range that it was seen in. The unit is in the name of the field that holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// From the medians over rounds.
    pub value: f64,
    /// The least of any round.
    pub low: f64,
    /// The most of any round.
    pub high: f64,
}

impl Interval {
    /// The same in another unit, or of another number of things.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let Self { value, low, high } = self;
        let (low, high) = if factor < 0.0 { (high, low) } else { (low, high) };
        Self { value: value * factor, low: low * factor, high: high * factor }
    }

    /// Whether zero lies within.
    #[must_use]
    pub fn holds_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// Σ weight · figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Form(BTreeMap<usize, f64>);

impl Form {
    pub(crate) fn of(figure: usize) -> Self {
        Self(BTreeMap::from([(figure, 1.0)]))
    }

    pub(crate) fn plus(&self, other: &Self, times: f64) -> Self {
        let mut sum = self.clone();
        for (figure, weight) in &other.0 {
            *sum.0.entry(*figure).or_default() += weight * times;
        }
        // What cancels must not widen the interval.
        sum.0.retain(|_, weight| weight.abs() > 1e-12);
        sum
    }

    pub(crate) fn times(&self, factor: f64) -> Self {
        Self::default().plus(self, factor)
    }
}

/// One measured figure in µs.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    seen: Interval,
    rounds: Vec<Option<f64>>,
}

/// All figures: the calibration's points by their index, then those of other documents.
#[derive(Clone, Debug)]
pub(crate) struct Figures(Vec<Figure>);

impl Figures {
    pub(crate) fn of(calibration: &Calibration) -> Self {
        let figure = |p: &crate::load::Point| {
            let rounds = || p.rounds_cpu_us.iter().flatten().copied();
            let value = p.median_us().unwrap_or(0.0);
            let low = rounds().fold(f64::INFINITY, f64::min);
            let high = rounds().fold(f64::NEG_INFINITY, f64::max);
            Figure { seen: Interval { value, low, high }, rounds: p.rounds_cpu_us.clone() }
        };
        Self(calibration.points.iter().map(figure).collect())
    }

    /// Adds a figure of another document.
    pub(crate) fn push(&mut self, us: Interval) -> Form {
        self.0.push(Figure { seen: us, rounds: Vec::new() });
        Form::of(self.0.len() - 1)
    }

    /// The sum, from medians; its range from the same sum in each round. Figures without rounds add the
    /// squares of their distances.
    pub(crate) fn eval(&self, form: &Form) -> Interval {
        let value: f64 = form.0.iter().map(|(f, w)| w * self.0[*f].seen.value).sum();
        let (in_rounds, alone): (Vec<_>, Vec<_>) =
            form.0.iter().partition(|(f, _)| !self.0[**f].rounds.is_empty());
        let (mut below, mut above) = self.in_rounds(&in_rounds);
        for (figure, weight) in &alone {
            let (down, up) = self.distances(**figure, **weight);
            (below, above) = (below.hypot(down), above.hypot(up));
        }
        Interval { value, low: value - below, high: value + above }
    }

    /// How far rounds lie below and above the medians' sum.
    fn in_rounds(&self, terms: &[(&usize, &f64)]) -> (f64, f64) {
        let centre: f64 = terms.iter().map(|(f, w)| *w * self.0[**f].seen.value).sum();
        let rounds = terms.iter().map(|(f, _)| self.0[**f].rounds.len()).max().unwrap_or(0);
        let of_round = |round: usize| -> Option<f64> {
            terms
                .iter()
                .map(|(f, w)| Some(*w * self.0[**f].rounds.get(round).copied().flatten()?))
                .sum()
        };
        let sums: Vec<f64> = (0..rounds).filter_map(of_round).collect();
        if sums.len() >= 2 {
            let low = sums.iter().copied().fold(centre, f64::min);
            let high = sums.iter().copied().fold(centre, f64::max);
            return (centre - low, high - centre);
        }
        // No two rounds that have all of them: as if they were independent.
        terms.iter().fold((0.0, 0.0), |(below, above), (f, w)| {
            let (down, up) = self.distances(**f, **w);
            (f64::hypot(below, down), f64::hypot(above, up))
        })
    }

    fn distances(&self, figure: usize, weight: f64) -> (f64, f64) {
        let Interval { value, low, high } = self.0[figure].seen;
        let (below, above) = ((value - low).max(0.0), (high - value).max(0.0));
        let (below, above) = if weight < 0.0 { (above, below) } else { (below, above) };
        (below * weight.abs(), above * weight.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        let figure = |rounds: [f64; 3]| Figure {
            seen: Interval { value: rounds[1], low: rounds[0], high: rounds[2] },
            rounds: rounds.map(Some).to_vec(),
        };
        Figures(vec![figure([10.0, 12.0, 15.0]), figure([100.0, 102.0, 105.0])])
    }

    #[test]
    fn what_drifts_together_cancels_in_a_difference() {
        let difference = Form::of(1).plus(&Form::of(0), -1.0);
        assert_eq!(figures().eval(&difference), Interval { value: 90.0, low: 90.0, high: 90.0 });
        let sum = figures().eval(&Form::of(1).plus(&Form::of(0), 1.0));
        assert_eq!(sum, Interval { value: 114.0, low: 110.0, high: 120.0 });
    }

    #[test]
    fn what_is_taken_away_again_leaves_nothing_behind() {
        let none = Form::of(0).plus(&Form::of(0), -1.0);
        assert_eq!(none, Form::default());
        assert_eq!(figures().eval(&none), Interval::default());
    }

    #[test]
    fn figures_of_other_documents_add_their_distances_squared() {
        let mut figures = figures();
        let a = figures.push(Interval { value: 10.0, low: 7.0, high: 14.0 });
        let b = figures.push(Interval { value: 20.0, low: 16.0, high: 23.0 });
        let sum = figures.eval(&a.plus(&b, 1.0));
        assert_eq!(sum, Interval { value: 30.0, low: 25.0, high: 35.0 });
        let difference = figures.eval(&a.plus(&b, -1.0));
        assert!((difference.low - (-10.0 - 18.0_f64.sqrt())).abs() < 1e-9, "{difference:?}");
    }
}
