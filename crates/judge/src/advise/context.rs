//! The named values that rules speak of.

use crate::advise::condition::{Values, number, truth, word};
use crate::advise::cost::{How, Price};
use crate::advise::limits::{self, Limit};
use crate::advise::question::{Fips, IntegrityLevel, Question};
use crate::advise::schemes::Scheme;
use crate::claims::expression::Value;
use strum::VariantNames;

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

type Named = Vec<(&'static str, Option<Value>)>;

fn level<T: VariantNames>(rank: usize) -> Option<Value> {
    Some(Value::Level(rank, T::VARIANTS))
}

fn of_scheme(scheme: &Scheme) -> Named {
    let family = &scheme.family;
    vec![
        ("scheme.mode", Some(word(&family.mode))),
        ("scheme.key_bits", Some(number(scheme.key_bits))),
        ("scheme.integrity", level::<IntegrityLevel>(family.integrity as usize)),
        ("scheme.approved", Some(truth(family.approved))),
        ("scheme.nonce", Some(word(&family.nonce.to_string()))),
        ("scheme.tweaked", Some(truth(scheme.is_tweaked()))),
        ("scheme.wide", Some(truth(scheme.is_wide()))),
        ("scheme.nonce_bits", Some(number(family.nonce_bits))),
        ("scheme.cut_to_bits", scheme.cut_to_bits().map(number)),
        ("scheme.two_keys", Some(truth(scheme.has_two_keys()))),
        ("scheme.least_bytes", Some(number(family.least_bytes))),
        ("scheme.max_bytes_log2", family.max_bytes_log2.map(number)),
        ("scheme.reuse", Some(word(&family.reuse))),
        ("scheme.flip", Some(word(&family.flip))),
    ]
}

fn of_wishes(question: &Question<'_>) -> Named {
    let wishes = &question.wishes;
    vec![
        ("asked.fips", level::<Fips>(wishes.fips as usize)),
        ("asked.certificate", Some(truth(wishes.certificate.is_some()))),
        ("asked.expansion", wishes.expansion.map(number)),
        ("asked.integrity", level::<IntegrityLevel>(wishes.integrity as usize)),
        ("asked.key_bits", Some(number(wishes.key_bits))),
        ("asked.key_life_days", Some(number(wishes.key_life_days))),
        ("asked.max_p99_us", wishes.max_p99_us.map(number)),
        ("asked.p99", Some(truth(wishes.max_p99_us.is_some()))),
        ("key.per", Some(word(&wishes.key_per.to_string()))),
    ]
}

fn of_unit(scheme: &Scheme, question: &Question<'_>) -> Named {
    let size = question.size;
    let rest = size % scheme.family.block_multiple as usize;
    vec![
        ("use.storage", Some(truth(question.used.storage))),
        ("unit.bytes", Some(number(size as f64))),
        ("unit.log2", Some(number((size as f64).log2()))),
        ("unit.rest", Some(number(rest as f64))),
        ("stored.bytes", Some(number(limits::stored_bytes(scheme, question)))),
        ("nonce.source", Some(word(&limits::source_of(scheme, question).to_string()))),
        ("nonce.repeats", Some(word(limits::repeats(scheme, question)))),
    ]
}

fn of_key(question: &Question<'_>, limit: &Limit) -> Named {
    let days_of_use = limits::days_of_use(limit, question);
    vec![
        ("key.days", limits::days(limit, question).map(number)),
        ("key.limit", Some(word(&limit.says))),
        ("key.lasts", days_of_use.map(|d| Value::Word(limits::lasts(d)))),
        ("key.writers", Some(number(question.wishes.writers()))),
    ]
}

fn of_cost(price: Result<&Price, &str>) -> Named {
    let p99 = price.ok().and_then(|p| p.p99_us);
    vec![
        ("cost.known", Some(truth(price.is_ok()))),
        ("cost.nonces", price.ok().map(|p| truth(p.how == How::Store))),
        ("cost.why", price.err().map(word)),
        ("cost.p99", Some(truth(p99.is_some()))),
        ("cost.p99_us", p99.map(number)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::data::Data;
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
                assert!(values.contains_key(name.as_str()), "{}: '{name}'", rule.id);
            }
            let left = rule.detail.split('{').skip(1).map(|t| t.split('}').next().unwrap());
            for name in left {
                assert!(values.contains_key(name), "{}: '{{{name}}}'", rule.id);
            }
        }
    }
}
