//! In what two sides differ beside their records and libraries.

use base::model::{Direction, Tier};
use record::Measurement;
use serde::Serialize;

/// In what two sides differ, so that it is no part of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Apart {
    /// Records or libraries only.
    #[default]
    Nothing,
    /// Algorithms: those whose names have the same part belong together.
    Algorithm {
        /// Where the part is in the base's names.
        base: Part,
        /// Where it is in the new side's.
        new: Part,
    },
    /// Directions.
    Direction,
    /// Sizes, compared by what a byte costs.
    Size,
    /// Tiers.
    Tier,
}

/// Which part of an algorithm's name a star stands for: what is between so many bytes at the beginning and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    before: usize,
    after: usize,
}

impl Part {
    /// The star of a glob that has one and nothing else that is special, or the empty end of a name.
    #[must_use]
    pub fn of(glob: &str) -> Option<Self> {
        let (before, after) = glob.split_once('*').unwrap_or((glob, ""));
        let plain = |text: &str| !text.contains(['*', '?', '[', ']', '{', '}']);
        (plain(before) && plain(after)).then_some(Self { before: before.len(), after: after.len() })
    }

    fn within(self, name: &str) -> &str {
        name.get(self.before..name.len().saturating_sub(self.after)).unwrap_or(name)
    }
}

/// A side's place in [`Apart::Algorithm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Base,
    New,
}

impl Apart {
    /// What of an algorithm's name is part of a case.
    pub(crate) fn name(self, name: &str, which: Which) -> &str {
        match (self, which) {
            (Self::Algorithm { base, .. }, Which::Base) => base.within(name),
            (Self::Algorithm { new, .. }, Which::New) => new.within(name),
            _ => name,
        }
    }

    /// What of the base's case is another.
    pub(crate) fn of_base(self, m: &Measurement) -> Other {
        let mut other = Other::default();
        match self {
            Self::Nothing => {}
            Self::Algorithm { .. } => other.algorithm = Some(m.algorithm.clone()),
            Self::Direction => other.direction = Some(m.direction),
            Self::Size => other.size = Some(m.size),
            Self::Tier => other.tier = Some(m.tier),
        }
        other
    }

    /// What the cost of an operation is divided by before it is compared.
    pub(crate) fn per(self, m: &Measurement) -> f64 {
        if self == Self::Size { m.size.max(1) as f64 } else { 1.0 }
    }
}

/// What of the base's case is not as in the new side's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Other {
    /// The base's algorithm, where the two sides are two algorithms.
    #[serde(rename = "base_algorithm", skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// The base's direction.
    #[serde(rename = "base_direction", skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The base's size: the ratio is that of a byte.
    #[serde(rename = "base_size", skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The base's tier.
    #[serde(rename = "base_tier", skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
}

/// The two things that were asked to be compared, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Between {
    /// `algorithm`, `direction`, `library`, `size`, `tier`.
    pub what: &'static str,
    /// The base.
    pub base: String,
    /// What is held against it.
    pub new: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_a_part_of_a_name_and_a_name_has_none() {
        let part = |glob: &str, name| Part::of(glob).map(|p| p.within(name));
        assert_eq!(part("aes-128-*", "aes-128-gcm"), Some("gcm"));
        assert_eq!(part("aes-*-gcm", "aes-256-gcm"), Some("256"));
        assert_eq!(part("aes-128-gcm", "aes-128-gcm"), Some(""));
        assert_eq!(part("aes-{128,256}-gcm", "aes-128-gcm"), None);
        assert_eq!(part("*-*", "aes-128-gcm"), None);
    }
}
