//! Test vectors: those of a user's file, and the published ones that every verification holds a library to.

use crate::context::{difference, words};
use crate::inputs::Example;
use base::model::{Algorithm, Direction, Kind, Mode, Primitive};
use contract::{Library, Message, Outcome, OwnVector, Session};
use miniz_oxide::inflate::decompress_to_vec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

/// What a file holds that fits an algorithm, and what does not.
#[derive(Debug)]
pub struct VectorFile {
    /// The algorithm as the file calls it.
    pub algorithm: String,
    pub vectors: Vec<(&'static Algorithm, Vector)>,
    /// Number and reason of each that no algorithm fits.
    pub skipped: Vec<(u64, String)>,
}

/// One test vector; byte strings are in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vector {
    pub id: u64,
    pub key: String,
    /// Nonce, IV or tweak.
    pub nonce: String,
    pub aad: String,
    pub message: String,
    /// Ciphertext; empty for digests and MACs.
    pub ciphertext: String,
    /// Tag or digest.
    pub tag: String,
    /// Whether decryption must accept it.
    pub valid: bool,
}

/// Why a text is no file of vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadVectors(String);

#[derive(Deserialize)]
struct File {
    algorithm: String,
    #[serde(rename = "testGroups")]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    #[serde(rename = "tcId")]
    id: u64,
    #[serde(default)]
    key: String,
    #[serde(default, alias = "nonce")]
    iv: String,
    #[serde(default)]
    aad: String,
    #[serde(default)]
    msg: String,
    #[serde(default)]
    ct: String,
    #[serde(default, alias = "digest")]
    tag: String,
    result: TestResult,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TestResult {
    Valid,
    Invalid,
    Acceptable,
}

pub fn read(text: &str) -> Result<VectorFile, BadVectors> {
    let file: File = serde_json::from_str(text).map_err(|e| BadVectors(plain(&e)))?;
    if !is_known_name(&file.algorithm) {
        return Err(BadVectors(format!(
            "ciphermark has no algorithm for vectors of '{}'; it has those for {}",
            file.algorithm.chars().filter(|c| !c.is_control()).take(60).collect::<String>(),
            known_names().join(", ")
        )));
    }
    let (mut vectors, mut skipped) = (Vec::new(), Vec::new());
    for test in file.groups.into_iter().flat_map(|g| g.tests) {
        let id = test.id;
        match fit(&file.algorithm, test) {
            Ok(vector) => vectors.push(vector),
            Err(why) => skipped.push((id, why)),
        }
    }
    Ok(VectorFile { algorithm: file.algorithm, vectors, skipped })
}

/// A JSON error's words and place, on one line.
fn plain(error: &serde_json::Error) -> String {
    error.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The algorithm that a test is of, by its lengths.
fn fit(name: &str, mut test: Test) -> Result<(&'static Algorithm, Vector), String> {
    if test.result == TestResult::Acceptable {
        return Err("either answer is acceptable, so it proves nothing".to_owned());
    }
    // What wraps keys writes one piece, with the tag in front.
    if named(name).any(Algorithm::wraps_keys)
        && let Some((tag, rest)) = test.ct.split_at_checked(16)
    {
        (test.tag, test.ct) = (tag.to_owned(), rest.to_owned());
    }
    let len = |what: &str, text: &str| match hex::decode(text) {
        Ok(bytes) => Ok(bytes.len()),
        Err(_) => Err(format!("its {what} is not hexadecimal")),
    };
    let (key, tag) = (len("key", &test.key)?, len("tag", &test.tag)?);
    let (nonce, message) = (len("iv", &test.iv)?, len("msg", &test.msg)?);
    let (ciphertext, _) = (len("ct", &test.ct)?, len("aad", &test.aad)?);
    let algorithm = algorithm_named(name, key, tag)
        .ok_or_else(|| format!("there is no {name} with a key of {key} bytes"))?;
    let mut iv = test.iv;
    if algorithm.mode == base::model::Mode::Xts && nonce < 16 {
        // A data unit's number without its high zeros.
        iv.push_str(&"00".repeat(16 - nonce));
    } else if nonce != algorithm.nonce_len {
        return Err(format!(
            "{algorithm} takes nonces of {} bytes, not {nonce}",
            algorithm.nonce_len
        ));
    }
    if tag != algorithm.tag_len {
        return Err(format!("{algorithm} has tags of {} bytes, not {tag}", algorithm.tag_len));
    }
    let valid = test.result == TestResult::Valid;
    if !valid && algorithm.kind == Kind::Cipher {
        return Err("a mode without a tag cannot reject it".to_owned());
    }
    let len = if algorithm.writes_output() { ciphertext } else { message };
    if !algorithm.sizes.allows(len) || (valid && algorithm.writes_output() && message != len) {
        return Err(format!("a message of {message} bytes: {}", algorithm.size_reason()));
    }
    let Test { id, key, aad, msg: message, ct: ciphertext, tag, .. } = test;
    Ok((algorithm, Vector { id, key, nonce: iv, aad, message, ciphertext, tag, valid }))
}

// One vector, one library.

/// What became of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// A valid one came out right, in every direction.
    Passed,
    /// An invalid one was rejected.
    Rejected,
}

pub fn judge(
    library: &dyn Library,
    algorithm: &'static Algorithm,
    vector: &Vector,
) -> Result<Judged, String> {
    let name = vector.id.to_string();
    let decoded = KnownVector::of(algorithm, vector, name);
    let KnownVector { key, example, .. } = decoded.map_err(|e| format!("the vector: {e}"))?;
    let case = Case { algorithm, key, example };
    case.check_lengths()?;
    if !algorithm.encrypts() {
        return case.digest(library, vector.valid);
    }
    if vector.valid {
        case.encrypt(library)?;
    }
    case.decrypt(library, vector.valid)
}

struct Case {
    algorithm: &'static Algorithm,
    key: Vec<u8>,
    example: Example,
}

impl Case {
    /// Vectors come over a pipe: what does not fit must not reach a library.
    fn check_lengths(&self) -> Result<(), String> {
        let Algorithm { key_len, nonce_len, tag_len, .. } = *self.algorithm;
        let Example { nonce, tag, .. } = &self.example;
        if (self.key.len(), nonce.len(), tag.len()) == (key_len, nonce_len, tag_len) {
            Ok(())
        } else {
            Err(format!("the vector's lengths are not {}'s", self.algorithm))
        }
    }

    fn open(&self, library: &dyn Library, direction: Direction) -> Result<Session, String> {
        let session = library
            .open(self.algorithm, direction, &self.key)
            .map_err(|e| format!("{direction}: {}", words(e)))?;
        if session.has_message() {
            Ok(session)
        } else {
            Err(format!("{direction}: the library does not offer whole messages"))
        }
    }

    fn call(&self, session: &mut Session, input: &[u8], tag: &mut [u8]) -> (Outcome, Vec<u8>) {
        let mut output = vec![0; if self.algorithm.writes_output() { input.len() } else { 0 }];
        let (nonce, aad) = (&*self.example.nonce, &*self.example.aad);
        let outcome = session.message(Message { nonce, aad, input, output: &mut output, tag });
        (outcome, output)
    }

    fn encrypt(&self, library: &dyn Library) -> Result<(), String> {
        let mut session = self.open(library, Direction::Encrypt)?;
        let mut tag = vec![0; self.example.tag.len()];
        let (outcome, output) = self.call(&mut session, &self.example.plaintext, &mut tag);
        if outcome != Outcome::Done {
            return Err(format!("encrypt returned {outcome:?}"));
        }
        let wrong = difference(&output, &self.example.ciphertext, "the output", "the vector")
            .or_else(|| difference(&tag, &self.example.tag, "the tag", "the vector"));
        wrong.map_or(Ok(()), |what| Err(format!("encrypt: {what}")))
    }

    fn decrypt(&self, library: &dyn Library, valid: bool) -> Result<Judged, String> {
        let mut session = self.open(library, Direction::Decrypt)?;
        let mut tag = self.example.tag.clone();
        let (outcome, output) = self.call(&mut session, &self.example.ciphertext, &mut tag);
        match (outcome, valid) {
            (Outcome::Done, true) => {
                match difference(&output, &self.example.plaintext, "the output", "the vector") {
                    Some(what) => Err(format!("decrypt: {what}")),
                    None => Ok(Judged::Passed),
                }
            }
            (Outcome::Rejected, false) => Ok(Judged::Rejected),
            (Outcome::Done, false) => Err("decrypt accepted an invalid message".to_owned()),
            (outcome, _) => Err(format!("decrypt returned {outcome:?}")),
        }
    }

    fn digest(&self, library: &dyn Library, valid: bool) -> Result<Judged, String> {
        let mut session = self.open(library, Direction::Digest)?;
        let mut tag = vec![0; self.example.tag.len()];
        let (outcome, _) = self.call(&mut session, &self.example.plaintext, &mut tag);
        match (outcome, difference(&tag, &self.example.tag, "the tag", "the vector")) {
            (Outcome::Done, None) if valid => Ok(Judged::Passed),
            (Outcome::Done, None) => Err("the tag is that of an invalid vector".to_owned()),
            (Outcome::Done, Some(_)) if !valid => Ok(Judged::Rejected),
            (Outcome::Done, Some(what)) => Err(what),
            (outcome, _) => Err(format!("returned {outcome:?}")),
        }
    }
}

// What Wycheproof's files call the algorithms: `names.rs`, which the build script reads as well.

include!("names.rs");

/// Every name that a file may have.
fn known_names() -> Vec<&'static str> {
    NAMES.iter().map(|(theirs, _)| *theirs).collect()
}

fn is_known_name(name: &str) -> bool {
    NAMES.iter().any(|(theirs, _)| *theirs == name)
}

/// The algorithms that may be in a file of that name.
fn named(name: &str) -> impl Iterator<Item = &'static Algorithm> {
    let patterns = NAMES.iter().filter(move |(theirs, _)| *theirs == name).map(|(_, ours)| ours);
    patterns.flat_map(|ours| {
        let bits: &[&str] = if ours.contains("{}") { &["128", "192", "256"] } else { &[""] };
        bits.iter().filter_map(|bits| Algorithm::find(&ours.replace("{}", bits)).ok())
    })
}

/// The algorithm of that name with that length of the whole key in bytes, and of the tag where there is one.
fn algorithm_named(name: &str, key_len: usize, tag_len: usize) -> Option<&'static Algorithm> {
    let keyed = || named(name).filter(|a| a.key_len == key_len);
    keyed().find(|a| a.tag_len == tag_len).or_else(|| keyed().next())
}

// Published vectors: what standards and test projects say must come out. Each algorithm's are parsed once a
// process.
//
// Vector 1 of IEEE 1619 is left out: its two keys are equal, which FIPS 140 forbids and libraries refuse.

/// One published vector that fits an algorithm's lengths.
#[derive(Clone)]
pub(crate) struct KnownVector {
    /// Where it is published, for messages.
    pub(crate) name: String,
    /// The algorithm; of a derivation with the vector's lengths of passphrase, salt and output.
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) key: Vec<u8>,
    pub(crate) example: Example,
    /// Whether decryption must reject it.
    pub(crate) forged: bool,
}

impl KnownVector {
    /// A file's vector.
    pub(crate) fn of(
        algorithm: &'static Algorithm,
        read: &Vector,
        name: String,
    ) -> Result<Self, hex::FromHexError> {
        let example = Example {
            nonce: hex::decode(&read.nonce)?,
            aad: hex::decode(&read.aad)?,
            plaintext: hex::decode(&read.message)?,
            ciphertext: hex::decode(&read.ciphertext)?,
            tag: hex::decode(&read.tag)?,
            source: "the vector",
            writes_output: algorithm.writes_output(),
        };
        let key = hex::decode(&read.key)?;
        Ok(Self { name, algorithm, key, example, forged: !read.valid })
    }
}

pub(crate) fn of(algorithm: &'static Algorithm) -> &'static [KnownVector] {
    static PARSED: Mutex<BTreeMap<&str, &[KnownVector]>> = Mutex::new(BTreeMap::new());
    let mut parsed = PARSED.lock().expect("a test reads every vector");
    parsed.entry(algorithm.name).or_insert_with(|| {
        standard_vectors(algorithm).chain(wycheproof_vectors(algorithm)).collect::<Vec<_>>().leak()
    })
}

/// A library's own vectors of an algorithm that it brings.
pub(crate) fn own(algorithm: &'static Algorithm, vectors: &[OwnVector]) -> Vec<KnownVector> {
    let own = vectors.iter().enumerate().map(|(number, vector)| KnownVector {
        name: format!("its own vector {}", number + 1),
        algorithm,
        key: vector.key.clone(),
        example: Example {
            nonce: vector.nonce.clone(),
            aad: vector.aad.clone(),
            plaintext: vector.message.clone(),
            ciphertext: vector.ciphertext.clone(),
            tag: vector.tag.clone(),
            source: "the vector",
            writes_output: algorithm.writes_output(),
        },
        forged: false,
    });
    own.collect()
}

pub(crate) fn has_forgeries(algorithm: &'static Algorithm) -> bool {
    algorithm.rejects() && of(algorithm).iter().any(|vector| vector.forged)
}

/// Why an algorithm has no published vector here; `None` where it has some.
pub(crate) fn unpublished(algorithm: &Algorithm) -> Option<&'static str> {
    let (cipher, mode) = (algorithm.cipher, algorithm.mode);
    match mode {
        Mode::Composite => return Some("defined here; its parts have vectors"),
        // RFC 9106 §5 has a secret, associated data and four lanes, which most interfaces do not take.
        Mode::MemoryHard if matches!(cipher, Primitive::Argon2d { .. }) => {
            return Some("the published vectors have other numbers of passes and lanes");
        }
        Mode::Bcrypt => return None,
        _ if algorithm.kind == Kind::Random => {
            return Some("what is random has no right answer; its checks are other ones");
        }
        _ if cipher == Primitive::None => return Some("a baseline: nothing is computed"),
        _ => {}
    }
    let published = match (cipher, mode) {
        (Primitive::Aes, _) | (_, Mode::Ecb) => true,
        (Primitive::Aria | Primitive::Sm4, Mode::Gcm | Mode::Ccm) => true,
        (Primitive::Camellia, Mode::Ccm | Mode::Cmac) => true,
        _ => cipher.block_len().is_none(),
    };
    (!published).then_some("the mode has vectors with AES, the cipher has them in ECB")
}

// The vectors of standards: `published.json`, each with where it is published.

static PUBLISHED: LazyLock<Vec<Published>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("published.json")).expect("a test reads the file")
});

/// One vector of the file; byte strings are in hexadecimal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    algorithm: String,
    source: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    nonce: String,
    aad: Option<Bytes>,
    message: Bytes,
    #[serde(default)]
    ciphertext: String,
    #[serde(default)]
    tag: String,
}

/// Bytes as the standards write them.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Bytes {
    Hex(String),
    Text(String),
    /// The same bytes so many times.
    Repeated(String, usize),
    /// 00 01 02 … modulo 256.
    Counting(usize),
    /// So many bytes of the generator of xxHash's sanity checks.
    Xxhash(usize),
    /// No bytes: what a derivation is to cost.
    Cost(usize),
}

impl Bytes {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Hex(digits) => bytes(digits),
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Repeated(digits, times) => bytes(digits).repeat(*times),
            Self::Counting(len) => (0..*len).map(|n| n as u8).collect(),
            Self::Xxhash(len) => xxhash_input(*len),
            Self::Cost(cost) => vec![0; *cost],
        }
    }
}

fn standard_vectors(algorithm: &'static Algorithm) -> impl Iterator<Item = KnownVector> {
    let own = PUBLISHED.iter().filter(|published| published.algorithm == algorithm.name);
    own.map(move |published| KnownVector {
        name: published.source.clone(),
        algorithm: with_lengths_of(published, algorithm),
        key: bytes(&published.key),
        example: Example {
            nonce: bytes(&published.nonce),
            aad: published.aad.as_ref().map(Bytes::bytes).unwrap_or_default(),
            plaintext: published.message.bytes(),
            ciphertext: bytes(&published.ciphertext),
            tag: bytes(&published.tag),
            source: "the vector",
            writes_output: algorithm.writes_output(),
        },
        forged: false,
    })
}

/// Derivations take passphrases and salts of any length, and give as much: published vectors use that. Each is kept for
/// good, as algorithms are; there are some dozens.
fn with_lengths_of(published: &Published, algorithm: &'static Algorithm) -> &'static Algorithm {
    if algorithm.kind != Kind::Derivation {
        return algorithm;
    }
    let [key_len, nonce_len, tag_len] =
        [&published.key, &published.nonce, &published.tag].map(|digits| digits.len() / 2);
    Box::leak(Box::new(Algorithm { key_len, nonce_len, tag_len, ..*algorithm }))
}

fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits).expect("a test reads the file")
}

/// The high bytes of the powers of a prime (xxHash, `tests/sanity_test.c`).
fn xxhash_input(len: usize) -> Vec<u8> {
    const FIRST: u64 = 2_654_435_761;
    const FACTOR: u64 = 11_400_714_785_074_694_797;
    std::iter::successors(Some(FIRST), |n| Some(n.wrapping_mul(FACTOR)))
        .map(|n| (n >> 56) as u8)
        .take(len)
        .collect()
}

// Project Wycheproof: vectors that are known to have broken implementations, the forged ones among them.

/// The vectors that fit an algorithm's lengths.
fn wycheproof_vectors(algorithm: &'static Algorithm) -> impl Iterator<Item = KnownVector> {
    packed(algorithm).flat_map(move |packed| {
        let text = decompress_to_vec(packed).ok().and_then(|text| String::from_utf8(text).ok());
        let text = text.expect("a test unpacks the project's files");
        let file = read(&text).expect("a test reads the project's files");
        let own = file.vectors.into_iter().filter(move |(of, _)| of.name == algorithm.name);
        own.map(move |(_, vector)| {
            let name = format!("Wycheproof test {}", vector.id);
            KnownVector::of(algorithm, &vector, name).expect("what was read is hexadecimal")
        })
    })
}

/// The project's files of an algorithm, as the build packed them (RFC 1951).
fn packed(algorithm: &Algorithm) -> impl Iterator<Item = &'static [u8]> {
    let files = FILES.iter().filter(|(name, _)| named(name).any(|a| a.name == algorithm.name));
    files.map(|(_, packed)| *packed)
}

include!(concat!(env!("OUT_DIR"), "/packed.rs"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;
    use base::model::Kind;
    use proptest::prelude::*;

    fn file(tests: &str) -> String {
        format!(r#"{{"algorithm":"AES-GCM","testGroups":[{{"tests":[{tests}]}}]}}"#)
    }

    const ZEROS: &str = "00000000000000000000000000000000";

    /// McGrew and Viega, The Galois/Counter Mode of Operation, test case 2, changed as asked.
    fn test(id: u64, iv: &str, result: &str) -> String {
        format!(
            r#"{{"tcId":{id},"key":"{ZEROS}","iv":"{iv}","aad":"","msg":"{ZEROS}","ct":"0388dace60b6a392f328c2b971b2fe78","tag":"ab6e47d42cec13bdf53a67b21257bddf","result":"{result}"}}"#
        )
    }

    #[test]
    fn what_fits_is_kept_and_what_does_not_is_named_with_its_reason() {
        let iv = &ZEROS[..24];
        let text = file(
            &[test(1, iv, "valid"), test(2, "00", "valid"), test(3, iv, "acceptable")].join(","),
        );
        let read = read(&text).unwrap();
        assert_eq!(read.vectors.len(), 1);
        assert_eq!((read.vectors[0].0.name, read.vectors[0].1.id), ("aes-128-gcm", 1));
        let why: Vec<&str> = read.skipped.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(why[0], "aes-128-gcm takes nonces of 12 bytes, not 1");
        assert!(why[1].contains("acceptable"), "{why:?}");
    }

    #[test]
    fn an_unknown_algorithm_and_a_broken_text_are_one_line() {
        let unknown = read(&file("").replace("AES-GCM", "ROT13")).unwrap_err().to_string();
        assert!(unknown.contains("'ROT13'") && unknown.contains("AES-GCM"), "{unknown}");
        let broken = read("{\"algorithm\": 7}").unwrap_err().to_string();
        assert!(broken.contains("line 1"), "{broken}");
    }

    #[test]
    fn every_name_leads_to_an_algorithm() {
        for name in super::known_names() {
            assert!(super::named(name).next().is_some(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_in_one_line(text in ".{0,300}", cut in 0_usize..400) {
            let whole = file(&test(1, &ZEROS[..24], "valid"));
            for text in [text.as_str(), whole.get(..cut).unwrap_or(&whole)] {
                if let Err(e) = read(text) {
                    prop_assert!(e.to_string().lines().count() <= 1, "{e}");
                }
            }
        }
    }

    #[test]
    fn every_algorithm_has_vectors_or_a_reason_for_having_none() {
        for algorithm in Algorithm::all() {
            let count = of(algorithm).len();
            // The check `known-answers` makes RFC 7253's iterated test of every key length.
            let iterated = (algorithm.cipher, algorithm.mode) == (Primitive::Aes, Mode::Ocb);
            let has = count > 0 || iterated;
            assert_eq!(has, unpublished(algorithm).is_none(), "{algorithm}: {count}");
        }
    }

    #[test]
    fn the_reference_agrees_with_every_vector() {
        for algorithm in Algorithm::all() {
            for KnownVector { name, algorithm, key, example, forged } in of(algorithm) {
                let reference = Reference::new(algorithm, key);
                let opened = |tag: &[u8]| {
                    let Example { nonce, aad, plaintext, ciphertext, writes_output, .. } = example;
                    let input = if *writes_output { ciphertext } else { plaintext };
                    let mut output = vec![0; ciphertext.len()];
                    let right = reference.decrypt(nonce, aad, input, &mut output, tag);
                    right.then_some(if *writes_output { output } else { plaintext.clone() })
                };
                let expected = (!forged).then(|| example.plaintext.clone());
                assert_eq!(opened(&example.tag), expected, "{algorithm} {name}");
                if *forged {
                    continue;
                }
                let made = encrypted(&reference, example, example.plaintext.len());
                assert_eq!(
                    (made.ciphertext, made.tag),
                    (example.ciphertext.clone(), example.tag.clone()),
                    "{name}"
                );
                // Wycheproof has forgeries of its own, and a derivation takes long.
                let has_own = name.starts_with("Wycheproof") || algorithm.kind == Kind::Derivation;
                let bits = if has_own { 0 } else { example.tag.len() * 8 };
                for bit in 0..bits {
                    let mut wrong = example.tag.clone();
                    wrong[bit / 8] ^= 1 << (bit % 8);
                    assert_eq!(opened(&wrong), None, "{algorithm} {name} bit {bit}");
                }
            }
        }
    }

    fn encrypted(reference: &Reference, example: &Example, len: usize) -> Example {
        let (nonce, aad) = (example.nonce.clone(), example.aad.clone());
        Example::solve(reference, nonce, aad, example.plaintext[..len].to_vec())
    }

    /// Partial segments use as much of the last key stream block as they need, and so does OpenSSL.
    #[test]
    fn a_message_that_ends_anywhere_is_the_start_of_a_longer_one() {
        let any_length = |a: &&Algorithm| a.kind == Kind::Cipher && a.sizes.allows(1);
        let mut modes = 0;
        for algorithm in Algorithm::all().iter().filter(any_length) {
            for vector in of(algorithm) {
                let reference = Reference::new(algorithm, &vector.key);
                for len in 0..vector.example.plaintext.len() {
                    let made = encrypted(&reference, &vector.example, len).ciphertext;
                    assert_eq!(made, vector.example.ciphertext[..len], "{algorithm} {len} bytes");
                }
                modes += 1;
            }
        }
        assert!(modes >= 16, "{modes}");
    }

    #[test]
    fn tampering_is_represented_where_wycheproof_has_it() {
        for (name, valid) in [
            ("aes-128-gcm", 20),
            ("aes-192-ccm", 20),
            ("chacha20-poly1305", 20),
            ("aes-256-gcm-siv", 20),
            ("aes-128-eax", 20),
            ("aes-256-kw", 10),
            ("aes-256-kwp", 10),
        ] {
            let vectors = of(Algorithm::find(name).unwrap());
            assert!(vectors.iter().filter(|v| v.forged).count() >= 10, "{name}");
            assert!(vectors.iter().filter(|v| !v.forged).count() >= valid, "{name}");
        }
    }
}
