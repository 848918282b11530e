//! Which sizes are stepped: two whose difference shows what a byte costs.

use crate::protocol::Steps;
use base::model::{Algorithm, Primitive};

/// One size to step, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) size: usize,
    pub(super) most_steps: u64,
}

/// Two sizes, and how far their operations are stepped.
#[derive(Clone, Copy)]
struct Pair {
    sizes: [usize; 2],
    /// A step takes 11 µs on a quiet virtual machine and 30 on a busy one, and a survey steps hundreds
    /// of operations.
    most_steps: [u64; 2],
}

/// AES kernels go through a message in chunks of 4, 6, 8, 16, 32 or 48 blocks of 16 bytes: both
/// sizes leave the same rest by any of these, so what they differ by is whole rounds of the loop and
/// nothing else. The steps leave room for what a message costs whatever its size: Botan's CTR makes the
/// key stream of a whole chunk for every message, 6000 instructions, and shorter messages than the chunk
/// would show no cipher at all in what a byte costs.
const BLOCKS: Pair = Pair { sizes: [512, 2048], most_steps: [10_000, 26_000] };
/// ChaCha20 kernels do 1, 2, 4, 8 or 16 blocks of 64 bytes at once.
const CHACHA: Pair = Pair { sizes: [1024, 3072], most_steps: [13_000, 30_000] };
/// Code so lean is shown longer messages instead: the loops with the widest vectors begin late, and
/// the low byte of a block counter overflows every 256 blocks, when libraries go another way. From 4
/// to 16 KiB it does so once for every 4 KiB, as in any long message; and both leave the same rest by
/// 48 blocks.
const LEAN: f64 = 0.6;
const LONG: Pair = Pair { sizes: [4096, 16_384], most_steps: [6000, 14_000] };
/// Code that takes many instructions for each byte has no such loops: 128 bytes are a round of the
/// widest bit-sliced AES, 16 are two blocks of 64 bits.
const SLOW: Pair = Pair { sizes: [128, 256], most_steps: [15_000, 30_000] };
const SLOWEST: Pair = Pair { sizes: [16, 48], most_steps: [60_000, 180_000] };

/// What came of a pair so far.
enum Seen {
    Missing(Next),
    TooLong,
    Both,
}

fn seen(pair: Pair, runs: &[Steps]) -> Seen {
    for (size, most_steps) in pair.sizes.into_iter().zip(pair.most_steps) {
        match runs.iter().find(|r| r.size == size) {
            None => return Seen::Missing(Next { size, most_steps }),
            Some(run) if !run.complete => return Seen::TooLong,
            Some(_) => {}
        }
    }
    Seen::Both
}

/// What to step after these; `None` when there is nothing more to learn.
pub(super) fn next(runs: &[Steps], algorithm: &Algorithm) -> Option<Next> {
    let chacha = matches!(algorithm.cipher, Primitive::ChaCha20 | Primitive::XChaCha20);
    let first = if chacha { CHACHA } else { BLOCKS };
    let allowed = |pair: &Pair| pair.sizes.iter().all(|s| algorithm.sizes.allows(*s));
    for pair in [first, SLOW, SLOWEST].into_iter().filter(allowed) {
        match seen(pair, runs) {
            Seen::Missing(next) => return Some(next),
            Seen::TooLong => {}
            Seen::Both => {
                let lean = slope(runs).is_some_and(|slope| slope.per_byte <= LEAN);
                return match seen(LONG, runs) {
                    Seen::Missing(next) if lean && allowed(&LONG) => Some(next),
                    _ => None,
                };
            }
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

/// The two largest sizes that were seen to their end; `None` also where the larger one took fewer
/// instructions: the two go different ways then, and tell nothing of a byte.
pub(super) fn slope(runs: &[Steps]) -> Option<Slope<'_>> {
    let mut complete: Vec<&Steps> = runs.iter().filter(|r| r.complete).collect();
    complete.sort_by_key(|r| r.size);
    let [.., small, large] = complete[..] else { return None };
    let more = large.instructions.checked_sub(small.instructions)?;
    Some(Slope { small, large, per_byte: more as f64 / (large.size - small.size) as f64 })
}

/// Instructions of an operation of this size, as the two sizes foretell; where they tell nothing of a
/// byte, as many for each as the largest that was seen took. `None` where none was seen to its end.
pub(super) fn foretold(runs: &[Steps], size: usize) -> Option<u64> {
    if let Some(slope) = slope(runs) {
        let (from, base) = (slope.small.size as f64, slope.small.instructions as f64);
        return Some((base + slope.per_byte * (size as f64 - from)).max(1.0) as u64);
    }
    let largest = runs.iter().filter(|r| r.complete).max_by_key(|r| r.size)?;
    let each = largest.instructions as f64 / largest.size as f64;
    Some((each * largest.size.max(size) as f64) as u64)
}

/// The most instructions that an operation may take to be stepped, so that all that may take no more
/// than `allowance` together. A power of two, so that two builds that differ by little, in one run or
/// in two, are counted at the same sizes.
pub(super) fn limit(foretold: &[u64], allowance: u64) -> u64 {
    let cost =
        |limit: u64| foretold.iter().filter(|n| **n <= limit).fold(0, |a, n| n.saturating_add(a));
    let mut limit = LEAST_LIMIT;
    while limit < MOST_STEPS && cost(2 * limit) <= allowance {
        limit *= 2;
    }
    limit.min(MOST_STEPS)
}

/// Steps after which an operation of this limit is given up: twice what is foreseen, because it is
/// looked for that large messages take more than small ones tell.
pub(super) fn most_steps(limit: u64) -> u64 {
    (2 * limit).min(MOST_STEPS)
}

/// Steps for one size: a minute at most.
pub(super) const MOST_STEPS: u64 = 3_000_000;

/// Short operations are always stepped: a thousand steps are a hundredth of a second.
const LEAST_LIMIT: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn run(size: usize, instructions: Option<u64>) -> Steps {
        let complete = instructions.is_some();
        Steps { size, complete, instructions: instructions.unwrap_or(9999), ..Steps::default() }
    }

    /// Steps what is asked for of code that takes so many instructions, and tells the sizes.
    fn stepped(cost: impl Fn(usize) -> u64, algorithm: &Algorithm) -> Vec<(usize, bool)> {
        let mut runs = Vec::new();
        while let Some(Next { size, most_steps }) = next(&runs, algorithm) {
            runs.push(run(size, Some(cost(size)).filter(|n| *n <= most_steps)));
        }
        runs.iter().map(|r| (r.size, r.complete)).collect()
    }

    #[test]
    fn code_is_stepped_at_sizes_that_fit_what_a_byte_costs_it() {
        let each = |per_byte: f64| move |size: usize| 400 + (per_byte * size as f64) as u64;
        let gcm = Algorithm::find("aes-128-gcm").unwrap();
        let lean = [(512, true), (2048, true), (4096, true), (16_384, true)];
        assert_eq!(stepped(each(0.1), gcm), lean);
        assert_eq!(stepped(each(1.4), gcm), lean[..2]);
        let slow = [(512, true), (2048, false), (128, true), (256, true)];
        assert_eq!(stepped(each(15.0), gcm), slow);
        let costly_message = |size: usize| 6000 + size as u64;
        assert_eq!(stepped(costly_message, gcm), lean[..2]);
        let slowest = [(512, false), (128, false), (16, true), (48, true)];
        assert_eq!(stepped(each(200.0), gcm), slowest);
        let hopeless = stepped(each(1e5), gcm);
        assert_eq!(hopeless, [(512, false), (128, false), (16, false)]);
        let chacha = Algorithm::find("chacha20-poly1305").unwrap();
        assert_eq!(stepped(each(1.4), chacha), [(1024, true), (3072, true)]);
    }

    #[test]
    fn sizes_that_the_algorithm_does_not_take_are_not_asked_for() {
        let mut short = *Algorithm::find("aes-128-ctr").unwrap();
        short.sizes = base::model::SizeRule::LessThan(1000);
        assert_eq!(stepped(|_| 500, &short), [(128, true), (256, true)]);
        short.sizes = base::model::SizeRule::LessThan(5);
        assert_eq!(stepped(|_| 500, &short), []);
    }

    #[test]
    fn the_slope_is_that_of_the_two_largest_sizes_seen_to_their_end() {
        let runs = [run(4096, Some(1424)), run(1024, Some(656)), run(8192, None), run(16, Some(9))];
        let slope = slope(&runs).unwrap();
        assert_eq!((slope.small.size, slope.large.size, slope.per_byte), (1024, 4096, 0.25));
        let share = slope.share(656, 1424);
        assert_eq!((share.per_byte, share.per_message), (0.25, 400.0));
        assert_eq!(super::slope(&runs[..1]), None);
        assert_eq!(super::slope(&[run(64, Some(9000)), run(128, Some(8000))]), None);
    }

    #[test]
    fn what_a_size_takes_is_foretold_by_the_slope_and_else_by_the_largest_size() {
        let runs = [run(512, Some(528)), run(2048, Some(912))];
        assert_eq!(foretold(&runs, 8192), Some(2448));
        assert_eq!(foretold(&runs, 16), Some(404));
        let one = [run(16, Some(800)), run(48, None)];
        assert_eq!((foretold(&one, 160), foretold(&one, 8)), (Some(8000), Some(800)));
        assert_eq!(foretold(&[run(16, None)], 16), None);
    }

    #[test]
    fn the_limit_is_the_largest_whose_operations_fit_the_allowance_together() {
        let foretold = [900, 1500, 1500, 3000, 40_000];
        assert_eq!(limit(&foretold, 4000), 2048);
        assert_eq!(limit(&foretold, 7500), 32_768, "what is between costs nothing more");
        assert_eq!(limit(&foretold, 50_000), MOST_STEPS);
        assert_eq!(limit(&[u64::MAX, u64::MAX], u64::MAX - 1), MOST_STEPS);
        assert_eq!(limit(&foretold, 0), LEAST_LIMIT, "short operations are always stepped");
        let slightly_more: Vec<u64> = foretold.iter().map(|n| n * 103 / 100).collect();
        assert_eq!(limit(&slightly_more, 7500), 32_768, "as for a build of 3 % more");
    }
}
