//! `ciphermark import`: figures from elsewhere, marked as imported and unverified.

use crate::args_import::{ImportArgs, ImportTo, ImportWhat, SpeedArgs, TableArgs};
use crate::error::{Exit, Failure};
use crate::{files, screen};
use record::import::{Row, SpeedSource};
use record::{Imported, Record};
use std::collections::BTreeSet;
use std::path::Path;

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
        tier: args.tier,
    };
    let rows = record::import::rows_of_speed(&read(&args.file)?, &source)
        .map_err(|e| unreadable(&args.file, &e))?;
    let from = Imported {
        source: format!("what openssl speed printed, {}", shown(&args.file)),
        machine: args.machine.clone(),
    };
    Ok((rows, from))
}

fn table(args: &TableArgs) -> Result<(Vec<Row>, Imported), Failure> {
    let mut table =
        record::import::parse_table(&read(&args.file)?).map_err(|e| unreadable(&args.file, &e))?;
    for row in table.rows.iter_mut().filter(|row| row.size.is_none()) {
        row.size = args.size;
    }
    let without = table.rows.iter().filter(|row| row.size.is_none()).count();
    if without > 0 {
        return Err(Failure::usage(format!(
            "{}: {without} of {} rows have no size, because their source does not give it: add --size",
            shown(&args.file),
            table.rows.len()
        )));
    }
    Ok((table.rows, table.from))
}

fn read(path: &Path) -> Result<String, Failure> {
    files::text(path, &shown(path))
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
    let imported = record::shared(record::import::record(rows, from, &started, super::typed()));
    let record: Record = match &to.beside {
        Some(path) => record::import::beside(record::load(path).map_err(Failure::usage)?, imported),
        None => imported,
    };
    let Some(path) = &to.output else {
        let rows: Vec<_> = record.measurements.iter().collect();
        screen::print_record(&record, &rows, to.format, None)?;
        return Ok(Exit::Done);
    };
    if path.exists() && record::load(path).is_err() {
        return Err(Failure::usage(format!(
            "'{}' exists and is not a ciphermark record: not overwritten",
            path.display()
        )));
    }
    record::save(&record, path).map_err(Failure::not_done)?;
    let imported = || record.measurements.iter().filter(|m| m.imported.is_some());
    let whys = imported().filter_map(|m| Some((m, m.reason.as_ref()?)));
    let remarks = imported().flat_map(|m| m.remarks.iter().map(move |remark| (m, remark)));
    let lines = whys.map(|(m, why)| format!("{} at {} B: {why}", m.algorithm, m.size));
    let lines = lines.chain(remarks.map(|(m, remark)| format!("{}: {remark}", m.algorithm)));
    for line in lines.collect::<BTreeSet<_>>() {
        anstream::eprintln!("ciphermark: {}", base::text::clean(&line));
    }
    Ok(Exit::Done)
}
