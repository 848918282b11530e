//! Classes of clients: what each offers, as `clients.toml` has it with its sources.

use record::tls::Version;
use serde::Deserialize;
use std::sync::LazyLock;

/// A class of clients.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// What it stands for.
    pub(crate) what: String,
    pub(crate) versions: Vec<Version>,
    /// Suites of TLS 1.2, the first the dearest to it.
    pub(crate) ciphers: String,
    /// Suites of TLS 1.3.
    pub(crate) ciphersuites: String,
    pub(crate) groups: String,
    /// Groups that its first message has key shares of.
    pub(crate) key_shares: String,
    /// Whether it takes Ed25519 in certificates.
    pub(crate) takes_ed25519: bool,
}

/// The classes, today's first.
pub(crate) static CLASSES: LazyLock<Vec<Class>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        class: Vec<Class>,
    }
    let file: File =
        toml::from_str(include_str!("clients.toml")).expect("our own file is read by every test");
    file.class
});

impl Class {
    /// By its name.
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        CLASSES.iter().find(|c| c.name == name)
    }
}
