//! Suites: what to measure, as data, each with its reason.

use crate::error::Failure;
use model::{Direction, Footprint, Model, Tier};
use serde::Deserialize;
use std::path::Path;

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
    include_str!("../../../suites/quick.toml"),
    include_str!("../../../suites/published.toml"),
    include_str!("../../../suites/pages.toml"),
    include_str!("../../../suites/stream.toml"),
    include_str!("../../../suites/full.toml"),
    include_str!("../../../suites/everything.toml"),
    include_str!("../../../suites/costs.toml"),
];

impl Suite {
    /// Every built-in suite.
    pub fn built_in() -> Vec<Self> {
        BUILT_IN
            .iter()
            .map(|text| toml::from_str(text).expect("built-in suites are tested"))
            .collect()
    }

    /// A built-in suite by name, else a file.
    pub fn find(name: &str) -> Result<Self, Failure> {
        let suites = Self::built_in();
        if let Some(suite) = suites.iter().find(|s| s.name == name) {
            return Ok(suite.clone());
        }
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") || path.is_file() {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Failure::usage(format!("cannot read suite '{name}': {e}")))?;
            return toml::from_str(&text).map_err(|e| malformed(name, &text, &e));
        }
        let hint = model::nearest(name, suites.iter().map(|s| s.name.as_str()))
            .map(|n| format!(", did you mean '{n}'?"))
            .unwrap_or_default();
        Err(Failure::usage(format!(
            "unknown suite '{name}'{hint}; `ciphermark list suites` shows all, a file ends in .toml"
        )))
    }
}

/// One line with the place: TOML errors come as several lines with a drawing.
fn malformed(name: &str, text: &str, error: &toml::de::Error) -> Failure {
    let line = error.span().map_or(1, |s| 1 + text[..s.start].matches('\n').count());
    let why = error.message().replace('\n', " ");
    Failure::usage(format!("suite '{name}', line {line}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{choose, units};

    #[test]
    fn every_built_in_suite_means_something() {
        for suite in Suite::built_in() {
            assert!(!choose::algorithms(&suite.algorithms).unwrap().is_empty());
            assert!(!model::parse_sizes(&suite.sizes).unwrap().is_empty());
            units::parse_fraction(&suite.precision).unwrap();
            units::parse_duration(&suite.budget).unwrap();
            assert!(!suite.models.is_empty() && !suite.directions.is_empty());
            assert!(suite.reason.len() > 20, "{}", suite.name);
        }
    }

    #[test]
    fn an_unknown_suite_gets_the_nearest_name() {
        let failure = Suite::find("quik").unwrap_err();
        assert!(failure.message.contains("did you mean 'quick'?"), "{}", failure.message);
    }
}
