//! Rounds: every cell once in each, in random order, so that whatever drifts hits all alike. A cell is one
//! thing that is measured: which server, what is served, how it is asked. The run of a calibration is rounds over
//! the points that the model of a server's load needs, and the document that they go into.

use crate::server::cpu::{Cpu, Level, Tally, Usage, Visit};
use crate::server::nginx::{Nginx, NginxFacts, Sessions, Site, SiteTls};
use crate::server::{
    Client, ClientPlan, Ends, Job, Libraries, Minimal, MinimalPlan, MinimalTls, trouble,
};
use adapters::stacks::Trouble;
use engine::doctor::quietly::Prober;
use judge::load::{
    CALIBRATION_VERSION, Calibration, ChainBytes, Http, MemoryPoint, Picked, Point, RealServer,
    Regime, Role, Served, Unit, Work,
};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use record::State;
use record::tls::{Case, Certificate, Exchange, Kind, Stack, Suite, Version};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// OPENSSL_ia32cap(3): AES-NI and PCLMULQDQ are bits 57 and 33 of the first word, VAES and VPCLMULQDQ
/// bits 41 and 42 of the second.
const NO_AES: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000:~0x60000000000");

/// Share of its CPU time that a server may have waited for others in a slice that counts.
const DISTURBED: f64 = 0.05;
/// How long the probe is read between two slices: neighbours come and go within a millisecond.
const LOOK: Duration = Duration::from_micros(500);

/// How many times longer a visit is where its figure is in every prediction: the real server's own code is a small difference
/// of two large figures, and whatever these scatter all points would.
const LONGER: f64 = 4.0;

#[derive(Clone, Debug)]
pub struct Setting {
    /// nginx, where real servers are measured.
    pub nginx: Option<NginxFacts>,
    /// The library of the minimal server and the client; nginx's own where none is named.
    pub libraries: Option<Libraries>,
    pub server_cpu: u32,
    pub client_cpu: u32,
}

/// Whether the server hardly waited for others.
fn had_its_cpu(usage: Usage) -> bool {
    usage.waited_ns as f64 / usage.ns.max(1) as f64 <= DISTURBED
}

/// Servers and client, ready for a list of cells.
#[derive(Debug)]
pub struct Loopback {
    client: Client,
    client_plan: ClientPlan,
    client_cpu: u32,
    prober: Prober,
    nginx: Vec<(bool, Nginx)>,
    minimal: Vec<(bool, Minimal)>,
    /// Of each cell: its port and its server's counters, or why there are none.
    targets: Vec<Result<(u16, Cpu), String>>,
    pub libraries: Libraries,
}

impl Loopback {
    pub fn start(cells: &[Cell], setting: &Setting) -> Result<Self, String> {
        let nginx = start_nginx(cells, setting)?;
        let of_nginx = || nginx.first().map(|(_, nginx)| nginx.libraries());
        let libraries = match (&setting.libraries, of_nginx()) {
            (Some(named), _) => named.clone(),
            (None, Some(own)) => own?,
            (None, None) => return Err("no TLS library was named".to_owned()),
        };
        let minimal = start_minimal(cells, &libraries, setting)?;
        let of_nginx = nginx.iter().flat_map(|(_, nginx)| nginx.ports.iter().copied());
        let of_minimal = minimal.iter().flat_map(|(_, minimal)| minimal.ports.iter().flatten());
        let ports = of_nginx.chain(of_minimal.copied()).collect();
        let chosen = setting.libraries.is_some();
        let client_plan = ClientPlan { libraries: libraries.clone(), ports, chosen };
        let mut loopback = Self {
            client: Client::start(&client_plan, setting.client_cpu)?,
            client_plan,
            client_cpu: setting.client_cpu,
            prober: Prober::start(setting.server_cpu).map_err(|e| e.0)?,
            nginx,
            minimal,
            targets: Vec::new(),
            libraries,
        };
        loopback.targets = cells.iter().map(|cell| loopback.target(cells, cell)).collect();
        Ok(loopback)
    }

    /// The configuration that nginx runs with, without the directory and the ports of this run.
    pub fn configuration(&self) -> Option<String> {
        self.nginx.first().map(|(_, nginx)| nginx.shown_configuration())
    }

    /// Visits a cell: everything is ready before, and the server at rest before and after each slice.
    pub fn visit(&mut self, cell: &Cell, at: usize, seconds: f64) -> Result<Visit, Trouble> {
        let (port, cpu) = self.targets[at].clone()?;
        let longer = if cell.is_in_every_prediction() { LONGER } else { 1.0 };
        let job = cell.job(port, seconds * longer);
        let (mut calm, mut all) = (Visit::default(), Visit::default());
        let (mut before, mut rates) = (None, Vec::new());
        let prober = &mut self.prober;
        let told = self.client.run(&job, &mut |done| {
            let (usage, seen) = (cpu.at_rest()?, prober.read_for(LOOK).map_err(|e| e.0)?);
            rates.push(seen.rate);
            if let Some((told, (then, earlier))) = done.zip(before.replace((usage, seen))) {
                let (used, ghz) = (usage.since(then), seen.ghz.midpoint(earlier.ghz));
                all.add(used, told, ghz);
                if had_its_cpu(used) {
                    calm.add(used, told, ghz);
                }
            }
            Ok(())
        });
        let done = match told {
            Ok(done) => done,
            Err(why) => {
                // It may be out of step; the next visit needs one that is not.
                self.client = Client::start(&self.client_plan, self.client_cpu)?;
                return Err(why);
            }
        };
        let mut visit = if calm.told.connections > 0 { calm } else { all };
        visit.rate = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        visit.told.full = done.full;
        visit.told.by_session = done.by_session;
        Ok(visit)
    }

    /// Growth of the server's memory for each of so many connections, opened at once, asked once and left open.
    pub fn memory(&mut self, cell: &Cell, at: usize, connections: u32) -> Result<f64, String> {
        let (port, server) = self.targets[at].clone()?;
        let held = |at_once| crate::server::Job {
            held: true,
            at_once,
            connections: u64::from(at_once),
            ..cell.job(port, 60.0)
        };
        let (few, many) = (held(2), held(connections));
        // What a server sets up for its first connections is not theirs.
        let words = |trouble: Trouble| trouble.to_string();
        self.client.run(&few, &mut |_| Ok(())).map_err(words)?;
        let (before, mut open) = (server.resident_bytes()?, 0);
        let told = self.client.run(&many, &mut |done| {
            if done.is_none() {
                server.at_rest()?;
                open = server.resident_bytes()?;
            }
            Ok(())
        });
        told.map_err(words)?;
        Ok((open as f64 - before as f64) / f64::from(connections))
    }

    /// What the cell's server picks for clients that offer groups.
    pub fn picked(
        &mut self,
        cell: &Cell,
        at: usize,
        offers: &[&str],
    ) -> Result<Vec<Picked>, String> {
        let (port, _) = self.targets[at].clone()?;
        let offers = offers.iter().map(|&offer| offer.to_owned()).collect();
        let job = crate::server::Job { offers, connections: 1, ..cell.job(port, 1.0) };
        let told = self.client.run(&job, &mut |_| Ok(()));
        told.map(|told| told.picked).map_err(|trouble| trouble.to_string())
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

fn start_nginx(cells: &[Cell], setting: &Setting) -> Result<Vec<(bool, Nginx)>, String> {
    let mut files: Vec<u64> = cells.iter().flat_map(|c| c.responses.iter().copied()).collect();
    files.sort_unstable();
    files.dedup();
    let start = |aes| {
        let facts = setting.nginx.as_ref().ok_or_else(|| "there is no nginx".to_owned())?;
        let (sites, environment) = (sites(cells, aes), environment(aes));
        Nginx::start(facts, &sites, &files, setting.server_cpu, &environment).map(|n| (aes, n))
    };
    ways(cells, Cell::is_real).into_iter().map(start).collect()
}

fn start_minimal(
    cells: &[Cell],
    libraries: &Libraries,
    setting: &Setting,
) -> Result<Vec<(bool, Minimal)>, String> {
    let start = |aes| {
        let ports = minimal_ports(cells, aes);
        let plan = MinimalPlan { libraries: libraries.clone(), ports };
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

/// Each once, in the order in which they first come.
pub(crate) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    pub rounds: u32,
    pub visit_seconds: f64,
    /// Time after which no round is begun, and the one under way is given up; what was ended counts.
    pub budget: Duration,
    pub seed: u64,
}

/// Goes through the rounds. `progress` is told how many visits of how many are done.
pub fn rounds(
    loopback: &mut Loopback,
    cells: &[Cell],
    course: &Course,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Tally>, String> {
    let (begun, mut random) = (Instant::now(), ChaCha8Rng::seed_from_u64(course.seed));
    let mut tallies: Vec<Tally> = loopback.targets.iter().map(Tally::new).collect();
    let (mut done, all) = (0, cells.len() * course.rounds as usize);
    for round in 0..course.rounds as usize {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.shuffle(&mut random);
        tallies.iter_mut().for_each(|t| t.visits.push(None));
        for at in order {
            if stop.load(Ordering::Relaxed) || begun.elapsed() > course.budget {
                return Ok(ended(tallies, round, loopback.prober.quiet()));
            }
            done += 1;
            if tallies[at].state == State::Measured {
                match loopback.visit(&cells[at], at, course.visit_seconds) {
                    Ok(visit) => tallies[at].visits[round] = Some(visit),
                    Err(why) => tallies[at].failed(&why),
                }
            }
            progress(done, all);
        }
    }
    Ok(ended(tallies, course.rounds as usize, loopback.prober.quiet()))
}

/// What a last round that was not ended leaves is kept; cells without any visit were not measured, by an error or for lack of
/// time.
fn ended(mut tallies: Vec<Tally>, rounds: usize, quiet: f64) -> Vec<Tally> {
    let level = Level::of(&tallies, quiet);
    for tally in &mut tallies {
        tally.level = level;
        let has_any = tally.visits.iter().any(Option::is_some);
        match tally.state {
            State::Measured if has_any => tally.reason = None,
            State::Measured => {
                tally.state = State::Failed;
                tally.reason.get_or_insert_with(|| no_time(rounds));
            }
            _ => {}
        }
    }
    tallies
}

fn no_time(rounds: usize) -> String {
    match rounds {
        0 => "there was no time for it: not even one round came to its end".to_owned(),
        rounds => format!("there was no time for it in {rounds} rounds"),
    }
}

/// Bytes of a request where nothing else is said, as in a specification of load.
pub const REQUEST_BYTES: u32 = 500;
/// Bytes of data in a record where nothing else is said.
pub const RECORD_BYTES: u32 = 16_384;
/// Requests that follow one another over a connection that is open: so many that a server's awakening, which
/// belongs to connections, hardly counts.
const BURST: usize = 40;
/// Connections at once when a server is saturated, and the pause at low load.
const AT_ONCE: u32 = 20;
const PAUSE_US: u64 = 5000;
/// Seconds of a slice. Short, because others are busy on a core's sibling for milliseconds at a time, and what meets
/// them does not count; with some ten connections nevertheless, and of a saturated server several by each thread.
const SLICE_SECONDS: f64 = 0.008;
const SATURATED_SLICE_SECONDS: f64 = 0.03;
/// With the pause between connections of low load.
const LOW_SLICE_SECONDS: f64 = 0.02;
/// Connections of a visit at most: more would use up the ports of the loopback, which rest for a second.
const MOST_CONNECTIONS: u64 = 4000;

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Which server, with or without TLS.
    pub role: Role,
    /// How close connections follow one another.
    pub regime: Regime,
    /// What the CPU time is divided by: of requests, connections are made before and closed after.
    pub unit: Unit,
    pub served: Served,
    pub responses: Vec<u64>,
    /// Share of the connections that resume.
    pub resumed: f64,
}

impl Cell {
    /// A point of a calibration: connections with one request each, or requests over connections that are open.
    pub fn of_point(role: Role, regime: Regime, unit: Unit, served: Served) -> Self {
        let requests = if unit == Unit::Connection { 1 } else { BURST };
        let resumes = served.work.case().is_some_and(|case| case.kind.is_resumed());
        let responses = vec![served.response_bytes; requests];
        Self { role, regime, unit, served, responses, resumed: if resumes { 1.0 } else { 0.0 } }
    }

    /// Whether it is one of the connections that tell what the real server's own code takes, full ones and resumed, and
    /// so a part of every prediction.
    pub fn is_in_every_prediction(&self) -> bool {
        let of_own_code = own_code().map(|case| secured(case, FIRST));
        let has_tls = matches!(self.role, Role::RealTls | Role::MinimalTls);
        has_tls && self.unit == Unit::Connection && of_own_code.contains(&self.served)
    }

    pub fn is_real(&self) -> bool {
        matches!(self.role, Role::RealPlain | Role::RealTls)
    }

    /// The port of the minimal server that it needs; the outer none is none at all, the inner one is plain.
    pub(crate) fn minimal(&self) -> Option<Option<MinimalTls>> {
        let record_bytes = self.served.record_bytes.unwrap_or(RECORD_BYTES);
        let tls = |case, tickets| Some(MinimalTls { case, tickets, record_bytes });
        (!self.is_real()).then(|| match self.served.work {
            Work::Plain => None,
            Work::Handshake { case, tickets } => tls(case, tickets),
            Work::Abandoned { case } => tls(case, None),
            Work::RefusedHello => tls(refusing(), None),
        })
    }

    pub(crate) fn site(&self) -> Option<Site> {
        let tls = |case: Case| SiteTls {
            certificate: case.certificate,
            dh: case.exchange.is_finite_field().then_some(case.exchange),
            group: (case.kind == Kind::HelloRetry).then_some(case.exchange),
            sessions: if case.kind == Kind::ResumedId {
                Sessions::Cache
            } else {
                Sessions::Tickets
            },
            record_bytes: self.served.record_bytes.unwrap_or(RECORD_BYTES),
        };
        let http2 = self.served.http == Http::Http2;
        let site = |tls| Site { tls, http2, sendfile: self.served.sendfile };
        self.is_real().then(|| site(self.served.work.case().map(tls)))
    }

    pub(crate) fn job(&self, port: u16, seconds: f64) -> Job {
        let (tls, ends) = match self.served.work {
            Work::Plain => (None, Ends::Answered),
            Work::Handshake { case, .. } => (Some(case), Ends::Answered),
            Work::Abandoned { case } => (Some(case), Ends::Abandoned),
            Work::RefusedHello => {
                (Some(Case { certificate: Certificate::P256, ..refusing() }), Ends::Refused)
            }
        };
        let (at_once, pause_us, slice_seconds) = match self.regime {
            Regime::Low => (1, PAUSE_US, LOW_SLICE_SECONDS),
            Regime::Steady => (1, 0, SLICE_SECONDS),
            Regime::Saturated => (AT_ONCE, 0, SATURATED_SLICE_SECONDS),
        };
        Job {
            port,
            tls,
            http: self.served.http,
            resumed: self.resumed,
            ends,
            request_bytes: self.served.request_bytes,
            responses: self.responses.clone(),
            held: self.unit == Unit::Request,
            at_once,
            pause_us,
            connections: MOST_CONNECTIONS,
            seconds,
            offers: Vec::new(),
            slice_seconds,
        }
    }
}

/// A server that has no suite in common with a client that wants ECDSA.
fn refusing() -> Case {
    Case::usual(Version::Tls12, Exchange::P256, Certificate::Rsa2048, Kind::Full)
}

/// What is served without TLS, over HTTP/1.1 and without sendfile.
pub fn plain(response_bytes: u64) -> Served {
    Served {
        work: Work::Plain,
        http: Http::Http1,
        request_bytes: REQUEST_BYTES,
        response_bytes,
        sendfile: false,
        record_bytes: None,
        aes_hardware: true,
    }
}

/// The same with TLS.
pub fn secured(case: Case, response_bytes: u64) -> Served {
    let work = Work::Handshake { case, tickets: None };
    Served { work, record_bytes: Some(RECORD_BYTES), ..plain(response_bytes) }
}

/// What is counted, in words.
const SPAN: &str = "CPU time of the server's process (nginx: its one worker), user and system, by the scheduler's \
    counter (/proc/PID/schedstat), from rest to rest in slices of milliseconds, at one core clock and one share of the core, \
    divided by what the client counted; over loopback, where a part of the server's TCP work is charged to the client and \
    the reverse";

/// Sizes of responses that requests are calibrated with, in bytes.
pub(crate) const SIZES: [u64; 3] = [1024, 16_384, 102_400];
/// The response of a calibrated connection's one request.
pub(crate) const FIRST: u64 = 1024;

#[derive(Clone, Debug)]
pub struct Calibrating {
    pub setting: Setting,
    pub course: Course,
    pub command: Vec<String>,
}

/// The case that most clients of today negotiate, and that the real server's own code is calibrated with.
pub(crate) fn usual() -> Case {
    Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full)
}

/// What its own code is calibrated with where connections resume: the cheapest of those, so that what is left for
/// its own code is least in the noise of the rest.
pub(crate) fn by_ticket() -> Case {
    Case::usual(Version::Tls12, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedTicket)
}

pub(crate) fn own_code() -> [Case; 2] {
    [usual(), by_ticket()]
}

/// What is offered to the real server, to see which group it picks: a key share of each, with and without others
/// that it may like better.
const OFFERS: [&str; 5] = [
    "X25519MLKEM768:X25519:P-256",
    "X25519:X25519MLKEM768:P-256",
    "X25519:P-256:P-384",
    "P-256:X25519:P-384",
    "P-384:P-256:X25519",
];

/// The points of a whole calibration, without those of a real server where there is none.
pub fn calibration_cells(regimes: &[Regime], has_nginx: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for regime in regimes {
        let mut add = |role, unit, served| cells.push(Cell::of_point(role, *regime, unit, served));
        for (role, unit, served) in of_plain() {
            add(role, unit, served);
        }
        for work in works() {
            add(Role::MinimalTls, Unit::Connection, Served { work, ..secured(usual(), FIRST) });
        }
        let no_aes = Served { aes_hardware: false, ..secured(usual(), FIRST) };
        add(Role::MinimalTls, Unit::Connection, no_aes);
        for served in of_records() {
            add(Role::MinimalTls, Unit::Request, served);
        }
        for case in own_code() {
            add(Role::RealTls, Unit::Connection, secured(case, FIRST));
        }
    }
    cells.retain(|cell| has_nginx || !cell.is_real());
    cells
}

fn of_plain() -> Vec<(Role, Unit, Served)> {
    let mut all = Vec::new();
    for (role, http, sendfile) in [
        (Role::RealPlain, Http::Http1, false),
        (Role::RealPlain, Http::Http1, true),
        (Role::RealPlain, Http::Http2, false),
        (Role::MinimalPlain, Http::Http1, false),
    ] {
        let of = |bytes| Served { http, sendfile, ..plain(bytes) };
        all.push((role, Unit::Connection, of(FIRST)));
        all.extend(SIZES.map(|bytes| (role, Unit::Request, of(bytes))));
    }
    all
}

/// Handshakes: each certificate with one key exchange, each key exchange with one certificate, each kind.
fn works() -> Vec<Work> {
    let mut cases = Vec::new();
    for version in [Version::Tls13, Version::Tls12] {
        let of = |exchange, certificate| Case { version, exchange, certificate, ..usual() };
        cases.extend(Certificate::classic().map(|certificate| of(Exchange::X25519, certificate)));
        // The slowest field only where servers have it from a file.
        let wanted = |e: &Exchange| {
            *e != Exchange::X25519 && (version == Version::Tls12 || !e.is_finite_field())
        };
        cases.extend(
            Exchange::ALL.iter().copied().filter(wanted).map(|e| of(e, Certificate::Rsa2048)),
        );
        for kind in [Kind::ResumedPsk, Kind::ResumedTicket, Kind::ResumedId] {
            cases.push(Case { kind, ..of(Exchange::X25519, Certificate::Rsa2048) });
        }
    }
    let rsa = Case { certificate: Certificate::Rsa2048, ..usual() };
    cases.push(Case { exchange: Exchange::P256, kind: Kind::HelloRetry, ..rsa });
    cases.push(Case { client_auth: true, ..usual() });
    cases.retain(Case::exists);
    let done = cases.into_iter().map(|case| Work::Handshake { case, tickets: None });
    let rest = [
        Work::Handshake { case: usual(), tickets: Some(0) },
        Work::RefusedHello,
        Work::Abandoned { case: rsa },
    ];
    done.chain(rest).collect()
}

fn of_records() -> Vec<Served> {
    let of_12 = Case { version: Version::Tls12, ..usual() };
    let whole = |suite| secured(Case { suite, ..usual() }, FIRST);
    let short = Served { record_bytes: Some(4096), ..whole(Suite::Aes128Gcm) };
    let software = |suite| Served { aes_hardware: false, ..whole(suite) };
    let kinds = [
        whole(Suite::Aes128Gcm),
        whole(Suite::Aes256Gcm),
        whole(Suite::Chacha20Poly1305),
        short,
        software(Suite::Aes128Gcm),
        secured(of_12, FIRST),
        secured(Case { suite: Suite::Aes128CbcSha1, ..of_12 }, FIRST),
        secured(Case { suite: Suite::Aes256CbcSha384, ..of_12 }, FIRST),
    ];
    let of_sizes = |served: Served| SIZES.map(|response_bytes| Served { response_bytes, ..served });
    kinds.into_iter().flat_map(of_sizes).collect()
}

/// Measures a calibration. The minimal server's library is nginx's own, or the one that is named.
pub fn calibrate(
    cells: &[Cell],
    wanted: &Calibrating,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Calibration, String> {
    let (started, timer) = (jiff::Timestamp::now().to_string(), Instant::now());
    let mut loopback = Loopback::start(cells, &wanted.setting)?;
    // First, while the servers' memory has no holes that new connections fill.
    let memory = memory(&mut loopback, cells)?;
    let tallies = rounds(&mut loopback, cells, &wanted.course, stop, progress)?;
    let mut document = document(wanted, &loopback, started, cells, &tallies)?;
    document.memory = memory;
    document.picked = picked(&mut loopback, cells)?;
    document.seconds = timer.elapsed().as_secs_f64();
    Ok(document)
}

pub(crate) fn document(
    wanted: &Calibrating,
    loopback: &Loopback,
    started: String,
    cells: &[Cell],
    tallies: &[Tally],
) -> Result<Calibration, String> {
    let Setting { nginx, server_cpu, client_cpu, .. } = &wanted.setting;
    let server = nginx.as_ref().zip(loopback.configuration());
    let level = tallies.first().map(|tally| tally.level).unwrap_or_default();
    Ok(record::shared(Calibration {
        format_version: CALIBRATION_VERSION.to_owned(),
        kind: "tls-calibration".to_owned(),
        started,
        seconds: 0.0,
        command: wanted.command.clone(),
        host: host::facts(*server_cpu),
        server: server.map(|(facts, configuration)| real_server(facts, configuration)),
        stack: stack(loopback, nginx.as_ref())?,
        server_cpu: *server_cpu,
        client_cpu: *client_cpu,
        span: SPAN.to_owned(),
        core_ghz: level.core_ghz,
        core_share: level.core_share,
        points: cells.iter().zip(tallies).map(|(cell, tally)| point(cell, tally)).collect(),
        memory: Vec::new(),
        picked: Vec::new(),
        chains: Certificate::classic().map(chain).collect(),
    }))
}

/// What open connections hold, of each server with and without TLS.
fn memory(loopback: &mut Loopback, cells: &[Cell]) -> Result<Vec<MemoryPoint>, String> {
    /// So many that single pages do not count.
    const CONNECTIONS: u32 = 100;
    let mut points = Vec::new();
    for (role, served) in [
        (Role::RealPlain, plain(FIRST)),
        (Role::RealTls, secured(usual(), FIRST)),
        (Role::MinimalPlain, plain(FIRST)),
        (Role::MinimalTls, secured(usual(), FIRST)),
    ] {
        let is_it = |c: &Cell| c.role == role && c.unit == Unit::Connection && c.served == served;
        let Some(at) = cells.iter().position(is_it) else { continue };
        let bytes_per_connection = loopback.memory(&cells[at], at, CONNECTIONS)?;
        let connections = u64::from(CONNECTIONS);
        points.push(MemoryPoint { role, work: served.work, bytes_per_connection, connections });
    }
    Ok(points)
}

/// Which groups the real server picks, whose configuration names none.
fn picked(loopback: &mut Loopback, cells: &[Cell]) -> Result<Vec<Picked>, String> {
    let asked = secured(usual(), FIRST);
    let is_it = |c: &Cell| c.role == Role::RealTls && c.served == asked;
    let Some(at) = cells.iter().position(is_it) else { return Ok(Vec::new()) };
    loopback.picked(&cells[at], at, &OFFERS)
}

fn point(cell: &Cell, tally: &Tally) -> Point {
    Point {
        role: cell.role,
        regime: cell.regime,
        unit: cell.unit,
        served: cell.served,
        state: tally.state,
        reason: tally.reason.clone(),
        rounds_cpu_us: tally.rounds_cpu_us(cell.unit),
        counted: tally.counted(),
    }
}

fn real_server(facts: &NginxFacts, configuration: String) -> RealServer {
    RealServer {
        name: "nginx".to_owned(),
        version: facts.version.clone(),
        path: facts.path.display().to_string(),
        tls_library: facts.tls_library.clone(),
        configuration,
    }
}

/// The stack, by its files. Its version is nginx's word where nginx has loaded it.
fn stack(loopback: &Loopback, nginx: Option<&NginxFacts>) -> Result<Stack, String> {
    let (ssl, crypto) = (&loopback.libraries.ssl, &loopback.libraries.crypto);
    let id = |path: &Path| host::file_id(path).map_err(|e| trouble(&path.display().to_string(), e));
    let (name, version) = nginx
        .and_then(|facts| facts.tls_library.as_deref())
        .and_then(|said| said.split_once(' '))
        .map_or(("libssl".to_owned(), String::new()), |(name, rest)| {
            let version = rest.split(' ').next().unwrap_or_default();
            (name.to_lowercase(), version.to_owned())
        });
    Ok(Stack {
        label: format!("{name}@{version}"),
        name,
        version,
        path: ssl.display().to_string(),
        id: id(ssl)?,
        crypto_path: crypto.display().to_string(),
        bare_path: crypto.display().to_string(),
        crypto_id: id(crypto)?,
        build: Vec::new(),
    })
}

/// The Certificate message of TLS 1.2 (RFC 5246 7.4.2): its header, the list's length, and each certificate
/// with its own.
fn chain(certificate: Certificate) -> ChainBytes {
    let pem = adapters::stacks::keys(certificate).chain;
    let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
    let der = blocks.map(|block| {
        let text = block.split("-----END").next().unwrap_or_default();
        let digits = text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=').count();
        // Base64: four characters hold three bytes (RFC 4648 4).
        3 + digits as u32 * 3 / 4
    });
    ChainBytes { certificate, bytes: 4 + 3 + der.sum::<u32>() }
}

#[cfg(test)]
mod tests {
    use super::{plain, *};
    use crate::server::Told;
    use judge::load::{Regime, Role, Unit};

    #[test]
    fn a_server_that_waited_for_its_cpu_is_known() {
        let used = |ns, waited_ns| Usage { ns, waited_ns, switches: 1 };
        assert!(had_its_cpu(used(1000, 50)) && had_its_cpu(used(0, 0)));
        assert!(!had_its_cpu(used(1000, 51)));
        let mut visit = Visit::default();
        visit.add(used(1000, 0), &Told { connections: 1, ..Told::default() }, 2.0);
        visit.add(used(500, 10), &Told { connections: 2, ..Told::default() }, 3.0);
        assert_eq!((visit.usage.ns, visit.usage.waited_ns, visit.told.connections), (1500, 10, 3));
        assert!((visit.cycles - 3500.0).abs() < 1e-9);
    }

    #[test]
    fn a_cell_that_failed_in_its_only_visit_keeps_its_error() {
        let none = Tally::new(&Ok((1, Cpu::of(1))));
        let mut failed = none.clone();
        failed.failed(&Trouble::Failed("connect: refused".to_owned()));
        let mut worked = failed.clone();
        worked.visits = vec![None, Some(Visit::default())];
        let all = ended(vec![none, failed, worked], 1, 0.0);
        let found: Vec<_> = all.iter().map(|t| (t.state, t.reason.as_deref())).collect();
        let late = "there was no time for it in 1 rounds";
        assert_eq!(
            found,
            [
                (State::Failed, Some(late)),
                (State::Failed, Some("connect: refused")),
                (State::Measured, None)
            ]
        );
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

    #[test]
    fn a_whole_calibration_has_what_every_price_needs_in_each_regime() {
        let cells = calibration_cells(Regime::ALL, true);
        for regime in Regime::ALL {
            let has = |role, unit| {
                cells.iter().any(|c| c.regime == *regime && c.role == role && c.unit == unit)
            };
            assert!(has(Role::RealPlain, Unit::Connection) && has(Role::RealPlain, Unit::Request));
            assert!(
                has(Role::MinimalPlain, Unit::Connection) && has(Role::MinimalPlain, Unit::Request)
            );
            assert!(
                has(Role::MinimalTls, Unit::Connection) && has(Role::MinimalTls, Unit::Request)
            );
            let own_code = |c: &&Cell| c.regime == *regime && c.role == Role::RealTls;
            let kinds = cells.iter().filter(own_code).filter_map(|c| c.served.work.case());
            let kinds: Vec<Kind> = kinds.map(|case| case.kind).collect();
            assert_eq!(kinds, [Kind::Full, Kind::ResumedTicket]);
        }
        let distinct = |at: usize| cells[..at].iter().all(|c| *c != cells[at]);
        assert!((0..cells.len()).all(distinct));
        assert!(calibration_cells(&[Regime::Low], false).iter().all(|c| !c.is_real()));
    }

    #[test]
    fn a_chain_is_as_long_as_its_certificates_say_of_themselves() {
        for certificate in Certificate::ALL {
            let bytes = chain(*certificate).bytes;
            // A key and a signature of ML-DSA are 2 to 5 KB each (FIPS 204, table 2).
            let expected = if certificate.is_post_quantum() { 7_000..16_000 } else { 500..4000 };
            assert!(expected.contains(&bytes), "{certificate}: {bytes}");
        }
        assert!(chain(Certificate::Rsa4096).bytes > chain(Certificate::Rsa2048).bytes + 700);
    }
}
