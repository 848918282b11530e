//! The readers of this crate over any text or bytes: for tests of what input does to them.

use crate::{elf, identity, libraries, machine};

/// Lines as the kernel's files have them: lists of CPUs, sizes, fields, mappings, flags.
pub fn read_kernel_text(text: &str) {
    for line in text.lines() {
        let _ = (machine::count_of_list(line), machine::size(line), identity::code_file(line));
        let _ = machine::bearing_on_measuring(line);
        let _ = crate::machine::bearing_on_ciphers(line);
    }
    let _ = machine::Listed::parse(text, 0);
}

/// A library's manifest.
pub fn read_manifest(text: &str) -> Result<(), String> {
    libraries::parse_manifest(text).map(drop)
}

/// The instruction sets for ciphers in the code of an object.
pub fn instruction_counts(file: &[u8]) -> Option<usize> {
    identity::count_of(file)
}

/// What an object tells the dynamic loader, and the cache that the loader keeps.
pub fn read_for_loader(bytes: &[u8]) {
    if let Some(dynamic) = elf::Dynamic::read(bytes) {
        let _ = dynamic.directories(std::path::Path::new("/origin"));
    }
    let _ = elf::cached(bytes);
}
