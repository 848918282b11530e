//! Text into words.

use super::BadExpression;
use crate::value::Unit;

/// A word of the language.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Name, keyword or glob.
    Word(String),
    /// Number with its unit.
    Number(f64, Unit),
    /// `( ) , + - * / < <= > >= =`
    Sign(&'static str),
}

/// Longest first, so that `<=` is not read as `<`.
const SIGNS: [&str; 12] = ["<=", ">=", "(", ")", ",", "+", "-", "*", "/", "<", ">", "="];

/// Units as they are written, with what one is in the unit that is computed in.
const UNITS: [(&str, Unit, f64); 5] = [
    ("MB/s", Unit::MbPerSecond, 1.0),
    ("GB/s", Unit::MbPerSecond, 1000.0),
    ("c/B", Unit::CyclesPerByte, 1.0),
    ("ins/B", Unit::InstructionsPerByte, 1.0),
    ("%", Unit::One, 0.01),
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, BadExpression> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = if first.is_ascii_alphabetic() || first == '{' {
            word(rest)
        } else if first.is_ascii_digit() {
            number(rest)?
        } else {
            sign(rest)?
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

/// A comma ends a word, unless it stands in braces: `aes-{128,256}-gcm`.
fn word(rest: &str) -> (Token, &str) {
    let mut depth = 0usize;
    let end = rest.find(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let part = c.is_ascii_alphanumeric() || "-_.@+*{}".contains(c) || (c == ',' && depth > 0);
        !part
    });
    let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
    (Token::Word(word.to_owned()), after)
}

fn number(rest: &str) -> Result<(Token, &str), BadExpression> {
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    let number: f64 =
        digits.parse().map_err(|_| BadExpression(format!("'{digits}' is no number")))?;
    let unit = UNITS.iter().find(|(word, ..)| after.trim_start().starts_with(word));
    Ok(match unit {
        Some((word, unit, factor)) => {
            let after = &after.trim_start()[word.len()..];
            (Token::Number(number * factor, *unit), after)
        }
        None => (Token::Number(number, Unit::One), after),
    })
}

fn sign(rest: &str) -> Result<(Token, &str), BadExpression> {
    let found = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
    let sign = found.ok_or_else(|| {
        let start: String = rest.chars().take(12).filter(|c| !c.is_control()).collect();
        BadExpression(format!("'{start}' is nothing that can stand here"))
    })?;
    Ok((Token::Sign(sign), &rest[sign.len()..]))
}
