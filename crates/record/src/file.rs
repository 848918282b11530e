//! Writing record files, and why one cannot be read or written.

use crate::packed::pack;
use crate::{FORMAT_VERSION, Record, to_json};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be opened or read.
    #[error("cannot read record '{path}': {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write record '{path}': {source}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The text is no record.
    #[error("'{origin}' is not a ciphermark record: {why}")]
    Malformed {
        /// Where the text came from.
        origin: String,
        /// What is wrong, on one line.
        why: String,
    },
    /// The record is of a version that this program does not read.
    #[error(
        "'{origin}' has record format {found}; this program reads {FORMAT_VERSION} and its minor versions"
    )]
    Version {
        /// Where the text came from.
        origin: String,
        /// Its version.
        found: String,
    },
}

/// Whether a record could be written to this path: its directory must take new files. What is no
/// regular file is written to as it stands, so there the directory does not matter.
///
/// # Errors
/// [`RecordError::Write`] with the system's reason.
pub fn check_writable(path: &Path) -> Result<(), RecordError> {
    let checked = match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(old) if !old.is_file() => Ok(()),
        // Through links, as saving does.
        Ok(_) => path.canonicalize().and_then(|target| takes_new_files(directory_of(&target))),
        Err(_) => takes_new_files(directory_of(path)),
    };
    checked.map_err(|source| RecordError::Write { path: path.to_owned(), source })
}

fn takes_new_files(directory: &Path) -> io::Result<()> {
    tempfile::NamedTempFile::new_in(directory).map(drop).map_err(plain)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a record, packed by gzip where the name ends in `.gz`, so that the file is at every moment either the old one or the new one whole.
/// What is no regular file (a pipe, a terminal, `/dev/stdout`) is written to as it stands.
///
/// # Errors
/// [`RecordError::Write`]; an old file is then untouched.
pub fn save(record: &Record, path: &Path) -> Result<(), RecordError> {
    let error = |source| RecordError::Write { path: path.to_owned(), source };
    let bytes = pack(path, to_json(record)).map_err(error)?;
    write_file(path, &bytes).map_err(error)
}

/// Writes a file so that it is at every moment either the old one or the new one whole. What is no
/// regular file (a pipe, a terminal, `/dev/stdout`) is written to as it stands.
///
/// # Errors
/// The system's reason; an old file is then untouched.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::metadata(path) {
        // Through links, so that a link stays one.
        Ok(old) if old.is_file() => replace(&path.canonicalize()?, bytes, old.permissions()),
        Ok(old) => write_through(path, &old, bytes),
        // What any program's new file gets; the process's mask takes bits away.
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            replace(path, bytes, Permissions::from_mode(0o666))
        }
        Err(e) => Err(e),
    }
}

fn replace(path: &Path, bytes: &[u8], permissions: Permissions) -> io::Result<()> {
    let directory = directory_of(path);
    let mut file = tempfile::Builder::new()
        .prefix(".ciphermark-")
        .permissions(permissions)
        .tempfile_in(directory)
        .map_err(plain)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    // So that the new name survives a power cut too; not every file system can do this.
    let _ = File::open(directory).and_then(|d| d.sync_all());
    Ok(())
}

/// `tempfile` adds the temporary file's path, which nobody asked for.
fn plain(error: io::Error) -> io::Error {
    error.raw_os_error().map_or(io::Error::from(error.kind()), io::Error::from_raw_os_error)
}

fn write_through(path: &Path, old: &Metadata, bytes: &[u8]) -> io::Result<()> {
    if old.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    File::options().write(true).open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::{from_json, load};

    #[test]
    fn a_record_survives_writing_and_reading() {
        let record = sample::record();
        assert_eq!(from_json(&to_json(&record), "r.json").unwrap(), record);
        let directory = tempfile::tempdir().unwrap();
        for name in ["r.json", "r.json.gz"] {
            let path = directory.path().join(name);
            save(&record, &path).unwrap();
            assert_eq!(load(&path).unwrap(), record);
        }
    }

    #[test]
    fn a_file_in_a_missing_or_unwritable_place_is_refused_by_name() {
        for path in ["/no/such/directory/r.json", "/proc/r.json"] {
            let why = save(&sample::record(), Path::new(path)).unwrap_err().to_string();
            assert!(why.starts_with(&format!("cannot write record '{path}': ")), "{why}");
            assert!(!why.contains(".ciphermark-"), "{why}");
            assert_eq!(check_writable(Path::new(path)).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn whether_a_record_can_be_written_is_known_before_and_leaves_no_trace() {
        let directory = tempfile::tempdir().unwrap();
        check_writable(&directory.path().join("r.json")).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        check_writable(Path::new("/dev/null")).unwrap();
        let why = check_writable(directory.path()).unwrap_err().to_string();
        assert!(why.ends_with("is a directory"), "{why}");
    }

    #[test]
    fn a_save_that_fails_leaves_everything_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let taken = directory.path().join("r.json");
        std::fs::create_dir(&taken).unwrap();
        std::fs::write(taken.join("inside"), "old").unwrap();
        let why = save(&sample::record(), &taken).unwrap_err().to_string();
        assert!(why.contains("is a directory"), "{why}");
        assert_eq!(std::fs::read_to_string(taken.join("inside")).unwrap(), "old");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_old_file_is_kept_when_its_directory_is_not_writable() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(directory.path(), Permissions::from_mode(0o555)).unwrap();
        let saved = save(&sample::record(), &path);
        std::fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        match saved {
            // A privileged user may write everywhere: then the new file must be there whole.
            Ok(()) => assert_eq!(text, to_json(&sample::record())),
            Err(e) => {
                assert!(e.to_string().contains("r.json"), "{e}");
                assert_eq!(text, "old");
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_is_readable_by_others_and_an_old_one_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        let (new, plain) = (directory.path().join("new.json"), directory.path().join("plain"));
        save(&sample::record(), &new).unwrap();
        std::fs::write(&plain, "").unwrap();
        assert_eq!(mode(&new), mode(&plain));
        std::fs::set_permissions(&new, Permissions::from_mode(0o640)).unwrap();
        save(&sample::record(), &new).unwrap();
        assert_eq!(mode(&new), 0o640);
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_stays_a_device() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        save(&sample::record(), &link).unwrap();
        assert!(link.is_symlink());
        assert_eq!(load(&file).unwrap(), sample::record());

        let null = directory.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        save(&sample::record(), &null).unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
