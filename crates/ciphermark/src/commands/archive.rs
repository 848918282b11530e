//! `ciphermark archive` and `ciphermark trend`: records of many machines and runs in one store, whether a
//! record that is added is believed, what a case cost from run to run; and what `rank`, `compare` and
//! `report` need to ask an archive.

use crate::commands::{Filter, choose, no_password};
use crate::{Exit, Failure, files, screen};
use base::analysis::Verdict;
use base::text::{Price, Prices};
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use judge::compare::trust::{Given, Known, Manifest, Told};
use judge::compare::{
    Case, Compared, Comparison, Matching, OTHER_MODEL, Only, Settings, Side, trust,
};
use record::archive::{Added, Archive, ArchiveError, Chosen, Entry, Listed, Selection, Trust};
use record::{Estimate, LibraryId, Measurement, Record, State};
use report::{Point, TrendLine as Line};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// `ciphermark archive`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark archive add fleet.db records/*.json.gz --machine c7i.large\n  \
    ciphermark archive list fleet.db\n  \
    ciphermark archive check fleet.db\n  \
    ciphermark rank --from fleet.db --authenticated --size 16K --prices prices.csv\n  \
    ciphermark compare --from fleet.db --since 2026-11-01 --fail-if slower:2%\n  \
    ciphermark trend fleet.db -a aes-256-gcm -s 16K -l openssl\n  \
    ciphermark report --from fleet.db -o site\n\n\
    STORE is a file (SQLite; the records lie compressed in STORE.objects beside it) or postgres://USER@HOST/DATABASE.")]
pub struct ArchiveArgs {
    #[command(subcommand)]
    pub command: ArchiveCommand,
}

/// What to do with an archive.
#[derive(Debug, Subcommand)]
pub enum ArchiveCommand {
    /// Add records: each is checked, then added whole or not at all; one that is there is left alone.
    Add(AddArgs),
    /// List the records.
    List(Box<ListArgs>),
    /// Read every record again and compare it with its rows.
    Check(CheckArgs),
    /// Remove records.
    Remove(RemoveArgs),
}

/// `ciphermark archive add`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark archive add fleet.db run.json --machine c7i.large --region eu-west-1\n  \
    ciphermark archive add fleet.db gathered/*.json --allowed-signers signers\n  \
    ciphermark archive add postgres://me@db.example/fleet run.json.gz\n\n\
    Every figure is recomputed from the record's raw samples. A record that a check finds fault with is\n\
    added as doubtful, with the reason; answers leave it out unless you ask with --doubtful.\n\
    With --allowed-signers, so are records without a valid signature beside them (RECORD.manifest and\n\
    RECORD.manifest.sig, as `ciphermark fleet gather` writes them).\n\n\
    Exit codes: 0 all are in; 1 all are in, some are doubtful or unsigned, perhaps since earlier;\n\
    2 a file is no record.")]
pub struct AddArgs {
    /// The archive; created if there is none.
    pub store: String,
    /// Records of `run -o`, `tls … -o` or `pages -o`.
    #[arg(required = true)]
    pub records: Vec<PathBuf>,
    /// The machine's type, as in the prices [default: the manifest's, else the processor's name].
    #[arg(long, value_name = "TYPE")]
    pub machine: Option<String>,
    /// Where it is rented.
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Believe only records that one of these signed (a file as `ssh-keygen -Y verify` reads it).
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: Option<PathBuf>,
    /// Say nothing of records that are in without a doubt.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark archive list`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark archive list fleet.db\n  \
    ciphermark archive list fleet.db --select 'machine=c7*,since=2026-11-01' --doubtful\n  \
    ciphermark archive list fleet.db --doubtful --why\n  \
    ciphermark archive list fleet.db --json")]
pub struct ListArgs {
    /// The archive.
    pub store: String,
    #[command(flatten)]
    pub which: WhichArgs,
    /// Say below the records what checks found.
    #[arg(long)]
    pub why: bool,
    /// Print JSON, with what checks found.
    #[arg(long)]
    pub json: bool,
}

/// `ciphermark archive check`
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 all is as it was added; 1 something is lost or changed.")]
pub struct CheckArgs {
    /// The archive.
    pub store: String,
}

/// `ciphermark archive remove`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ciphermark archive remove fleet.db 3fa9c1")]
pub struct RemoveArgs {
    /// The archive.
    pub store: String,
    /// Records by the beginning of their SHA-256 (`ciphermark archive list`).
    #[arg(required = true, value_name = "SHA256")]
    pub records: Vec<String>,
}

/// Which records of an archive.
#[derive(Debug, Default, Args)]
pub struct WhichArgs {
    /// Only these records: machine=GLOB, library=GLOB, since=DAY, until=DAY, record=SHA256, with commas between.
    #[arg(long, value_name = "SELECT", value_parser = selection)]
    pub select: Option<Selection>,
    /// Also records that nobody vouches for or a check finds fault with.
    #[arg(long)]
    pub doubtful: bool,
}

impl WhichArgs {
    /// Refuses a selection where there is nothing to select from.
    pub fn without_archive(&self) -> Result<(), Failure> {
        match self.select.is_some() || self.doubtful {
            true => Err(Failure::usage("--select and --doubtful are for --from STORE")),
            false => Ok(()),
        }
    }
}

pub fn selection(text: &str) -> Result<Selection, String> {
    text.parse()
}

/// What machines cost.
#[derive(Debug, Default, Args)]
pub struct PriceArgs {
    /// Prices: FLEET.toml, or CSV with the columns type, region, date, price_per_hour, currency.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// `ciphermark trend`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark trend fleet.db -a aes-256-gcm -s 16K -l 'openssl*'\n  \
    ciphermark trend fleet.db -a aes-256-gcm -s 16K --format csv\n  \
    ciphermark trend fleet.db -a 'aes-*-gcm' -s 8K,16K --format otava -o history   # then: otava analyze\n\n\
    A mark stands where `ciphermark compare`, with the same filters, calls a run slower or faster than the\n\
    one before it on the same machine. Slow drifts and steps below its limits are for Apache Otava.")]
pub struct TrendArgs {
    /// The archive.
    pub store: String,
    #[command(flatten)]
    pub which: WhichArgs,
    /// Which cases.
    #[command(flatten)]
    pub filter: Filter,
    /// Of each machine only so many runs, the newest [default: as many as make 500 of all].
    #[arg(long, value_name = "N|all", value_parser = base::text::flags::parse_rows)]
    pub runs: Option<usize>,
    /// Print every history, not a screen.
    #[arg(long)]
    pub all: bool,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TrendFormat,
    /// Write otava.yaml and its CSV files into this directory.
    #[arg(short, long, value_name = "DIRECTORY", required_if_eq("format", "otava"))]
    pub output: Option<PathBuf>,
}

/// `trend --format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrendFormat {
    /// A table for each machine and case.
    Text,
    /// One row a run.
    Csv,
    /// One object a run.
    Json,
    /// Files for Apache Otava, which finds change points.
    Otava,
}

// `ciphermark archive`, and the questions over an archive.

pub fn archive(args: &ArchiveArgs) -> Result<Exit, Failure> {
    match &args.command {
        ArchiveCommand::Add(args) => add(args),
        ArchiveCommand::List(args) => list(args),
        ArchiveCommand::Check(args) => check(args),
        ArchiveCommand::Remove(args) => remove(args),
    }
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let mut archive = open(&args.store)?;
    let of = args.which.select.clone().unwrap_or_default();
    let all = archive.list(&of, true).map_err(failure)?;
    let (mut shown, left_out): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|r| args.which.doubtful || r.trust.counts());
    if args.why || args.json {
        archive.tell_doubts(&mut shown).map_err(failure)?;
    }
    if args.json {
        screen::print_json(&shown)?;
    } else {
        screen::print(|options| report::archived(&shown, left_out.len(), options))?;
    }
    Ok(Exit::Done)
}

fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let mut archive = open(&args.store)?;
    let read = |text: &[u8]| {
        let text = std::str::from_utf8(text).map_err(|e| e.to_string())?;
        crate::files::read(text, Path::new("it")).map_err(|e| e.to_string())
    };
    let mut count = 0;
    let problems = archive.check(&read, &mut |_| count += 1).map_err(failure)?;
    let damaged = problems.iter().filter(|p| p.is_damage()).count();
    let mut lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.push(format!("{count} records, {damaged} damaged"));
    screen::print(|_| lines.iter().map(|line| base::text::clean(line) + "\n").collect())?;
    Ok(if damaged > 0 { Exit::Found } else { Exit::Done })
}

fn remove(args: &RemoveArgs) -> Result<Exit, Failure> {
    let mut archive = open(&args.store)?;
    // All are looked up first: a wrong one removes none.
    let found: Result<Vec<_>, _> = args.records.iter().map(|r| archive.find(r)).collect();
    for record in found.map_err(failure)? {
        archive.remove(&record).map_err(failure)?;
        anstream::eprintln!("ciphermark: removed {}", record.sha256);
    }
    Ok(Exit::Done)
}

/// Adds records one by one; those before one that cannot be read stay in.
pub fn add(args: &AddArgs) -> Result<Exit, Failure> {
    let mut archive = opened(&args.store, true)?;
    let mut all_count = true;
    for path in &args.records {
        all_count &= one(&mut archive, args, path)?.counts();
    }
    Ok(if all_count { Exit::Done } else { Exit::Found })
}

/// Its trust, which is what it was given when it was added first.
fn one(archive: &mut Archive, args: &AddArgs, path: &Path) -> Result<Trust, Failure> {
    let bytes = record::bytes(path).map_err(Failure::usage)?;
    let file_sha256 = hex::encode(Sha256::digest(&bytes));
    let text = record::text(bytes, &path.display().to_string()).map_err(Failure::usage)?;
    let record = files::read(&text, path).map_err(Failure::usage)?;
    let sha256 = hex::encode(Sha256::digest(&text));
    let now = Timestamp::now();
    let of = Candidate { path, record: &record, sha256: &sha256, file_sha256: &file_sha256 };
    let judged = judge_candidate(archive, args, &of, &now.to_string())?;
    let packed = record::pack(Path::new("record.gz"), text).map_err(Failure::not_done)?;
    let added = archive.add(&Entry {
        record: &record,
        packed: &packed,
        sha256: &sha256,
        samples: judged.samples.as_deref(),
        machine: &judged.machine,
        region: args.region.as_deref(),
        trust: judged.trust,
        signer: judged.signer.as_deref(),
        doubts: &judged.doubts,
        known: Some(&judged.known),
        added: now.as_second(),
    });
    let added = added.map_err(failure)?;
    let listed = archive.find(&sha256).map_err(failure)?;
    tell(args, path, added, &listed, &judged);
    Ok(listed.trust)
}

/// One line a record, and one for each doubt and what could not be checked.
fn tell(args: &AddArgs, path: &Path, added: Added, listed: &Listed, judged: &Judged) {
    let shown = base::text::one_line(&path.display().to_string());
    let trust = listed.trust;
    let of_other = args.machine.as_ref().filter(|named| **named != listed.machine);
    match added {
        _ if args.quiet && trust.counts() => {}
        Added::Known => {
            let other = of_other.map(|_| base::text::one_line(&listed.machine));
            let other = other.map(|other| format!(", of machine '{other}'")).unwrap_or_default();
            anstream::eprintln!("ciphermark: {shown} is in already, {}{other}", trust.name());
        }
        Added::New(cases) => {
            anstream::eprintln!("ciphermark: added {shown}: {cases} cases, {}", trust.name());
            for doubt in &judged.doubts {
                anstream::eprintln!("ciphermark:   {}", base::text::one_line(doubt));
            }
            for what in judged.unchecked.iter().filter(|_| !args.quiet) {
                anstream::eprintln!("ciphermark:   unchecked: {what}");
            }
        }
    }
}

/// Records of each kind that a new one is judged by.
const PEERS: u32 = 8;

/// What is to be kept of a record beside its figures.
pub struct Judged {
    pub machine: String,
    pub trust: Trust,
    pub signer: Option<String>,
    pub doubts: Vec<String>,
    /// What could not be checked, which is no doubt.
    pub unchecked: Vec<String>,
    pub samples: Option<String>,
    pub known: String,
}

pub struct Candidate<'a> {
    pub path: &'a Path,
    pub record: &'a Record,
    pub sha256: &'a str,
    /// SHA-256 of the file, which may be compressed.
    pub file_sha256: &'a str,
}

/// Judges a record by itself, by its manifest and by those in the archive.
pub fn judge_candidate(
    archive: &mut Archive,
    args: &AddArgs,
    of: &Candidate<'_>,
    now: &str,
) -> Result<Judged, Failure> {
    let manifest = manifest(of.path)?;
    let named = args.machine.clone().or_else(|| manifest.as_ref().map(|m| m.machine_type.clone()));
    let machine = named.clone().unwrap_or_else(|| of.record.host.cpu.name.clone());
    let samples = trust::samples_digest(of.record);
    let peers = archive
        .known(&of.record.host.cpu.name, &machine, samples.as_deref(), PEERS)
        .map_err(failure)?;
    // What an older version kept and this one cannot read judges nobody.
    let peers: Vec<Known> = peers.iter().filter_map(|k| serde_json::from_str(k).ok()).collect();
    let given = manifest.as_ref().map(|m| Given { seed: m.seed, at: Some(&m.given) });
    let told = Told { now: Some(now), machine_type: named.as_deref(), given };
    let trust::Judgement { doubts: found, unchecked } = trust::judge(of.record, &told, &peers);
    let mut doubts: Vec<String> =
        found.into_iter().map(|d| format!("{}: {}", d.code.name(), d.sentence)).collect();
    let is_of = |m: &Manifest| [of.sha256, of.file_sha256].contains(&m.record_sha256.as_str());
    if manifest.as_ref().is_some_and(|m| !is_of(m)) {
        doubts.push("manifest: it is of another record".to_owned());
    }
    let (trust, signer) = signed(args, of.path, manifest.is_some())?;
    let known = Known::of(of.sha256, named.as_deref(), of.record);
    Ok(Judged {
        machine,
        trust: if doubts.is_empty() { trust } else { Trust::Doubtful },
        signer,
        doubts,
        unchecked,
        samples,
        known: serde_json::to_string(&known).map_err(Failure::not_done)?,
    })
}

fn manifest(record: &Path) -> Result<Option<Manifest>, Failure> {
    let path = files::manifest_of(record);
    if !path.is_file() {
        return Ok(None);
    }
    let text = crate::files::text(&path, &format!("'{}'", path.display()))?;
    let parsed = Manifest::parse(&text);
    parsed.map(Some).map_err(|why| Failure::usage(format!("'{}': {why}", path.display())))
}

/// Who signed it; without a list of signers the user vouches for what is added.
fn signed(
    args: &AddArgs,
    record: &Path,
    has_manifest: bool,
) -> Result<(Trust, Option<String>), Failure> {
    let Some(signers) = &args.allowed_signers else { return Ok((Trust::Own, None)) };
    if !signers.is_file() {
        return Err(Failure::usage(format!(
            "there is no file '{}' of allowed signers",
            signers.display()
        )));
    }
    if !has_manifest {
        return Ok((Trust::Unsigned, None));
    }
    match files::signer_of(&files::manifest_of(record), signers) {
        Ok(signer) => Ok((Trust::Signed, Some(signer))),
        // A program that is missing is no verdict on the record.
        Err(error) if error.exit == crate::Exit::NotDone => Err(error),
        Err(_) => Ok((Trust::Unsigned, None)),
    }
}

/// Runs of all machines together that a history reads unless more are asked for: a second's.
const RUNS: usize = 500;
/// A change needs two.
const LEAST_RUNS: usize = 2;

/// Prints the runs of each machine, library and case, or writes them for Apache Otava.
pub fn trend(args: &TrendArgs) -> Result<Exit, Failure> {
    let (mut archive, all) = ask(&args.store, &args.which)?;
    let of_cases = chosen(&mut archive, &args.filter)?;
    let globs = choose::globs(&args.filter.library)?;
    let takes = |id: &LibraryId| choose::takes(&globs, id);
    let of_cases = archive.narrow(&of_cases, Some(&takes)).map_err(failure)?;
    let mut lines = Vec::new();
    let machines = by_machine(&all);
    let most = args.runs.unwrap_or((RUNS / machines.len().max(1)).max(LEAST_RUNS));
    let mut older = 0;
    for runs in machines {
        let (left_out, runs) = runs.split_at(runs.len().saturating_sub(most));
        older += left_out.len();
        let (mut own, mut kept): (Vec<Run<'_>>, _) = (Vec::new(), None);
        for run in runs {
            if !archive.has_case(run, &of_cases).map_err(failure)? {
                continue;
            }
            let record = archive.load(run, &of_cases).map_err(failure)?;
            if record.measurements.iter().any(has_point) {
                let before = own.last();
                let before =
                    before.map(|before| beside(&mut archive, before, run, &record, &mut kept));
                let compared = before.transpose()?;
                own.push(Run { listed: run, record, compared });
            }
        }
        lines.extend(lines_of(&own));
    }
    if older > 0 {
        anstream::eprintln!(
            "ciphermark: the newest {most} runs of each machine; --runs all reads {older} older ones"
        );
    }
    if lines.is_empty() {
        return Err(Failure::usage(format!("'{}' has no such measured case", args.store)));
    }
    match (args.format, &args.output) {
        (TrendFormat::Otava, Some(directory)) => write(directory, &lines)?,
        (TrendFormat::Csv, _) => screen::print(|_| report::trend_csv(&lines))?,
        (TrendFormat::Json, _) => screen::print_json(&lines)?,
        _ => screen::print(|options| report::trend(&lines, args.all, options))?,
    }
    Ok(Exit::Done)
}

/// What was measured, or is from elsewhere and not doubted.
fn has_point(m: &Measurement) -> bool {
    m.state == State::Measured || m.state == State::Imported && m.reason.is_none()
}

/// What `compare` says of a run and the one before it, with the same filters.
fn beside(
    archive: &mut Archive,
    before: &Run<'_>,
    listed: &Listed,
    record: &Record,
    kept: &mut Option<(i64, Record)>,
) -> Result<Comparison, Failure> {
    let found = compared(&before.record, record, &|_| true);
    if found.tally.undecided == found.tally.cases() {
        return Ok(found);
    }
    // A verdict allows for what the runs add to all cases, which is learned from those that nobody asks for, too.
    let key = |m: &Measurement| (m.library.clone(), Case::of(m));
    let both = before.record.measurements.iter().chain(&record.measurements);
    let asked: BTreeSet<_> = both.map(key).collect();
    let mut whole = |run| archive.load(run, &Chosen::default()).map_err(failure);
    let base = match kept.take() {
        Some((id, record)) if id == before.listed.id => record,
        _ => whole(before.listed)?,
    };
    let new = whole(listed)?;
    let found = compared(&base, &new, &|m| asked.contains(&key(m)));
    *kept = Some((listed.id, new));
    Ok(found)
}

fn compared(before: &Record, now: &Record, takes: &dyn Fn(&Measurement) -> bool) -> Comparison {
    fn side<'a>(record: &'a Record, takes: &dyn Fn(&Measurement) -> bool) -> Side<'a> {
        let rows = record.measurements.iter().filter(|m| takes(m)).collect();
        Side { record, name: String::new(), rows }
    }
    judge::compare::compare(
        &side(before, takes),
        &side(now, takes),
        &Settings::of(Matching::ByName),
    )
}

/// A run, its record, and how it compares with the one before.
struct Run<'a> {
    listed: &'a Listed,
    record: Record,
    compared: Option<Comparison>,
}

/// The histories of one machine. A library goes on under its name; where any run has several versions of it, each version
/// has a history of its own; where it has several builds of a version, each build.
fn lines_of(runs: &[Run<'_>]) -> impl Iterator<Item = Line> {
    let builds = |record: &Record| -> BTreeSet<LibraryId> {
        record.measurements.iter().filter(|m| has_point(m)).map(|m| m.library.clone()).collect()
    };
    let several: BTreeSet<String> = runs
        .iter()
        .flat_map(|run| twice(builds(&run.record).iter().map(|id| id.name.clone())))
        .collect();
    let twins: BTreeSet<String> = runs
        .iter()
        .flat_map(|run| twice(builds(&run.record).iter().map(LibraryId::label)))
        .collect();
    let mut lines: BTreeMap<(String, Case), Line> = BTreeMap::new();
    for run in runs {
        for m in run.record.measurements.iter().filter(|m| has_point(m)) {
            let (Some(ns), case) = (m.ns_per_op, Case::of(m)) else { continue };
            let of = |c: &&Compared| c.new_library == m.library && c.case == case;
            let found = run.compared.as_ref().and_then(|c| Some((c, c.cases.iter().find(of)?)));
            let alone = |o: &&Only| o.library == m.library && o.case == case;
            let alone = run.compared.iter().find_map(|c| c.only.iter().find(alone));
            let label = m.library.label();
            let library = match (several.contains(&m.library.name), twins.contains(&label)) {
                (_, true) => format!("{label}, {}", m.library.id),
                (true, false) => label,
                (false, false) => m.library.name.clone(),
            };
            let new = || Line {
                machine: run.listed.machine.clone(),
                library: library.clone(),
                case: case.clone(),
                points: Vec::new(),
            };
            let line = lines.entry((library.clone(), case.clone())).or_insert_with(new);
            let is_first = line.points.is_empty();
            let missing = match alone.is_some_and(|only| only.reason == OTHER_MODEL) {
                _ if is_first => None,
                true => Some("not compared: ciphermark's model is another"),
                false => Some("not compared: the run before lacks it"),
            };
            line.points.push(point(run.listed, m, ns, found, missing));
        }
    }
    lines.into_values()
}

/// What comes more than once.
fn twice(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| !seen.insert(name.clone())).collect()
}

fn is_sure(case: &Compared) -> bool {
    matches!(case.verdict, Verdict::Faster | Verdict::Slower)
}

fn point(
    run: &Listed,
    m: &Measurement,
    ns: record::Estimate,
    found: Option<(&Comparison, &Compared)>,
    missing: Option<&str>,
) -> Point {
    let verdict = found.map(|(_, case)| case);
    Point {
        started: run.started,
        day: run.day(),
        record: run.sha256.clone(),
        version: m.library.version.clone(),
        imported: m.state == State::Imported,
        contended: m.contended,
        ns_per_op: ns,
        mb_per_s: m.mb_per_s,
        verdict: verdict.map(|c| c.verdict),
        ratio: verdict.and_then(|c| c.ratio),
        differing: found.map(|(all, _)| all.beside_the_libraries()).unwrap_or_default(),
        remark: match found {
            Some((all, case)) if is_sure(case) && all.is_runs_own(case) => {
                Some("the same build: the run's own".to_owned())
            }
            Some((_, case)) => case.reason.clone(),
            None => missing.map(str::to_owned),
        },
    }
}

/// A CSV file for each line, and the YAML that names them.
fn write(directory: &std::path::Path, lines: &[Line]) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::not_done(format!("cannot write into '{}': {e}", directory.display()))
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    for (name, text) in report::otava(lines, directory) {
        screen::write_file(&directory.join(name), text.as_bytes())?;
    }
    anstream::eprintln!(
        "ciphermark: wrote {} histories; next: otava analyze NAME --config {}",
        lines.len(),
        directory.join("otava.yaml").display()
    );
    Ok(())
}

// Opening what was named, and what questions over it have in common.

pub fn open(store: &str) -> Result<Archive, Failure> {
    opened(store, false)
}

/// Opens an archive; with `create`, makes one where there is none.
pub fn opened(store: &str, create: bool) -> Result<Archive, Failure> {
    no_password(store, "STORE")?;
    Archive::open(store, create).map_err(failure)
}

/// What was named wrongly is the command line's fault, the rest is not.
pub fn failure(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::Absent(_)
        | ArchiveError::Other(_)
        | ArchiveError::Newer { .. }
        | ArchiveError::Unreleased(_)
        | ArchiveError::NoPostgres(_)
        | ArchiveError::NoSqlite(_)
        | ArchiveError::Selection(_) => Failure::usage(error),
        ArchiveError::Database { .. }
        | ArchiveError::Damaged { .. }
        | ArchiveError::Object { .. } => Failure::not_done(error),
    }
}

/// Opens an archive for answers of one moment; its records that are asked about, by machine and time.
pub fn ask(store: &str, which: &WhichArgs) -> Result<(Archive, Vec<Listed>), Failure> {
    let mut archive = open(store)?;
    archive.hold().map_err(failure)?;
    let of = which.select.clone().unwrap_or_default();
    let all = archive.list(&of, which.doubtful).map_err(failure)?;
    if all.is_empty() {
        let hidden = archive.list(&of, true).map_err(failure)?.len();
        let more = match hidden {
            0 => String::new(),
            n => format!("; {n} doubtful or unsigned ones are left out without --doubtful"),
        };
        return Err(Failure::usage(format!("'{}' has no such record{more}", archive.name())));
    }
    Ok((archive, all))
}

pub fn by_machine(all: &[Listed]) -> Vec<&[Listed]> {
    all.chunk_by(|a, b| a.machine == b.machine).collect()
}

/// The cases that a filter takes, of all libraries.
pub fn chosen(archive: &mut Archive, filter: &Filter) -> Result<Chosen, Failure> {
    let takes = choose::cases(filter)?;
    archive.choose(Some(&takes), None).map_err(failure)
}

pub fn prices(args: &PriceArgs) -> Result<Prices, Failure> {
    let Some(path) = &args.prices else { return Ok(Prices::default()) };
    let shown = format!("'{}'", path.display());
    let text = files::text(path, &shown)?;
    let is_toml = path.extension().is_some_and(|e| e == "toml");
    let read = if is_toml { Prices::from_toml(&text) } else { Prices::from_csv(&text) };
    read.map_err(|why| Failure::usage(format!("{shown}, {why}")))
}

pub fn price_of<'a>(prices: &'a Prices, of: &Listed) -> Option<&'a Price> {
    prices.of_day(&of.machine, of.region.as_deref(), &of.day())
}

/// Refuses machines with prices in different currencies: one column compares them, and nothing is converted.
pub fn in_one_currency<'a>(
    mut priced: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), Failure> {
    let Some((first, currency)) = priced.next() else { return Ok(()) };
    match priced.find(|(_, other)| *other != currency) {
        None => Ok(()),
        Some((second, other)) => Err(Failure::usage(format!(
            "--prices: '{first}' is in {currency} and '{second}' in {other}: give all in one currency, or take machines of \
             one with --select machine=GLOB"
        ))),
    }
}

/// What a number of operations costs on a machine with so many CPUs. The price is shared out evenly: as if all CPUs did
/// the same at this speed, each as fast as those that were measured at once.
pub fn cost(ns: Estimate, operations: f64, per_hour: f64, cpus: u32) -> Estimate {
    ns.map(|ns| ns * 1e-9 / 3600.0 * operations * per_hour / f64::from(cpus.max(1)))
}

/// Operations in what prices are given for: a petabyte of plaintext (10^15 bytes), or a million of what has no bytes.
pub fn priced(model: base::model::Model, size: usize) -> f64 {
    if model.has_bytes() && size > 0 { 1e15 / size as f64 } else { 1e6 }
}
