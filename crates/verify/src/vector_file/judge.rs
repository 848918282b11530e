//! One vector, one library.

use super::Vector;
use crate::difference::difference;
use crate::example::Example;
use crate::finding::words;
use crate::vectors;
use base::model::{Algorithm, Direction};
use contract::{Library, Message, Outcome, Session};

/// What became of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// A valid one came out right, in every direction.
    Passed,
    /// An invalid one was rejected.
    Rejected,
}

/// Holds a library to a vector.
///
/// # Errors
/// What the library did instead, in one line.
pub fn judge(
    library: &dyn Library,
    algorithm: &'static Algorithm,
    vector: &Vector,
) -> Result<Judged, String> {
    let name = vector.id.to_string();
    let decoded = vectors::Vector::of(algorithm, vector, name);
    let vectors::Vector { key, example, .. } = decoded.map_err(|e| format!("the vector: {e}"))?;
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
