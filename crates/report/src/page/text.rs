//! Text from records, which may hold anything.

use serde_json::Value;

/// What a reader cannot see, or what rearranges the text around it, made visible. Escaping for HTML
/// is not done here: the frame's template and the page's scripts do it.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_deceiving(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Control characters, and the marks of Unicode's bidirectional algorithm (UAX #9 §2), which
/// change the order of what follows.
fn is_deceiving(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Every text of a value cleaned, and every number with the digits that a page needs.
pub(crate) fn tidy(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(all) => all.into_iter().map(tidy).collect(),
        Value::Object(fields) => fields.into_iter().map(|(k, v)| (clean(&k), tidy(v))).collect(),
        Value::Number(n) if n.is_f64() => n.as_f64().map_or(Value::Null, |n| rounded(n).into()),
        other => other,
    }
}

/// Significant digits of numbers: intervals are some 0.1 % wide at best.
const DIGITS: usize = 6;

/// The nearest number of six significant digits.
pub(crate) fn rounded(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    format!("{value:.*e}", DIGITS - 1).parse().expect("a number that was just written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_cannot_rearrange_what_stands_around_it() {
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{7}\nd"), "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}d");
        assert_eq!(clean("Å <b> & \"q\" العربية"), "Å <b> & \"q\" العربية");
    }

    #[test]
    fn every_text_and_number_of_a_value_is_tidied() {
        let value = json!({"a\u{202e}": ["\u{0}", {"b": 1.234_567_89, "c": 12_345_678}]});
        assert_eq!(
            tidy(value),
            json!({"a\u{fffd}": ["\u{fffd}", {"b": 1.23457, "c": 12_345_678}]})
        );
    }
}
