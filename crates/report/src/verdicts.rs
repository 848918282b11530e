//! Verdicts on one screen: what is wrong first and yours among it, a sentence of advice, what was left out, what to type
//! next. What fits on a screen anyway is shown whole.

use crate::Format;
use crate::executed::{CallRow, calls, figure};
use crate::labels::{Libraries, supported};
use crate::leaks::{Found, counts, leaks, short};
use crate::lists::{CheckRow, checks, comparisons, pairs, totals};
use crate::screen::{LINES, Screen, cut};
use crate::survey::costs;
use anstyle::Style;
use base::model::{Algorithm, Model, Tier};
use base::text::{ALARM, ASIDE, CAUTION, HEADING, Options, PLAIN, clean, clip, width};
use judge::claims::{Judged, Verdict};
use judge::compare::Case;
use record::{LeakVerdict, Leaks, Measurement, Record, State};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What a line is about takes no more columns.
const SUBJECT: usize = 30;
/// Lines of a group that are shown before any group has more.
const LEAST: usize = 2;
/// Bytes of the message by which libraries are put in order.
const MESSAGE: f64 = 16384.0;
const BEST_OF: usize = 3;
const NAMED: usize = 4;

struct Line {
    subject: String,
    says: String,
    /// Whether it is of the library that the reader's programs use.
    own: bool,
}

struct Group {
    title: String,
    style: Style,
    lines: Vec<Line>,
    /// Lines of it that are shown, whatever room there is.
    most: usize,
}

impl Group {
    fn of(title: &str, style: Style, lines: Vec<Line>) -> Self {
        Self { title: title.to_owned(), style, lines, most: usize::MAX }
    }
}

struct Answer {
    title: String,
    groups: Vec<Group>,
    sentences: Vec<String>,
    next: Vec<(String, String)>,
}

/// Everything where it fits on a screen, else the answer.
fn on_a_screen(
    options: Options,
    whole: impl FnOnce(Options) -> String,
    answer: impl FnOnce() -> Answer,
) -> String {
    let screen = Screen::of(options);
    let whole = whole(screen.options);
    if whole.lines().count() <= LINES {
        return whole;
    }
    let answer = answer();
    let head = screen.line(&answer.title, HEADING);
    let sentences: String = answer.sentences.iter().map(|s| screen.sentence(&clean(s))).collect();
    let foot = format!("\n{sentences}{}", screen.next(&answer.next));
    let room = LINES.saturating_sub(head.lines().count() + foot.lines().count());
    head + &grouped(&screen, answer.groups, room) + &foot
}

/// The groups in so many lines: each has its title and its first lines, the first group what is left.
fn grouped(screen: &Screen, mut groups: Vec<Group>, room: usize) -> String {
    groups.retain(|group| !group.lines.is_empty());
    // An empty line and a title before each, and perhaps a line on what is not shown.
    let least = |group: &Group| 3 + group.lines.len().min(LEAST);
    let mut taken = 0;
    let fits = |group: &&Group| {
        taken += least(group);
        // A line is kept for what is left out.
        taken < room
    };
    let shown = groups.iter().take_while(fits).count();
    let left_out = groups.len() - shown;
    groups.truncate(shown);
    let mut spare = room.saturating_sub(1 + groups.iter().map(least).sum::<usize>());
    let mut out = String::new();
    for group in groups {
        let more = spare.min(group.lines.len().min(group.most).saturating_sub(LEAST));
        spare -= more;
        out += &one_group(screen, &group, group.lines.len().min(LEAST) + more);
    }
    if left_out > 0 {
        out += &screen.line(&format!("… and {left_out} more of these groups"), ASIDE);
    }
    out
}

fn one_group(screen: &Screen, group: &Group, count: usize) -> String {
    let mut lines: Vec<&Line> = group.lines.iter().take(count).collect();
    // Yours is there wherever it stands.
    let own = group.lines.iter().skip(count).find(|line| line.own);
    if let (Some(own), Some(last)) = (own, lines.last_mut()) {
        *last = own;
    }
    let name = |line: &Line| {
        let whose = if line.own { "system's " } else { "" };
        clip(&format!("{whose}{}", clean(&line.subject)), SUBJECT)
    };
    let widest = lines.iter().map(|line| width(&name(line))).max().unwrap_or(0);
    let mut out = format!("\n{}", screen.line(&group.title, group.style));
    for line in &lines {
        let name = name(line);
        let gap = " ".repeat(widest - width(&name) + 2);
        out += &screen.line(&format!("  {name}{gap}{}", clean(&line.says)), PLAIN);
    }
    match group.lines.len() - lines.len() {
        0 => out,
        more => out + &screen.line(&format!("  … and {more} more"), ASIDE),
    }
}

fn next(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(what, command)| ((*what).to_owned(), (*command).to_owned())).collect()
}

/// The first of these names, and how many there are besides.
fn named(names: &BTreeSet<String>) -> String {
    let first: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

struct Tiers {
    own: bool,
    of: Vec<Tier>,
}

/// What `leaks` found.
pub fn leaks_screen(all: &[Leaks], options: Options) -> String {
    on_a_screen(options, |options| leaks(all, Format::Table, options), || of_leaks(all))
}

fn of_leaks(all: &[Leaks]) -> Answer {
    let labels = Libraries::of_ids(all.iter().map(|l| &l.library).collect());
    let verdicts = [
        LeakVerdict::Depends,
        LeakVerdict::MayDepend,
        LeakVerdict::NotJudged,
        LeakVerdict::SameTrace,
    ];
    let groups = verdicts.map(|verdict| {
        let mut builds: BTreeMap<(&str, Tier), Vec<&Leaks>> = BTreeMap::new();
        for l in all.iter().filter(|l| l.verdict == verdict) {
            builds.entry((labels.label(&l.library), l.tier)).or_default().push(l);
        }
        let mut lines: BTreeMap<(Reverse<usize>, &str, String), Tiers> = BTreeMap::new();
        for ((library, tier), verdicts) in builds {
            let found = Found { library, tier, verdicts };
            let reason = found.verdicts.iter().find_map(|l| l.reason.as_deref());
            let what = match verdict {
                LeakVerdict::NotJudged => reason.unwrap_or("no reason given").to_owned(),
                LeakVerdict::SameTrace => "the same trace whatever the key".to_owned(),
                _ => found.places(),
            };
            let own = found.verdicts.iter().any(|l| judge::compare::is_system(&l.library));
            let key =
                (Reverse(found.verdicts.len()), library, format!("{}: {what}", found.algorithms()));
            lines.entry(key).or_insert_with(|| Tiers { own, of: Vec::new() }).of.push(tier);
        }
        let lines = lines.into_iter().map(|((_, library, says), Tiers { own, of })| {
            let tiers: Vec<&str> = of.iter().map(|tier| tier.name()).collect();
            let at = match tiers[..] {
                ["native"] => String::new(),
                _ => format!(" ({})", tiers.join(", ")),
            };
            Line { subject: format!("{library}{at}"), says, own }
        });
        let (title, style) = short(verdict);
        Group::of(title, style, lines.collect())
    });
    let mut sentences: Vec<String> = instead(all, &labels).into_iter().collect();
    sentences.push(
        "The same trace is no proof: caches, speculation and instructions whose time depends on values are not seen."
            .to_owned(),
    );
    Answer {
        title: format!(
            "Of {} verdicts on secrets: {}",
            all.len(),
            counts(all.iter().map(|l| l.verdict))
        ),
        groups: groups.into(),
        sentences,
        next: next(&[
            ("each function and place", "run with --all; to keep them: -o FILE"),
            ("what the code of one does", "ciphermark explain -l LIBRARY -a ALGORITHM"),
        ]),
    }
}

/// Of the algorithm that depends on its key in most libraries with all of the CPU's instructions, those where it does not.
fn instead(all: &[Leaks], labels: &Libraries<'_>) -> Option<String> {
    let of = |verdict: LeakVerdict, algorithm: Option<&str>| {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let is = |l: &&Leaks| {
            l.tier == Tier::Native
                && l.verdict == verdict
                && algorithm.is_none_or(|a| a == l.algorithm)
        };
        for l in all.iter().filter(is) {
            let label = labels.label(&l.library).to_owned();
            found.entry(l.algorithm.clone()).or_default().insert(label);
        }
        found
    };
    let depends = of(LeakVerdict::Depends, None);
    let (algorithm, where_) = depends
        .iter()
        .filter_map(|(algorithm, libraries)| {
            let same = of(LeakVerdict::SameTrace, Some(algorithm)).remove(algorithm)?;
            let same: BTreeSet<String> = same.difference(libraries).cloned().collect();
            (!same.is_empty()).then_some((algorithm, same))
        })
        .max_by_key(|(algorithm, _)| depends[*algorithm].len())?;
    let count = depends[algorithm].len();
    let libraries = if count == 1 { "library" } else { "libraries" };
    Some(format!(
        "{algorithm} depends on its key in {count} {libraries}; for it use {}.",
        named(&where_)
    ))
}

/// What `verify` found; `tried` are lines with their headings.
pub fn checks_screen(rows: &[CheckRow], tried: &[(String, String)], options: Options) -> String {
    let whole = |options| checks(rows, options) + &pairs(tried, options);
    on_a_screen(options, whole, || of_checks(rows, tried))
}

fn of_checks(rows: &[CheckRow], tried: &[(String, String)]) -> Answer {
    let tier = |row: &CheckRow| match row.tier {
        Tier::Native => String::new(),
        tier => format!(" {tier}"),
    };
    let with = |state: State, title: &str| {
        let mut lines: BTreeMap<(&str, &str), Vec<&CheckRow>> = BTreeMap::new();
        for row in rows {
            if let Err((own, why)) = &row.outcome
                && *own == state
            {
                lines.entry((&row.library, why)).or_default().push(row);
            }
        }
        let line = |((library, why), rows): ((&str, &str), Vec<&CheckRow>)| {
            let what = match rows.as_slice() {
                [one] => format!("{}{}", one.algorithm, tier(one)),
                more => format!("{} and {} more", more[0].algorithm, more.len() - 1),
            };
            Line { subject: library.to_owned(), says: format!("{what}: {why}"), own: false }
        };
        let style = if state == State::Unsupported { ASIDE } else { ALARM };
        Group::of(title, style, lines.into_iter().map(line).collect())
    };
    let mut passed: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<Tier>, u64)> = BTreeMap::new();
    for row in rows {
        if let Ok(checks) = &row.outcome {
            let (algorithms, tiers, count) = passed.entry(&row.library).or_default();
            algorithms.insert(&row.algorithm);
            tiers.insert(row.tier);
            *count += comparisons(checks);
        }
    }
    let mut passed: Vec<Line> = passed
        .into_iter()
        .map(|(library, (algorithms, tiers, count))| {
            let at =
                if tiers.len() > 1 { format!(" at {} tiers", tiers.len()) } else { String::new() };
            let says = format!("{} algorithms{at}, {count} comparisons", algorithms.len());
            Line { subject: library.to_owned(), says, own: false }
        })
        .collect();
    passed.sort_by(|a, b| a.subject.cmp(&b.subject));
    let is_wrong =
        rows.iter().any(|row| matches!(row.outcome, Err((State::Refused | State::Failed, _))));
    let mut sentences = vec![if !is_wrong && passed.is_empty() {
        "No check could run: nothing is known of what these libraries compute."
    } else if is_wrong {
        "What is refused or failed gets no number from any command. `ciphermark once` runs one operation, to see who is right."
    } else {
        "Every check that could run passed: what these libraries compute is right, as far as was looked."
    }
    .to_owned()];
    let own = rows.iter().filter(|row| row.outcome.is_ok() && row.is_of_own_vectors());
    let own: BTreeSet<&str> = own.map(|row| row.algorithm.as_str()).collect();
    if !own.is_empty() {
        let names: Vec<&str> = own.into_iter().collect();
        sentences.push(format!(
            "Brought by an adapter and checked against its own vectors only: {}.",
            names.join(", ")
        ));
    }
    sentences.extend(
        tried
            .iter()
            .filter(|(what, _)| what == "seed")
            .map(|(what, text)| format!("{what} {text}")),
    );
    Answer {
        title: totals(rows).trim_end().to_owned(),
        groups: vec![
            with(State::Refused, "refused: a check found something"),
            with(State::Failed, "failed: crash, hang or error"),
            Group::of("passed", PLAIN, passed),
            with(State::Unsupported, "not supported"),
        ],
        sentences,
        next: next(&[
            ("each algorithm, and what was tried", "run with --all, or --json"),
            ("whether a key shows in its trace", "ciphermark leaks -l LIBRARY"),
        ]),
    }
}

/// What `claims` judged, of which machine; `whole` is everything.
pub fn claims_screen(
    judged: &[Judged<'_>],
    machine: &str,
    options: Options,
    whole: impl FnOnce(Options) -> String,
) -> String {
    on_a_screen(options, whole, || of_claims(judged, machine))
}

fn of_claims(judged: &[Judged<'_>], machine: &str) -> Answer {
    let with = |verdict: Verdict, style: Style| {
        let own = judged.iter().filter(|j| j.verdict == verdict);
        let line = |j: &Judged<'_>| {
            let (why, says) = (j.why(), &j.claim.says);
            let says = if why.is_empty() { says.clone() } else { format!("{says} ({why})") };
            Line { subject: j.claim.id.clone(), says, own: false }
        };
        let lines: Vec<Line> = own.map(line).collect();
        Group::of(&format!("{}: {}", verdict.words(), lines.len()), style, lines)
    };
    let open: Vec<&str> =
        judged.iter().filter(|j| j.verdict == Verdict::NoTime).map(|j| &*j.claim.id).collect();
    let no_time = Line {
        subject: format!("{} {}", open.len(), if open.len() == 1 { "claim" } else { "claims" }),
        says: format!(
            "{}: --thorough takes the time; what is verified by now is kept",
            open.join(", ")
        ),
        own: false,
    };
    // Why they could not be tested is mostly the same for many.
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for j in judged.iter().filter(|j| j.verdict == Verdict::NotTestable) {
        reasons.entry(j.why()).or_default().push(&j.claim.id);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    let line = |(why, ids): (String, Vec<&str>)| {
        let subject = match ids.as_slice() {
            [one] => (*one).to_owned(),
            more => format!("{} claims", more.len()),
        };
        Line { subject, says: why, own: false }
    };
    let untested = reasons.into_iter().map(line).collect();
    let without_time = if open.is_empty() { Vec::new() } else { vec![no_time] };
    let count = |v: Verdict| judged.iter().filter(|j| j.verdict == v).count();
    let testable = judged.len() - count(Verdict::NotTestable) - open.len();
    let for_some = match open.len() {
        0 => String::new(),
        open => format!("; no time for {open}"),
    };
    Answer {
        title: format!(
            "Published claims on {}: of {testable} tested {} hold, {} do not, {} depend{for_some}",
            clean(machine),
            count(Verdict::Holds),
            count(Verdict::DoesNotHold),
            count(Verdict::Depends)
        ),
        groups: vec![
            with(Verdict::DoesNotHold, ALARM),
            with(Verdict::Depends, CAUTION),
            with(Verdict::Holds, PLAIN),
            Group::of(Verdict::NoTime.words(), CAUTION, without_time),
            Group::of(Verdict::NotTestable.words(), ASIDE, untested),
        ],
        sentences: vec![
            "A claim is judged in each version of the library that it is of; \"depends\" says on what.".to_owned(),
        ],
        next: next(&[
            ("each with its figures, then and here", "run with --all"),
            ("one of them", "ciphermark claims --only NAME --all"),
            ("an article's table, with yours beside", "ciphermark claims --table highgo"),
        ]),
    }
}

/// What a message costs in one library.
struct Cost {
    library: String,
    whole: f64,
    says: String,
}

/// What `explain` counted, and what a record says of costs.
pub fn explain_screen(
    rows: &[CallRow],
    record: Option<&Record>,
    selection: &[&Measurement],
    options: Options,
) -> String {
    let whole = |options| {
        let costs = record.map(|record| costs(record, selection, options));
        calls(rows, options) + &costs.unwrap_or_default()
    };
    let of_rows = rows.iter().map(|row| (row.library.clone(), &*row.algorithm));
    let of_record = selection.iter().map(|m| (m.library.label(), &*m.algorithm));
    let subjects: BTreeSet<(String, &str)> = of_rows.chain(of_record).collect();
    if subjects.len() > 1 {
        return on_a_screen(options, whole, || of_costs(rows, record, selection));
    }
    // Of one algorithm in one library nothing is to be compared: its beginning is the answer.
    let screen = Screen::of(options);
    let foot = screen.next(&next(&[("the rest", "the same with --all, or --json")]));
    let text = whole(screen.options);
    if text.lines().count() <= LINES {
        return text;
    }
    cut(&text, LINES - foot.lines().count(), screen.options) + &foot
}

fn of_costs(rows: &[CallRow], record: Option<&Record>, selection: &[&Measurement]) -> Answer {
    let mut found = record.map(|record| fitted(record, selection)).unwrap_or_default();
    let is_time = !found.is_empty();
    if !is_time {
        found = counted(rows);
    }
    let own = record.and_then(judge::compare::system);
    let own = own.map(|library| library.label());
    let libraries: BTreeSet<&str> =
        found.values().flatten().map(|cost| cost.library.as_str()).collect();
    let total = match libraries.len() {
        1 => "one library".to_owned(),
        more => format!("{more} libraries"),
    };
    let mut groups: Vec<(String, Vec<Cost>)> = found.into_iter().collect();
    for (_, costs) in &mut groups {
        costs.sort_by(|a, b| a.whole.total_cmp(&b.whole));
    }
    // What most libraries have is what most people ask about; of the same, what has integrity.
    let has_tag = |name: &str| {
        let name = name.split(' ').next().unwrap_or(name);
        Algorithm::find(name).is_ok_and(|a| a.tag_len > 0 && a.nonce_len > 0)
    };
    groups.sort_by(|(a, costs), (b, others)| {
        (has_tag(b), others.len()).cmp(&(has_tag(a), costs.len())).then_with(|| a.cmp(b))
    });
    let widest = groups
        .iter()
        .filter_map(|(name, costs)| {
            let (first, last) = (costs.first()?, costs.last()?);
            (costs.len() > 1 && first.whole > 0.0).then(|| (last.whole / first.whole, name, last))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let what = if is_time { "time" } else { "instructions" };
    let furthest = |(times, name, last): (f64, &String, &Cost)| {
        let (library, times) = (&last.library, supported(times, None));
        format!("Furthest apart: {name}, where {library} takes {times}× the {what} of the best.")
    };
    let mut sentences = Vec::from_iter(widest.map(furthest));
    let uncounted = rows.iter().filter(|row| {
        row.costs.is_err() || row.executed.iter().any(|e| e.executed.per_byte.is_none())
    });
    match uncounted.count() {
        0 => {}
        count => {
            sentences.push(format!("Not counted: {count} of {} rows; --all says why.", rows.len()))
        }
    }
    let groups = groups.into_iter().map(|(title, costs)| {
        let line = |cost: Cost| Line {
            own: own.as_deref() == Some(&*cost.library),
            subject: cost.library,
            says: cost.says,
        };
        let lines = costs.into_iter().map(line).collect();
        Group { title, style: HEADING, lines, most: BEST_OF + 1 }
    });
    Answer {
        title: format!("What a message costs in {what}, of {total}: the least at 16 KiB first"),
        groups: groups.collect(),
        sentences,
        next: next(&[
            ("one in full", "ciphermark explain … -a ALGORITHM -l LIBRARY"),
            ("everything", "the same with --all, or --json"),
        ]),
    }
}

/// By algorithm and direction, from the lines through a record's times.
fn fitted(record: &Record, selection: &[&Measurement]) -> BTreeMap<String, Vec<Cost>> {
    let labels = Libraries::of(selection);
    let mut found: BTreeMap<String, BTreeMap<&str, Cost>> = BTreeMap::new();
    for m in selection.iter().filter(|m| m.tier == Tier::Native && m.threads == 1) {
        let Some(fit) = record.fits.iter().find(|fit| crate::survey::is_of(fit, m)) else {
            continue;
        };
        let (a, b) = (fit.ns_per_message, fit.ns_per_byte);
        let mut says =
            format!("{} ns a message + {} ns a byte", supported(a, None), supported(b, None));
        if !fit.linear {
            says += &format!(", no line (off by up to {:.0} %)", 100.0 * fit.residual);
        }
        let library = labels.label(&m.library);
        let group = group(&m.algorithm, &m.direction.to_string(), Case::of(m).circumstances());
        let cost = Cost { library: library.to_owned(), whole: a + MESSAGE * b, says };
        found.entry(group).or_default().insert(library, cost);
    }
    found.into_iter().map(|(group, costs)| (group, costs.into_values().collect())).collect()
}

/// What is compared with each other: the same operation in the same circumstances.
fn group(algorithm: &str, direction: &str, circumstances: Vec<String>) -> String {
    let usual = [Model::Message.name(), Tier::Native.name()];
    let other = circumstances.into_iter().filter(|word| !usual.contains(&&**word));
    [format!("{algorithm} {direction}")].into_iter().chain(other).collect::<Vec<_>>().join(", ")
}

/// By algorithm and direction, from counts.
fn counted(rows: &[CallRow]) -> BTreeMap<String, Vec<Cost>> {
    let mut found: BTreeMap<String, Vec<Cost>> = BTreeMap::new();
    let all = rows.iter().flat_map(|row| row.executed.iter().map(move |e| (row, &e.executed)));
    for (row, e) in all {
        let Some((per_byte, per_message)) = e.per_byte.zip(e.per_message) else { continue };
        let mut says =
            format!("{} instructions a byte + {} a message", figure(per_byte), figure(per_message));
        let depends = |l: &Leaks| l.verdict == LeakVerdict::Depends && l.tier == e.tier;
        if row.leaks.iter().any(depends) {
            says += &format!("; {} on the key", short(LeakVerdict::Depends).0);
        }
        let circumstances = vec![e.model.to_string(), e.tier.to_string()];
        let group = group(&row.algorithm, &row.direction, circumstances);
        let whole = per_message + MESSAGE * per_byte;
        found.entry(group).or_default().push(Cost { library: row.library.clone(), whole, says });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executed::ExecutedRow;
    use crate::sample;
    use crate::screen::WIDTH;
    use base::model::Footprint;
    use judge::claims::{Evidence, Format, Handshakes};
    use record::tls::Run;
    use record::{Check, Executed};

    const WIDE: Options = Options { width: 150, color: false };

    fn published(name: &str) -> Record {
        let path = format!("{}/../../records/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
        record::load(std::path::Path::new(&path)).unwrap()
    }

    fn handshakes(name: &str) -> Run {
        let path = format!("{}/../../records/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
        let text = record::load_text(std::path::Path::new(&path)).unwrap();
        record::read_run(&text, name, record::tls::from_record).unwrap()
    }

    fn is_a_screen(text: &str) {
        assert!(text.lines().count() <= LINES, "{text}");
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
    }

    #[test]
    fn the_published_leaks_answer_on_a_screen() {
        let text = leaks_screen(&published("leaks-2026-11-25-zen4").leaks, WIDE);
        is_a_screen(&text);
        insta::assert_snapshot!(text);
    }

    #[test]
    #[ignore = "long: reads the largest survey"]
    fn the_published_survey_says_what_messages_cost_on_a_screen() {
        let record = published("full-2026-11-23-gnr");
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        let text = explain_screen(&[], Some(&record), &rows, WIDE);
        is_a_screen(&text);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_published_runtimes_say_what_messages_cost_on_a_screen() {
        let record = published("runtimes-2026-11-25-zen4");
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        let text = explain_screen(&[], Some(&record), &rows, WIDE);
        is_a_screen(&text);
        insta::assert_snapshot!(text);
    }

    /// A survey of Granite Rapids, runtimes on Zen 4, handshakes on Sapphire Rapids.
    #[test]
    fn claims_are_judged_on_a_screen_by_the_records_of_three_machines() {
        let sources = judge::claims::built_in();
        for (name, records, runs) in [
            ("granite_rapids", vec![published("published-2026-11-23-gnr")], vec![]),
            ("zen_4", vec![published("runtimes-2026-11-25-zen4")], vec![]),
            ("sapphire_rapids", vec![], vec![handshakes("tls-handshake-2026-11-22-spr")]),
        ] {
            let handshakes = Handshakes::of(&runs);
            let evidence = Evidence::of(&records).with(&handshakes);
            let all = sources.iter().flat_map(|s| s.claims.iter().map(move |claim| (s, claim)));
            let judged: Vec<_> = all.map(|(s, c)| judge::claims::judge(s, c, &evidence)).collect();
            let whole = |options| judge::claims::render_claims(&judged, Format::Text, options);
            let text = claims_screen(&judged, "this machine", WIDE, whole);
            is_a_screen(&text);
            insta::assert_snapshot!(format!("claims_of_{name}"), text);
        }
    }

    /// What the checks of a survey found, a row for each algorithm of a build at a tier.
    fn checked(record: &Record) -> Vec<CheckRow> {
        let all: Vec<&Measurement> = record.measurements.iter().collect();
        let labels = Libraries::of(&all);
        let mut rows: BTreeMap<(&str, Tier, &str), CheckRow> = BTreeMap::new();
        for m in all.iter().filter(|m| m.state != State::Unsupported) {
            let library = labels.label(&m.library);
            rows.entry((library, m.tier, &m.algorithm)).or_insert_with(|| CheckRow {
                library: library.to_owned(),
                tier: m.tier,
                algorithm: m.algorithm.clone(),
                outcome: match &m.reason {
                    Some(why) if m.state != State::Measured => Err((m.state, why.clone())),
                    _ => Ok(m.checks.clone()),
                },
            });
        }
        rows.into_values().collect()
    }

    #[test]
    fn what_the_checks_of_two_machines_found_answers_on_a_screen() {
        for (name, record) in
            [("granite_rapids", "published-2026-11-23-gnr"), ("zen_4", "runtimes-2026-11-25-zen4")]
        {
            let tried = [("seed".to_owned(), "7; --seed 7 draws the same again".to_owned())];
            let text = checks_screen(&checked(&published(record)), &tried, WIDE);
            is_a_screen(&text);
            insta::assert_snapshot!(format!("checks_of_{name}"), text);
        }
    }

    fn row(library: usize, algorithm: usize, outcome: Result<u64, (State, &str)>) -> CheckRow {
        CheckRow {
            library: format!("library{library}@1"),
            tier: if algorithm.is_multiple_of(2) { Tier::Native } else { Tier::Noaes },
            algorithm: format!("aes-{algorithm}-gcm"),
            outcome: outcome
                .map(|count| vec![Check { name: "tamper".into(), count }])
                .map_err(|(state, why)| (state, why.to_owned())),
        }
    }

    #[test]
    fn checks_of_many_libraries_answer_on_a_screen() {
        let mut rows: Vec<CheckRow> = (0..400).map(|i| row(i % 20, i / 20, Ok(1000))).collect();
        rows.push(row(3, 7, Err((State::Refused, "tamper: a changed tag was\u{1b}[31m accepted"))));
        rows.extend((0..30).map(|i| row(4, i, Err((State::Failed, "crashed: SIGSEGV")))));
        rows.extend((0..30).map(|i| row(i, 9, Err((State::Unsupported, "needs more memory")))));
        let tried = [("seed", "7; --seed 7 draws the same again"), ("fixed sizes", "0 to 257")];
        let tried = tried.map(|(what, words)| (what.to_owned(), words.to_owned()));
        let text = checks_screen(&rows, &tried, WIDE);
        is_a_screen(&text);
        assert!(!text.contains('\u{1b}'), "{text}");
        insta::assert_snapshot!(text);
        let few = checks_screen(&rows[..3], &tried, WIDE);
        assert!(few.contains("fixed sizes  0 to 257"), "what fits is shown whole: {few}");
    }

    #[test]
    fn where_no_check_could_run_nothing_is_called_right() {
        let rows: Vec<CheckRow> =
            (0..60).map(|i| row(i, 9, Err((State::Unsupported, "no way to hide AES")))).collect();
        let text = checks_screen(&rows, &[], WIDE);
        assert!(text.contains("No check could run") && !text.contains("right"), "{text}");
    }

    #[test]
    fn what_is_counted_in_other_circumstances_is_not_in_one_group_and_no_other_tiers_leak_is_told()
    {
        let counts = |library: &str| {
            let at = |model, tier, per_byte| ExecutedRow {
                executed: Executed { model, tier, per_byte: Some(per_byte), ..sample::executed() },
                refused: None,
                exact: Vec::new(),
            };
            let depends = Leaks {
                tier: Tier::Noaes,
                verdict: LeakVerdict::Depends,
                ..sample::leaks().remove(3)
            };
            CallRow {
                library: library.to_owned(),
                algorithm: "aes-256-gcm".to_owned(),
                direction: "encrypt".to_owned(),
                functions: None,
                copies: false,
                allocates: false,
                costs: Ok(Vec::new()),
                executed: vec![
                    at(Model::Stream, Tier::Native, 1.0),
                    at(Model::Message, Tier::Native, 2.0),
                    at(Model::Message, Tier::Noaes, 30.0),
                ],
                leaks: vec![depends],
            }
        };
        let found = counted(&[counts("a@1"), counts("b@1")]);
        let groups: Vec<(&str, usize, bool)> = found
            .iter()
            .map(|(name, all)| (&**name, all.len(), all[0].says.contains("depends")))
            .collect();
        let expected = [
            ("aes-256-gcm encrypt", 2, false),
            ("aes-256-gcm encrypt, noaes", 2, true),
            ("aes-256-gcm encrypt, stream", 2, false),
        ];
        assert_eq!(groups, expected);
    }

    #[test]
    fn of_one_algorithm_in_one_library_of_a_record_the_functions_are_the_answer() {
        let record = published("runtimes-2026-11-25-zen4");
        let of_one = |m: &&Measurement| m.library.name == "openssl" && m.algorithm == "aes-256-gcm";
        let first = record.measurements.iter().find(of_one).unwrap();
        let own = |m: &&Measurement| m.library == first.library && m.algorithm == first.algorithm;
        let selection: Vec<&Measurement> = record.measurements.iter().filter(own).collect();
        let exact = (1..60).map(|size| (size, Ok(size as u64))).collect();
        let executed = ExecutedRow { executed: sample::executed(), refused: None, exact };
        let row = CallRow {
            library: first.library.label(),
            algorithm: first.algorithm.clone(),
            direction: "encrypt".to_owned(),
            functions: Some("EVP_EncryptUpdate".to_owned()),
            copies: false,
            allocates: false,
            costs: Ok(Vec::new()),
            executed: vec![executed],
            leaks: Vec::new(),
        };
        let text = explain_screen(&[row], Some(&record), &selection, WIDE);
        assert!(
            text.contains("EVP_EncryptUpdate") && !text.contains("What a message costs"),
            "{text}"
        );
    }

    #[test]
    fn lines_through_times_of_cold_buffers_do_not_pass_for_hot_ones() {
        let mut record = published("runtimes-2026-11-25-zen4");
        let mut cold: Vec<Measurement> = record.measurements.clone();
        cold.iter_mut().for_each(|m| m.footprint = Footprint::Memory);
        let fits = record.fits.clone().into_iter();
        record.fits.extend(fits.map(|fit| record::Fit { footprint: Footprint::Memory, ..fit }));
        record.measurements.extend(cold);
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        let found = fitted(&record, &rows);
        let cold = found.keys().filter(|name| name.ends_with(", memory")).count();
        assert_eq!((cold > 0, 2 * cold), (true, found.len()), "{:?}", found.keys());
    }

    #[test]
    fn yours_is_shown_wherever_it_stands() {
        let line = |i: usize| Line { subject: format!("a{i}"), says: "x".into(), own: i == 90 };
        let group = |title: &str| Group::of(title, PLAIN, (0..100).map(line).collect());
        let screen = Screen::of(WIDE);
        let text = grouped(&screen, vec![group("one"), group("two")], 20);
        assert!(text.lines().count() <= 20, "{text}");
        assert_eq!(text.matches("system's a90").count(), 2, "{text}");
        assert_eq!(text.matches("more").count(), 2, "{text}");
        let many = (0..9).map(|_| group("g")).collect();
        let text = grouped(&screen, many, 20);
        assert!(text.lines().count() <= 20 && text.contains("more of these groups"), "{text}");
    }
}
