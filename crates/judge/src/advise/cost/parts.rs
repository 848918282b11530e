//! What the record has of one algorithm in one library at one size, and what it lacks. A hole is not a no: it
//! counts against an answer until a bound rules it out.

use crate::advise::cost::{Estimate, Price, composed, share as part_of, sum};
use crate::advise::data::{Scheme, takes};
use crate::advise::evaluate::SAME;
use base::model::{Algorithm, Direction, Footprint, Model, RANDOM, RANDOM_NONCE, Tier};
use record::{Fit, LeakVerdict, Leaks, Library, LibraryId, Measurement, Record, State};
use std::collections::BTreeMap;

/// The library whose generator is the system's.
const SYSTEM: &str = "baselines";

/// Bytes of the shortest and the longest nonce that is drawn.
const NONCE_BYTES: [usize; 2] = [12, 32];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub ns: Estimate,
    pub cycles: Option<f64>,
    pub p99_us: Option<f64>,
}

/// Both directions; a digest's are the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub write: Cell,
    pub read: Cell,
    pub between_sizes: bool,
    pub line: Option<(f64, f64)>,
}

impl Part {
    pub fn p99_us(&self) -> Option<f64> {
        Some(self.write.p99_us?.max(self.read.p99_us?))
    }
}

/// The rows of a record that one question is about.
pub(crate) struct Parts<'a> {
    rows: BTreeMap<&'a str, Vec<&'a Measurement>>,
    fits: Vec<&'a Fit>,
    leaks: Vec<&'a Leaks>,
    /// Builds with rows of this tier and model.
    libraries: Vec<&'a LibraryId>,
    facts: &'a [Library],
    size: usize,
    tier: Tier,
}

#[derive(Clone, Copy)]
pub struct Timed {
    pub size: usize,
    pub tier: Tier,
    pub model: Model,
    /// Where it lies when it is encrypted; what is decrypted was just read.
    pub footprint: Footprint,
}

impl<'a> Parts<'a> {
    /// `judged`: verdicts on secrets from elsewhere than the record.
    pub fn of(record: &'a Record, judged: &'a [Leaks], timed: Timed) -> Self {
        let Timed { size, tier, model, footprint } = timed;
        let lies = |of| if of == Direction::Encrypt { footprint } else { Footprint::Hot };
        let plain = |m: &&Measurement| {
            (m.tier, m.model, m.threads, m.footprint, m.in_place)
                == (tier, model, 1, lies(m.direction), false)
        };
        let on_line = |f: &&Fit| {
            (f.tier, f.model, f.threads, f.footprint, f.in_place)
                == (tier, model, 1, lies(f.direction), false)
                && f.linear
        };
        let mut rows: BTreeMap<&str, Vec<&Measurement>> = BTreeMap::new();
        for m in record.measurements.iter().filter(plain) {
            rows.entry(&m.algorithm).or_default().push(m);
        }
        let mut libraries: Vec<&LibraryId> = rows.values().flatten().map(|m| &m.library).collect();
        libraries.sort();
        libraries.dedup();
        let fits = record.fits.iter().filter(on_line).collect();
        let leaks = record.leaks.iter().chain(judged).collect();
        Self { rows, fits, leaks, libraries, facts: &record.libraries, size, tier }
    }

    pub fn priced(&self, algorithm: &'static Algorithm) -> Vec<Price> {
        let of_library = |l: &&LibraryId| {
            let part = self.part(algorithm.name, l)?;
            let leaks = secrets(&self.leaks, algorithm, l, self.tier);
            Some(Price::of(&part, algorithm, l, leaks))
        };
        self.libraries.iter().filter_map(of_library).collect()
    }

    /// Whether one of the record's libraries may have the scheme.
    pub fn may_have(&self, scheme: &Scheme) -> bool {
        may_have(self.facts, scheme)
    }

    /// The libraries that may offer the algorithm and of which not all that a price needs was measured.
    pub fn lacking(&self, algorithm: &'static Algorithm) -> Vec<Gap> {
        let gap = |libraries: Vec<LibraryId>, at_least, why: &str| Gap {
            depends: libraries.iter().any(|l| {
                secrets(&self.leaks, algorithm, l, self.tier) == Some(LeakVerdict::Depends)
            }),
            libraries,
            algorithms: vec![algorithm.name],
            at_least,
            why: why.to_owned(),
        };
        if !self.rows.contains_key(algorithm.name) {
            return vec![gap(Vec::new(), <_>::default(), "the record did not ask for it")];
        }
        let of_library = |library: &Library| {
            let id = library.identity();
            if library.error.is_some() || self.part(algorithm.name, &id).is_some() {
                return None;
            }
            let why = self.why_unknown(algorithm, library, &id)?;
            let at_least = self.at_least_ns(algorithm.name, &id);
            Some(gap(vec![id], at_least, why))
        };
        self.facts.iter().filter_map(of_library).collect()
    }

    /// Why it is not known what the algorithm costs in a library; none where it is known that it cannot be had.
    fn why_unknown(
        &self,
        algorithm: &'static Algorithm,
        library: &Library,
        id: &LibraryId,
    ) -> Option<&'static str> {
        let rows: Vec<&Measurement> = self.of_library(algorithm.name, id);
        let is_no = |m: &Measurement| m.state != State::Measured && !m.is_left_out();
        // A crash, or a size that a build does not take, says nothing of other sizes; a wrong output does.
        let decides = |m: &Measurement| m.size == self.size || m.state == State::Refused;
        let works_nowhere = |of: &Measurement| {
            rows.iter().filter(|m| m.direction == of.direction).all(|m| is_no(m))
        };
        if rows.iter().any(|m| works_nowhere(m) || is_no(m) && decides(m)) {
            return None;
        }
        if rows.iter().any(|m| m.is_left_out()) {
            return Some("the record's time was over before it was measured");
        }
        // A check has rows only where it is offered; a cipher has some in every library that was asked for it.
        let is_offered = library.calls.iter().any(|c| c.algorithm == algorithm.name);
        let may_have = !rows.is_empty() || is_offered || algorithm.encrypts();
        may_have.then_some("not all of it was measured")
    }

    /// What encryption and decryption take at the least: as much as at a smaller size.
    fn at_least_ns(&self, algorithm: &str, library: &LibraryId) -> (AtLeast, AtLeast) {
        let rows = self.of_library(algorithm, library);
        let of = |direction: Direction| {
            let own = rows.iter().filter(|m| m.direction == direction && m.size <= self.size);
            // On a busy core it may take less.
            let low = |m: &&Measurement| m.ns_per_op.filter(|_| !m.contended).map(|ns| ns.low);
            let lows = own.filter_map(|m| low(m).or(m.at_least_ns));
            lows.fold(0.0, f64::max)
        };
        let digest = of(Direction::Digest);
        let either = |direction| AtLeast::seen(of(direction).max(digest));
        (either(Direction::Encrypt), either(Direction::Decrypt))
    }

    /// What drawing a nonce of so many bytes takes, and who draws: a build's generator for nonces, that for keys, else the
    /// system's. Unless the last one has a price for every nonce none has one, for what draws would seem to cost more than
    /// what does not.
    pub fn draw(&self, library: &LibraryId, bytes: usize) -> Option<(Cell, String)> {
        let of = |generator: &str, library: &LibraryId, bytes: usize| {
            let mut rows = self.of_library(generator, library);
            rows.retain(|m| m.state == State::Measured);
            let (cell, _) = cell(&rows, Direction::Generate, bytes, None)?;
            Some((cell, format!("{generator} of {}", library.name)))
        };
        let system = self.libraries.iter().find(|l| l.name == SYSTEM)?;
        let has_all = NONCE_BYTES.iter().all(|bytes| of(RANDOM, system, *bytes).is_some());
        let who = [(RANDOM_NONCE, library), (RANDOM, library), (RANDOM, *system)];
        let mut all = who.iter().filter_map(|(generator, l)| of(generator, l, bytes));
        all.next().filter(|_| has_all)
    }

    fn of_library(&self, algorithm: &str, library: &LibraryId) -> Vec<&'a Measurement> {
        let all = self.rows.get(algorithm).into_iter().flatten().copied();
        all.filter(|m| m.library == *library).collect()
    }

    fn part(&self, algorithm: &str, library: &LibraryId) -> Option<Part> {
        let mut rows = self.of_library(algorithm, library);
        // Whoever is wrong at one size is not trusted at another; what failed at one has no price around it.
        if rows.iter().any(|m| m.state == State::Refused && !m.is_left_out()) {
            return None;
        }
        rows.retain(|m| matches!(m.state, State::Measured | State::Failed) && !m.is_left_out());
        let line = |direction: Direction| {
            let of_it = |f: &&&Fit| {
                f.algorithm == algorithm && f.library == *library && f.direction == direction
            };
            self.fits.iter().find(of_it).copied()
        };
        let residual = |direction| line(direction).map(|f| f.residual);
        let of = |direction| cell(&rows, direction, self.size, residual(direction));
        let (write, between_sizes) = of(Direction::Encrypt).or_else(|| of(Direction::Digest))?;
        let (read, _) = of(Direction::Decrypt).or_else(|| of(Direction::Digest))?;
        let numbers = |direction| line(direction).map(|f| (f.ns_per_message, f.ns_per_byte));
        let both = numbers(Direction::Encrypt).zip(numbers(Direction::Decrypt));
        let mean = both.map(|(w, r)| (f64::midpoint(w.0, r.0), f64::midpoint(w.1, r.1)));
        Some(Part { write, read, between_sizes, line: mean.or(numbers(Direction::Digest)) })
    }

    /// Why none of these algorithms has a price.
    pub fn why_not(&self, algorithms: &[&'static Algorithm]) -> String {
        let of_them = algorithms.iter().filter_map(|a| self.rows.get(a.name));
        let rows: Vec<&Measurement> = of_them.flatten().copied().collect();
        let of = |state: State| rows.iter().find(|m| m.state == state && !m.is_left_out());
        let reason = |m: &Measurement| m.reason.clone().unwrap_or_default();
        if let Some(m) = of(State::Refused) {
            return format!("refused in {}: {}", m.library.name, reason(m));
        }
        if let Some(m) = of(State::Failed) {
            return format!("failed in {}: {}", m.library.name, reason(m));
        }
        if rows.is_empty() {
            return "the record did not ask for it".to_owned();
        }
        if rows.iter().any(|m| m.is_left_out()) {
            return "the record's time was over before it was measured".to_owned();
        }
        if of(State::Measured).is_some() {
            return format!("not all of it was measured around {} bytes", self.size);
        }
        format!("no library of the record offers it at {}", self.tier)
    }
}

/// The case at this size; else, between its two neighbours, by the line through them, with as much doubt as there is
/// about that: where all times lie on a line as much as they lie beside it (a fraction), else as much as the neighbours
/// differ. With whether it was the latter.
fn cell(
    rows: &[&Measurement],
    direction: Direction,
    size: usize,
    off_the_line: Option<f64>,
) -> Option<(Cell, bool)> {
    let of = |m: &&&Measurement| m.direction == direction;
    if let Some(m) = rows.iter().filter(of).find(|m| m.size == size) {
        return Some((exact(m)?, false));
    }
    let below = rows.iter().filter(of).filter(|m| m.size < size).max_by_key(|m| m.size)?;
    let above = rows.iter().filter(of).filter(|m| m.size > size).min_by_key(|m| m.size)?;
    let share = (size - below.size) as f64 / (above.size - below.size) as f64;
    let (a, b) = (exact(below)?, exact(above)?);
    let mut ns = sum(part_of(a.ns, 1.0 - share), part_of(b.ns, share));
    let (least, most) = (a.ns.low.min(b.ns.low), a.ns.high.max(b.ns.high));
    (ns.low, ns.high) = match off_the_line {
        Some(off) => (ns.low * (1.0 - off), ns.high * (1.0 + off)),
        None => (least, most.max(ns.high)),
    };
    ns.low = ns.low.max(least);
    let mix = |a: Option<f64>, b: Option<f64>| Some(a? * (1.0 - share) + b? * share);
    let cell = Cell { ns, cycles: mix(a.cycles, b.cycles), p99_us: mix(a.p99_us, b.p99_us) };
    Some((cell, true))
}

/// Whether one of these libraries may have the scheme.
pub(crate) fn may_have(libraries: &[Library], scheme: &Scheme) -> bool {
    let who = &scheme.family.libraries;
    let mut usable = libraries.iter().filter(|l| l.error.is_none());
    who.is_empty() || usable.any(|l| who.contains(&l.name))
}

/// What is known of the secret of an algorithm in a build: where it has none, that nothing depends on it.
pub(crate) fn secrets(
    leaks: &[&Leaks],
    algorithm: &Algorithm,
    library: &LibraryId,
    tier: Tier,
) -> Option<LeakVerdict> {
    if !algorithm.has_secret() {
        return Some(LeakVerdict::SameTrace);
    }
    let of_it = leaks.iter().filter(|v| v.is_of(library, algorithm.name, tier));
    of_it.map(|v| v.verdict).max()
}

fn exact(m: &Measurement) -> Option<Cell> {
    let ns = m.ns_per_op.filter(|_| m.state == State::Measured)?;
    // On a busy core it is at least so fast, and nobody knows how much faster.
    let ns = if m.contended { Estimate { low: 0.0, ..ns } } else { ns };
    let p99 = m.latency_ns.as_ref().and_then(|l| l.p99);
    let cycles = m.cycles_per_op.map(|c| c.median);
    Some(Cell { ns, cycles, p99_us: p99.map(|ns| ns / 1e3) })
}

// What a record lacks: schemes that a library may have and that have no price, because not all of them was measured.
// A hole is not a no: it counts against an answer until a bound rules it out.

/// What something takes at the least.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AtLeast {
    /// Nanoseconds; zero where nothing bounds them.
    pub ns: f64,
    /// Whether all of it was seen: a part of which nothing is known may not even work.
    pub is_whole: bool,
}

impl AtLeast {
    /// Of what was seen at all if it took any time.
    pub fn seen(ns: f64) -> Self {
        Self { ns, is_whole: ns > 0.0 }
    }

    /// Of what is measured, and may have taken any time on a busy core.
    fn known(price: Estimate) -> Self {
        Self { ns: price.low, is_whole: true }
    }

    fn plus(self, other: Self) -> Self {
        Self { ns: self.ns + other.ns, is_whole: self.is_whole && other.is_whole }
    }
}

/// A scheme in a library that was not measured, or not whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gap {
    /// Which builds; none where it is not known who has it.
    pub libraries: Vec<LibraryId>,
    pub algorithms: Vec<&'static str>,
    /// Of encryption and decryption of a unit.
    pub at_least: (AtLeast, AtLeast),
    pub why: String,
    /// Whether it is known that what it executes depends on the secret.
    pub depends: bool,
}

impl Gap {
    /// What a unit costs at the least, by the share of reads.
    pub fn at_least_ns(&self, reads: f64) -> f64 {
        let (write, read) = self.at_least;
        read.ns * reads + write.ns * (1.0 - reads)
    }

    /// The same where each direction that counts is bounded: what was seen in one alone may not work in the other.
    pub fn bound(&self, reads: f64) -> Option<f64> {
        let (write, read) = self.at_least;
        let is_bounded = (write.is_whole || reads >= 1.0) && (read.is_whole || reads <= 0.0);
        is_bounded.then(|| self.at_least_ns(reads))
    }

    /// Whether it may cost less than so much by more than what is called the same.
    pub fn may_cost_less(&self, reads: f64, ns: f64) -> bool {
        self.at_least_ns(reads) < (1.0 - SAME) * ns
    }

    /// `openssl@4.0.3`; of what nobody was asked for, `any library`.
    pub fn label(&self) -> String {
        let names = self.libraries.iter().map(|l| l.label());
        let names: Vec<String> = names.collect();
        if names.is_empty() { "any library".to_owned() } else { names.join(" + ") }
    }

    /// With a check, of which so much is known.
    fn with(mut self, other: &Self) -> Self {
        let new = other.libraries.iter().filter(|l| !self.libraries.contains(l));
        let new: Vec<LibraryId> = new.cloned().collect();
        self.libraries.extend(new);
        self.algorithms.extend(&other.algorithms);
        self.at_least.0 = self.at_least.0.plus(other.at_least.0);
        self.at_least.1 = self.at_least.1.plus(other.at_least.1);
        self.depends |= other.depends;
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
            at_least: (AtLeast::known(price.write_ns), AtLeast::known(price.read_ns)),
            why: String::new(),
            depends: price.leaks == Some(LeakVerdict::Depends),
        }
    }
}

pub(crate) fn gaps_of_survey(scheme: &Scheme, parts: &Parts<'_>, size: usize) -> Vec<Gap> {
    if !parts.may_have(scheme) {
        return Vec::new();
    }
    let fitting = |a: &&&'static Algorithm| takes(a, size);
    let own = |a: &&'static Algorithm| match scheme.holds {
        Some(less) => {
            gaps_of_more(a, parts.lacking(a), less, parts, "the record did not ask for it")
        }
        None => parts.lacking(a),
    };
    let mut gaps: Vec<Gap> = scheme.measured.iter().filter(fitting).flat_map(own).collect();
    if let [cipher, check] = scheme.composed[..]
        && takes(cipher, size)
        && takes(check, size)
    {
        gaps.extend(of_sums(scheme, parts, cipher, check));
    }
    gaps
}

/// Of a scheme that is another one with a new key for each unit: it takes as much at the least as that one does without.
pub(crate) fn gaps_of_derived(
    of: &'static Algorithm,
    rekeyed: &Parts<'_>,
    parts: &Parts<'_>,
) -> Vec<Gap> {
    let why = "the record did not ask for it with a new key for each unit";
    gaps_of_more(of, rekeyed.lacking(of), of, parts, why)
}

/// Of an algorithm that takes as much at the least as another one, `less`: of libraries where that one was measured there is a
/// bound, also where nobody asked for the algorithm.
fn gaps_of_more(
    of: &'static Algorithm,
    gaps: Vec<Gap>,
    less: &'static Algorithm,
    parts: &Parts<'_>,
    why: &str,
) -> Vec<Gap> {
    if gaps.iter().all(|gap| !gap.libraries.is_empty()) {
        return bounded(gaps, Ok(parts.priced(less)));
    }
    let whole: Vec<Gap> = parts.priced(less).iter().map(Gap::known).collect();
    let all = whole.into_iter().chain(parts.lacking(less));
    all.map(|gap| Gap { algorithms: vec![of.name], why: why.to_owned(), ..gap }).collect()
}

/// What is lacking takes as much at the least as the same without a new key for each unit.
pub(crate) fn bounded(mut gaps: Vec<Gap>, without: Result<Vec<Price>, String>) -> Vec<Gap> {
    let bounds = without.unwrap_or_default();
    for gap in &mut gaps {
        if let Some(whole) = bounds.iter().find(|p| p.libraries == gap.libraries) {
            let (write, read) = &mut gap.at_least;
            *write = AtLeast::seen(write.ns.max(whole.write_ns.low));
            *read = AtLeast::seen(read.ns.max(whole.read_ns.low));
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
        let mut known: Vec<Gap> = parts.priced(a).iter().map(Gap::known).collect();
        known.extend(parts.lacking(a));
        known
    };
    let (mut ciphers, checks) = (both(cipher), both(check));
    ciphers.retain(|c| no_whole(&c.libraries));
    let mut gaps = composed(&ciphers, &checks, check, |gap| &gap.libraries, Gap::with);
    gaps.retain(|gap| !gap.algorithms.is_empty());
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use record::Stopped;

    /// What a page of 8 KiB lacks, where rows of these sizes have no number.
    fn lacking(rows: &[(usize, State, Option<Stopped>)]) -> Vec<Gap> {
        let mut record = sample::record("2026-11-28T00:00:00Z", Vec::new());
        let library = record.libraries[0].identity();
        let row = |(size, state, stopped): &(usize, State, Option<Stopped>)| Measurement {
            library: library.clone(),
            stopped: *stopped,
            ..sample::without_number(sample::case("aes-256-gcm", *size, &[1.0]), *state, "why")
        };
        record.measurements = rows.iter().map(row).collect();
        let (tier, model, footprint) = (Tier::Native, Model::Message, Footprint::Hot);
        let parts = Parts::of(&record, &[], Timed { size: 8192, tier, model, footprint });
        parts.lacking(Algorithm::find("aes-256-gcm").unwrap())
    }

    #[test]
    fn a_crash_at_another_size_leaves_what_was_left_out_missing() {
        let late = (8192, State::Failed, Some(Stopped::Budget));
        let crash = |size| (size, State::Failed, None);
        assert_eq!(lacking(&[late]).len(), 1);
        assert_eq!(lacking(&[late, crash(65_536)]).len(), 1);
        assert_eq!(lacking(&[late, (4096, State::Unsupported, None)]).len(), 1);
        assert_eq!(lacking(&[(4096, State::Failed, Some(Stopped::Budget)), crash(8192)]), []);
        assert_eq!(lacking(&[late, (65_536, State::Refused, None)]), []);
        assert_eq!(lacking(&[crash(4096), crash(65_536)]), [], "it works nowhere");
    }

    #[test]
    fn what_was_seen_in_part_has_a_least_cost_and_rules_nothing_out() {
        let gap = |write, read| Gap {
            libraries: Vec::new(),
            algorithms: Vec::new(),
            at_least: (AtLeast::seen(write), AtLeast::seen(read)),
            why: String::new(),
            depends: false,
        };
        let whole = gap(100.0, 50.0).with(&gap(20.0, 20.0));
        assert_eq!((whole.bound(0.5), whole.at_least_ns(0.5)), (Some(95.0), 95.0));
        let unseen = gap(100.0, 50.0).with(&gap(20.0, 0.0));
        assert_eq!((unseen.bound(0.5), unseen.at_least_ns(0.5)), (None, 85.0));
        assert_eq!(unseen.bound(0.0), Some(120.0), "reads do not count");
    }
}
