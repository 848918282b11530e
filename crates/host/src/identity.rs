//! Which build a file is.

use object::Object as _;
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::Path;

/// What tells one build from another: `build-id:<hex>` where the file has the ELF note that the
/// linker derives from the content, else `sha256:<hex>` of the whole file.
///
/// # Errors
/// When the file cannot be read.
pub fn file_id(path: &Path) -> io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(build_id(&bytes)
        .unwrap_or_else(|| format!("sha256:{}", hex::encode(Sha256::digest(&bytes)))))
}

fn build_id(bytes: &[u8]) -> Option<String> {
    let file = object::File::parse(bytes).ok()?;
    let id = file.build_id().ok()??;
    (!id.is_empty()).then(|| format!("build-id:{}", hex::encode(id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stand_in;

    #[test]
    fn a_library_of_the_distribution_has_a_build_id() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.split_whitespace().find(|w| w.contains("/libc.so.6")).unwrap();
        let id = file_id(Path::new(libc)).unwrap();
        let hex = id.strip_prefix("build-id:").unwrap();
        assert!(hex.len() >= 16 && hex.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    }

    #[test]
    fn a_file_without_the_note_is_known_by_its_content() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("abc");
        std::fs::write(&text, "abc").unwrap();
        // FIPS 180-4's example message.
        assert_eq!(
            file_id(&text).unwrap(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let object = directory.path().join("x.so");
        stand_in::shared_object(&object);
        assert!(file_id(&object).unwrap().starts_with("sha256:"));
    }

    #[test]
    fn a_missing_file_is_an_error() {
        assert_eq!(file_id(Path::new("/no/such")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
