//! What is loaded instead of a file: copies of objects in memory, in which a tier has changed what it must;
//! the order in which a library and what it depends on must be loaded; and pages of this process's own for
//! the code and constants that it has loaded. The pages of a file lie where the page cache once put them, the
//! same for every process that loads it and for hours. Where code lies in physical memory can change its
//! speed by some percent, so figures of processes that all run the same pages agree with each other and not
//! with tomorrow's. The file itself is loaded and its pages are replaced afterwards: a copy under another
//! name would find other dependencies (`$ORIGIN`), or none.

use base::model::Mapped;
use rustix::fs::{MemfdFlags, SealFlags};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// How the names of copies begin: the kernel shows `/memfd:ciphermark:libx.so (deleted)`.
const COPY: &str = "ciphermark:";

/// The bytes in memory or, where memory cannot be executed, in a file without a name.
pub(crate) fn of_bytes(of: &Path, bytes: &[u8]) -> Result<File, String> {
    // Asked before: to try would end the process (SIGXFSZ).
    let most_bytes = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if most_bytes.is_some_and(|most| most < bytes.len() as u64) {
        return Err(format!("no copy of '{}' can be made: File too large", of.display()));
    }
    let name = of.file_name().unwrap_or_default().to_string_lossy();
    let file = in_memory(&name, bytes).or_else(|_| {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        Ok(file)
    });
    file.map_err(|e: std::io::Error| format!("no copy of '{}' can be made: {e}", of.display()))
}

fn in_memory(name: &str, bytes: &[u8]) -> std::io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = rustix::fs::memfd_create(format!("{COPY}{name}"), flags)?;
    let mut file = File::from(fd);
    file.write_all(bytes)?;
    // Other processes may map it too: none may change what the others execute.
    rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(file)
}

/// The file name of what a mapped file, as the kernel names it, is a copy of; `None` when it is none.
pub fn copied_name(mapped: &Path) -> Option<&str> {
    let name = mapped.to_str()?.strip_prefix("/memfd:")?.strip_prefix(COPY)?;
    Some(name.strip_suffix(" (deleted)").unwrap_or(name))
}

/// What every program loads: nothing of a library's own. Its memory functions follow
/// `GLIBC_TUNABLES` ([`crate::tier::environment`]).
#[rustfmt::skip]
const RUNTIME: [&str; 8] = [
    "ld-linux", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libstdc++.so",
    "libgcc_s.so",
];

/// Whether a file is of the C or C++ run-time library.
pub fn is_runtime(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    RUNTIME.iter().any(|r| name.starts_with(r))
}

/// Keys so that each comes after all that it needs; a circle is cut anywhere.
pub fn sorted<'a>(needs: &HashMap<&'a str, Vec<&'a str>>, first: &'a str) -> Vec<&'a str> {
    let (mut order, mut met) = (Vec::new(), Vec::new());
    visit(needs, first, &mut met, &mut order);
    order
}

fn visit<'a>(
    needs: &HashMap<&'a str, Vec<&'a str>>,
    at: &'a str,
    met: &mut Vec<&'a str>,
    order: &mut Vec<&'a str>,
) {
    if met.contains(&at) {
        return;
    }
    met.push(at);
    for needed in needs.get(at).into_iter().flatten().filter(|n| needs.contains_key(**n)) {
        visit(needs, needed, met, order);
    }
    order.push(at);
}

/// Part of a file that is mapped.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    begin: usize,
    len: usize,
    protection: i32,
}

/// Replaces the pages of these files, named as in `/proc/self/maps`, by copies. Where the system does not allow
/// one (SELinux: `execmem`), the file's stay.
pub fn give_own_pages(files: &[PathBuf]) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for mapped in maps.lines().filter_map(Mapped::parse) {
        let path = Path::new(mapped.name);
        let Some(mapping) = mapping(&mapped).filter(|_| files.iter().any(|f| f == path)) else {
            continue;
        };
        if mapping.protection & libc::PROT_WRITE == 0 {
            replace(&mapping, copied_name(path).map_or(path, Path::new));
        } else {
            // Threads of the library may write there: the kernel copies, page by page (Linux 5.14).
            // SAFETY: the advice changes no byte.
            unsafe {
                libc::madvise(mapping.begin as *mut _, mapping.len, libc::MADV_POPULATE_WRITE)
            };
        }
    }
}

fn mapping(mapped: &Mapped<'_>) -> Option<Mapping> {
    let protection = match mapped.permissions {
        "r-xp" => libc::PROT_READ | libc::PROT_EXEC,
        "r--p" => libc::PROT_READ,
        "rw-p" => libc::PROT_READ | libc::PROT_WRITE,
        _ => return None,
    };
    let Range { start, end } = mapped.range;
    Some(Mapping { begin: start as usize, len: (end - start) as usize, protection })
}

/// Mappings from this size on get a file's pages, smaller ones memory. A fork copies the entry of every page of memory, a
/// tenth of a microsecond each with its end, and meets a page fault, three microseconds, for every sixteen pages that it
/// touches of a file; of long code it touches a part.
const AS_FILE: usize = 1 << 20;

/// Puts a copy in the mapping's place; nothing where that is not allowed.
fn replace(mapping: &Mapping, of: &Path) {
    let &Mapping { begin, len, protection } = mapping;
    let copy = as_file(mapping, of).or_else(|| as_memory(mapping));
    let Some(copy) = copy else { return };
    // SAFETY: `copy` is a mapping of `len` bytes, those at `begin`, with their protection. The kernel moves it at once:
    // whatever thread reads or runs them finds the same bytes before and after. One that stays is unmapped again.
    unsafe {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let moved = libc::mprotect(copy, len, protection) == 0
            && libc::mremap(copy, len, len, flags, begin as *mut libc::c_void) != libc::MAP_FAILED;
        if !moved {
            libc::munmap(copy, len);
        }
    }
}

/// A copy in a file of its own.
fn as_file(&Mapping { begin, len, protection }: &Mapping, of: &Path) -> Option<*mut libc::c_void> {
    if len < AS_FILE {
        return None;
    }
    // SAFETY: a readable mapping of `len` bytes that nobody writes or unmaps.
    let bytes = unsafe { std::slice::from_raw_parts(begin as *const u8, len) };
    let file = of_bytes(of, bytes).ok()?;
    // SAFETY: a new mapping of the file, which has as many bytes and which nobody can change.
    let copy = unsafe {
        let file = file.as_raw_fd();
        libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_PRIVATE, file, 0)
    };
    (copy != libc::MAP_FAILED).then_some(copy)
}

fn as_memory(&Mapping { begin, len, .. }: &Mapping) -> Option<*mut libc::c_void> {
    let at = begin as *mut libc::c_void;
    let (writable, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of `len` bytes is filled with those of a readable one that nobody writes.
    unsafe {
        let copy = libc::mmap(std::ptr::null_mut(), len, writable, kind, -1, 0);
        if copy == libc::MAP_FAILED {
            return None;
        }
        // A file's pages are small ones.
        libc::madvise(copy, len, libc::MADV_NOHUGEPAGE);
        // All at once: a page fault for each would take longer than copying (Linux 5.14).
        libc::madvise(at, len, libc::MADV_POPULATE_READ);
        libc::madvise(copy, len, libc::MADV_POPULATE_WRITE);
        std::ptr::copy_nonoverlapping(at.cast::<u8>(), copy.cast::<u8>(), len);
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::io::{Read as _, Seek as _};
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn a_copy_has_the_bytes_and_the_files_name_and_nobody_can_change_it() {
        let original = std::env::current_exe().unwrap();
        let content = std::fs::read(&original).unwrap();
        let mut copy = of_bytes(&original, &content).unwrap();
        assert!(copy.write_all(b"other").is_err());
        let mut bytes = Vec::new();
        copy.rewind().unwrap();
        copy.read_to_end(&mut bytes).unwrap();
        assert!(bytes == content);
        let mapped =
            std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&copy)));
        let name = original.file_name().unwrap().to_str();
        assert_eq!(copied_name(&mapped.unwrap()), name);
    }

    #[test]
    fn what_is_no_copy_has_no_name_of_one() {
        for mapped in ["/usr/lib/libcrypto.so.3", "/memfd:other (deleted)", "[vdso]"] {
            assert_eq!(copied_name(Path::new(mapped)), None, "{mapped}");
        }
    }

    #[test]
    fn what_is_needed_comes_first_also_by_two_ways_and_in_circles() {
        let needs = HashMap::from([
            ("a", vec!["c", "b", "libc.so.6"]),
            ("b", vec!["c"]),
            ("c", vec!["d"]),
            ("d", vec!["c"]),
            ("stranger", vec![]),
        ]);
        assert_eq!(sorted(&needs, "a"), ["d", "c", "b", "a"]);
    }

    #[test]
    fn private_mappings_that_can_be_read_are_replaced_and_no_others() {
        let of = |permissions: &str| {
            let line = format!("7000-9000 {permissions} 00001000 fe:00 12345   /opt/libx.so");
            mapping(&Mapped::parse(&line).unwrap())
        };
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        assert_eq!(of("r-xp"), Some(Mapping { begin: 0x7000, len: 0x2000, protection }));
        assert_eq!((of("---p"), of("r-xs")), (None, None));
    }

    #[test]
    fn a_replaced_library_runs_as_before_and_no_page_of_its_file_is_mapped_to_run() {
        let directory = tempfile::tempdir().unwrap();
        let (source, object) = (directory.path().join("a.c"), directory.path().join("liba.so"));
        std::fs::write(
            &source,
            "static int n = 38; static const char t[] = \"two\"; const char *volatile p = t;\n\
             const char large[3 << 20] = {1, [2 << 20] = 1};\n\
             int answer(void) { return n + (p[0] == 't') + (p[2] == 'o') + large[0] + large[2 << 20]; }\n",
        )
        .unwrap();
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-Wl,-z,relro,-z,now", "-o"]).arg(&object).arg(&source);
        assert!(compiler.status().unwrap().success());
        let name = CString::new(object.as_os_str().as_bytes()).unwrap();
        // SAFETY: the object is ours and has no initialiser; `answer` is a function of no argument.
        let answer = unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW);
            let symbol = libc::dlsym(handle, c"answer".as_ptr());
            assert!(!symbol.is_null());
            std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(symbol)
        };
        assert_eq!(answer(), 42);
        let mapped = || {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            let own = maps.lines().filter(|l| l.ends_with("liba.so") && !l.contains(" rw-p "));
            own.map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        assert!(mapped().len() > 1, "{:?}", mapped());
        give_own_pages(&[object]);
        assert_eq!(mapped(), Vec::<String>::new());
        assert_eq!(answer(), 42);
    }
}
