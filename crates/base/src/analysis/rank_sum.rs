//! Wilcoxon's rank sums, as H. B. Mann and D. R. Whitney count them: do values of one group lie above those
//! of another? Exact for whatever distribution they have, if it is the same one.
//! M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods, 3rd ed., §4.1 to 4.3.

use statrs::distribution::{ContinuousCDF as _, Normal};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// Products of both numbers up to which chances are counted out; beyond, the normal distribution is as good.
const COUNTED: usize = 2500;

/// Chances of at most so many pairs, by the numbers of both groups.
type Tables = HashMap<(usize, usize), Arc<Vec<f64>>>;

/// In how many pairs the value of `above`, shifted down by `by`, is larger than that of `below`. A tie is half
/// a pair. Both are sorted.
pub(crate) fn pairs_above(above: &[f64], below: &[f64], by: f64) -> f64 {
    let (mut less, mut not_more) = (0, 0);
    let mut pairs = 0.0;
    for value in above {
        let value = value - by;
        while less < below.len() && below[less] < value {
            less += 1;
        }
        while not_more < below.len() && below[not_more] <= value {
            not_more += 1;
        }
        pairs += (less + not_more) as f64 / 2.0;
    }
    pairs
}

/// The chance of at least so many pairs where both groups have the same distribution.
pub(crate) fn chance_of_at_least(pairs: f64, n: usize, m: usize) -> f64 {
    // As many the other way round; half a pair goes to the safe side.
    chance_of_at_most((n * m) as f64 - pairs.floor(), n, m)
}

fn chance_of_at_most(pairs: f64, n: usize, m: usize) -> f64 {
    let all = n * m;
    if all <= COUNTED {
        let table = table(n, m);
        return table[(pairs.max(0.0).ceil() as usize).min(all)];
    }
    let mean = all as f64 / 2.0;
    let deviation = (all as f64 * (n + m + 1) as f64 / 12.0).sqrt();
    let normal = Normal::new(mean, deviation).expect("a positive deviation");
    normal.cdf(pairs + 0.5)
}

/// The largest number of pairs that with the chance `alpha` at most is not exceeded; `None` where not even
/// none is so rare.
pub(crate) fn rare_pairs(alpha: f64, n: usize, m: usize) -> Option<usize> {
    let rare = |pairs: usize| chance_of_at_most(pairs as f64, n, m) <= alpha;
    if !rare(0) {
        return None;
    }
    let (mut low, mut high) = (0, n * m);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if rare(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

fn table(n: usize, m: usize) -> Arc<Vec<f64>> {
    static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(Mutex::default);
    let key = (n.min(m), n.max(m));
    let mut tables = TABLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Arc::clone(tables.entry(key).or_insert_with(|| Arc::new(counted(key.0, key.1))))
}

/// The largest of all values is of either group; if it is of the first, it makes `m` pairs.
fn counted(n: usize, m: usize) -> Vec<f64> {
    // Chances of each number of pairs, of so many of the first group (rows) and of the second.
    let mut before: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut row: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let (first, second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            let mut chances = vec![0.0; i * j + 1];
            before[j].iter().enumerate().for_each(|(u, c)| chances[u + j] += first * c);
            row[j - 1].iter().enumerate().for_each(|(u, c)| chances[u] += second * c);
            row.push(chances);
        }
        before = row;
    }
    let mut sum = 0.0;
    let cumulate = |chance: &f64| {
        sum += chance;
        sum
    };
    before[m].iter().map(cumulate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hollander, Wolfe and Chicken, table A.6: of 5 and 5 at least 21 pairs with 0.048 on one side; all 144 of
    /// 12 and 12 are one of the 2,704,156 orders.
    #[test]
    fn chances_are_those_of_tables() {
        assert!((chance_of_at_least(21.0, 5, 5) - 0.0476).abs() < 1e-3);
        assert!((chance_of_at_least(144.0, 12, 12) * 2_704_156.0 - 1.0).abs() < 1e-6);
        assert!((chance_of_at_least(0.0, 4, 9) - 1.0).abs() < 1e-12);
        assert_eq!(rare_pairs(0.025, 3, 3), None, "twenty orders are too few");
        assert_eq!(rare_pairs(0.025, 5, 5), Some(2));
    }

    #[test]
    fn what_is_counted_and_the_normal_distribution_agree_where_one_follows_the_other() {
        let (n, m) = (50, 50);
        let mean = (n * m) as f64 / 2.0;
        let deviation = ((n * m * (n + m + 1)) as f64 / 12.0).sqrt();
        for by in [-2.0, -1.0, 0.0, 1.5] {
            let pairs = (mean + by * deviation).floor();
            let normal = Normal::new(mean, deviation).unwrap().cdf(pairs + 0.5);
            assert!((chance_of_at_most(pairs, n, m) - normal).abs() < 2e-3, "{by}");
        }
    }

    #[test]
    fn ties_are_half_pairs_and_a_shift_takes_pairs_away() {
        let (above, below) = ([2.0, 3.0, 5.0], [1.0, 2.0, 4.0]);
        assert_eq!(pairs_above(&above, &below, 0.0), 1.5 + 2.0 + 3.0);
        assert_eq!(pairs_above(&above, &below, 10.0), 0.0);
        assert_eq!(pairs_above(&above, &below, -10.0), 9.0);
    }
}
