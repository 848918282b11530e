//! The wishes as they would be typed.

use super::Term;
use crate::limits;
use crate::question::{Question, Wishes};

/// Every wish that has a value, typed or assumed.
pub(super) fn of(question: &Question<'_>) -> Vec<Term> {
    let flags = [
        "integrity",
        "key-bits",
        "fips",
        "certificate",
        "expansion",
        "nonce",
        "snapshots",
        "key-per",
        "writes-per-second",
        "keys",
        "key-life",
        "reads",
        "max-p99",
        "library",
        "library-version",
    ];
    let term = |flag: &&'static str| {
        let value = value(question, flag)?;
        let typed = question.typed.contains(flag);
        Some(Term { flag: (*flag).to_owned(), value, typed })
    };
    flags.iter().filter_map(term).collect()
}

/// As it would be typed; `None` where nothing is wished.
pub(super) fn value(question: &Question<'_>, flag: &str) -> Option<String> {
    let wishes: &Wishes = &question.wishes;
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    Some(match flag {
        "integrity" => wishes.integrity.name().to_owned(),
        "key-bits" => wishes.key_bits.to_string(),
        "fips" => wishes.fips.name().to_owned(),
        "certificate" => wishes.certificate.clone()?,
        "expansion" => wishes.expansion?.to_string(),
        "nonce" => wishes.nonce.name().to_owned(),
        "snapshots" => yes_no(wishes.snapshots),
        "key-per" => wishes.key_per.name().to_owned(),
        "writes-per-second" => wishes.writes_per_second.to_string(),
        "keys" => (wishes.keys > 1).then(|| wishes.keys.to_string())?,
        "key-life" => limits::lasts(wishes.key_life_days).replace(".0 days", "d"),
        "reads" => format!("{:.0}%", question.reads * 100.0),
        "max-p99" => format!("{}us", wishes.max_p99_us?),
        "library" if wishes.libraries.is_empty() => return None,
        "library" => {
            let texts: Vec<&str> = wishes.libraries.iter().map(model::NameGlob::text).collect();
            texts.join(", ")
        }
        "library-version" => wishes.system_only.then(|| "system".to_owned())?,
        _ => return None,
    })
}
