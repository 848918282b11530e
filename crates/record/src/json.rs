//! JSON: read with the place of what is wrong, written for people and programs.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Write as _;

/// Most characters of a reason: it quotes the file, which may hold anything.
const MOST_CHARS: usize = 300;

/// Reads JSON of any shape: a part of a record, a worker's message. All JSON that comes as bytes takes this way: another
/// would have every reader in the program once more.
pub fn value_from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(json)
        .map_err(|e| format!("it is not text (byte {} is not UTF-8)", e.valid_up_to()))?;
    parsed(text)
}

/// What the text says, or what is wrong with it and where.
pub(crate) fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|e| {
        let path = if e.is_eof() { String::new() } else { path_of(&e, text) };
        explain(&path, &e)
    })
}

/// Editors on some systems put a mark at the beginning of what they save.
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// How deep a path goes at the most.
const MOST_OPEN: usize = 128;

/// What is wrong and where, on one line: serde quotes the input, which may hold anything.
pub(crate) fn explain(path: &str, error: &serde_json::Error) -> String {
    let place = format!("line {} column {}", error.line(), error.column());
    if error.is_eof() {
        return format!("it ends too early, at {place}");
    }
    let words = error.to_string();
    let words = words.strip_suffix(&format!(" at {place}")).unwrap_or(&words);
    match path {
        "" | "." => format!("{} at {place}", printable(words)),
        _ => format!("{} at {place}", printable(&format!("{path}: {words}"))),
    }
}

/// Any value as JSON for people and programs, ending with a line break.
pub fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain data always serialises") + "\n"
}

/// On one line, and not much of it.
pub fn printable(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let shown: String = chars.by_ref().take(MOST_CHARS).collect();
    if chars.next().is_some() { shown + "…" } else { shown }
}

/// The names and positions that lead to the value before an error's place: `libraries[0].build`. The text is gone through
/// once more for it, for following every value while it is read would have all readers in the program twice.
fn path_of(error: &serde_json::Error, text: &str) -> String {
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let end = before + error.column();
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'_>> = Vec::new();
    // What nothing of ours has: unknown members may be as deep as they like.
    let mut deeper = 0_usize;
    let mut at = 0;
    while at < end.min(bytes.len()) {
        let begun = at;
        at += 1;
        match bytes[begun] {
            b'{' | b'[' if open.len() == MOST_OPEN => deeper += 1,
            b'}' | b']' if deeper > 0 => deeper -= 1,
            b',' if deeper > 0 => {}
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::Array(0)),
            b'}' | b']' => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(Open::Object(name)) => *name = None,
                Some(Open::Array(position)) => *position += 1,
                None => {}
            },
            b'"' => {
                at = end_of_string(bytes, at);
                if let Some(Open::Object(name @ None)) = open.last_mut()
                    && deeper == 0
                {
                    *name = text.get(begun + 1..at.saturating_sub(1));
                }
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for one in open {
        let dot = if path.is_empty() { "" } else { "." };
        let _ = match one {
            Open::Object(Some(name)) => write!(path, "{dot}{name}"),
            Open::Object(None) => Ok(()),
            Open::Array(position) => write!(path, "[{position}]"),
        };
    }
    path
}

/// What of JSON is not ended yet: an object at the member of this name, a list at this position.
enum Open<'a> {
    Object(Option<&'a str>),
    Array(usize),
}

/// Behind the quotation mark that ends a string which begins at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct One {
        #[allow(dead_code, reason = "read, not used")]
        sizes: Vec<u8>,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Two {
        #[allow(dead_code, reason = "read, not used")]
        known: String,
    }

    fn wrong(text: &str) -> String {
        parsed::<BTreeMap<String, Vec<One>>>(text).unwrap_err()
    }

    #[test]
    fn what_is_wrong_is_told_with_the_names_that_lead_to_it() {
        for (text, said) in [
            (
                r#"{"a": [{"sizes": []}, {"sizes": [1, 300]}]}"#,
                "a[1].sizes[1]: invalid value: integer `300`",
            ),
            (r#"{"a,\"": [{"sizes": "x"}]}"#, r#"a,\"[0].sizes: invalid type: string "x""#),
            ("{\"b\": [],\n\"a\": [{}]}", "a[0]: missing field `sizes` at line 2 column 8"),
            (r#"{"a": [{"size": 1}]}"#, "a[0].size: unknown field `size`"),
            (r#"{"a": 1}"#, "a: invalid type: integer `1`"),
            ("[]", "invalid type: sequence"),
            (r#"{"a": []} 1"#, "trailing characters"),
        ] {
            let why = wrong(text);
            assert!(why.starts_with(said), "{text}: {why}");
        }
        assert!(wrong(r#"{"a": ["#).starts_with("it ends too early"));
        let deep = |n| "[".repeat(n) + &"]".repeat(n);
        let why = wrong(&format!("{{\"a\": [{{\"sizes\": {}}}]}}", deep(1000)));
        assert!(why.starts_with("a[0].sizes[0]: invalid type: sequence"), "{why}");
        let skipped = format!("{{\"other\": {}, \"known\": 1}}", deep(1000));
        let why = parsed::<Two>(&skipped).unwrap_err();
        assert!(why.starts_with("known: invalid type: integer"), "{why}");
    }
}
