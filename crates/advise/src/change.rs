//! What would change the answer, and which wishes stand against each other.

use crate::cost::Costs;
use crate::data::Data;
use crate::evaluate::{candidates, ranked};
use crate::limits;
use crate::question::{Fips, IntegrityLevel, NonceSource, Question, Wishes};
use std::collections::BTreeSet;

/// One wish changed.
pub(crate) struct Step {
    /// As it would be typed; `--expansion` gets its number from the answer.
    pub flag: String,
    /// The flag alone, without dashes.
    pub name: &'static str,
    pub wishes: Wishes,
}

impl Step {
    fn new(name: &'static str, value: &str, wishes: Wishes) -> Self {
        let space = if value.is_empty() { "" } else { " " };
        Self { flag: format!("--{name}{space}{value}"), name, wishes }
    }
}

/// Every change of one wish that is worth trying; those of one step first.
pub(crate) fn steps(wishes: &Wishes, chosen_bytes: Option<u32>) -> Vec<Step> {
    let mut steps = levels(wishes);
    steps.extend(about_nonces(wishes));
    steps.extend(about_room(wishes, chosen_bytes));
    steps.extend(about_keys(wishes));
    steps.extend(about_libraries(wishes));
    steps
}

fn with(wishes: &Wishes, change: impl Fn(&mut Wishes)) -> Wishes {
    let mut changed = wishes.clone();
    change(&mut changed);
    changed
}

fn levels(wishes: &Wishes) -> Vec<Step> {
    let mut steps = Vec::new();
    for level in [IntegrityLevel::Adversary, IntegrityLevel::Accident, IntegrityLevel::None] {
        if level != wishes.integrity {
            steps.push(Step::new("integrity", level.name(), with(wishes, |w| w.integrity = level)));
        }
    }
    for fips in [Fips::None, Fips::Algorithm] {
        if fips != wishes.fips {
            steps.push(Step::new("fips", fips.name(), with(wishes, |w| w.fips = fips)));
        }
    }
    steps
}

fn about_nonces(wishes: &Wishes) -> Vec<Step> {
    let mut steps = Vec::new();
    for nonce in [NonceSource::Random, NonceSource::Counter, NonceSource::Position] {
        if nonce != wishes.nonce {
            steps.push(Step::new("nonce", nonce.name(), with(wishes, |w| w.nonce = nonce)));
        }
    }
    let (other, word) = if wishes.snapshots { (false, "no") } else { (true, "yes") };
    steps.push(Step::new("snapshots", word, with(wishes, |w| w.snapshots = other)));
    steps
}

fn about_room(wishes: &Wishes, chosen_bytes: Option<u32>) -> Vec<Step> {
    let mut steps = Vec::new();
    if wishes.expansion.is_some() {
        steps.push(Step::new("expansion", "N", with(wishes, |w| w.expansion = None)));
    }
    // Less room than the chosen one takes.
    if let Some(less) = chosen_bytes.and_then(|b| b.checked_sub(1)) {
        steps.push(Step::new("expansion", "N", with(wishes, |w| w.expansion = Some(less))));
    }
    steps
}

fn about_keys(wishes: &Wishes) -> Vec<Step> {
    let mut steps = Vec::new();
    for bits in [128, 256] {
        if bits != wishes.key_bits {
            let text = bits.to_string();
            steps.push(Step::new("key-bits", &text, with(wishes, |w| w.key_bits = bits)));
        }
    }
    for (days, text) in [(1.0, "1d"), (730.5, "2y")] {
        let worth = (days - wishes.key_life_days).abs() > 1.0;
        if worth {
            steps.push(Step::new("key-life", text, with(wishes, |w| w.key_life_days = days)));
        }
    }
    steps
}

fn about_libraries(wishes: &Wishes) -> Vec<Step> {
    let mut steps = Vec::new();
    if !wishes.libraries.is_empty() {
        steps.push(Step::new("library", "'*'", with(wishes, |w| w.libraries.clear())));
    }
    let (other, word) = if wishes.system_only { (false, "any") } else { (true, "system") };
    steps.push(Step::new("library-version", word, with(wishes, |w| w.system_only = other)));
    if wishes.max_p99_us.is_some() {
        steps.push(Step::new("max-p99", "none", with(wishes, |w| w.max_p99_us = None)));
    }
    steps
}

/// What is chosen under these wishes.
pub(crate) struct Found {
    pub scheme: String,
    pub stored: u32,
    pub cost: f64,
    pub library: String,
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
    Some(Found {
        scheme: chosen.scheme.id.clone(),
        stored: limits::stored_bytes(chosen.scheme, &asked),
        cost: price.cost(question.reads).median,
        library: price.label(),
    })
}

/// Names of wishes that can stand against each other, each with what lets it go.
type Release = (&'static str, fn(&mut Wishes));
const RELEASES: [Release; 9] = [
    ("library-version", |w| w.system_only = false),
    ("library", |w| w.libraries.clear()),
    ("max-p99", |w| w.max_p99_us = None),
    ("key-life", |w| w.key_life_days = 0.0),
    ("key-bits", |w| w.key_bits = 0),
    ("snapshots", |w| w.snapshots = false),
    ("fips", |w| w.fips = Fips::None),
    ("expansion", |w| w.expansion = None),
    ("integrity", |w| w.integrity = IntegrityLevel::None),
];
const NONCE: Release = ("nonce", |w| w.nonce = NonceSource::Random);

/// A smallest set of wishes that no scheme fulfils together: with any one of them let go, one does.
/// Wishes that were only assumed are let go first, so that what was typed is named where both would
/// do. Empty where nothing fits whatever is wished.
pub(crate) fn conflict(data: &Data, question: &Question<'_>, costs: &Costs) -> Vec<&'static str> {
    let mut releases: Vec<Release> = RELEASES.to_vec();
    releases.push(NONCE);
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

/// The schemes whose prices can matter for the answer and for what would change it: those that fit,
/// costs aside, under the wishes or under one changed wish.
#[must_use]
pub fn needed_schemes<'a>(data: &'a Data, question: &Question<'_>) -> Vec<&'a crate::Scheme> {
    let mut all: Vec<Wishes> = vec![question.wishes.clone()];
    all.extend(steps(&question.wishes, None).into_iter().map(|s| s.wishes));
    let mut needed = BTreeSet::new();
    for wishes in all {
        let asked = Question { wishes, ..question.clone() };
        for scheme in &data.schemes {
            let limit = limits::units_per_key(scheme, &asked);
            let values = crate::context::values(scheme, &asked, &limit, Err(""));
            let of_cost = |id: &str| id == "not-measured";
            let rejected = data.rules.iter().any(|r| !of_cost(&r.id) && r.rejects(&values));
            if !rejected {
                needed.insert(scheme.id.as_str());
            }
        }
    }
    data.schemes.iter().filter(|s| needed.contains(s.id.as_str())).collect()
}

/// Changes of one wish that give another scheme, and, where none does, of two.
pub(crate) fn changes(
    data: &Data,
    question: &Question<'_>,
    costs: &Costs,
    chosen: Option<(&str, u32)>,
) -> Vec<(Vec<String>, Found)> {
    let mut found = Vec::new();
    let other = |f: &Found| chosen.is_none_or(|(scheme, _)| f.scheme != scheme);
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
    if step.name == "expansion" {
        return format!("--expansion {}", found.stored);
    }
    step.flag.clone()
}
