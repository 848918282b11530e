//! Stores of one file: raw images, in pages of any size; `sqlite` has the rest of databases.

use crate::at_rest::scheme::Position;
use crate::at_rest::store::{Kind, PageFile, Store, StoreError, head, sqlite};
use std::path::Path;

/// Pages of a file that says nothing of them.
const PAGE_SIZE: usize = 4096;

pub(crate) fn open(path: &Path, page_size: Option<usize>) -> Result<Store, StoreError> {
    let page_size = page_size.unwrap_or(PAGE_SIZE);
    let facts = vec!["raw image".to_owned()];
    let store = Store { kind: Kind::Image, facts, ..of_file(path, page_size)? };
    if store.pages() > 0 {
        damage(path)?;
    }
    Ok(store)
}

/// Refuses what is taken for an image because it is damaged, or by mistake: nothing that is made of pages is text.
fn damage(path: &Path) -> Result<(), StoreError> {
    let head = head(path, PAGE_SIZE as u64).map_err(|e| StoreError::read(path, e))?;
    if sqlite::was_one(&head) {
        let why =
            "is damaged: its first 16 bytes are not those of an SQLite database, the next ones are";
        return Err(StoreError::unfit(path, why));
    }
    // A character may end behind what was read.
    let text = match std::str::from_utf8(&head) {
        Ok(text) => text,
        Err(e) if e.error_len().is_none() => {
            std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or("\0")
        }
        Err(_) => return Ok(()),
    };
    if text.chars().any(|c| c.is_control() && !c.is_ascii_whitespace()) {
        return Ok(());
    }
    let why = "is text, so it is no image of pages (a record that was cut short?)";
    Err(StoreError::unfit(path, why))
}

/// The whole pages of a file that states nothing.
pub(crate) fn of_file(path: &Path, page_size: usize) -> Result<Store, StoreError> {
    let bytes = std::fs::metadata(path).map_err(|e| StoreError::read(path, e))?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let first = Position { relation: 1, ..Position::default() };
    let pages = bytes / page_size as u64;
    Ok(Store {
        kind: Kind::Image,
        page_size,
        own_page_size: page_size,
        files: vec![PageFile { path: Some(path.to_owned()), name, first, pages }],
        facts: Vec::new(),
        root: path.to_owned(),
        checksums: None,
        left_out: u64::from(!bytes.is_multiple_of(page_size as u64)),
        seed: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_whole_pages_and_perhaps_a_rest() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        std::fs::write(&path, vec![1; 10_000]).unwrap();
        let store = Store::open(&path, None).unwrap();
        assert_eq!((store.pages(), store.left_out(), store.kind()), (2, 1, Kind::Image));
        let mut page = vec![0; 8192];
        let store = Store::open(&path, Some(8192)).unwrap();
        let at = store.read(store.all().next().unwrap(), &mut page).unwrap();
        assert_eq!((at.block, at.version, page[0]), (0, 0, 1));
        std::fs::write(&path, "{\"µ\": 1}\n".repeat(1000)).unwrap();
        assert!(Store::open(&path, None).unwrap_err().to_string().contains("is text"));
        std::fs::write(&path, b"short").unwrap();
        assert!(Store::open(&path, None).unwrap_err().to_string().contains("no whole page"));
    }
}
