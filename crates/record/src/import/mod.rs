//! Figures from elsewhere as a record: what `openssl speed` printed, and published tables. Every row
//! has the state `imported`, says where it comes from, and proves nothing. Pure: text in, record out.

pub mod openssl_speed;

use crate::{Estimate, Imported, LibraryId, Measurement, Plan, Record, State, Tool};
use base::analysis::bound::{Core, Operation, limit};
use base::model::{Algorithm, Direction, Footprint, Model, Tier};
use openssl_speed::{NotSpeed, read};
use std::collections::BTreeMap;

// Imported rows, and the record that they become.

/// One figure from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the source calls the row, where that is not the algorithm's name.
    pub label: String,
    /// Name of the library.
    pub library: String,
    /// Its version, empty where the source does not say it.
    pub version: String,
    /// Name of the algorithm, as ciphermark writes it.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is, as far as the source tells.
    pub model: Model,
    /// Which CPU instructions the library could see, as far as the source tells.
    pub tier: Tier,
    /// Bytes in one operation; `None` where the source does not say it.
    pub size: Option<usize>,
    /// Processes or threads that worked at once.
    pub threads: u32,
    /// Megabytes (10^6 bytes) a second, of all threads together.
    pub mb_per_s: f64,
    /// Core cycles per byte, where the source gives them.
    pub cycles_per_byte: Option<f64>,
    /// Instructions per byte, where the source gives them.
    pub instructions_per_byte: Option<f64>,
    /// Why the figure is not to be believed, where the source shows that.
    pub doubt: Option<String>,
    /// What else the source says of the algorithm.
    pub remarks: Vec<String>,
}

impl Row {
    /// The direction that an algorithm has when nothing is said: ciphers encrypt.
    pub fn usual_direction(algorithm: &str) -> Direction {
        Algorithm::find(algorithm).map_or(Direction::Encrypt, |a| Direction::of(a.kind)[0])
    }

    /// As a measurement that was not made here. Without a size there is none.
    fn measurement(&self, from: &Imported) -> Option<Measurement> {
        let size = self.size?;
        let ns = size as f64 / self.mb_per_s * f64::from(self.threads) * 1e3;
        let library = LibraryId {
            name: self.library.clone(),
            version: self.version.clone(),
            path: String::new(),
            id: String::new(),
        };
        let algorithm = Algorithm::find(&self.algorithm);
        let mut m = Measurement {
            direction: self.direction,
            model: self.model,
            model_version: self.model.version(),
            size,
            tier: self.tier,
            threads: self.threads,
            in_place: self.model == Model::Stream,
            imported: Some(from.clone()),
            reason: self.doubt.clone(),
            remarks: self.remarks.clone(),
            warning: algorithm.ok().and_then(Algorithm::warning).map(str::to_owned),
            ns_per_op: Some(Estimate::exactly(ns)),
            cycles_per_op: self.cycles_per_byte.map(|c| Estimate::exactly(c * size as f64)),
            ns_per_byte: Some(ns / size as f64),
            mb_per_s: Some(self.mb_per_s),
            cycles_per_byte: self.cycles_per_byte,
            instructions_per_byte: self.instructions_per_byte,
            ..Measurement::blank(library, &self.algorithm, State::Imported)
        };
        if m.reason.is_none() {
            m.reason = beyond_any_core(&m);
        }
        Some(m)
    }
}

/// A record of nothing but imported rows; those without a size are left out. `started` is when it was
/// made (RFC 3339), `command` the words of the command line.
pub fn record(rows: &[Row], from: &Imported, started: &str, command: Vec<String>) -> Record {
    let measurements: Vec<Measurement> = rows.iter().filter_map(|r| r.measurement(from)).collect();
    Record {
        format_version: crate::FORMAT_VERSION.to_owned(),
        tool: Tool {
            name: "ciphermark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
        },
        started: started.to_owned(),
        plan: plan(&measurements),
        measurements,
        ..Record::default()
    }
}

/// What the measurements are of, each once.
fn plan(measurements: &[Measurement]) -> Plan {
    fn each<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
        let mut values: Vec<T> = values.collect();
        values.sort();
        values.dedup();
        values
    }
    let of = measurements.iter();
    Plan {
        algorithms: each(of.clone().map(|m| m.algorithm.clone())),
        sizes: each(of.clone().map(|m| m.size)),
        models: each(of.clone().map(|m| m.model)),
        directions: each(of.clone().map(|m| m.direction)),
        tiers: each(of.clone().map(|m| m.tier)),
        footprints: vec![Footprint::Hot],
        threads: each(of.clone().map(|m| m.threads)),
        in_place: each(of.map(|m| m.in_place)),
        ..Plan::default()
    }
}

/// A record with the imported rows beside its own. What it said of itself stays. Rows that its core cannot reach are
/// marked, unless they say that they are of another machine.
pub fn beside(mut record: Record, mut imported: Record) -> Record {
    let elsewhere = |m: &Measurement| m.imported.as_ref().is_some_and(|i| i.machine.is_some());
    for m in imported.measurements.iter_mut().filter(|m| m.reason.is_none() && !elsewhere(m)) {
        m.reason = beyond_this_core(m, &record);
    }
    record.format_version = imported.format_version;
    record.measurements.extend(imported.measurements);
    record
}

// What `openssl speed` printed, as rows.

/// What the output of `openssl speed` does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeedSource {
    /// Name of the library: `openssl` unless it was another's `openssl speed`.
    pub library: String,
    /// Its version; `None` takes the one that the output names.
    pub version: Option<String>,
    /// Whether it was called with `-decrypt`.
    pub decrypt: bool,
    /// Which CPU instructions it could see (`OPENSSL_ia32cap`).
    pub tier: Tier,
}

/// The figures of one run of `openssl speed`: the model is `stream`, which is what it measures.
///
/// # Errors
/// [`NotSpeed`], one line.
pub fn rows_of_speed(text: &str, source: &SpeedSource) -> Result<Vec<Row>, NotSpeed> {
    let output = read(text)?;
    let version = source.version.clone().or(output.version).unwrap_or_default();
    let infinite = &output.infinite;
    let row = |figure: openssl_speed::Figure| {
        let usual = Row::usual_direction(&figure.name);
        let turned = source.decrypt && usual == Direction::Encrypt;
        Row {
            label: String::new(),
            library: source.library.clone(),
            version: version.clone(),
            remarks: without_time(infinite, &figure.name).into_iter().collect(),
            algorithm: figure.name,
            direction: if turned { Direction::Decrypt } else { usual },
            model: Model::Stream,
            tier: source.tier,
            size: Some(figure.size),
            threads: figure.processes,
            mb_per_s: figure.bytes_per_second / 1e6,
            cycles_per_byte: None,
            instructions_per_byte: None,
            doubt: figure.doubt,
        }
    };
    Ok(output.figures.into_iter().map(row).collect())
}

/// At which sizes the program printed an infinite speed.
fn without_time(infinite: &[(String, usize)], algorithm: &str) -> Option<String> {
    let own = infinite.iter().filter(|(name, _)| name == algorithm);
    let sizes: Vec<String> = own.map(|(_, size)| size.to_string()).collect();
    (!sizes.is_empty()).then(|| {
        format!("figures left out: openssl speed counted no CPU time at {} bytes", sizes.join(", "))
    })
}

// Published tables: CSV of a documented shape (`docs/FORMAT.md`).

/// A published table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Where it comes from, and the machine.
    pub from: Imported,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// Why a text is no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadTable {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

/// Columns that every table must have, then those that it may have.
const NEEDED: [&str; 4] = ["library", "algorithm", "size", "mb_per_s"];
/// Figures that can be, with room: none of what is computed from them is zero or infinite.
const FIGURES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;
const OPTIONAL: [&str; 7] =
    ["label", "version", "direction", "model", "tier", "cycles_per_byte", "instructions_per_byte"];

/// Reads a table: lines `# source: …` and `# machine: …`, a header with the columns' names in any
/// order, then one row a figure. The speed is in MB/s (10^6 bytes a second); an empty size is one that
/// the source does not say. Direction, model and tier are `encrypt` (for what is a cipher),
/// `stream` and `native` where nothing is said.
///
/// # Errors
/// [`BadTable`], one line with its place.
pub fn parse_table(text: &str) -> Result<Table, BadTable> {
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
        rows.push(fields.row().map_err(|why| BadTable { line, why })?);
    }
    if rows.is_empty() {
        return Err(BadTable { line: 1, why: "the table has no row".to_owned() });
    }
    Ok(Table { from, rows })
}

fn head(text: &str) -> Result<Imported, BadTable> {
    let value = |key: &str| {
        let remarks = text.lines().filter_map(|l| l.strip_prefix('#'));
        let mut values = remarks.filter_map(|l| l.trim().strip_prefix(key)?.strip_prefix(':'));
        values.next().map(|v| plain(v.trim()))
    };
    let source = value("source").filter(|s| !s.is_empty()).ok_or_else(|| BadTable {
        line: 1,
        why: "no line says where the table comes from: expected '# source: …'".to_owned(),
    })?;
    Ok(Imported { source, machine: value("machine") })
}

/// The reader counts from the first remark.
fn header_line(text: &str) -> u64 {
    let before = text.lines().take_while(|l| l.starts_with('#') || l.is_empty()).count();
    before as u64 + 1
}

fn columns(header: &csv::StringRecord, line: u64) -> Result<BTreeMap<String, usize>, BadTable> {
    let bad = |why: String| BadTable { line, why };
    let mut columns = BTreeMap::new();
    for (i, name) in header.iter().enumerate() {
        if !NEEDED.contains(&name) && !OPTIONAL.contains(&name) {
            let known = [&NEEDED[..], &OPTIONAL[..]].concat().join(", ");
            return Err(bad(format!("unknown column '{}'; there are {known}", shown(name))));
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
            label: plain(self.text("label")),
            library: self.needed("library")?,
            version: plain(self.text("version")),
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
            doubt: None,
            remarks: Vec::new(),
        })
    }

    fn text(&self, column: &str) -> &str {
        self.columns.get(column).and_then(|i| self.found.get(*i)).unwrap_or_default()
    }

    fn needed(&self, column: &str) -> Result<String, String> {
        match plain(self.text(column)) {
            text if text.is_empty() => Err(format!("column '{column}' is empty")),
            text => Ok(text),
        }
    }

    fn size(&self) -> Result<usize, String> {
        let text = self.text("size");
        let size = text.parse().ok().filter(|size| (1..=base::model::MAX_SIZE).contains(size));
        size.ok_or_else(|| format!("size '{}' is no number of bytes from 1", shown(text)))
    }

    /// A positive number, or nothing.
    fn number(&self, column: &str) -> Result<Option<f64>, String> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse().ok().filter(|n: &f64| FIGURES.contains(n));
        number.map(Some).ok_or_else(|| format!("{column} '{}' is no positive number", shown(text)))
    }
}

const DIRECTIONS: [Direction; 4] =
    [Direction::Encrypt, Direction::Decrypt, Direction::Digest, Direction::Copy];

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
        .ok_or_else(|| format!("{what} '{}' is none of {}", shown(word), names.join(", ")))
}

/// Without what would break a line or steer a terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn shown(text: &str) -> String {
    plain(text).chars().take(60).collect()
}

fn broken(error: &csv::Error) -> BadTable {
    let line = error.position().map_or(1, csv::Position::line);
    BadTable { line, why: shown(&error.to_string()) }
}

// Why an imported figure is not to be believed: no core can be so fast, or not the one beside which it stands.

/// No core that was ever sold runs at this clock.
const FASTEST_GHZ: f64 = 7.0;

/// How far the clock of another run may lie above every clock that the record saw.
const CLOCK_TOLERANCE: f64 = 1.05;

/// Why no core reaches the figure of a row.
fn beyond_any_core(m: &Measurement) -> Option<String> {
    let most = most(&Core::faster_than_any(), m, FASTEST_GHZ)?;
    let own = own(m)?;
    (own > most).then(|| {
        format!("no core can reach {own:.0} MB/s: the bound is {most:.0} at {FASTEST_GHZ} GHz")
    })
}

/// Why the core of a record does not reach it.
fn beyond_this_core(m: &Measurement, record: &Record) -> Option<String> {
    let (core, clock) = (record.limits.core.as_ref()?, &record.host.clock);
    let ghz = clock.core_ghz_range.map(|(_, high)| high).or(clock.core_ghz_median)?;
    let most = most(core, m, ghz)?;
    let own = own(m)?;
    (own > most * CLOCK_TOLERANCE).then(|| {
        format!(
            "this machine cannot reach {own:.0} MB/s: its limit is {most:.0} at {ghz:.2} GHz, so it is another \
             machine's figure or a wrong one"
        )
    })
}

/// MB/s of one thread.
fn own(m: &Measurement) -> Option<f64> {
    m.mb_per_s.map(|all| all / f64::from(m.threads.max(1)))
}

/// The most MB/s that a core can reach at a clock, where a bound is known.
fn most(core: &Core, m: &Measurement, ghz: f64) -> Option<f64> {
    // `openssl speed` has names of its own for a cipher with HMAC: the cipher alone bounds both.
    let cipher = m.algorithm.split_once("-hmac-").map_or(&*m.algorithm, |(cipher, _)| cipher);
    let found = Algorithm::find(&m.algorithm).or_else(|_| Algorithm::find(cipher));
    let operation = Operation {
        // What nobody knows is at least read.
        algorithm: found.or_else(|_| Algorithm::find("memcpy")).ok()?,
        direction: m.direction,
        model: m.model,
        tier: m.tier,
        size: m.size,
        footprint: m.footprint,
        in_place: m.in_place || m.model == Model::Stream,
        several: false,
    };
    let cycles = limit(core, &operation).ok()?.cycles;
    Some(m.size as f64 / cycles * ghz * 1e3)
}

#[cfg(test)]
mod tests {
    use super::{beside, *};
    use crate::{LibraryId, State, sample};
    use base::analysis::bound::Instruction;
    use base::model::{Direction, Tier};
    use proptest::prelude::*;

    pub(crate) fn row() -> Row {
        Row {
            label: "CTR".to_owned(),
            library: "openssl".to_owned(),
            version: "1.0.2k".to_owned(),
            algorithm: "aes-128-ctr".to_owned(),
            direction: Direction::Encrypt,
            model: Model::Stream,
            tier: Tier::Native,
            size: Some(8192),
            threads: 1,
            mb_per_s: 6303.97611,
            cycles_per_byte: None,
            instructions_per_byte: Some(1.5),
            doubt: None,
            remarks: Vec::new(),
        }
    }

    fn from() -> Imported {
        Imported { source: "a blog".to_owned(), machine: Some("i5".to_owned()) }
    }

    #[test]
    fn an_imported_row_is_a_record_that_is_read_again_and_claims_no_proof() {
        let record = record(&[row()], &from(), "2026-11-21T00:00:00Z", Vec::new());
        let again = crate::from_json(&crate::to_json(&record), "r").unwrap();
        assert_eq!(again, record);
        let m = &record.measurements[0];
        assert_eq!((m.state, m.samples, m.checks.len()), (State::Imported, 0, 0));
        assert_eq!(m.imported, Some(from()));
        assert!((m.ns_per_op.unwrap().median - 1299.497).abs() < 0.001);
        assert_eq!(m.precision, None);
        assert!(m.warning.as_deref().unwrap().contains("integrity"));
    }

    #[test]
    fn a_row_without_a_size_is_no_case() {
        let without = Row { size: None, ..row() };
        assert!(record(&[without], &from(), "", Vec::new()).measurements.is_empty());
    }

    #[test]
    fn beside_a_record_the_rows_change_nothing_of_what_it_measured() {
        let own = crate::sample::record();
        let imported = record(&[row()], &from(), "", Vec::new());
        let both = beside(own.clone(), imported);
        assert_eq!(both.host, own.host);
        assert_eq!(both.measurements[..own.measurements.len()], own.measurements[..]);
        assert_eq!(both.measurements.len(), own.measurements.len() + 1);
    }

    #[test]
    fn ciphers_get_the_direction_that_is_said_and_digests_their_own() {
        let text = "+H:64\n+F:25:AES-128-GCM:878209190.00\n+F:2:sha256:146854270.00\n";
        let source = SpeedSource {
            library: "openssl".to_owned(),
            version: Some("1.0.1".to_owned()),
            decrypt: true,
            tier: Tier::Noaes,
        };
        let rows = rows_of_speed(text, &source).unwrap();
        assert_eq!(rows[0].direction, Direction::Decrypt);
        assert_eq!(rows[1].direction, Direction::Digest);
        assert_eq!((rows[0].tier, rows[0].model), (Tier::Noaes, Model::Stream));
        assert!((rows[0].mb_per_s - 878.20919).abs() < 1e-9);
        assert_eq!(rows[0].version, "1.0.1");
    }

    #[test]
    fn figures_that_the_program_could_not_compute_are_named_beside_the_others_of_the_algorithm() {
        let text = "type     16 bytes     64 bytes    256 bytes\nmd5     10.00k     infk    infk\n\
            sha1     10.00k     20.00k    30.00k\n";
        let source = SpeedSource {
            library: "openssl".to_owned(),
            version: None,
            decrypt: false,
            tier: Tier::Native,
        };
        let rows = rows_of_speed(text, &source).unwrap();
        let said = "figures left out: openssl speed counted no CPU time at 64, 256 bytes";
        assert_eq!((rows.len(), &rows[0].remarks[..]), (4, &[said.to_owned()][..]));
        assert!(rows[1..].iter().all(|row| row.remarks.is_empty()));
    }

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

    proptest! {
        #[test]
        fn no_text_makes_the_parser_fail_otherwise(text in "# source: a\\n[ -~\\n\u{1b}]{0,120}") {
            if let Err(why) = parse_table(&text) {
                prop_assert!(!why.to_string().contains(char::is_control), "{:?}", why.to_string());
            }
        }
    }

    fn figure(algorithm: &str, direction: Direction, mb_per_s: f64) -> Measurement {
        let library = LibraryId {
            name: "openssl".to_owned(),
            version: String::new(),
            path: String::new(),
            id: String::new(),
        };
        Measurement {
            direction,
            model: Model::Stream,
            size: 16384,
            tier: Tier::Native,
            mb_per_s: Some(mb_per_s),
            ..Measurement::blank(library, algorithm, State::Imported)
        }
    }

    /// A round of AES takes four cycles.
    fn core() -> Core {
        let aesenc = Instruction {
            name: "aesenc".to_owned(),
            width_bits: 128,
            per_cycle: 2.0,
            latency_cycles: Some(4.0),
            spread: 0.0,
            samples: 15,
        };
        Core { instructions: vec![aesenc], window: Some(60.0), ..Core::default() }
    }

    #[test]
    fn what_no_core_can_reach_is_doubted_whatever_the_algorithm_is_called() {
        let why = |name, direction, speed| beyond_any_core(&figure(name, direction, speed));
        let (encrypt, decrypt) = (Direction::Encrypt, Direction::Decrypt);
        let said = why("aes-256-cbc-hmac-sha256", encrypt, 130_000.0).unwrap();
        assert_eq!(said, "no core can reach 130000 MB/s: the bound is 4000 at 7 GHz");
        assert!(why("aes-256-cbc-hmac-sha1", encrypt, 7000.0).is_some());
        assert!(why("nobody-knows-it", encrypt, 3e6).is_some());
        // The fastest that was ever seen of each.
        for (name, direction, speed) in [
            ("aes-256-cbc-hmac-sha256", encrypt, 1500.0),
            ("aes-128-cbc", decrypt, 70_000.0),
            ("aes-128-gcm", encrypt, 45_000.0),
            ("aegis-128x4", encrypt, 180_000.0),
            ("chacha20-poly1305", encrypt, 9000.0),
            ("sha256", Direction::Digest, 3500.0),
            ("xxh3-64", Direction::Digest, 120_000.0),
            ("nobody-knows-it", encrypt, 200_000.0),
        ] {
            assert_eq!(why(name, direction, speed), None, "{name}");
        }
    }

    #[test]
    fn what_the_core_beside_cannot_reach_is_doubted_with_its_limit() {
        let mut record = sample::record();
        record.limits.core = Some(core());
        record.host.clock.core_ghz_range = Some((3.0, 3.5));
        // 14 rounds of 4 cycles for 16 bytes.
        let why =
            |speed| beyond_this_core(&figure("aes-256-cbc", Direction::Encrypt, speed), &record);
        assert_eq!(why(1000.0), None);
        let said = why(1652.0).unwrap();
        let expected = "this machine cannot reach 1652 MB/s: its limit is 1000 at 3.50 GHz";
        assert!(said.starts_with(expected), "{said}");
        let two = Measurement { threads: 2, ..figure("aes-256-cbc", Direction::Encrypt, 1652.0) };
        assert_eq!(beyond_this_core(&two, &record), None, "826 MB/s of each");
        record.limits.core = None;
        assert_eq!(beyond_this_core(&two, &record), None);
    }

    #[test]
    fn a_figure_of_a_named_machine_is_not_measured_by_the_core_beside_it() {
        let mut own = sample::record();
        own.limits.core = Some(core());
        let doubted = |machine: Option<&str>| {
            let m = figure("aes-256-cbc", Direction::Encrypt, 3900.0);
            let machine = machine.map(str::to_owned);
            let from = crate::Imported { source: "a blog".to_owned(), machine };
            let imported = Record {
                measurements: vec![Measurement { imported: Some(from), ..m }],
                ..Record::default()
            };
            beside(own.clone(), imported).measurements.pop().unwrap().reason.is_some()
        };
        assert!(doubted(None) && !doubted(Some("another")));
    }
}
