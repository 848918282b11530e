//! Stand-ins for the kernel's files and for shared objects, for tests.

use crate::machine::Tree;
use object::elf;
use std::path::{Path, PathBuf};

/// Writes the files below a new directory.
pub(crate) fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let tree = Tree::at(directory.path());
    (directory, tree)
}

/// The machine that the tests run on, in ELF's numbers.
pub(crate) const THIS_MACHINE: u16 =
    if cfg!(target_arch = "aarch64") { elf::EM_AARCH64.0 } else { elf::EM_X86_64.0 };

/// An ELF header and one loadable segment of `payload` bytes.
pub(crate) fn elf_bytes(class: u8, kind: u16, machine: u16, payload: u64) -> Vec<u8> {
    let mut bytes = vec![0x7f, b'E', b'L', b'F', class, elf::ELFDATA2LSB.0, elf::EV_CURRENT.0];
    bytes.resize(16, 0);
    bytes.extend(kind.to_le_bytes());
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    // Entry point, program headers right behind the file header, no section headers.
    bytes.extend([0u64.to_le_bytes(), 64u64.to_le_bytes(), 0u64.to_le_bytes()].concat());
    bytes.extend(0u32.to_le_bytes());
    let sizes: [u16; 6] = [64, 56, 1, 64, 0, 0];
    sizes.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
    bytes.extend(elf::PT_LOAD.0.to_le_bytes());
    bytes.extend(elf::PF_R.0.to_le_bytes());
    let segment: [u64; 6] = [0, 0, 0, 120 + payload, 120 + payload, 4096];
    segment.iter().for_each(|field| bytes.extend(field.to_le_bytes()));
    bytes.resize(bytes.len() + usize::try_from(payload).unwrap(), 0xaa);
    bytes
}

/// The C library that this process has loaded.
pub(crate) fn libc() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.split_whitespace().find(|w| w.contains("/libc.so.6")).unwrap().into()
}

/// Writes what looks like a shared object for this machine.
pub(crate) fn shared_object(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, elf_bytes(elf::ELFCLASS64.0, elf::ET_DYN.0, THIS_MACHINE, 100)).unwrap();
}
