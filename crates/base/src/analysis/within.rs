//! The slope that several groups of points have in common.

/// How many of its standard errors a slope must lie from zero to be believed: what is corrected by a slope that is chance
/// scatters more than before.
const BELIEVED: f64 = 3.0;
/// Fewest degrees of freedom that a standard error is taken from.
const LEAST_FREEDOM: usize = 10;

/// By how much y changes for each unit of x within each group, where groups differ in their levels of y and share the
/// slope: the covariate's coefficient in an analysis of covariance (R. A. Fisher, *Statistical Methods for Research
/// Workers*, 4th edition 1932, section 49.1), from the sums of squares and products around each group's means. `None` where it
/// does not lie three standard errors from zero, or of too few points.
#[must_use]
pub fn common_slope(groups: &[Vec<(f64, f64)>]) -> Option<f64> {
    let mut centred: Vec<(f64, f64)> = Vec::new();
    let mut levels = 0;
    for group in groups.iter().filter(|group| group.len() > 1) {
        let mean =
            |of: fn(&(f64, f64)) -> f64| group.iter().map(of).sum::<f64>() / group.len() as f64;
        let (x_mean, y_mean) = (mean(|p| p.0), mean(|p| p.1));
        centred.extend(group.iter().map(|(x, y)| (x - x_mean, y - y_mean)));
        levels += 1;
    }
    let freedom = centred.len().checked_sub(levels + 1).filter(|n| *n >= LEAST_FREEDOM)?;
    let sum = |of: fn(&(f64, f64)) -> f64| centred.iter().map(of).sum::<f64>();
    let squares = sum(|(x, _)| x * x);
    let slope = sum(|(x, y)| x * y) / squares;
    let rest: f64 = centred.iter().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let error = (rest / freedom as f64 / squares).sqrt();
    (slope.is_finite() && slope.abs() > BELIEVED * error).then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::simulated::Random;

    /// Five groups of ten on levels of their own, with a slope and with scatter.
    fn groups(slope: f64, scatter: f64) -> Vec<Vec<(f64, f64)>> {
        let mut random = Random(1);
        let mut point = |level: f64| {
            let x = random.uniform();
            (x, level + slope * x + scatter * (random.uniform() - 0.5))
        };
        (0..5).map(|level| (0..10).map(|_| point(f64::from(level))).collect()).collect()
    }

    #[test]
    fn the_slope_is_found_whatever_the_groups_levels_are() {
        let slope = common_slope(&groups(-0.5, 0.1)).unwrap();
        assert!((slope + 0.5).abs() < 0.05, "{slope}");
        assert!((common_slope(&groups(-0.5, 0.0)).unwrap() + 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_slope_that_may_be_chance_is_none() {
        assert_eq!(common_slope(&groups(0.0, 1.0)), None);
        assert_eq!(common_slope(&groups(-0.5, 0.1)[..1]), None, "too few");
        assert_eq!(common_slope(&[vec![(1.0, 2.0); 50]]), None, "x never differs");
        assert_eq!(common_slope(&[]), None);
    }
}
