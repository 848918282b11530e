//! What a case cost from run to run.

use crate::digits::supported;
use crate::labels::size;
use base::analysis::{Ratio, Verdict};
use base::text::{ALARM, ASIDE, Align, Cell, Column, GOOD, HEADING, Options, PLAIN, Table, clean};
use judge::compare::Case;
use record::Estimate;
use serde::Serialize;
use std::path::Path;

/// One case of one library on one machine.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The machine's type.
    pub machine: String,
    /// The library's name, with its version if a run has several.
    pub library: String,
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// Its runs, the oldest first.
    pub points: Vec<Point>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// When it began, seconds since 1970.
    pub started: i64,
    /// Its day.
    pub day: String,
    /// SHA-256 of the record.
    pub record: String,
    /// The library's version.
    pub version: String,
    /// Nanoseconds of an operation.
    pub ns_per_op: Estimate,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    /// The verdict against the run before.
    pub verdict: Option<Verdict>,
    /// The cost over that of the run before.
    pub ratio: Option<Ratio>,
}

impl Line {
    /// `aes-256-gcm, encrypt, 16K, native`
    fn title(&self) -> String {
        let c = &self.case;
        let mut words = vec![c.algorithm.clone(), c.direction.to_string()];
        words.extend((c.size > 0).then(|| size(c.size)));
        words.extend([c.model.to_string(), c.tier.to_string()]);
        words.extend((c.threads > 1).then(|| format!("{} threads", c.threads)));
        words.extend((!c.footprint.is_hot()).then(|| c.footprint.to_string()));
        words.extend(c.in_place.then(|| "in place".to_owned()));
        words.extend((!c.setting.is_empty()).then(|| c.setting.clone()));
        clean(&words.join(", "))
    }

    /// A name that is a file's and a test's.
    fn slug(&self) -> String {
        let c = &self.case;
        let of = [
            &*self.machine,
            &self.library,
            &c.algorithm,
            c.direction.name(),
            &c.size.to_string(),
            c.model.name(),
            c.tier.name(),
            &c.threads.to_string(),
            c.footprint.name(),
            if c.in_place { "in-place" } else { "apart" },
            &c.setting,
        ]
        .join(".");
        let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
        of.trim_end_matches('.').chars().map(plain).collect()
    }
}

/// Tables for people, one a machine, library and case.
#[must_use]
pub fn trend(lines: &[Line], options: Options) -> String {
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let title =
            format!("{}: {} of {}", clean(&line.machine), line.title(), clean(&line.library));
        out += &options.hang(&title, 2, HEADING);
        out += &table(line).text(options);
    }
    out.push('\n');
    let note = "a change is what `ciphermark compare`, with the same filters, says of a run and the one before it";
    out + &options.hang(note, 2, ASIDE)
}

fn table(line: &Line) -> Table {
    let has_bytes = line.case.model.has_bytes();
    let columns = vec![
        Column::new("day", Align::Left),
        Column::new("version", Align::Left),
        Column::new(if has_bytes { "MB/s" } else { "" }, Align::Point),
        Column::new("ns/op", Align::Point),
        Column::new("95 % interval", Align::Right).goes(1),
        Column::new("change", Align::Left),
        Column::new("record", Align::Left).goes(2),
    ];
    let row = |p: &Point| {
        let e = &p.ns_per_op;
        let (change, style) = change(p);
        vec![
            Cell::plain(p.day.clone()),
            Cell::plain(clean(&p.version)),
            Cell::number(p.mb_per_s.map(|v| supported(v, Some(e))).unwrap_or_default(), PLAIN),
            Cell::number(supported(e.median, Some(e)), PLAIN),
            Cell::new(
                format!("{} to {}", supported(e.low, Some(e)), supported(e.high, Some(e))),
                ASIDE,
            ),
            Cell::new(change, style),
            Cell::new(p.record.chars().take(super::DIGITS).collect::<String>(), ASIDE),
        ]
    };
    Table::new(columns, line.points.iter().map(row).collect())
}

fn change(p: &Point) -> (String, anstyle::Style) {
    let percent = p.ratio.map_or(0.0, |r| (r.estimate - 1.0) * 100.0);
    match p.verdict {
        Some(Verdict::Slower) => (format!("slower by {percent:.1} %"), ALARM),
        Some(Verdict::Faster) => (format!("faster by {:.1} %", -percent), GOOD),
        _ => (String::new(), PLAIN),
    }
}

/// One row a run.
#[must_use]
pub fn trend_csv(lines: &[Line]) -> String {
    const HEADING: [&str; 14] = [
        "machine",
        "library",
        "algorithm",
        "direction",
        "size_bytes",
        "tier",
        "time",
        "record",
        "version",
        "ns_per_op_median",
        "ns_per_op_low",
        "ns_per_op_high",
        "verdict",
        "ratio",
    ];
    let rows = lines.iter().flat_map(|line| {
        line.points.iter().map(move |p| {
            let (c, e) = (&line.case, &p.ns_per_op);
            let verdict = p.verdict.map(|v| serde_json::to_string(&v).unwrap_or_default());
            [
                line.machine.clone(),
                line.library.clone(),
                c.algorithm.clone(),
                c.direction.to_string(),
                c.size.to_string(),
                c.tier.to_string(),
                p.started.to_string(),
                p.record.clone(),
                p.version.clone(),
                e.median.to_string(),
                e.low.to_string(),
                e.high.to_string(),
                verdict.unwrap_or_default().trim_matches('"').to_owned(),
                p.ratio.map(|r| r.estimate.to_string()).unwrap_or_default(),
            ]
        })
    });
    base::text::csv(&HEADING, rows)
}

/// Files for Apache Otava: a CSV of each history, and `otava.yaml`, which names them as tests.
#[must_use]
pub fn otava(lines: &[Line], directory: &Path) -> Vec<(String, String)> {
    let mut yaml = "tests:\n".to_owned();
    let mut files = Vec::new();
    for line in lines {
        let name = line.slug();
        let file = format!("{name}.csv");
        let rows = line.points.iter().map(|p| {
            [
                p.started.to_string(),
                p.version.clone(),
                p.record.clone(),
                p.ns_per_op.median.to_string(),
            ]
        });
        files.push((
            file.clone(),
            base::text::csv_as_is(&["time", "version", "record", "ns"], rows),
        ));
        // JSON text is YAML text.
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        yaml += &format!(
            "  {}:\n    type: csv\n    file: {}\n    time_column: time\n    attributes: [version, record]\n    metrics:\n      \
             ns: {{column: ns, direction: -1}}\n    csv_options: {{delimiter: ','}}\n",
            quoted(&name),
            quoted(&directory.join(&file).display().to_string()),
        );
    }
    files.push(("otava.yaml".to_owned(), yaml));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::{Direction, Footprint, Model, Tier};

    fn line(machine: &str) -> Line {
        let point = |day: i64, ns: f64, verdict| Point {
            started: 1_793_491_200 + day * 86_400,
            day: format!("2026-11-0{}", day + 1),
            record: "ab".repeat(32),
            version: format!("3.{day}"),
            ns_per_op: Estimate { median: ns, low: ns * 0.99, high: ns * 1.01 },
            mb_per_s: Some(8192e3 / ns),
            verdict,
            ratio: Some(Ratio { estimate: 1.1, low: 1.09, high: 1.11, level: 0.95 }),
        };
        Line {
            machine: machine.to_owned(),
            library: "openssl".to_owned(),
            case: Case {
                algorithm: "aes-256-gcm".to_owned(),
                direction: Direction::Encrypt,
                model: Model::Message,
                size: 8192,
                tier: Tier::Native,
                threads: 1,
                footprint: Footprint::Hot,
                in_place: false,
                setting: String::new(),
            },
            points: vec![
                point(0, 600.0, None),
                point(1, 660.0, Some(Verdict::Slower)),
                point(2, 661.0, Some(Verdict::Undecided)),
            ],
        }
    }

    #[test]
    fn only_verdicts_of_a_change_are_marked() {
        let text = trend(&[line("c7i")], Options { width: 120, color: false });
        assert!(
            text.starts_with("c7i: aes-256-gcm, encrypt, 8K, message, native of openssl\n"),
            "{text}"
        );
        assert_eq!(text.matches("slower by 10.0 %").count(), 1, "{text}");
        assert!(!text.contains("undecided"), "{text}");
    }

    #[test]
    fn files_for_otava_have_a_row_a_run_and_names_that_are_files() {
        let files = otava(&[line("../c7i $(x)\n")], Path::new("history"));
        let (name, csv) = &files[0];
        assert_eq!(
            name,
            "..-c7i---x--.openssl.aes-256-gcm.encrypt.8192.message.native.1.hot.apart.csv"
        );
        assert_eq!(csv.lines().next(), Some("time,version,record,ns"));
        assert_eq!(csv.lines().count(), 4);
        let (name, yaml) = &files[1];
        assert_eq!(name, "otava.yaml");
        assert!(yaml.contains("metrics:\n      ns: {column: ns, direction: -1}"), "{yaml}");
    }

    #[test]
    fn a_row_of_csv_has_the_verdict_in_a_word() {
        let csv = trend_csv(&[line("c7i")]);
        assert_eq!(csv.lines().count(), 4);
        assert!(csv.lines().nth(2).unwrap().contains(",slower,1.1"), "{csv}");
    }
}
