//! What libraries do not offer, one line a library.

use crate::labels::Libraries;
use base::model::{Direction, Model, Tier};
use base::text::clean;
use record::{LibraryId, Measurement, State};
use std::collections::{BTreeMap, BTreeSet};

/// One way to ask for an algorithm.
type Way = (Model, Direction, Tier);

/// `libgcrypt@1.10.1 does not offer: aes-128-xts, aes-256-gcm (stream)`, for each library that
/// lacks something of the selection.
pub(crate) fn not_offered(selection: &[&Measurement], libraries: &Libraries<'_>) -> Vec<String> {
    let mut asked: BTreeMap<&LibraryId, BTreeMap<&str, Ways>> = BTreeMap::new();
    for m in selection {
        let ways = asked.entry(&m.library).or_default().entry(&m.algorithm).or_default();
        let way = (m.model, m.direction, m.tier);
        ways.asked.insert(way);
        if m.state != State::Unsupported {
            ways.offered.insert(way);
        }
    }
    let line = |(id, algorithms)| Some(format!("{} {}", libraries.label(id), sum_up(&algorithms)?));
    asked.into_iter().filter_map(line).collect()
}

#[derive(Default)]
struct Ways {
    asked: BTreeSet<Way>,
    /// At one size at least.
    offered: BTreeSet<Way>,
}

/// What is said of one library; `None` when it offers everything.
fn sum_up(algorithms: &BTreeMap<&str, Ways>) -> Option<String> {
    let lacks: Vec<String> = algorithms.iter().filter_map(|(name, w)| w.lack(name)).collect();
    let offers: Vec<String> =
        algorithms.iter().filter(|(_, w)| !w.offered.is_empty()).map(|(n, _)| clean(n)).collect();
    if lacks.is_empty() {
        None
    } else if offers.is_empty() {
        Some("offers nothing of what was asked for".to_owned())
    } else if offers.len() < algorithms.len() - offers.len() {
        // The shorter list says as much.
        Some(format!("offers only: {}", offers.join(", ")))
    } else {
        Some(format!("does not offer: {}", lacks.join(", ")))
    }
}

impl Ways {
    /// The algorithm with the ways that are missing, or alone when all are.
    fn lack(&self, algorithm: &str) -> Option<String> {
        let missing: BTreeSet<Way> = self.asked.difference(&self.offered).copied().collect();
        if missing.is_empty() {
            return None;
        }
        if self.offered.is_empty() {
            return Some(clean(algorithm));
        }
        let models: BTreeSet<Model> = self.asked.iter().map(|w| w.0).collect();
        let whole = |model: Model| self.offered.iter().all(|way| way.0 != model);
        let mut words: Vec<String> =
            models.into_iter().filter(|m| whole(*m)).map(|m| m.to_string()).collect();
        for (model, direction, tier) in missing.into_iter().filter(|way| !whole(way.0)) {
            words.push(format!("{model} {direction} {tier}"));
        }
        Some(format!("{} ({})", clean(algorithm), words.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn lines(cases: &[(&str, Model, Direction, State)]) -> Vec<String> {
        let measurements: Vec<Measurement> = cases
            .iter()
            .map(|(algorithm, model, direction, state)| {
                let mut m = sample::record().measurements.remove(0);
                m.algorithm = (*algorithm).to_owned();
                (m.model, m.direction, m.state) = (*model, *direction, *state);
                m
            })
            .collect();
        let selection: Vec<&Measurement> = measurements.iter().collect();
        not_offered(&selection, &Libraries::of(&selection))
    }

    use Direction::{Decrypt, Encrypt};
    use Model::{Message, Stream};
    use State::{Failed, Measured, Unsupported};

    #[test]
    fn only_what_is_missing_is_named() {
        let lines = lines(&[
            ("a", Message, Encrypt, Measured),
            ("b", Message, Encrypt, Failed),
            ("c", Message, Encrypt, Unsupported),
            ("c", Stream, Encrypt, Unsupported),
            ("d", Message, Encrypt, Measured),
            ("d", Stream, Encrypt, Unsupported),
            ("e", Message, Encrypt, Measured),
            ("e", Message, Decrypt, Unsupported),
        ]);
        assert_eq!(
            lines,
            ["openssl@3.0.22 does not offer: c, d (stream), e (message decrypt native)"]
        );
    }

    #[test]
    fn the_shorter_list_is_printed() {
        let few = lines(&[
            ("a", Message, Encrypt, Measured),
            ("b", Message, Encrypt, Unsupported),
            ("c", Message, Encrypt, Unsupported),
        ]);
        assert_eq!(few, ["openssl@3.0.22 offers only: a"]);
        let none = lines(&[("a", Message, Encrypt, Unsupported)]);
        assert_eq!(none, ["openssl@3.0.22 offers nothing of what was asked for"]);
        assert!(lines(&[("a", Message, Encrypt, Measured)]).is_empty());
    }
}
