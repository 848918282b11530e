//! How many core cycles a multiplication of the chain takes, judged by a second chain.

use crate::arch;
use crate::clock::Clock;
use std::ops::RangeInclusive;

/// Rounds of the chain in one reading, and as many cycles of the simple chain where a link takes what it usually does:
/// 12 000 cycles each, which counters that advance in steps of 10 ns resolve to 0.3 %.
const ROUNDS: u64 = 40;
const SIMPLE_ROUNDS: u64 = 120;

/// Readings of both chains in turn that are enough where they agree on the usual latency, and at most.
const FEW: usize = 5;
const MOST: usize = 101;

/// Cycles of a link that cores are known to have, and most have.
#[derive(Clone, Debug)]
struct Known {
    latencies: RangeInclusive<i32>,
    usual: f64,
}

const HERE: Known = Known { latencies: arch::LINK_CYCLES, usual: arch::USUAL_CYCLES };

/// How far the ratio may be from a whole number at the end, and to stop early. A busy sibling thread slows the
/// simple chain by some per cent; whole numbers lie 17 % and more apart.
const TOLERANCE: f64 = 0.08;
const SURE: f64 = 0.02;

impl Known {
    /// Core cycles of one link, from how many times as long as a link of the simple chain it takes, which is one
    /// cycle.
    ///
    /// # Errors
    /// Why core cycles cannot be known: one of the chains is not what it is taken for.
    fn link(&self, ratio: f64) -> Result<f64, String> {
        let (link, simple) = (arch::LINK_NAME, arch::SIMPLE_NAME);
        let (least, most) = (self.latencies.start(), self.latencies.end());
        let known = if least == most {
            "as long is known".to_owned()
        } else {
            format!("{least} to {most} times are known")
        };
        let all = self.latencies.clone().map(f64::from);
        all.into_iter().find(|n| (ratio / n - 1.0).abs() <= TOLERANCE).ok_or_else(|| {
            format!(
                "{link} takes {ratio:.2} times as long as {simple}: {known}, so one of the two chains is not what it \
                 is taken for"
            )
        })
    }

    /// The same of readings of both chains in turn (any unit). The shortest of each counts: whatever
    /// disturbs them makes them longer. Few are enough where they say what nearly all cores do.
    fn judge(&self, mut read: impl FnMut() -> (f64, f64)) -> Result<f64, String> {
        let (mut links, mut simple) = (f64::INFINITY, f64::INFINITY);
        for reading in 1..=MOST {
            let (a, b) = read();
            (links, simple) = (links.min(a), simple.min(b));
            if reading >= FEW && (links / simple / self.usual - 1.0).abs() <= SURE {
                return Ok(self.usual);
            }
        }
        self.link(links / simple)
    }
}

/// Core cycles of one link of the chain on this core, of readings of both chains in turn.
///
/// # Errors
/// Why core cycles cannot be known.
pub(crate) fn judge(read: impl FnMut() -> (f64, f64)) -> Result<f64, String> {
    HERE.judge(read)
}

impl Clock {
    /// Ticks of a link, and of a cycle of the simple chain, right now.
    pub(crate) fn chains(&self) -> (f64, f64) {
        let ticks = |chain: fn(u64), rounds: u64| {
            let begin = self.begin();
            chain(rounds);
            self.net(begin, self.end()).max(1) as f64 / rounds as f64
        };
        let (rounds, simple) = (ROUNDS * self.stretch(), SIMPLE_ROUNDS * self.stretch());
        let links = ticks(arch::latency_chain, rounds) / arch::CHAIN_LINKS;
        (links, ticks(arch::simple_chain, simple) / arch::SIMPLE_ROUND_CYCLES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplications on x86-64, and additions on AArch64.
    const THREE_TO_SIX: Known = Known { latencies: 3..=6, usual: 3.0 };
    const ONE: Known = Known { latencies: 1..=1, usual: 1.0 };

    #[test]
    fn a_core_whose_multiplication_takes_another_whole_number_of_cycles_is_counted_by_it() {
        for (ratio, cycles) in
            [(3.0, 3.0), (2.98, 3.0), (3.05, 3.0), (4.03, 4.0), (5.0, 5.0), (5.9, 6.0)]
        {
            assert_eq!(THREE_TO_SIX.link(ratio), Ok(cycles), "{ratio}");
        }
    }

    #[test]
    fn chains_that_no_known_core_gives_leave_cycles_unknown_and_say_why() {
        // Folded at rename, half a cycle a link; neither of two; a latency that no core has.
        for ratio in [1.5, 2.0, 3.5, 4.5, 7.0, 12.0, f64::NAN, f64::INFINITY] {
            let why = THREE_TO_SIX.link(ratio).unwrap_err();
            assert!(why.contains(&format!("takes {ratio:.2} times")), "{why}");
        }
    }

    #[test]
    fn disturbed_readings_change_nothing_and_another_latency_is_read_to_the_end() {
        // Interrupted in one chain, in the other, in both; then once each undisturbed.
        let mut of = [(9.0, 1.0), (3.01, 7.0), (8.0, 9.0), (3.2, 1.1), (3.5, 1.2)].into_iter();
        assert_eq!(THREE_TO_SIX.judge(|| of.next().unwrap()), Ok(3.0));
        let mut readings = 0;
        let slow = THREE_TO_SIX.judge(|| {
            readings += 1;
            if readings % 4 == 0 { (50.0, 10.0) } else { (5.01, 1.0) }
        });
        assert_eq!((slow, readings), (Ok(5.0), MOST));
        assert!(THREE_TO_SIX.judge(|| (3.5, 1.0)).is_err());
        assert_eq!(
            THREE_TO_SIX.judge(|| (3.0, 1.05)),
            Ok(3.0),
            "a sibling thread slows the simple chain"
        );
    }

    #[test]
    fn where_a_link_takes_one_cycle_no_other_whole_number_will_do() {
        assert_eq!(ONE.link(1.05), Ok(1.0));
        for ratio in [0.5, 0.9, 1.2, 2.0, f64::NAN] {
            assert!(ONE.link(ratio).unwrap_err().contains("as long is known"), "{ratio}");
        }
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn this_core_has_a_latency_that_is_known_or_no_cycles() {
        let clock = Clock::calibrate();
        match clock.cycles_reason() {
            None => assert!(HERE.latencies.contains(&(clock.multiplication_cycles() as i32))),
            Some(why) => assert!(why.contains(arch::LINK_NAME), "{why}"),
        }
    }
}
