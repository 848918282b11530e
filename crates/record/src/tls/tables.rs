//! Runs of handshakes, records and primitives as tables and Markdown.
//!
//! What the renderings of handshakes, records and primitives have in common.

use crate::tls::document::{BareCost, Cost, FittedLine, RecordLines, Row, Run, RunKind, Stack};
use crate::tls::negotiation::Unset;
use crate::tls::{Primitive, Subject};
use crate::{Host, Noise, State, Stopped};
use base::model::Tier;
use base::text::{Cell, Column, Table, clean, escape_markdown, wrap};
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

/// The run without the rows that there was no time for, and lines that say how many those are and whether somebody
/// ended the run.
fn shown(run: &Run) -> (Run, Vec<String>) {
    let mut shown = run.clone();
    shown.rows.retain(|row| !row.is_left_out());
    let (left_out, all) = (run.rows.len() - shown.rows.len(), run.rows.len());
    let interrupted =
        run.rows.iter().filter(|row| row.stopped == Some(Stopped::Interrupted)).count();
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
fn foot(run: &Run) -> Vec<String> {
    let mut lines = lacks(&run.rows);
    let apart = if run.kind == RunKind::Handshakes { ", each end apart" } else { "" };
    lines.push(format!("Inside the clock{apart}: {}.", clean(&run.span)));
    lines.extend(note(run.kind).map(str::to_owned));
    let tier = run.plan.tier;
    lines.extend((tier != Tier::Native).then(|| format!("CPU instructions: tier {tier}.")));
    lines.push(machine_and_noise(&run.noise, run.seconds, &run.host));
    let stacks: Vec<&str> = run.stacks.iter().map(|stack| &*stack.path).collect();
    let set = run.host.circumstances.iter().filter(|c| c.bears_on(&stacks));
    lines.extend(set.map(|c| format!("{}.", clean(&c.sentence()))));
    lines
}

/// The run as tables for a terminal, without what there was no time for.
pub fn table(run: &Run, width: usize) -> String {
    let (shown, left_out) = shown(run);
    let lines = foot(&shown).into_iter().chain(left_out);
    let below = lines.map(|line| wrap(&line, width).join("\n") + "\n");
    let tables = match run.kind {
        RunKind::Handshakes => {
            let said = unset(&shown).chain(own_signatures(&shown));
            let said = said.map(|line| format!("\n{}\n", wrap(&line, width).join("\n")));
            HANDSHAKES.text(&by_kind(&shown), &run.stacks, width) + &said.collect::<String>()
        }
        RunKind::Records => shown.lines().iter().map(|lines| block(&shown, lines)).collect(),
        RunKind::Primitives => PRIMITIVES.text(&one_section(&shown), &run.stacks, width),
    };
    tables + "\n" + &below.collect::<String>()
}

/// The same tables in Markdown.
pub fn markdown(run: &Run) -> String {
    let (shown, left_out) = shown(run);
    let lines = foot(&shown).into_iter().chain(left_out);
    let below = lines.map(|line| format!("\n{}\n", escape_markdown(&line)));
    let tables = match run.kind {
        RunKind::Handshakes => {
            let said = unset(&shown).chain(own_signatures(&shown));
            let said = said.map(|line| format!("\n{}\n", escape_markdown(&line)));
            HANDSHAKES.markdown(&by_kind(&shown), &run.stacks) + &said.collect::<String>()
        }
        RunKind::Records => {
            shown.lines().iter().map(|lines| markdown_block(&shown, lines)).collect()
        }
        RunKind::Primitives => PRIMITIVES.markdown(&one_section(&shown), &run.stacks),
    };
    tables + &below.collect::<String>()
}

/// What else is to be known, below the tables.
fn note(kind: RunKind) -> Option<&'static str> {
    match kind {
        RunKind::Handshakes => None,
        RunKind::Records => Some(
            "bare: the same cipher of the library under the stack, called directly (model message); with CBC, \
             without the HMAC. adds: what the stack takes beside it.",
        ),
        RunKind::Primitives => Some(
            "What each batch left was held against an independent implementation, outside the clock; the \
             checks of each row are in JSON and CSV.",
        ),
    }
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

/// A stack's row in columns of a table: both medians in µs, and the wider of their precisions. Nothing where the stack
/// has no such row.
fn cells(row: Option<&&Row>, [first, second, precise]: [usize; 3]) -> String {
    let whole = first + second + precise;
    let Some(row) = row else { return " ".repeat(whole) };
    let Some([one, other]) = row.costs else { return format!("{:>whole$}", row.state.name()) };
    let time = |cost: Cost| bound(row) + &micros(cost.median_ns);
    format!("{:>first$}{:>second$}{:>precise$}", time(one), time(other), precision(row))
}

/// The sign before a row's times: where only a busy core was seen, they are at most so long.
fn bound(row: &Row) -> String {
    if row.contended { "<".to_owned() } else { String::new() }
}

/// The wider of both parts' precisions in per cent, marked where it is not what was asked for.
fn precision(row: &Row) -> String {
    let mark = if row.reason.is_some() { "*" } else { "" };
    let percent = |precision| format!("{:.1}{mark}", precision * 100.0);
    row.precision().map_or_else(|| row.state.name().to_owned(), percent)
}

/// In two columns of Markdown: both medians in µs.
fn markdown_cells(row: Option<&&Row>) -> String {
    let Some(row) = row else { return " | |".to_owned() };
    let Some([one, other]) = row.costs else { return format!(" {} | |", row.state.name()) };
    let time = |cost: Cost| bound(row) + &micros(cost.median_ns);
    format!(" {} | {} |", time(one), time(other))
}

/// Rows under one title, each with two names and what each stack has of it.
pub(crate) struct Section<'a> {
    title: String,
    rows: Vec<([String; 2], BTreeMap<&'a str, &'a Row>)>,
}

/// Sorts rows into sections, both in the order in which they first appear: of each its title, and its two names.
fn sections<'a>(rows: impl Iterator<Item = (String, [String; 2], &'a Row)>) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (title, names, row) in rows {
        let at = sections.iter().position(|s| s.title == title).unwrap_or_else(|| {
            sections.push(Section { title, rows: Vec::new() });
            sections.len() - 1
        });
        let rows = &mut sections[at].rows;
        let at = rows.iter().position(|(known, _)| *known == names).unwrap_or_else(|| {
            rows.push((names, BTreeMap::new()));
            rows.len() - 1
        });
        rows[at].1.insert(&row.stack, row);
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
                out += &cells(of.get(stack), self.costs.map(|(_, width)| width));
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
            before = first;
        }
        out
    }

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
                out += &markdown_cells(of.get(label));
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

/// The row as people call it, and why it has no figure, or not one as precise as was asked for.
fn lack(row: &Row) -> Option<(String, String)> {
    let name = match &row.subject {
        Subject::Handshake(case) => case.to_string(),
        Subject::Records { protection, size } => format!("{protection} of {size} bytes"),
        Subject::Primitive(primitive) => primitive.to_string(),
    };
    let why = match (&row.reason, &row.bare.reason) {
        (Some(_), _) if row.contended => {
            "* precision not reached; <: only a busy core was seen, so it takes at most so long"
                .to_owned()
        }
        (Some(reason), _) => lack_of(row.state, reason),
        (None, Some(reason)) => {
            format!("no bare {}: {}", clean(&row.bare.algorithm), clean(reason))
        }
        (None, None) if row.bare.is_contended() => format!(
            "bare {}: only a busy core was seen, so that it takes at most so long (<), and the stack adds at least so \
             much (>)",
            clean(&row.bare.algorithm)
        ),
        (None, None) => return None,
    };
    Some((name, why))
}

/// A line for each stack and reason: its first row, and how many more.
fn lacks(rows: &[Row]) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for (row, (name, why)) in rows.iter().filter_map(|row| Some((row, lack(row)?))) {
        reasons.entry((row.stack.as_str(), why)).or_default().push(name);
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

// A run's handshakes as a table or Markdown.

const HANDSHAKES: SideBySide = SideBySide {
    names: [("key exchange", 15), ("certificate", 13)],
    is_outline: false,
    costs: [("server µs", 12), ("client µs", 10), ("±%", 8)],
};

/// A section for each version, kind, suite and temperature.
fn by_kind(run: &Run) -> Vec<Section<'_>> {
    sections(run.rows.iter().filter_map(|row| {
        let case = row.case()?;
        let auth = if case.client_auth { ", client proves itself too" } else { "" };
        let title = format!(
            "TLS {} {}{auth}, {}, {}",
            case.version, case.kind, case.suite, row.temperature
        );
        Some((title, [case.exchange.to_string(), case.certificate.to_string()], row))
    }))
}

/// What each stack's server picks by itself: a key share of one group, and what came of it.
fn unset(run: &Run) -> impl Iterator<Item = String> {
    run.stacks.iter().filter_map(|stack| {
        let mut picks: Vec<String> = Vec::new();
        for row in run.rows.iter().filter(|row| row.stack == stack.label) {
            let sent = row.case().and_then(|case| case.exchange.group());
            let Some((sent, Unset { group, hello_retry })) = sent.zip(row.unset) else { continue };
            let asked = if hello_retry { " (asked again)" } else { "" };
            let pick = format!("{sent} → {group}{asked}");
            if !picks.contains(&pick) {
                picks.push(pick);
            }
        }
        let (label, picks_text) = (clean(&stack.label), picks.join(", "));
        (!picks.is_empty()).then(|| {
            format!("{label} with its groups unset, by the client's key share: {picks_text}")
        })
    })
}

/// Which stacks sign with other schemes than they are to, having no function to be told which.
pub fn own_signatures(run: &Run) -> Vec<String> {
    let of_stack = |stack: &Stack| {
        let mut picks: Vec<String> = Vec::new();
        for row in run.rows.iter().filter(|row| row.stack == stack.label) {
            let used = row.negotiated.as_ref().and_then(|found| found.signature.as_ref());
            let Some((case, used)) = row.case().zip(used) else { continue };
            let asked = case.certificate.signature().to_string();
            let pick = format!("{} {}, not {asked}", case.certificate, clean(used));
            if *used != asked && !picks.contains(&pick) {
                picks.push(pick);
            }
        }
        let picks_text = picks.join("; ");
        let label = clean(&stack.label);
        (!picks.is_empty()).then(|| format!("{label} signs as it likes: {picks_text}"))
    };
    run.stacks.iter().filter_map(of_stack).collect()
}

// A run's records as a table or Markdown.

fn block(run: &Run, lines: &RecordLines) -> String {
    let rows: Vec<&Row> = rows_of(run, lines).collect();
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

fn rows_of<'a>(run: &'a Run, lines: &'a RecordLines) -> impl Iterator<Item = &'a Row> {
    let protection = |row: &Row| row.records().map(|(protection, _)| protection);
    let is_of =
        move |row: &&Row| row.stack == lines.stack && protection(row) == Some(lines.protection);
    run.rows.iter().filter(is_of)
}

fn sizes<'a>(rows: impl Iterator<Item = &'a Row>) -> Table {
    let number =
        |ns: Option<f64>| ns.map_or("-".to_owned(), |ns| format!("{:.0}", ns.round() + 0.0));
    let bare = |cost: Option<BareCost>| {
        let sign = if cost.is_some_and(|c| c.contended) { "<" } else { "" };
        Cell::plain(sign.to_owned() + &number(cost.map(|c| c.median_ns)))
    };
    // What has the stack's time in it.
    let own = |row: &Row, ns: Option<f64>| {
        let sign = if ns.is_some() { bound(row) } else { String::new() };
        Cell::plain(sign + &number(ns))
    };
    let adds = |row: &Row, ns: Option<f64>, bare: Option<BareCost>| {
        let sign = match (row.contended, bare.is_some_and(|c| c.contended)) {
            // Of two that take at most so long the difference is not known.
            (true, true) => return Cell::plain("-"),
            (true, false) => "<",
            (false, true) => ">",
            (false, false) => "",
        };
        Cell::plain(if ns.is_some() { sign.to_owned() + &number(ns) } else { number(ns) })
    };
    let size = |row: &Row| row.records().map_or_else(String::new, |(_, size)| size.to_string());
    let receive = |row: &Row| row.costs.map(|[_, receive]| receive.median_ns);
    Table::of(
        rows,
        &[
            (Column::right("bytes"), &|row| Cell::plain(size(row))),
            (Column::right("send ns"), &|row| own(row, row.cost().map(|c| c.median_ns))),
            (Column::right("bare"), &|row| bare(row.bare.encrypt)),
            (Column::right("adds"), &|row| adds(row, row.added_to_sending(), row.bare.encrypt)),
            (Column::right("recv ns"), &|row| own(row, receive(row))),
            (Column::right("bare"), &|row| bare(row.bare.decrypt)),
            (Column::right("adds"), &|row| adds(row, row.added_to_receiving(), row.bare.decrypt)),
            (Column::right("±%"), &|row| Cell::plain(precision(row))),
        ],
    )
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

fn markdown_block(run: &Run, lines: &RecordLines) -> String {
    let title = format!("{}, {}", clean(&lines.stack), lines.protection);
    let table = sizes(rows_of(run, lines)).markdown();
    format!("\n### {}\n\n{table}", escape_markdown(&title))
}

// A run's primitives as a table or Markdown.

const PRIMITIVES: SideBySide = SideBySide {
    names: [("primitive", 20), ("operation", 12)],
    is_outline: true,
    costs: [("whole µs", 11), ("call µs", 10), ("±%", 7)],
};

fn one_section(run: &Run) -> Vec<Section<'_>> {
    sections(run.rows.iter().filter_map(|row| {
        let Subject::Primitive(Primitive { scheme, operation, size }) = row.subject else {
            return None;
        };
        let what = match size {
            Some(size) => format!("{size} B"),
            None => operation.to_string(),
        };
        Some((String::new(), [scheme.to_string(), what], row))
    }))
}

#[cfg(test)]
mod tests {
    use super::{markdown, table, *};
    use crate::tls::fixtures::{primitive_row, record_row};
    use crate::tls::words::{Certificate, Exchange, Kind, Operation, Scheme, Suite, Version};
    use crate::tls::{Case, fixtures};
    use base::text::fixtures::says;

    fn handshakes() -> Run {
        let row = |stack: &str, exchange, us| {
            let case = Case::usual(Version::Tls13, exchange, Certificate::P256, Kind::Full);
            fixtures::handshake(stack, case, us)
        };
        let rows = vec![
            row("fast@1.0", Exchange::X25519, Some(71.25)),
            row("slow@1.0", Exchange::X25519, Some(1234.0)),
            row("slow@1.0", Exchange::P256, None),
        ];
        fixtures::run(RunKind::Handshakes, &["fast@1.0", "slow@1.0"], rows)
    }

    #[test]
    fn stacks_stand_side_by_side_and_what_is_not_offered_says_why() {
        let text = table(&handshakes(), 100);
        let line = text.lines().find(|l| l.starts_with("x25519")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            words,
            ["x25519", "p256", "71.2", "71.2", "1.0", "1234", "1234", "1.0"],
            "{text}"
        );
        let line = text.lines().find(|l| l.starts_with("p256")).unwrap();
        assert!(line.trim_end().ends_with("unsupported"), "{text}");
        says(&text, ["slow@1.0 1.3 p256 p256 full: unsupported: NO_CIPHER|MATCH"]);
        assert!(!text.contains('\u{1b}'), "a stack's words are no commands to the terminal");
        says(&text, ["60 of 70 samples clean"]);
    }

    #[test]
    fn what_only_a_busy_core_showed_is_at_most_a_time() {
        let mut run = handshakes();
        run.rows[1].contended = true;
        run.rows[1].reason = Some("too few quiet samples, so contended ones count too".to_owned());
        let text = table(&run, 100);
        let line = text.lines().find(|l| l.starts_with("x25519")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[2..], ["71.2", "71.2", "1.0", "<1234", "<1234", "1.0*"], "{text}");
        assert!(text.contains("<: only a busy core was seen"), "{text}");
        assert!(markdown(&run).contains("| 71.2 | 71.2 | <1234 | <1234 |"));
        let mut run = records();
        run.rows[0].contended = true;
        let text = table(&run, 100);
        let line = text.lines().find(|l| l.trim_start().starts_with("64 ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["64", "<416", "208", "<208", "<520", "208", "<312", "1.0"], "{text}");
        let of_64 = |run: &Run| {
            let text = table(run, 100);
            let line = text.lines().find(|l| l.trim_start().starts_with("64 ")).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        run.rows[0].bare.encrypt.as_mut().unwrap().contended = true;
        assert_eq!(of_64(&run)[1..4], ["<416", "<208", "-"]);
        run.rows[0].contended = false;
        assert_eq!(of_64(&run)[1..4], ["416", "<208", ">208"]);
        assert!(table(&run, 200).contains("bare aes-128-gcm: only a busy core"), "{text}");
    }

    #[test]
    fn a_narrow_terminal_gets_one_stack_after_the_other() {
        let text = table(&handshakes(), 60);
        assert_eq!(text.matches("TLS 1.3 full, aes-128-gcm, hot").count(), 2, "{text}");
    }

    #[test]
    fn markdown_escapes() {
        let text = markdown(&handshakes());
        says(&text, ["| x25519 | p256 | 71.2 | 71.2 | 1234 | 1234 |", "NO\\_CIPHER\\|MATCH"]);
    }

    #[test]
    fn what_a_server_picks_by_itself_is_told_once_for_each_stack() {
        let mut run = handshakes();
        let unset = |group, hello_retry| Some(crate::tls::Unset { group, hello_retry });
        run.rows[0].unset = unset(crate::tls::Group::X25519Mlkem768, true);
        run.rows.push(run.rows[0].clone());
        run.rows[1].unset = unset(crate::tls::Group::X25519, false);
        let text = table(&run, 200);
        let line = "fast@1.0 with its groups unset, by the client's key share: x25519 → x25519mlkem768 (asked again)\n";
        says(&text, [line, "by the client's key share: x25519 → x25519\n"]);
        let read = crate::tls::from_record(&crate::tls::into_record(&run, &[])).unwrap();
        assert_eq!(read.rows[0].unset, run.rows[0].unset);
    }

    #[test]
    fn a_stack_that_signs_as_it_likes_is_named_below_the_table() {
        let mut run = handshakes();
        let negotiated = |signature: &str| {
            Some(crate::tls::Negotiated {
                version: Version::Tls13,
                suite: "TLS_AES_128_GCM_SHA256".to_owned(),
                group: None,
                signature: Some(signature.to_owned()),
                resumed: false,
                hello_retry: false,
                client_auth: false,
            })
        };
        run.rows[0].negotiated = negotiated("ecdsa_secp256r1_sha256");
        assert!(!table(&run, 200).contains("signs as it likes"));
        run.rows[1].negotiated = negotiated("ecdsa_sha512");
        run.rows.push(run.rows[1].clone());
        let line = "slow@1.0 signs as it likes: p256 ecdsa_sha512, not ecdsa_secp256r1_sha256\n";
        assert!(table(&run, 200).contains(line), "{}", table(&run, 200));
        assert_eq!(own_signatures(&run).len(), 1);
    }

    fn records() -> Run {
        let mut records: Vec<_> = [64, 1024, 16384]
            .map(|size| record_row(Suite::Aes128Gcm, size, Some(400.0 + 0.25 * f64::from(size))))
            .to_vec();
        records.push(record_row(Suite::Aes128Ccm, 64, None));
        fixtures::run(RunKind::Records, &[], records)
    }

    #[test]
    fn each_size_stands_beside_the_bare_cipher_with_what_the_stack_adds() {
        let text = table(&records(), 100);
        let line = text.lines().find(|l| l.trim_start().starts_with("64 ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["64", "416", "208", "208", "520", "208", "312", "1.0"], "{text}");
        says(
            &text,
            [
                "send: 400 ns + 0.250 ns a byte; bare 200 ns + 0.125 ns a byte",
                "some@1.0, TLS 1.3 aes-128-ccm\n  unsupported\n",
            ],
        );
        assert!(
            text.contains("unsupported: NO_CIPHER|MATCH") && !text.contains('\u{1b}'),
            "{text}"
        );
        says(&text, ["60 of 70 samples clean"]);
        assert!(markdown(&records()).contains("| 64 | 416 | 208 | 208 |"));
    }

    fn primitives() -> Run {
        let rows = vec![
            primitive_row("fast@1.0", Scheme::EcdsaP256, Operation::Sign, Some(20.0)),
            primitive_row("slow@1.0", Scheme::EcdsaP256, Operation::Sign, Some(1000.0)),
            primitive_row("slow@1.0", Scheme::EcdsaP256, Operation::Verify, None),
            primitive_row("fast@1.0", Scheme::Sha256, Operation::Digest, Some(0.7)),
        ];
        fixtures::run(RunKind::Primitives, &["fast@1.0", "slow@1.0"], rows)
    }

    #[test]
    fn primitives_of_stacks_stand_side_by_side() {
        let text = table(&primitives(), 100);
        let line = text.lines().find(|l| l.starts_with("ecdsa-p256")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let wanted = ["ecdsa-p256", "sign", "20.0", "18.0", "1.0", "1000", "900", "1.0"];
        assert_eq!(words, wanted, "{text}");
        let line = text.lines().find(|l| l.starts_with("sha256")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["sha256", "1400", "B", "0.700", "0.630", "1.0"], "{text}");
        says(&text, ["slow@1.0 ecdsa-p256 verify: unsupported: NO_CIPHER|MATCH"]);
        assert!(!text.contains('\u{1b}'), "a library's words are no commands to the terminal");
        assert_eq!(table(&primitives(), 60).matches("whole µs").count(), 2);
    }

    #[test]
    fn markdown_of_primitives_escapes() {
        let text = markdown(&primitives());
        says(&text, ["| ecdsa-p256 | sign | 20.0 | 18.0 | 1000 | 900 |", "NO\\_CIPHER\\|MATCH"]);
    }
}
