//! A load as a table, JSON, CSV or Markdown.

use crate::document::{Alternative, ClientOutcome, Load, Term};
use crate::form::Interval;
use crate::grid::{Grid, digits, percent, range};
use crate::negotiate::Agreement;
use crate::page::{Page, rendered};
use text::{Options, clean};
use tls::Format;

/// Renders a load.
#[must_use]
pub fn render_load(load: &Load, format: Format, options: Options) -> String {
    rendered(load, format, options, page, csv)
}

fn page(load: &Load) -> Page {
    let grids = [
        clients(&load.negotiated),
        terms(&load.terms),
        parts(load),
        regimes(load),
        alternatives(&load.alternatives),
    ];
    let (head, foot) = (vec![headline(load)], foot(load));
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

fn clients(outcomes: &[ClientOutcome]) -> Grid {
    let mut grid =
        Grid::new(&[("clients", false), ("share", true), ("resume", true), ("negotiate", false)]);
    for outcome in outcomes {
        let agreed = match &outcome.agreement {
            Agreement::Agreed { case, suite, priced_as_another } => {
                let priced = if *priced_as_another {
                    format!(", priced as {}", case.suite)
                } else {
                    String::new()
                };
                let retry = if case.kind == tls::Kind::HelloRetry { ", after a retry" } else { "" };
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
        grid.row([outcome.class.clone(), percent(outcome.share), resumed, agreed]);
    }
    grid
}

fn terms(terms: &[Term]) -> Grid {
    let mut grid = Grid::new(&[
        ("part", false),
        ("term", false),
        ("a second", true),
        ("µs each", true),
        ("range", true),
        ("share", true),
        ("source", false),
    ]);
    for (at, term) in terms.iter().enumerate() {
        let note = if term.note.is_some() { format!(" [{}]", at + 1) } else { String::new() };
        grid.row([
            term.part.to_string(),
            term.name.clone(),
            digits(term.per_s),
            digits(term.each_cpu_us.value),
            range(term.each_cpu_us),
            percent(term.share),
            format!("{}{note}", term.source),
        ]);
    }
    grid
}

fn parts(load: &Load) -> Grid {
    let mut grid =
        Grid::new(&[("part", false), ("µs a second", true), ("range", true), ("share", true)]);
    for part in &load.parts {
        let cpu = part.cpu_us_per_s;
        grid.row([part.part.to_string(), digits(cpu.value), range(cpu), percent(part.share)]);
    }
    if !load.parts.is_empty() {
        let (total, share) = (load.cpu_us_per_s, load.terms.iter().map(|t| t.share).sum());
        grid.row(["total".to_owned(), digits(total.value), range(total), percent(share)]);
    }
    grid
}

fn regimes(load: &Load) -> Grid {
    let mut grid = Grid::new(&[
        ("regime", false),
        ("% of a core", true),
        ("µs per connection", true),
        ("most connections a second", true),
        ("range", true),
    ]);
    for sum in &load.regimes {
        let each = sum.cpu_us_per_connection.map(|c| digits(c.value)).unwrap_or_default();
        let most =
            |of: fn(Interval) -> String| sum.most_connections_per_s.map(of).unwrap_or_default();
        let core = digits(sum.cpu_us_per_s.value / 1e4);
        grid.row([sum.regime.to_string(), core, each, most(|i| digits(i.value)), most(range)]);
    }
    grid
}

fn alternatives(all: &[Alternative]) -> Grid {
    let mut grid = Grid::new(&[
        ("change", false),
        ("saves", true),
        ("µs a second", true),
        ("range", true),
        ("note", false),
    ]);
    for one in all {
        let saves = one.saves_us_per_s;
        // Within its interval nothing may be saved at all.
        let share = match saves {
            Some(s) if s.holds_zero() => "undecided".to_owned(),
            _ => one.saves_share.map(percent).unwrap_or_default(),
        };
        grid.row([
            one.change.clone(),
            share,
            saves.map(|s| digits(s.value)).unwrap_or_default(),
            saves.map(range).unwrap_or_default(),
            one.note.clone().unwrap_or_default(),
        ]);
    }
    grid
}

fn foot(load: &Load) -> Vec<String> {
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

pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

const COLUMNS: [&str; 11] = [
    "part",
    "term",
    "per_s",
    "each_cpu_us",
    "each_low_cpu_us",
    "each_high_cpu_us",
    "cpu_us_per_s",
    "low_cpu_us_per_s",
    "high_cpu_us_per_s",
    "share",
    "source",
];

fn csv(load: &Load) -> String {
    let rows = load.terms.iter().map(|term| {
        let (each, cpu) = (term.each_cpu_us, term.cpu_us_per_s);
        let numbers =
            [term.per_s, each.value, each.low, each.high, cpu.value, cpu.low, cpu.high, term.share];
        let words = [term.part.to_string(), clean(&term.name)].into_iter();
        words
            .chain(numbers.map(|n| n.to_string()))
            .chain([term.source.to_string()])
            .collect::<Vec<String>>()
    });
    text::csv(&COLUMNS, rows)
}

#[cfg(test)]
mod tests;
