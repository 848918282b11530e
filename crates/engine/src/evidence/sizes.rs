//! Which sizes are stepped: two whose difference shows what a byte costs.

use crate::protocol::Steps;

/// One size to step, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) size: usize,
    pub(super) most_steps: u64,
}

/// Pairs of sizes. Kernels go through a message in chunks of up to 48 blocks of 16 bytes (AES-GCM
/// with AVX-512 in OpenSSL and AWS-LC) or 1024 bytes (ChaCha20 with AVX-512): the sizes of the first
/// pair leave the same rest by 768 and by 1024, so their difference is whole rounds of any such
/// loop and nothing else, and the smaller one is long enough to enter all but the longest. Code that
/// takes many instructions for each byte has no such loops, and shorter messages show the same:
/// 256 bytes hold two rounds of the widest bit-sliced AES, 16 two blocks of 64 bits.
const PAIRS: [Pair; 4] = [
    Pair { sizes: [1024, 4096], most_steps: [7000, 24_000] },
    Pair { sizes: [256, 512], most_steps: [12_000, 24_000] },
    Pair { sizes: [64, 128], most_steps: [20_000, 40_000] },
    Pair { sizes: [16, 32], most_steps: [60_000, 120_000] },
];

struct Pair {
    sizes: [usize; 2],
    /// A step takes 11 to 21 µs in a virtual machine, and a survey steps hundreds of operations.
    most_steps: [u64; 2],
}

/// Code this lean is shown longer messages as well: the counter's low byte overflows every 256
/// blocks, and libraries go another way then. From 4 to 16 KiB it does so once for every 4 KiB, as
/// in any long message.
const LEAN: f64 = 0.3;
const LONG: Next = Next { size: 16_384, most_steps: 8000 };

/// What to step after these; `None` when there is nothing more to learn.
pub(super) fn next(runs: &[Steps], allows: &dyn Fn(usize) -> bool) -> Option<Next> {
    for pair in PAIRS.iter().filter(|p| p.sizes.iter().all(|s| allows(*s))) {
        let mut given_up = false;
        for (size, most_steps) in pair.sizes.into_iter().zip(pair.most_steps) {
            match runs.iter().find(|r| r.size == size) {
                None => return Some(Next { size, most_steps }),
                Some(run) if !run.complete => {
                    given_up = true;
                    break;
                }
                Some(_) => {}
            }
        }
        if !given_up {
            let is_stepped = runs.iter().any(|r| r.size == LONG.size);
            let lean = slope(runs).is_some_and(|slope| slope.per_byte <= LEAN);
            return (lean && !is_stepped && allows(LONG.size)).then_some(LONG);
        }
    }
    None
}

/// What two sizes tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope<'a> {
    pub(super) small: &'a Steps,
    pub(super) large: &'a Steps,
    pub(super) per_byte: f64,
}

impl Slope<'_> {
    /// What a byte and what a message costs of something that the two sizes' operations have so
    /// much of.
    pub(super) fn share(&self, small: u64, large: u64) -> record::Share {
        let bytes = (self.large.size - self.small.size) as f64;
        let per_byte = (large as f64 - small as f64) / bytes;
        record::Share { per_byte, per_message: small as f64 - per_byte * self.small.size as f64 }
    }
}

/// The two largest sizes that were seen to their end.
pub(super) fn slope(runs: &[Steps]) -> Option<Slope<'_>> {
    let mut complete: Vec<&Steps> = runs.iter().filter(|r| r.complete).collect();
    complete.sort_by_key(|r| r.size);
    let [.., small, large] = complete[..] else { return None };
    let more = large.instructions as f64 - small.instructions as f64;
    Some(Slope { small, large, per_byte: more / (large.size - small.size) as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(size: usize, instructions: Option<u64>) -> Steps {
        let complete = instructions.is_some();
        Steps { size, complete, instructions: instructions.unwrap_or(9999), ..Steps::default() }
    }

    /// Steps what is asked for of code that takes so many instructions, and tells the sizes.
    fn stepped(cost: impl Fn(usize) -> u64, allows: impl Fn(usize) -> bool) -> Vec<(usize, bool)> {
        let mut runs = Vec::new();
        while let Some(Next { size, most_steps }) = next(&runs, &allows) {
            runs.push(run(size, Some(cost(size)).filter(|n| *n <= most_steps)));
        }
        runs.iter().map(|r| (r.size, r.complete)).collect()
    }

    #[test]
    fn code_is_stepped_at_sizes_that_fit_what_a_byte_costs_it() {
        let each = |per_byte: f64| move |size: usize| 400 + (per_byte * size as f64) as u64;
        let any = |_| true;
        assert_eq!(stepped(each(0.1), any), [(1024, true), (4096, true), (16_384, true)]);
        assert_eq!(stepped(each(1.4), any), [(1024, true), (4096, true)]);
        assert_eq!(stepped(each(15.0), any), [(1024, false), (256, true), (512, true)]);
        assert_eq!(
            stepped(each(150.0), any),
            [(1024, false), (256, false), (64, true), (128, true)]
        );
        let hopeless = stepped(each(1e5), any);
        assert_eq!(hopeless.len(), 4, "{hopeless:?}");
        assert!(hopeless.iter().all(|(_, complete)| !complete));
    }

    #[test]
    fn sizes_that_the_algorithm_does_not_take_are_not_asked_for() {
        assert_eq!(stepped(|_| 500, |size| size < 1000), [(256, true), (512, true)]);
        assert_eq!(stepped(|_| 500, |size| size <= 4096), [(1024, true), (4096, true)]);
        assert_eq!(stepped(|_| 500, |_| false), []);
    }

    #[test]
    fn the_slope_is_that_of_the_two_largest_sizes_seen_to_their_end() {
        let runs = [run(4096, Some(1424)), run(1024, Some(656)), run(8192, None), run(16, Some(9))];
        let slope = slope(&runs).unwrap();
        assert_eq!((slope.small.size, slope.large.size, slope.per_byte), (1024, 4096, 0.25));
        let share = slope.share(656, 1424);
        assert_eq!((share.per_byte, share.per_message), (0.25, 400.0));
        assert_eq!(super::slope(&runs[..1]), None);
    }
}
