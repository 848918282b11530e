//! What schemes cost, from a record's measurements.

mod gaps;
mod join;
mod pages;
mod parts;

use crate::advise::data::Data;
use crate::advise::evidence::Evidence;
use crate::advise::question::Question;
use crate::advise::schemes::{Scheme, takes};
use crate::claims::expression::Interval;
use base::model::{Algorithm, Direction, Kind, Model, Tier};
pub(crate) use gaps::Gap;
use join::Joins;
use pages::Pages;
use parts::{Part, Parts};
use record::{LeakVerdict, Leaks, LibraryId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Measured as one operation at this size.
    Measured,
    /// The sum of two measured parts.
    Composed,
    /// Measured on the pages of a store, nonce and sum included.
    Store,
    /// Another scheme with a new key for each unit: what derives the key is not in it.
    Rekeyed,
}

/// What a scheme takes beside reading or writing a page of the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InStore {
    /// Where pages were: `cache`, `direct`, `log`.
    pub medium: String,
    /// `decrypt` after a read, `encrypt` before a write.
    pub direction: Direction,
    /// Nanoseconds of the scheme's own work on a page.
    pub scheme_ns: f64,
    /// Nanoseconds of reading or writing it.
    pub io_ns: f64,
    /// The former's share in both.
    pub share: f64,
}

/// What a scheme costs in one library, or in two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Which builds: the cipher's, and the check's where that is another's.
    pub libraries: Vec<LibraryId>,
    /// Algorithms of the record.
    pub algorithms: Vec<String>,
    /// Measured or composed.
    pub how: How,
    /// Nanoseconds of joining the parts that are in a composed price, both directions' mean; none
    /// where the record has no such scheme whole.
    pub join_ns: Option<f64>,
    /// Whether the size lies between two that were measured.
    pub between_sizes: bool,
    /// Nanoseconds of encryption of a unit.
    pub write_ns: Interval,
    /// Nanoseconds of decryption of a unit.
    pub read_ns: Interval,
    /// Core cycles of encryption of a unit.
    pub write_cycles: Option<f64>,
    /// Core cycles of decryption of a unit.
    pub read_cycles: Option<f64>,
    /// 99th percentile of one operation in microseconds, the slower direction; of two parts their sum.
    pub p99_us: Option<f64>,
    /// Nanoseconds of a unit whatever its size, and of each byte, both directions' mean; where the
    /// measured times lie on a line.
    pub line: Option<(f64, f64)>,
    /// Beside reading and writing, where a store's pages were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_store: Vec<InStore>,
    /// What of it depends on the secret, of two parts the graver; none where it was not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaks: Option<LeakVerdict>,
}

impl Price {
    /// What ranks: the mean of both directions by the share of reads.
    #[must_use]
    pub fn cost(&self, reads: f64) -> Interval {
        sum(share(self.read_ns, reads), share(self.write_ns, 1.0 - reads))
    }

    /// `openssl@4.0.3`, or `openssl@4.0.3 + xxhash@0.8.3`.
    #[must_use]
    pub fn label(&self) -> String {
        let names: Vec<String> =
            self.libraries.iter().map(|l| format!("{}@{}", l.name, l.version)).collect();
        names.join(" + ")
    }

    fn of(
        part: &Part,
        algorithm: &Algorithm,
        library: &LibraryId,
        leaks: Option<LeakVerdict>,
    ) -> Self {
        Self {
            libraries: vec![library.clone()],
            algorithms: vec![algorithm.name.to_owned()],
            how: How::Measured,
            join_ns: None,
            between_sizes: part.between_sizes,
            write_ns: part.write.ns,
            read_ns: part.read.ns,
            write_cycles: part.write.cycles,
            read_cycles: part.read.cycles,
            p99_us: part.p99_us(),
            line: part.line,
            in_store: Vec::new(),
            leaks,
        }
    }

    fn with(mut self, check: &Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        if self.libraries != check.libraries {
            self.libraries.extend(check.libraries.iter().cloned());
        }
        self.algorithms.extend(check.algorithms.iter().cloned());
        self.how = How::Composed;
        self.between_sizes |= check.between_sizes;
        self.write_ns = sum(self.write_ns, check.write_ns);
        self.read_ns = sum(self.read_ns, check.read_ns);
        self.write_cycles = both(self.write_cycles, check.write_cycles);
        self.read_cycles = both(self.read_cycles, check.read_cycles);
        self.p99_us = both(self.p99_us, check.p99_us);
        self.leaks = graver(self.leaks, check.leaks);
        self.line = self.line.zip(check.line).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
        self
    }
}

/// The graver of two verdicts; without one of them none, unless the other is the gravest.
fn graver(a: Option<LeakVerdict>, b: Option<LeakVerdict>) -> Option<LeakVerdict> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (one, other) => one.or(other).filter(|v| *v == LeakVerdict::Depends),
    }
}

/// The sum of two that were measured apart.
fn sum(a: Interval, b: Interval) -> Interval {
    a.independent(b, |a, b| a + b)
}

fn share(of: Interval, share: f64) -> Interval {
    of.with(Interval::exact(share), |ns, share| ns * share)
}

/// The prices of all schemes, in all libraries of a record, and what the record lacks.
#[derive(Clone, Debug)]
pub struct Costs {
    schemes: BTreeMap<String, Known>,
}

/// What is known of a scheme.
#[derive(Clone, Debug)]
struct Known {
    prices: Result<Vec<Price>, String>,
    gaps: Vec<Gap>,
}

impl Costs {
    /// What one unit costs that is asked about. A record of pages is of one size and one tier. `judged` has verdicts on
    /// secrets from elsewhere than the record.
    #[must_use]
    pub fn of(
        data: &Data,
        question: &Question<'_>,
        evidence: Evidence<'_>,
        judged: &[Leaks],
    ) -> Self {
        let (size, tier, model) = (question.size, question.tier, question.model());
        let known: Box<dyn Fn(&Scheme) -> Known + '_> = match evidence {
            Evidence::Pages(record) => {
                let pages = Pages::of(record, model);
                let rekeyed = Pages::of(record, Model::Rekey);
                let fits = (record.store.page_size, record.tier) == (size, tier);
                Box::new(move |s: &Scheme| {
                    if !fits {
                        let why = "the record of pages is of another size or tier".to_owned();
                        return Known { prices: Err(why), gaps: Vec::new() };
                    }
                    let (prices, gaps) = match s.rekeyed {
                        Some(of) => {
                            let gaps =
                                gaps::bounded(rekeyed.lacking(of.name), pages.prices(of.name));
                            (derived(s, rekeyed.prices(of.name), model), gaps)
                        }
                        None => (
                            pages.prices(&s.id).map_err(|why| elsewhere(s).unwrap_or(why)),
                            pages.lacking(&s.id),
                        ),
                    };
                    let mut known = Known { prices, gaps };
                    for price in known.prices.iter_mut().flatten() {
                        price.leaks = of_scheme(s, judged, &price.libraries, tier);
                    }
                    known
                })
            }
            Evidence::Survey(record) => {
                let parts = Parts::of(record, judged, (size, tier, model));
                let joins = Joins::of(&data.schemes, &parts);
                let rekeyed = Parts::of(record, judged, (size, tier, Model::Rekey));
                Box::new(move |s: &Scheme| match s.rekeyed {
                    Some(of) => Known {
                        prices: derived(s, Ok(rekeyed.priced(of)), model),
                        gaps: match model {
                            Model::Rekey => Vec::new(),
                            _ => gaps::of_derived(of, &rekeyed, &parts),
                        },
                    },
                    None => Known {
                        prices: prices(s, &parts, &joins, size),
                        gaps: gaps::of_survey(s, &parts, size),
                    },
                })
            }
        };
        let schemes = data.schemes.iter().map(|s| (s.id.clone(), known(s))).collect();
        Self { schemes }
    }

    /// The prices of a scheme, in the order of the record's libraries; or why there are none.
    pub(crate) fn prices(&self, scheme: &Scheme) -> Result<&[Price], &str> {
        match self.schemes.get(&scheme.id).map(|known| &known.prices) {
            Some(Ok(prices)) => Ok(prices),
            Some(Err(why)) => Err(why),
            None => Err("not looked at"),
        }
    }

    /// Where a scheme may be had and was not measured.
    pub(crate) fn gaps(&self, scheme: &Scheme) -> &[Gap] {
        self.schemes.get(&scheme.id).map_or(&[], |known| &known.gaps)
    }
}

/// What is known of the secrets of a scheme's algorithms in these builds, the gravest.
fn of_scheme(
    scheme: &Scheme,
    judged: &[Leaks],
    libraries: &[LibraryId],
    tier: Tier,
) -> Option<LeakVerdict> {
    let judged: Vec<&Leaks> = judged.iter().collect();
    let of = |a: &&'static Algorithm| {
        let one = |l: &LibraryId| parts::secrets(&judged, a, l, tier);
        libraries.iter().filter_map(one).max()
    };
    scheme.running().iter().map(of).reduce(graver).flatten()
}

fn prices(
    scheme: &Scheme,
    parts: &Parts<'_>,
    joins: &Joins,
    size: usize,
) -> Result<Vec<Price>, String> {
    let mut all: Vec<Price> = scheme.measured.iter().flat_map(|a| parts.priced(a)).collect();
    if let [cipher, check] = scheme.composed[..] {
        // A sum is for libraries without the whole.
        let mut ciphers = parts.priced(cipher);
        ciphers.retain(|c| all.iter().all(|whole| whole.libraries != c.libraries));
        let sums = composed(&ciphers, &parts.priced(check), check);
        all.extend(sums.into_iter().map(|sum| joins.joined(sum, cipher, check)));
    }
    if !all.is_empty() {
        return Ok(all);
    }
    if let Some(who) = elsewhere(scheme) {
        return Err(who);
    }
    let algorithms = scheme.algorithms();
    match algorithms.iter().find(|a| !takes(a, size)) {
        Some(unfit) => Err(unfit.size_reason()),
        None => Err(parts.why_not(&algorithms)),
    }
}

/// Who has a scheme that no library here has.
fn elsewhere(scheme: &Scheme) -> Option<String> {
    let who = &scheme.family.elsewhere;
    (!who.is_empty()).then(|| format!("no library that is measured has it; {who}"))
}

/// The prices of a scheme that derives a key for each unit, from those of another with a new key for each.
fn derived(
    scheme: &Scheme,
    prices: Result<Vec<Price>, String>,
    model: Model,
) -> Result<Vec<Price>, String> {
    let of = scheme.rekeyed.map_or("", |a| a.name);
    if model == Model::Rekey {
        return Err(format!("with a key for each write there is nothing to derive: {of} does"));
    }
    let mut all = prices.unwrap_or_default();
    if all.is_empty() {
        return Err(format!(
            "the record has no {of} with a new key for each unit (`-m message,rekey` takes it)"
        ));
    }
    all.iter_mut().for_each(|p| p.how = How::Rekeyed);
    Ok(all)
}

/// A MAC comes from the cipher's library, where it has one; a sum from any.
fn composed(ciphers: &[Price], checks: &[Price], check: &Algorithm) -> Vec<Price> {
    let mut all = Vec::new();
    for cipher in ciphers {
        let own: Vec<&Price> = checks.iter().filter(|c| c.libraries == cipher.libraries).collect();
        let from: Vec<&Price> = match (own.is_empty(), check.kind) {
            (false, Kind::Mac) => own,
            _ => checks.iter().collect(),
        };
        all.extend(from.into_iter().map(|check| cipher.clone().with(check)));
    }
    all
}
