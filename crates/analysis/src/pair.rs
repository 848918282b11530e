//! Two cases held against each other: which one takes longer, at a stated chance of being wrong.

use crate::signed_rank::middle;

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
/// one sign, 2 / 2^12. That finds a difference of three times what pairs scatter by. Twenty-four
/// find one of the scatter itself.
pub const LOOKS: [Look; 3] = [
    Look { pairs: 12, alpha: 0.0005 },
    Look { pairs: 16, alpha: 0.0002 },
    Look { pairs: 24, alpha: 0.0003 },
];

/// What is said of the new case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
        match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Undecided => "undecided",
        }
    }
}

/// The new case's cost over the base's, with an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Above 1 where the new case takes longer.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Ratio {
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
    let m = middle(&logs, alpha)?;
    Some(Ratio { estimate: m.estimate.exp(), low: m.low.exp(), high: m.high.exp() })
}

#[cfg(test)]
#[path = "pair_tests.rs"]
mod tests;
