//! The record for a terminal.

use super::rows::{integrity, nonce_lines, rows, store_lines, threads, times, verified_lines};
use crate::at_rest::format::PagesRecord;
use base::text::{clean, width, wrap};

/// Narrowest table that is made: below, lines are longer than the terminal.
const NARROWEST: usize = 60;

/// The record for a terminal of so many columns.
#[must_use]
pub fn table(record: &PagesRecord, columns: usize) -> String {
    let columns = columns.max(NARROWEST);
    let mut out = String::new();
    for line in store_lines(record).iter().chain(&verified_lines(record)) {
        out += &hung(line, columns);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::sample;

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
}
