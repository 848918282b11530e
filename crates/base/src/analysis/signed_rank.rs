//! Wilcoxon's signed ranks: estimate and interval of the middle of a symmetric distribution.

use crate::analysis::order::median;

/// The Hodges-Lehmann estimate of the middle of differences, and both ends of the interval that belongs to the signed-rank test of `alpha`,
/// two-sided; `None` where so few differences cannot give one.
///
/// M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods, 3rd ed., §3.2 and §3.3.
/// Exact for differences that scatter symmetrically, whatever their distribution: no normality, no
/// variance that must exist. Ties make it conservative, because the interval's ends belong to it.
pub(crate) fn middle(differences: &[f64], alpha: f64) -> Option<[f64; 3]> {
    let rank = interval_rank(differences.len(), alpha)?;
    let mut averages = walsh_averages(differences);
    let estimate = median(&mut averages)?;
    Some([estimate, averages[rank - 1], averages[averages.len() - rank]])
}

/// The averages of all pairs, each value with itself among them.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let with_later = |(i, a): (usize, &f64)| {
        let a = *a;
        values[i..].iter().map(move |b| f64::midpoint(a, *b))
    };
    values.iter().enumerate().flat_map(with_later).collect()
}

/// The largest rank r for which the statistic is below r with a chance of at most `alpha` / 2: the
/// r-th smallest and r-th largest average are the interval's ends.
pub(crate) fn interval_rank(n: usize, alpha: f64) -> Option<usize> {
    let chances = null_distribution(n);
    let mut below = 0.0;
    let within = chances.iter().take_while(|chance| {
        below += **chance;
        below <= alpha / 2.0
    });
    let rank = within.count();
    (rank > 0).then_some(rank)
}

/// Chances of each value of the sum of the ranks of positive differences, when positive and
/// negative are as likely: each rank is in the sum or not.
fn null_distribution(n: usize) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = f64::midpoint(chances[sum], with);
        }
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_counts_subsets_of_ranks() {
        // Of the eight subsets of {1, 2, 3} two have the sum 3.
        let eighths: Vec<f64> = null_distribution(3).iter().map(|c| c * 8.0).collect();
        assert_eq!(eighths, [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    }

    /// Any table of the signed-rank test: 5 % two-sided rejects up to 8 of 10, up to 52 of 20; the
    /// interval's rank is one more.
    #[test]
    fn ranks_are_those_of_the_tables() {
        assert_eq!(interval_rank(10, 0.05), Some(9));
        assert_eq!(interval_rank(20, 0.05), Some(53));
        assert_eq!(interval_rank(5, 0.05), None, "1/32 on each side is more than 2.5 %");
        assert_eq!(interval_rank(12, 0.0005), Some(1), "2/4096 is less");
    }

    /// Example 3.1 of the book (Hamilton depression scale of nine patients): estimate -0.46, interval
    /// of 96 % from -0.786 to -0.010.
    #[test]
    #[allow(clippy::approx_constant, reason = "a patient's score, not pi")]
    fn the_books_example_comes_out() {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let d: Vec<f64> = before.iter().zip(after).map(|(x, y)| y - x).collect();
        let [estimate, low, high] = middle(&d, 0.04).unwrap();
        assert!((estimate + 0.46).abs() < 1e-9, "{estimate}");
        assert!((low + 0.786).abs() < 1e-9 && (high + 0.010).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn one_wild_value_moves_the_estimate_little() {
        let mut values: Vec<f64> = (0..15).map(|i| f64::from(i) / 100.0).collect();
        let quiet = middle(&values, 0.05).unwrap();
        values[14] = 1000.0;
        let wild = middle(&values, 0.05).unwrap();
        assert!((wild[0] - quiet[0]).abs() < 0.01, "{wild:?}");
        assert_eq!(middle(&[], 0.05), None);
    }
}
