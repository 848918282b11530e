//! Two sides, case by case, and what that comes to: verdicts counted, verdicts of pairs of processes in their
//! place, and the conditions that make a comparison fail (`--fail-if`).

use crate::compare::cost::{follows_clock, lies_above};
use crate::compare::sides::{
    Apart, Between, InstructionRow, LeakRow, Matching, Met, Only, Other, StateRow, Which,
    instruction_rows, meet, pairs, state_row,
};
use crate::compare::{Case as Key, Change, Unit, costs, family, sides};
use base::analysis::{
    ALPHA, BETWEEN_RUNS, BETWEEN_RUNS_OF_ONE_CASE, FAMILY_ALPHA, Group, Ratio, Verdict,
    geometric_mean, holm, run_effect, verdict_of_many,
};
use base::model::{Direction, Tier};
use record::{Estimate, LibraryId, Measurement, Record, State};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use strum::VariantArray as _;

#[derive(Clone, Debug)]
pub struct Side<'a> {
    pub record: &'a Record,
    /// What to call it: the file, or what of it is compared.
    pub name: String,
    pub rows: Vec<&'a Measurement>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Differences up to this do not matter (a fraction).
    pub tolerance: f64,
    /// How libraries find each other.
    pub matching: Matching,
    /// In what the sides differ beside.
    pub apart: Apart,
}

impl Settings {
    /// As `compare` has them where nothing is said.
    pub const fn of(matching: Matching) -> Self {
        Self { tolerance: 0.005, matching, apart: Apart::Nothing }
    }
}

/// One case that was measured on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    pub base_library: LibraryId,
    /// The new side's library.
    pub new_library: LibraryId,
    #[serde(flatten)]
    pub case: Key,
    /// What of the base's case is another, where the two sides differ in it.
    #[serde(flatten)]
    pub base: Other,
    pub family: String,
    /// What a reader must be told of the algorithm.
    pub warning: Option<String>,
    /// What is said of the new side.
    pub verdict: Verdict,
    /// Whether both sides have the very same samples: one measurement, not two.
    pub identical: bool,
    /// The new cost over the base's, with its own 95 % interval.
    pub ratio: Option<Ratio>,
    /// The same of figures from elsewhere, or without samples, which have no interval and so no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_without_interval: Option<f64>,
    /// Cost of one operation in the base, in the comparison's unit.
    pub base_cost: Option<f64>,
    /// Cost of one operation on the new side.
    pub new_cost: Option<f64>,
    /// Why there is no more to say.
    pub reason: Option<String>,
    /// Whether it is one build on both sides: no change of its own can be seen, whatever the verdict.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub same_build: bool,
    /// Whether one side takes fewer cycles and more time: which is faster hangs on the core's clock.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_decides: bool,
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
    pub name: String,
    pub started: String,
    pub cpu: String,
    pub tool_version: String,
    pub format_version: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub base: Facts,
    pub new: Facts,
    /// The two things that were asked to be compared, where it was not two records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<Between>,
    pub unit: Unit,
    /// Differences up to this do not matter (a fraction).
    pub tolerance: f64,
    /// The chance that one case's interval misses the true ratio.
    pub alpha: f64,
    /// The chance that any case at all is wrongly called faster or slower.
    pub family_alpha: f64,
    /// In what the two runs differ beside the libraries: of one build, that is what is compared.
    pub differing: Vec<String>,
    pub warnings: Vec<String>,
    pub tally: Tally,
    /// What came of settling candidates by pairs, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// Whether several pairs of libraries are compared, so that each case must name its own.
    pub several: bool,
    /// Over all families: over all pairs of libraries, then for each pair.
    pub overall: Vec<Summary>,
    pub families: Vec<Summary>,
    /// Cases that were measured on both sides.
    pub cases: Vec<Compared>,
    /// Cases that were refused or failed on one side at least.
    pub states: Vec<StateRow>,
    /// Measured cases without a counterpart.
    pub only: Vec<Only>,
    pub instructions: Vec<InstructionRow>,
    /// What depends on secrets, where the base judged it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaks: Vec<LeakRow>,
}

/// Holds two sides against each other.
pub fn compare(base: &Side<'_>, new: &Side<'_>, settings: &Settings) -> Comparison {
    compare_with(base, new, settings, None)
}

/// The same, where the sides' records are parts of runs and what the whole runs show is known.
pub fn compare_with(
    base: &Side<'_>,
    new: &Side<'_>,
    settings: &Settings,
    effect: Option<RunEffect>,
) -> Comparison {
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
    met.unmatched(base, &pairs.iter().map(|(b, _)| b).collect(), Which::Base);
    // The one that all others are held against lacks no counterpart in its own run.
    let is_own = sides::is_one_run(base.record, new.record) && settings.matching == Matching::Every;
    let of_one = pairs.iter().filter(|_| is_own).map(|(b, _)| b);
    met.unmatched(new, &pairs.iter().map(|(_, n)| n).chain(of_one).collect(), Which::New);
    let unit = unit(base.record, new.record, &met.measured);
    let effect = effect.map(|effect| effect.in_unit(unit));
    let cases = judge(&met.measured, base.record, new.record, unit, settings, effect);
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
        differing: sides::differing(base.record, new.record),
        tally: Tally::of(&cases),
        confirmation: None,
        several: overall.len() > 1,
        overall,
        families,
        cases,
        states: met.states,
        only: met.only,
        instructions,
        leaks: match both {
            true => sides::leak_rows(base, new, &pairs, settings.matching, apart == Apart::Tier),
            false => Vec::new(),
        },
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

type Cases<'a> = BTreeMap<Key, &'a Measurement>;

fn by_library<'a>(
    side: &Side<'a>,
    apart: Apart,
    which: Which,
) -> BTreeMap<&'a LibraryId, Cases<'a>> {
    let mut found: BTreeMap<&LibraryId, Cases<'_>> = BTreeMap::new();
    for m in side.rows.iter().copied() {
        let mut key = Key::of(m);
        match apart {
            Apart::Nothing => {}
            Apart::Algorithm { .. } => key.algorithm = apart.name(&m.algorithm, which).to_owned(),
            Apart::Direction => key.direction = Direction::Encrypt,
            Apart::Size => key.size = 0,
            Apart::Tier => key.tier = Tier::Native,
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

/// Why a case of a model that was changed between two versions of this program has no counterpart.
pub const OTHER_MODEL: &str = "the model is defined otherwise on the other side";

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
                None => self.alone(b, Which::Base, "not asked for on the other side"),
                Some(n) if b.model_version != n.model_version => {
                    self.alone(b, Which::Base, OTHER_MODEL);
                    self.alone(n, Which::New, OTHER_MODEL);
                }
                Some(n) => match meet(b, n) {
                    Met::Compared => self.measured.push((b, n)),
                    Met::Changed(change) => self.states.push(state_row(change, Key::of(n), b, n)),
                    Met::Only(Which::Base) => self.alone(b, Which::Base, why_not(n)),
                    Met::Only(Which::New) => self.alone(n, Which::New, why_not(b)),
                    Met::Nothing => {}
                },
            }
        }
        for n in new.iter().filter(|(key, _)| !base.contains_key(key)).map(|(_, n)| n) {
            self.alone(n, Which::New, "not asked for on the other side");
        }
    }

    fn unmatched(&mut self, side: &Side<'a>, matched: &BTreeSet<&LibraryId>, only_in: Which) {
        let rows = side.rows.iter().filter(|m| !matched.contains(&m.library));
        rows.for_each(|m| self.alone(m, only_in, "no such library on the other side"));
    }

    fn alone(&mut self, m: &Measurement, only_in: Which, reason: &'static str) {
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

/// Why a figure from elsewhere has no verdict.
pub const NO_INTERVAL: &str = "imported: no interval";
/// Why there is none of a figure that was measured.
const NO_SAMPLES: &str = "one side has no raw samples of two processes or more: no interval";

/// What is known of a case before the others are looked at.
enum Known {
    Identical,
    Costs {
        base: Group,
        new: Group,
    },
    /// One is a figure from elsewhere, or without samples: the new cost over the base's, and why there is no interval.
    Figures(f64, &'static str),
    Nothing(&'static str),
}

fn judge(
    measured: &[(&Measurement, &Measurement)],
    base: &Record,
    new: &Record,
    unit: Unit,
    settings: &Settings,
    effect: Option<f64>,
) -> Vec<Compared> {
    let one_run = sides::is_one_run(base, new);
    let known: Vec<Known> =
        measured.iter().map(|(b, n)| know(base, b, new, n, unit, settings.apart)).collect();
    let common = match effect {
        _ if one_run => 0.0,
        Some(known) => known,
        None => between_runs(base, new, unit),
    };
    let clock = if one_run { 1.0 } else { sides::clock_of_new_run(measured) };
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
            Known::Figures(..) | Known::Nothing(_) => None,
        };
        let clock_decides = unit == Unit::Cycles
            && ratio.is_some_and(|r| is_against_time(&r, b, n, settings.apart, clock));
        let says = |r: &Ratio| match verdict_of_many(r, differs, settings.tolerance) {
            Verdict::Faster | Verdict::Slower if clock_decides => Verdict::Undecided,
            verdict => verdict,
        };
        let cost = |m: &Measurement| unit.of(m).map(|e| e.median);
        let verdict = ratio.as_ref().map_or(Verdict::Undecided, says);
        let same_build = settings.apart == Apart::Nothing
            && !b.library.id.is_empty()
            && base.has_same_build(&b.library, new, &n.library);
        cases.push(Compared {
            base_library: b.library.clone(),
            new_library: n.library.clone(),
            case: Key::of(n),
            base: settings.apart.of_base(b),
            family: family(&n.algorithm),
            warning: n.warning.clone(),
            verdict,
            identical: matches!(known, Known::Identical),
            ratio,
            ratio_without_interval: match known {
                Known::Figures(ratio, _) => Some(*ratio),
                _ => None,
            },
            base_cost: cost(b),
            new_cost: cost(n),
            reason: match known {
                Known::Nothing(why) => Some((*why).to_owned()),
                Known::Figures(_, why) => Some((*why).to_owned()),
                _ if clock_decides => Some(FEWER_AND_LONGER.to_owned()),
                _ => kinds(b, n),
            },
            clock_decides,
            same_build,
            by_pairs: None,
        });
    }
    cases.sort_by(|a, b| (a.libraries(), &a.case).cmp(&(b.libraries(), &b.case)));
    cases
}

const FEWER_AND_LONGER: &str =
    "fewer cycles at a lower clock, and more time: which is faster depends on the core's clock";

/// Whether the side that takes fewer cycles takes more time all the same, by intervals that lie apart; `clock` is what
/// the whole run's clock is faster by on the new side, which is not the case's.
fn is_against_time(
    cycles: &Ratio,
    base: &Measurement,
    new: &Measurement,
    apart: Apart,
    clock: f64,
) -> bool {
    let per = |m: &Measurement, clock: f64| {
        let ns = m.ns_per_op?;
        let [median, low, high] = [ns.median, ns.low, ns.high].map(|ns| ns * clock / apart.per(m));
        Some(Estimate { median, low, high })
    };
    per(base, 1.0).zip(per(new, clock)).is_some_and(|(base, new)| {
        cycles.high < 1.0 && lies_above(&new, &base) || cycles.low > 1.0 && lies_above(&base, &new)
    })
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

/// By how much two runs move all costs of a case, in either unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunEffect {
    cycles: f64,
    nanoseconds: f64,
}

impl RunEffect {
    /// Of whole records.
    pub fn of(base: &Record, new: &Record) -> Self {
        let [cycles, nanoseconds] =
            [Unit::Cycles, Unit::Nanoseconds].map(|unit| between_runs(base, new, unit));
        Self { cycles, nanoseconds }
    }

    fn in_unit(self, unit: Unit) -> f64 {
        match unit {
            Unit::Cycles => self.cycles,
            Unit::Nanoseconds => self.nanoseconds,
        }
    }
}

/// By how much a run moves all costs of a case: learned from all cases whose library is the same build in both
/// runs, where there are enough, whichever of them are asked for.
fn between_runs(base: &Record, new: &Record, unit: Unit) -> f64 {
    // In an order that is none of the record's: processes are dealt by it.
    fn by_case(record: &Record) -> BTreeMap<(&str, Key, &str), &Measurement> {
        let is_sure = |m: &&Measurement| m.state == State::Measured && !m.contended;
        let sure = record.measurements.iter().filter(is_sure);
        sure.map(|m| ((&*m.library.name, Key::of(m), &*m.library.id), m)).collect()
    }
    let (then, now) = (by_case(base), by_case(new));
    let both = |(key, n): (&(&str, Key, &str), &&Measurement)| {
        let (name, case, _) = key;
        // Whose record knew its own file only has another id now.
        let any = || then.range((*name, case.clone(), "")..).next().map(|(_, b)| b);
        let b = then.get(key).or_else(any)?;
        let is_same = (&b.library.name, &Key::of(b), &b.model_version)
            == (&n.library.name, case, &n.model_version)
            && base.has_same_build(&b.library, new, &n.library);
        if is_same { costs(base, b, unit).zip(costs(new, n, unit)) } else { None }
    };
    let known = now.iter().filter_map(both);
    let learned = run_effect(&known.collect::<Vec<_>>());
    (MOST_OF_HUNDREDS * learned.unwrap_or(0.0)).max(BETWEEN_RUNS)
}

fn know(
    base: &Record,
    b: &Measurement,
    new: &Record,
    n: &Measurement,
    unit: Unit,
    apart: Apart,
) -> Known {
    let same_numbers = (b.ns_per_op, b.cycles_per_op) == (n.ns_per_op, n.cycles_per_op);
    let has_samples = !b.raw.is_empty() || b.costs.is_some();
    if has_samples && (&b.raw, &b.costs) == (&n.raw, &n.costs) && same_numbers {
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
        _ if b.state == State::Imported || n.state == State::Imported => {
            figures(b, n, unit, apart, NO_INTERVAL)
        }
        _ => figures(b, n, unit, apart, NO_SAMPLES),
    }
}

fn figures(b: &Measurement, n: &Measurement, unit: Unit, apart: Apart, why: &'static str) -> Known {
    let cost = |m: &Measurement| Some(unit.of(m)?.median / apart.per(m));
    match (cost(b), cost(n)) {
        (Some(base), Some(new)) if base > 0.0 => Known::Figures(new / base, why),
        _ => Known::Nothing("one side is without a figure"),
    }
}

impl Known {
    fn chance(&self, common: f64) -> Option<f64> {
        match self {
            Self::Costs { base, new } => Some(new.less(base).chance(common)),
            Self::Identical | Self::Figures(..) | Self::Nothing(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub same: usize,
    /// Of these, cases whose samples are the same ones.
    pub identical: usize,
    pub faster: usize,
    pub slower: usize,
    /// None of these can be said.
    pub undecided: usize,
}

impl Tally {
    pub(crate) fn of<'a>(cases: impl IntoIterator<Item = &'a Compared>) -> Self {
        let mut tally = Self::default();
        for case in cases {
            tally.identical += usize::from(case.identical);
            *match case.verdict {
                Verdict::Same => &mut tally.same,
                Verdict::Faster => &mut tally.faster,
                Verdict::Slower => &mut tally.slower,
                Verdict::Undecided => &mut tally.undecided,
            } += 1;
        }
        tally
    }

    pub fn cases(&self) -> usize {
        self.same + self.faster + self.slower + self.undecided
    }
}

/// Shared cases, summed up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The two libraries, where several pairs are compared.
    pub libraries: Option<(LibraryId, LibraryId)>,
    /// The family of algorithms; none for all.
    pub family: Option<String>,
    #[serde(flatten)]
    pub tally: Tally,
    /// Geometric mean of the cases' ratios, the new cost over the base's.
    pub ratio: Option<Ratio>,
    /// Of how many cases: those that have a ratio.
    pub ratios: usize,
}

/// Families, then all of them. Libraries that were matched by name are two runs' or two versions'
/// of the same set: they have a mean together and one each. One library against others has a mean
/// with each of them only.
pub(crate) fn summaries(cases: &[Compared], matching: Matching) -> (Vec<Summary>, Vec<Summary>) {
    let mut pairs: Vec<_> = cases.iter().map(Compared::libraries).collect();
    pairs.sort();
    pairs.dedup();
    let several = pairs.len() > 1;
    let of_pair = |pair| cases.iter().filter(move |c| c.libraries() == pair).collect::<Vec<_>>();
    let (mut families, mut overall) = (Vec::new(), Vec::new());
    if !cases.is_empty() && (!several || matching == Matching::ByName) {
        families = by_family(None, &cases.iter().collect::<Vec<_>>());
        overall.push(summary(None, None, cases.iter().collect()));
    }
    for pair in pairs.into_iter().filter(|_| several) {
        let libraries = Some((pair.0.clone(), pair.1.clone()));
        if matching == Matching::Every {
            families.extend(by_family(libraries.clone(), &of_pair(pair)));
        }
        overall.push(summary(libraries, None, of_pair(pair)));
    }
    (families, overall)
}

fn by_family(libraries: Option<(LibraryId, LibraryId)>, cases: &[&Compared]) -> Vec<Summary> {
    let names: BTreeSet<&String> = cases.iter().map(|c| &c.family).collect();
    let of_family = |name: &String| cases.iter().filter(|c| c.family == *name).copied().collect();
    names.into_iter().map(|n| summary(libraries.clone(), Some(n.clone()), of_family(n))).collect()
}

fn summary(
    libraries: Option<(LibraryId, LibraryId)>,
    family: Option<String>,
    cases: Vec<&Compared>,
) -> Summary {
    // What the harness itself costs is no library's merit.
    let counts = |c: &&&Compared| c.case.algorithm != "null";
    let ratios = cases.iter().filter(counts).filter_map(|c| c.ratio);
    let ratios: Vec<Ratio> = ratios.collect();
    let (ratio, ratios) = (geometric_mean(&ratios), ratios.len());
    Summary { libraries, family, tally: Tally::of(cases), ratio, ratios }
}

// Verdicts of pairs of processes in the place of verdicts from a record's samples.

/// What pairs of processes said of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByPairs {
    /// Their verdict; `undecided` leaves the case's own as it was.
    pub verdict: Verdict,
    /// The new cost over the base's by pairs; its interval is of the last look.
    pub ratio: Option<Ratio>,
    pub pairs: usize,
    pub seconds: f64,
    /// The verdict from the records' samples.
    pub verdict_before: Verdict,
    /// The ratio from the records' samples.
    pub ratio_before: Option<Ratio>,
}

impl ByPairs {
    pub fn is_settled(&self) -> bool {
        self.verdict != Verdict::Undecided
    }
}

/// What came of settling a comparison's candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Confirmation {
    /// Cases that were called faster or slower, or undecided with an estimate beyond the tolerance.
    pub candidates: usize,
    pub settled: usize,
    /// Compared by pairs and undecided still.
    pub undecided: usize,
    /// Not compared by pairs, whatever the reason.
    pub left: usize,
    /// Why cases were left, each reason once, with how many cases.
    pub reasons: Vec<(String, usize)>,
    /// Seconds that were allowed.
    pub budget_seconds: f64,
    pub seconds: f64,
}

impl Confirmation {
    pub fn leave(&mut self, reason: &str) {
        self.left += 1;
        match self.reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => self.reasons.push((reason.to_owned(), 1)),
        }
    }
}

impl Comparison {
    /// Whether a verdict says nothing of a library: it is one build on both sides, under the same circumstances.
    pub fn is_runs_own(&self, case: &Compared) -> bool {
        case.same_build && self.differing.is_empty()
    }

    /// What is not the same in both runs beside the libraries: also what measured them.
    pub fn beside_the_libraries(&self) -> Vec<String> {
        let tool = self.base.tool_version != self.new.tool_version;
        let tool = tool.then(|| "ciphermark".to_owned());
        self.differing.iter().cloned().chain(tool).collect()
    }

    /// Cases that pairs are worth it for, the one that matters most first: what would fail a gate before
    /// what would not, a large difference before a small one.
    pub fn candidates(&self) -> Vec<usize> {
        let mut found: Vec<(bool, bool, f64, usize)> = Vec::new();
        let all = self.cases.iter().enumerate();
        // Pairs count cycles, too.
        for (index, case) in all.filter(|(_, c)| !c.identical && !c.clock_decides) {
            let Some(ratio) = case.ratio else { continue };
            let size = ratio.estimate.ln();
            let decided = matches!(case.verdict, Verdict::Faster | Verdict::Slower);
            let suspicious =
                case.verdict == Verdict::Undecided && size.abs() > self.tolerance.ln_1p();
            if decided || suspicious {
                found.push((size < 0.0, !decided, -size.abs(), index));
            }
        }
        found.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        found.into_iter().map(|(.., index)| index).collect()
    }

    /// Puts what pairs said of a case beside its verdict, and in its place where they decided.
    pub fn settle(&mut self, index: usize, verdict: Verdict, told: Told) {
        let Some(case) = self.cases.get_mut(index) else { return };
        let by_pairs = ByPairs {
            verdict,
            ratio: told.ratio,
            pairs: told.pairs,
            seconds: told.seconds,
            verdict_before: case.verdict,
            ratio_before: case.ratio,
        };
        if by_pairs.is_settled() {
            case.verdict = verdict;
            case.ratio = told.ratio.or(case.ratio);
        }
        case.by_pairs = Some(by_pairs);
    }

    /// Sums up anew after cases were settled.
    pub fn sum_up(&mut self, matching: Matching, confirmation: Confirmation) {
        self.tally = Tally::of(&self.cases);
        (self.families, self.overall) = summaries(&self.cases, matching);
        self.confirmation = Some(confirmation);
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The new cost over the base's.
    pub ratio: Option<Ratio>,
    pub pairs: usize,
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Sought {
    /// A case that is surely slower, and by more than a fraction by its estimate; not one build against itself.
    Slower,
    /// A geometric mean over all shared cases that is surely slower, and by more than a fraction.
    Mean,
    /// Instructions for each byte, for each message or of an operation of a measured size that grew by
    /// more than a fraction.
    Instructions,
    /// Instructions of an operation of a measured size.
    InstructionsPerOperation,
    InstructionsPerByte,
    InstructionsPerMessage,
    /// A place that depends on the secret now, and did not in the base; or what was judged in the base and is not now.
    Leaks,
    /// A case that was measured in the base and is refused or failed now.
    Refused,
    /// A case that was measured in the base and is not there now.
    Missing,
    /// A case that can be called neither the same nor faster nor slower.
    Undecided,
    Never,
}

impl Sought {
    fn has_least(self) -> bool {
        self.is_of_instructions() || matches!(self, Self::Slower | Self::Mean)
    }

    /// Whether it is found in counted instructions.
    pub fn is_of_instructions(self) -> bool {
        matches!(
            self,
            Self::Instructions
                | Self::InstructionsPerOperation
                | Self::InstructionsPerByte
                | Self::InstructionsPerMessage
        )
    }
}

/// A condition under which a comparison has found something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    pub sought: Sought,
    /// The fraction that it must exceed.
    least: f64,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, percent) = match text.split_once(':') {
            Some((name, percent)) => (name, Some(percent)),
            None => (text, None),
        };
        let sought: Sought = name.parse().map_err(|_| none_of(text))?;
        match percent {
            Some(_) if !sought.has_least() => Err(format!("'{name}' takes no percentage")),
            Some(percent) => Ok(Self { sought, least: fraction(text, percent)? }),
            None => Ok(Self { sought, least: 0.0 }),
        }
    }
}

fn none_of(text: &str) -> String {
    let name = |sought: &Sought| {
        let percent = if sought.has_least() { "[:PERCENT]" } else { "" };
        format!("{}{percent}", <&str>::from(sought))
    };
    let names: Vec<String> = Sought::VARIANTS.iter().map(name).collect();
    format!("'{text}' is none of: {}", names.join(", "))
}

/// `2%`, or 0.02; nothing is a percentage as well here.
fn fraction(whole: &str, text: &str) -> Result<f64, String> {
    let found = base::text::flags::fraction(text).filter(|f| (0.0..=10.0).contains(f));
    found.ok_or_else(|| {
        format!("'{whole}': write the percentage as in slower:2% or instructions:0.5%")
    })
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sought.into())?;
        if self.least > 0.0 {
            // Percentages are typed with few digits; a fraction's own last ones are noise.
            write!(f, ":{}%", (self.least * 1e8).round() / 1e6)?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    pub condition: String,
    pub what: String,
}

impl Condition {
    pub fn find(&self, comparison: &Comparison) -> Option<Found> {
        let rows = &comparison.instructions;
        let grew = |what: &str, growth: fn(&InstructionRow) -> Option<f64>| {
            let growths = rows.iter().filter_map(growth).filter(|g| *g > self.least);
            let growths: Vec<f64> = growths.collect();
            let most = growths.iter().copied().fold(0.0, f64::max) * 100.0;
            let grew = counted(growths.len(), &format!("{what} grew in"));
            let grew = grew.map(|count| format!("{count}, by up to {most:.2} %"));
            let lost = rows.iter().filter(|row| row.is_lost()).count();
            let lost = counted(lost, "counted in the base and not now:");
            let found = Vec::from_iter(grew.into_iter().chain(lost));
            (!found.is_empty()).then(|| found.join("; "))
        };
        let what = match self.sought {
            Sought::Slower => counted(slower(comparison, self.least), "slower:"),
            Sought::Mean => mean(comparison, self.least),
            Sought::Instructions => grew("instructions", |row| Some(row.largest_growth())),
            Sought::InstructionsPerOperation => {
                grew("instructions of an operation", InstructionRow::per_operation_growth)
            }
            Sought::InstructionsPerByte => grew("instructions per byte", |row| row.per_byte_growth),
            Sought::InstructionsPerMessage => {
                grew("instructions per message", |row| row.per_message_growth)
            }
            Sought::Leaks => leaks(comparison),
            Sought::Refused => {
                let broken = comparison.states.iter().filter(|s| s.change == Change::Broken);
                counted(broken.count(), "measured before and refused or failed now:")
            }
            Sought::Missing => {
                let gone = comparison.only.iter().filter(|o| o.only_in == Which::Base);
                counted(gone.count(), "measured before and not there now:")
            }
            Sought::Undecided => counted(comparison.tally.undecided, "undecided:"),
            Sought::Never => None,
        }?;
        Some(Found { condition: self.to_string(), what })
    }
}

fn counted(count: usize, what: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{what} {count} case{plural}"))
}

fn slower(comparison: &Comparison, least: f64) -> usize {
    let beyond = |estimate: f64| estimate > 1.0 + least;
    let cases = comparison.cases.iter().filter(|c| c.verdict == Verdict::Slower);
    let cases = cases.filter(|c| !comparison.is_runs_own(c));
    cases.filter(|c| c.ratio.is_some_and(|r| beyond(r.estimate))).count()
}

fn leaks(comparison: &Comparison) -> Option<String> {
    let named = |what: &str, is: fn(&LeakRow) -> bool| {
        let rows = comparison.leaks.iter().filter(|row| is(row));
        let names: Vec<&str> = rows.map(|row| row.algorithm.as_str()).collect();
        let more =
            if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
        names.first().map(|name| format!("{what}: {name}{more}"))
    };
    let worse = named("newly depends on the secret", LeakRow::is_worse);
    let lost = named("judged in the base and not now", LeakRow::is_lost);
    let found = Vec::from_iter(worse.into_iter().chain(lost));
    (!found.is_empty()).then(|| found.join("; "))
}

fn mean(comparison: &Comparison, least: f64) -> Option<String> {
    let says_something = |summary: &&Summary| {
        let is_of = |c: &&Compared| {
            let pair = summary.libraries.as_ref();
            pair.is_none_or(|(base, new)| c.libraries() == (base, new))
        };
        comparison.cases.iter().filter(is_of).any(|c| !comparison.is_runs_own(c))
    };
    let overall = comparison.overall.iter().filter(says_something);
    let ratios = overall.filter_map(|summary| summary.ratio);
    let worst = ratios
        .filter(|r| r.low > 1.0 && r.estimate > 1.0 + least)
        .max_by(|a, b| a.estimate.total_cmp(&b.estimate))?;
    let more = match comparison.unit {
        Unit::Cycles => "more cycles",
        Unit::Nanoseconds => "longer",
    };
    Some(format!("the geometric mean takes {:.2} % {more}", (worst.estimate - 1.0) * 100.0))
}

#[cfg(test)]
mod tests;
