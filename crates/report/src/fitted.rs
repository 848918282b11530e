//! A table that fits its width: columns go by importance, the least first, then names are clipped.
//! A row is never broken.

use crate::grid::{Align, Cell, Columns};
use crate::text::{HEADING, clip, width};

/// Fewest columns of the terminal that a clipped name keeps.
const SHORTEST_NAME: usize = 8;

/// A column.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    /// What it is, with its unit.
    pub(crate) heading: &'static str,
    pub(crate) align: Align,
    /// The lowest goes first; 0 stays whatever the width.
    pub(crate) dispensable: u8,
}

impl Column {
    pub(crate) const fn new(heading: &'static str, align: Align, dispensable: u8) -> Self {
        Self { heading, align, dispensable }
    }
}

/// Rows below their columns.
pub(crate) struct Fitted {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// Columns that a set of tables has in common, so that they stand below each other.
pub(crate) struct Plan {
    /// Indices of the columns that stay.
    kept: Vec<usize>,
    widths: Columns,
    clipped: Vec<Option<usize>>,
}

impl Fitted {
    pub(crate) fn new(columns: &[Column], rows: Vec<Vec<Cell>>) -> Self {
        Self { columns: columns.to_vec(), rows }
    }

    /// The columns that fit, and how wide they are.
    pub(crate) fn plan(&self, room: usize) -> Plan {
        let mut kept: Vec<usize> = (0..self.columns.len()).filter(|i| self.is_used(*i)).collect();
        loop {
            let widths = self.widths(&kept, &vec![None; self.columns.len()]);
            let first_to_go = kept.iter().filter(|i| self.columns[**i].dispensable > 0);
            let least = first_to_go.min_by_key(|i| self.columns[**i].dispensable).copied();
            match least {
                Some(least) if widths.total() > room => kept.retain(|i| *i != least),
                _ => return self.clipped(kept, room),
            }
        }
    }

    /// Clips the widest names until the rest fits.
    fn clipped(&self, kept: Vec<usize>, room: usize) -> Plan {
        let mut clipped = vec![None; self.columns.len()];
        loop {
            let widths = self.widths(&kept, &clipped);
            let over = widths.total().saturating_sub(room);
            let names = kept.iter().filter(|i| self.columns[**i].align == Align::Left);
            let widest = names.map(|i| (self.width(*i, clipped[*i]), *i)).max();
            match widest {
                Some((columns, i)) if over > 0 && columns > SHORTEST_NAME => {
                    clipped[i] = Some((columns - 1).max(SHORTEST_NAME));
                }
                _ => return Plan { kept, widths, clipped },
            }
        }
    }

    /// Columns without any text take no room and need no heading.
    fn is_used(&self, i: usize) -> bool {
        self.rows.iter().any(|row| !row[i].text().is_empty())
    }

    fn width(&self, i: usize, clipped: Option<usize>) -> usize {
        let texts = self.rows.iter().map(|row| width(row[i].text()));
        let widest = texts.chain([width(self.columns[i].heading)]).max().unwrap_or(0);
        clipped.map_or(widest, |most| widest.min(most))
    }

    fn widths(&self, kept: &[usize], clipped: &[Option<usize>]) -> Columns {
        let mut widths = Columns::new(kept.iter().map(|i| self.columns[*i].align));
        widths.fit(&self.heading(kept, clipped));
        self.rows.iter().for_each(|row| widths.fit(&cells(row, kept, clipped)));
        widths
    }

    fn heading(&self, kept: &[usize], clipped: &[Option<usize>]) -> Vec<Cell> {
        let all: Vec<Cell> = self.columns.iter().map(|c| Cell::new(c.heading, HEADING)).collect();
        cells(&all, kept, clipped)
    }

    /// The heading, then one line a row.
    pub(crate) fn lines(&self, plan: &Plan, color: bool) -> Vec<String> {
        let heading = self.heading(&plan.kept, &plan.clipped);
        let rows = self.rows.iter().map(|row| cells(row, &plan.kept, &plan.clipped));
        std::iter::once(heading).chain(rows).map(|row| plan.widths.line(&row, color)).collect()
    }
}

impl Fitted {
    /// The table for a width, ending with a line break, with what had no room.
    pub(crate) fn text(&self, options: crate::Options) -> String {
        let plan = self.plan(options.width);
        let mut out = self.lines(&plan, options.color).join("\n") + "\n";
        let gone = plan.dropped(self);
        if !gone.is_empty() {
            let note = format!("no room for {}; csv and json have all", gone.join(", "));
            out += &crate::text::wrap_hanging(&note, options.width, 2);
        }
        out
    }
}

impl Plan {
    /// The headings of the columns that did not fit.
    pub(crate) fn dropped(&self, table: &Fitted) -> Vec<&'static str> {
        let gone = (0..table.columns.len()).filter(|i| !self.kept.contains(i) && table.is_used(*i));
        let headings = gone.map(|i| table.columns[i].heading);
        headings.map(|h| if h.is_empty() { "notes" } else { h }).collect()
    }
}

fn cells(row: &[Cell], kept: &[usize], clipped: &[Option<usize>]) -> Vec<Cell> {
    let cell = |i: &usize| match clipped[*i] {
        Some(most) => row[*i].with_text(clip(row[*i].text(), most)),
        None => row[*i].clone(),
    };
    kept.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::PLAIN;

    const COLUMNS: [Column; 4] = [
        Column::new("algorithm", Align::Left, 0),
        Column::new("MB/s", Align::Point, 0),
        Column::new("note", Align::Left, 2),
        Column::new("ns", Align::Point, 1),
    ];

    fn table() -> Fitted {
        let row = |cells: [&str; 4]| {
            let [a, speed, note, ns] = cells;
            let number = |text: &str| Cell::number(text, PLAIN);
            vec![Cell::plain(a), number(speed), Cell::plain(note), number(ns)]
        };
        let rows = vec![row(["aes-128-gcm", "123.4", "fast", "1"]), row(["x", "7.25", "", "20"])];
        Fitted::new(&COLUMNS, rows)
    }

    fn lines(room: usize) -> (Vec<String>, Vec<&'static str>) {
        let table = table();
        let plan = table.plan(room);
        (table.lines(&plan, false), plan.dropped(&table))
    }

    #[test]
    fn columns_go_by_importance_and_are_named() {
        assert_eq!(
            lines(40).0,
            [
                "algorithm       MB/s  note  ns",
                "aes-128-gcm   123.4   fast   1",
                "x               7.25        20"
            ]
        );
        let (narrow, dropped) = lines(29);
        assert_eq!(narrow[1], "aes-128-gcm   123.4   fast");
        assert_eq!(dropped, ["ns"]);
        assert_eq!(lines(20).1, ["note", "ns"]);
    }

    #[test]
    fn names_are_clipped_when_nothing_else_can_go() {
        let (narrow, _) = lines(18);
        assert_eq!(narrow[1], "aes-128-…   123.4");
        for room in 18..60 {
            assert!(lines(room).0.iter().all(|l| width(l) <= room), "{room}: {:?}", lines(room).0);
        }
    }

    #[test]
    fn columns_without_any_text_are_left_out_silently() {
        let rows = vec![vec![Cell::plain("x"), Cell::plain("1"), Cell::plain(""), Cell::plain("")]];
        let table = Fitted::new(&COLUMNS, rows);
        let plan = table.plan(80);
        assert_eq!(table.lines(&plan, false), ["algorithm  MB/s", "x             1"]);
        assert!(plan.dropped(&table).is_empty());
    }
}
