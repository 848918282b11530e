//! Text in CSV that spreadsheets will open.

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
    fn formulas_become_text_and_numbers_stay_numbers() {
        assert_eq!(unformula("=1+1"), "'=1+1");
        assert_eq!(unformula("@x"), "'@x");
        assert_eq!(unformula("＝1"), "'＝1", "the full-width sign counts in some settings");
        assert_eq!(unformula("\n=1"), "'\n=1");
        assert_eq!(unformula("-1.5"), "-1.5");
        assert_eq!(unformula("aes-128-gcm"), "aes-128-gcm");
    }
}
