//! The records themselves, compressed, by the SHA-256 of what they unpack to: files in a directory beside the
//! database, or a table of it.

use crate::RecordError;
use crate::archive::database::{Database, is_sha256};
use flate2::Compression;
use flate2::read::{GzEncoder, MultiGzDecoder};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Most bytes of a record's text, as `record` has it.
const MOST_BYTES: u64 = 1 << 30;
/// Most bytes of a field: many times what a record of all libraries has.
const MOST_FIELD_BYTES: u64 = 16 << 20;

/// Where records are kept.
#[derive(Debug)]
pub(crate) enum Objects {
    /// `STORE.objects/ab/ab….json.gz`
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "the other database keeps them")
    )]
    Directory(PathBuf),
    /// The table `object`, which takes part in transactions.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a server keeps them so"))]
    Table,
}

/// Why a record cannot be kept or read.
pub(crate) enum Trouble {
    File(PathBuf, io::Error),
    Database(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Database(why)
    }
}

impl Objects {
    /// The file of a record. The hash was checked where it was read ([`Row::sha256`](crate::archive::database::Row::sha256)).
    pub(crate) fn path(&self, sha256: &str) -> Option<PathBuf> {
        let Self::Directory(directory) = self else { return None };
        assert!(is_sha256(sha256), "a hash is 64 digits");
        Some(directory.join(&sha256[..2]).join(format!("{sha256}.json.gz")))
    }

    /// Keeps a compressed record. A file is written whole under another name, then renamed.
    pub(crate) fn put(
        &self,
        db: &mut dyn Database,
        sha256: &str,
        packed: &[u8],
    ) -> Result<(), Trouble> {
        match self.path(sha256) {
            Some(path) if path.exists() => Ok(()),
            Some(path) => write(&path, packed).map_err(|e| Trouble::File(path, e)),
            None => {
                let sql = "INSERT INTO object (sha256, content) VALUES ($1, $2)";
                db.run(sql, &[sha256.into(), packed.to_vec().into()])?;
                Ok(())
            }
        }
    }

    /// A compressed record; `None` if it is not there.
    pub(crate) fn get(
        &self,
        db: &mut dyn Database,
        sha256: &str,
    ) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(path) = self.path(sha256) else {
            let rows = db.rows("SELECT content FROM object WHERE sha256 = $1", &[sha256.into()])?;
            return Ok(rows.first().map(|row| row.bytes(0).map(<[u8]>::to_vec)).transpose()?);
        };
        match crate::bytes(&path) {
            Ok(packed) => Ok(Some(packed)),
            Err(RecordError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(RecordError::Read { source, .. }) => Err(Trouble::File(path, source)),
            Err(other) => Err(Trouble::Database(other.to_string())),
        }
    }

    /// Deletes a record that no row names any more.
    pub(crate) fn delete(&self, db: &mut dyn Database, sha256: &str) -> Result<(), Trouble> {
        let Some(path) = self.path(sha256) else {
            db.run("DELETE FROM object WHERE sha256 = $1", &[sha256.into()])?;
            return Ok(());
        };
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Trouble::File(path, e)),
            _ => Ok(()),
        }
    }

    /// The names (SHA-256) of all files, those of unfinished writes among them under names of their own.
    pub(crate) fn files(&self) -> Result<Vec<(String, PathBuf)>, Trouble> {
        let Self::Directory(directory) = self else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for folder in entries(directory)? {
            for path in entries(&folder)? {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((name.trim_end_matches(".json.gz").to_owned(), path));
            }
        }
        Ok(found)
    }
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let trouble = |e| Trouble::File(directory.to_owned(), e);
    match fs::read_dir(directory) {
        Ok(all) => all.map(|entry| entry.map(|e| e.path()).map_err(trouble)).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(trouble(e)),
    }
}

fn write(path: &Path, packed: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    // As any program makes files: the process's mask says who reads it.
    let mode = fs::Permissions::from_mode(0o666);
    let mut new = tempfile::Builder::new();
    let mut file = new.prefix(".adding-").permissions(mode).tempfile_in(directory)?;
    file.write_all(packed)?;
    file.as_file().sync_all()?;
    let file = file.persist(path).map_err(|e| e.error)?;
    drop(file);
    fs::File::open(directory)?.sync_all()
}

/// Packs bytes by gzip, quickly: most of them are digits, which hardly pack better at higher levels.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::new(3)).read_to_end(&mut packed).expect("memory takes all");
    packed
}

/// Unpacks what [`pack`] packed, as much of it as a record may have: a store may be anybody's.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    unpack_at_most(packed, MOST_BYTES)
}

/// Unpacks a field, as much of it as all but the samples of a record may have.
pub(crate) fn unpack_field(packed: &[u8]) -> Result<Vec<u8>, String> {
    unpack_at_most(packed, MOST_FIELD_BYTES)
}

fn unpack_at_most(packed: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let unpacked = MultiGzDecoder::new(packed).take(most + 1).read_to_end(&mut bytes);
    unpacked.map_err(|e| e.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it is more than {} MiB unpacked", most >> 20));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_unpacks_to_more_than_a_record_may_have_is_refused() {
        let packed = pack(&vec![0; 4 << 20]);
        assert!(packed.len() < 1 << 16);
        assert_eq!(unpack_at_most(&packed, 4 << 20).unwrap().len(), 4 << 20);
        let why = unpack_at_most(&packed, (4 << 20) - 1).unwrap_err();
        assert_eq!(why, "it is more than 3 MiB unpacked");
    }
}
