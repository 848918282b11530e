//! A question in words, read.

use super::Question;
use super::vocabulary::{FILLERS, WORDS};
use model::{NameGlob, nearest};

/// Reads a question. Words may stand in any order; those that only hold a sentence together are
/// passed over.
///
/// # Errors
/// The word that is not understood, with the nearest one that is, and what helps.
pub fn parse(text: &str) -> Result<Question, String> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || "?,;".contains(c))
        .filter(|w| !w.is_empty())
        .collect();
    let mut question = Question::default();
    let mut rest = &words[..];
    while !rest.is_empty() {
        let (found, taken) = next(rest)?;
        question = question.and(found).map_err(|why| format!("'{text}': {why}"))?;
        rest = &rest[taken..];
    }
    Ok(question)
}

/// What the next words say, and how many they are.
fn next(words: &[&str]) -> Result<(Question, usize), String> {
    if let Some(found) = phrase(words) {
        return Ok(found);
    }
    if let [what @ ("library" | "algorithm"), glob, ..] = words {
        let glob = NameGlob::parse(glob).map_err(|e| e.to_string())?;
        let mut q = Question::default();
        if *what == "library" {
            q.libraries.push(glob)
        } else {
            q.algorithms.push(glob)
        }
        return Ok((q, 2));
    }
    if let Some(found) = number(words)? {
        return Ok(found);
    }
    if FILLERS.contains(&words[0]) {
        return Ok((Question::default(), 1));
    }
    Err(unknown(words[0]))
}

/// The longest phrase that the words begin with.
fn phrase(words: &[&str]) -> Option<(Question, usize)> {
    let phrases = WORDS.iter().flat_map(|w| w.phrases.iter().map(move |p| (*p, w)));
    let begins = |p: &str| {
        let parts: Vec<&str> = p.split(' ').collect();
        words.starts_with(&parts).then_some(parts.len())
    };
    let (taken, word) =
        phrases.filter_map(|(p, w)| Some((begins(p)?, w))).max_by_key(|(taken, _)| *taken)?;
    let mut question = Question::default();
    (word.set)(&mut question);
    Some((question, taken))
}

/// Bytes in each unit.
const UNITS: [(&str, usize); 11] = [
    ("kib", 1 << 10),
    ("kb", 1 << 10),
    ("k", 1 << 10),
    ("mib", 1 << 20),
    ("mb", 1 << 20),
    ("m", 1 << 20),
    ("bytes", 1),
    ("byte", 1),
    ("b", 1),
    ("", 1),
    ("-byte", 1),
];

/// A number with its unit, in one word or in two: a size, a key length, a number of threads.
fn number(words: &[&str]) -> Result<Option<(Question, usize)>, String> {
    let word = words[0];
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    if digits.is_empty() {
        return Ok(None);
    }
    let apart = unit.is_empty();
    let second = if apart { words.get(1).copied().unwrap_or_default() } else { unit };
    let number: usize = digits.parse().map_err(|_| format!("'{word}' is too large a number"))?;
    let mut q = Question::default();
    match second.trim_start_matches('-') {
        "bit" | "bits" => q.key_bits = Some(number),
        "thread" | "threads" => q.threads = u32::try_from(number).ok(),
        other => {
            let known = UNITS.iter().find(|(name, _)| *name == other);
            match (known, apart) {
                (Some((name, bytes)), _) => {
                    q.size = Some(size(word, number, *bytes)?);
                    return Ok(Some((q, 1 + usize::from(apart && !name.is_empty()))));
                }
                // The next word is about something else.
                (None, true) => {
                    q.size = Some(size(word, number, 1)?);
                    return Ok(Some((q, 1)));
                }
                (None, false) => return Err(unknown(word)),
            }
        }
    }
    Ok(Some((q, 1 + usize::from(apart))))
}

fn size(word: &str, number: usize, unit: usize) -> Result<usize, String> {
    let bytes = number.checked_mul(unit).filter(|b| (1..=model::MAX_SIZE).contains(b));
    bytes.ok_or_else(|| format!("'{word}': sizes are from 1 byte to {} MiB", model::MAX_SIZE >> 20))
}

fn unknown(word: &str) -> String {
    let near = nearest(word, super::words());
    let hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
    let first: Vec<&str> = WORDS.iter().map(|w| w.phrases[0]).collect();
    format!(
        "'{word}' is no word that questions are made of{hint}; they are: {}, a size as 8 KiB, 256-bit, \
         N threads, library GLOB, algorithm GLOB; `ciphermark rank --list` explains them",
        first.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::{By, Class, EXAMPLES, Per};
    use super::*;
    use model::{Direction, Footprint, Model, Tier};
    use proptest::prelude::*;

    #[test]
    fn every_example_is_understood() {
        for text in EXAMPLES {
            parse(text).unwrap();
        }
    }

    #[test]
    fn questions_are_read_in_any_order_with_or_without_small_words() {
        for text in [
            "fastest authenticated at 8 KiB",
            "8K authenticated fastest",
            "What is the \
            fastest authenticated cipher at 8192 bytes?",
        ] {
            let q = parse(text).unwrap();
            let read = (q.by, q.class, q.size);
            assert_eq!(read, (Some(By::Time), Some(Class::Authenticated), Some(8192)), "{text}");
        }
    }

    #[test]
    fn each_part_is_read() {
        let q = parse("fastest on decrypt at 64 B without AES instructions per library").unwrap();
        assert_eq!((q.direction, q.size), (Some(Direction::Decrypt), Some(64)));
        assert_eq!((q.tier, q.per), (Some(Tier::Noaes), Some(Per::Library)));
        let q = parse("fewest instructions with new keys, 256-bit, 2 threads from memory in place");
        let q = q.unwrap();
        assert_eq!((q.by, q.model), (Some(By::Instructions), Some(Model::Rekey)));
        assert_eq!((q.key_bits, q.threads), (Some(256), Some(2)));
        assert_eq!((q.footprint, q.in_place), (Some(Footprint::Memory), Some(true)));
        let q = parse("best library openssl@3* algorithm aes-*-gcm without avx-512").unwrap();
        assert_eq!((q.libraries[0].text(), q.algorithms[0].text()), ("openssl@3*", "aes-*-gcm"));
        assert_eq!(q.tier, Some(Tier::Vaes256), "not the longer phrase's beginning");
        assert_eq!(parse("not in place").unwrap().in_place, Some(false));
        assert_eq!(parse("128 bit").unwrap().key_bits, Some(128));
        assert_eq!(parse("16 decrypt").unwrap().size, Some(16), "a number alone is a size");
    }

    #[test]
    fn what_is_not_understood_is_named_with_what_is() {
        let why = parse("fastest athenticated at 8 KiB").unwrap_err();
        assert!(why.starts_with("'athenticated' is no word that questions are made of"), "{why}");
        assert!(
            why.contains("did you mean 'authenticated'?") && why.contains("rank --list"),
            "{why}"
        );
        for bad in
            ["8 parsecs", "8parsecs", "0 B", "99999999999999999999", "9999999 MiB", "per moon"]
        {
            let why = parse(bad).unwrap_err();
            assert!(!why.contains('\n'), "{bad}: {why}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_can_be_typed_is_taken_for_a_panic(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
