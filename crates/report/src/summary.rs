//! The sentences above and below the tables, the same for a terminal and for Markdown.

use crate::labels::{percent, supported};
use crate::notes::not_offered;
use crate::survey::{DOUBTED, LEFT_OUT, Survey, is_bad, is_doubted, mark, shout};
use crate::{labels, leaks, notes};
use base::model::{Algorithm, Disturbance, Feature, Kind, Primitive, Tier};
use base::text::clean;
use record::{
    Confinement, Estimate, Executed, Host, Library, LibraryId, Measurement, Noise, Record, State,
};
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
    lines.extend(confinement_lines(record));
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
        return imported(selection);
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
        let short = notes::precision_line(record, selection);
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
    lines.extend(leaks::notes(record, selection, &survey.libraries));
    let measured = selection.iter().filter(|m| m.state == State::Measured);
    lines.extend(crate::notes::note_of_age(
        measured.map(|m| (&*m.library.name, &*m.library.version)),
    ));
    lines.extend(crate::notes::remarks(selection));
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

// What a library's code could do beside computing: told only where that is more than it should be.

/// One line for each way in which workers were less confined than they can be, with the libraries.
pub(crate) fn confinement_lines(record: &Record) -> Vec<String> {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for library in &record.libraries {
        let Some(confinement) = &library.confinement else { continue };
        let name = labels::versioned(&library.name, &library.version);
        for text in less(confinement) {
            by_text.entry(text).or_default().push(name.clone());
        }
    }
    let line = |(text, names): (String, Vec<String>)| {
        let who = match &names[..] {
            [name] => format!("the workers of {name}"),
            all if all.len() == record.libraries.len() => "workers".to_owned(),
            all => format!("the workers of {} libraries", all.len()),
        };
        format!("{who} were not confined in all: {text}")
    };
    by_text.into_iter().map(line).collect()
}

fn less(confinement: &Confinement) -> Vec<String> {
    let missing =
        confinement.missing.iter().map(|r| format!("{}: {}", clean(&r.name), clean(&r.detail)));
    confinement.switched_off.iter().map(|why| clean(why)).chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::sample::record;
    use record::{Disturbances, Restriction};

    fn footed(record: &Record) -> String {
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        foot(record, &selection, &Survey::of(record, &selection)).join("\n")
    }

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
    fn what_an_interrupt_cut_off_is_counted_and_is_no_failure() {
        let mut record = sample::record();
        let all = record.measurements.len();
        for m in &mut record.measurements {
            (m.state, m.stopped) = (State::Failed, Some(record::Stopped::Interrupted));
            m.reason = Some("interrupted before it was measured".to_owned());
        }
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        let counted = counts(&record, &selection);
        let words = format!("0 failed, {all} NOT MEASURED: the run was interrupted");
        assert!(counted.contains(&words), "{counted}");
        let survey = Survey::of(&record, &selection);
        assert!(survey.sections.is_empty(), "nothing but what was cut off");
        let mut one = record.clone();
        one.measurements[0] = sample::record().measurements[0].clone();
        (one.measurements[0].state, one.measurements[0].stopped) = (State::Failed, None);
        let foot = footed(&one);
        assert!(foot.contains("FAILED: crash, hang or error"), "{foot}");
        assert!(foot.contains("…: not measured, because the run was interrupted"), "{foot}");
        one.measurements[0].stopped = Some(record::Stopped::Interrupted);
        assert!(!footed(&one).contains("FAILED"));
    }

    #[test]
    fn what_there_was_no_time_for_is_counted_and_is_no_failure() {
        let mut record = sample::record();
        let m = record.measurements.iter_mut().find(|m| m.state == State::Measured).unwrap();
        (m.state, m.stopped) = (State::Failed, Some(record::Stopped::Budget));
        m.reason = Some("2 samples in the time budget, too few for a number".to_owned());
        let failed = record.measurements.iter().filter(|m| m.state == State::Failed).count() - 1;
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        let counted = counts(&record, &selection);
        let words = format!("{failed} failed, ");
        assert!(counted.contains(&words), "{counted}");
        assert!(counted.contains("1 NOT MEASURED: the time was over"), "{counted}");
        let foot = footed(&record);
        assert!(foot.contains("…: not measured, because the time was over (--budget)"), "{foot}");
    }

    #[test]
    fn the_share_of_clean_samples_is_told_with_the_reasons_for_the_others() {
        let disturbed_by = Disturbances { switched: 10, contended: 40, ..Disturbances::default() };
        let mut noise =
            Noise { samples: 1000, clean: 950, disturbed: disturbed_by, ..Noise::default() };
        assert_eq!(
            disturbed(&noise).unwrap(),
            "95 % of 1000 samples clean; disturbed and not counted: contended 4.0 %, switched 1.0 %"
        );
        noise.clean = 500;
        assert!(disturbed(&noise).unwrap().contains("ciphermark doctor"));
        assert_eq!(disturbed(&Noise::default()), None, "a run that took none");
    }

    #[test]
    fn imported_figures_are_counted_marked_and_their_source_is_named() {
        let mut record = sample::record();
        let m = &mut record.measurements[0];
        m.state = State::Imported;
        m.imported = Some(record::Imported {
            source: "a \u{1b}[2Jblog".to_owned(),
            machine: Some("i5".to_owned()),
        });
        let lines = footed(&record);
        let said = "†: imported, neither measured nor checked here: a [2Jblog, on i5";
        assert!(lines.contains(said), "{lines}");
        assert!(
            counts(&record, &record.measurements.iter().collect::<Vec<_>>())
                .contains("1 imported and unverified")
        );
        assert_eq!(mark(&record.measurements[0]), "†");
    }

    #[test]
    fn a_table_with_old_and_new_releases_says_so_and_what_is_not_measured_has_no_part_in_it() {
        let mut record = sample::record();
        let lines = footed;
        assert!(!lines(&record).contains("releases of different years"), "five months apart");
        let of_gcrypt = |m: &&mut Measurement| m.library.name == "libgcrypt";
        record.measurements.iter_mut().filter(of_gcrypt).for_each(|m| {
            m.library.name = "wolfssl".to_owned();
            m.library.version = "5.9.4".to_owned();
        });
        let said = "the newest are of 2026-09, but openssl@3.0.22 2021-09 (";
        assert!(lines(&record).contains(said), "{}", lines(&record));
        let new = record.measurements.iter_mut().filter(|m| m.library.name == "wolfssl");
        new.for_each(|m| m.state = State::Unsupported);
        assert!(!lines(&record).contains("releases of different years"));
    }

    #[test]
    fn a_number_from_a_busy_core_is_a_bound_and_says_so() {
        let mut record = sample::record();
        record.measurements[0].contended = true;
        let lines = footed(&record);
        assert!(lines.contains(">: only a busy core was seen"), "{lines}");
        assert_eq!(mark(&record.measurements[0]), ">");
    }

    #[test]
    fn what_was_executed_tells_better_than_the_code_which_library_runs_without_aes() {
        let mut record = sample::record();
        record.host.cpu.features = vec!["aes".to_owned()];
        record.executed = vec![sample::executed()];
        // The file's code has none, and yet some were executed: from an object that it loads later.
        record.libraries[0].instructions = Some(Vec::new());
        let lines =
            |record: &Record| software_aes(record, &record.measurements.iter().collect::<Vec<_>>());
        assert_eq!(lines(&record), Vec::<String>::new());
        record.executed[0].classes.retain(|c| c.class != "aes-round");
        let found = lines(&record);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("openssl@3.0.22 executed no AES instruction at tier native"));
        assert!(found[0].contains("aes-128-gcm") && found[0].contains("built without AES"));
        // Nothing was counted, or nothing could be expected.
        record.executed[0].per_byte = None;
        assert_eq!(
            executed_no_aes(&record, &record.measurements.iter().collect::<Vec<_>>()).len(),
            0
        );
    }

    #[test]
    fn a_date_is_written_for_people_and_what_is_none_stays() {
        assert_eq!(date("2026-11-20T12:00:00Z"), "2026-11-20 12:00:00 UTC");
        assert_eq!(date("2026-11-20T12:00:00.265180205Z"), "2026-11-20 12:00:00 UTC");
        assert_eq!(date("yesterday"), "yesterday");
    }

    #[test]
    fn nothing_is_said_where_nothing_is_missing() {
        let mut all = record();
        assert_eq!(confinement_lines(&all), [""; 0]);
        let in_force = vec![Restriction { name: "seccomp".into(), detail: "all".into() }];
        all.libraries[0].confinement = Some(Confinement { in_force, ..Confinement::default() });
        assert_eq!(confinement_lines(&all), [""; 0]);
    }

    #[test]
    fn what_is_missing_is_said_once_with_whose_workers_they_were() {
        let mut all = record();
        let detail = "this kernel has no\u{1b}[31m Landlock".to_owned();
        let missing = vec![Restriction { name: "landlock".into(), detail }];
        let less = Confinement { missing, ..Confinement::default() };
        all.libraries[0].confinement = Some(less.clone());
        let one = confinement_lines(&all);
        assert!(
            one[0].starts_with("the workers of ") || one[0].starts_with("workers were"),
            "{one:?}"
        );
        assert!(
            one[0].contains("not confined in all: landlock: this kernel")
                && !one[0].contains('\u{1b}')
        );
        all.libraries.iter_mut().for_each(|l| l.confinement = Some(less.clone()));
        assert_eq!(confinement_lines(&all).len(), 1);
    }
}
