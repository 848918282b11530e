//! What an operation of a case costs, process by process.

use base::analysis::Group;
use record::{Measurement, Record};
use serde::Serialize;

/// What costs are given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Core cycles: the steadier unit, and one of the same core only.
    Cycles,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// In short: `cycles`, `ns`.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Nanoseconds => "ns",
        }
    }

    /// The estimate of one operation that the record has.
    pub(crate) fn of(self, m: &Measurement) -> Option<record::Estimate> {
        match self {
            Self::Cycles => m.cycles_per_op,
            Self::Nanoseconds => m.ns_per_op,
        }
    }
}

/// The costs of one operation of a measured case, to be held against another's; `None` where samples of fewer
/// than two processes count.
pub(crate) fn group(record: &Record, m: &Measurement, unit: Unit) -> Option<Group> {
    Group::of(&costs(record, m, unit)?)
}

/// The same, one a process.
pub(crate) fn costs(record: &Record, m: &Measurement, unit: Unit) -> Option<Vec<f64>> {
    match unit {
        Unit::Cycles => m.cycles_by_process(),
        Unit::Nanoseconds => m.ns_by_process(record),
    }
}

/// Instructions of one operation: as counted at this size, else by the line through the counts.
pub(crate) fn instructions(record: &Record, m: &Measurement) -> Option<f64> {
    let counted = record.executed.iter().find(|e| e.is_of(m));
    let at_size = counted.and_then(|e| e.sizes.iter().find(|s| s.size == m.size));
    let by_line = || Some(m.instructions_per_message? + m.instructions_per_byte? * m.size as f64);
    at_size.map(|s| s.instructions as f64).or_else(by_line)
}
