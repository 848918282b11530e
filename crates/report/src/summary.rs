//! The sentences above and below the tables, the same for a terminal and for Markdown.

use crate::confinement;
use crate::digits::{percent, supported};
use crate::labels;
use crate::offers::not_offered;
use crate::precision;
use crate::secrets;
use crate::survey::{DOUBTED, LEFT_OUT, Survey, is_bad, is_doubted, mark, shout};
use base::model::{Algorithm, Disturbance, Feature, Kind, Primitive, Tier};
use base::text::clean;
use record::{Estimate, Executed, Host, Library, LibraryId, Measurement, Noise, Record, State};
use std::collections::{BTreeMap, BTreeSet};

/// What stands above the tables: the machine, then the cases.
pub(crate) fn head(record: &Record, selection: &[&Measurement]) -> Vec<String> {
    let mut lines = vec![machine(&record.host, &record.started)];
    lines.extend(circumstances(record));
    lines.push(counts(record, selection));
    lines
}

/// What was set that decided which code these libraries ran.
pub(crate) fn circumstances(record: &Record) -> Vec<String> {
    let libraries: Vec<&str> = record.libraries.iter().map(|l| &*l.path).collect();
    let set = record.host.circumstances.iter().filter(|c| c.bears_on(&libraries));
    set.map(|c| clean(&c.sentence())).collect()
}

fn machine(host: &Host, started: &str) -> String {
    // As a record of nothing but imported figures has it.
    if *host == Host::default() {
        return format!("nothing in this record was measured here, {}", date(&clean(started)));
    }
    let mut parts = vec![clean(&host.cpu.name)];
    if let Some(ghz) = host.clock.core_ghz_median {
        let range = host.clock.core_ghz_range;
        let range = range.map(|(low, high)| format!(" ({low:.2} to {high:.2})"));
        parts.push(format!("core clock {ghz:.2} GHz{}", range.unwrap_or_default()));
    }
    parts.push(format!("timed by {}", clean(&host.clock.source)));
    parts.push(format!("Linux {}", clean(&host.kernel.release)));
    parts.extend(host.hypervisor.as_deref().map(|h| format!("under {}", clean(h))));
    parts.push(date(&clean(started)));
    parts.join(", ")
}

/// `2026-11-20T12:00:00.123Z` as people write it, to the second.
fn date(started: &str) -> String {
    match started.strip_suffix('Z').and_then(|d| d.split_once('T')) {
        Some((day, time)) => format!("{day} {} UTC", time.split('.').next().unwrap_or(time)),
        None => started.to_owned(),
    }
}

fn counts(record: &Record, selection: &[&Measurement]) -> String {
    let all = record.measurements.len();
    let cases = if selection.len() == all {
        format!("{all} cases")
    } else {
        format!("{} of {all} cases", selection.len())
    };
    let states = [State::Measured, State::Unsupported, State::Refused, State::Failed];
    let cut_off = selection.iter().filter(|m| m.is_cut_off()).count();
    let left_out = selection.iter().filter(|m| m.is_left_out()).count();
    let count = |state| selection.iter().filter(|m| m.state == state && !m.is_left_out()).count();
    let mut counted: Vec<String> =
        states.map(|state| format!("{} {}", count(state), state.name())).to_vec();
    match count(State::Imported) {
        0 => {}
        imported => counted.push(format!("{imported} imported and unverified")),
    }
    if cut_off > 0 {
        counted.push(format!("{cut_off} NOT MEASURED: the run was interrupted"));
    }
    if left_out > cut_off {
        counted.push(format!("{} NOT MEASURED: the time was over", left_out - cut_off));
    }
    let seconds = record.measuring_seconds;
    format!("{cases}: {}; {seconds:.1} s of measuring", counted.join(", "))
}

/// What stands below the tables: what is missing from them and what their signs mean.
pub(crate) fn foot(
    record: &Record,
    selection: &[&Measurement],
    survey: &Survey<'_>,
) -> Vec<String> {
    let mut lines = not_offered(selection, &survey.libraries);
    lines.extend(record.libraries.iter().filter_map(|library| {
        let error = clean(library.error.as_deref()?);
        let name = labels::versioned(&library.name, &library.version);
        Some(format!("{name} was not measured: {}: {error}", clean(&library.path)))
    }));
    lines.extend(confinement::lines(record));
    lines.extend(machines(selection));
    lines.extend(software_aes(record, selection));
    lines.extend(harness(survey));
    lines.extend(record.noise.as_ref().and_then(disturbed));
    lines.extend(legend(record, selection, survey));
    lines
}

/// What the numbers of a tier that is a machine are not.
fn machines(selection: &[&Measurement]) -> Option<String> {
    let mut tiers: Vec<Tier> =
        selection.iter().map(|m| m.tier).filter(|t| t.is_machine()).collect();
    tiers.sort_unstable();
    tiers.dedup();
    let names: Vec<&str> = tiers.iter().map(|t| t.name()).collect();
    let what = if names.len() == 1 { "tier" } else { "tiers" };
    (!names.is_empty()).then(|| {
        format!(
            "{what} {}: {}: it shows which code runs, not how fast that core runs it",
            names.join(", "),
            Tier::EMULATED
        )
    })
}

/// Libraries whose code has no AES instruction although the CPU has them: the cause of many a published
/// figure that was taken for the library's speed.
fn software_aes(record: &Record, selection: &[&Measurement]) -> Vec<String> {
    let executed = executed_no_aes(record, selection).into_iter();
    let hiding =
        record.host.circumstances.iter().filter(|c| c.effect.contains("hides CPU features"));
    let hidden: String = hiding.map(|c| format!(", hidden by {}", clean(&c.name))).collect();
    let mut lines: Vec<String> = executed
        .map(|((library, tier), algorithms)| {
            format!(
                "{} executed no AES instruction at tier {tier} in {}: built without AES \
                 instructions{hidden}? This CPU has them, and with them AES is many times faster",
                labels::versioned(&library.name, &library.version),
                algorithms.iter().map(|a| clean(a)).collect::<Vec<_>>().join(", ")
            )
        })
        .collect();
    lines.extend(code_without_aes(record, selection).map(|library| {
        format!(
            "{} runs AES without the AES instructions that this CPU has: none stand in its code. \
             With them AES is many times faster",
            labels::versioned(&library.name, &library.version)
        )
    }));
    lines
}

/// The names of these libraries.
pub(crate) fn without_aes(record: &Record, selection: &[&Measurement]) -> BTreeSet<String> {
    let executed = executed_no_aes(record, selection).into_keys();
    let executed = executed.map(|(library, _)| labels::versioned(&library.name, &library.version));
    let code = code_without_aes(record, selection);
    executed.chain(code.map(|l| labels::versioned(&l.name, &l.version))).collect()
}

/// Libraries without AES instructions in their code; what was executed is the better proof, where there is one.
fn code_without_aes<'a>(
    record: &'a Record,
    selection: &'a [&Measurement],
) -> impl Iterator<Item = &'a Library> {
    let runs_aes = |m: &&&Measurement| m.state == State::Measured && is_aes(&m.algorithm);
    let libraries = if has_aes(record) { &record.libraries[..] } else { &[] };
    libraries.iter().filter(move |library| {
        let stepped = |e: &Executed| e.library.path == library.path && e.per_byte.is_some();
        let lacks = library.instructions.as_ref().is_some_and(|i| !i.iter().any(|i| i == "aes"));
        lacks
            && !record.executed.iter().any(stepped)
            && selection.iter().filter(runs_aes).any(|m| m.library.path == library.path)
    })
}

fn has_aes(record: &Record) -> bool {
    record.host.cpu.features.iter().any(|f| f == "aes")
}

/// Libraries that executed no AES instruction at a tier that offers them, with the AES algorithms.
fn executed_no_aes<'a>(
    record: &'a Record,
    selection: &[&Measurement],
) -> BTreeMap<(&'a LibraryId, Tier), BTreeSet<&'a str>> {
    let mut without: BTreeMap<(&LibraryId, Tier), BTreeSet<&str>> = BTreeMap::new();
    for e in record.executed.iter().filter(|_| has_aes(record)) {
        let offered = e.tier.shows(Feature::Aes);
        let lacks = e.per_byte.is_some() && !e.classes.iter().any(|c| c.class == "aes-round");
        let shown = |m: &&Measurement| m.state == State::Measured && e.is_of(m);
        if offered && lacks && is_aes(&e.algorithm) && selection.iter().copied().any(|m| shown(&m))
        {
            without.entry((&e.library, e.tier)).or_default().insert(&e.algorithm);
        }
    }
    without
}

fn is_aes(algorithm: &str) -> bool {
    Algorithm::find(algorithm).is_ok_and(|a| {
        matches!(a.cipher, Primitive::Aes | Primitive::Aegis128 { .. } | Primitive::Aegis256 { .. })
    })
}

/// How many samples were clean, and what the others met.
fn disturbed(noise: &Noise) -> Option<String> {
    let share = |samples: u64| samples as f64 / noise.samples as f64;
    if noise.samples == 0 {
        return None;
    }
    let clean = share(noise.clean);
    let mut reasons: Vec<(&str, u64)> =
        Disturbance::ALL.iter().map(|why| (why.name(), noise.disturbed.of(*why))).collect();
    reasons.retain(|(_, samples)| *samples > 0);
    reasons.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples));
    let reasons: Vec<String> = reasons
        .iter()
        .map(|(name, samples)| format!("{name} {} %", percent(share(*samples))))
        .collect();
    let mut line = format!("{} % of {} samples clean", percent(clean), noise.samples);
    if !reasons.is_empty() {
        line += &format!("; disturbed and not counted: {}", reasons.join(", "));
    }
    if clean < NOISY {
        line += "; `ciphermark doctor` says what can be done";
    }
    Some(line)
}

/// A machine on which fewer samples are clean gets advice.
const NOISY: f64 = 0.8;

/// What the harness itself costs, by the `null` cases.
fn harness(survey: &Survey<'_>) -> Option<String> {
    let costs = survey.null.iter().filter_map(|(model, m)| {
        let rounded = |e: Option<Estimate>| e.map(|e| supported(e.median, Some(&e)));
        let ns = rounded(m.ns_per_op)?;
        let cycles = rounded(m.cycles_per_op).map(|c| format!(" ({c} cycles)"));
        Some(format!("{model} {ns} ns{}", cycles.unwrap_or_default()))
    });
    let costs: Vec<String> = costs.collect();
    let costs = (!costs.is_empty()).then(|| costs.join(", "))?;
    Some(format!("the harness itself costs, per operation: {costs}"))
}

fn legend(record: &Record, selection: &[&Measurement], survey: &Survey<'_>) -> Vec<String> {
    if survey.sections.is_empty() {
        return Vec::new();
    }
    let reference = labels::size(survey.reference);
    let mut lines = vec![
        format!(
            "numbers under sizes: MB/s (10^6 bytes of plaintext a second), ranked at {reference}"
        ),
        format!(
            "c/B: core cycles per byte at {reference}; ±%: half-width of its 95 % interval, in percent"
        ),
    ];
    if selection.iter().any(|m| m.limit_fraction.is_some()) {
        lines.push(format!(
            "limit%: of the best that this core can do, at {reference} (`ciphermark list limits`); –: not known"
        ));
    }
    let has = |state: State| selection.iter().any(|m| m.state == state);
    if selection.iter().any(|m| mark(m) == ">") {
        lines.push(
            ">: only a busy core was seen in the time budget, so the library is at least so fast; \
             see `ciphermark doctor`"
                .to_owned(),
        );
    }
    if selection.iter().any(|m| mark(m) == "~") {
        let short = precision::line(record, selection);
        lines
            .push(format!("~: {}", short.as_deref().unwrap_or("short of the precision asked for")));
    }
    lines.extend(imported(selection));
    if selection.iter().any(|m| m.is_left_out()) {
        let interrupted = selection.iter().any(|m| m.is_cut_off());
        let why =
            if interrupted { "the run was interrupted" } else { "the time was over (--budget)" };
        lines.push(format!("{LEFT_OUT}: not measured, because {why}"));
    }
    if lacks_a_size(survey) {
        lines.push("–: not defined or not offered at this size".to_owned());
    }
    if has(State::Refused) {
        let word = shout(State::Refused);
        lines.push(format!("{word}: a check failed, so the number is not to be believed"));
    }
    if selection.iter().any(|m| m.state == State::Failed && is_bad(m)) {
        lines.push(format!("{}: crash, hang or error", shout(State::Failed)));
    }
    lines.extend(warnings(selection));
    lines.extend(secrets::notes(record, selection, &survey.libraries));
    let measured = selection.iter().filter(|m| m.state == State::Measured);
    lines.extend(crate::vintage::note(measured.map(|m| (&*m.library.name, &*m.library.version))));
    lines.extend(crate::remarks::lines(selection));
    lines
}

/// Where figures come from that were not measured here, a line for each source.
fn imported(selection: &[&Measurement]) -> Vec<String> {
    let sources = selection.iter().filter(|m| m.state == State::Imported);
    let line = |m: &&Measurement| {
        let from = m.imported.as_ref();
        let source = from.map_or_else(String::new, |i| clean(&i.source));
        let machine = from.and_then(|i| i.machine.as_deref());
        let machine = machine.map(|m| format!(", on {}", clean(m))).unwrap_or_default();
        format!("†: imported, neither measured nor checked here: {source}{machine}")
    };
    let lines: BTreeSet<String> = sources.clone().map(line).collect();
    let doubted = sources.filter(|m| is_doubted(m)).count();
    let doubts = (doubted > 0).then(|| {
        format!("{DOUBTED}: not to be believed, for the reason below the row: {doubted} figures")
    });
    lines.into_iter().chain(doubts).collect()
}

fn lacks_a_size(survey: &Survey<'_>) -> bool {
    let mut rows = survey.sections.iter().flat_map(|s| &s.rows);
    rows.any(|row| row.cells.values().any(|m| m.state == State::Unsupported))
}

/// The labels that are shown, each with its long form; with the algorithms' names where one label
/// stands for several.
fn warnings(selection: &[&Measurement]) -> Vec<String> {
    let shown = selection.iter().filter(|m| m.state != State::Unsupported);
    let algorithms = shown.filter_map(|m| Algorithm::find(&m.algorithm).ok());
    let mut labels: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for a in algorithms.filter(|a| a.kind != Kind::Null) {
        if let Some((label, text)) = a.warning_label().zip(a.warning()) {
            labels.entry(label).or_default().entry(text).or_default().insert(a.name);
        }
    }
    let line = |(label, texts): (&str, BTreeMap<&str, BTreeSet<&str>>)| {
        let several = texts.len() > 1;
        let meanings = texts.into_iter().map(|(text, names)| {
            let text = without_label(text, label);
            let names: Vec<&str> = names.into_iter().collect();
            if several { format!("{text} ({})", names.join(", ")) } else { text.to_owned() }
        });
        format!("{label}: {}", meanings.collect::<Vec<_>>().join("; "))
    };
    labels.into_iter().map(line).collect()
}

/// The text without the words that the label already says.
fn without_label<'a>(text: &'a str, label: &str) -> &'a str {
    let rest = text.strip_prefix(&label.replace('-', " ")).unwrap_or(text);
    rest.trim_start_matches([':', ';', ',', ' '])
}

#[cfg(test)]
mod tests;
