//! CSV: one row a figure.

use crate::{Column, Judged, PrintedTable, Value};

pub(super) fn claims(judged: &[Judged<'_>]) -> String {
    let mut rows = vec![
        [
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
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
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
                let value = numbers(answer.value.as_ref().ok().copied());
                rows.push([&head[..], &about, &value, &[missing]].concat());
            }
        }
    }
    written(rows)
}

/// Value, lower and upper end, unit.
fn numbers(value: Option<Value>) -> [String; 4] {
    match value {
        Some(Value::Number(i, unit)) => {
            [i.mid.to_string(), i.low.to_string(), i.high.to_string(), unit.symbol().to_owned()]
        }
        Some(truth) => [truth.to_string(), String::new(), String::new(), String::new()],
        None => [const { String::new() }; 4],
    }
}

pub(super) fn table(table: &PrintedTable) -> String {
    let mut rows = vec![
        ["label", "algorithm", "direction", "tier", "who", "size", "value", "low", "high", "unit"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for group in &table.groups {
        for line in &group.lines {
            for (column, cell) in table.columns.iter().zip(&line.cells) {
                let Some(value) = cell else { continue };
                let size = match column {
                    Column::Size(size) => Some(*size),
                    _ if line.who == "published" => None,
                    _ => table.size_here,
                };
                let of = if *column == Column::Limit { "limit of this core" } else { &line.who };
                let head = [
                    group.label.clone(),
                    group.algorithm.clone(),
                    group.direction.to_string(),
                    group.tier.to_string(),
                    of.to_owned(),
                    size.map(|s| s.to_string()).unwrap_or_default(),
                ];
                rows.push([&head[..], &numbers(Some(*value))].concat());
            }
        }
    }
    written(rows)
}

fn written(mut rows: Vec<Vec<String>>) -> String {
    let heading = rows.remove(0);
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    text::csv(&heading, rows)
}
