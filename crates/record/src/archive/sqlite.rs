//! SQLite: a file.

use crate::archive::database::{Answer, Database, Row, Table, Value};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a writer waits for another one, and how long a statement may take: many times what the largest record takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// Steps of a statement after which the time is looked at: a millisecond's.
const STEPS: i32 = 100_000;
/// Most bytes of a field: what is longer is in files.
const MOST_FIELD_BYTES: i32 = 64 << 20;
/// Most bytes of memory that SQLite takes, its cache among them.
const MOST_MEMORY: u64 = 512 << 20;
/// Tells an archive from other SQLite files: `cmrk`.
const APPLICATION: i64 = 0x636d_726b;

pub(crate) struct Sqlite {
    connection: Connection,
    clock: Clock,
}

/// When a statement began, in milliseconds, for the handler that ends it.
struct Clock {
    zero: Instant,
    began: Arc<AtomicU64>,
}

impl Clock {
    fn now(zero: Instant) -> u64 {
        zero.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
    }

    fn start(&self) {
        self.began.store(Self::now(self.zero), Ordering::Relaxed);
    }

    /// Ends each statement of a connection that takes longer.
    fn of(connection: &Connection, patience: Duration) -> Self {
        let (zero, began) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let since = Arc::clone(&began);
        let is_late = move || {
            u128::from(Self::now(zero).saturating_sub(since.load(Ordering::Relaxed)))
                > patience.as_millis()
        };
        connection.progress_handler(STEPS, Some(is_late));
        Self { zero, began }
    }
}

impl Sqlite {
    /// Opens a file, or creates it; `None` if it is something else. Nothing is changed in what is no archive.
    pub(crate) fn open(path: &Path, create: bool) -> Result<Option<Self>, String> {
        Self::with(path, create, PATIENCE)
    }

    fn with(path: &Path, create: bool, patience: Duration) -> Result<Option<Self>, String> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
        let connection = Connection::open_with_flags(path, flags).map_err(words)?;
        connection.busy_timeout(patience).map_err(words)?;
        let clock = Clock::of(&connection, patience);
        less_power(&connection).map_err(words)?;
        connection.set_prepared_statement_cache_capacity(64);
        let of = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let is_new = match (of("application_id"), of("schema_version")) {
            (Ok(APPLICATION), Ok(_)) => false,
            (Ok(0), Ok(0)) => true,
            (Ok(_), Ok(_)) => return Ok(None),
            (Err(error), _) | (_, Err(error)) => {
                let is_other = error.sqlite_error_code() == Some(ErrorCode::NotADatabase);
                return if is_other { Ok(None) } else { Err(words(error)) };
            }
        };
        if is_new {
            let set = format!("PRAGMA page_size=8192; PRAGMA application_id={APPLICATION}");
            connection.execute_batch(&set).map_err(words)?;
        }
        // Readers go on while one writes; a commit is on the disk before it is said to be done.
        let set = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; \
                   PRAGMA cache_size=-65536; PRAGMA mmap_size=1073741824;";
        connection.execute_batch(set).map_err(words)?;
        Ok(Some(Self { connection, clock }))
    }

    fn connection(&self) -> &Connection {
        self.clock.start();
        &self.connection
    }
}

/// The file may be a stranger's: no views and triggers, whose queries would be the stranger's, and bounds on memory.
fn less_power(connection: &Connection) -> rusqlite::Result<()> {
    for off in [
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    ] {
        connection.set_db_config(off, false)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_FIELD_BYTES)?;
    connection.execute_batch(&format!("PRAGMA hard_heap_limit={MOST_MEMORY}"))
}

fn words(error: rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            format!("it did not answer within {} s", PATIENCE.as_secs())
        }
        Some(ErrorCode::DatabaseBusy) => {
            format!("other programs have been writing to it for {} s", PATIENCE.as_secs())
        }
        Some(ErrorCode::TooBig) => {
            format!("it has a field of more than {} MiB", MOST_FIELD_BYTES >> 20)
        }
        Some(ErrorCode::OutOfMemory) => {
            format!("it needs more than {} MiB of memory", MOST_MEMORY >> 20)
        }
        _ => error.to_string(),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(of: ValueRef<'_>) -> Value {
    match of {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

impl Database for Sqlite {
    fn batch(&mut self, sql: &str) -> Result<(), String> {
        self.connection().execute_batch(sql).map_err(words)
    }

    fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64, String> {
        let mut statement = self.connection().prepare_cached(sql).map_err(words)?;
        statement.execute(params_from_iter(values)).map(|n| n as u64).map_err(words)
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String> {
        let mut statement = self.connection().prepare_cached(sql).map_err(words)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values)).map_err(words)?;
        let mut answer = Answer::default();
        while let Some(row) = rows.next().map_err(words)? {
            answer.row((0..columns).map(|i| row.get_ref(i).map(value).map_err(words)))?;
        }
        Ok(answer.rows)
    }

    fn insert(
        &mut self,
        (table, columns): Table<'_>,
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), String> {
        let marks: Vec<String> = (1..=columns.len()).map(|i| format!("?{i}")).collect();
        let sql =
            format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(","), marks.join(","));
        let mut statement = self.connection().prepare_cached(&sql).map_err(words)?;
        for row in rows {
            self.clock.start();
            statement.execute(params_from_iter(row)).map_err(words)?;
        }
        Ok(())
    }

    fn begin_writing(&mut self) -> Result<(), String> {
        self.batch("BEGIN IMMEDIATE")
    }

    fn begin_reading(&mut self) -> Result<(), String> {
        self.batch("BEGIN")
    }

    fn has_table(&mut self, name: &str) -> Result<bool, String> {
        let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1";
        Ok(!self.rows(sql, &[name.into()])?.is_empty())
    }

    fn dialect(&self, sql: &str) -> String {
        // Only under this name a key is the row's own number.
        sql.replace("/*without rowid*/", "WITHOUT ROWID")
            .replace("--sqlite ", "")
            .replace("BIGINT PRIMARY KEY", "INTEGER PRIMARY KEY")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::text::fixtures::says;

    fn store(sql: &str, patience: Duration) -> (tempfile::TempDir, Sqlite) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        let stranger = Connection::open(&path).unwrap();
        stranger.execute_batch(&format!("PRAGMA application_id={APPLICATION}; {sql}")).unwrap();
        let opened = Sqlite::with(&path, false, patience).unwrap().unwrap();
        (directory, opened)
    }

    const LONG: Duration = Duration::from_secs(3600);
    const ENDLESS: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c)";

    #[test]
    fn a_query_without_end_is_ended_and_the_next_one_has_its_own_time() {
        let (_kept, mut db) = store("CREATE TABLE t (x)", Duration::from_millis(300));
        for _ in 0..2 {
            let why = db.rows(&format!("{ENDLESS} SELECT max(x) FROM c"), &[]).unwrap_err();
            assert_eq!(why, "it did not answer within 120 s");
            assert_eq!(db.rows("SELECT 1", &[]).unwrap().len(), 1);
        }
    }

    #[test]
    #[ignore = "long: seconds"]
    fn an_answer_of_rows_without_end_or_of_fields_without_measure_is_refused() {
        let (_kept, mut db) = store("CREATE TABLE t (x)", LONG);
        let why = db.rows(&format!("{ENDLESS} SELECT x FROM c"), &[]).unwrap_err();
        says(&why, ["more than 262144 rows"]);
        let why = db.rows("SELECT zeroblob(100000000)", &[]).unwrap_err();
        says(&why, ["a field of more than 64 MiB"]);
        let many = format!("{ENDLESS} SELECT zeroblob(10000000) FROM c");
        says(db.rows(&many, &[]).unwrap_err(), ["more than 256 MiB"]);
        let sorted = format!("{ENDLESS} SELECT randomblob(1000000) AS b FROM c ORDER BY b");
        says(db.rows(&sorted, &[]).unwrap_err(), ["it needs more than 512 MiB of memory"]);
    }

    #[test]
    fn a_view_in_the_place_of_a_table_and_a_trigger_do_not_run() {
        let sql = "CREATE TABLE t (x); CREATE TABLE u (x); CREATE VIEW v AS SELECT 1 AS x; \
                   CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO u VALUES (1); END";
        let (_kept, mut db) = store(sql, LONG);
        assert!(!db.has_table("v").unwrap());
        says(db.rows("SELECT x FROM v", &[]).unwrap_err(), ["prohibited"]);
        db.run("INSERT INTO t VALUES (1)", &[]).unwrap();
        assert!(db.rows("SELECT x FROM u", &[]).unwrap().is_empty());
    }
}
