//! The process's own code: which object an address is in, and what bytes are there.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// What every program loads: not the library's, and not told of a tier, because the C library
/// chooses its copying functions when the process starts.
const RUNTIME: [&str; 6] =
    ["libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libpthread.so"];

/// One mapping of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Offset in the file.
    pub(crate) offset: u64,
    /// The file as `/proc/self/maps` names it; `[vdso]` and its kin for what is none.
    pub(crate) name: String,
}

impl Mapping {
    /// From a line of `/proc/self/maps`; `None` when it cannot be executed.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let executable = words.next()?.contains('x');
        let offset = words.next()?;
        let name = line.find(['/', '[']).map_or("", |at| &line[at..]);
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        executable.then_some(())?;
        Some(Self {
            start: hex(start)?,
            end: hex(end)?,
            offset: hex(offset)?,
            name: name.to_owned(),
        })
    }

    /// The name that people know the object by: the file's last part, without what the kernel adds
    /// to files that are no longer there.
    pub(crate) fn object(&self) -> &str {
        let name = self.name.strip_suffix(" (deleted)").unwrap_or(&self.name);
        let name = name.rsplit('/').next().unwrap_or(name);
        name.strip_prefix("memfd:").unwrap_or(name)
    }
}

/// The process's code.
#[derive(Debug)]
pub struct Code {
    pub(crate) mappings: Vec<Mapping>,
    memory: Option<File>,
    /// The executable itself.
    program: PathBuf,
}

impl Code {
    /// As it is mapped now. `original` tells the file, laid out alike, that a mapped one is a copy of.
    #[must_use]
    pub fn of_this_process<'a>(original: &dyn Fn(&Path) -> Option<&'a Path>) -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let called_by_original = |mut mapping: Mapping| {
            if let Some(path) = original(Path::new(&mapping.name)) {
                mapping.name = path.to_string_lossy().into_owned();
            }
            mapping
        };
        Self {
            mappings: maps.lines().filter_map(Mapping::parse).map(called_by_original).collect(),
            memory: File::open("/proc/self/mem").ok(),
            program: std::env::current_exe().unwrap_or_default(),
        }
    }

    /// The mapping that an address is in.
    pub(crate) fn mapping(&self, address: u64) -> Option<usize> {
        self.mappings.iter().position(|m| (m.start..m.end).contains(&address))
    }

    /// Up to so many bytes from an address on, within its mapping.
    pub(crate) fn bytes<'a>(&self, address: u64, buffer: &'a mut [u8]) -> &'a [u8] {
        let end = self.mapping(address).map_or(address, |m| self.mappings[m].end);
        let len = buffer.len().min(end.saturating_sub(address) as usize);
        let read = self.memory.as_ref().and_then(|m| m.read_at(&mut buffer[..len], address).ok());
        &buffer[..read.unwrap_or(0)]
    }

    /// Whether code of this mapping is the program's own, the C library's or the kernel's: what no
    /// tier hides anything from.
    pub(crate) fn is_elsewhere(&self, mapping: &Mapping) -> bool {
        mapping.name.starts_with('[')
            || self.is_program(mapping)
            || RUNTIME.iter().any(|r| mapping.object().starts_with(r))
    }

    pub(crate) fn is_program(&self, mapping: &Mapping) -> bool {
        Path::new(&mapping.name) == self.program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<(u64, u64, String)> {
        Mapping::parse(line).map(|m| (m.start, m.offset, m.object().to_owned()))
    }

    #[test]
    fn only_code_is_taken_and_called_by_the_files_name() {
        let line = |rest: &str| format!("7f00a000-7f00b000 {rest}");
        let code = |rest: &str| parsed(&line(rest));
        assert_eq!(
            code("r-xp 00001000 fe:00 12345    /opt/a b/libx.so.3"),
            Some((0x7f00_a000, 0x1000, "libx.so.3".to_owned()))
        );
        assert_eq!(
            code("r-xp 00002000 00:01 2048     /memfd:libx.so.3 (deleted)"),
            Some((0x7f00_a000, 0x2000, "libx.so.3".to_owned()))
        );
        assert_eq!(
            code("r-xp 00000000 00:00 0   [vdso]"),
            Some((0x7f00_a000, 0, "[vdso]".to_owned()))
        );
        assert_eq!(code("rw-p 00001000 fe:00 12345    /opt/libx.so"), None);
        assert_eq!(parsed("no mapping"), None);
    }

    #[test]
    fn the_bytes_of_a_function_are_those_that_the_process_executes() {
        let code = Code::of_this_process(&|_| None);
        let address = Code::mapping as *const () as u64;
        let mapping = &code.mappings[code.mapping(address).unwrap()];
        assert!(code.is_program(mapping) && code.is_elsewhere(mapping));
        let mut buffer = [0; 15];
        assert_eq!(code.bytes(address, &mut buffer).len(), 15);
        assert!(code.bytes(8, &mut buffer).is_empty());
    }

    #[test]
    fn a_copy_goes_by_the_file_that_it_is_of() {
        let libc = |mapped: &Path| mapped.to_string_lossy().contains("/libc.so");
        let original = Path::new("/opt/libother.so");
        let code = Code::of_this_process(&|mapped| libc(mapped).then_some(original));
        let address = libc::getrandom as *const () as u64;
        assert_eq!(code.mappings[code.mapping(address).unwrap()].object(), "libother.so");
    }
}
