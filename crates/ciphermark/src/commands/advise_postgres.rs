//! `ciphermark advise --for postgres --from`: what encryption would take of a running server.

use super::advise::{evidence, prices, question};
use super::no_password;
use crate::args_advise::{AdviseArgs, UseArg};
use crate::error::{Exit, Failure};
use crate::screen;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use judge::advise::Data;
use judge::advise::postgres::{LEAST_SECONDS, QUERY, QUERY_IO, Snapshot, Work};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time between two snapshots that nobody chose.
const INTERVAL: Duration = Duration::from_secs(60);

/// The first version with `pg_stat_io`.
const WITH_IO: u32 = 160_000;

/// Most bytes of a snapshot: a server may be anybody's.
const MOST_BYTES: u64 = 64 << 20;

/// How long a server may take for a query.
const PATIENCE: Duration = Duration::from_secs(60);

/// Prints the prediction.
pub fn predict(args: &AdviseArgs, from: &str) -> Result<Exit, Failure> {
    no_password(from, "--from")?;
    if !matches!(args.used, UseArg::Postgres) {
        return Err(Failure::usage("--from is for --for postgres only"));
    }
    let (first, last) = match files(from)? {
        Some(files) => files,
        None => watched(from, args)?,
    };
    let work = Work::between(&first, &last)
        .map_err(|why| Failure::usage(format!("--from '{from}': {why}")))?;
    let data = Data::built_in();
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut question = question(&data, args, today)?;
    if args.size.is_none() {
        question.size = work.block_size;
    }
    let encrypted = work.rate(work.encrypted()).median;
    if args.writes_per_second.is_none() && encrypted > 0.0 {
        question.wishes.writes_per_second = encrypted;
    }
    let (kept, origin) = prices(&data, &mut question, args)?;
    let (evidence, around) = evidence(&kept, today);
    let prediction = judge::advise::postgres::predict(&data, &question, evidence, &around, work);
    if prediction.rows.is_empty() {
        return Err(Failure::usage(format!("{origin} prices no scheme in these libraries")));
    }
    screen::print(|options| {
        judge::advise::postgres::render(&prediction, &origin, args.format, options)
    })?;
    Ok(Exit::Done)
}

/// Two snapshots, if that is what was typed; else it is a connection string.
fn files(from: &str) -> Result<Option<(Snapshot, Snapshot)>, Failure> {
    let is_address = from.starts_with("postgres://") || from.starts_with("postgresql://");
    let two = from.split_once(',').filter(|(a, b)| {
        !is_address && (!from.contains('=') || (Path::new(a).exists() && Path::new(b).exists()))
    });
    if let Some((first, last)) = two {
        return Ok(Some((read(first)?, read(last)?)));
    }
    if is_address || from.contains('=') {
        return Ok(None);
    }
    let from = base::text::masked(from);
    Err(Failure::usage(format!(
        "--from '{from}': a connection string ('host=… dbname=…' or postgresql://…), or two snapshots FIRST,SECOND"
    )))
}

fn read(path: &str) -> Result<Snapshot, Failure> {
    let text = record::load_text(Path::new(path)).map_err(Failure::usage)?;
    Snapshot::parse(&text, path).map_err(Failure::usage)
}

/// Two snapshots of a server, taken now.
fn watched(connection: &str, args: &AdviseArgs) -> Result<(Snapshot, Snapshot), Failure> {
    let interval = args.postgres.interval.unwrap_or(INTERVAL);
    if interval.as_secs_f64() < LEAST_SECONDS {
        return Err(Failure::usage(format!(
            "--interval {:.1}s: sessions report once a second, so {LEAST_SECONDS:.0}s at least",
            interval.as_secs_f64()
        )));
    }
    let version = psql(connection, "SHOW server_version_num")?;
    let version: u32 = version.trim().parse().map_err(|_| {
        Failure::not_done(format!("--from '{connection}': psql printed no version: {version}"))
    })?;
    let query = if version >= WITH_IO { QUERY_IO } else { QUERY };
    let take = || Snapshot::parse(&psql(connection, query)?, connection).map_err(Failure::not_done);
    let first = take()?;
    if !args.quiet {
        anstream::eprintln!("ciphermark: watching the server for {:.0} s", interval.as_secs_f64());
    }
    // A little longer than asked: the server's clock decides.
    std::thread::sleep(interval + Duration::from_millis(50));
    Ok((first, take()?))
}

/// What psql prints of one query. It never asks for a password: ~/.pgpass and PGPASSWORD serve.
fn psql(connection: &str, query: &str) -> Result<String, Failure> {
    let mut command = Command::new("psql");
    command
        .args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--no-password"])
        .args(["--dbname", connection, "--command", query])
        .env("PGCONNECT_TIMEOUT", "10");
    let done = host::output(&mut command, &[], PATIENCE, MOST_BYTES);
    let done = done.map_err(|e| {
        Failure::not_done(match e.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no psql here: install postgresql-client, or take two snapshots on the server (docs/AT-REST.md)".to_owned()
            }
            _ => format!("--from '{connection}': psql: {e}"),
        })
    })?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().next().unwrap_or("psql failed and said nothing");
    Err(Failure::not_done(format!("--from '{connection}': {first}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_told_from_pairs_of_files() {
        let is_connection = |from| files(from).map(|f| f.is_none()).unwrap_or(false);
        for from in ["host=a,b dbname=x", "dbname=x", "postgresql:///x", "postgres://a,b/x"] {
            assert!(is_connection(from), "{from}");
        }
        for (from, said) in
            [("x", "two snapshots"), ("/no/a,/no/b", "/no/a"), ("", "two snapshots")]
        {
            let failure = files(from).unwrap_err();
            assert!(failure.message.contains(said), "{from}: {}", failure.message);
        }
    }
}
