//! The price list: what pages in memory took in earlier runs of this program on this machine, and which schemes
//! in which libraries were worth a price. An entry hangs on all that a price does: the library's files, this
//! program, CPU and kernel, circumstances, the tier, the recipe and the page's size.

use crate::libraries::Attached;
use crate::pages::PagesPlan;
use crate::pool::{Cache, Key};
use base::model::{Direction, Tier};
use record::State;
use record::at_rest::{Cell, CellKey, Keying, Medium};
use serde::{Deserialize, Serialize};

/// Raised when what is kept changes its meaning.
const VERSION: u32 = 2;
/// The cache's name.
const NAME: &str = "prices";
/// Half the interval's width up to which a price is kept, as a fraction.
const KEPT_WITHIN: f64 = 0.03;

/// A price as an earlier run left it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub cell: Cell,
    /// When that run began, RFC 3339.
    pub taken: String,
}

/// The prices of one plan.
pub(crate) struct PriceList<'a> {
    cache: Option<Cache>,
    plan: &'a PagesPlan,
    pub(crate) libraries: &'a [Attached],
    page_size: usize,
}

impl<'a> PriceList<'a> {
    /// Empty, and kept nowhere, where the plan takes no prices.
    pub(crate) fn of(plan: &'a PagesPlan, libraries: &'a [Attached], page_size: usize) -> Self {
        let cache = plan.priced.as_ref().map(|_| Cache::open(NAME));
        Self { cache, plan, libraries, page_size }
    }

    /// What an earlier run left.
    pub(crate) fn load(&self, key: &CellKey) -> Option<Kept> {
        let kept: Kept = self.cache.as_ref()?.load(&self.key(key)?)?;
        Some(Kept { cell: Cell { library: key.library, ..kept.cell }, ..kept })
    }

    /// Whether both directions of a scheme in a library have a price.
    pub(crate) fn has(&self, library: usize, scheme: usize) -> bool {
        let key = |direction| CellKey {
            library,
            scheme,
            medium: Medium::Sequential,
            keying: Keying::Reused,
            direction,
            threads: 1,
        };
        [Direction::Encrypt, Direction::Decrypt].into_iter().all(|d| self.load(&key(d)).is_some())
    }

    /// Keeps a price that is precise.
    pub(crate) fn store(&self, key: &CellKey, cell: &Cell, taken: &str) {
        let Some(cache) = self.cache.as_ref().filter(|_| is_precise(cell)) else { return };
        let Some(key) = self.key(key) else { return };
        let kept = Kept { cell: cell.clone(), taken: taken.to_owned() };
        cache.store(&key, &kept, std::iter::empty());
    }

    fn key(&self, key: &CellKey) -> Option<Key> {
        let subject = [
            serde_json::to_string(&self.plan.recipes[key.scheme]).ok()?,
            format!("{} {}", self.page_size, self.plan.pages_per_visit),
            format!("{:?} {:?} {} {}", key.medium, key.keying, key.direction, key.threads),
        ];
        self.cache.as_ref()?.key(VERSION, &self.libraries[key.library], self.plan.tier, &subject)
    }
}

fn is_precise(cell: &Cell) -> bool {
    let Some(ns) = cell.crypto_ns.filter(|_| cell.state == State::Measured) else { return false };
    let Some((low, high)) = ns.low.zip(ns.high) else { return false };
    (high - low) / 2.0 <= KEPT_WITHIN * ns.median
}

/// Schemes in libraries, by their places in the list of libraries.
pub type Pairs = Vec<(usize, String)>;

/// What an earlier look at these libraries found worth a price; `asked` is all that the look depended on beside them.
pub fn known_pairs(libraries: &[Attached], tier: Tier, asked: &str) -> Option<Pairs> {
    let cache = Cache::open(NAME);
    cache.load(&key_of_pairs(&cache, libraries, tier, asked)?)
}

/// Keeps it for the next store.
pub fn keep_pairs(libraries: &[Attached], tier: Tier, asked: &str, pairs: &Pairs) {
    let cache = Cache::open(NAME);
    if let Some(key) = key_of_pairs(&cache, libraries, tier, asked) {
        cache.store(&key, pairs, std::iter::empty());
    }
}

fn key_of_pairs(cache: &Cache, libraries: &[Attached], tier: Tier, asked: &str) -> Option<Key> {
    let mut subject = vec!["pairs".to_owned(), asked.to_owned()];
    let of = |l: &Attached| format!("{} {} {}", l.facts.name, l.facts.path, l.facts.id);
    subject.extend(libraries.iter().map(of));
    cache.key(VERSION, libraries.first()?, tier, &subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::at_rest::NsRange;

    fn cell(ns: Option<NsRange>, state: State) -> Cell {
        let text = include_str!("../../../record/tests/at-rest.json");
        let sample = record::at_rest::from_json(text, "sample").unwrap();
        Cell { crypto_ns: ns, state, ..sample.cells[0].clone() }
    }

    #[test]
    fn only_prices_with_a_narrow_interval_are_kept() {
        let range = |low, high| Some(NsRange { median: 100.0, low, high });
        assert!(is_precise(&cell(range(Some(98.0), Some(102.0)), State::Measured)));
        assert!(!is_precise(&cell(range(Some(90.0), Some(110.0)), State::Measured)));
        assert!(!is_precise(&cell(range(None, None), State::Measured)));
        assert!(!is_precise(&cell(range(Some(99.0), Some(101.0)), State::Refused)));
        assert!(!is_precise(&cell(None, State::Measured)));
    }
}
