//! JSON: an array of objects.

use crate::{Answer, CaseOutcome, Column, Judged, Outcome, PrintedTable, Value};
use serde_json::{Value as Json, json};

pub(super) fn claims(judged: &[Judged<'_>]) -> String {
    let one = |j: &Judged<'_>| {
        let figures = j.figures.iter().map(|(figure, answers)| {
            let here: Vec<Json> = answers.iter().map(answer).collect();
            json!({"of": figure.of, "published": figure.published, "here": here})
        });
        json!({
            "id": j.claim.id,
            "source": {
                "id": j.source.id, "author": j.source.author, "title": j.source.title,
                "published": j.source.published, "url": j.source.url, "machine": j.source.machine,
            },
            "says": j.claim.says,
            "verdict": j.verdict.words(),
            "why": j.why(),
            "parts": j.cases.iter().map(|c| case(j, c)).collect::<Vec<_>>(),
            "figures": figures.collect::<Vec<_>>(),
            "went_wrong": j.claim.went_wrong,
            "refused_by": j.claim.refused_by,
            "note": j.claim.note,
        })
    };
    written(&judged.iter().map(one).collect())
}

fn case(judged: &Judged<'_>, case: &CaseOutcome) -> Json {
    let (outcome, missing) = match &case.outcome {
        Outcome::Holds => ("holds", None),
        Outcome::Fails => ("does not hold", None),
        Outcome::Undecided => ("undecided", None),
        Outcome::Missing(why) => ("missing", Some(why)),
    };
    let says = &judged.claim.parts[case.part].says;
    json!({"says": says, "library": case.library, "outcome": outcome, "missing": missing})
}

fn answer(answer: &Answer) -> Json {
    let mut json = match &answer.value {
        Ok(value) => number(*value),
        Err(missing) => json!({"missing": missing}),
    };
    json["library"] = Json::from(answer.library.as_str());
    json
}

fn number(value: Value) -> Json {
    match value {
        Value::Number(i, unit) => {
            json!({"value": i.mid, "low": i.low, "high": i.high, "unit": unit.symbol()})
        }
        Value::Truth(truth) => json!({"value": truth}),
    }
}

pub(super) fn table(table: &PrintedTable) -> String {
    let mut rows = Vec::new();
    for group in &table.groups {
        for line in &group.lines {
            for (column, cell) in table.columns.iter().zip(&line.cells) {
                let Some(value) = cell else { continue };
                let mut row = number(*value);
                row["label"] = Json::from(group.label.as_str());
                row["algorithm"] = Json::from(group.algorithm.as_str());
                row["direction"] = Json::from(group.direction.name());
                row["tier"] = Json::from(group.tier.name());
                row["who"] = Json::from(line.who.as_str());
                row["is_limit"] = Json::from(*column == Column::Limit);
                row["size"] = match column {
                    Column::Size(size) => Json::from(*size),
                    _ if line.who == "published" => Json::Null,
                    _ => Json::from(table.size_here),
                };
                row["impossible_here"] =
                    Json::from(group.impossible_here && line.who == "published");
                rows.push(row);
            }
        }
    }
    written(&rows.into())
}

fn written(value: &Json) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data always serialises");
    text.push('\n');
    text
}
