//! The kinds of stores: PostgreSQL data directories, stores that are one file (raw images, SQLite databases),
//! and one that is none: pages made of a seed.

use crate::at_rest::scheme::Position;
use crate::at_rest::store::{
    IDENTITY, Kind, Listed, PAGE_SIZES, PageFile, Store, StoreError, head, regular,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Opens a data directory whose server was stopped in order.
pub(crate) fn open_cluster(path: &Path, unit: Option<usize>) -> Result<Store, StoreError> {
    let missing = |file| {
        StoreError::unfit(path, format!("is no PostgreSQL data directory: it has no {file}"))
    };
    let version = small(&path.join("PG_VERSION")).ok_or_else(|| missing("PG_VERSION"))?;
    let control_path = path.join("global/pg_control");
    let bytes = small(&control_path).ok_or_else(|| missing("global/pg_control"))?;
    let damaged = |why: String| StoreError::unfit(&control_path, format!("cannot be used: {why}"));
    let control = Control::parse(&bytes).map_err(damaged)?;
    let not_shut_down = |state: &str| {
        let why = format!(
            "was not shut down cleanly ({state}): its pages may be half written; stop the server first \
             (pg_ctl stop -m fast)"
        );
        StoreError::unfit(path, why)
    };
    if path.join("postmaster.pid").exists() {
        return Err(not_shut_down("there is a postmaster.pid"));
    }
    if !control.shut_down() {
        return Err(not_shut_down(control.state_name()));
    }
    let own = control.block_size as usize;
    if !PAGE_SIZES.contains(&own) {
        return Err(damaged(format!("pages of {own} bytes")));
    }
    let page_size = unit.unwrap_or(own);
    let segment_units = u64::from(control.segment_blocks) * own as u64 / page_size as u64;
    let mut found = Found { page_size, segment_units, ..Found::default() };
    found.database(&path.join("global"), "global", 0, 0)?;
    found.databases(&path.join("base"), "base", 0)?;
    found.tablespaces(
        &path.join("pg_tblspc"),
        &format!("PG_{}_{}", line(&version), control.catalog),
    )?;
    Ok(Store {
        kind: Kind::Postgres,
        page_size,
        own_page_size: own,
        files: found.files.into_values().collect(),
        facts: vec![
            format!("PostgreSQL {}", line(&version)),
            format!("{IDENTITY} {}", control.system_identifier),
            format!("control file version {}, catalogue {}", control.version, control.catalog),
            format!("{} ({} in pg_control)", control.state_name(), control.state),
            format!("pages of {own} bytes, segments of {} pages", control.segment_blocks),
        ],
        root: path.to_owned(),
        checksums: Some(control.checksums != 0),
        left_out: found.left_out,
        seed: 0,
    })
}

/// Most bytes that are read of files that have some hundred.
const SMALL: u64 = 64 << 10;

/// A regular file's beginning; `None` where there is no such file.
fn small(path: &Path) -> Option<Vec<u8>> {
    head(path, SMALL).ok()
}

/// The first line of a text, without what steers a terminal and with an end.
fn line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let first = text.lines().next().unwrap_or_default().trim();
    first.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[derive(Default)]
struct Found {
    page_size: usize,
    segment_units: u64,
    /// By path, so that a store always has one order.
    files: BTreeMap<String, PageFile>,
    left_out: u64,
}

impl Found {
    /// A directory of databases: `base`, or a tablespace's.
    fn databases(&mut self, path: &Path, name: &str, space: u32) -> Result<(), StoreError> {
        for (entry, database) in numbered(path)? {
            self.database(&path.join(&entry), &format!("{name}/{entry}"), space, database)?;
        }
        Ok(())
    }

    /// `pg_tblspc`: a link for each tablespace, below it one directory for each version. Others than the cluster's own are
    /// what `pg_upgrade` leaves of the cluster before.
    fn tablespaces(&mut self, path: &Path, own: &str) -> Result<(), StoreError> {
        for (entry, space) in numbered(path)? {
            let below = path.join(&entry);
            for version in names(&below)? {
                if version == own {
                    let name = format!("pg_tblspc/{entry}/{version}");
                    self.databases(&below.join(&version), &name, space)?;
                } else {
                    self.left_out += 1;
                }
            }
        }
        Ok(())
    }

    fn database(
        &mut self,
        path: &Path,
        name: &str,
        space: u32,
        database: u32,
    ) -> Result<(), StoreError> {
        for entry in names(path)? {
            let file = path.join(&entry);
            // A link may lead anywhere, and PostgreSQL makes none here.
            let meta = fs::symlink_metadata(&file).map_err(|e| StoreError::read(&file, e))?;
            let Some((relation, fork, segment)) = relation(&entry).filter(|_| meta.is_file())
            else {
                self.left_out += 1;
                continue;
            };
            if !meta.len().is_multiple_of(self.page_size as u64) {
                self.left_out += 1;
            }
            // Blocks are counted in 32 bits: a segment beyond them is none of PostgreSQL's.
            let block = u64::from(segment).checked_mul(self.segment_units);
            let Some(block) = block.and_then(|block| u32::try_from(block).ok()) else {
                self.left_out += 1;
                continue;
            };
            let first = Position { space, database, relation, fork, block, version: 0 };
            let name = format!("{name}/{entry}");
            let pages = meta.len() / self.page_size as u64;
            let listed = Some(Listed::new(file, &meta));
            let page_file = PageFile { listed, name: name.clone(), first, pages };
            if pages > 0 {
                self.files.insert(name, page_file);
            }
        }
        Ok(())
    }
}

/// Relation, fork and segment of a file's name: `16384`, `16384_fsm`, `16384_vm.1`.
fn relation(name: &str) -> Option<(u32, u8, u32)> {
    let (stem, segment) = match name.split_once('.') {
        Some((stem, segment)) => (stem, number(segment)?),
        None => (name, 0),
    };
    let (relation, fork) = match stem.split_once('_') {
        Some((relation, "fsm")) => (relation, 1),
        Some((relation, "vm")) => (relation, 2),
        Some((relation, "init")) => (relation, 3),
        Some(_) => return None,
        None => (stem, 0),
    };
    Some((number(relation)?, fork, segment))
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Directories named by a number; none where there is no such directory.
fn numbered(path: &Path) -> Result<Vec<(String, u32)>, StoreError> {
    let named = names(path)?.into_iter();
    Ok(named.filter_map(|n| number(&n).map(|id| (n, id))).collect())
}

fn names(path: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::read(path, e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| StoreError::read(path, e))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

// `global/pg_control`: whether a cluster was shut down, how large its pages are, whether they carry
// checksums.
//
// The file's layout changes between major versions, so what is wanted is found by what does not: the
// beginning, and the number that is there to be recognised (`ControlFileData.floatFormat`, 1234567.0,
// src/include/catalog/pg_control.h of the `PostgreSQL` sources), with the file's CRC-32C as proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) system_identifier: u64,
    /// `PG_CONTROL_VERSION`
    pub(crate) version: u32,
    pub(crate) catalog: u32,
    pub(crate) state: u32,
    pub(crate) block_size: u32,
    pub(crate) segment_blocks: u32,
    /// `data_checksum_version`: 0 without checksums.
    pub(crate) checksums: u32,
}

/// `FLOATFORMAT_VALUE`
const FLOAT: f64 = 1_234_567.0;

/// From the end of `data_checksum_version` to the CRC: 32 bytes of `mock_authentication_nonce`, with a
/// byte and its padding before them from version 18 on, and the authentication nonce's absence never.
const TO_CRC: [usize; 2] = [32, 36];

/// `DB_SHUTDOWNED`
const SHUT_DOWN: u32 = 1;
/// `DB_SHUTDOWNED_IN_RECOVERY`: a standby that was shut down.
const SHUT_DOWN_IN_RECOVERY: u32 = 2;

impl Control {
    /// Reads it; else what is wrong, in a few words.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let word =
            |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let float = FLOAT.to_le_bytes();
        let at = (32..bytes.len().saturating_sub(8))
            .step_by(8)
            .find(|at| bytes[*at..*at + 8] == float)
            .ok_or("no control file of a known layout (of a machine of another byte order?)")?;
        let after = |offset: usize| word(at + offset).ok_or("the control file is too short");
        let end = at + 48;
        let crc_fits = TO_CRC.iter().any(|gap| {
            let crc_at = end + gap;
            word(crc_at).is_some_and(|crc| crc32c::crc32c(&bytes[..crc_at]) == crc)
        });
        if !crc_fits {
            return Err("its CRC does not fit: the control file is damaged".into());
        }
        let low = u64::from(word(0).ok_or("the control file is empty")?);
        let high = u64::from(word(4).ok_or("the control file is empty")?);
        Ok(Self {
            system_identifier: high << 32 | low,
            version: word(8).unwrap_or(0),
            catalog: word(12).unwrap_or(0),
            state: word(16).unwrap_or(0),
            block_size: after(8)?,
            segment_blocks: after(12)?,
            checksums: after(44)?,
        })
    }

    /// Whether the server was stopped in order.
    pub(crate) fn shut_down(&self) -> bool {
        matches!(self.state, SHUT_DOWN | SHUT_DOWN_IN_RECOVERY)
    }

    /// The state in `pg_controldata`'s words.
    pub(crate) fn state_name(&self) -> &'static str {
        match self.state {
            0 => "starting up",
            1 => "shut down",
            2 => "shut down in recovery",
            3 => "shutting down",
            4 => "in crash recovery",
            5 => "in archive recovery",
            6 => "in production",
            _ => "in an unknown state",
        }
    }
}

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
    let head = head(path, PAGE_SIZE as u64)?;
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
    let meta = fs::metadata(path).map_err(|e| StoreError::read(path, e))?;
    let bytes = meta.len();
    let listed = Some(Listed::new(path.to_owned(), &meta));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let first = Position { relation: 1, ..Position::default() };
    let pages = bytes / page_size as u64;
    Ok(Store {
        kind: Kind::Image,
        page_size,
        own_page_size: page_size,
        files: vec![PageFile { listed, name, first, pages }],
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
    Ok(head(path, MAGIC.len() as u64)? == MAGIC)
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
    regular(path)?.read_exact(&mut head).map_err(|e| StoreError::read(path, e))?;
    for (suffix, what) in [("-wal", "write-ahead log"), ("-journal", "journal")] {
        let beside = beside(path, suffix);
        // SQLite zeroes the header of a journal that it is through with and keeps (journal_mode=PERSIST).
        let is_over =
            suffix == "-journal" && self::head(&beside, 1).is_ok_and(|first| first == [0]);
        if !is_over && std::fs::metadata(&beside).is_ok_and(|m| m.len() > 0) {
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
        listed: None,
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
    use crate::sample::{Cluster, control_file};
    use base::text::fixtures::says;

    #[test]
    fn names_of_relations_have_fork_and_segment() {
        assert_eq!(relation("16384"), Some((16_384, 0, 0)));
        assert_eq!(relation("16384.2"), Some((16_384, 0, 2)));
        assert_eq!(relation("16384_vm.1"), Some((16_384, 2, 1)));
        assert_eq!(relation("1_init"), Some((1, 3, 0)));
        for other in ["PG_VERSION", "pg_filenode.map", "t3_16384", "16384.x", "", "99999999999"] {
            assert_eq!(relation(other), None, "{other}");
        }
    }

    #[test]
    fn a_cluster_has_its_relations_forks_and_segments() {
        let cluster = Cluster::new(1);
        cluster.file("base/5/16384", 3);
        cluster.file("base/5/16384.1", 2);
        cluster.file("base/5/16384_fsm", 1);
        cluster.file("base/5/PG_VERSION", 0);
        cluster.file("global/1260", 1);
        let store = Store::open(cluster.path(), None).unwrap();
        assert_eq!((store.pages(), store.files(), store.page_size()), (7, 4, 8192));
        let mut page = vec![0; 8192];
        let places: Vec<Position> =
            store.all().map(|p| store.read(p, &mut page).unwrap()).collect();
        assert!(places.iter().any(|p| (p.relation, p.block) == (16_384, 131_073)));
        assert!(places.iter().any(|p| (p.database, p.relation) == (0, 1260)));
        assert!(places.iter().any(|p| p.fork == 1));
        assert_eq!(store.checksums(), Some(true));
    }

    #[test]
    fn of_a_tablespace_that_two_versions_have_the_clusters_own_is_read() {
        let cluster = Cluster::new(1);
        for version in ["PG_14_202107181", "PG_15_0"] {
            fs::create_dir_all(cluster.path().join("pg_tblspc/16400").join(version).join("5"))
                .unwrap();
            cluster.file(&format!("pg_tblspc/16400/{version}/5/16384"), 2);
        }
        let store = Store::open(cluster.path(), None).unwrap();
        let names: Vec<&str> = store.file_names().collect();
        assert_eq!(names, ["pg_tblspc/16400/PG_15_0/5/16384"]);
        assert_eq!(
            (store.pages(), store.left_out()),
            (2, 2),
            "the control file and the other version"
        );
    }

    #[test]
    fn a_running_or_crashed_server_is_refused() {
        let running = Cluster::new(6);
        let text = Store::open(running.path(), None).unwrap_err().to_string();
        says(&text, ["in production", "pg_ctl stop"]);
        let locked = Cluster::new(1);
        locked.file("postmaster.pid", 0);
        says(Store::open(locked.path(), None).unwrap_err().to_string(), ["postmaster.pid"]);
    }

    #[test]
    fn a_segment_beyond_all_blocks_is_left_out_and_no_version_steers_a_terminal() {
        let cluster = Cluster::new(1);
        cluster.file("base/5/16384", 1);
        cluster.file("base/5/16384.4000000000", 1);
        let bell = "15\u{7}\u{1b}[31m\nmore";
        fs::write(cluster.path().join("PG_VERSION"), bell).unwrap();
        let store = Store::open(cluster.path(), Some(512)).unwrap();
        assert_eq!((store.files(), store.facts()[0].as_str()), (1, "PostgreSQL 15[31m"));
        assert!(store.left_out() >= 1);
    }

    #[test]
    fn files_without_an_end_are_not_read_to_it() {
        let cluster = Cluster::new(1);
        cluster.file("base/5/16384", 1);
        let version = cluster.path().join("PG_VERSION");
        fs::remove_file(&version).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &version).unwrap();
        let text = Store::open(cluster.path(), None).unwrap_err().to_string();
        says(&text, ["it has no PG_VERSION"]);
        let text = Store::open(Path::new("/dev/zero"), None).unwrap_err().to_string();
        says(&text, ["no regular file"]);
    }

    #[test]
    fn another_directory_is_told_from_a_cluster() {
        let empty = tempfile::tempdir().unwrap();
        let text = Store::open(empty.path(), None).unwrap_err().to_string();
        says(&text, ["no PostgreSQL data directory"]);
    }

    #[test]
    fn the_control_file_says_what_it_was_given() {
        let control = Control::parse(&control_file(1, 8192, 1)).unwrap();
        assert!(control.shut_down());
        assert_eq!((control.block_size, control.segment_blocks), (8192, 131_072));
        assert_eq!((control.checksums, control.version), (1, 1300));
        assert_eq!(control.system_identifier, 0x0102_0304_0506_0708);
        let running = Control::parse(&control_file(6, 8192, 0)).unwrap();
        assert!(!running.shut_down() && running.state_name() == "in production");
    }

    #[test]
    fn damage_is_seen_by_the_crc() {
        let mut bytes = control_file(1, 8192, 0);
        bytes[17] ^= 1;
        assert!(Control::parse(&bytes).unwrap_err().contains("CRC"));
        assert!(Control::parse(&[0; 8192]).unwrap_err().contains("layout"));
        assert!(Control::parse(&[]).is_err());
    }

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
        says(Store::open(&path, None).unwrap_err().to_string(), ["write-ahead log"]);
        std::fs::remove_file(beside(&path, "-wal")).unwrap();
        std::fs::write(beside(&path, "-journal"), b"\xd9\xd5").unwrap();
        says(Store::open(&path, None).unwrap_err().to_string(), ["has a journal beside it"]);
    }

    #[test]
    fn a_journal_that_is_kept_and_no_longer_counts_is_no_reason_to_refuse_a_database() {
        let (_keep, path) = database(4096, 3);
        std::fs::write(beside(&path, "-journal"), [0; 512]).unwrap();
        assert_eq!(Store::open(&path, None).unwrap().pages(), 3);
    }

    #[test]
    fn a_damaged_database_is_refused_and_not_taken_for_an_image() {
        let (_keep, path) = database(4096, 3);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..8192]).unwrap();
        let text = Store::open(&path, None).unwrap_err().to_string();
        says(&text, ["its header says 12288 bytes, and it has 8192"]);
        std::fs::write(&path, [&[0; 16], &whole[16..]].concat()).unwrap();
        let text = Store::open(&path, None).unwrap_err().to_string();
        says(&text, ["its first 16 bytes are not those of an SQLite database"]);
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
