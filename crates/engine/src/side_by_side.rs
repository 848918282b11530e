//! Whether two CPUs may measure different cases at the same time.

use crate::plan::Planned;
use crate::quiet;
use crate::setting::{Machine, lists};
use base::analysis::median;
use base::model::{Footprint, QUIET_PROBE_FRACTION, QuietRates};
use probe::{Clock, messages_for};
use std::time::Duration;

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
