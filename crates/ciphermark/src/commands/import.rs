//! `ciphermark import`: figures from elsewhere, marked as imported and unverified.

use crate::args_import::{ImportArgs, ImportTo, ImportWhat, SpeedArgs, TableArgs};
use crate::error::{Exit, Failure};
use crate::screen;
use import::{Row, SpeedSource};
use model::Tier;
use record::{Imported, Record};
use std::io::Read as _;
use std::path::Path;

/// More than any program prints or anybody publishes in one table.
const MOST_BYTES: u64 = 64 << 20;

/// Reads the figures and writes or prints the record with them.
pub fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    match &args.what {
        ImportWhat::OpensslSpeed(args) => {
            let (rows, from) = speed(args)?;
            deliver(&rows, &from, &args.to)
        }
        ImportWhat::Table(args) => {
            let (rows, from) = table(args)?;
            deliver(&rows, &from, &args.to)
        }
    }
}

fn speed(args: &SpeedArgs) -> Result<(Vec<Row>, Imported), Failure> {
    let source = SpeedSource {
        library: args.library.clone(),
        version: args.library_version.clone(),
        decrypt: args.decrypt,
        tier: Tier::from(args.tier),
    };
    let rows = import::rows_of_speed(&read(&args.file)?, &source)
        .map_err(|e| unreadable(&args.file, &e))?;
    let from = Imported {
        source: format!("what openssl speed printed, {}", shown(&args.file)),
        machine: args.machine.clone(),
    };
    Ok((rows, from))
}

fn table(args: &TableArgs) -> Result<(Vec<Row>, Imported), Failure> {
    let mut table =
        import::parse_table(&read(&args.file)?).map_err(|e| unreadable(&args.file, &e))?;
    let size = match args.size.as_deref().map(model::parse_sizes) {
        None => None,
        Some(Ok(sizes)) if sizes.len() == 1 => Some(sizes[0]),
        Some(Ok(_)) => return Err(Failure::usage("--size: one size for the rows without one")),
        Some(Err(e)) => return Err(Failure::usage(e)),
    };
    for row in table.rows.iter_mut().filter(|row| row.size.is_none()) {
        row.size = size;
    }
    let without = table.rows.iter().filter(|row| row.size.is_none()).count();
    if without > 0 {
        return Err(Failure::usage(format!(
            "{}: {without} of {} rows have no size, because their source does not say it: give it with --size",
            shown(&args.file),
            table.rows.len()
        )));
    }
    Ok((table.rows, table.from))
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |e: std::io::Error| Failure::usage(format!("cannot read {}: {e}", shown(path)));
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::usage(format!("{} has more than 64 MiB", shown(path))));
    }
    String::from_utf8(bytes).map_err(|e| {
        let byte = e.utf8_error().valid_up_to();
        Failure::usage(format!("{} is not text (byte {byte} is not UTF-8)", shown(path)))
    })
}

fn unreadable(path: &Path, why: &impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {why}", shown(path)))
}

fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        format!("'{}'", path.display())
    }
}

fn deliver(rows: &[Row], from: &Imported, to: &ImportTo) -> Result<Exit, Failure> {
    let started = jiff::Timestamp::now().to_string();
    let imported = import::record(rows, from, &started, std::env::args().collect());
    let record: Record = match &to.beside {
        Some(path) => import::beside(record::load(path).map_err(Failure::usage)?, imported),
        None => imported,
    };
    let Some(path) = &to.output else {
        let rows: Vec<_> = record.measurements.iter().collect();
        screen::print_record(&record, &rows, to.format, None)?;
        return Ok(Exit::Done);
    };
    if path.exists() && record::load(path).is_err() {
        return Err(Failure::usage(format!(
            "'{}' exists and is no ciphermark record: not overwritten",
            path.display()
        )));
    }
    record::save(&record, path).map_err(Failure::not_done)?;
    Ok(Exit::Done)
}
