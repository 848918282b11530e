//! The answer to a question: cases in the order of their costs, with the places that they may have.

use crate::compare::case::label;
use crate::compare::costs::{Unit, group, instructions};
use crate::compare::question::{By, Per, Question};
use crate::compare::same_trace::{Secret, only_same_trace};
use crate::compare::{Case, family};
use base::analysis::{ALPHA, Group, Ratio, Standing as Place, surely_faster};
use base::model::{Direction, Footprint, Model, NameGlob, Tier};
use record::{Estimate, LeakVerdict, LibraryId, Measurement, Record, State};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The size at which cases are ranked where the question names none: PostgreSQL's page.
const USUAL_SIZE: usize = 8192;

/// What the answer is about: the question, with what it left open decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Terms {
    /// In words.
    pub sentence: String,
    /// What is least in the best.
    pub by: By,
    /// Of what there is a best one each.
    pub per: Option<Per>,
    /// Unit of the costs that were compared; instructions have none.
    pub unit: Option<Unit>,
    /// Bytes of plaintext; none where each size has its best.
    pub size: Option<usize>,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Tier; none where each tier has its best.
    pub tier: Option<Tier>,
    /// Threads at once.
    pub threads: u32,
    /// Working set.
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    pub in_place: bool,
    /// What else tells cases apart.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub setting: String,
}

/// One case in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// The first place that it may have: one more than the number of cases that are surely faster.
    pub place: usize,
    /// The last one: all but those that are surely slower.
    pub last_place: usize,
    /// Which build.
    pub library: LibraryId,
    /// Which case.
    #[serde(flatten)]
    pub case: Case,
    /// What must stand beside the algorithm: `no-integrity`, `accident-only`, `composite`, …
    pub label: Option<String>,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    /// Nanoseconds of one operation.
    pub ns_per_op: Option<Estimate>,
    /// Core cycles of one operation.
    pub cycles_per_op: Option<Estimate>,
    /// Instructions of one operation, where they were counted.
    pub instructions_per_op: Option<f64>,
    /// Fraction of the limit.
    pub limit_fraction: Option<f64>,
    /// Cost over the first one's, with its 95 % interval.
    pub behind: Option<Ratio>,
    /// Whether only a busy core was seen: at least so fast.
    pub contended: bool,
    /// What of it depends on secrets, where that was judged.
    pub leaks: Option<LeakVerdict>,
}

/// The best of one group, or of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The group; none where there is only one.
    pub group: Option<String>,
    /// Cases that were ranked.
    pub contenders: usize,
    /// How many may be the first.
    pub may_be_first: usize,
    /// The first of them, in the order of their costs.
    pub rows: Vec<Ranked>,
}

/// A case that would have taken part and has no number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Absent {
    /// Which build.
    pub library: LibraryId,
    /// Which case.
    #[serde(flatten)]
    pub case: Case,
    /// What became of it.
    pub state: State,
    /// Whether there was no time for it: then nothing is wrong with it.
    pub left_out: bool,
    /// Why.
    pub reason: Option<String>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// What it is about.
    pub terms: Terms,
    /// The chance that the truly fastest is not among those in the first place.
    pub alpha: f64,
    /// One for each group, the one with the fastest first.
    pub standings: Vec<Standing>,
    /// Cases that were refused or failed.
    pub absent: Vec<Absent>,
    /// Cases without raw samples of two processes or more (or without counts, where instructions
    /// are asked for), which cannot be ranked.
    pub unranked: usize,
    /// Measured cases that take no part because same traces were asked for; none where they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

/// Answers a question from a record, with at most `rows` rows a group beside those that may be the
/// first.
///
/// # Errors
/// What the record lacks, and what would measure it.
pub fn rank(record: &Record, question: &Question, rows: usize) -> Result<Ranking, String> {
    let terms = Terms::of(record, question)?;
    let taken =
        |m: &&Measurement| terms.takes(m) && question.takes_case(m) && of_library(question, m);
    let mut found: Vec<&Measurement> = record.measurements.iter().filter(taken).collect();
    if !found.iter().any(|m| m.state == State::Measured) {
        return Err(format!("the record has no measured case for: {}", terms.sentence));
    }
    let secret = question.same_trace.then(|| only_same_trace(record, &mut found));
    let mut ranking = Ranking {
        alpha: ALPHA,
        standings: Vec::new(),
        absent: found.iter().filter_map(absent).collect(),
        unranked: found.iter().filter(|m| m.state == State::Imported).count(),
        secret,
        terms,
    };
    let mut groups: BTreeMap<Option<String>, Vec<Contender<'_>>> = BTreeMap::new();
    for m in found.into_iter().filter(|m| m.state == State::Measured) {
        match Contender::of(record, m, &ranking.terms) {
            Some(contender) => groups.entry(group_of(question.per, m)).or_default().push(contender),
            None => ranking.unranked += 1,
        }
    }
    let mut standings: Vec<(f64, Standing)> =
        groups.into_iter().map(|(name, all)| standing(name, all, rows)).collect();
    // Sizes and tiers have an order of their own, which is that of their names here.
    if !matches!(question.per, Some(Per::Size | Per::Tier)) {
        standings.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    ranking.standings = standings.into_iter().map(|(_, s)| s).collect();
    if ranking.standings.is_empty() {
        let secret = ranking.secret.map(|left_out| format!(" ({left_out})")).unwrap_or_default();
        return Err(format!(
            "no case has what it takes to be ranked for: {}{secret}",
            ranking.terms.sentence
        ));
    }
    Ok(ranking)
}

fn of_library(question: &Question, m: &Measurement) -> bool {
    let versioned = format!("{}@{}", m.library.name, m.library.version);
    let is = |g: &base::model::NameGlob| g.matches(&m.library.name) || g.matches(&versioned);
    question.libraries.is_empty() || question.libraries.iter().any(is)
}

/// Groups sort by their names; of sizes the digits are filled up.
fn group_of(per: Option<Per>, m: &Measurement) -> Option<String> {
    Some(match per? {
        Per::Library => format!("{}@{}", m.library.name, m.library.version),
        Per::Algorithm => m.algorithm.clone(),
        Per::Family => family(&m.algorithm),
        Per::Size => format!("{:>9} B", m.size),
        Per::Tier => {
            let place = Tier::ALL.iter().position(|t| *t == m.tier).unwrap_or_default();
            format!("{}{}", " ".repeat(Tier::ALL.len() - place), m.tier)
        }
    })
}

fn absent(m: &&Measurement) -> Option<Absent> {
    matches!(m.state, State::Refused | State::Failed).then(|| Absent {
        library: m.library.clone(),
        case: Case::of(m),
        state: m.state,
        left_out: m.is_left_out(),
        reason: m.reason.clone(),
    })
}

impl Terms {
    fn of(record: &Record, q: &Question) -> Result<Self, String> {
        let rows: Vec<&Measurement> = record
            .measurements
            .iter()
            .filter(|m| m.state == State::Measured && q.takes_case(m) && of_library(q, m))
            .collect();
        if rows.is_empty() {
            return Err(
                "the record has no measured case of such an algorithm and library".to_owned()
            );
        }
        // What is left open is as usual, where the record has that, else as in its first case.
        let first = rows[0];
        let has = |direction| rows.iter().any(|m| m.direction == direction);
        let usual = if has(Direction::Encrypt) { Direction::Encrypt } else { first.direction };
        let survey = first.model.is_of_survey() || rows.iter().any(|m| m.model == Model::Message);
        let model = if survey { Model::Message } else { first.model };
        let mut terms = Self {
            sentence: String::new(),
            by: q.by,
            per: q.per,
            unit: None,
            size: None,
            direction: q.direction.unwrap_or(usual),
            model: q.model.unwrap_or(model),
            tier: (q.per != Some(Per::Tier)).then(|| q.tier.unwrap_or(Tier::Native)),
            threads: q.threads.unwrap_or(1),
            footprint: q.footprint.unwrap_or_default(),
            in_place: q.in_place.unwrap_or(false),
            setting: q.setting.clone().unwrap_or_else(|| first.setting.clone()),
        };
        let fitting: Vec<&Measurement> = rows.iter().copied().filter(|m| terms.takes(m)).collect();
        let sizes: BTreeSet<usize> = fitting.iter().map(|m| m.size).collect();
        let usual = || sizes.get(&USUAL_SIZE).or(sizes.last()).copied();
        if q.per != Some(Per::Size) {
            terms.size = q.size.or_else(usual);
        }
        terms.unit = (terms.by == By::Time).then(|| {
            let known = fitting.iter().all(|m| m.cycles_per_op.is_some());
            if known { Unit::Cycles } else { Unit::Nanoseconds }
        });
        terms.sentence = sentence(q, &terms);
        terms.is_there(&fitting, &rows)?;
        Ok(terms)
    }

    fn takes(&self, m: &Measurement) -> bool {
        self.size.is_none_or(|s| m.size == s || m.size == 0)
            && self.tier.is_none_or(|t| t == m.tier)
            && (self.direction, self.model, self.threads) == (m.direction, m.model, m.threads)
            && (self.footprint, self.in_place) == (m.footprint, m.in_place)
            && self.setting == m.setting
    }

    /// Says which of the terms the record does not have.
    fn is_there(&self, fitting: &[&Measurement], rows: &[&Measurement]) -> Result<(), String> {
        type Of = fn(&Measurement) -> String;
        let of_tier: Of = |m| m.tier.to_string();
        let of_direction: Of = |m| m.direction.to_string();
        let of_model: Of = |m| m.model.to_string();
        let of_threads: Of = |m| m.threads.to_string();
        let of_footprint: Of = |m| m.footprint.to_string();
        let of_setting: Of = |m| m.setting.clone();
        let terms = [
            (self.tier.map(|t| t.to_string()), "tier {}", "-t", of_tier),
            (Some(self.direction.to_string()), "direction {}", "-d", of_direction),
            (Some(self.model.to_string()), "model {}", "-m", of_model),
            (Some(self.threads.to_string()), "case of {} threads", "--threads", of_threads),
            (Some(self.footprint.to_string()), "footprint {}", "--footprint", of_footprint),
            (Some(self.setting.clone()), "setting '{}'", "", of_setting),
        ];
        let lacks = |what: &str, wanted: &str, flag: &str, has: &[String]| {
            let (what, has) = (what.replace("{}", wanted), has.join(", "));
            let more = match rows[0].model.is_of_survey() && !flag.is_empty() {
                true => format!("; `ciphermark run {flag} {wanted}` measures it"),
                false => String::new(),
            };
            format!("the record has no {what}, only {has}{more}")
        };
        for (wanted, what, flag, of) in terms {
            let has: BTreeSet<String> = rows.iter().map(|m| of(m)).collect();
            if let Some(wanted) = wanted.filter(|wanted| !has.contains(wanted)) {
                return Err(lacks(what, &wanted, flag, &Vec::from_iter(has)));
            }
        }
        if let Some(size) = self.size.filter(|s| !fitting.iter().any(|m| m.size == *s)) {
            let sizes: BTreeSet<usize> = rows.iter().map(|m| m.size).collect();
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            return Err(lacks("size of {} bytes", &size.to_string(), "-s", &sizes));
        }
        Ok(())
    }
}

/// The question in words.
fn sentence(q: &Question, terms: &Terms) -> String {
    let mut words = vec![match terms.by {
        By::Time => "fastest".to_owned(),
        By::Instructions => "fewest instructions".to_owned(),
    }];
    words.extend(q.class.map(|class| class.to_string()));
    words.extend(q.same_trace.then(|| "same-trace".to_owned()));
    words.extend(either(&q.algorithms).map(|names| format!("of {names}")));
    words.extend(either(&q.libraries).map(|names| format!("in {names}")));
    words.extend(q.key_bits.map(|bits| format!("with {bits}-bit keys")));
    if !matches!(terms.direction, Direction::Digest | Direction::Copy) {
        words.push(format!("on {}", terms.direction));
    }
    words.extend(terms.size.filter(|s| *s > 0).map(|s| format!("at {s} bytes")));
    words.extend(q.per.map(|per| format!("per {per}")));
    words.push(format!("(model {}", terms.model));
    words.extend(terms.tier.map(|t| format!(", tier {}", t.in_words())));
    if terms.footprint != Footprint::Hot {
        words.push(format!(", footprint {}", terms.footprint));
    }
    words.extend(terms.in_place.then(|| ", in place".to_owned()));
    words.extend((!terms.setting.is_empty()).then(|| format!(", {}", terms.setting)));
    words.extend((terms.threads > 1).then(|| format!(", {} threads", terms.threads)));
    words.join(" ").replace(" ,", ",") + ")"
}

/// `a, b or c`; of many the first few and how many more.
fn either(globs: &[NameGlob]) -> Option<String> {
    const FEW: usize = 4;
    let names: Vec<&str> = globs.iter().map(NameGlob::text).collect();
    match &names[..] {
        [] => None,
        [one] => Some((*one).to_owned()),
        [first @ .., last] if names.len() <= FEW => Some(format!("{} or {last}", first.join(", "))),
        _ => Some(format!("{} or {} others", names[..FEW - 1].join(", "), names.len() + 1 - FEW)),
    }
}

/// A case with what it is ranked by.
struct Contender<'a> {
    m: &'a Measurement,
    cost: f64,
    /// Of costs that scatter; a count is exact.
    group: Option<Group>,
    instructions: Option<f64>,
    leaks: Option<LeakVerdict>,
}

impl<'a> Contender<'a> {
    fn of(record: &Record, m: &'a Measurement, terms: &Terms) -> Option<Self> {
        let instructions = instructions(record, m);
        let leaks = record.leaks_of(m).map(|l| l.verdict);
        let Some(unit) = terms.unit else {
            return Some(Self { m, cost: instructions?, group: None, instructions, leaks });
        };
        let group = group(record, m, unit)?;
        Some(Self { m, cost: group.cost(), group: Some(group), instructions, leaks })
    }
}

/// With the cost of the first, by which standings are put in order.
fn standing(name: Option<String>, mut all: Vec<Contender<'_>>, rows: usize) -> (f64, Standing) {
    all.sort_by(|a, b| {
        a.cost
            .total_cmp(&b.cost)
            .then_with(|| (&a.m.library, &a.m.algorithm).cmp(&(&b.m.library, &b.m.algorithm)))
    });
    let groups: Vec<Group> = all.iter().filter_map(|c| c.group.clone()).collect();
    let places = if groups.len() == all.len() {
        surely_faster(&groups, rows, ALPHA)
    } else {
        exact_places(&all, rows)
    };
    let row = |place: &Place| {
        let first = (place.at > 0).then_some(&all[0]);
        let last_place = all.len() - place.slower;
        Ranked { place: place.faster + 1, last_place, ..ranked(&all[place.at], first) }
    };
    let standing = Standing {
        group: name.map(|n| n.trim().to_owned()),
        contenders: all.len(),
        may_be_first: places.iter().filter(|place| place.faster == 0).count(),
        rows: places.iter().map(row).collect(),
    };
    (all[0].cost, standing)
}

/// As `surely_faster`, of counts that do not scatter.
fn exact_places(ranked: &[Contender<'_>], shown: usize) -> Vec<Place> {
    let place = |(at, c): (usize, &Contender<'_>)| Place {
        at,
        faster: ranked.iter().filter(|other| other.cost < c.cost).count(),
        slower: ranked.iter().filter(|other| other.cost > c.cost).count(),
    };
    let places = ranked.iter().enumerate().map(place);
    places.filter(|place| place.at < shown || place.faster == 0).collect()
}

/// The case, before it has its places.
fn ranked(c: &Contender<'_>, first: Option<&Contender<'_>>) -> Ranked {
    let behind = first.map(|first| match (&c.group, &first.group) {
        (Some(own), Some(best)) => own.less(best).ratio(ALPHA, 0.0),
        _ => Ratio::exact(c.cost / first.cost),
    });
    Ranked {
        place: 0,
        last_place: 0,
        library: c.m.library.clone(),
        case: Case::of(c.m),
        label: label(c.m),
        mb_per_s: c.m.mb_per_s,
        ns_per_op: c.m.ns_per_op,
        cycles_per_op: c.m.cycles_per_op,
        instructions_per_op: c.instructions,
        limit_fraction: c.m.limit_fraction,
        behind,
        contended: c.m.contended,
        leaks: c.leaks,
    }
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
