//! The line time = a + b·size through the times of several sizes.

/// A fitted line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Time of a message of no bytes.
    pub intercept: f64,
    /// Time of each further byte.
    pub slope: f64,
    /// Largest distance of a point from the line, as a fraction of the point.
    pub residual: f64,
}

/// Fewest different sizes that a line is fitted to: it goes through any two.
pub const MIN_SIZES: usize = 3;

/// Largest residual at which points lie on a line. Small messages are often served by other code
/// than large ones, so that times bend by some per cent; where they are off by more, the line's two
/// numbers describe no size well.
const LINEAR: f64 = 0.1;

impl Line {
    /// Whether the points lie on the line.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        self.residual <= LINEAR
    }

    /// The size at which half of the peak speed is reached: as much time goes into the message as
    /// into its bytes. `None` where the line has no such size.
    #[must_use]
    pub fn half_speed(&self) -> Option<f64> {
        (self.intercept > 0.0 && self.slope > 0.0).then(|| self.intercept / self.slope)
    }
}

/// The line through (size, time) that has the least sum of squared *relative* distances; `None` of
/// fewer than [`MIN_SIZES`] different sizes or of a time that is not above zero.
///
/// Relative, because times of 16 bytes and of 64 KiB are known to the same per cent and not to the
/// same nanosecond: plain least squares would fit the largest size alone and leave the intercept to
/// its error. C. Tofallis, "Least Squares Percentage Regression", Journal of Modern Applied
/// Statistical Methods 7 (2009) 526-534: least squares weighted by one over the time squared.
#[must_use]
pub fn fit_line(points: &[(f64, f64)]) -> Option<Line> {
    let mut sizes: Vec<f64> = points.iter().map(|(size, _)| *size).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    sizes.dedup();
    let usable = points.iter().all(|(_, time)| *time > 0.0 && time.is_finite());
    if sizes.len() < MIN_SIZES || !usable {
        return None;
    }
    let weighted = |value: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|(x, t)| value(*x, *t) / (t * t)).sum::<f64>()
    };
    let weight = weighted(&|_, _| 1.0);
    // Centred: the sums of squares of sizes would lose the small ones' digits.
    let (x_mean, t_mean) = (weighted(&|x, _| x) / weight, weighted(&|_, t| t) / weight);
    let slope = weighted(&|x, t| (x - x_mean) * (t - t_mean))
        / weighted(&|x, _| (x - x_mean) * (x - x_mean));
    let intercept = t_mean - slope * x_mean;
    let distance = |(x, t): &(f64, f64)| ((intercept + slope * x) / t - 1.0).abs();
    let residual = points.iter().map(distance).fold(0.0, f64::max);
    Some(Line { intercept, slope, residual })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(intercept: f64, slope: f64) -> Vec<(f64, f64)> {
        (4..=16).map(|n| f64::from(1 << n)).map(|x| (x, intercept + slope * x)).collect()
    }

    #[test]
    fn a_known_line_is_found() {
        let line = fit_line(&on(50.0, 0.125)).unwrap();
        assert!((line.intercept - 50.0).abs() < 1e-9 && (line.slope - 0.125).abs() < 1e-12);
        assert!(line.residual < 1e-12 && line.is_linear());
        assert!((line.half_speed().unwrap() - 400.0).abs() < 1e-6);
    }

    #[test]
    fn an_error_at_the_largest_size_leaves_the_intercept_alone() {
        let mut points = on(50.0, 0.125);
        points.last_mut().unwrap().1 *= 1.02;
        let line = fit_line(&points).unwrap();
        // Two per cent of 64 KiB are 160 ns, three times the intercept.
        assert!((line.intercept - 50.0).abs() < 1.0, "{line:?}");
        assert!(line.residual < 0.02 && line.is_linear());
    }

    #[test]
    fn what_bends_says_so() {
        let bent: Vec<_> = on(50.0, 0.125)
            .into_iter()
            .map(|(x, t)| (x, if x < 1024.0 { t * 2.0 } else { t }))
            .collect();
        let line = fit_line(&bent).unwrap();
        assert!(line.residual > 0.2 && !line.is_linear(), "{line:?}");
    }

    /// Any other line near it has a larger sum of squared relative distances.
    #[test]
    fn the_weights_are_those_of_relative_distances() {
        let line = fit_line(&[(1.0, 1.0), (2.0, 2.0), (3.0, 2.0)]).unwrap();
        let sum = |a: f64, b: f64| {
            [(1.0, 1.0), (2.0, 2.0), (3.0, 2.0)]
                .iter()
                .map(|(x, t): &(f64, f64)| ((a + b * x - t) / t).powi(2))
                .sum::<f64>()
        };
        let best = sum(line.intercept, line.slope);
        for (da, db) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01), (0.01, -0.01)] {
            assert!(sum(line.intercept + da, line.slope + db) > best);
        }
    }

    #[test]
    fn two_sizes_or_no_time_give_no_line() {
        assert_eq!(fit_line(&[(1.0, 1.0), (2.0, 2.0), (2.0, 2.1)]), None);
        assert_eq!(fit_line(&[(1.0, 1.0), (2.0, 0.0), (3.0, 2.0)]), None);
    }

    #[test]
    fn a_line_without_a_cost_for_each_message_has_no_half_speed() {
        let falling = Line { intercept: -1.0, slope: 1.0, residual: 0.0 };
        assert_eq!(falling.half_speed(), None);
    }
}
