//! What would change the answer, which wishes stand against each other, and what could give another answer
//! and is not known. Undecided is not equal, unjudged is not fine.

use crate::advise::cost::{Costs, Gap, How, Price};
use crate::advise::data::Data;
use crate::advise::evaluate::{Candidate, Ranking, beside, candidates, gaps, ranked, usable};
use crate::advise::question::{
    Evidence, Fips, IntegrityLevel, KeyPer, NonceSource, Question, Surroundings, Wishes,
};
use crate::advise::{Avoided, Choice, evaluate};
use base::analysis::Estimate;
use base::model::Algorithm;
use record::{LeakVerdict, LibraryId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub(crate) struct Step {
    /// The flag, without dashes.
    pub name: &'static str,
    /// As it would be typed behind the flag; `--expansion` gets its number from the answer. Empty where the flag is left out.
    value: String,
    pub wishes: Wishes,
}

/// Every change of one wish that is worth trying; those of one step first.
fn steps(wishes: &Wishes, chosen_bytes: Option<u32>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |is_other: bool, name, value: &dyn ToString, change: &dyn Fn(&mut Wishes)| {
        if is_other {
            let mut wishes = wishes.clone();
            change(&mut wishes);
            steps.push(Step { name, value: value.to_string(), wishes });
        }
    };
    for to in [IntegrityLevel::Adversary, IntegrityLevel::Accident, IntegrityLevel::None] {
        add(to != wishes.integrity, "integrity", &to, &|w| w.integrity = to);
    }
    for to in [Fips::None, Fips::Algorithm] {
        add(to != wishes.fips, "fips", &to, &|w| w.fips = to);
    }
    let sources = [NonceSource::Random, NonceSource::Counter, NonceSource::Start];
    for to in [&sources[..], &[NonceSource::Position]].concat() {
        add(to != wishes.nonce, "nonce", &to, &|w| w.nonce = to);
    }
    let to = !wishes.snapshots;
    add(true, "snapshots", if to { &"yes" } else { &"no" }, &|w| w.snapshots = to);
    add(wishes.expansion.is_some(), "expansion", &"N", &|w| w.expansion = None);
    // Less room than the chosen one takes.
    let less = chosen_bytes.and_then(|b| b.checked_sub(1));
    add(less.is_some(), "expansion", &"N", &|w| w.expansion = less);
    for bits in [128, 256] {
        add(bits != wishes.key_bits, "key-bits", &bits, &|w| w.key_bits = bits);
    }
    let to = KeyPer::Epoch;
    add(wishes.key_per == KeyPer::Store, "key-per", &to, &|w| w.key_per = to);
    for (days, text) in [(1.0, "1d"), (730.5, "2y")] {
        let is_other = (days - wishes.key_life_days).abs() > 1.0;
        add(is_other, "key-life", &text, &|w| w.key_life_days = days);
    }
    add(!wishes.libraries.is_empty(), "library", &"'*'", &|w| w.libraries.clear());
    add(wishes.only.is_some(), "only", &"'*'", &|w| w.only = None);
    let to = !wishes.system_only;
    add(true, "library-version", if to { &"system" } else { &"any" }, &|w| w.system_only = to);
    add(!wishes.alone, "alone", &"yes", &|w| w.alone = true);
    add(wishes.max_p99_us.is_some(), "max-p99", &"", &|w| w.max_p99_us = None);
    steps
}

pub(crate) struct Found {
    pub scheme: String,
    pub stored: u32,
    pub cost: f64,
    pub library: String,
    /// What of it depends on the secret.
    pub leaks: Option<LeakVerdict>,
    /// Whether nothing that was not measured could cost less.
    pub is_settled: bool,
}

/// The choice under other wishes, if there is one.
pub(crate) fn choice(
    data: &Data,
    question: &Question<'_>,
    wishes: &Wishes,
    costs: &Costs,
) -> Option<Found> {
    let asked = Question { wishes: wishes.clone(), ..question.clone() };
    let all = candidates(data, &asked, costs);
    let chosen = &all[*ranked(&all, &asked).order.first()?];
    let price = chosen.price?;
    let cost = price.cost(question.reads);
    let mut open = all.iter().filter(|c| c.may_fit).flat_map(|c| gaps(c, &asked, costs));
    Some(Found {
        scheme: chosen.scheme.id.clone(),
        stored: evaluate::stored_bytes(chosen.scheme, &asked),
        cost: cost.median,
        library: price.label(),
        leaks: price.leaks,
        is_settled: !open.any(|gap| gap.may_cost_less(question.reads, cost.high)),
    })
}

/// What would be chosen if what depends on the secret might be used; none where it is the same, or not known to.
pub(crate) fn avoided(
    data: &Data,
    question: &Question<'_>,
    costs: &Costs,
    chosen: &Choice,
) -> Option<Avoided> {
    let wishes = Wishes { alone: true, ..question.wishes.clone() };
    let found = choice(data, question, &wishes, costs)
        .filter(|found| !question.wishes.alone && found.leaks == Some(LeakVerdict::Depends))?;
    let is_same = (&*found.scheme, &*found.library) == (&*chosen.scheme, &*chosen.price.label());
    let times = chosen.price.cost(question.reads).median / found.cost;
    (!is_same).then_some(Avoided { scheme: found.scheme, library: found.library, times })
}

/// Names of wishes that can stand against each other, each with what lets it go.
type Release = (&'static str, fn(&mut Wishes));
const RELEASES: [Release; 12] = [
    ("only", |w| w.only = None),
    ("alone", |w| w.alone = true),
    ("library-version", |w| w.system_only = false),
    ("library", |w| w.libraries.clear()),
    ("max-p99", |w| w.max_p99_us = None),
    ("key-life", |w| w.key_life_days = 0.0),
    ("key-bits", |w| w.key_bits = 0),
    ("snapshots", |w| w.snapshots = false),
    ("fips", |w| w.fips = Fips::None),
    ("expansion", |w| w.expansion = None),
    ("integrity", |w| w.integrity = IntegrityLevel::None),
    ("nonce", |w| w.nonce = NonceSource::Random),
];

/// A smallest set of wishes that no scheme fulfils together: with any one of them let go, one does.
/// Wishes that were only assumed are let go first, so that what was typed is named where both would
/// do. Empty where nothing fits whatever is wished.
pub(crate) fn conflict(data: &Data, question: &Question<'_>, costs: &Costs) -> Vec<&'static str> {
    let mut releases = RELEASES;
    releases.sort_by_key(|(name, _)| question.typed.contains(name));
    let none = |wishes: &Wishes| choice(data, question, wishes, costs).is_none();
    let mut wishes = question.wishes.clone();
    let mut kept = Vec::new();
    for (name, release) in releases {
        let mut without = wishes.clone();
        release(&mut without);
        if none(&without) {
            wishes = without;
        } else {
            kept.push(name);
        }
    }
    kept
}

/// The schemes whose prices can matter for an answer: those that fit, costs aside.
pub fn needed_schemes<'a>(
    data: &'a Data,
    question: &Question<'_>,
    whose: Wished,
) -> Vec<&'a crate::advise::Scheme> {
    let all = whose.wishes(question);
    let mut needed = BTreeSet::new();
    for wishes in all {
        let asked = Question { wishes, ..question.clone() };
        for scheme in &data.schemes {
            let limit = evaluate::units_per_key(scheme, &asked);
            let values = crate::advise::evaluate::values(scheme, &asked, &limit, Err(""));
            let rejected = data.rules.iter().any(|r| !r.is_of_cost() && r.rejects(&values));
            if !rejected {
                needed.insert(scheme.id.as_str());
            }
        }
    }
    data.schemes.iter().filter(|s| needed.contains(s.id.as_str())).collect()
}

/// How many times as much as the cheapest, at the least, a candidate may take to be worth measuring: of one that was looked
/// at once, on a core of which nobody knows how busy it was.
pub const WORTH: f64 = 2.0;

/// What is worth measuring by the bounds of a record: algorithms in libraries. What takes at the least more than `worth` times
/// as much as the cheapest one does is not; what has no bound is not, either, where others have one.
pub fn contenders(
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    whose: Wished,
    worth: f64,
) -> BTreeSet<(LibraryId, &'static str)> {
    let costs = Costs::of(data, question, evidence, &[]);
    let all = whose.wishes(question).into_iter();
    all.flat_map(|wishes| contending(data, question, wishes, &costs, worth)).collect()
}

fn contending(
    data: &Data,
    question: &Question<'_>,
    wishes: Wishes,
    costs: &Costs,
    worth: f64,
) -> Vec<(LibraryId, &'static str)> {
    let asked = Question { wishes, ..question.clone() };
    let all = candidates(data, &asked, costs);
    let fitting = all.iter().filter(|c| c.may_fit);
    let gaps: Vec<&Gap> = fitting.flat_map(|c| gaps(c, &asked, costs)).collect();
    let bound = |gap: &Gap| gap.bound(asked.reads);
    let cheapest = gaps.iter().filter_map(|gap| bound(gap)).reduce(f64::min);
    let is_worth = |gap: &&&Gap| match cheapest {
        Some(ns) => bound(gap).is_some_and(|least| least <= worth * ns),
        None => true,
    };
    let pairs = |gap: &Gap| {
        let one =
            |l: &LibraryId| gap.algorithms.iter().map(|a| (l.clone(), *a)).collect::<Vec<_>>();
        gap.libraries.iter().flat_map(one).collect::<Vec<_>>()
    };
    gaps.iter().filter(is_worth).flat_map(|gap| pairs(gap)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wished {
    Asked,
    /// Those of the question with one wish changed, for what would change the answer.
    Changed,
}

impl Wished {
    fn wishes(self, question: &Question<'_>) -> Vec<Wishes> {
        match self {
            Self::Asked => vec![question.wishes.clone()],
            Self::Changed => steps(&question.wishes, None).into_iter().map(|s| s.wishes).collect(),
        }
    }
}

/// Changes of one wish that give another scheme, and, where none does, of two.
pub(crate) fn changes(
    data: &Data,
    question: &Question<'_>,
    costs: &Costs,
    chosen: Option<(&str, u32)>,
) -> Vec<(Vec<String>, Found)> {
    let mut found = Vec::new();
    let other = |f: &Found| f.is_settled && chosen.is_none_or(|(scheme, _)| f.scheme != scheme);
    let bytes = chosen.map(|(_, bytes)| bytes);
    let first = steps(&question.wishes, bytes);
    for step in &first {
        if let Some(f) = choice(data, question, &step.wishes, costs).filter(other) {
            found.push((vec![typed(step, &f)], f));
        }
    }
    if !found.is_empty() {
        return found;
    }
    for one in &first {
        for two in steps(&one.wishes, None) {
            if two.name <= one.name {
                continue;
            }
            if let Some(f) = choice(data, question, &two.wishes, costs).filter(other) {
                found.push((vec![typed(one, &f), typed(&two, &f)], f));
            }
        }
    }
    found
}

fn typed(step: &Step, found: &Found) -> String {
    match step.name {
        "expansion" => format!("--expansion {}", found.stored),
        name if step.value.is_empty() => format!("without --{name}"),
        name => format!("--{name} {}", step.value),
    }
}

/// A candidate that could be the answer, as far as is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    pub scheme: String,
    /// In which library; `any library` where it is not known who has it.
    pub library: String,
    pub kind: OpenWhy,
    /// Its cost over the chosen one's, at the least; none where nothing bounds it, or nothing was chosen.
    pub times_at_least: Option<f64>,
    /// The same, at the most; none where it was not measured, or has no interval.
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
    pub all: usize,
    pub measured: usize,
    pub ruled_out_by_bound: usize,
    /// Those of which nothing is known that rules them out.
    pub missing: usize,
}

pub(crate) fn counted_candidates(
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

pub(crate) fn open_answers(
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
            let beside = beside(cost, chosen);
            // One that is not judged would have been chosen where it is the cheaper of two equals.
            let would_be = cost.median < chosen.median && question.wishes.trusts(chosen_price);
            let kind = match (is_chosen, question.wishes.trusts(price)) {
                (true, true) => return None,
                (true, false) => OpenWhy::Unjudged,
                (false, false) if would_be => OpenWhy::Unjudged,
                _ if !beside.may_be_lower() => return None,
                (false, false) if question.wishes.trusts(chosen_price) => OpenWhy::Unjudged,
                (false, _) => OpenWhy::Undecided,
            };
            let (least, most) = beside.times();
            Some(Open {
                scheme: candidate.scheme.id.clone(),
                library: price.label(),
                kind,
                times_at_least: Some(least),
                times_at_most: most,
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

/// Whether what would be chosen is judged, or nothing would be.
pub fn is_judged(
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &Surroundings,
) -> bool {
    let costs = Costs::of(data, question, evidence, &around.judged);
    let all = candidates(data, question, &costs);
    let chosen = ranked(&all, question).order.first().and_then(|first| all[*first].price);
    chosen.is_none_or(|price| question.wishes.trusts(price))
}

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
    chosen: Option<Estimate>,
) -> Open {
    let at_least = Some(gap.at_least_ns(question.reads)).filter(|ns| *ns > 0.0);
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
) -> Option<Estimate> {
    let chosen = &all[*ranking.order.first()?];
    chosen.price.map(|p| p.cost(question.reads))
}

/// Whether it cannot cost less than the chosen one by more than what is called the same, at the most that this one takes.
fn is_ruled_out(gap: &Gap, question: &Question<'_>, chosen: Option<Estimate>) -> bool {
    chosen.is_some_and(|chosen| !gap.may_cost_less(question.reads, chosen.high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::cost::AtLeast;
    use jiff::civil::date;

    #[test]
    fn a_wish_that_no_value_lifts_is_left_out() {
        let data = Data::built_in();
        let mut question = Question::of(&data.uses[0], date(2026, 11, 30));
        question.wishes.max_p99_us = Some(20.0);
        let all = steps(&question.wishes, None);
        let lifted = all.iter().find(|step| step.name == "max-p99").unwrap();
        let found = Found {
            scheme: String::new(),
            stored: 0,
            cost: 1.0,
            library: String::new(),
            leaks: None,
            is_settled: true,
        };
        assert_eq!(typed(lifted, &found), "without --max-p99");
    }

    #[test]
    fn a_bound_rules_out_what_costs_more_than_the_choice_may() {
        let data = Data::built_in();
        let question = Question::of(&data.uses[0], date(2026, 11, 30));
        let gap = Gap {
            libraries: Vec::new(),
            algorithms: Vec::new(),
            at_least: (AtLeast::seen(110.0), AtLeast::seen(110.0)),
            why: String::new(),
            depends: false,
        };
        let at_most = |high| Some(Estimate { median: 100.0, low: 99.0, high });
        assert!(is_ruled_out(&gap, &question, at_most(101.0)));
        assert!(!is_ruled_out(&gap, &question, at_most(200.0)));
    }
}
