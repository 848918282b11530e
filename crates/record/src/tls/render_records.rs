//! A run's records as a table or Markdown.

use crate::State;
use crate::tls::document::Run;
use crate::tls::records::{FittedLine, RecordLines, RecordRow, RecordsDocument};
use crate::tls::shared::{Rendered, lack_of};
use base::text::{Align, Cell, Column, Table, clean, escape_markdown};

impl Rendered for RecordRow {
    const SPAN: &'static str = "Inside the clock";
    const NOTE: Option<&'static str> = Some(
        "bare: the same cipher of the library under the stack, called directly (model message); with CBC, \
         without the HMAC. adds: what the stack takes beside it.",
    );

    fn text(run: &Run<Self>, _: usize) -> String {
        run.lines().iter().map(|lines| block(run, lines)).collect()
    }

    fn markdown(run: &Run<Self>) -> String {
        run.lines().iter().map(|lines| markdown_block(run, lines)).collect()
    }

    fn lack(&self) -> Option<(String, String)> {
        let why = match (&self.reason, &self.bare.reason) {
            (Some(reason), _) => lack_of(self.state, reason),
            (None, Some(reason)) => {
                format!("no bare {}: {}", clean(&self.bare.algorithm), clean(reason))
            }
            (None, None) => return None,
        };
        Some((format!("{} of {} bytes", self.protection, self.size), why))
    }

    fn stack(&self) -> &str {
        &self.stack
    }
}

const COLUMNS: [&str; 8] = ["bytes", "send ns", "bare", "adds", "recv ns", "bare", "adds", "±%"];

fn block(document: &RecordsDocument, lines: &RecordLines) -> String {
    let rows: Vec<&RecordRow> = rows_of(document, lines).collect();
    let overhead = rows.iter().find_map(|r| r.overhead_bytes);
    let overhead = overhead.map_or(String::new(), |n| format!(", {n} bytes around the data"));
    let mut out = format!("\n{}, {}{overhead}\n", clean(&lines.stack), lines.protection);
    if rows.iter().all(|r| r.state != State::Measured) {
        let state = rows.first().map_or("", |r| r.state.name());
        return out + "  " + state + "\n";
    }
    out += &sizes(rows.into_iter()).lines(false).concat();
    for (what, line, bare) in
        [("send", lines.send, lines.bare_encrypt), ("receive", lines.receive, lines.bare_decrypt)]
    {
        if let Some(line) = line {
            let bare = bare.map_or(String::new(), |b| format!("; bare {}", in_words(&b)));
            out += &format!("  {what}: {}{bare}\n", in_words(&line));
        }
    }
    out
}

fn rows_of<'a>(
    document: &'a RecordsDocument,
    lines: &'a RecordLines,
) -> impl Iterator<Item = &'a RecordRow> {
    let is_of = |r: &&RecordRow| r.stack == lines.stack && r.protection == lines.protection;
    document.rows.iter().filter(is_of)
}

fn sizes<'a>(rows: impl Iterator<Item = &'a RecordRow>) -> Table {
    let columns = COLUMNS.map(|heading| Column::new(heading, Align::Right));
    Table::new(columns, rows.map(|row| cells(row).map(Cell::plain).to_vec()).collect())
}

fn cells(row: &RecordRow) -> [String; 8] {
    let number =
        |ns: Option<f64>| ns.map_or("-".to_owned(), |ns| format!("{:.0}", ns.round() + 0.0));
    let precision = match (&row.send, &row.receive) {
        (Some(send), Some(receive)) => {
            let mark = if row.reason.is_some() { "*" } else { "" };
            format!("{:.1}{mark}", send.precision().max(receive.precision()) * 100.0)
        }
        _ => row.state.name().to_owned(),
    };
    [
        row.size.to_string(),
        number(row.send.map(|c| c.median_ns)),
        number(row.bare.encrypt.map(|c| c.median_ns)),
        number(row.added_to_sending()),
        number(row.receive.map(|c| c.median_ns)),
        number(row.bare.decrypt.map(|c| c.median_ns)),
        number(row.added_to_receiving()),
        precision,
    ]
}

fn in_words(line: &FittedLine) -> String {
    let bends = if line.is_linear() {
        String::new()
    } else {
        format!(" (bends: off by up to {:.0} %)", line.residual * 100.0)
    };
    // Adding zero takes the sign off a zero.
    let fixed = line.fixed_ns.round() + 0.0;
    format!("{fixed:.0} ns + {:.3} ns a byte{bends}", line.ns_per_byte)
}

fn markdown_block(document: &RecordsDocument, lines: &RecordLines) -> String {
    let title = format!("{}, {}", clean(&lines.stack), lines.protection);
    let table = sizes(rows_of(document, lines)).markdown();
    format!("\n### {}\n\n{table}", escape_markdown(&title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::fixtures;
    use crate::tls::records::RECORDS_SPAN;
    use crate::tls::records::tests::row;
    use crate::tls::shared::{markdown, table};
    use crate::tls::suite::Suite;

    fn document() -> RecordsDocument {
        let mut records: Vec<_> = [64, 1024, 16384]
            .map(|size| row(Suite::Aes128Gcm, size, Some(400.0 + 0.25 * f64::from(size))))
            .to_vec();
        records.push(row(Suite::Aes128Ccm, 64, None));
        fixtures::run(&[], RECORDS_SPAN, records)
    }

    #[test]
    fn each_size_stands_beside_the_bare_cipher_with_what_the_stack_adds() {
        let text = table(&document(), 100);
        let line = text.lines().find(|l| l.trim_start().starts_with("64 ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["64", "416", "208", "208", "520", "208", "312", "1.0"], "{text}");
        assert!(
            text.contains("send: 400 ns + 0.250 ns a byte; bare 200 ns + 0.125 ns a byte"),
            "{text}"
        );
        assert!(text.contains("some@1.0, TLS 1.3 aes-128-ccm\n  unsupported\n"), "{text}");
        assert!(
            text.contains("unsupported: NO_CIPHER|MATCH") && !text.contains('\u{1b}'),
            "{text}"
        );
        assert!(text.contains("60 of 70 samples clean"), "{text}");
        assert!(markdown(&document()).contains("| 64 | 416 | 208 | 208 |"));
    }
}
