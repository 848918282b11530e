//! The sentences that advice as text and as Markdown share.

use crate::advise::cost::{How, InStore, Price};
use crate::advise::data::Verdict;
use crate::advise::{
    Advice, Change, Choice, Fitting, Longer, Open, OpenWhy, Other, Outcome, Rejected,
};
use base::analysis::Estimate;
use base::model::Direction;
use record::LeakVerdict;
use serde::Serialize;
use std::collections::BTreeMap;

/// `PostgreSQL pages of 8192 bytes, tier native`
pub(crate) fn title(advice: &Advice) -> String {
    format!("{} of {} bytes, tier {}", advice.title, advice.size, advice.tier.in_words())
}

/// `--integrity adversary --key-bits 256`, those that were typed or those that were not.
pub(crate) fn terms(advice: &Advice, typed: bool) -> String {
    let of = |t: &&crate::advise::Term| t.typed == typed;
    let one = |t: &crate::advise::Term| format!("--{} {}", t.flag, for_shell(&t.value));
    advice.terms.iter().filter(of).map(one).collect::<Vec<_>>().join(" ")
}

/// As a shell takes it: what it would put something else for is quoted.
fn for_shell(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:=@%+/".contains(c);
    match value.chars().all(is_plain) {
        true => value.to_owned(),
        false => base::text::shell_word(value),
    }
}

/// What the page says of advice: the sentences of the text.
#[derive(Debug, Serialize)]
pub struct Told {
    title: String,
    /// Why there is no choice.
    none: Option<String>,
    choice: Vec<(&'static str, String)>,
    candidates: String,
    open: Vec<String>,
    changes: Vec<String>,
    /// The cost of each scheme that fits, with what the comparison with the chosen one comes to.
    fitting: Vec<(String, &'static str)>,
}

impl Told {
    pub fn of(advice: &Advice) -> Self {
        let choice = match &advice.outcome {
            Outcome::Choice(made) => choice(made, &advice.unit),
            Outcome::None(_) => Vec::new(),
        };
        let cost = |f: &Fitting| (nanoseconds(&f.ns), sign(f.tied, f.undecided));
        Self {
            title: title(advice),
            none: none(advice),
            choice,
            candidates: candidates(advice),
            open: open(advice),
            changes: advice.changes.iter().map(change).collect(),
            fitting: advice.fitting.iter().map(cost).collect(),
        }
    }
}

/// `record run.json of 2026-11-21, AMD EPYC`
pub(crate) fn basis(advice: &Advice, origin: &str) -> String {
    let day = advice.basis.started.get(..10).unwrap_or(&advice.basis.started);
    format!("{origin} of {day}, {}", advice.basis.cpu)
}

/// What is known of the choice, topic by topic.
pub(crate) fn choice(choice: &Choice, unit: &str) -> Vec<(&'static str, String)> {
    let price = &choice.price;
    let direction = |ns: &Estimate, cycles: Option<f64>, mb: f64, gib: f64| {
        let cycles = cycles.map(|c| format!(", {c:.0} cycles")).unwrap_or_default();
        format!("{}{cycles}, {mb:.0} MB/s, {gib:.3} core-seconds a GiB", nanoseconds(ns))
    };
    let how = how(price);
    let between = if price.between_sizes { ", between two measured sizes" } else { "" };
    let mut lines = vec![
        (
            "write",
            direction(
                &price.write_ns,
                price.write_cycles,
                choice.write_mb_per_s,
                choice.write_core_seconds_per_gib,
            ),
        ),
        (
            "read",
            direction(
                &price.read_ns,
                price.read_cycles,
                choice.read_mb_per_s,
                choice.read_core_seconds_per_gib,
            ),
        ),
        ("", how + between),
    ];
    lines.extend(price.in_store.iter().map(|s| ("in store", in_store(s))));
    if let Some(p99) = price.p99_us {
        lines.push(("p99", format!("{p99:.1} µs")));
    }
    lines.extend(secrets(choice).map(|text| ("secrets", text)));
    if !choice.ties_with.is_empty() {
        let others = choice.ties_with.join(", ");
        lines.push((
            "ties",
            format!("{others} cost the same within 5 %, at 95 %; preferred for fewer assumptions on nonces, approval, fewer bytes, in this order"),
        ));
    }
    lines.push(("stored", format!("{} bytes with each {unit}", choice.stored_bytes)));
    if choice.nonce_bits > 0 {
        lines
            .push(("nonce", format!("{} bits from a {}", choice.nonce_bits, nonce(&choice.nonce))));
    }
    lines.extend(keys(choice, unit));
    lines.push(("on the day", ROTATION.to_owned()));
    if let Some(size) = &choice.unit_size {
        lines.push(("unit size", size.says(unit)));
    }
    lines
}

/// What of the choice depends on the secret, and what it costs to avoid that.
pub(crate) fn secrets(choice: &Choice) -> Option<String> {
    let own = choice.price.leaks.map(|verdict| match verdict {
        LeakVerdict::SameTrace => "same trace for every secret that was compared",
        LeakVerdict::NotJudged => "not all could be judged",
        LeakVerdict::MayDepend => "may depend on the secret, by taint only (`ciphermark leaks`)",
        LeakVerdict::Depends => "depends on the secret: only where nothing else runs on the core",
    });
    let avoided = choice.avoided.as_ref().map(|a| {
        let (scheme, library, times) = (&a.scheme, &a.library, a.times);
        format!("avoids {scheme} in {library}, which depends on the secret, at {times:.2} times its cost (--alone yes takes it)")
    });
    let all: Vec<String> = own.map(str::to_owned).into_iter().chain(avoided).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn how(price: &Price) -> String {
    let drawn = price.drawn.as_ref();
    let drawn = drawn.map(|d| format!("; {:.0} ns of it draw the nonce ({})", d.ns, d.by));
    let how = match price.how {
        How::Measured => "measured in one operation".to_owned(),
        How::Composed => {
            let parts = price.algorithms.join(" and ");
            let join = price.join_ns.map(|ns| format!(", and {ns:.0} ns of joining them"));
            format!("composed: the sum of {parts}{}", join.unwrap_or_default())
        }
        How::Store => "measured on the pages of the store, nonce and sum included".to_owned(),
        How::Rekeyed => format!(
            "measured as {} with a new key for each unit; two calls of AES that derive it are not in it",
            price.algorithms.join(" and ")
        ),
    };
    how + &drawn.unwrap_or_default()
}

/// `cache: 812 ns beside 1702 ns of reading, 32 % of both`
fn in_store(s: &InStore) -> String {
    let what = if s.direction == Direction::Decrypt { "reading" } else { "writing" };
    let share = 100.0 * s.share;
    format!(
        "{}: {:.0} ns beside {:.0} ns of {what}, {share:.1} % of both",
        s.medium, s.scheme_ns, s.io_ns
    )
}

fn nonce(source: &str) -> &str {
    match source {
        "position" => "unit's number",
        "start" => "field that is new at each start, and a counter",
        "counter" => "counter",
        _ => "random number",
    }
}

/// What to do when a key's day comes.
const ROTATION: &str = "make a new key, and keep each key's number with what it encrypted; write with the new key \
     only; read with either while a background job rewrites the old key's units under the new one; then destroy the old \
     key. Backups keep theirs until they expire. Begin so early that the rewriting is done by the day: its writes count \
     for the new key";

/// The limit, and when it is reached.
pub(crate) fn limit(choice: &Choice, unit: &str) -> (String, String) {
    let key = &choice.key;
    let under = if key.units_log2.is_some() { " under one key" } else { "" };
    let writers = match key.writers {
        0 | 1 => String::new(),
        n => format!(" by all {n} writers"),
    };
    let rate = format!("{} {unit}s a second{writers}", key.writes_per_second);
    let provided = key.provided.as_ref().map(|p| format!("only if {p}, which nothing here counts"));
    let reached = match key.worn_out {
        Some(day) => Some(format!("reached on {day} with {rate} from {} on", key.born)),
        None if provided.is_some() => None,
        None => Some(format!("not worn out by {rate}")),
    };
    let reached: Vec<String> = reached.into_iter().chain(provided).collect();
    (format!("{}{under}", key.limit), reached.join("; "))
}

pub(crate) fn rotate_by(choice: &Choice) -> Option<String> {
    let day = choice.key.rotate_by?;
    let why = match choice.key.worn_out == Some(day) {
        true => "when that many are written",
        false => "two years after its birth (NIST SP 800-57 Part 1 Rev. 5 §5.3.6)",
    };
    Some(format!("{day}, {why}"))
}

/// `--keys 10 --key-life 90d → 2027-04-09; …`: what lets the key last longer.
pub(crate) fn longer(choice: &Choice) -> Option<String> {
    let one = |l: &Longer| format!("{} → {}", l.flags.join(" "), l.rotate_by);
    let all: Vec<String> = choice.key.longer.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Behind what is shown to cost the same, and what may cost less.
pub(crate) fn sign(tied: bool, undecided: bool) -> &'static str {
    match (tied, undecided) {
        (true, _) => " =",
        (_, true) => " ?",
        _ => "",
    }
}

/// Candidates that are named of each kind that is open.
const NAMED: usize = 2;

/// What could give another answer, a sentence for each kind.
pub(crate) fn open(advice: &Advice) -> Vec<String> {
    let kinds = [OpenWhy::Missing, OpenWhy::Undecided, OpenWhy::Unjudged];
    let of = |kind: OpenWhy| {
        let all: Vec<&Open> = advice.open.iter().filter(|o| o.kind == kind).collect();
        (!all.is_empty()).then(|| of_kind(advice, kind, &all))
    };
    kinds.into_iter().filter_map(of).collect()
}

fn of_kind(advice: &Advice, kind: OpenWhy, all: &[&Open]) -> String {
    let chosen = match &advice.outcome {
        Outcome::Choice(choice) => Some((&*choice.scheme, choice.price.label())),
        Outcome::None(_) => None,
    };
    let is_chosen = |o: &&&Open| chosen.as_ref() == Some(&(&*o.scheme, o.library.clone()));
    let many = if all.len() == 1 { "candidate" } else { "candidates" };
    match kind {
        OpenWhy::Missing => format!(
            "{} {many} not measured, could cost less: {}; {}",
            all.len(),
            named(all, |o| match o.times_at_least {
                Some(times) => format!(" (at least {times:.2} times)"),
                None => String::new(),
            }),
            remedy(advice)
        ),
        OpenWhy::Undecided => format!(
            "undecided, could cost less: {}",
            named(all, |o| {
                let percent = |times: f64| 100.0 * (times - 1.0);
                let least = percent(o.times_at_least.unwrap_or(1.0));
                match o.times_at_most.map(percent) {
                    Some(most) => format!(" ({least:+.0} to {most:+.0} %)"),
                    None => format!(" ({least:+.0} %, interval unknown)"),
                }
            })
        ),
        OpenWhy::Unjudged if all.iter().any(|o| is_chosen(&o)) => {
            "whether the choice gives the secret away is not judged (`ciphermark leaks`)".to_owned()
        }
        OpenWhy::Unjudged => format!(
            "not judged whether the secret shows, so not chosen: {}",
            named(all, |o| format!(" ({:.2} times)", o.times_at_least.unwrap_or(1.0)))
        ),
    }
}

/// The first of them, those of one scheme together.
fn named(all: &[&Open], about: impl Fn(&Open) -> String) -> String {
    let mut schemes: Vec<(&str, Vec<&Open>)> = Vec::new();
    for one in all {
        match schemes.iter_mut().find(|(scheme, _)| *scheme == one.scheme) {
            Some((_, members)) => members.push(one),
            None => schemes.push((&one.scheme, vec![one])),
        }
    }
    let one = |(scheme, members): &(&str, Vec<&Open>)| {
        let more = match members.len() - 1 {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("{scheme} in {}{}{more}", members[0].library, about(members[0]))
    };
    let mut words: Vec<String> = schemes.iter().take(NAMED).map(one).collect();
    if schemes.len() > NAMED {
        words.push(format!("{} more schemes", schemes.len() - NAMED));
    }
    words.join(", ")
}

/// The command that measures what is open.
fn remedy(advice: &Advice) -> String {
    let typed = terms(advice, true);
    let size =
        if typed.contains("--size") { String::new() } else { format!(" -s {}", advice.size) };
    let tier = match advice.tier {
        base::model::Tier::Native => String::new(),
        tier => format!(" -t {tier}"),
    };
    let typed = if typed.is_empty() { typed } else { format!(" {typed}") };
    format!("`ciphermark advise --for {}{size}{tier}{typed}` measures them", advice.used)
}

/// `131 candidates: 96 measured, 35 ruled out by bounds`
pub(crate) fn candidates(advice: &Advice) -> String {
    let c = &advice.basis.candidates;
    let mut words = vec![format!("{} measured", c.measured)];
    if c.ruled_out_by_bound > 0 {
        words.push(format!("{} ruled out by a bound", c.ruled_out_by_bound));
    }
    words.push(format!("{} missing", c.missing));
    format!("{} (schemes in libraries that fit, costs aside): {}", c.all, words.join(", "))
}

/// `openssl@4.0.3 884 ns =`: a library beside the cheapest; `=` where it is shown to cost the same, `?` where it may
/// cost less.
pub(crate) fn other(other: &Other) -> String {
    let tied = sign(other.tied, other.undecided);
    format!("{} {:.0} ns{tied}", other.library, other.ns.median)
}

fn keys(choice: &Choice, unit: &str) -> Vec<(&'static str, String)> {
    let (limit, reached) = limit(choice, unit);
    let mut lines = vec![("limit", format!("{limit} [{}]", choice.key.source)), ("", reached)];
    let forgeries = choice.key.forgeries.iter();
    lines.extend(forgeries.map(|f| ("forgeries", format!("{f}: raise an alarm at the first"))));
    lines.extend(rotate_by(choice).map(|day| ("rotate by", day)));
    lines.extend(longer(choice).map(|all| ("or later", all)));
    lines
}

/// How many times as far one end of an interval may be as the other where it is written as ±: policy.
const LOPSIDED: f64 = 1.5;

/// `312 ns ±1.0 %`, `9019 ns (8845 to 18135)`; a median alone has no interval.
pub(crate) fn nanoseconds(ns: &Estimate) -> String {
    if ns.half() <= 0.0 {
        return format!("{:.0} ns (interval unknown)", ns.median);
    }
    if ns.low <= 0.0 {
        return format!("{:.0} ns or less (on a busy core)", ns.high);
    }
    let (below, above) = (ns.median - ns.low, ns.high - ns.median);
    if below.max(above) > LOPSIDED * below.min(above) {
        return format!("{:.0} ns ({:.0} to {:.0})", ns.median, ns.low, ns.high);
    }
    format!("{:.0} ns ±{:.1} %", ns.median, 100.0 * ns.half() / ns.median)
}

/// Schemes that are named where none of those that fit was measured.
const NOT_ASKED: usize = 3;

/// `none: no scheme fulfils …`
pub(crate) fn none(advice: &Advice) -> Option<String> {
    let Outcome::None(conflict) = &advice.outcome else { return None };
    if !conflict.not_asked.is_empty() {
        return Some(not_measured(&conflict.not_asked));
    }
    Some(if conflict.flags.is_empty() {
        match advice.open.is_empty() {
            true => "none: no library of the record has a scheme for this".to_owned(),
            false => "not enough measured: nothing that would do has a price".to_owned(),
        }
    } else {
        let flags = conflict.flags.join(" and ");
        let (together, without) = match conflict.flags.len() {
            1 => ("", "it"),
            _ => (" together", "any one of them"),
        };
        let (none, measured) = match advice.open.is_empty() {
            true => ("none", ""),
            false => ("none yet", " that was measured"),
        };
        format!(
            "{none}: no scheme{measured} fulfils {flags}{together}; without {without} there is an answer"
        )
    })
}

/// What would fit and has no price.
pub(crate) fn not_measured(schemes: &[String]) -> String {
    let (named, more) = schemes.split_at(NOT_ASKED.min(schemes.len()));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let named = named.join(", ");
    format!("not measured: {named}{more} would fit, and have no price")
}

/// `--fips algorithm → aes-256-gcm in wolfssl@5.9.4, 2.9 times the cost`
pub(crate) fn change(change: &Change) -> String {
    let cost = match change.times {
        Some(times) if times < 1.0 => format!(", {:.0} % of the cost", times * 100.0),
        Some(times) => format!(", {times:.2} times the cost"),
        None => String::new(),
    };
    format!("{} → {} in {}{cost}", change.flags.join(" "), change.scheme, change.library)
}

/// The rejected schemes by rule, in the order of the schemes, those that are wrong first.
pub(crate) fn by_rule(advice: &Advice) -> Vec<(Verdict, String, Vec<&Rejected>)> {
    let mut groups: Vec<(Verdict, String, Vec<&Rejected>)> = Vec::new();
    for one in &advice.rejected {
        match groups.iter_mut().find(|(_, rule, _)| *rule == one.rule) {
            Some((_, _, members)) => members.push(one),
            None => groups.push((one.verdict, one.rule.clone(), vec![one])),
        }
    }
    groups.sort_by_key(|(verdict, _, _)| *verdict);
    groups
}

/// `aes-256-gcm, aes-256-ccm (28 bytes)`: the same detail once.
pub(crate) fn members(rejected: &[&Rejected]) -> String {
    let mut by_detail: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for one in rejected {
        let place = *places.entry(&one.detail).or_insert(by_detail.len());
        if place == by_detail.len() {
            by_detail.push((&one.detail, Vec::new()));
        }
        by_detail[place].1.push(&one.scheme);
    }
    let shown = by_detail.iter().map(|(detail, schemes)| {
        let schemes = schemes.join(", ");
        if detail.is_empty() { schemes } else { format!("{schemes} ({detail})") }
    });
    shown.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_whose_ends_are_not_as_far_is_written_with_both() {
        let of = |low, high| nanoseconds(&Estimate { median: 9000.0, low, high });
        assert_eq!(of(8910.0, 9090.0), "9000 ns ±1.0 %");
        assert_eq!(of(8800.0, 18_200.0), "9000 ns (8800 to 18200)");
        assert_eq!(of(0.0, 9090.0), "9090 ns or less (on a busy core)");
    }
}
