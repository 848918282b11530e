//! `ciphermark compare`: two records, or two libraries or tiers of one, case by case.

use super::confirm;
use crate::args::CompareArgs;
use crate::error::{Exit, Failure};
use crate::{choose, kinds, screen};
use clap::ValueEnum as _;
use compare::{Comparison, Condition, Matching, Settings, Side, Sought};
use model::{NameGlob, Tier};
use record::{Measurement, Record};
use std::path::Path;

/// Compares and prints; the exit code says whether a condition holds.
pub fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    if let Some(store) = &args.from {
        return super::archive::compare(args, store);
    }
    args.which.without_archive()?;
    let base_path = args.base.as_deref().unwrap_or(Path::new(""));
    let base = kinds::record(base_path).map_err(Failure::usage)?;
    let new = args.new.as_deref().map(kinds::record).transpose().map_err(Failure::usage)?;
    let new_path = args.new.as_deref().unwrap_or(base_path);
    let rows = selected(args, &base, new.as_ref())?;
    let mut sides =
        (side(&base, base_path, rows.0), side(new.as_ref().unwrap_or(&base), new_path, rows.1));
    let matching = match &args.libraries {
        Some(text) => by_libraries(&mut sides, text)?,
        None => Matching::ByName,
    };
    if let Some(text) = &args.tiers {
        by_tiers(&mut sides, text)?;
    }
    let tiers_differ = args.tiers.is_some();
    let settings = Settings { tolerance: args.same_within, matching, tiers_differ };
    let mut comparison = compare::compare(&sides.0, &sides.1, &settings);
    demand(&comparison, &args.fail_if)?;
    if args.confirm {
        if base.kind().is_some() {
            return Err(Failure::usage(format!(
                "--confirm settles cases of surveys; '{}' is another run: measure it anew for longer",
                base_path.display()
            )));
        }
        let records = [&base, new.as_ref().unwrap_or(&base)];
        confirm::confirm(args, records, matching, &mut comparison)?;
    }
    let found: Vec<_> = args.fail_if.iter().filter_map(|c| c.find(&comparison)).collect();
    screen::print(|options| {
        report::comparison(&comparison, &found, args.format, args.rows, options)
    })?;
    Ok(if found.is_empty() { Exit::Done } else { Exit::Found })
}

type Rows<'a> = (Vec<&'a Measurement>, Vec<&'a Measurement>);

/// The rows of both sides that the filters keep. A name need match in one record only.
fn selected<'a>(
    args: &CompareArgs,
    base: &'a Record,
    new: Option<&'a Record>,
) -> Result<Rows<'a>, Failure> {
    let of_base = choose::rows(base, &args.filter);
    let Some(new) = new else {
        let rows = of_base?;
        return Ok((rows.clone(), rows));
    };
    match (of_base, choose::rows(new, &args.filter)) {
        (Err(error), Err(_)) => Err(error),
        (of_base, of_new) => Ok((of_base.unwrap_or_default(), of_new.unwrap_or_default())),
    }
}

fn side<'a>(record: &'a Record, path: &Path, rows: Vec<&'a Measurement>) -> Side<'a> {
    Side { record, name: record::shown(&path.display().to_string()), rows }
}

fn by_libraries(sides: &mut (Side<'_>, Side<'_>), text: &str) -> Result<Matching, Failure> {
    let globs = split(text);
    let (base, new) = match &globs[..] {
        [base] => (*base, None),
        [base, new] => (*base, Some(*new)),
        _ => {
            return Err(Failure::usage(format!(
                "--libraries '{text}': give the base's and the new one, as in 'openssl@3.0*,openssl@4*'"
            )));
        }
    };
    let base = NameGlob::parse(base).map_err(Failure::usage)?;
    keep(&mut sides.0, &base, text)?;
    let mut found: Vec<_> = sides.0.rows.iter().map(|m| &m.library).collect();
    found.sort();
    found.dedup();
    if found.len() > 1 {
        let names: Vec<String> =
            found.iter().map(|l| format!("{}@{}", l.name, l.version)).collect();
        return Err(Failure::usage(format!(
            "--libraries '{text}': '{}' matches {} libraries ({}); the base must be one",
            base.text(),
            names.len(),
            names.join(", ")
        )));
    }
    if let Some(new) = new {
        keep(&mut sides.1, &NameGlob::parse(new).map_err(Failure::usage)?, text)?;
    }
    Ok(Matching::Every)
}

/// The globs or names of a list.
fn split(text: &str) -> Vec<&str> {
    NameGlob::of_list(text).map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn keep(side: &mut Side<'_>, glob: &NameGlob, text: &str) -> Result<(), Failure> {
    let names = side.rows.iter().map(|m| m.library.name.as_str());
    let near = model::nearest(glob.text(), names);
    side.rows.retain(|m| choose::is_library(glob, &m.library.name, &m.library.version));
    if side.rows.is_empty() {
        let hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
        return Err(Failure::usage(format!(
            "--libraries '{text}': '{}' has no library that matches '{}'{hint}",
            side.name,
            glob.text()
        )));
    }
    side.name = format!("{} of {}", glob.text(), side.name);
    Ok(())
}

fn by_tiers(sides: &mut (Side<'_>, Side<'_>), text: &str) -> Result<(), Failure> {
    let names = split(text);
    let [base, new] = &names[..] else {
        return Err(Failure::usage(format!("--tiers '{text}': give two, as in noaes,native")));
    };
    of_tier(&mut sides.0, base)?;
    of_tier(&mut sides.1, new)
}

fn of_tier(side: &mut Side<'_>, name: &str) -> Result<(), Failure> {
    let tier = Tier::from_str(name, true).map_err(|_| {
        let names: Vec<&str> = Tier::ALL.iter().map(|t| t.name()).collect();
        Failure::usage(format!("'{name}' is not a tier; there are {}", names.join(", ")))
    })?;
    side.rows.retain(|m| m.tier == tier);
    if side.rows.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' has no case at tier {tier}: measure it with `ciphermark run -t {tier}`",
            side.name
        )));
    }
    side.name = format!("tier {tier} of {}", side.name);
    Ok(())
}

/// A condition without anything to judge must not look fulfilled.
pub fn demand(comparison: &Comparison, conditions: &[Condition]) -> Result<(), Failure> {
    if comparison.cases.is_empty() && comparison.states.is_empty() && comparison.leaks.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' and '{}' have no case in common: `ciphermark show` lists the cases of each",
            comparison.base.name, comparison.new.name
        )));
    }
    if conditions.iter().any(|c| c.sought == Sought::Leaks) && comparison.leaks.is_empty() {
        return Err(Failure::usage(
            "--fail-if leaks: no algorithm was judged on both sides; `ciphermark leaks -o FILE` judges, \
             and so does `ciphermark run` unless --no-evidence says otherwise",
        ));
    }
    match conditions.iter().find(|c| c.sought.is_of_instructions()) {
        Some(condition) if comparison.instructions.is_empty() => Err(Failure::usage(format!(
            "--fail-if {condition}: no instructions were counted on both sides; \
             `ciphermark run` counts them unless --no-evidence says otherwise"
        ))),
        _ => Ok(()),
    }
}
