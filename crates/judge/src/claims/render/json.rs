//! JSON: an array of objects.

use super::{Cell, cells};
use crate::claims::expression::Value;
use crate::claims::printed::PUBLISHED;
use crate::claims::{Answer, CaseOutcome, Column, Judged, Outcome, PrintedTable};
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
        Ok(value) => number(value),
        Err(missing) => json!({"missing": missing}),
    };
    json["library"] = Json::from(answer.library.as_str());
    json
}

fn number(value: &Value) -> Json {
    match value {
        Value::Number(i, unit) => {
            json!({"value": i.median, "low": i.low, "high": i.high, "unit": unit.symbol()})
        }
        Value::Truth(truth) => json!({"value": truth}),
        word => json!({"value": word.to_string()}),
    }
}

pub(super) fn table(table: &PrintedTable) -> String {
    let rows = cells(table).map(|Cell { group, line, column, size, value }| {
        let mut row = json!({
            "label": group.label, "algorithm": group.algorithm,
            "direction": group.direction.name(), "tier": group.tier.name(),
            "who": line.who, "is_limit": column == Column::Limit, "size": size,
            "impossible_here": group.impossible_here && line.who == PUBLISHED,
        });
        if let (Json::Object(row), Json::Object(value)) = (&mut row, number(&value)) {
            row.extend(value);
        }
        row
    });
    written(&rows.collect())
}

fn written(value: &Json) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data always serialises");
    text.push('\n');
    text
}
