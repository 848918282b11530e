//! Processes of a case that come in two kinds: two layouts of memory, two states of the predictors.

/// Processes of which two kinds can be told at the least, and those that each kind has at the least.
const LEAST: usize = 8;
const LEAST_OF_A_KIND: f64 = 0.2;
/// What parts two kinds (a fraction of the cost), and how many times as wide that is as either of them.
const APART: f64 = 0.02;
const TIMES: f64 = 2.0;

/// Processes that cost about the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfAKind {
    /// The median of their costs.
    pub cost: f64,
    /// How many there are.
    pub processes: usize,
}

/// The two kinds in which so many processes come by their costs, the cheaper one first; `None` where they are of one kind.
#[must_use]
pub fn two_kinds(costs: &[f64]) -> Option<[OfAKind; 2]> {
    let mut costs = costs.to_vec();
    costs.sort_unstable_by(f64::total_cmp);
    let least = ((costs.len() as f64 * LEAST_OF_A_KIND).ceil() as usize).max(2);
    if costs.len() < LEAST || costs[0] <= 0.0 {
        return None;
    }
    let gap = |at: &usize| costs[*at] / costs[at - 1] - 1.0;
    let at = (least..=costs.len() - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let (low, high) = costs.split_at(at);
    let is_apart = gap(&at) >= APART && gap(&at) >= TIMES * width(low).max(width(high));
    let kind = |own: &[f64]| OfAKind { cost: own[own.len() / 2], processes: own.len() };
    is_apart.then(|| [kind(low), kind(high)])
}

/// How far most of them lie apart, as a fraction: without the outermost tenth, of five and more at least one.
fn width(sorted: &[f64]) -> f64 {
    let out = (sorted.len() / 10).max(usize::from(sorted.len() > 4));
    let (first, last) = (out / 2, sorted.len() - 1 - out.div_ceil(2));
    sorted[last] / sorted[first] - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::simulated::Random;

    fn found(costs: &[f64]) -> Option<[(f64, usize); 2]> {
        two_kinds(costs).map(|kinds| kinds.map(|kind| (kind.cost, kind.processes)))
    }

    #[test]
    fn two_layouts_are_told_with_their_shares_and_an_outlier_is_no_kind() {
        let costs = [70.0, 95.1, 70.2, 69.9, 95.0, 70.1, 94.8, 70.0, 95.2, 70.3];
        assert_eq!(found(&costs), Some([(70.1, 6), (95.1, 4)]));
        let one = [70.0, 70.1, 70.2, 69.9, 70.0, 70.1, 70.3, 70.0, 70.2, 95.0];
        assert_eq!(found(&one), None);
        assert_eq!(found(&costs[..7]), None, "too few to tell");
        assert_eq!(found(&[0.0; 12]), None);
    }

    #[test]
    fn of_simulated_processes_two_kinds_are_found_and_one_is_hardly_ever_taken_for_two() {
        let mut random = Random(17);
        for n in [12, 24, 48] {
            let mut share = |apart: f64| {
                let mut case = |_: &usize| {
                    let kind = |r: &mut Random| if r.uniform() < 0.4 { 1.0 + apart } else { 1.0 };
                    let costs: Vec<f64> = (0..n)
                        .map(|_| kind(&mut random) * (1.0 + 0.01 * random.normal()))
                        .collect();
                    two_kinds(&costs).is_some()
                };
                (0..500).filter(|i| case(i)).count() as f64 / 500.0
            };
            assert!(share(0.3) > 0.85, "{n}: {}", share(0.3));
            assert!(share(0.0) < 0.01, "{n}: {}", share(0.0));
        }
    }
}
