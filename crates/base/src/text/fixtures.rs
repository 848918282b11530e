//! What tests ask of a text: for tests, here and in other crates.

/// Demands that a text has each of these words.
///
/// # Panics
/// Where it lacks one.
#[track_caller]
pub fn says<'a>(text: impl AsRef<str>, words: impl AsRef<[&'a str]>) {
    let text = text.as_ref();
    for word in words.as_ref() {
        assert!(text.contains(word), "no '{word}' in: {text}");
    }
}

/// A text without its line breaks and columns: one space wherever there is white space.
pub fn flat(text: impl AsRef<str>) -> String {
    text.as_ref().split_whitespace().collect::<Vec<_>>().join(" ")
}
