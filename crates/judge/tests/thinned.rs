//! Holes in a record: an answer from less is the whole record's, or says that it could be another.
use crate::{answer, choice_of, postgres, published};
use base::model::{Direction, Tier};
use ciphermark_judge::advise::{
    Advice, Data, Fips, Format, IntegrityLevel, NonceSource, Open, OpenWhy, Outcome, Question,
    render,
};
use jiff::civil::{Date, date};
use record::{Measurement, Record, Samples};
use std::cell::OnceCell;

pub(crate) const TODAY: Date = date(2026, 11, 28);

/// The published record without raw samples.
pub(crate) fn record() -> Record {
    let mut record = published().clone();
    record.measurements.iter_mut().for_each(|m| m.raw = Samples::default());
    record
}

/// Scheme and library; none where there is no choice.
pub(crate) fn chosen(advice: &Advice) -> Option<(String, String)> {
    match &advice.outcome {
        Outcome::Choice(choice) => Some((choice.scheme.clone(), choice.price.label())),
        Outcome::None(_) => None,
    }
}

type Wish = (&'static str, fn(&mut Question<'_>));
const WISHES: [Wish; 4] = [
    ("as assumed", |_| ()),
    ("approved", |q| q.wishes.fips = Fips::Algorithm),
    ("no tag", |q| {
        q.wishes.integrity = IntegrityLevel::None;
        q.wishes.expansion = Some(0);
    }),
    ("random nonces", |q| q.wishes.nonce = NonceSource::Random),
];

/// 60 questions: uses, wishes, tiers.
pub(crate) fn questions(data: &Data) -> Vec<(String, Question<'_>)> {
    let mut all = Vec::new();
    for used in data.uses.iter().filter(|u| u.storage).take(5) {
        for (wish, change) in WISHES {
            for tier in [Tier::Native, Tier::Aesni, Tier::Noaes] {
                let mut question = Question::of(used, TODAY);
                question.tier = tier;
                change(&mut question);
                all.push((format!("{} {wish} {tier}", used.id), question));
            }
        }
    }
    all
}

/// A number that looks drawn, of a text.
fn drawn(of: &str, seed: u64) -> f64 {
    let mut hash = seed ^ 0xcbf2_9ce4_8422_2325;
    for byte in of.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 29;
    (hash.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 53) as f64
}

/// What decides together whether a row stays.
type Together = fn(&Measurement) -> String;
const KINDS: [(&str, Together); 5] = [
    ("row", |m| {
        let (a, l, t) = (&m.algorithm, &m.library.path, m.tier);
        format!("{a} {l} {t} {} {} {}", m.size, m.direction, m.model)
    }),
    ("library", |m| m.library.path.clone()),
    ("algorithm", |m| m.algorithm.clone()),
    ("size", |m| format!("{} {} {}", m.size, m.algorithm, m.library.path)),
    ("direction", |m| format!("{} {} {}", m.direction, m.algorithm, m.library.path)),
];

fn thinned(whole: &Record, kind: Together, share: f64, seed: u64) -> Record {
    let mut record = whole.clone();
    record.measurements.retain(|m| drawn(&kind(m), seed) >= share);
    record
}

/// Asks one of so many questions of each thinned record.
const STEP: usize = 4;

#[test]
#[ignore = "long: takes ten seconds or more"]
fn no_answer_from_a_thinned_record_is_another_without_saying_that_it_could() {
    let (data, whole) = (Data::built_in(), record());
    let questions = questions(&data);
    assert_eq!(questions.len(), 60);
    // Of the whole record, as far as it is asked.
    let all: Vec<OnceCell<Advice>> = questions.iter().map(|_| OnceCell::new()).collect();
    let (mut same, mut said, mut wrong) = (0, 0, Vec::new());
    for (number, share) in [0.1, 0.3, 0.5, 0.8, 0.95].into_iter().enumerate() {
        for (kind, of) in KINDS {
            let record = thinned(&whole, of, share, number as u64);
            let asked = questions.iter().zip(&all).skip(number % STEP).step_by(STEP);
            for ((name, question), before) in asked {
                let before = before.get_or_init(|| answer(&data, question, &whole));
                let after = answer(&data, question, &record);
                // What was open before is no excuse.
                let missing =
                    after.open.iter().any(|o| o.kind != OpenWhy::Unjudged && is_new(o, before));
                match chosen(&after) == chosen(before) {
                    true => same += 1,
                    false if missing => said += 1,
                    false => wrong.push(format!(
                        "{name}, {share} of each {kind}: {:?}, not {:?}",
                        chosen(&after),
                        chosen(before)
                    )),
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "{same} the same, {said} said that they could differ");
    assert!(same > 20 && said > 20, "{same} {said}");
}

fn is_new(open: &Open, before: &Advice) -> bool {
    let is_it =
        |o: &Open| (&o.scheme, &o.library, o.kind) == (&open.scheme, &open.library, open.kind);
    !before.open.iter().any(is_it)
}

fn missing(advice: &Advice) -> Vec<&Open> {
    advice.open.iter().filter(|o| o.kind == OpenWhy::Missing).collect()
}

#[test]
fn what_was_measured_whole_has_nothing_missing_and_the_candidates_add_up() {
    let (data, whole) = (Data::built_in(), record());
    let advice = answer(&data, &postgres(&data, TODAY), &whole);
    let c = advice.basis.candidates;
    assert!(c.measured > 20, "{c:?}");
    assert_eq!(c.all, c.measured + c.ruled_out_by_bound + c.missing, "{c:?}");
    // AES-OCB of this record was asked of all its libraries, and so was everything else that fits.
    assert_eq!(missing(&advice), Vec::<&Open>::new());
}

#[test]
fn a_price_that_is_gone_is_missing_until_a_bound_rules_it_out() {
    let (data, mut record) = (Data::built_in(), record());
    let question = postgres(&data, TODAY);
    let before = answer(&data, &question, &record);
    let (scheme, library) = chosen(&before).unwrap();
    let is_it = |m: &Measurement| {
        (m.algorithm == scheme && m.library.label() == library, m.size, m.direction, m.tier)
    };
    record.measurements.retain(|m| is_it(m) != (true, 8192, Direction::Decrypt, Tier::Native));
    for m in &mut record.measurements {
        // Nothing that bounds or foretells it.
        if is_it(m).0 && m.size != 8192 && m.direction == Direction::Decrypt {
            m.state = record::State::Failed;
            m.stopped = Some(record::Stopped::Budget);
            m.ns_per_op = None;
        }
    }
    let after = answer(&data, &question, &record);
    let gone = |open: &[&Open]| open.iter().any(|o| o.scheme == scheme && o.library == library);
    assert!(gone(&missing(&after)), "{:?}", after.open);
    let text = render(&after, "record r.json", Format::Text, base::text::Options::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("not measured, could cost less"), "{text}");
    assert!(text.contains("`ciphermark advise --for postgres -s 8192` measures them"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&render(&after, "r", Format::Json, base::text::Options::default()))
            .unwrap();
    assert_eq!(json["open"][0]["kind"], "missing");
    // A look at it that says how much it costs at the least.
    for m in &mut record.measurements {
        if is_it(m) == (true, 512, Direction::Decrypt, Tier::Native) {
            m.stopped = Some(record::Stopped::Screened);
            m.at_least_ns = Some(1e6);
        }
    }
    let bounded = answer(&data, &question, &record);
    assert!(!gone(&missing(&bounded)), "{:?}", bounded.open);
    assert_eq!(chosen(&bounded), chosen(&after));
}

#[test]
fn a_wide_interval_is_undecided_and_no_tie() {
    let (data, mut record) = (Data::built_in(), record());
    let question = postgres(&data, TODAY);
    let (scheme, library) = chosen(&answer(&data, &question, &record)).unwrap();
    for m in record.measurements.iter_mut().filter(|m| m.algorithm != scheme) {
        if let Some(ns) = &mut m.ns_per_op {
            (ns.low, ns.high) = (ns.median * 0.05, ns.median * 5.0);
        }
    }
    let advice = answer(&data, &question, &record);
    assert_eq!(chosen(&advice), Some((scheme, library)));
    assert!(advice.open.iter().any(|o| o.kind == OpenWhy::Undecided), "{:?}", advice.open);
    let choice = choice_of(&advice);
    assert!(choice.ties_with.iter().all(|s| s == &choice.scheme), "{:?}", choice.ties_with);
    assert!(advice.fitting.iter().any(|f| f.undecided && !f.tied));
}
