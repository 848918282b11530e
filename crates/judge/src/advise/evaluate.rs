//! Schemes held against the rules, the named values that rules speak of, and the best of the schemes that
//! remain.

use crate::advise::cost::{Costs, Gap, How, Price};
use crate::advise::data::{Data, NonceRule, Rule, Scheme, Values, number, truth, word};
use crate::advise::limits;
use crate::advise::limits::Limit;
use crate::advise::question::{Fips, IntegrityLevel, NonceSource, Question};
use crate::claims::expression::{Interval, Value};
use std::cmp::Ordering;
use strum::VariantNames;

/// A scheme under a question.
pub(crate) struct Candidate<'a> {
    pub scheme: &'a Scheme,
    pub limit: Limit,
    pub values: Values,
    /// The best of its prices that may be used.
    pub price: Option<&'a Price>,
    /// Whether nothing stands against it, but for what is known of its costs.
    pub may_fit: bool,
    /// The rules that reject it, the decisive one first; none where it fits.
    pub rejected_by: Vec<&'a Rule>,
}

impl Candidate<'_> {
    pub fn fits(&self) -> bool {
        self.rejected_by.is_empty()
    }

    /// What ranks: only what fits has been measured for sure.
    fn cost(&self, reads: f64) -> Interval {
        self.price.expect("what fits has a price").cost(reads)
    }
}

/// Every scheme, in the order of the data.
pub(crate) fn candidates<'a>(
    data: &'a Data,
    question: &Question<'_>,
    costs: &'a Costs,
) -> Vec<Candidate<'a>> {
    data.schemes.iter().map(|scheme| candidate(data, scheme, question, costs)).collect()
}

fn candidate<'a>(
    data: &'a Data,
    scheme: &'a Scheme,
    question: &Question<'_>,
    costs: &'a Costs,
) -> Candidate<'a> {
    let limit = limits::units_per_key(scheme, question);
    let price = best_price(scheme, question, costs);
    let values = values(scheme, question, &limit, price);
    let rejected_by: Vec<&Rule> = data.rules.iter().filter(|r| r.rejects(&values)).collect();
    let may_fit = rejected_by.iter().all(|r| r.is_of_cost());
    Candidate { scheme, limit, values, price: price.ok(), may_fit, rejected_by }
}

/// The cheapest price in the libraries that may be used: one whose 99th percentile is allowed, if
/// there is one.
fn best_price<'a>(
    scheme: &Scheme,
    question: &Question<'_>,
    costs: &'a Costs,
) -> Result<&'a Price, &'a str> {
    let most = question.wishes.max_p99_us;
    let all = usable(scheme, question, costs)?;
    let quick = |p: &&&Price| most.zip(p.p99_us).is_none_or(|(most, p99)| p99 <= most);
    let found = all.iter().find(quick).or(all.first());
    let only_alone = || {
        let takes = |p: &Price| p.libraries.iter().all(|l| question.wishes.takes(l));
        costs.prices(scheme).is_ok_and(|all| all.iter().any(takes))
    };
    found.copied().ok_or_else(|| match only_alone() {
        true => "in every library it depends on the secret: only with --alone yes",
        false => "only libraries offer it that may not be used",
    })
}

/// Prices in the libraries that may be used, those first of which it is known that nothing gives the secret away, and
/// then the cheapest; or why there are none.
pub(crate) fn usable<'a>(
    scheme: &Scheme,
    question: &Question<'_>,
    costs: &'a Costs,
) -> Result<Vec<&'a Price>, &'a str> {
    let may_be_used = |p: &&Price| question.wishes.takes_price(p);
    let mut all: Vec<&Price> = costs.prices(scheme)?.iter().filter(may_be_used).collect();
    all.sort_by(|a, b| {
        let cost = |p: &Price| p.cost(question.reads).median;
        let judged = |p: &Price| !question.wishes.trusts(p);
        let by_cost = cost(a).total_cmp(&cost(b)).then_with(|| a.libraries.cmp(&b.libraries));
        judged(a).cmp(&judged(b)).then(by_cost)
    });
    Ok(all)
}

/// Where a candidate may be had, in libraries that may be used, and was not measured.
pub(crate) fn gaps<'c>(
    candidate: &Candidate<'_>,
    question: &Question<'_>,
    costs: &'c Costs,
) -> impl Iterator<Item = &'c Gap> {
    let takes = |gap: &&Gap| gap.libraries.iter().all(|l| question.wishes.takes(l));
    costs.gaps(candidate.scheme).iter().filter(takes)
}

/// Places of the candidates that fit, the chosen one first: those of which it is known that nothing gives the secret
/// away, in the order of their costs, but for those that cost the same as the cheapest. Among these decide fewer
/// assumptions about nonces, approval, fewer bytes.
pub(crate) fn ranked(candidates: &[Candidate<'_>], question: &Question<'_>) -> Ranking {
    let cost = |i: usize| candidates[i].cost(question.reads);
    let trusted = |i: usize| candidates[i].price.is_some_and(|p| question.wishes.trusts(p));
    let key = |i: usize| (!trusted(i), cost(i).median);
    let mut order: Vec<usize> = (0..candidates.len()).filter(|i| candidates[*i].fits()).collect();
    order.sort_by(|a, b| {
        let ((a_is, a_cost), (b_is, b_cost)) = (key(*a), key(*b));
        a_is.cmp(&b_is).then(a_cost.total_cmp(&b_cost)).then(a.cmp(b))
    });
    let Some(first) = order.first().copied() else { return Ranking::default() };
    let ties =
        |i: &&usize| trusted(**i) == trusted(first) && beside(cost(**i), cost(first)).is_same();
    let tied = order.iter().take_while(ties).count().max(1);
    order[..tied].sort_by(|a, b| preference(&candidates[*a], &candidates[*b], question));
    Ranking { order, tied }
}

/// By how much costs may differ and be called the same.
pub(crate) const SAME: f64 = 0.05;

/// By what share one cost is above another, from and to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    pub low: f64,
    pub high: f64,
}

/// How a cost lies beside another.
pub(crate) fn beside(cost: Interval, other: Interval) -> Beside {
    let difference = cost.independent(other, |a, b| a - b);
    Beside { low: difference.low / other.median, high: difference.high / other.median }
}

impl Beside {
    /// Whether both are shown to be the same, within [`SAME`].
    pub fn is_same(self) -> bool {
        self.low >= -SAME && self.high <= SAME
    }

    /// Whether it may be the lower one by more than that.
    pub fn may_be_lower(self) -> bool {
        self.low < -SAME
    }
}

/// Who fits, in order, and how many tie for the first place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranking {
    pub order: Vec<usize>,
    pub tied: usize,
}

fn preference(a: &Candidate<'_>, b: &Candidate<'_>, question: &Question<'_>) -> Ordering {
    let key = |c: &Candidate<'_>| {
        let stored = limits::stored_bytes(c.scheme, question);
        (assumptions(c, question), !c.scheme.family.approved, stored)
    };
    let cost = |c: &Candidate<'_>| c.cost(question.reads).median;
    key(a).cmp(&key(b)).then_with(|| cost(a).total_cmp(&cost(b)))
}

/// How much is assumed of nonces: nothing; that random ones are random; that there are not too many
/// of them, or that starts are told apart; that a counter is never set back.
pub(crate) fn assumptions(candidate: &Candidate<'_>, question: &Question<'_>) -> u8 {
    let bounded = candidate.scheme.family.random_log2.is_some_and(|log2| log2 < 40.0);
    match (candidate.scheme.family.nonce, limits::source_of(candidate.scheme, question)) {
        (NonceRule::None | NonceRule::Position | NonceRule::Resistant, _) => 0,
        (_, NonceSource::Random) if bounded => 2,
        (_, NonceSource::Random) => 1,
        (_, NonceSource::Start) => 2,
        (_, NonceSource::Counter | NonceSource::Position) => 3,
    }
}

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
    use crate::advise::limits;
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
