//! A copy of a store whose pages have been encrypted and decrypted: everything else as it was.

use at_rest::store::{Kind, PageRef, Store};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A copy under construction. Its page files begin empty, so that no page gets there but by decryption.
pub(super) struct Copy {
    to: PathBuf,
    whole: bool,
    open: Option<(String, File)>,
}

impl Copy {
    /// Begins a copy of a directory's or a file's store.
    pub(super) fn begin(store: &Store, to: &Path) -> Result<Self, String> {
        if to.exists() {
            return Err(format!("'{}' exists already: name a new path", to.display()));
        }
        let failed = |e: io::Error| format!("cannot write '{}': {e}", to.display());
        let whole = match store.kind() {
            Kind::Postgres => {
                let pages: Vec<&str> = store.file_names().collect();
                if pages.iter().any(|name| name.starts_with("pg_tblspc/")) {
                    return Err(
                        "the store has tablespaces elsewhere, which a copy would share".into()
                    );
                }
                directory(store.root(), to, "", &pages).map_err(failed)?;
                true
            }
            Kind::Sqlite | Kind::Image => {
                fs::copy(store.root(), to).map_err(failed)?;
                let whole = store.pages() * store.page_size() as u64;
                // The pages go, a rest that is no whole page stays.
                let file = File::options().write(true).open(to).map_err(failed)?;
                let zeros = vec![0; store.page_size()];
                for at in (0..whole).step_by(store.page_size()) {
                    file.write_all_at(&zeros, at).map_err(failed)?;
                }
                false
            }
            Kind::Synthetic => return Err("a store made of a seed has no files to copy".into()),
        };
        Ok(Self { to: to.to_owned(), whole, open: None })
    }

    /// Writes one page.
    pub(super) fn put(&mut self, store: &Store, page: PageRef, bytes: &[u8]) -> Result<(), String> {
        let (name, offset) = store.place_in_file(page);
        let path = if self.whole { self.to.join(name) } else { self.to.clone() };
        let failed = |e: io::Error| format!("cannot write '{}': {e}", path.display());
        if self.open.as_ref().is_none_or(|(open, _)| open != name) {
            let file = File::options().write(true).open(&path).map_err(failed)?;
            self.open = Some((name.to_owned(), file));
        }
        let (_, file) = self.open.as_ref().expect("it was just opened");
        file.write_all_at(bytes, offset).map_err(failed)
    }
}

/// Copies a directory with its modes; of files with pages only the names.
fn directory(from: &Path, to: &Path, name: &str, pages: &[&str]) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let inner = if name.is_empty() { file.clone() } else { format!("{name}/{file}") };
        let (source, target) = (entry.path(), to.join(&file));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            directory(&source, &target, &inner, pages)?;
        } else if kind.is_file() && pages.contains(&&*inner) {
            let made = File::create(&target)?;
            made.set_permissions(fs::metadata(&source)?.permissions())?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        }
    }
    let mode = fs::metadata(from)?.permissions().mode();
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
}
