//! `ciphermark list`: what there is to measure.

use crate::args::{ListArgs, What};
use crate::choose;
use crate::error::{Exit, Failure};
use crate::screen;
use base::model::{Algorithm, Model, Tier};
use base::text::Suite;
use engine::Attached;
use serde::Serialize;
use serde_json::json;

/// Prints a list.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    match args.what {
        What::Libraries => libraries(args),
        What::Algorithms => algorithms(args),
        What::Tiers => tiers(args),
        What::Models => pairs(
            args,
            Model::ALL.iter().map(|m| {
                (m.name().to_owned(), format!("{} (version {})", m.summary(), m.version()))
            }),
        ),
        What::Limits => limits(args),
        What::Suites => pairs(args, Suite::built_in().into_iter().map(|s| (s.name, s.reason))),
    }
}

/// Every library found, even unusable ones; with `--library`, the chosen ones.
fn found(args: &ListArgs, discover: fn() -> Vec<Attached>) -> Result<Vec<Attached>, Failure> {
    if args.library.is_empty() { Ok(discover()) } else { choose::attached(&args.library) }
}

fn libraries(args: &ListArgs) -> Result<Exit, Failure> {
    let facts: Vec<record::Library> =
        found(args, choose::discover_all)?.into_iter().map(|l| l.facts).collect();
    if args.json {
        return json(&facts);
    }
    if facts.is_empty() {
        return Err(Failure::not_done(engine::SelectError::None));
    }
    screen::print(|options| report::libraries(&facts, options))?;
    Ok(Exit::Done)
}

fn algorithms(args: &ListArgs) -> Result<Exit, Failure> {
    let libraries = found(args, || choose::discover(&[]))?;
    let usable: Vec<&Attached> = libraries.iter().filter(|l| l.facts.error.is_none()).collect();
    let offers = |l: &Attached, a: &Algorithm| {
        l.offers.iter().any(|o| o.algorithm == a.name && !o.models.is_empty())
    };
    if args.json {
        let rows = Algorithm::all().iter().map(|a| {
            let labels: Vec<String> =
                usable.iter().filter(|l| offers(l, a)).map(|l| l.label()).collect();
            json!({
                "name": a.name, "key_bytes": a.key_len, "nonce_bytes": a.nonce_len,
                "tag_bytes": a.tag_len, "warning": a.warning(), "libraries": labels,
            })
        });
        return json(&rows.collect::<Vec<_>>());
    }
    let row = |a: &Algorithm| report::MatrixRow {
        algorithm: a.name.to_owned(),
        offered: usable.iter().map(|l| offers(l, a)).collect(),
    };
    let matrix = report::Matrix {
        libraries: usable.iter().map(|l| l.label()).collect(),
        rows: Algorithm::all().iter().map(row).collect(),
    };
    screen::print(|options| report::matrix(&matrix, options))?;
    Ok(Exit::Done)
}

/// The tiers, with how this machine applies each.
fn tiers(args: &ListArgs) -> Result<Exit, Failure> {
    let here = Tier::HERE.iter().map(|tier| (tier, engine::tier_here(*tier)));
    if args.json {
        let rows = here.map(|(tier, here)| {
            json!({
                "name": tier.name(), "summary": tier.summary(), "available": here.available,
                "mechanism": here.mechanism, "reason": here.reason,
            })
        });
        return json(&rows.collect::<Vec<_>>());
    }
    let rows = here.map(|(tier, here)| {
        let mut words = tier.summary().to_owned();
        if let Some(mechanism) = here.mechanism {
            words += &format!(" (by {mechanism})");
        }
        if let Some(reason) = here.reason {
            words += &format!("; {reason}");
        }
        (tier.name().to_owned(), words)
    });
    pairs(args, rows)
}

/// Measured here and now, which takes a second or two.
fn limits(args: &ListArgs) -> Result<Exit, Failure> {
    let algorithms = match args.algorithm.as_slice() {
        [] => Algorithm::all().iter().collect(),
        globs => choose::algorithms(globs)?,
    };
    let limits = engine::limits_here(&algorithms);
    if args.json {
        return json(&limits);
    }
    screen::print(|options| report::limits(&limits, options))?;
    Ok(Exit::Done)
}

fn pairs(args: &ListArgs, rows: impl Iterator<Item = (String, String)>) -> Result<Exit, Failure> {
    let rows: Vec<(String, String)> = rows.collect();
    if args.json {
        let named = rows.iter().map(|(n, s)| json!({"name": n, "summary": s}));
        return json(&named.collect::<Vec<_>>());
    }
    screen::print(|options| report::pairs(&rows, options))?;
    Ok(Exit::Done)
}

fn json(value: &impl Serialize) -> Result<Exit, Failure> {
    screen::print_json(value)?;
    Ok(Exit::Done)
}
