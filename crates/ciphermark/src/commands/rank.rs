//! `ciphermark rank`: the best answer to a question, from a record or measured now.

use super::run;
use crate::args::{Cli, Command, InPlaceArg, QuestionArgs, RankArgs, RunArgs, TimeArgs};
use crate::error::{Exit, Failure};
use crate::suites;
use crate::{choose, kinds, screen};
use base::model::Algorithm;
use clap::Parser as _;
use judge::compare::{Class, Question, Ranking};
use record::Record;
use std::path::Path;

/// Rows of an answer to one question, and of each of several.
const ROWS: usize = 10;
const FEW_ROWS: usize = 3;

/// The suite that is measured where no record is given.
const SUITE: &str = "quick";

/// Answers a question, or the usual ones.
pub fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    if let Some(store) = &args.from {
        let question = args.question.as_ref().map_or_else(|| Ok(Question::default()), question)?;
        return super::archive::rank(args, store, &question);
    }
    args.which.without_archive()?;
    let path = args.record.as_ref().map(Path::new);
    let record = || path.map(|path| kinds::record(path).map_err(Failure::usage)).transpose();
    let answers = match &args.question {
        None => match record()? {
            Some(record) => {
                usual(&record, args.rows.unwrap_or(FEW_ROWS)).map_err(Failure::usage)?
            }
            None => {
                return Err(Failure::usage(
                    "give a record, as in `ciphermark rank run.json`, or what to measure now, as in \
                     `ciphermark rank --authenticated --size 8K`; `ciphermark rank --help` has the flags",
                ));
            }
        },
        Some(flags) => {
            let question = question(flags)?;
            let record = match record()? {
                Some(record) => record,
                None => measure(&question, flags, args.time)?,
            };
            let rows = args.rows.unwrap_or_else(|| rows(&question, ROWS));
            vec![judge::compare::rank(&record, &question, rows).map_err(Failure::usage)?]
        }
    };
    screen::print(|options| report::rankings(&answers, args.format, options))?;
    Ok(Exit::Done)
}

fn question(args: &QuestionArgs) -> Result<Question, Failure> {
    // NAME=PATH is for measuring; afterwards the name is what it goes by.
    let name = |text: &str| text.split('=').next().unwrap_or_default().to_owned();
    let libraries: Vec<String> = choose::each_library(&args.library).map(name).collect();
    let one = |what: &str, flag: &str, text: &str, found: usize| match found {
        1 => Ok(()),
        _ => Err(Failure::usage(format!("{flag} '{text}': a question is about one {what}"))),
    };
    let size = match &args.size {
        Some(text) => {
            let sizes = base::model::parse_sizes(text).map_err(Failure::usage)?;
            one("size; --per size has the best of each", "--size", text, sizes.len())?;
            sizes.first().copied()
        }
        None => None,
    };
    if args.in_place.is_some_and(|w| matches!(w, InPlaceArg::Both)) {
        one("place", "--in-place", "both", 2)?;
    }
    Ok(Question {
        class: args.class.or(args.authenticated.then_some(Class::Authenticated)),
        by: args.by.unwrap_or_default(),
        direction: args.direction,
        size,
        tier: args.tier,
        per: args.per,
        key_bits: args.key_bits,
        model: args.model,
        threads: args.threads,
        footprint: args.footprint,
        in_place: args.in_place.map(|w| matches!(w, InPlaceArg::Yes)),
        setting: args.setting.clone(),
        same_trace: args.same_trace,
        algorithms: choose::globs(&args.algorithm)?,
        libraries: choose::globs(&libraries)?,
    })
}

/// Of groups the first row each.
fn rows(question: &Question, usual: usize) -> usize {
    if question.per.is_some() { 1 } else { usual }
}

/// What people come with, as far as the record can tell; why not, if it answers nothing.
fn usual(record: &Record, most: usize) -> Result<Vec<Ranking>, String> {
    let questions = Question::usual(record).into_iter();
    let (answers, unanswered): (Vec<_>, Vec<_>) = questions
        .map(|q| judge::compare::rank(record, &q, rows(&q, most)))
        .partition(Result::is_ok);
    let why = unanswered.into_iter().find_map(Result::err);
    match why.filter(|_| answers.is_empty()) {
        Some(why) => Err(why),
        None => Ok(answers.into_iter().flatten().collect()),
    }
}

/// Measures what the question is about: the quick suite's algorithms that take part.
fn measure(question: &Question, args: &QuestionArgs, time: TimeArgs) -> Result<Record, Failure> {
    let stop = time.limit(&run::watch_signals()?);
    if let Some(model) = question.model.filter(|model| !model.is_of_survey()) {
        return Err(Failure::usage(format!(
            "--model {model} is nothing that `ciphermark run` measures: give a record of `ciphermark tls` or `pages`"
        )));
    }
    let mut line: Vec<String> = ["ciphermark", "run", "--suite", SUITE].map(str::to_owned).to_vec();
    // Verdicts on secrets come with the evidence.
    line.extend((!question.same_trace).then(|| "--no-evidence".to_owned()));
    let mut flag = |name: &str, value: String| line.extend([name.to_owned(), value]);
    for algorithm in algorithms(question)? {
        flag("-a", algorithm);
    }
    args.library.iter().for_each(|l| flag("-l", l.clone()));
    if let Some(size) = question.size {
        flag("-s", size.to_string());
    }
    if let Some(direction) = question.direction {
        flag("-d", direction.to_string());
    }
    if let Some(tier) = question.tier {
        flag("-t", tier.to_string());
    }
    if let Some(model) = question.model {
        flag("-m", model.to_string());
    }
    if let Some(footprint) = question.footprint {
        flag("--footprint", footprint.to_string());
    }
    if let Some(threads) = question.threads {
        flag("--threads", threads.to_string());
    }
    if question.in_place == Some(true) {
        flag("--in-place", "yes".to_owned());
    }
    let record = run::record_of(&parsed(&line)?, &stop)?;
    run::tell_left_out(false, &record);
    Ok(record)
}

fn parsed(line: &[String]) -> Result<RunArgs, Failure> {
    match Cli::try_parse_from(line).map(|cli| cli.command) {
        Ok(Some(Command::Run(args))) => Ok(*args),
        Ok(_) => Err(Failure::not_done("the question makes no run")),
        Err(error) => Err(Failure::usage(error)),
    }
}

/// Of the suite where it has such, else of all.
fn algorithms(question: &Question) -> Result<Vec<String>, Failure> {
    let suite = suites::find(SUITE)?;
    let of = |all: Vec<&'static Algorithm>| -> Vec<String> {
        let taken = all.into_iter().filter(|a| question.takes(a.name));
        taken.map(|a| a.name.to_owned()).collect()
    };
    let named = !question.algorithms.is_empty();
    let mut found = if named { Vec::new() } else { of(choose::algorithms(&suite.algorithms)?) };
    if found.is_empty() {
        found = of(Algorithm::all().iter().collect());
    }
    if found.is_empty() {
        return Err(Failure::usage(
            "no algorithm takes part; `ciphermark list algorithms` shows all",
        ));
    }
    Ok(found)
}
