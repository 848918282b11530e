//! Where a program's CPU time went, by samples: one screen.

use base::analysis::SampledShare;
use base::text::{ASIDE, Cell, Column, HEADING, Held, Options, PLAIN, Table, clean, paint};
use record::{Sampled, SampledFile};
use std::path::Path;

const MOST_ROWS: usize = 8;

/// The screen. `name` is what was watched: `process 1234`.
pub fn sampled(sampled: &Sampled, name: &str, options: Options) -> String {
    if sampled.samples == 0 {
        let seconds = sampled.seconds;
        return options.hang(
            &format!("{name} used no CPU time in {seconds:.1} s: no sample was taken"),
            0,
            PLAIN,
        );
    }
    let mut text = paint(&headline(sampled, name), HEADING, options.color) + "\n";
    text += &parts(sampled);
    text += &section("By what the code computes", &kinds(sampled), options);
    text += &section("By file", &files(sampled), options);
    text += &section("Functions", &functions(sampled), options);
    if sampled.programs.len() > 1 {
        text += &section("Processes", &programs(sampled), options);
    }
    if !sampled.unseen.is_empty() {
        text += &format!("\n{}\n", paint("Not seen into", HEADING, options.color));
        let line = |why: &String| options.behind("  ", 2, &clean(why), PLAIN);
        text += &sampled.unseen.iter().map(line).collect::<String>();
    }
    text + "\n" + &options.hang(&doubt(sampled), 0, ASIDE)
}

fn headline(sampled: &Sampled, name: &str) -> String {
    let (cpu, seconds) = (sampled.cpu_seconds(), sampled.seconds);
    let crypto = plus_minus(sampled.share(sampled.crypto_samples()));
    format!("{name}: {cpu:.2} s of CPU in {seconds:.1} s, at least {crypto} in cryptography")
}

/// `73.8 ±1.9 %`
pub(crate) fn plus_minus(share: SampledShare) -> String {
    format!("{:.1} ±{:.1} %", 100.0 * share.fraction, 100.0 * share.half_width())
}

fn parts(sampled: &Sampled) -> String {
    let only = plus_minus(sampled.parts.by_samples_only);
    let other = 100.0 * sampled.parts.other;
    format!("  {only} in ciphers' code and libraries for it\n  {other:.1} % other\n")
}

/// Nothing where it has no rows.
fn section(heading: &str, table: &Table, options: Options) -> String {
    match table.is_empty() {
        true => String::new(),
        false => {
            format!("\n{}\n{}", paint(heading, HEADING, options.color), table.text(options))
        }
    }
}

fn share(sampled: &Sampled, samples: u64) -> Cell {
    Cell::number(plus_minus(sampled.share(samples)), PLAIN)
}

fn table<'a, R>(rows: &'a [R], columns: &[(Column, Held<'_, &'a R, Cell>)]) -> Table {
    Table::of(rows.iter().take(MOST_ROWS), columns)
}

fn kinds(sampled: &Sampled) -> Table {
    let note = |is_crypto| if is_crypto { "" } else { "does not count as cryptography" };
    table(
        &sampled.kinds,
        &[
            (Column::right("of CPU"), &|kind| share(sampled, kind.samples)),
            (Column::left("code"), &|kind| Cell::plain(kind.kind.clone())),
            (Column::left("").goes(1), &|kind| Cell::new(note(kind.is_crypto), ASIDE)),
        ],
    )
}

fn files(sampled: &Sampled) -> Table {
    table(
        &sampled.files,
        &[
            (Column::right("of CPU"), &|file| share(sampled, file.samples)),
            (Column::right("in ciphers"), &|file| share(sampled, file.crypto_samples)),
            (Column::left("file"), &|file| Cell::plain(clean(&file.path.display().to_string()))),
            (Column::left("version").goes(1), &|file| Cell::plain(about(file))),
        ],
    )
}

/// Version and the beginning of the build id, as far as they are known.
fn about(file: &SampledFile) -> String {
    let version = file.version.as_deref().map(clean);
    let build = file.build_id.as_deref().map(|id| format!("build {}", &id[..id.len().min(8)]));
    [version, build].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn functions(sampled: &Sampled) -> Table {
    let file = |path: &Path| clean(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
    table(
        &sampled.functions,
        &[
            (Column::right("of CPU"), &|function| share(sampled, function.samples)),
            (Column::left("function"), &|function| Cell::plain(clean(&function.function))),
            (Column::left("file").goes(2), &|function| Cell::plain(file(&function.path))),
            (Column::left("code").goes(1), &|function| Cell::plain(function.kind.clone())),
        ],
    )
}

fn programs(sampled: &Sampled) -> Table {
    table(
        &sampled.programs,
        &[
            (Column::right("of CPU"), &|program| share(sampled, program.samples)),
            (Column::right("in ciphers"), &|program| share(sampled, program.crypto_samples)),
            (Column::left("process"), &|program| {
                Cell::plain(format!("{} {}", program.pid, clean(&program.name)))
            }),
        ],
    )
}

fn doubt(sampled: &Sampled) -> String {
    let mut text = format!(
        "{} samples, one each {:.0} µs of CPU time; ± is 95 %, from their count. What is in ciphers is at least that: \
        code around them, and ciphers without instructions of their own, are not recognised.",
        sampled.samples,
        sampled.interval_ns as f64 / 1000.0
    );
    if sampled.lost > 0 {
        text += &format!(" {} records were lost: shares may be off by as much.", sampled.lost);
    }
    if sampled.throttled > 0 {
        text += &format!(" The kernel paused sampling {} times.", sampled.throttled);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Parts, SampledKind, SampledProgram};

    fn example() -> Sampled {
        let file = |path: &str, samples, crypto_samples| SampledFile {
            path: path.into(),
            build_id: Some("0123456789abcdef".to_owned()),
            version: Some("OpenSSL 3.0.22".to_owned()),
            is_library: true,
            is_readable: true,
            seconds_in_calls: None,
            samples,
            crypto_samples,
        };
        let kind = |kind: &str, is_crypto, samples| SampledKind {
            kind: kind.to_owned(),
            is_crypto,
            samples,
        };
        let program = |pid, name: &str, samples| SampledProgram {
            pid,
            name: name.to_owned(),
            samples,
            crypto_samples: samples / 2,
        };
        Sampled {
            seconds: 10.0,
            interval_ns: 1_001_001,
            samples: 1000,
            lost: 3,
            throttled: 0,
            with_kernel: true,
            parts: Parts {
                by_calls: 0.0,
                by_samples_only: SampledShare::of(400, 1000),
                other: 0.6,
            },
            kinds: vec![kind("AES", true, 300), kind("a CRC", false, 50)],
            files: vec![file("/lib/libcrypto.so.3", 400, 300), file("/bin/it\u{1b}[2J", 600, 0)],
            functions: Vec::new(),
            programs: vec![program(1, "it", 900), program(2, "that", 100)],
            unseen: vec!["12.0 % in code that a program made while it ran".to_owned()],
        }
    }

    #[test]
    fn the_screen_says_how_much_how_sure_where_and_what_was_not_seen() {
        let text = sampled(&example(), "process 1", Options::default());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "process 1: 1.00 s of CPU in 10.0 s, at least 30.0 ±2.8 % in cryptography",
            "40.0 ±3.0 % in ciphers' code",
            "does not count as cryptography",
            "OpenSSL 3.0.22, build 01234567",
            "12.0 % in code that a program made",
            "3 records were lost",
        ] {
            assert!(words.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "names of strangers steer no terminal");
    }

    #[test]
    fn a_program_that_did_nothing_has_no_shares() {
        let idle = Sampled { samples: 0, files: Vec::new(), ..example() };
        let text = sampled(&idle, "process 1", Options::default());
        assert_eq!(text, "process 1 used no CPU time in 10.0 s: no sample was taken\n");
    }
}
