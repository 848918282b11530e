//! A heap as programs have it: the C library's allocator puts a session where the program's history has left
//! room. A visit's process draws that history.

use rand::rngs::{StdRng, SysRng};
use rand::{Rng as _, SeedableRng as _};

/// Sizes of small pieces: their lists are what a session's parts are taken from first.
const SMALL: std::ops::RangeInclusive<usize> = 1..=64;
const STEP: usize = 16;
/// Pieces of each size at most that are taken out of those lists.
const MOST_OF_A_SIZE: u32 = 4;
/// What is taken from the top: places within a page, and in some pages, as for buffers and stacks.
const TOP: usize = 64 << 10;

/// Takes pieces of random numbers and sizes, to be kept as long as the process samples.
pub(super) fn draw() -> Vec<Vec<u8>> {
    // Not the thread's own generator, whose state a fork would inherit.
    let mut rng = StdRng::try_from_rng(&mut SysRng).expect("the kernel has random numbers");
    let mut pieces: Vec<Vec<u8>> = Vec::with_capacity(SMALL.count() * MOST_OF_A_SIZE as usize + 1);
    for size in SMALL {
        for _ in 0..rng.next_u32() % MOST_OF_A_SIZE {
            pieces.push(Vec::with_capacity(size * STEP - STEP / 2));
        }
    }
    pieces.push(Vec::with_capacity(rng.next_u32() as usize % (TOP / STEP) * STEP + STEP));
    pieces
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn what_is_allocated_next_lies_elsewhere_after_each_draw() {
        let mut kept = Vec::new();
        let places: std::collections::BTreeSet<usize> = (0..32)
            .map(|_| {
                kept.push(draw());
                let session = vec![0_u8; 300];
                let place = session.as_ptr() as usize % 4096;
                kept.push(vec![session]);
                place
            })
            .collect();
        assert!(places.len() > 8, "{places:?}");
    }
}
