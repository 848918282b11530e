//! Text in CSV that spreadsheets will open.

/// A text that a spreadsheet would take for a formula, with an apostrophe before it. Numbers below
/// zero stay numbers.
pub(crate) fn unformula(text: &str) -> String {
    let formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if formula { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_and_numbers_stay_numbers() {
        assert_eq!(unformula("=1+1"), "'=1+1");
        assert_eq!(unformula("@x"), "'@x");
        assert_eq!(unformula("-1.5"), "-1.5");
        assert_eq!(unformula("aes-128-gcm"), "aes-128-gcm");
    }
}
