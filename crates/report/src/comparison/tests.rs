use super::*;
use crate::sample;
use judge::compare::{Condition, Matching, Settings, Side};
use record::{Measurement, Record, State};

const SETTINGS: Settings = Settings {
    tolerance: 0.005,
    matching: Matching::ByName,
    apart: judge::compare::Apart::Nothing,
};

fn record(started: &str, factor: impl Fn(&Measurement) -> f64) -> Record {
    let record = sample::with_samples(|m, ns| ns * factor(m));
    Record { started: started.to_owned(), ..record }
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
    let comparison = judge::compare::compare(&side(base), &side(new), &SETTINGS);
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
fn a_printed_interval_shows_the_decision_that_it_was_made_by() {
    let ratio = |low, estimate, high| base::analysis::Ratio { estimate, low, high, level: 0.95 };
    let shown = |r, tolerance| {
        let [change, interval, _] = words::of_ratio(r, tolerance);
        format!("{change}, {interval}")
    };
    let usual = ratio(1.01, 1.04, 1.07);
    assert_eq!(shown(usual, Some(0.005)), "+4, +1 to +7");
    assert_eq!(shown(ratio(1.002, 1.04, 1.07), Some(0.005)), "+4, +0.2 to +7.0");
    assert_eq!(shown(ratio(0.93, 0.96, 0.9996), Some(0.005)), "-4, -7.00 to -0.04");
    assert_eq!(shown(ratio(0.998, 1.04, 1.07), Some(0.005)), "+4, -0.2 to +7.0");
    // Beyond a tolerance of 4 %, and within one of 5 %.
    assert_eq!(shown(ratio(1.02, 1.042, 1.07), Some(0.04)), "+4.2, +2 to +7");
    assert_eq!(shown(ratio(0.99, 1.01, 1.0496), Some(0.05)), "+1, -1.00 to +4.96");
    // Undecided: nothing hangs on the estimate's sign.
    assert_eq!(shown(ratio(0.97, 1.001, 1.03), None), "0, -3 to +3");
}

#[test]
fn intervals_of_another_level_than_95_per_cent_say_so() {
    let by_pairs = base::analysis::Ratio { estimate: 1.04, low: 1.03, high: 1.05, level: 0.999_97 };
    let (mut c, _) = held(&before(), &after());
    let index =
        c.cases.iter().position(|case| case.verdict == base::analysis::Verdict::Slower).unwrap();
    let told = judge::compare::Told { ratio: Some(by_pairs), pairs: 192, seconds: 1.0 };
    c.settle(index, base::analysis::Verdict::Slower, told);
    c.sum_up(Matching::ByName, judge::compare::Confirmation::default());
    let all = |format| comparison(&c, &[], format, 50, Options { width: 160, color: false });
    for format in [ComparisonFormat::Text, ComparisonFormat::Markdown] {
        let text = all(format);
        assert!(text.contains("+3 to +5 (99.997 %)"), "{text}");
        // Beside it in the same table, and alone in another one.
        assert!(text.contains(" (95 %)") && text.contains("95 % interval"), "{text}");
    }
    assert!(all(ComparisonFormat::Csv).contains(",0.99997,"));
    assert!(all(ComparisonFormat::Json).contains("\"level\": 0.99997"));
    assert_eq!(change_of_pairs(by_pairs, 0.01), "+4.00 % (+3.00 to +5.00 at 99.997 %)");
    let near = base::analysis::Ratio { low: 1.000_02, ..by_pairs };
    assert_eq!(change_of_pairs(near, 0.01), "+4.00 % (+0.002 to +5.000 at 99.997 %)");
}

#[test]
fn the_answer_to_a_question_says_undecided_where_it_is_not_equal() {
    let (mut c, _) = held(&before(), &after());
    let [base, new] = ["aes-128-gcm", "aes-256-gcm"].map(str::to_owned);
    c.between = Some(judge::compare::Between { what: "algorithm", base, new });
    let mut said = |low: f64, high: f64| {
        let level = 0.95;
        c.overall[0].ratio =
            Some(base::analysis::Ratio { estimate: 1.0f64.midpoint(high), low, high, level });
        words::answer(&c).unwrap()
    };
    let sure = said(1.14, 1.19);
    assert!(
        sure.starts_with("aes-256-gcm takes +9 % (+14 to +19 at 95 %) over aes-128-gcm; "),
        "{sure}"
    );
    assert!(said(0.98, 1.03).contains("aes-128-gcm: undecided, the interval has 0 in it; "));
    assert!(said(0.999, 1.001).contains("aes-128-gcm: the same; "));
}
