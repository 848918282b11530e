//! `ciphermark compare --from`: runs of an archive, machine by machine.

use super::open::{ask, by_machine, chosen, failure};
use crate::args::CompareArgs;
use crate::commands::compare::demand;
use crate::error::{Exit, Failure};
use crate::{choose, screen};
use judge::compare::{Comparison, Matching, Settings, Side};
use record::archive::{Archive, Chosen, Listed, Selection};
use record::{Measurement, Record};
use report::{ComparedMachine, ComparisonFormat};
use std::collections::BTreeSet;

/// Compares two runs of each machine; the exit code says whether a condition holds on any.
pub fn compare(args: &CompareArgs, store: &str) -> Result<Exit, Failure> {
    if matches!(args.format, ComparisonFormat::Csv) {
        return Err(Failure::usage("--from has the formats text, markdown and json"));
    }
    let (mut archive, all) = ask(store, &args.which)?;
    let of_cases = chosen(&mut archive, &args.filter)?;
    let sides = Sides::of(args, &mut archive, &of_cases)?;
    let (mut compared, mut without) = (Vec::new(), Vec::new());
    for runs in by_machine(&all) {
        match sides.pair(runs) {
            Some((base, new)) => compared.push(one(args, &mut archive, &sides, (base, new))?),
            None => without.push(runs[0].machine.clone()),
        }
    }
    if compared.is_empty() {
        return Err(Failure::usage(format!(
            "no machine of '{store}' has two such runs: `ciphermark archive list {store}` shows all"
        )));
    }
    let found = compared.iter().any(|c| !c.found.is_empty());
    screen::print(|options| {
        report::machines(&compared, &without, args.format, args.rows, options)
    })?;
    Ok(if found { Exit::Found } else { Exit::Done })
}

/// Which runs and libraries are compared.
struct Sides {
    /// Runs that may be the base, those that may be judged.
    ids: [BTreeSet<i64>; 2],
    /// Their cases that are read.
    of_base: Chosen,
    of_new: Chosen,
    since: Option<i64>,
    names_libraries: bool,
}

impl Sides {
    fn of(args: &CompareArgs, archive: &mut Archive, cases: &Chosen) -> Result<Self, Failure> {
        let [base, new] = [&args.of_base, &args.of_new].map(|of| of.clone().unwrap_or_default());
        let mut of = |side: &Selection| -> Result<(BTreeSet<i64>, Chosen), Failure> {
            let runs = archive.list(side, args.which.doubtful).map_err(failure)?;
            let takes = |id: &record::LibraryId| side.takes_library(id);
            let only: Option<&dyn Fn(&record::LibraryId) -> bool> =
                if side.library.is_some() { Some(&takes) } else { None };
            let chosen = archive.narrow(cases, only).map_err(failure)?;
            Ok((runs.iter().map(|r| r.id).collect(), chosen))
        };
        let ((base_ids, of_base), (new_ids, of_new)) = (of(&base)?, of(&new)?);
        let names_libraries = base.library.is_some() && new.library.is_some();
        Ok(Self { ids: [base_ids, new_ids], of_base, of_new, since: args.since, names_libraries })
    }

    /// The base and what is judged, of one machine's runs in the order of time.
    fn pair<'a>(&self, runs: &'a [Listed]) -> Option<(&'a Listed, &'a Listed)> {
        let (base, new) = match self.since {
            Some(since) => {
                let (before, after) = runs.split_at(runs.partition_point(|r| r.started < since));
                (before.last().or(after.first())?, after.last()?)
            }
            None => {
                let last = |ids: &BTreeSet<i64>| runs.iter().rev().find(|r| ids.contains(&r.id));
                (last(&self.ids[0])?, last(&self.ids[1])?)
            }
        };
        (base.id != new.id || self.names_libraries).then_some((base, new))
    }
}

fn one(
    args: &CompareArgs,
    archive: &mut Archive,
    sides: &Sides,
    (base, new): (&Listed, &Listed),
) -> Result<ComparedMachine, Failure> {
    let of_base = archive.load(base, &sides.of_base).map_err(failure)?;
    let of_new = archive.load(new, &sides.of_new).map_err(failure)?;
    let matching = if sides.names_libraries { Matching::Every } else { Matching::ByName };
    let settings =
        Settings { tolerance: args.same_within, matching, apart: judge::compare::Apart::Nothing };
    let comparison = judge::compare::compare(
        &side(&of_base, base, choose::rows_if_any(&of_base, &args.filter)?),
        &side(&of_new, new, choose::rows_if_any(&of_new, &args.filter)?),
        &settings,
    );
    let conditions = args.conditions();
    demand(&comparison, &conditions)?;
    let found = conditions.iter().filter_map(|c| c.find(&comparison)).collect();
    Ok(machine(base, new, comparison, found))
}

fn side<'a>(record: &'a Record, listed: &Listed, rows: Vec<&'a Measurement>) -> Side<'a> {
    let name = format!("{} {}", listed.machine, listed.sha256.get(..12).unwrap_or_default());
    Side { record, name, rows }
}

fn machine(
    base: &Listed,
    new: &Listed,
    comparison: Comparison,
    found: Vec<judge::compare::Found>,
) -> ComparedMachine {
    ComparedMachine {
        machine: new.machine.clone(),
        base: (base.day(), base.sha256.clone()),
        new: (new.day(), new.sha256.clone()),
        comparison,
        found,
    }
}
