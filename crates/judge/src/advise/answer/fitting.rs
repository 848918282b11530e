//! The schemes that fit, each with the libraries beside its cheapest.

use super::{Fitting, Other};
use crate::advise::cost::{Costs, Price};
use crate::advise::evaluate::{self, Candidate, Ranking, beside};
use crate::advise::limits;
use crate::advise::question::Question;
use std::collections::BTreeSet;

pub(super) fn of(
    question: &Question<'_>,
    all: &[Candidate<'_>],
    ranking: &Ranking,
    costs: &Costs,
) -> Vec<Fitting> {
    let cost = |i: usize| all[i].price.expect("what fits has a price").cost(question.reads);
    let one = |(place, i): (usize, &usize)| Fitting {
        scheme: all[*i].scheme.id.clone(),
        library: all[*i].price.map(Price::label).unwrap_or_default(),
        ns: cost(*i),
        times: cost(*i).median / cost(ranking.order[0]).median,
        tied: ranking.tied > 1 && place < ranking.tied,
        undecided: place > 0 && beside(cost(*i), cost(ranking.order[0])).may_be_lower(),
        stored_bytes: limits::stored_bytes(all[*i].scheme, question),
        others: others(question, &all[*i], costs),
    };
    ranking.order.iter().enumerate().map(one).collect()
}

/// Libraries that are named beside the cheapest.
const OTHERS: usize = 4;

/// Each library once, with its cheapest way.
fn others(question: &Question<'_>, candidate: &Candidate<'_>, costs: &Costs) -> Vec<Other> {
    let Some(best) = candidate.price else { return Vec::new() };
    let usable = evaluate::usable(candidate.scheme, question, costs).unwrap_or_default();
    let mut seen = BTreeSet::from([best.label()]);
    let fresh = usable.into_iter().filter(|p| seen.insert(p.label()));
    let one = |price: &Price| {
        let beside = beside(price.cost(question.reads), best.cost(question.reads));
        Other {
            library: price.label(),
            ns: price.cost(question.reads),
            tied: beside.is_same(),
            undecided: beside.may_be_lower(),
        }
    };
    fresh.take(OTHERS).map(one).collect()
}
