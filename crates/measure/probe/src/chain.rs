//! How many core cycles a multiplication of the chain takes, judged by a second chain.

use crate::arch;
use crate::clock::Clock;

/// Rounds of multiplications in one reading, and as many cycles of the simple chain where a multiplication
/// takes three: 12 000 cycles each, which counters that advance in steps of 10 ns resolve to 0.3 %.
const ROUNDS: u64 = 40;
const SIMPLE_ROUNDS: u64 = 120;

/// Readings of both chains in turn that are enough where they agree on the usual latency, and at most.
const FEW: usize = 5;
const MOST: usize = 101;

/// Latencies of `imul r64,r64` that cores are known to have: 3 on Intel's large cores and AMD's from Zen on,
/// 4 to 6 on AMD's before and on Intel's small ones (Agner Fog, Instruction tables; uops.info).
const LATENCIES: std::ops::RangeInclusive<i32> = 3..=6;
const USUAL: f64 = 3.0;

/// How far the ratio may be from a whole number at the end, and to stop early. A busy sibling thread slows the
/// simple chain by some per cent; whole numbers lie 17 % and more apart.
const TOLERANCE: f64 = 0.08;
const SURE: f64 = 0.02;

/// Core cycles of one multiplication, from how many times as long as a link of the simple chain it takes,
/// which is one cycle.
///
/// # Errors
/// Why core cycles cannot be known: one of the chains is not what it is taken for.
fn multiplication(ratio: f64) -> Result<f64, String> {
    LATENCIES.map(f64::from).find(|n| (ratio / n - 1.0).abs() <= TOLERANCE).ok_or_else(|| {
        format!(
            "a multiplication takes {ratio:.2} times as long as a rotation or an exclusive or: \
             3 to 6 times are known, so one of the two chains is not what it is taken for"
        )
    })
}

/// As [`multiplication`], of readings of both chains in turn (any unit). The shortest of each counts: whatever
/// disturbs them makes them longer. Few are enough where they say what nearly all cores do.
pub(crate) fn judge(mut read: impl FnMut() -> (f64, f64)) -> Result<f64, String> {
    let (mut multiplied, mut simple) = (f64::INFINITY, f64::INFINITY);
    for reading in 1..=MOST {
        let (a, b) = read();
        (multiplied, simple) = (multiplied.min(a), simple.min(b));
        if reading >= FEW && (multiplied / simple / USUAL - 1.0).abs() <= SURE {
            return Ok(USUAL);
        }
    }
    multiplication(multiplied / simple)
}

impl Clock {
    /// Ticks of a multiplication, and of a cycle of the simple chain, right now.
    pub(crate) fn chains(&self) -> (f64, f64) {
        let ticks = |chain: fn(u64), rounds| {
            let begin = self.begin();
            chain(rounds);
            self.net(begin, self.end()).max(1) as f64
        };
        let multiplications =
            ticks(arch::latency_chain, ROUNDS) / (ROUNDS as f64 * arch::CHAIN_LINKS);
        let cycles = SIMPLE_ROUNDS as f64 * arch::SIMPLE_ROUND_CYCLES;
        (multiplications, ticks(arch::simple_chain, SIMPLE_ROUNDS) / cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_whose_multiplication_takes_another_whole_number_of_cycles_is_counted_by_it() {
        for (ratio, cycles) in
            [(3.0, 3.0), (2.98, 3.0), (3.05, 3.0), (4.03, 4.0), (5.0, 5.0), (5.9, 6.0)]
        {
            assert_eq!(multiplication(ratio), Ok(cycles), "{ratio}");
        }
    }

    #[test]
    fn chains_that_no_known_core_gives_leave_cycles_unknown_and_say_why() {
        // Folded at rename, half a cycle a link; neither of two; a latency that no core has.
        for ratio in [1.5, 2.0, 3.5, 4.5, 7.0, 12.0, f64::NAN, f64::INFINITY] {
            let why = multiplication(ratio).unwrap_err();
            assert!(why.contains(&format!("takes {ratio:.2} times")), "{why}");
        }
    }

    #[test]
    fn disturbed_readings_change_nothing_and_another_latency_is_read_to_the_end() {
        // Interrupted in one chain, in the other, in both; then once each undisturbed.
        let mut of = [(9.0, 1.0), (3.01, 7.0), (8.0, 9.0), (3.2, 1.1), (3.5, 1.2)].into_iter();
        assert_eq!(judge(|| of.next().unwrap()), Ok(3.0));
        let mut readings = 0;
        let slow = judge(|| {
            readings += 1;
            if readings % 4 == 0 { (50.0, 10.0) } else { (5.01, 1.0) }
        });
        assert_eq!((slow, readings), (Ok(5.0), MOST));
        assert!(judge(|| (3.5, 1.0)).is_err());
        assert_eq!(judge(|| (3.0, 1.05)), Ok(3.0), "a sibling thread slows the simple chain");
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn this_core_has_a_latency_that_is_known_or_no_cycles() {
        let clock = Clock::calibrate();
        match clock.cycles_reason() {
            None => assert!((3.0..=6.0).contains(&clock.multiplication_cycles())),
            Some(why) => assert!(why.contains("a multiplication takes"), "{why}"),
        }
    }
}
