//! Percentiles of single operations.

use std::collections::BTreeMap;

/// How many operations took how many ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ticks(BTreeMap<u64, u64>);

impl Ticks {
    /// Adds operations of the same length.
    pub fn add(&mut self, ticks: u64, operations: u64) {
        *self.0.entry(ticks).or_insert(0) += operations;
    }

    /// All operations.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.0.values().sum()
    }

    /// The longest; `None` of none.
    #[must_use]
    pub fn longest(&self) -> Option<u64> {
        self.0.last_key_value().map(|(ticks, _)| *ticks)
    }

    /// The length that a fraction of the operations do not exceed, by nearest rank; `None` where the
    /// operations are too few for one to lie above it.
    #[must_use]
    pub fn percentile(&self, fraction: f64) -> Option<u64> {
        let all = self.operations();
        // A hair less: one minus a thousandth is not quite 0.999 in binary.
        let needed = (1.0 / (1.0 - fraction) - 1e-6).ceil() as u64;
        if all == 0 || all < needed {
            return None;
        }
        let rank = ((all as f64 * fraction - 1e-6).ceil() as u64).max(1);
        let mut seen = 0;
        self.0.iter().find_map(|(ticks, count)| {
            seen += count;
            (seen >= rank).then_some(*ticks)
        })
    }

    /// Each length with its count, ascending.
    #[must_use]
    pub fn into_pairs(self) -> Vec<(u64, u64)> {
        self.0.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_lengths_that_were_seen() {
        let mut ticks = Ticks::default();
        (1..=1000).for_each(|t| ticks.add(t, 1));
        assert_eq!(ticks.percentile(0.5), Some(500));
        assert_eq!(ticks.percentile(0.99), Some(990));
        assert_eq!((ticks.percentile(0.999), ticks.longest()), (Some(999), Some(1000)));
        ticks.add(26, 9000);
        assert_eq!(ticks.percentile(0.5), Some(26));
        assert_eq!(ticks.operations(), 10_000);
    }

    #[test]
    fn too_few_operations_have_no_tail() {
        let mut ticks = Ticks::default();
        assert_eq!(ticks.percentile(0.5), None);
        ticks.add(10, 99);
        assert_eq!((ticks.percentile(0.5), ticks.percentile(0.99)), (Some(10), None));
        ticks.add(20, 1);
        assert_eq!((ticks.percentile(0.99), ticks.percentile(0.999)), (Some(10), None));
        ticks.add(10, 900);
        assert_eq!(ticks.percentile(0.999), Some(10));
    }
}
