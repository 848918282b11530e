//! Which build a file is.

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use record::LoadedFile;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

type Header = FileHeader64<LittleEndian>;

/// What tells one build from another: `build-id:<hex>` where the file has the ELF note that the
/// linker derives from the content, else `sha256:<hex>` of the whole file.
///
/// # Errors
/// When the file cannot be read.
pub fn file_id(path: &Path) -> io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(id_of(&bytes))
}

/// As [`file_id`], of a file's content.
#[must_use]
pub fn id_of(bytes: &[u8]) -> String {
    build_id(bytes).unwrap_or_else(|| format!("sha256:{}", hex::encode(Sha256::digest(bytes))))
}

/// Id of a build whose file `own` maps these others: `own`, a plus sign, and a hash of their contents, wherever they
/// lie. Without others it is `own`.
#[must_use]
pub fn whole_id(own: &str, objects: &[LoadedFile]) -> String {
    if objects.is_empty() {
        return own.to_owned();
    }
    let mut contents: Vec<&str> = objects.iter().map(|object| object.id.as_str()).collect();
    contents.sort_unstable();
    format!("{own}{}{}", record::WITH, &text_hash(&contents.join("\n"))[..32])
}

/// Files with what tells their contents apart, each once. What cannot be read any more is left out: temporary files that
/// a runtime loads from.
#[must_use]
pub fn loaded_files(paths: &[PathBuf]) -> Vec<LoadedFile> {
    let sorted: BTreeSet<&PathBuf> = paths.iter().collect();
    let file = |path: &PathBuf| {
        let id = format!("sha256:{}", content_hash(path).ok()?);
        Some(LoadedFile { path: path.display().to_string(), id })
    };
    sorted.into_iter().filter_map(file).collect()
}

/// The id that a library of a record has now, by the files that it mapped then.
///
/// # Errors
/// When its own file cannot be read.
pub fn id_now(library: &record::Library) -> io::Result<String> {
    let objects = library.objects.iter().flatten();
    let paths: Vec<PathBuf> = objects.map(|object| record::expanded(&object.path)).collect();
    Ok(whole_id(&file_id(&record::expanded(&library.path))?, &loaded_files(&paths)))
}

/// The C library of this process, by its own words and its id: it belongs to the machine, as the kernel does, and is no
/// part of a library's build.
#[must_use]
pub fn c_library() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let path =
        files.find(|path| path.rsplit('/').next().is_some_and(|n| n.starts_with("libc.so")))?;
    let bytes = std::fs::read(path).ok()?;
    let banner = banner(&bytes).unwrap_or_else(|| "C library".to_owned());
    Some(format!("{banner}, {}", id_of(&bytes)))
}

/// `GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36`, as it prints it where it is run.
fn banner(bytes: &[u8]) -> Option<String> {
    const BEGINS: &[u8] = b"GNU C Library (";
    const LONGEST: usize = 200;
    let at = bytes.windows(BEGINS.len()).position(|window| window == BEGINS)?;
    let line = &bytes[at..bytes.len().min(at + LONGEST)];
    let end = line.iter().position(|b| matches!(b, b'\n' | 0))?;
    let text = std::str::from_utf8(&line[..end]).ok()?;
    Some(text.trim_end_matches('.').to_owned())
}

/// SHA-256 of a file's content, in hexadecimal: what even a build with a build id is told apart by
/// when its bytes were changed afterwards.
///
/// # Errors
/// When it is no regular file, or larger than any library, or cannot be read.
pub fn content_hash(path: &Path) -> io::Result<String> {
    const MOST_BYTES: u64 = 1 << 30;
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(io::Error::other("no regular file of a library's size"));
    }
    Ok(hex::encode(Sha256::digest(std::fs::read(path)?)))
}

/// SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn text_hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// What tells the running kernel from another: its build id, else its version line.
#[must_use]
pub fn kernel_id() -> String {
    let note = std::fs::read("/sys/kernel/notes").ok().and_then(|notes| noted_build_id(&notes));
    note.unwrap_or_else(|| {
        let version = std::fs::read("/proc/version").unwrap_or_default();
        format!("sha256:{}", hex::encode(Sha256::digest(&version)))
    })
}

/// The build id among ELF notes: sizes of name and content, a type, then both, each filled up to
/// four bytes (ELF, "Note Section"); the build id is GNU's note of type 3.
fn noted_build_id(mut notes: &[u8]) -> Option<String> {
    const BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let number = |at: usize| head[at..][..4].try_into().map(u32::from_ne_bytes).ok();
        let (name_len, len) = (number(0)? as usize, number(4)? as usize);
        let (name, rest) = rest.split_at_checked(name_len.next_multiple_of(4))?;
        let content = rest.get(..len)?;
        if name.starts_with(b"GNU\0") && number(8)? == BUILD_ID && !content.is_empty() {
            return Some(format!("build-id:{}", hex::encode(content)));
        }
        notes = rest.get(len.next_multiple_of(4)..)?;
    }
}

/// The build id of a shared object. Of segments with notes the first few are looked at, and of each a
/// few pages: a file may announce 65,535, each as large as itself.
fn build_id(bytes: &[u8]) -> Option<String> {
    const MOST_SEGMENTS: usize = 16;
    const MOST_BYTES: usize = 1 << 14;
    let header = Header::parse(bytes).ok()?;
    let segments = header.program_headers(LittleEndian, bytes).ok()?;
    let notes = segments.iter().filter(|s| s.p_type(LittleEndian) == elf::PT_NOTE);
    notes.take(MOST_SEGMENTS).find_map(|segment| {
        let notes = segment.data(LittleEndian, bytes).ok()?;
        noted_build_id(&notes[..notes.len().min(MOST_BYTES)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_library_is_another_build_when_any_file_that_it_maps_has_another_content() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let id = |paths: &[PathBuf]| whole_id("build-id:ab", &loaded_files(paths));
        let (core, other) = (write("libcore.so", "core"), write("libother.so", "other"));
        assert_eq!(id(&[]), "build-id:ab");
        let both = id(&[core.clone(), other.clone()]);
        assert!(both.starts_with("build-id:ab+") && both.len() == 12 + 32, "{both}");
        assert_eq!(both, id(&[other.clone(), core.clone(), other.clone()]));
        assert_eq!(both, id(&[write("elsewhere.so", "core"), other.clone()]));
        assert_ne!(both, id(std::slice::from_ref(&core)));
        assert_eq!(both, id(&[core.clone(), other.clone(), PathBuf::from("/dev/zero")]));
        write("libcore.so", "slow core");
        assert_ne!(both, id(&[core, other]));
    }

    #[test]
    fn the_c_library_says_its_version_and_its_id() {
        if !cfg!(target_env = "gnu") {
            return;
        }
        let said = c_library().unwrap();
        assert!(said.starts_with("GNU C Library (") && said.contains(", build-id:"), "{said}");
    }

    #[test]
    fn a_library_of_the_distribution_has_a_build_id() {
        let id = file_id(&fixtures::libc()).unwrap();
        let hex = id.strip_prefix("build-id:").unwrap();
        assert!(hex.len() >= 16 && hex.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    }

    #[test]
    fn a_file_without_the_note_is_known_by_its_content() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("abc");
        std::fs::write(&text, "abc").unwrap();
        // FIPS 180-4's example message.
        assert_eq!(
            file_id(&text).unwrap(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let object = directory.path().join("x.so");
        fixtures::shared_object(&object);
        assert!(file_id(&object).unwrap().starts_with("sha256:"));
    }

    #[test]
    fn the_id_is_the_one_that_a_whole_reader_of_elf_files_finds() {
        use object::Object as _;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let objects = maps.split_whitespace().filter(|w| w.contains(".so"));
        for object in objects {
            let bytes = std::fs::read(object).unwrap();
            let file = object::File::parse(&*bytes).unwrap();
            let expected =
                file.build_id().unwrap().map(|id| format!("build-id:{}", hex::encode(id)));
            assert_eq!(build_id(&bytes), expected, "{object}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        assert_eq!(file_id(Path::new("/no/such")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_kernel_has_an_id_and_notes_are_read_up_to_the_right_one() {
        let id = kernel_id();
        assert!(id.starts_with("build-id:") || id.starts_with("sha256:"), "{id}");
        let note = |name: &[u8], kind: u32, content: &[u8]| {
            let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_ne_bytes();
            let padded = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                bytes
            };
            [&len(name)[..], &len(content), &kind.to_ne_bytes(), &padded(name), &padded(content)]
                .concat()
        };
        let notes = [note(b"Linux\0", 3, &[9; 5]), note(b"GNU\0", 3, &[0xab, 0xcd])].concat();
        assert_eq!(noted_build_id(&notes).unwrap(), "build-id:abcd");
        assert_eq!(noted_build_id(&notes[..20]), None);
        assert_eq!(noted_build_id(&[]), None);
    }
}
