//! Copies of objects in memory, in which a tier has changed what it must, to be loaded instead of their files.

use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

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
#[must_use]
pub fn copied_name(mapped: &Path) -> Option<&str> {
    let name = mapped.to_str()?.strip_prefix("/memfd:")?.strip_prefix(COPY)?;
    Some(name.strip_suffix(" (deleted)").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Seek as _};

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
}
