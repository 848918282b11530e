//! CSV: one row a figure.

use super::cells;
use crate::claims::expression::Value;
use crate::claims::{Column, Judged, PrintedTable};

const CLAIMS: [&str; 13] = [
    "source",
    "id",
    "says",
    "verdict",
    "why",
    "of",
    "published",
    "library",
    "here",
    "low",
    "high",
    "unit",
    "missing",
];

const TABLE: [&str; 10] =
    ["label", "algorithm", "direction", "tier", "who", "size", "value", "low", "high", "unit"];

pub(super) fn claims(judged: &[Judged<'_>]) -> String {
    let mut rows = Vec::new();
    for one in judged {
        let head = [
            one.source.id.clone(),
            one.claim.id.clone(),
            one.claim.says.clone(),
            one.verdict.words().to_owned(),
            one.why(),
        ];
        if one.figures.is_empty() {
            rows.push([&head[..], &vec![String::new(); 8]].concat());
        }
        for (figure, answers) in &one.figures {
            for answer in answers {
                let published = figure.published.clone().unwrap_or_default();
                let about = [figure.of.clone(), published, answer.library.clone()];
                let missing = answer.value.as_ref().err().cloned().unwrap_or_default();
                let value = numbers(answer.value.as_ref().ok());
                rows.push([&head[..], &about, &value, &[missing]].concat());
            }
        }
    }
    base::text::csv(&CLAIMS, rows)
}

/// Value, lower and upper end, unit.
fn numbers(value: Option<&Value>) -> [String; 4] {
    match value {
        Some(Value::Number(i, unit)) => {
            [i.median.to_string(), i.low.to_string(), i.high.to_string(), unit.symbol().to_owned()]
        }
        Some(other) => [other.to_string(), String::new(), String::new(), String::new()],
        None => [const { String::new() }; 4],
    }
}

pub(super) fn table(table: &PrintedTable) -> String {
    let rows = cells(table).map(|cell| {
        let is_limit = cell.column == Column::Limit;
        let head = [
            cell.group.label.clone(),
            cell.group.algorithm.clone(),
            cell.group.direction.to_string(),
            cell.group.tier.to_string(),
            if is_limit { "limit of this core".to_owned() } else { cell.line.who.clone() },
            cell.size.map(|s| s.to_string()).unwrap_or_default(),
        ];
        [&head[..], &numbers(Some(&cell.value))].concat()
    });
    base::text::csv(&TABLE, rows)
}
