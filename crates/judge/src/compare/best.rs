//! The best of each table, with what ties with it.

use crate::compare::Case;
use crate::compare::costs::{Unit, group};
use base::analysis::{ALPHA, Group, surely_faster};
use record::{LibraryId, Measurement, Record, State};
use std::collections::BTreeMap;

/// Which cases are the fastest among those that differ in library and algorithm only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Best(BTreeMap<(LibraryId, Case), bool>);

impl Best {
    /// Of the measured rows of a record. A case is among the best when none is surely faster, as in
    /// [`crate::compare::rank`].
    #[must_use]
    pub fn of(record: &Record, rows: &[&Measurement]) -> Self {
        let mut tables: BTreeMap<Case, Vec<(Group, &Measurement)>> = BTreeMap::new();
        for m in rows.iter().copied().filter(|m| m.state == State::Measured) {
            // The harness's own cost takes part in no ranking.
            if let Some(group) = group(record, m, unit(m)).filter(|_| m.mb_per_s.is_some()) {
                let case = Case { algorithm: String::new(), ..Case::of(m) };
                tables.entry(case).or_default().push((group, m));
            }
        }
        let mut best = BTreeMap::new();
        for mut table in tables.into_values().filter(|t| t.len() > 1) {
            table.sort_by(|a, b| a.0.cost().total_cmp(&b.0.cost()));
            let groups: Vec<Group> = table.iter().map(|(g, _)| g.clone()).collect();
            let first = surely_faster(&groups, 0, ALPHA);
            for place in &first {
                let m = table[place.at].1;
                best.insert((m.library.clone(), Case::of(m)), first.len() > 1);
            }
        }
        Self(best)
    }

    /// Whether it is among the best: with others (`true`) or alone (`false`).
    #[must_use]
    pub fn tied(&self, m: &Measurement) -> Option<bool> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(m.library.clone(), Case::of(m))).copied()
    }
}

pub(crate) fn unit(m: &Measurement) -> Unit {
    if m.cycles_per_op.is_some() { Unit::Cycles } else { Unit::Nanoseconds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample::{case, library, record};

    #[test]
    fn the_best_of_each_size_stands_alone_or_ties() {
        let row = |name: &str, size: usize, cost: f64| {
            let mut m =
                case("aes-128-gcm", size, &[cost, cost * 1.004, cost * 0.996, cost, cost, cost]);
            m.library = library(name, "1", name);
            m
        };
        let record = record(
            "a",
            vec![
                row("a", 64, 100.0),
                row("b", 64, 100.1),
                row("a", 8192, 500.0),
                row("b", 8192, 900.0),
            ],
        );
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        let best = Best::of(&record, &rows);
        let tied: Vec<Option<bool>> = rows.iter().map(|m| best.tied(m)).collect();
        assert_eq!(tied, [Some(true), Some(true), Some(false), None]);
        assert_eq!(Best::default().tied(rows[0]), None);
        assert_eq!(Best::of(&record, &rows[2..3]).tied(rows[2]), None, "alone in its table");
    }
}
