//! One instruction's class, width, use of memory and extension. The decoder names it; what group it is of is in bits
//! 28 to 25 (Arm ARM, C4.1).

use crate::step::{Class, Decoded};
use disarm64::decoder;
use disarm64_defn::defn::InsnOpcode as _;

/// Every instruction is a word.
pub(crate) const LONGEST: usize = 4;

/// Decodes the instruction that these bytes begin with; `None` where they are none.
pub(crate) fn decode(bytes: &[u8], _address: u64) -> Option<Decoded> {
    let word = u32::from_le_bytes(*bytes.first_chunk()?);
    let definition = decoder::decode(word)?.definition();
    let mnemonic = definition.mnemonic.to_lowercase();
    let set = base::model::extension_of(word)
        .map_or_else(|| format!("{:?}", definition.feature_set).to_lowercase(), str::to_owned);
    let group = Group::of(word);
    let (class, reads_memory, writes_memory) = match group {
        Group::Scalar => (Class::Scalar, false, false),
        Group::Reserved => (Class::Other, false, false),
        Group::Branch => (branch_class(word), false, false),
        Group::Memory => memory(word, &mnemonic),
        Group::Vector => (vector_class(word, &mnemonic), false, false),
    };
    Some(Decoded {
        class,
        width: width(word, group),
        reads_memory,
        writes_memory,
        repeats: false,
        sets: vec![set],
        mnemonic,
    })
}

/// The groups of the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Scalar,
    Branch,
    Memory,
    Vector,
    /// SME's, and words that are kept undefined.
    Reserved,
}

impl Group {
    fn of(word: u32) -> Self {
        match word >> 25 & 15 {
            0b1000 | 0b1001 | 0b0101 | 0b1101 => Self::Scalar,
            0b1010 | 0b1011 => Self::Branch,
            0b0100 | 0b0110 | 0b1100 | 0b1110 => Self::Memory,
            // SVE's loads and stores: 1xx0 (and 11x1 for stores of predicates) in bits 31 to 29.
            0b0010 if word >> 31 == 1 => Self::Memory,
            0b0000 | 0b0001 | 0b0011 => Self::Reserved,
            _ => Self::Vector,
        }
    }
}

fn branch_class(word: u32) -> Class {
    // Exceptions and what concerns the system: 1101 0100 and 1101 0101.
    if word >> 25 == 0b110_1010 { Class::Other } else { Class::Branch }
}

/// What a load or store is, and whether it reads and writes memory. An atomic operation does both.
fn memory(word: u32, mnemonic: &str) -> (Class, bool, bool) {
    let begins = |names: &[&str]| names.iter().any(|n| mnemonic.starts_with(n));
    if begins(&["prf"]) {
        return (Class::Other, false, false);
    }
    // LDADD, SWP, CAS and their kin: 111000 with bit 21 and bits 11, 10 clear, or compare and swap.
    let atomic = word & 0x3f20_0c00 == 0x3820_0000;
    if (atomic && !begins(&["ldapr"])) || begins(&["cas"]) {
        return (Class::Scalar, true, true);
    }
    if begins(&["st"]) { (Class::Store, false, true) } else { (Class::Load, true, false) }
}

#[rustfmt::skip]
const SHUFFLES: &[&str] = &[
    "tbl", "tbx", "ext", "zip", "uzp", "trn", "rev", "dup", "ins", "xtn", "sqxtn", "uqxtn", "splice", "compact", "sel",
    "insr", "lasta", "lastb", "sunpk", "uunpk", "smov", "umov",
];
const LOGIC: &[&str] = &[
    "and", "orr", "eor", "bic", "orn", "not", "bsl", "bif", "bit", "bcax", "mvn", "nor", "nand",
    "rax1",
];

fn vector_class(word: u32, mnemonic: &str) -> Class {
    let begins = |with: &[&str]| with.iter().any(|w| mnemonic.starts_with(w));
    if begins(&["aese", "aesd"]) {
        Class::AesRound
    } else if begins(&["aesmc", "aesimc"]) {
        Class::AesMix
    } else if base::model::extension_of(word) == Some("pmull") || begins(&["pmull", "pmul"]) {
        Class::CarryLess
    } else if begins(&["sha1", "sha256", "sha512", "sm3", "sm4"]) {
        Class::HashRound
    } else if begins(&["orr"]) && is_copy(word) {
        Class::VectorMove
    } else if begins(LOGIC) {
        Class::VectorLogic
    } else if begins(&["fmov", "mov", "movi", "mvni"]) {
        Class::VectorMove
    } else if begins(SHUFFLES) {
        Class::Shuffle
    } else {
        Class::VectorArithmetic
    }
}

/// `ORR Vd, Vn, Vn`, which assemblers write `MOV`.
fn is_copy(word: u32) -> bool {
    word & 0xbfe0_fc00 == 0x0ea0_1c00 && word >> 5 & 31 == word >> 16 & 31
}

/// Bits of the widest vector register that it names; of SVE's, whose registers are as long as the core makes them,
/// nothing is known.
fn width(word: u32, group: Group) -> Option<u16> {
    if word >> 25 & 15 == 0b0010 {
        return None;
    }
    match group {
        Group::Scalar | Group::Branch | Group::Reserved => None,
        // Bit 26: of vector registers.
        Group::Memory if word >> 26 & 1 == 0 => None,
        Group::Memory => Some(memory_width(word)),
        Group::Vector => {
            // Advanced SIMD of vectors has 0 in bit 28, and their length in bit 30; the rest is of single numbers, but
            // for the ciphers' instructions, whose registers are whole.
            let whole = base::model::extension_of(word).is_some();
            let vectors = word >> 28 & 1 == 0;
            Some(if whole || vectors && word >> 30 & 1 == 1 { 128 } else { 64 })
        }
    }
}

fn memory_width(word: u32) -> u16 {
    let of_structures = word & 0xbe00_0000 == 0x0c00_0000;
    let pair = word & 0x3a00_0000 == 0x2800_0000;
    let literal = word & 0x3b00_0000 == 0x1800_0000;
    let whole = if of_structures {
        word >> 30 & 1 == 1
    } else if pair || literal {
        word >> 30 == 2
    } else {
        // The size of a single register: 128 bits where the upper bit of the operation is set.
        word >> 23 & 1 == 1
    };
    if whole { 128 } else { 64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(word: u32) -> Decoded {
        decode(&word.to_le_bytes(), 0x1000).unwrap()
    }

    /// Encodings as GNU as 2.40 gives them.
    #[test]
    fn each_instruction_has_its_class_and_width() {
        use Class::*;
        for (word, class, width) in [
            (0x4e28_4820, AesRound, Some(128)),         // aese v0.16b, v1.16b
            (0x4e28_6800, AesMix, Some(128)),           // aesmc v0.16b, v0.16b
            (0x4e28_7800, AesMix, Some(128)),           // aesimc v0.16b, v0.16b
            (0x0ee2_e020, CarryLess, Some(128)),        // pmull v0.1q, v1.1d, v2.1d
            (0x5e02_4020, HashRound, Some(128)),        // sha256h q0, q1, v2.4s
            (0x6e22_1c20, VectorLogic, Some(128)),      // eor v0.16b, v1.16b, v2.16b
            (0xce02_0c20, VectorLogic, Some(128)),      // eor3 v0.16b, v1.16b, v2.16b, v3.16b
            (0x4ea1_1c20, VectorMove, Some(128)),       // mov v0.16b, v1.16b
            (0x4e02_0020, Shuffle, Some(128)),          // tbl v0.16b, {v1.16b}, v2.16b
            (0x6e02_4020, Shuffle, Some(128)),          // ext v0.16b, v1.16b, v2.16b, #8
            (0x4ea2_8420, VectorArithmetic, Some(128)), // add v0.4s, v1.4s, v2.4s
            (0x0ea2_8420, VectorArithmetic, Some(64)),  // add v0.2s, v1.2s, v2.2s
            (0x3dc0_0000, Load, Some(128)),             // ldr q0, [x0]
            (0xfd40_0000, Load, Some(64)),              // ldr d0, [x0]
            (0xad40_0400, Load, Some(128)),             // ldp q0, q1, [x0]
            (0x4c40_7000, Load, Some(128)),             // ld1 {v0.16b}, [x0]
            (0x4c9f_2000, Store, Some(128)),            // st1 {v0.16b-v3.16b}, [x0], #64
            (0xf940_0001, Load, None),                  // ldr x1, [x0]
            (0xa9bf_7bfd, Store, None),                 // stp x29, x30, [sp, #-16]!
            (0xf821_0002, Scalar, None),                // ldadd x1, x2, [x0]
            (0xf980_0000, Other, None),                 // prfm pldl1keep, [x0]
            (0x8b02_0020, Scalar, None),                // add x0, x1, x2
            (0x9b02_7c20, Scalar, None),                // mul x0, x1, x2
            (0xd280_00a0, Scalar, None),                // mov x0, #5
            (0x5400_0001, Branch, None),                // b.ne .
            (0xd65f_03c0, Branch, None),                // ret
            (0x3600_0000, Branch, None),                // tbz w0, #0, .
            (0xd503_201f, Other, None),                 // nop
            (0xd400_0001, Other, None),                 // svc #0
            (0xd538_0600, Other, None),                 // mrs x0, id_aa64isar0_el1
        ] {
            let found = decoded(word);
            assert_eq!((found.class, found.width), (class, width), "{word:#010x} {found:?}");
        }
    }

    #[test]
    fn memory_is_told_beside_the_class() {
        let of = |word| (decoded(word).reads_memory, decoded(word).writes_memory);
        // ldr q0; st1; ldadd; add; casal x1, x2, [x0]
        let found = [0x3dc0_0000, 0x4c9f_2000, 0xf821_0002, 0x8b02_0020, 0xc8e1_fc02].map(of);
        assert_eq!(
            found,
            [(true, false), (false, true), (true, true), (false, false), (true, true)]
        );
    }

    #[test]
    fn extensions_are_named_as_the_kernel_names_them() {
        let sets = |word| decoded(word).sets;
        assert_eq!(sets(0x4e28_4820), ["aes"]);
        assert_eq!(sets(0x0ee2_e020), ["pmull"]);
        assert_eq!(sets(0xce02_0c20), ["sha3"]);
        assert_eq!(sets(0x04e0_e3e0), ["sve"]);
        assert_eq!(sets(0xd503_233f), ["v8"], "paciasp is a hint");
        // udf #0
        assert_eq!((decoded(0).class, decoded(0).width), (Class::Other, None));
    }
}
