//! The rules: what rejects a scheme, what must be respected with it.

use crate::advise::condition::{Condition, Values, fill};
use serde::{Deserialize, Serialize};

/// How a rule judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A mistake whoever asks.
    Wrong,
    /// It does not meet what is asked.
    Unfit,
    /// Rejects nothing: to be respected.
    Note,
}

/// Behind everything that has a rank.
pub(crate) fn last() -> u8 {
    u8::MAX
}

/// One rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub id: String,
    pub verdict: Verdict,
    pub when: Condition,
    pub says: String,
    #[serde(default)]
    pub detail: String,
    /// Place among what must be respected; the first three are on the first screen.
    #[serde(default = "last")]
    pub rank: u8,
    pub source: String,
    pub date: String,
}

impl Rule {
    pub fn rejects(&self, values: &Values) -> bool {
        self.verdict != Verdict::Note && self.when.holds(values)
    }

    pub fn notes(&self, values: &Values) -> bool {
        self.verdict == Verdict::Note && self.when.holds(values)
    }

    /// Whether it looks at what is known of costs.
    pub fn is_of_cost(&self) -> bool {
        self.when.names().any(|name| name.starts_with("cost."))
    }

    /// What it says of one scheme; empty where it says the same of all.
    pub fn about(&self, values: &Values) -> String {
        fill(&self.detail, values)
    }
}
