//! The tests of advice, in one program: a second one would be linked again.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod golden;
mod mutated;
mod pages;
mod secrets;
mod thinned;

use ciphermark_judge::advise::{
    Advice, Choice, Data, Evidence, Outcome, Question, Surroundings, advise,
};
use jiff::civil::Date;
use record::Record;
use record::fixtures::leaks;
use std::path::Path;
use std::sync::OnceLock;

fn published() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/at-rest-2026-11-23-gnr.json.gz");
    RECORD.get_or_init(|| record::load(&path).unwrap())
}

fn postgres(data: &Data, today: Date) -> Question<'_> {
    Question::of(data.find_use("postgres").unwrap(), today)
}

/// What is advised for PostgreSQL, on a day.
fn asked(from: Evidence<'_>, today: Date, with: impl Fn(&mut Question<'_>)) -> Advice {
    let data = Data::built_in();
    let mut question = postgres(&data, today);
    with(&mut question);
    advise(&data, &question, from, &Surroundings::on(today))
}

/// What is advised on the day from which the key is used.
fn answer(data: &Data, question: &Question<'_>, record: &Record) -> Advice {
    advise(data, question, Evidence::Survey(record), &Surroundings::on(question.key_born))
}

fn choice_of(advice: &Advice) -> &Choice {
    let Outcome::Choice(choice) = &advice.outcome else { panic!("{:?}", advice.outcome) };
    choice
}
