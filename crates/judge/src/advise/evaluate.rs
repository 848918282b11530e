//! Schemes held against the rules, and the best of those that remain.

use crate::advise::condition::Values;
use crate::advise::context::values;
use crate::advise::cost::{Costs, Gap, Price};
use crate::advise::data::Data;
use crate::advise::limits::{self, Limit};
use crate::advise::question::{NonceSource, Question};
use crate::advise::rules::Rule;
use crate::advise::schemes::{NonceRule, Scheme};
use crate::claims::expression::Interval;
use std::cmp::Ordering;

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
