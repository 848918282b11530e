//! Text in CSV that spreadsheets will open.

/// A heading and rows of as many fields (RFC 4180), of which no spreadsheet computes one.
///
/// # Panics
/// When a row has another number of fields than the heading.
#[must_use]
pub fn csv<R>(heading: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(heading).expect("memory can be written");
    for row in rows {
        let cells = row.into_iter().map(|cell| unformula(&cell));
        writer.write_record(cells).expect("each row has the heading's number of fields");
    }
    let bytes = writer.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("all fields are text")
}

/// A text that a spreadsheet would take for a formula, with an apostrophe before it. Numbers below
/// zero stay numbers.
pub(crate) fn unformula(text: &str) -> String {
    let text = text.to_owned();
    if text.parse::<f64>().is_ok() { text } else { tabular::guarded(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_under_their_heading_with_formulas_as_text() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let text = csv(&["a", "b"], [row(["1", "x, y"]), row(["=1+1", "-2"])]);
        assert_eq!(text, "a,b\n1,\"x, y\"\n'=1+1,-2\n");
    }

    #[test]
    fn formulas_become_text_and_numbers_stay_numbers() {
        assert_eq!(unformula("=1+1"), "'=1+1");
        assert_eq!(unformula("@x"), "'@x");
        assert_eq!(unformula("＝1"), "'＝1", "the full-width sign counts in some settings");
        assert_eq!(unformula("\n=1"), "'\n=1");
        assert_eq!(unformula("-1.5"), "-1.5");
        assert_eq!(unformula("aes-128-gcm"), "aes-128-gcm");
    }
}
