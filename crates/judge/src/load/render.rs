//! A load as a table, JSON, CSV or Markdown.

use crate::load::document::{Alternative, ClientOutcome, Load, RegimeSum, Term};
use crate::load::form::Interval;
use crate::load::grid::{Grid, digits, percent, range};
use crate::load::negotiate::Agreement;
use crate::load::page::{Page, rendered};
use base::text::Options;
use record::tls::Format;

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
    Grid::new("clients | >share | >resume | negotiate", outcomes.iter().map(row))
}

fn terms(terms: &[Term]) -> Grid {
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
    Grid::new(headings, terms.iter().enumerate().map(row))
}

fn parts(load: &Load) -> Grid {
    let row =
        |part: String, cpu: Interval, share| [part, digits(cpu.value), range(cpu), percent(share)];
    let parts = load.parts.iter().map(|p| row(p.part.to_string(), p.cpu_us_per_s, p.share));
    let share = load.terms.iter().map(|t| t.share).sum();
    let total = row("total".to_owned(), load.cpu_us_per_s, share);
    let total = (!load.parts.is_empty()).then_some(total);
    Grid::new("part | >µs a second | >range | >share", parts.chain(total))
}

fn regimes(load: &Load) -> Grid {
    let row = |sum: &RegimeSum| {
        let each = sum.cpu_us_per_connection.map(|c| digits(c.value)).unwrap_or_default();
        let most =
            |of: fn(Interval) -> String| sum.most_connections_per_s.map(of).unwrap_or_default();
        let core = digits(sum.cpu_us_per_s.value / 1e4);
        [sum.regime.to_string(), core, each, most(|i| digits(i.value)), most(range)]
    };
    let headings =
        "regime | >% of a core | >µs per connection | >most connections a second | >range";
    Grid::new(headings, load.regimes.iter().map(row))
}

fn alternatives(all: &[Alternative]) -> Grid {
    let row = |one: &Alternative| {
        let saves = one.saves_us_per_s;
        // Within its interval nothing may be saved at all.
        let share = match saves {
            Some(s) if s.holds_zero() => "undecided".to_owned(),
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
    Grid::new("change | >saves | >µs a second | >range | note", all.iter().map(row))
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

fn csv(load: &Load) -> String {
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
    Grid::new(headings, load.terms.iter().map(row)).csv()
}

#[cfg(test)]
mod tests;
