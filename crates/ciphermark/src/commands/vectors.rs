//! `ciphermark verify --vectors`: libraries tested with a file of published vectors.

use crate::args::VerifyArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, files, screen};
use engine::{Attached, Outcomes};
use serde_json::json;
use std::cell::Cell;
use std::path::Path;
use verify::vector_file::{self, VectorFile};

/// Runs the file through every chosen library that has its algorithms.
pub fn vectors(args: &VerifyArgs, path: &Path) -> Result<Exit, Failure> {
    let named = |why: String| Failure::usage(format!("vectors '{}': {why}", path.display()));
    let text = files::text(path, &format!("vectors '{}'", path.display()))?;
    let file = vector_file::read(&text).map_err(|e| named(e.to_string()))?;
    if file.vectors.is_empty() {
        let why = file.skipped.first().map_or("it has no test", |(_, why)| why);
        return Err(named(format!("none of its tests fits an algorithm: {why}")));
    }
    let libraries = choose::attached(&args.library)?;
    let total = libraries.len() * file.vectors.len();
    let (bar, count) = (Bar::new(args.quiet), Cell::new(0));
    let done = || {
        count.set(count.get() + 1);
        bar.vectors(count.get(), total);
    };
    let outcomes: Vec<Outcomes> = libraries
        .iter()
        .map(|library| engine::hold_to_vectors(library, &file.vectors, &done))
        .collect();
    bar.finish();
    if args.json {
        print_json(&file, &libraries, &outcomes)?;
    } else {
        screen::print(|_| text_of(&file, &libraries, &outcomes))?;
    }
    if outcomes.iter().all(|o| o.not_offered == file.vectors.len()) {
        let why = format!("none of the selected libraries offers {}", file.algorithm);
        return Err(Failure::not_done(why));
    }
    let wrong = outcomes.iter().any(|o| !o.wrong.is_empty());
    Ok(if wrong { Exit::Found } else { Exit::Done })
}

fn text_of(file: &VectorFile, libraries: &[Attached], outcomes: &[Outcomes]) -> String {
    let mut out = format!(
        "{}: {} vectors fit, {} do not\n",
        file.algorithm,
        file.vectors.len(),
        file.skipped.len()
    );
    for (why, tests) in reasons(file) {
        out += &format!("  {tests} skipped: {why}\n");
    }
    for (library, o) in libraries.iter().zip(outcomes) {
        if o.not_offered == file.vectors.len() {
            continue;
        }
        out += &format!(
            "{}: {} passed, {} correctly rejected, {} wrong, {} not offered\n",
            library.label(),
            o.passed,
            o.rejected,
            o.wrong.len(),
            o.not_offered
        );
        for (id, algorithm, why) in &o.wrong {
            out += &format!("  tcId {id}, {algorithm}: {why}\n");
        }
    }
    out
}

/// Each reason for leaving tests out, with how many.
fn reasons(file: &VectorFile) -> std::collections::BTreeMap<&str, usize> {
    let mut reasons = std::collections::BTreeMap::new();
    for (_, why) in &file.skipped {
        *reasons.entry(why.as_str()).or_insert(0) += 1;
    }
    reasons
}

fn print_json(
    file: &VectorFile,
    libraries: &[Attached],
    outcomes: &[Outcomes],
) -> Result<(), Failure> {
    let rows: Vec<_> = libraries
        .iter()
        .zip(outcomes)
        .map(|(library, o)| {
            let wrong: Vec<_> = o
                .wrong
                .iter()
                .map(|(id, algorithm, why)| json!({"tcId": id, "algorithm": algorithm, "reason": why}))
                .collect();
            json!({
                "library": super::identity(library),
                "passed": o.passed, "rejected": o.rejected, "not_offered": o.not_offered, "wrong": wrong,
            })
        })
        .collect();
    let skipped: Vec<_> =
        file.skipped.iter().map(|(id, why)| json!({"tcId": id, "reason": why})).collect();
    let whole = json!({"algorithm": file.algorithm, "vectors": file.vectors.len(), "skipped": skipped, "libraries": rows});
    screen::print_json(&whole)
}
