use super::*;
use crate::load::inputs::Inputs;
use crate::load::load::load;
use crate::load::sample::{calibration, is_documented};
use crate::load::spec::{ClientShare, Spec};
use crate::load::why::{Question, why};

fn sample() -> Load {
    let mut calibration = calibration();
    calibration.stack.label = "evil|stack\u{1b}[31m".to_owned();
    let mut spec = Spec::default();
    spec.traffic.connections_per_s = 50.0;
    spec.resumption.share = 0.2;
    spec.clients = vec![ClientShare::of("go-1.17", 0.9), ClientShare::of("tls-1.0", 0.1)];
    load(&spec, &Inputs { calibration: &calibration, records: None, parts: None }, true).unwrap()
}

fn rendered(format: Format) -> String {
    render_load(&sample(), format, Options { width: 90, color: false })
}

#[test]
fn every_term_its_interval_source_and_share_stand_in_the_table() {
    let text = rendered(Format::Table);
    let words = [
        "% of a core",
        "x25519, rsa-2048",
        "refused: no version",
        "calibrated",
        "most connections",
        "ECDSA",
    ];
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(text.lines().all(|l| base::text::width(l) <= 90), "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn strangers_text_breaks_no_markdown_and_csv_has_a_row_for_each_term() {
    let text = rendered(Format::Markdown);
    assert!(text.contains("evil\\|stack"), "{text}");
    let mut reader = csv::Reader::from_reader(rendered(Format::Csv).into_bytes().leak() as &[u8]);
    assert_eq!(reader.records().count(), sample().terms.len());
}

#[test]
fn json_is_the_document() {
    let back: Load = serde_json::from_str(&rendered(Format::Json)).unwrap();
    assert_eq!(back, sample());
}

#[test]
fn an_answer_says_what_it_cannot_decide_and_what_would() {
    let calibration = calibration();
    let question = Question {
        from_percent: (0.5, 0.5),
        to_percent: (2.5, 2.5),
        slower: (1.0, 2.0),
        spec: Some(Spec::default()),
        spec_is_before: false,
        most_mbit_per_s: None,
    };
    let found =
        why(&question, &Inputs { calibration: &calibration, records: None, parts: None }).unwrap();
    let of = |format| crate::load::render_why(&found, format, Options { width: 120, color: false });
    let text = of(Format::Table);
    for word in ["$ssl_session_reused", "A rise of 2.00 %", "1.00 … 2.00", "Mbit"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(text.lines().all(|l| base::text::width(l) <= 120), "{text}");
    let back: crate::load::Why = serde_json::from_str(&of(Format::Json)).unwrap();
    assert_eq!(back, found);
    assert!(of(Format::Csv).lines().count() > 20 && of(Format::Markdown).contains("| --- |"));
}

#[test]
fn the_schemas_in_the_documentation_are_those_of_the_types() {
    is_documented::<Load>("tls-load");
    is_documented::<crate::load::Why>("tls-why");
    is_documented::<crate::load::Calibration>("tls-calibration");
    is_documented::<crate::load::Validation>("tls-validation");
    is_documented::<Spec>("tls-load-spec");
}
