//! Whether a file can be a shared object for this machine, told before the loader tries: its own
//! messages are terse, and a file that is cut short kills the process that maps it.

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use std::path::Path;

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
    let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
    check_bytes(&bytes)
}

/// As [`check_elf`], of a file's content.
///
/// # Errors
/// As [`check_elf`].
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{THIS_MACHINE, elf_bytes, libc};

    fn why(bytes: &[u8]) -> String {
        check_bytes(bytes).unwrap_err()
    }

    fn of(class: elf::FileClass, kind: elf::FileType, machine: u16) -> Vec<u8> {
        elf_bytes(class.0, kind.0, machine, 100)
    }

    #[test]
    fn a_shared_object_for_this_machine_passes() {
        check_bytes(&of(elf::ELFCLASS64, elf::ET_DYN, THIS_MACHINE)).unwrap();
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
}
