//! `SQLite` databases (sqlite.org/fileformat2.html, The Database Header).

use crate::at_rest::store::{Kind, Store, StoreError, image};
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

/// Whether the file was a database whose beginning is damaged: its page size and the three bytes that are the same in
/// every database stand where they should.
pub(crate) fn was_one(head: &[u8]) -> bool {
    let own = head.get(16..18).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    let is_size = own == 1 || own.is_power_of_two() && own >= 512;
    is_size && head.get(21..24) == Some(&[64, 32, 32])
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
    whole(path, &head, own)?;
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

/// Refuses a file that is shorter than its header says. What the header says of the size counts only where the number
/// of changes stands twice: SQLite before 3.7 kept none (section 1.3.7).
fn whole(path: &Path, head: &[u8; 100], own: usize) -> Result<(), StoreError> {
    let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let bytes = std::fs::metadata(path).map_err(|e| StoreError::read(path, e))?.len();
    let stated = u64::from(word(28)) * own as u64;
    if word(24) == word(92) && bytes < stated {
        let why = format!("is cut short: its header says {stated} bytes, and it has {bytes}");
        return Err(StoreError::unfit(path, why));
    }
    Ok(())
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
        bytes[18..24].copy_from_slice(&[1, 1, 0, 64, 32, 32]);
        bytes[28..32].copy_from_slice(&u32::try_from(pages).unwrap().to_be_bytes());
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
    fn a_damaged_database_is_refused_and_not_taken_for_an_image() {
        let (_keep, path) = database(4096, 3);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..8192]).unwrap();
        let text = Store::open(&path, None).unwrap_err().to_string();
        assert!(text.contains("its header says 12288 bytes, and it has 8192"), "{text}");
        std::fs::write(&path, [&[0; 16], &whole[16..]].concat()).unwrap();
        let text = Store::open(&path, None).unwrap_err().to_string();
        assert!(text.contains("its first 16 bytes are not those of an SQLite database"), "{text}");
    }

    #[test]
    fn a_header_that_cannot_be_is_refused() {
        let (_keep, path) = database(1000, 3);
        assert!(Store::open(&path, None).unwrap_err().to_string().contains("1000"));
    }
}
