//! `ciphermark advise`: what to encrypt with, and why each other scheme lost.

use super::run::watch_signals;
use crate::args_advise::{AdviseArgs, LibraryVersion, UseArg, YesNo};
use crate::error::{Exit, Failure};
use crate::kinds::{self, Kind};
use crate::progress::Bar;
use crate::{choose, screen};
use base::model::{NameGlob, Tier};
use clap::ValueEnum as _;
use engine::{Attached, Event, LeakSubject, LibraryChoice, Secrets, Stop};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use judge::advise::{
    Advice, Data, Evidence, Format, LibraryNow, OpenWhy, Outcome, Question, Surroundings, Use,
};
use record::at_rest::PagesRecord;
use record::{Leaks, LibraryId, Record};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Answers from a record, or from what it measures for the question.
pub fn advise(args: &AdviseArgs) -> Result<Exit, Failure> {
    if matches!(args.used, UseArg::TlsServer) {
        return super::advise_tls::advise_tls(args);
    }
    if let Some(flag) = args.tls.typed() {
        return Err(Failure::usage(format!("{flag} is for --for tls-server only")));
    }
    if let Some(from) = &args.postgres.from {
        return super::advise_postgres::predict(args, from);
    }
    let data = Data::built_in();
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut question = question(&data, args, today)?;
    let (kept, origin) = prices(&data, &mut question, args)?;
    let (evidence, mut around) = evidence(&kept, today);
    let is_kept = args.record.is_some() || args.record_flag.is_some();
    let stop = watch_signals()?.within(if is_kept { JUDGING } else { AT_THE_END });
    let advice = judged_first(args, &data, &question, evidence, &mut around, &stop)?;
    screen::print(|options| match args.format {
        Format::Text if !args.why => judge::advise::first_screen(&advice, &origin, options),
        format => judge::advise::render(&advice, &origin, format, options),
    })?;
    let is_missing = advice.open.iter().any(|o| o.kind == OpenWhy::Missing);
    Ok(match advice.outcome {
        Outcome::Choice(_) if is_missing => Exit::SomeRefused,
        Outcome::Choice(_) => Exit::Done,
        Outcome::None(_) => Exit::Found,
    })
}

/// Time for verdicts on secrets that a record lacks and no earlier run left.
const JUDGING: Duration = Duration::from_secs(20);
/// The same where it was just measured, and judged on the way.
const AT_THE_END: Duration = Duration::from_secs(5);
/// What is judged side by side: the cheapest that are not.
const IN_LINE: usize = 4;

/// The answer, when what it would choose is judged: here, where the record's CPU and builds are.
pub(super) fn judged_first(
    args: &AdviseArgs,
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &mut Surroundings,
    stop: &Stop,
) -> Result<Advice, Failure> {
    while !stop.is_over() && around.cpu.as_deref() == Some(evidence.cpu()) {
        let pairs = judge::advise::unjudged(data, question, evidence, around, IN_LINE);
        let is_known =
            |v: &Leaks| around.judged.iter().any(|k| k.is_of(&v.library, &v.algorithm, v.tier));
        let judged = judge(args, &pairs, question.tier, stop)?;
        let new: Vec<Leaks> = judged.into_iter().filter(|v| !is_known(v)).collect();
        if new.is_empty() {
            break;
        }
        around.judged.extend(new);
    }
    Ok(judge::advise::advise(data, question, evidence, around))
}

/// Verdicts on algorithms in the builds that are still here.
fn judge(
    args: &AdviseArgs,
    pairs: &BTreeSet<(LibraryId, String)>,
    tier: Tier,
    stop: &Stop,
) -> Result<Vec<Leaks>, Failure> {
    let is_here = |l: &LibraryId| record::expanded(&l.path).is_file();
    let here = pairs.iter().filter(|(l, _)| is_here(l));
    let names: BTreeSet<String> = here.map(|(l, _)| wanted(l)).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let named: Vec<LibraryChoice> =
        choose::libraries(&names.into_iter().collect::<Vec<_>>())?.into_iter().collect();
    let libraries = engine::at_tiers(&choose::discover(&named), &[tier]);
    let subject = |(id, algorithm): &(LibraryId, String)| {
        let library = libraries.iter().position(|l| is_build(l, id))?;
        Some(LeakSubject { library, tier, algorithm: algorithm.clone() })
    };
    let subjects: Vec<LeakSubject> = pairs.iter().filter_map(subject).collect();
    let bar = Bar::new(args.quiet);
    let judged =
        engine::judge_leaks(&libraries, &subjects, &Secrets::quick(), stop, &|done, of| {
            bar.show(Event::Stepping { done, of });
        });
    bar.finish();
    Ok(judged.leaks)
}

/// What finds a build again: its file under its name.
fn wanted(library: &LibraryId) -> String {
    format!("{}={}", library.name, record::expanded(&library.path).display())
}

/// Whether a library that is here is a build of a record.
pub(super) fn is_build(library: &Attached, id: &LibraryId) -> bool {
    let own = library.facts.identity();
    LibraryId { path: record::shown(&own.path), ..own } == *id
}

/// The record that was given, or one that is measured now, and what to call it.
pub(super) fn prices(
    data: &Data,
    question: &mut Question<'_>,
    args: &AdviseArgs,
) -> Result<(Kind, String), Failure> {
    let Some(path) = args.record.as_ref().or(args.record_flag.as_ref()) else {
        let measured = super::advise_measure::measure(data, args, question)?;
        return Ok((Kind::Survey(Box::new(measured)), "measured now,".to_owned()));
    };
    let kept = kinds::load(path)?;
    has_what_is_asked(&kept, question, args, path)?;
    Ok((kept, record::shown(&format!("record {}", path.display()))))
}

/// What prices are taken from, and what is so on this machine.
pub(super) fn evidence(kept: &Kind, today: Date) -> (Evidence<'_>, Surroundings) {
    let (evidence, libraries) = match kept {
        Kind::Survey(record) => (Evidence::Survey(record), &record.libraries),
        Kind::Pages(record) => (Evidence::Pages(record), &record.libraries),
        Kind::Advice(_) | Kind::Tls(_) => unreachable!("it has nothing that is asked"),
    };
    (evidence, surroundings(libraries, today))
}

pub(super) fn question<'a>(
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
    knows_libraries(&record.libraries, question, path)
}

/// Every library that was asked for is in the record.
fn knows_libraries(
    libraries: &[record::Library],
    question: &Question<'_>,
    path: &Path,
) -> Result<(), Failure> {
    let known =
        |glob: &NameGlob| libraries.iter().any(|l| choose::is_library(glob, &l.name, &l.version));
    match question.wishes.libraries.iter().find(|g| !known(g)) {
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
    knows_libraries(&record.libraries, question, path)?;
    let timed = rows.iter().any(|m| m.latency_ns.as_ref().is_some_and(|l| l.p99.is_some()));
    if question.wishes.max_p99_us.is_some() && !timed {
        return lacks("latencies of single operations".to_owned(), "--latency".to_owned());
    }
    Ok(())
}

fn surroundings(libraries: &[record::Library], today: Date) -> Surroundings {
    let mut sorted: Vec<&record::Library> = libraries.iter().collect();
    sorted.sort_by_key(|l| &l.path);
    sorted.dedup_by_key(|l| &l.path);
    let now = |l: &&record::Library| LibraryNow { path: l.path.clone(), id: host::id_now(l).ok() };
    let is_file = |l: &&&record::Library| {
        !base::model::runs_elsewhere(Path::new(&l.path)) && !l.path.is_empty()
    };
    let files = sorted.iter().filter(is_file);
    let libraries = files.map(now).collect();
    let cpu = Some(host::facts(0).cpu.name);
    Surroundings { today, cpu, libraries, judged: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_use_of_stored_data_that_can_be_typed_is_in_the_data_and_the_other_way_round() {
        let data = Data::built_in();
        let of_data = UseArg::value_variants().iter().filter(|u| !matches!(u, UseArg::TlsServer));
        let typed: Vec<&str> = of_data.map(|u| used(&data, *u).id.as_str()).collect();
        let all: Vec<&str> = data.uses.iter().map(|u| u.id.as_str()).collect();
        assert_eq!(typed, all);
    }
}
