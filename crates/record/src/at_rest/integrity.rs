//! Probes held against what was expected.

use crate::at_rest::format::{ProbeRow, Probed};
use crate::at_rest::scheme::{Effect, Expected, Probe, Recipe, expected};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of one kind of probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeCounts {
    /// Which kind.
    pub probe: Probe,
    /// How many pages were changed and read.
    pub tried: u64,
    /// How many of them were noticed.
    pub noticed: u64,
    /// What became of the plaintext of the others, and how often.
    pub effects: Vec<(Effect, u64)>,
}

impl ProbeCounts {
    /// One more that was not noticed.
    pub fn add(&mut self, effect: Effect) {
        match self.effects.iter_mut().find(|(e, _)| *e == effect) {
            Some((_, count)) => *count += 1,
            None => self.effects.push((effect, 1)),
        }
    }

    fn fits(&self, expected: Expected) -> Option<bool> {
        if expected == Expected::NotApplicable {
            return Some(self.tried == 0);
        }
        if self.tried == 0 {
            return None;
        }
        Some(match expected {
            Expected::Unnoticed(effect) => {
                self.noticed == 0 && self.effects.iter().all(|(e, _)| *e == effect)
            }
            _ => self.noticed == self.tried,
        })
    }
}

/// What a scheme noticed in a library, as verdicts.
#[must_use]
pub fn judge(library: usize, recipe: &Recipe, counts: Vec<ProbeCounts>) -> Probed {
    let noticed = |of: &dyn Fn(Probe) -> bool| {
        counts.iter().filter(|c| of(c.probe)).all(|c| c.noticed == c.tried)
    };
    let (accidents, adversaries, rollback) = (
        noticed(&|p| p.is_accident()),
        noticed(&|p| p != Probe::Replay),
        noticed(&|p| p == Probe::Replay),
    );
    let row = |counts: ProbeCounts| {
        let expected = expected(recipe, counts.probe);
        ProbeRow { as_expected: counts.fits(expected), expected, counts }
    };
    let rows: Vec<ProbeRow> = counts.into_iter().map(row).collect();
    Probed {
        library,
        scheme: recipe.scheme.clone(),
        against_accidents: accidents,
        against_adversaries: adversaries,
        against_rollback: rollback,
        as_expected: rows.iter().all(|r| r.as_expected != Some(false)),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::good_practice;

    fn recipe(name: &str) -> Recipe {
        good_practice().into_iter().find(|r| r.scheme == name).unwrap()
    }

    /// What a scheme does that does what is expected.
    fn expected_counts(recipe: &Recipe) -> Vec<ProbeCounts> {
        let count = |probe| {
            let empty = ProbeCounts { probe, tried: 200, noticed: 0, effects: Vec::new() };
            match expected(recipe, probe) {
                Expected::NotApplicable => ProbeCounts { tried: 0, ..empty },
                Expected::Noticed => ProbeCounts { noticed: 200, ..empty },
                Expected::Unnoticed(effect) => {
                    ProbeCounts { effects: vec![(effect, 200)], ..empty }
                }
            }
        };
        Probe::ALL.iter().copied().map(count).collect()
    }

    #[test]
    fn verdicts_are_for_accidents_adversaries_and_old_pages_apart() {
        let verdict = |name: &str| {
            let recipe = recipe(name);
            let p = judge(0, &recipe, expected_counts(&recipe));
            assert!(p.as_expected, "{name}");
            (p.against_accidents, p.against_adversaries, p.against_rollback)
        };
        assert_eq!(verdict("none"), (false, false, false));
        assert_eq!(verdict("aes-256-xts"), (false, false, false));
        assert_eq!(verdict("aes-256-xts+xxh3-64"), (true, false, false));
        assert_eq!(verdict("aes-256-gcm"), (true, true, false));
    }

    #[test]
    fn one_probe_that_comes_out_otherwise_is_seen() {
        let gcm = recipe("aes-256-gcm");
        let mut counts = expected_counts(&gcm);
        counts[0].noticed = 199;
        counts[0].add(Effect::OneBit);
        let p = judge(0, &gcm, counts);
        assert!(!p.as_expected && !p.against_accidents);
        assert_eq!(p.rows[0].as_expected, Some(false));
        let xts = recipe("aes-256-xts");
        let mut counts = expected_counts(&xts);
        counts[0].effects = vec![(Effect::OneBlock, 199), (Effect::Garbage, 1)];
        assert!(!judge(0, &xts, counts).as_expected);
    }

    #[test]
    fn what_could_not_be_tried_is_neither_right_nor_wrong() {
        let gcm = recipe("aes-256-gcm");
        let mut counts = expected_counts(&gcm);
        let other = counts.iter_mut().find(|c| c.probe == Probe::OtherFile).unwrap();
        (other.tried, other.noticed) = (0, 0);
        let p = judge(0, &gcm, counts);
        assert!(p.as_expected);
        assert!(p.rows.iter().any(|r| r.as_expected.is_none()));
    }
}
