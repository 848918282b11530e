//! Answers for programs.

use judge::compare::{Ranked, Ranking};

pub(super) fn json(answers: &[Ranking]) -> String {
    serde_json::to_string_pretty(answers).expect("plain data always serialises") + "\n"
}

/// A ranked case with the question and the group that it is ranked in.
struct Row<'a> {
    question: &'a str,
    group: &'a str,
    r: &'a Ranked,
}

/// A column's name and what it holds of a row.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 24] = [
    ("question", |row| row.question.to_owned()),
    ("group", |row| row.group.to_owned()),
    ("place", |row| row.r.place.to_string()),
    ("last_place", |row| row.r.last_place.to_string()),
    ("library_name", |row| row.r.library.name.clone()),
    ("library_version", |row| row.r.library.version.clone()),
    ("library_id", |row| row.r.library.id.clone()),
    ("algorithm", |row| row.r.case.algorithm.clone()),
    ("direction", |row| row.r.case.direction.to_string()),
    ("model", |row| row.r.case.model.to_string()),
    ("size_bytes", |row| row.r.case.size.to_string()),
    ("tier", |row| row.r.case.tier.to_string()),
    ("threads", |row| row.r.case.threads.to_string()),
    ("footprint", |row| row.r.case.footprint.to_string()),
    ("in_place", |row| row.r.case.in_place.to_string()),
    ("label", |row| row.r.label.clone().unwrap_or_default()),
    ("mb_per_s", |row| number(row.r.mb_per_s)),
    ("ns_per_op", |row| number(row.r.ns_per_op.map(|e| e.median))),
    ("cycles_per_op", |row| number(row.r.cycles_per_op.map(|e| e.median))),
    ("instructions_per_op", |row| number(row.r.instructions_per_op)),
    ("limit_fraction", |row| number(row.r.limit_fraction)),
    ("cost_over_first", |row| number(row.r.behind.map(|b| b.estimate))),
    ("setting", |row| row.r.case.setting.clone()),
    ("leaks", |row| row.r.leaks.map(|v| v.name().to_owned()).unwrap_or_default()),
];

fn number(value: Option<f64>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// One row a ranked case.
pub(super) fn csv(answers: &[Ranking]) -> String {
    let standings = answers.iter().flat_map(|a| a.standings.iter().map(move |s| (a, s)));
    let rows = standings.flat_map(|(answer, s)| {
        let (question, group) = (&*answer.terms.sentence, s.group.as_deref().unwrap_or_default());
        s.rows.iter().map(move |r| Row { question, group, r })
    });
    base::text::csv(&COLUMNS.map(|(name, _)| name), rows.map(|row| COLUMNS.map(|(_, of)| of(&row))))
}
