//! PostgreSQL: a server, for teams.

use crate::archive::database::{Answer, Database, Row, Table, Value};
use ::postgres::binary_copy::BinaryCopyInWriter;
use ::postgres::config::Host;
use ::postgres::error::SqlState;
use ::postgres::fallible_iterator::FallibleIterator as _;
use ::postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use ::postgres::{Client, Config, NoTls, Statement};
use std::collections::HashMap;
use std::error::Error;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Writers of archives wait for each other by this number (an advisory lock).
const WRITERS: i64 = 0x636d_726b;

/// How long a server may take until it has answered for the first time.
const TO_CONNECT: Duration = Duration::from_secs(30);
/// How long it may take for any other answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The planner takes a search for some rows of each record for millions of rows, and compiles it anew each time, for 40 ms.
const INTERPRETED: &str =
    "SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'";

/// A connection in a thread of its own: the library waits for a server without end.
pub(crate) struct Postgres {
    jobs: Sender<Job>,
    patience: Duration,
    is_lost: bool,
}

type Job = Box<dyn FnOnce(&mut Session) + Send>;

struct Session {
    client: Client,
    prepared: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects to a server: `postgres://…`, as libpq writes it. Without TLS: over a network, use a tunnel or a socket.
    pub(crate) fn connect(address: &str) -> Result<Self, String> {
        let mut config: Config = address.parse().map_err(words)?;
        if config.get_password().is_none()
            && let Some(password) = password(&config)
        {
            config.password(password);
        }
        Self::of(config, TO_CONNECT, PATIENCE)
    }

    fn of(config: Config, to_connect: Duration, patience: Duration) -> Result<Self, String> {
        let (jobs, next) = channel::<Job>();
        let (send, connected) = channel();
        std::thread::spawn(move || {
            let set = format!("{INTERPRETED}; SET statement_timeout = {}", patience.as_millis());
            let client = config.connect(NoTls).and_then(|mut client| {
                client.batch_execute(&set)?;
                Ok(client)
            });
            // Nobody waits any more where the time is over.
            match client {
                Ok(client) if send.send(Ok(())).is_ok() => {
                    let mut session = Session { client, prepared: HashMap::new() };
                    next.into_iter().for_each(|job| job(&mut session));
                }
                Ok(_) => {}
                Err(error) => drop(send.send(Err(words(error)))),
            }
        });
        connected.recv_timeout(to_connect).map_err(|_| too_late(to_connect))??;
        Ok(Self { jobs, patience, is_lost: false })
    }

    fn ask<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (send, done) = channel();
        let job: Job = Box::new(move |session| drop(send.send(work(session))));
        // Whatever comes after an answer that did not would wait behind it.
        if self.is_lost || self.jobs.send(job).is_err() {
            return Err("its connection is lost".to_owned());
        }
        done.recv_timeout(self.patience).unwrap_or_else(|_| {
            self.is_lost = true;
            Err(too_late(self.patience))
        })
    }
}

fn too_late(patience: Duration) -> String {
    format!("it did not answer within {} s", patience.as_secs_f64())
}

impl Session {
    fn statement(&mut self, sql: &str) -> Result<Statement, String> {
        if let Some(known) = self.prepared.get(sql) {
            return Ok(known.clone());
        }
        let prepared = self.client.prepare(sql).map_err(words)?;
        self.prepared.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }

    fn insert(&mut self, table: &str, columns: &str, rows: Vec<Vec<Value>>) -> Result<(), String> {
        let of = self.statement(&format!("SELECT {columns} FROM {table}"))?;
        let types: Vec<Type> = of.columns().iter().map(|c| c.type_().clone()).collect();
        let copy = format!("COPY {table} ({columns}) FROM STDIN BINARY");
        let copy = self.client.copy_in(&copy).map_err(words)?;
        let mut writer = BinaryCopyInWriter::new(copy, &types);
        for row in rows {
            writer.write_raw(row).map_err(words)?;
        }
        writer.finish().map(drop).map_err(words)
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String> {
        let statement = self.statement(sql)?;
        let mut rows = self.client.query_raw(&statement, values).map_err(words)?;
        let mut answer = Answer::default();
        while let Some(row) = rows.next().map_err(words)? {
            answer.row((0..row.len()).map(|i| row.try_get(i).map_err(words)))?;
        }
        Ok(answer.rows)
    }
}

/// As libpq has it: of the environment, else of the password file, which must be nobody else's to read.
fn password(config: &Config) -> Option<Vec<u8>> {
    if let Some(password) = std::env::var_os("PGPASSWORD") {
        return Some(password.into_vec());
    }
    let file = std::env::var_os("PGPASSFILE")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pgpass")))?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o077 != 0 {
        return None;
    }
    let lines = std::fs::read_to_string(file).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    lines.lines().find_map(|line| of_line(line, [&host, &port, database, user])).map(Vec::from)
}

/// `host:port:database:user:password` (libpq, "The Password File"), where `*` is any and a backslash hides a colon.
fn of_line(line: &str, wanted: [&str; 4]) -> Option<String> {
    let (mut fields, mut hidden) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            _ if std::mem::take(&mut hidden) => fields.last_mut()?.push(c),
            '\\' => hidden = true,
            ':' if fields.len() < 5 => fields.push(String::new()),
            _ => fields.last_mut()?.push(c),
        }
    }
    let password = fields.pop().filter(|_| fields.len() == 4 && !line.starts_with('#'))?;
    let fits = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
    fields.iter().zip(wanted).all(fits).then_some(password)
}

/// The server's own message, where it is one.
fn words(error: ::postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) if *said.code() == SqlState::QUERY_CANCELED => too_late(PATIENCE),
        Some(said) => said.message().to_owned(),
        None => match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut ::postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) if *of == Type::INT2 => i16::try_from(*value)?.to_sql(of, out),
            Self::Int(value) if *of == Type::INT4 => i32::try_from(*value)?.to_sql(of, out),
            Self::Int(value) => value.to_sql(of, out),
            Self::Real(value) => value.to_sql(of, out),
            Self::Text(text) => text.to_sql(of, out),
            Self::Bytes(bytes) => bytes.to_sql(of, out),
        }
    }

    fn accepts(of: &Type) -> bool {
        is_known(of)
    }

    to_sql_checked!();
}

fn is_known(of: &Type) -> bool {
    [Type::INT2, Type::INT4, Type::INT8, Type::FLOAT8, Type::TEXT, Type::BYTEA].contains(of)
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *of {
            Type::INT2 => Self::Int(i16::from_sql(of, raw)?.into()),
            Type::INT4 => Self::Int(i32::from_sql(of, raw)?.into()),
            Type::INT8 => Self::Int(i64::from_sql(of, raw)?),
            Type::FLOAT8 => Self::Real(f64::from_sql(of, raw)?),
            Type::BYTEA => Self::Bytes(<&[u8]>::from_sql(of, raw)?.to_vec()),
            _ => Self::Text(String::from_sql(of, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(of: &Type) -> bool {
        is_known(of)
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl Database for Postgres {
    fn batch(&mut self, sql: &str) -> Result<(), String> {
        let sql = sql.to_owned();
        self.ask(move |session| session.client.batch_execute(&sql).map_err(words))
    }

    fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64, String> {
        let (sql, values) = (sql.to_owned(), values.to_vec());
        self.ask(move |session| {
            let statement = session.statement(&sql)?;
            session.client.execute(&statement, &parameters(&values)).map_err(words)
        })
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String> {
        let (sql, values) = (sql.to_owned(), values.to_vec());
        self.ask(move |session| session.rows(&sql, &values))
    }

    fn insert(
        &mut self,
        (table, columns): Table<'_>,
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), String> {
        let (table, columns, rows) = (table.to_owned(), columns.join(","), rows.collect());
        self.ask(move |session| session.insert(&table, &columns, rows))
    }

    fn begin_writing(&mut self) -> Result<(), String> {
        self.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({WRITERS})"))
    }

    fn begin_reading(&mut self) -> Result<(), String> {
        self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    fn has_table(&mut self, name: &str) -> Result<bool, String> {
        Ok(!self
            .rows("SELECT 1::INT8 WHERE to_regclass($1) IS NOT NULL", &[name.into()])?
            .is_empty())
    }

    fn dialect(&self, sql: &str) -> String {
        sql.replace("/*without rowid*/", "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    /// A server that lets a client in, answers its first query, and nothing after that.
    fn silent_server() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            // AuthenticationOk, ReadyForQuery ("Message Formats").
            stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            // CommandComplete, ReadyForQuery.
            stream.write_all(b"C\0\0\0\x08SET\0Z\0\0\0\x05I").unwrap();
            std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
        });
        port
    }

    #[test]
    fn a_server_that_does_not_answer_a_query_is_left_after_a_time_and_not_asked_again() {
        let address = format!("postgres://me@127.0.0.1:{}/x", silent_server());
        let (long, short) = (Duration::from_secs(60), Duration::from_millis(200));
        let mut db = Postgres::of(address.parse().unwrap(), long, short).map_err(drop).unwrap();
        assert_eq!(db.batch("SELECT 1").unwrap_err(), "it did not answer within 0.2 s");
        assert_eq!(db.roll_back().unwrap_err(), "its connection is lost");
    }

    #[test]
    fn a_line_of_the_password_file_is_for_its_server_alone() {
        let wanted = ["db.example", "5432", "fleet", "me"];
        let of = |line| of_line(line, wanted);
        assert_eq!(of("db.example:5432:fleet:me:secret").as_deref(), Some("secret"));
        assert_eq!(of("*:*:*:me:se:c\\\\ret").as_deref(), Some("se:c\\ret"));
        for line in
            ["", "# db.example", "other:5432:fleet:me:secret", "*:*:*:secret", "#*:*:*:*:secret"]
        {
            assert_eq!(of(line), None, "{line}");
        }
        assert_eq!(of_line("a\\:b:*:*:*:secret", ["a:b", "", "", ""]).as_deref(), Some("secret"));
    }
}
