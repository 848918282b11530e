//! The named values that rules speak of.

use crate::condition::{Value, Values};
use crate::cost::Price;
use crate::limits::{self, Limit};
use crate::question::{Fips, IntegrityLevel, Question};
use crate::schemes::Scheme;

/// Everything that is known of one scheme under a question. `price` is the best of those that fit,
/// or why there is none.
pub(crate) fn values(
    scheme: &Scheme,
    question: &Question<'_>,
    limit: &Limit,
    price: Result<&Price, &str>,
) -> Values {
    let mut values = Values::from_iter(of_scheme(scheme));
    values.extend(of_wishes(question));
    values.extend(of_unit(scheme, question));
    values.extend(of_key(question, limit));
    values.extend(of_cost(price));
    values
}

fn of_scheme(scheme: &Scheme) -> Vec<(&'static str, Value)> {
    vec![
        ("scheme.mode", Value::word(&scheme.mode)),
        ("scheme.key_bits", Value::Number(f64::from(scheme.key_bits))),
        ("scheme.integrity", Value::Level(scheme.integrity as usize, IntegrityLevel::NAMES)),
        ("scheme.approved", Value::Truth(scheme.approved)),
        ("scheme.nonce", Value::word(scheme.nonce.name())),
        ("scheme.tweaked", Value::Truth(scheme.is_tweaked())),
        ("scheme.two_keys", Value::Truth(scheme.has_two_keys())),
        ("scheme.least_bytes", Value::Number(f64::from(scheme.least_bytes))),
        ("scheme.max_bytes_log2", Value::number(scheme.max_bytes_log2)),
        ("scheme.reuse", Value::word(&scheme.reuse)),
        ("scheme.flip", Value::word(&scheme.flip)),
    ]
}

fn of_wishes(question: &Question<'_>) -> Vec<(&'static str, Value)> {
    let wishes = &question.wishes;
    vec![
        ("asked.fips", Value::Level(wishes.fips as usize, Fips::NAMES)),
        ("asked.certificate", Value::Truth(wishes.certificate.is_some())),
        ("asked.expansion", Value::number(wishes.expansion.map(f64::from))),
        ("asked.integrity", Value::Level(wishes.integrity as usize, IntegrityLevel::NAMES)),
        ("asked.key_bits", Value::Number(f64::from(wishes.key_bits))),
        ("asked.key_life_days", Value::Number(wishes.key_life_days)),
        ("asked.max_p99_us", Value::number(wishes.max_p99_us)),
        ("asked.p99", Value::Truth(wishes.max_p99_us.is_some())),
        ("key.per", Value::word(wishes.key_per.name())),
    ]
}

fn of_unit(scheme: &Scheme, question: &Question<'_>) -> Vec<(&'static str, Value)> {
    let size = question.size;
    vec![
        ("use.storage", Value::Truth(question.used.storage)),
        ("unit.bytes", Value::Number(size as f64)),
        ("unit.log2", Value::Number((size as f64).log2())),
        ("unit.rest", Value::Number((size % scheme.block_multiple as usize) as f64)),
        ("stored.bytes", Value::Number(f64::from(limits::stored_bytes(scheme, question)))),
        ("nonce.source", Value::word(limits::source_of(scheme, question).name())),
        ("nonce.repeats", Value::word(limits::repeats(scheme, question))),
    ]
}

fn of_key(question: &Question<'_>, limit: &Limit) -> Vec<(&'static str, Value)> {
    let days = limits::days(limit, question.wishes.writes_per_key());
    vec![
        ("key.days", Value::number(days)),
        ("key.limit", Value::word(&limit.says)),
        ("key.lasts", days.map_or(Value::Missing, |d| Value::Word(limits::lasts(d)))),
    ]
}

fn of_cost(price: Result<&Price, &str>) -> Vec<(&'static str, Value)> {
    let p99 = price.ok().and_then(|p| p.p99_us);
    vec![
        ("cost.known", Value::Truth(price.is_ok())),
        ("cost.why", price.err().map_or(Value::Missing, Value::word)),
        ("cost.p99", Value::Truth(p99.is_some())),
        ("cost.p99_us", Value::number(p99)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;
    use jiff::civil::date;

    /// A name that is none would make its clause false for ever.
    #[test]
    fn every_name_in_a_rule_is_known() {
        let data = Data::built_in();
        let question = Question::of(&data.uses[0], date(2026, 11, 21));
        let limit = limits::units_per_key(&data.schemes[0], &question);
        let values = values(&data.schemes[0], &question, &limit, Err("why"));
        for rule in &data.rules {
            for name in rule.when.names() {
                assert!(values.contains_key(name), "{}: '{name}'", rule.id);
            }
            let left = rule.detail.split('{').skip(1).map(|t| t.split('}').next().unwrap());
            for name in left {
                assert!(values.contains_key(name), "{}: '{{{name}}}'", rule.id);
            }
        }
    }
}
