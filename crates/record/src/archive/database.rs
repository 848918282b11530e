//! What the archive needs of a database, in SQL that SQLite and PostgreSQL share: rows and their numbers, the
//! tables and how an older archive becomes a newer one, and the records themselves, compressed.

use crate::RecordError;
use flate2::Compression;
use flate2::read::{GzEncoder, MultiGzDecoder};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};
/// One field.
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

    /// The rows of a query.
    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String>;

    /// Adds many rows.
    fn insert(
        &mut self,
        table: Table<'_>,
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), String>;

    /// Begins to write; others wait until it ends.
    fn begin_writing(&mut self) -> Result<(), String>;

    /// Begins to read: what others write from now on is not seen.
    fn begin_reading(&mut self) -> Result<(), String>;

    /// Whether a table is there.
    fn has_table(&mut self, name: &str) -> Result<bool, String>;

    /// The schema in this database's words.
    fn dialect(&self, sql: &str) -> String;

    /// Keeps all that was written.
    fn commit(&mut self) -> Result<(), String> {
        self.batch("COMMIT")
    }

    /// Forgets all that was written.
    fn roll_back(&mut self) -> Result<(), String> {
        self.batch("ROLLBACK")
    }
}

// The tables, in SQL that both databases read, and how an older archive becomes a newer one.

/// Each is what one version adds to the one before; the first creates everything. A published one is never changed.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("schema.sql")];

/// The last version of builds before the first release, whose rows have another layout.
const UNRELEASED: i64 = 2;

/// The version that all migrations come to.
pub(crate) fn newest(migrations: &[&str]) -> i64 {
    UNRELEASED + migrations.len() as i64
}

/// Brings the archive to the newest version, in one transaction.
pub(crate) fn migrate(db: &mut dyn Database, migrations: &[&str]) -> Result<Version, String> {
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
    db.run("DELETE FROM meta", &[])?;
    db.run("INSERT INTO meta (version) VALUES ($1)", &[newest.into()])?;
    db.commit()?;
    Ok(Version::Known)
}

/// What came of a migration.
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
            Some(path) if path.exists() => Ok(()),
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
        match crate::bytes(&path) {
            Ok(packed) => Ok(Some(packed)),
            Err(RecordError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
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
            for path in entries(&folder)? {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((name.trim_end_matches(".json.gz").to_owned(), path));
            }
        }
        Ok(found)
    }
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

/// Unpacks what [`pack`] packed, as much of it as a record may have: a store may be anybody's.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    unpack_at_most(packed, MOST_BYTES)
}

/// Unpacks a field, as much of it as all but the samples of a record may have.
pub(crate) fn unpack_field(packed: &[u8]) -> Result<Vec<u8>, String> {
    unpack_at_most(packed, MOST_FIELD_BYTES)
}

fn unpack_at_most(packed: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let unpacked = MultiGzDecoder::new(packed).take(most + 1).read_to_end(&mut bytes);
    unpacked.map_err(|e| e.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it is more than {} MiB unpacked", most >> 20));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_unpacks_to_more_than_a_record_may_have_is_refused() {
        let packed = pack(&vec![0; 4 << 20]);
        assert!(packed.len() < 1 << 16);
        assert_eq!(unpack_at_most(&packed, 4 << 20).unwrap().len(), 4 << 20);
        let why = unpack_at_most(&packed, (4 << 20) - 1).unwrap_err();
        assert_eq!(why, "it is more than 3 MiB unpacked");
    }
}
