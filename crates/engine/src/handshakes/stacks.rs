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
    libraries.iter().filter_map(stack).collect()
}

fn stack(library: &Attached) -> Option<StackFile> {
    let crypto = PathBuf::from(&library.facts.path);
    let path = beside(&crypto)?;
    let facts = tls::Stack {
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
    fn a_stack_stands_beside_its_library_with_the_same_ending() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("libssl.so.3"), "").unwrap();
        assert_eq!(beside(&at("libcrypto.so.3")), Some(at("libssl.so.3")));
        assert_eq!(beside(&at("libcrypto.so.4")), None);
        assert_eq!(beside(&at("libsodium.so.3")), None);
    }
}
