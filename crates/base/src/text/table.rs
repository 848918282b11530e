//! Tables: one that fits its width (columns go by importance, the least first, then texts are clipped or
//! wrapped), aligned columns, CSV that spreadsheets will open, and GitHub-flavoured Markdown.

use crate::text::{HEADING, Options, PLAIN, clip, paint, width, wrap};
use anstyle::Style;
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
    is_there: bool,
}

/// What a column holds of a row.
pub type Held<'a, R, T> = &'a dyn Fn(&R) -> T;

impl Column {
    /// A column that stays whatever the width.
    pub const fn new(heading: &'static str, align: Align) -> Self {
        Self { heading: Cow::Borrowed(heading), align, dispensable: 0, is_there: true }
    }

    /// Words, from the left.
    pub const fn left(heading: &'static str) -> Self {
        Self::new(heading, Align::Left)
    }

    /// Up to the right.
    pub const fn right(heading: &'static str) -> Self {
        Self::new(heading, Align::Right)
    }

    /// Numbers, by their decimal points.
    pub const fn point(heading: &'static str) -> Self {
        Self::new(heading, Align::Point)
    }

    /// As [`Column::new`], under a heading of any text.
    pub fn named(heading: String, align: Align) -> Self {
        Self { heading: Cow::Owned(heading), ..Self::new("", align) }
    }

    /// Columns that can go do so in this order, from 1 on.
    pub const fn goes(mut self, order: u8) -> Self {
        self.dispensable = order;
        self
    }

    /// A column that [`Table::of`] leaves out otherwise.
    pub const fn only_if(mut self, is_there: bool) -> Self {
        self.is_there = is_there;
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
    /// A table whose columns say what they hold of a row.
    pub fn of<R>(
        rows: impl IntoIterator<Item = R>,
        columns: &[(Column, Held<'_, R, Cell>)],
    ) -> Self {
        let columns: Vec<_> = columns.iter().filter(|(column, _)| column.is_there).collect();
        let cells = |row: R| columns.iter().map(|(_, cell)| cell(&row)).collect();
        let rows = rows.into_iter().map(cells).collect();
        Self::new(columns.iter().map(|(column, _)| column.clone()).collect::<Vec<_>>(), rows)
    }

    /// A table; each row has a cell for each column.
    pub fn new(columns: impl Into<Vec<Column>>, rows: Vec<Vec<Cell>>) -> Self {
        Self { columns: columns.into(), rows, is_wrapped: false, is_narrow: false }
    }

    /// Texts that are too wide go on below, instead of being clipped.
    pub fn wrapped(self) -> Self {
        Self { is_wrapped: true, ..self }
    }

    /// Whole digits take up the room below long headings.
    pub fn narrow(self) -> Self {
        Self { is_narrow: true, ..self }
    }

    /// The table for a terminal, ending with a line break, with what had no room.
    pub fn text(&self, options: Options) -> String {
        let plan = self.plan(options.width);
        let mut out = self.lines_of(&plan, options.color).concat();
        let gone = self.dropped(&plan);
        if !gone.is_empty() {
            let note = format!("no room for {}; json has all", gone.join(", "));
            out += &options.hang(&note, 2, PLAIN);
        }
        out
    }

    /// The heading, then each row, all ending with a line break, however wide.
    pub fn lines(&self, color: bool) -> Vec<String> {
        self.lines_of(&self.plan(usize::MAX), color)
    }

    /// The table in Markdown, every column of it.
    pub fn markdown(&self) -> String {
        let heads: Vec<String> = self.columns.iter().map(|c| escape(&c.heading)).collect();
        let rule = |c: &Column| if c.align == Align::Left { "---" } else { "---:" };
        let rules: Vec<&str> = self.columns.iter().map(rule).collect();
        let row =
            |row: &Vec<Cell>| line(&row.iter().map(|cell| escape(cell.text())).collect::<Vec<_>>());
        line(&heads) + &line(&rules) + &self.rows.iter().map(row).collect::<String>()
    }

    /// As [`csv`], every column of it.
    pub fn csv(&self) -> String {
        let heading: Vec<&str> = self.columns.iter().map(|c| &*c.heading).collect();
        csv(&heading, self.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone())))
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
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
        let cell = |n: usize, (i, texts): (&usize, &Vec<String>)| Cell {
            text: texts.get(n).cloned().unwrap_or_default(),
            ..row[*i].clone()
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
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, is_number: false }
    }

    /// A number, aligned by its decimal point where the column is.
    pub fn number(text: impl Into<String>, style: Style) -> Self {
        Self { is_number: true, ..Self::new(text, style) }
    }

    /// A text without a style.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, PLAIN)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The widths of columns, over every row that is to be aligned with the others.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<FittedColumn>,
}

#[derive(Clone, Copy, Debug)]
struct FittedColumn {
    align: Align,
    width: usize,
    /// Columns from the decimal point on, in the number that has most of them.
    fraction: usize,
}

impl Columns {
    /// Columns of no width.
    pub fn new(alignments: impl IntoIterator<Item = Align>) -> Self {
        let column = |align| FittedColumn { align, width: 0, fraction: 0 };
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
    pub fn total(&self) -> usize {
        let used = self.columns.iter().filter(|c| c.width > 0);
        used.map(|c| c.width + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Where a column begins.
    pub fn start(&self, index: usize) -> usize {
        let before = self.columns[..index].iter().filter(|c| c.width > 0);
        before.map(|c| c.width + GAP).sum()
    }

    /// A row without a line break and without space at its end.
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

impl FittedColumn {
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
/// Characters that make a spreadsheet take a text for a formula
/// (OWASP, "CSV Injection"): the full-width forms count in some languages' settings.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A heading and rows of as many fields (RFC 4180), of which no spreadsheet computes one. Numbers
/// below zero stay numbers.
///
/// # Panics
/// When a row has another number of fields than the heading.
pub fn csv<R>(heading: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let unless_number = |text: String| {
        if text.parse::<f64>().is_ok() { text } else { guarded(text) }
    };
    csv_as_is(heading, rows.into_iter().map(|row| row.into_iter().map(unless_number)))
}

/// As [`csv`], of columns that say what they hold of a row.
pub fn csv_of<R>(
    rows: impl IntoIterator<Item = R>,
    columns: &[(&str, Held<'_, R, String>)],
) -> String {
    let heading: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    csv(&heading, rows.into_iter().map(|row| columns.iter().map(move |(_, of)| of(&row))))
}

/// As [`csv`], with fields as they are.
///
/// # Panics
/// When a row has another number of fields than the heading.
pub fn csv_as_is<R>(heading: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(heading).expect("memory can be written");
    for row in rows {
        writer.write_record(row).expect("each row has the heading's number of fields");
    }
    let bytes = writer.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("all fields are text")
}

/// Text that no spreadsheet takes for a formula: preceded by an apostrophe where it would be one.
pub fn guarded(text: String) -> String {
    if text.starts_with(FORMULA) { format!("'{text}") } else { text }
}
/// A row of a table; the cells are Markdown already.
pub(crate) fn line<S: AsRef<str>>(cells: &[S]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Takes the meaning from everything that Markdown, its tables or HTML would read as markup.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
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

    #[test]
    fn rows_stand_under_their_heading_with_formulas_as_text() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let text = csv(&["a", "b"], [row(["1", "x, y"]), row(["=1+1", "-2"])]);
        assert_eq!(text, "a,b\n1,\"x, y\"\n'=1+1,-2\n");
    }

    #[test]
    fn formulas_become_text() {
        for formula in ["=1+1", "+1", "-2", "@x", "＝1", "\n=1"] {
            assert_eq!(guarded(formula.to_owned()), format!("'{formula}"));
        }
        assert_eq!(guarded("aes-128-gcm".to_owned()), "aes-128-gcm");
    }

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(
            escape("a|b <script> [x](y) `z` *w* \\"),
            "a\\|b &lt;script&gt; \\[x\\](y) \\`z\\` \\*w\\* \\\\"
        );
    }
}
