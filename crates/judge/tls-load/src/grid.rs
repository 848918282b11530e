//! Rows in columns, for a terminal and in Markdown; numbers to three digits.

use crate::form::Interval;
use text::{clean, escape_markdown};

/// A column's heading and whether its cells are numbers.
pub(crate) type Column = (&'static str, bool);

/// Rows under headings.
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Cells come from files of strangers: nothing in them may move a cursor.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.iter().map(|c| clean(c)).collect());
    }

    /// In columns; the widest columns of words give way where the terminal is too narrow.
    pub(crate) fn text(&self, width: usize) -> String {
        let mut widths = self.widths();
        let gaps = 2 * (widths.len() - 1);
        let words: Vec<usize> = (0..widths.len()).filter(|at| !self.columns[*at].1).collect();
        while widths.iter().sum::<usize>() + gaps > width {
            let widest = words.iter().copied().max_by_key(|at| widths[*at]);
            match widest.filter(|at| widths[*at] > 10) {
                Some(at) => widths[at] -= 1,
                None => break,
            }
        }
        let head: Vec<String> = self.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let lines = std::iter::once(&head).chain(&self.rows);
        lines.map(|cells| self.line(cells, &widths)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let of = |at: usize, name: &str| {
            let cells = self.rows.iter().map(|r| text::width(&r[at]));
            cells.max().unwrap_or(0).max(name.len())
        };
        self.columns.iter().enumerate().map(|(at, (name, _))| of(at, name)).collect()
    }

    /// What does not fit goes on below.
    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let wrapped: Vec<Vec<String>> =
            cells.iter().zip(widths).map(|(c, w)| text::wrap(c, *w)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let mut out = String::new();
        for at in 0..height {
            let mut line = String::new();
            for ((cell, width), (_, is_number)) in wrapped.iter().zip(widths).zip(&self.columns) {
                let text = cell.get(at).map_or("", String::as_str);
                let room = " ".repeat(width.saturating_sub(text::width(text)));
                line += &if *is_number { room + text } else { text.to_owned() + &room };
                line += "  ";
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }

    pub(crate) fn markdown(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let rules: Vec<&str> =
            self.columns.iter().map(|(_, n)| if *n { "---:" } else { "---" }).collect();
        let mut out = format!("| {} |\n| {} |\n", names.join(" | "), rules.join(" | "));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|c| escape_markdown(c)).collect();
            out += &format!("| {} |\n", cells.join(" | "));
        }
        out
    }

    /// As comma-separated values (RFC 4180), with or without the headings.
    pub(crate) fn csv(&self, has_head: bool) -> String {
        let heading: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let text = text::csv(&heading, self.rows.iter().cloned());
        if has_head {
            return text;
        }
        text.split_once('\n').map_or_else(String::new, |(_, rows)| rows.to_owned())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Three digits that tell.
pub(crate) fn digits(value: f64) -> String {
    // No minus before nothing.
    let value = if value.abs() < 1e-9 { 0.0 } else { value };
    let size = value.abs();
    match size {
        _ if size >= 1e7 => format!("{:.0}M", value / 1e6),
        _ if size >= 1e6 => format!("{:.2}M", value / 1e6),
        _ if size >= 100.0 || size == 0.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// `low … high`.
pub(crate) fn range(of: Interval) -> String {
    format!("{} … {}", digits(of.low), digits(of.high))
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() >= 9.95 || percent == 0.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}
