//! What a shared object depends on and asks the loader to look for outside of the system's directories.

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, ReadCache, ReadRef};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// As the loader takes them from beneath a directory (ld.so(8), "Hardware capabilities").
const VARIANTS: [&str; 4] =
    ["", "glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"];

/// Objects deeper than this one are not looked for: nobody nests so deep.
const MOST: usize = 256;

/// The objects that the library and its dependencies name and that lie in directories that they, or
/// `LD_LIBRARY_PATH`, name. Only files that are ELF objects: nobody is shown another by naming it.
pub(crate) fn objects(library: &Path) -> BTreeSet<PathBuf> {
    let searched: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
        .map(|v| std::env::split_paths(&v).filter(|p| p.is_absolute()).collect())
        .unwrap_or_default();
    let (mut found, mut open) = (BTreeSet::new(), vec![library.to_owned()]);
    while let Some(object) = open.pop() {
        if found.len() > MOST {
            break;
        }
        for path in dependencies(&object, &searched) {
            if found.insert(path.clone()) {
                open.push(path);
            }
        }
    }
    found
}

fn dependencies(object: &Path, searched: &[PathBuf]) -> Vec<PathBuf> {
    let Some(wishes) = std::fs::File::open(object).ok().and_then(Wishes::of) else {
        return Vec::new();
    };
    let origin = object.parent().unwrap_or(Path::new("/"));
    let directories: Vec<PathBuf> =
        wishes.directories(origin).into_iter().chain(searched.iter().cloned()).collect();
    let candidates = |name: &String| {
        let name = name.clone();
        let within = |d: &PathBuf| VARIANTS.map(|v| d.join(v).join(&name));
        // A name with a slash is a path.
        let paths: Vec<PathBuf> = if name.contains('/') {
            vec![PathBuf::from(&name)]
        } else {
            directories.iter().flat_map(within).collect()
        };
        paths
    };
    wishes.needed.iter().flat_map(candidates).filter(|path| is_object(path)).collect()
}

fn is_object(path: &Path) -> bool {
    use std::io::Read as _;
    let mut magic = [0; 4];
    let is_file = path.metadata().is_ok_and(|m| m.is_file());
    let read =
        is_file && std::fs::File::open(path).is_ok_and(|mut f| f.read_exact(&mut magic).is_ok());
    read && magic == elf::ELFMAG
}

/// What an object says of its dependencies.
#[derive(Debug, Default)]
struct Wishes {
    needed: Vec<String>,
    /// `RPATH` and `RUNPATH`, as they are written.
    paths: Vec<String>,
}

impl Wishes {
    /// Reads no more of the file than is needed.
    fn of(file: std::fs::File) -> Option<Self> {
        Self::read(&ReadCache::new(file))
    }

    fn read<'a>(bytes: impl ReadRef<'a>) -> Option<Self> {
        type Header = FileHeader64<LittleEndian>;
        let endian = LittleEndian;
        let header = Header::parse(bytes).ok()?;
        let segments = header.program_headers(endian, bytes).ok()?;
        let entries: Vec<(i64, u64)> = segments
            .iter()
            .filter_map(|s| s.dynamic(endian, bytes).ok().flatten())
            .flatten()
            .map(|d| (d.d_tag(endian).0, d.d_val(endian)))
            .collect();
        let table = entries.iter().find(|(tag, _)| *tag == elf::DT_STRTAB.0)?.1;
        let strings = segments.iter().find_map(|s| {
            let within = table.checked_sub(s.p_vaddr(endian))?;
            let loaded = s.p_type(endian) == elf::PT_LOAD && within < s.p_filesz(endian);
            let at = loaded.then(|| s.p_offset(endian).checked_add(within)).flatten()?;
            bytes.read_bytes_at(at, s.p_filesz(endian) - within).ok()
        })?;
        let text = |at: u64| {
            let rest = strings.get(usize::try_from(at).ok()?..)?;
            let end = rest.iter().position(|b| *b == 0)?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        let all = |wanted: &[i64]| -> Vec<String> {
            let those = entries.iter().filter(|(tag, _)| wanted.contains(tag));
            those.filter_map(|(_, value)| text(*value)).collect()
        };
        Some(Self {
            needed: all(&[elf::DT_NEEDED.0]),
            paths: all(&[elf::DT_RPATH.0, elf::DT_RUNPATH.0]),
        })
    }

    fn directories(&self, origin: &Path) -> Vec<PathBuf> {
        let origin = origin.to_string_lossy();
        let parts = self.paths.iter().flat_map(|p| p.split(':'));
        let expanded = parts
            .map(|p| p.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin))
            .map(PathBuf::from);
        expanded.filter(|p| p.is_absolute()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_that_an_object_names_are_expanded_and_relative_ones_are_not_followed() {
        let paths = vec!["$ORIGIN/../deps:relative".to_owned(), "${ORIGIN}:/opt/x".to_owned()];
        let wishes = Wishes { needed: Vec::new(), paths };
        let found = wishes.directories(Path::new("/a/lib"));
        assert_eq!(found, ["/a/lib/../deps", "/a/lib", "/opt/x"].map(PathBuf::from));
    }

    #[test]
    fn this_program_says_what_it_needs() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let wishes = Wishes::read(&*bytes).unwrap();
        assert!(wishes.needed.iter().any(|n| n.starts_with("libc.so")), "{wishes:?}");
    }

    #[test]
    fn what_is_no_object_is_not_shown_and_bytes_without_sense_need_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let secret = directory.path().join("libsecret.so");
        std::fs::write(&secret, "secret").unwrap();
        assert!(!is_object(&secret) && !is_object(directory.path()));
        assert!(is_object(&std::env::current_exe().unwrap()));
        assert!(Wishes::read(b"\x7fELF and nothing".as_slice()).is_none());
        assert!(objects(&secret).is_empty());
    }
}
