//! Two sides, case by case.

use crate::compare::instructions::{InstructionRow, LeakRow, instruction_rows};
use crate::compare::sides::{
    Apart, Between, Matching, Met, Only, OnlyIn, Other, StateRow, Which, meet, pairs, state_row,
};
use crate::compare::verdicts::{ByPairs, Confirmation, Summary, Tally, summaries};
use crate::compare::{
    Borrowed, Case as Key, Unit, borrowed, costs, family, group, instructions, sides,
};
use base::analysis::{
    ALPHA, BETWEEN_RUNS, BETWEEN_RUNS_OF_ONE_CASE, FAMILY_ALPHA, Group, Ratio, Verdict, holm,
    run_effect, verdict_of_many,
};
use base::model::{Direction, Tier};
use record::{LibraryId, Measurement, Record, State};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// The record.
    pub record: &'a Record,
    /// What to call it: the file, or what of it is compared.
    pub name: String,
    /// The measurements that are compared.
    pub rows: Vec<&'a Measurement>,
}

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Differences up to this do not matter (a fraction).
    pub tolerance: f64,
    /// How libraries find each other.
    pub matching: Matching,
    /// In what the sides differ beside.
    pub apart: Apart,
}

/// One case that was measured on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The base's library.
    pub base_library: LibraryId,
    /// The new side's library.
    pub new_library: LibraryId,
    /// Which case.
    #[serde(flatten)]
    pub case: Key,
    /// What of the base's case is another, where the two sides differ in it.
    #[serde(flatten)]
    pub base: Other,
    /// Family of the algorithm.
    pub family: String,
    /// What a reader must be told of the algorithm.
    pub warning: Option<String>,
    /// What is said of the new side.
    pub verdict: Verdict,
    /// Whether both sides have the very same samples: one measurement, not two.
    pub identical: bool,
    /// The new cost over the base's, with its own 95 % interval.
    pub ratio: Option<Ratio>,
    /// Cost of one operation in the base, in the comparison's unit.
    pub base_cost: Option<f64>,
    /// Cost of one operation on the new side.
    pub new_cost: Option<f64>,
    /// Why there is no more to say.
    pub reason: Option<String>,
    /// What pairs of processes said, where they were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_pairs: Option<ByPairs>,
}

impl Compared {
    pub(crate) fn libraries(&self) -> (&LibraryId, &LibraryId) {
        (&self.base_library, &self.new_library)
    }
}

/// What a reader must know of a side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// What it is called.
    pub name: String,
    /// When the run began.
    pub started: String,
    /// Processor.
    pub cpu: String,
    /// Version of ciphermark.
    pub tool_version: String,
    /// Version of the record's format.
    pub format_version: String,
}

/// What came of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The base.
    pub base: Facts,
    /// The new side.
    pub new: Facts,
    /// The two things that were asked to be compared, where it was not two records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<Between>,
    /// What costs are given in.
    pub unit: Unit,
    /// Differences up to this do not matter (a fraction).
    pub tolerance: f64,
    /// The chance that one case's interval misses the true ratio.
    pub alpha: f64,
    /// The chance that any case at all is wrongly called faster or slower.
    pub family_alpha: f64,
    /// What to keep in mind.
    pub warnings: Vec<String>,
    /// Verdicts.
    pub tally: Tally,
    /// What came of settling candidates by pairs, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// Whether several pairs of libraries are compared, so that each case must name its own.
    pub several: bool,
    /// Over all families: over all pairs of libraries, then for each pair.
    pub overall: Vec<Summary>,
    /// For each family.
    pub families: Vec<Summary>,
    /// Cases that were measured on both sides.
    pub cases: Vec<Compared>,
    /// Cases that were refused or failed on one side at least.
    pub states: Vec<StateRow>,
    /// Measured cases without a counterpart.
    pub only: Vec<Only>,
    /// Instructions, where both sides counted them.
    pub instructions: Vec<InstructionRow>,
    /// What depends on secrets, where both sides judged it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaks: Vec<LeakRow>,
}

/// Holds two sides against each other.
#[must_use]
pub fn compare(base: &Side<'_>, new: &Side<'_>, settings: &Settings) -> Comparison {
    let pairs = pairs(base, new, settings.matching);
    let mut met = Meeting::default();
    let apart = settings.apart;
    let of_base = by_library(base, apart, Which::Base);
    let of_new = by_library(new, apart, Which::New);
    let nothing = BTreeMap::new();
    for (b, n) in &pairs {
        let sides = (of_base.get(b).unwrap_or(&nothing), of_new.get(n).unwrap_or(&nothing));
        met.pair(sides.0, sides.1);
    }
    met.unmatched(base, &pairs.iter().map(|(b, _)| b).collect(), OnlyIn::Base);
    met.unmatched(new, &pairs.iter().map(|(_, n)| n).collect(), OnlyIn::New);
    let unit = unit(base.record, new.record, &met.measured);
    let cases = judge(&met.measured, (base.record, new.record), unit, settings);
    let (families, overall) = summaries(&cases, settings.matching);
    // What two algorithms or sizes execute is no change of the one.
    let both = matches!(apart, Apart::Nothing | Apart::Tier);
    let of_one = if both { &pairs[..] } else { &[] };
    let instructions = instruction_rows(base, new, of_one, apart == Apart::Tier);
    met.states.sort_by(|a, b| (a.change, &a.case).cmp(&(b.change, &b.case)));
    Comparison {
        base: facts(base),
        new: facts(new),
        between: None,
        unit,
        tolerance: settings.tolerance,
        alpha: ALPHA,
        family_alpha: FAMILY_ALPHA,
        warnings: sides::warnings_of(base, new, unit, &cases, &pairs),
        tally: Tally::of(&cases),
        confirmation: None,
        several: overall.len() > 1,
        overall,
        families,
        cases,
        states: met.states,
        only: met.only,
        instructions,
        leaks: instructions::leak_rows(base, new, of_one, apart == Apart::Tier),
    }
}

fn facts(side: &Side<'_>) -> Facts {
    Facts {
        name: side.name.clone(),
        started: side.record.started.clone(),
        cpu: side.record.host.cpu.name.clone(),
        tool_version: side.record.tool.version.clone(),
        format_version: side.record.format_version.clone(),
    }
}

type Cases<'a> = BTreeMap<Borrowed<'a>, &'a Measurement>;

fn by_library<'a>(
    side: &Side<'a>,
    apart: Apart,
    which: Which,
) -> BTreeMap<&'a LibraryId, Cases<'a>> {
    let mut found: BTreeMap<&LibraryId, Cases<'_>> = BTreeMap::new();
    for m in side.rows.iter().copied() {
        let mut key = borrowed(m);
        match apart {
            Apart::Nothing => {}
            Apart::Algorithm { .. } => key.0 = apart.name(key.0, which),
            Apart::Direction => key.1 = Direction::Encrypt,
            Apart::Size => key.3 = 0,
            Apart::Tier => key.4 = Tier::Native,
        }
        found.entry(&m.library).or_default().insert(key, m);
    }
    found
}

/// Where the cases of both sides went.
#[derive(Default)]
struct Meeting<'a> {
    measured: Vec<(&'a Measurement, &'a Measurement)>,
    states: Vec<StateRow>,
    only: Vec<Only>,
}

/// Why the other side has no number.
fn why_not(other: &Measurement) -> &'static str {
    if other.is_left_out() {
        "not measured in the time of the other side"
    } else {
        "not offered on the other side"
    }
}

impl<'a> Meeting<'a> {
    fn pair(&mut self, base: &Cases<'a>, new: &Cases<'a>) {
        for (key, b) in base {
            match new.get(key) {
                None => self.alone(b, OnlyIn::Base, "not asked for on the other side"),
                Some(n) if b.model_version != n.model_version => {
                    let why = "the model is defined otherwise on the other side";
                    self.alone(b, OnlyIn::Base, why);
                    self.alone(n, OnlyIn::New, why);
                }
                Some(n) => match meet(b, n) {
                    Met::Compared => self.measured.push((b, n)),
                    Met::Changed(change) => self.states.push(state_row(change, Key::of(n), b, n)),
                    Met::Only(OnlyIn::Base) => self.alone(b, OnlyIn::Base, why_not(n)),
                    Met::Only(OnlyIn::New) => self.alone(n, OnlyIn::New, why_not(b)),
                    Met::Nothing => {}
                },
            }
        }
        for n in new.iter().filter(|(key, _)| !base.contains_key(key)).map(|(_, n)| n) {
            self.alone(n, OnlyIn::New, "not asked for on the other side");
        }
    }

    fn unmatched(&mut self, side: &Side<'a>, matched: &BTreeSet<&LibraryId>, only_in: OnlyIn) {
        let rows = side.rows.iter().filter(|m| !matched.contains(&m.library));
        rows.for_each(|m| self.alone(m, only_in, "no such library on the other side"));
    }

    fn alone(&mut self, m: &Measurement, only_in: OnlyIn, reason: &'static str) {
        if matches!(m.state, State::Measured | State::Imported) {
            let (library, case) = (m.library.clone(), Key::of(m));
            self.only.push(Only { only_in, library, case, reason });
        }
    }
}

/// Cycles where both sides ran on the same kind of core and know them: drift of the clock is then no
/// difference. Else time: a cycle of another core is another thing.
fn unit(base: &Record, new: &Record, cases: &[(&Measurement, &Measurement)]) -> Unit {
    let known = |m: &Measurement| m.cycles_per_op.is_some();
    let all_known = cases.iter().all(|(b, n)| known(b) && known(n));
    if sides::same_core(base, new) && all_known { Unit::Cycles } else { Unit::Nanoseconds }
}

/// What is known of a case before the others are looked at.
enum Known {
    Identical,
    Costs { base: Group, new: Group },
    Nothing(&'static str),
}

fn judge(
    measured: &[(&Measurement, &Measurement)],
    (base, new): (&Record, &Record),
    unit: Unit,
    settings: &Settings,
) -> Vec<Compared> {
    let one_run = (&base.started, base.plan.seed) == (&new.started, new.plan.seed);
    let known: Vec<Known> =
        measured.iter().map(|(b, n)| know((base, b), (new, n), unit, settings.apart)).collect();
    let common = if one_run { 0.0 } else { between_runs(measured, (base, new), unit) };
    let chances: Vec<f64> = known.iter().filter_map(|k| k.chance(common)).collect();
    let mut differs = holm(&chances, FAMILY_ALPHA).into_iter();
    let mut cases: Vec<Compared> = Vec::with_capacity(measured.len());
    for ((b, n), known) in measured.iter().zip(&known) {
        let differs = match known {
            Known::Costs { base, new } => {
                let sure = differs.next() == Some(true);
                sure && (one_run || new.less(base).shift().abs() > BETWEEN_RUNS_OF_ONE_CASE.ln_1p())
            }
            _ => false,
        };
        let ratio = match known {
            Known::Identical => Some(Ratio::exact(1.0)),
            Known::Costs { base, new } => Some(new.less(base).ratio(ALPHA, common)),
            Known::Nothing(_) => None,
        };
        let says = |r: &Ratio| verdict_of_many(r, differs, settings.tolerance);
        let cost = |m: &Measurement| unit.of(m).map(|e| e.median);
        cases.push(Compared {
            base_library: b.library.clone(),
            new_library: n.library.clone(),
            case: Key::of(n),
            base: settings.apart.of_base(b),
            family: family(&n.algorithm),
            warning: n.warning.clone(),
            verdict: ratio.as_ref().map_or(Verdict::Undecided, says),
            identical: matches!(known, Known::Identical),
            ratio,
            base_cost: cost(b),
            new_cost: cost(n),
            reason: match known {
                Known::Nothing(why) => Some((*why).to_owned()),
                _ => kinds(b, n),
            },
            by_pairs: None,
        });
    }
    cases.sort_by(|a, b| (a.libraries(), &a.case).cmp(&(b.libraries(), &b.case)));
    cases
}

/// On which side processes come in two kinds: then how many are of which can be all that differs.
fn kinds(base: &Measurement, new: &Measurement) -> Option<String> {
    let side = |name: &str, m: &Measurement| Some(format!("{name}: {}", m.kinds_in_words()?));
    let sides: Vec<String> = [side("base", base), side("new", new)].into_iter().flatten().collect();
    (!sides.is_empty()).then(|| format!("two kinds of processes ({})", sides.join("; ")))
}

/// What is learned is the effect that nine cases of ten stay below, 1.64 standard deviations; the largest of
/// hundreds lies at three.
const MOST_OF_HUNDREDS: f64 = 1.8;

/// By how much a run moves all costs of a case: learned from cases whose library is the same build in both
/// runs, where there are enough.
fn between_runs(
    measured: &[(&Measurement, &Measurement)],
    (base, new): (&Record, &Record),
    unit: Unit,
) -> f64 {
    let same_build =
        measured.iter().filter(|(b, n)| base.has_same_build(&b.library, new, &n.library));
    let both =
        |(b, n): &(&Measurement, &Measurement)| costs(base, b, unit).zip(costs(new, n, unit));
    let learned = run_effect(&same_build.filter_map(both).collect::<Vec<_>>());
    (MOST_OF_HUNDREDS * learned.unwrap_or(0.0)).max(BETWEEN_RUNS)
}

fn know(
    (base, b): (&Record, &Measurement),
    (new, n): (&Record, &Measurement),
    unit: Unit,
    apart: Apart,
) -> Known {
    let same_numbers = (b.ns_per_op, b.cycles_per_op) == (n.ns_per_op, n.cycles_per_op);
    if (&b.raw, &b.costs) == (&n.raw, &n.costs) && same_numbers {
        return Known::Identical;
    }
    let is_doubted = |m: &Measurement| m.state == State::Imported && m.reason.is_some();
    if is_doubted(b) || is_doubted(n) {
        return Known::Nothing("one side is an imported figure that is not to be believed");
    }
    if b.contended || n.contended {
        return Known::Nothing("one side saw only a busy core, so it is at least so fast");
    }
    if unit == Unit::Cycles && (follows_clock(base, b) || follows_clock(new, n)) {
        return Known::Nothing(
            "its cycles follow the core's clock, and its time does not: power limits decide, whatever the build",
        );
    }
    let of = |record, m| {
        let costs = costs(record, m, unit)?;
        Group::of(&costs.iter().map(|cost| cost / apart.per(m)).collect::<Vec<_>>())
    };
    match (of(base, b), of(new, n)) {
        (Some(base), Some(new)) => Known::Costs { base, new },
        _ => Known::Nothing("one side is imported, or has no raw samples of two processes or more"),
    }
}

/// Eight tenths of a case's costs lie further apart in cycles than this (a fraction), ...
const APART: f64 = 0.05;
/// ... and not so far apart in time, by this part.
const STEADIER: f64 = 0.5;

/// Whether a case takes the same time at every clock that its core had. Where wide instructions draw more power than there is, a core runs
/// either at a lower clock or, at a higher one, fewer instructions in each cycle: cycles are of two kinds then,
/// and of which there are more hangs on the hour.
fn follows_clock(record: &Record, m: &Measurement) -> bool {
    let spread = |unit| group(record, m, unit).map(|group| group.spread());
    let spreads = spread(Unit::Cycles).zip(spread(Unit::Nanoseconds));
    spreads.is_some_and(|(cycles, time)| cycles > APART && time < STEADIER * cycles)
}

impl Known {
    fn chance(&self, common: f64) -> Option<f64> {
        match self {
            Self::Costs { base, new } => Some(new.less(base).chance(common)),
            Self::Identical | Self::Nothing(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
