//! What has to be measured to judge claims: read off their expressions.

use crate::claim::{Claim, Subject};
use crate::expression::{Asked, Cases, Fact};
use import::{Row, Table};
use model::{Algorithm, Direction, Model, NameGlob, Tier};
use std::collections::{BTreeMap, BTreeSet};

/// One survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions the libraries may see.
    pub tier: Tier,
    /// Libraries by glob.
    pub libraries: Vec<String>,
    /// Names of algorithms.
    pub algorithms: Vec<&'static str>,
    /// Directions of ciphers.
    pub directions: Vec<Direction>,
    /// Sizes in bytes.
    pub sizes: Vec<usize>,
}

/// The size at which tables are printed whose source does not say one: a page of `PostgreSQL`.
pub(crate) const SIZE: usize = 8192;

/// The surveys that these claims need.
#[must_use]
pub fn needs_of_claims(claims: &[&Claim]) -> Vec<Need> {
    let mut needs = Needs::default();
    for claim in claims {
        let each = claim.each.as_ref().map(NameGlob::text);
        let conditions = claim.parts.iter().filter_map(|part| match &part.subject {
            Subject::Condition(condition) => Some(condition),
            Subject::NotTestable(_) => None,
        });
        for fact in conditions.chain(claim.figures.iter().map(|f| &f.here)).flat_map(|e| e.facts())
        {
            needs.add_fact(fact, each);
        }
    }
    needs.surveys()
}

/// The surveys that a published table needs to stand beside this machine's figures.
#[must_use]
pub fn needs_of_table(table: &Table) -> Vec<Need> {
    let mut needs = Needs::default();
    for row in &table.rows {
        // Only figures of ciphers and digests that ciphermark has can stand beside others.
        let algorithms = Algorithm::all().iter().filter(|a| a.name == row.algorithm);
        let need = needs.0.entry((row.model, row.tier)).or_default();
        need.algorithms.extend(algorithms.map(|a| a.name));
        need.libraries.insert(library_glob(row));
        need.directions.insert(row.direction);
        need.sizes.insert(row.size.unwrap_or(SIZE));
    }
    needs.surveys()
}

/// A library and its other builds: `wolfssl`, `wolfssl-noasm`.
pub(crate) fn library_glob(row: &Row) -> String {
    format!("{{{0},{0}@*,{0}-no*}}", row.library)
}

#[derive(Default)]
struct Needs(BTreeMap<(Model, Tier), Parts>);

#[derive(Default)]
struct Parts {
    libraries: BTreeSet<String>,
    algorithms: BTreeSet<&'static str>,
    directions: BTreeSet<Direction>,
    sizes: BTreeSet<usize>,
}

impl Needs {
    fn add_fact(&mut self, fact: &Fact, each: Option<&str>) {
        let Cases { algorithm, size, direction, model, tier, library } = &fact.cases;
        let need = self.0.entry((*model, *tier)).or_default();
        let matching = Algorithm::all().iter().filter(|a| algorithm.matches(a.name));
        for a in matching {
            need.algorithms.insert(a.name);
            need.directions.insert(direction.unwrap_or(Row::usual_direction(a.name)));
        }
        need.sizes.insert(*size);
        let named = library.as_ref().map(NameGlob::text);
        let every = (fact.asked == Asked::Fastest).then_some("*");
        if let Some(glob) = named.or(every).or(each) {
            need.libraries.insert(glob.to_owned());
        }
    }

    fn surveys(self) -> Vec<Need> {
        let complete = |parts: &Parts| !parts.libraries.is_empty() && !parts.algorithms.is_empty();
        let surveys = self.0.into_iter().filter(|(_, parts)| complete(parts));
        let need = |((model, tier), parts): ((Model, Tier), Parts)| {
            let every = parts.libraries.contains("*");
            Need {
                model,
                tier,
                libraries: if every {
                    vec!["*".to_owned()]
                } else {
                    parts.libraries.into_iter().collect()
                },
                algorithms: parts.algorithms.into_iter().collect(),
                directions: parts.directions.into_iter().collect(),
                sizes: parts.sizes.into_iter().collect(),
            }
        };
        surveys.map(need).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::parse_source;

    #[test]
    fn a_claim_needs_what_its_expressions_name_and_nothing_else() {
        let source = parse_source(
            "[source]\nid = 'a'\nauthor = 'b'\ntitle = 'c'\nurl = 'd'\nmachine = 'e'\nmodel = 'stream'\n\
             [[claim]]\nid = 'a-x'\nsays = 'y'\neach = 'openssl'\n\
             figures = [{ of = 'z', here = 'fastest(sha{256,384}, 64, message)' }]\n\
             parts = [{ holds = 'speed(aes-128-ctr, 16, decrypt) / speed(aes-128-ctr, 16, noaes) > 1' }]",
        )
        .unwrap();
        let needs = needs_of_claims(&[&source.claims[0]]);
        let [decrypt, noaes, digest] = &needs[..] else { panic!("{needs:?}") };
        assert_eq!(
            (decrypt.tier, &decrypt.directions[..]),
            (Tier::Native, &[Direction::Decrypt][..])
        );
        assert_eq!((noaes.tier, &noaes.directions[..]), (Tier::Noaes, &[Direction::Encrypt][..]));
        assert_eq!(noaes.libraries, ["openssl"]);
        assert_eq!(
            (digest.model, &digest.algorithms[..]),
            (Model::Message, &["sha256", "sha384"][..])
        );
        assert_eq!((&digest.libraries[..], &digest.sizes[..]), (&["*".to_owned()][..], &[64][..]));
    }

    #[test]
    fn a_table_needs_its_rows_also_in_other_builds_of_a_library() {
        let text = "# source: s\nlibrary,algorithm,size,mb_per_s,tier\nwolfssl,aes-256-ctr,,1,noaes\n\
            wolfssl,rot13,,1,noaes\n";
        let needs = needs_of_table(&import::parse_table(text).unwrap());
        let [need] = &needs[..] else { panic!("{needs:?}") };
        assert_eq!((&need.algorithms[..], &need.sizes[..]), (&["aes-256-ctr"][..], &[SIZE][..]));
        let glob = NameGlob::parse(&need.libraries[0]).unwrap();
        assert!(glob.matches("wolfssl") && glob.matches("wolfssl-noasm"));
        assert!(!glob.matches("wolfsslx"));
    }
}
