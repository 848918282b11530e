//! The claims as data.

use crate::claims::expression::{BadExpression, Expression, Kind};
use crate::claims::fact::{self, Fact};
use base::model::{Model, NameGlob};
use serde::{Deserialize, Deserializer};

/// Where claims were published.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Short name, as `--source` takes it.
    pub id: String,
    /// Who wrote it, or what published it.
    pub author: String,
    /// Title.
    pub title: String,
    /// Year or day.
    pub published: Option<String>,
    /// Address.
    pub url: String,
    /// The machine of its figures.
    pub machine: String,
    /// The model of terms that name none.
    pub model: Model,
    /// Its claims.
    #[serde(skip)]
    pub claims: Vec<Claim>,
}

/// One claim; `E` is a text while it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim<E = Expression<Fact>> {
    /// Name, beginning with the source's.
    pub id: String,
    /// What it says, on one line.
    pub says: String,
    /// For which libraries it is judged, each by itself; `None` where its terms name them.
    #[serde(default, deserialize_with = "glob")]
    pub each: Option<NameGlob>,
    /// Published figures and what stands beside them here.
    #[serde(default = "Vec::new")]
    pub figures: Vec<Figure<E>>,
    /// What must be so.
    pub parts: Vec<Part<E>>,
    /// What the answer depends on, where it does.
    pub depends_on: Option<String>,
    /// What went wrong with figures that are impossible.
    pub went_wrong: Option<String>,
    /// The checks of ciphermark that refuse such figures.
    #[serde(default)]
    pub refused_by: Vec<String>,
    /// What a reader should know beside the verdict.
    pub note: Option<String>,
}

/// A published figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure<E = Expression<Fact>> {
    /// What it is of.
    pub of: String,
    /// As it was published, with its unit.
    pub published: Option<String>,
    /// The same here.
    pub here: E,
}

/// One of the things that a claim says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part<E = Expression<Fact>> {
    /// What it says; empty where the claim is of this part alone.
    #[serde(default)]
    pub says: String,
    /// The condition that decides it.
    pub holds: E,
}

/// Why claims cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadClaims(String);

/// The claims that come with the program.
const BUILT_IN: [&str; 4] = [
    include_str!("../../../../claims/highgo.toml"),
    include_str!("../../../../claims/transactional.toml"),
    include_str!("../../../../claims/asecuritysite.toml"),
    include_str!("../../../../claims/tls.toml"),
];

/// The sources and claims that come with the program.
#[must_use]
pub fn built_in() -> Vec<Source> {
    let read = |text: &&str| parse_source(text).expect("the built-in claims are tested");
    BUILT_IN.iter().map(read).collect()
}

/// Reads one source with its claims from TOML.
///
/// # Errors
/// [`BadClaims`], one line that names the claim.
pub fn parse_source(text: &str) -> Result<Source, BadClaims> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        source: Source,
        #[serde(default)]
        claim: Vec<Claim<String>>,
    }
    let read = base::text::from_toml(text).map_err(|e| BadClaims(e.to_string()));
    let File { mut source, claim } = read?;
    let typed = |claim: Claim<String>| {
        let id = claim.id.clone();
        claim.typed(source.model).map_err(|e| BadClaims(format!("claim '{id}': {e}")))
    };
    source.claims = claim.into_iter().map(typed).collect::<Result<_, _>>()?;
    Ok(source)
}

fn glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NameGlob>, D::Error> {
    let text = String::deserialize(deserializer)?;
    NameGlob::parse(&text).map(Some).map_err(serde::de::Error::custom)
}

impl Claim<String> {
    fn typed(self, model: Model) -> Result<Claim, BadExpression> {
        let figure = |Figure { of, published, here }: Figure<String>| {
            Ok(Figure { of, published, here: fact::parse(&here, model)? })
        };
        let part = |Part { says, holds }: Part<String>| {
            let holds = fact::parse(&holds, model)?;
            match holds.kind(&Fact::kind)? {
                Kind::Truth => Ok(Part { says, holds }),
                kind => Err(BadExpression::new(format!("`holds` is {kind}, no condition"))),
            }
        };
        Ok(Claim {
            figures: self.figures.into_iter().map(figure).collect::<Result<_, BadExpression>>()?,
            parts: self.parts.into_iter().map(part).collect::<Result<_, BadExpression>>()?,
            id: self.id,
            says: self.says,
            each: self.each,
            depends_on: self.depends_on,
            went_wrong: self.went_wrong,
            refused_by: self.refused_by,
            note: self.note,
        })
    }
}

impl Claim {
    /// Everything that its conditions and figures ask.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &Fact> {
        let conditions = self.parts.iter().map(|part| &part.holds);
        conditions.chain(self.figures.iter().map(|f| &f.here)).flat_map(Expression::facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::Algorithm;

    #[test]
    fn every_built_in_claim_has_a_name_of_its_own_and_something_to_decide_it() {
        let sources = built_in();
        let names: Vec<&str> = sources.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(names, ["highgo", "transactional", "asecuritysite", "tls"]);
        let claims: Vec<&Claim> = sources.iter().flat_map(|s| &s.claims).collect();
        let mut ids: Vec<&str> = claims.iter().map(|c| c.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), claims.len());
        for claim in claims {
            assert!(!claim.parts.is_empty() && !claim.says.is_empty(), "{}", claim.id);
            assert!(claim.parts.len() == 1 || claim.parts.iter().all(|p| !p.says.is_empty()));
        }
    }

    #[test]
    fn the_claims_of_tls_name_handshakes() {
        let sources = built_in();
        let all: Vec<&Claim> = sources.iter().flat_map(|s| &s.claims).collect();
        let need = crate::claims::handshakes_of_claims(&all);
        assert_eq!(need.libraries.into_iter().collect::<Vec<_>>(), ["openssl"]);
        assert!(need.cases.len() >= 8, "{:?}", need.cases);
    }

    #[test]
    fn every_algorithm_that_a_claim_names_exists() {
        for claim in built_in().iter().flat_map(|source| &source.claims) {
            for fact in claim.facts() {
                let Fact::Cases(_, cases) = fact else { continue };
                let known = Algorithm::all().iter().any(|a| cases.algorithm.matches(a.name));
                assert!(known, "{}: {}", claim.id, cases.algorithm.text());
            }
        }
    }

    #[test]
    fn a_broken_claim_is_named() {
        for (claim, expected) in [
            (
                "parts = [{ holds = 'speed(a, 1) > 1' }]",
                "claim 'a-x': MB/s and a plain number cannot be compared",
            ),
            ("parts = [{ holds = '1' }]", "claim 'a-x': `holds` is a plain number, no condition"),
            ("parts = [{}]", "line 11: missing field `holds`"),
            ("parts = 3", "line 11: invalid type"),
        ] {
            let why = crate::claims::sample::source(Model::Stream, claim).unwrap_err().to_string();
            assert!(why.starts_with(expected), "{claim}: {why}");
        }
    }
}
