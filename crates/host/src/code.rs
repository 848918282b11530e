//! Which instructions stand in the code of the shared objects that a process has loaded: what a
//! library was built with, whatever its name or version says.

use object::{Architecture, Object as _, ObjectSection as _, SectionFlags, elf};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Instructions that ciphers are made of, by the names of the kernel's CPU flags.
const NAMES: [&str; 6] = ["aes", "vaes", "pclmulqdq", "vpclmulqdq", "gfni", "pmull"];

/// So many places must have an instruction's encoding: any implementation has tens of them, and
/// other code shows its bytes by chance about once in a hundred megabytes.
const FEWEST: usize = 4;

/// What every program loads: not the library's, and long to read.
const RUNTIME: [&str; 6] =
    ["libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libpthread.so"];

/// The files whose code this process has loaded, but for the C and C++ run-time libraries.
#[must_use]
pub fn loaded_objects() -> BTreeSet<PathBuf> {
    loaded_objects_of(std::process::id()).unwrap_or_default()
}

/// The same of another process.
///
/// # Errors
/// The system's reason why its mappings cannot be read.
pub fn loaded_objects_of(process: u32) -> std::io::Result<BTreeSet<PathBuf>> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    Ok(maps.lines().filter_map(code_file).collect())
}

/// The file of one line of `/proc/self/maps`, if it is code.
pub(crate) fn code_file(line: &str) -> Option<PathBuf> {
    let mut words = line.split_ascii_whitespace();
    let permissions = words.nth(1)?;
    let at = line.find('/')?;
    let path = Path::new(&line[at..]);
    let name = path.file_name()?.to_str()?;
    let is_code = permissions.contains('x') && !RUNTIME.iter().any(|r| name.starts_with(r));
    is_code.then(|| path.to_owned())
}

/// The instruction sets for ciphers that the objects' code has, as the kernel's CPU flags name
/// them (`aes`, `vaes`, `pclmulqdq`, `vpclmulqdq`, `gfni`; on aarch64 `aes`, `pmull`). `None` where that cannot be told: on
/// another architecture, or when no object can be read.
#[must_use]
pub fn instructions_in<'a>(objects: impl IntoIterator<Item = &'a PathBuf>) -> Option<Vec<String>> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return None;
    }
    let mut counts = [0; NAMES.len()];
    let mut read = false;
    for path in objects {
        read |= std::fs::read(path).is_ok_and(|file| count_in_file(&file, &mut counts).is_some());
    }
    let found = NAMES.iter().zip(counts).filter(|(_, count)| *count >= FEWEST);
    read.then(|| found.map(|(name, _)| (*name).to_owned()).collect())
}

/// How many instructions for ciphers an object's code has; `None` where it is no object.
pub(crate) fn count_of(file: &[u8]) -> Option<usize> {
    let mut counts = [0; NAMES.len()];
    count_in_file(file, &mut counts).map(|()| counts.iter().sum())
}

fn count_in_file(file: &[u8], counts: &mut [usize; NAMES.len()]) -> Option<()> {
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
fn count_words(code: &[u8], counts: &mut [usize; NAMES.len()]) {
    for word in code.as_chunks::<4>().0 {
        match base::model::a64::extension_of(u32::from_le_bytes(*word)) {
            Some("aes") => counts[0] += 1,
            Some("pmull") => counts[5] += 1,
            _ => {}
        }
    }
}

/// Counts encodings: every opcode below is in the maps 0F38 or 0F3A with the prefix 66 (Intel SDM
/// volume 2, appendix A.2 and the instructions' own pages).
fn count(code: &[u8], counts: &mut [usize; NAMES.len()]) {
    for at in 4..code.len() {
        let opcode = code[at];
        if !matches!(opcode, 0x44 | 0xce | 0xcf | 0xdc..=0xdf) {
            continue;
        }
        let Some(Encoding { map, wide }) = encoding(code, at) else { continue };
        let which = match (map, opcode, wide) {
            // AESENC, AESENCLAST, AESDEC, AESDECLAST.
            (2, 0xdc..=0xdf, false) => 0,
            (2, 0xdc..=0xdf, true) => 1,
            // PCLMULQDQ.
            (3, 0x44, false) => 2,
            (3, 0x44, true) => 3,
            // GF2P8MULB; GF2P8AFFINEQB and its inverse.
            (2, 0xcf, _) | (3, 0xce | 0xcf, _) => 4,
            _ => continue,
        };
        counts[which] += 1;
    }
}

/// What stands before an opcode.
struct Encoding {
    /// 2: 0F38, 3: 0F3A.
    map: u8,
    /// More than 128 bits.
    wide: bool,
}

fn encoding(code: &[u8], at: usize) -> Option<Encoding> {
    let before = |n: usize| code[at - n];
    // 66 [REX] 0F 38|3A
    if before(2) == 0x0f && matches!(before(1), 0x38 | 0x3a) {
        let rex = before(3) & 0xf0 == 0x40 && before(4) == 0x66;
        let map = if before(1) == 0x38 { 2 } else { 3 };
        return (rex || before(3) == 0x66).then_some(Encoding { map, wide: false });
    }
    // C4 [RXB.map] [W.vvvv.L.pp]: VEX, pp 1 is 66.
    if before(3) == 0xc4 && matches!(before(2) & 0x1f, 2 | 3) && before(1) & 3 == 1 {
        return Some(Encoding { map: before(2) & 0x1f, wide: before(1) & 4 != 0 });
    }
    // 62 [RXBR'.0.map] [W.vvvv.1.pp] [z.L'L.b.V'.aaa]: EVEX.
    let is_evex = before(4) == 0x62
        && matches!(before(3) & 0x0f, 2 | 3)
        && before(2) & 7 == 5
        && before(1) & 0x60 != 0x60;
    is_evex.then(|| Encoding { map: before(3) & 7, wide: before(1) & 0x60 != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(code: &[u8]) -> [usize; NAMES.len()] {
        let mut padded = vec![0x90; 4];
        padded.extend(code);
        let mut counts = [0; NAMES.len()];
        count(&padded, &mut counts);
        counts
    }

    /// Encodings as GNU as 2.40 gives them.
    #[test]
    fn each_encoding_is_counted_as_what_it_is() {
        let one = |code: &[u8], which: usize| {
            let mut expected = [0; NAMES.len()];
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
        let mut counts = [0; NAMES.len()];
        count_words(&code, &mut counts);
        assert_eq!(counts, [1, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn other_instructions_are_not_counted() {
        assert_eq!(counts(&[0x66, 0x0f, 0x38, 0xdb, 0xc1]), [0; NAMES.len()]); // aesimc
        assert_eq!(counts(&[0x0f, 0x38, 0xdc, 0xc1]), [0; NAMES.len()]); // no 66
        assert_eq!(counts(&[0x66, 0x0f, 0xef, 0xc1, 0xdc]), [0; NAMES.len()]); // pxor
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
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn what_cannot_be_read_tells_nothing() {
        assert_eq!(instructions_in(&[PathBuf::from("/no/such.so")]), None);
    }
}
