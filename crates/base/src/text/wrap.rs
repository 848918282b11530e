//! Widths of text in columns of a terminal; clipping and wrapping.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns that the text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to so many columns, with an ellipsis where something is missing.
#[must_use]
pub fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut room = columns.saturating_sub(1);
    for c in text.chars() {
        let taken = c.width().unwrap_or(0);
        if taken > room {
            break;
        }
        room -= taken;
        clipped.push(c);
    }
    clipped + "…"
}

/// The text in lines of at most so many columns, broken at spaces where there are some.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace().flat_map(|word| pieces(word, columns)) {
        if !line.is_empty() && width(&line) + 1 + width(&word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A word, in pieces when it is wider than a line.
fn pieces(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut taken = 0;
    for c in word.chars() {
        let columns_of_c = c.width().unwrap_or(0);
        if taken > 0 && taken + columns_of_c > columns {
            pieces.push(String::new());
            taken = 0;
        }
        taken += columns_of_c;
        pieces.last_mut().expect("there is always a piece").push(c);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clipping_counts_columns_not_characters() {
        assert_eq!(clip("openssl", 7), "openssl");
        assert_eq!(clip("openssl", 5), "open…");
        assert_eq!(clip("暗号暗号", 5), "暗号…");
    }

    #[test]
    fn words_wider_than_a_line_are_cut() {
        assert_eq!(wrap("to aaaaaaaa b", 3), ["to", "aaa", "aaa", "aa", "b"]);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert!(wrap(" ", 3).is_empty());
    }

    proptest! {
        #[test]
        fn wrapped_lines_fit_and_lose_nothing(text in "\\PC{0,60}", columns in 2usize..30) {
            let text = crate::text::clean(&text);
            let lines = wrap(&text, columns);
            prop_assert!(lines.iter().all(|l| width(l) <= columns + 1), "{:?}", lines);
            let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
