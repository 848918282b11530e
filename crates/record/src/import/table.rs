//! Tables of figures: CSV of a documented shape with its source (`docs/FORMAT.md`), and plain ones of a name, a
//! size and figures with their unit.

use crate::Imported;
use crate::import::names::{algorithm, quoted};
use crate::import::programs::direction;
use crate::import::{FIGURES, Format, Found, Row, Said};
use base::model::{Direction, Model, Tier};
use base::text::clean;
use base::text::flags::parse_bytes;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Where it comes from, and the machine.
    pub from: Imported,
    pub rows: Vec<Row>,
}

/// A plain table, line by line: a name unless `said` has one, a size, figures with their unit. Several figures of a line are
/// of several libraries, which the headings name. Ratios (`1.09x`) and percentages are passed over.
pub(crate) fn plain_table(text: &str, said: &Said) -> Result<Found, String> {
    let mut headings: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> =
            line.split([' ', '\t', ',', '|', ';']).filter(|w| !w.is_empty()).take(64).collect();
        let wrong = |why: String| format!("line {}: {why}", at + 1);
        let Some(cells) = Cells::of(&words).map_err(wrong)? else {
            let is_heading = words.len() > 1 && rows.is_empty();
            if is_heading {
                headings = words.iter().map(|word| (*word).to_owned()).collect();
            }
            left_out += usize::from(!is_heading && !words.is_empty());
            continue;
        };
        let name = said.algorithm.clone().or((!cells.name.is_empty()).then(|| cells.name.clone()));
        let name = name.ok_or_else(|| {
            wrong("no name of an algorithm before the size: add --algorithm NAME".to_owned())
        })?;
        let size = cells
            .size
            .or(said.size)
            .ok_or_else(|| wrong("no size before the figure: add --size BYTES".to_owned()))?;
        let (name, way) = match name.rsplit_once(' ') {
            Some((name, way)) if direction(way).is_some() => (name.to_owned(), direction(way)),
            _ => (name, None),
        };
        let (several, ours) = (cells.figures.len() > 1, algorithm(&name));
        for (column, bytes_per_second) in cells.figures.iter().enumerate() {
            // Behind a name and a size, where the line has them, headings are the figures'.
            let before = usize::from(!cells.name.is_empty()) + usize::from(cells.size.is_some());
            let heading = headings.get(before + column).filter(|_| several);
            let library = said.library.clone().unwrap_or_else(|| "imported".to_owned());
            let column = heading.cloned().unwrap_or_else(|| (column + 1).to_string());
            let mut row = said.row("imported", "", ours.clone());
            row.library = if several { format!("{library}:{}", quoted(&column)) } else { library };
            row.direction = way.unwrap_or_else(|| said.direction(row.direction));
            (row.model, row.size, row.mb_per_s) =
                (Model::Stream, Some(size), bytes_per_second / 1e6);
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return Err("no line of it is a figure that this program knows: `ciphermark import --help` lists the formats".to_owned());
    }
    let mut found = Found::new(Format::Table, rows);
    found.leave(left_out, "lines without a figure");
    Ok(found)
}

struct Cells {
    name: String,
    size: Option<usize>,
    /// Bytes a second.
    figures: Vec<f64>,
}

impl Cells {
    /// None of a line without a figure.
    fn of(words: &[&str]) -> Result<Option<Self>, String> {
        let mut figures = Vec::new();
        let mut first = words.len();
        let mut at = 0;
        while at < words.len() {
            let (figure, taken) = figure(words[at], words.get(at + 1).copied());
            if let Some(figure) = figure {
                first = first.min(at);
                figures.push(figure);
            }
            at += taken;
        }
        if figures.is_empty() {
            return Ok(None);
        }
        if let Some(bad) = figures.iter().find(|f| !FIGURES.contains(&(**f / 1e6))) {
            return Err(format!("{bad} bytes a second is no speed"));
        }
        let (name, size) = match words[..first].split_last() {
            Some((last, name)) => match size_of(last) {
                Some(size) => (name, Some(size)),
                None => (&words[..first], None),
            },
            None => (&words[..0], None),
        };
        Ok(Some(Self { name: name.join(" "), size, figures }))
    }
}

/// `16`, `8K`, `8KB`, `8KiB`, `16B`.
fn size_of(word: &str) -> Option<usize> {
    let short = word.strip_suffix('B').filter(|word| word.ends_with(['K', 'M']));
    let size = parse_bytes(short.unwrap_or(word)).ok()?;
    (1..=base::model::MAX_SIZE).contains(&size).then_some(size)
}

/// Bytes a second of a word with its unit, or of a number and the word behind it; how many words that is.
fn figure(word: &str, next: Option<&str>) -> (Option<f64>, usize) {
    let digits = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let Ok(number) = word[..digits].parse::<f64>() else { return (None, 1) };
    let per_second = |unit: &str| match unit {
        // As `openssl speed` writes thousands of bytes a second.
        "k" if word.contains('.') => Some(1e3),
        _ => super::programs::unit(unit.strip_suffix("/s").or_else(|| unit.strip_suffix("/sec"))?),
    };
    match (per_second(&word[digits..]), next.filter(|_| digits == word.len()).and_then(per_second))
    {
        (Some(unit), _) => (Some(number * unit), 1),
        (None, Some(unit)) => (Some(number * unit), 2),
        _ => (None, 1),
    }
}

/// Columns that every table must have, then those that it may have.
const NEEDED: [&str; 4] = ["library", "algorithm", "size", "mb_per_s"];
const OPTIONAL: [&str; 7] =
    ["label", "version", "direction", "model", "tier", "cycles_per_byte", "instructions_per_byte"];

/// Reads a table: lines `# source: …` and `# machine: …`, a header with the columns' names in any
/// order, then one row a figure. The speed is in MB/s (10^6 bytes a second); an empty size is one that
/// the source does not say. Direction, model and tier are `encrypt` (for what is a cipher),
/// `stream` and `native` where nothing is said.
pub fn parse_table(text: &str) -> Result<Table, String> {
    let from = head(text)?;
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let columns = columns(reader.headers().map_err(|e| broken(&e))?, header_line(text))?;
    let mut rows = Vec::new();
    for found in reader.records() {
        let found = found.map_err(|e| broken(&e))?;
        let line = found.position().map_or(0, csv::Position::line);
        let fields = Fields { columns: &columns, found: &found };
        rows.push(fields.row().map_err(|why| format!("line {line}: {why}"))?);
    }
    if rows.is_empty() {
        return Err("line 1: the table has no row".to_owned());
    }
    Ok(Table { from, rows })
}

/// Whether it is a published table: it says where it comes from.
pub(crate) fn is_published(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().is_some_and(|line| line.starts_with("# source") || line.starts_with("# machine"))
        || text
            .lines()
            .take(8)
            .any(|line| NEEDED.iter().all(|name| line.split(',').any(|c| c.trim() == *name)))
}

fn head(text: &str) -> Result<Imported, String> {
    let value = |key: &str| {
        let remarks = text.lines().filter_map(|l| l.strip_prefix('#'));
        let mut values = remarks.filter_map(|l| l.trim().strip_prefix(key)?.strip_prefix(':'));
        values.next().map(clean)
    };
    let source = value("source").filter(|s| !s.is_empty()).ok_or_else(|| {
        "line 1: no line says where the table comes from: expected '# source: …'".to_owned()
    })?;
    Ok(Imported { source, machine: value("machine") })
}

/// The reader counts from the first remark.
fn header_line(text: &str) -> u64 {
    let before = text.lines().take_while(|l| l.starts_with('#') || l.is_empty()).count();
    before as u64 + 1
}

fn columns(header: &csv::StringRecord, line: u64) -> Result<BTreeMap<String, usize>, String> {
    let bad = |why: String| format!("line {line}: {why}");
    let mut columns = BTreeMap::new();
    for (i, name) in header.iter().enumerate() {
        if !NEEDED.contains(&name) && !OPTIONAL.contains(&name) {
            let known = [&NEEDED[..], &OPTIONAL[..]].concat().join(", ");
            return Err(bad(format!("unknown column '{}'; there are {known}", quoted(name))));
        }
        if columns.insert(name.to_owned(), i).is_some() {
            return Err(bad(format!("column '{name}' is there twice")));
        }
    }
    match NEEDED.iter().find(|name| !columns.contains_key(**name)) {
        Some(missing) => Err(bad(format!("column '{missing}' is missing"))),
        None => Ok(columns),
    }
}

struct Fields<'a> {
    columns: &'a BTreeMap<String, usize>,
    found: &'a csv::StringRecord,
}

impl Fields<'_> {
    fn row(&self) -> Result<Row, String> {
        let algorithm = self.needed("algorithm")?;
        let direction = match self.text("direction") {
            "" => Row::usual_direction(&algorithm),
            word => one_of("direction", word, &DIRECTIONS, |d| d.name())?,
        };
        let size = match self.text("size") {
            "" => None,
            _ => Some(self.size()?),
        };
        let mb_per_s = self.number("mb_per_s")?.ok_or("column 'mb_per_s' is empty")?;
        Ok(Row {
            label: clean(self.text("label")),
            library: self.needed("library")?,
            version: clean(self.text("version")),
            direction,
            model: match self.text("model") {
                "" => Model::Stream,
                word => one_of("model", word, Model::ALL, |m| m.name())?,
            },
            tier: match self.text("tier") {
                "" => Tier::Native,
                word => one_of("tier", word, Tier::ALL, |t| t.name())?,
            },
            algorithm,
            size,
            threads: 1,
            mb_per_s,
            cycles_per_byte: self.number("cycles_per_byte")?,
            instructions_per_byte: self.number("instructions_per_byte")?,
            ..Row::default()
        })
    }

    fn text(&self, column: &str) -> &str {
        self.columns.get(column).and_then(|i| self.found.get(*i)).unwrap_or_default()
    }

    fn needed(&self, column: &str) -> Result<String, String> {
        match clean(self.text(column)) {
            text if text.is_empty() => Err(format!("column '{column}' is empty")),
            text => Ok(text),
        }
    }

    fn size(&self) -> Result<usize, String> {
        let text = self.text("size");
        let size = text.parse().ok().filter(|size| (1..=base::model::MAX_SIZE).contains(size));
        size.ok_or_else(|| format!("size '{}' is no number of bytes from 1", quoted(text)))
    }

    /// A positive number, or nothing.
    fn number(&self, column: &str) -> Result<Option<f64>, String> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse().ok().filter(|n: &f64| FIGURES.contains(n));
        number.map(Some).ok_or_else(|| format!("{column} '{}' is no positive number", quoted(text)))
    }
}

const DIRECTIONS: [Direction; 5] = [
    Direction::Encrypt,
    Direction::Decrypt,
    Direction::Digest,
    Direction::Copy,
    Direction::Generate,
];

fn one_of<T: Copy>(
    what: &str,
    word: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let names: Vec<&str> = all.iter().map(|t| name(*t)).collect();
    let found = names.iter().position(|n| *n == word);
    found
        .map(|i| all[i])
        .ok_or_else(|| format!("{what} '{}' is none of {}", quoted(word), names.join(", ")))
}

fn broken(error: &csv::Error) -> String {
    let line = error.position().map_or(1, csv::Position::line);
    format!("line {line}: {}", quoted(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# source: A. Author, \"A title\" (2019), https://example.org/\n\
        # machine: i5-8400\n\
        label,library,version,algorithm,direction,tier,size,mb_per_s,instructions_per_byte\n\
        ECB,openssl,1.0.2k,aes-128-ecb,,,16,1371.96833,\n\
        sum,openssl,,sha256,,noaes,,340.8,2.5\n";

    #[test]
    fn a_table_is_its_source_its_machine_and_its_rows() {
        let table = parse_table(TABLE).unwrap();
        assert!(table.from.source.ends_with("(2019), https://example.org/"));
        assert_eq!(table.from.machine.as_deref(), Some("i5-8400"));
        let [ecb, sum] = &table.rows[..] else { panic!("{table:?}") };
        assert_eq!((ecb.label.as_str(), ecb.size), ("ECB", Some(16)));
        assert_eq!(
            (ecb.direction, ecb.model, ecb.tier),
            (Direction::Encrypt, Model::Stream, Tier::Native)
        );
        assert_eq!((sum.direction, sum.size, sum.tier), (Direction::Digest, None, Tier::Noaes));
        assert_eq!(sum.instructions_per_byte, Some(2.5));
    }

    #[test]
    fn hostile_tables_get_one_line_that_says_where() {
        let why = |from: &str, to: &str| {
            assert!(TABLE.contains(from));
            parse_table(&TABLE.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert_eq!(
            why("# source: ", "# "),
            "line 1: no line says where the table comes from: expected '# source: …'"
        );
        assert!(
            why("label,", "lable\u{1b}[2J,")
                .starts_with("line 3: unknown column 'lable[2J'; there")
        );
        assert_eq!(why("label,", "library,"), "line 3: column 'library' is there twice");
        assert_eq!(why(",mb_per_s", ",cycles_per_byte"), "line 3: column 'mb_per_s' is missing");
        assert_eq!(why("1371.96833", "inf"), "line 4: mb_per_s 'inf' is no positive number");
        assert_eq!(why("1371.96833", ""), "line 4: column 'mb_per_s' is empty");
        assert_eq!(why(",16,", ",-16,"), "line 4: size '-16' is no number of bytes from 1");
        let tiers: Vec<&str> = Tier::ALL.iter().map(|t| t.name()).collect();
        assert_eq!(
            why("noaes", "fast"),
            format!("line 5: tier 'fast' is none of {}", tiers.join(", "))
        );
        assert!(why("aes-128-ecb,,,16", "aes-128-ecb,,16").starts_with("line 4: "));
        assert!(parse_table("").unwrap_err().to_string().starts_with("line 1: no line says"));
        let empty: String = TABLE.lines().take(3).map(|l| format!("{l}\n")).collect();
        assert_eq!(parse_table(&empty).unwrap_err().to_string(), "line 1: the table has no row");
    }
}
