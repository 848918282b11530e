//! Opening what was named, and what questions over it have in common.

use crate::args::Filter;
use crate::args_archive::{PriceArgs, WhichArgs};
use crate::choose;
use crate::commands::no_password;
use crate::error::Failure;
use crate::files;
use base::text::{Price, Prices};
use record::Estimate;
use record::archive::{Archive, ArchiveError, Chosen, Listed};

/// Opens an archive that is there.
pub fn open(store: &str) -> Result<Archive, Failure> {
    opened(store, false)
}

/// Opens an archive; with `create`, makes one where there is none.
pub fn opened(store: &str, create: bool) -> Result<Archive, Failure> {
    no_password(store, "STORE")?;
    Archive::open(store, create).map_err(failure)
}

/// What was named wrongly is the command line's fault, the rest is not.
pub fn failure(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::Absent(_)
        | ArchiveError::Other(_)
        | ArchiveError::Newer { .. }
        | ArchiveError::Unreleased(_)
        | ArchiveError::NoPostgres(_)
        | ArchiveError::NoSqlite(_)
        | ArchiveError::Selection(_) => Failure::usage(error),
        ArchiveError::Database { .. }
        | ArchiveError::Damaged { .. }
        | ArchiveError::Object { .. } => Failure::not_done(error),
    }
}

/// Opens an archive for answers of one moment; its records that are asked about, by machine and time.
pub fn ask(store: &str, which: &WhichArgs) -> Result<(Archive, Vec<Listed>), Failure> {
    let mut archive = open(store)?;
    archive.hold().map_err(failure)?;
    let of = which.select.clone().unwrap_or_default();
    let all = archive.list(&of, which.doubtful).map_err(failure)?;
    if all.is_empty() {
        let hidden = archive.list(&of, true).map_err(failure)?.len();
        let more = match hidden {
            0 => String::new(),
            n => format!("; {n} doubtful or unsigned ones are left out without --doubtful"),
        };
        return Err(Failure::usage(format!("'{}' has no such record{more}", archive.name())));
    }
    Ok((archive, all))
}

/// The records of each machine, in their order.
pub fn by_machine(all: &[Listed]) -> Vec<&[Listed]> {
    all.chunk_by(|a, b| a.machine == b.machine).collect()
}

/// The cases that a filter takes, of all libraries.
pub fn chosen(archive: &mut Archive, filter: &Filter) -> Result<Chosen, Failure> {
    let takes = choose::cases(filter)?;
    archive.choose(Some(&takes), None).map_err(failure)
}

/// Reads the prices, if there are any.
pub fn prices(args: &PriceArgs) -> Result<Prices, Failure> {
    let Some(path) = &args.prices else { return Ok(Prices::default()) };
    let shown = format!("'{}'", path.display());
    let text = files::text(path, &shown)?;
    let is_toml = path.extension().is_some_and(|e| e == "toml");
    let read = if is_toml { Prices::from_toml(&text) } else { Prices::from_csv(&text) };
    read.map_err(|why| Failure::usage(format!("{shown}, {why}")))
}

/// The price of a record's machine on the day of its run.
pub fn price_of<'a>(prices: &'a Prices, of: &Listed) -> Option<&'a Price> {
    prices.of_day(&of.machine, of.region.as_deref(), &of.day())
}

/// What a number of operations costs on a machine with so many CPUs. The price is shared out evenly: as if all CPUs did
/// the same at this speed, each as fast as those that were measured at once.
pub fn cost(ns: Estimate, operations: f64, per_hour: f64, cpus: u32) -> Estimate {
    let of = |ns: f64| ns * 1e-9 / 3600.0 * operations * per_hour / f64::from(cpus.max(1));
    Estimate { median: of(ns.median), low: of(ns.low), high: of(ns.high) }
}

/// Operations in what prices are given for: a petabyte of plaintext (10^15 bytes), or a million of what has no bytes.
pub fn priced(model: base::model::Model, size: usize) -> f64 {
    if model.has_bytes() && size > 0 { 1e15 / size as f64 } else { 1e6 }
}
