//! `ciphermark trend`: what a case cost from run to run.

use super::open::{ask, by_machine, chosen, failure};
use crate::args_archive::{TrendArgs, TrendFormat};
use crate::error::{Exit, Failure};
use crate::{choose, screen};
use judge::compare::{Case, Compared, Matching, Settings, Side};
use record::archive::Listed;
use record::{LibraryId, Measurement, Record, State};
use report::{Point, TrendLine as Line};
use std::collections::{BTreeMap, BTreeSet};

/// Differences up to this do not matter (a fraction): what `compare --same-within` is by default.
const TOLERANCE: f64 = 0.005;

/// Prints the runs of each machine, library and case, or writes them for Apache Otava.
pub fn trend(args: &TrendArgs) -> Result<Exit, Failure> {
    let (mut archive, all) = ask(&args.store, &args.which)?;
    let of_cases = chosen(&mut archive, &args.filter)?;
    let globs = choose::globs(&args.filter.library)?;
    let takes = |id: &record::LibraryId| {
        globs.is_empty() || globs.iter().any(|g| choose::is_library(g, &id.name, &id.version))
    };
    let of_cases = archive.narrow(&of_cases, Some(&takes)).map_err(failure)?;
    let mut lines = Vec::new();
    for runs in by_machine(&all) {
        let mut own: Vec<Run<'_>> = Vec::new();
        for run in runs {
            let record = archive.load(run, &of_cases).map_err(failure)?;
            if record.measurements.iter().any(|m| m.state == State::Measured) {
                let verdicts = own.last().map(|before| verdicts(&before.record, &record));
                own.push(Run { listed: run, record, verdicts: verdicts.unwrap_or_default() });
            }
        }
        lines.extend(lines_of(&own));
    }
    if lines.is_empty() {
        return Err(Failure::usage(format!("'{}' has no such measured case", args.store)));
    }
    match (args.format, &args.output) {
        (TrendFormat::Otava, Some(directory)) => write(directory, &lines)?,
        (TrendFormat::Csv, _) => screen::print(|_| report::trend_csv(&lines))?,
        (TrendFormat::Json, _) => screen::print_json(&lines)?,
        _ => screen::print(|options| report::trend(&lines, options))?,
    }
    Ok(Exit::Done)
}

/// The verdicts of `compare` on the cases of two neighbouring runs, with the same filters.
fn verdicts(before: &Record, now: &Record) -> Vec<Compared> {
    fn side(record: &Record) -> Side<'_> {
        Side { record, name: String::new(), rows: record.measurements.iter().collect() }
    }
    let settings = Settings {
        tolerance: TOLERANCE,
        matching: Matching::ByName,
        apart: judge::compare::Apart::Nothing,
    };
    judge::compare::compare(&side(before), &side(now), &settings).cases
}

/// A run, its record and the verdicts against the one before.
struct Run<'a> {
    listed: &'a Listed,
    record: Record,
    verdicts: Vec<Compared>,
}

/// The histories of one machine. A library goes on under its name; where any run has several versions of it, each version
/// has a history of its own.
fn lines_of(runs: &[Run<'_>]) -> impl Iterator<Item = Line> {
    let several: BTreeSet<&str> = runs.iter().flat_map(|run| several(&run.record)).collect();
    let mut lines: BTreeMap<(String, Case), Line> = BTreeMap::new();
    for run in runs {
        for m in run.record.measurements.iter().filter(|m| m.state == State::Measured) {
            let (Some(ns), case) = (m.ns_per_op, Case::of(m)) else { continue };
            let of = |c: &&Compared| c.new_library == m.library && c.case == case;
            let verdict = run.verdicts.iter().find(of);
            let library = match several.contains(m.library.name.as_str()) {
                true => format!("{}@{}", m.library.name, m.library.version),
                false => m.library.name.clone(),
            };
            let new = || Line {
                machine: run.listed.machine.clone(),
                library: library.clone(),
                case: case.clone(),
                points: Vec::new(),
            };
            let line = lines.entry((library.clone(), case.clone())).or_insert_with(new);
            line.points.push(point(run.listed, m, ns, verdict));
        }
    }
    lines.into_values()
}

/// Names of libraries that a run measured more than one build of.
fn several(record: &Record) -> Vec<&str> {
    let measured = record.measurements.iter().filter(|m| m.state == State::Measured);
    let builds: BTreeSet<&LibraryId> = measured.map(|m| &m.library).collect();
    let builds: Vec<&LibraryId> = builds.into_iter().collect();
    let same = builds.windows(2).filter(|w| w[0].name == w[1].name);
    same.map(|w| w[0].name.as_str()).collect()
}

fn point(run: &Listed, m: &Measurement, ns: record::Estimate, verdict: Option<&Compared>) -> Point {
    Point {
        started: run.started,
        day: run.day(),
        record: run.sha256.clone(),
        version: m.library.version.clone(),
        ns_per_op: ns,
        mb_per_s: m.mb_per_s,
        verdict: verdict.map(|c| c.verdict),
        ratio: verdict.and_then(|c| c.ratio),
    }
}

/// A CSV file for each line, and the YAML that names them.
fn write(directory: &std::path::Path, lines: &[Line]) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::not_done(format!("cannot write into '{}': {e}", directory.display()))
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    for (name, text) in report::otava(lines, directory) {
        screen::write_file(&directory.join(name), text.as_bytes())?;
    }
    anstream::eprintln!(
        "ciphermark: wrote {} histories; next: otava analyze NAME --config {}",
        lines.len(),
        directory.join("otava.yaml").display()
    );
    Ok(())
}
