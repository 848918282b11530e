//! `ciphermark explain RECORD`: what a run has counted, without counting anew.

use super::explain::Row;
use crate::args::ExplainArgs;
use crate::choose;
use crate::error::Failure;
use model::{Direction, NameGlob, Tier};
use record::{Call, Executed, LibraryId, Record};
use serde_json::json;
use std::path::Path;

/// One row for each library, algorithm and direction of the record that the flags let through.
pub fn rows(path: &Path, args: &ExplainArgs) -> Result<Vec<Row>, Failure> {
    let record = record::load(path).map_err(Failure::usage)?;
    if record.executed.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' has no instruction counts: it was written with --no-evidence or by an older version",
            path.display()
        )));
    }
    let filter = Filter::new(args)?;
    let mut kept: Vec<&Executed> = record.executed.iter().filter(|e| filter.keeps(e)).collect();
    if kept.is_empty() {
        return Err(Failure::usage("the filters leave no instruction counts of the record"));
    }
    let key = |e: &Executed| (e.library.clone(), e.algorithm.clone(), e.direction);
    kept.sort_by_key(|e| key(e));
    let same = kept.chunk_by(|a, b| key(a) == key(b));
    Ok(same.map(|of_one| row(&record, of_one)).collect())
}

struct Filter {
    algorithms: Vec<NameGlob>,
    libraries: Vec<NameGlob>,
    directions: Vec<Direction>,
    tiers: Vec<Tier>,
}

impl Filter {
    fn new(args: &ExplainArgs) -> Result<Self, Failure> {
        let globs = |texts: &[String]| -> Result<Vec<NameGlob>, Failure> {
            texts
                .iter()
                .flat_map(|list| NameGlob::of_list(list))
                .map(|t| NameGlob::parse(t).map_err(Failure::usage))
                .collect()
        };
        Ok(Self {
            algorithms: globs(&args.algorithm)?,
            libraries: globs(&args.library)?,
            directions: choose::directions(args.direction),
            tiers: args.tier.clone(),
        })
    }

    fn keeps(&self, e: &Executed) -> bool {
        let any = |globs: &[NameGlob], names: &[&str]| {
            globs.is_empty() || globs.iter().any(|g| names.iter().any(|n| g.matches(n)))
        };
        let one_way = !matches!(e.direction, Direction::Encrypt | Direction::Decrypt);
        any(&self.algorithms, &[&e.algorithm])
            && any(&self.libraries, &[&e.library.name, &label(&e.library)])
            && (one_way || self.directions.contains(&e.direction))
            && (self.tiers.is_empty() || self.tiers.contains(&e.tier))
    }
}

fn label(library: &LibraryId) -> String {
    format!("{}@{}", library.name, library.version)
}

fn row(record: &Record, of_one: &[&Executed]) -> Row {
    let first = of_one[0];
    let library = record.libraries.iter().find(|l| l.path == first.library.path);
    let same = |c: &&Call| c.algorithm == first.algorithm && c.direction == first.direction;
    let call = library.and_then(|l| l.calls.iter().find(same));
    let functions = call.and_then(|c| c.functions.clone());
    let (copies, allocates) = call.map_or((false, false), |c| (c.copies, c.allocates));
    Row {
        json: json!({
            "library": first.library, "algorithm": first.algorithm, "direction": first.direction,
            "functions": functions, "copies": copies, "allocates": allocates,
            "executed": of_one,
        }),
        shown: report::CallRow {
            library: label(&first.library),
            algorithm: first.algorithm.clone(),
            direction: first.direction.to_string(),
            functions,
            copies,
            allocates,
            costs: Ok(Vec::new()),
            executed: of_one.iter().map(|e| executed_row(record, e)).collect(),
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
