use super::*;
use crate::sample;
use base::model::NameGlob;
use judge::compare::{Class, Per, Question};
use record::Record;

/// Two libraries of the same speed in one algorithm.
fn record() -> Record {
    sample::with_samples(|m, ns| if m.algorithm == "aes-128-ctr" { 1000.0 } else { ns })
}

fn asked(record: &Record, questions: &[Question]) -> Vec<Ranking> {
    questions.iter().map(|q| judge::compare::rank(record, q, 10).unwrap()).collect()
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
fn the_best_and_its_ties_are_told_without_colours() {
    let algorithms = vec![NameGlob::parse("aes-128-ctr").unwrap()];
    let answers = asked(&record(), &[Question { algorithms, ..Question::default() }]);
    let text = rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: false });
    assert_eq!(text.lines().filter(|l| l.starts_with("1–2")).count(), 2, "{text}");
    let painted = rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: true });
    assert!(painted.contains("\u{1b}[32m1–2\u{1b}[0m"), "{painted:?}");
}
