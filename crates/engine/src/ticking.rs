//! How fast the clock ticks, over the run.

use crate::suspend::Suspend;
use probe::{Anchor, Clock};

/// Least time between two moments for a rate that can be trusted.
const LEAST_NANOS: u64 = 20_000_000;

/// The longest part of the run without a break. When the machine sleeps, the time-stamp counter may
/// stop, go on or begin anew, whatever the system's clock does: no rate can be taken across it.
#[derive(Debug)]
pub(crate) struct Ticking {
    begin: Anchor,
    last: Anchor,
    longest: Option<(Anchor, Anchor)>,
    suspend: Suspend,
}

impl Ticking {
    pub(crate) fn new(clock: &Clock) -> Self {
        let suspend = Suspend::new();
        let begin = clock.anchor();
        Self { begin, last: begin, longest: None, suspend }
    }

    /// Takes a look at the clock; often enough, and a sleep costs only the time since the last.
    pub(crate) fn look(&mut self, clock: &Clock) {
        let now = clock.anchor();
        let slept = self.suspend.advanced();
        self.advance(now, slept);
    }

    fn advance(&mut self, now: Anchor, slept: bool) {
        if slept || now.ticks < self.last.ticks {
            self.longest = Some(self.longest());
            self.begin = now;
        }
        self.last = now;
    }

    fn longest(&self) -> (Anchor, Anchor) {
        let length = |(begin, end): &(Anchor, Anchor)| end.nanos.saturating_sub(begin.nanos);
        let open = (self.begin, self.last);
        self.longest.filter(|closed| length(closed) > length(&open)).unwrap_or(open)
    }

    /// Ticks in a second. Waits where the run was too short to say.
    pub(crate) fn ticks_per_second(&mut self, clock: &Clock) -> f64 {
        loop {
            self.look(clock);
            let (begin, end) = self.longest();
            if end.nanos.saturating_sub(begin.nanos) >= LEAST_NANOS {
                return begin.ticks_per_second(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_the_longest_part_without_a_sleep() {
        let at = |ticks, nanos| Anchor { ticks, nanos };
        let mut ticking = Ticking {
            begin: at(1000, 0),
            last: at(1000, 0),
            longest: None,
            suspend: Suspend::new(),
        };
        let rate = |t: &Ticking| t.longest().0.ticks_per_second(t.longest().1) / 1e9;
        ticking.advance(at(3000, 1000), false);
        assert!((rate(&ticking) - 2.0).abs() < 1e-9);
        // The counter went on while the system's clock slept.
        ticking.advance(at(900_000, 1100), true);
        ticking.advance(at(900_200, 1200), false);
        assert!((rate(&ticking) - 2.0).abs() < 1e-9);
        // The counter began anew, and nobody said that there was a sleep.
        ticking.advance(at(10, 1300), false);
        ticking.advance(at(20_010, 11_300), false);
        assert!((rate(&ticking) - 2.0).abs() < 1e-9);
        assert_eq!(ticking.longest().0, at(10, 1300));
    }
}
