//! Opening an archive and saying what is in it.

use crate::archive::database::{Database, Row, Value};
use crate::archive::keys;
use crate::archive::load::Words;
use crate::archive::objects::{Objects, Trouble, unpack_field};
use crate::archive::schema::{MIGRATIONS, Version, migrate, newest};
use crate::archive::{ArchiveError, Selection};
use serde::Serialize;
use std::path::PathBuf;

/// Whether a record's figures are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The owner of the archive vouches for it.
    Own,
    /// An allowed signer signed it.
    Signed,
    /// Nobody that is allowed signed it: left out unless asked for.
    Unsigned,
    /// A check found something: left out unless asked for.
    Doubtful,
}

impl Trust {
    /// In one word, as in the archive.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Signed => "signed",
            Self::Unsigned => "unsigned",
            Self::Doubtful => "doubtful",
        }
    }

    /// Whether answers count it without being asked to.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Self::Own | Self::Signed)
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Own, Self::Signed, Self::Unsigned, Self::Doubtful]
            .into_iter()
            .find(|t| t.name() == name)
    }
}

/// A record, as the archive lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    /// Its number in this archive.
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
    /// Who signed it.
    pub signer: Option<String>,
    /// What checks found, in sentences.
    pub doubts: Vec<String>,
    /// How many cases have a row: all that a library offered.
    pub cases: i64,
}

impl Listed {
    /// The day of the run, `YYYY-MM-DD`, in UTC.
    #[must_use]
    pub fn day(&self) -> String {
        let time = jiff::Timestamp::from_second(self.started).unwrap_or_default();
        time.strftime("%Y-%m-%d").to_string()
    }
}

/// The columns of [`Listed`].
const LISTED: &str = "SELECT r.id, r.sha256, m.name, r.region, r.cpu, r.kind, r.started, r.added, r.trust, r.signer, \
    r.doubts, r.cases FROM record r JOIN machine m ON m.id = r.machine";

/// An open archive.
pub struct Archive {
    pub(crate) name: String,
    pub(crate) db: Box<dyn Database>,
    pub(crate) objects: Objects,
    pub(crate) words: Option<Words>,
}

impl Archive {
    /// Opens an archive: a file, or `postgres://…`. With `create`, makes one where there is none.
    ///
    /// # Errors
    /// [`ArchiveError`], one line.
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
        match migrate(archive.db.as_mut(), migrations).map_err(archive.failed())? {
            Version::Known => Ok(archive),
            Version::Newer(found) => {
                let known = newest(migrations);
                Err(ArchiveError::Newer { store: archive.name, found, known })
            }
            Version::Unreleased => Err(ArchiveError::Unreleased(archive.name)),
        }
    }

    /// What it is called, without a password.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From now on all answers are of this moment, whatever others add.
    ///
    /// # Errors
    /// [`ArchiveError::Database`]
    pub fn hold(&mut self) -> Result<(), ArchiveError> {
        self.db.begin_reading().map_err(self.failed())
    }

    /// The records that a selection takes, by machine, then from the oldest to the newest. Without `doubtful`, only
    /// those whose figures are believed.
    ///
    /// # Errors
    /// [`ArchiveError`]
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

    /// What is kept to judge later records by: the newest of the same processor and of the same machine type,
    /// `most` of each, and all with the same samples.
    ///
    /// # Errors
    /// [`ArchiveError`]
    pub fn known(
        &mut self,
        (cpu, machine, samples): (&str, &str, Option<&str>),
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
        let mut rows = self.rows(&of_cpu, &[cpu.into()])?;
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
    ///
    /// # Errors
    /// [`ArchiveError`]
    pub fn remove(&mut self, record: &Listed) -> Result<(), ArchiveError> {
        self.writing(|archive| {
            let (first, next) = keys::of_record(record.id);
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

    /// The file of a record beside the database; none where the database itself keeps it.
    #[must_use]
    pub fn object_path(&self, sha256: &str) -> Option<PathBuf> {
        self.objects.path(sha256)
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
        trust: Trust::of(&trust).ok_or_else(|| format!("'{trust}' is no degree of trust"))?,
        signer: row.optional_text(9)?,
        doubts: serde_json::from_str(&row.text(10)?).map_err(|e| e.to_string())?,
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
    let opened = crate::archive::sqlite::Sqlite::open(path, create).map_err(failed)?;
    let db = opened.ok_or_else(|| ArchiveError::Other(store.to_owned()))?;
    Ok((Box::new(db), Objects::Directory(format!("{store}.objects").into())))
}

#[cfg(feature = "postgres")]
fn server(store: &str) -> Result<Opened, ArchiveError> {
    let failed = |why| ArchiveError::Database { store: base::text::masked(store), why };
    let db = crate::archive::postgres::Postgres::connect(store).map_err(failed)?;
    Ok((Box::new(db), Objects::Table))
}

#[cfg(not(feature = "postgres"))]
fn server(store: &str) -> Result<Opened, ArchiveError> {
    Err(ArchiveError::NoPostgres(base::text::masked(store)))
}
