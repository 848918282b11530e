//! A run's primitives as a table, JSON, CSV or Markdown.

use crate::document::Cost;
use crate::primitives::{PrimitiveRow, PrimitivesDocument};
use crate::shared::{Costs, Format, Lack, csv_ns, lack_of, lacks, machine_and_noise};
use std::collections::BTreeMap;
use text::{Options, clean, escape_markdown};

/// Renders a run.
#[must_use]
pub fn render_primitives(
    document: &PrimitivesDocument,
    format: Format,
    options: Options,
) -> String {
    match format {
        Format::Table => table(document, options.width),
        Format::Json => {
            serde_json::to_string_pretty(document).expect("documents are plain data") + "\n"
        }
        Format::Csv => text::csv(&FIELDS, document.primitives.iter().map(csv_row)),
        Format::Markdown => markdown(document),
    }
}

/// Columns of the two names before the first stack.
const NAMES: usize = 28;
/// Columns of a stack.
const STACK: usize = COSTS[0] + COSTS[1] + COSTS[2];
/// Of these, for each cost and for the precision.
const COSTS: [usize; 3] = [11, 10, 7];

/// A line of the table: its names, and what each stack has of it.
type Line<'a> = ((String, String), BTreeMap<&'a str, &'a PrimitiveRow>);

fn lines(document: &PrimitivesDocument) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in &document.primitives {
        let primitive = &row.primitive;
        let what = match primitive.size {
            Some(size) => format!("{size} B"),
            None => primitive.operation.to_string(),
        };
        let names = (primitive.scheme.to_string(), what);
        let at = lines.iter().position(|(n, _)| *n == names).unwrap_or_else(|| {
            lines.push((names, BTreeMap::new()));
            lines.len() - 1
        });
        lines[at].1.insert(&row.stack, row);
    }
    lines
}

fn table(document: &PrimitivesDocument, width: usize) -> String {
    let labels: Vec<String> = document.stacks.iter().map(|s| s.label.clone()).collect();
    let side_by_side = (width.saturating_sub(NAMES) / STACK).max(1);
    let mut out = String::new();
    for stacks in labels.chunks(side_by_side) {
        out += &block(document, stacks);
    }
    for line in foot(document) {
        out += &text::wrap(&line, width).join("\n");
        out.push('\n');
    }
    out
}

fn block(document: &PrimitivesDocument, stacks: &[String]) -> String {
    let mut out = format!("\n{:NAMES$}", "");
    for stack in stacks {
        let shown: String = clean(stack).chars().take(STACK - 2).collect();
        out += &format!("{shown:>STACK$}");
    }
    out += &format!("\n{:<16}{:<12}", "", "");
    let [first, second, precise] = COSTS;
    for _ in stacks {
        out += &format!("{:>first$}{:>second$}{:>precise$}", "whole µs", "call µs", "±%");
    }
    out.push('\n');
    let mut before = String::new();
    for ((scheme, what), of) in lines(document) {
        let shown = if scheme == before { "" } else { scheme.as_str() };
        out += &format!("{shown:<16}{what:<12}");
        for stack in stacks {
            out += &Costs::cells(of.get(stack.as_str()).map(|r| costs(r)), COSTS);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        before = scheme;
    }
    out
}

fn costs(row: &PrimitiveRow) -> Costs {
    let (both, is_marked) = (row.whole.zip(row.call), row.reason.is_some());
    Costs { both, state: row.state, is_marked }
}

fn foot(document: &PrimitivesDocument) -> Vec<String> {
    let rows = document.primitives.iter().filter_map(|row| {
        let why = lack_of(row.state, row.reason.as_deref()?);
        Some(Lack { stack: &row.stack, why, row: row.primitive.to_string() })
    });
    let mut lines = vec![String::new()];
    lines.extend(lacks(rows));
    lines.push(format!("Inside the clock: {}.", clean(&document.span)));
    lines.push(
        "What each batch left was held against an independent implementation, outside the clock; the \
         checks of each row are in JSON and CSV."
            .to_owned(),
    );
    lines.push(machine_and_noise(&document.noise, document.seconds, &document.host));
    lines
}

fn markdown(document: &PrimitivesDocument) -> String {
    let mut out = "| primitive | operation |".to_owned();
    for stack in &document.stacks {
        out += &format!(" {} whole µs | call µs |", escape_markdown(&clean(&stack.label)));
    }
    out += "\n| --- | --- |";
    out += &" ---: | ---: |".repeat(document.stacks.len());
    out.push('\n');
    for ((scheme, what), of) in lines(document) {
        out += &format!("| {scheme} | {what} |");
        for stack in &document.stacks {
            out += &Costs::markdown(of.get(stack.label.as_str()).map(|r| costs(r)));
        }
        out.push('\n');
    }
    for line in foot(document).iter().filter(|l| !l.is_empty()) {
        out += &format!("\n{}\n", escape_markdown(line));
    }
    out
}

/// Columns of the CSV.
#[rustfmt::skip]
const FIELDS: [&str; 19] = [
    "stack", "primitive", "operation", "size", "state", "reason", "checks",
    "whole_median_ns", "whole_low_ns", "whole_high_ns", "whole_mean_ns", "whole_cycles",
    "call_median_ns", "call_low_ns", "call_high_ns", "call_mean_ns", "call_cycles",
    "samples", "processes",
];

fn csv_row(row: &PrimitiveRow) -> Vec<String> {
    let mut fields = vec![
        clean(&row.stack),
        row.primitive.scheme.to_string(),
        row.primitive.operation.to_string(),
        row.primitive.size.map(|size| size.to_string()).unwrap_or_default(),
        row.state.name().to_owned(),
        row.reason.as_deref().map(clean).unwrap_or_default(),
        clean(&row.checks.join("; ")),
    ];
    for cost in [&row.whole, &row.call] {
        let of = |part: fn(&Cost) -> f64| csv_ns(cost.as_ref().map(part));
        fields.extend([
            of(|c| c.median_ns),
            of(|c| c.low_ns),
            of(|c| c.high_ns),
            of(|c| c.mean_ns),
            csv_ns(cost.as_ref().and_then(|c| c.cycles)),
        ]);
    }
    fields.extend([row.samples.to_string(), row.processes.to_string()]);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Noise, Plan, Stack};
    use crate::primitive::{Operation, Scheme};
    use crate::primitives::PRIMITIVES_SPAN;
    use crate::primitives::tests::row;

    fn document() -> PrimitivesDocument {
        let stack = |name: &str| Stack {
            label: format!("{name}@1.0"),
            name: name.to_owned(),
            version: "1.0".to_owned(),
            path: String::new(),
            id: String::new(),
            crypto_path: String::new(),
            crypto_id: String::new(),
            bare_path: String::new(),
            build: Vec::new(),
        };
        PrimitivesDocument {
            format_version: crate::FORMAT_VERSION.to_owned(),
            kind: "tls-primitives".to_owned(),
            started: String::new(),
            seconds: 9.0,
            command: Vec::new(),
            host: record::Host::default(),
            span: PRIMITIVES_SPAN.to_owned(),
            plan: Plan { precision: 0.02, budget_seconds: 120.0, seed: 1, cpu: 0 },
            stacks: vec![stack("fast"), stack("slow")],
            noise: Noise { samples: 70, clean: 60, ..Noise::default() },
            primitives: vec![
                row("fast@1.0", Scheme::EcdsaP256, Operation::Sign, Some(20.0)),
                row("slow@1.0", Scheme::EcdsaP256, Operation::Sign, Some(1000.0)),
                row("slow@1.0", Scheme::EcdsaP256, Operation::Verify, None),
                row("fast@1.0", Scheme::Sha256, Operation::Digest, Some(0.7)),
            ],
        }
    }

    fn printed(format: Format, width: usize) -> String {
        render_primitives(&document(), format, Options { width, color: false })
    }

    #[test]
    fn stacks_stand_side_by_side_and_what_is_not_offered_says_why() {
        let text = printed(Format::Table, 100);
        let line = text.lines().find(|l| l.starts_with("ecdsa-p256")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let wanted = ["ecdsa-p256", "sign", "20.0", "18.0", "1.0", "1000", "900", "1.0"];
        assert_eq!(words, wanted, "{text}");
        let line = text.lines().find(|l| l.starts_with("sha256")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["sha256", "1400", "B", "0.700", "0.630", "1.0"], "{text}");
        assert!(text.contains("slow@1.0 ecdsa-p256 verify: unsupported: no|such"), "{text}");
        assert!(!text.contains('\u{1b}'), "a library's words are no commands to the terminal");
        assert_eq!(printed(Format::Table, 60).matches("whole µs").count(), 2);
    }

    #[test]
    fn csv_has_every_column_in_every_row_and_json_is_the_document() {
        let text = printed(Format::Csv, 80);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!((rows.len(), &rows[0][7], &rows[2][7]), (4, "20000.0", ""));
        assert_eq!(&rows[0][6], "known answer");
        let back: PrimitivesDocument = serde_json::from_str(&printed(Format::Json, 80)).unwrap();
        assert_eq!(back, document());
        let text = printed(Format::Markdown, 80);
        assert!(text.contains("| ecdsa-p256 | sign | 20.0 | 18.0 | 1000 | 900 |"), "{text}");
        assert!(text.contains("no\\|such"), "{text}");
    }
}
