//! Where the kernel says a CPU's time went.

use crate::tree::Tree;

/// Time that a CPU has spent since the machine started, in the kernel's clock ticks
/// ([`ticks_per_second`]; 10 ms mostly). proc_stat(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Running something: user, nice, system, interrupts.
    pub busy: u64,
    /// Running nothing, or waiting for a disk.
    pub idle: u64,
    /// Ready to run while the hypervisor ran something else.
    pub stolen: u64,
}

/// One CPU's times; `None` where the kernel does not say.
#[must_use]
pub fn cpu_times(cpu: u32) -> Option<CpuTimes> {
    times_of(&Tree::at("/"), cpu)
}

/// Clock ticks in a second.
#[must_use]
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

fn times_of(tree: &Tree, cpu: u32) -> Option<CpuTimes> {
    let text = tree.text("/proc/stat")?;
    let name = format!("cpu{cpu}");
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
    let fields: Vec<u64> =
        line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, waiting, hard, soft, stolen, ..] = fields[..] else {
        return None;
    };
    Some(CpuTimes { busy: user + nice + system + hard + soft, idle: idle + waiting, stolen })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_cpus_times_are_its_own() {
        let (_kept, tree) = fixtures::tree(&[(
            "/proc/stat",
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 1 2 3 40 5 6 7 8 0 0\ncpu11 0 0 0 0 0 0 0 0 0 0\nintr 5\n",
        )]);
        let times = times_of(&tree, 1).unwrap();
        assert_eq!(times, CpuTimes { busy: 19, idle: 45, stolen: 8 });
        assert_eq!(times_of(&tree, 11), Some(CpuTimes::default()));
        assert_eq!(times_of(&tree, 2), None);
    }

    #[test]
    fn a_kernel_that_counts_no_stolen_time_says_nothing() {
        let (_kept, tree) = fixtures::tree(&[("/proc/stat", "cpu0 1 2 3 4\n")]);
        assert_eq!(times_of(&tree, 0), None);
    }
}
