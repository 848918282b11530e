//! Directions.

use crate::model::Kind;

/// What is done to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "records", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "records", serde(rename_all = "lowercase"))]
pub enum Direction {
    /// Plaintext to ciphertext (and tag).
    Encrypt,
    /// Ciphertext (and valid tag) to plaintext.
    Decrypt,
    /// Message to digest.
    Digest,
    /// Message to its copy; also the harness's null operation.
    Copy,
    /// The server's end of a TLS handshake.
    Server,
    /// The client's end of it.
    Client,
    /// Sending a TLS record.
    Send,
    /// Receiving it.
    Receive,
    /// An operation under a handshake with all that belongs to it.
    Whole,
    /// The library's one call of it alone.
    Call,
}

impl Direction {
    /// All.
    pub const ALL: &'static [Self] = &[
        Self::Encrypt,
        Self::Decrypt,
        Self::Digest,
        Self::Copy,
        Self::Server,
        Self::Client,
        Self::Send,
        Self::Receive,
        Self::Whole,
        Self::Call,
    ];

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
        self.into()
    }
}
