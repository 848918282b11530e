//! A document in every format: lines, tables, lines.

use crate::load::grid::Grid;
use base::text::{Options, clean, escape_markdown, wrap};
use record::tls::Format;
use serde::Serialize;

/// What is shown of a document to people.
#[derive(Default)]
pub(crate) struct Page {
    /// Lines above the tables.
    pub(crate) head: Vec<String>,
    /// Tables with their titles, which may be empty.
    pub(crate) grids: Vec<(String, Grid)>,
    /// Lines below; strangers' text in them is cleaned here.
    pub(crate) foot: Vec<String>,
    /// Whether each line is a paragraph of its own in Markdown.
    pub(crate) has_paragraphs: bool,
}

impl Page {
    /// Tables without titles, those without rows left out.
    pub(crate) fn filled<const N: usize>(grids: [Grid; N]) -> Vec<(String, Grid)> {
        let filled = grids.into_iter().filter(|grid| !grid.is_empty());
        filled.map(|grid| (String::new(), grid)).collect()
    }

    fn written(
        &self,
        line: impl Fn(&str) -> String,
        grid: impl Fn(&Grid) -> String,
        heading: &str,
    ) -> String {
        let mut out: String = self.head.iter().map(|text| line(text)).collect();
        for (title, of) in &self.grids {
            if !title.is_empty() {
                out += &format!("\n{heading}{}\n", clean(title));
            }
            out.push('\n');
            out += &grid(of);
        }
        out.push('\n');
        out + &self.foot.iter().map(|text| line(&clean(text))).collect::<String>()
    }
}

/// Renders a document; what is in a page or in CSV is told by functions, for JSON needs neither.
pub(crate) fn rendered<D: Serialize>(
    document: &D,
    format: Format,
    options: Options,
    page: impl Fn(&D) -> Page,
    csv: impl Fn(&D) -> String,
) -> String {
    match format {
        Format::Json => {
            serde_json::to_string_pretty(document).expect("documents are plain data") + "\n"
        }
        Format::Csv => csv(document),
        Format::Table => {
            let line = |text: &str| wrap(text, options.width).join("\n") + "\n";
            page(document).written(line, |grid| grid.text(options), "")
        }
        Format::Markdown => {
            let page = page(document);
            let end = if page.has_paragraphs { "\n\n" } else { "\n" };
            page.written(|text| escape_markdown(text) + end, Grid::markdown, "### ")
        }
    }
}
