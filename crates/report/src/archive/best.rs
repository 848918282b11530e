//! The best of each machine.

use crate::digits::supported;
use crate::labels::versioned;
use crate::ranking::place;
use base::text::{ASIDE, Align, BEST, Cell, Column, HEADING, Options, PLAIN, Table, clean};
use judge::compare::{Ranked, Ranking};
use record::Estimate;
use serde::Serialize;

/// An amount of money with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Money {
    /// For a petabyte of plaintext (10^15 bytes), or a million operations that have none.
    pub amount: Estimate,
    /// `USD`, `EUR`, …
    pub currency: String,
    /// What the machine costs an hour.
    pub per_hour: f64,
    /// From when on it costs that.
    pub of_day: String,
}

/// A machine's answer to a question.
#[derive(Clone, Debug, Serialize)]
pub struct BestOfMachine {
    /// The machine's type.
    pub machine: String,
    /// Where it is rented.
    pub region: Option<String>,
    /// The processor.
    pub cpu: String,
    /// Day of the run.
    pub day: String,
    /// SHA-256 of the record.
    pub record: String,
    /// What the best costs, if the machine has a price.
    pub cost: Option<Money>,
    /// The answer.
    pub ranking: Ranking,
}

impl BestOfMachine {
    fn rows(&self) -> impl Iterator<Item = &Ranked> {
        self.ranking.standings.iter().flat_map(|s| &s.rows)
    }
}

fn first(answers: &[BestOfMachine]) -> Option<&Ranked> {
    answers.first()?.rows().next()
}

fn money_heading(answers: &[BestOfMachine]) -> String {
    let currency = answers.iter().find_map(|a| a.cost.as_ref()).map_or("", |c| &c.currency);
    let what = if has_bytes(answers) { "PB" } else { "million" };
    format!("{}/{what}", clean(currency))
}

fn has_bytes(answers: &[BestOfMachine]) -> bool {
    first(answers).is_none_or(|r| r.case.model.has_bytes())
}

fn interval(amount: &Estimate) -> String {
    let digits = |value| supported(value, Some(amount));
    format!("{} to {}", digits(amount.low), digits(amount.high))
}

/// A row for each machine's best, and for what ties with it.
#[must_use]
pub fn best_of_machines_table(answers: &[BestOfMachine]) -> Table {
    let speed = if has_bytes(answers) { "MB/s" } else { "µs/op" };
    let columns = vec![
        Column::new("machine", Align::Left),
        Column::new("region", Align::Left),
        Column::new("day", Align::Left).goes(2),
        Column::new("#", Align::Left),
        Column::new("algorithm", Align::Left),
        Column::new("library", Align::Left),
        Column::new(speed, Align::Point),
        Column::named(money_heading(answers), Align::Point),
        Column::new("95 % interval", Align::Right).goes(1),
    ];
    let rows =
        answers.iter().flat_map(|a| a.rows().enumerate().map(move |(i, r)| row(a, r, i == 0)));
    Table::new(columns, rows.collect())
}

fn row(a: &BestOfMachine, r: &Ranked, is_first: bool) -> Vec<Cell> {
    let once = |text: &str| Cell::plain(if is_first { clean(text) } else { String::new() });
    let style = if r.place == 1 { BEST } else { PLAIN };
    let cost = a.cost.as_ref().filter(|_| is_first);
    let speed = match (r.case.model.has_bytes(), r.ns_per_op) {
        (true, ns) => r.mb_per_s.map(|v| supported(v, ns.as_ref())),
        (false, ns) => ns.map(|ns| supported(ns.median / 1000.0, Some(&ns))),
    };
    vec![
        once(&a.machine),
        once(a.region.as_deref().unwrap_or_default()),
        once(&a.day),
        Cell::new(place(r), style),
        Cell::new(clean(&r.case.algorithm), style),
        Cell::new(versioned(&r.library.name, &r.library.version), style),
        Cell::number(speed.unwrap_or_default(), style),
        Cell::number(
            cost.map(|c| supported(c.amount.median, Some(&c.amount))).unwrap_or_default(),
            PLAIN,
        ),
        Cell::new(cost.map(|c| interval(&c.amount)).unwrap_or_default(), ASIDE),
    ]
}

/// The answers for a terminal: the cheapest machine first, or the fastest without prices.
#[must_use]
pub fn best_of_machines(answers: &[BestOfMachine], options: Options) -> String {
    let sentence = answers.first().map_or("", |a| &a.ranking.terms.sentence);
    let mut out = options.hang(&clean(sentence), 2, HEADING);
    out += &best_of_machines_table(answers).text(options);
    if answers.iter().any(|a| a.cost.is_some()) {
        let note = "cost: the machine's price by the hour, shared out evenly over all its CPUs, as if all did the same at \
                    this speed; the interval is that of the time";
        out += &options.hang(note, 2, ASIDE);
    }
    out
}

/// The answers with everything, as JSON.
#[must_use]
pub fn best_of_machines_json(answers: &[BestOfMachine]) -> String {
    serde_json::to_string_pretty(answers).expect("plain data always serialises") + "\n"
}

/// One row a machine and ranked case.
#[must_use]
pub fn best_of_machines_csv(answers: &[BestOfMachine]) -> String {
    const HEADING: [&str; 15] = [
        "machine",
        "region",
        "cpu",
        "day",
        "record",
        "place",
        "last_place",
        "algorithm",
        "library_name",
        "library_version",
        "size_bytes",
        "ns_per_op",
        "mb_per_s",
        "cost",
        "currency",
    ];
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    let rows = answers.iter().flat_map(|a| {
        a.rows().enumerate().map(move |(i, r)| {
            let cost = a.cost.as_ref().filter(|_| i == 0);
            [
                a.machine.clone(),
                a.region.clone().unwrap_or_default(),
                a.cpu.clone(),
                a.day.clone(),
                a.record.clone(),
                r.place.to_string(),
                r.last_place.to_string(),
                r.case.algorithm.clone(),
                r.library.name.clone(),
                r.library.version.clone(),
                r.case.size.to_string(),
                number(r.ns_per_op.map(|e| e.median)),
                number(r.mb_per_s),
                number(cost.map(|c| c.amount.median)),
                cost.map(|c| c.currency.clone()).unwrap_or_default(),
            ]
        })
    });
    base::text::csv(&HEADING, rows)
}
