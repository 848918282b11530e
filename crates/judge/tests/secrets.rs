//! What depends on the secret is not advised where others share the core.
use crate::{choice_of, leaks, postgres, published};
use base::model::NameGlob;
use ciphermark_judge::advise::{
    Advice, Data, Evidence, Format, OpenWhy, Outcome, Question, Surroundings, advise, render,
};
use jiff::civil::{Date, date};
use record::{LeakVerdict, LibraryId, Record};

const TODAY: Date = date(2026, 11, 21);

fn asked(record: &Record, with: impl Fn(&mut Question<'_>)) -> Advice {
    crate::asked(Evidence::Survey(record), TODAY, with)
}

fn judged(algorithm: &str, name: &str, verdict: LeakVerdict) -> Record {
    let mut record = published().clone();
    let ids: Vec<LibraryId> = record.libraries.iter().map(|l| l.identity()).collect();
    for library in ids.into_iter().filter(|id| id.name == name || name == "*") {
        record.leaks.push(leaks(library, algorithm, verdict));
    }
    record
}

fn text(advice: &Advice) -> String {
    let text = render(advice, "record r.json", Format::Text, base::text::Options::default());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_fastest_loses_where_it_depends_on_the_secret_and_the_answer_says_what_that_costs() {
    let before = asked(published(), |_| ());
    assert_eq!(choice_of(&before).scheme, "aegis-256x4");
    let record = judged("aegis-256x4", "*", LeakVerdict::Depends);
    let advice = asked(&record, |_| ());
    let choice = choice_of(&advice);
    assert_ne!(choice.scheme, "aegis-256x4");
    let avoided = choice.avoided.as_ref().unwrap();
    assert_eq!(avoided.scheme, "aegis-256x4");
    let cost = |a: &Advice| choice_of(a).price.cost(0.5).median;
    assert!((avoided.times - cost(&advice) / cost(&before)).abs() < 0.2, "{avoided:?}");
    let said = text(&advice);
    assert!(said.contains("avoids aegis-256x4 in libaegis"), "{said}");
    let lost = advice.rejected.iter().find(|r| r.scheme == "aegis-256x4").unwrap();
    assert!(lost.detail.contains("only with --alone yes"), "{lost:?}");
}

#[test]
fn who_is_alone_on_the_core_may_use_it_and_is_told() {
    let record = judged("aegis-256x4", "*", LeakVerdict::Depends);
    let advice = asked(&record, |q| q.wishes.alone = true);
    assert_eq!(choice_of(&advice).scheme, "aegis-256x4");
    assert_eq!(choice_of(&advice).avoided, None);
    assert!(text(&advice).contains("depends on the secret: only where nothing else runs"));
}

#[test]
#[ignore = "long: seconds"]
fn what_may_depend_or_has_no_verdict_is_advised_with_a_word() {
    let advice = asked(published(), |_| ());
    assert!(!text(&advice).contains("secrets "), "nothing was judged");
    for (verdict, words) in [
        (LeakVerdict::MayDepend, "may depend on the secret, by taint only"),
        (LeakVerdict::SameTrace, "same trace for every secret"),
        (LeakVerdict::NotJudged, "not all could be judged"),
    ] {
        let advice = asked(&judged("aegis-256x4", "*", verdict), |_| ());
        assert_eq!(choice_of(&advice).scheme, "aegis-256x4");
        assert!(text(&advice).contains(words), "{words}");
    }
    let elsewhere = asked(&judged("aegis-256x4", "openssl", LeakVerdict::Depends), |_| ());
    assert_eq!(choice_of(&elsewhere).scheme, "aegis-256x4");
}

#[test]
fn where_every_library_depends_on_it_the_wish_is_named() {
    let mut record = published().clone();
    let algorithms: std::collections::BTreeSet<(String, LibraryId)> =
        record.measurements.iter().map(|m| (m.algorithm.clone(), m.library.clone())).collect();
    for (algorithm, library) in algorithms {
        record.leaks.push(leaks(library, &algorithm, LeakVerdict::Depends));
    }
    let advice = asked(&record, |q| q.wishes.libraries = vec![NameGlob::parse("*").unwrap()]);
    let Outcome::None(conflict) = &advice.outcome else { panic!("{:?}", advice.outcome) };
    assert_eq!(conflict.flags, ["--alone no"]);
}

#[test]
fn what_is_not_judged_comes_after_what_is_and_is_named() {
    let plain = asked(published(), |_| ());
    let (scheme, library) = {
        let choice = choice_of(&plain);
        (choice.scheme.clone(), choice.price.libraries[0].clone())
    };
    assert!(plain.open.iter().any(|o| o.kind == OpenWhy::Unjudged && o.scheme == scheme));
    let record = judged("aes-256-gcm", "*", LeakVerdict::SameTrace);
    let advice = asked(&record, |_| ());
    let choice = choice_of(&advice);
    assert_eq!(choice.scheme, "aes-256-gcm");
    assert_eq!(choice.price.leaks, Some(LeakVerdict::SameTrace));
    assert!(advice.open.iter().any(|o| o.kind == OpenWhy::Unjudged && o.scheme == scheme));
    assert!(text(&advice).contains("not judged whether the secret shows, so not chosen"));
    let alone = asked(&record, |q| q.wishes.alone = true);
    assert_eq!(choice_of(&alone).price.libraries[0], library);
    // Found here, where the record does not say.
    let data = Data::built_in();
    let found = vec![leaks(library.clone(), &scheme, LeakVerdict::Depends)];
    let around = Surroundings { judged: found, ..Surroundings::on(TODAY) };
    let advice = advise(&data, &postgres(&data, TODAY), Evidence::Survey(published()), &around);
    let choice = choice_of(&advice);
    assert!((&choice.scheme, &choice.price.libraries[0]) != (&scheme, &library));
}
