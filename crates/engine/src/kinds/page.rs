//! Pages of a store through a scheme.

use super::Pass;
use crate::protocol::pages::PageVisit;
use base::analysis::MIN_PER_PROCESS;
use base::model::{Direction, Tier};
use record::at_rest::scheme::Recipe;
use record::at_rest::{Keying, Medium};
use std::time::Duration;

/// Samples of a process after which no more are asked for: where fewer than half are clean, more of the same
/// would not be either.
const MOST: u32 = 2 * MIN_PER_PROCESS as u32;

/// What waits for a disk scatters more, and is held to this at the most.
const IO_PRECISION: f64 = 0.05;

/// A cell of one library.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// Index of the library.
    pub(crate) library: usize,
    pub(crate) tier: Tier,
    pub(crate) recipe: Recipe,
    pub(crate) medium: Medium,
    pub(crate) keying: Keying,
    pub(crate) direction: Direction,
    /// CPUs of the threads.
    pub(crate) cpus: Vec<u32>,
    /// Pages of a visit in memory.
    pub(crate) pages: usize,
    /// Bytes of a page.
    pub(crate) page_size: usize,
}

impl Page {
    pub(super) fn visit(&self) -> PageVisit {
        PageVisit {
            recipe: self.recipe.clone(),
            medium: self.medium,
            keying: self.keying,
            direction: self.direction,
            cpus: self.cpus.clone(),
            pages: self.pages,
            settle_us: 0,
        }
    }

    /// What waits for a disk is interrupted by design, and is asked for no more of it.
    pub(super) fn is_done(&self, pass: Pass) -> bool {
        let enough = if self.medium.has_io() { pass.taken as usize } else { pass.clean };
        enough >= MIN_PER_PROCESS || pass.taken >= MOST
    }

    /// Longest wait for a visit. The slowest software known does some megabytes a second, and each page goes
    /// through it some four times; a disk may take a tenth of a second for each on a bad day.
    pub(super) fn deadline(&self) -> Duration {
        let bytes = (self.pages * self.page_size * self.cpus.len().max(1)) as u64;
        let disk = if self.medium.has_io() { 100_000 * self.pages as u64 } else { 0 };
        Duration::from_secs(10) + Duration::from_micros(8 * bytes + disk)
    }

    /// Pages in memory first, as they come, and with the key that is there; sums and MACs beside a cipher last.
    pub(super) fn wave(&self) -> u32 {
        let is_last = self.recipe.cipher.is_some() && self.recipe.scheme.contains('+');
        let at = Medium::ALL.iter().position(|m| *m == self.medium).unwrap_or(0);
        let is_new_key = self.keying == Keying::PerPage;
        let ways = 2 * Medium::ALL.len();
        (ways * usize::from(is_last) + 2 * at + usize::from(is_new_key)) as u32
    }

    pub(super) fn precision(&self, asked: f64) -> f64 {
        if self.medium.has_io() { asked.max(IO_PRECISION) } else { asked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(medium: Medium) -> Page {
        Page {
            library: 0,
            tier: Tier::Native,
            recipe: record::at_rest::scheme::good_practice().remove(0),
            medium,
            keying: Keying::Reused,
            direction: Direction::Encrypt,
            cpus: vec![0],
            pages: 256,
            page_size: 8192,
        }
    }

    #[test]
    fn work_in_memory_is_asked_for_again_where_it_was_disturbed_and_work_that_waits_is_not() {
        let pass = |taken, clean| Pass { taken, clean };
        let (memory, disk) = (page(Medium::Random), page(Medium::Log));
        assert!(!memory.is_done(pass(2, 1)) && disk.is_done(pass(2, 0)));
        assert!(memory.is_done(pass(2, 2)) && memory.is_done(pass(4, 0)));
        assert!(disk.deadline() > memory.deadline());
        assert_eq!((memory.precision(0.02), disk.precision(0.02)), (0.02, 0.05));
    }
}
