//! Writing record files, and why one cannot be read or written.

use crate::packed::pack;
use crate::write::{writable, write_file};
use crate::{FORMAT_VERSION, Record, to_json};
use std::io;
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
    /// The journal of a run cannot be gone on from.
    #[error("cannot use journal '{path}': {why}")]
    Journal {
        /// Which file.
        path: PathBuf,
        /// What is wrong, on one line.
        why: String,
    },
    /// Another process has the record.
    #[error("another run is writing to '{record}': wait for it, or name another file")]
    Held {
        /// The record.
        record: PathBuf,
    },
    /// A run to the same record was cut short.
    #[error(
        "a run to '{record}' was cut short: resume it with `--resume {record}`, or remove '{path}'"
    )]
    CutShort {
        /// The record.
        record: PathBuf,
        /// The journal.
        path: PathBuf,
    },
}

/// Whether a record could be written to this path: its directory must take new files. What is no
/// regular file is written to as it stands, so there the directory does not matter.
///
/// # Errors
/// [`RecordError::Write`] with the system's reason.
pub fn check_writable(path: &Path) -> Result<(), RecordError> {
    writable(path).map_err(|source| RecordError::Write { path: path.to_owned(), source })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use crate::sample;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

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
