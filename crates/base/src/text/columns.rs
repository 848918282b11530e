//! Aligned columns.

use crate::text::{PLAIN, paint, width};
use anstyle::Style;

/// Columns of the terminal between two columns.
pub const GAP: usize = 2;

/// How a column is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Right, with the decimal points below each other.
    Point,
}

/// One field.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    style: Style,
    /// Whether it is aligned by its decimal point, where the column is.
    is_number: bool,
}

impl Cell {
    /// A text in a style.
    #[must_use]
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, is_number: false }
    }

    /// A number, aligned by its decimal point where the column is.
    #[must_use]
    pub fn number(text: impl Into<String>, style: Style) -> Self {
        Self { is_number: true, ..Self::new(text, style) }
    }

    /// A text without a style.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, PLAIN)
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Another text in the same style.
    pub(crate) fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }
}

/// The widths of columns, over every row that is to be aligned with the others.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    align: Align,
    width: usize,
    /// Columns from the decimal point on, in the number that has most of them.
    fraction: usize,
}

impl Columns {
    /// Columns of no width.
    #[must_use]
    pub fn new(alignments: impl IntoIterator<Item = Align>) -> Self {
        let column = |align| Column { align, width: 0, fraction: 0 };
        Self { columns: alignments.into_iter().map(column).collect() }
    }

    /// Makes room for a row.
    pub fn fit(&mut self, row: &[Cell]) {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            let fraction = column.fraction_of(cell);
            if let Some(fraction) = fraction {
                let whole = column.width.saturating_sub(column.fraction);
                column.fraction = column.fraction.max(fraction);
                column.width = column.width.max(whole + column.fraction);
            }
            column.width = column.width.max(column.padded(cell));
        }
    }

    /// Columns of the terminal that a row takes.
    #[must_use]
    pub fn total(&self) -> usize {
        let used = self.columns.iter().filter(|c| c.width > 0);
        used.map(|c| c.width + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Where a column begins.
    #[must_use]
    pub fn start(&self, index: usize) -> usize {
        let before = self.columns[..index].iter().filter(|c| c.width > 0);
        before.map(|c| c.width + GAP).sum()
    }

    /// A row without a line break and without space at its end.
    #[must_use]
    pub fn line(&self, row: &[Cell], color: bool) -> String {
        let mut line = String::new();
        let mut owed = 0;
        for (column, cell) in self.columns.iter().zip(row).filter(|(c, _)| c.width > 0) {
            let spare = column.width - column.padded(cell);
            let tail = column.padded(cell) - width(&cell.text);
            let (before, after) =
                if column.align == Align::Left { (0, spare + tail) } else { (spare, tail) };
            if cell.text.is_empty() {
                owed += column.width + GAP;
                continue;
            }
            line.push_str(&" ".repeat(owed + before));
            line.push_str(&paint(&cell.text, cell.style, color));
            owed = after + GAP;
        }
        line
    }
}

impl Column {
    /// Columns that the field takes with its decimal point in place.
    fn padded(&self, cell: &Cell) -> usize {
        let missing = self.fraction_of(cell).map_or(0, |f| self.fraction.saturating_sub(f));
        width(&cell.text) + missing
    }

    /// Columns from the decimal point on; `None` for what is no number of an aligned column.
    fn fraction_of(&self, cell: &Cell) -> Option<usize> {
        (self.align == Align::Point && cell.is_number)
            .then(|| cell.text.find('.').map_or(0, |point| cell.text.len() - point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(alignments: &[Align], rows: &[&[&str]]) -> Vec<String> {
        let cell = |text: &&str| match text.trim_start_matches('~').parse::<f64>() {
            Ok(_) => Cell::number(*text, PLAIN),
            Err(_) => Cell::plain(*text),
        };
        let rows: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let mut columns = Columns::new(alignments.iter().copied());
        rows.iter().for_each(|row| columns.fit(row));
        let lines: Vec<String> = rows.iter().map(|row| columns.line(row, false)).collect();
        assert_eq!(lines.iter().map(|l| width(l)).max().unwrap(), columns.total());
        lines
    }

    #[test]
    fn decimal_points_stand_below_each_other() {
        let rows: &[&[&str]] = &[&["8K", "x"], &["15230", "x"], &["~8.21", "x"], &["95.3", "x"]];
        assert_eq!(
            lines(&[Align::Point, Align::Left], rows),
            ["      8K  x", "15230     x", "   ~8.21  x", "   95.3   x"]
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let rows: &[&[&str]] = &[&["暗号", "1"], &["a", "22"]];
        assert_eq!(lines(&[Align::Left, Align::Right], rows), ["暗号   1", "a     22"]);
    }

    #[test]
    fn empty_columns_and_line_ends_take_no_room() {
        let rows: &[&[&str]] = &[&["a", "", "b", ""], &["c", "", "", ""]];
        assert_eq!(lines(&[Align::Left; 4], rows), ["a  b", "c"]);
    }

    #[test]
    fn styles_do_not_move_columns() {
        let row = [Cell::new("a", crate::text::ALARM), Cell::plain("b")];
        let mut columns = Columns::new([Align::Left, Align::Left]);
        columns.fit(&row);
        let line = columns.line(&row, true);
        assert!(line.starts_with('\u{1b}') && line.ends_with("\u{1b}[0m  b"), "{line:?}");
    }
}
