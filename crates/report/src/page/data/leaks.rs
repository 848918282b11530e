//! What depends on secrets: each verdict with its words, with numbers for the names.

use super::names::Names;
use crate::page::text::tidy;
use record::{Leak, Leaks, Record};
use serde_json::{Value, json};

/// The verdicts of a record, each with where its places are.
pub(crate) fn leaks(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut value = |l: &Leaks| {
        let mut value = tidy(json!({
            "verdict": l.verdict.name(), "words": l.to_string(), "places": l.findings.iter().map(place).collect::<Vec<_>>(),
        }));
        value["library"] = names.library(&l.library).into();
        value["algorithm"] = names.algorithms.number(&l.algorithm).into();
        value["tier"] = names.tiers.number(l.tier.name()).into();
        value
    };
    record.leaks.iter().map(&mut value).collect()
}

/// The words, and the instruction that they are of.
fn place(f: &Leak) -> [String; 2] {
    let more = if f.places > 1 { format!(" and {} more", f.places - 1) } else { String::new() };
    let operations = f.operations.join(", ");
    let at =
        format!("{} at {:#x} of {}{more}, in {operations}", f.instruction, f.address, f.object);
    [f.to_string(), at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_has_its_words_and_where_its_places_are() {
        let text = include_str!("../../../../record/tests/sample.json");
        let mut record = record::from_json(text, "sample").unwrap();
        record.leaks[0].findings[0].instruction = "mov \u{1b}[2J".to_owned();
        let mut names = Names::default();
        names.enter_record(0, &record);
        let all = leaks(&record, &mut names);
        assert_eq!(all[0]["verdict"], "depends");
        let words = all[0]["words"].as_str().unwrap();
        assert!(words.starts_with("secret-dependent lookups in AES_encrypt (1024"), "{words}");
        let place = all[0]["places"][0][1].as_str().unwrap();
        assert!(place.ends_with("at 0x1a2b of libcrypto.so.3 and 15 more, in encrypt"), "{place}");
        assert!(!place.contains('\u{1b}'), "{place}");
    }
}
