//! The promises that readers and renderings keep, as checks that panic; and what they are held against: a
//! record with something in every field, and records made from it by changing what its fields hold.

use record::Record;
use report::page::{Content, Source};
use serde_json::{Number, Value};
use std::fmt::Display;
use std::sync::LazyLock;

/// A reason is one line with an end, without what steers a terminal. For readers of files, whose
/// reasons name what was read themselves.
pub(crate) fn line(why: &impl Display) {
    let why = why.to_string();
    assert!(!why.is_empty(), "a reason without words");
    assert!(!why.contains(char::is_control), "a reason of more than one line: {why:?}");
    assert!(why.chars().count() < 5000, "a reason without end");
}

/// A reason that quotes what was typed, as the program shows it.
pub(crate) fn shown(why: &impl Display) {
    line(&base::text::one_line(&why.to_string()));
}

/// Text for people: line breaks and our own styles and nothing else that steers a terminal.
pub(crate) fn for_people(what: &str, text: &str, color: bool) {
    let steers = base::text::for_terminal(text) != text;
    assert!(!steers, "{what} would steer a terminal: {text:?}");
    assert!(color || !text.contains('\u{1b}'), "{what} has styles that were not asked for");
    assert!(text.is_empty() || text.ends_with('\n'), "{what} does not end with a line break");
}

/// CSV with as many fields in each row and no field that a spreadsheet computes.
pub(crate) fn spreadsheet(what: &str, text: &str) -> usize {
    let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut count = 0;
    for row in rows.records() {
        let row = row.unwrap_or_else(|e| panic!("{what}: {e}"));
        row.iter().for_each(|cell| no_formula(what, cell));
        count += 1;
    }
    count
}

fn no_formula(what: &str, cell: &str) {
    let begins = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let formula = begins && cell.parse::<f64>().is_err();
    assert!(!formula, "{what}: a spreadsheet computes {cell:?}");
}

/// What a page shows of two contents as for [`no_markup`].
pub(crate) fn page(contents: [Content<'_>; 2]) {
    let html = |content| {
        let source = Source { file: "r.json", content };
        report::page::page_without_scripts(&[source]).expect("whatever was read has a page")
    };
    no_markup("the page", &contents.map(html));
}

pub(crate) fn json(what: &str, text: &str) {
    if let Err(e) = serde_json::from_str::<serde_json::Value>(text) {
        panic!("{what} is no JSON: {e}");
    }
}

/// Markdown of two records as for [`no_markup`]; the rows of a table have as many cells.
pub(crate) fn markdown(what: &str, both: &[String; 2]) {
    for_people(what, &both[0], false);
    no_markup(what, both);
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = both[0].lines().collect();
    let rows = lines.windows(2).filter(|two| two.iter().all(|line| line.starts_with('|')));
    rows.for_each(|two| assert_eq!(bars(two[0]), bars(two[1]), "{what}: {two:?}"));
}

/// Two outputs of records that differ in nothing but that the second has a harmless letter for each `<`:
/// where the first shows one that is not escaped, it would be markup.
pub(crate) fn no_markup(what: &str, [hostile, harmless]: &[String; 2]) {
    let open = |text: &str| {
        let escaped = text.matches("\\<").count() + text.matches("`<`").count();
        text.matches('<').count() - escaped
    };
    assert_eq!(open(hostile), open(harmless), "{what}: markup from a record: {hostile}");
}

const TEXT: &str = include_str!("../../record/tests/sample.json");

/// The committed sample of the format.
pub(crate) static RECORD: LazyLock<Record> =
    LazyLock::new(|| record::from_json(TEXT, "sample").expect("it is tested"));

/// The same as JSON, with one measurement more: imported, and so with what the others lack.
static VALUE: LazyLock<Value> = LazyLock::new(|| {
    let mut value: Value = serde_json::from_str(TEXT).expect("it is tested");
    let rows = value["measurements"].as_array_mut().expect("an array");
    let mut imported = rows[0].clone();
    imported["state"] = "imported".into();
    imported["checks"] = Value::Array(Vec::new());
    imported["imported"] = serde_json::json!({"source": "a blog", "machine": "theirs"});
    imported["key_setup"] = serde_json::json!({"ns": 12.5, "cycles": 30.0});
    imported["limit_fraction"] = 0.5.into();
    rows.push(imported);
    value
});

/// The sample with what someone would try in each of its texts where it stays a record. Of algorithms only the last
/// row's: with none that is known nothing would be ranked.
#[cfg(test)]
pub(crate) fn hostile() -> Record {
    const TRIED: &str = "=1+1|\u{1b}[2J\n\u{202e}</summary><script>`x`\r";
    let (mut value, mut texts) = (VALUE.clone(), 0);
    for at in 0.. {
        let mut tried = value.clone();
        let mut fields = Vec::new();
        collect(&mut tried, &mut fields);
        if at == fields.len() {
            break;
        }
        match fields.swap_remove(at) {
            Field(Value::String(text)) if text != "aes-128-gcm" => text.insert_str(0, TRIED),
            Field(Value::Array(items)) if items.iter().any(Value::is_string) => {
                let tried = |item: &mut Value| *item = format!("{TRIED}{item}").into();
                items.iter_mut().for_each(tried);
            }
            _ => continue,
        }
        if record::from_json(&tried.to_string(), "r.json").is_ok() {
            (value, texts) = (tried, texts + 1);
        }
    }
    assert!(texts > 30, "{texts}");
    let mut record = record::from_json(&value.to_string(), "r.json").expect("each was tried");
    record.measurements.last_mut().expect("it has rows").algorithm.insert_str(0, TRIED);
    record
}

/// Bytes as decisions.
pub(crate) struct Choices<'a>(pub(crate) &'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn index(&mut self, of: usize) -> Option<usize> {
        let bytes = [self.byte()?, self.byte()?];
        Some(usize::from(u16::from_be_bytes(bytes)) % of.max(1))
    }
}

const CHANGES: usize = 24;

/// The sample's JSON with what the choices put into its fields.
pub(crate) fn changed(choices: &mut Choices<'_>) -> Value {
    changed_of(&VALUE, choices)
}

/// The same of any JSON.
pub(crate) fn changed_of(base: &Value, choices: &mut Choices<'_>) -> Value {
    let mut value = base.clone();
    for _ in 0..CHANGES {
        let mut fields = Vec::new();
        collect(&mut value, &mut fields);
        let Some(at) = choices.index(fields.len()) else { break };
        change(fields.swap_remove(at), choices);
    }
    value
}

/// Every value within, the inner ones first; each can be changed by itself.
fn collect<'v>(value: &'v mut Value, into: &mut Vec<Field<'v>>) {
    let is_list_of_parts = value.as_array().is_some_and(|items| items.iter().any(has_parts));
    if is_list_of_parts {
        value.as_array_mut().into_iter().flatten().for_each(|item| collect(item, into));
        return;
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|value| collect(value, into)),
        other => into.push(Field(other)),
    }
}

fn has_parts(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

struct Field<'v>(&'v mut Value);

/// Numbers at which arithmetic goes wrong.
#[rustfmt::skip]
const NUMBERS: [f64; 16] = [
    0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-300, 1e300, f64::MAX, f64::MIN, 9_007_199_254_740_992.0,
    1e15, 0.1, 3.0, 255.0, 1e-9,
];

const COUNTS: [u64; 8] = [0, 1, 16, 8192, u32::MAX as u64, 1 << 53, (1 << 53) + 1, u64::MAX];

/// Most that a list grows to: two dozen doublings of a long one would fill any memory, here and not in
/// what is tested.
const LONGEST_LIST: usize = 1 << 14;

fn change(field: Field<'_>, choices: &mut Choices<'_>) {
    let Some(kind) = choices.byte() else { return };
    let pick = usize::from(kind >> 3);
    *field.0 = match (kind % 8, &*field.0) {
        (0, _) => Value::Null,
        (1, Value::Array(items)) => Value::Array(items.iter().take(pick).cloned().collect()),
        (2, Value::Array(items)) => items.iter().chain(items).take(LONGEST_LIST).cloned().collect(),
        (_, Value::String(_)) | (7, _) => Value::String(text(kind, choices)),
        (_, Value::Bool(old)) => Value::Bool(!old),
        (_, Value::Number(old)) if old.is_u64() => COUNTS[pick % COUNTS.len()].into(),
        _ => number(NUMBERS[pick % NUMBERS.len()]),
    };
}

fn number(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// Texts that someone would try, or any.
const TEXTS: [&str; 16] = [
    "<script>alert(1)</script>",
    "</script><!--",
    "\u{1b}[2J\u{1b}]0;x\u{7}",
    "=1+1",
    "+cmd|' /C x'!A0",
    "@SUM(A1)",
    "-2",
    "\u{202e}drowssap",
    "a|b\\|c\n| --- |",
    "`<b>`",
    "[x](javascript:1)",
    "\u{9b}31m",
    "",
    "\u{0}",
    "\r\n\t",
    "＝1",
];

fn text(kind: u8, choices: &mut Choices<'_>) -> String {
    if kind % 2 == 1 {
        return TEXTS[usize::from(kind >> 3) % TEXTS.len()].to_owned();
    }
    let length = usize::from(choices.byte().unwrap_or(0));
    String::from_utf8_lossy(choices.bytes(length)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    #[test]
    fn many_of_the_changed_records_are_records_and_no_two_of_them_alike() {
        let mut runner = TestRunner::deterministic();
        let bytes = prop::collection::vec(any::<u8>(), 4..40);
        let mut read = std::collections::BTreeSet::new();
        for _ in 0..400 {
            let bytes = bytes.new_tree(&mut runner).expect("no filter").current();
            let text = changed(&mut Choices(&bytes)).to_string();
            if record::from_json(&text, "r.json").is_ok() {
                read.insert(text);
            }
        }
        // A fuzzer learns which changes are refused; chance alone must leave enough.
        assert!(read.len() > 40, "{}", read.len());
    }
}
