//! What code computes, told by its instructions: those that only ciphers use, the distances that it rotates by, the
//! constants in it. Where they say nothing, by the function's name. The loop around an address decides, not the
//! function: compilers put several ciphers, and much else, into one.

use crate::sampling::objects::{Function, Object};
use std::collections::HashMap;
use std::ops::Range;
use strum::IntoStaticStr;

/// Of longer functions, so much around the address is looked at.
const MOST_BYTES: u64 = 64 << 10;
/// Where no function is known.
const WINDOW_BYTES: u64 = 1 << 10;
/// Without a loop, and in a function that is longer, so much around the address decides.
const NEAR_BYTES: u64 = 512;

/// What a piece of code computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
pub enum Kind {
    #[strum(serialize = "AES")]
    Aes,
    #[strum(serialize = "AES and GHASH in one loop")]
    AesGcm,
    #[strum(serialize = "GHASH")]
    Ghash,
    #[strum(serialize = "ChaCha20")]
    ChaCha,
    #[strum(serialize = "Salsa20")]
    Salsa,
    #[strum(serialize = "Poly1305")]
    Poly1305,
    #[strum(serialize = "SHA-1")]
    Sha1,
    #[strum(serialize = "SHA-256")]
    Sha256,
    #[strum(serialize = "SHA-512")]
    Sha512,
    #[strum(serialize = "SHA-3")]
    Sha3,
    #[strum(serialize = "MD5")]
    Md5,
    #[strum(serialize = "BLAKE2 or BLAKE3")]
    Blake,
    #[strum(serialize = "big numbers (RSA, elliptic curves)")]
    BigNumber,
    #[strum(serialize = "lattices (ML-KEM, ML-DSA, NTRU Prime)")]
    Lattice,
    #[strum(serialize = "another cipher or digest")]
    Other,
    #[strum(serialize = "GHASH or a CRC")]
    CarryLess,
    #[strum(serialize = "AES rounds (AEGIS, or a hash table's)")]
    Rounds,
    #[strum(serialize = "a CRC")]
    Crc,
}

impl Kind {
    pub fn label(self) -> &'static str {
        self.into()
    }

    pub fn is_crypto(self) -> bool {
        !matches!(self, Self::CarryLess | Self::Rounds | Self::Crc)
    }
}

/// What one instruction tells.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "some are told by x86's alone"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    AesRound,
    AesLast,
    AesKey,
    CarryLess,
    Crc,
    Sha1,
    Sha256,
    Sha512,
    Sha3,
    OtherCipher,
    /// A full product of two words; one without flags; its lower half.
    Product,
    FreeProduct,
    HalfProduct,
    Division,
    Carry,
    VectorProduct,
    /// By so many bits to the right, of 32 or 64.
    Rotate32(u8),
    Rotate64(u8),
    VectorLeft32(u8),
    VectorRight32(u8),
    VectorRight64(u8),
    Number(u32),
    /// Reads a constant at this address.
    Constant(u64),
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    at: u64,
    /// Where it may jump to.
    target: Option<u64>,
    mark: Mark,
}

/// What a piece of code tells.
#[derive(Clone, Debug, Default)]
struct Tally {
    rounds: u32,
    last: u32,
    keys: u32,
    carry_less: u32,
    crc: u32,
    sha1: u32,
    sha256: u32,
    sha512: u32,
    sha3: u32,
    other: u32,
    products: u32,
    free_products: u32,
    half_products: u32,
    divisions: u32,
    carries: u32,
    vector_products: u32,
    /// A bit for each distance.
    rotations32: u32,
    rotations64: u64,
    left32: u32,
    right32: u32,
    right64: u64,
    sha1_numbers: u32,
    md5_numbers: u32,
    clamps: u32,
    masks25: u32,
    masks26: u32,
    highest_bits: u32,
    constants: Vec<u64>,
}

/// Additions of SHA-1 (FIPS 180-4, section 4.2.1) and the first and last of MD5's (RFC 1321).
const SHA1: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];
const MD5: [u32; 8] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

impl Tally {
    fn of<'a>(all: impl Iterator<Item = &'a Instruction>) -> Self {
        let mut tally = Self::default();
        all.for_each(|instruction| tally.add(instruction.mark));
        tally
    }

    fn add(&mut self, mark: Mark) {
        let bit32 = |n: u8| 1_u32 << (n & 31);
        let bit64 = |n: u8| 1_u64 << (n & 63);
        match mark {
            Mark::AesRound => self.rounds += 1,
            Mark::AesLast => self.last += 1,
            Mark::AesKey => self.keys += 1,
            Mark::CarryLess => self.carry_less += 1,
            Mark::Crc => self.crc += 1,
            Mark::Sha1 => self.sha1 += 1,
            Mark::Sha256 => self.sha256 += 1,
            Mark::Sha512 => self.sha512 += 1,
            Mark::Sha3 => self.sha3 += 1,
            Mark::OtherCipher => self.other += 1,
            Mark::Product => self.products += 1,
            Mark::FreeProduct => self.free_products += 1,
            Mark::HalfProduct => self.half_products += 1,
            Mark::Division => self.divisions += 1,
            Mark::Carry => self.carries += 1,
            Mark::VectorProduct => self.vector_products += 1,
            Mark::Rotate32(n) => self.rotations32 |= bit32(n),
            Mark::Rotate64(n) => self.rotations64 |= bit64(n),
            Mark::VectorLeft32(n) => self.left32 |= bit32(n),
            Mark::VectorRight32(n) => self.right32 |= bit32(n),
            Mark::VectorRight64(n) => self.right64 |= bit64(n),
            Mark::Number(n) => {
                self.sha1_numbers += u32::from(SHA1.contains(&n));
                self.md5_numbers += u32::from(MD5.contains(&n));
                // Poly1305's key loses two bits (RFC 8439, section 2.5): what is above them is kept apart.
                self.clamps += u32::from(n == 0xffff_fffc);
                self.masks25 += u32::from(n == (1 << 25) - 1);
                self.masks26 += u32::from(n == (1 << 26) - 1);
                self.highest_bits += u32::from(n == 1 << 31);
            }
            Mark::Constant(at) => self.constants.push(at),
            Mark::Nothing => {}
        }
    }

    /// Whether it rotates words of 32 bits by all of these: in one instruction, or by two shifts of a vector.
    fn rotates32(&self, distances: &[u32]) -> bool {
        let by_shifts = |n: u32| self.right32 & 1 << n != 0 && self.left32 & 1 << (32 - n) != 0;
        distances.iter().all(|n| self.rotations32 & 1 << n != 0 || by_shifts(*n))
    }

    fn rotates64(&self, distances: &[u32]) -> bool {
        distances.iter().all(|n| self.rotations64 & 1 << n != 0)
    }

    /// As the loop's or the function's own instructions tell. `whole` is the function, or what is seen of it.
    fn kind(&self, whole: &Self, is_crc: impl Fn(&[u64]) -> Option<bool>) -> Option<Kind> {
        /// Of Keccak's 24 distances to the left (FIPS 202, section 3.2.2) these to the right, and as many of them.
        const KECCAK: [u32; 12] = [63, 61, 58, 54, 49, 43, 36, 28, 19, 9, 62, 50];
        let rounds = self.rounds + self.last + self.keys;
        if self.crc > 0 && whole.crc >= 2 {
            return Some(Kind::Crc);
        }
        if rounds > 0 {
            let is_aes = whole.last > 0 || whole.keys > 0;
            return Some(match (is_aes, self.carry_less > 0) {
                (true, true) => Kind::AesGcm,
                (true, false) => Kind::Aes,
                (false, _) => Kind::Rounds,
            });
        }
        if self.carry_less > 0 {
            return Some(match is_crc(&whole.constants) {
                Some(true) => Kind::Crc,
                Some(false) => Kind::Ghash,
                None if whole.last > 0 => Kind::Ghash,
                None => Kind::CarryLess,
            });
        }
        let by_instruction = [
            (self.sha256, Kind::Sha256),
            (self.sha1, Kind::Sha1),
            (self.sha512, Kind::Sha512),
            (self.sha3, Kind::Sha3),
            (self.other, Kind::Other),
        ];
        if let Some((_, kind)) = by_instruction.iter().find(|(count, _)| *count > 0) {
            return Some(*kind);
        }
        if KECCAK.iter().filter(|n| self.rotates64(&[**n])).count() >= 9 {
            return Some(Kind::Sha3);
        }
        self.by_rotations().or_else(|| self.by_products(whole))
    }

    fn by_rotations(&self) -> Option<Kind> {
        // Each sum of SHA-2 rotates three times (FIPS 180-4, section 4.1): as it is written there, or in steps, each by
        // what the last one lacks.
        let sums512 = [&[14, 18, 41][..], &[28, 34, 39], &[23, 4, 14, 5, 6, 28]];
        let sums256 = [&[6, 11, 25][..], &[2, 13, 22], &[14, 5, 6, 9, 11, 2]];
        if sums512.iter().any(|sum| self.rotates64(sum)) {
            return Some(Kind::Sha512);
        }
        if sums256.iter().any(|sum| self.rotates32(sum)) {
            return Some(Kind::Sha256);
        }
        if self.md5_numbers >= 4 {
            return Some(Kind::Md5);
        }
        if self.sha1_numbers >= 2 || self.sha1_numbers == 1 && self.rotates32(&[27, 2]) {
            return Some(Kind::Sha1);
        }
        // Vectors rotate by 8 and 16 by a shuffle.
        let has_shifts = self.left32 != 0;
        if self.rotates32(&[16, 20, 24, 25]) || has_shifts && self.rotates32(&[20, 25]) {
            return Some(Kind::ChaCha);
        }
        if self.rotates32(&[25, 23, 19, 14]) {
            return Some(Kind::Salsa);
        }
        let is_blake = self.rotates32(&[16, 12, 8, 7])
            || has_shifts && self.rotates32(&[12, 7])
            || self.rotates64(&[32, 24, 16, 63]);
        is_blake.then_some(Kind::Blake)
    }

    fn by_products(&self, whole: &Self) -> Option<Kind> {
        // Vectors hold 26 bits of Poly1305's numbers in a word.
        if self.vector_products >= 8 && whole.right64 & 1 << 26 != 0 {
            return Some(Kind::Poly1305);
        }
        // Without vectors, too (poly1305-donna); curves have words of 25 bits between.
        if self.half_products >= 10 && self.masks26 >= 4 && whole.masks25 == 0 {
            return Some(Kind::Poly1305);
        }
        // NTRU Prime divides in constant time, by a quotient of the highest bit (uint32_divmod_uint14).
        if self.divisions > 0 && self.highest_bits >= 2 && self.half_products >= 4 {
            return Some(Kind::Lattice);
        }
        let products = whole.products + whole.free_products;
        if self.products >= 3 && self.carries >= 3 && whole.clamps > 0 {
            return Some(Kind::Poly1305);
        }
        let is_long = products >= 4 && whole.carries >= 6;
        (is_long && self.products + self.free_products > 0).then_some(Kind::BigNumber)
    }
}

/// A function, decoded, or what is known of the code around an address.
#[derive(Debug)]
pub struct Code {
    instructions: Vec<Instruction>,
    /// Targets and places of jumps backwards.
    loops: Vec<Range<u64>>,
    whole: Tally,
    name: Option<String>,
    by_name: Option<Option<Kind>>,
    crc: Option<bool>,
    by_loop: HashMap<Range<u64>, Option<Kind>>,
}

impl Code {
    /// The code around an address of an object. Sampled addresses are begins of instructions.
    pub fn around(object: &Object, function: Option<&Function>, address: u64) -> Self {
        let range = match function {
            Some(f) if f.range.end - f.range.start <= MOST_BYTES => f.range.clone(),
            Some(f) => {
                let half = MOST_BYTES / 2;
                let start = address.saturating_sub(half).max(f.range.start);
                start..address.saturating_add(half).min(f.range.end)
            }
            None => {
                let start = object.segment(address).map_or(address, |segment| segment.start);
                let end = address.saturating_add(WINDOW_BYTES);
                address.saturating_sub(WINDOW_BYTES).max(start)..end
            }
        };
        let bytes = object.bytes(range.clone());
        let instructions = decode(object.is_arm, &bytes, range.start);
        let mut code = Self::new(instructions, function.and_then(|f| f.name.clone()));
        code.crc = is_crc(&code.whole.constants, &|at| object.bytes(at..at + 16));
        code
    }

    fn new(instructions: Vec<Instruction>, name: Option<String>) -> Self {
        let first = instructions.first().map_or(0, |i| i.at);
        let back = |i: &Instruction| {
            i.target.filter(|target| (first..=i.at).contains(target)).map(|to| to..i.at + 1)
        };
        Self {
            loops: instructions.iter().filter_map(back).collect(),
            whole: Tally::of(instructions.iter()),
            by_name: name.as_deref().and_then(by_name),
            instructions,
            name,
            crc: None,
            by_loop: HashMap::new(),
        }
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What the code around an address computes; `None` where nothing tells.
    pub fn kind(&mut self, address: u64) -> Option<Kind> {
        // What a name says that it is not, its instructions do not make it.
        if let Some(None) = self.by_name {
            return None;
        }
        let named = self.by_name.flatten();
        let piece = self.piece(address);
        if let Some(known) = self.by_loop.get(&piece) {
            return *known;
        }
        let within = self.instructions.iter().filter(|i| piece.contains(&i.at));
        let told = Tally::of(within).kind(&self.whole, |_| self.crc);
        let kind = match (told, named) {
            // The name tells which of two it is.
            (Some(Kind::CarryLess | Kind::Rounds), Some(named)) => Some(named),
            (told, named) => told.or(named),
        };
        self.by_loop.insert(piece, kind);
        kind
    }

    /// The innermost loop around an address; without one the function, or what is near in a long one.
    fn piece(&self, address: u64) -> Range<u64> {
        let around = self.loops.iter().filter(|l| l.contains(&address));
        let innermost = around.min_by_key(|l| l.end - l.start).cloned();
        let (first, last) = (self.instructions.first(), self.instructions.last());
        let whole = first.map_or(0, |i| i.at)..last.map_or(0, |i| i.at + 1);
        innermost.unwrap_or_else(|| {
            if whole.end - whole.start <= 4 * NEAR_BYTES {
                whole
            } else {
                // In steps, so that there are few pieces.
                let middle = address / NEAR_BYTES * NEAR_BYTES;
                middle.saturating_sub(NEAR_BYTES)..middle + 2 * NEAR_BYTES
            }
        })
    }
}

/// Whether the constants of carry-less multiplications fold a CRC (`Some(true)`) or reduce GHASH; neither is `None`.
fn is_crc(constants: &[u64], read: &dyn Fn(u64) -> Vec<u8>) -> Option<bool> {
    /// Powers of x modulo the polynomials of CRC-32, reflected (Gopal and others, "Fast CRC computation", 2009), its
    /// quotient, and those of CRC-32C and of the unreflected CRC-32.
    const FOLDS: [u64; 14] = [
        0x1_5444_2bd4,
        0x1_c6e4_1596,
        0x1_7519_97d0,
        0x0_ccaa_009e,
        0x1_63cd_6124,
        0x1_db71_0641,
        0x1_f701_1641,
        0x0_740e_ef02,
        0x0_9e4a_ddf8,
        0x0_f200_aa66,
        0x1_5111_5f2d,
        0x0_8860_2dd6,
        0x1_4cd0_0bd6,
        0x0_f20c_0dfe,
    ];
    /// The polynomial of GHASH, reflected, in the upper half.
    const GHASH: u64 = 0xc200_0000_0000_0000;
    let mut words = constants.iter().flat_map(|at| {
        let bytes = read(*at);
        let words: Vec<u64> =
            bytes.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
        words
    });
    words.find_map(|word| {
        if FOLDS.contains(&word) { Some(true) } else { (word == GHASH).then_some(false) }
    })
}

/// What a function's name says: `None` nothing, `Some(None)` that it is none of these.
fn by_name(name: &str) -> Option<Option<Kind>> {
    // Go's package stands before the function: `crypto/internal/fips140/aes/gcm.(*GCM).Seal`.
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let begins = |with: &[&str]| words.iter().any(|word| with.iter().any(|w| word.starts_with(w)));
    if begins(&["memhash", "aeshash", "strhash", "crc32", "crc64", "crc16", "adler32"]) {
        return Some(None);
    }
    #[rustfmt::skip]
    let table: [(&[&str], Kind); 15] = [
        (&["ghash", "polyval", "gcmghash", "gcminit", "gcmdata"], Kind::Ghash),
        (&["poly1305"], Kind::Poly1305),
        (&["chacha", "xchacha"], Kind::ChaCha),
        (&["salsa20"], Kind::Salsa),
        (&["sha1", "sha1block"], Kind::Sha1),
        (&["sha256", "sha224"], Kind::Sha256),
        (&["sha512", "sha384"], Kind::Sha512),
        (&["sha3", "keccak", "shake128", "shake256"], Kind::Sha3),
        (&["md5"], Kind::Md5),
        (&["blake2", "blake3"], Kind::Blake),
        (&["mlkem", "mldsa", "kyber", "dilithium", "mlk", "mld"], Kind::Lattice),
        (&["bigmod", "nistec", "nistz256", "ecp", "p256", "p384", "p521", "x25519", "curve25519", "ed25519",
           "edwards25519", "rsaz", "montgomery", "mont", "gmpn", "powm"], Kind::BigNumber),
        (&["aes", "aesni", "vaes", "vpaes", "bsaes", "rijndael", "aegis", "aesgcm"], Kind::Aes),
        (&["camellia", "sm4", "sm3", "serpent", "twofish", "blowfish", "cast5", "3des", "des3", "rc4", "rc2", "gost", "streebog", "whirlpool", "ripemd", "rmd160", "md4", "argon2", "scrypt",
           "ascon"], Kind::Other),
        (&["gcm"], Kind::AesGcm),
    ];
    let exact = ["mont", "ecp", "gcm", "mlk", "mld"];
    let is_it = |word: &&str, with: &&str| {
        if exact.contains(with) { word == with } else { word.starts_with(with) }
    };
    let found =
        table.iter().find(|(with, _)| words.iter().any(|word| with.iter().any(|w| is_it(word, w))));
    let is_bn = || lower.starts_with("bn_").then_some(Some(Kind::BigNumber));
    found.map(|(_, kind)| Some(*kind)).or_else(is_bn)
}

/// The kind that a function's name alone tells, as of the kernel.
pub fn kind_of_name(name: &str) -> Option<Kind> {
    by_name(name).flatten()
}

fn decode(is_arm: bool, bytes: &[u8], start: u64) -> Vec<Instruction> {
    if is_arm {
        return arm::decode(bytes, start);
    }
    #[cfg(target_arch = "x86_64")]
    return x86::decode(bytes, start);
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Instruction, Mark};
    use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, OpKind, Register};

    pub(super) fn decode(bytes: &[u8], start: u64) -> Vec<Instruction> {
        let decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
        let one = |i: iced_x86::Instruction| {
            let jumps = matches!(
                i.flow_control(),
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            );
            Instruction {
                at: i.ip(),
                target: jumps.then(|| i.near_branch_target()),
                mark: mark(&i),
            }
        };
        decoder.into_iter().map(one).collect()
    }

    fn mark(i: &iced_x86::Instruction) -> Mark {
        use Mnemonic as M;
        match i.mnemonic() {
            M::Aesenc | M::Aesdec | M::Vaesenc | M::Vaesdec => Mark::AesRound,
            M::Aesenclast | M::Aesdeclast | M::Vaesenclast | M::Vaesdeclast => Mark::AesLast,
            M::Aesimc | M::Vaesimc | M::Aeskeygenassist | M::Vaeskeygenassist => Mark::AesKey,
            M::Pclmulqdq | M::Vpclmulqdq => Mark::CarryLess,
            M::Crc32 => Mark::Crc,
            M::Sha1rnds4 | M::Sha1nexte | M::Sha1msg1 | M::Sha1msg2 => Mark::Sha1,
            M::Sha256rnds2 | M::Sha256msg1 | M::Sha256msg2 => Mark::Sha256,
            M::Vsha512rnds2 | M::Vsha512msg1 | M::Vsha512msg2 => Mark::Sha512,
            M::Vsm3rnds2 | M::Vsm3msg1 | M::Vsm3msg2 | M::Vsm4rnds4 | M::Vsm4key4 => {
                Mark::OtherCipher
            }
            M::Mulx => Mark::FreeProduct,
            M::Vpmadd52luq | M::Vpmadd52huq => Mark::FreeProduct,
            M::Mul if i.op0_kind() != OpKind::Memory && i.op0_register().is_gpr64() => {
                Mark::Product
            }
            M::Mul if i.op0_kind() == OpKind::Memory && i.memory_size().size() == 8 => {
                Mark::Product
            }
            M::Imul if i.op_count() == 2 => Mark::HalfProduct,
            M::Div => Mark::Division,
            M::Adc | M::Adcx | M::Adox => Mark::Carry,
            M::Pmuludq | M::Vpmuludq => Mark::VectorProduct,
            M::Ror | M::Rol | M::Rorx | M::Shrd | M::Shld => rotation(i),
            M::Vprord | M::Vprold | M::Vprorq | M::Vprolq => vector_rotation(i),
            M::Pslld | M::Vpslld => shift(i).map_or(Mark::Nothing, Mark::VectorLeft32),
            M::Psrld | M::Vpsrld => shift(i).map_or(Mark::Nothing, Mark::VectorRight32),
            M::Psrlq | M::Vpsrlq => shift(i).map_or(Mark::Nothing, Mark::VectorRight64),
            _ => number(i),
        }
    }

    /// The distance in the last operand.
    fn shift(i: &iced_x86::Instruction) -> Option<u8> {
        let last = i.op_count().checked_sub(1)?;
        (i.op_kind(last) == OpKind::Immediate8).then(|| i.immediate8())
    }

    fn rotation(i: &iced_x86::Instruction) -> Mark {
        let Some(distance) = shift(i) else { return Mark::Nothing };
        let is_left = matches!(i.mnemonic(), Mnemonic::Rol | Mnemonic::Shld);
        // `shrd $n,%r,%r` rotates.
        let is_double = matches!(i.mnemonic(), Mnemonic::Shrd | Mnemonic::Shld);
        if is_double && i.op0_register() != i.op1_register() {
            return Mark::Nothing;
        }
        let register = i.op0_register();
        if register.is_gpr32() {
            Mark::Rotate32(to_the_right(distance, 32, is_left))
        } else if register.is_gpr64() {
            Mark::Rotate64(to_the_right(distance, 64, is_left))
        } else {
            Mark::Nothing
        }
    }

    fn vector_rotation(i: &iced_x86::Instruction) -> Mark {
        let Some(distance) = shift(i) else { return Mark::Nothing };
        match i.mnemonic() {
            Mnemonic::Vprord => Mark::Rotate32(distance),
            Mnemonic::Vprold => Mark::Rotate32(to_the_right(distance, 32, true)),
            Mnemonic::Vprorq => Mark::Rotate64(distance),
            _ => Mark::Rotate64(to_the_right(distance, 64, true)),
        }
    }

    fn to_the_right(distance: u8, bits: u8, is_left: bool) -> u8 {
        if is_left { bits.wrapping_sub(distance) % bits } else { distance % bits }
    }

    /// A number that it adds or masks with, or the constant that it reads.
    fn number(i: &iced_x86::Instruction) -> Mark {
        for operand in 0..i.op_count() {
            match i.op_kind(operand) {
                OpKind::Immediate32 => return Mark::Number(i.immediate32()),
                OpKind::Immediate8to64 | OpKind::Immediate8to32 | OpKind::Immediate32to64 => {
                    return Mark::Number(i.immediate(operand) as u32);
                }
                OpKind::Memory if i.memory_base() == Register::RIP => {
                    return Mark::Constant(i.memory_displacement64());
                }
                OpKind::Memory if i.mnemonic() == Mnemonic::Lea => {
                    return Mark::Number(i.memory_displacement32());
                }
                _ => {}
            }
        }
        Mark::Nothing
    }
}

/// Instructions of aarch64 (Arm Architecture Reference Manual, chapter C4, and for vectors C7): each a word.
mod arm {
    use super::{Instruction, Mark};

    pub(super) fn decode(bytes: &[u8], start: u64) -> Vec<Instruction> {
        let words = bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let one = |(index, word): (usize, u32)| {
            let at = start + index as u64 * 4;
            Instruction {
                at,
                target: target(word).map(|by| at.wrapping_add_signed(by)),
                mark: mark(word),
            }
        };
        words.enumerate().map(one).collect()
    }

    /// How far it jumps: `b`, `b.cond`, `cbz`, `tbz` and their kin.
    fn target(word: u32) -> Option<i64> {
        let signed = |field: u32, bits: u32| {
            let shift = 32 - bits;
            i64::from((field << shift).cast_signed() >> shift) * 4
        };
        if word & 0xfc00_0000 == 0x1400_0000 {
            Some(signed(word, 26))
        } else if word & 0xff00_0010 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
            Some(signed(word >> 5, 19))
        } else if word & 0x7e00_0000 == 0x3600_0000 {
            Some(signed(word >> 5, 14))
        } else {
            None
        }
    }

    fn mark(word: u32) -> Mark {
        #[rustfmt::skip]
        const TABLE: [(u32, u32, Mark); 27] = [
            (0xffff_fc00, 0x4e28_4800, Mark::AesRound), // aese
            (0xffff_fc00, 0x4e28_5800, Mark::AesRound), // aesd
            (0xffff_fc00, 0x4e28_6800, Mark::AesLast),  // aesmc: a hash table's has it, too; nothing tells them apart
            (0xffff_fc00, 0x4e28_7800, Mark::AesKey),   // aesimc
            (0xbfe0_fc00, 0x0ee0_e000, Mark::CarryLess), // pmull, pmull2
            (0x7fe0_f000, 0x1ac0_4000, Mark::Crc),      // crc32
            (0x7fe0_f000, 0x1ac0_5000, Mark::Crc),      // crc32c
            (0xffe0_fc00, 0x5e00_0000, Mark::Sha1),     // sha1c
            (0xffe0_fc00, 0x5e00_1000, Mark::Sha1),     // sha1p
            (0xffe0_fc00, 0x5e00_2000, Mark::Sha1),     // sha1m
            (0xffe0_fc00, 0x5e00_3000, Mark::Sha1),     // sha1su0
            (0xffe0_fc00, 0x5e00_4000, Mark::Sha256),   // sha256h
            (0xffe0_fc00, 0x5e00_5000, Mark::Sha256),   // sha256h2
            (0xffe0_fc00, 0x5e00_6000, Mark::Sha256),   // sha256su1
            (0xffff_fc00, 0x5e28_2800, Mark::Sha256),   // sha256su0
            (0xffe0_fc00, 0xce60_8000, Mark::Sha512),   // sha512h
            (0xffe0_fc00, 0xce60_8400, Mark::Sha512),   // sha512h2
            (0xffe0_fc00, 0xce60_8800, Mark::Sha512),   // sha512su1
            (0xffe0_fc00, 0xce60_8c00, Mark::Sha3),     // rax1
            (0xffff_fc00, 0xcec0_8400, Mark::OtherCipher), // sm4e
            (0xffe0_fc00, 0xce60_c800, Mark::OtherCipher), // sm4ekey
            (0xffe0_fc00, 0xce60_c000, Mark::OtherCipher), // sm3partw1
            (0xffe0_fc00, 0x9bc0_7c00, Mark::Product),  // umulh
            (0xffe0_fc00, 0xba00_0000, Mark::Carry),    // adcs
            (0xffe0_fc00, 0x9a00_0000, Mark::Carry),    // adc
            (0xbfe0_fc00, 0x2ea0_c000, Mark::VectorProduct), // umull, 32 bits
            (0xbfe0_fc00, 0x2ea0_8000, Mark::VectorProduct), // umlal, 32 bits
        ];
        if let Some((.., mark)) = TABLE.iter().find(|(mask, value, _)| word & mask == *value) {
            return *mark;
        }
        let [from, other] = [word >> 5 & 31, word >> 16 & 31];
        let distance = (word >> 10 & 63) as u8;
        // `ror` is `extr` of a register and itself.
        if word & 0xffe0_0000 == 0x1380_0000 && from == other {
            return Mark::Rotate32(distance);
        }
        if word & 0xffe0_0000 == 0x93c0_0000 && from == other {
            return Mark::Rotate64(distance);
        }
        // Vectors of 32-bit words: the distance counts from 32 to the left, down from 64 to the right.
        let by = (word >> 16 & 0x7f) as u8;
        if (32..64).contains(&by) {
            if word & 0xbf80_fc00 == 0x0f00_5400 || word & 0xbf80_fc00 == 0x2f00_5400 {
                return Mark::VectorLeft32(by - 32);
            }
            if word & 0xbf80_fc00 == 0x2f00_0400 || word & 0xbf80_fc00 == 0x2f00_4400 {
                return Mark::VectorRight32(64 - by);
            }
        }
        Mark::Nothing
    }
}

#[cfg(test)]
mod tests;
