//! `ciphermark run`: measure, verified, and print the ranked table. A run that was killed or interrupted is
//! resumed: plan, libraries and samples come from its journal.
//!
//! `ciphermark run` and `ciphermark show`.

use crate::commands::{Cli, Command, Filter, choose, workload};
use crate::screen::{Bar, FormatArg};
use crate::{Exit, Failure, files, screen};
use base::text::Suite;
use base::text::flags::{parse_duration, parse_fraction};
use clap::{Args, Parser as _};
use engine::{
    Attached, Budget, Counting, Event, Keeping, LibraryChoice, Outcome, Request, Screened, Stop,
    SurveyError,
};
use record::{Journal, JournalHead, Kept, Measurement, Plan, Record, RecordError, State, Stopped};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// `ciphermark run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark run                                   the quick suite, about a minute\n  \
    ciphermark run -a 'aes-256-*' -s 4K,8K,16K       database pages\n  \
    ciphermark run -l openssl -m stream -s 8192      what `openssl speed -evp` measures of CTR, CBC, …\n  \
    ciphermark run -l openssl -t native,noaes        with and without AES instructions\n  \
    ciphermark run -l openssl -t 'sandybridge,zen*'  with what other machines have\n  \
    ciphermark run -l a=old/libcrypto.so -l b=new/libcrypto.so -o ab.json\n  \
    ciphermark run -m message,rekey -s 16..64K       what a new key for each message costs\n  \
    ciphermark run -a 'aes-256-gcm' -m forgery       what rejecting a forgery costs\n  \
    ciphermark run --footprint hot,l2,l3,memory      warm and cold buffers\n  \
    ciphermark run --threads 1,2,4 --footprint memory -s 16K     up to the memory wall\n  \
    ciphermark run --latency -s 16,1K                p50, p99 and p99.9 of single operations\n  \
    ciphermark run --precision 0.5% --budget 5m --format csv > out.csv\n  \
    ciphermark run --workload calls.json -o mix.json  what a watched program does, in every library\n  \
    ciphermark run --resume long.json                resume an interrupted run")]
pub struct RunArgs {
    /// Which cases; the suite supplies what is not given.
    #[command(flatten)]
    pub filter: Filter,
    /// A suite by name (see `ciphermark list suites`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = "quick")]
    pub suite: String,
    /// Measure a watched program's own messages, in a loop and after other work, in every library that has them
    /// (`ciphermark watch -o FILE`).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["algorithm", "size", "direction", "model", "tier", "footprint", "threads", "in_place", "latency", "suite", "resume"])]
    pub workload: Option<PathBuf>,
    /// Stop measuring a case once its interval's half-width is at most this.
    #[arg(long, value_parser = parse_fraction, allow_hyphen_values = true, value_name = "PERCENT")]
    pub precision: Option<f64>,
    /// Measure for at most this long.
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Do not count instructions; tiers are then not checked.
    #[arg(long)]
    pub no_evidence: bool,
    /// Also time single operations and show percentiles of their latency.
    #[arg(long)]
    pub latency: bool,
    /// Seed for keys, messages and the order of cases [default: random, and recorded].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Write the record to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Resume an interrupted or killed run and write its record to the same file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "algorithm", "library", "size", "direction", "model", "tier", "footprint", "threads", "in_place", "latency", "seed", "precision", "suite"])]
    pub resume: Option<PathBuf>,
    /// What to print on standard output.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
    /// Print the whole table, however long, instead of the answer in a screen.
    #[arg(long)]
    pub all: bool,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

impl RunArgs {
    fn counting(&self) -> Counting {
        if self.no_evidence { Counting::Nothing } else { Counting::All }
    }
}

/// Measures what the flags and the suite ask for, or resumes an interrupted run.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    screen::check_format(args.format, None)?;
    // First, so that an interrupt leaves nothing half done.
    let stop = watch_signals()?;
    let job = match &args.resume {
        Some(path) => resumed_job(path, args)?,
        None => fresh(args)?,
    };
    let path = job.output.clone();
    let Ended { record, lost, remark } = measure(args.quiet, job, &stop)?;
    let path = path.as_deref().filter(|_| lost.is_none());
    screen::print_run(&record, args.format, path, args.all)?;
    // Last, where it is read.
    screen::say(args.quiet, remark.is_some(), &remark.unwrap_or_default());
    lost.map_or_else(|| exit(&record), Err)
}

/// Measures what a line of `ciphermark run` asks for that names no file, without printing.
pub fn measured(line: &[String], counting: Counting, stop: &Stop) -> Result<Record, Failure> {
    let args = match Cli::try_parse_from(line).map(|cli| cli.command) {
        Ok(Some(Command::Run(args))) => args,
        Ok(_) => return Err(Failure::not_done("the question makes no run")),
        Err(error) => return Err(Failure::usage(error)),
    };
    let mut job = fresh(&args)?;
    job.request.counting = counting;
    let Ended { record, remark, .. } = measure(args.quiet, job, stop)?;
    screen::say(args.quiet, remark.is_some(), &remark.unwrap_or_default());
    tell_left_out(false, &record);
    Ok(record)
}

/// Everything that a run needs, whether new or resumed.
pub struct Job {
    pub request: Request,
    pub libraries: Vec<Attached>,
    pub output: Option<PathBuf>,
    /// Where samples are kept meanwhile, and the samples of an earlier part of the run.
    pub keeping: Keeping,
}

fn fresh(args: &RunArgs) -> Result<Job, Failure> {
    let watched = args.workload.as_deref().map(workload::workload_at).transpose()?;
    let suite = choose::named_suite(&args.suite)?;
    let of_suite = suite.libraries.clone();
    let request = match &watched {
        Some(watched) => {
            let seed = args.seed.unwrap_or_else(choose::random_seed);
            workload::request(watched, args.budget, args.precision, seed)
        }
        None => request(args, suite)?,
    };
    let output = args.output.clone();
    let journal = output.as_deref().map(claim_output).transpose()?.flatten();
    // An older record stays until the new one is whole.
    let snapshots = output.clone().filter(|path| journal.is_some() && !path.exists());
    let libraries = match (&watched, args.filter.library.as_slice(), of_suite.as_slice()) {
        (Some(watched), given, _) => workload::libraries(given, watched, args.quiet)?,
        (None, [], [_, ..]) => choose::attached_of_those(&of_suite, args.quiet)?,
        (None, given, _) => choose::attached(given)?,
    };
    let keeping = Keeping { journal, snapshots, earlier: None };
    Ok(Job { request, libraries, output, keeping })
}

fn request(args: &RunArgs, suite: Suite) -> Result<Request, Failure> {
    let filter = &args.filter;
    let names = if filter.algorithm.is_empty() { &suite.algorithms } else { &filter.algorithm };
    let brought = choose::learn(&filter.library, names)?;
    let algorithms = match filter.algorithm.as_slice() {
        // A suite does not know what a file brings; whoever names the file wants to see it.
        [] => [choose::algorithms(&suite.algorithms)?, brought].concat(),
        globs => choose::algorithms(globs)?,
    };
    let of_suite = |e: String| Failure::usage(format!("suite '{}': {e}", suite.name));
    let budget = Budget {
        precision: match args.precision {
            Some(precision) => precision,
            None => parse_fraction(&suite.precision).map_err(of_suite)?,
        },
        time: match args.budget {
            Some(time) => time,
            None => parse_duration(&suite.budget).map_err(of_suite)?,
        },
    };
    Ok(Request {
        algorithms,
        sizes: match &filter.size {
            Some(sizes) => sizes.0.clone(),
            None => base::model::parse_sizes(&suite.sizes).map_err(Failure::usage)?,
        },
        directions: filter.direction.map_or(suite.directions, choose::directions),
        models: or_else(&filter.model, suite.models),
        tiers: or_else(&choose::tiers(&filter.tier)?, suite.tiers),
        footprints: or_else(&filter.footprint, suite.footprints),
        threads: choose::threads(&or_else(&filter.threads, suite.threads))?,
        in_place: choose::distinct(&filter.in_place.map_or(suite.in_place, choose::in_place)),
        cases: Vec::new(),
        latency: args.latency || suite.latency,
        budget,
        counting: args.counting(),
        screened: Screened::default(),
        seed: args.seed.unwrap_or_else(choose::random_seed),
        suite: Some(suite.name),
        command: crate::commands::typed(),
    })
}

fn or_else<T: Copy + PartialEq>(given: &[T], suite: Vec<T>) -> Vec<T> {
    // What is named twice is measured once.
    choose::distinct(if given.is_empty() { &suite } else { given })
}

/// Checks before measuring that the record can be written, that it overwrites no other file, and
/// keeps other runs from writing there. `None` for a pipe or device, which can have no journal.
pub fn claim_output(path: &Path) -> Result<Option<Journal>, Failure> {
    check_output(path)?;
    let is_device = path.metadata().is_ok_and(|m| !m.is_file());
    (!is_device).then(|| Journal::claim(path)).transpose().map_err(Failure::usage)
}

fn check_output(path: &Path) -> Result<(), Failure> {
    let is_ours = || files::within_bounds(|| record::load(path).is_ok_and(|r| r.kind().is_none()));
    if files::holds_something(path) && !is_ours()? {
        let shown = path.display();
        return Err(Failure::usage(format!(
            "'{shown}' exists and is not a ciphermark record: not overwritten"
        )));
    }
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(Failure::usage(format!("there is no directory '{}'", directory.display())));
    }
    record::check_writable(path).map_err(Failure::usage)
}

/// Measures with a progress bar; an interrupt keeps what was measured so far.
pub fn survey(
    quiet: bool,
    request: &Request,
    libraries: &[Attached],
    stop: &Stop,
) -> Result<Record, Failure> {
    let keeping = Keeping::default();
    let outcome =
        sampled(quiet, |events| engine::survey(request, libraries, keeping, stop, events))?;
    Ok(outcome.record)
}

/// What is measured with a progress bar.
pub(crate) fn sampled<D>(
    quiet: bool,
    run: impl FnOnce(&(dyn Fn(Event<'_>) + Sync)) -> Result<D, SurveyError>,
) -> Result<D, Failure> {
    let outcome = Bar::during(quiet, |bar| run(&|event| bar.show(event)));
    outcome.map_err(|e| match e {
        SurveyError::Resume(_) => Failure::usage(e),
        _ => Failure::not_done(e),
    })
}

struct Ended {
    record: Record,
    /// Why the record could not be saved.
    lost: Option<Failure>,
    /// That it was interrupted, and how to go on.
    remark: Option<String>,
}

/// Measures and saves the record to its file, if any.
fn measure(quiet: bool, job: Job, stop: &Stop) -> Result<Ended, Failure> {
    if stop.is_interrupted() {
        let nothing = Failure::not_done("interrupted before anything was measured");
        return Err(Failure { exit: Exit::Interrupted, ..nothing });
    }
    let Job { request, libraries, output, keeping } = job;
    let outcome =
        sampled(quiet, |events| engine::survey(&request, &libraries, keeping, stop, events))?;
    let Some(path) = output else {
        let remark =
            outcome.interrupted.then(|| "interrupted; these are the results so far".to_owned());
        return Ok(Ended { record: outcome.record, lost: None, remark });
    };
    if let Err(error) = record::save(&outcome.record, &path) {
        return Ok(unsaved(outcome, &path, &error));
    }
    let (mut remark, record) = (None, outcome.record);
    match outcome.journal {
        // It stays: --resume needs it.
        Some(_) if outcome.interrupted => {
            let shown = path.display();
            remark = Some(format!("interrupted; resume with: ciphermark run --resume {shown}"));
        }
        Some(journal) => journal.remove().map_err(Failure::not_done)?,
        None => {}
    }
    Ok(Ended { record, lost: None, remark })
}

/// Keeps what was measured if its file cannot be written: in the journal, or in another file.
fn unsaved(outcome: Outcome, path: &Path, error: &RecordError) -> Ended {
    let Outcome { record, journal, .. } = outcome;
    let shown = path.display();
    let whole = journal.filter(|journal| journal.trouble().is_none());
    let kept = if whole.is_some() {
        format!("; nothing is lost: fix that, then `ciphermark run --resume {shown}`")
    } else {
        elsewhere(&record)
            .map_or(String::new(), |path| format!("; the record is in '{path}' instead"))
    };
    let lost = Some(Failure::not_done(format!("{error}{kept}")));
    Ended { record, lost, remark: None }
}

/// Writes a record under a new name among the temporary files.
fn elsewhere(record: &Record) -> Option<String> {
    let name = tempfile::Builder::new().prefix("ciphermark-").suffix(".json").tempfile().ok()?;
    record::save(record, name.path()).ok()?;
    let (_, path) = name.keep().ok()?;
    Some(path.display().to_string())
}

pub fn tell_left_out(quiet: bool, record: &Record) {
    let all = &record.measurements;
    let left_out = all.iter().filter(|m| m.is_left_out()).count();
    let text = format!("left out: {left_out} of {} cases; --thorough measures all", all.len());
    screen::say(quiet, left_out > 0, &text);
}

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether the user wanted an end before all was done.
pub fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Ends what is measured at the first interrupt; a second one ends the program at once.
pub fn watch_signals() -> Result<Stop, Failure> {
    let flag = Arc::clone(&INTERRUPTED);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|e| Failure::not_done(format!("cannot watch for signals: {e}")))?;
    }
    Ok(Stop::on(flag))
}

fn exit(record: &Record) -> Result<Exit, Failure> {
    let bad =
        |m: &Measurement| matches!(m.state, State::Refused | State::Failed) && !m.is_left_out();
    if record.measurements.iter().any(bad) {
        return Ok(Exit::SomeRefused);
    }
    if record.measurements.iter().any(Measurement::is_left_out)
        && record.measurements.iter().all(|m| m.is_left_out() || m.state == State::Unsupported)
    {
        if record.measurements.iter().any(Measurement::is_cut_off) {
            return Ok(Exit::Interrupted);
        }
        return Err(Failure::not_done(
            "nothing was measured: the time was over before any case had a number; raise --budget",
        ));
    }
    if record.measurements.iter().all(|m| m.state == State::Unsupported) {
        return Err(Failure::not_done(
            "nothing was measured: none of the selected libraries offers these cases; \
             `ciphermark list algorithms` shows which library offers what",
        ));
    }
    Ok(Exit::Done)
}

/// The journal of a run that can be resumed, and what it has.
pub fn reopen(record: &Path, quiet: bool) -> Result<(Journal, Kept), Failure> {
    let path = Journal::path_for(record);
    if !path.exists() {
        let why = files::within_bounds(|| not_resumable(record, &path))?;
        return Err(Failure::usage(why));
    }
    let read = files::within_bounds(|| Journal::reopen(record))?;
    let (journal, kept) = read.map_err(Failure::usage)?;
    let head = &kept.head;
    let cannot = |why: String| Failure::usage(SurveyError::Resume(why));
    engine::of_elsewhere(head).map_or(Ok(()), |why| Err(cannot(why)))?;
    if let Some(program) = engine::strange_program(head) {
        return Err(cannot(format!(
            "its journal names a program, '{program}', which only who types it starts"
        )));
    }
    let (shown, left_out) = (path.display(), kept.left_out);
    let behind = format!("'{shown}' is damaged: {left_out} lines after the damage are left out");
    screen::say(quiet, left_out > 0, &behind);
    Ok((journal, kept))
}

/// The job that a journal describes, with a new budget or the old one again.
pub fn resumed_job(record: &Path, args: &RunArgs) -> Result<Job, Failure> {
    let (journal, kept) = reopen(record, args.quiet)?;
    if kept.head.kind != "survey" {
        let (shown, kind) = (record.display(), &kept.head.kind);
        return Err(Failure::usage(format!(
            "'{shown}' is a run of kind '{kind}': resume it with `ciphermark {}`",
            if kind == record::at_rest::KIND { "pages" } else { "tls" }
        )));
    }
    // What stands there now may be another file than when the run began; a record that was torn is mended.
    if !begins_as_record(record) {
        check_output(record)?;
    }
    let head = &kept.head;
    // First, because the plan may name algorithms that they bring.
    let libraries = planned_libraries(head)?;
    let request = planned_request(&head.plan, head.command.clone(), args.budget, args.counting())?;
    // Before the run has ended, replace only its own record.
    let is_own = || record::load(record).is_ok_and(|r| r.started == head.started);
    let own = !record.exists() || files::within_bounds(is_own)?;
    let snapshots = own.then(|| record.to_owned());
    let keeping = Keeping { journal: Some(journal), snapshots, earlier: Some(kept) };
    Ok(Job { request, libraries, output: Some(record.to_owned()), keeping })
}

fn begins_as_record(path: &Path) -> bool {
    const LONGEST: u64 = 64;
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let mut beginning = Vec::new();
    let read =
        record::open_regular(path).and_then(|file| file.take(LONGEST).read_to_end(&mut beginning));
    let is_json = || String::from_utf8_lossy(&beginning).contains("\"format_version\"");
    read.is_ok() && (beginning.starts_with(&GZIP) || is_json())
}

fn not_resumable(record: &Path, journal: &Path) -> String {
    // All that a killed run leaves is its journal, so that is what people name.
    let named = record.with_extension("");
    if record.is_file() && Journal::path_for(&named) == record {
        let (shown, named) = (record.display(), named.display());
        return format!("'{shown}' is a run's journal: name its record, `--resume {named}`");
    }
    let (shown, journal) = (record.display(), journal.display());
    let interrupted =
        |r: &Record| r.measurements.iter().any(|m| m.stopped == Some(Stopped::Interrupted));
    match record::load(record) {
        Ok(r) if interrupted(&r) => format!(
            "cannot resume '{shown}': its journal '{journal}' is missing; run again without --resume"
        ),
        Ok(_) => format!("'{shown}' is complete: there is nothing to resume"),
        Err(why) if record.exists() => {
            format!("there is no run to resume: no file '{journal}', and {why}")
        }
        Err(_) => format!("there is no run to resume: no file '{journal}'"),
    }
}

fn planned_request(
    plan: &Plan,
    command: Vec<String>,
    budget: Option<Duration>,
    counting: Counting,
) -> Result<Request, Failure> {
    let planned = Duration::try_from_secs_f64(plan.budget_seconds).map_err(Failure::usage)?;
    Ok(Request {
        suite: plan.suite.clone(),
        algorithms: choose::algorithms(&plan.algorithms)?,
        directions: plan.directions.clone(),
        models: plan.models.clone(),
        sizes: plan.sizes.clone(),
        tiers: plan.tiers.clone(),
        footprints: plan.footprints.clone(),
        threads: plan.threads.clone(),
        in_place: plan.in_place.clone(),
        cases: plan.cases.clone(),
        latency: plan.latency,
        budget: Budget { precision: plan.precision, time: budget.unwrap_or(planned) },
        counting,
        screened: Screened::default(),
        seed: plan.seed,
        command,
    })
}

/// The same files again, under the names they had. The engine checks that they are the same builds.
fn planned_libraries(head: &JournalHead) -> Result<Vec<Attached>, Failure> {
    let choices: Vec<LibraryChoice> = head
        .libraries
        .iter()
        .map(|(_, facts)| LibraryChoice::Path {
            name: facts.name.clone(),
            path: facts.path.clone().into(),
        })
        .collect();
    let mut found = engine::discover(&choices);
    for (attached, (given, _)) in found.iter_mut().zip(&head.libraries) {
        attached.given_name.clone_from(given);
    }
    match found.iter().find_map(|l| l.facts.error.as_ref().map(|e| (l, e))) {
        Some((library, why)) => {
            Err(Failure::usage(format!("library '{}': {why}", library.facts.path)))
        }
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &str) -> RunArgs {
        let line = format!("ciphermark run {words}");
        match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Some(Command::Run(args)) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_named_twice_is_measured_once() {
        let args =
            typed("-a aes-128-gcm -m message,rekey,message --footprint hot,hot -t native,native");
        let asked = request(&args, choose::named_suite("quick").unwrap()).unwrap();
        assert_eq!(asked.models, [base::model::Model::Message, base::model::Model::Rekey]);
        assert_eq!((asked.footprints.len(), asked.tiers.len()), (1, 1));
    }

    #[test]
    fn an_interrupt_before_the_first_number_is_no_budget_that_was_too_short() {
        let all_are = |stopped| {
            let mut record = record::fixtures::sample();
            for m in &mut record.measurements {
                (m.state, m.stopped) = (State::Failed, Some(stopped));
            }
            exit(&record)
        };
        assert_eq!(all_are(Stopped::Interrupted).unwrap(), Exit::Interrupted);
        let why = all_are(Stopped::Budget).unwrap_err();
        assert!(why.exit == Exit::NotDone && why.message.contains("raise --budget"), "{why:?}");
    }
}
