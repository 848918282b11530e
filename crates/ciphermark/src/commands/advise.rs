//! `ciphermark advise`: what to encrypt with, and why each other scheme lost.

use super::run::{claim_output, random_seed, say, survey, tell_left_out, watch_signals};
use crate::args_advise::{AdviseArgs, LibraryVersion, UseArg, YesNo};
use crate::error::{Exit, Failure};
use crate::kinds::{self, Kind};
use crate::{choose, screen};
use advise::{Data, Evidence, Format, KeyPer, LibraryNow, Outcome, Question, Surroundings, Use};
use at_rest::PagesRecord;
use clap::ValueEnum as _;
use engine::{Budget, LibraryChoice, Request};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::{Algorithm, Direction, Footprint, MAX_SIZE, Model, NameGlob};
use record::Record;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Half-width of each case's interval when measuring on the spot: ties are decided by other things.
const PRECISION: f64 = 0.02;

/// Time of sampling of a thorough answer.
const THOROUGH: Duration = Duration::from_secs(20);

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
    let (evidence, around) = evidence(&kept, today);
    let advice = advise::advise(&data, &question, evidence, &around);
    screen::print(|options| match args.format {
        Format::Text if !args.why => advise::first_screen(&advice, &origin, options),
        format => advise::render(&advice, &origin, format, options),
    })?;
    Ok(match advice.outcome {
        Outcome::Choice(_) => Exit::Done,
        Outcome::None(_) => Exit::Found,
    })
}

/// The record that was given, or one that is measured now, and what to call it.
pub(super) fn prices(
    data: &Data,
    question: &mut Question<'_>,
    args: &AdviseArgs,
) -> Result<(Kind, String), Failure> {
    let Some(path) = args.record.as_ref().or(args.record_flag.as_ref()) else {
        let measured = measure(data, args, question)?;
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
    let sizes = model::parse_sizes(text).map_err(Failure::usage)?;
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
            format!("was taken --as {}", text::one_line(&profile.name)),
            "advice is for schemes as good practice has them: take it without --as".to_owned(),
        );
    }
    let of_lsn =
        |s: &at_rest::SchemeFacts| matches!(s.recipe.nonce, at_rest::scheme::NonceRule::Lsn(_));
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
    let (tier, size, model) = (question.tier, question.size, model_of(question));
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

fn model_of(question: &Question<'_>) -> Model {
    match question.wishes.key_per {
        KeyPer::Store | KeyPer::Epoch => Model::Message,
        KeyPer::Write => Model::Rekey,
    }
}

/// What the answer and its neighbours need, in every library that may be used.
fn measure(data: &Data, args: &AdviseArgs, question: &Question<'_>) -> Result<Record, Failure> {
    // Given back, with nothing in it, when the record is written.
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let libraries = choose::attached(&args.library)?;
    let request = request(data, args, question);
    let record = survey(args.quiet, &request, &libraries, &stop)?;
    say(args.quiet, stop.is_interrupted(), "interrupted; advice from what there is");
    tell_left_out(args.quiet, &record);
    if let Some(path) = &args.output {
        record::save(&record, path).map_err(Failure::not_done)?;
    }
    Ok(record)
}

fn request(data: &Data, args: &AdviseArgs, question: &Question<'_>) -> Request {
    let needed = advise::needed_schemes(data, question);
    let names: BTreeSet<&str> =
        needed.iter().flat_map(|s| s.algorithms()).map(|a| a.name).collect();
    let wanted = |a: &&'static Algorithm| names.contains(a.name);
    Request {
        suite: None,
        algorithms: Algorithm::all().iter().filter(wanted).collect(),
        directions: vec![Direction::Encrypt, Direction::Decrypt],
        models: vec![model_of(question)],
        sizes: sizes(question.size),
        tiers: vec![question.tier],
        footprints: vec![Footprint::Hot],
        threads: vec![1],
        in_place: vec![false],
        latency: question.wishes.max_p99_us.is_some(),
        budget: Budget { precision: PRECISION, time: args.time.sampling(THOROUGH) },
        evidence: false,
        seed: random_seed(),
        command: super::typed(),
    }
}

/// The unit's, and two more for the line through them, in whole blocks.
fn sizes(size: usize) -> Vec<usize> {
    let blocks = |n: usize| (n / 16).max(1) * 16;
    let all = BTreeSet::from([blocks(size / 16), size, blocks(size * 4).min(MAX_SIZE)]);
    all.into_iter().collect()
}

fn surroundings(libraries: &[record::Library], today: Date) -> Surroundings {
    let mut sorted: Vec<&record::Library> = libraries.iter().collect();
    sorted.sort_by_key(|l| &l.path);
    sorted.dedup_by_key(|l| &l.path);
    let now = |l: &&record::Library| LibraryNow { path: l.path.clone(), id: host::id_now(l).ok() };
    let is_file =
        |l: &&&record::Library| !model::runs_elsewhere(Path::new(&l.path)) && !l.path.is_empty();
    let files = sorted.iter().filter(is_file);
    Surroundings { today, cpu: Some(host::facts(0).cpu.name), libraries: files.map(now).collect() }
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

    #[test]
    fn three_sizes_make_a_line_and_are_whole_blocks_beside_the_units_own() {
        assert_eq!(sizes(8192), [512, 8192, 32768]);
        assert_eq!(sizes(100), [16, 100, 400]);
        assert_eq!(sizes(MAX_SIZE), [MAX_SIZE / 16, MAX_SIZE]);
    }
}
