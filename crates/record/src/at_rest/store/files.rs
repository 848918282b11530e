//! Stores that are one file, and one that is none: raw images, SQLite databases, and pages made of a seed.

use crate::at_rest::scheme::Position;
use crate::at_rest::store::{Kind, PageFile, Store, StoreError, head};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Pages of a file that says nothing of them.
const PAGE_SIZE: usize = 4096;

pub(crate) fn open_image(path: &Path, page_size: Option<usize>) -> Result<Store, StoreError> {
    let page_size = page_size.unwrap_or(PAGE_SIZE);
    let facts = vec!["raw image".to_owned()];
    let store = Store { kind: Kind::Image, facts, ..pages_of_file(path, page_size)? };
    if store.pages() > 0 {
        damage(path)?;
    }
    Ok(store)
}

/// Refuses what is taken for an image because it is damaged, or by mistake: nothing that is made of pages is text.
fn damage(path: &Path) -> Result<(), StoreError> {
    let head = head(path, PAGE_SIZE as u64).map_err(|e| StoreError::read(path, e))?;
    if was_database(&head) {
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
pub(crate) fn pages_of_file(path: &Path, page_size: usize) -> Result<Store, StoreError> {
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

// `SQLite` databases (sqlite.org/fileformat2.html, The Database Header).

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether the file begins like a database.
pub(crate) fn is_database(path: &Path) -> Result<bool, StoreError> {
    let mut head = [0; 16];
    let mut file = File::open(path).map_err(|e| StoreError::read(path, e))?;
    Ok(file.read_exact(&mut head).is_ok() && head == *MAGIC)
}

/// Whether the file was a database whose beginning is damaged: its page size and the three bytes that are the same in
/// every database stand where they should.
pub(crate) fn was_database(head: &[u8]) -> bool {
    let own = head.get(16..18).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    let is_size = own == 1 || own.is_power_of_two() && own >= 512;
    is_size && head.get(21..24) == Some(&[64, 32, 32])
}

/// Opens a database that nobody is in the middle of changing.
pub(crate) fn open_database(path: &Path, unit: Option<usize>) -> Result<Store, StoreError> {
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
        ..pages_of_file(path, unit.unwrap_or(own))?
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

// A store made of a seed: the same on every machine, for runs without data of one's own.

/// Files that the pages are spread over.
const FILES: u64 = 8;

pub(crate) fn store(seed: u64, bytes: u64, page_size: usize) -> Store {
    let pages = (bytes / page_size as u64).max(2 * FILES);
    let file = |i: u64| PageFile {
        path: None,
        name: format!("synthetic/{}", 16_384 + i),
        first: Position { database: 5, relation: 16_384 + i as u32, ..Position::default() },
        pages: pages / FILES + u64::from(i < pages % FILES),
    };
    Store {
        kind: Kind::Synthetic,
        page_size,
        own_page_size: page_size,
        files: (0..FILES).map(file).collect(),
        facts: vec![format!("made of the seed {seed}: pages half of random bytes, half of text")],
        root: PathBuf::new(),
        checksums: None,
        left_out: 0,
        seed,
    }
}

/// A page with a header like `PostgreSQL`'s, a random half and one that repeats itself.
pub(crate) fn fill(seed: u64, file: usize, page: u64, to: &mut [u8]) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((file as u64) << 40 | page);
    let half = to.len() / 2;
    rng.fill_bytes(&mut to[..half]);
    let text = b"the quick brown fox jumps over the lazy dog; ";
    to[half..].iter_mut().zip(text.iter().cycle()).for_each(|(b, t)| *b = *t);
    let lsn = 0x0100_0000 + (page << 13 | (file as u64) << 8);
    to[..4].copy_from_slice(&((lsn >> 32) as u32).to_le_bytes());
    to[4..8].copy_from_slice(&(lsn as u32).to_le_bytes());
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

    #[test]
    fn the_same_seed_gives_the_same_pages_and_another_one_others() {
        let page = |seed, file, page| {
            let mut bytes = vec![0; 4096];
            fill(seed, file, page, &mut bytes);
            bytes
        };
        assert_eq!(page(1, 2, 3), page(1, 2, 3));
        assert_ne!(page(1, 2, 3), page(2, 2, 3));
        assert_ne!(page(1, 2, 3), page(1, 3, 3));
    }

    #[test]
    fn all_bytes_asked_for_are_there() {
        assert_eq!(store(1, 100 * 8192, 8192).pages(), 100);
    }
}
