//! A run's primitives as a table, JSON, CSV or Markdown.

use crate::document::{Cost, Run};
use crate::primitives::{PrimitiveRow, PrimitivesDocument};
use crate::shared::{Costs, Rendered, Section, SideBySide, csv_ns, csv_text, lack_of, sections};
use text::clean;

const TABLE: SideBySide = SideBySide {
    names: [("primitive", 16), ("operation", 12)],
    is_outline: true,
    costs: [("whole µs", 11), ("call µs", 10), ("±%", 7)],
};

impl Rendered for PrimitiveRow {
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "stack", "primitive", "operation", "size", "state", "reason", "checks",
        "whole_median_ns", "whole_low_ns", "whole_high_ns", "whole_mean_ns", "whole_cycles",
        "call_median_ns", "call_low_ns", "call_high_ns", "call_mean_ns", "call_cycles",
        "samples", "processes",
    ];
    const SPAN: &'static str = "Inside the clock";
    const NOTE: Option<&'static str> = Some(
        "What each batch left was held against an independent implementation, outside the clock; the \
         checks of each row are in JSON and CSV.",
    );

    fn text(run: &Run<Self>, width: usize) -> String {
        TABLE.text(&one_section(run), &run.stacks, width)
    }

    fn markdown(run: &Run<Self>) -> String {
        TABLE.markdown(&one_section(run), &run.stacks)
    }

    fn csv_row(&self) -> Vec<String> {
        csv_row(self)
    }

    fn lack(&self) -> Option<(String, String)> {
        Some((self.primitive.to_string(), lack_of(self.state, self.reason.as_deref()?)))
    }

    fn stack(&self) -> &str {
        &self.stack
    }
}

fn one_section(document: &PrimitivesDocument) -> Vec<Section<'_>> {
    sections(document.rows.iter().map(|row| {
        let primitive = &row.primitive;
        let what = match primitive.size {
            Some(size) => format!("{size} B"),
            None => primitive.operation.to_string(),
        };
        let (both, is_marked) = (row.whole.zip(row.call), row.reason.is_some());
        let costs = Costs { both, state: row.state, is_marked };
        (String::new(), [primitive.scheme.to_string(), what], &*row.stack, costs)
    }))
}

fn csv_row(row: &PrimitiveRow) -> Vec<String> {
    let mut fields = vec![
        clean(&row.stack),
        row.primitive.scheme.to_string(),
        row.primitive.operation.to_string(),
        row.primitive.size.map(|size| size.to_string()).unwrap_or_default(),
        row.state.name().to_owned(),
        csv_text(row.reason.as_ref()),
        clean(&row.checks.join("; ")),
    ];
    for cost in [&row.whole, &row.call] {
        let of = |part: fn(&Cost) -> f64| csv_ns(cost.as_ref().map(part));
        fields.extend([
            of(|c| c.median_ns),
            of(|c| c.low_ns),
            of(|c| c.high_ns),
            of(|c| c.mean_ns),
            csv_ns(cost.as_ref().and_then(|c| c.cycles).map(|c| c.median)),
        ]);
    }
    fields.extend([row.samples.to_string(), row.processes.to_string()]);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::primitive::{Operation, Scheme};
    use crate::primitives::PRIMITIVES_SPAN;
    use crate::primitives::tests::row;
    use crate::shared::{Format, render};
    use text::Options;

    fn document() -> PrimitivesDocument {
        let rows = vec![
            row("fast@1.0", Scheme::EcdsaP256, Operation::Sign, Some(20.0)),
            row("slow@1.0", Scheme::EcdsaP256, Operation::Sign, Some(1000.0)),
            row("slow@1.0", Scheme::EcdsaP256, Operation::Verify, None),
            row("fast@1.0", Scheme::Sha256, Operation::Digest, Some(0.7)),
        ];
        fixtures::run(&["fast@1.0", "slow@1.0"], PRIMITIVES_SPAN, rows)
    }

    fn printed(format: Format, width: usize) -> String {
        render(&document(), format, Options { width, color: false })
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
    fn csv_has_every_column_in_every_row() {
        let text = printed(Format::Csv, 80);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!((rows.len(), &rows[0][7], &rows[2][7]), (4, "20000.0", ""));
        assert_eq!(&rows[0][6], "known answer");
        let text = printed(Format::Markdown, 80);
        assert!(text.contains("| ecdsa-p256 | sign | 20.0 | 18.0 | 1000 | 900 |"), "{text}");
        assert!(text.contains("no\\|such"), "{text}");
    }
}
