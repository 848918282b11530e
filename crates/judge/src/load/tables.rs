//! Loads, answers to `tls why`, calibrations and validations as a table, JSON, CSV or Markdown.

use crate::load::calibration::{
    Calibration, Interval, Judgement, MEDIAN_TOLERANCE, PASSING_SHARE, Point, Summary,
    ValidatedPart, ValidatedRow, Validation,
};
use crate::load::formula::{Alternative, ClientOutcome, Load, RegimeSum, Term};
use crate::load::negotiate::{Agreement, Picked};
use crate::load::spec::{Unit, Work};
use crate::load::why::{Amount, Evidence, Explained, Rate, Why};
use base::text::{Cell, Column, Options, Table, capital, clean, escape_markdown, wrap};
use record::State;
use record::tls::Format;
use serde::Serialize;

pub fn render_load(load: &Load, format: Format, options: Options) -> String {
    rendered(load, format, options, load_page, load_csv)
}

fn load_page(load: &Load) -> Page {
    let grids = [
        clients(&load.negotiated),
        terms(&load.terms),
        parts(load),
        regimes(load),
        alternatives(&load.alternatives),
    ];
    let (head, foot) = (vec![headline(load)], load_foot(load));
    Page { head, grids: Page::filled(grids), foot, ..Page::default() }
}

fn headline(load: &Load) -> String {
    let total = load.cpu_percent;
    format!(
        "{} % of a core ({}), {} load: {} µs of CPU a second for {} connections a second",
        digits(total.value),
        range(total),
        load.regime,
        digits(load.cpu_us_per_s.value),
        digits(load.spec.traffic.connections_per_s),
    )
}

fn clients(outcomes: &[ClientOutcome]) -> Table {
    let row = |outcome: &ClientOutcome| {
        let agreed = match &outcome.agreement {
            Agreement::Agreed { case, suite, priced_as_another } => {
                let priced = match priced_as_another {
                    true => format!(", priced as {}", case.suite),
                    false => String::new(),
                };
                let retry =
                    if case.kind == record::tls::Kind::HelloRetry { ", after a retry" } else { "" };
                format!(
                    "TLS {} {suite}, {}, {}{retry}{priced}",
                    case.version, case.exchange, case.certificate
                )
            }
            Agreement::Refused { reason } => format!("refused: {reason}"),
            Agreement::Unpriced { what } => format!("not measured: {what}"),
        };
        let resumed = match &outcome.agreement {
            Agreement::Agreed { .. } => percent(outcome.resumed_share),
            _ => String::new(),
        };
        [outcome.class.clone(), percent(outcome.share), resumed, agreed]
    };
    grid("clients | >share | >resume | negotiate", outcomes.iter().map(row))
}

fn terms(terms: &[Term]) -> Table {
    let row = |(at, term): (usize, &Term)| {
        let note = if term.note.is_some() { format!(" [{}]", at + 1) } else { String::new() };
        [
            term.part.to_string(),
            term.name.clone(),
            digits(term.per_s),
            digits(term.each_cpu_us.value),
            range(term.each_cpu_us),
            percent(term.share),
            format!("{}{note}", term.source),
        ]
    };
    let headings = "part | term | >a second | >µs each | >range | >share | source";
    grid(headings, terms.iter().enumerate().map(row))
}

fn parts(load: &Load) -> Table {
    let row =
        |part: String, cpu: Interval, share| [part, digits(cpu.value), range(cpu), percent(share)];
    let parts = load.parts.iter().map(|p| row(p.part.to_string(), p.cpu_us_per_s, p.share));
    let share = load.terms.iter().map(|t| t.share).sum();
    let total = row("total".to_owned(), load.cpu_us_per_s, share);
    let total = (!load.parts.is_empty()).then_some(total);
    grid("part | >µs a second | >range | >share", parts.chain(total))
}

fn regimes(load: &Load) -> Table {
    let row = |sum: &RegimeSum| {
        let each = sum.cpu_us_per_connection.map(|c| digits(c.value)).unwrap_or_default();
        let most =
            |of: fn(Interval) -> String| sum.most_connections_per_s.map(of).unwrap_or_default();
        let core = digits(sum.cpu_us_per_s.value / 1e4);
        [sum.regime.to_string(), core, each, most(|i| digits(i.value)), most(range)]
    };
    let headings =
        "regime | >% of a core | >µs per connection | >most connections a second | >range";
    grid(headings, load.regimes.iter().map(row))
}

fn alternatives(all: &[Alternative]) -> Table {
    let row = |one: &Alternative| {
        let saves = one.saves_us_per_s;
        // Within its interval nothing may be saved at all.
        let share = match saves {
            Some(s) if s.holds_zero() => "undecided".to_owned(),
            None => "no price".to_owned(),
            _ => one.saves_share.map(percent).unwrap_or_default(),
        };
        [
            one.change.clone(),
            share,
            saves.map(|s| digits(s.value)).unwrap_or_default(),
            saves.map(range).unwrap_or_default(),
            one.note.clone().unwrap_or_default(),
        ]
    };
    grid("change | >saves | >µs a second | >range | note", all.iter().map(row))
}

fn load_foot(load: &Load) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, term) in load.terms.iter().enumerate() {
        if let Some(note) = &term.note {
            lines.push(format!("[{}] {}: {note}.", at + 1, term.name));
        }
    }
    if let Some(memory) = &load.memory {
        let most = memory.most_open.map(|n| format!("; the memory given holds {}", digits(n)));
        lines.push(format!(
            "Memory: {} connections open at a time, {} bytes each in the server's process ({} of them for TLS), the \
             kernel's buffers not counted: {} MiB{}.",
            digits(memory.connections),
            digits(memory.bytes_per_connection),
            digits(memory.tls_bytes_per_connection),
            digits(memory.bytes / 1_048_576.0),
            most.unwrap_or_default()
        ));
    }
    lines.extend(load.remarks.iter().map(|r| format!("{}.", capital(r))));
    let of = &load.calibrated;
    let server = of.server.as_deref().unwrap_or("a minimal server, no real one");
    lines.push(format!("Calibrated {} with {server} and {} on {}.", of.started, of.stack, of.cpu));
    lines
}

fn load_csv(load: &Load) -> String {
    let row = |term: &Term| {
        let (each, cpu) = (term.each_cpu_us, term.cpu_us_per_s);
        let numbers =
            [term.per_s, each.value, each.low, each.high, cpu.value, cpu.low, cpu.high, term.share];
        let [a, b, c, d, e, f, g, h] = numbers.map(|n| n.to_string());
        let (part, source) = (term.part.to_string(), term.source.to_string());
        [part, term.name.clone(), a, b, c, d, e, f, g, h, source]
    };
    let headings = "part | term | per_s | each_cpu_us | each_low_cpu_us | each_high_cpu_us | cpu_us_per_s | \
        low_cpu_us_per_s | high_cpu_us_per_s | share | source";
    grid(headings, load.terms.iter().map(row)).csv()
}

pub fn render_why(why: &Why, format: Format, options: Options) -> String {
    rendered(why, format, options, why_page, why_csv)
}

fn why_page(why: &Why) -> Page {
    let rise = why.rise_percent;
    let headline = format!(
        "A rise of {} % of a core ({}): {} µs of CPU a second",
        digits(rise.value),
        range(rise),
        digits(why.rise_cpu_us_per_s.value)
    );
    let head = vec![headline, format!("{}.", capital(&why.verdict))];
    let grids = Page::filled([changes(why), rates(why), evidence(why)]);
    Page { head, grids, foot: why_foot(why), ..Page::default() }
}

fn changes(why: &Why) -> Table {
    let row = |change: &Explained| {
        let rise = change.rise_cpu_us_per_s;
        let note = change.note.iter().map(|note| format!(": {note}"));
        [
            change.change.clone(),
            rise.map(|r| digits(r.value)).unwrap_or_default(),
            rise.map(range).unwrap_or_default(),
            change.share.map(percent).unwrap_or_default(),
            std::iter::once(change.verdict.to_string()).chain(note).collect(),
            change.decided_by.join(", "),
        ]
    };
    let headings = "change | >makes µs/s | >range | >of the rise | verdict | decided by";
    grid(headings, why.changes.iter().map(row))
}

fn rates(why: &Why) -> Table {
    let row = |rate: &Rate| {
        [
            rate.what.clone(),
            digits(rate.each_cpu_us.value),
            rate.needed_per_s.map(|n| per_second(rate, n)).unwrap_or_default(),
            rate.needed_per_s.map(|n| per_day(rate, n.value)).unwrap_or_default(),
            format!("{}: {}", rate.verdict, rate.reason),
            rate.decided_by.join(", "),
        ]
    };
    let headings = "alone | >µs each | >needed a second | >a day | verdict | decided by";
    grid(headings, why.rates.iter().map(row))
}

fn per_second(rate: &Rate, needed: crate::load::Interval) -> String {
    match rate.counted {
        Amount::Bytes => format!("{} Mbit", range(needed.times(8e-6))),
        _ => range(needed),
    }
}

fn per_day(rate: &Rate, needed: f64) -> String {
    let day = needed * 86_400.0;
    match rate.counted {
        Amount::Bytes => format!("{} GB", digits(day / 1e9)),
        _ => digits(day),
    }
}

fn evidence(why: &Why) -> Table {
    let row = |one: &Evidence| [one.look_at.clone(), one.tells.clone()];
    grid("look at | it tells", why.evidence.iter().map(row))
}

fn why_foot(why: &Why) -> Vec<String> {
    let mut lines: Vec<String> = why.remarks.iter().map(|r| format!("{}.", capital(r))).collect();
    let of = &why.calibrated;
    let server = of.server.as_deref().unwrap_or("a minimal server, no real one");
    let slower = match why.slower {
        s if s.low == 1.0 && s.high == 1.0 => String::new(),
        s => format!(", times {} for the observed core", range(s)),
    };
    lines.push(format!(
        "Costs at {} load, calibrated {} with {server} and {} on {}{slower}.",
        why.regime, of.started, of.stack, of.cpu
    ));
    lines
}

fn why_csv(why: &Why) -> String {
    let none = String::new;
    let rate = |rate: &Rate| {
        let (each, needed) = (rate.each_cpu_us.value, rate.needed_per_s);
        let needed = needed.map(|n| n.value.to_string()).unwrap_or_default();
        let (what, verdict) = (rate.what.clone(), rate.verdict.to_string());
        let decided_by = rate.decided_by.join(" ");
        let (counted, each) = (rate.counted.to_string(), each.to_string());
        ["rate".to_owned(), what, counted, each, needed, none(), none(), verdict, decided_by]
    };
    let change = |change: &Explained| {
        let rise = change.rise_cpu_us_per_s.map(|rise| rise.value.to_string()).unwrap_or_default();
        let share = change.share.map(|share| share.to_string()).unwrap_or_default();
        let (what, verdict) = (change.change.clone(), change.verdict.to_string());
        let decided_by = change.decided_by.join(" ");
        ["change".to_owned(), what, none(), none(), none(), rise, share, verdict, decided_by]
    };
    let headings = "kind | what | counted | each_cpu_us | needed_per_s | rise_cpu_us_per_s | share | verdict | \
        decided_by";
    let rows = why.rates.iter().map(rate).chain(why.changes.iter().map(change));
    grid(headings, rows).csv()
}

// What was measured over the loopback, calibrations and validations: as a table, JSON, CSV or Markdown.

pub fn render_calibration(calibration: &Calibration, format: Format, options: Options) -> String {
    let page = |calibration: &Calibration| {
        let mut foot = about(calibration);
        foot.extend(calibration.picked.iter().map(picked));
        foot.extend(reasons(calibration.points.iter().map(|p| (name_of(p), p.state, &p.reason))));
        let grids = vec![(String::new(), points(calibration))];
        Page { grids, foot, has_paragraphs: true, ..Page::default() }
    };
    rendered(calibration, format, options, page, |calibration| points(calibration).csv())
}

pub fn render_validation(validation: &Validation, format: Format, options: Options) -> String {
    let page = |validation: &Validation| {
        let titled = |part: &ValidatedPart| (part.name.clone(), rows(std::slice::from_ref(part)));
        let grids = validation.parts.iter().map(titled).collect();
        Page { grids, foot: validation_foot(validation), has_paragraphs: true, ..Page::default() }
    };
    let csv = |validation: &Validation| rows(&validation.parts).csv();
    rendered(validation, format, options, page, csv)
}

fn points(calibration: &Calibration) -> Table {
    let row = |point: &Point| {
        let counted = match point.unit {
            Unit::Connection => point.counted.connections,
            Unit::Request => point.counted.requests,
        };
        let seen = crate::load::calibration::of_rounds(&point.rounds_cpu_us);
        let figure = point.median_us().map_or_else(|| point.state.name().to_owned(), digits);
        [
            point.role.to_string(),
            point.regime.to_string(),
            point.unit.to_string(),
            served(point),
            figure,
            seen.map_or_else(String::new, range),
            counted.to_string(),
        ]
    };
    let headings = "server | load | what | of | >µs | >rounds | >counted";
    grid(headings, calibration.points.iter().map(row))
}

fn name_of(point: &Point) -> String {
    format!("{} {} at {} load, {}", point.role, point.unit, point.regime, served(point))
}

fn served(point: &Point) -> String {
    let of = &point.served;
    let mut words = match of.work {
        Work::Plain => Vec::new(),
        Work::Handshake { case, .. } => vec![case.to_string()],
        Work::RefusedHello => vec!["refused".to_owned()],
        Work::Abandoned { case } => vec![format!("{case}, abandoned")],
    };
    if let Work::Handshake { tickets: Some(tickets), .. } = of.work {
        words.push(format!("{tickets} tickets"));
    }
    words.push(format!("HTTP/{}", of.http));
    words.push(format!("{} B", of.response_bytes));
    if of.sendfile {
        words.push("sendfile".to_owned());
    }
    if let Some(record) = of.record_bytes.filter(|record| *record != 16_384) {
        words.push(format!("records of {record} B"));
    }
    if !of.aes_hardware {
        words.push("no AES hardware".to_owned());
    }
    words.join(", ")
}

fn rows(parts: &[ValidatedPart]) -> Table {
    let row = |row: &ValidatedRow| {
        let share = row.counted.resumed as f64 / row.counted.connections.max(1) as f64;
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [
            row.name.clone(),
            row.regime.to_string(),
            or_none(row.measured_cpu_us.map(|m| digits(m.value))),
            or_none(row.noise.map(percent)),
            or_none(row.predicted_cpu_us.map(|p| digits(p.value))),
            or_none(row.predicted_noise.map(percent)),
            or_none(row.error.map(signed)),
            percent(share),
            row.verdict.to_string(),
        ]
    };
    let headings =
        "point | load | >measured µs | >± | >predicted µs | >±  | >error | >resumed | verdict";
    grid(headings, parts.iter().flat_map(|part| &part.rows).map(row))
}

fn signed(error: f64) -> String {
    format!("{:+.1} %", error * 100.0)
}

fn validation_foot(validation: &Validation) -> Vec<String> {
    let Summary { passed, failed, inconclusive, calibration, apart, none, .. } = validation.summary;
    let summary = &validation.summary;
    let beyond = summary.inconclusive_beyond;
    let mut lines = vec![format!(
        "{passed} points within ±{:.0} %, {failed} beyond; {inconclusive} inconclusive (noisier than that; {beyond} of them \
         beyond); not counted: {calibration} calibrated with, {apart} with larger responses, {none} without a figure",
        validation.tolerance * 100.0
    )];
    if let (Some(error), Some(sign), Some(worst)) =
        (summary.median_error, summary.median_signed_error, summary.worst_error)
    {
        let share = percent(summary.passing_share.unwrap_or(0.0));
        let within = percent(summary.within_share.unwrap_or(0.0));
        let verdict = if summary.holds() == Some(true) {
            "the model holds"
        } else {
            "the model does not hold"
        };
        lines.push(format!(
            "{share} of the conclusive pass, {within} of all are within the tolerance ({:.0} % must, of both); median \
             error of all {} ({:.0} % is allowed), with signs {}, worst {}: {verdict}",
            PASSING_SHARE * 100.0,
            percent(error),
            MEDIAN_TOLERANCE * 100.0,
            signed(sign),
            signed(worst),
        ));
    }
    if let Some(part) = validation.parts.last() {
        lines.extend(about(&part.calibration));
    }
    let all = || validation.parts.iter().flat_map(|part| &part.rows);
    let name = |row: &ValidatedRow| format!("{} at {} load", row.name, row.regime);
    lines.extend(reasons(all().map(|row| (name(row), row.state, &row.reason))));
    let stalled = all().filter(|row| row.stalls > 0);
    lines.extend(
        stalled.map(|row| format!("{}: {} requests took 30 ms or longer", name(row), row.stalls)),
    );
    let unpriced =
        all().filter(|row| row.verdict == Judgement::None && row.state == State::Measured);
    lines.extend(unpriced.filter_map(|row| {
        row.reason.as_ref().map(|why| format!("{}: not predicted: {why}", name(row)))
    }));
    lines
}

fn about(calibration: &Calibration) -> Vec<String> {
    let server = calibration.server.as_ref().map_or_else(
        || "no real server".to_owned(),
        |s| {
            format!(
                "{} {} with {}",
                s.name,
                s.version,
                s.tls_library.as_deref().unwrap_or("its own TLS")
            )
        },
    );
    let clock = calibration.core_ghz.map(|ghz| format!(" at a core clock of {ghz:.2} GHz"));
    let share =
        calibration.core_share.map(|share| format!(" and {:.0} % of the core", 100.0 * share));
    vec![
        format!(
            "{server}; servers on CPU {}, client on CPU {}; {}{}{}, {}",
            calibration.server_cpu,
            calibration.client_cpu,
            calibration.host.cpu.name,
            clock.unwrap_or_default(),
            share.unwrap_or_default(),
            calibration.started
        ),
        calibration.span.clone(),
    ]
}

/// A group that the server picked, by the wire.
fn picked(picked: &Picked) -> String {
    let Picked { offered, group, hello_retry, reason } = picked;
    match group {
        Some(group) => {
            let again = if *hello_retry { ", for which it asks the client again" } else { "" };
            format!("offered {offered}, the server picks {group}{again}")
        }
        None => format!("offered {offered}: {}", reason.as_deref().unwrap_or("no connection")),
    }
}

/// Why not, once for each reason.
fn reasons<'a>(of: impl Iterator<Item = (String, State, &'a Option<String>)>) -> Vec<String> {
    let mut told: Vec<(String, String, usize)> = Vec::new();
    for (name, state, reason) in of.filter(|(_, state, _)| *state != State::Measured) {
        let why = format!("{}: {}", state.name(), reason.as_deref().unwrap_or("no reason is told"));
        match told.iter_mut().find(|(known, ..)| *known == why) {
            Some((.., more)) => *more += 1,
            None => told.push((why, name, 0)),
        }
    }
    let line = |(why, name, more): (String, String, usize)| match more {
        0 => format!("{name}: {why}"),
        more => format!("{name} and {more} more: {why}"),
    };
    told.into_iter().map(line).collect()
}

// A document in every format: lines, tables, lines.

#[derive(Default)]
pub(crate) struct Page {
    /// Lines above the tables.
    pub(crate) head: Vec<String>,
    /// Tables with their titles, which may be empty.
    pub(crate) grids: Vec<(String, Table)>,
    /// Lines below; strangers' text in them is cleaned here.
    pub(crate) foot: Vec<String>,
    /// Whether each line is a paragraph of its own in Markdown.
    pub(crate) has_paragraphs: bool,
}

impl Page {
    /// Tables without titles, those without rows left out.
    pub(crate) fn filled<const N: usize>(grids: [Table; N]) -> Vec<(String, Table)> {
        let filled = grids.into_iter().filter(|grid| !grid.is_empty());
        filled.map(|grid| (String::new(), grid)).collect()
    }

    fn written(
        &self,
        line: impl Fn(&str) -> String,
        grid: impl Fn(&Table) -> String,
        heading: &str,
    ) -> String {
        let mut out: String = self.head.iter().map(|text| line(text)).collect();
        for (title, of) in &self.grids {
            if !title.is_empty() {
                out += &format!("\n{heading}{}\n", clean(title));
            }
            out.push('\n');
            out += &grid(of);
        }
        out.push('\n');
        out + &self.foot.iter().map(|text| line(&clean(text))).collect::<String>()
    }
}

/// Renders a document; what is in a page or in CSV is told by functions, for JSON needs neither.
pub(crate) fn rendered<D: Serialize>(
    document: &D,
    format: Format,
    options: Options,
    page: impl Fn(&D) -> Page,
    csv: impl Fn(&D) -> String,
) -> String {
    match format {
        Format::Json => record::pretty(document),
        Format::Csv => csv(document),
        Format::Table => {
            let line = |text: &str| wrap(text, options.width).join("\n") + "\n";
            page(document).written(line, |grid| grid.text(options), "")
        }
        Format::Markdown => {
            let page = page(document);
            let end = if page.has_paragraphs { "\n\n" } else { "\n" };
            page.written(|text| escape_markdown(text) + end, Table::markdown, "### ")
        }
    }
}

// Rows under headings, in every format; numbers to three digits.

/// Headings stand between bars; those that begin with `>` are of numbers. Cells come from files of strangers: nothing in
/// them may move a cursor. The widest columns of words give way where the terminal is too narrow.
fn grid<const N: usize>(
    headings: &'static str,
    rows: impl IntoIterator<Item = [String; N]>,
) -> Table {
    let column = |heading: &'static str| match heading.strip_prefix('>') {
        Some(number) => Column::right(number),
        None => Column::left(heading),
    };
    let cells = |row: [String; N]| row.iter().map(|cell| Cell::plain(clean(cell))).collect();
    let columns: Vec<Column> = headings.split(" | ").map(column).collect();
    Table::new(columns, rows.into_iter().map(cells).collect()).wrapped()
}

pub(crate) fn digits(value: f64) -> String {
    // No minus before nothing.
    let value = if value.abs() < 1e-9 { 0.0 } else { value };
    let size = value.abs();
    match size {
        _ if size >= 1e7 => format!("{:.0}M", value / 1e6),
        _ if size >= 1e6 => format!("{:.2}M", value / 1e6),
        _ if size >= 100.0 || size == 0.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// `low … high`.
pub(crate) fn range(of: Interval) -> String {
    format!("{} … {}", digits(of.low), digits(of.high))
}

pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() >= 9.95 || percent == 0.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::calibration::{TOLERANCE, VALIDATION_VERSION};
    use crate::load::inputs::Inputs;
    use crate::load::load;
    use crate::load::sample::{calibration, is_documented};
    use crate::load::spec::{ClientShare, Spec};
    use crate::load::why::{Question, why};

    fn sample() -> Load {
        let calibration = calibration();
        let mut spec = Spec::default();
        spec.traffic.connections_per_s = 50.0;
        spec.resumption.share = 0.2;
        spec.clients = vec![ClientShare::of("go-1.17", 0.9), ClientShare::of("tls-1.0", 0.1)];
        load(&spec, &Inputs { calibration: &calibration, records: None, parts: None }, true)
            .unwrap()
    }

    fn load_as(format: Format) -> String {
        render_load(&sample(), format, Options { width: 90, color: false })
    }

    #[test]
    fn every_term_its_interval_source_and_share_stand_in_the_table() {
        let text = load_as(Format::Table);
        let words = [
            "% of a core",
            "x25519, rsa-2048",
            "refused: no version",
            "calibrated",
            "most connections",
            "ECDSA",
        ];
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.lines().all(|l| base::text::width(l) <= 90), "{text}");
    }

    #[test]
    fn csv_has_a_row_for_each_term_and_json_is_the_document() {
        let csv = load_as(Format::Csv);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert_eq!(reader.records().count(), sample().terms.len());
        let back: Load = serde_json::from_str(&load_as(Format::Json)).unwrap();
        assert_eq!(back, sample());
    }

    #[test]
    fn an_answer_says_what_it_cannot_decide_and_what_would() {
        let calibration = calibration();
        let question = Question {
            from_percent: (0.5, 0.5),
            to_percent: (2.5, 2.5),
            slower: (1.0, 2.0),
            spec: Some(Spec::default()),
            spec_is_before: false,
            most_mbit_per_s: None,
        };
        let found =
            why(&question, &Inputs { calibration: &calibration, records: None, parts: None })
                .unwrap();
        let of = |format| super::render_why(&found, format, Options { width: 120, color: false });
        let text = of(Format::Table);
        for word in ["$ssl_session_reused", "A rise of 2.00 %", "1.00 … 2.00", "Mbit"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.lines().all(|l| base::text::width(l) <= 120), "{text}");
        let back: crate::load::Why = serde_json::from_str(&of(Format::Json)).unwrap();
        assert_eq!(back, found);
        assert!(of(Format::Csv).lines().count() > 20 && of(Format::Markdown).contains("| --- |"));
    }

    #[test]
    fn the_schemas_in_the_documentation_are_those_of_the_types() {
        is_documented::<Load>("tls-load");
        is_documented::<crate::load::Why>("tls-why");
        is_documented::<crate::load::Calibration>("tls-calibration");
        is_documented::<crate::load::Validation>("tls-validation");
        is_documented::<Spec>("tls-load-spec");
    }

    fn validation() -> Validation {
        Validation {
            format_version: VALIDATION_VERSION.to_owned(),
            kind: "tls-validation".to_owned(),
            tolerance: TOLERANCE,
            parts: Vec::new(),
            summary: Summary {
                passed: 9,
                failed: 1,
                inconclusive: 2,
                passing_share: Some(0.9),
                median_error: Some(0.05),
                median_signed_error: Some(-0.04),
                worst_error: Some(-0.2),
                ..Summary::default()
            },
        }
    }

    const WIDE: Options = Options { width: 200, color: false };

    #[test]
    fn the_verdict_stands_below_with_what_did_not_count() {
        let text = render_validation(&validation(), Format::Table, WIDE);
        assert!(text.contains("9 points within ±15 %, 1 beyond; 2 inconclusive"), "{text}");
        assert!(text.contains("with signs -4.0 %, worst -20.0 %: the model holds"), "{text}");
        let holds = |change: fn(&mut Summary)| {
            let mut other = validation();
            change(&mut other.summary);
            !render_validation(&other, Format::Table, WIDE).contains("does not hold")
        };
        assert!(!holds(|s| s.median_error = Some(0.09)));
        assert!(holds(|s| s.within_share = Some(0.9)));
        // Noise hides no errors: two in three of these are within the tolerance.
        assert!(!holds(|s| s.within_share = Some(0.66)));
    }

    #[test]
    fn a_calibration_is_a_row_for_each_point_in_every_format() {
        let mut calibration = crate::load::sample::calibration();
        let rows = calibration.points.len();
        calibration.points[rows - 1].state = State::Unsupported;
        calibration.points[rows - 1].reason = Some("not offered".to_owned());
        let lines = |format| render_calibration(&calibration, format, WIDE).lines().count();
        assert_eq!(lines(Format::Csv), rows + 1);
        assert!(lines(Format::Table) > rows && lines(Format::Markdown) > rows);
        let text = render_calibration(&calibration, Format::Table, WIDE);
        assert!(text.contains("1.3 x25519 p256 full") && text.contains("not offered"), "{text}");
    }
}
