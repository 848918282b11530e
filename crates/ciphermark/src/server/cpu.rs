//! CPU time of a server: from `/proc/PID/schedstat`, in nanoseconds
//! (Documentation/scheduler/sched-stats.rst); what a cell's visits came to; and the one core clock and share
//! of the core at which all are told, because both move while a run goes on.

use crate::server::{Told, trouble};
use adapters::stacks::Trouble;
use base::analysis::{common_slope, median};
use judge::load::{Counted, Unit};
use record::State;
use std::time::{Duration, Instant};

/// One visit: the slices in which the server had its CPU, or all where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    pub usage: Usage,
    /// Core cycles of that: its time in each slice by the clock around it. 0 where the clock cannot be known.
    pub cycles: f64,
    pub told: Told,
    /// The throughput probe between the slices, mean: less where others were busy on the core.
    pub rate: f64,
}

impl Visit {
    pub(crate) fn add(&mut self, usage: Usage, told: &Told, ghz: f64) {
        self.usage = self.usage.plus(usage);
        self.told.add(told);
        self.cycles += usage.ns as f64 * ghz;
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// One a round; none where a round was not ended or the visit failed.
    pub visits: Vec<Option<Visit>>,
    pub state: State,
    /// The first error, until a visit has worked in the end.
    pub reason: Option<String>,
    pub errors: u64,
    /// Those of them that say that the stack or the server does not do what was asked.
    pub refusals: u64,
    /// What CPU times are told at.
    pub level: Level,
}

impl Tally {
    pub(crate) fn new(target: &Result<(u16, Cpu), String>) -> Self {
        let (state, reason) = match target {
            Ok(_) => (State::Measured, None),
            Err(why) => (State::Unsupported, Some(why.clone())),
        };
        let (visits, level) = (Vec::new(), Level::default());
        Self { visits, state, reason, errors: 0, refusals: 0, level }
    }

    /// Twice is no accident.
    pub(crate) fn failed(&mut self, why: &Trouble) {
        self.errors += 1;
        self.refusals += u64::from(matches!(why, Trouble::NotOffered(_)));
        self.reason.get_or_insert_with(|| why.to_string());
        if self.errors >= 2 {
            let is_refused =
                self.refusals == self.errors && self.visits.iter().all(Option::is_none);
            self.state = if is_refused { State::Unsupported } else { State::Failed };
        }
    }

    /// Server CPU per unit in µs at the run's level, one figure a round.
    pub fn rounds_cpu_us(&self, unit: Unit) -> Vec<Option<f64>> {
        let per_unit = |visit: &Visit| {
            let units = match unit {
                Unit::Connection => visit.told.connections,
                Unit::Request => visit.told.requests,
            };
            (units > 0).then(|| self.level.ns(visit) / 1e3 / units as f64)
        };
        self.visits.iter().map(|v| v.as_ref().and_then(per_unit)).collect()
    }

    pub fn counted(&self) -> Counted {
        let mut sum =
            Counted { errors: self.errors, context_switches: Some(0), ..Counted::default() };
        for visit in self.visits.iter().flatten() {
            sum.connections += visit.told.connections;
            sum.resumed += visit.told.resumed;
            sum.requests += visit.told.requests;
            sum.context_switches = sum.context_switches.map(|n| n + visit.usage.switches);
        }
        sum
    }

    pub fn visited(&self) -> impl Iterator<Item = &Visit> {
        self.visits.iter().flatten()
    }
}

// What a run's CPU times are told at: one core clock, and one share of the core.
//
// Both move while a run goes on, as other cores of the processor and the core's other hardware thread come and go, and they move the
// time of whatever is measured meanwhile. What is compared was not measured at the same moment, so each visit is told as it would have been
// at the run's usual clock and share.

/// A level; where a part of it is not known, times are not changed for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The core clock in GHz, median over visits.
    pub core_ghz: Option<f64>,
    /// The throughput probe, as a share of that of the quiet core, median over visits.
    pub core_share: Option<f64>,
    /// What the logarithm of a time gains with each instruction per cycle that the probe has more, and the median of the probe.
    slope: Option<(f64, f64)>,
}

impl Level {
    /// Of all visits of a run; `quiet` is the probe on a quiet core.
    pub(crate) fn of(tallies: &[Tally], quiet: f64) -> Self {
        let visits = || tallies.iter().flat_map(Tally::visited).filter(|v| v.usage.ns > 0);
        let mut clocks: Vec<f64> = visits().map(|v| v.cycles / v.usage.ns as f64).collect();
        let clock_is_known = clocks.iter().all(|ghz| *ghz > 0.0);
        let mut rates: Vec<f64> = visits().map(|v| v.rate).collect();
        let rate_is_known = quiet > 0.0 && rates.iter().all(|rate| *rate > 0.0);
        let rate = median(&mut rates).filter(|_| rate_is_known);
        let level = Self {
            core_ghz: median(&mut clocks).filter(|_| clock_is_known),
            core_share: rate.map(|rate| rate / quiet),
            slope: None,
        };
        let points = |tally: &Tally| {
            let point = |visit: &Visit| Some((visit.rate, (level.ns(visit) / units(visit)?).ln()));
            tally.visited().filter_map(point).collect::<Vec<_>>()
        };
        let groups: Vec<Vec<(f64, f64)>> = tallies.iter().map(points).collect();
        // More of the core cannot make a server slower: what looks like that is something else.
        let slope = common_slope(&groups).filter(|slope| *slope < 0.0);
        Self { slope: slope.zip(rate), ..level }
    }

    /// Nanoseconds of CPU that a visit would have had at this level.
    pub(crate) fn ns(&self, visit: &Visit) -> f64 {
        let ns = self.core_ghz.map_or(visit.usage.ns as f64, |ghz| visit.cycles / ghz);
        let others = self.slope.map_or(0.0, |(slope, rate)| slope * (visit.rate - rate));
        ns * (-others).exp()
    }
}

/// Whatever a visit's time is in proportion to.
fn units(visit: &Visit) -> Option<f64> {
    let (requests, connections) = (visit.told.requests, visit.told.connections);
    let units = if requests > 0 { requests } else { connections };
    (units > 0 && visit.usage.ns > 0).then_some(units as f64)
}

// CPU time of a process, from the scheduler's own exact counter.
//
// `/proc/PID/schedstat` (Linux, Documentation/scheduler/sched-stats.rst) has nanoseconds on the CPU and
// nanoseconds that the process was ready and had to wait; utime and stime of `/proc/PID/stat` are ticks
// of 10 ms.

/// The counters of a process with one thread.
#[derive(Clone, Debug)]
pub struct Cpu {
    pid: u32,
}

/// What a process used from one reading to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub ns: u64,
    /// Nanoseconds that it was ready and others ran.
    pub waited_ns: u64,
    /// Times that it gave the CPU up by itself: waits for events, at most.
    pub switches: u64,
}

/// How long a server must have used nothing to be idle.
const STILL: Duration = Duration::from_millis(1);
/// When waiting for that is given up.
const PATIENCE: Duration = Duration::from_secs(5);

impl Cpu {
    pub fn of(pid: u32) -> Self {
        Self { pid }
    }

    /// The counters from its beginning, and whether it sleeps: one that is ready and waits for its CPU uses nothing either.
    fn reading(&self) -> Result<(Usage, bool), String> {
        let at = |name: &str| {
            let path = format!("/proc/{}/{name}", self.pid);
            std::fs::read_to_string(&path).map_err(|e| trouble(&path, e))
        };
        let (ns, waited_ns) = times(&at("schedstat")?)
            .ok_or_else(|| format!("/proc/{}/schedstat has no times", self.pid))?;
        let status = at("status")?;
        let switches = voluntary(&status).unwrap_or(0);
        Ok((Usage { ns, waited_ns, switches }, sleeps(&status)))
    }

    /// Bytes of its memory that are in RAM: `/proc/PID/statm` (proc(5)) counts pages.
    ///
    /// # Errors
    /// The process is gone.
    pub fn resident_bytes(&self) -> Result<u64, String> {
        let path = format!("/proc/{}/statm", self.pid);
        let text = std::fs::read_to_string(&path).map_err(|e| trouble(&path, e))?;
        let pages = text.split_ascii_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok());
        let pages = pages.ok_or_else(|| format!("{path} has no number of pages"))?;
        Ok(pages * rustix::param::page_size() as u64)
    }

    /// Its counters once it has come to rest.
    ///
    /// # Errors
    /// The process is gone, does not come to rest, or the kernel has no such counters (`CONFIG_SCHED_INFO`).
    pub fn at_rest(&self) -> Result<Usage, String> {
        let begun = Instant::now();
        let mut last = None;
        while begun.elapsed() < PATIENCE {
            let (now, sleeps) = self.reading()?;
            let still = sleeps.then_some(now.ns);
            if still.is_some() && still == last {
                return Ok(now);
            }
            last = still;
            std::thread::sleep(STILL);
        }
        Err(format!("process {} does not come to rest", self.pid))
    }
}

impl Usage {
    pub fn plus(self, other: Self) -> Self {
        Self {
            ns: self.ns + other.ns,
            waited_ns: self.waited_ns + other.waited_ns,
            switches: self.switches + other.switches,
        }
    }

    /// What was used since an earlier reading.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            ns: self.ns.saturating_sub(earlier.ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            switches: self.switches.saturating_sub(earlier.switches),
        }
    }
}

/// A CPU for the client: another one than the servers', of another core where this process may use one. None
/// where there is only one.
pub fn client_cpu(server_cpu: u32) -> Option<u32> {
    let place = format!("/sys/devices/system/cpu/cpu{server_cpu}/topology/thread_siblings_list");
    let siblings = std::fs::read_to_string(place).ok();
    let siblings = siblings.and_then(|list| base::model::ranges_of_list(&list)).unwrap_or_default();
    let others = || probe::allowed_cpus().into_iter().rev().filter(|cpu| *cpu != server_cpu);
    let is_sibling = |cpu: &u32| siblings.iter().any(|range| range.contains(cpu));
    others().find(|cpu| !is_sibling(cpu)).or_else(|| others().next())
}

fn times(schedstat: &str) -> Option<(u64, u64)> {
    let mut numbers = schedstat.split_ascii_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The line `State: S (sleeping)`.
fn sleeps(status: &str) -> bool {
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| state.trim_start().starts_with('S'))
}

fn voluntary(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Usage, *};
    use crate::server::Told;
    use record::State;

    fn visit(ns: u64, connections: u64, requests: u64) -> Visit {
        let told = Told { connections, requests, ..Told::default() };
        Visit { usage: Usage { ns, waited_ns: 0, switches: 2 }, told, ..Visit::default() }
    }

    #[test]
    fn a_rounds_figure_is_cpu_time_by_units() {
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.visits = vec![Some(visit(30_000, 10, 100)), None, Some(visit(5, 0, 0))];
        assert_eq!(tally.rounds_cpu_us(Unit::Connection), [Some(3.0), None, None]);
        assert_eq!(tally.rounds_cpu_us(Unit::Request)[0], Some(0.3));
        assert_eq!(tally.counted().context_switches, Some(4));
    }

    #[test]
    fn a_cell_that_fails_twice_is_given_up_with_its_reason() {
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        let refusal = |why: &str| Trouble::NotOffered(why.to_owned());
        tally.failed(&refusal("group p384 was agreed on"));
        assert_eq!(tally.state, State::Measured);
        tally.failed(&refusal("SSLV3_ALERT_HANDSHAKE_FAILURE"));
        assert_eq!(tally.state, State::Unsupported);
        assert_eq!(tally.reason.as_deref(), Some("group p384 was agreed on"));
        // Only who refuses lacks it, whatever the words are.
        let failure = |why: &str| Trouble::Failed(why.to_owned());
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.failed(&failure("an alert handshake failure was negotiated"));
        tally.failed(&refusal("group p384 was agreed on"));
        assert_eq!(tally.state, State::Failed);
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.visits.push(Some(visit(1, 1, 1)));
        tally.failed(&refusal("none"));
        tally.failed(&refusal("none"));
        assert_eq!(tally.state, State::Failed);
    }

    fn visit_at_clock(ns: u64, ghz: f64, rate: f64) -> Visit {
        let told = Told { connections: 10, requests: 10, ..Told::default() };
        Visit { usage: Usage { ns, ..Usage::default() }, cycles: ns as f64 * ghz, told, rate }
    }

    fn tally(visits: Vec<Visit>) -> Tally {
        let visits = visits.into_iter().map(Some).collect();
        Tally { visits, ..Tally::new(&Ok((1, Cpu::of(1)))) }
    }

    #[test]
    fn times_are_told_at_the_clock_that_most_visits_had() {
        let visits = vec![
            visit_at_clock(3000, 2.0, 5.0),
            visit_at_clock(3000, 2.0, 5.0),
            visit_at_clock(2000, 3.0, 5.0),
        ];
        let level = Level::of(&[tally(visits.clone())], 5.0);
        assert_eq!((level.core_ghz, level.core_share, level.slope), (Some(2.0), Some(1.0), None));
        assert!(visits.iter().all(|visit| (level.ns(visit) - 3000.0).abs() < 1e-9));
    }

    #[test]
    fn what_neighbours_add_is_taken_to_the_usual_share_of_the_core() {
        // Half of the core's throughput makes it half as slow again, in two cells that differ tenfold.
        let at = |base: f64, rate: f64| {
            visit_at_clock((base * (1.0 + (5.0 - rate) / 5.0)) as u64, 2.0, rate)
        };
        let rates = [5.0, 4.5, 4.0, 3.5, 3.0, 2.5, 5.0, 4.0];
        let cell = |base: f64| tally(rates.iter().map(|rate| at(base, *rate)).collect());
        let tallies = [cell(100_000.0), cell(1_000_000.0)];
        let level = Level::of(&tallies, 5.0);
        assert_eq!(level.core_share, Some(0.8));
        let told: Vec<f64> = tallies[0].visited().map(|visit| level.ns(visit)).collect();
        // The line is one of logarithms, what was made is none.
        assert!(told.iter().all(|ns| (ns / 120_000.0 - 1.0).abs() < 0.03), "{told:?}");
    }

    #[test]
    fn what_is_not_known_changes_nothing() {
        let visits = vec![visit_at_clock(3000, 0.0, 0.0), visit_at_clock(6000, 0.0, 0.0)];
        let level = Level::of(&[tally(visits.clone())], 0.0);
        assert_eq!(level, Level::default());
        assert_eq!(level.ns(&visits[1]), 6000.0);
        assert_eq!(Level::of(&[], 5.0), Level::default());
    }

    #[test]
    fn counters_are_read_by_their_places_and_names() {
        assert_eq!(times("123456 789 42\n"), Some((123_456, 789)));
        assert_eq!(times(""), None);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(voluntary(status), Some(17));
        assert!(sleeps("Name:\tx\nState:\tS (sleeping)\n") && !sleeps("State:\tR (running)\n"));
    }

    #[test]
    fn the_client_has_another_cpu_where_there_is_one() {
        let cpus = probe::allowed_cpus();
        assert_eq!(client_cpu(cpus[0]).is_some(), cpus.len() > 1);
        assert_ne!(client_cpu(cpus[0]), Some(cpus[0]));
    }

    #[test]
    fn a_process_that_works_uses_time_and_one_that_is_gone_has_no_counters() {
        // Another one: the counters are those of a process's first thread, which sleeps while a test runs.
        let mut child =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let busy = Cpu::of(child.id());
        let used = || busy.reading().unwrap().0;
        let before = used();
        while used().since(before).ns == 0 {
            std::thread::sleep(STILL);
        }
        assert!(busy.resident_bytes().unwrap() > 1 << 16);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(busy.reading().is_err() && Cpu::of(u32::MAX).reading().is_err());
    }
}
