//! Figures from elsewhere as a record: what other benchmarks printed, and published tables. Which one a text is of is told
//! by its lines. Every row has the state `imported`, says where it comes from, and proves nothing. Pure: text in, record out.

mod names;
pub mod openssl_speed;
mod programs;
mod table;

use crate::{Estimate, Imported, LibraryId, Measurement, Plan, Record, State, Tool};
use base::analysis::bound::{Core, Operation, limit};
use base::model::{Algorithm, Direction, Footprint, Model, Tier};
use std::collections::BTreeMap;
pub use table::{Table, parse_table};

/// What the figures of a text that this program reads may be, with room: none of what is computed from them is zero or
/// infinite.
pub(crate) const FIGURES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;
/// No program prints so long a line, nor so many figures.
const MOST_LINE_BYTES: usize = 1 << 16;
const MOST_ROWS: usize = 1 << 17;
const MOST_BYTES: usize = 8 << 20;
const MOST_LINES: usize = 1 << 16;
/// What is said of the figure of several processes.
pub(crate) const MULTI: &str = "figures of {} processes together: not one core's speed";

crate::named! {
    /// Whose output a text is.
    #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
    Format {
        /// `openssl speed`, with or without -mr, -multi, -elapsed.
        OpensslSpeed = "openssl-speed",
        /// `bssl speed` of BoringSSL and AWS-LC, as text or JSON.
        BsslSpeed = "bssl-speed",
        /// `cryptsetup benchmark`.
        Cryptsetup = "cryptsetup",
        /// libgcrypt's `bench-slope`.
        BenchSlope = "bench-slope",
        /// `botan speed`, as text or JSON.
        BotanSpeed = "botan-speed",
        /// wolfSSL's `benchmark`, as text or CSV.
        Wolfcrypt = "wolfcrypt",
        /// `borg benchmark cpu`.
        Borg = "borg",
        /// `gocryptfs -speed`.
        Gocryptfs = "gocryptfs",
        /// `go test -bench`.
        GoTest = "go-test",
        /// CSV that names its source: docs/FORMAT.md.
        Published = "published",
        /// Lines of a name, a size and a figure with its unit.
        Table = "table",
    }
}

/// Whether a line is of one program's output alone.
type IsOwn = fn(&str) -> bool;

const OWN: [(Format, IsOwn); 9] = [
    (Format::OpensslSpeed, openssl_speed::is_own),
    (Format::BsslSpeed, programs::is_bssl),
    (Format::Cryptsetup, programs::is_cryptsetup),
    (Format::BenchSlope, programs::is_slope),
    (Format::BotanSpeed, programs::is_botan),
    (Format::Wolfcrypt, programs::is_wolfcrypt),
    (Format::Borg, programs::is_borg),
    (Format::Gocryptfs, programs::is_gocryptfs),
    (Format::GoTest, programs::is_go),
];

/// What a text does not say of its figures.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Name of the library, where it is another than the program's own.
    pub library: Option<String>,
    /// Its version; `None` takes the one that the text names.
    pub version: Option<String>,
    /// The algorithm of a table that names none.
    pub algorithm: Option<String>,
    /// The size of rows that have none.
    pub size: Option<usize>,
    /// Whether ciphers decrypted, of `openssl speed` and tables, which do not say it.
    pub decrypt: bool,
    /// Which CPU instructions the library could see.
    pub tier: Tier,
}

impl Said {
    /// The direction of a row whose source says none.
    pub(crate) fn direction(&self, usual: Direction) -> Direction {
        match usual {
            Direction::Encrypt if self.decrypt => Direction::Decrypt,
            usual => usual,
        }
    }

    /// A row of this algorithm, of the library and version that a text names unless others are said.
    pub(crate) fn row(&self, library: &str, version: &str, algorithm: String) -> Row {
        Row {
            library: self.library.clone().unwrap_or_else(|| library.to_owned()),
            version: self.version.clone().unwrap_or_else(|| version.to_owned()),
            direction: Row::usual_direction(&algorithm),
            algorithm,
            model: Model::Stream,
            tier: self.tier,
            threads: 1,
            ..Row::default()
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub format: Format,
    pub rows: Vec<Row>,
    /// The machine, where the text says it.
    pub machine: Option<String>,
    /// Where a published table comes from.
    pub source: Option<String>,
    /// What has the form of a figure and is none, with how many there are.
    pub left_out: BTreeMap<&'static str, usize>,
}

impl Found {
    pub(crate) fn new(format: Format, rows: Vec<Row>) -> Self {
        Self { format, rows, machine: None, source: None, left_out: BTreeMap::new() }
    }

    pub(crate) fn leave(&mut self, count: usize, why: &'static str) {
        if count > 0 {
            *self.left_out.entry(why).or_default() += count;
        }
    }
}

/// Reads what any of the programs printed, or a table; `format` overrides what its lines say.
pub fn read(text: &str, format: Option<Format>, said: &Said) -> Result<Found, String> {
    if let Some(at) = text.lines().position(|line| line.len() > MOST_LINE_BYTES) {
        return Err(format!(
            "line {} has more than {} KiB: no benchmark prints such",
            at + 1,
            MOST_LINE_BYTES >> 10
        ));
    }
    let lines = text.lines().count();
    if text.len() > MOST_BYTES || lines > MOST_LINES {
        return Err(format!(
            "it has {lines} lines and {} KiB: no benchmark prints so much",
            text.len() >> 10
        ));
    }
    let format = match format {
        Some(format) => format,
        None => recognised(text)?,
    };
    if said.decrypt && !matches!(format, Format::OpensslSpeed | Format::Table) {
        return Err(format!(
            "--decrypt is for openssl-speed and tables: {format} says its directions"
        ));
    }
    let is_json = text.trim_start().starts_with('[');
    let mut found = match format {
        Format::OpensslSpeed => openssl_speed::rows(text, said)?,
        Format::BsslSpeed | Format::BotanSpeed if is_json => programs::json(text, said)?,
        Format::BsslSpeed => programs::bssl(text, said),
        Format::Cryptsetup => programs::cryptsetup(text, said),
        Format::BenchSlope => programs::slope(text, said),
        Format::BotanSpeed => programs::botan(text, said),
        Format::Wolfcrypt => programs::wolfcrypt(text, said),
        Format::Borg => programs::borg(text, said),
        Format::Gocryptfs => programs::gocryptfs(text, said),
        Format::GoTest => programs::go(text, said)?,
        Format::Published => {
            let Table { from, rows } = parse_table(text).map_err(|why| why.to_string())?;
            Found { source: Some(from.source), machine: from.machine, ..Found::new(format, rows) }
        }
        Format::Table => table::plain_table(text, said)?,
    };
    found.rows.iter_mut().for_each(|row| row.size = row.size.or(said.size));
    let before = found.rows.len();
    found.rows.retain(Row::is_possible);
    found.leave(before - found.rows.len(), "figures that are none: zero, or beyond all bounds");
    match found.rows.len() {
        0 => Err(format!("no line of it is a figure of {format}")),
        rows if rows > MOST_ROWS => {
            Err(format!("it has {rows} figures; at most {MOST_ROWS} are taken"))
        }
        _ if format == Format::Published => Ok(found),
        _ => {
            found.rows = each_once(found.rows);
            Ok(found)
        }
    }
}

/// The one program whose lines a text has.
fn recognised(text: &str) -> Result<Format, String> {
    let begin = text.trim_start();
    if begin.starts_with('[') {
        let beginning: String = begin.chars().take(4096).collect();
        return Ok(if beginning.contains("\"numCalls\"") {
            Format::BsslSpeed
        } else {
            Format::BotanSpeed
        });
    }
    if table::is_published(text) {
        return Ok(Format::Published);
    }
    let mut found: Vec<(Format, usize)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let own = OWN
            .iter()
            .filter(|(format, is_own)| !found.iter().any(|(f, _)| f == format) && is_own(line));
        let own: Vec<(Format, usize)> = own.map(|(format, _)| (*format, at + 1)).collect();
        found.extend(own);
    }
    match found[..] {
        [] => Ok(Format::Table),
        [(format, _)] => Ok(format),
        [(first, _), (second, at), ..] => Err(format!(
            "it has lines of {first} and, in line {at}, of {second}: part them, or take one with --as"
        )),
    }
}

/// Of several figures of one case the middle one.
fn each_once(rows: Vec<Row>) -> Vec<Row> {
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        let of = (row.library.clone(), row.version.clone(), row.algorithm.clone(), row.direction);
        let next = groups.len();
        let place = *places.entry((of, row.model, row.tier, row.size, row.threads)).or_insert(next);
        match groups.get_mut(place) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().filter_map(middle).collect()
}

fn middle(mut group: Vec<Row>) -> Option<Row> {
    group.sort_by(|a, b| a.ns().total_cmp(&b.ns()));
    let (count, spread) = (group.len(), group.last()?.ns() / group[0].ns());
    let mut row = group.swap_remove(count / 2);
    if count > 1 {
        row.remarks.push(format!("middle of several figures in the text: {count}, the slowest takes {spread:.2} times the fastest"));
    }
    Some(row)
}

// Imported rows, and the record that they become.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What the source calls the row, where that is not the algorithm's name.
    pub label: String,
    pub library: String,
    /// Its version, empty where the source does not say it.
    pub version: String,
    /// Name of the algorithm, as ciphermark writes it.
    pub algorithm: String,
    pub direction: Direction,
    /// What one operation is, as far as the source tells.
    pub model: Model,
    /// Which CPU instructions the library could see, as far as the source tells.
    pub tier: Tier,
    /// Bytes in one operation; `None` where the source does not say it.
    pub size: Option<usize>,
    /// Processes or threads that worked at once.
    pub threads: u32,
    /// Megabytes (10^6 bytes) a second, of all threads together; 0 of what has no bytes.
    pub mb_per_s: f64,
    /// Nanoseconds of an operation that has no bytes: a signature, a step of a key exchange.
    pub operation_ns: Option<f64>,
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

    /// Nanoseconds of one operation; of rows without a size of a byte.
    fn ns(&self) -> f64 {
        self.operation_ns.unwrap_or_else(|| self.size.unwrap_or(1) as f64 / self.mb_per_s * 1e3)
    }

    fn is_possible(&self) -> bool {
        FIGURES.contains(&self.operation_ns.unwrap_or(self.mb_per_s))
    }

    /// The same as an operation that has no bytes and takes so long.
    pub(crate) fn of_operation(self, ns: f64) -> Self {
        let (model, direction) = (Model::Primitive, Direction::Call);
        Self { operation_ns: Some(ns), size: None, mb_per_s: 0.0, model, direction, ..self }
    }

    /// As a measurement that was not made here. Of bytes without a size there is none.
    fn measurement(&self, from: &Imported) -> Option<Measurement> {
        if let Some(ns) = self.operation_ns {
            return Some(Measurement {
                ns_per_op: Some(Estimate::exactly(ns)),
                ..self.blank(from)
            });
        }
        let size = self.size?;
        let ns = size as f64 / self.mb_per_s * f64::from(self.threads) * 1e3;
        let mut m = Measurement {
            size,
            in_place: self.model == Model::Stream,
            ns_per_op: Some(Estimate::exactly(ns)),
            cycles_per_op: self.cycles_per_byte.map(|c| Estimate::exactly(c * size as f64)),
            ns_per_byte: Some(ns / size as f64),
            mb_per_s: Some(self.mb_per_s),
            cycles_per_byte: self.cycles_per_byte,
            instructions_per_byte: self.instructions_per_byte,
            ..self.blank(from)
        };
        if m.reason.is_none() {
            m.reason = beyond_any_core(&m);
        }
        Some(m)
    }

    /// All but its figures.
    fn blank(&self, from: &Imported) -> Measurement {
        let (name, version) = (self.library.clone(), self.version.clone());
        let library = LibraryId { name, version, path: String::new(), id: String::new() };
        let algorithm = Algorithm::find(&self.algorithm);
        Measurement {
            direction: self.direction,
            model: self.model,
            model_version: self.model.version(),
            size: 0,
            tier: self.tier,
            threads: self.threads,
            imported: Some(from.clone()),
            reason: self.doubt.clone(),
            remarks: self.remarks.clone(),
            warning: algorithm.ok().and_then(Algorithm::warning).map(str::to_owned),
            ..Measurement::blank(library, &self.algorithm, State::Imported)
        }
    }
}

/// A record of nothing but imported rows of some sources; those without a size are left out. `started` is when it was
/// made (RFC 3339), `command` the words of the command line.
pub fn record(sources: &[(Vec<Row>, Imported)], started: &str, command: Vec<String>) -> Record {
    let rows = sources.iter().flat_map(|(rows, from)| rows.iter().map(move |row| (row, from)));
    let measurements: Vec<Measurement> = rows.filter_map(|(r, from)| r.measurement(from)).collect();
    Record {
        format_version: crate::FORMAT_VERSION.to_owned(),
        tool: Tool::here(command),
        started: started.to_owned(),
        plan: plan(&measurements),
        measurements,
        ..Record::default()
    }
}

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

/// A record with the imported rows beside its own. What it said of itself stays, and so does its format, which says how
/// its estimates were made. Rows that its core cannot reach are marked, unless they say that they are of another machine.
pub fn beside(mut record: Record, mut imported: Record) -> Record {
    let elsewhere = |m: &Measurement| m.imported.as_ref().is_some_and(|i| i.machine.is_some());
    for m in imported.measurements.iter_mut().filter(|m| m.reason.is_none() && !elsewhere(m)) {
        m.reason = beyond_this_core(m, &record);
    }
    record.measurements.extend(imported.measurements);
    record
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
    use crate::fixtures::library;
    use crate::{State, sample};
    use base::analysis::bound::Instruction;
    use base::model::{Direction, Tier};

    pub(crate) fn row() -> Row {
        Row {
            label: "CTR".to_owned(),
            library: "openssl".to_owned(),
            version: "1.0.2k".to_owned(),
            algorithm: "aes-128-ctr".to_owned(),
            model: Model::Stream,
            size: Some(8192),
            threads: 1,
            mb_per_s: 6303.97611,
            instructions_per_byte: Some(1.5),
            ..Row::default()
        }
    }

    fn from() -> Imported {
        Imported { source: "a blog".to_owned(), machine: Some("i5".to_owned()) }
    }

    #[test]
    fn an_imported_row_is_a_record_that_is_read_again_and_claims_no_proof() {
        let record = record(&[(vec![row()], from())], "2026-11-21T00:00:00Z", Vec::new());
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
        assert!(record(&[(vec![without], from())], "", Vec::new()).measurements.is_empty());
    }

    #[test]
    fn beside_a_record_the_rows_change_nothing_of_what_it_measured() {
        let own = Record { format_version: "1.3".to_owned(), ..crate::sample::record() };
        let imported = record(&[(vec![row()], from())], "", Vec::new());
        let both = beside(own.clone(), imported);
        assert_eq!(both.format_version, own.format_version, "it says how estimates were made");
        assert_eq!(both.host, own.host);
        assert_eq!(both.measurements[..own.measurements.len()], own.measurements[..]);
        assert_eq!(both.measurements.len(), own.measurements.len() + 1);
    }

    #[test]
    fn ciphers_get_the_direction_that_is_said_and_digests_their_own() {
        let text = "+H:64\n+F:25:AES-128-GCM:878209190.00\n+F:2:sha256:146854270.00\n";
        let version = Some("1.0.1".to_owned());
        let said = Said { version, decrypt: true, tier: Tier::Noaes, ..Said::default() };
        let rows = read(text, None, &said).unwrap().rows;
        assert_eq!(rows[0].direction, Direction::Decrypt);
        assert_eq!(rows[1].direction, Direction::Digest);
        assert_eq!((rows[0].tier, rows[0].model), (Tier::Noaes, Model::Stream));
        assert!((rows[0].mb_per_s - 878.20919).abs() < 1e-9);
        assert_eq!((&*rows[0].library, &*rows[0].version), ("openssl", "1.0.1"));
    }

    #[test]
    fn figures_that_the_program_could_not_compute_are_named_beside_the_others_of_the_algorithm() {
        let text = "type     16 bytes     64 bytes    256 bytes\nmd5     10.00k     infk    infk\n\
            sha1     10.00k     20.00k    30.00k\n";
        let rows = read(text, None, &Said::default()).unwrap().rows;
        let said = "figures left out: openssl speed counted no CPU time at 64, 256 bytes";
        assert_eq!((rows.len(), &rows[0].remarks[..]), (4, &[said.to_owned()][..]));
        assert!(rows[1..].iter().all(|row| row.remarks.is_empty()));
    }

    fn figure(algorithm: &str, direction: Direction, mb_per_s: f64) -> Measurement {
        Measurement {
            direction,
            model: Model::Stream,
            size: 16384,
            tier: Tier::Native,
            mb_per_s: Some(mb_per_s),
            ..Measurement::blank(library("openssl", "", ""), algorithm, State::Imported)
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
