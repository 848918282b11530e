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
    /// Whether instructions have to be counted.
    pub instructions: bool,
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

/// Handshakes to be measured in the stacks of some libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandshakeNeed {
    /// Libraries by glob.
    pub libraries: BTreeSet<String>,
    /// The cases.
    pub cases: BTreeSet<tls::Case>,
}

/// The handshakes that these claims need.
#[must_use]
pub fn handshakes_of_claims(claims: &[&Claim]) -> HandshakeNeed {
    let mut need = HandshakeNeed::default();
    for claim in claims {
        let Some(each) = &claim.each else { continue };
        let conditions = claim.parts.iter().filter_map(|part| match &part.subject {
            Subject::Condition(condition) => Some(condition),
            Subject::NotTestable(_) => None,
        });
        let expressions = conditions.chain(claim.figures.iter().map(|f| &f.here));
        let cases: Vec<_> = expressions.flat_map(|e| e.handshakes()).copied().collect();
        if !cases.is_empty() {
            need.libraries.insert(each.text().to_owned());
            need.cases.extend(cases);
        }
    }
    need
}

/// The surveys that a published table needs to stand beside this machine's figures.
#[must_use]
pub fn needs_of_table(table: &Table) -> Vec<Need> {
    let mut needs = Needs::default();
    for row in &table.rows {
        // Only figures of ciphers and digests that ciphermark has can stand beside others.
        for a in Algorithm::all().iter().filter(|a| a.name == row.algorithm) {
            let parts = needs.of(row.model, row.tier, a.name);
            parts.libraries.insert(library_glob(row));
            parts.directions.insert(row.direction);
            parts.sizes.insert(row.size.unwrap_or(SIZE));
            parts.instructions |= row.instructions_per_byte.is_some();
        }
    }
    needs.surveys()
}

/// A library and its other builds: `wolfssl`, `wolfssl-noasm`.
pub(crate) fn library_glob(row: &Row) -> String {
    format!("{{{0},{0}@*,{0}-no*}}", row.library)
}

/// By model and tier: what each algorithm is asked for.
#[derive(Default)]
struct Needs(BTreeMap<(Model, Tier), BTreeMap<&'static str, Parts>>);

#[derive(Clone, Default, PartialEq, Eq)]
struct Parts {
    libraries: BTreeSet<String>,
    algorithms: BTreeSet<&'static str>,
    directions: BTreeSet<Direction>,
    sizes: BTreeSet<usize>,
    instructions: bool,
}

/// Cases that a survey of its own is worth: each begins with a second or two of looking at the core.
const WORTH: usize = 12;

impl Needs {
    fn add_fact(&mut self, fact: &Fact, each: Option<&str>) {
        let Cases { algorithm, size, direction, model, tier, library } = &fact.cases;
        let named = library.as_ref().map(NameGlob::text);
        let every = (fact.asked == Asked::Fastest).then_some("*");
        let Some(glob) = named.or(every).or(each) else { return };
        for a in Algorithm::all().iter().filter(|a| algorithm.matches(a.name)) {
            let direction = direction.unwrap_or(Row::usual_direction(a.name));
            let parts = self.of(*model, *tier, a.name);
            parts.directions.insert(direction);
            parts.libraries.insert(glob.to_owned());
            parts.sizes.insert(*size);
            parts.instructions |= fact.asked.counts_instructions();
        }
    }

    fn of(&mut self, model: Model, tier: Tier, algorithm: &'static str) -> &mut Parts {
        let parts = self.0.entry((model, tier)).or_default().entry(algorithm).or_default();
        parts.algorithms.insert(algorithm);
        parts
    }

    fn surveys(self) -> Vec<Need> {
        let mut needs = Vec::new();
        for ((model, tier), algorithms) in self.0 {
            for parts in joined(algorithms.into_values().collect()) {
                let every = parts.libraries.contains("*");
                let all = || vec!["*".to_owned()];
                needs.push(Need {
                    model,
                    tier,
                    libraries: if every { all() } else { parts.libraries.into_iter().collect() },
                    algorithms: parts.algorithms.into_iter().collect(),
                    directions: parts.directions.into_iter().collect(),
                    sizes: parts.sizes.into_iter().collect(),
                    // That nothing that the tier excludes ran is proved by what was executed.
                    instructions: parts.instructions || tier != Tier::Native,
                });
            }
        }
        needs
    }
}

/// A survey measures all of its algorithms at all of its sizes: those that ask for nearly the same are
/// put together, the others are not made to measure what nobody asks for.
fn joined(mut all: Vec<Parts>) -> Vec<Parts> {
    loop {
        let pairs = (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| (a, b)));
        let added = |(a, b): (usize, usize)| {
            let together = all[a].and(&all[b]).cases();
            (together.saturating_sub(all[a].cases() + all[b].cases()), a, b)
        };
        match pairs.map(added).min() {
            Some((cases, a, b)) if cases <= WORTH => {
                all[a] = all[a].and(&all[b]);
                all.remove(b);
            }
            _ => return all,
        }
    }
}

impl Parts {
    fn cases(&self) -> usize {
        // All libraries are many.
        let libraries = if self.libraries.contains("*") { 10 } else { self.libraries.len() };
        libraries * self.algorithms.len() * self.directions.len() * self.sizes.len()
    }

    fn and(&self, other: &Self) -> Self {
        fn both<T: Ord + Clone>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> BTreeSet<T> {
            a.union(b).cloned().collect()
        }
        Self {
            libraries: both(&self.libraries, &other.libraries),
            algorithms: both(&self.algorithms, &other.algorithms),
            directions: both(&self.directions, &other.directions),
            sizes: both(&self.sizes, &other.sizes),
            instructions: self.instructions || other.instructions,
        }
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
        assert_eq!((decrypt.instructions, noaes.instructions), (false, true));
        assert_eq!(
            (digest.model, &digest.algorithms[..]),
            (Model::Message, &["sha256", "sha384"][..])
        );
        assert_eq!((&digest.libraries[..], &digest.sizes[..]), (&["*".to_owned()][..], &[64][..]));
    }

    #[test]
    fn algorithms_that_are_asked_for_at_other_sizes_are_measured_apart_where_that_saves_much() {
        let parts = |algorithm, sizes: &[usize]| Parts {
            libraries: BTreeSet::from(["openssl".to_owned()]),
            algorithms: BTreeSet::from([algorithm]),
            directions: BTreeSet::from([Direction::Encrypt]),
            sizes: sizes.iter().copied().collect(),
            instructions: false,
        };
        let many: Vec<usize> = (1..=30).map(|i| i * 16).collect();
        let all =
            vec![parts("a", &many), parts("b", &[8192]), parts("c", &[1024]), parts("d", &many)];
        let surveys: Vec<Vec<&str>> =
            joined(all).into_iter().map(|p| p.algorithms.into_iter().collect()).collect();
        assert_eq!(surveys, [vec!["a", "d"], vec!["b", "c"]]);
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
