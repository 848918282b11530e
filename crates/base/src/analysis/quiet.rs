//! The rate of a core that nobody shares, from readings of the throughput probe.

use crate::analysis::order::quantile;

/// The part of all readings that lies below the quiet rate. High, so that a core that is quiet a
/// fiftieth of the time is enough to know it by; the few readings above are the counter's rounding,
/// and interrupts within the clock's chain.
const OF_ALL: f64 = 0.98;

/// The part of a short watch's readings that lies below what it finds: lower than of all, because a
/// rate that is found too high before the first sample would mark quiet samples for the whole run.
const OF_A_WATCH: f64 = 0.8;

/// Independent instructions per core cycle of the quiet core, by all readings of a run; 0 of none.
/// Reorders its argument.
pub fn quiet_rate(readings: &mut [f64]) -> f64 {
    quantile(readings, OF_ALL).unwrap_or(0.0)
}

/// The same by readings of a fraction of a second, which is never too high; 0 of none. Reorders its
/// argument.
pub fn watched_rate(readings: &mut [f64]) -> f64 {
    quantile(readings, OF_A_WATCH).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_is_quiet_a_fiftieth_of_the_time_is_known_by_it_and_a_watch_is_careful() {
        let mut readings: Vec<f64> = vec![3.0; 97];
        readings.extend([5.0; 3]);
        assert_eq!(quiet_rate(&mut readings), 5.0);
        assert_eq!(watched_rate(&mut readings), 3.0);
        assert_eq!((quiet_rate(&mut []), watched_rate(&mut [])), (0.0, 0.0));
    }
}
