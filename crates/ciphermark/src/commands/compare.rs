//! `ciphermark compare`: two records, or two libraries, tiers, algorithms, sizes or directions of one, case
//! by case; with `--from` runs of an archive, machine by machine; with `--confirm` candidates are settled by
//! pairs of processes of the two builds.

use crate::commands::archive::{WhichArgs, ask, by_machine, failure, selection};
use crate::commands::run::watch_signals;
use crate::commands::watch::predicted::{self, Predicting};
use crate::commands::{Filter, choose, one_size};
use crate::screen::Bar;
use crate::{Exit, Failure, files, screen};
use base::analysis::Verdict;
use base::model::{Algorithm, Direction, NameGlob, Tier};
use base::text::flags::{parse_duration, parse_fraction, parse_rows};
use clap::{Args, ValueEnum as _};
use engine::{Attached, Budget, PairBench, PairError, Request, Stop};
use judge::compare::{
    Apart, Between, Compared, Comparison, Condition, Confirmation, InstructionRow, Matching, Part,
    Settings, Side, Sought, Told,
};
use record::archive::{Archive, Chosen, Listed, Selection};
use record::{LibraryId, Measurement, Record, WITH};
use report::{ComparedMachine, ComparisonFormat, Without};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `ciphermark compare`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark compare before.json after.json\n  \
    ciphermark compare run.json --libraries 'openssl@3.0*,openssl@4*'\n  \
    ciphermark compare run.json --libraries 'openssl@4*'            one library against each other one\n  \
    ciphermark compare run.json --tiers noaes,native -a 'aes-*'\n  \
    ciphermark compare run.json --algorithms 'aes-128-*,aes-256-*'  what AES-256 costs over AES-128\n  \
    ciphermark compare run.json --algorithms aes-256-gcm,aes-256-gcm-siv -s 8K\n  \
    ciphermark compare run.json --sizes 4K,16K -l 'openssl@3*'      what a byte costs in larger chunks\n  \
    ciphermark compare base.json head.json --fail-if slower:2% --fail-if instructions:0.5%\n  \
    ciphermark compare base.json head.json --confirm --budget 2m    settle candidates with pairs of processes\n  \
    ciphermark compare base.json head.json --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n  \
    ciphermark compare mix.json --from calls.json --libraries 'openssl@3.0*,openssl@3.5*'   for a watched program\n  \
    ciphermark compare --from fleet.db --since 2026-11-01 --fail-if slower:2%\n  \
    ciphermark compare --from fleet.db --base library=openssl@3.5* --new library=openssl@4*\n\n\
    Conditions of --fail-if:\n  \
    slower[:PERCENT]        a case is certainly slower, and its estimate is more than this\n  \
    mean[:PERCENT]          the geometric mean over all shared cases is certainly slower, by more than this\n  \
    instructions[:PERCENT]  instructions at a measured size, per byte or per message grew by more\n                          \
    than this; also instructions-per-operation, -per-byte, -per-message\n  \
    leaks                   a place depends on the secret now, and did not in BASE\n  \
    refused                 a case that BASE measured is refused or failed in NEW\n  \
    missing                 a case that BASE measured is absent from NEW\n  \
    undecided               there is no verdict on a case\n  \
    never                   nothing\n\n\
    --confirm compares a case again, as `ciphermark pair` does, if it is faster or slower, or undecided\n\
    with an estimate beyond --same-within. Both builds must still be on this machine. Cases that would\n\
    make the exit code 1 come first, until --budget is spent. The new verdict replaces the old one and\n\
    decides the exit code.\n\n\
    Exit codes: 0 nothing found; 1 a condition holds; 2 wrong usage, or nothing to compare.")]
pub struct CompareArgs {
    /// The record to compare with.
    #[arg(value_name = "BASE", required_unless_present = "from")]
    pub base: Option<PathBuf>,
    /// The record to judge; without it, compare two libraries, tiers, algorithms, sizes or directions
    /// of BASE.
    #[arg(value_name = "NEW", required_unless_present_any = ["libraries", "tiers", "algorithms", "sizes", "directions", "from"], conflicts_with = "from")]
    pub new: Option<PathBuf>,
    /// Compare runs of an archive, machine by machine. Or builds for a watched program (`watch -o`): its own, as measured in
    /// BASE (`run --workload`), with others.
    #[arg(long, value_name = "STORE|CALLS", conflicts_with_all = ["tiers", "confirm"])]
    pub from: Option<String>,
    /// With --from: the newest run against the last one before this day, or else the first since then.
    #[arg(long, value_name = "DAY", value_parser = record::archive::day, requires = "from", conflicts_with_all = ["of_base", "of_new"], required_unless_present_any = ["of_base", "of_new", "base", "libraries"])]
    pub since: Option<i64>,
    /// With --from: the base is each machine's newest run of these (machine=, library=, since=, until=, record=).
    #[arg(long = "base", value_name = "SELECT", value_parser = selection, requires = "from")]
    pub of_base: Option<Selection>,
    /// With --from: what is judged is each machine's newest run of these.
    #[arg(long = "new", value_name = "SELECT", value_parser = selection, requires = "from")]
    pub of_new: Option<Selection>,
    /// Which runs of the archive.
    #[command(flatten)]
    pub which: WhichArgs,
    /// The base's library and the new one, as globs over name or name@version; with one alone,
    /// compare it with each of the others.
    #[arg(long, value_name = "BASE[,NEW]")]
    pub libraries: Option<String>,
    /// The base's tier and the new one.
    #[arg(long, value_name = "BASE,NEW")]
    pub tiers: Option<String>,
    /// The base's algorithm and the new one, of one record: two names, or two with a star each, which
    /// stands for the same in both.
    #[arg(long, value_name = "BASE,NEW", conflicts_with_all = ["new", "from", "confirm", "libraries", "tiers", "sizes", "directions"])]
    pub algorithms: Option<String>,
    /// The base's size and the new one, of one record, compared by what a byte costs.
    #[arg(long, value_name = "BASE,NEW", conflicts_with_all = ["new", "from", "confirm", "libraries", "tiers", "directions"])]
    pub sizes: Option<String>,
    /// The base's direction and the new one, of one record.
    #[arg(long, value_name = "BASE,NEW", conflicts_with_all = ["new", "from", "confirm", "libraries", "tiers"])]
    pub directions: Option<String>,
    /// Which cases.
    #[command(flatten)]
    pub filter: Filter,
    /// Call two cases the same if they differ by at most this.
    #[arg(long, visible_alias = "threshold", value_parser = parse_fraction, allow_hyphen_values = true, value_name = "PERCENT", default_value = "0.5%")]
    pub same_within: f64,
    /// Conditions that make the exit code 1; may be repeated [default: slower, refused; of
    /// algorithms, sizes and directions: never].
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Settle candidates with pairs of processes; both builds must be on this machine.
    #[arg(long, conflicts_with = "tiers")]
    pub confirm: bool,
    /// Spend at most this long on --confirm.
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true, value_name = "TIME", default_value = "60s", requires = "confirm")]
    pub budget: Duration,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
    /// How many cases of each verdict to list in text and Markdown, a number or all [default: a screen; in
    /// Markdown 20].
    #[arg(long, value_name = "N|all", value_parser = parse_rows)]
    pub rows: Option<usize>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ComparisonFormat,
}

impl CompareArgs {
    /// Conditions that make the exit code 1. What another algorithm costs is a question, and no regression.
    pub fn conditions(&self) -> Vec<Condition> {
        let asks = self.algorithms.is_some() || self.sizes.is_some() || self.directions.is_some();
        if !self.fail_if.is_empty() || asks {
            return self.fail_if.clone();
        }
        ["slower", "refused"].map(|c| c.parse().expect("one of the conditions")).to_vec()
    }
}

/// Compares and prints; the exit code says whether a condition holds.
pub fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    if let Some(store) = &args.from {
        if let Some(calls) = predicted::calls_at(store)? {
            args.which.without_archive()?;
            if !args.fail_if.is_empty() || args.filter.chooses_cases() {
                return Err(Failure::usage(
                    "what a change saves a watched program is no gate and of all its messages: without --fail-if and \
                     what chooses cases",
                ));
            }
            let predicting = Predicting {
                record: args.base.as_deref(),
                libraries: &args.filter.library,
                ..Predicting::of(&calls, store, args.format)?
            };
            return predicting.compare(args.libraries.as_deref());
        }
        if args.base.is_some() || args.libraries.is_some() {
            return Err(Failure::usage(format!(
                "--from '{store}' is no file of `ciphermark watch -o`, and an archive takes no record and no --libraries beside it"
            )));
        }
        return compare_machines(args, store);
    }
    args.which.without_archive()?;
    let base_path = args.base.as_deref().unwrap_or(Path::new(""));
    let base = files::record(base_path).map_err(Failure::usage)?;
    let new = args.new.as_deref().map(files::record).transpose().map_err(Failure::usage)?;
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
    demand(&comparison, &conditions, &args.fail_if)?;
    if args.confirm {
        if base.kind().is_some() {
            return Err(Failure::usage(format!(
                "--confirm settles cases of surveys; '{}' is another run: measure it anew for longer",
                base_path.display()
            )));
        }
        let records = [&base, new.as_ref().unwrap_or(&base)];
        confirm(args, records, matching, &mut comparison)?;
    }
    let found: Vec<_> = conditions.iter().filter_map(|c| c.find(&comparison)).collect();
    screen::print(|options| match (args.rows, args.format) {
        (None, ComparisonFormat::Text) => report::comparison_screen(&comparison, &found, options),
        (rows, format) => {
            report::comparison(&comparison, &found, format, rows.unwrap_or(ROWS), options)
        }
    })?;
    Ok(if found.is_empty() { Exit::Done } else { Exit::Found })
}

/// Cases of each verdict that are listed where nobody says how many.
const ROWS: usize = 20;

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
    // Of a version that was measured and imported, the measured one is the base.
    let imported = |id: &&LibraryId| id.path.is_empty() && id.id.is_empty();
    if found.iter().filter(|id| !imported(id)).count() == 1 {
        found.retain(|id| !imported(id));
        let base = found[0].clone();
        sides.0.rows.retain(|m| m.library == base);
        found = vec![&sides.0.rows[0].library];
    }
    if found.len() > 1 {
        let names: Vec<String> = found.iter().map(|l| l.label()).collect();
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
    let hint = base::model::suggestion(glob.text(), names);
    side.rows.retain(|m| glob.matches_library(&m.library.name, &m.library.version));
    if side.rows.is_empty() {
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
            // A name that there is was meant.
            if Algorithm::find(text).is_err() {
                let all = side.rows.iter().map(|m| m.algorithm.as_str());
                hint = base::model::suggestion(text, all);
            }
            let glob = NameGlob::parse(text).map_err(Failure::usage)?;
            side.rows.retain(|m| glob.matches(&m.algorithm));
        }
        Apart::Size => {
            let size = one_size(text).map_err(Failure::usage)?;
            side.rows.retain(|m| m.model.has_bytes());
            let all: BTreeSet<usize> = side.rows.iter().map(|m| m.size).collect();
            let all: Vec<String> = all.iter().map(usize::to_string).collect();
            hint = format!(", only of {}", all.join(", "));
            side.rows.retain(|m| m.size == size);
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

/// A condition without anything to judge must not look fulfilled, least of all one that was typed.
pub fn demand(
    comparison: &Comparison,
    conditions: &[Condition],
    typed: &[Condition],
) -> Result<(), Failure> {
    let has_verdicts = comparison.leaks.iter().any(|row| row.new.is_some());
    // Verdicts on secrets are all that a record by `leaks` has.
    let asks_for_verdicts =
        comparison.only.is_empty() || conditions.iter().all(|c| c.sought == Sought::Leaks);
    let has_cases = !comparison.cases.is_empty() || !comparison.states.is_empty();
    if !(has_cases || has_verdicts && asks_for_verdicts) {
        return Err(Failure::usage(format!(
            "'{}' and '{}' have no case in common: `ciphermark show` lists the cases of each",
            comparison.base.name, comparison.new.name
        )));
    }
    if conditions.iter().any(|c| c.sought == Sought::Leaks) && !has_verdicts {
        return Err(Failure::usage(
            "--fail-if leaks: no algorithm was judged on both sides; `ciphermark leaks -o FILE` judges, \
             and so does `ciphermark run` unless --no-evidence says otherwise",
        ));
    }
    let of_speed = |c: &&Condition| matches!(c.sought, Sought::Slower | Sought::Mean);
    let has_ratio = comparison.cases.iter().any(|case| case.ratio.is_some());
    let none_holds = || !conditions.iter().any(|c| c.find(comparison).is_some());
    if let Some(condition) = typed.iter().find(of_speed).filter(|_| !has_ratio && none_holds()) {
        return Err(Failure::usage(format!(
            "--fail-if {condition}: no case has an interval on both sides, so none can be judged"
        )));
    }
    let is_counted = comparison.instructions.iter().any(InstructionRow::is_counted);
    match conditions.iter().find(|c| c.sought.is_of_instructions()) {
        Some(condition) if !is_counted => Err(Failure::usage(format!(
            "--fail-if {condition}: no instructions were counted on both sides; \
             `ciphermark run` counts them unless --no-evidence says otherwise"
        ))),
        _ => Ok(()),
    }
}

/// Compares two runs of each machine; the exit code says whether a condition holds on any.
pub fn compare_machines(args: &CompareArgs, store: &str) -> Result<Exit, Failure> {
    if matches!(args.format, ComparisonFormat::Csv) {
        return Err(Failure::usage("--from has the formats text, markdown and json"));
    }
    let (mut archive, all) = ask(store, &args.which)?;
    let sides = Sides::of(args, &mut archive)?;
    let (mut compared, mut without, mut is_unjudged) = (Vec::new(), Vec::new(), false);
    for runs in by_machine(&all) {
        match sides.pair(runs) {
            Some((base, new)) => match compare_runs(args, &mut archive, &sides, base, new) {
                Ok(machine) => compared.push(machine),
                // Of one machine it ends no other's.
                Err(why) if why.exit == Exit::Usage => {
                    is_unjudged = true;
                    without.push(Without { machine: new.machine.clone(), why: why.message });
                }
                Err(why) => return Err(why),
            },
            None => without.push(Without {
                machine: runs[0].machine.clone(),
                why: "no two such runs".to_owned(),
            }),
        }
    }
    if let Some(one) = without.first().filter(|_| compared.is_empty() && is_unjudged) {
        return Err(Failure::usage(format!("{}: {}", one.machine, one.why)));
    }
    if compared.is_empty() {
        return Err(Failure::usage(format!(
            "no machine of '{store}' has two such runs: `ciphermark archive list {store}` shows all"
        )));
    }
    let found = compared.iter().any(|c| !c.found.is_empty());
    screen::print(|options| {
        report::machines(&compared, &without, args.format, args.rows.unwrap_or(ROWS), options)
    })?;
    Ok(match (found, is_unjudged) {
        (true, _) => Exit::Found,
        (false, true) => Exit::Usage,
        (false, false) => Exit::Done,
    })
}

struct Sides {
    /// Runs that may be the base, those that may be judged.
    ids: [BTreeSet<i64>; 2],
    selections: [Selection; 2],
    since: Option<i64>,
    names_libraries: bool,
}

impl Sides {
    fn of(args: &CompareArgs, archive: &mut Archive) -> Result<Self, Failure> {
        let selections = [&args.of_base, &args.of_new].map(|of| of.clone().unwrap_or_default());
        let mut ids = |side: &Selection| -> Result<BTreeSet<i64>, Failure> {
            let runs = archive.list(side, args.which.doubtful).map_err(failure)?;
            Ok(runs.iter().map(|r| r.id).collect())
        };
        let ids = [ids(&selections[0])?, ids(&selections[1])?];
        let names_libraries = selections.iter().all(|side| side.library.is_some());
        Ok(Self { ids, selections, since: args.since, names_libraries })
    }

    /// The base and what is judged, of one machine's runs in the order of time: of one kind, as a survey and a page store
    /// have no case in common. A run of verdicts on secrets alone is judged only where there is nothing else.
    fn pair<'a>(&self, runs: &'a [Listed]) -> Option<(&'a Listed, &'a Listed)> {
        let newest = |takes: &dyn Fn(&Listed) -> bool| {
            let new = runs.iter().rev().filter(|r| takes(r));
            new.clone().find(|r| r.cases > 0).or_else(|| new.clone().next())
        };
        let alike =
            |r: &Listed, new: &Listed| r.kind == new.kind && (r.cases > 0) == (new.cases > 0);
        let (base, new) = match self.since {
            Some(since) => {
                let new = newest(&|r| r.started >= since)?;
                let alike = runs.iter().filter(|r| alike(r, new));
                let before = alike.clone().rfind(|r| r.started < since);
                (before.or_else(|| alike.clone().next())?, new)
            }
            None => {
                let new = newest(&|r| self.ids[1].contains(&r.id))?;
                let takes = |r: &Listed| self.ids[0].contains(&r.id);
                let like = runs.iter().rev().find(|r| takes(r) && alike(r, new));
                (like.or_else(|| runs.iter().rev().find(|r| takes(r)))?, new)
            }
        };
        (base.id != new.id || self.names_libraries).then_some((base, new))
    }
}

fn compare_runs(
    args: &CompareArgs,
    archive: &mut Archive,
    sides: &Sides,
    base: &Listed,
    new: &Listed,
) -> Result<ComparedMachine, Failure> {
    // Whole: what the runs add to all cases is learned from those that nobody asks for, too.
    let mut load = |run| archive.load(run, &Chosen::default()).map_err(failure);
    let (of_base, of_new) = (load(base)?, load(new)?);
    let matching = if sides.names_libraries { Matching::Every } else { Matching::ByName };
    let settings = Settings { tolerance: args.same_within, ..Settings::of(matching) };
    let [asked_of_base, asked_of_new] = &sides.selections;
    let side = |record, run, asked: &Selection| -> Result<_, Failure> {
        let mut rows = choose::rows_if_any(record, &args.filter)?;
        rows.retain(|m| asked.takes_library(&m.library));
        Ok(side_of_run(record, run, rows))
    };
    let comparison = judge::compare::compare(
        &side(&of_base, base, asked_of_base)?,
        &side(&of_new, new, asked_of_new)?,
        &settings,
    );
    let conditions = args.conditions();
    demand(&comparison, &conditions, &args.fail_if)?;
    let found = conditions.iter().filter_map(|c| c.find(&comparison)).collect();
    Ok(ComparedMachine {
        machine: new.machine.clone(),
        base: (base.day(), base.sha256.clone()),
        new: (new.day(), new.sha256.clone()),
        comparison,
        found,
    })
}

fn side_of_run<'a>(record: &'a Record, listed: &Listed, rows: Vec<&'a Measurement>) -> Side<'a> {
    let name = format!("{} {}", listed.machine, listed.sha256.get(..12).unwrap_or_default());
    Side { record, name, rows }
}

/// Most time for one case, so that one that cannot be decided leaves some for the others.
const MOST_FOR_ONE: Duration = Duration::from_secs(30);
/// Less is not worth starting the processes.
const LEAST_FOR_ONE: Duration = Duration::from_secs(3);

/// Settles what it can within the budget, the most suspicious first.
pub fn confirm(
    args: &CompareArgs,
    records: [&Record; 2],
    matching: Matching,
    comparison: &mut Comparison,
) -> Result<(), Failure> {
    let stop = watch_signals()?;
    let bar = Bar::new(args.quiet);
    let begun = Instant::now();
    let candidates = comparison.candidates();
    let mut told = Confirmation {
        candidates: candidates.len(),
        budget_seconds: args.budget.as_secs_f64(),
        ..Confirmation::default()
    };
    let mut builds = Builds { elsewhere: elsewhere(records), found: BTreeMap::new() };
    for (done, index) in candidates.iter().copied().enumerate() {
        let case = &comparison.cases[index];
        bar.confirming(done, candidates.len(), &case.case.algorithm, case.case.size);
        let left = args.budget.saturating_sub(begun.elapsed());
        let budget = share(left, candidates.len() - done);
        match settle(case, &mut builds, args.same_within, budget, &stop) {
            Ok((verdict, one)) => {
                comparison.settle(index, verdict, one);
                let settled = verdict != Verdict::Undecided;
                *(if settled { &mut told.settled } else { &mut told.undecided }) += 1;
            }
            Err(why) => told.leave(&why),
        }
    }
    bar.finish();
    told.seconds = begun.elapsed().as_secs_f64();
    comparison.sum_up(matching, told);
    Ok(())
}

/// Time for the next case: twice its share, because most end long before theirs is spent. `None` if too
/// little is left for another case.
fn share(left: Duration, cases: usize) -> Option<Duration> {
    let share = left * 2 / u32::try_from(cases).unwrap_or(u32::MAX).max(1);
    (left >= LEAST_FOR_ONE).then(|| share.clamp(LEAST_FOR_ONE, MOST_FOR_ONE).min(left))
}

/// Compares one case by pairs, or says why not.
fn settle(
    case: &Compared,
    builds: &mut Builds,
    margin: f64,
    budget: Option<Duration>,
    stop: &Stop,
) -> Result<(Verdict, Told), String> {
    let request = request(case, budget)?;
    let sides = [builds.find(&case.base_library)?, builds.find(&case.new_library)?];
    if stop.is_interrupted() {
        return Err("interrupted".to_owned());
    }
    let budget = request.budget.time;
    if budget.is_zero() {
        return Err("no time left: raise --budget".to_owned());
    }
    let begun = Instant::now();
    let failed = |error: PairError| format!("pairs could not be measured: {error}");
    let mut bench = PairBench::new(&request, &sides, margin).map_err(failed)?;
    let outcome = bench.trial(stop).map_err(failed)?;
    let told = Told {
        ratio: outcome.ratio,
        pairs: outcome.pairs.len(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    if outcome.ratio.is_none() {
        return Err("no time left: raise --budget".to_owned());
    }
    Ok((outcome.verdict, told))
}

fn request(case: &Compared, budget: Option<Duration>) -> Result<Request, String> {
    let c = &case.case;
    if c.threads != 1 {
        return Err("pairs are compared with one thread".to_owned());
    }
    let algorithm = Algorithm::find(&c.algorithm).map_err(|e| e.to_string())?;
    // A digest has one direction, whichever is asked for.
    let directions = match c.direction {
        Direction::Decrypt => vec![Direction::Decrypt],
        _ => vec![Direction::Encrypt],
    };
    let budget = Budget { precision: 0.0, time: budget.unwrap_or_default() };
    Ok(Request {
        directions,
        models: vec![c.model],
        sizes: vec![c.size],
        tiers: vec![c.tier],
        footprints: vec![c.footprint],
        in_place: vec![c.in_place],
        ..choose::plain_request(vec![algorithm], budget)
    })
}

/// The measured builds, as far as this machine still has them.
struct Builds {
    /// Why no build of these records can be paired here.
    elsewhere: Option<String>,
    found: BTreeMap<LibraryId, Result<Attached, String>>,
}

impl Builds {
    /// The very build that the record names, loaded once.
    fn find(&mut self, id: &LibraryId) -> Result<Attached, String> {
        if let Some(why) = &self.elsewhere {
            return Err(why.clone());
        }
        self.found.entry(id.clone()).or_insert_with(|| attach(id)).clone()
    }
}

/// A pair measured here says nothing about another processor, nor about other circumstances.
fn elsewhere(records: [&Record; 2]) -> Option<String> {
    // As records have it, with `~` for the home directory.
    let host = record::shared(host::facts(0));
    let here = host.cpu.kind();
    if let Some(other) = records.iter().map(|r| r.host.cpu.kind()).find(|kind| *kind != here) {
        return Some(format!("measured on another processor ({other}); this one is {here}"));
    }
    let differing =
        |r: &Record| record::differing_circumstances(&r.host.circumstances, &host.circumstances);
    let [name, ..] = records.into_iter().flat_map(differing).next()?;
    Some(format!("measured under another {name}, which decides which code runs"))
}

fn attach(id: &LibraryId) -> Result<Attached, String> {
    let label = id.label();
    if base::model::runs_elsewhere(Path::new(&id.path)) {
        return Err(format!("{label} is no file, which pairs could reload"));
    }
    let path = record::expanded(&id.path);
    if !path.is_file() {
        return Err(format!("{label} is not available: '{}' does not exist", id.path));
    }
    let other = |here: &str| {
        format!("{label} is not available: '{}' is another build now ({here})", id.path)
    };
    let here = host::file_id(&path).map_err(|e| format!("'{}': {e}", id.path))?;
    if id.own_file() != here {
        return Err(other(&here));
    }
    let mut found = choose::attached(&[format!("{}={}", id.name, path.display())])
        .map_err(|e| format!("{label} cannot be loaded: {}", e.message))?;
    let found = found.pop().ok_or_else(|| format!("{label} cannot be loaded"))?;
    // Ids of older records are of the library's own file alone.
    if id.id.contains(WITH) && found.facts.id != id.id {
        return Err(other(&found.facts.id));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_gets_twice_its_share_within_bounds_and_never_more_than_is_left() {
        let seconds = Duration::from_secs;
        assert_eq!(share(seconds(60), 8), Some(seconds(15)));
        assert_eq!(share(seconds(60), 1), Some(MOST_FOR_ONE));
        assert_eq!(share(seconds(60), 1000), Some(LEAST_FOR_ONE));
        assert_eq!(share(seconds(4), 1), Some(seconds(4)));
        assert_eq!(share(seconds(2), 1), None);
    }

    #[test]
    fn a_machines_newest_run_is_compared_with_one_of_its_kind_and_not_with_verdicts_or_pages() {
        let run = |id: i64, kind: Option<&str>, cases| Listed {
            id,
            sha256: String::new(),
            machine: "c7i".to_owned(),
            region: None,
            cpu: String::new(),
            kind: kind.map(str::to_owned),
            started: id * 10,
            added: 0,
            trust: record::archive::Trust::Own,
            signer: None,
            doubts: Vec::new(),
            cases,
            shape: None,
        };
        let runs = [
            run(1, None, 9),
            run(2, Some("pages"), 9),
            run(3, None, 9),
            run(4, None, 0),
            run(5, Some("pages"), 9),
            run(6, None, 9),
            run(7, None, 0),
        ];
        let sides = |since| Sides {
            ids: [BTreeSet::from_iter(1..=3), BTreeSet::from_iter(4..=7)],
            selections: Default::default(),
            since,
            names_libraries: false,
        };
        let ids = |sides: &Sides, runs| sides.pair(runs).map(|(base, new)| (base.id, new.id));
        assert_eq!(ids(&sides(Some(35)), &runs), Some((3, 6)));
        assert_eq!(ids(&sides(Some(0)), &runs), Some((1, 6)), "none before: the first since then");
        assert_eq!(ids(&sides(None), &runs), Some((3, 6)));
        assert_eq!(ids(&sides(Some(35)), &runs[..5]), Some((2, 5)));
        let verdicts = [run(4, None, 0), run(7, None, 0)];
        assert_eq!(ids(&sides(Some(50)), &verdicts), Some((4, 7)), "for `--fail-if leaks`");
    }

    #[test]
    fn pairs_are_measured_under_the_circumstances_of_the_records_alone() {
        let here = Record { host: record::shared(host::facts(0)), ..Record::default() };
        assert_eq!(elsewhere([&here, &here]), None);
        let mut masked = here.clone();
        masked.host.circumstances.clear();
        masked.host.circumstances.push(record::Circumstance {
            name: "A_MASK".into(),
            value: Some("~0x2".into()),
            ..record::Circumstance::default()
        });
        let why = elsewhere([&here, &masked]).unwrap();
        assert_eq!(why, "measured under another A_MASK, which decides which code runs");
    }

    #[test]
    fn a_build_that_is_gone_or_was_replaced_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("libx.so");
        let path = file.display().to_string();
        let id =
            LibraryId { name: "x".into(), version: "1".into(), path, id: "build-id:00".into() };
        assert!(attach(&id).unwrap_err().ends_with("does not exist"));
        std::fs::write(&file, "another build").unwrap();
        assert!(attach(&id).unwrap_err().contains("is another build now (sha256:"));
    }
}
