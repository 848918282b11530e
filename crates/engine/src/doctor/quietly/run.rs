//! Stopping and going on: the program runs for a slice when the core is quiet, and stands still otherwise.

use crate::doctor::quietly::GateError;
use crate::doctor::quietly::counter::Counter;
use crate::doctor::quietly::kept::kept;
use crate::doctor::quietly::prober::{Prober, Seen};
use crate::doctor::quietly::report::{Quietly, Tally};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long things may take.
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
/// Between two looks at a program that was asked to end.
const PAUSE: Duration = Duration::from_millis(1);
/// What a program may take to end after it was asked to.
const FAREWELL: Duration = Duration::from_secs(2);

/// Runs a program on one CPU in quiet moments until it ends. `executable` is ciphermark's own. When `stop` is set
/// the program is asked to end (SIGTERM), and killed where it does not.
///
/// # Errors
/// In one line: it cannot be started, or no moment was quiet for so long that it was ended.
pub fn run(
    executable: &Path,
    cpu: u32,
    (program, arguments): (&OsStr, &[OsString]),
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
    while held.end.is_none() && !stop.load(Ordering::Relaxed) {
        before = quiet_moment(&mut prober, before, patience, stop)?;
        let long = held.go_on(patience.slice)?;
        let after = prober.read()?;
        let now = counter.read_ns();
        let quiet = before.rate.min(after.rate) >= prober.least();
        tally.add(now.saturating_sub(used), long, [before, after], quiet);
        (before, used) = (after, now);
    }
    let end = held.farewell()?;
    Ok(tally.told(cpu, begun.elapsed(), end))
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

/// The program, which is killed where it is let go.
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

    /// Stops it, with all that it started, and waits until it stands still or has ended.
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

    /// Its exit code or signal; where it has not ended it is asked to, then killed.
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
