//! What people type and what they read: the grammars of flags and of suite files; text, tables, CSV and
//! Markdown. Pure: values and text in, values and text out. Here: text that came from outside, made safe for
//! a terminal; styles; widths of text in columns of a terminal, with clipping and wrapping.

mod documents;
pub mod fixtures;
pub mod flags;
mod table;

use anstyle::{AnsiColor, Style};
pub use documents::{BadPrices, BadSuite, Price, Prices, Suite, from_toml};
pub use flags::{BadLibrary, LibraryText, has_password, is_connection, masked};
pub use table::{
    Align, Cell, Column, Columns, GAP, Held, Table, csv, csv_as_is, csv_of,
    escape as escape_markdown, guarded,
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What a renderer must know of the place where the text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal. Tables fit from 60 on; what has to go is said.
    pub width: usize,
    /// Whether ANSI styles may be used. Everything is legible without.
    pub color: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 100, color: false }
    }
}

impl Options {
    /// The text in lines that end with a line break, the later ones indented.
    pub fn hang(self, text: &str, indent: usize, style: Style) -> String {
        let lines = wrap(text, self.width.saturating_sub(indent).max(NARROWEST));
        let lines: Vec<String> = lines.iter().map(|l| paint(l, style, self.color)).collect();
        lines.join(&format!("\n{}", " ".repeat(indent))) + "\n"
    }

    /// The text behind `lead`, which takes `indent` columns, the later lines below its beginning.
    /// Nothing where there is no text.
    pub fn behind(self, lead: &str, indent: usize, text: &str, style: Style) -> String {
        let hung = self.hang(text, indent, style);
        if hung == "\n" { String::new() } else { lead.to_owned() + &hung }
    }
}

/// Fewest columns in which text is readable.
const NARROWEST: usize = 20;

/// Most characters of a message: it quotes what was typed or read, which has no end of its own.
const MOST_CHARS: usize = 1000;

/// Whether it moves a cursor, changes a colour or turns the reading direction: control characters;
/// marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm (UAX #9); the
/// separators that some programs take for line breaks.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// The text on one line without anything that steers a terminal: names and reasons come from
/// libraries and from files of strangers.
pub fn clean(text: &str) -> String {
    let visible = text.chars().filter_map(|c| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
        c => (!steers(c)).then_some(c),
    });
    visible.collect::<String>().trim().to_owned()
}

/// A message as one line with an end, with a mark for whatever would steer a terminal.
pub fn one_line(message: &str) -> String {
    let shown = |c: char| if steers(c) { char::REPLACEMENT_CHARACTER } else { c };
    let mut chars = message.chars().map(shown);
    let line: String = chars.by_ref().take(MOST_CHARS).collect();
    if chars.next().is_some() { line + "…" } else { line }
}

/// The text with a capital at its beginning.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// `12,000`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

/// One word of a POSIX shell, whatever is in it.
pub fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The styles that our own tables use, as they are written (ECMA-48, SGR).
const STYLES: [&str; 6] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// No style.
pub const PLAIN: Style = Style::new();
/// Titles and the heads of columns.
pub const HEADING: Style = Style::new().bold();
/// What must not be overlooked.
pub const ALARM: Style = AnsiColor::Red.on_default().bold();
/// What a reader must know.
pub const CAUTION: Style = AnsiColor::Yellow.on_default();
/// The best alone.
pub const BEST: Style = AnsiColor::Green.on_default().bold();
/// Among the best.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What matters less.
pub const ASIDE: Style = Style::new().dimmed();

/// The text in a style, when colours are wanted.
pub fn paint(text: &str, style: Style, color: bool) -> String {
    if color && style != PLAIN && !text.is_empty() {
        format!("{style}{text}{style:#}")
    } else {
        text.to_owned()
    }
}

/// A whole output as it may go to a terminal: line breaks and our own styles, and in the place of
/// anything else that steers one a mark that stands for it. Data formats (CSV, JSON) keep every
/// character in a pipe or a file; a terminal would obey some of them.
pub fn for_terminal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = STYLES.iter().find(|style| rest.starts_with(**style));
        let taken = match style {
            Some(style) => {
                out.push_str(style);
                style.len()
            }
            None => {
                out.push(if c != '\n' && steers(c) { char::REPLACEMENT_CHARACTER } else { c });
                c.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

/// Columns that the text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to so many columns, with an ellipsis where something is missing.
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
    fn what_steers_a_terminal_is_taken_out() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}\n\tc\u{9b}2J\u{202e}d "), "a[31mb  c2Jd");
    }

    #[test]
    fn a_message_is_one_line_with_an_end() {
        assert_eq!(
            one_line("a\nb\u{1b}[2Jc\u{202e}d\u{9b}e"),
            "a\u{fffd}b\u{fffd}[2Jc\u{fffd}d\u{fffd}e"
        );
        let long = one_line(&"x".repeat(1 << 20));
        assert_eq!(long.chars().count(), MOST_CHARS + 1);
    }

    #[test]
    fn a_terminal_gets_our_own_styles_and_nothing_else_that_steers_it() {
        for style in [HEADING, ALARM, CAUTION, BEST, GOOD, ASIDE] {
            let own = format!("{}\nÅ 暗号\n", paint("head", style, true));
            assert_eq!(for_terminal(&own), own);
        }
        assert_eq!(for_terminal("\u{1b}[8mhidden"), "\u{fffd}[8mhidden");
        assert_eq!(for_terminal("a\rb\tc\u{9b}2J"), "a\u{fffd}b\u{fffd}c\u{fffd}2J");
        assert_eq!(for_terminal("\u{1b}]0;title\u{7}"), "\u{fffd}]0;title\u{fffd}");
    }

    #[test]
    fn later_lines_stand_below_the_first() {
        let options = Options { width: 25, color: false };
        assert_eq!(
            options.hang("one two three four five six", 2, PLAIN),
            "one two three four five\n  six\n"
        );
        let text = options.behind("a  ", 3, "one two three four five", PLAIN);
        assert_eq!(text, "a  one two three four\n   five\n");
        assert_eq!(options.behind("a  ", 3, " ", PLAIN), "");
    }

    proptest! {
        #[test]
        fn nothing_that_steers_gets_through(text in any::<String>()) {
            let mut shown = for_terminal(&text);
            STYLES.iter().for_each(|style| shown = shown.replace(style, ""));
            prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert!(!one_line(&text).contains(char::is_control));
        }
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
            let text = super::clean(&text);
            let lines = wrap(&text, columns);
            prop_assert!(lines.iter().all(|l| width(l) <= columns + 1), "{:?}", lines);
            let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
