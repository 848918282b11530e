//! Order statistics: medians and quantiles.

use crate::analysis::estimate::CONFIDENCE;

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

/// Ranks from either end of so many values between which their distribution's median lies with the
/// confidence of every interval, whatever the distribution; `None` where not even the extremes do it (fewer
/// than six). H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., §7.1.
#[must_use]
pub fn median_rank(n: usize) -> Option<usize> {
    // The chance that fewer than `rank` of n values fall below the median, from either end.
    let (mut outside, mut ways, mut rank) = (0.0, 1.0, 0);
    let each = 0.5_f64.powi(i32::try_from(n).ok()?);
    loop {
        outside += 2.0 * ways * each;
        if outside > 1.0 - CONFIDENCE || 2 * rank >= n {
            return rank.checked_sub(1);
        }
        rank += 1;
        ways *= (n + 1 - rank) as f64 / rank as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_between_the_ranks_that_tables_give() {
        // From the ends, counted from 0: tables of the sign test count from 1 (n = 12: 3rd and 10th).
        let ranks = [5, 6, 8, 9, 11, 12, 15, 20, 25].map(median_rank);
        let found = [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(3), Some(5), Some(7)];
        assert_eq!(ranks, found);
    }

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
}
