//! A comparison for programs: JSON and CSV.

use compare::{Case, Compared, Comparison, Found, Only, OnlyIn, StateRow};
use record::LibraryId;
use serde::Serialize;

/// The whole comparison, with what makes it fail.
pub(super) fn json(comparison: &Comparison, found: &[Found]) -> String {
    #[derive(Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        comparison: &'a Comparison,
        failed: &'a [Found],
    }
    let whole = Whole { comparison, failed: found };
    serde_json::to_string_pretty(&whole).expect("plain data always serialises") + "\n"
}

const COLUMNS: [&str; 26] = [
    "base_library_name",
    "base_library_version",
    "base_library_id",
    "new_library_name",
    "new_library_version",
    "new_library_id",
    "algorithm",
    "family",
    "direction",
    "model",
    "size_bytes",
    "base_tier",
    "tier",
    "threads",
    "footprint",
    "in_place",
    "verdict",
    "identical",
    "time_ratio",
    "time_ratio_low",
    "time_ratio_high",
    "base_cost_per_op",
    "new_cost_per_op",
    "reason",
    "pairs_verdict",
    "samples_verdict",
];

/// One row a case: those that were compared, those that were refused or failed on one side, those
/// that are on one side only. The unit of costs is in the last two columns' names.
pub(super) fn csv(comparison: &Comparison) -> String {
    let unit = comparison.unit.short();
    let heading = COLUMNS.map(|name| name.replace("cost", unit));
    let rows = comparison.cases.iter().map(compared);
    let rows =
        rows.chain(comparison.states.iter().map(state)).chain(comparison.only.iter().map(only));
    crate::csv(&heading.each_ref().map(String::as_str), rows)
}

type Row = [String; COLUMNS.len()];

fn row(
    base: Option<&LibraryId>,
    new: Option<&LibraryId>,
    case: &Case,
    base_tier: String,
    rest: [String; 10],
) -> Row {
    let library = |id: Option<&LibraryId>| {
        id.map_or_else(Default::default, |l| [l.name.clone(), l.version.clone(), l.id.clone()])
    };
    let ([bn, bv, bi], [nn, nv, ni]) = (library(base), library(new));
    let [verdict, identical, ratio, low, high, base_cost, new_cost, reason, by_pairs, by_samples] =
        rest;
    [
        bn,
        bv,
        bi,
        nn,
        nv,
        ni,
        case.algorithm.clone(),
        compare::family(&case.algorithm),
        case.direction.to_string(),
        case.model.to_string(),
        case.size.to_string(),
        base_tier,
        case.tier.to_string(),
        case.threads.to_string(),
        case.footprint.to_string(),
        case.in_place.to_string(),
        verdict,
        identical,
        ratio,
        low,
        high,
        base_cost,
        new_cost,
        reason,
        by_pairs,
        by_samples,
    ]
}

fn compared(c: &Compared) -> Row {
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    let rest = [
        c.verdict.name().to_owned(),
        c.identical.to_string(),
        number(c.ratio.map(|r| r.estimate)),
        number(c.ratio.map(|r| r.low)),
        number(c.ratio.map(|r| r.high)),
        number(c.base_cost),
        number(c.new_cost),
        c.reason.clone().unwrap_or_default(),
        c.by_pairs.as_ref().map(|p| p.verdict.name().to_owned()).unwrap_or_default(),
        c.by_pairs.as_ref().map(|p| p.verdict_before.name().to_owned()).unwrap_or_default(),
    ];
    let base_tier = c.base_tier.unwrap_or(c.case.tier).to_string();
    row(Some(&c.base_library), Some(&c.new_library), &c.case, base_tier, rest)
}

fn without_numbers(verdict: String, reason: String) -> [String; 10] {
    let mut rest: [String; 10] = Default::default();
    rest[0] = verdict;
    rest[7] = reason;
    rest
}

fn state(s: &StateRow) -> Row {
    let verdict = serde_json::to_value(s.change).ok();
    let verdict = verdict.and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
    let rest = without_numbers(verdict, s.reason.clone().unwrap_or_default());
    row(Some(&s.base_library), Some(&s.new_library), &s.case, String::new(), rest)
}

fn only(o: &Only) -> Row {
    let (base, new, verdict) = match o.only_in {
        OnlyIn::Base => (Some(&o.library), None, "only-in-base"),
        OnlyIn::New => (None, Some(&o.library), "only-in-new"),
    };
    let rest = without_numbers(verdict.to_owned(), o.reason.to_owned());
    row(base, new, &o.case, String::new(), rest)
}
