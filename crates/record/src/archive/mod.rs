//! The archive: records of many machines and runs in one store. Figures lie in tables, of SQLite or PostgreSQL;
//! the records themselves beside them, compressed. `docs/ARCHIVE.md` is the long form.
//!
//! What is read back is a [`crate::Record`] without samples, with the costs of its processes in their place:
//! rankings and comparisons over a store are those of the records.

mod database;
#[cfg(feature = "postgres")]
mod postgres;
mod records;
#[cfg(feature = "sqlite")]
mod sqlite;

use crate::{LibraryId, Measurement, ProcessCosts, Record, State};
use base::model::NameGlob;
use database::{
    Database, MIGRATIONS, Objects, Row, Trouble, Value, Version, migrate, newest, unpack,
    unpack_field,
};
use records::Words;
pub use records::{Added, Chosen, Entry, asked};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::{fmt, io};

// Opening an archive and saying what is in it.

/// Whether a record's figures are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The owner of the archive vouches for it.
    Own,
    Signed,
    /// Nobody that is allowed signed it: left out unless asked for.
    Unsigned,
    /// A check found something: left out unless asked for.
    Doubtful,
}

impl Trust {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether answers count it without being asked to.
    pub fn counts(self) -> bool {
        matches!(self, Self::Own | Self::Signed)
    }
}

/// A record, as the archive lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    #[serde(skip)]
    pub id: i64,
    /// SHA-256 of the record's text.
    pub sha256: String,
    /// The machine's type, as it was given.
    pub machine: String,
    /// Where it is rented, if that was given.
    pub region: Option<String>,
    /// The processor's name, as the record has it.
    pub cpu: String,
    /// What was run, of others than surveys.
    pub kind: Option<String>,
    /// When the run began, seconds since 1970.
    pub started: i64,
    /// When it was added, seconds since 1970.
    pub added: i64,
    /// Whether its figures are believed.
    pub trust: Trust,
    pub signer: Option<String>,
    /// What checks found, in sentences; empty until [`Archive::tell_doubts`].
    pub doubts: Vec<String>,
    /// How many cases have a row: all that a library offered.
    pub cases: i64,
    /// What it was asked for and the releases that it measured: the same of runs that hide each other.
    #[serde(skip)]
    pub shape: Option<String>,
}

impl Listed {
    /// The day of the run, `YYYY-MM-DD`, in UTC.
    pub fn day(&self) -> String {
        let time = jiff::Timestamp::from_second(self.started).unwrap_or_default();
        time.strftime("%Y-%m-%d").to_string()
    }
}

/// The columns of [`Listed`]: those of an index, so that nothing else of 100,000 records is read.
const LISTED: &str = "SELECT r.id, r.sha256, m.name, r.region, r.cpu, r.kind, r.started, r.added, r.trust, r.signer, \
    r.shape, r.cases FROM record r JOIN machine m ON m.id = r.machine";

/// Records whose doubts are read at once.
const DOUBTS_AT_ONCE: usize = 1000;

pub struct Archive {
    pub(crate) name: String,
    pub(crate) db: Box<dyn Database>,
    pub(crate) objects: Objects,
    pub(crate) words: Option<Words>,
}

impl Archive {
    /// Opens an archive: a file, or `postgres://…`. With `create`, makes one where there is none.
    pub fn open(store: &str, create: bool) -> Result<Self, ArchiveError> {
        Self::with(store, create, MIGRATIONS)
    }

    pub(crate) fn with(
        store: &str,
        create: bool,
        migrations: &[&str],
    ) -> Result<Self, ArchiveError> {
        let is_server = ["postgres://", "postgresql://"].iter().any(|s| store.starts_with(s));
        let (db, objects) = if is_server { server(store)? } else { file(store, create)? };
        let mut archive = Self { name: base::text::masked(store), db, objects, words: None };
        let has_tables = archive.db.has_table("meta").map_err(archive.failed())?;
        if !has_tables && !create {
            return Err(ArchiveError::Absent(archive.name));
        }
        let migrated = migrate(archive.db.as_mut(), migrations, records::fill_shapes);
        match migrated.map_err(archive.failed())? {
            Version::Known => Ok(archive),
            Version::Newer(found) => {
                let known = newest(migrations);
                Err(ArchiveError::Newer { store: archive.name, found, known })
            }
            Version::Unreleased => Err(ArchiveError::Unreleased(archive.name)),
        }
    }

    /// What it is called, without a password.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From now on all answers are of this moment, whatever others add.
    pub fn hold(&mut self) -> Result<(), ArchiveError> {
        self.db.begin_reading().map_err(self.failed())
    }

    /// The records that a selection takes, by machine, then from the oldest to the newest. Without `doubtful`, only
    /// those whose figures are believed.
    pub fn list(&mut self, of: &Selection, doubtful: bool) -> Result<Vec<Listed>, ArchiveError> {
        let sql = format!("{LISTED} ORDER BY m.name, r.started, r.id");
        let rows = self.rows(&sql, &[])?;
        let all: Result<Vec<Listed>, String> = rows.iter().map(listed).collect();
        let mut all = all.map_err(self.damaged())?;
        all.retain(|r| (doubtful || r.trust.counts()) && of.takes(r));
        if of.library.is_some() {
            let having = self.having(of)?;
            all.retain(|r| having.contains(&r.id));
        }
        Ok(all)
    }

    /// Says of listed records what checks found.
    pub fn tell_doubts(&mut self, listed: &mut [Listed]) -> Result<(), ArchiveError> {
        let mut doubtful: Vec<&mut Listed> =
            listed.iter_mut().filter(|r| r.trust == Trust::Doubtful).collect();
        // As many as one answer holds, whatever a stranger's record gave rise to.
        for some in doubtful.chunks_mut(DOUBTS_AT_ONCE) {
            let ids: Vec<i64> = some.iter().map(|r| r.id).collect();
            let sql =
                format!("SELECT id, doubts FROM record WHERE id IN ({})", records::list(&ids));
            let mut found = BTreeMap::new();
            for row in self.rows(&sql, &[])? {
                let doubts = row.text(1).and_then(|text| {
                    serde_json::from_str::<Vec<String>>(&text).map_err(|e| e.to_string())
                });
                let id = row.int(0).map_err(self.damaged())?;
                found.insert(id, doubts.map_err(self.damaged())?);
            }
            for record in some.iter_mut() {
                record.doubts = found.remove(&record.id).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// What is kept to judge later records by: the newest of the same processor and of the same machine type,
    /// `most` of each, and all with the same samples.
    pub fn known(
        &mut self,
        cpu: &str,
        machine: &str,
        samples: Option<&str>,
        most: u32,
    ) -> Result<Vec<String>, ArchiveError> {
        let newest = format!("ORDER BY started DESC LIMIT {most}");
        let of_cpu =
            format!("SELECT id, known FROM record WHERE cpu = $1 AND known IS NOT NULL {newest}");
        let of_machine = format!(
            "SELECT id, known FROM record WHERE machine = (SELECT id FROM machine WHERE name = $1) \
             AND known IS NOT NULL {newest}"
        );
        let replays = "SELECT id, known FROM record WHERE samples = $1 AND known IS NOT NULL";
        let mut rows = self.rows(&of_cpu, &[records::cpu(cpu).into()])?;
        rows.extend(self.rows(&of_machine, &[machine.into()])?);
        if let Some(samples) = samples {
            rows.extend(self.rows(replays, &[samples.into()])?);
        }
        let known = |row: &Row| -> Result<(i64, String), String> {
            let text =
                String::from_utf8(unpack_field(row.bytes(1)?)?).map_err(|e| e.to_string())?;
            Ok((row.int(0)?, text))
        };
        let all: Result<Vec<_>, String> = rows.iter().map(known).collect();
        let mut all = all.map_err(self.damaged())?;
        all.sort();
        all.dedup_by_key(|(id, _)| *id);
        Ok(all.into_iter().map(|(_, known)| known).collect())
    }

    /// The one record that the beginning of a SHA-256 means.
    ///
    /// # Errors
    /// [`ArchiveError::Selection`] where none or several begin so.
    pub fn find(&mut self, prefix: &str) -> Result<Listed, ArchiveError> {
        let of = Selection { record: Some(prefix.to_owned()), ..Selection::default() };
        let mut found = self.list(&of, true)?;
        match (found.pop(), found.len()) {
            (Some(one), 0) => Ok(one),
            (None, _) => Err(ArchiveError::Selection(format!(
                "'{}' has no record whose SHA-256 begins with '{prefix}'",
                self.name
            ))),
            (Some(_), others) => Err(ArchiveError::Selection(format!(
                "'{prefix}' begins {} records of '{}': give more digits",
                others + 1,
                self.name
            ))),
        }
    }

    /// Deletes a record: its rows in one transaction, then its file.
    pub fn remove(&mut self, record: &Listed) -> Result<(), ArchiveError> {
        self.writing(|archive| {
            let (first, next) = database::rows_of_record(record.id);
            let rows = "DELETE FROM measurement WHERE id >= $1 AND id < $2";
            archive.run(rows, &[first.into(), next.into()])?;
            archive.run("DELETE FROM uses WHERE record = $1", &[record.id.into()])?;
            archive.run("DELETE FROM record WHERE id = $1", &[record.id.into()])?;
            match archive.objects {
                Objects::Table => archive.delete_object(&record.sha256),
                Objects::Directory(_) => Ok(()),
            }
        })?;
        // Only after the rows are gone for good; and not if another program has just added it again.
        self.writing(|archive| {
            let again =
                archive.rows("SELECT 1 FROM record WHERE sha256 = $1", &[(&*record.sha256).into()]);
            if again?.is_empty() { archive.delete_object(&record.sha256) } else { Ok(()) }
        })
    }

    /// A record as it was added, compressed by gzip.
    ///
    /// # Errors
    /// [`ArchiveError::Damaged`] where it is lost.
    pub fn object(&mut self, sha256: &str) -> Result<Vec<u8>, ArchiveError> {
        let found = self.objects.get(self.db.as_mut(), sha256);
        let lost = || self.damaged()(format!("the record {sha256} is lost"));
        found.map_err(|e| self.troubled(e))?.ok_or_else(lost)
    }

    fn delete_object(&mut self, sha256: &str) -> Result<(), ArchiveError> {
        self.objects.delete(self.db.as_mut(), sha256).map_err(|e| self.troubled(e))
    }

    /// Does it all or nothing.
    pub(crate) fn writing<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        self.db.begin_writing().map_err(self.failed())?;
        match work(self) {
            Ok(done) => self.db.commit().map_err(self.failed()).map(|()| done),
            Err(error) => {
                // A connection that is gone has rolled back by itself.
                let _ = self.db.roll_back();
                self.words = None;
                Err(error)
            }
        }
    }

    pub(crate) fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, ArchiveError> {
        self.db.rows(sql, values).map_err(self.failed())
    }

    pub(crate) fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64, ArchiveError> {
        self.db.run(sql, values).map_err(self.failed())
    }

    pub(crate) fn failed(&self) -> impl Fn(String) -> ArchiveError + use<> {
        let store = self.name.clone();
        move |why| ArchiveError::Database { store: store.clone(), why }
    }

    pub(crate) fn damaged(&self) -> impl Fn(String) -> ArchiveError + use<> {
        let store = self.name.clone();
        move |what| ArchiveError::Damaged { store: store.clone(), what }
    }

    pub(crate) fn troubled(&self, trouble: Trouble) -> ArchiveError {
        match trouble {
            Trouble::Database(why) => self.failed()(why),
            Trouble::File(path, source) => ArchiveError::Object { path, source },
        }
    }
}

fn listed(row: &Row) -> Result<Listed, String> {
    let trust = row.text(8)?;
    Ok(Listed {
        id: row.int(0)?,
        sha256: row.sha256(1)?,
        machine: row.text(2)?,
        region: row.optional_text(3)?,
        cpu: row.text(4)?,
        kind: row.optional_text(5)?,
        started: row.int(6)?,
        added: row.int(7)?,
        trust: trust.parse().map_err(|_| format!("'{trust}' is no degree of trust"))?,
        signer: row.optional_text(9)?,
        doubts: Vec::new(),
        shape: row.optional_text(10)?,
        cases: row.int(11)?,
    })
}

type Opened = (Box<dyn Database>, Objects);

#[cfg(not(feature = "sqlite"))]
fn file(store: &str, _create: bool) -> Result<Opened, ArchiveError> {
    Err(ArchiveError::NoSqlite(store.to_owned()))
}

#[cfg(feature = "sqlite")]
fn file(store: &str, create: bool) -> Result<Opened, ArchiveError> {
    let path = std::path::Path::new(store);
    if !create && !path.exists() {
        return Err(ArchiveError::Absent(store.to_owned()));
    }
    let failed = |why| ArchiveError::Database { store: store.to_owned(), why };
    no_traps(path).map_err(failed)?;
    let opened = sqlite::Sqlite::open(path, create).map_err(failed)?;
    let db = opened.ok_or_else(|| ArchiveError::Other(store.to_owned()))?;
    Ok((Box::new(db), Objects::Directory(format!("{store}.objects").into())))
}

/// SQLite would wait for a pipe in the place of a file that it keeps beside the store, and write where a link leads.
#[cfg(feature = "sqlite")]
fn no_traps(store: &std::path::Path) -> Result<(), String> {
    // Where a link leads, it keeps them.
    let store = std::fs::canonicalize(store).unwrap_or_else(|_| store.to_owned());
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut path = store.clone().into_os_string();
        path.push(suffix);
        if std::fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(format!("'{}' is no regular file", path.display()));
        }
        if suffix == "-journal" && names_another(std::path::Path::new(&path)) {
            return Err(format!(
                "'{}' names another file, which SQLite would remove",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Whether a rollback journal ends in the name of a super-journal (SQLite file format, section 3): one archive never
/// has one.
#[cfg(feature = "sqlite")]
fn names_another(journal: &std::path::Path) -> bool {
    use std::io::{Read as _, Seek as _, SeekFrom};
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let last = || -> std::io::Result<[u8; 8]> {
        let (mut file, mut last) = (std::fs::File::open(journal)?, [0; 8]);
        file.seek(SeekFrom::End(-8))?;
        file.read_exact(&mut last)?;
        Ok(last)
    };
    last().is_ok_and(|last| last == MAGIC)
}

#[cfg(feature = "postgres")]
fn server(store: &str) -> Result<Opened, ArchiveError> {
    let failed = |why| ArchiveError::Database { store: base::text::masked(store), why };
    let db = postgres::Postgres::connect(store).map_err(failed)?;
    Ok((Box::new(db), Objects::Table))
}

#[cfg(not(feature = "postgres"))]
fn server(store: &str) -> Result<Opened, ArchiveError> {
    Err(ArchiveError::NoPostgres(base::text::masked(store)))
}

// Which records are meant.

/// What records must be to be taken: `machine=GLOB,library=GLOB,since=DAY,until=DAY,record=SHA256`, each of which may
/// be left out.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub machine: Option<NameGlob>,
    /// A library that was measured, by name or `name@version`.
    pub library: Option<NameGlob>,
    /// The run began then or later, seconds since 1970.
    pub since: Option<i64>,
    /// The run began before, seconds since 1970.
    pub until: Option<i64>,
    /// The beginning of the SHA-256.
    pub record: Option<String>,
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut of = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| wrong(text, part))?;
            let glob = || NameGlob::parse(value).map(Some).map_err(|e| e.to_string());
            match key {
                "machine" => of.machine = glob()?,
                "library" => of.library = glob()?,
                "since" => of.since = Some(day(value)?),
                "until" => of.until = Some(day(value)?),
                "record" => of.record = Some(value.to_lowercase()),
                _ => return Err(wrong(text, part)),
            }
        }
        Ok(of)
    }
}

fn wrong(text: &str, part: &str) -> String {
    let in_it = if text == part { String::new() } else { format!(" in '{text}'") };
    format!(
        "'{part}'{in_it}: write machine=GLOB, library=GLOB, since=DAY, until=DAY or record=SHA256, with commas between"
    )
}

impl Selection {
    pub(crate) fn takes(&self, r: &Listed) -> bool {
        self.machine.as_ref().is_none_or(|g| g.matches(&r.machine))
            && self.since.is_none_or(|since| r.started >= since)
            && self.until.is_none_or(|until| r.started < until)
            && self.record.as_ref().is_none_or(|prefix| r.sha256.starts_with(prefix))
    }

    /// Whether a library is meant: all are, where none is named.
    pub fn takes_library(&self, id: &LibraryId) -> bool {
        self.library.as_ref().is_none_or(|g| g.matches_library(&id.name, &id.version))
    }
}

impl Archive {
    /// The records in which a library of the selection was measured.
    pub(crate) fn having(&mut self, of: &Selection) -> Result<BTreeSet<i64>, ArchiveError> {
        let libraries = self.libraries(&|id| of.takes_library(id))?;
        let mut found = BTreeSet::new();
        for library in libraries {
            let rows =
                self.rows("SELECT record FROM uses WHERE library = $1", &[library.into()])?;
            for row in &rows {
                found.insert(row.int(0).map_err(self.damaged())?);
            }
        }
        Ok(found)
    }
}

/// A day, `YYYY-MM-DD`, or a time, RFC 3339, as seconds since 1970.
pub fn day(text: &str) -> Result<i64, String> {
    if let Some(seconds) = seconds(text) {
        return Ok(seconds);
    }
    let date: Result<jiff::civil::Date, _> = text.parse();
    let midnight = date.ok().and_then(|d| d.to_zoned(jiff::tz::TimeZone::UTC).ok());
    midnight.map(|z| z.timestamp().as_second()).ok_or_else(|| {
        format!("'{text}': write a day as in 2026-11-25, or a time as in 2026-11-25T04:00:00Z")
    })
}

/// A time, RFC 3339, as seconds since 1970.
pub fn seconds(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(|t| t.as_second())
}

// Whether an archive is whole: every record there, as it was added, and every figure the record's own.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A record or its figures are not what was added.
    Damaged {
        /// Its SHA-256.
        sha256: String,
        what: String,
    },
    /// A file that no record names: what a killed program left. It does no harm.
    Leftover(PathBuf),
}

impl Problem {
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { sha256, what } => write!(f, "record {sha256}: {what}"),
            Self::Leftover(path) => write!(f, "'{}' belongs to no record", path.display()),
        }
    }
}

type Read<'a> = &'a dyn Fn(&[u8]) -> Result<Record, String>;

impl Archive {
    /// Reads every record and compares it with its rows. `read` reads a record's text; `each` is told of every record
    /// as it is done.
    pub fn check(
        &mut self,
        read: Read<'_>,
        each: &mut dyn FnMut(&Listed),
    ) -> Result<Vec<Problem>, ArchiveError> {
        let all = self.list(&Selection::default(), true)?;
        let mut problems = Vec::new();
        for listed in &all {
            if let Err(what) = self.check_record(listed, read) {
                problems.push(Problem::Damaged { sha256: listed.sha256.clone(), what });
            }
            each(listed);
        }
        let files = self.objects.files().map_err(|e| self.troubled(e))?;
        let is_named = |name: &String| all.iter().any(|l| l.sha256 == *name);
        let left = files.into_iter().filter(|(name, _)| !is_named(name));
        problems.extend(left.map(|(_, path)| Problem::Leftover(path)));
        Ok(problems)
    }

    fn check_record(&mut self, listed: &Listed, read: Read<'_>) -> Result<(), String> {
        let record = {
            let packed = self.object(&listed.sha256).map_err(|_| "its file is lost".to_owned())?;
            let text =
                unpack(&packed).map_err(|why| format!("its file cannot be unpacked: {why}"))?;
            if hex::encode(Sha256::digest(&text)) != listed.sha256 {
                return Err("its file is not what was added".to_owned());
            }
            read(&text)?
        };
        let kept = self.load(listed, &Chosen::default()).map_err(|e| e.to_string())?;
        same(&record, &kept)
    }
}

fn by_case(record: &Record) -> BTreeMap<impl Ord, &Measurement> {
    let all = record.measurements.iter().map(|m| {
        let Measurement { library, algorithm, setting, .. } = m;
        let what = (m.direction, m.model, m.model_version, m.size, m.tier);
        ((library, algorithm, setting, what, (m.threads, m.footprint, m.in_place)), m)
    });
    all.collect()
}

/// Whether all cases are in the rows, with the figures that the record's samples come to.
fn same(record: &Record, kept: &Record) -> Result<(), String> {
    let (own, rows) = (by_case(record), by_case(kept));
    if own.len() != rows.len() {
        return Err(format!("it has {} cases, and {} rows", own.len(), rows.len()));
    }
    for (key, m) in &own {
        let row = rows.get(key).ok_or_else(|| format!("a case of {} has no row", m.algorithm))?;
        let is_same = m.state == row.state
            && (m.state == State::Unsupported || m.reason == row.reason)
            && m.ns_per_op.map(|e| e.median) == row.ns_per_op.map(|e| e.median)
            && same_costs(ProcessCosts::of(record, m).as_ref(), row.costs.as_ref());
        if !is_same {
            return Err(format!(
                "the row of {} at {} bytes is not the record's",
                m.algorithm, m.size
            ));
        }
    }
    Ok(())
}

fn same_costs(own: Option<&ProcessCosts>, row: Option<&ProcessCosts>) -> bool {
    let near = |a: &Vec<f64>, b: &Vec<f64>| {
        let is_near = |(a, b): (&f64, &f64)| a == b || (a / b - 1.0).abs() < 1e-6;
        a.len() == b.len() && a.iter().zip(b).all(is_near)
    };
    match (own, row) {
        (Some(a), Some(b)) => near(&a.ns, &b.ns) && near(&a.cycles, &b.cycles),
        (None, None) => true,
        _ => false,
    }
}

// Why an archive cannot do what it was asked for, on one line.

/// Why an archive cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("there is no archive '{0}': `ciphermark archive add {0} RECORD` creates one")]
    Absent(String),
    #[error(
        "'{0}' is no ciphermark archive; `ciphermark archive add STORE RECORD` makes one of records"
    )]
    Other(String),
    #[error(
        "archive '{store}' has version {found}; this program knows {known}: use a newer ciphermark"
    )]
    Newer {
        store: String,
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// A build before the first release wrote it.
    #[error(
        "archive '{0}' is of a build before the first release: add the records in '{0}.objects' to a new one"
    )]
    Unreleased(String),
    #[error(
        "'{0}': this build has no PostgreSQL; packages have it, and so has `cargo build --features postgres`"
    )]
    NoPostgres(String),
    /// This build lacks the other.
    #[error("'{0}': `make bench` builds no archives; `make build` does, and packages have them")]
    NoSqlite(String),
    #[error("archive '{store}': {why}")]
    Database {
        /// Which archive, without a password.
        store: String,
        why: String,
    },
    /// What is stored cannot be what was stored.
    #[error("archive '{store}' is damaged: {what}; `ciphermark archive check` lists all")]
    Damaged { store: String, what: String },
    /// A record's file beside the database cannot be read or written.
    #[error("cannot use '{path}': {source}")]
    Object { path: PathBuf, source: io::Error },
    /// No record, or several, are meant.
    #[error("{0}")]
    Selection(String),
}

#[cfg(test)]
mod select_tests {
    use crate::archive::*;

    #[test]
    fn a_selection_is_read_as_it_is_written() {
        let of: Selection = "library=openssl@3*,since=2026-11-01".parse().unwrap();
        assert_eq!(of.since, Some(1_793_491_200));
        assert!(of.library.is_some() && of.machine.is_none());
        let why = "date=2026".parse::<Selection>().unwrap_err();
        assert!(why.starts_with("'date=2026': write machine=GLOB"), "{why}");
        assert!("since=yesterday".parse::<Selection>().unwrap_err().contains("2026-11-25"));
    }

    #[test]
    fn a_time_is_one_of_the_day() {
        assert_eq!(day("2026-11-25").unwrap() + 4 * 3600, day("2026-11-25T04:00:00Z").unwrap());
    }
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
