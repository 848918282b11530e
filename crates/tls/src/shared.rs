//! What the renderings of handshakes, records and primitives have in common.

use crate::document::{Cost, Noise};
use record::{Host, State};
use std::collections::BTreeMap;
use text::clean;

/// How a run is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// Tables for people.
    Table,
    /// The whole run as one JSON object.
    Json,
    /// One row a measurement.
    Csv,
    /// GitHub-flavoured Markdown.
    Markdown,
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
pub(crate) struct Costs {
    pub(crate) both: Option<(Cost, Cost)>,
    pub(crate) state: State,
    /// Whether they are not as precise as was asked for.
    pub(crate) is_marked: bool,
}

impl Costs {
    /// In columns of a table: both medians in µs, and the wider of their precisions. Nothing where the
    /// stack has no such line.
    pub(crate) fn cells(costs: Option<Self>, [first, second, precise]: [usize; 3]) -> String {
        let whole = first + second + precise;
        let Some(Self { both, state, is_marked }) = costs else { return " ".repeat(whole) };
        let Some((one, other)) = both else { return format!("{:>whole$}", state.name()) };
        let precision = one.precision().max(other.precision()) * 100.0;
        let mark = if is_marked { "*" } else { "" };
        format!(
            "{:>first$}{:>second$}{:>precise$}",
            micros(one.median_ns),
            micros(other.median_ns),
            format!("{precision:.1}{mark}")
        )
    }

    /// In two columns of Markdown: both medians in µs.
    pub(crate) fn markdown(costs: Option<Self>) -> String {
        match costs.map(|c| (c.both, c.state)) {
            Some((Some((one, other)), _)) => {
                format!(" {} | {} |", micros(one.median_ns), micros(other.median_ns))
            }
            Some((None, state)) => format!(" {} | |", state.name()),
            None => " | |".to_owned(),
        }
    }
}

/// Why a row has no figure, or not one as precise as was asked for.
pub(crate) struct Lack<'a> {
    /// The stack's label.
    pub(crate) stack: &'a str,
    /// As [`lack_of`] makes it.
    pub(crate) why: String,
    /// The row, as people call it.
    pub(crate) row: String,
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
pub(crate) fn lacks<'a>(rows: impl Iterator<Item = Lack<'a>>) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for Lack { stack, why, row } in rows {
        reasons.entry((stack, why)).or_default().push(row);
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
pub(crate) fn machine_and_noise(noise: &Noise, seconds: f64, host: &Host) -> String {
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

/// A nanosecond's tenth is the last digit of a field; an empty one says that there is no figure.
pub(crate) fn csv_ns(ns: Option<f64>) -> String {
    ns.map(|n| format!("{n:.1}")).unwrap_or_default()
}
