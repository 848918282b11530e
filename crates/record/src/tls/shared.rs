//! What the renderings of handshakes, records and primitives have in common.

use crate::tls::document::{Cost, Run, Stack};
use crate::tls::row::Row;
use crate::{Host, Noise, State, Stopped};
use base::text::{clean, escape_markdown};
use std::collections::BTreeMap;

/// How a run is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// Tables for people.
    Table,
    /// The whole record.
    Json,
    /// One row a measurement.
    Csv,
    /// GitHub-flavoured Markdown.
    Markdown,
}

/// What each kind of row prints in its own way.
pub trait Rendered: Row {
    /// What stands before the span below the tables.
    const SPAN: &'static str;
    /// What else is to be known, below the tables.
    const NOTE: Option<&'static str>;

    /// Tables for a terminal.
    fn text(run: &Run<Self>, width: usize) -> String;
    /// The same tables in Markdown.
    fn markdown(run: &Run<Self>) -> String;
    /// The row as people call it, and why it has no figure, or not one as precise as was asked for.
    fn lack(&self) -> Option<(String, String)>;
    /// Its stack, by its label.
    fn stack(&self) -> &str;
}

/// The run without the rows that there was no time for, and lines that say how many those are and whether somebody
/// ended the run.
fn shown<R: Row>(run: &Run<R>) -> (Run<R>, Vec<String>) {
    let mut shown = run.clone();
    shown.rows.retain(|row| !row.is_left_out());
    let (left_out, all) = (run.rows.len() - shown.rows.len(), run.rows.len());
    let interrupted =
        run.rows.iter().filter(|row| row.ended().1 == Some(Stopped::Interrupted)).count();
    let mut said = Vec::new();
    if interrupted > 0 {
        said.push(format!(
            "INTERRUPTED: {interrupted} of {all} rows have no number or fewer samples than asked for"
        ));
    }
    if left_out > 0 {
        said.push(format!("left out: {left_out} of {all} rows; --thorough has all"));
    }
    (shown, said)
}

/// What stands below the tables.
fn foot<R: Rendered>(run: &Run<R>) -> Vec<String> {
    let mut lines = lacks(&run.rows);
    lines.push(format!("{}: {}.", R::SPAN, clean(&run.span)));
    lines.extend(R::NOTE.map(str::to_owned));
    lines.push(machine_and_noise(&run.noise, run.seconds, &run.host));
    let stacks: Vec<&str> = run.stacks.iter().map(|stack| &*stack.path).collect();
    let set = run.host.circumstances.iter().filter(|c| c.bears_on(&stacks));
    lines.extend(set.map(|c| format!("{}.", clean(&c.sentence()))));
    lines
}

/// The run as tables for a terminal, without what there was no time for.
#[must_use]
pub fn table<R: Rendered>(run: &Run<R>, width: usize) -> String {
    let (shown, left_out) = shown(run);
    let lines = foot(&shown).into_iter().chain(left_out);
    let below = lines.map(|line| base::text::wrap(&line, width).join("\n") + "\n");
    R::text(&shown, width) + "\n" + &below.collect::<String>()
}

/// The same tables in Markdown.
#[must_use]
pub fn markdown<R: Rendered>(run: &Run<R>) -> String {
    let (shown, left_out) = shown(run);
    let lines = foot(&shown).into_iter().chain(left_out);
    let below = lines.map(|line| format!("\n{}\n", escape_markdown(&line)));
    R::markdown(&shown) + &below.collect::<String>()
}

/// Microseconds with the digits that tell: three, and no more than three behind the point.
pub(crate) fn micros(ns: f64) -> String {
    let us = ns / 1000.0;
    match us {
        _ if us >= 100.0 => format!("{us:.0}"),
        _ if us >= 10.0 => format!("{us:.1}"),
        _ if us >= 1.0 => format!("{us:.2}"),
        _ => format!("{us:.3}"),
    }
}

/// What a stack has of a line: two costs, of both ends or of a whole and its part, or why it has none.
#[derive(Clone, Copy)]
pub(crate) struct Costs {
    pub(crate) both: Option<(Cost, Cost)>,
    pub(crate) state: State,
    /// Whether they are not as precise as was asked for.
    pub(crate) is_marked: bool,
}

impl Costs {
    /// In columns of a table: both medians in µs, and the wider of their precisions. Nothing where the
    /// stack has no such line.
    fn cells(costs: Option<&Self>, [first, second, precise]: [usize; 3]) -> String {
        let whole = first + second + precise;
        let Some(Self { both, state, is_marked }) = costs else { return " ".repeat(whole) };
        let Some((one, other)) = both else { return format!("{:>whole$}", state.name()) };
        let precision = one.precision().max(other.precision()) * 100.0;
        let mark = if *is_marked { "*" } else { "" };
        format!(
            "{:>first$}{:>second$}{:>precise$}",
            micros(one.median_ns),
            micros(other.median_ns),
            format!("{precision:.1}{mark}")
        )
    }

    /// In two columns of Markdown: both medians in µs.
    fn markdown(costs: Option<&Self>) -> String {
        match costs.map(|c| (c.both, c.state)) {
            Some((Some((one, other)), _)) => {
                format!(" {} | {} |", micros(one.median_ns), micros(other.median_ns))
            }
            Some((None, state)) => format!(" {} | |", state.name()),
            None => " | |".to_owned(),
        }
    }
}

/// Rows under one title, each with two names and what each stack has of it.
pub(crate) struct Section<'a> {
    title: String,
    rows: Vec<([String; 2], BTreeMap<&'a str, Costs>)>,
}

/// Sorts measurements into sections, both in the order in which they first appear: of each its title, its two
/// names, its stack's label and its costs.
pub(crate) fn sections<'a>(
    measurements: impl Iterator<Item = (String, [String; 2], &'a str, Costs)>,
) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (title, names, stack, costs) in measurements {
        let at = sections.iter().position(|s| s.title == title).unwrap_or_else(|| {
            sections.push(Section { title, rows: Vec::new() });
            sections.len() - 1
        });
        let rows = &mut sections[at].rows;
        let at = rows.iter().position(|(known, _)| *known == names).unwrap_or_else(|| {
            rows.push((names, BTreeMap::new()));
            rows.len() - 1
        });
        rows[at].1.insert(stack, costs);
    }
    sections
}

fn labels(stacks: &[Stack]) -> Vec<&str> {
    stacks.iter().map(|s| s.label.as_str()).collect()
}

/// A table of stacks side by side: two names, then two costs and their precision of each stack.
pub(crate) struct SideBySide {
    /// Headings of the names, with their widths in a terminal.
    pub(crate) names: [(&'static str, usize); 2],
    /// In a terminal the names have no headings, and a first name is not repeated.
    pub(crate) is_outline: bool,
    /// Headings of the costs and of their precision, with their widths.
    pub(crate) costs: [(&'static str, usize); 3],
}

impl SideBySide {
    /// For a terminal: as many stacks side by side as there is room for.
    pub(crate) fn text(
        &self,
        sections: &[Section<'_>],
        stacks: &[Stack],
        terminal: usize,
    ) -> String {
        let labels = labels(stacks);
        let names: usize = self.names.iter().map(|(_, width)| width).sum();
        let at_once = (terminal.saturating_sub(names) / self.stack_width()).max(1);
        let blocks = labels
            .chunks(at_once)
            .flat_map(|stacks| sections.iter().map(|section| self.block(section, stacks)));
        blocks.collect()
    }

    fn stack_width(&self) -> usize {
        self.costs.iter().map(|(_, width)| width).sum()
    }

    fn block(&self, section: &Section<'_>, stacks: &[&str]) -> String {
        let ([(first, one), (second, two)], stack_width) = (self.names, self.stack_width());
        let mut out = "\n".to_owned();
        if !section.title.is_empty() {
            out += &format!("{}\n", section.title);
        }
        out += &" ".repeat(one + two);
        for stack in stacks {
            // A stack's name never takes more than its columns.
            let clipped: String = clean(stack).chars().take(stack_width - 2).collect();
            out += &format!("{clipped:>stack_width$}");
        }
        let (first, second) = if self.is_outline { ("", "") } else { (first, second) };
        out += &format!("\n{first:<one$}{second:<two$}");
        for (heading, width) in stacks.iter().flat_map(|_| self.costs) {
            out += &format!("{heading:>width$}");
        }
        out.push('\n');
        let mut before = "";
        for ([first, second], of) in &section.rows {
            let is_repeated = self.is_outline && first == before;
            let shown = if is_repeated { "" } else { first.as_str() };
            out += &format!("{shown:<one$}{second:<two$}");
            for stack in stacks {
                out += &Costs::cells(of.get(stack), self.costs.map(|(_, width)| width));
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
            before = first;
        }
        out
    }

    /// A section's table in Markdown.
    pub(crate) fn markdown(&self, sections: &[Section<'_>], stacks: &[Stack]) -> String {
        let labels = labels(stacks);
        sections.iter().map(|section| self.markdown_of(section, &labels)).collect()
    }

    fn markdown_of(&self, section: &Section<'_>, labels: &[&str]) -> String {
        let mut out = String::new();
        if !section.title.is_empty() {
            out += &format!("\n### {}\n\n", escape_markdown(&section.title));
        }
        let ([(first, _), (second, _)], [(one, _), (other, _), _]) = (self.names, self.costs);
        out += &format!("| {first} | {second} |");
        for label in labels {
            out += &format!(" {} {one} | {other} |", escape_markdown(&clean(label)));
        }
        out += "\n| --- | --- |";
        out += &" ---: | ---: |".repeat(labels.len());
        out.push('\n');
        for ([first, second], of) in &section.rows {
            out += &format!("| {first} | {second} |");
            for label in labels {
                out += &Costs::markdown(of.get(label));
            }
            out.push('\n');
        }
        out
    }
}

/// A row's reason in words.
pub(crate) fn lack_of(state: State, reason: &str) -> String {
    match state {
        // The column says how precise each is, the file why.
        State::Measured => "* precision not reached".to_owned(),
        state => format!("{}: {}", state.name(), clean(reason)),
    }
}

/// A line for each stack and reason: its first row, and how many more.
fn lacks<R: Rendered>(rows: &[R]) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for (row, (name, why)) in rows.iter().filter_map(|row| Some((row, row.lack()?))) {
        reasons.entry((row.stack(), why)).or_default().push(name);
    }
    let lines = reasons.into_iter().map(|((stack, why), rows)| {
        let first = rows.first().map_or("", String::as_str);
        let more = match rows.len() {
            0 | 1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        format!("{} {first}{more}: {why}", clean(stack))
    });
    lines.collect()
}

/// How disturbed a run was, and where it took place.
fn machine_and_noise(noise: &Noise, seconds: f64, host: &Host) -> String {
    let Noise { clean: quiet, samples, .. } = noise;
    format!(
        "{quiet} of {samples} samples clean; {seconds:.0} s; {}machine: {}.",
        core_clock(host),
        clean(&host.cpu.name)
    )
}

/// What times and intervals refer to, where the core clock is known.
fn core_clock(host: &Host) -> String {
    let (Some(ghz), Some((low, high))) = (host.clock.core_ghz_median, host.clock.core_ghz_range)
    else {
        return String::new();
    };
    format!("times at a core clock of {ghz:.2} GHz ({low:.2} to {high:.2}), ± of its cycles; ")
}
