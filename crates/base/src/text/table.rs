//! A table that fits its width: columns go by importance, the least first, then texts are clipped or
//! wrapped.

use crate::text::markdown::{escape, line};
use crate::text::{Align, Cell, Columns, HEADING, Options, PLAIN, clip, width, wrap};
use std::borrow::Cow;

/// Fewest columns of the terminal that a text keeps.
const NARROWEST: usize = 8;

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// What it is, with its unit.
    heading: Cow<'static, str>,
    align: Align,
    /// The lowest goes first; 0 stays whatever the width.
    dispensable: u8,
}

impl Column {
    /// A column that stays whatever the width.
    #[must_use]
    pub const fn new(heading: &'static str, align: Align) -> Self {
        Self { heading: Cow::Borrowed(heading), align, dispensable: 0 }
    }

    /// As [`Column::new`], under a heading of any text.
    #[must_use]
    pub fn named(heading: String, align: Align) -> Self {
        Self { heading: Cow::Owned(heading), align, dispensable: 0 }
    }

    /// Columns that can go do so in this order, from 1 on.
    #[must_use]
    pub const fn goes(mut self, order: u8) -> Self {
        self.dispensable = order;
        self
    }
}

/// Rows below their columns. A column in which no row has any text is left out.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    is_wrapped: bool,
    is_narrow: bool,
}

/// What stays of a table at some width.
struct Plan {
    /// Indices of the columns that stay.
    kept: Vec<usize>,
    widths: Columns,
    /// The most that each column may take.
    limits: Vec<usize>,
}

impl Table {
    /// A table; each row has a cell for each column.
    #[must_use]
    pub fn new(columns: impl Into<Vec<Column>>, rows: Vec<Vec<Cell>>) -> Self {
        Self { columns: columns.into(), rows, is_wrapped: false, is_narrow: false }
    }

    /// Texts that are too wide go on below, instead of being clipped.
    #[must_use]
    pub fn wrapped(self) -> Self {
        Self { is_wrapped: true, ..self }
    }

    /// Whole digits take up the room below long headings.
    #[must_use]
    pub fn narrow(self) -> Self {
        Self { is_narrow: true, ..self }
    }

    /// The table for a terminal, ending with a line break, with what had no room.
    #[must_use]
    pub fn text(&self, options: Options) -> String {
        let plan = self.plan(options.width);
        let mut out = self.lines_of(&plan, options.color).concat();
        let gone = self.dropped(&plan);
        if !gone.is_empty() {
            let note = format!("no room for {}; csv and json have all", gone.join(", "));
            out += &options.hang(&note, 2, PLAIN);
        }
        out
    }

    /// The heading, then each row, all ending with a line break, however wide.
    #[must_use]
    pub fn lines(&self, color: bool) -> Vec<String> {
        self.lines_of(&self.plan(usize::MAX), color)
    }

    /// The table in Markdown, every column of it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let heads: Vec<String> = self.columns.iter().map(|c| escape(&c.heading)).collect();
        let rule = |c: &Column| if c.align == Align::Left { "---" } else { "---:" };
        let rules: Vec<&str> = self.columns.iter().map(rule).collect();
        let row =
            |row: &Vec<Cell>| line(&row.iter().map(|cell| escape(cell.text())).collect::<Vec<_>>());
        line(&heads) + &line(&rules) + &self.rows.iter().map(row).collect::<String>()
    }

    /// The columns that fit, and how wide they are.
    fn plan(&self, room: usize) -> Plan {
        let mut kept: Vec<usize> = (0..self.columns.len()).filter(|i| self.is_used(*i)).collect();
        let mut limits: Vec<usize> = (0..self.columns.len()).map(|i| self.width(i)).collect();
        loop {
            let widths = self.widths(&kept, &limits);
            if widths.total() <= room {
                return Plan { kept, widths, limits };
            }
            let can_go = kept.iter().filter(|i| self.columns[**i].dispensable > 0);
            if let Some(least) = can_go.min_by_key(|i| self.columns[**i].dispensable).copied() {
                kept.retain(|i| *i != least);
                continue;
            }
            let texts = kept.iter().filter(|i| self.columns[**i].align == Align::Left);
            match texts.max_by_key(|i| limits[**i]).copied() {
                Some(widest) if limits[widest] > NARROWEST => limits[widest] -= 1,
                _ => return Plan { kept, widths, limits },
            }
        }
    }

    fn is_used(&self, i: usize) -> bool {
        self.rows.iter().any(|row| !row[i].text().is_empty())
    }

    fn width(&self, i: usize) -> usize {
        let texts = self.rows.iter().map(|row| width(row[i].text()));
        texts.chain([width(&self.columns[i].heading)]).max().unwrap_or(0)
    }

    fn widths(&self, kept: &[usize], limits: &[usize]) -> Columns {
        let mut widths = Columns::new(kept.iter().map(|i| self.columns[*i].align));
        let heading = self.heading();
        // A heading that is fitted before the numbers takes the place of their whole digits.
        let before = (!self.is_narrow).then_some(&heading);
        for row in before.into_iter().chain(&self.rows).chain([&heading]) {
            self.fitted(row, kept, limits).iter().for_each(|line| widths.fit(line));
        }
        widths
    }

    fn heading(&self) -> Vec<Cell> {
        self.columns.iter().map(|c| Cell::new(&*c.heading, HEADING)).collect()
    }

    /// The lines that a row takes.
    fn fitted(&self, row: &[Cell], kept: &[usize], limits: &[usize]) -> Vec<Vec<Cell>> {
        let texts = |i: &usize| match (width(row[*i].text()) > limits[*i], self.is_wrapped) {
            (false, _) => vec![row[*i].text().to_owned()],
            (true, false) => vec![clip(row[*i].text(), limits[*i])],
            (true, true) => wrap(row[*i].text(), limits[*i]),
        };
        let texts: Vec<Vec<String>> = kept.iter().map(texts).collect();
        let height = texts.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |n: usize, (i, texts): (&usize, &Vec<String>)| {
            row[*i].with_text(texts.get(n).cloned().unwrap_or_default())
        };
        (0..height).map(|n| kept.iter().zip(&texts).map(|both| cell(n, both)).collect()).collect()
    }

    fn lines_of(&self, plan: &Plan, color: bool) -> Vec<String> {
        let Plan { kept, widths, limits } = plan;
        let heading = self.heading();
        let line = |row: &Vec<Cell>| widths.line(row, color) + "\n";
        let lines = |row: &Vec<Cell>| self.fitted(row, kept, limits).iter().map(line).collect();
        std::iter::once(&heading).chain(&self.rows).map(lines).collect()
    }

    /// The headings of the columns that did not fit.
    fn dropped(&self, plan: &Plan) -> Vec<&str> {
        let gone = (0..self.columns.len()).filter(|i| !plan.kept.contains(i) && self.is_used(*i));
        let headings = gone.map(|i| &*self.columns[i].heading);
        headings.map(|h| if h.is_empty() { "notes" } else { h }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::new("algorithm", Align::Left),
        Column::new("MB/s", Align::Point),
        Column::new("note", Align::Left).goes(2),
        Column::new("ns", Align::Point).goes(1),
    ];

    fn table() -> Table {
        let row = |cells: [&str; 4]| {
            let [a, speed, note, ns] = cells;
            let number = |text: &str| Cell::number(text, PLAIN);
            vec![Cell::plain(a), number(speed), Cell::plain(note), number(ns)]
        };
        let rows = vec![row(["aes-128-gcm", "123.4", "fast", "1"]), row(["x", "7.25", "", "20"])];
        Table::new(COLUMNS, rows).narrow()
    }

    fn at(width: usize) -> Vec<String> {
        let text = table().text(Options { width, color: false });
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_go_by_importance_and_are_named() {
        let whole = [
            "algorithm      MB/s  note  ns",
            "aes-128-gcm  123.4   fast   1",
            "x              7.25        20",
        ];
        assert_eq!(at(29), whole);
        assert_eq!(table().lines(false).concat(), whole.join("\n") + "\n");
        let wide = Table { is_narrow: false, ..table() };
        assert_eq!(wide.lines(false)[1], "aes-128-gcm   123.4   fast   1\n");
        let narrow = at(28);
        assert_eq!(narrow[1], "aes-128-gcm  123.4   fast");
        assert!(narrow[3].starts_with("no room for ns; "), "{narrow:?}");
        assert!(at(20)[3].starts_with("no room for note,"), "{:?}", at(20));
    }

    #[test]
    fn texts_are_clipped_or_wrapped_when_nothing_else_can_go() {
        assert_eq!(at(17)[1], "aes-128-…  123.4");
        for room in 17..60 {
            let lines = at(room);
            assert!(lines[..3].iter().all(|l| width(l) <= room), "{room}: {lines:?}");
        }
        let rows = vec![vec![Cell::plain("a"), Cell::plain("one two three four")]];
        let heads = [Column::new("", Align::Left), Column::new("what", Align::Left)];
        let text = Table::new(heads, rows).wrapped().text(Options { width: 14, color: false });
        assert_eq!(text, "   what\na  one two\n   three four\n");
    }

    #[test]
    fn columns_without_any_text_are_left_out_silently() {
        let rows = vec![vec![Cell::plain("x"), Cell::plain("1"), Cell::plain(""), Cell::plain("")]];
        let text = Table::new(COLUMNS, rows).text(Options::default());
        assert_eq!(text, "algorithm  MB/s\nx             1\n");
    }

    #[test]
    fn markdown_has_every_column_and_nothing_in_a_cell_is_markup() {
        let rows = vec![vec![Cell::plain("a|b"), Cell::plain("<i>")]];
        let heads = [Column::new("*", Align::Left), Column::new("n", Align::Right)];
        let text = Table::new(heads, rows).markdown();
        assert_eq!(text, "| \\* | n |\n| --- | ---: |\n| a\\|b | &lt;i&gt; |\n");
    }
}
