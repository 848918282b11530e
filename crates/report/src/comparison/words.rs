//! The words of a comparison, the same for a terminal and for Markdown.

use crate::labels::{short_id, size, size_with_unit, versioned};
use base::analysis::{Ratio, Verdict};
use base::model::{Direction, Footprint, Model, Tier};
use base::text::clean;
use judge::compare::{
    Case, Compared, Comparison, Confirmation, Facts, InstructionRow, LeakRow, NOT_COUNTED, Summary,
    Tally, Uncounted, Unit, Which,
};
use record::{Leak, LibraryId};
use std::collections::BTreeMap;

/// The order in which verdicts are told: what wants to be acted upon first.
pub(crate) const ORDER: [Verdict; 4] =
    [Verdict::Slower, Verdict::Faster, Verdict::Undecided, Verdict::Same];

/// `base openssl@3.0.22, run.json of 2026-11-21, AMD EPYC`.
pub(crate) fn side(facts: &Facts) -> String {
    let day = clean(&facts.started);
    let day = day.split('T').next().unwrap_or_default();
    // Imported figures may come from no machine that is known.
    let cpu = clean(&facts.cpu);
    let when_and_where = [day, &cpu].into_iter().filter(|part| !part.is_empty());
    format!("{} ({})", clean(&facts.name), when_and_where.collect::<Vec<_>>().join(", "))
}

/// Two libraries, told apart by their builds where names and versions do not.
pub(crate) fn pair(base: &LibraryId, new: &LibraryId) -> String {
    let label = |id: &LibraryId| versioned(&id.name, &id.version);
    let (b, n) = (label(base), label(new));
    match (b == n, base.id == new.id) {
        (true, true) => n,
        (true, false) => format!("{b}#{} → {n}#{}", short_id(&base.id), short_id(&new.id)),
        (false, _) => format!("{b} → {n}"),
    }
}

/// `12 same, 30 faster, 2 slower, 1 undecided`, what of `same` is the same measurement, and what of `slower` and
/// `faster` is no library's doing.
pub(crate) fn tally(c: &Comparison) -> String {
    let own = own(c).map(|own| format!("; {own}")).unwrap_or_default();
    counts(&c.tally) + &own
}

/// What of `slower` and `faster` is no library's doing.
pub(crate) fn own(c: &Comparison) -> Option<String> {
    let sure = |case: &&Compared| matches!(case.verdict, Verdict::Faster | Verdict::Slower);
    let own = c.cases.iter().filter(sure).filter(|case| c.is_runs_own(case)).count();
    (own > 0).then(|| {
        format!("{own} of the faster and slower are of one build on both sides: the runs' own")
    })
}

fn counts(tally: &Tally) -> String {
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
pub(crate) fn confirmation(c: &Confirmation) -> Vec<String> {
    let mut lines = vec![format!(
        "confirmed by pairs: {} of {} candidates settled, {} undecided still, {} left; {:.0} s of {:.0} s",
        c.settled, c.candidates, c.undecided, c.left, c.seconds, c.budget_seconds
    )];
    let reason = |(why, count): &(String, usize)| format!("left: {count}, {}", clean(why));
    lines.extend(c.reasons.iter().map(reason));
    lines
}

/// What a reader must know of a case's verdict: why there is none, or that pairs gave it.
pub(crate) fn remark(case: &Compared) -> String {
    let by_pairs = case.by_pairs.as_ref().map(|p| match (p.is_settled(), p.verdict_before) {
        (false, _) => format!("{} pairs: undecided too", p.pairs),
        (true, before) if before == p.verdict => format!("confirmed by {} pairs", p.pairs),
        (true, before) => format!("by {} pairs, was {}", p.pairs, before.name()),
    });
    // The interval's own place says that there is none.
    let reason = case.reason.as_deref().filter(|_| case.ratio_without_interval.is_none());
    reason.map(clean).into_iter().chain(by_pairs).collect::<Vec<_>>().join("; ")
}

/// How many cases have a verdict, and those that are listed: the largest change first, whichever way it goes.
pub(crate) fn listed(c: &Comparison, verdict: Verdict, rows: usize) -> (usize, Vec<&Compared>) {
    let mut found: Vec<&Compared> = c.cases.iter().filter(|case| case.verdict == verdict).collect();
    let size = |case: &Compared| {
        let ratio = case.ratio.map(|r| r.estimate).or(case.ratio_without_interval);
        ratio.map_or(0.0, |ratio| ratio.ln().abs())
    };
    found.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.case.cmp(&b.case)));
    let all = found.len();
    // Who asks for the same ones asks for all.
    found.truncate(if verdict == Verdict::Same && rows < usize::MAX { 0 } else { rows });
    (all, found)
}

/// `slower: 12, of them 2 of one build: the runs' own`.
pub(crate) fn title(c: &Comparison, verdict: Verdict, name: &str) -> String {
    let all = c.cases.iter().filter(|case| case.verdict == verdict);
    let is_own = |case: &&Compared| {
        matches!(verdict, Verdict::Faster | Verdict::Slower) && c.is_runs_own(case)
    };
    let (count, own) = (all.clone().count(), all.filter(is_own).count());
    match own {
        0 => format!("{name}: {count}"),
        _ if own == count => format!("{name}: {count}, all of one build: the runs' own"),
        _ => format!("{name}: {count}, of them {own} of one build: the runs' own"),
    }
}

/// Algorithms whose instructions changed, the largest growth first, and how many have not.
pub(crate) fn changed(c: &Comparison) -> (Vec<&InstructionRow>, usize) {
    let mut changed: Vec<&InstructionRow> =
        c.instructions.iter().filter(|row| row.is_counted() && !row.is_equal()).collect();
    changed.sort_by(|a, b| b.largest_growth().total_cmp(&a.largest_growth()));
    let equal = c.instructions.iter().filter(|row| row.is_equal()).count();
    (changed, equal)
}

/// What depends on secrets: how much is as it was, and a line for each that is not, whether it got worse.
pub(crate) fn leaks(c: &Comparison) -> (String, Vec<(bool, String)>) {
    let changed: Vec<&LeakRow> = c.leaks.iter().filter(|row| !row.is_equal()).collect();
    let line = |row: &LeakRow| {
        let libraries = pair(&row.base_library, &row.new_library);
        let tier = if row.tier == Tier::Native { String::new() } else { format!(" {}", row.tier) };
        let said = |word: &str, of: &[Leak]| -> Vec<String> {
            of.iter().map(|f| format!("{word}: {}", clean(&f.to_string()))).collect()
        };
        let mut words = said("new", &row.appeared);
        words.extend(said("gone", &row.gone));
        if Some(row.base) != row.new {
            let new = row.new.map_or("no verdict", |verdict| verdict.name());
            words.insert(0, format!("{} → {new}", row.base.name()));
        }
        let text = format!("{}{tier}, {libraries}: {}", clean(&row.algorithm), words.join("; "));
        (row.is_worse() || row.is_lost(), text)
    };
    let mut lines: Vec<(bool, String)> = changed.iter().map(|row| line(row)).collect();
    lines.sort_by_key(|(worse, _)| !worse);
    let lost = changed.iter().filter(|row| row.is_lost()).count();
    let equal = c.leaks.len() - changed.len();
    let mut title = format!("{} changed, {equal} equal", changed.len() - lost);
    if lost > 0 {
        title += &format!(", {lost} not judged now");
    }
    (title, lines)
}

/// A ratio's change, interval and factor, with digits that show on which side of 0 and of the tolerance, where there is
/// one, the interval ends, and on which side of the tolerance the change itself lies: verdicts hang on that.
pub(crate) fn of_ratio(r: Ratio, tolerance: Option<f64>) -> [String; 3] {
    // A bound has one end only.
    let (has_low, has_high) = (r.low > 0.0, r.high.is_finite());
    let half_width = match (has_low, has_high) {
        (true, true) => (r.high - r.low) / 2.0,
        (false, _) => r.high - r.estimate,
        (true, false) => r.estimate - r.low,
    };
    let [own, ends] = digits(r, decimals(half_width), tolerance);
    let interval = match (has_low, has_high) {
        (true, true) if half_width == 0.0 => "exact".to_owned(),
        (true, true) => format!("{} to {}", signed(r.low, ends), signed(r.high, ends)),
        (false, true) => format!("at most {}", signed(r.high, ends)),
        (true, false) => format!("at least {}", signed(r.low, ends)),
        (false, false) => "not known".to_owned(),
    };
    [signed(r.estimate, own), interval, factor(r.estimate)]
}

/// A case's change, interval and factor; of figures from elsewhere without an interval.
pub(crate) fn of_case(case: &Compared, tolerance: f64, heading: &str) -> [String; 3] {
    match (case.ratio, case.ratio_without_interval) {
        (Some(ratio), _) => with_level(ratio, Some(tolerance), heading),
        (None, Some(ratio)) => [signed(ratio, 1), "no interval".to_owned(), factor(ratio)],
        (None, None) => <[String; 3]>::default(),
    }
}

/// What figures from elsewhere come to, all together.
pub(crate) fn without_interval(c: &Comparison) -> Option<String> {
    let ratios: Vec<f64> = c.cases.iter().filter_map(|case| case.ratio_without_interval).collect();
    let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    (!ratios.is_empty()).then(|| {
        format!(
            "figures that are imported or have no samples of several processes have no interval, so no verdict and no \
             condition of --fail-if: {} of them take {} % {} in the geometric mean ({} the speed)",
            ratios.len(),
            signed(mean, 1),
            what_is_compared(c.unit),
            factor(mean)
        )
    })
}

/// Change of time in per cent, with as many digits as the interval allows.
pub(crate) fn change(ratio: f64, half_width: f64) -> String {
    signed(ratio, decimals(half_width))
}

fn signed(ratio: f64, decimals: usize) -> String {
    let text = format!("{:+.*}", decimals, (ratio - 1.0) * 100.0);
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

/// More digits than these, and a difference is none that anybody measures.
const MOST_DECIMALS: usize = 5;

/// Digits with which a change lies on the same side of each edge as it does itself.
fn deciding(ratio: f64, decimals: usize, edges: &[f64]) -> usize {
    let shown = |digits: usize| {
        let scale = 10_f64.powi(digits as i32);
        ((ratio - 1.0) * 100.0 * scale).round() / scale
    };
    let same_side = |digits: usize| {
        edges.iter().all(|edge| {
            let of = |percent: f64| percent.partial_cmp(&(edge * 100.0));
            of(shown(digits)) == of((ratio - 1.0) * 100.0)
        })
    };
    (decimals..MOST_DECIMALS).find(|digits| same_side(*digits)).unwrap_or(decimals)
}

/// Decimals of a ratio's estimate and of its interval's ends, `least` at least.
fn digits(r: Ratio, least: usize, tolerance: Option<f64>) -> [usize; 2] {
    let edges: Vec<f64> =
        tolerance.into_iter().flat_map(|t| [t, 1.0 / (1.0 + t) - 1.0]).chain([0.0]).collect();
    let of_end = |end| deciding(end, least, &edges);
    let without_zero = &edges[..edges.len() - 1];
    [deciding(r.estimate, least, without_zero), of_end(r.low).max(of_end(r.high))]
}

/// `95 % interval` where all have that level, else `interval`: each then says its own.
pub(crate) fn interval_heading<'a>(ratios: impl Iterator<Item = &'a Ratio>) -> &'static str {
    let mut others = ratios.filter(|r| !is_usual(r));
    if others.next().is_none() { "95 % interval" } else { "interval" }
}

fn is_usual(r: &Ratio) -> bool {
    (r.level - USUAL).abs() < 1e-9 || r.low == r.high
}

/// The level of intervals, but of pairs of processes and of very few processes.
const USUAL: f64 = 0.95;

/// As [`of_ratio`], the interval with its level under the heading `interval`.
pub(crate) fn with_level(r: Ratio, tolerance: Option<f64>, heading: &str) -> [String; 3] {
    let [change, mut interval, factor] = of_ratio(r, tolerance);
    if heading == "interval" && r.low != r.high {
        interval += &format!(" ({})", level(r.level));
    }
    [change, interval, factor]
}

/// `+4.12 % (+3.90 to +4.31 at 99.95 %)`, where a verdict hangs on 0 and on `margin`.
pub fn change_of_pairs(r: Ratio, margin: f64) -> String {
    let [own, ends] = digits(r, 2, Some(margin));
    let [change, low, high] =
        [(r.estimate, own), (r.low, ends), (r.high, ends)].map(|(value, n)| signed(value, n));
    format!("{change} % ({low} to {high} at {})", level(r.level))
}

/// `99.95 %`.
fn level(level: f64) -> String {
    let text = format!("{:.3}", level * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Old speed to new one as a factor: `2.41×`.
fn factor(ratio: f64) -> String {
    format!("{:.2}×", 1.0 / ratio)
}

/// The two sides' words; one where they are the same.
fn both(base: Option<String>, new: String) -> String {
    base.map(|base| format!("{base} → {new}")).unwrap_or(new)
}

/// The algorithm; of two that are compared both.
pub(crate) fn algorithm(case: &Compared) -> String {
    both(case.base.algorithm.as_deref().map(clean), clean(&case.case.algorithm))
}

/// The size, likewise.
pub(crate) fn bytes(case: &Compared) -> String {
    both(case.base.size.map(size), size(case.case.size))
}

pub(crate) fn directions(case: &Compared) -> String {
    both(case.base.direction.map(direction), direction(case.case.direction))
}

/// `aes-256-gcm takes +16 % (+14 to +19 at 95 %) over aes-128-gcm; openssl@3.0.22, encrypt, 4 KiB`: what was asked,
/// over all cases.
pub(crate) fn answer(c: &Comparison) -> Option<String> {
    let (between, ratio) = (c.between.as_ref()?, c.overall.first()?.ratio?);
    let [change, interval, _] = with_level(ratio, None, "interval");
    let interval = interval.replace(" (", " at ").replace(')', "");
    let a_byte = if between.what == "size" { " a byte" } else { "" };
    let (least, most) = (1.0 / (1.0 + c.tolerance), 1.0 + c.tolerance);
    let verdict = if ratio.low > 1.0 || ratio.high < 1.0 {
        ""
    } else if ratio.low >= least && ratio.high <= most {
        ": the same"
    } else {
        ": undecided, the interval has 0 in it"
    };
    let cases: Vec<&Compared> = c.cases.iter().collect();
    let place = shared(&cases, between.what).join(", ");
    Some(format!(
        "{} takes {change} % {} ({interval}){a_byte} over {}{verdict}; {place}",
        clean(&between.new),
        what_is_compared(c.unit),
        clean(&between.base)
    ))
}

type Word<'a> = &'a dyn Fn(&Compared) -> String;

fn shared(cases: &[&Compared], what: &str) -> Vec<String> {
    let one = |of: Word<'_>| {
        let first = of(cases.first()?);
        (!first.is_empty() && cases.iter().all(|case| of(case) == first)).then_some(first)
    };
    let all: [(&str, Word<'_>); 5] = [
        ("library", &|c| pair(&c.base_library, &c.new_library)),
        ("algorithm", &algorithm),
        ("direction", &directions),
        ("size", &|c| size_with_unit(c.case.size)),
        ("tier", &|c| setting(&c.case, None)),
    ];
    let of_others = all.into_iter().filter(|(name, _)| *name != what);
    let mut words: Vec<String> = of_others.filter_map(|(_, of)| one(of)).collect();
    words.extend((cases.len() > 1).then(|| format!("geometric mean of {} cases", cases.len())));
    words
}

pub(crate) fn change_heading(unit: Unit) -> &'static str {
    match unit {
        Unit::Cycles => "cycles %",
        Unit::Nanoseconds => "time %",
    }
}

/// The same in a sentence.
pub(crate) fn what_is_compared(unit: Unit) -> &'static str {
    match unit {
        Unit::Cycles => "cycles",
        Unit::Nanoseconds => "time",
    }
}

/// Cost for each byte; of cases without bytes of each operation.
pub(crate) fn per_byte(cost: Option<f64>, case: &Case, size: Option<usize>) -> String {
    let size = size.unwrap_or(case.size);
    let bytes = if case.model.has_bytes() { size.max(1) as f64 } else { 1.0 };
    let value = cost.map(|c| c / bytes).filter(|c| c.is_finite());
    value.map(|c| crate::labels::supported(c, None)).unwrap_or_default()
}

pub(crate) fn per_byte_heading(c: &Comparison) -> [&'static str; 2] {
    match (c.unit, c.cases.iter().all(|case| case.case.model.has_bytes())) {
        (Unit::Cycles, true) => ["base c/B", "new c/B"],
        (Unit::Nanoseconds, true) => ["base ns/B", "new ns/B"],
        (Unit::Cycles, false) => ["base c/op", "new c/op"],
        (Unit::Nanoseconds, false) => ["base ns/op", "new ns/op"],
    }
}

/// What of a case is not as usual: `rekey, noaes, footprint l2`; of two tiers both.
pub(crate) fn setting(case: &Case, base_tier: Option<Tier>) -> String {
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
pub(crate) fn direction(direction: Direction) -> String {
    match direction {
        Direction::Digest | Direction::Copy | Direction::Generate => String::new(),
        other => other.to_string(),
    }
}

/// `aes-gcm`, or `all 120 cases` where the summary is of all.
pub(crate) fn of_what(summary: &Summary) -> String {
    let (cases, ratios) = (summary.tally.cases(), summary.ratios);
    let all = || match cases {
        1 => "the one case".to_owned(),
        _ if ratios < cases => format!("{ratios} of {cases} cases"),
        _ => format!("all {cases} cases"),
    };
    summary.family.as_deref().map_or_else(all, clean)
}

/// The libraries of a summary and a space; nothing where only two are compared.
pub(crate) fn of_which(summary: &Summary) -> String {
    summary.libraries.as_ref().map(|(b, n)| pair(b, n)).unwrap_or_default()
}

/// Measured cases on one side only, summed up by library and reason.
pub(crate) fn only(comparison: &Comparison) -> Vec<String> {
    let mut groups: BTreeMap<(Which, String, &str), BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for o in &comparison.only {
        let library = versioned(&o.library.name, &o.library.version);
        let algorithms = groups.entry((o.only_in, library, o.reason)).or_default();
        algorithms.entry(&o.case.algorithm).or_default().push(o.case.size);
    }
    let line = |((side, library, reason), algorithms): (
        (Which, String, &str),
        BTreeMap<&str, Vec<usize>>,
    )| {
        let cases: usize = algorithms.values().map(Vec::len).sum();
        let side = match side {
            Which::Base => "base",
            Which::New => "new side",
        };
        let names: Vec<String> = algorithms.keys().map(|a| clean(a)).collect();
        format!("{library}, {cases} cases only in the {side} ({reason}): {}", names.join(", "))
    };
    groups.into_iter().map(line).collect()
}

/// Measured sizes whose instructions were not counted on both sides, a line each; those of records
/// that have no counts of measured sizes in one.
pub(crate) fn uncounted(comparison: &Comparison) -> Vec<String> {
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
pub(crate) fn case(case: &Case) -> String {
    let parts =
        [clean(&case.algorithm), direction(case.direction), size(case.size), setting(case, None)];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
}

pub(crate) fn legend(comparison: &Comparison) -> Vec<String> {
    let tolerance = crate::labels::percent(comparison.tolerance);
    let unit = match comparison.unit {
        Unit::Cycles => "core cycles",
        Unit::Nanoseconds => "nanoseconds",
    };
    let of_bytes = comparison.between.as_ref().is_some_and(|b| b.what == "size");
    let what = if of_bytes { "a byte's" } else { "an operation's" };
    let by_pairs = comparison.confirmation.as_ref().map(|_| {
        "confirmed and settled: verdict, change and interval are those of pairs of processes, wrong at most \
         once in 1000 comparisons of the same with the same (`ciphermark pair`)"
            .to_owned()
    });
    let all = vec![
        format!(
            "{}: change of {what} {unit}, new against base (below zero is faster), with its interval at the \
             level given; ×: {} over new",
            change_heading(comparison.unit),
            if comparison.unit == Unit::Cycles { "cycles, base" } else { "time, base" },
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
