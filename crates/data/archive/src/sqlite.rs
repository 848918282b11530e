//! SQLite: a file.

use crate::database::{Database, Row, Table, Value};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::path::Path;
use std::time::Duration;

/// How long a writer waits for another one: many times what the largest record takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// Tells an archive from other SQLite files: `cmrk`.
const APPLICATION: i64 = 0x636d_726b;

pub(crate) struct Sqlite(Connection);

impl Sqlite {
    /// Opens a file, or creates it; `None` if it is something else. Nothing is changed in what is no archive.
    pub(crate) fn open(path: &Path, create: bool) -> Result<Option<Self>, String> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
        let connection = Connection::open_with_flags(path, flags).map_err(words)?;
        connection.busy_timeout(PATIENCE).map_err(words)?;
        connection.set_prepared_statement_cache_capacity(64);
        let of = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let is_new = match (of("application_id"), of("schema_version")) {
            (Ok(APPLICATION), Ok(_)) => false,
            (Ok(0), Ok(0)) => true,
            (Ok(_), Ok(_)) => return Ok(None),
            (Err(error), _) | (_, Err(error)) => {
                let is_other = error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase);
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
        Ok(Some(Self(connection)))
    }
}

fn words(error: rusqlite::Error) -> String {
    error.to_string()
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
        self.0.execute_batch(sql).map_err(words)
    }

    fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64, String> {
        let mut statement = self.0.prepare_cached(sql).map_err(words)?;
        statement.execute(params_from_iter(values)).map(|n| n as u64).map_err(words)
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String> {
        let mut statement = self.0.prepare_cached(sql).map_err(words)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values)).map_err(words)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(words)? {
            let fields = (0..columns).map(|i| row.get_ref(i).map(value));
            found.push(Row(fields.collect::<Result<_, _>>().map_err(words)?));
        }
        Ok(found)
    }

    fn insert(
        &mut self,
        (table, columns): Table<'_>,
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), String> {
        let marks: Vec<String> = (1..=columns.len()).map(|i| format!("?{i}")).collect();
        let sql =
            format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(","), marks.join(","));
        let mut statement = self.0.prepare_cached(&sql).map_err(words)?;
        for row in rows {
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
            .replace("BIGINT PRIMARY KEY", "INTEGER PRIMARY KEY")
    }
}
