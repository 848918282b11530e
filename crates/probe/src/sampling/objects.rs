//! A file with code: which function an offset is in, what its bytes are, whose library it is. Files are strangers':
//! they are read, never mapped, and what a table in them announces is bounded by the file.

use crate::step::code::Symbols;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, ReadCache, ReadRef};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// No program or library is larger.
const MOST_BYTES: u64 = 1 << 30;
/// Of constants, so much is searched for a version.
const MOST_SEARCHED: u64 = 64 << 20;

#[derive(Debug)]
pub struct Object {
    file: File,
    symbols: Symbols,
    pub build_id: Option<String>,
    /// What the file says that its cryptography is: `OpenSSL 3.0.22`, `Go 1.25.4`.
    pub version: Option<String>,
    pub is_library: bool,
    /// Whether it is for a CPU of the kind of aarch64.
    pub(crate) is_arm: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub range: Range<u64>,
    pub name: Option<String>,
}

impl Object {
    /// Reads a file's tables; `None` where it is no program or library.
    pub fn read(file: File) -> Option<Self> {
        let about = file.metadata().ok()?;
        if !about.is_file() || about.len() > MOST_BYTES {
            return None;
        }
        let bytes = ReadCache::new(file.try_clone().ok()?);
        let object = object::File::parse(&bytes).ok()?;
        let is_arm = match object.architecture() {
            object::Architecture::X86_64 => false,
            object::Architecture::Aarch64 => true,
            _ => return None,
        };
        let mut symbols = Symbols::read(&bytes)?;
        let build_id = object.build_id().ok().flatten().map(hex);
        if !object.symbols().any(|s| s.size() > 0) {
            // Stripped of all but what other objects ask for.
            symbols.add(go_functions(&object).unwrap_or_default());
            let apart =
                build_id.as_deref().and_then(debug_file).and_then(|path| File::open(path).ok());
            let apart = apart.filter(|file| file.metadata().is_ok_and(|m| m.len() <= MOST_BYTES));
            let apart = apart.and_then(|file| Symbols::read(&ReadCache::new(file)));
            symbols.add(apart.into_iter().flat_map(Symbols::into_named));
        }
        Some(Self {
            version: go_version(&object).or_else(|| version(&object)),
            is_library: is_library(&object),
            symbols,
            build_id,
            is_arm,
            file,
        })
    }

    pub fn address(&self, offset: u64) -> Option<u64> {
        self.symbols.address(offset)
    }

    /// The function that an address is in; where nothing tells, `None`.
    pub fn function(&self, address: u64) -> Option<Function> {
        let (range, name) = self.symbols.bounds(address)?;
        Some(Function { range, name })
    }

    /// The addresses that are loaded together with one.
    pub(crate) fn segment(&self, address: u64) -> Option<Range<u64>> {
        let segments = self.symbols.segments.iter();
        let mut ranges = segments.map(|(_, len, at)| *at..at.saturating_add(*len));
        ranges.find(|range| range.contains(&address))
    }

    /// Bytes of the object, as many of these as the file has in one piece.
    pub fn bytes(&self, addresses: Range<u64>) -> Vec<u8> {
        let holds = |(_, len, address): &&(u64, u64, u64)| {
            addresses.start.checked_sub(*address).is_some_and(|within| within < *len)
        };
        let Some((offset, len, address)) = self.symbols.segments.iter().find(holds) else {
            return Vec::new();
        };
        let within = addresses.start - address;
        let wanted = addresses.end.saturating_sub(addresses.start).min(len - within);
        let mut bytes = vec![0; wanted.min(1 << 20) as usize];
        let read = self.file.read_at(&mut bytes, offset.saturating_add(within)).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where distributions put the symbols of a stripped file.
fn debug_file(build_id: &str) -> Option<PathBuf> {
    let (first, rest) = build_id.split_at_checked(2)?;
    let path = Path::new("/usr/lib/debug/.build-id").join(first).join(format!("{rest}.debug"));
    path.is_file().then_some(path)
}

/// A function of each interface that programs call for cryptography.
const INTERFACES: [&str; 14] = [
    "EVP_EncryptInit_ex",
    "EVP_CIPHER_CTX_new",
    "gcry_cipher_open",
    "gnutls_record_send",
    "nettle_aes128_encrypt",
    "mbedtls_cipher_setup",
    "mbedtls_aes_crypt_ecb",
    "wc_AesGcmEncrypt",
    "crypto_secretbox",
    "botan_cipher_init",
    "PK11_CipherOp",
    "AES_Encrypt",
    "__gmpn_mul_1",
    "mcrypt_generic",
];

fn is_library<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> bool {
    // Programs that carry a library in them, as Node does, are mostly something else.
    let is_program = object.entry() != 0 && object.dynamic_symbols().all(|s| !s.is_definition())
        || object.section_by_name(".interp").is_some();
    !is_program
        && object
            .dynamic_symbols()
            .any(|s| s.is_definition() && s.name().is_ok_and(|name| INTERFACES.contains(&name)))
}

/// What cryptographic libraries call themselves in their constants. All but the first are followed by their number.
const TITLES: [&str; 9] = [
    "OpenSSL ",
    "LibreSSL ",
    "AWS-LC ",
    "BoringSSL",
    "Libgcrypt ",
    "Mbed TLS ",
    "mbed TLS ",
    "wolfSSL ",
    "Botan ",
];

/// The first title with a number.
fn version<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Option<String> {
    let constants = object.section_by_name(".rodata")?;
    if constants.size() > MOST_SEARCHED {
        return None;
    }
    let data = constants.data().ok()?;
    let capital = |byte: u8| matches!(byte, b'O' | b'L' | b'A' | b'B' | b'M' | b'm' | b'w');
    let starts = data.iter().enumerate().filter(|(_, byte)| capital(**byte)).map(|(at, _)| at);
    starts.into_iter().find_map(|at| titled(&data[at..data.len().min(at + 40)]))
}

fn titled(text: &[u8]) -> Option<String> {
    let title = TITLES.iter().find(|title| text.starts_with(title.as_bytes()))?;
    let rest = &text[title.len()..];
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'.' | b'-' | b'+');
    let number: Vec<u8> = rest.iter().take_while(is_part).copied().collect();
    let is_number = number.first().is_some_and(u8::is_ascii_digit) && number.contains(&b'.');
    if title.ends_with(' ') && !is_number {
        return None;
    }
    Some(format!(
        "{}{}",
        title,
        if is_number { String::from_utf8_lossy(&number) } else { "".into() }
    ))
}

// Go's own tables, which its linker never strips.

/// The version of Go that built a program: `.go.buildinfo`, of which bit 1 of byte 15 says that text of a length
/// follows at byte 32.
fn go_version<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Option<String> {
    let section = object.section_by_name(".go.buildinfo")?;
    let data = section.data().ok()?;
    if !data.starts_with(b"\xff Go buildinf:") || data.get(15)? & 2 == 0 {
        return None;
    }
    let len = usize::from(*data.get(32)?);
    let text = std::str::from_utf8(data.get(33..33 + len)?).ok()?;
    let number = text.strip_prefix("go")?.split_ascii_whitespace().next()?;
    Some(format!("Go {number}"))
}

/// The functions of `.gopclntab` (the source of Go, src/internal/abi and src/debug/gosym/pclntab.go): a header, a table
/// of 32-bit pairs (begin, place of its description), descriptions that begin with begin and place of the name.
fn go_functions<'data, R: ReadRef<'data>>(
    object: &object::File<'data, R>,
) -> Option<Vec<(Range<u64>, String)>> {
    /// Since Go 1.18 and 1.20, of 64 bits, little-endian.
    const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];
    let names = [".gopclntab", ".data.rel.ro.gopclntab"];
    let data = names.iter().find_map(|name| object.section_by_name(name))?.data().ok()?;
    let word = |at: usize| data.get(at..)?.first_chunk::<4>().map(|b| u32::from_le_bytes(*b));
    let long = |at: usize| data.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
    if !MAGICS.contains(&word(0)?) || *data.get(7)? != 8 {
        return None;
    }
    let count = usize::try_from(long(8)?).ok()?.min(data.len() / 8);
    let code = object.section_by_name(".text")?.address();
    let base = long(24).filter(|base| *base != 0).unwrap_or(code);
    let table = usize::try_from(long(64)?).ok()?;
    let texts = data.get(usize::try_from(long(32)?).ok()?..)?;
    let function = |index: usize| {
        let at = table.checked_add(index * 8)?;
        let [begin, end] = [word(at)?, word(at + 8)?].map(|from| base.wrapping_add(from.into()));
        let name = word(table.checked_add(word(at + 4)? as usize)?.checked_add(4)?)?;
        let name = texts.get(name as usize..)?;
        let name = &name[..name.iter().take(512).position(|byte| *byte == 0)?];
        Some((begin..end, String::from_utf8_lossy(name).into_owned()))
    };
    Some((0..count).map_while(function).collect())
}
