use super::*;
use crate::sample;
use crate::text::width;
use compare::{Condition, Matching, Settings, Side};
use model::RawSample;
use record::{Measurement, Record, State};

const SETTINGS: Settings =
    Settings { tolerance: 0.005, matching: Matching::ByName, tiers_differ: false };

/// The sample record with raw samples, at so many times the costs.
fn record(started: &str, factor: impl Fn(&Measurement) -> f64) -> Record {
    let mut record = sample::record();
    record.started = started.to_owned();
    record.host.clock.ticks_per_second = 1e9;
    for m in record.measurements.iter_mut().filter(|m| m.state == State::Measured) {
        let ns = m.ns_per_op.unwrap().median * factor(m);
        for process in 0..12 {
            let scatter = 1.0 + 0.001 * f64::from(process % 3);
            let sample = RawSample {
                process,
                ops: 1000,
                ticks: (ns * 1000.0 * scatter).round() as u64,
                clock_before: 3.0,
                clock_after: 3.0,
                ..RawSample::default()
            };
            (0..5).for_each(|_| m.raw.push(&sample, true));
        }
    }
    record
}

fn before() -> Record {
    let mut before = record("2026-11-20T12:00:00Z", |_| 1.0);
    before.executed = vec![sample::executed()];
    before
}

/// One algorithm is slower, one faster, one refused, one gone.
fn after() -> Record {
    let mut after = record("2026-11-21T12:00:00Z", |m| match m.algorithm.as_str() {
        "aes-128-gcm" if m.size >= 8192 => 1.1,
        "aes-128-ctr" => 0.5,
        _ => 1.0005,
    });
    after.executed = vec![sample::executed()];
    after.executed[0].per_byte = Some(0.26);
    // Other builds, but for the baselines: what a run adds is learned from those that are the same.
    let rebuilt = |id: &mut record::LibraryId| {
        if id.name != "baselines" {
            id.id = id.id.replace("001122", "ffeedd");
        }
    };
    after.measurements.iter_mut().for_each(|m| rebuilt(&mut m.library));
    after.executed.iter_mut().for_each(|e| rebuilt(&mut e.library));
    for m in after.measurements.iter_mut().filter(|m| m.algorithm == "aes-128-ecb") {
        *m = Measurement {
            state: State::Refused,
            reason: Some("round trip: byte 3 differs".to_owned()),
            ns_per_op: None,
            raw: record::Samples::default(),
            ..m.clone()
        };
    }
    after.measurements.retain(|m| m.algorithm != "xxh3-64");
    after
}

fn side(record: &Record) -> Side<'_> {
    Side { record, name: "run.json".to_owned(), rows: record.measurements.iter().collect() }
}

fn held(base: &Record, new: &Record) -> (Comparison, Vec<Found>) {
    let comparison = compare::compare(&side(base), &side(new), &SETTINGS);
    let conditions = ["slower:2%", "refused", "instructions:0.5%"];
    let found = conditions.iter().filter_map(|c| c.parse::<Condition>().unwrap().find(&comparison));
    let found = found.collect();
    (comparison, found)
}

fn written(format: ComparisonFormat, width: usize) -> String {
    let (c, found) = held(&before(), &after());
    comparison(&c, &found, format, 5, Options { width, color: false })
}

#[test]
fn a_comparison_with_every_verdict_for_a_terminal() {
    insta::assert_snapshot!(written(ComparisonFormat::Text, 110));
}

#[test]
fn a_comparison_for_a_pull_request() {
    insta::assert_snapshot!(written(ComparisonFormat::Markdown, 110));
}

#[test]
fn every_width_holds_every_line() {
    for columns in 56..200 {
        let text = written(ComparisonFormat::Text, columns);
        let widest = text.lines().map(width).max().unwrap();
        assert!(widest <= columns, "{widest} > {columns}\n{text}");
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    let (c, found) = held(&before(), &after());
    let at =
        |color| comparison(&c, &found, ComparisonFormat::Text, 5, Options { width: 90, color });
    let painted = at(true);
    let mut parts = painted.split('\u{1b}');
    let mut plain = parts.next().unwrap().to_owned();
    parts.for_each(|part| plain += part.split_once('m').unwrap().1);
    assert_ne!(painted, plain);
    assert_eq!(plain, at(false));
}

#[test]
fn json_has_everything_and_csv_one_row_a_case() {
    let json: serde_json::Value =
        serde_json::from_str(&written(ComparisonFormat::Json, 80)).unwrap();
    assert_eq!(json["failed"][0]["condition"], "slower:2%");
    assert_eq!(json["tally"]["slower"], 8);
    let cases = json["cases"].as_array().unwrap();
    assert!(cases.iter().all(|c| c["ratio"]["low"].is_number()), "{}", cases[0]);
    let csv = written(ComparisonFormat::Csv, 80);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headers = reader.headers().unwrap().clone();
    assert!(headers.iter().any(|h| h == "new_cycles_per_op"), "{headers:?}");
    let verdict = headers.iter().position(|h| h == "verdict").unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let count = |word: &str| rows.iter().filter(|r| &r[verdict] == word).count();
    assert_eq!((count("slower"), count("broken"), count("only-in-base")), (8, 7, 4));
    let lists = ["cases", "states", "only"].map(|l| json[l].as_array().unwrap().len());
    assert_eq!(rows.len(), lists.iter().sum::<usize>());
}

#[test]
fn hostile_names_stay_text_in_every_format() {
    let hostile = "=1+1|\u{1b}[2J\n</summary><script>`x`";
    let (mut base, mut new) = (before(), after());
    for record in [&mut base, &mut new] {
        for m in &mut record.measurements {
            m.library.name = hostile.to_owned();
            m.reason = m.reason.as_ref().map(|_| hostile.to_owned());
        }
        record.host.cpu.name = hostile.to_owned();
    }
    new.host.kernel.release = hostile.to_owned();
    let (c, found) = held(&base, &new);
    let all = |format| comparison(&c, &found, format, usize::MAX, Options::default());
    let text = all(ComparisonFormat::Text);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    let markdown = all(ComparisonFormat::Markdown);
    assert!(!markdown.contains("<script>") && !markdown.contains("</summary><"), "{markdown}");
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = markdown.lines().collect();
    let rows = lines.windows(2).filter(|w| w[0].starts_with('|') && w[1].starts_with('|'));
    rows.for_each(|w| assert_eq!(bars(w[0]), bars(w[1]), "{w:?}"));
    let csv = all(ComparisonFormat::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    for row in reader.records() {
        let row = row.unwrap();
        assert!(row.iter().all(|cell| !cell.starts_with('=')), "{row:?}");
    }
}
