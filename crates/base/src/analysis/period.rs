//! Calls that take long again and again, after the same number of calls: work that is put off, pools that
//! are filled, or a figure that would look better without them.

/// How many times the median a call must take to count as long.
const LONG: u64 = 4;
/// Long calls in a row, all the same number of calls apart, that are no chance.
const LEAST: usize = 4;

/// Every so many calls, one that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// From one long call to the next.
    pub every: usize,
    /// Median of the long ones, in the unit of the times.
    pub long: u64,
    /// Median of all.
    pub usual: u64,
}

/// Finds a period in the times of single calls, one after the other. Interruptions are long as well, but
/// not after the same number of calls each time: each call that the period has must be a long one.
#[must_use]
pub fn period(times: &[u64]) -> Option<Period> {
    let usual = median(times.to_vec())?;
    let is_long = |at: &usize| times[*at] > LONG * usual.max(1);
    let long: Vec<usize> = (0..times.len()).filter(is_long).collect();
    let mut gaps: Vec<usize> = long.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    gaps.dedup();
    gaps.into_iter().filter(|gap| *gap > 1).find_map(|every| {
        long.iter().map(|at| at % every).find_map(|first| {
            let due: Vec<usize> = (first..times.len()).step_by(every).collect();
            let all = due.len() >= LEAST && due.iter().all(is_long);
            let long = median(due.iter().map(|at| times[*at]).collect()).filter(|_| all)?;
            Some(Period { every, long, usual })
        })
    })
}

fn median(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(long: impl Fn(usize) -> bool) -> Vec<u64> {
        (0..4096).map(|i| if long(i) { 5000 } else { 100 + i as u64 % 7 }).collect()
    }

    #[test]
    fn a_call_that_is_long_every_so_often_is_found_among_interruptions() {
        let found = period(&calls(|i| i % 64 == 63 || i == 100 || i == 1234)).unwrap();
        assert_eq!((found.every, found.long, found.usual), (64, 5000, 103));
        assert_eq!(period(&calls(|i| i % 1000 == 0)).unwrap().every, 1000);
    }

    #[test]
    fn interruptions_alone_are_no_period() {
        let now_and_then = [3, 450, 901, 1340, 1800, 2251, 2700, 3151, 3600, 4050];
        assert_eq!(period(&calls(|i| now_and_then.contains(&i))), None);
        assert_eq!(period(&calls(|_| false)), None);
        assert_eq!(period(&[]), None);
    }

    #[test]
    fn three_in_a_row_may_be_chance() {
        assert_eq!(period(&calls(|i| [1400, 2700, 4000].contains(&i))), None);
    }
}
