//! The claims as data.

use crate::expression::{BadExpression, Expression, Kind, parse};
use model::{Model, NameGlob};
use serde::Deserialize;

/// Where claims were published.
#[derive(Clone, Debug)]
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
    /// Its claims.
    pub claims: Vec<Claim>,
}

/// One claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Name, beginning with the source's.
    pub id: String,
    /// What it says, on one line.
    pub says: String,
    /// For which libraries it is judged, each by itself; `None` where its terms name them.
    pub each: Option<NameGlob>,
    /// Published figures and what stands beside them here.
    pub figures: Vec<Figure>,
    /// What must be so.
    pub parts: Vec<Part>,
    /// What the answer depends on, where it does.
    pub depends_on: Option<String>,
    /// What went wrong with figures that are impossible.
    pub went_wrong: Option<String>,
    /// The checks of ciphermark that refuse such figures.
    pub refused_by: Vec<String>,
    /// What a reader should know beside the verdict.
    pub note: Option<String>,
}

/// A published figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it is of.
    pub of: String,
    /// As it was published, with its unit.
    pub published: Option<String>,
    /// The same here.
    pub here: Expression,
}

/// One of the things that a claim says.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it says; empty where the claim is of this part alone.
    pub says: String,
    /// How it is decided.
    pub subject: Subject,
}

/// How a part is decided.
#[derive(Clone, Debug)]
pub enum Subject {
    /// By this condition.
    Condition(Expression),
    /// Not by anything that this version measures, and why.
    NotTestable(String),
}

/// Why claims cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadClaims(String);

/// The claims that come with the program.
const BUILT_IN: [&str; 4] = [
    include_str!("../../../claims/highgo.toml"),
    include_str!("../../../claims/transactional.toml"),
    include_str!("../../../claims/asecuritysite.toml"),
    include_str!("../../../claims/tls.toml"),
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
    let file: File = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |s| 1 + text[..s.start].matches('\n').count());
        BadClaims(format!("line {line}: {}", e.message().replace('\n', " ")))
    })?;
    let head = file.source;
    let mut claims = Vec::new();
    for claim in file.claim {
        let id = claim.id.clone();
        let claim = claim.typed(head.model).map_err(|e| BadClaims(format!("claim '{id}': {e}")))?;
        claims.push(claim);
    }
    Ok(Source {
        id: head.id,
        author: head.author,
        title: head.title,
        published: head.published,
        url: head.url,
        machine: head.machine,
        claims,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: HeadText,
    #[serde(default)]
    claim: Vec<ClaimText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadText {
    id: String,
    author: String,
    title: String,
    published: Option<String>,
    url: String,
    machine: String,
    /// Of terms that name none.
    model: Model,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimText {
    id: String,
    says: String,
    each: Option<String>,
    #[serde(default)]
    figures: Vec<FigureText>,
    parts: Vec<PartText>,
    depends_on: Option<String>,
    went_wrong: Option<String>,
    #[serde(default)]
    refused_by: Vec<String>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureText {
    of: String,
    published: Option<String>,
    here: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartText {
    #[serde(default)]
    says: String,
    holds: Option<String>,
    not_testable: Option<String>,
}

impl ClaimText {
    fn typed(self, model: Model) -> Result<Claim, BadExpression> {
        let expression = |text: &str| parse(text, model);
        let each = self.each.map(|glob| NameGlob::parse(&glob));
        let figure = |f: FigureText| {
            let here = expression(&f.here)?;
            Ok(Figure { of: f.of, published: f.published, here })
        };
        let figures: Result<_, BadExpression> = self.figures.into_iter().map(figure).collect();
        let part = |p: PartText| Ok(Part { subject: subject(&p, model)?, says: p.says });
        let parts: Result<Vec<_>, BadExpression> = self.parts.into_iter().map(part).collect();
        Ok(Claim {
            id: self.id,
            says: self.says,
            each: each.transpose().map_err(|e| BadExpression::new(e.to_string()))?,
            figures: figures?,
            parts: parts?,
            depends_on: self.depends_on,
            went_wrong: self.went_wrong,
            refused_by: self.refused_by,
            note: self.note,
        })
    }
}

fn subject(part: &PartText, model: Model) -> Result<Subject, BadExpression> {
    match (&part.holds, &part.not_testable) {
        (Some(condition), None) => {
            let condition = parse(condition, model)?;
            match condition.kind() {
                Kind::Truth => Ok(Subject::Condition(condition)),
                Kind::Number(_) => Err(BadExpression::new("`holds` is a number, no condition")),
            }
        }
        (None, Some(why)) => Ok(Subject::NotTestable(why.clone())),
        _ => Err(BadExpression::new("a part has either `holds` or `not_testable`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Algorithm;

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
    fn every_part_of_a_built_in_claim_has_a_condition_and_those_of_tls_name_handshakes() {
        let sources = built_in();
        for claim in sources.iter().flat_map(|s| &s.claims) {
            for part in &claim.parts {
                assert!(matches!(part.subject, Subject::Condition(_)), "{}", claim.id);
            }
        }
        let all: Vec<&Claim> = sources.iter().flat_map(|s| &s.claims).collect();
        let need = crate::handshakes_of_claims(&all);
        assert_eq!(need.libraries.into_iter().collect::<Vec<_>>(), ["openssl"]);
        assert!(need.cases.len() >= 8, "{:?}", need.cases);
    }

    #[test]
    fn every_algorithm_that_a_claim_names_exists() {
        for source in built_in() {
            for claim in &source.claims {
                let conditions = claim.parts.iter().filter_map(|p| match &p.subject {
                    Subject::Condition(condition) => Some(condition),
                    Subject::NotTestable(_) => None,
                });
                for fact in conditions
                    .chain(claim.figures.iter().map(|f| &f.here))
                    .flat_map(Expression::facts)
                {
                    let glob = &fact.cases.algorithm;
                    let known = Algorithm::all().iter().any(|a| glob.matches(a.name));
                    assert!(known, "{}: {}", claim.id, glob.text());
                }
            }
        }
    }

    #[test]
    fn a_broken_claim_is_named() {
        let head = "[source]\nid = 'a'\nauthor = 'b'\ntitle = 'c'\nurl = 'd'\nmachine = 'e'\nmodel = 'stream'\n";
        let why = |claim: &str| parse_source(&format!("{head}{claim}")).unwrap_err().to_string();
        let claim = |parts: &str| format!("[[claim]]\nid = 'x'\nsays = 'y'\nparts = [{parts}]\n");
        assert_eq!(
            why(&claim("{ holds = 'speed(a, 1) > 1' }")),
            "claim 'x': MB/s and a plain number cannot be compared"
        );
        assert_eq!(why(&claim("{ holds = '1' }")), "claim 'x': `holds` is a number, no condition");
        assert_eq!(why(&claim("{}")), "claim 'x': a part has either `holds` or `not_testable`");
        assert!(
            why("[[claim]]\nsays = 3\n").starts_with("line 9: "),
            "{}",
            why("[[claim]]\nsays = 3\n")
        );
    }
}
