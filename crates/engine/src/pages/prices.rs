//! The price list: what pages in memory took in earlier runs of this program on this machine. An entry hangs on all
//! that a price does: the library's files, this program, CPU, kernel and C library, the kind of core that is measured
//! on, circumstances, the tier, the recipe and the page's size. Of the store nothing else counts: pages are repeated
//! until they fill [`WINDOW`].

use crate::cpus::{kind_of_core, measuring_cpu};
use crate::libraries::Attached;
use crate::pages::PagesPlan;
use crate::pool::{Cache, Key};
use base::model::Direction;
use record::State;
use record::at_rest::{Cell, CellKey, Keying, Medium};
use serde::{Deserialize, Serialize};

/// Raised when what is kept changes its meaning.
const VERSION: u32 = 4;
/// Half the interval's width up to which a price is kept, as a fraction: wider ones decide next to nothing.
const KEPT_WITHIN: f64 = 0.25;
/// The same up to which it is never measured again: what compared prices are to be known to.
const PRECISE: f64 = 0.03;
/// Bytes of pages that visits choose from, whatever the store has.
pub(crate) const WINDOW: usize = 8 << 20;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub cell: Cell,
    /// When that run began, RFC 3339.
    pub taken: String,
}

pub(crate) struct PriceList<'a> {
    cache: Option<Cache>,
    /// The kind of core that is measured on: of a machine with two kinds, a price is of one.
    core: String,
    plan: &'a PagesPlan,
    pub(crate) libraries: &'a [Attached],
    page_size: usize,
}

impl<'a> PriceList<'a> {
    /// Empty, and kept nowhere, where the plan takes no prices.
    pub(crate) fn of(plan: &'a PagesPlan, libraries: &'a [Attached], page_size: usize) -> Self {
        let cache = plan.priced.as_ref().map(|_| Cache::open("prices"));
        let core = if cache.is_some() { kind_of_core(measuring_cpu()) } else { String::new() };
        Self { cache, core, plan, libraries, page_size }
    }

    pub(crate) fn load(&self, key: &CellKey) -> Option<Kept> {
        if self.plan.priced.as_ref()?.is_fresh {
            return None;
        }
        let kept: Kept = self.cache.as_ref()?.load(&self.key(key)?)?;
        Some(Kept { cell: Cell { library: key.library, ..kept.cell }, ..kept })
    }

    /// Whether both directions of a scheme in a library have a price that nothing measures again.
    pub(crate) fn is_settled(&self, library: usize, scheme: usize) -> bool {
        let key = |direction| CellKey {
            library,
            scheme,
            medium: Medium::Sequential,
            keying: Keying::Reused,
            direction,
            threads: 1,
        };
        let is_precise = |kept: Kept| half_width(&kept.cell).is_some_and(|w| w <= PRECISE);
        let both = [Direction::Encrypt, Direction::Decrypt];
        both.into_iter().all(|d| self.load(&key(d)).is_some_and(is_precise))
    }

    pub(crate) fn store(&self, key: &CellKey, cell: &Cell, taken: &str) {
        let is_worth = half_width(cell).is_some_and(|width| width <= KEPT_WITHIN);
        let Some(cache) = self.cache.as_ref().filter(|_| is_worth) else { return };
        let Some(key) = self.key(key) else { return };
        let kept = Kept { cell: cell.clone(), taken: taken.to_owned() };
        cache.store(&key, &kept, std::iter::empty());
    }

    fn key(&self, key: &CellKey) -> Option<Key> {
        let subject = [
            serde_json::to_string(&self.plan.recipes[key.scheme]).ok()?,
            format!("{} {} {WINDOW} {}", self.page_size, self.plan.pages_per_visit, self.core),
            format!("{:?} {:?} {} {}", key.medium, key.keying, key.direction, key.threads),
        ];
        self.cache.as_ref()?.key(VERSION, &self.libraries[key.library], self.plan.tier, &subject)
    }
}

impl Kept {
    /// Whether it may be measured again, where a question is open.
    pub(crate) fn is_wide(&self) -> bool {
        half_width(&self.cell).is_none_or(|width| width > PRECISE)
    }

    pub(crate) fn or(self, now: &Cell) -> Option<Self> {
        let is_narrower = half_width(now).zip(half_width(&self.cell)).is_some_and(|(a, b)| a <= b);
        (!is_narrower).then_some(self)
    }
}

/// Half of the interval, as a fraction of the median; none where there is no interval, or only a busy core was seen.
fn half_width(cell: &Cell) -> Option<f64> {
    let ns = cell.crypto_ns.filter(|_| cell.state == State::Measured && !cell.contended)?;
    let (low, high) = ns.low.zip(ns.high)?;
    Some((high - low) / 2.0 / ns.median)
}

/// Schemes in libraries, by their places in the list of libraries.
pub type Pairs = Vec<(usize, String)>;

#[cfg(test)]
mod tests {
    use super::*;
    use record::at_rest::NsRange;

    fn cell(ns: Option<NsRange>, state: State) -> Cell {
        let text = include_str!("../../../record/tests/at-rest.json");
        let sample = record::read_run(text, "sample", record::at_rest::of).unwrap();
        Cell { crypto_ns: ns, state, ..sample.cells[0].clone() }
    }

    fn measured(low: f64, high: f64) -> Cell {
        let range = NsRange { median: 100.0, low: Some(low), high: Some(high) };
        cell(Some(range), State::Measured)
    }

    #[test]
    fn a_price_has_an_interval_and_gives_way_to_one_that_is_as_narrow() {
        assert_eq!(half_width(&measured(98.0, 102.0)), Some(0.02));
        let without = NsRange { median: 100.0, low: None, high: None };
        for none in [
            cell(Some(without), State::Measured),
            cell(None, State::Measured),
            cell(measured(99.0, 101.0).crypto_ns, State::Refused),
            Cell { contended: true, ..measured(99.0, 101.0) },
        ] {
            assert_eq!(half_width(&none), None);
        }
        let kept = |cell| Kept { cell, taken: "then".to_owned() };
        assert!(!kept(measured(97.5, 102.5)).is_wide() && kept(measured(95.0, 105.0)).is_wide());
        let stays = |now: Cell| kept(measured(95.0, 105.0)).or(&now).is_some();
        assert!(stays(measured(90.0, 110.0)) && stays(cell(None, State::Failed)));
        assert!(!stays(measured(96.0, 104.0)));
    }
}
