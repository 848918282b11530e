//! What to encrypt stored data with: schemes, rules and sources as data (`advice/*.toml` in the repository),
//! costs from a record, and an answer with the reason for each scheme that lost. Here: the answer and how it
//! is put together. Pure: records and dates in, text out. `docs/AT-REST.md` is the long form.

mod alternatives;
mod cost;
mod data;
mod evaluate;
pub mod passphrase;
pub mod postgres;
pub mod prices;
mod question;
mod render;
mod sentences;
pub mod tls_server;

pub use alternatives::{
    Candidates, Open, OpenWhy, WORTH, Wished, contenders, is_judged, needed_schemes, unjudged,
};
use base::model::NameGlob;
pub use cost::{Costs, How, InStore, Price};
pub use data::{Data, Scheme, Source, Use};
use data::{NonceRule, Rule, Verdict};
pub use evaluate::UnitSize;
use evaluate::{Candidate, Limit, Ranking, beside, candidates, ranked};
use jiff::Span;
use jiff::civil::Date;
pub use question::{
    Evidence, Fips, IntegrityLevel, KeyPer, LibraryNow, NonceSource, Only, Question, Surroundings,
    Wishes,
};
use record::LibraryId;
pub use render::{Advised, Format, first_screen, from_json, is_advice, render};
pub use sentences::Told;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

// The answer as plain data, ready to be written out.

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Advice {
    #[serde(rename = "for")]
    pub used: String,
    pub title: String,
    pub unit: String,
    pub size: usize,
    /// Which CPU instructions libraries may see.
    pub tier: base::model::Tier,
    /// What was asked or assumed.
    pub terms: Vec<Term>,
    pub basis: Basis,
    pub outcome: Outcome,
    /// What could give another answer and is not known, the likeliest first; where it is empty, the answer is settled.
    #[serde(default)]
    pub open: Vec<Open>,
    /// Every scheme that fits, the chosen one first.
    pub fitting: Vec<Fitting>,
    /// Every scheme that does not, with the rule that decided.
    pub rejected: Vec<Rejected>,
    /// What of the wishes, changed alone, gives another answer; the smallest first.
    pub changes: Vec<Change>,
    pub rules: BTreeMap<String, RuleUsed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The flag, without dashes.
    pub flag: String,
    pub value: String,
    /// Whether it was typed; else it was assumed for the use.
    pub typed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Basis {
    pub started: String,
    pub cpu: String,
    /// The store whose pages were measured; empty for a survey's record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub store: Vec<String>,
    /// Schemes in libraries that nothing but their cost stands against, and what is known of them.
    #[serde(default)]
    pub candidates: Candidates,
    /// Day from which on it is too old.
    pub stale_from: Option<Date>,
    /// Why the advice may no longer hold.
    pub stale: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Choice(Box<Choice>),
    /// None: these wishes stand against each other, or what would fit was not measured.
    None(Conflict),
}

/// Wishes that no scheme fulfils together; or the schemes that do and were not measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Conflict {
    /// As they would be typed; without any one of them there is an answer. Empty where the record
    /// has nothing that could be chosen.
    pub flags: Vec<String>,
    /// Schemes that fit and that the record did not ask for: while there are such, no wish is to blame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_asked: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Choice {
    pub scheme: String,
    pub price: Price,
    /// Core-seconds that encryption of a GiB takes.
    pub write_core_seconds_per_gib: f64,
    /// Core-seconds that decryption of a GiB takes.
    pub read_core_seconds_per_gib: f64,
    /// Megabytes (10^6 bytes) a second of encryption.
    pub write_mb_per_s: f64,
    /// Megabytes (10^6 bytes) a second of decryption.
    pub read_mb_per_s: f64,
    pub key_bits: u32,
    pub nonce: String,
    pub nonce_bits: u32,
    /// Bytes that are kept with each unit.
    pub stored_bytes: u32,
    /// Schemes that cost the same within 5 %, over which it was preferred.
    pub ties_with: Vec<String>,
    pub key: Key,
    /// What would be cheaper if what depends on the secret might be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avoided: Option<Avoided>,
    pub unit_size: Option<UnitSize>,
    pub remarks: Vec<Remark>,
}

/// A cheaper answer that depends on the secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Avoided {
    pub scheme: String,
    pub library: String,
    /// The chosen one's cost over its cost.
    pub times: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Key {
    pub born: Date,
    /// The bound on units, in words.
    pub limit: String,
    /// What the bound rests upon and nothing here counts; since 1.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provided: Option<String>,
    /// Units under one key, as a logarithm to the base 2.
    pub units_log2: Option<f64>,
    /// Units written under one key each second.
    pub writes_per_second: f64,
    /// Day on which that many are written; none where it is out of reach.
    pub worn_out: Option<Date>,
    /// Day on which it is too old whatever was written.
    pub too_old: Option<Date>,
    /// The earlier of the two.
    pub rotate_by: Option<Date>,
    pub source: String,
    /// Instances whose writes are counted; 0 in advice that was written before they were.
    #[serde(default)]
    pub writers: u32,
    /// Checks of tags that may fail under one key, in words, with the source; none where it has no tag.
    #[serde(default)]
    pub forgeries: Option<String>,
    /// Where the key wears out before it is too old: what makes it last longer with the same scheme.
    #[serde(default)]
    pub longer: Vec<Longer>,
}

/// A way to let a key last longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longer {
    pub flags: Vec<String>,
    /// When the key would have to be changed.
    pub rotate_by: Date,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The rule, or none where the use has it.
    pub rule: Option<String>,
    pub says: String,
    pub source: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fitting {
    pub scheme: String,
    /// Cheapest library, or two.
    pub library: String,
    /// Nanoseconds of a unit, by the share of reads.
    pub ns: base::analysis::Estimate,
    /// Cost over the chosen one's.
    pub times: f64,
    /// Whether both are shown to be the same within 5 %, at 95 %.
    pub tied: bool,
    /// Whether it may cost less than the chosen one by more than that.
    #[serde(default)]
    pub undecided: bool,
    pub stored_bytes: u32,
    /// Other libraries with it that may be used, the cheapest first.
    #[serde(default)]
    pub others: Vec<Other>,
}

/// A library that has a scheme beside the cheapest one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Other {
    /// Library, or two.
    pub library: String,
    /// Nanoseconds of a unit, by the share of reads.
    pub ns: base::analysis::Estimate,
    /// Whether both are shown to be the same within 5 %, at 95 %.
    pub tied: bool,
    /// Whether it may cost less than the cheapest by more than that.
    #[serde(default)]
    pub undecided: bool,
}

/// A scheme that does not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    pub scheme: String,
    /// Whether it is wrong for whoever asks, or does not fit what is asked.
    pub verdict: Verdict,
    pub rule: String,
    /// What the rule says of this scheme in particular; may be empty.
    pub detail: String,
    /// Other rules that would reject it.
    pub also: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleUsed {
    pub says: String,
    pub source: String,
    pub url: String,
    pub date: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub flags: Vec<String>,
    pub scheme: String,
    pub library: String,
    /// Its cost over the chosen one's; none where nothing was chosen.
    pub times: Option<f64>,
}

/// The answer to a question from what a record has measured.
pub fn advise(
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &Surroundings,
) -> Advice {
    let costs = Costs::of(data, question, evidence, &around.judged);
    let all = candidates(data, question, &costs);
    let ranking = ranked(&all, question);
    let chosen = ranking.order.first().map(|i| &all[*i]);
    let libraries = chosen.and_then(|c| c.price).map(|p| p.libraries.clone()).unwrap_or_default();
    let outcome = match chosen {
        Some(_) => {
            let mut choice = choice(data, question, &all, &ranking);
            choice.avoided = alternatives::avoided(data, question, &costs, &choice);
            Outcome::Choice(Box::new(choice))
        }
        None => Outcome::None(conflict(data, question, &all, &costs)),
    };
    let rejected: Vec<Rejected> = all.iter().filter_map(rejected).collect();
    Advice {
        used: question.used.id.clone(),
        title: question.used.title.clone(),
        unit: question.used.unit.clone(),
        size: question.size,
        tier: question.tier,
        terms: terms_of(question),
        basis: basis(
            evidence,
            &libraries,
            around,
            alternatives::counted_candidates(question, &all, &ranking, &costs),
        ),
        open: alternatives::open_answers(question, &all, &ranking, &costs),
        outcome,
        fitting: fitting_of(question, &all, &ranking, &costs),
        rules: rules(data, &rejected),
        rejected,
        changes: changes(data, question, &costs, chosen),
    }
}

fn basis(
    evidence: Evidence<'_>,
    chosen: &[LibraryId],
    around: &Surroundings,
    candidates: Candidates,
) -> Basis {
    Basis {
        candidates,
        started: evidence.started().to_owned(),
        cpu: evidence.cpu().name.clone(),
        store: evidence.store(),
        stale_from: question::stale_from(evidence),
        stale: question::stale(evidence, chosen, around),
    }
}

fn choice(
    data: &Data,
    question: &Question<'_>,
    all: &[Candidate<'_>],
    ranking: &Ranking,
) -> Choice {
    let chosen = &all[ranking.order[0]];
    let scheme = chosen.scheme;
    let price = chosen.price.expect("what fits has a price").clone();
    let stored = evaluate::stored_bytes(scheme, question);
    let (size, gib) = (question.size as f64, f64::from(1u32 << 30));
    let per_gib = |ns: f64| ns * 1e-9 * gib / size;
    let tied = ranking.order[1..ranking.tied].iter().map(|i| all[*i].scheme.id.clone());
    Choice {
        scheme: scheme.id.clone(),
        write_core_seconds_per_gib: per_gib(price.write_ns.median),
        read_core_seconds_per_gib: per_gib(price.read_ns.median),
        write_mb_per_s: size * 1e3 / price.write_ns.median,
        read_mb_per_s: size * 1e3 / price.read_ns.median,
        key_bits: scheme.key_bits,
        nonce: evaluate::source_of(scheme, question).to_string(),
        nonce_bits: scheme.family.nonce_bits,
        stored_bytes: stored,
        ties_with: tied.collect(),
        key: key_of(data, question, chosen),
        avoided: None,
        unit_size: UnitSize::of(&price, question.size, stored),
        remarks: remarks_of(data, question, chosen),
        price,
    }
}

fn rejected(candidate: &Candidate<'_>) -> Option<Rejected> {
    let decisive = candidate.rejected_by.first()?;
    Some(Rejected {
        scheme: candidate.scheme.id.clone(),
        verdict: decisive.verdict,
        rule: decisive.id.clone(),
        detail: decisive.about(&candidate.values),
        also: candidate.rejected_by[1..].iter().map(|r| r.id.clone()).collect(),
    })
}

fn rules(data: &Data, rejected: &[Rejected]) -> BTreeMap<String, RuleUsed> {
    let named = |r: &&Rule| rejected.iter().any(|x| x.rule == r.id || x.also.contains(&r.id));
    let used = |r: &Rule| {
        let source = data.source(&r.source);
        let used = RuleUsed {
            says: r.says.clone(),
            source: data.title(&r.source).to_owned(),
            url: source.map(|s| s.url.clone()).unwrap_or_default(),
            date: r.date.clone(),
        };
        (r.id.clone(), used)
    };
    data.rules.iter().filter(named).map(used).collect()
}

/// The cheapest other answer first among those of one change.
fn changes(
    data: &Data,
    question: &Question<'_>,
    costs: &Costs,
    chosen: Option<&Candidate<'_>>,
) -> Vec<Change> {
    let stored = chosen.map(|c| (c.scheme.id.as_str(), evaluate::stored_bytes(c.scheme, question)));
    let cost = chosen.and_then(|c| c.price).map(|p| p.cost(question.reads).median);
    let mut found = alternatives::changes(data, question, costs, stored);
    found.sort_by(|a, b| (a.0.len().cmp(&b.0.len())).then(a.1.cost.total_cmp(&b.1.cost)));
    let one = |(flags, found): (Vec<String>, alternatives::Found)| Change {
        flags,
        scheme: found.scheme,
        library: found.library,
        times: cost.map(|c| found.cost / c),
    };
    found.into_iter().map(one).collect()
}

// What must be respected with a choice; and, without one, which wishes stand against each other.

/// Longest use of a key for encryption that NIST SP 800-57 Part 1 Rev. 5 §5.3.6 suggests.
const YEARS: i64 = 2;

fn remarks_of(data: &Data, question: &Question<'_>, chosen: &Candidate<'_>) -> Vec<Remark> {
    let title = |id: &str| data.title(id).to_owned();
    let by_rule = data.rules.iter().filter(|r| r.notes(&chosen.values)).map(|r| {
        let about = r.about(&chosen.values);
        let says = if about.is_empty() { r.says.clone() } else { format!("{} ({about})", r.says) };
        (r.rank, Remark { rule: Some(r.id.clone()), says, source: title(&r.source) })
    });
    let of_use = question.used.notes.iter().map(|n| {
        let remark = Remark { rule: None, says: n.says.clone(), source: title(&n.source) };
        (n.rank, remark)
    });
    let mut all: Vec<(u8, Remark)> = by_rule.chain(of_use).collect();
    all.sort_by_key(|(rank, _)| *rank);
    all.into_iter().map(|(_, remark)| remark).collect()
}

fn key_of(data: &Data, question: &Question<'_>, chosen: &Candidate<'_>) -> Key {
    let born = question.key_born;
    let worn_out = worn_out_on(&chosen.limit, question);
    let too_old = born.checked_add(Span::new().years(YEARS)).ok();
    let title = |id: &str| data.source(id).map(|s| s.title.clone()).unwrap_or_default();
    let forgeries = evaluate::forgeries(chosen.scheme, question);
    Key {
        born,
        limit: chosen.limit.says.clone(),
        provided: evaluate::provided(chosen.scheme, question),
        units_log2: chosen.limit.log2,
        writes_per_second: question.wishes.writes_per_key(),
        writers: question.wishes.writers(),
        worn_out,
        too_old,
        rotate_by: worn_out.into_iter().chain(too_old).min(),
        source: title(&chosen.limit.source),
        forgeries: forgeries.map(|l| format!("{} [{}]", l.says, title(&l.source))),
        longer: longer(question, chosen, worn_out, too_old),
    }
}

fn worn_out_on(limit: &Limit, question: &Question<'_>) -> Option<Date> {
    let days = evaluate::days(limit, question)?;
    question.key_born.checked_add(Span::new().days(days.floor() as i64)).ok()
}

/// Life that more keys are to give.
const PLANNED_DAYS: f64 = 90.0;

/// What lets the key of the same scheme last longer: more keys, a key for each epoch, nonces that are
/// told apart by starts. Each only where it fits the room and helps.
fn longer(
    question: &Question<'_>,
    chosen: &Candidate<'_>,
    worn_out: Option<Date>,
    too_old: Option<Date>,
) -> Vec<Longer> {
    let (Some(worn_out), Some(too_old)) = (worn_out, too_old) else { return Vec::new() };
    let scheme = chosen.scheme;
    let mut found = Vec::new();
    let mut try_with = |flags: &[String], change: &dyn Fn(&mut Wishes)| {
        let mut other = question.clone();
        change(&mut other.wishes);
        let room = other.wishes.expansion.unwrap_or(u32::MAX);
        let limit = evaluate::units_per_key(scheme, &other);
        let then = worn_out_on(&limit, &other).into_iter().chain([too_old]).min();
        if let Some(rotate_by) = then.filter(|day| *day > worn_out)
            && evaluate::stored_bytes(scheme, &other) <= room
        {
            found.push(Longer { flags: flags.to_vec(), rotate_by });
        }
    };
    let life = evaluate::days(&chosen.limit, question).unwrap_or(PLANNED_DAYS);
    let enough = (1..=4).map(|n| 10_u32.pow(n)).find(|n| life * f64::from(*n) >= PLANNED_DAYS);
    if let (true, Some(times)) = (worn_out < too_old, enough) {
        let keys = question.wishes.keys.saturating_mul(times);
        let mut flags = vec![format!("--keys {keys}")];
        if life < PLANNED_DAYS {
            flags.push(format!("--key-life {PLANNED_DAYS}d"));
        }
        try_with(&flags, &|w| w.keys = keys);
        try_with(&["--key-per epoch".to_owned()], &|w| w.key_per = KeyPer::Epoch);
        if scheme.family.nonce == NonceRule::Unique && question.wishes.nonce == NonceSource::Random
        {
            try_with(&["--nonce start".to_owned()], &|w| w.nonce = NonceSource::Start);
        }
    }
    found
}

fn conflict(
    data: &Data,
    question: &Question<'_>,
    all: &[Candidate<'_>],
    costs: &Costs,
) -> Conflict {
    let fitting = all.iter().filter(|c| c.may_fit && !costs.was_asked(c.scheme));
    let not_asked: Vec<String> = fitting.map(|c| c.scheme.id.clone()).collect();
    if !not_asked.is_empty() {
        return Conflict { flags: Vec::new(), not_asked };
    }
    let names = alternatives::conflict(data, question, costs);
    let terms = terms_of(question);
    let typed = |name: &&str| match terms.iter().find(|term| term.flag == *name) {
        Some(term) => format!("--{name} {}", term.value),
        None => format!("--{name}"),
    };
    Conflict { flags: names.iter().map(typed).collect(), not_asked }
}

// The schemes that fit, each with the libraries beside its cheapest.

fn fitting_of(
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
        stored_bytes: evaluate::stored_bytes(all[*i].scheme, question),
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

// The wishes as they would be typed.

/// Without what conversion left behind the sixth digit after the point.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// `36h`, `90d`, `2y`
fn time(days: f64) -> String {
    let units = [(365.25, "y"), (1.0, "d")];
    let whole = units.into_iter().find(|(unit, _)| rounded(days / unit).fract() == 0.0);
    let (unit, name) = whole.unwrap_or((1.0 / 24.0, "h"));
    format!("{}{name}", rounded(days / unit))
}

/// Every wish that has a value, typed or assumed.
fn terms_of(question: &Question<'_>) -> Vec<Term> {
    let wishes = &question.wishes;
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let libraries: Vec<&str> = wishes.libraries.iter().map(NameGlob::text).collect();
    let all = [
        ("integrity", Some(wishes.integrity.to_string())),
        ("key-bits", Some(wishes.key_bits.to_string())),
        ("fips", Some(wishes.fips.to_string())),
        ("certificate", wishes.certificate.clone()),
        ("expansion", wishes.expansion.map(|bytes| bytes.to_string())),
        ("nonce", Some(wishes.nonce.to_string())),
        ("snapshots", Some(yes_no(wishes.snapshots))),
        ("key-per", Some(wishes.key_per.to_string())),
        ("writes-per-second", Some(wishes.writes_per_second.to_string())),
        ("writers", Some(wishes.writers().to_string())),
        ("keys", (wishes.keys > 1).then(|| wishes.keys.to_string())),
        ("key-life", Some(time(wishes.key_life_days))),
        ("reads", Some(format!("{}%", rounded(question.reads * 100.0)))),
        ("max-p99", wishes.max_p99_us.map(|us| format!("{us}us"))),
        ("only", wishes.only.as_ref().map(|only| only.typed.clone())),
        ("library", (!libraries.is_empty()).then(|| libraries.join(","))),
        ("library-version", wishes.system_only.then(|| "system".to_owned())),
        ("alone", Some(yes_no(wishes.alone))),
    ];
    let term = |(flag, value): (&str, Option<String>)| {
        Some(Term { flag: flag.to_owned(), value: value?, typed: question.typed.contains(flag) })
    };
    all.into_iter().filter_map(term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::text::flags::{parse_days, parse_share};
    use jiff::civil::date;

    #[test]
    fn wishes_are_written_so_that_they_can_be_typed_again() {
        let data = Data::built_in();
        let mut question = Question::of(&data.uses[0], date(2026, 11, 30));
        let mut again = |life: &str, reads: &str| {
            question.wishes.key_life_days = parse_days(life).unwrap();
            question.reads = parse_share(reads).unwrap();
            let terms = terms_of(&question);
            let value = |flag: &str| terms.iter().find(|t| t.flag == flag).unwrap().value.clone();
            [value("key-life"), value("reads")]
        };
        for (life, reads) in [("2y", "33.3%"), ("36h", "80%"), ("12h", "0%"), ("90d", "99.95%")] {
            assert_eq!(again(life, reads), [life, reads]);
        }
    }
}
