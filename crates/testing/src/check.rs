//! The promises.

use report::page::{Content, Source};
use std::fmt::Display;

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

/// Text that is JSON.
pub(crate) fn json(what: &str, text: &str) {
    if let Err(e) = serde_json::from_str::<serde_json::Value>(text) {
        panic!("{what} is no JSON: {e}");
    }
}

/// Markdown of two records as for [`no_markup`].
pub(crate) fn markdown(what: &str, both: &[String; 2]) {
    for_people(what, &both[0], false);
    no_markup(what, both);
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
