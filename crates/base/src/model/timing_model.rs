//! Models: exactly what is inside the clock. `docs/MODELS.md` is the long form.

use serde::{Deserialize, Serialize};

/// What one timed operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Key and IV set once, then repeated update calls, in place: what `openssl speed -evp` does.
    Stream,
    /// New nonce, associated data, whole message, tag; key schedule reused.
    Message,
    /// As `message`, with a new key for each message.
    Rekey,
    /// Decryption of a message whose tag is wrong, and its rejection.
    Forgery,
    /// A TLS handshake, each end apart: `tls handshake`.
    #[cfg_attr(feature = "clap", value(skip))]
    Handshake,
    /// A TLS record, sent or received: `tls records`.
    #[cfg_attr(feature = "clap", value(skip))]
    Records,
    /// An operation under a TLS handshake: `tls primitives`.
    #[cfg_attr(feature = "clap", value(skip))]
    Primitive,
    /// A stored page: `pages`.
    #[cfg_attr(feature = "clap", value(skip))]
    Page,
}

impl Model {
    /// Every model of a survey: what `run` measures.
    pub const ALL: &'static [Self] = &[Self::Stream, Self::Message, Self::Rekey, Self::Forgery];

    /// Every model that a record can have: those of `tls` and `pages` too.
    pub const RECORDED: &'static [Self] = &[
        Self::Stream,
        Self::Message,
        Self::Rekey,
        Self::Forgery,
        Self::Handshake,
        Self::Records,
        Self::Primitive,
        Self::Page,
    ];

    /// Whether it is one of a survey: what `run` measures.
    #[must_use]
    pub fn is_of_survey(self) -> bool {
        Self::ALL.contains(&self)
    }

    /// Whether an operation is made of bytes of data, so that it has megabytes a second.
    #[must_use]
    pub fn has_bytes(self) -> bool {
        !matches!(self, Self::Handshake | Self::Primitive)
    }

    /// The name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Raised whenever what is inside the clock changes, so that figures of two definitions are
    /// never compared under one name.
    #[must_use]
    pub fn version(self) -> u32 {
        match self {
            Self::Stream | Self::Message | Self::Rekey | Self::Forgery => 1,
            Self::Handshake | Self::Records | Self::Primitive | Self::Page => 1,
        }
    }

    /// One sentence for lists.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Stream => {
                "key and IV set once, then repeated update calls in place (as `openssl speed -evp`)"
            }
            Self::Message => {
                "new nonce, 16 bytes of associated data, whole message, tag; key schedule reused"
            }
            Self::Rekey => "as `message`, with a new key for each message",
            Self::Forgery => "decryption of a message with a wrong tag, which must be rejected",
            Self::Handshake => "a TLS handshake in memory, each end apart (`tls handshake`)",
            Self::Records => "a TLS record, sent or received in memory (`tls records`)",
            Self::Primitive => "an operation under a TLS handshake (`tls primitives`)",
            Self::Page => "a stored page, encrypted or decrypted (`pages`)",
        }
    }
}
