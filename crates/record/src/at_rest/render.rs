//! The record for people.

use crate::at_rest::scheme::{Expected, Field, Probe};
use crate::at_rest::{Cell, Keying, Medium, PagesRecord, Probed, effect_words};
use crate::{State, Stopped};
use base::model::Direction;
use base::text::{Align, Column, Table, clean, escape_markdown, width, wrap};
use std::collections::HashMap;

// The record for a terminal.

/// Narrowest table that is made: below, lines are longer than the terminal.
const NARROWEST: usize = 60;

pub fn table(record: &PagesRecord, columns: usize) -> String {
    let columns = columns.max(NARROWEST);
    let mut out = String::new();
    for line in store_lines(record).iter().chain(&verified_lines(record)) {
        out += &hung(line, columns);
    }
    if let Some(why) = record.withdrawn() {
        out += &hung(&format!("do not use: {why}"), columns);
    }
    for threads in threads(record) {
        let rows = rows(record, threads);
        if rows.is_empty() {
            continue;
        }
        let plural = if threads == 1 { "" } else { "s" };
        out += &format!(
            "\nns a page, {threads} thread{plural} (* no other library is surely faster)\n"
        );
        out += &times(&rows, true).lines(false).concat();
    }
    out += &legend(record, columns);
    let integrity = integrity(record);
    if !integrity.is_empty() {
        out +=
            "\nnoticed of pages that were changed: accidents, adversaries, an old page put back\n";
        let wide = integrity.iter().map(|i| i.scheme.len()).max().unwrap_or(0);
        for i in &integrity {
            let line = format!(
                "{:wide$}  {:7}  {:7}  {:7}  {}",
                i.scheme, i.accident, i.adversary, i.rollback, i.unnoticed
            );
            out += &hung_at(&line, columns, wide + 29);
            for line in &i.unexpected {
                out += &hung(&format!("  UNEXPECTED {line}"), columns);
            }
        }
    }
    let nonces = nonce_lines(record);
    if !nonces.is_empty() {
        out += "\nnonces made of\n";
        nonces.iter().for_each(|line| out += &hung(line, columns));
    }
    out
}

fn hung(line: &str, columns: usize) -> String {
    let lead = line.len() - line.trim_start().len();
    hung_at(line, columns, lead + 2)
}

/// The line, and what is too long for it below, indented.
fn hung_at(line: &str, columns: usize, indent: usize) -> String {
    if width(line) <= columns {
        return format!("{}\n", line.trim_end());
    }
    let (head, rest) = line.split_at(line.char_indices().nth(indent).map_or(0, |(i, _)| i));
    // Between the parts stands what wrapping would take away.
    let head = format!("{head}{}", &rest[..rest.len() - rest.trim_start().len()]);
    let room = columns.saturating_sub(width(&head)).max(20);
    let mut out = String::new();
    for (i, part) in wrap(rest, room).iter().enumerate() {
        let lead = if i == 0 { head.clone() } else { " ".repeat(indent) };
        out += &format!("{}\n", format!("{lead}{part}").trim_end());
    }
    out
}

fn legend(record: &PagesRecord, columns: usize) -> String {
    let Some(t) = &record.timing else { return String::new() };
    let text = format!(
        "encrypt, decrypt: in memory, page after page; new key: encrypt with a key of the page's own; random: decrypt, pages at random; cache, direct: decrypt after a read from the page cache or past it, the read not counted; log: encrypt before a write that is forced to the disk, the write not counted. {} rounds in {:.0} s; nonces from {}, included.",
        t.rounds,
        t.seconds,
        clean(&t.random_source)
    );
    wrap(&text, columns).iter().map(|l| format!("{l}\n")).collect()
}

// The record in Markdown.

/// The record in GitHub-flavoured Markdown.
pub fn markdown(record: &PagesRecord) -> String {
    let mut out = String::new();
    for line in store_lines(record).iter().chain(&verified_lines(record)) {
        out += &format!("- {}\n", escape_markdown(line));
    }
    if let Some(why) = record.withdrawn() {
        out += &format!("- **Do not use**: {}\n", escape_markdown(why));
    }
    for threads in threads(record) {
        out += &format!(
            "\nNanoseconds a page, threads: {threads} (\\* no other library is surely faster)\n\n"
        );
        out += &times(&rows(record, threads), false).markdown();
    }
    out += "\n| scheme | accidents | adversaries | old page | unnoticed, and what became of it |\n";
    out += "| --- | --- | --- | --- | --- |\n";
    for i in integrity(record) {
        let mut last = vec![i.unnoticed];
        last.extend(i.unexpected.iter().map(|u| format!("UNEXPECTED {u}")));
        let last = escape_markdown(&last.join("; "));
        let words = [i.accident, i.adversary, i.rollback].map(ToOwned::to_owned);
        out += &line([escape_markdown(&i.scheme)].into_iter().chain(words).chain([last]));
    }
    out.push('\n');
    for text in nonce_lines(record) {
        let indent = if text.starts_with("  ") { "  " } else { "" };
        out += &format!("{indent}- {}\n", escape_markdown(text.trim()));
    }
    out
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

// What tables have in common: rows of schemes and libraries, words for verdicts.

/// Columns of the table of times.
const HEAD: [&str; 10] = [
    "scheme", "extra B", "library", "encrypt", "decrypt", "new key", "random", "cache", "direct",
    "log",
];

struct Row {
    scheme: String,
    library: String,
    extra: usize,
    /// Times in the order of [`HEAD`] from its fourth column on.
    times: Vec<String>,
    /// Whether no other library is surely faster with this scheme, by decryption in memory.
    best: bool,
}

/// Rows as a table; in an outline a scheme is not repeated.
fn times(rows: &[Row], is_outline: bool) -> Table {
    let align = |at: usize| if matches!(at, 0 | 2) { Align::Left } else { Align::Right };
    let columns = HEAD.into_iter().enumerate().map(|(at, head)| Column::new(head, align(at)));
    let cells = |(at, row): (usize, &Row)| {
        let is_repeated = is_outline && at > 0 && rows[at - 1].scheme == row.scheme;
        let (scheme, extra) = match is_repeated {
            true => Default::default(),
            false => (row.scheme.clone(), row.extra.to_string()),
        };
        let mark = if row.best { "*" } else { "" };
        let first = [scheme, extra, format!("{}{mark}", row.library)];
        first.into_iter().chain(row.times.iter().cloned()).map(base::text::Cell::plain).collect()
    };
    Table::new(columns.collect::<Vec<_>>(), rows.iter().enumerate().map(cells).collect())
}

/// The columns of times: which cell each shows.
const COLUMNS: [(Medium, Keying, Direction); 7] = [
    (Medium::Sequential, Keying::Reused, Direction::Encrypt),
    (Medium::Sequential, Keying::Reused, Direction::Decrypt),
    (Medium::Sequential, Keying::PerPage, Direction::Encrypt),
    (Medium::Random, Keying::Reused, Direction::Decrypt),
    (Medium::Cache, Keying::Reused, Direction::Decrypt),
    (Medium::Direct, Keying::Reused, Direction::Decrypt),
    (Medium::Log, Keying::Reused, Direction::Encrypt),
];

/// All rows of a number of threads: schemes in the record's order, libraries by their speed.
fn rows(record: &PagesRecord, threads: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    let place = |c: &Cell| (c.medium, c.keying, c.direction);
    let cells: HashMap<_, &Cell> = record
        .cells
        .iter()
        .filter(|c| c.threads == threads)
        .map(|c| ((c.library, c.scheme.as_str(), place(c)), c))
        .collect();
    for facts in &record.schemes {
        let scheme = &facts.recipe.scheme;
        let of = |library: usize, column: (Medium, Keying, Direction)| {
            cells.get(&(library, scheme.as_str(), column)).copied()
        };
        let speed = |library: usize| of(library, COLUMNS[1]).and_then(Cell::own_ns);
        let mut libraries: Vec<usize> = (0..record.libraries.len())
            .filter(|l| COLUMNS.iter().any(|c| of(*l, *c).is_some_and(measured)))
            .collect();
        let ns = |l: usize| speed(l).map_or(f64::INFINITY, |r| r.median);
        libraries.sort_by(|a, b| ns(*a).total_cmp(&ns(*b)));
        let first = libraries.first().copied();
        // Where one has no interval, nothing is sure.
        let has_interval = |library: usize| {
            let ns = of(library, COLUMNS[1]).and_then(|cell| cell.crypto_ns);
            ns.is_some_and(|ns| ns.low.is_some() && ns.high.is_some())
        };
        for library in libraries {
            let both = speed(library).zip(first.and_then(speed));
            let is_sure = has_interval(library) && first.is_some_and(has_interval);
            let tied = both.is_some_and(|(own, first)| !is_sure || own.low <= first.high);
            rows.push(Row {
                scheme: clean(scheme),
                library: label(record, library),
                extra: facts.extra_bytes,
                times: COLUMNS
                    .iter()
                    .map(|c| of(library, *c).map_or_else(String::new, time))
                    .collect(),
                best: tied && facts.recipe.cipher.is_some(),
            });
        }
    }
    rows
}

fn measured(cell: &Cell) -> bool {
    cell.state == State::Measured
}

/// Nanoseconds, where there are any, at most where the core was busy; of reads and writes the scheme's part.
fn time(cell: &Cell) -> String {
    let none = if cell.is_left_out() { "-" } else { cell.state.name() };
    let most = if cell.contended { "≤ " } else { "" };
    cell.crypto_ns.map_or_else(|| none.to_owned(), |ns| format!("{most}{:.0}", ns.median))
}

/// `name@version`, made safe.
fn label(record: &PagesRecord, library: usize) -> String {
    record
        .libraries
        .get(library)
        .map_or_else(String::new, |l| clean(&format!("{}@{}", l.name, l.version)))
}

/// Numbers of threads that were timed.
fn threads(record: &PagesRecord) -> Vec<u32> {
    let mut threads: Vec<u32> = record.cells.iter().map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

fn store_lines(record: &PagesRecord) -> Vec<String> {
    let s = &record.store;
    let mib = (s.pages * s.page_size as u64) >> 20;
    let mut lines = vec![format!(
        "{} {}: {} pages of {} bytes ({mib} MiB) in {} files; {}",
        clean(&s.kind),
        clean(&s.name),
        s.pages,
        s.page_size,
        s.files,
        match s.checksums {
            Some(true) => "checksums of its own",
            _ => "no checksums of its own",
        }
    )];
    lines.push(format!(
        "{} pages of zeros{}; SHA-256 {} before{}",
        s.zero_pages,
        match s.without_lsn {
            0 => String::new(),
            n => format!(
                ", {n} with LSN 0 (free space maps, unlogged tables: their changes are not logged, so that no nonce \
                 can be made of it)"
            ),
        },
        clean(&s.sha256_before).chars().take(16).collect::<String>(),
        match (s.has_changed(), s.sha256_after.is_empty()) {
            (true, _) => ", ANOTHER AFTER: something wrote to the store during the run",
            (false, true) => "; not read again after the run, which was interrupted",
            (false, false) => " and after the run",
        }
    ));
    lines.extend(s.read.map(|read| {
        format!("of these pages the first {read} were read, all that there was time for")
    }));
    lines.extend(left_out(record));
    if let Some(p) = &record.profile {
        lines.push(format!("as {}: {}; {}", clean(&p.name), clean(&p.title), clean(&p.differs)));
        lines.push(format!("source: {} (read {})", clean(&p.source), clean(&p.read)));
    }
    lines
}

/// What of the store was not read: its figures are of relations alone.
fn left_out(record: &PagesRecord) -> Option<String> {
    let s = &record.store;
    let files = match s.left_out {
        0 => String::new(),
        n => format!("{n} files that are no relations or have a part of a page, "),
    };
    (s.kind == "postgres").then(|| {
        format!(
            "not read: {files}the log (pg_wal), the states of transactions (pg_xact, pg_multixact), temporary files: \
             all of them hold data or tell of it"
        )
    })
}

fn verified_lines(record: &PagesRecord) -> Vec<String> {
    let good: Vec<_> = record.verified.iter().filter(|v| v.state == State::Measured).collect();
    let mut schemes: Vec<&str> = good.iter().map(|v| v.scheme.as_str()).collect();
    schemes.sort_unstable();
    schemes.dedup();
    let mut libraries: Vec<usize> = good.iter().map(|v| v.library).collect();
    libraries.sort_unstable();
    libraries.dedup();
    let (least, all) = (good.iter().map(|v| v.pages).min().unwrap_or(0), record.store.pages);
    let pages = if least < all {
        format!("{least} of {all} pages, drawn at random,")
    } else {
        "every page".to_owned()
    };
    let mut lines = vec![format!(
        "verified: {} schemes in {} libraries ({} pairs): {pages} encrypted, decrypted and equal",
        schemes.len(),
        libraries.len(),
        good.len()
    )];
    for v in record.verified.iter().filter(|v| v.state != State::Measured) {
        if v.state == State::Unsupported || v.is_left_out() {
            continue;
        }
        let why = v.reason.as_deref().map(clean).unwrap_or_default();
        let who = label(record, v.library);
        lines.push(format!(
            "{} {} in {who}: {why}",
            v.state.name().to_uppercase(),
            clean(&v.scheme)
        ));
    }
    let is_interrupted = |c: &&Cell| c.stopped == Some(Stopped::Interrupted);
    let interrupted = record.cells.iter().filter(is_interrupted).count();
    if interrupted > 0 {
        let all = record.cells.len();
        lines.push(format!(
            "INTERRUPTED: {interrupted} of {all} timed cells have no number or fewer samples than asked for"
        ));
    }
    let pairs = record.verified.iter().filter(|v| v.is_left_out()).count();
    let cells = record.cells.iter().filter(|c| c.is_left_out()).count();
    if least < all || pairs + cells > 0 {
        lines.push(format!(
            "left out: the proof of {pairs} pairs, {cells} of {} timed cells (-); --thorough has all",
            record.cells.len()
        ));
    }
    lines
}

/// The verdicts on a scheme's integrity, the same for all libraries or of the one that differs.
struct Integrity {
    scheme: String,
    accident: &'static str,
    adversary: &'static str,
    rollback: &'static str,
    unnoticed: String,
    unexpected: Vec<String>,
}

/// What was noticed, scheme by scheme.
fn integrity(record: &PagesRecord) -> Vec<Integrity> {
    let word = |all: &[&Probed], covers: fn(Probe) -> bool, of: fn(&Probed) -> bool| {
        let mut rows = all.iter().flat_map(|p| &p.rows);
        if !rows.any(|row| covers(row.counts.probe) && row.counts.tried > 0) {
            return "untried";
        }
        match (all.iter().all(|p| of(p)), all.iter().any(|p| of(p))) {
            (true, _) => "yes",
            (false, true) => "DIFFERS",
            _ => "no",
        }
    };
    let mut rows = Vec::new();
    for facts in &record.schemes {
        let all: Vec<&Probed> =
            record.probes.iter().filter(|p| p.scheme == facts.recipe.scheme).collect();
        let Some(first) = all.first() else { continue };
        let unnoticed = first.rows.iter().filter_map(|row| {
            let (effect, _) = row.counts.effects.first()?;
            Some(format!("{}: {}", row.counts.probe.name(), effect_words(*effect)))
        });
        let unexpected = all.iter().flat_map(|p| {
            p.rows.iter().filter(|r| r.as_expected == Some(false)).map(|r| {
                format!(
                    "{}: {} of {} noticed, expected {}",
                    label(record, p.library),
                    r.counts.noticed,
                    r.counts.tried,
                    match r.expected {
                        Expected::Noticed => "all".to_owned(),
                        Expected::NotApplicable => "none to be tried".to_owned(),
                        Expected::Unnoticed(e) => format!("none ({})", effect_words(e)),
                    }
                ) + &format!(" [{}]", r.counts.probe.name())
            })
        });
        rows.push(Integrity {
            scheme: clean(&facts.recipe.scheme),
            accident: word(&all, Probe::is_accident, |p| p.against_accidents),
            adversary: word(&all, |probe| probe != Probe::Replay, |p| p.against_adversaries),
            rollback: word(&all, |probe| probe == Probe::Replay, |p| p.against_rollback),
            unnoticed: unnoticed.collect::<Vec<_>>().join("; "),
            unexpected: unexpected.collect(),
        });
    }
    rows
}

/// Verdicts on schemes that nothing is wrong with, and what they mean.
const SAFE: [(&str, &str); 3] = [
    ("random", "safe over all states, but for chance: each write draws its nonce"),
    (
        "unique",
        "safe over these states: no nonce came twice with different pages; other states may have repeats",
    ),
    (
        "by-design",
        "a tweak or IV that repeats shows which blocks or beginnings are equal, and nothing else",
    ),
];

fn nonce_lines(record: &PagesRecord) -> Vec<String> {
    let n = &record.nonces;
    let mut lines = Vec::new();
    for r in &n.rules {
        let fields = r.fields.iter().filter(|field| **field != Field::Zero);
        let made: Vec<&str> = fields.map(Into::into).collect();
        let key = if r.key_per_file { ", key or mask per file" } else { "" };
        lines.push(format!(
            "{} ({}{key}): {} nonces over {} pages in {} states; {} twice with the same page, {} twice with different pages",
            clean(&r.rule),
            made.join(" "),
            r.distinct,
            n.pages,
            n.states,
            r.repeated_same,
            r.repeated_different
        ));
        for pair in r.named.iter().take(3) {
            lines.push(format!("  {} and {}", clean(&pair.page), clean(&pair.other)));
        }
    }
    // Over one state a nonce can hardly repeat: verdicts are worth saying of several.
    if n.states > 1 {
        lines.extend(SAFE.iter().filter_map(|(verdict, says)| {
            let of = n.schemes.iter().filter(|s| s.verdict == *verdict);
            let names: Vec<String> = of.map(|s| clean(&s.scheme)).collect();
            (!names.is_empty()).then(|| format!("{verdict} {}: {says}", names.join(", ")))
        }));
    }
    for s in n.schemes.iter().filter(|s| s.verdict == "broken") {
        lines.push(format!(
            "BROKEN {}: a nonce came twice with different pages, plaintexts leak",
            clean(&s.scheme)
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{HEAD, *};
    use crate::at_rest::{Nonces, sample};

    #[test]
    fn the_table_has_store_times_verdicts_and_what_was_refused() {
        let text = table(&sample(), 120);
        assert!(text.contains("postgres data: 1000 pages of 8192 bytes"), "{text}");
        assert!(text.contains("REFUSED aes-256-xts in libsodium@1.0.18: page 3"), "{text}");
        assert!(text.contains("openssl@3.0.19*"), "{text}");
        let gcm = text.lines().rfind(|l| l.starts_with("aes-256-gcm")).unwrap();
        assert!(gcm.contains("yes      yes      no       replay: the old page"), "{gcm}");
        assert!(text.lines().all(|l| width(l) <= 120), "{text}");
    }

    #[test]
    fn schemes_that_are_safe_over_several_states_have_a_verdict_and_what_was_not_read_is_named() {
        let mut record = sample();
        record.nonces.states = 1;
        let one = table(&record, 120);
        assert!(!one.contains("safe over all states"), "{one}");
        assert!(one.contains("not read: ") && one.contains("the log (pg_wal)"), "{one}");
        record.nonces.states = 2;
        record.store.without_lsn = 359;
        let text = table(&record, 120);
        let line = text.lines().find(|l| l.starts_with("random ")).unwrap_or_default();
        assert!(line.contains("aes-256-gcm") && text.contains("safe over all states"), "{text}");
        assert!(text.contains("359 with LSN 0"), "{text}");
    }

    #[test]
    fn what_could_not_be_tried_has_no_verdict_and_pages_without_lsns_no_number_of_them() {
        let mut record = sample();
        let rows = record.probes.iter_mut().flat_map(|p| &mut p.rows);
        rows.for_each(|r| {
            (r.counts.tried, r.counts.noticed, r.counts.effects) = (0, 0, Vec::new())
        });
        record.probes.iter_mut().for_each(|p| p.against_rollback = true);
        "sqlite".clone_into(&mut record.store.kind);
        record.store.without_lsn = 0;
        record.nonces = Nonces::default();
        let text = table(&record, 120);
        let gcm = text.lines().rfind(|l| l.starts_with("aes-256-gcm")).unwrap();
        assert!(gcm.contains("untried  untried  untried"), "{gcm}");
        assert!(!text.contains("LSN"), "{text}");
    }

    #[test]
    fn without_intervals_no_library_is_surely_slower() {
        let best = |record: &PagesRecord| rows(record, 1).iter().filter(|row| row.best).count();
        let mut record = sample();
        let mut slower = record.cells.clone();
        slower.retain(|cell| cell.scheme == "aes-256-gcm" && cell.library == 0);
        record.cells.retain(|cell| cell.scheme == "aes-256-gcm" && cell.library == 0);
        for cell in &mut slower {
            cell.library = 1;
            if let Some(ns) = &mut cell.crypto_ns {
                let twice = |end: Option<f64>| end.map(|ns| 2.0 * ns);
                (ns.median, ns.low, ns.high) = (2.0 * ns.median, twice(ns.low), twice(ns.high));
            }
        }
        record.cells.extend(slower);
        assert_eq!(best(&record), 1);
        let times = record.cells.iter_mut().filter_map(|cell| cell.crypto_ns.as_mut());
        times.for_each(|ns| (ns.low, ns.high) = (None, None));
        assert_eq!(best(&record), 2);
    }

    #[test]
    fn hostile_names_stay_on_their_line() {
        let mut record = sample();
        record.libraries[0].name = "a\u{1b}[31m\nb".into();
        record.store.name = "x\u{202e}y\n".into();
        record.schemes[1].recipe.scheme = "s\u{7}\u{9b}".into();
        record.cells.iter_mut().for_each(|c| c.scheme = "s\u{7}\u{9b}".into());
        if let Some(timing) = &mut record.timing {
            timing.random_source = "dice\u{1b}[2J".into();
        }
        let text = table(&record, 120);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}', '\u{9b}']), "{text}");
    }

    #[test]
    fn every_row_of_a_table_has_as_many_cells_as_its_head() {
        let mut record = sample();
        record.libraries[0].name = "a|b".into();
        let text = markdown(&record);
        let times: Vec<&str> =
            text.lines().skip_while(|l| !l.starts_with("| scheme | extra")).collect();
        let cells = |l: &str| l.replace("\\|", "").matches('|').count();
        let table: Vec<&&str> = times.iter().take_while(|l| l.starts_with('|')).collect();
        assert!(table.len() > 4 && table.iter().all(|l| cells(l) == HEAD.len() + 1), "{text}");
    }
}
