//! What schemes cost, from a record of a survey or of a page store: measured whole, or put together from
//! parts and what joining them takes.

mod parts;

use crate::advise::data::{Data, Scheme, takes};
use crate::advise::evaluate::source_of;
use crate::advise::question::{Evidence, KeyPer, NonceSource, Question};
use base::analysis::Estimate;
use base::model::{Algorithm, Direction, Kind, Model, Tier};
pub(crate) use parts::{AtLeast, Gap};
use parts::{Part, Parts, Timed};
use record::at_rest::{Cell, Keying, Medium, PagesRecord};
use record::{LeakVerdict, Leaks, LibraryId, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    pub io_ns: f64,
    pub share: f64,
}

/// What a nonce takes that is drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    pub ns: f64,
    pub by: String,
}

/// What a scheme costs in one library, or in two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Which builds: the cipher's, and the check's where that is another's.
    pub libraries: Vec<LibraryId>,
    pub algorithms: Vec<String>,
    /// Measured or composed.
    pub how: How,
    /// Nanoseconds of joining the parts that are in a composed price, both directions' mean; none
    /// where the record has no such scheme whole.
    pub join_ns: Option<f64>,
    /// Drawing the nonce, which is in the time of encryption; none where it is not drawn, or no generator was measured. Of
    /// a store it is in the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
    /// Whether the size lies between two that were measured.
    pub between_sizes: bool,
    /// Nanoseconds of encryption of a unit.
    pub write_ns: Estimate,
    /// Nanoseconds of decryption of a unit.
    pub read_ns: Estimate,
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
    pub fn cost(&self, reads: f64) -> Estimate {
        let cost = sum(share(self.read_ns, reads), share(self.write_ns, 1.0 - reads));
        // Where one direction has no interval, both together have none.
        let counts = [(self.read_ns, reads), (self.write_ns, 1.0 - reads)];
        let is_known = counts.iter().all(|(ns, share)| *share <= 0.0 || ns.half() > 0.0);
        if is_known { cost } else { Estimate::exactly(cost.median) }
    }

    /// `openssl@4.0.3`, or `openssl@4.0.3 + xxhash@0.8.3`.
    pub fn label(&self) -> String {
        let names: Vec<String> = self.libraries.iter().map(|l| l.label()).collect();
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
            drawn: None,
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

    /// With a nonce that is drawn for each unit that is encrypted.
    fn drawing(&mut self, draw: &parts::Cell, by: String) {
        self.drawn = Some(Drawn { ns: draw.ns.median, by });
        self.write_ns = sum(self.write_ns, draw.ns);
        self.write_cycles = both(self.write_cycles, draw.cycles);
        self.p99_us = both(self.p99_us, draw.p99_us);
        self.line = self.line.map(|(unit, byte)| (unit + draw.ns.median / 2.0, byte));
    }

    fn with(mut self, check: &Self) -> Self {
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

fn both(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? + b?)
}

/// The sum of two times that were measured apart: where either may be next to nothing, so may both.
fn sum(a: Estimate, b: Estimate) -> Estimate {
    let sum = a.independent(b, |a, b| a + b);
    Estimate { low: sum.low.max(0.0), ..sum }
}

fn share(of: Estimate, share: f64) -> Estimate {
    of.with(Estimate::exactly(share), |ns, share| ns * share)
}

/// The prices of all schemes, in all libraries of a record, and what the record lacks.
#[derive(Clone, Debug)]
pub struct Costs {
    schemes: BTreeMap<String, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    own: Priced,
    /// With nonces that are drawn, where those are not in the own prices.
    drawing: Option<Priced>,
    /// Whether the evidence was to have it, or no library that is measured does.
    was_asked: bool,
}

#[derive(Clone, Debug)]
struct Priced {
    prices: Result<Vec<Price>, String>,
    gaps: Vec<Gap>,
}

impl Priced {
    /// The same with a nonce of so many bytes drawn for each unit that is encrypted.
    fn drawing(&self, parts: &Parts<'_>, bytes: usize) -> Self {
        let mut all = self.clone();
        for price in all.prices.iter_mut().flatten() {
            if let Some((draw, by)) = parts.draw(&price.libraries[0], bytes) {
                price.drawing(&draw, by);
            }
        }
        for gap in &mut all.gaps {
            let draw = gap.libraries.first().and_then(|library| parts.draw(library, bytes));
            gap.at_least.0.ns += draw.map_or(0.0, |(draw, _)| draw.ns.low);
        }
        all
    }
}

impl Costs {
    /// What one unit costs that is asked about. A record of pages is of one size and one tier. `judged` has verdicts on
    /// secrets from elsewhere than the record.
    pub fn of(
        data: &Data,
        question: &Question<'_>,
        evidence: Evidence<'_>,
        judged: &[Leaks],
    ) -> Self {
        let (size, tier, model) = (question.size, question.tier, question.model());
        let footprint = question.used.footprint;
        let rekey = if model.is_between() { Model::BetweenRekey } else { Model::Rekey };
        let known: Box<dyn Fn(&Scheme) -> Known + '_> = match evidence {
            Evidence::Pages(record) => {
                let pages = Pages::of(record, model);
                let rekeyed = Pages::of(record, rekey);
                let fits = (record.store.page_size, record.tier) == (size, tier);
                let other = (!fits).then_some("the record of pages is of another size or tier");
                let useless = record.withdrawn().or(other);
                Box::new(move |s: &Scheme| {
                    if let Some(why) = useless {
                        let own = Priced { prices: Err(why.to_owned()), gaps: Vec::new() };
                        return Known { own, drawing: None, was_asked: true };
                    }
                    let mut own = match s.rekeyed {
                        Some(of) => Priced {
                            prices: derived(s, rekeyed.prices(of.name), model),
                            gaps: match model.rekeys() {
                                true => Vec::new(),
                                false => parts::bounded(rekeyed.lacking(s), pages.prices(of.name)),
                            },
                        },
                        None => Priced {
                            prices: pages.prices(&s.id).map_err(|why| elsewhere(s).unwrap_or(why)),
                            gaps: pages.lacking(s),
                        },
                    };
                    let was_asked = pages.was_asked(asked_as(s)) || !pages.may_have(s);
                    for gap in &mut own.gaps {
                        let leaks = of_scheme(s, judged, &gap.libraries, tier);
                        gap.depends = leaks == Some(LeakVerdict::Depends);
                    }
                    for price in own.prices.iter_mut().flatten() {
                        price.leaks = of_scheme(s, judged, &price.libraries, tier);
                    }
                    Known { own, drawing: None, was_asked }
                })
            }
            Evidence::Survey(record) => {
                let timed = Timed { size, tier, model, footprint };
                let parts = Parts::of(record, judged, timed);
                let joins = Joins::of(&data.schemes, &parts);
                let rekeyed = Parts::of(record, judged, Timed { model: rekey, ..timed });
                Box::new(move |s: &Scheme| {
                    let own = match s.rekeyed {
                        Some(of) => Priced {
                            prices: derived(s, Ok(rekeyed.priced(of)), model),
                            gaps: match model.rekeys() {
                                true => Vec::new(),
                                false => parts::gaps_of_derived(of, &rekeyed, &parts),
                            },
                        },
                        None => Priced {
                            prices: prices(s, &parts, &joins, size),
                            gaps: parts::gaps_of_survey(s, &parts, size),
                        },
                    };
                    let drawing = Some(own.drawing(&parts, s.family.nonce_bits as usize / 8));
                    Known { own, drawing, was_asked: true }
                })
            }
        };
        let schemes = data.schemes.iter().map(|s| (s.id.clone(), known(s))).collect();
        Self { schemes }
    }

    /// By what its nonces are made of under this question, which may be another than the one that units and times are of.
    fn priced(&self, scheme: &Scheme, question: &Question<'_>) -> Option<&Priced> {
        let known = self.schemes.get(&scheme.id)?;
        let draws = source_of(scheme, question) == NonceSource::Random
            && question.wishes.key_per != KeyPer::Write;
        Some(known.drawing.as_ref().filter(|_| draws).unwrap_or(&known.own))
    }

    /// The prices of a scheme, in the order of the record's libraries; or why there are none.
    pub(crate) fn prices(
        &self,
        scheme: &Scheme,
        question: &Question<'_>,
    ) -> Result<&[Price], &str> {
        match self.priced(scheme, question).map(|known| &known.prices) {
            Some(Ok(prices)) => Ok(prices),
            Some(Err(why)) => Err(why),
            None => Err("not looked at"),
        }
    }

    /// Whether a scheme without a price was looked for.
    pub(crate) fn was_asked(&self, scheme: &Scheme) -> bool {
        self.schemes.get(&scheme.id).is_some_and(|known| known.was_asked)
    }

    /// Where a scheme may be had and was not measured.
    pub(crate) fn gaps(&self, scheme: &Scheme, question: &Question<'_>) -> &[Gap] {
        self.priced(scheme, question).map_or(&[], |known| &known.gaps)
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
        let checks = parts.priced(check);
        let sums = composed(&ciphers, &checks, check, |p| &p.libraries, Price::with);
        all.extend(sums.into_iter().map(|sum| joins.joined(sum, cipher, check)));
    }
    if !all.is_empty() {
        return Ok(all);
    }
    if let Some(who) = elsewhere(scheme) {
        return Err(who);
    }
    if !parts.may_have(scheme) {
        let who = scheme.family.libraries.join(", ");
        return Err(format!("the record has none of the libraries that have it: {who}"));
    }
    let algorithms = scheme.algorithms();
    match algorithms.iter().find(|a| !takes(a, size)) {
        Some(unfit) => Err(unfit.size_reason()),
        None => Err(parts.why_not(&algorithms)),
    }
}

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
    if model.rekeys() {
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

/// What is known of ciphers with a check. A MAC comes from the cipher's library, where it has one; a sum from any.
fn composed<T: Clone>(
    ciphers: &[T],
    checks: &[T],
    check: &Algorithm,
    libraries: fn(&T) -> &Vec<LibraryId>,
    with: fn(T, &T) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    for cipher in ciphers {
        let own: Vec<&T> = checks.iter().filter(|c| libraries(c) == libraries(cipher)).collect();
        let from = match (own.is_empty(), check.kind) {
            (false, Kind::Mac) => own,
            _ => checks.iter().collect(),
        };
        all.extend(from.into_iter().map(|check| with(cipher.clone(), check)));
    }
    all
}

// Prices from a record of pages: what each scheme took on the pages of a real store.

/// Media by how well they tell what the scheme itself costs; one serves for all schemes.
const MEDIA: [Medium; 4] = [Medium::Sequential, Medium::Random, Medium::Cache, Medium::Direct];

const NOT_ASKED: &str = "the record of pages did not ask for it";

/// What a record of pages calls a scheme.
fn asked_as(scheme: &Scheme) -> &str {
    scheme.rekeyed.map_or(&*scheme.id, |of| of.name)
}

/// What of a record one question is about.
struct Pages<'a> {
    record: &'a PagesRecord,
    /// Cells with a number, with keys used as asked, by one thread.
    cells: Vec<&'a Cell>,
    keying: Keying,
    medium: Option<Medium>,
}

impl<'a> Pages<'a> {
    pub fn of(record: &'a PagesRecord, model: Model) -> Self {
        let keying = if model.rekeys() { Keying::PerPage } else { Keying::Reused };
        let has = |c: &&Cell| c.state == State::Measured && c.threads == 1 && c.crypto_ns.is_some();
        let cells: Vec<&Cell> = record.cells.iter().filter(has).collect();
        let of = |medium: &Medium, direction: Direction| {
            cells.iter().any(|c| (c.medium, c.keying, c.direction) == (*medium, keying, direction))
        };
        let both = |m: &Medium| of(m, Direction::Encrypt) && of(m, Direction::Decrypt);
        let medium = MEDIA.into_iter().find(both);
        Self { record, cells, keying, medium }
    }

    /// The prices of a scheme, in the order of the record's libraries; or why there are none.
    pub fn prices(&self, scheme: &str) -> Result<Vec<Price>, String> {
        let libraries = 0..self.record.libraries.len();
        let all: Vec<Price> = libraries.filter_map(|library| self.price(scheme, library)).collect();
        if all.is_empty() { Err(self.why_not(scheme)) } else { Ok(all) }
    }

    fn price(&self, scheme: &str, library: usize) -> Option<Price> {
        if !self.is_proven(scheme, library) {
            return None;
        }
        let cell = |direction| self.cell(scheme, library, self.medium?, direction, self.keying);
        let (write, read) = (cell(Direction::Encrypt)?, cell(Direction::Decrypt)?);
        let p99 = |c: &Cell| c.crypto_tails.map(|t| t.p99 / 1e3);
        Some(Price {
            libraries: vec![self.record.libraries[library].identity()],
            algorithms: vec![scheme.to_owned()],
            how: How::Store,
            join_ns: None,
            drawn: None,
            between_sizes: false,
            write_ns: write.own_ns()?,
            read_ns: read.own_ns()?,
            write_cycles: None,
            read_cycles: None,
            p99_us: p99(write).zip(p99(read)).map(|(w, r)| w.max(r)),
            line: None,
            leaks: None,
            in_store: self.in_store(scheme, library),
        })
    }

    fn cell(
        &self,
        scheme: &str,
        library: usize,
        medium: Medium,
        direction: Direction,
        keying: Keying,
    ) -> Option<&'a Cell> {
        let it = |c: &&&Cell| {
            (c.library, c.scheme.as_str()) == (library, scheme)
                && (c.medium, c.keying, c.direction) == (medium, keying, direction)
        };
        self.cells.iter().find(it).copied()
    }

    /// Every page went through it and back, and no probe of tampering came out otherwise than expected.
    fn is_proven(&self, scheme: &str, library: usize) -> bool {
        let pair = (library, scheme);
        let verified = |v: &record::at_rest::Verified| {
            (v.library, v.scheme.as_str()) == pair && v.state == State::Measured
        };
        let odd =
            |p: &record::at_rest::Probed| (p.library, p.scheme.as_str()) == pair && !p.as_expected;
        self.record.verified.iter().any(verified) && !self.record.probes.iter().any(odd)
    }

    /// What the scheme takes beside a read from a file, or a write to one.
    fn in_store(&self, scheme: &str, library: usize) -> Vec<InStore> {
        let ways = [
            (Medium::Cache, Direction::Decrypt),
            (Medium::Direct, Direction::Decrypt),
            (Medium::Log, Direction::Encrypt),
        ];
        let of = |(medium, direction): (Medium, Direction)| {
            let with = |keying| self.cell(scheme, library, medium, direction, keying);
            let cell = with(self.keying).or_else(|| with(Keying::Reused))?;
            let (crypto, io) = (cell.crypto_ns?.median, cell.io_ns?.median);
            Some(InStore {
                medium: medium.name().to_owned(),
                direction,
                scheme_ns: crypto,
                io_ns: io,
                share: if crypto + io > 0.0 { crypto / (crypto + io) } else { 0.0 },
            })
        };
        ways.into_iter().filter_map(of).collect()
    }

    /// The libraries in which a scheme was not verified or timed whole, for want of time; of what nobody asked for it is not
    /// known which.
    pub fn lacking(&self, scheme: &Scheme) -> Vec<Gap> {
        let may_have = self.may_have(scheme);
        let scheme = asked_as(scheme);
        if !self.was_asked(scheme) {
            let gap = Gap {
                libraries: Vec::new(),
                algorithms: Vec::new(),
                at_least: <_>::default(),
                why: NOT_ASKED.to_owned(),
                depends: false,
            };
            return may_have.then_some(gap).into_iter().collect();
        }
        let one = |library: usize| {
            let of_it = |v: &&record::at_rest::Verified| {
                (v.library, v.scheme.as_str()) == (library, scheme)
            };
            let verified = self.record.verified.iter().find(of_it)?;
            let why = match verified.is_left_out() {
                true => "the record's time was over before it was verified",
                false => "not all of it was timed",
            };
            let may_be = verified.is_left_out() || self.is_proven(scheme, library);
            (may_be && self.price(scheme, library).is_none()).then(|| Gap {
                libraries: vec![self.record.libraries[library].identity()],
                algorithms: Vec::new(),
                at_least: self.at_least(scheme, library),
                why: why.to_owned(),
                depends: false,
            })
        };
        (0..self.record.libraries.len()).filter_map(one).collect()
    }

    fn at_least(&self, scheme: &str, library: usize) -> (AtLeast, AtLeast) {
        let of = |direction| {
            let cell = self.cell(scheme, library, self.medium?, direction, self.keying)?;
            cell.crypto_ns.and_then(|ns| ns.low).filter(|_| !cell.contended)
        };
        let seen = |direction| AtLeast::seen(of(direction).unwrap_or(0.0));
        (seen(Direction::Encrypt), seen(Direction::Decrypt))
    }

    fn was_asked(&self, scheme: &str) -> bool {
        self.record.verified.iter().any(|v| v.scheme == scheme)
    }

    fn may_have(&self, scheme: &Scheme) -> bool {
        elsewhere(scheme).is_none() && parts::may_have(&self.record.libraries, scheme)
    }

    fn why_not(&self, scheme: &str) -> String {
        if !self.was_asked(scheme) {
            return NOT_ASKED.to_owned();
        }
        let name = |library: usize| self.record.libraries[library].name.clone();
        let odd = self.record.probes.iter().find(|p| p.scheme == scheme && !p.as_expected);
        if let Some(odd) = odd {
            let library = name(odd.library);
            return format!("in {library} a probe of tampering came out otherwise than expected");
        }
        let of_it: Vec<_> = self.record.verified.iter().filter(|v| v.scheme == scheme).collect();
        for state in [State::Refused, State::Failed] {
            if let Some(v) = of_it.iter().find(|v| v.state == state && !v.is_left_out()) {
                let why = v.reason.clone().unwrap_or_default();
                return format!("{} in {}: {why}", state.name(), name(v.library));
            }
        }
        if of_it.iter().any(|v| v.is_left_out()) {
            return "the record's time was over before it was verified".to_owned();
        }
        if of_it.iter().any(|v| v.state == State::Measured) {
            return "no time was taken of it in memory or in a file, in both directions".to_owned();
        }
        "no library of the record offers it for pages".to_owned()
    }
}

// What joining a cipher and a check costs beside the two: a second call, a tag that is stored or
// compared. Sums of parts that were measured apart leave it out, so that a scheme without a figure of
// its own would win against one whose figure has it all.

/// What was seen of one scheme that a library has both whole and in parts.
struct Seen {
    library: LibraryId,
    cipher: &'static str,
    check: Kind,
    write: Estimate,
    read: Estimate,
}

/// The differences between wholes and the sums of their parts, in a record.
struct Joins {
    seen: Vec<Seen>,
}

impl Joins {
    pub fn of(schemes: &[Scheme], parts: &Parts<'_>) -> Self {
        Self { seen: schemes.iter().flat_map(|s| differences(s, parts)).collect() }
    }

    /// The sum with what joins it: as this library joins this cipher, else any cipher, else as the
    /// libraries of the record do, to a check of the same kind. Where the record has no whole, as it is, with much doubt.
    pub fn joined(&self, mut sum: Price, cipher: &Algorithm, check: &Algorithm) -> Price {
        let Some(library) = sum.libraries.first() else { return sum };
        let same_check = |s: &&Seen| s.check == check.kind;
        let own = |s: &&Seen| same_check(s) && s.library == *library;
        let closest: [Vec<&Seen>; 3] = [
            self.seen.iter().filter(|s| own(s) && s.cipher == cipher.name).collect(),
            self.seen.iter().filter(own).collect(),
            self.seen.iter().filter(same_check).collect(),
        ];
        let Some(seen) = closest.iter().find(|all| !all.is_empty()) else {
            sum.write_ns.high *= MOST_TIMES;
            sum.read_ns.high *= MOST_TIMES;
            return sum;
        };
        let (write, read) = (middle(seen, |s| s.write), middle(seen, |s| s.read));
        sum.join_ns = Some(f64::midpoint(write.median, read.median));
        sum.write_ns = sum.write_ns.with(write, |a, b| a + b);
        sum.read_ns = sum.read_ns.with(read, |a, b| a + b);
        // At this size: whether it grows with the size is not known.
        sum.line = sum.line.zip(sum.join_ns).map(|((a, b), join)| (a + join, b));
        sum
    }
}

/// A scheme's whole less its parts, in each library that has all three.
fn differences(scheme: &Scheme, parts: &Parts<'_>) -> Vec<Seen> {
    let ([cipher, check], Some(whole)) = (&scheme.composed[..], scheme.measured.first()) else {
        return Vec::new();
    };
    let (ciphers, checks) = (parts.priced(cipher), parts.priced(check));
    let sums = composed(&ciphers, &checks, check, |p| &p.libraries, Price::with);
    let difference = |whole: Price| {
        let own = sums.iter().filter(|s| s.libraries.first() == whole.libraries.first());
        let sum = own.min_by(|a, b| a.cost(0.5).median.total_cmp(&b.cost(0.5).median))?;
        Some(Seen {
            library: whole.libraries.first()?.clone(),
            cipher: cipher.name,
            check: check.kind,
            write: whole.write_ns.independent(sum.write_ns, |whole, sum| whole - sum),
            read: whole.read_ns.independent(sum.read_ns, |whole, sum| whole - sum),
        })
    };
    parts.priced(whole).into_iter().filter_map(difference).collect()
}

/// How many times the sum of its parts a whole takes at the most, where none was seen: policy.
const MOST_TIMES: f64 = 2.0;

/// The median one, with all that were seen as its doubt. Below nothing is noise: no call is cheaper for coming with
/// another.
fn middle(seen: &[&Seen], of: fn(&Seen) -> Estimate) -> Estimate {
    let mut all: Vec<Estimate> = seen.iter().map(|s| of(s)).collect();
    all.sort_by(|a, b| a.median.total_cmp(&b.median));
    let low = all.iter().map(|s| s.low).fold(f64::INFINITY, f64::min);
    let high = all.iter().map(|s| s.high).fold(0.0, f64::max);
    let median = all[all.len() / 2].median;
    Estimate { median: median.max(0.0), low: low.max(0.0), high }
}

#[cfg(test)]
mod tests {
    use super::{Costs, *};
    use crate::advise::data::Data;
    use crate::advise::question::{Evidence, Question};
    use base::model::{Model, RANDOM, Tier};
    use jiff::civil::date;
    use record::{Record, State};

    /// The published record, without raw samples and other sizes than a page's; in core cycles, because
    /// its machine's core clock differs from case to case.
    fn record() -> Record {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/at-rest-2026-11-23-gnr.json.gz");
        let mut record = record::load(path.as_ref()).unwrap();
        record.measurements.retain(|m| m.size == 8192 && m.state == State::Measured);
        for m in &mut record.measurements {
            m.raw = record::Samples::default();
            m.ns_per_op = m.cycles_per_op;
        }
        record
    }

    fn joined(data: &Data, record: &Record, tier: Tier, id: &str, library: &LibraryId) -> Price {
        let mut question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 23));
        question.tier = tier;
        let costs = Costs::of(data, &question, Evidence::Survey(record), &[]);
        let scheme = data.schemes.iter().find(|s| s.id == id).unwrap();
        let of_library = |p: &&Price| p.libraries[0] == *library;
        let all = costs.prices(scheme, &question).unwrap().iter().filter(of_library);
        all.min_by(|a, b| a.cost(0.5).median.total_cmp(&b.cost(0.5).median)).unwrap().clone()
    }

    /// By its own generator where that was measured, else by the system's, and by none without a price of the latter for
    /// every nonce.
    #[test]
    fn a_nonce_that_is_drawn_is_in_the_price_of_every_library_or_of_none() {
        let (data, mut record) = (Data::built_in(), record());
        record.measurements.retain(|m| {
            m.tier == Tier::Native && ["aes-256-gcm", "memcpy"].contains(&m.algorithm.as_str())
        });
        let scheme = data.schemes.iter().find(|s| s.id == "aes-256-gcm").unwrap();
        let mut question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 23));
        question.wishes.nonce = NonceSource::Random;
        let prices = |record: &Record| -> Vec<Price> {
            let costs = Costs::of(&data, &question, Evidence::Survey(record), &[]);
            costs.prices(scheme, &question).unwrap().to_vec()
        };
        let before = prices(&record);
        let own = before[0].libraries[0].clone();
        let is_system = |m: &&record::Measurement| m.library.name == "baselines";
        let of_system = record.measurements.iter().find(is_system).unwrap().clone();
        let system = of_system.library.clone();
        let mut draw = |library: &LibraryId, size: usize, ns: f64| {
            let mut row = of_system.clone();
            row.algorithm = RANDOM.to_owned();
            (row.direction, row.size, row.library) = (Direction::Generate, size, library.clone());
            row.ns_per_op = Some(Estimate::exactly(ns));
            record.measurements.push(row);
            prices(&record)
        };
        assert_eq!(draw(&own, 12, 100.0), before);
        assert_eq!(draw(&system, 12, 300.0), before, "AEGIS-256 draws 32 bytes");
        let drawn = draw(&system, 32, 310.0);
        assert!(drawn.len() > 2);
        for (with, without) in drawn.iter().zip(&before) {
            let ns = if with.libraries[0] == own { 100.0 } else { 300.0 };
            assert_eq!(with.drawn.as_ref().map(|d| d.ns), Some(ns));
            assert!((with.write_ns.median - without.write_ns.median - ns).abs() < 1e-6);
            assert_eq!(with.read_ns, without.read_ns);
        }
        // What another wish would give has no draw in its price where its nonces are not drawn.
        let costs = Costs::of(&data, &question, Evidence::Survey(&record), &[]);
        let mut changed = question.clone();
        changed.wishes.nonce = NonceSource::Counter;
        assert_eq!(costs.prices(scheme, &changed).unwrap(), before);
    }

    /// Each whole is left out of the record in turn and told from the rest.
    #[test]
    #[ignore = "long: seconds"]
    fn a_sum_with_what_joins_it_is_nearer_to_the_whole_than_the_sum_alone() {
        let (data, record) = (Data::built_in(), record());
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for tier in [Tier::Native, Tier::Aesni, Tier::Noaes] {
            for scheme in data.schemes.iter().filter(|s| !s.composed.is_empty()) {
                let Some(whole) = scheme.measured.first() else { continue };
                let (size, model, footprint) = (8192, Model::Message, base::model::Footprint::Hot);
                let parts = Parts::of(&record, &[], Timed { size, tier, model, footprint });
                for price in parts.priced(whole) {
                    let library = &price.libraries[0];
                    let mut less = record.clone();
                    less.measurements
                        .retain(|m| m.library != *library || !m.algorithm.starts_with(whole.name));
                    let told = joined(&data, &less, tier, &scheme.id, library);
                    let truth = price.cost(0.5).median;
                    let error = |ns: f64| (ns - truth).abs() / truth;
                    let sum = told.cost(0.5).median;
                    with.push(error(sum));
                    without.push(error(sum - told.join_ns.unwrap()));
                }
            }
        }
        let median = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            (all[all.len() / 2], all[all.len() * 9 / 10], all.len())
        };
        let (with, without) = (median(with), median(without));
        assert!(with.2 > 50 && with.0 < 0.01 && with.0 < without.0 / 2.0, "{with:?} {without:?}");
    }

    #[test]
    fn a_record_without_wholes_gives_sums_as_they_are() {
        let (data, mut record) = (Data::built_in(), record());
        record.measurements.retain(|m| !m.algorithm.contains('+'));
        let library = record.measurements.iter().find(|m| m.algorithm == "aes-256-xts").unwrap();
        let library = library.library.clone();
        let sum = joined(&data, &record, Tier::Native, "aes-256-xts+crc32c", &library);
        assert_eq!((sum.join_ns, sum.libraries.len()), (None, 2));
    }
}
