//! A run's handshakes as a table or Markdown.

use crate::document::{Document, Handshake, Run};
use crate::shared::{Costs, Rendered, Section, SideBySide, lack_of, sections};

const TABLE: SideBySide = SideBySide {
    names: [("key exchange", 15), ("certificate", 13)],
    is_outline: false,
    costs: [("server µs", 12), ("client µs", 10), ("±%", 8)],
};

impl Rendered for Handshake {
    const SPAN: &'static str = "Inside the clock, each end apart";
    const NOTE: Option<&'static str> = None;

    fn text(run: &Run<Self>, width: usize) -> String {
        TABLE.text(&by_kind(run), &run.stacks, width)
    }

    fn markdown(run: &Run<Self>) -> String {
        TABLE.markdown(&by_kind(run), &run.stacks)
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

#[cfg(test)]
mod tests;
