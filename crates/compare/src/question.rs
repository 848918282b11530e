//! What can be asked of a record: a question as a value.

mod grammar;
mod vocabulary;

pub use grammar::parse;
pub use vocabulary::{EXAMPLES, WORDS, Word, words};

use model::{Algorithm, Direction, Footprint, Integrity, Kind, Model, NameGlob, Tier};
use serde::Serialize;

/// Which algorithms take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Tampering is noticed: authenticated encryption, and composites of a cipher and a MAC.
    Authenticated,
    /// Encryption that does not notice tampering.
    Unauthenticated,
    /// A cipher joined with a checksum or a MAC.
    Composite,
    /// Digests and checksums.
    Digest,
    /// Message authentication codes.
    Mac,
}

impl Class {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Authenticated => "authenticated",
            Self::Unauthenticated => "unauthenticated",
            Self::Composite => "composite",
            Self::Digest => "digest",
            Self::Mac => "mac",
        }
    }

    fn has(self, a: &Algorithm) -> bool {
        match self {
            Self::Authenticated => a.encrypts() && a.integrity() == Integrity::Tamper,
            Self::Unauthenticated => a.encrypts() && a.integrity() != Integrity::Tamper,
            Self::Composite => a.composite.is_some(),
            Self::Digest => a.kind == Kind::Digest,
            Self::Mac => a.kind == Kind::Mac,
        }
    }
}

/// What is least in the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Time of one operation.
    #[default]
    Time,
    /// Instructions of one operation.
    Instructions,
}

/// Of what there is a best one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Library.
    Library,
    /// Algorithm.
    Algorithm,
    /// Family of algorithms.
    Family,
    /// Size.
    Size,
    /// Tier.
    Tier,
}

impl Per {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Algorithm => "algorithm",
            Self::Family => "family",
            Self::Size => "size",
            Self::Tier => "tier",
        }
    }
}

/// A question: what is not said is left open, and decided by what the record has.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which algorithms take part; all that encrypt, where it is not said.
    pub class: Option<Class>,
    /// What is least in the best.
    pub by: Option<By>,
    /// Direction.
    pub direction: Option<Direction>,
    /// Bytes of plaintext.
    pub size: Option<usize>,
    /// Tier.
    pub tier: Option<Tier>,
    /// Of what there is a best one each.
    pub per: Option<Per>,
    /// Bits of the key: of an XTS cipher's one key of two, of a composite's cipher's.
    pub key_bits: Option<usize>,
    /// What one operation is.
    pub model: Option<Model>,
    /// Threads at once.
    pub threads: Option<u32>,
    /// Working set.
    pub footprint: Option<Footprint>,
    /// Whether the output is written over the input.
    pub in_place: Option<bool>,
    /// Algorithms by glob; any of them.
    pub algorithms: Vec<NameGlob>,
    /// Libraries by glob over name or `name@version`; any of them.
    pub libraries: Vec<NameGlob>,
}

impl Question {
    /// Puts two together.
    ///
    /// # Errors
    /// What both say differently.
    pub fn and(self, other: Self) -> Result<Self, String> {
        fn one<T: PartialEq>(what: &str, a: Option<T>, b: Option<T>) -> Result<Option<T>, String> {
            match (a, b) {
                (Some(a), Some(b)) if a != b => {
                    Err(format!("the question says two things about the {what}"))
                }
                (a, b) => Ok(a.or(b)),
            }
        }
        let joined = |mut a: Vec<NameGlob>, b: Vec<NameGlob>| {
            a.extend(b);
            a
        };
        Ok(Self {
            class: one("kind of algorithm", self.class, other.class)?,
            by: one("measure", self.by, other.by)?,
            direction: one("direction", self.direction, other.direction)?,
            size: one("size", self.size, other.size)?,
            tier: one("tier", self.tier, other.tier)?,
            per: one("grouping", self.per, other.per)?,
            key_bits: one("key length", self.key_bits, other.key_bits)?,
            model: one("model", self.model, other.model)?,
            threads: one("threads", self.threads, other.threads)?,
            footprint: one("footprint", self.footprint, other.footprint)?,
            in_place: one("place of the output", self.in_place, other.in_place)?,
            algorithms: joined(self.algorithms, other.algorithms),
            libraries: joined(self.libraries, other.libraries),
        })
    }

    /// Whether an algorithm takes part. One that this program does not know does so only where its
    /// name was asked for.
    #[must_use]
    pub fn takes(&self, algorithm: &str) -> bool {
        let named = self.algorithms.iter().any(|g| g.matches(algorithm));
        if !self.algorithms.is_empty() && !named {
            return false;
        }
        let Ok(known) = Algorithm::find(algorithm) else { return named };
        let of_class = match self.class {
            Some(class) => class.has(known),
            None => named || known.encrypts(),
        };
        of_class && self.key_bits.is_none_or(|bits| key_bits(known) == Some(bits))
    }
}

/// The key length that the name says: of two keys one, of a composite the cipher's.
fn key_bits(a: &Algorithm) -> Option<usize> {
    let word = a.name.split(['-', '+']).find_map(|word| {
        let digits = word.trim_end_matches('l').split('x').next().unwrap_or(word);
        digits.parse::<usize>().ok().filter(|bits| (64..=512).contains(bits))
    });
    word.or_else(|| (a.key_len > 0 && a.composite.is_none()).then_some(a.key_len * 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Question {
        parse(text).unwrap()
    }

    #[test]
    fn classes_are_told_by_what_they_protect_against() {
        let q = asked("fastest authenticated");
        assert!(q.takes("aes-128-gcm") && q.takes("aegis-256x4"));
        assert!(q.takes("aes-256-cbc+hmac-sha256"), "a MAC notices tampering");
        assert!(!q.takes("aes-256-ctr+xxh3") && !q.takes("aes-128-ctr") && !q.takes("sha256"));
        let q = asked("fastest composite");
        assert!(q.takes("aes-256-ctr+xxh3") && !q.takes("aes-128-gcm"));
        let q = asked("fastest");
        assert!(q.takes("aes-128-ctr") && q.takes("aes-128-gcm") && !q.takes("sha256"));
        assert!(!q.takes("memcpy") && !q.takes("never-heard-of"));
        assert!(asked("fastest digest").takes("sha256"));
        assert!(asked("fastest algorithm never*").takes("never-heard-of"));
    }

    #[test]
    fn key_lengths_are_those_of_the_name() {
        let q = asked("fastest with 256-bit keys");
        for name in
            ["aes-256-gcm", "aes-256-xts", "chacha20-poly1305", "aegis-256x4", "aes-256-ctr+xxh3"]
        {
            assert!(q.takes(name), "{name}");
        }
        for name in ["aes-128-gcm", "aegis-128l", "aegis-128x2", "aes-128-xts"] {
            assert!(!q.takes(name), "{name}");
            assert!(asked("128-bit fastest").takes(name), "{name}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_no_question() {
        let both = asked("fastest at 64 B").and(asked("best at 8 KiB"));
        assert_eq!(both.unwrap_err(), "the question says two things about the size");
        assert_eq!(asked("at 64 B").and(asked("decrypt")).unwrap().size, Some(64));
        assert!(parse("encrypt decrypt").unwrap_err().contains("two things about the direction"));
    }
}
