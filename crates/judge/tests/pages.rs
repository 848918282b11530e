//! Advice from a record of a store's pages.
use crate::choice_of;
use ciphermark_judge::advise::{
    Advice, Evidence, Fips, Format, How, IntegrityLevel, KeyPer, OpenWhy, Outcome, Question,
    first_screen, from_json, is_advice, render,
};
use jiff::civil::{Date, date};
use record::State;
use record::at_rest::{Cell, PagesRecord};

const TODAY: Date = date(2026, 11, 28);

fn record() -> PagesRecord {
    let text = include_str!("../../record/tests/at-rest.json");
    record::read_run(text, "sample", record::at_rest::of).unwrap()
}

fn asked(record: &PagesRecord, with: impl Fn(&mut Question<'_>)) -> Advice {
    crate::asked(Evidence::Pages(record), TODAY, with)
}

#[test]
fn the_choice_costs_what_it_took_on_the_stores_pages() {
    let advice = asked(&record(), |_| ());
    let choice = choice_of(&advice);
    assert_eq!((choice.scheme.as_str(), choice.price.how), ("aes-256-gcm", How::Store));
    assert_eq!((choice.price.read_ns.median, choice.price.p99_us), (2000.0, Some(3.0)));
    assert_eq!(choice.price.label(), "openssl@3.0.19");
    let shares: Vec<(&str, f64)> =
        choice.price.in_store.iter().map(|s| (s.medium.as_str(), s.share)).collect();
    assert_eq!(shares[0], ("cache", 2000.0 / 3700.0));
    assert_eq!(shares[1].0, "log");
    let store = advice.basis.store.join("\n");
    assert!(store.contains("postgres data, 1000 pages of 8192 bytes"), "{store}");
    assert!(store.contains("3 nonces made of block-lsn came twice with different pages"));
    let ctr = advice.rejected.iter().find(|r| r.scheme == "aegis-256").unwrap();
    assert_eq!(ctr.rule, "not-measured");
    assert_eq!(ctr.detail, "the record of pages did not ask for it");
}

#[test]
fn prices_from_before_the_look_up_left_the_clock_answer_nothing() {
    let mut record = record();
    record.started = "2026-11-21T17:32:27Z".to_owned();
    let advice = asked(&record, |_| ());
    assert!(matches!(advice.outcome, Outcome::None(_)), "{:?}", advice.outcome);
    let gcm = advice.rejected.iter().find(|r| r.scheme == "aes-256-gcm").unwrap();
    assert!(gcm.detail.contains("withdrawn"), "{gcm:?}");
}

#[test]
fn a_pair_that_was_refused_or_whose_probes_came_out_otherwise_has_no_price() {
    let without = |q: &mut Question<'_>| {
        q.wishes.integrity = IntegrityLevel::None;
        q.wishes.expansion = Some(0);
        q.wishes.fips = Fips::Algorithm;
    };
    let mut record = record();
    let advice = asked(&record, without);
    assert_eq!(choice_of(&advice).price.label(), "openssl@3.0.19");
    for v in record.verified.iter_mut().filter(|v| v.scheme == "aes-256-xts") {
        (v.state, v.reason) = (State::Refused, Some("page 3 differs".to_owned()));
    }
    let advice = asked(&record, without);
    assert!(matches!(advice.outcome, Outcome::None(_)));
    let xts = advice.rejected.iter().find(|r| r.scheme == "aes-256-xts").unwrap();
    assert!(xts.detail.contains("refused in openssl: page 3 differs"), "{}", xts.detail);

    let mut record = self::record();
    for p in record.probes.iter_mut().filter(|p| p.scheme == "aes-256-gcm" && p.library == 0) {
        p.as_expected = false;
    }
    assert_eq!(choice_of(&asked(&record, |_| ())).price.label(), "libsodium@1.0.18");
}

#[test]
fn keys_tiers_sizes_and_tails_are_those_that_were_asked_for() {
    let none = |with: fn(&mut Question<'_>)| {
        let advice = asked(&record(), with);
        assert!(matches!(advice.outcome, Outcome::None(_)), "{:?}", advice.outcome);
    };
    none(|q| q.wishes.key_per = KeyPer::Write);
    none(|q| q.tier = base::model::Tier::Noaes);
    none(|q| q.size = 4096);
    none(|q| q.wishes.max_p99_us = Some(2.0));
    assert!(matches!(
        asked(&record(), |q| q.wishes.max_p99_us = Some(3.5)).outcome,
        Outcome::Choice(_)
    ));
}

#[test]
fn a_scheme_that_nobody_asked_for_is_missing_and_the_pages_that_were_drawn_are_counted() {
    let mut record = record();
    record.verified.iter_mut().for_each(|v| v.pages = v.pages.min(50));
    let advice = asked(&record, |_| ());
    let missing = |scheme: &str| {
        let mut all = advice.open.iter().filter(|o| o.kind == OpenWhy::Missing);
        all.any(|o| (&*o.scheme, &*o.library) == (scheme, "any library"))
    };
    assert!(missing("aegis-256x4") && !missing("aes-256-gcm"), "{:?}", advice.open);
    assert!(advice.basis.candidates.missing > 1, "{:?}", advice.basis.candidates);
    let store = advice.basis.store.join("\n");
    assert!(store.contains("50 of its pages, drawn at random, encrypted"), "{store}");
}

/// A file's pages serve where memory was not timed, for all schemes alike.
#[test]
fn one_medium_serves_for_all() {
    let mut record = record();
    record.cells.retain(|c| c.medium != record::at_rest::Medium::Sequential);
    assert!(matches!(asked(&record, |_| ()).outcome, Outcome::None(_)));
    let writes: Vec<Cell> = record
        .cells
        .iter()
        .filter(|c| c.medium == record::at_rest::Medium::Cache)
        .map(|c| Cell { direction: base::model::Direction::Encrypt, ..c.clone() })
        .collect();
    record.cells.extend(writes);
    assert_eq!(choice_of(&asked(&record, |_| ())).price.read_ns.median, 2000.0);
}

#[test]
fn advice_is_read_as_it_was_written_and_what_is_none_is_named() {
    let advice = asked(&record(), |_| ());
    let options = base::text::Options { width: 90, color: false };
    let text = render(&advice, "record pages.json", Format::Json, options);
    assert!(is_advice(&text));
    let read = from_json(&text, "a.json").unwrap();
    assert_eq!(read.record, "record pages.json");
    assert_eq!(render(&read.advice, &read.record, Format::Json, options), text);
    for (from, to, says) in [
        ("\"kind\": \"advice\"", "\"kind\": \"pages\"", "another kind"),
        ("\"format_version\": \"1.2\"", "\"format_version\": \"2.0\"", "its format is 2.0"),
        ("\"median\": 2000.0", "\"median\": -1.0", "which no run has"),
        ("\"rule\": \"ecb-leaks\"", "\"rule\": \"x\\u001b\"", "the rule 'x ' is not among"),
    ] {
        assert!(text.contains(from), "{from}");
        let why = from_json(&text.replace(from, to), "a.json").unwrap_err().to_string();
        assert!(why.contains(says) && !why.contains('\u{1b}'), "{why}");
    }
}

#[test]
fn a_median_alone_has_no_interval_and_the_nonces_are_in_the_cost_or_not() {
    let mut record = record();
    for range in record.cells.iter_mut().filter_map(|c| c.crypto_ns.as_mut()) {
        (range.low, range.high) = (None, None);
    }
    let advice = asked(&record, |_| ());
    let options = base::text::Options { width: 90, color: false };
    let all = render(&advice, "record pages.json", Format::Text, options);
    let screen = first_screen(&advice, "record pages.json", options);
    for text in [&all, &screen] {
        assert!(text.contains("(interval unknown)") && !text.contains("±0.0"), "{text}");
    }
    assert!(all.contains("nonce and sum included"), "{all}");
    assert!(!all.contains("not the random numbers for the nonce"), "{all}");
    let longer = &choice_of(&advice).key.longer;
    assert_eq!(longer[0].flags, ["--keys 10", "--key-life 90d"], "{longer:?}");
    assert!(screen.contains("or later"), "{screen}");
}
