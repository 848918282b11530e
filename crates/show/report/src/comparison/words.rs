//! The words of a comparison, the same for a terminal and for Markdown.

use crate::labels::{short_id, size, size_with_unit, versioned};
use analysis::{Ratio, Verdict};
use compare::{
    Case, Compared, Comparison, Confirmation, Facts, InstructionRow, LeakRow, NOT_COUNTED, OnlyIn,
    Summary, Tally, Uncounted, Unit,
};
use model::{Direction, Footprint, Model, Tier};
use record::{Leak, LibraryId};
use std::collections::BTreeMap;
use text::clean;

/// The order in which verdicts are told: what wants to be acted upon first.
pub(super) const ORDER: [Verdict; 4] =
    [Verdict::Slower, Verdict::Faster, Verdict::Undecided, Verdict::Same];

/// `base openssl@3.0.22, run.json of 2026-11-21, AMD EPYC`.
pub(super) fn side(facts: &Facts) -> String {
    let day = clean(&facts.started);
    let day = day.split('T').next().unwrap_or_default();
    format!("{} ({day}, {})", clean(&facts.name), clean(&facts.cpu))
}

/// Two libraries, told apart by their builds where names and versions do not.
pub(super) fn pair(base: &LibraryId, new: &LibraryId) -> String {
    let label = |id: &LibraryId| versioned(&id.name, &id.version);
    let (b, n) = (label(base), label(new));
    match (b == n, base.id == new.id) {
        (true, true) => n,
        (true, false) => format!("{b}#{} → {n}#{}", short_id(&base.id), short_id(&new.id)),
        (false, _) => format!("{b} → {n}"),
    }
}

/// `12 same, 30 faster, 2 slower, 1 undecided`, and what of `same` is the same measurement.
pub(super) fn tally(tally: &Tally) -> String {
    let identical = match tally.identical {
        0 => String::new(),
        n if n == tally.same => " (the very same samples)".to_owned(),
        n => format!(" ({n} of them the very same samples)"),
    };
    format!(
        "{} same{identical}, {} faster, {} slower, {} undecided",
        tally.same, tally.faster, tally.slower, tally.undecided
    )
}

/// What came of settling candidates by pairs: what was settled first, then why the rest was not.
pub(super) fn confirmation(c: &Confirmation) -> Vec<String> {
    let mut lines = vec![format!(
        "confirmed by pairs: {} of {} candidates settled, {} undecided still, {} left; {:.0} s of {:.0} s",
        c.settled, c.candidates, c.undecided, c.left, c.seconds, c.budget_seconds
    )];
    let reason = |(why, count): &(String, usize)| format!("left: {count}, {}", clean(why));
    lines.extend(c.reasons.iter().map(reason));
    lines
}

/// What a reader must know of a case's verdict: why there is none, or that pairs gave it.
pub(super) fn remark(case: &Compared) -> String {
    let by_pairs = case.by_pairs.as_ref().map(|p| match (p.is_settled(), p.verdict_before) {
        (false, _) => format!("{} pairs: undecided too", p.pairs),
        (true, before) if before == p.verdict => format!("confirmed by {} pairs", p.pairs),
        (true, before) => format!("settled by {} pairs, was {}", p.pairs, before.name()),
    });
    let reason = case.reason.as_deref().map(clean);
    reason.into_iter().chain(by_pairs).collect::<Vec<_>>().join("; ")
}

/// How many cases have a verdict, and those that are listed: the largest change first, whichever way it goes.
pub(super) fn listed(c: &Comparison, verdict: Verdict, rows: usize) -> (usize, Vec<&Compared>) {
    let mut found: Vec<&Compared> = c.cases.iter().filter(|case| case.verdict == verdict).collect();
    let size = |case: &Compared| case.ratio.map_or(0.0, |r| r.estimate.ln().abs());
    found.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.case.cmp(&b.case)));
    let all = found.len();
    // Who asks for the same ones asks for all.
    found.truncate(if verdict == Verdict::Same && rows < usize::MAX { 0 } else { rows });
    (all, found)
}

/// Algorithms whose instructions changed, the largest growth first, and how many have not.
pub(super) fn changed(c: &Comparison) -> (Vec<&InstructionRow>, usize) {
    let mut changed: Vec<&InstructionRow> =
        c.instructions.iter().filter(|row| !row.is_equal()).collect();
    changed.sort_by(|a, b| b.largest_growth().total_cmp(&a.largest_growth()));
    let equal = c.instructions.len() - changed.len();
    (changed, equal)
}

/// What depends on secrets: how many are as they were, and a line for each that is not, whether it got worse.
pub(super) fn leaks(c: &Comparison) -> (usize, Vec<(bool, String)>) {
    let changed: Vec<&LeakRow> = c.leaks.iter().filter(|row| !row.is_equal()).collect();
    let line = |row: &LeakRow| {
        let libraries = pair(&row.base_library, &row.new_library);
        let tier = if row.tier == Tier::Native { String::new() } else { format!(" {}", row.tier) };
        let said = |word: &str, of: &[Leak]| -> Vec<String> {
            of.iter().map(|f| format!("{word}: {}", clean(&f.to_string()))).collect()
        };
        let mut words = said("new", &row.appeared);
        words.extend(said("gone", &row.gone));
        if row.base != row.new {
            words.insert(0, format!("{} → {}", row.base.name(), row.new.name()));
        }
        let text = format!("{}{tier}, {libraries}: {}", clean(&row.algorithm), words.join("; "));
        (row.is_worse(), text)
    };
    let mut lines: Vec<(bool, String)> = changed.iter().map(|row| line(row)).collect();
    lines.sort_by_key(|(worse, _)| !worse);
    (c.leaks.len() - changed.len(), lines)
}

/// A ratio's change, interval and factor.
pub(super) fn of_ratio(r: Ratio) -> [String; 3] {
    [change(r.estimate, (r.high - r.low) / 2.0), interval(r.low, r.high), factor(r.estimate)]
}

/// Change of time in per cent, with as many digits as the interval allows.
pub(crate) fn change(ratio: f64, half_width: f64) -> String {
    let text = format!("{:+.*}", decimals(half_width), (ratio - 1.0) * 100.0);
    // Nothing is neither more nor less.
    if text.trim_start_matches(['+', '-', '0', '.']).is_empty() {
        text.trim_start_matches(['+', '-']).to_owned()
    } else {
        text
    }
}

fn decimals(half_width: f64) -> usize {
    match half_width * 100.0 {
        w if w >= 1.0 => 0,
        w if w >= 0.1 => 1,
        _ => 2,
    }
}

/// The ends of the interval: `-2.4 to -1.9`.
pub(crate) fn interval(low: f64, high: f64) -> String {
    let half = (high - low) / 2.0;
    if half == 0.0 {
        return "exact".to_owned();
    }
    format!("{} to {}", change(low, half), change(high, half))
}

/// Old speed to new one as a factor: `2.41×`.
fn factor(ratio: f64) -> String {
    format!("{:.2}×", 1.0 / ratio)
}

/// Cost for each byte; of cases without bytes of each operation.
pub(super) fn per_byte(cost: Option<f64>, case: &Case) -> String {
    let bytes = if case.model.has_bytes() { case.size.max(1) as f64 } else { 1.0 };
    let value = cost.map(|c| c / bytes).filter(|c| c.is_finite());
    value.map(|c| crate::digits::supported(c, None)).unwrap_or_default()
}

/// The heading of [`per_byte`].
pub(super) fn per_byte_heading(c: &Comparison) -> [&'static str; 2] {
    match (c.unit, c.cases.iter().all(|case| case.case.model.has_bytes())) {
        (Unit::Cycles, true) => ["base c/B", "new c/B"],
        (Unit::Nanoseconds, true) => ["base ns/B", "new ns/B"],
        (Unit::Cycles, false) => ["base c/op", "new c/op"],
        (Unit::Nanoseconds, false) => ["base ns/op", "new ns/op"],
    }
}

/// What of a case is not as usual: `rekey, noaes, footprint l2`; of two tiers both.
pub(super) fn setting(case: &Case, base_tier: Option<Tier>) -> String {
    let mut words: Vec<String> = Vec::new();
    if case.model != Model::Message {
        words.push(case.model.to_string());
    }
    words.extend((!case.setting.is_empty()).then(|| clean(&case.setting)));
    match base_tier {
        Some(base) => words.push(format!("{base} → {}", case.tier)),
        None if case.tier != Tier::Native => words.push(case.tier.to_string()),
        None => {}
    }
    if case.footprint != Footprint::Hot {
        words.push(format!("footprint {}", case.footprint));
    }
    if case.in_place {
        words.push("in place".to_owned());
    }
    if case.threads > 1 {
        words.push(format!("{} threads", case.threads));
    }
    words.join(", ")
}

/// `encrypt` and `decrypt`; what has one direction only needs no word.
pub(super) fn direction(direction: Direction) -> String {
    match direction {
        Direction::Digest | Direction::Copy => String::new(),
        other => other.to_string(),
    }
}

/// `aes-gcm`, or `all 120 cases` where the summary is of all.
pub(super) fn of_what(summary: &Summary) -> String {
    let cases = summary.tally.cases();
    let all = || if cases == 1 { "the one case".to_owned() } else { format!("all {cases} cases") };
    summary.family.as_deref().map_or_else(all, clean)
}

/// The libraries of a summary and a space; nothing where only two are compared.
pub(super) fn of_which(summary: &Summary) -> String {
    summary.libraries.as_ref().map(|(b, n)| pair(b, n)).unwrap_or_default()
}

/// Measured cases on one side only, summed up by library and reason.
pub(super) fn only(comparison: &Comparison) -> Vec<String> {
    let mut groups: BTreeMap<(OnlyIn, String, &str), BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for o in &comparison.only {
        let library = versioned(&o.library.name, &o.library.version);
        let algorithms = groups.entry((o.only_in, library, o.reason)).or_default();
        algorithms.entry(&o.case.algorithm).or_default().push(o.case.size);
    }
    let line = |((side, library, reason), algorithms): (
        (OnlyIn, String, &str),
        BTreeMap<&str, Vec<usize>>,
    )| {
        let cases: usize = algorithms.values().map(Vec::len).sum();
        let side = match side {
            OnlyIn::Base => "base",
            OnlyIn::New => "new side",
        };
        let names: Vec<String> = algorithms.keys().map(|a| clean(a)).collect();
        format!("{library}, {cases} cases only in the {side} ({reason}): {}", names.join(", "))
    };
    groups.into_iter().map(line).collect()
}

/// Measured sizes whose instructions were not counted on both sides, a line each; those of records
/// that have no counts of measured sizes in one.
pub(super) fn uncounted(comparison: &Comparison) -> Vec<String> {
    let rows = comparison.instructions.iter();
    let all = rows.flat_map(|row| row.uncounted.iter().map(move |u| (row, u)));
    let (known, unknown): (Vec<_>, Vec<_>) = all.partition(|(_, u)| u.reason != NOT_COUNTED);
    let line = |(row, u): (&InstructionRow, &Uncounted)| {
        let mut name = format!("{} {}", clean(&row.algorithm), direction(row.direction));
        if comparison.several {
            name += &format!(", {}", pair(&row.base_library, &row.new_library));
        }
        format!("{name}, {}: {}", size_with_unit(u.size), clean(&u.reason))
    };
    let older = (!unknown.is_empty()).then(|| {
        format!("{} measured sizes, by runs of an older version on both sides", unknown.len())
    });
    known.into_iter().map(line).chain(older).collect()
}

/// `aes-128-gcm encrypt 8K`, with what is not as usual.
pub(super) fn case(case: &Case) -> String {
    let parts =
        [clean(&case.algorithm), direction(case.direction), size(case.size), setting(case, None)];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What the numbers mean.
pub(super) fn legend(comparison: &Comparison) -> Vec<String> {
    let tolerance = crate::digits::percent(comparison.tolerance);
    let unit = match comparison.unit {
        Unit::Cycles => "core cycles",
        Unit::Nanoseconds => "nanoseconds",
    };
    let by_pairs = comparison.confirmation.as_ref().map(|_| {
        "confirmed and settled: verdict, change and interval are those of pairs of processes, wrong at most \
         once in 1000 comparisons of the same with the same (`ciphermark pair`)"
            .to_owned()
    });
    let all = vec![
        format!(
            "time %: change of an operation's {unit}, new against base (below zero is faster), with its \
             95 % interval; ×: speed, new over base"
        ),
        format!(
            "same: the interval lies within ±{tolerance} %; faster and slower: beyond that, and sure for \
             all {} cases together ({:.0} % that not one is wrong; S. Holm, 1979), so that one case's \
             interval without 0 can still be undecided",
            comparison.tally.cases(),
            (1.0 - comparison.family_alpha) * 100.0
        ),
    ];
    all.into_iter().chain(by_pairs).collect()
}
