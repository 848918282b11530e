//! Pages of this process's own for the code and constants that it has loaded.
//!
//! The pages of a file lie where the page cache once put them, the same for every process that loads it
//! and for hours. Where code lies in physical memory can change its speed by some percent, so figures of
//! processes that all run the same pages agree with each other and not with tomorrow's. The file itself is
//! loaded and its pages are replaced afterwards: a copy under another name would find other dependencies
//! (`$ORIGIN`), or none.

use std::path::{Path, PathBuf};

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
    for mapping in maps.lines().filter_map(|line| mapping(line, files)) {
        if mapping.protection & libc::PROT_WRITE == 0 {
            replace(&mapping);
        } else {
            // Threads of the library may write there: the kernel copies, page by page (Linux 5.14).
            // SAFETY: the advice changes no byte.
            unsafe {
                libc::madvise(mapping.begin as *mut _, mapping.len, libc::MADV_POPULATE_WRITE)
            };
        }
    }
}

fn mapping(line: &str, files: &[PathBuf]) -> Option<Mapping> {
    let path = Path::new(&line[line.find('/')?..]);
    let mut fields = line.split_ascii_whitespace();
    let (begin, end) = fields.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let (begin, end) = (address(begin)?, address(end)?);
    let protection = match fields.next()? {
        "r-xp" => libc::PROT_READ | libc::PROT_EXEC,
        "r--p" => libc::PROT_READ,
        "rw-p" => libc::PROT_READ | libc::PROT_WRITE,
        _ => return None,
    };
    let len = end.checked_sub(begin)?;
    files.iter().any(|file| file == path).then_some(Mapping { begin, len, protection })
}

/// Puts a copy in the mapping's place; nothing where that is not allowed.
fn replace(&Mapping { begin, len, protection }: &Mapping) {
    let at = begin as *mut libc::c_void;
    // SAFETY: a new mapping of `len` bytes is filled with the readable bytes of one that nobody writes, gets its
    // protection and is moved there. The kernel does that at once: whatever thread reads or runs it finds the same
    // bytes before and after. What does not come so far is unmapped again.
    unsafe {
        let (writable, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let copy = libc::mmap(std::ptr::null_mut(), len, writable, kind, -1, 0);
        if copy == libc::MAP_FAILED {
            return;
        }
        // A file's pages are small ones.
        libc::madvise(copy, len, libc::MADV_NOHUGEPAGE);
        std::ptr::copy_nonoverlapping(at.cast::<u8>(), copy.cast::<u8>(), len);
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if libc::mprotect(copy, len, protection) != 0
            || libc::mremap(copy, len, len, flags, at) == libc::MAP_FAILED
        {
            libc::munmap(copy, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn mappings_of_the_files_are_found_by_their_names() {
        let files = [PathBuf::from("/opt/a b/libx.so")];
        let line = |permissions: &str, path: &str| {
            mapping(&format!("7000-9000 {permissions} 00001000 fe:00 12345   {path}"), &files)
        };
        let found = line("r-xp", "/opt/a b/libx.so").unwrap();
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        assert_eq!(found, Mapping { begin: 0x7000, len: 0x2000, protection });
        for (permissions, path) in
            [("---p", "/opt/a b/libx.so"), ("r-xs", "/opt/a b/libx.so"), ("r-xp", "/opt/liby.so")]
        {
            assert_eq!(line(permissions, path), None, "{permissions} {path}");
        }
    }

    #[test]
    fn a_replaced_library_runs_as_before_and_no_page_of_its_file_is_mapped_to_run() {
        let directory = tempfile::tempdir().unwrap();
        let (source, object) = (directory.path().join("a.c"), directory.path().join("liba.so"));
        std::fs::write(
            &source,
            "static int n = 40; static const char t[] = \"two\"; const char *volatile p = t;\n\
             int answer(void) { return n + (p[0] == 't') + (p[2] == 'o'); }\n",
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
