//! What the archive needs of a database, in SQL that SQLite and PostgreSQL share: rows and their numbers, the
//! tables and how an older archive becomes a newer one, the rows of a query, of which there may be no end (a
//! store may be anybody's), and the records themselves, compressed. And figures as bytes: what is kept of a
//! case beside its medians (ends of intervals, instruction counts, the costs of the processes, which verdicts
//! are made of), and the instructions that were counted in a library.

use crate::archive::records::Words;
use crate::file::unpack_at_most;
use crate::{
    Estimate, Executed, ExecutedSize, Measurement, ProcessCosts, RecordError, UncountedSize,
};
use flate2::Compression;
use flate2::read::GzEncoder;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// 64 hexadecimal digits in lower case.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// A row; fields are taken by their place. A field of another type is an error: the store is damaged.
#[derive(Clone, Debug)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, at: usize) -> Result<i64, String> {
        match self.0.get(at) {
            Some(Value::Int(value)) => Ok(*value),
            other => Err(format!("field {at} is {other:?}, no whole number")),
        }
    }

    pub(crate) fn text(&self, at: usize) -> Result<String, String> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Ok(text.clone()),
            other => Err(format!("field {at} is {other:?}, no text")),
        }
    }

    /// A hash, which becomes a file's name: nothing but its digits.
    pub(crate) fn sha256(&self, at: usize) -> Result<String, String> {
        let text = self.text(at)?;
        if is_sha256(&text) {
            return Ok(text);
        }
        Err(format!("{:?} is no SHA-256", crate::printable(&text)))
    }

    pub(crate) fn bytes(&self, at: usize) -> Result<&[u8], String> {
        match self.0.get(at) {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            other => Err(format!("field {at} is {other:?}, no bytes")),
        }
    }

    pub(crate) fn optional_int(&self, at: usize) -> Result<Option<i64>, String> {
        if self.is_null(at) { Ok(None) } else { self.int(at).map(Some) }
    }

    pub(crate) fn optional_text(&self, at: usize) -> Result<Option<String>, String> {
        if self.is_null(at) { Ok(None) } else { self.text(at).map(Some) }
    }

    pub(crate) fn optional_real(&self, at: usize) -> Result<Option<f64>, String> {
        match self.0.get(at) {
            Some(Value::Real(value)) => Ok(Some(*value)),
            Some(Value::Int(value)) => Ok(Some(*value as f64)),
            Some(Value::Null) => Ok(None),
            other => Err(format!("field {at} is {other:?}, no number")),
        }
    }

    fn is_null(&self, at: usize) -> bool {
        matches!(self.0.get(at), Some(Value::Null))
    }
}

/// Most rows of one answer: ten times the cases of the largest record, and more words than any archive has.
pub(crate) const MOST_ROWS: usize = 1 << 18;

/// A table's name and its columns, in the order of the rows' fields.
pub(crate) type Table<'a> = (&'a str, &'a [&'a str]);

/// A connection. Parameters are `$1`, `$2`, …, in the order of their first use. Errors are the database's words.
pub(crate) trait Database {
    /// Runs statements without parameters.
    fn batch(&mut self, sql: &str) -> Result<(), String>;

    /// Runs one statement; how many rows it changed.
    fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64, String>;

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String>;

    fn insert(
        &mut self,
        table: Table<'_>,
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), String>;

    /// Begins to write; others wait until it ends.
    fn begin_writing(&mut self) -> Result<(), String>;

    /// Begins to read: what others write from now on is not seen.
    fn begin_reading(&mut self) -> Result<(), String>;

    fn has_table(&mut self, name: &str) -> Result<bool, String>;

    /// The schema in this database's words.
    fn dialect(&self, sql: &str) -> String;

    fn commit(&mut self) -> Result<(), String> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) -> Result<(), String> {
        self.batch("ROLLBACK")
    }
}

// The tables, in SQL that both databases read, and how an older archive becomes a newer one.

/// Each is what one version adds to the one before; the first creates everything. A published one is never changed.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("schema.sql"), include_str!("schema-2.sql")];

/// The last version of builds before the first release, whose rows have another layout.
const UNRELEASED: i64 = 2;

/// The version that all migrations come to.
pub(crate) fn newest(migrations: &[&str]) -> i64 {
    UNRELEASED + migrations.len() as i64
}

/// Brings the archive to the newest version, in one transaction. `fill` writes into an older one what its columns lack.
pub(crate) fn migrate(
    db: &mut dyn Database,
    migrations: &[&str],
    fill: impl FnOnce(&mut dyn Database) -> Result<(), String>,
) -> Result<Version, String> {
    let newest = newest(migrations);
    if version(db)? == newest {
        return Ok(Version::Known);
    }
    db.begin_writing()?;
    // Another program may have been faster.
    let found = version(db)?;
    let is_unreleased = (1..=UNRELEASED).contains(&found);
    if is_unreleased || found > newest {
        db.roll_back()?;
        return Ok(if is_unreleased { Version::Unreleased } else { Version::Newer(found) });
    }
    for migration in &migrations[(found - UNRELEASED).max(0) as usize..] {
        let sql = db.dialect(migration);
        db.batch(&sql)?;
    }
    if found > 0 {
        fill(db)?;
    }
    db.run("DELETE FROM meta", &[])?;
    db.run("INSERT INTO meta (version) VALUES ($1)", &[newest.into()])?;
    db.commit()?;
    Ok(Version::Known)
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// The archive is of the newest version now.
    Known,
    /// It is of a version that this program does not know.
    Newer(i64),
    /// It is of a build before the first release.
    Unreleased,
}

/// 0 where there is nothing yet.
fn version(db: &mut dyn Database) -> Result<i64, String> {
    if !db.has_table("meta")? {
        return Ok(0);
    }
    db.rows("SELECT version FROM meta", &[])?.first().map_or(Ok(0), |row| row.int(0))
}

// Numbers of rows: a record's, a workload's and a library's in one. Rows of a record so lie beside each other, in the
// order in which they are added, and a database fills its pages.
/// Bits of a workload's number and of a library's; a record's has what is left of 63.
const BITS: u32 = 20;
const MOST: i64 = (1 << BITS) - 1;

/// The number of a case's row; `None` beyond a million workloads or libraries, or eight million records.
pub(crate) fn row_of_case(record: i64, workload: i64, library: i64) -> Option<i64> {
    let fits = [workload, library].iter().all(|n| (0..=MOST).contains(n));
    let record = record.checked_shl(2 * BITS).filter(|n| n >> (2 * BITS) == record)?;
    fits.then_some(record | row_within_record(workload, library))
}

/// What a case adds to its record's first number.
pub(crate) fn row_within_record(workload: i64, library: i64) -> i64 {
    workload << BITS | library
}

/// The numbers of a record's rows: from the first to the one after the last.
pub(crate) fn rows_of_record(record: i64) -> (i64, i64) {
    (record << (2 * BITS), (record + 1) << (2 * BITS))
}

/// The workload and the library of a row.
pub(crate) fn parts_of_row(row: i64) -> (i64, i64) {
    (row >> BITS & MOST, row & MOST)
}

// The records themselves, compressed, by the SHA-256 of what they unpack to: files in a directory beside the
// database, or a table of it.

/// Most bytes of a record's text, as `record` has it.
const MOST_BYTES: u64 = 1 << 30;
/// Most bytes of a field: many times what a record of all libraries has.
const MOST_FIELD_BYTES: u64 = 16 << 20;

/// Where records are kept.
#[derive(Debug)]
pub(crate) enum Objects {
    /// `STORE.objects/ab/ab….json.gz`
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "the other database keeps them")
    )]
    Directory(PathBuf),
    /// The table `object`, which takes part in transactions.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a server keeps them so"))]
    Table,
}

/// Why a record cannot be kept or read.
pub(crate) enum Trouble {
    File(PathBuf, io::Error),
    Database(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Database(why)
    }
}

impl Objects {
    /// The file of a record. The hash was checked where it was read ([`Row::sha256`](Row::sha256)).
    pub(crate) fn path(&self, sha256: &str) -> Option<PathBuf> {
        let Self::Directory(directory) = self else { return None };
        assert!(is_sha256(sha256), "a hash is 64 digits");
        Some(directory.join(&sha256[..2]).join(format!("{sha256}.json.gz")))
    }

    /// Keeps a compressed record. A file is written whole under another name, then renamed.
    pub(crate) fn put(
        &self,
        db: &mut dyn Database,
        sha256: &str,
        packed: &[u8],
    ) -> Result<(), Trouble> {
        match self.path(sha256) {
            Some(path) if is_file(&path).is_ok_and(|is| is) => Ok(()),
            Some(path) => write(&path, packed).map_err(|e| Trouble::File(path, e)),
            None => {
                let sql = "INSERT INTO object (sha256, content) VALUES ($1, $2)";
                db.run(sql, &[sha256.into(), packed.to_vec().into()])?;
                Ok(())
            }
        }
    }

    /// A compressed record; `None` if it is not there.
    pub(crate) fn get(
        &self,
        db: &mut dyn Database,
        sha256: &str,
    ) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(path) = self.path(sha256) else {
            let rows = db.rows("SELECT content FROM object WHERE sha256 = $1", &[sha256.into()])?;
            return Ok(rows.first().map(|row| row.bytes(0).map(<[u8]>::to_vec)).transpose()?);
        };
        match is_file(&path) {
            Ok(true) => {}
            // A pipe would be waited for.
            Ok(false) => return Err(Trouble::File(path, io::Error::other("no regular file"))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Trouble::File(path, e)),
        }
        match crate::bytes(&path) {
            Ok(packed) => Ok(Some(packed)),
            Err(RecordError::Read { source, .. }) => Err(Trouble::File(path, source)),
            Err(other) => Err(Trouble::Database(other.to_string())),
        }
    }

    /// Deletes a record that no row names any more.
    pub(crate) fn delete(&self, db: &mut dyn Database, sha256: &str) -> Result<(), Trouble> {
        let Some(path) = self.path(sha256) else {
            db.run("DELETE FROM object WHERE sha256 = $1", &[sha256.into()])?;
            return Ok(());
        };
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Trouble::File(path, e)),
            _ => Ok(()),
        }
    }

    /// The names (SHA-256) of all files, those of unfinished writes among them under names of their own.
    pub(crate) fn files(&self) -> Result<Vec<(String, PathBuf)>, Trouble> {
        let Self::Directory(directory) = self else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for folder in entries(directory)? {
            // What else lies there belongs to nothing.
            let is_folder = fs::symlink_metadata(&folder).is_ok_and(|m| m.is_dir());
            for path in if is_folder { entries(&folder)? } else { vec![folder] } {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((name.trim_end_matches(".json.gz").to_owned(), path));
            }
        }
        Ok(found)
    }
}

/// Whether a file itself, no link, is what a path names.
fn is_file(path: &Path) -> io::Result<bool> {
    fs::symlink_metadata(path).map(|found| found.is_file())
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let trouble = |e| Trouble::File(directory.to_owned(), e);
    match fs::read_dir(directory) {
        Ok(all) => all.map(|entry| entry.map(|e| e.path()).map_err(trouble)).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(trouble(e)),
    }
}

fn write(path: &Path, packed: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    // As any program makes files: the process's mask says who reads it.
    let mode = fs::Permissions::from_mode(0o666);
    let mut new = tempfile::Builder::new();
    let mut file = new.prefix(".adding-").permissions(mode).tempfile_in(directory)?;
    file.write_all(packed)?;
    file.as_file().sync_all()?;
    let file = file.persist(path).map_err(|e| e.error)?;
    drop(file);
    fs::File::open(directory)?.sync_all()
}

/// Packs bytes by gzip, quickly: most of them are digits, which hardly pack better at higher levels.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::new(3)).read_to_end(&mut packed).expect("memory takes all");
    packed
}

/// Unpacks what [`pack`] packed, as much of it as a record may have.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    unpack_at_most(packed, MOST_BYTES).map_err(|e| e.to_string())
}

/// Unpacks a field, as much of it as all but the samples of a record may have.
pub(crate) fn unpack_field(packed: &[u8]) -> Result<Vec<u8>, String> {
    unpack_at_most(packed, MOST_FIELD_BYTES).map_err(|e| e.to_string())
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
const MOST_ANSWER_BYTES: usize = 256 << 20;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Row>,
    bytes: usize,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Answer {
    /// Takes a row field by field.
    pub(crate) fn row(
        &mut self,
        fields: impl Iterator<Item = Result<Value, String>>,
    ) -> Result<(), String> {
        let mut row = Vec::new();
        for field in fields {
            let field = field?;
            self.bytes += size_of::<Value>() + bytes(&field);
            if self.bytes > MOST_ANSWER_BYTES {
                return Err(format!("an answer has more than {} MiB", MOST_ANSWER_BYTES >> 20));
            }
            row.push(field);
        }
        if self.rows.len() == MOST_ROWS {
            return Err(format!("an answer has more than {MOST_ROWS} rows"));
        }
        self.rows.push(Row(row));
        Ok(())
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn bytes(field: &Value) -> usize {
    match field {
        Value::Null | Value::Int(_) | Value::Real(_) => 0,
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
    }
}

const NS: u16 = 1;
const CYCLES: u16 = 1 << 1;
const PER_BYTE: u16 = 1 << 2;
const PER_MESSAGE: u16 = 1 << 3;
const LIMIT: u16 = 1 << 4;
const SPEED: u16 = 1 << 5;
const CONTENDED: u16 = 1 << 6;
const COSTS: u16 = 1 << 7;
/// The ends of intervals have two bytes each, in parts of [`END`] of the median; else four.
const SHORT_ENDS: u16 = 1 << 8;
/// Instruction counts have four bytes each, which is all that they need; else eight.
const SHORT_COUNTS: u16 = 1 << 9;
/// The speed is what follows from the time, and has no bytes.
const SPEED_FOLLOWS: u16 = 1 << 10;

/// A hundredth of the narrowest interval, and less.
const END: f64 = 1.0 / 65536.0;

/// How costs are written (the upper two bits of their number): all zero; as parts of what they span, of two or three
/// bytes; as they are.
const ZEROS: u16 = 0;
const PARTS_OF_2: u16 = 1;
const PARTS_OF_3: u16 = 2;
const WHOLE: u16 = 3;
const KIND: u32 = 14;
const MOST_COSTS: usize = (1 << KIND) - 1;
/// The least cost and the widest spans, over the typical cost, of which a part is exact to a millionth.
const LEAST: f64 = -0.4;
const SPAN_OF_2: f64 = 1.0 / 16.0;
const SPAN_OF_3: f64 = 16.0;

/// The bytes of a case.
pub(crate) fn encode_figures(m: &Measurement, costs: Option<&ProcessCosts>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let estimates = || [m.ns_per_op, m.cycles_per_op].into_iter().flatten();
    let ends: Vec<f64> =
        estimates().flat_map(|e| [e.low / e.median - 1.0, e.high / e.median - 1.0]).collect();
    let short_ends = ends.iter().all(|end| (end / END).round().abs() <= f64::from(i16::MAX));
    let counts = [m.instructions_per_byte, m.instructions_per_message];
    let short_counts = counts.iter().flatten().all(|count| f64::from(*count as f32) == *count);
    let fields = [
        (NS, m.ns_per_op.is_some()),
        (CYCLES, m.cycles_per_op.is_some()),
        (PER_BYTE, m.instructions_per_byte.is_some()),
        (PER_MESSAGE, m.instructions_per_message.is_some()),
        (LIMIT, m.limit_fraction.is_some()),
        (SPEED, m.mb_per_s.is_some()),
        (CONTENDED, m.contended),
        (COSTS, costs.is_some()),
        (SHORT_ENDS, short_ends),
        (SHORT_COUNTS, short_counts),
        (SPEED_FOLLOWS, m.mb_per_s.is_some() && m.mb_per_s == speed(m, m.ns_per_op)),
    ];
    let flags = fields.iter().filter(|(_, is)| *is).fold(0, |all, (flag, _)| all | flag);
    out.extend(u16::to_le_bytes(flags));
    for end in ends {
        match short_ends {
            true => out.extend(((end / END).round() as i16).to_le_bytes()),
            false => out.extend((end as f32).to_le_bytes()),
        }
    }
    for count in counts.into_iter().flatten() {
        match short_counts {
            true => out.extend((count as f32).to_le_bytes()),
            false => out.extend(count.to_le_bytes()),
        }
    }
    m.limit_fraction.iter().for_each(|limit| out.extend((*limit as f32).to_le_bytes()));
    let told = m.mb_per_s.filter(|_| flags & SPEED_FOLLOWS == 0);
    told.iter().for_each(|speed| out.extend(speed.to_le_bytes()));
    if let Some(costs) = costs {
        encode_costs(&mut out, &costs.ns, m.ns_per_op);
        encode_costs(&mut out, &costs.cycles, m.cycles_per_op);
    }
    out
}

/// Megabytes a second of all threads together, by the time of one operation.
fn speed(m: &Measurement, ns: Option<Estimate>) -> Option<f64> {
    ns.map(|ns| m.size as f64 / ns.median * 1e3 * f64::from(m.threads.max(1)))
}

/// Costs as parts of what they span: equal ones stay equal, and no verdict hangs on a millionth of one.
fn encode_costs(out: &mut Vec<u8>, costs: &[f64], typical: Option<Estimate>) {
    let costs = &costs[..costs.len().min(MOST_COSTS)];
    let (low, high) = costs.iter().fold((f64::INFINITY, 0.0), |(l, h), c| (c.min(l), c.max(h)));
    let typical = typical.map_or(f64::NAN, |e| e.median);
    // As they are read back.
    let least = (low / typical - 1.0) as f32;
    let span = (high / typical - 1.0 - f64::from(least)).max(0.0) as f32;
    let kind = match f64::from(span) {
        _ if high == 0.0 => ZEROS,
        _ if !(LEAST..).contains(&f64::from(least)) || costs.iter().any(|c| c.is_nan()) => WHOLE,
        span if span <= SPAN_OF_2 => PARTS_OF_2,
        span if span <= SPAN_OF_3 => PARTS_OF_3,
        _ => WHOLE,
    };
    out.extend((kind << KIND | costs.len() as u16).to_le_bytes());
    if kind == WHOLE {
        costs.iter().for_each(|c| out.extend(c.to_le_bytes()));
    } else if kind != ZEROS {
        out.extend([least, span].map(f32::to_le_bytes).concat());
        let (bytes, most) = parts(kind);
        let above = |c: f64| ((c / typical - 1.0 - f64::from(least)) / f64::from(span)).max(0.0);
        for c in costs {
            // A span of nothing has one part.
            let part = if span > 0.0 { (above(*c) * most).round().min(most) } else { 0.0 };
            out.extend(&(part as u32).to_le_bytes()[..bytes]);
        }
    }
}

/// Bytes of a part, and the largest one.
fn parts(kind: u16) -> (usize, f64) {
    if kind == PARTS_OF_2 { (2, 65_535.0) } else { (3, 16_777_215.0) }
}

/// Fills in what [`encode_figures`] kept; `ns` and `cycles` are the medians. `None` if the bytes cannot be its.
pub(crate) fn decode_figures(
    bytes: &[u8],
    (ns, cycles): (Option<f64>, Option<f64>),
    m: &mut Measurement,
) -> Option<()> {
    let mut from = Reader(bytes);
    let flags = u16::from_le_bytes(from.take()?);
    let has = |flag| flags & flag != 0;
    if has(NS) {
        m.ns_per_op = Some(from.estimate(ns?, has(SHORT_ENDS))?);
    }
    if has(CYCLES) {
        m.cycles_per_op = Some(from.estimate(cycles?, has(SHORT_ENDS))?);
    }
    for (flag, count) in
        [(PER_BYTE, &mut m.instructions_per_byte), (PER_MESSAGE, &mut m.instructions_per_message)]
    {
        *count = match (has(flag), has(SHORT_COUNTS)) {
            (false, _) => None,
            (true, true) => Some(from.short()?),
            (true, false) => Some(from.real()?),
        };
    }
    m.limit_fraction = if has(LIMIT) { Some(from.short()?) } else { None };
    m.mb_per_s = match (has(SPEED), has(SPEED_FOLLOWS)) {
        (false, _) => None,
        (true, true) => speed(m, m.ns_per_op),
        (true, false) => Some(from.real()?),
    };
    m.contended = has(CONTENDED);
    m.costs = match has(COSTS) {
        true => {
            let ns = from.costs(ns)?;
            Some(ProcessCosts { ns, cycles: from.costs(cycles)? })
        }
        false => None,
    };
    let per_byte = |e: Option<Estimate>| e.map(|e| e.median / m.size as f64).filter(|_| m.size > 0);
    (m.ns_per_byte, m.cycles_per_byte) = (per_byte(m.ns_per_op), per_byte(m.cycles_per_op));
    from.0.is_empty().then_some(())
}

/// Takes numbers from the beginning of bytes.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn real(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    fn short(&mut self) -> Option<f64> {
        self.take().map(|bytes| f64::from(f32::from_le_bytes(bytes)))
    }

    fn estimate(&mut self, median: f64, short: bool) -> Option<Estimate> {
        let mut end = || {
            let end = match short {
                true => f64::from(i16::from_le_bytes(self.take()?)) * END,
                false => self.short()?,
            };
            Some(median * (1.0 + end))
        };
        Some(Estimate { median, low: end()?, high: end()? })
    }

    fn costs(&mut self, typical: Option<f64>) -> Option<Vec<f64>> {
        let head = u16::from_le_bytes(self.take()?);
        let (kind, count) = (head >> KIND, usize::from(head) & MOST_COSTS);
        if kind == ZEROS {
            return Some(vec![0.0; count]);
        }
        if kind == WHOLE {
            return (0..count).map(|_| self.real()).collect();
        }
        let (typical, least, span) = (typical?, self.short()?, self.short()?);
        let (bytes, most) = parts(kind);
        let mut costs = Vec::with_capacity(count);
        for part in self.bytes(count * bytes)?.chunks_exact(bytes) {
            let part = part.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
            costs.push(typical * (1.0 + least + span * (f64::from(part) / most)));
        }
        Some(costs)
    }
}

// The instructions that a record counted in a library, as bytes: of each algorithm the workloads that it is of, what each
// byte and each message costs, and whole operations. What kinds of instructions they are stays in the record.

const COUNTED_PER_BYTE: u8 = 1;
const COUNTED_PER_MESSAGE: u8 = 2;

/// The bytes of an algorithm's counts; `workloads` are the cases of the record that they are of.
pub(crate) fn encode_counts(out: &mut Vec<u8>, executed: &Executed, workloads: &[i64]) {
    let Executed { per_byte, per_message, sizes, uncounted, .. } = executed;
    let flags = u8::from(per_byte.is_some()) * COUNTED_PER_BYTE
        + u8::from(per_message.is_some()) * COUNTED_PER_MESSAGE;
    out.push(flags);
    [per_byte, per_message].into_iter().flatten().for_each(|n| out.extend(n.to_le_bytes()));
    put(out, workloads.len());
    workloads.iter().for_each(|n| put(out, *n as usize));
    put(out, sizes.len());
    for counted in sizes {
        put(out, counted.size);
        out.extend(counted.instructions.to_le_bytes());
    }
    put(out, uncounted.len());
    for without in uncounted {
        put(out, without.size);
        put(out, without.reason.len());
        out.extend(without.reason.as_bytes());
    }
}

/// Sizes and lengths are below 2^32.
fn put(out: &mut Vec<u8>, number: usize) {
    out.extend((number as u32).to_le_bytes());
}

/// What [`encode_counts`] kept of a library, of the workloads that are wanted; `None` if the bytes cannot be its.
pub(crate) fn decode_counts(
    bytes: &[u8],
    (words, library): (&Words, i64),
    is_wanted: impl Fn(i64) -> bool,
) -> Option<Vec<Executed>> {
    let mut from = Reader(bytes);
    let mut found = Vec::new();
    while !from.0.is_empty() {
        let [flags] = from.take()?;
        let mut real = |flag| if flags & flag != 0 { from.real().map(Some) } else { Some(None) };
        let (per_byte, per_message) = (real(COUNTED_PER_BYTE)?, real(COUNTED_PER_MESSAGE)?);
        let workloads = list(&mut from, number)?;
        let sizes = list(&mut from, size)?;
        let uncounted = list(&mut from, uncounted)?;
        if !workloads.iter().any(|n| is_wanted(*n as i64)) {
            continue;
        }
        let m = words.case(*workloads.first()? as i64, library).ok()?;
        found.push(Executed {
            library: m.library,
            algorithm: m.algorithm,
            direction: m.direction,
            model: m.model,
            tier: m.tier,
            per_byte,
            per_message,
            sizes,
            uncounted,
            ..Executed::default()
        });
    }
    Some(found)
}

fn number(from: &mut Reader<'_>) -> Option<usize> {
    from.take().map(|bytes| u32::from_le_bytes(bytes) as usize)
}

fn list<T>(from: &mut Reader<'_>, one: fn(&mut Reader<'_>) -> Option<T>) -> Option<Vec<T>> {
    (0..number(from)?).map(|_| one(from)).collect()
}

fn size(from: &mut Reader<'_>) -> Option<ExecutedSize> {
    Some(ExecutedSize { size: number(from)?, instructions: u64::from_le_bytes(from.take()?) })
}

fn uncounted(from: &mut Reader<'_>) -> Option<UncountedSize> {
    let (size, length) = (number(from)?, number(from)?);
    let reason = String::from_utf8(from.bytes(length)?.to_vec()).ok()?;
    Some(UncountedSize { size, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_number_comes_apart_into_what_it_was_made_of_and_too_large_ones_are_none() {
        for (record, workload, library) in [(1, 1, 1), (8_000_000, MOST, MOST), (7, 0, MOST)] {
            let number = row_of_case(record, workload, library).unwrap();
            assert_eq!(parts_of_row(number), (workload, library));
            let (first, next) = rows_of_record(record);
            assert!((first..next).contains(&number));
        }
        assert_eq!(row_of_case(1, MOST + 1, 1), None);
        assert_eq!(row_of_case(1, 1, MOST + 1), None);
        assert_eq!(row_of_case(1 << 23, 1, 1), None);
    }

    fn back(m: &Measurement, costs: Option<&ProcessCosts>) -> Measurement {
        let bytes = encode_figures(m, costs);
        let blank = Measurement {
            ns_per_op: None,
            cycles_per_op: None,
            instructions_per_byte: None,
            mb_per_s: None,
            limit_fraction: None,
            ..m.clone()
        };
        let mut read = blank.clone();
        let medians = (m.ns_per_op.map(|e| e.median), m.cycles_per_op.map(|e| e.median));
        decode_figures(&bytes, medians, &mut read).unwrap();
        for cut in 0..bytes.len() {
            assert_eq!(
                decode_figures(&bytes[..cut], medians, &mut blank.clone()),
                None,
                "cut to {cut}"
            );
        }
        assert_eq!(decode_figures(&[bytes, vec![0]].concat(), medians, &mut blank.clone()), None);
        read
    }

    #[test]
    fn a_case_comes_back_with_its_figures_and_a_torn_one_does_not() {
        let record = sample::archived();
        for m in &record.measurements {
            let costs = ProcessCosts::of(&record, m);
            let read = back(m, costs.as_ref());
            assert_eq!(read.ns_per_op.map(|e| e.median), m.ns_per_op.map(|e| e.median));
            for (a, b) in [(read.ns_per_op, m.ns_per_op), (read.cycles_per_op, m.cycles_per_op)] {
                let near = |a: f64, b: f64| (a / b - 1.0).abs() <= END;
                assert!(a.zip(b).is_none_or(|(a, b)| near(a.low, b.low) && near(a.high, b.high)));
                assert_eq!(a.is_some(), b.is_some());
            }
            assert_eq!((read.mb_per_s, read.contended), (m.mb_per_s, m.contended));
            assert_eq!(read.costs.is_some(), costs.is_some());
        }
    }

    #[test]
    fn costs_keep_their_order_and_their_ties_to_a_millionth() {
        let m = &sample::archived().measurements[0];
        let typical = m.ns_per_op.unwrap().median;
        let ns = [1.0, 1.000_01, 1.0, 0.999_5, 1.02].map(|part| part * typical).to_vec();
        let apart = ns.iter().map(|c| c * c).collect::<Vec<_>>();
        let zeros = vec![0.0; 5];
        let same = vec![m.cycles_per_op.unwrap().median * 1.003; 5];
        for cycles in [vec![1.0, 1e-9, 5.0, 1.0, 2.0], apart, zeros, same, Vec::new()] {
            let costs = ProcessCosts { ns: ns.clone(), cycles: cycles.clone() };
            let read = back(m, Some(&costs)).costs.unwrap();
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.abs();
            assert!(read.cycles.iter().zip(&cycles).all(near), "{cycles:?} {:?}", read.cycles);
            assert_eq!(read.cycles.len(), cycles.len());
            assert!(read.ns.iter().zip(&ns).all(near), "{:?}", read.ns);
            assert!(read.ns[0] == read.ns[2] && read.ns[1] > read.ns[0] && read.ns[3] < read.ns[0]);
        }
    }

    #[test]
    fn a_measured_case_of_twelve_processes_takes_ninety_bytes() {
        let m = Measurement {
            instructions_per_byte: Some(2.529_296_875),
            instructions_per_message: Some(1623.0),
            limit_fraction: Some(0.8),
            ..sample::archived().measurements[0].clone()
        };
        let of = |typical: f64| (0..12).map(|i| typical * (1.0 + f64::from(i) / 1000.0)).collect();
        let typical = |e: Option<Estimate>| of(e.unwrap().median);
        let costs = ProcessCosts { ns: typical(m.ns_per_op), cycles: typical(m.cycles_per_op) };
        let bytes =
            encode_figures(&Measurement { mb_per_s: speed(&m, m.ns_per_op), ..m }, Some(&costs));
        assert_eq!(bytes.len(), 2 + 8 + 8 + 4 + 2 * (2 + 8 + 24));
    }
}
