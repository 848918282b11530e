//! A program of somebody else's, let run only while nobody else is busy on its core. A benchmark cannot tell
//! which part of a second another tenant had the core's other hardware thread: here it is stopped, the core
//! is looked at, and it goes on for a few milliseconds when the core is quiet (docs/METHOD.md).

use crate::time::counters;
use base::analysis::{median, quiet_rate, watched_rate};
use base::model::QUIET_PROBE_FRACTION;
use host::Remembered;
use probe::Clock;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getppid, kill_process_group,
    set_parent_process_death_signal, waitid,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GateError(pub String);

impl GateError {
    fn of(what: &str, why: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }
}

// Stopping and going on: the program runs for a slice when the core is quiet, and stands still otherwise.

#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// A slice: the longer, the less often the program's caches are cold, and the more of a slice may have a
    /// neighbour that neither of its ends shows.
    pub slice: Duration,
    /// Longest wait for a quiet moment; then the program is ended.
    pub wait: Duration,
    /// Whether it runs for a slice then, instead of being ended.
    pub anyway: bool,
}

/// How soon an interrupt is heeded while nothing is quiet.
const HEED: Duration = Duration::from_millis(50);
/// The longest slice of a program that got no CPU in shorter ones.
const LONGEST_SLICE: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_millis(1);
const FAREWELL: Duration = Duration::from_secs(2);

/// Runs a program on one CPU in quiet moments until it ends. `executable` is ciphermark's own. When `stop` is set
/// the program is asked to end (SIGTERM), and killed where it does not.
pub fn run(
    executable: &Path,
    cpu: u32,
    program: &OsStr,
    arguments: &[OsString],
    patience: Patience,
    stop: &AtomicBool,
) -> Result<Quietly, GateError> {
    let mut prober = Prober::start(cpu)?;
    let child = kept(executable, cpu, program)
        .args(arguments)
        .spawn()
        .map_err(|e| GateError::of(&program.to_string_lossy(), e))?;
    let begun = Instant::now();
    let mut held = Held::new(child);
    let (mut counter, mut tally, mut used) = (Counter::of(held.child.id()), Tally::default(), 0);
    held.stand_still()?;
    let mut before = prober.read()?;
    let mut slice = patience.slice;
    while held.end.is_none() && !stop.load(Ordering::Relaxed) {
        before = quiet_moment(&mut prober, before, patience, stop)?;
        let long = held.go_on(slice)?;
        let after = prober.read()?;
        let now = counter.read_ns();
        let quiet = before.rate.min(after.rate) >= prober.least();
        tally.add(now.saturating_sub(used), long, [before, after], quiet);
        slice = next_slice(slice, patience.slice, now > used);
        (before, used) = (after, now);
    }
    let end = held.farewell()?;
    Ok(tally.told(cpu, begun.elapsed(), end))
}

/// The next slice: twice as long where the program got no CPU in this one, because others on its CPU had their turn first. It
/// would wait for its own for ever.
fn next_slice(last: Duration, asked: Duration, has_run: bool) -> Duration {
    if has_run { asked } else { (last * 2).min(asked.max(LONGEST_SLICE)) }
}

/// Waits for a reading of a quiet core, or until `stop` is set.
fn quiet_moment(
    prober: &mut Prober,
    mut seen: Seen,
    Patience { wait, anyway, .. }: Patience,
    stop: &AtomicBool,
) -> Result<Seen, GateError> {
    let begun = Instant::now();
    loop {
        seen = prober.quiet_moment(seen, HEED.min(wait))?;
        if seen.rate >= prober.least() || stop.load(Ordering::Relaxed) {
            return Ok(seen);
        }
        if begun.elapsed() >= wait && anyway {
            return Ok(seen);
        }
        if begun.elapsed() > wait {
            return Err(GateError(format!(
                "no quiet moment in {:.0} s: somebody is busy on the core's other hardware thread all the time; wait \
                 longer (--wait), or try another CPU (taskset -c)",
                wait.as_secs_f64()
            )));
        }
    }
}

#[derive(Debug)]
struct Held {
    child: Child,
    group: Pid,
    end: Option<WaitIdStatus>,
}

impl Held {
    fn new(child: Child) -> Self {
        let group = Pid::from_child(&child);
        Self { child, group, end: None }
    }

    fn tell(&self, signal: Signal) {
        // A group that is gone has ended, which waiting tells.
        let _ = kill_process_group(self.group, signal);
    }

    fn stand_still(&mut self) -> Result<(), GateError> {
        self.tell(Signal::STOP);
        self.wait(WaitIdOptions::EXITED | WaitIdOptions::STOPPED)
    }

    /// Waits for what is asked without taking it away: its counters are there as long as nobody has.
    fn wait(&mut self, what: WaitIdOptions) -> Result<(), GateError> {
        let options = what | WaitIdOptions::NOWAIT;
        let status = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.group), options))
            .map_err(|e| GateError::of("waitid", e))?;
        self.end = status.filter(|s| s.exited() || s.killed() || s.dumped());
        Ok(())
    }

    /// Lets it run, and says for how long it did.
    fn go_on(&mut self, slice: Duration) -> Result<Duration, GateError> {
        let begun = Instant::now();
        self.tell(Signal::CONT);
        std::thread::sleep(slice);
        self.stand_still()?;
        Ok(begun.elapsed())
    }

    fn farewell(&mut self) -> Result<(Option<i32>, Option<i32>), GateError> {
        if self.end.is_none() {
            self.tell(Signal::TERM);
            self.tell(Signal::CONT);
            let asked = Instant::now();
            while self.end.is_none() && asked.elapsed() < FAREWELL {
                std::thread::sleep(PAUSE);
                self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOHANG)?;
            }
            if self.end.is_none() {
                self.tell(Signal::KILL);
                self.wait(WaitIdOptions::EXITED)?;
            }
        }
        let end = self.end.as_ref();
        Ok((
            end.and_then(WaitIdStatus::exit_status),
            end.and_then(WaitIdStatus::terminating_signal),
        ))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Also what it left behind: stopped as it may be, nobody would ever let it go on.
        self.tell(Signal::KILL);
        let _ = self.child.wait();
    }
}

// Whether a core is quiet, and how fast it runs: the throughput probe (docs/METHOD.md, Contention) on a CPU that
// the caller is not on.

#[derive(Debug)]
pub struct Prober {
    ask: Sender<Duration>,
    answers: Receiver<Seen>,
    readings: Vec<f64>,
    watched: f64,
    /// The quiet rate, and how many readings it is of.
    quiet: (f64, usize),
}

/// Between two looks at a core that is not quiet: neighbours come and go in milliseconds.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// The quiet rate is worked out again when there are so many times more readings than the last time.
const GROWTH: f64 = 1.05;

/// Readings of the core clock of which the median counts: an interrupt falls into one.
const CHAINS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Independent instructions per core cycle; 0 where that cannot be known.
    pub rate: f64,
    /// Core cycles per nanosecond; 0 where that cannot be known.
    pub ghz: f64,
}

impl Prober {
    /// Starts it and watches the core.
    pub fn start(cpu: u32) -> Result<Self, GateError> {
        let ((ask, asked), (tell, answers)) = (channel::<Duration>(), channel());
        std::thread::spawn(move || {
            if probe::pin_to(&[cpu]).is_err() {
                return;
            }
            let clock = Clock::calibrate();
            let begun = clock.anchor();
            let mut watched = clock.watch();
            let remembered = Remembered::here(cpu).of(cpu);
            let mut rate = watched_rate(&mut watched).max(remembered);
            let ghz = || {
                let mut chains = [0.0; CHAINS].map(|_: f64| clock.core_cycles_per_tick());
                let ticks_per_ns = begun.ticks_per_second(clock.anchor()) / 1e9;
                median(&mut chains).unwrap_or(0.0) * ticks_per_ns
            };
            // Who waits no longer ends it.
            while tell.send(Seen { rate, ghz: ghz() }).is_ok() {
                let Ok(time) = asked.recv() else { return };
                let readings = clock.probe_for(time, Duration::ZERO);
                rate = readings.iter().sum::<f64>() / readings.len().max(1) as f64;
            }
        });
        let watched = heard(&answers)?.rate;
        Ok(Self { ask, answers, readings: Vec::new(), watched, quiet: (watched, 0) })
    }

    /// The core right now, by one reading.
    pub fn read(&mut self) -> Result<Seen, GateError> {
        // Its first look at the time is earlier, its second later.
        self.read_for(Duration::from_micros(10))
    }

    /// The mean over a time.
    pub fn read_for(&mut self, time: Duration) -> Result<Seen, GateError> {
        // A thread that is gone is told of by the answer.
        let _ = self.ask.send(time);
        let seen = heard(&self.answers)?;
        self.readings.push(seen.rate);
        Ok(seen)
    }

    pub fn quiet(&mut self) -> f64 {
        if self.readings.len() as f64 > self.quiet.1 as f64 * GROWTH {
            let rate = quiet_rate(&mut self.readings).max(self.watched);
            self.quiet = (rate, self.readings.len());
        }
        self.quiet.0
    }

    pub fn least(&mut self) -> f64 {
        self.quiet() * QUIET_PROBE_FRACTION
    }

    /// Looks again and again, from a reading that there is, until the core is quiet, for so long at most, but once at the
    /// least. The last reading, quiet or not.
    pub fn quiet_moment(&mut self, mut seen: Seen, within: Duration) -> Result<Seen, GateError> {
        let begun = Instant::now();
        while seen.rate < self.least() {
            std::thread::sleep(BETWEEN_LOOKS);
            seen = self.read()?;
            if begun.elapsed() >= within {
                break;
            }
        }
        Ok(seen)
    }
}

fn heard(answers: &Receiver<Seen>) -> Result<Seen, GateError> {
    answers.recv().map_err(|e| GateError::of("cannot run on the CPU to be watched", e))
}

// What was seen of a program that ran in quiet moments.

/// A program's run. CPU time is that of its process with all threads, user and system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quietly {
    pub cpu: u32,
    pub seconds: f64,
    pub stopped_seconds: f64,
    pub cpu_seconds: f64,
    /// Of that, in slices at whose beginning and end the core was quiet.
    pub quiet_cpu_seconds: f64,
    pub slices: u64,
    pub quiet_slices: u64,
    /// The core's clock in GHz, mean over its CPU time; none where that cannot be known.
    pub core_ghz: Option<f64>,
    /// The lowest and the highest that was read.
    pub core_ghz_range: Option<[f64; 2]>,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
}

/// What a run adds up to while it goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    cpu_ns: u64,
    quiet_ns: u64,
    slices: u64,
    quiet_slices: u64,
    ran: Duration,
    /// Sum of CPU nanoseconds by clock: core cycles.
    cycles: f64,
    range: Option<[f64; 2]>,
}

impl Tally {
    /// A slice: CPU time in it, how long it was, what the core showed before and after, and whether that is quiet.
    pub(crate) fn add(&mut self, cpu_ns: u64, long: Duration, around: [Seen; 2], quiet: bool) {
        self.cpu_ns += cpu_ns;
        self.slices += 1;
        self.ran += long;
        if quiet {
            self.quiet_ns += cpu_ns;
            self.quiet_slices += 1;
        }
        let [before, after] = around.map(|seen| seen.ghz);
        self.cycles += cpu_ns as f64 * before.midpoint(after);
        let [low, high] = self.range.unwrap_or([f64::INFINITY, 0.0]);
        self.range = Some([low.min(before).min(after), high.max(before).max(after)]);
    }

    /// All of it, of a program that has ended.
    pub(crate) fn told(
        self,
        cpu: u32,
        whole: Duration,
        end: (Option<i32>, Option<i32>),
    ) -> Quietly {
        let known = self.cpu_ns > 0 && self.range.is_some_and(|[low, _]| low > 0.0);
        Quietly {
            cpu,
            seconds: whole.as_secs_f64(),
            stopped_seconds: whole.saturating_sub(self.ran).as_secs_f64(),
            cpu_seconds: self.cpu_ns as f64 / 1e9,
            quiet_cpu_seconds: self.quiet_ns as f64 / 1e9,
            slices: self.slices,
            quiet_slices: self.quiet_slices,
            core_ghz: known.then(|| self.cycles / self.cpu_ns as f64),
            core_ghz_range: self.range.filter(|_| known),
            exit_code: end.0,
            signal: end.1,
        }
    }
}

// CPU time of a process with its threads, from the scheduler's exact counter.

#[derive(Debug)]
pub(crate) struct Counter {
    process: String,
    /// What each thread had used when it was last seen: those that ended stay.
    used_ns: BTreeMap<String, u64>,
}

impl Counter {
    /// Of a process, all zero before the first reading.
    pub(crate) fn of(pid: u32) -> Self {
        Self { process: pid.to_string(), used_ns: BTreeMap::new() }
    }

    /// Nanoseconds that it has used from its beginning, user and system.
    pub(crate) fn read_ns(&mut self) -> u64 {
        // A thread that ends in between, and a process that is gone, keep what they had.
        self.used_ns.extend(counters(&self.process, 0));
        self.used_ns.values().sum()
    }
}

// The hidden subcommand that becomes another program: on one CPU, and gone with the process that asked for it.

/// The name of the hidden subcommand: `keep PARENT CPU PROGRAM [ARGUMENT…]`.
pub const SUBCOMMAND: &str = "keep";

/// A program that runs on one CPU, with its threads and children, and dies when this process does, whatever ends it.
/// `executable` is ciphermark's own.
pub fn kept(executable: &Path, cpu: u32, program: &OsStr) -> Command {
    let mut command = Command::new(executable);
    command
        .args([SUBCOMMAND, &std::process::id().to_string(), &cpu.to_string()])
        .arg(program)
        // An interrupt from the terminal is for this process, which ends everything in order.
        .process_group(0);
    // Whoever reads from a terminal that is another group's is stopped, for ever.
    if std::io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    command
}

/// Becomes the program that the subcommand's arguments name.
pub fn serve() -> Result<(), GateError> {
    let arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
    let [parent, cpu, program, arguments @ ..] = &arguments[..] else {
        return Err(GateError("for ciphermark's own use".to_owned()));
    };
    die_with(number(parent)?)?;
    let cpu = number(cpu)?;
    probe::pin_to(&[cpu]).map_err(|e| GateError::of(&format!("cannot run on CPU {cpu}"), e))?;
    // The request to die with the parent and the CPU outlive the exec (prctl(2), execve(2)).
    let why = Command::new(program).args(arguments).exec();
    Err(GateError::of(&program.to_string_lossy(), why))
}

/// Has this process end with its parent, whatever ends that.
pub fn die_with(parent: u32) -> Result<(), GateError> {
    // SIGKILL would leave what this process started; a stopped process takes it when it goes on, and the
    // kernel lets the group of a process that is gone go on (POSIX, orphaned process groups).
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(|e| GateError::of("prctl", e))?;
    let alive = getppid().is_some_and(|p| p.as_raw_nonzero().get().unsigned_abs() == parent);
    if alive { Ok(()) } else { Err(GateError("the measuring process is gone".to_owned())) }
}

fn number(text: &OsStr) -> Result<u32, GateError> {
    let text = text.to_string_lossy();
    text.parse().map_err(|e| GateError::of(&text, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_gets_no_cpu_gets_longer_slices_until_it_runs() {
        let asked = Duration::from_millis(8);
        let mut slice = asked;
        for longer in [16, 32, 64, 128, 250, 250] {
            slice = next_slice(slice, asked, false);
            assert_eq!(slice, Duration::from_millis(longer));
        }
        assert_eq!(next_slice(slice, asked, true), asked);
        let long = Duration::from_secs(1);
        assert_eq!(next_slice(long, long, false), long);
    }

    #[test]
    fn the_limit_follows_the_highest_readings() {
        let cpu = probe::allowed_cpus()[0];
        let mut prober = Prober::start(cpu).unwrap();
        let seen = prober.read().unwrap();
        assert!(seen.rate >= 0.0 && (0.0..10.0).contains(&seen.ghz), "{seen:?}");
        prober.watched = 2.0;
        prober.readings = vec![1.0; 10];
        assert!((prober.least() - 1.86).abs() < 1e-9);
        prober.readings.extend([6.0; 100]);
        assert!((prober.least() - 5.58).abs() < 1e-9);
    }

    #[test]
    fn waiting_ends_with_a_quiet_reading_or_with_its_time() {
        let mut prober = Prober::start(probe::allowed_cpus()[0]).unwrap();
        let (quiet, busy) = (Seen { rate: 7.0, ghz: 2.0 }, Seen { rate: 1.0, ghz: 2.0 });
        prober.watched = 7.0;
        prober.readings = vec![7.0];
        assert_eq!(prober.quiet_moment(quiet, Duration::from_secs(60)).unwrap(), quiet);
        // No core is as quiet as this.
        prober.watched = 15.0;
        prober.readings.extend([1.0; 9]);
        let last = prober.quiet_moment(busy, Duration::from_millis(5)).unwrap();
        assert!(last.rate < 15.0 && prober.readings.len() > 10, "{last:?}");
    }

    #[test]
    fn a_cpu_that_there_is_not_is_told() {
        assert!(Prober::start(1 << 15).is_err());
    }

    #[test]
    fn the_clock_is_weighed_by_cpu_time_and_a_slice_that_was_not_quiet_is_told() {
        let at = |ghz| Seen { rate: 5.0, ghz };
        let mut tally = Tally::default();
        tally.add(3_000_000, Duration::from_millis(4), [at(2.0), at(2.0)], true);
        tally.add(1_000_000, Duration::from_millis(4), [at(2.0), at(4.0)], false);
        let told = tally.told(1, Duration::from_millis(20), (Some(0), None));
        assert_eq!((told.slices, told.quiet_slices), (2, 1));
        assert!((told.quiet_cpu_seconds - 0.003).abs() < 1e-12);
        assert!((told.stopped_seconds - 0.012).abs() < 1e-12);
        assert!((told.core_ghz.unwrap() - 2.25).abs() < 1e-12);
        assert_eq!(told.core_ghz_range, Some([2.0, 4.0]));
    }

    #[test]
    fn a_clock_that_cannot_be_read_is_none() {
        let mut tally = Tally::default();
        let nothing = Seen { rate: 0.0, ghz: 0.0 };
        tally.add(1000, Duration::from_millis(1), [nothing; 2], true);
        let told = tally.told(0, Duration::from_millis(1), (None, Some(9)));
        assert_eq!((told.core_ghz, told.core_ghz_range, told.signal), (None, None, Some(9)));
    }

    #[test]
    fn work_is_counted_and_that_of_threads_that_ended_stays() {
        let mut counter = Counter::of(std::process::id());
        let before = counter.read_ns();
        assert!(before > 0);
        std::thread::scope(|scope| {
            let counter = &mut counter;
            scope.spawn(move || while counter.read_ns() == before {});
        });
        assert!(counter.read_ns() > before);
        assert_eq!(Counter::of(u32::MAX).read_ns(), 0);
    }
}
