//! Which CPUs measure, and where the scheduler is meanwhile.

use crate::plan::Planned;
use crate::quiet;
use crate::setting::{Machine, lists};
use analysis::median;
use model::{Footprint, QUIET_PROBE_FRACTION, QuietRates};
use probe::{Clock, messages_for};
use std::time::Duration;

/// Ticks in a nanosecond, well enough for the length of batches.
pub(crate) fn rough_rate(clock: &Clock) -> Option<f64> {
    let begin = clock.anchor();
    std::thread::sleep(Duration::from_millis(2));
    Some(begin.ticks_per_second(clock.anchor()) / 1e9)
}

/// How many CPUs this process may use.
#[must_use]
pub fn usable_cpus() -> usize {
    probe::allowed_cpus().len()
}

/// The machine, as far as cases hang on it: before the scheduler steps aside, because it asks for the
/// CPUs that may be used.
#[must_use]
pub fn machine() -> Machine {
    Machine::new(&host::facts(measuring_cpu()), placed_cpus())
}

/// CPUs in the order in which threads are placed, the measuring CPU first.
pub(crate) fn placed_cpus() -> Vec<u32> {
    let siblings = |cpu| host::facts(cpu).cpu.thread_siblings;
    placement(measuring_cpu(), &probe::allowed_cpus(), &siblings)
}

/// The CPU to measure on: of those that may be used the one with the highest frequency, so that a
/// hybrid processor's efficiency cores are left alone, and of several the last, because CPU 0 takes
/// most interrupts.
#[must_use]
pub fn measuring_cpu() -> u32 {
    let cpus = probe::allowed_cpus();
    cpus.into_iter().max_by_key(|cpu| (host::max_frequency_khz(*cpu), *cpu)).unwrap_or(0)
}

/// The CPU to measure on instead of one that was taken offline or away from this process; `None` as
/// long as that one is there.
pub(crate) fn another_cpu(cpu: u32) -> Option<u32> {
    let own = probe::allowed_cpus();
    let there = probe::pin_to(&[cpu]).is_ok();
    let _ = probe::pin_to(&own);
    (!there).then(measuring_cpu)
}

/// Keeps the scheduler off the measuring CPU where there is another.
pub(crate) fn step_aside(cpu: u32) {
    let others: Vec<u32> = probe::allowed_cpus().into_iter().filter(|c| *c != cpu).collect();
    if !others.is_empty() {
        // Where the system forbids it the scheduler stays where it is; its work falls between
        // samples in any case.
        let _ = probe::pin_to(&others);
    }
}

/// The CPUs in the order in which threads are placed: `first`, then CPUs whose core has no thread
/// yet, then the rest. `siblings` gives the hardware threads of a CPU's core.
pub(crate) fn placement(
    first: u32,
    allowed: &[u32],
    siblings: &dyn Fn(u32) -> Option<String>,
) -> Vec<u32> {
    let mut placed = vec![first];
    let mut rest: Vec<u32> = allowed.iter().copied().filter(|cpu| *cpu != first).collect();
    for alone in [true, false] {
        rest.retain(|cpu| {
            let own = siblings(*cpu).unwrap_or_default();
            let taken = placed.iter().any(|p| lists(&own, *p));
            if alone && taken {
                return true;
            }
            placed.push(*cpu);
            false
        });
    }
    placed
}

/// Another tenant may disturb a try.
const TRIES: usize = 3;
/// How often and how long another CPU is kept busy to see what that takes from the measuring one.
const TIMES: usize = 7;
const BESIDE: Duration = Duration::from_millis(8);
/// Other CPUs that are tried.
const MOST_TRIED: usize = 4;
/// By how much the core's clock may differ while the other CPU is busy.
const SAME_CLOCK: f64 = 0.01;

/// The CPUs that measure, each another case at the same time: the measuring CPU, and a second one where the two have
/// nothing in common that cases could notice. No more: the clock of many processors falls with the number of busy cores.
/// What is learned of the second one's quiet rate is added.
pub(crate) fn side_by_side(
    clock: &Clock,
    cpu: u32,
    watched: &mut QuietRates,
    (planned, machine): (&[Planned], &Machine),
) -> Vec<u32> {
    let open = || planned.iter().filter(|p| p.verdict.is_none());
    if watched.of(cpu) <= 0.0 || !open().all(|p| stays_in_its_core(p, machine)) {
        return vec![cpu];
    }
    let frequency = host::max_frequency_khz(cpu);
    let siblings = host::facts(cpu).cpu.thread_siblings.unwrap_or_default();
    let alike = |other: &u32| {
        *other != cpu && host::max_frequency_khz(*other) == frequency && !lists(&siblings, *other)
    };
    let others = probe::allowed_cpus().into_iter().filter(alike);
    let second = others.rev().take(MOST_TRIED).find_map(|other| {
        let rates = quiet::watch(clock, other);
        let apart = (0..TRIES).any(|_| {
            leaves(clock, cpu, other, watched.of(cpu)) && leaves(clock, other, cpu, rates.of(other))
        });
        apart.then_some((other, rates.of(other)))
    });
    let Some((second, rate)) = second else { return vec![cpu] };
    watched.set(second, rate);
    vec![cpu, second]
}

/// Whether a case touches no memory but its core's own caches, and nothing of it hangs on what happens once in a while.
fn stays_in_its_core(planned: &Planned, machine: &Machine) -> bool {
    let case = &planned.case;
    let hot = matches!(case.footprint, Footprint::Hot | Footprint::L1);
    // Input, output, and the library's own.
    let bytes = 3 * case.size * messages_for(case.size);
    let alone = case.threads <= 1 && planned.setting.latency_ops == 0;
    alone && hot && machine.second_level_bytes().is_some_and(|cache| bytes as u64 <= cache)
}

/// Whether a busy `other` CPU leaves this one's throughput and clock as they are. On a shared machine the clock
/// moves by itself as well, so it is compared again and again.
fn leaves(clock: &Clock, cpu: u32, other: u32, quiet: f64) -> bool {
    let watch = || {
        probe::pin_to(&[cpu]).ok()?;
        let clock = clock.on_this_cpu();
        let (mut clocks, mut rates) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            let mut alone = clock.beside(None, BESIDE);
            let mut beside = clock.beside(Some(other), BESIDE);
            clocks.push(median(&mut beside.clocks)? / median(&mut alone.clocks)?);
            rates.push(median(&mut beside.rates)? / quiet);
        }
        let same = (median(&mut clocks)? - 1.0).abs() <= SAME_CLOCK;
        Some(same && median(&mut rates)? >= QUIET_PROBE_FRACTION)
    };
    std::thread::scope(|scope| scope.spawn(watch).join()).ok().flatten().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_go_to_cores_of_their_own_first() {
        let siblings = |cpu: u32| Some(format!("{},{}", cpu % 4, cpu % 4 + 4));
        assert_eq!(placement(5, &[0, 1, 2, 4, 5, 6], &siblings), [5, 0, 2, 1, 4, 6]);
        assert_eq!(placement(1, &[0, 1], &|_| None), [1, 0]);
    }
}
