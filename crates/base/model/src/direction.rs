//! Directions.

use crate::Kind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is done to the message.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Plaintext to ciphertext (and tag).
    Encrypt,
    /// Ciphertext (and valid tag) to plaintext.
    Decrypt,
    /// Message to digest.
    Digest,
    /// Message to its copy; also the harness's null operation.
    Copy,
}

impl Direction {
    /// The directions that a kind of algorithm has.
    #[must_use]
    pub fn of(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::Cipher | Kind::Aead | Kind::Checked => &[Self::Encrypt, Self::Decrypt],
            Kind::Digest | Kind::Mac => &[Self::Digest],
            Kind::Copy | Kind::Null => &[Self::Copy],
        }
    }

    /// The name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Digest => "digest",
            Self::Copy => "copy",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
