//! The data that come with the program: sources, schemes, uses and rules, read and held against each
//! other.

use crate::advise::limits;
use crate::advise::question::Question;
use crate::advise::rules::Rule;
use crate::advise::schemes::{self, Scheme};
use crate::advise::uses::Use;
use serde::Deserialize;
use serde::de::DeserializeOwned;

const SOURCES: &str = include_str!("../../../../advice/sources.toml");
const SCHEMES: &str = include_str!("../../../../advice/schemes.toml");
const USES: &str = include_str!("../../../../advice/uses.toml");
const RULES: &str = include_str!("../../../../advice/rules.toml");

/// Words that stand in a source's place: the scheme's own publication, the source of the limit.
const INDIRECT: [&str; 2] = ["scheme", "limit"];

/// Everything that advice is made of but the record.
#[derive(Clone, Debug)]
pub struct Data {
    /// Where facts and rules come from.
    pub sources: Vec<Source>,
    /// What there is to choose from.
    pub schemes: Vec<Scheme>,
    /// What `--for` takes.
    pub uses: Vec<Use>,
    pub(crate) rules: Vec<Rule>,
}

/// A publication, and when it was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// As facts and rules name it.
    pub id: String,
    /// Title with its year.
    pub title: String,
    /// Address.
    pub url: String,
    /// Day on which the passage was looked up.
    pub read: String,
    /// Through what, where it was not the publication itself.
    pub how: Option<String>,
}

/// Why the data cannot be read: one line that names the file and the entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAdvice(pub(crate) String);

impl Data {
    /// The data that come with the program.
    #[must_use]
    pub fn built_in() -> Self {
        Self::parse(SOURCES, SCHEMES, USES, RULES).expect("the built-in advice is tested")
    }

    fn parse(sources: &str, schemes: &str, uses: &str, rules: &str) -> Result<Self, BadAdvice> {
        let data = Self {
            sources: read("sources.toml", sources)?,
            schemes: schemes::expand(read("schemes.toml", schemes)?)?,
            uses: read("uses.toml", uses)?,
            rules: read("rules.toml", rules)?,
        };
        data.sources_exist()?;
        Ok(data)
    }

    /// The use of that name.
    #[must_use]
    pub fn find_use(&self, id: &str) -> Option<&Use> {
        self.uses.iter().find(|u| u.id == id)
    }

    /// How many units a key may encrypt under a question, as a logarithm to the base 2; none where there is
    /// no such scheme, or no bound within reach.
    #[must_use]
    pub fn units_log2(&self, scheme: &str, question: &Question<'_>) -> Option<f64> {
        let scheme = self.schemes.iter().find(|s| s.id == scheme)?;
        limits::units_per_key(scheme, question).log2
    }

    /// The source of that name.
    #[must_use]
    pub fn source(&self, id: &str) -> Option<&Source> {
        self.sources.iter().find(|s| s.id == id)
    }

    /// Its title, or what stands in its place.
    pub(crate) fn title(&self, id: &str) -> &str {
        self.source(id).map_or("the scheme's own", |s| &s.title)
    }

    fn sources_exist(&self) -> Result<(), BadAdvice> {
        let of_rules = self.rules.iter().map(|r| (&r.id, &r.source));
        let of_uses = self.uses.iter().flat_map(|u| u.notes.iter().map(|n| (&u.id, &n.source)));
        let of_schemes =
            self.schemes.iter().flat_map(|s| s.sources().into_iter().map(|source| (&s.id, source)));
        for (id, source) in of_rules.chain(of_uses).chain(of_schemes) {
            if self.source(source).is_none() && !INDIRECT.contains(&source.as_str()) {
                return Err(BadAdvice(format!(
                    "'{id}' names the source '{source}', which is none"
                )));
            }
        }
        Ok(())
    }
}

/// The entries of a file: all are of one kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries<T> {
    #[serde(alias = "source", alias = "family", alias = "use", alias = "rule")]
    entries: Vec<T>,
}

fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<Vec<T>, BadAdvice> {
    let entries: Result<Entries<T>, _> = base::text::from_toml(text);
    entries.map(|e| e.entries).map_err(|e| BadAdvice(format!("{file} {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_unique_and_every_source_has_a_day_and_is_used() {
        let data = Data::built_in();
        let unique = |ids: Vec<&String>| {
            let set: BTreeSet<&String> = ids.iter().copied().collect();
            assert_eq!(set.len(), ids.len(), "{ids:?}");
        };
        unique(data.sources.iter().map(|s| &s.id).collect());
        unique(data.schemes.iter().map(|s| &s.id).collect());
        unique(data.uses.iter().map(|u| &u.id).collect());
        unique(data.rules.iter().map(|r| &r.id).collect());
        for source in &data.sources {
            source.read.parse::<jiff::civil::Date>().unwrap();
            let text = [SCHEMES, USES, RULES].concat();
            assert!(text.contains(&format!("\"{}\"", source.id)), "{} is not used", source.id);
        }
        for rule in &data.rules {
            rule.date.parse::<jiff::civil::Date>().unwrap();
        }
    }

    #[test]
    fn a_broken_file_is_named_with_its_line() {
        let why = |schemes: &str| Data::parse(SOURCES, schemes, USES, RULES).unwrap_err().0;
        assert!(why("[[family]]\nmode = 3\n").starts_with("schemes.toml line 2: "), "{}", why(""));
        let unknown = SCHEMES.replace("approved_source = \"sp800-38e\"", "approved_source = \"x\"");
        assert_eq!(why(&unknown), "'aes-128-xts' names the source 'x', which is none");
        let algorithm =
            SCHEMES.replace("measured = [\"aes-128-ocb\"]", "measured = [\"aes-128-obc\"]");
        assert!(why(&algorithm).contains("did you mean '"), "{}", why(&algorithm));
    }
}
