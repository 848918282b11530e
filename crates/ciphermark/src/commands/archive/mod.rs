//! `ciphermark archive`, and the questions over an archive.

mod add;
mod compare;
mod open;
mod rank;
mod site;
mod trend;
mod trust;

pub use add::add;
pub use compare::compare;
pub use rank::rank;
pub use site::site;
pub use trend::trend;

use crate::args_archive::{ArchiveArgs, ArchiveCommand, CheckArgs, ListArgs, RemoveArgs};
use crate::error::{Exit, Failure};
use crate::screen;
use open::{failure, open};
use std::path::Path;

/// Does what was asked for.
pub fn archive(args: &ArchiveArgs) -> Result<Exit, Failure> {
    match &args.command {
        ArchiveCommand::Add(args) => add(args),
        ArchiveCommand::List(args) => list(args),
        ArchiveCommand::Check(args) => check(args),
        ArchiveCommand::Remove(args) => remove(args),
    }
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let mut archive = open(&args.store)?;
    let of = args.which.select.clone().unwrap_or_default();
    let all = archive.list(&of, true).map_err(failure)?;
    let (shown, left_out): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|r| args.which.doubtful || r.trust.counts());
    if args.json {
        screen::print_json(&shown)?;
    } else {
        screen::print(|options| report::archived(&rows(&shown), left_out.len(), options))?;
    }
    Ok(Exit::Done)
}

fn rows(all: &[record::archive::Listed]) -> Vec<report::Archived> {
    let row = |r: &record::archive::Listed| report::Archived {
        sha256: r.sha256.clone(),
        machine: r.machine.clone(),
        region: r.region.clone().unwrap_or_default(),
        day: r.day(),
        kind: r.kind.clone().unwrap_or_else(|| "survey".to_owned()),
        cases: r.cases,
        trust: r.trust.name(),
        doubts: r.doubts.clone(),
    };
    all.iter().map(row).collect()
}

fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let mut archive = open(&args.store)?;
    let read = |text: &[u8]| {
        let text = std::str::from_utf8(text).map_err(|e| e.to_string())?;
        crate::kinds::read(text, Path::new("it")).map_err(|e| e.to_string())
    };
    let mut count = 0;
    let problems = archive.check(&read, &mut |_| count += 1).map_err(failure)?;
    let damaged = problems.iter().filter(|p| p.is_damage()).count();
    let mut lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.push(format!("{count} records, {damaged} damaged"));
    screen::print(|_| lines.iter().map(|line| base::text::clean(line) + "\n").collect())?;
    Ok(if damaged > 0 { Exit::Found } else { Exit::Done })
}

fn remove(args: &RemoveArgs) -> Result<Exit, Failure> {
    let mut archive = open(&args.store)?;
    // All are looked up first: a wrong one removes none.
    let found: Result<Vec<_>, _> = args.records.iter().map(|r| archive.find(r)).collect();
    for record in found.map_err(failure)? {
        archive.remove(&record).map_err(failure)?;
        anstream::eprintln!("ciphermark: removed {}", record.sha256);
    }
    Ok(Exit::Done)
}
