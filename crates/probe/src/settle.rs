//! How a case begins: the core forgets what other code has taught it, and the case runs until it is as fast
//! as it gets.
//!
//! How a case comes to its speed in a new process: memory is mapped as it is touched, caches and predictors learn. How
//! long that takes differs from core to core and from case to case, so the costs on the way are kept.

use crate::clock::Clock;
use base::model::Settling;
use std::arch::asm;
use std::time::{Duration, Instant};

/// Nanoseconds of a stretch between two looks at the time.
const STRETCH_NS: f64 = 8_000.0;
/// Time between two looks at whether the core is quiet: neighbours come and go in milliseconds.
const LOOK_EVERY: Duration = Duration::from_micros(400);
/// The part of a window's stretches of which the slowest stands for it.
const LOW_QUANTILE: f64 = 0.2;

/// Has `run` execute operations, so many as it is given, for `least` and until they get no faster, up to
/// [`Settling::LONGEST_US`] or twice `least`. `run` returns the nanoseconds that they took. Stretches count that have a
/// quiet core before and after them: `is_quiet` says whether it is.
///
/// # Errors
/// Those of `run`.
pub fn settle<E>(
    least: Duration,
    is_quiet: impl Fn() -> bool,
    mut run: impl FnMut(u32) -> Result<f64, E>,
) -> Result<Settling, E> {
    let begun = Instant::now();
    let mut settling = Settling { first_ns: run(1)?, ..Settling::default() };
    let mut windows = Windows::default();
    let longest = Duration::from_micros(Settling::LONGEST_US.into()).max(2 * least);
    let (mut until, mut ops, mut looked, mut was_quiet) = (least, 1_u32, Duration::ZERO, true);
    loop {
        let ns = run(ops)?;
        let now = begun.elapsed();
        windows.add(now, ns / f64::from(ops));
        let fitting = STRETCH_NS * f64::from(ops) / ns.max(1.0);
        ops = (fitting as u32).clamp(1, ops.saturating_mul(4));
        let is_over = now >= until;
        if is_over || now >= looked + LOOK_EVERY {
            let quiet = is_quiet();
            windows.judge(quiet && was_quiet);
            (looked, was_quiet) = (begun.elapsed(), quiet);
        }
        if !is_over {
            continue;
        }
        settling.ns_per_op = windows.costs();
        if !settling.still_falls() || now >= longest {
            settling.us = u32::try_from(now.as_micros()).unwrap_or(u32::MAX);
            return Ok(settling);
        }
        until = (2 * now).min(longest);
    }
}

/// What stretches cost, by the window that they ended in.
#[derive(Default)]
struct Windows {
    counted: Vec<Vec<f64>>,
    /// Those since the last look at the core.
    pending: Vec<(usize, f64)>,
}

impl Windows {
    fn add(&mut self, now: Duration, cost: f64) {
        let first = u128::from(Settling::FIRST_WINDOW_US) * 1000;
        if let Some(window) = (now.as_nanos() / first).checked_ilog2() {
            self.pending.push((window as usize, cost));
        }
    }

    /// Counts what there was since the last look, or forgets it.
    fn judge(&mut self, counts: bool) {
        for (window, cost) in self.pending.drain(..).filter(|_| counts) {
            if self.counted.len() <= window {
                self.counted.resize(window + 1, Vec::new());
            }
            self.counted[window].push(cost);
        }
    }

    fn costs(&mut self) -> Vec<f64> {
        let low = |costs: &mut Vec<f64>| {
            let at = (costs.len() as f64 * LOW_QUANTILE) as usize;
            if costs.is_empty() { 0.0 } else { *costs.select_nth_unstable_by(at, f64::total_cmp).1 }
        };
        self.counted.iter_mut().map(low).collect()
    }
}

/// Has the core forget which way branches went: by going through 16,384 of them, each at an address of its own, that nobody
/// can foresee. About 65 µs.
// Never inlined: the compiler takes the assembly for short, and aarch64's branches across it would not reach.
#[inline(never)]
pub fn forget_branches(clock: &Clock) {
    let state = clock.begin().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    // G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003), number 14. Eight of its bits decide.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the branches go to the next instruction but one; nothing is changed but two registers and flags.
    unsafe {
        asm!(
            ".macro way bit",
            "bt {s}, \\bit",
            "jc 2f",
            "nop",
            "2:",
            ".endm",
            ".rept 2048",
            "mov {t}, {s}",
            "shl {t}, 13",
            "xor {s}, {t}",
            "mov {t}, {s}",
            "shr {t}, 7",
            "xor {s}, {t}",
            "mov {t}, {s}",
            "shl {t}, 17",
            "xor {s}, {t}",
            ".irp bit, 0, 3, 6, 9, 12, 15, 18, 21",
            "way \\bit",
            ".endr",
            ".endr",
            ".purgem way",
            s = inout(reg) state => _,
            t = out(reg) _,
            options(nomem, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        asm!(
            ".macro way bit",
            "tbnz {s}, #\\bit, 2f",
            "nop",
            "2:",
            ".endm",
            ".rept 2048",
            "eor {s}, {s}, {s}, lsl #13",
            "eor {s}, {s}, {s}, lsr #7",
            "eor {s}, {s}, {s}, lsl #17",
            ".irp bit, 0, 3, 6, 9, 12, 15, 18, 21",
            "way \\bit",
            ".endr",
            ".endr",
            ".purgem way",
            s = inout(reg) state => _,
            options(nomem, nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::hint::black_box(state);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Operations of a microsecond, or of two up to the time that they need.
    fn settled(least_us: u64, needs_us: u64) -> Settling {
        let begun = Instant::now();
        settle(
            Duration::from_micros(least_us),
            || true,
            |ops| {
                let slow = begun.elapsed() < Duration::from_micros(needs_us);
                let ns = f64::from(ops) * if slow { 2000.0 } else { 1000.0 };
                let until = Instant::now() + Duration::from_nanos(ns as u64);
                while Instant::now() < until {}
                Ok::<_, Infallible>(ns)
            },
        )
        .expect("it cannot fail")
    }

    #[test]
    fn a_case_that_is_fast_from_the_first_on_settles_for_as_long_as_asked() {
        let settling = settled(800, 0);
        assert!(settling.us >= 800, "{settling:?}");
        assert_eq!(settling.first_ns, 1000.0);
        assert_eq!(settling.needed_us(), Some((2 * Settling::FIRST_WINDOW_US, true)));
    }

    #[test]
    fn a_long_look_finds_when_a_case_got_faster() {
        let settling = settled(12_800, 5_000);
        assert_eq!(settling.first_ns, 2000.0);
        // On a machine that stops this program for milliseconds, a window may be missed: never the ones before.
        assert!(settling.needed_us().is_some_and(|(us, _)| us >= 6_400), "{settling:?}");
    }

    #[test]
    fn a_case_that_has_just_got_faster_goes_on_and_one_that_never_ends_to_do_so_is_ended() {
        let settling = settled(1_600, 1_550);
        assert!(settling.us > 1_600, "{settling:?}");
        let mut ns = 1e6;
        let endless = settle(
            Duration::from_micros(100),
            || true,
            |_| {
                ns *= 0.99;
                Ok::<_, Infallible>(ns)
            },
        )
        .expect("it cannot fail");
        assert!(endless.us >= Settling::LONGEST_US, "{endless:?}");
    }

    #[test]
    fn what_a_busy_core_made_slow_is_no_part_of_how_a_case_settles() {
        let begun = Instant::now();
        let is_busy = || begun.elapsed() < Duration::from_micros(3_000);
        let settling = settle(
            Duration::from_micros(12_800),
            || !is_busy(),
            |ops| {
                let ns = f64::from(ops) * if is_busy() { 1400.0 } else { 1000.0 };
                let until = Instant::now() + Duration::from_nanos(ns as u64);
                while Instant::now() < until {}
                Ok::<_, Infallible>(ns)
            },
        );
        let settling = settling.expect("it cannot fail");
        assert!(settling.ns_per_op.iter().all(|ns| [0.0, 1000.0].contains(ns)), "{settling:?}");
    }
}
