//! What must be respected with a choice; and, without one, which wishes stand against each other.

use super::{Conflict, Key, Remark, terms};
use crate::change;
use crate::cost::Costs;
use crate::data::Data;
use crate::evaluate::Candidate;
use crate::limits;
use crate::question::Question;
use jiff::Span;

/// Longest use of a key for encryption that NIST SP 800-57 Part 1 Rev. 5 §5.3.6 suggests.
const YEARS: i64 = 2;

pub(super) fn of(data: &Data, question: &Question<'_>, chosen: &Candidate<'_>) -> Vec<Remark> {
    let title = |id: &str| data.title(id).to_owned();
    let by_rule = data.rules.iter().filter(|r| r.notes(&chosen.values)).map(|r| {
        let about = r.about(&chosen.values);
        let says = if about.is_empty() { r.says.clone() } else { format!("{} ({about})", r.says) };
        Remark { rule: Some(r.id.clone()), says, source: title(&r.source) }
    });
    let of_use = question.used.notes.iter().map(|n| Remark {
        rule: None,
        says: n.says.clone(),
        source: title(&n.source),
    });
    by_rule.chain(of_use).collect()
}

pub(super) fn key(data: &Data, question: &Question<'_>, chosen: &Candidate<'_>) -> Key {
    let born = question.key_born;
    let rate = question.wishes.writes_per_key();
    let worn_out = limits::days(&chosen.limit, rate)
        .and_then(|days| born.checked_add(Span::new().days(days.floor() as i64)).ok());
    let too_old = born.checked_add(Span::new().years(YEARS)).ok();
    Key {
        born,
        limit: chosen.limit.says.clone(),
        units_log2: chosen.limit.log2,
        writes_per_second: rate,
        worn_out,
        too_old,
        rotate_by: worn_out.into_iter().chain(too_old).min(),
        source: data.source(&chosen.limit.source).map(|s| s.title.clone()).unwrap_or_default(),
    }
}

pub(super) fn conflict(data: &Data, question: &Question<'_>, costs: &Costs) -> Conflict {
    let names = change::conflict(data, question, costs);
    let terms = terms::of(question);
    let typed = |name: &&str| match terms.iter().find(|term| term.flag == *name) {
        Some(term) => format!("--{name} {}", term.value),
        None => format!("--{name}"),
    };
    Conflict { flags: names.iter().map(typed).collect() }
}
