//! Answers for programs.

use crate::csv_text::unformula;
use compare::{Ranked, Ranking};

pub(super) fn json(answers: &[Ranking]) -> String {
    serde_json::to_string_pretty(answers).expect("plain data always serialises") + "\n"
}

const COLUMNS: [&str; 22] = [
    "question",
    "group",
    "place",
    "tied",
    "library_name",
    "library_version",
    "library_id",
    "algorithm",
    "direction",
    "model",
    "size_bytes",
    "tier",
    "threads",
    "footprint",
    "in_place",
    "label",
    "mb_per_s",
    "ns_per_op",
    "cycles_per_op",
    "instructions_per_op",
    "limit_fraction",
    "cost_over_first",
];

/// One row a ranked case.
pub(super) fn csv(answers: &[Ranking]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).expect("writing into memory");
    for answer in answers {
        for standing in &answer.standings {
            for r in &standing.rows {
                let group = standing.group.as_deref().unwrap_or_default();
                let cells = row(&answer.terms.sentence, group, r);
                writer.write_record(cells.map(|c| unformula(&c))).expect("writing into memory");
            }
        }
    }
    let bytes = writer.into_inner().expect("writing into memory");
    String::from_utf8(bytes).expect("fields are text")
}

fn row(question: &str, group: &str, r: &Ranked) -> [String; COLUMNS.len()] {
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    [
        question.to_owned(),
        group.to_owned(),
        r.place.to_string(),
        r.tied.to_string(),
        r.library.name.clone(),
        r.library.version.clone(),
        r.library.id.clone(),
        r.case.algorithm.clone(),
        r.case.direction.to_string(),
        r.case.model.to_string(),
        r.case.size.to_string(),
        r.case.tier.to_string(),
        r.case.threads.to_string(),
        r.case.footprint.to_string(),
        r.case.in_place.to_string(),
        r.label.clone().unwrap_or_default(),
        number(r.mb_per_s),
        number(r.ns_per_op.map(|e| e.median)),
        number(r.cycles_per_op.map(|e| e.median)),
        number(r.instructions_per_op),
        number(r.limit_fraction),
        number(r.behind.map(|b| b.estimate)),
    ]
}
