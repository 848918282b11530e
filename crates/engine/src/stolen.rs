//! Time that the hypervisor took, looked at between blocks of samples.

use std::collections::BTreeMap;

/// Stolen time of the CPUs that are measured on, in clock ticks. The kernel counts it in ticks of
/// 10 ms, mostly, so a shorter theft shows with a later one: what advanced during a block marks the
/// whole block.
#[derive(Debug)]
pub(crate) struct Stolen {
    /// What each CPU had lost when the run began; none where the kernel does not say.
    before: BTreeMap<u32, u64>,
    /// Where the numbers come from.
    read: fn(u32) -> Option<u64>,
}

impl Stolen {
    pub(crate) fn new(cpus: &[u32]) -> Self {
        Self::with(cpus, |cpu| host::cpu_times(cpu).map(|times| times.stolen))
    }

    fn with(cpus: &[u32], read: fn(u32) -> Option<u64>) -> Self {
        let known = |cpu: &u32| read(*cpu).map(|ticks| (*cpu, ticks));
        Self { before: cpus.iter().filter_map(known).collect(), read }
    }

    /// Looks at one more CPU from now on.
    pub(crate) fn watch(&mut self, cpu: u32) {
        if let Some(ticks) = (self.read)(cpu) {
            self.before.entry(cpu).or_insert(ticks);
        }
    }

    /// What these CPUs have lost so far; every CPU of the run where it is not known which.
    pub(crate) fn of(&self, cpus: &[u32]) -> u64 {
        let every = || self.before.keys().copied().collect();
        let cpus = if cpus.is_empty() { every() } else { cpus.to_vec() };
        cpus.into_iter().filter_map(self.read).sum()
    }

    /// Seconds that the CPUs lost since the run began; `None` where the kernel does not say.
    pub(crate) fn seconds(&self) -> Option<f64> {
        let lost = |(cpu, before): (&u32, &u64)| Some((self.read)(*cpu)?.saturating_sub(*before));
        let lost: u64 = self.before.iter().filter_map(lost).sum();
        (!self.before.is_empty()).then(|| lost as f64 / host::ticks_per_second() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static LOST: AtomicU64 = AtomicU64::new(7);

    #[test]
    fn a_theft_is_seen_by_whom_it_is_of_and_counted_for_good() {
        let stolen = Stolen::with(&[1, 2], |cpu| {
            Some(if cpu == 1 { LOST.load(Ordering::Relaxed) } else { 40 })
        });
        let before = (stolen.of(&[1]), stolen.of(&[2]), stolen.of(&[]));
        LOST.store(9, Ordering::Relaxed);
        assert_eq!(before, (7, 40, 47));
        assert_eq!((stolen.of(&[1]), stolen.of(&[2]), stolen.of(&[])), (9, 40, 49));
        let seconds = stolen.seconds().unwrap();
        assert!((seconds * host::ticks_per_second() as f64 - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_kernel_that_does_not_say_marks_nothing() {
        let stolen = Stolen::with(&[0], |_| None);
        assert_eq!(stolen.of(&[0]), 0);
        assert_eq!(stolen.seconds(), None);
    }
}
