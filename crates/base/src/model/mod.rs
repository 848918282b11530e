//! The words of ciphermark as types: algorithm, direction, model, size, tier, case, sample, measurement.
//! Pure: no I/O, no clock, no unsafe code. Here: paths that stand for no library's file; what names and
//! sizes are written in, globs over names, with the nearest right spelling, and the grammar of message sizes
//! (lists, doubling ranges, stepped ranges, suffixes and powers); what Linux writes of memory and CPUs; and which extension of AArch64 an
//! instruction belongs to, as far as ciphers are made of it: each instruction is a word of 32 bits.

mod algorithm;
mod brought;
#[cfg(feature = "records")]
pub mod fixtures;
#[cfg(feature = "records")]
mod sample;
#[cfg(feature = "records")]
mod tier;

pub use algorithm::{
    AAD_LEN, Algorithm, Composite, Direction, Integrity, Kind, Mode, Passes, Primitive, RANDOM,
    RANDOM_NONCE, SizeRule, UnknownAlgorithm,
};
pub use brought::{BadBrought, Brought, MOST_OF_LIBRARY, MOST_VECTORS};
#[cfg(feature = "records")]
pub use sample::{
    Case, Disturbance, Footprint, Model, OtherEnd, QUIET_PROBE_FRACTION, RawSample, SAME_SPEED,
    Settling, is_default, mark_interrupted,
};
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
#[cfg(feature = "records")]
pub use tier::{Feature, Features, Tier};

/// In the place of a path: the running Linux kernel's own ciphers, which no file stands for.
pub const KERNEL_PATH: &str = "af_alg:";

/// What the path of a language's runtime begins with, which is a program and no shared object: `runtime:go`.
pub const RUNTIME_PREFIX: &str = "runtime:";

/// Whether a library's path stands for code that runs in no process of ours: the kernel's, or a runtime's.
pub fn runs_elsewhere(path: &std::path::Path) -> bool {
    path.as_os_str() == KERNEL_PATH || runtime_name(path).is_some()
}

/// What a runtime's path names: one of those that are known, or a program's path.
pub fn runtime_name(path: &std::path::Path) -> Option<&str> {
    path.to_str()?.strip_prefix(RUNTIME_PREFIX)
}

/// The numbers in a version, so that 3.10 is newer than 3.9.
pub fn version_numbers(text: &str) -> Vec<u64> {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
    numbers.map(|n| n.parse().unwrap_or(u64::MAX)).collect()
}

// What Linux writes of memory and of CPUs.

/// A line of `/proc/PID/maps` (proc_pid_maps(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped<'a> {
    /// Its addresses.
    pub range: Range<u64>,
    /// As in `r-xp`.
    pub permissions: &'a str,
    /// Where it begins in its file.
    pub offset: u64,
    /// The file's number; 0 where there is none.
    pub inode: u64,
    /// The file's path, or a name in brackets; empty where there is neither.
    pub name: &'a str,
}

impl<'a> Mapped<'a> {
    /// None of anything else.
    pub fn parse(line: &'a str) -> Option<Self> {
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let (range, permissions) = (hex(start)?..hex(end)?, words.next()?);
        let (offset, inode) = (hex(words.next()?)?, words.nth(1)?.parse().ok()?);
        let name = words.next().unwrap_or_default().trim_start();
        (range.start <= range.end).then_some(Self { range, permissions, offset, inode, name })
    }

    /// Whether it can be executed.
    pub fn is_code(&self) -> bool {
        self.permissions.contains('x')
    }
}

/// The ranges of numbers that a kernel list names: `0-3,8` has two. `None` when it is no list.
pub fn ranges_of_list(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse().ok()?..=last.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    list.trim().split(',').map(range).collect()
}

// What the throughput probe gives on a core where nothing else runs.

/// The throughput probe's quiet rate on each CPU: independent instructions per core cycle. Cores of
/// one processor can differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuietRates(BTreeMap<u32, f64>);

impl QuietRates {
    /// The rate of one CPU.
    pub fn of_one(cpu: u32, rate: f64) -> Self {
        Self(BTreeMap::from([(cpu, rate)]))
    }

    /// Notes a CPU's rate.
    pub fn set(&mut self, cpu: u32, rate: f64) {
        self.0.insert(cpu, rate);
    }

    /// A CPU's rate; 0, below which no probe falls, where it is not known.
    pub fn of(&self, cpu: u32) -> f64 {
        self.0.get(&cpu).copied().unwrap_or(0.0)
    }

    /// Every CPU with its rate.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.0.iter().map(|(cpu, rate)| (*cpu, *rate))
    }
}
/// A glob over names (`aes-*-gcm`, `openssl@3.*`).
#[derive(Clone, Debug)]
pub struct NameGlob {
    text: String,
    pattern: String,
}

/// A text that is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a glob: {why}")]
pub struct BadGlob {
    text: String,
    why: String,
}

impl NameGlob {
    /// Reads a glob.
    pub fn parse(text: &str) -> Result<Self, BadGlob> {
        let pattern = flat(text);
        // At the beginning the crate takes it for "all but"; in names it is a character.
        let pattern = if pattern.starts_with('!') { format!("\\{pattern}") } else { pattern };
        fast_glob::validate(&pattern)
            .map_err(|e| BadGlob { text: text.to_owned(), why: e.to_string() })?;
        Ok(Self { text: text.to_owned(), pattern })
    }

    /// The globs of a list with commas between; a comma within braces or brackets belongs to its glob.
    pub fn of_list(text: &str) -> impl Iterator<Item = &str> {
        let mut depth = 0_usize;
        text.split(move |c: char| {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
    }

    /// Whether the glob matches the name; that of a brought algorithm without its definition, too.
    pub fn matches(&self, name: &str) -> bool {
        let is_it = |name: &str| fast_glob::glob_match(&self.pattern, flat(name));
        is_it(name) || brought::plain_name(name).is_some_and(is_it)
    }

    /// Whether a library is meant, by its name or by `name@version`.
    pub fn matches_library(&self, name: &str, version: &str) -> bool {
        self.matches(name) || self.matches(&format!("{name}@{version}"))
    }

    /// Which libraries are meant, each with which provider: of `openssl:fips@3.*` the glob `openssl@3.*`, and `fips`.
    pub fn with_provider(&self) -> Option<(Self, &str)> {
        let (name, rest) = self.text.split_once(':')?;
        let (provider, version) = rest.split_at(rest.find('@').unwrap_or(rest.len()));
        Some((Self::parse(&format!("{name}{version}")).ok()?, provider))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The provider that a library is measured with alone: of `openssl:fips`, `fips`.
pub fn provider_of(library: &str) -> Option<&str> {
    library.split_once(':').map(|(_, provider)| provider)
}

/// Names are no paths: a star matches what has slashes (`sha-512/256`), too.
fn flat(text: &str) -> String {
    text.replace(std::path::is_separator, "\u{1}")
}

/// The candidate that is nearest to `name`, when one is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::osa_distance(&lower, &c.to_lowercase()), c))
        // A third of the name wrong is a slip; more is another word.
        .filter(|(d, _)| *d <= 1 + name.len() / 3)
        .min()
        .map(|(_, c)| c.to_owned())
}

/// `, did you mean 'openssl'?`; nothing where no candidate is near.
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map(|n| format!(", did you mean '{n}'?")).unwrap_or_default()
}

/// The largest size in bytes: past the last-level cache of today's servers, while what an operation works on
/// ([`BUFFERS`]) still fits their memory.
pub const MAX_SIZE: usize = 256 << 20;

/// The largest size at which operations are made again and again: a larger one takes milliseconds, is a sample by
/// itself, and is neither stepped nor checked but where it is timed.
pub const MAX_REPEATED_SIZE: usize = 16 << 20;

/// Messages that a thread which works on one has in memory at the most: two plaintexts, two ciphertexts, both as they
/// are placed, the output, and one that the library may take.
pub const BUFFERS: usize = 8;

/// The most sizes that one list may name: past this the text is a slip, not a wish.
const MAX_COUNT: usize = 4096;

/// A text that names no sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{part}' is not a size: {why}; write bytes as 16, 4K, 1M or 2^12, lists as 16,64,1K, doubling ranges as 16..64K, stepped ranges as 16..256+16"
)]
pub struct BadSizes {
    part: String,
    why: String,
}

/// Reads a list of sizes in bytes, sorted, each once.
///
/// Parts are separated by commas. A part is a number (`16`, `4K`, `1M`, `2^12`), a doubling range
/// (`16..64K`: 16, 32, 64 … 65536) or a stepped range (`16..256+16`). `K` is 1024, `M` is 1024²;
/// `KiB` and `MiB` may be spelt out.
pub fn parse_sizes(text: &str) -> Result<Vec<usize>, BadSizes> {
    let mut sizes = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        let bad = |why: &str| BadSizes { part: part.to_owned(), why: why.to_owned() };
        match part.split_once("..") {
            None => sizes.push(number(part).map_err(|w| bad(&w))?),
            Some((from, to)) => {
                let (to, step) = match to.split_once('+') {
                    None => (to, None),
                    Some((to, step)) => (to, Some(number(step).map_err(|w| bad(&w))?)),
                };
                let (from, to) =
                    (number(from).map_err(|w| bad(&w))?, number(to).map_err(|w| bad(&w))?);
                if from > to {
                    return Err(bad("the range runs backwards"));
                }
                let next = |n: usize| step.map_or(n * 2, |s| n + s);
                sizes.extend(
                    std::iter::successors(Some(from), |n| Some(next(*n)))
                        .take_while(|n| *n <= to)
                        .take(MAX_COUNT + 1),
                );
            }
        }
        if sizes.len() > MAX_COUNT {
            return Err(bad("more than 4096 sizes"));
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

fn number(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let value = match text.split_once('^') {
        Some((base, exponent)) => {
            let base: usize = base.parse().map_err(|_| "not a number".to_owned())?;
            let exponent: u32 = exponent.parse().map_err(|_| "not a number".to_owned())?;
            base.checked_pow(exponent)
        }
        None => {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (digits, suffix) = text.split_at(end);
            if digits.is_empty() {
                return Err("not a number".to_owned());
            }
            let scale = match suffix {
                "" | "B" => 1,
                "K" | "k" | "KiB" => 1 << 10,
                "M" | "MiB" => 1 << 20,
                other => return Err(format!("unknown suffix '{other}'")),
            };
            digits.parse::<usize>().ok().and_then(|n| n.checked_mul(scale))
        }
    };
    match value {
        Some(n @ 1..=MAX_SIZE) => Ok(n),
        _ => Err("sizes run from 1 byte to 256 MiB".to_owned()),
    }
}
/// Masks, values and the kernel's names of the features (`Features` of /proc/cpuinfo). Encodings are those of the Arm
/// ARM, C4.1 ("Data Processing -- Scalar Floating-Point and Advanced SIMD", "SVE", "SME").
#[rustfmt::skip]
const A64_TABLE: [(u32, u32, &str); 17] = [
    // AESE, AESD, AESMC, AESIMC.
    (0xffff_cc00, 0x4e28_4800, "aes"),
    // PMULL and PMULL2 of 64 bits.
    (0xbfe0_fc00, 0x0ee0_e000, "pmull"),
    // SHA1C, P, M and SU0; SHA1H and SHA1SU1.
    (0xffe0_cc00, 0x5e00_0000, "sha1"), (0xffff_ec00, 0x5e28_0800, "sha1"),
    // SHA256H, H2 and SU1; SHA256SU0.
    (0xffe0_cc00, 0x5e00_4000, "sha2"), (0xffff_fc00, 0x5e28_2800, "sha2"),
    // SHA512H, H2, SU1; SHA512SU0. RAX1, which is between them, is of SHA-3.
    (0xffe0_fc00, 0xce60_8c00, "sha3"), (0xffe0_f000, 0xce60_8000, "sha512"), (0xffff_fc00, 0xcec0_8000, "sha512"),
    // SM4E; SM4EKEY; SM3SS1; SM3TT1A to TT2B; SM3PARTW1 and W2.
    (0xffff_fc00, 0xcec0_8400, "sm4"), (0xffe0_fc00, 0xce60_c800, "sm4"),
    (0xffe0_8000, 0xce40_0000, "sm3"), (0xffe0_c000, 0xce40_8000, "sm3"), (0xffe0_f800, 0xce60_c000, "sm3"),
    // EOR3 and BCAX; XAR.
    (0xffc0_8000, 0xce00_0000, "sha3"), (0xffe0_0000, 0xce80_0000, "sha3"),
    // All of SVE.
    (0x1e00_0000, 0x0400_0000, "sve"),
];

/// The extension that an instruction belongs to; `None` for every other one.
pub fn extension_of(word: u32) -> Option<&'static str> {
    A64_TABLE.iter().find(|(mask, value, _)| word & mask == *value).map(|(.., name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_of_maps_has_the_parts_that_the_kernel_gives_it_and_nothing_else_is_one() {
        let line =
            "7f00a000-7f00b000 r-xp 00001000 fe:00 12345                      /opt/a b/libx.so.3";
        let mapped = Mapped::parse(line).unwrap();
        assert_eq!((mapped.range.clone(), mapped.offset), (0x7f00_a000..0x7f00_b000, 0x1000));
        assert_eq!((mapped.inode, mapped.name), (12345, "/opt/a b/libx.so.3"));
        assert!(mapped.is_code());
        assert!(!Mapped::parse(&line.replace("r-xp", "r--p")).unwrap().is_code());
        let unnamed = Mapped::parse("7f00a000-7f00b000 rw-p 00000000 00:00 0 ").unwrap();
        assert_eq!((unnamed.inode, unnamed.name), (0, ""));
        for other in ["", "no mapping", "1-2 r-xp", "2-1 r-xp 00000000 00:00 0"] {
            assert_eq!(Mapped::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_glob_matches_names_with_stars_and_alternatives() {
        let g = NameGlob::parse("aes-{128,256}-gcm").unwrap();
        assert!(g.matches("aes-128-gcm") && g.matches("aes-256-gcm"));
        assert!(!g.matches("aes-192-gcm"));
        let g = NameGlob::parse("chacha20{,-poly1305}").unwrap();
        assert!(g.matches("chacha20") && g.matches("chacha20-poly1305"));
        assert!(NameGlob::parse("openssl@3.*").unwrap().matches("openssl@3.0.19"));
        assert!(NameGlob::parse("sha-512*").unwrap().matches("sha-512/256"));
        assert!(NameGlob::parse("sha-512/2?6").unwrap().matches("sha-512/256"));
    }

    #[test]
    fn commas_part_globs_but_not_their_alternatives() {
        let parts = |text| NameGlob::of_list(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parts("aes-128-gcm"), ["aes-128-gcm"]);
        assert_eq!(parts("aes-{128,256}-gcm,chacha20*"), ["aes-{128,256}-gcm", "chacha20*"]);
        assert_eq!(parts("a[,b],c}"), ["a[,b]", "c}"]);
        assert_eq!(parts("a,,b"), ["a", "", "b"]);
    }

    #[test]
    fn a_broken_glob_is_named() {
        for broken in ["aes-[1", "aes-{128,256", "aes\\"] {
            let e = NameGlob::parse(broken).unwrap_err();
            assert!(e.to_string().contains(broken), "{e}");
        }
    }

    #[test]
    fn nothing_is_nearest_to_a_word_of_another_kind() {
        assert_eq!(nearest("zzzzzzzz", ["aes-128-gcm", "memcpy"]), None);
        assert_eq!(nearest("memcopy", ["aes-128-gcm", "memcpy"]).as_deref(), Some("memcpy"));
        assert_eq!(nearest("MEMCPY", ["aes-128-gcm", "memcpy"]).as_deref(), Some("memcpy"));
    }

    /// A glob that means one name only.
    fn literal(name: &str) -> String {
        let special = |c: char| "*?[]{}\\!,".contains(c);
        name.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
    }

    proptest! {
        #[test]
        fn a_name_written_as_a_glob_matches_itself_and_no_other(
            name in "[a-z0-9.@+*?{}\\[\\],-]{1,20}", other in "[a-z0-9.@+*?{}-]{1,20}",
        ) {
            let glob = NameGlob::parse(&literal(&name)).unwrap();
            prop_assert!(glob.matches(&name), "{}", glob.text());
            prop_assert_eq!(glob.matches(&other), name == other);
            let any = NameGlob::parse(&format!("{{{},{}}}", literal(&name), literal(&other))).unwrap();
            prop_assert!(any.matches(&name) && any.matches(&other));
            prop_assert!(NameGlob::parse("*").unwrap().matches(&name));
        }
    }

    #[test]
    fn lists_ranges_and_powers_name_sizes() {
        assert_eq!(parse_sizes("16,64,1K").unwrap(), [16, 64, 1024]);
        assert_eq!(parse_sizes("16..128").unwrap(), [16, 32, 64, 128]);
        assert_eq!(parse_sizes("16..64+16").unwrap(), [16, 32, 48, 64]);
        assert_eq!(parse_sizes("2^12, 4KiB").unwrap(), [4096]);
        assert_eq!(parse_sizes("256M, 2^28, 256MiB").unwrap(), [MAX_SIZE]);
        assert_eq!(parse_sizes("16..64K").unwrap().len(), 13);
        assert_eq!(parse_sizes("100..1000").unwrap(), [100, 200, 400, 800]);
    }

    #[test]
    fn what_is_no_size_is_named() {
        for bad in
            ["", "x", "0", "16..", "64..16", "257M", "2^70", "1G", "1..16M+1", "-4", "16..64+0"]
        {
            let e = parse_sizes(bad).unwrap_err().to_string();
            assert!(e.contains("is not a size"), "{bad}: {e}");
        }
    }

    /// Sizes as somebody would write them: with suffixes where they are round.
    fn written(size: usize) -> String {
        match size {
            n if n % (1 << 20) == 0 => format!("{}M", n >> 20),
            n if n % (1 << 10) == 0 => format!("{}KiB", n >> 10),
            n if n.is_power_of_two() => format!("2^{}", n.trailing_zeros()),
            n => n.to_string(),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_of_sizes_is_read_as_them(
            sizes in prop::collection::btree_set((1..=MAX_SIZE, 0..20_u32).prop_map(|(n, z)| (n >> z << z).max(1)), 1..50),
        ) {
            let sizes: Vec<usize> = sizes.into_iter().collect();
            let text: Vec<String> = sizes.iter().rev().map(|size| written(*size)).collect();
            prop_assert_eq!(parse_sizes(&text.join(", ")), Ok(sizes));
        }

        #[test]
        fn a_range_is_the_list_of_what_it_stands_for(from in 1..4096_usize, step in 1..512_usize, count in 0..60_usize) {
            let list: Vec<String> = (0..=count).map(|i| (from + i * step).to_string()).collect();
            let range = format!("{from}..{}+{step}", from + count * step + step - 1);
            prop_assert_eq!(parse_sizes(&range), parse_sizes(&list.join(",")));
        }
    }

    /// Encodings as GNU as 2.40 gives them.
    #[test]
    fn each_encoding_is_of_its_extension() {
        for (word, extension) in [
            (0x4e28_4820, "aes"),    // aese v0.16b, v1.16b
            (0x4e28_7841, "aes"),    // aesimc v1.16b, v2.16b
            (0x0ee2_e020, "pmull"),  // pmull v0.1q, v1.1d, v2.1d
            (0x4ee2_e020, "pmull"),  // pmull2 v0.1q, v1.2d, v2.2d
            (0x5e02_0020, "sha1"),   // sha1c q0, s1, v2.4s
            (0x5e02_3020, "sha1"),   // sha1su0 v0.4s, v1.4s, v2.4s
            (0x5e28_1820, "sha1"),   // sha1su1 v0.4s, v1.4s
            (0x5e02_4020, "sha2"),   // sha256h q0, q1, v2.4s
            (0x5e02_6020, "sha2"),   // sha256su1 v0.4s, v1.4s, v2.4s
            (0x5e28_2820, "sha2"),   // sha256su0 v0.4s, v1.4s
            (0xce62_8020, "sha512"), // sha512h q0, q1, v2.2d
            (0xce62_8820, "sha512"), // sha512su1 v0.2d, v1.2d, v2.2d
            (0xcec0_8020, "sha512"), // sha512su0 v0.2d, v1.2d
            (0xce02_0c20, "sha3"),   // eor3 v0.16b, v1.16b, v2.16b, v3.16b
            (0xce22_0c20, "sha3"),   // bcax v0.16b, v1.16b, v2.16b, v3.16b
            (0xce62_8c20, "sha3"),   // rax1 v0.2d, v1.2d, v2.2d
            (0xce82_fc20, "sha3"),   // xar v0.2d, v1.2d, v2.2d, #63
            (0xcec0_8420, "sm4"),    // sm4e v0.4s, v1.4s
            (0xce62_c820, "sm4"),    // sm4ekey v0.4s, v1.4s, v2.4s
            (0xce42_0c20, "sm3"),    // sm3ss1 v0.4s, v1.4s, v2.4s, v3.4s
            (0xce42_8020, "sm3"),    // sm3tt1a v0.4s, v1.4s, v2.s[0]
            (0xce62_c420, "sm3"),    // sm3partw2 v0.4s, v1.4s, v2.4s
            (0x04e0_e3e0, "sve"),    // cntd x0
            (0xa540_0000, "sve"),    // ld1w {z0.s}, p0/z, [x0, x0, lsl #2]
        ] {
            assert_eq!(extension_of(word), Some(extension), "{word:#010x}");
        }
    }

    #[test]
    fn every_other_instruction_is_of_none() {
        for word in [
            0x8b02_0020, // add x0, x1, x2
            0x4e22_1c20, // and v0.16b, v1.16b, v2.16b
            0x0e22_e020, // pmull v0.8h, v1.8b, v2.8b
            0x6e22_1c20, // eor v0.16b, v1.16b, v2.16b
            0x4e02_0020, // tbl v0.16b, {v1.16b}, v2.16b
            0x3dc0_0000, // ldr q0, [x0]
            0xd503_201f, // nop
            0x1ac2_4c20, // crc32x w0, w1, x2
            0xd65f_03c0, // ret
            0x0000_0000, // udf #0
        ] {
            assert_eq!(extension_of(word), None, "{word:#010x}");
        }
    }
}
