//! A run's handshakes as a table, JSON, CSV or Markdown.

use crate::document::{Document, Handshake};
use crate::shared::{Costs, Format, Lack, csv_ns, lack_of, lacks, machine_and_noise};
use std::collections::BTreeMap;
use text::{Options, clean, escape_markdown};

/// Renders a run.
#[must_use]
pub fn render(document: &Document, format: Format, options: Options) -> String {
    match format {
        Format::Table => table(document, options.width),
        Format::Json => {
            serde_json::to_string_pretty(document).expect("documents are plain data") + "\n"
        }
        Format::Csv => text::csv(&COLUMNS, document.handshakes.iter().map(csv_row)),
        Format::Markdown => markdown(document),
    }
}

/// Columns of the two names before the first stack.
const NAMES: usize = 28;
/// Columns of a stack.
const STACK: usize = COSTS[0] + COSTS[1] + COSTS[2];
/// Of these, for each cost and for the precision.
const COSTS: [usize; 3] = [12, 10, 8];

/// What stands in one section: the same version, kind and temperature.
type Key = String;

fn key(row: &Handshake) -> Key {
    let case = &row.case;
    let auth = if case.client_auth { ", client proves itself too" } else { "" };
    format!("TLS {} {}{auth}, {}, {}", case.version, case.kind, case.suite, row.temperature)
}

/// The rows of a section: key exchange and certificate, and what each stack has of it.
struct Section<'a> {
    title: Key,
    rows: Vec<(String, String, BTreeMap<&'a str, &'a Handshake>)>,
}

fn sections(document: &Document) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for row in &document.handshakes {
        let title = key(row);
        let at = sections.iter().position(|s| s.title == title).unwrap_or_else(|| {
            sections.push(Section { title, rows: Vec::new() });
            sections.len() - 1
        });
        let names = (row.case.exchange.to_string(), row.case.certificate.to_string());
        let rows = &mut sections[at].rows;
        let at = rows.iter().position(|(e, c, _)| (e, c) == (&names.0, &names.1));
        let at = at.unwrap_or_else(|| {
            rows.push((names.0, names.1, BTreeMap::new()));
            rows.len() - 1
        });
        rows[at].2.insert(&row.stack, row);
    }
    sections
}

fn table(document: &Document, width: usize) -> String {
    let labels: Vec<String> = document.stacks.iter().map(|s| s.label.clone()).collect();
    let side_by_side = ((width.saturating_sub(NAMES)) / STACK).max(1);
    let mut out = String::new();
    for stacks in labels.chunks(side_by_side) {
        for section in sections(document) {
            out += &block(&section, stacks);
        }
    }
    for line in foot(document) {
        out += &text::wrap(&line, width).join("\n");
        out.push('\n');
    }
    out
}

fn block(section: &Section<'_>, stacks: &[String]) -> String {
    let mut out = format!("\n{}\n{:NAMES$}", section.title, "");
    for stack in stacks {
        out += &format!("{:>STACK$}", clipped(&clean(stack)));
    }
    out += &format!("\n{:<15}{:<13}", "key exchange", "certificate");
    let [first, second, precise] = COSTS;
    for _ in stacks {
        out += &format!("{:>first$}{:>second$}{:>precise$}", "server µs", "client µs", "±%");
    }
    out.push('\n');
    for (exchange, certificate, of) in &section.rows {
        out += &format!("{exchange:<15}{certificate:<13}");
        for stack in stacks {
            out += &Costs::cells(of.get(stack.as_str()).map(|r| costs(r)), COSTS);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

/// A stack's name never takes more than its columns.
fn clipped(text: &str) -> String {
    text.chars().take(STACK - 2).collect()
}

fn costs(row: &Handshake) -> Costs {
    let (both, is_marked) = (row.server.zip(row.client), row.reason.is_some());
    Costs { both, state: row.state, is_marked }
}

fn foot(document: &Document) -> Vec<String> {
    let rows = document.handshakes.iter().filter_map(|row| {
        let why = lack_of(row.state, row.reason.as_deref()?);
        Some(Lack { stack: &row.stack, why, row: row.case.to_string() })
    });
    let mut lines = vec![String::new()];
    lines.extend(lacks(rows));
    lines.push(format!("Inside the clock, each end apart: {}.", clean(&document.span)));
    lines.push(machine_and_noise(&document.noise, document.seconds, &document.host));
    lines
}

fn markdown(document: &Document) -> String {
    let labels: Vec<String> = document.stacks.iter().map(|s| s.label.clone()).collect();
    let mut out = String::new();
    for section in sections(document) {
        out +=
            &format!("\n### {}\n\n| key exchange | certificate |", escape_markdown(&section.title));
        for label in &labels {
            out += &format!(" {} server µs | client µs |", escape_markdown(&clean(label)));
        }
        out += "\n| --- | --- |";
        out += &" ---: | ---: |".repeat(labels.len());
        out.push('\n');
        for (exchange, certificate, of) in &section.rows {
            out += &format!("| {exchange} | {certificate} |");
            for label in &labels {
                out += &Costs::markdown(of.get(label.as_str()).map(|r| costs(r)));
            }
            out.push('\n');
        }
    }
    for line in foot(document).iter().filter(|l| !l.is_empty()) {
        out += &format!("\n{}\n", escape_markdown(line));
    }
    out
}

/// Columns of the CSV.
#[rustfmt::skip]
const COLUMNS: [&str; 35] = [
    "stack", "version", "exchange", "certificate", "kind", "client_auth", "suite", "temperature", "state", "reason",
    "negotiated_suite", "negotiated_group", "negotiated_signature", "resumed",
    "server_median_ns", "server_low_ns", "server_high_ns", "server_mean_ns", "server_max_ns", "server_setup_ns", "server_cycles", "server_first_ns",
    "client_median_ns", "client_low_ns", "client_high_ns", "client_mean_ns", "client_max_ns", "client_setup_ns", "client_cycles", "client_first_ns",
    "server_bytes", "client_bytes", "server_memory_bytes", "client_memory_bytes", "samples",
];

fn csv_row(row: &Handshake) -> Vec<String> {
    let case = &row.case;
    let text = |t: Option<&String>| t.map(|t| clean(t)).unwrap_or_default();
    let negotiated = row.negotiated.as_ref();
    let mut fields = vec![
        clean(&row.stack),
        case.version.to_string(),
        case.exchange.to_string(),
        case.certificate.to_string(),
        case.kind.to_string(),
        case.client_auth.to_string(),
        case.suite.to_string(),
        row.temperature.to_string(),
        row.state.name().to_owned(),
        text(row.reason.as_ref()),
        text(negotiated.map(|n| &n.suite)),
        text(negotiated.and_then(|n| n.group.as_ref())),
        text(negotiated.and_then(|n| n.signature.as_ref())),
        negotiated.map(|n| n.resumed.to_string()).unwrap_or_default(),
    ];
    let firsts = [row.first.map(|f| f.server_ns), row.first.map(|f| f.client_ns)];
    for (cost, first) in [row.server, row.client].into_iter().zip(firsts) {
        let of = |part: fn(&crate::document::Cost) -> f64| csv_ns(cost.as_ref().map(part));
        fields.extend([
            of(|c| c.median_ns),
            of(|c| c.low_ns),
            of(|c| c.high_ns),
            of(|c| c.mean_ns),
            of(|c| c.max_ns),
            of(|c| c.setup_ns),
            csv_ns(cost.as_ref().and_then(|c| c.cycles)),
            csv_ns(first),
        ]);
    }
    let whole = |n: Option<i64>| n.map(|n| n.to_string()).unwrap_or_default();
    fields.extend([
        whole(row.bytes.map(|b| b.server as i64)),
        whole(row.bytes.map(|b| b.client as i64)),
        whole(row.memory.and_then(|m| m.server)),
        whole(row.memory.and_then(|m| m.client)),
        row.samples.to_string(),
    ]);
    fields
}

#[cfg(test)]
mod tests;
