//! A share of samples, and how sure it is.

use serde::{Deserialize, Serialize};

/// What part of all samples are of a kind, with the interval of 95 % in which the part of the time lies (Wilson's score
/// interval). Samples are taken in equal steps of CPU time, which a program's own steps are independent of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SampledShare {
    /// Of the samples.
    pub fraction: f64,
    /// Of the time, at least.
    pub low: f64,
    /// Of the time, at most.
    pub high: f64,
}

impl SampledShare {
    /// Of `total` samples, `count` are of the kind. Without samples it may be anything.
    pub fn of(count: u64, total: u64) -> Self {
        /// Of the normal distribution, 97.5 %.
        const Z: f64 = 1.959_963_985;
        if total == 0 {
            return Self { fraction: 0.0, low: 0.0, high: 1.0 };
        }
        let n = total as f64;
        let fraction = count.min(total) as f64 / n;
        let width = 1.0 + Z * Z / n;
        let middle = (fraction + Z * Z / (2.0 * n)) / width;
        let half = Z / width * (fraction * (1.0 - fraction) / n + Z * Z / (4.0 * n * n)).sqrt();
        Self {
            fraction,
            low: if count == 0 { 0.0 } else { (middle - half).max(0.0) },
            high: if count >= total { 1.0 } else { (middle + half).min(1.0) },
        }
    }

    /// Half of the interval.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_the_share_in_95_of_100_draws_and_shrinks_with_the_root_of_samples() {
        // A generator of its own (xorshift): the draws are the same each time.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for share in [0.02, 0.3, 0.97] {
            let held = (0..2000).filter(|_| {
                let count = (0..500).filter(|_| draw() < share).count() as u64;
                let found = SampledShare::of(count, 500);
                (found.low..=found.high).contains(&share)
            });
            let held = held.count() as f64 / 2000.0;
            assert!((0.93..=0.98).contains(&held), "{share}: {held}");
        }
        let ratio = SampledShare::of(300, 1000).half_width()
            / SampledShare::of(30_000, 100_000).half_width();
        assert!((9.8..10.2).contains(&ratio), "{ratio}");
    }

    #[test]
    fn no_samples_tell_nothing_and_none_of_a_kind_is_not_surely_none_of_the_time() {
        assert_eq!(SampledShare::of(0, 0), SampledShare { fraction: 0.0, low: 0.0, high: 1.0 });
        let none = SampledShare::of(0, 100);
        assert_eq!((none.fraction, none.low), (0.0, 0.0));
        assert!((0.03..0.04).contains(&none.high), "{}", none.high);
        assert_eq!(SampledShare::of(100, 100).high, 1.0);
    }
}
