//! A copy of a store whose pages have been encrypted and decrypted: everything else as it was.

use record::at_rest::store::{Kind, PageRef, Store};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

/// A copy under construction, which nobody else can read: its place is a directory or file of its own beside the one
/// that it is for, and becomes that one when all pages are in it. Its page files begin empty, so that no page gets
/// there but by decryption.
pub(super) struct Copy {
    to: PathBuf,
    place: PathBuf,
    whole: bool,
    open: Option<(String, File)>,
}

/// A part of a copy is no use to anybody: a resumed run begins another.
impl Drop for Copy {
    fn drop(&mut self) {
        // Renamed away where it is whole.
        let _ = remove_own(&self.place);
    }
}

impl Copy {
    /// Begins a copy of a directory's or a file's store. What a run that was killed left of the same copy is removed.
    pub(super) fn begin(store: &Store, to: &Path) -> Result<Self, String> {
        if to.symlink_metadata().is_ok() {
            return Err(format!("'{}' exists already: name a new path", to.display()));
        }
        let mut place = to.as_os_str().to_owned();
        place.push(".ciphermark-copy");
        let place = PathBuf::from(place);
        let failed = |e: io::Error| format!("cannot write '{}': {e}", place.display());
        remove_own(&place).map_err(failed)?;
        let mut copy = Self { to: to.to_owned(), place: place.clone(), whole: false, open: None };
        copy.whole = match store.kind() {
            Kind::Postgres => {
                let pages: Vec<&str> = store.file_names().collect();
                if pages.iter().any(|name| name.starts_with("pg_tblspc/")) {
                    return Err(
                        "the store has tablespaces elsewhere, which a copy would share".into()
                    );
                }
                directory(store.root(), &place, "", &pages).map_err(failed)?;
                true
            }
            Kind::Sqlite | Kind::Image => {
                let file = copied(store.root(), &place).map_err(failed)?;
                file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed)?;
                let whole = store.pages() * store.page_size() as u64;
                // The pages go, a rest that is no whole page stays.
                let zeros = vec![0; store.page_size()];
                for at in (0..whole).step_by(store.page_size()) {
                    file.write_all_at(&zeros, at).map_err(failed)?;
                }
                false
            }
            Kind::Synthetic => return Err("a store made of a seed has no files to copy".into()),
        };
        Ok(copy)
    }

    /// Gives the copy its name and the store's own modes: every page is in it.
    pub(super) fn finish(self, store: &Store) -> Result<(), String> {
        let failed = |e: io::Error| format!("cannot write '{}': {e}", self.to.display());
        let mode = fs::metadata(store.root()).map_err(failed)?.permissions();
        fs::set_permissions(&self.place, mode).map_err(failed)?;
        let (from, to) = (&self.place, &self.to);
        let renamed = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE);
        match renamed {
            Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_err() => {
                fs::rename(from, to).map_err(failed)
            }
            other => other.map_err(|e| failed(e.into())),
        }
    }

    /// Writes one page.
    pub(super) fn put(&mut self, store: &Store, page: PageRef, bytes: &[u8]) -> Result<(), String> {
        let (name, offset) = store.place_in_file(page);
        let path = if self.whole { self.place.join(name) } else { self.place.clone() };
        let failed = |e: io::Error| format!("cannot write '{}': {e}", path.display());
        if self.open.as_ref().is_none_or(|(open, _)| open != name) {
            let file = File::options().write(true).open(&path).map_err(failed)?;
            self.open = Some((name.to_owned(), file));
        }
        let (_, file) = self.open.as_ref().expect("it was just opened");
        file.write_all_at(bytes, offset).map_err(failed)
    }
}

/// Removes what is there and is this user's own.
fn remove_own(place: &Path) -> io::Result<()> {
    let Ok(found) = place.symlink_metadata() else { return Ok(()) };
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("somebody else has made it"));
    }
    if found.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) }
}

/// Copies a directory with its modes; of files with pages only the names. `to` itself stays closed to others.
fn directory(from: &Path, to: &Path, name: &str, pages: &[&str]) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let inner = if name.is_empty() { file.clone() } else { format!("{name}/{file}") };
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            directory(&source, &target, &inner, pages)?;
            fs::set_permissions(&target, fs::metadata(&source)?.permissions())?;
        } else if kind.is_file() && pages.contains(&&*inner) {
            created(&target)?.set_permissions(fs::metadata(&source)?.permissions())?;
        } else if kind.is_file() {
            copied(&source, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        }
    }
    Ok(())
}

/// A new file, for nobody else.
fn created(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// A new file with another's content, and then with its mode.
fn copied(from: &Path, to: &Path) -> io::Result<File> {
    let (mut source, mut target) = (File::open(from)?, created(to)?);
    io::copy(&mut source, &mut target)?;
    target.set_permissions(source.metadata()?.permissions())?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    fn store(directory: &Path) -> Store {
        let path = directory.join("image");
        fs::write(&path, vec![7; 3 * 4096 + 5]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        Store::open(&path, Some(4096)).unwrap()
    }

    #[test]
    fn a_copy_is_nobody_elses_until_it_is_whole_and_has_its_name_only_then() {
        let directory = tempfile::tempdir().unwrap();
        let (store, to) = (store(directory.path()), directory.path().join("copy"));
        let mut copy = Copy::begin(&store, &to).unwrap();
        assert_eq!((mode(&copy.place), to.exists()), (0o600, false));
        for page in store.all() {
            copy.put(&store, page, &[7; 4096]).unwrap();
        }
        assert_eq!((mode(&copy.place), to.exists()), (0o600, false));
        copy.finish(&store).unwrap();
        assert_eq!((mode(&to), fs::read(&to).unwrap()), (0o640, vec![7; 3 * 4096 + 5]));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_part_of_a_copy_is_removed_and_what_a_killed_run_left_is_in_nobodys_way() {
        let directory = tempfile::tempdir().unwrap();
        let (store, to) = (store(directory.path()), directory.path().join("copy"));
        std::mem::forget(Copy::begin(&store, &to).unwrap());
        drop(Copy::begin(&store, &to).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        // A link that leads nowhere would have been followed.
        std::os::unix::fs::symlink(directory.path().join("victim"), &to).unwrap();
        let why = Copy::begin(&store, &to).map(drop).unwrap_err();
        assert!(why.contains("exists already"), "{why}");
        assert!(!directory.path().join("victim").exists());
    }

    #[test]
    fn a_directory_is_closed_before_anything_is_in_it_and_files_have_their_modes() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("base")).unwrap();
        for (name, bits) in [("base/1", 0o600), ("base/2", 0o644), ("version", 0o640)] {
            fs::write(from.join(name), name).unwrap();
            fs::set_permissions(from.join(name), fs::Permissions::from_mode(bits)).unwrap();
        }
        fs::set_permissions(&from, fs::Permissions::from_mode(0o755)).unwrap();
        super::directory(&from, &to, "", &["base/1"]).unwrap();
        assert_eq!(mode(&to), 0o700, "until the copy is whole");
        for (name, bits, text) in
            [("base/1", 0o600, ""), ("base/2", 0o644, "base/2"), ("version", 0o640, "version")]
        {
            let path = to.join(name);
            assert_eq!((mode(&path), &*fs::read_to_string(path).unwrap()), (bits, text), "{name}");
        }
    }
}
