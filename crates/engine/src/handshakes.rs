//! `ciphermark tls handshake`, `tls records` and `tls primitives`: which stacks there are, every one sampled
//! in turn, and the rows that come of it.

use crate::kinds::Tls;
use crate::libraries::{Attached, LibraryChoice, SelectError, StackFile, discover, select};
use crate::plan::Budget;
use crate::pool::Source;
use crate::process::{Worker, WorkerError};
use crate::progress::{CaseProgress, End, Event};
use crate::protocol::StackHello;
use crate::race::{Race, TlsRace};
use crate::survey::{Keeping, SampledRun, Sampling, SurveyError, sample_all};
use crate::time::Stop;
use crate::{kinds, progress};
use base::model::Tier;
use record::tls::{
    Bytes, Facts, First, Found, Memory, Plan, Row, Run, RunKind, Subject, Temperature, both_ends,
    measured,
};
use record::{Journal, JournalHead, Record, Samples, State, Stopped, Tool};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct TlsRequest {
    /// What, each with what lies between two steps: handshakes, records or primitives alone.
    pub rows: Vec<(Subject, Temperature)>,
    /// Half the width of the interval at which the sampling of a hot case ends, as a fraction.
    pub precision: f64,
    pub time: Duration,
    pub seed: u64,
    /// The CPU to measure on: of a process that stepped aside before, it would be asked for in vain.
    pub cpu: u32,
    /// What of it need not be measured to the end; none where all is asked for.
    pub race: Option<TlsRace>,
    pub command: Vec<String>,
}

/// Measures the rows in every stack; of records without the bare ciphers. Ends early when `stop` is set; what
/// there is counts.
pub fn measure_tls(
    kind: RunKind,
    request: &TlsRequest,
    stacks: &[StackFile],
    keeping: Keeping,
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<TlsOutcome, SurveyError> {
    let all_progress = all_progress(request, stacks.len());
    let of_stack = |stack: usize, _| Source::Stack(&stacks[stack]);
    let all = Sampling {
        head: head(kind, request, stacks, all_progress.len()),
        all_progress,
        source: &of_stack,
        budget: Budget { precision: request.precision, time: request.time },
        // Without an end every row gets a number.
        least_passes: if stop.left().is_none() { kinds::PROCESSES as u32 } else { 0 },
        race: request.race.clone().map(|rows| Race {
            rows,
            sources: stacks.len(),
            // What a record costs is sending and receiving it.
            counts_both: kind == RunKind::Records,
        }),
        cpu: request.cpu,
    };
    let (sampled, journal) = sample_all(all, keeping, stop, events)?;
    let interrupted = stop.is_interrupted();
    let (run, raw) = assemble(kind, sampled, request, stacks);
    Ok(TlsOutcome { run, raw, interrupted, journal })
}

#[derive(Debug)]
pub struct TlsOutcome {
    pub run: Run,
    /// Every sample of both parts of each row.
    pub raw: Vec<[Samples; 2]>,
    pub interrupted: bool,
    /// The journal, to be removed when the record is safe; none if none was asked for.
    pub journal: Option<Journal>,
}

impl TlsOutcome {
    pub fn record(&self) -> Record {
        record::tls::into_record(&self.run, &self.raw)
    }
}

/// What the journal says at its head: the plan's lists are those of a survey, and empty; the rows come from the
/// command line again.
fn head(kind: RunKind, wanted: &TlsRequest, stacks: &[StackFile], cases: usize) -> JournalHead {
    let plan = record::Plan {
        precision: wanted.precision,
        budget_seconds: wanted.time.as_secs_f64(),
        seed: wanted.seed,
        tiers: stacks.first().map(|stack| stack.tier).into_iter().collect(),
        ..record::Plan::default()
    };
    let library = |path: &str, id: &str, stack: &record::tls::Stack| record::Library {
        name: stack.name.clone(),
        version: stack.version.clone(),
        path: path.to_owned(),
        id: id.to_owned(),
        ..record::Library::default()
    };
    let files = |StackFile { facts, .. }: &StackFile| {
        let protocol = library(&facts.path, &facts.id, facts);
        [(None, protocol), (None, library(&facts.crypto_path, &facts.crypto_id, facts))]
    };
    let libraries = stacks.iter().flat_map(files).collect();
    progress::journal_head(kind.name(), plan, cases, libraries, &wanted.command, wanted.cpu)
}

fn all_progress(wanted: &TlsRequest, stacks: usize) -> Vec<CaseProgress> {
    let turn = |row: usize| {
        let race = wanted.race.as_ref()?;
        let own = race.groups.iter().zip(&race.turns).filter(|(group, _)| group.contains(&row));
        own.map(|(_, turn)| *turn).min()
    };
    let of_row = |(row, (subject, temperature)): (usize, &(Subject, Temperature))| {
        let (subject, temperature, turn) = (*subject, *temperature, turn(row));
        (0..stacks).map(move |stack| Tls { stack, subject, temperature, turn })
    };
    let all = wanted.rows.iter().enumerate().flat_map(of_row).enumerate();
    all.map(|(i, tls)| CaseProgress::new(i, kinds::Subject::Tls(tls))).collect()
}

// Samples into the run's rows.

fn assemble(
    kind: RunKind,
    sampled: SampledRun,
    request: &TlsRequest,
    stacks: &[StackFile],
) -> (Run, Vec<[Samples; 2]>) {
    let mut all_progress: Vec<&CaseProgress> = sampled.all_progress.iter().collect();
    if kind == RunKind::Records {
        // Each stack's sizes of a suite one below the other.
        all_progress.sort_by_key(|progress| progress.subject.pool_key());
    }
    let of_one = |progress: &CaseProgress| {
        let kinds::Subject::Tls(tls) = &progress.subject else { return None };
        let blank =
            Row::blank(&stacks[tls.stack].facts.label, tls.subject, tls.temperature, State::Failed);
        let row = row(blank, progress, &sampled, request.precision);
        let raw = both_ends(&progress.ends.0, &sampled.quiet, row.contended);
        Some((row, raw))
    };
    let (rows, raw) = all_progress.into_iter().filter_map(of_one).unzip();
    let plan = Plan {
        precision: request.precision,
        budget_seconds: request.time.as_secs_f64(),
        seed: request.seed,
        cpu: request.cpu,
        tier: stacks.first().map_or(Tier::Native, |stack| stack.tier),
    };
    let run = Run {
        kind,
        tool: Tool::here(request.command.clone()),
        started: sampled.started,
        seconds: sampled.seconds,
        host: sampled.host,
        span: kind.span().to_owned(),
        plan,
        stacks: stacks.iter().map(|s| s.facts.clone()).collect(),
        noise: sampled.noise,
        rows,
    };
    (record::shared(run), raw)
}

/// Sums a progress up; `asked` is the precision of what is hot.
fn row(blank: Row, progress: &CaseProgress, sampled: &SampledRun, asked: f64) -> Row {
    let stopped = match &progress.end {
        Some(End::Found(finding)) => {
            let (state, reason) = (finding.state, Some(finding.why.clone()));
            return Row { state, reason, stopped: finding.stopped, ..blank };
        }
        Some(End::Stopped(why)) => *why,
        None => return Row { reason: Some("it was never visited".to_owned()), ..blank },
    };
    let blank = Row { stopped: Some(stopped), ..blank };
    let (ends, quiet) = (&progress.ends.0, &sampled.quiet);
    let found = measured(blank.clone(), ends, quiet, sampled.ticks_per_ns);
    // What left a race early has no number that anybody should compare.
    let found = found.filter(|row| stopped != Stopped::Screened || row.is_complete());
    let Some(row) = found else {
        return Row { reason: Some(too_few(progress.samples.len(), stopped)), ..blank };
    };
    let reason = imprecise(&row, progress.subject.precision(asked));
    with_facts(Row { reason, ..row }, &progress.facts, sampled.ticks_per_ns)
}

fn with_facts(mut row: Row, found: &[Found], ticks_per_ns: f64) -> Row {
    let mut of_handshakes: Vec<Facts> = Vec::new();
    for found in found {
        match found {
            Found::Handshake(facts) => of_handshakes.push(facts.clone()),
            Found::Records(facts) => {
                row.negotiated.get_or_insert_with(|| facts.negotiated.clone());
                row.overhead_bytes.get_or_insert(facts.overhead_bytes);
            }
            Found::Primitive(facts) if row.checks.is_empty() => {
                row.checks.clone_from(&facts.checks);
            }
            Found::Primitive(_) => {}
        }
    }
    let Some(first) = of_handshakes.first() else { return row };
    Row {
        negotiated: Some(first.negotiated.clone()),
        unset: first.unset,
        first: First::of(&of_handshakes, ticks_per_ns),
        bytes: Bytes::of(&of_handshakes),
        memory: Memory::of(&of_handshakes),
        ..row
    }
}

fn too_few(samples: usize, stopped: Stopped) -> String {
    match stopped {
        Stopped::Interrupted => {
            format!("interrupted after {samples} samples, too few for a number")
        }
        Stopped::Screened => {
            format!("{samples} samples showed that others are faster; --thorough measures it")
        }
        _ => format!("{samples} samples in the time budget, too few for a number; raise --budget"),
    }
}

fn imprecise(row: &Row, asked: f64) -> Option<String> {
    let precision = row.precision()?;
    if !row.contended && precision <= asked && row.is_complete() {
        return None;
    }
    let (is, processes) = (precision * 100.0, row.processes);
    let mut reason = format!("precision not reached: {is:.1} % over {processes} processes");
    if row.contended {
        reason.push_str("; too few quiet samples, so contended ones count too");
    }
    Some(reason)
}

// Which of the libraries come with a TLS stack.

pub struct SelectedStacks {
    pub stacks: Vec<StackFile>,
    pub chosen: Vec<String>,
    /// All that were found: among them those whose ciphers can stand beside the stacks.
    pub libraries: Vec<Attached>,
}

/// The stacks that choices ask for: those of libraries, and those that come as objects of their own. With `bare`,
/// libraries are looked for whose ciphers can stand beside the latter.
pub fn select_stacks(choices: &[LibraryChoice], bare: bool) -> Result<SelectedStacks, SelectError> {
    let is_own = |choice: &LibraryChoice| matches!(choice, LibraryChoice::Path { path, .. } if host::is_stack(path));
    let (given, others): (Vec<LibraryChoice>, Vec<LibraryChoice>) =
        choices.iter().cloned().partition(is_own);
    let only_given = others.is_empty() && !choices.is_empty();
    let is_glob = |choice: &LibraryChoice| matches!(choice, LibraryChoice::Glob(_));
    let searches = !only_given && (others.is_empty() || others.iter().any(is_glob));
    let mut own = own_stacks(&given, searches)?;
    let found = match (only_given, bare) {
        (true, false) => Vec::new(),
        (true, true) => discover(&[]),
        _ => discover(&others),
    };
    let wanted = of_libraries(&others, &found, &own);
    let libraries = match (choices.is_empty(), wanted.is_empty()) {
        (false, true) => Vec::new(),
        _ => select(found.clone(), &wanted)?,
    };
    own.retain(|stack| {
        let named = given.iter().any(|choice| names(choice, stack));
        named || choices.is_empty() || others.iter().any(|choice| names(choice, stack))
    });
    let mut stacks: Vec<StackFile> = libraries.iter().filter_map(stack).collect();
    own.iter_mut().for_each(|stack| stack.facts.bare_path = under(&stack.facts, &found));
    stacks.extend(own);
    label(&mut stacks);
    let chosen = libraries.iter().map(Attached::label).collect();
    Ok(SelectedStacks { stacks, chosen, libraries: found })
}

/// The choices that are left to libraries: a glob that names an object of its own need name no library.
fn of_libraries(
    others: &[LibraryChoice],
    found: &[Attached],
    own: &[StackFile],
) -> Vec<LibraryChoice> {
    let of_library = |choice: &&LibraryChoice| match choice {
        LibraryChoice::Path { .. } => true,
        LibraryChoice::Glob(glob) => {
            found.iter().any(|library| library.matches(glob))
                || !own.iter().any(|stack| names(choice, stack))
        }
    };
    others.iter().filter(of_library).cloned().collect()
}

fn names(choice: &LibraryChoice, stack: &StackFile) -> bool {
    match choice {
        LibraryChoice::Path { name, .. } => *name == stack.facts.name,
        LibraryChoice::Glob(glob) => {
            glob.matches(&stack.facts.name) || glob.matches(&stack.facts.label)
        }
    }
}

/// The library that is built from a crate that the stack is built from as well: `ring 0.17.14` under rustls
/// over it. Its path; empty where there is none.
fn under(stack: &record::tls::Stack, libraries: &[Attached]) -> String {
    let is_under = |library: &&Attached| {
        let record::Library { name, version, build, .. } = &library.facts;
        let by_name = format!("crate {name} {version}");
        let sources = build.iter().filter_map(|fact| fact.strip_prefix("source: "));
        let mut crates = sources.chain([by_name.as_str()]);
        crates.any(|one| stack.build.iter().any(|fact| fact == one))
    };
    let found = libraries.iter().filter(|l| l.facts.error.is_none()).find(is_under);
    found.map(|library| library.facts.path.clone()).unwrap_or_default()
}

/// No two stacks may be taken for one: a system's and a bundled build may be the same version.
fn label(stacks: &mut [StackFile]) {
    for at in 0..stacks.len() {
        let plain = stacks[at].facts.label.clone();
        let before = stacks[..at].iter().filter(|s| same(&s.facts, &stacks[at].facts)).count();
        if before > 0 {
            stacks[at].facts.label = format!("{plain} #{}", before + 1);
        }
    }
}

fn same(one: &record::tls::Stack, other: &record::tls::Stack) -> bool {
    (&one.name, &one.version) == (&other.name, &other.version)
}

fn stack(library: &Attached) -> Option<StackFile> {
    let file = PathBuf::from(&library.facts.path);
    let (path, crypto) = match beside(&file) {
        Some(path) => (path, Some(file)),
        None if is_whole(&file) => (file, None),
        None => return None,
    };
    let facts = record::tls::Stack {
        label: format!("{}@{}", library.facts.name, library.facts.version),
        name: library.facts.name.clone(),
        version: library.facts.version.clone(),
        path: path.display().to_string(),
        id: host::file_id(&path).ok()?,
        crypto_path: library.facts.path.clone(),
        crypto_id: library.facts.id.clone(),
        bare_path: library.facts.path.clone(),
        build: library.facts.build.clone(),
    };
    Some(StackFile::native(facts, path, crypto))
}

/// Whether a library's file holds a stack as well; loading it shows whether its build left that out.
fn is_whole(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("libwolfssl"))
}

/// The `libssl` that belongs to a `libcrypto`: beside it, with the same ending.
fn beside(crypto: &Path) -> Option<PathBuf> {
    let ending = crypto.file_name()?.to_str()?.strip_prefix("libcrypto")?;
    let path = crypto.with_file_name(format!("libssl{ending}"));
    path.is_file().then_some(path)
}

// Stacks that come as shared objects of their own: found, and loaded once to learn who they are.

/// Those that choices name as files, and with `searches` those that are found. One that was only found and cannot
/// be loaded is left out; to load it says why.
fn own_stacks(given: &[LibraryChoice], searches: bool) -> Result<Vec<StackFile>, SelectError> {
    let mut stacks = Vec::new();
    for choice in given {
        let LibraryChoice::Path { name, path } = choice else { continue };
        let unusable = |why: String| SelectError::Unusable { name: name.clone(), why };
        stacks.push(loaded_stack(path, Some(name)).map_err(unusable)?);
    }
    let found = if searches { host::find_stacks() } else { Vec::new() };
    stacks.extend(found.iter().filter_map(|path| loaded_stack(path, None).ok()));
    Ok(stacks)
}

fn loaded_stack(path: &Path, name: Option<&String>) -> Result<StackFile, String> {
    let path = path.canonicalize().map_err(|e| format!("'{}': {e}", path.display()))?;
    host::check_elf(&path).map_err(|e| format!("'{}' {e}", path.display()))?;
    let id = host::file_id(&path).map_err(|e| format!("'{}': {e}", path.display()))?;
    let mut ready = ask_stack(&path).map_err(|e| e.to_string())?;
    ready.objects.retain(|object| *object != path);
    let id = host::whole_id(&id, &host::loaded_files(&ready.objects));
    let name = name.cloned().unwrap_or(ready.name);
    let shown = path.display().to_string();
    let mut build = ready.build;
    build.extend(host::bundled(&path).into_iter().flat_map(|bundled| bundled.build));
    let facts = record::tls::Stack {
        label: format!("{name}@{}", ready.version),
        name,
        version: ready.version,
        path: shown.clone(),
        id: id.clone(),
        // The primitives are inside.
        crypto_path: shown,
        crypto_id: id,
        bare_path: String::new(),
        build,
    };
    Ok(StackFile::native(facts, path, None))
}

fn ask_stack(path: &Path) -> Result<crate::protocol::Ready, WorkerError> {
    let hello = StackHello { path: PathBuf::from(path), ..StackHello::default() };
    let mut worker = Worker::launch_stack(hello)?;
    worker.greet(None)?;
    Ok(worker.ready().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_the_same_version_are_told_apart() {
        let of = |version: &str| {
            let facts = record::tls::fixtures::stack(&format!("openssl@{version}"));
            StackFile::native(facts, PathBuf::new(), None)
        };
        let mut all = ["3.5.5", "4.0.3", "3.5.5", "3.5.5"].map(of);
        label(&mut all);
        let labels = all.map(|s| s.facts.label);
        let wanted = ["openssl@3.5.5", "openssl@4.0.3", "openssl@3.5.5 #2", "openssl@3.5.5 #3"];
        assert_eq!(labels, wanted);
    }

    #[test]
    fn a_stack_stands_beside_its_library_with_the_same_ending() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("libssl.so.3"), "").unwrap();
        assert_eq!(beside(&at("libcrypto.so.3")), Some(at("libssl.so.3")));
        assert_eq!(beside(&at("libcrypto.so.4")), None);
        assert_eq!(beside(&at("libsodium.so.3")), None);
        assert!(is_whole(&at("libwolfssl.so.35")) && !is_whole(&at("libcrypto.so.3")));
    }
}
