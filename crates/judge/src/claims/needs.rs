//! What has to be measured to judge claims: read off their expressions.

use crate::claims::claim::Claim;
use crate::claims::fact::{Asked, Cases, Fact};
use base::model::{Algorithm, Direction, Model, NameGlob, Tier};
use record::import::{Row, Table};
use std::collections::{BTreeMap, BTreeSet};

/// One survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions the libraries may see.
    pub tier: Tier,
    /// Libraries by glob.
    pub libraries: BTreeSet<String>,
    /// Names of algorithms.
    pub algorithms: BTreeSet<&'static str>,
    /// Directions of ciphers.
    pub directions: BTreeSet<Direction>,
    /// Sizes in bytes.
    pub sizes: BTreeSet<usize>,
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
        for fact in claim.facts() {
            if let Fact::Cases(asked, cases) = fact {
                needs.add(asked, cases, each);
            }
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
    pub cases: BTreeSet<record::tls::Case>,
}

/// The handshakes that these claims need.
#[must_use]
pub fn handshakes_of_claims(claims: &[&Claim]) -> HandshakeNeed {
    let mut need = HandshakeNeed::default();
    for claim in claims {
        let Some(each) = &claim.each else { continue };
        for fact in claim.facts() {
            if let Fact::Handshake(case) = fact {
                need.libraries.insert(each.text().to_owned());
                need.cases.insert(*case);
            }
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
            let need = needs.of(row.model, row.tier, a.name);
            need.libraries.insert(library_glob(row));
            need.directions.insert(row.direction);
            need.sizes.insert(row.size.unwrap_or(SIZE));
            need.instructions |= row.instructions_per_byte.is_some();
        }
    }
    needs.surveys()
}

/// A library and its other builds: `wolfssl`, `wolfssl-noasm`.
pub(crate) fn library_glob(row: &Row) -> String {
    format!("{{{0},{0}@*,{0}-no*}}", row.library)
}

/// What each algorithm is asked for.
#[derive(Default)]
struct Needs(BTreeMap<(Model, Tier, &'static str), Need>);

/// Cases that a survey of its own is worth: each begins with a second or two of looking at the core.
const WORTH: usize = 12;

/// The glob of all libraries.
const EVERY: &str = "*";

impl Needs {
    fn add(&mut self, asked: &Asked, cases: &Cases, each: Option<&str>) {
        let Cases { algorithm, size, direction, model, tier, library } = cases;
        let named = library.as_ref().map(NameGlob::text);
        let every = (*asked == Asked::Fastest).then_some(EVERY);
        let Some(glob) = named.or(every).or(each) else { return };
        for a in Algorithm::all().iter().filter(|a| algorithm.matches(a.name)) {
            let direction = direction.unwrap_or(Row::usual_direction(a.name));
            let need = self.of(*model, *tier, a.name);
            need.directions.insert(direction);
            need.libraries.insert(glob.to_owned());
            need.sizes.insert(*size);
            need.instructions |= matches!(asked, Asked::Instructions | Asked::Executed(_));
        }
    }

    fn of(&mut self, model: Model, tier: Tier, algorithm: &'static str) -> &mut Need {
        self.0.entry((model, tier, algorithm)).or_insert_with(|| Need {
            model,
            tier,
            libraries: BTreeSet::new(),
            algorithms: BTreeSet::from([algorithm]),
            directions: BTreeSet::new(),
            sizes: BTreeSet::new(),
            // That nothing that the tier excludes ran is proved by what was executed.
            instructions: tier != Tier::Native,
        })
    }

    fn surveys(self) -> Vec<Need> {
        let mut needs = joined(self.0.into_values().collect());
        for need in needs.iter_mut().filter(|need| need.libraries.contains(EVERY)) {
            need.libraries.retain(|glob| glob == EVERY);
        }
        needs
    }
}

/// A survey measures all of its algorithms at all of its sizes: those that ask for nearly the same are
/// put together, the others are not made to measure what nobody asks for.
fn joined(mut all: Vec<Need>) -> Vec<Need> {
    loop {
        let pairs = (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| (a, b)));
        let is_one = |(a, b): &(usize, usize)| {
            (all[*a].model, all[*a].tier) == (all[*b].model, all[*b].tier)
        };
        let added = |(a, b): (usize, usize)| {
            let together = all[a].and(&all[b]).cases();
            (together.saturating_sub(all[a].cases() + all[b].cases()), a, b)
        };
        match pairs.filter(is_one).map(added).min() {
            Some((cases, a, b)) if cases <= WORTH => {
                all[a] = all[a].and(&all[b]);
                all.remove(b);
            }
            _ => return all,
        }
    }
}

impl Need {
    fn cases(&self) -> usize {
        // All libraries are many.
        let libraries = if self.libraries.contains(EVERY) { 10 } else { self.libraries.len() };
        libraries * self.algorithms.len() * self.directions.len() * self.sizes.len()
    }

    fn and(&self, other: &Self) -> Self {
        fn both<T: Ord + Clone>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> BTreeSet<T> {
            a.union(b).cloned().collect()
        }
        Self {
            model: self.model,
            tier: self.tier,
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

    #[test]
    fn a_claim_needs_what_its_expressions_name_and_nothing_else() {
        let claim = "each = 'openssl'\n\
             figures = [{ of = 'z', here = 'fastest(sha{256,384}, 64, message)' }]\n\
             parts = [{ holds = 'speed(aes-128-ctr, 16, decrypt) / speed(aes-128-ctr, 16, noaes) > 1' }]";
        let source = crate::claims::sample::source(Model::Stream, claim).unwrap();
        let needs = needs_of_claims(&[&source.claims[0]]);
        let [decrypt, noaes, digest] = &needs[..] else { panic!("{needs:?}") };
        let of = |need: &Need| (need.model, need.tier, need.directions.first().copied());
        assert_eq!(of(decrypt), (Model::Stream, Tier::Native, Some(Direction::Decrypt)));
        assert_eq!(of(noaes), (Model::Stream, Tier::Noaes, Some(Direction::Encrypt)));
        assert_eq!(noaes.libraries, BTreeSet::from(["openssl".to_owned()]));
        assert_eq!((decrypt.instructions, noaes.instructions), (false, true));
        assert_eq!(digest.model, Model::Message);
        assert_eq!(digest.algorithms, BTreeSet::from(["sha256", "sha384"]));
        assert_eq!(digest.libraries, BTreeSet::from([EVERY.to_owned()]));
        assert_eq!(digest.sizes, BTreeSet::from([64]));
    }

    #[test]
    fn algorithms_that_are_asked_for_at_other_sizes_are_measured_apart_where_that_saves_much() {
        let parts = |algorithm, sizes: &[usize]| Need {
            model: Model::Stream,
            tier: Tier::Native,
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
        let needs = needs_of_table(&record::import::parse_table(text).unwrap());
        let [need] = &needs[..] else { panic!("{needs:?}") };
        assert_eq!(need.algorithms, BTreeSet::from(["aes-256-ctr"]));
        assert_eq!(need.sizes, BTreeSet::from([SIZE]));
        let glob = NameGlob::parse(need.libraries.first().unwrap()).unwrap();
        assert!(glob.matches("wolfssl") && glob.matches("wolfssl-noasm"));
        assert!(!glob.matches("wolfsslx"));
    }
}
