//! Watching a CPU: what interrupts a loop that does nothing but read the clock.

use crate::affinity::pin_to;
use crate::arch;
use crate::clock::Clock;
use crate::sample::Usage;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What interrupted a spinning loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interruptions {
    /// How long the loop spun, in seconds.
    pub seconds: f64,
    /// Length of each interruption in nanoseconds.
    pub gaps_ns: Vec<f64>,
    /// Times that another program took the CPU.
    pub preempted: u32,
}

/// Most interruptions that are kept: a machine that is busy all the time must not fill the memory.
const MOST_GAPS: usize = 1 << 16;

impl Clock {
    /// Spins on the clock for a time; what lies further apart than `gap` was an interruption: a timer
    /// or device interrupt, another program, or the hypervisor.
    #[must_use]
    pub fn interruptions(&self, time: Duration, gap: Duration) -> Interruptions {
        let (anchor, usage) = (self.anchor(), Usage::now());
        // Roughly how fast the clock ticks is enough to know a gap; exact lengths come at the end.
        let rate = self.rough_ticks_per_ns();
        let ticks = |d: Duration| (d.as_nanos() as f64 * rate) as u64;
        let (long, end) = (ticks(gap), anchor.ticks + ticks(time));
        let (mut last, mut gaps) = (self.begin(), Vec::new());
        while last < end {
            let now = self.begin();
            if now.saturating_sub(last) > long && gaps.len() < MOST_GAPS {
                gaps.push(now - last);
            }
            last = now;
        }
        let after = self.anchor();
        let ns = 1e9 / anchor.ticks_per_second(after);
        Interruptions {
            seconds: (after.nanos - anchor.nanos) as f64 / 1e9,
            gaps_ns: gaps.into_iter().map(|ticks| ticks as f64 * ns).collect(),
            preempted: Usage::now().since(usage).involuntary,
        }
    }

    /// Core cycles per tick right now; 0 where the architecture has no chain of known latency.
    #[must_use]
    pub fn core_cycles_per_tick(&self) -> f64 {
        self.cycles_per_tick()
    }

    /// The throughput probe, and then the clock, while another CPU is kept busy with what fills the front end of a
    /// core, or none is. Who shares the core is seen by it, and in virtual machines
    /// what the system says of siblings is often not true.
    #[must_use]
    pub fn beside(&self, other: Option<u32>, time: Duration) -> Beside {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let Some(other) = other else { return };
                while pin_to(&[other]).is_ok() && !stop.load(Ordering::Relaxed) {
                    (0..1000).for_each(|_| arch::independent_block());
                }
            });
            let rates = self.probe_for(time, Duration::ZERO);
            let clocks = (0..101).map(|_| self.core_cycles_per_tick()).collect();
            stop.store(true, Ordering::Relaxed);
            Beside { rates, clocks }
        })
    }
}

/// What is left of a CPU while another one is busy.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Independent instructions per core cycle.
    pub rates: Vec<f64>,
    /// Core cycles per tick.
    pub clocks: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spin_lasts_as_long_as_asked_and_its_gaps_are_part_of_it() {
        let clock = Clock::calibrate();
        let seen = clock.interruptions(Duration::from_millis(20), Duration::from_micros(1));
        // An interruption at the end can only make it longer.
        assert!(seen.seconds >= 0.019, "{}", seen.seconds);
        let lost = seen.gaps_ns.iter().sum::<f64>() / 1e9;
        assert!(lost <= seen.seconds, "{seen:?}");
        assert!(seen.gaps_ns.iter().all(|gap| *gap >= 900.0), "{seen:?}");
    }
}
