//! Counts per address in memory that is set aside beforehand: what a signal handler may write to.

use crate::step::Visit;

/// Places for addresses: a power of two. The longest known operation (Botan's first GCM message,
/// with its allocations) runs through some ten thousand.
const PLACES: usize = 1 << 16;
/// Filled so far, probing stays short; beyond, stepping is given up.
const MOST_FILLED: usize = PLACES / 4 * 3;

/// Where to look for an address first, of 2^16 places. Fibonacci hashing (Knuth, TAOCP volume 3, section 6.4): 2^64 divided
/// by the golden ratio.
pub(super) fn place(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}

/// An open-addressing hash table with linear probing. Address 0 marks a free place: no code is
/// there.
#[derive(Debug)]
pub(crate) struct Table {
    places: Box<[Visit]>,
    filled: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { places: vec![Visit::default(); PLACES].into_boxed_slice(), filled: 0 }
    }

    /// Counts an address; `repeated` when the address before was the same. Returns whether there
    /// was room. Allocates nothing and never panics: it runs in a signal handler.
    pub(crate) fn count(&mut self, address: u64, repeated: bool) -> bool {
        self.add(address, u64::from(!repeated), u64::from(repeated))
    }

    /// As [`Table::count`], several at once.
    pub(crate) fn add(&mut self, address: u64, count: u64, repeats: u64) -> bool {
        let mut at = place(address);
        loop {
            let Some(place) = self.places.get_mut(at % PLACES) else { return false };
            if place.address == address || place.address == 0 {
                if place.address == 0 {
                    if self.filled >= MOST_FILLED {
                        return false;
                    }
                    self.filled += 1;
                    place.address = address;
                }
                place.count = place.count.wrapping_add(count);
                place.repeats = place.repeats.wrapping_add(repeats);
                return true;
            }
            at = at.wrapping_add(1);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.places.fill(Visit::default());
        self.filled = 0;
    }

    /// What was counted, by address.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        let mut visits: Vec<Visit> =
            self.places.iter().filter(|v| v.address != 0).copied().collect();
        visits.sort_unstable_by_key(|v| v.address);
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_count() {
        let mut table = Table::new();
        // Addresses of one hash bucket and of many.
        let addresses = [1, 2, 1 << 16, 1 << 32, u64::MAX, 0x5555_0000_1000];
        for (i, address) in addresses.iter().enumerate() {
            for _ in 0..=i {
                assert!(table.count(*address, false));
            }
            assert!(table.count(*address, true));
        }
        let visits = table.visits();
        assert_eq!(visits.len(), addresses.len());
        for (i, address) in addresses.iter().enumerate() {
            let visit = visits.iter().find(|v| v.address == *address).unwrap();
            assert_eq!((visit.count, visit.repeats), (i as u64 + 1, 1));
        }
        table.clear();
        assert_eq!(table.visits(), []);
    }

    #[test]
    fn a_full_table_takes_no_further_address_and_still_counts_those_it_has() {
        let mut table = Table::new();
        let taken = (1..).take_while(|address| table.count(*address, false)).count();
        assert_eq!(taken, MOST_FILLED);
        assert!(table.count(1, false));
        assert_eq!(table.visits()[0], Visit { address: 1, count: 2, repeats: 0 });
    }
}
