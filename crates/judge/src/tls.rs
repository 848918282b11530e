//! What people ask of TLS stacks, and what a run answers: the handshakes, records and primitives of a first screen,
//! and which stacks stand on it: the best three, the best of each column, and yours.

use crate::compare::SYSTEM;
use record::State;
use record::tls::{
    Case, Certificate, Cost, Exchange, Kind, Operation, Primitive, Protection, Row, Run, RunKind,
    Scheme, Stack, Subject, Suite, Temperature, Version,
};

/// Stacks that a table names beside the best of each column and yours.
pub const BEST: usize = 3;

/// Bytes of data in the records that are asked about: a full one, and one of a few words.
pub const RECORD_SIZES: [u32; 2] = [16384, 64];

/// Bytes of data in a record, and bytes that are digested, in a run that selects no sizes.
pub const ALL_RECORD_SIZES: [u32; 5] = [64, 256, 1400, 4096, 16384];
pub const DIGEST_SIZES: [u32; 4] = [64, 256, 1400, 16384];

pub const RECORD_SUITES: [Suite; 3] = [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::Chacha20Poly1305];

/// A row that people ask about.
pub type Wanted = (Subject, Temperature);

/// Rows that one table compares: the stacks are ranked by the first.
pub type Group = Vec<Wanted>;

pub fn groups(kind: RunKind) -> Vec<Group> {
    match kind {
        RunKind::Handshakes => vec![servers(), post_quantum()],
        RunKind::Records => {
            let of = |suite: &Suite| RECORD_SIZES.map(|size| records(*suite, size)).to_vec();
            RECORD_SUITES.iter().map(of).collect()
        }
        RunKind::Primitives => {
            let all = PRIMITIVES.iter().flat_map(|(_, rows)| *rows);
            all.map(|primitive| vec![of_primitive(*primitive)]).collect()
        }
    }
}

/// When each group has its turn, where there is no time for all: the lowest first.
pub fn turns(kind: RunKind) -> Vec<u32> {
    if kind != RunKind::Primitives {
        return vec![0; groups(kind).len()];
    }
    // What most certificates need, then the rest.
    let all = PRIMITIVES.iter().enumerate();
    all.flat_map(|(at, (_, rows))| std::iter::repeat_n(u32::from(at > 0), rows.len())).collect()
}

/// What ranks a row, in nanoseconds: of a record sending and receiving it.
fn ranked_by(row: &Row, [first, second]: [f64; 2]) -> f64 {
    if row.records().is_some() { first + second } else { first }
}

fn servers() -> Group {
    use {Certificate as C, Exchange as X, Kind as K};
    vec![
        handshake(X::X25519, C::P256, K::Full),
        handshake(X::X25519, C::Rsa2048, K::Full),
        handshake(X::X25519Mlkem768, C::P256, K::Full),
        handshake(X::X25519, C::P256, K::ResumedPsk),
        handshake(X::X25519Mlkem768, C::P256, K::ResumedPsk),
    ]
}

/// Certificates of ML-DSA, beside what they would take the place of: the stacks are ranked by ML-DSA-65.
pub fn post_quantum() -> Group {
    use {Certificate as C, Exchange as X, Kind as K};
    vec![
        handshake(X::X25519Mlkem768, C::Mldsa65, K::Full),
        handshake(X::X25519Mlkem768, C::Mldsa44, K::Full),
        handshake(X::X25519Mlkem768, C::Mldsa87, K::Full),
        handshake(X::X25519, C::P256, K::Full),
        handshake(X::X25519, C::Rsa2048, K::Full),
        handshake(X::X25519Mlkem768, C::P256, K::Full),
    ]
}

/// A handshake of TLS 1.3 with AES-128-GCM.
pub fn handshake(exchange: Exchange, certificate: Certificate, kind: Kind) -> Wanted {
    let case = Case::usual(Version::Tls13, exchange, certificate, kind);
    (Subject::Handshake(case), Temperature::Hot)
}

pub fn records(suite: Suite, size: u32) -> Wanted {
    let protection = Protection { version: Version::Tls13, suite };
    (Subject::Records { protection, size }, Temperature::Hot)
}

/// Titles of the primitives that people ask about, each with its rows.
pub const PRIMITIVES: [(&str, &[Primitive]); 3] = [
    (
        "Certificates: the server signs, the client verifies",
        &[
            primitive(Scheme::EcdsaP256, Operation::Sign),
            primitive(Scheme::EcdsaP256, Operation::Verify),
            primitive(Scheme::Rsa2048Pss, Operation::Sign),
            primitive(Scheme::Rsa2048Pss, Operation::Verify),
            primitive(Scheme::Ed25519, Operation::Sign),
        ],
    ),
    (
        "Key exchange: each end generates and agrees",
        &[
            primitive(Scheme::X25519, Operation::Generate),
            primitive(Scheme::X25519, Operation::Agree),
            primitive(Scheme::P256, Operation::Generate),
            primitive(Scheme::P256, Operation::Agree),
        ],
    ),
    (
        "Post-quantum: the server encapsulates and signs",
        &[
            primitive(Scheme::Mlkem768, Operation::Encapsulate),
            primitive(Scheme::Mlkem768, Operation::Decapsulate),
            primitive(Scheme::Mldsa44, Operation::Sign),
            primitive(Scheme::Mldsa65, Operation::Sign),
            primitive(Scheme::Mldsa65, Operation::Verify),
        ],
    ),
];

pub const fn primitive(scheme: Scheme, operation: Operation) -> Primitive {
    Primitive { scheme, operation, size: None }
}

pub fn of_primitive(primitive: Primitive) -> Wanted {
    (Subject::Primitive(primitive), Temperature::Hot)
}

/// Whether programs of this system find a stack: its OpenSSL.
pub fn is_system(stack: &Stack) -> bool {
    stack.name == "openssl" && SYSTEM.iter().any(|d| stack.crypto_path.starts_with(d))
}

/// The stack that programs of this system find.
pub fn system(run: &Run) -> Option<&Stack> {
    run.stacks.iter().find(|stack| is_system(stack))
}

#[derive(Debug)]
pub enum Figure<'a> {
    Known(&'a Row, [Cost; 2]),
    /// The stack refuses it or negotiates something else, or there is no function of it that could be asked: no figure
    /// is to be had, which need not be the stack's lack.
    CannotBeAsked,
    /// Nothing that could be shown, and why.
    Missing(&'a str),
}

impl<'a> Figure<'a> {
    /// What one of its two parts costs.
    pub fn part(&self, at: usize) -> Option<Part<'a>> {
        match self {
            Self::Known(row, costs) => Some(Part { row, cost: costs[at] }),
            _ => None,
        }
    }
}

/// What a part of a row costs.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub row: &'a Row,
    pub cost: Cost,
}

#[derive(Debug)]
pub struct Line<'a> {
    pub stack: &'a Stack,
    /// In the order of the group; nothing is missing.
    pub figures: Vec<Figure<'a>>,
    pub is_yours: bool,
}

#[derive(Debug, Default)]
pub struct Standings<'a> {
    /// By the first row, the cheapest first; yours is last where it is not among them.
    pub lines: Vec<Line<'a>>,
    /// Stacks that the first row does not show to be slower than the last that is named for it.
    pub undecided: Vec<&'a Stack>,
    /// Those that were seen to be slower.
    pub slower: Vec<&'a Stack>,
    /// Those that cannot be asked for the first row.
    pub without: Vec<&'a Stack>,
    /// Those without a number, each with the reason.
    pub missing: Vec<(&'a Stack, &'a str)>,
}

impl<'a> Standings<'a> {
    /// Where each stack of a run stands in a group.
    pub fn of(run: &'a Run, group: &[Wanted]) -> Self {
        let mut found = Self::default();
        let yours = run.stacks.iter().position(is_system);
        let mut all = Vec::new();
        for (place, stack) in run.stacks.iter().enumerate() {
            let figures: Vec<Figure<'a>> =
                group.iter().map(|wanted| figure(run, stack, *wanted)).collect();
            let lacks = figures.iter().find_map(|f| match f {
                Figure::Missing(why) => Some(*why),
                _ => None,
            });
            match (figures.first(), lacks) {
                (Some(Figure::CannotBeAsked), _) => found.without.push(stack),
                (_, Some(SLOWER)) => found.slower.push(stack),
                (_, Some(why)) => found.missing.push((stack, why)),
                _ => all.push(Line { stack, figures, is_yours: yours == Some(place) }),
            }
        }
        all.sort_by(|a: &Line<'a>, b| a.rank(0).total_cmp(&b.rank(0)));
        found.choose(all, group.len());
        found
    }

    /// Names the best three, the best of each other column, and yours.
    fn choose(&mut self, all: Vec<Line<'a>>, columns: usize) {
        let leaders: Vec<&str> = (1..columns)
            .filter_map(|column| best_of(&all, column))
            .map(|place| all[place].stack.label.as_str())
            .collect();
        let low = |line: &Line<'a>| line.ranked_at(0, |cost| cost.low_ns);
        let high = |line: &Line<'a>| line.ranked_at(0, |cost| cost.high_ns);
        let third = all.iter().take(BEST).filter_map(high).reduce(f64::max);
        let can_lose = all.iter().take(BEST).all(Line::decides);
        let mut behind = Vec::new();
        for (place, line) in all.into_iter().enumerate() {
            if place < BEST || leaders.contains(&line.stack.label.as_str()) {
                self.lines.push(line);
            } else if line.is_yours {
                behind.push(line);
            } else {
                let is_slower = can_lose
                    && line.decides()
                    && low(&line).zip(third).is_some_and(|(low, third)| low > third);
                if is_slower {
                    self.slower.push(line.stack);
                } else {
                    self.undecided.push(line.stack);
                }
            }
        }
        self.lines.append(&mut behind);
    }

    /// The reader's own stack.
    pub fn yours(&self) -> Option<&Line<'a>> {
        self.lines.iter().find(|line| line.is_yours)
    }

    /// The stack that advice starts from: yours, else the best.
    pub fn own(&self) -> Option<&Line<'a>> {
        self.yours().or(self.lines.first())
    }
}

impl<'a> Line<'a> {
    /// What the first of a column's two parts costs.
    pub fn first(&self, column: usize) -> Option<Part<'a>> {
        self.figures[column].part(0)
    }

    /// Whether what it is ranked by says which stack is faster.
    fn decides(&self) -> bool {
        self.first(0).is_some_and(|part| decides(part.row))
    }

    fn ranked_at(&self, column: usize, end: impl Fn(&Cost) -> f64) -> Option<f64> {
        match &self.figures[column] {
            Figure::Known(row, costs) => Some(ranked_by(row, costs.map(|cost| end(&cost)))),
            _ => None,
        }
    }

    fn rank(&self, column: usize) -> f64 {
        self.ranked_at(column, |cost| cost.median_ns).unwrap_or(f64::INFINITY)
    }
}

/// The place of the line that has the lowest figure of a column.
pub fn best_of(lines: &[Line<'_>], column: usize) -> Option<usize> {
    let places = (0..lines.len()).filter(|place| lines[*place].rank(column).is_finite());
    places.min_by(|a, b| lines[*a].rank(column).total_cmp(&lines[*b].rank(column)))
}

/// Why a stack without a number is no loss.
const SLOWER: &str = "slower";

/// What a stack has of a row that people ask about.
pub fn figure<'a>(run: &'a Run, stack: &Stack, wanted: Wanted) -> Figure<'a> {
    let is_it = |row: &&Row| row.stack == stack.label && (row.subject, row.temperature) == wanted;
    let Some(row) = run.rows.iter().find(is_it) else { return Figure::Missing("not asked for") };
    match (row.state, row.costs) {
        (State::Measured, Some(costs)) => Figure::Known(row, costs),
        (State::Unsupported, _) => Figure::CannotBeAsked,
        _ if row.stopped == Some(record::Stopped::Screened) => Figure::Missing(SLOWER),
        (State::Refused, _) => Figure::Missing("REFUSED: a check failed"),
        _ if row.is_left_out() => Figure::Missing("too few samples in the time"),
        _ => Figure::Missing("FAILED"),
    }
}

/// Whether a row's intervals can be compared: those of a few processes are too narrow, and what only a busy core showed
/// is a bound.
fn decides(row: &Row) -> bool {
    row.is_complete() && !row.contended
}

/// How one cost stands to another, where that is shown: the share that the cheaper one saves.
pub fn saves(dear: &Part<'_>, cheap: &Part<'_>) -> Option<f64> {
    let is_shown = decides(dear.row) && decides(cheap.row);
    (is_shown && cheap.cost.high_ns < dear.cost.low_ns)
        .then(|| 1.0 - cheap.cost.median_ns / dear.cost.median_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::tls::fixtures;

    /// Stacks with what each of the servers' handshakes costs in µs; none is one that it cannot be asked for.
    fn run(stacks: &[(&str, [Option<f64>; 5])]) -> Run {
        let labels: Vec<&str> = stacks.iter().map(|(label, _)| *label).collect();
        let asked = servers();
        let row = |label: &str, wanted: &Wanted, us| {
            let Subject::Handshake(case) = wanted.0 else { panic!("it is none") };
            fixtures::handshake(label, case, us)
        };
        let rows = stacks.iter().flat_map(|(label, costs)| {
            asked.iter().zip(costs).map(|(wanted, us)| row(label, wanted, *us))
        });
        fixtures::run(RunKind::Handshakes, &labels, rows.collect())
    }

    fn all(us: f64) -> [Option<f64>; 5] {
        [Some(us); 5]
    }

    fn standings(run: &Run) -> Standings<'_> {
        Standings::of(run, &servers())
    }

    fn labels<'a>(of: impl IntoIterator<Item = &'a Stack>) -> Vec<&'a str> {
        of.into_iter().map(|stack| stack.label.as_str()).collect()
    }

    #[test]
    fn the_best_three_stand_first_and_yours_last_however_slow() {
        let mut run = run(&[
            ("slow@1", all(300.0)),
            ("a@1", all(100.0)),
            ("b@1", all(110.0)),
            ("c@1", all(120.0)),
            ("openssl@3.0.19", all(500.0)),
        ]);
        run.stacks[4].crypto_path = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3".to_owned();
        let found = standings(&run);
        let shown = labels(found.lines.iter().map(|line| line.stack));
        assert_eq!(shown, ["a@1", "b@1", "c@1", "openssl@3.0.19"]);
        assert_eq!(found.yours().unwrap().stack.label, "openssl@3.0.19");
        assert_eq!(labels(found.slower), ["slow@1"]);
        // Another OpenSSL is nobody's.
        run.stacks[4].crypto_path = "/opt/libcrypto.so.3".to_owned();
        assert!(standings(&run).yours().is_none());
    }

    #[test]
    fn the_best_of_any_column_is_shown() {
        let mut resumes = all(400.0);
        resumes[3] = Some(10.0);
        let run =
            run(&[("a@1", all(100.0)), ("b@1", all(110.0)), ("c@1", all(120.0)), ("d@1", resumes)]);
        let shown = standings(&run).lines.iter().map(|l| l.stack.label.clone()).collect::<Vec<_>>();
        assert_eq!(shown, ["a@1", "b@1", "c@1", "d@1"]);
    }

    #[test]
    fn what_may_be_as_fast_as_the_third_is_undecided_and_not_slower() {
        let run = run(&[
            ("a@1", all(100.0)),
            ("b@1", all(110.0)),
            ("c@1", all(120.0)),
            ("d@1", all(121.0)),
            ("e@1", all(130.0)),
        ]);
        let found = standings(&run);
        assert_eq!((labels(found.undecided), labels(found.slower)), (vec!["d@1"], vec!["e@1"]));
    }

    #[test]
    fn a_row_is_whole_or_not_shown_and_what_cannot_be_asked_is_a_value() {
        let mut lacks = all(90.0);
        lacks[2] = None;
        let mut run =
            run(&[("a@1", all(100.0)), ("b@1", lacks), ("c@1", all(80.0)), ("d@1", [None; 5])]);
        let row = run.rows.iter_mut().find(|r| r.stack == "c@1").unwrap();
        (row.state, row.costs, row.stopped) = (State::Failed, None, Some(record::Stopped::Budget));
        let found = standings(&run);
        assert_eq!(labels(found.lines.iter().map(|l| l.stack)), ["b@1", "a@1"]);
        assert!(matches!(found.lines[0].figures[2], Figure::CannotBeAsked));
        assert_eq!(labels(found.without.iter().copied()), ["d@1"]);
        let missing: Vec<(&str, &str)> =
            found.missing.iter().map(|(s, why)| (s.label.as_str(), *why)).collect();
        assert_eq!(missing, [("c@1", "too few samples in the time")]);
    }

    #[test]
    fn a_difference_within_the_intervals_saves_nothing() {
        let run = run(&[("a@1", all(100.0))]);
        let row = &run.rows[0];
        let part = |us| Part { row, cost: fixtures::cost(us) };
        assert_eq!(saves(&part(101.0), &part(100.0)), None);
        assert!((saves(&part(200.0), &part(100.0)).unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(saves(&part(100.0), &part(200.0)), None);
    }

    /// Four stacks that lie far apart, after `edit` of one of them.
    fn apart(label: &str, edit: impl Fn(&mut Row)) -> Run {
        let costs = [("a@1", 100.0), ("b@1", 110.0), ("c@1", 120.0), ("d@1", 300.0)];
        let mut run = run(&costs.map(|(label, us)| (label, all(us))));
        run.rows.iter_mut().filter(|row| row.stack == label).for_each(edit);
        run
    }

    /// Whether the last of them is shown to be slower than the others, and the first to cost less than it.
    fn is_decided(run: &Run) -> (bool, bool) {
        let wanted = servers()[0];
        let part = |place: usize| figure(run, &run.stacks[place], wanted).part(0).unwrap();
        let slower = labels(standings(run).slower) == ["d@1"];
        (slower, saves(&part(3), &part(0)).is_some())
    }

    #[test]
    fn a_few_processes_decide_nothing() {
        assert_eq!(is_decided(&apart("d@1", |_| {})), (true, true));
        assert_eq!(is_decided(&apart("d@1", |row| row.processes = 5)), (false, false));
        assert_eq!(is_decided(&apart("a@1", |row| row.processes = 5)), (false, false));
        assert_eq!(is_decided(&apart("c@1", |row| row.processes = 5)), (false, true));
    }

    #[test]
    fn a_row_of_a_busy_core_decides_nothing() {
        assert_eq!(is_decided(&apart("d@1", |row| row.contended = true)), (false, false));
        assert_eq!(is_decided(&apart("a@1", |row| row.contended = true)), (false, false));
    }

    #[test]
    fn every_row_that_is_asked_about_is_measured_by_a_thorough_run_too() {
        let matrix = record::tls::matrix(&record::tls::Filter::default());
        for (subject, _) in groups(RunKind::Handshakes).concat() {
            let Subject::Handshake(case) = subject else { panic!("it is none") };
            assert!(matrix.contains(&case), "{case}");
        }
        let all = Primitive::all(&[], &[], &[64]);
        for (subject, _) in groups(RunKind::Primitives).concat() {
            let Subject::Primitive(primitive) = subject else { panic!("it is none") };
            assert!(all.contains(&primitive), "{primitive}");
        }
        for (subject, _) in groups(RunKind::Records).concat() {
            let Subject::Records { protection, .. } = subject else { panic!("it is none") };
            assert!(Protection::all(&[], &[]).contains(&protection), "{protection}");
        }
    }
}
