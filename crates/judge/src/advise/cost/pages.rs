//! Prices from a record of pages: what each scheme took on the pages of a real store.

use super::{Gap, How, InStore, Interval, Price};
use base::model::{Direction, Model};
use record::State;
use record::at_rest::{Cell, Keying, Medium, NsRange, PagesRecord};

/// Media by how well they tell what the scheme itself costs; one serves for all schemes.
const MEDIA: [Medium; 4] = [Medium::Sequential, Medium::Random, Medium::Cache, Medium::Direct];

/// What of a record one question is about.
pub(super) struct Pages<'a> {
    record: &'a PagesRecord,
    /// Cells with a number, with keys used as asked, by one thread.
    cells: Vec<&'a Cell>,
    keying: Keying,
    medium: Option<Medium>,
}

impl<'a> Pages<'a> {
    pub fn of(record: &'a PagesRecord, model: Model) -> Self {
        let keying = if model == Model::Rekey { Keying::PerPage } else { Keying::Reused };
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
            between_sizes: false,
            write_ns: interval(write.crypto_ns?),
            read_ns: interval(read.crypto_ns?),
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

    /// The libraries in which a scheme was not verified or timed whole, for want of time.
    pub fn lacking(&self, scheme: &str) -> Vec<Gap> {
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
                at_least_ns: self.at_least_ns(scheme, library),
                why: why.to_owned(),
            })
        };
        (0..self.record.libraries.len()).filter_map(one).collect()
    }

    fn at_least_ns(&self, scheme: &str, library: usize) -> (f64, f64) {
        let of = |direction| {
            let cell = self.cell(scheme, library, self.medium?, direction, self.keying)?;
            cell.crypto_ns.map(|ns| ns.low.unwrap_or(ns.median))
        };
        (of(Direction::Encrypt).unwrap_or(0.0), of(Direction::Decrypt).unwrap_or(0.0))
    }

    fn why_not(&self, scheme: &str) -> String {
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
        if of_it.is_empty() {
            return "the record of pages did not ask for it".to_owned();
        }
        "no library of the record offers it for pages".to_owned()
    }
}

/// Without an interval the median stands for itself.
fn interval(range: NsRange) -> Interval {
    let NsRange { median, low, high } = range;
    Interval { median, low: low.unwrap_or(median), high: high.unwrap_or(median) }
}
