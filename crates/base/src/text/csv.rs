//! Text in CSV that spreadsheets will open.

/// Characters that make a spreadsheet take a text for a formula
/// (OWASP, "CSV Injection"): the full-width forms count in some languages' settings.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A heading and rows of as many fields (RFC 4180), of which no spreadsheet computes one. Numbers
/// below zero stay numbers.
///
/// # Panics
/// When a row has another number of fields than the heading.
#[must_use]
pub fn csv<R>(heading: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let unless_number = |text: String| {
        if text.parse::<f64>().is_ok() { text } else { guarded(text) }
    };
    csv_as_is(heading, rows.into_iter().map(|row| row.into_iter().map(unless_number)))
}

/// As [`csv`], with fields as they are.
///
/// # Panics
/// When a row has another number of fields than the heading.
#[must_use]
pub fn csv_as_is<R>(heading: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(heading).expect("memory can be written");
    for row in rows {
        writer.write_record(row).expect("each row has the heading's number of fields");
    }
    let bytes = writer.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("all fields are text")
}

/// Text that no spreadsheet takes for a formula: preceded by an apostrophe where it would be one.
#[must_use]
pub fn guarded(text: String) -> String {
    if text.starts_with(FORMULA) { format!("'{text}") } else { text }
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
    fn formulas_become_text() {
        for formula in ["=1+1", "+1", "-2", "@x", "＝1", "\n=1"] {
            assert_eq!(guarded(formula.to_owned()), format!("'{formula}"));
        }
        assert_eq!(guarded("aes-128-gcm".to_owned()), "aes-128-gcm");
    }
}
