//! Which CPUs measure, and where the scheduler is meanwhile.

use crate::setting::{Machine, lists};

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
