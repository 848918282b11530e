//! One vector, one library.

use super::Vector;
use crate::difference::difference;
use contract::{Library, Message, OpenError, Outcome, Session};
use model::{Algorithm, Direction};

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
    let bytes = |text: &str| hex::decode(text).map_err(|e| format!("the vector: {e}"));
    let case = Case {
        algorithm,
        key: bytes(&vector.key)?,
        nonce: bytes(&vector.nonce)?,
        aad: bytes(&vector.aad)?,
        message: bytes(&vector.message)?,
        ciphertext: bytes(&vector.ciphertext)?,
        tag: bytes(&vector.tag)?,
    };
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
    nonce: Vec<u8>,
    aad: Vec<u8>,
    message: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

impl Case {
    /// Vectors come over a pipe: what does not fit must not reach a library.
    fn check_lengths(&self) -> Result<(), String> {
        let Algorithm { key_len, nonce_len, tag_len, .. } = *self.algorithm;
        let fits =
            (self.key.len(), self.nonce.len(), self.tag.len()) == (key_len, nonce_len, tag_len);
        if fits {
            Ok(())
        } else {
            Err(format!("the vector's lengths are not {}'s", self.algorithm))
        }
    }

    fn open(&self, library: &dyn Library, direction: Direction) -> Result<Session, String> {
        let session = library.open(self.algorithm, direction, &self.key).map_err(|e| match e {
            OpenError::Unsupported(why) | OpenError::Failed(why) => format!("{direction}: {why}"),
        })?;
        if session.has_message() {
            Ok(session)
        } else {
            Err(format!("{direction}: the library does not offer whole messages"))
        }
    }

    fn call(&self, session: &mut Session, input: &[u8], tag: &mut [u8]) -> (Outcome, Vec<u8>) {
        let mut output = vec![0; if self.algorithm.writes_output() { input.len() } else { 0 }];
        let (nonce, aad) = (&*self.nonce, &*self.aad);
        let outcome = session.message(Message { nonce, aad, input, output: &mut output, tag });
        (outcome, output)
    }

    fn encrypt(&self, library: &dyn Library) -> Result<(), String> {
        let mut session = self.open(library, Direction::Encrypt)?;
        let mut tag = vec![0; self.tag.len()];
        let (outcome, output) = self.call(&mut session, &self.message, &mut tag);
        if outcome != Outcome::Done {
            return Err(format!("encrypt returned {outcome:?}"));
        }
        let wrong = difference(&output, &self.ciphertext, "the output", "the vector")
            .or_else(|| difference(&tag, &self.tag, "the tag", "the vector"));
        wrong.map_or(Ok(()), |what| Err(format!("encrypt: {what}")))
    }

    fn decrypt(&self, library: &dyn Library, valid: bool) -> Result<Judged, String> {
        let mut session = self.open(library, Direction::Decrypt)?;
        let mut tag = self.tag.clone();
        let (outcome, output) = self.call(&mut session, &self.ciphertext, &mut tag);
        match (outcome, valid) {
            (Outcome::Done, true) => {
                match difference(&output, &self.message, "the output", "the vector") {
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
        let mut tag = vec![0; self.tag.len()];
        let (outcome, _) = self.call(&mut session, &self.message, &mut tag);
        match (outcome, difference(&tag, &self.tag, "the tag", "the vector")) {
            (Outcome::Done, None) if valid => Ok(Judged::Passed),
            (Outcome::Done, None) => Err("the tag is that of an invalid vector".to_owned()),
            (Outcome::Done, Some(_)) if !valid => Ok(Judged::Rejected),
            (Outcome::Done, Some(what)) => Err(what),
            (outcome, _) => Err(format!("returned {outcome:?}")),
        }
    }
}
