//! A run's handshakes as a table, JSON, CSV or Markdown.

use crate::check::Unset;
use crate::document::{Document, Handshake, Run};
use crate::shared::{Costs, Rendered, Section, SideBySide, csv_ns, csv_text, lack_of, sections};
use text::{clean, escape_markdown, wrap};

const TABLE: SideBySide = SideBySide {
    names: [("key exchange", 15), ("certificate", 13)],
    is_outline: false,
    costs: [("server µs", 12), ("client µs", 10), ("±%", 8)],
};

impl Rendered for Handshake {
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "stack", "version", "exchange", "certificate", "kind", "client_auth", "suite", "temperature", "state", "reason",
        "negotiated_suite", "negotiated_group", "negotiated_signature", "resumed",
        "server_median_ns", "server_low_ns", "server_high_ns", "server_mean_ns", "server_max_ns", "server_setup_ns", "server_cycles", "server_first_ns",
        "client_median_ns", "client_low_ns", "client_high_ns", "client_mean_ns", "client_max_ns", "client_setup_ns", "client_cycles", "client_first_ns",
        "server_bytes", "client_bytes", "server_memory_bytes", "client_memory_bytes", "samples",
    ];
    const SPAN: &'static str = "Inside the clock, each end apart";
    const NOTE: Option<&'static str> = None;

    fn text(run: &Run<Self>, width: usize) -> String {
        let unset = unset(run).map(|line| format!("\n{}\n", wrap(&line, width).join("\n")));
        TABLE.text(&by_kind(run), &run.stacks, width) + &unset.collect::<String>()
    }

    fn markdown(run: &Run<Self>) -> String {
        let unset = unset(run).map(|line| format!("\n{}\n", escape_markdown(&line)));
        TABLE.markdown(&by_kind(run), &run.stacks) + &unset.collect::<String>()
    }

    fn csv_row(&self) -> Vec<String> {
        csv_row(self)
    }

    fn lack(&self) -> Option<(String, String)> {
        Some((self.case.to_string(), lack_of(self.state, self.reason.as_deref()?)))
    }

    fn stack(&self) -> &str {
        &self.stack
    }
}

/// A section for each version, kind, suite and temperature.
fn by_kind(document: &Document) -> Vec<Section<'_>> {
    sections(document.rows.iter().map(|row| {
        let case = &row.case;
        let auth = if case.client_auth { ", client proves itself too" } else { "" };
        let title = format!(
            "TLS {} {}{auth}, {}, {}",
            case.version, case.kind, case.suite, row.temperature
        );
        let (both, is_marked) = (row.server.zip(row.client), row.reason.is_some());
        let costs = Costs { both, state: row.state, is_marked };
        (title, [case.exchange.to_string(), case.certificate.to_string()], &*row.stack, costs)
    }))
}

/// What each stack's server picks by itself: a key share of one group, and what came of it.
fn unset(document: &Document) -> impl Iterator<Item = String> {
    document.stacks.iter().filter_map(|stack| {
        let mut picks: Vec<String> = Vec::new();
        for row in document.rows.iter().filter(|row| row.stack == stack.label) {
            let Some((sent, Unset { group, hello_retry })) =
                row.case.exchange.group().zip(row.unset)
            else {
                continue;
            };
            let asked = if hello_retry { " (asked again)" } else { "" };
            let pick = format!("{sent} → {group}{asked}");
            if !picks.contains(&pick) {
                picks.push(pick);
            }
        }
        let (label, picks_text) = (clean(&stack.label), picks.join(", "));
        (!picks.is_empty()).then(|| {
            format!("{label} with its groups unset, by the client's key share: {picks_text}")
        })
    })
}

fn csv_row(row: &Handshake) -> Vec<String> {
    let case = &row.case;
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
        csv_text(row.reason.as_ref()),
        csv_text(negotiated.map(|n| &n.suite)),
        csv_text(negotiated.and_then(|n| n.group.as_ref())),
        csv_text(negotiated.and_then(|n| n.signature.as_ref())),
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
            csv_ns(cost.as_ref().and_then(|c| c.cycles).map(|c| c.median)),
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
