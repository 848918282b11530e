//! Code that forks find mapped. A fork inherits the pages of a mapped file only where the mapping has a page of
//! its own; else each fork meets a page fault for every few pages of code that it runs, some hundred in all, which take
//! longer than a sample where a virtual machine's page faults take microseconds.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;

/// Mappings shorter than this are not worth what a fork pays for each.
const SHORTEST: u64 = 64 << 10;

/// The process's own memory, as a file.
pub(super) struct Memory(File);

impl Memory {
    /// Must be opened before files are denied.
    pub(super) fn open() -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open("/proc/self/mem").map(Self)
    }

    /// Gives each mapping of code and constants a page of its own, by writing its first byte once more. Where the
    /// kernel does not allow it, forks take longer and nothing else changes.
    pub(super) fn keep_code_for_forks(&self) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        for begin in maps.lines().filter_map(code) {
            let mut byte = [0];
            if self.0.read_exact_at(&mut byte, begin).is_ok() {
                let _ = self.0.write_all_at(&byte, begin);
            }
        }
    }
}

/// Where the mapping begins, if it is of a file, private and never written.
fn code(line: &str) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (begin, end) = fields.next()?.split_once('-')?;
    let (begin, end) = (u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let kept = matches!(fields.next()?, "r-xp" | "r--p");
    let is_file = fields.nth(2)? != "0";
    (kept && is_file && end - begin >= SHORTEST).then_some(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_private_mappings_of_files_that_nobody_writes_are_kept() {
        let file = "7f00-17f00 r-xp 00026000 fe:00 1234  /usr/lib/libc.so.6";
        assert_eq!(code(file), Some(0x7f00));
        for other in ["rw-p", "r-xs", "---p"] {
            assert_eq!(code(&file.replace("r-xp", other)), None, "{other}");
        }
        assert_eq!(code("7f00-17f00 r-xp 00000000 00:00 0  [vdso]"), None);
        assert_eq!(code("7f00-8f00 r-xp 00026000 fe:00 1234  /usr/lib/libc.so.6"), None);
    }

    #[test]
    fn the_programs_code_has_a_page_of_its_own_afterwards() {
        Memory::open().unwrap().keep_code_for_forks();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let program = std::env::current_exe().unwrap();
        let own = maps
            .split_once(" r-xp ")
            .filter(|(_, code)| code.lines().next().unwrap().ends_with(program.to_str().unwrap()));
        let pages = own.and_then(|(_, code)| code.lines().find(|l| l.starts_with("Anonymous:")));
        assert!(pages.is_some_and(|line| !line.ends_with(" 0 kB")), "{pages:?}");
    }
}
