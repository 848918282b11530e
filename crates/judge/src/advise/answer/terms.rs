//! The wishes as they would be typed.

use super::Term;
use crate::advise::limits;
use crate::advise::question::Question;
use base::model::NameGlob;

/// Every wish that has a value, typed or assumed.
pub(super) fn of(question: &Question<'_>) -> Vec<Term> {
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
        ("key-life", Some(limits::lasts(wishes.key_life_days).replace(".0 days", "d"))),
        ("reads", Some(format!("{:.0}%", question.reads * 100.0))),
        ("max-p99", wishes.max_p99_us.map(|us| format!("{us}us"))),
        ("library", (!libraries.is_empty()).then(|| libraries.join(", "))),
        ("library-version", wishes.system_only.then(|| "system".to_owned())),
        ("alone", Some(yes_no(wishes.alone))),
    ];
    let term = |(flag, value): (&str, Option<String>)| {
        Some(Term { flag: flag.to_owned(), value: value?, typed: question.typed.contains(flag) })
    };
    all.into_iter().filter_map(term).collect()
}
