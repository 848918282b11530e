//! A prediction as text, Markdown or JSON.

use super::{Prediction, Row};
use crate::advise::render::Format;
use crate::claims::expression::Interval;
use base::text::{Align, Cell, Column, HEADING, Options, PLAIN, Table, clean, wrap};

/// Most rows of those that fit, and of those that do not.
const ROWS: [usize; 2] = [9, 7];

/// The prediction as text that ends with a line break; `origin` names the record.
#[must_use]
pub fn render(prediction: &Prediction, origin: &str, format: Format, options: Options) -> String {
    if format == Format::Json {
        return serde_json::to_string_pretty(prediction).expect("it is plain data") + "\n";
    }
    let is_text = format == Format::Text;
    let mut all = String::new();
    let mut say = |line: &str| match is_text {
        true => all.extend(wrap(line, options.width).iter().map(|l| format!("{l}\n"))),
        false => all.push_str(&format!("{}\n\n", base::text::escape_markdown(line))),
    };
    for line in head(prediction, origin) {
        say(&line);
    }
    let table = table(prediction);
    match is_text {
        true => all.push_str(&table.text(options)),
        false => all.push_str(&table.markdown()),
    }
    all
}

/// `1.9 (1.8 to 2.0)`
fn ranged(of: Interval) -> String {
    let digits = if of.median.abs() < 10.0 { 2 } else { usize::from(of.median.abs() < 100.0) };
    if of.half() < 0.005 * of.median.abs() || of.half() == 0.0 {
        return format!("{:.digits$}", of.median);
    }
    format!("{:.digits$} ({:.digits$} to {:.digits$})", of.median, of.low, of.high)
}

fn head(prediction: &Prediction, origin: &str) -> Vec<String> {
    let work = &prediction.work;
    let rate = |count| ranged(work.rate(count));
    let (major, minor) = (work.version / 10_000, work.version % 10_000);
    let mut lines = vec![format!(
        "PostgreSQL {major}.{minor} without encryption, {:.0} s: {:.1} transactions a second; pages a second: {} read, {} written, {} of log",
        work.seconds,
        work.transactions / work.seconds,
        rate(work.read),
        rate(work.written),
        rate(work.log),
    )];
    if let Some(each) = &prediction.per_transaction {
        let [read, written, log] = [each.read, each.written, each.log].map(ranged);
        lines.push(format!("pages a transaction: {read} read, {written} written, {log} of log"));
    }
    if work.temporary > 0.0 {
        lines.push(format!(
            "left out: {:.0} pages of temporary files a second",
            work.temporary / work.seconds
        ));
    }
    let choice = prediction.choice.as_deref().unwrap_or("none: the wishes exclude each other");
    lines.push(format!(
        "choice at this rate of writing: {choice} (`ciphermark advise --for postgres` says why)"
    ));
    lines.push(format!("prices: {origin} of {}", prediction.basis.cpu));
    lines.extend(prediction.basis.stale.iter().map(|why| format!("STALE: {why}")));
    lines.iter().map(|line| clean(line)).collect()
}

fn table(prediction: &Prediction) -> Table {
    let columns = [
        Column::new("scheme", Align::Left),
        Column::new("library", Align::Left).goes(3),
        Column::new("µs CPU a transaction", Align::Left),
        Column::new("CPUs busy", Align::Point),
        Column::new("µs a read miss", Align::Point).goes(1),
        Column::new("µs a commit", Align::Point).goes(2),
        Column::new("rejected by", Align::Left).goes(4),
    ];
    Table::new(columns, shown(&prediction.rows).into_iter().map(cells).collect())
}

/// Rules whose schemes are left to `--format json`: nobody would want them instead.
const HIDING: [&str; 2] = ["ecb-leaks", "key-too-short"];

/// The cheapest library of each scheme: those that fit first.
fn shown(rows: &[Row]) -> Vec<&Row> {
    let mut seen = std::collections::BTreeSet::new();
    let is_shown = |r: &&Row| !r.rejected_by.iter().any(|rule| HIDING.contains(&rule.as_str()));
    let cheapest: Vec<&Row> =
        rows.iter().filter(is_shown).filter(|r| seen.insert(&r.scheme)).collect();
    let (fit, unfit): (Vec<&Row>, Vec<&Row>) =
        cheapest.into_iter().partition(|r| r.rejected_by.is_empty());
    fit.into_iter().take(ROWS[0]).chain(unfit.into_iter().take(ROWS[1])).collect()
}

fn cells(row: &Row) -> Vec<Cell> {
    let number = |of: f64, digits: usize| Cell::number(format!("{of:.digits$}"), PLAIN);
    vec![
        Cell::new(row.scheme.clone(), HEADING),
        Cell::plain(clean(&row.library)),
        Cell::plain(row.us_per_transaction.map_or_else(|| "-".to_owned(), ranged)),
        number(row.cpus.median, 4),
        number(row.read_miss_us.median, 1),
        row.commit_us.map_or_else(|| Cell::plain("-"), |us| number(us.median, 1)),
        Cell::plain(row.rejected_by.first().cloned().unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::data::Data;
    use crate::advise::evidence::Evidence;
    use crate::advise::fresh::Surroundings;
    use crate::advise::postgres::sample::{record, work};
    use crate::advise::question::Question;
    use jiff::civil::date;

    fn written(format: Format) -> String {
        let data = Data::built_in();
        let question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 24));
        let around = Surroundings {
            today: date(2026, 11, 24),
            cpu: None,
            libraries: Vec::new(),
            judged: Vec::new(),
        };
        let mut record = record();
        record.measurements.iter_mut().for_each(|m| m.library.version = "1\u{1b}[31m".to_owned());
        let evidence = Evidence::Survey(&record);
        let prediction =
            crate::advise::postgres::predict(&data, &question, evidence, &around, work());
        render(&prediction, "record r.json", format, Options { width: 100, color: false })
    }

    #[test]
    fn the_text_has_rates_choice_and_a_row_for_each_scheme_on_a_screen() {
        let text = written(Format::Text);
        for said in [
            "PostgreSQL 15.18 without encryption, 10 s: 100.0 transactions a second",
            "190 (162 to 220) read",
            "pages a transaction: 1.90 (1.80 to 2.00) read, 0.75 written, 2.00 (1.00 to 2.00) of log",
            "choice at this rate of writing: aes-256-gcm",
        ] {
            let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(joined.contains(said), "{said}: {text}");
        }
        assert!(
            text.lines().count() <= 30 && text.lines().all(|l| base::text::width(l) <= 100),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn json_is_the_prediction_and_reads_back() {
        let json = written(Format::Json);
        let read: Prediction = serde_json::from_str(&json).unwrap();
        assert_eq!((read.kind.as_str(), read.rows.len()), ("postgres-prediction", 1));
        assert!(written(Format::Markdown).contains("| aes-256-gcm |"));
    }
}
