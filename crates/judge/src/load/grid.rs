//! Rows under headings, in every format; numbers to three digits.

use crate::load::form::Interval;
use base::text::{Align, Cell, Column, Options, Table, clean};

/// Rows under headings.
pub(crate) struct Grid {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Headings stand between bars; those that begin with `>` are of numbers. Cells come from files of strangers:
    /// nothing in them may move a cursor.
    pub(crate) fn new<const N: usize>(
        headings: &'static str,
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Self {
        let rows = rows.into_iter().map(|row| row.iter().map(|cell| clean(cell)).collect());
        Self { headings: headings.split(" | ").collect(), rows: rows.collect() }
    }

    fn table(&self) -> Table {
        let column = |heading: &&'static str| match heading.strip_prefix('>') {
            Some(number) => Column::new(number, Align::Right),
            None => Column::new(heading, Align::Left),
        };
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::plain).collect()).collect();
        Table::new(self.headings.iter().map(column).collect::<Vec<_>>(), rows).wrapped()
    }

    /// In columns; the widest columns of words give way where the terminal is too narrow.
    pub(crate) fn text(&self, options: Options) -> String {
        self.table().text(options)
    }

    pub(crate) fn markdown(&self) -> String {
        self.table().markdown()
    }

    /// As comma-separated values (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let headings: Vec<&str> = self.headings.iter().map(|h| h.trim_start_matches('>')).collect();
        base::text::csv(&headings, self.rows.iter().cloned())
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
