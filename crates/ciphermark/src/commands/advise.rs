//! `ciphermark advise`: what to encrypt with, and why each other scheme lost. From a record, or from what is
//! measured for the question: all candidates are looked at, those that could be chosen are verified and
//! measured, and the rest is ruled out by how long it takes at the least.

use crate::commands::advise_passphrase::PassphraseArgs;
use crate::commands::advise_server::{PostgresArgs, TlsServerArgs};
use crate::commands::run::{claim_output, survey, watch_signals};
use crate::commands::watch::predicted::{self, Predicting};
use crate::commands::{TimeArgs, choose};
use crate::files::Kind;
use crate::screen::Bar;
use crate::{Exit, Failure, files, screen};
use base::model::{Algorithm, MAX_SIZE, NameGlob, Tier};
use base::text::flags::{parse_days, parse_micros, parse_share};
use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use engine::{
    Attached, Budget, Event, LeakSubject, LibraryChoice, Looks, Request, Screened, Secrets, Stop,
};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use judge::advise::{
    Advice, Data, Evidence, Fips, Format, IntegrityLevel, KeyPer, LibraryNow, NonceSource, Only,
    OpenWhy, Outcome, Question, Surroundings, Use, Wished,
};
use record::at_rest::PagesRecord;
use record::{LeakVerdict, Leaks, LibraryId, Record};
use report::ComparisonFormat;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `ciphermark advise`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark advise --for postgres                              measures what it needs, half a minute or so\n  \
    ciphermark advise run.json --for postgres --fips algorithm    nothing is measured anew\n  \
    ciphermark advise --for postgres --expansion 0 --integrity none\n  \
    ciphermark advise --for backup --only borg                    among what the program has\n  \
    ciphermark advise --for sqlite --library-version system --writes-per-second 500 --key-life 2y\n  \
    ciphermark advise run.json --for wal -t core2 --format markdown\n  \
    ciphermark advise --for postgres --from 'dbname=postgres'     what it would take of this server's CPU\n  \
    ciphermark advise mix.json --from calls.json                  what changes would save a watched program\n  \
    ciphermark advise tls.json --for tls-server --clients browser,java-8=5%\n  \
    ciphermark advise --for passphrase --time 500ms               function, parameters, library; what times buy\n  \
    ciphermark run --suite at-rest -o at-rest.json                a record for many questions\n\n\
    The answer names the scheme and library, what it costs, the limits to respect and the day by which\n\
    the key must be changed; with --why every scheme that was rejected with the rule that did it, and all\n\
    that would change the answer. Where no scheme fulfils all wishes, it names those that stand against each other\n\
    (exit code 1); where something that could be chosen was not measured, it names that (exit code 3). What is not\n\
    asked is assumed for the use, and said. docs/AT-REST.md has the rules.\n\n\
    For a TLS server the answer is a profile, a certificate and a stack, priced by a run of\n\
    `ciphermark tls handshake`; docs/TLS.md.\n\n\
    For a passphrase it is a function, its parameters by published rules, and a library; docs/AT-REST.md.")]
pub struct AdviseArgs {
    /// A record to answer from (`ciphermark run --suite at-rest -o FILE`; of a TLS server, `ciphermark tls
    /// handshake -o FILE`); without one, what is needed is measured.
    #[arg(value_name = "RECORD")]
    pub record: Option<PathBuf>,
    /// The same, as a flag.
    #[arg(long = "record", value_name = "FILE", conflicts_with = "record")]
    pub record_flag: Option<PathBuf>,
    /// What is encrypted.
    #[arg(
        long = "for",
        value_name = "USE",
        required = false,
        required_unless_present = "from",
        default_value_if("from", ArgPredicate::IsPresent, "program")
    )]
    pub used: UseArg,
    /// Bytes of the unit that is encrypted: a page, a chunk; 8K.
    #[arg(short, long, value_name = "BYTES")]
    pub size: Option<String>,
    /// What of a change must be noticed.
    #[arg(long, value_name = "LEVEL")]
    pub integrity: Option<IntegrityLevel>,
    /// Approved by NIST: the algorithm, or a validated module that computes it.
    #[arg(long, value_name = "LEVEL")]
    pub fips: Option<Fips>,
    /// Number of the validated module's certificate, which you vouch for; with --library.
    #[arg(long, value_name = "NUMBER", requires = "library")]
    pub certificate: Option<String>,
    /// Most bytes that each unit may grow by: room for nonce and tag.
    #[arg(long, value_name = "BYTES")]
    pub expansion: Option<u32>,
    /// Shortest key.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(..=256))]
    pub key_bits: Option<u32>,
    /// What nonces are made of.
    #[arg(long, value_name = "SOURCE")]
    pub nonce: Option<NonceSource>,
    /// Whether copies of the store (snapshots, replicas, restores) go on under the same key.
    #[arg(long, value_name = "YES|NO")]
    pub snapshots: Option<YesNo>,
    /// What has a key of its own: the store, an epoch, or every single write (model `rekey`).
    #[arg(long, value_name = "WHAT")]
    pub key_per: Option<KeyPer>,
    /// Units written a second, by each writer.
    #[arg(long, value_name = "N")]
    pub writes_per_second: Option<f64>,
    /// Instances that write under the same keys: a primary, its replicas, restored copies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub writers: Option<u32>,
    /// Keys that these writes are spread over, as with a key for each table.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keys: Option<u32>,
    /// How long a key must last: 90d, 2y.
    #[arg(long, value_name = "TIME", value_parser = parse_days, allow_hyphen_values = true)]
    pub key_life: Option<f64>,
    /// Day from which the key is in use; today if not given.
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub key_born: Option<jiff::civil::Date>,
    /// Share of decryption in the cost that ranks.
    #[arg(long, value_name = "PERCENT", value_parser = parse_share, allow_hyphen_values = true)]
    pub reads: Option<f64>,
    /// Most time of the 99th percentile of one operation: 20us.
    #[arg(long, value_name = "TIME", value_parser = parse_micros, allow_hyphen_values = true)]
    pub max_p99: Option<f64>,
    /// Only these libraries: a glob over names or name@version; NAME=PATH adds a file to what is
    /// measured; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Only libraries of the system's own packages, or any.
    #[arg(long, value_name = "WHICH")]
    pub library_version: Option<LibraryVersion>,
    /// Only what a program can encrypt with (age, borg, gocryptfs, luks, mariadb, pgcrypto, restic, sqlcipher), in the
    /// libraries that it can use; or only these schemes: globs with commas between.
    #[arg(long, value_name = "PROGRAM|SCHEMES")]
    pub only: Option<String>,
    /// Whether nobody else's code runs on the core, so that what depends on the secret may be used.
    #[arg(long, value_name = "YES|NO")]
    pub alone: Option<YesNo>,
    /// Which CPU instructions libraries may see.
    #[arg(short, long, value_name = "TIER", default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// Print everything: assumptions, all that is to be respected, every scheme with the rule that decided.
    #[arg(long)]
    pub why: bool,
    /// How to print it; Markdown and JSON have everything.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Keep what was measured in this file (JSON); with a record, that record with what it lacked.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Measure what the record lacks for this question, if it is of this machine, in its libraries; at a terminal this is
    /// done unasked, and takes half a minute at most.
    #[arg(long)]
    pub complete: bool,
    #[command(flatten)]
    pub time: TimeArgs,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub postgres: PostgresArgs,
    #[command(flatten)]
    pub tls: TlsServerArgs,
    #[command(flatten)]
    pub passphrase: PassphraseArgs,
}

impl AdviseArgs {
    pub fn path(&self) -> Option<&Path> {
        self.record.as_deref().or(self.record_flag.as_deref())
    }
}

/// `--for`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum UseArg {
    /// PostgreSQL's pages, 8 KiB.
    Postgres,
    /// A write-ahead log, in blocks of 8 KiB.
    Wal,
    /// Sectors of a disk, 4 KiB, with no room for anything else.
    Disk,
    /// SQLite's pages, 4 KiB.
    Sqlite,
    /// Objects, in chunks of 64 KiB.
    ObjectStore,
    /// Backup archives, in chunks of 64 KiB.
    Backup,
    /// Messages on a connection, 1 KiB.
    Messages,
    /// A TLS server: profile, certificate and stack.
    TlsServer,
    /// A key from a passphrase: function, parameters and library.
    Passphrase,
    /// A program that was watched: what changes would save it.
    Program,
}

/// `--snapshots`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}

/// `--library-version`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LibraryVersion {
    /// Those that the distribution's packages installed.
    System,
    /// Any.
    Any,
}

/// Answers from a record, or from what it measures for the question.
pub fn advise(args: &AdviseArgs) -> Result<Exit, Failure> {
    if matches!(args.used, UseArg::Passphrase) {
        return crate::commands::advise_passphrase::advise_passphrase(args);
    }
    if let Some(flag) = args.passphrase.typed() {
        return Err(Failure::usage(format!("{flag} is for --for passphrase only")));
    }
    if matches!(args.used, UseArg::Program) {
        return advise_program(args);
    }
    if matches!(args.used, UseArg::TlsServer) {
        return crate::commands::advise_server::advise_tls(args);
    }
    if let Some(flag) = args.tls.typed() {
        return Err(Failure::usage(format!("{flag} is for --for tls-server only")));
    }
    if let Some(from) = &args.postgres.from {
        return crate::commands::advise_server::predict(args, from);
    }
    let data = Data::built_in();
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut question = question(&data, args, today)?;
    let (kept, origin) = prices(&data, &mut question, args)?;
    let (evidence, mut around) = evidence(&kept, today);
    let is_kept = args.path().is_some();
    let stop = watch_signals()?.within(if is_kept { JUDGING } else { AT_THE_END });
    let advice = judged_first(args.quiet, &data, &question, evidence, &mut around, &stop, FOR_ONE)?;
    screen::print(|options| match args.format {
        Format::Text if !args.why => judge::advise::first_screen(&advice, &origin, options),
        format => judge::advise::render(&advice, &origin, format, options),
    })?;
    let is_missing = advice.open.iter().any(|o| o.kind == OpenWhy::Missing);
    Ok(match advice.outcome {
        _ if is_missing => Exit::SomeRefused,
        Outcome::None(conflict) if !conflict.not_asked.is_empty() => Exit::SomeRefused,
        Outcome::None(_) => Exit::Found,
        Outcome::Choice(_) => Exit::Done,
    })
}

/// What changes would save a watched program.
fn advise_program(args: &AdviseArgs) -> Result<Exit, Failure> {
    let from = args.postgres.from.as_deref().ok_or_else(|| {
        Failure::usage("--for program: name the file of `ciphermark watch -o FILE` with --from")
    })?;
    let Some(calls) = predicted::calls_at(from)? else {
        return Err(Failure::usage(format!(
            "--from '{from}' is no file of `ciphermark watch -o`; of a server say --for postgres"
        )));
    };
    let format = match args.format {
        Format::Text => ComparisonFormat::Text,
        Format::Json => ComparisonFormat::Json,
        Format::Markdown => ComparisonFormat::Markdown,
    };
    let predicting = Predicting {
        record: args.path(),
        libraries: &args.library,
        time: args.time.budget,
        ..Predicting::of(&calls, from, format)?
    };
    predicting.advise()
}

/// Time for verdicts on secrets that a record lacks and no earlier run left.
const JUDGING: Duration = Duration::from_secs(20);
/// The same where it was just measured, and judged on the way.
const AT_THE_END: Duration = Duration::from_secs(5);
/// What is judged side by side: the cheapest that are not.
const IN_LINE: usize = 4;
/// How much longer a choice waits for its verdict than the time that there is for all of them: none is made without one for
/// want of time.
pub(crate) const FOR_ONE: Duration = Duration::from_secs(60);

/// The answer, with what could be judged before `stop`: here, where the record's CPU and builds are. So much `longer` it waits
/// for the verdict on what it would choose.
pub(crate) fn judged_first(
    quiet: bool,
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &mut Surroundings,
    stop: &Stop,
    longer: Duration,
) -> Result<Advice, Failure> {
    let longer = stop.longer(longer);
    while !longer.is_over() && around.cpu.as_deref() == Some(evidence.cpu()) {
        let is_late = stop.is_over();
        let most = if is_late { 1 } else { IN_LINE };
        let pairs = judge::advise::unjudged(data, question, evidence, around, most);
        if is_late && judge::advise::is_judged(data, question, evidence, around) {
            break;
        }
        let until = if is_late { &longer } else { stop };
        let is_known =
            |v: &Leaks| around.judged.iter().any(|k| k.is_of(&v.library, &v.algorithm, v.tier));
        let judged = judge(quiet, &pairs, question.tier, until)?;
        let new: Vec<Leaks> = judged.into_iter().filter(|v| !is_known(v)).collect();
        // What was broken off for the time is judged again, alone.
        let is_broken_off = !is_late && stop.is_over();
        if new.is_empty() && !is_broken_off {
            break;
        }
        around.judged.extend(new);
    }
    Ok(judge::advise::advise(data, question, evidence, around))
}

/// Verdicts on algorithms in the builds that are still here.
pub(crate) fn judge(
    quiet: bool,
    pairs: &BTreeSet<(LibraryId, String)>,
    tier: Tier,
    stop: &Stop,
) -> Result<Vec<Leaks>, Failure> {
    let libraries = engine::at_tiers(&found_again(pairs.iter().map(|(l, _)| l))?, &[tier]);
    Ok(judge_in(&libraries, quiet, pairs, tier, stop))
}

/// The same in libraries that are loaded.
pub(crate) fn judge_in(
    libraries: &[Attached],
    quiet: bool,
    pairs: &BTreeSet<(LibraryId, String)>,
    tier: Tier,
    stop: &Stop,
) -> Vec<Leaks> {
    let subject = |(id, algorithm): &(LibraryId, String)| {
        let library = libraries.iter().position(|l| is_build(l, id))?;
        Some(LeakSubject { library, tier, algorithm: algorithm.clone() })
    };
    let subjects: Vec<LeakSubject> = pairs.iter().filter_map(subject).collect();
    let bar = Bar::new(quiet);
    let judged = engine::judge_leaks(libraries, &subjects, &Secrets::quick(), stop, &|done, of| {
        bar.show(Event::Stepping { done, of });
    });
    bar.finish();
    judged.leaks
}

/// The libraries that are now at the files of these builds: the same, or newer ones.
fn found_again<'a>(builds: impl Iterator<Item = &'a LibraryId>) -> Result<Vec<Attached>, Failure> {
    let named = builds.filter(|l| is_file(l));
    let named = named.map(|l| format!("{}={}", l.name, record::expanded(&l.path).display()));
    let named: Vec<String> = named.collect::<BTreeSet<_>>().into_iter().collect();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let named: Vec<LibraryChoice> = choose::libraries(&named)?.into_iter().collect();
    Ok(choose::discover(&named))
}

fn is_file(library: &LibraryId) -> bool {
    record::expanded(&library.path).is_file()
}

pub(crate) fn is_build(library: &Attached, id: &LibraryId) -> bool {
    let own = library.facts.identity();
    LibraryId { path: record::shown(&own.path), ..own } == *id
}

/// The record that was given, or one that is measured now, and what to call it.
pub(crate) fn prices(
    data: &Data,
    question: &mut Question<'_>,
    args: &AdviseArgs,
) -> Result<(Kind, String), Failure> {
    let Some(path) = args.path() else {
        let measured = measure(data, args, question)?;
        return Ok((Kind::Survey(Box::new(measured)), "measured now,".to_owned()));
    };
    let kept = files::load(path)?;
    let origin = record::shown(&format!("record {}", path.display()));
    let lacks = has_what_is_asked(&kept, question, args, path);
    let Kind::Survey(record) = kept else {
        no_output(args)?;
        return lacks.map(|()| (kept, origin));
    };
    knows_libraries(&record.libraries, &question.wishes.libraries, path)?;
    let is_wanted = args.complete || std::io::stdout().is_terminal();
    if !is_wanted && lacks.is_ok() {
        no_output(args)?;
        return Ok((Kind::Survey(record), origin));
    }
    match (lacks, builds_here(&record)?) {
        (lacks, Some(libraries)) if is_wanted => {
            let complete =
                completed_now(data, args, question, *record, &libraries, lacks.is_err())?;
            Ok((Kind::Survey(Box::new(complete)), origin))
        }
        (Err(lacks), Some(_)) => Err(Failure {
            message: format!(
                "{}; the same with --complete measures it here and now",
                lacks.message
            ),
            ..lacks
        }),
        (lacks, _) => {
            if args.complete && lacks.is_ok() {
                return Err(Failure::usage(format!(
                    "--complete: '{}' is of another machine, other circumstances, or builds that are not here",
                    path.display()
                )));
            }
            no_output(args)?;
            lacks.map(|()| (Kind::Survey(record), origin))
        }
    }
}

pub(crate) fn no_output(args: &AdviseArgs) -> Result<(), Failure> {
    match args.output {
        Some(_) => Err(Failure::usage(
            "-o keeps what is measured, and nothing is: leave it out, or add --complete",
        )),
        None => Ok(()),
    }
}

/// The record's own builds; none where it was not taken on this machine in these circumstances, or one is not here.
pub(crate) fn builds_here(record: &Record) -> Result<Option<Vec<Attached>>, Failure> {
    let here = host::facts(0);
    let then = &record.host;
    let differ = record::differing_circumstances(&then.circumstances, &here.circumstances);
    if here.cpu.name != then.cpu.name || !differ.is_empty() {
        return Ok(None);
    }
    let ids: Vec<LibraryId> = record.libraries.iter().map(record::Library::identity).collect();
    let found = found_again(ids.iter())?;
    if found.is_empty() {
        return Ok(None);
    }
    let own = |id: &LibraryId| found.iter().find(|l| is_build(l, id)).cloned();
    Ok(ids.iter().filter(|id| is_file(id)).map(own).collect())
}

/// A record with what it lacked for the question, which is measured now and nothing else.
fn completed_now(
    data: &Data,
    args: &AdviseArgs,
    question: &Question<'_>,
    mut record: Record,
    libraries: &[Attached],
    is_all: bool,
) -> Result<Record, Failure> {
    // Given back, with nothing in it, when the record is written.
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let libraries = engine::at_tiers(libraries, &[question.tier]);
    let measuring = Measuring { data, args, question, libraries, stop };
    let new = match is_all {
        true => Some(measuring.by_elimination()?),
        false => measuring.what_is_missing(&mut record)?,
    };
    if let Some(new) = new {
        record = with_rows(record, new);
    }
    keep(args, &record)?;
    Ok(record)
}

/// A record with the rows of a later one in the place of its own.
pub(crate) fn with_rows(mut record: Record, mut new: Record) -> Record {
    let case = |m: &record::Measurement| {
        let what = (m.library.clone(), m.algorithm.clone(), m.direction, m.size);
        (what, m.tier, m.model.name(), m.threads, m.footprint, m.in_place)
    };
    new.measurements.retain(|m| !m.is_left_out());
    let taken: Vec<_> = new.measurements.iter().map(case).collect();
    record.measurements.retain(|m| !taken.contains(&case(m)));
    let fit = |f: &record::Fit| (f.library.clone(), f.algorithm.clone(), f.direction, f.tier);
    let refitted: Vec<_> = new.fits.iter().map(fit).collect();
    record.fits.retain(|f| !refitted.contains(&fit(f)));
    for library in &mut new.libraries {
        let same = record.libraries.iter().find(|l| l.identity() == library.identity());
        library.calls.retain(|call| same.is_none_or(|own| !own.calls.contains(call)));
    }
    new.plan.algorithms.retain(|a| !record.plan.algorithms.contains(a));
    let sizes = &mut record.plan.sizes;
    sizes.append(&mut new.plan.sizes);
    sizes.sort_unstable();
    sizes.dedup();
    new.plan.tiers.retain(|t| !record.plan.tiers.contains(t));
    record.plan.tiers.append(&mut new.plan.tiers);
    beside(record, new)
}

/// What prices are taken from, and what is so on this machine.
pub(crate) fn evidence(kept: &Kind, today: Date) -> (Evidence<'_>, Surroundings) {
    let evidence = match kept {
        Kind::Survey(record) => Evidence::Survey(record),
        Kind::Pages(record) => Evidence::Pages(record),
        Kind::Advice(_) | Kind::Tls(_) => unreachable!("it has nothing that is asked"),
    };
    (evidence, surroundings(evidence, today))
}

pub(crate) fn question<'a>(
    data: &'a Data,
    args: &AdviseArgs,
    today: Date,
) -> Result<Question<'a>, Failure> {
    let mut question = Question::of(used(data, args.used), today);
    question.tier = args.tier;
    question.key_born = args.key_born.unwrap_or(today);
    if let Some(text) = &args.size {
        question.size = size(text)?;
    }
    wishes(&mut question, args)?;
    if let Some(text) = &args.only {
        question.wishes.only = Some(Only::named(data, text).map_err(Failure::usage)?);
        question.typed.insert("only");
    }
    Ok(question)
}

fn used(data: &Data, typed: UseArg) -> &Use {
    let value = typed.to_possible_value().expect("no use is hidden");
    data.find_use(value.get_name()).expect("every use that can be typed is in the data")
}

fn size(text: &str) -> Result<usize, Failure> {
    let sizes = base::model::parse_sizes(text).map_err(Failure::usage)?;
    match sizes[..] {
        [size] if size > 0 => Ok(size),
        [_] => Err(Failure::usage("--size 0: a unit has at least one byte")),
        _ => Err(Failure::usage(format!("--size {text}: one size, that of the unit"))),
    }
}

/// Sets a wish where it was typed, and remembers that it was.
fn set<T>(wish: &mut T, value: Option<T>, flag: &'static str, typed: &mut BTreeSet<&'static str>) {
    if let Some(value) = value {
        *wish = value;
        typed.insert(flag);
    }
}

fn wishes(question: &mut Question<'_>, args: &AdviseArgs) -> Result<(), Failure> {
    if let Some(rate) = args.writes_per_second.filter(|r| !(*r > 0.0 && r.is_finite())) {
        return Err(Failure::usage(format!("--writes-per-second {rate}: a number above 0")));
    }
    let libraries = libraries(args)?;
    let snapshots = args.snapshots.map(|typed| typed == YesNo::Yes);
    let system_only = args.library_version.map(|typed| typed == LibraryVersion::System);
    let Question { wishes, typed, reads, .. } = question;
    set(reads, args.reads, "reads", typed);
    set(&mut wishes.integrity, args.integrity, "integrity", typed);
    set(&mut wishes.fips, args.fips, "fips", typed);
    set(&mut wishes.certificate, args.certificate.clone().map(Some), "certificate", typed);
    set(&mut wishes.expansion, args.expansion.map(Some), "expansion", typed);
    set(&mut wishes.nonce, args.nonce, "nonce", typed);
    set(&mut wishes.snapshots, snapshots, "snapshots", typed);
    set(&mut wishes.key_bits, args.key_bits, "key-bits", typed);
    set(&mut wishes.key_per, args.key_per, "key-per", typed);
    set(&mut wishes.writes_per_second, args.writes_per_second, "writes-per-second", typed);
    set(&mut wishes.writers, args.writers.map(Some), "writers", typed);
    set(&mut wishes.keys, args.keys, "keys", typed);
    set(&mut wishes.key_life_days, args.key_life, "key-life", typed);
    set(&mut wishes.max_p99_us, args.max_p99.map(Some), "max-p99", typed);
    set(&mut wishes.libraries, libraries, "library", typed);
    set(&mut wishes.alone, args.alone.map(|typed| typed == YesNo::Yes), "alone", typed);
    set(&mut wishes.system_only, system_only, "library-version", typed);
    Ok(())
}

/// The libraries that were named. A file that was added is one of them, by its name.
fn libraries(args: &AdviseArgs) -> Result<Option<Vec<NameGlob>>, Failure> {
    let glob = |choice| match choice {
        LibraryChoice::Glob(glob) => Ok(glob),
        LibraryChoice::Path { name, .. } => NameGlob::parse(&name).map_err(Failure::usage),
    };
    let globs = choose::libraries(&args.library)?.into_iter().map(glob);
    let globs = globs.collect::<Result<Vec<_>, Failure>>()?;
    Ok((!globs.is_empty()).then_some(globs))
}

/// Says which part of the question the record cannot answer, and what would measure it. Pages of a
/// store are the unit where none was typed.
fn has_what_is_asked(
    kept: &Kind,
    question: &mut Question<'_>,
    args: &AdviseArgs,
    path: &Path,
) -> Result<(), Failure> {
    match kept {
        Kind::Survey(record) => survey_has(record, question, path),
        Kind::Pages(record) => {
            if args.size.is_none() {
                question.size = record.store.page_size;
            }
            pages_have(record, question, path)
        }
        Kind::Advice(_) => Err(Failure::usage(format!(
            "'{}' is advice already: `ciphermark report` shows it, a record answers anew",
            path.display()
        ))),
        Kind::Tls(_) => Err(Failure::usage(format!(
            "'{}' is a run of TLS, which has nothing of stored data: `ciphermark advise --for tls-server` asks it",
            path.display()
        ))),
    }
}

fn pages_have(record: &PagesRecord, question: &Question<'_>, path: &Path) -> Result<(), Failure> {
    let lacks = |what: String, how: String| {
        Err(Failure::usage(format!("'{}' {what}; {how}", path.display())))
    };
    if let Some(why) = record.withdrawn() {
        return Err(Failure::usage(format!("'{}': {why}", path.display())));
    }
    if let Some(profile) = &record.profile {
        return lacks(
            format!("was taken --as {}", base::text::one_line(&profile.name)),
            "advice is for schemes as good practice has them: take it without --as".to_owned(),
        );
    }
    let of_lsn = |s: &record::at_rest::SchemeFacts| {
        matches!(s.recipe.nonce, record::at_rest::scheme::NonceRule::Lsn(_))
    };
    if record.schemes.iter().any(of_lsn) {
        return lacks(
            "was taken with --nonce lsn".to_owned(),
            "advice is for schemes as good practice has them: take it without".to_owned(),
        );
    }
    if !question.used.storage {
        return lacks(
            "is of a store's pages".to_owned(),
            format!("--for {} needs `ciphermark run --suite at-rest -o FILE`", question.used.id),
        );
    }
    if record.tier != question.tier {
        let tier = question.tier;
        return lacks(
            format!("has no tier {tier}"),
            format!("`ciphermark pages … -t {tier}` takes it"),
        );
    }
    if record.store.page_size != question.size {
        return lacks(
            format!("has pages of {} bytes", record.store.page_size),
            format!("`ciphermark pages … --page-size {}` takes others", question.size),
        );
    }
    if record.timing.is_none() {
        let how = "`ciphermark pages …` without --media none takes them".to_owned();
        return lacks("has no times".to_owned(), how);
    }
    knows_libraries(&record.libraries, &question.wishes.libraries, path)
}

pub(crate) fn knows_libraries(
    libraries: &[record::Library],
    wanted: &[NameGlob],
    path: &Path,
) -> Result<(), Failure> {
    let known =
        |glob: &NameGlob| libraries.iter().any(|l| glob.matches_library(&l.name, &l.version));
    match wanted.iter().find(|g| !known(g)) {
        Some(glob) => Err(Failure::usage(format!(
            "'{}' has no library that matches '{1}'; -l '{1}' when it is taken adds it",
            path.display(),
            glob.text()
        ))),
        None => Ok(()),
    }
}

fn survey_has(record: &Record, question: &Question<'_>, path: &Path) -> Result<(), Failure> {
    let rows = &record.measurements;
    let (tier, size, model) = (question.tier, question.size, question.model());
    let lacks = |what: String, flag: String| {
        Err(Failure::usage(format!(
            "'{}' has no {what}; `ciphermark run --suite at-rest {flag} -o FILE` takes it",
            path.display()
        )))
    };
    if !rows.iter().any(|m| m.tier == tier) {
        return lacks(format!("tier {tier}"), format!("-t {tier}"));
    }
    if !rows.iter().any(|m| m.model == model) {
        return lacks(format!("model {model}"), format!("-m {model}"));
    }
    if !(rows.iter().any(|m| m.size <= size) && rows.iter().any(|m| m.size >= size)) {
        return lacks(
            format!("size of {size} bytes, or on both sides of it"),
            format!("-s {size}"),
        );
    }
    knows_libraries(&record.libraries, &question.wishes.libraries, path)?;
    let timed = rows.iter().any(|m| m.latency_ns.as_ref().is_some_and(|l| l.p99.is_some()));
    if question.wishes.max_p99_us.is_some() && !timed {
        return lacks("latencies of single operations".to_owned(), "--latency".to_owned());
    }
    Ok(())
}

pub(crate) fn surroundings(evidence: Evidence<'_>, today: Date) -> Surroundings {
    let cpu = host::facts(0).cpu.name;
    let libraries: &[record::Library] = match evidence {
        // The builds of another machine are not looked for here.
        _ if evidence.cpu() != cpu => &[],
        Evidence::Survey(record) => &record.libraries,
        Evidence::Pages(record) => &record.libraries,
    };
    let mut sorted: Vec<&record::Library> = libraries.iter().collect();
    sorted.sort_by_key(|l| &l.path);
    sorted.dedup_by_key(|l| &l.path);
    let now = |l: &&record::Library| LibraryNow { path: l.path.clone(), id: host::id_now(l).ok() };
    let is_file = |l: &&&record::Library| {
        !base::model::runs_elsewhere(Path::new(&l.path)) && !l.path.is_empty()
    };
    let files = sorted.iter().filter(is_file);
    let libraries = files.map(now).collect();
    Surroundings { today, cpu: Some(cpu), libraries, judged: Vec::new() }
}

/// Half-width of each case's interval when measuring on the spot: ties are decided by other things.
const PRECISION: f64 = 0.02;

/// Time of sampling of a thorough answer.
const THOROUGH: Duration = Duration::from_secs(20);

/// The share of what is left of the time that a look at everything may take, verdicts on what seems cheapest then, and
/// measuring what they leave.
const LOOK: f64 = 0.5;
const JUDGE: f64 = 0.4;
const MEASURE: f64 = 0.7;
/// How many times as much as the cheapest one what is measured first seems to take at the most: a few, so that there is an
/// answer. What may be cheaper than that is measured then.
const FIRST: f64 = 1.25;
/// Times that it is measured at most, and the time below which it is not worth it.
const ROUNDS: usize = 4;
const ENOUGH: Duration = Duration::from_secs(2);

/// What the answer and its neighbours need, in every library that may be used.
pub(crate) fn measure(
    data: &Data,
    args: &AdviseArgs,
    question: &Question<'_>,
) -> Result<Record, Failure> {
    measured_now(args, question.wishes.only.as_ref(), |libraries, stop| {
        let measuring = Measuring { data, args, question, libraries, stop: stop.clone() };
        match args.time.thorough {
            true => measuring.thoroughly(),
            false => measuring.by_elimination(),
        }
    })
}

/// What is measured for a question in the libraries that may be used, kept where that was asked for.
pub(crate) fn measured_now(
    args: &AdviseArgs,
    only: Option<&Only>,
    measure: impl FnOnce(Vec<Attached>, &Stop) -> Result<Record, Failure>,
) -> Result<Record, Failure> {
    // Given back, with nothing in it, when the record is written.
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let record = measure(engine::at_tiers(&attached(args, only)?, &[args.tier]), &stop)?;
    screen::say(args.quiet, stop.is_interrupted(), "interrupted; advice from what there is");
    keep(args, &record)?;
    Ok(record)
}

fn keep(args: &AdviseArgs, record: &Record) -> Result<(), Failure> {
    let path = args.output.as_deref();
    path.map_or(Ok(()), |path| record::save(record, path).map_err(Failure::not_done))
}

/// The libraries that were named, else those that the program can use, a language's among them.
fn attached(args: &AdviseArgs, only: Option<&Only>) -> Result<Vec<Attached>, Failure> {
    match only {
        Some(only) if args.library.is_empty() && !only.libraries.is_empty() => {
            let texts: Vec<String> =
                only.libraries.iter().map(|glob| glob.text().to_owned()).collect();
            choose::attached_of_those(&texts, args.quiet).map_err(|_| {
                Failure::not_done(format!(
                    "--only {}: {}; none of its libraries ({}) can be used here",
                    only.typed,
                    only.says,
                    texts.join(", ")
                ))
            })
        }
        _ => choose::attached(&args.library),
    }
}

/// What each library seems to take, in a share of the time. It is no figure: it says who is measured.
pub(crate) fn look(
    args: &AdviseArgs,
    request: &Request,
    libraries: &[Attached],
    stop: &Stop,
    share: f64,
) -> engine::Look {
    let left = stop.left().unwrap_or(request.budget.time);
    let bar = Bar::new(args.quiet);
    let stop = stop.within(left.mul_f64(share));
    let show = |event: Event<'_>| bar.show(event);
    let look = engine::screen(request, libraries, Looks::Ignored, &stop, &show);
    bar.finish();
    look
}

type Pairs = BTreeSet<(LibraryId, String)>;

struct Measuring<'a> {
    data: &'a Data,
    args: &'a AdviseArgs,
    question: &'a Question<'a>,
    libraries: Vec<Attached>,
    stop: Stop,
}

impl Measuring<'_> {
    /// All that fits, and what would with one wish changed.
    fn thoroughly(&self) -> Result<Record, Failure> {
        let mut algorithms = self.algorithms(Wished::Asked);
        algorithms.extend(self.algorithms(Wished::Changed));
        self.survey(&self.request(&algorithms), &self.stop)
    }

    /// What could be chosen, until nothing that could be is missing; then what could with one wish changed.
    fn by_elimination(&self) -> Result<Record, Failure> {
        let asked = self.algorithms(Wished::Asked);
        if asked.is_empty() {
            // Wishes that stand against each other: what there is without one of them.
            return self.round(&self.algorithms(Wished::Changed), None, Wished::Changed);
        }
        let mut record = self.round(&asked, None, Wished::Asked)?;
        if self.has_time() {
            record = self.with_line(record)?;
        }
        let more: BTreeSet<&'static str> =
            self.algorithms(Wished::Changed).difference(&asked).copied().collect();
        if !more.is_empty() && self.has_time() {
            record = self.round(&more, Some(record), Wished::Changed)?;
        }
        Ok(record)
    }

    /// What could be chosen and is not measured; none where that is nothing.
    fn what_is_missing(&self, record: &mut Record) -> Result<Option<Record>, Failure> {
        let wanted = self.missing(record)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let request = self.request(&self.algorithms(Wished::Asked));
        self.measured(&request, &Screened::default(), &wanted).map(Some)
    }

    fn has_time(&self) -> bool {
        !self.stop.is_over() && self.stop.left().is_none_or(|left| left >= ENOUGH)
    }

    /// Looks at these algorithms in all libraries and measures what could be chosen, beside what is known of others.
    fn round(
        &self,
        algorithms: &BTreeSet<&'static str>,
        known: Option<Record>,
        whose: Wished,
    ) -> Result<Record, Failure> {
        let request = Request { sizes: vec![self.question.size], ..self.request(algorithms) };
        let quick = Request { latency: false, ..request.clone() };
        let look = look(self.args, &quick, &self.libraries, &self.stop, LOOK);
        let mut bounds = match &known {
            Some(known) => beside(known.clone(), look.record),
            None => look.record,
        };
        let judged = bounds.leaks.len();
        let mut wanted = self.contenders(&mut bounds, &look.screened, whose);
        let mut record = self.measured(&request, &look.screened, &wanted)?;
        record.leaks.extend(bounds.leaks.split_off(judged));
        let mut done = Pairs::new();
        for _ in 1..ROUNDS {
            if whose != Wished::Asked || !self.has_time() {
                break;
            }
            done.append(&mut wanted);
            let mut missing = self.missing(&mut record)?;
            missing.retain(|pair| !done.contains(pair));
            if missing.is_empty() || !self.has_time() {
                break;
            }
            wanted = self.contenders(&mut record, &look.screened, whose);
            wanted.retain(|pair| missing.contains(pair));
            if wanted.is_empty() {
                wanted = missing;
            }
            let more = self.measured(&request, &look.screened, &wanted)?;
            record = completed(record, more);
        }
        Ok(match known {
            Some(known) => beside(known, record),
            None => record,
        })
    }

    /// What seems cheapest of what is not measured, and verdicts on it: what depends on a secret gives its place to the next.
    /// Once a cipher of a library does not, only what is in such libraries is worth it.
    fn contenders(&self, bounds: &mut Record, screened: &Screened, whose: Wished) -> Pairs {
        let Self { data, args, question, stop, .. } = self;
        let share =
            |share| stop.left().map_or(stop.clone(), |left| stop.within(left.mul_f64(share)));
        let (soon, late) = (share(JUDGE), share(MEASURE));
        let mut is_settled = question.wishes.alone;
        loop {
            let evidence = Evidence::Survey(bounds);
            let found = judge::advise::contenders(data, question, evidence, whose, FIRST);
            let leaks = &bounds.leaks;
            let is_fine = |(id, name): &&(LibraryId, &'static str)| {
                let mut own = leaks.iter().filter(|v| v.verdict == LeakVerdict::SameTrace);
                own.any(|v| v.is_of(id, cipher_of(name), question.tier))
            };
            let fine: BTreeSet<&LibraryId> = found.iter().filter(is_fine).map(|(l, _)| l).collect();
            let until = if fine.is_empty() { &late } else { &soon };
            if is_settled || until.is_over() {
                let is_worth = |id: &LibraryId| fine.is_empty() || fine.contains(id);
                let worth = found.iter().filter(|(id, _)| is_worth(id));
                return worth.map(|(id, name)| (id.clone(), (*name).to_owned())).collect();
            }
            let pairs = self.in_line(&found, leaks, screened);
            let judged = judge_in(&self.libraries, args.quiet, &pairs, question.tier, until);
            is_settled = !judged.iter().any(|v| v.verdict == LeakVerdict::Depends);
            let wholes: Vec<Leaks> = judged.iter().flat_map(|v| of_part(v, &found)).collect();
            bounds.leaks.extend(judged.into_iter().chain(wholes));
        }
    }

    /// What is judged next: of each library the cipher that seems cheapest, for what holds for one mode mostly holds for the
    /// others; of what has parts first its cipher.
    fn in_line(
        &self,
        found: &BTreeSet<(LibraryId, &'static str)>,
        leaks: &[Leaks],
        screened: &Screened,
    ) -> Pairs {
        let tier = self.question.tier;
        let mut open: BTreeMap<&LibraryId, (u64, &'static str)> = BTreeMap::new();
        for (id, name) in found {
            let is_known = |name: &str| leaks.iter().any(|v| v.is_of(id, name, tier));
            if is_known(name) || !encrypts(name) {
                continue;
            }
            let library = self.libraries.iter().position(|own| is_build(own, id));
            let least = library.and_then(|l| screened.both(l, name)).unwrap_or(u64::MAX);
            let cipher = cipher_of(name);
            let one = (least, if is_known(cipher) { *name } else { cipher });
            let best = open.entry(id).or_insert(one);
            *best = one.min(*best);
        }
        let mut open: Vec<_> =
            open.into_iter().map(|(id, (least, name))| (least, id, name)).collect();
        open.sort_unstable();
        let next = open.into_iter().take(IN_LINE);
        next.map(|(_, id, name)| (id.clone(), name.to_owned())).collect()
    }

    /// With what the choice takes at other sizes, and the line through them.
    fn with_line(&self, record: Record) -> Result<Record, Failure> {
        let Self { data, question, .. } = self;
        let evidence = Evidence::Survey(&record);
        let advice = judge::advise::advise(data, question, evidence, &around(&record));
        let Outcome::Choice(choice) = advice.outcome else { return Ok(record) };
        let price = &choice.price;
        let of = |l: &LibraryId| {
            Pairs::from_iter(price.algorithms.iter().map(|a| (l.clone(), a.clone())))
        };
        let pairs = price.libraries.iter().flat_map(of).collect();
        let named: Vec<&str> = price.algorithms.iter().map(String::as_str).collect();
        let algorithms = Algorithm::all().iter().map(|a| a.name).filter(|a| named.contains(a));
        let request = self.request(&algorithms.collect());
        let mut more = self.measured(&request, &Screened::default(), &pairs)?;
        more.measurements.retain(|m| m.size != question.size);
        Ok(with_rows(record, more))
    }

    /// Verifies and measures these, and nothing else.
    fn measured(
        &self,
        request: &Request,
        all: &Screened,
        wanted: &Pairs,
    ) -> Result<Record, Failure> {
        let key = |(l, a): &(LibraryId, String)| {
            let library = self.libraries.iter().position(|own| is_build(own, l))?;
            Some((library, Algorithm::find(a).ok()?.name))
        };
        let only = wanted.iter().filter_map(key).collect();
        let request = Request { screened: all.but(only), ..request.clone() };
        let left = self.stop.left();
        let stop = left.map_or(self.stop.clone(), |left| self.stop.within(left.mul_f64(MEASURE)));
        self.survey(&request, &stop)
    }

    fn survey(&self, request: &Request, stop: &Stop) -> Result<Record, Failure> {
        survey(self.args.quiet, request, &self.libraries, stop)
    }

    fn algorithms(&self, whose: Wished) -> BTreeSet<&'static str> {
        let needed = judge::advise::needed_schemes(self.data, self.question, whose);
        needed.iter().flat_map(|s| s.algorithms()).map(|a| a.name).collect()
    }

    fn request(&self, algorithms: &BTreeSet<&'static str>) -> Request {
        let (question, time) = (self.question, &self.args.time);
        let wanted = Algorithm::all().iter().filter(|a| algorithms.contains(a.name)).collect();
        let budget = Budget { precision: PRECISION, time: time.sampling(THOROUGH) };
        // Without evidence: secrets are judged when it is known whose.
        Request {
            models: vec![question.model()],
            sizes: sizes(question.size),
            tiers: vec![question.tier],
            latency: question.wishes.max_p99_us.is_some(),
            ..choose::plain_request(wanted, budget)
        }
    }

    /// What could still be chosen and was not measured, when what would be chosen is judged.
    fn missing(&self, record: &mut Record) -> Result<Pairs, Failure> {
        let mut around = around(record);
        let Self { data, args, question, stop, .. } = self;
        let evidence = Evidence::Survey(record);
        // Nothing is measured after the end.
        let no_longer = Duration::ZERO;
        let advice =
            judged_first(args.quiet, data, question, evidence, &mut around, stop, no_longer)?;
        record.leaks.append(&mut around.judged);
        if matches!(advice.outcome, Outcome::None(_)) {
            // What seemed cheapest was refused: the next in line, by the same bounds.
            let evidence = Evidence::Survey(record);
            let next = judge::advise::contenders(
                data,
                question,
                evidence,
                Wished::Asked,
                judge::advise::WORTH,
            );
            return Ok(next.into_iter().map(|(l, a)| (l, a.to_owned())).collect());
        }
        let missing = advice.open.into_iter().filter(|o| o.kind == OpenWhy::Missing);
        let pairs = missing.flat_map(|o| {
            let algorithms = o.algorithms;
            o.builds
                .into_iter()
                .flat_map(move |l| algorithms.clone().into_iter().map(move |a| (l.clone(), a)))
        });
        Ok(pairs.collect())
    }
}

fn encrypts(name: &str) -> bool {
    Algorithm::find(name).is_ok_and(Algorithm::encrypts)
}

/// The cipher of what has parts, else the algorithm itself.
fn cipher_of(name: &'static str) -> &'static str {
    let parts = Algorithm::find(name).ok().and_then(|a| a.composite);
    parts.map_or(name, |parts| parts.cipher)
}

/// What of these has this part, where it depends on the secret: they do, too.
fn of_part(part: &Leaks, found: &BTreeSet<(LibraryId, &'static str)>) -> Vec<Leaks> {
    let whole = |name: &str| Leaks {
        algorithm: name.to_owned(),
        reason: Some(format!("its part {} was judged", part.algorithm)),
        ..part.clone()
    };
    let depends = part.verdict == LeakVerdict::Depends;
    let has_part = |name| cipher_of(name) == part.algorithm && name != part.algorithm;
    let own = found.iter().filter(|(id, name)| depends && *id == part.library && has_part(name));
    own.map(|(_, name)| whole(name)).collect()
}

/// What is known of this machine while it is measured.
fn around(record: &Record) -> Surroundings {
    Surroundings {
        today: Date::default(),
        cpu: Some(record.host.cpu.name.clone()),
        libraries: Vec::new(),
        judged: Vec::new(),
    }
}

/// A record with what a later one of the same plan has measured.
fn completed(mut record: Record, later: Record) -> Record {
    for (row, new) in record.measurements.iter_mut().zip(&later.measurements) {
        if row.is_left_out() && !new.is_left_out() {
            *row = new.clone();
        }
    }
    record.fits.extend(later.fits);
    record
}

/// A record with another of the same libraries, of other algorithms.
fn beside(mut record: Record, mut other: Record) -> Record {
    record.plan.algorithms.append(&mut other.plan.algorithms);
    for library in &mut record.libraries {
        let same = other.libraries.iter_mut().find(|l| l.identity() == library.identity());
        library.calls.extend(same.into_iter().flat_map(|l| std::mem::take(&mut l.calls)));
    }
    record.measurements.append(&mut other.measurements);
    record.leaks.append(&mut other.leaks);
    record.fits.append(&mut other.fits);
    record
}

/// The unit's, and two more for the line through them, in whole blocks.
fn sizes(size: usize) -> Vec<usize> {
    let blocks = |n: usize| (n / 16).max(1) * 16;
    let all = BTreeSet::from([blocks(size / 16), size, blocks(size * 4).min(MAX_SIZE)]);
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_use_of_stored_data_that_can_be_typed_is_in_the_data_and_the_other_way_round() {
        let data = Data::built_in();
        let of_data = UseArg::value_variants()
            .iter()
            .filter(|u| !matches!(u, UseArg::TlsServer | UseArg::Passphrase | UseArg::Program));
        let typed: Vec<&str> = of_data.map(|u| used(&data, *u).id.as_str()).collect();
        let all: Vec<&str> = data.uses.iter().map(|u| u.id.as_str()).collect();
        assert_eq!(typed, all);
    }

    #[test]
    fn three_sizes_make_a_line_and_are_whole_blocks_beside_the_units_own() {
        assert_eq!(sizes(8192), [512, 8192, 32768]);
        assert_eq!(sizes(100), [16, 100, 400]);
        assert_eq!(sizes(MAX_SIZE), [MAX_SIZE / 16, MAX_SIZE]);
    }
}
