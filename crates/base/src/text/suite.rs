//! Suites: what to measure, as data, each with its reason.

use crate::model::{Direction, Footprint, Model, Tier};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A suite file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Why these cases: what question they answer.
    pub reason: String,
    /// Globs over algorithm names.
    pub algorithms: Vec<String>,
    /// Globs over libraries, of those that are there; empty: all that are found.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Sizes, in the grammar of `--size`.
    pub sizes: String,
    /// Models.
    pub models: Vec<Model>,
    /// Directions of ciphers.
    pub directions: Vec<Direction>,
    /// CPU instructions that libraries may see.
    #[serde(default = "native")]
    pub tiers: Vec<Tier>,
    /// Working sets.
    #[serde(default = "hot")]
    pub footprints: Vec<Footprint>,
    /// Numbers of threads measuring at once.
    #[serde(default = "one")]
    pub threads: Vec<u32>,
    /// Whether the output is written over the input.
    #[serde(default = "apart")]
    pub in_place: Vec<bool>,
    /// Whether single operations are timed as well.
    #[serde(default)]
    pub latency: bool,
    /// As `--precision`.
    pub precision: String,
    /// As `--budget`.
    pub budget: String,
}

/// Why a text is no suite, or no other TOML that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadSuite {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub why: String,
}

fn native() -> Vec<Tier> {
    vec![Tier::Native]
}

fn hot() -> Vec<Footprint> {
    vec![Footprint::Hot]
}

fn one() -> Vec<u32> {
    vec![1]
}

fn apart() -> Vec<bool> {
    vec![false]
}

/// The suites that come with the program.
const BUILT_IN: &[&str] = &[
    include_str!("../../../../suites/quick.toml"),
    include_str!("../../../../suites/published.toml"),
    include_str!("../../../../suites/pages.toml"),
    include_str!("../../../../suites/stream.toml"),
    include_str!("../../../../suites/full.toml"),
    include_str!("../../../../suites/everything.toml"),
    include_str!("../../../../suites/costs.toml"),
    include_str!("../../../../suites/at-rest.toml"),
    include_str!("../../../../suites/runtimes.toml"),
];

impl Suite {
    /// Every built-in suite.
    ///
    /// # Panics
    /// Never: they are tested.
    #[must_use]
    pub fn built_in() -> Vec<Self> {
        BUILT_IN.iter().map(|text| Self::parse(text).expect("built-in suites are tested")).collect()
    }

    /// Reads a suite from TOML.
    ///
    /// # Errors
    /// [`BadSuite`], as of [`from_toml`].
    pub fn parse(text: &str) -> Result<Self, BadSuite> {
        from_toml(text)
    }
}

/// Reads TOML.
///
/// # Errors
/// One line with the place, where TOML's own errors come with a drawing.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, BadSuite> {
    toml::from_str(text).map_err(|e| {
        let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        BadSuite { line: 1 + before.matches('\n').count(), why: e.message().replace('\n', " ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Algorithm, NameGlob};
    use crate::text::units;

    #[test]
    fn every_built_in_suite_means_something() {
        for suite in Suite::built_in() {
            for glob in &suite.algorithms {
                let glob = NameGlob::parse(glob).unwrap();
                assert!(Algorithm::all().iter().any(|a| glob.matches(a.name)), "{}", glob.text());
            }
            assert!(!crate::model::parse_sizes(&suite.sizes).unwrap().is_empty());
            units::parse_fraction(&suite.precision).unwrap();
            units::parse_duration(&suite.budget).unwrap();
            assert!(!suite.models.is_empty() && !suite.directions.is_empty());
            assert!(suite.reason.len() > 20, "{}", suite.name);
        }
    }

    #[test]
    fn what_is_no_suite_is_one_line_with_its_place() {
        let why = |text: &str| Suite::parse(text).unwrap_err().to_string();
        assert!(why("name = ").starts_with("line 1: "), "{}", why("name = "));
        assert!(why("name = 'x'\nreason = 3\n").starts_with("line 2: invalid type"));
        assert!(why("name = 'x'\nname = 'y'\n").starts_with("line 2: duplicate key"));
        for bad in ["a = 1", "\u{feff}", "[[[", "name = \"\\u0000\u{1b}\"", "\r\n\0"] {
            assert_eq!(why(bad).lines().count(), 1, "{bad:?}: {}", why(bad));
        }
        assert!(why(&"[".repeat(1 << 20)).len() < 300);
        assert!(why(&format!("a = {}", "[".repeat(1 << 20))).len() < 300);
    }
}
