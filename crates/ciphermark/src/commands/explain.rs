//! `ciphermark explain`: what runs inside the clock.

use crate::args::ExplainArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use engine::protocol::Offer;
use engine::{Attached, Explained};
use model::{Algorithm, Direction};
use serde_json::{Value, json};
use std::cell::Cell;

/// Counts what the chosen libraries allocate and copy, and prints it with the functions they call.
pub fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let algorithms = match args.algorithm.as_slice() {
        [] => Algorithm::all().iter().collect(),
        globs => choose::algorithms(globs)?,
    };
    let sizes = model::parse_sizes(&args.size).map_err(Failure::usage)?;
    let directions = choose::directions(args.direction);
    let libraries = choose::attached(&args.library)?;
    let wanted = |o: &Offer| {
        let one_way = !matches!(o.direction, Direction::Encrypt | Direction::Decrypt);
        algorithms.iter().any(|a| a.name == o.algorithm)
            && (one_way || directions.contains(&o.direction))
    };
    let offers = libraries.iter().flat_map(|l| &l.offers);
    let total = offers.filter(|o| !o.models.is_empty() && wanted(o)).count();
    if total == 0 {
        return Err(Failure::not_done("no library that was selected offers any of the algorithms"));
    }
    let (bar, count) = (Bar::new(args.quiet), Cell::new(0));
    let explained = engine::explain(&libraries, &wanted, &sizes, &|| {
        count.set(count.get() + 1);
        bar.counting(count.get(), total);
    });
    bar.finish();
    if args.json {
        let rows: Vec<Value> = explained.iter().map(|e| row(&libraries, e)).collect();
        let text = serde_json::to_string_pretty(&rows).map_err(Failure::not_done)?;
        screen::print(|_| format!("{text}\n"))?;
    } else {
        let rows: Vec<report::CallRow> = explained.iter().map(|e| shown(&libraries, e)).collect();
        screen::print(|options| report::calls(&rows, options))?;
    }
    let unknown = explained.iter().any(|e| e.costs.is_err());
    Ok(if unknown { Exit::SomeRefused } else { Exit::Done })
}

fn row(libraries: &[Attached], e: &Explained) -> Value {
    let facts = &libraries[e.library].facts;
    let (costs, reason) = match &e.costs {
        Ok(costs) => (json!(costs), None),
        Err(finding) => (Value::Null, Some(&finding.why)),
    };
    json!({
        "library": {"name": facts.name, "version": facts.version, "path": facts.path, "id": facts.id},
        "algorithm": e.offer.algorithm, "direction": e.offer.direction,
        "functions": e.offer.functions, "copies": e.offer.copies, "allocates": e.offer.allocates,
        "costs": costs, "reason": reason,
    })
}

fn shown(libraries: &[Attached], e: &Explained) -> report::CallRow {
    report::CallRow {
        library: libraries[e.library].label(),
        algorithm: e.offer.algorithm.clone(),
        direction: e.offer.direction.to_string(),
        functions: e.offer.functions.clone(),
        copies: e.offer.copies,
        allocates: e.offer.allocates,
        costs: match &e.costs {
            Ok(costs) => Ok(costs
                .iter()
                .map(|c| report::MessageCost {
                    size: c.size,
                    allocations: c.allocations,
                    allocated_bytes: c.allocated_bytes,
                    copied_bytes: c.copied_bytes,
                })
                .collect()),
            Err(finding) => Err(finding.why.clone()),
        },
    }
}
