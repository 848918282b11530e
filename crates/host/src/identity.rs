//! Which build a file is, by its id or its content; and which instructions stand in the code of the shared
//! objects that a process has loaded: what a library was built with, whatever its name or version says.

use base::model::Mapped;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Architecture, LittleEndian, Object as _, ObjectSection as _, SectionFlags, elf};
use record::LoadedFile;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

type Header = FileHeader64<LittleEndian>;

/// What tells one build from another: `build-id:<hex>` where the file has the ELF note that the
/// linker derives from the content, else `sha256:<hex>` of the whole file.
pub fn file_id(path: &Path) -> io::Result<String> {
    static KNOWN: Known = LazyLock::new(Mutex::default);
    once(&KNOWN, path, |path| Ok(id_of(&whole(path)?)))
}

/// A state of a file: device, number, length, and when content and file changed last.
type Stamp = (u64, u64, u64, [i64; 4]);

/// What was worked out so far. One file may have many names, and be read for many libraries and caches.
type Known = LazyLock<Mutex<HashMap<Stamp, String>>>;

fn once(
    known: &Known,
    path: &Path,
    work_out: impl FnOnce(&Path) -> io::Result<String>,
) -> io::Result<String> {
    let m = std::fs::metadata(path)?;
    let stamp = (m.dev(), m.ino(), m.len(), [m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec()]);
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = lock().get(&stamp) {
        return Ok(found.clone());
    }
    let found = work_out(path)?;
    lock().insert(stamp, found.clone());
    Ok(found)
}

/// Most bytes of a library.
const MOST_BYTES: u64 = 1 << 30;

/// A library's content: a record may name anything else.
fn bounded(path: &Path) -> io::Result<io::Take<std::fs::File>> {
    let file = record::open_regular(path)?;
    if file.metadata()?.len() > MOST_BYTES {
        return Err(io::Error::other("it is larger than any library"));
    }
    Ok(file.take(MOST_BYTES))
}

pub(crate) fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bounded(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`file_id`], of a file's content.
pub fn id_of(bytes: &[u8]) -> String {
    build_id(bytes).unwrap_or_else(|| format!("sha256:{}", hex::encode(Sha256::digest(bytes))))
}

/// Id of a library by its file's: a provider within it is in no file of its own.
pub fn id_with_provider(of_file: &str, provider: Option<&str>) -> String {
    provider.map_or_else(
        || of_file.to_owned(),
        |provider| format!("sha256:{}", text_hash(&format!("{of_file}\n{provider}"))),
    )
}

/// Id of a build that maps these files: `own`, a plus sign, and a hash of their contents, wherever they lie. Without files
/// it is `own`.
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
pub fn loaded_files(paths: &[PathBuf]) -> Vec<LoadedFile> {
    let sorted: BTreeSet<&PathBuf> = paths.iter().collect();
    let file = |path: &PathBuf| {
        let id = format!("sha256:{}", content_hash(path).ok()?);
        Some(LoadedFile { path: path.display().to_string(), id })
    };
    sorted.into_iter().filter_map(file).collect()
}

/// The id that a library of a record has now, by the files that it mapped then.
pub fn id_now(library: &record::Library) -> io::Result<String> {
    let objects = library.objects.iter().flatten();
    let paths: Vec<PathBuf> = objects.map(|object| record::expanded(&object.path)).collect();
    let of_file = file_id(&record::expanded(&library.path))?;
    let own = id_with_provider(&of_file, base::model::provider_of(&library.name));
    Ok(whole_id(&own, &loaded_files(&paths)))
}

/// The C library of this process, by its own words and its id: it belongs to the machine, as the kernel does, and is no
/// part of a library's build.
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
    let at = memchr::memmem::find(bytes, BEGINS)?;
    let line = &bytes[at..bytes.len().min(at + LONGEST)];
    let end = line.iter().position(|b| matches!(b, b'\n' | 0))?;
    let text = std::str::from_utf8(&line[..end]).ok()?;
    Some(text.trim_end_matches('.').to_owned())
}

/// SHA-256 of a file's content, in hexadecimal: what even a build with a build id is told apart by
/// when its bytes were changed afterwards.
pub fn content_hash(path: &Path) -> io::Result<String> {
    static KNOWN: Known = LazyLock::new(Mutex::default);
    // By pieces: a program with what a debugger needs is as large as all that a run takes.
    once(&KNOWN, path, |path| {
        let (mut hash, mut file, mut piece) = (Sha256::new(), bounded(path)?, vec![0; 1 << 16]);
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(hex::encode(hash.finalize())),
                read => hash.update(&piece[..read]),
            }
        }
    })
}

/// SHA-256 of a text, in hexadecimal.
pub fn text_hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// What tells the running kernel from another: its build id, else its version line.
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

/// Instructions that ciphers are made of, by the names of the kernel's CPU flags.
const INSTRUCTION_SETS: [&str; 6] = ["aes", "vaes", "pclmulqdq", "vpclmulqdq", "gfni", "pmull"];

/// So many places must have an instruction's encoding: any implementation has tens of them, and
/// other code shows its bytes by chance about once in a hundred megabytes.
const FEWEST: usize = 4;

/// What every program loads: not the library's, and long to read.
const RUNTIME: [&str; 6] =
    ["libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libpthread.so"];

/// The files whose code this process has loaded, but for the C and C++ run-time libraries.
pub fn loaded_objects() -> BTreeSet<PathBuf> {
    loaded_objects_of(std::process::id()).unwrap_or_default()
}

/// The same of another process.
pub fn loaded_objects_of(process: u32) -> std::io::Result<BTreeSet<PathBuf>> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    Ok(maps.lines().filter_map(code_file).collect())
}

/// The file of one line of `/proc/self/maps`, if it is code.
pub(crate) fn code_file(line: &str) -> Option<PathBuf> {
    let mapped = Mapped::parse(line).filter(Mapped::is_code)?;
    let name = mapped.name.strip_prefix('/')?.rsplit('/').next()?;
    (!RUNTIME.iter().any(|r| name.starts_with(r))).then(|| mapped.name.into())
}

/// The instruction sets for ciphers that the objects' code has, as the kernel's CPU flags name
/// them (`aes`, `vaes`, `pclmulqdq`, `vpclmulqdq`, `gfni`; on aarch64 `aes`, `pmull`). `None` where no object can
/// be read.
pub fn instructions_in<'a>(objects: impl IntoIterator<Item = &'a PathBuf>) -> Option<Vec<String>> {
    let mut counts = [0; INSTRUCTION_SETS.len()];
    let mut read = false;
    for path in objects {
        read |= whole(path).is_ok_and(|file| count_in_file(&file, &mut counts).is_some());
    }
    let found = INSTRUCTION_SETS.iter().zip(counts).filter(|(_, count)| *count >= FEWEST);
    read.then(|| found.map(|(name, _)| (*name).to_owned()).collect())
}

/// How many instructions for ciphers an object's code has; `None` where it is no object.
pub(crate) fn count_of(file: &[u8]) -> Option<usize> {
    let mut counts = [0; INSTRUCTION_SETS.len()];
    count_in_file(file, &mut counts).map(|()| counts.iter().sum())
}

fn count_in_file(file: &[u8], counts: &mut [usize; INSTRUCTION_SETS.len()]) -> Option<()> {
    let file = object::File::parse(file).ok()?;
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if sh_flags.contains(elf::SHF_EXECINSTR) {
            let code = section.data().ok()?;
            match file.architecture() {
                Architecture::Aarch64 => count_words(code, counts),
                _ => count(code, counts),
            }
        }
    }
    Some(())
}

/// Counts words of AArch64. Of the other extensions too few bits are fixed: a table among the code has them by chance.
fn count_words(code: &[u8], counts: &mut [usize; INSTRUCTION_SETS.len()]) {
    for word in code.as_chunks::<4>().0 {
        match base::model::extension_of(u32::from_le_bytes(*word)) {
            Some("aes") => counts[0] += 1,
            Some("pmull") => counts[5] += 1,
            _ => {}
        }
    }
}

/// Counts encodings: every opcode below is in the maps 0F38 or 0F3A with the prefix 66 (Intel SDM
/// volume 2, appendix A.2 and the instructions' own pages).
fn count(code: &[u8], counts: &mut [usize; INSTRUCTION_SETS.len()]) {
    let mut add = |map: u8, opcode: u8, is_wide: bool| {
        let which = match (map, opcode, is_wide) {
            // AESENC, AESENCLAST, AESDEC, AESDECLAST.
            (2, 0xdc..=0xdf, false) => 0,
            (2, 0xdc..=0xdf, true) => 1,
            // PCLMULQDQ.
            (3, 0x44, false) => 2,
            (3, 0x44, true) => 3,
            // GF2P8MULB; GF2P8AFFINEQB and its inverse.
            (2, 0xcf, _) | (3, 0xce | 0xcf, _) => 4,
            _ => return,
        };
        counts[which] += 1;
    };
    // 66 [REX] 0F 38|3A
    for (map, escape) in [(2, [0x0f, 0x38]), (3, [0x0f, 0x3a])] {
        for at in memchr::memmem::find_iter(code, &escape) {
            let has_prefix = match code[..at] {
                [.., 0x66] => true,
                [.., 0x66, rex] => rex & 0xf0 == 0x40,
                _ => false,
            };
            if let (true, Some(opcode)) = (has_prefix, code.get(at + 2)) {
                add(map, *opcode, false);
            }
        }
    }
    for at in memchr::memchr2_iter(0xc4, 0x62, code) {
        match code[at..] {
            // C4 [RXB.map] [W.vvvv.L.pp]: VEX, pp 1 is 66.
            [0xc4, map, vex, opcode, ..] if vex & 3 == 1 => add(map & 0x1f, opcode, vex & 4 != 0),
            // 62 [RXBR'.0.map] [W.vvvv.1.pp] [z.L'L.b.V'.aaa]: EVEX.
            [0x62, map, vex, evex, opcode, ..]
                if map & 8 == 0 && vex & 7 == 5 && evex & 0x60 != 0x60 =>
            {
                add(map & 7, opcode, evex & 0x60 != 0);
            }
            _ => {}
        }
    }
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
    fn a_provider_has_the_id_of_its_record_as_long_as_no_file_changes() {
        let path = fixtures::libc();
        let objects = loaded_files(std::slice::from_ref(&path));
        let library = |name: &str| record::Library {
            name: name.to_owned(),
            path: path.display().to_string(),
            objects: Some(objects.clone()),
            ..record::Library::default()
        };
        let own = file_id(&path).unwrap();
        let recorded = |provider| whole_id(&id_with_provider(&own, provider), &objects);
        let now = |name: &str| id_now(&library(name)).unwrap();
        assert_eq!(now("openssl"), recorded(None));
        assert_eq!(now("openssl:fips"), recorded(Some("fips")));
        assert_ne!(now("openssl:fips"), now("openssl"));
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

    fn counts(code: &[u8]) -> [usize; INSTRUCTION_SETS.len()] {
        let mut padded = vec![0x90; 4];
        padded.extend(code);
        let mut counts = [0; INSTRUCTION_SETS.len()];
        count(&padded, &mut counts);
        counts
    }

    /// Encodings as GNU as 2.40 gives them.
    #[test]
    fn each_encoding_is_counted_as_what_it_is() {
        let one = |code: &[u8], which: usize| {
            let mut expected = [0; INSTRUCTION_SETS.len()];
            expected[which] = 1;
            assert_eq!(counts(code), expected, "{code:02x?}");
        };
        one(&[0x66, 0x0f, 0x38, 0xdc, 0xc1], 0); // aesenc %xmm1,%xmm0
        one(&[0x66, 0x45, 0x0f, 0x38, 0xdf, 0xc1], 0); // aesdeclast %xmm9,%xmm8
        one(&[0xc4, 0xe2, 0x71, 0xdc, 0xc2], 0); // vaesenc %xmm2,%xmm1,%xmm0
        one(&[0xc4, 0xe2, 0x75, 0xdc, 0xc2], 1); // vaesenc %ymm2,%ymm1,%ymm0
        one(&[0x62, 0xf2, 0x75, 0x48, 0xdd, 0xc2], 1); // vaesenclast %zmm2,%zmm1,%zmm0
        one(&[0x66, 0x0f, 0x3a, 0x44, 0xc1, 0x10], 2); // pclmulqdq $0x10,%xmm1,%xmm0
        one(&[0x62, 0xf3, 0x75, 0x48, 0x44, 0xc2, 0x11], 3); // vpclmulqdq $0x11,%zmm2,%zmm1,%zmm0
        one(&[0x66, 0x0f, 0x3a, 0xce, 0xc1, 0x00], 4); // gf2p8affineqb $0,%xmm1,%xmm0
    }

    #[test]
    fn words_of_the_other_architecture_are_counted_where_they_begin() {
        // add x0, x1, x2; aese v0.16b, v1.16b; pmull v0.1q, v1.1d, v2.1d; the second again, two bytes late
        let words = [0x8b02_0020_u32, 0x4e28_4820, 0x0ee2_e020, 0x4820_0000, 0x0000_4e28];
        let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut counts = [0; INSTRUCTION_SETS.len()];
        count_words(&code, &mut counts);
        assert_eq!(counts, [1, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn other_instructions_are_not_counted() {
        assert_eq!(counts(&[0x66, 0x0f, 0x38, 0xdb, 0xc1]), [0; INSTRUCTION_SETS.len()]); // aesimc
        assert_eq!(counts(&[0x0f, 0x38, 0xdc, 0xc1]), [0; INSTRUCTION_SETS.len()]); // no 66
        assert_eq!(counts(&[0x66, 0x0f, 0xef, 0xc1, 0xdc]), [0; INSTRUCTION_SETS.len()]); // pxor
    }

    #[test]
    fn only_code_counts_and_run_time_libraries_do_not() {
        let line = |permissions: &str, path: &str| {
            code_file(&format!("7f00-7f01 {permissions} 00001000 fe:00 12345   {path}"))
        };
        assert_eq!(line("r-xp", "/opt/a b/libx.so"), Some(PathBuf::from("/opt/a b/libx.so")));
        assert_eq!(line("r--p", "/opt/libx.so"), None);
        assert_eq!(line("r-xp", "/lib/x86_64-linux-gnu/libc.so.6"), None);
        assert_eq!(code_file("7f00-7f01 r-xp 00000000 00:00 0   [vdso]"), None);
    }

    #[test]
    fn what_cannot_be_read_tells_nothing() {
        assert_eq!(instructions_in(&[PathBuf::from("/no/such.so")]), None);
    }
}
