//! Files of test vectors in the JSON format of Project Wycheproof, and holding a library to them.

mod judge;
mod names;
#[cfg(test)]
mod tests;

pub use judge::{Judged, judge};

use base::model::{Algorithm, Kind};
use serde::{Deserialize, Serialize};

/// What a file holds that fits an algorithm, and what does not.
#[derive(Debug)]
pub struct VectorFile {
    /// The algorithm as the file calls it.
    pub algorithm: String,
    /// Vectors with the algorithm that each is of.
    pub vectors: Vec<(&'static Algorithm, Vector)>,
    /// Number and reason of each that no algorithm fits.
    pub skipped: Vec<(u64, String)>,
}

/// One test vector; byte strings are in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vector {
    /// `tcId`.
    pub id: u64,
    /// Key.
    pub key: String,
    /// Nonce, IV or tweak.
    pub nonce: String,
    /// Associated data.
    pub aad: String,
    /// Message.
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

/// Reads a file.
///
/// # Errors
/// [`BadVectors`] in one line: where the text is no such file, or that ciphermark has no algorithm
/// of the file's name.
pub fn read(text: &str) -> Result<VectorFile, BadVectors> {
    let file: File = serde_json::from_str(text).map_err(|e| BadVectors(plain(&e)))?;
    if !names::is_known(&file.algorithm) {
        return Err(BadVectors(format!(
            "ciphermark has no algorithm for vectors of '{}'; it has those for {}",
            file.algorithm.chars().filter(|c| !c.is_control()).take(60).collect::<String>(),
            names::known().join(", ")
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
fn fit(name: &str, test: Test) -> Result<(&'static Algorithm, Vector), String> {
    if test.result == TestResult::Acceptable {
        return Err("either answer is acceptable, so it proves nothing".to_owned());
    }
    let len = |what: &str, text: &str| match hex::decode(text) {
        Ok(bytes) => Ok(bytes.len()),
        Err(_) => Err(format!("its {what} is not hexadecimal")),
    };
    let (key, tag) = (len("key", &test.key)?, len("tag", &test.tag)?);
    let (nonce, message) = (len("iv", &test.iv)?, len("msg", &test.msg)?);
    let (ciphertext, _) = (len("ct", &test.ct)?, len("aad", &test.aad)?);
    let algorithm = names::of(name, key)
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
