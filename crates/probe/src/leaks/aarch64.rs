//! Instructions of AArch64: which memory they touch, calls, divisions. By the bits of their encodings (Arm ARM,
//! C4.1, "Loads and stores"); each is a word. Nobody has written down what they do to a secret's bytes: traces
//! are compared where this is, and that is all.

use crate::leaks::Recordings;
use crate::leaks::judge::Found;
use crate::step::{Code, Recorded, Step, Tape};
use disarm64::decoder;
use std::collections::HashMap;

/// As instructions number them.
#[rustfmt::skip]
pub(crate) const NAMES: [&str; 32] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
    "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
];

/// Memory that an instruction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touch {
    /// The register with the address; 31 is the stack pointer.
    base: usize,
    offset: i64,
    /// A register that is added: its number, its option (Arm ARM, C6.2, LDR (register)), and how far it is shifted.
    index: Option<(usize, u32, u32)>,
    bytes: usize,
}

/// What was read so far.
pub(crate) struct Decodes<'a> {
    code: &'a Code,
    seen: HashMap<u64, Option<u32>>,
}

impl<'a> Decodes<'a> {
    /// The thread's variables are found by a register that is read as any other.
    pub(crate) fn new(code: &'a Code, _thread: u64) -> Self {
        Self { code, seen: HashMap::new() }
    }

    fn word(&mut self, address: u64) -> Option<u32> {
        let code = self.code;
        *self.seen.entry(address).or_insert_with(|| {
            let mut buffer = [0; 4];
            Some(u32::from_le_bytes(*code.bytes(address, &mut buffer).first_chunk()?))
        })
    }

    /// Where each of two steps of one instruction touches memory, and how many bytes there.
    pub(crate) fn touched(&mut self, x: &Step, y: &Step) -> Vec<(u64, u64, usize)> {
        let touch = self.word(x.address()).and_then(touch);
        touch.map(|touch| (touch.of(x), touch.of(y), touch.bytes)).into_iter().collect()
    }

    /// Whether it is a division, and its operands differ.
    pub(crate) fn divides_otherwise(&mut self, x: &Step, y: &Step) -> bool {
        // UDIV and SDIV.
        let is_one = |word: &u32| word & 0x7fe0_f800 == 0x1ac0_0800;
        let Some(word) = self.word(x.address()).filter(is_one) else { return false };
        let operand = |step: &Step, at: u32| {
            let whole = plain(step, (word >> at & 31) as usize);
            if word >> 31 == 1 { whole } else { whole & 0xffff_ffff }
        };
        [5, 16].iter().any(|at| operand(x, *at) != operand(y, *at))
    }

    /// No division takes an operand from memory.
    pub(crate) fn divided_otherwise(&mut self, _: (&Step, &Step), _: (&Step, &Step)) -> bool {
        false
    }

    /// Asks about each call that had not returned when the last of these steps was made, the latest first, until the
    /// answer is that it is enough.
    pub(crate) fn callers(&mut self, steps: &[Step], enough: &mut dyn FnMut(u64) -> bool) {
        let mut returned = 0_usize;
        for step in steps.iter().rev().skip(1) {
            let Some(word) = self.word(step.address()) else { continue };
            if is_return(word) {
                returned += 1;
            } else if is_call(word) {
                if returned == 0 && enough(step.address()) {
                    return;
                }
                returned = returned.saturating_sub(1);
            }
        }
    }
}

/// An instruction as disassemblers write it.
pub(crate) fn text(address: u64, decodes: &mut Decodes<'_>) -> String {
    let opcode = decodes.word(address).and_then(decoder::decode);
    let words = opcode.map_or_else(|| "?".to_owned(), |opcode| opcode.to_string());
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// BL, BLR and its kin that check a signature.
fn is_call(word: u32) -> bool {
    word >> 26 == 0b10_0101 || word & 0xfeff_f000 == 0xd63f_0000
}

/// RET and its kin.
fn is_return(word: u32) -> bool {
    word & 0xffff_f000 == 0xd65f_0000
}

/// A register's value; 31 is zero.
fn plain(step: &Step, number: usize) -> u64 {
    if number == 31 { 0 } else { step.register(number) }
}

impl Touch {
    fn of(&self, step: &Step) -> u64 {
        let index = self.index.map_or(0, |(number, option, shift)| {
            let whole = plain(step, number);
            let extended = match option {
                0b010 => u64::from(whole as u32),
                0b110 => i64::from((whole as u32).cast_signed()).cast_unsigned(),
                _ => whole,
            };
            extended << shift
        });
        step.register(self.base).wrapping_add(index).wrapping_add_signed(self.offset)
    }
}

/// The memory that an instruction touches. None of literals, which lie where the code says, nor of SVE's vectors of
/// addresses.
fn touch(word: u32) -> Option<Touch> {
    let at = |offset, bytes| Touch { base: (word >> 5 & 31) as usize, offset, index: None, bytes };
    if word & 0xffff_f0e0 == 0xd50b_7020 {
        // DC and IC by address.
        return Some(Touch { base: (word & 31) as usize, ..at(0, 64) }).filter(|t| t.base != 31);
    }
    match word >> 25 & 15 {
        0b0100 | 0b0110 | 0b1100 | 0b1110 => {}
        0b0010 if word >> 31 == 1 => return sve(word),
        _ => return None,
    }
    let is_vector = word >> 26 & 1 == 1;
    let size = word >> 30;
    if word & 0x3b00_0000 == 0x1800_0000 {
        None
    } else if word & 0x3e00_0000 == 0x0c00_0000 {
        // Structures of vectors.
        Some(at(0, if word >> 24 & 1 == 0 { structures(word) } else { 8 }))
    } else if word & 0x3a00_0000 == 0x2800_0000 {
        let scale = if is_vector { 2 + size } else { 2 + (size >> 1) };
        let after = word >> 23 & 3 == 1;
        let offset = if after { 0 } else { signed(word >> 15, 7) << scale };
        Some(at(offset, 2 << scale))
    } else if word & 0x3a00_0000 == 0x3800_0000 {
        let scale = if is_vector { (word >> 23 & 1) << 2 | size } else { size };
        Some(single(word, scale, at(0, 1 << scale)))
    } else if word & 0x3f20_0c00 == 0x1900_0000 {
        // LDAPUR, STLUR.
        Some(at(signed(word >> 12, 9), 1 << size))
    } else {
        // Exclusive and ordered ones, compare and swap, tags.
        Some(at(0, 1 << size))
    }
}

/// A single register: with an offset, an index, or an address that changes.
fn single(word: u32, scale: u32, at: Touch) -> Touch {
    if word >> 24 & 1 == 1 {
        return Touch { offset: i64::from(word >> 10 & 0xfff) << scale, ..at };
    }
    match (word >> 21 & 1, word >> 10 & 3) {
        // The address changes afterwards.
        (0, 0b01) => at,
        (0, _) => Touch { offset: signed(word >> 12, 9), ..at },
        (_, 0b10) => {
            let shift = if word >> 12 & 1 == 1 { scale } else { 0 };
            Touch { index: Some(((word >> 16 & 31) as usize, word >> 13 & 7, shift)), ..at }
        }
        // Atomic operations.
        _ => at,
    }
}

/// Bytes of LD1 to LD4 and their kin of whole registers.
fn structures(word: u32) -> usize {
    let registers = match word >> 12 & 15 {
        0b0000 | 0b0010 => 4,
        0b0100 | 0b0110 => 3,
        0b0111 => 1,
        _ => 2,
    };
    registers * (8 << (word >> 30 & 1))
}

/// Contiguous loads and stores. Sixteen bytes are what all of SVE's registers have at least.
fn sve(word: u32) -> Option<Touch> {
    let at = Touch { base: (word >> 5 & 31) as usize, offset: 0, index: None, bytes: 16 };
    let whole = matches!(word >> 22, 0b10_0001_0110 | 0b11_1001_0110);
    let contiguous = matches!(word >> 25, 0b101_0010 | 0b111_0010);
    if whole {
        return Some(at);
    }
    let kind = word >> 13 & 7;
    let indexed = matches!(kind, 0b000 | 0b010 | 0b011 | 0b110);
    // Stores by vectors of addresses have the other kinds.
    let scattered = word >> 25 == 0b111_0010 && (0b100..=0b110).contains(&kind);
    if !contiguous || scattered {
        return None;
    }
    let index = indexed.then_some(((word >> 16 & 31) as usize, 0b011, word >> 23 & 3));
    Some(Touch { index, ..at })
}

fn signed(bits: u32, len: u32) -> i64 {
    i64::from((bits << (32 - len)).cast_signed() >> (32 - len))
}

/// Why a clean comparison is no verdict.
pub(crate) const UNFOLLOWED: Option<&str> = Some(
    "traces were compared; the secret's way through them (taint) is not followed on this architecture",
);

/// What taint found: nothing.
pub(crate) struct Tainted {
    pub(crate) found: Found,
    pub(crate) lost: Vec<(String, usize)>,
}

pub(crate) fn run(
    _recordings: &Recordings<'_>,
    _calls: &[Recorded],
    _first: &Tape,
    _decodes: &mut Decodes<'_>,
) -> Tainted {
    Tainted { found: Found::new(), lost: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(base: usize, offset: i64, bytes: usize) -> Option<Touch> {
        Some(Touch { base, offset, index: None, bytes })
    }

    /// Encodings as GNU as 2.40 gives them.
    #[test]
    fn what_an_instruction_touches_is_where_its_encoding_says() {
        let indexed = |index, bytes| Some(Touch { base: 1, offset: 0, index: Some(index), bytes });
        for (word, expected) in [
            (0xf940_0420, plain(1, 8, 8)),             // ldr x0, [x1, #8]
            (0x3940_0420, plain(1, 1, 1)),             // ldrb w0, [x1, #1]
            (0xb862_7820, indexed((2, 0b011, 2), 4)),  // ldr w0, [x1, x2, lsl #2]
            (0x3862_4820, indexed((2, 0b010, 0), 1)),  // ldrb w0, [x1, w2, uxtw]
            (0xf85f_8020, plain(1, -8, 8)),            // ldur x0, [x1, #-8]
            (0xf840_8420, plain(1, 0, 8)),             // ldr x0, [x1], #8
            (0xf840_8c20, plain(1, 8, 8)),             // ldr x0, [x1, #8]!
            (0xa9bf_7bfd, plain(31, -16, 16)),         // stp x29, x30, [sp, #-16]!
            (0xad40_0c22, plain(1, 0, 32)),            // ldp q2, q3, [x1]
            (0x3dc0_0420, plain(1, 16, 16)),           // ldr q0, [x1, #16]
            (0x4c40_7020, plain(1, 0, 16)),            // ld1 {v0.16b}, [x1]
            (0x4c9f_2020, plain(1, 0, 64)),            // st1 {v0.16b-v3.16b}, [x1], #64
            (0x885f_7c20, plain(1, 0, 4)),             // ldxr w0, [x1]
            (0xf821_0002, plain(0, 0, 8)),             // ldadd x1, x2, [x0]
            (0xf8a2_6820, indexed((2, 0b011, 0), 8)),  // prfm pldl1keep, [x1, x2]
            (0xd50b_7e21, plain(1, 0, 64)),            // dc civac, x1
            (0xa5e2_4020, indexed((2, 0b011, 3), 16)), // ld1d {z0.d}, p0/z, [x1, x2, lsl #3]
            (0x8580_4020, plain(1, 0, 16)),            // ldr z0, [x1]
            (0x5800_0040, None),                       // ldr x0, .+8
            (0x8b02_0020, None),                       // add x0, x1, x2
            (0xd65f_03c0, None),                       // ret
        ] {
            assert_eq!(touch(word), expected, "{word:#010x}");
        }
    }

    #[test]
    fn calls_and_returns_are_known() {
        // bl .+4; blr x8; blraa x8, x9; b .+4; ret; retaa
        let words = [0x9400_0001, 0xd63f_0100, 0xd73f_0909, 0x1400_0001, 0xd65f_03c0, 0xd65f_0bff];
        assert_eq!(words.map(is_call), [true, true, true, false, false, false]);
        assert_eq!(words.map(is_return), [false, false, false, false, true, true]);
    }
}
