//! Text that came from outside, made safe for a terminal; widths; wrapping; styles.

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The text on one line without anything that moves a cursor, changes a colour or turns the
/// reading direction: names and reasons come from libraries and from files of strangers.
#[must_use]
pub fn clean(text: &str) -> String {
    let visible = text.chars().filter_map(|c| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() || turns(c) => None,
        c => Some(c),
    });
    visible.collect::<String>().trim().to_owned()
}

/// Marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm (UAX #9).
fn turns(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns that the text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to so many columns, with an ellipsis where something is missing.
pub(crate) fn clip(text: &str, columns: usize) -> String {
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

/// Wraps with the later lines indented.
pub(crate) fn wrap_hanging(text: &str, columns: usize, indent: usize) -> String {
    let lines = wrap(text, columns.saturating_sub(indent).max(20));
    lines.join(&format!("\n{}", " ".repeat(indent))) + "\n"
}

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const HEADING: Style = Style::new().bold();
pub(crate) const ALARM: Style = AnsiColor::Red.on_default().bold();
pub(crate) const CAUTION: Style = AnsiColor::Yellow.on_default();
pub(crate) const BEST: Style = AnsiColor::Green.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const ASIDE: Style = Style::new().dimmed();

/// The text in a style, when colours are wanted.
pub(crate) fn paint(text: &str, style: Style, color: bool) -> String {
    if color && style != PLAIN && !text.is_empty() {
        format!("{style}{text}{style:#}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_a_terminal_is_taken_out() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}\n\tc\u{9b}2J\u{202e}d "), "a[31mb  c2Jd");
    }

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
            let text = clean(&text);
            let lines = wrap(&text, columns);
            prop_assert!(lines.iter().all(|l| width(l) <= columns + 1), "{:?}", lines);
            let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
