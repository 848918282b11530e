//! `ciphermark explain`: what runs inside the clock, counted now or read from a record.

use crate::commands::claims::is_imported;
use crate::commands::{DirectionArg, Filter, TierGlobs, choose, counted_sizes};
use crate::screen::Bar;
use crate::{Exit, Failure, files, screen};
use base::model::{Direction, Model, Tier};
use clap::Args;
use engine::protocol::Offer;
use engine::{Attached, Evidence, Explained, Operation, Wanted};
use record::{Call, Executed, Leaks, Record};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// `ciphermark explain`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark explain -l botan -a aes-256-gcm\n  \
    ciphermark explain -l cryptopp -a 'aes-256-*' -s 64,16K --json\n  \
    ciphermark explain -l openssl -a aes-128-gcm -t aesni -t native\n  \
    ciphermark explain run.json -a '*-gcm'             what a run counted, and what messages, bytes and keys cost\n\n\
    Counts the instructions of an operation by single-stepping it at two sizes; the difference is the\n\
    cost of a byte. Counts allocations and copies in separate workers that time nothing: everything\n\
    that goes through malloc, memcpy and similar functions of the C library, for one message.")]
pub struct ExplainArgs {
    /// A record written by `run -o`: explain its counts, fitted lines, key set-ups, latencies and
    /// threads instead of counting anew.
    pub record: Option<PathBuf>,
    /// Algorithms by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Message sizes in bytes to count at, as for `run`.
    #[arg(short, long, value_name = "LIST", default_value = "16,8192", conflicts_with = "record")]
    pub size: String,
    /// What one operation is, for instructions [default: message; of a record all that it has].
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<Model>,
    /// Which CPU instructions the library may use, by name or glob, separated by commas, for
    /// instructions; may be repeated.
    #[arg(short, long, value_name = "TIER", value_parser = TierGlobs, hide_possible_values = true)]
    pub tier: Vec<String>,
    /// Encrypt, decrypt or both.
    #[arg(short, long, value_name = "DIRECTION", default_value = "both")]
    pub direction: DirectionArg,
    /// Print everything, not a screen.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Counts what the chosen libraries execute, allocate and copy, and prints it with the functions
/// they call; or prints what a run has counted, and what it says of costs.
pub fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let record = args.record.as_deref().map(files::survey).transpose()?;
    if let Some(record) = record.as_ref().filter(|record| is_imported(record)) {
        return Err(Failure::usage(format!(
            "its {} figures are imported: nothing was counted in them; `ciphermark explain -l LIBRARY` counts now",
            record.measurements.len()
        )));
    }
    let mut costs = Vec::new();
    let rows = match (&record, &args.record) {
        (Some(record), Some(path)) => {
            if !args.json {
                costs = costs_rows(args, record)?;
            }
            match rows_of_record(record, path, args) {
                // A record without counts still has its times.
                Err(_) if record.executed.is_empty() && !costs.is_empty() => Vec::new(),
                rows => rows?,
            }
        }
        _ => counted(args)?,
    };
    if args.json {
        let rows: Vec<&Value> = rows.iter().map(|r| &r.json).collect();
        screen::print_json(&rows)?;
    } else {
        let shown: Vec<report::CallRow> = rows.iter().map(|r| r.shown.clone()).collect();
        screen::print(|options| {
            if !args.all {
                return report::explain_screen(&shown, record.as_ref(), &costs, options);
            }
            let costs = record.as_ref().map(|record| report::costs(record, &costs, options));
            report::calls(&shown, options) + &costs.unwrap_or_default()
        })?;
    }
    let incomplete = rows.iter().any(|r| r.incomplete);
    Ok(if incomplete { Exit::SomeRefused } else { Exit::Done })
}

/// One algorithm of one library in one direction, in both forms.
pub struct Row {
    pub shown: report::CallRow,
    pub json: Value,
    /// Whether something was refused or could not be counted.
    pub incomplete: bool,
}

fn counted(args: &ExplainArgs) -> Result<Vec<Row>, Failure> {
    choose::learn(&args.library, &args.algorithm)?;
    let algorithms = choose::algorithms_or_all(&args.algorithm)?;
    let sizes = base::model::parse_sizes(&args.size).map_err(Failure::usage)?;
    let sizes = counted_sizes(sizes)?;
    let directions = choose::directions(args.direction);
    let tiers: Vec<Tier> = match args.tier.as_slice() {
        [] => vec![Tier::Native],
        typed => choose::tiers(typed)?,
    };
    let libraries = engine::at_tiers(&choose::attached(&args.library)?, &tiers);
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
    let (bar, count) = (Bar::new(args.quiet), AtomicUsize::new(0));
    let done = || {
        let raised = count.fetch_add(1, Ordering::Relaxed) + 1;
        bar.count("counting", raised, total, "algorithms in libraries");
    };
    let explained = engine::explain(&libraries, &wanted, &sizes, &done);
    let model = args.model.unwrap_or_default();
    let (operations, not_counted) = operations(&libraries, &explained, &tiers, model);
    let stop = engine::Stop::default();
    let of = |_: &Operation| sizes.clone();
    let wanted = Wanted { of: &of, allowance: None };
    let mut stepped =
        engine::gather(&libraries, &operations, wanted, &stop, &|done, of| bar.stepping(done, of));
    stepped.extend(not_counted);
    bar.finish();
    let own = |e: &Explained| {
        let same = |s: &Operation| {
            s.library == e.library
                && s.algorithm == e.offer.algorithm
                && s.direction == e.offer.direction
        };
        stepped.iter().filter(|evidence| same(&evidence.subject)).cloned().collect::<Vec<_>>()
    };
    let lacks_tier =
        |e: &Explained| tiers.iter().any(|t| libraries[e.library].offers_at(*t).is_err());
    let rows = explained.iter().map(|e| {
        let row = row(&libraries, e, &own(e));
        Row { incomplete: row.incomplete || lacks_tier(e), ..row }
    });
    Ok(rows.collect())
}

/// What is to be stepped, and what cannot be with the reason: not offered so, or the tier cannot be applied.
fn operations(
    libraries: &[Attached],
    explained: &[Explained],
    tiers: &[Tier],
    model: Model,
) -> (Vec<Operation>, Vec<Evidence>) {
    let (mut operations, mut not_counted) = (Vec::new(), Vec::new());
    for (e, tier) in explained.iter().flat_map(|e| tiers.iter().map(move |tier| (e, *tier))) {
        let Offer { algorithm, direction, .. } = &e.offer;
        let same = |o: &&Offer| (&o.algorithm, o.direction) == (algorithm, *direction);
        let why = match libraries[e.library].offers_at(tier) {
            Err(finding) => Some(finding.why),
            Ok(all) if all.iter().filter(same).any(|o| o.models.contains(&model)) => None,
            Ok(_) => Some(format!("the library does not offer it as {model}")),
        };
        let (library, algorithm, direction) = (e.library, algorithm.clone(), *direction);
        let operation = Operation { library, tier, algorithm, direction, model };
        match why {
            None => operations.push(operation),
            Some(why) => not_counted.push(without_counts(&libraries[library], operation, why)),
        }
    }
    (operations, not_counted)
}

fn without_counts(library: &Attached, operation: Operation, why: String) -> Evidence {
    let executed = Executed {
        library: library.facts.identity(),
        algorithm: operation.algorithm.clone(),
        direction: operation.direction,
        model: operation.model,
        tier: operation.tier,
        reason: Some(why),
        ..Executed::default()
    };
    Evidence { subject: operation, executed, refused: None, exact: Vec::new() }
}

/// The rows of a record that the flags let through.
fn costs_rows<'a>(
    args: &ExplainArgs,
    record: &'a record::Record,
) -> Result<Vec<&'a record::Measurement>, Failure> {
    let filter = Filter {
        algorithm: args.algorithm.clone(),
        library: args.library.clone(),
        tier: args.tier.clone(),
        model: args.model.into_iter().collect(),
        ..Filter::default()
    };
    let mut rows = choose::rows(record, &filter)?;
    let directions = choose::directions(args.direction);
    rows.retain(|m| {
        !matches!(m.direction, Direction::Encrypt | Direction::Decrypt)
            || directions.contains(&m.direction)
    });
    Ok(rows)
}

fn row(libraries: &[Attached], e: &Explained, stepped: &[Evidence]) -> Row {
    Row {
        shown: shown(libraries, e, stepped),
        json: json(libraries, e, stepped),
        incomplete: e.costs.is_err() || stepped.iter().any(|s| s.refused.is_some()),
    }
}

fn json(libraries: &[Attached], e: &Explained, stepped: &[Evidence]) -> Value {
    let facts = &libraries[e.library].facts;
    let (costs, reason) = match &e.costs {
        Ok(costs) => (json!(costs), None),
        Err(finding) => (Value::Null, Some(&finding.why)),
    };
    let executed: Vec<Value> = stepped.iter().map(executed_json).collect();
    record::shared(json!({
        "library": {"name": facts.name, "version": facts.version, "path": facts.path, "id": facts.id},
        "algorithm": e.offer.algorithm, "direction": e.offer.direction,
        "functions": e.offer.functions, "copies": e.offer.copies, "allocates": e.offer.allocates,
        "costs": costs, "reason": reason, "executed": executed,
    }))
}

/// As in a record, with the counts of the sizes that were asked for.
fn executed_json(evidence: &Evidence) -> Value {
    let mut value = json!(evidence.executed);
    let exact = evidence.exact.iter().map(|(size, count)| match count {
        Ok(count) => json!({"size": size, "instructions": count.instructions}),
        Err(why) => json!({"size": size, "instructions": null, "reason": why}),
    });
    value["exact"] = exact.collect();
    value["refused"] = json!(evidence.refused.as_ref().map(|f| &f.why));
    value
}

fn shown(libraries: &[Attached], e: &Explained, stepped: &[Evidence]) -> report::CallRow {
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
        executed: stepped.iter().map(executed_row).collect(),
        leaks: Vec::new(),
    }
}

fn executed_row(evidence: &Evidence) -> report::ExecutedRow {
    let exact = evidence.exact.iter();
    report::ExecutedRow {
        executed: evidence.executed.clone(),
        refused: evidence.refused.as_ref().map(|f| f.why.clone()),
        exact: exact.map(|(size, count)| (*size, count.clone().map(|c| c.instructions))).collect(),
    }
}

// `ciphermark explain RECORD`: what a run has counted, without counting anew.

/// One row for each library, algorithm and direction of the record that the flags let through.
pub fn rows_of_record(
    record: &Record,
    path: &Path,
    args: &ExplainArgs,
) -> Result<Vec<Row>, Failure> {
    if record.executed.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' has no instruction counts: it was written with --no-evidence or by an older version",
            path.display()
        )));
    }
    let (algorithms, libraries) = (choose::globs(&args.algorithm)?, choose::globs(&args.library)?);
    let directions = choose::directions(args.direction);
    let tiers = choose::tier_globs(&args.tier)?;
    let is_kept = |e: &&Executed| {
        let one_way = !matches!(e.direction, Direction::Encrypt | Direction::Decrypt);
        choose::any(&algorithms, |g| g.matches(&e.algorithm))
            && choose::takes(&libraries, &e.library)
            && (one_way || directions.contains(&e.direction))
            && args.model.is_none_or(|model| model == e.model)
            && choose::any(&tiers, |g| g.matches(e.tier.name()))
    };
    let mut kept: Vec<&Executed> = record.executed.iter().filter(is_kept).collect();
    if kept.is_empty() {
        return Err(Failure::usage("the filters leave no instruction counts of the record"));
    }
    let key = |e: &Executed| (e.library.clone(), e.algorithm.clone(), e.direction);
    kept.sort_by_key(|e| key(e));
    Ok(kept.chunk_by(|a, b| key(a) == key(b)).map(|of_one| row_of_record(record, of_one)).collect())
}

fn row_of_record(record: &Record, of_one: &[&Executed]) -> Row {
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
            library: first.library.label(),
            algorithm: first.algorithm.clone(),
            direction: first.direction.to_string(),
            functions,
            copies,
            allocates,
            costs: Ok(Vec::new()),
            executed: of_one.iter().map(|e| executed_row_of_record(record, e)).collect(),
            leaks: leaks.into_iter().cloned().collect(),
        },
        incomplete: false,
    }
}

fn executed_row_of_record(record: &Record, executed: &Executed) -> report::ExecutedRow {
    let refused = record.measurements.iter().filter(|m| executed.is_of(m));
    let mut refused = refused.filter(|m| m.state == record::State::Refused);
    report::ExecutedRow {
        executed: executed.clone(),
        refused: refused.next().and_then(|m| m.reason.clone()),
        exact: Vec::new(),
    }
}
