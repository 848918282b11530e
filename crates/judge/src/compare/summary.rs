//! What the shared cases say together.

use crate::compare::{Compared, Matching};
use base::analysis::{Ratio, Verdict, geometric_mean};
use record::LibraryId;
use serde::Serialize;
use std::collections::BTreeSet;

/// How many cases have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Within the tolerance.
    pub same: usize,
    /// Of these, cases whose samples are the same ones.
    pub identical: usize,
    /// Faster.
    pub faster: usize,
    /// Slower.
    pub slower: usize,
    /// None of these can be said.
    pub undecided: usize,
}

impl Tally {
    pub(crate) fn of<'a>(cases: impl IntoIterator<Item = &'a Compared>) -> Self {
        let mut tally = Self::default();
        for case in cases {
            tally.identical += usize::from(case.identical);
            *match case.verdict {
                Verdict::Same => &mut tally.same,
                Verdict::Faster => &mut tally.faster,
                Verdict::Slower => &mut tally.slower,
                Verdict::Undecided => &mut tally.undecided,
            } += 1;
        }
        tally
    }

    /// All cases.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.same + self.faster + self.slower + self.undecided
    }
}

/// Shared cases, summed up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The two libraries, where several pairs are compared.
    pub libraries: Option<(LibraryId, LibraryId)>,
    /// The family of algorithms; none for all.
    pub family: Option<String>,
    /// Verdicts.
    #[serde(flatten)]
    pub tally: Tally,
    /// Geometric mean of the cases' ratios, the new cost over the base's.
    pub ratio: Option<Ratio>,
}

/// Families, then all of them. Libraries that were matched by name are two runs' or two versions'
/// of the same set: they have a mean together and one each. One library against others has a mean
/// with each of them only.
pub(crate) fn summaries(cases: &[Compared], matching: Matching) -> (Vec<Summary>, Vec<Summary>) {
    let mut pairs: Vec<_> = cases.iter().map(Compared::libraries).collect();
    pairs.sort();
    pairs.dedup();
    let several = pairs.len() > 1;
    let of_pair = |pair| cases.iter().filter(move |c| c.libraries() == pair).collect::<Vec<_>>();
    let (mut families, mut overall) = (Vec::new(), Vec::new());
    if !cases.is_empty() && (!several || matching == Matching::ByName) {
        families = by_family(None, &cases.iter().collect::<Vec<_>>());
        overall.push(summary(None, None, cases.iter().collect()));
    }
    for pair in pairs.into_iter().filter(|_| several) {
        let libraries = Some((pair.0.clone(), pair.1.clone()));
        if matching == Matching::Every {
            families.extend(by_family(libraries.clone(), &of_pair(pair)));
        }
        overall.push(summary(libraries, None, of_pair(pair)));
    }
    (families, overall)
}

fn by_family(libraries: Option<(LibraryId, LibraryId)>, cases: &[&Compared]) -> Vec<Summary> {
    let names: BTreeSet<&String> = cases.iter().map(|c| &c.family).collect();
    let of_family = |name: &String| cases.iter().filter(|c| c.family == *name).copied().collect();
    names.into_iter().map(|n| summary(libraries.clone(), Some(n.clone()), of_family(n))).collect()
}

fn summary(
    libraries: Option<(LibraryId, LibraryId)>,
    family: Option<String>,
    cases: Vec<&Compared>,
) -> Summary {
    // What the harness itself costs is no library's merit.
    let counts = |c: &&&Compared| c.case.algorithm != "null";
    let ratios = cases.iter().filter(counts).filter_map(|c| c.ratio);
    let ratios: Vec<Ratio> = ratios.collect();
    Summary { libraries, family, tally: Tally::of(cases), ratio: geometric_mean(&ratios) }
}
