//! What a case costs, and when one of two in a record surely costs less than the other.

use crate::compare::{Unit, group};
use base::analysis::{ALPHA, Group, Ratio};
use record::{Estimate, Measurement, Record};

/// Eight tenths of a case's costs lie further apart in cycles than this (a fraction), ...
const APART: f64 = 0.05;
/// ... and not so far apart in time, by this part.
const STEADIER: f64 = 0.5;

/// The costs of a measured case, one a process, to be held against others of its record.
pub(crate) struct Cost<'a> {
    record: &'a Record,
    pub(crate) m: &'a Measurement,
    pub(crate) group: Group,
    unit: Unit,
}

impl<'a> Cost<'a> {
    /// `None` where samples of too few processes count.
    pub(crate) fn of(record: &'a Record, m: &'a Measurement, unit: Unit) -> Option<Self> {
        Some(Self { record, m, group: group(record, m, unit)?, unit })
    }

    /// Whether it is the faster one, whatever the core's clock, and however fast a quiet core would have been.
    pub(crate) fn is_surely_below(&self, other: &Self, alpha: f64) -> bool {
        !other.m.contended
            && self.group.is_surely_below(&other.group, alpha)
            && !self.clock_decides(other, alpha)
    }

    /// Whether one of the two surely takes fewer cycles and nobody can say that it takes less time.
    pub(crate) fn hangs_on_clock(&self, other: &Self, alpha: f64) -> bool {
        let fewer = |a: &Self, b: &Self| {
            !b.m.contended && a.group.is_surely_below(&b.group, alpha) && a.clock_decides(b, alpha)
        };
        fewer(self, other) || fewer(other, self)
    }

    /// Whether fewer cycles than the other's are less time at some clocks only.
    fn clock_decides(&self, other: &Self, alpha: f64) -> bool {
        if self.unit != Unit::Cycles {
            return false;
        }
        let longer = self.m.ns_per_op.zip(other.m.ns_per_op);
        if longer.is_some_and(|(own, other)| lies_above(&own, &other)) {
            return true;
        }
        let follows =
            |cost: &Self| cost.group.spread() > APART && follows_clock(cost.record, cost.m);
        let time = |cost: &Self| group(cost.record, cost.m, Unit::Nanoseconds);
        let is_less = || Some(time(self)?.is_surely_below(&time(other)?, alpha));
        (follows(self) || follows(other)) && is_less() == Some(false)
    }

    /// Its cost over another's. What only a busy core showed is a bound: there is no lower end then, or, of the
    /// other's, no upper one.
    pub(crate) fn over(&self, other: &Self) -> Ratio {
        let mut ratio = self.group.less(&other.group).ratio(ALPHA, 0.0);
        if self.m.contended {
            ratio.low = 0.0;
        }
        if other.m.contended {
            ratio.high = f64::INFINITY;
        }
        ratio
    }
}

pub(crate) fn lies_above(one: &Estimate, other: &Estimate) -> bool {
    one.low > other.high
}

/// Whether a case takes the same time at every clock that its core had. Where wide instructions draw more power than there is, a core runs
/// either at a lower clock or, at a higher one, fewer instructions in each cycle: cycles are of two kinds then,
/// and of which there are more hangs on the hour.
pub(crate) fn follows_clock(record: &Record, m: &Measurement) -> bool {
    let spread = |unit| group(record, m, unit).map(|group| group.spread());
    let spreads = spread(Unit::Cycles).zip(spread(Unit::Nanoseconds));
    spreads.is_some_and(|(cycles, time)| cycles > APART && time < STEADIER * cycles)
}
