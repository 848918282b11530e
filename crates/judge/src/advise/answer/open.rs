//! What could give another answer and is not known. A hole is not a no, undecided is not equal, unjudged is not fine.

use crate::advise::cost::{Costs, Gap, How, Price};
use crate::advise::data::Data;
use crate::advise::evaluate::{Candidate, Ranking, beside, candidates, gaps, usable};
use crate::advise::evidence::Evidence;
use crate::advise::fresh::Surroundings;
use crate::advise::question::Question;
use crate::claims::expression::Interval;
use base::model::Algorithm;
use record::LibraryId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A candidate that could be the answer, as far as is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The scheme.
    pub scheme: String,
    /// In which library; `any library` where it is not known who has it.
    pub library: String,
    /// What is not known.
    pub kind: OpenWhy,
    /// Its cost over the chosen one's, at the least; none where nothing bounds it, or nothing was chosen.
    pub times_at_least: Option<f64>,
    /// The same, at the most; none where it was not measured.
    pub times_at_most: Option<f64>,
    /// Why it is not known; may be empty.
    pub why: String,
    /// Algorithms that are to be measured, or judged; none of what is undecided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<String>,
    /// Which builds; none where it is not known who has it.
    #[serde(skip)]
    pub builds: Vec<LibraryId>,
}

/// What is not known of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenWhy {
    /// Its cost: not all of it was measured.
    Missing,
    /// Whether it costs less than the chosen one by more than 5 %.
    Undecided,
    /// Whether what it executes depends on the secret.
    Unjudged,
}

/// How many candidates there are: schemes in libraries that nothing but their cost stands against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidates {
    /// All of them.
    pub all: usize,
    /// Those with a price.
    pub measured: usize,
    /// Of the others those that a bound rules out.
    pub ruled_out_by_bound: usize,
    /// Those of which nothing is known that rules them out.
    pub missing: usize,
}

pub(super) fn counted(
    question: &Question<'_>,
    all: &[Candidate<'_>],
    ranking: &Ranking,
    costs: &Costs,
) -> Candidates {
    let chosen = chosen_cost(question, all, ranking);
    let mut counts = Candidates::default();
    for candidate in all.iter().filter(|c| c.may_fit) {
        counts.measured += usable(candidate.scheme, question, costs).map_or(0, |all| all.len());
        for gap in gaps(candidate, question, costs) {
            match is_ruled_out(gap, question, chosen) {
                true => counts.ruled_out_by_bound += 1,
                false => counts.missing += 1,
            }
        }
    }
    counts.all = counts.measured + counts.ruled_out_by_bound + counts.missing;
    counts
}

pub(super) fn of(
    question: &Question<'_>,
    all: &[Candidate<'_>],
    ranking: &Ranking,
    costs: &Costs,
) -> Vec<Open> {
    let chosen = chosen_cost(question, all, ranking);
    let chosen_price = ranking.order.first().and_then(|i| all[*i].price);
    let mut open = Vec::new();
    for candidate in all.iter().filter(|c| c.may_fit) {
        let missing = gaps(candidate, question, costs);
        let missing = missing.filter(|gap| !is_ruled_out(gap, question, chosen));
        open.extend(missing.map(|gap| of_gap(candidate, gap, question, chosen)));
        let Some((chosen, chosen_price)) = chosen.zip(chosen_price) else { continue };
        let prices = usable(candidate.scheme, question, costs).unwrap_or_default();
        let fits = candidate.fits();
        open.extend(prices.into_iter().filter(|_| fits).filter_map(|price| {
            let is_chosen = std::ptr::eq(price, chosen_price);
            let cost = price.cost(question.reads);
            let kind = match (is_chosen, question.wishes.trusts(price)) {
                (true, true) => return None,
                (true, false) => OpenWhy::Unjudged,
                _ if !beside(cost, chosen).may_be_lower() => return None,
                (false, false) if question.wishes.trusts(chosen_price) => OpenWhy::Unjudged,
                (false, _) => OpenWhy::Undecided,
            };
            Some(Open {
                scheme: candidate.scheme.id.clone(),
                library: price.label(),
                kind,
                times_at_least: Some(cost.low / chosen.median),
                times_at_most: Some(cost.high / chosen.median),
                why: String::new(),
                algorithms: match kind {
                    OpenWhy::Unjudged => judged_algorithms(candidate, price),
                    _ => Vec::new(),
                },
                builds: price.libraries.clone(),
            })
        }));
    }
    let least = |o: &Open| o.times_at_least.unwrap_or(0.0);
    open.sort_by(|a, b| a.kind.cmp(&b.kind).then(least(a).total_cmp(&least(b))));
    open
}

/// Algorithms in builds whose secrets decide next what is chosen: of what fits, is not judged and costs less than what
/// would be chosen of the judged, the cheapest, so many at the most.
#[must_use]
pub fn unjudged(
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &Surroundings,
    most: usize,
) -> BTreeSet<(LibraryId, String)> {
    let costs = Costs::of(data, question, evidence, &around.judged);
    let all = candidates(data, question, &costs);
    let mut prices: Vec<(f64, &Candidate<'_>, &Price)> = Vec::new();
    for candidate in all.iter().filter(|c| c.fits()) {
        let usable = usable(candidate.scheme, question, &costs).unwrap_or_default();
        let cost = |p: &Price| p.cost(question.reads).median;
        prices.extend(usable.into_iter().map(|price| (cost(price), candidate, price)));
    }
    prices.sort_by(|a, b| a.0.total_cmp(&b.0));
    let unjudged = prices.iter().take_while(|(_, _, price)| !question.wishes.trusts(price));
    // What could not be judged once cannot be now.
    let new = unjudged.filter(|(_, _, price)| price.leaks.is_none());
    let pairs = new.take(most).flat_map(|(_, candidate, price)| {
        let algorithms = judged_algorithms(candidate, price);
        let of = move |l: &LibraryId| {
            algorithms.clone().into_iter().map(|a| (l.clone(), a)).collect::<Vec<_>>()
        };
        price.libraries.iter().flat_map(of)
    });
    pairs.collect()
}

/// Whose secrets are in question.
fn judged_algorithms(candidate: &Candidate<'_>, price: &Price) -> Vec<String> {
    let algorithms: Vec<&Algorithm> = match price.how {
        How::Store => candidate.scheme.running().to_vec(),
        _ => price.algorithms.iter().filter_map(|a| Algorithm::find(a).ok()).collect(),
    };
    let secret = algorithms.into_iter().filter(|a| a.has_secret());
    secret.map(|a| a.name.to_owned()).collect()
}

fn of_gap(
    candidate: &Candidate<'_>,
    gap: &Gap,
    question: &Question<'_>,
    chosen: Option<Interval>,
) -> Open {
    let at_least = Some(gap.at_least(question.reads)).filter(|ns| *ns > 0.0);
    Open {
        scheme: candidate.scheme.id.clone(),
        library: gap.label(),
        kind: OpenWhy::Missing,
        times_at_least: at_least.zip(chosen).map(|(ns, chosen)| ns / chosen.median),
        times_at_most: None,
        why: gap.why.clone(),
        algorithms: gap.algorithms.iter().map(|a| (*a).to_owned()).collect(),
        builds: gap.libraries.clone(),
    }
}

fn chosen_cost(
    question: &Question<'_>,
    all: &[Candidate<'_>],
    ranking: &Ranking,
) -> Option<Interval> {
    let chosen = &all[*ranking.order.first()?];
    chosen.price.map(|p| p.cost(question.reads))
}

/// Whether it cannot cost less than the chosen one by more than what is called the same.
fn is_ruled_out(gap: &Gap, question: &Question<'_>, chosen: Option<Interval>) -> bool {
    chosen.is_some_and(|chosen| !gap.may_cost_less(question.reads, chosen.median))
}
