//! The CPU's own counter of instructions, where the system lets us have it.

use perf_event::events::Hardware;
use perf_event::{Builder, Counter};

/// Counts instructions that this thread executes in user space.
pub struct InstructionCounter(Counter);

impl InstructionCounter {
    /// Opens the counter.
    ///
    /// # Errors
    /// Why there is none, in words: virtual machines mostly have none, and
    /// `kernel.perf_event_paranoid` above 2 forbids it.
    pub fn open() -> Result<Self, String> {
        let mut builder = Builder::new(Hardware::INSTRUCTIONS);
        builder.exclude_kernel(true).exclude_hv(true);
        let none = |e| format!("the CPU's counter for instructions is not to be had: {e}");
        builder.build().map(Self).map_err(none)
    }

    /// Instructions that `run` takes, with those that start and stop the counter.
    ///
    /// # Errors
    /// When the counter cannot be started, stopped or read.
    pub fn count<R>(&mut self, run: impl FnOnce() -> R) -> Result<u64, String> {
        let failed = |e: std::io::Error| format!("the CPU's counter for instructions failed: {e}");
        self.0.reset().map_err(failed)?;
        self.0.enable().map_err(failed)?;
        run();
        self.0.disable().map_err(failed)?;
        self.0.read().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_of_known_length_is_counted_or_the_reason_is_told() {
        let sum = |n: u64| (0..n).fold(0_u64, |a, i| std::hint::black_box(a) + i);
        match InstructionCounter::open() {
            Ok(mut counter) => {
                let short = counter.count(|| sum(1000)).unwrap();
                let long = counter.count(|| sum(11_000)).unwrap();
                assert!(long > short + 10_000, "{short} {long}");
            }
            Err(why) => assert!(why.contains("not to be had: "), "{why}"),
        }
    }
}
