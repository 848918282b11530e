//! Answers for programs.

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
    let standings = answers.iter().flat_map(|answer| {
        answer.standings.iter().map(move |standing| (&answer.terms.sentence, standing))
    });
    let rows = standings.flat_map(|(sentence, standing)| {
        let group = standing.group.as_deref().unwrap_or_default();
        standing.rows.iter().map(move |ranked| row(sentence, group, ranked))
    });
    crate::csv(&COLUMNS, rows)
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
