//! `ciphermark rank`: the best answer to a question, from a record or measured now.

use super::run;
use crate::args::{ByArg, ClassArg, Cli, Command, InPlaceArg, PerArg, RankArgs, RunArgs};
use crate::error::{Exit, Failure};
use crate::suites;
use crate::{choose, screen};
use clap::Parser as _;
use compare::{By, Class, Per, Question, Ranking};
use model::{Algorithm, NameGlob};
use record::{Record, State};
use std::path::Path;

/// Rows of an answer to one question, and of each of several or of a group.
const ROWS: usize = 10;
const FEW_ROWS: usize = 3;

/// The suite that is measured where no record is given.
const SUITE: &str = "quick";

/// Answers questions.
pub fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    if args.list {
        screen::print(report::question_words)?;
        return Ok(Exit::Done);
    }
    let (path, words) = match args.words.split_first() {
        Some((first, rest)) if is_record(first) => (Some(Path::new(first)), rest),
        _ => (None, &args.words[..]),
    };
    let flags = of_flags(args)?;
    let questions = questions(words, &flags, args)?;
    let record = match (path, &questions[..]) {
        (Some(path), _) => record::load(path).map_err(Failure::usage)?,
        (None, [one]) => measure(one, args)?,
        (None, _) => {
            return Err(Failure::usage(
                "give a record, as in `ciphermark rank run.json`, or a question to measure now, as in \
                 `ciphermark rank \"fastest authenticated at 8 KiB\"`; `ciphermark rank --list` has the words",
            ));
        }
    };
    let answers = if questions.is_empty() {
        usual(&record, args.rows.unwrap_or(FEW_ROWS))
    } else {
        let each = if questions.len() > 1 { FEW_ROWS } else { ROWS };
        answers(&record, &questions, args.rows, each)?
    };
    screen::print(|options| report::rankings(&answers, args.format.into(), options))?;
    Ok(Exit::Done)
}

/// A word of a question is no file's name, unless there is such a file.
fn is_record(text: &str) -> bool {
    let named = [".json", ".gz"].iter().any(|end| text.ends_with(end)) || text.contains('/');
    named || Path::new(text).is_file()
}

/// One question for each argument with a space in it, else one of all of them; the flags are part of
/// each. None where nothing is asked.
fn questions(
    words: &[String],
    flags: &Question,
    args: &RankArgs,
) -> Result<Vec<Question>, Failure> {
    let texts: Vec<String> = if words.iter().any(|w| w.trim().contains(' ')) {
        words.to_vec()
    } else if words.is_empty() {
        Vec::new()
    } else {
        vec![words.join(" ")]
    };
    let asked = |text: &String| {
        let question = compare::parse_question(text).map_err(Failure::usage)?;
        question.and(flags.clone()).map_err(Failure::usage)
    };
    if texts.is_empty() && has_flags(args) {
        return Ok(vec![flags.clone()]);
    }
    texts.iter().map(asked).collect()
}

fn has_flags(args: &RankArgs) -> bool {
    args.authenticated
        || !args.algorithm.is_empty()
        || !args.library.is_empty()
        || [
            args.class.is_some(),
            args.by.is_some(),
            args.per.is_some(),
            args.key_bits.is_some(),
            args.size.is_some(),
            args.direction.is_some(),
            args.model.is_some(),
            args.tier.is_some(),
            args.footprint.is_some(),
            args.threads.is_some(),
            args.in_place.is_some(),
        ]
        .contains(&true)
}

fn of_flags(args: &RankArgs) -> Result<Question, Failure> {
    let globs = |texts: &[String]| -> Result<Vec<NameGlob>, Failure> {
        // NAME=PATH is for measuring; afterwards the name is what it goes by.
        let name = |t: &String| t.split('=').next().unwrap_or_default().to_owned();
        texts.iter().map(|t| NameGlob::parse(&name(t)).map_err(Failure::usage)).collect()
    };
    let one = |what: &str, flag: &str, text: &str, found: usize| match found {
        1 => Ok(()),
        _ => Err(Failure::usage(format!("{flag} '{text}': a question is about one {what}"))),
    };
    let size = match &args.size {
        Some(text) => {
            let sizes = model::parse_sizes(text).map_err(Failure::usage)?;
            one("size; --per size has the best of each", "--size", text, sizes.len())?;
            sizes.first().copied()
        }
        None => None,
    };
    let direction = match args.direction.map(choose::directions) {
        Some(directions) => {
            one("direction", "--direction", "both", directions.len())?;
            directions.first().copied()
        }
        None => None,
    };
    if args.in_place.is_some_and(|w| matches!(w, InPlaceArg::Both)) {
        one("place", "--in-place", "both", 2)?;
    }
    let class = args.class.map(Class::from);
    Ok(Question {
        class: class.or(args.authenticated.then_some(Class::Authenticated)),
        by: args.by.map(By::from),
        direction,
        size,
        tier: args.tier,
        per: args.per.map(Per::from),
        key_bits: args.key_bits,
        model: args.model,
        threads: args.threads,
        footprint: args.footprint,
        in_place: args.in_place.map(|w| matches!(w, InPlaceArg::Yes)),
        algorithms: globs(&args.algorithm)?,
        libraries: globs(&args.library)?,
    })
}

fn answers(
    record: &Record,
    questions: &[Question],
    rows: Option<usize>,
    each: usize,
) -> Result<Vec<Ranking>, Failure> {
    let answer = |q: &Question| {
        let usual = if q.per.is_some() { 1 } else { each };
        compare::rank(record, q, rows.unwrap_or(usual)).map_err(Failure::usage)
    };
    questions.iter().map(answer).collect()
}

/// What people come with, as far as the record can tell.
fn usual(record: &Record, rows: usize) -> Vec<Ranking> {
    let measured = record.measurements.iter().filter(|m| m.state == State::Measured);
    let smallest = measured.map(|m| m.size).min().unwrap_or_default();
    let texts = [
        "fastest authenticated".to_owned(),
        "fastest authenticated on decrypt".to_owned(),
        format!("fastest authenticated at {smallest} B"),
        "fastest authenticated with 256-bit keys".to_owned(),
        "fastest unauthenticated".to_owned(),
        "fastest authenticated without AES instructions".to_owned(),
        "fewest instructions authenticated".to_owned(),
        "fastest authenticated per library".to_owned(),
    ];
    let questions = texts.iter().filter_map(|t| compare::parse_question(t).ok());
    let rows = |q: &Question| if q.per.is_some() { 1 } else { rows };
    questions.filter_map(|q| compare::rank(record, &q, rows(&q)).ok()).collect()
}

/// Measures what the question is about: the quick suite's algorithms that take part.
fn measure(question: &Question, args: &RankArgs) -> Result<Record, Failure> {
    let mut line: Vec<String> = ["ciphermark", "run", "--suite", SUITE].map(str::to_owned).to_vec();
    let mut flag = |name: &str, value: String| line.extend([name.to_owned(), value]);
    for algorithm in algorithms(question)? {
        flag("-a", algorithm);
    }
    if args.library.is_empty() {
        question.libraries.iter().for_each(|g| flag("-l", g.text().to_owned()));
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
    run::record_of(&parsed(&line)?)
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

impl From<ClassArg> for Class {
    fn from(typed: ClassArg) -> Self {
        match typed {
            ClassArg::Authenticated => Self::Authenticated,
            ClassArg::Unauthenticated => Self::Unauthenticated,
            ClassArg::Composite => Self::Composite,
            ClassArg::Digest => Self::Digest,
            ClassArg::Mac => Self::Mac,
        }
    }
}

impl From<ByArg> for By {
    fn from(typed: ByArg) -> Self {
        match typed {
            ByArg::Time => Self::Time,
            ByArg::Instructions => Self::Instructions,
        }
    }
}

impl From<PerArg> for Per {
    fn from(typed: PerArg) -> Self {
        match typed {
            PerArg::Library => Self::Library,
            PerArg::Algorithm => Self::Algorithm,
            PerArg::Family => Self::Family,
            PerArg::Size => Self::Size,
            PerArg::Tier => Self::Tier,
        }
    }
}
