//! `ciphermark rank`: the best answer to a question, from a record or measured now; with `--from` the best of
//! each machine's newest run in an archive, and what it costs.
//!
//! `ciphermark rank` as it is typed.

use crate::commands::archive::{
    PriceArgs, WhichArgs, ask, by_machine, cost, failure, in_one_currency, price_of, priced, prices,
};
use crate::commands::watch::predicted::{self, Predicting};
use crate::commands::{InPlaceArg, TimeArgs, advise, choose, one_of, run};
use crate::{Exit, Failure, files, screen};
use base::model::{Algorithm, Direction, Footprint, Model, Tier};
use base::text::Prices;
use base::text::flags::parse_rows;
use clap::Args;
use engine::{Budget, Counting, Request, Screened};
use judge::compare::{By, Class, Per, Question, Ranking};
use record::archive::{Archive, Chosen, Listed};
use record::{Estimate, LibraryId, Record};
use report::{BestOfMachine, ComparisonFormat, Money, Without};
use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

/// `ciphermark rank`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark rank run.json                                       the usual questions\n  \
    ciphermark rank run.json --authenticated --size 8K\n  \
    ciphermark rank run.json --direction decrypt --size 64\n  \
    ciphermark rank run.json --authenticated --per library\n  \
    ciphermark rank run.json --authenticated -s 8K --complete      measures what the record lacks of it\n  \
    ciphermark rank run.json --tier noaes                          without AES instructions\n  \
    ciphermark rank run.json --authenticated --same-trace          nothing that depends on secrets\n  \
    ciphermark rank tls.json --direction server --per library      of `tls handshake -o`\n  \
    ciphermark rank --authenticated --size 8K                      measure now, within half a minute\n  \
    ciphermark rank mix.json --from calls.json                     for a watched program (`run --workload`)\n  \
    ciphermark rank --from fleet.db --authenticated --size 16K --prices prices.csv\n                                                                 \
    what it costs on each machine\n\n\
    Cases that cannot be told apart at 95 % have a range of places, as in 2–5: the truly fastest is\n\
    among those whose range begins with 1. What is not authenticated is labelled.")]
pub struct RankArgs {
    /// A record, of `run`, `tls …` or `pages`; without one, what the flags ask for is measured now.
    #[arg(value_name = "RECORD")]
    pub record: Option<String>,
    /// Answer from an archive: the best of each machine's newest run. Or for a watched program (`watch -o`): the library that
    /// would save it most.
    #[arg(long, value_name = "STORE|CALLS")]
    pub from: Option<String>,
    /// Which runs of the archive.
    #[command(flatten)]
    pub which: WhichArgs,
    #[command(flatten)]
    pub prices: PriceArgs,
    /// What is asked.
    #[command(flatten)]
    pub question: Option<QuestionArgs>,
    /// Measure what the record lacks for the question, if it is of this machine, in its libraries; at a terminal this is
    /// done unasked, and takes half a minute at most.
    #[arg(long, requires = "record")]
    pub complete: bool,
    #[command(flatten)]
    pub time: TimeArgs,
    /// How many rows of each answer: a number, or all. Ties for the first place are always shown.
    #[arg(long, value_name = "N|all", value_parser = parse_rows)]
    pub rows: Option<usize>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ComparisonFormat,
}

/// A question in flags.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// Only algorithms that notice tampering.
    #[arg(long, conflicts_with = "class")]
    pub authenticated: bool,
    /// Only algorithms of a kind.
    #[arg(long, value_name = "CLASS")]
    pub class: Option<Class>,
    /// What is least in the best.
    #[arg(long, value_name = "WHAT")]
    pub by: Option<By>,
    /// A best one for each.
    #[arg(long, value_name = "WHAT")]
    pub per: Option<Per>,
    /// Bits of the key, by the algorithm's name.
    #[arg(long, value_name = "BITS")]
    pub key_bits: Option<usize>,
    /// Only cases whose traces were the same for all secrets (`ciphermark leaks`).
    #[arg(long)]
    pub same_trace: bool,
    /// Rank what depends on a secret, too.
    #[arg(long, conflicts_with = "same_trace")]
    pub leaking: bool,
    /// Algorithms by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries by name or name@version glob, separated by commas; may be repeated. To measure now also NAME=PATH.
    #[arg(short, long, value_name = "GLOB")]
    pub library: Vec<String>,
    /// Bytes of plaintext.
    #[arg(short, long, value_name = "BYTES")]
    pub size: Option<String>,
    /// Direction, or the part of what `tls` measures.
    #[arg(short, long, value_name = "DIRECTION", value_parser = one_of(Direction::ALL, Direction::name))]
    pub direction: Option<Direction>,
    /// What one timed operation is.
    #[arg(short, long, value_name = "MODEL", value_parser = one_of(Model::RECORDED, Model::name))]
    pub model: Option<Model>,
    /// Which CPU instructions the library may see.
    #[arg(short, long, value_name = "TIER", hide_possible_values = true)]
    pub tier: Option<Tier>,
    /// Memory that the operations walk through.
    #[arg(long, value_name = "FOOTPRINT")]
    pub footprint: Option<Footprint>,
    /// Threads measuring at once.
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// Output over the input.
    #[arg(long, value_name = "WHERE")]
    pub in_place: Option<InPlaceArg>,
    /// What else tells cases apart: of handshakes hot, idle or cold; of pages as in 'random reused'.
    #[arg(long, value_name = "TEXT")]
    pub setting: Option<String>,
}

/// Rows of an answer to one question, and of each of several.
const ROWS: usize = 10;
const FEW_ROWS: usize = 3;

/// The suite that is measured where no record is given.
const SUITE: &str = "quick";

pub fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    if let Some(store) = &args.from {
        if let Some(calls) = predicted::calls_at(store)? {
            args.which.without_archive()?;
            let predicting = Predicting {
                record: args.record.as_deref().map(Path::new),
                libraries: args.question.as_ref().map_or(&[], |question| &question.library),
                time: args.time.budget,
                ..Predicting::of(&calls, store, args.format)?
            };
            return predicting.rank();
        }
        if args.record.is_some() {
            return Err(Failure::usage(format!(
                "--from '{store}' is no file of `ciphermark watch -o`, and an archive takes no record beside it"
            )));
        }
        let question = args.question.as_ref().map_or_else(|| Ok(Question::default()), question)?;
        return rank_machines(args, store, &question);
    }
    args.which.without_archive()?;
    let path = args.record.as_ref().map(Path::new);
    let record = || path.map(|path| files::record(path).map_err(Failure::usage)).transpose();
    let answers = match &args.question {
        None if args.complete => {
            return Err(Failure::usage(
                "--complete: say for which question, as in --authenticated --size 8K",
            ));
        }
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
            let mut question = question(flags)?;
            let mut record = match record()? {
                Some(record) => completed(args, record, &question)?,
                None => {
                    question.algorithms = choose::algorithm_globs(&flags.algorithm)?;
                    measure(&question, flags, args.time)?
                }
            };
            let rows = args.rows.unwrap_or_else(|| rows(&question, ROWS));
            vec![judged(&mut record, &question, rows)?]
        }
    };
    screen::print(|options| report::rankings(&answers, args.format, options))?;
    Ok(Exit::Done)
}

/// Half-width of the intervals of what completes a record, and time of sampling of all of it.
const PRECISION: f64 = 0.01;
const THOROUGH: Duration = Duration::from_secs(20);

/// A record with what it lacks for the question: measured now where that is asked for, or somebody waits at a terminal.
fn completed(args: &RankArgs, record: Record, question: &Question) -> Result<Record, Failure> {
    let ranking = judge::compare::rank(&record, question, 1).map_err(Failure::usage)?;
    let left_out = ranking.absent.iter().filter(|absent| absent.left_out);
    let left_out = left_out.map(|absent| (&absent.case.algorithm, &absent.library));
    let never = ranking.missing.iter().map(|missing| (&missing.algorithm, &missing.library));
    let lacking: BTreeSet<(&String, &LibraryId)> = left_out.chain(never).collect();
    let (terms, is_wanted) = (&ranking.terms, args.complete || std::io::stdout().is_terminal());
    if lacking.is_empty() || !is_wanted || ranking.imported || !terms.model.is_of_survey() {
        return Ok(record);
    }
    let Some(libraries) = advise::builds_here(&record)? else {
        return match args.complete {
            true => Err(Failure::usage(
                "--complete: the record is of another machine, other circumstances, or builds that are not here",
            )),
            false => Ok(record),
        };
    };
    let tiers = terms.tier.map_or_else(|| record.plan.tiers.clone(), |tier| vec![tier]);
    let libraries = engine::at_tiers(&libraries, &tiers);
    let place = |(algorithm, id): &(&String, &LibraryId)| {
        let library = libraries.iter().position(|l| advise::is_build(l, id))?;
        Some((library, Algorithm::find(algorithm).ok()?.name))
    };
    let only: BTreeSet<(usize, &'static str)> = lacking.iter().filter_map(place).collect();
    let names: BTreeSet<&str> = only.iter().map(|(_, name)| *name).collect();
    let stop = args.time.limit(&run::watch_signals()?);
    let algorithms = Algorithm::all().iter().filter(|a| names.contains(a.name)).collect();
    let budget = Budget { precision: PRECISION, time: args.time.sampling(THOROUGH) };
    let request = Request {
        directions: vec![terms.direction],
        models: vec![terms.model],
        sizes: terms.size.map_or_else(|| record.plan.sizes.clone(), |size| vec![size]),
        tiers,
        footprints: vec![terms.footprint],
        threads: vec![terms.threads],
        in_place: vec![terms.in_place],
        screened: Screened::default().but(only),
        ..choose::plain_request(algorithms, budget)
    };
    let new = run::survey(false, &request, &libraries, &stop)?;
    run::tell_left_out(false, &new);
    Ok(advise::with_rows(record, new))
}

/// Time for verdicts on secrets that a record lacks, and rows of a group that are judged side by side.
const JUDGING: Duration = Duration::from_secs(20);
const IN_LINE: usize = 4;

/// The answer, when its first rows are judged: here, where the record's CPU and builds are. What depends on a secret gives its
/// place to the next.
fn judged(record: &mut Record, question: &Question, rows: usize) -> Result<Ranking, Failure> {
    let stop = run::watch_signals()?.within(JUDGING);
    let longer = stop.longer(advise::FOR_ONE);
    let is_here = host::facts(0).cpu.kind() == record.host.cpu.kind();
    let (mut tried, mut is_late) = (BTreeSet::new(), false);
    loop {
        let ranking = judge::compare::rank(record, question, rows).map_err(Failure::usage)?;
        if question.leaking || !is_here || longer.is_over() {
            return Ok(ranking);
        }
        // Later, the first ones only: none stands there unjudged for want of time.
        if stop.is_over() && !is_late {
            // What was broken off for the time is judged again, alone.
            is_late = true;
            tried.clear();
        }
        let line = if is_late { 1 } else { IN_LINE };
        let first = ranking.standings.iter().flat_map(|s| s.rows.iter().take(line));
        let has_secret = |name: &str| Algorithm::find(name).is_ok_and(Algorithm::has_secret);
        let new = first.filter(|r| r.leaks.is_none() && has_secret(&r.case.algorithm));
        let new = new.map(|r| (r.case.tier, (r.library.clone(), r.case.algorithm.clone())));
        let new: BTreeSet<_> = new.filter(|one| tried.insert(one.clone())).collect();
        if new.is_empty() {
            return Ok(ranking);
        }
        for tier in new.iter().map(|(tier, _)| *tier).collect::<BTreeSet<Tier>>() {
            let of_tier = new.iter().filter(|(t, _)| *t == tier).map(|(_, pair)| pair.clone());
            let stop = if is_late { &longer } else { &stop };
            record.leaks.extend(advise::judge(false, &of_tier.collect(), tier, stop)?);
        }
    }
}

fn question(args: &QuestionArgs) -> Result<Question, Failure> {
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
        leaking: args.leaking,
        algorithms: choose::globs(&args.algorithm)?,
        libraries: choose::library_globs(&args.library)?,
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
        None if answers.is_empty() => Err(match record.leaks.len() {
            0 => "the record has no case that could be ranked".to_owned(),
            n => format!(
                "the record has no case that could be ranked, but {n} verdicts on secrets: `ciphermark show` lists them"
            ),
        }),
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
    choose::learn(&args.library, &args.algorithm)?;
    let mut line: Vec<String> = ["ciphermark", "run", "--suite", SUITE].map(str::to_owned).to_vec();
    let mut flag = |name: &str, value: String| line.extend([name.to_owned(), value]);
    for algorithm in algorithms(question)? {
        flag("-a", algorithm);
    }
    args.library.iter().for_each(|l| flag("-l", l.clone()));
    let said = [
        ("-s", question.size.map(|size| size.to_string())),
        ("-d", question.direction.map(|direction| direction.to_string())),
        ("-t", question.tier.map(|tier| tier.to_string())),
        ("-m", question.model.map(|model| model.to_string())),
        ("--footprint", question.footprint.map(|footprint| footprint.to_string())),
        ("--threads", question.threads.map(|threads| threads.to_string())),
        ("--in-place", (question.in_place == Some(true)).then(|| "yes".to_owned())),
    ];
    for (name, value) in said {
        value.into_iter().for_each(|value| flag(name, value));
    }
    // Verdicts on secrets come with the evidence.
    let counting = if question.same_trace { Counting::All } else { Counting::Tiers };
    run::measured(&line, counting, &stop)
}

/// Of the suite where it has such, else of all.
fn algorithms(question: &Question) -> Result<Vec<String>, Failure> {
    let suite = choose::named_suite(SUITE)?;
    let of = |all: Vec<&'static Algorithm>| -> Vec<String> {
        let taken = all.into_iter().filter(|a| question.takes(a.name));
        taken.map(|a| a.name.to_owned()).collect()
    };
    // What is not known is named, with who has it.
    let names: Vec<String> = question.algorithms.iter().map(|g| g.text().to_owned()).collect();
    choose::algorithms(&names)?;
    let named = !names.is_empty();
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

const MACHINE_ROWS: usize = 1;

pub fn rank_machines(args: &RankArgs, store: &str, question: &Question) -> Result<Exit, Failure> {
    let prices = prices(&args.prices)?;
    let (mut archive, all) = ask(store, &args.which)?;
    let takes = |m: &record::Measurement| question.may_take(m);
    let chosen = archive.choose(Some(&takes), None).map_err(failure)?;
    let rows = args.rows.unwrap_or(MACHINE_ROWS);
    let (mut answers, mut without) = (Vec::new(), Vec::new());
    for runs in by_machine(&all) {
        match newest(&mut archive, runs, &chosen, question, rows)? {
            Ok((run, record, ranking)) => answers.push(answer(run, &record, ranking, &prices)),
            Err(why) => without.push(Without { machine: runs[0].machine.clone(), why }),
        }
    }
    if answers.is_empty() {
        let last = without.pop();
        return Err(Failure::usage(last.map(|w| w.why).unwrap_or_default()));
    }
    in_one_currency(
        answers.iter().filter_map(|a| Some((&*a.machine, &*a.cost.as_ref()?.currency))),
    )?;
    sort(&mut answers);
    screen::print(|options| report::best_of_machines(&answers, &without, args.format, options))?;
    Ok(Exit::Done)
}

type Found<'a> = (&'a Listed, Record, Ranking);

/// The newest run of a machine that answers the question; or what the newest lacks.
fn newest<'a>(
    archive: &mut Archive,
    runs: &'a [Listed],
    chosen: &Chosen,
    question: &Question,
    rows: usize,
) -> Result<Result<Found<'a>, String>, Failure> {
    let mut lacks = None;
    for run in runs.iter().rev() {
        // The newest one says what is lacking; of the others those that have no such case are passed over quickly.
        if lacks.is_some() && !archive.has_case(run, chosen).map_err(failure)? {
            continue;
        }
        let record = archive.load(run, chosen).map_err(failure)?;
        match judge::compare::rank(&record, question, rows) {
            Ok(ranking) => return Ok(Ok((run, record, ranking))),
            Err(why) => lacks = lacks.or(Some(why)),
        }
    }
    Ok(Err(lacks.unwrap_or_default()))
}

fn answer(run: &Listed, record: &Record, ranking: Ranking, prices: &Prices) -> BestOfMachine {
    let best = ranking.standings.first().and_then(|s| s.rows.first());
    let price = price_of(prices, run);
    let cpus = record.host.cpu.cpus_online;
    let money = |ns: Estimate, operations: f64| {
        let price = price?;
        let amount = cost(ns, operations, price.per_hour, cpus);
        Some(Money {
            amount,
            currency: price.currency.clone(),
            per_hour: price.per_hour,
            of_day: price.date.clone(),
        })
    };
    let cost = best.and_then(|b| money(b.ns_per_op?, priced(b.case.model, b.case.size)));
    BestOfMachine {
        machine: run.machine.clone(),
        region: run.region.clone(),
        cpu: run.cpu.clone(),
        day: run.day(),
        record: run.sha256.clone(),
        cost,
        ranking,
    }
}

/// By cost where there is one, else by time; machines without a price come last.
fn sort(answers: &mut [BestOfMachine]) {
    let key = |a: &BestOfMachine| {
        let best = a.ranking.standings.first().and_then(|s| s.rows.first());
        let ns = best.and_then(|b| b.ns_per_op).map_or(f64::INFINITY, |e| e.median);
        (a.cost.as_ref().map_or(f64::INFINITY, |c| c.amount.median), ns)
    };
    answers.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
}
