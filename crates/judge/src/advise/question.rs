//! What is asked, the measurements that it is answered from, and whether those still describe what is here.

use crate::advise::cost::Price;
use crate::advise::data::{Data, Use};
use crate::compare::SYSTEM;
use base::model::{Model, NameGlob, Tier};
use clap::ValueEnum;
use jiff::civil::Date;
use record::at_rest::PagesRecord;
use record::{LeakVerdict, Leaks, LibraryId, Record, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::{Display, VariantNames};

/// A key that must be changed within a day is none to plan with: policy.
pub(crate) const LEAST_KEY_LIFE_DAYS: f64 = 1.0;

/// What of a change must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, ValueEnum, Display, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum IntegrityLevel {
    /// Nothing.
    None,
    /// Accidents: bit rot, torn writes.
    Accident,
    /// What someone does who wants it unnoticed.
    Adversary,
    /// That, and an old state put back.
    Rollback,
}

/// What must be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, ValueEnum, Display, VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Fips {
    /// Nothing.
    None,
    /// The algorithm.
    Algorithm,
    /// The module, by its certificate.
    Validated,
}

/// What nonces are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum NonceSource {
    /// File and number of the unit.
    Position,
    /// A counter that survives crashes.
    Counter,
    /// A field that is new at each start of each writer, and a counter from zero.
    Start,
    /// Random numbers, kept with the unit.
    Random,
}

/// What has a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum KeyPer {
    /// One key for all units, or `--keys`.
    Store,
    /// A key derived for each epoch; its number is kept with each unit.
    Epoch,
    /// A new key whenever a unit is written.
    Write,
}

/// Schemes that may be chosen: a program's, or those of a list.
#[derive(Clone, Debug)]
pub struct Only {
    pub typed: String,
    /// Why nothing else may be, in a sentence.
    pub says: String,
    pub schemes: Vec<NameGlob>,
    /// Globs over libraries that a program can use; any where there is none.
    pub libraries: Vec<NameGlob>,
    /// Whether only the system's own packages count.
    of_system: bool,
}

impl Only {
    /// A program's schemes and libraries, or the schemes of a list of globs.
    ///
    /// # Errors
    /// In one line: a name that is neither, with the nearest that is one.
    pub fn named(data: &Data, text: &str) -> Result<Self, String> {
        if let Some(p) = data.programs.iter().find(|p| p.id == text) {
            let only = Self::of_program(text, &p.says, &p.schemes, &p.libraries)?;
            return Ok(Self { of_system: p.of_system, ..only });
        }
        let only = Self::of_list(text)?;
        let names = || data.schemes.iter().map(|s| s.id.as_str());
        if let Some(glob) = only.schemes.iter().find(|g| !names().any(|name| g.matches(name))) {
            let programs: Vec<&str> = data.programs.iter().map(|p| p.id.as_str()).collect();
            let known = programs.iter().copied().chain(names());
            let hint = base::model::suggestion(glob.text(), known);
            return Err(format!(
                "--only {}: neither a program nor a scheme{hint}; programs are {}",
                glob.text(),
                programs.join(", ")
            ));
        }
        Ok(only)
    }

    pub(crate) fn of_program(
        name: &str,
        says: &str,
        schemes: &[impl AsRef<str>],
        libraries: &[impl AsRef<str>],
    ) -> Result<Self, String> {
        Ok(Self {
            typed: name.to_owned(),
            says: format!("{name} {says}"),
            schemes: globs(schemes.iter().map(AsRef::as_ref))?,
            libraries: globs(libraries.iter().map(AsRef::as_ref))?,
            of_system: false,
        })
    }

    pub(crate) fn of_list(text: &str) -> Result<Self, String> {
        let schemes = globs(NameGlob::of_list(text))?;
        Ok(Self {
            says: format!("only {text}"),
            typed: text.to_owned(),
            schemes,
            libraries: Vec::new(),
            of_system: false,
        })
    }

    /// Whether the program can use a library, and the wished ones have it.
    pub(crate) fn takes(only: Option<&Self>, wished: &[NameGlob], library: &LibraryId) -> bool {
        let named = |g: &NameGlob| g.matches_library(&library.name, &library.version);
        let fits = |globs: &[NameGlob]| globs.is_empty() || globs.iter().any(named);
        let is_its = |only: &Self| !only.of_system || is_of_system(&library.path);
        fits(wished) && only.is_none_or(|only| fits(&only.libraries) && is_its(only))
    }
}

fn globs<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<NameGlob>, String> {
    texts.map(|text| NameGlob::parse(text).map_err(|e| e.to_string())).collect()
}

#[derive(Clone, Debug)]
pub struct Wishes {
    pub fips: Fips,
    /// Certificate of the module, which the asker vouches for.
    pub certificate: Option<String>,
    /// Most bytes that a unit may grow by; none where any number can be had.
    pub expansion: Option<u32>,
    pub integrity: IntegrityLevel,
    pub key_bits: u32,
    pub nonce: NonceSource,
    /// Whether copies of the store go on under the same key.
    pub snapshots: bool,
    pub key_per: KeyPer,
    /// Units written a second, by each writer.
    pub writes_per_second: f64,
    /// Instances that write under the same keys; none where it is assumed.
    pub writers: Option<u32>,
    /// What is assumed of them where copies go on; else there is one.
    pub assumed_writers: u32,
    /// Keys that these writes are spread over.
    pub keys: u32,
    /// Days that a key must last at least.
    pub key_life_days: f64,
    /// Most microseconds of the 99th percentile of one operation.
    pub max_p99_us: Option<f64>,
    /// Globs over libraries or `name@version`, all of them when empty.
    pub libraries: Vec<NameGlob>,
    /// Only libraries of the system's own packages.
    pub system_only: bool,
    /// What may be chosen, where that is not everything.
    pub only: Option<Only>,
    /// Whether nothing of anybody else runs on the core and its caches, so that what depends on the secret may be
    /// used.
    pub alone: bool,
}

impl Wishes {
    pub fn of(used: &Use) -> Self {
        Self {
            fips: Fips::None,
            certificate: None,
            expansion: used.expansion,
            integrity: used.integrity,
            key_bits: used.key_bits,
            nonce: used.nonce,
            snapshots: used.snapshots,
            key_per: KeyPer::Store,
            writes_per_second: used.writes_per_second,
            writers: None,
            assumed_writers: used.writers,
            keys: 1,
            key_life_days: LEAST_KEY_LIFE_DAYS,
            max_p99_us: None,
            libraries: Vec::new(),
            system_only: false,
            only: None,
            alone: false,
        }
    }

    pub fn takes(&self, library: &LibraryId) -> bool {
        let wanted = Only::takes(self.only.as_ref(), &self.libraries, library);
        wanted && (!self.system_only || is_of_system(&library.path))
    }

    /// Whether a price may be paid: in libraries that may be used, and not with the secret where others watch.
    pub(crate) fn takes_price(&self, price: &Price) -> bool {
        let leaks = price.leaks == Some(LeakVerdict::Depends);
        (self.alone || !leaks) && price.libraries.iter().all(|l| self.takes(l))
    }

    /// Whether it is known of a price that nothing gives the secret away to those who watch, if there are any.
    pub(crate) fn trusts(&self, price: &Price) -> bool {
        let is_judged = !matches!(price.leaks, None | Some(LeakVerdict::NotJudged));
        self.alone || is_judged
    }

    /// Instances whose writes count: a replica and a restored copy draw nonces too.
    pub(crate) fn writers(&self) -> u32 {
        self.writers.unwrap_or(if self.snapshots { self.assumed_writers } else { 1 })
    }

    /// What one key gets of the writes of all writers.
    pub(crate) fn writes_per_key(&self) -> f64 {
        self.writes_per_second * f64::from(self.writers()) / f64::from(self.keys.max(1))
    }
}

/// What comes with ciphermark lies elsewhere.
fn is_of_system(path: &str) -> bool {
    SYSTEM.iter().any(|p| path.starts_with(p)) && !path.contains("/ciphermark/")
}

/// A question: the use, the unit, what is wished, and which of that was typed rather than assumed.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    pub used: &'a Use,
    /// Bytes of the unit.
    pub size: usize,
    /// Which CPU instructions libraries may see.
    pub tier: Tier,
    /// Share of decryption in the cost that ranks, 0 to 1.
    pub reads: f64,
    pub wishes: Wishes,
    /// Flags that were typed, without dashes.
    pub typed: BTreeSet<&'static str>,
    pub key_born: Date,
}

impl<'a> Question<'a> {
    /// What is measured for it: as the use says, else messages, with a new key each where each write has a key of its own.
    pub fn model(&self) -> Model {
        let asked = match self.wishes.key_per {
            KeyPer::Store | KeyPer::Epoch => Model::Message,
            KeyPer::Write => Model::Rekey,
        };
        self.used.model.unwrap_or(asked)
    }

    /// The question that leaves everything to what is assumed.
    pub fn of(used: &'a Use, today: Date) -> Self {
        Self {
            used,
            size: used.size,
            tier: Tier::Native,
            reads: used.reads,
            wishes: Wishes::of(used),
            typed: BTreeSet::new(),
            key_born: today,
        }
    }
}

// What costs are taken from: a survey's record, or that of a page store.

#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    /// Of messages in a loop: the scheme's own work, warm.
    Survey(&'a Record),
    /// Of a store's pages: nonces, sums and cold caches included, reading and writing beside it.
    Pages(&'a PagesRecord),
}

impl<'a> Evidence<'a> {
    /// When the run began, RFC 3339.
    pub(crate) fn started(self) -> &'a str {
        match self {
            Self::Survey(record) => &record.started,
            Self::Pages(record) => &record.started,
        }
    }

    pub fn cpu(self) -> &'a record::Cpu {
        match self {
            Self::Survey(record) => &record.host.cpu,
            Self::Pages(record) => &record.host.cpu,
        }
    }

    /// What a reader of the answer must know of a store.
    pub(crate) fn store(self) -> Vec<String> {
        let Self::Pages(record) = self else { return Vec::new() };
        let store = &record.store;
        let mut lines = vec![format!(
            "{} {}, {} pages of {} bytes; {} encrypted, decrypted and equal, in every scheme that has a price",
            store.kind,
            store.name,
            store.pages,
            store.page_size,
            pages_proven(record)
        )];
        let rounds = record.timing.as_ref().map_or(0, |t| t.rounds);
        if rounds < ROUNDS_OF_INTERVALS {
            lines.push(format!("{rounds} rounds give no intervals: ties are not seen"));
        }
        lines.extend(repeats(record));
        lines
    }
}

/// How much of the store was encrypted and decrypted in each scheme and library that passed.
pub(crate) fn pages_proven(record: &PagesRecord) -> String {
    let good = record.verified.iter().filter(|v| v.state == State::Measured);
    let least = good.map(|v| v.pages).min().unwrap_or(0);
    match (record.store.kind.as_str(), least >= record.store.pages) {
        ("synthetic", _) => format!("{least} made-up pages"),
        (_, true) => "every page".to_owned(),
        _ => format!("{least} of its pages, drawn at random,"),
    }
}

/// Rounds from which on an interval of order statistics holds the median at 95 %.
const ROUNDS_OF_INTERVALS: u32 = 6;

/// Ways to make nonces that gave one twice for different pages of this store.
fn repeats(record: &PagesRecord) -> Vec<String> {
    let of = |row: &record::at_rest::NonceRow| {
        format!(
            "in {} states of it {} nonces made of {} came twice with different pages",
            record.nonces.states, row.repeated_different, row.rule
        )
    };
    let bad = |row: &&record::at_rest::NonceRow| row.repeated_different > 0;
    record.nonces.rules.iter().filter(bad).map(of).collect()
}

// Whether the record still describes what is here.

/// Days after which a record should be taken anew: by then libraries have had releases. Policy.
const MOST_DAYS: i32 = 90;

/// What is so on this machine on this day.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub today: Date,
    /// Kind of the CPU; none where it is not known.
    pub cpu: Option<String>,
    pub libraries: Vec<LibraryNow>,
    /// Verdicts on secrets that were found here, where the record has none.
    pub judged: Vec<Leaks>,
}

impl Surroundings {
    /// Nothing else is known, on this day.
    pub fn on(today: Date) -> Self {
        Self { today, cpu: None, libraries: Vec::new(), judged: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryNow {
    /// One file has several: `openssl` and its provider `openssl:fips`.
    pub name: String,
    pub path: String,
    /// What its content is called now; none where there is no such file.
    pub id: Option<String>,
}

/// Why the advice may no longer hold; empty where nothing speaks against it.
pub(crate) fn stale(
    evidence: Evidence<'_>,
    chosen: &[LibraryId],
    around: &Surroundings,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let taken = evidence.started().get(..10).and_then(|day| day.parse::<Date>().ok());
    let age = taken.and_then(|t| around.today.since(t).ok()).map(|span| span.get_days());
    if let Some(days) = age.filter(|days| *days > MOST_DAYS) {
        reasons.push(format!("the record is {days} days old"));
    }
    let then = evidence.cpu().kind();
    if let Some(cpu) = around.cpu.as_ref().filter(|cpu| **cpu != then) {
        reasons.push(format!("it was taken on '{then}', and this is '{cpu}'"));
    }
    for library in chosen {
        let now =
            around.libraries.iter().find(|l| l.path == library.path && l.name == library.name);
        match now.map(|l| &l.id) {
            Some(Some(id)) if *id != library.id => reasons.push(format!(
                "{} has changed since: it was {}, now it is {id}",
                library.path, library.id
            )),
            Some(None) => reasons.push(format!("there is no {} here", library.path)),
            _ => {}
        }
    }
    reasons
}

/// The day from which on the record is too old.
pub(crate) fn stale_from(evidence: Evidence<'_>) -> Option<Date> {
    let taken: Date = evidence.started().get(..10)?.parse().ok()?;
    taken.checked_add(jiff::Span::new().days(MOST_DAYS)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn what_distributions_install_is_told_from_what_lies_elsewhere() {
        assert!(is_of_system("/usr/lib/x86_64-linux-gnu/libcrypto.so.3"));
        assert!(!is_of_system("/usr/local/lib/libcrypto.so.3"));
        assert!(!is_of_system("/usr/lib/ciphermark/libs/openssl/libcrypto.so"));
        assert!(!is_of_system("/home/me/lib/libcrypto.so"));
    }

    #[test]
    fn age_machine_and_changed_files_make_advice_stale() {
        let record = crate::sample::committed();
        let day: Date = record.started[..10].parse().unwrap();
        let library = record.measurements[0].library.clone();
        let file = |id: &str| LibraryNow {
            name: library.name.clone(),
            path: library.path.clone(),
            id: Some(id.to_owned()),
        };
        let provider = LibraryNow { name: "a:provider".to_owned(), ..file("sha256:of another") };
        let mut around = Surroundings {
            cpu: Some(record.host.cpu.kind()),
            libraries: vec![provider, file(&library.id)],
            ..Surroundings::on(day)
        };
        let chosen = [library.clone()];
        assert_eq!(stale(Evidence::Survey(&record), &chosen, &around), Vec::<String>::new());
        around.today = stale_from(Evidence::Survey(&record)).unwrap();
        assert!(stale(Evidence::Survey(&record), &chosen, &around).is_empty());
        around.today = around.today.tomorrow().unwrap();
        assert_eq!(
            stale(Evidence::Survey(&record), &chosen, &around),
            ["the record is 91 days old"]
        );
        around.today = date(day.year(), day.month(), day.day());
        around.libraries = vec![file("build-id:beef")];
        around.cpu = Some("another".to_owned());
        let reasons = stale(Evidence::Survey(&record), &chosen, &around);
        assert!(reasons[0].contains("'another'") && reasons[1].contains("has changed since"));
        around.libraries[0].id = None;
        assert!(stale(Evidence::Survey(&record), &chosen, &around)[1].starts_with("there is no "));
    }
}
