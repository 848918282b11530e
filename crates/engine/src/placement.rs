//! Which CPUs measure, and where the scheduler is meanwhile.

use crate::setting::{Machine, lists};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Mutex, PoisonError};

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
/// hybrid processor's efficiency cores are left alone; of several one on which no other ciphermark measures,
/// and of these the last, because CPU 0 takes most interrupts. Others see it taken until this process ends.
#[must_use]
pub fn measuring_cpu() -> u32 {
    static TAKEN: Mutex<Option<Place>> = Mutex::new(None);
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let cpus = probe::allowed_cpus();
    if let Some(place) = taken.as_ref().filter(|place| cpus.contains(&place.cpu)) {
        return place.cpu;
    }
    *taken = place(&cpus, &host::max_frequency_khz);
    taken.as_ref().map_or(0, |place| place.cpu)
}

/// A CPU on which this process measures.
struct Place {
    cpu: u32,
    /// Holds the CPU's name as long as this process lives; `None` where somebody else does.
    sign: Option<UnixDatagram>,
}

impl Place {
    /// A name without a file, which the kernel takes back however the process ends. Who sees it is who shares the
    /// network's namespace: containers do not know of each other.
    fn take(cpu: u32) -> Self {
        let name = SocketAddr::from_abstract_name(format!("ciphermark measures on CPU {cpu}"));
        Self { cpu, sign: name.and_then(|name| UnixDatagram::bind_addr(&name)).ok() }
    }
}

/// The best of these CPUs that is free; the best where none is.
fn place(cpus: &[u32], frequency_khz: &dyn Fn(u32) -> Option<u64>) -> Option<Place> {
    let best = cpus.iter().map(|cpu| frequency_khz(*cpu)).max()?;
    let like_it: Vec<u32> =
        cpus.iter().copied().rev().filter(|cpu| frequency_khz(*cpu) == best).collect();
    let free = like_it.iter().map(|cpu| Place::take(*cpu)).find(|place| place.sign.is_some());
    free.or_else(|| Some(Place { cpu: *like_it.first()?, sign: None }))
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

    #[test]
    fn who_measures_beside_others_takes_a_cpu_that_is_as_fast_and_free_or_else_shares_the_last() {
        // Far from any machine's own.
        let cpus = [70_000, 70_001, 70_002];
        let slow_last = |cpu: u32| Some(if cpu == 70_002 { 2_000_000 } else { 4_000_000 });
        let taken = || place(&cpus, &slow_last).unwrap();
        let (first, second, third) = (taken(), taken(), taken());
        assert_eq!([first.cpu, second.cpu, third.cpu], [70_001, 70_000, 70_001]);
        assert!(third.sign.is_none());
        drop(first);
        let again = taken();
        assert_eq!((again.cpu, again.sign.is_some()), (70_001, true));
        assert!(place(&[], &slow_last).is_none());
    }
}
