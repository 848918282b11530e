//! Rounds: every cell once in each, in random order, so that whatever drifts hits all alike.

use crate::Trouble;
use crate::cell::Cell;
use crate::cpu::{Cpu, Usage};
use crate::job::{Libraries, MinimalPlan, MinimalTls, Told, Word};
use crate::nginx::{Nginx, NginxFacts, Site};
use crate::process::{Client, Minimal};
use gate::{Prober, Seen};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use record::State;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tls_load::{Counted, Unit};

/// OPENSSL_ia32cap(3): AES-NI and PCLMULQDQ are bits 57 and 33 of the first word, VAES and VPCLMULQDQ
/// bits 41 and 42 of the second.
const NO_AES: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000:~0x60000000000");

/// Share of its CPU time that a server may have waited for others in a slice that counts.
const DISTURBED: f64 = 0.05;
/// A visit ends when the slices that count fill this share of its length: as much as it needs.
const ENOUGH: f64 = 0.6;
/// And when it has lasted for so many times its length: on a core whose sibling is busy four fifths of the time it then has enough,
/// where that is busy all the time a round still ends. It goes on all the while, for a server that rests is a cold one afterwards.
const MOST: f64 = 5.0;
/// Rounds with quiet slices from which on those without do not count: as many as a verdict needs.
const ENOUGH_ROUNDS: usize = 3;

/// Before anything was looked at.
const NOTHING: Seen = Seen { rate: 0.0, ghz: 0.0 };

/// Where everything runs.
#[derive(Clone, Debug)]
pub struct Setting {
    /// nginx, where real servers are measured.
    pub nginx: Option<NginxFacts>,
    /// The library of the minimal server and the client; nginx's own where none is named.
    pub libraries: Option<Libraries>,
    /// CPU of all servers.
    pub server_cpu: u32,
    /// CPU of the client.
    pub client_cpu: u32,
}

/// One visit: its quiet slices together, or all where none was quiet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    /// What the server used.
    pub usage: Usage,
    /// Core cycles of that: its time in each slice by the clock around it. 0 where the clock cannot be known.
    pub cycles: f64,
    /// What the client did.
    pub told: Told,
    /// Whether others were busy on the servers' CPU or its core in every slice, so that all count.
    pub unquiet: bool,
}

/// What happened between two looks at the servers' CPU.
#[derive(Clone, Debug, PartialEq)]
struct Slice {
    usage: Usage,
    told: Told,
    /// The lower of the throughput probes before and after.
    probe: f64,
    /// The core clock, mean of before and after.
    ghz: f64,
}

impl Slice {
    /// Whether nobody else was busy: `least` is the least probe of a quiet core.
    fn is_quiet(&self, least: f64) -> bool {
        let waited = self.usage.waited_ns as f64 / self.usage.ns.max(1) as f64;
        self.probe >= least && waited <= DISTURBED
    }
}

impl Visit {
    fn add(&mut self, slice: &Slice) {
        self.usage = self.usage.plus(slice.usage);
        self.cycles += slice.usage.ns as f64 * slice.ghz;
        self.told.add(&slice.told);
    }
}

/// What became of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// One a round; none where a round was not ended or the visit failed.
    pub visits: Vec<Option<Visit>>,
    /// What became of it.
    pub state: State,
    /// Why not measured.
    pub reason: Option<String>,
    /// Visits that failed.
    pub errors: u64,
    /// The core clock in GHz that CPU times are told at, the same for all cells of a run: the time that a thing takes moves with
    /// the clock, and the clock with the load of the whole processor. None where it cannot be known: then times are as they were.
    pub core_ghz: Option<f64>,
}

/// Servers and client, ready for a list of cells.
#[derive(Debug)]
pub struct Loopback {
    client: Client,
    client_cpu: u32,
    prober: Prober,
    nginx: Vec<(bool, Nginx)>,
    minimal: Vec<(bool, Minimal)>,
    /// Of each cell: its port and its server's counters, or why there are none.
    targets: Vec<Result<(u16, Cpu), String>>,
    /// What the client loads.
    pub libraries: Libraries,
}

impl Loopback {
    /// Starts every server that the cells need.
    ///
    /// # Errors
    /// In one line, what cannot be started.
    pub fn start(cells: &[Cell], setting: &Setting) -> Result<Self, Trouble> {
        let nginx = start_nginx(cells, setting)?;
        let of_nginx = || nginx.first().map(|(_, nginx)| nginx.libraries());
        let libraries = match (&setting.libraries, of_nginx()) {
            (Some(named), _) => named.clone(),
            (None, Some(own)) => own?,
            (None, None) => return Err(Trouble("no TLS library was named".to_owned())),
        };
        let minimal = start_minimal(cells, &libraries, setting)?;
        let mut loopback = Self {
            client: Client::start(setting.client_cpu)?,
            client_cpu: setting.client_cpu,
            prober: Prober::start(setting.server_cpu)?,
            nginx,
            minimal,
            targets: Vec::new(),
            libraries,
        };
        loopback.targets = cells.iter().map(|cell| loopback.target(cells, cell)).collect();
        Ok(loopback)
    }

    /// The configuration that nginx runs with, without the directory and the ports of this run.
    #[must_use]
    pub fn configuration(&self) -> Option<String> {
        self.nginx.first().map(|(_, nginx)| nginx.shown_configuration())
    }

    /// Visits a cell: everything is ready before, and the server at rest before and after each slice. The quiet slices count; where
    /// none was quiet all do, and the visit says so.
    ///
    /// # Errors
    /// In one line, the client's or the server's trouble.
    pub fn visit(&mut self, cell: &Cell, at: usize, seconds: f64) -> Result<Visit, Trouble> {
        let (port, cpu) = self.targets[at].clone().map_err(Trouble)?;
        let job = cell.job(&self.libraries, port, seconds * MOST);
        let (slices, done) = self.slices(&job, &cpu, seconds * ENOUGH)?;
        let least = self.prober.least();
        let (mut quiet, mut all) = (Visit::default(), Visit { unquiet: true, ..Visit::default() });
        for slice in &slices {
            all.add(slice);
            if slice.is_quiet(least) {
                quiet.add(slice);
            }
        }
        let mut counted = if quiet.told.connections > 0 { quiet } else { all };
        counted.told.full = done.full;
        counted.told.by_session = done.by_session;
        Ok(counted)
    }

    /// Growth of the server's memory for each of so many connections, opened at once, asked once and left open.
    ///
    /// # Errors
    /// In one line, the client's or the server's trouble.
    pub fn memory(&mut self, cell: &Cell, at: usize, connections: u32) -> Result<f64, Trouble> {
        let (port, server) = self.targets[at].clone().map_err(Trouble)?;
        let held = |at_once| crate::Job {
            held: true,
            at_once,
            connections: u64::from(at_once),
            ..cell.job(&self.libraries, port, 60.0)
        };
        let (few, many) = (held(2), held(connections));
        // What a server sets up for its first connections is not theirs.
        self.client.run(&few, &mut |_| Ok(Word::Slice))?;
        let (before, mut open) = (server.resident_bytes()?, 0);
        self.client.run(&many, &mut |done| {
            if done.is_none() {
                server.at_rest()?;
                open = server.resident_bytes()?;
            }
            Ok(Word::Slice)
        })?;
        Ok((open as f64 - before as f64) / f64::from(connections))
    }

    /// Does a job until its quiet slices have lasted so long together, or it is done: its slices, and what the client says of
    /// all.
    fn slices(
        &mut self,
        job: &crate::Job,
        cpu: &Cpu,
        enough: f64,
    ) -> Result<(Vec<Slice>, Told), Trouble> {
        let (mut slices, mut quiet_seconds) = (Vec::new(), 0.0);
        let mut before = (Usage::default(), NOTHING);
        let prober = &mut self.prober;
        let told = self.client.run(job, &mut |done| {
            let (usage, seen) = (cpu.at_rest()?, prober.read()?);
            if let Some(told) = done {
                let ((then, earlier), told) = (before, told.clone());
                let probe = seen.rate.min(earlier.rate);
                let ghz = seen.ghz.midpoint(earlier.ghz);
                let slice = Slice { usage: usage.since(then), told, probe, ghz };
                if slice.is_quiet(prober.least()) {
                    quiet_seconds += slice.told.seconds;
                }
                slices.push(slice);
            }
            before = (usage, seen);
            Ok(if quiet_seconds < enough { Word::Slice } else { Word::Enough })
        });
        match told {
            Ok(told) => Ok((slices, told)),
            Err(why) => {
                // It may be out of step; the next visit needs one that is not.
                self.client = Client::start(self.client_cpu)?;
                Err(why)
            }
        }
    }

    fn target(&self, cells: &[Cell], cell: &Cell) -> Result<(u16, Cpu), String> {
        let aes = cell.served.aes_hardware;
        if let Some(site) = cell.site() {
            let at = sites(cells, aes).iter().position(|s| *s == site);
            let nginx = self.nginx.iter().find(|(of, _)| *of == aes).map(|(_, nginx)| nginx);
            let (at, nginx) = at.zip(nginx).ok_or("there is no nginx")?;
            return Ok((nginx.ports[at], nginx.cpu()));
        }
        let wanted = cell.minimal().ok_or("it is of no server")?;
        let at = minimal_ports(cells, aes).iter().position(|p| *p == wanted);
        let minimal = self.minimal.iter().find(|(of, _)| *of == aes).map(|(_, minimal)| minimal);
        let (at, minimal) = at.zip(minimal).ok_or("there is no minimal server")?;
        minimal.ports[at].clone().map(|port| (port, minimal.cpu()))
    }
}

/// Both ways of looking at the CPU, as far as cells ask for them.
fn ways(cells: &[Cell], is_it: impl Fn(&Cell) -> bool) -> Vec<bool> {
    let asked = |aes: &bool| cells.iter().any(|c| is_it(c) && c.served.aes_hardware == *aes);
    [true, false].into_iter().filter(asked).collect()
}

fn environment(aes_hardware: bool) -> Vec<(String, String)> {
    if aes_hardware { Vec::new() } else { vec![(NO_AES.0.to_owned(), NO_AES.1.to_owned())] }
}

fn start_nginx(cells: &[Cell], setting: &Setting) -> Result<Vec<(bool, Nginx)>, Trouble> {
    let mut files: Vec<u64> = cells.iter().flat_map(|c| c.responses.iter().copied()).collect();
    files.sort_unstable();
    files.dedup();
    let start = |aes| {
        let facts =
            setting.nginx.as_ref().ok_or_else(|| Trouble("there is no nginx".to_owned()))?;
        let (sites, environment) = (sites(cells, aes), environment(aes));
        Nginx::start(facts, &sites, &files, setting.server_cpu, &environment).map(|n| (aes, n))
    };
    ways(cells, Cell::is_real).into_iter().map(start).collect()
}

fn start_minimal(
    cells: &[Cell],
    libraries: &Libraries,
    setting: &Setting,
) -> Result<Vec<(bool, Minimal)>, Trouble> {
    let start = |aes| {
        let ports = minimal_ports(cells, aes);
        let plan = MinimalPlan { libraries: Some(libraries.clone()), ports };
        Minimal::start(&plan, setting.server_cpu, &environment(aes)).map(|m| (aes, m))
    };
    ways(cells, |c| !c.is_real()).into_iter().map(start).collect()
}

fn sites(cells: &[Cell], aes: bool) -> Vec<Site> {
    let of = cells.iter().filter(|c| c.served.aes_hardware == aes);
    distinct(of.filter_map(Cell::site))
}

fn minimal_ports(cells: &[Cell], aes: bool) -> Vec<Option<MinimalTls>> {
    let of = cells.iter().filter(|c| c.served.aes_hardware == aes);
    distinct(of.filter_map(Cell::minimal))
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

/// How rounds are gone through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// Rounds.
    pub rounds: u32,
    /// Seconds of a visit.
    pub visit_seconds: f64,
    /// Time after which no round is begun, and the one under way is given up; what was ended counts.
    pub budget: Duration,
    /// Of the order.
    pub seed: u64,
}

/// Goes through the rounds. `progress` is told how many visits of how many are done.
///
/// # Errors
/// In one line, where the loopback itself is no longer there.
pub fn rounds(
    loopback: &mut Loopback,
    cells: &[Cell],
    course: &Course,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Tally>, Trouble> {
    let (begun, mut random) = (Instant::now(), ChaCha8Rng::seed_from_u64(course.seed));
    let mut tallies: Vec<Tally> = loopback.targets.iter().map(Tally::new).collect();
    let (mut done, all) = (0, cells.len() * course.rounds as usize);
    for round in 0..course.rounds as usize {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.shuffle(&mut random);
        tallies.iter_mut().for_each(|t| t.visits.push(None));
        for at in order {
            if stop.load(Ordering::Relaxed) || begun.elapsed() > course.budget {
                return Ok(ended(tallies, round));
            }
            done += 1;
            if tallies[at].state == State::Measured {
                match loopback.visit(&cells[at], at, course.visit_seconds) {
                    Ok(visit) => tallies[at].visits[round] = Some(visit),
                    Err(why) => tallies[at].failed(why.0),
                }
            }
            progress(done, all);
        }
    }
    Ok(ended(tallies, course.rounds as usize))
}

/// What a last round that was not ended leaves is kept; cells without any visit were not measured.
fn ended(mut tallies: Vec<Tally>, rounds: usize) -> Vec<Tally> {
    let core_ghz = usual_clock(&tallies);
    for tally in &mut tallies {
        tally.core_ghz = core_ghz;
        tally.drop_unquiet();
        let has_any = tally.visits.iter().any(Option::is_some);
        if tally.state == State::Measured && !has_any {
            tally.state = State::Failed;
            tally.reason = Some(no_time(rounds));
        }
    }
    tallies
}

/// The median over visits of the clock that each had; none where one had none.
fn usual_clock(tallies: &[Tally]) -> Option<f64> {
    let visits = || tallies.iter().flat_map(Tally::visited).filter(|v| v.usage.ns > 0);
    let mut clocks: Vec<f64> = visits().map(|v| v.cycles / v.usage.ns as f64).collect();
    let is_known = clocks.iter().all(|ghz| *ghz > 0.0);
    analysis::median(&mut clocks).filter(|_| is_known)
}

fn no_time(rounds: usize) -> String {
    match rounds {
        0 => "there was no time for it: not even one round came to its end".to_owned(),
        rounds => format!("there was no time for it in {rounds} rounds"),
    }
}

impl Tally {
    fn new(target: &Result<(u16, Cpu), String>) -> Self {
        let (state, reason) = match target {
            Ok(_) => (State::Measured, None),
            Err(why) => (State::Unsupported, Some(why.clone())),
        };
        Self { visits: Vec::new(), state, reason, errors: 0, core_ghz: None }
    }

    /// Takes out the rounds in which the core was never quiet, where enough others are left.
    fn drop_unquiet(&mut self) {
        let is_quiet = |visit: &Visit| !visit.unquiet;
        if self.visited().filter(|v| is_quiet(v)).count() >= ENOUGH_ROUNDS {
            for visit in &mut self.visits {
                *visit = visit.take().filter(is_quiet);
            }
        }
    }

    /// Whether a round counts in which the core was never quiet.
    pub(crate) fn is_unquiet(&self) -> bool {
        self.visited().any(|visit| visit.unquiet)
    }

    /// Twice is no accident.
    fn failed(&mut self, why: String) {
        self.errors += 1;
        if self.errors >= 2 {
            let never = self.visits.iter().all(Option::is_none);
            self.state = if never { State::Unsupported } else { State::Failed };
            self.reason = Some(why);
        }
    }

    /// Server CPU per unit in µs at the run's core clock, one figure a round.
    #[must_use]
    pub fn rounds_cpu_us(&self, unit: Unit) -> Vec<Option<f64>> {
        let per_unit = |visit: &Visit| {
            let units = match unit {
                Unit::Connection => visit.told.connections,
                Unit::Request => visit.told.requests,
            };
            let ns = self.core_ghz.map_or(visit.usage.ns as f64, |ghz| visit.cycles / ghz);
            (units > 0).then(|| ns / 1e3 / units as f64)
        };
        self.visits.iter().map(|v| v.as_ref().and_then(per_unit)).collect()
    }

    /// What was counted, over all rounds.
    #[must_use]
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

    /// Of all visits.
    pub fn visited(&self) -> impl Iterator<Item = &Visit> {
        self.visits.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::plain;
    use tls_load::{Regime, Role};

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
    fn times_are_told_at_the_clock_that_most_visits_had() {
        let at = |ghz: f64| Visit { cycles: 30_000.0 * ghz, ..visit(30_000, 10, 0) };
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.visits = vec![Some(at(2.0)), Some(at(2.0)), Some(at(3.0))];
        let told = ended(vec![tally.clone()], 3).remove(0);
        assert_eq!(told.core_ghz, Some(2.0));
        let us: Vec<f64> = told.rounds_cpu_us(Unit::Connection).into_iter().flatten().collect();
        assert!(us.iter().zip([3.0, 3.0, 4.5]).all(|(a, b)| (a - b).abs() < 1e-9), "{us:?}");
        tally.visits.push(Some(visit(30_000, 10, 0)));
        assert_eq!(ended(vec![tally], 4)[0].core_ghz, None, "one was without a clock");
    }

    #[test]
    fn rounds_that_were_never_quiet_count_only_where_others_are_too_few() {
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        let unquiet = Visit { unquiet: true, ..visit(9000, 1, 1) };
        tally.visits = vec![Some(visit(1000, 1, 1)), Some(unquiet), Some(visit(1000, 1, 1))];
        tally.drop_unquiet();
        assert!(tally.visited().count() == 3 && tally.is_unquiet());
        tally.visits.push(Some(visit(1000, 1, 1)));
        tally.drop_unquiet();
        let of = [Some(1.0), None, Some(1.0), Some(1.0)];
        assert!(tally.rounds_cpu_us(Unit::Connection) == of && !tally.is_unquiet());
    }

    #[test]
    fn slices_count_when_the_core_was_quiet_and_the_server_did_not_wait() {
        let slice = |ns, waited_ns, probe| Slice {
            usage: Usage { ns, waited_ns, switches: 1 },
            told: Told { connections: 1, seconds: 0.1, ..Told::default() },
            probe,
            ghz: 2.0,
        };
        assert!(slice(1000, 0, 5.0).is_quiet(4.7) && slice(1100, 10, 4.8).is_quiet(4.7));
        assert!(!slice(1900, 0, 3.0).is_quiet(4.7), "contended");
        assert!(!slice(1200, 100, 5.0).is_quiet(4.7), "waited");
        assert!(slice(900, 0, 0.0).is_quiet(0.0), "no probe says anything");
        let mut visit = Visit::default();
        visit.add(&slice(1000, 0, 5.0));
        visit.add(&slice(1100, 10, 4.8));
        assert_eq!((visit.usage.ns, visit.usage.waited_ns), (2100, 10));
        assert!((visit.cycles - 4200.0).abs() < 1e-9);
        assert_eq!((visit.told.connections, visit.told.seconds), (2, 0.2));
    }

    #[test]
    fn a_cell_that_fails_twice_is_given_up_with_its_reason() {
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.failed("once".to_owned());
        assert_eq!(tally.state, State::Measured);
        tally.failed("group p384 was negotiated".to_owned());
        assert_eq!(tally.state, State::Unsupported);
        assert_eq!(tally.reason.as_deref(), Some("group p384 was negotiated"));
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.visits.push(Some(visit(1, 1, 1)));
        tally.failed("gone".to_owned());
        tally.failed("gone".to_owned());
        assert_eq!(tally.state, State::Failed);
    }

    #[test]
    fn servers_are_asked_for_once_however_many_cells_need_them() {
        let cell =
            |regime, bytes| Cell::of_point(Role::RealPlain, regime, Unit::Request, plain(bytes));
        let cells = [cell(Regime::Low, 1), cell(Regime::Steady, 2), cell(Regime::Low, 2)];
        assert_eq!(sites(&cells, true).len(), 1);
        assert_eq!(sites(&cells, false).len(), 0);
        assert_eq!(ways(&cells, Cell::is_real), [true]);
        assert!(minimal_ports(&cells, true).is_empty());
    }
}
