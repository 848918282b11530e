//! Schemes held against the rules: the named values that rules speak of, the best of the schemes that remain;
//! how many units one key may encrypt, and how large a unit should be: where the part of its cost that it has
//! whatever its size stops mattering.

use crate::advise::cost::{Costs, Gap, How, Price};
use crate::advise::data::{Data, NonceRule, Rule, Scheme, Values, number, truth, word};
use crate::advise::question::{Fips, IntegrityLevel, KeyPer, NonceSource, Question};
use crate::claims::expression::Value;
use base::analysis::Estimate;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use strum::VariantNames;

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
    fn cost(&self, reads: f64) -> Estimate {
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
    let limit = units_per_key(scheme, question);
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
        costs.prices(scheme, question).is_ok_and(|all| all.iter().any(takes))
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
    let mut all: Vec<&Price> = costs.prices(scheme, question)?.iter().filter(may_be_used).collect();
    all.sort_by(|a, b| {
        let cost = |p: &Price| p.cost(question.reads).median;
        let judged = |p: &Price| !question.wishes.trusts(p);
        let by_cost = cost(a).total_cmp(&cost(b)).then_with(|| a.libraries.cmp(&b.libraries));
        judged(a).cmp(&judged(b)).then(by_cost)
    });
    Ok(all)
}

/// Where a candidate may be had, in libraries that may be used, and was not measured. What is known to depend on the secret
/// would not be chosen whatever it costs.
pub(crate) fn gaps<'c>(
    candidate: &Candidate<'_>,
    question: &Question<'_>,
    costs: &'c Costs,
) -> impl Iterator<Item = &'c Gap> {
    let wishes = &question.wishes;
    let takes = |gap: &&Gap| {
        (wishes.alone || !gap.depends) && gap.libraries.iter().all(|l| wishes.takes(l))
    };
    costs.gaps(candidate.scheme, question).iter().filter(takes)
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
    low: f64,
    high: f64,
    /// A median without an interval shows nothing to be the same.
    has_intervals: bool,
}

pub(crate) fn beside(cost: Estimate, other: Estimate) -> Beside {
    let difference = cost.independent(other, |a, b| a - b);
    Beside {
        low: difference.low / other.median,
        high: difference.high / other.median,
        has_intervals: cost.half() > 0.0 && other.half() > 0.0,
    }
}

impl Beside {
    /// Whether both are shown to be the same, within [`SAME`].
    pub fn is_same(self) -> bool {
        self.has_intervals && self.is_near()
    }

    pub fn may_be_lower(self) -> bool {
        self.low < -SAME || !self.has_intervals && self.is_near()
    }

    pub fn is_higher(self) -> bool {
        self.has_intervals && self.low > 0.0
    }

    /// How many times as much it is, at the least and at the most; the latter only where both have intervals.
    pub fn times(self) -> (f64, Option<f64>) {
        ((1.0 + self.low).max(0.0), self.has_intervals.then_some(1.0 + self.high))
    }

    fn is_near(self) -> bool {
        self.low >= -SAME && self.high <= SAME
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
        let stored = stored_bytes(c.scheme, question);
        (assumptions(c, question), !c.scheme.family.approved, stored)
    };
    let cost = |c: &Candidate<'_>| c.cost(question.reads).median;
    key(a).cmp(&key(b)).then_with(|| cost(a).total_cmp(&cost(b)))
}

/// How much is assumed of nonces: nothing; that random ones are random; that there are not too many
/// of them, or that starts are told apart; that a counter is never set back.
pub(crate) fn assumptions(candidate: &Candidate<'_>, question: &Question<'_>) -> u8 {
    let bounded = candidate.scheme.family.random_log2.is_some_and(|log2| log2 < 40.0);
    match (candidate.scheme.family.nonce, source_of(candidate.scheme, question)) {
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
        ("scheme.tweaked", Some(truth(family.nonce == NonceRule::Position))),
        ("scheme.wide", Some(truth(scheme.is_wide()))),
        ("scheme.nonce_bits", Some(number(family.nonce_bits))),
        ("scheme.cut_to_bits", scheme.cut_to_bits().map(number)),
        ("scheme.two_keys", Some(truth(family.mode.ends_with("+hmac")))),
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
        ("asked.only", wishes.only.as_ref().map(|only| word(&only.says))),
        ("key.per", Some(word(&wishes.key_per.to_string()))),
    ]
}

fn of_unit(scheme: &Scheme, question: &Question<'_>) -> Named {
    let size = question.size;
    let rest = size % scheme.family.block_multiple as usize;
    vec![
        (
            "scheme.offered",
            question
                .wishes
                .only
                .as_ref()
                .map(|only| truth(only.schemes.iter().any(|glob| glob.matches(&scheme.id)))),
        ),
        ("use.storage", Some(truth(question.used.storage))),
        ("unit.bytes", Some(number(size as f64))),
        ("unit.log2", Some(number((size as f64).log2()))),
        ("unit.rest", Some(number(rest as f64))),
        ("stored.bytes", Some(number(stored_bytes(scheme, question)))),
        ("nonce.source", Some(word(&source_of(scheme, question).to_string()))),
        ("nonce.repeats", Some(word(repeats(scheme, question)))),
    ]
}

fn of_key(question: &Question<'_>, limit: &Limit) -> Named {
    let days_of_use = days_of_use(limit, question);
    vec![
        ("key.days", days(limit, question).map(number)),
        ("key.limit", Some(word(&limit.says))),
        ("key.lasts", days_of_use.map(|d| Value::Word(lasts(d)))),
        ("key.writers", Some(number(question.wishes.writers()))),
    ]
}

fn of_cost(price: Result<&Price, &str>) -> Named {
    let p99 = price.ok().and_then(|p| p.p99_us);
    vec![
        ("cost.known", Some(truth(price.is_ok()))),
        ("cost.nonces", price.ok().map(|p| truth(p.how == How::Store || p.drawn.is_some()))),
        ("cost.why", price.err().map(word)),
        ("cost.p99", Some(truth(p99.is_some()))),
        ("cost.p99_us", p99.map(number)),
    ]
}

/// Days beyond which no date is given: keys that last longer are not worn out by counting.
const MOST_DAYS: f64 = 200.0 * 365.25;

/// Units under one key, as a logarithm to the base 2.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// None where no bound is within reach.
    pub log2: Option<f64>,
    pub says: String,
    pub source: String,
}

const AT_REWRITES: &str = "at every rewrite";

/// When a nonce repeats under one key, in words that follow "a counter repeats"; `never` where it
/// does not.
pub(crate) fn repeats(scheme: &Scheme, question: &Question<'_>) -> &'static str {
    let copies = if question.wishes.snapshots { "in every copy that goes on" } else { "never" };
    match source_of(scheme, question) {
        _ if question.wishes.key_per == KeyPer::Write => "never",
        NonceSource::Position if question.used.rewrites => AT_REWRITES,
        NonceSource::Position | NonceSource::Counter => copies,
        NonceSource::Random | NonceSource::Start => "never",
    }
}

/// What the scheme's nonce is made of: a tweak is a position whatever is asked.
pub(crate) fn source_of(scheme: &Scheme, question: &Question<'_>) -> NonceSource {
    match scheme.family.nonce {
        NonceRule::Position | NonceRule::None => NonceSource::Position,
        _ => question.wishes.nonce,
    }
}

/// Bytes of an epoch's number, kept with each unit.
const EPOCH_BYTES: u32 = 4;

pub(crate) fn stored_bytes(scheme: &Scheme, question: &Question<'_>) -> u32 {
    let epoch = if question.wishes.key_per == KeyPer::Epoch { EPOCH_BYTES } else { 0 };
    let nonce = match source_of(scheme, question) {
        // A key that is used once can have any nonce.
        _ if question.wishes.key_per == KeyPer::Write => 0,
        NonceSource::Position => 0,
        NonceSource::Counter => question.used.counter_bytes,
        NonceSource::Random | NonceSource::Start => scheme.family.nonce_bits / 8,
    };
    nonce + epoch + scheme.family.tag_bytes
}

/// The lowest bound that applies.
pub(crate) fn units_per_key(scheme: &Scheme, question: &Question<'_>) -> Limit {
    if question.wishes.key_per == KeyPer::Write {
        let says = "each key is used once".to_owned();
        return Limit { log2: None, says, source: "policy".to_owned() };
    }
    let all = [blocks(scheme, question), random(scheme, question), by_size(scheme, question)];
    let lowest = all.into_iter().flatten().min_by(|a, b| {
        let log2 = |l: &Limit| l.log2.unwrap_or(f64::INFINITY);
        log2(a).total_cmp(&log2(b))
    });
    lowest.unwrap_or_else(|| Limit {
        log2: None,
        says: "no bound on the number of units within reach".to_owned(),
        source: scheme.family.nonce_source.clone(),
    })
}

fn blocks(scheme: &Scheme, question: &Question<'_>) -> Option<Limit> {
    let all = scheme.family.blocks_log2?;
    let log2 = all - bytes_of_unit(question).log2();
    let says = format!("2^{} {}s (2^{all} blocks of 16 bytes)", short(log2), question.used.unit);
    Some(Limit { log2: Some(log2), says, source: scheme.family.blocks_source.clone() })
}

/// The unit's blocks, one for its position and one for the lengths.
fn bytes_of_unit(question: &Question<'_>) -> f64 {
    (question.size.div_ceil(16) + 2) as f64
}

/// Checks of tags that may fail under one key; none where there is no tag that takes a key.
pub(crate) fn forgeries(scheme: &Scheme, question: &Question<'_>) -> Option<Limit> {
    let family = &scheme.family;
    let by_size = if family.forgery_by_size { bytes_of_unit(question).log2() } else { 0.0 };
    let log2 = (family.forgery_log2? - by_size).min(family.forgery_most_log2.unwrap_or(f64::MAX));
    let says = format!("2^{} failed checks of tags", short(log2));
    Some(Limit { log2: Some(log2), says, source: family.forgery_source.clone() })
}

fn random(scheme: &Scheme, question: &Question<'_>) -> Option<Limit> {
    if source_of(scheme, question) != NonceSource::Random {
        return None;
    }
    let log2 = scheme.family.random_log2?;
    let bits = scheme.family.nonce_bits;
    let says = format!("2^{} {}s (random nonces of {bits} bits)", short(log2), question.used.unit);
    Some(Limit { log2: Some(log2), says, source: scheme.family.random_source.clone() })
}

/// How often a nonce may come in the limits of RFC 8452 for nonces that repeat.
const REPEATS: u32 = 1024;

/// What the limit rests upon and nothing here counts: a place that is written again has the same nonce again.
pub(crate) fn provided(scheme: &Scheme, question: &Question<'_>) -> Option<String> {
    let is_rewritten = repeats(scheme, question) == AT_REWRITES;
    (is_rewritten && !scheme.family.by_size.is_empty()).then(|| {
        format!("no {} is written more than {REPEATS} times under one key", question.used.unit)
    })
}

fn by_size(scheme: &Scheme, question: &Question<'_>) -> Option<Limit> {
    let row = scheme.family.by_size.iter().find(|r| question.size as u64 <= r.max_bytes)?;
    let repeated = repeats(scheme, question) != "never";
    let log2 = if repeated { row.repeated_log2 } else { row.random_log2 };
    let of = match repeated {
        true => format!("each nonce at most {REPEATS} times"),
        false => "nonces not repeated on purpose".to_owned(),
    };
    let says = format!("2^{} {}s ({of})", short(log2), question.used.unit);
    Some(Limit { log2: Some(log2), says, source: "rfc8452".to_owned() })
}

fn short(log2: f64) -> String {
    let text = format!("{log2:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Days until the key that is kept has encrypted that many units; `None` where that is no time to plan
/// with. Keys of epochs are derived from one that encrypts nothing.
pub(crate) fn days(limit: &Limit, question: &Question<'_>) -> Option<f64> {
    if question.wishes.key_per == KeyPer::Epoch { None } else { days_of_use(limit, question) }
}

/// The same of the key that encrypts: an epoch's, where there are epochs.
pub(crate) fn days_of_use(limit: &Limit, question: &Question<'_>) -> Option<f64> {
    let days = limit.log2?.exp2() / question.wishes.writes_per_key() / 86_400.0;
    (days < MOST_DAYS).then_some(days)
}

/// A number of days as people say it.
pub(crate) fn lasts(days: f64) -> String {
    match days {
        d if d < 1.0 => format!("{:.1} hours", d * 24.0),
        d if d < 100.0 => format!("{d:.1} days"),
        d if d < 730.0 => format!("{d:.0} days"),
        d => format!("{:.1} years", d / 365.25),
    }
}

/// The line time = a + b·size of a unit's cost, both directions' mean, read for the size of units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitSize {
    /// a: nanoseconds of a unit whatever its size.
    pub ns_per_unit: f64,
    /// b: nanoseconds of a byte.
    pub ns_per_byte: f64,
    /// Share of a in the cost of the unit that was asked about.
    pub own_share: f64,
    /// Bytes at which half of the cost is the unit's own: below, cost hardly falls with size.
    pub half_bytes: f64,
    /// Bytes from which the unit's own part is below a tenth: above, a larger unit saves next to
    /// nothing.
    pub tenth_bytes: f64,
    /// Share of stored bytes for nonce and tag in the unit that was asked about.
    pub stored_share: f64,
}

impl UnitSize {
    /// `None` where the measured times lie on no line, or on one without a part of its own.
    pub(crate) fn of(price: &Price, size: usize, stored: u32) -> Option<Self> {
        let (a, b) = price.line?;
        if a <= 0.0 || b <= 0.0 {
            return None;
        }
        Some(Self {
            ns_per_unit: a,
            ns_per_byte: b,
            own_share: a / (a + b * size as f64),
            half_bytes: a / b,
            tenth_bytes: 9.0 * a / b,
            stored_share: f64::from(stored) / size as f64,
        })
    }

    /// In one sentence or two.
    pub fn says(&self, unit: &str) -> String {
        let own = 100.0 * self.own_share;
        let advice = if self.own_share > 0.1 {
            format!(
                "larger {unit}s pay: from {} on their own cost is below a tenth",
                bytes(self.tenth_bytes)
            )
        } else {
            format!(
                "larger {unit}s save {own:.1} % at most; below {} a tenth and more goes into each {unit}",
                bytes(self.tenth_bytes)
            )
        };
        format!(
            "{:.0} ns of each {unit} and {:.4} ns of each byte: of this size {own:.1} % are the {unit}'s own; {advice}",
            self.ns_per_unit, self.ns_per_byte
        )
    }
}

/// `480 B`, `4.3 KiB`
fn bytes(n: f64) -> String {
    match n {
        n if n < 1024.0 => format!("{n:.0} B"),
        n if n < 1024.0 * 1024.0 => format!("{:.1} KiB", n / 1024.0),
        n => format!("{:.1} MiB", n / 1024.0 / 1024.0),
    }
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
        let limit = super::units_per_key(&data.schemes[0], &question);
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

    fn limit(data: &Data, scheme: &str, with: impl Fn(&mut Question<'_>)) -> (Limit, Option<f64>) {
        let mut question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 21));
        question.wishes.writes_per_second = 10_000.0;
        question.wishes.writers = Some(1);
        with(&mut question);
        let scheme = data.schemes.iter().find(|s| s.id == scheme).unwrap();
        let limit = units_per_key(scheme, &question);
        let days = days(&limit, &question);
        (limit, days)
    }

    /// The arithmetic of published limits, at 10 000 writes of 8 KiB a second.
    #[test]
    fn limits_are_those_of_the_publications() {
        let data = Data::built_in();
        let (gcm, days) = limit(&data, "aes-256-gcm", |_| ());
        assert_eq!(gcm.log2, Some(32.0));
        assert!((days.unwrap() - 4.97).abs() < 0.01, "{days:?}");
        // 2^48 blocks, 514 a page.
        let (ocb, days) = limit(&data, "aes-256-ocb", |q| q.wishes.nonce = NonceSource::Counter);
        assert!((ocb.log2.unwrap() - 39.0).abs() < 0.01);
        assert!((days.unwrap() / 365.25 - 1.74).abs() < 0.02, "{days:?}");
        assert_eq!(limit(&data, "aegis-256", |_| ()).0.log2, None);
        let (aegis, days) = limit(&data, "aegis-128l", |_| ());
        assert_eq!((aegis.log2, days), (Some(48.0), None));
        assert_eq!(limit(&data, "aes-256-gcm-siv", |_| ()).0.log2, Some(64.0));
        let (siv, _) = limit(&data, "aes-256-gcm-siv", |q| q.wishes.nonce = NonceSource::Position);
        assert_eq!(siv.log2, Some(57.0));
        // draft-irtf-cfrg-aead-limits: q <= (p^(1/2) * 2^(129/2) - 1) / (L + 1).
        let (gcm, _) = limit(&data, "aes-256-gcm", |q| q.wishes.nonce = NonceSource::Counter);
        assert!((gcm.log2.unwrap() - (2f64.powf(48.5) / 514.0).log2()).abs() < 1e-9);
    }

    /// Each scheme's numbers from the formulas of its source, at the risk p = 2^-32 and L blocks a unit.
    #[test]
    fn every_schemes_limits_follow_from_its_sources_formulas() {
        let data = Data::built_in();
        let p = 2f64.powi(-32);
        // q²/2^128 <= p, of all blocks (RFC 8452 §9 of modes without fresh keys); CBC's and the wide modes'
        // collisions count twice and more.
        let birthday = (p * 2f64.powi(128)).sqrt();
        // q²/2^(n+1) <= p, of nonces; publications give whole powers.
        let nonces = |bits: i32| (p * 2f64.powi(bits + 1)).sqrt().log2().floor();
        for size in [512_usize, 8192, 65_536] {
            let l = (size.div_ceil(16) + 1) as f64;
            for scheme in &data.schemes {
                let id = scheme.id.as_str();
                let family = &scheme.family;
                let blocks = match family.mode.as_str() {
                    "ctr" | "ctr+sum" | "ctr+hmac" | "xts" | "xts+sum" | "ocb" | "siv" => {
                        Some(birthday)
                    }
                    "cbc" | "cbc+hmac" | "essiv" => Some((p * 2f64.powi(127)).sqrt()),
                    // draft-irtf-cfrg-aead-limits, q (L + 1); and half of sqrt(p) 2^63.
                    "gcm" if id != "xaes-256-gcm" => Some(p.sqrt() * 2f64.powf(64.5)),
                    "ccm" => Some(p.sqrt() * 2f64.powi(62)),
                    "wide" if id.starts_with("adiantum") => Some(2f64.powi(41)),
                    "wide" => Some(birthday / 2.0),
                    _ => None,
                };
                assert_eq!(family.blocks_log2, blocks.map(f64::log2), "{id}");
                let random = match (id, family.nonce_bits) {
                    ("aegis-256" | "aegis-256x2" | "aegis-256x4", _) => None,
                    (_, bits)
                        if matches!(
                            &*family.mode,
                            "gcm" | "ccm" | "ocb" | "chacha20-poly1305" | "aegis"
                        ) =>
                    {
                        Some(nonces(bits as i32))
                    }
                    _ => None,
                };
                assert_eq!(family.random_log2, random, "{id}");
                let forged = match family.mode.as_str() {
                    "gcm" => Some((p * 2f64.powi(127) / (l + 1.0)).min(2f64.powi(64))),
                    "chacha20-poly1305" => Some(p * 2f64.powi(103) / (l + 1.0)),
                    "ccm" => Some(p.sqrt() * 2f64.powi(62) / (l + 1.0)),
                    "gcm-siv" => Some(p * 2f64.powi(128) / (l + 1.0)),
                    // A guess at a tag of 128 bits.
                    "ctr+hmac" | "cbc+hmac" | "siv" | "ocb" | "aegis" => Some(p * 2f64.powi(128)),
                    _ => None,
                };
                let mut question = Question::of(&data.uses[0], date(2026, 11, 24));
                question.size = size;
                let found = forgeries(scheme, &question).and_then(|limit| limit.log2);
                let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
                let same = found.zip(forged).map(|(a, b)| near(a, b.log2()));
                assert!(same.unwrap_or(found.is_none() && forged.is_none()), "{id}: {found:?}");
            }
        }
    }

    #[test]
    fn a_limit_on_repeats_of_a_nonce_is_one_on_rewrites_that_nobody_counts() {
        let data = Data::built_in();
        let of = |id: &str, used: &str, source: NonceSource| {
            let mut question = Question::of(data.find_use(used).unwrap(), date(2026, 11, 21));
            question.wishes.nonce = source;
            let scheme = data.schemes.iter().find(|s| s.id == id).unwrap();
            provided(scheme, &question)
        };
        let said = of("aes-256-gcm-siv", "postgres", NonceSource::Position).unwrap();
        assert_eq!(said, "no page is written more than 1024 times under one key");
        assert_eq!(of("aes-256-gcm-siv", "postgres", NonceSource::Random), None);
        assert_eq!(of("aes-256-gcm-siv", "backup", NonceSource::Position), None);
        assert_eq!(of("aes-256-xts", "postgres", NonceSource::Position), None);
    }

    #[test]
    fn keys_of_single_writes_have_no_limit_and_more_keys_last_longer() {
        let data = Data::built_in();
        let (one, none) = limit(&data, "aes-256-gcm", |q| q.wishes.key_per = KeyPer::Write);
        assert_eq!((one.log2, none), (None, None));
        let (_, days) = limit(&data, "aes-256-gcm", |q| q.wishes.keys = 100);
        assert!((days.unwrap() - 497.0).abs() < 1.0, "{days:?}");
        assert_eq!(
            [0.5, 4.97, 497.1, 1000.0].map(lasts),
            ["12.0 hours", "5.0 days", "497 days", "2.7 years"]
        );
    }
}
