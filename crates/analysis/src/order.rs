//! Order statistics: medians and quantiles.

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
}
