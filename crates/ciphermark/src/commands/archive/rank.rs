//! `ciphermark rank --from`: the best of each machine's newest run, and what it costs.

use super::open::{ask, by_machine, cost, failure, price_of, priced, prices};
use crate::args::RankArgs;
use crate::error::{Exit, Failure};
use crate::screen;
use base::text::Prices;
use judge::compare::{Question, Ranking};
use record::archive::{Archive, Chosen, Listed};
use record::{Estimate, Record};
use report::{BestOfMachine, ComparisonFormat, Money};

/// Rows of each machine's answer.
const ROWS: usize = 1;

/// Answers a question for each machine.
pub fn rank(args: &RankArgs, store: &str, question: &Question) -> Result<Exit, Failure> {
    let prices = prices(&args.prices)?;
    let (mut archive, all) = ask(store, &args.which)?;
    let takes = |m: &record::Measurement| question.may_take(m);
    let chosen = archive.choose(Some(&takes), None).map_err(failure)?;
    let rows = args.rows.unwrap_or(ROWS);
    let mut answers = Vec::new();
    let mut why = None;
    for runs in by_machine(&all) {
        match newest(&mut archive, runs, &chosen, question, rows)? {
            Ok((run, record, ranking)) => answers.push(answer(run, &record, ranking, &prices)),
            Err(lacks) => why = Some(lacks),
        }
    }
    if answers.is_empty() {
        return Err(Failure::usage(why.unwrap_or_default()));
    }
    sort(&mut answers);
    screen::print(|options| match args.format {
        ComparisonFormat::Json => report::best_of_machines_json(&answers),
        ComparisonFormat::Csv => report::best_of_machines_csv(&answers),
        ComparisonFormat::Markdown => report::best_of_machines_table(&answers).markdown(),
        ComparisonFormat::Text => report::best_of_machines(&answers, options),
    })?;
    Ok(Exit::Done)
}

/// A run, its record and what it answers.
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
