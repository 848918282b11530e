//! Records that were cut short or tampered with: a price gone, an interval widened, a verdict on secrets gone, a size or
//! a library gone. An answer changes only together with its reasons.
use crate::thinned::{TODAY, chosen, questions, record};
use crate::{answer, leaks};
use base::model::{Direction, NameGlob, Tier};
use ciphermark_judge::advise::{
    Advice, Data, Evidence, Open, OpenWhy, Outcome, Question, Surroundings, unjudged,
};
use ciphermark_judge::compare;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use record::{LeakVerdict, Leaks, LibraryId, Measurement, Record, State};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The native tier of the published record, with a verdict on everything.
fn native() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| {
        let mut record = record();
        record.measurements.retain(|m| m.tier == Tier::Native);
        let pairs: BTreeSet<(LibraryId, String)> =
            record.measurements.iter().map(|m| (m.library.clone(), m.algorithm.clone())).collect();
        let same =
            |(library, algorithm): (_, String)| leaks(library, &algorithm, LeakVerdict::SameTrace);
        record.leaks = pairs.into_iter().map(same).collect();
        record
    })
}

/// Four libraries and four schemes of it, each pair a quarter dearer than the one before, so that every mutation of
/// the first decides.
fn small() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| {
        let mut record = native().clone();
        let libraries = ["openssl@4.0.3", "aws-lc@5.12.0", "libgcrypt@1.10.1", "libaegis@0.9.20"];
        let schemes = ["aes-256-gcm", "aes-256-xts", "aegis-256x4", "chacha20-poly1305"];
        record.measurements.retain(|m| {
            schemes.contains(&&*m.algorithm) && libraries.contains(&&*m.library.label())
        });
        record.fits.clear();
        let mut pairs: Vec<(LibraryId, String)> = Vec::new();
        for m in record.measurements.iter_mut().filter(|m| m.state == State::Measured) {
            let pair = (m.library.clone(), m.algorithm.clone());
            let place = pairs.iter().position(|p| *p == pair).unwrap_or(pairs.len());
            if place == pairs.len() {
                pairs.push(pair);
            }
            let median = 1.25_f64.powf(place as f64) * m.size as f64;
            let ns = m.ns_per_op.as_mut().expect("it is priced");
            (ns.median, ns.low, ns.high) = (median, median * 0.99, median * 1.01);
        }
        assert!(pairs.len() > 8, "{pairs:?}");
        record
    })
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    DropPrice,
    /// So many times as wide on both sides.
    Widen(f64),
    DropVerdict,
    DropSize,
    DropLibrary,
}

/// A deed and where: half of them among what the answer names first.
type Mutation = (Deed, prop::sample::Index, bool);

fn mutation() -> impl Strategy<Value = Mutation> {
    let deed = prop_oneof![
        Just(Deed::DropPrice),
        (1.5_f64..60.0).prop_map(Deed::Widen),
        Just(Deed::DropVerdict),
        Just(Deed::DropSize),
        Just(Deed::DropLibrary),
    ];
    (deed, any::<prop::sample::Index>(), any::<bool>())
}

fn mutate(record: &mut Record, size: usize, near: &[(String, String)], mutation: Mutation) {
    let (deed, at, is_near) = mutation;
    let is_among = |m: &Measurement| {
        let label = m.library.label();
        near.iter().any(|(scheme, libraries)| {
            scheme.starts_with(&m.algorithm) && libraries.contains(&label)
        })
    };
    let rows = 0..record.measurements.len();
    let places: Vec<usize> = rows
        .filter(|i| {
            let m = &record.measurements[*i];
            m.state == State::Measured && m.size == size && (!is_near || is_among(m))
        })
        .collect();
    if places.is_empty() {
        return;
    }
    let place = places[at.index(places.len())];
    let row = &record.measurements[place];
    let (library, algorithm) = (row.library.clone(), row.algorithm.clone());
    let is_it = |m: &Measurement| m.library == library && m.algorithm == algorithm;
    match deed {
        Deed::DropPrice => drop(record.measurements.remove(place)),
        Deed::Widen(times) => {
            let ns = record.measurements[place].ns_per_op.as_mut().expect("it is priced");
            ns.low = (ns.median - (ns.median - ns.low) * times).max(ns.median * 0.01);
            ns.high = ns.median + (ns.high - ns.median) * times;
        }
        Deed::DropVerdict => {
            record.leaks.retain(|l| l.library != library || l.algorithm != algorithm);
        }
        Deed::DropSize => record.measurements.retain(|m| m.size != size || !is_it(m)),
        Deed::DropLibrary => record.measurements.retain(|m| m.library != library),
    }
}

/// The first schemes, each in its two cheapest libraries.
fn near(advice: &Advice) -> Vec<(String, String)> {
    let first = advice.fitting.iter().take(3);
    let rows = first.flat_map(|f| {
        let others = f.others.iter().take(1).map(|o| &o.library);
        std::iter::once(&f.library).chain(others).map(|l| (f.scheme.clone(), l.clone()))
    });
    rows.collect()
}

/// Whether the answer says why what was chosen before is not any more: it is open, or it was preferred among equals and
/// is not shown to be one of them.
fn is_explained(before: &Advice, after: &Advice, was: &(String, String)) -> bool {
    let is_it = |o: &Open| o.scheme == was.0 && (o.library == was.1 || o.builds.is_empty());
    let Outcome::Choice(choice) = &before.outcome else { return false };
    let is_apart = |f: &ciphermark_judge::advise::Fitting| f.scheme == was.0 && !f.tied;
    let tied = chosen(after).is_some_and(|(scheme, _)| choice.ties_with.contains(&scheme));
    after.open.iter().any(is_it) || tied && after.fitting.iter().any(is_apart)
}

/// Whether the answer changed, which it may only with its reasons.
fn holds(
    question: &Question<'_>,
    data: &Data,
    record: &Record,
    mutations: &[Mutation],
) -> Result<bool, TestCaseError> {
    let before = answer(data, question, record);
    let mut changed = record.clone();
    let first = near(&before);
    for mutation in mutations {
        mutate(&mut changed, question.size, &first, *mutation);
    }
    let after = answer(data, question, &changed);
    let c = after.basis.candidates;
    prop_assert_eq!(c.all, c.measured + c.ruled_out_by_bound + c.missing);
    let Some(was) = chosen(&before).filter(|was| chosen(&after).as_ref() != Some(was)) else {
        return Ok(false);
    };
    let is = chosen(&after);
    let open = &after.open;
    prop_assert!(is_explained(&before, &after, &was), "{was:?} became {is:?}; {open:?}");
    Ok(true)
}

/// So many drawn mutations of a record, of which some must have changed an answer.
fn drawn(cases: u32, record: &Record) {
    let data = Data::built_in();
    let questions = questions(&data);
    let asked: Vec<&Question<'_>> =
        questions.iter().map(|(_, q)| q).filter(|q| q.tier == Tier::Native).collect();
    let strategy = (prop::collection::vec(mutation(), 1..5), any::<prop::sample::Index>());
    let changed = Cell::new(0);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let run = TestRunner::new(config).run(&strategy, |(mutations, which)| {
        let question = asked[which.index(asked.len())];
        changed.set(changed.get() + u32::from(holds(question, &data, record, &mutations)?));
        Ok(())
    });
    run.expect("an answer changes only with its reasons");
    assert!(changed.get() > cases / 20, "{} of {cases} changed the answer", changed.get());
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn an_answer_from_a_mutated_record_changes_only_with_its_reasons() {
    drawn(500, small());
    drawn(30, native());
}

fn postgres(data: &Data) -> Question<'_> {
    crate::postgres(data, TODAY)
}

/// Not chosen any more, named, and the next that is judged: also where that costs nearly as little.
#[test]
#[ignore = "long: seconds"]
fn a_verdict_that_is_gone_leaves_the_choice_to_what_is_judged() {
    let data = Data::built_in();
    let disk = Question::of(data.find_use("disk").expect("it is in the data"), TODAY);
    for (question, record) in [(postgres(&data), small()), (disk, native())] {
        let was = chosen(&answer(&data, &question, record)).unwrap();
        let mut record = record.clone();
        record.leaks.retain(|l| l.algorithm != was.0 || l.library.label() != was.1);
        let after = answer(&data, &question, &record);
        assert_ne!(chosen(&after).unwrap(), was);
        let named = after.open.iter().find(|o| (&o.scheme, &o.library) == (&was.0, &was.1));
        assert_eq!(named.expect("it is named").kind, OpenWhy::Unjudged);
        // That is what is judged next.
        let next =
            unjudged(&data, &question, Evidence::Survey(&record), &Surroundings::on(TODAY), 1);
        let named = next.iter().map(|(l, a)| (a.clone(), l.label())).next();
        assert_eq!(named, Some(was));
    }
}

/// The choice of a record of which each row of what is chosen now was changed.
fn with_rows_of_the_choice(change: impl Fn(&mut Measurement)) -> (Advice, (String, String)) {
    let (data, mut record) = (Data::built_in(), small().clone());
    let question = postgres(&data);
    let was = chosen(&answer(&data, &question, &record)).expect("something is chosen");
    let is_it = |m: &&mut Measurement| (&m.algorithm, m.library.label()) == (&was.0, was.1.clone());
    record.measurements.iter_mut().filter(is_it).for_each(change);
    (answer(&data, &question, &record), was)
}

/// A wrong tag at any size is one too many; what failed has no price there, nor between its neighbours.
#[test]
#[ignore = "long: seconds"]
fn what_was_refused_at_one_size_or_failed_at_the_units_own_is_not_chosen() {
    for (state, size, stays) in [
        (State::Refused, 8192, false),
        (State::Refused, 65536, false),
        (State::Failed, 8192, false),
        (State::Failed, 1 << 20, true),
    ] {
        let (after, was) = with_rows_of_the_choice(|m| {
            if m.size == size {
                (m.state, m.ns_per_op) = (state, None);
            }
        });
        assert_eq!(chosen(&after).unwrap() == was, stays, "{state:?} at {size}");
    }
}

/// What is measured on a busy core takes at most so long: whoever may be faster there is not ruled out.
#[test]
fn a_bound_of_a_busy_core_leaves_the_answer_open() {
    let (data, mut record) = (Data::built_in(), small().clone());
    let question = postgres(&data);
    let before = answer(&data, &question, &record);
    let beside = before.fitting[1].clone();
    let is_it = |m: &&mut Measurement| {
        (&m.algorithm, m.library.label()) == (&beside.scheme, beside.library.clone())
    };
    record.measurements.iter_mut().filter(is_it).for_each(|m| m.contended = true);
    let after = answer(&data, &question, &record);
    assert_eq!(chosen(&after), chosen(&before));
    let open =
        after.open.iter().find(|o| (&o.scheme, &o.library) == (&beside.scheme, &beside.library));
    let open = open.unwrap_or_else(|| panic!("{:?}", after.open));
    assert_eq!(open.kind, OpenWhy::Undecided);
    assert!(open.times_at_least.is_some_and(|least| (0.0..1.0).contains(&least)), "{open:?}");
}

/// What is not judged is not chosen, and nobody says that it leaks.
#[test]
fn only_what_was_seen_to_depend_on_the_secret_is_said_to_be_avoided_for_that() {
    let (data, mut record) = (Data::built_in(), small().clone());
    let question = postgres(&data);
    let was = chosen(&answer(&data, &question, &record)).unwrap();
    let avoided = |record: &Record| match answer(&data, &question, record).outcome {
        Outcome::Choice(choice) => choice.avoided.map(|a| (a.scheme, a.library)),
        Outcome::None(_) => panic!("nothing is chosen"),
    };
    let is_it = |l: &Leaks| (&l.algorithm, l.library.label()) == (&was.0, was.1.clone());
    let own = record.leaks.iter().position(is_it).unwrap();
    record.leaks[own].verdict = LeakVerdict::Depends;
    assert_eq!(avoided(&record), Some(was));
    record.leaks.remove(own);
    assert_eq!(avoided(&record), None);
}

/// As if it had never been there: in no answer, and counted nowhere.
#[test]
fn a_library_that_is_gone_altogether_is_in_no_answer() {
    let (data, mut record) = (Data::built_in(), small().clone());
    let question = postgres(&data);
    let before = answer(&data, &question, &record);
    let (_, gone) = chosen(&before).unwrap();
    record.measurements.retain(|m| m.library.label() != gone);
    record.libraries.retain(|l| l.identity().label() != gone);
    let after = answer(&data, &question, &record);
    assert!(after.basis.candidates.all < before.basis.candidates.all);
    assert!(!serde_json::to_string(&after).unwrap().contains(&gone), "{after:?}");
}

/// Who was first in `rank` and has no row any more is named.
#[test]
fn a_ranking_names_who_was_first_and_has_no_number() {
    let glob = |name: &str| NameGlob::parse(name).unwrap();
    let question = compare::Question {
        // Other libraries have both: of what nobody else has, no row tells that it is gone.
        algorithms: ["aes-256-gcm", "chacha20-poly1305"].map(glob).to_vec(),
        size: Some(8192),
        direction: Some(Direction::Encrypt),
        ..compare::Question::default()
    };
    let mut record = crate::published().clone();
    record.measurements.retain(|m| m.size == 8192 && m.tier == Tier::Native);
    let first = |record: &Record| {
        let ranking = compare::rank(record, &question, 3).unwrap();
        let row = &ranking.standings[0].rows[0];
        ((row.library.clone(), row.case.algorithm.clone()), ranking)
    };
    let (was, before) = first(&record);
    assert_eq!(before.missing, Vec::new());
    let is_it = |m: &Measurement| (&m.library, &m.algorithm) == (&was.0, &was.1);
    for is_whole in [false, true] {
        let mut less = record.clone();
        less.measurements.retain(|m| !is_it(m) || !is_whole && m.direction != Direction::Encrypt);
        let (is, after) = first(&less);
        assert_ne!(is, was);
        let is_named = |m: &compare::Missing| (&m.library, &m.algorithm) == (&was.0, &was.1);
        assert!(after.missing.iter().any(is_named), "whole: {is_whole}, {:?}", after.missing);
    }
}
