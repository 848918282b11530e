//! `PostgreSQL` data directories.

use crate::at_rest::scheme::Position;
use crate::at_rest::store::{Kind, PAGE_SIZES, PageFile, Store, StoreError};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Opens a data directory whose server was stopped in order.
pub(crate) fn open(path: &Path, unit: Option<usize>) -> Result<Store, StoreError> {
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
    found.database(&path.join("global"), "global", (0, 0))?;
    found.databases(&path.join("base"), "base", 0)?;
    found.tablespaces(&path.join("pg_tblspc"))?;
    Ok(Store {
        kind: Kind::Postgres,
        page_size,
        own_page_size: own,
        files: found.files.into_values().collect(),
        facts: vec![
            format!("PostgreSQL {}", line(&version)),
            format!("system identifier {}", control.system_identifier),
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
    let is_file = fs::metadata(path).is_ok_and(|m| m.is_file());
    is_file.then(|| crate::at_rest::store::head(path, SMALL).ok())?
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
    /// Units in a whole segment file.
    segment_units: u64,
    /// By path, so that a store always has one order.
    files: BTreeMap<String, PageFile>,
    left_out: u64,
}

impl Found {
    /// A directory of databases: `base`, or a tablespace's.
    fn databases(&mut self, path: &Path, name: &str, space: u32) -> Result<(), StoreError> {
        for (entry, database) in numbered(path)? {
            self.database(&path.join(&entry), &format!("{name}/{entry}"), (space, database))?;
        }
        Ok(())
    }

    /// `pg_tblspc`: a link for each tablespace, below it one directory for each version.
    fn tablespaces(&mut self, path: &Path) -> Result<(), StoreError> {
        for (entry, space) in numbered(path)? {
            let below = path.join(&entry);
            for version in names(&below)? {
                if version.starts_with("PG_") {
                    let name = format!("pg_tblspc/{entry}/{version}");
                    self.databases(&below.join(&version), &name, space)?;
                }
            }
        }
        Ok(())
    }

    /// One database's files.
    fn database(
        &mut self,
        path: &Path,
        name: &str,
        (space, database): (u32, u32),
    ) -> Result<(), StoreError> {
        for entry in names(path)? {
            let file = path.join(&entry);
            let meta = fs::metadata(&file).map_err(|e| StoreError::read(&file, e))?;
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
            let page_file = PageFile { path: Some(file), name: name.clone(), first, pages };
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
/// What the control file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) system_identifier: u64,
    /// `PG_CONTROL_VERSION`
    pub(crate) version: u32,
    pub(crate) catalog: u32,
    pub(crate) state: u32,
    pub(crate) block_size: u32,
    /// Blocks in a segment file.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Cluster, control_file};

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
    fn a_running_or_crashed_server_is_refused() {
        let running = Cluster::new(6);
        let text = Store::open(running.path(), None).unwrap_err().to_string();
        assert!(text.contains("in production") && text.contains("pg_ctl stop"), "{text}");
        let locked = Cluster::new(1);
        locked.file("postmaster.pid", 0);
        let text = Store::open(locked.path(), None).unwrap_err().to_string();
        assert!(text.contains("postmaster.pid"), "{text}");
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
        assert!(text.contains("it has no PG_VERSION"), "{text}");
        let text = Store::open(Path::new("/dev/zero"), None).unwrap_err().to_string();
        assert!(text.contains("neither a directory nor a regular file"), "{text}");
    }

    #[test]
    fn another_directory_is_told_from_a_cluster() {
        let empty = tempfile::tempdir().unwrap();
        let text = Store::open(empty.path(), None).unwrap_err().to_string();
        assert!(text.contains("no PostgreSQL data directory"), "{text}");
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
}
