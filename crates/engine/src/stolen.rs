//! Time that the hypervisor took, looked at between blocks of samples.

use std::collections::BTreeMap;

/// Stolen time of the CPUs that are measured on, in clock ticks. The kernel counts it in ticks of
/// 10 ms, mostly, so a shorter theft shows with a later one: what advanced during a block marks the
/// whole block.
#[derive(Debug)]
pub(crate) struct Stolen {
    /// What each CPU had lost when the run began, and when it was last looked at; none where the
    /// kernel does not say.
    ticks: BTreeMap<u32, (u64, u64)>,
    /// Where the numbers come from.
    read: fn(u32) -> Option<u64>,
}

impl Stolen {
    pub(crate) fn new(cpus: &[u32]) -> Self {
        Self::with(cpus, |cpu| host::cpu_times(cpu).map(|times| times.stolen))
    }

    fn with(cpus: &[u32], read: fn(u32) -> Option<u64>) -> Self {
        let known = |cpu: &u32| read(*cpu).map(|ticks| (*cpu, (ticks, ticks)));
        Self { ticks: cpus.iter().filter_map(known).collect(), read }
    }

    /// Looks at one more CPU from now on.
    pub(crate) fn watch(&mut self, cpu: u32) {
        if let Some(ticks) = (self.read)(cpu) {
            self.ticks.entry(cpu).or_insert((ticks, ticks));
        }
    }

    /// Whether any of the CPUs lost time since this was last asked.
    pub(crate) fn advanced(&mut self) -> bool {
        let mut advanced = false;
        for (cpu, (_, last)) in &mut self.ticks {
            let now = (self.read)(*cpu).unwrap_or(*last);
            advanced |= now > *last;
            *last = now;
        }
        advanced
    }

    /// Seconds that the CPUs lost since the run began; `None` where the kernel does not say.
    pub(crate) fn seconds(&self) -> Option<f64> {
        let lost: u64 = self.ticks.values().map(|(begin, last)| last - begin).sum();
        (!self.ticks.is_empty()).then(|| lost as f64 / host::ticks_per_second() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static LOST: AtomicU64 = AtomicU64::new(7);

    #[test]
    fn a_theft_is_told_once_and_counted_for_good() {
        let mut stolen = Stolen::with(&[1], |_| Some(LOST.load(Ordering::Relaxed)));
        assert!(!stolen.advanced());
        LOST.store(9, Ordering::Relaxed);
        assert!(stolen.advanced());
        assert!(!stolen.advanced());
        let seconds = stolen.seconds().unwrap();
        assert!((seconds * host::ticks_per_second() as f64 - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_kernel_that_does_not_say_marks_nothing() {
        let mut stolen = Stolen::with(&[0], |_| None);
        assert!(!stolen.advanced());
        assert_eq!(stolen.seconds(), None);
    }
}
