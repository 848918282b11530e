//! What a watched program encrypts, on one screen: who spends how much in crypto calls, on what, what need not be, and
//! what calls do not show.

use crate::labels::supported;
use crate::sampled::plus_minus;
use base::model::{Algorithm, Kind};
use base::text::{
    ASIDE, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, grouped, paint,
};
use judge::calls::{Fault, FaultKind, ProgramCalls, is_work, programs};
use record::{CallCount, CallOperation, Calls, Sampled, SampledKind};
use std::collections::BTreeSet;

/// Programs and rows that are shown; the rest is one line.
const MOST_PROGRAMS: usize = 4;
const MOST_ROWS: usize = 8;
/// Part of the CPU time below which a row is among the rest.
const LEAST: f64 = 0.002;
/// Part of a program's CPU time below which a fault is not worth a line.
const LEAST_FAULT: f64 = 0.001;
/// Part of the CPU time from which on watching itself is named.
const OVERHEAD: f64 = 0.02;

pub fn watched(calls: &Calls, options: Options) -> String {
    let programs = programs(calls);
    let mut text = String::new();
    for program in programs.iter().take(MOST_PROGRAMS) {
        text += &of_program(program, calls, options);
    }
    if programs.is_empty() {
        text += &options.hang("No call into a crypto library was seen.", 0, HEADING);
    }
    if programs.len() > MOST_PROGRAMS {
        let rest = &programs[MOST_PROGRAMS..];
        let seconds: f64 = rest.iter().map(|program| program.call_seconds).sum();
        text += &format!("{} more programs: {} in crypto calls\n", rest.len(), time(seconds * 1e9));
    }
    text += &libraries(calls, options);
    text += &parts(calls, options);
    notes(calls).iter().fold(text, |text, note| text + &options.hang(note, 2, CAUTION))
}

fn of_program(program: &ProgramCalls, calls: &Calls, options: Options) -> String {
    let has_waited = program.call_seconds > program.cpu_seconds;
    let cpu = program.cpu_seconds.max(program.call_seconds).max(f64::MIN_POSITIVE);
    let processes = if program.processes > 1 {
        format!(" ({} processes)", program.processes)
    } else {
        String::new()
    };
    let [most, least] = match (program.cpu_is_most, has_waited) {
        // It was killed before it could say, or confined itself.
        (true, _) => ["at most ", "at least "],
        (false, true) => ["", "at most "],
        (false, false) => ["", ""],
    };
    let head = format!(
        "{}{processes}: {most}{:.3} s CPU, {least}{} in crypto calls ({} operations)",
        clean(&program.name),
        program.cpu_seconds,
        percent(program.call_seconds / cpu),
        grouped(program.operations)
    );
    let mut text = options.hang(&head, 2, HEADING);
    if has_waited && !program.cpu_is_most {
        let took = time(program.call_seconds * 1e9);
        let note = format!(
            "calls took {took}, more than the CPU time: they waited for a CPU; shares are of the time in calls"
        );
        text += &options.behind("  ", 4, &note, CAUTION);
    }
    let is_shown = |row: &&CallCount| row.seconds / cpu >= LEAST;
    let shown: Vec<&CallCount> = program.rows.iter().filter(is_shown).take(MOST_ROWS).collect();
    text += &table(&shown, cpu, calls).text(options);
    let rest: f64 = program.call_seconds - shown.iter().map(|row| row.seconds).sum::<f64>();
    if program.rows.len() > shown.len() {
        let count = program.rows.len() - shown.len();
        text += &format!("  {:>6}  everything else: {count} kinds\n", percent(rest / cpu));
    }
    for warning in weak(&shown) {
        text += &options.behind("  ", 4, &warning, CAUTION);
    }
    for fault in program.faults.iter().filter(|fault| fault.seconds / cpu >= LEAST_FAULT) {
        text += &options.behind("  ", 4, &sentence(fault, cpu), CAUTION);
    }
    text + "\n"
}

/// What nothing new should be protected with, once each.
fn weak(rows: &[&CallCount]) -> BTreeSet<String> {
    let known = rows.iter().filter_map(|row| Algorithm::find(&row.algorithm).ok());
    let weak = known.filter(|a| a.is_weak());
    weak.filter_map(|a| Some(format!("{a}: {}", a.warning()?))).collect()
}

fn table(rows: &[&CallCount], cpu: f64, calls: &Calls) -> Table {
    let count = |row: &CallCount| row.count.max(1) as f64;
    let library = |row: &CallCount| {
        let file = calls.libraries.get(row.library).and_then(|library| library.path.file_name());
        file.map(|name| clean(&name.to_string_lossy())).unwrap_or_default()
    };
    let if_any =
        |is_any: bool, text: String| Cell::plain(if is_any { text } else { String::new() });
    let way = |row: &CallCount| {
        row.direction.map_or_else(|| row.operation.to_string(), |way| way.to_string())
    };
    Table::of(
        rows.iter().copied(),
        &[
            (Column::right("of CPU"), &|row| Cell::plain(percent(row.seconds / cpu))),
            (Column::left("algorithm"), &|row| Cell::plain(clean(&row.algorithm))),
            (Column::left(""), &|row| Cell::plain(way(row))),
            (Column::right("bytes"), &|row| if_any(has_size(row), range(row.size))),
            (Column::right("aad").goes(3), &|row| if_any(row.aad != [0, 0], range(row.aad))),
            (Column::right("count"), &|row| Cell::plain(grouped(row.count))),
            (Column::right("pieces").goes(2), &|row| {
                let pieces = row.pieces as f64 / count(row);
                if_any(pieces > 1.0, supported(pieces, None))
            }),
            (Column::right("each"), &|row| Cell::plain(time(row.seconds / count(row) * 1e9))),
            (Column::left("library").goes(4), &|row| Cell::new(library(row), ASIDE)),
        ],
    )
}

fn has_size(row: &CallCount) -> bool {
    is_work(row) && row.operation != CallOperation::Other && row.size != [0, 0]
}

fn range([first, last]: [u64; 2]) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

pub(crate) fn percent(share: f64) -> String {
    // What is minus nothing is nothing.
    format!("{:.1} %", 100.0 * share + 0.0)
}

pub(crate) fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{} µs", supported(ns / 1e3, None)),
        ..1e9 => format!("{} ms", supported(ns / 1e6, None)),
        _ => format!("{} s", supported(ns / 1e9, None)),
    }
}

fn sentence(fault: &Fault, cpu: f64) -> String {
    let Fault { subject, count, of, .. } = fault;
    let cost = percent(fault.seconds / cpu);
    let subject = clean(subject);
    let [count, of] = [*count, *of].map(grouped);
    match fault.kind {
        FaultKind::Fetch => format!(
            "{cost}: {subject} is looked up by name {count} times for {of} messages; fetch it once and keep it"
        ),
        FaultKind::Context => {
            format!("{cost}: {count} times a new {subject}, for {of} messages; use one again")
        }
        FaultKind::Key => {
            let is_mac = Algorithm::find(&fault.subject).is_ok_and(|a| a.kind == Kind::Mac);
            let instead = if is_mac { "begin again without one" } else { "set only the nonce" };
            format!(
                "{cost}: a key is set {count} times for {of} messages of {subject}; if it is the same key, {instead}"
            )
        }
        FaultKind::Pieces => format!(
            "{cost}: {subject} gets {of} messages in {count} pieces of a few bytes; give it larger ones"
        ),
        FaultKind::Padding => format!(
            "{cost}: padding is set {count} times for {of} messages; once a context is enough"
        ),
        FaultKind::Random => format!(
            "{cost}: random bytes for nonces are asked for {count} times for {of} messages; ask for many at once, or count"
        ),
        FaultKind::Software => format!(
            "{cost}: {subject} takes longer than this CPU's AES instructions would: a build or a setting without them"
        ),
        FaultKind::Derivation => format!(
            "{cost}: deriving keys ({subject}, {count} times) takes most of the time in calls"
        ),
    }
}

fn libraries(calls: &Calls, options: Options) -> String {
    let used = |index: &usize| calls.rows().any(|row| row.library == *index);
    let line = |index: usize| {
        let library = &calls.libraries[index];
        let build =
            library.build_id.as_deref().map(|id| format!(", build {}", id.get(..8).unwrap_or(id)));
        let version = library.version.as_deref().map(|version| format!(": {version}"));
        let path = library.path.display();
        let about = format!("{path}{}{}", version.unwrap_or_default(), build.unwrap_or_default());
        options.hang(&clean(&about), 2, ASIDE)
    };
    (0..calls.libraries.len()).filter(used).map(line).collect()
}

/// Three parts that add up, where samples were taken.
fn parts(calls: &Calls, options: Options) -> String {
    let Some(sampled) = calls.sampled.as_ref().filter(|sampled| sampled.samples > 0) else {
        let why = calls
            .not_sampled
            .as_deref()
            .map(|why| format!(" (no samples: {why})"))
            .unwrap_or_default();
        let text = format!(
            "Of what no call shows (static code, other languages), nothing is known here{why}"
        );
        return options.hang(&text, 2, ASIDE);
    };
    let mut text = paint(
        &format!("All programs, {:.2} s CPU:", sampled.cpu_seconds()),
        HEADING,
        options.color,
    ) + "\n";
    text += &format!("  {} seen by calls\n", percent(sampled.parts.by_calls));
    let only = plus_minus(sampled.parts.by_samples_only);
    let only = format!("{only} seen only by samples{}", seen_only(sampled));
    text += &options.behind("  ", 4, &only, PLAIN);
    text += &format!("  {} other\n", percent(sampled.parts.other));
    sampled
        .unseen
        .iter()
        .fold(text, |text, line| text + &options.behind("  ", 4, &clean(line), ASIDE))
}

/// The file that has most of what only samples show, and what that is.
fn seen_only(sampled: &Sampled) -> String {
    let files = sampled.files.iter().filter(|file| file.seconds_in_calls.is_none());
    let most = files.filter(|file| file.crypto_samples > 0).max_by_key(|file| file.crypto_samples);
    let Some((file, name)) = most.and_then(|file| Some((file, file.path.file_name()?))) else {
        return String::new();
    };
    let samples = |kind: &SampledKind| -> u64 {
        let of = sampled.functions.iter();
        let of = of.filter(|one| one.path == file.path && one.kind == kind.kind);
        of.map(|function| function.samples).sum()
    };
    let kinds = sampled.kinds.iter().filter(|kind| kind.is_crypto);
    let mut kinds: Vec<_> = kinds.map(|kind| (samples(kind), clean(&kind.kind))).collect();
    kinds.retain(|(samples, _)| 4 * samples > file.crypto_samples);
    kinds.sort_by_key(|(samples, _)| std::cmp::Reverse(*samples));
    let kinds: Vec<String> = kinds.into_iter().map(|(_, kind)| kind).collect();
    let of = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(" and ")) };
    format!(", most in {}{of}", clean(&name.to_string_lossy()))
}

fn notes(calls: &Calls) -> Vec<String> {
    let missed = &calls.missed;
    let mut notes = Vec::new();
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    };
    note(missed.processes, "processes were not watched: no room was left for them (/dev/shm)");
    note(
        missed.functions,
        "functions were not watched: a program binds more than there are places",
    );
    note(
        missed.contexts,
        "contexts were in use beyond 4,096 at once: some messages may count twice",
    );
    note(missed.kinds, "kinds of messages were more than there are rows; they are in `other`");
    let share = missed.overhead_seconds / calls.cpu_seconds.max(f64::MIN_POSITIVE);
    if missed.calls > 0 && share > OVERHEAD {
        notes.push(format!(
            "watching cost about {} of the CPU time: {} calls were timed",
            percent(share),
            grouped(missed.calls)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{CallDirection, CalledLibrary, Missed, WatchedProcess};

    fn example() -> Calls {
        let row = |size, count, seconds, direction| CallCount {
            operation: CallOperation::Cipher,
            algorithm: "aes-256-gcm".to_owned(),
            direction: Some(direction),
            size: [size, size],
            aad: [5, 5],
            count,
            seconds,
            ..CallCount::default()
        };
        let fetch = CallCount {
            operation: CallOperation::Fetch,
            algorithm: "aes-256-gcm".to_owned(),
            count: 12_000,
            seconds: 0.02,
            ..CallCount::default()
        };
        let rows = vec![
            row(16_385, 6000, 0.057, CallDirection::Encrypt),
            row(112, 6000, 0.0102, CallDirection::Decrypt),
            fetch,
        ];
        Calls {
            cpu_seconds: 0.475,
            libraries: vec![CalledLibrary {
                path: "/usr/lib/libcrypto.so.3\u{1b}[2J".into(),
                version: Some("OpenSSL 3.0.22".to_owned()),
                build_id: Some("0123456789".to_owned()),
            }],
            processes: vec![WatchedProcess {
                program: "/usr/sbin/nginx".into(),
                cpu_seconds: 0.475,
                rows,
                ..WatchedProcess::default()
            }],
            missed: Missed {
                processes: 2,
                calls: 1_000_000,
                overhead_seconds: 0.025,
                ..Missed::default()
            },
            not_sampled: Some("not permitted".to_owned()),
            ..Calls::default()
        }
    }

    #[test]
    fn the_screen_names_shares_rows_faults_libraries_and_what_was_missed() {
        let text = watched(&example(), Options::default());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "nginx: 0.475 s CPU, 18.4 % in crypto calls (12,000 operations)",
            "12.0 % aes-256-gcm encrypt 16385",
            "9.50 µs",
            "4.2 %: aes-256-gcm is looked up by name 12,000 times for 12,000 messages",
            "OpenSSL 3.0.22, build 01234567",
            "no samples: not permitted",
            "2 processes were not watched",
            "watching cost about 5.3 % of the CPU time",
        ] {
            assert!(words.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "names of strangers steer no terminal");
        let narrow = watched(&example(), Options { width: 60, color: false });
        assert!(narrow.lines().all(|line| base::text::width(line) <= 60), "{narrow}");
    }

    #[test]
    fn what_is_weak_carries_that_word_once() {
        let mut calls = example();
        let rows = &mut calls.processes[0].rows;
        rows[0].algorithm = "des-ede3-cbc".to_owned();
        rows[1].algorithm = "des-ede3-cbc".to_owned();
        let text = watched(&calls, Options { width: 200, color: false });
        assert_eq!(
            text.matches("des-ede3-cbc: weak: blocks of 64 bits repeat").count(),
            1,
            "{text}"
        );
        assert!(!watched(&example(), Options::default()).contains("weak"));
    }

    #[test]
    fn shares_of_calls_that_waited_for_a_cpu_are_of_the_time_in_calls() {
        let mut calls = example();
        calls.processes[0].cpu_seconds = 0.02;
        let text = watched(&calls, Options { width: 200, color: false });
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "nginx: 0.020 s CPU, at most 100.0 % in crypto calls",
            "calls took 87.2 ms, more than the CPU time",
            "65.4 % aes-256-gcm encrypt 16385",
        ] {
            assert!(words.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_program_without_calls_gets_one_line() {
        let text = watched(&Calls::default(), Options::default());
        assert!(text.starts_with("No call into a crypto library was seen.\n"), "{text}");
    }
}
