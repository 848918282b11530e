//! What the record has of one algorithm in one library at one size.

use super::{Interval, Price, share as part_of, sum};
use model::{Algorithm, Direction, Footprint, Model, Tier};
use record::{Fit, Leaks, LibraryId, Measurement, Record, State};
use std::collections::BTreeMap;

/// One direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub ns: Interval,
    pub cycles: Option<f64>,
    p99_us: Option<f64>,
}

/// Both directions; a digest's are the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
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
pub(super) struct Parts<'a> {
    rows: BTreeMap<&'a str, Vec<&'a Measurement>>,
    fits: Vec<&'a Fit>,
    leaks: &'a [Leaks],
    libraries: Vec<&'a LibraryId>,
    size: usize,
    tier: Tier,
}

impl<'a> Parts<'a> {
    pub fn of(record: &'a Record, size: usize, tier: Tier, model: Model) -> Self {
        let plain = |m: &&Measurement| {
            (m.tier, m.model, m.threads, m.footprint, m.in_place)
                == (tier, model, 1, Footprint::Hot, false)
        };
        let on_line = |f: &&Fit| {
            (f.tier, f.model, f.threads, f.footprint, f.in_place)
                == (tier, model, 1, Footprint::Hot, false)
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
        Self { rows, fits, leaks: &record.leaks, libraries, size, tier }
    }

    /// The algorithm's prices, one for each library that has all of it.
    pub fn priced(&self, algorithm: &'static Algorithm) -> Vec<Price> {
        let verdict = |l: &LibraryId| {
            let of_it = self.leaks.iter().find(|v| v.is_of(l, algorithm.name, self.tier));
            of_it.map(|v| v.verdict)
        };
        let of_library = |l: &&LibraryId| {
            Some(Price::of(&self.part(algorithm.name, l)?, algorithm, l, verdict(l)))
        };
        self.libraries.iter().filter_map(of_library).collect()
    }

    fn part(&self, algorithm: &str, library: &LibraryId) -> Option<Part> {
        let rows: Vec<&Measurement> = self
            .rows
            .get(algorithm)?
            .iter()
            .copied()
            .filter(|m| m.library == *library && m.state == State::Measured)
            .collect();
        let of = |direction| cell(&rows, direction, self.size);
        let (write, between_sizes) = of(Direction::Encrypt).or_else(|| of(Direction::Digest))?;
        let (read, _) = of(Direction::Decrypt).or_else(|| of(Direction::Digest))?;
        let line = |direction: Direction| {
            let of_it = |f: &&&Fit| {
                f.algorithm == algorithm && f.library == *library && f.direction == direction
            };
            self.fits.iter().find(of_it).map(|f| (f.ns_per_message, f.ns_per_byte))
        };
        let both = line(Direction::Encrypt).zip(line(Direction::Decrypt));
        let mean = both.map(|(w, r)| (f64::midpoint(w.0, r.0), f64::midpoint(w.1, r.1)));
        Some(Part { write, read, between_sizes, line: mean.or(line(Direction::Digest)) })
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

/// The case at this size; else, between its two neighbours, by the line through them. With whether
/// it was the latter.
fn cell(rows: &[&Measurement], direction: Direction, size: usize) -> Option<(Cell, bool)> {
    let of = |m: &&&Measurement| m.direction == direction;
    if let Some(m) = rows.iter().filter(of).find(|m| m.size == size) {
        return Some((exact(m)?, false));
    }
    let below = rows.iter().filter(of).filter(|m| m.size < size).max_by_key(|m| m.size)?;
    let above = rows.iter().filter(of).filter(|m| m.size > size).min_by_key(|m| m.size)?;
    let share = (size - below.size) as f64 / (above.size - below.size) as f64;
    let (a, b) = (exact(below)?, exact(above)?);
    let ns = sum(part_of(a.ns, 1.0 - share), part_of(b.ns, share));
    let mix = |a: Option<f64>, b: Option<f64>| Some(a? * (1.0 - share) + b? * share);
    let cell = Cell { ns, cycles: mix(a.cycles, b.cycles), p99_us: mix(a.p99_us, b.p99_us) };
    Some((cell, true))
}

fn exact(m: &Measurement) -> Option<Cell> {
    let ns = m.ns_per_op?;
    let p99 = m.latency_ns.as_ref().and_then(|l| l.p99);
    Some(Cell {
        ns: Interval { median: ns.median, low: ns.low, high: ns.high },
        cycles: m.cycles_per_op.map(|c| c.median),
        p99_us: p99.map(|ns| ns / 1e3),
    })
}
