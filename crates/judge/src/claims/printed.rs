//! A published table again, with this machine's figures beside it.

use crate::claims::evidence::{Evidence, label, speed};
use crate::claims::expression::{Interval, Unit};
use crate::claims::needs::{SIZE, library_glob};
use base::model::{Direction, NameGlob, Tier};
use record::import::{Row, Table};
use record::{Imported, Measurement, State};

/// The tables that come with the program, by the name of their source.
const TABLES: [(&str, &str); 4] = [
    ("highgo", include_str!("../../../../claims/tables/highgo.csv")),
    ("transactional", include_str!("../../../../claims/tables/transactional.csv")),
    ("asecuritysite", include_str!("../../../../claims/tables/asecuritysite.csv")),
    ("tls", include_str!("../../../../claims/tables/tls.csv")),
];

/// A published table that comes with the program, by the name of its source.
#[must_use]
pub fn published(source: &str) -> Option<Table> {
    let (_, text) = TABLES.iter().find(|(name, _)| *name == source)?;
    Some(record::import::parse_table(text).expect("the built-in tables are tested"))
}

/// Whose the published lines are.
pub(crate) const PUBLISHED: &str = "published";

/// A published table with what stands beside it.
#[derive(Clone, Debug)]
pub struct PrintedTable {
    /// Where it was published.
    pub from: Imported,
    /// What its columns hold.
    pub columns: Vec<Column>,
    /// The size here, where the source does not say one.
    pub size_here: Option<usize>,
    /// Its rows, in the article's order.
    pub groups: Vec<Group>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// MB/s at this size.
    Size(usize),
    /// MB/s at the one size that there is.
    Speed,
    /// Core cycles per byte.
    Cycles,
    /// Instructions per byte.
    Instructions,
    /// MB/s that this core permits.
    Limit,
}

/// A row of the article, and the same here.
#[derive(Clone, Debug)]
pub struct Group {
    /// What the article calls it.
    pub label: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// Which CPU instructions the library could see.
    pub tier: Tier,
    /// The published line, then one for each library here.
    pub lines: Vec<Line>,
    /// Whether the published speed is above what this core permits.
    pub impossible_here: bool,
}

/// The figures of one machine and library.
#[derive(Clone, Debug)]
pub struct Line {
    /// `published`, or the library.
    pub who: String,
    /// One for each column.
    pub cells: Vec<Option<Interval>>,
}

impl Column {
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Size(_) | Self::Speed | Self::Limit => Unit::MbPerSecond,
            Self::Cycles => Unit::CyclesPerByte,
            Self::Instructions => Unit::InstructionsPerByte,
        }
    }
}

/// The table of a source with this machine's figures beside it.
#[must_use]
pub fn printed_table(table: &Table, evidence: &Evidence<'_>) -> PrintedTable {
    let without_size = table.rows.iter().any(|row| row.size.is_none());
    let columns = if without_size {
        vec![Column::Speed, Column::Cycles, Column::Instructions, Column::Limit]
    } else {
        let mut sizes: Vec<usize> = table.rows.iter().filter_map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter().map(Column::Size).collect()
    };
    let mut groups: Vec<Group> = Vec::new();
    let mut rows: &[Row] = &table.rows;
    while let Some(first) = rows.first() {
        let same = |row: &&Row| {
            (&row.label, &row.algorithm, row.direction, row.tier, &row.library)
                == (&first.label, &first.algorithm, first.direction, first.tier, &first.library)
        };
        let of_one = rows.iter().take_while(same).count();
        groups.push(group(&rows[..of_one], &columns, evidence));
        rows = &rows[of_one..];
    }
    PrintedTable {
        from: table.from.clone(),
        columns,
        size_here: without_size.then_some(SIZE),
        groups,
    }
}

fn group(rows: &[Row], columns: &[Column], evidence: &Evidence<'_>) -> Group {
    let first = &rows[0];
    let published = Line {
        who: PUBLISHED.to_owned(),
        cells: columns.iter().map(|column| published_cell(rows, *column)).collect(),
    };
    // The name of a published library is not of our making.
    let glob = NameGlob::parse(&library_glob(first)).ok();
    let libraries = glob.map(|glob| evidence.libraries(&glob)).unwrap_or_default();
    let mut lines = vec![published];
    let mut impossible_here = false;
    for library in libraries {
        let of_it: Vec<&Measurement> = evidence
            .own()
            .filter(|m| {
                m.library == *library
                    && m.state == State::Measured
                    && m.algorithm == first.algorithm
                    && (m.direction, m.tier, m.model) == (first.direction, first.tier, first.model)
            })
            .collect();
        if of_it.is_empty() {
            continue;
        }
        let cells = columns.iter().map(|column| cell_here(&of_it, *column)).collect();
        let limit = of_it.iter().find(|m| m.size == first.size.unwrap_or(SIZE));
        let limit = limit.and_then(|m| limit_of(m));
        impossible_here |= limit.is_some_and(|limit| first.mb_per_s > limit.median);
        lines.push(Line { who: label(library), cells });
    }
    Group {
        label: first.label.clone(),
        algorithm: first.algorithm.clone(),
        direction: first.direction,
        tier: first.tier,
        lines,
        impossible_here,
    }
}

fn published_cell(rows: &[Row], column: Column) -> Option<Interval> {
    let number = match column {
        Column::Size(size) => Some(rows.iter().find(|row| row.size == Some(size))?.mb_per_s),
        Column::Speed => Some(rows[0].mb_per_s),
        Column::Cycles => rows[0].cycles_per_byte,
        Column::Instructions => rows[0].instructions_per_byte,
        Column::Limit => None,
    };
    number.map(Interval::exact)
}

fn cell_here(of_it: &[&Measurement], column: Column) -> Option<Interval> {
    let size = if let Column::Size(size) = column { size } else { SIZE };
    let m = of_it.iter().find(|m| m.size == size)?;
    match column {
        Column::Size(_) | Column::Speed => speed(m).ok(),
        Column::Cycles => m.cycles_per_byte.map(Interval::exact),
        Column::Instructions => m.instructions_per_byte.map(Interval::exact),
        Column::Limit => limit_of(m),
    }
}

fn limit_of(m: &Measurement) -> Option<Interval> {
    let fraction = m.limit_fraction.filter(|f| *f > 0.0)?;
    speed(m).ok().map(|s| Interval::exact(s.median / fraction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::sample;

    #[test]
    fn every_source_has_its_whole_table() {
        let rows = |name| published(name).unwrap().rows.len();
        assert_eq!(
            [rows("highgo"), rows("transactional"), rows("asecuritysite"), rows("tls")],
            [85, 53, 6, 40]
        );
        assert!(published("elsewhere").is_none());
    }

    #[test]
    fn the_published_row_comes_first_and_each_version_here_below_it() {
        let text = "# source: s\n# machine: m\nlabel,library,algorithm,size,mb_per_s,model\n\
            x,openssl,aes-128-gcm,16,100,message\nx,openssl,aes-128-gcm,8192,20000,message\n";
        let table = record::import::parse_table(text).unwrap();
        let records = [sample::record()];
        let printed = printed_table(&table, &Evidence::of(&records));
        assert_eq!(printed.columns, [Column::Size(16), Column::Size(8192)]);
        let [group] = &printed.groups[..] else { panic!("{printed:?}") };
        let who: Vec<&str> = group.lines.iter().map(|l| l.who.as_str()).collect();
        assert_eq!(who, ["published", "openssl@3.0.22", "openssl@4.0.1"]);
        assert_eq!(group.lines[1].cells[0], None);
        assert_eq!(group.lines[1].cells[1].unwrap().median, 8192.0);
        // 100 MB/s at 16 bytes, which was not measured here, is nothing impossible.
        assert!(!group.impossible_here);
    }

    #[test]
    fn a_speed_above_what_this_core_permits_is_marked() {
        let text = |speed: &str| {
            format!(
                "# source: s\nlibrary,algorithm,size,mb_per_s,model\nopenssl,aes-128-gcm,,{speed},message\n"
            )
        };
        let records = [sample::record()];
        let impossible = |speed: &str| {
            let table = record::import::parse_table(&text(speed)).unwrap();
            printed_table(&table, &Evidence::of(&records)).groups[0].impossible_here
        };
        // The limit of the one version is 16384 MB/s, of the other 24000: half is reached.
        assert!(impossible("300000"));
        assert!(!impossible("16000"));
    }
}
