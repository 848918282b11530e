//! Which bytes of registers and memory depend on the secret.

use super::super::decoded::number;
use iced_x86::Register;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A bit for each byte, the lowest first.
pub(super) type Bytes = u64;

/// All bytes of a vector.
pub(super) const ALL: Bytes = u64::MAX;

/// So many of the lowest bytes.
pub(super) const fn low(bytes: usize) -> Bytes {
    if bytes >= 64 { ALL } else { (1 << bytes) - 1 }
}

/// Bytes of a page, and of what a word of bits stands for.
const PAGE: u64 = 4096;
const WORD: u64 = 64;

/// How far from the stack pointer memory is the stack's, which code that was not seen has written over.
const STACK: u64 = 4 << 20;

#[derive(Default)]
pub(super) struct State {
    general: [Bytes; 16],
    vector: [Bytes; 32],
    /// Mask registers, MMX and the like: as a whole.
    others: HashSet<Register>,
    /// Flags, as the decoder numbers them.
    pub(super) flags: u32,
    memory: HashMap<u64, Box<[u64; (PAGE / WORD) as usize]>>,
    /// What is public from the moment at which it is written.
    public: Vec<Range<u64>>,
    /// Bytes of these that something secret was written to.
    reached: HashSet<u64>,
    /// Whether something secret was written where it cannot be told.
    pub(super) lost: bool,
}

fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

impl State {
    pub(super) fn new(public: Vec<Range<u64>>) -> Self {
        Self { public, ..Self::default() }
    }

    /// A call begins: what ran unseen has left registers and stack in no known state. Before a new key nothing
    /// else is secret.
    pub(super) fn begin(&mut self, stack: u64, is_new_key: bool) {
        self.forget_registers();
        self.vector = [0; 32];
        self.others.clear();
        self.reached.clear();
        if is_new_key {
            self.memory.clear();
        }
        self.memory.retain(|page, _| (page * PAGE).abs_diff(stack) > STACK);
    }

    /// General registers and flags hold nothing secret.
    pub(super) fn forget_registers(&mut self) {
        (self.general, self.flags) = ([0; 16], 0);
    }

    /// The upper parts of all vectors are zero.
    pub(super) fn zero_vectors_from(&mut self, byte: usize) {
        for vector in &mut self.vector[..16] {
            *vector &= low(byte);
        }
    }

    pub(super) fn get(&self, register: Register) -> Bytes {
        if let Some(number) = number(register) {
            let whole = self.general[number];
            let shift = u32::from(is_high(register));
            whole >> shift & low(register.size())
        } else if register.is_vector_register() {
            self.vector[vector(register)] & low(register.size())
        } else if self.others.contains(&register) {
            low(8)
        } else {
            0
        }
    }

    /// Writes a register. Instructions on 32 bits clear the upper half; `legacy` ones on vectors keep what is
    /// above, the others clear it.
    pub(super) fn set(&mut self, register: Register, bytes: Bytes, legacy: bool) {
        let size = register.size();
        if let Some(number) = number(register) {
            let old = self.general[number];
            self.general[number] = match size {
                1 if is_high(register) => old & !2 | (bytes & 1) << 1,
                1 | 2 => old & !low(size) | bytes & low(size),
                _ => bytes & low(size),
            };
        } else if register.is_vector_register() {
            let old = if legacy { self.vector[vector(register)] & !low(size) } else { 0 };
            self.vector[vector(register)] = old | bytes & low(size);
        } else if bytes == 0 {
            self.others.remove(&register);
        } else {
            self.others.insert(register);
        }
    }

    pub(super) fn load(&self, from: u64, bytes: usize) -> Bytes {
        let is_secret = |i: &u64| {
            let at = from.wrapping_add(*i);
            let page = self.memory.get(&(at / PAGE));
            page.is_some_and(|page| page[(at % PAGE / WORD) as usize] >> (at % WORD) & 1 == 1)
        };
        (0..bytes.min(64) as u64).filter(is_secret).fold(0, |all, i| all | 1 << i)
    }

    pub(super) fn store(&mut self, to: u64, bytes: usize, secret: Bytes) {
        for i in 0..bytes.min(64) as u64 {
            let at = to.wrapping_add(i);
            let mut is_secret = secret >> i & 1 == 1;
            if is_secret && self.public.iter().any(|range| range.contains(&at)) {
                self.reached.insert(at);
                is_secret = false;
            }
            self.mark(at, is_secret);
        }
    }

    fn mark(&mut self, at: u64, is_secret: bool) {
        if !is_secret && !self.memory.contains_key(&(at / PAGE)) {
            return;
        }
        let new = || Box::new([0; (PAGE / WORD) as usize]);
        let page = self.memory.entry(at / PAGE).or_insert_with(new);
        let word = &mut page[(at % PAGE / WORD) as usize];
        *word = *word & !(1 << (at % WORD)) | u64::from(is_secret) << (at % WORD);
    }

    /// Memory that holds the secret.
    pub(super) fn secret(&mut self, range: Range<u64>) {
        range.for_each(|at| self.mark(at, true));
    }

    /// How many bytes of a range something secret was written to since the call began.
    pub(super) fn reached(&self, range: &Range<u64>) -> usize {
        range.clone().filter(|at| self.reached.contains(at)).count()
    }
}

fn vector(register: Register) -> usize {
    register.full_register() as usize - Register::ZMM0 as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_registers_are_written_as_the_processor_writes_them() {
        let mut state = State::default();
        state.set(Register::RAX, low(8), false);
        state.set(Register::AL, 0, false);
        assert_eq!(state.get(Register::RAX), 0xfe);
        state.set(Register::AH, 0, false);
        assert_eq!((state.get(Register::RAX), state.get(Register::AH)), (0xfc, 0));
        state.set(Register::EAX, 0, false);
        assert_eq!(state.get(Register::RAX), 0, "32 bits clear the upper half");
        state.set(Register::BH, 1, false);
        assert_eq!((state.get(Register::RBX), state.get(Register::BL)), (2, 0));
    }

    #[test]
    fn legacy_vector_instructions_keep_what_is_above_and_others_clear_it() {
        let mut state = State::default();
        state.set(Register::ZMM3, ALL, false);
        state.set(Register::XMM3, 0, true);
        assert_eq!(state.get(Register::ZMM3), !0xffff);
        state.set(Register::XMM3, 1, false);
        assert_eq!(state.get(Register::ZMM3), 1);
        state.set(Register::YMM4, low(32), false);
        state.zero_vectors_from(16);
        assert_eq!(state.get(Register::YMM4), low(16));
    }

    #[test]
    fn memory_is_kept_by_byte_and_public_from_the_moment_it_is_written() {
        let mut state = State::new(std::iter::once(0x2000..0x2004).collect());
        state.store(0x0ffe, 4, 0b0101);
        assert_eq!(state.load(0x0ffe, 4), 0b0101, "over the end of a page");
        state.store(0x1ffe, 8, 0xff);
        assert_eq!(state.load(0x1ffe, 8), 0b1100_0011);
        assert_eq!(state.reached(&(0x2000..0x2008)), 4);
        state.begin(0x7fff_0000, false);
        assert_eq!((state.load(0x1ffe, 2), state.reached(&(0x2000..0x2004))), (3, 0));
        state.begin(0x7fff_0000, true);
        assert_eq!(state.load(0x1ffe, 2), 0);
    }
}
