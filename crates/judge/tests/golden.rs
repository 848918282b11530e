//! A table of questions and what must come out, from a published record of three tiers. A rule, a
//! fact or a cost model that changes shows here.
use crate::{answer, choice_of, postgres, published};
use base::model::{NameGlob, Tier};
use ciphermark_judge::advise::{
    Advice, Data, Fips, IntegrityLevel, KeyPer, NonceSource, Only, Outcome, Question, first_screen,
};
use jiff::civil::{Date, date};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

const TODAY: Date = date(2026, 11, 23);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(rename = "for")]
    used: String,
    tier: Tier,
    fips: Option<Fips>,
    certificate: Option<String>,
    expansion: Option<i64>,
    integrity: Option<IntegrityLevel>,
    key_bits: Option<u32>,
    nonce: Option<NonceSource>,
    snapshots: Option<bool>,
    key_per: Option<KeyPer>,
    writes: Option<f64>,
    writers: Option<u32>,
    keys: Option<u32>,
    key_life: Option<f64>,
    library: Option<String>,
    only: Option<String>,
    system: Option<bool>,
    size: Option<usize>,
    max_p99: Option<f64>,
    /// The scheme, or `none`; not looked at where a standard answers.
    #[serde(default)]
    choice: String,
    /// The standard whose text answers, with its section.
    standard: Option<String>,
    /// Schemes that nothing but their cost stands against.
    #[serde(default)]
    fits: Vec<String>,
    /// Units under one key, as logarithms to the base 2.
    #[serde(default)]
    units_log2: BTreeMap<String, f64>,
    /// The library of the choice, where it is not a matter of noise.
    from: Option<String>,
    /// Where there is none, the wishes in conflict.
    #[serde(default)]
    conflict: Vec<String>,
    /// What must have decided against others.
    #[serde(default)]
    decisive: BTreeMap<String, String>,
    /// When the key must be changed.
    rotate_by: Option<Date>,
    /// A change that must be offered, with the scheme it gives.
    #[serde(default)]
    change: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Table {
    row: Vec<Row>,
}

fn question<'a>(data: &'a Data, row: &Row) -> Question<'a> {
    let mut question = Question::of(data.find_use(&row.used).unwrap(), TODAY);
    question.tier = row.tier;
    question.size = row.size.unwrap_or(question.size);
    let wishes = &mut question.wishes;
    let mut typed: BTreeSet<&'static str> = BTreeSet::new();
    macro_rules! take {
        ($field:ident, $flag:literal, $to:ident, $value:expr) => {
            if let Some($field) = row.$field.clone() {
                wishes.$to = $value;
                typed.insert($flag);
            }
        };
    }
    take!(fips, "fips", fips, fips);
    take!(certificate, "certificate", certificate, Some(certificate));
    // Below zero: any number.
    take!(expansion, "expansion", expansion, u32::try_from(expansion).ok());
    take!(integrity, "integrity", integrity, integrity);
    take!(key_bits, "key-bits", key_bits, key_bits);
    take!(nonce, "nonce", nonce, nonce);
    take!(snapshots, "snapshots", snapshots, snapshots);
    take!(key_per, "key-per", key_per, key_per);
    take!(writes, "writes-per-second", writes_per_second, writes);
    take!(writers, "writers", writers, Some(writers));
    take!(keys, "keys", keys, keys);
    take!(key_life, "key-life", key_life_days, key_life);
    take!(library, "library", libraries, vec![NameGlob::parse(&library).unwrap()]);
    take!(only, "only", only, Some(Only::named(data, &only).unwrap()));
    take!(max_p99, "max-p99", max_p99_us, Some(max_p99));
    take!(system, "library-version", system_only, system);
    question.typed = typed;
    question
}

fn check(row: &Row, advice: &Advice) {
    let rejected = |scheme: &str| advice.rejected.iter().find(|r| r.scheme == scheme);
    match &advice.outcome {
        _ if row.standard.is_some() => {}
        Outcome::Choice(choice) => {
            assert_eq!(choice.scheme, row.choice, "{row:?}");
            let label = choice.price.label();
            let library = row.from.as_ref();
            assert!(library.is_none_or(|l| label.starts_with(l.as_str())), "{label}: {row:?}");
            let rotate = row.rotate_by;
            assert!(
                rotate.is_none_or(|d| choice.key.rotate_by == Some(d)),
                "{:?}: {row:?}",
                choice.key
            );
        }
        Outcome::None(conflict) => {
            assert_eq!(row.choice, "none", "{:?}: {row:?}", conflict.flags);
            let flags: Vec<&str> =
                conflict.flags.iter().map(|f| f.trim_start_matches("--")).collect();
            assert_eq!(flags, row.conflict, "{row:?}");
        }
    }
    for (scheme, rule) in &row.decisive {
        let found = rejected(scheme).map(|r| &r.rule);
        assert_eq!(found, Some(rule), "{scheme}: {row:?}");
    }
    for scheme in &row.fits {
        let found = rejected(scheme).map(|r| (&*r.rule, &r.also));
        assert!(found.is_none_or(|(rule, _)| rule == "not-measured"), "{found:?}: {row:?}");
    }
    for (flags, scheme) in &row.change {
        let offered = advice.changes.iter().find(|c| c.flags.join(" ") == *flags);
        let all: Vec<_> = advice.changes.iter().map(|c| (c.flags.join(" "), &c.scheme)).collect();
        assert_eq!(offered.map(|c| &c.scheme), Some(scheme), "{flags} of {all:?}: {row:?}");
    }
}

fn rows() -> Vec<Row> {
    let of = |text: &str| toml::from_str::<Table>(text).unwrap().row;
    let (mut rows, standards) =
        (of(include_str!("golden.toml")), of(include_str!("standards.toml")));
    assert!(rows.len() >= 80 && standards.len() >= 20, "{} {}", rows.len(), standards.len());
    assert!(rows.iter().all(|r| r.standard.is_none() && !r.choice.is_empty()));
    let answers =
        |r: &Row| !(r.decisive.is_empty() && r.fits.is_empty() && r.units_log2.is_empty());
    assert!(standards.iter().all(|r| r.standard.is_some() && answers(r)));
    rows.extend(standards);
    rows
}

fn answers() -> &'static [(Row, Advice)] {
    static ANSWERS: OnceLock<Vec<(Row, Advice)>> = OnceLock::new();
    let data = Data::built_in();
    let answered = |row: Row| {
        let advice = answer(&data, &question(&data, &row), published());
        (row, advice)
    };
    ANSWERS.get_or_init(|| rows().into_iter().map(answered).collect())
}

/// One test, because making the answers takes longer than all checks of them.
#[test]
#[ignore = "long: seconds"]
fn the_table_has_its_answers_and_they_keep_every_rule() {
    every_question_of_the_table_has_its_answer();
    limits_are_those_of_the_standards();
    every_answer_has_a_first_screen_of_thirty_lines();
    every_rule_that_rejects_decides_somewhere_in_the_table();
    every_scheme_is_either_chosen_from_or_rejected_with_a_reason();
}

fn every_question_of_the_table_has_its_answer() {
    let rows = answers();
    let mut failed = Vec::new();
    for (row, advice) in rows {
        let checked = std::panic::catch_unwind(|| check(row, advice));
        if let Err(panic) = checked {
            failed.push(panic.downcast::<String>().map_or_else(|_| "?".to_owned(), |s| *s));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), rows.len(), failed.join("\n\n"));
}

/// What a standard says of the number of units, whatever is chosen.
fn limits_are_those_of_the_standards() {
    let data = Data::built_in();
    let mut looked_at = 0;
    for (row, _) in answers() {
        for (scheme, log2) in &row.units_log2 {
            let found = data.units_log2(scheme, &question(&data, row)).unwrap();
            assert!((found - log2).abs() < 0.001, "{scheme}: 2^{found}: {row:?}");
            looked_at += 1;
        }
    }
    assert!(looked_at > 4);
}

/// One screen of 100 columns, whatever is asked.
fn every_answer_has_a_first_screen_of_thirty_lines() {
    let options = base::text::Options { width: 100, color: false };
    for (row, advice) in answers() {
        let screen = first_screen(advice, "record at-rest.json.gz", options);
        assert!(screen.lines().count() <= 30, "{row:?}: {screen}");
        assert!(screen.lines().all(|l| base::text::width(l) <= 100), "{screen}");
        assert!(screen.contains("\nchoice "), "{screen}");
        let Outcome::Choice(choice) = &advice.outcome else { continue };
        let flat = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        for remark in choice.remarks.iter().take(3) {
            assert!(flat.contains(&remark.says), "{}: {screen}", remark.says);
        }
        assert!(choice.remarks.len() >= 2, "{row:?}");
    }
}

/// A rule that no question of the table ever makes use of is not tested.
fn every_rule_that_rejects_decides_somewhere_in_the_table() {
    let mut decided = BTreeSet::new();
    for (_, advice) in answers() {
        decided.extend(advice.rejected.iter().map(|r| r.rule.clone()));
    }
    let text = include_str!("../../../advice/rules.toml");
    let rules: Vec<&str> = text.split("[[rule]]").skip(1).collect();
    let field = |rule: &str, name: &str| {
        let line = rule.lines().find(|l| l.starts_with(&format!("{name} = "))).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    for rule in rules.iter().filter(|r| field(r, "verdict") != "note") {
        let id = field(rule, "id");
        // Those of latencies have a test of their own: the record has none.
        assert!(id == "too-slow" || decided.contains(&id), "{id} decides nowhere");
    }
}

fn every_scheme_is_either_chosen_from_or_rejected_with_a_reason() {
    let data = Data::built_in();
    for (_, advice) in answers() {
        assert_eq!(advice.fitting.len() + advice.rejected.len(), data.schemes.len());
        for rejected in &advice.rejected {
            assert!(advice.rules.contains_key(&rejected.rule), "{rejected:?}");
            assert!(!rejected.detail.contains('{'), "{rejected:?}");
        }
        let wrong = |scheme: &str| {
            advice.rejected.iter().any(|r| r.scheme == scheme && r.rule == "ecb-leaks")
        };
        assert!(wrong("aes-128-ecb") && wrong("aes-256-ecb"));
    }
}

/// The same record with latencies: the cheapest scheme is too slow at its 99th percentile.
#[test]
fn a_scheme_whose_99th_percentile_is_too_high_loses_to_the_next() {
    let mut record = published().clone();
    let with_number = record.measurements.iter_mut().filter(|m| m.ns_per_op.is_some());
    for m in with_number {
        let p99 = if m.algorithm == "aegis-256x4" { 25_000.0 } else { 5_000.0 };
        m.latency_ns = Some(record::Latency {
            p50: 1.0,
            p99: Some(p99),
            p99_9: None,
            operations: 100,
            disturbed: 0,
            resolution_ns: 10.0,
            ticks: Vec::new(),
        });
    }
    let data = Data::built_in();
    let mut question = postgres(&data, TODAY);
    question.wishes.max_p99_us = Some(20.0);
    let advice = answer(&data, &question, &record);
    let chosen = choice_of(&advice);
    assert_eq!((chosen.scheme.as_str(), chosen.price.p99_us), ("aegis-256x2", Some(5.0)));
    let slow = advice.rejected.iter().find(|r| r.scheme == "aegis-256x4").unwrap();
    assert_eq!((slow.rule.as_str(), slow.detail.as_str()), ("too-slow", "25 µs"));
    let composed = advice.fitting.iter().any(|f| f.scheme == "aes-256-cbc+hmac-sha512");
    assert!(composed, "{:?}", advice.fitting);
    question.wishes.max_p99_us = Some(1.0);
    let advice = answer(&data, &question, &record);
    let Outcome::None(conflict) = &advice.outcome else { panic!("{:?}", advice.outcome) };
    assert_eq!(conflict.flags, ["--max-p99 1us"]);
}

/// What a changed wish is said to give is what it gives; and no conflict has a wish too many.
#[test]
fn every_change_that_is_offered_gives_what_it_says() {
    let data = Data::built_in();
    let question = postgres(&data, TODAY);
    let advice = answer(&data, &question, published());
    for change in &advice.changes {
        let mut other = question.clone();
        match change.flags.join(" ").split_once(' ').unwrap() {
            ("--fips", "algorithm") => other.wishes.fips = Fips::Algorithm,
            ("--key-bits", bits) => other.wishes.key_bits = bits.parse().unwrap(),
            ("--nonce", "position") => other.wishes.nonce = NonceSource::Position,
            ("--nonce", "counter") => other.wishes.nonce = NonceSource::Counter,
            ("--expansion", bytes) => other.wishes.expansion = Some(bytes.parse().unwrap()),
            ("--library-version", "system") => other.wishes.system_only = true,
            (flag, value) => panic!("{flag} {value}"),
        }
        let advice = answer(&data, &other, published());
        assert_eq!(choice_of(&advice).scheme, change.scheme, "{change:?}");
    }
    assert!(advice.changes.len() >= 4, "{:?}", advice.changes);
}
