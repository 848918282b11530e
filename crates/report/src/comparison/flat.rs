//! A comparison for programs: JSON and CSV.

use judge::compare::{ByPairs, Case, Compared, Comparison, Found, Only, OnlyIn, StateRow};
use record::LibraryId;
use serde::Serialize;
use serde_json::Value;

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

/// A case that was compared, that was refused or failed on one side, or that is on one side only.
struct Row<'a> {
    base: Option<&'a LibraryId>,
    new: Option<&'a LibraryId>,
    case: &'a Case,
    verdict: String,
    reason: &'a str,
    /// What there is to say of a case that was compared.
    c: Option<&'a Compared>,
}

/// A column's name and what it holds of a row.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 30] = [
    ("base_library_name", |row| of(row.base, |l| l.name.clone())),
    ("base_library_version", |row| of(row.base, |l| l.version.clone())),
    ("base_library_id", |row| of(row.base, |l| l.id.clone())),
    ("new_library_name", |row| of(row.new, |l| l.name.clone())),
    ("new_library_version", |row| of(row.new, |l| l.version.clone())),
    ("new_library_id", |row| of(row.new, |l| l.id.clone())),
    ("algorithm", |row| row.case.algorithm.clone()),
    ("family", |row| judge::compare::family(&row.case.algorithm)),
    ("direction", |row| row.case.direction.to_string()),
    ("model", |row| row.case.model.to_string()),
    ("size_bytes", |row| row.case.size.to_string()),
    ("base_algorithm", |row| of(row.c, |c| of_base(&c.base.algorithm, &c.case.algorithm))),
    ("base_direction", |row| of(row.c, |c| of_base(&c.base.direction, &c.case.direction))),
    ("base_size_bytes", |row| of(row.c, |c| of_base(&c.base.size, &c.case.size))),
    ("base_tier", |row| of(row.c, |c| of_base(&c.base.tier, &c.case.tier))),
    ("tier", |row| row.case.tier.to_string()),
    ("threads", |row| row.case.threads.to_string()),
    ("footprint", |row| row.case.footprint.to_string()),
    ("in_place", |row| row.case.in_place.to_string()),
    ("verdict", |row| row.verdict.clone()),
    ("identical", |row| of(row.c, |c| c.identical.to_string())),
    ("time_ratio", |row| of(row.c.and_then(|c| c.ratio), |r| r.estimate.to_string())),
    ("time_ratio_low", |row| of(row.c.and_then(|c| c.ratio), |r| r.low.to_string())),
    ("time_ratio_high", |row| of(row.c.and_then(|c| c.ratio), |r| r.high.to_string())),
    ("time_ratio_level", |row| of(row.c.and_then(|c| c.ratio), |r| r.level.to_string())),
    ("base_cost_per_op", |row| of(row.c.and_then(|c| c.base_cost), |cost| cost.to_string())),
    ("new_cost_per_op", |row| of(row.c.and_then(|c| c.new_cost), |cost| cost.to_string())),
    ("reason", |row| row.reason.to_owned()),
    ("pairs_verdict", |row| of(by_pairs(row), |p| p.verdict.name().to_owned())),
    ("samples_verdict", |row| of(by_pairs(row), |p| p.verdict_before.name().to_owned())),
];

fn of<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map(text).unwrap_or_default()
}

fn of_base<T: ToString>(base: &Option<T>, new: &T) -> String {
    base.as_ref().unwrap_or(new).to_string()
}

fn by_pairs<'a>(row: &Row<'a>) -> Option<&'a ByPairs> {
    row.c.and_then(|c| c.by_pairs.as_ref())
}

/// One row a case. The unit of costs is in their columns' names.
pub(super) fn csv(comparison: &Comparison) -> String {
    let unit = comparison.unit.short();
    let heading = COLUMNS.map(|(name, _)| name.replace("cost", unit));
    let rows = comparison.cases.iter().map(compared);
    let rows =
        rows.chain(comparison.states.iter().map(state)).chain(comparison.only.iter().map(only));
    let rows = rows.map(|row| COLUMNS.map(|(_, of)| of(&row)));
    base::text::csv(&heading.each_ref().map(String::as_str), rows)
}

fn compared(c: &Compared) -> Row<'_> {
    Row {
        base: Some(&c.base_library),
        new: Some(&c.new_library),
        case: &c.case,
        verdict: c.verdict.name().to_owned(),
        reason: c.reason.as_deref().unwrap_or_default(),
        c: Some(c),
    }
}

fn state(s: &StateRow) -> Row<'_> {
    let verdict = serde_json::to_value(s.change).ok();
    Row {
        base: Some(&s.base_library),
        new: Some(&s.new_library),
        case: &s.case,
        verdict: of(verdict.as_ref().and_then(Value::as_str), str::to_owned),
        reason: s.reason.as_deref().unwrap_or_default(),
        c: None,
    }
}

fn only(o: &Only) -> Row<'_> {
    let (base, new, verdict) = match o.only_in {
        OnlyIn::Base => (Some(&o.library), None, "only-in-base"),
        OnlyIn::New => (None, Some(&o.library), "only-in-new"),
    };
    Row { base, new, case: &o.case, verdict: verdict.to_owned(), reason: o.reason, c: None }
}
