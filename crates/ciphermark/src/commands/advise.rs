//! `ciphermark advise`: what to encrypt with, and why each other scheme lost. From a record, or from what is
//! measured for the question: all candidates are looked at, those that could be chosen are verified and
//! measured, and the rest is ruled out by how long it takes at the least.

mod judging;
mod measuring;

pub(crate) use judging::{FOR_ONE, build_of, is_build, judge, judge_in, judged_first};
pub(crate) use measuring::{look, measured_now, with_rows};

use self::judging::{found_again, is_file};
use self::measuring::{Measuring, keep, measure};
use crate::commands::advise_passphrase::PassphraseArgs;
use crate::commands::advise_server::{PostgresArgs, TlsServerArgs};
use crate::commands::run::{claim_output, watch_signals};
use crate::commands::watch::predicted::{self, Predicting};
use crate::commands::{TimeArgs, choose};
use crate::files::Kind;
use crate::{Exit, Failure, files, screen};
use base::model::{NameGlob, Tier};
use base::text::flags::{parse_days, parse_micros, parse_share};
use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use engine::{Attached, LibraryChoice};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use judge::advise::{
    Advice, Data, Evidence, Fips, Format, IntegrityLevel, KeyPer, LibraryNow, NonceSource, Only,
    OpenWhy, Outcome, Question, Surroundings, Use,
};
use record::at_rest::PagesRecord;
use record::{LibraryId, Record};
use report::ComparisonFormat;
use std::collections::BTreeSet;
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
    /// MariaDB's pages, 16 KiB: among what it has, timed after other work with the key set anew for each.
    Mariadb,
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
    let is_watched = matches!(args.used, UseArg::Mariadb) && args.postgres.from.is_some();
    if is_watched || matches!(args.used, UseArg::Program) {
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
    let advice = answered(args, &data, &question, evidence, &mut around)?;
    screen::print(|options| match args.format {
        Format::Text if !args.why => judge::advise::first_screen(&advice, &origin, options),
        format => judge::advise::render(&advice, &origin, format, options),
    })?;
    Ok(exit_of(&advice))
}

/// The answer, with verdicts on the secrets of what it would choose.
pub(crate) fn answered(
    args: &AdviseArgs,
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &mut Surroundings,
) -> Result<Advice, Failure> {
    let is_kept = args.path().is_some();
    let stop = watch_signals()?.within(if is_kept { JUDGING } else { AT_THE_END });
    judged_first(args.quiet, data, question, evidence, around, &stop, FOR_ONE)
}

pub(crate) fn exit_of(advice: &Advice) -> Exit {
    let is_missing = advice.open.iter().any(|o| o.kind == OpenWhy::Missing);
    match &advice.outcome {
        _ if is_missing => Exit::SomeRefused,
        Outcome::None(conflict) if !conflict.not_asked.is_empty() => Exit::SomeRefused,
        Outcome::None(_) => Exit::Found,
        Outcome::Choice(_) => Exit::Done,
    }
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
    may_use_one_of(&record.libraries, question, path)?;
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
    if here.cpu.kind() != then.cpu.kind() || !differ.is_empty() {
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
    if let Some(text) = args.only.as_ref().or(question.used.program.as_ref()) {
        question.wishes.only = Some(Only::named(data, text).map_err(Failure::usage)?);
    }
    if args.only.is_some() {
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
    may_use_one_of(&record.libraries, question, path)
}

/// Whether a record has a library that may be chosen: without one no wish is to blame for an answer that is none.
fn may_use_one_of(
    libraries: &[record::Library],
    question: &Question<'_>,
    path: &Path,
) -> Result<(), Failure> {
    let wishes = &question.wishes;
    knows_libraries(libraries, &wishes.libraries, path)?;
    let mut usable = libraries.iter().filter(|l| l.error.is_none());
    if usable.any(|l| wishes.takes(&l.identity())) {
        return Ok(());
    }
    let texts = |globs: &[NameGlob]| globs.iter().map(NameGlob::text).collect::<Vec<_>>().join(",");
    let only = wishes.only.as_ref().map(|only| match &*only.libraries {
        [] => format!("--only {}", only.typed),
        its => format!("--only {} ({})", only.typed, texts(its)),
    });
    let named = (!wishes.libraries.is_empty()).then(|| format!("-l {}", texts(&wishes.libraries)));
    let system = wishes.system_only.then(|| "--library-version system".to_owned());
    let flags: Vec<String> = [only, named, system].into_iter().flatten().collect();
    let which = if flags.is_empty() {
        "that could be used".to_owned()
    } else {
        format!("for {}", flags.join(" and "))
    };
    Err(Failure::usage(format!(
        "'{}' has no library {which}; `ciphermark advise --for {}` without a record measures those that are here",
        path.display(),
        question.used.id
    )))
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
    let lies = question.used.footprint;
    if !rows.iter().any(|m| (m.model, m.footprint) == (model, lies)) {
        // What is read is hot wherever lies what is written.
        let (of, footprints) = match lies.is_hot() {
            true => (String::new(), String::new()),
            false => {
                (format!(" from {}", lies.name()), format!(" --footprint hot,{}", lies.name()))
            }
        };
        let flags = format!("-m {model}{footprints} -s {size}");
        return lacks(format!("model {model}{of}"), flags);
    }
    if !(rows.iter().any(|m| m.size <= size) && rows.iter().any(|m| m.size >= size)) {
        return lacks(
            format!("size of {size} bytes, or on both sides of it"),
            format!("-s {size}"),
        );
    }
    let timed = rows.iter().any(|m| m.latency_ns.as_ref().is_some_and(|l| l.p99.is_some()));
    if question.wishes.max_p99_us.is_some() && !timed {
        return lacks("latencies of single operations".to_owned(), "--latency".to_owned());
    }
    Ok(())
}

pub(crate) fn surroundings(evidence: Evidence<'_>, today: Date) -> Surroundings {
    let cpu = host::facts(0).cpu.kind();
    let libraries: &[record::Library] = match evidence {
        // The builds of another machine are not looked for here.
        _ if evidence.cpu().kind() != cpu => &[],
        Evidence::Survey(record) => &record.libraries,
        Evidence::Pages(record) => &record.libraries,
    };
    let now = |l: &record::Library| LibraryNow {
        name: l.name.clone(),
        path: l.path.clone(),
        id: host::id_now(l).ok(),
    };
    let is_file = |l: &&record::Library| {
        !base::model::runs_elsewhere(Path::new(&l.path)) && !l.path.is_empty()
    };
    let libraries = libraries.iter().filter(is_file).map(now).collect();
    Surroundings { today, cpu: Some(cpu), libraries, judged: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record of the command that is named answers the question.
    #[test]
    fn what_measures_a_page_that_is_written_from_memory_is_named_with_where_it_lies() {
        let data = Data::built_in();
        let question = Question::of(data.find_use("mariadb").unwrap(), Date::default());
        let mut row = record::Measurement::blank(
            record::Library::default().identity(),
            "aes-256-ctr",
            record::State::Measured,
        );
        (row.model, row.size) = (question.model(), question.size);
        let mut record = Record { measurements: vec![row], ..Record::default() };
        let said = survey_has(&record, &question, Path::new("r.json")).unwrap_err().message;
        let flags = "-m between-rekey --footprint hot,memory -s 16384";
        assert!(
            said.contains("no model between-rekey from memory") && said.contains(flags),
            "{said}"
        );
        record.measurements[0].footprint = base::model::Footprint::Memory;
        assert!(survey_has(&record, &question, Path::new("r.json")).is_ok());
    }

    #[test]
    fn a_record_without_a_library_that_may_be_chosen_is_refused_with_the_wish() {
        let data = Data::built_in();
        let mut question = Question::of(data.find_use("disk").unwrap(), Date::default());
        let library = record::Library {
            name: "openssl".to_owned(),
            path: "/opt/libcrypto.so".to_owned(),
            ..record::Library::default()
        };
        let asked = |question: &Question<'_>| {
            let done =
                may_use_one_of(std::slice::from_ref(&library), question, Path::new("r.json"));
            done.err().map(|failure| failure.message).unwrap_or_default()
        };
        assert_eq!(asked(&question), "");
        question.wishes.only = Some(Only::named(&data, "luks").unwrap());
        let said = asked(&question);
        assert!(
            said.starts_with("'r.json' has no library for --only luks (linux-kernel);"),
            "{said}"
        );
        question.wishes = Question::of(question.used, Date::default()).wishes;
        question.wishes.system_only = true;
        assert!(asked(&question).contains("for --library-version system"), "{}", asked(&question));
    }

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
}
