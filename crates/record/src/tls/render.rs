//! A run's handshakes as a table or Markdown.

use crate::tls::check::Unset;
use crate::tls::document::{Document, Handshake, Run};
use crate::tls::shared::{Costs, Rendered, Section, SideBySide, lack_of, sections};
use base::text::{clean, escape_markdown, wrap};

const TABLE: SideBySide = SideBySide {
    names: [("key exchange", 15), ("certificate", 13)],
    is_outline: false,
    costs: [("server µs", 12), ("client µs", 10), ("±%", 8)],
};

impl Rendered for Handshake {
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

#[cfg(test)]
mod tests;
