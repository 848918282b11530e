//! A record in the words of `openssl speed`, so that programs that parse those read it.

use crate::{Library, Measurement, Record, State};
use base::text::one_line;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Seconds that each test of `openssl speed` runs for unless it is told otherwise.
const SECONDS: f64 = 3.0;

/// The number that `openssl speed -evp` gives its algorithm in lines `+F` (`D_EVP` in OpenSSL 3.0).
const EVP: u32 = 25;

/// What `openssl speed -evp … 2>&1` prints: a run for each library, direction, model, tier, working
/// set and number of threads, each with its own head. Only what was measured and checked is there.
///
/// `openssl speed` counts how many operations end within three seconds; here it is how many would,
/// at the measured time per operation.
#[must_use]
pub fn text(record: &Record, selection: &[&Measurement]) -> String {
    let mut out = String::new();
    for run in runs(selection) {
        for (algorithm, cells) in run.rows() {
            for m in cells {
                let Counted { operations, seconds } = counted(m);
                let size = m.size;
                let _ = writeln!(
                    out,
                    "Doing {algorithm} for {SECONDS:.0}s on {size} size blocks: {operations} {algorithm}'s in {seconds:.2}s"
                );
            }
        }
        out += &head(record, &run);
        out += "The 'numbers' are in 1000s of bytes per second processed.\n";
        for Table { sizes, rows } in run.tables() {
            out += &heading(&sizes);
            rows.iter().for_each(|(algorithm, cells)| out += &row(algorithm, cells));
        }
    }
    out
}

/// What `openssl speed -mr -evp … 2>&1` prints. Where there are several runs, a line that begins with
/// `#` stands before each; programs that look for lines with a plus pass over it.
#[must_use]
pub fn machine_readable(record: &Record, selection: &[&Measurement]) -> String {
    let runs = runs(selection);
    let several = runs.len() > 1;
    let mut out = String::new();
    for run in &runs {
        if several {
            let version = version(&run.first().library.name, &run.first().library.version);
            let _ = writeln!(out, "# {version}: {}", run.words(record));
        }
        for (algorithm, cells) in run.rows() {
            for m in cells {
                let Counted { operations, seconds } = counted(m);
                let _ = writeln!(out, "+DT:{algorithm}:{SECONDS:.0}:{}", m.size);
                let _ = writeln!(out, "+R:{operations}:{algorithm}:{seconds:.6}");
            }
        }
        for Table { sizes, rows } in run.tables() {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            let _ = writeln!(out, "+H:{}", sizes.join(":"));
            for (algorithm, cells) in rows {
                let speeds: Vec<String> =
                    cells.iter().map(|m| format!("{:.2}", bytes_per_second(m))).collect();
                let _ = writeln!(out, "+F:{EVP}:{algorithm}:{}", speeds.join(":"));
            }
        }
    }
    out
}

/// The name of an algorithm, and its measurements by size.
type Row<'a> = (String, Vec<&'a Measurement>);

/// Rows that share their sizes, and these.
struct Table<'a> {
    sizes: Vec<usize>,
    rows: Vec<Row<'a>>,
}

/// What one call of `openssl speed` would measure.
struct Run<'a>(Vec<&'a Measurement>);

fn runs<'a>(selection: &[&'a Measurement]) -> Vec<Run<'a>> {
    let mut runs: BTreeMap<_, Vec<&Measurement>> = BTreeMap::new();
    for m in selection.iter().copied().filter(|m| m.state == State::Measured) {
        let Measurement { library, direction, model, tier, threads, footprint, in_place, .. } = m;
        // Digests have no direction, and neither has the name of an algorithm.
        let key = (library, direction, model, tier, threads, footprint, in_place);
        if m.mb_per_s.is_some() {
            runs.entry(key).or_default().push(m);
        }
    }
    runs.into_values().map(Run).collect()
}

impl<'a> Run<'a> {
    fn first(&self) -> &'a Measurement {
        self.0[0]
    }

    /// Each algorithm with its measurements by size, in the order of the record.
    fn rows(&self) -> Vec<Row<'a>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for m in &self.0 {
            let name = name(&m.algorithm);
            match rows.iter_mut().find(|(n, _)| *n == name) {
                Some((_, cells)) => cells.push(m),
                None => rows.push((name, vec![m])),
            }
        }
        rows.iter_mut().for_each(|(_, cells)| cells.sort_by_key(|m| m.size));
        rows
    }

    /// The rows that share their sizes: a table has a number in each of its columns.
    fn tables(&self) -> Vec<Table<'a>> {
        let mut tables: Vec<Table<'_>> = Vec::new();
        for row in self.rows() {
            let sizes: Vec<usize> = row.1.iter().map(|m| m.size).collect();
            match tables.iter_mut().find(|t| t.sizes == sizes) {
                Some(table) => table.rows.push(row),
                None => tables.push(Table { sizes, rows: vec![row] }),
            }
        }
        tables
    }

    /// What else there is to know, in words.
    fn words(&self, record: &Record) -> String {
        let Measurement { direction, model, tier, threads, footprint, .. } = self.first();
        let program = format!("{} {}", record.tool.name, record.tool.version);
        one_line(&format!(
            "{program}, {direction}, model {model}, tier {tier}, footprint {footprint}, threads {threads}"
        ))
    }
}

/// Lines in which `openssl speed` names the version, the build and the CPU.
fn head(record: &Record, run: &Run<'_>) -> String {
    let library = &run.first().library;
    let built = record.libraries.iter().find(|l| l.path == library.path && l.id == library.id);
    let build = built.map(|l: &Library| l.build.join("; ")).unwrap_or_default();
    let lines = [
        format!("version: {}", version(&library.name, &library.version)),
        format!("options: {}", run.words(record)),
        format!("compiler: {build}"),
        format!("CPUINFO: {}", record.host.cpu.name),
    ];
    lines.iter().map(|line| one_line(line) + "\n").collect()
}

/// OpenSSL's as it says it; others with their name.
fn version(name: &str, version: &str) -> String {
    let name = if name == "openssl" { String::new() } else { format!("{name} ") };
    one_line(&(name + version))
}

fn heading(sizes: &[usize]) -> String {
    let columns: String = sizes.iter().map(|size| format!("{size:>7} bytes")).collect();
    format!("type        {columns}\n")
}

/// `%-12s`, then `%11.2fk` a number.
fn row(algorithm: &str, cells: &[&Measurement]) -> String {
    let numbers: String =
        cells.iter().map(|m| format!(" {:>11.2}k", bytes_per_second(m) / 1e3)).collect();
    format!("{algorithm:<12}{numbers}\n")
}

fn bytes_per_second(m: &Measurement) -> f64 {
    m.mb_per_s.unwrap_or_default() * 1e6
}

/// Operations of one test, and the seconds that they take.
struct Counted {
    operations: u64,
    seconds: f64,
}

/// As many whole operations as end in the time, and at least one.
fn counted(m: &Measurement) -> Counted {
    let each = m.ns_per_op.map_or(f64::NAN, |e| e.median) / 1e9;
    // A float's conversion saturates, and no operation takes no time.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let operations = ((SECONDS / each).floor() as u64).max(1);
    Counted { operations, seconds: operations as f64 * each }
}

/// A name that cannot be taken for two fields, or for two lines.
fn name(algorithm: &str) -> String {
    let bad = |c: char| c == ':' || c.is_whitespace() || c.is_control();
    let name: String = algorithm.chars().map(|c| if bad(c) { '_' } else { c }).collect();
    one_line(&name)
}

#[cfg(test)]
mod tests {
    use super::super::{read, sample};
    use super::*;
    use regex::Regex;

    fn selection(record: &Record) -> Vec<&Measurement> {
        record.measurements.iter().collect()
    }

    /// The way of Erlang/OTP's `crypto_bench_SUITE`: a line `+DT`, directly after it a line `+R` of
    /// the same name, from which the time of one operation is computed.
    #[test]
    fn a_program_that_pairs_the_lines_dt_and_r_finds_the_time_of_each_operation() {
        let record = sample::record();
        let text = machine_readable(&record, &selection(&record));
        let lines: Vec<&str> = text.lines().collect();
        let mut found = Vec::new();
        for pair in lines.windows(2) {
            let (Some(dt), Some(r)) = (pair[0].strip_prefix("+DT:"), pair[1].strip_prefix("+R:"))
            else {
                continue;
            };
            let (dt, r): (Vec<&str>, Vec<&str>) = (dt.split(':').collect(), r.split(':').collect());
            assert_eq!((dt.len(), r.len(), dt[0]), (3, 3, r[1]));
            assert!(r[2].contains('.'), "a float must have a point: {}", r[2]);
            let (count, seconds): (f64, f64) = (r[0].parse().unwrap(), r[2].parse().unwrap());
            found.push((dt[0], dt[2].parse::<usize>().unwrap(), seconds / count * 1e9));
        }
        let measured: Vec<_> =
            record.measurements.iter().filter(|m| m.state == State::Measured).collect();
        assert_eq!(found.len(), measured.len());
        for m in measured {
            let of_it = |f: &&(&str, usize, f64)| f.0 == m.algorithm && f.1 == m.size;
            let expected = m.ns_per_op.unwrap().median;
            let nearest = found.iter().filter(of_it).map(|f| (f.2 / expected - 1.0).abs());
            assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-5, "{} {}", m.algorithm, m.size);
        }
    }

    /// The way of scripts that split lines `+F` at colons and leave the first three fields.
    #[test]
    fn a_program_that_splits_lines_f_finds_bytes_per_second_below_the_sizes_of_line_h() {
        let record = sample::record();
        let text = machine_readable(&record, &selection(&record));
        let mut sizes: Vec<usize> = Vec::new();
        let mut numbers = 0;
        for line in text.lines() {
            let fields: Vec<&str> = line.split(':').collect();
            match fields[0] {
                "+H" => sizes = fields[1..].iter().map(|f| f.parse().unwrap()).collect(),
                "+F" => {
                    assert_eq!(fields.len() - 3, sizes.len(), "{line}");
                    for (size, speed) in sizes.iter().zip(&fields[3..]) {
                        let speed: f64 = speed.parse().unwrap();
                        let is = |m: &&Measurement| {
                            m.algorithm == fields[2]
                                && m.size == *size
                                && (bytes_per_second(m) / speed - 1.0).abs() < 1e-6
                        };
                        assert!(record.measurements.iter().any(|m| is(&m)), "{line}");
                        numbers += 1;
                    }
                }
                _ => {}
            }
        }
        assert!(numbers > 0);
    }

    /// The way of VirtualClient's `OpenSslMetricsParser`: the sizes from the line `type`, then names
    /// with as many numbers that end in `k`.
    #[test]
    fn a_program_that_reads_the_table_finds_each_algorithm_with_a_number_for_each_size() {
        let record = sample::record();
        let only: Vec<&Measurement> = record
            .measurements
            .iter()
            .filter(|m| {
                m.library.version == "3.0.22" && m.direction == base::model::Direction::Encrypt
            })
            .collect();
        let text = text(&record, &only);
        let sizes = Regex::new(r"(?i)type\s*((?:[0-9]+\s*bytes\s*)+)").unwrap();
        let size = Regex::new(r"([0-9]+)\s*bytes").unwrap();
        let head = &sizes.captures(&text).unwrap()[1];
        let sizes: Vec<&str> =
            size.captures_iter(head).map(|c| c.get(1).unwrap().as_str()).collect();
        assert_eq!(sizes, ["16", "8192"]);
        let rows = Regex::new(r"(?im)^([a-z0-9\-()]+)((?:\s*[0-9.]+k)+)").unwrap();
        let found: Vec<(String, usize)> = rows
            .captures_iter(&text)
            .map(|c| (c[1].to_owned(), c[2].matches('k').count()))
            .collect();
        assert_eq!(found, [("aes-128-gcm".to_owned(), 2), ("aes-128-ctr".to_owned(), 2)]);
        let doing = Regex::new(
            r"Doing (\S+) for (\d+)s on (\d+) size blocks: ([0-9]+) (\S+)'s in ([0-9.]+)s",
        )
        .unwrap();
        assert_eq!(doing.captures_iter(&text).count(), 4);
    }

    #[test]
    fn what_was_not_measured_or_is_imported_is_not_there() {
        let mut record = sample::record();
        record.measurements.iter_mut().for_each(|m| m.state = State::Refused);
        assert_eq!(machine_readable(&record, &selection(&record)), "");
        record.measurements.iter_mut().for_each(|m| m.state = State::Imported);
        assert_eq!(text(&record, &selection(&record)), "");
    }

    #[test]
    fn one_run_has_no_remarks_and_several_are_told_apart() {
        let record = sample::record();
        let all = machine_readable(&record, &selection(&record));
        let remarks: Vec<&str> = all.lines().filter(|l| l.starts_with('#')).collect();
        assert_eq!(remarks.len(), 3, "{all}");
        assert!(remarks[0].starts_with("# libgcrypt 1.10.1: ciphermark 0.1.0, encrypt, "), "{all}");
        let one = machine_readable(&record, &selection(&record)[..2]);
        assert!(one.lines().all(|l| l.starts_with('+')), "{one}");
    }

    #[test]
    fn hostile_names_make_no_lines_or_fields_of_their_own() {
        let mut record = sample::record();
        for m in &mut record.measurements {
            m.algorithm = "a:b\n+F:1:c:9\u{202e}".to_owned();
            m.library.name = "x\n+F:1:d:9\u{1b}".to_owned();
        }
        record.host.cpu.name = "y\n+F:1:e:9".to_owned();
        record.tool.name = "\u{202e}drowssap".to_owned();
        for text in
            [machine_readable(&record, &selection(&record)), text(&record, &selection(&record))]
        {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
            let forged = |l: &&str| l.starts_with("+F:1:");
            assert_eq!(text.lines().filter(forged).count(), 0, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let record = sample::record();
        let one: Vec<&Measurement> = record.measurements.iter().take(4).collect();
        for written in [text(&record, &one), machine_readable(&record, &one)] {
            let output = read(&written).unwrap();
            assert_eq!(output.figures.len(), 4, "{written}");
            for (figure, m) in output.figures.iter().zip(&one) {
                assert_eq!((&figure.name, figure.size), (&m.algorithm, m.size));
                assert!((figure.bytes_per_second / bytes_per_second(m) - 1.0).abs() < 1e-6);
            }
        }
    }
}
