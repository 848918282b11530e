//! The sentences above and below the tables, the same for a terminal and for Markdown.

use crate::digits::{percent, supported};
use crate::labels;
use crate::offers::not_offered;
use crate::survey::{Survey, is_rough, shout};
use crate::text::clean;
use model::{Algorithm, Kind, Primitive};
use record::{Estimate, Host, Measurement, Record, State};
use std::collections::{BTreeMap, BTreeSet};

/// What stands above the tables: the machine, then the cases.
pub(crate) fn head(record: &Record, selection: &[&Measurement]) -> Vec<String> {
    vec![machine(&record.host, &record.started), counts(record, selection)]
}

fn machine(host: &Host, started: &str) -> String {
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
    let counted = states.map(|state| {
        let count = selection.iter().filter(|m| m.state == state).count();
        format!("{count} {}", state.name())
    });
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
    lines.extend(software_aes(record, selection));
    lines.extend(harness(survey));
    lines.extend(legend(record, selection, survey));
    lines
}

/// Libraries whose code has no AES instruction although the CPU has them: the cause of many a published
/// figure that was taken for the library's speed.
fn software_aes(record: &Record, selection: &[&Measurement]) -> Vec<String> {
    if !record.host.cpu.features.iter().any(|f| f == "aes") {
        return Vec::new();
    }
    let runs_aes = |m: &&&Measurement| {
        let aes = |a: &Algorithm| {
            matches!(
                a.cipher,
                Primitive::Aes | Primitive::Aegis128 { .. } | Primitive::Aegis256 { .. }
            )
        };
        m.state == State::Measured && Algorithm::find(&m.algorithm).is_ok_and(aes)
    };
    let without = record.libraries.iter().filter(|library| {
        let lacks = library.instructions.as_ref().is_some_and(|i| !i.iter().any(|i| i == "aes"));
        lacks && selection.iter().filter(runs_aes).any(|m| m.library.path == library.path)
    });
    without
        .map(|library| {
            format!(
                "{} runs AES without the AES instructions that this CPU has: none stand in its code. \
                 With them AES is many times faster",
                labels::versioned(&library.name, &library.version)
            )
        })
        .collect()
}

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
    let has = |state: State| selection.iter().any(|m| m.state == state);
    if selection.iter().any(|m| is_rough(m)) {
        let asked = percent(record.plan.precision);
        let asked = asked.trim_end_matches(".0");
        lines.push(format!("~: sampling ended short of the asked precision of {asked} %"));
    }
    if lacks_a_size(survey) {
        lines.push("–: not defined or not offered at this size".to_owned());
    }
    if has(State::Refused) {
        let word = shout(State::Refused);
        lines.push(format!("{word}: a check failed, so the number is not to be believed"));
    }
    if has(State::Failed) {
        lines.push(format!("{}: crash, hang or error", shout(State::Failed)));
    }
    lines.extend(warnings(selection));
    lines
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
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_library_without_aes_code_is_named_where_the_cpu_has_the_instructions() {
        let mut record = sample::record();
        record.libraries[0].instructions = Some(vec!["pclmulqdq".to_owned()]);
        let path = record.libraries[0].path.clone();
        record.measurements.iter_mut().for_each(|m| m.library.path.clone_from(&path));
        let lines =
            |record: &Record| software_aes(record, &record.measurements.iter().collect::<Vec<_>>());
        assert!(lines(&record).is_empty(), "the CPU has none either");
        record.host.cpu.features = vec!["aes".to_owned()];
        assert_eq!(lines(&record).len(), 1, "{:?}", lines(&record));
        record.libraries[0].instructions = Some(vec!["aes".to_owned()]);
        assert!(lines(&record).is_empty());
    }

    #[test]
    fn a_date_is_written_for_people_and_what_is_none_stays() {
        assert_eq!(date("2026-11-20T12:00:00Z"), "2026-11-20 12:00:00 UTC");
        assert_eq!(date("2026-11-20T12:00:00.265180205Z"), "2026-11-20 12:00:00 UTC");
        assert_eq!(date("yesterday"), "yesterday");
    }
}
