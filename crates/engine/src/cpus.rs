//! The CPUs that measure: which they are, where the scheduler is meanwhile, whether two may measure at once,
//! how quiet each of them is, and what the hypervisor took from it.

use crate::plan::{Machine, Planned, lists};
use base::analysis::{median, quiet_rate, watched_rate};
use base::model::{Footprint, QUIET_PROBE_FRACTION, QuietRates, RawSample};
use host::Remembered;
use probe::{Clock, messages_for};
use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub fn usable_cpus() -> usize {
    probe::allowed_cpus().len()
}

/// The machine, as far as cases hang on it: before the scheduler steps aside, because it asks for the
/// CPUs that may be used.
pub fn machine() -> Machine {
    Machine::new(&host::facts(measuring_cpu()), placed_cpus()).with_room(host::room_bytes())
}

/// CPUs in the order in which threads are placed, the measuring CPU first.
pub(crate) fn placed_cpus() -> Vec<u32> {
    let siblings = |cpu| host::facts(cpu).cpu.thread_siblings;
    placement(measuring_cpu(), &probe::allowed_cpus(), &siblings)
}

/// The CPU to measure on: of those that may be used the one with the highest frequency, so that a
/// hybrid processor's efficiency cores are left alone; of several one on which no other ciphermark measures,
/// and of these the last, because CPU 0 takes most interrupts. Others see it taken until this process ends.
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

// Whether two CPUs may measure different cases at the same time.

/// Another tenant may disturb a try.
const TRIES: usize = 3;
/// How often and how long another CPU is kept busy to see what that takes from the measuring one.
const TIMES: usize = 7;
const BESIDE: Duration = Duration::from_millis(8);
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
    planned: &[Planned],
    machine: &Machine,
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
        let rates = watch_quiet_rate(clock, other);
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

// The quiet rate of the throughput probe, learned while the run goes on and known from earlier ones.

/// The rate is worked out again when there are so many times more probes than the last time: it
/// settles early, and sorting all of them each round would cost more than the samples.
const GROWTH: f64 = 1.05;

/// Probes of a CPU before what they say of it is kept for later runs: ten then lie above the rate.
const WORTH_KEEPING: usize = 500;

/// The quiet rate by which no sample is contended.
const ANY_RATE: f64 = 0.0;

/// Every throughput probe so far and what they say of each quiet core.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    cpus: BTreeMap<u32, Probes>,
    rates: QuietRates,
}

#[derive(Debug, Default)]
struct Probes {
    all: Vec<f64>,
    used: usize,
    /// What was known before the run: the rate is never lower.
    watched: f64,
}

/// Watches a CPU for the quiet rate; what an earlier run saw of it where that is higher, because a core
/// that is busy all the time shows nothing else. 0 where it cannot be known.
pub(crate) fn watch_quiet_rate(clock: &Clock, cpu: u32) -> QuietRates {
    let mut probes = std::thread::scope(|scope| {
        let watching = scope.spawn(|| match probe::pin_to(&[cpu]) {
            Ok(()) => clock.on_this_cpu().watch(),
            Err(_) => Vec::new(),
        });
        watching.join().unwrap_or_default()
    });
    let now = watched_rate(&mut probes);
    // Where the architecture has no probe there is nothing to remember either.
    QuietRates::of_one(cpu, now.max(Remembered::here(cpu).of(cpu)))
}

/// A core's highest frequency and its caches: what was taken on another kind says nothing here.
pub(crate) fn kind_of_core(cpu: u32) -> String {
    let caches: Vec<u64> = host::facts(cpu).cpu.caches.iter().map(|c| c.size_bytes).collect();
    format!("{:?} {caches:?}", host::max_frequency_khz(cpu))
}

impl Quiet {
    /// Nothing is known but what a watch found.
    pub(crate) fn new(watched: &QuietRates) -> Self {
        let probes = |(cpu, watched)| (cpu, Probes { watched, ..Probes::default() });
        Self { cpus: watched.iter().map(probes).collect(), rates: watched.clone() }
    }

    /// Notes the lower probe of a sample. One in which the clock moved, or that was interrupted, says nothing: a clock that rises
    /// between the chain that tells it and the block that is counted by it makes a core look quieter than any is.
    pub(crate) fn learn(&mut self, sample: &RawSample) {
        if sample.disturbance(ANY_RATE).is_none() {
            self.add(sample.cpu, sample.probe());
        }
    }

    fn add(&mut self, cpu: u32, probe: f64) {
        let probes = self.cpus.entry(cpu).or_default();
        probes.all.push(probe);
        if probes.all.len() as f64 >= probes.used as f64 * GROWTH {
            let seen = quiet_rate(&mut probes.all);
            probes.used = probes.all.len();
            self.rates.set(cpu, seen.max(probes.watched));
        }
    }

    pub(crate) fn keep(&self, cpu: u32) {
        let Some(probes) = self.cpus.get(&cpu).filter(|p| p.all.len() >= WORTH_KEEPING) else {
            return;
        };
        let seen = quiet_rate(&mut probes.all.clone());
        Remembered::here(cpu).keep(cpu, seen);
    }

    pub(crate) fn rates(&self) -> &QuietRates {
        &self.rates
    }
}

// Time that the hypervisor took, looked at between blocks of samples.

/// Stolen time of the CPUs that are measured on, in clock ticks. The kernel counts it in ticks of
/// 10 ms, mostly, so a shorter theft shows with a later one: what advanced during a block marks the
/// whole block.
#[derive(Debug)]
pub(crate) struct Stolen {
    /// What each CPU had lost when the run began; none where the kernel does not say.
    before: BTreeMap<u32, u64>,
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

    #[test]
    fn the_rate_is_never_below_what_a_watch_found() {
        let mut quiet = Quiet::new(&QuietRates::of_one(1, 5.0));
        assert_eq!(quiet.rates().of(1), 5.0);
        quiet.add(1, 3.0);
        assert_eq!(quiet.rates().of(1), 5.0);
        (0..10).for_each(|_| quiet.add(1, 6.0));
        assert_eq!(quiet.rates().of(1), 6.0);
    }

    #[test]
    fn the_rate_lies_high_among_the_probes_and_follows_them() {
        let mut quiet = Quiet::default();
        assert_eq!(quiet.rates().of(0), 0.0);
        (0..=100).for_each(|i| quiet.add(0, f64::from(i)));
        assert!((94.0..=98.0).contains(&quiet.rates().of(0)), "{:?}", quiet.rates());
        (0..1000).for_each(|_| quiet.add(0, 200.0));
        assert_eq!(quiet.rates().of(0), 200.0);
    }

    #[test]
    fn a_sample_whose_clock_moved_says_nothing_of_how_quiet_a_core_is() {
        let steady = base::model::fixtures::sample(0, 1, 1.4);
        let mut quiet = Quiet::default();
        quiet.learn(&steady);
        let rate = quiet.rates().of(steady.cpu);
        assert_eq!(rate, steady.probe());
        let rising = RawSample {
            clock_after: steady.clock_after * 1.2,
            probe_before: rate * 1.2,
            probe_after: rate * 1.2,
            ..steady
        };
        (0..100).for_each(|_| quiet.learn(&rising));
        assert_eq!(quiet.rates().of(steady.cpu), rate);
    }

    #[test]
    fn each_core_is_learned_apart() {
        let mut quiet = Quiet::default();
        (0..10).for_each(|_| quiet.add(0, 6.0));
        (0..10).for_each(|_| quiet.add(2, 4.0));
        assert_eq!((quiet.rates().of(0), quiet.rates().of(2)), (6.0, 4.0));
    }

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
