//! Answers over an archive: its records, the best of each machine, comparisons of machines, histories.

mod best;
mod machines;
mod trend;

pub use best::{
    BestOfMachine, Money, best_of_machines, best_of_machines_csv, best_of_machines_json,
    best_of_machines_table,
};
pub use machines::{ComparedMachine, machines};
pub use trend::{Line, Point, otava, trend, trend_csv};

use base::text::{ALARM, ASIDE, Align, CAUTION, Cell, Column, Options, PLAIN, Table, clean};

/// A record of an archive.
#[derive(Clone, Debug)]
pub struct Archived {
    /// SHA-256 of its text.
    pub sha256: String,
    /// The machine's type.
    pub machine: String,
    /// Where it is rented.
    pub region: String,
    /// Day of the run.
    pub day: String,
    /// What was run.
    pub kind: String,
    /// How many cases.
    pub cases: i64,
    /// Whether its figures are believed.
    pub trust: &'static str,
    /// What checks found.
    pub doubts: Vec<String>,
}

/// Hexadecimal digits of a digest that are shown.
const DIGITS: usize = 12;

/// The records, and how many are not shown because nobody vouches for them.
#[must_use]
pub fn archived(records: &[Archived], left_out: usize, options: Options) -> String {
    let row = |r: &Archived| {
        let style = if r.doubts.is_empty() { PLAIN } else { CAUTION };
        vec![
            Cell::plain(r.sha256.chars().take(DIGITS).collect::<String>()),
            Cell::plain(clean(&r.machine)),
            Cell::plain(clean(&r.region)),
            Cell::plain(clean(&r.day)),
            Cell::plain(clean(&r.kind)),
            Cell::number(r.cases.to_string(), PLAIN),
            Cell::new(r.trust, style),
        ]
    };
    let columns = vec![
        Column::new("record", Align::Left),
        Column::new("machine", Align::Left),
        Column::new("region", Align::Left),
        Column::new("day", Align::Left),
        Column::new("kind", Align::Left).goes(1),
        Column::new("cases", Align::Right),
        Column::new("trust", Align::Left),
    ];
    let mut out = Table::new(columns, records.iter().map(row).collect()).text(options);
    for r in records {
        for doubt in &r.doubts {
            let short: String = r.sha256.chars().take(DIGITS).collect();
            out += &options.hang(&format!("{short}: {}", clean(doubt)), 2, ALARM);
        }
    }
    if left_out > 0 {
        let note = format!("{left_out} doubtful or unsigned left out; --doubtful shows them");
        out += &options.hang(&note, 2, ASIDE);
    }
    out
}
