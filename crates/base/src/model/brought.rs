//! Algorithms that are not in the table: a library's adapter brings them, and says what they are. Each is known for
//! the rest of the process in which the library, or a record of it, was read. What is said comes from strangers, so
//! it is held to the table's own form, and there is an end to it. Libraries of one run may bring the same name: their
//! outputs are compared. Of records nothing can be compared, so there a name has its definition behind it
//! ([`Brought::name_in_records`]).

use super::algorithm::{self, Algorithm, Kind, Mode, Primitive, SizeRule};

/// Most algorithms that a library brings.
pub const MOST_OF_LIBRARY: usize = 32;
/// Most vectors that one of them comes with.
pub const MOST_VECTORS: usize = 256;
/// Most that a process gets to know, of all libraries and records: they are kept for good.
const MOST: usize = 256;
/// Most characters of a name and of a family's.
const MOST_CHARS: usize = 40;
/// Most bytes of a key: what is longer is none.
const MOST_KEY: usize = 128;
/// Most bytes of a nonce or tag, as long as the longest digest of the table.
const MOST_LEN: usize = 64;
/// Most bytes of a block, or of the shortest message.
const MOST_UNIT: usize = 256;

/// An algorithm as an adapter brings it. Lengths are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "records", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct Brought {
    /// Its name, in the form of those in the table.
    pub name: String,
    /// What lists show it below.
    pub family: String,
    /// `cipher`, `aead`, `digest` or `mac`.
    pub kind: Kind,
    /// Of the key.
    pub key_bytes: usize,
    /// Of nonce, IV or tweak.
    pub nonce_bytes: usize,
    /// Of the tag or digest.
    pub tag_bytes: usize,
    /// Messages are whole multiples of this; 1: any number of bytes.
    pub size_multiple: usize,
    /// The shortest message.
    pub size_least: usize,
    /// How many vectors of its own it was checked against.
    pub vectors: usize,
    /// SHA-256 of kind, lengths, vectors and some answers; absent in records of earlier versions.
    #[cfg_attr(feature = "records", serde(default, skip_serializing_if = "Option::is_none"))]
    pub sha256: Option<String>,
}

/// Stands between a name and its definition.
pub(super) const DEFINED: char = '~';
/// Digits of the definition.
const DIGITS: usize = 10;

/// A brought algorithm's name without its definition; none where there is no definition in it.
pub(super) fn plain_name(name: &str) -> Option<&str> {
    let (plain, digits) = name.split_once(DEFINED)?;
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    (digits.len() == DIGITS && digits.chars().all(is_hex)).then_some(plain)
}

/// Why an algorithm cannot be brought; reads after "it brings ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{name}': {why}")]
pub struct BadBrought {
    name: String,
    why: String,
}

impl Brought {
    /// Makes the algorithm known, or finds it among those that are known because it was brought before.
    pub fn bring(&self) -> Result<&'static Algorithm, BadBrought> {
        self.known(&self.name).map_err(|why| self.bad(why))
    }

    /// The same as rows of records name it.
    pub fn bring_from_record(&self, build: &str) -> Result<&'static Algorithm, BadBrought> {
        self.known(&self.name_in_records(build)).map_err(|why| self.bad(why))
    }

    /// `house-aead~1f3a9c2b0d`: two that are defined otherwise have two names. Where a record does not say the
    /// definition, the library's build stands for it.
    pub fn name_in_records(&self, build: &str) -> String {
        let hex = |text: &str| -> String {
            let digits = text.chars().filter(char::is_ascii_hexdigit).take(DIGITS);
            format!("{:0<DIGITS$}", digits.collect::<String>().to_ascii_lowercase())
        };
        let of_build = || hex(build.split_once(':').map_or(build, |(_, digits)| digits));
        let definition = self.sha256.as_deref().map_or_else(of_build, hex);
        format!("{}{DEFINED}{definition}", self.name)
    }

    fn bad(&self, why: String) -> BadBrought {
        // What is no name may be anything.
        let shown = self.name.chars().map(|c| if c.is_control() { '?' } else { c });
        BadBrought { name: shown.take(MOST_CHARS).collect(), why }
    }

    fn known(&self, name: &str) -> Result<&'static Algorithm, String> {
        self.check()?;
        let (mut known, of_table) = algorithm::known();
        let squeezed = name.replace('-', "");
        if let Some(same) =
            known.iter().find(|a| a.is_brought() && a.name.replace('-', "") == squeezed)
        {
            return if same.name == name && self.is_of(same) {
                Ok(same)
            } else if same.name == name {
                Err("another library or record has brought it with another family, kind or lengths"
                    .to_owned())
            } else {
                Err(format!("'{same}' is here already, which differs in its dashes alone"))
            };
        }
        if known.len() - of_table >= MOST {
            return Err(format!(
                "there are {MOST} already that libraries and records have brought"
            ));
        }
        let algorithm = Algorithm {
            name: String::leak(name.to_owned()),
            kind: self.kind,
            cipher: Primitive::Brought(String::leak(self.family.clone())),
            mode: Mode::None,
            key_len: self.key_bytes,
            nonce_len: self.nonce_bytes,
            tag_len: self.tag_bytes,
            sizes: self.sizes(),
            composite: None,
        };
        *known = Vec::leak([*known, &[algorithm]].concat());
        Ok(&known[known.len() - 1])
    }

    fn sizes(&self) -> SizeRule {
        match (self.size_multiple, self.size_least) {
            (1, 0) => SizeRule::Any,
            (1, least) => SizeRule::AtLeast(least),
            (multiple, _) => SizeRule::MultipleOf(multiple),
        }
    }

    fn is_of(&self, a: &Algorithm) -> bool {
        a.family() == self.family
            && (a.kind, a.sizes) == (self.kind, self.sizes())
            && (a.key_len, a.nonce_len, a.tag_len)
                == (self.key_bytes, self.nonce_bytes, self.tag_bytes)
    }

    /// Whether it has the form of the table's.
    fn check(&self) -> Result<(), String> {
        check_name(&self.name)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || " -.+/()".contains(c);
        let is_text =
            (1..=MOST_CHARS).contains(&self.family.len()) && self.family.trim() == self.family;
        if !is_text || !self.family.chars().all(plain) {
            return Err(format!("its family is not 1 to {MOST_CHARS} plain characters"));
        }
        let between = |what: &str, len: usize, least: usize, most: usize| match len {
            _ if (least..=most).contains(&len) => Ok(()),
            _ if least == most => Err(format!("its {what} has {len} bytes, not {most}")),
            _ => Err(format!("its {what} has {len} bytes, not {least} to {most}")),
        };
        // A tag that is shorter is met by chance, and a forgery with it.
        let (key, nonce, tag) = match self.kind {
            Kind::Cipher => ((1, MOST_KEY), (0, MOST_LEN), (0, 0)),
            Kind::Aead => ((1, MOST_KEY), (0, MOST_LEN), (8, MOST_LEN)),
            Kind::Digest => ((0, 0), (0, 0), (4, MOST_LEN)),
            Kind::Mac => ((1, MOST_KEY), (0, MOST_LEN), (4, MOST_LEN)),
            _ => return Err("it is no cipher, AEAD, digest or MAC".to_owned()),
        };
        between("key", self.key_bytes, key.0, key.1)?;
        between("nonce", self.nonce_bytes, nonce.0, nonce.1)?;
        between("tag or digest", self.tag_bytes, tag.0, tag.1)?;
        between("multiple of sizes", self.size_multiple, 1, MOST_UNIT)?;
        between("shortest message", self.size_least, 0, MOST_UNIT)?;
        let any = self.sizes() == SizeRule::Any;
        if !any && matches!(self.kind, Kind::Digest | Kind::Mac) {
            return Err("a digest or MAC takes messages of any size".to_owned());
        }
        if self.size_multiple > 1 && self.size_least > 0 {
            return Err("its sizes are whole multiples or have a least, not both".to_owned());
        }
        if !(1..=MOST_VECTORS).contains(&self.vectors) {
            return Err(format!("it comes with {} vectors, not 1 to {MOST_VECTORS}", self.vectors));
        }
        Ok(())
    }
}

/// Lower case with dashes, and nobody else's.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    if name.len() > MOST_CHARS
        || !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.split('-').all(is_plain)
    {
        return Err(format!(
            "a name is at most {MOST_CHARS} lower-case letters and digits, with dashes between, a letter first"
        ));
    }
    match Algorithm::meant_by(name).filter(|known| !known.is_brought()) {
        Some(known) if known.name == name => {
            Err("ciphermark knows it: an adapter offers it in `open`".to_owned())
        }
        Some(known) => Err(format!("that is another name of '{known}', which ciphermark knows")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> Brought {
        Brought {
            name: "house-aead".into(),
            family: "house ciphers".into(),
            kind: Kind::Aead,
            key_bytes: 16,
            nonce_bytes: 12,
            tag_bytes: 16,
            size_multiple: 1,
            size_least: 0,
            vectors: 2,
            sha256: None,
        }
    }

    #[test]
    fn in_records_a_name_has_its_definition_behind_it_or_the_build() {
        let defined = |digit: &str| Brought { sha256: Some(digit.repeat(64)), ..house() };
        let [one, other] = ["a", "b"]
            .map(|digit| defined(digit).bring_from_record("sha256:0123456789abcdef").unwrap().name);
        assert_eq!((one, other), ("house-aead~aaaaaaaaaa", "house-aead~bbbbbbbbbb"));
        assert_eq!(house().name_in_records("build-id:0123456789abcdef"), "house-aead~0123456789");
        assert_eq!(house().name_in_records("build-id:be"), "house-aead~be00000000");
        let liar = Brought { tag_bytes: 8, ..defined("a") };
        assert!(liar.bring_from_record("").is_err());
        let glob =
            |text: &str, name: &str| crate::model::NameGlob::parse(text).unwrap().matches(name);
        assert!(glob("house-aead", one) && glob("house-*", one) && glob(one, one));
        assert!(!glob(one, other) && !glob("house", one) && !glob("x@1", "x@1~beta"));
    }

    #[test]
    fn what_is_brought_is_found_listed_and_marked() {
        let known = house().bring().unwrap();
        assert_eq!(Algorithm::find("house-aead").unwrap(), known);
        assert_eq!(Algorithm::all().last(), Some(known));
        assert_eq!(known.family(), "house ciphers");
        assert_eq!(known.warning(), Some("checked against its own vectors only"));
        assert_eq!(house().bring().unwrap(), known, "a second library may bring the same");
        assert!(Algorithm::find("house-aed").unwrap_err().to_string().contains("'house-aead'"));
        for kind in [Kind::Cipher, Kind::Digest, Kind::Mac] {
            let warning = Algorithm { kind, ..*known }.warning().unwrap();
            assert!(warning.ends_with("checked against its own vectors only"), "{warning}");
        }
        let other = Brought { tag_bytes: 8, ..house() };
        assert!(other.bring().unwrap_err().to_string().contains("another library"), "{other:?}");
        let dashes = Brought { name: "houseaead".into(), ..house() };
        assert!(dashes.bring().unwrap_err().to_string().contains("dashes"), "{dashes:?}");
    }

    #[test]
    fn what_has_another_form_or_a_name_that_is_known_is_refused_in_a_line() {
        let named = |name: &str| Brought { name: name.into(), ..house() };
        let long = "a".repeat(41);
        let cases = [
            (named("aes-128-gcm"), "ciphermark knows it"),
            (named("rijndael-128-gcm"), "another name of 'aes-128-gcm'"),
            (named("House"), "lower-case"),
            (named("a--b"), "lower-case"),
            (named("a+b"), "lower-case"),
            (named("-a"), "lower-case"),
            (named(""), "lower-case"),
            (named("a\u{1b}[2J"), "lower-case"),
            (named(&long), "lower-case"),
            (Brought { family: "\n".into(), ..house() }, "family"),
            (Brought { kind: Kind::Derivation, ..house() }, "no cipher"),
            (Brought { key_bytes: 0, ..house() }, "key has 0 bytes"),
            (Brought { key_bytes: usize::MAX, ..house() }, "key has"),
            (Brought { nonce_bytes: 65, ..house() }, "nonce has 65"),
            (Brought { tag_bytes: 4, ..house() }, "tag or digest has 4"),
            (Brought { kind: Kind::Cipher, ..house() }, "tag or digest has 16 bytes, not 0"),
            (Brought { size_multiple: 0, ..house() }, "multiple"),
            (Brought { size_multiple: 16, size_least: 16, ..house() }, "not both"),
            (Brought { kind: Kind::Mac, size_multiple: 16, ..house() }, "any size"),
            (Brought { vectors: 0, ..house() }, "0 vectors"),
        ];
        for (bad, why) in cases {
            let error = bad.bring().unwrap_err().to_string();
            assert!(error.contains(why), "{bad:?}: {error}");
            assert!(!error.contains(char::is_control), "{error:?}");
        }
    }
}
