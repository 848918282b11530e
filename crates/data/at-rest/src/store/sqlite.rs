//! `SQLite` databases (sqlite.org/fileformat2.html, The Database Header).

use crate::store::{Kind, Store, StoreError, image};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether the file begins like a database.
pub(crate) fn is_one(path: &Path) -> Result<bool, StoreError> {
    let mut head = [0; 16];
    let mut file = File::open(path).map_err(|e| StoreError::read(path, e))?;
    Ok(file.read_exact(&mut head).is_ok() && head == *MAGIC)
}

/// Opens a database that nobody is in the middle of changing.
pub(crate) fn open(path: &Path, unit: Option<usize>) -> Result<Store, StoreError> {
    let mut head = [0; 100];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.map_err(|e| StoreError::read(path, e))?;
    for (suffix, what) in [("-wal", "write-ahead log"), ("-journal", "journal")] {
        let beside = beside(path, suffix);
        if std::fs::metadata(&beside).is_ok_and(|m| m.len() > 0) {
            let why = format!(
                "has a {what} beside it: its pages are not all in the file; close the database first \
                 (PRAGMA wal_checkpoint(TRUNCATE), or roll the journal back by opening it)"
            );
            return Err(StoreError::unfit(path, why));
        }
    }
    let own = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    if !own.is_power_of_two() || own < 512 {
        let why = format!("says that its pages have {own} bytes, which no SQLite database has");
        return Err(StoreError::unfit(path, why));
    }
    let journal = if head[18] == 2 { "write-ahead log" } else { "rollback journal" };
    Ok(Store {
        kind: Kind::Sqlite,
        own_page_size: own,
        facts: vec![
            format!("SQLite database, pages of {own} bytes, {} reserved in each", head[20]),
            format!("journal: {journal}"),
        ],
        checksums: Some(false),
        ..image::of_file(path, unit.unwrap_or(own))?
    })
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(page_size: u16, pages: usize) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        let mut bytes = vec![7; usize::from(page_size) * pages];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16..18].copy_from_slice(&page_size.to_be_bytes());
        bytes[18..21].copy_from_slice(&[1, 1, 0]);
        std::fs::write(&path, bytes).unwrap();
        (directory, path)
    }

    #[test]
    fn the_header_gives_the_page_size() {
        let (_keep, path) = database(4096, 3);
        let store = Store::open(&path, None).unwrap();
        assert_eq!((store.kind(), store.page_size(), store.pages()), (Kind::Sqlite, 4096, 3));
    }

    #[test]
    fn a_database_with_a_log_beside_it_is_refused() {
        let (_keep, path) = database(4096, 3);
        std::fs::write(beside(&path, "-wal"), b"x").unwrap();
        let text = Store::open(&path, None).unwrap_err().to_string();
        assert!(text.contains("write-ahead log"), "{text}");
    }

    #[test]
    fn a_header_that_cannot_be_is_refused() {
        let (_keep, path) = database(1000, 3);
        assert!(Store::open(&path, None).unwrap_err().to_string().contains("1000"));
    }
}
