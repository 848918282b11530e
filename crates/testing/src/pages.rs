//! Records of page stores and advice: any text, and records whose fields hold anything, shown in every
//! form and asked for advice.

use crate::check;
use crate::mutation::{Choices, changed_of};
use base::text::Options;
use jiff::civil::date;
use judge::advise::{Data, Evidence, Question, Surroundings};
use record::at_rest::PagesRecord;
use report::page::{Content, Source};
use serde_json::Value;
use std::sync::LazyLock;

/// The committed sample of the format.
static VALUE: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../record/tests/at-rest.json");
    serde_json::from_str(text).expect("it is tested")
});

/// The same as a record.
static RECORD: LazyLock<Value> = LazyLock::new(|| {
    let record = record::at_rest::read(&VALUE.to_string(), "sample").expect("it is tested");
    serde_json::to_value(record).expect("plain data")
});

/// The first byte says whether the others are a file or changes of a record, the second how it is shown.
pub(crate) fn run(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (Some(kind), Some(how)) = (choices.byte(), choices.byte()) else { return };
    if kind % 4 == 0 {
        let Ok(text) = std::str::from_utf8(choices.0) else { return };
        advice(text);
        record(text, how);
    } else {
        let of = if kind < 128 { &VALUE } else { &RECORD };
        record(&changed_of(of, &mut choices).to_string(), how);
    }
}

fn record(text: &str, how: u8) {
    match record::at_rest::from_json(text, "p.json") {
        Err(why) => check::line(&why),
        Ok(record) => {
            let written = record::at_rest::to_json(&record);
            let again = record::at_rest::from_json(&written, "p.json");
            assert_eq!(again.expect("what was written is read"), record);
            // The same with a harmless letter where markup would begin.
            let harmless = record::at_rest::from_json(&written.replace('<', "x"), "p.json");
            let harmless = harmless.expect("it differs in texts only");
            shown(&record, &harmless, 20 + usize::from(how));
            asked(&record, &harmless);
        }
    }
}

fn shown(record: &PagesRecord, harmless: &PagesRecord, width: usize) {
    check::for_people("the table", &record::at_rest::table(record, width), false);
    let as_record = record::at_rest::into_record(record);
    check::json("JSON", &record::to_json(&as_record));
    let all: Vec<_> = as_record.measurements.iter().collect();
    let rows = check::spreadsheet("CSV", &report::tabular::csv(&as_record, &all));
    assert_eq!(rows, record.cells.len() + 1);
    check::markdown("Markdown", &[record, harmless].map(record::at_rest::markdown));
    check::page([record, harmless].map(Content::Pages));
}

/// What would be advised, read again as a page would.
fn asked(record: &PagesRecord, harmless: &PagesRecord) {
    static DATA: LazyLock<Data> = LazyLock::new(Data::built_in);
    let today = date(2026, 11, 21);
    let used = DATA.find_use("postgres").expect("it is there");
    let ask = |record: &PagesRecord| {
        let mut question = Question::of(used, today);
        question.tier = record.tier;
        question.size = record.store.page_size;
        let around = Surroundings { today, cpu: None, libraries: Vec::new(), judged: Vec::new() };
        judge::advise::advise(&DATA, &question, Evidence::Pages(record), &around)
    };
    let advice = [ask(record), ask(harmless)];
    let options = Options { width: 80, color: false };
    let render = |i: usize, format| judge::advise::render(&advice[i], "record", format, options);
    check::for_people("advice", &render(0, judge::advise::Format::Text), false);
    let marked = [0, 1].map(|i| render(i, judge::advise::Format::Markdown));
    check::markdown("advice in Markdown", &marked);
    let json = render(0, judge::advise::Format::Json);
    let read = judge::advise::from_json(&json, "a.json").expect("what was written is read");
    let source = Source { file: "a.json", content: Content::Advice(&read) };
    report::page::page_without_scripts(&[source]).expect("any advice has a page");
}

fn advice(text: &str) {
    match judge::advise::from_json(text, "a.json") {
        Err(why) => check::line(&why),
        Ok(advised) => {
            let options = Options { width: 80, color: false };
            let render =
                |format| judge::advise::render(&advised.advice, &advised.record, format, options);
            check::for_people("advice", &render(judge::advise::Format::Text), false);
            check::for_people("advice", &render(judge::advise::Format::Markdown), false);
            let source = Source { file: "a.json", content: Content::Advice(&advised) };
            report::page::page_without_scripts(&[source]).expect("any advice has a page");
        }
    }
}
