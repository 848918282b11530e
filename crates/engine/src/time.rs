//! Time as a run meets it: what ends a run, deadlines that count only the time in which both sides could run,
//! sleep of the machine, and how fast the clock ticks.

use probe::{Anchor, Clock};
use record::Stopped;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What ends a run before all is done: an interrupt, or the end of the time that the whole of it may take.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    interrupted: Arc<AtomicBool>,
    end: Option<Instant>,
}

impl Stop {
    /// Ends when the flag is set, as a signal handler does.
    pub fn on(interrupted: Arc<AtomicBool>) -> Self {
        Self { interrupted, end: None }
    }

    pub fn within(&self, time: Duration) -> Self {
        let end = Instant::now() + time;
        let end = self.end.map_or(end, |own| own.min(end));
        Self { interrupted: Arc::clone(&self.interrupted), end: Some(end) }
    }

    pub fn longer(&self, time: Duration) -> Self {
        Self { interrupted: Arc::clone(&self.interrupted), end: self.end.map(|end| end + time) }
    }

    /// Why no more is to be done; none while more is.
    pub fn why(&self) -> Option<Stopped> {
        let is_over = || self.end.is_some_and(|end| Instant::now() >= end);
        match self.is_interrupted() {
            true => Some(Stopped::Interrupted),
            false => is_over().then_some(Stopped::Budget),
        }
    }

    pub fn is_over(&self) -> bool {
        self.why().is_some()
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// What a signal handler sets.
    pub fn flag(&self) -> &AtomicBool {
        &self.interrupted
    }

    /// Time that is left; none where it has no end.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

// Deadlines that count only the time in which this process ran, and the other could.
//
// A run that is stopped (Ctrl-Z, `kill -STOP`, a debugger, a frozen container) and goes on an hour
// later has not waited for an hour: a deadline that counted the stop would call every worker hung.
// A machine that sleeps is no matter, because the system's monotonic clock, which [`Instant`] reads,
// sleeps with it.
//
// Nor does the time count in which the process that is waited for had no CPU ([`RunQueue`]).

/// Longest single wait. Also how soon a wait notices that the run is to end.
const STRETCH: Duration = Duration::from_millis(100);

/// What a wait may take beyond its time on a busy machine before it is taken for a stop.
const LATE: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub(crate) struct Deadline {
    left: Duration,
    away: Duration,
    queue: RunQueue,
}

impl Deadline {
    pub(crate) fn with(process: u32, deadline: Duration) -> Self {
        Self { left: deadline, away: Duration::ZERO, queue: RunQueue::of(process) }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left.is_zero()
    }

    pub(crate) fn away(&self) -> Duration {
        self.away
    }

    /// Waits once, for no longer than it is told, and takes that time off.
    pub(crate) fn stretch<T>(&mut self, wait: impl FnOnce(Duration) -> T) -> T {
        let (begun, time) = (Instant::now(), self.left.min(STRETCH));
        let waited = wait(time);
        let took = begun.elapsed();
        // Most answers come sooner, and the queue is not looked at for them.
        let queued = if took >= time { self.queue.grown() } else { Duration::ZERO };
        self.count(time, took, queued);
        waited
    }

    fn count(&mut self, asked: Duration, took: Duration, queued: Duration) {
        let stopped = took > asked + LATE;
        let ran = if stopped { asked } else { took };
        self.left = self.left.saturating_sub(ran.saturating_sub(queued));
        self.away += took - ran;
    }
}

// How long workers are waited for.

/// A variable with the share of every deadline that is waited: tests of libraries that hang do not wait
/// half a minute for each.
const VARIABLE: &str = "CIPHERMARK_PATIENCE";

pub(crate) fn patient(deadline: Duration) -> Duration {
    deadline.mul_f64(of_this_process())
}

/// What waiting for so long takes off a deadline: as much as off the one that is meant by it.
pub(crate) fn spent(waited: Duration) -> Duration {
    waited.div_f64(of_this_process())
}

fn of_this_process() -> f64 {
    static SHARE: OnceLock<f64> = OnceLock::new();
    *SHARE.get_or_init(|| share(std::env::var(VARIABLE).ok().as_deref()))
}

/// Nobody waits longer than the deadlines say, nor not at all.
fn share(value: Option<&str>) -> f64 {
    value.and_then(|v| v.parse().ok()).filter(|v| (0.01..=1.0).contains(v)).unwrap_or(1.0)
}

// How long a worker could run and had no CPU.
//
// On a machine with more to do than it has CPUs, a worker may get a tenth of one. That is no fault of
// its library's: a deadline that counted it would call a slow machine a library that hangs.

/// A process's threads, and how long each has waited for a CPU so far.
#[derive(Debug)]
pub(crate) struct RunQueue {
    process: u32,
    /// By thread, in nanoseconds.
    waited: HashMap<String, u64>,
}

impl RunQueue {
    pub(crate) fn of(process: u32) -> Self {
        Self { process, waited: HashMap::new() }
    }

    /// How much longer the thread that waited longest has waited, since this was last asked. Nothing the
    /// first time, and where the kernel does not count it (`CONFIG_SCHED_INFO`).
    ///
    /// Not the sum: threads of a library that wait for each other are its own affair.
    pub(crate) fn grown(&mut self) -> Duration {
        let before = std::mem::replace(&mut self.waited, delays(self.process));
        let grown = |(thread, now): (&String, &u64)| Some(now.saturating_sub(*before.get(thread)?));
        Duration::from_nanos(self.waited.iter().filter_map(grown).max().unwrap_or(0))
    }
}

/// Nanoseconds on a run queue, of each thread.
fn delays(process: u32) -> HashMap<String, u64> {
    // Of the process that it has forked too, where the work is done (`CONFIG_PROC_CHILDREN`).
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let mut all: HashMap<_, _> = counters(&process.to_string(), 1).collect();
    children.iter().flat_map(|c| c.split_whitespace()).for_each(|c| all.extend(counters(c, 1)));
    all
}

/// Each thread of a process with one of the scheduler's exact counters of it, `/proc/PID/task/TID/schedstat`: nanoseconds
/// on a CPU, then on a run queue (Linux, Documentation/scheduler/sched-stats.rst).
pub(crate) fn counters(process: &str, which: usize) -> impl Iterator<Item = (String, u64)> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    threads.flatten().filter_map(move |thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let ns = text.split_whitespace().nth(which)?.parse().ok()?;
        Some((thread.file_name().to_string_lossy().into_owned(), ns))
    })
}

// Time in which the whole machine slept.

/// What two readings of the clocks may be apart.
const JITTER: Duration = Duration::from_millis(1);

/// How long the machine has slept since it was started: the difference of the clock that counts sleep
/// (`CLOCK_BOOTTIME`) and the one that does not (`CLOCK_MONOTONIC`).
#[derive(Clone, Debug)]
pub(crate) struct Suspend {
    last: Duration,
    read: fn() -> Duration,
}

impl Suspend {
    pub(crate) fn new() -> Self {
        Self::with(slept)
    }

    fn with(read: fn() -> Duration) -> Self {
        Self { last: read(), read }
    }

    /// Whether the machine slept since this was last asked.
    pub(crate) fn advanced(&mut self) -> bool {
        let now = (self.read)();
        let advanced = now > self.last + JITTER;
        self.last = now;
        advanced
    }
}

fn slept() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    let awake = read(ClockId::Monotonic);
    read(ClockId::Boottime).saturating_sub(awake)
}

/// Least time between two moments for a rate that can be trusted.
const LEAST_NANOS: u64 = 20_000_000;

/// The longest part of the run without a break. When the machine sleeps, the time-stamp counter may
/// stop, go on or begin anew, whatever the system's clock does: no rate can be taken across it.
#[derive(Debug)]
pub(crate) struct Ticking {
    begin: Anchor,
    last: Anchor,
    longest: Option<(Anchor, Anchor)>,
    suspend: Suspend,
}

impl Ticking {
    pub(crate) fn new(clock: &Clock) -> Self {
        let suspend = Suspend::new();
        let begin = clock.anchor();
        Self { begin, last: begin, longest: None, suspend }
    }

    /// Takes a look at the clock; often enough, and a sleep costs only the time since the last.
    pub(crate) fn look(&mut self, clock: &Clock) {
        let now = clock.anchor();
        let slept = self.suspend.advanced();
        self.advance(now, slept);
    }

    fn advance(&mut self, now: Anchor, slept: bool) {
        if slept || now.ticks < self.last.ticks {
            self.longest = Some(self.longest());
            self.begin = now;
        }
        self.last = now;
    }

    fn longest(&self) -> (Anchor, Anchor) {
        let length = |(begin, end): &(Anchor, Anchor)| end.nanos.saturating_sub(begin.nanos);
        let open = (self.begin, self.last);
        self.longest.filter(|closed| length(closed) > length(&open)).unwrap_or(open)
    }

    /// Ticks in a second. Waits where the run was too short to say.
    pub(crate) fn ticks_per_second(&mut self, clock: &Clock) -> f64 {
        loop {
            self.look(clock);
            let (begin, end) = self.longest();
            if end.nanos.saturating_sub(begin.nanos) >= LEAST_NANOS {
                return begin.ticks_per_second(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{share, *};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::Instant;

    #[test]
    fn the_earlier_end_counts_and_an_interrupt_before_both() {
        let flag = Arc::new(AtomicBool::new(false));
        let (open, hour) = (Stop::on(Arc::clone(&flag)), Duration::from_secs(3600));
        assert_eq!((open.why(), open.left()), (None, None));
        assert_eq!(open.within(hour).why(), None);
        let over = open.within(hour).within(Duration::ZERO).within(hour);
        assert_eq!((over.why(), over.left()), (Some(Stopped::Budget), Some(Duration::ZERO)));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(over.why(), Some(Stopped::Interrupted));
        assert!(open.within(hour).is_over());
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_wait_is_cut_into_short_ones_that_add_up() {
        let mut deadline = Deadline::with(1, STRETCH * 3 / 2);
        assert_eq!(deadline.stretch(|time| time), STRETCH);
        deadline.count(STRETCH, STRETCH, Duration::ZERO);
        assert!(deadline.left <= STRETCH / 2);
        deadline.count(STRETCH, STRETCH + LATE, Duration::ZERO);
        assert!(deadline.is_over());
        assert_eq!(deadline.away(), Duration::ZERO);
    }

    #[test]
    fn waiting_for_a_process_that_waits_for_a_cpu_costs_what_it_ran() {
        let mut deadline = Deadline::with(1, SECOND);
        deadline.count(STRETCH, STRETCH, STRETCH * 9 / 10);
        assert_eq!(deadline.left, SECOND - STRETCH / 10);
        deadline.count(STRETCH, STRETCH, STRETCH * 2);
        assert_eq!(deadline.left, SECOND - STRETCH / 10);
        assert_eq!(deadline.away(), Duration::ZERO);
    }

    #[test]
    fn an_hour_of_standing_still_costs_one_stretch() {
        let mut deadline = Deadline::with(1, 20 * SECOND);
        deadline.count(STRETCH, 3600 * SECOND, Duration::ZERO);
        assert_eq!(deadline.left, 20 * SECOND - STRETCH);
        assert_eq!(deadline.away(), 3600 * SECOND - STRETCH);
    }

    #[test]
    fn what_is_no_share_changes_nothing() {
        assert_eq!(share(Some("0.1")), 0.1);
        for value in [None, Some(""), Some("2"), Some("0"), Some("-1"), Some("NaN"), Some("soon")] {
            assert_eq!(share(value), 1.0, "{value:?}");
        }
    }

    #[test]
    fn two_threads_that_want_the_same_cpu_wait_for_it() {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let cpu = (0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap();
        let ended = AtomicBool::new(false);
        let spin = || {
            let mut one = rustix::thread::CpuSet::new();
            one.set(cpu);
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            while !ended.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        std::thread::scope(|scope| {
            let (begun, mut queue) = (Instant::now(), RunQueue::of(std::process::id()));
            scope.spawn(spin);
            scope.spawn(spin);
            queue.grown();
            let mut waited = Duration::ZERO;
            while waited.is_zero() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(10));
                waited += queue.grown();
            }
            ended.store(true, Ordering::Relaxed);
            assert!(!waited.is_zero());
        });
    }

    #[test]
    fn a_process_that_is_gone_waits_for_nothing() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let mut queue = RunQueue::of(child.id());
        assert_eq!((queue.grown(), queue.grown()), (Duration::ZERO, Duration::ZERO));
    }

    static SLEPT: AtomicU64 = AtomicU64::new(5000);

    #[test]
    fn a_sleep_is_told_once() {
        let mut suspend = Suspend::with(|| Duration::from_millis(SLEPT.load(Ordering::Relaxed)));
        assert!(!suspend.advanced());
        SLEPT.store(9000, Ordering::Relaxed);
        assert!(suspend.advanced());
        assert!(!suspend.advanced());
    }

    #[test]
    fn a_machine_that_is_awake_does_not_look_asleep() {
        let mut suspend = Suspend::new();
        assert!((0..1000).filter(|_| suspend.advanced()).count() < 10);
    }

    #[test]
    fn the_rate_is_of_the_longest_part_without_a_sleep() {
        let at = |ticks, nanos| Anchor { ticks, nanos };
        let mut ticking = Ticking {
            begin: at(1000, 0),
            last: at(1000, 0),
            longest: None,
            suspend: Suspend::new(),
        };
        let rate = |t: &Ticking| t.longest().0.ticks_per_second(t.longest().1) / 1e9;
        ticking.advance(at(3000, 1000), false);
        assert!((rate(&ticking) - 2.0).abs() < 1e-9);
        // The counter went on while the system's clock slept.
        ticking.advance(at(900_000, 1100), true);
        ticking.advance(at(900_200, 1200), false);
        assert!((rate(&ticking) - 2.0).abs() < 1e-9);
        // The counter began anew, and nobody said that there was a sleep.
        ticking.advance(at(10, 1300), false);
        ticking.advance(at(20_010, 11_300), false);
        assert!((rate(&ticking) - 2.0).abs() < 1e-9);
        assert_eq!(ticking.longest().0, at(10, 1300));
    }
}
