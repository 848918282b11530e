//! Which of the libraries come with a TLS stack.

use crate::discover::Attached;
use std::path::{Path, PathBuf};

/// A stack: the file with the protocol, and the library under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFile {
    /// Facts for the document.
    pub facts: tls::Stack,
    /// The file with the protocol.
    pub path: PathBuf,
    /// The file with the primitives, where that is another one.
    pub crypto: Option<PathBuf>,
}

/// The stacks that stand beside libraries: `libssl` in the directory of `libcrypto`.
#[must_use]
pub fn stacks(libraries: &[Attached]) -> Vec<StackFile> {
    let mut found: Vec<StackFile> = libraries.iter().filter_map(stack).collect();
    label(&mut found);
    found
}

/// No two stacks may be taken for one: a system's and a bundled build may be the same version.
fn label(stacks: &mut [StackFile]) {
    for at in 0..stacks.len() {
        let plain = stacks[at].facts.label.clone();
        let before = stacks[..at].iter().filter(|s| same(&s.facts, &stacks[at].facts)).count();
        if before > 0 {
            stacks[at].facts.label = format!("{plain} #{}", before + 1);
        }
    }
}

fn same(one: &tls::Stack, other: &tls::Stack) -> bool {
    (&one.name, &one.version) == (&other.name, &other.version)
}

fn stack(library: &Attached) -> Option<StackFile> {
    let crypto = PathBuf::from(&library.facts.path);
    let path = beside(&crypto)?;
    let facts = tls::Stack {
        label: format!("{}@{}", library.facts.name, library.facts.version),
        name: library.facts.name.clone(),
        version: library.facts.version.clone(),
        path: path.display().to_string(),
        id: host::file_id(&path).ok()?,
        crypto_path: library.facts.path.clone(),
        crypto_id: library.facts.id.clone(),
        build: library.facts.build.clone(),
    };
    Some(StackFile { facts, path, crypto: Some(crypto) })
}

/// The `libssl` that belongs to a `libcrypto`: beside it, with the same ending.
fn beside(crypto: &Path) -> Option<PathBuf> {
    let ending = crypto.file_name()?.to_str()?.strip_prefix("libcrypto")?;
    let path = crypto.with_file_name(format!("libssl{ending}"));
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_the_same_version_are_told_apart() {
        let of = |version: &str| StackFile {
            facts: tls::Stack {
                label: format!("openssl@{version}"),
                name: "openssl".to_owned(),
                version: version.to_owned(),
                path: String::new(),
                id: String::new(),
                crypto_path: String::new(),
                crypto_id: String::new(),
                build: Vec::new(),
            },
            path: PathBuf::new(),
            crypto: None,
        };
        let mut all = ["3.5.5", "4.0.3", "3.5.5", "3.5.5"].map(of);
        label(&mut all);
        let labels = all.map(|s| s.facts.label);
        let wanted = ["openssl@3.5.5", "openssl@4.0.3", "openssl@3.5.5 #2", "openssl@3.5.5 #3"];
        assert_eq!(labels, wanted);
    }

    #[test]
    fn a_stack_stands_beside_its_library_with_the_same_ending() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("libssl.so.3"), "").unwrap();
        assert_eq!(beside(&at("libcrypto.so.3")), Some(at("libssl.so.3")));
        assert_eq!(beside(&at("libcrypto.so.4")), None);
        assert_eq!(beside(&at("libsodium.so.3")), None);
    }
}
