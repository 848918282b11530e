//! Text that holds what strangers wrote, for a terminal.

/// Most characters of a message: it quotes what was typed or read, which has no end of its own.
const MOST_CHARS: usize = 1000;

/// A message as one line with an end, without what moves a cursor, changes a colour or turns the
/// reading direction.
#[must_use]
pub fn one_line(message: &str) -> String {
    let shown = |c: char| if c.is_control() || turns(c) { char::REPLACEMENT_CHARACTER } else { c };
    let mut chars = message.chars().map(shown);
    let line: String = chars.by_ref().take(MOST_CHARS).collect();
    if chars.next().is_some() { line + "…" } else { line }
}

/// Marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm (UAX #9), and
/// the separators that some programs take for line breaks.
fn turns(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// The styles that our own tables use (ECMA-48, SGR): none, bold, faint, red, green, yellow.
const STYLES: [&str; 6] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// A whole output as it may go to a terminal: line breaks and our own styles, and in the place of
/// anything else that steers one a mark that stands for it. Data formats (CSV, JSON) keep every
/// character in a pipe or a file; a terminal would obey some of them.
#[must_use]
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
                let steers = c != '\n' && (c.is_control() || turns(c));
                out.push(if steers { char::REPLACEMENT_CHARACTER } else { c });
                c.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let own = "\u{1b}[1mhead\u{1b}[0m\nÅ 暗号\n";
        assert_eq!(for_terminal(own), own);
        assert_eq!(for_terminal("\u{1b}[8mhidden"), "\u{fffd}[8mhidden");
        assert_eq!(for_terminal("a\rb\tc\u{9b}2J"), "a\u{fffd}b\u{fffd}c\u{fffd}2J");
        assert_eq!(for_terminal("\u{1b}]0;title\u{7}"), "\u{fffd}]0;title\u{fffd}");
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
}
