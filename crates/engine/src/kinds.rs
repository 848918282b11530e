//! What is sampled: messages, TLS, pages. A kind says what a visit asks for, how many samples a process owes,
//! how long to wait for them, and how precise a case is; everything else (processes, passes, order, CPUs,
//! disturbances) is the schedule's.

use crate::plan::Setting;
use crate::protocol::{self, PageJob, PageVisit, QuietCore, Request, Visit as ProtocolVisit};
use base::analysis::{MIN_PER_PROCESS, Summary, of_visits, summarise};
use base::model::{Algorithm, Case, QuietRates, RawSample, Tier};
use rand::rngs::{StdRng, SysRng};
use rand::{RngExt as _, SeedableRng as _};
use record::at_rest::{Keying, Medium};
use record::tls::{
    Certificate, Exchange, Found, HandshakeSample, Kind, Subject as TlsSubject, Temperature,
    Version, Visit as TlsVisit,
};
use std::time::Duration;

/// Processes of a case that are sampled before it may end as precise enough: six values of two kinds agree by luck too
/// often.
pub(crate) const PROCESSES: usize = 12;
/// Processes after which precise cases begin to wait for others. The interval of nine (second to eighth) is about as wide
/// as that of twelve.
pub(crate) const PILOT: usize = 9;

/// Samples that a case got of the process that is sampled now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass {
    pub(crate) taken: u32,
    pub(crate) clean: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Subject {
    /// Operations of a library on messages or a stream.
    Message(Message),
    /// Handshakes, records or primitives of a TLS stack.
    Tls(Tls),
    Page(Page),
}

/// Where samples come from, at which tier, and what they are of.
pub(crate) type Track = (usize, Tier, String);

/// What a process settles for of which a rough idea is enough: the first messages take many times as long.
const ROUGH_US: u32 = 200;

pub(crate) enum Visit {
    Message(protocol::Visit),
    Tls(record::tls::Visit),
    Page(PageVisit),
}

impl Visit {
    /// The same with so many microseconds of settling.
    pub(crate) fn settle_for(mut self, us: u32) -> Self {
        match &mut self {
            Self::Message(visit) => visit.settle_us = us,
            Self::Tls(visit) => visit.settle_us = us,
            Self::Page(visit) => visit.settle_us = us,
        }
        self
    }

    /// One sample that was left alone, settled to within the factor that a bound has room for.
    pub(crate) fn roughly(mut self) -> Self {
        match &mut self {
            Self::Message(visit) => visit.samples = 1,
            Self::Tls(visit) => visit.samples = 1,
            Self::Page(_) => {}
        }
        self.settle_for(ROUGH_US)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    pub(crate) processes: usize,
    /// Half the interval's width as a fraction of the estimate; of several parts the widest.
    pub(crate) precision: f64,
    pub(crate) is_complete: bool,
}

impl Subject {
    pub(crate) fn pool_key(&self) -> (usize, Tier) {
        match self {
            Self::Message(message) => (message.case.library, message.case.tier),
            Self::Tls(tls) => (tls.stack, Tier::Native),
            Self::Page(page) => (page.library, page.tier),
        }
    }

    /// What cases have in common that settle alike.
    pub(crate) fn track(&self) -> Track {
        let (source, tier) = self.pool_key();
        let what = match self {
            Self::Message(Message { case, .. }) => {
                format!("{} {} {}", case.algorithm, case.direction, case.model)
            }
            Self::Tls(tls) => format!("{:?}", tls.subject),
            Self::Page(page) => format!("{} {}", page.visit.recipe.scheme, page.visit.direction),
        };
        (source, tier, what)
    }

    pub(crate) fn threads(&self) -> u32 {
        match self {
            Self::Message(message) => message.case.threads.max(1),
            Self::Tls(_) => 1,
            Self::Page(page) => page.visit.cpus.len().max(1) as u32,
        }
    }

    /// Whether one operation is a sample, so that a visit takes seconds.
    pub(crate) fn is_large(&self) -> bool {
        let Self::Message(Message { case, .. }) = self else { return false };
        Algorithm::find(&case.algorithm).is_ok_and(|a| a.is_large(case.size))
    }

    /// CPUs of the threads that measure at once; none where there is one.
    pub(crate) fn cpus(&self) -> &[u32] {
        match self {
            Self::Message(message) => &message.setting.cpus,
            Self::Tls(_) => &[],
            Self::Page(page) => &page.visit.cpus,
        }
    }

    pub(crate) fn visit(&mut self, pass: Pass, taken: u32, ops: Option<u32>) -> Visit {
        match self {
            Self::Message(message) => Visit::Message(message.visit(pass, taken, ops)),
            Self::Tls(tls) => Visit::Tls(tls.visit(pass, taken, ops)),
            Self::Page(page) => Visit::Page(page.visit.clone()),
        }
    }

    pub(crate) fn is_done(&self, pass: Pass) -> bool {
        match self {
            Self::Message(_) => is_message_done(pass),
            Self::Tls(_) => is_tls_done(pass),
            Self::Page(page) => page.is_done(pass),
        }
    }

    /// How soon it has its turn where there is no time for all: the lowest first.
    pub(crate) fn wave(&self) -> u32 {
        match self {
            Self::Message(_) => 0,
            Self::Tls(tls) => tls.wave(),
            Self::Page(page) => page.wave(),
        }
    }

    pub(crate) fn deadline(&self) -> Duration {
        match self {
            Self::Message(message) => message.deadline(),
            Self::Tls(_) => TLS_DEADLINE,
            Self::Page(page) => page.deadline(),
        }
    }

    pub(crate) fn precision(&self, asked: f64) -> f64 {
        match self {
            Self::Message(_) => asked,
            Self::Tls(tls) => tls.precision(asked),
            Self::Page(page) => page.precision(asked),
        }
    }

    /// Sums its samples up; `ends` are those of both ends, where it has two.
    pub(crate) fn judged(
        &self,
        samples: &[RawSample],
        ends: &Ends,
        quiet: &QuietRates,
    ) -> Option<Judged> {
        let judged = |summary: Summary| Judged {
            processes: summary.processes,
            precision: summary.precision(),
            is_complete: summary.is_complete(),
        };
        match self {
            Self::Message(message) => {
                let visits = of_visits(samples, message.case.threads, quiet);
                summarise(&visits, quiet).map(judged)
            }
            Self::Tls(_) => {
                let server = summarise(samples, quiet).map(judged)?;
                let client = summarise(&ends.others(), quiet).map(judged)?;
                Some(Judged { precision: server.precision.max(client.precision), ..server })
            }
            Self::Page(page) => {
                let visits = of_visits(samples, self.threads(), quiet);
                summarise(&record::at_rest::judged(&visits, page.visit.medium), quiet).map(judged)
            }
        }
    }
}

pub(crate) fn request(visits: Vec<Visit>, quiet: QuietCore) -> Request {
    let (mut of_messages, mut of_tls, mut of_pages) = (Vec::new(), Vec::new(), Vec::new());
    for visit in visits {
        match visit {
            Visit::Message(visit) => of_messages.push(visit),
            Visit::Tls(visit) => of_tls.push(visit),
            Visit::Page(visit) => of_pages.push(visit),
        }
    }
    match (of_tls.is_empty(), of_pages.is_empty()) {
        (true, true) => Request::Sample { visits: of_messages, quiet },
        (true, false) => Request::Pages(Box::new(PageJob::Time { visits: of_pages, quiet })),
        (false, _) => Request::Tls { visits: of_tls, quiet },
    }
}

/// What processes found of a subject before their first samples.
pub(crate) type Facts = Vec<Found>;
// Operations of a library on messages or a stream.

/// Visits of a case in one pass at most: twice what a process needs of clean samples for its median to
/// count. Where fewer than half of the samples are clean, more of the same would not be either.
pub(crate) const MOST_VISITS: u32 = 2 * MIN_PER_PROCESS as u32;

/// Samples of a process that takes them because they do not agree.
const MOST_IN_A_ROW: u32 = 5;

/// The same for a unit of what a derivation costs: a round of bcrypt takes a tenth of a millisecond, ...
const MOST_US_OF_A_COST: u64 = 2_000;
/// ... and nothing is waited for longer than this.
const LONGEST_OPERATIONS_US: u64 = 120_000_000;

/// A case of one library.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) case: Case,
    pub(crate) setting: Setting,
    /// The sample that every check is made behind: one of those that every case has.
    checked_at: u32,
    /// Whether it was, or is asked for.
    checked: Checked,
}

/// Whether a case has had every check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checked {
    NotYet,
    /// Until there is a sample of it, it was not.
    Asked,
    Done,
}

impl Message {
    pub(crate) fn new(case: Case, setting: Setting) -> Self {
        let checked_at = drawn((PROCESSES * MIN_PER_PROCESS) as u32);
        Self { case, setting, checked_at, checked: Checked::NotYet }
    }

    /// Until there is a sample of the visit that makes every check, it was not made.
    pub(crate) fn is_sampled(&mut self) {
        if self.checked == Checked::Asked {
            self.checked = Checked::Done;
        }
    }

    pub(crate) fn visit(&mut self, pass: Pass, taken: u32, ops: Option<u32>) -> ProtocolVisit {
        let samples = (MIN_PER_PROCESS - pass.clean.min(MIN_PER_PROCESS - 1)) as u32;
        let due = self.checked_at < taken + samples;
        let every_check = due && self.checked != Checked::Done;
        if every_check {
            self.checked = Checked::Asked;
        }
        ProtocolVisit {
            algorithm: self.case.algorithm.clone(),
            direction: self.case.direction,
            model: self.case.model,
            size: self.case.size,
            footprint: self.case.footprint,
            in_place: self.case.in_place,
            walk_bytes: self.setting.walk_bytes,
            cpus: self.setting.cpus.clone(),
            latency_ops: self.setting.latency_ops,
            settle_us: 0,
            ops,
            samples,
            most: if self.case.threads > 1 { samples } else { MOST_IN_A_ROW },
            every_check,
        }
    }

    /// Longest wait for a sample of this case. The slowest software known does some megabytes a
    /// second, and calibration, warm-up, reference and sample are some ten operations in each thread;
    /// memory to walk through is filled at some hundred megabytes a second where it is scattered.
    pub(crate) fn deadline(&self) -> Duration {
        let threads = u64::from(self.case.threads.max(1));
        let walked = self.setting.walk_bytes.unwrap_or(0) as u64;
        let cost = Algorithm::find(&self.case.algorithm).ok().and_then(|a| a.cost(self.case.size));
        let operations = match cost {
            Some(cost) => (MOST_US_OF_A_COST * cost as u64).min(LONGEST_OPERATIONS_US) * threads,
            None => 8 * self.case.size as u64 * threads,
        };
        let filling = walked * threads / 20;
        Duration::from_secs(3) + Duration::from_micros(operations + filling)
    }
}

fn is_message_done(pass: Pass) -> bool {
    pass.clean >= MIN_PER_PROCESS || pass.taken >= MOST_VISITS
}

/// A number below the bound that no library can foresee: from the kernel, not from the run's seed, which workers know.
fn drawn(below: u32) -> u32 {
    let mut rng = StdRng::try_from_rng(&mut SysRng).expect("the kernel has random numbers");
    rng.random_range(0..below)
}

// Handshakes, records and primitives of TLS stacks.

/// Clean samples of a process: one more than its median needs, because a quiet rate that is learned later may take
/// one away. What the interval wants is processes: their layouts differ by more than the samples of one.
const CLEAN_TLS_SAMPLES: usize = 3;

/// Samples of a process after which no more are asked for: where fewer than a third are clean, more of the same
/// would not be either.
const MOST_TLS_SAMPLES: u32 = 3 * CLEAN_TLS_SAMPLES as u32;

/// Longest wait for a visit: eight handshakes of 50 ms, on a machine with ten times as much to do.
const TLS_DEADLINE: Duration = Duration::from_secs(5);

/// What is not hot scatters more, and is held to this at the most.
const COLD_PRECISION: f64 = 0.05;

/// A case of one stack.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    pub(crate) stack: usize,
    pub(crate) subject: TlsSubject,
    pub(crate) temperature: Temperature,
    /// How soon it has its turn in a race; none where its properties say so.
    pub(crate) turn: Option<u32>,
}

/// Samples of both ends, which take turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends(pub(crate) Vec<HandshakeSample>);

impl Ends {
    pub(crate) fn others(&self) -> Vec<RawSample> {
        self.0.iter().map(HandshakeSample::client_sample).collect()
    }
}

impl Tls {
    /// The first process takes as many samples as any may: a stack that does something else after some
    /// connections is then found, however few make up a sample.
    fn visit(&self, pass: Pass, taken: u32, ops: Option<u32>) -> TlsVisit {
        let lacking = CLEAN_TLS_SAMPLES.saturating_sub(pass.clean).max(1) as u32;
        let samples = if taken == 0 { MOST_TLS_SAMPLES } else { lacking };
        TlsVisit {
            subject: self.subject,
            temperature: self.temperature,
            settle_us: 0,
            samples,
            ops,
        }
    }

    /// How many of its properties are not the usual ones; of records and primitives none has any.
    fn wave(&self) -> u32 {
        let TlsSubject::Handshake(case) = self.subject else { return self.turn.unwrap_or(0) };
        if let Some(turn) = self.turn {
            return turn;
        }
        let usual = [
            case.version == Version::Tls13,
            case.exchange == Exchange::X25519,
            matches!(case.certificate, Certificate::P256 | Certificate::Rsa2048),
            case.kind == Kind::Full,
            !case.client_auth,
            self.temperature == Temperature::Hot,
        ];
        usual.iter().filter(|is_usual| !**is_usual).count() as u32
    }

    fn precision(&self, asked: f64) -> f64 {
        match self.temperature {
            Temperature::Hot => asked,
            Temperature::Idle | Temperature::Cold => asked.max(COLD_PRECISION),
        }
    }
}

fn is_tls_done(pass: Pass) -> bool {
    pass.clean >= CLEAN_TLS_SAMPLES || pass.taken >= MOST_TLS_SAMPLES
}

// Pages of a store through a scheme.

/// Samples of a process after which no more are asked for: where fewer than half are clean, more of the same
/// would not be either.
const MOST_PAGE_SAMPLES: u32 = 2 * MIN_PER_PROCESS as u32;

/// What waits for a disk scatters more, and is held to this at the most.
const IO_PRECISION: f64 = 0.05;

/// A cell of one library.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) library: usize,
    pub(crate) tier: Tier,
    pub(crate) page_size: usize,
    pub(crate) visit: PageVisit,
}

impl Page {
    /// What waits for a disk is interrupted by design, and is asked for no more of it.
    fn is_done(&self, pass: Pass) -> bool {
        let enough = if self.visit.medium.has_io() { pass.taken as usize } else { pass.clean };
        enough >= MIN_PER_PROCESS || pass.taken >= MOST_PAGE_SAMPLES
    }

    /// Longest wait for a visit. The slowest software known does some megabytes a second, and each page goes
    /// through it some four times; a disk may take a tenth of a second for each on a bad day.
    fn deadline(&self) -> Duration {
        let bytes = (self.visit.pages * self.page_size * self.visit.cpus.len().max(1)) as u64;
        let disk = if self.visit.medium.has_io() { 100_000 * self.visit.pages as u64 } else { 0 };
        Duration::from_secs(10) + Duration::from_micros(8 * bytes + disk)
    }

    /// Pages in memory first, as they come, and with the key that is there; of each way ciphers, then those with a sum or
    /// MAC beside them, then pages that nothing encrypts, which nobody asks for.
    fn wave(&self) -> u32 {
        let scheme = match (&self.visit.recipe.cipher, self.visit.recipe.scheme.contains('+')) {
            (Some(_), false) => 0,
            (Some(_), true) => 1,
            (None, _) => 2,
        };
        let at = Medium::ALL.iter().position(|m| *m == self.visit.medium).unwrap_or(0) as u32;
        let is_new_key = self.visit.keying == Keying::PerPage;
        3 * (2 * at + u32::from(is_new_key)) + scheme
    }

    fn precision(&self, asked: f64) -> f64 {
        if self.visit.medium.has_io() { asked.max(IO_PRECISION) } else { asked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::Direction;

    fn message(checked_at: u32) -> Message {
        let algorithm = "aes-128-ctr".to_owned();
        let case = Case { algorithm, size: 16, threads: 1, ..Case::default() };
        Message { checked_at, ..Message::new(case, Setting::default()) }
    }

    #[test]
    fn one_of_the_visits_that_every_case_has_makes_every_check_and_a_lost_one_is_asked_for_again() {
        for at in 0..(PROCESSES * MIN_PER_PROCESS) as u32 {
            let (mut message, mut made, mut visits) = (message(at), 0, 0);
            for process in 0..PROCESSES as u32 {
                let asked = message.visit(Pass::default(), visits, None).every_check;
                // Its worker died, and it is asked for once more.
                let again = message.visit(Pass::default(), visits, None).every_check;
                assert_eq!(asked, again, "{at}");
                made += usize::from(asked);
                message.is_sampled();
                // Two samples, or more because they did not agree.
                visits += 2 + (process + at) % 4;
            }
            assert_eq!(made, 1, "{at}");
        }
    }

    fn page(medium: Medium) -> Page {
        Page {
            library: 0,
            tier: Tier::Native,
            page_size: 8192,
            visit: PageVisit {
                recipe: record::at_rest::scheme::good_practice().remove(0),
                medium,
                keying: Keying::Reused,
                direction: Direction::Encrypt,
                cpus: vec![0],
                pages: 256,
                settle_us: 0,
            },
        }
    }

    #[test]
    fn work_in_memory_is_asked_for_again_where_it_was_disturbed_and_work_that_waits_is_not() {
        let pass = |taken, clean| Pass { taken, clean };
        let (memory, disk) = (page(Medium::Random), page(Medium::Log));
        assert!(!memory.is_done(pass(2, 1)) && disk.is_done(pass(2, 0)));
        assert!(memory.is_done(pass(2, 2)) && memory.is_done(pass(4, 0)));
        assert!(disk.deadline() > memory.deadline());
        assert_eq!((memory.precision(0.02), disk.precision(0.02)), (0.02, 0.05));
    }
}
