//! What a record lacks: schemes that a library may have and that have no price, because not all of them was measured.
//! A hole is not a no: it counts against an answer until a bound rules it out.

use super::Price;
use super::parts::Parts;
use crate::advise::evaluate::SAME;
use crate::advise::schemes::{Scheme, takes};
use base::model::{Algorithm, Kind};
use record::LibraryId;

/// A scheme in a library that was not measured, or not whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gap {
    /// Which builds; none where it is not known who has it.
    pub libraries: Vec<LibraryId>,
    /// What is to be measured.
    pub algorithms: Vec<&'static str>,
    /// Nanoseconds that encryption and decryption of a unit take at the least; zero where nothing bounds them.
    pub at_least_ns: (f64, f64),
    /// Why there is no price.
    pub why: String,
}

impl Gap {
    /// What a unit costs at the least, by the share of reads.
    pub fn at_least(&self, reads: f64) -> f64 {
        let (write, read) = self.at_least_ns;
        read * reads + write * (1.0 - reads)
    }

    /// Whether it may cost less than so much by more than what is called the same.
    pub fn may_cost_less(&self, reads: f64, ns: f64) -> bool {
        self.at_least(reads) < (1.0 - SAME) * ns
    }

    /// `openssl@4.0.3`; of what nobody was asked for, `any library`.
    pub fn label(&self) -> String {
        let names = self.libraries.iter().map(|l| format!("{}@{}", l.name, l.version));
        let names: Vec<String> = names.collect();
        if names.is_empty() { "any library".to_owned() } else { names.join(" + ") }
    }

    /// With a check, of which so much is known.
    fn with(mut self, other: &Self) -> Self {
        let new = other.libraries.iter().filter(|l| !self.libraries.contains(l));
        let new: Vec<LibraryId> = new.cloned().collect();
        self.libraries.extend(new);
        self.algorithms.extend(&other.algorithms);
        self.at_least_ns.0 += other.at_least_ns.0;
        self.at_least_ns.1 += other.at_least_ns.1;
        if self.why.is_empty() {
            self.why.clone_from(&other.why);
        }
        self
    }

    /// Of what is measured: nothing is lacking in it, and it is a part of something of which something is.
    fn known(price: &Price) -> Self {
        Self {
            libraries: price.libraries.clone(),
            algorithms: Vec::new(),
            at_least_ns: (price.write_ns.low, price.read_ns.low),
            why: String::new(),
        }
    }
}

/// Of a survey's record, of one scheme.
pub(super) fn of_survey(scheme: &Scheme, parts: &Parts<'_>, size: usize) -> Vec<Gap> {
    let fitting = |a: &&&'static Algorithm| takes(a, size);
    let mut gaps: Vec<Gap> =
        scheme.measured.iter().filter(fitting).flat_map(|a| parts.lacking(a)).collect();
    if let [cipher, check] = scheme.composed[..]
        && takes(cipher, size)
        && takes(check, size)
    {
        gaps.extend(of_sums(scheme, parts, cipher, check));
    }
    gaps
}

/// Of a scheme that is another one with a new key for each unit: it takes as much at the least as that one does without.
pub(super) fn of_derived(
    of: &'static Algorithm,
    rekeyed: &Parts<'_>,
    parts: &Parts<'_>,
) -> Vec<Gap> {
    let gaps = rekeyed.lacking(of);
    if gaps.iter().any(|gap| gap.libraries.is_empty()) {
        let why = "the record did not ask for it with a new key for each unit";
        let whole = parts.priced(of).iter().map(Gap::known).collect::<Vec<_>>();
        let all = whole.into_iter().chain(parts.lacking(of));
        return all
            .map(|gap| Gap { algorithms: vec![of.name], why: why.to_owned(), ..gap })
            .collect();
    }
    bounded(gaps, Ok(parts.priced(of)))
}

/// What is lacking takes as much at the least as the same without a new key for each unit.
pub(super) fn bounded(mut gaps: Vec<Gap>, without: Result<Vec<Price>, String>) -> Vec<Gap> {
    let bounds = without.unwrap_or_default();
    for gap in &mut gaps {
        if let Some(whole) = bounds.iter().find(|p| p.libraries == gap.libraries) {
            gap.at_least_ns.0 = gap.at_least_ns.0.max(whole.write_ns.low);
            gap.at_least_ns.1 = gap.at_least_ns.1.max(whole.read_ns.low);
        }
    }
    gaps
}

/// Ciphers and checks of which one or both lack something; not in libraries that have the whole.
fn of_sums(
    scheme: &Scheme,
    parts: &Parts<'_>,
    cipher: &'static Algorithm,
    check: &'static Algorithm,
) -> Vec<Gap> {
    let wholes: Vec<Price> = scheme.measured.iter().flat_map(|a| parts.priced(a)).collect();
    let no_whole = |l: &[LibraryId]| wholes.iter().all(|w| w.libraries != l);
    let both = |a: &'static Algorithm| {
        let known: Vec<Gap> = parts.priced(a).iter().map(Gap::known).collect();
        let lacking = parts.lacking(a);
        known.into_iter().chain(lacking).collect::<Vec<_>>()
    };
    let (ciphers, checks) = (both(cipher), both(check));
    let mut gaps = Vec::new();
    for part in ciphers.iter().filter(|c| no_whole(&c.libraries)) {
        let own: Vec<&Gap> = checks.iter().filter(|c| c.libraries == part.libraries).collect();
        let from: Vec<&Gap> = match (own.is_empty(), check.kind) {
            (false, Kind::Mac) => own,
            _ => checks.iter().collect(),
        };
        let sums = from.into_iter().map(|check| part.clone().with(check));
        gaps.extend(sums.filter(|sum| !sum.algorithms.is_empty()));
    }
    gaps
}
