//! Writing files so that they are at every moment either the old one or the new one, whole.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What any program's new file gets; the process's mask takes bits away.
const NEW_FILE: u32 = 0o666;

/// Why a file cannot be written here; nothing is left behind by asking.
pub(crate) fn writable(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // What is no regular file is written to as it stands: its directory does not matter.
        Ok(old) if !old.is_file() => Ok(()),
        // Through links, as writing does.
        Ok(_) => path.canonicalize().and_then(|target| takes_new_files(directory_of(&target))),
        Err(_) => takes_new_files(directory_of(path)),
    }
}

fn takes_new_files(directory: &Path) -> io::Result<()> {
    // Without a name, where the file system can: a process that is killed here leaves none.
    tempfile::tempfile_in(directory).map(drop).map_err(plain)
}

pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether this open file is the one of that name.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let of = |m: Metadata| (m.dev(), m.ino());
    let (open, named) = (file.metadata().map(of), std::fs::symlink_metadata(path).map(of));
    open.is_ok_and(|open| named.is_ok_and(|named| open == named))
}

/// So that a new name survives a power cut too; not every file system can do this.
pub(crate) fn sync_directory(directory: &Path) {
    let _ = File::open(directory).and_then(|d| d.sync_all());
}

/// Writes a file so that it is at every moment either the old one or the new one whole. What is no
/// regular file (a pipe, a terminal, `/dev/stdout`) is written to as it stands.
///
/// The new one is written as `.NAME.ciphermark-new` beside the old one, forced to the disk, and
/// renamed. A process that is killed in the middle leaves that file; the next that writes to the same
/// name takes it over.
///
/// # Errors
/// The system's reason; an old file is then untouched.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::metadata(path) {
        // Through links, so that a link stays one.
        Ok(old) if old.is_file() => replace(&path.canonicalize()?, bytes, Some(old.permissions())),
        Ok(old) => write_through(path, &old, bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => replace(path, bytes, None),
        Err(e) => Err(e),
    }
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    match Fresh::beside(path)? {
        Some(fresh) => fresh.become_file(path, bytes, permissions)?,
        None => replace_by_random_name(path, bytes, permissions)?,
    }
    sync_directory(directory_of(path));
    Ok(())
}

/// A new file beside the one that it is to replace, removed unless it does.
struct Fresh {
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl Fresh {
    /// None where that name cannot be had: another process is writing it, or it is a stranger's.
    fn beside(path: &Path) -> io::Result<Option<Self>> {
        let Some(last) = path.file_name() else { return Ok(None) };
        let mut name = OsString::from(".");
        name.push(last);
        name.push(".ciphermark-new");
        let path = directory_of(path).join(name);
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(NEW_FILE)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(e) if e.raw_os_error().is_some_and(of_the_name) => return Ok(None),
            Err(e) => return Err(e),
        };
        // In a directory where others write too, the name may be a trap: a second name of a file
        // that is to be overwritten.
        let found = file.metadata()?;
        let own = found.is_file()
            && found.nlink() == 1
            && found.uid() == rustix::process::geteuid().as_raw();
        // Locked until it is renamed: a second process would write into the middle of it.
        let held = own && file.try_lock().is_ok() && is_at(&file, &path);
        // Only then it is this one's to remove.
        Ok(held.then(|| Self { path, file, renamed: false }))
    }

    fn become_file(
        mut self,
        path: &Path,
        bytes: &[u8],
        permissions: Option<Permissions>,
    ) -> io::Result<()> {
        self.file.set_len(0)?;
        if let Some(permissions) = permissions {
            self.file.set_permissions(permissions)?;
        }
        self.file.write_all(bytes)?;
        self.file.sync_all()?;
        std::fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(())
    }
}

/// Whether an error is of the name alone, so that another may do: a link, a name that is too long, a
/// file of somebody else's.
fn of_the_name(code: i32) -> bool {
    [Errno::LOOP, Errno::NAMETOOLONG, Errno::ACCESS, Errno::PERM]
        .contains(&Errno::from_raw_os_error(code))
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn replace_by_random_name(
    path: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<()> {
    let permissions = permissions.unwrap_or_else(|| Permissions::from_mode(NEW_FILE));
    let mut file = tempfile::Builder::new()
        .prefix(".ciphermark-")
        .permissions(permissions)
        .tempfile_in(directory_of(path))
        .map_err(plain)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
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

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|e| e.unwrap().file_name()).collect()
    }

    #[test]
    fn what_a_killed_process_left_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        let left = directory.path().join(".r.json.ciphermark-new");
        std::fs::write(&left, "half of a much longer rec").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["r.json"]);
    }

    #[test]
    fn a_process_that_writes_the_same_file_is_not_disturbed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        let first = Fresh::beside(&path).unwrap().unwrap();
        write_file(&path, b"second").unwrap();
        first.become_file(&path, b"first", None).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(names(directory.path()), ["r.json"]);
    }

    #[test]
    fn a_trap_under_the_new_files_name_is_not_walked_into() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        let (victim, trap) =
            (directory.path().join("victim"), directory.path().join(".r.json.ciphermark-new"));
        std::fs::write(&victim, "precious").unwrap();
        for set in
            [std::os::unix::fs::symlink, |from: &Path, to: &Path| std::fs::hard_link(from, to)]
        {
            set(&victim, &trap).unwrap();
            write_file(&path, b"new").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
            assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
            std::fs::remove_file(&trap).unwrap();
        }
    }

    #[test]
    fn a_write_that_fails_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        let fresh = Fresh::beside(&path).unwrap().unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(fresh.become_file(&path, b"new", None).is_err());
        assert_eq!(names(directory.path()), ["r.json"]);
    }
}
