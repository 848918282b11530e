//! The answer to a question: cases in the order of their costs, with the places that they may have; of
//! nothing but what took the same way with every secret, where that is asked.

use crate::compare::answer::{common_unit, leaks};
use crate::compare::cost::Cost;
use crate::compare::missing::{Missing, missing};
use crate::compare::sides::machine_of;
use crate::compare::{By, Case, Per, Question, Unit, family, instructions_of, label};
use base::analysis::{ALPHA, Ratio, Standing as Place, surely_faster};
use base::model::{Algorithm, Direction, Footprint, Model, NameGlob, Tier};
use record::{Estimate, LeakVerdict, LibraryId, Measurement, Record, State};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The size at which cases are ranked where the question names none: PostgreSQL's page.
const USUAL_SIZE: usize = 8192;

/// What the answer is about: the question, with what it left open decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Terms {
    pub sentence: String,
    pub by: By,
    pub per: Option<Per>,
    /// Unit of the costs that were compared; instructions have none.
    pub unit: Option<Unit>,
    /// Bytes of plaintext; none where each size has its best.
    pub size: Option<usize>,
    pub direction: Direction,
    pub model: Model,
    /// Whether cases are ranked that were measured, or figures from elsewhere.
    #[serde(skip)]
    pub(crate) state: State,
    /// Tier; none where each tier has its best.
    pub tier: Option<Tier>,
    pub threads: u32,
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    pub in_place: bool,
    /// What else tells cases apart.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub setting: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// The first place that it may have: one more than the number of cases that are surely faster.
    pub place: usize,
    /// The last one: all but those that are surely slower.
    pub last_place: usize,
    pub library: LibraryId,
    /// Whether another build of the same name and version takes part.
    #[serde(skip)]
    pub has_twin: bool,
    #[serde(flatten)]
    pub case: Case,
    /// What must stand beside the algorithm: `no-integrity`, `accident-only`, `composite`, …
    pub label: Option<String>,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    pub ns_per_op: Option<Estimate>,
    pub cycles_per_op: Option<Estimate>,
    /// Instructions of one operation, where they were counted.
    pub instructions_per_op: Option<f64>,
    pub limit_fraction: Option<f64>,
    /// Cost over the first one's, with its 95 % interval; its lower end is 0 where only a busy core was seen, and
    /// there is no upper one (JSON: null) where that is so of the first.
    pub behind: Option<Ratio>,
    /// Whether only a busy core was seen: at least so fast.
    pub contended: bool,
    /// Whether it and another take fewer cycles and more time, or more cycles and less time: which is faster hangs
    /// on the core's clock, so neither surely is.
    pub clock_decides: bool,
    pub leaks: Option<LeakVerdict>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The group; none where there is only one.
    pub group: Option<String>,
    pub contenders: usize,
    pub may_be_first: usize,
    /// The first of them, in the order of their costs.
    pub rows: Vec<Ranked>,
}

/// A case that would have taken part and has no number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Absent {
    pub library: LibraryId,
    #[serde(flatten)]
    pub case: Case,
    pub state: State,
    /// Whether there was no time for it: then nothing is wrong with it.
    pub left_out: bool,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    pub terms: Terms,
    /// The chance that the truly fastest is not among those in the first place; none of figures from elsewhere.
    pub alpha: Option<f64>,
    /// One for each group, the one with the fastest first.
    pub standings: Vec<Standing>,
    /// Cases that were refused or failed.
    pub absent: Vec<Absent>,
    /// What could take part and was not measured as it was asked for.
    pub missing: Vec<Missing>,
    /// Whether these are figures from elsewhere, which have no interval: so it is where none was measured.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// The machines that the figures are from, where they are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<String>,
    /// Cases without raw samples of two processes or more (or without counts, where instructions
    /// are asked for), which cannot be ranked.
    pub unranked: usize,
    /// Measured cases that take no part because they depend on a secret, or because same traces were asked for; none where
    /// there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

/// Answers a question from a record, with at most `rows` rows a group beside those that may be the
/// first.
pub fn rank(record: &Record, question: &Question, rows: usize) -> Result<Ranking, String> {
    let terms = Terms::of(record, question)?;
    let taken =
        |m: &&Measurement| terms.takes(m) && question.takes_case(m) && of_library(question, m);
    let mut found: Vec<&Measurement> = record.measurements.iter().filter(taken).collect();
    let state = terms.state;
    let contends =
        |m: &Measurement| m.state == state && (state == State::Measured || m.reason.is_none());
    if !found.iter().any(|m| contends(m)) {
        let word = state.name();
        let doubt = found.iter().filter(|m| m.state == state).find_map(|m| m.reason.as_deref());
        return Err(match doubt {
            Some(why) => {
                format!("all imported figures are doubted ({why}) for: {}", terms.sentence)
            }
            None => format!("the record has no {word} case for: {}", terms.sentence),
        });
    }
    let secret = match question.same_trace {
        true => Some(only_same_trace(record, &mut found)),
        false if question.leaking => None,
        false => without_leaking(record, &mut found),
    };
    let mut ranking = Ranking {
        alpha: (state == State::Measured).then_some(ALPHA),
        standings: Vec::new(),
        absent: found.iter().filter_map(absent).collect(),
        missing: missing(record, question, &terms),
        imported: state == State::Imported,
        machines: machines(record, found.iter().copied().filter(|m| contends(m))),
        unranked: found.iter().filter(|m| m.state == State::Imported && !contends(m)).count(),
        secret,
        terms,
    };
    let twins = twins(found.iter().copied().filter(|m| contends(m)).map(|m| &m.library));
    let mut groups: BTreeMap<Option<String>, Vec<Contender<'_>>> = BTreeMap::new();
    for m in found.into_iter().filter(|m| contends(m)) {
        match Contender::of(record, m, &ranking.terms) {
            Some(contender) => {
                let has_twin = twins.contains(&(&*m.library.name, &*m.library.version));
                let contender = Contender { has_twin, ..contender };
                groups.entry(group_of(question.per, m)).or_default().push(contender);
            }
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
        let too = if question.same_trace { "" } else { "; --leaking ranks them, too" };
        let secret = ranking.secret.map(|left_out| format!(" ({left_out}{too})"));
        let secret = secret.unwrap_or_default();
        let lacking = match (ranking.unranked, ranking.terms.by) {
            (0, _) => String::new(),
            (n, By::Time) => format!(" ({n} cases without samples by process)"),
            (n, By::Instructions) => format!(" ({n} cases without counted instructions)"),
        };
        return Err(format!(
            "no case has what it takes to be ranked for: {}{lacking}{secret}",
            ranking.terms.sentence
        ));
    }
    Ok(ranking)
}

/// Where figures are from, where that is not one machine.
fn machines<'a>(record: &Record, rows: impl Iterator<Item = &'a Measurement>) -> Vec<String> {
    let all: BTreeSet<String> = rows.map(|m| machine_of(record, m)).collect();
    if all.len() > 1 { Vec::from_iter(all) } else { Vec::new() }
}

/// Names and versions that several of these builds have.
fn twins<'a>(libraries: impl Iterator<Item = &'a LibraryId>) -> BTreeSet<(&'a str, &'a str)> {
    let builds: BTreeSet<&LibraryId> = libraries.collect();
    let release = |id: &&'a LibraryId| (&*id.name, &*id.version);
    let mut seen = BTreeSet::new();
    builds.iter().map(release).filter(|release| !seen.insert(*release)).collect()
}

pub(crate) fn of_library(question: &Question, m: &Measurement) -> bool {
    let LibraryId { name, version, .. } = &m.library;
    let is = |g: &base::model::NameGlob| g.matches_library(name, version);
    question.libraries.is_empty() || question.libraries.iter().any(is)
}

/// Groups sort by their names; of sizes the digits are filled up.
fn group_of(per: Option<Per>, m: &Measurement) -> Option<String> {
    Some(match per? {
        Per::Library => m.library.label(),
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
        let of = |state: State| -> Vec<&Measurement> {
            let all = record.measurements.iter();
            all.filter(|m| m.state == state && q.takes_case(m) && of_library(q, m)).collect()
        };
        let (measured, imported) = (of(State::Measured), of(State::Imported));
        // What other programs measured counts where the record has nothing of its own that is asked for.
        let has_asked = |rows: &[&Measurement]| rows.iter().any(|m| q.may_take(m));
        let (state, rows) =
            match measured.is_empty() || !has_asked(&measured) && has_asked(&imported) {
                true => (State::Imported, imported),
                false => (State::Measured, measured),
            };
        if rows.is_empty() {
            let size = q.size.map(|size| format!(" at {size} bytes")).unwrap_or_default();
            let what = "the record has no measured case of such an algorithm and library";
            return Err(format!("{what}{size}"));
        }
        // What is left open is as usual, where the record has that, else as in its first case.
        let first = rows[0];
        let has = |direction| rows.iter().any(|m| m.direction == direction);
        let usual = if has(Direction::Encrypt) { Direction::Encrypt } else { first.direction };
        let has_message = rows.iter().any(|m| m.model == Model::Message);
        // What other programs measure is what there is.
        let survey = first.model.is_of_survey() && state == State::Measured || has_message;
        let model = q.model.unwrap_or(if survey { Model::Message } else { first.model });
        let elsewhere = (state == State::Imported).then_some(first);
        let mut terms = Self {
            sentence: String::new(),
            by: q.by,
            per: q.per,
            unit: None,
            size: None,
            direction: q.direction.unwrap_or(usual),
            model,
            state,
            tier: (q.per != Some(Per::Tier)).then(|| q.tier.unwrap_or(Tier::Native)),
            threads: q.threads.or(elsewhere.map(|m| m.threads)).unwrap_or(1),
            footprint: q.footprint.unwrap_or_default(),
            in_place: q.in_place.unwrap_or(elsewhere.is_some() && model == Model::Stream),
            setting: q.setting.clone().unwrap_or_else(|| first.setting.clone()),
        };
        let fitting: Vec<&Measurement> = rows.iter().copied().filter(|m| terms.takes(m)).collect();
        let sizes: BTreeSet<usize> = fitting.iter().map(|m| m.size).collect();
        let usual = || sizes.get(&USUAL_SIZE).or(sizes.last()).copied();
        if q.per != Some(Per::Size) {
            terms.size = q.size.or_else(usual);
        }
        terms.unit = (terms.by == By::Time).then(|| common_unit(&fitting));
        terms.sentence = sentence(q, &terms, &fitting);
        terms.is_there(&fitting, &rows)?;
        Ok(terms)
    }

    pub(crate) fn takes(&self, m: &Measurement) -> bool {
        self.size.is_none_or(|s| m.size == s || m.size == 0)
            && self.tier.is_none_or(|t| t == m.tier)
            && (self.direction, self.model, self.threads) == (m.direction, m.model, m.threads)
            && (self.footprint, self.in_place) == (m.footprint, m.in_place)
            && self.setting == m.setting
    }

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

fn sentence(q: &Question, terms: &Terms, fitting: &[&Measurement]) -> String {
    let mut words = vec![match terms.by {
        By::Time => "fastest".to_owned(),
        By::Instructions => "fewest instructions".to_owned(),
    }];
    words.extend(q.class.map(|class| class.to_string()));
    words.extend(q.same_trace.then(|| "same-trace".to_owned()));
    words.extend(either(&q.algorithms).map(|names| format!("of {names}")));
    words.extend(either(&q.libraries).map(|names| format!("in {names}")));
    words.extend(q.key_bits.map(|bits| format!("with {bits}-bit keys")));
    let is_only = [Direction::Digest, Direction::Copy, Direction::Generate];
    if !is_only.contains(&terms.direction) {
        words.push(format!("on {}", terms.direction));
    }
    // A derivation's size is what it is to cost.
    let units: BTreeSet<&str> = fitting.iter().map(|m| unit_of_size(m)).collect();
    let unit = units.first().filter(|_| units.len() == 1).unwrap_or(&"bytes");
    words.extend(terms.size.filter(|s| *s > 0).map(|s| format!("at {s} {unit}")));
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

fn unit_of_size(m: &Measurement) -> &'static str {
    Algorithm::find(&m.algorithm).ok().and_then(|a| a.cost_unit()).unwrap_or("bytes")
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

struct Contender<'a> {
    m: &'a Measurement,
    has_twin: bool,
    cost: f64,
    /// Of costs that scatter; a count is exact, and a figure from elsewhere has no interval.
    costs: Option<Cost<'a>>,
    instructions: Option<f64>,
    leaks: Option<LeakVerdict>,
}

impl<'a> Contender<'a> {
    fn of(record: &'a Record, m: &'a Measurement, terms: &Terms) -> Option<Self> {
        let instructions = instructions_of(record, m);
        let leaks = record.leaks_of(m).map(|l| l.verdict);
        let with = |cost, costs| Self { m, has_twin: false, cost, costs, instructions, leaks };
        let Some(unit) = terms.unit else { return Some(with(instructions?, None)) };
        if m.state == State::Imported {
            return Some(with(unit.of(m)?.median, None));
        }
        let costs = Cost::of(record, m, unit)?;
        Some(with(costs.group.cost(), Some(costs)))
    }

    fn is_surely_below(&self, other: &Self, alpha: f64) -> bool {
        match (&self.costs, &other.costs) {
            (Some(own), Some(other)) => own.is_surely_below(other, alpha),
            _ => self.m.state != State::Imported && self.cost < other.cost,
        }
    }

    fn hangs_on_clock(&self, all: &[Self]) -> bool {
        let each = ALPHA / all.len().saturating_sub(1).max(1) as f64;
        let pairs = all.iter().filter_map(|other| self.costs.as_ref().zip(other.costs.as_ref()));
        pairs.into_iter().any(|(own, other)| own.hangs_on_clock(other, each))
    }
}

/// With the cost of the first, by which standings are put in order.
fn standing(name: Option<String>, mut all: Vec<Contender<'_>>, rows: usize) -> (f64, Standing) {
    all.sort_by(|a, b| {
        a.cost
            .total_cmp(&b.cost)
            .then_with(|| (&a.m.library, &a.m.algorithm).cmp(&(&b.m.library, &b.m.algorithm)))
    });
    let mut places = surely_faster(&all, rows, ALPHA, Contender::is_surely_below);
    let may_be_first = places.iter().filter(|place| place.faster == 0).count();
    if all.iter().any(|c| c.m.state == State::Imported) {
        // Any of them may be the first.
        places.truncate(rows);
    }
    let row = |place: &Place| {
        let own = &all[place.at];
        let first = (place.at > 0).then_some(&all[0]);
        Ranked {
            place: place.faster + 1,
            last_place: all.len() - place.slower,
            clock_decides: own.hangs_on_clock(&all),
            ..ranked(own, first)
        }
    };
    let standing = Standing {
        group: name.map(|n| n.trim().to_owned()),
        contenders: all.len(),
        may_be_first,
        rows: places.iter().map(row).collect(),
    };
    (all[0].cost, standing)
}

fn ranked(c: &Contender<'_>, first: Option<&Contender<'_>>) -> Ranked {
    let behind = first.map(|first| match (&c.costs, &first.costs) {
        (Some(own), Some(best)) => own.over(best),
        _ => Ratio::exact(c.cost / first.cost),
    });
    Ranked {
        place: 0,
        last_place: 0,
        library: c.m.library.clone(),
        has_twin: c.has_twin,
        case: Case::of(c.m),
        label: label(c.m),
        mb_per_s: c.m.mb_per_s,
        ns_per_op: c.m.ns_per_op,
        cycles_per_op: c.m.cycles_per_op,
        instructions_per_op: c.instructions,
        limit_fraction: c.m.limit_fraction,
        behind,
        contended: c.m.contended,
        clock_decides: false,
        leaks: c.leaks,
    }
}

/// Cases that are left out for what is known of their secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Secret {
    pub depends: usize,
    /// By taint a place may depend on it.
    pub may_depend: usize,
    pub not_judged: usize,
    pub without_verdict: usize,
}

impl Secret {
    /// Counts a case; true if it takes part.
    fn is_same(&mut self, verdict: Option<LeakVerdict>) -> bool {
        let count = match verdict {
            Some(LeakVerdict::SameTrace) => return true,
            Some(LeakVerdict::Depends) => &mut self.depends,
            Some(LeakVerdict::MayDepend) => &mut self.may_depend,
            Some(LeakVerdict::NotJudged) => &mut self.not_judged,
            None => &mut self.without_verdict,
        };
        *count += 1;
        false
    }
}

impl fmt::Display for Secret {
    /// `left out: 3 depend on the secret, 2 without a verdict`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.depends, "depend on the secret"),
            (self.may_depend, "may depend on it"),
            (self.not_judged, "not judged"),
            (self.without_verdict, "without a verdict"),
        ];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let counts: Vec<String> = counts.collect();
        match counts.is_empty() {
            true => f.write_str("left out: none"),
            false => write!(f, "left out: {}", counts.join(", ")),
        }
    }
}

/// Drops measured cases that depend on a secret, and counts them; none where there is none.
fn without_leaking(record: &Record, found: &mut Vec<&Measurement>) -> Option<Secret> {
    let mut secret = Secret::default();
    found.retain(|m| {
        let is_left_out = m.state == State::Measured && leaks(record, m);
        secret.depends += usize::from(is_left_out);
        !is_left_out
    });
    (secret.depends > 0).then_some(secret)
}

/// Drops measured cases without the same trace, and counts them.
pub(crate) fn only_same_trace(record: &Record, found: &mut Vec<&Measurement>) -> Secret {
    let mut secret = Secret::default();
    let verdict = |m: &Measurement| record.leaks_of(m).map(|l| l.verdict);
    found.retain(|m| m.state != State::Measured || secret.is_same(verdict(m)));
    secret
}

#[cfg(test)]
mod tests {
    use super::{rank, *};
    use crate::compare::{Class, Question};
    use crate::sample::{case, executed, leaks, library, record, without_number};
    use base::text::fixtures::says;
    use record::{LeakVerdict, Measurement, Record};

    const STEADY: [f64; 6] = [1000.0, 1004.0, 1008.0, 996.0, 992.0, 1000.0];

    fn row(name: &str, algorithm: &str, size: usize, factor: f64) -> Measurement {
        let mut m = case(algorithm, size, &STEADY.map(|c| c * factor));
        m.library = library(name, "1", name);
        m
    }

    fn places(ranking: &Ranking) -> Vec<(usize, usize, &str)> {
        let rows = ranking.standings.iter().flat_map(|s| &s.rows);
        rows.map(|r| (r.place, r.last_place, r.library.name.as_str())).collect()
    }

    fn authenticated() -> Question {
        Question { class: Some(Class::Authenticated), ..Question::default() }
    }

    fn asked(record: &Record, question: &Question) -> Ranking {
        rank(record, question, 10).unwrap()
    }

    fn some() -> Record {
        record(
            "a",
            vec![
                row("a", "aes-128-gcm", 8192, 1.001),
                row("b", "aes-128-gcm", 8192, 1.0),
                row("c", "aes-256-gcm", 8192, 1.2),
                row("d", "aes-128-ctr", 8192, 0.5),
                row("a", "aes-128-gcm", 64, 0.1),
                row("c", "aes-256-ctr+xxh3", 8192, 2.0),
                without_number(row("e", "aes-128-gcm", 8192, 1.0), State::Refused, "wrong tag"),
                row("f", "sha256", 8192, 0.1),
            ],
        )
    }

    #[test]
    fn each_case_has_the_places_that_it_may_have() {
        let ranking = asked(&some(), &Question { size: Some(8192), ..authenticated() });
        assert_eq!(places(&ranking), [(1, 2, "b"), (1, 2, "a"), (3, 3, "c")]);
        let standing = &ranking.standings[0];
        assert_eq!(standing.rows[2].case.algorithm, "aes-256-gcm");
        assert_eq!((standing.contenders, standing.may_be_first), (3, 2));
        let behind = standing.rows[2].behind.unwrap();
        assert!((behind.estimate - 1.2).abs() < 1e-3 && behind.low < 1.2 && behind.high > 1.2);
        assert_eq!(standing.rows[0].behind, None);
        // Refused cases are named and not ranked.
        let absent = &ranking.absent[0];
        assert_eq!((&*absent.library.name, absent.reason.as_deref()), ("e", Some("wrong tag")));
        let few = rank(&some(), &authenticated(), 1).unwrap();
        assert_eq!(few.standings[0].rows.len(), 2, "few rows leave no tie out");
    }

    #[test]
    fn figures_of_several_machines_are_ranked_with_their_names() {
        let from = |name: &str, machine: Option<&str>| Measurement {
            state: State::Imported,
            reason: None,
            imported: Some(record::Imported {
                source: "a page".to_owned(),
                machine: machine.map(str::to_owned),
            }),
            ..row(name, "aes-128-gcm", 8192, 1.0)
        };
        let of = |rows: Vec<Measurement>| asked(&record("a", rows), &authenticated()).machines;
        assert_eq!(of(vec![from("a", Some("x")), from("b", Some("y"))]), ["x", "y"]);
        assert_eq!(of(vec![from("a", Some("x")), from("b", None)]).len(), 2);
        for one in [Some("x"), None] {
            assert_eq!(of(vec![from("a", one), from("b", one)]), Vec::<String>::new());
        }
    }

    #[test]
    fn two_builds_of_a_version_are_known_as_twins_though_one_is_not_shown() {
        let build = |id: &str, factor| {
            let mut m = row("a", "aes-128-gcm", 8192, factor);
            m.library.id = id.to_owned();
            m
        };
        let rows = vec![build("build-id:01", 1.0), build("build-id:02", 2.0)];
        let others = vec![row("b", "aes-128-gcm", 8192, 1.5)];
        let record = record("a", [rows, others].concat());
        let ranking = rank(&record, &authenticated(), 2).unwrap();
        let found: Vec<_> =
            ranking.standings[0].rows.iter().map(|r| (&*r.library.name, r.has_twin)).collect();
        assert_eq!(found, [("a", true), ("b", false)]);
    }

    #[test]
    fn fewer_cycles_at_a_lower_clock_make_nobody_the_first() {
        let mut wide = row("wide", "aes-128-gcm", 8192, 0.9);
        wide.ns_per_op = wide.ns_per_op.map(|ns| ns.map(|ns| ns * 1.3));
        let rows = vec![
            row("plain", "aes-128-gcm", 8192, 1.0),
            wide,
            row("slow", "aes-128-gcm", 8192, 2.0),
        ];
        let ranking = asked(&record("a", rows), &authenticated());
        let rows = &ranking.standings[0].rows;
        let found: Vec<_> = rows.iter().map(|r| (r.place, r.last_place, r.clock_decides)).collect();
        assert_eq!(found, [(1, 2, true), (1, 2, true), (3, 3, false)]);
    }

    #[test]
    fn what_only_a_busy_core_showed_is_never_surely_slower() {
        let bound = Measurement { contended: true, ..row("bound", "aes-128-gcm", 8192, 1.2) };
        let rows =
            vec![row("a", "aes-128-gcm", 8192, 1.0), bound, row("b", "aes-128-gcm", 8192, 1.4)];
        let ranking = asked(&record("a", rows), &authenticated());
        let found = places(&ranking);
        assert_eq!(found, [(1, 2, "a"), (1, 2, "bound"), (3, 3, "b")]);
        assert_eq!(ranking.standings[0].may_be_first, 2);
        let behind = ranking.standings[0].rows[1].behind.unwrap();
        assert!(behind.low == 0.0 && behind.high > 1.2, "{behind:?}");
    }

    #[test]
    fn figures_from_elsewhere_may_have_any_place_and_answer_what_was_not_measured() {
        let imported = |name: &str, factor| Measurement {
            state: State::Imported,
            model: Model::Stream,
            reason: None,
            ..row(name, "aes-128-gcm", 8192, factor)
        };
        let mut both = record("a", vec![row("a", "aes-128-gcm", 8192, 1.0)]);
        both.measurements.extend([imported("x", 1.0), imported("y", 3.0)]);
        both.measurements.iter_mut().for_each(|m| m.in_place = m.model == Model::Stream);
        let stream = Question { model: Some(Model::Stream), ..authenticated() };
        let ranking = asked(&both, &stream);
        let found = places(&ranking);
        assert_eq!((found, ranking.alpha), (vec![(1, 2, "x"), (1, 2, "y")], None));
        assert_eq!(asked(&both, &authenticated()).alpha, Some(ALPHA));
        for m in &mut both.measurements[1..] {
            m.reason = Some("faster than memory".to_owned());
        }
        let why = rank(&both, &stream, 10).unwrap_err();
        assert!(why.starts_with("all imported figures are doubted (faster than memory)"), "{why}");
    }

    #[test]
    fn what_is_not_said_is_decided_and_told() {
        let ranking = asked(&some(), &Question::default());
        let first = &ranking.standings[0].rows[0].case;
        assert_eq!(first.algorithm, "aes-128-ctr", "8 KiB, and no digest");
        assert_eq!(ranking.terms.size, Some(8192));
        assert_eq!(
            ranking.terms.sentence,
            "fastest on encrypt at 8192 bytes (model message, tier native)"
        );
        let labels: Vec<_> = ranking.standings[0].rows.iter().map(|r| r.label.as_deref()).collect();
        assert_eq!(labels[0], Some("no-integrity"));
        assert_eq!(*labels.last().unwrap(), Some("composite, accident-only"));
    }

    #[test]
    fn each_group_has_its_own_best() {
        let per = |per, of| Question { per: Some(per), ..of };
        let ranking = asked(&some(), &per(Per::Library, Question::default()));
        let groups: Vec<_> =
            ranking.standings.iter().map(|s| s.group.as_deref().unwrap()).collect();
        assert_eq!(groups, ["d@1", "b@1", "a@1", "c@1"], "the fastest first");
        let ranking = asked(&some(), &per(Per::Size, authenticated()));
        let groups: Vec<_> =
            ranking.standings.iter().map(|s| s.group.as_deref().unwrap()).collect();
        assert_eq!(groups, ["64 B", "8192 B"]);
        assert_eq!(ranking.standings[0].rows[0].place, 1);
    }

    #[test]
    fn instructions_are_exact_so_only_equal_counts_tie() {
        let mut record = some();
        record.executed = record.measurements[..3]
            .iter()
            .zip([(2.0, 100.0), (2.0, 100.0), (1.0, 50.0)])
            .map(|(m, (byte, message))| executed(m, byte, message))
            .collect();
        for (m, e) in record.measurements[..3].iter_mut().zip(&record.executed) {
            (m.instructions_per_byte, m.instructions_per_message) = (e.per_byte, e.per_message);
        }
        let fewest = Question { by: By::Instructions, ..authenticated() };
        let ranking = asked(&record, &fewest);
        let found = places(&ranking);
        assert_eq!(found, [(1, 1, "c"), (2, 3, "a"), (2, 3, "b")]);
        assert_eq!(ranking.standings[0].rows[0].instructions_per_op, Some(8242.0));
        assert_eq!(ranking.terms.unit, None);
        says(rank(&some(), &fewest, 10).unwrap_err(), ["no case has what it takes"]);
    }

    #[test]
    fn what_the_record_lacks_is_named_with_what_measures_it() {
        let libraries = vec![base::model::NameGlob::parse("nobody").unwrap()];
        let (direction, model, footprint) =
            (Some(Direction::Decrypt), Some(Model::Rekey), Some(Footprint::Memory));
        let no_case = "no measured case of such an algorithm";
        let any = Question::default;
        for (question, says) in [
            (
                Question { tier: Some(Tier::Noaes), ..any() },
                "tier noaes, only native: run -t noaes",
            ),
            (Question { direction, ..any() }, "direction decrypt: run -d decrypt"),
            (Question { model, ..any() }, "model rekey: run -m rekey"),
            (Question { threads: Some(2), ..any() }, "case of 2 threads: run --threads 2"),
            (Question { footprint, ..any() }, "footprint memory: run --footprint memory"),
            (Question { size: Some(16), ..any() }, "size of 16 bytes, only 64, 8192: run -s 16"),
            (Question { class: Some(Class::Mac), ..any() }, no_case),
            (Question { libraries, ..any() }, &format!("{no_case} and library")),
        ] {
            let (lacks, command) = says.split_once(": ").unwrap_or((says, ""));
            let why = rank(&some(), &question, 10).unwrap_err();
            assert!(why.contains(lacks) && why.contains(command), "{question:?}: {why}");
        }
    }

    #[test]
    fn cases_without_raw_samples_are_counted_and_not_ranked() {
        let mut record = some();
        record.measurements[1].raw = record::Samples::default();
        let ranking = asked(&record, &authenticated());
        assert_eq!((ranking.unranked, ranking.standings[0].contenders), (1, 2));
        record.measurements.iter_mut().for_each(|m| m.raw = record::Samples::default());
        let why = rank(&record, &authenticated(), 10).unwrap_err();
        assert!(why.ends_with("(3 cases without samples by process)"), "{why}");
    }

    #[test]
    fn handshakes_are_ranked_by_their_own_model_part_and_setting() {
        let of = |name: &str, direction, setting: &str, factor| Measurement {
            model: Model::Handshake,
            direction,
            setting: setting.to_owned(),
            size: 0,
            ..row(name, "1.3 x25519 p256 full", 1, factor)
        };
        let (server, client) = (Direction::Server, Direction::Client);
        let mut tls = record(
            "a",
            vec![
                of("slow", server, "hot", 2.0),
                of("slow", client, "hot", 0.1),
                of("fast", server, "hot", 1.0),
                of("fast", server, "cold", 0.5),
            ],
        );
        let first = asked(&tls, &Question::default());
        assert_eq!(places(&first), [(1, 1, "fast"), (2, 2, "slow")]);
        assert_eq!(first.terms.sentence, "fastest on server (model handshake, tier native, hot)");
        let cold = Question { setting: Some("cold".to_owned()), ..Question::default() };
        assert_eq!(places(&asked(&tls, &cold)), [(1, 1, "fast")]);
        let idle = Question { setting: Some("idle".to_owned()), ..Question::default() };
        let why = rank(&tls, &idle, 10).unwrap_err();
        assert_eq!(why, "the record has no setting 'idle', only cold, hot");
        tls.details = Some(serde_json::json!({"kind": "tls-handshakes"}));
        let directions: Vec<_> = Question::usual(&tls).iter().map(|q| q.direction).collect();
        assert_eq!(directions, [Some(server), Some(client)]);
    }

    #[test]
    fn a_headline_names_what_takes_part_as_a_sentence_does() {
        let globs = |text: &str| text.split(' ').map(|t| NameGlob::parse(t).unwrap()).collect();
        let question = Question {
            algorithms: globs("x aes-128-gcm aes-256-gcm"),
            libraries: globs("mine@1 b c d e"),
            ..Question::default()
        };
        let record = record("a", vec![case("aes-128-gcm", 8192, &[1.0; 6])]);
        let title = asked(&record, &question).terms.sentence;
        let begin =
            "fastest of x, aes-128-gcm or aes-256-gcm in mine@1, b, c or 2 others on encrypt";
        assert!(title.starts_with(begin), "{title}");
        let mut old = case("aes-128-gcm", 8192, &[1.0; 6]);
        old.tier = Tier::Core2;
        let tier = Question { tier: Some(Tier::Core2), ..Question::default() };
        let title = asked(&crate::sample::record("a", vec![old]), &tier).terms.sentence;
        assert!(
            title.ends_with(
                "tier core2, an emulated feature set on this CPU is not an old core's speed)"
            ),
            "{title}"
        );
    }

    fn judged() -> Record {
        let names = ["same", "may", "depends", "half", "unknown", "unknown too"];
        let rows = names.map(|name| row(name, "aes-128-gcm", 8192, 1.0));
        let verdicts = [
            LeakVerdict::SameTrace,
            LeakVerdict::MayDepend,
            LeakVerdict::Depends,
            LeakVerdict::NotJudged,
        ];
        let judged = rows.iter().zip(verdicts);
        let leaks = judged.map(|(m, v)| leaks(m.library.clone(), &m.algorithm, v)).collect();
        Record { leaks, ..record("a", rows.to_vec()) }
    }

    #[test]
    fn only_what_has_the_same_trace_is_ranked_and_the_rest_is_counted_by_its_reason() {
        let question = Question { same_trace: true, ..Question::default() };
        let ranking = rank(&judged(), &question, 10).unwrap();
        let names: Vec<&str> =
            ranking.standings[0].rows.iter().map(|r| r.library.name.as_str()).collect();
        assert_eq!(names, ["same"]);
        assert!(ranking.terms.sentence.starts_with("fastest same-trace on encrypt"));
        assert_eq!(
            ranking.secret.unwrap().to_string(),
            "left out: 1 depend on the secret, 1 may depend on it, 1 not judged, 2 without a verdict"
        );
    }

    #[test]
    fn a_verdict_on_another_tier_or_build_is_none() {
        let mut record = judged();
        record.leaks[0].tier = base::model::Tier::Noaes;
        let question = Question { same_trace: true, ..Question::default() };
        says(rank(&record, &question, 10).unwrap_err(), ["3 without a verdict"]);
        record.leaks[0].tier = base::model::Tier::Native;
        record.leaks[0].library.id = "build-id:other".to_owned();
        assert!(rank(&record, &question, 10).is_err());
    }

    #[test]
    fn what_depends_on_a_secret_takes_no_place_and_is_counted() {
        let ranking = rank(&judged(), &Question::default(), 10).unwrap();
        let rows = &ranking.standings[0].rows;
        assert!(rows.iter().all(|r| r.library.name != "depends"), "{rows:?}");
        assert_eq!(ranking.secret.map(|s| (s.depends, s.without_verdict)), Some((1, 0)));
    }

    #[test]
    fn who_asks_for_what_leaks_sees_all_with_their_verdicts() {
        let question = Question { leaking: true, ..Question::default() };
        let ranking = rank(&judged(), &question, 10).unwrap();
        assert_eq!((ranking.secret, ranking.standings[0].rows.len()), (None, 6));
        let row = |name: &str| {
            let mut rows = ranking.standings[0].rows.iter();
            rows.find(|r| r.library.name == name).unwrap().leaks
        };
        assert_eq!(row("depends"), Some(LeakVerdict::Depends));
        assert_eq!(row("unknown"), None);
    }
}
