//! What a shared object needs, as the dynamic loader would find it (ld.so(8)): read, never run. The loader's own
//! `--list` loads and runs audit modules that the object names.

use crate::elf::{MOST_BYTES, check_elf, this_machine};
use crate::tokens::expanded;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, ReadCache, ReadRef};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const ENDIAN: LittleEndian = LittleEndian;

/// No library needs as many objects.
const MOST_OBJECTS: usize = 256;
/// Most bytes of what an object tells the loader, and of the names in it.
const MOST_TABLE_BYTES: u64 = 16 << 20;
/// The largest cache known has a twentieth of this.
const MOST_CACHE_BYTES: u64 = 16 << 20;

/// What an object tells the dynamic loader.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Dynamic {
    /// The objects that are loaded with it: those that it needs, and those that it filters.
    pub needed: Vec<String>,
    /// `RPATH`, as it is written.
    pub rpath: Vec<String>,
    /// `RUNPATH`, as it is written.
    pub runpath: Vec<String>,
}

impl Dynamic {
    /// Reads no more of the file than is needed; `None` where it is no object that can be read.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        Self::read(&ReadCache::new(object_at(path)?))
    }

    pub(crate) fn read<'a>(bytes: impl ReadRef<'a>) -> Option<Self> {
        let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
        let segments = header.program_headers(ENDIAN, bytes).ok()?;
        // As the loader takes it: the last one. A table that is longer is none of a library's.
        let table = segments.iter().rfind(|s| s.p_type(ENDIAN) == elf::PT_DYNAMIC)?;
        if table.p_filesz(ENDIAN) > MOST_TABLE_BYTES {
            return None;
        }
        let entries = table.dynamic(ENDIAN, bytes).ok()??;
        let entries: Vec<(i64, u64)> =
            entries.iter().map(|d| (d.d_tag(ENDIAN).0, d.d_val(ENDIAN))).collect();
        let table = entries.iter().find(|(tag, _)| *tag == elf::DT_STRTAB.0)?.1;
        let strings = segments.iter().find_map(|s| {
            let within = table.checked_sub(s.p_vaddr(ENDIAN))?;
            let loaded = s.p_type(ENDIAN) == elf::PT_LOAD && within < s.p_filesz(ENDIAN);
            let at = loaded.then(|| s.p_offset(ENDIAN).checked_add(within)).flatten()?;
            let length = (s.p_filesz(ENDIAN) - within).min(MOST_TABLE_BYTES);
            bytes.read_bytes_at(at, length).ok()
        })?;
        let text = |at: u64| {
            let rest = strings.get(usize::try_from(at).ok()?..)?;
            let end = rest.iter().position(|b| *b == 0)?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        let all = |wanted: &[elf::DynamicTag]| -> Vec<String> {
            let those = entries.iter().filter(|(tag, _)| wanted.iter().any(|w| w.0 == *tag));
            those.take(MOST_OBJECTS).filter_map(|(_, value)| text(*value)).collect()
        };
        Some(Self {
            needed: all(&[elf::DT_NEEDED, elf::DT_AUXILIARY, elf::DT_FILTER]),
            rpath: all(&[elf::DT_RPATH]),
            runpath: all(&[elf::DT_RUNPATH]),
        })
    }

    /// `RPATH` and `RUNPATH` as absolute directories, for an object in the directory `origin`.
    #[must_use]
    pub fn directories(&self, origin: &Path) -> Vec<PathBuf> {
        [&self.rpath, &self.runpath].into_iter().flat_map(|of| each(of, origin)).flatten().collect()
    }
}

/// The absolute directories of a path, each expanded.
fn each(paths: &[String], origin: &Path) -> impl Iterator<Item = Result<PathBuf, String>> {
    let parts = paths.iter().flat_map(|p| p.split(':'));
    let expanded = parts.map(|part| expanded(part, origin).map(PathBuf::from));
    expanded.filter(|path| !path.as_ref().is_ok_and(|path| path.is_relative()))
}

/// An object for this machine, opened; nothing else is, and a pipe without a writer does not make it wait.
fn object_at(path: &Path) -> Option<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let mut head = [0; 20];
    if !file.metadata().ok()?.is_file() || file.read_exact(&mut head).is_err() {
        return None;
    }
    let is_64 = head[4] == elf::ELFCLASS64.0 && head[5] == elf::ELFDATA2LSB.0;
    let machine = u16::from_le_bytes([head[18], head[19]]);
    (head.starts_with(&elf::ELFMAG) && is_64 && machine == this_machine().0).then_some(file)
}

/// Whether the loader would take this file for an object.
#[must_use]
pub fn is_object(path: &Path) -> bool {
    object_at(path).is_some()
}

/// Directories that the environment gives the loader.
#[must_use]
pub fn library_path() -> Vec<PathBuf> {
    let value = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&value).filter(|p| p.is_absolute()).collect()
}

/// The library's dependencies by the names that ask for them, in the loader's order of search. Those that `skip` names are left out
/// with what they need; what is not found is the loader's to report.
///
/// # Errors
/// In one line: one of them is no object that may be loaded ([`check_elf`]), or there is no end to them.
pub fn dependencies(
    library: &Path,
    skip: fn(&Path) -> bool,
) -> Result<BTreeMap<String, PathBuf>, String> {
    let system = System::here();
    let (mut found, mut bytes) = (BTreeMap::new(), 0);
    let (mut seen, mut open) = (BTreeMap::new(), VecDeque::new());
    open.push_back((library.to_owned(), Vec::new()));
    while let Some((object, inherited)) = open.pop_front() {
        let Some(dynamic) = Dynamic::of(&object) else { continue };
        let origin = object.parent().unwrap_or(Path::new("/"));
        let all = |paths: &[String]| -> Result<Vec<PathBuf>, String> {
            each(paths, origin).collect::<Result<_, _>>().map_err(|why| of(&object, &why))
        };
        let mut rpath = all(&dynamic.rpath)?;
        // Where there is a RUNPATH the object's own RPATH does not count, and nobody's before it.
        if !dynamic.runpath.is_empty() {
            rpath.clear();
        }
        let handed_on = [rpath, inherited].concat();
        let first = if dynamic.runpath.is_empty() { &handed_on[..] } else { &[] };
        let runpath = all(&dynamic.runpath)?;
        for name in dynamic.needed {
            let meant = expanded(&name, origin).map_err(|why| of(&object, &why))?;
            let before = seen.get(&name);
            if skip(Path::new(&meant)) || before == Some(&meant) {
                continue;
            }
            if before.is_some() {
                return Err(of(&object, &format!("needs '{name}', as another does elsewhere")));
            }
            seen.insert(name.clone(), meant.clone());
            let Some(path) = system.find(&meant, first, &runpath).filter(|p| !skip(p)) else {
                continue;
            };
            check_elf(&path).map_err(|why| of(&path, &why))?;
            bytes += path.metadata().map_or(0, |m| m.len());
            if found.len() == MOST_OBJECTS || bytes > MOST_BYTES {
                return Err(format!(
                    "it needs more than {MOST_OBJECTS} objects, or more than 1 GiB of them"
                ));
            }
            open.push_back((path.clone(), handed_on.clone()));
            found.insert(name, path);
        }
    }
    Ok(found)
}

fn of(object: &Path, why: &str) -> String {
    format!("'{}' {why}", object.display())
}

/// Where the loader looks without being told by an object.
struct System {
    library_path: Vec<PathBuf>,
    cache: BTreeMap<String, Vec<PathBuf>>,
    defaults: Vec<PathBuf>,
    /// Subdirectories that come before each directory itself, the best first.
    variants: Vec<&'static str>,
}

impl System {
    fn here() -> Self {
        let mut bytes = Vec::new();
        if let Ok(file) = File::open("/etc/ld.so.cache") {
            // A part of it is no worse than none.
            let _ = file.take(MOST_CACHE_BYTES).read_to_end(&mut bytes);
        }
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let defaults = ["/lib", "/usr/lib"].map(|d| Path::new(d).join(&triplet)).into_iter();
        let more = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from);
        Self {
            library_path: library_path(),
            cache: cached(&bytes),
            defaults: defaults.chain(more).collect(),
            variants: variants(),
        }
    }

    fn find(&self, name: &str, rpath: &[PathBuf], runpath: &[PathBuf]) -> Option<PathBuf> {
        // A name with a slash is a path.
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| is_object(path));
        }
        let told = rpath.iter().chain(&self.library_path).chain(runpath);
        self.within(told, name)
            .or_else(|| self.of_cache(name))
            .or_else(|| self.within(self.defaults.iter(), name))
    }

    fn within<'a>(
        &self,
        directories: impl Iterator<Item = &'a PathBuf>,
        name: &str,
    ) -> Option<PathBuf> {
        let each = |d: &'a PathBuf| {
            let variants = self.variants.iter().map(move |v| d.join("glibc-hwcaps").join(v));
            variants.chain([d.clone()]).map(|d| d.join(name))
        };
        directories.flat_map(each).find(|path| is_object(path))
    }

    /// The best of those for this CPU: the plain ones are the last.
    fn of_cache(&self, name: &str) -> Option<PathBuf> {
        let rank = |path: &Path| match variant_of(path) {
            None => Some(self.variants.len()),
            Some(variant) => self.variants.iter().position(|v| *v == variant),
        };
        let all = self.cache.get(name)?.iter().filter(|path| is_object(path));
        all.filter_map(|path| Some((rank(path)?, path)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, path)| path.clone())
    }
}

/// `x86-64-v3` of a file in `glibc-hwcaps/x86-64-v3`.
fn variant_of(path: &Path) -> Option<&str> {
    let directory = path.parent()?;
    let is_variant = directory.parent()?.ends_with("glibc-hwcaps");
    is_variant.then(|| directory.file_name()?.to_str()).flatten()
}

#[cfg(target_arch = "x86_64")]
fn variants() -> Vec<&'static str> {
    use std::is_x86_feature_detected as has;
    let v2 = has!("sse4.2") && has!("ssse3") && has!("popcnt") && has!("sse4.1");
    let v3 = v2 && has!("avx2") && has!("bmi1") && has!("bmi2") && has!("fma") && has!("f16c");
    let v3 = v3 && has!("lzcnt") && has!("movbe");
    let v4 = v3 && has!("avx512f") && has!("avx512bw") && has!("avx512cd");
    let v4 = v4 && has!("avx512dq") && has!("avx512vl");
    let all = [(v4, "x86-64-v4"), (v3, "x86-64-v3"), (v2, "x86-64-v2")];
    all.into_iter().filter_map(|(here, name)| here.then_some(name)).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn variants() -> Vec<&'static str> {
    Vec::new()
}

/// Paths by name, of the cache that ldconfig(8) writes (`struct cache_file_new` of glibc's dl-cache.h).
pub(crate) fn cached(bytes: &[u8]) -> BTreeMap<String, Vec<PathBuf>> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    const HEAD: usize = 48;
    const ENTRY: usize = 24;
    let mut found = BTreeMap::<String, Vec<PathBuf>>::new();
    // An older one may lie before it. Offsets count from this one's beginning.
    let Some(at) = bytes.windows(MAGIC.len()).position(|w| w == MAGIC) else { return found };
    let cache = &bytes[at..];
    let number = |at: usize| {
        let four = cache.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
    };
    let text = |at: usize| {
        let rest = cache.get(at..)?;
        let end = rest.iter().position(|b| *b == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    };
    let most = cache.len().saturating_sub(HEAD) / ENTRY;
    for entry in 0..number(MAGIC.len()).unwrap_or(0).min(most) {
        let at = HEAD + entry * ENTRY;
        let named = number(at + 4).and_then(text).zip(number(at + 8).and_then(text));
        if let Some((name, path)) = named {
            found.entry(name).or_default().push(path.into());
        }
    }
    found
}

#[cfg(test)]
#[path = "closure_tests.rs"]
mod tests;
