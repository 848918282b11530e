//! What makes a key of a passphrase: which function, with which parameters, in which library, and what a time buys in each.
//! Published rules choose the function, measured times the library. Pure: a record in, text out.

use crate::advise::evaluate::beside;
use crate::advise::question::{Fips, Only};
use crate::advise::render::{Format, Page};
use base::analysis::Estimate;
use base::model::{Algorithm, Mode, Model, NameGlob, Primitive, SizeRule, Tier};
use base::text::{
    Align, BEST, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, grouped,
};
use record::{LeakVerdict, LibraryId, Measurement, Record, State, Stopped};
use serde::Serialize;

/// Parameters that somebody published as enough.
struct Rule {
    algorithm: &'static str,
    cost: usize,
    says: &'static str,
}

/// In the order in which RFC 9106 and OWASP prefer them. What is measured has one lane.
#[rustfmt::skip]
const RULES: [Rule; 7] = [
    rule("argon2id-t3", 64 << 20, "RFC 9106 section 4, second recommended option (there with p=4)"),
    rule("argon2id-t2", 19 << 20, "OWASP's minimum"),
    rule("argon2id-t3", 12 << 20, "OWASP's minimum"),
    rule("scrypt", 128 << 20, "OWASP's minimum (RFC 7914 names none)"),
    rule("bcrypt", 1 << 10, "OWASP's minimum for what is there already"),
    rule("pbkdf2-sha256", 600_000, "OWASP's minimum; NIST SP 800-132 wants 1,000 at least"),
    rule("pbkdf2-sha512", 220_000, "OWASP's minimum; NIST SP 800-132 wants 1,000 at least"),
];

const fn rule(algorithm: &'static str, cost: usize, says: &'static str) -> Rule {
    Rule { algorithm, cost, says }
}

/// What no rule here chooses. By definition, not by measurement.
#[rustfmt::skip]
const NEVER: [(&str, &str); 2] = [
    ("argon2id t=1, 2 GiB", "RFC 9106's first option, not measured: calls take too long to be repeated"),
    ("argon2d", "by its definition all its addresses depend on the passphrase; argon2i: RFC 9106 names Argon2id; \
        s2k, hkdf: below every rule"),
];

const GO: &str = "has scrypt, in Go's own code, which is not measured here: times are of others";
/// What a program offers: functions and libraries as globs, the sentence behind its name, and how parameters are given to
/// it.
struct Program {
    name: &'static str,
    functions: &'static [&'static str],
    libraries: &'static [&'static str],
    says: &'static str,
    sets: &'static str,
}
const PROGRAMS: [Program; 6] = [
    Program {
        name: "age",
        functions: &["scrypt"],
        libraries: &[],
        says: GO,
        sets: "age takes no parameters: `age -p` has N=2^18, r=8, p=1, twice OWASP's minimum",
    },
    Program {
        name: "borg",
        functions: &["argon2id", "pbkdf2-sha256"],
        libraries: &[],
        says: "has Argon2id (2.0) and PBKDF2 with SHA-256 (1.x)",
        sets: "borg takes no parameters: 2.0 has t=3, m=64 MiB, p=4; 1.x has 100,000 iterations, below every rule",
    },
    Program {
        name: "gocryptfs",
        functions: &["scrypt"],
        libraries: &[],
        says: GO,
        sets: "`gocryptfs -init -scryptn N`, the logarithm of N; 16 without it, half of OWASP's minimum",
    },
    Program {
        name: "luks",
        functions: &["argon2id", "pbkdf2-*"],
        libraries: &["openssl", "libgcrypt"],
        says: "has Argon2id and PBKDF2, from libgcrypt, OpenSSL or its own code",
        sets: "`cryptsetup luksFormat` with --pbkdf, --pbkdf-force-iterations (of Argon2id 4 at least), \
            --pbkdf-memory in KiB, --pbkdf-parallel 1",
    },
    Program {
        name: "restic",
        functions: &["scrypt"],
        libraries: &[],
        says: GO,
        sets: "restic takes no parameters: it chooses an N up to 2^15 and a p that fill 500 ms on the machine that \
            makes the key",
    },
    Program {
        name: "sqlcipher",
        functions: &["pbkdf2-sha512"],
        libraries: &["openssl", "libressl", "boringssl", "aws-lc", "libtomcrypt"],
        says: "has PBKDF2 with SHA-512, from OpenSSL, LibTomCrypt or NSS",
        sets: "`PRAGMA kdf_iter`; 256,000 iterations without it",
    },
];

/// Fewer passes of Argon2 cryptsetup refuses (its lib/crypto_backend/pbkdf_check.c).
const LUKS_PASSES: usize = 4;

/// A program's functions, or those of a list of globs.
pub fn only(text: &str) -> Result<Only, String> {
    if let Some(p) = PROGRAMS.iter().find(|program| program.name == text) {
        return Only::of_program(p.name, p.says, p.functions, p.libraries);
    }
    let only = Only::of_list(text)?;
    match only.schemes.iter().find(|g| !RULES.iter().any(|r| g.matches(r.function()))) {
        Some(glob) => Err(format!(
            "--only {}: neither a program ({}) nor a function ({})",
            glob.text(),
            PROGRAMS.map(|program| program.name).join(", "),
            functions_of(RULES.iter()).join(", ")
        )),
        None => Ok(only),
    }
}

#[derive(Clone, Debug)]
pub struct Question {
    /// Most nanoseconds of a call.
    pub time_ns: Option<f64>,
    /// Most bytes of memory of a call.
    pub memory: Option<usize>,
    pub fips: Fips,
    pub only: Option<Only>,
    /// Globs over libraries or `name@version`, all of them when empty.
    pub libraries: Vec<NameGlob>,
    pub tier: Tier,
}

impl Question {
    fn program(&self) -> Option<&'static Program> {
        let only = self.only.as_ref()?;
        PROGRAMS.iter().find(|p| p.name == only.typed)
    }

    /// The fewest passes of Argon2 that the program takes.
    fn least_passes(&self) -> usize {
        if self.program().is_some_and(|p| p.name == "luks") { LUKS_PASSES } else { 1 }
    }

    /// Why parameters may not be used.
    fn refusal(&self, function: &str, needs: usize) -> Option<String> {
        if self.fips != Fips::None && !function.starts_with("pbkdf2") {
            return Some("not approved: of these NIST has PBKDF2 alone (SP 800-132)".to_owned());
        }
        if let Some(only) = &self.only
            && !only.schemes.iter().any(|g| g.matches(function))
        {
            return Some(format!("not of --only {}", only.typed));
        }
        let most = self.memory.filter(|most| *most < needs)?;
        Some(format!("needs {}, more than the {} of --memory", in_mib(needs), in_mib(most)))
    }

    fn takes(&self, m: &Measurement) -> bool {
        m.tier == self.tier && Only::takes(self.only.as_ref(), &self.libraries, &m.library)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub algorithm: &'static str,
    /// A cheap cost, at which all libraries are looked at.
    pub look: usize,
    /// The cost that is measured: that of the answer, but for other functions whose time is proportional to it.
    pub cost: usize,
    /// Libraries in which it is measured: those that looked fastest.
    pub libraries: usize,
}

/// What is measured for a question. Half a minute is not enough for calls that take long, each with one of the
/// independent reference's behind it.
pub fn wanted(question: &Question, thorough: bool) -> Vec<Wanted> {
    let is_allowed = |r: &&Rule| question.refusal(r.function(), r.memory()).is_none();
    let allowed: Vec<&Rule> = RULES.iter().filter(is_allowed).collect();
    let first = allowed.first().map(|r| r.function());
    let mut all: Vec<Wanted> = Vec::new();
    for rule in &allowed {
        let is_first = Some(rule.function()) == first;
        let has_less =
            allowed.iter().any(|r| r.function() == rule.function() && r.cost < rule.cost);
        // A function that was named is measured, however long it takes.
        let is_spared = !is_first && question.only.is_none();
        let is_late = rule.is_slow() && (is_spared || has_less) && !thorough;
        // The same algorithm with less is for records that have no more.
        let is_there = |w: &Wanted| {
            w.algorithm == rule.algorithm || is_first && w.cost <= 32 << 20 && !rule.is_linear()
        };
        if is_late || all.iter().any(is_there) {
            continue;
        }
        let is_answer = is_first && (all.is_empty() || !rule.is_linear());
        let (look, cheap) = match rule.known().mode {
            Mode::MemoryHard => (1 << 20, rule.cost),
            Mode::Bcrypt => (16, 64),
            _ => (1_000, 10_000),
        };
        let cost = if is_answer { rule.cost } else { cheap };
        let libraries = if is_answer && (rule.is_slow() || rule.is_linear()) { 1 } else { 2 };
        all.push(Wanted { algorithm: rule.algorithm, look, cost, libraries });
    }
    all
}

impl Rule {
    fn known(&self) -> &'static Algorithm {
        Algorithm::find(self.algorithm).expect("rules name algorithms of the table")
    }

    /// The function, whatever its passes.
    fn function(&self) -> &'static str {
        self.algorithm.split("-t").next().unwrap_or(self.algorithm)
    }

    /// Whether its time is proportional to its cost by definition: nothing that grows with it is kept in memory.
    fn is_linear(&self) -> bool {
        self.known().mode != Mode::MemoryHard
    }

    /// Whether calls, or checks of them, take too long for half a minute.
    fn is_slow(&self) -> bool {
        self.memory() > 32 << 20 || self.known().mode == Mode::Bcrypt
    }

    fn parameters(&self) -> String {
        parameters(self.known(), passes(self.known()), self.cost)
    }

    /// Bytes that a call takes, by definition.
    fn memory(&self) -> usize {
        memory(self.known(), self.cost)
    }

    /// Whether parameters are at least these.
    fn is_met(&self, algorithm: &Algorithm, size: usize) -> bool {
        let is_it = algorithm.name.split("-t").next() == Some(self.function());
        is_it
            && passes(algorithm) >= passes(self.known())
            && (self.is_linear() || size >= self.cost)
    }
}

/// Passes over the memory; 1 of what has none.
fn passes(algorithm: &Algorithm) -> usize {
    if let Primitive::Argon2id { passes } = algorithm.cipher { passes.into() } else { 1 }
}

fn functions_of<'a>(rules: impl Iterator<Item = &'a Rule>) -> Vec<&'static str> {
    let mut all: Vec<&str> = rules.map(Rule::function).collect();
    all.dedup();
    all
}

fn memory(algorithm: &Algorithm, cost: usize) -> usize {
    match algorithm.mode {
        Mode::MemoryHard => cost,
        // The key schedule of Blowfish.
        Mode::Bcrypt => 4168,
        _ => 0,
    }
}

/// The logarithm of bcrypt's most rounds.
const MOST_BCRYPT: u32 = 31;

fn in_mib(bytes: usize) -> String {
    match bytes {
        0 => "next to no memory".to_owned(),
        n if n < 1 << 20 => format!("{} KiB", n >> 10),
        n => format!("{} MiB", n >> 20),
    }
}

fn parameters(algorithm: &Algorithm, passes: usize, cost: usize) -> String {
    match (algorithm.mode, algorithm.cipher) {
        (Mode::MemoryHard, Primitive::Scrypt) => {
            format!("N=2^{}, r=8, p=1", (cost >> 10).max(1).ilog2())
        }
        (Mode::MemoryHard, _) => format!("t={passes}, m={}, p=1", in_mib(cost)),
        (Mode::Bcrypt, _) => format!("cost {}", cost.max(1).ilog2()),
        _ => format!("{} iterations", grouped(cost as u64)),
    }
}

// The answer.

#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    pub format_version: &'static str,
    /// `passphrase-advice`.
    pub kind: &'static str,
    pub cpu: String,
    pub started: String,
    pub asked: Vec<String>,
    /// Most milliseconds of a call, where that was asked.
    pub within_ms: Option<f64>,
    /// Place of the choice among the prices; null where nothing may be chosen.
    pub choice: Option<usize>,
    /// How the program of `--only` takes parameters, or which it has instead.
    pub set: Option<&'static str>,
    /// What is known of the choice's addresses and branches.
    pub secrets: String,
    /// Parameters that fulfil a rule and have a price, by rule and then by time.
    pub prices: Vec<Price>,
    pub ruled_out: Vec<Said>,
    /// What may be chosen and has no price, with the reason.
    pub missing: Vec<Said>,
    /// Whether something that is missing would come before the choice.
    pub open: bool,
}

/// A function or its parameters, and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Said {
    pub function: String,
    pub why: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Price {
    pub function: &'static str,
    pub library: String,
    pub parameters: String,
    pub rule: &'static str,
    /// Bytes that a call takes, by definition.
    pub memory: usize,
    pub ns: Estimate,
    /// The cost that was measured, where it is another: the time is computed from it, in proportion.
    pub computed_from: Option<usize>,
    /// The passes that were measured, where the program takes more: the time is computed from them, in proportion.
    pub computed_from_passes: Option<usize>,
    /// Whether only a busy core was seen: it takes no longer than this.
    pub contended: bool,
    pub buys: Vec<Bought>,
    #[serde(skip)]
    at: usize,
    #[serde(skip)]
    build: LibraryId,
    #[serde(skip)]
    measured: usize,
    #[serde(skip)]
    algorithm: &'static Algorithm,
    #[serde(skip)]
    cost: usize,
    #[serde(skip)]
    passes: usize,
}

/// What a time buys, computed from the upper end of the interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bought {
    pub within_ms: f64,
    /// Null where the time is too short for any.
    pub parameters: Option<String>,
    /// Bytes that a call with them takes, by definition.
    pub memory: usize,
    /// Whether that is as much as the rule wants.
    pub enough: bool,
}

impl Price {
    /// `room` is what a call may take of the machine's memory.
    fn of(question: &Question, m: &Measurement, room: usize) -> Option<Self> {
        let ns = m.ns_per_op.as_ref().filter(|_| m.state == State::Measured)?;
        let algorithm = Algorithm::find(&m.algorithm).ok()?;
        let at = RULES.iter().position(|r| r.is_met(algorithm, m.size))?;
        let rule = &RULES[at];
        let cost = if rule.is_linear() { rule.cost } else { m.size };
        let measured = passes(algorithm);
        let is_argon2 = matches!(algorithm.cipher, Primitive::Argon2id { .. });
        let passes = if is_argon2 { measured.max(question.least_passes()) } else { measured };
        let times = cost as f64 / m.size as f64 * (passes as f64 / measured as f64);
        let ns = ns.map(|ns| ns * times);
        let mut price = Self {
            function: rule.function(),
            library: clean(&m.library.label()),
            parameters: parameters(algorithm, passes, cost),
            rule: rule.says,
            memory: memory(algorithm, cost),
            ns,
            computed_from: (m.size != cost).then_some(m.size),
            computed_from_passes: (passes != measured).then_some(measured),
            contended: m.contended,
            buys: Vec::new(),
            at,
            build: m.library.clone(),
            measured: m.size,
            algorithm,
            cost,
            passes,
        };
        let mut times = vec![1e8, 5e8, 1e9];
        times.extend(question.time_ns.filter(|t| !times.contains(t)));
        price.buys = times.into_iter().map(|t| price.bought(question, room, t)).collect();
        Some(price)
    }

    fn bought(&self, question: &Question, room: usize, time_ns: f64) -> Bought {
        let times = time_ns / self.ns.high;
        let (algorithm, cost) = (self.algorithm, self.cost as f64);
        let mut memory = self.memory;
        let bought = match (algorithm.mode, algorithm.cipher) {
            (Mode::MemoryHard, Primitive::Argon2id { .. }) => {
                let n = (times * self.passes as f64) as usize;
                (n >= question.least_passes()).then(|| parameters(algorithm, n, self.cost))
            }
            (Mode::MemoryHard | Mode::Bcrypt, _) => {
                let most = match algorithm.mode {
                    Mode::Bcrypt => MOST_BCRYPT,
                    _ => question.memory.unwrap_or(usize::MAX).min(room).max(1).ilog2(),
                };
                let log = (cost * times).log2().floor().min(f64::from(most));
                let cost = log.exp2() as usize;
                memory = self::memory(algorithm, cost);
                let least = match algorithm.sizes {
                    SizeRule::PowerOfTwo(least, _) => least,
                    _ => 1,
                };
                (cost >= least).then(|| parameters(algorithm, 1, cost))
            }
            _ => {
                let n = (cost * times / 1e3) as usize * 1000;
                (n > 0).then(|| parameters(algorithm, 1, n))
            }
        };
        Bought { within_ms: time_ns / 1e6, parameters: bought, memory, enough: times >= 1.0 }
    }

    /// From the rule's own cost.
    fn distance(&self) -> usize {
        self.measured.abs_diff(RULES[self.at].cost)
    }

    fn fits(&self, question: &Question) -> bool {
        question.time_ns.is_none_or(|most| self.ns.high <= most)
    }

    /// `153 ms ±1.2 %`
    fn time(&self) -> String {
        let ms = self.ns.median / 1e6;
        let digits = if ms < 10.0 { 2 } else { usize::from(ms < 100.0) };
        let half = (self.ns.high - self.ns.low) / 2.0 / self.ns.median * 100.0;
        let bound = if self.contended { "≤ " } else { "" };
        format!("{bound}{ms:.digits$} ms ±{half:.1} %")
    }
}

pub fn advise(question: &Question, record: &Record) -> Advice {
    let is_row =
        |m: &&Measurement| m.model == Model::Message && m.threads == 1 && question.takes(m);
    let rows: Vec<&Measurement> = record.measurements.iter().filter(is_row).collect();
    // As much as a worker may take.
    let room = match record.host.memory.total_bytes {
        0 => usize::MAX,
        bytes => usize::try_from(bytes / 2).unwrap_or(usize::MAX),
    };
    let mut prices: Vec<Price> = rows.iter().filter_map(|m| Price::of(question, m, room)).collect();
    prices.retain(|p| question.refusal(p.function, p.memory).is_none());
    // Of each build and rule what was measured at the rule's own cost, or nearest to it.
    prices.sort_by(|a, b| (a.at, &a.build, a.distance()).cmp(&(b.at, &b.build, b.distance())));
    prices.dedup_by(|a, b| (a.at, &a.build) == (b.at, &b.build));
    prices.sort_by(|a, b| a.at.cmp(&b.at).then(a.ns.median.total_cmp(&b.ns.median)));
    let choice = prices.iter().position(|p| p.fits(question));
    let mut ruled_out = Vec::new();
    let mut missing = Vec::new();
    let mut open = false;
    for function in functions_of(RULES.iter()) {
        let own: Vec<&Rule> = RULES.iter().filter(|r| r.function() == function).collect();
        let refusals: Vec<_> = own.iter().map(|r| question.refusal(function, r.memory())).collect();
        let priced: Vec<&Price> = prices.iter().filter(|p| p.function == function).collect();
        let said = |why: String| Said { function: function.to_owned(), why };
        let chosen = choice.map(|i| &prices[i]).filter(|p| p.function == function);
        if let (true, Some(why)) = (refusals.iter().all(Option::is_some), &refusals[0]) {
            ruled_out.push(said(why.clone()));
        } else if let Some(first) = priced.first() {
            let late = || format!("{} takes {}: too long", first.parameters, first.time());
            ruled_out.extend(match (chosen, &refusals[0]) {
                (Some(_), Some(why)) => Some(said(format!("{}: {why}", own[0].parameters()))),
                (Some(_), _) if first.at > first_of(function) => {
                    Some(said(format!("{}, {}, {LATE}", own[0].parameters(), own[0].says)))
                }
                (Some(chosen), _) if chosen.at > first.at => Some(said(late())),
                (Some(_), _) => None,
                (None, _) if !first.fits(question) => Some(said(late())),
                (None, _) if choice.is_some_and(|i| prices[i].function.starts_with("pbkdf2")) => {
                    Some(said("OWASP names SHA-256 before it".to_owned()))
                }
                (None, _) => Some(said(second(function).to_owned())),
            });
        } else {
            let is_second = choice.is_some_and(|i| prices[i].at < first_of(function));
            let (is_known, why) = why_unpriced(function, question, &rows, is_second);
            open |= !is_known && !is_second;
            if is_known { &mut ruled_out } else { &mut missing }.push(said(why));
        }
    }
    let never = |(function, why): &(&str, &str)| {
        let [function, why] = [*function, *why].map(str::to_owned);
        Said { function, why }
    };
    ruled_out.extend(NEVER.iter().map(never));
    Advice {
        format_version: "1.0",
        kind: "passphrase-advice",
        cpu: record.host.cpu.name.clone(),
        started: record.started.clone(),
        asked: asked(question),
        within_ms: question.time_ns.map(|ns| ns / 1e6),
        secrets: choice.map(|i| secrets(&prices[i], record, question)).unwrap_or_default(),
        choice,
        set: choice.and(question.program()).map(|p| p.sets),
        prices,
        ruled_out,
        missing,
        open,
    }
}

fn first_of(function: &str) -> usize {
    RULES.iter().position(|r| r.function() == function).unwrap_or(usize::MAX)
}

/// What half a minute is too short for.
const LATE: &str = "not measured here: with --thorough";

/// Why what would do comes after the choice.
fn second(function: &str) -> &'static str {
    match function {
        "scrypt" => {
            "comes after Argon2id; by its definition its addresses depend on the passphrase (RFC 7914)"
        }
        "bcrypt" => "not memory-hard (4 KiB), reads 72 bytes of a passphrase at most",
        name if name.starts_with("pbkdf2") => {
            "not memory-hard: for those who need --fips algorithm"
        }
        _ => "",
    }
}

/// Whether a price would change nothing, and why there is none; `is_second` is what comes after the choice.
fn why_unpriced(
    function: &str,
    question: &Question,
    rows: &[&Measurement],
    is_second: bool,
) -> (bool, String) {
    let rows: Vec<_> =
        rows.iter().filter(|m| m.algorithm.split("-t").next() == Some(function)).collect();
    let is_of_all = question.libraries.is_empty()
        && question.only.as_ref().is_none_or(|only| only.libraries.is_empty());
    let is_late = RULES[first_of(function)].is_slow() && first_of(function) > 0;
    if rows.is_empty() && is_late && is_second {
        return (true, format!("{}; {LATE}", second(function)));
    }
    if rows.is_empty() {
        let which = if is_of_all { "" } else { ", of the libraries that may be used" };
        return (false, format!("not in this record{which}"));
    }
    if rows.iter().all(|m| m.state == State::Unsupported) {
        // The machine may lack what a library has.
        let mut reasons = rows.iter().filter_map(|m| m.reason.as_deref());
        return match reasons.find(|why| why.contains("MiB of memory")) {
            Some(why) => (false, clean(why)),
            None if is_of_all => (true, "no library here offers it".to_owned()),
            None => (true, "none of the libraries that may be used offers it".to_owned()),
        };
    }
    if let Some(most) = rows.iter().filter(|m| m.state == State::Measured).map(|m| m.size).max() {
        return (
            false,
            format!("measured with {} at most, below every published minimum", in_mib(most)),
        );
    }
    let known = rows.iter().filter(|m| m.state != State::Unsupported);
    let telling = known.min_by_key(|m| m.stopped == Some(Stopped::Screened));
    let reason = telling.and_then(|m| m.reason.clone());
    (false, reason.map_or_else(|| "not measured".to_owned(), |r| clean(&r)))
}

fn secrets(price: &Price, record: &Record, question: &Question) -> String {
    let is_it = |l: &&record::Leaks| l.is_of(&price.build, price.algorithm.name, question.tier);
    let judged = match record.leaks.iter().find(is_it).map(|l| l.verdict) {
        None => "not judged in this library (`ciphermark leaks` does)",
        Some(LeakVerdict::SameTrace) => {
            "judged here: same trace for every passphrase that was compared"
        }
        Some(LeakVerdict::NotJudged) => "not judged: nothing was found, and not all was followed",
        Some(LeakVerdict::MayDepend) => {
            "judged here: may depend on the passphrase, by taint only (`ciphermark leaks`)"
        }
        Some(LeakVerdict::Depends) => "judged here: depends on the passphrase",
    };
    let defined = match price.function {
        "argon2id" => {
            "by its definition addresses depend on the passphrase after half of the first pass; "
        }
        "scrypt" => "by its definition addresses depend on the passphrase; ",
        "bcrypt" => {
            "by its definition its tables are looked up by what depends on the passphrase; "
        }
        _ => "",
    };
    format!("{defined}{judged}")
}

fn asked(question: &Question) -> Vec<String> {
    let time = question.time_ns.map(|ns| format!("--time {}ms", ns / 1e6));
    let memory = question
        .memory
        .map(|m| format!("--memory {}", in_mib(m).replace(" MiB", "M").replace(" KiB", "K")));
    let fips = (question.fips != Fips::None).then(|| format!("--fips {}", question.fips));
    let only = question.only.as_ref().map(|only| format!("--only {}: {}", only.typed, only.says));
    [time, memory, fips, only].into_iter().flatten().collect()
}

// As text.

/// What measures what a record lacks.
const MEASURES: &str =
    "`ciphermark advise --for passphrase -o FILE` measures it here; with --thorough everything";
/// Most columns: the text is one screen.
const WIDTH: usize = 100;
/// Where rules are.
const SOURCES: &str = "RFC 9106 section 4; OWASP, Password Storage Cheat Sheet (recalled, compared with copies of 2025); NIST SP \
    800-132 section 5.2; RFC 7914. A call with four lanes does the same work, on one core in the same time as far as memory \
    allows: not measured.";
const ROWS: usize = 9;

/// The answer as text that ends with a line break; `origin` names the record, `all` is for everything.
pub fn render(
    advice: &Advice,
    origin: &str,
    format: Format,
    all: bool,
    options: Options,
) -> String {
    if format == Format::Json {
        return record::pretty(advice);
    }
    let color = options.color && format == Format::Text;
    let options = Options { width: options.width.min(WIDTH), color };
    let mut page = Page::new(options);
    page.line("", "A key from a passphrase", HEADING);
    let day = advice.started.get(..10).unwrap_or(&advice.started);
    page.line("from", &format!("{origin} {day} on {}", advice.cpu), PLAIN);
    page.line("asked", &advice.asked.join(", "), PLAIN);
    page.gap();
    match advice.choice.map(|i| &advice.prices[i]) {
        Some(price) => chosen(&mut page, advice, price),
        None if advice.missing.is_empty() => {
            page.line(
                "choice",
                "none: nothing that fulfils a published rule does what is asked",
                CAUTION,
            );
        }
        None => page.line("choice", "none: what could be chosen has no price", CAUTION),
    }
    for (i, said) in advice.missing.iter().enumerate() {
        let topic = if advice.open && i == 0 { "OPEN" } else { "no price" };
        page.line(topic, &format!("{}: {}", said.function, said.why), CAUTION);
    }
    if !advice.missing.is_empty() {
        page.line("", MEASURES, PLAIN);
    }
    for (i, said) in advice.ruled_out.iter().filter(|s| !s.why.is_empty()).enumerate() {
        page.line(
            if i == 0 { "not" } else { "" },
            &format!("{}: {}", said.function, said.why),
            PLAIN,
        );
    }
    if !advice.prices.is_empty() {
        page.heading("What a time buys");
        let table = table(advice, if all { usize::MAX } else { ROWS });
        page.out += &match format {
            Format::Markdown => format!("```\n\n{}\n```text\n", table.markdown()),
            _ => table.text(options),
        };
        page.line("", NOTE, PLAIN);
    }
    if all {
        page.heading("Published parameters, in the order of choice");
        for rule in &RULES {
            let text = format!("{}: {}: {}", rule.function(), rule.parameters(), rule.says);
            page.line("", &text, PLAIN);
        }
        page.line("sources", SOURCES, PLAIN);
    }
    // Text in Markdown is as it is, but for the table.
    if format == Format::Markdown { format!("```text\n{}```\n", page.out) } else { page.out }
}

const NOTE: &str = "Times of one call in one thread, with 95 % intervals: measured, where = stands computed in proportion to \
    iterations, rounds or passes from fewer. What a time buys is computed from the interval's upper end: passes of Argon2 in \
    proportion, N and cost by doubling. !: below the rule. Other libraries were not measured.";

fn chosen(page: &mut Page, advice: &Advice, price: &Price) {
    let asked = price.buys.iter().find(|b| Some(b.within_ms) == advice.within_ms);
    let bought = asked.and_then(|b| Some((b.parameters.as_ref()?, b.memory)));
    let (text, memory) = bought.unwrap_or((&price.parameters, price.memory));
    // What comes before it by the rules and has no price is named below.
    let (topic, style) = if advice.open { ("so far", CAUTION) } else { ("choice", BEST) };
    page.line(topic, &format!("{} with {text} in {}", price.function, price.library), style);
    let how = match (price.computed_from, price.computed_from_passes) {
        (Some(cost), _) => format!("computed from {}", price.algorithm.size_in_words(cost)),
        (None, Some(passes)) => format!("computed from {passes} passes"),
        (None, None) => "measured".to_owned(),
    };
    let time = match advice.within_ms.filter(|_| text != &price.parameters) {
        Some(ms) => {
            let from = &price.parameters;
            // More memory may take more than its share of the time.
            let grows = if price.function == "scrypt" { " if it grows as N does" } else { "" };
            format!("{} at most{grows}, computed from {} with {from}", in_time(ms), price.time())
        }
        None => price.time(),
    };
    let memory = in_mib(memory);
    page.line("a call", &format!("{time} ({how}); {memory} by definition"), PLAIN);
    let rule = &RULES[price.at];
    page.line("rule", &format!("{}: {}", rule.parameters(), rule.says), PLAIN);
    if let Some(set) = advice.set {
        page.line("set by", set, PLAIN);
    }
    let same =
        |p: &&Price| p.at == price.at && p.build != price.build && beside(p.ns, price.ns).is_same();
    let ties: Vec<&str> = advice.prices.iter().filter(same).map(|p| p.library.as_str()).collect();
    if !ties.is_empty() {
        page.line("beside", &format!("the same within 5 %: {}", ties.join(", ")), PLAIN);
    }
    page.line("secrets", &advice.secrets, PLAIN);
    page.line(
        "respect",
        "a new random salt of 16 bytes for each passphrase, kept with function and parameters",
        PLAIN,
    );
}

/// `500 ms`, `2 s`
fn in_time(ms: f64) -> String {
    if ms < 1000.0 { format!("{ms} ms") } else { format!("{} s", ms / 1000.0) }
}

fn table(advice: &Advice, most: usize) -> Table {
    let mut columns = vec![
        Column::left("function"),
        Column::left("library"),
        Column::left("parameters"),
        Column::right("a call"),
    ];
    let times = advice.prices.first().map(|p| &p.buys[..]).unwrap_or_default();
    columns.extend(times.iter().map(|b| Column::named(in_time(b.within_ms), Align::Right)));
    let row = |p: &Price| {
        let is_computed = p.computed_from.or(p.computed_from_passes).is_some();
        let computed = if is_computed { "= " } else { "" };
        let first = [
            p.function.to_owned(),
            p.library.clone(),
            p.parameters.replace(", p=1", "").replace(" iterations", ""),
            format!("{computed}{}", p.time()),
        ];
        let bought = p.buys.iter().map(|b| match &b.parameters {
            None => "none".to_owned(),
            Some(text) => {
                let short = text.split(',').next().filter(|_| text.contains('=')).unwrap_or(text);
                format!(
                    "{}{}",
                    short.trim_end_matches(" iterations"),
                    if b.enough { "" } else { " !" }
                )
            }
        });
        first.into_iter().chain(bought).map(Cell::plain).collect()
    };
    Table::new(columns, advice.prices.iter().take(most).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        let (fips, tier) = (Fips::None, Tier::Native);
        Question { time_ns: None, memory: None, fips, only: None, libraries: Vec::new(), tier }
    }

    /// Rows: algorithm, cost, library and milliseconds; none where it was not measured.
    fn record(rows: &[(&str, usize, &str, Option<f64>)]) -> Record {
        let mut record = crate::sample::committed();
        let model = record.measurements[0].clone();
        let row = |(algorithm, cost, library, ms): &(&str, usize, &str, Option<f64>)| {
            let mut m =
                Measurement { algorithm: (*algorithm).to_owned(), size: *cost, ..model.clone() };
            (m.model, m.threads, m.tier, m.contended) = (Model::Message, 1, Tier::Native, false);
            m.library.name = (*library).to_owned();
            m.state = if ms.is_some() { State::Measured } else { State::Unsupported };
            m.ns_per_op =
                ms.map(|ms| Estimate { median: ms * 1e6, low: ms * 0.99e6, high: ms * 1.01e6 });
            m
        };
        record.measurements = rows.iter().map(row).collect();
        record.leaks.clear();
        record
    }

    fn everything() -> Record {
        record(&[
            ("argon2id-t3", 64 << 20, "slow", Some(200.0)),
            ("argon2id-t3", 64 << 20, "fast", Some(100.0)),
            ("argon2id-t2", 19 << 20, "fast", Some(20.0)),
            ("scrypt", 128 << 20, "fast", Some(400.0)),
            ("bcrypt", 64, "fast", Some(3.0)),
            ("pbkdf2-sha256", 10_000, "fast", Some(2.0)),
            ("pbkdf2-sha512", 10_000, "fast", Some(4.0)),
        ])
    }

    fn choice(question: &Question, record: &Record) -> Option<(String, String)> {
        let advice = advise(question, record);
        advice
            .choice
            .map(|i| (advice.prices[i].parameters.clone(), advice.prices[i].library.clone()))
            .map(|(p, l)| (p, l.split('@').next().unwrap().to_owned()))
    }

    fn of(text: &str, library: &str) -> Option<(String, String)> {
        Some((text.to_owned(), library.to_owned()))
    }

    #[test]
    fn the_rfcs_option_is_chosen_in_the_fastest_library() {
        assert_eq!(choice(&question(), &everything()), of("t=3, m=64 MiB, p=1", "fast"));
        let advice = advise(&question(), &everything());
        let buys = |i: usize| {
            advice.prices[i].buys.iter().map(|b| b.parameters.clone().unwrap()).collect::<Vec<_>>()
        };
        // 101 ms at the upper end: 100 ms buy two passes, which is less than the rule.
        assert_eq!(buys(0), ["t=2, m=64 MiB, p=1", "t=14, m=64 MiB, p=1", "t=29, m=64 MiB, p=1"]);
        assert_eq!(
            advice.prices[0].buys.iter().map(|b| b.enough).collect::<Vec<_>>(),
            [false, true, true]
        );
        let pbkdf2 = advice.prices.iter().find(|p| p.function == "pbkdf2-sha256").unwrap();
        assert_eq!((pbkdf2.ns.median, pbkdf2.computed_from), (120e6, Some(10_000)));
        assert_eq!(pbkdf2.buys[1].parameters.as_deref(), Some("2,475,000 iterations"));
        let text = render(&advice, "record x", Format::Text, false, Options::default());
        assert!(
            text.lines().count() <= 40 && text.lines().all(|l| base::text::width(l) <= 100),
            "{text}"
        );
    }

    #[test]
    fn each_build_has_its_price_and_a_rule_is_named_with_its_own_parameters() {
        let mut two = record(&[
            ("pbkdf2-sha256", 600_000, "openssl", Some(540.0)),
            ("pbkdf2-sha256", 600_000, "openssl", Some(180.0)),
        ]);
        two.measurements[1].library.path = "/opt/libcrypto.so".to_owned();
        let depends = crate::sample::leaks(
            two.measurements[0].library.clone(),
            "pbkdf2-sha256",
            LeakVerdict::Depends,
        );
        two.leaks.push(depends);
        let only = Some(only("pbkdf2-sha256").unwrap());
        let soon = Question { time_ns: Some(500e6), only, ..question() };
        let advice = advise(&soon, &two);
        assert_eq!(advice.choice.map(|i| advice.prices[i].ns.median), Some(180e6));
        assert!(advice.secrets.starts_with("not judged in this library"), "{}", advice.secrets);
        for sizes in [[64, 128], [128, 64]] {
            let rows = sizes.map(|mib| ("argon2id-t3", mib << 20, "fast", Some(mib as f64)));
            let of = of("t=3, m=64 MiB, p=1", "fast");
            assert_eq!(choice(&question(), &record(&rows)), of);
        }
        let more = record(&[("argon2id-t3", 128 << 20, "fast", Some(128.0))]);
        let text =
            render(&advise(&question(), &more), "r", Format::Text, false, Options::default());
        assert!(text.contains("rule        t=3, m=64 MiB, p=1: RFC 9106"), "{text}");
    }

    #[test]
    fn fips_leaves_pbkdf2_and_memory_or_time_that_is_short_rule_out() {
        let fips = Question { fips: Fips::Algorithm, ..question() };
        assert_eq!(choice(&fips, &everything()), of("600,000 iterations", "fast"));
        assert!(wanted(&fips, true).iter().all(|w| w.algorithm.starts_with("pbkdf2")));
        let small = Question { memory: Some(32 << 20), ..question() };
        assert_eq!(choice(&small, &everything()), of("t=2, m=19 MiB, p=1", "fast"));
        let tiny = Question { memory: Some(1 << 20), ..question() };
        assert_eq!(choice(&tiny, &everything()), of("cost 10", "fast"));
        let out = advise(&tiny, &everything()).ruled_out;
        assert!(out[0].why.contains("more than the 1 MiB of --memory"), "{out:?}");
        let soon = Question { time_ns: Some(50e6), ..question() };
        assert_eq!(choice(&soon, &everything()), of("t=2, m=19 MiB, p=1", "fast"));
        assert_eq!(choice(&Question { time_ns: Some(1e6), ..question() }, &everything()), None);
    }

    #[test]
    fn a_function_without_a_price_is_never_chosen_and_the_answer_says_what_measures_it() {
        let mut rows = everything();
        rows.measurements.retain(|m| !m.algorithm.starts_with("argon2"));
        let advice = advise(&question(), &rows);
        assert_eq!(advice.prices[advice.choice.unwrap()].function, "scrypt");
        assert!(advice.open && advice.missing[0].function == "argon2id", "{:?}", advice.missing);
        let text = render(&advice, "record x", Format::Text, false, Options::default());
        assert!(text.contains("ciphermark advise --for passphrase -o FILE"), "{text}");
        // What no library has is not missing.
        let advice = advise(&question(), &record(&[("argon2id-t3", 64 << 20, "fast", None)]));
        assert!(advice.choice.is_none() && advice.missing.iter().all(|m| m.function != "argon2id"));
        // Less memory than any rule wants gives no price, more than one rule's gives that rule's.
        let short = record(&[("argon2id-t3", 1 << 20, "fast", Some(1.0))]);
        assert!(advise(&question(), &short).missing[0].why.contains("with 1 MiB at most"));
        let sixteen = record(&[("argon2id-t3", 16 << 20, "fast", Some(30.0))]);
        assert_eq!(choice(&question(), &sixteen), of("t=3, m=16 MiB, p=1", "fast"));
    }

    #[test]
    fn a_function_that_was_named_and_not_measured_leaves_the_answer_open() {
        let named = Question { only: Some(only("scrypt,bcrypt").unwrap()), ..question() };
        let measured: Vec<&str> = wanted(&named, false).iter().map(|w| w.algorithm).collect();
        assert_eq!(measured, ["scrypt", "bcrypt"]);
        let mut rows = everything();
        rows.measurements.retain(|m| m.algorithm != "bcrypt");
        let soon = Question { time_ns: Some(300e6), ..named.clone() };
        let advice = advise(&soon, &rows);
        assert!(advice.choice.is_none() && advice.open, "{:?}", advice.ruled_out);
        assert_eq!(advice.missing[0].function, "bcrypt");
        // What comes after the choice decides nothing.
        let advice = advise(&named, &rows);
        assert!(!advice.open && advice.missing.is_empty(), "{:?}", advice.missing);
    }

    #[test]
    fn a_function_that_lacked_memory_or_was_left_out_is_not_called_one_that_nobody_offers() {
        let mut rows = record(&[("argon2id-t3", 64 << 20, "fast", None)]);
        let why = |rows: &Record, question: &Question| {
            let advice = advise(question, rows);
            let mut all = advice.missing.iter().chain(&advice.ruled_out);
            all.find(|said| said.function == "argon2id").unwrap().why.clone()
        };
        assert_eq!(why(&rows, &question()), "no library here offers it");
        let libraries = vec![NameGlob::parse("fast").unwrap()];
        let asked = Question { libraries, ..question() };
        assert_eq!(why(&rows, &asked), "none of the libraries that may be used offers it");
        let reason = "64 MiB need 64 MiB of memory, and a worker may take 40 MiB";
        rows.measurements[0].reason = Some(reason.to_owned());
        assert_eq!(why(&rows, &question()), reason);
        assert!(advise(&question(), &rows).open);
    }

    #[test]
    fn every_verdict_on_the_passphrase_has_its_own_words() {
        let mut rows = everything();
        let advice = advise(&question(), &rows);
        let price = &advice.prices[advice.choice.unwrap()];
        let of = rows.measurements.iter().find(|m| m.library.label() == price.library).unwrap();
        let mut leaks =
            crate::sample::leaks(of.library.clone(), price.algorithm.name, LeakVerdict::MayDepend);
        leaks.tier = Tier::Native;
        rows.leaks = vec![leaks];
        let mut words = Vec::new();
        for verdict in [
            LeakVerdict::SameTrace,
            LeakVerdict::NotJudged,
            LeakVerdict::MayDepend,
            LeakVerdict::Depends,
        ] {
            rows.leaks[0].verdict = verdict;
            words.push(advise(&question(), &rows).secrets);
        }
        assert!(words[2].contains("may depend on the passphrase, by taint only"), "{words:?}");
        words.dedup();
        assert_eq!(words.len(), 4, "{words:?}");
    }

    #[test]
    fn what_more_memory_takes_is_no_bound() {
        let scrypt = Question {
            time_ns: Some(2e9),
            only: Some(only("scrypt,pbkdf2-sha256").unwrap()),
            ..question()
        };
        let call = |rows: &[(&str, usize, &str, Option<f64>)]| {
            let advice = advise(&scrypt, &record(rows));
            let text = render(&advice, "record x", Format::Text, false, Options::default());
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let text = call(&[("scrypt", 128 << 20, "fast", Some(400.0))]);
        assert!(text.contains("2 s at most if it grows as N does, computed from 400 ms"), "{text}");
        assert!(
            text.contains("scrypt with N=2^19") && text.contains("512 MiB by definition"),
            "{text}"
        );
        let text = call(&[("pbkdf2-sha256", 10_000, "fast", Some(2.0))]);
        assert!(text.contains("2 s at most, computed from 120 ms"), "{text}");
    }

    #[test]
    fn more_time_never_buys_less_and_no_more_memory_than_the_machine_gives() {
        let rows =
            [("scrypt", 128 << 20, "fast", Some(100.0)), ("bcrypt", 1 << 10, "fast", Some(20.0))];
        let mut rows = record(&rows);
        rows.host.memory.total_bytes = 3 << 30;
        let functions = Some(only("scrypt,bcrypt").unwrap());
        let long = Question { time_ns: Some(60e9), only: functions, ..question() };
        let advice = advise(&long, &rows);
        let last = |i: usize| advice.prices[i].buys.last().unwrap();
        assert_eq!(last(0).parameters.as_deref(), Some("N=2^20, r=8, p=1"));
        assert_eq!(last(0).memory, 1 << 30);
        assert_eq!(last(1).parameters.as_deref(), Some("cost 21"));
    }

    #[test]
    fn a_program_gets_parameters_that_it_takes_or_is_said_to_take_none() {
        // cryptsetup: "Forced iteration count is too low for argon2id (minimum is 4)."
        let rows = record(&[("argon2id-t3", 64 << 20, "libgcrypt", Some(90.0))]);
        let luks = Question { only: Some(only("luks").unwrap()), ..question() };
        assert_eq!(choice(&luks, &rows), of("t=4, m=64 MiB, p=1", "libgcrypt"));
        let advice = advise(&luks, &rows);
        let price = &advice.prices[0];
        assert_eq!((price.ns.median, price.computed_from_passes), (120e6, Some(3)));
        assert_eq!(price.buys[0].parameters, None, "three passes, which it refuses");
        assert_eq!(price.buys[1].parameters.as_deref(), Some("t=16, m=64 MiB, p=1"));
        let text = render(&advice, "record x", Format::Text, false, Options::default());
        assert!(text.contains("computed from 3 passes") && text.contains("pbkdf-force"), "{text}");
        let soon = Question { time_ns: Some(100e6), ..luks };
        assert_eq!(choice(&soon, &rows), None, "four passes take longer");
        for program in ["age", "borg", "restic"] {
            let asked = Question { only: Some(only(program).unwrap()), ..question() };
            let set = advise(&asked, &everything()).set.unwrap();
            assert!(set.contains("takes no parameters"), "{set}");
        }
        assert_eq!(advise(&question(), &everything()).set, None);
    }

    #[test]
    fn programs_have_their_functions_and_a_wrong_name_is_told() {
        let restic = Question { only: Some(only("restic").unwrap()), ..question() };
        assert_eq!(choice(&restic, &everything()), of("N=2^17, r=8, p=1", "fast"));
        let luks = Question { only: Some(only("luks").unwrap()), ..question() };
        assert_eq!(choice(&luks, &everything()), None, "in its libraries only");
        assert!(only("scrypt,pbkdf2-*").is_ok());
        assert!(only("rot13").unwrap_err().contains("neither a program"));
    }
}
