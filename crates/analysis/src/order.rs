//! Order statistics: medians and the distribution-free interval of a median.

/// Confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// The median; `None` of nothing. Sorts its argument.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(values[n / 2]),
        _ => Some(f64::midpoint(values[n / 2 - 1], values[n / 2])),
    }
}

/// The value below which the given fraction lies (nearest rank); `None` of nothing. Reorders its
/// argument.
pub fn quantile(values: &mut [f64], fraction: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let rank = (last as f64 * fraction.clamp(0.0, 1.0)).round() as usize;
    Some(*values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// Ranks (from 0) of the order statistics that enclose the true median with at least 95 %
/// confidence, whatever the distribution; `None` below six values, where even the smallest and
/// the largest do not.
///
/// The number of values below the median is binomial with p = 1/2: H. A. David, H. N. Nagaraja,
/// Order Statistics, 3rd ed., §7.1.
#[must_use]
pub fn median_interval(n: usize) -> Option<(usize, usize)> {
    // Terms of Binomial(n, 1/2), built from C(n, 0)/2^n on; 2^-n underflows past 1000 values,
    // where the normal approximation differs by less than a rank.
    if n > 1000 {
        let half_width = 0.98 * (n as f64).sqrt();
        let low = (n as f64 / 2.0 - half_width).floor() as usize;
        return Some((low, n - 1 - low));
    }
    let mut term = 0.5_f64.powi(n as i32);
    let mut tail = 0.0;
    let mut best = None;
    for rank in 0..n / 2 {
        tail += term;
        if 1.0 - 2.0 * tail < CONFIDENCE {
            break;
        }
        best = Some((rank, n - 1 - rank));
        term *= (n - rank) as f64 / (rank + 1) as f64;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let mut v: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut v, 0.95), Some(95.0));
        assert_eq!(quantile(&mut v, 0.0), Some(0.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    /// Table of David & Nagaraja §7.1 and any statistics text: n = 6 gives the extremes
    /// (96.9 %), n = 9 the second from each end (96.1 %), n = 20 the sixth (95.9 %).
    #[test]
    fn the_interval_has_the_published_ranks() {
        assert_eq!(median_interval(5), None);
        assert_eq!(median_interval(6), Some((0, 5)));
        assert_eq!(median_interval(8), Some((0, 7)));
        assert_eq!(median_interval(9), Some((1, 7)));
        assert_eq!(median_interval(20), Some((5, 14)));
        assert_eq!(median_interval(100), Some((39, 60)));
    }

    #[test]
    fn the_approximation_for_many_values_joins_the_exact_ranks() {
        let (exact, approximate) = (median_interval(1000).unwrap(), median_interval(1001).unwrap());
        assert!(exact.0.abs_diff(approximate.0) <= 1, "{exact:?} {approximate:?}");
    }
}
