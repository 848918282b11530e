//! Ticks and core cycles: the clock, and how many core cycles a link of its chain takes, judged by a second
//! chain.

use crate::arch;
use base::model::QUIET_PROBE_FRACTION;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Where ticks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    MonotonicRaw,
}

#[derive(Clone, Debug)]
pub struct Clock {
    kind: Kind,
    reason: Option<String>,
    step_ticks: u64,
    overhead_ticks: f64,
    /// How many times as long as where steps are short all must be that is timed.
    stretch: u64,
    /// Rounds of the chain, where nothing is stretched.
    chain_rounds: u64,
    /// Core cycles of a link of the chain on the CPU that it was judged on, or why they are not known.
    link_cycles: Result<f64, String>,
    quiet_rate: f64,
    longest_wait: Duration,
    waited: Waited,
}

/// Microseconds of waiting that no sample says yet.
#[derive(Debug, Default)]
struct Waited(AtomicU32);

impl Clone for Waited {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Steps of this many nanoseconds are short: lengths of samples, chains and probes are for them.
const SHORT_STEP_NS: f64 = 10.0;

/// How many times as long all must be that is timed by a counter with steps of so many ticks.
fn stretch(step_ticks: u64, ticks_per_ns: Option<f64>) -> u64 {
    let step_ns = ticks_per_ns.map_or(0.0, |rate| step_ticks as f64 / rate);
    ((step_ns / SHORT_STEP_NS).ceil() as u64).max(1)
}

/// One moment in both ticks and the system's nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub ticks: u64,
    /// `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    pub nanos: u64,
}

/// Empty regions timed to learn the clock's own cost: enough for the mean to settle within a tick
/// where the counter's steps are 26 ticks.
const EMPTY_REGIONS: usize = 2000;

/// How long the chain is at most that tells the core's clock: 12 000 cycles take about three
/// microseconds, which counters that advance in steps of 10 ns (AMD) resolve to 0.3 %, short against a
/// sample.
const CHAIN_ROUNDS: u64 = 40;

/// How long it is at least, and behind a throughput probe: a quarter, to 1.3 % at steps of 10 ns, which is little against
/// the 20 % and more that a busy sibling thread takes; a sample has two of them.
const GLANCE_ROUNDS: u64 = 10;

/// To what part of itself the counter's steps have to resolve the chain.
const RESOLUTION: f64 = 0.003;

/// Rounds of the chain that steps of so many ticks ask for. No more: behind two microseconds of it a core that AES or
/// AVX-512 had made slower takes its clock up again and stands still for one, and would do so back in every batch.
fn chain_rounds(step_ticks: u64, ticks_of_a_round: f64) -> u64 {
    let needed = step_ticks as f64 / RESOLUTION / ticks_of_a_round.max(1e-3);
    (needed.ceil() as u64).clamp(GLANCE_ROUNDS, CHAIN_ROUNDS)
}

/// Runs of the probes before their first reading counts.
const PROBE_WARM_UPS: usize = 4;

impl Clock {
    /// Chooses the time-stamp counter where it is invariant, else `CLOCK_MONOTONIC_RAW`, and
    /// measures its step and its own cost.
    pub fn calibrate() -> Self {
        let reason = arch::counter_unusable();
        let kind = if reason.is_none() { Kind::Counter } else { Kind::MonotonicRaw };
        let mut clock = Self {
            kind,
            reason,
            step_ticks: 1,
            overhead_ticks: 0.0,
            stretch: 1,
            chain_rounds: CHAIN_ROUNDS,
            link_cycles: Ok(0.0),
            quiet_rate: 0.0,
            longest_wait: Duration::ZERO,
            waited: Waited::default(),
        };
        let mut empty: Vec<u64> = (0..EMPTY_REGIONS)
            .map(|_| {
                let begin = clock.begin();
                clock.end() - begin
            })
            .collect();
        empty.sort_unstable();
        clock.step_ticks = step(&empty);
        if kind == Kind::Counter {
            clock.stretch = self::stretch(clock.step_ticks, arch::counter_per_ns());
        }
        // The slowest tenth holds interrupts; the mean of the rest is unbiased where the counter
        // moves in steps, which the median is not.
        let kept = &empty[..EMPTY_REGIONS * 9 / 10];
        clock.overhead_ticks = kept.iter().sum::<u64>() as f64 / kept.len() as f64;
        clock.judge_chain();
        let links = (0..FEW_READINGS).map(|_| clock.chains().0).fold(f64::INFINITY, f64::min);
        clock.chain_rounds = chain_rounds(widest_gap(kept), links * arch::CHAIN_LINKS);
        // The probes' code is cold the first time, which would look like a busy sibling thread.
        for _ in 0..PROBE_WARM_UPS {
            clock.instructions_per_cycle(clock.cycles_per_tick(), 1);
        }
        clock
    }

    /// The same clock for another CPU, on which the caller is by now: cores of one processor can differ in
    /// what their chain takes.
    pub fn on_this_cpu(&self) -> Self {
        let mut here = self.clone();
        here.judge_chain();
        here
    }

    fn judge_chain(&mut self) {
        self.link_cycles = judge_link(|| self.chains());
    }

    /// How many times as long as with steps of 10 ns samples, chains and probes are here, so that a step of the
    /// counter is as small a part of them.
    pub fn stretch(&self) -> u64 {
        self.stretch
    }

    /// Core cycles that a link of the chain takes here (x86-64: a multiplication; aarch64: an addition), by a second
    /// chain; 0 where core cycles cannot be known.
    pub fn multiplication_cycles(&self) -> f64 {
        self.link_cycles.as_ref().map_or(0.0, |cycles| *cycles)
    }

    /// Why core cycles cannot be known, where the architecture has a chain.
    pub fn cycles_reason(&self) -> Option<&str> {
        self.link_cycles.as_ref().err().map(String::as_str)
    }

    pub fn source(&self) -> &'static str {
        match self.kind {
            Kind::Counter => arch::COUNTER,
            Kind::MonotonicRaw => "clock_monotonic_raw",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub fn step_ticks(&self) -> u64 {
        self.step_ticks
    }

    pub fn overhead_ticks(&self) -> u64 {
        self.overhead_ticks.round() as u64
    }

    /// Begins a timed region.
    #[inline(always)]
    pub(crate) fn begin(&self) -> u64 {
        match self.kind {
            Kind::Counter => arch::counter_begin(),
            Kind::MonotonicRaw => monotonic_raw_nanos(),
        }
    }

    /// Ends a timed region.
    #[inline(always)]
    pub(crate) fn end(&self) -> u64 {
        match self.kind {
            Kind::Counter => arch::counter_end(),
            Kind::MonotonicRaw => monotonic_raw_nanos(),
        }
    }

    /// Ticks between a begin and an end, the clock's own cost taken off.
    #[inline]
    pub(crate) fn net(&self, begin: u64, end: u64) -> u64 {
        (end - begin).saturating_sub(self.overhead_ticks())
    }

    /// Core cycles per tick right now; 0 where the architecture has no chain of known latency.
    #[inline]
    pub(crate) fn cycles_per_tick(&self) -> f64 {
        self.cycles_per_tick_over(self.chain_rounds)
    }

    #[inline]
    fn cycles_per_tick_over(&self, rounds: u64) -> f64 {
        let rounds = rounds * self.stretch;
        let begin = self.begin();
        arch::latency_chain(rounds);
        let ticks = (self.end() - begin) as f64 - self.overhead_ticks;
        rounds as f64 * arch::CHAIN_LINKS * self.multiplication_cycles() / ticks.max(1.0)
    }

    /// Independent instructions per core cycle right now, the most of so many blocks; 0 where it cannot be known.
    /// `before` are the core cycles per tick that were read just now. The clock is read again behind the
    /// blocks, and the faster reading counts: where the clock rises in between (behind AVX-512 code, after
    /// a pause), or where an interrupt fell into the first, the core would look quieter than any is.
    #[inline]
    pub(crate) fn instructions_per_cycle(&self, before: f64, blocks: usize) -> f64 {
        let ticks = (0..blocks).fold(f64::INFINITY, |least, _| {
            let begin = self.begin();
            for _ in 0..self.stretch {
                arch::independent_block();
            }
            least.min(((self.end() - begin) as f64 - self.overhead_ticks) / self.stretch as f64)
        });
        per_cycle(ticks, before, self.cycles_per_tick_over(GLANCE_ROUNDS))
    }

    /// Ticks of some work, the clock's own cost taken off, and what came of it. For work that is long
    /// against a tick: a page, a read.
    #[inline(always)]
    pub fn time<R>(&self, work: impl FnOnce() -> R) -> (u64, R) {
        let begin = self.begin();
        let result = work();
        let end = self.end();
        (self.net(begin, end), result)
    }

    /// Independent instructions per core cycle right now: less than when the core is quiet where a
    /// sibling thread is busy; 0 where it cannot be known.
    pub fn throughput(&self) -> f64 {
        warm_probe(self, self.cycles_per_tick())
    }

    /// Sets what [`Clock::wait_until_quiet`] waits for: this CPU's quiet rate (0: unknown, no wait), for `most` at most.
    pub fn expect_quiet(&mut self, rate: f64, most: Duration) {
        (self.quiet_rate, self.longest_wait) = (rate, most);
    }

    /// Waits until the throughput probe sees no other program on the core, or until the longest wait is over. Returns
    /// whether it had to wait.
    pub fn wait_until_quiet(&self) -> bool {
        let begun = Instant::now();
        let mut waited = false;
        while begun.elapsed() < self.longest_wait && !self.is_quiet() {
            waited = true;
        }
        if waited {
            self.waited.0.fetch_add(begun.elapsed().as_micros() as u32, Ordering::Relaxed);
        }
        waited
    }

    /// Microseconds that [`Clock::wait_until_quiet`] has waited since this was last asked.
    pub(crate) fn take_waited_us(&self) -> u32 {
        self.waited.0.swap(0, Ordering::Relaxed)
    }

    /// Whether the throughput probe sees no other program on the core; true where its quiet rate is not known.
    pub fn is_quiet(&self) -> bool {
        self.quiet_rate <= 0.0 || self.throughput() >= self.quiet_rate * QUIET_PROBE_FRACTION
    }

    /// Throughput probes before the first sample. Another tenant keeps a sibling thread busy for tens to
    /// hundreds of milliseconds at a time; a run of a few cases is over sooner and would never see
    /// the core quiet. Between two readings a millisecond: they are to be spread, not many.
    pub fn watch(&self) -> Vec<f64> {
        self.probe_for(Duration::from_millis(300), Duration::from_millis(1))
    }

    /// Throughput probes over a time, one every `pause`: for learning the quiet rate of the CPU that
    /// the caller is on.
    pub fn probe_for(&self, time: Duration, pause: Duration) -> Vec<f64> {
        let begun = Instant::now();
        let mut probes = Vec::new();
        while begun.elapsed() < time {
            // After a pause the core's clock rises and its caches are cold: a chain timed before the
            // rise makes the block after it look faster than any core is.
            for _ in 0..PROBE_WARM_UPS {
                self.instructions_per_cycle(self.cycles_per_tick(), 1);
            }
            // The lower of two, as of a sample's.
            let read = || self.instructions_per_cycle(self.cycles_per_tick(), 1);
            probes.push(read().min(read()));
            std::thread::sleep(pause);
        }
        probes
    }

    /// This moment in ticks and in nanoseconds. Of several tries the one with the least time
    /// between its two tick readings counts: no interrupt fell into it.
    pub fn anchor(&self) -> Anchor {
        (0..32)
            .map(|_| {
                let before = self.begin();
                let nanos = monotonic_raw_nanos();
                let after = self.end();
                (after - before, Anchor { ticks: before.midpoint(after), nanos })
            })
            .min_by_key(|(gap, _)| *gap)
            .map(|(_, anchor)| anchor)
            .expect("there are 32 tries")
    }

    /// Ticks in a nanosecond over two milliseconds: well enough for the length of batches.
    pub fn rough_ticks_per_ns(&self) -> f64 {
        let begin = self.anchor();
        std::thread::sleep(std::time::Duration::from_millis(2));
        begin.ticks_per_second(self.anchor()) / 1e9
    }
}

impl Anchor {
    /// Ticks in a second, from two moments.
    pub fn ticks_per_second(self, later: Self) -> f64 {
        let nanos = (later.nanos - self.nanos).max(1) as f64;
        (later.ticks - self.ticks) as f64 / nanos * 1e9
    }
}

/// Instructions per core cycle of a block that took so many ticks, by the faster of two readings of the
/// clock; 0 where there are none.
fn per_cycle(ticks: f64, before: f64, after: f64) -> f64 {
    let cycles_per_tick = before.max(after);
    if cycles_per_tick > 0.0 {
        arch::BLOCK_INSTRUCTIONS / (ticks.max(1.0) * cycles_per_tick)
    } else {
        0.0
    }
}

/// The smallest difference between two lengths that were seen, at least one tick.
fn step(sorted: &[u64]) -> u64 {
    sorted.windows(2).map(|w| w[1] - w[0]).filter(|d| *d > 0).min().unwrap_or(1)
}

/// The widest gap in these: the counter's step, also of one that a hypervisor scales, whose rounding makes two neighbours of
/// a value.
fn widest_gap(sorted: &[u64]) -> u64 {
    sorted.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0).max(1)
}

#[inline(always)]
fn monotonic_raw_nanos() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicRaw);
    // The system's monotonic clock starts at boot and never goes below zero.
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Rounds of the chain in one reading, and as many cycles of the simple chain where a link takes what it usually does:
/// 12 000 cycles each, which counters that advance in steps of 10 ns resolve to 0.3 %.
const JUDGED_ROUNDS: u64 = 40;
const SIMPLE_ROUNDS: u64 = 120;

/// Readings of both chains in turn that are enough where they agree on the usual latency, and at most.
const FEW_READINGS: usize = 5;
const MOST_READINGS: usize = 101;

/// Cycles of a link that cores are known to have, and most have.
#[derive(Clone, Debug)]
struct Known {
    latencies: RangeInclusive<i32>,
    usual: f64,
}

const KNOWN_HERE: Known = Known { latencies: arch::LINK_CYCLES, usual: arch::USUAL_CYCLES };

/// How far the ratio may be from a whole number at the end, and to stop early. A busy sibling thread slows the
/// simple chain by some per cent; whole numbers lie 17 % and more apart.
const TOLERANCE: f64 = 0.08;
const SURE: f64 = 0.02;

impl Known {
    /// Core cycles of one link, from how many times as long as a link of the simple chain it takes, which is one
    /// cycle.
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
        for reading in 1..=MOST_READINGS {
            let (a, b) = read();
            (links, simple) = (links.min(a), simple.min(b));
            if reading >= FEW_READINGS && (links / simple / self.usual - 1.0).abs() <= SURE {
                return Ok(self.usual);
            }
        }
        self.link(links / simple)
    }
}

/// Core cycles of one link of the chain on this core, of readings of both chains in turn.
pub(crate) fn judge_link(read: impl FnMut() -> (f64, f64)) -> Result<f64, String> {
    KNOWN_HERE.judge(read)
}

impl Clock {
    /// Ticks of a link, and of a cycle of the simple chain, right now.
    pub(crate) fn chains(&self) -> (f64, f64) {
        let ticks = |chain: fn(u64), rounds: u64| {
            let begin = self.begin();
            chain(rounds);
            self.net(begin, self.end()).max(1) as f64 / rounds as f64
        };
        let (rounds, simple) = (JUDGED_ROUNDS * self.stretch(), SIMPLE_ROUNDS * self.stretch());
        let links = ticks(arch::latency_chain, rounds) / arch::CHAIN_LINKS;
        (links, ticks(arch::simple_chain, simple) / arch::SIMPLE_ROUND_CYCLES)
    }
}

/// Blocks of the throughput probe before a batch, of which the fastest counts: behind other code the first of them
/// are slow, for some microseconds, as if a sibling thread were busy, which a tenant of milliseconds would be for all. With two,
/// an Intel core that nobody else used read a tenth to a quarter too low before 40 % of samples.
const BLOCKS_BEFORE: usize = 8;

/// The throughput probe behind a reading of the clock, where other code ran before.
#[inline(always)]
pub(crate) fn warm_probe(clock: &Clock, cycles_per_tick: f64) -> f64 {
    clock.instructions_per_cycle(cycles_per_tick, BLOCKS_BEFORE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch;

    #[test]
    fn a_clock_moves_forward_and_knows_its_rate() {
        let clock = Clock::calibrate();
        let a = clock.anchor();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let b = clock.anchor();
        assert!(b.ticks > a.ticks && b.nanos >= a.nanos + 5_000_000);
        let rate = a.ticks_per_second(b);
        // Counters of AArch64 run at 19.2 MHz to 1 GHz.
        let slowest = if clock.source() == "cntvct" { 1e6 } else { 1e8 };
        assert!((slowest..1e11).contains(&rate), "{rate} ticks a second");
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn a_clock_that_moves_beside_a_probe_never_makes_a_core_look_quieter_than_it_is() {
        let steady = per_cycle(1000.0, 1.4, 1.4);
        let rising = per_cycle(1000.0 * 1.4 / 1.6, 1.4, 1.6);
        let interrupted = per_cycle(1000.0, 0.2, 1.4);
        assert!(rising <= steady * 1.000_001, "{rising} against {steady}");
        assert!(interrupted <= steady, "{interrupted} against {steady}");
        assert_eq!(per_cycle(1000.0, 0.0, 0.0), 0.0);
    }

    #[test]
    fn a_wait_for_a_core_that_never_is_quiet_ends_and_one_for_nothing_does_not_begin() {
        let (mut clock, most) = (Clock::calibrate(), Duration::from_millis(3));
        assert!(!clock.wait_until_quiet(), "nothing was asked for");
        clock.expect_quiet(0.0, most);
        assert!(!clock.wait_until_quiet(), "the rate is not known");
        clock.expect_quiet(1e9, most);
        let begun = Instant::now();
        assert!(clock.wait_until_quiet() && begun.elapsed() >= most);
        assert!(clock.take_waited_us() >= 3000);
        assert_eq!(clock.take_waited_us(), 0, "told once");
    }

    #[test]
    fn what_is_timed_grows_with_the_counters_step() {
        // Apple M: 24 MHz; Ampere Altra: 25; QEMU: 62.5; Graviton 2: 121.9; from v8.6 on: 1 GHz.
        for (mhz, times) in [(24.0, 5), (25.0, 4), (62.5, 2), (121.875, 1), (1000.0, 1)] {
            assert_eq!(stretch(1, Some(mhz / 1e3)), times, "{mhz}");
        }
        assert_eq!(stretch(40, Some(1.0)), 4, "a counter of 1 GHz that moves by 40");
        assert_eq!(stretch(26, None), 1);
    }

    #[test]
    fn the_chain_is_as_long_as_the_counters_steps_ask_for() {
        // Intel at 2.3 GHz, a counter of 1 GHz; AMD's 10 ns at 3.8 GHz; 25 MHz, where all is stretched besides.
        for (step, ticks_of_a_round, rounds) in
            [(2, 230.0, 10), (1, 100.0, 10), (20, 230.0, 29), (38, 285.0, 40), (1, 2.5, 40)]
        {
            assert_eq!(chain_rounds(step, ticks_of_a_round), rounds, "{step}, {ticks_of_a_round}");
        }
        assert_eq!(widest_gap(&[54, 56, 56, 58, 60]), 2);
        assert_eq!(
            (widest_gap(&[50, 51, 75, 76, 101]), step(&[50, 51, 75, 76])),
            (25, 1),
            "scaled"
        );
        assert_eq!(widest_gap(&[40, 40]), 1, "all alike");
    }

    #[test]
    fn the_step_is_the_smallest_difference_seen() {
        assert_eq!(step(&[52, 52, 78, 104]), 26);
        assert_eq!(step(&[7, 7]), 1);
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn the_chain_gives_a_clock_that_a_processor_can_have() {
        let clock = Clock::calibrate();
        let a = clock.anchor();
        let mut readings: Vec<f64> = (0..200).map(|_| clock.cycles_per_tick()).collect();
        let rate = a.ticks_per_second(clock.anchor());
        readings.sort_by(f64::total_cmp);
        let ghz = readings[100] * rate / 1e9;
        assert!((0.3..8.0).contains(&ghz), "{ghz} GHz");
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn the_independent_block_runs_more_than_one_instruction_a_cycle() {
        let clock = Clock::calibrate();
        let mut readings: Vec<f64> =
            (0..200).map(|_| clock.instructions_per_cycle(clock.cycles_per_tick(), 1)).collect();
        readings.sort_by(f64::total_cmp);
        assert!((1.0..20.0).contains(&readings[100]), "{}", readings[100]);
    }

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
        assert_eq!((slow, readings), (Ok(5.0), MOST_READINGS));
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
            None => assert!(KNOWN_HERE.latencies.contains(&(clock.multiplication_cycles() as i32))),
            Some(why) => assert!(why.contains(arch::LINK_NAME), "{why}"),
        }
    }
}
