//! How many units one key may encrypt, and how large a unit should be: where the part of its cost that it has
//! whatever its size stops mattering.

use crate::advise::cost::Price;
use crate::advise::data::{NonceRule, Scheme};
use crate::advise::question::{KeyPer, NonceSource, Question};
use serde::{Deserialize, Serialize};

/// Days beyond which no date is given: keys that last longer are not worn out by counting.
const MOST_DAYS: f64 = 200.0 * 365.25;

/// Units under one key, as a logarithm to the base 2.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// None where no bound is within reach.
    pub log2: Option<f64>,
    /// In words.
    pub says: String,
    /// Source of the number.
    pub source: String,
}

/// When a nonce repeats under one key, in words that follow "a counter repeats"; `never` where it
/// does not.
pub(crate) fn repeats(scheme: &Scheme, question: &Question<'_>) -> &'static str {
    let copies = if question.wishes.snapshots { "in every copy that goes on" } else { "never" };
    match source_of(scheme, question) {
        _ if question.wishes.key_per == KeyPer::Write => "never",
        NonceSource::Position if question.used.rewrites => "at every rewrite",
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

/// Bytes that are kept with each unit.
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
    let log2 = all - of_unit(question).log2();
    let says = format!("2^{} {}s (2^{all} blocks of 16 bytes)", short(log2), question.used.unit);
    Some(Limit { log2: Some(log2), says, source: scheme.family.blocks_source.clone() })
}

/// The unit's blocks, one for its position and one for the lengths.
fn of_unit(question: &Question<'_>) -> f64 {
    (question.size.div_ceil(16) + 2) as f64
}

/// Checks of tags that may fail under one key; none where there is no tag that takes a key.
pub(crate) fn forgeries(scheme: &Scheme, question: &Question<'_>) -> Option<Limit> {
    let family = &scheme.family;
    let by_size = if family.forgery_by_size { of_unit(question).log2() } else { 0.0 };
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

fn by_size(scheme: &Scheme, question: &Question<'_>) -> Option<Limit> {
    let row = scheme.family.by_size.iter().find(|r| question.size as u64 <= r.max_bytes)?;
    let repeated = repeats(scheme, question) != "never";
    let log2 = if repeated { row.repeated_log2 } else { row.random_log2 };
    let of =
        if repeated { "each nonce at most 1024 times" } else { "nonces not repeated on purpose" };
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
    #[must_use]
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
                    "cbc" | "cbc+hmac" => Some((p * 2f64.powi(127)).sqrt()),
                    // draft-irtf-cfrg-aead-limits, q (L + 1); and half of sqrt(p) 2^63.
                    "gcm" if id != "xaes-256-gcm" => Some(p.sqrt() * 2f64.powf(64.5)),
                    "ccm" => Some(p.sqrt() * 2f64.powi(62)),
                    "wide" if id == "adiantum" => Some(2f64.powi(41)),
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
