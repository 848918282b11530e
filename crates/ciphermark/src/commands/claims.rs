//! `ciphermark claims`: the published claims, judged by measurements of this machine.

use crate::commands::run::{claim_output, survey, tell_left_out, watch_signals};
use crate::commands::{TimeArgs, advise, choose};
use crate::files::Kind;
use crate::{Exit, Failure, files, screen};
use base::model::{NameGlob, suggestion};
use clap::Args;
use engine::{Attached, Budget, Counting, Request, Stop, TlsOutcome};
use judge::claims::{Claim, Evidence, HandshakeNeed, Handshakes, Need, Outcome, Source};
use record::tls::{Run, RunKind, Temperature};
use record::{PlannedCase, Record, State};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `ciphermark claims`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark claims                                 measures what it needs, half a minute\n  \
    ciphermark claims --only 'tx-*' -o claims.json    and keeps the record\n  \
    ciphermark claims claims.json claims.tls.json     nothing is measured anew: the record and the handshakes\n  \
    ciphermark claims --table highgo                  the article's table, with this machine beside it\n\n\
    Verdicts: holds, does not hold, depends (and on what), not testable here (and why). A claim is\n\
    judged in each version of the library that it is of. Sources: highgo, transactional,\n\
    asecuritysite, tls. claims/README.md has the conditions.")]
pub struct ClaimsArgs {
    /// Records and runs of `tls handshake` to judge by; without any, what is needed is measured.
    #[arg(value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// Only these claims, by name or glob, separated by commas; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Only the claims of this source; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub source: Vec<String>,
    /// Print this source's table with this machine's figures beside it, instead of verdicts.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["only", "source"])]
    pub table: Option<String>,
    /// Print each claim with its figures, not a screen.
    #[arg(long)]
    pub all: bool,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: judge::claims::Format,
    /// Keep what was measured in this file (JSON); handshakes beside it, in NAME.tls.json.
    #[arg(short, long, value_name = "FILE", conflicts_with = "records")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub time: TimeArgs,
    /// Libraries to measure beside those found: NAME=PATH; or only those that a glob matches.
    #[arg(short, long, value_name = "GLOB|NAME=PATH", conflicts_with = "records")]
    pub library: Vec<String>,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Time of sampling of a thorough answer.
const THOROUGH: Duration = Duration::from_secs(120);

/// Judges claims by records, or by what it measures for them.
pub fn claims(args: &ClaimsArgs) -> Result<Exit, Failure> {
    match &args.table {
        Some(name) => table(args, name),
        None => verdicts(args),
    }
}

fn verdicts(args: &ClaimsArgs) -> Result<Exit, Failure> {
    let sources = judge::claims::built_in();
    let chosen = chosen(&sources, args)?;
    let claims: Vec<&Claim> = chosen.iter().map(|(_, claim)| *claim).collect();
    let wanted = Wanted {
        survey: judge::claims::need_of_claims(&claims),
        handshakes: judge::claims::handshakes_of_claims(&claims),
        claims: &chosen,
    };
    let (records, runs) = known(args, &wanted)?;
    let handshakes = Handshakes::of(&runs);
    let evidence = Evidence::of(&records).with(&handshakes);
    let judged: Vec<_> =
        chosen.iter().map(|(s, c)| judge::claims::judge(s, c, &evidence)).collect();
    let is_screen = args.format == judge::claims::Format::Text && !args.all;
    let taken = records.iter().map(|r| (&r.host, &r.started));
    let machine = match taken.chain(runs.iter().map(|r| (&r.host, &r.started))).next() {
        Some((host, started)) if !args.records.is_empty() => {
            format!("{}, {}", host.cpu.name, started.get(..10).unwrap_or(started))
        }
        _ => "this machine".to_owned(),
    };
    screen::print(|options| {
        let whole = |options| judge::claims::render_claims(&judged, args.format, options);
        if is_screen {
            report::claims_screen(&judged, &machine, options, whole)
        } else {
            whole(options)
        }
    })?;
    Ok(Exit::Done)
}

fn table(args: &ClaimsArgs, name: &str) -> Result<Exit, Failure> {
    let table = judge::claims::published(name)
        .ok_or_else(|| unknown_source(&judge::claims::built_in(), name))?;
    let survey = judge::claims::need_of_table(&table);
    let handshakes = HandshakeNeed::default();
    let (records, _) = known(args, &Wanted { survey, handshakes, claims: &[] })?;
    let printed = judge::claims::printed_table(&table, &Evidence::of(&records));
    screen::print(|options| judge::claims::render_table(&printed, args.format, options))?;
    Ok(Exit::Done)
}

/// The claims that the flags let through, with their sources.
fn chosen<'a>(
    sources: &'a [Source],
    args: &ClaimsArgs,
) -> Result<Vec<(&'a Source, &'a Claim)>, Failure> {
    if let Some(unknown) = args.source.iter().find(|name| !sources.iter().any(|s| s.id == **name)) {
        return Err(unknown_source(sources, unknown));
    }
    let globs = choose::globs(&args.only)?;
    let ids = || sources.iter().flat_map(|s| &s.claims).map(|c| c.id.as_str());
    if let Some(glob) = globs.iter().find(|g| !ids().any(|id| g.matches(id))) {
        let hint = suggestion(glob.text(), ids());
        return Err(Failure::usage(format!("no claim matches '{}'{hint}", glob.text())));
    }
    let kept: Vec<(&Source, &Claim)> = sources
        .iter()
        .filter(|s| args.source.is_empty() || args.source.contains(&s.id))
        .flat_map(|s| s.claims.iter().map(move |c| (s, c)))
        .filter(|(_, c)| choose::any(&globs, |g| g.matches(&c.id)))
        .collect();
    if kept.is_empty() {
        return Err(Failure::usage("no claim of these sources has such a name"));
    }
    Ok(kept)
}

fn unknown_source(sources: &[Source], name: &str) -> Failure {
    let hint = suggestion(name, sources.iter().map(|s| s.id.as_str()));
    let all: Vec<&str> = sources.iter().map(|s| s.id.as_str()).collect();
    Failure::usage(format!("unknown source '{name}'{hint}; there are {}", all.join(", ")))
}

struct Wanted<'a> {
    survey: Need,
    handshakes: HandshakeNeed,
    /// What is to be decided; nothing where figures are wanted.
    claims: &'a [(&'a Source, &'a Claim)],
}

/// The claims that a record has not decided, and could: intervals overlap, or there was no time for a case.
fn open<'a>(chosen: &[(&'a Source, &'a Claim)], record: &Record) -> Vec<&'a Claim> {
    let evidence = Evidence::of(std::slice::from_ref(record));
    let is_open = |outcome: &Outcome| match outcome {
        Outcome::Undecided | Outcome::NoTime(_) => true,
        Outcome::Holds | Outcome::Fails | Outcome::Missing(_) => false,
    };
    let judged = chosen.iter().map(|(s, c)| (judge::claims::judge(s, c, &evidence), *c));
    let open = judged.filter(|(judged, _)| judged.cases.iter().any(|c| is_open(&c.outcome)));
    open.map(|(_, claim)| claim).collect()
}

/// Half-widths of intervals: first of all cases, then of those that claims hang on which are not decided. Conditions are of
/// differences of a per cent and more.
const COARSE: f64 = 0.03;
const FINE: f64 = 0.005;

/// What claims ask for, coarsely, then in the time that is left finely what that has not decided.
fn by_elimination(
    args: &ClaimsArgs,
    wanted: &Wanted<'_>,
    time: Duration,
    libraries: &[Attached],
    stop: &Stop,
) -> Result<Option<Record>, Failure> {
    if args.time.thorough || wanted.claims.is_empty() {
        return measure(args, &wanted.survey, FINE, time, libraries, stop);
    }
    let begun = Instant::now();
    let first = measure(args, &wanted.survey, COARSE, time, libraries, stop)?;
    let Some(first) = first else { return Ok(None) };
    let open = judge::claims::need_of_claims(&open(wanted.claims, &first));
    let left = time.saturating_sub(begun.elapsed());
    Ok(Some(match measure(args, &open, FINE, left, libraries, stop)? {
        Some(finer) => advise::with_rows(first, finer),
        None => first,
    }))
}

type Known = (Vec<Record>, Vec<Run>);

/// Those that were named, else what was measured now.
fn known(args: &ClaimsArgs, wanted: &Wanted<'_>) -> Result<Known, Failure> {
    if !args.records.is_empty() {
        return loaded(&args.records);
    }
    // Given back, with nothing in it, when the record is written.
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let budget = args.time.sampling(THOROUGH);
    let libraries = match wanted.survey.cases.is_empty() {
        true => Vec::new(),
        false => choose::attached(&args.library)?,
    };
    let has_both = !wanted.survey.cases.is_empty() && !wanted.handshakes.cases.is_empty();
    let for_handshakes = if has_both { budget / 3 } else { budget };
    let for_surveys = if has_both { budget - for_handshakes } else { budget };
    let first = stop.left().filter(|_| has_both);
    let first = first.map_or_else(|| stop.clone(), |left| stop.within(left.mul_f64(2.0 / 3.0)));
    let record = by_elimination(args, wanted, for_surveys, &libraries, &first)?;
    let run = handshakes(args, &wanted.handshakes, for_handshakes, &stop);
    let interrupted = stop.is_interrupted();
    screen::say(args.quiet, interrupted, "interrupted; judged by what there is");
    record.iter().for_each(|record| tell_left_out(args.quiet, record));
    run.iter().for_each(|run| tell_left_out(args.quiet, &run.record()));
    if let Some(path) = &args.output {
        if let Some(record) = &record {
            record::save(record, path).map_err(Failure::not_done)?;
        }
        if let Some(run) = &run {
            let path = if record.is_some() { beside(path) } else { path.clone() };
            record::save(&run.record(), &path).map_err(Failure::not_done)?;
        }
    }
    Ok((record.into_iter().collect(), run.into_iter().map(|outcome| outcome.run).collect()))
}

fn loaded(paths: &[PathBuf]) -> Result<Known, Failure> {
    let (mut records, mut runs) = (Vec::new(), Vec::new());
    for path in paths {
        match files::load(path)? {
            Kind::Survey(record) if is_imported(&record) => {
                return Err(Failure::usage(format!(
                    "'{}' has only imported figures, which prove no claim: name a record of `ciphermark run`",
                    path.display()
                )));
            }
            Kind::Survey(record) => records.push(*record),
            Kind::Tls(run) if run.kind == RunKind::Handshakes => runs.push(*run),
            Kind::Tls(_) | Kind::Pages(_) | Kind::Advice(_) => return Err(nothing_of(path)),
        }
    }
    let of_runs = runs.iter().map(|run| &run.host.cpu);
    let mut cpus = records.iter().map(|record| &record.host.cpu).chain(of_runs);
    let first = cpus.next();
    if let Some((first, other)) =
        first.and_then(|first| Some((first, cpus.find(|c| c.name != first.name)?)))
    {
        return Err(Failure::usage(format!(
            "these were taken on {} and {}: name records of one machine, claims are of one at a time",
            base::text::one_line(&first.name),
            base::text::one_line(&other.name)
        )));
    }
    Ok((records, runs))
}

pub(crate) fn is_imported(record: &Record) -> bool {
    let all = &record.measurements;
    !all.is_empty() && all.iter().all(|m| m.state == State::Imported)
}

fn nothing_of(path: &Path) -> Failure {
    Failure::usage(format!(
        "'{}' is neither a record of a survey nor a run of tls handshake, which claims are judged by",
        path.display()
    ))
}

/// `claims.tls.json` for `claims.json`: the run of handshakes beside the record.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = match name.find(".json") {
        Some(at) => name.split_at(at),
        None => (name.as_str(), ".json"),
    };
    path.with_file_name(format!("{stem}.tls{ending}"))
}

/// The handshakes that claims ask for, in the stacks of their libraries; none where none is asked for or
/// no library has a stack.
fn handshakes(
    args: &ClaimsArgs,
    need: &HandshakeNeed,
    time: Duration,
    stop: &Stop,
) -> Option<TlsOutcome> {
    if need.cases.is_empty() || stop.is_over() {
        return None;
    }
    let globs = globs(need.libraries.iter().map(String::as_str));
    // Who asked for libraries without a stack has no answer, and no error: other claims have theirs.
    let (mut stacks, _) = crate::commands::tls::stacks(&args.library, false).ok()?;
    stacks.retain(|stack| {
        let names = [&stack.facts.name, &stack.facts.label];
        globs.iter().any(|g| names.iter().any(|n| g.matches(n)))
    });
    if stacks.is_empty() {
        return None;
    }
    let (cases, time) = (need.cases.iter().copied(), time.max(Duration::from_secs(3)));
    crate::commands::tls::handshakes(args.quiet, cases, Temperature::Hot, &stacks, time, None, stop)
        .ok()
}

fn measure(
    args: &ClaimsArgs,
    need: &Need,
    precision: f64,
    time: Duration,
    libraries: &[Attached],
    stop: &Stop,
) -> Result<Option<Record>, Failure> {
    let libraries = wanted(libraries, need);
    if need.cases.is_empty() || libraries.is_empty() || stop.is_over() {
        return Ok(None);
    }
    // Never so little that nothing can be measured.
    let request = request(need, precision, time.max(Duration::from_secs(3)))?;
    if engine::cases(&request, &libraries, &engine::machine()).is_empty() {
        return Ok(None);
    }
    survey(args.quiet, &request, &libraries, stop).map(Some)
}

fn wanted(libraries: &[Attached], need: &Need) -> Vec<Attached> {
    if need.cases.iter().any(|case| case.libraries.is_none()) {
        return libraries.to_vec();
    }
    let globs = globs(need.cases.iter().filter_map(|case| case.libraries.as_deref()));
    let is_wanted =
        |l: &&Attached| globs.iter().any(|g| g.matches_library(&l.facts.name, &l.facts.version));
    libraries.iter().filter(is_wanted).cloned().collect()
}

fn globs<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<NameGlob> {
    let distinct: BTreeSet<&str> = texts.collect();
    distinct.into_iter().filter_map(|text| NameGlob::parse(text).ok()).collect()
}

fn request(need: &Need, precision: f64, time: Duration) -> Result<Request, Failure> {
    fn all<T: Ord>(need: &Need, of: impl Fn(&PlannedCase) -> Option<T>) -> Vec<T> {
        let all: BTreeSet<T> = need.cases.iter().filter_map(of).collect();
        all.into_iter().collect()
    }
    let names = all(need, |case| Some(case.algorithm.clone()));
    let budget = Budget { precision, time };
    Ok(Request {
        directions: all(need, |case| Some(case.direction)),
        models: all(need, |case| Some(case.model)),
        sizes: all(need, |case| Some(case.size)),
        tiers: all(need, |case| case.tier),
        cases: need.cases.iter().cloned().collect(),
        counting: if need.instructions { Counting::All } else { Counting::Tiers },
        ..choose::plain_request(choose::algorithms(&names)?, budget)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_can_be_asked_of_the_engine() {
        let sources = judge::claims::built_in();
        let all: Vec<&Claim> = sources.iter().flat_map(|s| &s.claims).collect();
        let need = judge::claims::need_of_claims(&all);
        let request = request(&need, FINE, Duration::from_secs(1)).unwrap();
        let of = |name: &str| request.algorithms.iter().any(|a| a.name == name);
        assert!(need.cases.iter().all(|case| of(&case.algorithm)), "{need:?}");
    }

    #[test]
    fn handshakes_lie_beside_the_record() {
        let name = |path: &str| beside(Path::new(path)).display().to_string();
        assert_eq!(name("a/claims.json"), "a/claims.tls.json");
        assert_eq!(name("claims.json.gz"), "claims.tls.json.gz");
        assert_eq!(name("claims"), "claims.tls.json");
    }
}
