//! `ciphermark compare`: two records, or two libraries, tiers, algorithms, sizes or directions of one, case by case.

use super::confirm;
use crate::args::{CompareArgs, one_size};
use crate::error::{Exit, Failure};
use crate::{choose, kinds, screen};
use base::model::{NameGlob, Tier};
use clap::ValueEnum as _;
use judge::compare::{
    Apart, Between, Comparison, Condition, Matching, Part, Settings, Side, Sought,
};
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
    let (apart, between) = apart(args, &mut sides)?;
    let settings = Settings { tolerance: args.same_within, matching, apart };
    let mut comparison = judge::compare::compare(&sides.0, &sides.1, &settings);
    comparison.between = between;
    let conditions = args.conditions();
    demand(&comparison, &conditions)?;
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
    let found: Vec<_> = conditions.iter().filter_map(|c| c.find(&comparison)).collect();
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
    let near = base::model::nearest(glob.text(), names);
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

/// In what the sides differ beside their libraries: each keeps the rows of its own.
fn apart(
    args: &CompareArgs,
    sides: &mut (Side<'_>, Side<'_>),
) -> Result<(Apart, Option<Between>), Failure> {
    let asked = [
        ("algorithm", "--algorithms", "aes-128-gcm,aes-256-gcm", &args.algorithms),
        ("size", "--sizes", "4K,16K", &args.sizes),
        ("direction", "--directions", "encrypt,decrypt", &args.directions),
        ("tier", "--tiers", "noaes,native", &args.tiers),
    ];
    let found = asked.into_iter().find_map(|(what, flag, as_in, text)| {
        text.as_deref().map(|text| (what, flag, as_in, text))
    });
    let Some((what, flag, as_in, text)) = found else { return Ok((Apart::Nothing, None)) };
    let names = split(text);
    let [base, new] = names[..] else {
        return Err(Failure::usage(format!("{flag} '{text}': give two, as in {as_in}")));
    };
    if base == new {
        return Err(Failure::usage(format!("{flag} '{text}': the two are the same")));
    }
    let apart = match what {
        "algorithm" => {
            let parts = Part::of(base).zip(Part::of(new));
            let (base, new) =
                parts.filter(|_| base.contains('*') == new.contains('*')).ok_or_else(|| {
                    Failure::usage(format!(
                        "{flag} '{text}': give two names, or two with a star each, as in 'aes-128-*,aes-256-*'"
                    ))
                })?;
            Apart::Algorithm { base, new }
        }
        "size" => Apart::Size,
        "direction" => Apart::Direction,
        _ => Apart::Tier,
    };
    keep_of(&mut sides.0, apart, base)?;
    keep_of(&mut sides.1, apart, new)?;
    Ok((apart, Some(Between { what, base: base.to_owned(), new: new.to_owned() })))
}

/// Leaves a side the rows of its algorithm, size, direction or tier.
fn keep_of(side: &mut Side<'_>, apart: Apart, text: &str) -> Result<(), Failure> {
    let mut hint = String::new();
    match apart {
        Apart::Algorithm { .. } => {
            let near = base::model::nearest(text, side.rows.iter().map(|m| m.algorithm.as_str()));
            hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
            let glob = NameGlob::parse(text).map_err(Failure::usage)?;
            side.rows.retain(|m| glob.matches(&m.algorithm));
        }
        Apart::Size => {
            let size = one_size(text).map_err(Failure::usage)?;
            side.rows.retain(|m| m.size == size && m.model.has_bytes());
        }
        Apart::Direction => side.rows.retain(|m| m.direction.to_string() == text),
        Apart::Tier | Apart::Nothing => return of_tier(side, text),
    }
    if side.rows.is_empty() {
        return Err(Failure::usage(format!("'{}' has no case of '{text}'{hint}", side.name)));
    }
    side.name = format!("{text} of {}", side.name);
    Ok(())
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
