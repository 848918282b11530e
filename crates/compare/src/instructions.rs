//! Instructions of both sides: exact counts, so that any difference is one.

use crate::comparison::Side;
use model::{Direction, Model, Tier};
use record::{Executed, LibraryId, Measurement};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one operation executes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Counts {
    /// For each further byte.
    pub per_byte: f64,
    /// For a message, whatever its length.
    pub per_message: f64,
}

/// Instructions of one algorithm on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstructionRow {
    /// The base's library.
    pub base_library: LibraryId,
    /// The new side's library.
    pub new_library: LibraryId,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Tier; of two that are compared, the new one.
    pub tier: Tier,
    /// The base's counts.
    pub base: Counts,
    /// The new side's counts.
    pub new: Counts,
    /// By which fraction the instructions for each byte grew; below zero where they fell.
    pub per_byte_growth: f64,
    /// By which fraction the instructions for each message grew.
    pub per_message_growth: f64,
}

impl InstructionRow {
    /// Whether both counts are what they were.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.base == self.new
    }
}

/// The growth from one count to another. Lines through few sizes can have next to nothing, or less,
/// for each message; against less than one instruction every change would be a multitude.
fn growth(base: f64, new: f64, least: f64) -> f64 {
    (new - base) / base.max(least)
}

type Key = (String, Direction, Model, Tier);

/// One row for each algorithm, direction, model and tier that both sides counted.
pub(crate) fn rows(
    base: &Side<'_>,
    new: &Side<'_>,
    pairs: &[(LibraryId, LibraryId)],
    tiers_differ: bool,
) -> Vec<InstructionRow> {
    let (base, new) = (counted(base, tiers_differ), counted(new, tiers_differ));
    let mut rows = Vec::new();
    for (base_library, new_library) in pairs {
        let (Some(of_base), Some(of_new)) = (base.get(base_library), new.get(new_library)) else {
            continue;
        };
        for (key, new) in of_new {
            let Some(base) = of_base.get(key) else { continue };
            let (b, n) = (counts(base), counts(new));
            let (Some(base), Some(new_counts)) = (b, n) else { continue };
            rows.push(InstructionRow {
                base_library: base_library.clone(),
                new_library: new_library.clone(),
                algorithm: new.algorithm.clone(),
                direction: new.direction,
                model: new.model,
                tier: new.tier,
                per_byte_growth: growth(base.per_byte, new_counts.per_byte, 1e-3),
                per_message_growth: growth(base.per_message, new_counts.per_message, 1.0),
                base,
                new: new_counts,
            });
        }
    }
    rows
}

fn counts(executed: &Executed) -> Option<Counts> {
    Some(Counts { per_byte: executed.per_byte?, per_message: executed.per_message? })
}

fn counted<'a>(
    side: &Side<'a>,
    tiers_differ: bool,
) -> BTreeMap<&'a LibraryId, BTreeMap<Key, &'a Executed>> {
    let mut found: BTreeMap<&LibraryId, BTreeMap<Key, &Executed>> = BTreeMap::new();
    let selected: BTreeMap<(&LibraryId, Key), ()> =
        side.rows.iter().map(|m| ((&m.library, key_of(m)), ())).collect();
    for e in &side.record.executed {
        let key = (e.algorithm.clone(), e.direction, e.model, e.tier);
        if selected.contains_key(&(&e.library, key.clone())) {
            let tier = if tiers_differ { Tier::Native } else { e.tier };
            found.entry(&e.library).or_default().insert((key.0, key.1, key.2, tier), e);
        }
    }
    found
}

fn key_of(m: &Measurement) -> Key {
    (m.algorithm.clone(), m.direction, m.model, m.tier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_against_next_to_nothing_is_no_multitude() {
        assert!((growth(2.0, 2.01, 1e-3) - 0.005).abs() < 1e-12);
        assert!((growth(-3.0, 2.0, 1.0) - 5.0).abs() < 1e-12);
        assert_eq!(growth(0.0, 0.0, 1.0), 0.0);
    }
}
