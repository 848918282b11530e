//! The ranked tables, for a terminal and as GitHub-flavoured Markdown.

use crate::formats::{Row as Facts, instructions_per_cycle};
use crate::labels::{cycles_per_byte, percent, speed};
use crate::survey::{LEFT_OUT, Row, Section, Survey, mark, shout};
use crate::{labels, summary};
use anstyle::Style;
use base::text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Column, Columns, GAP, GOOD, HEADING, Options, PLAIN,
    Table, clip, escape_markdown as escape,
};
use judge::compare::Best;
use record::{Measurement, Record, State};

/// Longest name of an algorithm or library: what is longer is no name.
const LONGEST_NAME: usize = 34;
/// Shortest that a name is clipped to where nothing else can go.
const SHORTEST_NAME: usize = 10;
/// Fewest columns in which a reason is readable; else it gets lines of its own.
const NARROWEST_REASON: usize = 36;

pub(crate) fn table(
    record: &Record,
    selection: &[&Measurement],
    best: &Best,
    options: Options,
) -> String {
    let survey = Survey::of(record, selection);
    let mut out = String::new();
    for line in summary::head(record, selection) {
        out += &options.hang(&line, 0, PLAIN);
    }
    let layout = Layout::of(&survey, best, options);
    if let Some(note) = layout.left_out(&survey) {
        out += &options.hang(&note, 0, CAUTION);
    }
    for section in &survey.sections {
        out += &layout.section(section);
    }
    if let Some(operations) = crate::survey::operations(selection) {
        out += &format!("\n{}", operations.text(options));
    }
    let notes = layout.notes(&survey);
    let foot = summary::foot(record, selection, &survey);
    if !foot.is_empty() {
        out.push('\n');
    }
    for line in foot.into_iter().chain(notes) {
        out += &options.hang(&line, 2, PLAIN);
    }
    out
}

/// Which columns there are and how wide they are, the same in every section.
struct Layout<'a> {
    best: &'a Best,
    sizes: Vec<usize>,
    reference: usize,
    columns: Columns,
    options: Options,
    extras: Extras,
}

/// What is shown where there is room beside all sizes, and what goes where there is none for one.
#[derive(Clone, Copy)]
struct Extras {
    /// The fitted cost of each message.
    fixed: bool,
    bars: bool,
    /// How many of the last columns have gone: [`GOING`] says in which order.
    gone: usize,
    /// Columns that a name may take.
    name: usize,
}

/// A column of what was measured at the size of the ranking, in text and Markdown.
struct Figure {
    head: &'static str,
    align: Align,
    style: Style,
    of: fn(&Facts<'_>) -> Option<String>,
    /// In the place of what is not known of a measured case.
    unknown: &'static str,
}

const FIGURES: [Figure; 4] = [
    Figure {
        head: "c/B",
        align: Align::Point,
        style: PLAIN,
        of: |m| {
            let sign = if m.contended { "<" } else { "" };
            cycles_per_byte(m).map(|cycles| format!("{sign}{cycles}"))
        },
        unknown: "",
    },
    Figure {
        head: "±%",
        align: Align::Right,
        style: ASIDE,
        // A bound has an interval on one side only.
        of: |m| m.precision.filter(|_| !m.contended).map(percent),
        unknown: "",
    },
    Figure {
        head: "ipc",
        align: Align::Point,
        style: ASIDE,
        of: |m| instructions_per_cycle(m).map(|ipc| format!("{ipc:.1}")),
        unknown: "",
    },
    Figure {
        head: "limit%",
        align: Align::Right,
        style: PLAIN,
        of: |m| {
            let sign = if m.contended { ">" } else { "" };
            m.limit_fraction.map(|f| format!("{sign}{:.0}", f * 100.0))
        },
        unknown: "–",
    },
];

impl Figure {
    /// Nothing where nothing was measured.
    fn text(&self, record: &Record, m: Option<&Measurement>) -> String {
        let text = |m| (self.of)(&Facts::of(record, m));
        m.map(|m| text(m).unwrap_or_else(|| self.unknown.to_owned())).unwrap_or_default()
    }
}

/// Columns in the order in which they go on a narrow terminal; the first is there only where there is room beside all
/// else. The warnings' place is taken by a `!`
/// behind the algorithm then.
const GOING: [&str; 5] = ["ipc", "±%", "limit%", "c/B", "warnings"];

impl Default for Extras {
    fn default() -> Self {
        Self { fixed: false, bars: false, gone: 1, name: LONGEST_NAME }
    }
}

impl Extras {
    fn has(self, column: &str) -> bool {
        !GOING[..self.gone].contains(&column)
    }
}

impl<'a> Layout<'a> {
    /// With as many sizes as fit, the most telling first.
    fn of(survey: &Survey<'_>, best: &'a Best, options: Options) -> Self {
        let with = |sizes, extras| Self::with(survey, best, sizes, options, extras);
        let mut layout = with(vec![survey.reference], Extras::default());
        if layout.columns.total() > options.width {
            return Self::narrow(&with, survey.reference, options.width);
        }
        for size in by_interest(&survey.sizes, survey.reference) {
            let mut sizes = layout.sizes.clone();
            sizes.push(size);
            sizes.sort_unstable();
            let wider = with(sizes, Extras::default());
            if wider.columns.total() <= options.width {
                layout = wider;
            }
        }
        let fitted = survey.sections.iter().flat_map(|s| &s.rows).any(|row| row.fit.is_some());
        let fixed = fitted && layout.sizes.len() == survey.sizes.len();
        let richest_first =
            [(fixed, true, 0), (fixed, true, 1), (fixed, false, 1), (false, true, 1)];
        let richer = |(fixed, bars, gone)| {
            with(layout.sizes.clone(), Extras { fixed, bars, gone, ..Extras::default() })
        };
        let fits = |wider: &Self| wider.columns.total() <= options.width;
        richest_first.into_iter().map(richer).find(fits).unwrap_or(layout)
    }

    /// One size, without the columns that can go, and then with shorter names.
    fn narrow(with: &dyn Fn(Vec<usize>, Extras) -> Self, reference: usize, width: usize) -> Self {
        let fewer = (2..=GOING.len()).map(|gone| Extras { gone, ..Extras::default() });
        let shorter = (SHORTEST_NAME..LONGEST_NAME).rev();
        let shorter = shorter.map(|name| Extras { name, gone: GOING.len(), ..Extras::default() });
        let with = |extras| with(vec![reference], extras);
        let fitting = fewer.chain(shorter).map(with).find(|l| l.columns.total() <= width);
        let least = Extras { name: SHORTEST_NAME, gone: GOING.len(), ..Extras::default() };
        fitting.unwrap_or_else(|| with(least))
    }

    fn with(
        survey: &Survey<'_>,
        best: &'a Best,
        sizes: Vec<usize>,
        options: Options,
        extras: Extras,
    ) -> Self {
        let numbers = std::iter::repeat_n(Align::Point, sizes.len() + usize::from(extras.fixed));
        let names = [Align::Left, Align::Left, Align::Left];
        let figures = FIGURES.iter().map(|figure| figure.align);
        let alignments =
            names.into_iter().chain(numbers).chain(figures).chain([Align::Left, Align::Left]);
        let columns = Columns::new(alignments);
        let mut layout =
            Self { best, sizes, reference: survey.reference, columns, options, extras };
        let mut rows = vec![layout.heading()];
        rows.extend(survey.sections.iter().flat_map(|s| &s.rows).map(|row| layout.row(row)));
        rows.iter().for_each(|row| layout.columns.fit(row));
        layout
    }

    /// Says which sizes did not fit.
    fn left_out(&self, survey: &Survey<'_>) -> Option<String> {
        let gone = survey.sizes.iter().filter(|size| !self.sizes.contains(size));
        let gone: Vec<String> = gone.map(|size| labels::size(*size)).collect();
        let width = self.options.width;
        (!gone.is_empty()).then(|| {
            format!(
                "no room in {width} columns for sizes {}; csv and markdown have all",
                gone.join(", ")
            )
        })
    }

    /// What the signs mean that this layout brought in.
    fn notes(&self, survey: &Survey<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        let rows = || survey.sections.iter().flat_map(|s| &s.rows);
        if rows().any(|row| !self.place(row).0.is_empty()) {
            notes.push(
                "1: surely the fastest of its table at the size of the ranking; 1=: no other is surely \
                 faster (95 %)"
                    .to_owned(),
            );
        }
        if self.extras.gone > 1 {
            let gone = GOING[1..self.extras.gone].join(", ");
            notes.push(format!("no room in {} columns for {gone}", self.options.width));
        }
        if !self.extras.has("warnings") && rows().any(|row| row.warning.is_some()) {
            notes.push("!: read what is said of the algorithm above".to_owned());
        }
        notes
    }

    fn heading(&self) -> Vec<Cell> {
        let names = ["", "algorithm", "library"].map(|head| Cell::new(head, HEADING));
        let mut cells = names.to_vec();
        let sizes = self.sizes.iter().map(|size| labels::size_with_unit(*size));
        cells.extend(sizes.map(|size| Cell::new(size, HEADING)));
        if self.extras.fixed {
            cells.push(Cell::new("+ns", HEADING));
        }
        // Rows without a note must not make room for one.
        let shown = |head: &'static str| if self.extras.has(head) { head } else { "" };
        cells.extend(FIGURES.iter().map(|figure| Cell::new(shown(figure.head), HEADING)));
        cells.extend([Cell::plain(""), Cell::plain("")]);
        cells
    }

    fn section(&self, section: &Section<'_>) -> String {
        let color = self.options.color;
        let ranked = format!("MB/s by size, ranked at {}", labels::size(self.reference));
        let title = format!("{}: {ranked}", section.title());
        let mut out = "\n".to_owned() + &self.options.hang(&title, 0, HEADING);
        out += &self.columns.line(&self.heading(), color);
        out.push('\n');
        for row in &section.rows {
            let problems: Vec<String> = row.problems().iter().map(|p| p.text()).collect();
            if row.has_number() {
                out += &self.columns.line(&self.row(row), color);
                out.push('\n');
                problems.iter().for_each(|p| out += &self.reason(p, self.indent()));
            } else {
                out += &self.without_number(row, &problems);
            }
        }
        out
    }

    /// A row in which there is no number: the reasons take the numbers' place.
    fn without_number(&self, row: &Row<'_>, problems: &[String]) -> String {
        let mut text = problems.join("; ");
        if let Some(warning) = &row.warning {
            text += &format!(" ({warning})");
        }
        let names = self.columns.line(&self.row(row)[..3], self.options.color);
        let reason = self.reason(&text, self.indent());
        if self.options.width < self.indent() + NARROWEST_REASON {
            return format!("{names}\n{reason}");
        }
        let taken = base::text::width(&self.columns.line(&self.row(row)[..3], false));
        names + &" ".repeat(self.indent() - taken) + reason.trim_start_matches(' ')
    }

    /// A reason on lines of its own, below the numbers where there is room.
    fn reason(&self, text: &str, indent: usize) -> String {
        let room = self.options.width.saturating_sub(indent);
        let indent = if room < NARROWEST_REASON { 4 } else { indent };
        self.options.behind(&" ".repeat(indent), indent, text, ALARM)
    }

    fn indent(&self) -> usize {
        self.columns.start(3).max(GAP)
    }

    /// The sign of the best, and its style.
    fn place(&self, row: &Row<'_>) -> (&'static str, Style) {
        match row.measured(self.reference).and_then(|m| self.best.tied(m)) {
            Some(false) => ("1", BEST),
            Some(true) => ("1=", GOOD),
            None => ("", PLAIN),
        }
    }

    /// The algorithm's name, with a sign where its warning has no column.
    fn algorithm(&self, row: &Row<'_>) -> String {
        let folded = row.warning.is_some() && !self.extras.has("warnings");
        let sign = if folded { "!" } else { "" };
        clip(&row.algorithm, self.extras.name - sign.len()) + sign
    }

    fn row(&self, row: &Row<'_>) -> Vec<Cell> {
        let (place, style) = self.place(row);
        let mut cells = vec![
            Cell::new(place, style),
            Cell::new(self.algorithm(row), style),
            Cell::new(row.library(self.extras.name), style),
        ];
        if !row.has_number() {
            return cells;
        }
        let speed = |size: &usize| {
            let style = if *size == self.reference { style } else { PLAIN };
            number_cell(row.cells.get(size).copied(), style)
        };
        cells.extend(self.sizes.iter().map(speed));
        if self.extras.fixed {
            let fixed = row.fit.filter(|fit| fit.linear).map(|fit| fit.ns_per_message.max(0.0));
            let text = fixed.map(|ns| crate::labels::supported(ns, None)).unwrap_or_default();
            cells.push(Cell::number(text, ASIDE));
        }
        let at_reference = row.measured(self.reference);
        let shown = |column: &str, text: String| {
            if self.extras.has(column) { text } else { String::new() }
        };
        cells.extend(FIGURES.iter().map(|figure| {
            let text = shown(figure.head, figure.text(row.record, at_reference));
            match figure.align {
                Align::Point => Cell::number(text, figure.style),
                _ => Cell::new(text, figure.style),
            }
        }));
        let fraction = at_reference.and_then(|m| m.limit_fraction);
        let bar = fraction.filter(|_| self.extras.bars).map(bar).unwrap_or_default();
        cells.push(Cell::new(bar, ASIDE));
        let warning = row.warning.as_deref().unwrap_or_default();
        cells.push(Cell::new(shown("warnings", clip(warning, LONGEST_NAME)), CAUTION));
        cells
    }
}

/// The sizes beside the reference, in the order in which they are given room: the largest and the
/// smallest, then the others from the outside in.
fn by_interest(sizes: &[usize], reference: usize) -> Vec<usize> {
    let middle = sizes.len() / 2;
    let mut others: Vec<(usize, usize)> =
        sizes.iter().copied().enumerate().filter(|(_, size)| *size != reference).collect();
    others.sort_by_key(|(i, size)| std::cmp::Reverse((i.abs_diff(middle), *size)));
    if let (Some(largest), Some(smallest)) = (sizes.last(), sizes.first()) {
        others.sort_by_key(|(_, size)| match size {
            size if size == largest => 0,
            size if size == smallest => 1,
            _ => 2,
        });
    }
    others.into_iter().map(|(_, size)| size).collect()
}

/// A fraction as a bar of five columns, in eighths of a column.
fn bar(fraction: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // At most 40, so it fits any integer.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let eighths = (fraction.clamp(0.0, 1.0) * 40.0).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

fn number_cell(m: Option<&Measurement>, style: Style) -> Cell {
    let Some(m) = m else { return Cell::plain("") };
    match m.state {
        State::Measured | State::Imported => {
            let text = speed(m).unwrap_or_else(|| "?".to_owned());
            let mark = mark(m);
            let style = if mark.is_empty() { style } else { CAUTION };
            Cell::number(format!("{mark}{text}"), style)
        }
        State::Unsupported => Cell::new("–", ASIDE),
        State::Failed if m.is_left_out() => Cell::new(LEFT_OUT, ASIDE),
        State::Refused | State::Failed => Cell::new(shout(m.state), ALARM),
    }
}

/// The tables of a selection, with every size.
pub(crate) fn markdown(record: &Record, selection: &[&Measurement]) -> String {
    let survey = Survey::of(record, selection);
    let head: Vec<String> = summary::head(record, selection).iter().map(|l| escape(l)).collect();
    let mut out = head.join("\\\n") + "\n";
    for section in &survey.sections {
        out += &markdown_section(section, &survey);
    }
    if let Some(operations) = crate::survey::operations(selection) {
        out += &format!("\n### operations\n\n{}", operations.markdown());
    }
    let foot = summary::foot(record, selection, &survey);
    if !foot.is_empty() {
        out.push('\n');
    }
    for line in foot {
        out += &format!("- {}\n", escape(&line));
    }
    out
}

fn markdown_section(section: &Section<'_>, survey: &Survey<'_>) -> String {
    let mut columns = vec![Column::left("algorithm"), Column::left("library")];
    let sizes = survey.sizes.iter().map(|size| labels::size(*size));
    columns.extend(sizes.map(|size| Column::named(size, Align::Right)));
    columns.extend(FIGURES.iter().map(|figure| Column::new(figure.head, Align::Right)));
    columns.push(Column::left("note"));
    let row = |row: &Row<'_>| {
        let mut cells = vec![Cell::plain(&row.algorithm), Cell::plain(row.library(usize::MAX))];
        let number = |size| number_cell(row.cells.get(size).copied(), PLAIN);
        cells.extend(survey.sizes.iter().map(number));
        let at_reference = row.measured(survey.reference);
        cells.extend(
            FIGURES.iter().map(|figure| Cell::plain(figure.text(row.record, at_reference))),
        );
        let problems = row.problems().into_iter().map(|p| p.text());
        let notes: Vec<String> = row.warning.iter().cloned().chain(problems).collect();
        cells.push(Cell::plain(notes.join("; ")));
        cells
    };
    let table = Table::new(columns, section.rows.iter().map(row).collect());
    format!("\n### {}\n\n{}", escape(&section.title()), table.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use base::model::Direction;

    fn rendered(record: &Record, options: Options) -> String {
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        table(record, &selection, &Best::of(record, &selection), options)
    }

    #[test]
    fn a_record_with_every_state_as_a_table() {
        insta::assert_snapshot!(rendered(&sample::record(), Options { width: 110, color: false }));
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_sizes_and_is_told_so() {
        let options = Options { width: 80, color: false };
        insta::assert_snapshot!(rendered(&sample::record(), options));
    }

    #[test]
    fn a_bound_is_one_in_every_column() {
        let mut record = sample::record();
        record.measurements.retain(|m| m.state == State::Measured && m.size == 8192);
        record.measurements.truncate(1);
        (record.measurements[0].contended, record.measurements[0].limit_fraction) =
            (true, Some(0.5));
        let text = rendered(&record, Options { width: 200, color: false });
        let row = text.lines().find(|line| line.contains("aes-128-gcm")).unwrap();
        let signs: Vec<&str> =
            row.split_whitespace().filter(|w| w.starts_with(['<', '>'])).collect();
        let [speed, cycles, limit] = signs[..] else { panic!("{row}") };
        assert!(speed.starts_with('>') && cycles.starts_with('<') && limit == ">50", "{row}");
    }

    #[test]
    fn a_derivation_is_shown_by_its_time_and_one_that_was_refused_by_its_reason() {
        let mut record = sample::record();
        record.measurements.retain(|m| m.state == State::Measured && m.size == 8192);
        record.measurements.truncate(3);
        for m in &mut record.measurements {
            (m.algorithm, m.direction) = ("pbkdf2-sha256".to_owned(), Direction::Digest);
            (m.mb_per_s, m.cycles_per_byte) = (None, None);
        }
        let [_, bound, refused] = &mut record.measurements[..] else { panic!() };
        (bound.contended, bound.library.name) = (true, "busy".to_owned());
        (refused.state, refused.ns_per_op) = (State::Refused, None);
        (refused.reason, refused.library.name) =
            (Some("byte 3 differs".to_owned()), "bad".to_owned());
        let text = rendered(&record, Options { width: 200, color: false });
        let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap();
        assert!(row("busy@").contains(" <") && row("busy@").contains(" >"), "{text}");
        assert!(
            row("bad@").contains("REFUSED") && row("bad@").contains("byte 3 differs"),
            "{text}"
        );
    }

    #[test]
    fn a_bar_grows_with_the_fraction_and_ends_at_five_columns() {
        assert_eq!([0.0, 0.1, 0.5, 1.0, 1.02].map(bar), ["", "▌", "██▌", "█████", "█████"]);
    }

    #[test]
    fn an_empty_selection_is_a_short_table() {
        let record = sample::record();
        let text = table(&record, &[], &Best::default(), Options::default());
        assert!(text.contains("0 of 60 cases: 0 measured"), "{text}");
    }

    #[test]
    fn the_reference_size_then_the_outermost_are_given_room_first() {
        let sizes = [16, 64, 256, 1024, 8192, 16384];
        assert_eq!(by_interest(&sizes, 8192), [16384, 16, 64, 256, 1024]);
        assert!(by_interest(&[8192], 8192).is_empty());
        assert!(by_interest(&[], 0).is_empty());
    }

    #[test]
    fn a_record_with_every_state_as_markdown() {
        let record = crate::sample::record();
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        insta::assert_snapshot!(markdown(&record, &selection));
    }
}
