//! `ciphermark explain RECORD`: what a run has counted, without counting anew.

use super::explain::Row;
use crate::args::ExplainArgs;
use crate::choose;
use crate::error::Failure;
use base::model::{Direction, NameGlob};
use record::{Call, Executed, Leaks, Record};
use serde_json::json;
use std::path::Path;

/// One row for each library, algorithm and direction of the record that the flags let through.
pub fn rows(record: &Record, path: &Path, args: &ExplainArgs) -> Result<Vec<Row>, Failure> {
    if record.executed.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' has no instruction counts: it was written with --no-evidence or by an older version",
            path.display()
        )));
    }
    let (algorithms, libraries) = (choose::globs(&args.algorithm)?, choose::globs(&args.library)?);
    let directions = choose::directions(args.direction);
    let tiers = choose::tier_globs(&args.tier)?;
    let any = |globs: &[NameGlob], test: &dyn Fn(&NameGlob) -> bool| {
        globs.is_empty() || globs.iter().any(test)
    };
    let is_kept = |e: &&Executed| {
        let one_way = !matches!(e.direction, Direction::Encrypt | Direction::Decrypt);
        let library = &e.library;
        any(&algorithms, &|g| g.matches(&e.algorithm))
            && any(&libraries, &|g| choose::is_library(g, &library.name, &library.version))
            && (one_way || directions.contains(&e.direction))
            && any(&tiers, &|g| g.matches(e.tier.name()))
    };
    let mut kept: Vec<&Executed> = record.executed.iter().filter(is_kept).collect();
    if kept.is_empty() {
        return Err(Failure::usage("the filters leave no instruction counts of the record"));
    }
    let key = |e: &Executed| (e.library.clone(), e.algorithm.clone(), e.direction);
    kept.sort_by_key(|e| key(e));
    Ok(kept.chunk_by(|a, b| key(a) == key(b)).map(|of_one| row(record, of_one)).collect())
}

fn row(record: &Record, of_one: &[&Executed]) -> Row {
    let first = of_one[0];
    let library = record.libraries.iter().find(|l| l.path == first.library.path);
    let same = |c: &&Call| c.algorithm == first.algorithm && c.direction == first.direction;
    let call = library.and_then(|l| l.calls.iter().find(same));
    let functions = call.and_then(|c| c.functions.clone());
    let judged =
        |e: &&Executed| record.leaks.iter().find(|l| l.is_of(&e.library, &e.algorithm, e.tier));
    // The models of one tier have the same verdict.
    let mut leaks: Vec<&Leaks> = of_one.iter().filter_map(judged).collect();
    leaks.sort_by_key(|l| l.tier);
    leaks.dedup_by_key(|l| l.tier);
    let (copies, allocates) = call.map_or((false, false), |c| (c.copies, c.allocates));
    Row {
        json: json!({
            "library": first.library, "algorithm": first.algorithm, "direction": first.direction,
            "functions": functions, "copies": copies, "allocates": allocates,
            "executed": of_one, "leaks": leaks,
        }),
        shown: report::CallRow {
            library: format!("{}@{}", first.library.name, first.library.version),
            algorithm: first.algorithm.clone(),
            direction: first.direction.to_string(),
            functions,
            copies,
            allocates,
            costs: Ok(Vec::new()),
            executed: of_one.iter().map(|e| executed_row(record, e)).collect(),
            leaks: leaks.into_iter().cloned().collect(),
        },
        incomplete: false,
    }
}

fn executed_row(record: &Record, executed: &Executed) -> report::ExecutedRow {
    let refused = record.measurements.iter().filter(|m| executed.is_of(m));
    let mut refused = refused.filter(|m| m.state == record::State::Refused);
    report::ExecutedRow {
        executed: executed.clone(),
        refused: refused.next().and_then(|m| m.reason.clone()),
        exact: Vec::new(),
    }
}
