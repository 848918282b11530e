use super::*;
use crate::sample;
use crate::text::width;
use compare::{Class, Per, Question};
use model::{NameGlob, RawSample};
use record::{Record, State};

/// The sample record with raw samples; two libraries of the same speed in one algorithm.
fn record() -> Record {
    let mut record = sample::record();
    record.host.clock.ticks_per_second = 1e9;
    for m in record.measurements.iter_mut().filter(|m| m.state == State::Measured) {
        let ns = m.ns_per_op.unwrap().median;
        let ns = if m.algorithm == "aes-128-ctr" { 1000.0 } else { ns };
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

fn asked(record: &Record, questions: &[Question]) -> Vec<Ranking> {
    questions.iter().map(|q| compare::rank(record, q, 10).unwrap()).collect()
}

fn questions() -> [Question; 3] {
    let authenticated = Question { class: Some(Class::Authenticated), ..Question::default() };
    [
        Question { size: Some(8192), ..Question::default() },
        Question { per: Some(Per::Library), ..authenticated.clone() },
        Question { per: Some(Per::Size), ..authenticated },
    ]
}

#[test]
fn answers_with_ties_labels_and_refused_cases() {
    let answers = asked(&record(), &questions());
    let options = Options { width: 110, color: false };
    insta::assert_snapshot!(rankings(&answers, ComparisonFormat::Text, options));
}

#[test]
fn answers_as_markdown() {
    let answers = asked(&record(), &questions());
    insta::assert_snapshot!(rankings(&answers, ComparisonFormat::Markdown, Options::default()));
}

#[test]
fn an_answer_with_old_and_new_releases_says_so() {
    let mut record = record();
    for m in record.measurements.iter_mut().filter(|m| m.library.name == "libgcrypt") {
        m.library.name = "wolfssl".to_owned();
        m.library.version = "5.9.4".to_owned();
    }
    let said = |record: &Record, format| {
        rankings(&asked(record, &questions()[..1]), format, Options { width: 300, color: false })
    };
    for format in [ComparisonFormat::Text, ComparisonFormat::Markdown] {
        assert!(
            said(&record, format).contains("openssl@3.0.22 2021-09"),
            "{}",
            said(&record, format)
        );
        assert!(!said(&self::record(), format).contains("releases of different years"));
    }
}

#[test]
fn every_width_holds_every_line() {
    let answers = asked(&record(), &questions());
    for columns in 60..200 {
        let options = Options { width: columns, color: false };
        let text = rankings(&answers, ComparisonFormat::Text, options);
        let widest: Vec<&str> = text.lines().filter(|l| width(l) > columns).collect();
        assert!(widest.is_empty(), "{columns}: {widest:?}");
    }
}

#[test]
fn the_best_and_its_ties_are_told_without_colours() {
    let algorithms = vec![NameGlob::parse("aes-128-ctr").unwrap()];
    let answers = asked(&record(), &[Question { algorithms, ..Question::default() }]);
    let text = rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: false });
    assert_eq!(text.lines().filter(|l| l.starts_with("1=")).count(), 2, "{text}");
    let painted = rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: true });
    assert!(painted.contains("\u{1b}[32m1=\u{1b}[0m"), "{painted:?}");
}

#[test]
fn hostile_names_stay_text() {
    let mut record = record();
    let hostile = "=1+1|\u{1b}[2J\n<script>";
    for m in &mut record.measurements {
        m.library.name = hostile.to_owned();
        m.reason = m.reason.as_ref().map(|_| hostile.to_owned());
    }
    let answers = asked(&record, &questions()[..2]);
    let all = |format| rankings(&answers, format, Options::default());
    let text = all(ComparisonFormat::Text);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(!all(ComparisonFormat::Markdown).contains("<script>"));
    let csv = all(ComparisonFormat::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    for row in reader.records() {
        assert!(row.unwrap().iter().all(|cell| !cell.starts_with('=')));
    }
    let json: serde_json::Value = serde_json::from_str(&all(ComparisonFormat::Json)).unwrap();
    assert_eq!(json[0]["standings"][0]["rows"][0]["library"]["name"], hostile);
}
