//! Two cases held against each other: which one takes longer, at a stated chance of being wrong.

use crate::analysis::signed_rank::middle;
use serde::Serialize;

/// The chance that two cases of the same speed are called faster or slower, over all looks.
pub const FALSE_VERDICTS: f64 = 0.001;

/// One look at the pairs so far, with the part of [`FALSE_VERDICTS`] that it may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Pairs of processes that there must be.
    pub pairs: usize,
    /// The chance of a false verdict that this look spends.
    pub alpha: f64,
}

/// When a comparison may end. Each look more is a chance more to be wrong by luck, so each has a
/// part of the whole chance (alpha spending: K. K. G. Lan, D. L. DeMets, Biometrika 70, 1983), and
/// the parts add up to it (Bonferroni: they do so whatever one look has to do with the next).
///
/// Twelve pairs are the fewest for which signed ranks can be as sure as one in two thousand: all of
/// one sign, 2 / 2^12. That finds a difference of three times what pairs scatter by, and takes half of
/// the chance: most comparisons end there. Twenty-four find one of the scatter itself, the last look one
/// of a third of it. Each has about half as many pairs more than the one before.
pub const LOOKS: [Look; 8] = [
    Look { pairs: 12, alpha: 0.0005 },
    Look { pairs: 16, alpha: 0.000_14 },
    Look { pairs: 24, alpha: 0.000_12 },
    Look { pairs: 36, alpha: 0.000_08 },
    Look { pairs: 56, alpha: 0.000_05 },
    Look { pairs: 84, alpha: 0.000_04 },
    Look { pairs: 128, alpha: 0.000_04 },
    Look { pairs: 192, alpha: 0.000_03 },
];

/// The look for a comparison whose time is over between two looks: at all pairs that it has, with all
/// of the chance that was not spent. `None` where there are no pairs but those of the look before.
///
/// When the time is over hangs on how long pairs take, not on which of a pair is slower, so this is a
/// look like any other, and the parts add up as before.
#[must_use]
pub fn last_look(pairs: usize) -> Option<Look> {
    let before = LOOKS.iter().take_while(|look| look.pairs <= pairs);
    let (count, spent) = before.clone().fold((0, 0.0), |(_, sum), l| (l.pairs, sum + l.alpha));
    let left = FALSE_VERDICTS - spent;
    (count > 0 && count < pairs && count < LOOKS[LOOKS.len() - 1].pairs)
        .then_some(Look { pairs, alpha: left })
}

/// What is said of the new case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// The difference is surely within the margin.
    Same,
    /// It takes less time, beyond the margin.
    Faster,
    /// It takes more time, beyond the margin.
    Slower,
    /// None of these can be said.
    Undecided,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The new case's cost over the base's, with an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Above 1 where the new case takes longer.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The chance that the interval holds the true ratio: 0.95.
    pub level: f64,
}

impl Ratio {
    /// Of what does not scatter.
    #[must_use]
    pub fn exact(ratio: f64) -> Self {
        Self { estimate: ratio, low: ratio, high: ratio, level: 1.0 }
    }

    /// What it says, where differences up to `margin` (a fraction) do not matter.
    ///
    /// `Faster` and `Slower` need an interval without 1 in it, so that is where the chance of a
    /// false verdict lies, and an estimate beyond the margin. `Same` needs the whole interval within
    /// the margin: two one-sided tests (D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987).
    #[must_use]
    pub fn verdict(&self, margin: f64) -> Verdict {
        let (least, most) = (1.0 / (1.0 + margin), 1.0 + margin);
        if self.low >= least && self.high <= most {
            Verdict::Same
        } else if self.low > 1.0 && self.estimate > most {
            Verdict::Slower
        } else if self.high < 1.0 && self.estimate < least {
            Verdict::Faster
        } else {
            Verdict::Undecided
        }
    }
}

/// The ratio over pairs `(base, new)` of costs, each of one process of either case that were sampled
/// in turn; `alpha` is the chance that the interval misses the true one. `None` where there are too
/// few pairs for that, or a cost that is no positive number.
///
/// Between two processes of the same build only luck decides which one is slower, so the logarithms
/// of their ratios scatter symmetrically, whatever layouts do to a single one's speed. That is all
/// that the signed ranks ask for.
#[must_use]
pub fn ratio_of_pairs(pairs: &[(f64, f64)], alpha: f64) -> Option<Ratio> {
    let logs: Vec<f64> = pairs.iter().map(|(base, new)| (new / base).ln()).collect();
    if logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let [estimate, low, high] = middle(&logs, alpha)?.map(f64::exp);
    Some(Ratio { estimate, low, high, level: 1.0 - alpha })
}

#[cfg(test)]
#[path = "pair_tests.rs"]
mod tests;
