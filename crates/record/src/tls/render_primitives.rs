//! A run's primitives as a table or Markdown.

use crate::tls::document::Run;
use crate::tls::primitives::{PrimitiveRow, PrimitivesDocument};
use crate::tls::shared::{Costs, Rendered, Section, SideBySide, lack_of, sections};

const TABLE: SideBySide = SideBySide {
    names: [("primitive", 16), ("operation", 12)],
    is_outline: true,
    costs: [("whole µs", 11), ("call µs", 10), ("±%", 7)],
};

impl Rendered for PrimitiveRow {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::fixtures;
    use crate::tls::primitive::{Operation, Scheme};
    use crate::tls::primitives::PRIMITIVES_SPAN;
    use crate::tls::primitives::tests::row;
    use crate::tls::shared::{markdown, table};

    fn document() -> PrimitivesDocument {
        let rows = vec![
            row("fast@1.0", Scheme::EcdsaP256, Operation::Sign, Some(20.0)),
            row("slow@1.0", Scheme::EcdsaP256, Operation::Sign, Some(1000.0)),
            row("slow@1.0", Scheme::EcdsaP256, Operation::Verify, None),
            row("fast@1.0", Scheme::Sha256, Operation::Digest, Some(0.7)),
        ];
        fixtures::run(&["fast@1.0", "slow@1.0"], PRIMITIVES_SPAN, rows)
    }

    #[test]
    fn stacks_stand_side_by_side_and_what_is_not_offered_says_why() {
        let text = table(&document(), 100);
        let line = text.lines().find(|l| l.starts_with("ecdsa-p256")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let wanted = ["ecdsa-p256", "sign", "20.0", "18.0", "1.0", "1000", "900", "1.0"];
        assert_eq!(words, wanted, "{text}");
        let line = text.lines().find(|l| l.starts_with("sha256")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["sha256", "1400", "B", "0.700", "0.630", "1.0"], "{text}");
        assert!(text.contains("slow@1.0 ecdsa-p256 verify: unsupported: no|such"), "{text}");
        assert!(!text.contains('\u{1b}'), "a library's words are no commands to the terminal");
        assert_eq!(table(&document(), 60).matches("whole µs").count(), 2);
    }

    #[test]
    fn markdown_escapes() {
        let text = markdown(&document());
        assert!(text.contains("| ecdsa-p256 | sign | 20.0 | 18.0 | 1000 | 900 |"), "{text}");
        assert!(text.contains("no\\|such"), "{text}");
    }
}
