//! Shared objects as the dynamic loader takes them (ld.so(8)), read and never run: whether a file can be one
//! for this machine, told before the loader tries (its own messages are terse, and a file that is cut short
//! kills the process that maps it); what it needs; `$ORIGIN`, `$LIB` and `$PLATFORM` in what it tells the
//! loader, whose own `--list` loads and runs audit modules that the object names.

use object::elf::FileHeader64;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _, ReadCache, ReadRef, elf};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

type Header = FileHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;

/// A file is read whole, several times; the largest library known has a twentieth of this.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// What has the loader run another file's code beside an object (rtld-audit(7)).
const AUDITS: [elf::DynamicTag; 2] = [elf::DT_AUDIT, elf::DT_DEPAUDIT];

/// Whether the file can be a shared object for this machine.
///
/// # Errors
/// What the file is instead, as words that follow its name: `is for aarch64, this machine is
/// x86_64`.
pub fn check_elf(path: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(path).map_err(|e| format!("cannot be read: {e}"))?;
    if metadata.is_dir() {
        return Err("is a directory, not a shared object".to_owned());
    }
    if !metadata.is_file() {
        // Reading a pipe would wait for a writer.
        return Err("is not a regular file".to_owned());
    }
    if metadata.len() > MOST_BYTES {
        return Err("has more than 1 GiB, as no library has".to_owned());
    }
    let bytes = crate::identity::whole(path).map_err(|e| format!("cannot be read: {e}"))?;
    check_bytes(&bytes)
}

/// As [`check_elf`], of a file's content.
pub fn check_bytes(bytes: &[u8]) -> Result<(), String> {
    check_format(bytes)?;
    let header = Header::parse(bytes).map_err(|_| truncated())?;
    let machine = header.e_machine(ENDIAN);
    if machine != this_machine() {
        let name = machine_name(machine);
        return Err(format!("is for {name}, this machine is {}", std::env::consts::ARCH));
    }
    match header.e_type(ENDIAN) {
        elf::ET_DYN => check_segments(header, bytes),
        elf::ET_REL => Err("is a relocatable object, not a shared one".to_owned()),
        elf::ET_EXEC => Err("is an executable, not a shared object".to_owned()),
        elf::ET_CORE => Err("is a core dump, not a shared object".to_owned()),
        other => Err(format!("is an ELF file of type {other}, not a shared object")),
    }
}

/// What the first bytes tell: kind of file, word size, byte order.
fn check_format(bytes: &[u8]) -> Result<(), String> {
    let what = if bytes.is_empty() {
        "is empty"
    } else if bytes.starts_with(b"!<arch>\n") {
        "is a static archive, not a shared object"
    } else if bytes.starts_with(b"/* GNU ld script") {
        "is a linker script, not a shared object"
    } else if !bytes.starts_with(&elf::ELFMAG) {
        "is not an ELF shared object"
    } else if bytes.len() < size_of::<Header>() {
        return Err(truncated());
    } else if bytes[4] == elf::ELFCLASS32.0 {
        "is 32-bit, this machine is 64-bit"
    } else if bytes[5] == elf::ELFDATA2MSB.0 {
        "is big-endian, this machine is little-endian"
    } else {
        return Ok(());
    };
    Err(what.to_owned())
}

fn truncated() -> String {
    "is cut short: it ends before what its ELF header announces".to_owned()
}

fn check_segments(header: &Header, bytes: &[u8]) -> Result<(), String> {
    let segments = header.program_headers(ENDIAN, bytes).map_err(|_| truncated())?;
    let is_dynamic = |s: &&elf::ProgramHeader64<LittleEndian>| s.p_type(ENDIAN) == elf::PT_DYNAMIC;
    // What is read grows with them, and a file may announce 65,535.
    if segments.iter().filter(is_dynamic).count() > 1 {
        return Err("has several dynamic segments, as no linker makes them".to_owned());
    }
    let length = bytes.len() as u64;
    for segment in segments {
        let end = segment.p_offset(ENDIAN).checked_add(segment.p_filesz(ENDIAN));
        if segment.p_type(ENDIAN) == elf::PT_LOAD && end.is_none_or(|end| end > length) {
            return Err(truncated());
        }
        let entries = segment.dynamic(ENDIAN, bytes).map_err(|_| truncated())?.unwrap_or_default();
        // Position-independent executables are of the type of shared objects; the loader refuses
        // them by this flag.
        let flags = entries.iter().find(|e| e.d_tag(ENDIAN) == elf::DT_FLAGS_1);
        if flags.is_some_and(|f| f.d_val(ENDIAN) & elf::DF_1_PIE.0 != 0) {
            return Err("is an executable, not a shared object".to_owned());
        }
        if entries.iter().any(|e| AUDITS.contains(&e.d_tag(ENDIAN))) {
            return Err(
                "names an audit module (DT_AUDIT), code that the dynamic loader runs around it: \
                        no library is measured with one"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

pub(crate) fn this_machine() -> elf::Machine {
    if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 }
}

/// A machine in the spelling of `uname -m`.
fn machine_name(machine: elf::Machine) -> String {
    let known = match machine {
        elf::EM_386 => "i686",
        elf::EM_X86_64 => "x86_64",
        elf::EM_ARM => "arm",
        elf::EM_AARCH64 => "aarch64",
        elf::EM_RISCV => "riscv64",
        elf::EM_PPC64 => "ppc64le",
        elf::EM_S390 => "s390x",
        elf::EM_LOONGARCH => "loongarch64",
        other => return format!("another machine (ELF number {other})"),
    };
    known.to_owned()
}

const LITTLE: LittleEndian = LittleEndian;

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
    pub fn of(path: &Path) -> Option<Self> {
        Self::read(&ReadCache::new(object_at(path)?))
    }

    pub(crate) fn read<'a>(bytes: impl ReadRef<'a>) -> Option<Self> {
        let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
        let segments = header.program_headers(LITTLE, bytes).ok()?;
        // As the loader takes it: the last one. A table that is longer is none of a library's.
        let table = segments.iter().rfind(|s| s.p_type(LITTLE) == elf::PT_DYNAMIC)?;
        if table.p_filesz(LITTLE) > MOST_TABLE_BYTES {
            return None;
        }
        let entries = table.dynamic(LITTLE, bytes).ok()??;
        let entries: Vec<(i64, u64)> =
            entries.iter().map(|d| (d.d_tag(LITTLE).0, d.d_val(LITTLE))).collect();
        let table = entries.iter().find(|(tag, _)| *tag == elf::DT_STRTAB.0)?.1;
        let strings = segments.iter().find_map(|s| {
            let within = table.checked_sub(s.p_vaddr(LITTLE))?;
            let loaded = s.p_type(LITTLE) == elf::PT_LOAD && within < s.p_filesz(LITTLE);
            let at = loaded.then(|| s.p_offset(LITTLE).checked_add(within)).flatten()?;
            let length = (s.p_filesz(LITTLE) - within).min(MOST_TABLE_BYTES);
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
pub fn object_at(path: &Path) -> Option<File> {
    let mut file = record::open_regular(path).ok()?;
    if file.metadata().ok()?.len() > MOST_BYTES {
        return None;
    }
    let mut head = [0; 20];
    file.read_exact(&mut head).ok()?;
    let is_64 = head[4] == elf::ELFCLASS64.0 && head[5] == elf::ELFDATA2LSB.0;
    let machine = u16::from_le_bytes([head[18], head[19]]);
    (head.starts_with(&elf::ELFMAG) && is_64 && machine == this_machine().0).then_some(file)
}

/// Whether the loader would take this file for an object.
pub fn is_object(path: &Path) -> bool {
    object_at(path).is_some()
}

/// Whether an object exports a symbol, as far as its sections say.
pub fn exports(path: &Path, symbol: &str) -> bool {
    has_symbol(path, symbol, true)
}

/// Whether an object takes a symbol from another one, as far as its sections say.
pub fn imports(path: &Path, symbol: &str) -> bool {
    has_symbol(path, symbol, false)
}

fn has_symbol(path: &Path, symbol: &str, defined: bool) -> bool {
    let Some(file) = object_at(path) else { return false };
    let cache = ReadCache::new(file);
    let Ok(object) = object::read::elf::ElfFile64::<LittleEndian, _>::parse(&cache) else {
        return false;
    };
    object.dynamic_symbols().any(|s| s.is_definition() == defined && s.name() == Ok(symbol))
}

/// Directories that the environment gives the loader.
pub fn library_path() -> Vec<PathBuf> {
    let value = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&value).filter(|p| p.is_absolute()).collect()
}

/// The library's dependencies by the names that ask for them, in the loader's order of search. Those that `skip` names are left out
/// with what they need; what is not found is the loader's to report.
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

/// What the system's loader takes `$LIB` and `$PLATFORM` for.
#[derive(Debug, Default)]
struct Words {
    lib: Option<String>,
    platform: Option<String>,
}

/// A text of an object in the directory `origin`, as the loader reads it.
pub fn expanded(text: &str, origin: &Path) -> Result<String, String> {
    if !text.contains('$') {
        return Ok(text.to_owned());
    }
    with(text, |token| match token {
        "ORIGIN" => Some(origin.to_string_lossy().into_owned()),
        "LIB" => words_of_loader().lib.clone(),
        _ => words_of_loader().platform.clone(),
    })
}

/// What is no token stays as it is, dollar and all.
fn with(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        shown.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match token(rest) {
            Some((name, length)) => {
                let found = value(name);
                shown += &found.ok_or_else(|| {
                    format!("names ${name}, which the dynamic loader here does not explain")
                })?;
                rest = &rest[length..];
            }
            None => shown.push('$'),
        }
    }
    Ok(shown + rest)
}

/// The token that stands behind a dollar, and its length: `LIB` or `{LIB}`, not `LIBS`.
fn token(rest: &str) -> Option<(&'static str, usize)> {
    let (is_braced, inner) = rest.strip_prefix('{').map_or((false, rest), |inner| (true, inner));
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    ["ORIGIN", "LIB", "PLATFORM"].into_iter().find_map(|name| {
        let after = inner.strip_prefix(name)?;
        let ends = if is_braced { after.starts_with('}') } else { !after.starts_with(is_of_name) };
        ends.then_some((name, name.len() + 2 * usize::from(is_braced)))
    })
}

/// Asked once, of the loader that has loaded this program: how it was built is nowhere else.
fn words_of_loader() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
        let is_loader =
            |path: &&str| path.rsplit('/').next().is_some_and(|name| name.starts_with("ld-linux"));
        let Some(loader) = files.find(is_loader) else { return Words::default() };
        // No threads, which would outlive a worker's confinement, and none of the user's variables.
        let done = Command::new(loader).arg("--list-diagnostics").env_clear().output();
        let done = done.ok().filter(|done| done.status.success());
        done.map_or_else(Words::default, |done| words_told(&String::from_utf8_lossy(&done.stdout)))
    })
}

/// Of `dl_dst_lib="lib/x86_64-linux-gnu"` and `dl_platform="x86_64"`, each on a line.
fn words_told(diagnostics: &str) -> Words {
    let of = |key: &str| {
        let quoted = diagnostics.lines().find_map(|line| line.strip_prefix(key))?;
        Some(quoted.strip_prefix("=\"")?.strip_suffix('"')?.to_owned())
    };
    Words { lib: of("dl_dst_lib"), platform: of("dl_platform") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{THIS_MACHINE, elf_bytes, libc};
    use std::process::Command;

    fn why(bytes: &[u8]) -> String {
        check_bytes(bytes).unwrap_err()
    }

    fn of(class: elf::FileClass, kind: elf::FileType, machine: u16) -> Vec<u8> {
        elf_bytes(class.0, kind.0, machine, 100)
    }

    #[test]
    fn a_real_shared_object_passes_and_this_executable_does_not() {
        check_elf(&libc()).unwrap();
        let why = check_elf(&std::env::current_exe().unwrap()).unwrap_err();
        assert_eq!(why, "is an executable, not a shared object");
    }

    #[test]
    fn each_other_kind_of_file_is_called_by_its_name() {
        assert_eq!(why(b""), "is empty");
        assert_eq!(why(b"!<arch>\nx"), "is a static archive, not a shared object");
        assert_eq!(why(b"/* GNU ld script\n"), "is a linker script, not a shared object");
        assert_eq!(why(b"#!/bin/sh"), "is not an ELF shared object");
        let kind = |kind| why(&of(elf::ELFCLASS64, kind, THIS_MACHINE));
        assert_eq!(kind(elf::ET_REL), "is a relocatable object, not a shared one");
        assert_eq!(kind(elf::ET_EXEC), "is an executable, not a shared object");
        assert_eq!(kind(elf::ET_CORE), "is a core dump, not a shared object");
        assert_eq!(kind(elf::FileType(9)), "is an ELF file of type 9, not a shared object");
    }

    #[test]
    fn another_machine_is_named() {
        let other = if THIS_MACHINE == elf::EM_X86_64.0 { elf::EM_AARCH64 } else { elf::EM_X86_64 };
        let why64 = why(&of(elf::ELFCLASS64, elf::ET_DYN, other.0));
        assert!(why64.starts_with(&format!("is for {}, this", machine_name(other))), "{why64}");
        let why32 = why(&of(elf::ELFCLASS32, elf::ET_DYN, elf::EM_386.0));
        assert_eq!(why32, "is 32-bit, this machine is 64-bit");
        let unknown = why(&of(elf::ELFCLASS64, elf::ET_DYN, 999));
        assert!(unknown.starts_with("is for another machine (ELF number 999)"), "{unknown}");
    }

    #[test]
    fn a_file_cut_short_anywhere_is_refused() {
        let whole = of(elf::ELFCLASS64, elf::ET_DYN, THIS_MACHINE);
        for length in 4..whole.len() {
            assert_eq!(why(&whole[..length]), truncated(), "{length}");
        }
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let why = |path: &str| check_elf(Path::new(path)).unwrap_err();
        assert_eq!(why("/proc/self"), "is a directory, not a shared object");
        assert_eq!(why("/dev/zero"), "is not a regular file");
        assert!(why("/no/such").starts_with("cannot be read: No such file"));
    }

    /// Compiles an object with one function, or without any code of its own.
    fn object(directory: &Path, name: &str, flags: &[&str]) -> PathBuf {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let source = directory.join("source.c");
        std::fs::write(&source, "int number(void) { return 7; }\n").unwrap();
        let file_name = path.file_name().unwrap().to_str().unwrap();
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler.args(["-shared", "-fPIC", "-Wl,--no-as-needed"]).arg("-o").arg(&path).arg(&source);
        compiler.arg(format!("-Wl,-soname,{file_name}")).args(flags);
        let done = compiler.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        path
    }

    fn is_c_library(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["libc.so", "libm.so", "ld-linux"].iter().any(|known| name.starts_with(known))
    }

    /// What the dynamic loader itself finds: of objects that these tests made, or that the system trusts.
    fn listed_by_the_loader(library: &Path) -> BTreeMap<String, PathBuf> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut files = maps.lines().filter_map(|l| l.find('/').map(|at| &l[at..]));
        let loader = files.find(|f| f.contains("/ld-linux") || f.contains("/ld-2")).unwrap();
        let done = Command::new(loader).arg("--list").arg(library).output().unwrap();
        let lines = String::from_utf8(done.stdout).unwrap();
        let named = lines.lines().filter_map(|line| line.trim().split_once(" => "));
        let paths = named.filter_map(|(name, rest)| Some((name, rest.split_once(" (0x")?.0)));
        let paths = paths.filter(|(_, path)| !is_c_library(Path::new(path)));
        paths.map(|(name, path)| (name.to_owned(), PathBuf::from(path))).collect()
    }

    fn canonical(found: BTreeMap<String, PathBuf>) -> BTreeMap<String, PathBuf> {
        found.into_iter().map(|(name, path)| (name, path.canonicalize().unwrap())).collect()
    }

    #[test]
    fn an_objects_dependencies_are_those_that_the_loader_finds() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().canonicalize().unwrap();
        let deep = object(&at, "deep/libdeep.so.1", &[]);
        // Found by RPATH of the one before it, which is handed on.
        let middle = object(&at, "middle/libmiddle.so.1", &[deep.to_str().unwrap()]);
        let own = object(
            &at,
            "liboldway.so",
            &[
                middle.to_str().unwrap(),
                "-Wl,--disable-new-dtags",
                "-Wl,-rpath,$ORIGIN/middle:${ORIGIN}/deep:relative",
            ],
        );
        let found = dependencies(&own, is_c_library).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(canonical(found), canonical(listed_by_the_loader(&own)));
        // RUNPATH is not: what the middle one needs is nowhere.
        let newer = object(
            &at,
            "libnewway.so",
            &[
                middle.to_str().unwrap(),
                "-Wl,--enable-new-dtags",
                "-Wl,-rpath,$ORIGIN/middle:$ORIGIN/deep",
            ],
        );
        let found = dependencies(&newer, is_c_library).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["libmiddle.so.1"]);
        // Then the loader lists nothing.
        assert!(listed_by_the_loader(&newer).is_empty());
    }

    #[test]
    fn directories_and_names_with_tokens_are_those_that_the_loader_takes_them_for() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().canonicalize().unwrap();
        let value = |token: &str| expanded(token, &at).unwrap();
        let (lib, platform) = (value("$LIB"), value("${PLATFORM}"));
        assert!(lib.starts_with("lib") && !platform.is_empty(), "{lib} {platform}");
        let of_lib = object(&at, &format!("{lib}/libone.so.1"), &[]);
        let of_platform = object(&at, &format!("on-{platform}/libtwo.so.1"), &[]);
        // Its name is a path with a token.
        let named =
            object(&at, "three/libthree.so.1", &["-Wl,-soname,$ORIGIN/three/libthree.so.1"]);
        let needed = [&of_lib, &of_platform, &named].map(|path| path.to_str().unwrap());
        let paths = "-Wl,-rpath,$ORIGIN/$LIB:$ORIGIN/on-${PLATFORM}:$ORIGIN/$LIBS";
        for kind in ["--enable-new-dtags", "--disable-new-dtags"] {
            let kind = format!("-Wl,{kind}");
            let own = object(&at, "libown.so", &[&needed[..], &[paths, &kind]].concat());
            let found = dependencies(&own, is_c_library).unwrap();
            let names: Vec<&String> = found.keys().collect();
            assert_eq!(names, ["$ORIGIN/three/libthree.so.1", "libone.so.1", "libtwo.so.1"]);
            let mut paths: Vec<PathBuf> = found.into_values().collect();
            let mut listed: Vec<PathBuf> = listed_by_the_loader(&own).into_values().collect();
            let alone = at.join("three/libthree.so.1");
            // The loader lists a path without an arrow.
            listed.push(alone);
            paths.sort();
            listed.sort();
            assert_eq!(paths, listed, "{kind}");
        }
    }

    #[test]
    fn libraries_of_the_system_are_found_as_the_loader_finds_them() {
        let directories = System::here().defaults;
        let names =
            ["libcrypto.so.3", "libssl.so.3", "libgcrypt.so.20", "libstdc++.so.6", "libz.so.1"];
        let mut compared = 0;
        for path in
            directories.iter().flat_map(|d| names.map(|n| d.join(n))).filter(|p| is_object(p))
        {
            let found = canonical(dependencies(&path, is_c_library).unwrap());
            assert_eq!(found, canonical(listed_by_the_loader(&path)), "{}", path.display());
            compared += 1;
        }
        assert!(compared > 0, "none of {names:?} is in {directories:?}");
    }

    #[test]
    fn an_object_that_names_an_audit_module_is_refused_and_the_module_does_not_run() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().canonicalize().unwrap();
        let ran = at.join("ran");
        std::fs::write(at.join("audit.c"), format!(
        "#include <stdio.h>\nunsigned la_version(unsigned v) {{ fclose(fopen(\"{}\", \"w\")); return v; }}\n",
        ran.display()
    ))
    .unwrap();
        let module = at.join("audit.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&module).arg(at.join("audit.c"));
        assert!(compiler.status().unwrap().success());
        for flag in ["--audit", "--depaudit"] {
            let flag = format!("-Wl,{flag}={}", module.display());
            // Linked to a plain one: a linker would tell the user of the module, too.
            let own = object(&at, "libaudited.so", &[]);
            let user = object(&at, "libuser.so", &[own.to_str().unwrap(), "-Wl,-rpath,$ORIGIN"]);
            let own = object(&at, "libaudited.so", &[&flag]);
            assert!(check_elf(&own).unwrap_err().contains("DT_AUDIT"), "{flag}");
            // One that needs it is no better.
            check_elf(&user).unwrap();
            let why = dependencies(&user, is_c_library).unwrap_err();
            assert!(why.contains("libaudited.so' names an audit module"), "{why}");
        }
        assert!(!ran.exists());
        // The trap is one: the loader itself runs the module of an object that it is given.
        listed_by_the_loader(&object(
            &at,
            "libaudited.so",
            &[&format!("-Wl,--audit={}", module.display())],
        ));
        assert!(ran.exists());
    }

    #[test]
    fn what_is_no_object_has_no_dependencies_and_bytes_without_sense_need_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let secret = scratch.path().join("libsecret.so");
        std::fs::write(&secret, "secret").unwrap();
        assert!(!is_object(&secret) && !is_object(scratch.path()));
        assert!(is_object(&std::env::current_exe().unwrap()));
        assert_eq!(Dynamic::read(b"\x7fELF and nothing".as_slice()), None);
        assert!(dependencies(&secret, is_c_library).unwrap().is_empty());
        let pipe = scratch.path().join("libpipe.so");
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        );
        made.unwrap();
        assert!(!is_object(&pipe), "and nobody waits for a writer");
    }

    #[test]
    fn directories_that_an_object_names_are_expanded_and_relative_ones_are_not_followed() {
        let runpath = vec!["$ORIGIN/../deps:relative".to_owned(), "${ORIGIN}:/opt/x".to_owned()];
        let dynamic = Dynamic { runpath, ..Dynamic::default() };
        let found = dynamic.directories(Path::new("/a/lib"));
        assert_eq!(found, ["/a/lib/../deps", "/a/lib", "/opt/x"].map(PathBuf::from));
    }

    #[test]
    fn a_cache_of_any_bytes_is_read_to_its_end_and_no_further() {
        let mut cache = b"ld.so-1.7.0 and older entries: glibc-ld.so.cache1.1".to_vec();
        let begins = cache.len() - 20;
        cache.extend(2_u32.to_le_bytes());
        cache.resize(begins + 48, 0);
        let texts = b"libx.so.1\0/opt/libx.so.1\0";
        let name = 48 + 2 * 24;
        for [key, value] in [[name, name + 10], [u32::MAX, u32::MAX]] {
            cache.extend([3, key, value, 0, 0, 0].map(u32::to_le_bytes).concat());
        }
        cache.extend(texts);
        let found = cached(&cache);
        assert_eq!(found["libx.so.1"], [PathBuf::from("/opt/libx.so.1")]);
        for end in 0..cache.len() {
            cached(&cache[..end]);
        }
        assert!(cached(b"glibc-ld.so.cache1.1\xff\xff\xff\xff").is_empty());
    }

    #[test]
    fn tokens_end_where_the_loader_ends_them_and_the_rest_stays() {
        let of = |text: &str| with(text, |token| Some(format!("<{token}>"))).unwrap();
        for (text, expanded) in [
            ("$ORIGIN/../$LIB/x-${PLATFORM}", "<ORIGIN>/../<LIB>/x-<PLATFORM>"),
            ("/a/${LIB}s/$LIB", "/a/<LIB>s/<LIB>"),
            ("/a/$LIBS:$ORIGIN_/${LIB", "/a/$LIBS:$ORIGIN_/${LIB"),
            ("$:$$LIB:${}:$HOME$", "$:$<LIB>:${}:$HOME$"),
        ] {
            assert_eq!(of(text), expanded);
        }
        let why = with("/a/$LIB", |_| None).unwrap_err();
        assert_eq!(why, "names $LIB, which the dynamic loader here does not explain");
    }

    #[test]
    fn what_the_loader_says_of_itself_is_read_and_what_it_does_not_say_is_none() {
        let words = words_told("dl_debug_mask=0x0\ndl_dst_lib=\"lib64\"\ndl_platform=0x0\n");
        assert_eq!((words.lib.as_deref(), words.platform), (Some("lib64"), None));
        assert_eq!(words_told("").lib, None);
    }
}
