//! How large a unit should be: where the part of its cost that it has whatever its size stops
//! mattering.

use crate::advise::cost::Price;
use serde::{Deserialize, Serialize};

/// The line time = a + b·size of a unit's cost, both directions' mean, read for the size of units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitSize {
    /// a: nanoseconds of a unit whatever its size.
    pub ns_per_unit: f64,
    /// b: nanoseconds of a byte.
    pub ns_per_byte: f64,
    /// Share of a in the cost of the unit that was asked about.
    pub own_share: f64,
    /// Bytes at which half of the cost is the unit's own: below, cost hardly falls with size.
    pub half_bytes: f64,
    /// Bytes from which the unit's own part is below a tenth: above, a larger unit saves next to
    /// nothing.
    pub tenth_bytes: f64,
    /// Share of stored bytes for nonce and tag in the unit that was asked about.
    pub stored_share: f64,
}

impl UnitSize {
    /// `None` where the measured times lie on no line, or on one without a part of its own.
    pub(crate) fn of(price: &Price, size: usize, stored: u32) -> Option<Self> {
        let (a, b) = price.line?;
        if a <= 0.0 || b <= 0.0 {
            return None;
        }
        Some(Self {
            ns_per_unit: a,
            ns_per_byte: b,
            own_share: a / (a + b * size as f64),
            half_bytes: a / b,
            tenth_bytes: 9.0 * a / b,
            stored_share: f64::from(stored) / size as f64,
        })
    }

    /// In one sentence or two.
    #[must_use]
    pub fn says(&self, unit: &str) -> String {
        let own = 100.0 * self.own_share;
        let advice = if self.own_share > 0.1 {
            format!(
                "larger {unit}s pay: from {} on their own cost is below a tenth",
                bytes(self.tenth_bytes)
            )
        } else {
            format!(
                "larger {unit}s save {own:.1} % at most; below {} a tenth and more goes into each {unit}",
                bytes(self.tenth_bytes)
            )
        };
        format!(
            "{:.0} ns of each {unit} and {:.4} ns of each byte: of this size {own:.1} % are the {unit}'s own; {advice}",
            self.ns_per_unit, self.ns_per_byte
        )
    }
}

/// `480 B`, `4.3 KiB`
fn bytes(n: f64) -> String {
    match n {
        n if n < 1024.0 => format!("{n:.0} B"),
        n if n < 1024.0 * 1024.0 => format!("{:.1} KiB", n / 1024.0),
        n => format!("{:.1} MiB", n / 1024.0 / 1024.0),
    }
}
