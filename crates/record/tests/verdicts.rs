//! Verdicts over an archive are those of the records, case by case, on the published records.
#![allow(clippy::unwrap_used)] // helpers of tests are outside `#[test]` functions
use ciphermark_record::Record;
use ciphermark_record::archive::{Archive, Chosen, Entry, Selection, Trust};
use judge::compare::{Comparison, Matching, Question, Settings, Side, compare, rank};
use sha2::{Digest as _, Sha256};
use std::path::Path;

const SURVEYS: [&str; 4] = [
    "ladder-2026-11-23-gnr",
    "at-rest-2026-11-23-gnr",
    "full-2026-11-23-gnr",
    "published-2026-11-23-gnr",
];

fn published(name: &str) -> (Record, Vec<u8>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
    let packed = std::fs::read(root.join(format!("{name}.json.gz"))).unwrap();
    (ciphermark_record::from_bytes(packed.clone(), name).unwrap(), packed)
}

/// Surveys, each as it is and as an archive gives it back.
fn both(surveys: &[&str], directory: &Path) -> Vec<(Record, Record)> {
    let mut archive = Archive::open(&directory.join("a.db").display().to_string(), true).unwrap();
    let mut add = |name: &str| {
        let (record, packed) = published(name);
        let sha256 = hex::encode(Sha256::digest(name));
        let entry = Entry {
            record: &record,
            packed: &packed,
            sha256: &sha256,
            samples: None,
            machine: "gnr",
            region: None,
            trust: Trust::Own,
            signer: None,
            doubts: &[],
            known: None,
            added: 0,
        };
        archive.add(&entry).unwrap();
        let of = Selection { record: Some(sha256), ..Selection::default() };
        let listed = archive.list(&of, true).unwrap().remove(0);
        let kept = archive.load(&listed, &Chosen::default()).unwrap();
        (record, kept)
    };
    surveys.iter().map(|name| add(name)).collect()
}

fn side(record: &Record, takes: impl Fn(&ciphermark_record::Measurement) -> bool) -> Side<'_> {
    let rows = record.measurements.iter().filter(|m| takes(m)).collect();
    Side { record, name: "x".to_owned(), rows }
}

fn assert_same(own: &Comparison, kept: &Comparison) {
    assert_eq!((own.unit, own.tally, own.cases.len()), (kept.unit, kept.tally, kept.cases.len()));
    for (a, b) in own.cases.iter().zip(&kept.cases) {
        assert_eq!(
            (&a.case, &a.base_library, &a.new_library),
            (&b.case, &b.base_library, &b.new_library)
        );
        assert_eq!(
            (a.verdict, a.identical, &a.reason),
            (b.verdict, b.identical, &b.reason),
            "{a:?} {b:?}"
        );
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 2e-6;
        let is_near = |(a, b): (base::analysis::Ratio, base::analysis::Ratio)| {
            near(a.estimate, b.estimate) && near(a.low, b.low) && near(a.high, b.high)
        };
        assert!(a.ratio.zip(b.ratio).is_none_or(is_near), "{a:?} {b:?}");
        assert_eq!(
            (a.ratio.is_some(), a.base_cost, &a.warning),
            (b.ratio.is_some(), b.base_cost, &b.warning)
        );
    }
    assert_eq!((&own.states, &own.instructions), (&kept.states, &kept.instructions));
    let key = |c: &Comparison| {
        let mut only: Vec<String> = c.only.iter().map(|o| format!("{o:?}")).collect();
        only.sort();
        only
    };
    assert_eq!(key(own), key(kept));
    assert_eq!((&own.leaks, &own.warnings), (&kept.leaks, &kept.warnings));
}

/// One test each, because reading the surveys takes as long as all that is asked of them.
#[test]
fn answers_over_an_archive_of_a_small_survey_are_those_of_the_record() {
    answers_are_the_same(&SURVEYS[..1], 500, 0);
}

#[test]
#[ignore = "long: every survey that is published, the largest of 50 MB"]
fn answers_over_an_archive_are_those_of_the_records() {
    answers_are_the_same(&SURVEYS, 25_000, 100);
}

fn answers_are_the_same(surveys: &[&str], least_cases: usize, least_apart: usize) {
    let directory = tempfile::tempdir().unwrap();
    let all = both(surveys, directory.path());
    verdicts_are_the_same(&all, least_cases);
    two_versions_within_a_record_are_told_apart_alike(&all, least_apart);
    rankings_are_the_same(&all);
}

fn verdicts_are_the_same(all: &[(Record, Record)], least: usize) {
    let settings = Settings {
        tolerance: 0.005,
        matching: Matching::ByName,
        apart: judge::compare::Apart::Nothing,
    };
    let mut cases = 0;
    for (a, kept_a) in all {
        for (b, kept_b) in all {
            let everything = |_: &ciphermark_record::Measurement| true;
            let own = compare(&side(a, everything), &side(b, everything), &settings);
            let kept = compare(&side(kept_a, everything), &side(kept_b, everything), &settings);
            assert_same(&own, &kept);
            cases += own.cases.len();
        }
    }
    assert!(cases > least, "{cases}");
}

fn two_versions_within_a_record_are_told_apart_alike(all: &[(Record, Record)], least: usize) {
    let settings = Settings {
        tolerance: 0.005,
        matching: Matching::Every,
        apart: judge::compare::Apart::Nothing,
    };
    let mut found = 0;
    for (own, kept) in all {
        let of = |version: &'static str| {
            move |m: &ciphermark_record::Measurement| {
                m.library.name == "openssl" && m.library.version.starts_with(version)
            }
        };
        let a = compare(&side(own, of("3.0")), &side(own, of("4")), &settings);
        let b = compare(&side(kept, of("3.0")), &side(kept, of("4")), &settings);
        assert_same(&a, &b);
        found += a.tally.faster + a.tally.slower;
    }
    assert!(found >= least, "{found}");
}

fn rankings_are_the_same(all: &[(Record, Record)]) {
    for (own, kept) in all {
        for question in Question::usual(own) {
            let places = |r: &Record| {
                let ranking = rank(r, &question, 1000).ok()?;
                let rows = ranking.standings.into_iter().flat_map(|s| s.rows);
                let mut rows: Vec<_> = rows
                    .map(|r| {
                        format!(
                            "{} {} {:?} {:?} {:?}",
                            r.place, r.last_place, r.library, r.case, r.mb_per_s
                        )
                    })
                    .collect();
                rows.sort();
                Some(rows)
            };
            assert_eq!(places(own), places(kept), "{question:?}");
        }
    }
}
