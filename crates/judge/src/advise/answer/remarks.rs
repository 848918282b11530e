//! What must be respected with a choice; and, without one, which wishes stand against each other.

use super::{Conflict, Key, Longer, Remark, terms};
use crate::advise::change;
use crate::advise::cost::Costs;
use crate::advise::data::Data;
use crate::advise::evaluate::Candidate;
use crate::advise::limits::{self, Limit};
use crate::advise::question::{KeyPer, NonceSource, Question, Wishes};
use crate::advise::schemes::NonceRule;
use jiff::Span;
use jiff::civil::Date;

/// Longest use of a key for encryption that NIST SP 800-57 Part 1 Rev. 5 §5.3.6 suggests.
const YEARS: i64 = 2;

pub(super) fn of(data: &Data, question: &Question<'_>, chosen: &Candidate<'_>) -> Vec<Remark> {
    let title = |id: &str| data.title(id).to_owned();
    let by_rule = data.rules.iter().filter(|r| r.notes(&chosen.values)).map(|r| {
        let about = r.about(&chosen.values);
        let says = if about.is_empty() { r.says.clone() } else { format!("{} ({about})", r.says) };
        (r.rank, Remark { rule: Some(r.id.clone()), says, source: title(&r.source) })
    });
    let of_use = question.used.notes.iter().map(|n| {
        let remark = Remark { rule: None, says: n.says.clone(), source: title(&n.source) };
        (n.rank, remark)
    });
    let mut all: Vec<(u8, Remark)> = by_rule.chain(of_use).collect();
    all.sort_by_key(|(rank, _)| *rank);
    all.into_iter().map(|(_, remark)| remark).collect()
}

pub(super) fn key(data: &Data, question: &Question<'_>, chosen: &Candidate<'_>) -> Key {
    let born = question.key_born;
    let worn_out = worn_out_on(&chosen.limit, question);
    let too_old = born.checked_add(Span::new().years(YEARS)).ok();
    let title = |id: &str| data.source(id).map(|s| s.title.clone()).unwrap_or_default();
    let forgeries = limits::forgeries(chosen.scheme, question);
    Key {
        born,
        limit: chosen.limit.says.clone(),
        units_log2: chosen.limit.log2,
        writes_per_second: question.wishes.writes_per_key(),
        writers: question.wishes.writers(),
        worn_out,
        too_old,
        rotate_by: worn_out.into_iter().chain(too_old).min(),
        source: title(&chosen.limit.source),
        forgeries: forgeries.map(|l| format!("{} [{}]", l.says, title(&l.source))),
        longer: longer(question, chosen, worn_out, too_old),
    }
}

fn worn_out_on(limit: &Limit, question: &Question<'_>) -> Option<Date> {
    let days = limits::days(limit, question)?;
    question.key_born.checked_add(Span::new().days(days.floor() as i64)).ok()
}

/// Life that more keys are to give.
const PLANNED_DAYS: f64 = 90.0;

/// What lets the key of the same scheme last longer: more keys, a key for each epoch, nonces that are
/// told apart by starts. Each only where it fits the room and helps.
fn longer(
    question: &Question<'_>,
    chosen: &Candidate<'_>,
    worn_out: Option<Date>,
    too_old: Option<Date>,
) -> Vec<Longer> {
    let (Some(worn_out), Some(too_old)) = (worn_out, too_old) else { return Vec::new() };
    let scheme = chosen.scheme;
    let mut found = Vec::new();
    let mut try_with = |flags: &[String], change: &dyn Fn(&mut Wishes)| {
        let mut other = question.clone();
        change(&mut other.wishes);
        let room = other.wishes.expansion.unwrap_or(u32::MAX);
        let limit = limits::units_per_key(scheme, &other);
        let then = worn_out_on(&limit, &other).into_iter().chain([too_old]).min();
        if let Some(rotate_by) = then.filter(|day| *day > worn_out)
            && limits::stored_bytes(scheme, &other) <= room
        {
            found.push(Longer { flags: flags.to_vec(), rotate_by });
        }
    };
    let life = limits::days(&chosen.limit, question).unwrap_or(PLANNED_DAYS);
    let enough = (1..=4).map(|n| 10_u32.pow(n)).find(|n| life * f64::from(*n) >= PLANNED_DAYS);
    if let (true, Some(times)) = (worn_out < too_old, enough) {
        let keys = question.wishes.keys.saturating_mul(times);
        let mut flags = vec![format!("--keys {keys}")];
        if life < PLANNED_DAYS {
            flags.push(format!("--key-life {PLANNED_DAYS}d"));
        }
        try_with(&flags, &|w| w.keys = keys);
        try_with(&["--key-per epoch".to_owned()], &|w| w.key_per = KeyPer::Epoch);
        if scheme.family.nonce == NonceRule::Unique && question.wishes.nonce == NonceSource::Random
        {
            try_with(&["--nonce start".to_owned()], &|w| w.nonce = NonceSource::Start);
        }
    }
    found
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
